// The order of things: look, make a new tracker under another name (new_tracker), and only when it is known that
// nothing is given up without a yes, put it in its place.

#include "core/run/audit/repair.h"

#include "core/base/clock.h"
#include "core/base/file_lock.h"
#include "core/base/file_system.h"
#include "core/base/path.h"
#include "core/base/random.h"
#include "core/base/scratch_folder.h"
#include "core/base/sentence.h"
#include "core/run/audit/begun_with.h"
#include "core/run/audit/block_repair.h"
#include "core/run/audit/checkpoint_problems.h"
#include "core/run/audit/fingerprint_repair.h"
#include "core/run/audit/held_out_repair.h"
#include "core/run/audit/new_tracker.h"
#include "core/run/audit/tracker_damage.h"
#include "core/run/folder/before_writing.h"
#include "core/run/folder/foreign_ledger.h"
#include "core/run/folder/known_aside.h"
#include "core/run/folder/run_links.h"
#include "core/run/folder/stray_checkpoints.h"
#include "core/run/status/privacy_spent.h"
#include "core/run/status/run_holder.h"
#include "core/tracker/known_heads.h"
#include "core/tracker/ledger_reader.h"
#include "core/tracker/sqlite/database.h"
#include "core/tracker/sqlite/database_files.h"
#include "core/tracker/training_notes.h"

#include <algorithm>
#include <array>
#include <optional>

