#include "ui/widgets/lane_view.h"

#include "ui/theme/theme.h"
#include "ui/widgets/plain_text.h"
#include "ui/widgets/worker_mark.h"

#include <QDateTime>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace furrow {
namespace {

constexpr double kHead = 178; // names at the left
constexpr double kScale = 20; // times above
constexpr double kLane = 44;
constexpr double kLeastEdged = 6; // a claim this wide shows where it begins

QString clockText(double seconds)
{
    return QDateTime::fromMSecsSinceEpoch(static_cast<qint64>(seconds * 1000)).toString(QStringLiteral("HH:mm:ss"));
}

} // namespace

LaneView::LaneView(QWidget* parent)
    : QWidget(parent)
    , lanes_(std::make_shared<std::vector<Lane>>())
{
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(tr("Worker lanes"));
}

void LaneView::setLanes(std::shared_ptr<const std::vector<Lane>> lanes)
{
    lanes_ = std::move(lanes);
    QStringList words { tr("%n lanes", nullptr, static_cast<int>(lanes_->size())) };
    for (const Lane& lane : *lanes_) {
        words.append(QStringLiteral("%1: %2").arg(lane.name, lane.detail));
        for (const LaneDeath& death : lane.deaths)
            if (!death.label.isEmpty())
                words.append(death.label);
    }
    setAccessibleDescription(words.join(QLatin1Char('\n')));
    updateGeometry();
    update();
}

void LaneView::setRange(double begin, double end, bool live)
{
    begin_ = begin;
    end_ = std::max(end, begin + 0.001);
    live_ = live;
    update();
}

void LaneView::setHighlighted(std::int64_t chunk)
{
    highlighted_ = chunk;
    update();
}

QSize LaneView::sizeHint() const
{
    return { 900, static_cast<int>(kScale + kLane * static_cast<double>(std::max<std::size_t>(1, lanes_->size()))) };
}

double LaneView::xOf(double time) const { return kHead + (time - begin_) / (end_ - begin_) * (width() - kHead - 12); }
double LaneView::timeAt(double x) const { return begin_ + (x - kHead) / (width() - kHead - 12) * (end_ - begin_); }
QRectF LaneView::laneArea(std::size_t index) const
{
    return { kHead, kScale + kLane * static_cast<double>(index), width() - kHead, kLane };
}

void LaneView::paintEvent(QPaintEvent*)
{
    const Theme& t = theme();
    QPainter p(this);
    p.fillRect(rect(), t.color(Token::Panel));
    p.fillRect(QRectF(kHead, 0, width() - kHead, height()), t.color(Token::Inset));
    drawScale(p);
    for (std::size_t i = 0; i < lanes_->size(); ++i) {
        const QRectF area = laneArea(i);
        const Lane& lane = (*lanes_)[i];
        p.fillRect(QRectF(0, area.top(), width(), 1), t.color(Token::Line));
        if (hasFocus() && static_cast<int>(i) == keyLane_)
            p.fillRect(QRectF(0, area.top() + 1, 3, area.height() - 1), t.color(Token::Accent));
        drawWorkerMarker(p, { 14, area.top() + 16 }, lane.worker);
        p.setFont(t.font(FontRole::Small, QFont::Medium));
        p.setPen(t.color(Token::Text1));
        p.drawText(QRectF(30, area.top() + 6, kHead - 36, 18), Qt::AlignVCenter, lane.name);
        p.setFont(t.font(FontRole::Axis));
        p.setPen(t.color(Token::Text3));
        p.drawText(QRectF(30, area.top() + 23, kHead - 36, 16), Qt::AlignVCenter,
            QFontMetrics(p.font()).elidedText(lane.detail, Qt::ElideRight, static_cast<int>(kHead) - 36));
        p.save();
        p.setClipRect(area);
        drawLane(p, lane, area.adjusted(0, 6, 0, -6));
        drawDeaths(p, lane, area.adjusted(0, 6, 0, -6));
        p.restore();
    }
    if (live_)
        p.fillRect(QRectF(xOf(end_), kScale - 4, 1, height()), t.color(Token::Accent));
    if (hasFocus()) {
        p.setPen(QPen(t.color(Token::Accent), 1));
        p.setBrush(Qt::NoBrush);
        p.drawRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5));
    }
}

