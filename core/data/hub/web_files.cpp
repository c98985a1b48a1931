#include "core/data/hub/web_files.h"

#include "core/base/format.h"
#include "core/base/sentence.h"
#include "core/base/utf8.h"
#include "core/data/source/archive_files.h"
#include "core/data/hub/hub_files.h"
#include "core/data/source/source_files.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <thread>

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

constexpr const char* kSpecial = "*?["; ///< of a pattern

/// What the keys begin with that a folder or a pattern names.
StoreAddress folderOf(const StoreAddress& spec)
{
    return { spec.isGoogle, spec.bucket, spec.key.substr(0, spec.key.find_first_of(kSpecial)) };
}

/// The objects that the spec names with a folder or a pattern, as far as they are data.
Status listStore(const StoreAddress& spec, HubClient& client, DataSource& source)
{
    const bool isPattern = spec.key.find_first_of(kSpecial) != std::string::npos;
    const StoreAddress folder = folderOf(spec);
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
        if (object.key.ends_with('/') || (isPattern && !pathMatches(spec.key, object.key)))
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
        if (address.key.empty() || address.key.ends_with('/')
            || address.key.find_first_of(kSpecial) != std::string::npos)
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

/// What a store lists of a source of many objects, a thousand of them in one answer; of others nothing.
std::map<std::string, WebState> listedStates(const DataSource& source, HubClient& client)
{
    constexpr std::size_t kFew = 20;
    std::map<std::string, WebState> states;
    const auto spec = parseStoreAddress(source.spec);
    if (!spec.ok() || source.files.size() <= kFew)
        return states;
    const auto objects = client.list(folderOf(spec.value()), kMaxSourceFiles);
    if (!objects.ok()) // each is asked for by itself, and says what is wrong
        return states;
    for (const auto& object : objects.value()) {
        WebState& state = states[toString(StoreAddress { spec.value().isGoogle, spec.value().bucket, object.key })];
        state.sizeBytes = object.sizeBytes;
        state.version = object.version;
    }
    return states;
}

/// @return  how it is another file now; "": it is not
Result<Message> askForState(const DataFile& file, HubClient& client)
{
    constexpr int kAsks = 4; // one of several mirrors may be behind
    const std::string& address = file.pathOnDisk();
    Message how;
    for (int i = 0; i < kAsks; ++i) {
        if (i > 0)
            std::this_thread::sleep_for(std::chrono::seconds(1));
        const auto state = client.look(address);
        if (!state.ok() && state.error().code == ErrorCode::InvalidArgument) // as where it is read: it may mend itself
            return Error { ErrorCode::Network, state.error().message };
        if (!state.ok())
            return state.error();
        how = howChanged(address, file.bytesOnDisk(), file.version, state.value());
        if (how.empty())
            break;
    }
    return how;
}

} // namespace

Result<bool> hasOtherStates(const DataSource& source, HubClient& asked, HubClient& told)
{
    const auto listed = listedStates(source, asked);
    std::set<std::string> seen; // an archive holds many
    bool isAnother = false;
    for (const auto& file : source.files) {
        const std::string& address = file.pathOnDisk();
        if (!isWebPath(address) || !seen.insert(address).second)
            continue;
        if (const auto found = listed.find(address);
            found != listed.end() && howChanged(address, file.bytesOnDisk(), file.version, found->second).empty())
            continue;
        FURROW_TRY_ASSIGN(const auto how, askForState(file, asked));
        if (how.empty())
            continue;
        isAnother = true;
        (void)told.changed(address, how);
    }
    return isAnother;
}

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
