#pragma once

#include "core/base/message.h"
#include "core/run/folder/run_file.h"
#include "core/run/folder/run_paths.h"

namespace furrow {

/// Rows of trained chunks with another fingerprint of their samples than their prepared block get that of the block,
/// where block and source, read once more, are as a whole what the tracker recorded: it is the row that was changed.
/// What the source does not prove stays as it is, for others to name. For a run that nobody trains.
/// @return what was done, a sentence; ""
Result<Message> restoreFingerprints(const RunPaths& paths, const RunFile& file);

} // namespace furrow
