#pragma once

#include <QRectF>
#include <vector>

namespace furrow {

/// Keeps marks at the upper (or lower) edge of a chart apart: one that would cover an earlier one moves inwards.
class EdgeRoom {
public:
    explicit EdgeRoom(bool isTop)
        : isTop_(isTop)
    {
    }

    /// Where a mark goes that would like to be at `wanted`; the place is taken then.
    QRectF take(QRectF wanted)
    {
        for (std::size_t i = 0; i < taken_.size(); ++i) {
            if (!taken_[i].intersects(wanted))
                continue;
            if (isTop_)
                wanted.moveTop(taken_[i].bottom() + 1);
            else
                wanted.moveBottom(taken_[i].top() - 1);
            i = static_cast<std::size_t>(-1); // those before it may be in the way now
        }
        taken_.push_back(wanted);
        return wanted;
    }

private:
    bool isTop_;
    std::vector<QRectF> taken_;
};

} // namespace furrow
