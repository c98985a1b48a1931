// storm: does to a run of its own what a bad month does, and proves what survived. For people who want to try their own
// disk.

#include "app/furrowctl/command.h"
#include "core/base/absolute_path.h"
#include "core/base/path.h"
#include "core/base/process.h"
#include "core/base/sentence.h"
#include "core/run/folder/run_paths.h"
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

/// A storm damages files: its folder is not made inside a run.
Status checkFolder(const std::string& folder)
{
    std::error_code unknown;
    const auto path = absolutePath(pathFromUtf8(folder));
    if (std::filesystem::is_regular_file(path, unknown))
        return Error { ErrorCode::InvalidArgument,
            sentence("%1 is a file. Name a folder on the disk to try.", { folder }) };
    for (auto above = path; above.has_relative_path(); above = above.parent_path())
        if (std::filesystem::exists(RunPaths(above).configFile(), unknown))
            return Error { ErrorCode::InvalidArgument,
                sentence("%1 lies in the run %2. Name a folder outside of every run.", { folder, utf8Text(above) }) };
    return {};
}

int blow(Options o)
{
    if (o.list) {
        std::cout << listStorm() << std::flush;
        return kDone;
    }
    if (auto fit = checkFolder(o.folder); !fit.ok())
        return fail(fit.error(), o.json);
    o.storm.folder = o.folder;
    const StopRequest interrupt(false, true); // whoever read the output is gone: its processes would train on alone
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
