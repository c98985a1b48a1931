// status, list, audit: look at runs, live, dead or copied. Nothing here writes.

#include "app/furrowctl/command.h"
#include "app/furrowctl/audit_progress.h"
#include "app/furrowctl/watch.h"
#include "core/base/number_of.h"
#include "core/base/path.h"
#include "core/base/plain_line.h"
#include "core/base/process.h"
#include "core/base/sentence.h"
#include "core/run/audit/run_audit.h"
#include "core/run/status/ledger_view.h"
#include "core/run/status/run_status.h"
#include "core/tracker/readers_patience.h"
#include "core/tracker/sqlite/tracker_locks.h"
#include "core/tracker/trained_chunks.h"
#include "core/workspace/run_folders.h"

#include <nlohmann/json.hpp>

#include <chrono>
#include <iostream>
#include <map>
#include <thread>

namespace furrow::ctl {

namespace {

struct RunOptions {
    std::string folder;
    bool json = false;
    bool html = false; ///< audit only
    bool chunks = false; ///< audit only
    bool quick = false; ///< audit only
    bool deep = false; ///< audit only
};

int status(const RunOptions& o)
{
    auto read = readStatus(RunPaths(o.folder));
    if (!read.ok())
        return fail(read.error(), o.json);
    if (o.json)
        print(toJson(read.value()));
    else
        std::cout << statusText(read.value()) << std::flush;
    return kDone;
}

/// A run of a workspace, as `list` tells of it.
struct ListedRun {
    std::filesystem::path folder;
    std::string id; ///< "": it cannot be read
    std::string state;
    bool marked = false;
    Message detail; ///< what a finished run says of its end, as that it left most of its text out; "": nothing
    std::string problem;
    std::string twin; ///< a folder with the same id: one is a copy of the other; "": there is none
};

/// Who has the tracker for itself alone and does not let go before `until`, in words; "": it can be read.
Message lockedByAnother(const RunPaths& paths, std::chrono::steady_clock::time_point until)
{
    const auto ledger = readableLedger(paths);
    auto holder = shutBy(ledger);
    while (holder && std::chrono::steady_clock::now() < until) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        holder = shutBy(ledger);
    }
    return holder
        ? sentence("The tracker is locked by another program, %1. Let it go on or end it.", { inWords(*holder) })
        : Message();
}

/// No snapshot stands in for a tracker that is locked: nothing says here how old it is.
Result<RunStatus> readListedStatus(const RunPaths& paths, std::chrono::steady_clock::time_point until)
{
    if (auto locked = lockedByAnother(paths, until); !locked.empty())
        return Error { ErrorCode::Busy, std::move(locked) };
    FURROW_TRY_ASSIGN(auto ledger, openLedger(paths));
    if (ledger.standsInBecause().code == ErrorCode::Busy && !ledger.standsInBecause().message.empty())
        return ledger.standsInBecause();
    return readStatus(paths, ledger);
}

std::vector<ListedRun> readListed(const std::string& workspace)
{
    constexpr std::chrono::milliseconds kPatience(400); // with all of them together
    const auto until = std::chrono::steady_clock::now() + kPatience;
    setReadersPatience(kPatience);
    std::vector<ListedRun> runs;
    std::map<std::string, std::size_t> first; // by id
    for (const auto& folder : runFolders(pathFromUtf8(workspace))) {
        const auto read = readListedStatus(RunPaths(folder), until);
        if (!read.ok()) {
            runs.push_back({ folder, "", "unreadable", false, {}, read.error().message, "" });
            continue;
        }
        const auto& s = read.value();
        runs.push_back({ folder, s.file.runId, toString(s.state), s.markedByHand, saidOfItsEnd(s), "", "" });
        const auto [twin, isNew] = first.try_emplace(s.file.runId, runs.size() - 1);
        if (isNew)
            continue;
        runs.back().twin = runs[twin->second].folder.string();
        runs[twin->second].twin = folder.string();
    }
    return runs;
}

int listRuns(const RunOptions& o)
{
    if (auto readable = checkWorkspaceThere(o.folder); !readable.ok())
        return fail(readable.error(), o.json);
    const auto runs = readListed(o.folder);
    nlohmann::json json = nlohmann::json::array();
    for (const auto& run : runs) {
        json.push_back({ { "run", run.folder.string() }, { "run_id", run.id }, { "state", run.state },
            { "marked_by_hand", run.marked }, { "detail", run.detail.text() }, { "problem", run.problem },
            { "same_run_as", run.twin } });
        if (!o.json)
            std::cout << (run.problem.empty() ? run.state : "cannot be read") << (run.marked ? " (marked by hand)" : "")
                      << "  " << plainLine(run.folder.string()) << (run.problem.empty() ? "" : "  " + run.problem)
                      << (run.detail.empty() ? "" : "  " + run.detail.text())
                      << (run.twin.empty()
                                 ? ""
                                 : "  the same run as " + plainLine(run.twin) + ": one is a copy of the other")
                      << "\n";
    }
    if (o.json)
        print(json);
    else if (runs.empty())
        std::cout << "No runs in " << o.folder << " yet." << std::endl;
    return kDone;
}

std::string stepsInWords(std::int64_t first, std::int64_t last)
{
    return first == last ? "step " + std::to_string(first)
                         : "steps " + std::to_string(first) + " to " + std::to_string(last);
}

/// Every training of a chunk that the surviving weights have, with who did it and when in the run.
int printTrainedChunks(const RunPaths& paths, const RunOptions& o)
{
    auto ledger = openLedger(paths);
    auto chunks = ledger.ok() ? trainedChunks(ledger.value().file()) : ledger.error();
    if (!chunks.ok())
        return fail(chunks.error(), o.json);
    nlohmann::json rows = nlohmann::json::array();
    for (const auto& c : chunks.value()) {
        const auto place = placeOf(c.chunk);
        if (o.json)
            rows.push_back({ { "epoch", place.epoch + 1 }, { "block", place.block }, { "column", place.column },
                { "worker", c.worker }, { "first_step", c.firstStep }, { "last_step", c.lastStep },
                { "weights_step", c.weightsStep }, { "steps", c.steps }, { "samples", c.samples },
                { "tokens", c.tokens }, { "part", c.isPart }, { "checkpoint", c.checkpoint } });
        else
            std::cout << toString(c.chunk) << (c.isPart ? ", a part of it" : "") << ": worker " << c.worker << ", "
                      << numberOf(c.samples, "sample") << ", " << numberOf(c.tokens, "token")
                      << " with the end behind each sample in " << numberOf(c.steps, "step") << ", its "
                      << stepsInWords(c.firstStep, c.lastStep) << ", done as step " << c.weightsStep
                      << " of those that the weights have, in checkpoint " << c.checkpoint << "\n";
    }
    if (o.json)
        print({ { "chunks", rows } });
    return kDone;
}

int proveRun(const RunOptions& o)
{
    const RunPaths paths(o.folder);
    auto file = readRunFile(paths);
    if (!file.ok())
        return fail(file.error(), o.json);
    if (o.chunks)
        return printTrainedChunks(paths, o);
    auto report = auditWatched(paths, o.quick ? AuditDepth::Quick : o.deep ? AuditDepth::Deep : AuditDepth::Files);
    if (!report.ok())
        return fail(report.error(), o.json);
    if (o.html)
        std::cout << auditHtml(report.value()) << std::flush;
    else if (o.json)
        std::cout << auditJson(report.value()) << std::endl;
    else
        std::cout << auditText(report.value()) << std::flush;
    return report.value().isClean() && report.value().couldInspect() ? kDone : kFailed;
}

void add(CLI::App& app, Chosen& chosen, const char* name, const char* help, int (*act)(const RunOptions&))
{
    auto o = std::make_shared<RunOptions>();
    auto* command = app.add_subcommand(name, help);
    command->add_option("run", o->folder, "Folder of the run.")->required();
    command->add_flag("--json", o->json, "Print JSON.");
    if (act == proveRun) {
        auto* html = command->add_flag("--html", o->html, "Print a page for a browser.");
        command
            ->add_flag("--chunks", o->chunks,
                "Print, instead of the proof, each chunk that is in the weights: worker, samples, tokens, steps, checkpoint.")
            ->excludes(html);
        auto* quick = command->add_flag(
            "--quick", o->quick, "Look at the ledger alone; the weights are not inspected, and the report says so.");
        command
            ->add_flag("--deep", o->deep,
                "Hash every checkpoint that is there, and read the source once more (files from elsewhere are fetched where their SHA-256 was not compared): the samples of each chunk are compared by their fingerprints.")
            ->excludes(quick);
    }
    command->callback([&chosen, o, act] { chosen.action = [o, act] { return act(*o); }; });
}

} // namespace

void addInspectCommands(CLI::App& app, Chosen& chosen)
{
    add(app, chosen, "status", "What a run does now, how we know, and what keeps its epoch open.", status);
    add(app, chosen, "audit",
        "Prove that every chunk is in the surviving weights exactly once, and that the files are those that were recorded; exit code 1 when it is not so or could not be inspected.",
        proveRun);

    auto o = std::make_shared<RunOptions>();
    o->folder = defaultWorkspace();
    auto* list = app.add_subcommand("list", "The runs of a workspace with their states.");
    list->add_option("--workspace", o->folder, "Folder that keeps runs.")->capture_default_str();
    list->add_flag("--json", o->json, "Print JSON.");
    list->callback([&chosen, o] { chosen.action = [o] { return listRuns(*o); }; });
}

} // namespace furrow::ctl
