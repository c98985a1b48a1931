#pragma once

#include "ui/bridge/run_commands.h"
#include "ui/bridge/run_feed.h"
#include "core/run/audit/run_audit.h"
#include "ui/shell/notifier.h"
#include "ui/shell/perspectives.h"

#include <QMainWindow>

class QComboBox;
class QHBoxLayout;
class QDockWidget;
class QLabel;
class QMenu;
class QPushButton;
class QScrollArea;
class QStackedWidget;
class QToolBar;
class QToolButton;

namespace furrow {

class Actions;
class Appearance;
class AuditDock;
class ComparePage;
class DockRoom;
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
    enum class Perspective { Launch, Watch, InspectData, Compare };
    MainWindow(Workbench& bench, Appearance& appearance, bool remember, QWidget* parent = nullptr);
    ~MainWindow() override;

    void showPerspective(Perspective perspective);
    Perspective perspective() const { return shown_; }
    /// Where the docks are, and which of those that share a place is in front.
    QByteArray docks() const;
    void restoreDocks(const QByteArray& docks);
    RunView& runView() { return *runView_; }
    EventsDock& events() { return *events_; }
    NewRunPage& newRunPage(); ///< made when first asked for
    ComparePage& comparePage(); ///< made when first asked for

protected:
    void changeEvent(QEvent* event) override;
    void closeEvent(QCloseEvent* event) override;
    bool event(QEvent* event) override;
    void showEvent(QShowEvent* event) override;

private:
    void buildMenus();
    void buildToolbar();
    void buildCentre();
    void buildDocks();
    QDockWidget* addDock(const QString& name, const QString& title, QWidget* widget, Qt::DockWidgetArea area);
    void addCoverButtons();
    void buildStatusLine();
    void connectActions();
    void connectRunActions();
    void connectViewActions();
    void connectBench();
    void connectCommands();
    void resetLayout();
    void raiseInspector();
    void showDocks(bool shown);
    void showCentre();
    void takeStatus(const StatusPtr& status);
    void enableVerbs();
    void showState();
    void refreshLanguageMenus();
    void fillPerspectives();
    void choosePerspective(int index);
    void savePerspective();
    void removePerspective();
    void showArchived();
    void connectLibraryActions();
    void connectAlerts();

    // what actions do
    void resume();
    void offerResume(const QString& folder, const PlanPtr& plan, const RunConfig& config);
    void offerTakingForward(const QString& folder, const ResumePlan& plan);
    void merge();
    void audit(AuditDepth depth);
    void kill();
    std::vector<ChunkId> selectedWhere(bool (*isMeant)(ChunkState)) const; ///< of the selected chunks
    void leaveChunksOut();
    void retryPoisoned();
    void acceptPoisoned();
    void showWhy();
    void clone();
    void openRunFolder();
    void openWorkspace();
    void savePicture();
    void savePage();
    void saveChart();
    void saveTable();
    void tellSaved(bool saved, const QString& file);
    void exportRun();
    void showSelectionInLog();
    void showRunMenu(const QPoint& globalPosition);
    void startDemonstration();
    void showBrain();
    void editNotes();
    void setArchived(bool archived);
    void moveToTrash();
    void addTag(const QStringList& folders);
    void trashAll(const QStringList& folders);
    void takeOverSelection();
    void showRunsMenu(const QStringList& folders, const QPoint& globalPosition);
    void restoreFromTrash();
    void editAlerts();
    void editQuarantine();
    const RunLine* shownLine() const; ///< null: the library does not have it yet
    void goToAttempt(int step);
    void findInPage();
    void openPalette();
    void findRun();
    void showAbout();
    void tell(const QString& sentence, bool bad = false);
    /// What could not be done. It goes with the next action, and when the run or the queue is not as it was any more.
    void refuse(const QString& sentence);
    /// It was said a moment ago: nothing takes its place yet.
    bool isRefusalFresh() const;
    void dropRefusal();
    void reviewRefusal();
    /// Stays until a person has read it, has resumed the run that it says has ended, or looks at another one.
    void warn(const Alert& alert);
    void dropWarning();
    void reviewWarning();

    Workbench& bench_;
    Appearance& appearance_;
    bool remember_;
    OwnPerspectives perspectives_;
    Notifier notifier_;
    Actions* actions_ = nullptr;
    QMenu* docksMenu_ = nullptr;
    QToolBar* toolbar_ = nullptr;
    StateGlyph* mark_ = nullptr;
    QLabel* runName_ = nullptr;
    QLabel* stateWord_ = nullptr;
    QComboBox* perspective_ = nullptr;
    QHBoxLayout* coverButtons_ = nullptr; ///< of the docks that lie over the page of a narrow window
    QStackedWidget* centre_ = nullptr;
    QWidget* welcome_ = nullptr;
    RunView* runView_ = nullptr;
    NewRunPage* newRun_ = nullptr;
    ComparePage* compare_ = nullptr;
    QScrollArea* compareRoom_ = nullptr;
    QScrollArea* newRunRoom_ = nullptr;
    LibraryDock* library_ = nullptr;
    EventsDock* events_ = nullptr;
    AuditDock* audit_ = nullptr;
    QDockWidget* auditDock_ = nullptr;
    QDockWidget* queueDock_ = nullptr;
    QDockWidget* libraryDock_ = nullptr;
    QDockWidget* inspectorDock_ = nullptr;
    std::vector<QDockWidget*> docks_;
    DockRoom* room_ = nullptr;
    QByteArray factoryState_;
    QByteArray stateBeforeLaunch_;
    QLabel* workspaceText_ = nullptr;
    QLabel* writerText_ = nullptr;
    QLabel* paceText_ = nullptr;
    QLabel* densityText_ = nullptr; ///< while charts are in sight
    QLabel* noteText_ = nullptr;
    QPushButton* noteRead_ = nullptr; ///< there while a warning waits to be read
    QString warning_; ///< the newest one that was not read; other notes only cover it for their time
    AlertKind warnedOf_ = AlertKind::Finished; ///< what that is about
    std::int64_t warnedNs_ = 0; ///< the time of it
    /// On what a refusal may rest.
    struct Standing {
        RunState state = RunState::Unknown;
        std::int64_t attempt = 0;
        bool isSupervised = false;
        QueueView queue;
        bool operator==(const Standing&) const = default;
    };
    Standing standing() const;
    bool isRefusal_ = false; ///< of what noteText_ says
    std::optional<Standing> refusedOn_; ///< absent: it rests on neither run nor queue
    std::int64_t refusedNs_ = 0; ///< monotonic
    QToolButton* themeButton_ = nullptr;
    QToolButton* languageButton_ = nullptr;
    bool arranged_ = false; // docks were fitted to the first size, or are as a person left them
    bool busy_ = false; // a verb is on its way
    QString retried_; // the chunks that were last asked to be tried again; "": all that are poisoned
    Perspective shown_ = Perspective::Watch; // which centre is shown
    QStringList compared_; // what was selected in the library when the comparison was last opened
    bool hadRun_ = false; // a run of this workspace was shown
    bool isWhole() const
    {
        return shown_ == Perspective::Launch || shown_ == Perspective::Compare;
    } // a page that needs no docks
};

} // namespace furrow
