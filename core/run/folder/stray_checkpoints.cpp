#include "core/run/folder/stray_checkpoints.h"

#include "core/base/file_system.h"
#include "core/base/free_name.h"
#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/run/folder/accepted_loss.h"
#include "core/run/folder/checkpoint_manifest.h"
#include "core/run/folder/checkpoint_notes.h"
#include "core/run/folder/foreign_ledger.h"
#include "core/run/folder/known_aside.h"
#include "core/run/folder/left_out_chunks.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <string_view>

namespace furrow {

namespace {

constexpr std::size_t kMostNames = 5; // in a sentence
constexpr const char* kTemporary = ".tmp";

using Rows = CheckpointRows;
using Entries = std::vector<std::filesystem::path>;

/// What a folder holds; nothing where it is not there.
Result<Entries> listed(const std::filesystem::path& folder)
{
    auto entries = entriesOf(folder);
    return entries.ok() || entries.error().code != ErrorCode::NotFound ? entries : Result<Entries>(Entries());
}

/// Sorts the entries of one folder. A checkpoint has a note before it has a folder, and a row before its note goes. So
/// folders are listed first, then the notes, then the rows: what has neither in the end was not committed by a living
/// process meanwhile.
class Sorter {
public:
    Sorter(const RunPaths& paths, const std::string& runId)
        : paths_(paths)
        , runId_(runId)
    {
    }

    Result<StrayCheckpoints> sort(const std::function<Result<Rows>()>& rowsNow)
    {
        auto living = listed(paths_.checkpointsFolder());
        auto removed = listed(paths_.removedManifestsFolder());
        if (!living.ok() || !removed.ok())
            return living.ok() ? removed.error() : living.error();
        FURROW_TRY_ASSIGN(auto notes, writingNotes(paths_, runId_));
        found_.notes = notes;
        FURROW_TRY_ASSIGN(auto rows, rowsNow());
        for (const auto& row : rows) {
            folders_.insert(row.record.folder);
            manifests_.insert(row.record.manifestSha256);
        }
        FURROW_TRY(sortFolder(living.value()));
        FURROW_TRY(sortRemoved(removed.value()));
        std::sort(found_.newer.begin(), found_.newer.end(),
            [](const auto& a, const auto& b) { return a.writtenWallNs < b.writtenWallNs; });
        return std::move(found_);
    }

private:
    Status sortFolder(const Entries& entries)
    {
        for (const auto& entry : entries) {
            const auto name = utf8Text(entry.filename());
            if (paths_.isBesideCheckpoints(entry) || folders_.contains(name))
                continue;
            if (isLink(entry))
                found_.links.push_back(entry);
            else if (isNoted(name))
                (isFinished(entry, name) ? found_.finished : found_.leftovers).push_back(entry);
            else if (auto status = sortUnnoted(entry, entry / kManifestFile, name); !status.ok())
                return status;
        }
        return {};
    }

    Status sortRemoved(const Entries& entries)
    {
        for (const auto& entry : entries)
            if (entry.extension() == ".json" && !folders_.contains(utf8Text(entry.stem())) && !isLink(entry))
                FURROW_TRY(sortUnnoted(entry, entry, utf8Text(entry.stem())));
        return {};
    }

    bool isNoted(const std::string& name) const
    {
        const auto whole
            = name.ends_with(kTemporary) ? name.substr(0, name.size() - std::string(kTemporary).size()) : name;
        return std::find(found_.notes.begin(), found_.notes.end(), whole) != found_.notes.end();
    }

    /// The manifest is written last, and the folder gets its name after that.
    bool isFinished(const std::filesystem::path& entry, const std::string& name) const
    {
        std::string sha256;
        const auto manifest = readManifestFile(entry / kManifestFile, sha256);
        return !name.ends_with(kTemporary) && (!manifest.ok() || manifest.value().runId == runId_)
            && isTaken(entry / kManifestFile);
    }

