#pragma once

#include <QImage>
#include <QRect>
#include <vector>

namespace furrow {

/// Upright bars of several curves, each one device pixel wide, blended onto a picture in one pass from top to bottom: a
/// pixel is written once, however many bars lie on it.
class BarRaster {
public:
    /// Forgets all bars; `area` is where they may be, in device pixels.
    void clear(const QRect& area);
    /// A bar in column x, counted from the left of the area, from y = top to bottom [device px of the picture]. Later
    /// bars lie on earlier ones.
    void add(std::size_t x, double top, double bottom, QRgb premultiplied);
    /// Blends the bars. The picture is opaque or premultiplied, 32 bits a pixel, and holds the area.
    void paintOn(QImage& picture);

private:
    struct Bar {
        int top;
        int bottom;
        QRgb color;
    };
    /// From this row on, column x has another colour.
    struct Change {
        int x;
        QRgb color;
    };
    void addChanges(int x, const std::vector<Bar>& bars);

    QRect area_;
    std::vector<std::vector<Bar>> columns_;
    std::vector<std::vector<Change>> rows_;
    std::vector<int> cuts_; ///< of the column at hand
};

} // namespace furrow
