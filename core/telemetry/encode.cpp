#include "core/telemetry/fields.h"

#include "core/config/message_json.h"

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
    LineBuilder(std::string& into, std::string_view kind)
        : out_(into)
    {
        out_ += "{\"k\":\"";
        out_ += kind;
        out_ += '"';
    }

    void integer(FieldName field, std::int64_t value)
    {
        if (value == 0)
            return;
        name(field);
        char text[24];
        const auto end = std::to_chars(text, text + sizeof text, value).ptr;
        out_.append(text, end);
    }

    void count(FieldName field, int value) { integer(field, value); }

    void number(FieldName field, double value)
    {
        if (value == 0)
            return;
        name(field);
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
    void measured(FieldName field, double value)
    {
        if (value == 0 || !std::isfinite(value)) {
            number(field, value);
            return;
        }
        name(field);
        char text[40];
        out_.append(text, std::to_chars(text, text + sizeof text, value, std::chars_format::general, 6).ptr);
    }

    /// A duration [ms], rounded to a microsecond.
    void milliseconds(FieldName field, double value)
    {
        if (std::isfinite(value) && std::abs(value) < 0.0005)
            return;
        measured(field, std::isfinite(value) ? std::round(value * 1000) / 1000 : value);
    }

    void string(FieldName field, const std::string& value)
    {
        if (value.empty())
            return;
        name(field);
        out_ += nlohmann::json(value).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    }

    void message(FieldName text, FieldName parts, const Message& value)
    {
        string(text, value.text());
        string(parts, messageParts(value));
    }

    template <typename Enum> void word(FieldName field, Enum value, std::span<const std::string_view> words)
    {
        name(field);
        out_ += '"';
        out_ += words[static_cast<std::size_t>(value)];
        out_ += '"';
    }

    void end() { out_ += "}\n"; }

private:
    void name(FieldName field)
    {
        out_ += ",\"";
        out_ += field.text;
        out_ += "\":";
    }

    std::string& out_;
};

} // namespace

std::string_view toString(EventRecord::Kind kind) { return kEventWords[static_cast<std::size_t>(kind)]; }

std::string_view toString(EvalRecord::What what) { return kEvalWords[static_cast<std::size_t>(what)]; }

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
    std::visit(
        [&into](const auto& r) {
            LineBuilder line(into, kRecordKind<std::remove_cvref_t<decltype(r)>>);
            visitFields(r, line);
            line.end();
        },
        record);
}

} // namespace furrow
