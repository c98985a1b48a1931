// A run is made in a folder of another name and put in place when it is whole (WholeFolder), run.json last: an error or
// a crash leaves nothing that looks like a run.

#include "core/base/absolute_path.h"
#include "core/base/clock.h"
#include "core/base/dead_link.h"
#include "core/base/file_system.h"
#include "core/base/format.h"
#include "core/base/hash.h"
#include "core/base/is_there.h"
#include "core/base/number_of.h"
#include "core/base/path.h"
#include "core/base/process.h"
#include "core/base/random.h"
#include "core/base/redact.h"
#include "core/base/scratch_folder.h"
#include "core/base/secret_variables.h"
#include "core/base/sentence.h"
#include "core/base/utf8.h"
#include "core/base/whole_folder.h"
#include "core/config/message_json.h"
#include "core/config/named_tokenizer.h"
#include "core/config/warm_up.h"
#include "core/config/worker_task.h"
#include "core/data/block/chunk_windows.h"
#include "core/data/source/distant_source.h"
#include "core/data/hub/hub_pieces.h"
#include "core/data/plan/inspect.h"
#include "core/data/overlap.h"
#include "core/data/question_file.h"
#include "core/data/plan/passed_over.h"
#include "core/data/plan/sample_encoder.h"
#include "core/data/tokenizer/tokenizer.h"
#include "core/device/machine_fit.h"
#include "core/device/placement.h"
#include "core/run/folder/adopted_model.h"
#include "core/run/folder/before_writing.h"
#include "core/run/folder/held_out_text.h"
#include "core/run/folder/start_weights_hash.h"
#include "core/run/status/brain.h"
#include "core/run/start/data_fit.h"
#include "core/run/start/life_cycle.h"
#include "core/run/start/new_run_folder.h"
#include "core/run/start/run_length.h"
#include "core/run/start/start_at.h"
#include "core/run/status/tracker_config.h"
#include "core/run/start/worker_check.h"
#include "core/tracker/order.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

