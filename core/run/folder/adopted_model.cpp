#include "core/run/folder/adopted_model.h"

#include "core/base/absolute_path.h"
#include "core/base/format.h"
#include "core/base/hash.h"
#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/config/named_tokenizer.h"
#include "core/data/tokenizer/gguf_tokenizer.h"
#include "core/model/gguf/gguf_model.h"
#include "core/data/hub/hub_model.h"
#include "core/data/source/data_manifest.h"
#include "core/model/huggingface_config.h"

#include <algorithm>
#include <array>

namespace furrow {

namespace {

constexpr std::uint64_t kMaxConfigBytes = 16 << 20;
constexpr std::uint64_t kMaxOriginBytes = 256 << 20; // of one file; a tokenizer.json has up to 35 MB

constexpr std::array kShapeKeys { "architecture", "layers", "width", "heads", "kv_heads", "ff_width", "positions",
    "rope_theta", "norm", "norm_epsilon", "activation", "bias", "tied_head", "moe_experts", "moe_active",
    "hrm_low_layers", "hrm_expansion", "hrm_high_cycles", "hrm_low_cycles", "hrm_segments", "shape" };
constexpr std::array kModelFiles { "config.json", "generation_config.json" };
constexpr const char* kChatTemplate = "chat_template.jinja";
constexpr std::array kTokenizerFiles { "tokenizer.json", "tokenizer.model", "tokenizer_config.json",
    "special_tokens_map.json", "added_tokens.json", "vocab.json", "merges.txt", kChatTemplate, "chat_template.json" };

/// The folder that init_from names, or that its weight file lies in.
std::filesystem::path folderOf(const std::string& initFrom)
{
    const auto path = pathFromUtf8(initFrom);
    return path.extension() == ".safetensors" ? path.parent_path() : path;
}

bool isThere(const std::filesystem::path& path)
{
    std::error_code unknown;
    return std::filesystem::exists(path, unknown);
}

AdoptedModel fromLayout(const HuggingFaceConfig& layout, const std::filesystem::path& place)
{
    AdoptedModel adopted;
    adopted.from = sentence("the %1 in %2", { std::string(layout.family->type), utf8Text(place) });
    setShape(adopted.settings, layout.config);
    adopted.context = layout.config.contextLength;
    adopted.vocabulary = static_cast<std::uint32_t>(layout.config.vocabularySize);
    adopted.files = place;
    return adopted;
}

Result<AdoptedModel> fromGguf(const std::filesystem::path& path)
{
    GgufFile file;
    FURROW_TRY_ASSIGN(const auto model, readGgufModel(path, file));
    AdoptedModel adopted = fromLayout(model.layout, path);
    if (!file.text("tokenizer.ggml.model").empty())
        adopted.tokenizer = utf8Text(path);
    return adopted;
}

Result<AdoptedModel> fromHuggingFaceFolder(const std::filesystem::path& folder)
{
    FURROW_TRY_ASSIGN(const auto text, readFile(folder / "config.json", kMaxConfigBytes));
    auto config = parseHuggingFaceConfig(text);
    if (!config.ok())
        return config.error().in(utf8Text(folder));
    AdoptedModel adopted = fromLayout(config.value(), folder);
    for (const char* name : { "tokenizer.json", "tokenizer.model" })
        if (adopted.tokenizer.empty() && isThere(folder / name))
            adopted.tokenizer = utf8Text(folder / name);
    return adopted;
}

/// A model that learned its positions has no others, so its own context bounds that of the run.
Result<AdoptedModel> fromRun(const RunPaths& paths)
{
    FURROW_TRY_ASSIGN(const auto file, readRunFile(paths));
    const auto named = closedValue<NamedTokenizer>(file.config.tokenizer);
    const bool isShipped = named && named != NamedTokenizer::Char; // whose characters are those of its data
    const ModelConfig model = modelConfigOf(file.config, file.vocabularySize);
    AdoptedModel adopted;
    adopted.from = sentence("run %1", { file.config.name });
    adopted.settings = file.config;
    adopted.vocabulary = static_cast<std::uint32_t>(model.vocabularySize);
    adopted.tokenizer = isShipped ? file.config.tokenizer : utf8Text(paths.tokenizer());
    if (!file.config.shape.empty() || model.positions == Positions::Learned)
        adopted.context = model.contextLength;
    if (isThere(paths.originFolder()))
        adopted.files = paths.originFolder();
    return adopted;
}

/// A run of learned positions that trains fewer of them keeps the others, so it must say how many there are.
void keepAllPositions(RunConfig& config, const AdoptedModel& adopted)
{
    const bool isShorter = config.shape.empty() && config.architecture == Architecture::Gpt && adopted.context > 0
        && config.seqLen < adopted.context;
    if (!isShorter)
        return;
    RunConfig whole = adopted.settings;
    whole.seqLen = adopted.context;
    ModelConfig model = modelConfigOf(whole, adopted.vocabulary);
    model.trainedLength = 0;
    setShape(config, model);
}

using Texts = std::map<std::string, std::string>;

/// A link that leads to anything but the model's own files would carry what lies there into the run, and from there
/// into exports. Downloads of the hub are links into the folder `blobs` beside their `snapshots`.
Status checkStaysWithModel(const std::filesystem::path& file, const std::filesystem::path& folder)
{
    std::error_code failed;
    const auto real = std::filesystem::weakly_canonical(file, failed);
    const auto model = std::filesystem::weakly_canonical(folder, failed);
    const bool isDownload = model.parent_path().filename() == "snapshots";
    if (isInside(real, model) || (isDownload && isInside(real, model.parent_path().parent_path() / "blobs")))
        return {};
    return Error { ErrorCode::InvalidArgument,
        sentence(
            "%1 is a link that leads out of the model's folder, to %2, and what lies there would be kept in the run. Put a copy of the file in its place if it belongs to the model.",
            { utf8Text(file), utf8Text(real) }) };
}

/// What a folder has of the files that a model comes with.
Result<Texts> textsIn(const std::filesystem::path& folder, bool withTokenizer)
{
    std::vector<const char*> names(kModelFiles.begin(), kModelFiles.end());
    if (withTokenizer)
        names.insert(names.end(), kTokenizerFiles.begin(), kTokenizerFiles.end());
    Texts found;
    for (const char* name : names)
        if (isThere(folder / name)) {
            FURROW_TRY(checkStaysWithModel(folder / name, folder));
            FURROW_TRY_ASSIGN(found[name], readFile(folder / name, kMaxOriginBytes));
        }
    return found;
}

Result<Texts> textsOfGguf(const std::filesystem::path& path, bool withTokenizer)
{
    GgufFile file;
    FURROW_TRY_ASSIGN(const auto model, readGgufModel(path, file));
    Texts texts;
    if (withTokenizer) {
        FURROW_TRY_ASSIGN(texts, ggufTokenizerFiles(file));
    }
    const auto id = [&file](const char* key) {
        const auto found = file.metadata.find(key);
        return found != file.metadata.end() && found->is_number_unsigned() ? found->get<std::int64_t>() : -1;
    };
    texts["config.json"] = model.config;
    texts["generation_config.json"]
        = huggingFaceGenerationText({ id("tokenizer.ggml.bos_token_id"), id("tokenizer.ggml.eos_token_id") });
    return texts;
}

/// 0 stands for what follows from other settings.
bool isOpen(const Setting& setting, const std::string& text)
{
    return text == "0" && (setting.key == "kv_heads" || setting.key == "ff_width" || setting.key == "hrm_low_layers");
}

/// Its chat template counts where nobody named one, and where the tokenizer is its own.
Status adoptChatTemplate(const AdoptedModel& adopted, RunConfig& config, std::vector<std::string>& lines)
{
    if (!config.chatTemplate.empty() || adopted.files.empty() || config.tokenizer != adopted.tokenizer)
        return {};
    FURROW_TRY_ASSIGN(const auto format, readChatFormat(adopted.files));
    if (!format)
        return {};
    config.chatTemplate = utf8Text(adopted.files);
    lines.push_back(sentence("Chat template from %1, for rows that are conversations", { adopted.from }));
    return {};
}

} // namespace

bool isAdopted(const Setting& setting)
{
    return std::find(kShapeKeys.begin(), kShapeKeys.end(), setting.key) != kShapeKeys.end();
}

Result<AdoptedModel> readAdoptedModel(const std::string& initFrom)
{
    const auto folder = folderOf(initFrom);
    if (initFrom.empty())
        return AdoptedModel {};
    if (isHubModel(initFrom))
        return Error { ErrorCode::InvalidArgument,
            sentence(
                "%1 is a model of the hub and not on this machine yet. 'furrowctl model fetch' brings it; then name the folder that this prints.",
                { initFrom }) };
    if (!isThere(pathFromUtf8(initFrom)))
        return Error { ErrorCode::InvalidArgument, // as every setting that cannot be
            sentence("there is nothing at %1; name a checkpoint of a run, the folder of a model, or a weight file",
                { initFrom }) };
    if (isGgufName(folder))
        return fromGguf(folder);
    const RunPaths run(std::filesystem::absolute(folder).parent_path().parent_path());
    if (isThere(folder / "weights.safetensors"))
        return isThere(run.configFile()) ? fromRun(run) : AdoptedModel {};
    return isThere(folder / "config.json") ? fromHuggingFaceFolder(folder) : AdoptedModel {};
}

Result<std::vector<std::string>> adoptModel(
    RunConfig& config, const RunConfig& usual, const std::set<std::string>& typed)
{
    auto read = readAdoptedModel(config.initFrom);
    if (!read.ok())
        return read.error().in(Message::of({}, { settingTerm("init_from") }));
    const AdoptedModel& adopted = read.value();
    if (adopted.from.empty())
        return std::vector<std::string> {};
    std::string problems;
    RunConfig taken = config;
    const auto isChosen
        = [&](const Setting& s) { return typed.contains(s.key) || settingText(config, s) != settingText(usual, s); };
    for (const Setting& s : settings()) {
        const std::string there = settingText(adopted.settings, s);
        const std::string here = settingText(config, s);
        if (!isAdopted(s) || here == there || isOpen(s, here))
            (void)(isAdopted(s) ? setSetting(taken, s, there) : std::vector<ConfigProblem> {});
        else if (isChosen(s) && !(s.key == "shape" && here.empty()))
            problems += (problems.empty() ? "" : "\n")
                + sentence("%1 is %2, but %3 has %4, which init_from takes over. Leave this setting out.",
                    { s.key, here, adopted.from, there });
        else
            (void)setSetting(taken, s, there);
    }
    const Setting& seqLen = *findSetting("seq_len");
    if (adopted.context > 0 && config.seqLen > adopted.context) {
        if (isChosen(seqLen))
            problems += (problems.empty() ? "" : "\n")
                + sentence("seq_len is %1, but %2 has a context of %3. Give at most that.",
                    { std::to_string(config.seqLen), adopted.from, std::to_string(adopted.context) });
        taken.seqLen = adopted.context;
    }
    if (!problems.empty())
        return Error { ErrorCode::InvalidArgument, problems };
    keepAllPositions(taken, adopted);
    if (!adopted.tokenizer.empty() && !isChosen(*findSetting("tokenizer")))
        taken.tokenizer = adopted.tokenizer;
    config = taken;
    const ModelConfig model = modelConfigOf(config, adopted.vocabulary);
    std::vector<std::string> lines { sentence("Shape from %1: %2", { adopted.from, describeShape(model) }),
        sentence("Tokenizer: %1", { config.tokenizer }) };
    if (model.contextLength > config.seqLen)
        lines.push_back(sentence("Windows of %1 tokens are trained (seq_len); the model keeps its context of %2.",
            { Count(config.seqLen), Count(model.contextLength) }));
    FURROW_TRY(adoptChatTemplate(adopted, config, lines));
    return lines;
}

bool isGgufName(const std::filesystem::path& path) { return path.extension() == ".gguf" || isGguf(path); }

bool isModelOfOthers(const std::filesystem::path& path)
{
    return isGgufName(path)
        || (isThere(path / "config.json") && !isThere(RunPaths(path).configFile())
            && !isThere(path / "weights.safetensors"));
}

Status keepChatFormat(const RunPaths& paths, const ChatFormat& format, FileSystem& files)
{
    std::error_code unknown;
    if (std::filesystem::exists(paths.originFolder(), unknown)) {
        FURROW_TRY_ASSIGN(const auto known, readChatFormat(paths.originFolder()));
        if (known && known->source == format.source && known->tokens == format.tokens)
            return {};
    }
    FURROW_TRY(files.createFolders(paths.originFolder()));
    for (const auto& [name, text] : chatFormatFiles(format))
        if (name == kChatTemplate || !isThere(paths.originFolder() / "tokenizer_config.json"))
            FURROW_TRY(writeFileDurably(files, paths.originFolder() / name, text));
    return {};
}

Result<std::optional<ChatFormat>> chatFormatOfRun(const RunPaths& paths, const RunFile& file)
{
    if (!file.dataManifest.empty()) { // a model without a run has none
        FURROW_TRY_ASSIGN(auto manifest, readManifest(file.dataManifest));
        if (manifest.chat)
            return std::move(manifest.chat);
    }
    if (!isThere(paths.originFolder()))
        return std::optional<ChatFormat>();
    FURROW_TRY(originFiles(paths, file));
    return readChatFormat(paths.originFolder());
}

Status keepOrigin(const RunPaths& paths, const RunConfig& config, FileSystem& files)
{
    FURROW_TRY_ASSIGN(const auto adopted, readAdoptedModel(config.initFrom));
    if (adopted.files.empty())
        return {};
    const bool hasItsTokenizer = !adopted.tokenizer.empty()
        && (config.tokenizer == adopted.tokenizer
            || pathFromUtf8(config.tokenizer) == std::filesystem::absolute(pathFromUtf8(adopted.tokenizer)));
    FURROW_TRY_ASSIGN(const auto texts,
        isGgufName(adopted.files) ? textsOfGguf(adopted.files, hasItsTokenizer)
                                  : textsIn(adopted.files, hasItsTokenizer));
    FURROW_TRY(files.createFolders(paths.originFolder()));
    for (const auto& [name, text] : texts)
        FURROW_TRY(writeFileDurably(files, paths.originFolder() / name, text));
    return {};
}

namespace {

std::string hashOf(const Texts& texts)
{
    if (texts.empty())
        return {};
    Sha256 sha;
    for (const auto& [name, text] : texts)
        sha.update(name + "/" + std::to_string(text.size()) + "/" + text);
    return sha.hex();
}

} // namespace

Result<std::map<std::string, std::string>> originFiles(const RunPaths& paths, const RunFile& file)
{
    FURROW_TRY_ASSIGN(auto texts, textsIn(paths.originFolder(), true));
    if (!file.originHash.empty() && hashOf(texts) != file.originHash)
        return Error { ErrorCode::Corrupt,
            sentence(
                "%1 does not hold the files of the model that this run began with (SHA-256). Put them back from a copy of the run.",
                { utf8Text(paths.originFolder()) }) };
    return texts;
}

Result<std::string> originHash(const RunPaths& paths)
{
    FURROW_TRY_ASSIGN(const auto texts, textsIn(paths.originFolder(), true));
    return hashOf(texts);
}

} // namespace furrow
