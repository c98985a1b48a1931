#include "core/run/status/unreadable_rows.h"

#include "core/base/sentence.h"
#include "core/data/plan/block_plan.h"
#include "core/data/source/row_reader.h"
#include "core/run/folder/frozen_config.h"
#include "core/run/status/ledger_view.h"
#include "core/run/status/run_block.h"
#include "core/tracker/unreadable_blocks.h"

#include <algorithm>
#include <iterator>

namespace furrow {

namespace {

/// The chunk of a block that has a row; nothing where none has it.
std::optional<std::int32_t> columnOf(const PlannedBlock& block, const RowIssue& issue)
{
    for (std::int32_t column = 0; column < std::ssize(block.chunkRows); ++column)
        for (const Segment& part : rowsOfChunk(block, column))
            if (part.file == issue.file && issue.row >= part.firstRow && issue.row < part.firstRow + part.rows)
                return column;
    return std::nullopt;
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
    for (const RowIssue& issue : block.issues()) {
        const auto column = columnOf(planned, issue);
        if (!column || issue.file < 0 || issue.file >= std::ssize(files))
            continue;
        const DataFile& file = files[static_cast<std::size_t>(issue.file)];
        rows.push_back({ { file.path, issue.row }, lineOfRow(issue.row, file), issue.what,
            rowInWords(issue.row, file, issue.what), number, *column });
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
    return found;
}

} // namespace furrow
