#include "core/data/source/source_identity.h"

#include "core/base/fault_injection.h"
#include "core/base/format.h"
#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/config/option_term.h"
#include "core/data/hub/hub_files.h"
#include "core/data/source/changed_file.h"

namespace furrow {

namespace {

class WatchedSource : public ByteSource {
public:
    WatchedSource(std::shared_ptr<const ByteSource> source, const DataFile& file,
        std::shared_ptr<SourceIdentity> identity, const FileStamp& opened)
        : source_(std::move(source))
        , file_(file)
        , identity_(std::move(identity))
        , opened_(opened)
    {
    }
    std::uint64_t sizeBytes() const override { return source_->sizeBytes(); }
    Status readAt(std::uint64_t offset, std::span<std::byte> into) const override
    {
        const Status read = source_->readAt(offset, into);
        const Status same = checkStill(); // says more than that the file is too short
        return same.ok() ? read : same;
    }
    /// Nobody wrote to the file, or put another one in its place, since it was opened.
    Status checkStill() const
    {
        FURROW_TRY_ASSIGN(auto now, identity_->stampOfSame(file_));
        return now == opened_ ? Status {}
                              : Status(Error { ErrorCode::Busy,
                                    sentence("%1 was written to while it was read", { file_.pathOnDisk() }) });
    }

private:
    std::shared_ptr<const ByteSource> source_;
    DataFile file_;
    std::shared_ptr<SourceIdentity> identity_;
    FileStamp opened_;
};

bool holdsAnything(const std::filesystem::path& folder)
{
    std::error_code failed;
    const std::filesystem::directory_iterator entries(folder, failed);
    return !failed && entries != std::filesystem::directory_iterator();
}

} // namespace

Status SourceIdentity::check(const DataFile& file)
{
    if (isWebPath(file.path)) {
        const auto how = sharedHubClient()->whyChanged(file.pathOnDisk());
        return how.empty() ? Status {} : Status(Error { ErrorCode::InvalidArgument, how });
    }
    if (isHubPath(file.path))
        return {};
    auto stamp = stampOfSame(file);
    return stamp.ok() ? Status {} : Status(stamp.error());
}

Result<FileStamp> SourceIdentity::stampOfSame(const DataFile& file)
{
    const auto path = pathFromUtf8(file.pathOnDisk());
    const std::lock_guard guard(mutex_);
    FURROW_TRY_ASSIGN(auto before, stampNow(path));
    const auto known = stamps_.find(file.pathOnDisk());
    if (known != stamps_.end() && known->second == before)
        return before;
    // Not hashed whole, and its rows are not hashed when they are planned: nothing but the stamp can tell, so a touched
    // file counts as another one.
    const bool wasTouched = known != stamps_.end() && !file.wholeHash && !hashesPlannedRows(file.format.format);
    FURROW_TRY(checkUnchanged(file));
    FURROW_TRY_ASSIGN(auto after, stampOf(path));
    if (wasTouched || !(after == before))
        return Error { ErrorCode::InvalidArgument, sentence(kFileWrittenMeanwhile, { file.pathOnDisk() }) };
    stamps_[file.pathOnDisk()] = after;
    return after;
}

/// A disk that was unmounted takes its files along, and brings them back; a file that alone is gone was removed. Some
/// editors write a file anew under its name, so a moment is none. Of a file that was never seen the device is not
/// known: there an empty folder may be the place of a disk that is not mounted.
Result<FileStamp> SourceIdentity::stampNow(const std::filesystem::path& path)
{
    constexpr double kPatienceSeconds = 20;
    auto stamp = stampOf(path);
    if (stamp.ok() || stamp.error().code != ErrorCode::NotFound) {
        goneSince_.erase(path);
        return stamp;
    }
    const auto known = stamps_.find(utf8Text(path));
    const auto folder = stampOf(path.parent_path());
    const bool isDiskThere = folder.ok()
        && (known != stamps_.end() ? folder.value().device == known->second.device : holdsAnything(path.parent_path()));
    if (!isDiskThere) {
        goneSince_.erase(path);
        return stamp;
    }
    const auto now = std::chrono::steady_clock::now();
    const std::chrono::duration<double> gone = now - goneSince_.try_emplace(path, now).first->second;
    const double patience = removedPatience_ ? std::chrono::duration<double>(*removedPatience_).count()
                                             : faultNumber("FURROW_REMOVED_PATIENCE_S", kPatienceSeconds);
    if (gone.count() < patience)
        return stamp;
    return Error { ErrorCode::InvalidArgument, sentence(kFileRemoved, { utf8Text(path) }) };
}

Status SourceIdentity::checkAll(
    const DataManifest& manifest, std::map<std::string, Message>* changed, Message* firstAway)
{
    constexpr int kNamedFiles = 10;
    Message differences;
    int count = 0;
    int away = 0;
    for (const auto& source : manifest.sources)
        for (const auto& file : source.files) {
            const auto same = check(file);
            if (same.ok())
                continue;
            if (same.error().code != ErrorCode::InvalidArgument) {
                if (++away == 1 && firstAway != nullptr)
                    *firstAway = same.error().message;
            } else if (changed != nullptr)
                (*changed)[file.path] = same.error().message;
            if (++count <= kNamedFiles)
                differences += (count == 1 ? "" : " ") + withFullStop(same.error().message);
        }
    if (count == 0)
        return {};
    const Message files = count == 1 ? sentence("1 file") : sentence("%1 files", { Count(count) });
    if (away == count)
        return Error { ErrorCode::NotFound,
            sentence("%1 %2 of the data cannot be read now. Bring back the disk or share, or put the data back.",
                { differences, files }) };
    return Error { ErrorCode::InvalidArgument,
        sentence(
            "%1 The data changed since the run was made (%2), so its blocks would not be the same. Restore the data and resume, go on without what changed (resume with %3), or start a new run on the data as it is now.",
            { differences, files, optionTerm("bad_files", "leave_out") }) };
}

Result<std::shared_ptr<const ByteSource>> openWatched(const DataFile& file, std::shared_ptr<SourceIdentity> identity,
    const std::function<Result<std::shared_ptr<const ByteSource>>()>& open)
{
    FURROW_TRY_ASSIGN(auto stamp, identity->stampOfSame(file));
    FURROW_TRY_ASSIGN(auto source, open());
    auto watched = std::make_shared<WatchedSource>(std::move(source), file, std::move(identity), stamp);
    FURROW_TRY(watched->checkStill());
    return std::shared_ptr<const ByteSource>(std::move(watched));
}

} // namespace furrow
