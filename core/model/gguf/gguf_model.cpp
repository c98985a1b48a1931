#include "core/model/gguf/gguf_model.h"

#include "core/base/file_system.h"
#include "core/base/path.h"
#include "core/base/plain_line.h"
#include "core/base/sentence.h"
#include "core/model/config_keys.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace furrow {

namespace {

using Json = nlohmann::json;

// What llama.cpp knows by the number of layers instead of by metadata: attention of these is scaled by the width of the
// model, of the others by that of a head.
constexpr std::int64_t kLayersOfGemma2At27 = 46;
constexpr std::int64_t kLayersOfGemma3At27 = 62;

// Llama 3.1 to 3.3: the only ones whose positions are stretched so. The file has the result alone.
constexpr double kLlamaLowFactor = 1, kLlamaHighFactor = 4;
constexpr std::int64_t kLlamaOriginalContext = 8192;

Error unusable(const Message& message) { return { ErrorCode::InvalidArgument, message }; }

/// The metadata of the architecture, without its name in front.
Json ownMetadata(const Json& metadata, const std::string& prefix)
{
    Json own = Json::object();
    for (const auto& [key, value] : metadata.items())
        if (key.starts_with(prefix))
            own[key.substr(prefix.size())] = value;
    return own;
}

void copyKey(ConfigKeys& keys, const GgufKey& key, Json& config)
{
    if (!keys.has(key.theirs)) {
        if (key.isNeeded)
            keys.fail(key.theirs, sentence("is missing"));
    } else if (key.isReal) {
        config[key.config] = keys.real(key.theirs, 0);
    } else {
        config[key.config] = keys.whole(key.theirs, 0);
    }
}

void readScaling(ConfigKeys& keys, Json& config)
{
    const std::string type = keys.text("rope.scaling.type", "none");
    const double older = keys.real("rope.scale_linear", 1);
    const double factor = keys.real("rope.scaling.factor", older);
    const std::int64_t original = keys.whole("rope.scaling.original_context_length", 0);
    keys.ignore({ "rope.scaling.finetuned" });
    const bool isOlder = !keys.has("rope.scaling.type") && older != 1;
    if (type == "linear" || isOlder)
        config["rope_scaling"] = { { "rope_type", "linear" }, { "factor", factor } };
    else if (type == "yarn")
        config["rope_scaling"]
            = { { "rope_type", "yarn" }, { "factor", factor }, { "original_max_position_embeddings", original } };
    else if (type != "none")
        keys.fail("rope.scaling.type", sentence("is '%1', which is not known here", { plainLine(type, 40) }));
}

void readLlamaFactors(ConfigKeys& keys, const std::vector<float>& factors, std::int64_t turned, Json& config)
{
    if (factors.empty())
        return;
    if (config.contains("rope_scaling"))
        return keys.fail("rope.scaling.type", sentence("is set beside rope_freqs"));
    RotaryConfig rotary;
    rotary.base = config.value("rope_theta", rotary.base);
    rotary.factor = static_cast<double>(*std::max_element(factors.begin(), factors.end()));
    rotary.lowFactor = kLlamaLowFactor;
    rotary.highFactor = kLlamaHighFactor;
    rotary.originalContext = kLlamaOriginalContext;
    const auto usual = llamaRopeFactors(rotary, turned);
    const auto isNear = [](float a, float b) { return std::fabs(a - b) <= 1e-4f * b; };
    if (!std::equal(factors.begin(), factors.end(), usual.begin(), usual.end(), isNear))
        return keys.fail("rope_freqs", sentence("stretches positions in a way that is not known here"));
    config["rope_scaling"] = { { "rope_type", "llama3" }, { "factor", rotary.factor },
        { "low_freq_factor", rotary.lowFactor }, { "high_freq_factor", rotary.highFactor },
        { "original_max_position_embeddings", rotary.originalContext } };
}

/// Heads and positions of all but GPT-2.
void readHeads(ConfigKeys& keys, const GgufArchitecture& architecture, const std::vector<float>& factors, Json& config)
{
    const std::int64_t heads = std::max<std::int64_t>(config.value("num_attention_heads", std::int64_t { 1 }), 1);
    const std::int64_t width = config.value("hidden_size", std::int64_t { 0 });
    const std::int64_t head = keys.whole("attention.key_length", width / heads);
    const std::int64_t turned = keys.whole("rope.dimension_count", head);
    const bool isNeoX = architecture.name == LlamaCpp::GptNeoX;
    const bool turnsPart = isNeoX || architecture.name == LlamaCpp::Phi3;
    if (keys.whole("attention.value_length", head) != head)
        keys.fail("attention.value_length", sentence("is not attention.key_length, which is not known here"));
    if (isNeoX && head * heads != width)
        keys.fail("attention.key_length", sentence("is not the width of the model divided by its heads"));
    if (turned > head || (turned != head && !turnsPart))
        keys.fail("rope.dimension_count", sentence("is not the width of a head, which is not known here"));
    config["rope_theta"] = keys.real("rope.freq_base", 1e4);
    if (!isNeoX) {
        config["num_key_value_heads"] = keys.whole("attention.head_count_kv", heads);
        config["head_dim"] = head;
    }
    if (isNeoX || turned != head)
        config["partial_rotary_factor"]
            = static_cast<double>(turned) / static_cast<double>(std::max<std::int64_t>(head, 1));
    readScaling(keys, config);
    readLlamaFactors(keys, factors, turned, config);
}

/// What a family has besides.
void readRest(ConfigKeys& keys, const GgufArchitecture& architecture, const GgufFile& file, Json& config)
{
    const LlamaCpp name = architecture.name;
    if (name == LlamaCpp::Llama && !architecture.hasExperts) {
        config["attention_bias"] = file.find("blk.0.attn_q.bias") != nullptr;
        config["mlp_bias"] = file.find("blk.0.ffn_up.bias") != nullptr;
    }
    if (name == LlamaCpp::Llama || name == LlamaCpp::GptNeoX)
        keys.ignore({ "tensor_data_layout" });
    if (name == LlamaCpp::Llama && !architecture.hasExperts)
        keys.ignore({ "expert_count", "expert_used_count" }); // 0
    if (name == LlamaCpp::GptNeoX)
        config["use_parallel_residual"] = keys.flag("use_parallel_residual", true);
    if (name == LlamaCpp::Qwen3Moe)
        config["norm_topk_prob"] = true;
    if (name == LlamaCpp::Gemma2 || name == LlamaCpp::Gemma3) {
        const auto layers = config.value("num_hidden_layers", std::int64_t { 0 });
        const bool byWidth = layers == (name == LlamaCpp::Gemma2 ? kLayersOfGemma2At27 : kLayersOfGemma3At27);
        const auto heads = std::max<std::int64_t>(config.value("num_attention_heads", std::int64_t { 1 }), 1);
        config["query_pre_attn_scalar"] = byWidth ? config.value("hidden_size", std::int64_t { 0 }) / heads
                                                  : config.value("head_dim", std::int64_t { 0 });
    }
    if (name == LlamaCpp::Gemma3)
        config["rope_local_base_freq"] = keys.real("rope.freq_base_swa", 1e4);
    if (name == LlamaCpp::Gemma2) // where a file says nothing there are none; config.json would have them
        for (const char* cap : { "attn_logit_softcapping", "final_logit_softcapping" })
            config.emplace(cap, nullptr);
    if (name == LlamaCpp::Gemma2 || name == LlamaCpp::Gemma3 || name == LlamaCpp::Phi3)
        config.emplace("sliding_window", nullptr);
}

std::int64_t rowsOfEmbedding(const GgufFile& file)
{
    const GgufTensor* embedding = file.find("token_embd.weight");
    return embedding && embedding->shape.size() == 2 ? embedding->shape[0] : 0;
}

} // namespace

