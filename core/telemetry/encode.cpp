#include "core/telemetry/records.h"

#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <type_traits>

namespace furrow {
namespace {

// Fields that are zero are left out: a reader takes 0 for what is missing. Values that are exactly a float are
// written with the digits of a float, which halves the line and loses nothing.
class LineBuilder {
public:
    LineBuilder(std::string& into, const char* kind, std::int64_t monotonicNs)
        : out_(into)
    {
        out_ += "{\"k\":\"";
        out_ += kind;
        out_ += '"';
        integer("t", monotonicNs);
    }

    void integer(const char* key, std::int64_t value)
    {
        if (value == 0)
            return;
        name(key);
        char text[24];
        const auto end = std::to_chars(text, text + sizeof text, value).ptr;
        out_.append(text, end);
    }

    void number(const char* key, double value)
    {
        if (value == 0)
            return;
        name(key);
        if (std::isnan(value)) {
            out_ += "\"nan\"";
            return;
        }
        if (std::isinf(value)) {
            out_ += value > 0 ? "\"inf\"" : "\"-inf\"";
            return;
        }
        char text[40];
        const auto asFloat = static_cast<float>(value);
        const auto end = static_cast<double>(asFloat) == value ? std::to_chars(text, text + sizeof text, asFloat).ptr
                                                               : std::to_chars(text, text + sizeof text, value).ptr;
        out_.append(text, end);
    }

    /// A measurement: six significant digits are more than it has.
    void measured(const char* key, double value)
    {
        if (value == 0 || !std::isfinite(value)) {
            number(key, value);
            return;
        }
        name(key);
        char text[40];
        out_.append(text, std::to_chars(text, text + sizeof text, value, std::chars_format::general, 6).ptr);
    }

    /// A duration [ms], rounded to a microsecond.
    void milliseconds(const char* key, double value)
    {
        if (std::isfinite(value) && std::abs(value) < 0.0005)
            return;
        measured(key, std::isfinite(value) ? std::round(value * 1000) / 1000 : value);
    }

    void string(const char* key, const std::string& value)
    {
        if (value.empty())
            return;
        name(key);
        out_ += nlohmann::json(value).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    }

    void end() { out_ += "}\n"; }

private:
    void name(const char* key)
    {
        out_ += ",\"";
        out_ += key;
        out_ += "\":";
    }

    std::string& out_;
};

void encode(const StepRecord& r, std::string& into)
{
    LineBuilder line(into, "step", r.monotonicNs);
    line.integer("step", r.step);
    line.integer("gstep", r.globalStep);
    line.integer("epoch", r.epoch);
    line.integer("block", r.block);
    line.integer("chunk", r.chunk);
    line.integer("samples", r.samples);
    line.integer("tokens", r.tokens);
    line.integer("stok", r.stepTokens);
    line.number("loss", r.loss);
    line.measured("lr", r.lr);
    line.measured("gnorm", r.gradientNorm);
    line.measured("pnorm", r.parameterNorm);
    line.measured("tps", r.tokensPerSecond);
    line.milliseconds("wait", r.time.waitData);
    line.milliseconds("fwd", r.time.forward);
    line.milliseconds("bwd", r.time.backward);
    line.milliseconds("opt", r.time.optimizer);
    line.milliseconds("ckpt", r.time.checkpoint);
    line.integer("mem", r.memoryBytes);
    line.integer("ranks", r.ranks);
    line.integer("rank", r.rank);
    line.end();
}

void encode(const EvalRecord& r, std::string& into)
{
    LineBuilder line(into, "eval", r.monotonicNs);
    line.integer("step", r.step);
    line.integer("tokens", r.tokens);
    line.number("loss", r.loss);
    line.number("acc", r.accuracy);
    line.string("what", toString(r.what));
    line.end();
}

void encode(const EventRecord& r, std::string& into)
{
    LineBuilder line(into, "event", r.monotonicNs);
    line.integer("step", r.step);
    line.integer("chunk", r.chunk);
    line.string("what", toString(r.kind));
    line.string("text", r.text);
    line.end();
}

void encode(const GpuRecord& r, std::string& into)
{
    LineBuilder line(into, "gpu", r.monotonicNs);
    line.string("device", r.device);
    line.measured("util", r.utilization);
    line.integer("mem", r.memoryUsedBytes);
    line.integer("memtotal", r.memoryTotalBytes);
    line.measured("power", r.powerWatt);
    line.measured("temp", r.temperatureCelsius);
    line.end();
}

void encode(const SampleRecord& r, std::string& into)
{
    LineBuilder line(into, "sample", r.monotonicNs);
    line.integer("step", r.step);
    line.string("prompt", r.prompt);
    line.string("text", r.text);
    line.end();
}

void encode(const ClaimWaitRecord& r, std::string& into)
{
    LineBuilder line(into, "claims", r.monotonicNs);
    line.integer("count", r.count);
    line.milliseconds("p50", r.p50Ms);
    line.milliseconds("p99", r.p99Ms);
    line.milliseconds("max", r.maxMs);
    line.end();
}

void encode(const DriftRecord& r, std::string& into)
{
    LineBuilder line(into, "drift", r.monotonicNs);
    line.integer("round", r.round);
    line.integer("replica", r.replica);
    line.measured("mean", r.fromMean);
    line.measured("base", r.fromBase);
    line.measured("pnorm", r.parameterNorm);
    line.end();
}

} // namespace

const char* toString(EventRecord::Kind kind)
{
    switch (kind) {
    case EventRecord::Kind::Started: return "started";
    case EventRecord::Kind::Stopped: return "stopped";
    case EventRecord::Kind::Checkpoint: return "checkpoint";
    case EventRecord::Kind::Nan: return "nan";
    case EventRecord::Kind::Spike: return "spike";
    case EventRecord::Kind::Merge: return "merge";
    case EventRecord::Kind::Rollback: return "rollback";
    case EventRecord::Kind::Alarm: break;
    }
    return "alarm";
}

const char* toString(EvalRecord::What what) { return what == EvalRecord::What::Merged ? "merged" : "replica"; }

void encodeLine(const TelemetryHeader& header, std::string& into)
{
    nlohmann::ordered_json line;
    line["schema"] = kTelemetrySchema;
    line["run"] = header.run;
    line["attempt"] = header.attempt;
    line["worker"] = header.worker;
    line["boot"] = header.bootId;
    line["wall_anchor"] = header.wallAnchorNs;
    line["mono_anchor"] = header.monotonicAnchorNs;
    into += line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
    into += '\n';
}

void encodeLine(const TelemetryRecord& record, std::string& into)
{
    std::visit([&into](const auto& r) { encode(r, into); }, record);
}

} // namespace furrow
