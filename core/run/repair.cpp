// The order of things: look, gather what files prove, build a new tracker under another name, audit it, and only then put it in place.

#include "core/run/repair.h"

#include "core/base/file_lock.h"
#include "core/base/file_system.h"
#include "core/base/path.h"
#include "core/base/random.h"
#include "core/base/scratch_folder.h"
#include "core/base/sentence.h"
#include "core/data/block_manager.h"
#include "core/data/tokenizer/tokenizer.h"
#include "core/run/block_repair.h"
#include "core/run/brain.h"
#include "core/run/checkpoint_manifest.h"
#include "core/run/feeder_meters.h"
#include "core/run/finite_weights.h"
#include "core/run/frozen_config.h"
#include "core/run/ledger_view.h"
#include "core/run/run_links.h"
#include "core/run/stray_checkpoints.h"
#include "core/run/supervisor.h"
#include "core/tracker/audit.h"
#include "core/tracker/feeder_ledger.h"
#include "core/tracker/recount.h"

#include <algorithm>
#include <set>

namespace furrow {

namespace {

using Say = std::function<void(const std::string&)>;
constexpr std::size_t kPlansAtOnce = 64;

/// Names that lead out of the run folder: a tracker that was tampered with.
std::string damageOfNames(const std::filesystem::path& tracker)
{
    auto reader = LedgerReader::open(tracker);
    if (!reader.ok())
        return reader.error().message;
    if (auto rows = reader.value().checkpoints(); !rows.ok())
        return rows.error().message;
    auto epochs = reader.value().epochs();
    const auto blocks = epochs.ok() && !epochs.value().empty() ? epochs.value().back().knownBlocks : 0;
    for (std::int64_t block = 0; block < blocks; ++block)
        if (auto row = reader.value().block(block); !row.ok())
            return row.error().message;
    return {};
}

/// Of a ledger that is not in order.
std::string firstFault(const AuditReport& report)
{
    static const std::set<std::string> kNoFaults { "poisoned", "accepted", "excluded", "parent", "lost", "rebuilt" };
    if (!report.integrityOk)
        return report.integrity;
    const auto fault = std::find_if(report.findings.begin(), report.findings.end(), [](const AuditFinding& one) { return !kNoFaults.contains(one.kind); });
    return fault == report.findings.end() ? "the audit finds it broken" : fault->text;
}

std::string damageOf(const std::filesystem::path& tracker, const std::string& runId)
{
    auto report = audit(tracker);
    if (!report.ok())
        return report.error().message;
    if (report.value().runId != runId)
        return "it belongs to run " + report.value().runId;
    return report.value().isClean() ? damageOfNames(tracker) : firstFault(report.value());
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

/// Every checkpoint of this run that still has a readable manifest. What cannot be read now ends the repair: it proves nothing in either direction.
class Proof {
public:
    Proof(const RunPaths& paths, const std::string& runId, std::vector<std::string>& notes)
        : paths_(paths)
        , runId_(runId)
        , notes_(notes)
    {
    }

    Result<std::vector<ProvenCheckpoint>> gather()
    {
        auto living = entriesOf(paths_.checkpointsFolder());
        if (!living.ok())
            return living.error().in("reading the checkpoints");
        for (const auto& entry : living.value())
            if (!paths_.isBesideCheckpoints(entry) && entry.extension() != ".tmp" && !isLink(entry))
                if (auto status = take(entry / "manifest.json", utf8Text(entry.filename()), true); !status.ok())
                    return status.error();
        auto removed = entriesOf(paths_.removedManifestsFolder());
        if (!removed.ok() && removed.error().code != ErrorCode::NotFound)
            return removed.error();
        if (removed.ok())
            for (const auto& entry : removed.value())
                if (entry.extension() == ".json")
                    if (auto status = take(entry, utf8Text(entry.stem()), false); !status.ok())
                        return status.error();
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
                + (!manifest.ok() ? manifest.error().message : manifest.value().runId != runId_ ? "it belongs to run " + manifest.value().runId : "its manifest is of an older format"));
            return {};
        }
        const auto verdict = hasWeights ? verifyCheckpoint(paths_.checkpointFolder(folder), sha256, runId_, {}, &frozen_) : Status {};
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
    std::vector<std::string>& notes_;
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
            auto next = blocks.planNext();
            if (!next.ok())
                return next.error();
            over = !next.value();
            if (!over)
                fresh.push_back({ next.value()->block, next.value()->source, next.value()->firstRow, next.value()->chunkRows, next.value()->plan, blocks.excludedChunks(next.value()->block) });
        }
        if (auto added = ledger.addBlocks(fresh); !added.ok())
            return added;
        known += static_cast<std::int64_t>(fresh.size());
        if (over)
            return ledger.setLastBlockProven(known);
    }
}

