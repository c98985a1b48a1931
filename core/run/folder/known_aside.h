#pragma once

#include "core/base/file_system.h"
#include "core/base/message.h"
#include "core/run/folder/checkpoint_manifest.h"
#include "core/run/folder/run_paths.h"
#include "core/tracker/supervisor_ledger.h"

#include <string>
#include <vector>

namespace furrow {

/// A checkpoint, or the manifest of one whose weights went, that the tracker knows by its hash and that lies in
/// checkpoints/unknown: the run went on by an older tracker, which did not know it.
struct KnownAside {
    SupervisorLedger::CheckpointRow row;
    std::filesystem::path lies;
    std::filesystem::path belongs;
};
/// Looks at those only that are not where they belong.
std::vector<KnownAside> knownAside(const RunPaths& paths, const std::vector<SupervisorLedger::CheckpointRow>& rows);
/// The folders of newest weights among them, for a sentence; "": there are none.
std::string headsAside(const RunPaths& paths, const std::vector<SupervisorLedger::CheckpointRow>& rows);

/// Moves them back to where they belong. Returns what was done, in a sentence; "": there was nothing.
Result<Message> takeBackAside(const RunPaths& paths, const std::vector<SupervisorLedger::CheckpointRow>& rows,
    FileSystem& files = realFileSystem());

/// verifyTrainable() of one where it lies, in checkpoints/unknown too. Of what lies there only the hashes are asked.
Status verifyWhereItLies(const RunPaths& paths, const std::string& runId, const SupervisorLedger::CheckpointRow& row,
    FrozenVerdicts* known = nullptr);

} // namespace furrow
