#include "tests/core/tracker/ledger_fixture.h"

#include "core/base/sentence.h"
#include "core/run/status/checkpoints_left.h"
#include "core/run/status/data_wait.h"
#include "core/run/status/end_words.h"
#include "core/run/status/feeder_words.h"
#include "core/run/status/run_history.h"
#include "core/run/status/recorded_trouble.h"
#include "core/run/supervise/trouble_watch.h"
#include "core/tracker/run_event_texts.h"
#include "core/tracker/sqlite/database.h"
#include "core/tracker/worker_ends.h"

using namespace furrow;
using Kind = HistoryEntry::Kind;

/// What happened to a run is known afterwards, from its ledger alone.
class TestRunHistory : public QObject {
    Q_OBJECT

    static AttemptRow attempt(std::int64_t id, std::int64_t started, std::optional<std::int64_t> ended,
        StopReason reason, const Message& detail = {})
    {
        AttemptRow row;
        row.id = { id };
        row.startedWallNs = started;
        row.endedWallNs = ended;
        row.reason = reason;
        row.detail = detail;
        return row;
    }

    static IncarnationRow process(std::int64_t id, std::int32_t worker, std::int64_t started, std::int64_t ended,
        const Message& cause, std::int64_t attempt = 1)
    {
        IncarnationRow row;
        row.id = { id };
        row.attempt = { attempt };
        row.worker = worker;
        row.startedWallNs = started;
        row.endedWallNs = ended;
        row.live = ended == 0;
        row.endCause = cause;
        return row;
    }

    static QStringList texts(const std::vector<HistoryEntry>& history)
    {
        QStringList all;
        for (const HistoryEntry& entry : history)
            all.append(QString::number(entry.wallNs) + QLatin1Char(' ') + QString::fromStdString(entry.text.text()));
        return all;
    }

    /// Its folder, with checkpoints that are there.
    static RunPaths runOf(const Field& field)
    {
        const RunPaths paths(field.tracker.parent_path());
        std::filesystem::create_directory(paths.checkpointsFolder());
        return paths;
    }

    /// But for the disk, which is this machine's.
    static std::vector<EventRow> troublesSince(Field& field, std::int64_t seq)
    {
        auto events = good(field.reader().eventsSince(seq, 100));
        std::erase_if(events, [](const EventRow& event) {
            const auto trouble = recordedTrouble(event);
            const auto end = recordedEnd(event);
            return !(trouble || end) || (trouble ? trouble : end)->kind == RecordedTrouble::Kind::DiskNearlyFull;
        });
        return events;
    }

private Q_SLOTS:
    /// The death of a worker was an event only for a console that was open, at the time at which it looked, and a stop
    /// for nobody.
    void deathsAndStopsWereKnownOnlyToWhoLooked()
    {
        const Message killed = sentence("SIGKILL, sender unknown");
        const auto history = historyOf({ attempt(1, 10, 40, StopReason::User, sentence("after a checkpoint")),
                                           attempt(2, 50, {}, StopReason::None) },
            { process(1, 0, 11, 20, killed), process(2, 0, 22, 30, killed), process(3, 0, 33, 40, "stopped"),
                process(4, 0, 51, 0, {}, 2) });
        QCOMPARE(texts(history),
            QStringList(
                { "10 Attempt 1 began.", "20 Worker 0 ended: SIGKILL, sender unknown", "22 Worker 0 was started again.",
                    "30 Worker 0 ended: SIGKILL, sender unknown", "33 Worker 0 was started again.",
                    "40 Attempt 1 ended: a person stopped it (after a checkpoint).", "50 Attempt 2 began." }));
        QVERIFY(history[1].kind == Kind::WorkerDied && history[1].cause == killed);
    }

    /// Each run would have ended with the deaths of all its workers.
    void whoEndsWithItsAttemptDoesNotDie()
    {
        const WallTime time(1'773'427'330'000'000'000);
        std::vector<IncarnationRow> rows;
        for (const Message& cause : { sentence(kWorkerStopped), sentence(kWorkerSawEpochsEnd),
                 sentence(kWorkerSawEpochsEndBefore), // of a ledger of before
                 sentence(kWorkerSawRuleReached), sentence(kFirstRankEnded), sentence(kMergeDone), sentence(kRunKilled),
                 sentence(kSupervisorGone), sentence(kFoundDead, { time, time }), Message("stopped") })
            rows.push_back(process(std::ssize(rows) + 1, static_cast<int>(std::ssize(rows)), 1, 2, cause));
        QVERIFY(historyOf({}, rows).empty());
        rows
            = { process(1, 3, 1, 2, sentence("no progress within its lease")), process(2, kNoWorker, 1, 3, "no room") };
        QCOMPARE(texts(historyOf({}, rows)),
            QStringList(
                { "2 Worker 3 ended: no progress within its lease", "3 The process that merged ended: no room" }));
    }

