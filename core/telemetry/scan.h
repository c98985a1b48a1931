#pragma once

#include "core/base/result.h"
#include "core/telemetry/records.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace furrow {

/// What a line turned out to be.
enum class LineKind { Bad, Unknown, Header, Step, Eval, Event, Gpu, Sample, Claims, Drift, Privacy };

/// One scanned line; only the member named by `kind` is meaningful. Reuse it from line to line.
struct ScannedLine {
    LineKind kind = LineKind::Bad;
    int schema = 0; ///< of a header
    TelemetryHeader header;
    StepRecord step;
    EvalRecord eval;
    EventRecord event;
    GpuRecord gpu;
    SampleRecord sample;
    ClaimWaitRecord claims;
    DriftRecord drift;
    PrivacyRecord privacy;
};

/// Monotonic time of a scanned record; 0 for what is none.
std::int64_t monotonicNs(const ScannedLine& line);

/// Reads one line (without its "\n") into `into`. Never fails: what cannot be read is Bad. About 0.2 µs a step.
void scanLine(std::string_view line, ScannedLine& into);

/// A file with more bytes than this in lines that are Bad or longer than a line can be is not read on: no writer of
/// ours leaves so much, but a hole of terabytes does.
inline constexpr std::uint64_t kMostBadBytes = 64ull << 20;
/// Says that, for people.
Message tooManyBadBytes(const std::filesystem::path& file);

} // namespace furrow
