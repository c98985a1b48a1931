#include "app/closed_option.h"
#include "app/describe.h"
#include "app/furrow_bench.h"
#include "app/given_values.h"
#include "app/number_range.h"
#include "core/base/disk_room.h"
#include "core/base/log.h"
#include "core/base/path.h"
#include "core/base/process.h"
#include "core/base/redact.h"
#include "core/base/resources.h"
#include "core/run/folder/run_file.h"
#include "core/trials/synthetic.h"
#include "ui/shell/console.h"
#include "ui/shell/settings_file.h"

#include <CLI/CLI.hpp>
#include <QApplication>
#include <QDir>
#include <QFileInfo>
#include <QTemporaryDir>
#include <algorithm>
#include <chrono>
#include <iostream>
#include <optional>

namespace {

struct Arguments {
    std::vector<std::string> runs;
    std::string workspace;
    std::optional<furrow::ThemeKind> theme;
    std::optional<furrow::Language> language;
    std::string screenshot;
    std::optional<furrow::StartPage> page;
    std::pair<int, int> size; ///< 0: not given
    std::string bench;
    std::string json;
    std::string synthetic;
    furrow::SyntheticRun invented;
    bool attach = false;
    bool safeMode = false;
};

void describe(CLI::App& app, Arguments& a)
{
    app.set_version_flag("--version", std::string("furrow ") + FURROW_VERSION);
    furrow::addDescribeOption(app);
    app.add_option("RUN", a.runs, "Run folders to show, or their run.json");
    app.add_option(
        "--workspace", a.workspace, "Folder of runs, cache and presets (else $FURROW_WORKSPACE, else ~/furrow)");
    app.add_flag("--attach", a.attach, "Show the newest run that is alive");
    furrow::addChoice<furrow::ThemeKind>(app, "--theme", a.theme, "dark, light or system");
    furrow::addChoice<furrow::Language>(app, "--lang", a.language, "en, es or zh_CN");
    app.add_flag("--safe-mode", a.safeMode, "Do not use or keep layout, theme and language");
    app.add_option("--screenshot", a.screenshot, "Save a picture of the window as PNG, then exit");
    furrow::addChoice<furrow::StartPage>(app, "--page", a.page, "Page to show first");
    app.add_option("--bench", a.bench, "Measure the interface: a name, or all; then exit");
    app.add_option("--json", a.json, "File for the figures of --bench");
    app.add_option(
        "--synthetic", a.synthetic, "Make a run folder with an invented run, for looking and measuring; then exit");
    app.add_option("--events", a.invented.steps, "Of --synthetic: optimiser steps of all workers")
        ->check(furrow::numberFrom(std::int64_t(1), std::int64_t(100'000'000)));
    app.add_option("--workers", a.invented.workers, "Of --synthetic")->check(furrow::numberFrom(1, 64));
    app.add_option("--seed", a.invented.seed, "Of --synthetic: the same seed gives the same run");
    app.add_option("--attempts", a.invented.attempts, "Of --synthetic: attempts, each but the last ends in a crash")
        ->check(furrow::numberFrom(1, 100));
    app.add_option("--spikes", a.invented.spikes, "Of --synthetic: spikes of the loss")
        ->check(furrow::numberFrom(0, 1000));
    app.add_option("--duplicates", a.invented.duplicates, "Of --synthetic: lines written twice")
        ->check(furrow::numberFrom(0, 1'000'000));
    app.add_option("--size", a.size, "Width and height of the window, as 1280,800 or 1280 800")
        ->delimiter(',')
        ->type_name("WIDTH,HEIGHT");
}

std::string workspaceOf(const Arguments& a)
{
    if (!a.workspace.empty())
        return a.workspace;
    if (const QString named = qEnvironmentVariable("FURROW_WORKSPACE"); !named.isEmpty())
        return named.toStdString();
    return (QDir::homePath() + QStringLiteral("/furrow")).toStdString();
}

/// A file manager opens a run by its run.json.
QString folderOfRun(const QString& named)
{
    const QFileInfo file(named);
    return QDir::cleanPath(
        file.isFile() && file.fileName() == QStringLiteral("run.json") ? file.absolutePath() : file.absoluteFilePath());
}

furrow::ConsoleOptions consoleOptions(const Arguments& a)
{
    furrow::ConsoleOptions options;
    options.workspace = QDir(QString::fromStdString(workspaceOf(a))).absolutePath();
    for (const std::string& run : a.runs)
        options.runs.append(folderOfRun(QString::fromStdString(run)));
    options.theme = a.theme;
    options.language = a.language;
    options.screenshot = QString::fromStdString(a.screenshot);
    options.page = a.page;
    if (a.size.first > 0 && a.size.second > 0)
        options.size = QSize(a.size.first, a.size.second);
    options.attach = a.attach;
    options.safeMode = a.safeMode;
    return options;
}

/// A bare system has none, and fontconfig would find no font but ours, and complain. Packages bring them along.
void useShippedFontSettings()
{
    const auto shipped = furrow::resourcePath("fonts.conf");
    if (shipped.ok() && !QFileInfo::exists(QStringLiteral("/etc/fonts/fonts.conf"))
        && !qEnvironmentVariableIsSet("FONTCONFIG_FILE"))
        qputenv("FONTCONFIG_FILE", QByteArray::fromStdString(furrow::utf8Text(shipped.value())));
}

} // namespace