    /// A copy that a person made of a known one is no newer checkpoint, and what was never finished proves nothing.
    Status sortUnnoted(
        const std::filesystem::path& entry, const std::filesystem::path& manifestFile, const std::string& name)
    {
        std::string sha256;
        const auto manifest = readManifestFile(manifestFile, sha256);
        if (!manifest.ok() && manifest.error().code == ErrorCode::Io)
            return manifest.error();
        if (manifest.ok() && manifest.value().runId == runId_ && !manifests_.contains(sha256)
            && !name.ends_with(kTemporary))
            found_.newer.push_back({ entry, name, manifest.value().step, manifest.value().writtenWallNs });
        else if (std::error_code unknown;
            std::filesystem::exists(entry, unknown) || unknown) // else it was renamed or removed meanwhile
            found_.unknown.push_back(entry);
        return {};
    }

    const RunPaths& paths_;
    const std::string& runId_;
    std::set<std::string> folders_;
    std::set<std::string> manifests_; // hashes
    StrayCheckpoints found_;
};

} // namespace

Result<StrayCheckpoints> findStrays(
    const RunPaths& paths, const std::string& runId, const std::function<Result<Rows>()>& rowsNow)
{
    return Sorter(paths, runId).sort(rowsNow);
}

namespace {

/// How far a ledger has come, by what is synced before anything is built on it.
struct Reached {
    std::int64_t attempt = 0;
    std::int64_t participations = 0; ///< of private training
};

Result<Reached> reachedBy(LedgerReader& ledger)
{
    FURROW_TRY_ASSIGN(const auto attempts, ledger.attempts());
    FURROW_TRY_ASSIGN(const auto participations, ledger.participations());
    return Reached { attempts.empty() ? 0 : attempts.back().id.value, participations };
}

/// By the times in manifests and rows: the tracker has gone further than what it does not know.
bool isOlder(const StrayCheckpoints::Newer& stray, const Rows& rows)
{
    return !rows.empty() && stray.writtenWallNs > 0 && rows.back().wallNs > stray.writtenWallNs;
}

} // namespace

Result<std::int64_t> newestAttemptOnDisk(const RunPaths& paths)
{
    constexpr std::int64_t kMost = 10'000; // a name may say anything
    std::int64_t newest = 0;
    const auto entries = entriesOf(paths.telemetryFolder());
    if (!entries.ok() && entries.error().code != ErrorCode::NotFound)
        return entries.error();
    for (const auto& entry : entries.ok() ? entries.value() : Entries {}) {
        const std::string name = utf8Text(entry.filename());
        std::int64_t attempt = 0;
        const auto [end, failed] = std::from_chars(name.data(), name.data() + name.size(), attempt);
        const std::string_view rest(end, static_cast<std::size_t>(name.data() + name.size() - end));
        if (failed == std::errc() && rest.starts_with("-w") && rest.ends_with(".jsonl") && attempt <= kMost)
            newest = std::max(newest, attempt);
    }
    return newest;
}

Result<Message> olderThanItsRecords(const RunPaths& paths, const std::string& runId, LedgerReader& tracker)
{
    FURROW_TRY_ASSIGN(const auto forgotten, forgottenLeftOut(paths, runId, tracker));
    if (!forgotten.empty())
        return sentence(
            "The tracker %1 is older than what lies in %2: a person left %3 out there, and it does not know of that.",
            { utf8Text(paths.tracker()), utf8Text(paths.leftOutFolder()), toString(forgotten.front().chunks.front()) });
    FURROW_TRY_ASSIGN(const bool isMadeAnew, tracker.isMadeAnew()); // its snapshot may know more than it could be given
    auto snapshot = LedgerReader::open(paths.trackerSnapshot());
    const bool isOwn = !isMadeAnew && snapshot.ok() && foreignLedger(snapshot.value(), runId).empty();
    // Before the tracker: a living run is ahead of both.
    const auto read = isOwn ? reachedBy(snapshot.value()) : Result<Reached>(Reached {});
    const Reached published = read.ok() ? read.value() : Reached {};
    FURROW_TRY_ASSIGN(const std::int64_t told, newestAttemptOnDisk(paths));
    FURROW_TRY_ASSIGN(const auto known, reachedBy(tracker));
    if (published.attempt > known.attempt)
        return sentence(
            "The tracker %1 is older than its own snapshot %2: it ends with attempt %3, the snapshot with attempt %4. What was trained and lost in between is not in it.",
            { utf8Text(paths.tracker()), utf8Text(paths.trackerSnapshot().filename()), std::to_string(known.attempt),
                std::to_string(published.attempt) });
    if (published.participations > known.participations)
        return sentence(
            "The tracker %1 is older than its own snapshot %2: by it a unit took part %3 times at most, by the snapshot %4 times. What was trained and lost in between is not in it.",
            { utf8Text(paths.tracker()), utf8Text(paths.trackerSnapshot().filename()), Count(known.participations),
                Count(published.participations) });
    if (told > known.attempt)
        return sentence(
            "The tracker %1 is older than what lies in %2: it ends with attempt %3, and there are files of attempt %4. What was trained and lost in between is not in it.",
            { utf8Text(paths.tracker()), utf8Text(paths.telemetryFolder()), std::to_string(known.attempt),
                std::to_string(told) });
    return Message();
}

Result<Message> olderTrackerText(const RunPaths& paths, const std::string& runId, const StrayCheckpoints& strays,
    const Rows& rows, LedgerReader& tracker)
{
    if (strays.newer.empty())
        return olderThanItsRecords(paths, runId, tracker);
    const auto& newest = strays.newer.back();
    if (const auto aside = headsAside(paths, rows); !aside.empty())
        return sentence(
            "The run folder holds two lines of the run. The newest checkpoints that the tracker %1 knows lie in %2, where a resume by another tracker moved them: %3. In %4 lie manifests of the other line, which it does not know: %5, the newest %6 (step %7, %8).",
            { utf8Text(paths.tracker()), utf8Text(paths.unknownCheckpointsFolder()), aside,
                utf8Text(paths.checkpointsFolder()), std::to_string(strays.newer.size()), newest.folder,
                std::to_string(newest.step), WallTime(newest.writtenWallNs) });
    if (isOlder(newest, rows))
        return sentence(
            "In %1 lie manifests of this run that the tracker %2 does not know: %3, the newest %4 (step %5, %6). It knows newer ones too: the folder holds two lines of the run, or the tracker was put back from a copy.",
            { utf8Text(paths.checkpointsFolder()), utf8Text(paths.tracker()), std::to_string(strays.newer.size()),
                newest.folder, std::to_string(newest.step), WallTime(newest.writtenWallNs) });
    const auto known = rows.empty()
        ? sentence("it knows no checkpoint")
        : sentence("the newest checkpoint that it knows is %1 (step %2, %3)",
              { rows.back().record.folder, std::to_string(rows.back().record.step), WallTime(rows.back().wallNs) });
    return sentence(
        "The tracker %1 is older than the weights: %2, and in %3 lie manifests of this run that it does not know: %4, the newest %5 (step %6, %7).",
        { utf8Text(paths.tracker()), known, utf8Text(paths.checkpointsFolder()), std::to_string(strays.newer.size()),
            newest.folder, std::to_string(newest.step), WallTime(newest.writtenWallNs) });
}

namespace {

/// What a person can do about it on the command line.
Result<Message> waysPastOlder(
    const RunPaths& paths, const StrayCheckpoints& strays, const Rows& rows, LedgerReader& tracker)
{
    const std::string folder = utf8Text(paths.folder());
    if (!strays.newer.empty() && !headsAside(paths, rows).empty())
        return sentence(
            "To go on with the other line, put the tracker back that knows it. To go on with this one: 'furrowctl doctor %1 --repair --accept-loss' moves its checkpoints back and those of the other line to checkpoints/unknown. 'furrowctl resume %2 --accept-loss', with a larger stopping rule where the tracker has come to its end, does so and trains on.",
            { folder, folder });
    if (!strays.newer.empty() && isOlder(strays.newer.back(), rows))
        return sentence(
            "'furrowctl doctor %1 --repair' takes them into the tracker where they belong together; 'furrowctl resume %2 --accept-loss' gives them up, moves them to checkpoints/unknown, and goes on from what is there of the checkpoints that the tracker knows.",
            { folder, folder });
    if (!strays.newer.empty())
        return sentence(
            "'furrowctl doctor %1 --repair' takes the tracker forward from the manifests; 'furrowctl resume %2 --accept-loss' gives them up, moves them to checkpoints/unknown, and goes on from what is there of the checkpoints that the tracker knows.",
            { folder, folder });
    FURROW_TRY_ASSIGN(const auto totals, tracker.totals());
    const auto repair = sentence(
        "Put the newer one back if you have it. 'furrowctl doctor %1 --repair' takes the snapshot in its place where that is newer.",
        { folder });
    if (totals.stop != StopReason::None) // a resume would begin nothing
        return repair;
    return repair + " "
        + sentence(
            "'furrowctl resume %1 --accept-loss' goes on from what is there of the checkpoints that the tracker knows.",
            { folder });
}

/// @param weigh  whether the weights are read, to say what accepting the loss means
Result<Message> olderProblem(const RunPaths& paths, const std::string& runId, bool weigh)
{
    auto reader = LedgerReader::open(paths.tracker());
    auto rows = reader.ok() ? reader.value().checkpoints() : Result<Rows>(reader.error());
    if (!rows.ok() || !foreignLedger(reader.value(), runId).empty())
        return Message();
    FURROW_TRY_ASSIGN(auto strays, findStrays(paths, runId, [&] { return rows = reader.value().checkpoints(); }));
    FURROW_TRY_ASSIGN(const auto text, olderTrackerText(paths, runId, strays, rows.value(), reader.value()));
    if (text.empty())
        return text;
    FURROW_TRY_ASSIGN(const auto ways, waysPastOlder(paths, strays, rows.value(), reader.value()));
    FURROW_TRY_ASSIGN(const auto totals, reader.value().totals());
    if (!weigh || (strays.newer.empty() && totals.stop != StopReason::None))
        return text + " " + ways;
    const auto loss = acceptedLoss(paths, runId, reader.value());
    return loss.ok() ? text + " " + ways + " " + loss.value() : text + " " + ways;
}

} // namespace

Result<Message> olderTrackerProblem(const RunPaths& paths, const std::string& runId)
{
    return olderProblem(paths, runId, false);
}

Result<Message> olderTrackerInFull(const RunPaths& paths, const std::string& runId)
{
    return olderProblem(paths, runId, true);
}

Status refuseOlderTracker(const RunPaths& paths, const std::string& runId)
{
    FURROW_TRY_ASSIGN(auto older, olderTrackerInFull(paths, runId));
    return older.empty() ? Status {} : Status(Error { ErrorCode::Corrupt, std::move(older) });
}

Result<Message> putAside(const RunPaths& paths, const std::vector<std::filesystem::path>& entries, FileSystem& files)
{
    if (entries.empty())
        return Message();
    FURROW_TRY(files.createFolder(paths.unknownCheckpointsFolder()));
    std::string names;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        FURROW_TRY(files.rename(entries[i], freeName(paths.unknownCheckpointsFolder() / entries[i].filename())));
        if (i < kMostNames)
            names += (i == 0 ? "" : ", ") + utf8Text(entries[i].filename());
    }
    if (entries.size() > kMostNames)
        names += ", …";
    return sentence(
        "%1 of the entries in %2 are not known to the tracker; nothing of them was deleted, they were moved to %3: %4",
        { std::to_string(entries.size()), utf8Text(paths.checkpointsFolder()),
            utf8Text(paths.unknownCheckpointsFolder()), names });
}

