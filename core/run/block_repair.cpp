#include "core/run/block_repair.h"

#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/data/block_cache.h"
#include "core/data/prepared_block.h"
#include "core/run/audit_blocks.h"
#include "core/run/ledger_view.h"

#include <optional>

namespace furrow {

namespace {

constexpr int kBlocksAtOnce = 500; // rows of one short transaction

/// Nothing when the file is whole, is not there, or cannot be read now.
std::optional<std::string> damageOf(const std::filesystem::path& prepared)
{
    auto block = PreparedBlock::open(prepared);
    const Status whole = block.ok() ? block.value().verify() : Status(block.error());
    return whole.ok() || whole.error().code != ErrorCode::Corrupt ? std::nullopt : std::optional(whole.error().message);
}

} // namespace

Result<std::vector<std::string>> blockProblems(const RunPaths& paths)
{
    FURROW_TRY_ASSIGN(auto file, readRunFile(paths));
    FURROW_TRY_ASSIGN(auto ledger, openLedger(paths));
    const AuditWatch nobodyWaits;
    AuditLog log(nobodyWaits);
    FURROW_TRY(auditBlocks(paths, file, ledger, log));
    AuditReport report;
    log.addTo(report);
    std::vector<std::string> problems;
    for (const auto& finding : report.findings)
        problems.push_back(finding.text);
    return problems;
}

Result<std::vector<std::string>> putDamagedBlocksAside(const RunPaths& paths)
{
    FURROW_TRY_ASSIGN(auto ledger, openLedger(paths));
    FURROW_TRY_ASSIGN(auto cache, BlockCache::open(paths.cacheFolder(), 0));
    std::vector<std::string> notes;
    for (std::int64_t last = -1;;) {
        FURROW_TRY_ASSIGN(auto rows, ledger.blocksAfter(last, kBlocksAtOnce));
        if (rows.empty())
            return notes;
        last = rows.back().block;
        for (const auto& row : rows) {
            const auto damage = isPlainName(row.fileName) ? damageOf(cache->path(kBlocks, row.fileName)) : std::nullopt;
            if (!damage)
                continue;
            FURROW_TRY(cache->quarantine(kBlocks, row.fileName));
            notes.push_back(
                sentence("block %1: %2 It was put aside and is prepared again from the source when it is needed.",
                    { std::to_string(row.block), *damage }));
        }
    }
}

} // namespace furrow
