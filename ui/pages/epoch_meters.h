#pragma once

#include "core/run/status/run_status.h"

#include <QWidget>

class QLabel;

namespace furrow {

class Meter;
class MeterLegend;

/// Four bars that are never merged into one per cent: blocks visited, chunks committed, samples in the weights, steps.
/// Below them every state of chunks with its count.
class EpochMeters : public QWidget {
    Q_OBJECT
public:
    explicit EpochMeters(QWidget* parent = nullptr);
    void setStatus(const RunStatus& status);
    void clear();

private:
    void showChunks(const EpochRow& epoch);
    void showLegend(const EpochRow& epoch);

    Meter* blocks_;
    Meter* chunks_;
    Meter* samples_;
    Meter* steps_;
    MeterLegend* legend_;
    QLabel* poisoned_;
    std::int64_t epochs_ = 1; ///< that are shown together
    bool leavesFilesOut_ = false; ///< the run goes on without some
};

} // namespace furrow
