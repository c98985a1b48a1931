// The way back: what a model is, in metadata of llama.cpp.

#include "core/base/sentence.h"
#include "core/model/gguf/gguf_model.h"

namespace furrow {

namespace {

using Json = nlohmann::json;

void putHeads(Json& own, const ModelConfig& c, const GgufArchitecture& architecture)
{
    own["rope.freq_base"] = c.rotary.base;
    own["rope.dimension_count"] = c.rotaryWidth();
    if (architecture.name == LlamaCpp::GptNeoX)
        return;
    own["attention.head_count_kv"] = c.keyValueHeads();
    own["attention.key_length"] = own["attention.value_length"] = c.headWidth();
}

void putScaling(Json& own, const RotaryConfig& rotary)
{
    const bool isYarn = rotary.scaling == RotaryScaling::Yarn;
    if (!isYarn && rotary.scaling != RotaryScaling::Linear)
        return;
    own["rope.scaling.type"] = isYarn ? "yarn" : "linear";
    own["rope.scaling.factor"] = rotary.factor;
    if (isYarn)
        own["rope.scaling.original_context_length"] = rotary.originalContext;
}

void putRest(Json& own, const ModelConfig& c, const GgufArchitecture& architecture)
{
    if (architecture.name == LlamaCpp::GptNeoX)
        own["use_parallel_residual"] = c.parallelResidual;
    if (c.slidingWindow > 0)
        own["attention.sliding_window"] = c.slidingWindow;
    if (c.attentionCap > 0)
        own["attn_logit_softcapping"] = c.attentionCap;
    if (c.logitCap > 0)
        own["final_logit_softcapping"] = c.logitCap;
    if (c.rotary.localBase > 0 && c.rotary.localBase != 1e4)
        own["rope.freq_base_swa"] = c.rotary.localBase;
    if (!architecture.hasExperts)
        return;
    own["expert_count"] = c.moeExperts;
    own["expert_used_count"] = c.moeActive;
    if (architecture.name != LlamaCpp::Llama)
        own["expert_feed_forward_length"] = c.feedForwardWidth();
    if (c.moeSharedWidth > 0)
        own["expert_shared_feed_forward_length"] = c.moeSharedWidth;
}

/// A file of which only the table of tensors counts that ggufModelOf looks at.
GgufFile asRead(const GgufMetadata& made, const ModelConfig& c)
{
    GgufFile file;
    file.metadata = made.metadata;
    file.tensors.push_back({ "token_embd.weight", { c.vocabularySize, c.width } });
    if (!c.tiedHead)
        file.tensors.push_back({ "output.weight", { c.vocabularySize, c.width } });
    if (c.qkvBias)
        file.tensors.push_back({ "blk.0.attn_q.bias", { c.queryWidth() } });
    if (c.mlpBias)
        file.tensors.push_back({ "blk.0.ffn_up.bias", { c.feedForwardWidth() } });
    return file;
}

/// How a model is trained further is not in the file.
ModelConfig withoutTraining(ModelConfig config)
{
    config.routerLoss = RouterLoss::Layer;
    config.moeBalance = 0;
    config.trainedLength = 0;
    return config;
}

} // namespace

Result<GgufMetadata> ggufMetadataOf(const HuggingFaceConfig& layout)
{
    const ModelConfig& c = layout.config;
    GgufMetadata made;
    made.architecture = ggufArchitectureOf(layout.family->type);
    if (!made.architecture)
        return Error { ErrorCode::InvalidArgument,
            sentence("models of %1 are not written as GGUF here; known are %2. Export as huggingface.",
                { std::string(layout.family->type), ggufArchitectureList() }) };
    Json own { { "context_length", c.contextLength }, { "embedding_length", c.width }, { "block_count", c.layers },
        { "feed_forward_length", c.feedForwardWidth() }, { "attention.head_count", c.heads },
        { "vocab_size", c.vocabularySize } };
    own[c.norm == NormKind::Rms ? "attention.layer_norm_rms_epsilon" : "attention.layer_norm_epsilon"] = c.normEpsilon;
    if (made.architecture->name != LlamaCpp::Gpt2)
        putHeads(own, c, *made.architecture);
    putScaling(own, c.rotary);
    putRest(own, c, *made.architecture);
    if (c.rotary.scaling == RotaryScaling::Llama3)
        made.ropeFactors = llamaRopeFactors(c.rotary, c.rotaryWidth());
    const std::string name = toString(made.architecture->name);
    made.metadata["general.architecture"] = name;
    for (const auto& [key, value] : own.items())
        made.metadata[name + "." + key] = value;
    FURROW_TRY_ASSIGN(const auto read, ggufModelOf(asRead(made, c), made.ropeFactors));
    if (const auto lost = shapeDifferences(withoutTraining(c), withoutTraining(read.layout.config)); !lost.empty())
        return Error { ErrorCode::InvalidArgument, sentence("a GGUF cannot say what this model is: %1", { lost }) };
    return made;
}

} // namespace furrow
