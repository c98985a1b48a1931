#include "ui/bridge/task_runner.h"

#include "ui/bridge/answer_message.h"
#include "ui/bridge/furrowctl_program.h"

#include <QJsonDocument>

namespace furrow {

namespace {

constexpr qsizetype kMostOutput = 16 << 20;

} // namespace

TaskRunner::TaskRunner(QObject* parent)
    : QObject(parent)
{
    connect(&process_, &QProcess::readyReadStandardOutput, this, [this] {
        const QByteArray bytes = process_.readAllStandardOutput();
        output_ += bytes;
        output_ = output_.right(kMostOutput);
        Q_EMIT wrote(decoder_(bytes)); // a piece may end inside of a character
    });
    connect(&process_, &QProcess::finished, this,
        [this](int code, QProcess::ExitStatus status) { end(status == QProcess::NormalExit && code == 0); });
    connect(&process_, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
        if (error == QProcess::FailedToStart)
            end(false);
    });
}

TaskRunner::~TaskRunner() { cancel(); }

void TaskRunner::run(const QStringList& arguments)
{
    cancel();
    output_.clear();
    decoder_.resetState();
    cancelled_ = false;
    process_.start(furrowctlProgram(), arguments);
    process_.closeWriteChannel();
}

void TaskRunner::cancel()
{
    if (!isBusy())
        return;
    cancelled_ = true;
    process_.kill();
    process_.waitForFinished();
}

void TaskRunner::end(bool worked)
{
    if (cancelled_)
        return;
    const QJsonObject answer = QJsonDocument::fromJson(output_.trimmed().split('\n').last()).object();
    Message problem;
    notes_ = QString::fromUtf8(process_.readAllStandardError()).split(QLatin1Char('\n'), Qt::SkipEmptyParts);
    if (!worked) {
        problem = answeredMessage(answer, "error");
        if (problem.empty() && !notes_.isEmpty())
            problem = notes_.last().trimmed().toStdString();
        if (problem.empty())
            problem = tr("%1 could not be run: %2.").arg(furrowctlProgram(), process_.errorString()).toStdString();
    }
    Q_EMIT finished(answer, problem);
}

} // namespace furrow
