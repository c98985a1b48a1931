#pragma once

#include "core/config/run_config.h"

#include <cstdint>
#include <string>
#include <vector>

namespace furrow {

/// One field of a ModelConfig that cannot be used. `field` is the schema's key ("heads", "seq_len", ...).
struct ModelProblem {
    std::string field;
    std::string message; ///< names field, value and what is allowed
    bool operator==(const ModelProblem&) const = default;
};

/// What only the hierarchical reasoning model has. Source: arXiv 2506.21734 and its published code.
struct HrmConfig {
    std::int64_t highLayers = 4;
    std::int64_t lowLayers = 4;
    std::int64_t highCycles = 2;
    std::int64_t lowCycles = 2;
    double expansion = 4; ///< of the SwiGLU layers, before the factor 2/3 and rounding up to 256
    std::int64_t maxSegments = 16; ///< segments after which a row halts in any case
    double exploration = 0.1; ///< probability of a random minimum number of segments
    bool causal = true; ///< text; false for puzzles
    bool stablemax = false; ///< loss by stablemax in float64 instead of softmax
    bool exactReward = false; ///< halting is rewarded for whole rows only; false: by token accuracy
    bool poolLast = false; ///< the halting head reads the last position; false: the mean of all
    bool operator==(const HrmConfig&) const = default;
};

/// The shape of a model; a plain value, frozen in a run and stored beside the weights.
struct ModelConfig {
    std::string architecture = "gpt"; ///< gpt | hrm
    std::int64_t layers = 4;
    std::int64_t heads = 4;
    std::int64_t kvHeads = 0; ///< key-value heads; 0: as many as heads
    std::int64_t width = 128;
    std::int64_t ffWidth = 0; ///< 0: 4 x width for gelu, 8/3 x width rounded up to 64 for swiglu
    std::int64_t contextLength = 64;
    std::int64_t vocabularySize = 256;
    std::string positions = "learned"; ///< learned | rope
    std::string norm = "layernorm"; ///< layernorm | rmsnorm
    std::string activation = "gelu"; ///< gelu (tanh form) | swiglu
    bool bias = true;
    bool tiedHead = true;
    double dropout = 0;
    double normEpsilon = 1e-5;
    double ropeTheta = 1e4;
    std::int64_t moeExperts = 0; ///< 0: dense
    std::int64_t moeActive = 2; ///< experts a token visits
    double moeBalance = 0.01; ///< weight of the load-balance loss
    std::int64_t loraRank
        = 0; ///< 0: all weights are trained; else only pairs of that rank beside each linear layer of a block
    double loraAlpha = 0; ///< 0: twice the rank
    HrmConfig hrm;

    std::int64_t headWidth() const { return width / heads; }
    std::int64_t keyValueHeads() const { return kvHeads > 0 ? kvHeads : heads; }
    /// ffWidth with its default resolved.
    std::int64_t feedForwardWidth() const;
    double loraScale() const
    {
        return (loraAlpha > 0 ? loraAlpha : 2.0 * static_cast<double>(loraRank)) / static_cast<double>(loraRank);
    }
    /// Everything wrong at once; empty when the model can be built.
    std::vector<ModelProblem> validate() const;
    /// Trained numbers, a tied head counted once.
    std::int64_t parameterCount() const;
    /// Floating-point operations of forward and backward for one token of a full context: 6 N + 12 L D T, N without
    /// learned positions, only the active experts counted; for HRM the cycles of one segment that are computed.
    double flopsPerToken() const;
    bool operator==(const ModelConfig&) const = default;
};

/// @param vocabularySize  of the run's tokenizer, or usualVocabulary() while it is not known
ModelConfig modelConfigOf(const RunConfig& config, std::uint32_t vocabularySize);
/// What the tokenizer of these settings usually has: for benchmarks and estimates.
std::uint32_t usualVocabulary(const RunConfig& config);

} // namespace furrow
