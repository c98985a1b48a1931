#include "ui/shell/console.h"

#include "core/base/format.h"
#include "core/base/log.h"
#include "core/base/path.h"
#include "core/base/resources.h"
#include "ui/models/workbench.h"
#include "ui/parts/overflow.h"
#include "ui/shell/appearance.h"
#include "ui/shell/events_dock.h"
#include "ui/shell/main_window.h"
#include "ui/shell/run_view.h"

#include <QCoreApplication>
#include <QDir>
#include <QFileInfo>
#include <QTimer>

namespace furrow {

namespace {

constexpr int kMostPictureTries = 8;
constexpr int kPictureDelayMs = 2500; // the first look at a run, its telemetry and its map are drawn by then

} // namespace

Console::Console(const ConsoleOptions& options, QObject* parent)
    : QObject(parent)
    , options_(options)
    , appearance_(std::make_unique<Appearance>(!options.safeMode))
    , bench_(std::make_unique<Workbench>(options.workspace))
{
    registerBridgeTypes();
    if (options.theme)
        appearance_->setTheme(*options.theme);
    if (options.language)
        appearance_->setLanguage(*options.language);
    // A newcomer's form is ready to launch: the small text that ships with the program is its data.
    const auto sample = resourcePath("sample/tinyshakespeare.txt");
    if (sample.ok())
        bench_->form().setText(*findSetting("data"), QString::fromStdString(utf8Text(sample.value())));
    connect(appearance_.get(), &Appearance::languageChanged, this, [this] {
        QTimer::singleShot(0, this, [this] { // not from inside the menu of the window that goes away
            const QByteArray geometry = window_->saveGeometry();
            const QByteArray docks = window_->docks();
            const auto perspective = window_->perspective();
            const int page = window_->runView().currentPage();
            const EventsDock::Place place = window_->events().place();
            bench_->retranslate();
            makeWindow();
            window_->restoreGeometry(geometry);
            window_->restoreDocks(docks);
            window_->showPerspective(perspective);
            window_->runView().showPage(page);
            window_->show();
            window_->events().goBackTo(place);
        });
    });
    if (remembers()) {
        bench_->autoResume().remember();
        bench_->rememberRuns();
    }
    makeWindow();
}

Console::~Console()
{
    logInfo("The interface was busy for " + formatNumber(gaps_.p99(), 0) + " ms at a stretch (99 of 100), for "
        + formatNumber(gaps_.longest(), 0) + " ms at most.");
}

void Console::makeWindow()
{
    window_ = std::make_unique<MainWindow>(*bench_, *appearance_, remembers());
    window_->resize(options_.size.isEmpty() ? window_->size().boundedTo(roomOnScreen(*window_)) : options_.size);
}

void Console::show()
{
    window_->installEventFilter(this);
    window_->show();
    logFirstStatus();
    logListing();
    bench_->start(options_.runs);
    if (!options_.runs.isEmpty())
        bench_->showRun(options_.runs.front());
    else if (options_.attach)
        attachToLiving();
    showAsked();
    if (!options_.screenshot.isEmpty())
        QTimer::singleShot(kPictureDelayMs, this, &Console::takePicture);
}

// The first frame is drawn when the first update request of the window was handled.
bool Console::eventFilter(QObject* watched, QEvent* event)
{
    if (watched == window_.get() && event->type() == QEvent::Paint) {
        window_->removeEventFilter(this);
        QTimer::singleShot(0, this, [this] { logInfo("The window was painted " + sinceStart() + "."); });
    }
    return QObject::eventFilter(watched, event);
}

std::string Console::sinceStart() const
{
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - options_.begun;
    return formatNumber(took.count(), 0) + " ms after the start";
}

// How long a person who reopens the console waits until the truth about the run is on the screen.
void Console::logFirstStatus()
{
    connect(
        &bench_->watcher(), &RunWatcher::statusRead, this,
        [this](const StatusPtr& status) {
            const std::string name = utf8Text(pathFromUtf8(bench_->watcher().folder().toStdString()).filename());
            logInfo("The run " + name + " is shown, " + toString(status->state) + ", " + sinceStart() + ".");
        },
        Qt::SingleShotConnection);
}

void Console::logListing()
{
    connect(&bench_->scanner(), &WorkspaceScanner::scanned, this, [this](const RunLinesPtr& lines) {
        if (lines->size() != runsListed_)
            logInfo("The library lists " + std::to_string(lines->size()) + " runs, " + sinceStart() + ".");
        runsListed_ = lines->size();
    });
}

void Console::showAsked()
{
    static_assert(static_cast<int>(StartPage::Chat) == RunView::Chat && RunView::Chat == RunView::kPageCount - 1);
    if (options_.page == StartPage::New)
        window_->showPerspective(MainWindow::Perspective::Launch);
    else if (options_.page == StartPage::Compare)
        window_->showPerspective(MainWindow::Perspective::Compare);
    else if (options_.page)
        window_->runView().showPage(static_cast<int>(*options_.page));
}

void Console::attachToLiving()
{
    connect(
        &bench_->scanner(), &WorkspaceScanner::scanned, this,
        [this](const RunLinesPtr& lines) {
            for (const RunLine& line : *lines) {
                if (line.workersAlive > 0) {
                    bench_->showRun(line.folder);
                    return;
                }
            }
        },
        Qt::SingleShotConnection);
}

QString screenshotProblem(const QString& file)
{
    const QFileInfo there(file);
    return there.exists() || there.isSymLink() ? QStringLiteral("%1 exists already. Name a new file.").arg(file)
                                               : QString();
}

void Console::takePicture()
{
    // A slow machine has not read the run yet: a picture of an empty window helps nobody.
    RunWatcher& watcher = bench_->watcher();
    const bool isWhole = watcher.status() && watcher.telemetry();
    const bool comesIn = isWhole && !watcher.isTelemetryWhole(); // a part of the curves would pass for all of them
    const bool stillReading
        = !watcher.folder().isEmpty() && !isWhole && watcher.problem().empty() && pictureTries_++ < kMostPictureTries;
    if (comesIn || stillReading) {
        QTimer::singleShot(kPictureDelayMs, this, &Console::takePicture);
        return;
    }
    const bool saved = window_->grab().save(options_.screenshot);
    QCoreApplication::exit(saved ? 0 : 1);
}

} // namespace furrow
