#pragma once

#include "core/telemetry/records.h"

#include <concepts>
#include <span>
#include <string_view>

namespace furrow {

/// The name of a field, at most eight bytes, and those bytes as one integer, which is how a reader compares it.
struct FieldName {
    std::string_view text;
    std::uint64_t bytes = 0;

    template <std::size_t N>
    consteval FieldName(const char (&name)[N])
        : text(name, N - 1)
    {
        static_assert(N - 1 <= 8);
        for (std::size_t i = 0; i + 1 < N; ++i)
            bytes |= static_cast<std::uint64_t>(static_cast<unsigned char>(name[i])) << (8 * i);
    }
};

/// The words of a closed set, in the order of its values.
inline constexpr std::string_view kEventWords[]
    = { "started", "stopped", "checkpoint", "nan", "spike", "merge", "rollback", "alarm" };
inline constexpr std::string_view kEvalWords[] = { "replica", "merged" };

template <typename Record, typename Of>
concept RecordOf = std::same_as<std::remove_const_t<Record>, Of>;

/// The value of `k` for a record.
template <typename Record> inline constexpr std::string_view kRecordKind {};
template <> inline constexpr std::string_view kRecordKind<StepRecord> = "step";
template <> inline constexpr std::string_view kRecordKind<EvalRecord> = "eval";
template <> inline constexpr std::string_view kRecordKind<EventRecord> = "event";
template <> inline constexpr std::string_view kRecordKind<GpuRecord> = "gpu";
template <> inline constexpr std::string_view kRecordKind<SampleRecord> = "sample";
template <> inline constexpr std::string_view kRecordKind<ClaimWaitRecord> = "claims";
template <> inline constexpr std::string_view kRecordKind<DriftRecord> = "drift";
template <> inline constexpr std::string_view kRecordKind<PrivacyRecord> = "privacy";

// visitFields(record, fields) hands each field behind `k` to `fields`, in the order of writing (FORMAT.md): writer and
// reader are two kinds of `fields`. Their functions are
//   integer       a whole number
//   count         a small one, 0 to 1,000,000
//   number        a double, of which every digit of a float is kept
//   measured      a double with six significant digits
//   milliseconds  a duration, to a microsecond
//   string        text
//   message       a text in English, and what it is made of (core/config/message_json.h)
//   word          one of a closed set

template <typename Marks, typename Fields> void visitPairs(Marks& marks, Fields& fields)
{
    fields.integer("pairs", marks.pairs);
    fields.measured("margin", marks.margin);
    fields.measured("pref", marks.preferred);
}

template <RecordOf<StepRecord> Record, typename Fields> void visitFields(Record& r, Fields& fields)
{
    fields.integer("t", r.monotonicNs);
    fields.integer("step", r.step);
    fields.integer("epoch", r.epoch);
    fields.integer("block", r.block);
    fields.integer("chunk", r.chunk);
    fields.integer("samples", r.samples);
    fields.integer("tokens", r.tokens);
    fields.integer("stok", r.stepTokens);
    fields.number("loss", r.loss);
    fields.measured("lr", r.lr);
    fields.measured("gnorm", r.gradientNorm);
    fields.measured("pnorm", r.parameterNorm);
    fields.measured("wnorm", r.windowNorm);
    fields.measured("clipped", r.clipped);
    visitPairs(r.pairs, fields);
    fields.measured("tps", r.tokensPerSecond);
    fields.milliseconds("wait", r.time.waitData);
    fields.milliseconds("fwd", r.time.forward);
    fields.milliseconds("bwd", r.time.backward);
    fields.milliseconds("opt", r.time.optimizer);
    fields.milliseconds("ckpt", r.time.checkpoint);
    fields.integer("mem", r.memoryBytes);
    fields.count("ranks", r.ranks);
    fields.count("rank", r.rank);
}

template <RecordOf<EvalRecord> Record, typename Fields> void visitFields(Record& r, Fields& fields)
{
    fields.integer("t", r.monotonicNs);
    fields.integer("step", r.step);
    fields.integer("tokens", r.tokens);
    fields.number("loss", r.loss);
    fields.integer("wstep", r.weightsStep);
    fields.word("what", r.what, kEvalWords);
    fields.integer("asked", r.tasks.questions);
    fields.integer("right", r.tasks.right);
    fields.integer("rightn", r.tasks.rightNormalised);
    fields.number("chance", r.tasks.chance);
    visitPairs(r.pairs, fields);
}

template <RecordOf<EventRecord> Record, typename Fields> void visitFields(Record& r, Fields& fields)
{
    fields.integer("t", r.monotonicNs);
    fields.integer("step", r.step);
    fields.integer("chunk", r.chunk);
    fields.word("what", r.kind, kEventWords);
    fields.message("text", "message", r.text);
}

template <RecordOf<GpuRecord> Record, typename Fields> void visitFields(Record& r, Fields& fields)
{
    fields.integer("t", r.monotonicNs);
    fields.string("device", r.device);
    fields.measured("util", r.utilization);
    fields.integer("mem", r.memoryUsedBytes);
    fields.integer("memtotal", r.memoryTotalBytes);
    fields.measured("power", r.powerWatt);
    fields.measured("temp", r.temperatureCelsius);
}

template <RecordOf<SampleRecord> Record, typename Fields> void visitFields(Record& r, Fields& fields)
{
    fields.integer("t", r.monotonicNs);
    fields.integer("step", r.step);
    fields.string("prompt", r.prompt);
    fields.string("text", r.text);
}

template <RecordOf<ClaimWaitRecord> Record, typename Fields> void visitFields(Record& r, Fields& fields)
{
    fields.integer("t", r.monotonicNs);
    fields.integer("count", r.count);
    fields.milliseconds("p50", r.p50Ms);
    fields.milliseconds("p99", r.p99Ms);
    fields.milliseconds("max", r.maxMs);
}

template <RecordOf<DriftRecord> Record, typename Fields> void visitFields(Record& r, Fields& fields)
{
    fields.integer("t", r.monotonicNs);
    fields.integer("round", r.round);
    fields.count("replica", r.replica);
    fields.measured("mean", r.fromMean);
    fields.measured("base", r.fromBase);
    fields.measured("pnorm", r.parameterNorm);
}

template <RecordOf<PrivacyRecord> Record, typename Fields> void visitFields(Record& r, Fields& fields)
{
    fields.integer("t", r.monotonicNs);
    fields.integer("step", r.step);
    fields.integer("takes", r.participations);
    fields.measured("epsilon", r.epsilon);
    fields.measured("delta", r.delta);
}

} // namespace furrow
