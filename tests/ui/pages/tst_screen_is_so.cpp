// What is on the screen is so: counts, ends and marks that said something else than the ledger. Each test is named
// after what went wrong.
#include "core/base/file_lock.h"
#include "core/run/folder/automatic_packing.h"
#include "core/run/status/keeps_open.h"
#include "core/run/status/known_evaluation.h"
#include "core/run/status/reading.h"
#include "core/run/status/run_status.h"
#include "core/run/status/run_weights.h"
#include "core/run/status/samples_left_out.h"
#include "core/tracker/audit/audit.h"
#include "core/tracker/given_up.h"
#include "core/tracker/left_out_samples.h"
#include "core/tracker/sqlite/database.h"
#include "core/tracker/trained_behind.h"
#include "tests/ui/patience.h"
#include "tests/ui/run_story.h"
#include "ui/charts/chart_parts.h"
#include "ui/charts/coverage_map.h"
#include "ui/models/core_words.h"
#include "ui/models/library_table.h"
#include "ui/models/past_status.h"
#include "ui/models/shown_status.h"
#include "ui/models/words.h"
#include "ui/models/workbench.h"
#include "ui/pages/alert_list.h"
#include "ui/pages/compare_page.h"
#include "ui/pages/coverage_page.h"
#include "ui/pages/epoch_meters.h"
#include "ui/pages/overview_page.h"
#include "ui/pages/run_banner.h"
#include "ui/pages/worker_card.h"
#include "ui/shell/appearance.h"
#include "ui/shell/inspector_dock.h"
#include "ui/shell/lanes_dock.h"
#include "ui/widgets/lane_view.h"
#include "ui/widgets/meters.h"

#include <QApplication>
#include <QComboBox>
#include <QLabel>
#include <QMouseEvent>
#include <QScopeGuard>
#include <QSignalSpy>
#include <QTableView>
#include <algorithm>
#include <nlohmann/json.hpp>

using namespace furrow;
using namespace furrow::test;

namespace {

bool says(const QWidget& parent, const QString& part)
{
    const auto labels = parent.findChildren<QLabel*>();
    return std::any_of(labels.begin(), labels.end(), [&](const QLabel* label) { return label->text().contains(part); });
}

void show(Workbench& bench, const RunStory& story) { bench.showRun(story.folder()); }

/// Processes that are gone, as after a power cut: nobody has freed what they hold.
void endAllProcesses(const RunStory& story)
{
    auto db = good(Database::open(story.paths().tracker(), Database::Options {}));
    db.run("UPDATE incarnation SET pid=?, start_time=1", 0x3ffffff0);
    good(db.takeStatus());
}

/// Of a story whose only worker trained five chunks, three of them committed: two are lost with the worker, and two as
/// the run goes back to its first checkpoint.
void loseFour(const RunStory& story)
{
    auto supervisor = story.supervisor();
    auto reader = good(LedgerReader::open(story.paths().tracker()));
    for (const IncarnationRow& row : good(reader.incarnations()))
        (void)good(supervisor.revoke(row.id, "gone"));
    const auto checkpoints = good(reader.checkpoints());
    const auto first = std::min_element(
        checkpoints.begin(), checkpoints.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
    if (good(supervisor.goBackTo(first->id)) != 2)
        qFatal("two chunks leave the weights");
}

/// The next free chunk is trained and committed, and none of its steps is finite.
/// @param done  windows whose steps are finite: then `skipped` are not, and the rest is still to be trained
ChunkId skipOne(
    const RunStory& story, const std::vector<WindowRange>& done = {}, const std::vector<WindowRange>& skipped = {})
{
    auto worker = good(WorkerLedger::open(story.paths().tracker(), good(readRunFile(story.paths())).runId));
    (void)good(worker.start({ story.attempt(), 1, 1, "cpu", "CPU" }, 60));
    const auto answer = good(worker.claim());
    const auto* claim = std::get_if<Claim>(&answer);
    if (claim == nullptr)
        qFatal("no chunk is free");
    good(worker.begin(*claim));
    ChunkOutcome outcome;
    outcome.done = done;
    outcome.skipped = done.empty() ? claim->remaining : skipped;
    outcome.tokens = done.empty() ? 0 : 400;
    outcome.lossSum = static_cast<double>(outcome.tokens) * 2;
    good(worker.finish(*claim, outcome, !done.empty()));
    CheckpointRecord record;
    record.replica = 1;
    record.folder = "1-0";
    record.manifestSha256 = std::string(64, 'a');
    std::vector<Part> parts;
    for (const WindowRange& range : done)
        parts.push_back({ claim->chunk, range });
    good(worker.commit(record, parts));
    return claim->chunk;
}

} // namespace

class TestScreenIsSo : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { registerBridgeTypes(); }

