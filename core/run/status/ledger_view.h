#pragma once

#include "core/base/scratch_folder.h"
#include "core/run/folder/run_paths.h"
#include "core/tracker/ledger_reader.h"

#include <optional>
#include <string>

namespace furrow {

/// Why another computer may be training the run while this one only looks at its folder (it is mounted or
/// synchronised), or "".
std::string seenFromElsewhereReason(const RunPaths& paths);
/// The file that shows the ledger to a reader: the tracker, or the snapshot of it that the supervisor publishes where
/// the tracker itself may be written by another computer at this moment (core/DECISIONS.md 22).
std::filesystem::path readableLedger(const RunPaths& paths);
/// The same for who reads for long: a live tracker is copied into a private temporary folder, which goes away with
/// this, since the WAL of the original cannot be emptied while somebody reads it. Where there is no room for a copy it
/// is the original.
class LedgerToRead {
public:
    explicit LedgerToRead(const RunPaths& paths);
    const std::filesystem::path& file() const { return file_; }
    /// What errors name: the file of the run, never the copy.
    const std::filesystem::path& shownAs() const { return shownAs_; }

private:
    std::filesystem::path file_;
    std::filesystem::path shownAs_;
    std::optional<ScratchFolder> folder_; ///< of the copy
};
/// Opens readableLedger(), and the snapshot also where the tracker cannot be opened: LedgerReader::standsInBecause()
/// says so then. One of another run (foreignLedger()) is opened as little as one that cannot be read. Where neither can
/// be and run.json cannot be used either, the error is that of run.json.
Result<LedgerReader> openLedger(const RunPaths& paths, ReadFor readFor = ReadFor::Look);
/// The same, but no snapshot stands in: for who goes on from what it says, since a snapshot knows the settings of an
/// earlier attempt.
Result<LedgerReader> openLedgerItself(const RunPaths& paths);

} // namespace furrow
