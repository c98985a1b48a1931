#pragma once

#include "ui/shell/appearance.h"
#include "ui/shell/gui_gap_probe.h"

#include <QObject>
#include <QSize>
#include <QStringList>
#include <chrono>
#include <memory>
#include <optional>
#include <string>

namespace furrow {

class MainWindow;
class Workbench;

/// What the console can show first: a page of the run (RunView::Page), the form of a new run, the comparison.
enum class StartPage { Overview, Charts, Coverage, Workers, Config, Log, Data, Sampling, Chat, New, Compare };
template <>
inline constexpr std::array kClosedNames<StartPage> {
    ClosedName { StartPage::Overview, "overview" },
    ClosedName { StartPage::Charts, "charts" },
    ClosedName { StartPage::Coverage, "coverage" },
    ClosedName { StartPage::Workers, "workers" },
    ClosedName { StartPage::Config, "config" },
    ClosedName { StartPage::Log, "log" },
    ClosedName { StartPage::Data, "data" },
    ClosedName { StartPage::Sampling, "sampling" },
    ClosedName { StartPage::Chat, "chat" },
    ClosedName { StartPage::New, "new" },
    ClosedName { StartPage::Compare, "compare" },
};

/// What the command line asks of the console.
struct ConsoleOptions {
    QString workspace;
    QStringList runs; ///< folders to show; the first one is opened
    std::optional<ThemeKind> theme; ///< nothing: as before
    std::optional<Language> language;
    QString screenshot; ///< file; "": none
    std::optional<StartPage> page; ///< to show at first, for pictures
    std::chrono::steady_clock::time_point begun; ///< when the program began, for the log
    QSize size; ///< of the window; empty: as before
    bool attach = false; ///< show the newest living run
    bool safeMode = false; ///< forgets layout and appearance
};

/// Why the picture of --screenshot cannot go to `file`; "": it can. What is there is never replaced.
QString screenshotProblem(const QString& file);

/// The console as a program: appearance, workbench, and a window that is made anew when the language changes.
class Console : public QObject {
    Q_OBJECT
public:
    explicit Console(const ConsoleOptions& options, QObject* parent = nullptr);
    ~Console() override;
    void show();
    bool eventFilter(QObject* watched, QEvent* event) override;
    MainWindow& window() { return *window_; }
    Workbench& bench() { return *bench_; }

private:
    bool remembers() const
    {
        return !options_.safeMode && options_.screenshot.isEmpty();
    } ///< settings are read and written
    void makeWindow();
    std::string sinceStart() const;
    void logFirstStatus();
    void logListing();
    void showAsked();
    void attachToLiving();
    void takePicture();

    ConsoleOptions options_;
    GuiGapProbe gaps_; ///< in every build: what a person feels is in the log
    int pictureTries_ = 0;
    std::size_t runsListed_ = 0;
    std::unique_ptr<Appearance> appearance_;
    std::unique_ptr<Workbench> bench_;
    std::unique_ptr<MainWindow> window_;
};

} // namespace furrow
