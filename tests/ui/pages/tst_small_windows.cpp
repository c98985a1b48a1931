// What a small window leaves of a page: the loss first, the docks out of its way. Run at 150 % too.

#include "tests/ui/patience.h"
#include "tests/ui/run_story.h"
#include "ui/charts/series_chart.h"
#include "ui/models/workbench.h"
#include "ui/pages/epoch_meters.h"
#include "ui/pages/run_banner.h"
#include "ui/parts/figure_row.h"
#include "ui/shell/actions.h"
#include "ui/shell/appearance.h"
#include "ui/shell/main_window.h"
#include "ui/shell/run_view.h"

#include <QDockWidget>
#include <QLineEdit>
#include <QMenuBar>
#include <QScopeGuard>
#include <QTabBar>
#include <QToolButton>
#include <QVBoxLayout>
#include <QtTest>
#include <algorithm>
#include <functional>
#include <memory>

using namespace furrow;
using namespace furrow::test;

namespace {

constexpr int kLeastChart = 240;

QRect placeOf(const QWidget& widget, const QWidget& in) { return { widget.mapTo(&in, QPoint(0, 0)), widget.size() }; }

/// A console in a language, with a run that was read.
class Shown {
public:
    explicit Shown(QSize size, Language language = Language::English)
        : back_([this] { appearance_.setLanguage(Language::English); })
    {
        appearance_.setLanguage(language);
        bench_ = std::make_unique<Workbench>(story_.workspace());
        window_ = std::make_unique<MainWindow>(*bench_, appearance_, false);
        window_->resize(size);
        window_->show();
        bench_->start({});
        bench_->showRun(story_.folder());
        const auto isRead = [this] {
            return bench_->watcher().status() && bench_->watcher().telemetry() && !bench_->cells().cells().empty();
        };
        if (!QTest::qWaitFor(isRead, kPatienceMs))
            qFatal("the run was not read");
        QTest::qWait(50);
    }

    MainWindow& window() { return *window_; }
    Workbench& bench() { return *bench_; }
    QWidget& page() { return *window_->runView().page(window_->runView().currentPage()); }

    QDockWidget& dock(const char* name)
    {
        return *window_->findChild<QDockWidget*>(QStringLiteral("dock.") + QLatin1String(name));
    }
    bool isSeen(const char* name) // those behind a tab stand outside the window
    {
        const QWidget& widget = *dock(name).widget();
        return widget.isVisible() && window_->rect().intersects(placeOf(widget, *window_));
    }

    /// The tabs of the lower docks.
    QTabBar& tabs()
    {
        const auto all = window_->findChildren<QTabBar*>(Qt::FindDirectChildrenOnly);
        const auto found = std::find_if(all.begin(), all.end(), [](const QTabBar* bar) { return bar->count() > 3; });
        if (found == all.end())
            qFatal("the lower docks have no tabs");
        return **found;
    }
    QPoint tab(int index) { return tabs().tabRect(index).center(); }

private:
    RunStory story_ { {} };
    Appearance appearance_ { false };
    QScopeGuard<std::function<void()>> back_;
    std::unique_ptr<Workbench> bench_;
    std::unique_ptr<MainWindow> window_;
};

/// Nothing around it cuts it off. Its visible region lacks what its own parts draw.
/// @param below  that may lie below an edge [px]
bool isWhole(const QWidget& widget, int below)
{
    for (const QWidget* around = widget.parentWidget(); around != nullptr; around = around->parentWidget())
        if (!around->rect().adjusted(0, 0, 0, below).contains(placeOf(widget, *around)))
            return false;
    return widget.isVisible();
}

} // namespace

