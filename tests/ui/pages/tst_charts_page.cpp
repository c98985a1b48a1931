#include "core/telemetry/run_telemetry.h"
#include "core/tracker/ledger_reader.h"
#include "tests/ui/patience.h"
#include "tests/ui/run_story.h"
#include "ui/charts/lost_steps.h"
#include "ui/models/workbench.h"
#include "ui/pages/chart_settings.h"
#include "ui/pages/charts_page.h"
#include "ui/pages/epoch_head.h"
#include "ui/pages/epoch_meters.h"
#include "ui/export/picture.h"
#include "ui/widgets/meters.h"

#include <QAbstractItemModelTester>
#include <QCheckBox>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QSvgRenderer>
#include <QTableView>

#include <fstream>

using namespace furrow;
using namespace furrow::test;

namespace {

template <typename Widget> Widget* named(const QWidget& parent, const QString& name)
{
    const auto all = parent.findChildren<Widget*>();
    for (Widget* widget : all) {
        if (widget->accessibleName() == name)
            return widget;
    }
    return nullptr;
}

QAbstractButton* buttonOf(const QWidget& parent, const QString& text)
{
    const auto all = parent.findChildren<QAbstractButton*>();
    for (QAbstractButton* button : all) {
        if (button->text() == text)
            return button;
    }
    return nullptr;
}

void type(QLineEdit* field, const QString& text)
{
    field->selectAll();
    QTest::keyClicks(field, text);
    QTest::keyClick(field, Qt::Key_Return);
}

} // namespace

class TestChartsPage : public QObject {
    Q_OBJECT

    std::unique_ptr<RunStory> story_;
    std::unique_ptr<Workbench> bench_;
    std::unique_ptr<ChartsPage> page_;
    SeriesChart* loss_ = nullptr;

private Q_SLOTS:
    void initTestCase() { registerBridgeTypes(); }

    void init()
    {
        story_ = std::make_unique<RunStory>(RunStory::Size {});
        bench_ = std::make_unique<Workbench>(story_->workspace());
        bench_->showRun(story_->folder());
        page_ = std::make_unique<ChartsPage>(*bench_);
        page_->resize(1000, 700);
        page_->show();
        QTRY_VERIFY_WITH_TIMEOUT(
            bench_->watcher().telemetry() && !bench_->watcher().telemetry()->stretches.empty(), kPatienceMs);
        loss_ = named<SeriesChart>(*page_, QStringLiteral("Training loss"));
        QTRY_VERIFY(
            loss_ != nullptr || (loss_ = named<SeriesChart>(*page_, QStringLiteral("Training loss"))) != nullptr);
        buttonOf(*page_, QStringLiteral("Display"))->click();
    }
    void cleanup()
    {
        page_.reset();
        bench_.reset();
        story_.reset();
        loss_ = nullptr;
    }

    void countsAreUnderstoodAsAPersonWritesThem_data()
    {
        QTest::addColumn<QString>("text");
        QTest::addColumn<double>("value");
        QTest::newRow("plain") << QStringLiteral("500") << 500.0;
        QTest::newRow("million") << QStringLiteral("20M") << 20e6;
        QTest::newRow("with a space") << QStringLiteral(" 1.5 k ") << 1500.0;
        QTest::newRow("billion") << QStringLiteral("2B") << 2e9;
        QTest::newRow("power") << QStringLiteral("3e6") << 3e6;
        QTest::newRow("grouped") << QStringLiteral("12,000") << 12000.0;
        QTest::newRow("words") << QStringLiteral("some") << qQNaN();
        QTest::newRow("nothing") << QString() << qQNaN();
        QTest::newRow("a suffix alone") << QStringLiteral("M") << qQNaN();
    }
    void countsAreUnderstoodAsAPersonWritesThem()
    {
        QFETCH(const QString, text);
        QFETCH(const double, value);
        QLocale::setDefault(QLocale(QLocale::English, QLocale::UnitedStates));
        const auto read = quantityOf(text, true);
        QCOMPARE(read.has_value(), !qIsNaN(value));
        if (read)
            QCOMPARE(*read, value);
    }

