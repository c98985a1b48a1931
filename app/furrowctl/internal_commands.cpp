// supervise and feed: the processes of a run. Ordinary commands, so that a person can start them by hand and read what
// they say.

#include "app/closed_option.h"
#include "app/furrowctl/command.h"
#include "core/base/log.h"
#include "core/base/owner.h"
#include "core/base/process.h"
#include "core/base/process_limit.h"
#include "core/base/sentence.h"
#include "core/run/folder/attempt_config.h"
#include "core/run/folder/before_writing.h"
#include "core/run/folder/run_file.h"
#include "core/run/supervise/feeder.h"
#include "core/run/supervise/supervisor.h"

namespace furrow::ctl {

namespace {

struct SuperviseOptions {
    std::string folder;
    std::vector<std::string> changed; // key=value
    std::int64_t goBackTo = 0; // 0: the newest
    bool acceptLoss = false;
    std::optional<RateChoice> rate;
};

/// What ends one of them stands in its log like everything else it said: one line with its time.
int failLogged(const Error& error)
{
    logError(error.message);
    return isForLimit(error.message) ? kLimitExit : exitCodeFor(error);
}

int supervise(const SuperviseOptions& o)
{
    startLog("supervisor");
    const RunPaths paths(o.folder);
    shareWithGroupOf(paths.folder()); // its workers, feeder and tasks do as it does
    shareAround(paths);
    auto file = readRunFile(paths);
    if (!file.ok())
        return failLogged(file.error());
    RunConfig wanted = file.value().config;
    for (const auto& change : o.changed) {
        const auto equals = change.find('=');
        const Setting* setting = findSetting(change.substr(0, equals));
        if (!setting || equals == std::string::npos)
            return failLogged(
                { ErrorCode::InvalidArgument, sentence("--set %1 is not key=value of a setting.", { change }) });
        if (const auto problems = setSetting(wanted, *setting, change.substr(equals + 1)); !problems.empty())
            return failLogged({ ErrorCode::InvalidArgument, toString(problems) });
    }
    if (const auto problems = problemsOfGoingOn(file.value().config, wanted); !problems.empty()) // as a resume
        return failLogged({ ErrorCode::InvalidArgument, toString(problems) });
    const StopRequest stop(false);
    const ResumeChoice choice { o.goBackTo == 0 ? std::nullopt : std::optional(CheckpointId { o.goBackTo }),
        o.acceptLoss, o.rate };
    const auto status = runSupervisor(paths, wanted, stop, choice);
    return status.ok() ? kDone : failLogged(status.error());
}

struct FeedOptions {
    std::string folder;
};

int feed(const FeedOptions& o)
{
    startLog("feeder");
    const StopRequest stop(true);
    const RunPaths paths(o.folder);
    shareAround(paths); // the cache may be of a group, and the run of one alone
    const auto status = runFeeder(paths, stop);
    return status.ok() ? kDone : failLogged(status.error());
}

} // namespace

void addInternalCommands(CLI::App& app, Chosen& chosen)
{
    auto so = std::make_shared<SuperviseOptions>();
    auto* s
        = app.add_subcommand("supervise", "Run one attempt in this process. 'run' and 'resume' start this, detached.");
    s->add_option("run", so->folder, "Folder of the run.")->required();
    s->add_option("--set", so->changed, "key=value, a setting changed for this attempt.");
    s->add_option(
        "--from-checkpoint", so->goBackTo, "Number of the checkpoint to go on from; what is newer leaves the weights.");
    s->add_flag("--accept-loss", so->acceptLoss, "Checkpoints that are damaged or cannot be read may be left behind.");
    addChoice<RateChoice>(
        *s, "--rate-plan", so->rate, "How the learning rate goes on: smooth, keep, stretch or restart.");
    s->group("Processes of a run");
    s->callback([&chosen, so] { chosen.action = [so] { return supervise(*so); }; });

    auto fo = std::make_shared<FeedOptions>();
    auto* f = app.add_subcommand("feed", "Prepare the blocks of a run in this process. The supervisor starts this.");
    f->add_option("run", fo->folder, "Folder of the run.")->required();
    f->group("Processes of a run");
    f->callback([&chosen, fo] { chosen.action = [fo] { return feed(*fo); }; });
}

} // namespace furrow::ctl
