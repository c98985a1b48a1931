// How this works: a line is one flat object. Keys are at most 8 bytes and are compared as one integer; digits are taken
// eight at a time; numbers go through an exact fast path (mantissa below 2^53, power of ten up to 22) and fall back to
// from_chars.
#include "core/telemetry/scan.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

namespace furrow {
namespace {

constexpr std::uint64_t packed(std::string_view key)
{
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < key.size() && i < 8; ++i)
        value |= static_cast<std::uint64_t>(static_cast<unsigned char>(key[i])) << (8 * i);
    return value;
}

struct Value {
    double number = 0;
    std::int64_t integer = 0;
    std::string_view text; ///< between the quotes, still escaped; null data: no string
    bool isNumber = false;
};

constexpr double kPowers[] = { 1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
    1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };

static_assert(std::endian::native == std::endian::little, "text is taken eight bytes at a time");

std::uint64_t eightBytes(const char* p)
{
    std::uint64_t word;
    std::memcpy(&word, p, sizeof word);
    return word;
}

/// The lowest byte of `word` that is zero, counted from 0; 8: none is.
int firstZeroByte(std::uint64_t word)
{
    return std::countr_zero((word - 0x0101010101010101u) & ~word & 0x8080808080808080u) / 8;
}

/// Appends the digits at p to `mantissa`. @return behind them
const char* scanDigits(const char* p, const char* end, std::uint64_t& mantissa)
{
    static constexpr std::uint64_t kShift[] = { 1, 10, 100, 1000, 10'000, 100'000, 1'000'000, 10'000'000, 100'000'000 };
    while (end - p >= 8) {
        std::uint64_t digits = eightBytes(p) ^ 0x3030303030303030u; // '0' to '9' become 0 to 9
        const int count = std::countr_zero(((digits + 0x7676767676767676u) | digits) & 0x8080808080808080u) / 8;
        if (count == 0)
            return p;
        digits <<= 64 - 8 * count; // as if zeros came first; then ones and tens, pairs, fours are put together
        digits = (digits * 2561 >> 8) & 0x00ff00ff00ff00ffu;
        digits = (digits * 6'553'601 >> 16) & 0x0000ffff0000ffffu;
        mantissa = mantissa * kShift[count] + (digits * 42'949'672'960'001 >> 32);
        p += count;
        if (count < 8)
            return p;
    }
    while (p < end && static_cast<unsigned>(*p - '0') < 10)
        mantissa = mantissa * 10 + static_cast<unsigned>(*p++ - '0');
    return p;
}

/// @return end of the number, or null
const char* scanNumber(const char* p, const char* end, Value& out)
{
    const char* const begin = p;
    const bool negative = p < end && *p == '-';
    p += negative;
    const char* const digits = p;
    std::uint64_t mantissa = 0;
    p = scanDigits(p, end, mantissa);
    auto count = p - digits;
    if (count == 0)
        return nullptr;
    int exponent = 0;
    bool whole = true;
    if (p < end && *p == '.') {
        whole = false;
        const char* const fraction = ++p;
        p = scanDigits(p, end, mantissa);
        exponent = -static_cast<int>(p - fraction);
        count += p - fraction;
        if (p == fraction)
            return nullptr;
    }
    if (p < end && (*p == 'e' || *p == 'E')) {
        whole = false;
        ++p;
        const bool down = p < end && *p == '-';
        p += p < end && (*p == '-' || *p == '+');
        int written = 0;
        const char* const first = p;
        while (p < end && static_cast<unsigned>(*p - '0') < 10 && written < 100000)
            written = written * 10 + (*p++ - '0');
        if (p == first)
            return nullptr;
        exponent += down ? -written : written;
    }
    out.isNumber = true;
    if (count <= 18 && mantissa < (1ull << 53) && exponent >= -22 && exponent <= 22) {
        const auto m = static_cast<double>(mantissa);
        out.number = exponent < 0 ? m / kPowers[-exponent] : m * kPowers[exponent];
        if (negative)
            out.number = -out.number;
    } else if (std::from_chars(begin, p, out.number).ec == std::errc::result_out_of_range) {
        out.number = exponent < 0 ? 0 : std::numeric_limits<double>::infinity();
    }
    if (whole && count <= 18)
        out.integer = negative ? -static_cast<std::int64_t>(mantissa) : static_cast<std::int64_t>(mantissa);
    else if (std::abs(out.number) < 9e18)
        out.integer = static_cast<std::int64_t>(out.number);
    return p;
}

/// @param p  behind the opening quote  @return behind the closing quote, or null
const char* scanString(const char* p, const char* end, std::string_view& out)
{
    const char* const begin = p;
    while (p < end && *p != '"')
        p += *p == '\\' ? 2 : 1;
    if (p >= end)
        return nullptr;
    out = { begin, static_cast<std::size_t>(p - begin) };
    return p + 1;
}

/// A key as packed() has it; 0: longer than ours are. @param p  behind the opening quote  @return behind the closing
/// quote, or null
const char* scanKey(const char* p, const char* end, std::uint64_t& key)
{
    if (end - p > 8) {
        const std::uint64_t word = eightBytes(p);
        const int length = firstZeroByte(word ^ 0x2222222222222222u); // the quote
        if (length > 0 && length < 8 && firstZeroByte(word ^ 0x5c5c5c5c5c5c5c5cu) > length) {
            key = word & ((std::uint64_t(1) << (8 * length)) - 1);
            return p + length + 1;
        }
    }
    std::string_view text;
    p = scanString(p, end, text);
    key = text.size() <= 8 ? packed(text) : 0;
    return p;
}

bool unescape(std::string_view text, std::string& out)
{
    if (text.find('\\') == std::string_view::npos) {
        out.assign(text);
        return true;
    }
    std::string quoted;
    quoted.reserve(text.size() + 2);
    quoted.append(1, '"').append(text).append(1, '"');
    const auto parsed = nlohmann::json::parse(quoted, nullptr, false);
    if (!parsed.is_string())
        return false;
    out = parsed.get<std::string>();
    return true;
}

/// A number, or one of the strings that stand for a number.
bool asNumber(const Value& v, double& out)
{
    if (v.isNumber) {
        out = v.number;
        return true;
    }
    if (v.text == "nan")
        out = std::numeric_limits<double>::quiet_NaN();
    else if (v.text == "inf")
        out = std::numeric_limits<double>::infinity();
    else if (v.text == "-inf")
        out = -std::numeric_limits<double>::infinity();
    else
        return false;
    return true;
}

/// Beyond any step, token and time of ours; a sum and a difference of two of them still fit.
constexpr std::int64_t kLargest = std::int64_t { 1 } << 60;

bool isBounded(std::int64_t value) { return value >= -kLargest && value <= kLargest; }

bool asInteger(const Value& v, std::int64_t& out)
{
    out = v.integer;
    return v.isNumber && isBounded(out);
}

bool asCount(const Value& v, int& out)
{
    if (!v.isNumber || v.integer < 0 || v.integer > 1'000'000)
        return false;
    out = static_cast<int>(v.integer);
    return true;
}

/// @return false: the key is known and its value is not what it must be
bool setStep(std::uint64_t key, const Value& v, StepRecord& r)
{
    switch (key) {
    case packed("t"): return asInteger(v, r.monotonicNs);
    case packed("step"): return asInteger(v, r.step);
    case packed("gstep"): return asInteger(v, r.globalStep);
    case packed("epoch"): return asInteger(v, r.epoch);
    case packed("block"): return asInteger(v, r.block);
    case packed("chunk"): return asInteger(v, r.chunk);
    case packed("samples"): return asInteger(v, r.samples);
    case packed("tokens"): return asInteger(v, r.tokens);
    case packed("stok"): return asInteger(v, r.stepTokens);
    case packed("loss"): return asNumber(v, r.loss);
    case packed("lr"): return asNumber(v, r.lr);
    case packed("gnorm"): return asNumber(v, r.gradientNorm);
    case packed("pnorm"): return asNumber(v, r.parameterNorm);
    case packed("tps"): return asNumber(v, r.tokensPerSecond);
    case packed("wait"): return asNumber(v, r.time.waitData);
    case packed("fwd"): return asNumber(v, r.time.forward);
    case packed("bwd"): return asNumber(v, r.time.backward);
    case packed("opt"): return asNumber(v, r.time.optimizer);
    case packed("ckpt"): return asNumber(v, r.time.checkpoint);
    case packed("mem"): return asInteger(v, r.memoryBytes);
    case packed("ranks"): return asCount(v, r.ranks);
    case packed("rank"): return asCount(v, r.rank);
    default: return true;
    }
}

bool setEval(std::uint64_t key, const Value& v, EvalRecord& r)
{
    switch (key) {
    case packed("t"): return asInteger(v, r.monotonicNs);
    case packed("step"): return asInteger(v, r.step);
    case packed("tokens"): return asInteger(v, r.tokens);
    case packed("loss"): return asNumber(v, r.loss);
    case packed("acc"): return asNumber(v, r.accuracy);
    case packed("what"):
        r.what = v.text == "merged" ? EvalRecord::What::Merged : EvalRecord::What::Replica;
        return true;
    default: return true;
    }
}

bool setEvent(std::uint64_t key, const Value& v, EventRecord& r)
{
    switch (key) {
    case packed("t"): return asInteger(v, r.monotonicNs);
    case packed("step"): return asInteger(v, r.step);
    case packed("chunk"): return asInteger(v, r.chunk);
    case packed("text"): return unescape(v.text, r.text);
    case packed("what"):
        for (int kind = 0; kind <= static_cast<int>(EventRecord::Kind::Alarm); ++kind) {
            if (v.text == toString(static_cast<EventRecord::Kind>(kind))) {
                r.kind = static_cast<EventRecord::Kind>(kind);
                return true;
            }
        }
        return true;
    default: return true;
    }
}

bool setGpu(std::uint64_t key, const Value& v, GpuRecord& r)
{
    switch (key) {
    case packed("t"): return asInteger(v, r.monotonicNs);
    case packed("device"): return unescape(v.text, r.device);
    case packed("util"): return asNumber(v, r.utilization);
    case packed("mem"): return asInteger(v, r.memoryUsedBytes);
    case packed("memtotal"): return asInteger(v, r.memoryTotalBytes);
    case packed("power"): return asNumber(v, r.powerWatt);
    case packed("temp"): return asNumber(v, r.temperatureCelsius);
    default: return true;
    }
}

bool setSample(std::uint64_t key, const Value& v, SampleRecord& r)
{
    switch (key) {
    case packed("t"): return asInteger(v, r.monotonicNs);
    case packed("step"): return asInteger(v, r.step);
    case packed("prompt"): return unescape(v.text, r.prompt);
    case packed("text"): return unescape(v.text, r.text);
    default: return true;
    }
}

bool setClaims(std::uint64_t key, const Value& v, ClaimWaitRecord& r)
{
    switch (key) {
    case packed("t"): return asInteger(v, r.monotonicNs);
    case packed("count"): return asInteger(v, r.count);
    case packed("p50"): return asNumber(v, r.p50Ms);
    case packed("p99"): return asNumber(v, r.p99Ms);
    case packed("max"): return asNumber(v, r.maxMs);
    default: return true;
    }
}

bool setDrift(std::uint64_t key, const Value& v, DriftRecord& r)
{
    switch (key) {
    case packed("t"): return asInteger(v, r.monotonicNs);
    case packed("round"): return asInteger(v, r.round);
    case packed("replica"): return asCount(v, r.replica);
    case packed("mean"): return asNumber(v, r.fromMean);
    case packed("base"): return asNumber(v, r.fromBase);
    case packed("pnorm"): return asNumber(v, r.parameterNorm);
    default: return true;
    }
}

/// Walks the pairs of a flat object and hands each to `set`; nested values are not ours and make the line Bad.
template <typename Set> bool walk(const char* p, const char* end, Set set)
{
    if (p >= end || *p != '{' || end[-1] != '}')
        return false;
    ++p;
    for (;;) {
        if (p >= end || *p != '"')
            return false;
        std::uint64_t key = 0;
        p = scanKey(p + 1, end, key);
        if (!p || p >= end || *p != ':')
            return false;
        ++p;
        Value value;
        if (p < end && *p == '"')
            p = scanString(p + 1, end, value.text);
        else
            p = scanNumber(p, end, value);
        if (!p || p >= end)
            return false;
        if (!set(key, value))
            return false;
        if (*p == '}')
            return p + 1 == end;
        if (*p != ',')
            return false;
        ++p;
    }
}

void scanHeader(std::string_view line, ScannedLine& into)
{
    const auto parsed = nlohmann::json::parse(line, nullptr, false);
    if (!parsed.is_object() || !parsed.contains("schema") || !parsed["schema"].is_number_integer())
        return;
    const auto integer = [&](const char* key) -> std::int64_t {
        const auto found = parsed.find(key);
        return found != parsed.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
    };
    const auto text = [&](const char* key) -> std::string {
        const auto found = parsed.find(key);
        return found != parsed.end() && found->is_string() ? found->get<std::string>() : std::string();
    };
    const auto worker = integer("worker");
    const auto wallAnchor = integer("wall_anchor");
    if (!isBounded(wallAnchor / 4) || !isBounded(integer("mono_anchor")) || !isBounded(integer("attempt")))
        return;
    into.kind = LineKind::Header;
    into.schema = static_cast<int>(std::clamp<std::int64_t>(integer("schema"), 0, std::numeric_limits<int>::max()));
    into.header = { text("run"), integer("attempt"), static_cast<int>(worker < -1 || worker > 1'000'000 ? 0 : worker),
        text("boot"), wallAnchor, integer("mono_anchor") };
}

} // namespace

