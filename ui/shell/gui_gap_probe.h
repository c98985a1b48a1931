#pragma once

#include <QObject>
#include <array>
#include <chrono>
#include <cstdint>

namespace furrow {

/// How long the GUI thread is busy at a stretch, and so answers nobody: from waking up to sleeping again. Costs two
/// reads of a clock for each stretch, nothing while the program sleeps. Make it on the GUI thread after the
/// application.
class GuiGapProbe : public QObject {
    Q_OBJECT
public:
    explicit GuiGapProbe(QObject* parent = nullptr);
    void clear();
    /// The stretch that 99 of 100 are not longer than [ms]; stretches below a millisecond, which nobody can notice, are
    /// left out.
    double p99() const;
    double longest() const { return longestMs_; }

private:
    void take(double ms);

    static constexpr std::size_t kBuckets = 2000; // of a millisecond; the last one takes what is longer
    std::array<std::int64_t, kBuckets> counts_ {};
    double longestMs_ = 0;
    std::chrono::steady_clock::time_point woke_;
    bool awake_ = false;
};

} // namespace furrow
