#pragma once

#include <QJsonObject>
#include <QString>
#include <QStringList>

/// Drives the real programs as a person would in a terminal.
class RunDriver {
public:
    struct Output {
        int exitCode = -1;
        QString text; ///< stdout
        QString errors; ///< stderr
        QJsonObject json; ///< the last line of stdout, when it is an object
    };
    static QString program(); ///< furrowctl
    /// Runs furrowctl to its end.
    static Output ctl(const QStringList& arguments, int timeoutMs = 240'000);

    /// Text of `lines` lines with words that repeat, so that a tiny model learns something.
    static QString writeText(const QString& folder, int lines);
    /// A model that trains thousands of steps a minute on one core.
    static QStringList tinyModel();

    static QJsonObject status(const QString& run);
    static qint64 supervisorPid(const QString& run);
    static qint64 workerPid(const QString& run, int worker);
    /// Waits until `run` has committed or trained at least `chunks`.
    static bool waitForChunks(const QString& run, int chunks, int timeoutMs = 120'000);
    /// Waits until no process of the run is left and the state is one of `states`.
    static bool waitForState(const QString& run, const QStringList& states, int timeoutMs = 120'000);
    /// The only epoch of the audit, or the one asked for.
    static QJsonObject auditedEpoch(const QString& run, int epoch = 0);
    static bool killHard(qint64 pid);
    /// Makes a process stand still (SIGSTOP).
    static bool hold(qint64 pid);
};
