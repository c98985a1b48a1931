#include "core/data/plan/inspect_sources.h"

#include "core/base/outside.h"
#include "core/base/sentence.h"
#include "core/base/utf8.h"
#include "core/config/secret_address.h"
#include "core/data/hub/hub_files.h"
#include "core/data/hub/web_files.h"
#include "core/data/source/archive_files.h"
#include "core/data/source/byte_source.h"
#include "core/data/source/data_format.h"
#include "core/data/source/distant_source.h"
#include "core/data/source/source_files.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

namespace furrow {

namespace {

/// The file with its format, or the files inside it when it is an archive.
Status addFiles(const std::string& path, const RunConfig& config, DataSource& source)
{
    auto file = describeFile(path);
    FURROW_TRY_ASSIGN(
        auto bytes, file.ok() ? openLocalSource(path) : Result<std::shared_ptr<const ByteSource>>(file.error()));
    FURROW_TRY_ASSIGN(auto archive, describeArchive(file.value(), bytes, config));
    if (archive) {
        std::move(archive->files.begin(), archive->files.end(), std::back_inserter(source.files));
        std::move(archive->skipped.begin(), archive->skipped.end(), std::back_inserter(source.skipped));
        return {};
    }
    FURROW_TRY_ASSIGN(auto format, detectFormat(bytes, path, config));
    if (file.value().sizeBytes == 0)
        return Error { ErrorCode::InvalidArgument, sentence("%1 is empty.", { path }) };
    file.value().format = format;
    source.files.push_back(std::move(file).value());
    return {};
}

} // namespace

Result<DataSource> describeSource(
    const std::string& spec, const RunConfig& config, const std::function<bool(double)>& progress)
{
    if (auto secret = whySecretAddress("data", spec); !secret.empty()) // of commands that make no run, too
        return Error { ErrorCode::InvalidArgument, std::move(secret) };
    if (isHubPath(spec))
        return describeHubSource(spec, config, sharedHubClient());
    if (isWebPath(spec))
        return describeWebSource(spec, config, sharedHubClient());
    FURROW_TRY_ASSIGN(auto found, findSourceFiles(spec));
    DataSource source;
    source.spec = spec;
    source.skipped = found.skipped;
    const auto& paths = found.paths;
    for (std::size_t i = 0; i < paths.size(); ++i) {
        if (progress && !progress(static_cast<double>(i) / static_cast<double>(paths.size())))
            return inspectionCancelled();
        if (!isValidUtf8(paths[i]))
            return Error { ErrorCode::InvalidArgument,
                sentence("The name of %1 is not UTF-8, so a run cannot keep it. Rename the file.",
                    { replaceInvalidUtf8(paths[i]).text }) };
        Status status = addFiles(paths[i], config, source);
        // Damaged or away is not "no data": it would be missing without a word.
        const bool isData = !status.ok() && (status.error().code == ErrorCode::Corrupt || isOutside(status.error()));
        if (!status.ok() && (found.single || isData))
            return status.error();
        if (!status.ok())
            source.skipped.push_back(status.error().message);
    }
    if (source.files.empty())
        return Error { ErrorCode::InvalidArgument,
            source.skipped.empty() ? sentence("%1 has no file with text.", { spec })
                                   : sentence("%1 has no file with text. %2", { spec, source.skipped.front() }) };
    return source;
}

void nameSomeOfTheSkipped(DataSource& source)
{
    constexpr std::size_t kMostNamed = 20;
    auto& skipped = source.skipped;
    if (skipped.size() <= kMostNamed)
        return;
    const auto more = static_cast<std::int64_t>(skipped.size() - kMostNamed);
    skipped.resize(kMostNamed);
    skipped.push_back(sentence("%1: %2 more files in it were left out.", { source.spec, Count(more) }));
}

void describeReading(const DataSource& source, DataInspection& inspection)
{
    if (isWebPath(source.spec))
        inspection.reading.push_back(whereFrom(source));
    if (!source.chosen.empty())
        inspection.reading.push_back(source.chosen);
    constexpr std::size_t kMostWays = 5;
    std::vector<std::vector<Message>> ways;
    for (const auto& file : source.files) {
        auto way = readingOf(file.format, "");
        if (ways.size() >= kMostWays || std::find(ways.begin(), ways.end(), way) != ways.end())
            continue;
        ways.push_back(std::move(way));
        for (auto& text : readingOf(file.format, file.path))
            inspection.reading.push_back(std::move(text));
    }
}

} // namespace furrow
