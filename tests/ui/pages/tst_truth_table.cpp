// One run in many situations: every view and file that tells the same number must tell the same one. A failure names
// situation, number and view.

#include "core/base/sentence.h"
#include "core/run/start/resume_effect.h"
#include "core/run/status/run_status.h"
#include "core/tracker/audit/audit.h"
#include "core/tracker/sqlite/database.h"
#include "core/tracker/ledger_reader.h"
#include "core/tracker/worker_ends.h"
#include "tests/truths.h"
#include "tests/ui/patience.h"
#include "tests/ui/run_story.h"
#include "ui/charts/map_legend.h"
#include "ui/models/core_words.h"
#include "ui/models/shown_status.h"
#include "ui/models/workbench.h"
#include "ui/pages/coverage_page.h"
#include "ui/pages/overview_page.h"
#include "ui/shell/lanes_dock.h"
#include "ui/widgets/meters.h"

#include <nlohmann/json.hpp>

#include <QRegularExpression>
#include <cmath>

using namespace furrow;
using namespace furrow::test;

namespace {

/// "committed 1,204" in a list of words and numbers; 0 where it is not said.
std::int64_t said(const QString& words, const QString& name)
{
    const auto found
        = QRegularExpression(QStringLiteral("(?:^|, )%1 ([\\d,]+)(?:, |$)").arg(QRegularExpression::escape(name)))
              .match(words);
    return found.hasMatch() ? found.captured(1).remove(QLatin1Char(',')).toLongLong() : 0;
}

struct Desk {
    explicit Desk(const RunStory& story)
        : bench(story.workspace())
        , overview(bench)
        , coverage(bench)
        , folder(story.folder())
    {
        bench.showRun(folder);
    }
    Workbench bench;
    OverviewPage overview;
    CoveragePage coverage;
    QString folder;