namespace furrow {

namespace {

// What the old tracker is called, with random digits behind it.
constexpr std::string_view kDamaged = ".damaged-";
constexpr std::string_view kOlder = ".older-";
constexpr std::string_view kForeign = ".foreign-";

std::filesystem::path with(const std::filesystem::path& path, const std::string& ending)
{
    auto other = path;
    other += ending;
    return other;
}

/// Folders in which repairs that were killed made their trackers and held-out texts: nothing of them is in use while
/// this one holds the run. What somebody else put there stays.
void sweepWorkshops(const RunPaths& paths)
{
    constexpr std::string_view kBegin = "furrow-";
    constexpr std::size_t kDigits = 16;
    const auto entries = entriesOf(paths.folder());
    for (const auto& entry : entries.ok() ? entries.value() : std::vector<std::filesystem::path> {}) {
        const auto name = utf8Text(entry.filename());
        std::error_code failed;
        if (name.size() != kBegin.size() + kDigits || !name.starts_with(kBegin) || isLink(entry)
            || name.find_first_not_of("0123456789abcdef", kBegin.size()) != std::string::npos
            || !std::filesystem::is_directory(entry, failed))
            continue;
        for (const auto& file : databaseFiles(entry / paths.tracker().filename()))
            std::filesystem::remove(file, failed);
        std::filesystem::remove(entry / paths.evaluationFile().filename(), failed);
        std::filesystem::remove(entry, failed);
    }
}

/// Where the tracker went when a repair was killed between it and its WAL: what is left of it goes there too.
std::optional<std::filesystem::path> asideOfTorn(const RunPaths& paths)
{
    std::error_code unknown;
    if (std::filesystem::exists(paths.tracker(), unknown)
        || !std::filesystem::exists(with(paths.tracker(), "-wal"), unknown))
        return std::nullopt;
    const auto entries = entriesOf(paths.folder());
    std::optional<std::filesystem::path> found;
    for (const auto& entry : entries.ok() ? entries.value() : std::vector<std::filesystem::path> {}) {
        const auto name = utf8Text(entry.filename());
        const bool isAside
            = std::ranges::any_of(std::array { kDamaged, kOlder, kForeign }, [&](std::string_view ending) {
                  return name.starts_with(utf8Text(paths.tracker().filename()) + std::string(ending));
              });
        if (!isAside || name.ends_with("-wal") || name.ends_with("-shm") || name.ends_with("-journal")
            || isTaken(with(entry, "-wal")))
            continue;
        if (found)
            return std::nullopt; // of two nobody knows
        found = entry;
    }
    return found;
}

/// The newest weights that a ledger of this run knows, also where names or numbers in it cannot be used.
Result<std::vector<KnownHead>> headsKnownTo(
    const std::filesystem::path& ledger, const std::string& runId, bool isTolerant)
{
    FURROW_TRY_ASSIGN(auto reader, LedgerReader::open(ledger));
    if (auto foreign = foreignLedger(reader, runId); !foreign.empty())
        return Error { ErrorCode::Corrupt, foreign };
    if (isTolerant)
        return knownHeads(ledger);
    FURROW_TRY_ASSIGN(const auto rows, reader.checkpoints());
    std::vector<KnownHead> heads;
    for (const auto& row : rows)
        if (row.head && !row.damaged && !row.removed)
            heads.push_back({ row.record.folder, row.record.manifestSha256 });
    return heads;
}

/// Newest weights that the damaged tracker, or the snapshot where that cannot be used, knew and the new one goes on
/// without. Nothing: neither can be read, so nobody knows what there was.
Result<std::optional<std::vector<std::string>>> givenUp(
    const RunPaths& paths, const std::string& runId, const std::filesystem::path& fresh)
{
    auto before = headsKnownTo(paths.tracker(), runId, false);
    if (!before.ok() && saysNothing(before.error()))
        return before.error();
    if (!before.ok())
        before = headsKnownTo(paths.trackerSnapshot(), runId, false);
    for (const auto& ledger : { paths.tracker(), paths.trackerSnapshot() })
        if (!before.ok())
            before = headsKnownTo(ledger, runId, true);
    if (!before.ok())
        return std::optional<std::vector<std::string>> {};
    FURROW_TRY_ASSIGN(auto reader, LedgerReader::open(fresh));
    FURROW_TRY_ASSIGN(const auto after, reader.checkpoints());
    std::vector<std::string> lost;
    for (const KnownHead& head : before.value())
        if (std::ranges::none_of(after, [&head](const auto& one) {
                return one.surviving
                    && (one.record.folder == head.folder || one.record.manifestSha256 == head.manifestSha256);
            }))
            lost.push_back(head.folder);
    return std::optional(std::move(lost));
}

/// Only ledgers of another run lie there, and all that this run has of its own is whole and in the new tracker: nothing
/// hints at newer weights.
bool isAllThereIs(const RunPaths& paths, const std::string& runId, const RepairReport& report)
{
    const bool isForeign = report.foreign || !foreignLedger(paths.trackerSnapshot(), runId).empty();
    return isForeign && !report.rebuilt.heads.empty() && report.rebuilt.leftOut.empty() && report.notes.empty();
}

Result<CheckpointRows> rowsOf(const RunPaths& paths)
{
    FURROW_TRY_ASSIGN(auto reader, LedgerReader::open(paths.tracker()));
    return reader.checkpoints();
}

/// A resume by another tracker moved newest weights that this one knows to checkpoints/unknown: it is not older, there
/// are two lines of the run.
bool areHeadsAside(const RunPaths& paths)
{
    const auto rows = rowsOf(paths);
    return rows.ok() && !headsAside(paths, rows.value()).empty();
}

/// The line that the tracker knows gets its checkpoints back, the other one is put aside. The tracker stays as it is,
/// but that it does not know what was trained by the other.
Status changeLines(const RunPaths& paths, const RunFile& file, RepairReport& report)
{
    if (file.config.noiseMultiplier > 0)
        FURROW_TRY(keepHistoryLost(paths.tracker(), systemClock()));
    FURROW_TRY_ASSIGN(const auto rows, rowsOf(paths));
    FURROW_TRY_ASSIGN(const auto back, takeBackAside(paths, rows));
    FURROW_TRY_ASSIGN(const auto aside, putAsideWithoutRow(paths, file.runId, rows));
    for (const auto& said : { back, aside })
        if (!said.empty())
            report.notes.push_back(said);
    return {};
}

/// A person's yes, as a resume asks for it: a repair is no way round it.
Status askBeforeGivingUp(
    const RunPaths& paths, const std::optional<std::vector<std::string>>& lost, const RepairReport& report)
{
    const auto folder = utf8Text(paths.folder());
    if (!lost)
        return Error { ErrorCode::Corrupt,
            sentence(
                "Neither the tracker nor its snapshot (%1) can be read, so nobody can say whether there were newer weights than those in %2. By these %3 of %4 known chunks are trained. Nothing was changed. Put back what you have of the two and repair then; or 'furrowctl doctor %5 --repair --accept-loss' goes on from these.",
                { utf8Text(paths.trackerSnapshot().filename()), utf8Text(paths.checkpointsFolder()),
                    Count(report.committed), Count(report.known), folder }) };
    if (lost->empty() && !report.rebuilt.leftOut.empty())
        return Error { ErrorCode::Corrupt,
            sentence(
                "The checkpoints in %1 are of two lines: the tracker knows one of them, and newer ones do not grow from its newest weights, as after a resume --from-checkpoint: %2. Nothing was changed. Put the newer tracker back if you have it; 'furrowctl doctor %3 --repair --accept-loss' goes on from what this one knows and moves the others to checkpoints/unknown.",
                { utf8Text(paths.checkpointsFolder()), report.rebuilt.leftOut.front(), folder }) };
    if (lost->empty())
        return {};
    std::string names;
    for (const auto& name : *lost)
        names += (names.empty() ? "" : ", ") + name;
    if (report.older) // the manifests are of another line of the run, as a copy of it makes one
        return Error { ErrorCode::Corrupt,
            sentence(
                "Taken forward from the manifests in %1, the tracker would give up newest weights that it knows: %2. Nothing was changed. 'furrowctl resume %3 --accept-loss' goes on from what the tracker knows and is whole, and moves what it does not know to checkpoints/unknown; 'furrowctl doctor %4 --repair --accept-loss' gives them up, and %5 of %6 known chunks are trained then.",
                { utf8Text(paths.checkpointsFolder()), names, folder, folder, Count(report.committed),
                    Count(report.known) }) };
    return Error { ErrorCode::Corrupt,
        sentence(
            "A tracker made anew would give up newest weights that the old one knew, since nothing whole in %1 proves them: %2. Nothing was changed. Put a whole copy of them back and repair then; or 'furrowctl doctor %3 --repair --accept-loss' goes on without them and their chunks are trained again.",
            { utf8Text(paths.checkpointsFolder()), names, folder }) };
}

/// The checkpoints that the new tracker could not take in would stop the next resume: they are put aside and named.
Status putRestAside(const RunPaths& paths, const RunFile& file, RepairReport& report)
{
    FURROW_TRY_ASSIGN(const auto rows, rowsOf(paths));
    FURROW_TRY_ASSIGN(auto aside, putAsideWithoutRow(paths, file.runId, rows));
    if (!aside.empty())
        report.notes.push_back(aside);
    return {};
}

/// The new file under its name; the old one is kept.
Status putInPlace(const RunPaths& paths, const std::filesystem::path& fresh, const RepairReport& report)
{
    auto& files = realFileSystem();
    FURROW_TRY(moveDatabase(files, paths.tracker(), report.oldCopy));
    FURROW_TRY(files.rename(fresh, paths.tracker()));
    return files.syncFolder(paths.folder());
}

/// A whole copy without a WAL becomes a tracker that can be written. @return false: it was one
Result<bool> makeLive(const RunPaths& paths)
{
    const auto live = LedgerReader::checkIsLive(paths.tracker());
    if (live.ok() || live.error().code != ErrorCode::Corrupt)
        return live.ok() ? Result<bool>(false) : live.error();
    FURROW_TRY(Database::setWalMode(paths.tracker()));
    return true;
}

/// Which of the two it needs, and that.
Result<RepairReport> repairTracker(
    const RunPaths& paths, const RunFile& file, bool acceptLoss, RepairReadings& readings, const Say& say)
{
    RepairReport report;
    FURROW_TRY_ASSIGN(report.damage, damageOf(paths, paths.tracker(), file, &readings.blocks));
    report.foreign = !foreignLedger(paths.tracker(), file.runId).empty();
    if (report.damage.empty()) {
        FURROW_TRY_ASSIGN(auto older, olderTrackerProblem(paths, file.runId));
        if (!older.empty() && areHeadsAside(paths)) {
            if (!acceptLoss)
                return Error { ErrorCode::Corrupt, sentence("%1 Nothing was changed.", { older }) };
            FURROW_TRY(changeLines(paths, file, report));
            older = {};
        }
        report.damage = older;
        report.older = !older.empty();
    }
    report.needed = !report.damage.empty();
    if (!report.needed) {
        FURROW_TRY_ASSIGN(report.madeLive, makeLive(paths));
        return report;
    }
    if (const auto costs = costsOfRepair(file); !costs.empty())
        say(costs);
    FURROW_TRY_ASSIGN(auto workshop,
        ScratchFolder::make(paths.folder())); // on the same disk: the new tracker is moved into its place
    const auto fresh = workshop.path() / paths.tracker().filename();
    if (auto built = makeNewTracker(paths, file, fresh, report, readings, say); !built.ok())
        return built.error().in(sentence("repairing %1", { utf8Text(paths.tracker()) }));
    const auto torn = asideOfTorn(paths); // a repair got as far as that: it had the yes that it needed
    if (!acceptLoss && !torn) {
        FURROW_TRY_ASSIGN(const auto lost, givenUp(paths, file.runId, fresh));
        if (lost || !isAllThereIs(paths, file.runId, report))
            FURROW_TRY(askBeforeGivingUp(paths, lost, report));
    }
    const std::string_view ending = report.foreign ? kForeign : report.older ? kOlder : kDamaged;
    report.oldCopy = torn.value_or(with(paths.tracker(), std::string(ending) + randomHex(8)));
    FURROW_TRY(putInPlace(paths, fresh, report));
    std::error_code unknown;
    if (!std::filesystem::exists(report.oldCopy, unknown) && !unknown) // there was none
        report.oldCopy.clear();
    FURROW_TRY(putRestAside(paths, file, report));
    if (file.config.noiseMultiplier > 0)
        report.notes.push_back(sentence(kNoEpsilonOfMadeAnew));
    return report;
}

/// Those of run.json hold then. @return a sentence, "" where there was nothing to do
Result<Message> setWrongSettingsAside(const RunPaths& paths, const RunFile& file)
{
    FURROW_TRY_ASSIGN(auto reader, LedgerReader::open(paths.tracker()));
    FURROW_TRY_ASSIGN(const auto wrong, wrongSettings(file, reader));
    if (!wrong)
        return Message();
    FURROW_TRY_ASSIGN(auto ledger, SupervisorLedger::open(paths.tracker()));
    FURROW_TRY(ledger.setOverridesAside(wrong->attempt, wrong->why));
    return sentence(
        "The settings that the tracker kept of attempt %1 were set aside, so that those of run.json hold. What a resume had changed must be given again. They could not be used: %2",
        { std::to_string(wrong->attempt.value), wrong->why });
}

} // namespace

Result<RepairReport> repairRun(const RunPaths& paths, const Say& say, bool acceptLoss)
{
    FURROW_TRY_ASSIGN(auto file, readRunFile(paths));
    FURROW_TRY(beforeWritingInto(paths));
    auto lock = FileLock::tryLock(paths.supervisorLock());
    if (!lock.ok())
        return lock.error().code == ErrorCode::Busy ? heldByAnother(paths) : lock.error();
    FURROW_TRY(refuseLinks(paths));
    FURROW_TRY(checkRunFile(paths, file));
    sweepWorkshops(paths);
    RepairReadings readings;
    FURROW_TRY_ASSIGN(auto report, repairTracker(paths, file, acceptLoss, readings, say));
    FURROW_TRY_ASSIGN(const auto foreign, setForeignSnapshotAside(paths, file.runId));
    if (!foreign.empty())
        report.notes.push_back(foreign);
    FURROW_TRY_ASSIGN(const auto setAside, setWrongSettingsAside(paths, file));
    report.settingsSetAside = !setAside.empty();
    if (report.settingsSetAside)
        report.notes.push_back(setAside);
    FURROW_TRY_ASSIGN(const auto heldOut, repairHeldOut(paths, file, say));
    if (!heldOut.note.empty())
        report.notes.push_back(heldOut.note);
    say("Reading the newest weights");
    FURROW_TRY_ASSIGN(report.problems, checkpointProblems(paths, file, std::move(readings.weights)));
    if (!heldOut.problem.empty()) {
        std::erase(report.problems, heldOut.was); // it advises this repair
        report.problems.push_back(heldOut.problem);
    }
    say("Reading the prepared blocks");
    if (const auto restored = restoreFingerprints(paths, file); restored.ok() && !restored.value().empty())
        report.notes.push_back(restored.value());
    else if (!restored.ok())
        report.problems.push_back(restored.error().message);
    auto blocks = repairBlocks(paths);
    if (!blocks.ok()) { // the tracker is in order all the same
        report.problems.push_back(blocks.error().message);
        return report;
    }
    report.notes.insert(report.notes.end(), blocks.value().notes.begin(), blocks.value().notes.end());
    report.problems.insert(report.problems.end(), blocks.value().problems.begin(), blocks.value().problems.end());
    return report;
}

} // namespace furrow
