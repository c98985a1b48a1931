#include "ui/pages/epoch_meters.h"

#include "ui/models/core_words.h"
#include "ui/models/words.h"
#include "ui/parts/page_parts.h"
#include "ui/widgets/meters.h"

#include <QVBoxLayout>
#include <algorithm>

namespace furrow {

namespace {

constexpr int kLeastLabelWidth = 128;
constexpr int kAfterLabel = 8;

void fill(Meter& meter, std::int64_t done, std::optional<std::int64_t> total, std::vector<MeterPart> parts)
{
    const bool known = total.has_value() && *total > 0;
    meter.setParts(known ? std::move(parts) : std::vector<MeterPart> {},
        known ? std::optional(static_cast<double>(*total)) : std::nullopt);
    meter.setNumbers(countText(done), known ? countText(*total) : QString(),
        known ? percentText(static_cast<double>(done) / static_cast<double>(*total)) : QString());
}

} // namespace

EpochMeters::EpochMeters(QWidget* parent)
    : QWidget(parent)
    , blocks_(new Meter(tr("Blocks visited"), this))
    , chunks_(new Meter(tr("Chunks committed"), this))
    , samples_(new Meter(tr("Samples committed"), this))
    , steps_(new Meter(tr("Optimiser steps"), this))
    , legend_(new MeterLegend(this))
    , poisoned_(new ElidedLabel(TextTone::Error, TextSize::Small))
{
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    int widest = kLeastLabelWidth; // in some languages the words ran into the bars
    for (const Meter* meter : { blocks_, chunks_, samples_, steps_ })
        widest = std::max(widest, meter->wordsWidth() + kAfterLabel);
    for (Meter* meter : { blocks_, chunks_, samples_, steps_ }) {
        meter->setLabelWidth(widest);
        column->addWidget(meter);
    }
    column->addSpacing(4);
    auto* words = new QHBoxLayout;
    words->setSpacing(0); // an entry brings its own
    words->addWidget(legend_);
    poisoned_->setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Preferred);
    words->addWidget(poisoned_);
    words->addStretch();
    column->addLayout(words);
}

void EpochMeters::clear()
{
    for (Meter* meter : { blocks_, chunks_, samples_, steps_ }) {
        meter->setParts({}, std::nullopt);
        meter->setNumbers(QStringLiteral("–"), {}, {});
    }
    legend_->setEntries({});
    poisoned_->clear();
}

void EpochMeters::setStatus(const RunStatus& status, std::int64_t untrained)
{
    const auto shown = shownEpochs(status);
    if (!shown) {
        clear();
        return;
    }
    const EpochRow& epoch = shown->together; // where two are open, of both
    for (Meter* meter : { blocks_, chunks_, samples_, steps_ })
        meter->setTotalToCome(status.state != RunState::Finished); // nothing more is found out about it
    fill(*blocks_, epoch.visitedBlocks, epoch.blockCount,
        { { static_cast<double>(epoch.visitedBlocks), MeterFill::Visited } });
    epochs_ = shown->count();
    untrained_ = untrained;
    leavesFilesOut_ = !status.leftOut.empty();
    showChunks(epoch);
    showLegend(epoch, inWords(sumOf(status.lostCauses, *shown)));
    // Samples are only known of prepared blocks: before the last one is, there is no honest total.
    const bool allPrepared = epoch.blockCount && epoch.preparedBlocks >= *epoch.blockCount;
    const std::int64_t samples = epoch.samplesTrained();
    fill(*samples_, samples,
        allPrepared ? std::optional(epoch.rowsKnown.samples - epoch.samplesExcluded - epoch.samplesAccepted
                          - epoch.toParent.samples)
                    : std::nullopt,
        { { static_cast<double>(samples), MeterFill::Steps },
            { static_cast<double>(samplesLeftOut(epoch.rowsCommitted)), MeterFill::Excluded } });
    std::optional<std::int64_t> wanted;
    if (status.rules.steps > 0)
        wanted = status.rules.steps;
    else
        steps_->setTotalToCome(false); // who ends with an epoch, or by hand, sets none
    fill(*steps_, status.steps, wanted, { { static_cast<double>(status.steps), MeterFill::Steps } });
}

