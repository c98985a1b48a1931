// Pictures of every page, dock and dialog of the console, to be looked at:
// console_pictures WORKSPACE RUN OUT [dark|light] [WIDTH HEIGHT] [LANGUAGE]. QT_SCALE_FACTOR=1.5 gives the look of 150 %.

#include "tests/ui/patience.h"
#include "ui/models/workbench.h"
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
#include <QTest>

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
    {
        QDir().mkpath(folder);
    }

    void takeAll()
    {
        static constexpr const char* kPages[] = { "overview", "charts", "coverage", "workers", "config", "log", "data", "sampling" };
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
        window_.showPerspective(MainWindow::Perspective::Launch);
        save(window_, QStringLiteral("new"));
        fillForm();
        save(window_, QStringLiteral("new_filled"));
        window_.showPerspective(MainWindow::Perspective::Compare);
        save(window_, QStringLiteral("compare"));
    }

private:
    void save(QWidget& widget, const QString& name)
    {
        QTest::qWait(kSettleMs);
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

    /// Triggers each action that opens a dialog which does not wait for an answer.
    void takeDialogs()
    {
        const auto actions = window_.actions();
        for (QAction* action : actions) {
            static const QStringList kAsks { QStringLiteral("Open run folder…"), QStringLiteral("Open workspace…"), QStringLiteral("Save picture of the window…"), QStringLiteral("Restore from trash…"), QStringLiteral("Import run folder…") };
            const bool opens = action->text().endsWith(QChar(0x2026)) || action->menu() == nullptr;
            if (!opens || !action->isEnabled() || kAsks.contains(action->text()) || action->text().startsWith(QLatin1String("Save ")) || action->text() == QLatin1String("Quit"))
                continue;
            static const QStringList kWanted { QStringLiteral("Kill…"), QStringLiteral("Resume…"), QStringLiteral("Why this state?"), QStringLiteral("Tags and note…"), QStringLiteral("Move to trash…"), QStringLiteral("Command palette"),
                QStringLiteral("Alerts…"), QStringLiteral("Shortcuts"), QStringLiteral("Help"), QStringLiteral("What the words mean"), QStringLiteral("Quarantine list…"), QStringLiteral("Brain…"), QStringLiteral("Export run…"), QStringLiteral("Merge replicas…"), QStringLiteral("About Furrow") };
            if (!kWanted.contains(action->text()))
                continue;
            action->trigger();
            QTest::qWait(kSettleMs * 2);
            const auto tops = QApplication::topLevelWidgets();
            for (QWidget* top : tops) {
                if (top == &window_ || !top->isVisible())
                    continue;
                save(*top, QStringLiteral("dialog_") + QString(action->text()).remove(QChar(0x2026)).remove(QLatin1Char('?')).replace(QLatin1Char(' '), QLatin1Char('_')));
                top->close();
                if (auto* dialog = qobject_cast<QDialog*>(top))
                    dialog->reject();
            }
            QTest::qWait(50);
        }
    }

    MainWindow& window_;
    Workbench& bench_;
    QString folder_;
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
    appearance.setTheme(words.value(4, QStringLiteral("dark")));
    appearance.setLanguage(words.value(7, QStringLiteral("en")));
    Workbench bench(words[1]);
    MainWindow window(bench, appearance, false);
    window.resize(words.value(5, QStringLiteral("1280")).toInt(), words.value(6, QStringLiteral("800")).toInt());
    window.show();
    bench.start({ words[2] });
    bench.showRun(words[2]);
    const bool read = QTest::qWaitFor([&bench] { return bench.watcher().status() && bench.watcher().telemetry() && !bench.cells().cells().empty(); }, kPatienceMs);
    if (!read)
        qWarning("The run was not read within a minute; pictures are taken all the same.");
    QTest::qWait(1000);
    Pictures(window, bench, words[3]).takeAll();
    return 0;
}
