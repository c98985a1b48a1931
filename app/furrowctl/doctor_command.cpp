// doctor: what is installed, which devices work, how fast the disk syncs, and what would not work.

#include "app/furrowctl/command.h"
#include "core/base/file_system.h"
#include "core/base/format.h"
#include "core/base/host.h"
#include "core/base/is_there.h"
#include "core/base/path.h"
#include "core/base/process.h"
#include "core/base/resources.h"
#include "core/data/tokenizer/tokenizer.h"
#include "core/device/driver.h"
#include "core/device/gpu.h"
#include "core/run/audit/begun_with.h"
#include "core/libtorch/torch_check.h"
#include "core/libtorch/torch_pins.h"
#include "core/libtorch/torch_place.h"
#include "core/run/audit/block_repair.h"
#include "core/run/audit/checkpoint_problems.h"
#include "core/run/audit/repair.h"
#include "core/run/audit/tracker_damage.h"
#include "core/run/folder/run_file.h"
#include "core/run/folder/run_links.h"
#include "core/run/start/worker_check.h"
#include "core/tracker/sqlite/sqlite_version.h"
#include "core/workspace/workspace_problems.h"

#include <nlohmann/json.hpp>

#include <iostream>

namespace furrow::ctl {

namespace {

constexpr int kSyncRounds = 50;
constexpr double kSlowSyncMs = 20;
constexpr std::size_t kMostNotes = 20;

struct Finding {
    std::string what;
    std::string value;
    bool good = true;
    std::string advice;
};

/// It was asked and ended by a signal or not at all: nothing is known of what it was asked.
bool isUnanswered(const Error& error) { return error.code == ErrorCode::Busy; }

Finding workerFinding()
{
    const auto version = workerVersion();
    if (!version.ok())
        return { "furrow-worker", isUnanswered(version.error()) ? "did not answer" : "does not start", false,
            version.error().message };
    const auto torch = torchInUse();
    const auto facts = torch.ok() ? checkTorch(torch.value().folder) : Result<TorchFacts>(torch.error());
    if (!facts.ok())
        return { "furrow-worker", isUnanswered(facts.error()) ? "did not answer" : "does not fit libtorch", false,
            facts.error().message };
    return { "furrow-worker",
        version.value() + ", libtorch " + facts.value().version + " in " + utf8Text(torch.value().folder), true, "" };
}

void addGpus(std::vector<Finding>& findings)
{
    const auto outlook = gpuOutlook(gpuDriver(), otherAccelerators(), pinnedCudaMajor());
    auto monitor = GpuMonitor::open();
    if (!monitor.ok()) {
        findings.push_back({ "GPU", "none", true, outlook.words });
        return;
    }
    findings.push_back({ "GPU driver", outlook.usable ? "new enough" : "not usable", outlook.usable, outlook.words });
    for (const auto& gpu : monitor.value().read())
        findings.push_back({ "GPU " + std::to_string(gpu.index),
            gpu.name + ", " + gpu.uuid + ", " + formatBytes(gpu.memoryFreeBytes) + " of "
                + formatBytes(gpu.memoryTotalBytes) + " free",
            true, "" });
}

void addDisk(std::vector<Finding>& findings, const std::string& workspace)
{
    std::filesystem::path folder = workspace; // the nearest one that exists: the workspace is made on first use
    while (!folder.empty() && !isThere(folder) && folder != folder.parent_path())
        folder = folder.parent_path();
    if (const auto unsafe = unsafeForLedgerReason(folder); !unsafe.empty())
        findings.push_back({ "workspace", workspace, false, unsafe });
    else
        findings.push_back({ "workspace", workspace, true, "" });
    for (const auto& problem : workspaceProblems(pathFromUtf8(workspace)))
        findings.push_back({ "workspace", "holds what it should not", false, problem.text() });
    if (auto space = freeBytes(folder); space.ok())
        findings.push_back({ "free disk", formatBytes(space.value()), space.value() > (5ull << 30),
            space.value() > (5ull << 30) ? "" : "Less than 5 GiB: checkpoints and prepared blocks may not fit." });
    auto sync = measureSyncMs(folder, kSyncRounds);
    if (!sync.ok()) {
        findings.push_back({ "disk sync", "failed", false, sync.error().message });
        return;
    }
    char text[64];
    std::snprintf(text, sizeof text, "%.2f ms", sync.value());
    findings.push_back({ "disk sync", text, sync.value() < kSlowSyncMs,
        sync.value() < kSlowSyncMs ? "" : "Slow: each checkpoint and claim waits for it. A local SSD is better." });
}

int examine(const std::string& workspace, bool json)
{
    std::vector<Finding> findings;
    findings.push_back({ "furrowctl", FURROW_VERSION, true, "" });
    findings.push_back(workerFinding());
    const Status sqlite = checkSqliteVersion();
    findings.push_back({ "SQLite", sqliteVersion(), sqlite.ok(), sqlite.ok() ? "" : sqlite.error().message });
    findings.push_back({ "sentencepiece", sentencepieceVersion(), true, "" });
    findings.push_back({ "CPU", std::to_string(cpuCount()) + " cores", true, "" });
    findings.push_back({ "memory", formatBytes(physicalMemoryBytes()), true, "" });
    addGpus(findings);
    auto sample = resourcePath("sample/tinyshakespeare.txt");
    findings.push_back({ "bundled text", sample.ok() ? sample.value().string() : "not found", sample.ok(),
        sample.ok() ? "" : sample.error().message });
    addDisk(findings, workspace);
    bool good = true;
    nlohmann::json list = nlohmann::json::array();
    for (const auto& f : findings) {
        good = good && f.good;
        list.push_back({ { "what", f.what }, { "value", f.value }, { "good", f.good }, { "advice", f.advice } });
        if (!json)
            std::cout << (f.good ? "  ok  " : "  !!  ") << f.what << ": " << f.value
                      << (f.advice.empty() ? "" : "\n        " + f.advice) << "\n";
    }
    if (json)
        print({ { "good", good }, { "findings", list } });
    else
        std::cout << (good ? "Everything works." : "Something above would not work.") << std::endl;
    return good ? kDone : kFailed;
}

/// Of the newest weights and the prepared blocks of a run whose tracker is whole.
struct Problems {
    std::vector<Message> weights;
    std::vector<Message> blocks;

