#pragma once

#include "ui/bridge/run_commands.h"
#include "ui/bridge/run_feed.h"

#include <QMainWindow>

class QComboBox;
class QDockWidget;
class QLabel;
class QStackedWidget;
class QToolBar;
class QToolButton;

namespace furrow {

class Actions;
class Appearance;
class AuditDock;
class EventsDock;
class LibraryDock;
class NewRunPage;
class RunView;
class StateGlyph;
class Workbench;

/// The window: menus, toolbar, docks, the centre, and the status line. It switches and connects; pages do the work.
class MainWindow : public QMainWindow {
    Q_OBJECT
public:
    enum class Perspective { Launch, Watch, InspectData };
    MainWindow(Workbench& bench, Appearance& appearance, bool remember, QWidget* parent = nullptr);
    ~MainWindow() override;

    void showPerspective(Perspective perspective);
    RunView& runView() { return *runView_; }
    NewRunPage& newRunPage(); ///< made when first asked for

protected:
    void closeEvent(QCloseEvent* event) override;
    bool event(QEvent* event) override;

private:
    void buildMenus();
    void buildToolbar();
    void buildCentre();
    void buildDocks();
    QDockWidget* addDock(const QString& name, const QString& title, QWidget* widget, Qt::DockWidgetArea area);
    void buildStatusLine();
    void connectActions();
    void connectRunActions();
    void connectViewActions();
    void connectBench();
    void connectCommands();
    void resetLayout();
    void showDocks(bool shown);
    void showCentre();
    void takeStatus(const StatusPtr& status);
    void enableVerbs();
    void showState();
    void refreshLanguageMenus();

    // what actions do
    void resume();
    void offerResume(const QString& folder, const PlanPtr& plan, const RunConfig& config);
    void kill();
    void showWhy();
    void clone();
    void openRunFolder();
    void openWorkspace();
    void savePicture();
    void goToAttempt(int step);
    void findInPage();
    void showAbout();
    void tell(const QString& sentence, bool bad = false);

    Workbench& bench_;
    Appearance& appearance_;
    bool remember_;
    Actions* actions_ = nullptr;
    QToolBar* toolbar_ = nullptr;
    StateGlyph* mark_ = nullptr;
    QLabel* runName_ = nullptr;
    QLabel* stateWord_ = nullptr;
    QComboBox* perspective_ = nullptr;
    QStackedWidget* centre_ = nullptr;
    QWidget* welcome_ = nullptr;
    RunView* runView_ = nullptr;
    NewRunPage* newRun_ = nullptr;
    LibraryDock* library_ = nullptr;
    EventsDock* events_ = nullptr;
    std::vector<QDockWidget*> docks_;
    QByteArray factoryState_;
    QByteArray stateBeforeLaunch_;
    QLabel* workspaceText_ = nullptr;
    QLabel* writerText_ = nullptr;
    QLabel* paceText_ = nullptr;
    QLabel* noteText_ = nullptr;
    QToolButton* themeButton_ = nullptr;
    QToolButton* languageButton_ = nullptr;
    bool busy_ = false; // a verb is on its way
    bool launching_ = false; // the New run page is shown
};

} // namespace furrow
