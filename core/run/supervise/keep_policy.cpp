#include "core/run/supervise/keep_policy.h"

#include "core/base/fail_point.h"
#include "core/base/file_system.h"
#include "core/base/log.h"
#include "core/base/sentence.h"
#include "core/run/folder/checkpoint_manifest.h"
#include "core/run/folder/removed_weights.h"
#include "core/tracker/run_event_texts.h"

#include <algorithm>
#include <set>
#include <utility>

namespace furrow {

namespace {

using Rows = std::vector<SupervisorLedger::CheckpointRow>;

constexpr std::size_t kReadBefore = 2; // found whole, before an older one goes
constexpr std::size_t kAtOnce = 16; // in one transaction
constexpr std::int64_t kTryAgainNs = 600'000'000'000; // an administrator may have put it right

/// A replica can only be merged, or fall back, next to the merge that it grew from.
void keepBases(const Rows& rows, std::set<std::int64_t>& kept)
{
    std::set<std::int64_t> way; // from a kept one back to its merge
    for (auto row = rows.rbegin(); row != rows.rend(); ++row) { // parents have lower ids
        const bool isKept = kept.contains(row->id.value);
        if (!isKept && !way.contains(row->id.value))
            continue;
        if (row->record.kind == CheckpointKind::Merge)
            kept.insert(row->id.value);
        else
            for (const auto parent : row->record.parents)
                way.insert(parent.value);
    }
}

} // namespace

KeepPolicy::KeepPolicy(RunPaths paths, std::string runId, int keepLast, FileSystem& files,
    std::chrono::milliseconds turn, const Clock& clock)
    : paths_(std::move(paths))
    , runId_(std::move(runId))
    , files_(files)
    , keepLast_(static_cast<std::size_t>(std::max(keepLast, 2)))
    , turn_(turn)
    , clock_(clock)
{
}

KeepPolicy::~KeepPolicy()
{
    stop_.request_stop(); // the future waits for its thread, which looks at this between two pieces of a file
}

/// @param line  newest first
void KeepPolicy::keepNewest(const Rows& line, std::set<std::int64_t>& kept)
{
    std::size_t whole = 0;
    bool wants = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (i >= keepLast_ && whole >= kReadBefore)
            return;
        kept.insert(line[i].id.value);
        if (line.size() <= keepLast_ || whole >= kReadBefore)
            continue;
        const auto known = isWhole_.find(line[i].id.value);
        if (known == isWhole_.end() && !std::exchange(wants, true))
            wanted_.push_back(line[i]);
        whole += known != isWhole_.end() && known->second ? 1 : 0;
    }
}

std::set<std::int64_t> KeepPolicy::kept(const Rows& rows)
{
    std::set<std::int64_t> kept;
    std::map<std::pair<std::int32_t, bool>, Rows>
        byLine; // merges have replica -1; what the run went back from is a line of its own
    const SupervisorLedger::CheckpointRow* best = nullptr;
    for (auto row = rows.rbegin(); row != rows.rend(); ++row) {
        if (row->damaged || row->removed)
            continue;
        byLine[{ row->record.replica, row->surviving }].push_back(*row);
        if (row->head || row->pinned)
            kept.insert(row->id.value);
        if (row->record.evalLoss && (!best || *row->record.evalLoss <= *best->record.evalLoss))
            best = &*row;
    }
    if (best)
        kept.insert(best->id.value);
    wanted_.clear();
    for (const auto& [line, own] : byLine)
        keepNewest(own, kept);
    keepBases(rows, kept);
    return kept;
}

void KeepPolicy::lookAt(Rows rows)
{
    looking_ = std::async(
        std::launch::async, [rows = std::move(rows), paths = paths_, run = runId_, stop = stop_.get_token()] {
            std::map<std::int64_t, Status> verdicts;
            FrozenVerdicts frozen;
            for (const auto& row : rows)
                verdicts.emplace(row.id.value,
                    verifyCheckpoint(
                        paths.checkpointFolder(row.record.folder), row.record.manifestSha256, run, stop, &frozen));
            return verdicts;
        });
}

