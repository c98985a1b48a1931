#include "helper_process.h"

#include "core/base/file_system.h"
#include "core/base/killer_watch.h"
#include "core/base/path.h"

#include <csignal>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace furrow;
using namespace std::chrono_literals;

class TestProcess : public QObject {
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> folder_;
    std::filesystem::path at(const char* name) const { return test::inFolder(*folder_, name); }

private Q_SLOTS:
    void init() { folder_ = std::make_unique<QTemporaryDir>(); }

    void thisProcessIsAlive()
    {
        const ProcessIdentity self = thisProcess();
        QCOMPARE(self.pid, std::int64_t(::getpid()));
        QVERIFY(self.startTime > 0);
        QVERIFY(isAlive(self));
    }

    void aReusedPidIsAnotherProcess()
    {
        ProcessIdentity other = thisProcess();
        other.startTime -= 1;
        QVERIFY(!isAlive(other));
        other = thisProcess();
        other.place = "another boot";
        QVERIFY(!isAlive(other));
        killProcessTree(other); // must not end this test
        requestProcessStop(other);
        QVERIFY(!isAlive(ProcessIdentity {}));
        QVERIFY(!isAlive(ProcessIdentity { -1, 0, processPlace() }));
    }

    /// Processes of a container were taken for gone, and what they held for lost.
    void aProcessOfAnotherContainerWasTakenForGone()
    {
        ProcessIdentity other = thisProcess();
        QVERIFY(!isHidden(other) && isOfThisBoot(other));
        other.place = bootId() + "/4026539999";
        QVERIFY(!isAlive(other) && isHidden(other) && isOfThisBoot(other));
        killProcessTree(other); // must not end this test
        other.place = "another boot/4026539999";
        QVERIFY(!isAlive(other) && !isHidden(other) && !isOfThisBoot(other));
    }

