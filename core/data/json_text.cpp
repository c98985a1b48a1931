#include "core/data/json_text.h"

#include "core/base/utf8.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <simdjson.h>

namespace furrow {

struct JsonText::Parser {
    simdjson::dom::parser parser;
    std::string padded;
};

namespace {

int hexValue(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    const char lower = static_cast<char>(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/// The code unit of an escape \uXXXX at `i`, or -1.
int escapedUnit(std::string_view line, std::size_t i)
{
    if (i + 6 > line.size() || line[i] != '\\' || line[i + 1] != 'u')
        return -1;
    int unit = 0;
    for (std::size_t k = i + 2; k < i + 6; ++k) {
        const int digit = hexValue(line[k]);
        if (digit < 0)
            return -1;
        unit = unit * 16 + digit;
    }
    return unit;
}

/// Escapes of surrogates without their other half become \ufffd.
std::string replaceLoneSurrogates(std::string_view line)
{
    std::string out(line);
    for (std::size_t i = 0; i + 1 < out.size(); ++i) {
        if (out[i] != '\\')
            continue;
        const int unit = escapedUnit(out, i);
        if (unit < 0xD800 || unit > 0xDFFF) {
            ++i; // also steps over an escaped backslash
            continue;
        }
        const int low = unit < 0xDC00 ? escapedUnit(out, i + 6) : -1;
        if (low >= 0xDC00 && low <= 0xDFFF) {
            i += 11;
            continue;
        }
        std::memcpy(out.data() + i + 2, "fffd", 4);
        i += 5;
    }
    return out;
}

} // namespace

JsonText::JsonText(std::string column)
    : parser_(std::make_unique<Parser>())
    , column_(std::move(column))
{
}
JsonText::~JsonText() = default;
JsonText::JsonText(JsonText&&) noexcept = default;

const char* JsonText::parse(std::string_view line)
{
    text_ = {};
    repaired_ = false;
    const auto attempt = [this](std::string_view bytes) {
        auto& padded = parser_->padded;
        if (padded.size() < bytes.size() + simdjson::SIMDJSON_PADDING)
            padded.resize((bytes.size() + simdjson::SIMDJSON_PADDING) * 2);
        std::memcpy(padded.data(), bytes.data(), bytes.size());
        std::memset(padded.data() + bytes.size(), ' ', simdjson::SIMDJSON_PADDING);
        return parser_->parser.parse(padded.data(), bytes.size(), false);
    };
    auto document = attempt(line);
    if (document.error() == simdjson::UTF8_ERROR || document.error() == simdjson::STRING_ERROR) {
        repaired_ = true;
        document = attempt(replaceLoneSurrogates(replaceInvalidUtf8(line).text));
    }
    if (document.error() != simdjson::SUCCESS)
        return document.error() == simdjson::EMPTY ? nullptr : "is broken JSON";
    simdjson::dom::object object;
    if (document.get(object) != simdjson::SUCCESS)
        return "is no JSON object";
    simdjson::dom::element value;
    if (object.at_key(column_).get(value) != simdjson::SUCCESS)
        return "has no such member as the text column";
    if (value.is_null())
        return nullptr;
    if (value.get(text_) != simdjson::SUCCESS)
        return "has a text column that is no string";
    return nullptr;
}

bool jsonMembers(std::string_view line, std::vector<std::string>& all, std::vector<std::string>& text)
{
    const auto object = nlohmann::ordered_json::parse(line, nullptr, false);
    if (!object.is_object())
        return false;
    const auto add = [](std::vector<std::string>& names, const std::string& name) {
        if (std::find(names.begin(), names.end(), name) == names.end())
            names.push_back(name);
    };
    for (const auto& [name, value] : object.items()) {
        add(all, name);
        if (value.is_string())
            add(text, name);
    }
    return true;
}

} // namespace furrow
