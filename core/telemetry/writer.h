#pragma once

#include "core/base/result.h"
#include "core/telemetry/records.h"

#include <filesystem>
#include <memory>

namespace furrow {

class Clock;

/// Settings of a writer, copied when it is opened.
struct TelemetryWriterOptions {
    int flushIntervalMs = 100; ///< a record is in the file at most this much later
    std::size_t queueRecords = 16384; ///< records waiting for the writer thread; more are dropped and counted
    std::size_t pendingBytes = 8u << 20; ///< text kept for another try while the disk refuses it
};

/// What became of the records given to a writer.
struct TelemetryWriterCounts {
    std::int64_t written = 0; ///< lines in the file
    std::int64_t droppedQueueFull = 0;
    std::int64_t droppedDiskRefused = 0; ///< given up because the file could not be written for too long
    std::int64_t failedWrites = 0;
    std::string lastError; ///< one sentence; empty: no trouble now
};

/// Appends telemetry of one worker incarnation to "<attempt>-w<worker>.jsonl" (FORMAT.md). write() never waits for
/// the disk: a thread of its own ("telemetry") encodes and writes. A disk that is full is counted and told by
/// counts(), and never ends a training. Thread-safe.
class TelemetryWriter {
public:
    /// Creates the folder and file, or goes on at the end of an existing file (a torn last line is closed first).
    /// InvalidArgument where one of them is a link. The anchors and boot id of `header` are filled in from `clock`.
    static Result<TelemetryWriter> open(const std::filesystem::path& file, TelemetryHeader header, const Clock& clock,
        const TelemetryWriterOptions& options = {});
    TelemetryWriter(TelemetryWriter&&) noexcept;
    TelemetryWriter& operator=(TelemetryWriter&&) noexcept;
    /// Writes what is queued, then joins the thread.
    ~TelemetryWriter();

    /// Queues a record; a few hundred nanoseconds. Its monotonicNs is the caller's.
    void write(TelemetryRecord record);
    /// Waits until everything queued before is in the file or was refused.
    void flush();
    TelemetryWriterCounts counts() const;

private:
    struct State;
    explicit TelemetryWriter(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

} // namespace furrow
