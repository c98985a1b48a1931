// compare, queue, trash: several runs of a workspace at once.

#include "app/furrowctl/command.h"
#include "core/base/absolute_path.h"
#include "core/base/file_system.h"
#include "core/base/log.h"
#include "core/base/owner.h"
#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/run/start/life_cycle.h"
#include "core/run/start/limit_reached.h"
#include "core/run/status/run_status.h"
#include "core/workspace/compare_runs.h"
#include "core/workspace/debug_bundle.h"
#include "core/workspace/queue_runner.h"
#include "core/workspace/trash.h"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <iostream>
#include <set>
#include <utility>
#include <vector>

namespace furrow::ctl {

namespace {

struct WorkspaceOptions {
    std::string workspace = defaultWorkspace();
    std::vector<std::string> runs;
    std::string out = "furrow-debug.tar.gz";
    std::int64_t entry = 0;
    std::int64_t position = 0;
    bool json = false;
};

int compare(const WorkspaceOptions& o)
{
    std::vector<std::filesystem::path> folders;
    for (const std::string& run : o.runs)
        folders.push_back(pathFromUtf8(run));
    auto comparison = compareRuns(folders);
    if (!comparison.ok())
        return fail(comparison.error(), o.json);
    if (o.json)
        print(toJson(comparison.value()));
    else
        std::cout << comparisonText(comparison.value()) << std::flush;
    return kDone;
}

/// @param mayMake  a workspace that is not there
Result<WorkspaceFile> openFile(const WorkspaceOptions& o, bool mayMake = false)
{
    FURROW_TRY(mayMake ? checkWorkspace(o.workspace) : checkWorkspaceThere(o.workspace));
    return WorkspaceFile::open(pathFromUtf8(o.workspace));
}

struct Queue {
    std::vector<QueueEntry> entries;
    bool isPaused = false;
};

/// Makes nothing: what somebody else made in a shared workspace, its owner could not write any more.
Result<Queue> readQueue(const WorkspaceOptions& o)
{
    FURROW_TRY(checkWorkspaceThere(o.workspace));
    const auto workspace = pathFromUtf8(o.workspace);
    Queue queue;
    if (!isTaken(workspaceFile(workspace)))
        return queue;
    FURROW_TRY_ASSIGN(auto file, WorkspaceFile::look(workspace));
    FURROW_TRY_ASSIGN(queue.entries, queueNow(file));
    FURROW_TRY_ASSIGN(queue.isPaused, file.isQueuePaused());
    return queue;
}

/// Nothing of what waits in the queue will be started: why. "": it will, or a person paused it.
Message whyItStands(const std::filesystem::path& workspace, const Queue& queue)
{
    if (const auto canRun = checkQueueCanRun(workspace); !canRun.ok())
        return canRun.error().message;
    const bool waits = std::ranges::any_of(
        queue.entries, [](const QueueEntry& entry) { return entry.state == QueueState::Waiting; });
    if (!waits || queue.isPaused)
        return {};
    return isQueueRun(workspace) ? whatHoldsQueueUp(workspace)
                                 : sentence("No process runs the queue. 'furrowctl queue start' starts one.");
}

int showQueue(const WorkspaceOptions& o)
{
    const auto workspace = pathFromUtf8(o.workspace);
    const auto queue = readQueue(o);
    if (!queue.ok())
        return fail(queue.error(), o.json);
    const bool active = isQueueRun(workspace);
    const Message stands = whyItStands(workspace, queue.value());
    if (o.json) {
        nlohmann::json entries = nlohmann::json::array();
        for (const QueueEntry& entry : queue.value().entries)
            entries.push_back({ { "id", entry.id }, { "run", entry.run }, { "name", entry.name },
                { "lane", entry.lane }, { "state", toString(entry.state) }, { "outcome", entry.outcome } });
        print({ { "paused", queue.value().isPaused }, { "active", active }, { "cannot_run", stands },
            { "entries", entries } });
        return kDone;
    }
    for (const QueueEntry& entry : queue.value().entries)
        std::cout << entry.id << "  " << toString(entry.state) << "  " << entry.name << "  (" << entry.lane << ")"
                  << (entry.outcome.empty() ? "" : "  " + entry.outcome) << "\n";
    if (queue.value().entries.empty())
        std::cout << "The queue is empty.\n";
    else if (queue.value().isPaused)
        std::cout << "The queue is paused: nothing is started.\n";
    if (!stands.empty())
        std::cout << withFullStop(stands) << "\n";
    std::cout << std::flush;
    return kDone;
}

/// Prints the queue after a change.
int shown(const WorkspaceOptions& o, const Status& status)
{
    return status.ok() ? showQueue(o) : fail(status.error(), o.json);
}

int withFile(const WorkspaceOptions& o, const std::function<Status(WorkspaceFile&)>& change, bool start = false)
{
    auto file = openFile(o, start);
    if (!file.ok())
        return fail(file.error(), o.json);
    Status status = start ? checkQueueCanRun(pathFromUtf8(o.workspace)) : Status {};
    if (status.ok())
        status = settleQueue(file.value());
    if (status.ok())
        status = change(file.value());
    if (status.ok() && start)
        status = startQueue(pathFromUtf8(o.workspace));
    return shown(o, status);
}

struct Queued {
    std::filesystem::path folder;
    RunConfig config;
};

/// Refuses what can be seen to be unable to begin at its turn.
Result<Queued> queueable(const std::string& workspace, const std::string& run)
{
    FURROW_TRY(checkRun(run)); // as it was typed: an address may hold a password
    Queued one { absolutePath(pathFromUtf8(run)), {} };
    const RunPaths paths(one.folder);
    FURROW_TRY_ASSIGN(one.config, currentConfig(paths));
    FURROW_TRY(checkQueueCanStart(pathFromUtf8(workspace), one.folder));
    FURROW_TRY(refuseRootInFolderOf(one.folder));
    FURROW_TRY_ASSIGN(const auto status, readStatus(paths));
    if (!hasComeToItsEnd(status))
        return one;
    FURROW_TRY_ASSIGN(const auto plan, planResume(paths));
    FURROW_TRY(refuseNothingLeft(status, plan, one.config, nullptr));
    return one;
}

int addToQueue(const WorkspaceOptions& o)
{
    return withFile(
        o,
        [&o](WorkspaceFile& file) -> Status {
            std::vector<Queued> all;
            for (const std::string& run : o.runs) { // before the first one is queued
                FURROW_TRY_ASSIGN(auto one, queueable(o.workspace, run));
                all.push_back(std::move(one));
            }
            for (const Queued& one : all)
                FURROW_TRY(file.enqueue(utf8Text(one.folder), one.config.name, laneOf(one.config.devices)));
            return {};
        },
        true);
}

int runTheQueue(const WorkspaceOptions& o)
{
    if (auto there = checkWorkspaceThere(o.workspace); !there.ok())
        return fail(there.error(), o.json);
    startLog("queue");
    const StopRequest stop(false);
    const auto status = runQueue(pathFromUtf8(o.workspace), stop);
    return status.ok() ? kDone : fail(status.error(), o.json);
}

int trash(const WorkspaceOptions& o)
{
    if (auto readable = checkWorkspaceThere(o.workspace); !readable.ok())
        return fail(readable.error(), o.json);
    std::set<std::filesystem::path> named;
    for (const std::string& run : o.runs) { // before the first one is moved
        if (auto there = checkThere(run); !there.ok())
            return fail(there.error(), o.json);
        if (!named.insert(absolutePath(pathFromUtf8(run) / "").parent_path()).second)
            return failUsage(sentence("%1 is named twice. Nothing was moved.", { run }), o.json);
        if (auto trashable = checkTrashable(pathFromUtf8(o.workspace), absolutePath(pathFromUtf8(run)));
            !trashable.ok())
            return fail(trashable.error(), o.json);
    }
    for (const std::string& run : o.runs) {
        auto moved = moveToTrash(pathFromUtf8(o.workspace), absolutePath(pathFromUtf8(run)));
        if (!moved.ok())
            return fail(moved.error(), o.json);
        if (o.json)
            print({ { "trashed", utf8Text(moved.value()) } });
        else
            std::cout << utf8Text(moved.value()) << std::endl;
    }
    return kDone;
}

int bundle(const WorkspaceOptions& o)
{
    if (auto there = checkThere(o.runs.front()); !there.ok())
        return fail(there.error(), o.json);
    if (auto isNew = checkNewFile(o.out); !isNew.ok())
        return fail(isNew.error(), o.json);
    const auto status = writeDebugBundle(pathFromUtf8(o.runs.front()), pathFromUtf8(o.out));
    if (!status.ok())
        return fail(status.error(), o.json);
    if (o.json)
        print({ { "bundle", o.out } });
    else
        std::cout << o.out << std::endl;
    return kDone;
}

using Act = int (*)(const WorkspaceOptions&);

std::shared_ptr<WorkspaceOptions> add(
    CLI::App& app, Chosen& chosen, const char* name, const char* help, Act act, CLI::App** made = nullptr)
{
    auto o = std::make_shared<WorkspaceOptions>();
    auto* command = app.add_subcommand(name, help);
    command->add_option("--workspace", o->workspace, "Folder that keeps runs.")->capture_default_str();
    command->add_flag("--json", o->json, "Print JSON.");
    command->callback([&chosen, o, act] { chosen.action = [o, act] { return act(*o); }; });
    if (made != nullptr)
        *made = command;
    return o;
}

void addQueueCommands(CLI::App& app, Chosen& chosen)
{
    auto* queue = app.add_subcommand("queue", "Runs that wait for their devices: one after the other in each lane.");
    queue->require_subcommand(1);
    CLI::App* made = nullptr;
    add(*queue, chosen, "list", "The entries in order of their turn.", showQueue);
    auto o = add(*queue, chosen, "add",
        "Put runs (made with 'furrowctl new') at the end; starts them when their devices are free.", addToQueue, &made);
    made->add_option("runs", o->runs, "Folders of runs.")->required();
    o = add(
        *queue, chosen, "remove", "Take an entry out that is not in training.",
        [](const WorkspaceOptions& w) {
            return withFile(w, [&w](WorkspaceFile& f) { return f.removeEntry(w.entry); });
        },
        &made);
    made->add_option("entry", o->entry, "Number of the entry.")->required()->check(kFromOne);
    o = add(
        *queue, chosen, "move", "Give an entry another turn.",
        [](const WorkspaceOptions& w) {
            return withFile(w, [&w](WorkspaceFile& f) { return f.moveEntry(w.entry, w.position); });
        },
        &made);
    made->add_option("entry", o->entry, "Number of the entry.")->required()->check(kFromOne);
    made->add_option("position", o->position, "From 0.")->required()->check(kFromZero);
    o = add(
        *queue, chosen, "next",
        "Stop the entry in training after a checkpoint and let the next one of its lane go first.",
        [](const WorkspaceOptions& w) {
            auto there = checkWorkspaceThere(w.workspace);
            return shown(w, there.ok() ? letNextRun(pathFromUtf8(w.workspace), w.entry) : there);
        },
        &made);
    made->add_option("entry", o->entry, "Number of the entry.")->required()->check(kFromOne);
    add(*queue, chosen, "pause", "Start nothing more; what runs goes on.",
        [](const WorkspaceOptions& w) { return withFile(w, [](WorkspaceFile& f) { return f.setQueuePaused(true); }); });
    add(*queue, chosen, "start", "Go on with a paused queue.", [](const WorkspaceOptions& w) {
        return withFile(w, [](WorkspaceFile& f) { return f.setQueuePaused(false); }, true);
    });
    add(*queue, chosen, "clear", "Forget the entries that have ended.",
        [](const WorkspaceOptions& w) { return withFile(w, [](WorkspaceFile& f) { return f.removeEnded(); }); });
    add(*queue, chosen, "run",
        "Run the queue in this process until it is empty. 'add' and 'start' start this, detached.", runTheQueue);
}

} // namespace

void addWorkspaceCommands(CLI::App& app, Chosen& chosen)
{
    CLI::App* made = nullptr;
    auto o = add(app, chosen, "compare",
        "Two to eight runs beside each other: figures, settings that differ, losses chunk by chunk. The first is the baseline.",
        compare, &made);
    made->add_option("runs", o->runs, "Folders of runs.")->required();
    addQueueCommands(app, chosen);
    o = add(app, chosen, "bundle",
        "Collect what a developer needs to understand a run into one file, without data, weights, secrets and folders.",
        bundle, &made);
    made->add_option("run", o->runs, "Folder of the run.")->required()->expected(1);
    made->add_option("--out", o->out, "File to write.")->capture_default_str();
    o = add(app, chosen, "trash",
        "Move runs that are not in training into the trash of the workspace. Nothing is deleted; 'Restore from trash' in the console brings them back.",
        trash, &made);
    made->add_option("runs", o->runs, "Folders of runs.")->required();
}

} // namespace furrow::ctl
