#include "app/furrowctl/command.h"
#include "app/furrowctl/terminal_output.h"
#include "core/base/process.h"

#include <algorithm>
#include <iostream>

namespace {

/// What is wrong with the first word, when it is no command; CLI11 would only say that a command is missing.
std::string unknownCommand(const CLI::App& app, const std::vector<std::string>& words)
{
    const auto commands = app.get_subcommands([](const CLI::App*) { return true; });
    const auto known = [&](const CLI::App* command) { return command->get_name() == words.front(); };
    if (words.front().starts_with("-") || std::any_of(commands.begin(), commands.end(), known))
        return {};
    return "'" + words.front() + "' is no command. `furrowctl --help` lists them.";
}

} // namespace

int main(int argc, char** argv)
{
    using namespace furrow::ctl;
    protectTerminal();
    CLI::App app("Furrow: trains every chunk of a data set exactly once per epoch, and proves it.", "furrowctl");
    app.set_version_flag("--version", "furrowctl " FURROW_VERSION);
    app.footer("FURROW_WORKSPACE is the folder of runs when a command names none; otherwise ~/furrow.\n"
               "Exit codes: 0 done, 1 failed, 2 wrong usage, 130 stopped by you.");
    app.require_subcommand(1);
    Chosen chosen;
    addRunCommands(app, chosen);
    addControlCommands(app, chosen);
    addInspectCommands(app, chosen);
    addWorkspaceCommands(app, chosen);
    addTaskCommands(app, chosen);
    addBrainCommands(app, chosen);
    addChunkCommands(app, chosen);
    addDataCommands(app, chosen);
    addTokenizerCommands(app, chosen);
    addBenchCommands(app, chosen);
    addDoctorCommand(app, chosen);
    addTorchCommands(app, chosen);
    addEstimateCommand(app, chosen);
    addStormCommand(app, chosen);
    addInternalCommands(app, chosen);
    addDescribeCommands(app, chosen);
    auto words = furrow::commandLineArguments(argc, argv);
    if (words.empty()) {
        std::cout << app.help();
        return kUsage;
    }
    if (const auto unknown = unknownCommand(app, words); !unknown.empty())
        return failUsage(unknown);
    try {
        std::reverse(words.begin(), words.end()); // as CLI11 wants a vector
        app.parse(words);
    } catch (const CLI::ParseError& e) {
        return app.exit(e) == 0 ? kDone : kUsage;
    }
    return chosen.action();
}
