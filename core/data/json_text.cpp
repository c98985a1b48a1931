#include "core/data/json_text.h"

#include "core/base/utf8.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

namespace furrow {

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

/// Takes the events of the parser and keeps the first value of one member of the outermost object. Nothing of the rest is
/// stored, and the parser keeps its own stack, so any nesting is bounded by the length of the line.
class JsonText::Handler {
public:
    explicit Handler(std::string column)
        : column_(std::move(column))
    {
    }
    void begin()
    {
        text.clear();
        problem = nullptr;
        depth_ = 0;
        wanted_ = found_ = false;
    }
    const char* end() const { return found_ ? problem : "has no such member as the text column"; }

    std::string text;
    const char* problem = nullptr;

    // what nlohmann::json::sax_parse calls; false stops it
    bool null() { return value(nullptr); }
    bool boolean(bool) { return value(kNoString); }
    bool number_integer(std::int64_t) { return value(kNoString); }
    bool number_unsigned(std::uint64_t) { return value(kNoString); }
    bool number_float(double, const std::string&) { return value(kNoString); }
    bool binary(nlohmann::json::binary_t&) { return false; }
    bool string(std::string& value)
    {
        if (wanted_)
            text.swap(value);
        return this->value(nullptr);
    }
    bool key(std::string& name)
    {
        wanted_ = depth_ == 1 && !found_ && name == column_;
        return true;
    }
    bool start_object(std::size_t) { return start(); }
    bool start_array(std::size_t)
    {
        if (depth_ == 0) {
            found_ = true;
            problem = kNoObject;
        }
        return start();
    }
    bool end_object() { return --depth_ >= 0; }
    bool end_array() { return --depth_ >= 0; }
    bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception&) { return false; }

private:
    static constexpr const char* kNoString = "has a text column that is no string";
    static constexpr const char* kNoObject = "is no JSON object";

    bool value(const char* why)
    {
        if (depth_ == 0)
            why = kNoObject;
        if (wanted_ || depth_ == 0) {
            found_ = true;
            problem = why;
        }
        wanted_ = false;
        return true;
    }
    bool start()
    {
        if (wanted_)
            value(kNoString);
        ++depth_;
        return true;
    }

    std::string column_;
    int depth_ = 0;
    bool wanted_ = false; ///< the next value is the column's
    bool found_ = false;
};

JsonText::JsonText(std::string column)
    : handler_(std::make_unique<Handler>(std::move(column)))
{
}
JsonText::~JsonText() = default;
JsonText::JsonText(JsonText&&) noexcept = default;

const char* JsonText::parse(std::string_view line)
{
    repaired_ = false;
    handler_->begin();
    if (line.find_first_not_of(" \t\r\n") == std::string_view::npos)
        return nullptr;
    const auto attempt = [this](std::string_view bytes) {
        handler_->begin();
        return nlohmann::json::sax_parse(bytes.begin(), bytes.end(), handler_.get());
    };
    if (attempt(line))
        return handler_->end();
    const std::string mended = replaceLoneSurrogates(replaceInvalidUtf8(line).text);
    if (mended != line && attempt(mended)) {
        repaired_ = true;
        return handler_->end();
    }
    handler_->begin();
    return "is broken JSON";
}

std::string_view JsonText::text() const
{
    return handler_->problem == nullptr ? std::string_view(handler_->text) : std::string_view();
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
