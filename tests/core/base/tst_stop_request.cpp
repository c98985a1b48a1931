#include "helper_process.h"

#include "core/base/stop_asked.h"

#include <csignal>
#include <thread>
#include <unistd.h>

using namespace furrow;
using namespace std::chrono_literals;

class TestStopRequest : public QObject {
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> folder_;
    std::filesystem::path at(const char* name) const { return test::inFolder(*folder_, name); }

private Q_SLOTS:
    void init() { folder_ = std::make_unique<QTemporaryDir>(); }

    void signalsRaiseTheFlag_data()
    {
        QTest::addColumn<int>("signal");
        QTest::newRow("SIGTERM") << SIGTERM;
        QTest::newRow("SIGINT") << SIGINT;
    }
    void signalsRaiseTheFlag()
    {
        QFETCH(int, signal);
        const StopRequest stop(false);
        QVERIFY(!stop.requested());
        QVERIFY(!stop.waitFor(10ms));
        ::raise(signal);
        QVERIFY(stop.requested());
        QVERIFY(stop.waitFor(0ms));
        QVERIFY(!stop.parentDied());
    }

    /// Whoever asked again was not heard: a foreground run on a full disk never returned.
    void aSecondRequestWasNotHeard()
    {
        const StopRequest stop(false);
        QCOMPARE(timesAskedToStop(), 0);
        ::raise(SIGINT);
        QCOMPARE(timesAskedToStop(), 1);
        ::raise(SIGTERM);
        QCOMPARE(timesAskedToStop(), 2);
    }

    void everyWaiterWakes()
    {
        const StopRequest stop(false);
        std::atomic<int> woken { 0 };
        {
            std::vector<std::jthread> waiters;
            for (int waiter = 0; waiter < 3; ++waiter)
                waiters.emplace_back([&] { woken += stop.waitFor(10s); });
            ::kill(::getpid(), SIGTERM);
        }
        QCOMPARE(woken.load(), 3);
    }

    void theOldHandlersComeBack()
    {
        struct sigaction before {};
        struct sigaction after {};
        ::sigaction(SIGTERM, nullptr, &before);
        {
            const StopRequest stop(false);
        }
        ::sigaction(SIGTERM, nullptr, &after);
        QVERIFY(after.sa_handler == before.sa_handler);
    }

    void watchingStdinEndsWithItsObject()
    {
        int ends[2];
        QCOMPARE(::pipe(ends), 0);
        const int stdinCopy = ::dup(STDIN_FILENO);
        ::dup2(ends[0], STDIN_FILENO);
        {
            const StopRequest stop(true);
            QCOMPARE(::write(ends[1], "noise", 5), ssize_t(5)); // bytes are not the end
            QVERIFY(!stop.waitFor(20ms));
        }
        {
            const StopRequest stop(true);
            ::close(ends[1]);
            QVERIFY(stop.waitFor(10s));
            QVERIFY(stop.parentDied());
        }
        ::dup2(stdinCopy, STDIN_FILENO);
        ::close(stdinCopy);
        ::close(ends[0]);
    }

    void aStopAskedByAnotherProcessArrives()
    {
        const auto helper = startDetached(test::helperPath(), { { "wait-stop", at("news").string() }, {}, {}, {} });
        QVERIFY(helper.ok());
        QCOMPARE(test::waitForFile(at("news.ready")), std::string("ready"));
        requestProcessStop(helper.value());
        QCOMPARE(test::waitForFile(at("news")), std::string("asked to stop"));
        QTRY_VERIFY(!isAlive(helper.value()));
    }

    void aStopAskedOfAChildArrives()
    {
        auto child = test::startHelper({ "watch-parent", at("news").string() });
        QCOMPARE(test::waitForFile(at("news.ready")), std::string("ready"));
        QVERIFY(!child.value().wait(50ms)); // its stdin is open and silent
        child.value().requestStop();
        QCOMPARE(child.value().wait(10s)->exitCode, 0);
        QCOMPARE(test::waitForFile(at("news")), std::string("asked to stop"));
    }

    void theDeathOfAParentByKillNineIsSeen()
    {
        auto parent = test::startHelper({ "start-watcher", at("news").string() });
        QCOMPARE(test::waitForFile(at("news.ready")), std::string("ready"));
        ::kill(static_cast<pid_t>(parent.value().identity().pid), SIGKILL); // only the parent, not its tree
        QVERIFY(parent.value().wait(10s));
        QCOMPARE(test::waitForFile(at("news")), std::string("parent died"));
    }
};

QTEST_GUILESS_MAIN(TestStopRequest)
#include "tst_stop_request.moc"
