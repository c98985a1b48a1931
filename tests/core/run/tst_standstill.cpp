#include "core/run/supervise/standstill.h"

#include "core/run/supervise/stall_watch.h"

#include "tests/core/tracker/ledger_fixture.h"

#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

using namespace furrow;

namespace {

/// A worker in a process of its own, made to stand still at once.
class StillWorker {
public:
    /// @param chunks  trained and committed before
    StillWorker(Field& field, int index, int chunks)
        : pid_(fork())
    {
        if (pid_ == 0) {
            auto ledger = field.worker(index);
            for (int i = 0; i < chunks; ++i)
                trainOne(ledger, index, "c" + std::to_string(i));
            raise(SIGSTOP);
            _exit(0);
        }
        int state = 0;
        isStill_ = waitpid(pid_, &state, WUNTRACED) == pid_ && WIFSTOPPED(state);
    }
    ~StillWorker()
    {
        kill(pid_, SIGKILL);
        waitpid(pid_, nullptr, 0);
    }
    bool isStill() const { return isStill_; }

private:
    pid_t pid_;
    bool isStill_ = false;
};

/// How many are found when they have stood still for a second.
std::size_t foundAfterASecond(Field& field)
{
    auto ledger = field.supervisor();
    auto reader = field.reader();
    Standstill standstill(ledger, reader, false, field.clock);
    if (!good(standstill.overdue()).empty())
        qFatal("found at the first look");
    field.clock.advance(1);
    return good(standstill.overdue()).size();
}

} // namespace

/// Workers that are ended because they stand still: those that somebody waits for.
class TestStandstill : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void aWorkerNobodyWaitsForIsLeftAlone();
    void aStoppedWorkerKeptAFinishedRunFromEnding();
    void aWorkerThatTheSupervisorEndedWasSaidToBeKilledByNobodyKnows();
};

void TestStandstill::aWorkerNobodyWaitsForIsLeftAlone()
{
    Field field;
    field.fill(1, 2);
    const StillWorker worker(field, 0, 1);
    QVERIFY(worker.isStill());
    QCOMPARE(foundAfterASecond(field), std::size_t(0)); // a chunk is free: nobody lacks anything
}

// With every epoch closed the run had nothing more to wait for, and waited for the lease.
void TestStandstill::aStoppedWorkerKeptAFinishedRunFromEnding()
{
    Field field;
    field.fill(1, 2);
    const StillWorker worker(field, 0, 2);
    QVERIFY(worker.isStill());
    QVERIFY(good(field.supervisor().advance()).epochClosed);
    QCOMPARE(foundAfterASecond(field), std::size_t(1));
}

// "Worker 0 ended with SIGKILL, sender unknown", while the sender said it.
void TestStandstill::aWorkerThatTheSupervisorEndedWasSaidToBeKilledByNobodyKnows()
{
    Field field;
    field.fill(1, 2);
    const StillWorker worker(field, 0, 1);
    QVERIFY(worker.isStill());
    auto reader = field.reader();
    const ProcessIdentity process = good(reader.incarnations()).front().process;
    StallWatch stalls(RunPaths(field.tracker.parent_path()), reader, field.clock);
    QVERIFY(!stalls.whyEnded(process).has_value());
    QVERIFY(!stalls.wasStopped(process));
    stalls.note(process, "it stood still");
    QCOMPARE(QString::fromStdString(stalls.whyEnded(process).value_or("").text()),
        QStringLiteral("the supervisor ended it: it stood still"));
    QVERIFY(stalls.wasStopped(process));
    stalls.note(thisProcess(), "it made no progress"); // one that runs
    QVERIFY(stalls.whyEnded(thisProcess()).has_value());
    QVERIFY(!stalls.wasStopped(thisProcess()));
}

QTEST_GUILESS_MAIN(TestStandstill)
#include "tst_standstill.moc"
