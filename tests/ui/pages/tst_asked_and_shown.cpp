#include "core/base/denied.h"
#include "core/base/file_lock.h"
#include "core/base/sentence.h"
#include "core/run/status/end_words.h"
#include "core/run/status/reading.h"
#include "core/run/status/run_status.h"
#include "core/tracker/sqlite/database.h"
#include "core/workspace/workspace_file.h"
#include "tests/fakes/small_gguf.h"
#include "tests/ui/patience.h"
#include "tests/ui/run_story.h"
#include "ui/dialogs/brain_dialog.h"
#include "ui/dialogs/export_dialog.h"
#include "ui/dialogs/resume_dialog.h"
#include "ui/models/checkpoint_table.h"
#include "ui/models/run_tables.h"
#include "ui/models/setting_words.h"
#include "ui/models/run_words.h"
#include "ui/models/words.h"
#include "ui/models/workbench.h"
#include "ui/pages/epoch_meters.h"
#include "ui/pages/overview_page.h"
#include "ui/pages/new_run/estimate_panel.h"
#include "ui/pages/new_run/memory_view.h"
#include "ui/pages/new_run/new_run_page.h"
#include "ui/pages/new_run/start_map.h"
#include "ui/shell/actions.h"
#include "ui/shell/appearance.h"
#include "ui/shell/audit_dock.h"
#include "ui/shell/command_palette.h"
#include "ui/shell/inspector_dock.h"
#include "ui/shell/main_window.h"
#include "ui/shell/mnemonics.h"
#include "ui/shell/queue_dock.h"
#include "ui/shell/queue_tree.h"
#include "ui/widgets/meters.h"

#include <nlohmann/json.hpp>

#include <QLabel>
#include <QLayout>
#include <QLineEdit>
#include <QMessageBox>
#include <QPushButton>
#include <QRadioButton>
#include <QScopeGuard>
#include <QSignalSpy>
#include <QStatusBar>
#include <QStatusTipEvent>
#include <QToolButton>
#include <QTreeWidget>

using namespace furrow;
using namespace furrow::test;

namespace {

bool says(const QWidget& parent, const QString& part)
{
    const auto labels = parent.findChildren<QLabel*>();
    return std::any_of(labels.begin(), labels.end(),
        [&part](const QLabel* label) { return !label->isHidden() && label->text().contains(part); });
}

QPushButton* buttonOf(const QWidget& parent, const QString& text)
{
    for (auto* button : parent.findChildren<QPushButton*>())
        if (withoutMnemonic(button->text()) == text)
            return button;
    return nullptr;
}

QString write(const QTemporaryDir& folder, const QString& name, const QByteArray& text)
{
    QFile file(folder.filePath(name));
    if (!file.open(QIODevice::WriteOnly) || file.write(text) != text.size())
        qFatal("%s cannot be written", qPrintable(name));
    return file.fileName();
}

QByteArray fiveHundredLines()
{
    QByteArray text;
    for (int line = 0; line < 500; ++line)
        text += "line " + QByteArray::number(line) + " of a text that can be read\n";
    return text;
}

} // namespace

