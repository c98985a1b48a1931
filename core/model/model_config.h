#pragma once

#include "core/base/result.h"
#include "core/config/run_config.h"

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace furrow {

/// One field of a ModelConfig that cannot be used. `field` is the schema's key ("heads", "seq_len", ...).
struct ModelProblem {
    std::string field;
    Message message; ///< names field, value and what is allowed
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

/// Where a block norms: what goes into attention and feed-forward, what comes out of them, or both (Gemma 2).
enum class NormPlace { Before, After, Both };
template <>
inline constexpr std::array kClosedNames<NormPlace> {
    ClosedName { NormPlace::Before, "before" },
    ClosedName { NormPlace::After, "after" },
    ClosedName { NormPlace::Both, "both" },
};
/// Norm of queries and keys: none, over each head (Qwen 3), or over the width of all heads (OLMo 2).
enum class QueryNorm { None, Head, All };
template <>
inline constexpr std::array kClosedNames<QueryNorm> {
    ClosedName { QueryNorm::None, "none" },
    ClosedName { QueryNorm::Head, "head" },
    ClosedName { QueryNorm::All, "all" },
};

enum class Activation { GeluTanh, Gelu, Silu };
template <>
inline constexpr std::array kClosedNames<Activation> {
    ClosedName { Activation::GeluTanh, "gelu_tanh" },
    ClosedName { Activation::Gelu, "gelu" },
    ClosedName { Activation::Silu, "silu" },
};

/// How rotary angles are stretched to a longer context than the first training had. Dynamic changes nothing within the
/// context of the model.
enum class RotaryScaling { None, Linear, Dynamic, Llama3, Yarn };
template <>
inline constexpr std::array kClosedNames<RotaryScaling> {
    ClosedName { RotaryScaling::None, "none" },
    ClosedName { RotaryScaling::Linear, "linear" },
    ClosedName { RotaryScaling::Dynamic, "dynamic" },
    ClosedName { RotaryScaling::Llama3, "llama3" },
    ClosedName { RotaryScaling::Yarn, "yarn" },
};

/// What the balance of experts is taken over: each layer by itself, or all layers together as transformers does.
enum class RouterLoss { Layer, Pooled };
template <>
inline constexpr std::array kClosedNames<RouterLoss> {
    ClosedName { RouterLoss::Layer, "layer" },
    ClosedName { RouterLoss::Pooled, "pooled" },
};

struct RotaryConfig {
    double base = 1e4;
    double localBase = 0; ///< of layers with a sliding window, which are never scaled; 0: as the others
    double part = 1; ///< share of each head that is turned
    RotaryScaling scaling = RotaryScaling::None;
    double factor = 1; ///< context divided by `originalContext`, about
    double lowFactor = 1; ///< llama3: wavelengths above originalContext / lowFactor are stretched
    double highFactor = 4; ///< llama3: those below originalContext / highFactor are not
    double betaFast = 32; ///< yarn: turns within originalContext above which nothing is stretched
    double betaSlow = 1; ///< yarn: those below which all is
    double amplitude = 1; ///< yarn: of cosines and sines
    std::int64_t originalContext = 0; ///< tokens
    bool operator==(const RotaryConfig&) const = default;
};

/// The shape of a model; a plain value, frozen in a run. A decoder is described by its parts; which families of other
/// programs they make up is in core/model/huggingface_config.h.
struct ModelConfig {
    Architecture architecture = Architecture::Gpt;
    std::int64_t layers = 4;
    std::int64_t heads = 4;
    std::int64_t kvHeads = 0; ///< key-value heads; 0: as many as heads
    std::int64_t width = 128;
    std::int64_t headSize = 0; ///< 0: width / heads
    std::int64_t ffWidth = 0; ///< 0: 4 x width, 8/3 x width rounded up to 64 with a gate; of one expert
    std::int64_t contextLength = 64; ///< tokens, of the model
    std::int64_t trainedLength = 0; ///< tokens of a training window; 0: contextLength
    std::int64_t vocabularySize = 256;
    Positions positions = Positions::Learned;
    RotaryConfig rotary;
    std::vector<bool> isRotated; ///< of each layer; empty: all
    std::int64_t slidingWindow = 0; ///< tokens that attention sees, its own included; 0: all before it
    std::vector<bool> isSliding; ///< of each layer; empty: all
    NormKind norm = NormKind::LayerNorm;
    NormPlace normPlace = NormPlace::Before;
    QueryNorm queryNorm = QueryNorm::None;
    double normEpsilon = 1e-5;
    bool normPlusOne = false; ///< gains are stored less 1 (Gemma)
    Activation activation = Activation::GeluTanh;
    bool gated = false; ///< activation(gate) * up, as SwiGLU
    bool normBias = true; ///< of LayerNorm
    bool qkvBias = true;
    bool outBias = true;
    bool mlpBias = true;
    bool parallelResidual = false; ///< attention and feed-forward read the same input (GPT-NeoX)
    double embeddingScale = 1;
    double attentionScale = 0; ///< of scores; 0: 1 / sqrt(head width)
    double attentionCap = 0; ///< scores s become cap tanh(s / cap); 0: none
    double logitCap = 0;
    bool tiedHead = true;
    double dropout = 0;
    std::int64_t moeExperts = 0; ///< 0: dense
    std::int64_t moeActive = 2; ///< experts a token visits
    bool moeShares = true; ///< the shares of the visited experts sum up to 1
    std::int64_t moeSharedWidth = 0; ///< of an expert that each token visits, behind a gate of its own; 0: none
    double moeBalance = 0.01; ///< weight of the load-balance loss
    RouterLoss routerLoss = RouterLoss::Layer;
    std::int64_t loraRank
        = 0; ///< 0: all weights are trained; else only pairs of that rank beside each linear layer of a block
    double loraAlpha = 0; ///< 0: twice the rank
    HrmConfig hrm;

    std::int64_t headWidth() const { return headSize > 0 ? headSize : width / heads; }
    std::int64_t keyValueHeads() const { return kvHeads > 0 ? kvHeads : heads; }
    std::int64_t queryWidth() const { return heads * headWidth(); }
    std::int64_t keyWidth() const { return keyValueHeads() * headWidth(); }
    /// Numbers of a head that are turned; even.
    std::int64_t rotaryWidth() const;
    std::int64_t trainingLength() const { return trainedLength > 0 ? trainedLength : contextLength; }
    /// Tokens that attention of a layer sees at most; 0: all before it.
    std::int64_t windowOf(std::int64_t layer) const
    {
        return isSliding.empty() || isSliding[static_cast<std::size_t>(layer)] ? slidingWindow : 0;
    }
    bool rotates(std::int64_t layer) const
    {
        return positions == Positions::Rotary && (isRotated.empty() || isRotated[static_cast<std::size_t>(layer)]);
    }
    bool normsBefore() const { return normPlace != NormPlace::After; }
    bool normsAfter() const { return normPlace != NormPlace::Before; }
    /// Outputs of the first product of a feed-forward part of that width.
    std::int64_t upWidth(std::int64_t feedForward) const { return gated ? 2 * feedForward : feedForward; }
    /// ffWidth with its default resolved.
    std::int64_t feedForwardWidth() const;
    double loraScale() const
    {
        return (loraAlpha > 0 ? loraAlpha : 2.0 * static_cast<double>(loraRank)) / static_cast<double>(loraRank);
    }
    /// Everything wrong at once; empty when the model can be built.
    std::vector<ModelProblem> validate() const;
    /// Numbers of the model, a tied head counted once.
    std::int64_t parameterCount() const;
    /// Floating-point operations of forward and backward for one token of a full training window: 6 N + 12 L D T, N
    /// without learned positions, only the active experts counted, T within sliding windows; for HRM the cycles of one
    /// segment that are computed.
    double flopsPerToken() const;
    bool operator==(const ModelConfig&) const = default;
};

/// What the setting `activation` calls activation and gate.
FeedForward feedForwardOf(const ModelConfig& config);

/// What of a decoder is its shape, not its training: what differs from a ModelConfig made by default, as JSON. Defaults
/// never change: files of runs are read by them.
nlohmann::json shapeJson(const ModelConfig& config);
/// Reads it back, from anyone. InvalidArgument names what is wrong in it.
Result<ModelConfig> parseShape(std::string_view text);
/// One line for each part in which two shapes differ: "heads is 4, the model has 12"; "" when none does.
std::string shapeDifferences(const ModelConfig& here, const ModelConfig& there);
/// In words: "30 layers, width 576, 9 heads, 3 of keys and values, ...".
std::string describeShape(const ModelConfig& config);

/// With the setting `shape` what that says, else what the other settings say; the context of training, dropout and LoRA
/// are the run's in either case. A `shape` that cannot be read counts as none: parseShape says what is wrong with it.
/// @param vocabularySize  of the run's tokenizer, or usualVocabulary() while it is not known; a `shape` has its own
ModelConfig modelConfigOf(const RunConfig& config, std::uint32_t vocabularySize);
/// The inverse: what of a shape has a setting of its own.
void setShape(RunConfig& config, const ModelConfig& model);
/// What the tokenizer of these settings usually has: for benchmarks and estimates.
std::uint32_t usualVocabulary(const RunConfig& config);

} // namespace furrow
