// What the inspector says of one chunk or several.

#include "core/run/status/samples_left_out.h"
#include "ui/bridge/chunk_reader.h"
#include "ui/models/core_words.h"
#include "ui/models/kept_trainings.h"
#include "ui/models/run_words.h"
#include "ui/models/shown_status.h"
#include "ui/models/words.h"
#include "ui/models/workbench.h"
#include "ui/shell/inspector_dock.h"

#include <QLabel>
#include <QTableView>
#include <algorithm>
#include <cmath>

namespace furrow {

namespace {

double medianLoss(const std::vector<ChunkCell>& cells)
{
    std::vector<float> losses;
    for (const ChunkCell& cell : cells) {
        if (cell.trainedWallNs != 0 && std::isfinite(cell.meanLoss))
            losses.push_back(cell.meanLoss);
    }
    if (losses.empty())
        return std::nan("");
    const auto middle = losses.begin() + static_cast<std::ptrdiff_t>(losses.size() / 2);
    std::nth_element(losses.begin(), middle, losses.end());
    return *middle;
}

/// Whether the weights have a chunk that is not trained in part. "": not known yet.
/// @param cell  null: not read yet
QString inWeights(const ChunkCell* cell, const KeptTrainings& kept, bool isUntrained)
{
    if (cell != nullptr && isLeftToParent(*cell))
        return InspectorDock::tr("from the parent run");
    if (kept.parts == 0 && cell == nullptr)
        return {};
    if (kept.parts == 0 && (cell->state == ChunkState::Excluded || cell->state == ChunkState::Accepted))
        return InspectorDock::tr("no: it is left out");
    if (isUntrained)
        return InspectorDock::tr("no: it is left out, none of its steps was finite");
    if (kept.parts == 0)
        return cell->state == ChunkState::Committed && cell->windows == 0
            ? InspectorDock::tr("no: there is nothing to train in it")
            : InspectorDock::tr("not yet");
    if (kept.saved == 0)
        return InspectorDock::tr("not in a checkpoint yet");
    if (kept.saved < kept.parts)
        return InspectorDock::tr("%1 of %2 parts, the others in no checkpoint yet")
            .arg(countText(kept.saved), countText(kept.parts));
    return kept.parts > 1 ? InspectorDock::tr("once, in %1 parts").arg(countText(kept.parts))
                          : InspectorDock::tr("once");
}

} // namespace

void InspectorDock::readElsewhere(ChunkId chunk)
{
    if (elsewhere_ != chunk)
        elsewhereCell_.reset();
    elsewhere_ = chunk;
    chunkReader_->read(bench_.watcher().folder(), chunk);
}

// A claim does not tell the state of its chunk: one that is left out, or whose epoch has closed, may have been given
// back last.
const ChunkCell* InspectorDock::cellElsewhere(ChunkId chunk)
{
    if (const auto moment = bench_.replay().moment()) {
        const auto cells = bench_.replay().cellsOf(placeOf(chunk).epoch, *moment);
        const auto found
            = std::find_if(cells.begin(), cells.end(), [chunk](const ChunkCell& cell) { return cell.id == chunk; });
        elsewhere_ = {}; // it is not the present one
        elsewhereCell_ = found == cells.end() ? std::nullopt : std::optional(*found);
        return elsewhereCell_ ? &*elsewhereCell_ : nullptr;
    }
    if (elsewhere_ != chunk)
        readElsewhere(chunk);
    if (!elsewhereCell_)
        return nullptr;
    const StatusPtr& status = bench_.watcher().status();
    for (const ChunkCell& held : status ? status->goneHolds : std::vector<ChunkCell> {})
        if (held.id == chunk
            && (elsewhereCell_->state == ChunkState::Leased || elsewhereCell_->state == ChunkState::Trained)) {
            elsewhereCell_->holderGone = true;
            elsewhereCell_->begun = held.begun;
        }
    return &*elsewhereCell_;
}

bool InspectorDock::isAnyPoisoned() const
{
    const auto& chunks = bench_.selection().selection().chunks;
    return std::any_of(chunks.begin(), chunks.end(), [this](const SelectedChunk& chunk) {
        const ChunkCell* cell = bench_.cells().find(chunk.id);
        return cell != nullptr && cell->state == ChunkState::Poisoned;
    });
}

void InspectorDock::showChunk(ChunkId chunk)
{
    const SelectedChunk& selected = bench_.selection().selection().chunks.front();
    title_->setText(
        tr("%1, %2").arg(chunkTitle(selected.block, selected.column), epochName(placeOf(chunk).epoch).toLower()));
    const ChunkCell* const shown = bench_.cells().find(chunk);
    const ChunkCell* const cell = shown != nullptr ? shown : cellElsewhere(chunk);
    const std::vector<ClaimRow> history = bench_.replay().claimsOf(chunk);
    addRow(tr("State"),
        shown != nullptr      ? chunkStateWord(*shown)
            : cell != nullptr ? tr("%1; not in the epoch shown").arg(chunkStateWord(*cell))
                              : tr("not in the epoch shown"));
    if (cell != nullptr && cell->inherited != Inherited::Nothing)
        addRow(tr("Parent run"),
            cell->inherited == Inherited::Skipped ? tr("trained it; left out here")
                                                  : tr("trained it; trained again here"));
    const KeptTrainings kept = keptTrainings(history, cell, bench_.watcher().telemetry().get());
    const auto untrained = shownUntrained(bench_);
    const bool isUntrained = std::binary_search(untrained.begin(), untrained.end(), chunk);
    const auto leftOut = shownLeftOut(bench_);
    const auto found = leftOut.find(chunk);
    const TrainedPart part
        = cell == nullptr ? TrainedPart {} : trainedPart(*cell, found == leftOut.end() ? 0 : found->second);
    if (cell != nullptr && cell->covered > 0 && cell->covered < cell->windows)
        addRow(tr("In weights"), // and in checkpoints
            tr("%1 of %2 samples").arg(countText(part.samples), countText(part.samplesWanted)),
            (isPartlyLeftOut(*cell) ? tr("%1 of %2 windows; the rest is left out.")
                                    : tr("%1 of %2 windows; the rest is trained when it is claimed again."))
                .arg(countText(part.windows), countText(part.windowsWanted)));
    else if (const QString words = inWeights(cell, kept, isUntrained); !words.isEmpty())
        addRow(tr("In weights"), words,
            tr("An interrupted chunk is continued from where it was: each part is in the weights once."));
    if (part.samplesLeftOut > 0 && !isUntrained)
        addRow(tr("Left out"),
            tr("%1 of %2 samples, their steps were not finite")
                .arg(countText(part.samplesLeftOut), countText(cell->samples)));
    if (kept.lost.sum() > 0)
        addRow(tr("Work lost"),
            tr("%1: %2").arg(tr("%n training(s), with their weights", nullptr, static_cast<int>(kept.lost.sum())),
                coreWords(inWords(kept.lost)).join(QStringLiteral(", "))));
    showWhoTrained(cell, kept, history);
    const bool isAllSaved = cell != nullptr && cell->covered >= cell->windows && kept.saved == kept.parts;
    if (kept.parts > 0)
        showTrained(shown, kept, kept.isCut && isAllSaved ? part.samples : kept.samples);
    showLossInside(chunk, history);
    showHistory(history);
}

/// Without the claims that were given back before their training began: they are none.
void InspectorDock::showHistory(std::vector<ClaimRow> history)
{
    std::erase_if(history, [](const ClaimRow& claim) { return claim.startedWallNs == 0 && claim.endedWallNs != 0; });
    const bool isMany = history.size() > 1; // the rows above say all of a single one: its room is for the samples
    const bool first = claims_.rowCount() == 0;
    claims_.reset(std::move(history));
    if (first)
        history_->resizeColumnsToContents();
    historyTitle_->setVisible(isMany);
    history_->setVisible(isMany);
}

namespace {

/// The claim whose worker and attempt belong to loss and end of the chunk: the one under way, else the newest that was
/// trained to its end, else the newest that was begun, as the ledger has it of a cell.
const ClaimRow& newestTraining(const std::vector<ClaimRow>& history)
{
    const auto rank = [](const ClaimRow& claim) {
        return claim.endedWallNs == 0 ? 3 : claim.startedWallNs == 0 ? 0 : claim.tokens > 0 ? 2 : 1;
    };
    return *std::max_element(
        history.rbegin(), history.rend(), [&rank](const ClaimRow& a, const ClaimRow& b) { return rank(a) < rank(b); });
}

} // namespace

/// All workers that trained what is kept, and the one that holds the chunk or had it last.
void InspectorDock::showWhoTrained(
    const ChunkCell* cell, const KeptTrainings& kept, const std::vector<ClaimRow>& history)
{
    std::vector<int> workers = kept.parts > 1 ? kept.workers : std::vector<int> {};
    const int newest = cell != nullptr ? static_cast<int>(cell->worker)
        : history.empty()              ? -1
                                       : newestTraining(history).worker;
    if (newest >= 0 && std::find(workers.begin(), workers.end(), newest) == workers.end())
        workers.push_back(newest);
    for (const int worker : workers)
        addWorkerRow(worker);
    if (history.empty())
        return;
    const ClaimRow& last = newestTraining(history);
    addRow(kept.parts > 1 ? tr("Newest attempt") : tr("Attempt"),
        tr("%1, claim %2").arg(last.attempt.value).arg(countText(last.claimId)));
}

/// What all parts that are kept gave together, or of which parts it is. @param shown  null: of an epoch that is not
/// shown
void InspectorDock::showTrained(const ChunkCell* shown, const KeptTrainings& kept, std::int64_t samples)
{
    addRow(tr("Trained"), tr("%1 to %2").arg(wallTimeText(kept.beganNs), wallTimeText(kept.endedNs)));
    addRow(tr("Samples"), countText(samples));
    const auto ofParts = [&kept](const QString& value) {
        return kept.isCounted ? value : tr("%1, without a part that was cut off").arg(value);
    };
    if (kept.isCounted || kept.tokens > 0)
        addRow(tr("Tokens learnt from"), ofParts(countText(kept.tokens)),
            tr("Tokens with nothing before them are read and not predicted, so there are fewer of these than the text has."));
    if (kept.tokens > 0) {
        const QString loss = ofParts(fixedText(kept.lossSum / static_cast<double>(kept.tokens), 3));
        addRow(tr("Mean loss"),
            shown == nullptr ? loss // of another epoch than the one that is shown
                             : tr("%1, median of %2 %3")
                                   .arg(loss, epochName(bench_.cells().epoch()).toLower(),
                                       fixedText(medianLoss(bench_.cells().cells()), 3)));
    }
    if (kept.peakGradientNorm > 0)
        addRow(tr("Gradient norm, peak"), ofParts(fixedText(kept.peakGradientNorm, 2)));
    if (kept.checkpoint != 0)
        addRow(tr("Checkpoint"), countText(kept.checkpoint));
}

namespace {

/// Parts one after the other, over the steps of the chunk: each has steps of its own worker.
ChartData joinedParts(const TelemetrySnapshot& snapshot, const std::vector<TelemetrySnapshot::Interval>& parts)
{
    ChartData joined;
    joined.axis = XAxis::WorkerStep;
    double step = 0;
    for (const auto& [at, begin, end] : parts) {
        const Stretch& stretch = snapshot.stretches[at];
        std::vector<double> x;
        std::vector<float> y;
        for (std::size_t i = begin; i < end; ++i) {
            x.push_back(++step);
            y.push_back(stretch.loss.values[i]);
        }
        joined.lines.push_back({ makeCurve(x, y), nullptr, stretch.worker });
    }
    std::stable_sort(joined.lines.begin(), joined.lines.end(),
        [](const ChartLine& a, const ChartLine& b) { return a.worker < b.worker; });
    return joined;
}

} // namespace

// Every step of what is kept of the chunk, or of its newest training.
void InspectorDock::showLossInside(ChunkId chunk, const std::vector<ClaimRow>& history)
{
    const SnapshotPtr& snapshot = bench_.watcher().telemetry();
    const auto parts = snapshot ? keptSteps(*snapshot, chunk, history) : std::vector<TelemetrySnapshot::Interval> {};
    inside_->setVisible(!parts.empty());
    if (parts.empty())
        return;
    std::size_t count = 0;
    for (const TelemetrySnapshot::Interval& part : parts)
        count += part.end - part.begin;
    const QString steps = tr("%n step(s)", nullptr, static_cast<int>(count));
    const auto partCount = static_cast<std::int64_t>(parts.size());
    inside_->setTitle(
        tr("Loss inside the chunk"), partCount == 1 ? steps : tr("%1, in %2 parts").arg(steps, countText(partCount)));
    inside_->setCompact({});
    ChartLink::Range range { 0.5, static_cast<double>(count) + 0.5 };
    if (partCount == 1) {
        const auto& [stretch, begin, end] = parts.front();
        ChartData shown;
        shown.axis = XAxis::WorkerStep;
        shown.lines.push_back(
            { snapshot->curve(stretch, Metric::Loss, shown.axis), nullptr, snapshot->stretches[stretch].worker });
        range = { snapshot->xAt(stretch, begin, shown.axis) - 0.5, snapshot->xAt(stretch, end - 1, shown.axis) + 0.5 };
        inside_->setData(std::move(shown));
    } else {
        inside_->setData(joinedParts(*snapshot, parts));
    }
    link_.setRange(range, false);
    for (const EventPoint& event : snapshot->events ? *snapshot->events : std::vector<EventPoint> {}) {
        if (event.record.chunk == chunk.value && event.record.kind == EventRecord::Kind::Spike)
            mark_->show();
    }
}

void InspectorDock::showManyChunks()
{
    const std::vector<SelectedChunk>& selected = bench_.selection().selection().chunks;
    std::vector<ChunkCell> cells;
    double sum = 0;
    std::int64_t trained = 0; ///< tokens
    for (const SelectedChunk& chunk : selected) {
        const ChunkCell* cell = bench_.cells().find(chunk.id);
        if (cell == nullptr)
            continue;
        cells.push_back(*cell);
        if (std::isfinite(cell->meanLoss) && cell->tokens > 0) {
            sum += cell->meanLoss * static_cast<double>(cell->tokens);
            trained += cell->tokens;
        }
    }
    title_->setText(tr("%n chunk(s) selected", nullptr, static_cast<int>(selected.size())));
    if (trained > 0)
        addRow(tr("Mean loss"), fixedText(sum / static_cast<double>(trained), 3));
    const bool first = chunks_.rowCount() == 0;
    chunks_.reset(std::move(cells));
    if (first)
        chunkTable_->resizeColumnsToContents();
}

} // namespace furrow
