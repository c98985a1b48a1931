#include "core/run/supervise/head_check.h"

#include "core/base/path.h"
#include "core/base/sentence.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace furrow {

namespace {

/// Else what was read of it says nothing: who trains left it behind meanwhile, and the keep policy may have removed it.
bool isHead(const std::vector<SupervisorLedger::CheckpointRow>& rows, CheckpointId id)
{
    return std::ranges::any_of(rows, [id](const auto& row) { return row.id == id && row.head && !row.damaged; });
}

} // namespace

HeadCheck::~HeadCheck()
{
    stop_.request_stop(); // the future waits for its thread, which looks at this between two pieces of a file
}

std::future<HeadCheck::Found> HeadCheck::read(std::vector<SupervisorLedger::CheckpointRow> rows) const
{
    return std::async(
        std::launch::async, [rows = std::move(rows), paths = paths_, runId = runId_, stop = stop_.get_token()] {
            return refusalOfHeads(paths, runId, rows, stop);
        });
}

/// Who asks while heads are read waits for the next reading: what it met may be newer than what was read by then.
Result<std::optional<HeadCheck::Verdict>> HeadCheck::poll(SupervisorLedger& ledger)
{
    if (reading_.valid()) {
        if (reading_.wait_for(std::chrono::seconds(0)) != std::future_status::ready)
            return std::optional<Verdict>();
        const auto found = reading_.get();
        FURROW_TRY_ASSIGN(auto rows, ledger.checkpoints());
        if (!found || isHead(rows, found->id))
            return std::optional(Verdict { std::exchange(answered_, {}), found ? found->refusal : Message() });
        reading_ = read(std::move(rows));
        return std::optional<Verdict>();
    }
    if (asked_.empty())
        return std::optional<Verdict>();
    FURROW_TRY_ASSIGN(auto rows, ledger.checkpoints());
    answered_ = std::exchange(asked_, {});
    reading_ = read(std::move(rows));
    return std::optional<Verdict>();
}

Result<Message> HeadCheck::waitFor(SupervisorLedger& ledger, const std::function<bool()>& goOn)
{
    for (;;) {
        FURROW_TRY_ASSIGN(auto rows, ledger.checkpoints());
        auto reading = read(std::move(rows));
        while (reading.wait_for(std::chrono::seconds(1)) != std::future_status::ready) {
            if (goOn())
                continue;
            stop_.request_stop(); // the run is at its end: nobody asks any more
            return Error { ErrorCode::Cancelled,
                sentence("Reading %1 was stopped.", { utf8Text(paths_.checkpointsFolder()) }) };
        }
        const auto found = reading.get();
        FURROW_TRY_ASSIGN(const auto now, ledger.checkpoints());
        if (!found || isHead(now, found->id))
            return found ? found->refusal : Message();
    }
}

} // namespace furrow
