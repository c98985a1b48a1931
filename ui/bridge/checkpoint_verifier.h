#pragma once

#include "core/tracker/supervisor_ledger.h"
#include "ui/bridge/newest_request.h"

#include <QDateTime>
#include <QObject>
#include <deque>
#include <map>
#include <stop_token>
#include <vector>

namespace furrow {

/// What reading the files of a checkpoint again found.
struct CheckpointVerdict {
    Message problem; ///< empty: every file is as it was written
    bool isDamaged = false; ///< its content is wrong; else it could not be read, which says nothing about it
    QDateTime at;
};

/// Reads the files of checkpoints again and compares them with what was recorded when they were written, one checkpoint
/// after the other, away from the GUI thread. Lives on the GUI thread.
class CheckpointVerifier : public QObject {
    Q_OBJECT
public:
    explicit CheckpointVerifier(QObject* parent = nullptr);
    ~CheckpointVerifier() override; ///< like stop()

    /// Checks these of a run in this order, instead of what is still to be done. Earlier verdicts stay until the new
    /// ones come.
    void start(const QString& folder, const std::vector<SupervisorLedger::CheckpointRow>& rows);
    /// No verdict comes any more, and reading ends, inside a large file too; verdicts that came stay.
    void stop();
    /// Another run: stops, and nothing is known any more.
    void forget();

    bool isBusy() const { return !waiting_.empty(); }
    std::int64_t done() const { return done_; } ///< since start()
    std::int64_t wanted() const { return done_ + static_cast<std::int64_t>(waiting_.size()); }
    bool isChecking(CheckpointId checkpoint) const;
    /// Null: not checked yet.
    const CheckpointVerdict* verdictOf(CheckpointId checkpoint) const;

Q_SIGNALS:
    void changed(); ///< a check began or ended, or all was stopped

private:
    void checkNext();
    void cancel();

    QString folder_;
    std::deque<SupervisorLedger::CheckpointRow> waiting_; // the first one is being checked
    std::map<CheckpointId, CheckpointVerdict> verdicts_;
    std::int64_t done_ = 0;
    std::stop_source stopping_;
    NewestRequest request_ { *this };
};

} // namespace furrow
