#include "ui/pages/epoch_head.h"

#include "ui/models/run_words.h"
#include "ui/models/words.h"
#include "ui/parts/page_parts.h"
#include "ui/widgets/state_glyph.h"

#include <QDateTime>
#include <QHBoxLayout>
#include <QPushButton>
#include <algorithm>
#include <optional>

namespace furrow {

namespace {

constexpr std::size_t kPaceClaims = 40; // finished chunks that an estimate looks back at
constexpr std::size_t kLeastPaceClaims = 8;

/// Seconds between two finished chunks, of the newest ones; and of their slower and faster half.
struct Pace {
    double seconds = 0;
    double steps = 0; ///< of one of them
    double tokens = 0;
    double fast = 0;
    double slow = 0;
};

std::optional<Pace> chunkPace(
    const std::vector<ClaimRow>& claims, const std::vector<ActiveStretch>& active, std::int64_t nowNs)
{
    std::vector<std::int64_t> ends;
    std::int64_t steps = 0;
    std::int64_t tokens = 0;
    std::optional<AttemptId> attempt;
    for (auto claim = claims.rbegin(); claim != claims.rend() && ends.size() < kPaceClaims; ++claim) {
        if (claim->claimedWallNs > nowNs)
            continue; // of what came behind the moment that is replayed
        if (claim->attempt != attempt.value_or(claim->attempt))
            break; // the time between two attempts says nothing about the pace
        attempt = claim->attempt;
        if (claim->endedWallNs != 0 && claim->endedWallNs <= nowNs
            && (claim->outcome == ClaimEnd::Trained || claim->outcome == ClaimEnd::Committed)) {
            ends.push_back(claim->endedWallNs);
            steps += claim->lastStep - claim->firstStep + 1;
            tokens += claim->tokens;
        }
    }
    if (ends.size() < kLeastPaceClaims)
        return std::nullopt;
    std::sort(ends.begin(), ends.end());
    const std::size_t half = ends.size() / 2;
    const auto mean = [&](std::size_t begin, std::size_t end) {
        const std::int64_t trained = ends[end] - ends[begin] - idleNs(active, ends[begin], ends[end]);
        return static_cast<double>(trained) * 1e-9 / static_cast<double>(end - begin);
    };
    const double first = mean(0, half);
    const double second = mean(half, ends.size() - 1);
    const auto chunks = static_cast<double>(ends.size());
    return Pace { mean(0, ends.size() - 1), static_cast<double>(steps) / chunks, static_cast<double>(tokens) / chunks,
        std::min(first, second), std::max(first, second) };
}

/// A rule of steps, tokens or hours ends the run before as many chunks as that are trained.
bool endsSooner(const RunStatus& status, const Pace& pace, double chunks)
{
    constexpr double kSecondsPerHour = 3600;
    const StoppingRules& rules = status.rules;
    return (rules.steps > 0 && static_cast<double>(rules.steps - status.steps) < chunks * pace.steps)
        || (rules.tokens > 0 && static_cast<double>(rules.tokens - status.tokens) < chunks * pace.tokens)
        || (rules.hours > 0 && rules.hours * kSecondsPerHour - status.activeSeconds < chunks * pace.seconds);
}

QString clockText(std::int64_t nowNs, double secondsFromNow)
{
    const QDateTime when
        = QDateTime::fromMSecsSinceEpoch(nowNs / 1'000'000).addSecs(static_cast<qint64>(secondsFromNow));
    return when.date() == QDate::currentDate()
        ? when.toString(QStringLiteral("HH:mm"))
        : wallTimeText(when.toMSecsSinceEpoch() * 1'000'000); // an estimate has no seconds
}

QString endEstimate(const RunStatus& status, const std::vector<ClaimRow>& claims,
    const std::vector<ActiveStretch>& active, std::int64_t nowNs)
{
    const auto shown = shownEpochs(status);
    if (status.state != RunState::Running || status.hindrance || !shown || !shown->together.blockCount)
        return {};
    const bool stopsWithABlock = status.rules.blocks > 0 && !isAboutToEnd(status).empty();
    const bool stopsWithAnEarlierEpoch = status.rules.epochs > 0 && status.rules.epochs <= shown->last;
    if (stopsWithABlock || stopsWithAnEarlierEpoch)
        return {}; // the epochs that are shown do not end then
    const ChunkCounts& chunks = shown->together.chunks;
    const std::int64_t left = chunks[ChunkState::Pending] + chunks[ChunkState::Free] + chunks[ChunkState::Leased];
    const std::optional<Pace> pace = chunkPace(claims, active, nowNs);
    if (!pace || left == 0)
        return {};
    const auto n = static_cast<double>(left);
    if (endsSooner(status, *pace, n))
        return {};
    const std::int64_t epochs = shown->count();
    const QString about = clockText(nowNs, n * pace->seconds);
    const QString from = clockText(nowNs, n * pace->fast);
    const QString to = clockText(nowNs, n * pace->slow);
    if (from == to)
        return (epochs == 1   ? EpochHead::tr("Epoch ends about %1")
                : epochs == 2 ? EpochHead::tr("Both epochs end about %1")
                              : EpochHead::tr("All epochs end about %1"))
            .arg(about);
    return (epochs == 1   ? EpochHead::tr("Epoch ends about %1, likely between %2 and %3")
            : epochs == 2 ? EpochHead::tr("Both epochs end about %1, likely between %2 and %3")
                          : EpochHead::tr("All epochs end about %1, likely between %2 and %3"))
        .arg(about, from, to);
}

} // namespace

EpochHead::EpochHead(QWidget* parent)
    : QWidget(parent)
    , mark_(new StateGlyph(this, 18))
    , title_(makeLabel({}, TextTone::Value, TextSize::Title, true))
    , truth_(new ElidedLabel(TextTone::Secondary, TextSize::Small))
    , why_(makeButton(tr("Why?")))
    , ends_(new ElidedLabel(TextTone::Secondary, TextSize::Small))
{
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(8);
    row->addWidget(mark_);
    row->addWidget(title_);
    truth_->setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Preferred); // the link stands behind its last word
    row->addWidget(truth_);
    why_->setFlat(true);
    why_->setProperty("link", true);
    connect(why_, &QPushButton::clicked, this, &EpochHead::whyWanted);
    row->addWidget(why_);
    row->addStretch();
    ends_->setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Preferred);
    row->addWidget(ends_);
}

