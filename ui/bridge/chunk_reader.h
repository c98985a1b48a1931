#pragma once

#include "core/tracker/ledger_reader.h"
#include "ui/bridge/newest_request.h"

#include <QObject>
#include <QString>

namespace furrow {

/// Reads what the ledger has of one chunk, of whatever epoch, away from the GUI thread. Only the newest request is
/// answered. Lives on the GUI thread.
class ChunkReader : public QObject {
    Q_OBJECT
public:
    explicit ChunkReader(QObject* parent = nullptr);
    /// Not answered where the run or its ledger cannot be read, or has no such chunk.
    void read(const QString& folder, ChunkId chunk);

Q_SIGNALS:
    void cellRead(const furrow::ChunkCell& cell);

private:
    NewestRequest request_ { *this };
};

} // namespace furrow
