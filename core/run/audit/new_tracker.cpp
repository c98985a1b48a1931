#include "core/run/audit/new_tracker.h"

#include "core/base/file_system.h"
#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/data/block_manager.h"
#include "core/data/tokenizer/tokenizer.h"
#include "core/run/audit/parent_list.h"
#include "core/run/audit/tracker_damage.h"
#include "core/run/folder/checkpoint_manifest.h"
#include "core/run/folder/left_out_chunks.h"
#include "core/run/folder/run_links.h"
#include "core/run/folder/stray_checkpoints.h"
#include "core/run/status/feeder_meters.h"
#include "core/run/status/ledger_view.h"
#include "core/run/status/tracker_config.h"
#include "core/tracker/audit/recount.h"
#include "core/tracker/feeder_ledger.h"
#include "core/tracker/sqlite/database_files.h"

#include <algorithm>
#include <optional>
#include <set>

namespace furrow {

namespace {

constexpr std::size_t kPlansAtOnce = 64;

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
    one.incarnation = manifest.incarnation;
    return one;
}

/// Every checkpoint of this run that still has a readable manifest. What cannot be read now ends the repair: it proves
/// nothing in either direction.
class Proof {
public:
    Proof(const RunPaths& paths, const std::string& runId, std::vector<Message>& notes, WeightsVerdicts& verdicts)
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
        dropChanged();
        numberUnknown();
        return std::move(proven_);
    }

    /// Number of the newest worker process that any manifest of the run names; known once they are gathered.
    std::int64_t newestProcess() const { return newestProcess_; }

private:
    Status take(const std::filesystem::path& file, const std::string& folder, bool hasWeights)
    {
        std::string sha256;
        auto manifest = readManifestFile(file, sha256);
        if (!manifest.ok() && manifest.error().code == ErrorCode::Io)
            return manifest.error();
        if (manifest.ok())
            number(manifest.value());
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
        for (std::size_t i = 0; i < manifest.value().parentManifests.size(); ++i)
            grownFrom_.push_back({ folder, manifest.value().parents[i], manifest.value().parentManifests[i] });
        proven_.push_back(provenBy(manifest.value(), folder, sha256));
        proven_.back().whole = hasWeights && verdict.ok();
        proven_.back().removed = !hasWeights;
        return {};
    }

    void number(const CheckpointManifest& manifest)
    {
        constexpr std::int64_t kMost = 1'000'000'000'000; // a manifest may say anything
        if (manifest.runId == runId_ && manifest.incarnation <= kMost)
            newestProcess_ = std::max(newestProcess_, manifest.incarnation);
    }

    /// What was put aside proves nothing any more, but its processes had their numbers.
    void numberUnknown()
    {
        const auto aside = entriesOf(paths_.unknownCheckpointsFolder());
        for (const auto& entry : aside.ok() ? aside.value() : std::vector<std::filesystem::path> {}) {
            std::string unused;
            if (isLink(entry))
                continue;
            if (const auto manifest = readManifestFile(entry / kManifestFile, unused); manifest.ok())
                number(manifest.value());
        }
    }

    /// A manifest that another one was not made from: one of the two was changed, and what the weights of the younger
    /// hold nobody can say.
    void dropChanged()
    {
        for (const GrownFrom& one : grownFrom_) {
            const auto parent = std::ranges::find_if(
                proven_, [&](const ProvenCheckpoint& other) { return other.record.folder == one.parent; });
            if (parent == proven_.end() || parent->record.manifestSha256 == one.sha256)
                continue;
            notes_.push_back(sentence(
                "checkpoint %1 proves nothing: its manifest is not the one that checkpoint %2 was made from, so one of the two was changed",
                { one.parent, one.folder }));
            proven_.erase(parent);
        }
    }

    struct GrownFrom {
        std::string folder;
        std::string parent;
        std::string sha256; ///< of the manifest of the parent
    };

