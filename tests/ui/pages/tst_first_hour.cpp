// What a person met who used the console for the first time. Each test is named after what went wrong.
#include "core/base/sentence.h"
#include "core/run/start/limit_reached.h"
#include "core/run/start/new_run_folder.h"
#include "core/telemetry/run_telemetry.h"
#include "core/tracker/sqlite/database.h"
#include "tests/ui/patience.h"
#include "tests/ui/run_story.h"
#include "ui/bridge/workspace_scanner.h"
#include "ui/charts/chart_data.h"
#include "ui/models/alerts.h"
#include "ui/models/core_words.h"
#include "ui/models/run_form.h"
#include "ui/models/run_tables.h"
#include "ui/models/words.h"
#include "ui/models/workbench.h"
#include "ui/pages/charts_page.h"
#include "ui/pages/coverage_page.h"
#include "ui/parts/long_names.h"
#include "ui/pages/new_run/estimate_panel.h"
#include "ui/parts/form_field.h"
#include "ui/pages/new_run/new_run_page.h"
#include "ui/pages/overview_page.h"
#include "ui/parts/page_parts.h"
#include "ui/dialogs/resume_dialog.h"
#include "ui/dialogs/resume_parts.h"
#include "ui/pages/worker_card.h"
#include "ui/shell/appearance.h"
#include "ui/shell/inspector_dock.h"
#include "ui/shell/mnemonics.h"
#include "ui/widgets/meters.h"
#include "ui/widgets/worker_mark.h"

#include <QComboBox>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QRadioButton>
#include <QSignalSpy>
#include <QStandardItemModel>
#include <QTableView>

using namespace furrow;
using namespace furrow::test;

namespace {

RunStatus runningOne()
{
    RunStatus status;
    status.state = RunState::Running;
    status.attempt = 1;
    status.file.config.name = "story";
    return status;
}

QPushButton* buttonOf(const QWidget& parent, const QString& begin)
{
    for (auto* button : parent.findChildren<QPushButton*>())
        if (withoutMnemonic(button->text()).startsWith(begin))
            return button;
    return nullptr;
}

bool says(const QWidget& parent, const QString& part)
{
    const auto labels = parent.findChildren<QLabel*>();
    return std::any_of(labels.begin(), labels.end(),
        [&part](const QLabel* label) { return label->isVisible() && label->text().contains(part); });
}

/// The text of another label with the same words; there must not be one.
int labelsThatSay(const QWidget& parent, const QString& words)
{
    const auto labels = parent.findChildren<QLabel*>();
    return static_cast<int>(
        std::count_if(labels.begin(), labels.end(), [&words](const QLabel* label) { return label->text() == words; }));
}

void show(Workbench& bench, const RunStory& story)
{
    bench.showRun(story.folder());
    QTRY_VERIFY_WITH_TIMEOUT(
        bench.watcher().status() && bench.watcher().telemetry() && bench.watcher().tables(), kPatienceMs);
}

} // namespace