/// Blocks that the new tracker does not know yet are planned, those that checkpoints speak of are prepared: only so are their windows known.
Status completeBlocks(const RunPaths& paths, const RunFile& file, const std::filesystem::path& tracker, const std::set<std::int64_t>& wanted, const Say& say)
{
    auto tokenizer = loadTokenizer(paths.tokenizer().string());
    if (!tokenizer.ok())
        return tokenizer.error();
    auto blocks = BlockManager::open(file.config, file.dataManifest, file.samplesPerBlock, paths.cacheFolder(), tokenizer.value(), paths.duplicatesFile());
    if (!blocks.ok())
        return blocks.error();
    if (blocks.value().needsDuplicates()) {
        say("Looking for duplicates");
        if (auto found = blocks.value().findDuplicates({}); !found.ok())
            return found;
    }
    auto ledger = FeederLedger::open(tracker);
    auto reader = LedgerReader::open(tracker);
    if (!ledger.ok() || !reader.ok())
        return ledger.ok() ? reader.error() : ledger.error();
    auto demand = ledger.value().demand();
    if (!demand.ok())
        return demand.error();
    if (!demand.value().lastBlockProven) {
        say("Looking at the data again");
        if (demand.value().knownBlocks > 0) {
            auto last = reader.value().block(demand.value().knownBlocks - 1);
            if (!last.ok())
                return last.error();
            if (auto resumed = blocks.value().resumeAfter(last.value().plan); !resumed.ok())
                return resumed;
        }
        if (auto planned = planRest(blocks.value(), ledger.value(), demand.value().knownBlocks); !planned.ok())
            return planned;
    }
    for (const auto number : wanted) {
        auto row = reader.value().block(number);
        if (!row.ok() || !row.value().digest.empty())
            continue; // not of this data, or prepared once: its windows are known
        say("Preparing block " + std::to_string(number));
        auto plan = BlockManager::fromPlan(row.value().plan);
        if (!plan.ok())
            return plan.error();
        auto prepared = blocks.value().prepare(plan.value());
        if (!prepared.ok())
            return prepared.error();
        if (auto stored = ledger.value().setPrepared(number, prepared.value().fileName, prepared.value().digest, preparedChunks(prepared.value().chunks, file.config.seqLen)); !stored.ok())
            return stored;
    }
    return {};
}

/// Number of the newest event of a ledger that is whole, else nothing.
std::optional<std::int64_t> newestEventOf(const std::filesystem::path& ledger, const std::string& runId)
{
    std::error_code unknown;
    if (!std::filesystem::exists(ledger, unknown) || !damageOf(ledger, runId).empty())
        return std::nullopt;
    auto reader = LedgerReader::open(ledger);
    auto newest = reader.ok() ? reader.value().newestEvent() : Result<std::int64_t>(reader.error());
    return newest.ok() ? std::optional(newest.value()) : std::nullopt;
}

std::filesystem::path with(const std::filesystem::path& path, const std::string& ending)
{
    auto other = path;
    other += ending;
    return other;
}

/// Whether only counters of the tracker were wrong: then `target` is a copy with right ones.
bool countedAnew(const RunPaths& paths, const RunFile& file, const std::filesystem::path& target)
{
    if (adoptSnapshot(paths.tracker(), target).ok() && recount(target).ok() && damageOf(target, file.runId).empty())
        return true;
    std::error_code ignored;
    for (const char* ending : { "", "-wal", "-shm" })
        std::filesystem::remove(with(target, ending), ignored);
    return false;
}