void KeepPolicy::takeVerdict()
{
    if (!looking_.valid() || looking_.wait_for(std::chrono::seconds(0)) != std::future_status::ready)
        return;
    for (const auto& [id, verdict] : looking_.get()) {
        isWhole_[id] = verdict.ok();
        if (!verdict.ok())
            logWarning(sentence("%1 Older checkpoints are kept until two newer ones are whole.",
                { withFullStop(verdict.error().message) }));
    }
}

/// What may go, oldest first.
KeepPolicy::Rows KeepPolicy::leaving(const Rows& rows)
{
    const auto stays = kept(rows);
    Rows leaving;
    for (const auto& row : rows)
        if (!row.removed && !row.damaged && !stays.contains(row.id.value) && !cannotGo_.contains(row.id.value)
            && !isLink(paths_.checkpointFolder(row.record.folder)))
            leaving.push_back(row);
    return leaving;
}

/// The tracker knows first that they go.
Status KeepPolicy::remove(SupervisorLedger& ledger, std::span<const SupervisorLedger::CheckpointRow> rows)
{
    std::vector<CheckpointId> ids;
    for (const auto& row : rows)
        ids.push_back(row.id);
    FURROW_TRY(ledger.markRemoved(ids));
    for (const auto& row : rows) {
        failPoint("supervisor.removing");
        const auto status = removeWeights(paths_, row.record.folder, files_);
        if (status.ok())
            continue;
        if (cannotGo_.empty())
            whyNot_ = sentence(kCannotRemove, { row.record.folder, withFullStop(status.error().message) });
        cannotGo_.insert(row.id.value); // another user's, as a rule
        std::error_code failed;
        if (std::filesystem::exists(
                paths_.checkpointFolder(row.record.folder) / kManifestFile, failed)) // it goes first: nothing was begun
            FURROW_TRY(ledger.markThereAgain(row.id, false));
    }
    return {};
}

/// Once they begin to stay, and once all went: not for each of them.
Status KeepPolicy::tell(SupervisorLedger& ledger)
{
    if (cannotGo_.empty() == !isTold_)
        return {};
    FURROW_TRY(ledger.keepNotRemoved(cannotGo_.empty() ? Message() : whyNot_));
    isTold_ = !cannotGo_.empty();
    if (isTold_)
        logWarning(whyNot_);
    return {};
}

Status KeepPolicy::apply(SupervisorLedger& ledger)
{
    const auto end = std::chrono::steady_clock::now() + turn_;
    if (clock_.monotonicNs() >= tryAgainNs_) {
        cannotGo_.clear();
        tryAgainNs_ = clock_.monotonicNs() + kTryAgainNs;
    }
    takeVerdict();
    FURROW_TRY_ASSIGN(const auto rows, ledger.checkpoints());
    const Rows all = leaving(rows);
    std::span<const SupervisorLedger::CheckpointRow> left(all);
    while (!left.empty() && (left.size() == all.size() || std::chrono::steady_clock::now() < end)) {
        const auto some = left.first(std::min(kAtOnce, left.size()));
        FURROW_TRY(remove(ledger, some));
        left = left.subspan(some.size());
    }
    isMoreToRemove_ = !left.empty();
    if (!isMoreToRemove_)
        FURROW_TRY(tell(ledger));
    if (!wanted_.empty() && !looking_.valid())
        lookAt(std::move(wanted_));
    return {};
}

Status KeepPolicy::finish(SupervisorLedger& ledger, std::chrono::milliseconds patience)
{
    const auto deadline = std::chrono::steady_clock::now() + patience;
    const auto isMore = [this, deadline] {
        return isMoreToRemove_ ? std::chrono::steady_clock::now() < deadline
                               : looking_.valid() && looking_.wait_until(deadline) == std::future_status::ready;
    };
    auto status = apply(ledger);
    while (status.ok() && isMore())
        status = apply(ledger);
    return status;
}

} // namespace furrow
