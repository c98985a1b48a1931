#pragma once

#include "core/base/message.h"

#include <QJsonObject>
#include <QObject>
#include <QProcess>
#include <QStringDecoder>
#include <QStringList>

namespace furrow {

/// Runs one furrowctl command at a time beside the console: evaluate, sample, merge, export. The console does not know
/// torch; these are processes of their own, and a crash of one is a message here. Lives on the GUI thread.
class TaskRunner : public QObject {
    Q_OBJECT
public:
    explicit TaskRunner(QObject* parent = nullptr);
    ~TaskRunner() override;

    /// Ends a task that still runs, without a signal for it.
    /// @param arguments  of furrowctl; with "--json" the answer is one object
    void run(const QStringList& arguments);
    void cancel();
    /// What the last task that worked said beside its answer, line by line; in English, as it came.
    const QStringList& notes() const { return notes_; }
    bool isBusy() const { return process_.state() != QProcess::NotRunning; }

Q_SIGNALS:
    void wrote(const QString& text); ///< stdout as it comes
    /// @param problem  a sentence; empty: it worked
    void finished(const QJsonObject& answer, const furrow::Message& problem);

private:
    void end(bool worked);

    QProcess process_;
    QByteArray output_;
    QStringList notes_;
    QStringDecoder decoder_ { QStringDecoder::Utf8 };
    bool cancelled_ = false;
};

} // namespace furrow
