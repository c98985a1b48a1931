#include "core/run/start/life_cycle.h"
#include "core/run/status/run_status.h"
#include "core/tracker/audit/audit.h"
#include "tests/ui/run_story.h"
#include "ui/bridge/run_poller.h"

using namespace furrow;

/// A run folder that another computer writes: here a copy in a folder that a service synchronises, which is as unfit
/// for locks and shared memory as a mounted one.
class TestRunFromElsewhere : public QObject {
    Q_OBJECT

    struct Seen {
        QTemporaryDir folder;
        RunStory story { {} };
        RunPaths paths { std::filesystem::path(folder.path().toStdString()) / "Dropbox" / "runs" / "story" };

        Seen() { look(); }
        /// What the supervisor writes in the meantime comes over.
        void look()
        {
            good(story.supervisor().publishSnapshot(story.paths().trackerSnapshot()));
            std::filesystem::create_directories(paths.folder());
            std::filesystem::copy(story.paths().folder(), paths.folder(),
                std::filesystem::copy_options::recursive | std::filesystem::copy_options::overwrite_existing);
        }
    };

private Q_SLOTS:
    void aRunOnAnotherComputerIsSeenRunning()
    {
        Seen seen;
        QVERIFY(readableLedger(seen.paths) == seen.paths.trackerSnapshot());
        const auto status = good(readStatus(seen.paths));
        QVERIFY(status.state == RunState::Running);
        QCOMPARE(status.workers.size(), std::size_t(2));
        QVERIFY(status.workers[0].alive && status.workers[1].alive);
        QVERIFY(status.tokensPerSecond > 0);
        QVERIFY(status.workers[0].secondsSinceProgress < 60);
        QVERIFY2(status.evidence[0].find("another computer") != std::string::npos, status.evidence[0].c_str());
        QVERIFY(good(audit(readableLedger(seen.paths))).isClean());
    }

    void itIsInterruptedWhenNothingWasWrittenForAMinute()
    {
        Seen seen;
        struct LastYear : Clock {
            std::int64_t monotonicNs() const override { return systemClock().monotonicNs(); }
            std::int64_t wallNs() const override { return systemClock().wallNs() - 365LL * 86'400'000'000'000; }
        } lastYear;
        good(good(SupervisorLedger::open(seen.story.paths().tracker(), lastYear)).heartbeat(thisProcess()));
        seen.look();
        QVERIFY(good(readStatus(seen.paths)).state == RunState::Running); // its telemetry is new
        for (const auto& file : std::filesystem::directory_iterator(seen.paths.telemetryFolder()))
            std::filesystem::last_write_time(
                file, std::filesystem::file_time_type::clock::now() - std::chrono::minutes(2));
        const auto status = good(readStatus(seen.paths));
        QVERIFY(status.state == RunState::Interrupted);
        QVERIFY2(status.stopDetail.find("no sign of life") != std::string::npos, status.stopDetail.c_str());
        QVERIFY(!status.workers[0].alive);
    }

    void nothingCanBeChangedFromThere()
    {
        Seen seen;
        for (const Status& answer : { stopRun(seen.paths), pauseRun(seen.paths), killRun(seen.paths),
                 continueRun(seen.paths), saveNow(seen.paths) }) {
            QVERIFY(!answer.ok());
            QVERIFY2(answer.error().message.find("Dropbox") != std::string::npos, answer.error().message.c_str());
        }
        QVERIFY(!SupervisorLedger::open(seen.paths.tracker()).ok());
    }

    void theConsoleFollowsTheSnapshots()
    {
        Seen seen;
        RunPoller poller(seen.paths);
        const auto first = poller.poll({ true, true, {} });
        QVERIFY(first.cells && first.events);
        QVERIFY(!poller.poll({ true, true, {} }).events); // nothing new
        QVERIFY(seen.story.trainOne(0, true));
        seen.look();
        const auto second = poller.poll({ true, true, {} });
        QVERIFY(second.cells && !second.cells->reset);
        QVERIFY(second.events);
        QVERIFY(second.events->front().seq > first.events->back().seq);
    }
};

QTEST_GUILESS_MAIN(TestRunFromElsewhere)
#include "tst_run_from_elsewhere.moc"
