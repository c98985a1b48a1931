#pragma once

#include "core/base/message.h"
#include "core/base/file_system.h"
#include "core/run/folder/run_paths.h"
#include "core/tracker/ledger_reader.h"

#include <string>

namespace furrow {

/// A tracker, or a snapshot of one, that lies in the folder of a run and is of another run proves nothing about this
/// one, however whole it is. "": it is of this run, or does not say of which.
Message foreignLedger(LedgerReader& ledger, const std::string& runId);
/// The same of a file; "" also where it is not there or cannot be read, which is another trouble.
Message foreignLedger(const std::filesystem::path& ledger, const std::string& runId);

/// Corrupt, with the way out.
Error foreignRefusal(const RunPaths& paths, const Message& foreign);

/// Gives a snapshot of another run a name of its own beside it, before the next one of this run takes its place.
/// @return a sentence, "" where there was none
Result<Message> setForeignSnapshotAside(
    const RunPaths& paths, const std::string& runId, FileSystem& files = realFileSystem());

} // namespace furrow
