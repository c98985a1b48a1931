#include "ui/charts/bar_raster.h"

#include <algorithm>
#include <cmath>

namespace furrow {
namespace {

/// A premultiplied colour over a premultiplied pixel; a transparent one leaves it exactly as it is.
QRgb over(QRgb color, QRgb pixel)
{
    const std::uint32_t keep = 255 - qAlpha(color);
    std::uint32_t even = (pixel & 0xff00ffu) * keep;
    std::uint32_t odd = (pixel >> 8 & 0xff00ffu) * keep;
    even = (even + (even >> 8 & 0xff00ffu) + 0x800080u) >> 8 & 0xff00ffu;
    odd = (odd + (odd >> 8 & 0xff00ffu) + 0x800080u) & 0xff00ff00u;
    return color + (even | odd);
}

} // namespace

void BarRaster::clear(const QRect& area)
{
    area_ = area;
    columns_.resize(static_cast<std::size_t>(std::max(0, area.width())));
    rows_.resize(static_cast<std::size_t>(std::max(0, area.height())) + 1);
    for (auto& column : columns_)
        column.clear();
}

void BarRaster::add(std::size_t x, double top, double bottom, QRgb premultiplied)
{
    const int from = std::max(0, static_cast<int>(std::floor(top)) - area_.top());
    const int to = std::min(area_.height() - 1, static_cast<int>(std::floor(bottom)) - area_.top());
    if (x < columns_.size() && from <= to)
        columns_[x].push_back({ from, to, premultiplied });
}

void BarRaster::addChanges(int x, const std::vector<Bar>& bars)
{
    cuts_.clear();
    for (const Bar& bar : bars) {
        cuts_.push_back(bar.top);
        cuts_.push_back(bar.bottom + 1);
    }
    std::sort(cuts_.begin(), cuts_.end());
    cuts_.erase(std::unique(cuts_.begin(), cuts_.end()), cuts_.end());
    for (const int y : cuts_) {
        QRgb color = 0;
        for (const Bar& bar : bars) {
            if (bar.top <= y && y <= bar.bottom)
                color = over(bar.color, color);
        }
        rows_[static_cast<std::size_t>(y)].push_back({ x, color });
    }
}

void BarRaster::paintOn(QImage& picture)
{
    for (auto& row : rows_)
        row.clear();
    for (std::size_t x = 0; x < columns_.size(); ++x)
        addChanges(static_cast<int>(x), columns_[x]);
    std::vector<QRgb> colors(columns_.size(), 0);
    std::ptrdiff_t colored = 0; // columns that have a bar in this row
    for (int y = 0; y < area_.height(); ++y) {
        for (const Change& change : rows_[static_cast<std::size_t>(y)]) {
            QRgb& color = colors[static_cast<std::size_t>(change.x)];
            colored += (change.color != 0) - (color != 0);
            color = change.color;
        }
        if (colored == 0)
            continue;
        auto* pixels = reinterpret_cast<QRgb*>(picture.scanLine(area_.top() + y)) + area_.left();
        for (std::size_t x = 0; x < colors.size(); ++x) {
            if (colors[x] != 0)
                pixels[x] = over(colors[x], pixels[x]);
        }
    }
}

} // namespace furrow
