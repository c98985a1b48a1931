#pragma once

#include "core/run/status/run_status.h"
#include "ui/bridge/newest_request.h"

#include <QObject>
#include <memory>
#include <vector>

namespace furrow {

/// Reads why work is lost, in words, away from the GUI thread. Only the newest request is answered. Lives on the GUI
/// thread.
class LostReader : public QObject {
    Q_OBJECT
public:
    using CausesPtr = std::shared_ptr<const std::vector<Message>>;
    explicit LostReader(QObject* parent = nullptr);
    /// Of the open epochs of a status of the present. Looks at every part where work is lost.
    void read(const RunStatus& status);
    void cancel() { request_.cancel(); }

Q_SIGNALS:
    /// @param lost  the chunks that these causes speak of
    void causesRead(const furrow::LostReader::CausesPtr& causes, qint64 lost);

private:
    NewestRequest request_ { *this };
};

} // namespace furrow
