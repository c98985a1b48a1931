#include "ui/charts/overview_strip.h"

#include "ui/theme/theme.h"

#include <QEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <algorithm>
#include <cmath>

namespace furrow {
namespace {

constexpr double kLeft = 54;
constexpr double kGrip = 6;

} // namespace

OverviewStrip::OverviewStrip(ChartLink& link, QWidget* parent)
    : QWidget(parent)
    , link_(link)
{
    setFixedHeight(34);
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    setAccessibleName(tr("Visible range"));
    connect(&link_, &ChartLink::rangeChanged, this, qOverload<>(&QWidget::update));
    connect(&link_, &ChartLink::extentChanged, this, [this] {
        curve_ = QPixmap();
        update();
    });
}

void OverviewStrip::setData(const ChartData& shown)
{
    data_ = shown;
    curve_ = QPixmap();
    update();
}

QRectF OverviewStrip::area() const { return { kLeft, 3, std::max(1.0, width() - kLeft - 12), height() - 6.0 }; }

double OverviewStrip::xOf(double value) const
{
    const auto all = link_.extent().value_or(ChartLink::Range { 0, 1 });
    return area().left() + (value - all.begin) / (all.end - all.begin) * area().width();
}

double OverviewStrip::valueAt(double pixel) const
{
    const auto all = link_.extent().value_or(ChartLink::Range { 0, 1 });
    return all.begin + (pixel - area().left()) / area().width() * (all.end - all.begin);
}

ChartLink::Range OverviewStrip::shown() const
{
    return link_.range().value_or(link_.extent().value_or(ChartLink::Range { 0, 1 }));
}

void OverviewStrip::drawCurve()
{
    const double ratio = devicePixelRatioF();
    curve_ = QPixmap(size() * ratio);
    curve_.setDevicePixelRatio(ratio);
    curve_.fill(theme().color(Token::Inset));
    const int columns = static_cast<int>(area().width());
    std::vector<double> grid;
    for (int c = 0; c <= columns; ++c)
        grid.push_back(valueAt(area().left() + c));
    std::vector<WeightedBin> all(static_cast<std::size_t>(columns)), own;
    for (const ChartLine& line : data_.lines) {
        own.assign(own.size(), WeightedBin());
        addToBins(own, grid, *line.curve, line.weights.get(), line.supersededFrom);
        for (std::size_t b = 0; b < own.size(); ++b) {
            all[b].x = own[b].x;
            all[b].sum += own[b].sum;
            all[b].weight += own[b].weight;
        }
    }
    const auto points = smooth(all, { SmoothingKind::None, 0 }, unknownSpans(data_, data_.lines));
    if (points.size() < 2)
        return;
    double low = points.front().y;
    double high = low;
    for (const SmoothPoint& point : points) { // not a number is less than none
        low = std::min(low, point.y);
        high = std::max(high, point.y);
    }
    QPainter p(&curve_);
    p.setRenderHint(QPainter::Antialiasing);
    p.setPen(QPen(theme().color(Token::Text3), 1));
    QPolygonF curve;
    for (const SmoothPoint& point : points) {
        if (std::isnan(point.y)) {
            p.drawPolyline(curve);
            curve.clear();
            continue;
        }
        const double share = high > low ? (point.y - low) / (high - low) : 0.5;
        curve << QPointF(xOf(point.x), area().bottom() - 3 - share * (area().height() - 6));
    }
    p.drawPolyline(curve);
}

void OverviewStrip::paintEvent(QPaintEvent*)
{
    const Theme& t = theme();
    if (curve_.isNull())
        drawCurve();
    QPainter p(this);
    p.drawPixmap(0, 0, curve_);
    p.setFont(t.font(FontRole::Axis));
    p.setPen(t.color(Token::Text3));
    const auto all = link_.extent();
    if (!all)
        return;
    p.drawText(QRectF(0, 0, kLeft - 8, height()), Qt::AlignVCenter | Qt::AlignRight,
        lonelyAxisText(data_.axis, all->begin, all->end - all->begin));
    for (const ChartSeam& seam : data_.seams)
        p.fillRect(QRectF(std::round(xOf(seam.x)), area().top(), 1, area().height()), t.color(Token::Interrupted));
    const auto range = shown();
    const double left = std::clamp(xOf(range.begin), area().left(), area().right());
    const double right = std::clamp(xOf(range.end), area().left(), area().right());
    const QRectF window(left, area().top(), std::max(2.0, right - left), area().height());
    p.fillRect(window, t.color(Token::Accent, 0.16));
    p.setPen(QPen(t.color(Token::Accent), 1));
    p.setBrush(Qt::NoBrush);
    p.drawRect(window.adjusted(0.5, 0.5, -0.5, -0.5));
    for (const double x : { window.left(), window.right() })
        p.fillRect(QRectF(x - 2, window.center().y() - 6, 4, 12), t.color(Token::Accent));
    if (hasFocus()) {
        p.drawRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5));
    }
}

void OverviewStrip::resizeEvent(QResizeEvent*) { curve_ = QPixmap(); }

void OverviewStrip::changeEvent(QEvent* event)
{
    if (event->type() == QEvent::PaletteChange)
        curve_ = QPixmap();
    QWidget::changeEvent(event);
}

void OverviewStrip::mousePressEvent(QMouseEvent* event)
{
    const double x = event->position().x();
    dragRange_ = shown();
    dragFrom_ = valueAt(x);
    const double left = xOf(dragRange_.begin);
    const double right = xOf(dragRange_.end);
    if (std::abs(x - left) <= kGrip)
        drag_ = Drag::Left;
    else if (std::abs(x - right) <= kGrip)
        drag_ = Drag::Right;
    else if (x > left && x < right)
        drag_ = Drag::Move;
    else {
        const double half = (dragRange_.end - dragRange_.begin) / 2;
        link_.setRange(ChartLink::Range { dragFrom_ - half, dragFrom_ + half });
    }
}

void OverviewStrip::mouseMoveEvent(QMouseEvent* event)
{
    const double x = event->position().x();
    if (drag_ == Drag::None) {
        const auto range = shown();
        const bool grip = std::abs(x - xOf(range.begin)) <= kGrip || std::abs(x - xOf(range.end)) <= kGrip;
        setCursor(grip ? Qt::SizeHorCursor : Qt::ArrowCursor);
        return;
    }
    const double shift = valueAt(x) - dragFrom_;
    auto range = dragRange_;
    if (drag_ != Drag::Right)
        range.begin += shift;
    if (drag_ != Drag::Left)
        range.end += shift;
    link_.setRange(range, false);
}

void OverviewStrip::mouseReleaseEvent(QMouseEvent*) { drag_ = Drag::None; }

void OverviewStrip::mouseDoubleClickEvent(QMouseEvent*) { link_.setRange(std::nullopt); }

void OverviewStrip::keyPressEvent(QKeyEvent* event)
{
    auto range = shown();
    const double step = (range.end - range.begin) / 10;
    const double sign = event->key() == Qt::Key_Left ? -1 : event->key() == Qt::Key_Right ? 1 : 0;
    if (sign == 0)
        return QWidget::keyPressEvent(event);
    link_.setRange(ChartLink::Range { range.begin + sign * step, range.end + sign * step }, false);
}

} // namespace furrow