void EpochMeters::showChunks(const EpochRow& epoch)
{
    const ChunkCounts chunks = countedOnce(epoch);
    const auto part = [&chunks](ChunkState state, MeterFill fill) {
        return MeterPart { static_cast<double>(chunks[state]), fill };
    };
    const std::int64_t wanted = epoch.chunks.sum() - chunks[ChunkState::Excluded]; // as `furrowctl status` counts
    fill(*chunks_, chunks[ChunkState::Committed], epoch.blockCount ? std::optional(wanted) : std::nullopt,
        { part(ChunkState::Committed, MeterFill::Committed), part(ChunkState::Trained, MeterFill::TrainedStripes),
            part(ChunkState::Leased, MeterFill::Leased) });
}

void EpochMeters::showLegend(const EpochRow& epoch, const std::vector<Message>& lostCauses)
{
    const ChunkCounts chunks = countedOnce(epoch);
    const LostChunks& lost = epoch.lost;
    std::vector<MeterLegend::Entry> entries { { tr("committed %1").arg(countText(chunks[ChunkState::Committed])),
                                                  MeterFill::Committed },
        { tr("trained, not in a checkpoint yet %1").arg(countText(chunks[ChunkState::Trained])),
            MeterFill::TrainedStripes },
        { tr("leased %1").arg(countText(chunks[ChunkState::Leased])), MeterFill::Leased },
        { tr("free %1").arg(countText(chunks[ChunkState::Free])), MeterFill::Free } };
    if (untrained_ > 0)
        entries.insert(entries.begin() + 1,
            MeterLegend::Entry {
                tr("of these left out, their steps were not finite %1").arg(countText(untrained_)), std::nullopt });
    if (const auto pending = chunks[ChunkState::Pending]; pending > 0)
        entries.push_back({ tr("not prepared %1").arg(countText(pending)), std::nullopt });
    if (const auto partly = epoch.partly.sum(); partly > 0)
        entries.push_back({ tr("partly trained %1").arg(countText(partly)), std::nullopt });
    if (lost.sum() > 0) {
        entries.push_back({ tr("work lost %1").arg(countText(lost.sum())), std::nullopt });
        for (const QString& cause : coreWords(lostCauses))
            entries.push_back({ tr("of these %1").arg(cause), std::nullopt });
        if (const auto kept = lost.kept.chunks; kept > 0)
            entries.push_back({ tr("of these kept in part %1").arg(countText(kept)), std::nullopt });
    }
    if (lost.released > 0)
        entries.push_back({ tr("claimed by workers that are gone %1").arg(countText(lost.released)), std::nullopt });
    if (epoch.excludedByName() > 0)
        entries.push_back({ tr("excluded %1").arg(countText(epoch.excludedByName())), MeterFill::Excluded });
    if (epoch.toParent.chunks > 0)
        entries.push_back({ tr("trained by the parent run %1").arg(countText(epoch.toParent.chunks)), std::nullopt });
    if (chunks[ChunkState::Poisoned] > 0)
        entries.push_back({ tr("poisoned %1").arg(countText(chunks[ChunkState::Poisoned])), std::nullopt });
    if (chunks[ChunkState::Accepted] > 0)
        entries.push_back({ tr("poisoned, accepted %1").arg(countText(chunks[ChunkState::Accepted])), std::nullopt });
    if (const auto partly = epoch.partlyLeftOut.chunks; partly > 0)
        entries.push_back({ tr("of those left out, trained in part before %1").arg(countText(partly)), std::nullopt });
    const RowCounts& rows = epoch.rowsKnown;
    const auto addRows = [&](std::int64_t count, const QString& what) {
        if (count > 0) // each epoch counts a row of the data once
            entries.push_back(
                { epochs_ > 1 ? tr("%1 in %2 epochs").arg(what, countText(epochs_)) : what, std::nullopt });
    };
    addRows(rows.failed, tr("rows unreadable %1").arg(countText(rows.failed)));
    addRows(rows.filtered,
        (leavesFilesOut_ ? tr("rows filtered or left out with their file %1") : tr("rows filtered %1"))
            .arg(countText(rows.filtered)));
    addRows(rows.duplicates, tr("samples left out as repeats %1").arg(countText(rows.duplicates)));
    const std::int64_t leftOut = samplesLeftOut(epoch.rowsCommitted);
    addRows(leftOut, tr("samples left out, their steps were not finite %1").arg(countText(leftOut)));
    legend_->setEntries(std::move(entries));
    const std::int64_t bad = chunks[ChunkState::Poisoned];
    poisoned_->setText(
        bad > 0 ? tr("poisoned %1, accept or retry before the epoch can end").arg(countText(bad)) : QString());
    poisoned_->setToolTip(poisoned_->text());
}

} // namespace furrow