    void theSmoothingWidthIsInUnitsOfX()
    {
        auto* width = named<QLineEdit>(*page_, QStringLiteral("Smooth over"));
        type(width, QStringLiteral("2k"));
        QCOMPARE(loss_->options().smoothing.width, 2000.0);
        type(width, QStringLiteral("some"));
        QVERIFY(width->property("invalid").toBool());
        QCOMPARE(loss_->options().smoothing.width, 0.0);
        auto* axis = named<QComboBox>(*page_, QStringLiteral("Horizontal axis"));
        type(width, QStringLiteral("2k"));
        axis->setCurrentIndex(axis->findData(static_cast<int>(XAxis::WorkerStep)));
        QCOMPARE(loss_->options().smoothing.width, 0.0); // a width in tokens is none in steps
        QVERIFY(width->text().isEmpty());
    }

    void metersOfTheEpochStandAboveTheChartsWhereThereIsRoom()
    {
        const auto* head = page_->findChild<EpochHead*>();
        const auto* meters = page_->findChild<EpochMeters*>();
        QTRY_VERIFY(head->isVisible() && meters->isVisible());
        QVERIFY(meters->mapTo(page_.get(), QPoint(0, meters->height())).y() <= loss_->mapTo(page_.get(), QPoint()).y());
        QVERIFY2(head->height() + meters->height() <= 130, "as slim as lines of text are");
        const auto all = meters->findChildren<Meter*>();
        QCOMPARE(all.size(), 4);
        QTRY_VERIFY_WITH_TIMEOUT(bench_->watcher().status(), kPatienceMs);
        const EpochRow& epoch = bench_->watcher().status()->epochs.back();
        const std::int64_t committed = epoch.chunks[ChunkState::Committed];
        QVERIFY(committed > 0);
        QTRY_VERIFY(all[1]->accessibleName().startsWith(QStringLiteral("Chunks committed: %1 of ").arg(committed)));
        QSignalSpy asked(page_.get(), &ChartsPage::whyWanted);
        buttonOf(*page_, QStringLiteral("Why?"))->click();
        QCOMPARE(asked.count(), 1);
        page_->resize(1000, 380);
        QVERIFY(!head->isVisible() && !meters->isVisible()); // the curves need it
        page_->resize(1000, 700);
        QVERIFY(head->isVisible() && meters->isVisible());
    }

    void scalesAndRangesFollowThePanel()
    {
        buttonOf(*page_, QStringLiteral("Logarithmic horizontal axis"))->click();
        buttonOf(*page_, QStringLiteral("Perplexity at the right"))->click();
        buttonOf(*page_, QStringLiteral("Raw points"))->click();
        buttonOf(*page_, QStringLiteral("Show every point"))->click();
        QVERIFY(loss_->options().logX && loss_->options().perplexity && !loss_->options().raw);
        QCOMPARE(loss_->options().clipPercent, 0.0);
        const QSignalSpy told(page_.get(), &ChartsPage::logLossChanged);
        page_->setLogY(true);
        QVERIFY(loss_->options().logY);
        QCOMPARE(told.count(), 1);
        page_->setLogY(false);
        type(named<QLineEdit>(*page_, QStringLiteral("Loss from")), QStringLiteral("1"));
        type(named<QLineEdit>(*page_, QStringLiteral("Loss to")), QStringLiteral("5.5"));
        loss_->replotNow();
        QCOMPARE(loss_->curves().valueAxis()->range().lower, 1.0);
        QCOMPARE(loss_->curves().valueAxis()->range().upper, 5.5);
        auto* to = named<QLineEdit>(*page_, QStringLiteral("Loss to"));
        type(to, QStringLiteral("0.5")); // below the other end: marked, and the axis is as if nothing was said
        QVERIFY(to->property("invalid").toBool());
        type(named<QLineEdit>(*page_, QStringLiteral("x from")), QStringLiteral("1k"));
        type(named<QLineEdit>(*page_, QStringLiteral("x to")), QStringLiteral("3k"));
        loss_->replotNow();
        QCOMPARE(loss_->curves().keyAxis()->range().lower, 1000.0);
        QCOMPARE(loss_->curves().keyAxis()->range().upper, 3000.0);
    }

