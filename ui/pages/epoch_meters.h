#pragma once

#include "core/run/status/run_status.h"

#include <QWidget>
#include <vector>

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
    /// @param untrained  committed chunks of the shown epochs of which no step was finite (shownUntrainedChunks)
    void setStatus(const RunStatus& status, std::int64_t untrained = 0);
    void clear();

private:
    void showChunks(const EpochRow& epoch);
    void showLegend(const EpochRow& epoch, const std::vector<Message>& lostCauses);

    Meter* blocks_;
    Meter* chunks_;
    Meter* samples_;
    Meter* steps_;
    MeterLegend* legend_;
    QLabel* poisoned_;
    std::int64_t epochs_ = 1; ///< that are shown together
    std::int64_t untrained_ = 0; ///< chunks
    bool leavesFilesOut_ = false; ///< the run goes on without some
};

} // namespace furrow
