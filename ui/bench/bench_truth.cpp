// What the console promises about real processes: a death is shown, a stop is shown and done, a console that comes back
// shows the run. Everything is measured on the wall, from the deed to what the window says.

#include "core/base/path.h"
#include "core/run/start/life_cycle.h"
#include "core/run/status/run_status.h"
#include "ui/bench/bench_parts.h"
#include "ui/models/words.h"
#include "ui/models/workbench.h"
#include "ui/shell/appearance.h"
#include "ui/shell/main_window.h"

#include <QAction>
#include <QCoreApplication>
#include <QLabel>
#include <QProcess>
#include <QRegularExpression>

namespace furrow {

namespace {

constexpr int kPatienceMs = 120'000;

struct Watched {
    Appearance appearance { false };
    Workbench bench;
    MainWindow window;

    explicit Watched(const QString& workspace)
        : bench(workspace)
        , window(bench, appearance, false)
    {
        appearance.setLanguage(Language::English);
        window.show();
        bench.start({});
    }
    bool says(const QString& word) const
    {
        const auto labels = window.findChildren<QLabel*>();
        return std::any_of(labels.begin(), labels.end(),
            [&word](const QLabel* label) { return label->isVisible() && label->text() == word; });
    }
    bool trains()
    {
        const StatusPtr& status = bench.watcher().status();
        if (!status || status->state != RunState::Running)
            return false;
        return std::any_of(status->workers.begin(), status->workers.end(),
            [](const WorkerStatus& w) { return w.alive && w.chunkBlock >= 0; });
    }
    /// One that lives now; null: none.
    const IncarnationRow* worker()
    {
        const TablesPtr& tables = bench.watcher().tables();
        if (!tables)
            return nullptr;
        const auto found = std::find_if(tables->incarnations.begin(), tables->incarnations.end(),
            [](const IncarnationRow& row) { return row.live && row.worker == 0 && isAlive(row.process); });
        return found == tables->incarnations.end() ? nullptr : &*found;
    }
    /// Every process of the run that is alive now.
    std::vector<ProcessIdentity> processes()
    {
        std::vector<ProcessIdentity> found;
        const TablesPtr& tables = bench.watcher().tables();
        if (!tables)
            return found;
        for (const IncarnationRow& row : tables->incarnations)
            found.push_back(row.process);
        for (const auto& process : { tables->totals.supervisor, tables->totals.feeder }) {
            if (process)
                found.push_back(*process);
        }
        std::erase_if(found, [](const ProcessIdentity& process) { return !isAlive(process); });
        return found;
    }
};

double until(const std::function<bool()>& isSo)
{
    const WallClock clock;
    return waitUntil(isSo, kPatienceMs) ? clock.milliseconds() : -1;
}

/// Optimiser steps that a worker made and no line of telemetry says.
std::int64_t missingSteps(const TelemetrySnapshot& snapshot)
{
    std::int64_t missing = 0;
    for (std::size_t i = 0; i < snapshot.stretches.size(); ++i) {
        const Stretch& stretch = snapshot.stretches[i];
        if (stretch.size() > 1) {
            const double first = snapshot.xAt(i, 0, XAxis::WorkerStep);
            const double last = snapshot.xAt(i, stretch.size() - 1, XAxis::WorkerStep);
            missing += static_cast<std::int64_t>(last - first) + 1 - static_cast<std::int64_t>(stretch.size());
        }
    }
    return missing;
}

/// Milliseconds until a program that is started now shows the run.
double attached(const QString& workspace)
{
    QProcess program;
    program.setProcessChannelMode(QProcess::MergedChannels);
    program.start(QCoreApplication::applicationDirPath() + QStringLiteral("/furrow"),
        { QStringLiteral("--safe-mode"), QStringLiteral("--size"), QStringLiteral("1600"), QStringLiteral("1000"),
            QStringLiteral("--lang"), QStringLiteral("en"), QStringLiteral("--attach"), QStringLiteral("--workspace"),
            workspace });
    const QRegularExpression wanted(QStringLiteral("is shown, running, (\\d+) ms after"));
    QString said;
    double took = -1;
    const WallClock clock;
    while (took < 0 && clock.milliseconds() < kPatienceMs && program.state() != QProcess::NotRunning) {
        program.waitForReadyRead(100);
        said += QString::fromUtf8(program.readAll());
        if (const auto match = wanted.match(said); match.hasMatch())
            took = match.captured(1).toDouble();
    }
    program.kill(); // as hard as it can be
    program.waitForFinished();
    return took;
}

void addOr(Bench& bench, const char* name, double ms, double target)
{
    if (ms < 0)
        bench.fail(name, "ms", target);
    else
        bench.add(name, ms, "ms", target);
}

} // namespace

void benchTruth(Bench& bench)
{
    const auto folder = bench.runFolder(QStringLiteral("truth"), "truth");
    registerBridgeTypes();
    Watched watched(bench.folder() + QStringLiteral("/truth"));
    const QString run = QString::fromStdString(utf8Text(folder));
    watched.bench.showRun(run);
    const auto begin = [&] {
        const auto config = currentConfig(RunPaths(folder));
        if (!config.ok())
            return false;
        watched.bench.commands().start(run, config.value());
        return waitUntil([&] { return watched.trains() && watched.worker() != nullptr; }, kPatienceMs);
    };
    if (folder.empty() || !begin()) {
        bench.fail("worker killed, shown", "ms", 3000);
        return;
    }
    const int restarts = watched.bench.watcher().status()->workers.front().restarts;
    const int number = watched.worker()->worker;
    killProcess(watched.worker()->process);
    addOr(bench, "worker killed, shown", until([&] {
        for (const WorkerStatus& w : watched.bench.watcher().status()->workers) {
            if (w.worker == number && (!w.alive || w.restarts > restarts))
                return true;
        }
        return false;
    }),
        3000);
    double worst = -1;
    for (int life = 0; life < 3; ++life)
        worst = std::max(worst, attached(bench.folder() + QStringLiteral("/truth")));
    addOr(bench, "console killed, attached again", worst, 2000);
    waitUntil([&] { return watched.trains(); }, kPatienceMs);
    const auto actions = watched.window.actions();
    const auto stop = std::find_if(actions.begin(), actions.end(),
        [](const QAction* action) { return action->shortcut() == QKeySequence(QStringLiteral("Ctrl+Shift+X")); });
    (*stop)->trigger();
    addOr(bench, "stop, click to stopping shown", until([&] { return watched.says(stateWord(RunState::Stopping)); }),
        100);
    waitUntil([&] { return watched.processes().empty() && watched.bench.watcher().status()->supervisorPid == 0; },
        kPatienceMs);
    const SnapshotPtr& telemetry = watched.bench.watcher().telemetry();
    bench.add("steps without a line after a console was killed",
        telemetry ? static_cast<double>(missingSteps(*telemetry)) : -1, "steps", 0);
    if (!begin()) {
        bench.fail("kill, no process left", "ms", 2000);
        return;
    }
    const auto alive = watched.processes();
    watched.bench.commands().kill(run);
    addOr(bench, "kill, no process left", until([&] {
        return std::none_of(
            alive.begin(), alive.end(), [](const ProcessIdentity& process) { return isAlive(process); });
    }),
        2000);
}

} // namespace furrow
