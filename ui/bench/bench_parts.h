#pragma once

#include "core/config/run_config.h"
#include "core/telemetry/column_store.h"
#include "ui/bench/ui_bench.h"

#include <QTemporaryDir>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <functional>

namespace furrow {

/// Milliseconds of processor time of this process: what runs on one thread is measured so, because machines are shared.
class CpuClock {
public:
    double milliseconds() const { return static_cast<double>(std::clock() - start_) * 1e3 / CLOCKS_PER_SEC; }

private:
    std::clock_t start_ = std::clock();
};

/// Milliseconds on the wall: for what waits for other threads and processes.
class WallClock {
public:
    double milliseconds() const
    {
        return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start_).count();
    }

private:
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

double p95(std::vector<double> values);
/// Runs `work` some times after one warm-up and gives the p95 of its milliseconds.
double repeated(const std::function<void()>& work, int rounds = 40);
/// Lets the event loop run until `isSo`. @return whether it came to be in time
bool waitUntil(const std::function<bool()>& isSo, int patienceMs);
/// Lets the event loop run for this long.
void pass(int ms);

/// Where the groups of the benchmark put their figures, and the folders they share.
class Bench {
public:
    std::vector<BenchResult> results;
    void add(const char* name, double value, const char* unit, double target);
    /// A group that could not be measured: one row that says so and misses its target.
    void fail(const char* name, const char* unit, double target);

    QString folder() const { return dir_.path(); }
    /// Telemetry of an invented run of `events` steps; generated once per shape.
    std::filesystem::path telemetry(std::int64_t events, int workers);
    /// A run folder below <folder>/NAME/runs, made as a person's would be and never started. Empty: it could not be
    /// made.
    std::filesystem::path runFolder(const QString& workspace, const std::string& name);
    /// A run that trains many chunks a second and never comes to an end.
    static RunConfig endlessConfig();

private:
    QTemporaryDir dir_;
};

// The groups. Those of the window need the program `furrow` beside this one, those of the run also `furrowctl` and
// `furrow-worker`.
void benchLive(Bench& bench, int seconds);
void benchStart(Bench& bench);
void benchMemory(Bench& bench);
void benchTable(Bench& bench);
void benchTruth(Bench& bench);
void benchRobust(Bench& bench);
void benchExact(Bench& bench);

} // namespace furrow
