#include "core/run/ledger_view.h"

#include "core/base/file_system.h"

namespace furrow {

std::string seenFromElsewhereReason(const RunPaths& paths)
{
    return unsafeForLedgerReason(paths.folder());
}

std::filesystem::path readableLedger(const RunPaths& paths)
{
    // What a live WAL holds is spread over memory that computers do not share. Without one the tracker is whole.
    std::filesystem::path wal = paths.tracker();
    wal += "-wal";
    std::error_code absent;
    const bool live = std::filesystem::file_size(wal, absent) > 0 && !absent;
    if (live && std::filesystem::exists(paths.trackerSnapshot(), absent) && !seenFromElsewhereReason(paths).empty())
        return paths.trackerSnapshot();
    return paths.tracker();
}

Result<LedgerReader> openLedger(const RunPaths& paths)
{
    const auto file = readableLedger(paths);
    auto opened = LedgerReader::open(file);
    if (opened.ok() || file == paths.trackerSnapshot() || !std::filesystem::exists(paths.trackerSnapshot()))
        return opened;
    return LedgerReader::open(paths.trackerSnapshot());
}

} // namespace furrow
