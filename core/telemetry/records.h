#pragma once

#include "core/base/message.h"
#include "core/telemetry/pair_marks.h"
#include "core/telemetry/task_marks.h"

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace furrow {

/// Version of the telemetry format; see FORMAT.md.
inline constexpr int kTelemetrySchema = 1;

/// First line of a telemetry file, and of each incarnation that appends to it later.
struct TelemetryHeader {
    std::string run; ///< run id
    std::int64_t attempt = 0; ///< 1-based
    int worker = 0;
    std::string bootId; ///< monotonic times of two boots are never compared
    std::int64_t wallAnchorNs = 0; ///< wall time (since 1970) at the instant of monotonicAnchorNs
    std::int64_t monotonicAnchorNs = 0;
    bool operator==(const TelemetryHeader&) const = default;
};

/// Where the time of a step went [ms].
struct TimeSplit {
    double waitData = 0;
    double forward = 0;
    double backward = 0;
    double optimizer = 0;
    double checkpoint = 0;
    bool operator==(const TimeSplit&) const = default;
};

/// One optimiser step of one worker. Of a data-parallel group of `ranks` workers, rank 0 tells loss, norms, tokens and
/// samples of the whole group (losses weighted by tokens; the norm is that of the summed gradient); speed, times and
/// memory are its own. The others tell only their own speed, times and memory.
struct StepRecord {
    std::int64_t monotonicNs = 0; ///< when the step ended
    std::int64_t step
        = 0; ///< optimiser steps of this worker's replica since the run began, this one included; merges add nothing
    std::int64_t epoch = 0;
    std::int64_t block = 0;
    std::int64_t chunk
        = 0; ///< value of its ChunkId (telemetry does not know the tracker); 0: none (data mode `stream`)
    std::int64_t samples = 0; ///< rows trained by this worker since the run began, this step included
    std::int64_t tokens = 0; ///< tokens trained by this worker since the run began, this step included
    std::int64_t stepTokens = 0; ///< real label tokens of this step: its weight in the mean over workers
    double loss = 0; ///< nats per token, or per pair of answers, mean over the step; NaN and Inf are kept
    double lr = 0;
    double gradientNorm = 0; ///< of this worker's gradient, before clipping
    double tokensPerSecond = 0;
    TimeSplit time;
    std::int64_t memoryBytes = 0; ///< in use on the device, or resident on a CPU worker
    double parameterNorm = 0; ///< 2-norm of this worker's weights after the step; 0: not measured at this one
    double windowNorm = 0; ///< median norm of the windows' own gradients, before clipping; 0: windows are not clipped
    double clipped = 0; ///< share of the windows of the step that were clipped
    PairMarks pairs {}; ///< of the step: `loss` is a mean over these pairs then
    int ranks = 0; ///< workers that made this step together; 0: this one alone
    int rank = 0; ///< of this worker among them
    bool operator==(const StepRecord&) const = default;
};

/// Loss on the held-out text, and the answers to the questions of the run.
struct EvalRecord {
    enum class What { Replica, Merged };
    std::int64_t monotonicNs = 0;
    std::int64_t step = 0;
    std::int64_t tokens = 0;
    double loss = 0; ///< nats per token; NaN also where there are questions and no held-out text
    std::int64_t weightsStep = 0; ///< steps behind the weights, as checkpoints and status say them; `step` is the
                                  ///< worker's own. 0: not told (files of before)
    What what = What::Replica;
    TaskMarks tasks; ///< without questions in files of before
    PairMarks pairs {}; ///< `loss` is a mean over these pairs of answers then

    bool hasLoss() const { return tasks.questions == 0 || !std::isnan(loss); }
    bool operator==(const EvalRecord&) const = default;
};

/// Something a person should find on the time line.
struct EventRecord {
    enum class Kind { Started, Stopped, Checkpoint, Nan, Spike, Merge, Rollback, Alarm };
    std::int64_t monotonicNs = 0;
    std::int64_t step = 0;
    std::int64_t chunk = 0; ///< value of its ChunkId; 0: none
    Kind kind = Kind::Alarm;
    Message text;
    bool operator==(const EventRecord&) const = default;
};

/// One look at the device of a worker.
struct GpuRecord {
    std::int64_t monotonicNs = 0;
    std::string device; ///< UUID, or "cpu"
    double utilization = 0; ///< 0..1
    std::int64_t memoryUsedBytes = 0;
    std::int64_t memoryTotalBytes = 0;
    double powerWatt = 0;
    double temperatureCelsius = 0;
    bool operator==(const GpuRecord&) const = default;
};

/// Text that the model wrote during training.
struct SampleRecord {
    std::int64_t monotonicNs = 0;
    std::int64_t step = 0;
    std::string prompt;
    std::string text;
    bool operator==(const SampleRecord&) const = default;
};

/// How long the claims of one worker made its training wait, since the worker started.
struct ClaimWaitRecord {
    std::int64_t monotonicNs = 0;
    std::int64_t count = 0; ///< claims
    double p50Ms = 0; ///< of the newest 4,096
    double p99Ms = 0;
    double maxMs = 0; ///< of all
    bool operator==(const ClaimWaitRecord&) const = default;
};

/// How far one replica had gone when it was merged. 2-norms over all parameters.
struct DriftRecord {
    std::int64_t monotonicNs = 0;
    std::int64_t round = 0; ///< merge round
    int replica = 0;
    double fromMean = 0; ///< from the mean of the replicas of this round
    double fromBase = 0; ///< from the weights that all of them started from
    double parameterNorm = 0; ///< of the replica itself
    bool operator==(const DriftRecord&) const = default;
};

/// What private training has given away when the first step of a chunk is done.
struct PrivacyRecord {
    std::int64_t monotonicNs = 0;
    std::int64_t step = 0; ///< the worker's own
    std::int64_t participations = 0; ///< of any unit of the run at most, this training included
    double epsilon = 0; ///< that belongs to them, at `delta`
    double delta = 0;
    bool operator==(const PrivacyRecord&) const = default;
};

using TelemetryRecord = std::variant<StepRecord, EvalRecord, EventRecord, GpuRecord, SampleRecord, ClaimWaitRecord,
    DriftRecord, PrivacyRecord>;

/// "started" "stopped" "checkpoint" "nan" "spike" "merge" "rollback" "alarm".
std::string_view toString(EventRecord::Kind kind);
/// "replica" or "merged".
std::string_view toString(EvalRecord::What what);

/// Appends one line, "\n" included. Strings that are not UTF-8 get replacement characters.
void encodeLine(const TelemetryHeader& header, std::string& into);
void encodeLine(const TelemetryRecord& record, std::string& into);

} // namespace furrow
