#include "core/model/huggingface_config.h"

#include "core/base/plain_line.h"
#include "core/base/sentence.h"
#include "core/config/bounded_json.h"
#include "core/model/config_keys.h"

#include <algorithm>
#include <cmath>
#include <functional>

// What the config.json of each family says, in our parts. Defaults are those of the family's class in transformers,
// since files may leave them out.

namespace furrow {

namespace {

using Json = nlohmann::ordered_json;

Error unusable(const Message& message)
{
    return { ErrorCode::InvalidArgument, sentence("config.json: %1", { message }) };
}

/// What changes no result: names, tokens, drop-out of a training that is over, how the file was made.
void ignoreWhatChangesNothing(ConfigKeys& keys)
{
    keys.ignore({ "architectures", "model_type", "_name_or_path", "name_or_path", "transformers_version",
        "transformers.js_config", "auto_map", "torch_dtype", "dtype", "use_cache", "cache_implementation",
        "initializer_range", "bos_token_id", "eos_token_id", "pad_token_id", "unk_token_id", "sep_token_id",
        "tokenizer_class", "attention_dropout", "resid_pdrop", "embd_pdrop", "attn_pdrop", "hidden_dropout",
        "classifier_dropout", "summary_activation", "summary_first_dropout", "summary_proj_to_labels", "summary_type",
        "summary_use_proj", "task_specific_params", "pretraining_tp", "is_llama_config", "gradient_checkpointing",
        "attn_implementation", "_attn_implementation", "_attn_implementation_autoset", "chunk_size_feed_forward",
        "return_dict", "is_decoder", "id2label", "label2id", "problem_type", "finetuning_task", "layer_types",
        "max_window_layers", "reorder_and_upcast_attn", "unsloth_version", "unsloth_fixed" });
}

struct ActivationName {
    const char* text;
    Activation value;
};
constexpr ActivationName kActivations[]
    = { { "gelu_new", Activation::GeluTanh }, { "gelu_pytorch_tanh", Activation::GeluTanh },
          { "gelu", Activation::Gelu }, { "silu", Activation::Silu }, { "swish", Activation::Silu } };

Activation readActivation(ConfigKeys& keys, const char* key, const char* otherwise)
{
    const std::string text = keys.text(key, otherwise);
    for (const auto& [name, value] : kActivations)
        if (text == name)
            return value;
    keys.fail(key, sentence("is '%1', which is not known here", { plainLine(text, 40) }));
    return Activation::Silu;
}

/// Amplitude of cosines and sines, as YaRN's paper suggests (arXiv:2309.00071).
double yarnAmplitude(ConfigKeys& keys, double factor)
{
    const auto amplitude = [factor](double scale) { return factor <= 1 ? 1.0 : 0.1 * scale * std::log(factor) + 1.0; };
    const double scale = keys.real("mscale", 0);
    const double scaleOfAll = keys.real("mscale_all_dim", 0);
    const double usual = scale != 0 && scaleOfAll != 0 ? amplitude(scale) / amplitude(scaleOfAll) : amplitude(1);
    return keys.real("attention_factor", usual);
}

/// One object that says how positions are turned: "rope_scaling" of older files, "rope_parameters" of newer ones.
void readRotary(ConfigKeys keys, RotaryConfig& rotary, std::int64_t context)
{
    rotary.base = keys.real("rope_theta", rotary.base);
    rotary.part = keys.real("partial_rotary_factor", rotary.part);
    const std::string older = keys.text("type", "default");
    const std::string type = keys.text("rope_type", older);
    const bool isScaled = type != "default";
    if (isScaled)
        rotary.factor = keys.real("factor", 1);
    if (type == "linear") {
        rotary.scaling = RotaryScaling::Linear;
    } else if (type == "dynamic") {
        rotary.scaling = RotaryScaling::Dynamic;
    } else if (type == "llama3") {
        rotary.scaling = RotaryScaling::Llama3;
        rotary.lowFactor = keys.real("low_freq_factor", 1);
        rotary.highFactor = keys.real("high_freq_factor", 4);
        rotary.originalContext = keys.whole("original_max_position_embeddings", context);
    } else if (type == "yarn") {
        rotary.scaling = RotaryScaling::Yarn;
        rotary.betaFast = keys.real("beta_fast", 32);
        rotary.betaSlow = keys.real("beta_slow", 1);
        rotary.originalContext = keys.whole("original_max_position_embeddings", context);
        rotary.amplitude = yarnAmplitude(keys, rotary.factor);
        if (!keys.flag("truncate", true))
            keys.fail("truncate", sentence("is false, which is not known here"));
    } else if (isScaled) {
        keys.fail("rope_type", sentence("is '%1', which is not known here", { plainLine(type, 40) }));
    }
    if (isScaled && !(rotary.factor > 0))
        keys.fail("factor", sentence("is not above 0"));
    keys.refuseRest();
}

void readRotary(ConfigKeys& keys, ModelConfig& config)
{
    for (const char* key : { "rope_parameters", "rope_scaling" })
        if (keys.has(key))
            readRotary(keys.object(key), config.rotary, config.contextLength);
}

/// The layers that have a window: "layer_types", or where that is missing `isUsual`.
void readWindows(ConfigKeys& keys, ModelConfig& config, const std::function<bool(std::int64_t)>& isUsual)
{
    const auto types = keys.texts("layer_types");
    if (!types.empty() && static_cast<std::int64_t>(types.size()) != config.layers)
        return keys.fail("layer_types", sentence("does not name one type for each layer"));
    constexpr std::int64_t kMostLayers = 1000; // a wrong number of layers is said by validate()
    for (std::int64_t i = 0; i < std::min(config.layers, kMostLayers); ++i) {
        const std::string type = types.empty() ? "" : types[static_cast<std::size_t>(i)];
        if (!types.empty() && type != "sliding_attention" && type != "full_attention")
            return keys.fail("layer_types", sentence("has '%1', which is not known here", { plainLine(type, 40) }));
        config.isSliding.push_back(types.empty() ? isUsual(i) : type == "sliding_attention");
    }
    const bool any = std::find(config.isSliding.begin(), config.isSliding.end(), true) != config.isSliding.end();
    const bool all = std::find(config.isSliding.begin(), config.isSliding.end(), false) == config.isSliding.end();
    if (!any)
        config.slidingWindow = 0;
    if (!any || all || config.slidingWindow == 0)
        config.isSliding.clear();
}

/// What differs between the families that name their keys as Llama does.
struct Defaults {
    double epsilon = 1e-6;
    double base = 1e4;
    bool tied = false;
    std::int64_t kvHeads = 0; ///< 0: as many as heads
    std::int64_t headSize = 0; ///< 0: width / heads
    std::int64_t context = 32768;
    const char* activationKey = "hidden_act";
    const char* activation = "silu";
};

ModelConfig readDecoder(ConfigKeys& keys, const Defaults& usual)
{
    ModelConfig config;
    config.positions = Positions::Rotary;
    config.norm = NormKind::Rms;
    config.normBias = config.qkvBias = config.outBias = config.mlpBias = false;
    config.gated = true;
    config.width = keys.whole("hidden_size");
    config.layers = keys.whole("num_hidden_layers");
    config.heads = keys.whole("num_attention_heads");
    config.kvHeads = keys.wholeOrNone("num_key_value_heads", usual.kvHeads);
    config.headSize = keys.wholeOrNone("head_dim", usual.headSize);
    config.ffWidth = keys.whole("intermediate_size");
    config.vocabularySize = keys.whole("vocab_size");
    config.contextLength = keys.whole("max_position_embeddings", usual.context);
    config.normEpsilon = keys.real("rms_norm_eps", usual.epsilon);
    config.tiedHead = keys.flag("tie_word_embeddings", usual.tied);
    config.activation = readActivation(keys, usual.activationKey, usual.activation);
    config.rotary.base = keys.real("rope_theta", usual.base);
    return config;
}

void readAttentionBias(ConfigKeys& keys, ModelConfig& config)
{
    config.qkvBias = config.outBias = keys.flag("attention_bias", false);
}

/// Windows of Qwen: off by a switch of their own, else those of the upper layers.
void readQwenWindows(ConfigKeys& keys, ModelConfig& config)
{
    const std::int64_t window = keys.whole("sliding_window", 4096);
    const std::int64_t firstSliding = keys.whole("max_window_layers", 28);
    if (!keys.flag("use_sliding_window", false))
        return;
    config.slidingWindow = window;
    readWindows(keys, config, [firstSliding](std::int64_t i) { return i >= firstSliding; });
}

void readRouterLoss(ConfigKeys& keys, ModelConfig& config)
{
    const double weight = keys.real("router_aux_loss_coef", 0.001);
    config.moeBalance = keys.flag("output_router_logits", false) ? weight : 0;
    config.routerLoss = RouterLoss::Pooled;
}

ModelConfig readGpt2(ConfigKeys& keys)
{
    ModelConfig config;
    config.width = keys.whole("n_embd");
    config.layers = keys.whole("n_layer");
    config.heads = keys.whole("n_head");
    config.contextLength = keys.whole("n_positions", 1024);
    config.vocabularySize = keys.whole("vocab_size");
    config.ffWidth = keys.whole("n_inner", 4 * config.width);
    config.normEpsilon = keys.real("layer_norm_epsilon", 1e-5);
    config.tiedHead = keys.flag("tie_word_embeddings", true);
    config.activation = readActivation(keys, "activation_function", "gelu_new");
    keys.ignore({ "n_ctx" });
    if (!keys.flag("scale_attn_weights", true))
        keys.fail("scale_attn_weights", sentence("is false, which is not known here"));
    return config;
}

ModelConfig readLlama(ConfigKeys& keys)
{
    ModelConfig config = readDecoder(keys, { .context = 2048 });
    readAttentionBias(keys, config);
    config.mlpBias = keys.flag("mlp_bias", false);
    readRotary(keys, config);
    return config;
}

ModelConfig readMistral(ConfigKeys& keys)
{
    ModelConfig config = readDecoder(keys, { .kvHeads = 8, .context = 131072 });
    config.slidingWindow = keys.wholeOrNone("sliding_window", 4096);
    readRotary(keys, config);
    return config;
}

ModelConfig readMixtral(ConfigKeys& keys)
{
    ModelConfig config = readDecoder(keys, { .epsilon = 1e-5, .base = 1e6, .kvHeads = 8, .context = 131072 });
    config.slidingWindow = keys.whole("sliding_window", 0);
    config.moeExperts = keys.whole("num_local_experts", 8);
    config.moeActive = keys.whole("num_experts_per_tok", 2);
    readRouterLoss(keys, config);
    if (keys.real("router_jitter_noise", 0) != 0)
        keys.fail("router_jitter_noise", sentence("is not 0, which is not known here"));
    readRotary(keys, config);
    return config;
}

ModelConfig readQwen2(ConfigKeys& keys)
{
    ModelConfig config = readDecoder(keys, { .kvHeads = 32 });
    config.qkvBias = true;
    readQwenWindows(keys, config);
    readRotary(keys, config);
    return config;
}

ModelConfig readQwen3(ConfigKeys& keys)
{
    ModelConfig config = readDecoder(keys, { .kvHeads = 32, .headSize = 128 });
    config.queryNorm = QueryNorm::Head;
    readAttentionBias(keys, config);
    readQwenWindows(keys, config);
    readRotary(keys, config);
    return config;
}

/// What Qwen's models with experts have in common; every layer has them.
void readQwenExperts(ConfigKeys& keys, ModelConfig& config, std::int64_t experts, std::int64_t active)
{
    config.moeExperts = keys.whole("num_local_experts", keys.whole("num_experts", experts));
    config.moeActive = keys.whole("num_experts_per_tok", active);
    config.ffWidth = keys.whole("moe_intermediate_size");
    config.moeShares = keys.flag("norm_topk_prob", false);
    readRouterLoss(keys, config);
    if (keys.whole("decoder_sparse_step", 1) != 1)
        keys.fail("decoder_sparse_step", sentence("is not 1: some layers have no experts, which is not known here"));
    if (!keys.numbers("mlp_only_layers").empty())
        keys.fail("mlp_only_layers", sentence("names layers without experts, which is not known here"));
    keys.ignore({ "sliding_window" }); // use_sliding_window is refused as a key that is on
}

ModelConfig readQwen2Experts(ConfigKeys& keys)
{
    ModelConfig config = readDecoder(keys, { .kvHeads = 16 });
    config.qkvBias = keys.flag("qkv_bias", true);
    readQwenExperts(keys, config, 60, 4);
    config.moeSharedWidth = keys.whole("shared_expert_intermediate_size", 5632);
    readRotary(keys, config);
    return config;
}

ModelConfig readQwen3Experts(ConfigKeys& keys)
{
    ModelConfig config = readDecoder(keys, { .kvHeads = 4 });
    config.queryNorm = QueryNorm::Head;
    readAttentionBias(keys, config);
    readQwenExperts(keys, config, 128, 8);
    readRotary(keys, config);
    return config;
}

/// What Gemma 2 and 3 have in common, but for positions.
ModelConfig readGemma(ConfigKeys& keys, const Defaults& usual)
{
    ModelConfig config = readDecoder(keys, usual);
    config.normPlace = NormPlace::Both;
    config.normPlusOne = true;
    config.embeddingScale = std::sqrt(static_cast<double>(config.width));
    config.attentionScale = 1 / std::sqrt(std::max(keys.real("query_pre_attn_scalar", 256), 1e-6));
    config.slidingWindow = keys.wholeOrNone("sliding_window", 4096);
    readAttentionBias(keys, config);
    keys.ignore({ "hidden_act" });
    return config;
}

ModelConfig readGemma2(ConfigKeys& keys)
{
    ModelConfig config = readGemma(keys,
        { .tied = true,
            .kvHeads = 4,
            .headSize = 256,
            .context = 8192,
            .activationKey = "hidden_activation",
            .activation = "gelu_pytorch_tanh" });
    config.logitCap = keys.realOrNone("final_logit_softcapping", 30);
    config.attentionCap = keys.realOrNone("attn_logit_softcapping", 50);
    readWindows(keys, config, [](std::int64_t i) { return i % 2 == 0; });
    readRotary(keys, config);
    return config;
}

ModelConfig readGemma3(ConfigKeys& keys)
{
    ModelConfig config = readGemma(keys,
        { .base = 1e6,
            .tied = true,
            .kvHeads = 4,
            .headSize = 256,
            .context = 131072,
            .activationKey = "hidden_activation",
            .activation = "gelu_pytorch_tanh" });
    config.queryNorm = QueryNorm::Head;
    config.logitCap = keys.real("final_logit_softcapping", 0);
    if (keys.has("attn_logit_softcapping")) // programs disagree on whether Gemma 3 has it
        keys.fail("attn_logit_softcapping", sentence("is set, which is not known here"));
    const std::int64_t kept = keys.whole("_sliding_window_pattern", 6);
    const std::int64_t pattern = std::max<std::int64_t>(keys.whole("sliding_window_pattern", kept), 1);
    readWindows(keys, config, [pattern](std::int64_t i) { return (i + 1) % pattern != 0; });
    RotaryConfig local;
    local.base = keys.real("rope_local_base_freq", 1e4);
    ConfigKeys positions = keys.object("rope_parameters");
    if (positions.has("full_attention") || positions.has("sliding_attention")) {
        readRotary(positions.object("full_attention"), config.rotary, config.contextLength);
        readRotary(positions.object("sliding_attention"), local, config.contextLength);
        positions.refuseRest();
    } else {
        readRotary(keys, config);
    }
    if (keys.has("rope_scaling"))
        readRotary(keys.object("rope_scaling"), config.rotary, config.contextLength);
    if (local.scaling != RotaryScaling::None || local.part != 1)
        keys.fail("rope_parameters", sentence("scales the positions of layers with a window, which is not known here"));
    config.rotary.localBase = local.base;
    return config;
}

ModelConfig readPhi3(ConfigKeys& keys)
{
    ModelConfig config = readDecoder(keys, { .epsilon = 1e-5, .context = 4096 });
    config.slidingWindow = keys.whole("sliding_window", 0);
    config.rotary.part = keys.real("partial_rotary_factor", 1);
    keys.ignore({ "original_max_position_embeddings" });
    readRotary(keys, config);
    if (config.rotary.scaling != RotaryScaling::None) // transformers takes any scaling of Phi-3 for its own
        keys.fail("rope_scaling", sentence("is set, which is not known here for phi3"));
    return config;
}

ModelConfig readSmolLm3(ConfigKeys& keys)
{
    ModelConfig config = readDecoder(keys, { .base = 2e6, .tied = true, .kvHeads = 4 });
    readAttentionBias(keys, config);
    config.mlpBias = keys.flag("mlp_bias", false);
    const auto given = keys.numbers("no_rope_layers"); // 1: it has rotary positions
    const std::int64_t interval = std::max<std::int64_t>(keys.whole("no_rope_layer_interval", 4), 1);
    for (std::int64_t i = 0; given.empty() && i < std::min<std::int64_t>(config.layers, 1000); ++i)
        config.isRotated.push_back((i + 1) % interval != 0);
    for (const std::int64_t one : given)
        config.isRotated.push_back(one != 0);
    const std::int64_t window = keys.whole("sliding_window", 0);
    if (keys.flag("use_sliding_window", false) && window > 0) {
        config.slidingWindow = window;
        readWindows(keys, config, [&config](std::int64_t i) { return !config.rotates(i); });
    }
    readRotary(keys, config);
    return config;
}

ModelConfig readOlmo2(ConfigKeys& keys)
{
    ModelConfig config = readDecoder(keys, { .epsilon = 1e-5, .context = 2048 });
    config.normPlace = NormPlace::After;
    config.queryNorm = QueryNorm::All;
    readAttentionBias(keys, config);
    readRotary(keys, config);
    return config;
}

ModelConfig readNeoX(ConfigKeys& keys)
{
    ModelConfig config;
    config.positions = Positions::Rotary;
    config.width = keys.whole("hidden_size");
    config.layers = keys.whole("num_hidden_layers");
    config.heads = keys.whole("num_attention_heads");
    config.ffWidth = keys.whole("intermediate_size");
    config.vocabularySize = keys.whole("vocab_size");
    config.contextLength = keys.whole("max_position_embeddings", 2048);
    config.normEpsilon = keys.real("layer_norm_eps", 1e-5);
    config.tiedHead = keys.flag("tie_word_embeddings", false);
    config.activation = readActivation(keys, "hidden_act", "gelu");
    config.qkvBias = config.outBias = keys.flag("attention_bias", true);
    config.parallelResidual = keys.flag("use_parallel_residual", true);
    const double older = keys.real("rotary_emb_base", 1e4);
    config.rotary.base = keys.real("rope_theta", older);
    const double part = keys.real("rotary_pct", 0.25);
    config.rotary.part = keys.real("partial_rotary_factor", part);
    readRotary(keys, config);
    return config;
}

struct FamilyReader {
    std::string_view type;
    ModelConfig (*read)(ConfigKeys&);
};
constexpr FamilyReader kReaders[] = { { "gpt2", readGpt2 }, { "llama", readLlama }, { "mistral", readMistral },
    { "mixtral", readMixtral }, { "qwen2", readQwen2 }, { "qwen2_moe", readQwen2Experts }, { "qwen3", readQwen3 },
    { "qwen3_moe", readQwen3Experts }, { "gemma2", readGemma2 }, { "gemma3_text", readGemma3 }, { "phi3", readPhi3 },
    { "smollm3", readSmolLm3 }, { "olmo2", readOlmo2 }, { "gpt_neox", readNeoX } };

Json textFor(const ModelConfig& config, const ModelFamily& family, const SpecialTokens& tokens)
{
    Json json;
    json["architectures"] = { family.className };
    json["model_type"] = family.type;
    json["vocab_size"] = config.vocabularySize;
    json["tie_word_embeddings"] = config.tiedHead;
    json["torch_dtype"] = "float32";
    json["bos_token_id"] = tokens.begin >= 0 ? Json(tokens.begin) : Json(nullptr);
    json["eos_token_id"] = tokens.end >= 0 ? Json(tokens.end) : Json(nullptr);
    if (family.type == "gpt2") {
        json["activation_function"] = "gelu_new";
        json["n_layer"] = config.layers;
        json["n_head"] = config.heads;
        json["n_embd"] = config.width;
        json["n_inner"] = config.feedForwardWidth();
        json["n_positions"] = config.contextLength;
        json["n_ctx"] = config.contextLength;
        json["layer_norm_epsilon"] = config.normEpsilon;
        json["attn_pdrop"] = json["embd_pdrop"] = json["resid_pdrop"] = config.dropout;
        return json;
    }
    json["hidden_act"] = "silu";
    json["num_hidden_layers"] = config.layers;
    json["num_attention_heads"] = config.heads;
    json["num_key_value_heads"] = config.keyValueHeads();
    json["head_dim"] = config.headWidth();
    json["hidden_size"] = config.width;
    json["intermediate_size"] = config.feedForwardWidth();
    json["max_position_embeddings"] = config.contextLength;
    json["rms_norm_eps"] = config.normEpsilon;
    json["rope_theta"] = config.rotary.base;
    if (family.type == "llama") {
        json["attention_bias"] = config.qkvBias;
        json["mlp_bias"] = config.mlpBias;
    } else {
        json["num_local_experts"] = config.moeExperts;
        json["num_experts_per_tok"] = config.moeActive;
        json["output_router_logits"] = config.moeBalance > 0;
        json["router_aux_loss_coef"] = config.moeBalance;
        json["sliding_window"] = nullptr;
    }
    return json;
}

} // namespace

Result<HuggingFaceConfig> parseHuggingFaceConfig(std::string_view text)
{
    const nlohmann::json json = parseBoundedJson(text);
    if (!json.is_object())
        return Error { ErrorCode::Corrupt, sentence("config.json is not a JSON object") };
    std::string problem;
    ConfigKeys keys(json, "", problem);
    const std::string type = keys.text("model_type", "");
    const auto reader = std::find_if(
        std::begin(kReaders), std::end(kReaders), [&type](const FamilyReader& one) { return one.type == type; });
    if (reader == std::end(kReaders))
        return unusable(sentence("model_type is '%1'; known are %2", { plainLine(type, 40), familyList() }));
    HuggingFaceConfig result { reader->read(keys), findFamily(type) };
    ignoreWhatChangesNothing(keys);
    keys.refuseRest();
    if (!problem.empty())
        return unusable(problem);
    for (const ModelProblem& one : result.config.validate())
        return unusable(one.message);
    return result;
}

Result<HuggingFaceText> huggingFaceConfigText(const ModelConfig& config, const SpecialTokens& tokens)
{
    for (const char* type : { "gpt2", "llama", "mixtral" }) {
        if (config.architecture != Architecture::Gpt)
            break;
        ModelConfig wanted = config;
        wanted.routerLoss = RouterLoss::Pooled; // how it is trained further is not in the file
        if (config.moeExperts == 0)
            wanted.moeBalance = 0;
        if (std::string_view(type) == "gpt2")
            wanted.normBias = wanted.qkvBias = wanted.outBias = wanted.mlpBias = true;
        HuggingFaceText text;
        text.config = textFor(config, *findFamily(type), tokens).dump(2) + "\n";
        auto meaning = parseHuggingFaceConfig(text.config);
        if (!meaning.ok())
            continue;
        ModelConfig read = meaning.value().config;
        read.routerLoss = RouterLoss::Pooled;
        if (config.moeExperts == 0)
            read.moeBalance = 0;
        if (!shapeDifferences(wanted, read).empty())
            continue;
        text.meaning = std::move(meaning).value();
        return text;
    }
    return Error {
        ErrorCode::InvalidArgument,
        sentence(
            "this model has no Hugging Face layout: GPT-2 needs learned positions, layernorm, gelu and as many key-value heads as heads; Llama and Mixtral need rope, rmsnorm and swiglu")
    };
}

std::string huggingFaceGenerationText(const SpecialTokens& tokens)
{
    Json json = { { "_from_model_config", true } };
    if (tokens.begin >= 0)
        json["bos_token_id"] = tokens.begin;
    if (tokens.end >= 0)
        json["eos_token_id"] = tokens.end;
    return json.dump(2) + "\n";
}

std::string withFloat32(std::string_view configText)
{
    auto json = nlohmann::json::parse(configText, nullptr, false); // sorted by key, as transformers writes it
    for (const char* key : { "dtype", "torch_dtype" })
        if (json.is_object() && json.contains(key))
            json[key] = "float32";
    return json.is_discarded() ? std::string(configText) : json.dump(2) + "\n";
}

} // namespace furrow