    /// "Optimiser steps 0, Tokens 0" for minutes within a long chunk, beside a worker at step 78.
    void withinALongChunkTheRunHadNoSteps()
    {
        RunStory story({ .workers = 1, .trained = 3 });
        story.makeAlive();
        const RunStatus before = good(readStatus(story.paths()));
        (void)story.beginOne(0, 5, 0.5);
        const RunStatus within = good(readStatus(story.paths()));
        QVERIFY(within.steps > before.steps);
        QCOMPARE(within.tokens, before.tokens + 500); // half of a chunk of 1,000
    }

    /// A chunk of which every step was NaN: "Samples trained" had its samples, which the audit called left out by name.
    void samplesThatWereLeftOutCountedAsTrained()
    {
        const RunStory story({ .workers = 1, .trained = 3 });
        skipOne(story);
        const AuditEpoch audited = good(audit(story.paths().tracker())).epochs.front();
        QCOMPARE(audited.committed, 2);
        QCOMPARE(audited.samplesSkipped, 19);
        const RunStatus status = good(readStatus(story.paths()));
        const RowCounts& committed = status.epochs.front().rowsCommitted;
        QCOMPARE(committed.samples, audited.rows.samples);
        QCOMPARE(samplesLeftOut(committed), audited.samplesSkipped);
        EpochMeters meters;
        meters.setStatus(status);
        const QString legend = meters.findChild<MeterLegend*>()->accessibleName();
        QVERIFY2(legend.contains(QStringLiteral("their steps were not finite 19")), qPrintable(legend));
    }

    /// A replay of the same moment had no line of what was left out, and nobody said of a committed chunk that nothing
    /// of it was trained.
    void theReplayDidNotSayWhatWasLeftOut()
    {
        const RunStory story({ .workers = 1, .trained = 3 });
        QTest::qWait(20);
        const std::int64_t before = systemClock().wallNs();
        QTest::qWait(20);
        const ChunkId chunk = skipOne(story);
        Workbench bench(story.workspace());
        OverviewPage page(bench);
        CoveragePage coverage(bench);
        show(bench, story);
        QTRY_VERIFY_WITH_TIMEOUT(bench.watcher().tables() && bench.cells().find(chunk) != nullptr
                && !bench.claims().claims().empty() && bench.replay().begin() > 0 && bench.replay().end() > before,
            kPatienceMs);
        const std::int64_t leftOutNow = samplesLeftOut(good(readStatus(story.paths())).epochs.front().rowsCommitted);
        QCOMPARE(leftOutNow, 19);
        const auto* legend = page.findChild<MeterLegend*>();
        const auto isInLegend
            = [legend](const char* words) { return legend->accessibleName().contains(QLatin1String(words)); };
        constexpr const char* kChunks = "of these left out, their steps were not finite 1";
        constexpr const char* kSamples = "samples left out, their steps were not finite 19";
        const auto tip = [&] { return coverage.findChild<CoverageMap*>()->describe(*bench.cells().find(chunk)); };
        const auto leftOut = [&] { return samplesLeftOut(shownStatus(bench)->epochs.front().rowsCommitted); };
        bench.replay().setMoment(bench.replay().end());
        QCOMPARE(leftOut(), leftOutNow);
        QCOMPARE(shownUntrained(bench), std::vector { chunk });
        QTRY_VERIFY2_WITH_TIMEOUT(
            isInLegend(kChunks) && isInLegend(kSamples), qPrintable(legend->accessibleName()), kPatienceMs);
        QTRY_VERIFY2_WITH_TIMEOUT(tip().contains(QStringLiteral("finite")), qPrintable(tip()), kPatienceMs);
        bench.replay().setMoment(before);
        QCOMPARE(leftOut(), 0);
        QVERIFY(shownUntrained(bench).empty());
        QTRY_VERIFY2_WITH_TIMEOUT(!isInLegend("not finite"), qPrintable(legend->accessibleName()), kPatienceMs);
        QTRY_VERIFY2_WITH_TIMEOUT(!tip().contains(QStringLiteral("finite")), qPrintable(tip()), kPatienceMs);
    }

