#pragma once

#include <QAction>
#include <QObject>
#include <vector>

class QMenuBar;
class QMenu;
class QWidget;

namespace furrow {

/// Every action of the console, made once: menus, toolbar, palette and the sheet of shortcuts all show these.
class Actions : public QObject {
    Q_OBJECT
public:
    enum class Menu { File, Edit, View, Run, Data, Tools, Help };
    /// @param window  shortcuts work anywhere inside it
    explicit Actions(QWidget* window);

    QAction* newRun;
    QAction* cloneRun;
    QAction* openRun;
    QAction* openWorkspace;
    QAction* compare;
    QAction* exportRun; ///< report, measurements, model, bundle
    QAction* savePage;
    QAction* saveChart;
    QAction* saveTable;
    QAction* savePicture;
    QAction* quit;

    QAction* findRun;
    QAction* findInPage;
    QAction* clearSelection;

    QAction* live;
    QAction* replay; ///< lets time pass in a moment that is replayed
    QAction* fit;
    QAction* logY;
    QAction* zoomBack;
    std::vector<QAction*> pages; ///< in tab order
    QAction* savePerspective;
    QAction* removePerspective;
    QAction* resetLayout;
    QAction* foldDocks; ///< checkable: of the lower docks only the tabs are left
    QAction* fullScreen;

    QAction* pause; ///< also continues
    QAction* stop;
    QAction* kill;
    QAction* resume; ///< also starts
    QAction* stopAfterBlock;
    QAction* stopAfterEpoch;
    QAction* saveNow;
    QAction* evaluateNow;
    QAction* merge; ///< replicas into one base
    QAction* markFinished;
    QAction* autoResume; ///< checkable: this run resumes by itself after an interruption
    QAction* why;
    QAction* audit; ///< ledger, newest weights and blocks
    QAction* auditLedger; ///< the ledger alone
    QAction* enqueue;
    QAction* brain; ///< the lineage of the run's weights
    QAction* editNotes;
    QAction* archive; ///< checkable
    QAction* moveToTrash;
    QAction* restoreFromTrash;
    QAction* dropRun;

    QAction* previousAttempt;
    QAction* nextAttempt;
    QAction* previousAlert;
    QAction* nextAlert;
    QAction* showInChart;
    QAction* showInMap;
    QAction* showInLog;
    QAction* showSamples;
    QAction* quarantine; ///< the list of what later runs leave out
    QAction* quarantineChunks; ///< puts the selected chunks on it
    QAction* excludeChunks; ///< of the selected ones those that are not trained yet, from the run that is shown
    QAction* retryChunks; ///< of the poisoned chunks the selected ones, else all
    QAction* acceptChunks; ///< the same

    QAction* palette;
    QAction* queue; ///< shows the queue
    QAction* alerts;
    QAction* copyPath;
    QAction* openFolder;

    QAction* shortcuts;
    QAction* help;
    QAction* words;
    QAction* demonstration;
    QAction* about;

    /// Fills a menu bar. Returns the menu so that submenus can be added.
    void fill(QMenuBar* bar);
    QMenu* menu(Menu menu) const { return menus_[static_cast<std::size_t>(menu)]; }
    static QString title(Menu menu);
    struct Entry {
        Menu menu;
        QAction* action;
    };
    const std::vector<Entry>& all() const { return all_; }
    /// @param whyNot  what a person is told while it is not allowed, e.g. "the run trains already"
    static void allow(QAction& action, bool allowed, const QString& whyNot);
    static QString whyNot(const QAction& action); ///< "" of one that is allowed
    /// Adds an action made elsewhere (a dock's toggle) to the palette, and to a submenu of `menu`.
    void addForeign(Menu menu, QMenu& submenu, QAction* action);

private:
    QAction* add(Menu menu, const QString& text, const QString& icon, const QKeySequence& key, const QString& tip);
    void addSeparator(Menu menu);
    void makeFile();
    void makeEdit();
    void makeView();
    void makeRun();
    void makeData();
    void makeTools();

    QWidget* window_;
    std::vector<Entry> all_; // a null action is a separator
    std::vector<QMenu*> menus_;
};

} // namespace furrow
