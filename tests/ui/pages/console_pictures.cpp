// Pictures of every page, dock, dialog and menu of the console, to be looked at:
// console_pictures WORKSPACE RUN OUT [dark|light] [WIDTH HEIGHT] [LANGUAGE]. QT_SCALE_FACTOR=1.5 gives the look of 150
// %. Says where the window needs more room than it was given.

#include "tests/ui/patience.h"
#include "ui/models/workbench.h"
#include "ui/pages/new_run/form_group.h"
#include "ui/pages/new_run/new_run_page.h"
#include "ui/shell/actions.h"
#include "ui/shell/appearance.h"
#include "ui/shell/main_window.h"
#include "ui/shell/run_view.h"

#include <QAction>
#include <QApplication>
#include <QDialog>
#include <QDir>
#include <QDockWidget>
#include <QMenu>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QTest>
#include <QToolButton>

using namespace furrow;
using namespace furrow::test;

namespace {

constexpr int kSettleMs = 400;
constexpr int kProbeMs = 3000;

class Pictures {
public:
    Pictures(MainWindow& window, Workbench& bench, const QString& folder)
        : window_(window)
        , bench_(bench)
        , folder_(folder)
        , asked_(window.size())
    {
        QDir().mkpath(folder);
    }

    void takeAll()
    {
        static constexpr const char* kPages[]
            = { "overview", "charts", "coverage", "workers", "config", "log", "data", "sampling" };
        for (int page = 0; page < RunView::kPageCount; ++page) {
            window_.runView().showPage(page);
            save(window_, QLatin1String(kPages[page]));
        }
        window_.runView().showPage(RunView::Charts);
        const auto buttons = window_.runView().page(RunView::Charts)->findChildren<QPushButton*>();
        for (QPushButton* button : buttons)
            button->setChecked(button->isCheckable());
        save(window_, QStringLiteral("charts_display"));
        window_.runView().showPage(RunView::Coverage);
        if (!bench_.cells().cells().empty()) {
            const ChunkCell& cell = bench_.cells().cells().front();
            bench_.selection().setChunks({ { cell.id, cell.block, cell.column } });
            save(window_, QStringLiteral("chunk"));
        }
        window_.runView().showPage(RunView::Overview);
        const auto docks = window_.findChildren<QDockWidget*>();
        for (QDockWidget* dock : docks) {
            dock->show();
            dock->raise();
            save(window_, QStringLiteral("dock_") + dock->objectName());
        }
        takeDialogs();
        takeMenus();
        window_.showPerspective(MainWindow::Perspective::Launch);
        save(window_, QStringLiteral("new"));
        fillForm();
        save(window_, QStringLiteral("new_filled"));
        if (auto* form = window_.findChild<NewRunPage*>())
            takeRestOfForm(*form);
        window_.showPerspective(MainWindow::Perspective::Compare);
        save(window_, QStringLiteral("compare"));
    }

private:
    void save(QWidget& widget, const QString& name)
    {
        QTest::qWait(kSettleMs);
        if (&widget == &window_ && window_.size() != asked_)
            qWarning("%s: the window is %d x %d, not %d x %d", qPrintable(name), window_.width(), window_.height(),
                asked_.width(), asked_.height());
        if (!widget.grab().save(QStringLiteral("%1/%2.png").arg(folder_, name)))
            qWarning("%s could not be saved", qPrintable(name));
    }

    /// The data and settings of the shown run, and one that cannot be.
    void fillForm()
    {
        if (!bench_.watcher().status())
            return;
        RunConfig config = bench_.watcher().status()->file.config;
        config.batchSize = 0;
        bench_.form().useConfig(config, bench_.form().preset());
        QTest::qWait(kProbeMs);
    }

