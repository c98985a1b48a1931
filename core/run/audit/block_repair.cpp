#include "core/run/audit/block_repair.h"

#include "core/base/sentence.h"
#include "core/data/source/block_cache.h"
#include "core/run/audit/audit_blocks.h"
#include "core/run/status/ledger_view.h"

namespace furrow {

namespace {

using OnDamaged = std::function<Status(const LedgerReader::BlockRow&, const Message&)>;

Result<std::vector<Message>> problemsOfBlocks(const RunPaths& paths, const OnDamaged& onDamaged)
{
    FURROW_TRY_ASSIGN(auto file, readRunFile(paths));
    FURROW_TRY_ASSIGN(auto ledger, openLedger(paths, ReadFor::Long));
    const AuditWatch nobodyWaits;
    AuditLog log(nobodyWaits);
    FURROW_TRY(auditBlocks(paths, file, ledger, log, onDamaged));
    AuditReport report;
    log.addTo(report);
    std::vector<Message> problems;
    for (const auto& finding : report.findings)
        problems.push_back(finding.text);
    return problems;
}

} // namespace

Result<std::vector<Message>> blockProblems(const RunPaths& paths) { return problemsOfBlocks(paths, {}); }

Result<BlockRepair> repairBlocks(const RunPaths& paths)
{
    FURROW_TRY_ASSIGN(auto cache, BlockCache::open(paths.cacheFolder(), 0));
    BlockRepair repair;
    const auto putAside = [&](const LedgerReader::BlockRow& row, const Message& damage) -> Status {
        FURROW_TRY(cache->quarantine(kBlocks, row.fileName));
        repair.notes.push_back(
            sentence("block %1: %2 It was put aside and is prepared again from the source when it is needed.",
                { std::to_string(row.block), damage }));
        return {};
    };
    FURROW_TRY_ASSIGN(repair.problems, problemsOfBlocks(paths, putAside));
    return repair;
}

} // namespace furrow