class TestFirstHour : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { registerBridgeTypes(); }

    void aWorkerThatHadMadeNoStepYetWasCalledNotANumber()
    {
        Alerts alerts;
        alerts.open(QDir::tempPath());
        RunStatus status = runningOne();
        WorkerStatus worker;
        worker.alive = true;
        worker.step = 2198; // of the checkpoint it goes on from
        worker.loss = std::numeric_limits<double>::quiet_NaN();
        status.workers = { worker };
        alerts.takeStatus(status);
        QVERIFY(std::none_of(alerts.all().begin(), alerts.all().end(),
            [](const Alert& alert) { return alert.kind == AlertKind::NotANumber; }));
    }

    void aResumeThatEndsAtOnceWasOffered()
    {
        auto plan = std::make_shared<ResumePlan>();
        RunStatus status = runningOne();
        status.steps = 2198;
        status.tokens = 1'000'000;
        status.activeSeconds = 1800;
        status.epochs.emplace_back();
        status.epochs.front().closedWallNs = 1;
        status.epochs.front().chunks[ChunkState::Committed] = 4;
        RunConfig config = good(findPreset("char")).config;
        config.epochs = 0;
        QWidget window;
        window.resize(1200, 800);
        const auto offered = [&](const RunConfig& wanted) {
            ResumeDialog dialog(QStringLiteral("/runs/a"), QStringLiteral("a"), 1, plan, wanted, &window);
            dialog.setStatus(status);
            dialog.show();
            const bool enabled = buttonOf(dialog, QStringLiteral("Resume as attempt 2"))->isEnabled();
            const bool warned = says(dialog, QStringLiteral("would end at once")); // a closed way says why
            return enabled == warned ? QStringLiteral("both or neither")
                : enabled            ? QStringLiteral("offered")
                                     : QStringLiteral("refused");
        };
        QCOMPARE(offered(config), QStringLiteral("offered"));
        for (const auto& limit :
            std::initializer_list<std::function<void(RunConfig&)>> { [](RunConfig& c) { c.steps = 10; },
                [](RunConfig& c) { c.steps = 2198; }, [](RunConfig& c) { c.tokens = 1000; },
                [](RunConfig& c) { c.hours = 0.25; }, [](RunConfig& c) { c.epochs = 1; } }) {
            RunConfig wanted = config;
            limit(wanted);
            QCOMPARE(offered(wanted), QStringLiteral("refused"));
        }
        config.steps = 3000;
        config.epochs = 2;
        QCOMPARE(offered(config), QStringLiteral("offered"));
        config.steps = 2000;
        plan->redoTokens = 500'000; // half of it is trained again
        QCOMPARE(offered(config), QStringLiteral("offered"));
        plan->redoTokens = 0;
        QCOMPARE(offered(config), QStringLiteral("refused"));
        status.steps = 1758; // without what died with its weights
        QCOMPARE(offered(config), QStringLiteral("offered"));
        config.epochs = 1;
        config.steps = 0;
        plan->effect.redo = { chunkIdOf({ 0, 0, 0 }) }; // of the epoch that was complete
        QCOMPARE(offered(config), QStringLiteral("offered"));
    }

    void aLimitThatIsReachedIsReadFromTheTracker()
    {
        RunStory story({ .trained = 12 });
        auto supervisor = story.supervisor();
        for (const IncarnationRow& row : good(good(LedgerReader::open(story.paths().tracker())).incarnations()))
            (void)good(supervisor.revoke(row.id, "stopped"));
        auto plan = planResume(story.paths());
        QVERIFY2(plan.ok(), plan.ok() ? "" : plan.error().message.c_str());
        const auto status = good(readStatus(story.paths()));
        RunConfig wanted;
        wanted.steps = 1;
        QVERIFY(limitReached(status, plan.value(), wanted, nullptr)
            == StopReason::None); // no checkpoint of it is whole: all is trained again
        plan.value().redoTokens = 0;
        QVERIFY(limitReached(status, plan.value(), wanted, nullptr) == StopReason::Steps);
        wanted.steps = 100'000;
        QVERIFY(limitReached(status, plan.value(), wanted, nullptr) == StopReason::None);
    }

    void aResumeDialogDidNotNoticeThatADiskIsBack()
    {
        auto plan = std::make_shared<ResumePlan>();
        QWidget window;
        window.resize(1200, 800);
        const RunConfig config = good(findPreset("char")).config;
        ResumeDialog whole(QStringLiteral("/runs/a"), QStringLiteral("a"), 1, plan, config, &window);
        QVERIFY(buttonOf(whole, QStringLiteral("Look again")) == nullptr);
        auto gone = std::make_shared<ResumePlan>();
        gone->loss = "a file cannot be read";
        ResumeDialog dialog(QStringLiteral("/runs/a"), QStringLiteral("a"), 1, gone, config, &window);
        buttonOf(dialog, QStringLiteral("Look again"))->click();
        QCOMPARE(dialog.result(), ResumeDialog::kLookAgain);
    }

    void valueAndShareOfAMeterWereDrawnOverEachOther()
    {
        Meter meter(QStringLiteral("Optimiser steps"));
        meter.resize(500, meter.height());
        for (const auto& [value, total] :
            { std::pair(2198LL, 10LL), std::pair(2198LL, 3000LL), std::pair(9'876'543'210LL, 9'999'999'999LL) }) {
            meter.setParts({}, static_cast<double>(total));
            meter.setNumbers(countText(value), countText(total),
                percentText(static_cast<double>(value) / static_cast<double>(total)));
            const double wide = tabularWidth(theme().font(FontRole::Small, QFont::DemiBold), countText(value))
                + tabularWidth(theme().font(FontRole::Small), QStringLiteral(" / ") + countText(total));
            QVERIFY(meter.numbersArea().width() >= wide);
            QVERIFY(meter.numbersArea().right() < meter.shareArea().left());
            QVERIFY(meter.shareArea().width() >= tabularWidth(theme().font(FontRole::Small),
                        percentText(static_cast<double>(value) / static_cast<double>(total))));
            QCOMPARE(meter.shareArea().right(), 500.0);
        }
    }

    void aTextThatWasRefusedBecameAnotherValue()
    {
        RunForm form;
        QWidget page;
        const auto type = [&](const char* key, const QString& text) {
            FormField field(*findSetting(key), form, &page);
            auto* edit = qobject_cast<QLineEdit*>(field.editor());
            edit->clear();
            QTest::keyClicks(edit, text);
        };
        const std::int64_t workers = form.preset().config.workers;
        const double lr = form.preset().config.lr;
        type("workers", QStringLiteral("999999"));
        type("lr", QStringLiteral("0,5"));
        QCOMPARE(form.config().workers, workers);
        QCOMPARE(form.config().lr, lr);
        QVERIFY2(
            !form.command().contains(QStringLiteral("--workers")) && !form.command().contains(QStringLiteral("--lr")),
            qPrintable(form.command()));
        QCOMPARE(form.problemsOf("workers").size(), std::size_t(1));
        QVERIFY(FormField::problemText(form.problemsOf("workers").front(), form.text(*findSetting("workers")))
                .contains(QStringLiteral("from 0 to 256")));
        QCOMPARE(FormField::problemText(form.problemsOf("lr").front(), form.text(*findSetting("lr"))),
            QStringLiteral("Peak learning rate must be a number, and 0,5 is not one here. Write 0.5."));
        for (const ConfigProblem& problem : form.problems())
            QVERIFY2(problem.key == "workers" || problem.key == "lr" || problem.key == "data", problem.message.c_str());
        type("lr", QStringLiteral("0.5"));
        QCOMPARE(form.config().lr, 0.5);
    }

    void aFormThatIsWrongCouldBeCopiedAndSaved()
    {
        const QTemporaryDir workspace;
        Workbench bench(workspace.path());
        EstimatePanel panel(bench);
        bench.form().setText(*findSetting("data"), QStringLiteral(FURROW_SOURCE_DIR "/README.md"));
        QTRY_VERIFY_WITH_TIMEOUT(buttonOf(panel, QStringLiteral("Copy"))->isEnabled(), kPatienceMs);
        QVERIFY(buttonOf(panel, QStringLiteral("Save preset"))->isEnabled());
        bench.form().setText(*findSetting("workers"), QStringLiteral("999999"));
        QVERIFY(!buttonOf(panel, QStringLiteral("Copy"))->isEnabled());
        QVERIFY(!buttonOf(panel, QStringLiteral("Launch"))->isEnabled());
        QVERIFY(!buttonOf(panel, QStringLiteral("Save preset"))->isEnabled());
    }

    /// Two workers made 50 tokens a second, one made 100 after a resume: the estimate went by the mean of both, as if
    /// one worker had made it.
    void thePaceOfAllAttemptsStoodBesideTheSettingsOfTheNewest()
    {
        constexpr std::int64_t kSecond = 1'000'000'000;
        const RunStory story({ .workers = 2, .trained = 4 });
        auto db = good(Database::open(story.paths().tracker(), Database::Options {}));
        db.run("UPDATE attempt SET started_wall=?", 100 * kSecond);
        db.run("INSERT INTO attempt (id, pid, start_time, boot_id, started_wall, overrides)"
               " SELECT 2, pid, start_time, boot_id, ?, ? FROM attempt WHERE id=1",
            200 * kSecond, std::string(R"({"workers":1})"));
        db.run("UPDATE incarnation SET attempt=2 WHERE worker=1"); // each worker trained two chunks of 1,000 tokens
        db.run("DELETE FROM active_stretch");
        db.run("INSERT INTO active_stretch (began_wall, ended_wall, active_ns) VALUES (?, ?, ?), (?, ?, ?)",
            100 * kSecond, 140 * kSecond, 40 * kSecond, 200 * kSecond, 220 * kSecond, 20 * kSecond);
        good(db.takeStatus());
        const RunLine line = readRunLine(story.paths().folder(), true);
        QVERIFY2(line.problem.empty(), line.problem.c_str());
        QCOMPARE(line.paces.size(), std::size_t(2));
        QCOMPARE(line.paces[0].config.workers, 2);
        QCOMPARE(line.paces[0].tokensPerSecond, 50.0);
        QCOMPARE(line.paces[1].config.workers, 1);
        QCOMPARE(line.paces[1].tokensPerSecond, 100.0);

        Workbench bench(story.workspace());
        bench.start({});
        RunConfig config = good(findPreset("char")).config;
        config.workers = 1;
        bench.form().useConfig(config, good(findPreset("char")));
        EstimatePanel panel(bench);
        panel.setExtent({ 1, 6, 6000, false });
        const auto isSaid = [&panel](const QString& part) {
            const auto labels = panel.findChildren<QLabel*>();
            return std::any_of(
                labels.begin(), labels.end(), [&part](const QLabel* label) { return label->text().contains(part); });
        };
        QTRY_VERIFY_WITH_TIMEOUT(isSaid(rateText(100)), kPatienceMs);
    }

    void aBlankBehindACommaBelongedToThePath()
    {
        RunConfig config;
        QVERIFY(setSetting(config, *findSetting("data"), " a.txt, b c.txt ,\td.txt , ").empty());
        QCOMPARE(config.data, (std::vector<std::string> { "a.txt", "b c.txt", "d.txt" }));
        QVERIFY(setSetting(config, *findSetting("data"), " a.txt").empty()); // one path may begin with a blank
        QCOMPARE(config.data, std::vector<std::string> { " a.txt" });
    }

    void theFormForetoldAnotherFolder()
    {
        const QTemporaryDir workspace;
        Workbench bench(workspace.path());
        NewRunPage page(bench);
        bench.form().setText(*findSetting("name"), QStringLiteral("<b>x</b><img src=q>"));
        NewRun request;
        request.workspace = workspace.path().toStdString();
        const auto folder = folderOfNewRun(request, "<b>x</b><img src=q>", "…");
        QVERIFY(folder.filename().string().ends_with("-b-x--b--img-src-q--…"));
        QCOMPARE(labelsThatSay(page,
                     QStringLiteral("%1 in %2/runs")
                         .arg(QString::fromStdString(folder.filename().string()), workspace.path())),
            1);
    }

    void aNameOfFiveThousandCharactersWasTaken()
    {
        NewRun request;
        request.config = good(findPreset("char")).config;
        request.config.data = { FURROW_SOURCE_DIR "/README.md" };
        const QTemporaryDir workspace;
        request.workspace = workspace.path().toStdString();
        request.config.name = std::string(5000, 'a');
        const auto made = createRun(request, {});
        QVERIFY(!made.ok());
        QVERIFY2(
            made.error().message.find("name has 5000 characters") != std::string::npos, made.error().message.c_str());
        QVERIFY(QDir(workspace.path()).isEmpty());
    }

    void differentFiguresHadOneLabelAndCardsTheirOrderOfArrival()
    {
        const RunStory story({ .blocks = 5, .trained = 19 });
        Workbench bench(story.workspace());
        show(bench, story);
        OverviewPage page(bench);
        page.resize(1200, 900);
        page.show();
        QCOMPARE(labelsThatSay(page, QStringLiteral("Samples committed")), 0); // the meter draws its own
        QCOMPARE(labelsThatSay(page, QStringLiteral("Samples, all epochs")), 1);
        const auto known = good(readStatus(story.paths())).evaluation;
        QVERIFY(known && known->beforeEndOf == 0); // its evaluation is the newest
        QTRY_COMPARE(labelsThatSay(page, QStringLiteral("Eval loss, worker 0, step %1").arg(known->step)), 1);
        auto cards = page.findChildren<WorkerCard*>();
        QCOMPARE(cards.size(), 2);
        std::sort(cards.begin(), cards.end(), [](const WorkerCard* a, const WorkerCard* b) { return a->x() < b->x(); });
        QVERIFY2(cards.front()->accessibleName().startsWith(QStringLiteral("Worker 0")),
            qPrintable(cards.front()->accessibleName()));
    }

    void theLegendSaidTheEvaluationOfTheLastWorkerInsteadOfTheNewest()
    {
        const RunStory story({ .blocks = 5, .trained = 19 }); // worker 0 was evaluated twice, worker 1 once
        RunTelemetry telemetry(story.paths().telemetryFolder());
        while (telemetry.poll()) { }
        const auto snapshot = telemetry.snapshot();
        QCOMPARE(snapshot->evals->size(), std::size_t(3));
        const auto newest = std::max_element(snapshot->evals->begin(), snapshot->evals->end(),
            [](const EvalPoint& a, const EvalPoint& b) { return a.wall < b.wall; });
        QCOMPARE(chartDataOf(*snapshot, Metric::Loss, XAxis::Tokens).evals.back().y, newest->record.loss);
    }

    void aDurationWasCutInOnePlaceAndRoundedInAnother()
    {
        QCOMPARE(durationText(321.6), QStringLiteral("5 min 22 s"));
        QCOMPARE(durationText(59.7), QStringLiteral("1 min 0 s"));
        QCOMPARE(durationText(0.25), QStringLiteral("250 ms"));
        QCOMPARE(durationText(0.9997), QStringLiteral("1 s"));
    }

    void aRunSeemedToHaveStoppedWhenItWasMade()
    {
        RunLine line;
        line.state = RunState::Stopped;
        line.attempt = 1;
        line.createdWallNs = 1'700'000'000'000'000'000;
        QCOMPARE(runSubtitle(line), QStringLiteral("stopped · made %1").arg(wallTimeText(line.createdWallNs)));
    }

    void aLongNamePushedTheValuesOutOfTheInspector()
    {
        const RunStory story({}, QString(60, QLatin1Char('w')));
        Workbench bench(story.workspace());
        InspectorDock inspector(bench);
        show(bench, story);
        inspector.resize(300, 600);
        inspector.show();
        QTRY_VERIFY(inspector.findChildren<QLabel*>().size() > 6);
        for (const auto* label : inspector.findChildren<QLabel*>())
            QVERIFY2(label->minimumSizeHint().width() < 300, qPrintable(label->text()));
    }

    void aLongNameWasTheOnlyColumn()
    {
        QStandardItemModel model(1, 2);
        model.setItem(0, 0, new QStandardItem(QString(5000, QLatin1Char('w'))));
        model.setItem(0, 1, new QStandardItem(QStringLiteral("2.164")));
        const std::unique_ptr<QTableView> table(makeTable(QStringLiteral("Runs")));
        table->setModel(&model);
        fitColumns(*table);
        QVERIFY(table->columnWidth(0) <= 320);
        QVERIFY(table->columnWidth(1) > 0);
    }

    void menusHadLettersBehindTheirWords()
    {
        QMenu menu;
        for (const char* text :
            { "Language", "Log", "Attempts", "Notes", "Group", "Usage", "Events", "Restore from trash…", "Delete" })
            menu.addAction(QString::fromLatin1(text));
        giveMnemonics(menu);
        std::set<QString> letters;
        for (const QAction* action : menu.actions()) {
            QVERIFY2(!action->text().contains(QLatin1Char('(')), qPrintable(action->text()));
            letters.insert(QKeySequence::mnemonic(action->text()).toString());
        }
        QCOMPARE(static_cast<int>(letters.size()), static_cast<int>(menu.actions().size()));
        QMenu tight; // "at" can only have what "ta" would take first
        tight.addAction(QStringLiteral("ta"));
        tight.addAction(QStringLiteral("t"));
        giveMnemonics(tight);
        QCOMPARE(tight.actions().front()->text(), QStringLiteral("t&a"));
        QCOMPARE(tight.actions().back()->text(), QStringLiteral("&t"));
    }

    void checkpointsOfAListHadUnderlinedDigits()
    {
        ResumePlan plan;
        for (int id = 1; id <= 3; ++id) {
            ResumePlan::CheckpointChoice choice;
            choice.row.id = { id };
            choice.verified = choice.canBeChosen = true;
            choice.redo = { chunkIdOf({ 0, 0, id }) };
            plan.checkpoints.push_back(choice);
        }
        QDialog dialog;
        auto* list = new CheckpointChoices(plan, &dialog);
        giveDialogMnemonics(dialog);
        QCOMPARE(list->findChildren<QRadioButton*>().size(), 4);
        for (const auto* button : list->findChildren<QRadioButton*>())
            QVERIFY2(!button->text().contains(QLatin1Char('&')), qPrintable(button->text()));
    }

    void anAuditRowHadNoChunk()
    {
        AuditFinding finding;
        finding.kind = FindingKind::Excluded;
        const auto columns = findingColumns();
        QCOMPARE(columns[1].text(finding), QStringLiteral("–"));
        finding.chunk = chunkIdOf({ 0, 3, 4 });
        QCOMPARE(columns[1].text(finding), chunkShort(3, 4));
    }

    /// "Trainings 2", where the Data page and the ledger had one: the other claim was given back before it began.
    void anAuditRowCountedClaimsThatNeverBegan()
    {
        AuditFinding finding;
        finding.claims.resize(2);
        finding.claims.front().startedWallNs = 1;
        QCOMPARE(findingColumns()[2].text(finding), QStringLiteral("1"));
    }

    void oneAlertHadTwoDecimalPoints()
    {
        Appearance appearance(false);
        const auto back = qScopeGuard([&appearance] { appearance.setLanguage(Language::English); });
        const Message spike = sentence(
            "loss %1 in windows %2-%3 is an outlier: robust z-score %4", { Real(2.9121, 4), "3", "4", Real(6.5, 1) });
        QCOMPARE(spike.text(), std::string("loss 2.9121 in windows 3-4 is an outlier: robust z-score 6.5"));
        QCOMPARE(coreWords(spike), QString::fromStdString(spike));
        appearance.setLanguage(Language::Spanish);
        const QString words = coreWords(spike);
        QVERIFY2(words.contains(QStringLiteral("2,9121")) && words.contains(QStringLiteral("6,5")), qPrintable(words));
    }

    /// "12,345" stood in Spanish sentences, where it is twelve and a bit.
    void aCountInASentenceWasADecimalNumberElsewhere()
    {
        Appearance appearance(false);
        const auto back = qScopeGuard([&appearance] { appearance.setLanguage(Language::English); });
        const HeldOutLoss evaluation { 2.5, 1'234'567, { 98'765, false }, 0, true, 0, "all replicas, merged" };
        QVERIFY(coreWords(ofWhat(evaluation)).contains(QStringLiteral("1,234,567")));
        appearance.setLanguage(Language::Spanish);
        const QString words = coreWords(ofWhat(evaluation));
        QVERIFY2(words.contains(QStringLiteral("1.234.567")) && words.contains(QStringLiteral("98.765"))
                && !words.contains(QLatin1Char(',') + QStringLiteral("567")),
            qPrintable(words));
        const QString size = coreWords(
            sentence("looking for duplicates: %1 of about %2", { Bytes(3ULL << 29), Bytes(25'125'558'682ULL) }));
        QVERIFY2(
            size.contains(QStringLiteral("1,5 GiB")) && size.contains(QStringLiteral("23,4 GiB")), qPrintable(size));
    }

    void theEpochWasCutInItsChoice()
    {
        const RunStory story({});
        Workbench bench(story.workspace());
        show(bench, story);
        CoveragePage page(bench);
        page.resize(1600, 700);
        page.show();
        const auto combos = page.findChildren<QComboBox*>();
        const auto choice = std::find_if(combos.begin(), combos.end(),
            [](const QComboBox* combo) { return combo->accessibleName() == QStringLiteral("Epoch"); });
        QVERIFY(choice != combos.end());
        QVERIFY((*choice)->sizeHint().width()
            >= (*choice)->fontMetrics().horizontalAdvance(QStringLiteral("Epoch 1, open")) + 20);
    }

    /// In a window of 1024 points the choices above the charts lay over one another and were cut through a letter.
    void theChoicesAboveTheChartsLayOverOneAnother_data()
    {
        QTest::addColumn<Language>("language");
        for (const auto& one : kClosedNames<Language>)
            QTest::newRow(one.name.data()) << one.value;
    }
    void theChoicesAboveTheChartsLayOverOneAnother()
    {
        QFETCH(Language, language);
        Appearance appearance(false);
        appearance.setLanguage(language);
        const auto back = qScopeGuard([&appearance] { appearance.setLanguage(Language::English); });
        const RunStory story({});
        Workbench bench(story.workspace());
        show(bench, story);
        ChartsPage page(bench);
        page.resize(464, 420); // what such a window leaves
        page.show();
        QTRY_VERIFY_WITH_TIMEOUT(page.minimumSizeHint().width() <= 464, kPatienceMs);
        QList<QWidget*> bar;
        for (auto* combo : page.findChildren<QComboBox*>(QString(), Qt::FindDirectChildrenOnly))
            bar.append(combo);
        for (auto* button : page.findChildren<QPushButton*>(QString(), Qt::FindDirectChildrenOnly))
            if (button->isVisible())
                bar.append(button);
        QVERIFY(bar.size() >= 4);
        const auto isClear = [&](const QWidget* one) {
            return page.rect().contains(one->geometry()) && std::ranges::none_of(bar, [one](const QWidget* other) {
                return one != other && one->geometry().intersects(other->geometry());
            });
        };
        for (const QWidget* one : bar) {
            QTRY_VERIFY_WITH_TIMEOUT(isClear(one), kPatienceMs); // the layout may come late
            QVERIFY(!one->accessibleName().isEmpty());
        }
    }
};

QTEST_MAIN(TestFirstHour)
#include "tst_first_hour.moc"
