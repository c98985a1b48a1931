#pragma once

#include "core/run/folder/run_file.h"
#include "core/run/folder/run_paths.h"
#include "core/tracker/ledger_reader.h"

namespace furrow {

/// "" or why a tracker that calls its data complete cannot know all of it: a file goes on behind the last block, as far
/// as its size says so, or the snapshot of the tracker knows more blocks. Reads nothing of the data.
Result<Message> blocksTakenOut(const RunPaths& paths, const RunFile& file, LedgerReader& ledger);

/// Whether files that could not be read may have been left out in some attempt: they may be whole again, and then the
/// data goes on behind the last block.
Result<bool> mayLackFiles(const RunFile& file, LedgerReader& ledger);

} // namespace furrow
