#pragma once

#include "core/base/message.h"
#include "core/base/file_lock.h"
#include "core/base/file_system.h"
#include "core/run/start/resume_choice.h"
#include "core/run/folder/run_file.h"
#include "core/run/folder/run_paths.h"
#include "core/tracker/supervisor_ledger.h"

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace furrow {

/// What an earlier attempt left behind is put in order before a new one begins: processes that still run are ended,
/// their claims freed, checkpoints that were marked damaged and are whole are taken back, the newest weights are
/// verified with what training takes beside them (keptStates()), what was never committed is removed and what is
/// unknown put aside. Called by the supervisor only, while it holds the run's lock. Returns what was done, in
/// sentences. Where weights or such a state would be lost without a yes (ResumeChoice::acceptLoss) it fails with a
/// sentence, and lineage and files are as they were.
Result<std::vector<Message>> recoverRun(const RunPaths& paths, const RunFile& file, SupervisorLedger& ledger,
    const ResumeChoice& choice = {}, FileSystem& files = realFileSystem());

/// SupervisorLedger::migrate() for a run whose lock is held here. Workers that an older Furrow left behind, and that go
/// on by its rules, end first: they have the time to save what they trained.
/// @param patience  with others that write; without it 30 s
Status migrateTracker(const RunPaths& paths, const FileLock& lock, Patience patience = {});

/// What became of the newest weights of the replicas.
struct HeadsVerdict {
    std::vector<Message> notes; ///< what was done
    Message refusal; ///< why the run cannot go on without a person, and what that person can do; "": it can
};
/// Reads the newest weights of every replica. One that is damaged or cannot be read is left for the one before, and its
/// chunks are free again, when the loss is accepted; else nothing is changed.
Result<HeadsVerdict> verifyHeads(const RunPaths& paths, const RunFile& file, SupervisorLedger& ledger, bool acceptLoss);
struct RefusedHead {
    CheckpointId id;
    Message refusal; ///< as HeadsVerdict has it
};
/// The first of the newest weights that cannot be used; nothing: all can. Reads files and nothing else, so any thread
/// may ask; meaningless once `stop` is requested.
/// @param checkpoints  of the ledger, as they are now. Whoever trains meanwhile may leave one of them behind, and the
/// keep policy remove it: ask whether it is a head still.
std::optional<RefusedHead> refusalOfHeads(const RunPaths& paths, const std::string& runId,
    const std::vector<SupervisorLedger::CheckpointRow>& checkpoints, const std::stop_token& stop = {});

/// Refuses, before anything is started, where the newest weights cannot be read: their disk may be away. Looks at
/// manifests alone; recoverRun reads all.
Status checkHeadsAreThere(const RunPaths& paths, const std::vector<SupervisorLedger::CheckpointRow>& checkpoints);

} // namespace furrow
