#include "core/model/model_config.h"
#include "core/config/named_tokenizer.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace furrow {

namespace {

std::int64_t roundUp(std::int64_t value, std::int64_t to) { return (value + to - 1) / to * to; }

class Problems {
public:
    void range(const char* field, std::int64_t value, std::int64_t low, std::int64_t high)
    {
        if (value < low || value > high)
            add(field, std::to_string(value), std::to_string(low) + " to " + std::to_string(high));
    }
    void real(const char* field, double value, double low, double high)
    {
        if (!(value >= low && value <= high))
            add(field, std::to_string(value), std::to_string(low) + " to " + std::to_string(high));
    }
    void add(const char* field, const std::string& value, const std::string& allowed)
    {
        found.push_back({ field, std::string(field) + " is " + value + "; allowed is " + allowed });
    }
    std::vector<ModelProblem> found;
};

void validateHrm(const HrmConfig& hrm, Problems& problems)
{
    problems.range("layers", hrm.highLayers, 1, 1000);
    problems.range("hrm_low_layers", hrm.lowLayers, 1, 1000);
    problems.range("hrm_high_cycles", hrm.highCycles, 1, 100);
    problems.range("hrm_low_cycles", hrm.lowCycles, 1, 100);
    problems.range("hrm_segments", hrm.maxSegments, 1, 1000);
    problems.real("hrm_expansion", hrm.expansion, 0.1, 64);
    problems.real("hrm_exploration", hrm.exploration, 0, 1);
}

std::int64_t hrmBlockParameters(const ModelConfig& config)
{
    const std::int64_t d = config.width;
    const std::int64_t experts = config.moeExperts > 0 ? config.moeExperts : 1;
    const std::int64_t router = config.moeExperts > 0 ? config.moeExperts * d : 0;
    return 4 * d * d + experts * 3 * d * config.feedForwardWidth() + router;
}

/// What only rotary positions need.
void validateRotary(const ModelConfig& config, Problems& problems)
{
    const RotaryConfig& r = config.rotary;
    problems.real("rope_theta", r.base, 1, 1e9);
    if (r.localBase != 0)
        problems.real("rope_local_theta", r.localBase, 1, 1e9);
    problems.real("rope_part", r.part, 0.01, 1);
    problems.real("rope_factor", r.factor, 1e-3, 1e6);
    problems.real("rope_amplitude", r.amplitude, 1e-3, 1e3);
    if (config.rotaryWidth() < 2 || config.rotaryWidth() % 2 != 0)
        problems.add(
            "heads", std::to_string(config.heads), "a number that gives an even head width for rotary positions");
    if (r.scaling != RotaryScaling::Llama3 && r.scaling != RotaryScaling::Yarn)
        return;
    problems.range("rope_original_context", r.originalContext, 1, 1 << 24);
    problems.real("rope_low_factor", r.lowFactor, 1e-3, 1e6);
    problems.real("rope_high_factor", r.highFactor, 1e-3, 1e6);
    problems.real("rope_beta_fast", r.betaFast, 1e-3, 1e6);
    problems.real("rope_beta_slow", r.betaSlow, 1e-3, 1e6);
    if (!(r.lowFactor < r.highFactor))
        problems.add("rope_low_factor", std::to_string(r.lowFactor), "less than rope_high_factor");
}

/// What the settings have no word for; each value is of a shape from elsewhere.
void validateParts(const ModelConfig& config, Problems& problems)
{
    problems.range("head_width", config.headSize, 0, 65536);
    problems.range("sliding_window", config.slidingWindow, 0, 1 << 24);
    problems.real("embedding_scale", config.embeddingScale, 1e-6, 1e6);
    problems.real("attention_scale", config.attentionScale, 0, 1e6);
    problems.real("attention_cap", config.attentionCap, 0, 1e6);
    problems.real("logit_cap", config.logitCap, 0, 1e6);
    for (const auto& [field, list] :
        { std::pair { "rope_layers", &config.isRotated }, { "sliding_layers", &config.isSliding } })
        if (!list->empty() && static_cast<std::int64_t>(list->size()) != config.layers)
            problems.add(field, "of " + std::to_string(list->size()) + " layers",
                "one for each of the " + std::to_string(config.layers) + " layers");
    if (config.parallelResidual && config.normPlace != NormPlace::Before)
        problems.add("parallel_residual", "true", "false with norms behind a part");
}

std::int64_t expertParameters(const ModelConfig& config)
{
    const std::int64_t d = config.width;
    const std::int64_t f = config.feedForwardWidth();
    const std::int64_t shared = config.moeSharedWidth;
    return config.moeExperts * (d * config.upWidth(f) + f * d) + config.moeExperts * d
        + (shared > 0 ? d * config.upWidth(shared) + shared * d + d : 0);
}

/// Tokens that attention of a layer looks at in a training window, at most.
double attended(const ModelConfig& config, std::int64_t layer)
{
    const std::int64_t window = config.windowOf(layer);
    const std::int64_t all = config.trainingLength();
    return static_cast<double>(window > 0 ? std::min(window, all) : all);
}

} // namespace

std::int64_t ModelConfig::rotaryWidth() const
{
    return static_cast<std::int64_t>(static_cast<double>(headWidth()) * rotary.part);
}

std::int64_t ModelConfig::feedForwardWidth() const
{
    if (architecture == Architecture::Hrm) {
        const auto wanted
            = static_cast<std::int64_t>(std::llround(hrm.expansion * static_cast<double>(width) * 2.0 / 3.0));
        return roundUp(wanted, 256);
    }
    if (ffWidth > 0)
        return ffWidth;
    return gated ? roundUp(width * 8 / 3, 64) : 4 * width;
}

