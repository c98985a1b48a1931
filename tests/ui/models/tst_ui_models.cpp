#include "ui/bridge/checkpoint_verifier.h"
#include "ui/bridge/log_tail.h"
#include "ui/models/checkpoint_table.h"
#include "ui/models/run_form.h"
#include "ui/models/run_list_model.h"
#include "ui/models/run_tables.h"
#include "ui/models/selection_model.h"
#include "ui/models/words.h"

#include <QAbstractItemModelTester>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QtTest>

using namespace furrow;

namespace {

RunLine line(const QString& folder, RunState state)
{
    RunLine l;
    l.folder = folder;
    l.name = folder;
    l.state = state;
    l.loss = 2.5;
    l.sparkline = { 3, 2.5 };
    return l;
}

} // namespace

class TestUiModels : public QObject {
    Q_OBJECT
private Q_SLOTS:
    /// Spanish leaves 1000 in one piece, and Qt 6.4 the first thousands of a million as well.
    void millionsInSpanishWere1234Point567()
    {
        QLocale::setDefault(QLocale(QStringLiteral("es")));
        QCOMPARE(countText(1234), QStringLiteral("1234"));
        QCOMPARE(countText(12345), QStringLiteral("12.345"));
        QCOMPARE(countText(1234567), QStringLiteral("1.234.567"));
        QCOMPARE(countText(-1234567), QStringLiteral("-1.234.567"));
        QCOMPARE(countText(123456789), QStringLiteral("123.456.789"));
        QLocale::setDefault(QLocale::c());
    }

    void runListKeepsTheContractOfModels()
    {
        RunListModel model;
        const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
        model.reset({ line(QStringLiteral("a"), RunState::Running), line(QStringLiteral("b"), RunState::Failed) });
        model.reset({ line(QStringLiteral("a"), RunState::Paused), line(QStringLiteral("b"), RunState::Failed) });
        QCOMPARE(model.rowOf(QStringLiteral("b")), 1);
        QCOMPARE(model.index(0).data(RunListModel::StateRole).toInt(), static_cast<int>(RunState::Paused));
        model.reset({});
        QCOMPARE(model.rowCount(), 0);
    }

    void changedValuesOfTheSameRunsKeepTheSelection()
    {
        RunListModel model;
        model.reset({ line(QStringLiteral("a"), RunState::Running) });
        const QPersistentModelIndex chosen = model.index(0);
        model.reset({ line(QStringLiteral("a"), RunState::Interrupted) });
        QVERIFY(chosen.isValid());
        QVERIFY(chosen.data(Qt::AccessibleTextRole).toString().contains(stateWord(RunState::Interrupted)));
    }

    void theConfigurationShowedWhatWasFrozenNotWhatAResumeChanged()
    {
        RunConfig frozen;
        frozen.workers = 4;
        RunConfig inForce = frozen;
        inForce.workers = 1;
        ConfigModel model(configColumns());
        model.reset(configLines(inForce, frozen, frozen));
        QStringList values;
        for (int row = 0; row < model.rowCount(); ++row)
            if (model.rows()[static_cast<std::size_t>(row)].setting->key == "workers"
                || model.index(row, 2).data().toString().contains(QStringLiteral("begun with")))
                values.append(model.index(row, 2).data().toString());
        QCOMPARE(values, QStringList { QStringLiteral("1 (begun with 4)") });
    }

