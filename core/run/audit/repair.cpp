// The order of things: look, gather what files prove, build a new tracker under another name, audit it, and only then
// put it in place.

#include "core/run/audit/repair.h"

#include "core/base/file_lock.h"
#include "core/base/file_system.h"
#include "core/base/owner.h"
#include "core/base/path.h"
#include "core/base/random.h"
#include "core/base/scratch_folder.h"
#include "core/base/sentence.h"
#include "core/data/block_manager.h"
#include "core/data/tokenizer/tokenizer.h"
#include "core/run/audit/begun_with.h"
#include "core/run/audit/block_repair.h"
#include "core/run/status/brain.h"
#include "core/run/folder/attempt_config.h"
#include "core/run/folder/checkpoint_manifest.h"
#include "core/run/status/feeder_meters.h"
#include "core/run/folder/finite_weights.h"
#include "core/run/folder/kept_states.h"
#include "core/run/status/ledger_view.h"
#include "core/run/status/run_holder.h"
#include "core/run/folder/run_links.h"
#include "core/run/folder/stray_checkpoints.h"
#include "core/run/status/tracker_config.h"
#include "core/tracker/audit/audit.h"
#include "core/tracker/sqlite/database.h"
#include "core/tracker/sqlite/database_files.h"
#include "core/tracker/feeder_ledger.h"
#include "core/tracker/audit/recount.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace furrow {

namespace {

using Say = std::function<void(const std::string&)>;
using Verdicts = std::map<std::pair<std::string, std::string>, WeightsVerdict>; ///< by folder and manifest
constexpr std::size_t kPlansAtOnce = 64;

/// Of a file that cannot be read now, or that another process has locked, nobody can say what is in it.
bool saysNothing(const Error& error)
{
    return error.code == ErrorCode::Io || error.code == ErrorCode::Busy || error.code == ErrorCode::Cancelled;
}

/// Names that lead out of the run folder: a tracker that was tampered with.
Result<Message> damageOfNames(const std::filesystem::path& tracker)
{
    const auto told = [](const Error& error) { return saysNothing(error) ? Result<Message>(error) : error.message; };
    auto reader = LedgerReader::open(tracker);
    if (!reader.ok())
        return told(reader.error());
    if (auto rows = reader.value().checkpoints(); !rows.ok())
        return told(rows.error());
    auto epochs = reader.value().epochs();
    const auto blocks = epochs.ok() && !epochs.value().empty() ? epochs.value().back().knownBlocks : 0;
    for (std::int64_t block = 0; block < blocks; ++block)
        if (auto row = reader.value().block(block); !row.ok())
            return told(row.error());
    return Message();
}

/// Of a ledger that is not in order.
Message firstFault(const AuditReport& report)
{
    constexpr FindingKind kNoFaults[] { FindingKind::Poisoned, FindingKind::Accepted, FindingKind::Excluded,
        FindingKind::Parent, FindingKind::Lost, FindingKind::Rebuilt };
    if (!report.integrityOk)
        return report.integrity;
    const auto fault = std::find_if(report.findings.begin(), report.findings.end(),
        [&](const AuditFinding& one) { return std::ranges::find(kNoFaults, one.kind) == std::end(kNoFaults); });
    return fault == report.findings.end() ? "the audit finds it broken" : fault->text;
}

/// "": it is whole.
Result<Message> damageOf(const std::filesystem::path& tracker, const std::string& runId)
{
    auto report = audit(tracker);
    if (!report.ok())
        return saysNothing(report.error()) ? Result<Message>(report.error()) : report.error().message;
    if (report.value().runId != runId)
        return Message("it belongs to run " + report.value().runId);
    return report.value().isClean() ? damageOfNames(tracker) : firstFault(report.value());
}

Result<bool> isWhole(const std::filesystem::path& tracker, const std::string& runId)
{
    FURROW_TRY_ASSIGN(const auto damage, damageOf(tracker, runId));
    return damage.empty();
}

ProvenCheckpoint provenBy(const CheckpointManifest& manifest, const std::string& folder, const std::string& sha256)
{
    ProvenCheckpoint one;
    one.record.kind = manifest.kind;
    one.record.replica = manifest.replica;
    one.record.folder = folder;
    one.record.manifestSha256 = sha256;
    one.record.step = manifest.step;
    one.record.tokens = manifest.tokens;
    one.record.evalLoss = manifest.evalLoss;
    for (const auto& file : manifest.files)
        one.record.sizeBytes += file.sizeBytes;
    one.parents = manifest.parents;
    one.parts = manifest.parts;
    one.writtenWallNs = manifest.writtenWallNs;
    return one;
}

/// Every checkpoint of this run that still has a readable manifest. What cannot be read now ends the repair: it proves
/// nothing in either direction.
class Proof {
public:
    Proof(const RunPaths& paths, const std::string& runId, std::vector<Message>& notes, Verdicts& verdicts)
        : paths_(paths)
        , runId_(runId)
        , notes_(notes)
        , verdicts_(verdicts)
    {
    }