    /// `kill` said that the run of another user was ended, and the signal had been refused.
    void aProcessOfAnotherUserWasSaidToBeKilled()
    {
        QVERIFY(mayKill(thisProcess()));
        if (::geteuid() != 0)
            QSKIP("only root can become another user");
        const ProcessIdentity self = thisProcess();
        const pid_t child = ::fork();
        if (child == 0)
            ::_exit(::setuid(65534) == 0 && !mayKill(self) ? 0 : 1);
        int status = -1;
        QCOMPARE(::waitpid(child, &status, 0), child);
        QVERIFY(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }

    void aZombieIsDead()
    {
        const pid_t child = ::fork();
        if (child == 0)
            ::_exit(0);
        siginfo_t info {};
        QCOMPARE(::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
        // It still has its pid and start time, so only its state tells.
        const ProcessIdentity zombie = identityFromStat(child);
        QVERIFY(zombie.startTime > 0);
        QVERIFY(!isAlive(zombie));
        ::waitpid(child, nullptr, 0);
    }

    void exitCodesArrive_data()
    {
        QTest::addColumn<QString>("role");
        QTest::addColumn<QString>("argument");
        QTest::addColumn<QString>("description");
        QTest::newRow("success") << "exit" << "0" << "exit code 0";
        QTest::newRow("failure") << "exit" << "7" << "exit code 7";
        QTest::newRow("unknown role") << "nonsense" << "" << "exit code 2";
        QTest::newRow("abort") << "abort" << "" << "SIGABRT";
    }
    void exitCodesArrive()
    {
        QFETCH(QString, role);
        QFETCH(QString, argument);
        auto child = test::startHelper({ role.toStdString(), argument.toStdString() });
        QVERIFY(child.ok());
        const auto exit = child.value().wait(10s);
        QVERIFY(exit);
        QTEST(QString::fromStdString(exit->describe()), "description");
        QCOMPARE(child.value().poll()->exitCode, exit->exitCode); // asked again, the same answer
        QVERIFY(!isAlive(child.value().identity()));
    }

    void describesExits_data()
    {
        QTest::addColumn<int>("code");
        QTest::addColumn<int>("signal");
        QTest::addColumn<QString>("text");
        QTest::newRow("plain") << 1 << 0 << "exit code 1";
        QTest::newRow("killed") << 0 << SIGKILL << "SIGKILL, sender unknown";
        QTest::newRow("crashed") << 0 << SIGSEGV << "SIGSEGV";
        QTest::newRow("unknown signal") << 0 << 63 << "signal 63";
        QTest::newRow("negative") << -1 << 0 << "exit code 0xFFFFFFFF";
        QTest::newRow("Windows crash") << int(0xC0000005) << 0 << "exit code 0xC0000005 (access violation)";
        QTest::newRow("Windows, unnamed") << int(0xC0001234) << 0 << "exit code 0xC0001234";
    }
    void describesExits()
    {
        QFETCH(int, code);
        QFETCH(int, signal);
        QTEST(QString::fromStdString((ProcessExit { code, signal, false }).describe()), "text");
    }

    void aKillByHandIsNotCalledTheOutOfMemoryKiller()
    {
        std::int64_t kills = 7;
        KillerWatch watch([&kills] { return kills; });
        constexpr std::int64_t kSecondNs = 1'000'000'000;
        std::int64_t now = 5;
        for (int i = 0; i < 100; ++i)
            watch.look(now += kSecondNs);
        QVERIFY(!watch.wasAtWork());
        kills = 8; // another process of the machine, long ago when ours ends
        QVERIFY(watch.wasAtWork());
        for (int i = 0; i < 30; ++i)
            watch.look(now += kSecondNs);
        QVERIFY(!watch.wasAtWork());
        kills = 9;
        for (int i = 0; i < 5; ++i) // it takes a while to go
            watch.look(now += kSecondNs);
        QVERIFY(watch.wasAtWork());
        QCOMPARE(
            (ProcessExit { 0, SIGKILL, true }).describe(), std::string("SIGKILL (likely the out-of-memory killer)"));
    }

    void secretsReachOnlyAProcessThatSendsThem()
    {
        qputenv("HF_TOKEN", "hf_planted");
        qputenv("https_proxy", "http://ann:planted@proxy:1");
        qputenv("FURROW_TEST_PLAIN", "stays");
        for (const bool withSecrets : { false, true }) {
            ProcessOptions options;
            options.withSecrets = withSecrets;
            options.outputFile = at(withSecrets ? "with" : "without");
            auto child = ChildProcess::start("/usr/bin/env", options);
            QVERIFY(child.ok());
            QVERIFY(child.value().wait(10s));
            const auto said = readFile(options.outputFile);
            QVERIFY(said.ok());
            QCOMPARE(said.value().find("planted") != std::string::npos, withSecrets);
            QVERIFY(said.value().find("FURROW_TEST_PLAIN=stays") != std::string::npos);
        }
        for (const char* name : { "HF_TOKEN", "https_proxy", "FURROW_TEST_PLAIN" })
            qunsetenv(name);
    }

    void aNamedPipeInPlaceOfItsLogHungWhoStartsAProcess()
    {
        ProcessOptions options;
        options.outputFile = at("pipe");
        QCOMPARE(::mkfifo(options.outputFile.c_str(), 0600), 0);
        const auto child = ChildProcess::start("/usr/bin/env", options);
        QVERIFY(!child.ok());
        QVERIFY2(child.error().message.find("not a regular file") != std::string::npos, child.error().message.c_str());
    }

    void pollNeverBlocksAndWaitIsBounded()
    {
        auto child = test::startHelper({ "sleep" });
        QVERIFY(child.ok());
        QElapsedTimer timer;
        timer.start();
        QVERIFY(!child.value().poll());
        QVERIFY(!child.value().wait(50ms));
        QVERIFY(timer.elapsed() >= 50 && timer.elapsed() < 5000);
        QVERIFY(isAlive(child.value().identity()));
    }

    void deathIsSeenAtOnce()
    {
        auto child = test::startHelper({ "sleep" });
        ::kill(static_cast<pid_t>(child.value().identity().pid), SIGKILL);
        QElapsedTimer timer;
        timer.start();
        const auto exit = child.value().wait(30s);
        QVERIFY(exit);
        QCOMPARE(exit->signal, SIGKILL);
        QVERIFY(!exit->outOfMemory);
        QCOMPARE(exit->describe(), std::string("SIGKILL, sender unknown"));
        QVERIFY(timer.elapsed() < 2000);
    }

    void surroundingsAreAsAsked()
    {
        QVERIFY(realFileSystem().createFolders(at("inside")).ok());
        ProcessOptions options;
        options.arguments = { "surroundings", at("news").string() };
        options.environment = { { "FURROW_TEST_VARIABLE", "va lue" } };
        options.workingFolder = at("inside");
        auto child = startDetached(test::helperPath(), options);
        QVERIFY(child.ok());
        const QStringList news = QString::fromStdString(test::waitForFile(at("news"))).split('\n');
        QCOMPARE(news[0].toStdString(), std::filesystem::canonical(at("inside")).string());
        QCOMPARE(news[1], "va lue");
        QCOMPARE(news[2], "stdin at end");
        QCOMPARE(test::identityFrom(news[3].toStdString()), child.value());
    }

    void argumentsAreNeverSplitOrExpanded()
    {
        const std::vector<std::string> nasty { "a b", "\"quoted\"", "back\\slash\\", "$HOME *", "",
            "\xC3\xA9\xE7\x95\x91" };
        for (const std::string& argument : nasty) {
            ProcessOptions options { { "print", argument }, {}, {}, at("out") };
            auto child = ChildProcess::start(test::helperPath(), options);
            QVERIFY(child.ok());
            QCOMPARE(child.value().wait(10s)->exitCode, 0);
            const std::string text = readFile(at("out")).value();
            QVERIFY(text.find("out " + argument + "\n") != std::string::npos);
            QVERIFY(text.find("err " + argument + "\n") != std::string::npos);
        }
    }

    void destructionKillsTheGrandchildToo()
    {
        ProcessIdentity grandchild;
        ProcessIdentity child;
        {
            auto started = test::startHelper({ "start-grandchild", at("pid").string() });
            QVERIFY(started.ok());
            child = started.value().identity();
            grandchild = test::identityFrom(test::waitForFile(at("pid")));
            QVERIFY(isAlive(grandchild));
        }
        QVERIFY(!isAlive(child));
        QTRY_VERIFY(!isAlive(grandchild));
    }

    void aTreeKnownOnlyByIdentityIsKilled()
    {
        const auto root = startDetached(test::helperPath(), { { "start-grandchild", at("pid").string() }, {}, {}, {} });
        QVERIFY(root.ok());
        const ProcessIdentity grandchild = test::identityFrom(test::waitForFile(at("pid")));
        QVERIFY(isAlive(root.value()) && isAlive(grandchild));
        killProcessTree(root.value());
        QTRY_VERIFY(!isAlive(root.value()) && !isAlive(grandchild));
        killProcessTree(root.value()); // gone already: nothing happens
    }

    void aDetachedProcessIsNotOurs()
    {
        const auto detached = startDetached(test::helperPath(), { { "sleep" }, {}, {}, {} });
        QVERIFY(detached.ok());
        const auto pid = static_cast<pid_t>(detached.value().pid);
        QVERIFY(::getsid(pid) != ::getsid(0));
        QCOMPARE(::waitpid(pid, nullptr, WNOHANG), -1); // not our child
        QVERIFY(isAlive(detached.value()));
        killProcessTree(detached.value());
        QTRY_VERIFY(!isAlive(detached.value()));
    }

    void aDetachedProcessOutlivesTheTreeOfItsStarter()
    {
        auto helper = test::startHelper({ "hold-lock-with-child", at("lock").string() });
        const ProcessIdentity left = test::identityFrom(test::waitForFile(at("lock.held")));
        helper.value().killTree();
        QVERIFY(helper.value().wait(5s));
        QVERIFY(isAlive(left));
        killProcessTree(left);
    }

    void startingTheImpossibleIsAnError_data()
    {
        QTest::addColumn<QString>("program");
        QTest::addColumn<QString>("folder");
        QTest::addColumn<QString>("output");
        const QString helper = QString::fromStdString(test::helperPath().string());
        QTest::newRow("missing program") << "/no/such/program" << "" << "";
        QTest::newRow("a folder") << "/tmp" << "" << "";
        QTest::newRow("not a program") << "/etc/passwd" << "" << "";
        QTest::newRow("missing working folder") << helper << "/no/such/folder" << "";
        QTest::newRow("unwritable output") << helper << "" << "/no/such/folder/out.log";
    }
    void startingTheImpossibleIsAnError()
    {
        QFETCH(QString, program);
        QFETCH(QString, folder);
        QFETCH(QString, output);
        const ProcessOptions options { { "exit", "0" }, {}, folder.toStdString(), output.toStdString() };
        const auto child = ChildProcess::start(program.toStdString(), options);
        QVERIFY(!child.ok());
        QVERIFY(child.error().message.find("cannot") != std::string::npos);
        QVERIFY(!startDetached(program.toStdString(), options).ok());
    }

    void aFileThatExecRefusesIsAnErrorBothWays()
    {
        const auto path = at("broken");
        QVERIFY(writeFileDurably(realFileSystem(), path,
            std::string("\x7F"
                        "ELF broken"))
                .ok());
        std::filesystem::permissions(path, std::filesystem::perms::owner_all);
        QVERIFY(!ChildProcess::start(path, {}).ok());
        QVERIFY(!startDetached(path, {}).ok());
    }

    void openFilesAreNotInherited()
    {
        const int leaked = ::dup(STDERR_FILENO); // without O_CLOEXEC
        auto child = test::startHelper({ "sleep" });
        const std::string name
            = "/proc/" + std::to_string(child.value().identity().pid) + "/fd/" + std::to_string(leaked);
        QVERIFY(leaked > 2);
        QVERIFY(!std::filesystem::exists(std::filesystem::symlink_status(name)));
        QVERIFY(isAlive(child.value().identity())); // else it has no files at all
        ::close(leaked);
    }

private:
    static ProcessIdentity identityFromStat(pid_t pid)
    {
        QFile file(QString("/proc/%1/stat").arg(pid));
        if (!file.open(QIODevice::ReadOnly))
            return {};
        const QByteArray line = file.readAll();
        return { pid, line.mid(line.lastIndexOf(')') + 2).split(' ').value(19).toLongLong(), processPlace() };
    }
};

QTEST_GUILESS_MAIN(TestProcess)
#include "tst_process.moc"
