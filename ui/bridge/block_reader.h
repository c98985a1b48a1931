#pragma once

#include "ui/bridge/newest_request.h"

#include <QObject>
#include <cstdint>
#include <memory>
#include <set>

namespace furrow {

/// Numbers of blocks whose prepared file the ledger has now.
using PreparedBlocksPtr = std::shared_ptr<const std::set<std::int64_t>>;

/// Reads which blocks of a run are prepared, away from the GUI thread. Only the newest request is answered. Lives on
/// the GUI thread.
class BlockReader : public QObject {
    Q_OBJECT
public:
    explicit BlockReader(QObject* parent = nullptr);
    /// Looks at the blocks 0..`count`-1. Some ten microseconds each.
    void read(const QString& folder, std::int64_t count);

Q_SIGNALS:
    void blocksRead(const furrow::PreparedBlocksPtr& prepared);

private:
    NewestRequest request_ { *this };
};

} // namespace furrow

Q_DECLARE_METATYPE(furrow::PreparedBlocksPtr)
