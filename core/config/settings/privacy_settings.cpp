#include "core/config/settings/setting_table.h"

namespace furrow {

using C = RunConfig;
using enum ResumeRule;

void addPrivacySettings(SettingTable& table)
{
    table.group(SettingGroup::Privacy);

    table.real("clip_per_sample", &C::clipPerSample)
        .label("Clip per sample")
        .range(0, 1e6)
        .zeroMeans("no clipping by sample")
        .resume(Refused)
        .help(
            "Largest norm of the gradient of one window alone (elsewhere max_grad_norm): no window moves the weights further than that in a step. A step is the mean over its windows then, each by the mean of its labels. For architecture gpt without experts; on a CPU by libtorch's operators.");

    table.real("noise_multiplier", &C::noiseMultiplier)
        .label("Noise")
        .range(0, 1000)
        .zeroMeans("none")
        .resume(Refused)
        .help(
            "Private training: normal noise on the sum of clipped gradients, its deviation this many times clip_per_sample. 0.5 to 2 is usual; the larger a step (batch_size, grad_accum), the less it is felt.");

    table.choice("privacy_unit", &C::privacyUnit)
        .label("Private unit")
        .resume(Refused)
        .help(
            "Whose part is bounded and hidden. window: as much text as is trained together. sample: a row of the data, which then has a window of its own (packing single, long_samples cut or leave_out).");

    table.real("target_delta", &C::targetDelta)
        .label("Delta")
        .range(0, 0.5)
        .zeroMeans("no epsilon is said")
        .resume(Safe)
        .help(
            "Of the guarantee that status and audit state: epsilon at this delta. It should be well below one divided by the number of units, such as 0.000001.");

    table.real("target_epsilon", &C::targetEpsilon)
        .label("Epsilon, at most")
        .range(0, 1e6)
        .zeroMeans("no limit")
        .resume(Safe)
        .help(
            "The run ends before any unit takes part once more than this allows, whatever else was asked for. What was trained and lost with its weights counts too.");
}

} // namespace furrow
