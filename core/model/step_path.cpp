#include "core/model/step_path.h"

namespace furrow {

std::string toString(StepPath path)
{
    switch (path) {
    case StepPath::Gpu: return "gpu";
    case StepPath::CpuOperators: return "cpu operators";
    case StepPath::CpuFast: break;
    }
    return "cpu fast";
}

bool fitsFastStep(const ModelConfig& m, bool recompute)
{
    const bool isPlainBlock = m.normPlace == NormPlace::Before && m.queryNorm == QueryNorm::None && !m.normPlusOne
        && !m.parallelResidual && m.moeExperts == 0;
    const bool isPlainAttention = m.queryWidth() == m.width && m.attentionScale == 0 && m.attentionCap == 0
        && (m.slidingWindow == 0 || m.slidingWindow >= m.trainingLength());
    const bool isPlainRotation = m.positions == Positions::Learned
        || (m.rotary.part == 1 && m.isRotated.empty() && (m.rotary.localBase == 0 || m.slidingWindow == 0));
    const bool isPlainFeedForward = m.activation == (m.gated ? Activation::Silu : Activation::GeluTanh);
    return m.architecture == Architecture::Gpt && m.loraRank == 0 && !recompute && isPlainBlock && isPlainAttention
        && isPlainRotation && isPlainFeedForward && m.embeddingScale == 1 && m.logitCap == 0 && m.width % 16 == 0
        && m.feedForwardWidth() % 16 == 0;
}

StepPath stepPathOf(const RunConfig& config, const ModelConfig& model, bool gpu)
{
    if (gpu)
        return StepPath::Gpu;
    const bool isByHand = fitsFastStep(model, config.recompute) && config.clipPerSample == 0;
    return isByHand ? StepPath::CpuFast : StepPath::CpuOperators;
}

} // namespace furrow
