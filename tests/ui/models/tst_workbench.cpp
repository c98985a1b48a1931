// Models of the workbench: library, alerts, replay.

#include "core/base/file_lock.h"
#include "core/base/sentence.h"
#include "core/run/start/life_cycle.h"
#include "core/run/status/measured_export.h"
#include "core/telemetry/run_telemetry.h"
#include "core/tracker/run_event_texts.h"
#include "core/tracker/sqlite/database.h"
#include "core/tracker/training_notes.h"
#include "tests/core/base/foreign_lock.h"
#include "tests/ui/patience.h"
#include "tests/ui/run_story.h"
#include "ui/bridge/run_poller.h"
#include "ui/models/alerts.h"
#include "ui/models/library_filter.h"
#include "ui/models/library_table.h"
#include "ui/models/past_status.h"
#include "ui/models/run_list_model.h"
#include "ui/models/quarantine_draft.h"
#include "ui/models/shown_status.h"
#include "ui/models/words.h"
#include "ui/models/workbench.h"
#include "ui/shell/appearance.h"
#include "ui/shell/replay_bar.h"

#include <QAbstractItemModelTester>
#include <QAction>
#include <QElapsedTimer>
#include <QLabel>
#include <QSettings>
#include <QSignalSpy>
#include <QtTest>

using namespace furrow;
using namespace furrow::test;

namespace {

RunLine line(const char* name, const char* group = "", std::vector<std::string> tags = {}, bool archived = false)
{
    RunLine l;
    l.name = QLatin1String(name);
    l.folder = QStringLiteral("/runs/") + l.name;
    l.notes.group = group;
    l.notes.tags = std::move(tags);
    l.notes.archived = archived;
    l.config = std::make_shared<const RunConfig>();
    return l;
}

QStringList namesIn(const QAbstractItemModel& model)
{
    QStringList names;
    for (int row = 0; row < model.rowCount(); ++row)
        names.append(model.index(row, 0).data(RunListModel::NameRole).toString());
    return names;
}

RunStatus statusOf(RunState state)
{
    RunStatus status;
    status.state = state;
    status.attempt = 1;
    status.file.config.name = "story";
    return status;
}

} // namespace

