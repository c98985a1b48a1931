#include "core/run/audit/block_plans.h"

#include "core/base/sentence.h"

#include <string>
#include <utility>

namespace furrow {

Status BlockPlans::look(const LedgerReader::BlockRow& row)
{
    const std::string number = std::to_string(row.block);
    auto read = readPlan(row.plan);
    if (!read.ok())
        return Error { read.error().code, sentence("block %1: %2", { number, read.error().message }) };
    const PlannedBlock& plan = read.value().block;
    if (plan.block != row.block || plan.source != row.source || plan.firstRow != row.firstRow || plan.rows() != row.rows
        || std::ssize(plan.chunkRows) != row.chunks)
        return Error { ErrorCode::Corrupt,
            sentence(
                "block %1: its plan has other rows or chunks than its row in the tracker: one of them was changed by hand",
                { number }) };
    if (const auto source = static_cast<std::size_t>(plan.source); !goesOnFrom(source, plan)
        || source >= read.value().after.size() || read.value().after[source].row != plan.firstRow + plan.rows())
        return Error { ErrorCode::Corrupt,
            sentence(
                "block %1: its plan does not begin where the one before it ended, or does not end where the next one begins: it was changed by hand",
                { number }) };
    after_ = std::move(read.value().after);
    return {};
}

bool BlockPlans::goesOnFrom(std::size_t source, const PlannedBlock& plan) const
{
    if (source >= after_.size())
        return after_.empty();
    const SourcePosition& before = after_[source];
    const Segment& first = plan.segments.front();
    for (const FileGap& gap : before.gaps) // what could not be planned when its turn was
        if (first.file == gap.file)
            return first.firstRow >= gap.rowInFile && first.position >= gap.position;
    if (first.file != before.file)
        return first.file > before.file;
    return first.firstRow >= before.rowInFile && first.position >= before.position;
}

} // namespace furrow
