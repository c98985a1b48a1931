#include "core/data/plan/duplicate_file.h"

#include "core/base/link_refusal.h"
#include "core/base/log.h"
#include "core/base/path.h"
#include "core/base/sentence.h"

#include <algorithm>

namespace furrow {

namespace {

constexpr std::size_t kPieceBytes = 4 << 20;

std::string cacheName(const std::string& key) { return key.substr(0, 32) + ".duplicates"; }

Status copy(const std::filesystem::path& from, const DuplicateIndexWriter::Sink& sink)
{
    FURROW_TRY_ASSIGN(auto file, RandomAccessFile::open(from));
    std::string piece(kPieceBytes, '\0');
    for (std::uint64_t at = 0; at < file.sizeBytes();) {
        const auto n = std::min<std::uint64_t>(piece.size(), file.sizeBytes() - at);
        FURROW_TRY(file.readAt(at, std::as_writable_bytes(std::span<char>(piece)).first(n)));
        FURROW_TRY(sink(piece.data(), n));
        at += n;
    }
    return {};
}

/// What was half written before is written anew: one process at a time does this for a run.
Status publish(const std::filesystem::path& path, const std::function<Status(const DuplicateIndexWriter::Sink&)>& write)
{
    auto temporary = path;
    temporary += ".new";
    FileSystem& files = realFileSystem();
    FURROW_TRY(refuseLink(temporary)); // in a run folder of somebody else it may lead anywhere
    FURROW_TRY_ASSIGN(auto file, files.create(temporary));
    auto& out = *file;
    Status status = write([&out](const void* data, std::size_t size) { return out.append(data, size); });
    if (status.ok())
        status = out.sync();
    if (status.ok())
        status = out.close();
    file.reset();
    if (status.ok())
        status = files.replace(temporary, path);
    if (status.ok())
        return files.syncFolder(path.parent_path());
    (void)files.removeAll(temporary);
    return status;
}

void shareWithOthers(const std::filesystem::path& path, const std::string& key, BlockCache& cache)
{
    auto out = cache.create();
    Status shared = out.ok()
        ? copy(path, [&out](const void* data, std::size_t size) { return out.value().append(data, size); })
        : Status(out.error());
    if (shared.ok())
        shared = cache.publish(std::move(out).value(), kDuplicates, cacheName(key));
    if (!shared.ok())
        logInfo("the list of duplicates is not kept for other runs: " + shared.error().message);
}

Error madeAgain(const Message& why)
{
    logWarning(why + " It is made again.");
    return { ErrorCode::NotFound, why };
}

/// Reads every byte of it.
Result<DuplicateIndex> openWhole(const std::filesystem::path& path, const std::string& key)
{
    auto index = openDuplicates(path, key);
    const Status whole = index.ok() ? index.value().verify() : Status {};
    if (!whole.ok())
        return whole.error().code == ErrorCode::Corrupt ? madeAgain(whole.error().message) : whole.error();
    return index;
}

} // namespace

Result<DuplicateIndex> openDuplicates(const std::filesystem::path& path, const std::string& key)
{
    auto index = DuplicateIndex::open(path);
    if (!index.ok())
        return index.error().code == ErrorCode::Corrupt ? madeAgain(index.error().message) : index.error();
    if (index.value().key() != key)
        return madeAgain(sentence("%1 was made of other data.", { utf8Text(path) }));
    return index;
}

Result<DuplicateIndex> duplicatesFromCache(BlockCache& cache, const std::string& key, const std::filesystem::path& path)
{
    const auto there = cache.find(kDuplicates, cacheName(key));
    if (!there)
        return Error { ErrorCode::NotFound, sentence("not in the cache") };
    if (const auto whole = openWhole(*there, key); !whole.ok()) {
        if (auto aside = cache.quarantine(kDuplicates, cacheName(key));
            !aside.ok() && aside.error().code != ErrorCode::NotFound)
            return aside.error();
        return Error { ErrorCode::NotFound, whole.error().message };
    }
    FURROW_TRY(publish(path, [&there](const DuplicateIndexWriter::Sink& sink) { return copy(*there, sink); }));
    return openWhole(path, key);
}

Result<DuplicateIndex> writeDuplicates(DuplicateSearch& search, const std::string& key,
    const std::filesystem::path& path, BlockCache& cache, const std::function<bool()>& goOn)
{
    FURROW_TRY(publish(path, [&](const DuplicateIndexWriter::Sink& sink) { return search.write(key, sink, goOn); }));
    auto index = openWhole(path, key);
    if (index.ok() && index.value().isComplete())
        shareWithOthers(path, key, cache);
    return index;
}

} // namespace furrow