    /// "11 of 19 samples in checkpoints", said tip and inspector of a chunk where `furrowctl status` had 8 of 16 and
    /// counted 3 apart.
    void whatWasLeftOutOfAPartOfAChunkCountedAsTrained()
    {
        const RunStory story({ .workers = 1, .trained = 3 });
        const ChunkId chunk = skipOne(story, { { 0, 4 } }, { { 4, 6 } }); // of ten windows
        const PartlyTrained partly = good(readStatus(story.paths())).epochs.front().partly;
        QCOMPARE(partly.sum(), 1);
        QCOMPARE(partly.samplesDone, 8);
        QCOMPARE(partly.samples, 16);
        Workbench bench(story.workspace());
        CoveragePage coverage(bench);
        InspectorDock inspector(bench);
        static_cast<QWidget&>(inspector).show();
        show(bench, story);
        QTRY_VERIFY_WITH_TIMEOUT(bench.watcher().tables() && bench.cells().find(chunk) != nullptr
                && !bench.claims().claims().empty() && bench.replay().begin() > 0,
            kPatienceMs);
        bench.selection().setChunks({ { chunk, placeOf(chunk).block, placeOf(chunk).column } });
        const auto tip = [&] { return coverage.findChild<CoverageMap*>()->describe(*bench.cells().find(chunk)); };
        const auto isRight = [&] {
            return tip().contains(QStringLiteral("8 of 16 samples in checkpoints"))
                && tip().contains(QStringLiteral("their steps were not finite: 3"));
        };
        QTRY_VERIFY2_WITH_TIMEOUT(isRight(), qPrintable(tip()), kPatienceMs);
        QTRY_VERIFY_WITH_TIMEOUT(says(inspector, QStringLiteral("8 of 16 samples")), kPatienceMs);
        QVERIFY(says(inspector, QStringLiteral("3 of 19 samples, their steps were not finite")));
        bench.replay().setMoment(bench.replay().end());
        QCOMPARE(shownStatus(bench)->epochs.front().partly.samplesDone, 8);
        QTRY_VERIFY2_WITH_TIMEOUT(isRight(), qPrintable(tip()), kPatienceMs);
    }

    /// 19 samples were "trained" in one figure and 27 in another beside it: what the weights keep of a chunk that was
    /// left out in the middle counted in this one alone, and once its epoch was closed in none.
    void theKeptPartOfAChunkThatWasLeftOutWasNotAmongTheSamplesTrained()
    {
        const RunStory story({ .workers = 1, .trained = 3 });
        const ChunkId chunk = skipOne(story, { { 0, 4 } }, { { 4, 6 } }); // of ten windows
        good(story.supervisor().exclude({ &chunk, 1 }, "left out by hand"));
        Reading reading;
        reading.samplesFetched = 100;
        good(publishReading(story.paths(), reading));
        const std::int64_t audited = good(audit(story.paths().tracker())).epochs.front().rows.samples;
        const RunStatus status = good(readStatus(story.paths()));
        QCOMPARE(status.epochs.front().partlyLeftOut.samplesDone, 8);
        QCOMPARE(status.epochs.front().samplesTrained(), audited);
        const auto json = toJson(status);
        QCOMPARE(json["samples"]["trained"].get<std::int64_t>(), audited);
        QCOMPARE(json["reading"]["samples_trained"].get<std::int64_t>(), audited);
        QCOMPARE(json["reading"]["efficiency"].get<double>(), static_cast<double>(audited) / 100);

        auto reader = good(LedgerReader::open(story.paths().tracker()));
        const auto checkpoints = good(reader.checkpoints());
        const auto ofPart
            = std::ranges::find_if(checkpoints, [](const auto& row) { return row.record.folder == "1-0"; });
        QVERIFY(ofPart != checkpoints.end());
        QCOMPARE(good(trainedEpochs(story.paths().tracker(), ofPart->id)).front().samples, 8); // of a card of the model
        auto epochs = good(reader.epochs());
        epochs.front().closedWallNs = 1;
        epochs.push_back({ .epoch = 1 });
        for (int look = 0; look < 2; ++look) { // the second one remembers
            auto rows = epochs;
            (void)good(countChunksApart(rows, {}, true, reader));
            QCOMPARE(rows.front().partlyLeftOut.samplesDone, 8);
            QCOMPARE(rows.front().partlyLeftOut.chunks, 1);
        }
    }

