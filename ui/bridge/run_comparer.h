#pragma once

#include "core/telemetry/snapshot.h"
#include "core/run/status/lost_trainings.h"
#include "core/workspace/compare_runs.h"
#include "ui/bridge/newest_request.h"

#include <QMetaType>
#include <QObject>
#include <QStringList>
#include <memory>

namespace furrow {

/// Everything the comparison of some runs shows.
struct ComparedRuns {
    Message problem; ///< why there is none; "": there is
    RunComparison comparison;
    std::vector<SnapshotPtr> curves; ///< one a run
    std::vector<std::vector<LostTraining>> lost; ///< of each: what is in no weights
    std::vector<std::vector<ChunkCell>> cells; ///< first epoch of each
};
using ComparedRunsPtr = std::shared_ptr<const ComparedRuns>;

/// Reads and compares runs away from the GUI thread. Only the newest request is answered. Lives on the GUI thread.
class RunComparer : public QObject {
    Q_OBJECT
public:
    explicit RunComparer(QObject* parent = nullptr);
    /// @param folders  two to eight; the first is the baseline
    void compare(const QStringList& folders);
    void cancel() { request_.cancel(); }

Q_SIGNALS:
    void compared(const furrow::ComparedRunsPtr& result);

private:
    NewestRequest request_ { *this };
};

} // namespace furrow

Q_DECLARE_METATYPE(furrow::ComparedRunsPtr)