    Result<std::vector<ProvenCheckpoint>> gather()
    {
        auto living = entriesOf(paths_.checkpointsFolder());
        if (!living.ok())
            return living.error().in(sentence("reading the checkpoints"));
        for (const auto& entry : living.value())
            if (!paths_.isBesideCheckpoints(entry) && entry.extension() != ".tmp" && !isLink(entry))
                FURROW_TRY(take(entry / kManifestFile, utf8Text(entry.filename()), true));
        auto removed = entriesOf(paths_.removedManifestsFolder());
        if (!removed.ok() && removed.error().code != ErrorCode::NotFound)
            return removed.error();
        if (removed.ok())
            for (const auto& entry : removed.value())
                if (entry.extension() == ".json")
                    FURROW_TRY(take(entry, utf8Text(entry.stem()), false));
        return std::move(proven_);
    }

private:
    Status take(const std::filesystem::path& file, const std::string& folder, bool hasWeights)
    {
        std::string sha256;
        auto manifest = readManifestFile(file, sha256);
        if (!manifest.ok() && manifest.error().code == ErrorCode::Io)
            return manifest.error();
        if (!manifest.ok() || manifest.value().runId != runId_ || !manifest.value().namesParents) {
            notes_.push_back("checkpoint " + folder + " proves nothing: "
                + (!manifest.ok()                          ? manifest.error().message
                        : manifest.value().runId != runId_ ? Message("it belongs to run " + manifest.value().runId)
                                                           : Message("its manifest is of an older format")));
            return {};
        }
        Status verdict;
        if (hasWeights)
            verdict = (verdicts_[{ folder, sha256 }]
                = readCheckpoint(paths_.checkpointFolder(folder), sha256, runId_, &frozen_))
                          .files;
        if (!verdict.ok() && verdict.error().code == ErrorCode::Io)
            return verdict;
        if (!verdict.ok())
            notes_.push_back(verdict.error().message);
        proven_.push_back(provenBy(manifest.value(), folder, sha256));
        proven_.back().whole = hasWeights && verdict.ok();
        proven_.back().removed = !hasWeights;
        return {};
    }

