#pragma once

#include "core/base/process.h"
#include "core/workspace/workspace_file.h"

namespace furrow {

/// The devices of a run as the queue compares them: GPU numbers become UUIDs, "auto" what it means on this machine.
std::string laneOf(const std::string& devices);

/// Do two values of the setting `devices` name a device in common? An empty one or "auto" is every GPU.
bool shareDevice(const std::string& a, const std::string& b);

/// The entries that may begin now: waiting ones, in turn, whose devices no running or earlier waiting entry holds.
/// @param taken  devices of runs that train beside the queue
std::vector<QueueEntry> startable(const std::vector<QueueEntry>& queue, std::vector<std::string> taken = {});

/// The queue as it is: an entry whose run was started and trains no more has ended, whether anybody kept that or not.
Result<std::vector<QueueEntry>> queueNow(WorkspaceFile& file);
/// Keeps that.
Status settleQueue(WorkspaceFile& file);

/// Starts runs of the queue one after the other in each lane, until nothing waits or runs, or `stop`. A device is taken
/// by any living run of the workspace, whoever started it. Busy when another process does it already; one that holds
/// the lock and is no program of Furrow's is waited for. Runs it started go on when it ends.
Status runQueue(const std::filesystem::path& workspace, const StopRequest& stop);

/// Why no process of this user can run the queue; success where one could, or does. Makes and locks nothing.
Status checkQueueCanRun(const std::filesystem::path& workspace);

/// Why the queue could never start the run: this user, or another one whose process runs the queue, may not write it.
Status checkQueueCanStart(const std::filesystem::path& workspace, const std::filesystem::path& run);

/// What keeps the process that runs the queue from starting anything: a stranger holds its lock, or it was stopped by
/// a signal. "": nothing, or nobody runs it.
Message whatHoldsQueueUp(const std::filesystem::path& workspace);
/// A process runs the queue, or is kept from it. True for other users too, who cannot open its lock.
bool isQueueRun(const std::filesystem::path& workspace);

/// Makes sure that a detached process runs the queue: it has the lock when this returns, or has ended with nothing left
/// to start. Waits seconds for that at most.
Status startQueue(const std::filesystem::path& workspace);

/// Stops the running entry after a checkpoint and puts it behind the next one of its lane.
Status letNextRun(const std::filesystem::path& workspace, std::int64_t entry);

} // namespace furrow