    void anAttemptWithoutARecordEndedWhenItWasHeardOfLast()
    {
        AttemptRow gone = attempt(1, 10, {}, StopReason::None);
        gone.lastSeenWallNs = 35;
        QCOMPARE(texts(historyOf({ gone, attempt(2, 200, 300, StopReason::Error, "the disk is full"),
                                     attempt(3, 400, 500, StopReason::Steps) },
                     {})),
            QStringList({ "10 Attempt 1 began.", "35 Attempt 1 was interrupted.", "200 Attempt 2 began.",
                "300 Attempt 2 failed: the disk is full", "400 Attempt 3 began.",
                "500 Attempt 3 finished: the requested number of steps was reached." }));
    }

    /// It waited thirty seconds on a connection of its own: no stop was heard in that time, and nobody was named.
    void anEventWaitedForAForeignLockByItself()
    {
        Field field;
        auto supervisor = field.supervisor();
        const RunPaths paths = runOf(field);
        TroubleWatch watch(paths, supervisor, field.clock);
        good(watch.see({}, true));
        const auto before = good(field.reader().newestEvent());
        std::filesystem::remove(paths.checkpointsFolder());
        auto theirs = good(Database::open(field.tracker, {}));
        std::optional<Transaction> held(good(Transaction::begin(theirs)));
        supervisor.setPatience([](std::chrono::milliseconds) { return false; });
        good(watch.see({}, true)); // and is tried again with the next second
        QVERIFY(troublesSince(field, before).empty());
        supervisor.setPatience([&held](std::chrono::milliseconds) {
            held.reset();
            return true;
        });
        good(watch.see({}, true));
        QVERIFY(!held);
        QCOMPARE(troublesSince(field, before).size(), std::size_t(1));
    }

    /// "The run waits for its data" was gone from the list as soon as the data was back and the run selected again.
    void aWaitForDataWasForgotten()
    {
        Field field;
        auto supervisor = field.supervisor();
        TroubleWatch watch(runOf(field), supervisor, field.clock);
        const auto before = good(field.reader().newestEvent());
        const std::int64_t since = field.clock.wallNs();
        const Message doing = sentence(kTryingAgainSince,
            { sentence(kWaitingForData, { sentence("%1 is not there", { "/disk/big.txt" }) }), WallTime(since),
                Real(4, 0) });
        const auto wait = [&](double seconds) {
            for (int i = 0; i < static_cast<int>(seconds); ++i) {
                good(watch.see(doing, true));
                field.clock.advance(1);
            }
            good(watch.see({}, true));
        };
        wait(5); // a hub that answers the second time is no news
        QVERIFY(troublesSince(field, before).empty());
        wait(30);
        const auto events = troublesSince(field, before);
        QCOMPARE(events.size(), std::size_t(2)); // once each
        const auto told = recordedWait(events[0].cause);
        QVERIFY(told && told->sinceWallNs == since);
        QCOMPARE(QString::fromStdString(told->why.text()), QStringLiteral("/disk/big.txt is not there"));
        QVERIFY(!recordedWait(events[1].cause));
        QCOMPARE(QString::fromStdString(events[1].cause.text()), QStringLiteral("the run has its data again"));
        QVERIFY(good(audit(field.tracker)).isClean());
    }