    /// "11 of 19 samples" of a chunk that was left out in the middle, in a replay of the moment at which the live view
    /// had 8: what its steps that were not finite had left out counted as trained.
    void theReplayCountedWhatWasLeftOutOfAPartAsTrained()
    {
        const RunStory story({ .workers = 1, .trained = 3 });
        const ChunkId chunk = skipOne(story, { { 0, 4 } }, { { 4, 6 } });
        good(story.supervisor().exclude({ &chunk, 1 }, "left out by hand"));
        const EpochRow now = good(readStatus(story.paths())).epochs.front();
        QCOMPARE(now.samplesExcluded, 11); // of its 19 samples
        Workbench bench(story.workspace());
        show(bench, story);
        QTRY_VERIFY_WITH_TIMEOUT(bench.watcher().tables() && bench.cells().find(chunk) != nullptr
                && !bench.claims().claims().empty() && bench.replay().begin() > 0,
            kPatienceMs);
        bench.replay().setMoment(bench.replay().end());
        const EpochRow then = shownStatus(bench)->epochs.front();
        QCOMPARE(then.partlyLeftOut.chunks, now.partlyLeftOut.chunks);
        QCOMPARE(then.partlyLeftOut.samplesDone, now.partlyLeftOut.samplesDone);
        QCOMPARE(then.samplesExcluded, now.samplesExcluded);
    }

    /// Two of two chunks were "committed", one of them without any step that was finite, and nothing said so.
    void aChunkOfWhichNothingWasTrainedWasJustCommitted()
    {
        const RunStory story({ .workers = 1, .trained = 3 });
        skipOne(story);
        const auto json = toJson(good(readStatus(story.paths())));
        QCOMPARE(json["chunks"]["committed"].get<int>(), 2);
        QCOMPARE(json["chunks"]["committed_skipped"].get<int>(), 1);
        ChunkCell cell;
        cell.id = chunkIdOf({ 0, 0, 0 });
        cell.state = ChunkState::Committed;
        cell.windows = cell.covered = 10;
        CoverageMap map;
        QVERIFY(!map.describe(cell).contains(QStringLiteral("finite")));
        map.setLeftOut({ { cell.id, 10 } });
        QVERIFY2(map.describe(cell).contains(QStringLiteral("none of its steps was finite")),
            qPrintable(map.describe(cell)));
        Workbench bench(story.workspace());
        OverviewPage page(bench);
        show(bench, story);
        const auto* legend = page.findChild<MeterLegend*>();
        QTRY_VERIFY2_WITH_TIMEOUT(
            legend->accessibleName().contains(QStringLiteral("of these left out, their steps were not finite 1")),
            qPrintable(legend->accessibleName()), kPatienceMs);
        QTRY_VERIFY_WITH_TIMEOUT(!bench.cells().cells().empty() && !bench.claims().claims().empty(), kPatienceMs);
        InspectorDock inspector(bench);
        static_cast<QWidget&>(inspector).show();
        const ChunkId chunk = good(skippedChunks(story.paths().tracker()))->front().chunk;
        bench.selection().setChunks({ { chunk, placeOf(chunk).block, placeOf(chunk).column } });
        QTRY_VERIFY_WITH_TIMEOUT( // "once", it said
            says(inspector, QStringLiteral("it is left out, none of its steps was finite")), kPatienceMs);
    }

