#pragma once

#include "core/run/folder/run_file.h"
#include "core/run/status/brain.h"

#include <filesystem>
#include <optional>

namespace furrow {

// Which chunks of the first epoch the parent run trained is said by tracker and parent.json; run.json keeps the hash of
// the list (RunFile::parentListHash), but for a run of before.

/// Corrupt says how parent.json is not as the run began with it. Where run.json keeps no hash of its list, also that it
/// says something else than the tracker: which of the two was changed nobody knows then.
Status checkParentFile(const RunPaths& paths, const RunFile& file);

/// parent.json for a tracker that is made anew. Corrupt as checkParentFile(), but for what the tracker says.
Result<std::optional<ParentFile>> provenParent(const RunPaths& paths, const RunFile& file);

/// "" when the list of a tracker is the one of which run.json keeps the hash, or there is no hash; else how it differs.
Result<Message> differenceFromParentList(
    const RunPaths& paths, const RunFile& file, const std::filesystem::path& tracker);

/// Stores the list of a tracker anew where it is not the one of run.json and parent.json proves what it was. For a file
/// that nobody else uses (a copy).
Status restoreParentList(const RunPaths& paths, const RunFile& file, const std::filesystem::path& tracker);

} // namespace furrow