void LaneView::drawScale(QPainter& p) const
{
    const Theme& t = theme();
    static constexpr double kSteps[]
        = { 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21600, 43200, 86400, 604800 };
    const double wanted = (end_ - begin_) / std::max(1.0, (width() - kHead) / 110.0);
    double step = 604800;
    for (const double s : kSteps) {
        if (s >= wanted) {
            step = s;
            break;
        }
    }
    p.setFont(t.font(FontRole::Axis));
    for (double at = std::ceil(begin_ / step) * step; at < end_; at += step) {
        const double x = xOf(at);
        p.fillRect(QRectF(std::floor(x), kScale, 1, height()), t.color(Token::Line, 0.45));
        const QString text = clockText(at);
        const double wide = tabularWidth(p.font(), text);
        const double left = std::max(kHead, x - wide / 2);
        if (left + wide > width() - 44)
            continue;
        p.setPen(t.color(Token::Text3));
        drawTabular(p, QRectF(left, 0, wide, kScale), Qt::AlignLeft, text);
    }
    p.setPen(t.color(Token::Text3));
    p.drawText(QRectF(width() - 60, 0, 52, kScale), Qt::AlignVCenter | Qt::AlignRight, live_ ? tr("now") : QString());
}

void LaneView::drawLane(QPainter& p, const Lane& lane, const QRectF& area) const
{
    const Theme& t = theme();
    p.setFont(t.font(FontRole::Small));
    const auto first = std::partition_point(lane.claims.begin(), lane.claims.end(),
        [this](const LaneClaim& c) { return c.ended != 0 && c.ended < begin_; });
    double lastDrawn = -1;
    std::vector<std::pair<const LaneClaim*, QRectF>> trained;
    for (auto it = first; it != lane.claims.end() && it->claimed < end_; ++it) {
        const double claimed = std::round(xOf(it->claimed));
        const double ended = std::round(it->ended == 0 ? xOf(end_) : xOf(it->ended));
        const double started
            = it->started == 0 ? ended : std::round(xOf(it->started)); // never begun: it waited until it was given back
        if (ended <= lastDrawn && ended - claimed < 1)
            continue; // several in one pixel: one is drawn
        lastDrawn = ended;
        if (started - claimed >= 2 && !it->lost) { // waiting: outline
            p.setPen(QPen(t.color(Token::Line2), 1));
            p.setBrush(Qt::NoBrush);
            p.drawRect(QRectF(claimed + 0.5, area.top() + 0.5, started - claimed - 2, area.height() - 1));
        }
        if (it->started != 0)
            trained.push_back({ &*it, QRectF(started, area.top(), std::max(1.0, ended - started - 1), area.height()) });
    }
    for (const auto& [claim, train] : trained)
        drawTraining(p, lane, *claim, train);
    for (const double commit : lane.commits) {
        if (commit >= begin_ && commit <= end_)
            p.fillRect(
                QRectF(std::round(xOf(commit)) - 1, area.top() - 2, 3, area.height() + 4), t.color(Token::Text1));
    }
    for (const auto& [claim, train] : trained) // above the bars of the commits
        drawLabel(p, lane, *claim, train);
}

void LaneView::drawTraining(QPainter& p, const Lane& lane, const LaneClaim& claim, const QRectF& train) const
{
    const Theme& t = theme();
    if (claim.lost) {
        p.fillRect(train, t.color(Token::InterruptedGround));
        drawHatch(p, train, t.color(Token::Interrupted), 4, 1.2);
        p.setPen(QPen(t.color(Token::Interrupted), 1));
        p.setBrush(Qt::NoBrush);
        p.drawRect(train.adjusted(0.5, 0.5, -0.5, -0.5));
    } else {
        const QColor color = t.workerColor(lane.worker);
        QColor fill = color;
        fill.setAlphaF(0.17f);
        p.fillRect(train, fill);
        p.fillRect(QRectF(train.left(), train.top(), train.width(), 2), color);
        if (train.width() >= kLeastEdged) // narrower ones would be all edge
            p.fillRect(QRectF(train.left(), train.top(), 1, train.height()), color);
    }
    if (claim.chunk == highlighted_ && highlighted_ != 0) {
        p.setPen(QPen(t.color(Token::Accent), 2));
        p.setBrush(Qt::NoBrush);
        p.drawRect(train.adjusted(1, 1, -1, -1));
    }
}