    const RunPaths& paths_;
    const std::string& runId_;
    std::vector<Message>& notes_;
    Verdicts& verdicts_;
    FrozenVerdicts frozen_;
    std::vector<ProvenCheckpoint> proven_;
};

struct Needs {
    std::set<std::int64_t> blocks;
    std::int64_t newestEpoch = 0;
};

Needs needsOf(const std::vector<ProvenCheckpoint>& proven)
{
    Needs needs;
    for (const auto& one : proven)
        for (const auto& part : one.parts) {
            needs.blocks.insert(placeOf(part.chunk).block);
            needs.newestEpoch = std::max(needs.newestEpoch, placeOf(part.chunk).epoch);
        }
    return needs;
}

Status planRest(BlockManager& blocks, FeederLedger& ledger, std::int64_t known)
{
    for (;;) {
        std::vector<NewBlock> fresh;
        bool over = false;
        while (!over && fresh.size() < kPlansAtOnce) {
            FURROW_TRY_ASSIGN(auto next, blocks.planNext());
            over = !next;
            if (!over)
                fresh.push_back({ next->block, next->source, next->firstRow, next->chunkRows, next->plan,
                    blocks.excludedChunks(next->block) });
        }
        FURROW_TRY(ledger.addBlocks(fresh));
        known += static_cast<std::int64_t>(fresh.size());
        if (over)
            return ledger.setLastBlockProven(known);
    }
}

/// Blocks that the new tracker does not know yet are planned, those that checkpoints speak of are prepared: only so are
/// their windows known.
Status completeBlocks(const RunPaths& paths, const RunFile& file, const std::filesystem::path& tracker,
    const std::set<std::int64_t>& wanted, const Say& say)
{
    FURROW_TRY_ASSIGN(auto tokenizer, loadTokenizer(paths.tokenizer().string()));
    FURROW_TRY_ASSIGN(auto blocks,
        BlockManager::open(file.config, file.dataManifest, file.samplesPerBlock, paths.cacheFolder(), tokenizer,
            paths.duplicatesFile()));
    if (blocks.needsDuplicates()) {
        say("Looking for duplicates");
        FURROW_TRY(blocks.findDuplicates({}));
    }
    auto ledger = FeederLedger::open(tracker);
    auto reader = LedgerReader::open(tracker);
    if (!ledger.ok() || !reader.ok())
        return ledger.ok() ? reader.error() : ledger.error();
    FURROW_TRY_ASSIGN(auto demand, ledger.value().demand());
    if (!demand.lastBlockProven) {
        say("Looking at the data again");
        if (demand.knownBlocks > 0) {
            FURROW_TRY_ASSIGN(auto last, reader.value().block(demand.knownBlocks - 1));
            FURROW_TRY(blocks.resumeAfter(last.plan));
        }
        FURROW_TRY(planRest(blocks, ledger.value(), demand.knownBlocks));
    }
    for (const auto number : wanted) {
        auto row = reader.value().block(number);
        if (!row.ok() || !row.value().digest.empty())
            continue; // not of this data, or prepared once: its windows are known
        say("Preparing block " + std::to_string(number));
        FURROW_TRY_ASSIGN(auto plan, BlockManager::fromPlan(row.value().plan));
        FURROW_TRY_ASSIGN(auto prepared, blocks.prepare(plan));
        FURROW_TRY_ASSIGN(auto block, blocks.openBlock(prepared));
        FURROW_TRY_ASSIGN(auto chunks, preparedChunks(block, windowRules(file.config)));
        FURROW_TRY(ledger.value().setPrepared(
            number, prepared.fileName, prepared.digest, chunks, blocks.firstUnreadable(plan, block)));
    }
    return {};
}

/// Number of the newest event of a ledger that is whole, else nothing.
Result<std::optional<std::int64_t>> newestEventOf(const std::filesystem::path& ledger, const std::string& runId)
{
    if (!isTaken(ledger))
        return std::optional<std::int64_t>();
    FURROW_TRY_ASSIGN(const bool whole, isWhole(ledger, runId));
    if (!whole)
        return std::optional<std::int64_t>();
    FURROW_TRY_ASSIGN(auto reader, LedgerReader::open(ledger));
    FURROW_TRY_ASSIGN(const auto newest, reader.newestEvent());
    return std::optional(newest);
}

std::filesystem::path with(const std::filesystem::path& path, const std::string& ending)
{
    auto other = path;
    other += ending;
    return other;
}

/// Whether only counters of the tracker were wrong: then `target` is a copy with right ones.
Result<bool> countedAnew(const RunPaths& paths, const RunFile& file, const std::filesystem::path& target)
{
    const auto adopted = isTaken(paths.tracker()) ? adoptSnapshot(paths.tracker(), target) : Status {};
    if (!adopted.ok() && saysNothing(adopted.error()))
        return adopted.error();
    if (isTaken(target) && adopted.ok() && recount(target).ok()) {
        FURROW_TRY_ASSIGN(const bool whole, isWhole(target, file.runId));
        if (whole)
            return true;
    }
    std::error_code ignored;
    for (const char* ending : { "", "-wal", "-shm" })
        std::filesystem::remove(with(target, ending), ignored);
    return false;
}

Status makeBasis(const RunPaths& paths, const RunFile& file, const std::filesystem::path& target, RepairReport& report)
{
    FURROW_TRY_ASSIGN(const auto tracker, newestEventOf(paths.tracker(), file.runId));
    FURROW_TRY_ASSIGN(const auto snapshot, newestEventOf(paths.trackerSnapshot(), file.runId));
    FURROW_TRY_ASSIGN(const bool counted, tracker ? Result<bool>(false) : countedAnew(paths, file, target));
    if (counted) {
        report.basis = "the tracker with its counters counted anew and the manifests of the checkpoints";
        return {};
    }
    if (snapshot && (!tracker || *snapshot > *tracker)) {
        report.basis = "the last published snapshot (view.sqlite) and the manifests of the checkpoints";
        return adoptSnapshot(paths.trackerSnapshot(), target);
    }
    if (tracker) {
        report.basis = "the tracker as it was and the manifests of the checkpoints";
        return adoptSnapshot(paths.tracker(), target);
    }
    report.basis = "run.json, the data and the manifests of the checkpoints; the history of claims is lost";
    FURROW_TRY_ASSIGN(auto parent, readParent(paths));
    return SupervisorLedger::create(target, trackerConfig(file, parent), stoppingRules(file.config));
}

Status build(const RunPaths& paths, const RunFile& file, const std::filesystem::path& target, RepairReport& report,
    Verdicts& verdicts, const Say& say)
{
    say("Reading the checkpoints");
    FURROW_TRY_ASSIGN(auto gathered, Proof(paths, file.runId, report.notes, verdicts).gather());
    const auto& proven = gathered;
    FURROW_TRY(makeBasis(paths, file, target, report));
    const auto needs = needsOf(proven);
    FURROW_TRY(completeBlocks(paths, file, target, needs.blocks, say));
    FURROW_TRY(openEpochsUpTo(target, needs.newestEpoch));
    FURROW_TRY_ASSIGN(
        report.rebuilt, rebuildLineage(target, proven, report.older ? RebuildReason::Older : RebuildReason::Damaged));
    FURROW_TRY_ASSIGN(auto proof, audit(target));
    if (!proof.isClean())
        return Error { ErrorCode::Internal,
            sentence("what was rebuilt does not pass the audit, so nothing was changed:\n%1", { auditText(proof) }) };
    for (const auto& epoch : proof.epochs) {
        report.committed += epoch.committed;
        report.known += epoch.known;
    }
    auto ledger = SupervisorLedger::open(target);
    auto emptied = ledger.ok() ? ledger.value().emptyWal() : ledger.error();
    return emptied.ok() ? Status {} : Status(emptied.error());
}

/// Folders in which repairs that were killed made their trackers: nothing of them is in use while this one holds the
/// run. What somebody else put there stays.
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
        const bool isAside = name.starts_with(utf8Text(paths.tracker().filename()) + ".damaged-")
            || name.starts_with(utf8Text(paths.tracker().filename()) + ".older-");
        if (!isAside || name.ends_with("-wal") || name.ends_with("-shm") || isTaken(with(entry, "-wal")))
            continue;
        if (found)
            return std::nullopt; // of two nobody knows
        found = entry;
    }
    return found;
}

