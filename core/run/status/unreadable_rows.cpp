#include "core/run/status/unreadable_rows.h"

#include "core/base/sentence.h"
#include "core/data/plan/damaged_rows.h"
#include "core/data/source/row_reader.h"
#include "core/run/folder/frozen_config.h"
#include "core/run/status/ledger_view.h"
#include "core/run/status/run_block.h"
#include "core/tracker/unreadable_blocks.h"

#include <algorithm>
#include <iterator>

namespace furrow {

namespace {

UnreadableRow namedRow(const RowIssue& issue, const DataFile& file)
{
    return { { file.path, issue.row }, lineOfRow(issue.row, file), issue.what,
        rowInWords(issue.row, file, issue.what) };
}

UnreadableRow stretchOf(const Segment& part, const DataFile& file)
{
    UnreadableRow stretch { { file.path, part.firstRow }, std::nullopt, part.whyUnreadable.text(),
        unreadableInWords(part, file.path) };
    stretch.rows = part.rows;
    stretch.isStretch = true;
    return stretch;
}

} // namespace

std::vector<UnreadableRow> unreadableRowsOf(
    const PreparedBlock& block, std::int64_t number, const std::string& plan, const DataManifest& manifest)
{
    std::vector<UnreadableRow> rows;
    const auto read = readPlan(plan);
    if (!read.ok() || read.value().block.source < 0 || read.value().block.source >= std::ssize(manifest.sources))
        return rows;
    const PlannedBlock& planned = read.value().block;
    const auto& files = manifest.sources[static_cast<std::size_t>(planned.source)].files;
    for (std::int32_t column = 0; column < std::ssize(planned.chunkRows); ++column)
        for (const Segment& part : rowsOfChunk(planned, column)) {
            if (part.file >= std::ssize(files))
                continue;
            const auto before = rows.size();
            const DataFile& file = files[static_cast<std::size_t>(part.file)];
            if (part.isUnreadable())
                rows.push_back(stretchOf(part, file));
            for (const RowIssue& issue : block.issues())
                if (part.holds(issue.file, issue.row))
                    rows.push_back(namedRow(issue, file));
            for (auto i = before; i < rows.size(); ++i) {
                rows[i].block = number;
                rows[i].column = column;
            }
        }
    return rows;
}

Result<UnreadableRows> unreadableRows(const RunPaths& paths, std::int64_t most)
{
    FURROW_TRY_ASSIGN(const auto file, readRunFile(paths));
    FURROW_TRY_ASSIGN(const auto manifest, readManifest(file.dataManifest));
    FURROW_TRY_ASSIGN(const auto tokenizer, tokenizerOfRun(paths, file));
    FURROW_TRY_ASSIGN(auto ledger, openLedger(paths, ReadFor::Long));
    FURROW_TRY_ASSIGN(const auto blocks, unreadableBlocks(ledger.file()));
    UnreadableRows found;
    for (const UnreadableBlock& one : blocks) {
        found.known += one.rows;
        if (std::ssize(found.rows) >= most)
            continue;
        FURROW_TRY_ASSIGN(const auto row, ledger.block(one.block));
        const auto block = openBlockOf(paths, file, row, tokenizer);
        if (!block.ok()) {
            found.problems.push_back(sentence("block %1: %2", { std::to_string(one.block), block.error().message }));
            continue;
        }
        auto rows = unreadableRowsOf(block.value(), one.block, row.plan, manifest);
        std::move(rows.begin(), rows.end(), std::back_inserter(found.rows));
    }
    if (std::ssize(found.rows) > most)
        found.rows.erase(found.rows.begin() + most, found.rows.end());
    for (const UnreadableRow& one : found.rows)
        found.listed += one.rows;
    return found;
}

} // namespace furrow
