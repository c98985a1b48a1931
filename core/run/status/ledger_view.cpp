#include "core/run/status/ledger_view.h"

#include "core/base/file_lock.h"
#include "core/base/file_system.h"
#include "core/base/is_there.h"
#include "core/base/plain_line.h"
#include "core/run/folder/foreign_ledger.h"
#include "core/run/folder/run_file.h"
#include "core/tracker/ledger_file.h"
#include "core/tracker/sqlite/database_files.h"

#include <utility>

namespace furrow {

std::string seenFromElsewhereReason(const RunPaths& paths) { return unsafeForLedgerReason(paths.folder()); }

std::filesystem::path readableLedger(const RunPaths& paths)
{
    // What a live WAL holds is spread over memory that computers do not share. Without one the tracker is whole.
    std::error_code absent;
    if (isAnyInWal(paths.tracker()) && std::filesystem::exists(paths.trackerSnapshot(), absent)
        && !seenFromElsewhereReason(paths).empty())
        return paths.trackerSnapshot();
    return paths.tracker();
}

LedgerToRead::LedgerToRead(const RunPaths& paths)
    : file_(readableLedger(paths))
    , shownAs_(file_)
{
    if (file_ != paths.tracker() || !isLocked(paths.supervisorLock()))
        return;
    std::error_code failed;
    const auto temporary = std::filesystem::temp_directory_path(failed);
    auto folder
        = failed ? Result<ScratchFolder>(Error { ErrorCode::Io, failed.message() }) : ScratchFolder::make(temporary);
    auto live = openForReading(file_);
    if (!folder.ok() || !live.ok())
        return;
    const auto copy = folder.value().path() / file_.filename();
    if (!live.value().backupTo(copy).ok())
        return;
    file_ = copy;
    folder_.emplace(std::move(folder).value());
}

Result<LedgerReader> openLedger(const RunPaths& paths, ReadFor readFor)
{
    const auto run = readRunFile(paths);
    const auto openOwn = [&](const std::filesystem::path& file) -> Result<LedgerReader> {
        FURROW_TRY_ASSIGN(auto ledger, LedgerReader::open(file, {}, readFor));
        const auto foreign = run.ok() ? foreignLedger(ledger, run.value().runId) : Message();
        if (!foreign.empty())
            return foreignRefusal(paths, foreign);
        return ledger;
    };
    const auto file = readableLedger(paths);
    auto opened = openOwn(file);
    if (opened.ok())
        return opened;
    Message foreign;
    if (file != paths.trackerSnapshot() && isThere(paths.trackerSnapshot())) {
        if (auto snapshot = openOwn(paths.trackerSnapshot()); snapshot.ok()) {
            snapshot.value().standIn(opened.error());
            return snapshot;
        }
        foreign = run.ok() ? foreignLedger(paths.trackerSnapshot(), run.value().runId) : Message();
        if (!foreign.empty())
            foreign = foreignRefusal(paths, foreign).message; // with the way out
    }
    FURROW_TRY(run); // what is no run, or one of a newer Furrow, has no ledger for us, and that says more
    if (!foreign.empty())
        return Error { opened.error().code, withFullStop(opened.error().message) + " " + foreign };
    return opened;
}

Result<LedgerReader> openLedgerItself(const RunPaths& paths)
{
    FURROW_TRY_ASSIGN(auto ledger, openLedger(paths));
    if (const Error& why = ledger.standsInBecause(); !why.message.empty())
        return why;
    return ledger;
}

} // namespace furrow
