#include "core/run/recovery.h"

#include "core/base/fail_point.h"
#include "core/base/file_system.h"
#include "core/base/log.h"
#include "core/base/sentence.h"
#include "core/run/checkpoint_manifest.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <thread>

namespace furrow {

namespace {

using Rows = std::vector<SupervisorLedger::CheckpointRow>;

/// Workers of a dead supervisor see their pipe close, checkpoint and end. They get this long before they are killed.
constexpr auto kOrphanPatience = std::chrono::seconds(20);

Status endOrphans(SupervisorLedger& ledger, std::vector<std::string>& notes)
{
    const auto deadline = std::chrono::steady_clock::now() + kOrphanPatience;
    auto live = ledger.live();
    if (!live.ok())
        return live.error();
    for (const auto& orphan : live.value()) {
        while (isAlive(orphan.process) && std::chrono::steady_clock::now() < deadline)
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
        if (isAlive(orphan.process))
            killProcessTree(orphan.process);
        auto freed = ledger.revoke(orphan.incarnation, sentence("its supervisor was gone"));
        if (!freed.ok())
            return freed.error();
        if (freed.value() > 0)
            notes.push_back("Worker " + std::to_string(orphan.worker) + " of the attempt before left " + std::to_string(freed.value())
                + " chunks without a checkpoint; they are free again.");
    }
    return {};
}

/// Weights go, the manifest stays: it proves what went into the descendants (see repair.h).
Status removeWeights(const RunPaths& paths, const std::string& name)
{
    auto& files = realFileSystem();
    const auto manifest = paths.checkpointFolder(name) / "manifest.json";
    std::error_code failed;
    if (std::filesystem::exists(manifest, failed)) {
        if (auto made = files.createFolders(paths.removedManifestsFolder()); !made.ok())
            return made;
        if (auto moved = files.replace(manifest, paths.removedManifestsFolder() / (name + ".json")); !moved.ok())
            return moved;
        if (auto synced = files.syncFolder(paths.removedManifestsFolder()); !synced.ok())
            return synced;
    }
    return files.removeAll(paths.checkpointFolder(name));
}

/// A folder without a row never happened. A folder whose row says removed was being deleted when the power went.
Status sweepCheckpoints(const RunPaths& paths, SupervisorLedger& ledger, std::vector<std::string>& notes)
{
    auto rows = ledger.checkpoints();
    if (!rows.ok())
        return rows.error();
    std::map<std::string, bool> isRemoved; // by folder
    for (const auto& row : rows.value())
        isRemoved[row.record.folder] = row.removed;
    std::error_code failed;
    int swept = 0;
    for (const auto& entry : std::filesystem::directory_iterator(paths.checkpointsFolder(), failed)) {
        const auto name = entry.path().filename().string();
        const auto known = isRemoved.find(name);
        if (entry.path() == paths.removedManifestsFolder() || (known != isRemoved.end() && !known->second))
            continue;
        if (auto status = known == isRemoved.end() ? realFileSystem().removeAll(entry.path()) : removeWeights(paths, name); !status.ok())
            return status;
        ++swept;
    }
    if (swept > 0)
        notes.push_back(std::to_string(swept) + " unfinished checkpoint folders were removed.");
    return {};
}

/// A replica can only be merged, or fall back, next to the merge that it grew from.
void keepBases(const Rows& rows, std::set<std::int64_t>& kept)
{
    std::set<std::int64_t> way; // from a kept one back to its merge
    for (auto row = rows.rbegin(); row != rows.rend(); ++row) { // parents have lower ids
        const bool isKept = kept.contains(row->id.value);
        if (!isKept && !way.contains(row->id.value))
            continue;
        if (row->record.kind == CheckpointKind::Merge)
            kept.insert(row->id.value);
        else
            for (const auto parent : row->record.parents)
                way.insert(parent.value);
    }
}

std::set<std::int64_t> keptCheckpoints(const Rows& rows, int keepLast)
{
    std::set<std::int64_t> kept;
    std::map<std::pair<std::int32_t, bool>, Rows> byLine; // merges have replica -1; what the run went back from is a line of its own
    const SupervisorLedger::CheckpointRow* best = nullptr;
    for (const auto& row : rows) {
        if (row.damaged || row.removed)
            continue;
        byLine[{ row.record.replica, row.surviving }].push_back(row);
        if (row.head || row.pinned)
            kept.insert(row.id.value);
        if (row.record.evalLoss && (!best || *row.record.evalLoss < *best->record.evalLoss))
            best = &row;
    }
    if (best)
        kept.insert(best->id.value);
    for (auto& [line, own] : byLine) {
        std::sort(own.begin(), own.end(), [](const auto& a, const auto& b) { return a.id.value > b.id.value; });
        for (std::size_t i = 0; i < own.size() && i < static_cast<std::size_t>(std::max(keepLast, 2)); ++i)
            kept.insert(own[i].id.value);
    }
    keepBases(rows, kept);
    return kept;
}

} // namespace

Result<std::vector<std::string>> verifyHeads(const RunPaths& paths, const RunFile& file, SupervisorLedger& ledger)
{
    std::vector<std::string> notes;
    for (;;) { // a fall-back can land on another damaged one
        auto rows = ledger.checkpoints();
        if (!rows.ok())
            return rows.error();
        bool fellBack = false;
        for (const auto& row : rows.value()) {
            if (!row.head || row.damaged)
                continue;
            const auto verdict = verifyCheckpoint(paths.checkpointFolder(row.record.folder), row.record.manifestSha256, file.runId);
            if (verdict.ok())
                continue;
            auto freed = ledger.markDamaged(row.id, verdict.error().message);
            if (!freed.ok())
                return freed.error();
            notes.push_back(verdict.error().message + " Its " + std::to_string(freed.value()) + " chunks are free again.");
            fellBack = true;
            break;
        }
        if (!fellBack)
            return notes;
    }
}

Result<std::vector<std::string>> recoverRun(const RunPaths& paths, const RunFile& file, SupervisorLedger& ledger, std::optional<CheckpointId> goBackTo)
{
    std::vector<std::string> notes;
    if (auto status = endOrphans(ledger, notes); !status.ok())
        return status.error().in("freeing the claims of dead workers");
    if (goBackTo) {
        auto freed = ledger.goBackTo(*goBackTo);
        if (!freed.ok())
            return freed.error();
        notes.push_back("The run goes on from checkpoint " + std::to_string(goBackTo->value) + "; " + std::to_string(freed.value()) + " chunks trained after it are free again.");
    }
    auto verified = verifyHeads(paths, file, ledger);
    if (!verified.ok())
        return verified.error().in("verifying checkpoints");
    notes.insert(notes.end(), verified.value().begin(), verified.value().end());
    if (auto status = sweepCheckpoints(paths, ledger, notes); !status.ok())
        return status.error().in("removing leftovers");
    return notes;
}

Status applyKeepPolicy(const RunPaths& paths, SupervisorLedger& ledger, int keepLast)
{
    auto rows = ledger.checkpoints();
    if (!rows.ok())
        return rows.error();
    const auto kept = keptCheckpoints(rows.value(), keepLast);
    for (const auto& row : rows.value()) {
        if (row.removed || row.damaged || kept.count(row.id.value))
            continue;
        if (auto status = ledger.markRemoved(row.id); !status.ok()) // row first: a folder without files must never look alive
            return status;
        failPoint("supervisor.removing");
        if (auto status = removeWeights(paths, row.record.folder); !status.ok())
            return status;
    }
    return {};
}

} // namespace furrow
