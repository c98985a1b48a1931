#include "core/train/weights/huggingface_config.h"

#include <nlohmann/json.hpp>

namespace furrow {

namespace {

using Json = nlohmann::ordered_json;

Error unusable(const std::string& message) { return { ErrorCode::InvalidArgument, "config.json: " + message }; }

/// Reads typed values and remembers the first that is wrong.
class Reader {
public:
    explicit Reader(const Json& json)
        : json_(json)
    {
    }

    std::int64_t integer(const char* key, std::int64_t otherwise, bool required = false)
    {
        if (!json_.contains(key) || json_[key].is_null()) {
            if (required)
                fail(std::string(key) + " is missing");
            return otherwise;
        }
        if (!json_[key].is_number_integer())
            fail(std::string(key) + " is no whole number");
        return json_[key].is_number_integer() ? json_[key].get<std::int64_t>() : otherwise;
    }
    double real(const char* key, double otherwise)
    {
        if (!json_.contains(key) || json_[key].is_null())
            return otherwise;
        if (!json_[key].is_number())
            fail(std::string(key) + " is no number");
        return json_[key].is_number() ? json_[key].get<double>() : otherwise;
    }
    bool flag(const char* key, bool otherwise)
    {
        if (!json_.contains(key) || json_[key].is_null())
            return otherwise;
        if (!json_[key].is_boolean())
            fail(std::string(key) + " is neither true nor false");
        return json_[key].is_boolean() ? json_[key].get<bool>() : otherwise;
    }
    std::string text(const char* key, const std::string& otherwise)
    {
        return json_.contains(key) && json_[key].is_string() ? json_[key].get<std::string>() : otherwise;
    }
    void fail(const std::string& message)
    {
        if (problem_.empty())
            problem_ = message;
    }
    const std::string& problem() const { return problem_; }

private:
    const Json& json_;
    std::string problem_;
};

ModelConfig readGpt2(Reader& reader)
{
    ModelConfig config;
    config.width = reader.integer("n_embd", 768, true);
    config.layers = reader.integer("n_layer", 12, true);
    config.heads = reader.integer("n_head", 12, true);
    config.contextLength = reader.integer("n_positions", 1024);
    config.vocabularySize = reader.integer("vocab_size", 50257, true);
    config.ffWidth = reader.integer("n_inner", 4 * config.width);
    config.normEpsilon = reader.real("layer_norm_epsilon", 1e-5);
    config.tiedHead = reader.flag("tie_word_embeddings", true);
    const std::string activation = reader.text("activation_function", "gelu_new");
    if (activation != "gelu_new" && activation != "gelu_pytorch_tanh")
        reader.fail("activation_function is '" + activation + "'; only gelu_new is supported");
    if (!reader.flag("scale_attn_weights", true) || reader.flag("scale_attn_by_inverse_layer_idx", false))
        reader.fail("scale_attn_weights and scale_attn_by_inverse_layer_idx must have their defaults");
    return config;
}

ModelConfig readLlama(Reader& reader, const Json& json)
{
    ModelConfig config;
    config.positions = "rope";
    config.norm = "rmsnorm";
    config.activation = "swiglu";
    config.width = reader.integer("hidden_size", 0, true);
    config.layers = reader.integer("num_hidden_layers", 0, true);
    config.heads = reader.integer("num_attention_heads", 0, true);
    config.kvHeads = reader.integer("num_key_value_heads", config.heads);
    config.ffWidth = reader.integer("intermediate_size", 0, true);
    config.contextLength = reader.integer("max_position_embeddings", 2048);
    config.vocabularySize = reader.integer("vocab_size", 0, true);
    config.normEpsilon = reader.real("rms_norm_eps", 1e-6);
    config.tiedHead = reader.flag("tie_word_embeddings", false);
    config.bias = reader.flag("attention_bias", false);
    config.ropeTheta = reader.real("rope_theta", 1e4);
    // transformers 5 keeps the same facts in "rope_parameters", older ones use "rope_scaling" for anything but plain
    // RoPE.
    for (const char* key : { "rope_parameters", "rope_scaling" }) {
        if (!json.contains(key) || !json[key].is_object())
            continue;
        Reader rope(json[key]);
        config.ropeTheta = rope.real("rope_theta", config.ropeTheta);
        const std::string type = rope.text("rope_type", rope.text("type", "default"));
        if (type != "default")
            reader.fail(std::string(key) + " asks for '" + type + "' positions; only plain RoPE is supported");
    }
    if (reader.flag("mlp_bias", false) != config.bias)
        reader.fail("attention_bias and mlp_bias differ; they must be equal");
    if (const std::string act = reader.text("hidden_act", "silu"); act != "silu")
        reader.fail("hidden_act is '" + act + "'; only silu is supported");
    if (config.heads > 0 && reader.integer("head_dim", config.width / config.heads) != config.width / config.heads)
        reader.fail("head_dim is not hidden_size / num_attention_heads, which is not supported");
    return config;
}

Json commonKeys(const ModelConfig& config, const SpecialTokens& tokens)
{
    Json json;
    json["vocab_size"] = config.vocabularySize;
    json["tie_word_embeddings"] = config.tiedHead;
    json["torch_dtype"] = "float32";
    json["bos_token_id"] = tokens.begin >= 0 ? Json(tokens.begin) : Json(nullptr);
    json["eos_token_id"] = tokens.end >= 0 ? Json(tokens.end) : Json(nullptr);
    return json;
}

} // namespace

Result<HuggingFaceLayout> huggingFaceLayout(const ModelConfig& config)
{
    const auto no = [](const std::string& why) {
        return Error { ErrorCode::InvalidArgument, "this model has no Hugging Face layout: " + why };
    };
    if (config.architecture != "gpt")
        return no("architecture is " + config.architecture + ", only gpt can be exported");
    if (config.moeExperts > 0)
        return no("it has a mixture of experts");
    if (config.positions == "learned" && config.norm == "layernorm" && config.activation == "gelu"
        && config.keyValueHeads() == config.heads)
        return HuggingFaceLayout::Gpt2;
    if (config.positions == "rope" && config.norm == "rmsnorm" && config.activation == "swiglu")
        return HuggingFaceLayout::Llama;
    return no(
        "GPT-2 needs learned positions, layernorm, gelu and as many key-value heads as heads; Llama needs rope, rmsnorm and swiglu");
}

std::string huggingFaceConfigText(const ModelConfig& config, HuggingFaceLayout layout, const SpecialTokens& tokens)
{
    Json json = commonKeys(config, tokens);
    if (layout == HuggingFaceLayout::Gpt2) {
        json["architectures"] = { "GPT2LMHeadModel" };
        json["model_type"] = "gpt2";
        json["activation_function"] = "gelu_new";
        json["n_layer"] = config.layers;
        json["n_head"] = config.heads;
        json["n_embd"] = config.width;
        json["n_inner"] = config.feedForwardWidth();
        json["n_positions"] = config.contextLength;
        json["n_ctx"] = config.contextLength;
        json["layer_norm_epsilon"] = config.normEpsilon;
        json["attn_pdrop"] = json["embd_pdrop"] = json["resid_pdrop"] = config.dropout;
    } else {
        json["architectures"] = { "LlamaForCausalLM" };
        json["model_type"] = "llama";
        json["hidden_act"] = "silu";
        json["num_hidden_layers"] = config.layers;
        json["num_attention_heads"] = config.heads;
        json["num_key_value_heads"] = config.keyValueHeads();
        json["hidden_size"] = config.width;
        json["intermediate_size"] = config.feedForwardWidth();
        json["max_position_embeddings"] = config.contextLength;
        json["rms_norm_eps"] = config.normEpsilon;
        json["rope_theta"] = config.ropeTheta;
        json["attention_bias"] = json["mlp_bias"] = config.bias;
    }
    return json.dump(2) + "\n";
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

Result<HuggingFaceConfig> parseHuggingFaceConfig(std::string_view text)
{
    const Json json = Json::parse(text, nullptr, false);
    if (json.is_discarded() || !json.is_object())
        return Error { ErrorCode::Corrupt, "config.json is no JSON object" };
    Reader reader(json);
    const std::string type = reader.text("model_type", "");
    HuggingFaceConfig result;
    if (type == "gpt2") {
        result.config = readGpt2(reader);
    } else if (type == "llama") {
        result.layout = HuggingFaceLayout::Llama;
        result.config = readLlama(reader, json);
    } else {
        return unusable("model_type is '" + type.substr(0, 40) + "'; gpt2 and llama are supported");
    }
    if (!reader.problem().empty())
        return unusable(reader.problem());
    for (const ModelProblem& problem : result.config.validate())
        return unusable(problem.message);
    return result;
}

} // namespace furrow
