// new, run, resume, settings: from options to a run that trains.

#include "app/closed_option.h"
#include "app/furrowctl/command.h"
#include "app/furrowctl/hub_models.h"
#include "app/furrowctl/watch.h"
#include "core/base/absolute_path.h"
#include "core/base/denied.h"
#include "core/base/file_system.h"
#include "core/base/format.h"
#include "core/base/path.h"
#include "core/base/plain_line.h"
#include "core/base/process.h"
#include "core/base/redact.h"
#include "core/base/resources.h"
#include "core/base/sentence.h"
#include "core/config/bounded_json.h"
#include "core/device/machine_fit.h"
#include "core/run/folder/adopted_model.h"
#include "core/run/start/given_up_chunks.h"
#include "core/run/start/life_cycle.h"
#include "core/run/start/limit_reached.h"
#include "core/run/status/run_status.h"
#include "core/run/start/worker_check.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iostream>

namespace furrow::ctl {

namespace {

constexpr const char* kDefaultPreset = "char";

struct NewOptions {
    SettingOptions settings;
    std::string preset = kDefaultPreset;
    CLI::Option* presetOption = nullptr;
    std::string configFile;
    std::string out;
    std::string workspace = defaultWorkspace();
    bool json = false;
    bool detach = false;
    bool dryRun = false;
};

void addNewOptions(CLI::App& command, NewOptions& o, bool runs)
{
    o.presetOption
        = command
              .add_option("--preset", o.preset,
                  "Starting point: char, 10m, 30m, 124m and others; 'furrowctl settings --presets' lists all.")
              ->capture_default_str();
    command.add_option("--config", o.configFile, "JSON file with settings; options on the command line win.");
    command.add_option("--out", o.out,
        "Folder of the run. Without it one is made below the workspace. A run in DIR/runs has its cache in DIR/cache, any other one in its own folder.");
    command
        .add_option("--workspace", o.workspace,
            "Folder that keeps runs, cache and presets. A run that --out puts elsewhere does not share its cache.")
        ->capture_default_str();
    command.add_flag("--json", o.json, "Print JSON.");
    if (runs)
        command.add_flag("--detach", o.detach, "Return once the run trains, instead of showing its progress.");
    else
        command.add_flag("--dry-run", o.dryRun, "Check everything and make nothing.");
    o.settings.addTo(command, false);
}

/// Preset, then file, then options; the bundled text when no data is named.
Result<RunConfig> configure(const NewOptions& o)
{
    if (o.out.empty())
        FURROW_TRY(checkWorkspace(o.workspace)); // before data is read for it
    auto preset = findPreset(o.preset);
    if (!preset.ok())
        return Error { ErrorCode::InvalidArgument, preset.error().message };
    RunConfig config = preset.value().config;
    std::vector<ConfigProblem> problems;
    if (!o.configFile.empty()) {
        FURROW_TRY_ASSIGN(auto text, readFile(o.configFile, 16 << 20));
        std::string why;
        const auto json = parseBoundedJson(text, why);
        if (!json)
            return Error { ErrorCode::InvalidArgument,
                sentence("%1 cannot be read as settings: %2.", { o.configFile, why }) };
        auto reading = configFromJson(*json, config);
        config = reading.config;
        problems = reading.problems;
    }
    const auto given = o.settings.apply(config);
    problems.insert(problems.end(), given.begin(), given.end());
    if (config.data.empty()) {
        FURROW_TRY_ASSIGN(auto sample, resourcePath("sample/tinyshakespeare.txt"));
        config.data = { sample.string() };
    }
    if (!problems.empty())
        return Error { ErrorCode::InvalidArgument, toString(problems) };
    FURROW_TRY(bringModel(config.initFrom, o.json));
    FURROW_TRY_ASSIGN(
        const auto adopted, adoptModel(config, preset.value().config, o.settings.given())); // createRun says it
    if (problems = validate(config); !problems.empty())
        return Error { ErrorCode::InvalidArgument, toString(problems) };
    return config;
}

/// Which cache the run has, where it is not that of the workspace.
void tellCache(const NewOptions& o, const RunPaths& paths)
{
    const auto shared = absolutePath(pathFromUtf8(o.workspace));
    const auto cache = absolutePath(paths.cacheFolder());
    if (o.json || cache == cacheOfWorkspace(shared))
        return;
    std::cerr << "Prepared blocks and downloads of this run go into " << plainLine(utf8Text(cache))
              << ": it lies outside of " << plainLine(utf8Text(shared / "runs"))
              << " and does not share the cache of that workspace." << std::endl;
}

Result<RunPaths> create(const NewOptions& o, const RunConfig& config)
{
    if (o.presetOption->count() == 0 && !o.json) {
        const auto preset = findPreset(o.preset);
        std::cerr << "No --preset: the settings not given are those of '" << o.preset << "' (" << preset.value().title
                  << "); 'furrowctl settings' lists them." << std::endl; // configure() has found it
    }
    NewRun request;
    request.config = config;
    request.preset = o.preset;
    request.folder = o.out;
    request.workspace = o.workspace;
    request.onlyTry = o.dryRun;
    const auto progress = [&](const std::string& sentence) {
        if (!o.json)
            std::cerr << sentence << std::endl;
    };
    auto made = createRun(request, progress);
    if (made.ok())
        tellCache(o, made.value());
    return made;
}

/// Refuses, before anything is made or started, what this machine cannot compute, and warns people of what will
/// disappoint them; createRun says the same of a new run. Devices that are not here are for createRun and startRun to
/// refuse.
Status checkMachine(const RunConfig& config, bool json)
{
    const auto placed = placeWorkersHere(config);
    if (!placed.ok())
        return {};
    if (auto possible = canCompute(config, placed.value()); !possible.ok() || json)
        return possible;
    for (const auto& warning : machineWarnings(config, placed.value(), Machine::here()))
        std::cerr << warning << std::endl;
    return {};
}

int runNew(const NewOptions& o)
{
    auto config = configure(o);
    if (!config.ok())
        return fail(config.error(), o.json);
    auto paths = create(o, config.value());
    if (!paths.ok())
        return fail(paths.error(), o.json);
    if (o.dryRun) {
        if (o.json)
            print(toJson(config.value()));
        else
            std::cout << "Everything is in order; nothing was made." << std::endl;
        return kDone;
    }
    if (o.json)
        print({ { "run", paths.value().folder().string() } });
    else
        std::cout << paths.value().folder().string() << std::endl;
    return kDone;
}

int start(const RunPaths& paths, const RunConfig& config, bool json, bool detach, const ResumeChoice& choice = {})
{
    auto started = startRun(paths, config, {}, choice);
    if (!started.ok())
        return fail(started.error(), json);
    if (!detach)
        return watchRun(paths, json);
    const auto begun = waitUntilBegun(paths, started.value());
    if (!begun.ok())
        return fail(begun.error(), json);
    if (json)
        print({ { "run", paths.folder().string() }, { "supervisor", { { "pid", started.value().pid } } } });
    else
        std::cout << paths.folder().string() << (begun.value() ? " trains" : " is being put in order before it trains")
                  << ", supervised by process " << started.value().pid << "." << std::endl;
    return kDone;
}

int runRun(const NewOptions& o)
{
    auto config = configure(o);
    if (!config.ok())
        return fail(config.error(), o.json);
    if (auto possible = requireWorker(); !possible.ok()) // a run that nobody can train is not made
        return fail(possible.error(), o.json);
    auto paths = create(o, config.value());
    if (!paths.ok())
        return fail(paths.error(), o.json);
    if (!o.json)
        std::cerr << "Run folder: " << paths.value().folder().string() << std::endl;
    auto frozen = currentConfig(paths.value()); // with the name and the absolute paths it was given
    if (!frozen.ok())
        return fail(frozen.error(), o.json);
    return start(paths.value(), frozen.value(), o.json, o.detach);
}

struct ResumeOptions {
    SettingOptions settings;
    std::string folder;
    std::string checkpoint;
    bool json = false;
    bool detach = false;
    bool dryRun = false;
    bool acceptLoss = false;
    std::optional<RateChoice> rate;
};

nlohmann::json fatesJson(const ResumePlan& plan, const std::vector<ChunkCell>& cells)
{
    std::array<std::int64_t, kChunkFates> count {};
    std::int64_t accepted = 0;
    std::int64_t triedAgain = 0;
    for (const ChunkCell& cell : cells) {
        ++count[static_cast<std::size_t>(plan.effect.fateOf(cell))];
        triedAgain += std::ranges::binary_search(plan.effect.triedAgain, cell.id);
        accepted += cell.state == ChunkState::Accepted;
    }
    const auto of = [&count](ChunkFate fate) { return count[static_cast<std::size_t>(fate)]; };
    return { { "kept", of(ChunkFate::Kept) }, { "redo", of(ChunkFate::Redo) }, { "work_lost", of(ChunkFate::Lost) },
        { "orphaned", of(ChunkFate::Released) }, { "partly_trained", of(ChunkFate::Partly) },
        { "free", of(ChunkFate::Free) }, { "excluded", of(ChunkFate::Excluded) },
        { "trained_by_parent", of(ChunkFate::Parents) }, // and left out here
        { "poisoned", of(ChunkFate::Poisoned) - accepted }, { "accepted", accepted },
        { "tried_again", triedAgain } }; // counted above too: as free, as a rule
}

nlohmann::json partJson(const ResumeEffect::KeptParts& part)
{
    return { { "chunks", part.chunks }, { "samples_done", part.samplesDone }, { "samples", part.samples } };
}

/// Sums over the open epochs, then each of them.
nlohmann::json planJson(const ResumePlan& plan)
{
    std::vector<ChunkCell> all;
    nlohmann::json epochs = nlohmann::json::array();
    for (const auto& epoch : plan.effect.epochs) {
        all.insert(all.end(), epoch.cells.begin(), epoch.cells.end());
        epochs.push_back(fatesJson(plan, epoch.cells));
        epochs.back()["epoch"] = epoch.epoch + 1;
        epochs.back()["kept_skipped"] = plan.effect.keptUntrained(epoch.epoch);
    }
    nlohmann::json json = fatesJson(plan, all);
    json.update({ { "epochs", epochs }, { "again", plan.effect.again() },
        { "kept_skipped", plan.effect.keptUntrained() }, // of the kept ones: nothing of them is in the weights
        { "partly_left_out", plan.effect.keptOfLeftOut().chunks }, // of the excluded ones and the accepted
        { "again_partly_kept", partJson(plan.effect.keptOfAgain()) }, // of `again`: only the rest of them is trained
        { "given_up",
            { { "went_back", plan.givenUp.wentBack }, { "damaged", plan.givenUp.damaged },
                { "now", plan.givenUp.now } } },
        { "twice", plan.twice ? nlohmann::json(*plan.twice) : nlohmann::json(nullptr) },
        { "missing", plan.missing ? nlohmann::json(*plan.missing) : nlohmann::json(nullptr) },
        { "loss", plan.loss.text() }, { "older_tracker", plan.olderTracker }, { "notes", plan.notes },
        { "checkpoints", nlohmann::json::array() } });
    for (const auto& choice : plan.checkpoints)
        json["checkpoints"].push_back({ { "id", choice.row.id.value }, { "folder", choice.row.record.folder },
            { "head", choice.row.head }, { "verified", choice.verified }, { "damaged", choice.damaged },
            { "problem", choice.problem }, { "needs_accept_loss", !choice.loss.empty() },
            { "can_be_chosen", choice.canBeChosen }, { "kept", choice.kept }, { "redo", choice.redo.size() } });
    return json;
}

/// By its folder, or by its number, as the console shows it.
bool isNamed(const SupervisorLedger::CheckpointRow& row, const std::string& name)
{
    return row.record.folder == name || std::to_string(row.id.value) == name;
}

/// The plan of a resume from the checkpoint of that name instead of the newest.
Result<const ResumePlan::CheckpointChoice*> choose(const RunPaths& paths, ResumePlan& plan, const std::string& folder)
{
    for (const auto& choice : plan.checkpoints) {
        if (!isNamed(choice.row, folder))
            continue;
        if (!choice.canBeChosen)
            return Error { ErrorCode::InvalidArgument,
                sentence("Checkpoint %1 cannot be chosen: %2", { folder, choice.problem }) };
        FURROW_TRY_ASSIGN(auto reader, openLedger(paths));
        FURROW_TRY_ASSIGN(plan.effect, resumeEffect(reader, choice.row.id, plan.files()));
        FURROW_TRY_ASSIGN(plan.givenUp, givenUpChunks(plan.effect, reader));
        return &choice;
    }
    return Error { ErrorCode::InvalidArgument,
        sentence("The run has no checkpoint %1 with files; the dry run lists those it has.", { folder }) };
}

/// The settings of the next attempt.
Result<RunConfig> wantedBy(const ResumeOptions& o)
{
    FURROW_TRY_ASSIGN(auto config, currentConfig(RunPaths(o.folder)));
    if (const auto problems = o.settings.apply(config); !problems.empty())
        return Error { ErrorCode::InvalidArgument, toString(problems) };
    return config;
}

/// How the learning rate would go on with these settings.
/// @param from  the checkpoint that was chosen; null: the newest of each replica
Result<RateForecast> rateAfter(
    const ResumeOptions& o, const RunConfig& wanted, const ResumePlan& plan, const ResumePlan::CheckpointChoice* from)
{
    FURROW_TRY_ASSIGN(const auto placed, placeWorkersHere(wanted));
    return forecastRate(
        plan.rate, wanted, std::ssize(placed), o.rate, from == nullptr ? plan.redoTokens : from->redoTokens);
}

/// What lets a resume begin that is refused because of what it would leave behind.
std::string wayOut(const ResumeOptions& o, const ResumePlan& plan)
{
    if (plan.olderTracker.empty() && isForRights(plan.loss)) // nobody is advised to give up weights for a mode bit
        return {};
    return plan.olderTracker.empty() ? " With --accept-loss it begins all the same."
                                     : " 'furrowctl doctor " + o.folder + "' says what can be done.";
}

/// What a dry run found out.
struct DryRun {
    ResumePlan plan;
    RateForecast rate;
    Message limit; ///< why the attempt would end as soon as it has begun; "": there is something to train
    Message replicas; ///< what becomes of them; "": each goes on as it is
    LeftOutOfData leftOut;
    Status verdict; ///< what the resume would answer
    std::string wayOut; ///< an option or a command, where the verdict does not say it itself
};

/// "": there are none.
std::string parentsText(std::int64_t chunks)
{
    if (chunks == 0)
        return {};
    return " Trained by the parent run: " + formatCount(chunks)
        + (chunks == 1 ? " chunk, which stays left out." : " chunks, which stay left out.");
}

/// Of chunks that are poisoned now and not any more then; "": there are none.
std::string triedAgainText(std::int64_t chunks)
{
    if (chunks == 0)
        return {};
    if (chunks == 1)
        return " 1 chunk could not be read because its file came wrong; it is tried again.";
    return " " + formatCount(chunks)
        + " chunks could not be read because their files came wrong; they are tried again.";
}

/// Of the lost chunks, those that did not die with a worker: the run goes on without the checkpoint that had them.
/// @param fromOlder  this resume goes back to a checkpoint
std::string givenUpText(const GivenUpChunks& givenUp, bool fromOlder)
{
    const std::int64_t wentBack = givenUp.wentBack + (fromOlder ? givenUp.now : 0);
    const std::int64_t damaged = givenUp.damaged + (fromOlder ? 0 : givenUp.now);
    std::string text;
    if (wentBack > 0)
        text += ", " + formatCount(wentBack)
            + " because the run goes on from a checkpoint that is older than the one that had them";
    if (damaged > 0)
        text += ", " + formatCount(damaged)
            + " because the checkpoint that had them is damaged, gone or left out of a merge";
    return text;
}

void printWords(const ResumeOptions& o, const DryRun& dry)
{
    const auto& p = dry.plan;
    const auto count = [&p](ChunkFate fate) { return formatCount(p.effect[fate]); };
    const std::string resume = "A resume" + (o.checkpoint.empty() ? "" : " from " + o.checkpoint);
    if (!dry.verdict.ok())
        std::cout << resume << " is refused. " << withFullStop(dry.verdict.error().message) << dry.wayOut
                  << "\nOtherwise it would go on like this. ";
    else
        std::cout << resume << " would go on like this. ";
    std::cout << effectSentence(p.effect) << "\n"
              << "  " << count(ChunkFate::Redo)
              << (o.checkpoint.empty() ? " because their checkpoints are not whole, " : " that were trained after it, ")
              << formatCount(p.effect[ChunkFate::Lost] - p.givenUp.sum())
              << " because their weights died before a checkpoint" << givenUpText(p.givenUp, !o.checkpoint.empty())
              << ". " << count(ChunkFate::Released) << " claims of dead workers that were never begun are released. "
              << count(ChunkFate::Partly)
              << (p.effect.keptOfAgain().chunks > 0 ? " more are partly trained and go on, "
                                                    : " are partly trained and go on, ")
              << count(ChunkFate::Free) << " chunks are free, " << count(ChunkFate::Excluded) << " excluded, "
              << count(ChunkFate::Poisoned) << " poisoned or accepted." << parentsText(p.effect[ChunkFate::Parents])
              << triedAgainText(std::ssize(p.effect.triedAgain)) << "\n";
    if (p.twice)
        std::cout << "Chunks twice " << *p.twice << ", missing " << *p.missing << ".\n";
    for (const auto& choice : p.checkpoints)
        if (choice.canBeChosen)
            std::cout << "  " << choice.row.id.value << ", " << choice.row.record.folder
                      << (choice.row.head ? " (newest)" : "") << ": trains " << choice.redo.size()
                      << " of the committed chunks again\n";
    for (const auto& note : p.notes)
        std::cout << note << "\n";
    if (!dry.replicas.empty())
        std::cout << dry.replicas << "\n";
    std::cout << dry.rate.text() << "\n";
    if (const auto drawing = dry.rate.drawing(); !drawing.empty())
        std::cout << (dry.rate.changed ? "Before, and from now to the end:\n" : "From now to the end:\n") << drawing
                  << "\n";
    if (!dry.limit.empty() && dry.verdict.ok())
        std::cout << dry.limit << "\n";
    std::cout << "Nothing was changed." << std::endl;
}

void printJson(const DryRun& dry)
{
    auto json = planJson(dry.plan);
    json["rate"] = toJson(dry.rate);
    json["replicas"] = dry.replicas;
    json["limit_reached"] = dry.limit;
    json["data"] = { { "changed", dry.plan.data.look.changed.size() },
        { "looked_at", dry.plan.data.look.unknown.empty() }, { "left_out_chunks", dry.leftOut.chunks },
        { "left_out_rows", dry.leftOut.rows }, { "left_out_all_known", dry.plan.data.isAllKnown } };
    json["refusal"] = dry.verdict.ok() ? "" : withoutSecrets(dry.verdict.error().message);
    print(json);
}

void addData(const RunConfig& wanted, const ResumePlan::CheckpointChoice* from, DryRun& dry)
{
    const ResumeEffect older = from == nullptr ? ResumeEffect() : dry.plan.effectOf(*from);
    const ResumeEffect& effect = from == nullptr ? dry.plan.effect : older;
    dry.leftOut = leftOutOf(dry.plan.data, wanted, effect);
    for (auto& note : dataNotes(dry.plan.data, wanted, effect))
        dry.plan.notes.push_back(std::move(note));
}

Result<DryRun> tryResume(const ResumeOptions& o)
{
    const RunPaths paths(o.folder);
    FURROW_TRY_ASSIGN(auto wanted, wantedBy(o));
    FURROW_TRY_ASSIGN(auto plan, planResume(paths));
    FURROW_TRY_ASSIGN(const auto file, readRunFile(paths));
    FURROW_TRY_ASSIGN(auto reader, openLedgerItself(paths));
    FURROW_TRY(checkNextSettings(paths, file, reader, wanted));
    FURROW_TRY_ASSIGN(plan.data, lookAtData(paths));
    const ResumePlan::CheckpointChoice* from = nullptr;
    if (!o.checkpoint.empty()) {
        FURROW_TRY_ASSIGN(auto chosen, choose(paths, plan, o.checkpoint));
        from = chosen;
    }
    FURROW_TRY_ASSIGN(auto rate, rateAfter(o, wanted, plan, from));
    FURROW_TRY_ASSIGN(auto status, readStatus(paths));
    DryRun dry { .plan = std::move(plan), .rate = std::move(rate) };
    if (from == nullptr)
        dry.replicas = replicasInWords(dry.plan.heads, wanted);
    dry.limit = limitInWords(limitReached(status, dry.plan, wanted, from), status, wanted);
    addData(wanted, from, dry);
    dry.verdict = dry.plan.verdict(
        { .goBackTo = from == nullptr ? std::nullopt : std::optional(from->row.id), .acceptLoss = o.acceptLoss });
    if (!dry.verdict.ok() && !dry.plan.refusal)
        dry.wayOut = wayOut(o, dry.plan);
    else if (dry.verdict.ok())
        dry.verdict = refuseNothingLeft(status, dry.plan, wanted, from);
    if (dry.verdict.ok())
        dry.verdict = refuseChangedData(dry.plan.data, wanted);
    return dry;
}

int runDryResume(const ResumeOptions& o)
{
    const auto dry = tryResume(o);
    if (!dry.ok())
        return fail(dry.error(), o.json);
    if (o.json)
        printJson(dry.value());
    else
        printWords(o, dry.value());
    return dry.value().verdict.ok() ? kDone : exitCodeFor(dry.value().verdict.error());
}

Result<CheckpointId> checkpointNamed(const RunPaths& paths, const std::string& folder)
{
    auto reader = openLedger(paths);
    FURROW_TRY_ASSIGN(auto rows, reader.ok() ? reader.value().checkpoints() : reader.error());
    for (const auto& row : rows)
        if (isNamed(row, folder))
            return row.id;
    return Error { ErrorCode::InvalidArgument,
        sentence("The run has no checkpoint %1; 'furrowctl resume --dry-run' lists those it has.", { folder }) };
}

int runResume(const ResumeOptions& o)
{
    const RunPaths paths(o.folder);
    if (o.dryRun)
        return runDryResume(o);
    auto config = wantedBy(o);
    if (!config.ok())
        return fail(config.error(), o.json);
    if (auto possible = checkMachine(config.value(), o.json); !possible.ok())
        return fail(possible.error(), o.json);
    ResumeChoice choice { .acceptLoss = o.acceptLoss, .rate = o.rate };
    if (!o.checkpoint.empty()) {
        auto checkpoint = checkpointNamed(paths, o.checkpoint);
        if (!checkpoint.ok())
            return fail(checkpoint.error(), o.json);
        choice.goBackTo = checkpoint.value();
    }
    return start(paths, config.value(), o.json, o.detach, choice);
}

int runSettings(const std::string& presetName, const std::string& initFrom, bool listPresets, bool json)
{
    const auto preset = findPreset(presetName);
    if (!preset.ok())
        return failUsage(preset.error().message, json);
    RunConfig config = preset.value().config;
    config.initFrom = initFrom;
    if (auto there = bringModel(config.initFrom, json); !there.ok())
        return fail(there.error(), json);
    const auto adopted = adoptModel(config, preset.value().config);
    if (!adopted.ok())
        return fail(adopted.error(), json);
    const auto comesFrom = [&](const Setting& s) {
        const bool isTaken = !adopted.value().empty() && (isAdopted(s) || s.key == "tokenizer");
        return isTaken ? "init_from" : "preset";
    };
    nlohmann::json all = nlohmann::json::array();
    if (listPresets) {
        for (const auto& p : presets())
            all.push_back(
                { { "name", p.name }, { "title", p.title }, { "hint", p.hint }, { "config", toJson(p.config) } });
    } else {
        for (const auto& s : settings())
            all.push_back({ { "key", s.key }, { "option", s.option() }, { "group", toString(s.group) },
                { "unit", s.unit }, { "default", settingText(config, s) }, { "from", comesFrom(s) },
                { "choices", s.choiceValues() }, { "help", s.fullHelp() },
                { "resume",
                    s.resume == ResumeRule::Safe         ? "safe"
                        : s.resume == ResumeRule::Unsafe ? "unsafe"
                                                         : "refused" } });
    }
    if (json) {
        print(all);
        return kDone;
    }
    if (!listPresets)
        std::cout << "What a run without further options takes: preset '" << preset.value().name << "', "
                  << preset.value().title << ".\n";
    for (const auto& line : adopted.value())
        std::cout << line << "\n";
    for (const auto& item : all) {
        if (listPresets)
            std::cout << item["name"].get<std::string>() << ": " << item["title"].get<std::string>() << ". "
                      << item["hint"].get<std::string>() << "\n";
        else
            std::cout << item["option"].get<std::string>() << " (" << item["group"].get<std::string>() << ", default '"
                      << item["default"].get<std::string>()
                      << (item["from"] == "init_from" ? "' from init_from, resume " : "', resume ")
                      << item["resume"].get<std::string>() << ")\n    " << item["help"].get<std::string>() << "\n";
    }
    return kDone;
}

} // namespace

void addRunCommands(CLI::App& app, Chosen& chosen)
{
    auto fresh = std::make_shared<NewOptions>();
    auto* make
        = app.add_subcommand("new", "Make a run: check settings and data, freeze them into a folder. Does not train.");
    addNewOptions(*make, *fresh, false);
    make->callback([&chosen, fresh] { chosen.action = [fresh] { return runNew(*fresh); }; });

    auto running = std::make_shared<NewOptions>();
    auto* run = app.add_subcommand("run", "Make a run and train it. Without --data it trains the bundled text.");
    addNewOptions(*run, *running, true);
    run->callback([&chosen, running] { chosen.action = [running] { return runRun(*running); }; });

    auto again = std::make_shared<ResumeOptions>();
    auto* resume = app.add_subcommand(
        "resume", "Go on with a run that was stopped, interrupted or finished (with a larger stopping rule).");
    resume->add_option("run", again->folder, "Folder of the run.")->required();
    resume->add_flag("--json", again->json, "Print JSON.");
    resume->add_flag("--detach", again->detach, "Return once the run trains.");
    resume->add_flag("--dry-run", again->dryRun,
        "Say what would happen to each chunk, or why the resume would be refused (with its exit code); change nothing.");
    resume->add_option("--from-checkpoint", again->checkpoint,
        "Folder name below checkpoints/, or number, of what to go on from; what was trained after it is trained again. Without it the newest.");
    resume->add_flag("--accept-loss", again->acceptLoss,
        "Go on although newest checkpoints are damaged or cannot be read: the ones before them are used, or the start weights, and their chunks are trained again. Of a tracker that is older than the weights: go on from what is there of the checkpoints that it knows (--dry-run says which); the others are moved to checkpoints/unknown.");
    addChoice<RateChoice>(*resume, "--rate-plan", again->rate,
        "How the learning rate goes on. smooth: it is led to the new schedule over a share of what is left; a lowered peak or floor holds at once (without this option, where settings change it). keep: the schedule keeps its length. stretch: the new schedule at once. restart: a new cycle from here, after a new warm-up.");
    again->settings.addTo(*resume, true);
    resume->callback([&chosen, again] { chosen.action = [again] { return runResume(*again); }; });

    auto listPresets = std::make_shared<bool>(false);
    auto json = std::make_shared<bool>(false);
    auto preset = std::make_shared<std::string>(kDefaultPreset);
    auto initFrom = std::make_shared<std::string>();
    auto* list = app.add_subcommand("settings", "List every setting with its default, range and meaning.");
    list->add_option("--preset", *preset, "Show the defaults of this preset.")->capture_default_str();
    list->add_option("--init-from", *initFrom, "Show what a run that starts from there takes over.");
    list->add_flag("--presets", *listPresets, "List the presets instead.");
    list->add_flag("--json", *json, "Print JSON.");
    list->callback([&chosen, preset, initFrom, listPresets, json] {
        chosen.action
            = [preset, initFrom, listPresets, json] { return runSettings(*preset, *initFrom, *listPresets, *json); };
    });
}

} // namespace furrow::ctl
