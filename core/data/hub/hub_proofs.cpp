#include "core/data/hub/hub_proofs.h"

#include "core/base/file_system.h"
#include "core/base/format.h"
#include "core/base/git_blob.h"
#include "core/base/hash.h"
#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/data/hub/hub_pieces.h"
#include "core/data/hub/hub_progress.h"
#include "core/data/source/distant_source.h"

#include <utility>

namespace furrow {

namespace {

/// What arrived of a file of which nothing is promised; "": an older Furrow fetched it.
std::string arrivedSum(const std::filesystem::path& whole)
{
    const auto sum = readFile(arrivedNote(whole), kSha256Digits);
    return sum.ok() && isSha256(sum.value()) ? sum.value() : std::string();
}

} // namespace

bool isPromised(const DataFile& file) { return isSha256(file.hash); }

bool isComparable(const DataFile& file)
{
    return isPromised(file) || (isHubPath(file.pathOnDisk()) && isGitName(file.hash));
}

Result<std::string> comparableSum(const DataFile& file, const std::filesystem::path& whole, const std::stop_token& stop,
    const std::function<void(std::string_view)>& onBytes)
{
    const bool isOfGit = isComparable(file) && !isPromised(file);
    GitBlobName git(file.bytesOnDisk());
    FURROW_TRY_ASSIGN(auto sha, sha256File(whole, stop, [&](std::string_view bytes) {
        if (isOfGit)
            git.update(bytes);
        if (onBytes)
            onBytes(bytes);
    }));
    return isOfGit ? git.hex() : std::move(sha);
}

Status HubProofs::compare(const DataFile& file, const std::filesystem::path& whole)
{
    const std::string expected = isComparable(file) ? file.hash : arrivedSum(whole);
    if (expected.empty())
        return {};
    FURROW_TRY_ASSIGN(const auto before, stampOf(whole));
    {
        const std::lock_guard guard(mutex_);
        if (const auto known = verdicts_.find(whole); known != verdicts_.end() && known->second.stamp == before)
            return answer(file, whole, known->second.same);
    }
    FURROW_TRY_ASSIGN(const auto sha, hashTold(file, whole)); // without the lock: it may take minutes
    FURROW_TRY_ASSIGN(const auto after, stampOf(whole));
    const bool same = sha == expected;
    if (!same && !(after == before)) // what is as promised may have been marked as used by another process meanwhile
        return Error { ErrorCode::Busy, sentence("%1 was written to while it was read", { utf8Text(whole) }) };
    const std::lock_guard guard(mutex_);
    verdicts_.insert_or_assign(whole, Verdict { before, same });
    if (!same)
        wrong_.insert(file.pathOnDisk());
    return answer(file, whole, same);
}

void HubProofs::expect(std::int64_t files)
{
    const std::lock_guard guard(mutex_);
    expected_ = files;
}

Result<std::string> HubProofs::hashTold(const DataFile& file, const std::filesystem::path& whole) const
{
    std::string place;
    {
        const std::lock_guard guard(mutex_);
        const std::int64_t number = std::ssize(proven_) + (proven_.contains(file.pathOnDisk()) ? 0 : 1);
        if (expected_ > 1 && number <= expected_)
            place = sentence("%1 of %2", { Count(number), Count(expected_) });
    }
    ToldProgress progress(file.pathOnDisk(), file.bytesOnDisk(), place);
    std::uint64_t read = 0;
    return comparableSum(file, whole, {}, [&](std::string_view more) { progress.arrived(read += more.size()); });
}

/// With the lock held.
Status HubProofs::answer(const DataFile& file, const std::filesystem::path& whole, bool same)
{
    if (!same)
        return Error { ErrorCode::Corrupt,
            isPromised(file) ? sentence("%1 does not hold what the hub promises of %2 (SHA-256).",
                                   { utf8Text(whole), file.pathOnDisk() })
                : isComparable(file)
                ? sentence("%1 does not hold what the hub's list promises of %2 (git's SHA-1).",
                      { utf8Text(whole), file.pathOnDisk() })
                : sentence("%1 does not hold what arrived of %2 (SHA-256).", { utf8Text(whole), file.pathOnDisk() }) };
    if (isComparable(file))
        proven_.insert(file.pathOnDisk());
    return {};
}

void HubProofs::noteArrived(const DataFile& file, const std::filesystem::path& whole)
{
    const auto stamp = stampOf(whole);
    if (!stamp.ok())
        return;
    const std::lock_guard guard(mutex_);
    verdicts_.insert_or_assign(whole, Verdict { stamp.value(), true });
    if (isComparable(file))
        proven_.insert(file.pathOnDisk());
}

void HubProofs::doubt(const std::filesystem::path& whole)
{
    const std::lock_guard guard(mutex_);
    verdicts_.erase(whole);
}

std::set<std::string> HubProofs::proven() const
{
    const std::lock_guard guard(mutex_);
    return proven_;
}

std::set<std::string> HubProofs::takeWrong()
{
    const std::lock_guard guard(mutex_);
    return std::exchange(wrong_, {});
}

} // namespace furrow
