// The shape of a decoder as text: one table of its parts serves writing, reading, comparing and describing.

#include "core/base/format.h"
#include "core/base/number_of.h"
#include "core/base/sentence.h"
#include "core/config/json_reading.h"
#include "core/model/model_config.h"

#include <algorithm>
#include <set>

namespace furrow {

namespace {

using Json = nlohmann::ordered_json;

/// What the setting `activation` stands for.
struct FeedForwardParts {
    FeedForward name;
    Activation activation;
    bool gated;
};
constexpr FeedForwardParts kFeedForwards[] = {
    { FeedForward::Gelu, Activation::GeluTanh, false },
    { FeedForward::SwiGlu, Activation::Silu, true },
    { FeedForward::GeluExact, Activation::Gelu, false },
    { FeedForward::GeGlu, Activation::GeluTanh, true },
    { FeedForward::GeGluExact, Activation::Gelu, true },
    { FeedForward::Silu, Activation::Silu, false },
};

/// Calls act(key, part) for each part of a shape, in the order of files and messages.
template <typename Config, typename Act> void eachPart(Config& m, const Act& act)
{
    act("layers", m.layers);
    act("width", m.width);
    act("heads", m.heads);
    act("kv_heads", m.kvHeads);
    act("head_width", m.headSize);
    act("ff_width", m.ffWidth);
    act("context", m.contextLength);
    act("vocabulary", m.vocabularySize);
    act("positions", m.positions);
    act("rope_theta", m.rotary.base);
    act("rope_local_theta", m.rotary.localBase);
    act("rope_part", m.rotary.part);
    act("rope_scaling", m.rotary.scaling);
    act("rope_factor", m.rotary.factor);
    act("rope_low_factor", m.rotary.lowFactor);
    act("rope_high_factor", m.rotary.highFactor);
    act("rope_beta_fast", m.rotary.betaFast);
    act("rope_beta_slow", m.rotary.betaSlow);
    act("rope_amplitude", m.rotary.amplitude);
    act("rope_original_context", m.rotary.originalContext);
    act("rope_layers", m.isRotated);
    act("sliding_window", m.slidingWindow);
    act("sliding_layers", m.isSliding);
    act("norm", m.norm);
    act("norm_place", m.normPlace);
    act("norm_epsilon", m.normEpsilon);
    act("norm_plus_one", m.normPlusOne);
    act("norm_bias", m.normBias);
    act("query_norm", m.queryNorm);
    act("qkv_bias", m.qkvBias);
    act("out_bias", m.outBias);
    act("mlp_bias", m.mlpBias);
    act("activation", m.activation);
    act("gated", m.gated);
    act("parallel_residual", m.parallelResidual);
    act("embedding_scale", m.embeddingScale);
    act("attention_scale", m.attentionScale);
    act("attention_cap", m.attentionCap);
    act("logit_cap", m.logitCap);
    act("tied_head", m.tiedHead);
    act("moe_experts", m.moeExperts);
    act("moe_active", m.moeActive);
    act("moe_shares", m.moeShares);
    act("moe_shared_width", m.moeSharedWidth);
    act("moe_balance", m.moeBalance);
    act("router_loss", m.routerLoss);
}

template <typename Part> Json jsonOf(const Part& part)
{
    if constexpr (std::is_enum_v<Part>)
        return nameOf(part);
    else
        return part;
}

/// All parts, also those that are as by default.
Json allParts(const ModelConfig& config)
{
    Json json = Json::object();
    eachPart(config, [&](const char* key, const auto& part) { json[key] = jsonOf(part); });
    return json;
}

template <typename Part> void readPart(const JsonPart& json, Part& part)
{
    if constexpr (!std::is_enum_v<Part>)
        json.to(part);
    else if (const auto known = closedValue<Part>(json.as<std::string>()))
        part = *known;
    else
        json.refuse(sentence("is not known"));
}

/// The same shape written the same way: what stands for a default is the default.
ModelConfig resolved(ModelConfig m)
{
    m.kvHeads = m.keyValueHeads();
    m.headSize = m.headWidth();
    m.ffWidth = m.feedForwardWidth();
    if (m.norm == NormKind::Rms)
        m.normBias = false;
    if (m.positions == Positions::Learned)
        m.rotary = {};
    return m;
}

} // namespace

FeedForward feedForwardOf(const ModelConfig& config)
{
    const auto found = std::ranges::find_if(kFeedForwards,
        [&](const FeedForwardParts& one) { return one.activation == config.activation && one.gated == config.gated; });
    return found->name; // the table has every pair
}

nlohmann::json shapeJson(const ModelConfig& config)
{
    nlohmann::json json = nlohmann::json::object();
    const Json usual = allParts({});
    const Json parts = allParts(config);
    for (const auto& [key, value] : parts.items())
        if (value != usual[key])
            json[key] = value;
    return json;
}

Result<ModelConfig> parseShape(std::string_view text)
{
    ModelConfig config;
    JsonReading reading(text);
    const JsonPart root = reading.root();
    std::set<std::string> known;
    eachPart(config, [&](const char* key, auto& part) {
        known.insert(key);
        if (root.has(key))
            readPart(root[key], part);
    });
    root.eachKey([&](const std::string& key, const JsonPart& part) {
        if (!known.contains(key))
            part.refuse(sentence("is not part of a shape"));
    });
    if (!reading.ok())
        return Error { ErrorCode::InvalidArgument,
            sentence("The shape of the model cannot be read: %1.", { reading.trouble() }) };
    for (const ModelProblem& problem : config.validate())
        return Error { ErrorCode::InvalidArgument,
            sentence("The shape of the model is wrong: %1.", { problem.message }) };
    return config;
}

std::string shapeDifferences(const ModelConfig& here, const ModelConfig& there)
{
    std::string text;
    const Json ours = allParts(resolved(here));
    const Json theirs = allParts(resolved(there));
    for (const auto& [key, value] : ours.items())
        if (value != theirs[key])
            text += (text.empty() ? "" : "\n") + key + " is " + value.dump() + ", the model has " + theirs[key].dump();
    return text;
}

std::string describeShape(const ModelConfig& m)
{
    std::string text = numberOf(m.parameterCount(), "parameter") + ", " + numberOf(m.layers, "layer") + ", width "
        + formatCount(m.width) + ", " + numberOf(m.heads, "head");
    if (m.keyValueHeads() != m.heads)
        text += " (" + formatCount(m.keyValueHeads()) + " of keys and values)";
    text += ", context " + formatCount(m.contextLength) + ", vocabulary " + formatCount(m.vocabularySize);
    if (m.moeExperts > 0)
        text += ", " + numberOf(m.moeExperts, "expert") + " of which " + formatCount(m.moeActive)
            + (m.moeActive == 1 ? " is visited" : " are visited");
    return text;
}

ModelConfig modelConfigOf(const RunConfig& c, std::uint32_t vocabularySize)
{
    auto shape = c.shape.empty() ? Result<ModelConfig>(Error {}) : parseShape(c.shape);
    ModelConfig m = shape.ok() ? std::move(shape).value() : ModelConfig {};
    if (!shape.ok()) {
        m.architecture = c.architecture;
        m.layers = c.layers;
        m.heads = c.heads;
        m.kvHeads = c.kvHeads;
        m.width = c.width;
        m.ffWidth = c.ffWidth;
        m.contextLength = c.seqLen;
        m.vocabularySize = vocabularySize;
        m.positions = c.positions;
        m.norm = c.norm;
        const auto inside = std::ranges::find(kFeedForwards, c.activation, &FeedForwardParts::name);
        m.activation = inside->activation;
        m.gated = inside->gated;
        m.normBias = m.qkvBias = m.outBias = m.mlpBias = c.bias;
        m.tiedHead = c.tiedHead;
        m.normEpsilon = c.normEpsilon;
        m.rotary.base = c.ropeTheta;
        m.moeExperts = c.moeExperts;
        m.moeActive = c.moeActive;
    }
    m.trainedLength = c.seqLen;
    m.dropout = c.dropout;
    m.loraRank = c.loraRank;
    m.loraAlpha = c.loraAlpha;
    m.hrm.highLayers = c.layers;
    m.hrm.lowLayers = c.hrmLowLayers > 0 ? c.hrmLowLayers : c.layers;
    m.hrm.expansion = c.hrmExpansion;
    m.hrm.highCycles = c.hrmHighCycles;
    m.hrm.lowCycles = c.hrmLowCycles;
    m.hrm.maxSegments = c.hrmSegments;
    m.hrm.exploration = c.hrmExploration;
    return m;
}

void setShape(RunConfig& c, const ModelConfig& m)
{
    c.shape = shapeJson(m).dump();
    c.architecture = m.architecture;
    c.layers = m.layers;
    c.heads = m.heads;
    c.kvHeads = m.keyValueHeads() == m.heads ? 0 : m.keyValueHeads();
    c.width = m.width;
    c.ffWidth = m.feedForwardWidth();
    c.positions = m.positions;
    c.norm = m.norm;
    c.activation = feedForwardOf(m);
    c.bias = m.outBias && m.mlpBias;
    c.tiedHead = m.tiedHead;
    c.normEpsilon = m.normEpsilon;
    c.ropeTheta = m.rotary.base;
    c.moeExperts = m.moeExperts;
    c.moeActive = m.moeActive;
}

} // namespace furrow