void LaneView::drawLabel(QPainter& p, const Lane& lane, const LaneClaim& claim, const QRectF& train) const
{
    const Theme& t = theme();
    const double wide = QFontMetricsF(p.font()).horizontalAdvance(claim.label);
    const double left = std::max(train.left(), kHead) + 6;
    if (left + wide + 4 > train.right())
        return;
    const QRectF ground(left - 2, train.center().y() - 8, wide + 4, 16);
    const bool isCrossed = std::any_of(lane.commits.begin(), lane.commits.end(), [&](double commit) {
        const double x = std::round(xOf(commit));
        return x + 2 > ground.left() && x - 1 < ground.right();
    });
    if (claim.lost || isCrossed)
        p.fillRect(ground, t.color(claim.lost ? Token::InterruptedGround : Token::Inset));
    p.setPen(t.color(Token::Text1));
    p.drawText(QRectF(left, train.top() + 1, wide + 2, train.height()), Qt::AlignVCenter, claim.label);
}

void LaneView::drawDeaths(QPainter& p, const Lane& lane, const QRectF& area) const
{
    const Theme& t = theme();
    p.setFont(t.font(FontRole::Axis));
    double end = std::numeric_limits<double>::infinity(); // of the room for a tag: the newer death keeps its place
    for (auto it = lane.deaths.rbegin(); it != lane.deaths.rend(); ++it) {
        const LaneDeath& death = *it;
        const double until = death.restarted == 0 ? end_ : death.restarted;
        if (until < begin_ || death.at > end_)
            continue;
        const double x = std::round(xOf(death.at));
        for (double line = std::max(x + 4, kHead); line < xOf(until) - 1; line += 4)
            p.fillRect(QRectF(line, area.top(), 1, area.height()), t.color(Token::Line2));
        if (death.label.isEmpty())
            continue;
        p.fillRect(QRectF(x - 1, area.top() - 3, 2, area.height() + 6), t.color(Token::Error));
        const double wide = QFontMetricsF(p.font()).horizontalAdvance(death.label) + 14;
        double left = std::min(x - 4, end) - wide;
        if (left < kHead && std::isinf(end))
            left = x + 4;
        if (left < kHead)
            continue;
        end = left - 4;
        const QRectF tag(left, area.center().y() - 9, wide, 18);
        p.setPen(QPen(t.color(Token::Error), 1));
        p.setBrush(t.color(Token::ErrorGround));
        p.drawRect(tag.adjusted(0.5, 0.5, -0.5, -0.5));
        p.setPen(t.color(Token::Text1));
        p.drawText(tag, Qt::AlignCenter, death.label);
    }
}

const LaneClaim* LaneView::claimAt(QPointF position, int* worker) const
{
    const auto index = static_cast<std::ptrdiff_t>(std::floor((position.y() - kScale) / kLane));
    if (position.x() < kHead || index < 0 || index >= static_cast<std::ptrdiff_t>(lanes_->size()))
        return nullptr;
    const Lane& lane = (*lanes_)[static_cast<std::size_t>(index)];
    const double time = timeAt(position.x());
    const auto it = std::partition_point(
        lane.claims.begin(), lane.claims.end(), [time](const LaneClaim& c) { return c.ended != 0 && c.ended < time; });
    if (it == lane.claims.end() || it->claimed > time)
        return nullptr;
    *worker = lane.worker;
    return &*it;
}

