#pragma once

#include "core/tracker/supervisor_ledger.h"
#include "ui/bridge/newest_request.h"

#include <QObject>
#include <memory>
#include <vector>

namespace furrow {

using CheckpointRowsPtr = std::shared_ptr<const std::vector<SupervisorLedger::CheckpointRow>>;

/// Reads which checkpoints a run has whose files are there and whole, away from the GUI thread. Only the newest request
/// is answered. Lives on the GUI thread.
class CheckpointReader : public QObject {
    Q_OBJECT
public:
    explicit CheckpointReader(QObject* parent = nullptr);
    /// Answered without rows when the run cannot be read.
    void read(const QString& folder);

Q_SIGNALS:
    void checkpointsRead(const furrow::CheckpointRowsPtr& rows);

private:
    NewestRequest request_ { *this };
};

} // namespace furrow

Q_DECLARE_METATYPE(furrow::CheckpointRowsPtr)
