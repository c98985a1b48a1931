#include "core/data/hub/web_files.h"

#include "core/base/format.h"
#include "core/base/sentence.h"
#include "core/base/utf8.h"
#include "core/data/source/archive_files.h"
#include "core/data/hub/hub_files.h"
#include "core/data/source/source_files.h"

#include <algorithm>

namespace furrow {

namespace {

Result<DataFile> describeWebFile(const std::string& address, HubClient& client)
{
    FURROW_TRY_ASSIGN(const auto state, client.look(address));
    if (!state.hasRanges || !state.sizeBytes || (state.version.empty() && state.sha256.empty())) {
        const auto pieces = KeepHubPieces::current();
        const auto cache = pieces ? pieces->cache() : nullptr;
        return cache
            ? fetchUnknown(address, client, *cache)
            : Result<DataFile>(Error { ErrorCode::Io,
                  sentence("%1 has to be downloaded as a whole, and there is no cache for it.", { address }) });
    }
    DataFile file;
    file.path = address;
    file.sizeBytes = *state.sizeBytes;
    file.version = state.version;
    // Two servers may call two files by one name.
    file.hash = state.sha256.empty() ? address + " " + state.version : state.sha256;
    file.wholeHash = true;
    return file;
}

/// The objects that the spec names with a folder or a pattern, as far as they are data.
Status listStore(const StoreAddress& spec, HubClient& client, DataSource& source)
{
    const auto special = spec.key.find_first_of("*?[");
    const StoreAddress folder { spec.isGoogle, spec.bucket, spec.key.substr(0, special) };
    FURROW_TRY_ASSIGN(auto objects, client.list(folder, kMaxSourceFiles));
    std::sort(objects.begin(), objects.end(),
        [](const StoreObject& a, const StoreObject& b) { return naturalLess(a.key, b.key); });
    for (const auto& object : objects) {
        DataFile file;
        file.path = toString(StoreAddress { spec.isGoogle, spec.bucket, object.key });
        file.sizeBytes = object.sizeBytes;
        file.version = object.version;
        file.hash = file.path + " " + object.version;
        file.wholeHash = true;
        if (object.key.ends_with('/') || (special != std::string::npos && !pathMatches(spec.key, object.key)))
            continue;
        if (!isValidUtf8(object.key) || object.version.empty())
            source.skipped.push_back(sentence("%1 has a name that is not UTF-8, or no ETag, and was left out.",
                { replaceInvalidUtf8(file.path).text }));
        else if (!hasDataExtension(object.key) && !hasArchiveExtension(object.key))
            source.skipped.push_back(sentence(
                "%1 has no name of a data file (.txt .csv .tsv .jsonl .json .parquet .arrow .warc) and was left out.",
                { file.path }));
        else if (isHiddenPath(object.key.substr(folder.key.size())))
            source.skipped.push_back(
                sentence("%1 is hidden (its name begins with a dot) and was left out. Rename it if it is meant.",
                    { file.path }));
        else if (object.sizeBytes == 0)
            source.skipped.push_back(sentence("%1 is empty.", { file.path }));
        else
            source.files.push_back(std::move(file));
    }
    return {};
}

Status findWebFiles(const std::string& spec, HubClient& client, DataSource& source)
{
    if (isStorePath(spec)) {
        FURROW_TRY_ASSIGN(auto address, parseStoreAddress(spec));
        if (address.key.empty() || address.key.ends_with('/') || address.key.find_first_of("*?[") != std::string::npos)
            return listStore(address, client, source);
        auto file = describeWebFile(spec, client);
        if (file.ok()) {
            source.files.push_back(std::move(file).value());
            return {};
        }
        if (file.error().code != ErrorCode::NotFound)
            return file.error();
        address.key += '/'; // no such object, but perhaps a folder
        const auto listed = listStore(address, client, source);
        return listed.ok() && !source.files.empty() ? listed : Status(file.error());
    }
    FURROW_TRY_ASSIGN(auto file, describeWebFile(spec, client));
    source.files.push_back(std::move(file));
    return {};
}

} // namespace

Result<DataSource> describeWebSource(
    const std::string& spec, const RunConfig& config, const std::shared_ptr<HubClient>& client)
{
    DataSource source;
    source.spec = spec;
    FURROW_TRY(findWebFiles(spec, *client, source));
    if (source.files.empty())
        return Error { ErrorCode::NotFound,
            source.skipped.empty() ? sentence("%1 has no file with text.", { spec })
                                   : sentence("%1 has no file with text. %2", { spec, source.skipped.front() }) };
    if (source.sizeBytes() == 0)
        return Error { ErrorCode::InvalidArgument, sentence("%1 is empty.", { spec }) };
    FURROW_TRY(findFormats(source, config, client));
    return source;
}

Message whereFrom(const DataSource& source)
{
    const auto& first = source.files.front();
    const Bytes size(source.sizeBytes());
    if (first.fetchWhole)
        return sentence(
            "%1: %2. Its server cannot send parts of it, or gives its state no name, so it is downloaded as a whole, from its beginning each time, and known by its SHA-256.",
            { first.path, size });
    if (source.files.size() > 1)
        return sentence(
            "%1: %2 files, %3, each known by its ETag.", { source.spec, Count(std::ssize(source.files)), size });
    return isPromised(first)
        ? sentence(
              "%1: %2, known by %3 (ETag or Last-Modified) and by its SHA-256.", { first.path, size, first.version })
        : sentence("%1: %2, known by %3 (ETag or Last-Modified).", { first.path, size, first.version });
}

} // namespace furrow
