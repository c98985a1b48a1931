#include "ui/shell/actions.h"

#include "ui/models/auto_resume.h"
#include "ui/shell/mnemonics.h"
#include "ui/theme/theme.h"

#include <QMenu>
#include <QMenuBar>

namespace furrow {

namespace {

constexpr const char* kWhyNot = "whyNot";

} // namespace

Actions::Actions(QWidget* window)
    : QObject(window)
    , window_(window)
{
    makeFile();
    makeEdit();
    makeView();
    makeRun();
    makeData();
    makeTools();
}

QString Actions::title(Menu menu)
{
    switch (menu) {
    case Menu::File: return tr("&File");
    case Menu::Edit: return tr("&Edit");
    case Menu::View: return tr("&View");
    case Menu::Run: return tr("&Run");
    case Menu::Data: return tr("&Data");
    case Menu::Tools: return tr("&Tools");
    case Menu::Help: return tr("&Help");
    }
    return {};
}

QAction* Actions::add(Menu menu, const QString& text, const QString& icon, const QKeySequence& key, const QString& tip)
{
    auto* action = new QAction(text, window_);
    if (!icon.isEmpty())
        action->setIcon(theme().icon(icon));
    action->setShortcut(key);
    action->setShortcutContext(Qt::WindowShortcut);
    if (!tip.isEmpty()) {
        action->setToolTip(tip);
        action->setStatusTip(tip);
    }
    window_->addAction(action); // also works while its menu was never opened
    all_.push_back({ menu, action });
    return action;
}

void Actions::addSeparator(Menu menu) { all_.push_back({ menu, nullptr }); }

void Actions::addForeign(Menu menu, QMenu& submenu, QAction* action)
{
    all_.push_back({ menu, action });
    submenu.addAction(action);
}

void Actions::allow(QAction& action, bool allowed, const QString& whyNot)
{
    action.setEnabled(allowed);
    action.setProperty(kWhyNot, whyNot);
}

QString Actions::whyNot(const QAction& action)
{
    if (action.isEnabled())
        return {};
    const QString why = action.property(kWhyNot).toString();
    return why.isEmpty() ? tr("not possible now") : why;
}

void Actions::makeFile()
{
    newRun = add(Menu::File, tr("New run"), QStringLiteral("plus"), QKeySequence::New,
        tr("Choose data, model and devices, and start training"));
    cloneRun = add(Menu::File, tr("New run from this one…"), {}, QKeySequence(QStringLiteral("Ctrl+Shift+N")),
        tr("Start a new run with the configuration of the one shown"));
    addSeparator(Menu::File);
    openRun = add(
        Menu::File, tr("Open run folder…"), {}, QKeySequence::Open, tr("Show a run that lies outside the workspace"));
    openWorkspace = add(Menu::File, tr("Open workspace…"), {}, QKeySequence(QStringLiteral("Ctrl+Shift+O")), {});
    compare
        = add(Menu::File, tr("Compare runs…"), QStringLiteral("compare"), QKeySequence(QStringLiteral("Ctrl+Shift+D")),
            tr("All runs as a table; compare two to eight of them side by side"));
    addSeparator(Menu::File);
    exportRun = add(Menu::File, tr("Export run…"), QStringLiteral("export"), {},
        tr("A report, the measurements, the model, or a bundle for developers"));
    savePage = add(
        Menu::File, tr("Save page as picture…"), QStringLiteral("save"), {}, tr("The shown page as PNG, SVG or PDF"));
    saveChart = add(Menu::File, tr("Save loss chart as picture…"), {}, QKeySequence(QStringLiteral("Ctrl+Shift+E")),
        tr("As PNG, SVG or PDF"));
    saveTable = add(Menu::File, tr("Save loss chart as table…"), {}, QKeySequence(QStringLiteral("Ctrl+E")),
        tr("The visible points as CSV"));
    savePicture
        = add(Menu::File, tr("Save picture of the window…"), {}, QKeySequence(QStringLiteral("Ctrl+Shift+S")), {});
    addSeparator(Menu::File);
    quit = add(Menu::File, tr("Quit"), {}, QKeySequence::Quit, tr("Close the console; training goes on"));
}

void Actions::makeEdit()
{
    findRun = add(Menu::Edit, tr("Filter runs"), {}, QKeySequence(QStringLiteral("Ctrl+Shift+F")), {});
    findInPage = add(Menu::Edit, tr("Find on this page"), {}, QKeySequence::Find, {});
    clearSelection = add(Menu::Edit, tr("Clear selection"), {}, QKeySequence(Qt::Key_Escape), {});
}

void Actions::makeView()
{
    live = add(Menu::View, tr("Live"), QStringLiteral("live"), QKeySequence(Qt::Key_Space),
        tr("Follow the run. Off freezes the views; the run goes on"));
    live->setCheckable(true);
    live->setChecked(true);
    replay = add(Menu::View, tr("Replay"), QStringLiteral("play"), QKeySequence(QStringLiteral("Ctrl+Space")),
        tr("Play back the history of the run"));
    replay->setCheckable(true);
    fit = add(Menu::View, tr("Fit"), QStringLiteral("fit"), QKeySequence(Qt::Key_F), tr("Show everything"));
    logY = add(Menu::View, tr("Logarithmic loss axis"), {}, QKeySequence(Qt::Key_L), {});
    logY->setCheckable(true);
    zoomBack = add(Menu::View, tr("Previous zoom"), {}, QKeySequence(QStringLiteral("Alt+Left")), {});
    addSeparator(Menu::View);
    const QStringList titles { tr("Overview"), tr("Charts"), tr("Coverage"), tr("Workers"), tr("Config"), tr("Log"),
        tr("Data"), tr("Sampling"), tr("Chat") };
    for (int i = 0; i < titles.size(); ++i)
        pages.push_back(add(Menu::View, titles[i], {}, QKeySequence(QStringLiteral("Ctrl+%1").arg(i + 1)), {}));
    addSeparator(Menu::View);
    savePerspective
        = add(Menu::View, tr("Save perspective…"), {}, {}, tr("Save docks and page under a name of your own"));
    removePerspective = add(Menu::View, tr("Remove this perspective"), {}, {}, {});
    foldDocks = add(Menu::View, tr("Collapse the lower docks"), {}, QKeySequence(QStringLiteral("Ctrl+J")),
        tr("Only their tabs are left. A double click on a tab does the same, a click on it brings them back"));
    foldDocks->setCheckable(true);
    resetLayout = add(Menu::View, tr("Reset layout"), {}, {}, tr("Put every dock back in its place"));
    fullScreen = add(Menu::View, tr("Full screen"), {}, QKeySequence(Qt::Key_F11), {});
    fullScreen->setCheckable(true);
    addSeparator(Menu::View);
}

void Actions::makeRun()
{
    pause = add(Menu::Run, tr("Pause"), QStringLiteral("pause"), QKeySequence(QStringLiteral("Ctrl+P")),
        tr("Pause at the end of the chunks in training"));
    stop = add(Menu::Run, tr("Stop"), QStringLiteral("stop"), QKeySequence(QStringLiteral("Ctrl+Shift+X")),
        tr("Stop after a checkpoint"));
    stopAfterBlock = add(Menu::Run, tr("Stop after this block"), {}, {}, tr("Stop when the next block is complete"));
    stopAfterEpoch = add(Menu::Run, tr("Stop after this epoch"), {}, {}, tr("Stop at the end of the current epoch"));
    kill = add(Menu::Run, tr("Kill…"), {}, {}, tr("End all processes of the run now"));
    kill->setIcon(theme().icon(QStringLiteral("kill"), Token::Error));
    resume = add(Menu::Run, tr("Resume…"), QStringLiteral("resume"), QKeySequence(QStringLiteral("Ctrl+R")),
        tr("Look at what a resume would do, then go on"));
    addSeparator(Menu::Run);
    saveNow = add(Menu::Run, tr("Save checkpoint now"), {}, QKeySequence::Save, {});
    evaluateNow = add(Menu::Run, tr("Evaluate now"), {}, {},
        tr("Each worker evaluates its weights on the held-out text at its next step"));
    merge = add(Menu::Run, tr("Merge replicas…"), {}, {},
        tr("Make one model of what the workers trained separately, and compare the losses"));
    markFinished
        = add(Menu::Run, tr("Mark finished"), {}, {}, tr("Accept the run as it is. It can still be resumed later."));
    autoResume = add(Menu::Run, tr("Resume by itself when interrupted"), {}, {},
        tr("Up to %1 times, with longer waits each time").arg(AutoResume::kLimit));
    autoResume->setCheckable(true);
    why = add(Menu::Run, tr("Why this state?"), {}, QKeySequence(QStringLiteral("Ctrl+I")),
        tr("The evidence for the state of the run"));
    audit = add(Menu::Run, tr("Audit the run"), {}, {},
        tr("The proof: each chunk is in the weights once, and weights and blocks are as recorded, by their SHA-256"));
    auditLedger = add(Menu::Run, tr("Audit the ledger alone"), {}, {},
        tr("The same proof in seconds; weights and blocks are not inspected"));
    addSeparator(Menu::Run);
    enqueue = add(Menu::Run, tr("Put into the queue"), QStringLiteral("queue"), {},
        tr("Starts by itself when its devices are free"));
    brain = add(Menu::Run, tr("Brain…"), {}, QKeySequence(QStringLiteral("Ctrl+B")),
        tr("Its weights, and the runs they came from"));
    editNotes = add(Menu::Run, tr("Tags and note…"), QStringLiteral("tag"), QKeySequence(QStringLiteral("Ctrl+T")), {});
    archive = add(Menu::Run, tr("Archived"), {}, {}, tr("Leave this run out of the library"));
    archive->setCheckable(true);
    moveToTrash = add(Menu::Run, tr("Move to trash…"), QStringLiteral("trash"), {},
        tr("Nothing is deleted; the folder moves inside the workspace"));
    dropRun = add(Menu::Run, tr("Leave out of the library"), {}, {},
        tr("For a run outside the workspace; its folder stays as it is"));
    restoreFromTrash = add(Menu::Run, tr("Restore from trash…"), {}, {}, {});
}

void Actions::makeData()
{
    previousAttempt = add(Menu::Data, tr("Previous attempt"), {}, QKeySequence(Qt::Key_BracketLeft), {});
    nextAttempt = add(Menu::Data, tr("Next attempt"), {}, QKeySequence(Qt::Key_BracketRight), {});
    addSeparator(Menu::Data);
    nextAlert = add(Menu::Data, tr("Next alert"), {}, QKeySequence(Qt::Key_J), {});
    previousAlert = add(Menu::Data, tr("Previous alert"), {}, QKeySequence(Qt::Key_K), {});
    addSeparator(Menu::Data);
    showInChart = add(Menu::Data, tr("Show selected chunk in the charts"), QStringLiteral("chart"),
        QKeySequence(QStringLiteral("Ctrl+Shift+C")), {});
    showInMap = add(Menu::Data, tr("Show selected chunk in the map"), QStringLiteral("map"),
        QKeySequence(QStringLiteral("Ctrl+Shift+M")), {});
    showInLog = add(Menu::Data, tr("Show selected chunk in the log"), QStringLiteral("log"),
        QKeySequence(QStringLiteral("Ctrl+Shift+L")), {});
    showSamples = add(Menu::Data, tr("Read samples of the selected chunk"), QStringLiteral("text"),
        QKeySequence(QStringLiteral("Ctrl+Shift+R")), {});
    addSeparator(Menu::Data);
    quarantineChunks = add(Menu::Data, tr("Quarantine selected chunks…"), QStringLiteral("quarantine"),
        QKeySequence(QStringLiteral("Ctrl+Shift+U")), tr("Leave them out of the next run"));
    excludeChunks = add(Menu::Data, tr("Leave selected chunks out of this run…"), {}, {},
        tr("Those that are not trained yet are not trained in this epoch, nor in later ones"));
    retryChunks = add(Menu::Data, tr("Try poisoned chunks again"), QStringLiteral("resume"), {},
        tr("Prepare and train them once more: those selected, otherwise all"));
    acceptChunks = add(Menu::Data, tr("Accept poisoned chunks…"), {}, {},
        tr("They stay untrained and are named, and the epoch can end without them: those selected, otherwise all"));
    quarantine
        = add(Menu::Data, tr("Quarantine list…"), {}, {}, tr("Chunks, samples and patterns that later runs leave out"));
}

void Actions::makeTools()
{
    palette = add(Menu::Tools, tr("Command palette"), QStringLiteral("search"), QKeySequence(QStringLiteral("Ctrl+K")),
        tr("Find and run any command"));
    addSeparator(Menu::Tools);
    queue = add(Menu::Tools, tr("Queue"), QStringLiteral("queue"), QKeySequence(QStringLiteral("Ctrl+Shift+Q")),
        tr("Runs that wait for their devices"));
    alerts = add(Menu::Tools, tr("Alerts…"), QStringLiteral("bell"), {}, tr("What is an alert, and who is told"));
    addSeparator(Menu::Tools);
    copyPath = add(Menu::Tools, tr("Copy path of the run"), QStringLiteral("copy"), {}, {});
    openFolder = add(Menu::Tools, tr("Open folder of the run"), QStringLiteral("folder"), {}, {});
    shortcuts = add(Menu::Help, tr("Shortcuts"), {}, QKeySequence(QStringLiteral("Ctrl+/")), {});
    help = add(Menu::Help, tr("Help"), QStringLiteral("help"), QKeySequence::HelpContents, {});
    words = add(Menu::Help, tr("What the words mean"), {}, {}, {});
    demonstration = add(
        Menu::Help, tr("Start demonstration run"), {}, {}, tr("Train a small text that comes with Furrow on the CPU"));
    addSeparator(Menu::Help);
    about = add(Menu::Help, tr("About Furrow"), {}, {}, {});
}

void Actions::fill(QMenuBar* bar)
{
    for (int i = 0; i <= static_cast<int>(Menu::Help); ++i)
        menus_.push_back(bar->addMenu(title(static_cast<Menu>(i))));
    for (QMenu* menu : menus_)
        connect(menu, &QMenu::aboutToShow, menu, [menu] { giveMnemonics(*menu); });
    for (const Entry& entry : all_) {
        if (entry.action == nullptr)
            menu(entry.menu)->addSeparator();
        else
            menu(entry.menu)->addAction(entry.action);
    }
}

} // namespace furrow
