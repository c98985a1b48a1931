#pragma once

#include "core/base/result.h"
#include "core/run/status/brain.h"
#include "ui/bridge/newest_request.h"

#include <QObject>
#include <memory>

namespace furrow {

using BrainPtr = std::shared_ptr<const Brain>;

/// Reads the lineage of a run's weights away from the GUI thread. Only the newest request is answered. Lives on the GUI
/// thread.
class BrainReader : public QObject {
    Q_OBJECT
public:
    explicit BrainReader(QObject* parent = nullptr);
    void read(const QString& folder);

Q_SIGNALS:
    void brainRead(const furrow::BrainPtr& brain);
    void failed(const furrow::Message& message);

private:
    NewestRequest request_ { *this };
};

} // namespace furrow

Q_DECLARE_METATYPE(furrow::BrainPtr)
