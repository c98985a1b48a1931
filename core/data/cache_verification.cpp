#include "core/data/cache_verification.h"

#include "core/base/hash.h"
#include "core/base/sentence.h"
#include "core/data/plan/duplicate_index.h"
#include "core/data/hub/hub_pieces.h"
#include "core/data/block/prepared_block.h"

namespace furrow {

namespace {

Status verifyBlock(const std::filesystem::path& path, const std::string& name)
{
    FURROW_TRY_ASSIGN(const auto block, PreparedBlock::open(path));
    FURROW_TRY(block.checkName(name));
    return block.verify();
}

/// A file of the hub is called by what the hub promised (contentName).
Status verifyDownload(const std::filesystem::path& path, const std::string& name)
{
    if (isPiece(name))
        return checkPiece(path, name);
    FURROW_TRY_ASSIGN(auto sha, sha256File(path));
    if (name.starts_with(sha))
        return {};
    return Error { ErrorCode::Corrupt,
        sentence("The download %1 has other bytes than the hub promised (SHA-256).", { name }) };
}

Status verifyDuplicates(const std::filesystem::path& path)
{
    const auto index = DuplicateIndex::open(path);
    return index.ok() ? index.value().verify() : Status(index.error());
}

/// A download that still grows, or a piece that an older Furrow left, is not.
bool isProvable(const CacheEntry& entry)
{
    const bool isWhole = entry.fileName.find('.') == kSha256Digits && entry.fileName.ends_with(kWholeEnding);
    return entry.folder == kBlocks || entry.folder == kDuplicates
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
        if (entry.quarantined)
            continue;
        if (!isProvable(entry)) {
            ++result.unproven;
            continue;
        }
        const auto path = cache.path(entry.folder, entry.fileName);
        const Status status = entry.folder == kBlocks ? verifyBlock(path, entry.fileName)
            : entry.folder == kDuplicates             ? verifyDuplicates(path)
                                                      : verifyDownload(path, entry.fileName);
        if (!status.ok() && status.error().code == ErrorCode::NotFound)
            continue; // evicted meanwhile
        ++(entry.folder == kBlocks ? result.blocks : entry.folder == kDuplicates ? result.lists : result.downloads);
        if (status.ok())
            continue;
        result.damaged.push_back(status.error().message);
        if (status.error().code == ErrorCode::Corrupt)
            FURROW_TRY(cache.quarantine(entry.folder, entry.fileName));
    }
    return result;
}

} // namespace furrow