class TestSmallWindows : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { registerBridgeTypes(); }

    void theFiguresPushedTheLossOutOfSight_data()
    {
        QTest::addColumn<QSize>("size");
        QTest::addColumn<Language>("language");
        for (const QSize size : { QSize(1440, 900), QSize(1280, 800), QSize(1024, 640), QSize(853, 533) })
            for (const auto& one : kClosedNames<Language>)
                QTest::addRow("%dx%d %s", size.width(), size.height(), one.name.data()) << size << one.value;
    }

    /// In Spanish the chart ended below the window at 1280x800; at 1024x640 only its title was seen.
    void theFiguresPushedTheLossOutOfSight()
    {
        QFETCH(QSize, size);
        QFETCH(Language, language);
        Shown shown(size, language);
        QTRY_VERIFY(shown.window().findChild<RunBanner*>()->isVisible()); // it is interrupted
        const auto* chart = shown.page().findChild<SeriesChart*>();
        QCOMPARE(shown.window().size(), size);
        QVERIFY2(chart->height() >= kLeastChart, qPrintable(QString::number(chart->height())));
        QTRY_VERIFY(isWhole(*chart, size.height() < 600 ? 16 : 0)); // there the banner has two rows
        const int bottom = placeOf(*chart, shown.page()).bottom();
        const auto figures = shown.page().findChildren<FigureRow*>();
        QVERIFY(!figures.isEmpty());
        for (const FigureRow* row : figures)
            QVERIFY(placeOf(*row, shown.page()).top() > bottom);
        QVERIFY(placeOf(*shown.page().findChild<EpochMeters*>(), shown.page()).top() > bottom);
    }

    /// However large the window was, the curve had 240 points of it.
    void theLossStayedSmallInALargeWindow()
    {
        Shown shown({ 1920, 1080 });
        const auto* chart = shown.page().findChild<SeriesChart*>();
        const auto* meters = shown.page().findChild<EpochMeters*>();
        QVERIFY2(chart->height() > 400, qPrintable(QString::number(chart->height())));
        QCOMPARE(meters->visibleRegion().boundingRect(), meters->rect());
        const int large = chart->height();
        shown.window().resize(1920, 900);
        QTRY_VERIFY(chart->height() < large - 100);
    }

    /// One long name made all columns as wide: seven figures stood in four rows.
    void oneLongNameMadeAllFiguresWide()
    {
        QWidget page;
        page.resize(900, 300);
        auto* column = new QVBoxLayout(&page);
        auto* row = new FigureRow({ QStringLiteral("Loss"), QStringLiteral("Eval loss, not the newest, step 8,286"),
            QStringLiteral("Tokens"), QStringLiteral("Steps"), QStringLiteral("Time") });
        column->addWidget(row);
        page.show();
        const auto boxes = row->findChildren<QWidget*>(Qt::FindDirectChildrenOnly);
        QCOMPARE(boxes.size(), 5);
        for (const QWidget* box : boxes)
            QTRY_COMPARE(box->y(), boxes.front()->y());
        page.resize(450, 300); // one row does not keep the page wide
        QTRY_VERIFY(boxes.back()->y() > boxes.front()->y());
        QCOMPARE(boxes[1]->y(), boxes.front()->y());
        QCOMPARE(page.width(), 450);
    }

    void theLowerDocksTookHalfOfALowWindow_data()
    {
        QTest::addColumn<Language>("language");
        QTest::newRow("en") << Language::English;
        QTest::newRow("es") << Language::Spanish;
    }

    void theLowerDocksTookHalfOfALowWindow()
    {
        QFETCH(Language, language);
        Shown shown({ 1280, 800 }, language);
        QVERIFY(shown.isSeen("lanes"));
        const int page = shown.window().runView().height();
        shown.window().resize(1280, 790);
        QTRY_VERIFY(!shown.isSeen("lanes"));
        QTRY_VERIFY(shown.window().runView().height() > page + 100);
        const QRect tabs = placeOf(shown.tabs(), shown.window());
        QVERIFY(tabs.height() > 20 && tabs.bottom() < shown.window().height());
        QVERIFY(tabs.top() >= placeOf(shown.window().runView(), shown.window()).bottom());
        shown.window().resize(1280, 800);
        QTRY_VERIFY(shown.isSeen("lanes"));
        QTRY_COMPARE(shown.window().runView().height(), page);
    }

    void aDoubleClickOnATabFoldsTheLowerDocks()
    {
        Shown shown({ 1280, 900 });
        const int page = shown.window().runView().height();
        QTest::mouseDClick(&shown.tabs(), Qt::LeftButton, {}, shown.tab(0));
        QTRY_VERIFY(!shown.isSeen("lanes"));
        QTRY_VERIFY(shown.window().runView().height() > page + 100);
        QTest::mouseDClick(&shown.tabs(), Qt::LeftButton, {}, shown.tab(0));
        QTRY_VERIFY(shown.isSeen("lanes"));
        QTRY_COMPARE(shown.window().runView().height(), page);
        QTest::mouseDClick(&shown.tabs(), Qt::LeftButton, {}, shown.tab(0));
        QTRY_VERIFY(!shown.isSeen("lanes"));
        QTest::mouseClick(&shown.tabs(), Qt::LeftButton, {}, shown.tab(2)); // another one
        QTRY_VERIFY(shown.isSeen("events"));
        QTRY_COMPARE(shown.window().runView().height(), page);
    }

    void theLowerDocksComeByKeyAndWhenTheyAreAskedFor()
    {
        Shown shown({ 1024, 640 });
        QVERIFY(!shown.isSeen("lanes"));
        auto* actions = shown.window().findChild<Actions*>();
        QVERIFY(actions->foldDocks->isChecked());
        actions->foldDocks->trigger();
        QTRY_VERIFY(shown.isSeen("lanes"));
        actions->foldDocks->trigger();
        QTRY_VERIFY(!shown.isSeen("lanes"));
        actions->queue->trigger();
        QTRY_VERIFY(shown.isSeen("queue"));
        QVERIFY(!actions->foldDocks->isChecked());
        actions->foldDocks->trigger();
        QTRY_VERIFY(!shown.isSeen("queue"));
        shown.dock("log").toggleViewAction()->trigger(); // away
        shown.dock("log").toggleViewAction()->trigger();
        QTRY_VERIFY(shown.isSeen("log"));
    }

    /// What is folded must not be reached by Tab, nor keep what is typed.
    void theKeyboardStayedInADockThatWasFolded()
    {
        Shown shown({ 1280, 900 });
        QVERIFY(QTest::qWaitForWindowActive(&shown.window()));
        shown.dock("log").raise();
        QTRY_VERIFY(shown.isSeen("log"));
        auto* field = shown.dock("log").findChild<QLineEdit*>();
        field->setFocus();
        shown.window().findChild<Actions*>()->foldDocks->trigger();
        QVERIFY(!shown.dock("log").isAncestorOf(QApplication::focusWidget()));
        for (int step = 0; step < 100; ++step) {
            QTest::keyClick(QApplication::focusWidget(), Qt::Key_Tab);
            for (const char* name : { "lanes", "gpu", "events", "log", "audit", "queue" })
                QVERIFY(!shown.dock(name).isAncestorOf(QApplication::focusWidget()));
        }
    }

    void theInspectorTookThePageOfANarrowWindow_data() { theLowerDocksTookHalfOfALowWindow_data(); }

    void theInspectorTookThePageOfANarrowWindow()
    {
        QFETCH(Language, language);
        Shown shown({ 1024, 640 }, language);
        QCOMPARE(shown.window().runView().width(), 1024);
        QVERIFY(!shown.isSeen("inspector") && !shown.isSeen("library"));
        shown.bench().selection().setChunks({ { shown.bench().cells().cells().front().id, 0, 0 } });
        QTRY_VERIFY(shown.isSeen("inspector"));
        const QRect page = placeOf(shown.window().runView(), shown.window());
        QVERIFY(page.contains(placeOf(shown.dock("inspector"), shown.window())));
        QCOMPARE(page.width(), 1024);
        shown.window().findChild<Actions*>()->clearSelection->trigger();
        QTRY_VERIFY(!shown.isSeen("inspector"));
        const auto buttons = shown.window().menuBar()->cornerWidget()->findChildren<QToolButton*>();
        QCOMPARE(buttons.size(), 2);
        for (QToolButton* button : buttons) {
            QVERIFY(button->visibleRegion().boundingRect() == button->rect());
            QVERIFY(button->width() >= button->sizeHint().width());
            button->click();
        }
        QTRY_VERIFY(shown.isSeen("inspector") && shown.isSeen("library"));
        shown.window().resize(853, 533);
        QTRY_COMPARE(placeOf(shown.dock("inspector"), shown.window()).right(), 852);
        QCOMPARE(shown.window().width(), 853);
        buttons.front()->click();
        QTRY_VERIFY(!shown.isSeen("library"));
    }

    void theDocksStandBesideThePageAgainInAWideWindow()
    {
        Shown shown({ 1280, 900 });
        const QRect library = placeOf(shown.dock("library"), shown.window());
        const QRect inspector = placeOf(shown.dock("inspector"), shown.window());
        const int page = shown.window().runView().width();
        shown.window().resize(1024, 900);
        QTRY_COMPARE(shown.window().runView().width(), 1024);
        const QByteArray narrow = shown.window().docks();
        QVERIFY(!shown.isSeen("library"));
        shown.window().showPerspective(MainWindow::Perspective::Launch); // comes and goes without them
        QVERIFY(!shown.isSeen("library"));
        shown.window().resize(1280, 900);
        QTest::qWait(20);
        QVERIFY(!shown.isSeen("library"));
        shown.window().showPerspective(MainWindow::Perspective::Watch);
        QTRY_COMPARE(placeOf(shown.dock("library"), shown.window()), library);
        QTRY_COMPARE(placeOf(shown.dock("inspector"), shown.window()), inspector);
        QCOMPARE(shown.window().runView().width(), page);
        shown.window().restoreDocks(narrow); // kept from a narrow window
        QTRY_VERIFY(shown.isSeen("library") && shown.isSeen("inspector"));
    }
};

QTEST_MAIN(TestSmallWindows)
#include "tst_small_windows.moc"
