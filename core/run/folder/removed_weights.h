#pragma once

#include "core/base/file_system.h"
#include "core/run/folder/checkpoint_manifest.h"
#include "core/run/folder/run_paths.h"
#include "core/tracker/supervisor_ledger.h"

#include <string>
#include <vector>

namespace furrow {

/// Where the manifest of a checkpoint is kept when its weights are removed.
std::filesystem::path keptManifest(const RunPaths& paths, const std::string& name);

/// SHA-256 of the manifest of a checkpoint that is there, or whose weights were removed; "": it cannot be read.
std::string manifestSha256(const RunPaths& paths, const std::string& name);

/// Deletes the weights of a checkpoint that the tracker calls removed already: a folder without files must never look
/// alive. The manifest moves to checkpoints/removed/, where it proves what went into the descendants (see repair.h).
/// Only what the manifest says was written goes: a folder with a file that is another one now, or that cannot be told,
/// is moved to checkpoints/unknown/ as it is.
Status removeWeights(const RunPaths& paths, const std::string& name, FileSystem& files = realFileSystem());

/// Whether a checkpoint that the tracker calls removed lies there with its manifest and can be gone on from: its
/// removal was not begun, or somebody put it back. Reads all of it.
bool isThereAgain(const RunPaths& paths, const std::string& runId, const SupervisorLedger::CheckpointRow& row,
    FrozenVerdicts* known = nullptr);

/// At the start of an attempt, before it is asked where the run goes on: such checkpoints are the run's again. One that
/// was put back is pinned, so that the keep policy does not take it once more. Returns what was done, in sentences.
Result<std::vector<Message>> takeBackRemoved(const RunPaths& paths, const std::string& runId, SupervisorLedger& ledger);

/// Then, of the other folders of checkpoints that the tracker calls removed: what the power ended in the middle is
/// ended, anything else is moved to checkpoints/unknown/. Returns what was done, in sentences.
Result<std::vector<Message>> settleRemoved(
    const RunPaths& paths, const std::string& runId, SupervisorLedger& ledger, FileSystem& files = realFileSystem());

} // namespace furrow
