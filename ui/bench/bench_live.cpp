// The window while a run goes on, and what it costs in memory: the telemetry of invented workers is written as real
// ones would.

#include "core/base/clock.h"
#include "core/base/process.h"
#include "core/run/folder/run_paths.h"
#include "core/telemetry/writer.h"
#include "ui/bench/bench_parts.h"
#include "ui/shell/gui_gap_probe.h"
#include "ui/charts/series_chart.h"
#include "ui/models/workbench.h"
#include "ui/shell/appearance.h"
#include "ui/shell/main_window.h"
#include "ui/shell/run_view.h"

#include <QCoreApplication>
#include <atomic>
#include <cmath>
#include <mutex>
#include <thread>

namespace furrow {

namespace {

constexpr int kWorkers = 8;
constexpr int kAttempt = 9; // beside those of an invented run
constexpr int kPatienceMs = 60'000;

/// Writes step lines of eight workers at a rate until it is destroyed.
class Feed {
public:
    Feed(const std::filesystem::path& folder, double perSecondAndWorker)
        : thread_([this, folder, perSecondAndWorker](
                      const std::stop_token& stop) { write(stop, folder, perSecondAndWorker); })
    {
    }
    std::int64_t written() const { return written_; }
    /// Processor time of the writing [ms]: that of the workers, which are no part of the console.
    double spentMs() const { return static_cast<double>(spentNs_) * 1e-6; }
    /// When the line with this number, counted over all workers, was written [ns, monotonic]; 0: not yet.
    std::int64_t whenWritten(std::size_t line) const
    {
        const std::scoped_lock lock(mutex_);
        return line < times_.size() ? times_[line] : 0;
    }

private:
    void write(const std::stop_token& stop, const std::filesystem::path& folder, double rate)
    {
        std::vector<TelemetryWriter> writers;
        for (int w = 0; w < kWorkers; ++w) {
            TelemetryHeader header;
            header.run = "synthetic-live";
            header.attempt = kAttempt;
            header.worker = w;
            auto writer = TelemetryWriter::open(
                folder / (std::to_string(kAttempt) + "-w" + std::to_string(w) + ".jsonl"), header, systemClock());
            if (!writer.ok())
                return;
            writers.push_back(std::move(writer).value());
        }
        const auto begin = std::chrono::steady_clock::now();
        for (std::int64_t step = 1; !stop.stop_requested(); ++step) {
            for (int w = 0; w < kWorkers; ++w) {
                StepRecord record;
                record.monotonicNs = systemClock().monotonicNs();
                record.step = step;
                record.chunk = 1 + step / 32;
                record.tokens = step * 1000;
                record.samples = step * 10;
                record.stepTokens = 1000;
                record.loss
                    = 2 + 2 / std::sqrt(static_cast<double>(step)) + 0.05 * std::sin(static_cast<double>(step * 7 + w));
                record.lr = 1e-3;
                record.gradientNorm = 1;
                record.tokensPerSecond = 1000 * rate;
                writers[static_cast<std::size_t>(w)].write(record);
                const std::scoped_lock lock(mutex_);
                times_.push_back(record.monotonicNs);
                ++written_;
            }
            timespec spent {};
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
            spentNs_ = spent.tv_sec * 1'000'000'000 + spent.tv_nsec;
            std::this_thread::sleep_until(begin
                + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                    std::chrono::duration<double>(static_cast<double>(step) / rate)));
        }
    }

    mutable std::mutex mutex_;
    std::vector<std::int64_t> times_; // guarded by mutex_
    std::atomic<std::int64_t> written_ = 0;
    std::atomic<std::int64_t> spentNs_ = 0;
    std::jthread thread_;
};

std::size_t stepsIn(const TelemetrySnapshot& snapshot)
{
    std::size_t steps = 0;
    for (const Stretch& stretch : snapshot.stretches)
        steps += stretch.size();
    return steps;
}

/// A window on a run, as the program opens it.
struct Shown {
    Appearance appearance { false };
    Workbench bench;
    MainWindow window;
    explicit Shown(const QString& workspace)
        : bench(workspace)
        , window(bench, appearance, false)
    {
        window.resize(1920, 1080);
        window.show();
        bench.start({});
    }
};

double residentMB() { return static_cast<double>(processMemory().residentBytes) / 1e6; }

/// Share of a core [%] that this process, less the workers, takes in the next seconds.
double coreShare(const Feed& feed, int ms)
{
    const double workersBefore = feed.spentMs();
    const CpuClock busy;
    const WallClock wall;
    pass(ms);
    return 100 * (busy.milliseconds() - (feed.spentMs() - workersBefore)) / wall.milliseconds();
}

} // namespace