std::vector<ModelProblem> ModelConfig::validate() const
{
    Problems problems;
    problems.range("layers", layers, 1, 1000);
    problems.range("heads", heads, 1, 1024);
    problems.range("kv_heads", kvHeads, 0, heads);
    problems.range("width", width, 1, 65536);
    problems.range("ff_width", ffWidth, 0, 1 << 20);
    problems.range(trainedLength > 0 ? "context" : "seq_len", contextLength, 1, 1 << 24);
    if (trainedLength > 0)
        problems.range("seq_len", trainedLength, 1, contextLength);
    problems.range("vocabulary", vocabularySize, 2, 1 << 24);
    problems.real("dropout", dropout, 0, 0.99);
    problems.real("norm_epsilon", normEpsilon, 1e-12, 1);
    validateParts(*this, problems);
    const bool hasHeadWidth = headSize > 0 || (heads >= 1 && width % heads == 0);
    if (heads >= 1 && !hasHeadWidth)
        problems.add("heads", std::to_string(heads), "a divisor of the width " + std::to_string(width));
    if (kvHeads > 0 && heads % kvHeads != 0)
        problems.add("kv_heads", std::to_string(kvHeads), "0 or a divisor of the " + std::to_string(heads) + " heads");
    if (heads >= 1 && hasHeadWidth && (positions == Positions::Rotary || architecture == Architecture::Hrm))
        validateRotary(*this, problems);
    if (moeExperts != 0) {
        problems.range("moe_experts", moeExperts, 2, 256);
        problems.range("moe_active", moeActive, 1, moeExperts);
        problems.range("moe_shared_width", moeSharedWidth, 0, 1 << 20);
        problems.real("moe_balance", moeBalance, 0, 10);
    }
    if (loraRank != 0) {
        problems.range("lora_rank", loraRank, 1, width);
        if (architecture != Architecture::Gpt || moeExperts > 0)
            problems.add(
                "lora_rank", std::to_string(loraRank), "0, for LoRA works with architecture gpt without experts only");
    }
    if (architecture == Architecture::Hrm)
        validateHrm(hrm, problems);
    return problems.found;
}

std::int64_t ModelConfig::parameterCount() const
{
    const std::int64_t d = width;
    if (architecture == Architecture::Hrm) {
        const std::int64_t blocks = (hrm.highLayers + hrm.lowLayers) * hrmBlockParameters(*this);
        const std::int64_t learned = positions == Positions::Learned ? contextLength * d : 0;
        return 2 * vocabularySize * d + blocks + 2 * d + 2 + learned;
    }
    const std::int64_t f = feedForwardWidth();
    const std::int64_t q = queryWidth();
    const std::int64_t kv = keyWidth();
    const std::int64_t perNorm = norm == NormKind::LayerNorm && normBias ? 2 * d : d;
    const std::int64_t ofQueries = queryNorm == QueryNorm::Head ? 2 * headWidth()
        : queryNorm == QueryNorm::All                           ? q + kv
                                                                : 0;
    const std::int64_t attention
        = d * (q + 2 * kv) + q * d + (qkvBias ? q + 2 * kv : 0) + (outBias ? d : 0) + ofQueries;
    const std::int64_t mlp = d * upWidth(f) + f * d + (mlpBias ? upWidth(f) + d : 0);
    const std::int64_t feedForward = moeExperts > 0 ? expertParameters(*this) : mlp;
    const std::int64_t embeddings
        = vocabularySize * d * (tiedHead ? 1 : 2) + (positions == Positions::Learned ? contextLength * d : 0);
    return layers * (attention + feedForward + (normPlace == NormPlace::Both ? 4 : 2) * perNorm) + perNorm + embeddings;
}

double ModelConfig::flopsPerToken() const
{
    const auto d = static_cast<double>(width);
    if (architecture == Architecture::Hrm) {
        const auto t = static_cast<double>(trainingLength());
        const double block = static_cast<double>(hrmBlockParameters(*this));
        const double oneLow = static_cast<double>(hrm.lowLayers) * (2 * block + 4 * d * t);
        const double oneHigh = static_cast<double>(hrm.highLayers) * (2 * block + 4 * d * t);
        const double lowPasses = static_cast<double>(hrm.highCycles * hrm.lowCycles - 1);
        const double highPasses = static_cast<double>(hrm.highCycles - 1);
        return lowPasses * oneLow + highPasses * oneHigh + 3 * (oneLow + oneHigh)
            + 6 * d * static_cast<double>(vocabularySize);
    }
    double active = static_cast<double>(parameterCount());
    if (positions == Positions::Learned)
        active -= static_cast<double>(contextLength) * d;
    if (!tiedHead)
        active -= d * static_cast<double>(vocabularySize);
    if (moeExperts > 0) {
        const double expert = d * static_cast<double>(feedForwardWidth()) * (gated ? 3 : 2);
        active -= static_cast<double>(layers * (moeExperts - moeActive)) * expert;
    }
    double scores = 0;
    for (std::int64_t i = 0; i < layers; ++i)
        scores += attended(*this, i);
    return 6 * active + 12 * scores * static_cast<double>(queryWidth());
}

std::uint32_t usualVocabulary(const RunConfig& config)
{
    constexpr std::uint32_t kChar = 66; // as the bundled text has
    constexpr std::uint32_t kByte = 257;
    constexpr std::uint32_t kGpt2 = 50304;
    const auto tokenizer = closedValue<NamedTokenizer>(config.tokenizer);
    return tokenizer == NamedTokenizer::Gpt2 ? kGpt2 : tokenizer == NamedTokenizer::Byte ? kByte : kChar;
}

} // namespace furrow