    void tablesKeepTheContractOfModels()
    {
        LogModel log(logColumns());
        EventModel events(eventColumns());
        ConfigModel config(configColumns());
        BlockModel blocks(blockColumns());
        ChunkModel chunks(chunkColumns());
        ClaimModel claims(claimColumns());
        IncarnationModel incarnations(incarnationColumns());
        const CheckpointVerifier verifier;
        CheckpointModel checkpoints(checkpointColumns(verifier));
        FindingModel findings(findingColumns());
        for (QAbstractItemModel* model : std::initializer_list<QAbstractItemModel*> {
                 &log, &events, &config, &blocks, &chunks, &claims, &incarnations, &checkpoints, &findings })
            new QAbstractItemModelTester(model, QAbstractItemModelTester::FailureReportingMode::Fatal, model);
        log.append({ LogLine {}, LogLine {} });
        log.keepLast(1);
        QCOMPARE(log.rowCount(), 1);
        events.append({ EventLine {} });
        config.reset(configLines(RunConfig {}, RunConfig {}, RunConfig {}));
        QCOMPARE(config.rowCount(), static_cast<int>(settings().size()));
        ChunkCell cell;
        cell.block = 53;
        cell.column = 17;
        chunks.reset({ cell });
        QCOMPARE(chunks.index(0, 0).data().toString(), QStringLiteral("B53 C17"));
        blocks.reset(blockLines({ cell, cell }));
        QCOMPARE(blocks.rows().front().chunks, 2);
        claims.reset({ ClaimRow {} });
        incarnations.reset({ IncarnationRow {} });
        checkpoints.reset({ CheckpointLine {} });
        findings.reset({ AuditFinding {} });
        for (const QAbstractItemModel* model : std::initializer_list<const QAbstractItemModel*> {
                 &log, &events, &config, &blocks, &chunks, &claims, &incarnations, &checkpoints, &findings }) {
            for (int column = 0; column < model->columnCount(); ++column)
                QVERIFY(!model->headerData(column, Qt::Horizontal).toString().isEmpty());
        }
    }

    /// The Data page counted chunks whose work was lost among the free ones, and called them free, where map and status
    /// have them as lost.
    void lostChunksWereFreeOnTheDataPage()
    {
        ChunkCell lost;
        lost.state = ChunkState::Free;
        lost.timesLost = 1;
        ChunkCell orphaned;
        orphaned.state = ChunkState::Trained;
        orphaned.holderGone = true;
        ChunkCell free;
        free.state = ChunkState::Free;
        const BlockLine line = blockLines({ lost, orphaned, free }).front();
        QCOMPARE(line.lost, 2);
        QCOMPARE(line.free, 1);
        QCOMPARE(line.trained, 0);
        QCOMPARE(chunkStateWord(lost), QStringLiteral("work lost"));
        QCOMPARE(chunkStateWord(free), QStringLiteral("free"));
    }

    /// A chunk of ten tokens had as much to say as one of ten thousand.
    void theMeanOfABlockWasThatOfItsChunks()
    {
        ChunkCell large;
        large.trainedWallNs = 1;
        large.meanLoss = 3;
        large.tokens = 300;
        ChunkCell small = large;
        small.meanLoss = 5;
        small.tokens = 100;
        QCOMPARE(blockLines({ large, small }).front().meanLoss, 3.5);
    }

    void logFilterTakesLevelProcessAndWordsTogether()
    {
        LogModel log(logColumns());
        log.append({ { {}, LogLevel::Info, QStringLiteral("worker-0"), QStringLiteral("step") },
            { {}, LogLevel::Error, QStringLiteral("worker-1"), QStringLiteral("disk full") },
            { {}, LogLevel::Error, QStringLiteral("feeder"), QStringLiteral("disk slow") } });
        LogFilter filter;
        filter.setSourceModel(&log);
        filter.setLeastLevel(LogLevel::Warning);
        QCOMPARE(filter.rowCount(), 2);
        filter.setWords(QStringLiteral("DISK"));
        filter.setProcess(QStringLiteral("feeder"));
        QCOMPARE(filter.rowCount(), 1);
    }

    void logLinesAreTakenApart()
    {
        const LogLine parsed
            = parseLogLine("2026-03-13 18:42:10.123 W worker-0  A step took long", QStringLiteral("x"));
        QCOMPARE(parsed.level, LogLevel::Warning);
        QCOMPARE(parsed.process, QStringLiteral("worker-0"));
        QCOMPARE(parsed.text, QStringLiteral("A step took long"));
        QCOMPARE(parsed.time, QStringLiteral("2026-03-13 18:42:10.123"));
        const LogLine other = parseLogLine("terminate called", QStringLiteral("worker-1"));
        QCOMPARE(other.text, QStringLiteral("terminate called"));
        QCOMPARE(other.process, QStringLiteral("worker-1"));
    }

    void anUnfinishedLogLineWaitsForItsEnd()
    {
        const QTemporaryDir folder;
        QFile file(folder.filePath(QStringLiteral("1-worker-0.log")));
        QVERIFY(file.open(QIODevice::WriteOnly | QIODevice::Unbuffered));
        file.write("first\nsec");
        LogTail tail(std::filesystem::path(folder.path().toStdString()));
        QCOMPARE(tail.poll().size(), std::size_t(1));
        file.write("ond\n");
        const auto lines = tail.poll();
        QCOMPARE(lines.size(), std::size_t(1));
        QCOMPARE(lines.front().text, QStringLiteral("second"));
    }

