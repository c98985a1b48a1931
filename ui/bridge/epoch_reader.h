#pragma once

#include "ui/bridge/newest_request.h"
#include "ui/bridge/run_feed.h"

#include <QObject>

namespace furrow {

/// Reads the chunks of another epoch, or of another run, away from the GUI thread. Only the newest request is answered.
/// Lives on the GUI thread.
class EpochReader : public QObject {
    Q_OBJECT
public:
    explicit EpochReader(QObject* parent = nullptr);
    /// Answered without cells when there is no such epoch or run.
    void read(const QString& folder, std::int64_t epoch);

Q_SIGNALS:
    void cellsRead(const furrow::CellsPtr& cells);

private:
    NewestRequest request_ { *this };
};

} // namespace furrow