    QString meter(const QString& name) const
    {
        const auto meters = overview.findChildren<Meter*>();
        for (const Meter* one : meters)
            if (one->accessibleName().startsWith(name + QLatin1Char(':')))
                return one->accessibleName().mid(name.size() + 2);
        return {};
    }
    std::int64_t meterCount(const QString& name) const
    {
        return QString(meter(name)).remove(QLatin1Char(',')).section(QLatin1Char(' '), 0, 0).toLongLong();
    }
    QString meterLegend() const { return overview.findChild<MeterLegend*>()->accessibleName(); }
    QString mapLegend() const { return coverage.findChild<MapLegend*>()->accessibleDescription(); }
};

/// What the console shows of the epochs that are shown. The map is of one epoch: it is compared where only one is open.
void addConsole(Truths& truths, const Desk& desk, bool oneEpoch)
{
    const QString meters = desk.meterLegend();
    truths[QStringLiteral("committed")][QStringLiteral("meter")] = desk.meterCount(QStringLiteral("Chunks committed"));
    for (const auto& [number, word] :
        { std::pair("committed", "committed"), std::pair("trained", "trained, not in a checkpoint yet"),
            std::pair("leased", "leased"), std::pair("work lost", "work lost"), std::pair("poisoned", "poisoned") })
        truths[QString::fromLatin1(number)][QStringLiteral("legend of the meters")]
            = said(meters, QString::fromLatin1(word));
    truths[QStringLiteral("free or not prepared")][QStringLiteral("legend of the meters")]
        = said(meters, QStringLiteral("free")) + said(meters, QStringLiteral("not prepared"));
    if (!oneEpoch)
        return;
    const QString map = desk.mapLegend();
    for (const char* number : { "committed", "trained", "leased", "work lost", "poisoned" })
        truths[QString::fromLatin1(number)][QStringLiteral("map")] = said(map, QString::fromLatin1(number));
    truths[QStringLiteral("free or not prepared")][QStringLiteral("map")]
        = said(map, QStringLiteral("free")) + said(map, QStringLiteral("not prepared"));
    truths[QStringLiteral("chunks")][QStringLiteral("map")] = said(map, QStringLiteral("sum"));
}

/// How many chunks of this kind the sentences speak of that say why the epoch is open.
std::int64_t keepingOpen(const RunStatus& status, const QString& number)
{
    static const QRegularExpression kReason(
        QStringLiteral("(\\d+) chunks? (trained|leased|whose work was lost|free|not prepared)"));
    std::int64_t sum = 0;
    for (const auto& reason : status.keepsEpochOpen) {
        const auto match = kReason.match(QString::fromStdString(reason));
        const QString kind = match.captured(2);
        const QString belongsTo = kind.startsWith(QStringLiteral("whose")) ? QStringLiteral("work lost")
            : kind == QStringLiteral("free") || kind == QStringLiteral("not prepared")
            ? QStringLiteral("free or not prepared")
            : kind;
        sum += belongsTo == number ? match.captured(1).toLongLong() : 0;
    }
    return sum;
}

void addStatus(Truths& truths, const RunStatus& status)
{
    const auto json = nlohmann::json::parse(toJson(status).dump());
    const EpochRow shown = shownEpochs(status)->together;
    const auto& chunks = json["chunks"];
    const auto in = [&](const char* number, const char* view, std::int64_t value) {
        truths[QString::fromLatin1(number)][QString::fromLatin1(view)] = value;
    };
    in("committed", "status", shown.chunks[ChunkState::Committed]);
    in("committed", "status --json", chunks["committed"]);
    in("trained", "status", shown.chunks[ChunkState::Trained] - shown.lost.trained);
    in("leased", "status", shown.chunks[ChunkState::Leased] - shown.lost.leased - shown.lost.released);
    in("poisoned", "status", shown.chunks[ChunkState::Poisoned]);
    in("poisoned", "status --json", chunks["poisoned"]);
    in("work lost", "status", shown.lost.sum());
    in("work lost", "status --json", chunks["lost"]);
    in("free or not prepared", "status",
        shown.chunks[ChunkState::Free] + shown.chunks[ChunkState::Pending] - shown.lost.free - shown.lost.pending
            - shown.partly.sum());
    in("trained", "status --json", chunks["trained"]);
    in("leased", "status --json", chunks["leased"]);
    in("free or not prepared", "status --json",
        chunks["free"].get<std::int64_t>() + chunks["pending"].get<std::int64_t>());
    in("chunks", "status", shown.chunks.sum());
    std::int64_t fields = 0;
    for (const char* field : { "pending", "free", "leased", "trained", "committed", "excluded", "poisoned", "accepted",
             "lost", "claimed_by_gone", "partly_trained", "trained_by_parent" })
        fields += chunks[field].get<std::int64_t>();
    in("chunks", "sum of the fields of status --json", fields);
    in("steps", "status", status.steps);
    in("steps", "status --json", json["steps"]);
    in("tokens", "status --json", json["tokens"]);
    in("tokens", "status", status.tokens);
    std::int64_t committed = 0;
    std::int64_t lost = 0;
    for (const auto& epoch : json["epochs"]) {
        committed += epoch["chunks"]["committed"].get<std::int64_t>();
        lost += epoch["chunks"]["lost"].get<std::int64_t>();
    }
    in("committed", "sum over status --json epochs", committed);
    in("work lost", "sum over status --json epochs", lost);
    for (const char* number : { "trained", "leased", "work lost", "free or not prepared" })
        in(number, "what keeps the epoch open", keepingOpen(status, QString::fromLatin1(number)));
}

void addLedger(Truths& truths, const RunStory& story, bool nobodyTrains)
{
    const auto in = [&](const char* number, const char* view, std::int64_t value) {
        truths[QString::fromLatin1(number)][QString::fromLatin1(view)] = value;
    };
    auto reader = good(LedgerReader::open(story.paths().tracker()));
    const auto report = good(audit(story.paths().tracker()));
    const auto open = openEpochs(good(reader.epochs()));
    std::int64_t committed = 0;
    std::int64_t known = 0;
    std::int64_t poisoned = 0;
    for (const AuditEpoch& epoch : report.epochs)
        if (epoch.epoch >= open.front().epoch) {
            committed += epoch.committed;
            known += epoch.known;
            poisoned += epoch.poisoned;
        }
    in("committed", "audit", committed);
    in("poisoned", "audit", poisoned);
    in("chunks", "audit", known);
    QVERIFY2(report.isClean(), auditText(report).c_str());
    const auto effect = good(resumeEffect(reader, std::nullopt, {}));
    in("committed", "dry run", effect[ChunkFate::Kept]);
    in("poisoned", "dry run", effect[ChunkFate::Poisoned]);
    if (nobodyTrains) {
        in("work lost", "dry run", effect[ChunkFate::Lost]);
        in("free or not prepared", "dry run", effect[ChunkFate::Free]);
    }
}

enum class End { Running, Freed, Gone, Stopped };

/// Its processes are not there any more, and nobody has freed what they held.
void loseProcesses(const RunStory& story)
{
    auto db = good(Database::open(story.paths().tracker(), Database::Options {}));
    db.run("UPDATE incarnation SET pid=2147483646");
    db.run("UPDATE process SET pid=2147483646");
    // As one process, of which the last sign is kept.
    db.run("UPDATE attempt SET pid=2147483646 WHERE ended_wall IS NULL");
    good(db.takeStatus());
}

/// As the next attempt does it, which begins then.
void findDead(const RunStory& story)
{
    auto supervisor = story.supervisor();
    for (const auto& live : good(supervisor.live())) {
        const Message cause = sentence(kFoundDead, { WallTime(live.lastSeenWallNs), WallTime(systemClock().wallNs()) });
        (void)good(supervisor.revoke(live.incarnation, cause, live.lastSeenWallNs));
    }
    (void)good(supervisor.beginAttempt(thisProcess(), "{}"));
}

/// The tracker has what a worker told last, which is not its newest step in the telemetry.
void tellLast(const RunStory& story, int worker, std::int64_t step, double loss)
{
    auto db = good(Database::open(story.paths().tracker(), Database::Options {}));
    db.run("UPDATE incarnation SET step=?, tokens=?, loss=? WHERE worker=? AND live=1", step, step * 125, loss, worker);
    good(db.takeStatus());
}

void endAs(const RunStory& story, End end)
{
    auto supervisor = story.supervisor();
    if (end == End::Freed || end == End::Stopped) {
        for (const auto& live : good(supervisor.live()))
            (void)good(supervisor.revoke(live.incarnation, "the run was killed"));
        good(supervisor.endAttempt(story.attempt(), StopReason::User, "killed"));
    }
    if (end == End::Gone)
        loseProcesses(story);
}

/// What a status says that a replay of its moment must say too.
Truths numbersOf(const RunStatus& status, const std::vector<LostTraining>& lost, const QString& view)
{
    Truths truths;
    const auto in = [&](const char* number, std::int64_t value) { truths[QString::fromLatin1(number)][view] = value; };
    const EpochRow shown = shownEpochs(status)->together;
    const ChunkCounts chunks = countedOnce(shown);
    for (const auto& [name, state] : { std::pair("not prepared", ChunkState::Pending),
             std::pair("free", ChunkState::Free), std::pair("leased", ChunkState::Leased),
             std::pair("trained", ChunkState::Trained), std::pair("committed", ChunkState::Committed),
             std::pair("excluded", ChunkState::Excluded), std::pair("poisoned", ChunkState::Poisoned) })
        in(name, chunks[state]);
    in("work lost", shown.lost.sum());
    in("lost with a part that is kept", shown.lost.kept.chunks);
    in("samples of such parts", shown.lost.kept.samplesDone);
    in("claimed by processes that are gone", shown.lost.released);
    in("held by processes that are gone", std::ssize(status.goneHolds));
    in("partly trained", shown.partly.sum());
    in("samples", shown.rowsCommitted.samples);
    in("steps", status.steps);
    in("tokens", status.tokens);
    in("checkpoints", status.checkpoints);
    in("attempt", status.attempt);
    in("curves that are dashed", std::ssize(lost));
    const auto thousandths = [](double loss) { return std::isfinite(loss) ? std::llround(loss * 1000) : -1; };
    if (!isAnyAlive(status)) { // the living tell tracker and telemetry at different times
        in("loss in thousandths", thousandths(status.loss));
        in("loss is lost", status.lossIsGone ? 1 : 0);
        in("workers that the loss is of", status.lossWorkers);
    }
    in("eval loss in thousandths", status.evaluation ? thousandths(status.evaluation->loss) : -1);
    return truths;
}

/// What the evaluation that is shown is of, in words.
QString evaluatedOf(const RunStatus& status)
{
    return status.evaluation ? coreWords(ofWhat(*status.evaluation)) : QString();
}

/// A status as it was read at a moment, and the losses that curves dashed then.
struct LiveMoment {
    QString name;
    std::int64_t wallNs = 0;
    Truths numbers;
    QString evaluated;
};

LiveMoment lookAt(const RunStory& story, const QString& name)
{
    QTest::qWait(5); // apart from what was written before and is written behind
    LiveMoment moment { name, systemClock().wallNs(), {}, {} };
    const RunStatus status = good(readStatus(story.paths()));
    moment.evaluated = evaluatedOf(status);
    auto reader = good(LedgerReader::open(story.paths().tracker()));
    moment.numbers = numbersOf(
        status, lostTrainings(good(reader.claimsSince(0, 10'000)), status.goneHolds), QStringLiteral("status then"));
    QTest::qWait(5);
    return moment;
}

/// The worker of an attempt that follows, which trains as much of a chunk as the story wants.
class LaterWorker {
public:
    explicit LaterWorker(const RunStory& story)
        : story_(story)
        , attempt_(good(story.supervisor().beginAttempt(thisProcess(), "{}")))
        , ledger_(good(WorkerLedger::open(story.paths().tracker(), good(readRunFile(story.paths())).runId)))
    {
        started_ = good(ledger_.start({ attempt_, 0, 0, "cpu", "CPU" }, 60)).has_value();
    }
    bool isStarted() const { return started_; }
    /// One step for each window of the next chunk, at most `windows`; the rest is left at the next checkpoint.
    void train(std::int32_t windows = 10)
    {
        const Claim claim = std::get<Claim>(good(ledger_.claim()));
        const WindowRange rest = claim.remaining.front();
        const WindowRange done { rest.begin, std::min(rest.end, rest.begin + windows) };
        good(ledger_.begin(claim));
        ChunkOutcome outcome;
        outcome.done = { done };
        outcome.tokens = 100LL * done.size();
        outcome.lossSum = 2.0 * static_cast<double>(outcome.tokens);
        outcome.firstStep = steps_ + 1;
        outcome.lastStep = steps_ += done.size();
        good(ledger_.finish(claim, outcome, done.end < rest.end));
        parts_.push_back({ claim.chunk, done });
    }
    CheckpointId save(const std::string& folder)
    {
        CheckpointRecord record;
        record.folder = folder;
        record.manifestSha256 = std::string(64, 'a');
        record.step = steps_;
        const CheckpointId checkpoint = good(ledger_.commit(record, parts_));
        parts_.clear();
        return checkpoint;
    }
    void end()
    {
        auto supervisor = story_.supervisor();
        for (const auto& live : good(supervisor.live()))
            (void)good(supervisor.revoke(live.incarnation, "ended"));
        good(supervisor.endAttempt(attempt_, StopReason::User, "stopped"));
    }

private:
    const RunStory& story_;
    AttemptId attempt_;
    WorkerLedger ledger_;
    bool started_ = false;
    std::int64_t steps_ = 0;
    std::vector<Part> parts_;
};

/// The next epoch is open while the last chunks of this one are in training.
void openSecondEpoch(RunStory& story)
{
    story.openSecondEpoch(2);
    good(story.supervisor().advance());
    story.trainOne(0, false);
}

} // namespace

class TestTruthTable : public QObject {
    Q_OBJECT

    static void compare(const RunStory& story, End end)
    {
        Desk desk(story);
        const bool nobodyTrains = end != End::Running;
        QString found;
        const auto agree = [&] { // the console reads twice a second
            if (!desk.bench.watcher().status() || desk.bench.cells().cells().empty())
                return false;
            const RunStatus status = good(readStatus(story.paths()));
            Truths truths;
            addStatus(truths, status);
            addLedger(truths, story, nobodyTrains);
            addConsole(truths, desk, shownEpochs(status)->count() == 1);
            truths[QStringLiteral("steps")][QStringLiteral("meter")]
                = desk.meterCount(QStringLiteral("Optimiser steps"));
            found = disagreement(truths);
            return found.isEmpty();
        };
        (void)QTest::qWaitFor(agree, 4000);
        QVERIFY2(found.isEmpty() && agree(), qPrintable(found));
    }

    /// Holds a replay against what status had said at its moments.
    static void replay(const RunStory& story, const std::vector<LiveMoment>& moments, std::size_t claims)
    {
        Workbench bench(story.workspace());
        bench.showRun(story.folder());
        QTRY_VERIFY_WITH_TIMEOUT(bench.watcher().status() && bench.watcher().tables() && bench.watcher().telemetry()
                && bench.replay().end() > moments.back().wallNs && bench.claims().claims().size() >= claims
                && !bench.cells().cells().empty(),
            kPatienceMs);
        QString found;
        for (const LiveMoment& moment : moments) {
            bench.replay().setMoment(moment.wallNs);
            const RunStatus past = *shownStatus(bench);
            const auto lost = shownLost(bench, past);
            QVERIFY(lost.has_value());
            Truths both = moment.numbers;
            const Truths then = numbersOf(past, *lost, QStringLiteral("replay"));
            for (auto number = then.begin(); number != then.end(); ++number)
                both[number.key()].insert(*number);
            if (const QString differs = disagreement(both); !differs.isEmpty())
                found += moment.name + QStringLiteral(": ") + differs + QLatin1Char('\n');
            if (evaluatedOf(past) != moment.evaluated)
                found += QStringLiteral("%1: evaluated \"%2\", replay \"%3\"\n")
                             .arg(moment.name, moment.evaluated, evaluatedOf(past));
        }
        QVERIFY2(found.isEmpty(), qPrintable(found));
    }

private Q_SLOTS:
    void initTestCase() { registerBridgeTypes(); }

    void everyViewTellsTheSame_data()
    {
        QTest::addColumn<int>("trained");
        QTest::addColumn<int>("end");
        for (const int trained : { 0, 1, 2, 5, 9, 12, 18 })
            for (const auto& [name, end] : { std::pair("running", End::Running), std::pair("killed, freed", End::Freed),
                     std::pair("killed, not freed yet", End::Gone) })
                QTest::addRow("%d trained, %s", trained, name) << trained << static_cast<int>(end);
    }
    void everyViewTellsTheSame()
    {
        QFETCH(int, trained);
        QFETCH(int, end);
        RunStory story({ 4, 6, 2, trained, 8 });
        endAs(story, static_cast<End>(end));
        compare(story, static_cast<End>(end));
    }

    void everyViewTellsTheSameOfTwoOpenEpochs_data()
    {
        QTest::addColumn<int>("end");
        QTest::newRow("running") << static_cast<int>(End::Running);
        QTest::newRow("killed, freed") << static_cast<int>(End::Freed);
        QTest::newRow("killed, not freed yet") << static_cast<int>(End::Gone);
    }
    void everyViewTellsTheSameOfTwoOpenEpochs()
    {
        QFETCH(int, end);
        RunStory story({ 2, 3, 1, 0, 8 });
        openSecondEpoch(story);
        QCOMPARE(openEpochs(good(good(LedgerReader::open(story.paths().tracker())).epochs())).size(), std::size_t(2));
        endAs(story, static_cast<End>(end));
        compare(story, static_cast<End>(end));
    }

    /// The marks of what dead processes held went from the map of one epoch into that of the other and back: 258 of
    /// 243.
    void theMapOfAnEpochHadLostChunksOfAnother()
    {
        RunStory story({ 2, 3, 1, 0, 8 });
        openSecondEpoch(story);
        loseProcesses(story);
        Desk desk(story);
        const auto isRight = [&desk](std::int64_t epoch) {
            const auto& cells = desk.bench.cells().cells();
            return desk.bench.cells().epoch() == epoch && cells.size() == 6
                && std::all_of(cells.begin(), cells.end(),
                    [epoch](const ChunkCell& cell) { return placeOf(cell.id).epoch == epoch; });
        };
        const auto lost = [&desk] {
            const auto& cells = desk.bench.cells().cells();
            return std::count_if(cells.begin(), cells.end(), [](const ChunkCell& cell) { return isWorkLost(cell); });
        };
        for (const std::int64_t epoch : { 0, 1, 0, 1 }) {
            desk.bench.watcher().setEpoch(epoch);
            QTRY_VERIFY_WITH_TIMEOUT(isRight(epoch) && lost() > 0, kPatienceMs);
            QTest::qWait(700); // one more look of the reading thread
            QVERIFY2(isRight(epoch), "the map has chunks of another epoch");
        }
    }

    void everyViewTellsTheSameOfExcludedChunks()
    {
        RunStory story({ 4, 6, 2, 9, 8 });
        auto reader = good(LedgerReader::open(story.paths().tracker()));
        std::vector<ChunkId> free;
        for (const ChunkCell& cell : good(reader.cells(0)))
            if (cell.state == ChunkState::Free && free.size() < 2)
                free.push_back(cell.id);
        good(story.supervisor().exclude(free, "left out by hand"));
        compare(story, End::Running);
    }

    void everyViewTellsTheSameOfPoisonedChunks()
    {
        const RunStory story({ 4, 6, 2, 9, 8 });
        auto feeder = good(FeederLedger::open(story.paths().tracker()));
        good(feeder.setFailed(3, "the page is damaged"));
        QCOMPARE(good(readStatus(story.paths())).epochs.front().chunks[ChunkState::Poisoned], 6);
        compare(story, End::Running);
    }

    /// A replay was held against its own functions only: between a death and the resume it counted what was lost, told
    /// another loss than status had told of the dead, and of an evaluation not that newer weights were there.
    void aReplayDidNotSayWhatStatusHadSaidThen()
    {
        RunStory story({ 4, 6, 2, 0, 8 });
        std::vector<LiveMoment> moments { lookAt(story, QStringLiteral("begun")) };
        for (const bool keep : { false, true, false, false }) {
            QVERIFY(story.trainOne(0, keep));
            moments.push_back(lookAt(story, QStringLiteral("trained %1").arg(moments.size())));
        }
        QVERIFY(story.trainOne(1, true));
        moments.push_back(lookAt(story, QStringLiteral("the other worker saved")));
        tellLast(story, 0, 31, 2.9);
        (void)good(story.supervisor().revoke(good(story.supervisor().live()).front().incarnation, "SIGKILL"));
        moments.push_back(lookAt(story, QStringLiteral("one worker died")));
        QVERIFY(story.trainOne(1, false));
        moments.push_back(lookAt(story, QStringLiteral("the other one trained on")));
        tellLast(story, 1, 15, 2.7);
        loseProcesses(story);
        // Nobody writes down when a process died: so long after its last sign it is taken to be over.
        QTest::qWait(2'500);
        moments.push_back(lookAt(story, QStringLiteral("everything was killed")));
        auto supervisor = story.supervisor();
        for (const auto& live : good(supervisor.live()))
            (void)good(supervisor.revoke(live.incarnation, "found dead"));
        const AttemptId second = good(supervisor.beginAttempt(thisProcess(), "{}"));
        auto worker = good(WorkerLedger::open(story.paths().tracker(), good(readRunFile(story.paths())).runId));
        QVERIFY(good(worker.start({ second, 0, 0, "cpu", "CPU" }, 60)).has_value());
        moments.push_back(lookAt(story, QStringLiteral("resumed")));
        const Claim claim = std::get<Claim>(good(worker.claim()));
        good(worker.begin(claim));
        ChunkOutcome outcome;
        outcome.done = claim.remaining;
        outcome.tokens = 1000;
        outcome.lossSum = 2000;
        outcome.firstStep = 1;
        outcome.lastStep = 8;
        good(worker.finish(claim, outcome));
        moments.push_back(lookAt(story, QStringLiteral("trained after the resume")));
        (void)good(worker.claim()); // something happens behind the newest moment
        replay(story, moments, 10);
    }

    /// Replayed between two goings-back, the run had all that the second one took away and all that the first one had:
    /// 1,089 steps of 778, and no sample of its 558.
    void aReplayMixedWhatWasGivenUpBeforeAndAfter()
    {
        RunStory story({ 4, 6, 1, 0, 8 });
        for (int i = 0; i < 2; ++i)
            QVERIFY(story.trainOne(0, true));
        std::vector<LiveMoment> moments { lookAt(story, QStringLiteral("begun")) };
        const auto checkpoints = good(good(LedgerReader::open(story.paths().tracker())).checkpoints());
        QCOMPARE(checkpoints.size(), std::size_t(2));
        endAs(story, End::Stopped);
        moments.push_back(lookAt(story, QStringLiteral("stopped")));

        LaterWorker second(story);
        QVERIFY(second.isStarted());
        second.train(4);
        const CheckpointId inTheMiddle = second.save("p1");
        moments.push_back(lookAt(story, QStringLiteral("a part is saved")));
        second.train();
        second.train();
        moments.push_back(lookAt(story, QStringLiteral("the rest is trained, with another chunk")));
        (void)second.save("p2");
        second.train(6);
        (void)second.save("p3");
        moments.push_back(lookAt(story, QStringLiteral("a part of a third chunk is saved")));
        second.end();
        moments.push_back(lookAt(story, QStringLiteral("stopped again")));
        (void)good(story.supervisor().goBackTo(inTheMiddle));
        moments.push_back(lookAt(story, QStringLiteral("went back")));

        LaterWorker third(story);
        third.train();
        third.train();
        moments.push_back(lookAt(story, QStringLiteral("trained again")));
        (void)third.save("q1");
        third.end();
        moments.push_back(lookAt(story, QStringLiteral("saved again")));
        (void)good(story.supervisor().goBackTo(checkpoints.front().id));
        moments.push_back(lookAt(story, QStringLiteral("went back twice")));

        LaterWorker fourth(story);
        fourth.train();
        (void)fourth.save("s1");
        moments.push_back(lookAt(story, QStringLiteral("trained for the third time")));
        fourth.train(); // something happens behind the newest moment
        replay(story, moments, 11);
        const auto report = good(audit(story.paths().tracker()));
        QVERIFY2(report.isClean(), auditText(report).c_str());
    }

    /// "Work lost 0, free 31, partly trained 1" where status had said "work lost 8, free 24": the replay took chunks of
    /// left checkpoints for free ones, and one of which the older checkpoint has a part for one that lost nothing.
    void aReplayCalledChunksFreeThatLostTheirWorkByGoingBack()
    {
        RunStory story({ 4, 6, 1, 0, 8 });
        QVERIFY(story.trainOne(0, true));
        endAs(story, End::Stopped);
        LaterWorker second(story);
        second.train(4);
        const CheckpointId inTheMiddle = second.save("p1");
        second.train();
        second.train(3);
        (void)second.save("p2");
        second.end();
        std::vector<LiveMoment> moments { lookAt(story, QStringLiteral("stopped")) };
        (void)good(story.supervisor().goBackTo(inTheMiddle));
        moments.push_back(lookAt(story, QStringLiteral("went back")));
        const Truths& then = moments.back().numbers;
        QCOMPARE(then[QStringLiteral("work lost")].first(), 2);
        QCOMPARE(then[QStringLiteral("lost with a part that is kept")].first(), 1);
        QCOMPARE(then[QStringLiteral("partly trained")].first(), 0);
        LaterWorker third(story);
        third.train();
        (void)third.save("q1");
        moments.push_back(lookAt(story, QStringLiteral("trained again")));
        third.train(); // something happens behind the newest moment
        replay(story, moments, 7);
    }

    /// A part of a chunk that was never committed leaves without a move of the chunk: the map drew it until the run was
    /// opened again.
    void theMapKeptAPartThatHadLeftTheWeights()
    {
        RunStory story({ 4, 6, 1, 0, 8 });
        QVERIFY(story.trainOne(0, true));
        endAs(story, End::Stopped);
        LaterWorker second(story);
        second.train(4);
        (void)second.save("p1");
        second.end();
        auto reader = good(LedgerReader::open(story.paths().tracker()));
        const auto cells = good(reader.takenUpOnce(0));
        QCOMPARE(cells.size(), std::size_t(1));
        QVERIFY(isPartlyTrained(cells.front()));
        Desk desk(story);
        const auto isShown = [&](bool (*rule)(const ChunkCell&)) {
            const ChunkCell* cell = desk.bench.cells().find(cells.front().id);
            return cell != nullptr && rule(*cell);
        };
        QTRY_VERIFY_WITH_TIMEOUT(isShown(isPartlyTrained) && !desk.bench.claims().claims().empty(), kPatienceMs);
        (void)good(story.supervisor().goBackTo(good(reader.checkpoints()).front().id));
        QTRY_VERIFY_WITH_TIMEOUT(isShown(isWorkLost), kPatienceMs);
        const auto isKnownAsLeft = [](const ClaimRow& claim) { return claim.isLeftBehind; };
        QTRY_VERIFY_WITH_TIMEOUT(std::ranges::any_of(desk.bench.claims().claims(), isKnownAsLeft), kPatienceMs);
    }

    /// Trainings were hatched as lost before the kill, and before the resume a lane said when that had found the dead.
    void theLanesOfAReplayShowedTheFuture()
    {
        RunStory story({ 4, 6, 1, 0, 8 });
        QVERIFY(story.trainOne(0, false));
        const std::int64_t trained = lookAt(story, QStringLiteral("trained")).wallNs;
        loseProcesses(story);
        QTest::qWait(2'500); // so long after its last sign an attempt is taken to be over
        const std::int64_t killed = lookAt(story, QStringLiteral("killed")).wallNs;
        findDead(story);
        Workbench bench(story.workspace());
        bench.showRun(story.folder());
        QTRY_VERIFY_WITH_TIMEOUT(bench.watcher().status() && bench.watcher().tables() && bench.watcher().telemetry()
                && bench.replay().end() > killed && !bench.claims().claims().empty() && !bench.cells().cells().empty(),
            kPatienceMs);
        const auto isLost = [](const LaneClaim& claim) { return claim.lost; };
        const auto laneAt = [&bench](std::optional<std::int64_t> moment) {
            bench.replay().setMoment(moment);
            const auto lanes = shownLanes(bench);
            return lanes.size() == 1 ? lanes.front() : Lane {};
        };
        const Lane before = laneAt(trained);
        QVERIFY(!before.claims.empty() && before.deaths.empty());
        QVERIFY(std::none_of(before.claims.begin(), before.claims.end(), isLost));
        const Lane between = laneAt(killed);
        QVERIFY(std::any_of(between.claims.begin(), between.claims.end(), isLost));
        QCOMPARE(between.deaths.size(), std::size_t(1)); // no process is drawn
        QVERIFY2(between.deaths.front().label.isEmpty(), qPrintable(between.deaths.front().label));
        QVERIFY(shownStatus(bench)->workers.front().endCause.empty());
        for (const LaneClaim& claim : between.claims)
            QVERIFY(claim.ended != 0 && claim.ended * 1e9 <= static_cast<double>(killed));
        const Lane now = laneAt(std::nullopt);
        QCOMPARE(now.deaths.size(), std::size_t(1));
        QVERIFY2(now.deaths.front().label.contains(QStringLiteral("found dead")), qPrintable(now.deaths.front().label));
    }

    void headMetersAndMapAreOfTheMomentThatIsReplayed_data()
    {
        QTest::addColumn<int>("tenth");
        for (int tenth = 0; tenth < 10; ++tenth)
            QTest::addRow("moment %d", tenth) << tenth;
    }
    void headMetersAndMapAreOfTheMomentThatIsReplayed()
    {
        QFETCH(int, tenth);
        RunStory story({ 4, 6, 2, 12, 8 });
        endAs(story, End::Freed);
        Desk desk(story);
        QTRY_VERIFY_WITH_TIMEOUT(desk.bench.watcher().status() && desk.bench.watcher().tables()
                && !desk.bench.cells().cells().empty() && desk.bench.replay().end() > desk.bench.replay().begin(),
            kPatienceMs);
        QTRY_VERIFY_WITH_TIMEOUT(!desk.bench.claims().claims().empty(), kPatienceMs);
        auto& replay = desk.bench.replay();
        replay.setMoment(replay.begin() + (replay.end() - 1 - replay.begin()) * tenth / 10);
        Truths truths;
        const RunStatus past = *shownStatus(desk.bench);
        std::map<ChunkState, std::int64_t> states;
        for (const ChunkCell& cell : replay.cellsAt(*replay.moment()))
            ++states[cell.state];
        truths[QStringLiteral("committed")][QStringLiteral("moves of the ledger")] = states[ChunkState::Committed];
        truths[QStringLiteral("trained")][QStringLiteral("moves of the ledger")] = states[ChunkState::Trained];
        truths[QStringLiteral("leased")][QStringLiteral("moves of the ledger")] = states[ChunkState::Leased];
        addConsole(truths, desk, true);
        truths[QStringLiteral("steps")][QStringLiteral("status of the moment")] = past.steps;
        truths[QStringLiteral("steps")][QStringLiteral("meter")] = desk.meterCount(QStringLiteral("Optimiser steps"));
        QVERIFY2(disagreement(truths).isEmpty(), qPrintable(disagreement(truths)));
    }
};

QTEST_MAIN(TestTruthTable)
#include "tst_truth_table.moc"
