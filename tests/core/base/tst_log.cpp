#include "helper_process.h"

#include "core/base/log.h"

#include <sys/stat.h>
#include <thread>

using namespace furrow;

class TestLog : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void linesHaveTimeLevelAndProcess()
    {
        const QTemporaryDir folder;
        const auto path = test::inFolder(folder, "worker.log");
        startLog("worker-0", path, false);
        logInfo("first");
        logWarning("curly {} braces %s are text");
        log(LogLevel::Debug, "fine");
        logError("last");
        const QStringList lines = QString::fromStdString(readFile(path).value()).split('\n');
        QCOMPARE(lines.size(), 5);
        const QRegularExpression form("^\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d\\.\\d{3} ([DIWE]) worker-0  (.*)$");
        const QList<QPair<QString, QString>> wanted { { "I", "first" }, { "W", "curly {} braces %s are text" },
            { "D", "fine" }, { "E", "last" } };
        for (int line = 0; line < wanted.size(); ++line) {
            const auto match = form.match(lines[line]);
            QVERIFY2(match.hasMatch(), qPrintable(lines[line]));
            QCOMPARE(match.captured(1), wanted[line].first);
            QCOMPARE(match.captured(2), wanted[line].second);
        }
    }

    /// The name of a folder with a line end in it made two lines of one, the second without a time; the last line is
    /// told without its head.
    void aMessageIsOneLineWhateverItNames()
    {
        const QTemporaryDir folder;
        const auto path = test::inFolder(folder, "worker.log");
        startLog("worker-0", path, false);
        logError("cannot read /tmp/a\n2026-01-01 00:00:00.000 I worker-0  all is well");
        QCOMPARE(QString::fromStdString(readFile(path).value()).count('\n'), 1);
        QCOMPARE(QString::fromStdString(lastLogLine(path)),
            QStringLiteral("cannot read /tmp/a\u240A2026-01-01 00:00:00.000 I worker-0  all is well"));
    }

    /// A worker waited for ever in open when somebody had put a named pipe in place of its log.
    void aNamedPipeInPlaceOfTheLogHungItsProcess()
    {
        const QTemporaryDir folder;
        const auto path = test::inFolder(folder, "worker.log");
        QCOMPARE(::mkfifo(path.c_str(), 0600), 0);
        startLog("worker-0", path, false);
        logInfo("goes to stderr");
    }

    void aSecondStartAppends()
    {
        const QTemporaryDir folder;
        const auto path = test::inFolder(folder, "run.log");
        startLog("a", path, false);
        logInfo("one");
        startLog("b", path, false);
        logInfo("two");
        QCOMPARE(QString::fromStdString(readFile(path).value()).count('\n'), 2);
    }

    void anUnwritableFileDoesNotStopTheProcess()
    {
        startLog("c", "/proc/no/such/folder/x.log", false);
        logInfo("still here");
    }

    void manyThreadsNeverMixLines()
    {
        const QTemporaryDir folder;
        const auto path = test::inFolder(folder, "threads.log");
        startLog("t", path, false);
        {
            std::vector<std::jthread> threads;
            for (int thread = 0; thread < 4; ++thread) {
                threads.emplace_back([] {
                    for (int line = 0; line < 200; ++line)
                        logInfo("0123456789");
                });
            }
        }
        const QStringList lines = QString::fromStdString(readFile(path).value()).split('\n', Qt::SkipEmptyParts);
        QCOMPARE(lines.size(), 800);
        for (const QString& line : lines)
            QVERIFY(line.endsWith(" t  0123456789"));
    }

    void cleanup() { startLog("test"); } // lets go of the file in the temporary folder
};

QTEST_GUILESS_MAIN(TestLog)
#include "tst_log.moc"
