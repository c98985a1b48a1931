// bench_telemetry [events] [folder]: cold open, cache write, cached open and memory of a synthetic run, in processor
// time.
#include "core/telemetry/run_telemetry.h"
#include "core/trials/synthetic.h"

#include <ctime>
#include <cstdio>
#include <cstdlib>

using namespace furrow;

namespace {

/// Processor time: the machine may be shared.
double milliseconds(std::clock_t since) { return static_cast<double>(std::clock() - since) * 1e3 / CLOCKS_PER_SEC; }

} // namespace

int main(int argc, char** argv)
{
    SyntheticRun run;
    run.steps = argc > 1 ? std::atoll(argv[1]) : 2'000'000;
    run.workers = 8;
    const std::filesystem::path folder = argc > 2 ? argv[2] : "bench-telemetry";
    auto now = std::clock();
    const auto totals = writeSyntheticTelemetry(folder, run);
    if (!totals.ok())
        return 1;
    std::printf("written   %8.1f ms  %lld lines  %.1f MB\n", milliseconds(now),
        static_cast<long long>(totals.value().lines), static_cast<double>(totals.value().bytes) / 1e6);
    now = std::clock();
    RunTelemetry cold(folder, folder / "columns.bin");
    cold.poll(1);
    auto snapshot = cold.snapshot();
    std::printf("first     %8.1f ms\n", milliseconds(now));
    while (cold.poll()) { }
    std::printf("read      %8.1f ms\n", milliseconds(now));
    now = std::clock();
    snapshot = cold.snapshot();
    std::printf("snapshot  %8.2f ms  %.1f MB  %lld steps %lld duplicates %lld bad\n", milliseconds(now),
        static_cast<double>(snapshot->memoryBytes()) / 1e6, static_cast<long long>(snapshot->counts.steps),
        static_cast<long long>(snapshot->counts.duplicates), static_cast<long long>(snapshot->counts.bad));
    now = std::clock();
    const auto saved = cold.saveCache();
    std::printf("cache     %8.1f ms  %s\n", milliseconds(now), saved.ok() ? "written" : saved.error().message.c_str());
    now = std::clock();
    RunTelemetry cached(folder, folder / "columns.bin");
    const bool loaded = cached.loadCache();
    cached.poll();
    std::printf("cached    %8.1f ms  %s\n", milliseconds(now), loaded ? "loaded" : "not loaded");
    return 0;
}
