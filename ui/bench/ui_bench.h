#pragma once

#include "core/trials/synthetic.h"

#include <QString>
#include <vector>

namespace furrow {

/// One line of the table that `furrow --bench` prints and writes as JSON.
struct BenchResult {
    QString name;
    double value = 0; ///< p95 where something is repeated
    QString unit; ///< "ms", "MB", "%", or what is counted
    double target = 0;
    bool met = false; ///< value <= target
};

/// Names that runUiBench knows: frame, live, open, ...
QStringList uiBenchNames();
/// Runs one group or "all" on a seeded synthetic run in a temporary folder. Needs a QApplication (offscreen will do);
/// takes some minutes. What is measured of processes needs furrow, furrowctl and furrow-worker beside the program; a
/// group that cannot be measured gives a row that says so. An unknown name gives an empty list.
std::vector<BenchResult> runUiBench(const QString& name);

} // namespace furrow