    /// "work lost 4" did not say whether workers had died, the run had gone back, or a checkpoint was damaged.
    void workWasLostAndNothingSaidWhy()
    {
        const RunStory story({ .workers = 1, .trained = 5 }); // three are committed, each by its own checkpoint
        loseFour(story);
        const RunStatus status = good(readStatus(story.paths()));
        QCOMPARE(status.epochs.front().lost.sum(), 4);
        const LostCauses causes = status.lostCauses.at(0);
        QCOMPARE(causes.died, 2);
        QCOMPARE(causes.wentBack, 2);
        QCOMPARE(causes.damaged, 0);
        EpochMeters meters;
        const auto legend = [&meters] { return meters.findChild<MeterLegend*>()->accessibleName(); };
        meters.setStatus(status);
        QVERIFY2(
            legend().contains(QStringLiteral("work lost 4, of these 2 as their workers ended before a checkpoint had "
                                             "them, of these 2 as the run went back to an older checkpoint")),
            qPrintable(legend()));
        const std::vector<Replay::Left> left;
        const std::vector<ClaimRow> claims;
        const std::int64_t moment = systemClock().wallNs();
        QVERIFY(statusAt(moment, { status, {}, left, claims }).lostCauses.empty()); // those causes are of the present
    }

    /// `furrowctl status` and the meters said why work was lost, `status --json` and the inspector did not.
    void someViewsDidNotSayWhyWorkWasLost()
    {
        const RunStory story({ .workers = 1, .trained = 5 });
        loseFour(story);
        const auto json = toJson(good(readStatus(story.paths())));
        for (const auto& chunks : { json["chunks"], json["epochs"][0]["chunks"] }) {
            QCOMPARE(chunks["lost"].get<int>(), 4);
            QCOMPARE(chunks["lost_causes"]["worker_ended"].get<int>(), 2);
            QCOMPARE(chunks["lost_causes"]["went_back"].get<int>(), 2);
            QCOMPARE(chunks["lost_causes"]["checkpoint_unusable"].get<int>(), 0);
        }
        const auto givenUp = good(good(LedgerReader::open(story.paths().tracker())).givenUpByCheckpoints());
        QCOMPARE(std::ssize(givenUp), 2);
        Workbench bench(story.workspace());
        show(bench, story);
        QTRY_VERIFY_WITH_TIMEOUT(!bench.cells().cells().empty() && !bench.claims().claims().empty(), kPatienceMs);
        InspectorDock inspector(bench);
        static_cast<QWidget&>(inspector).show();
        const ChunkId chunk = givenUp.front().chunk;
        bench.selection().setChunks({ { chunk, placeOf(chunk).block, placeOf(chunk).column } });
        QTRY_VERIFY_WITH_TIMEOUT(
            says(inspector, QStringLiteral("1 as the run went back to an older checkpoint")), kPatienceMs);
    }

    /// After a kill of everything the headline had the work that was lost with it, until the next attempt freed it.
    void whatWentWithItsWorkersWasCountedUntilTheNextAttempt()
    {
        RunStory story({ .workers = 1, .trained = 3 });
        const RunStatus before = good(readStatus(story.paths()));
        QVERIFY(story.trainOne(0, false));
        (void)story.beginOne(0, 5, 0.5);
        endAllProcesses(story);
        const RunStatus gone = good(readStatus(story.paths()));
        auto supervisor = story.supervisor();
        for (const IncarnationRow& row : good(good(LedgerReader::open(story.paths().tracker())).incarnations()))
            (void)good(supervisor.revoke(row.id, "gone"));
        const RunStatus freed = good(readStatus(story.paths()));
        QCOMPARE(gone.steps, freed.steps); // one count, before and after
        QCOMPARE(gone.tokens, freed.tokens);
        QVERIFY(gone.tokens <= before.tokens);
    }