    /// Triggers each action that opens a dialog which does not wait for an answer. Found by the action, not by its
    /// words: those differ from language to language.
    void takeDialogs()
    {
        const auto* actions = window_.findChild<Actions*>();
        const std::pair<const char*, QAction*> opening[]
            = { { "kill", actions->kill }, { "resume", actions->resume }, { "why", actions->why },
                  { "notes", actions->editNotes }, { "trash", actions->moveToTrash }, { "palette", actions->palette },
                  { "alerts", actions->alerts }, { "shortcuts", actions->shortcuts }, { "help", actions->help },
                  { "words", actions->words }, { "quarantine", actions->quarantine }, { "brain", actions->brain },
                  { "export", actions->exportRun }, { "merge", actions->merge }, { "about", actions->about } };
        for (const auto& [name, action] : opening) {
            if (!action->isEnabled()) {
                qInfo("%s cannot be pictured: the run does not allow it", name);
                continue;
            }
            action->trigger();
            QTest::qWait(kSettleMs * 2);
            saveAndClose(QStringLiteral("dialog_") + QLatin1String(name));
        }
    }

    void saveAndClose(const QString& name)
    {
        const auto tops = QApplication::topLevelWidgets();
        for (QWidget* top : tops) {
            if (top == &window_ || !top->isVisible())
                continue;
            save(*top, name);
            top->close();
            if (auto* dialog = qobject_cast<QDialog*>(top))
                dialog->reject();
        }
        QTest::qWait(50);
    }

    /// The menus as they hang below the bar.
    void takeMenus()
    {
        const auto* actions = window_.findChild<Actions*>();
        for (const Actions::Menu menu : { Actions::Menu::File, Actions::Menu::Edit, Actions::Menu::View,
                 Actions::Menu::Run, Actions::Menu::Data, Actions::Menu::Tools, Actions::Menu::Help }) {
            QMenu* shown = actions->menu(menu);
            shown->popup(window_.mapToGlobal(QPoint(0, 0)));
            save(*shown, QStringLiteral("menu_%1").arg(static_cast<int>(menu)));
            shown->close();
        }
    }

    /// What the form has below its lower edge, screen by screen, with every group unfolded.
    void takeRestOfForm(NewRunPage& page)
    {
        const auto groups = page.findChildren<FormGroup*>();
        for (FormGroup* group : groups) {
            const auto fold = group->findChildren<QToolButton*>();
            if (!fold.isEmpty() && fold.front()->parentWidget()->parentWidget() == group)
                fold.front()->click();
        }
        QTest::qWait(kSettleMs);
        QScrollBar* bar = scrollBarOf(*groups.front());
        for (int screen = 1; bar != nullptr && bar->value() < bar->maximum(); ++screen) {
            bar->setValue(bar->value() + bar->pageStep());
            save(window_, QStringLiteral("new_filled_%1").arg(screen));
        }
    }

    static QScrollBar* scrollBarOf(QWidget& inside)
    {
        QWidget* parent = &inside;
        while (parent != nullptr && qobject_cast<QScrollArea*>(parent) == nullptr)
            parent = parent->parentWidget();
        return parent == nullptr ? nullptr : qobject_cast<QScrollArea*>(parent)->verticalScrollBar();
    }

    MainWindow& window_;
    Workbench& bench_;
    QString folder_;
    QSize asked_;
};

} // namespace

int main(int argc, char** argv)
{
    QApplication app(argc, argv);
    const QStringList words = QApplication::arguments();
    if (words.size() < 4) {
        qWarning("usage: console_pictures WORKSPACE RUN OUT [dark|light] [WIDTH HEIGHT] [LANGUAGE]");
        return 2;
    }
    registerBridgeTypes();
    Appearance appearance(false);
    appearance.setTheme(closedValue<ThemeKind>(words.value(4).toStdString()).value_or(ThemeKind::Dark));
    appearance.setLanguage(closedValue<Language>(words.value(7).toStdString()).value_or(Language::English));
    Workbench bench(words[1]);
    MainWindow window(bench, appearance, false);
    window.resize(words.value(5, QStringLiteral("1280")).toInt(), words.value(6, QStringLiteral("800")).toInt());
    window.show();
    bench.start({ words[2] });
    bench.showRun(words[2]);
    const bool read = QTest::qWaitFor(
        [&bench] { return bench.watcher().status() && bench.watcher().telemetry() && !bench.cells().cells().empty(); },
        kPatienceMs);
    if (!read)
        qWarning("The run was not read within a minute; pictures are taken all the same.");
    QTest::qWait(1000);
    Pictures(window, bench, words[3]).takeAll();
    return 0;
}