/// Newest weights that the damaged tracker, or the snapshot where that cannot be read, knew and the new one goes on
/// without. Nothing: neither can be read, so nobody knows what there was.
Result<std::optional<std::vector<std::string>>> givenUp(const RunPaths& paths, const std::filesystem::path& fresh)
{
    auto known = LedgerReader::open(paths.tracker());
    auto before = known.ok() ? known.value().checkpoints() : Result<CheckpointRows>(known.error());
    if (!before.ok() && saysNothing(before.error()))
        return before.error();
    if (!before.ok()) {
        auto snapshot = LedgerReader::open(paths.trackerSnapshot());
        before = snapshot.ok() ? snapshot.value().checkpoints() : Result<CheckpointRows>(snapshot.error());
    }
    if (!before.ok())
        return std::optional<std::vector<std::string>> {};
    FURROW_TRY_ASSIGN(auto reader, LedgerReader::open(fresh));
    FURROW_TRY_ASSIGN(const auto after, reader.checkpoints());
    std::vector<std::string> lost;
    for (const auto& row : before.value())
        if (row.head && !row.damaged && !row.removed
            && std::none_of(after.begin(), after.end(),
                [&row](const auto& one) { return one.surviving && one.record.folder == row.record.folder; }))
            lost.push_back(row.record.folder);
    return std::optional(std::move(lost));
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
    if (lost->empty())
        return {};
    std::string names;
    for (const auto& name : *lost)
        names += (names.empty() ? "" : ", ") + name;
    if (report.older) // the manifests are of another line of the run, as a copy of it makes one
        return Error { ErrorCode::Corrupt,
            sentence(
                "Taken forward from the manifests in %1, the tracker would give up newest weights that it knows: %2. Nothing was changed. 'furrowctl resume %3 --accept-loss' goes on from these and moves what the tracker does not know to checkpoints/unknown; 'furrowctl doctor %4 --repair --accept-loss' gives them up, and %5 of %6 known chunks are trained then.",
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
    auto reader = LedgerReader::open(paths.tracker());
    FURROW_TRY_ASSIGN(auto rows,
        reader.ok() ? reader.value().checkpoints()
                    : Result<std::vector<SupervisorLedger::CheckpointRow>>(reader.error()));
    FURROW_TRY_ASSIGN(auto aside, putAsideWithoutRow(paths, file.runId, rows));
    if (!aside.empty())
        report.notes.push_back(aside);
    return {};
}

/// The new file under its name; the old one is kept.
Status putInPlace(const RunPaths& paths, const std::filesystem::path& fresh, const RepairReport& report)
{
    auto& files = realFileSystem();
    FURROW_TRY(moveTrackerAside(files, paths.tracker(), report.oldCopy));
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
    const RunPaths& paths, const RunFile& file, bool acceptLoss, Verdicts& verdicts, const Say& say)
{
    RepairReport report;
    FURROW_TRY_ASSIGN(report.damage, damageOf(paths.tracker(), file.runId));
    if (report.damage.empty()) {
        FURROW_TRY_ASSIGN(auto older, olderTrackerProblem(paths, file.runId));
        report.damage = older;
        report.older = !older.empty();
    }
    report.needed = !report.damage.empty();
    if (!report.needed) {
        FURROW_TRY_ASSIGN(report.madeLive, makeLive(paths));
        return report;
    }
    FURROW_TRY_ASSIGN(auto workshop,
        ScratchFolder::make(paths.folder())); // on the same disk: the new tracker is moved into its place
    const auto fresh = workshop.path() / paths.tracker().filename();
    if (auto built = build(paths, file, fresh, report, verdicts, say); !built.ok())
        return built.error().in(sentence("repairing %1", { utf8Text(paths.tracker()) }));
    const auto torn = asideOfTorn(paths); // a repair got as far as that: it had the yes that it needed
    if (!acceptLoss && !torn) {
        FURROW_TRY_ASSIGN(const auto lost, givenUp(paths, fresh));
        FURROW_TRY(askBeforeGivingUp(paths, lost, report));
    }
    report.oldCopy = torn.value_or(with(paths.tracker(), (report.older ? ".older-" : ".damaged-") + randomHex(8)));
    FURROW_TRY(putInPlace(paths, fresh, report));
    std::error_code unknown;
    if (!std::filesystem::exists(report.oldCopy, unknown) && !unknown) // there was none
        report.oldCopy.clear();
    FURROW_TRY(putRestAside(paths, file, report));
    return report;
}

/// The settings of the newest attempt where they cannot be used; nothing: they can.
struct WrongSettings {
    AttemptId attempt;
    Message why;
};

Result<std::optional<WrongSettings>> wrongSettings(const RunFile& file, LedgerReader& reader)
{
    FURROW_TRY_ASSIGN(const auto attempts, reader.attempts());
    const auto wrong = attempts.empty() ? std::vector<ConfigProblem>() : wrongOverrides(attempts.back(), file.config);
    if (wrong.empty())
        return std::optional<WrongSettings>();
    return std::optional(WrongSettings { attempts.back().id, toString(wrong) });
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

/// False: the run, which may be in training, went on from it since and may have removed it.
bool isStillHead(LedgerReader& reader, CheckpointId checkpoint)
{
    const auto rows = reader.checkpoints();
    return !rows.ok() || std::any_of(rows.value().begin(), rows.value().end(), [checkpoint](const auto& row) {
        return row.id == checkpoint && row.head && !row.removed;
    });
}

/// What a resume takes beside the newest weights. A run in training may have gone on from it, or removed it, meanwhile.
Status addProblemsOfStates(
    const RunPaths& paths, const RunFile& file, LedgerReader& ledger, std::vector<Message>& problems)
{
    FURROW_TRY_ASSIGN(const auto states, keptStates(ledger, file.config));
    for (const auto& state : states) {
        const auto verdict = verifyKeptState(paths, file.runId, state);
        if (verdict.ok())
            continue;
        FURROW_TRY_ASSIGN(const auto now, keptStates(ledger, file.config));
        if (std::any_of(now.begin(), now.end(), [&](const auto& one) { return one.row.id == state.row.id; }))
            problems.push_back(verdict.error().message + " " + waysPastState(paths, verdict.error()));
    }
    return {};
}

/// @param known  checkpoints that were read already
Result<std::vector<Message>> problemsOfCheckpoints(const RunPaths& paths, const RunFile& file, Verdicts known)
{
    auto reader = openLedger(paths);
    FURROW_TRY_ASSIGN(auto rows,
        reader.ok() ? reader.value().checkpoints()
                    : Result<std::vector<SupervisorLedger::CheckpointRow>>(reader.error()));
    std::vector<Message> problems;
    FURROW_TRY_ASSIGN(auto older, olderTrackerProblem(paths, file.runId));
    if (!older.empty()) // what is newest for it the keep policy may have removed since: taken forward it knows that
        return std::vector<Message> { std::move(older) };
    FrozenVerdicts frozen;
    for (const auto& row : rows) {
        if (row.removed || !(row.head || row.damaged))
            continue;
        const auto& record = row.record;
        const std::pair key { record.folder, record.manifestSha256 };
        auto read = known.find(key);
        if (read == known.end())
            read = known
                       .emplace(key,
                           readCheckpoint(
                               paths.checkpointFolder(record.folder), record.manifestSha256, file.runId, &frozen))
                       .first;
        const Status& verdict = read->second.trainable();
        if (row.damaged && verdict.ok())
            problems.push_back(sentence(
                "Checkpoint %1 was marked damaged and is whole. The next resume takes it back where that is still possible.",
                { record.folder }));
        else if (row.head && !verdict.ok() && isStillHead(reader.value(), row.id))
            problems.push_back(withFullStop(verdict.error().message) + " " + waysPast(paths, verdict.error()));
    }
    if (reader.ok())
        FURROW_TRY(addProblemsOfStates(paths, file, reader.value(), problems));
    for (const auto& changed : notAsBegun(paths, file, reader.value()))
        problems.push_back(changed.message);
    if (const auto live = LedgerReader::checkIsLive(paths.tracker()); !live.ok())
        problems.push_back(live.error().message);
    FURROW_TRY_ASSIGN(const auto wrong, wrongSettings(file, reader.value()));
    if (wrong)
        problems.push_back(sentence(
            "The tracker keeps settings of attempt %1 that a resume cannot use: %2 'furrowctl doctor %3 --repair' sets them aside, so that those of run.json hold.",
            { std::to_string(wrong->attempt.value), wrong->why, utf8Text(paths.folder()) }));
    return problems;
}

} // namespace

Result<Message> trackerDamage(const RunPaths& paths)
{
    FURROW_TRY_ASSIGN(const auto file, readRunFile(paths));
    return damageOf(paths.tracker(), file.runId);
}

Message trackerRefusal(const RunPaths& paths, const Result<AuditReport>& report)
{
    if (!report.ok())
        return report.error().code == ErrorCode::Corrupt ? report.error().message : Message();
    if (report.value().canTrain())
        return {};
    const auto folder = utf8Text(paths.folder());
    return sentence(
        "The tracker of %1 is damaged: %2. Nothing was changed. 'furrowctl audit %3' says all that is wrong, 'furrowctl doctor %4 --repair' rebuilds what the checkpoints prove.",
        { folder, firstFault(report.value()), folder, folder });
}

Result<RepairReport> repairRun(const RunPaths& paths, const Say& say, bool acceptLoss)
{
    FURROW_TRY_ASSIGN(auto file, readRunFile(paths));
    FURROW_TRY(refuseRootInFolderOf(paths.folder()));
    auto lock = FileLock::tryLock(paths.supervisorLock());
    if (!lock.ok())
        return lock.error().code == ErrorCode::Busy ? heldByAnother(paths) : lock.error();
    FURROW_TRY(refuseLinks(paths));
    FURROW_TRY(checkRunFile(paths, file));
    sweepWorkshops(paths);
    Verdicts verdicts;
    FURROW_TRY_ASSIGN(auto report, repairTracker(paths, file, acceptLoss, verdicts, say));
    FURROW_TRY_ASSIGN(const auto setAside, setWrongSettingsAside(paths, file));
    report.settingsSetAside = !setAside.empty();
    if (report.settingsSetAside)
        report.notes.push_back(setAside);
    say("Reading the newest weights");
    FURROW_TRY_ASSIGN(report.problems, problemsOfCheckpoints(paths, file, std::move(verdicts)));
    say("Reading the prepared blocks");
    auto blocks = repairBlocks(paths);
    if (!blocks.ok()) { // the tracker is in order all the same
        report.problems.push_back(blocks.error().message);
        return report;
    }
    report.notes.insert(report.notes.end(), blocks.value().notes.begin(), blocks.value().notes.end());
    report.problems.insert(report.problems.end(), blocks.value().problems.begin(), blocks.value().problems.end());
    return report;
}

Status moveTrackerAside(FileSystem& files, const std::filesystem::path& tracker, const std::filesystem::path& aside)
{
    for (const char* ending : { "", "-wal", "-shm" }) {
        std::error_code unknown;
        if (std::filesystem::exists(with(tracker, ending), unknown))
            FURROW_TRY(files.rename(with(tracker, ending), with(aside, ending)));
    }
    return {};
}

Result<std::vector<Message>> checkpointProblems(const RunPaths& paths)
{
    FURROW_TRY_ASSIGN(auto file, readRunFile(paths));
    return problemsOfCheckpoints(paths, file, {});
}

} // namespace furrow
