#include "core/run/audit/data_end.h"

#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/data/plan/block_plan.h"
#include "core/data/source/data_manifest.h"
#include "core/data/source/distant_source.h"
#include "core/data/source/row_choice.h"
#include "core/run/folder/attempt_config.h"
#include "core/run/folder/foreign_ledger.h"
#include "core/tracker/audit/audit.h"

#include <algorithm>

namespace furrow {

namespace {

/// Its size is that of its text, and each byte behind a byte order mark belongs to a row.
bool isAllRows(const DataFile& file, DataMode mode)
{
    const bool isOfRows = file.format.format == TextFormat::JsonLines
        || (file.format.format == TextFormat::Text && mode != DataMode::Paragraphs);
    return isOfRows && mode != DataMode::Stream && file.isStoredPlain() && !file.member && !isDistantPath(file.path);
}

/// The first file that is known to have rows behind the place where planning of its source ended, or null.
const DataFile* goesOn(const DataSource& source, const SourcePosition& after, DataMode mode)
{
    auto planned = after.position;
    for (auto file = static_cast<std::size_t>(after.file); file < source.files.size(); ++file) {
        const DataFile& one = source.files[file];
        const std::uint64_t end = std::max(planned, static_cast<std::uint64_t>(one.format.skipBytes));
        if (isAllRows(one, mode) && end < one.sizeBytes)
            return &one;
        planned = 0;
    }
    return nullptr;
}

Result<Message> unplanned(const RunFile& file, LedgerReader& ledger, std::int64_t last)
{
    FURROW_TRY_ASSIGN(const auto row, ledger.block(last));
    const auto manifest = readManifest(file.dataManifest);
    const auto plan = readPlan(row.plan);
    if (!manifest.ok() || !plan.ok()) // named by others
        return Message();
    const auto& sources = manifest.value().sources;
    const auto& after = plan.value().after;
    const RowChoice choice(file.config, manifest.value());
    for (std::size_t i = 0; i < std::min(sources.size(), after.size()) && !choice.hasFraction(); ++i) {
        if (choice.isBeforeStart(after[i].row) || choice.isBehindEnd(after[i].row))
            continue; // rows that are not wanted
        if (const DataFile* one = goesOn(sources[i], after[i], file.config.dataMode))
            return sentence(
                "%1 goes on after block %2, which the tracker calls the last one: blocks were taken out of it",
                { one->path, std::to_string(last) });
    }
    return Message();
}

/// A data set never loses a block. A snapshot that the audit finds broken says nothing.
Message fewerThanPublished(const RunPaths& paths, const std::string& runId, std::int64_t blocks)
{
    auto snapshot = LedgerReader::open(paths.trackerSnapshot());
    if (!snapshot.ok() || !foreignLedger(snapshot.value(), runId).empty())
        return {};
    const auto epochs = snapshot.value().epochs();
    if (!epochs.ok() || epochs.value().empty() || epochs.value().back().knownBlocks <= blocks)
        return {};
    const auto proof = audit(paths.trackerSnapshot());
    if (!proof.ok() || !proof.value().isClean())
        return {};
    return sentence(
        "the tracker calls its data complete with %1 blocks, and its last snapshot (%2) knows %3: blocks were taken out of it",
        { Count(blocks), utf8Text(paths.trackerSnapshot().filename()), Count(epochs.value().back().knownBlocks) });
}

} // namespace

Result<bool> mayLackFiles(const RunFile& file, LedgerReader& ledger)
{
    FURROW_TRY_ASSIGN(const auto attempts, ledger.attempts());
    return file.config.badFiles == BadFiles::LeaveOut
        || std::ranges::any_of(attempts, [&file](const AttemptRow& attempt) {
               const auto config = configOf(attempt, file.config);
               return !config.ok() || config.value().badFiles == BadFiles::LeaveOut;
           });
}

Result<Message> blocksTakenOut(const RunPaths& paths, const RunFile& file, LedgerReader& ledger)
{
    FURROW_TRY_ASSIGN(const auto epochs, ledger.epochs());
    if (epochs.empty() || !epochs.back().blockCount || *epochs.back().blockCount != epochs.back().knownBlocks)
        return Message();
    FURROW_TRY_ASSIGN(const bool mayGoOn, mayLackFiles(file, ledger));
    if (mayGoOn)
        return Message();
    const std::int64_t blocks = epochs.back().knownBlocks;
    FURROW_TRY_ASSIGN(auto rest, blocks > 0 ? unplanned(file, ledger, blocks - 1) : Result<Message>(Message()));
    return rest.empty() ? fewerThanPublished(paths, file.runId, blocks) : std::move(rest);
}

} // namespace furrow
