#pragma once

#include "ui/bridge/run_feed.h"

#include <QObject>
#include <QTimer>
#include <QVariantMap>
#include <optional>

namespace furrow {

class RunCommands;

/// Resumes interrupted runs by itself: only those that a person chose, a few times each, with waits that grow. Off by
/// default. How often it has tried is remembered, so a console that is restarted does not begin to count anew. Lives on
/// the GUI thread.
class AutoResume : public QObject {
    Q_OBJECT
public:
    static constexpr int kLimit = 3; ///< resumes of one run, until a person resumes it or it ends in order
    explicit AutoResume(RunCommands& commands, QObject* parent = nullptr);

    /// Keeps wishes and counts in the settings of the console from now on, and reads those that are there.
    void remember();
    bool isWanted(const QString& folder) const { return tries_.contains(folder); }
    void setWanted(const QString& folder, bool wanted);
    /// A person has taken the run in hand: nothing happens before the next interruption, and the count begins anew.
    void cancel(const QString& folder);
    void takeLines(const RunLines& lines);

    struct Plan {
        int seconds = 0; ///< until it resumes
        int number = 0; ///< of this resume, from 1
    };
    std::optional<Plan> planOf(const QString& folder) const; ///< nothing: it will not resume by itself
    static int waitSeconds(int number); ///< before resume `number`

Q_SIGNALS:
    void changed(); ///< a plan began, came a second nearer, or ended
    void wantedChanged(const QString& folder, bool wanted);

private:
    struct Waiting {
        std::int64_t attempt = 0;
        qint64 dueMs = 0;
        bool done = false; ///< resumed, or cancelled by a person
    };
    void second();
    void write() const;

    RunCommands& commands_;
    QTimer timer_;
    bool remembers_ = false;
    QVariantMap tries_; ///< resumes so far, by folder; a folder that is not here is left alone
    std::map<QString, Waiting> waiting_;
};

} // namespace furrow
