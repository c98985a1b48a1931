#pragma once

#include "core/train/loop/learner_torch.h"

#include <deque>
#include <memory>
#include <vector>

namespace furrow {

/// What one optimiser step gave. Loss and norm of this worker, over the whole accumulated batch.
struct StepOutcome {
    WindowRange windows;
    std::int64_t tokens = 0; ///< real labels
    double lossSum = 0; ///< nats, over `tokens`
    double gradientNorm = 0; ///< before clipping
    double parameterNorm = 0; ///< after the step; 0: not measured at this one
    double learningRate = 0;
    bool bad = false; ///< NaN or Inf: the step was left out, nothing changed
    double backwardSeconds = 0; ///< forward and backward
    double optimizerSeconds = 0;
};

/// Optimiser steps of one learner. On the CPU each outcome is known at once; on CUDA it is read back one step later, so that the
/// host never waits for the device inside a step; only fp16 waits, for a step that overflowed must be repeated. Not thread-safe.
class StepRunner {
public:
    StepRunner(Learner& learner, double clipNorm);
    ~StepRunner();

    /// Runs one step and appends outcomes that are known now (this one, or the one before).
    void run(const std::vector<Batch>& batches, double learningRate, std::vector<StepOutcome>& known);
    /// Waits for what is still on the device.
    void flush(std::vector<StepOutcome>& known);

private:
    struct Pending;
    void runOnHost(const std::vector<Batch>& batches, StepOutcome outcome, bool measures, std::vector<StepOutcome>& known);
    void runOnDevice(const std::vector<Batch>& batches, StepOutcome outcome, bool measures, std::vector<StepOutcome>& known);

    Learner& learner_;
    double clipNorm_;
    std::int64_t stepsRun_ = 0;
    std::deque<std::unique_ptr<Pending>> pending_;
};

} // namespace furrow
