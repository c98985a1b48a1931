#include "core/run/recovery.h"

#include "core/base/file_system.h"
#include "core/base/log.h"
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
        auto freed = ledger.revoke(orphan.incarnation, "its supervisor was gone");
        if (!freed.ok())
            return freed.error();
        if (freed.value() > 0)
            notes.push_back("Worker " + std::to_string(orphan.worker) + " of the attempt before left " + std::to_string(freed.value())
                + " chunks without a checkpoint; they are free again.");
    }
    return {};
}

Status verifyHeads(const RunPaths& paths, const RunFile& file, SupervisorLedger& ledger, std::vector<std::string>& notes)
{
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
            return {};
    }
}

/// A folder without a row never happened. A folder whose row says removed was being deleted when the power went.
Status sweepCheckpoints(const RunPaths& paths, SupervisorLedger& ledger, std::vector<std::string>& notes)
{
    auto rows = ledger.checkpoints();
    if (!rows.ok())
        return rows.error();
    std::set<std::string> known;
    for (const auto& row : rows.value())
        if (!row.removed)
            known.insert(row.record.folder);
    std::error_code failed;
    int removed = 0;
    for (const auto& entry : std::filesystem::directory_iterator(paths.checkpointsFolder(), failed)) {
        if (known.count(entry.path().filename().string()))
            continue;
        if (auto status = realFileSystem().removeAll(entry.path()); !status.ok())
            return status;
        ++removed;
    }
    if (removed > 0)
        notes.push_back(std::to_string(removed) + " unfinished checkpoint folders were removed.");
    return {};
}

std::set<std::int64_t> keptCheckpoints(const Rows& rows, int keepLast)
{
    std::set<std::int64_t> kept;
    std::map<std::int32_t, Rows> byReplica; // merges have replica -1
    const SupervisorLedger::CheckpointRow* best = nullptr;
    for (const auto& row : rows) {
        if (row.damaged || row.removed)
            continue;
        byReplica[row.record.replica].push_back(row);
        if (row.head || row.pinned)
            kept.insert(row.id.value);
        if (row.record.evalLoss && (!best || *row.record.evalLoss < *best->record.evalLoss))
            best = &row;
    }
    if (best)
        kept.insert(best->id.value);
    for (auto& [replica, own] : byReplica) {
        std::sort(own.begin(), own.end(), [](const auto& a, const auto& b) { return a.id.value > b.id.value; });
        for (std::size_t i = 0; i < own.size() && i < static_cast<std::size_t>(std::max(keepLast, 2)); ++i)
            kept.insert(own[i].id.value);
    }
    return kept;
}

} // namespace

Result<std::vector<std::string>> recoverRun(const RunPaths& paths, const RunFile& file, SupervisorLedger& ledger)
{
    std::vector<std::string> notes;
    if (auto status = endOrphans(ledger, notes); !status.ok())
        return status.error().in("freeing the claims of dead workers");
    if (auto status = verifyHeads(paths, file, ledger, notes); !status.ok())
        return status.error().in("verifying checkpoints");
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
        if (auto status = realFileSystem().removeAll(paths.checkpointFolder(row.record.folder)); !status.ok())
            return status;
    }
    return {};
}

} // namespace furrow
