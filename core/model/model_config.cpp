#include "core/model/model_config.h"

#include <cmath>

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
    void choice(const char* field, const std::string& value, std::initializer_list<const char*> allowed)
    {
        std::string list;
        for (const char* one : allowed) {
            if (value == one)
                return;
            list += (list.empty() ? "" : ", ") + std::string(one);
        }
        add(field, "'" + value + "'", list);
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

} // namespace

std::int64_t ModelConfig::feedForwardWidth() const
{
    if (architecture == "hrm") {
        const auto wanted
            = static_cast<std::int64_t>(std::llround(hrm.expansion * static_cast<double>(width) * 2.0 / 3.0));
        return roundUp(wanted, 256);
    }
    if (ffWidth > 0)
        return ffWidth;
    return activation == "swiglu" ? roundUp(width * 8 / 3, 64) : 4 * width;
}

std::vector<ModelProblem> ModelConfig::validate() const
{
    Problems problems;
    problems.choice("architecture", architecture, { "gpt", "hrm" });
    problems.choice("positions", positions, { "learned", "rope" });
    problems.choice("norm", norm, { "layernorm", "rmsnorm" });
    problems.choice("activation", activation, { "gelu", "swiglu" });
    problems.range("layers", layers, 1, 1000);
    problems.range("heads", heads, 1, 1024);
    problems.range("kv_heads", kvHeads, 0, heads);
    problems.range("width", width, 1, 65536);
    problems.range("ff_width", ffWidth, 0, 1 << 20);
    problems.range("seq_len", contextLength, 1, 1 << 20);
    problems.range("vocabulary", vocabularySize, 2, 1 << 24);
    problems.real("dropout", dropout, 0, 0.99);
    problems.real("norm_epsilon", normEpsilon, 1e-12, 1);
    problems.real("rope_theta", ropeTheta, 1, 1e9);
    if (heads >= 1 && width % heads != 0)
        problems.add("heads", std::to_string(heads), "a divisor of the width " + std::to_string(width));
    if (kvHeads > 0 && heads % kvHeads != 0)
        problems.add("kv_heads", std::to_string(kvHeads), "0 or a divisor of the " + std::to_string(heads) + " heads");
    const bool rotates = positions == "rope" || architecture == "hrm";
    if (heads >= 1 && rotates && width % heads == 0 && headWidth() % 2 != 0)
        problems.add("heads", std::to_string(heads), "a number that gives an even head width for rotary positions");
    if (moeExperts != 0) {
        problems.range("moe_experts", moeExperts, 2, 256);
        problems.range("moe_active", moeActive, 1, moeExperts);
        problems.real("moe_balance", moeBalance, 0, 10);
    }
    if (loraRank != 0) {
        problems.range("lora_rank", loraRank, 1, width);
        if (architecture != "gpt" || moeExperts > 0)
            problems.add(
                "lora_rank", std::to_string(loraRank), "0, for LoRA works with architecture gpt without experts only");
    }
    if (architecture == "hrm")
        validateHrm(hrm, problems);
    return problems.found;
}

std::int64_t ModelConfig::parameterCount() const
{
    const std::int64_t d = width;
    if (architecture == "hrm") {
        const std::int64_t blocks = (hrm.highLayers + hrm.lowLayers) * hrmBlockParameters(*this);
        const std::int64_t learned = positions == "learned" ? contextLength * d : 0;
        return 2 * vocabularySize * d + blocks + 2 * d + 2 + learned;
    }
    const std::int64_t f = feedForwardWidth();
    const std::int64_t kv = keyValueHeads() * headWidth();
    const std::int64_t oneBias = bias ? 1 : 0;
    const std::int64_t perNorm = norm == "layernorm" && bias ? 2 * d : d;
    const std::int64_t attention = d * (d + 2 * kv) + d * d + oneBias * (2 * d + 2 * kv);
    const std::int64_t up = activation == "swiglu" ? 2 * f : f;
    const std::int64_t mlp = d * up + f * d + oneBias * (up + d);
    const std::int64_t feedForward = moeExperts > 0 ? moeExperts * (d * up + f * d) + moeExperts * d : mlp;
    const std::int64_t embeddings
        = vocabularySize * d * (tiedHead ? 1 : 2) + (positions == "learned" ? contextLength * d : 0);
    return layers * (attention + feedForward + 2 * perNorm) + perNorm + embeddings;
}

double ModelConfig::flopsPerToken() const
{
    const auto d = static_cast<double>(width);
    const auto t = static_cast<double>(contextLength);
    if (architecture == "hrm") {
        const double block = static_cast<double>(hrmBlockParameters(*this));
        const double oneLow = static_cast<double>(hrm.lowLayers) * (2 * block + 4 * d * t);
        const double oneHigh = static_cast<double>(hrm.highLayers) * (2 * block + 4 * d * t);
        const double lowPasses = static_cast<double>(hrm.highCycles * hrm.lowCycles - 1);
        const double highPasses = static_cast<double>(hrm.highCycles - 1);
        return lowPasses * oneLow + highPasses * oneHigh + 3 * (oneLow + oneHigh)
            + 6 * d * static_cast<double>(vocabularySize);
    }
    double active = static_cast<double>(parameterCount());
    if (positions == "learned")
        active -= t * d;
    if (!tiedHead)
        active -= d * static_cast<double>(vocabularySize);
    if (moeExperts > 0) {
        const double expert = d * static_cast<double>(feedForwardWidth()) * (activation == "swiglu" ? 3 : 2);
        active -= static_cast<double>(layers * (moeExperts - moeActive)) * expert;
    }
    return 6 * active + 12 * static_cast<double>(layers) * d * t;
}

ModelConfig modelConfigOf(const RunConfig& c, std::uint32_t vocabularySize)
{
    ModelConfig m;
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
    m.activation = c.activation;
    m.bias = c.bias;
    m.tiedHead = c.tiedHead;
    m.dropout = c.dropout;
    m.normEpsilon = c.normEpsilon;
    m.ropeTheta = c.ropeTheta;
    m.moeExperts = c.moeExperts;
    m.moeActive = c.moeActive;
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

std::uint32_t usualVocabulary(const RunConfig& config)
{
    constexpr std::uint32_t kChar = 66; // as the bundled text has
    constexpr std::uint32_t kByte = 257;
    constexpr std::uint32_t kGpt2 = 50304;
    return config.tokenizer == "gpt2" ? kGpt2 : config.tokenizer == "byte" ? kByte : kChar;
}

} // namespace furrow
