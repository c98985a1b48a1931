#include "tests/e2e/run_driver.h"

#include "core/base/process.h"

#include <QCoreApplication>
#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QProcess>
#include <QTest>

#include <csignal>

QString RunDriver::program() { return QCoreApplication::applicationDirPath() + QStringLiteral("/furrowctl"); }

RunDriver::Output RunDriver::ctl(const QStringList& arguments, int timeoutMs)
{
    QProcess process;
    process.start(program(), arguments);
    process.closeWriteChannel();
    Output output;
    if (!process.waitForFinished(timeoutMs)) {
        process.kill();
        process.waitForFinished();
        output.errors = QStringLiteral("timed out: ") + arguments.join(QLatin1Char(' '));
        return output;
    }
    output.exitCode = process.exitCode();
    output.text = QString::fromUtf8(process.readAllStandardOutput());
    output.errors = QString::fromUtf8(process.readAllStandardError());
    output.json
        = QJsonDocument::fromJson(output.text.toUtf8()).object(); // one document, or a stream of them: then the last
    const auto lines = output.text.split(QLatin1Char('\n'), Qt::SkipEmptyParts);
    if (output.json.isEmpty() && !lines.isEmpty())
        output.json = QJsonDocument::fromJson(lines.last().toUtf8()).object();
    return output;
}

QString RunDriver::writeText(const QString& folder, int lines)
{
    static const char* const kWords[] = { "furrow", "field", "plough", "seed", "rain", "harvest", "barn", "wheel" };
    const QString path = folder + QStringLiteral("/text.txt");
    QFile file(path);
    if (!file.open(QIODevice::WriteOnly))
        return {};
    for (int line = 0; line < lines; ++line) {
        QByteArray text = QByteArray::number(line);
        for (int word = 0; word < 12; ++word)
            text += ' ' + QByteArray(kWords[(line * 7 + word * word) % 8]);
        file.write(text + '\n');
    }
    return path;
}

QStringList RunDriver::tinyModel()
{
    return QStringLiteral(
        "--preset char --tokenizer byte --data-mode lines --layers 1 --heads 2 --width 32 --seq-len 32 --batch-size 4 --chunk-samples 10 --samples-per-block 200 "
        "--held-out-percent 2 --warmup-steps 10 --epochs 1 --eval-steps 0 --threads 1 --checkpoint-minutes 0.05")
        .split(QLatin1Char(' '));
}

QJsonObject RunDriver::status(const QString& run)
{
    return ctl({ QStringLiteral("status"), run, QStringLiteral("--json") }).json;
}

qint64 RunDriver::supervisorPid(const QString& run)
{
    return status(run)[QStringLiteral("supervisor")][QStringLiteral("pid")].toInteger();
}

qint64 RunDriver::workerPid(const QString& run, int worker)
{
    for (const auto& value : status(run)[QStringLiteral("workers")].toArray())
        if (value[QStringLiteral("worker")].toInt() == worker && value[QStringLiteral("alive")].toBool())
            return value[QStringLiteral("pid")].toInteger();
    return 0;
}

bool RunDriver::waitForChunks(const QString& run, int chunks, int timeoutMs)
{
    QElapsedTimer timer;
    timer.start();
    while (timer.elapsed() < timeoutMs) {
        const auto counts = status(run)[QStringLiteral("chunks")].toObject();
        if (counts[QStringLiteral("committed")].toInt() + counts[QStringLiteral("trained")].toInt() >= chunks)
            return true;
        QTest::qWait(50);
    }
    return false;
}

bool RunDriver::waitForState(const QString& run, const QStringList& states, int timeoutMs)
{
    QElapsedTimer timer;
    timer.start();
    while (timer.elapsed() < timeoutMs) {
        const auto now = status(run);
        if (now[QStringLiteral("supervisor")][QStringLiteral("pid")].isNull()
            && states.contains(now[QStringLiteral("state")].toString()))
            return true;
        QTest::qWait(50);
    }
    return false;
}

QJsonObject RunDriver::auditedEpoch(const QString& run, int epoch)
{
    const auto epochs
        = ctl({ QStringLiteral("audit"), run, QStringLiteral("--json") }).json[QStringLiteral("epochs")].toArray();
    return epochs.at(epoch).toObject();
}

bool RunDriver::hold(qint64 pid) { return pid > 0 && ::kill(static_cast<pid_t>(pid), SIGSTOP) == 0; }

bool RunDriver::killHard(qint64 pid) { return pid > 0 && ::kill(static_cast<pid_t>(pid), SIGKILL) == 0; }