/// What a person asks for is what happens, and what is on the screen is so.
class TestAskedAndShown : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase() { registerBridgeTypes(); }

    /// "No duplicates, no holes" stood below a run of which 95 samples were left out as duplicates.
    void noDuplicatesWasSaidWhereSamplesWereLeftOutAsRepeats()
    {
        Appearance appearance(false);
        RunStory::Size size;
        size.repeats = 5;
        const RunStory story(size);
        Workbench bench(story.workspace());
        bench.showRun(story.folder());
        QTRY_VERIFY_WITH_TIMEOUT(bench.watcher().status() != nullptr, kPatienceMs);
        AuditDock dock(bench);
        const QSignalSpy audited(&dock, &AuditDock::audited);
        static_cast<QWidget&>(dock).show();
        QTRY_VERIFY_WITH_TIMEOUT(!audited.isEmpty(), kPatienceMs);
        QVERIFY(!says(dock, QStringLiteral("No duplicates")));
        QVERIFY(says(dock, QStringLiteral("No chunk twice, none missing")));
        QVERIFY(says(dock, QStringLiteral("90 samples left out as repeats"))); // 18 prepared chunks with 5 each
        RunStatus clean = *bench.watcher().status();
        for (EpochRow& epoch : clean.epochs)
            epoch.rowsKnown.duplicates = 0;
        QVERIFY(repeatsText(clean).isEmpty());
    }

    void aFinishedRunStillWaitedForItsTotals()
    {
        const RunStory story({});
        RunStatus status = good(readStatus(story.paths()));
        status.rules.steps = 0;
        EpochMeters meters;
        const auto waiting = [&meters] {
            const auto all = meters.findChildren<Meter*>();
            return std::count_if(all.begin(), all.end(),
                [](const Meter* meter) { return meter->accessibleName().contains(QLatin1String("not known yet")); });
        };
        status.state = RunState::Running;
        meters.setStatus(status);
        QVERIFY(waiting() > 0);
        const auto all = meters.findChildren<Meter*>();
        const auto steps = std::find_if(all.begin(), all.end(),
            [](const Meter* meter) { return meter->accessibleName().startsWith(QLatin1String("Optimiser steps")); });
        QVERIFY(steps != all.end()); // nobody set their total, and it was awaited after eight epochs
        QVERIFY(!(*steps)->accessibleName().contains(QLatin1String("not known yet")));
        status.state = RunState::Finished;
        meters.setStatus(status);
        QCOMPARE(waiting(), 0);
    }

    /// The question counted the work that would be lost when it was opened, and the run went on below it.
    void theKillQuestionKeptAnOldCount()
    {
        RunStory story({});
        story.makeAlive();
        const auto held = FileLock::tryLock(story.paths().supervisorLock());
        QVERIFY(held.ok());
        Workbench bench(story.workspace());
        Appearance appearance(false);
        MainWindow window(bench, appearance, false);
        window.show();
        bench.start({});
        bench.showRun(story.folder());
        QTRY_VERIFY_WITH_TIMEOUT(bench.watcher().status() && bench.watcher().status()->supervisorPid > 0, kPatienceMs);
        QAction* kill = nullptr;
        for (QAction* action : window.actions())
            kill = withoutMnemonic(action->text()) == QStringLiteral("Kill…") ? action : kill;
        QVERIFY(kill != nullptr && kill->isEnabled());
        kill->trigger();
        auto* box = window.findChild<QMessageBox*>();
        QVERIFY(box != nullptr);
        const QString before = box->informativeText();
        QVERIFY(story.trainOne(0, true));
        QTRY_VERIFY2_WITH_TIMEOUT(box->informativeText() != before, qPrintable(before), kPatienceMs);
        box->close();
    }

    /// The command line could; the console sent people there.
    void chunksOfARunCouldNotBeLeftOutInTheConsole()
    {
        RunStory story({ .blocks = 2, .columns = 3, .workers = 1, .trained = 0 });
        story.openSecondEpoch(5);
        auto incarnations = good(good(LedgerReader::open(story.paths().tracker())).incarnations());
        for (const IncarnationRow& one : incarnations) // who had the last chunk of the first epoch died
            good(story.supervisor().revoke(one.id, "died"));
        Workbench bench(story.workspace());
        Appearance appearance(false);
        MainWindow window(bench, appearance, false);
        window.show();
        bench.start({});
        bench.showRun(story.folder());
        const auto stateOf
            = [&](ChunkId chunk) { return good(good(LedgerReader::open(story.paths().tracker())).cell(chunk)).state; };
        std::optional<ChunkId> left;
        std::vector<SelectedChunk> all;
        for (const ChunkCell& cell : good(good(LedgerReader::open(story.paths().tracker())).cells(0))) {
            all.push_back({ cell.id });
            if (cell.state != ChunkState::Committed)
                left = cell.id;
        }
        QVERIFY(left);
        QTRY_VERIFY_WITH_TIMEOUT(bench.watcher().status() != nullptr, kPatienceMs);
        bench.watcher().setEpoch(0);
        QTRY_VERIFY_WITH_TIMEOUT(bench.cells().find(*left) != nullptr, kPatienceMs);
        QAction* leaveOut = window.findChild<Actions*>()->excludeChunks;
        QVERIFY(!leaveOut->isEnabled());
        bench.selection().setChunks(all);
        QVERIFY2(leaveOut->isEnabled(), qPrintable(Actions::whyNot(*leaveOut)));
        leaveOut->trigger();
        auto* box = window.findChild<QMessageBox*>();
        QVERIFY(box != nullptr);
        QCOMPARE(box->text(),
            QStringLiteral("Leave %1 out of this run?").arg(chunkShort(placeOf(*left).block, placeOf(*left).column)));
        const QString meaning = box->informativeText(); // what stays was taken for what is left out
        QVERIFY2(
            meaning.startsWith(QStringLiteral("This chunk will be trained in no epoch that is open now nor in later")),
            qPrintable(meaning));
        QVERIFY2(meaning.section(QStringLiteral("\n\n"), -1).startsWith(QStringLiteral("5 other selected chunk")),
            qPrintable(meaning));
        buttonOf(*box, QStringLiteral("Leave out"))->click();
        QTRY_VERIFY_WITH_TIMEOUT(stateOf(*left) == ChunkState::Excluded, kPatienceMs);
        ChunkPlace next = placeOf(*left);
        next.epoch = 1;
        QVERIFY(stateOf(chunkIdOf(next)) == ChunkState::Excluded); // the newest epoch was open too
        QTRY_VERIFY_WITH_TIMEOUT(
            good(good(LedgerReader::open(story.paths().tracker())).epochs()).at(0).closedWallNs.has_value(),
            kPatienceMs); // a moment later: what was decided is kept beside the tracker in between
    }

    /// The question promised the move, the page closed, and then nothing was moved.
    void theQuestionPromisedAMoveToTheTrashThatWasRefused()
    {
        const RunStory elsewhere({}, QStringLiteral("elsewhere"));
        const RunStory story({});
        const auto beside = std::filesystem::path(story.workspace().toStdString()) / "beside";
        std::filesystem::copy(story.paths().folder(), beside, std::filesystem::copy_options::recursive);
        Workbench bench(story.workspace());
        Appearance appearance(false);
        MainWindow window(bench, appearance, false);
        window.show();
        bench.start({});
        const auto ask = [&](const QString& folder) {
            bench.showRun(folder);
            const auto* actions = window.findChild<Actions*>();
            if (!QTest::qWaitFor(
                    [&] { return bench.watcher().status() && actions->moveToTrash->isEnabled(); }, kPatienceMs))
                qFatal("the run is not shown");
            actions->moveToTrash->trigger();
            return window.findChild<QMessageBox*>();
        };
        QVERIFY(ask(elsewhere.folder()) == nullptr);
        QVERIFY(says(window, QStringLiteral("does not lie in this workspace")));
        QCOMPARE(bench.watcher().folder(), elsewhere.folder());
        auto* box = ask(QString::fromStdString(beside.string())); // made with --out: the library shows it
        QVERIFY(box != nullptr);
        std::filesystem::rename(beside / "run.json", beside / "aside.json"); // and then it is none any more
        buttonOf(*box, QStringLiteral("Move to trash"))->click();
        QTRY_COMPARE_WITH_TIMEOUT(bench.watcher().folder(), QString::fromStdString(beside.string()), kPatienceMs);
        std::filesystem::rename(beside / "aside.json", beside / "run.json");
        QTRY_VERIFY_WITH_TIMEOUT(window.findChild<QMessageBox*>() == nullptr, kPatienceMs);
        box = ask(QString::fromStdString(beside.string()));
        QVERIFY(box != nullptr);
        buttonOf(*box, QStringLiteral("Move to trash"))->click();
        QTRY_VERIFY_WITH_TIMEOUT(!std::filesystem::exists(beside), kPatienceMs);
    }

    /// Of 121 copies called "tab" only the library said which is which.
    void aQuestionAboutOneOfTwoRunsOfANameDidNotSayWhich()
    {
        const RunStory story({});
        const auto copy = story.paths().folder().parent_path() / "copy-of-it";
        std::filesystem::copy(story.paths().folder(), copy, std::filesystem::copy_options::recursive);
        Workbench bench(story.workspace());
        Appearance appearance(false);
        MainWindow window(bench, appearance, false);
        window.show();
        bench.start({});
        bench.showRun(QString::fromStdString(copy.string()));
        const auto* actions = window.findChild<Actions*>();
        QTRY_VERIFY_WITH_TIMEOUT(bench.watcher().status() && bench.scanner().lines()->size() == 2
                && actions->moveToTrash->isEnabled() && window.windowTitle().contains(QStringLiteral("(copy-of-it)")),
            kPatienceMs);
        actions->moveToTrash->trigger();
        auto* box = window.findChild<QMessageBox*>();
        QVERIFY(box != nullptr);
        QVERIFY2(box->text().contains(QStringLiteral("story (copy-of-it)")), qPrintable(box->text()));
        box->close();
        InspectorDock inspector(bench);
        inspector.show();
        QTRY_VERIFY_WITH_TIMEOUT(says(inspector, QStringLiteral("(copy-of-it)")), kPatienceMs);
        const BrainDialog brain(QString::fromStdString(copy.string()), bench.scanner().lines(), &window);
        QCOMPARE(brain.windowTitle(), QStringLiteral("Brain of story (copy-of-it)"));
        QueueTree queue;
        QueueView view;
        view.entries.push_back({ 1, copy.string(), "story", "cpu", QueueState::Waiting, {} });
        queue.setQueue(view, *bench.scanner().lines());
        QCOMPARE(queue.topLevelItem(0)->child(0)->text(0), QStringLiteral("story (copy-of-it)"));
    }

    /// Runs that were given the same name are no copies of each other, and were called the same everywhere.
    void twoRunsOfANameWereCalledTheSame()
    {
        const RunStory story({});
        const RunStory other({}, QStringLiteral("other"), story.workspace());
        auto config = good(readRunFile(other.paths()));
        config.config.name = "story";
        good(writeRunFile(other.paths(), config));
        Workbench bench(story.workspace());
        bench.start({});
        QTRY_COMPARE_WITH_TIMEOUT(bench.scanner().lines()->size(), std::size_t(2), kPatienceMs);
        QStringList names;
        for (const RunLine& line : *bench.scanner().lines())
            names.append(line.name);
        QVERIFY2(names.removeDuplicates() == 0 && names.front().startsWith(QStringLiteral("story (")),
            qPrintable(names.join(QLatin1Char('|'))));
    }

    /// "no other run waits" stayed in red while two runs waited, and "is already running" when it had been stopped.
    void aRefusalStayedWhenItWasTrueNoMore()
    {
        RunStory story({});
        Workbench bench(story.workspace());
        Appearance appearance(false);
        MainWindow window(bench, appearance, false);
        window.show();
        bench.start({});
        bench.showRun(story.folder());
        QTRY_VERIFY_WITH_TIMEOUT(bench.watcher().status() && bench.scanner().lines()->size() == 1, kPatienceMs);
        const QString sentence = QStringLiteral("It is already running.");
        constexpr int kFollowed = 2500; // what refused had read the disk, and the console has too by then
        const auto isSaid = [&] { return says(window, sentence); };

        Q_EMIT bench.commands().failed(
            RunVerb::Start, story.folder(), Error { ErrorCode::Busy, sentence.toStdString() });
        QVERIFY(isSaid());
        window.findChild<Actions*>()->pages[1]->trigger();
        QVERIFY2(!isSaid(), "it stayed beside the next action");

        Q_EMIT bench.commands().failed(
            RunVerb::Start, story.folder(), Error { ErrorCode::Busy, sentence.toStdString() });
        QTest::qWait(kFollowed);
        QVERIFY(isSaid());
        story.makeAlive();
        const auto held = FileLock::tryLock(story.paths().supervisorLock());
        QVERIFY(held.ok());
        QTRY_VERIFY2_WITH_TIMEOUT(!isSaid(), "it stayed when the state of the run was another one", kPatienceMs);

        Q_EMIT bench.workspaceCommands().failed(sentence.toStdString());
        QTest::qWait(kFollowed);
        QVERIFY(isSaid());
        good(good(WorkspaceFile::open(story.workspace().toStdString())).enqueue("/runs/a", "a", "cpu"));
        bench.scanner().refresh();
        QTRY_VERIFY2_WITH_TIMEOUT(!isSaid(), "it stayed when the queue was another one", kPatienceMs);
    }

    /// A reader without rights pressed Stop: its tip stood in the status line until the pointer left, as if it were
    /// done, and then "Disk error. cannot write in ...", cut off.
    void aStopThatWasRefusedLookedAsIfItWereCarriedOut()
    {
        const RunStory story({});
        Workbench bench(story.workspace());
        Appearance appearance(false);
        MainWindow window(bench, appearance, false);
        window.show();
        const auto hover = [&window](const QString& tip) {
            QStatusTipEvent hovered(tip);
            QCoreApplication::sendEvent(&window, &hovered);
        };
        const QString tip = QStringLiteral("Stops after a checkpoint");
        hover(tip);
        QCOMPARE(window.statusBar()->currentMessage(), tip);
        const Message why = sentence("cannot write in %1", { "/runs/a" }) + ": "
            + sentence(kMayNotWrite, { "/runs/a", sentence("user %1", { "ann" }) });
        Q_EMIT bench.commands().failed(RunVerb::Stop, story.folder(), Error { ErrorCode::Io, why });
        QVERIFY2(window.statusBar()->currentMessage().isEmpty(), "the tip stood before it");
        QVERIFY(says(window, QStringLiteral("Not allowed. cannot write in /runs/a")));
        QVERIFY(!says(window, QStringLiteral("Disk error")));
        hover(tip);
        QVERIFY2(window.statusBar()->currentMessage().isEmpty(), "the next tip covered it");
        const auto* box = window.findChild<QMessageBox*>();
        QVERIFY(box != nullptr && box->informativeText().contains(QStringLiteral("user ann")));
    }

    /// The focus jumped to "Clear ended", which the next Space pressed.
    void aButtonOfTheQueueThatWasUsedUpGaveTheFocusToAnotherOne()
    {
        const RunStory story({});
        auto file = good(WorkspaceFile::open(story.workspace().toStdString()));
        good(file.enqueue("/runs/a", "a", "cpu"));
        good(file.enqueue("/runs/b", "b", "cpu"));
        Workbench bench(story.workspace());
        QueueDock dock(bench);
        dock.show();
        QVERIFY(QTest::qWaitForWindowActive(&dock));
        bench.start({});
        auto* tree = dock.findChild<QueueTree*>();
        QTRY_VERIFY_WITH_TIMEOUT(
            tree->topLevelItemCount() == 1 && tree->topLevelItem(0)->childCount() == 2, kPatienceMs);
        tree->setCurrentItem(tree->topLevelItem(0)->child(0));
        QVERIFY(!buttonOf(dock, QStringLiteral("Clear ended"))->isEnabled()); // none has ended
        auto* remove = buttonOf(dock, QStringLiteral("Remove"));
        remove->setFocus();
        remove->click();
        QTRY_COMPARE_WITH_TIMEOUT(tree->topLevelItem(0)->childCount(), 1, kPatienceMs);
        QVERIFY(!remove->isEnabled());
        QCOMPARE(QApplication::focusWidget(), static_cast<QWidget*>(tree));
    }

    /// It had the steps of the replica whose weights its process had loaded first, and then none.
    void aMergeHadTheStepsOfWorker0()
    {
        IncarnationRow row;
        row.worker = kNoWorker;
        row.step = 8562;
        row.tokens = 2'152'166;
        row.loss = 1.5;
        row.id = { 7 };
        SupervisorLedger::CheckpointRow written;
        written.incarnation = row.id;
        written.record.kind = CheckpointKind::Merge;
        written.record.step = 16'515;
        written.record.tokens = 4'300'000;
        TableModel<IncarnationRow> model(incarnationColumns());
        const auto said = [&model](const char* head) {
            for (int column = 0; column < model.columnCount(); ++column)
                if (model.headerData(column, Qt::Horizontal, Qt::DisplayRole).toString() == QLatin1String(head))
                    return model.index(0, column).data().toString();
            return QString();
        };
        model.reset(withMerged({ row }, {}));
        QCOMPARE(said("Own steps"), QStringLiteral("–"));
        QCOMPARE(said("Own tokens"), QStringLiteral("–"));
        model.reset(withMerged({ row }, { written }));
        QCOMPARE(said("Own steps"), QStringLiteral("16,515"));
        QCOMPARE(said("Own tokens"), QStringLiteral("4,300,000"));
        QCOMPARE(said("Loss"), QStringLiteral("–"));
    }

    /// "Steps" of the upper table were a worker's own, of the lower one those in the weights.
    void twoTablesCountedDifferentStepsUnderOneHeading()
    {
        const TableModel<IncarnationRow> processes(incarnationColumns());
        const CheckpointModel checkpoints(checkpointColumns());
        QStringList headings;
        for (const QAbstractItemModel* model : { static_cast<const QAbstractItemModel*>(&processes),
                 static_cast<const QAbstractItemModel*>(&checkpoints) })
            for (int column = 0; column < model->columnCount(); ++column) {
                const QString head = model->headerData(column, Qt::Horizontal, Qt::DisplayRole).toString();
                if (!head.contains(QStringLiteral("teps")) && !head.contains(QStringLiteral("okens")))
                    continue;
                QVERIFY2(!headings.contains(head), qPrintable(head));
                headings.append(head);
                QVERIFY(!model->headerData(column, Qt::Horizontal, Qt::ToolTipRole).toString().isEmpty());
            }
        QCOMPARE(headings.size(), 4);
    }

    /// It lay below what had to be scrolled, and above it stood that the button changes everything.
    void whyAResumeCannotBeginWasOutOfSight()
    {
        auto plan = std::make_shared<ResumePlan>();
        plan->effect.epochs.push_back({ 0, { ChunkCell() } });
        plan->effect.byFate[static_cast<std::size_t>(ChunkFate::Kept)] = 438;
        plan->effect.byFate[static_cast<std::size_t>(ChunkFate::Partly)] = 2;
        RunStatus status;
        status.attempt = 1;
        status.steps = 100;
        RunConfig wanted = good(findPreset("char")).config;
        wanted.steps = 100;
        for (const QSize& size : { QSize(1440, 900), QSize(1024, 640) }) {
            QWidget window;
            window.resize(size);
            ResumeDialog dialog(QStringLiteral("/runs/a"), QStringLiteral("a"), 1, plan, wanted, &window);
            dialog.setStatus(status);
            dialog.show();
            QVERIFY(!buttonOf(dialog, QStringLiteral("Resume as attempt 2"))->isEnabled());
            const auto labels = dialog.findChildren<QLabel*>();
            const auto why = std::find_if(labels.begin(), labels.end(),
                [](const QLabel* label) { return label->text().contains(QStringLiteral("would end at once")); });
            QVERIFY(why != labels.end());
            QVERIFY((*why)->visibleRegion().boundingRect().height() == (*why)->height());
            QVERIFY(!says(dialog, QStringLiteral("until you press")));
            QVERIFY(says(dialog, QStringLiteral("keeps 438 of the 440 chunk(s)"))); // those that are partly trained too
            QVERIFY(says(dialog, QStringLiteral("Partly trained: 2;")));
        }
    }

    /// 99999 workers closed the button, and why stood below what is seen of the settings.
    void whichSettingClosesTheResumeWasOutOfSight()
    {
        auto plan = std::make_shared<ResumePlan>();
        plan->effect.epochs.push_back({ 0, { ChunkCell() } });
        QWidget window;
        window.resize(1366, 640);
        ResumeDialog dialog(
            QStringLiteral("/runs/a"), QStringLiteral("a"), 1, plan, good(findPreset("char")).config, &window);
        dialog.show();
        buttonOf(dialog, QStringLiteral("Change settings or devices…"))->click();
        const auto fields = dialog.findChildren<QLineEdit*>();
        const auto workers = std::find_if(fields.begin(), fields.end(),
            [](const QLineEdit* field) { return field->accessibleName() == QStringLiteral("Workers"); });
        QVERIFY(workers != fields.end());
        (*workers)->selectAll();
        QTest::keyClicks(*workers, QStringLiteral("99999"));
        QVERIFY(!buttonOf(dialog, QStringLiteral("Resume as attempt 2"))->isEnabled());
        QCoreApplication::processEvents();
        const auto isSeen = [&dialog](const QString& words) {
            const auto labels = dialog.findChildren<QLabel*>();
            return std::any_of(labels.begin(), labels.end(), [&words](const QLabel* label) {
                return label->text().contains(words)
                    && label->visibleRegion().boundingRect().height() == label->height();
            });
        };
        QVERIFY(isSeen(QStringLiteral("256")));
        (*workers)->selectAll();
        QTest::keyClicks(*workers, QStringLiteral("1"));
        QCoreApplication::processEvents();
        QVERIFY(!isSeen(QStringLiteral("256")));
    }

    /// Two lines of an error pushed the buttons out of the dialog, and it did not say why.
    void anErrorOfTheExportDialogCutOffItsButtons()
    {
        const RunStory story({});
        const auto status = std::make_shared<RunStatus>(good(readStatus(story.paths())));
        const QTemporaryDir folder;
        ExportDialog dialog(story.folder(), status, nullptr, {}, nullptr);
        dialog.show();
        const QString file = folder.filePath(
            QStringLiteral("is-not-there/") + QString(60, QLatin1Char('x')) + QStringLiteral(".html"));
        dialog.findChild<QLineEdit*>()->setText(file);
        auto* go = buttonOf(dialog, QStringLiteral("Export"));
        go->click();
        QTRY_VERIFY_WITH_TIMEOUT(says(dialog, QStringLiteral("is-not-there is not there.")), kPatienceMs);
        QCoreApplication::processEvents();
        QVERIFY(dialog.height() >= dialog.layout()->totalHeightForWidth(dialog.width()));
        QVERIFY(go->visibleRegion().boundingRect().height() == go->height());
    }

    void anotherKindOfExportThrewTheTypedFolderAway()
    {
        const RunStory story({}); // of a model of characters
        const auto status = std::make_shared<RunStatus>(good(readStatus(story.paths())));
        ExportDialog dialog(story.folder(), status, nullptr, {}, nullptr);
        dialog.show();
        auto* target = dialog.findChild<QLineEdit*>();
        const auto kinds = dialog.findChildren<QRadioButton*>();
        const QString proposed = target->text();
        QVERIFY2(proposed.endsWith(QStringLiteral("7c1e-report.html")), qPrintable(proposed));
        target->setText(QStringLiteral("/tmp/mine/what.html"));
        kinds[1]->click();
        QCOMPARE(target->text(), QStringLiteral("/tmp/mine/what-csv"));
        QVERIFY(buttonOf(dialog, QStringLiteral("Export"))->isEnabled());
        kinds[5]->click();
        QCOMPARE(target->text(), QStringLiteral("/tmp/mine/what.gguf"));
        QVERIFY(says(dialog, QStringLiteral("no form for the tokenizer"))); // before it is asked for
        QVERIFY(!buttonOf(dialog, QStringLiteral("Export"))->isEnabled());
        kinds[0]->click();
        QCOMPARE(target->text(), QStringLiteral("/tmp/mine/what-report.html"));
        QVERIFY(buttonOf(dialog, QStringLiteral("Export"))->isEnabled());
    }

    /// The alert and the event of the ledger said the same, with the same second.
    void whatWasLeftOutStoodTwiceAmongTheEvents()
    {
        const RunStory story({});
        good(good(FeederLedger::open(story.paths().tracker())).noteLeftOut("/data/b.txt was removed."));
        Workbench bench(story.workspace());
        const QSignalSpy known(&bench.alerts(), &Alerts::known);
        bench.showRun(story.folder());
        const auto told = [&bench] {
            std::vector<EventLine> lines;
            for (const EventLine& line : bench.events().rows())
                if (line.text.contains(QStringLiteral("/data/b.txt was removed")))
                    lines.push_back(line);
            return lines;
        };
        QTRY_VERIFY_WITH_TIMEOUT(!told().empty() && !known.isEmpty(), kPatienceMs);
        QCOMPARE(told().size(), std::size_t(1));
        QVERIFY(told().front().isAlert);
    }

    void aKillWasCalledAStopAfterwards()
    {
        QCOMPARE(endReasonSentence(StopReason::User, sentence(kKilled)), QStringLiteral("a person killed it"));
        QCOMPARE(endReasonSentence(StopReason::User, "after a checkpoint"), QStringLiteral("a person stopped it"));
        QCOMPARE(endInWords(StopReason::User, sentence(kKilled)).text(), // "killed" stood there twice
            "a person killed it (what was trained since the last checkpoints is trained again)");
        Appearance appearance(false);
        appearance.setLanguage(Language::Spanish);
        const auto back = qScopeGuard([&appearance] { appearance.setLanguage(Language::English); });
        QVERIFY(!endReasonSentence(StopReason::User, sentence(kKilled)).contains(QLatin1String("person killed")));
    }

    /// "feeder: preparing block 3" was said of a run that had ended a week ago.
    void theFeederOfAnEndedRunStillPreparedBlocks()
    {
        RunStory story({});
        {
            auto feeder = good(FeederLedger::open(story.paths().tracker()));
            good(feeder.heartbeat(thisProcess(), "preparing block 3"));
        }
        Reading reading;
        reading.attempt = 1;
        reading.doing = "preparing block 3";
        good(publishReading(story.paths(), reading));
        {
            story.makeAlive();
            const auto held = FileLock::tryLock(story.paths().supervisorLock());
            QVERIFY(held.ok());
            QCOMPARE(good(readStatus(story.paths())).reading->doing, std::string("preparing block 3"));
        }
        auto ledger = story.supervisor();
        good(ledger.endAttempt(story.attempt(), StopReason::User, "after a checkpoint"));
        const RunStatus ended = good(readStatus(story.paths()));
        QVERIFY(ended.state == RunState::Stopped);
        QCOMPARE(ended.reading->doing, std::string());
    }

    /// "The epoch stays open: 3 chunks free", of a run that nobody goes on with, and a speed of 0 tokens per second.
    void whatHasEndedWasSaidToKeepItsEpochOpenAtNoSpeed()
    {
        const RunStory story({});
        Workbench bench(story.workspace());
        Appearance appearance(false);
        {
            auto ledger = story.supervisor();
            for (const IncarnationRow& row : good(good(LedgerReader::open(story.paths().tracker())).incarnations()))
                (void)good(ledger.revoke(row.id, "a stopping rule is reached"));
            good(ledger.endAttempt(story.attempt(), StopReason::Steps, ""));
        }
        const RunStatus ended = good(readStatus(story.paths()));
        QVERIFY(ended.state == RunState::Finished);
        QVERIFY(!ended.keepsEpochOpen.empty());
        const nlohmann::json json = toJson(ended);
        QVERIFY(json["tokens_per_s"].is_null());
        QVERIFY(!json["workers"].empty() && json["workers"][0]["tokens_per_s"].is_null()
            && json["workers"][0]["seconds_since_progress"].is_null());
        bench.start({});
        bench.showRun(story.folder());
        OverviewPage page(bench);
        page.show();
        QTRY_VERIFY_WITH_TIMEOUT(says(page, QStringLiteral("Left when the run ended: ")), kPatienceMs);
        QVERIFY(!says(page, QStringLiteral("stays open")));
        const auto labels = page.findChildren<QLabel*>();
        const auto speed = std::find_if(labels.begin(), labels.end(),
            [](const QLabel* label) { return label->accessibleName() == QLatin1String("Tokens per second"); });
        QVERIFY(speed != labels.end());
        QCOMPARE((*speed)->text(), QStringLiteral("–"));
        QVERIFY((*speed)->parentWidget()->toolTip().startsWith(QLatin1String("No worker trains now")));
    }

    /// Four layers stood in the form, and memory for 0.8 million parameters, while the run would have got the model
    /// that it was to start from.
    void theFormShowedItsOwnShapeBesideAModelToStartFrom()
    {
        QTemporaryDir folder;
        const QString model
            = write(folder, QStringLiteral("small.gguf"), QByteArray::fromStdString(SmallGguf().bytes()));
        Workbench bench(folder.path());
        Appearance appearance(false);
        NewRunPage page(bench);
        page.resize(1280, 760);
        page.show();
        RunForm& form = bench.form();
        const auto editorOf = [&page](const char* key) {
            const QString label = settingLabel(*findSetting(key));
            for (auto* edit : page.findChildren<QLineEdit*>())
                if (edit->accessibleName() == label)
                    return edit;
            return static_cast<QLineEdit*>(nullptr);
        };
        auto* layers = editorOf("layers");
        QVERIFY(layers != nullptr && layers->isEnabled());
        const QString usual = layers->text();
        form.setText(*findSetting("init_from"), model);
        QTRY_COMPARE_WITH_TIMEOUT(layers->text(), QStringLiteral("2"), kPatienceMs);
        QVERIFY(!layers->isEnabled());
        QCOMPARE(form.config().width, std::int64_t(32));
        QCOMPARE(form.text(*findSetting("tokenizer")), model);
        QVERIFY(!form.isChanged(*findSetting("layers"))); // nobody typed it
        QVERIFY2(!form.command().contains(QStringLiteral("--layers")), qPrintable(form.command()));

        form.setText(*findSetting("init_from"), folder.filePath(QStringLiteral("none.gguf")));
        QTRY_COMPARE_WITH_TIMEOUT(form.problemsOf("init_from").size(), std::size_t(1), kPatienceMs);
        QVERIFY(!form.isReady());
        form.setText(*findSetting("init_from"), {});
        QCOMPARE(layers->text(), usual);
        QVERIFY(layers->isEnabled() && form.problemsOf("init_from").empty());
    }

    /// "1 setting must be corrected before launch", and the search had hidden which; a click on it did nothing.
    void theSettingThatMustBeCorrectedWasNotNamed()
    {
        QTemporaryDir folder;
        const QString text = write(folder, QStringLiteral("text.txt"), QByteArray("some words\n").repeated(200));
        Workbench bench(folder.path());
        Appearance appearance(false);
        NewRunPage page(bench);
        page.resize(1280, 760);
        page.show();
        page.setSource(text);
        QLineEdit* search = nullptr;
        for (auto* edit : page.findChildren<QLineEdit*>())
            if (edit->accessibleName() == QStringLiteral("Find a setting"))
                search = edit;
        QVERIFY(search != nullptr);
        search->setText(QStringLiteral("width"));
        bench.form().setText(*findSetting("heads"), QStringLiteral("4"));
        bench.form().setText(*findSetting("width"), QStringLiteral("15"));
        const auto problems = bench.form().problems();
        QCOMPARE(problems.size(), std::size_t(1));
        const Setting& wrong = *findSetting(problems.front().key);
        QWidget* field = nullptr;
        for (auto* edit : page.findChildren<QWidget*>())
            if (edit->accessibleName() == settingLabel(wrong))
                field = edit;
        QVERIFY(field != nullptr && field->isVisibleTo(&page)); // whatever is looked for
        const auto labels = page.findChildren<QLabel*>();
        const QString said = QStringLiteral("1 setting must be corrected before launch: ") + settingLabel(wrong);
        QVERIFY(std::any_of(labels.begin(), labels.end(),
            [&said](const QLabel* label) { return label->isVisible() && label->text().startsWith(said); }));
        auto* show = buttonOf(page, QStringLiteral("Show this setting"));
        QVERIFY(show != nullptr && show->isVisible());
        show->click();
        QVERIFY(search->text().isEmpty());
        QTRY_VERIFY_WITH_TIMEOUT(!field->visibleRegion().isEmpty(), kPatienceMs); // scrolled to
        bench.form().setText(*findSetting("width"), QStringLiteral("16"));
        QVERIFY(!show->isVisible());
    }

    /// Of width 4, which cannot be, the right side told memory and time of the width before.
    void theEstimateOfAnEarlierValueStoodThere()
    {
        QTemporaryDir folder;
        Workbench bench(folder.path());
        Appearance appearance(false);
        NewRunPage page(bench);
        page.show();
        page.setSource(write(folder, QStringLiteral("text.txt"), QByteArray("some words\n").repeated(200)));
        const auto* memory = page.findChild<MemoryView*>();
        const auto says = [](const QWidget* parent, const QString& part) {
            const auto labels = parent->findChildren<QLabel*>();
            return std::any_of(labels.begin(), labels.end(),
                [&part](const QLabel* label) { return !label->isHidden() && label->text().contains(part); });
        };
        QTRY_VERIFY_WITH_TIMEOUT(says(memory, QStringLiteral("about ")), kPatienceMs);
        bench.form().setText(*findSetting("width"), QStringLiteral("4"));
        QVERIFY(!bench.form().hasAllThatWasTyped());
        QVERIFY(!says(memory, QStringLiteral("about ")));
        QVERIFY(says(memory, QStringLiteral("Known once what must be corrected is right.")));
        QVERIFY(says(page.findChild<EstimatePanel*>(), QStringLiteral("Known once what must be corrected is right.")));
        bench.form().setText(*findSetting("width"), QStringLiteral("64"));
        QVERIFY(says(memory, QStringLiteral("about ")));
    }

    /// The search of the time before hid the source of the data.
    void aNewRunOpenedWithTheSearchOfLastTime()
    {
        QTemporaryDir folder;
        Workbench bench(folder.path());
        Appearance appearance(false);
        NewRunPage page(bench);
        page.show();
        QLineEdit* search = nullptr;
        for (auto* edit : page.findChildren<QLineEdit*>())
            if (edit->accessibleName() == QStringLiteral("Find a setting"))
                search = edit;
        QVERIFY(search != nullptr);
        search->setText(QStringLiteral("epochs"));
        page.hide();
        page.show();
        QVERIFY(search->text().isEmpty());
    }

    void launchWasOfferedForDataThatCannotBeRead()
    {
        QTemporaryDir folder;
        Workbench bench(folder.path());
        Appearance appearance(false);
        QSignalSpy lookedFor(&bench.commands(), &RunCommands::workerLookedFor);
        NewRunPage page(bench);
        page.resize(1280, 760);
        page.show();
        auto* panel = page.findChild<EstimatePanel*>();
        QTRY_VERIFY_WITH_TIMEOUT(!lookedFor.isEmpty(), kPatienceMs);
        panel->setMachineProblem({}); // no worker lies beside a test
        auto* launch = buttonOf(*panel, QStringLiteral("Launch"));
        auto* queue = buttonOf(*panel, QStringLiteral("Queue"));
        QVERIFY(launch != nullptr && queue != nullptr);
        for (const QString& bad :
            { folder.filePath(QStringLiteral("is-not-there.txt")), write(folder, QStringLiteral("empty.txt"), {}) }) {
            page.setSource(bad);
            QTRY_VERIFY2_WITH_TIMEOUT(!launch->isEnabled() && !queue->isEnabled(), qPrintable(bad), kPatienceMs);
            QVERIFY2(says(*panel, QFileInfo(bad).fileName()) && launch->toolTip().contains(QFileInfo(bad).fileName()),
                qPrintable(launch->toolTip()));
        }
        const QByteArray text = fiveHundredLines();
        page.setSource(write(folder, QStringLiteral("good.txt"), text));
        QTRY_VERIFY_WITH_TIMEOUT(launch->isEnabled() && queue->isEnabled(), kPatienceMs);
    }

    /// Only the launch itself found them, one at a time.
    void aShapeOrABlockThatCannotBeWasTakenUntilTheLaunch()
    {
        QTemporaryDir folder;
        Workbench bench(folder.path());
        Appearance appearance(false);
        NewRunPage page(bench);
        page.resize(1280, 760);
        page.show();
        RunForm& form = bench.form();
        const QByteArray text = fiveHundredLines();
        form.setText(*findSetting("data_mode"), QStringLiteral("lines"));
        page.setSource(write(folder, QStringLiteral("good.txt"), text));
        QTRY_VERIFY_WITH_TIMEOUT(!page.findChild<StartMap*>()->findChild<CoverageMap*>()->isHidden(), kPatienceMs);
        QVERIFY(form.isReady());
        form.setText(*findSetting("shape"), QStringLiteral("{bad"));
        QCOMPARE(form.problemsOf("shape").size(), std::size_t(1));
        form.setText(*findSetting("start_at"), QStringLiteral("99:0"));
        QCOMPARE(form.problems().size(), std::size_t(2)); // both at once
        QVERIFY(says(page, QStringLiteral("but the data has the blocks 0 to")));
        form.setText(*findSetting("shape"), {});
        form.setText(*findSetting("start_at"), {});
        QVERIFY(form.isReady());
    }

    /// The form asked for BLOCK:CHUNK of data that nobody had seen the blocks of.
    void theChunkToStartAtHadToBeGuessed()
    {
        QTemporaryDir folder;
        Workbench bench(folder.path());
        Appearance appearance(false);
        NewRunPage page(bench);
        page.resize(1280, 760);
        page.show();
        RunForm& form = bench.form();
        auto* start = page.findChild<StartMap*>();
        auto* map = start->findChild<CoverageMap*>();
        QVERIFY(map->isHidden() && says(*start, QStringLiteral("Choose the data first")));
        const QByteArray text = fiveHundredLines();
        const QString first = write(folder, QStringLiteral("first.txt"), text);
        form.setText(*findSetting("chunk_samples"), QStringLiteral("40"));
        form.setText(*findSetting("data_mode"), QStringLiteral("lines"));
        page.setSource(first);
        QTRY_VERIFY_WITH_TIMEOUT(!map->isHidden(), kPatienceMs);
        QCOMPARE(map->cells().size(), std::size_t(13)); // of 160, 160, 160 and 20 lines
        QVERIFY(map->accessibleDescription().contains(QStringLiteral("4 blocks, 13 chunks. No chunk is chosen")));
        for (const Qt::Key key : { Qt::Key_Down, Qt::Key_Down, Qt::Key_Right })
            QTest::keyClick(map, key);
        QCOMPARE(form.config().startAt, std::string("1:1")); // the first key only enters the map
        QVERIFY(says(*start, QStringLiteral("The first epoch starts at block 1, chunk 1")));
        form.setText(*findSetting("start_at"), QStringLiteral("2:9"));
        QVERIFY(says(*start, QStringLiteral("block 2 has the chunks 0 to 3")));
        QTest::qWait(1500); // longer than the form waits before it looks at data again
        QVERIFY2(!map->isHidden(), "the data was looked at again");
        buttonOf(*start, QStringLiteral("Choose none"))->click();
        QVERIFY(form.config().startAt.empty());
        page.setSource(first + QLatin1Char(',') + write(folder, QStringLiteral("second.txt"), text));
        QTRY_VERIFY_WITH_TIMEOUT(
            map->isHidden() && says(*start, QStringLiteral("not known before the run")), kPatienceMs);
    }

    void thereWasNoWayBackToTheValuesOfThePreset()
    {
        QTemporaryDir folder;
        Workbench bench(folder.path());
        Appearance appearance(false);
        NewRunPage page(bench);
        page.show();
        RunForm& form = bench.form();
        form.setText(*findSetting("data"), write(folder, QStringLiteral("a.txt"), "some text\n"));
        for (const auto& [key, typed] :
            { std::pair("batch_size", "7"), std::pair("lr", "0.5"), std::pair("epochs", "many") })
            form.setText(*findSetting(key), QString::fromLatin1(typed));
        auto* panel = page.findChild<EstimatePanel*>();
        const auto backOf = [panel](const char* key) -> QToolButton* {
            for (auto* button : panel->findChildren<QToolButton*>())
                if (button->toolTip().startsWith(settingLabel(*findSetting(key)) + QLatin1Char(':')))
                    return button;
            return nullptr;
        };
        QVERIFY(backOf("batch_size") && backOf("lr") && backOf("epochs") && backOf("data"));
        backOf("lr")->click();
        QTRY_VERIFY(!form.isChanged(*findSetting("lr")));
        QVERIFY(form.isChanged(*findSetting("batch_size")));
        auto* all = buttonOf(*panel, QStringLiteral("Reset all"));
        QVERIFY(all != nullptr && !all->isHidden());
        all->click();
        QVERIFY(!form.isChanged(*findSetting("batch_size")) && !form.isChanged(*findSetting("epochs"))
            && form.problemsOf("epochs").empty());
        QVERIFY(form.isChanged(*findSetting("data"))); // no preset has any
        QVERIFY(all->isHidden());
    }

    /// Nothing showed that it reaches the workers, from the menu or the palette.
    void evaluateNowReachesTheWorkersFromTheMenu()
    {
        RunStory story({ .trained = 3 });
        story.makeAlive();
        const auto lock = good(FileLock::tryLock(story.paths().supervisorLock()));
        Appearance appearance(false);
        Workbench bench(story.workspace());
        MainWindow window(bench, appearance, false);
        window.show();
        bench.showRun(story.folder());
        const auto* actions = window.findChild<Actions*>();
        QVERIFY(actions != nullptr);
        QTRY_VERIFY_WITH_TIMEOUT(actions->evaluateNow->isEnabled(), kPatienceMs);
        const auto asked = [&story] {
            auto db = good(Database::open(story.paths().tracker(), Database::Options {}));
            return db.integer("SELECT eval_request FROM control").value_or(0);
        };
        QCOMPARE(asked(), 0);
        actions->evaluateNow->trigger();
        QTRY_COMPARE_WITH_TIMEOUT(asked(), 1, kPatienceMs);
    }

    /// The palette showed what was possible when it was opened: a command that had become possible stayed grey, and one
    /// that was not any more did nothing, without a word.
    void thePaletteShowedWhatWasPossibleWhenItWasOpened()
    {
        RunStory story({ .trained = 3 });
        story.makeAlive();
        auto lock = std::optional(good(FileLock::tryLock(story.paths().supervisorLock())));
        Appearance appearance(false);
        Workbench bench(story.workspace());
        MainWindow window(bench, appearance, false);
        window.show();
        auto* actions = window.findChild<Actions*>();
        QVERIFY(actions != nullptr);
        actions->palette->trigger(); // before a run is shown
        auto* palette = window.findChild<CommandPalette*>();
        QVERIFY(palette != nullptr);
        auto* line = palette->findChild<QLineEdit*>();
        const auto* list = palette->findChild<QTreeWidget*>();
        line->setText(QStringLiteral("evaluate now"));
        const auto isPossible = [&list] {
            const auto found = list->findItems(QStringLiteral("Run: Evaluate now"), Qt::MatchExactly);
            return found.size() == 1 && found.front()->flags().testFlag(Qt::ItemIsEnabled);
        };
        QVERIFY(!isPossible());
        bench.showRun(story.folder());
        QTRY_VERIFY_WITH_TIMEOUT(actions->evaluateNow->isEnabled(), kPatienceMs);
        QTRY_VERIFY_WITH_TIMEOUT(isPossible(), kPatienceMs);
        QTest::keyClick(line, Qt::Key_Return);
        const auto asked = [&story] {
            auto db = good(Database::open(story.paths().tracker(), Database::Options {}));
            return db.integer("SELECT eval_request FROM control").value_or(0);
        };
        QTRY_COMPARE_WITH_TIMEOUT(asked(), 1, kPatienceMs); // as from the menu
        QTRY_VERIFY_WITH_TIMEOUT(actions->evaluateNow->isEnabled(), kPatienceMs);
        QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
        actions->palette->trigger();
        palette = window.findChild<CommandPalette*>();
        QVERIFY(palette != nullptr);
        palette->findChild<QLineEdit*>()->setText(QStringLiteral("evaluate now"));
        list = palette->findChild<QTreeWidget*>();
        QTRY_VERIFY_WITH_TIMEOUT(isPossible(), kPatienceMs);
        lock.reset(); // its supervisor is gone
        QTRY_VERIFY_WITH_TIMEOUT(!isPossible(), kPatienceMs);
    }

    void thePaletteHidTheCommandsThatAreNotPossible()
    {
        QWidget window;
        Actions actions(&window);
        Actions::allow(*actions.kill, false, QStringLiteral("the run is not being trained"));
        Actions::allow(*actions.pause, true, {});
        CommandPalette palette(actions, &window);
        palette.show();
        auto* line = palette.findChild<QLineEdit*>();
        auto* list = palette.findChild<QTreeWidget*>();
        line->setText(QStringLiteral("kill"));
        QCOMPARE(list->topLevelItemCount(), 1);
        QTreeWidgetItem* item = list->topLevelItem(0);
        QCOMPARE(item->text(1), QStringLiteral("the run is not being trained"));
        QVERIFY(!item->flags().testFlag(Qt::ItemIsEnabled));
        const QSignalSpy triggered(actions.kill, &QAction::triggered);
        QTest::keyClick(line, Qt::Key_Return);
        QTest::mouseClick(list->viewport(), Qt::LeftButton, {}, list->visualItemRect(item).center());
        QVERIFY(palette.isVisible()); // it did nothing, and says why
        QVERIFY(triggered.isEmpty());
        line->clear();
        for (int i = 0; i + 1 < list->topLevelItemCount(); ++i) // what is possible comes first
            QVERIFY(list->topLevelItem(i)->flags().testFlag(Qt::ItemIsEnabled)
                || !list->topLevelItem(i + 1)->flags().testFlag(Qt::ItemIsEnabled));
    }
};

QTEST_MAIN(TestAskedAndShown)
#include "tst_asked_and_shown.moc"
