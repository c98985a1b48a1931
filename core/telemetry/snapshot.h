#pragma once

#include "core/base/message.h"
#include "core/telemetry/curve.h"
#include "core/telemetry/records.h"

#include <memory>
#include <string>
#include <vector>

namespace furrow {

/// What can be drawn over x.
enum class Metric {
    Loss,
    LearningRate,
    GradientNorm,
    TokensPerSecond,
    WaitData,
    Forward,
    Backward,
    Optimizer,
    Checkpoint,
    MemoryMiB,
    StepTokens,
    ParameterNorm,
    Margin, ///< of pairs of answers; no curve where none are compared
    Preferred
};
inline constexpr int kMetricCount = 14;

/// The x axes. Units: steps, samples, tokens, epochs, seconds since 1970, seconds of training. Steps, samples, tokens
/// and epochs but WorkerStep are of all workers and count what was trained: also what was lost with its weights.
enum class XAxis { WorkerStep, GlobalStep, Samples, Tokens, Epoch, WallTime, ActiveTime };

/// A chunk's first step inside a stretch; it ends where the next one begins.
struct ChunkStart {
    std::int64_t chunk = 0;
    std::uint32_t index = 0;
};

/// Tokens and samples are kept in units so that 32 bits hold a stretch: 256 tokens, 1 sample, 1 ms.
inline constexpr double kTokenUnit = 256;

/// One uninterrupted line of steps of one worker: from a start, resume, restart or roll-back to the next. Columns are
/// appended to by the store only; a copy inside a snapshot never changes.
struct Stretch {
    int worker = 0;
    int rank = 0; ///< above 0: a follower of a data-parallel group, which tells speed, times and memory only
    int ranks = 1; ///< workers that made `stepTokens` together
    bool beginsProcess = false; ///< the first step is the first of its process
    std::int64_t attempt = 0;
    std::int64_t epoch = 0; ///< of its newest step
    double wallStart = 0; ///< [s since 1970] of the first step
    double activeBase = 0; ///< active time at wallStart [s]
    std::int64_t firstStep = 0;
    std::int64_t lastStep = 0;
    std::int64_t firstOwnTokens = 0; ///< of its replica since the run began, with those of the first step
    std::int64_t firstGlobalStep = 0;
    double tokensBase = 0;
    double samplesBase = 0;
    SteadyColumn step; ///< minus firstStep
    SteadyColumn globalStep; ///< of all workers minus firstGlobalStep
    SteadyColumn millis; ///< since wallStart
    SteadyColumn tokens; ///< of all workers minus tokensBase, in kTokenUnit
    SteadyColumn samples; ///< of all workers minus samplesBase
    MetricColumn<float> loss, learningRate, gradientNorm, tokensPerSecond, memoryMiB;
    MetricColumn<float> stepTokens; ///< of a follower its own, by its speed
    Pyramid stepSeconds; ///< over StepSeconds of stepTokens and tokensPerSecond
    MetricColumn<float> parameterNorm; ///< the newest measured one; 0 before the first
    MetricColumn<float> margin, preferred; ///< of pairs of answers; empty where the first step compared none
    MetricColumn<Duration16> waitData, forward, backward, optimizer, checkpoint;
    Column<ChunkStart> chunks;

