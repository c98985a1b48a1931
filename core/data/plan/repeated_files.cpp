#include "core/data/plan/repeated_files.h"

#include "core/base/sentence.h"
#include "core/config/option_term.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace furrow {

namespace {

/// A file that is in the data twice, by its own name or as a copy.
struct RepeatedFile {
    const DataFile& file;
    const DataFile& first;
    const DataSource& source; ///< of `file`
    const DataSource& firstSource;
    bool isNamedTwice() const { return first.path == file.path; }
};
std::vector<RepeatedFile> repeatedFiles(const DataManifest& manifest)
{
    std::vector<RepeatedFile> repeated;
    std::map<std::tuple<std::string, std::uint64_t, std::uint64_t>, std::pair<const DataFile*, const DataSource*>> seen;
    for (const auto& source : manifest.sources)
        for (const auto& file : source.files) {
            const auto place = file.member ? file.member->offset : 0;
            const auto [first, isNew] = seen.try_emplace(
                { file.hash.empty() ? file.pathOnDisk() : file.hash, file.bytesOnDisk(), place }, &file, &source);
            if (!isNew)
                repeated.push_back({ file, *first->second.first, source, *first->second.second });
        }
    return repeated;
}

} // namespace

void warnOfRepeats(const DataManifest& manifest, DataInspection& inspection)
{
    constexpr std::ptrdiff_t kMostNamed = 5;
    const auto repeated = repeatedFiles(manifest);
    for (const auto& one : std::span(repeated).first(std::min(repeated.size(), std::size_t { kMostNamed }))) {
        const std::string& path = one.file.path;
        if (manifest.skipsAllDuplicates)
            inspection.warnings.push_back(one.isNamedTwice()
                    ? sentence("%1 is in the data twice: its rows are trained once, as repeats are left out.", { path })
                    : sentence("%1 has the content of %2: its rows are trained once, as repeats are left out.",
                          { path, one.first.path }));
        else
            inspection.warnings.push_back(one.isNamedTwice()
                    ? sentence(
                          "%1 is in the data twice: its rows are trained twice in each epoch. Name it once if that is not meant.",
                          { path })
                    : sentence(
                          "%1 has the content of %2: its rows are trained twice in each epoch. Leave one out if that is not meant.",
                          { path, one.first.path }));
    }
    if (std::ssize(repeated) > kMostNamed)
        inspection.warnings.push_back(
            sentence("%1 more files are in the data more than once.", { Count(std::ssize(repeated) - kMostNamed) }));
}

Status refuseRepeatsInPrivate(const RunConfig& config, const DataManifest& manifest)
{
    if (config.noiseMultiplier == 0 || manifest.skipsAllDuplicates)
        return {};
    const auto repeated = repeatedFiles(manifest);
    if (repeated.empty())
        return {};
    const RepeatedFile& one = repeated.front();
    return Error { ErrorCode::InvalidArgument,
        one.isNamedTwice()
            ? sentence(
                  "%1 is in the data twice, by %2 and by %3: each of its rows would take part twice in an epoch, and private training would state half of that. Name it once, or train the first of equal texts alone (%4).",
                  { one.file.path, one.firstSource.spec, one.source.spec, optionTerm("duplicates", "skip") })
            : sentence(
                  "%1 has the content of %2: each of its rows would take part twice in an epoch, and private training would state half of that. Leave one of them out, or train the first of equal texts alone (%3).",
                  { one.file.path, one.first.path, optionTerm("duplicates", "skip") }) };
}

} // namespace furrow
