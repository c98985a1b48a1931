#include "core/model/memory_estimate.h"

#include <algorithm>

// Sizes are of float32 numbers unless multiplied by `type`, the bytes of a number in products. D width, F feed-forward
// width, V vocabulary.

namespace furrow {

namespace {

constexpr std::int64_t kProgram
    = 160'000'000; // libtorch's code and operators (code that several workers share), buffers of the loader, the ledger

struct Sizes {
    std::int64_t parameters;
    std::int64_t trained;
    std::int64_t type; ///< bytes
    std::int64_t layers; ///< that keep something for backward
    std::int64_t tokens; ///< of a micro-batch
    std::int64_t q; ///< width of the queries
    std::int64_t kv; ///< and of the keys
    std::int64_t up; ///< outputs of the first feed-forward product
    std::int64_t active; ///< inputs of the second
};

std::int64_t loraParameters(const ModelConfig& m)
{
    const std::int64_t q = m.queryWidth();
    const std::int64_t f = m.feedForwardWidth();
    return m.layers * m.loraRank
        * (m.width + q + 2 * m.keyWidth() + q + m.width + m.width + m.upWidth(f) + f + m.width);
}

Sizes sizesOf(const RunConfig& c, const ModelConfig& m, bool gpu)
{
    const bool hrm = m.architecture == Architecture::Hrm;
    const std::int64_t feedForward
        = m.moeExperts > 0 ? m.moeActive * m.feedForwardWidth() + m.moeSharedWidth : m.feedForwardWidth();
    Sizes s;
    s.parameters = m.parameterCount();
    s.trained = m.loraRank > 0 ? loraParameters(m) : s.parameters;
    s.type = c.precision == PrecisionChoice::Float32 || (c.precision == PrecisionChoice::Auto && !gpu) ? 4 : 2;
    s.layers = hrm ? m.hrm.highLayers + m.hrm.lowLayers : m.layers;
    s.tokens = c.batchSize * c.seqLen;
    s.q = m.queryWidth();
    s.kv = m.keyWidth();
    s.up = hrm ? 2 * feedForward : m.upWidth(feedForward);
    s.active = feedForward;
    return s;
}

/// Scores that attention with a soft cap holds for one token, in bytes: it is written out, and its backward wants
/// scores, their tanh and the shares.
std::int64_t cappedScores(const RunConfig& c, const ModelConfig& m, const Sizes& s)
{
    return m.attentionCap > 0 ? 3 * s.type * m.heads * c.seqLen : 0;
}

/// What autograd keeps of one layer for one token, in bytes.
std::int64_t keptByLayer(const RunConfig& c, const ModelConfig& m, const Sizes& s)
{
    const std::int64_t d = m.width;
    const bool rms = m.architecture == Architecture::Hrm || m.norm == NormKind::Rms;
    const std::int64_t perNorm = 4 * (rms ? 2 : 1); // their inputs; our RMSNorm keeps what is divided, too
    const std::int64_t norms = (m.normPlace == NormPlace::Both ? 4 : 2) * perNorm * d
        + (m.queryNorm == QueryNorm::None ? 0 : perNorm * (s.q + s.kv));
    const std::int64_t attention = s.type
        * (d + s.q + 2 * s.kv + s.q
            + (m.positions == Positions::Rotary ? s.q + s.kv : 0)); // normed, q k v, mixed, and q k turned
    const bool keepsBoth = m.gated || m.architecture == Architecture::Hrm;
    const std::int64_t feedForward = s.type * (d + s.up + s.active * (keepsBoth ? 2 : 1));
    const std::int64_t masks = m.dropout > 0 ? 2 * d : 0;
    const std::int64_t cameBack // to each product, kept until the factors of the samples are known
        = c.clipPerSample > 0 ? s.type * (s.q + 2 * s.kv + d + s.up + d) : 0;
    return norms + attention + feedForward + masks + cappedScores(c, m, s) + cameBack;
}

std::int64_t activationsOf(const RunConfig& c, const ModelConfig& m, const Sizes& s)
{
    const std::int64_t layer = keptByLayer(c, m, s) * s.tokens;
    const std::int64_t rest = 4 * 4 * m.width * s.tokens; // embedding, last norm, and the gradient on its way down
    const std::int64_t working = s.type * (s.up + s.active) * s.tokens; // gradients inside the layer at hand
    if (c.recompute && m.architecture == Architecture::Gpt)
        return s.layers * 4 * m.width * s.tokens + layer + rest + working;
    const std::int64_t second = m.architecture == Architecture::Hrm
        ? layer + 6 * 4 * m.width * s.tokens
        : 0; // the forward that says whether to go on, while the first is kept
    return s.layers * layer + rest + working + second;
}

std::int64_t logitsOf(const ModelConfig& m, const Sizes& s, const LogitParts& parts)
{
    const std::int64_t all = s.tokens * m.vocabularySize;
    if (m.architecture == Architecture::Hrm)
        return all * (s.type + 3 * 4); // logits, their logarithms and two gradients, whole
    const std::int64_t piece = std::min(all, std::max(parts.piece, m.vocabularySize));
    const std::int64_t group = std::min(all, std::max(parts.group, piece));
    return piece * (s.type == 4 ? 8 : 10) + group * s.type; // logits and their logarithms; gradients
}

std::int64_t optimizerOf(const RunConfig& c, const Sizes& s)
{
    const std::int64_t moments = c.optimizer == OptimizerKind::Sgd ? 4
        : c.optimizer == OptimizerKind::AdamW8Bit                  ? 2
                                                                   : 8;
    return s.trained * (moments + (c.emaDecay > 0 ? 4 : 0));
}

MemoryEstimate byOperators(const RunConfig& c, const ModelConfig& m, const Sizes& s, const LogitParts& parts)
{
    MemoryEstimate e;
    e.weights = s.parameters * (4 + (s.type == 2 ? 2 : 0));
    e.gradients = 4 * s.trained;
    e.optimizer = optimizerOf(c, s);
    e.activations = activationsOf(c, m, s);
    e.logits = logitsOf(m, s, parts);
    if (c.clipPerSample > 0)
        e.logits += 4 * std::min(s.tokens * m.vocabularySize, kMostLogitsKept);
    return e;
}

MemoryEstimate byHand(const RunConfig& c, const ModelConfig& m, const Sizes& s, int threads)
{
    const std::int64_t d = m.width;
    const std::int64_t tokens
        = std::min(s.tokens, std::max(kFastTokensPerTask / c.seqLen, std::int64_t { 1 }) * c.seqLen);
    const std::int64_t layer = d + d + (d + 2 * s.kv) + d + d + d + s.up + s.active;
    const std::int64_t working = 7 * d + s.up + (d + 2 * s.kv) + 2 * s.kv;
    MemoryEstimate e;
    e.weights = s.parameters * (4 + 2 * s.type); // and packed twice, for both directions
    e.gradients = 4 * s.parameters * threads;
    e.optimizer = optimizerOf(c, s);
    e.activations = 4 * tokens * (s.layers * layer + working) * threads;
    e.logits = 4 * std::min(kFastLogitsPerPiece, tokens * m.vocabularySize) * threads;
    return e;
}

} // namespace

MemoryEstimate estimateMemory(const RunConfig& config, const ModelConfig& model, StepPath path, int threads)
{
    const Sizes sizes = sizesOf(config, model, path == StepPath::Gpu);
    MemoryEstimate e = path == StepPath::CpuFast
        ? byHand(config, model, sizes, threads)
        : byOperators(config, model, sizes, path == StepPath::Gpu ? kGpuLogits : kCpuLogits);
    if (path != StepPath::Gpu) {
        e.process = kProgram;
        // While frozen weights are read they are there twice; then there are no activations yet.
        const std::int64_t reading = model.loraRank > 0 ? 4 * sizes.parameters - e.activations - e.logits : 0;
        e.checkpoint = std::max(4 * sizes.trained + e.optimizer, reading);
    }
    return e;
}

} // namespace furrow