    /// The layer "Block" of a past moment had what is prepared today: block 3, that came later, and not block 1, that
    /// was there.
    void blocksOfThePresentStoodInTheReplay()
    {
        const RunStory story({ .trained = 0 }); // blocks 0 to 2 are prepared
        auto feeder = good(FeederLedger::open(story.paths().tracker()));
        QTest::qWait(20);
        const std::int64_t moment = systemClock().wallNs();
        QTest::qWait(20);
        good(feeder.setEvicted(1, "the cache is full"));
        PreparedChunk chunk;
        chunk.rows = { 20, 19, 0, 0, 1, 0 };
        chunk.tokens = 1000;
        chunk.windows = 10;
        good(feeder.setPrepared(3, "block3", "digest3", std::vector<PreparedChunk>(6, chunk)));
        Workbench bench(story.workspace());
        CoveragePage page(bench);
        show(bench, story);
        const auto combos = page.findChildren<QComboBox*>();
        const auto layers = std::find_if(combos.begin(), combos.end(), [](const QComboBox* combo) {
            return combo->findData(static_cast<int>(MapLayer::Block)) >= 0
                && combo->accessibleName() == QStringLiteral("Layer");
        });
        QVERIFY(layers != combos.end());
        (*layers)->setCurrentIndex((*layers)->findData(static_cast<int>(MapLayer::Block)));
        const MapColors& colors = page.findChild<CoverageMap*>()->colors();
        const auto places = [&colors] {
            std::vector<BlockPlace> all;
            for (std::int64_t block = 0; block < 4; ++block)
                all.push_back(colors.placeOfBlock(block));
            return all;
        };
        using enum BlockPlace;
        QTRY_VERIFY_WITH_TIMEOUT(places() == (std::vector { Prepared, Remote, Prepared, Prepared }), kPatienceMs);
        QTRY_VERIFY_WITH_TIMEOUT(bench.watcher().tables() && bench.replay().end() > moment, kPatienceMs);
        bench.replay().setMoment(moment);
        QVERIFY(places() == (std::vector { Prepared, Prepared, Prepared, Remote }));
        QCOMPARE(shownStatus(bench)->epochs.front().preparedBlocks, 3); // the meters know no sum of samples yet
        bench.replay().setMoment(bench.replay().end());
        QVERIFY(places() == (std::vector { Prepared, Evicted, Prepared, Prepared }));
        bench.watcher().setHeld(false);
        QTRY_VERIFY_WITH_TIMEOUT(places() == (std::vector { Prepared, Remote, Prepared, Prepared }), kPatienceMs);
    }

    /// "Stop after this block" was asked for, and no view said so.
    void aStopThatWasAskedForWasNowhere()
    {
        RunStory story({ .trained = 3 });
        story.makeAlive();
        const auto lock = good(FileLock::tryLock(story.paths().supervisorLock()));
        good(story.supervisor().setStoppingRules(stoppingRules(good(readRunFile(story.paths())).config)));
        Workbench bench(story.workspace());
        RunBanner banner(bench);
        show(bench, story);
        QTRY_VERIFY_WITH_TIMEOUT(bench.watcher().status(), kPatienceMs);
        QVERIFY(isAboutToEnd(good(readStatus(story.paths()))).empty());
        QVERIFY(banner.isHidden());
        good(story.supervisor().stopAfterThis(EndOf::Block));
        QTRY_VERIFY_WITH_TIMEOUT(!banner.isHidden(), kPatienceMs);
        QVERIFY(says(banner, QStringLiteral("The run is about to stop")));
        QVERIFY(says(banner, QStringLiteral("block that is complete next")));
    }

    /// A run that left the packing to Furrow was "different from the preset: packing end_to_end".
    void anAutomaticSettingWasCalledChanged()
    {
        const RunStory story({});
        RunFile file = good(readRunFile(story.paths()));
        const Preset preset = good(findPreset("char"));
        QVERIFY(preset.config.packing == Packing::Auto);
        file.config.packing = Packing::EndToEnd; // as makeWhole() froze it
        const auto names = [](const std::vector<ConfigChange>& found) {
            QStringList keys;
            for (const ConfigChange& change : found)
                keys.append(QString::fromStdString(change.setting->key));
            return keys;
        };
        const QString packing = QStringLiteral("packing");
        QVERIFY(!names(changes(presetInRun(preset.config, file), file.config)).contains(packing));
        QVERIFY(configForAnother(file).packing == Packing::Auto);
        file.config.packing = Packing::Single;
        QVERIFY(names(changes(presetInRun(preset.config, file), file.config)).contains(packing));
        QVERIFY(configForAnother(file).packing == Packing::Single);
    }