    const RunPaths& paths_;
    const std::string& runId_;
    std::vector<Message>& notes_;
    WeightsVerdicts& verdicts_;
    FrozenVerdicts frozen_;
    std::vector<ProvenCheckpoint> proven_;
    std::vector<GrownFrom> grownFrom_;
    std::int64_t newestProcess_ = 0;
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
Result<std::optional<std::int64_t>> newestEventOf(
    const RunPaths& paths, const std::filesystem::path& ledger, const RunFile& file, BlocksRead& blocks)
{
    if (!isTaken(ledger))
        return std::optional<std::int64_t>();
    FURROW_TRY_ASSIGN(const bool whole, isWhole(paths, ledger, file, &blocks));
    if (!whole)
        return std::optional<std::int64_t>();
    FURROW_TRY_ASSIGN(auto reader, LedgerReader::open(ledger));
    FURROW_TRY_ASSIGN(const auto newest, reader.newestEvent());
    return std::optional(newest);
}

/// recount(), with what the prepared blocks that are there say of chunks that nobody trained yet, and what a proven
/// parent.json says of those of the parent run.
Status recountByBlocks(
    const RunPaths& paths, const RunFile& file, const std::filesystem::path& target, BlocksRead& blocks)
{
    std::vector<PreparedContent> contents;
    if (auto reader = LedgerReader::open(target); reader.ok())
        if (auto differing = differenceFromBlocks(paths, file, reader.value(), kAllOfTheCache, &blocks); differing.ok())
            for (OtherContent& one : differing.value())
                contents.push_back(std::move(one.prepared));
    FURROW_TRY(recount(target, contents));
    return restoreParentList(paths, file, target);
}

/// Whether only counters of the tracker were wrong, or what it says of chunks that nobody trained yet or that the
/// parent run did: then `target` is a copy with right ones.
Result<bool> countedAnew(
    const RunPaths& paths, const RunFile& file, const std::filesystem::path& target, BlocksRead& blocks)
{
    const auto adopted = isTaken(paths.tracker()) ? adoptSnapshot(paths.tracker(), target) : Status {};
    if (!adopted.ok() && saysNothing(adopted.error()))
        return adopted.error();
    if (isTaken(target) && adopted.ok() && recountByBlocks(paths, file, target, blocks).ok()) {
        FURROW_TRY_ASSIGN(const bool whole, isWhole(paths, target, file, &blocks));
        if (whole)
            return true;
    }
    std::error_code ignored;
    for (const auto& one : databaseFiles(target))
        std::filesystem::remove(one, ignored);
    return false;
}

Status makeBasis(const RunPaths& paths, const RunFile& file, const std::filesystem::path& target, RepairReport& report,
    BlocksRead& blocks, const Say& say)
{
    FURROW_TRY_ASSIGN(const auto tracker, newestEventOf(paths, paths.tracker(), file, blocks));
    FURROW_TRY_ASSIGN(const auto snapshot, newestEventOf(paths, paths.trackerSnapshot(), file, blocks));
    FURROW_TRY_ASSIGN(const bool counted, tracker ? Result<bool>(false) : countedAnew(paths, file, target, blocks));
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
    FURROW_TRY_ASSIGN(auto parent, provenParent(paths, file));
    if (parent && !parent->chunks.empty() && file.parentListHash.empty())
        say(sentence(
            "Which chunks the parent run trained is taken from parent.json, which nothing proves: this run was made by a version that kept no hash of it."));
    return SupervisorLedger::create(target, trackerConfig(file, parent), stoppingRules(file.config));
}

/// What is not there to prove it, or else what the audit of it found.
Error whyNotRebuilt(const RepairReport& report, const AuditReport& audited)
{
    if (report.rebuilt.leftOut.empty())
        return { ErrorCode::Internal,
            sentence("what was rebuilt does not pass the audit, so nothing was changed: %1", { firstFault(audited) }) };
    Message why = report.rebuilt.leftOut.front();
    for (const Message& note : report.notes)
        why += "; " + note;
    why += "; " + firstFault(audited);
    return { ErrorCode::Corrupt,
        sentence(
            "what is left does not prove what the newest weights hold: %1. Nothing was changed. Put what is missing or was changed back from a copy of the run, or its newest tracker.sqlite, and repair then",
            { why }) };
}

} // namespace

Status makeNewTracker(const RunPaths& paths, const RunFile& file, const std::filesystem::path& target,
    RepairReport& report, RepairReadings& readings, const Say& say)
{
    say("Reading the checkpoints");
    Proof proof(paths, file.runId, report.notes, readings.weights);
    FURROW_TRY_ASSIGN(const auto proven, proof.gather());
    FURROW_TRY(makeBasis(paths, file, target, report, readings.blocks, say));
    const auto needs = needsOf(proven);
    FURROW_TRY(completeBlocks(paths, file, target, needs.blocks, say));
    FURROW_TRY(openEpochsUpTo(target, needs.newestEpoch));
    FURROW_TRY_ASSIGN(const auto attempts, newestAttemptOnDisk(paths));
    FURROW_TRY_ASSIGN(report.rebuilt,
        rebuildLineage(target, proven, report.older ? RebuildReason::Older : RebuildReason::Damaged,
            { attempts, proof.newestProcess() }));
    FURROW_TRY_ASSIGN(const auto leftOut, leaveOutAgain(paths, file.runId, target));
    FURROW_TRY_ASSIGN(auto reader, LedgerReader::open(target));
    FURROW_TRY_ASSIGN(const auto inTheWeights, leftOutInTheWeights(paths, file.runId, reader));
    for (const auto& said : { leftOut, inTheWeights })
        if (!said.empty())
            report.notes.push_back(said);
    FURROW_TRY_ASSIGN(auto audited, audit(target, {}, nullptr, paths.tracker()));
    if (!audited.isClean())
        return whyNotRebuilt(report, audited);
    for (const auto& epoch : audited.epochs) {
        report.committed += epoch.committed;
        report.known += epoch.known;
    }
    auto ledger = SupervisorLedger::open(target);
    auto emptied = ledger.ok() ? ledger.value().emptyWal() : ledger.error();
    return emptied.ok() ? Status {} : Status(emptied.error());
}

} // namespace furrow
