#pragma once

#include "core/base/random.h"
#include "core/telemetry/records.h"
#include "core/trials/synthetic.h"

#include <ostream>
#include <set>
#include <string>

namespace furrow {

inline constexpr std::int64_t kSyntheticBootNs = 500'000'000'000; ///< monotonic time at which each attempt begins
inline constexpr std::int64_t kSyntheticPauseNs = 5'820'000'000'000; ///< from a crash to the resume: 1 h 37 min
inline constexpr double kSlowWorker = 2.2; ///< the last worker's step takes so much longer

/// One worker over one attempt of an invented run.
struct SyntheticPart {
    std::string runId;
    std::int64_t attempt = 1;
    int worker = 0;
    std::int64_t ownSteps = 0; ///< of this worker in the whole run: the course of its loss goes by them
    std::int64_t wallNs = 0; ///< of its beginning
};

/// One step of it, as telemetry has it.
struct SyntheticStep {
    std::int64_t step = 0; ///< of the worker
    std::int64_t block = 0;
    std::int64_t chunk = 0; ///< id
    std::int64_t samples = 0; ///< of the worker so far, with this step
    std::int64_t tokens = 0; ///< the same
    std::int64_t stepTokens = 0;
};

/// Writes the telemetry of one worker and attempt. Seed, attempt and worker decide every number.
class SyntheticWriter {
public:
    SyntheticWriter(const SyntheticRun& run, SyntheticPart part, std::ostream& out, SyntheticTotals& totals);

    void begin();
    /// @param checkpointMs  how long a checkpoint takes that is frozen after the step; 0: none
    /// @return the loss of the step [nats per token]; NaN and infinite where one was invented
    double step(const SyntheticStep& step, double checkpointMs);
    void checkpoint(std::int64_t number);
    void evaluation(const SyntheticStep& step);
    double evaluationLoss(std::int64_t step) const { return lossAt(step) - 0.02; }
    void end(const std::string& why); ///< not called by one that crashes
    void drain();

    std::int64_t wallNs() const { return part_.wallNs + nowNs_ - kSyntheticBootNs; }
    void waitUntil(std::int64_t wallNs); ///< nothing happens meanwhile
    Random& random() { return random_; }

private:
    double lossAt(std::int64_t step) const;
    void mark(std::int64_t step, StepRecord& record);
    void event(EventRecord::Kind kind, const std::string& what);
    void record(const TelemetryRecord& record);

    const SyntheticRun& run_;
    SyntheticPart part_;
    std::ostream& out_;
    SyntheticTotals& totals_;
    Random random_;
    std::set<std::int64_t> spikes_, nans_, infinities_, doubled_;
    std::int64_t lookEvery_ = 1;
    std::int64_t stepNs_ = 1;
    std::int64_t nowNs_ = 0;
    std::string text_;
};

} // namespace furrow