    /// "Before the end of epoch 1" of the checkpoint whose commit ended epoch 1, an instant after it had its own time.
    void theCheckpointThatEndedAnEpochWasFromBeforeItsEnd()
    {
        SupervisorLedger::CheckpointRow last;
        last.id = { 1 };
        last.wallNs = 1000;
        SupervisorLedger::CheckpointRow later = last;
        later.id = { 2 };
        later.wallNs = 5000;
        EpochRow epoch;
        epoch.closedWallNs = 1003;
        HeldOutLoss evaluation;
        evaluation.checkpoint = 1;
        evaluation.wallNs = last.wallNs;
        QVERIFY(!unfinishedEpoch({ epoch }, wholeUntil(evaluation, { last, later })));
        QVERIFY(!unfinishedEpoch({ epoch }, wholeUntil(evaluation, { last })));
        epoch.closedWallNs = 5003; // with the next one
        QVERIFY(unfinishedEpoch({ epoch }, wholeUntil(evaluation, { last, later })).has_value());
        evaluation.checkpoint = 0; // a worker told it, and no checkpoint has it
        evaluation.wallNs = 900;
        epoch.closedWallNs = 1003;
        QVERIFY(unfinishedEpoch({ epoch }, wholeUntil(evaluation, { last, later })).has_value());
    }

    /// "(after a checkpoint)" stood in the middle of a Spanish sentence.
    void theDetailOfAnEndWasLeftInEnglish()
    {
        Appearance appearance(false);
        appearance.setLanguage(Language::Spanish);
        const auto back = qScopeGuard([&appearance] { appearance.setLanguage(Language::English); });
        const Message kept("after a checkpoint"); // as the ledger keeps a sentence without values
        QCOMPARE(coreWords(endInWords(StopReason::User, kept)),
            QStringLiteral("la detuvo una persona (tras un punto de control)"));
    }

    /// The line below the map said "free" of a chunk that had just been excluded.
    void theLineBelowTheMapWasOfBefore()
    {
        CoverageMap map;
        map.resize(400, 300);
        ChunkCell cell;
        cell.id = chunkIdOf({ 0, 0, 0 });
        cell.state = ChunkState::Free;
        map.setCells({ cell });
        map.show();
        QSignalSpy said(&map, &CoverageMap::chunkHovered);
        const auto isSaid = [&said] { return !said.isEmpty() && !said.last()[1].toString().isEmpty(); };
        for (int y = 4; y < 300 && !isSaid(); y += 8)
            for (int x = 4; x < 400 && !isSaid(); x += 8) {
                const QPointF at(x, y);
                QMouseEvent move(
                    QEvent::MouseMove, at, map.viewport()->mapToGlobal(at), Qt::NoButton, Qt::NoButton, {});
                QApplication::sendEvent(map.viewport(), &move);
            }
        QVERIFY(!said.isEmpty() && said.last()[1].toString().contains(QStringLiteral("free")));
        cell.state = ChunkState::Excluded;
        map.updateCells({ cell });
        QVERIFY2(said.last()[1].toString().contains(QStringLiteral("excluded")), qPrintable(said.last()[1].toString()));
    }

    /// What was found by looking gave way to what the run had recorded, and the list kept the old line: as many alerts
    /// were the same alerts.
    void theListKeptAnAlertThatWasWithdrawn()
    {
        AlertList list;
        Alert alert;
        alert.kind = AlertKind::DiskSpace;
        alert.text = QStringLiteral("found by looking");
        alert.wallNs = systemClock().wallNs();
        list.setAlerts({ alert });
        QVERIFY(says(list, QStringLiteral("found by looking")));
        alert.text = QStringLiteral("as recorded");
        list.setAlerts({ alert });
        QVERIFY(says(list, QStringLiteral("as recorded")));
        QVERIFY(!says(list, QStringLiteral("found by looking")));
    }

