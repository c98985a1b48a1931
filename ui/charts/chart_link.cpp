#include "ui/charts/chart_link.h"

#include <algorithm>
#include <cmath>

namespace furrow {
namespace {

constexpr int kFrameMs = 33;
constexpr std::size_t kHistory = 100;

} // namespace

ChartLink::ChartLink(QObject* parent)
    : QObject(parent)
    , cursor_(NAN)
{
    timer_.setSingleShot(true);
    timer_.setInterval(kFrameMs);
    connect(&timer_, &QTimer::timeout, this, &ChartLink::frame);
}

void ChartLink::setRange(std::optional<Range> range, bool remember)
{
    if (range == range_ || (range && !(range->end > range->begin)))
        return;
    if (remember) {
        history_.push_back(range_);
        if (history_.size() > kHistory)
            history_.erase(history_.begin());
    }
    const bool wasLive = !range_;
    range_ = range;
    Q_EMIT rangeChanged();
    if (wasLive != !range_)
        Q_EMIT followingChanged(!range_);
    requestFrame();
}

void ChartLink::zoomBack()
{
    if (history_.empty())
        return;
    const auto before = history_.back();
    history_.pop_back();
    setRange(before, false);
}

void ChartLink::addExtent(QObject* chart, std::optional<Range> extent)
{
    const auto before = this->extent();
    const auto known
        = std::find_if(extents_.begin(), extents_.end(), [chart](const auto& e) { return e.first == chart; });
    if (known != extents_.end())
        extents_.erase(known);
    if (extent)
        extents_.push_back({ chart, *extent });
    if (this->extent() != before)
        Q_EMIT extentChanged();
}

std::optional<ChartLink::Range> ChartLink::extent() const
{
    std::optional<Range> all;
    for (const auto& [chart, extent] : extents_)
        all = all ? Range { std::min(all->begin, extent.begin), std::max(all->end, extent.end) } : extent;
    return all;
}

void ChartLink::setCursor(double x)
{
    if (x == cursor_ || (std::isnan(x) && std::isnan(cursor_)))
        return;
    cursor_ = x;
    Q_EMIT cursorChanged(x);
}

void ChartLink::requestFrame()
{
    if (!timer_.isActive())
        timer_.start();
}

} // namespace furrow