void EpochHead::clear()
{
    title_->setText(tr("Reading the run…"));
    truth_->clear();
    ends_->clear();
}

void EpochHead::setUnreadable()
{
    clear();
    mark_->setGlyph(glyphOf(RunState::Unknown));
    title_->setText(tr("Nothing is known of this run"));
}

void EpochHead::setStatus(const RunStatus& status, const std::vector<ClaimRow>& claims,
    std::optional<std::int64_t> moment, const std::vector<ActiveStretch>& active)
{
    mark_->setGlyph(glyphOf(status.state));
    const auto shown = shownEpochs(status);
    const QString epoch = shown ? epochsName(*shown) : QString();
    title_->setText(epoch.isEmpty() ? stateWord(status) : tr("%1, %2").arg(epoch, stateWord(status).toLower()));
    const QString evidence = evidenceText(status, QStringLiteral(" "));
    const QString reason = status.state == RunState::Interrupted
        ? QString()
        : endReasonSentence(status.stopReason, status.stopDetail); // the state says that already
    truth_->setText(
        reason.isEmpty() || evidence.contains(reason) ? evidence : tr("Ended because %1. %2").arg(reason, evidence));
    truth_->setToolTip(evidenceText(status, QStringLiteral("\n")));
    ends_->setText(endEstimate(status, claims, active, moment.value_or(nowOfRun(status))));
    ends_->setMinimumWidth(
        std::min(ends_->sizeHint().width(), width() / 3)); // the evidence gives way first: its whole is behind the link
    ends_->setToolTip(ends_->text());
}

} // namespace furrow