Status makeBasis(const RunPaths& paths, const RunFile& file, const std::filesystem::path& target, RepairReport& report)
{
    const auto tracker = newestEventOf(paths.tracker(), file.runId);
    const auto snapshot = newestEventOf(paths.trackerSnapshot(), file.runId);
    if (!tracker && countedAnew(paths, file, target)) {
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
    auto parent = readParent(paths);
    if (!parent.ok())
        return parent.error();
    return SupervisorLedger::create(target, trackerConfig(file, parent.value()), stoppingRules(file.config));
}

Status build(const RunPaths& paths, const RunFile& file, const std::filesystem::path& target, RepairReport& report, const Say& say)
{
    say("Reading the checkpoints");
    auto gathered = Proof(paths, file.runId, report.notes).gather();
    if (!gathered.ok())
        return gathered.error();
    const auto& proven = gathered.value();
    if (auto made = makeBasis(paths, file, target, report); !made.ok())
        return made;
    const auto needs = needsOf(proven);
    if (auto completed = completeBlocks(paths, file, target, needs.blocks, say); !completed.ok())
        return completed;
    if (auto opened = openEpochsUpTo(target, needs.newestEpoch); !opened.ok())
        return opened;
    auto rebuilt = rebuildLineage(target, proven, report.older ? RebuildReason::Older : RebuildReason::Damaged);
    if (!rebuilt.ok())
        return rebuilt.error();
    report.rebuilt = std::move(rebuilt).value();
    auto proof = audit(target);
    if (!proof.ok())
        return proof.error();
    if (!proof.value().isClean())
        return Error { ErrorCode::Internal, "what was rebuilt does not pass the audit, so nothing was changed:\n" + auditText(proof.value()) };
    for (const auto& epoch : proof.value().epochs) {
        report.committed += epoch.committed;
        report.known += epoch.known;
    }
    auto ledger = SupervisorLedger::open(target);
    auto emptied = ledger.ok() ? ledger.value().emptyWal() : ledger.error();
    return emptied.ok() ? Status {} : Status(emptied.error());
}

/// The checkpoints that the new tracker could not take in would stop the next resume: they are put aside and named.
Status putRestAside(const RunPaths& paths, const RunFile& file, RepairReport& report)
{
    auto reader = LedgerReader::open(paths.tracker());
    auto rows = reader.ok() ? reader.value().checkpoints() : Result<std::vector<SupervisorLedger::CheckpointRow>>(reader.error());
    if (!rows.ok())
        return rows.error();
    auto aside = putAsideWithoutRow(paths, file.runId, rows.value());
    if (!aside.ok())
        return aside.error();
    if (!aside.value().empty())
        report.notes.push_back(aside.value());
    return {};
}

/// The new file under its name; the old one is kept.
Status putInPlace(const RunPaths& paths, const std::filesystem::path& fresh, const RepairReport& report)
{
    auto& files = realFileSystem();
    if (auto moved = moveTrackerAside(files, paths.tracker(), report.oldCopy); !moved.ok())
        return moved;
    if (auto placed = files.rename(fresh, paths.tracker()); !placed.ok())
        return placed;
    return files.syncFolder(paths.folder());
}

/// Which of the two it needs, and that.
Result<RepairReport> repairTracker(const RunPaths& paths, const RunFile& file, const Say& say)
{
    RepairReport report;
    report.damage = damageOf(paths.tracker(), file.runId);
    if (report.damage.empty()) {
        auto older = olderTrackerProblem(paths, file.runId);
        if (!older.ok())
            return older.error();
        report.damage = older.value();
        report.older = !older.value().empty();
    }
    report.needed = !report.damage.empty();
    if (!report.needed)
        return report;
    const std::string mark = randomHex(8);
    auto workshop = ScratchFolder::make(paths.folder()); // on the same disk: the new tracker is moved into its place
    if (!workshop.ok())
        return workshop.error();
    const auto fresh = workshop.value().path() / paths.tracker().filename();
    if (auto built = build(paths, file, fresh, report, say); !built.ok())
        return built.error().in("repairing " + utf8Text(paths.tracker()));
    report.oldCopy = with(paths.tracker(), (report.older ? ".older-" : ".damaged-") + mark);
    if (auto placed = putInPlace(paths, fresh, report); !placed.ok())
        return placed.error();
    if (auto aside = putRestAside(paths, file, report); !aside.ok())
        return aside.error();
    return report;
}

/// False: the run, which may be in training, went on from it since and may have removed it.
bool isStillHead(LedgerReader& reader, CheckpointId checkpoint)
{
    const auto rows = reader.checkpoints();
    return !rows.ok() || std::any_of(rows.value().begin(), rows.value().end(), [checkpoint](const auto& row) { return row.id == checkpoint && row.head && !row.removed; });
}

} // namespace

