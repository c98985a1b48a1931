// bench: figures of this machine. Each prints what was measured and how; tests/bench/README.md keeps the last table.

#include "app/furrowctl/command.h"
#include "core/base/process.h"

#include <chrono>

namespace furrow::ctl {

namespace {

/// Benchmarks of training run in furrow-worker, since it alone links libtorch.
int benchTrain(const std::vector<std::string>& arguments)
{
    ProcessOptions options;
    options.arguments = { "--role", "task", "--task", "bench" };
    options.arguments.insert(options.arguments.end(), arguments.begin(), arguments.end());
    auto worker = executablePath().parent_path() / "furrow-worker";
    worker += executablePath().extension();
    auto child = ChildProcess::start(worker, options);
    if (!child.ok())
        return fail(child.error());
    for (;;)
        if (const auto exit = child.value().wait(std::chrono::seconds(1)))
            return exit->signal != 0 ? kFailed : exit->exitCode;
}

} // namespace

void addBenchCommands(CLI::App& app, Chosen& chosen)
{
    auto* bench = app.add_subcommand("bench", "Measure this machine.");
    bench->require_subcommand(1);
    auto* train = bench->add_subcommand("train", "Tokens per second, time split and memory of a preset.");
    train->prefix_command();
    train->callback([&chosen, train] { chosen.action = [train] { return benchTrain(train->remaining()); }; });
}

} // namespace furrow::ctl