class TestWorkbench : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase() { registerBridgeTypes(); }

    void libraryFindsWordsAndTagsAndHidesTheArchived()
    {
        RunListModel model;
        const QAbstractItemModelTester tester(&model);
        LibraryFilter filter;
        filter.setSourceModel(&model);
        model.reset({ line("alpha", "", { "text" }), line("beta", "sweep", { "code" }), line("gamma", "", {}, true),
            line("delta", "sweep") });
        QCOMPARE(namesIn(filter),
            (QStringList { QStringLiteral("alpha"), QStringLiteral("beta"),
                QStringLiteral("delta") })); // groups together, archived out
        filter.setWords(QStringLiteral("SWEEP"));
        QCOMPARE(namesIn(filter), (QStringList { QStringLiteral("beta"), QStringLiteral("delta") }));
        filter.setWords(QStringLiteral("sweep #code"));
        QCOMPARE(namesIn(filter), QStringList { QStringLiteral("beta") });
        filter.setWords({});
        filter.setArchivedShown(true);
        QCOMPARE(filter.rowCount(), 4);
    }

    void libraryTableHasEverySettingAndFiltersByItsValue()
    {
        LibraryTable model(libraryColumns());
        const QAbstractItemModelTester tester(&model);
        QVERIFY(model.columnCount() >= 60);
        LibraryTableFilter filter;
        filter.setSourceModel(&model);
        RunLine wide = line("wide");
        RunConfig config;
        config.width = 7777;
        wide.config = std::make_shared<const RunConfig>(config);
        model.reset({ line("narrow"), wide });
        filter.reindex();
        filter.setWords(QStringLiteral("7777"));
        QCOMPARE(filter.rowCount(), 1);
        QCOMPARE(filter.index(0, 0).data().toString(), QStringLiteral("wide"));
    }

    /// One number for a run of many workers: nobody could say whose it was.
    void theLossInTheLibraryDidNotSayOfHowManyWorkersItIs()
    {
        RunLine many = line("many");
        many.loss = 2.5;
        many.lossWorkers = 3;
        LibraryTable model(libraryColumns());
        model.reset({ line("new"), many });
        const auto tip = [&model](int row) { return model.index(row, 2).data(Qt::ToolTipRole).toString(); };
        QCOMPARE(model.index(1, 2).data().toString(), QStringLiteral("2.500"));
        QVERIFY2(tip(1).contains(QStringLiteral("mean of 3 worker")), qPrintable(tip(1)));
        QVERIFY(tip(0).isEmpty());
    }

    /// A run that skipped most of its windows was just "Finished".
    void theLibraryDidNotSayThatMostWasLeftOut()
    {
        RunLine skipped = line("skipped");
        skipped.state = RunState::Finished;
        skipped.epochsClosed = 3;
        skipped.stopDetail = "most of the text is not in the weights";
        QVERIFY2(runSubtitle(skipped).contains(QStringLiteral("most of the text")), qPrintable(runSubtitle(skipped)));
        RunListModel model;
        model.reset({ skipped });
        QVERIFY(model.index(0, 0).data(Qt::ToolTipRole).toString().contains(QStringLiteral("most of the text")));
    }

    void anAlertIsToldOnceAndNotForWhatWasSoBefore()
    {
        Alerts alerts;
        const QSignalSpy raised(&alerts, &Alerts::raised);
        alerts.open(QDir::tempPath());
        alerts.takeStatus(statusOf(RunState::Finished)); // it was finished when it was opened
        QCOMPARE(raised.count(), 0);
        alerts.takeStatus(statusOf(RunState::Running));
        alerts.takeStatus(statusOf(RunState::Interrupted));
        alerts.takeStatus(statusOf(RunState::Interrupted));
        QCOMPARE(raised.count(), 1);
        QCOMPARE(alerts.all().back().kind, AlertKind::Interrupted);
    }

    /// Who opened the console in the morning saw nothing of the night.
    void howAttemptsEndedWasKnownOnlyToAConsoleThatWasOpen()
    {
        const auto attempt = [](std::int64_t id, std::optional<std::int64_t> ended, StopReason reason) {
            AttemptRow row;
            row.id = AttemptId { id };
            row.endedWallNs = ended;
            row.reason = reason;
            row.detail = "the disk is full";
            return row;
        };
        Alerts alerts;
        const QSignalSpy raised(&alerts, &Alerts::raised);
        alerts.open(QDir::tempPath());
        std::vector<AttemptRow> attempts { attempt(1, 10, StopReason::Error), attempt(2, 20, StopReason::User),
            attempt(3, 30, StopReason::Interrupted), attempt(4, {}, StopReason::None) };
        alerts.takeHistory(historyOf(attempts, {}));
        QCOMPARE(raised.count(), 0);
        QCOMPARE(alerts.all().size(), std::size_t(2)); // what a person asked for is no news
        QVERIFY(alerts.all().front().kind == AlertKind::Failed
            && alerts.all().front().text.contains(QStringLiteral("the disk is full")));
        QVERIFY(alerts.all().back().kind == AlertKind::Interrupted && alerts.all().back().wallNs == 30);

        attempts.back() = attempt(4, 40, StopReason::Epochs); // while it is open
        alerts.takeHistory(historyOf(attempts, {}));
        QCOMPARE(raised.count(), 1);
        RunStatus status = statusOf(RunState::Running);
        status.attempt = 4;
        alerts.takeStatus(status);
        status.state = RunState::Finished;
        alerts.takeStatus(status); // the same end
        QCOMPARE(raised.count(), 1);
        QCOMPARE(alerts.all().size(), std::size_t(3));
    }

    /// The alert stood at the time at which the run was resumed, minutes after it had died.
    void anInterruptionBoreTheTimeOfTheResume()
    {
        AttemptRow dead;
        dead.id = AttemptId { 1 };
        dead.startedWallNs = 10;
        dead.lastSeenWallNs = 35;
        AttemptRow next;
        next.id = AttemptId { 2 };
        next.startedWallNs = 200;
        Alerts before;
        before.open(QDir::tempPath());
        before.takeHistory(historyOf({ dead, next }, {}));
        QCOMPARE(before.all().size(), std::size_t(1));
        QCOMPARE(before.all().front().wallNs, std::int64_t(35));
        Alerts watching; // it saw it happen, later
        watching.open(QDir::tempPath());
        watching.takeStatus(statusOf(RunState::Running));
        RunStatus status = statusOf(RunState::Interrupted);
        status.endedWallNs = 35;
        status.attempt = 1;
        watching.takeStatus(status);
        QCOMPARE(watching.all().size(), std::size_t(1));
        QCOMPARE(watching.all().front().wallNs, std::int64_t(35));
        QCOMPARE(watching.all().front().text, before.all().front().text);
        Alerts later; // before it was resumed: nothing said how the newest attempt had ended
        later.open(QDir::tempPath());
        later.takeStatus(status);
        QCOMPARE(later.all().size(), std::size_t(1));
        QCOMPARE(later.all().front().text, before.all().front().text);
    }

    /// Deaths vanished when the run was selected again, bore the time of the look, and were none during a pause;
    /// nothing told of a stop.
    void eventsDependedOnWhoWasLooking()
    {
        RunStory story({ .workers = 2, .trained = 5 });
        story.makeAlive();
        std::optional<FileLock> held(good(FileLock::tryLock(story.paths().supervisorLock())));
        auto supervisor = story.supervisor();
        AlertRules rules;
        rules.off = { AlertKind::DiskSpace }; // of this machine
        Workbench watching(story.workspace());
        watching.alerts().setRules(rules);
        const QSignalSpy raised(&watching.alerts(), &Alerts::raised);
        watching.showRun(story.folder());
        QTRY_VERIFY_WITH_TIMEOUT(watching.watcher().tables() && watching.watcher().status(), kPatienceMs);
        good(supervisor.setDesired(DesiredState::Pause));
        const auto living = good(good(LedgerReader::open(story.paths().tracker())).incarnations());
        (void)good(supervisor.revoke(living.front().id, sentence("SIGKILL, sender unknown")));
        const auto deaths = [](const Alerts& alerts) {
            return std::count_if(alerts.all().begin(), alerts.all().end(),
                [](const Alert& alert) { return alert.kind == AlertKind::WorkerDied; });
        };
        QTRY_COMPARE_WITH_TIMEOUT(deaths(watching.alerts()), 1, kPatienceMs);
        QCOMPARE(raised.count(), 1);
        good(supervisor.setDesired(DesiredState::Stop));
        (void)good(supervisor.revoke(living.back().id, "stopped")); // in order
        good(supervisor.endAttempt(story.attempt(), StopReason::User, sentence("after a checkpoint")));
        held.reset();

        const auto seen = [](Workbench& bench) {
            QStringList lines;
            for (const EventLine& line : bench.events().rows())
                if (line.weight != EventWeight::Routine && line.chunk.value == 0)
                    lines.append(QStringLiteral("%1 %2 %3").arg(line.wallNs).arg(line.isAlert).arg(line.text));
            lines.sort();
            return lines;
        };
        const auto has = [](const QStringList& lines, const char* text) {
            return std::count_if(lines.begin(), lines.end(),
                [text](const QString& line) { return line.endsWith(QString::fromLatin1(text)); });
        };
        QTRY_COMPARE_WITH_TIMEOUT(has(seen(watching), "a person stopped it (after a checkpoint)."), 1, kPatienceMs);
        Workbench later(story.workspace());
        later.alerts().setRules(rules);
        const QSignalSpy news(&later.alerts(), &Alerts::raised);
        later.showRun(story.folder());
        QTRY_COMPARE_WITH_TIMEOUT(has(seen(later), "a person stopped it (after a checkpoint)."), 1, kPatienceMs);
        QTRY_COMPARE_WITH_TIMEOUT(seen(later), seen(watching), kPatienceMs);
        QCOMPARE(has(seen(later), "Worker 0 ended: SIGKILL, sender unknown"), 1);
        QCOMPARE(has(seen(later), "Worker 1 ended: stopped"), 0);
        QCOMPARE(has(seen(later), "a person asked for a stop"), 1);
        QCOMPARE(deaths(later.alerts()), 1);
        const auto died = std::find_if(later.alerts().all().begin(), later.alerts().all().end(),
            [](const Alert& alert) { return alert.kind == AlertKind::WorkerDied; });
        const auto rows = good(good(LedgerReader::open(story.paths().tracker())).incarnations());
        QCOMPARE(died->wallNs, rows.front().endedWallNs);
        QCOMPARE(news.count(), 0); // nobody is told of yesterday
    }

    /// `evaluate` of a finished run said that it is not running, and not what evaluates it.
    void anEvaluationOfAFinishedRunWasRefusedWithoutAWayOut()
    {
        const RunStory story({});
        const auto asked = evaluateNow(story.paths());
        QVERIFY(!asked.ok() && asked.error().message.find("is not running") != std::string::npos);
        QVERIFY2(asked.error().message.find("'furrowctl eval' evaluates") != std::string::npos,
            asked.error().message.c_str());
    }

    /// The clock beside the slider stood still with Live on, as long as nothing happened: while the run waited for
    /// data.
    void theClockOfALiveRunStoodStill()
    {
        RunStory story({});
        story.makeAlive();
        const auto held = good(FileLock::tryLock(story.paths().supervisorLock()));
        Workbench bench(story.workspace());
        Appearance appearance(false);
        QAction live;
        QAction play;
        ReplayBar bar(bench, &live, &play);
        bench.showRun(story.folder());
        const auto* clock = bar.findChild<QLabel*>();
        QTRY_VERIFY_WITH_TIMEOUT(bench.watcher().status() && !clock->text().isEmpty(), kPatienceMs);
        QVERIFY(bench.watcher().status()->state == RunState::Running);
        const QString before = clock->text();
        QTRY_VERIFY_WITH_TIMEOUT(clock->text() != before, kPatienceMs);
        bench.replay().setMoment(bench.replay().begin());
        QCOMPARE(clock->text(), wallClockText(bench.replay().begin()));
    }

    /// events.csv knew spikes and checkpoints, and neither a pause nor a stop nor a death.
    void exportedEventsKnewNoStopAndNoDeath()
    {
        RunStory story({ .trained = 5 });
        auto supervisor = story.supervisor();
        good(supervisor.setDesired(DesiredState::Pause));
        const auto living = good(good(LedgerReader::open(story.paths().tracker())).incarnations());
        (void)good(supervisor.revoke(living.front().id, sentence("SIGKILL, sender unknown")));
        good(supervisor.setDesired(DesiredState::Stop));
        good(supervisor.endAttempt(story.attempt(), StopReason::User, sentence("after a checkpoint")));
        const QTemporaryDir out;
        const auto folder = std::filesystem::path(out.path().toStdString()) / "csv";
        (void)good(exportMeasured(story.paths(), MeasuredFormat::Csv, folder));
        QFile file(QString::fromStdString((folder / "events.csv").string()));
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QStringList lines = QString::fromUtf8(file.readAll()).split(QStringLiteral("\r\n"), Qt::SkipEmptyParts);
        QCOMPARE(lines.front(), QStringLiteral("wall_time,attempt,worker,step,chunk,what,text"));
        const auto at = [&lines](const char* end) {
            return std::find_if(lines.begin(), lines.end(),
                [end](const QString& line) { return line.endsWith(QString::fromLatin1(end)); });
        };
        const auto pause = at(",,,,,run,a person asked for a pause");
        const auto death = at(",1,0,,,worker_died,\"Worker 0 ended: SIGKILL, sender unknown\"");
        const auto stop = at(",,,,,run,a person asked for a stop");
        const auto end = at(",1,,,,attempt_ended,Attempt 1 ended: a person stopped it (after a checkpoint).");
        QVERIFY2(end != lines.end() && pause < death && death < stop && stop < end, // by their times
            qPrintable(lines.join(QLatin1Char('\n'))));
    }

    /// Each time the run was selected its alerts stood at that moment, and were told again.
    void filesLeftOutLongAgoWereToldAtEachLook()
    {
        RunStatus status = statusOf(RunState::Paused);
        status.leftOut = { { "left out: book09.txt", 35 } };
        Alerts alerts;
        const QSignalSpy raised(&alerts, &Alerts::raised);
        alerts.open(QDir::tempPath());
        alerts.takeStatus(status);
        QCOMPARE(alerts.all().size(), std::size_t(1));
        QCOMPARE(alerts.all().front().wallNs, std::int64_t(35));
        QCOMPARE(raised.count(), 0);
        status.leftOut.push_back({ "left out: book10.txt", 40 }); // while somebody looks
        alerts.takeStatus(status);
        QCOMPARE(alerts.all().size(), std::size_t(2));
        QCOMPARE(raised.count(), 1);
    }

    void aWorkerKilledByHandWasCalledOutOfMemoryAndForgotten()
    {
        Alerts alerts;
        alerts.open(QDir::tempPath());
        IncarnationRow first;
        first.id = IncarnationId { 1 };
        first.endedWallNs = 10;
        first.endCause = "SIGKILL, sender unknown"; // it was started again before anybody looked
        IncarnationRow second;
        second.id = IncarnationId { 2 };
        second.live = true;
        for (int look = 0; look < 2; ++look)
            alerts.takeHistory(historyOf({}, { first, second }));
        QCOMPARE(alerts.all().size(), std::size_t(1));
        QCOMPARE(alerts.all().front().kind, AlertKind::WorkerDied);
        QVERIFY(!alerts.all().front().text.contains(QStringLiteral("memory")));
        second.live = false;
        second.endedWallNs = 20;
        second.endCause = "SIGKILL (likely the out-of-memory killer)";
        alerts.takeHistory(historyOf({}, { first, second }));
        QCOMPARE(alerts.all().size(), std::size_t(2));
        QCOMPARE(alerts.all().back().kind, AlertKind::OutOfMemory);
    }

    /// What had held the run up in the night was in the list of a console that was open, and of no other.
    void aMorningLookKnewNothingOfTheNight()
    {
        const RunStory story({ .trained = 5 });
        const auto note = [&story](const Message& what) { good(noteRunEvent(story.paths().tracker(), what)); };
        const std::int64_t since = systemClock().wallNs() - 1'000'000'000;
        note(sentence(kNoProgressSince, { "1", WallTime(since) }));
        note(sentence(kProgressAgain, { "1" }));
        note(sentence(kDiskNearlyFull, { Bytes(1 << 30) }));
        note(sentence(kDiskHasRoomAgain));
        note(sentence(kCheckpointsAway, { "/run/checkpoints" }));
        note(sentence(kCheckpointsAreBack));
        const std::int64_t noted = systemClock().wallNs();
        QTest::qWait(50);
        AlertRules rules;
        rules.freeGiB = 0; // of this machine
        Workbench morning(story.workspace());
        morning.alerts().setRules(rules);
        const QSignalSpy raised(&morning.alerts(), &Alerts::raised);
        morning.showRun(story.folder());
        const auto kinds = [&morning] {
            QMap<AlertKind, std::int64_t> found;
            for (const Alert& alert : morning.alerts().all())
                found[alert.kind] = alert.wallNs;
            return found;
        };
        QTRY_VERIFY_WITH_TIMEOUT(kinds().contains(AlertKind::CheckpointsAway), kPatienceMs);
        QCOMPARE(kinds().value(AlertKind::Stalled), since);
        QVERIFY(kinds().value(AlertKind::DiskSpace) > since && kinds().value(AlertKind::DiskSpace) <= noted);
        QVERIFY(kinds().value(AlertKind::CheckpointsAway) <= noted);
        QCOMPARE(raised.count(), 0);
        const auto says = [&morning](const QString& words, bool isAlert) {
            return std::count_if(morning.events().rows().begin(), morning.events().rows().end(),
                [&](const EventLine& line) { return line.isAlert == isAlert && line.text.contains(words); });
        };
        QCOMPARE(says(QStringLiteral("made no progress since"), true), 1);
        QCOMPARE(says(QStringLiteral("made no progress since"), false), 0);
        QCOMPARE(says(QStringLiteral("goes on"), false), 1);
    }

    /// They piled up until the disk was full, and supervisor.log alone said so.
    void checkpointsThatStayedWereSaidNowhere()
    {
        const RunStory story({ .trained = 5 });
        good(good(SupervisorLedger::open(story.paths().tracker()))
                .keepNotRemoved(sentence(kCannotRemove, { "r0-1", "Permission denied." })));
        const std::string said = "Checkpoints that are no longer needed cannot be removed, and stay on the disk. The "
                                 "first is r0-1: Permission denied.";
        QCOMPARE(good(readStatus(story.paths())).evidence.back().text(), said);
        Workbench bench(story.workspace());
        bench.showRun(story.folder());
        const auto alert = [&bench] {
            const auto& all = bench.alerts().all();
            const auto found = std::ranges::find(all, AlertKind::CheckpointsStay, &Alert::kind);
            return found == all.end() ? std::string() : found->text.toStdString();
        };
        QTRY_COMPARE_WITH_TIMEOUT(alert(), said, kPatienceMs);
    }

    /// What was found by looking stood beside what the run had recorded of it.
    void aLookGivesWayToWhatTheRunRecorded()
    {
        Alerts alerts;
        AlertRules rules;
        rules.off = { AlertKind::DiskSpace };
        alerts.setRules(rules);
        alerts.open(QDir::tempPath());
        const QSignalSpy raised(&alerts, &Alerts::raised);
        const QSignalSpy withdrawn(&alerts, &Alerts::withdrawn);
        RunStatus status = statusOf(RunState::Running);
        WorkerStatus worker;
        worker.alive = true;
        worker.secondsSinceProgress = 400;
        status.workers = { worker };
        alerts.takeStatus(status);
        QCOMPARE(raised.count(), 1);
        EventRow event;
        event.wallNs = systemClock().wallNs();
        const std::int64_t since = event.wallNs - 400'000'000'000;
        event.cause = sentence(kNoProgressSince, { "0", WallTime(since) });
        alerts.takeEvents({ event });
        QCOMPARE(withdrawn.count(), 1);
        QCOMPARE(alerts.all().size(), std::size_t(1));
        QCOMPARE(alerts.all().front().wallNs, since);
        alerts.takeStatus(status);
        QCOMPARE(raised.count(), 1); // told already
        status.workers.front().secondsSinceProgress = 1;
        alerts.takeStatus(status);
        status.workers.front().secondsSinceProgress = 500;
        alerts.takeStatus(status);
        QCOMPARE(raised.count(), 2); // and again
        EventRow over = event; // an older standstill that is over has nothing to do with it
        over.cause = sentence(kProgressAgain, { "0" });
        event.cause = sentence(kNoProgressSince, { "0", WallTime(since - 1) });
        alerts.takeEvents({ event, over });
        QCOMPARE(withdrawn.count(), 1);
        QCOMPARE(alerts.all().size(), std::size_t(3));
    }

    void rulesThatAreOffSayNothing()
    {
        Alerts alerts;
        AlertRules rules;
        rules.off = { AlertKind::Stalled };
        alerts.setRules(rules);
        alerts.open(QDir::tempPath());
        RunStatus status = statusOf(RunState::Running);
        WorkerStatus worker;
        worker.alive = true;
        worker.secondsSinceProgress = 1e6;
        status.workers = { worker };
        alerts.takeStatus(status);
        QVERIFY(std::none_of(
            alerts.all().begin(), alerts.all().end(), [](const Alert& a) { return a.kind == AlertKind::Stalled; }));
        rules.off.clear();
        alerts.setRules(rules);
        alerts.takeStatus(status);
        QVERIFY(std::any_of(
            alerts.all().begin(), alerts.all().end(), [](const Alert& a) { return a.kind == AlertKind::Stalled; }));
    }

    void aQuarantineListNamesEachChunkOnceAndIsSavedOnlyWhole()
    {
        const QTemporaryDir workspace;
        QuarantineDraft draft;
        draft.setWorkspace(workspace.path());
        const QSignalSpy changed(&draft, &QuarantineDraft::changed);
        draft.addChunks({ { ChunkId { 1 }, 53, 17 }, { ChunkId { 2 }, 53, 18 } }, QStringLiteral("from the run story"));
        draft.addChunks({ { ChunkId { 2 }, 53, 18 } }, QStringLiteral("again"));
        draft.addSample(0xABCDull);
        draft.addSample(0xABCDull);
        QCOMPARE(
            draft.text(), QStringLiteral("# from the run story\nchunk 53:17\nchunk 53:18\nsample 000000000000abcd\n"));
        QCOMPARE(draft.chunkCount(), std::size_t(2));
        QVERIFY(draft.has(0xABCDull));
        QCOMPARE(changed.count(), 2);
        good(draft.save(QStringLiteral("worst")));
        QCOMPARE(draft.saved(), QStringList { QStringLiteral("worst") });
        const QString whole = draft.text();
        draft.setText(QStringLiteral("chunk 53\n"));
        QVERIFY(!draft.problem().isEmpty());
        QVERIFY(!draft.save(QStringLiteral("worst")).ok());
        QVERIFY(!draft.save(QStringLiteral("../worst")).ok());
        good(draft.load(QStringLiteral("worst")));
        QCOMPARE(draft.text(), whole);
        QVERIFY(!draft.load(QStringLiteral("no such list")).ok());
        QuarantineDraft later; // what is added later joins the list that is there
        later.setWorkspace(workspace.path());
        later.addChunks({ { ChunkId { 3 }, 54, 1 } }, {});
        QCOMPARE(later.name(), QStringLiteral("worst"));
        QCOMPARE(later.text(), whole + QStringLiteral("chunk 54:1\n"));
        QVERIFY(later.isModified());
    }

    void trainingsOfAChunkWereKnownBeforeTheirTimeInAReplay()
    {
        const RunStory story({});
        Workbench bench(story.workspace());
        bench.showRun(story.folder());
        QTRY_VERIFY_WITH_TIMEOUT(bench.cells().cells().size() == 24 && bench.claims().claims().size() >= 9
                && bench.replay().end() > bench.replay().begin(),
            kPatienceMs);
        const auto& all = bench.claims().claims();
        const auto found = std::find_if(
            all.begin(), all.end(), [](const ClaimRow& claim) { return claim.outcome == ClaimEnd::Committed; });
        QVERIFY(found != all.end());
        const ClaimRow claim = *found;
        Replay& replay = bench.replay();
        QVERIFY(replay.claimsOf(claim.chunk).front().outcome == ClaimEnd::Committed);
        replay.setMoment(claim.endedWallNs);
        QVERIFY(replay.claimsOf(claim.chunk).front().outcome == ClaimEnd::Trained);
        QCOMPARE(replay.claimsOf(claim.chunk).front().checkpoint, 0);
        replay.setMoment(claim.endedWallNs - 1);
        QVERIFY(replay.claimsOf(claim.chunk).front().outcome == ClaimEnd::Open);
        QCOMPARE(replay.claimsOf(claim.chunk).front().tokens, 0);
        replay.setMoment(claim.claimedWallNs - 1);
        QVERIFY(replay.claimsOf(claim.chunk).empty());
    }

    void replayShowsTheRunAsItWas()
    {
        RunStory story({});
        Workbench bench(story.workspace());
        bench.showRun(story.folder());
        QTRY_VERIFY_WITH_TIMEOUT(bench.cells().cells().size() == 24 && bench.claims().claims().size() >= 9
                && bench.replay().end() > bench.replay().begin() && bench.watcher().telemetry(),
            kPatienceMs);
        const auto trainedIn = [](const std::vector<ChunkCell>& cells) {
            return std::count_if(cells.begin(), cells.end(),
                [](const ChunkCell& c) { return c.state == ChunkState::Trained || c.state == ChunkState::Committed; });
        };
        const auto now = trainedIn(bench.cells().cells());
        QVERIFY(now > 0);
        // the newest moment is the present, state by state
        const auto newest = bench.replay().cellsAt(bench.replay().end());
        for (std::size_t i = 0; i < newest.size(); ++i) {
            QCOMPARE(newest[i].id.value, bench.cells().cells()[i].id.value);
            QVERIFY(newest[i].state == bench.cells().cells()[i].state);
        }
        bench.replay().setMoment(bench.replay().begin());
        QCOMPARE(trainedIn(bench.cells().cells()), std::ptrdiff_t(0));
        QVERIFY(bench.watcher().isHeld());
        bench.watcher().setHeld(false); // "Live"
        QVERIFY(!bench.replay().moment());
        QCOMPARE(trainedIn(bench.cells().cells()), now);
    }

    void nobodyLooksAndLittleIsRead()
    {
        const RunStory story({});
        RunWatcher watcher;
        watcher.open(story.folder());
        QTRY_VERIFY_WITH_TIMEOUT(watcher.status(), kPatienceMs);
        QSignalSpy read(&watcher, &RunWatcher::statusRead);
        watcher.setResting(true);
        QTest::qWait(1300);
        QVERIFY2(read.count() <= 1, qPrintable(QString::number(read.count()))); // awake: every half second
        QTRY_VERIFY_WITH_TIMEOUT(read.count() >= 2, kPatienceMs); // the title and the alerts still learn what happens
        read.clear();
        watcher.setResting(false);
        QTRY_VERIFY_WITH_TIMEOUT(read.count() >= 2, kPatienceMs);
    }

    /// The window stood still until the look at the run before was over: for seconds at a lock, for ever at a dead
    /// disk.
    void anotherRunWasOpenedOnlyAfterTheLookAtTheOneBefore()
    {
        const QTemporaryDir workspace;
        const RunStory story({});
        const RunPaths locked = RunStory({}, QStringLiteral("locked"), workspace.path()).paths(); // nobody has it open
        const ForeignLock lock(locked.tracker());
        QVERIFY(lock.pid() > 0);
        RunWatcher watcher;
        watcher.open(QString::fromStdString(locked.folder().string()));
        QTest::qWait(300); // its look has begun
        QVERIFY(watcher.isReading());
        QElapsedTimer waited;
        waited.start();
        watcher.open(story.folder());
        QVERIFY2(waited.elapsed() < 500, qPrintable(QString::number(waited.elapsed())));
        QTRY_VERIFY_WITH_TIMEOUT(watcher.status(), kPatienceMs);
        QCOMPARE(watcher.status()->file.config.name, std::string("story"));
        QTest::qWait(100);
        QVERIFY(watcher.problem().empty()); // nothing of the one before is told of this one
    }

    /// The overview had a dash beside a chart with evaluations: the ledger knows the loss of a checkpoint's own step
    /// only.
    void anEvaluationWithoutACheckpointWasNotKnown()
    {
        RunStory story({ .trained = 0 });
        for (int i = 0; i < 5; ++i) // the fifth chunk of a worker ends with an evaluation
            QVERIFY(story.trainOne(0, false));
        auto db = good(Database::open(story.paths().tracker(), Database::Options {}));
        db.run("UPDATE incarnation SET started_wall=1"); // the story tells of ten minutes ago: it trained then already
        good(db.takeStatus());
        RunPoller poller(story.paths());
        (void)poller.poll({ true, true, {} });
        const auto update = poller.poll({ true, true, {} });
        QVERIFY(update.status && update.status->evaluation);
        QVERIFY(update.status->evaluation->loss > 0);
        QVERIFY(update.status->evaluation->step > 0);
        const auto told = good(readStatus(story.paths())).evaluation; // `furrowctl status` said another one, or none
        QVERIFY(told && told->loss == update.status->evaluation->loss && told->step == update.status->evaluation->step);
        QCOMPARE(told->whose, update.status->evaluation->whose);
        QVERIFY2(ofWhat(*update.status->evaluation).ends_with("worker 0, while it trained"),
            ofWhat(*update.status->evaluation).c_str());
    }

    /// A replay said "running" for the hours between a kill and the resume: the killed attempt has no record of its
    /// end.
    void theTimeBetweenTwoAttemptsWasReplayedAsRunning()
    {
        constexpr std::int64_t kSecond = 1'000'000'000;
        const auto attempt
            = [](std::int64_t id, std::int64_t started, std::optional<std::int64_t> ended, StopReason reason) {
                  AttemptRow row;
                  row.id = AttemptId { id };
                  row.startedWallNs = started * kSecond;
                  if (ended)
                      row.endedWallNs = *ended * kSecond;
                  row.reason = reason;
                  return row;
              };
        ClaimRow done;
        done.attempt = AttemptId { 1 };
        done.claimedWallNs = 10 * kSecond;
        done.endedWallNs = 30 * kSecond;
        done.outcome = ClaimEnd::Committed;
        ClaimRow lost = done; // the resume found it
        lost.claimedWallNs = 31 * kSecond;
        lost.endedWallNs = 1000 * kSecond;
        lost.outcome = ClaimEnd::Lost;
        RunStatus now;
        now.state = RunState::Running;
        LedgerTables tables;
        tables.attempts = { attempt(1, 5, {}, StopReason::None), attempt(2, 1000, 1100, StopReason::User),
            attempt(3, 2000, {}, StopReason::None) };
        tables.active
            = { { 5 * kSecond, 31 * kSecond, 26 * kSecond }, { 1001 * kSecond, 1100 * kSecond, 99 * kSecond } };
        const std::vector<ClaimRow> claims { done, lost };
        const std::vector<PastSources::Epoch> epochs;
        const std::vector<Replay::Left> left;
        const auto at = [&](std::int64_t second) {
            return statusAt(second * kSecond, { now, epochs, left, claims, &tables, nullptr });
        };
        QVERIFY(at(20).state == RunState::Running);
        QVERIFY(at(500).state == RunState::Interrupted);
        QCOMPARE(at(500).endedWallNs, 31 * kSecond);
        QCOMPARE(at(500).activeSeconds, 26.0); // the time without a process is none
        QVERIFY(at(1050).state == RunState::Running);
        QVERIFY(at(1500).state == RunState::Stopped);
        QVERIFY(at(2500).state == RunState::Running);
        now.state = RunState::Interrupted; // the newest one too was killed, and its last heartbeat is known
        now.endedWallNs = 2200 * kSecond;
        QVERIFY(at(2100).state == RunState::Running);
        QVERIFY(at(2500).state == RunState::Interrupted);
    }

    /// "Active time 30 s" of a moment at which the page itself, and status, had said 13 s: waits for data, start and
    /// end were counted.
    void aReplayShowedAnotherActiveTimeThanThePageThen()
    {
        RunStory story({ .trained = 5 });
        auto supervisor = story.supervisor();
        const auto beat = [&supervisor](bool trains) {
            QTest::qWait(150);
            good(supervisor.heartbeat(thisProcess(), trains));
        };
        good(supervisor.heartbeat(thisProcess()));
        beat(true);
        const std::int64_t moment = systemClock().wallNs();
        const double told = good(readStatus(story.paths())).activeSeconds;
        QVERIFY(told >= 0.15);
        beat(false); // it waits for its data
        beat(false);
        QVERIFY(story.trainOne(0, true));
        const std::int64_t waited = systemClock().wallNs();
        QCOMPARE(good(readStatus(story.paths())).activeSeconds, told);
        beat(true);
        QVERIFY(story.trainOne(0, true));
        Workbench bench(story.workspace());
        bench.showRun(story.folder());
        QTRY_VERIFY_WITH_TIMEOUT(bench.replay().end() > waited && bench.watcher().tables() && bench.watcher().status()
                && bench.watcher().tables()->active.size() == 2,
            kPatienceMs);
        for (const std::int64_t then : { moment, waited }) {
            bench.replay().setMoment(then);
            QVERIFY2(std::abs(shownStatus(bench)->activeSeconds - told) < 0.02,
                qPrintable(QString::number(shownStatus(bench)->activeSeconds)));
        }
        bench.replay().setMoment(bench.replay().end());
        const auto& now = *bench.watcher().status();
        QVERIFY(now.activeSeconds > told);
        QCOMPARE(shownStatus(bench)->activeSeconds, now.activeSeconds);
    }

    /// A replay called a paused moment running, at the speed of the last step before it.
    void aPausedMomentWasReplayedAsRunning()
    {
        RunStory story({ .trained = 5 });
        story.makeAlive();
        Workbench bench(story.workspace());
        bench.showRun(story.folder());
        good(story.supervisor().setDesired(DesiredState::Pause));
        QTest::qWait(100);
        const std::int64_t paused = systemClock().wallNs();
        QTest::qWait(100);
        good(story.supervisor().setDesired(DesiredState::Run));
        QTest::qWait(100);
        QVERIFY(story.trainOne(0, true));
        QTRY_VERIFY_WITH_TIMEOUT(bench.watcher().telemetry() && bench.claims().claims().size() >= 6
                && bench.replay().end() > paused && bench.watcher().tables() && bench.watcher().status(),
            kPatienceMs);
        bench.replay().setMoment(paused);
        QVERIFY(bench.replay().pausedAt(paused));
        QVERIFY(shownStatus(bench)->state == RunState::Paused);
        bench.replay().setMoment(bench.replay().end());
        QVERIFY(!bench.replay().pausedAt(bench.replay().end()));
        QVERIFY(shownStatus(bench)->state != RunState::Paused);
    }

    /// The speed of the last step was shown for as long as nothing else was told.
    void aReplayShowedASpeedWhenNothingRan()
    {
        const RunStory story({});
        Workbench bench(story.workspace());
        bench.showRun(story.folder());
        QTRY_VERIFY_WITH_TIMEOUT(bench.watcher().telemetry() && !bench.watcher().telemetry()->stretches.empty()
                && bench.watcher().tables() && bench.watcher().status(),
            kPatienceMs);
        const auto& telemetry = *bench.watcher().telemetry();
        double last = 0;
        for (const Stretch& stretch : telemetry.stretches)
            last = std::max(last, stretch.wallEnd());
        RunStatus now = *bench.watcher().status();
        now.state = RunState::Running;
        const std::vector<PastSources::Epoch> epochs;
        const std::vector<Replay::Left> left;
        const std::vector<ClaimRow> claims;
        LedgerTables tables = *bench.watcher().tables();
        for (IncarnationRow& row : tables.incarnations)
            row.startedWallNs = std::min(row.startedWallNs, static_cast<std::int64_t>(last * 1e9) - 1'000'000'000);
        for (AttemptRow& row : tables.attempts)
            row.startedWallNs = std::min(row.startedWallNs, static_cast<std::int64_t>(last * 1e9) - 2'000'000'000);
        const auto speedAt = [&](double wall) {
            return statusAt(static_cast<std::int64_t>(wall * 1e9), { now, epochs, left, claims, &tables, &telemetry })
                .tokensPerSecond;
        };
        QVERIFY(speedAt(last + 0.001) > 0);
        QCOMPARE(speedAt(last + 3600), 0.0);
    }

private:
    struct TimedStep {
        double took = 0; ///< [s]
        double before = 0; ///< what lay before it and belongs to no step [s]
    };
    /// What a replay says at the last of these steps of 1000 tokens; 0: it has nothing to replay.
    double replayedSpeed(const std::vector<TimedStep>& steps)
    {
        const RunStory story({});
        Workbench bench(story.workspace());
        bench.showRun(story.folder());
        if (!QTest::qWaitFor([&] { return bench.watcher().tables() && bench.watcher().status(); }, kPatienceMs))
            return 0;
        const QTemporaryDir folder;
        const double begin = 1'000'000;
        double wall = 0;
        {
            std::string lines;
            encodeLine(TelemetryHeader { "r", 1, 0, "b", static_cast<std::int64_t>(begin) * 1'000'000'000, 0 }, lines);
            for (const TimedStep& step : steps) {
                StepRecord record;
                wall += step.before + step.took;
                record.monotonicNs = std::llround(wall * 1e9);
                record.step = static_cast<std::int64_t>(&step - steps.data()) + 1;
                record.stepTokens = 1000;
                record.tokens = record.step * 1000;
                record.tokensPerSecond = 1000 / step.took;
                encodeLine(TelemetryRecord(record), lines);
            }
            std::ofstream(folder.filePath(QStringLiteral("1-w0.jsonl")).toStdString()) << lines;
        }
        RunTelemetry telemetry(std::filesystem::path(folder.path().toStdString()));
        while (telemetry.poll()) { }
        RunStatus now = *bench.watcher().status();
        now.state = RunState::Running;
        LedgerTables tables = *bench.watcher().tables();
        for (IncarnationRow& row : tables.incarnations)
            row.startedWallNs = static_cast<std::int64_t>(begin * 1e9);
        for (AttemptRow& row : tables.attempts)
            row.startedWallNs = static_cast<std::int64_t>(begin * 1e9);
        const auto snapshot = telemetry.snapshot();
        return statusAt(static_cast<std::int64_t>((begin + wall + 0.05) * 1e9),
            { now, {}, bench.replay().left(), bench.claims().claims(), &tables, snapshot.get() })
            .tokensPerSecond;
    }

private Q_SLOTS:
    /// A replay said the speed of the last single step, up to six times that of the live console.
    void aReplayShowedTheSpeedOfOneStep()
    {
        std::vector<TimedStep> steps;
        for (int pair = 0; pair < 30; ++pair)
            steps.insert(steps.end(), { { 0.9, 0 }, { 0.1, 0 } });
        const double speed = replayedSpeed(steps);
        QVERIFY2(std::abs(speed - 2000) < 200, qPrintable(QString::number(speed))); // the last step made 10,000
    }

    /// A slow step behind an evaluation of half a minute weighed as much as that took.
    void aReplayTookAnEvaluationForAStep()
    {
        std::vector<TimedStep> steps(100, TimedStep { 0.1, 0 });
        steps[90] = { 0.4, 30 };
        const double speed = replayedSpeed(steps);
        QVERIFY2(speed > 9000 && speed < 9900, qPrintable(QString::number(speed)));
    }

    void aSnapshotUpToAMomentEndsThere()
    {
        const RunStory story({});
        Workbench bench(story.workspace());
        bench.showRun(story.folder());
        QTRY_VERIFY_WITH_TIMEOUT(
            bench.watcher().telemetry() && !bench.watcher().telemetry()->stretches.empty(), kPatienceMs);
        const SnapshotPtr whole = bench.watcher().telemetry();
        const Stretch& first = whole->stretches.front();
        QVERIFY(first.size() > 4);
        const SnapshotPtr head = snapshotUntil(*whole, first.wallAt(2));
        QCOMPARE(head->stretches.front().size(), std::size_t(3));
        const auto curve = head->curve(0, Metric::Loss, XAxis::WorkerStep);
        const auto same = whole->curve(0, Metric::Loss, XAxis::WorkerStep);
        QCOMPARE(curve->range(0, 3).max, same->range(0, 3).max);
        QCOMPARE(whole->stretches.front().size(), first.size()); // the whole one did not change
    }

    void alertsStandInTheOrderOfTheirTime()
    {
        TelemetrySnapshot snapshot;
        auto events = std::make_shared<std::vector<EventPoint>>();
        for (const double wall : { 30.0, 10.0, 20.0 }) { // worker by worker, as the files are read
            EventRecord record;
            record.kind = EventRecord::Kind::Spike;
            record.step = static_cast<std::int64_t>(wall);
            events->push_back({ 0, 1, wall, record });
        }
        snapshot.events = events;
        Alerts alerts;
        alerts.open(QStringLiteral("/nowhere"));
        alerts.takeTelemetry(snapshot);
        QCOMPARE(alerts.all().size(), std::size_t(3));
        QVERIFY(std::is_sorted(alerts.all().begin(), alerts.all().end(),
            [](const Alert& a, const Alert& b) { return a.wallNs < b.wallNs; }));
    }

    void aRunFromElsewhereIsListedAgainByTheNextConsole()
    {
        QCoreApplication::setOrganizationName(QStringLiteral("furrow-test"));
        QCoreApplication::setApplicationName(QStringLiteral("tst_workbench"));
        QSettings().clear();
        const QTemporaryDir workspace;
        const RunStory story({}); // in a folder of its own
        const auto listed = [](Workbench& bench) { return bench.scanner().lines()->size() == 1; };
        {
            Workbench bench(workspace.path());
            bench.rememberRuns();
            bench.start({});
            bench.addRun(story.folder());
            QTRY_VERIFY_WITH_TIMEOUT(listed(bench), kPatienceMs);
            QVERIFY(bench.isElsewhere(story.folder()));
        }
        Workbench next(workspace.path());
        next.rememberRuns();
        next.start({});
        QTRY_VERIFY_WITH_TIMEOUT(listed(next), kPatienceMs);
        next.dropRun(story.folder());
        QTRY_VERIFY_WITH_TIMEOUT(next.scanner().lines()->empty(), kPatienceMs);
        QVERIFY(QFile::exists(story.folder() + QStringLiteral("/run.json")));
        Workbench last(workspace.path());
        last.rememberRuns();
        QVERIFY(!last.isElsewhere(story.folder()));
        QSettings().clear();
    }
};

QTEST_MAIN(TestWorkbench)
#include "tst_workbench.moc"
