#include "app/furrowctl/command.h"

#include <iostream>

int main(int argc, char** argv)
{
    using namespace furrow::ctl;
    CLI::App app("Furrow: trains every chunk of a data set exactly once per epoch, and proves it.", "furrowctl");
    app.set_version_flag("--version", "furrowctl " FURROW_VERSION);
    app.require_subcommand(1);
    Chosen chosen;
    addRunCommands(app, chosen);
    addControlCommands(app, chosen);
    addInspectCommands(app, chosen);
    addTaskCommands(app, chosen);
    addDataCommands(app, chosen);
    addBenchCommands(app, chosen);
    addDoctorCommand(app, chosen);
    addInternalCommands(app, chosen);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
        return app.exit(e) == 0 ? kDone : kUsage;
    }
    return chosen.action();
}