    /// Compare had a speed of 0 for a run that had trained nothing, below a table that had a dash.
    void theSpeedOfARunThatTrainedNothingWasZero()
    {
        const RunStory first({ .trained = 0 }, QStringLiteral("first"));
        const RunStory second({ .trained = 0 }, QStringLiteral("second"), first.workspace());
        for (const RunStory* story : { &first, &second }) {
            endAllProcesses(*story);
            QCOMPARE(good(readStatus(story->paths())).tokens, 0);
        }
        Workbench bench(first.workspace());
        bench.start({});
        ComparePage page(bench);
        const auto tableOf = [&page](const char* name) {
            const auto all = page.findChildren<QTableView*>();
            const auto found = std::find_if(all.begin(), all.end(),
                [name](const QTableView* table) { return table->accessibleName() == QLatin1String(name); });
            return found == all.end() ? nullptr : *found;
        };
        QTableView* runs = tableOf("Runs with figures and settings");
        QVERIFY(runs != nullptr);
        QTRY_COMPARE_WITH_TIMEOUT(runs->model()->rowCount(), 2, kPatienceMs);
        runs->selectAll();
        const QAbstractItemModel& summary = *tableOf("Summary")->model();
        QTRY_COMPARE_WITH_TIMEOUT(summary.rowCount(), 2, kPatienceMs);
        constexpr int kPace = 9;
        QCOMPARE(summary.headerData(kPace, Qt::Horizontal).toString(), QStringLiteral("Kept tokens per active second"));
        QCOMPARE(summary.index(0, kPace).data().toString(), QStringLiteral("–"));
    }

    /// The table of runs had "Finished" and "Running" where every other view said that a person marked it, or what
    /// keeps it from going on.
    void theTableOfRunsHadOtherStatesThanTheirPages()
    {
        const auto columns = libraryColumns();
        constexpr std::size_t kState = 1;
        RunStatus status;
        status.state = RunState::Finished;
        status.markedByHand = true;
        RunLine line;
        line.state = status.state;
        line.markedByHand = true;
        QCOMPARE(columns[kState].text(line), stateWord(status));
        status.markedByHand = line.markedByHand = false;
        status.state = line.state = RunState::Running;
        QCOMPARE(columns[kState].text(line), stateWord(status));
        status.hindrance.emplace().words = line.hindrance = Message("waits for a lock");
        QCOMPARE(columns[kState].text(line), stateWord(status));
    }

    /// "1 steps" of a worker that had begun.
    void oneStepWasSteps()
    {
        WorkerCard card(0);
        WorkerStatus status;
        status.step = 1;
        card.setStatus(status, false);
        QVERIFY(says(card, QStringLiteral("1 step")));
        QVERIFY(!says(card, QStringLiteral("1 steps")));
    }

    /// Curves and lanes stood beside "Nothing is known of this run".
    void aRunOfWhichNothingIsKnownHadCurvesAndLanes()
    {
        const RunStory story({ .trained = 12 });
        std::ofstream(story.paths().configFile()) << R"({"format": 77})";
        Workbench bench(story.workspace());
        LanesDock lanes(bench);
        OverviewPage page(bench);
        lanes.show();
        QSignalSpy curves(&bench.watcher(), &RunWatcher::telemetryRead);
        QSignalSpy claims(&bench.watcher(), &RunWatcher::claimsRead);
        show(bench, story);
        QTRY_VERIFY_WITH_TIMEOUT(!bench.watcher().problem().empty(), kPatienceMs);
        QTRY_VERIFY_WITH_TIMEOUT(says(page, QStringLiteral("Nothing is known of this run")), kPatienceMs);
        QTest::qWait(1500); // some more looks
        QVERIFY(curves.isEmpty());
        QVERIFY(claims.isEmpty());
    }
};

QTEST_MAIN(TestScreenIsSo)
#include "tst_screen_is_so.moc"