void LaneView::mousePressEvent(QMouseEvent* event)
{
    dragFrom_ = event->position().x();
    dragBegin_ = begin_;
    dragged_ = false;
}

void LaneView::mouseMoveEvent(QMouseEvent* event)
{
    if (dragFrom_ < 0 || (!dragged_ && std::abs(event->position().x() - dragFrom_) < 4))
        return;
    dragged_ = true;
    const double span = end_ - begin_;
    const double begin = dragBegin_ - (event->position().x() - dragFrom_) / (width() - kHead - 12) * span;
    setRange(begin, begin + span, false);
    Q_EMIT rangeChanged(begin_, end_);
}

void LaneView::mouseReleaseEvent(QMouseEvent* event)
{
    int worker = 0;
    if (!dragged_) {
        if (const LaneClaim* claim = claimAt(event->position(), &worker))
            Q_EMIT chunkClicked(claim->chunk, worker);
    }
    dragFrom_ = -1;
}

void LaneView::wheelEvent(QWheelEvent* event)
{
    const double factor = std::pow(0.85, event->angleDelta().y() / 120.0);
    const double at = timeAt(std::max(kHead, event->position().x()));
    setRange(at - (at - begin_) * factor, at + (end_ - at) * factor, false);
    Q_EMIT rangeChanged(begin_, end_);
    event->accept();
}

// Up and down choose a lane, left and right a chunk in it, plus and minus the scale.
void LaneView::keyPressEvent(QKeyEvent* event)
{
    const auto zoomBy = [this](double factor) {
        const double middle = (begin_ + end_) / 2;
        const double half = (end_ - begin_) / 2 * factor;
        setRange(middle - half, middle + half, false);
        Q_EMIT rangeChanged(begin_, end_);
    };
    switch (event->key()) {
    case Qt::Key_Up: keyLane_ = std::max(0, keyLane_ - 1); break;
    case Qt::Key_Down: keyLane_ = std::min(static_cast<int>(lanes_->size()) - 1, keyLane_ + 1); break;
    case Qt::Key_Left: chooseBeside(-1); break;
    case Qt::Key_Right: chooseBeside(1); break;
    case Qt::Key_Plus: zoomBy(0.7); break;
    case Qt::Key_Minus: zoomBy(1 / 0.7); break;
    default: QWidget::keyPressEvent(event); return;
    }
    update();
}

/// The claim before or after the highlighted one; the newest of the lane when none is.
void LaneView::chooseBeside(int step)
{
    if (keyLane_ < 0 || keyLane_ >= static_cast<int>(lanes_->size())
        || (*lanes_)[static_cast<std::size_t>(keyLane_)].claims.empty())
        return;
    const Lane& lane = (*lanes_)[static_cast<std::size_t>(keyLane_)];
    const auto found = std::find_if(lane.claims.rbegin(), lane.claims.rend(),
        [this](const LaneClaim& claim) { return claim.chunk == highlighted_; });
    const auto last = static_cast<std::ptrdiff_t>(lane.claims.size()) - 1;
    const auto at = found == lane.claims.rend()
        ? last
        : std::clamp<std::ptrdiff_t>(lane.claims.rend() - found - 1 + step, 0, last);
    const LaneClaim& claim = lane.claims[static_cast<std::size_t>(at)];
    highlighted_ = claim.chunk;
    if (const double span = end_ - begin_; claim.claimed < begin_ || claim.claimed > end_) {
        setRange(claim.claimed - span / 2, claim.claimed + span / 2, false);
        Q_EMIT rangeChanged(begin_, end_);
    }
    Q_EMIT chunkClicked(claim.chunk, lane.worker);
}

bool LaneView::event(QEvent* event)
{
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        int worker = 0;
        if (const LaneClaim* claim = claimAt(help->pos(), &worker))
            showTip(help->globalPos(),
                tr("%1, worker %2, from %3").arg(claim->label).arg(worker).arg(clockText(claim->claimed)), this);
        else
            QToolTip::hideText();
        return true;
    }
    return QWidget::event(event);
}

} // namespace furrow