void benchLive(Bench& bench, int seconds)
{
    const auto folder = bench.runFolder(QStringLiteral("live"), "live");
    if (folder.empty()) {
        bench.fail("live 8 workers x 125 events/s", "ms", 50);
        return;
    }
    registerBridgeTypes();
    Shown shown(bench.folder() + QStringLiteral("/live"));
    shown.bench.showRun(QString::fromStdString(folder.string()));
    shown.window.runView().showPage(RunView::Charts);
    const Feed feed(RunPaths(folder).telemetryFolder(), 125);
    const auto charts = shown.window.runView().page(RunView::Charts)->findChildren<SeriesChart*>();
    std::vector<double> delays;
    std::size_t seen = 0;
    // The newest line that a snapshot brings is on the screen when its charts were drawn.
    QObject::connect(charts.front(), &SeriesChart::replotted, &shown.window, [&] {
        if (!shown.bench.watcher().telemetry())
            return;
        const std::size_t steps = stepsIn(*shown.bench.watcher().telemetry());
        for (; seen < steps; ++seen) { // every line that is new in this frame waited since it was written
            if (const std::int64_t written = feed.whenWritten(seen); written != 0)
                delays.push_back(static_cast<double>(systemClock().monotonicNs() - written) * 1e-6);
        }
    });
    waitUntil([&] { return seen > 0; }, kPatienceMs);
    delays.clear();
    GuiGapProbe gaps;
    const double share = coreShare(feed, seconds * 1000);
    bench.add("live GUI gap, p99", gaps.p99(), "ms", 50);
    if (delays.empty())
        bench.fail("live data to pixel", "ms", 250);
    else
        bench.add("live data to pixel", p95(delays), "ms", 250);
    bench.add("live share of a core, visible", share, "%", 25);
    shown.window.showMinimized();
    pass(500);
    bench.add("live share of a core, minimised", coreShare(feed, std::min(seconds, 10) * 1000), "%", 5);
}

void benchMemory(Bench& bench)
{
    const auto folder = bench.runFolder(QStringLiteral("memory"), "memory");
    const auto telemetry = bench.telemetry(1'000'000, 8);
    if (folder.empty() || telemetry.empty()) {
        bench.fail("memory", "MB", 110);
        return;
    }
    registerBridgeTypes();
    Shown shown(bench.folder() + QStringLiteral("/empty"));
    pass(1500);
    const double idle = residentMB();
    bench.add("memory idle", idle, "MB", 110);
    std::error_code ignored;
    std::filesystem::remove_all(RunPaths(folder).telemetryFolder(), ignored);
    std::filesystem::copy(telemetry, RunPaths(folder).telemetryFolder(), ignored);
    shown.bench.showRun(QString::fromStdString(folder.string()));
    shown.window.runView().showPage(RunView::Charts);
    waitUntil(
        [&] { return shown.bench.watcher().telemetry() && stepsIn(*shown.bench.watcher().telemetry()) >= 1'000'000; },
        kPatienceMs);
    pass(1500);
    bench.add("memory of a 1M-event run beyond idle", residentMB() - idle, "MB", 50);
    // Eight hours of one step a second of each worker, in some seconds.
    constexpr std::int64_t kEvents = 8 * 3600 * kWorkers;
    const double before = residentMB() - static_cast<double>(shown.bench.watcher().telemetry()->memoryBytes()) / 1e6;
    {
        const Feed feed(RunPaths(folder).telemetryFolder(), 1500);
        waitUntil([&] { return feed.written() >= kEvents; }, 2 * kPatienceMs);
        pass(1500);
    }
    pass(1500);
    const double after = residentMB() - static_cast<double>(shown.bench.watcher().telemetry()->memoryBytes()) / 1e6;
    bench.add("memory, events of 8 h live, beyond data", after - before, "MB", 5);
}

} // namespace furrow
