#include "ui/shell/gui_gap_probe.h"

#include <QAbstractEventDispatcher>
#include <algorithm>

namespace furrow {

GuiGapProbe::GuiGapProbe(QObject* parent)
    : QObject(parent)
{
    QAbstractEventDispatcher* dispatcher = QAbstractEventDispatcher::instance();
    connect(dispatcher, &QAbstractEventDispatcher::awake, this, [this] {
        woke_ = std::chrono::steady_clock::now();
        awake_ = true;
    });
    connect(dispatcher, &QAbstractEventDispatcher::aboutToBlock, this, [this] {
        if (awake_)
            take(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - woke_).count());
        awake_ = false;
    });
}

void GuiGapProbe::clear()
{
    counts_.fill(0);
    longestMs_ = 0;
}

void GuiGapProbe::take(double ms)
{
    longestMs_ = std::max(longestMs_, ms);
    if (ms >= 1)
        ++counts_[std::min(static_cast<std::size_t>(ms), kBuckets - 1)];
}

double GuiGapProbe::p99() const
{
    std::int64_t all = 0;
    for (const std::int64_t count : counts_)
        all += count;
    std::int64_t left = all - all * 99 / 100;
    for (std::size_t bucket = kBuckets; bucket-- > 0;) {
        left -= counts_[bucket];
        if (left <= 0 && counts_[bucket] > 0)
            return static_cast<double>(bucket + 1);
    }
    return 0;
}

} // namespace furrow
