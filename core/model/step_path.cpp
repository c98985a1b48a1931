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

bool fitsFastStep(const ModelConfig& model, bool recompute)
{
    return model.architecture == "gpt" && model.moeExperts == 0 && model.loraRank == 0 && !recompute
        && model.width % 16 == 0 && model.feedForwardWidth() % 16 == 0;
}

StepPath stepPathOf(const RunConfig& config, const ModelConfig& model, bool gpu)
{
    if (gpu)
        return StepPath::Gpu;
    return fitsFastStep(model, config.recompute) ? StepPath::CpuFast : StepPath::CpuOperators;
}

} // namespace furrow