    void formKeepsWhatIsNoValueAndReportsIt()
    {
        RunForm form;
        const Setting& chunk = *findSetting("chunk_samples");
        form.setText(chunk, QStringLiteral("many"));
        QCOMPARE(form.text(chunk), QStringLiteral("many"));
        QCOMPARE(form.problemsOf("chunk_samples").size(), std::size_t(1));
        QVERIFY(!form.isReady());
        form.setText(chunk, QStringLiteral("50"));
        QVERIFY(form.problemsOf("chunk_samples").empty());
        QCOMPARE(form.config().chunkSamples, 50);
    }

    void everySettingMakesTheRoundTripThroughTheForm()
    {
        RunForm form;
        for (const Preset& preset : presets()) {
            form.useConfig(preset.config, preset);
            for (const Setting& setting : settings())
                form.setText(setting, form.text(setting));
            QVERIFY2(form.config() == preset.config, preset.name.c_str());
            QVERIFY(form.changesFromPreset().empty());
        }
    }

    void theFixOfAProblemMendsIt()
    {
        RunForm form;
        form.setText(*findSetting("data"), QStringLiteral("/x.txt"));
        form.setText(*findSetting("heads"), QStringLiteral("3")); // does not divide the width
        const auto problems = form.problems();
        const auto mendable = std::find_if(
            problems.begin(), problems.end(), [](const ConfigProblem& problem) { return !problem.fix.empty(); });
        QVERIFY(mendable != problems.end());
        form.setText(*findSetting(mendable->key), QString::fromStdString(mendable->fix));
        QVERIFY(form.problems().empty());
    }

    void anotherPresetKeepsWhatWasTyped()
    {
        RunForm form;
        form.setText(*findSetting("data"), QStringLiteral("/tmp/x.txt"));
        form.setText(*findSetting("seed"), QStringLiteral("7"));
        const Preset other = findPreset("10m").value();
        form.usePreset(other);
        QCOMPARE(form.config().seed, 7);
        QCOMPARE(form.config().data.size(), std::size_t(1));
        QCOMPARE(form.config().layers, other.config.layers);
        QVERIFY(form.command().contains(QLatin1String("--seed 7")));
    }

    void ownPresetsAreReadBackAndBadNamesRefused()
    {
        const QTemporaryDir workspace;
        RunConfig config;
        config.lr = 0.5;
        QVERIFY(saveOwnPreset(workspace.path(), QStringLiteral("mine"), config).ok());
        QStringList broken;
        const auto found = readOwnPresets(workspace.path(), broken);
        QCOMPARE(found.size(), std::size_t(1));
        QCOMPARE(found.front().config.lr, 0.5);
        QVERIFY(broken.isEmpty());
        QVERIFY(!saveOwnPreset(workspace.path(), QStringLiteral("../evil"), config).ok());
    }

    /// A setting that was a million lists in each other broke the stack of the console at each start.
    void aPresetNestedWithoutEndIsToldAsUnreadable()
    {
        const QTemporaryDir workspace;
        QVERIFY(QDir(workspace.path()).mkpath(QStringLiteral("presets")));
        QFile preset(workspace.filePath(QStringLiteral("presets/deep.json")));
        QVERIFY(preset.open(QIODevice::WriteOnly));
        constexpr int kLevels = 1'000'000;
        preset.write("{\"lr\":" + QByteArray(kLevels, '[') + QByteArray(kLevels, ']') + "}");
        preset.close();
        QStringList broken;
        QVERIFY(readOwnPresets(workspace.path(), broken).empty());
        QCOMPARE(broken, QStringList { QStringLiteral("deep") });
    }

    void selectionTellsEachChangeOnceAndForgetsWithTheRun()
    {
        SelectionModel selection;
        const QSignalSpy spy(&selection, &SelectionModel::changed);
        selection.setRun(QStringLiteral("a"));
        selection.setWorker(1);
        selection.setWorker(1);
        selection.setChunks({ { { 5 }, 1, 2 } });
        QCOMPARE(spy.count(), 3);
        selection.setRun(QStringLiteral("b"));
        QVERIFY(!selection.selection().worker);
        QVERIFY(selection.selection().chunks.empty());
    }
};

QTEST_MAIN(TestUiModels)
#include "tst_ui_models.moc"
