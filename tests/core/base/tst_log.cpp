#include "helper_process.h"

#include "core/base/log.h"
#include "core/base/regular_file.h"

#include <cstdio>
#include <thread>
#include <unistd.h>

using namespace furrow;

namespace {

/// What this process writes to stderr goes into a file while this lives, as in a process that another one started.
class StderrInto {
public:
    explicit StderrInto(const std::filesystem::path& file)
        : before_(::dup(STDERR_FILENO))
        , file_(RegularFile::open(file, RegularFile::At::End).value())
    {
        ::dup2(static_cast<int>(file_.handle()), STDERR_FILENO);
    }
    ~StderrInto()
    {
        std::fflush(stderr);
        ::dup2(before_, STDERR_FILENO);
        ::close(before_);
    }

private:
    int before_;
    RegularFile file_;
};

} // namespace

class TestLog : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void linesHaveTimeLevelAndProcess()
    {
        const QTemporaryDir folder;
        const auto path = test::inFolder(folder, "worker.log");
        const StderrInto file(path);
        startLog("worker-0");
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
        const StderrInto file(path);
        startLog("worker-0");
        logError("cannot read /tmp/a\n2026-01-01 00:00:00.000 I worker-0  all is well");
        QCOMPARE(QString::fromStdString(readFile(path).value()).count('\n'), 1);
        QCOMPARE(QString::fromStdString(lastComplaint(path)),
            QStringLiteral("cannot read /tmp/a\u240A2026-01-01 00:00:00.000 I worker-0  all is well"));
    }

    /// A worker was killed, and "loss on held-out text 1.5476 (as planned)" stood there as the reason.
    void aHarmlessLineIsNoReason()
    {
        const QTemporaryDir folder;
        const auto path = test::inFolder(folder, "worker.log");
        const StderrInto file(path);
        startLog("worker-0");
        logInfo("step 250: loss on held-out text 1.5476 (as planned)");
        QCOMPARE(lastComplaint(path), std::string());
        logError("no space is left on the disk");
        logInfo("claimed 3:17");
        QCOMPARE(lastComplaint(path), std::string("no space is left on the disk"));
        std::fputs("terminate called after throwing\n", stderr);
        std::fflush(stderr);
        QCOMPARE(lastComplaint(path), std::string("terminate called after throwing"));
    }

    void manyThreadsNeverMixLines()
    {
        const QTemporaryDir folder;
        const auto path = test::inFolder(folder, "threads.log");
        const StderrInto file(path);
        startLog("t");
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
};

QTEST_GUILESS_MAIN(TestLog)
#include "tst_log.moc"