int main(int argc, char** argv)
{
    furrow::makeFileSizeLimitAnError();
    const auto begun = std::chrono::steady_clock::now();
    // Options first: --help, --version and --synthetic need no display.
    CLI::App app("Furrow, a training console that trains every chunk of a data set exactly once per epoch", "furrow");
    Arguments arguments;
    describe(app, arguments);
    furrow::refuseEmptyValues(app);
    try {
        auto words = furrow::commandLineArguments(argc, argv);
        std::reverse(words.begin(), words.end()); // as CLI11 wants a vector
        app.parse(words);
    } catch (const CLI::ParseError& end) {
        if (end.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) // --help, --version
            return app.exit(end);
        std::cerr << "furrow: " << furrow::withoutSecrets(end.what()) << '\n';
        return 2;
    }
    furrow::startLog("console");
    if (!arguments.synthetic.empty())
        return makeSyntheticRun(arguments.synthetic, arguments.invented);
    useShippedFontSettings();
    QApplication qt(argc, argv);
    QApplication::setOrganizationName(QStringLiteral("furrow"));
    QApplication::setApplicationName(QStringLiteral("furrow"));
    QApplication::setApplicationVersion(QStringLiteral(FURROW_VERSION));
    QApplication::setDesktopFileName(QStringLiteral("org.furrow.Furrow"));
    if (!arguments.bench.empty())
        return runConsoleBench(arguments.bench, arguments.json);
    const QTemporaryDir otherSettings;
    if (const auto unusable = furrow::keepSettingsReadable(otherSettings.path()); !unusable.empty()) {
        furrow::logWarning(unusable);
        std::cerr << "furrow: " << unusable << '\n';
    }
    furrow::ConsoleOptions options = consoleOptions(arguments);
    if (const QString problem = furrow::screenshotProblem(options.screenshot);
        !options.screenshot.isEmpty() && !problem.isEmpty()) {
        std::cerr << "furrow: " << furrow::withoutSecrets(problem.toStdString()) << '\n';
        return 2;
    }
    if (!options.screenshot.isEmpty())
        for (const QString& run : options.runs) // a picture of an error would pass for one of the run
            if (const auto known = furrow::checkIsRun(furrow::RunPaths(furrow::pathFromUtf8(run.toStdString())));
                !known.ok()) {
                std::cerr << "furrow: " << furrow::withoutSecrets(known.error().message) << '\n';
                return 1;
            }
    options.begun = begun;
    furrow::Console console(options);
    console.show();
    return QApplication::exec();
}