namespace furrow {

namespace {

/// By which the tracker is made: the time of run.json.
class CreationTime : public Clock {
public:
    explicit CreationTime(std::int64_t wallNs)
        : wallNs_(wallNs)
    {
    }
    std::int64_t monotonicNs() const override { return systemClock().monotonicNs(); }
    std::int64_t wallNs() const override { return wallNs_; }

private:
    std::int64_t wallNs_;
};

using Progress = std::function<void(const std::string&)>;
constexpr std::uint64_t kMaxCharVocabularyBytes = 1ull << 30;
constexpr std::size_t kMaxCharPieces = 60'000;

/// Letters, digits, '-' and '_' of a name; everything else becomes '-'.
std::string safeName(const std::string& name)
{
    std::string safe;
    for (const unsigned char c : name)
        safe += std::isalnum(c) || c == '_' ? static_cast<char>(std::tolower(c)) : '-';
    while (!safe.empty() && safe.front() == '-')
        safe.erase(safe.begin());
    return safe.substr(0, 40);
}

std::string defaultName(const NewRun& request)
{
    const std::string& source = request.config.data.front();
    const auto slash = source.find_last_of("/:");
    const std::string last = slash == std::string::npos ? source : source.substr(slash + 1);
    return safeName(last.substr(0, last.find('.')) + "-" + request.preset);
}

Status checkName(const std::string& name)
{
    const auto characters = std::count_if(
        name.begin(), name.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
    if (characters <= kMostNameCharacters)
        return {};
    return Error { ErrorCode::InvalidArgument,
        sentence("name has %1 characters, allowed are %2. Choose a shorter one.",
            { std::to_string(characters), std::to_string(kMostNameCharacters) }) };
}

Status checkShape(const RunConfig& config)
{
    const auto shape = config.shape.empty() ? Result<ModelConfig>(ModelConfig {}) : parseShape(config.shape);
    return shape.ok() ? Status {} : shape.error().in(Message::of({}, { settingTerm("shape") }));
}

Result<std::shared_ptr<const Tokenizer>> makeTokenizer(const RunConfig& config, const DataInspection& data)
{
    if (closedValue<NamedTokenizer>(config.tokenizer) != NamedTokenizer::Char)
        return loadTokenizer(config.tokenizer);
    if (data.bytes > kMaxCharVocabularyBytes)
        return Error { ErrorCode::InvalidArgument,
            sentence(
                "tokenizer is char, which reads all data to find its characters; %1 is too much for that. Use byte or gpt2.",
                { Bytes(data.bytes) }) };
    // The texts are walked by a callback and asked for by another: each distinct piece is kept once in between.
    std::set<std::string> pieces;
    const auto walked = forEachText(config, data.manifest, [&pieces](std::string_view text) {
        for (std::size_t i = 0; i < text.size();) {
            std::size_t end = i + 1;
            while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80)
                ++end;
            pieces.emplace(text.substr(i, end - i));
            i = end;
        }
        return pieces.size() < kMaxCharPieces;
    });
    if (!walked.ok())
        return walked.error();
    if (pieces.size() >= kMaxCharPieces)
        return Error { ErrorCode::InvalidArgument,
            sentence("tokenizer is char, but the data has more than %1 different characters. Use byte or gpt2.",
                { Count(kMaxCharPieces) }) };
    auto next = pieces.begin();
    return buildCharTokenizer(
        [&](std::string_view& piece) {
            if (next == pieces.end())
                return false;
            piece = *next++;
            return true;
        },
        CharFallback::Unknown);
}

/// A model of init_from has rows for a vocabulary of its own, often some more than its tokenizer has ids.
Status checkVocabulary(const RunConfig& config, const Tokenizer& tokenizer)
{
    const auto rows = modelConfigOf(config, tokenizer.vocabularySize()).vocabularySize;
    if (static_cast<std::int64_t>(tokenizer.vocabularySize()) <= rows)
        return {};
    return Error { ErrorCode::InvalidArgument,
        sentence(
            "tokenizer is %1 with %2 ids, but the model of init_from has %3. Leave tokenizer out, or name that model's.",
            { config.tokenizer, Count(tokenizer.vocabularySize()), Count(rows) }) };
}

/// Relative paths would mean something else to the processes of the run.
void makeAbsolute(RunConfig& config)
{
    const auto path = [](std::string& place) { place = absolutePath(place).string(); };
    const auto source = [&](std::string& place) {
        if (!isDistantPath(place))
            path(place);
    };
    std::for_each(config.data.begin(), config.data.end(), source);
    if (!config.evalData.empty())
        source(config.evalData);
    for (auto* file : { &config.exclude, &config.evalTasks })
        if (!file->empty())
            path(*file);
    if (!closedValue<NamedTokenizer>(config.tokenizer))
        path(config.tokenizer);
    if (!config.initFrom.empty())
        path(config.initFrom);
    if (namesChatFile(config))
        path(config.chatTemplate);
}

/// Refuses a file that holds none, and says what is asked of the others.
Status describeQuestions(const RunConfig& config, const Progress& say)
{
    if (config.evalTasks.empty())
        return {};
    const auto read = readQuestions(pathFromUtf8(config.evalTasks));
    if (!read.ok())
        return read.error().in("eval_tasks");
    const auto count = std::ssize(read.value().questions);
    const auto asked = config.evalTasksLimit == 0 ? count : std::min(count, config.evalTasksLimit);
    say("Questions: " + config.evalTasks + "; each evaluation asks "
        + (asked < count ? "the first " + formatCount(asked) + " of " + formatCount(count)
                         : "all " + formatCount(count)));
    if (read.value().unusable > 0)
        say(sentence("Lines of %1 that are not questions and are left out: %2. The first: %3.",
            { config.evalTasks, Count(read.value().unusable), read.value().firstUnusable }));
    return {};
}

/// A copy: the answers of a whole run are to the same questions.
Status keepQuestions(const RunPaths& paths, RunFile& file)
{
    if (file.config.evalTasks.empty())
        return {};
    FURROW_TRY_ASSIGN(const auto text, readFile(pathFromUtf8(file.config.evalTasks), kMostQuestionBytes));
    file.questionsHash = sha256Hex(text);
    return writeFileDurably(realFileSystem(), paths.questionsFile(), text);
}

Status fill(const RunPaths& paths, RunFile& file, const std::optional<ParentFile>& parent, const Tokenizer& tokenizer,
    const DataLook& look, std::int64_t rows, const Progress& say)
{
    FileSystem& files = realFileSystem();
    for (const auto& folder : { paths.folder(), paths.telemetryFolder(), paths.logsFolder(), paths.checkpointsFolder(),
             paths.writingNotesFolder(), paths.exportsFolder() })
        FURROW_TRY(files.createFolders(folder));
    FURROW_TRY(writeFileDurably(files, paths.tokenizer(), tokenizer.definition()));
    say(file.config.evalData.empty() ? "Setting held-out text aside" : "Reading the evaluation text");
    FURROW_TRY_ASSIGN(const auto left, writeHeldOut(file, tokenizer, paths.evaluationFile()));
    file.evaluationNotes = leftInWords(left);
    for (const Message& what : file.evaluationNotes)
        say(what);
    FURROW_TRY_ASSIGN(auto hash, sha256File(paths.evaluationFile()));
    file.heldOutHash = hash;
    if (!file.config.evalData.empty()) {
        FURROW_TRY_ASSIGN(const auto set, readHeldOut(paths.evaluationFile()));
        FURROW_TRY_ASSIGN(const auto overlap,
            overlapWithTraining(
                file.config, file.dataManifest, set.text.fingerprints, HeldOutLimits {}.maxScannedBytes));
        say("Evaluation text: " + file.config.evalData + "; " + describe(overlap));
    }
    file.epoch = judgedEpochLength(paths, file, look, rows);
    FURROW_TRY(keepQuestions(paths, file));
    FURROW_TRY(SupervisorLedger::create(
        paths.tracker(), trackerConfig(file, parent), stoppingRules(file.config), CreationTime(file.createdWallNs)));
    if (parent)
        FURROW_TRY(writeParent(paths, *parent));
    FURROW_TRY(keepOrigin(paths, file.config, files));
    FURROW_TRY_ASSIGN(const auto manifest, readManifest(file.dataManifest));
    if (manifest.chat)
        FURROW_TRY(keepChatFormat(paths, *manifest.chat, files));
    FURROW_TRY_ASSIGN(file.originHash, originHash(paths));
    return writeRunFile(paths, file);
}

/// Only furrow-worker can read weights: it tries to make the model of the new run.
Status checkWeights(const RunPaths& paths)
{
    FURROW_TRY_ASSIGN(const auto worker, workerProgram());
    ProcessOptions options;
    options.arguments = taskArguments(WorkerTask::Check, { utf8Text(paths.folder()), "--json" });
    options.outputFile = paths.logFile(0, "check");
    FURROW_TRY_ASSIGN(auto child, ChildProcess::start(worker, options));
    constexpr auto kLongest = std::chrono::minutes(10); // of reading weights from a slow disk
    const auto exit = child.wait(kLongest);
    if (exit && exit->signal == 0 && exit->exitCode == 0)
        return {};
    const auto said = readFile(options.outputFile, 1 << 20);
    const auto from = said.ok() ? said.value().rfind("{\"error\"") : std::string::npos;
    const auto json = from == std::string::npos ? nlohmann::json()
                                                : nlohmann::json::parse(said.value().substr(from), nullptr, false);
    if (const auto why = answeredError(json))
        return Error { ErrorCode::InvalidArgument, *why };
    return Error { ErrorCode::Internal,
        sentence("init_from could not be checked: furrow-worker ended with %1.",
            { exit ? exit->describe() : sentence("no answer in ten minutes") }) };
}

/// What the claim order mixes of what a full shuffle would, in the first epoch and in later ones.
std::string describeOrder(const RunConfig& config, std::int64_t blocks, std::int64_t chunks)
{
    const OrderRule rule { static_cast<std::uint64_t>(config.seed), config.shuffleWindowBlocks, false,
        parseChunkName(config.startAt) };
    const auto percent = [&](std::int64_t epoch) {
        return formatNumber(100 * mixingScore(rule, epoch, blocks, chunks / blocks), 0) + " %";
    };
    return "Order: chunks are shuffled in groups of " + formatCount(std::min(config.shuffleWindowBlocks, blocks))
        + " blocks, which mixes " + percent(0) + " of what a full shuffle would"
        + (config.epochs > 1 || config.iterate ? " in the first epoch and " + percent(1) + " in later ones" : "");
}

void describe(const RunConfig& config, const DataInspection& data, const Progress& say)
{
    std::string text = "Data: " + numberOf(data.files, "file") + ", " + formatBytes(data.bytes) + ", "
        + (data.rowsExact ? "" : "about ") + numberOf(data.rows, "sample");
    if (data.blocks && data.chunks)
        text += " in " + numberOf(*data.blocks, "block") + " and " + (data.chunksExact ? "" : "at least ")
            + numberOf(*data.chunks, "chunk");
    say(text);
    for (const auto& line : data.reading)
        say(line);
    if (!data.samplesPerBlockReason.empty())
        say("Samples per block: " + formatCount(data.samplesPerBlock) + ". " + data.samplesPerBlockReason);
    if (config.shuffle && data.blocks && data.chunks)
        say(describeOrder(config, *data.blocks, *data.chunks));
    for (const auto& warning : data.warnings)
        say(warning);
}

/// A template writes tokens that the vocabulary may not have.
void describeChat(
    const RunConfig& config, const DataManifest& manifest, const Tokenizer& tokenizer, const Progress& say)
{
    if (!manifest.chat)
        return;
    say(sentence("Chat template: %1", { config.chatTemplate }));
    for (const auto& token : unknownTokens(*manifest.chat, tokenizer))
        say(token);
}

void describe(const ParentFile& parent, const Progress& say)
{
    if (!parent.sameData)
        say("Start weights: checkpoint " + parent.checkpoint + " of " + parent.folder + ", trained on other data");
    else
        say("Start weights: checkpoint " + parent.checkpoint + " of " + parent.folder + "; "
            + formatCount(parent.chunkCount) + " chunks of this data are in them"
            + (parent.skipped
                    ? " and are left out of the first epoch"
                    : " and are trained again (parent_chunks=skip would leave out those of a pass that is not over)")
            + (parent.partlySamples > 0 ? "; of " + numberOf(parent.partlyChunks, "chunk") + " trained in part "
                        + numberOf(parent.partlySamples, "sample")
                        + " in them, trained again with the rest of the chunk"
                                        : ""));
}

Status refuseFolder(const std::filesystem::path& folder)
{
    if (!isValidUtf8(utf8Text(folder)))
        return Error { ErrorCode::InvalidArgument,
            sentence("The folder %1 has a name that is not UTF-8. Name another folder for the run.",
                { replaceInvalidUtf8(utf8Text(folder)).text }) };
    if (const auto variable = variableOfSecretIn(utf8Text(folder), secretVariables()); !variable.empty())
        return Error { ErrorCode::InvalidArgument,
            sentence(
                "The folder of the run holds the secret of the environment variable %1, which would be shown everywhere. Name another folder.",
                { variable }) };
    if (holdsSecret(utf8Text(folder)))
        return Error {
            ErrorCode::InvalidArgument,
            sentence(
                "The name of the folder of the run holds what looks like a password or a token, which would be shown everywhere. Name another folder with --out.")
        };
    if (isThere(folder / "run.json"))
        return Error { ErrorCode::InvalidArgument,
            sentence("%1 is a run already. 'furrowctl resume' goes on with it; for a new run name another folder.",
                { folder.string() }) };
    if (isThere(folder) && !holdsNothing(folder))
        return Error { ErrorCode::InvalidArgument,
            sentence("%1 is not empty. Name a new folder for the run.", { folder.string() }) };
    for (const auto& place : { folder, RunPaths(folder).cacheFolder() }) // found out now, and not behind the data
        if (const auto deadLink = deadLinkOn(place); !deadLink.empty())
            return Error { ErrorCode::InvalidArgument,
                sentence("cannot create the folder %1", { utf8Text(place) }) + ": " + deadLink };
    if (const auto unsafe = unsafeForLedgerReason(folder.parent_path()); !unsafe.empty())
        return Error { ErrorCode::InvalidArgument,
            sentence("%1 cannot hold a training run: %2", { folder.string(), unsafe }) };
    const auto cache = checkWritable(RunPaths(folder).cacheFolder()); // one that is not there yet is made
    return cache.ok() || cache.error().code == ErrorCode::NotFound ? Status {} : cache;
}

/// Names of files are kept in run.json and shown everywhere; readQuarantineFile() has looked at the quarantine list. A
/// chat template is kept too; it is a program, in which an address may have any parameters.
Status refuseSecretsIn(DataManifest data)
{
    const auto chat = std::exchange(data.chat, std::nullopt);
    data.quarantine.clear();
    if (const auto variable = chat ? variableOfSecretIn(chat->source, secretVariables()) : std::string();
        !variable.empty())
        return Error { ErrorCode::InvalidArgument,
            sentence(
                "The chat template holds the secret of the environment variable %1, which would be kept in the run. Take it out of the template.",
                { variable }) };
    const std::string manifest = writeManifest(data);
    if (const auto variable = variableOfSecretIn(manifest, secretVariables()); !variable.empty())
        return Error { ErrorCode::InvalidArgument,
            sentence(
                "The name of a data file holds the secret of the environment variable %1, which would be kept in the run. Rename the file.",
                { variable }) };
    if (withoutSecrets(manifest) != manifest)
        return Error {
            ErrorCode::InvalidArgument,
            sentence(
                "The name of a data file holds an address with a password or a signature in it, which would be kept in the run. Rename the file.")
        };
    return {};
}

Message lengthInWords(const DataLook& look, const EpochLength& epoch)
{
    const Count tokens(std::llround(epoch.labels));
    if (look.isAtMost)
        return sentence(
            "An epoch trains at most about %1 tokens: what of them repeats other texts, or is left out by name, is known when its blocks are prepared.",
            { tokens });
    return look.isAll ? sentence("An epoch trains %1 tokens.", { tokens })
                      : sentence("An epoch trains about %1 tokens, judged from what was looked at.", { tokens });
}

/// @param said  what the look at the data said already
void sayWhatWasPassedOver(const PassedOver& passed, const std::vector<Message>& said, const Progress& say)
{
    auto all = said;
    passed.addTo(all);
    std::for_each(all.begin() + std::ssize(said), all.end(), say);
}

/// The cache of the run that will be in `folder`: one of its own grows with it.
std::filesystem::path cacheOf(const std::filesystem::path& folder, const RunPaths& growing)
{
    const RunPaths paths(folder);
    const auto cache = paths.cacheFolder();
    return isInside(cache, paths.folder()) ? growing.folder() / cache.filename() : cache;
}

/// Looks at the data, completes `file` and writes everything into the folder.
/// @param cache  cacheOf() it
Status makeWhole(
    const RunPaths& paths, const std::filesystem::path& cache, RunFile& file, std::int64_t workers, const Progress& say)
{
    const KeepHubPieces kept(cache, file.config.cacheGiB);
    FURROW_TRY(describeQuestions(file.config, say));
    say("Looking at the data");
    FURROW_TRY_ASSIGN(auto data, inspectData(file.config));
    describe(file.config, data, say);
    const PassedOver passed;
    FURROW_TRY_ASSIGN(auto tokenizer, makeTokenizer(file.config, data));
    FURROW_TRY(checkVocabulary(file.config, *tokenizer));
    FURROW_TRY_ASSIGN(const auto manifest, readManifest(data.manifest));
    describeChat(file.config, manifest, *tokenizer, say);
    file.config.packing = packingOf(windowRules(file.config), manifest.chat.has_value());
    FURROW_TRY_ASSIGN(const DataFit fit, fitOf(file.config, data, *tokenizer));
    if (!fit.problems.empty())
        return Error { ErrorCode::InvalidArgument, toString(fit.problems) };
    FURROW_TRY_ASSIGN(auto start, startProblems(file.config, data, tokenizer, cache));
    if (!start.empty())
        return Error { ErrorCode::InvalidArgument, toString(start) };
    FURROW_TRY(refuseSecretsIn(manifest));
    file.dataIdentity = data.identity;
    file.dataManifest = data.manifest;
    file.samplesPerBlock = data.samplesPerBlock;
    file.samplesPerBlockReason = data.samplesPerBlockReason;
    file.tokenizerHash = tokenizer->hash();
    file.vocabularySize = tokenizer->vocabularySize();
    FURROW_TRY_ASSIGN(auto parent, parentOf(file));
    if (parent) {
        file.parentRun = parent->runId;
        file.parentListHash = hashOf(inheritedListOf(*parent));
        describe(*parent, say);
    }
    FURROW_TRY_ASSIGN(file.startWeightsHash, startWeightsHash(file.config.initFrom));
    FURROW_TRY(fill(paths, file, parent, *tokenizer, fit.look, data.rows, say));
    sayWhatWasPassedOver(passed, data.warnings, say);
    const auto& c = file.config;
    say(lengthInWords(fit.look, file.epoch));
    if (const auto warning
        = warmUpWarning(c, workers, c.iterate ? 0 : file.epoch.labels * static_cast<double>(c.epochs));
        !warning.empty())
        say(warning);
    if (file.config.initFrom.empty())
        return {};
    say("Checking the weights to start from");
    return checkWeights(paths);
}

/// Makes the run where nobody looks, and leaves nothing of it.
Result<RunPaths> tryRun(const std::filesystem::path& folder, RunFile& file, std::int64_t workers, const Progress& say)
{
    FURROW_TRY_ASSIGN(auto scratch, ScratchFolder::make(std::filesystem::temp_directory_path()));
    const RunPaths paths(scratch / "run");
    FURROW_TRY(makeWhole(paths, paths.cacheFolder(), file, workers, say));
    return RunPaths(folder);
}

} // namespace

std::filesystem::path folderOfNewRun(const NewRun& request, const std::string& name, const std::string& runId)
{
    if (!request.folder.empty())
        return absolutePath(request.folder);
    const std::string date = isoTime(systemClock().wallNs()).substr(0, 10);
    return absolutePath(request.workspace) / "runs" / (date + "-" + safeName(name) + "-" + runId.substr(0, 4));
}

Result<RunPaths> createRun(const NewRun& request, const Progress& progress)
{
    const Progress say = progress ? progress : [](const std::string&) { };
    RunConfig config = request.config;
    const auto preset = findPreset(request.preset);
    FURROW_TRY_ASSIGN(const auto adopted, adoptModel(config, preset.ok() ? preset.value().config : RunConfig {}));
    if (const auto problems = validate(config); !problems.empty())
        return Error { ErrorCode::InvalidArgument, toString(problems) };
    FURROW_TRY(checkShape(config));
    FURROW_TRY(checkName(config.name));
    FURROW_TRY_ASSIGN(auto placed, placeWorkersHere(config));
    FURROW_TRY(canCompute(config, placed));
    for (const auto& line : adopted)
        say(line);
    for (const auto& warning : machineWarnings(config, placed, Machine::here()))
        say(warning);
    RunFile file;
    file.config = config;
    makeAbsolute(file.config);
    if (!file.config.evalData.empty())
        file.config.heldOutPercent = 0;
    file.runId = randomHex(16);
    file.preset = request.preset;
    file.createdWallNs = request.createdWallNs != 0 ? request.createdWallNs : systemClock().wallNs();
    file.furrowVersion = FURROW_VERSION;
    if (file.config.name.empty())
        file.config.name = defaultName(request);
    const auto folder = folderOfNewRun(request, file.config.name, file.runId);
    FURROW_TRY(refuseFolder(folder));
    if (request.onlyTry)
        return tryRun(folder, file, std::ssize(placed), say);
    FURROW_TRY(beforeWritingInto(RunPaths(folder)));
    WholeFolder whole(realFileSystem(), folder);
    const RunPaths growing(whole.growing());
    FURROW_TRY(makeWhole(growing, cacheOf(folder, growing), file, std::ssize(placed), say));
    FURROW_TRY(whole.putInPlace(growing.configFile().filename()));
    return RunPaths(folder);
}

} // namespace furrow
