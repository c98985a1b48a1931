#pragma once

#include "core/base/closed_set.h"

namespace furrow {

// What a person may choose from in the settings of a run (RunConfig). What each choice means is in the help of its
// setting (core/config/settings).

/// What a sample of a plain text file is.
enum class DataMode { Auto, Lines, Paragraphs, Span, Stream };
template <>
inline constexpr std::array kClosedNames<DataMode> {
    ClosedName { DataMode::Auto, "auto", "Automatic" },
    ClosedName { DataMode::Lines, "lines", "Lines" },
    ClosedName { DataMode::Paragraphs, "paragraphs", "Paragraphs" },
    ClosedName { DataMode::Span, "span", "Spans" },
    ClosedName { DataMode::Stream, "stream", "Stream" },
};

/// What a run trains its model for: the next token of texts, or to prefer the one of two answers that people chose.
enum class Objective { NextToken, Dpo };
template <>
inline constexpr std::array kClosedNames<Objective> {
    ClosedName { Objective::NextToken, "next_token", "The next token" },
    ClosedName { Objective::Dpo, "dpo", "Preferences (DPO)" },
};

/// By what the log-probability of an answer is divided before two of them are compared.
enum class DpoNormalise { None, Length };
template <>
inline constexpr std::array kClosedNames<DpoNormalise> {
    ClosedName { DpoNormalise::None, "none", "Not at all" },
    ClosedName { DpoNormalise::Length, "length", "By its tokens" },
};

/// The turns of a conversation that count in the loss: all of the assistant's, or its last one.
enum class LearntTurns { All, Last };
template <>
inline constexpr std::array kClosedNames<LearntTurns> {
    ClosedName { LearntTurns::All, "all", "Every answer" },
    ClosedName { LearntTurns::Last, "last", "The last answer" },
};

/// What becomes of samples that are longer than a window.
enum class LongSamples { Split, Cut, LeaveOut };
template <>
inline constexpr std::array kClosedNames<LongSamples> {
    ClosedName { LongSamples::Split, "split", "Split" },
    ClosedName { LongSamples::Cut, "cut", "Cut" },
    ClosedName { LongSamples::LeaveOut, "leave_out", "Leave out" },
};

/// Whether attention stays inside a sample where a window has several; automatic: of conversations.
enum class DocumentMasks { Auto, On, Off };
template <>
inline constexpr std::array kClosedNames<DocumentMasks> {
    ClosedName { DocumentMasks::Auto, "auto", "Automatic" },
    ClosedName { DocumentMasks::On, "on", "On" },
    ClosedName { DocumentMasks::Off, "off", "Off" },
};

/// How samples come to lie in windows; automatic: best fit of conversations that are kept apart.
enum class Packing { Auto, EndToEnd, BestFit, Single };
template <>
inline constexpr std::array kClosedNames<Packing> {
    ClosedName { Packing::Auto, "auto", "Automatic" },
    ClosedName { Packing::EndToEnd, "end_to_end", "End to end" },
    ClosedName { Packing::BestFit, "best_fit", "Best fit" },
    ClosedName { Packing::Single, "single", "One each" },
};

/// What becomes of texts that occur again.
enum class Duplicates { Report, Skip };
template <>
inline constexpr std::array kClosedNames<Duplicates> {
    ClosedName { Duplicates::Report, "report", "Train" },
    ClosedName { Duplicates::Skip, "skip", "Leave out" },
};

/// What happens when a file has changed or its rest cannot be read.
enum class BadFiles { Stop, LeaveOut };
template <>
inline constexpr std::array kClosedNames<BadFiles> {
    ClosedName { BadFiles::Stop, "stop", "Stop" },
    ClosedName { BadFiles::LeaveOut, "leave_out", "Leave out" },
};

enum class Architecture { Gpt, Hrm };
template <>
inline constexpr std::array kClosedNames<Architecture> {
    ClosedName { Architecture::Gpt, "gpt", "GPT" },
    ClosedName { Architecture::Hrm, "hrm", "HRM" },
};

enum class Positions { Learned, Rotary };
template <>
inline constexpr std::array kClosedNames<Positions> {
    ClosedName { Positions::Learned, "learned", "Learned" },
    ClosedName { Positions::Rotary, "rope", "Rotary" },
};

enum class NormKind { LayerNorm, Rms };
template <>
inline constexpr std::array kClosedNames<NormKind> {
    ClosedName { NormKind::LayerNorm, "layernorm", "LayerNorm" },
    ClosedName { NormKind::Rms, "rmsnorm", "RMSNorm" },
};

/// The activation of a feed-forward part together with its gate, as people name them.
enum class FeedForward { Gelu, SwiGlu, GeluExact, GeGlu, GeGluExact, Silu };
template <>
inline constexpr std::array kClosedNames<FeedForward> {
    ClosedName { FeedForward::Gelu, "gelu", "GELU" },
    ClosedName { FeedForward::SwiGlu, "swiglu", "SwiGLU" },
    ClosedName { FeedForward::GeluExact, "gelu_exact", "GELU, exact" },
    ClosedName { FeedForward::GeGlu, "geglu", "GeGLU" },
    ClosedName { FeedForward::GeGluExact, "geglu_exact", "GeGLU, exact" },
    ClosedName { FeedForward::Silu, "silu", "SiLU" },
};

/// What becomes of the chunks that the weights of init_from have seen.
enum class ParentChunks { Again, Skip };
template <>
inline constexpr std::array kClosedNames<ParentChunks> {
    ClosedName { ParentChunks::Again, "again", "Train again" },
    ClosedName { ParentChunks::Skip, "skip", "Leave out" },
};

/// How the learning rate falls. Kept as numbers too (core/run/start/rate_plan.h): the order stays.
enum class ScheduleKind { Constant, Cosine, Linear, Wsd };
template <>
inline constexpr std::array kClosedNames<ScheduleKind> {
    ClosedName { ScheduleKind::Cosine, "cosine", "Cosine" },
    ClosedName { ScheduleKind::Linear, "linear", "Linear" },
    ClosedName { ScheduleKind::Constant, "constant", "Constant" },
    ClosedName { ScheduleKind::Wsd, "wsd", "Stable, decay" },
};

/// Of matrix products, as chosen: what Auto is depends on the device.
enum class PrecisionChoice { Auto, Float32, BFloat16, Float16 };
template <>
inline constexpr std::array kClosedNames<PrecisionChoice> {
    ClosedName { PrecisionChoice::Auto, "auto", "Automatic" },
    ClosedName { PrecisionChoice::Float32, "fp32" },
    ClosedName { PrecisionChoice::BFloat16, "bf16" },
    ClosedName { PrecisionChoice::Float16, "fp16" },
};

enum class AttentionKernel { Auto, Flash, Efficient, Math };
template <>
inline constexpr std::array kClosedNames<AttentionKernel> {
    ClosedName { AttentionKernel::Auto, "auto", "Automatic" },
    ClosedName { AttentionKernel::Flash, "flash", "Flash" },
    ClosedName { AttentionKernel::Efficient, "efficient", "Efficient" },
    ClosedName { AttentionKernel::Math, "math", "Plain" },
};

enum class OptimizerKind { AdamW, AdamATan2, Sgd, AdamW8Bit };
template <>
inline constexpr std::array kClosedNames<OptimizerKind> {
    ClosedName { OptimizerKind::AdamW, "adamw", "AdamW" },
    ClosedName { OptimizerKind::AdamW8Bit, "adamw8bit", "AdamW, 8-bit" },
    ClosedName { OptimizerKind::AdamATan2, "adamatan2", "AdamATan2" },
    ClosedName { OptimizerKind::Sgd, "sgd", "SGD" },
};

/// Whose part in the weights is bounded and hidden: a window of text as it is trained, or a sample (a row).
enum class PrivacyUnit { Window, Sample };
template <>
inline constexpr std::array kClosedNames<PrivacyUnit> {
    ClosedName { PrivacyUnit::Window, "window", "A window" },
    ClosedName { PrivacyUnit::Sample, "sample", "A sample" },
};

/// What the workers of a run train: a replica each, or all of them one model.
enum class ParallelMode { Independent, Data };
template <>
inline constexpr std::array kClosedNames<ParallelMode> {
    ClosedName { ParallelMode::Independent, "independent", "Own replicas" },
    ClosedName { ParallelMode::Data, "data", "One model" },
};

/// How replicas become one model.
enum class MergeMethod { None, Average, DiLoCo };
template <>
inline constexpr std::array kClosedNames<MergeMethod> {
    ClosedName { MergeMethod::None, "none", "None" },
    ClosedName { MergeMethod::Average, "average", "Average" },
    ClosedName { MergeMethod::DiLoCo, "diloco", "DiLoCo" },
};

} // namespace furrow
