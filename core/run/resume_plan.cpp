#include "core/base/sentence.h"
#include "core/run/checkpoint_manifest.h"
#include "core/run/life_cycle.h"
#include "core/run/run_status.h"
#include "core/run/stray_checkpoints.h"
#include "core/tracker/audit.h"

#include <algorithm>

namespace furrow {

namespace {

void countCells(ResumePlan& plan)
{
    for (const auto& cell : plan.cells) {
        switch (cell.state) {
        case ChunkState::Committed: ++plan.kept; break;
        case ChunkState::Trained: ++plan.workLost; break;
        case ChunkState::Leased: ++plan.orphaned; break;
        case ChunkState::Pending:
        case ChunkState::Free: ++plan.free; break;
        case ChunkState::Excluded: ++plan.excluded; break;
        case ChunkState::Poisoned:
        case ChunkState::Accepted: ++plan.poisoned; break;
        }
    }
}

using Choices = std::vector<ResumePlan::CheckpointChoice>;

/// Heads and chunks after a resume: a head whose files are not whole falls back, perhaps to another such one.
struct Settled {
    LedgerReader::Retreat retreat;
    std::vector<CheckpointId> bad; ///< heads that had to be left
};
Result<Settled> settle(LedgerReader& reader, std::optional<CheckpointId> goBackTo, const Choices& choices)
{
    std::vector<CheckpointId> bad;
    for (;;) {
        auto retreat = reader.retreat(goBackTo, bad);
        if (!retreat.ok())
            return retreat.error();
        const auto before = bad.size();
        for (const auto& choice : choices)
            if (!choice.verified && std::find(retreat.value().heads.begin(), retreat.value().heads.end(), choice.row.id) != retreat.value().heads.end())
                bad.push_back(choice.row.id);
        if (bad.size() == before)
            return Settled { std::move(retreat).value(), std::move(bad) };
    }
}

/// Why a plain resume needs a person's yes: the heads that it would leave, and for how many chunks.
std::string lossOf(const Settled& plain, const Choices& choices)
{
    std::string text;
    for (const auto& choice : choices)
        if (choice.row.head && std::find(plain.bad.begin(), plain.bad.end(), choice.row.id) != plain.bad.end())
            text += (text.empty() ? "" : " ") + choice.problem;
    if (text.empty())
        return text;
    return plain.retreat.heads.empty() ? sentence("%1 No whole checkpoint is left behind it: training would begin again from the start weights.", { text })
                                       : sentence("%1 The one before it would be used.", { text });
}

std::int64_t ofEpoch(const std::vector<ChunkId>& chunks, std::int64_t epoch)
{
    return std::count_if(chunks.begin(), chunks.end(), [epoch](ChunkId chunk) { return placeOf(chunk).epoch == epoch; });
}

/// What a plain resume redoes, and what one from each checkpoint would.
Status weigh(LedgerReader& reader, std::int64_t epoch, ResumePlan& plan)
{
    const std::int64_t committed = plan.kept;
    auto plain = settle(reader, std::nullopt, plan.checkpoints);
    if (!plain.ok())
        return plain.error();
    plan.loss = lossOf(plain.value(), plan.checkpoints);
    plan.redoChunks = std::move(plain.value().retreat.chunks);
    plan.redo = ofEpoch(plan.redoChunks, epoch);
    plan.kept = committed - plan.redo;
    if (const auto earlier = static_cast<std::int64_t>(plan.redoChunks.size()) - plan.redo; earlier > 0)
        plan.notes.push_back(sentence("%1 chunks of earlier epochs are trained again too.", { std::to_string(earlier) }));
    for (auto& choice : plan.checkpoints) {
        if (!choice.canBeChosen)
            continue;
        auto back = settle(reader, choice.row.id, plan.checkpoints);
        if (!back.ok())
            return back.error();
        choice.losesOthers = !back.value().bad.empty();
        choice.redo = std::move(back.value().retreat.chunks);
        choice.kept = committed - ofEpoch(choice.redo, epoch);
    }
    return {};
}

void addTimes(LedgerReader& reader, const std::vector<EpochRow>& epochs, ResumePlan& plan)
{
    auto attempts = reader.attempts();
    auto totals = reader.totals();
    if (!attempts.ok() || attempts.value().empty() || !totals.ok())
        return;
    plan.endedWallNs = attempts.value().back().endedWallNs.value_or(totals.value().supervisorHeartbeatWallNs);
    std::int64_t done = 0;
    for (const auto& epoch : epochs)
        done += epoch.chunks[ChunkState::Committed];
    if (done > 0)
        plan.secondsPerChunk = totals.value().activeSeconds / static_cast<double>(done);
}

/// "Exactly once" as it can be proved now; a resume only frees, so it stays true.
void addProof(const RunPaths& paths, ResumePlan& plan)
{
    const auto report = audit(readableLedger(paths));
    if (!report.ok())
        return;
    plan.twice = plan.missing = 0;
    for (const auto& epoch : report.value().epochs) {
        *plan.twice += epoch.duplicated;
        *plan.missing += epoch.missing;
    }
}

} // namespace

Result<ResumePlan> planResume(const RunPaths& paths)
{
    auto file = readRunFile(paths);
    if (!file.ok())
        return file.error();
    auto reader = openLedger(paths);
    if (!reader.ok())
        return reader.error();
    auto epochs = reader.value().epochs();
    auto rows = reader.value().checkpoints();
    if (!epochs.ok())
        return epochs.error();
    if (!rows.ok())
        return rows.error();
    ResumePlan plan;
    if (!epochs.value().empty()) {
        auto cells = reader.value().cells(epochs.value().back().epoch);
        if (!cells.ok())
            return cells.error();
        plan.cells = std::move(cells).value();
    }
    countCells(plan);
    for (const auto& row : rows.value()) {
        if (row.removed)
            continue;
        ResumePlan::CheckpointChoice choice;
        choice.row = row;
        const auto verdict = verifyCheckpoint(paths.checkpointFolder(row.record.folder), row.record.manifestSha256, file.value().runId);
        choice.verified = verdict.ok() && !row.damaged;
        choice.damaged = row.damaged || (!verdict.ok() && verdict.error().code == ErrorCode::Corrupt);
        choice.canBeChosen = choice.verified && row.surviving;
        if (!verdict.ok())
            choice.problem = verdict.error().message;
        else if (row.damaged)
            choice.problem = sentence("It was marked damaged and is whole; a resume takes it back where that is still possible.");
        else if (!row.surviving)
            choice.problem = sentence("The weights of the run did not grow from it.");
        plan.checkpoints.push_back(std::move(choice));
    }
    auto strays = findStrays(paths, file.value().runId, rows.value());
    if (!strays.ok())
        return strays.error();
    plan.olderTracker = olderTrackerText(paths, strays.value(), rows.value());
    addTimes(reader.value(), epochs.value(), plan);
    addProof(paths, plan);
    if (auto weighed = weigh(reader.value(), epochs.value().empty() ? 0 : epochs.value().back().epoch, plan); !weighed.ok())
        return weighed.error();
    return plan;
}

} // namespace furrow
