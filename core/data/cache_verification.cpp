#include "core/data/cache_verification.h"

#include "core/base/file_system.h"
#include "core/base/hash.h"
#include "core/base/sentence.h"
#include "core/data/plan/duplicate_index.h"
#include "core/data/hub/hub_pieces.h"
#include "core/data/block/prepared_block.h"
#include "core/data/source/checked_file.h"

namespace furrow {

namespace {

Status verifyBlock(const std::filesystem::path& path, const std::string& name)
{
    FURROW_TRY_ASSIGN(const auto block, PreparedBlock::open(path));
    FURROW_TRY(block.checkName(name));
    return block.verify();
}

/// A file of the hub is called by what the hub promised (contentName), or what arrived of it is noted beside it.
Status verifyDownload(const std::filesystem::path& path, const std::string& name)
{
    if (isPiece(name))
        return checkPiece(path, name);
    FURROW_TRY_ASSIGN(auto sha, sha256File(path));
    if (name.starts_with(sha))
        return {};
    if (name.find('.') != kSha256Digits) {
        FURROW_TRY_ASSIGN(const auto arrived, readFile(arrivedNote(path), kSha256Digits));
        return arrived == sha ? Status {}
                              : Error { ErrorCode::Corrupt,
                                    sentence("The download %1 has other bytes than arrived (SHA-256).", { name }) };
    }
    return Error { ErrorCode::Corrupt,
        sentence("The download %1 has other bytes than the hub promised (SHA-256).", { name }) };
}

Status verifyDuplicates(const std::filesystem::path& path)
{
    const auto index = DuplicateIndex::open(path);
    return index.ok() ? index.value().verify() : Status(index.error());
}

/// A download that still grows, or what an older Furrow left without a checksum, is not.
bool isProvable(const BlockCache& cache, const CacheEntry& entry)
{
    std::error_code failed;
    const bool isWhole = entry.fileName.ends_with(kWholeEnding)
        && (entry.fileName.find('.') == kSha256Digits
            || std::filesystem::exists(arrivedNote(cache.path(entry.folder, entry.fileName)), failed));
    return entry.folder == kBlocks || entry.folder == kDuplicates
        || (entry.folder == kExpanded && entry.fileName.ends_with(kExpandedEnding))
        || (entry.folder == kDownloads && (isPiece(entry.fileName) || isWhole));
}

} // namespace

Result<CacheVerification> verifyCache(BlockCache& cache, const std::function<bool(double)>& progress)
{
    FURROW_TRY_ASSIGN(auto entries, cache.list());
    CacheVerification result;
    double done = 0;
    for (const auto& entry : entries) {
        if (progress && !progress(done / static_cast<double>(entries.size())))
            return Error { ErrorCode::Cancelled, sentence("Checking the cache was cancelled.") };
        done += 1;
        if (entry.quarantined || entry.fileName.ends_with(kArrivedEnding))
            continue;
        if (!isProvable(cache, entry)) {
            ++result.unproven;
            continue;
        }
        const auto path = cache.path(entry.folder, entry.fileName);
        const Status status = entry.folder == kBlocks ? verifyBlock(path, entry.fileName)
            : entry.folder == kDuplicates             ? verifyDuplicates(path)
            : entry.folder == kExpanded               ? verifyChecked(path)
                                                      : verifyDownload(path, entry.fileName);
        if (!status.ok() && status.error().code == ErrorCode::NotFound)
            continue; // evicted meanwhile
        ++(entry.folder == kBlocks            ? result.blocks
                : entry.folder == kDuplicates ? result.lists
                : entry.folder == kExpanded   ? result.expanded
                                              : result.downloads);
        if (status.ok())
            continue;
        result.damaged.push_back(status.error().message);
        if (status.error().code == ErrorCode::Corrupt)
            FURROW_TRY(cache.quarantine(entry.folder, entry.fileName));
    }
    return result;
}

} // namespace furrow
