#include "core/data/hub/hub_files.h"

#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/data/hub/hub_copies.h"
#include "core/data/source/archive_files.h"

#include <iterator>
#include <map>
#include <utility>

namespace furrow {

namespace {

/// "a/b.jsonl.gz" -> ".jsonl.gz"
std::string endingOf(const std::string& address)
{
    const std::string path(withoutQuery(address));
    const auto name = path.substr(path.rfind('/') == std::string::npos ? 0 : path.rfind('/') + 1);
    const auto plain = name.substr(0, name.size() - packedEnding(name).size());
    const auto dot = plain.rfind('.');
    return dot == std::string::npos ? "" : name.substr(dot);
}

} // namespace

Result<DataSource> describeHubSource(
    const std::string& spec, const RunConfig& config, const std::shared_ptr<HubClient>& client)
{
    FURROW_TRY_ASSIGN(auto parsed, parseHubSpec(spec));
    const std::string repository = parsed.repository;
    FURROW_TRY_ASSIGN(auto commit, client->resolveRevision(repository, parsed.revision));
    FURROW_TRY_ASSIGN(auto tree, client->tree(repository, commit));
    FURROW_TRY_ASSIGN(auto readme, client->readSmall(repository, commit, "README.md"));
    FURROW_TRY_ASSIGN(auto choice, chooseHubFiles(parsed, tree, readme));
    DataSource source;
    source.spec = spec;
    source.skipped = std::move(choice.skipped);
    source.chosen = sentence("%1: config '%2', split '%3'.", { spec, choice.config, choice.split });
    for (const auto& hub : choice.files) {
        DataFile file;
        file.path = toString(HubAddress { repository, commit, hub.path });
        file.sizeBytes = hub.sizeBytes;
        file.hash = hub.sha256.empty() ? hub.oid : hub.sha256;
        file.wholeHash = true;
        source.files.push_back(std::move(file));
    }
    FURROW_TRY(findFormats(source, config, client));
    return source;
}

namespace {

/// Of a file of which another one of its ending was looked at before. A packed one is opened with as little of it as
/// tells what it is: a decompressor takes more at a time than that.
Result<FileFormat> formatByBeginning(
    const std::shared_ptr<const ByteSource>& bytes, const std::string& name, const RunConfig& config)
{
    constexpr std::uint64_t kPackedBytes = 64ull << 10;
    if (!packedEnding(name).empty() && bytes->sizeBytes() > kPackedBytes)
        if (auto format = detectFormat(sliceOf(bytes, 0, kPackedBytes), name, config); format.ok())
            return format;
    return detectFormat(bytes, name, config);
}

} // namespace

Status findFormats(DataSource& source, const RunConfig& config, const std::shared_ptr<HubClient>& client)
{
    constexpr int kMostLookedAt = 500; // one after the other, before there is a run: each costs a round trip
    std::map<std::string, FileFormat> formats; // by ending, of the last file of it that was looked at
    int lookedAt = 0;
    std::int64_t taken = 0; // to be as those before them
    std::optional<Error> refused; // the first
    auto files = std::exchange(source.files, {});
    for (auto& file : files) {
        const std::string name(withoutQuery(file.path));
        const auto known = formats.find(endingOf(file.path));
        const bool isKnown = known != formats.end() && hasDataExtension(name);
        const bool isSaidByName = isKnown && (known->second.format == TextFormat::Parquet || file.sizeBytes == 0);
        if (isSaidByName || (isKnown && lookedAt >= kMostLookedAt)) {
            taken += isSaidByName ? 0 : 1;
            file.format = known->second;
            source.files.push_back(std::move(file));
            continue;
        }
        ++lookedAt;
        FURROW_TRY_ASSIGN(auto bytes,
            openHubFile(
                file, client, KeepHubPieces::current(), nullptr, isKnown ? HubReading::Beginning : HubReading::Rows));
        FURROW_TRY_ASSIGN(auto archive, describeArchive(file, bytes, config));
        if (archive) {
            std::move(archive->files.begin(), archive->files.end(), std::back_inserter(source.files));
            std::move(archive->skipped.begin(), archive->skipped.end(), std::back_inserter(source.skipped));
            continue;
        }
        auto format = isKnown ? formatByBeginning(bytes, name, config) : detectFormat(bytes, name, config);
        // Damaged, changed or away is not "no data": it would be missing without a word.
        if (!format.ok() && (format.error().code != ErrorCode::InvalidArgument || !client->whyChanged(name).empty()))
            return format.error();
        if (!format.ok()) {
            source.skipped.push_back(format.error().message);
            if (!refused)
                refused = format.error();
            continue;
        }
        if (file.sizeBytes > 0)
            formats.insert_or_assign(endingOf(file.path), format.value());
        file.format = std::move(format).value();
        source.files.push_back(std::move(file));
    }
    if (source.files.empty() && refused)
        return *refused;
    if (taken > 0)
        source.chosen = source.chosen + (source.chosen.empty() ? "" : " ")
            + sentence(
                "%1: %2 of its files were looked at; the other %3 are taken to have the encoding and dialect of those before them. Name these in the settings if that is not so (--encoding, --csv-delimiter).",
                { source.spec, Count(lookedAt), Count(taken) })
                  .text();
    return {};
}

Result<std::shared_ptr<const ByteSource>> openHubFile(const DataFile& file, const std::shared_ptr<HubClient>& client,
    std::shared_ptr<HubPieces> pieces, HubProofs* proofs, HubReading reading)
{
    FURROW_TRY_ASSIGN(auto address, parseHubAddress(file.pathOnDisk()));
    if (const auto local = usableInHuggingFaceCache(client->kind(), file, address, proofs); !local.empty())
        return openLocalSource(local);
    if (const auto cache = file.fetchWhole && address.isWeb() && pieces ? pieces->cache() : nullptr) {
        HubProofs own;
        return downloadHubFile(file, client, *cache, proofs != nullptr ? *proofs : own); // its server sends no parts
    }
    return hubSource(client, address, hubFile(file, address), std::move(pieces), reading);
}

std::string beginningName(const DataFile& file)
{
    const auto address = isDistantPath(file.pathOnDisk()) ? parseHubAddress(file.pathOnDisk())
                                                          : Result<HubAddress>(Error { ErrorCode::NotFound, {} });
    return address.ok() ? pieceName(hubFile(file, address.value()), 0) : std::string();
}

std::optional<std::filesystem::path> downloadedHubFile(const DataFile& file, const std::filesystem::path& cacheFolder)
{
    const auto address = parseHubAddress(file.pathOnDisk());
    if (!address.ok())
        return std::nullopt;
    auto path = cacheFolder / kDownloads / pathFromUtf8(downloadName(file, address.value()));
    std::error_code ignored;
    return std::filesystem::exists(path, ignored) ? std::optional(std::move(path)) : std::nullopt;
}

bool doubtHubFile(const DataFile& file, BlockCache& cache, HubProofs& proofs)
{
    const auto address = parseHubAddress(file.pathOnDisk());
    if (!address.ok())
        return false;
    const auto foreign = inHuggingFaceCache(HubKind::Datasets, address.value(), file.bytesOnDisk());
    const auto ours = downloadedHubFile(file, cache.folder());
    bool wrong = false;
    for (const auto& whole :
        { foreign.empty() ? std::optional<std::filesystem::path>() : std::optional(foreign), ours }) {
        if (!whole)
            continue;
        proofs.doubt(*whole);
        const auto same = proofs.compare(file, *whole);
        wrong = wrong || (!same.ok() && same.error().code == ErrorCode::Corrupt);
        if (!same.ok() && same.error().code == ErrorCode::Corrupt && whole == ours)
            (void)cache.quarantine(kDownloads, whole->filename().string()); // else it is put aside when it is opened
    }
    return wrong;
}

} // namespace furrow