    void thePageIsSavedWithTextAndLinesThatStaySharp()
    {
        const QString svg = story_->workspace() + QStringLiteral("/page.svg");
        QVERIFY(savePagePicture(*page_, svg));
        QFile file(svg);
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QByteArray text = file.readAll();
        QSvgRenderer renderer(text);
        QVERIFY(renderer.isValid());
        QCOMPARE(renderer.defaultSize(), page_->size());
        QVERIFY2(text.contains("Training loss") && text.contains("<polyline"), "words and curves are no pixels");
        const QString pdf = story_->workspace() + QStringLiteral("/page.pdf");
        QVERIFY(savePagePicture(*page_, pdf));
        QVERIFY(QFileInfo(pdf).size() > 1000);
        QVERIFY(!savePagePicture(*page_, story_->workspace() + QStringLiteral("/missing/page.svg")));
    }
    void chosenChartsStandBelowTheLoss()
    {
        QVERIFY(named<SeriesChart>(*page_, QStringLiteral("Gradient norm"))->isVisible());
        buttonOf(*page_, QStringLiteral("Gradient norm"))->click();
        QVERIFY(!named<SeriesChart>(*page_, QStringLiteral("Gradient norm"))->isVisible());
        for (const char* name : { "Parameter norm", "Drift of replicas", "Memory", "Waiting for data" })
            buttonOf(*page_, QLatin1String(name))->click();
        const auto charts = page_->findChildren<SeriesChart*>();
        QCOMPARE(
            std::count_if(charts.begin(), charts.end(), [](const SeriesChart* chart) { return chart->isVisible(); }),
            7);
    }

    void rightAnswersAreAChartOfARunThatIsAskedQuestions()
    {
        const auto shown = [this] { return named<SeriesChart>(*page_, QStringLiteral("Right answers")); };
        QVERIFY(!buttonOf(*page_, QStringLiteral("Right answers"))->isVisible());
        QVERIFY(shown() == nullptr || !shown()->isVisible());
        std::string lines;
        for (const auto& [what, right] : { std::pair(EvalRecord::What::Replica, 25),
                 std::pair(EvalRecord::What::Replica, 50), std::pair(EvalRecord::What::Merged, 75) })
            encodeLine(TelemetryRecord(
                           EvalRecord { systemClock().monotonicNs(), 9, 9, 3.0, 9, what, { 100, right, right, 0.25 } }),
                lines);
        std::ofstream(story_->paths().telemetryFile(1, 0), std::ios::app) << lines;
        QTRY_VERIFY_WITH_TIMEOUT(shown() != nullptr && shown()->isVisible(), kPatienceMs);
        QVERIFY(buttonOf(*page_, QStringLiteral("Right answers"))->isVisible());
        QTRY_COMPARE(shown()->data().evals.size(), std::size_t(1));
        QCOMPARE(shown()->data().evals.front().y, 0.75);
        QCOMPARE(shown()->data().lines.size(), std::size_t(1));
        const Curve& curve = *shown()->data().lines.front().curve;
        QCOMPARE(curve.size(), std::size_t(2));
        QCOMPARE(curve.y(0), 0.25f);
        QCOMPARE(curve.y(1), 0.5f);
        QCOMPARE(loss_->data().evals.back().y, 3.0); // the loss stands where it stood
        buttonOf(*page_, QStringLiteral("Right answers"))->click();
        QVERIFY(!shown()->isVisible());
    }

    void tabGoesFromTheButtonIntoThePanel()
    {
        page_->activateWindow();
        auto* button = buttonOf(*page_, QStringLiteral("Display"));
        button->setFocus();
        QTest::keyClick(button, Qt::Key_Tab);
        QVERIFY(QApplication::focusWidget() != nullptr);
        QCOMPARE(QApplication::focusWidget()->accessibleName(), QStringLiteral("Smooth over"));
    }

    void statisticsAreOfTheVisiblePoints()
    {
        buttonOf(*page_, QStringLiteral("Statistics"))->click();
        auto* table = named<QTableView>(*page_, QStringLiteral("Statistics of the visible range"));
        QVERIFY(table->isVisible());
        const QAbstractItemModelTester tester(table->model());
        loss_->replotNow();
        QCOMPARE(table->model()->rowCount(), 2);
        const auto first = loss_->statistics().front();
        QCOMPARE(table->model()->index(0, 3).data(Qt::DisplayRole).toString(), valueText(first.mean));
        const double end = loss_->curves().keyAxis()->range().upper;
        type(named<QLineEdit>(*page_, QStringLiteral("x from")), QStringLiteral("0"));
        type(named<QLineEdit>(*page_, QStringLiteral("x to")), QString::number(end / 2));
        loss_->replotNow();
        QVERIFY(loss_->statistics().front().count < first.count);
        QCOMPARE(
            table->model()->index(0, 3).data(Qt::DisplayRole).toString(), valueText(loss_->statistics().front().mean));
    }

