// What a person met who used the console by mouse and keyboard. Each test is named after what went wrong.
#include "core/base/sentence.h"
#include "core/telemetry/run_telemetry.h"
#include "core/tracker/worker_ends.h"
#include "core/workspace/compare_runs.h"
#include "core/workspace/run_folders.h"
#include "tests/ui/patience.h"
#include "tests/ui/run_story.h"
#include "ui/bridge/workspace_scanner.h"
#include "ui/charts/lost_steps.h"
#include "ui/models/core_words.h"
#include "ui/models/library_table.h"
#include "ui/models/past_status.h"
#include "ui/models/past_trainings.h"
#include "ui/models/run_tables.h"
#include "ui/models/shown_status.h"
#include "ui/models/words.h"
#include "ui/models/workbench.h"
#include "ui/pages/compare_page.h"
#include "ui/pages/data_page.h"
#include "ui/pages/new_run/new_run_page.h"
#include "ui/pages/overview_page.h"
#include "ui/dialogs/resume_parts.h"
#include "ui/pages/run_banner.h"
#include "ui/pages/workers_page.h"
#include "ui/shell/appearance.h"
#include "ui/shell/events_dock.h"

#include <QJsonObject>
#include <QLabel>
#include <QPushButton>
#include <QRadioButton>
#include <QSignalSpy>
#include <QTableView>
#include <QTabWidget>
#include <QTemporaryDir>

using namespace furrow;
using namespace furrow::test;

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

/// Whether a label that is seen holds these words.
bool says(const QWidget& parent, const QString& part)
{
    const auto labels = parent.findChildren<QLabel*>();
    return std::any_of(labels.begin(), labels.end(),
        [&part, &parent](const QLabel* label) { return label->isVisibleTo(&parent) && label->text().contains(part); });
}

void show(Workbench& bench, const RunStory& story)
{
    bench.showRun(story.folder());
    QTRY_VERIFY_WITH_TIMEOUT(
        bench.watcher().status() && bench.watcher().telemetry() && bench.watcher().tables(), kPatienceMs);
}

void write(const std::filesystem::path& file, const std::string& text)
{
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
}

IncarnationRow processOf(std::int64_t id, int worker, std::int64_t attempt, std::int64_t startedS, std::int64_t endedS)
{
    IncarnationRow row;
    row.id = { id };
    row.worker = row.replica = worker;
    row.attempt = { attempt };
    row.startedWallNs = startedS * kSecond;
    row.endedWallNs = endedS * kSecond;
    row.endCause = endedS == 0 ? "" : "SIGKILL";
    return row;
}

AttemptRow attemptOf(std::int64_t id, std::int64_t startedS, std::optional<std::int64_t> endedS)
{
    AttemptRow row;
    row.id = { id };
    row.startedWallNs = startedS * kSecond;
    if (endedS)
        row.endedWallNs = *endedS * kSecond;
    row.reason = endedS ? StopReason::User : StopReason::None;
    return row;
}

/// Telemetry of one worker: `steps` steps from `first` on in one attempt.
void writeSteps(
    const RunPaths& paths, int worker, std::int64_t attempt, std::int64_t first, int steps, std::int64_t atS)
{
    std::string lines;
    encodeLine(TelemetryHeader { "00112233aabbccdd", attempt, worker, bootId(), atS * kSecond, atS * kSecond }, lines);
    for (int i = 0; i < steps; ++i) {
        StepRecord record;
        record.monotonicNs = atS * kSecond + i * kSecond / 10;
        record.step = first + i;
        record.chunk = chunkIdOf({ 0, 0, worker }).value;
        record.tokens = (first + i) * 125;
        record.stepTokens = 125;
        record.loss = 2;
        encodeLine(TelemetryRecord(record), lines);
    }
    write(paths.telemetryFile(attempt, worker), lines);
}

SnapshotPtr readTelemetry(const RunPaths& paths)
{
    RunTelemetry telemetry(paths.telemetryFolder());
    while (telemetry.poll()) { }
    return telemetry.snapshot();
}

ChunkCell cellOf(std::int64_t epoch, std::int64_t block, int column, ChunkState state, bool lost = false)
{
    ChunkCell cell;
    cell.id = chunkIdOf({ epoch, block, column });
    cell.block = block;
    cell.column = column;
    cell.state = state;
    cell.timesLost = lost ? 1 : 0;
    return cell;
}

/// Texts of the labels of a grid, row by row.
QStringList textsOf(const QWidget& table)
{
    QStringList texts;
    for (const auto* label : table.findChildren<QLabel*>())
        texts.append(label->text());
    return texts;
}

} // namespace