std::vector<float> llamaRopeFactors(const RotaryConfig& rotary, std::int64_t rotaryWidth)
{
    std::vector<float> factors;
    const double context = static_cast<double>(rotary.originalContext);
    for (std::int64_t i = 0; i < rotaryWidth; i += 2) {
        const double frequency = std::pow(rotary.base, -static_cast<double>(i) / static_cast<double>(rotaryWidth));
        const double turns = context * frequency / (2 * std::numbers::pi); // within the first context
        const double share = (turns - rotary.lowFactor) / (rotary.highFactor - rotary.lowFactor);
        const double kept = std::clamp(share, 0.0, 1.0);
        factors.push_back(static_cast<float>(1 / ((1 - kept) / rotary.factor + kept)));
    }
    return factors;
}

Result<GgufModel> ggufModelOf(const GgufFile& file, const std::vector<float>& ropeFactors)
{
    const std::string name = file.text("general.architecture");
    const Json own = ownMetadata(file.metadata, name + ".");
    std::string problem;
    ConfigKeys keys(own, name + ".", problem);
    const GgufArchitecture* architecture = findGgufArchitecture(name, keys.whole("expert_count", 0) > 0);
    if (!architecture)
        return unusable(
            sentence("general.architecture is '%1'; known are %2", { plainLine(name, 40), ggufArchitectureList() }));
    Json config { { "architectures", { architecture->family.className } }, { "model_type", architecture->family.type },
        { "vocab_size", rowsOfEmbedding(file) }, { "tie_word_embeddings", file.find("output.weight") == nullptr },
        { "torch_dtype", "float32" } };
    keys.ignore({ "vocab_size" }); // the embedding has that many rows
    for (const auto& some : architecture->keys)
        for (const GgufKey& key : some)
            copyKey(keys, key, config);
    if (architecture->name != LlamaCpp::Gpt2)
        readHeads(keys, *architecture, ropeFactors, config);
    readRest(keys, *architecture, file, config);
    for (const char* token : { "bos", "eos" }) {
        const auto id = file.metadata.find("tokenizer.ggml." + std::string(token) + "_token_id");
        config[std::string(token) + "_token_id"]
            = id != file.metadata.end() && id->is_number_unsigned() ? *id : Json(nullptr);
    }
    keys.refuseRest();
    if (!problem.empty())
        return unusable(problem);
    GgufModel model;
    model.config = config.dump(2) + "\n";
    FURROW_TRY_ASSIGN(model.layout, parseHuggingFaceConfig(model.config));
    model.layout.family = &architecture->family;
    return model;
}

Result<GgufModel> readGgufModel(const std::filesystem::path& path, GgufFile& file)
{
    FURROW_TRY_ASSIGN(file, readGguf(path));
    std::vector<float> factors;
    constexpr std::int64_t kMostFactors = 1 << 16;
    if (const GgufTensor* tensor = file.find(kGgufRopeFactors);
        tensor && tensor->shape.size() == 1 && tensor->type == GgufType::F32 && tensor->shape[0] <= kMostFactors) {
        factors.resize(static_cast<std::size_t>(tensor->shape[0]));
        FURROW_TRY_ASSIGN(const auto bytes, RandomAccessFile::open(path));
        FURROW_TRY(bytes.readAt(tensor->offset, std::as_writable_bytes(std::span(factors))));
    }
    auto model = ggufModelOf(file, factors);
    return model.ok() ? std::move(model) : model.error().in(utf8Text(path));
}

} // namespace furrow
