// The order of things: look, gather what files prove, build a new tracker under another name, audit it, and only then put it in place.

#include "core/run/repair.h"

#include "core/base/file_lock.h"
#include "core/base/file_system.h"
#include "core/base/path.h"
#include "core/base/random.h"
#include "core/base/sentence.h"
#include "core/data/block_manager.h"
#include "core/data/tokenizer/tokenizer.h"
#include "core/run/brain.h"
#include "core/run/checkpoint_manifest.h"
#include "core/run/feeder_meters.h"
#include "core/run/life_cycle.h"
#include "core/run/supervisor.h"
#include "core/tracker/audit.h"
#include "core/tracker/feeder_ledger.h"

#include <algorithm>
#include <set>

namespace furrow {

namespace {

using Say = std::function<void(const std::string&)>;
constexpr std::size_t kPlansAtOnce = 64;

std::string damageOf(const std::filesystem::path& tracker, const std::string& runId)
{
    auto report = audit(tracker);
    if (!report.ok())
        return report.error().message;
    if (!report.value().integrityOk)
        return report.value().integrity;
    if (report.value().runId != runId)
        return "it belongs to run " + report.value().runId;
    if (!report.value().isClean())
        return report.value().findings.empty() ? "the audit finds it broken" : report.value().findings.front().text;
    return {};
}

ProvenCheckpoint provenBy(const CheckpointManifest& manifest, const std::string& folder, const std::string& sha256, bool whole)
{
    ProvenCheckpoint one;
    one.record.kind = manifest.kind;
    one.record.replica = manifest.replica;
    one.record.folder = folder;
    one.record.manifestSha256 = sha256;
    one.record.step = manifest.step;
    one.record.tokens = manifest.tokens;
    for (const auto& file : manifest.files)
        one.record.sizeBytes += file.sizeBytes;
    one.parents = manifest.parents;
    one.parts = manifest.parts;
    one.writtenWallNs = manifest.writtenWallNs;
    one.whole = whole;
    return one;
}

/// Every checkpoint of this run that still has a readable manifest.
std::vector<ProvenCheckpoint> gatherProof(const RunPaths& paths, const std::string& runId, std::vector<std::string>& notes)
{
    std::vector<ProvenCheckpoint> proven;
    std::error_code failed;
    const auto take = [&](const std::filesystem::path& file, const std::string& folder, bool hasWeights) {
        std::string sha256;
        auto manifest = readManifestFile(file, sha256);
        if (!manifest.ok() || manifest.value().runId != runId || !manifest.value().namesParents) {
            notes.push_back("checkpoint " + folder + " proves nothing: "
                + (!manifest.ok() ? manifest.error().message : manifest.value().runId != runId ? "it belongs to run " + manifest.value().runId : "its manifest is of an older format"));
            return;
        }
        const auto verdict = hasWeights ? verifyCheckpoint(paths.checkpointFolder(folder), sha256, runId) : Status {};
        if (!verdict.ok())
            notes.push_back(verdict.error().message);
        proven.push_back(provenBy(manifest.value(), folder, sha256, hasWeights && verdict.ok()));
    };
    for (const auto& entry : std::filesystem::directory_iterator(paths.checkpointsFolder(), failed))
        if (entry.path() != paths.removedManifestsFolder() && entry.path().extension() != ".tmp")
            take(entry.path() / "manifest.json", entry.path().filename().string(), true);
    for (const auto& entry : std::filesystem::directory_iterator(paths.removedManifestsFolder(), failed))
        if (entry.path().extension() == ".json")
            take(entry.path(), entry.path().stem().string(), false);
    return proven;
}

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
    auto blocks = BlockManager::open(file.config, file.dataManifest, file.samplesPerBlock, paths.cacheFolder(), tokenizer.value());
    if (!blocks.ok())
        return blocks.error();
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

Status makeBasis(const RunPaths& paths, const RunFile& file, const std::filesystem::path& target, RepairReport& report)
{
    const bool snapshotIsWhole = std::filesystem::exists(paths.trackerSnapshot()) && damageOf(paths.trackerSnapshot(), file.runId).empty();
    if (snapshotIsWhole) {
        report.basis = "the last published snapshot (view.sqlite) and the manifests of the checkpoints";
        return adoptSnapshot(paths.trackerSnapshot(), target);
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
    const auto proven = gatherProof(paths, file.runId, report.notes);
    if (auto made = makeBasis(paths, file, target, report); !made.ok())
        return made;
    const auto needs = needsOf(proven);
    if (auto completed = completeBlocks(paths, file, target, needs.blocks, say); !completed.ok())
        return completed;
    if (auto opened = openEpochsUpTo(target, needs.newestEpoch); !opened.ok())
        return opened;
    auto rebuilt = rebuildLineage(target, proven);
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
    return ledger.ok() ? ledger.value().emptyWal() : Status(ledger.error());
}

Status moveIfThere(const std::filesystem::path& from, const std::filesystem::path& to)
{
    return std::filesystem::exists(from) ? realFileSystem().rename(from, to) : Status {};
}

std::filesystem::path with(const std::filesystem::path& path, const std::string& ending)
{
    auto other = path;
    other += ending;
    return other;
}

} // namespace

std::string trackerDamage(const RunPaths& paths)
{
    auto file = readRunFile(paths);
    return file.ok() ? damageOf(paths.tracker(), file.value().runId) : file.error().message;
}

Result<RepairReport> repairRun(const RunPaths& paths, const Say& say)
{
    auto file = readRunFile(paths);
    if (!file.ok())
        return file.error();
    auto lock = FileLock::tryLock(paths.supervisorLock());
    if (!lock.ok())
        return lock.error().code == ErrorCode::Busy ? Error { ErrorCode::Busy, sentence("%1 is being trained. Stop it first.", { utf8Text(paths.folder()) }) } : lock.error();
    RepairReport report;
    report.damage = damageOf(paths.tracker(), file.value().runId);
    report.needed = !report.damage.empty();
    if (!report.needed)
        return report;
    const std::string mark = randomHex(8);
    const auto fresh = with(paths.tracker(), ".repair-" + mark);
    auto built = build(paths, file.value(), fresh, report, say);
    for (const char* ending : { "-wal", "-shm" })
        (void)realFileSystem().removeAll(with(fresh, ending));
    if (!built.ok()) {
        (void)realFileSystem().removeAll(fresh);
        return built.error().in("repairing " + utf8Text(paths.tracker()));
    }
    report.damagedCopy = with(paths.tracker(), ".damaged-" + mark);
    for (const char* ending : { "-wal", "-shm", "" })
        if (auto moved = moveIfThere(with(paths.tracker(), ending), with(report.damagedCopy, ending)); !moved.ok())
            return moved.error();
    if (auto placed = realFileSystem().rename(fresh, paths.tracker()); !placed.ok())
        return placed.error();
    if (auto synced = realFileSystem().syncFolder(paths.folder()); !synced.ok())
        return synced.error();
    return report;
}

} // namespace furrow
