#include "tests/ui/patience.h"
#include "tests/ui/run_story.h"
#include "ui/models/table_model.h"
#include "ui/models/workbench.h"
#include "ui/pages/new_run/new_run_page.h"
#include "ui/parts/page_parts.h"
#include "ui/shell/actions.h"
#include "ui/shell/appearance.h"
#include "ui/shell/main_window.h"
#include "ui/shell/run_view.h"

#include <QAbstractButton>
#include <QAbstractItemView>
#include <QComboBox>
#include <QDialog>
#include <QDockWidget>
#include <QHeaderView>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QRadioButton>
#include <QSet>
#include <QStandardItemModel>
#include <QTableView>
#include <QToolBar>
#include <QVBoxLayout>
#include <QtTest>
#include <algorithm>
#include <memory>

using namespace furrow;
using namespace furrow::test;

namespace {

constexpr int kMostSteps = 400;

QString nameOf(const QWidget* widget)
{
    const auto* button = qobject_cast<const QAbstractButton*>(widget);
    const QString text = button != nullptr && !button->text().isEmpty() ? button->text()
        : widget->accessibleName().isEmpty()                            ? widget->objectName()
                                                                        : widget->accessibleName();
    return QString::fromLatin1(widget->metaObject()->className()) + QStringLiteral(" '") + text + QLatin1Char('\'');
}

/// What a person can do something with, and Tab is what leads to it. Toolbars are in the menus too, docks have theirs
/// there, of a group of radio buttons Tab knows one.
bool isControl(const QWidget* widget)
{
    const bool elsewhere = qobject_cast<const QToolBar*>(widget->parentWidget()) != nullptr
        || qobject_cast<const QDockWidget*>(widget->parentWidget()) != nullptr
        || qobject_cast<const QLineEdit*>(widget->parentWidget()) != nullptr
        || qobject_cast<const QRadioButton*>(widget) != nullptr || qobject_cast<const QHeaderView*>(widget) != nullptr;
    return !elsewhere
        && (qobject_cast<const QAbstractButton*>(widget) != nullptr || qobject_cast<const QLineEdit*>(widget) != nullptr
            || qobject_cast<const QComboBox*>(widget) != nullptr
            || qobject_cast<const QAbstractItemView*>(widget) != nullptr);
}

/// Controls that are to be seen and that the Tab key never comes to, from wherever it begins.
QStringList unreached(QWidget& window)
{
    QSet<const QWidget*> reached;
    QWidget* at = window.focusWidget() != nullptr ? window.focusWidget() : &window;
    for (int step = 0; step < kMostSteps; ++step) {
        QTest::keyClick(at, Qt::Key_Tab);
        at = QApplication::focusWidget();
        if (at == nullptr)
            break;
        reached.insert(at);
    }
    QStringList missed;
    const auto widgets = window.findChildren<QWidget*>();
    for (const QWidget* widget : widgets) {
        const bool seen = widget->isVisible() && !widget->visibleRegion().isEmpty() && widget->isEnabled();
        const bool inside
            = qobject_cast<const QComboBox*>(widget->parentWidget()) != nullptr || widget->focusProxy() != nullptr;
        if (seen && !inside && isControl(widget) && !reached.contains(widget))
            missed.append(nameOf(widget));
    }
    return missed;
}

} // namespace

