#pragma once

#include <QString>
#include <vector>

namespace furrow {

/// One line of the table that `furrow --bench` prints and writes as JSON.
struct BenchResult {
    QString name;
    double value = 0; ///< processor time, p95 where something is repeated
    QString unit; ///< "ms", "MB"
    double target = 0;
    bool met = false; ///< value <= target
};

/// Names that runUiBench knows: frame, map, open, scrub.
QStringList uiBenchNames();
/// Runs one group or "all" on a seeded synthetic run in a temporary folder. Needs a QApplication (offscreen will do);
/// takes up to a minute. An unknown name gives an empty list.
std::vector<BenchResult> runUiBench(const QString& name);

} // namespace furrow
