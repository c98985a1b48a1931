#pragma once

#include "core/config/schema.h"
#include "core/tracker/types.h"
#include "ui/bridge/newest_request.h"

#include <QObject>
#include <QStringList>
#include <memory>
#include <optional>
#include <vector>

namespace furrow {

/// One attempt of a run, for the library.
struct AttemptLine {
    std::int64_t number = 0; ///< 1-based
    std::int64_t startedWallNs = 0;
    std::optional<std::int64_t> endedWallNs; ///< absent: no end was recorded
    StopReason reason = StopReason::None;
    Message detail; ///< what the engine wrote about the end; may be empty
    std::int64_t steps = 0; ///< of the chunks it trained to their end, lost ones included
    std::vector<ConfigChange> changes; ///< against the attempt before it
};
using AttemptLines = std::vector<AttemptLine>;
using AttemptLinesPtr = std::shared_ptr<const AttemptLines>;

/// Reads the attempts of runs one run after the other, away from the GUI thread. Lives on the GUI thread.
class AttemptReader : public QObject {
    Q_OBJECT
public:
    explicit AttemptReader(QObject* parent = nullptr);
    /// Each run is answered, without attempts when it cannot be read. One that waits already is read once.
    void read(const QString& folder);

Q_SIGNALS:
    void attemptsRead(const QString& folder, const furrow::AttemptLinesPtr& attempts);

private:
    void readNext();

    QStringList waiting_; // the first one is being read
    NewestRequest request_ { *this };
};

} // namespace furrow