Result<Message> removeOwnFiles(const RunPaths& paths, const std::filesystem::path& folder, FileSystem& files)
{
    constexpr const char* kOwnFiles[] = { kWeightsFile, "optimizer.safetensors", kStateFile, kManifestFile };
    std::error_code failed;
    if (isLink(folder) || !std::filesystem::is_directory(folder, failed))
        return Message();
    for (const char* name : kOwnFiles)
        if (!isLink(folder / name) && std::filesystem::is_regular_file(folder / name, failed))
            FURROW_TRY(files.removeAll(folder / name));
    if (std::filesystem::remove(folder, failed))
        return Message();
    auto aside = putAside(paths, { folder }, files);
    return aside.ok() ? sentence("The folder of checkpoint %1 has files that Furrow did not write; they were kept.",
                            { utf8Text(folder.filename()) })
            + " " + aside.value()
                      : aside;
}

Result<Message> putAsideWithoutRow(const RunPaths& paths, const std::string& runId, const Rows& rows, FileSystem& files)
{
    FURROW_TRY_ASSIGN(auto strays, findStrays(paths, runId, [&rows] { return Result<Rows>(rows); }));
    auto entries = strays.unknown;
    for (const auto& newer : strays.newer)
        entries.push_back(newer.path);
    return putAside(paths, entries, files);
}

} // namespace furrow
