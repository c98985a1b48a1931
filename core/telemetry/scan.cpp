// How this works: a line is one flat object. Keys are at most 8 bytes and are compared as one integer, each with the
// field that a writer puts next, so that a line of ours is read in one pass over its fields; digits are taken eight at
// a time; numbers go through an exact fast path (mantissa below 2^53, power of ten up to 22) and fall back to
// from_chars.
#include "core/telemetry/scan.h"

#include "core/base/format.h"
#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/config/message_json.h"
#include "core/telemetry/fields.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

namespace furrow {
namespace {

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

/// A key as FieldName has it; 0: longer than ours are. @param p  behind the opening quote  @return behind the closing
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
    key = 0;
    if (!text.empty() && text.size() <= 8)
        std::memcpy(&key, text.data(), text.size());
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

/// The pairs of a flat object, one after the other; nested values are not ours and make the line bad.
class Pairs {
public:
    Pairs(const char* begin, const char* end)
        : at_(begin)
        , end_(end)
        , state_(begin < end && *begin == '{' && end[-1] == '}' ? State::More : State::Bad)
    {
        next();
    }

    bool more() const { return state_ == State::More; }
    bool complete() const { return state_ == State::Complete; }
    std::uint64_t key() const { return key_; } ///< 0: there is no more, or it is none of ours
    const Value& value() const { return value_; }
    void fail() { end(State::Bad); }

    /// Of the pair before, the byte behind it is the next one.
    void next()
    {
        if (!more())
            return;
        if (*at_ == '}')
            end(at_ + 1 == end_ && hasPair_ ? State::Complete : State::Bad);
        else if (*at_ != (hasPair_ ? ',' : '{') || !readPair(at_ + 1))
            end(State::Bad);
    }

private:
    enum class State { More, Complete, Bad };

    void end(State state)
    {
        state_ = state;
        key_ = 0;
    }

    bool readPair(const char* p)
    {
        if (p >= end_ || *p != '"')
            return false;
        p = scanKey(p + 1, end_, key_);
        if (!p || p >= end_ || *p != ':')
            return false;
        ++p;
        value_ = {};
        p = p < end_ && *p == '"' ? scanString(p + 1, end_, value_.text) : scanNumber(p, end_, value_);
        at_ = p;
        hasPair_ = true;
        return p && p < end_;
    }

    const char* at_;
    const char* end_;
    State state_;
    bool hasPair_ = false;
    std::uint64_t key_ = 0;
    Value value_;
};

/// Takes the pairs that belong to the fields it is shown, in their order.
class FieldReader {
public:
    explicit FieldReader(Pairs& pairs)
        : pairs_(pairs)
    {
    }

    void integer(FieldName name, std::int64_t& out)
    {
        if (isNext(name))
            accept(asInteger(pairs_.value(), out));
    }
    void count(FieldName name, int& out)
    {
        if (isNext(name))
            accept(asCount(pairs_.value(), out));
    }
    void number(FieldName name, double& out)
    {
        if (isNext(name))
            accept(asNumber(pairs_.value(), out));
    }
    void measured(FieldName name, double& out) { number(name, out); }
    void milliseconds(FieldName name, double& out) { number(name, out); }
    void string(FieldName name, std::string& out)
    {
        if (isNext(name))
            accept(unescape(pairs_.value().text, out));
    }
    /// The English text is what counts: parts that say something else are none.
    void message(FieldName text, FieldName parts, Message& out)
    {
        std::string found;
        if (isNext(text)) {
            accept(unescape(pairs_.value().text, found));
            out = Message(std::move(found));
        } else if (isNext(parts)) {
            accept(unescape(pairs_.value().text, found));
            out = messageOf(out.text(), found);
        }
    }
    /// A word that a later version has stays what it is by default.
    template <typename Enum> void word(FieldName name, Enum& out, std::span<const std::string_view> words)
    {
        if (!isNext(name))
            return;
        const auto found = std::find(words.begin(), words.end(), pairs_.value().text);
        if (found != words.end())
            out = static_cast<Enum>(found - words.begin());
        accept(true);
    }

    bool hasTaken() const { return taken_; }

private:
    bool isNext(FieldName name) const { return pairs_.key() == name.bytes; }
    void accept(bool good)
    {
        taken_ = true;
        if (good)
            pairs_.next();
        else
            pairs_.fail();
    }

    Pairs& pairs_;
    bool taken_ = false;
};

template <typename Record> bool readFields(std::string_view line, Record& record)
{
    record = {};
    Pairs pairs(line.data(), line.data() + line.size());
    pairs.next(); // behind the kind
    while (pairs.more()) {
        FieldReader reader(pairs);
        visitFields(record, reader);
        if (!reader.hasTaken())
            pairs.next(); // not a field of ours
    }
    return pairs.complete();
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
    case LineKind::Privacy: return line.privacy.monotonicNs;
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
    const auto kind = line.substr(kPrefix.size(), line.find('"', kPrefix.size()) - kPrefix.size());
    const auto read = [&](auto& record, LineKind known) {
        if (kind != kRecordKind<std::remove_cvref_t<decltype(record)>>)
            return false;
        if (readFields(line, record))
            into.kind = known;
        return true;
    };
    if (read(into.step, LineKind::Step)) {
        if (into.step.monotonicNs == 0)
            into.kind = LineKind::Bad;
    } else if (!read(into.eval, LineKind::Eval) && !read(into.event, LineKind::Event) && !read(into.gpu, LineKind::Gpu)
        && !read(into.sample, LineKind::Sample) && !read(into.claims, LineKind::Claims)
        && !read(into.drift, LineKind::Drift) && !read(into.privacy, LineKind::Privacy) && line.back() == '}') {
        into.kind = LineKind::Unknown;
    }
}

Message tooManyBadBytes(const std::filesystem::path& file)
{
    return sentence(
        "%1 has more than %2 that is not telemetry: nothing is read after that. Move it out of the folder, or put a copy of it back.",
        { utf8Text(file), Bytes(kMostBadBytes) });
}

} // namespace furrow