    std::size_t size() const { return step.size(); }
    bool hasPairs() const { return margin.values.size() > 0; }
    double wallAt(std::size_t i) const { return wallStart + millis[i] / 1000.0; }
    double wallEnd() const { return size() == 0 ? wallStart : wallAt(size() - 1); }
    std::int64_t ownTokens() const; ///< of its replica since the run began, up to lastStep; not of a follower
    /// So long after its newest step a worker is taken to train still [s]: a few of its steps.
    double quietAfter() const;
    PaceColumn paces() const; ///< tokensPerSecond as it is joined; shares the columns
    std::size_t memoryBytes() const;
};

struct EvalPoint {
    int worker = 0;
    std::int64_t attempt = 0;
    double wall = 0; ///< s since 1970
    EvalRecord record;
};
struct EventPoint {
    int worker = 0;
    std::int64_t attempt = 0;
    double wall = 0;
    EventRecord record;
};
struct GpuPoint {
    int worker = 0;
    double wall = 0;
    float utilization = 0;
    float memoryGiB = 0;
    float memoryTotalGiB = 0;
    float powerWatt = 0;
    float temperatureCelsius = 0;
};
struct SamplePoint {
    int worker = 0;
    double wall = 0;
    SampleRecord record;
};
struct ClaimWaitPoint {
    int worker = 0;
    double wall = 0;
    ClaimWaitRecord record;
};
struct DriftPoint {
    int worker = 0; ///< who computed the merge
    double wall = 0;
    DriftRecord record;
};
struct PrivacyPoint {
    int worker = 0;
    double wall = 0;
    PrivacyRecord record;
};

/// What was read and what was wrong with it; shown to the person.
struct TelemetryCounts {
    std::int64_t lines = 0;
    std::int64_t steps = 0;
    std::int64_t bad = 0; ///< garbage, too long
    std::int64_t duplicates = 0; ///< step lines whose time does not rise: doubled or out of order
    std::int64_t unknown = 0; ///< kinds of a newer version
    std::int64_t orphans = 0; ///< records before any header
    std::int64_t shortened = 0; ///< times a file became shorter and was read anew
    std::int64_t refusedFiles = 0; ///< written by a newer version, or unreadable
    Message problem; ///< newest trouble in one sentence
};

/// Everything read so far, immutable. Thread-safe.
class TelemetrySnapshot {
public:
    std::vector<Stretch> stretches; ///< by start time
    std::shared_ptr<const std::vector<EvalPoint>> evals;
    std::shared_ptr<const std::vector<EventPoint>> events;
    std::shared_ptr<const std::vector<SamplePoint>> samples;
    std::shared_ptr<const std::vector<ClaimWaitPoint>> claimWaits;
    std::shared_ptr<const std::vector<DriftPoint>> drifts;
    std::shared_ptr<const std::vector<PrivacyPoint>> privacy;
    Column<GpuPoint> gpu;
    TelemetryCounts counts;
    std::uint64_t bytesRead = 0;
    std::uint64_t bytesKnown = 0; ///< sizes of all files when last looked
    bool complete = false; ///< everything known has been read

    /// @param samplesPerEpoch  rows trained in one epoch, for XAxis::Epoch; 0: not known, the axis counts samples
    CurvePtr curve(std::size_t stretch, Metric metric, XAxis axis, double samplesPerEpoch = 0) const;
    double xAt(std::size_t stretch, std::size_t index, XAxis axis, double samplesPerEpoch = 0) const;
    /// Index from which the points of a stretch were trained again later by the same worker; size(): none were.
    std::size_t supersededFrom(std::size_t stretch) const;
    /// The chunk a step belongs to; 0: none.
    std::int64_t chunkAt(std::size_t stretch, std::size_t index) const;
    struct Interval {
        std::size_t stretch = 0;
        std::size_t begin = 0;
        std::size_t end = 0;
    };
    /// All steps of the chunk that a step belongs to.
    Interval intervalAround(std::size_t stretch, std::size_t index) const;
    /// Where a chunk was trained, oldest first.
    std::vector<Interval> intervalsOf(std::int64_t chunk) const;
    /// The last step of `worker` (of any, when it is -1: what a merge task evaluated) not after `wall`; false: none.
    bool find(int worker, double wall, Interval& at) const;
    std::size_t memoryBytes() const;
};

using SnapshotPtr = std::shared_ptr<const TelemetrySnapshot>;

/// What was known at a moment [s since 1970]: every stretch up to there. Shares the columns; some microseconds.
SnapshotPtr snapshotUntil(const TelemetrySnapshot& snapshot, double wall);

} // namespace furrow