class TestNewcomer : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { registerBridgeTypes(); }

    void aRunThatCannotBeReadWasBeingReadForEver()
    {
        const QTemporaryDir folder;
        write(std::filesystem::path(folder.path().toStdString()) / "run.json",
            R"({"format": 9, "furrow_version": "7.0"})");
        Workbench bench(folder.path());
        OverviewPage page(bench);
        RunBanner banner(bench);
        bench.showRun(folder.path());
        QTRY_VERIFY_WITH_TIMEOUT(says(page, QStringLiteral("Nothing is known of this run")), kPatienceMs);
        QVERIFY(!says(page, QStringLiteral("Reading")));
        QVERIFY(says(banner, QStringLiteral("This run cannot be read")));
        QVERIFY(!bench.watcher().problem().empty());
        OverviewPage later(bench); // a page that is made after it was known
        QVERIFY(says(later, QStringLiteral("Nothing is known of this run")));
    }

    void aRunOpenedFromAReplayOfAnotherWasNeverRead()
    {
        const RunStory story({});
        const RunStory other({}, QStringLiteral("other"), story.workspace());
        Workbench bench(story.workspace());
        show(bench, story);
        QTRY_VERIFY_WITH_TIMEOUT(bench.replay().end() > bench.replay().begin(), kPatienceMs);
        bench.replay().setMoment(bench.replay().begin());
        QVERIFY(bench.watcher().isHeld());
        bench.showRun(other.folder());
        QVERIFY(!bench.watcher().isHeld() && !bench.replay().moment());
        QTRY_VERIFY_WITH_TIMEOUT(!bench.cells().cells().empty() && bench.watcher().telemetry(), kPatienceMs);
    }

    void theFolderOfARunWasGoneAndTheRunWasShownAsBefore()
    {
        RunStory story({});
        story.makeAlive();
        Workbench bench(story.workspace());
        OverviewPage page(bench);
        RunBanner banner(bench);
        show(bench, story);
        const RunState before = bench.watcher().status()->state;
        const auto aside = story.paths().folder().parent_path() / "aside";
        std::filesystem::rename(story.paths().folder(), aside);
        QTRY_VERIFY_WITH_TIMEOUT(!bench.watcher().problem().empty(), kPatienceMs);
        QVERIFY2(
            bench.watcher().problem().find("is not there") != std::string::npos, bench.watcher().problem().c_str());
        const StatusPtr shown = shownStatus(bench);
        QVERIFY(shown->state == RunState::Unknown);
        QVERIFY(!isAnyAlive(*shown) && shown->tokensPerSecond == 0 && shown->supervisorPid == 0);
        QVERIFY(QString::fromStdString(shown->evidence.back()).contains(stateWord(before).toLower()));
        QCOMPARE(shown->steps, bench.watcher().status()->steps); // the last that is known, and said to be that
        QVERIFY(says(banner, QStringLiteral("cannot be read any more")));
        QVERIFY(says(banner, wallTimeText(bench.watcher().lastReadNs())));
        QVERIFY(says(page, QStringLiteral("unknown")));
        std::filesystem::rename(aside, story.paths().folder());
        QTRY_VERIFY_WITH_TIMEOUT(bench.watcher().problem().empty() && bench.watcher().status()
                && !bench.cells().cells().empty() && shownStatus(bench)->state == before,
            kPatienceMs);
        QVERIFY(!says(banner, QStringLiteral("cannot be read any more")));
    }

    /// Another folder may stand in its place: what was open would go on showing the one that is gone.
    void whatCameBackInItsPlaceWasReadFromTheDeletedOne()
    {
        RunStory story({ .trained = 9 });
        const RunStory other({ .trained = 5 }, QStringLiteral("other"), story.workspace());
        Workbench bench(story.workspace());
        show(bench, story);
        QTRY_VERIFY_WITH_TIMEOUT(!bench.claims().claims().empty(), kPatienceMs);
        const auto before = bench.claims().claims().size();
        std::filesystem::remove_all(story.paths().folder());
        QTRY_VERIFY_WITH_TIMEOUT(!bench.watcher().problem().empty(), kPatienceMs);
        std::filesystem::copy(other.paths().folder(), story.paths().folder(), std::filesystem::copy_options::recursive);
        QTRY_VERIFY_WITH_TIMEOUT(bench.watcher().problem().empty() && !bench.claims().claims().empty(), kPatienceMs);
        QVERIFY(bench.claims().claims().size() < before);
    }

    /// A worker that began anew from a merge counts its steps from 1: its whole history was dashed, and the mark said
    /// that all of it was redone.
    void stepsThatAreInTheWeightsWereCalledRedone()
    {
        const RunStory story({ .trained = 0 });
        std::filesystem::remove_all(story.paths().telemetryFolder());
        writeSteps(story.paths(), 0, 1, 1, 40, 1000);
        writeSteps(story.paths(), 0, 2, 1, 10, 2000);
        const SnapshotPtr snapshot = readTelemetry(story.paths());
        QCOMPARE(snapshot->stretches.size(), std::size_t(2));
        ChartData curves = chartDataOf(*snapshot, Metric::Loss, XAxis::WallTime);
        dashLost(curves, *snapshot, Metric::Loss, {});
        QCOMPARE(curves.lines[0].supersededFrom, std::size_t(40));
        QCOMPARE(curves.seams.size(), std::size_t(1));
        QVERIFY2(
            !curves.seams[0].text.contains(QStringLiteral("not in the weights")), qPrintable(curves.seams[0].text));
        const LostTraining lost { 0, 1, chunkIdOf({ 0, 0, 0 }).value, 1, 1e9, 25 }; // a checkpoint has the first 25
        dashLost(curves, *snapshot, Metric::Loss, { lost });
        QCOMPARE(curves.lines[0].supersededFrom, std::size_t(25));
        QVERIFY2(curves.seams[0].text.contains(QStringLiteral("15 step"))
                && curves.seams[0].text.endsWith(QStringLiteral("of attempt 1 are not in the weights")),
            qPrintable(curves.seams[0].text));
    }

    void theWorkersOfThePresentStoodInTheReplay()
    {
        LedgerTables tables;
        tables.attempts = { attemptOf(1, 100, 200), attemptOf(2, 300, {}) };
        tables.incarnations = { processOf(1, 0, 1, 100, 150), processOf(2, 1, 1, 100, 200),
            processOf(3, 0, 1, 151, 200), processOf(4, 0, 2, 300, 0) };
        RunStatus now;
        now.state = RunState::Running;
        now.attempt = 2;
        WorkerStatus only;
        only.alive = true;
        only.chunkFraction = 0.9;
        now.workers = { only };
        const std::vector<PastSources::Epoch> epochs;
        const std::vector<Replay::Left> left;
        std::vector<ClaimRow> claims(1);
        claims[0].chunk = chunkIdOf({ 0, 0, 0 });
        claims[0].attempt = { 1 };
        claims[0].claimedWallNs = 101 * kSecond;
        claims[0].endedWallNs = 120 * kSecond;
        claims[0].outcome = ClaimEnd::Lost; // when its worker was killed, at 150
        claims[0].tokens = 1000;
        claims[0].firstStep = 1;
        claims[0].lastStep = 8;
        const PastSources sources { now, epochs, left, claims, &tables, nullptr };
        const RunStatus early = statusAt(130 * kSecond, sources);
        QCOMPARE(early.workers.size(), std::size_t(2));
        QVERIFY(early.workers[0].alive && early.workers[1].alive);
        QCOMPARE(early.workers[0].restarts, 0);
        QCOMPARE(early.workers[0].chunkFraction, 0.0);
        QCOMPARE(early.tokens, 1000); // it was there until then
        const RunStatus later = statusAt(160 * kSecond, sources);
        QCOMPARE(later.workers[0].restarts, 1);
        QCOMPARE(later.tokens, 0);
        const RunStatus between = statusAt(250 * kSecond, sources);
        QVERIFY(!isAnyAlive(between));
        QCOMPARE(between.workers[1].endCause, std::string("SIGKILL"));
        QCOMPARE(statusAt(310 * kSecond, sources).workers.size(), std::size_t(1));
    }

    /// Rules, a mark by hand and a part of the data that was left out, all of later, stood at each moment.
    void aReplayHadWhatWasDecidedLater()
    {
        LedgerTables tables;
        tables.attempts = { attemptOf(1, 100, 200), attemptOf(2, 300, 400) };
        for (AttemptRow& row : tables.attempts)
            row.overridesJson = "{}";
        RunStatus now;
        now.state = RunState::Finished;
        now.attempt = 2;
        now.markedByHand = true;
        now.file.config.steps = 100;
        now.rules.steps = 200;
        now.leftOut = { { "a.txt", 150 * kSecond }, { "b.txt", 350 * kSecond } };
        const std::vector<Replay::Left> left;
        const std::vector<ClaimRow> claims;
        const auto at = [&](std::int64_t second) {
            return statusAt(second * kSecond, { now, {}, left, claims, &tables, nullptr });
        };
        QVERIFY(!at(120).markedByHand);
        QCOMPARE(at(120).rules.steps, 100);
        QCOMPARE(at(320).rules.steps, 200);
        QCOMPARE(at(120).leftOut.size(), std::size_t(0));
        QCOMPARE(at(320).leftOut.size(), std::size_t(1));
        QCOMPARE(at(360).leftOut.size(), std::size_t(2));
    }

    /// Worker 0 was killed at 150 and the run at 200: until the resume at 300 the curve of their lost steps was drawn
    /// as if a model had them.
    void lossesOfTheDeadLookedValidUntilTheResume()
    {
        LedgerTables tables;
        tables.attempts = { attemptOf(1, 100, 200), attemptOf(2, 300, {}) };
        tables.incarnations
            = { processOf(1, 0, 1, 100, 150), processOf(2, 1, 1, 100, 300), processOf(3, 0, 1, 151, 300) };
        const auto lost = [](int worker, int column, std::int64_t fromS, std::int64_t endedS) {
            ClaimRow claim;
            claim.worker = worker;
            claim.chunk = chunkIdOf({ 0, 0, column });
            claim.attempt = { 1 };
            claim.claimedWallNs = claim.startedWallNs = fromS * kSecond;
            claim.endedWallNs = endedS * kSecond;
            claim.outcome = ClaimEnd::Lost;
            return claim;
        };
        const std::vector<ClaimRow> claims { lost(0, 0, 110, 150), lost(1, 1, 110, 300) };
        RunStatus now;
        now.state = RunState::Running;
        now.attempt = 2;
        const std::vector<Replay::Left> left;
        const PastSources sources { now, {}, left, claims, &tables, nullptr };
        const auto count = [&](std::int64_t second) {
            return lostAt(second * kSecond, statusAt(second * kSecond, sources), sources).size();
        };
        QCOMPARE(count(140), std::size_t(0)); // both live
        QCOMPARE(count(160), std::size_t(1));
        QCOMPARE(count(250), std::size_t(2));
        QCOMPARE(count(310), std::size_t(2));
    }

    /// Every process was killed at 200 and the run resumed at 300: in between a replay counted what had died with its
    /// weights, 16 steps where status had said 9, and no curve was dashed for what nobody took up again.
    void stepsOfTheDeadCountedUntilTheResume()
    {
        LedgerTables tables;
        tables.attempts = { attemptOf(1, 100, {}), attemptOf(2, 300, {}) };
        tables.incarnations = { processOf(1, 0, 1, 100, 300), processOf(2, 0, 2, 300, 0) }; // found dead at 300
        const auto claimOf = [](int column, std::int64_t attempt, std::int64_t fromS, ClaimEnd outcome) {
            ClaimRow claim;
            claim.chunk = chunkIdOf({ 0, 0, column });
            claim.column = column;
            claim.attempt = { attempt };
            claim.claimedWallNs = claim.startedWallNs = fromS * kSecond;
            claim.endedWallNs = (fromS + 20) * kSecond;
            claim.outcome = outcome;
            claim.tokens = 800;
            claim.firstStep = 1;
            claim.lastStep = 8;
            return claim;
        };
        std::vector<ClaimRow> claims { claimOf(0, 1, 110, ClaimEnd::Lost), claimOf(1, 1, 140, ClaimEnd::Lost),
            claimOf(0, 2, 310, ClaimEnd::Trained), claimOf(1, 2, 340, ClaimEnd::Trained) };
        claims[0].keptSteps = 6; // a checkpoint has these of the first chunk
        claims.push_back(claimOf(2, 1, 190, ClaimEnd::Lost));
        std::swap(claims[2], claims[4]); // by their numbers
        claims[2].endedWallNs = 300 * kSecond; // it was in the hands of the worker
        claims[2].tokens = 0;
        claims[2].keptSteps = 3; // a checkpoint came in the middle of it
        RunStatus now;
        now.state = RunState::Running;
        now.attempt = 2;
        const std::vector<Replay::Left> left;
        ChunkCell trained;
        trained.id = chunkIdOf({ 0, 0, 1 });
        trained.state = ChunkState::Trained;
        trained.timesTrained = 1;
        const auto at = [&](std::int64_t second, bool isGone) {
            trained.holderGone = trained.begun = isGone;
            return statusAt(second * kSecond, { now, { { 0, { trained } } }, left, claims, &tables, nullptr });
        };
        const RunStatus before = at(191, false); // it lives
        QCOMPARE(before.steps, 16);
        QCOMPARE(before.tokens, 1600);
        QCOMPARE(before.goneHolds.size(), std::size_t(0));
        const RunStatus between = at(250, true);
        QVERIFY(between.state == RunState::Interrupted);
        QCOMPARE(between.steps, 9);
        QCOMPARE(between.tokens, 600);
        QCOMPARE(between.epochs.front().lost.sum(), 1);
        QCOMPARE(between.goneHolds.size(), std::size_t(1));
        QCOMPARE(at(365, false).steps, 25); // the nine, and what the second attempt trained

        tables.attempts.pop_back(); // nobody went on: the ledger has not freed it, and no claim is lost yet
        tables.incarnations.resize(1);
        tables.incarnations.front().endedWallNs = 0;
        claims.resize(2);
        claims[0].outcome = claims[1].outcome = ClaimEnd::Trained;
        now.state = RunState::Interrupted;
        now.attempt = 1;
        now.endedWallNs = 200 * kSecond;
        const RunStatus unfreed = at(250, true);
        QCOMPARE(unfreed.steps, 6);
        const auto lost = lostAt(250 * kSecond, unfreed, { now, {}, left, claims, &tables, nullptr });
        QCOMPARE(lost.size(), std::size_t(1));
        QCOMPARE(lost.front().chunk, trained.id.value);
    }

    /// Before its first step the new process had the step and the loss of the dead one, and a follower of a
    /// data-parallel group had the steps of rank 0 once more, with a loss of 0.000.
    void aReplayTookStepsForThoseOfAnother()
    {
        LedgerTables tables;
        tables.attempts = { attemptOf(1, 100, {}) };
        tables.incarnations = { processOf(1, 0, 1, 100, 0), processOf(2, 1, 1, 100, 0), processOf(3, 2, 1, 100, 120),
            processOf(4, 2, 1, 125, 0) };
        const QTemporaryDir folder;
        for (const int worker : { 0, 1, 2 }) {
            std::string lines;
            encodeLine(TelemetryHeader { "r", 1, worker, "b", 110 * kSecond, 0 }, lines);
            for (std::int64_t step = 1; step <= 4; ++step) {
                StepRecord record;
                record.monotonicNs = step * kSecond;
                record.step = step;
                record.chunk = chunkIdOf({ 0, 0, worker }).value;
                record.rank = worker == 1 ? 1 : 0;
                record.ranks = worker == 2 ? 1 : 2;
                record.tokens = step * 100;
                record.stepTokens = worker == 1 ? 0 : 100;
                record.loss = worker == 1 ? 0 : 2.5;
                encodeLine(TelemetryRecord(record), lines);
            }
            std::ofstream(folder.filePath(QStringLiteral("1-w%1.jsonl").arg(worker)).toStdString()) << lines;
        }
        RunTelemetry telemetry(std::filesystem::path(folder.path().toStdString()));
        while (telemetry.poll()) { }
        const auto snapshot = telemetry.snapshot();
        ClaimRow claim;
        claim.worker = 0;
        claim.chunk = chunkIdOf({ 0, 0, 0 });
        claim.attempt = { 1 };
        claim.claimedWallNs = claim.startedWallNs = 110 * kSecond;
        const std::vector<ClaimRow> claims { claim };
        RunStatus now;
        now.state = RunState::Running;
        now.attempt = 1;
        const std::vector<Replay::Left> left;
        const auto status = statusAt(126 * kSecond, { now, {}, left, claims, &tables, snapshot.get() });
        QCOMPARE(status.workers.size(), std::size_t(3));
        QCOMPARE(status.steps, 4);
        QCOMPARE(status.workers[0].loss, 2.5);
        QVERIFY(std::isnan(status.workers[1].loss));
        QVERIFY(status.workers[2].alive && std::isnan(status.workers[2].loss));
        QCOMPARE(status.workers[2].step, 0);
    }

    /// Status weighed workers by the tokens they had trained, a replay by their steps and what the newest of them had:
    /// 1.337 for 1.336 of the same steps.
    void aReplayWeighedTheWorkersOfTheLossOtherwise()
    {
        LedgerTables tables;
        tables.attempts = { attemptOf(1, 100, {}) };
        tables.incarnations = { processOf(1, 0, 1, 100, 0), processOf(2, 1, 1, 100, 0) };
        const QTemporaryDir folder;
        for (const int worker : { 0, 1 }) {
            std::string lines;
            encodeLine(TelemetryHeader { "r", 1, worker, "b", 110 * kSecond, 0 }, lines);
            std::int64_t tokens = worker == 0 ? 30'000 : 9'900; // of a hundred steps before
            for (std::int64_t step = 101; step <= 104; ++step) {
                StepRecord record;
                record.monotonicNs = (step - 100) * kSecond;
                record.step = step;
                record.tokens = tokens += 25;
                record.stepTokens = 25;
                record.loss = worker + 1;
                encodeLine(TelemetryRecord(record), lines);
            }
            std::ofstream(folder.filePath(QStringLiteral("1-w%1.jsonl").arg(worker)).toStdString()) << lines;
        }
        RunTelemetry telemetry(std::filesystem::path(folder.path().toStdString()));
        while (telemetry.poll()) { }
        const auto snapshot = telemetry.snapshot();
        RunStatus now;
        now.state = RunState::Running;
        now.attempt = 1;
        const std::vector<Replay::Left> left;
        const std::vector<ClaimRow> claims;
        const auto status = statusAt(114 * kSecond, { now, {}, left, claims, &tables, snapshot.get() });
        QCOMPARE(status.workers[0].tokens, 30'100);
        QCOMPARE(status.workers[1].tokens, 10'000);
        QCOMPARE(status.lossWorkers, 2);
        QCOMPARE(status.loss, (30'100 * 1.0 + 10'000 * 2.0) / 40'100);
    }

    /// Worker 0 died at 150 with weights of 40 steps that only itself had evaluated; the next one saved 60 of its own.
    void aReplayShowedTheEvaluationOfWeightsThatHadDied()
    {
        LedgerTables tables;
        tables.attempts = { attemptOf(1, 100, 200) };
        tables.incarnations = { processOf(1, 0, 1, 100, 150), processOf(2, 0, 1, 151, 200) };
        const auto saved = [](std::int64_t by, std::int64_t step, std::int64_t atS) {
            SupervisorLedger::CheckpointRow row;
            row.id = { by };
            row.incarnation = { by };
            row.record.step = step;
            row.wallNs = atS * kSecond;
            return row;
        };
        tables.checkpoints = { saved(1, 20, 120), saved(2, 60, 190) };
        tables.checkpoints.front().record.evalLoss = 3;
        const auto told = [](double atS, std::int64_t step, double loss) {
            EvalPoint point;
            point.attempt = 1;
            point.wall = atS;
            point.record.step = point.record.weightsStep = step;
            point.record.loss = loss;
            return point;
        };
        TelemetrySnapshot telemetry;
        telemetry.evals = std::make_shared<const std::vector<EvalPoint>>(
            std::vector<EvalPoint> { told(119, 20, 3), told(140, 40, 2) });
        RunStatus now;
        now.attempt = 1;
        const std::vector<Replay::Left> left;
        const std::vector<ClaimRow> claims;
        const auto lossAt = [&](std::int64_t atS) {
            const auto known = statusAt(atS * kSecond, { now, {}, left, claims, &tables, &telemetry }).evaluation;
            return known ? known->loss : 0;
        };
        QCOMPARE(lossAt(145), 2.0);
        QCOMPARE(lossAt(160), 3.0);
        QCOMPARE(lossAt(195), 3.0);
    }

    /// Everything was killed, and found dead by a resume at 300. Of the time before, a replay showed the newest step of
    /// the telemetry, 2.750 where status had said 2.823, and called an evaluation that of a worker which status had
    /// called not the newest.
    void aDeadRunHadAnotherLossAfterItsResume()
    {
        LedgerTables tables;
        tables.attempts = { attemptOf(1, 100, {}), attemptOf(2, 300, {}) };
        tables.incarnations = { processOf(1, 0, 1, 100, 184), processOf(2, 0, 2, 300, 0) };
        IncarnationRow& dead = tables.incarnations.front();
        dead.endCause = sentence(kFoundDead, { WallTime(184 * kSecond), WallTime(300 * kSecond) });
        dead.step = 471;
        dead.tokens = 47'100;
        dead.loss = 2.823;
        tables.checkpoints.resize(2);
        for (std::size_t i = 0; i < 2; ++i) {
            auto& row = tables.checkpoints[i];
            row.id = { static_cast<std::int64_t>(i) + 1 };
            row.incarnation = dead.id;
            row.wallNs = (i == 0 ? 120 : 150) * kSecond;
        }
        tables.checkpoints[0].record.evalLoss = 3;
        tables.checkpoints[1].record.parents = { tables.checkpoints[0].id };
        const QTemporaryDir folder;
        StepRecord record;
        record.monotonicNs = 75 * kSecond;
        record.step = 470;
        record.tokens = 47'000;
        record.stepTokens = 100;
        record.loss = 2.75;
        std::string lines;
        encodeLine(TelemetryHeader { "r", 1, 0, "b", 110 * kSecond, 0 }, lines);
        encodeLine(TelemetryRecord(record), lines);
        std::ofstream(folder.filePath(QStringLiteral("1-w0.jsonl")).toStdString()) << lines;
        RunTelemetry telemetry(std::filesystem::path(folder.path().toStdString()));
        while (telemetry.poll()) { }
        const auto snapshot = telemetry.snapshot();
        std::vector<ClaimRow> claims(1);
        claims[0].chunk = chunkIdOf({ 0, 0, 0 });
        claims[0].attempt = { 1 };
        claims[0].claimedWallNs = claims[0].startedWallNs = 180 * kSecond;
        claims[0].endedWallNs = 184 * kSecond;
        claims[0].outcome = ClaimEnd::Lost;
        RunStatus now;
        now.state = RunState::Running;
        now.attempt = 2;
        const std::vector<Replay::Left> left;
        const auto at = [&](std::int64_t second) {
            return statusAt(second * kSecond, { now, {}, left, claims, &tables, snapshot.get() });
        };
        QCOMPARE(at(186).loss, 2.75); // it lived for all that was known
        QVERIFY(!at(186).lossIsGone && at(186).workers[0].alive);
        const RunStatus between = at(250);
        QVERIFY(between.state == RunState::Interrupted);
        QCOMPARE(between.loss, 2.823);
        QVERIFY(between.lossIsGone);
        QVERIFY(between.workers[0].endCause.empty());
        QCOMPARE(between.evaluation->loss, 3.0);
        QVERIFY(between.evaluation->superseded);
        const RunStatus evaluated = at(130);
        QVERIFY(!evaluated.evaluation->superseded);
    }

    void runsOfOneNameWereOneInTheComparison()
    {
        const RunStory story({});
        const RunStory other({ .workers = 1, .trained = 0 }, QStringLiteral("other"), story.workspace());
        auto file = good(readRunFile(other.paths()));
        file.config.name = "story";
        file.tokenizerHash = "bb";
        file.heldOutHash = "cc";
        good(writeRunFile(other.paths(), file));
        good(publishEvaluation(other.paths(), { 0, false, 3, 2.5, systemClock().wallNs() }, realFileSystem()));
        good(publishEvaluation(story.paths(), { 0, false, 3, 2.5, systemClock().wallNs() }, realFileSystem()));
        const auto comparison = good(compareRuns({ story.paths().folder(), other.paths().folder() }));
        QVERIFY(comparison.runs[0].name != comparison.runs[1].name);
        QVERIFY(comparison.runs[0].name.starts_with("story ("));
        QCOMPARE(comparison.caveats.size(), std::size_t(2));
        QVERIFY(comparison.caveats[0].find("different tokenizers") != std::string::npos);
        QVERIFY(comparison.caveats[1].find("different text") != std::string::npos);
        QVERIFY(QString::fromStdString(comparisonText(comparison)).contains(QStringLiteral("different tokenizers")));
    }

    void workThatWasLostWasNotAmongWhatIsTrainedAgain()
    {
        ResumePlan plan;
        ResumePlan::CheckpointChoice choice;
        choice.row.id = { 4 };
        choice.verified = choice.canBeChosen = true;
        choice.redo = { chunkIdOf({ 0, 0, 0 }), chunkIdOf({ 1, 0, 0 }) };
        choice.kept = 1;
        plan.checkpoints = { choice };
        plan.effect.epochs = { { 1,
            { cellOf(1, 0, 0, ChunkState::Committed), cellOf(1, 0, 1, ChunkState::Committed),
                cellOf(1, 0, 2, ChunkState::Free, true), cellOf(1, 0, 3, ChunkState::Free) } } };
        for (const ChunkCell& cell : plan.effect.epochs[0].cells)
            ++plan.effect.byFate[static_cast<std::size_t>(plan.effect.fateOf(cell))];
        QCOMPARE(plan.effect[ChunkFate::Lost], 1);
        CheckpointChoices choices(plan);
        const QStringList texts = textsOf(choices);
        QVERIFY2(texts.contains(QStringLiteral("3")), qPrintable(texts.join(QLatin1Char('|')))); // 2 and the lost one
        EpochTable table;
        table.show(plan.effect);
        QVERIFY(table.isHidden()); // of one epoch the counts say it
        table.show(plan.effectOf(choice));
        QVERIFY(!table.isHidden());
        const QString words = textsOf(table).join(QLatin1Char('|'));
        QVERIFY2(words.contains(QStringLiteral("Epoch 1|–|1|–|–|–")), qPrintable(words));
        QVERIFY2(words.contains(QStringLiteral("Epoch 2|1|1|1|0|0|1")), qPrintable(words));
    }

    /// After a way back the list was full of what it had left, and nothing else could be chosen.
    void checkpointsLeftBehindTookThePlaceOfThoseThatCanBeChosen()
    {
        ResumePlan plan;
        for (int id = 1; id <= 40; ++id) {
            ResumePlan::CheckpointChoice choice;
            choice.row.id = { id };
            choice.verified = id != 3;
            choice.canBeChosen = choice.verified && id <= 20;
            for (int column = id; choice.canBeChosen && column <= 20; ++column)
                choice.redo.push_back(chunkIdOf({ 0, 0, column }));
            plan.checkpoints.push_back(choice);
        }
        CheckpointChoices choices(plan);
        const auto buttons = choices.findChildren<QRadioButton*>();
        QCOMPARE(buttons.size(), 21); // the newest, 19 older ones and the one that cannot be read
        QCOMPARE(buttons[1]->text(), QStringLiteral("20, replica 0"));
        QCOMPARE(buttons[19]->text(), QStringLiteral("1, replica 0"));
        QVERIFY(buttons[19]->isEnabled());
        QCOMPARE(buttons[20]->text(), QStringLiteral("3, replica 0"));
        QVERIFY(!buttons[20]->isEnabled());
        const QString words = textsOf(choices).join(QLatin1Char('|'));
        QVERIFY2(words.contains(QStringLiteral("20 checkpoint(s) left behind")), qPrintable(words));
        buttons[19]->click();
        QVERIFY(choices.chosen() != nullptr);
        QCOMPARE(choices.chosen()->row.id.value, 1);
    }

    /// "Kept" was counted over other epochs in each row, so an older checkpoint seemed to keep more.
    void anOlderCheckpointSeemedToKeepMore()
    {
        ResumePlan plan;
        for (int id = 1; id <= 2; ++id) {
            ResumePlan::CheckpointChoice choice;
            choice.row.id = { id };
            choice.verified = choice.canBeChosen = true;
            for (int column = 0; column < 8 - id; ++column)
                choice.redo.push_back(chunkIdOf({ id == 1 ? column % 2 : 1, 0, column }));
            choice.kept = id == 1 ? 95 : 91;
            plan.checkpoints.push_back(choice);
        }
        CheckpointChoices choices(plan);
        const QStringList texts = textsOf(choices);
        QVERIFY(!texts.contains(QStringLiteral("Kept")));
        QVERIFY(texts.contains(QStringLiteral("Chunks trained again")));
        QVERIFY2(!texts.contains(QStringLiteral("95")), qPrintable(texts.join(QLatin1Char('|'))));
        QVERIFY2(texts.indexOf(QStringLiteral("6")) < texts.indexOf(QStringLiteral("7")),
            qPrintable(texts.join(QLatin1Char('|'))));
    }

    void theResultOfAnEvaluationDidNotSayOfWhatItIs()
    {
        const QJsonObject answer { { QStringLiteral("loss"), 2.345678 }, { QStringLiteral("perplexity"), 10.4 },
            { QStringLiteral("step"), 1200 }, { QStringLiteral("tokens"), 5120 },
            { QStringLiteral("data"), QStringLiteral("held-out") } };
        const QString text = WorkersPage::evaluationText(answer, QStringLiteral("checkpoint 3, replica 0"));
        for (const char* part :
            { "checkpoint 3, replica 0", "step 1,200", "2.3457", "10.40", "5,120 tokens", "held-out" })
            QVERIFY2(text.contains(QLatin1String(part)), qPrintable(text));
        QJsonObject other = answer;
        other.insert(QStringLiteral("data"), QStringLiteral("/data/val.txt"));
        other.insert(QStringLiteral("overlap"),
            QJsonObject { { QStringLiteral("also_trained"), 5 }, { QStringLiteral("share"), 0.25 } });
        const QString withOverlap = WorkersPage::evaluationText(other, {});
        QVERIFY2(
            withOverlap.contains(QStringLiteral("/data/val.txt")) && withOverlap.contains(QStringLiteral("25.0 %")),
            qPrintable(withOverlap));
    }

    /// The loss of an old checkpoint looked like that of the run.
    void theResultOfAnOldCheckpointDidNotSayThatItIs()
    {
        QJsonObject place { { QStringLiteral("is_newest"), false }, { QStringLiteral("before_end_of_epoch"), 2 } };
        QJsonObject answer { { QStringLiteral("loss"), 2.3 }, { QStringLiteral("place"), place } };
        const QString old = WorkersPage::evaluationText(answer, {});
        QVERIFY2(old.contains(QStringLiteral("not the newest weights")) && old.contains(QStringLiteral("epoch 2")),
            qPrintable(old));
        place = { { QStringLiteral("is_newest"), true }, { QStringLiteral("before_end_of_epoch"), QJsonValue() } };
        answer.insert(QStringLiteral("place"), place);
        const QString newest = WorkersPage::evaluationText(answer, {});
        QVERIFY2(!newest.contains(QStringLiteral("newest")) && !newest.contains(QStringLiteral("epoch")),
            qPrintable(newest));
    }

    void foldersThatAreNoRunsHidTheOnesThatAre()
    {
        const RunStory story({});
        const auto runs = story.paths().folder().parent_path();
        std::filesystem::create_directories(runs / "notes");
        write(runs / "letter.txt", "no run");
        write(runs / "newer" / "run.json", R"({"format": 9, "furrow_version": "7.0"})");
        write(runs / "strange" / "run.json", R"({"hello": 1})");
        QCOMPARE(runFolders(story.workspace().toStdString()).size(), std::size_t(3));
        QCOMPARE(runFolders(runs).size(), std::size_t(3)); // the folder of the runs was taken for an empty workspace
        const RunLine newer = readRunLine(runs / "newer", true);
        QVERIFY2(newer.problem.find("was made by Furrow 7.0") != std::string::npos, newer.problem.c_str());
        const auto columns = libraryColumns();
        for (const auto& column : columns)
            QVERIFY2(column.text(newer) != QStringLiteral("0"), qPrintable(column.title())); // nothing is known of it
        QVERIFY(readRunLine(story.paths().folder(), true).problem.empty());
    }

    void dataOfLessThanOneWindowWasOfferedForLaunch()
    {
        const QTemporaryDir folder;
        Workbench bench(folder.path());
        NewRunPage page(bench);
        page.show();
        const auto file = std::filesystem::path(folder.path().toStdString()) / "tiny.txt";
        write(file, "hi\n");
        page.setSource(QString::fromStdString(file.string()));
        QTRY_VERIFY_WITH_TIMEOUT(says(page, QStringLiteral("less than one window")), kPatienceMs);
    }

    void theDataPageMarkedAnotherBlockThanItListed()
    {
        const RunStory story({});
        Workbench bench(story.workspace());
        show(bench, story);
        QTRY_VERIFY_WITH_TIMEOUT(!bench.cells().cells().empty(), kPatienceMs);
        DataPage page(bench);
        page.show();
        const auto cell = std::find_if(bench.cells().cells().begin(), bench.cells().cells().end(),
            [](const ChunkCell& one) { return one.block == 2; });
        bench.selection().setChunks({ { cell->id, cell->block, cell->column } });
        QTableView* blocks = nullptr;
        for (auto* table : page.findChildren<QTableView*>())
            if (table->accessibleName() == QStringLiteral("Blocks"))
                blocks = table;
        QCOMPARE(blocks->currentIndex().siblingAtColumn(0).data().toString(), QStringLiteral("B2"));
    }

    /// The heading named eleven epochs in one line, which was the least width of the page.
    void manyOpenEpochsMadeTheDataPageWiderThanItsWindow()
    {
        QCOMPARE(epochNames({ 13, 14, 15, 16, 17, 18, 19, 20, 21, 22 }), QStringLiteral("epochs 14 to 23"));
        QCOMPARE(epochNames({ 2, 5, 6 }),
            QLocale().createSeparatedList({ QStringLiteral("epoch 3"), QStringLiteral("epochs 6 and 7") }));
        QCOMPARE(epochNames({ 0, 1 }), QStringLiteral("epochs 1 and 2"));
        const RunStory story({});
        Workbench bench(story.workspace());
        show(bench, story);
        QTRY_VERIFY_WITH_TIMEOUT(!bench.cells().cells().empty(), kPatienceMs);
        const DataPage page(bench);
        const auto labels = page.findChildren<QLabel*>();
        QVERIFY(std::ranges::any_of(labels, [](const QLabel* label) {
            return label->wordWrap() && label->text().startsWith(QStringLiteral("Blocks and chunks of epoch 1"));
        }));
    }

    void eventsStoodInTheOrderInWhichTheyWereTold()
    {
        const RunStory story({});
        Workbench bench(story.workspace());
        EventsDock dock(bench);
        bench.alerts().open(story.folder());
        AttemptRow late = attemptOf(3, 1, 5000);
        AttemptRow early = attemptOf(2, 1, 4000);
        for (AttemptRow* row : { &late, &early })
            row->reason = StopReason::Error;
        bench.alerts().takeHistory(historyOf({ late, early }, {})); // of before somebody looked
        auto* table = dock.findChild<QTableView*>();
        QCOMPARE(table->model()->rowCount(), 2); // they were in no list
        QVERIFY(table->model()->index(0, 4).data().toString().contains(QStringLiteral("Attempt 2")));
        QVERIFY(table->model()->index(1, 4).data().toString().contains(QStringLiteral("Attempt 3")));
    }

    void theLogShowedJsonToPeople()
    {
        const QString line = QStringLiteral(
            R"(time: {"checkpoint_s":1.397,"data_s":2.3465,"merge_s":0,"seconds":36.277,"train_s":28.797})");
        QCOMPARE(logText(line), QStringLiteral("It took 36 s: training 29 s, data 2 s, checkpoints 1 s"));
        QCOMPARE(logText(QStringLiteral("time: soon")), QStringLiteral("time: soon"));
    }

    void anEventOfAnotherEpochHadANumberForAName()
    {
        EventRow event;
        event.chunk = chunkIdOf({ 4, 3, 17 });
        event.count = 4;
        event.incarnation = 9;
        event.from = static_cast<int>(ChunkState::Leased);
        event.to = static_cast<int>(ChunkState::Trained);
        event.cause = "trained";
        const EventLine line = eventLine(event, nullptr);
        QCOMPARE(line.chunkName, QStringLiteral("B3 C17 to C20"));
        QCOMPARE(line.text, QStringLiteral("leased → trained")); // not "trained" twice
        QCOMPARE(eventColumns()[2].text(line), QStringLiteral("5"));
        QCOMPARE(line.worker, -1);
        LedgerTables tables;
        tables.incarnations = { processOf(9, 2, 1, 1, 0) };
        QCOMPARE(eventLine(event, &tables).worker, 2);
        event.from = -1;
        event.to = static_cast<int>(ChunkState::Pending);
        event.cause = "block known";
        QVERIFY(eventLine(event, nullptr).text.startsWith(QStringLiteral("not prepared")));
    }

    /// The processes are read less often than the events.
    void theFirstEventsOfAWorkerHadNoWorker()
    {
        RunStory story({});
        Workbench bench(story.workspace());
        show(bench, story);
        QTRY_VERIFY_WITH_TIMEOUT(bench.events().rowCount() > 0, kPatienceMs);
        story.trainOne(0, true);
        QTRY_VERIFY_WITH_TIMEOUT(std::all_of(bench.events().rows().begin(), bench.events().rows().end(),
                                     [](const EventLine& line) { return line.incarnation == 0 || line.worker >= 0; }),
            kPatienceMs);
    }

    void continueBeganAnotherAttemptOfAFinishedRun()
    {
        const RunStory story({});
        auto supervisor = story.supervisor();
        good(supervisor.endAttempt(story.attempt(), StopReason::Epochs, {}));
        QVERIFY(good(readStatus(story.paths())).state == RunState::Finished);
        const Status answer = continueRun(story.paths());
        QVERIFY(!answer.ok());
        QVERIFY2(answer.error().message.find("nothing is paused") != std::string::npos, answer.error().message.c_str());
    }

    /// Near the end of an epoch two are open, and a run that went back has other epochs today.
    void theReplayKnewOneEpochOnlyAndThatAsItIsToday()
    {
        RunStory story({ 2, 3, 1, 0, 8 });
        story.openSecondEpoch(4);
        Workbench bench(story.workspace());
        show(bench, story);
        QTRY_VERIFY_WITH_TIMEOUT(bench.replay().end() > bench.replay().begin() && !bench.cells().cells().empty()
                && bench.watcher().status()->epochs.size() == 2 && !bench.claims().claims().empty(),
            kPatienceMs);
        const auto now = shownEpochs(*bench.watcher().status());
        bench.replay().setMoment(bench.replay().end());
        const RunStatus then = *shownStatus(bench);
        const auto shown = shownEpochs(then);
        QCOMPARE(shown->count(), std::int64_t(2));
        for (const ChunkState state :
            { ChunkState::Pending, ChunkState::Free, ChunkState::Leased, ChunkState::Trained, ChunkState::Committed })
            QVERIFY2(shown->together.chunks[state] == now->together.chunks[state],
                qPrintable(QStringLiteral("%1: %2, %3")
                        .arg(chunkStateWord(state))
                        .arg(shown->together.chunks[state])
                        .arg(now->together.chunks[state])));
        bench.replay().setMoment(bench.replay().begin());
        QCOMPARE(shownEpochs(*shownStatus(bench))->count(), std::int64_t(1));
    }

    void aReasonThatIsASentenceHadTwoFullStops()
    {
        Appearance appearance(false);
        const auto back = qScopeGuard([&appearance] { appearance.setLanguage(Language::English); });
        const RunStory story({});
        auto supervisor = story.supervisor();
        const Message reason
            = sentence("The folder %1 is not there: it was moved or deleted, or its disk is not mounted.", { "/data" });
        good(supervisor.endAttempt(story.attempt(), StopReason::Error, reason));
        const RunStatus status = good(readStatus(story.paths()));
        const QString evidence = evidenceText(status, QStringLiteral(" "));
        QVERIFY2(evidence.contains(QString::fromStdString(reason)) && !evidence.contains(QStringLiteral("..")),
            qPrintable(evidence));
        appearance.setLanguage(Language::Spanish);
        QVERIFY2(!evidenceText(status, QStringLiteral(" ")).contains(QStringLiteral("is not there")),
            qPrintable(evidenceText(status, QStringLiteral(" "))));
    }
};

QTEST_MAIN(TestNewcomer)
#include "tst_newcomer.moc"