std::int64_t monotonicNs(const ScannedLine& line)
{
    switch (line.kind) {
    case LineKind::Step: return line.step.monotonicNs;
    case LineKind::Eval: return line.eval.monotonicNs;
    case LineKind::Event: return line.event.monotonicNs;
    case LineKind::Gpu: return line.gpu.monotonicNs;
    case LineKind::Sample: return line.sample.monotonicNs;
    case LineKind::Claims: return line.claims.monotonicNs;
    case LineKind::Drift: return line.drift.monotonicNs;
    default: return 0;
    }
}

void scanLine(std::string_view line, ScannedLine& into)
{
    into.kind = LineKind::Bad;
    constexpr std::string_view kPrefix = "{\"k\":\"";
    if (line.starts_with("{\"schema\"")) {
        scanHeader(line, into);
        return;
    }
    if (!line.starts_with(kPrefix))
        return;
    const char* const begin = line.data();
    const char* const end = begin + line.size();
    const auto kind = line.substr(kPrefix.size(), line.find('"', kPrefix.size()) - kPrefix.size());
    bool good = false;
    if (kind == "step") {
        into.step = {};
        good = walk(begin, end, [&](auto key, const auto& v) { return setStep(key, v, into.step); })
            && into.step.monotonicNs != 0;
        into.kind = LineKind::Step;
    } else if (kind == "eval") {
        into.eval = {};
        good = walk(begin, end, [&](auto key, const auto& v) { return setEval(key, v, into.eval); });
        into.kind = LineKind::Eval;
    } else if (kind == "event") {
        into.event = {};
        good = walk(begin, end, [&](auto key, const auto& v) { return setEvent(key, v, into.event); });
        into.kind = LineKind::Event;
    } else if (kind == "gpu") {
        into.gpu = {};
        good = walk(begin, end, [&](auto key, const auto& v) { return setGpu(key, v, into.gpu); });
        into.kind = LineKind::Gpu;
    } else if (kind == "sample") {
        into.sample = {};
        good = walk(begin, end, [&](auto key, const auto& v) { return setSample(key, v, into.sample); });
        into.kind = LineKind::Sample;
    } else if (kind == "claims") {
        into.claims = {};
        good = walk(begin, end, [&](auto key, const auto& v) { return setClaims(key, v, into.claims); });
        into.kind = LineKind::Claims;
    } else if (kind == "drift") {
        into.drift = {};
        good = walk(begin, end, [&](auto key, const auto& v) { return setDrift(key, v, into.drift); });
        into.kind = LineKind::Drift;
    } else {
        good = line.back() == '}';
        into.kind = LineKind::Unknown;
    }
    if (!good)
        into.kind = LineKind::Bad;
}

} // namespace furrow