std::string trackerDamage(const RunPaths& paths)
{
    auto file = readRunFile(paths);
    return file.ok() ? damageOf(paths.tracker(), file.value().runId) : file.error().message;
}

std::string trackerRefusal(const RunPaths& paths, const Result<AuditReport>& report)
{
    if (!report.ok())
        return report.error().code == ErrorCode::Corrupt ? report.error().message : std::string();
    if (report.value().canTrain())
        return {};
    const auto folder = utf8Text(paths.folder());
    return sentence("The tracker of %1 is damaged: %2. Nothing was changed. 'furrowctl audit %3' says all that is wrong, 'furrowctl doctor %4 --repair' rebuilds what the checkpoints prove.", { folder, firstFault(report.value()), folder, folder });
}

Result<RepairReport> repairRun(const RunPaths& paths, const Say& say)
{
    auto file = readRunFile(paths);
    if (!file.ok())
        return file.error();
    auto lock = FileLock::tryLock(paths.supervisorLock());
    if (!lock.ok())
        return lock.error().code == ErrorCode::Busy ? Error { ErrorCode::Busy, sentence("%1 is being trained. Stop it first.", { utf8Text(paths.folder()) }) } : lock.error();
    if (auto status = refuseLinks(paths); !status.ok())
        return status.error();
    auto report = repairTracker(paths, file.value(), say);
    if (!report.ok())
        return report;
    say("Reading the prepared blocks");
    const auto aside = putDamagedBlocksAside(paths);
    const auto& notes = aside.ok() ? aside.value() : std::vector<std::string> { aside.error().message }; // the tracker is in order all the same
    report.value().notes.insert(report.value().notes.end(), notes.begin(), notes.end());
    return report;
}

Status moveTrackerAside(FileSystem& files, const std::filesystem::path& tracker, const std::filesystem::path& aside)
{
    for (const char* ending : { "", "-wal", "-shm" }) {
        std::error_code unknown;
        if (std::filesystem::exists(with(tracker, ending), unknown))
            if (auto moved = files.rename(with(tracker, ending), with(aside, ending)); !moved.ok())
                return moved;
    }
    return {};
}

Result<std::vector<std::string>> checkpointProblems(const RunPaths& paths)
{
    auto file = readRunFile(paths);
    if (!file.ok())
        return file.error();
    auto reader = openLedger(paths);
    auto rows = reader.ok() ? reader.value().checkpoints() : Result<std::vector<SupervisorLedger::CheckpointRow>>(reader.error());
    if (!rows.ok())
        return rows.error();
    std::vector<std::string> problems;
    FrozenVerdicts frozen;
    for (const auto& row : rows.value()) {
        if (row.removed || !(row.head || row.damaged))
            continue;
        const auto verdict = verifyTrainable(paths.checkpointFolder(row.record.folder), row.record.manifestSha256, file.value().runId, &frozen);
        if (row.damaged && verdict.ok())
            problems.push_back(sentence("Checkpoint %1 was marked damaged and is whole. The next resume takes it back where that is still possible.", { row.record.folder }));
        else if (row.head && !verdict.ok() && isStillHead(reader.value(), row.id))
            problems.push_back(verdict.error().message);
    }
    if (const auto same = checkHeldOut(paths, file.value()); !same.ok())
        problems.push_back(same.error().message);
    auto older = olderTrackerProblem(paths, file.value().runId);
    if (!older.ok())
        return older.error();
    if (!older.value().empty())
        problems.push_back(older.value());
    return problems;
}

} // namespace furrow