    /// "Worker makes no progress" and "Checkpoints cannot be found" were told to a console that was open, and to nobody
    /// in the morning.
    void whatHeldARunUpWasKnownOnlyToWhoLooked()
    {
        Field field;
        field.fill(1, 2);
        auto worker = field.worker(3, 100'000);
        auto supervisor = field.supervisor();
        const RunPaths paths = runOf(field);
        TroubleWatch watch(paths, supervisor, field.clock);
        const auto before = good(field.reader().newestEvent());
        const std::int64_t since = field.clock.wallNs();
        const auto look = [&](double seconds, bool isToTrain) {
            field.clock.advance(seconds);
            good(watch.see({}, isToTrain));
        };
        look(200, true);
        look(200, false); // paused
        QVERIFY(troublesSince(field, before).empty());
        look(1, true);
        look(1, false); // who pauses it now ends no standstill
        look(1, true);
        const auto aside = paths.folder() / "aside";
        std::filesystem::rename(paths.checkpointsFolder(), aside);
        look(1, true);
        look(1, true);
        const std::int64_t back = field.clock.wallNs();
        std::filesystem::rename(aside, paths.checkpointsFolder());
        good(worker.renew({}, 100'000));
        look(1, true);
        look(1, true);

        const auto events = troublesSince(field, before);
        QCOMPARE(events.size(), std::size_t(4)); // once each
        const auto stall = recordedTrouble(events[0]);
        QVERIFY(stall && stall->kind == RecordedTrouble::Kind::NoProgress);
        QCOMPARE(stall->worker, 3);
        QCOMPARE(stall->sinceWallNs, since);
        const auto away = recordedTrouble(events[1]);
        QVERIFY(away && away->kind == RecordedTrouble::Kind::CheckpointsAway);
        QVERIFY(away->sinceWallNs < back);
        for (const std::size_t i : { 2, 3 })
            QVERIFY(recordedEnd(events[i]) && events[i].wallNs > back);
        QVERIFY(good(audit(field.tracker)).isClean());
    }

    /// A replay knew that chunks had left the weights at some time later, and not with which checkpoint: what had been
    /// given up before was there again.
    void nobodyKnewWhenACheckpointHadLeftTheWeights()
    {
        Field field;
        field.fill(1, 4);
        auto worker = field.worker(0);
        std::vector<CheckpointId> made;
        for (const char* folder : { "c1", "c2", "c3" }) {
            field.clock.advance(1);
            made.push_back(trainOne(worker, 0, folder));
        }
        auto supervisor = field.supervisor();
        (void)good(supervisor.revoke(field.ids[0], "ended"));
        field.clock.advance(1);
        const std::int64_t back = field.clock.wallNs();
        (void)good(supervisor.goBackTo(made[1]));
        auto next = field.worker(0);
        field.clock.advance(1);
        made.push_back(trainOne(next, 0, "c4"));
        (void)good(supervisor.revoke(field.ids[0], "ended"));
        field.clock.advance(1);
        const std::int64_t damaged = field.clock.wallNs();
        (void)good(supervisor.markDamaged(made[1], "bit rot"));
        std::vector<WeightsLeft> events;
        auto reader = field.reader();
        for (const EventRow& event : good(reader.eventsSince(0, 1000)))
            if (const auto left = weightsLeftBy(event))
                events.push_back(*left);
        QCOMPARE(events.size(), std::size_t(2));
        std::map<CheckpointId, std::int64_t> left;
        for (const CheckpointLeft& one : checkpointsLeft(good(reader.checkpoints()), events))
            left[one.checkpoint] = one.wallNs;
        QVERIFY(left
            == (std::map<CheckpointId, std::int64_t> {
                { made[1], damaged }, { made[2], back }, { made[3], damaged } }));
    }

    /// Whom a merge leaves out leaves the weights with it, and no event says so.
    void whatAMergeLeftOutWasInTheWeightsForEver()
    {
        std::vector<SupervisorLedger::CheckpointRow> rows(5);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            rows[i].id = { static_cast<std::int64_t>(i) + 1 };
            rows[i].wallNs = 10 * rows[i].id.value;
        }
        rows[2].record.kind = CheckpointKind::Merge; // of the first one alone
        rows[2].record.parents = { rows[0].id };
        rows[4].record.kind = CheckpointKind::Merge;
        rows[4].record.parents = { rows[2].id, rows[3].id };
        rows[1].surviving = rows[3].surviving = rows[4].surviving = false;
        const auto left = checkpointsLeft(rows, { { 70, rows[2].id, true } });
        QCOMPARE(left.size(), std::size_t(3));
        QCOMPARE(left[0].wallNs, rows[2].wallNs);
        QCOMPARE(left[1].wallNs, 70);
        QCOMPARE(left[2].wallNs, 70);
    }

    void whoDiedDoesNotGoOn()
    {
        Field field;
        field.fill(1, 2);
        auto worker = field.worker(0, 100'000);
        auto supervisor = field.supervisor();
        TroubleWatch watch(runOf(field), supervisor, field.clock);
        const auto before = good(field.reader().newestEvent());
        field.clock.advance(1000);
        good(watch.see({}, true));
        (void)good(supervisor.revoke(field.ids[0], sentence("no progress within its lease")));
        good(watch.see({}, true));
        QCOMPARE(troublesSince(field, before).size(), std::size_t(1));
    }
};

QTEST_GUILESS_MAIN(TestRunHistory)
#include "tst_run_history.moc"
