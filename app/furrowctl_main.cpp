#include "app/furrowctl/command.h"
#include "app/furrowctl/slips.h"
#include "app/furrowctl/terminal_output.h"
#include "app/given_values.h"
#include "core/base/disk_room.h"
#include "core/base/process.h"

#include <algorithm>
#include <cstdio>
#include <iostream>

int main(int argc, char** argv)
{
    using namespace furrow::ctl;
    furrow::makeFileSizeLimitAnError();
    protectTerminal();
    CLI::App app("Furrow: trains every chunk of a data set exactly once per epoch, and proves it.", "furrowctl");
    app.set_version_flag("--version", "furrowctl " FURROW_VERSION);
    app.footer("FURROW_WORKSPACE is the folder of runs when a command names none; otherwise ~/furrow.\n"
               "FURROW_AS_ROOT=1 lets root write into runs and workspaces of other users.\n"
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
    addModelCommands(app, chosen);
    addTokenizerCommands(app, chosen);
    addBenchCommands(app, chosen);
    addDoctorCommand(app, chosen);
    addTorchCommands(app, chosen);
    addEstimateCommand(app, chosen);
    addStormCommand(app, chosen);
    addInternalCommands(app, chosen);
    addDescribeCommands(app, chosen);
    furrow::refuseEmptyValues(app);
    auto words = furrow::commandLineArguments(argc, argv);
    if (!words.empty() && words.front() == "help") { // as people type it
        words.erase(words.begin());
        words.push_back("--help");
    }
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
        if (e.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) // --help, --version
            return app.exit(e) == 0 ? kDone : kUsage;
        return failUsage(slipInWords(app, e), wantsJson(app));
    }
    if (const auto elsewhere = runIsInWorkspace(app))
        return fail(*elsewhere, wantsJson(app));
    try {
        const int code = chosen.action();
        std::cout.flush();
        if (std::cout.good() && std::fflush(stdout) == 0)
            return code;
        std::cerr
            << "furrowctl: standard output cannot be written, so what stands there is not whole. Check whether its disk is full.\n";
        return code == kDone ? kFailed : code;
    } catch (const std::exception& fault) { // a sentence, also where nobody foresaw it
        std::cerr << "furrowctl: this is a fault of Furrow, please report it with the command: " << fault.what()
                  << '\n';
        return kFailed;
    }
}
