#pragma once

#include "core/run/status/run_status.h"
#include "ui/bridge/lost_reader.h"

#include <QWidget>
#include <optional>
#include <string>
#include <tuple>

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
    /// @param isPast  of a moment that is replayed: why work was lost by then is not asked
    void setStatus(const RunStatus& status, std::int64_t untrained = 0, bool isPast = false);
    void clear();

private:
    void showChunks(const EpochRow& epoch);
    void showLegend();
    void askWhyLost(const RunStatus& status, bool isPast);

    Meter* blocks_;
    Meter* chunks_;
    Meter* samples_;
    Meter* steps_;
    MeterLegend* legend_;
    QLabel* poisoned_;
    LostReader lostReader_;
    using Asked = std::tuple<std::string, std::int64_t, std::int64_t, std::int64_t>;
    std::optional<Asked> asked_; ///< folder, attempt, checkpoints and lost chunks, of the last question
    LostReader::CausesPtr causes_; ///< null: not known
    qint64 explained_ = 0; ///< chunks that causes_ speak of
    EpochRow epoch_; ///< that is shown
    std::int64_t epochs_ = 1; ///< that are shown together
    std::int64_t untrained_ = 0; ///< chunks
    bool leavesFilesOut_ = false; ///< the run goes on without some
};

} // namespace furrow
