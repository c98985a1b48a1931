#include "ui/bridge/run_feed.h"

namespace furrow {

void registerBridgeTypes()
{
    qRegisterMetaType<SnapshotPtr>();
    qRegisterMetaType<StatusPtr>();
    qRegisterMetaType<CellsPtr>();
    qRegisterMetaType<TablesPtr>();
    qRegisterMetaType<ClaimsPtr>();
    qRegisterMetaType<EventsPtr>();
    qRegisterMetaType<LogLinesPtr>();
    qRegisterMetaType<RunLinesPtr>();
    qRegisterMetaType<QueuePtr>();
}

} // namespace furrow
