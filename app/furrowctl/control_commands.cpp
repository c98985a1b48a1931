// pause, continue, stop, kill, finish, save, evaluate: what a person wants of a running run. Each writes a desired
// state and returns.

#include "app/closed_option.h"
#include "app/furrowctl/command.h"
#include "core/base/file_lock.h"
#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/run/start/life_cycle.h"
#include "core/run/status/run_status.h"

#include <nlohmann/json.hpp>

#include <chrono>
#include <iostream>
#include <thread>

namespace furrow {

template <>
inline constexpr std::array kClosedNames<EndOf> {
    ClosedName { EndOf::Block, "block" },
    ClosedName { EndOf::Epoch, "epoch" },
};

} // namespace furrow

namespace furrow::ctl {

namespace {

struct Verb {
    const char* name;
    const char* help;
    Status (*act)(const RunPaths&);
    const char* said;
};

const Verb kVerbs[] = {
    { "pause", "Pause at the end of the chunks in training. Processes and memory stay; 'continue' goes on.", pauseRun,
        "The workers pause at the end of their chunks." },
    { "continue", "Go on with a paused run.", continueRun, "The run goes on." },
    { "stop",
        "Stop after a checkpoint; 'resume' goes on. What cannot be saved within a minute, as on a full disk, is trained again then.",
        stopRun, "The workers checkpoint and end." },
    { "kill", "End every process of the run now. Work since the last checkpoints is trained again at the next resume.",
        killRun, "Every process of the run is being ended." },
    { "finish",
        "Accept a run that was interrupted, stopped or failed as ended as it is. 'resume' still goes on with it.",
        markFinished, "The run is marked as finished." },
    { "save", "Write a checkpoint now.", saveNow, "The workers write a checkpoint at their next step." },
    { "evaluate", "Evaluate the weights of each worker on the held-out text now.", evaluateNow,
        "The workers evaluate at their next step." },
};

struct ControlOptions {
    std::string folder;
    bool json = false;
    bool wait = false;
    std::optional<EndOf> after; ///< stop only; nothing: at once
};

constexpr auto kWaitTurn = std::chrono::milliseconds(100);

/// A killed run is gone in a moment, unless who would have to obey was stopped where nobody here can see it.
constexpr auto kKillPatience = std::chrono::seconds(30);

Error stillHeld(const RunPaths& paths)
{
    return { ErrorCode::Busy,
        sentence(
            "%1 was asked to end and is still held by a process that cannot be seen from here, perhaps in another container. It ends as soon as that goes on; else end that container.",
            { utf8Text(paths.folder()) }) };
}

/// Says why a wait may be long, once for each reason.
class WaitTeller {
public:
    void tell(const Result<RunStatus>& status)
    {
        const auto& hindrance = status.ok() ? status.value().hindrance : std::nullopt;
        const std::string words = hindrance ? hindrance->words.text() : ""; // a sentence may have a time in it
        if (words != told_ && hindrance)
            std::cerr << hindrance->sentence << std::endl;
        told_ = words;
    }

private:
    std::string told_;
};

int act(const Verb& verb, const ControlOptions& o)
{
    const RunPaths paths(o.folder);
    if (auto there = checkThere(o.folder); !there.ok())
        return fail(there.error(), o.json);
    if (auto done = o.after ? stopAfterThis(paths, *o.after) : verb.act(paths); !done.ok())
        return fail(done.error(), o.json);
    WaitTeller teller;
    const auto killedBy = std::chrono::steady_clock::now() + kKillPatience;
    for (;;) {
        const bool isHeld = isLocked(paths.supervisorLock()); // before the status: what is told of the end is of after
        auto status = readStatus(paths); // a kill needs none
        if (o.wait && isHeld) {
            teller.tell(status);
            const bool isHidden = status.ok() && status.value().supervised && status.value().supervisorPid == 0;
            if (verb.act == killRun && isHidden && std::chrono::steady_clock::now() > killedBy)
                return fail(stillHeld(paths), o.json);
            std::this_thread::sleep_for(kWaitTurn);
            continue;
        }
        if (o.json && !status.ok())
            return fail(status.error(), true);
        const auto state = status.ok() ? status.value().state : RunState::Unknown;
        const bool isFailure
            = o.wait && (state == RunState::Failed || (verb.act == stopRun && state == RunState::Interrupted));
        if (o.json)
            print(toJson(status.value()));
        else if (isFailure)
            std::cerr << "The run has ended: " << withFullStop(status.value().stopDetail) << std::endl;
        else
            std::cout << (o.wait ? "The run has ended."
                    : o.after    ? "The run ends with this " + toString(*o.after) + "."
                                 : verb.said)
                      << std::endl;
        return isFailure ? kFailed : kDone;
    }
}

} // namespace

void addControlCommands(CLI::App& app, Chosen& chosen)
{
    for (const auto& verb : kVerbs) {
        auto o = std::make_shared<ControlOptions>();
        auto* command = app.add_subcommand(verb.name, verb.help);
        command->add_option("run", o->folder, "Folder of the run.")->required();
        command->add_flag("--json", o->json, "Print JSON.");
        if (verb.act == stopRun)
            addChoice<EndOf>(*command, "--after", o->after,
                "block: with the block that is complete next. epoch: with the epoch in training. Without it after a checkpoint.");
        if (verb.act == stopRun || verb.act == killRun)
            command->add_flag("--wait", o->wait, "Return when every process has ended.");
        command->callback([&chosen, o, &verb] { chosen.action = [o, &verb] { return act(verb, *o); }; });
    }
}

} // namespace furrow::ctl