/// Every page by the Tab key alone.
class TestKeyboard : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { registerBridgeTypes(); }

    /// It fell on the choice of the theme in the status bar: Space opened that.
    void thePageThatOpenedHadNotTheFocus()
    {
        const RunStory story({});
        Appearance appearance(false);
        Workbench bench(story.workspace());
        MainWindow window(bench, appearance, false);
        window.resize(1400, 900);
        window.show();
        QVERIFY(QTest::qWaitForWindowActive(&window));
        bench.start({});
        const auto* actions = window.findChild<Actions*>();
        actions->newRun->trigger();
        auto* page = window.findChild<NewRunPage*>();
        QVERIFY2(page->isAncestorOf(QApplication::focusWidget()), qPrintable(nameOf(QApplication::focusWidget())));
        QTest::keyClick(QApplication::focusWidget(), Qt::Key_Tab);
        QVERIFY2(page->isAncestorOf(QApplication::focusWidget()), qPrintable(nameOf(QApplication::focusWidget())));
        int sources = 0;
        int links = 0;
        for (auto* source : page->findChildren<QLineEdit*>()) {
            if (source->accessibleName() != QStringLiteral("Source"))
                continue;
            ++sources;
            source->setFocus(Qt::TabFocusReason);
            QTest::keyClick(source, Qt::Key_Tab); // as the eye goes
            QVERIFY2(nameOf(QApplication::focusWidget()).contains(QStringLiteral("Choose…")),
                qPrintable(nameOf(QApplication::focusWidget())));
        }
        for (auto* link : page->findChildren<QPushButton*>()) {
            if (!link->accessibleName().startsWith(QStringLiteral("Start from")))
                continue;
            ++links;
            const QImage before = link->grab().toImage();
            link->setFocus(Qt::TabFocusReason);
            QVERIFY2(link->grab().toImage() != before, "nothing shows that the link has the focus");
        }
        QVERIFY(sources > 0 && links > 0);
    }

    void aControlThatTabNeverComesToIsFound()
    {
        QWidget window;
        QVBoxLayout column(&window);
        QLineEdit line;
        QPushButton button(QStringLiteral("out of reach"));
        button.setFocusPolicy(Qt::NoFocus);
        column.addWidget(&line);
        column.addWidget(&button);
        window.show();
        QVERIFY(QTest::qWaitForWindowActive(&window));
        QCOMPARE(unreached(window), QStringList(nameOf(&button)));
    }

    void everyControlIsReachedByTab()
    {
        const RunStory story({});
        Appearance appearance(false);
        Workbench bench(story.workspace());
        MainWindow window(bench, appearance, false);
        window.resize(1400, 900);
        window.show();
        QVERIFY(QTest::qWaitForWindowActive(&window));
        bench.start({});
        bench.showRun(story.folder());
        QTRY_VERIFY_WITH_TIMEOUT(
            bench.watcher().status() && bench.watcher().telemetry() && !bench.cells().cells().empty(), kPatienceMs);
        bench.selection().setChunks({ { bench.cells().cells().front().id, 0, 0 } });
        for (int page = 0; page < RunView::kPageCount; ++page) {
            window.runView().showPage(page);
            QTest::qWait(50);
            QCOMPARE(unreached(window), QStringList());
        }
        const auto docks = window.findChildren<QDockWidget*>();
        for (QDockWidget* dock : docks) {
            dock->show();
            dock->raise();
            QTest::qWait(20);
            const QStringList missed = unreached(window);
            QVERIFY2(missed.isEmpty(),
                qPrintable(dock->objectName() + QStringLiteral(": ") + missed.join(QStringLiteral(", "))));
        }
        for (const auto perspective : { MainWindow::Perspective::Launch, MainWindow::Perspective::Compare }) {
            window.showPerspective(perspective);
            QTest::qWait(50);
            QCOMPARE(unreached(window), QStringList());
        }
        window.showPerspective(MainWindow::Perspective::Watch);
        checkDialogs(window); // last: the window is not made active again after them where there is no window manager
    }

    void everyToolIsInTheMenusToo()
    {
        const RunStory story({});
        Appearance appearance(false);
        Workbench bench(story.workspace());
        MainWindow window(bench, appearance, false);
        const auto* bar = window.findChild<QToolBar*>(QStringLiteral("toolbar.run"));
        QVERIFY(bar->actions().size() > 5);
        for (QAction* action : bar->actions()) {
            const auto places = action->associatedObjects();
            const bool inMenu = std::any_of(places.begin(), places.end(),
                [](const QObject* place) { return qobject_cast<const QMenu*>(place) != nullptr; });
            QVERIFY2(inMenu || action->isSeparator() || action->text().isEmpty(), qPrintable(action->text()));
        }
    }

    /// Tables could be sorted by a click only.
    void aTableIsSortedByTheColumnOfItsCursor()
    {
        QStandardItemModel model(3, 2);
        for (int row = 0; row < 3; ++row) {
            model.setItem(row, 0, new QStandardItem(QString::number(row)));
            model.setItem(row, 1, new QStandardItem(QString::number(9 - row)));
            for (int column = 0; column < 2; ++column)
                model.item(row, column)->setData(model.item(row, column)->text().toInt(), SortRole);
        }
        const std::unique_ptr<QTableView> table(makeTable(QStringLiteral("numbers")));
        setSortedModel(table.get(), &model, 0, Qt::AscendingOrder);
        table->show();
        QVERIFY(QTest::qWaitForWindowActive(table.get()));
        table->setFocus();
        table->setCurrentIndex(table->model()->index(0, 0));
        QTest::keyClick(table.get(), Qt::Key_Right);
        QTest::keyClick(table.get(), Qt::Key_Up, Qt::AltModifier);
        QCOMPARE(table->model()->index(0, 1).data().toString(), QStringLiteral("7"));
        QTest::keyClick(table.get(), Qt::Key_Down, Qt::AltModifier);
        QCOMPARE(table->model()->index(0, 1).data().toString(), QStringLiteral("9"));
        QCOMPARE(table->horizontalHeader()->sortIndicatorSection(), 1);
    }

private:
    /// Each that the run allows, but for the palette, whose list follows the arrow keys: Tab comes to all of it, Escape
    /// closes it.
    void checkDialogs(MainWindow& window)
    {
        const auto* actions = window.findChild<Actions*>();
        int opened = 0;
        for (QAction* action : { actions->resume, actions->why, actions->editNotes, actions->moveToTrash,
                 actions->alerts, actions->shortcuts, actions->help, actions->words, actions->quarantine,
                 actions->brain, actions->exportRun, actions->merge, actions->about }) {
            if (!action->isEnabled())
                continue;
            action->trigger();
            QDialog* dialog = nullptr;
            QTRY_VERIFY2_WITH_TIMEOUT((dialog = openDialog()) != nullptr, qPrintable(action->text()), kPatienceMs);
            QTest::qWait(50);
            const QStringList missed = unreached(*dialog);
            QVERIFY2(missed.isEmpty(),
                qPrintable(action->text() + QStringLiteral(": ") + missed.join(QStringLiteral(", "))));
            QTest::keyClick(dialog, Qt::Key_Escape);
            QTRY_VERIFY2_WITH_TIMEOUT(openDialog() == nullptr, qPrintable(action->text()), kPatienceMs);
            ++opened;
        }
        QVERIFY(opened > 8);
    }

    static QDialog* openDialog()
    {
        const auto tops = QApplication::topLevelWidgets();
        for (QWidget* top : tops)
            if (auto* dialog = qobject_cast<QDialog*>(top); dialog != nullptr && dialog->isVisible())
                return dialog;
        return nullptr;
    }
};

QTEST_MAIN(TestKeyboard)
#include "tst_keyboard.moc"
