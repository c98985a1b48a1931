// storm: does to a run of its own what a bad month does, and proves what survived. For people who want to try their own
// disk.

#include "app/furrowctl/command.h"
#include "core/base/process.h"
#include "core/trials/storm/storm.h"

#include <nlohmann/json.hpp>

#include <iostream>

namespace furrow::ctl {

namespace {

struct Options {
    StormOptions storm;
    std::string folder = ".";
    bool json = false;
    bool list = false;
};

int blow(Options o)
{
    if (o.list) {
        std::cout << listStorm() << std::flush;
        return kDone;
    }
    o.storm.folder = o.folder;
    const StopRequest interrupt(false);
    const auto log = [&o](const std::string& line) { (o.json ? std::cerr : std::cout) << line << std::endl; };
    auto report = runStorm(o.storm, log, [&] { return !interrupt.requested(); });
    if (!report.ok())
        return fail(report.error(), o.json);
    if (o.json)
        print(toJson(report.value()));
    else
        std::cout << stormText(report.value()) << std::flush;
    return report.value().passed() ? kDone : kFailed;
}

} // namespace

void addStormCommand(CLI::App& app, Chosen& chosen)
{
    auto o = std::make_shared<Options>();
    auto* command = app.add_subcommand("storm",
        "Try this disk: train a counting model while processes are killed and files damaged, then prove that nothing is lost or repeated.");
    command->add_option("--dir", o->folder, "Folder on the disk to try; a folder is made there and removed at the end.")
        ->capture_default_str();
    command->add_option("--kills", o->storm.kills, "Processes to end, at least; about a second and a half each.")
        ->capture_default_str();
    command->add_option("--seed", o->storm.seed, "Draws the acts.")->capture_default_str();
    command->add_option("--only", o->storm.only, "Only these faults, in turn, --kills of them (see --list).")
        ->delimiter(',');
    command->add_flag("--keep", o->storm.keep, "Leave the run when everything was in order.");
    command->add_flag("--list", o->list, "List the faults and stop.");
    command->add_flag("--json", o->json, "Print JSON; what is done goes to stderr.");
    command->callback([&chosen, o] { chosen.action = [o] { return blow(*o); }; });
}

} // namespace furrow::ctl