    std::vector<Message> all() const
    {
        auto both = weights;
        both.insert(both.end(), blocks.begin(), blocks.end());
        return both;
    }
};

Result<Problems> problemsOf(const RunPaths& paths)
{
    Problems found;
    FURROW_TRY_ASSIGN(found.weights, checkpointProblems(paths));
    FURROW_TRY_ASSIGN(found.blocks, blockProblems(paths));
    return found;
}

/// What keeps one run from going on; nothing is changed.
int lookAtRun(const std::string& run, bool json)
{
    const RunPaths paths(run);
    if (auto linked = refuseLinks(paths); !linked.ok()) // a repair refuses them too
        return fail(linked.error(), json);
    const auto file = readRunFile(paths); // without it, or by that of another run, nothing can be repaired
    if (const auto ours = file.ok() ? checkRunFile(paths, file.value()) : Status(file.error()); !ours.ok())
        return fail(ours.error(), json);
    const auto known = trackerDamage(paths);
    if (!known.ok())
        return fail(known.error(), json);
    const Message& damage = known.value();
    const auto found
        = damage.empty() ? problemsOf(paths) : Result<Problems>(Problems {}); // a broken tracker knows no checkpoints
    if (!found.ok())
        return fail(found.error(), json);
    const auto problems = found.value().all();
    const bool good = damage.empty() && problems.empty();
    const Message costs = damage.empty() ? Message() : costsOfRepair(file.value());
    if (json) {
        print({ { "run", run }, { "good", good }, { "damage", damage }, { "costs", costs }, { "problems", problems } });
        return good ? kDone : kFailed;
    }
    if (!damage.empty())
        std::cout
            << damage << "\n'furrowctl doctor " << run
            << " --repair' rebuilds what the checkpoints prove; where that gives up newest weights, or nobody can say "
               "which there were, it says so and asks for --accept-loss first.\n";
    if (!costs.empty())
        std::cout << costs << "\n";
    for (const auto& problem : problems)
        std::cout << problem << "\n";
    if (!found.value().blocks.empty())
        std::cout
            << "A prepared block that is damaged or was replaced is prepared again when it is needed; 'furrowctl doctor "
            << run << " --repair' puts damaged ones aside now.\n";
    std::cout << (good ? "The tracker is whole, and so are the newest weights and the prepared blocks."
                       : "Nothing was changed.")
              << std::endl;
    return good ? kDone : kFailed;
}

void printNotes(const std::vector<Message>& notes)
{
    for (std::size_t i = 0; i < notes.size() && i < kMostNotes; ++i)
        std::cout << "  " << notes[i] << "\n";
    if (notes.size() > kMostNotes)
        std::cout << "  and " << notes.size() - kMostNotes << " more\n";
}

void printLeft(const std::vector<Message>& problems)
{
    if (!problems.empty())
        std::cout << "Still wrong, and not of the kind that a repair mends:\n";
    printNotes(problems);
}

/// A tracker that is broken is made anew, one that is older than the weights is taken forward; damaged blocks are put
/// aside.
int repair(const std::string& run, bool acceptLoss, bool json)
{
    const RunPaths paths(run);
    const auto say = [json](const std::string& sentence) {
        if (!json)
            std::cerr << sentence << std::endl;
    };
    auto repaired = repairRun(paths, say, acceptLoss);
    if (!repaired.ok())
        return fail(repaired.error(), json);
    const auto& r = repaired.value();
    const auto& left = r.problems;
    const int code = left.empty() ? kDone : kFailed;
    auto notes = r.notes;
    notes.insert(notes.end(), r.rebuilt.leftOut.begin(), r.rebuilt.leftOut.end());
    if (json) {
        print({ { "run", run }, { "repaired", r.needed }, { "damage", r.damage }, { "basis", r.basis },
            { "older", r.older }, { "foreign", r.foreign }, { "made_live", r.madeLive },
            { "settings_set_aside", r.settingsSetAside }, { "old_copy", r.oldCopy.string() },
            { "checkpoints_added", r.rebuilt.checkpoints }, { "heads", r.rebuilt.heads }, { "committed", r.committed },
            { "chunks", r.known }, { "notes", notes }, { "problems", left } });
        return code;
    }
    if (!r.needed) {
        std::cout << "The tracker is whole and not older than the weights; "
                  << (r.madeLive                  ? "it was a copy, and is in WAL mode now, as training needs it."
                             : notes.empty()      ? "nothing was changed."
                             : r.settingsSetAside ? "only settings in it were changed."
                                                  : "it was not changed.")
                  << std::endl;
        printNotes(notes);
        printLeft(left);
        return code;
    }
    std::cout << (r.older ? "The tracker was older than the weights.\nIt was taken forward with "
            : r.foreign   ? r.damage + "\nThe tracker of this run was made anew from "
                          : "The tracker was damaged: " + r.damage + "\nIt was made anew from ")
              << r.basis << ".\n"
              << (r.rebuilt.checkpoints == 1 ? "1 checkpoint was added; "
                                             : std::to_string(r.rebuilt.checkpoints) + " checkpoints were added; ")
              << r.committed << " of " << r.known
              << " chunks are in the weights by that, the rest is trained (again).\n";
    printNotes(notes);
    if (!r.oldCopy.empty())
        std::cout << "The old file is kept as " << r.oldCopy.string() << ".\n";
    std::cout << (left.empty() ? "'furrowctl resume " + run + "' goes on.\n" : "") << std::flush;
    printLeft(left);
    return code;
}

} // namespace

void addDoctorCommand(CLI::App& app, Chosen& chosen)
{
    struct Options {
        std::string run;
        std::string workspace = defaultWorkspace();
        bool repair = false;
        bool acceptLoss = false;
        bool json = false;
    };
    auto o = std::make_shared<Options>();
    auto* command = app.add_subcommand("doctor",
        "Say what is installed, which devices work, how fast the disk syncs, and what would not work. With a run: whether its tracker, its newest weights and its prepared blocks are whole and fit together.");
    auto* run = command->add_option("run", o->run, "Folder of a run to examine instead of this machine.");
    command->add_option("--workspace", o->workspace, "Folder to examine.")->capture_default_str();
    auto* mend
        = command
              ->add_flag("--repair", o->repair,
                  "Make a damaged tracker anew, or take one forward that is older than the weights, from what checkpoints prove; put damaged prepared blocks aside; make a lost or damaged held-out text again from the data.")
              ->needs(run);
    command
        ->add_flag("--accept-loss", o->acceptLoss,
            "With --repair: also where newest weights that the damaged tracker knew are not whole and would be given up, or where neither it nor its snapshot can be read; their chunks are trained again. Of two lines of a run: the one that the tracker knows is gone on with.")
        ->needs(mend);
    command->add_flag("--json", o->json, "Print JSON.");
    command->callback([&chosen, o] {
        chosen.action = [o] {
            if (o->run.empty())
                return examine(o->workspace, o->json);
            if (auto there = checkThere(o->run); !there.ok())
                return fail(there.error(), o->json);
            return o->repair ? repair(o->run, o->acceptLoss, o->json) : lookAtRun(o->run, o->json);
        };
    });
}

} // namespace furrow::ctl
