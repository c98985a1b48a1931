#pragma once

#include "core/telemetry/scan.h"
#include "core/telemetry/snapshot.h"

#include <deque>
#include <map>

namespace furrow {

class CacheReader;
class CacheWriter;

/// Turns records of all workers and attempts of a run into columns with extremes, and stitches attempts: one stretch
/// per start, restart, resume or roll-back. Used by one thread; snapshots go to any other.
class ColumnStore {
public:
    /// Where a file stands: which incarnation wrote the lines that come now.
    struct Source {
        TelemetryHeader header;
        bool hasHeader = false;
        std::int64_t lastMonotonicNs = 0;
        std::int64_t lastStep = 0;
        std::int64_t stretch = -1; ///< -1: the next step begins one
    };

    void add(Source& source, const ScannedLine& line);
    /// Gives steps, tokens and samples of all workers to the steps added since, in the order of time. Steps later than
    /// `untilWallNs` wait: an earlier one of another worker may still be on disk.
    void settle(std::int64_t untilWallNs = INT64_MAX);
    /// Wall time of the newest step of a source [ns].
    std::int64_t newestWallNs(const Source& source) const
    {
        return static_cast<std::int64_t>(wallOf(source, source.lastMonotonicNs) * 1e9);
    }
    SnapshotPtr snapshot() const;
    TelemetryCounts& counts() { return counts_; }
    void clear();

    void save(CacheWriter& out) const;
    /// False: what was read is none of ours. The store is not to be used then.
    bool load(CacheReader& in);
    /// Where a source may stand: `Source::stretch` is below this.
    std::int64_t stretchCount() const { return static_cast<std::int64_t>(stretches_.size()); }

private:
    /// What a worker had made, trained and read when it made a step.
    struct WorkerTotals {
        std::int64_t steps = 0;
        std::int64_t tokens = 0;
        std::int64_t samples = 0;
    };
    struct Pending {
        std::int64_t wallNs = 0;
        WorkerTotals then;
        std::int64_t stepTokens = 0;
    };
    struct Live {
        Stretch columns;
        std::deque<Pending> pending;
        double lastParameterNorm = 0;
    };

    void addStep(Source& source, const StepRecord& step);
    Live& beginStretch(Source& source, const StepRecord& step, double wall);
    double wallOf(const Source& source, std::int64_t monotonicNs) const;
    void give(Live& live);
    static WorkerTotals madeBy(const Pending& step, const WorkerTotals& before, bool isFirst);

    std::deque<Live> stretches_; // in order of appearance
    std::map<int, WorkerTotals> totals_; // of each worker, after its newest step
    WorkerTotals now_; // of all, what was lost with its weights included
    std::vector<EvalPoint> evals_;
    std::vector<EventPoint> events_;
    std::vector<SamplePoint> samples_;
    std::vector<ClaimWaitPoint> claimWaits_;
    std::vector<DriftPoint> drifts_;
    std::vector<PrivacyPoint> privacy_;
    Column<GpuPoint> gpu_;
    TelemetryCounts counts_;
    // copies shared by snapshots until something is added
    mutable std::shared_ptr<const std::vector<EvalPoint>> evalsShared_;
    mutable std::shared_ptr<const std::vector<EventPoint>> eventsShared_;
    mutable std::shared_ptr<const std::vector<SamplePoint>> samplesShared_;
    mutable std::shared_ptr<const std::vector<ClaimWaitPoint>> claimWaitsShared_;
    mutable std::shared_ptr<const std::vector<DriftPoint>> driftsShared_;
    mutable std::shared_ptr<const std::vector<PrivacyPoint>> privacyShared_;
};

} // namespace furrow
