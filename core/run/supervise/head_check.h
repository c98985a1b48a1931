#pragma once

#include "core/base/message.h"
#include "core/run/folder/run_paths.h"
#include "core/run/start/recovery.h"
#include "core/run/supervise/worker_pool.h"
#include "core/tracker/supervisor_ledger.h"

#include <functional>
#include <future>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace furrow {

/// Reads the newest weights of every replica where they may be what made a process give up. On a thread of its own:
/// they can have gigabytes, and meanwhile leases end and a stop is heard. One thread calls; what is given outlives it.
class HeadCheck {
public:
    HeadCheck(const RunPaths& paths, const std::string& runId)
        : paths_(paths)
        , runId_(runId)
    {
    }
    ~HeadCheck();
    HeadCheck(const HeadCheck&) = delete;
    HeadCheck& operator=(const HeadCheck&) = delete;

    /// What is read from now on answers for a worker that gave up.
    void ask(const WorkerPool::Ended& ended) { asked_.push_back(ended); }
    /// Somebody who asked has no answer yet.
    bool isOpen() const { return !asked_.empty() || reading_.valid(); }

    struct Verdict {
        std::vector<WorkerPool::Ended> of; ///< who asked
        Message refusal; ///< HeadsVerdict::refusal; "": all heads are whole
    };
    /// Waits for nothing. Nothing: nobody asked, or they are still being read; else each answer once.
    Result<std::optional<Verdict>> poll(SupervisorLedger& ledger);
    /// The same with waiting, for who did not ask. @param goOn  asked each second; false ends it with Cancelled
    Result<Message> waitFor(SupervisorLedger& ledger, const std::function<bool()>& goOn);

private:
    using Found = std::optional<RefusedHead>;
    std::future<Found> read(std::vector<SupervisorLedger::CheckpointRow> rows) const;

    // set in the constructor, then constant
    const RunPaths& paths_;
    const std::string& runId_;

    std::vector<WorkerPool::Ended> asked_; ///< whom the next reading answers
    std::vector<WorkerPool::Ended> answered_; ///< whom this one does
    std::stop_source stop_;
    std::future<Found> reading_; ///< its thread reads files only
};

} // namespace furrow