    /// Of a killed worker the steps after its checkpoint are in no model; their curve looked valid until the run went
    /// on.
    void theCurveOfLostStepsLookedValidUntilTheResume()
    {
        RunStory story({ 4, 6, 2, 9, 8 });
        RunTelemetry telemetry(story.paths().telemetryFolder(), {});
        while (telemetry.poll()) { }
        const SnapshotPtr snapshot = telemetry.snapshot();
        auto ledger = good(LedgerReader::open(story.paths().tracker()));
        const auto claims = good(ledger.claimsSince(0, 1000));
        QVERIFY(lostTrainings(claims, {}).empty()); // its workers live
        std::vector<ChunkCell> gone;
        for (const IncarnationRow& row : good(ledger.incarnations()))
            if (row.worker == 0)
                for (const ChunkCell& cell : good(ledger.heldBy(row.id)))
                    gone.push_back(cell);
        auto lost = lostTrainings(claims, gone);
        QVERIFY(!lost.empty()); // what was trained and not committed; the claim that was never begun is none
        for (LostTraining& one : lost) {
            QCOMPARE(one.worker, 0);
            one.from = 1; // the story's telemetry is older than its ledger
            one.until = std::numeric_limits<double>::infinity();
        }
        ChartData curves = chartDataOf(*snapshot, Metric::Loss, XAxis::Tokens);
        QCOMPARE(curves.lines.size(), std::size_t(2));
        const auto whole = curves.lines[1].supersededFrom;
        dashLost(curves, *snapshot, Metric::Loss, lost);
        const auto steps = curves.lines[0].curve->size();
        QCOMPARE(curves.lines[0].supersededFrom, steps - 8 * lost.size());
        QCOMPARE(curves.lines[1].supersededFrom, whole); // the other worker goes on
        QCOMPARE(
            newestLosses(*snapshot, 0, lost, 1'000).size(), steps - 8 * lost.size()); // nor in the line of its card
        TelemetrySnapshot evaluated = *snapshot; // losses of weights that are lost looked like all others
        std::vector<EvalPoint> evals;
        for (const Stretch& stretch : evaluated.stretches) {
            EvalPoint eval { stretch.worker, stretch.attempt, stretch.wallEnd() + 0.001, {} };
            eval.record.step = stretch.lastStep;
            eval.record.loss = 1;
            evals.push_back(eval);
        }
        evaluated.evals = std::make_shared<const std::vector<EvalPoint>>(evals);
        ChartData marked = chartDataOf(evaluated, Metric::Loss, XAxis::Tokens);
        dashLost(marked, evaluated, Metric::Loss, lost);
        QCOMPARE(marked.evals.size(), std::size_t(2));
        for (const ChartEval& eval : marked.evals)
            QCOMPARE(eval.isLost, evaluated.stretches[eval.stretch].worker == 0);
        for (EvalPoint& eval : evals) // right answers of lost weights were a line like all others
            eval.record.tasks = { 100, 50, 50, 0.25 };
        EvalPoint before = evals.front();
        before.wall = evaluated.stretches.front().wallStart + 0.001;
        before.record.step = 1;
        evals.insert(evals.begin(), before);
        evaluated.evals = std::make_shared<const std::vector<EvalPoint>>(evals);
        const auto isLost = [&](const ChartEval& eval) { return isOfLost(eval, evaluated, lost); };
        const ChartData answers = answersDataOf(evaluated, XAxis::Tokens, 0, isLost);
        QCOMPARE(answers.lines.size(), std::size_t(3));
        QCOMPARE(answers.lines[0].curve->size(), std::size_t(1));
        QCOMPARE(answers.lines[1].curve->size(), std::size_t(2)); // from the answers before to those that are lost
        QCOMPARE(answers.lines[1].supersededFrom, std::size_t(0));
        QCOMPARE(answers.lines[2].worker, 1);
        QVERIFY(answers.lines[2].supersededFrom > 0);
        lost.front().keptSteps = 3; // a checkpoint took them before the death: they were dashed too
        ChartData partly = chartDataOf(*snapshot, Metric::Loss, XAxis::Tokens);
        dashLost(partly, *snapshot, Metric::Loss, lost);
        QCOMPARE(partly.lines[0].supersededFrom, steps - 8 * lost.size() + 3);
        auto supervisor = story.supervisor(); // and when its claims are freed, the history says it
        for (const auto& live : good(supervisor.live()))
            if (live.worker == 0)
                good(supervisor.revoke(live.incarnation, "killed"));
        QCOMPARE(lostTrainings(good(ledger.claimsSince(0, 1000)), {}).size(), lost.size());
    }
};

QTEST_MAIN(TestChartsPage)
#include "tst_charts_page.moc"
