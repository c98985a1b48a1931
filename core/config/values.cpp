// Settings as text and as JSON: parsing, printing, overlaying. Knows types and ranges, no combinations.

#include "core/base/redact.h"
#include "core/base/sentence.h"
#include "core/base/utf8.h"
#include "core/config/list_text.h"
#include "core/config/schema.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace furrow {

namespace {

/// As it is kept and compared: in the fewest characters.
std::string numberText(double value)
{
    char buffer[64];
    const auto [end, failed] = std::to_chars(buffer, buffer + sizeof buffer, value);
    return failed == std::errc {} ? std::string(buffer, end) : std::string();
}

/// For people: 100000 and not 1e+05.
std::string shownNumber(double value)
{
    constexpr double kWhole = 1e15; // below it every whole number is itself
    return value == std::floor(value) && std::abs(value) < kWhole ? std::to_string(static_cast<std::int64_t>(value))
                                                                  : numberText(value);
}

std::string joined(const std::vector<std::string>& parts, const char* separator)
{
    std::string text;
    for (const auto& part : parts)
        text += (text.empty() ? "" : separator) + part;
    return text;
}

std::string allowedText(const Setting& s)
{
    if (!s.choices.empty())
        return "one of " + joined(s.choiceValues(), ", ");
    if (s.max < s.min)
        return "at least " + shownNumber(s.min);
    return shownNumber(s.min) + " to " + shownNumber(s.max);
}

ConfigProblem problem(const Setting& s, const std::string& value, const std::string& allowed, std::string fix = {})
{
    return { s.key, s.key + " is " + (value.empty() ? "empty" : value) + ", allowed is " + allowed + ".",
        std::move(fix) };
}

std::vector<ConfigProblem> checkRange(const Setting& s, double value)
{
    if (std::isfinite(value) && value >= s.min && (s.max < s.min || value <= s.max))
        return {};
    const double nearest = value > s.min && s.max >= s.min ? s.max : s.min;
    return { problem(s, shownNumber(value), allowedText(s), shownNumber(nearest)) };
}

/// Parses all of `text` as a number.
template <typename T> bool parse(const std::string& text, T& value)
{
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
    return failed == std::errc {} && end == text.data() + text.size() && !text.empty();
}

std::vector<ConfigProblem> storeInteger(
    RunConfig& config, const Setting& s, std::int64_t RunConfig::* field, const std::string& text)
{
    std::int64_t value = 0;
    if (!parse(text, value)) {
        double real = 0; // people write 1e6
        if (!parse(text, real) || real != std::floor(real) || std::abs(real) > 9e15)
            return { problem(s, "'" + text + "'", "a whole number, " + allowedText(s)) };
        value = static_cast<std::int64_t>(real);
    }
    auto problems = checkRange(s, static_cast<double>(value));
    if (problems.empty())
        config.*field = value;
    return problems;
}

std::vector<ConfigProblem> storeReal(
    RunConfig& config, const Setting& s, double RunConfig::* field, const std::string& text)
{
    double value = 0;
    if (!parse(text, value))
        return { problem(s, "'" + text + "'", "a number, " + allowedText(s)) };
    auto problems = checkRange(s, value);
    if (problems.empty())
        config.*field = value;
    return problems;
}

std::vector<ConfigProblem> storeSwitch(
    RunConfig& config, const Setting& s, bool RunConfig::* field, const std::string& text)
{
    const bool yes = text == "true" || text == "1" || text == "on" || text == "yes";
    const bool no = text == "false" || text == "0" || text == "off" || text == "no";
    if (!yes && !no)
        return { problem(s, "'" + text + "'", "true or false") };
    config.*field = yes;
    return {};
}

/// run.json is UTF-8: a name of other bytes could not be kept, and would name something else.
std::vector<ConfigProblem> textProblems(const Setting& s, const std::string& text)
{
    if (isValidUtf8(text))
        return {};
    return { problem(s, "'" + replaceInvalidUtf8(text).text + "'", "text in UTF-8") };
}

std::vector<ConfigProblem> storeText(
    RunConfig& config, const Setting& s, std::string RunConfig::* field, const std::string& text)
{
    config.*field = text;
    return textProblems(s, text);
}

std::vector<ConfigProblem> storeChoice(
    RunConfig& config, const Setting& s, const ChoiceField& field, const std::string& text)
{
    if (!field.store(config, text))
        return { problem(s, "'" + text + "'", allowedText(s), s.choices.front().value) };
    return {};
}

std::string withoutBlanksAround(const std::string& text)
{
    constexpr const char* kBlanks = " \t\r\n";
    const auto begin = text.find_first_not_of(kBlanks);
    return begin == std::string::npos ? std::string() : text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

/// Takes a part in double quotes from the beginning of `text`, with what stands behind it up to the next comma if that
/// is nothing but blanks. A quote inside is written twice. false, and nothing taken: there is none.
bool takeQuoted(std::string_view& text, std::string& part)
{
    const auto begin = text.find_first_not_of(' ');
    if (begin == std::string_view::npos || text[begin] != '"')
        return false;
    std::string inside;
    for (std::size_t i = begin + 1; i < text.size(); ++i) {
        if (text[i] != '"') {
            inside += text[i];
        } else if (i + 1 < text.size() && text[i + 1] == '"') {
            inside += text[++i];
        } else {
            const auto behind = std::min(text.find_first_not_of(' ', i + 1), text.size());
            if (behind < text.size() && text[behind] != ',')
                return false; // a name that begins with a quote
            text.remove_prefix(std::min(behind + 1, text.size()));
            part = std::move(inside);
            return true;
        }
    }
    return false;
}

/// People write a blank behind a comma; a text without one may have blanks of its own. A part with a comma in it stands
/// in double quotes.
std::vector<std::string> split(std::string_view text)
{
    const bool isList = text.find(',') != std::string::npos;
    std::vector<std::string> parts;
    while (!text.empty()) {
        std::string part;
        if (!takeQuoted(text, part)) {
            const auto end = std::min(text.find(','), text.size());
            part = isList ? withoutBlanksAround(std::string(text.substr(0, end))) : std::string(text);
            text.remove_prefix(std::min(end + 1, text.size()));
        }
        if (!part.empty())
            parts.push_back(std::move(part));
    }
    return parts;
}

/// As split() reads it.
std::string quoted(const std::string& part)
{
    const bool isPlain
        = part.find(',') == std::string::npos && !part.starts_with('"') && part == withoutBlanksAround(part);
    if (isPlain)
        return part;
    std::string text = "\"";
    for (const char c : part)
        text += c == '"' ? std::string("\"\"") : std::string(1, c);
    return text + "\"";
}

template <typename T> const T& valueOf(const RunConfig& config, T RunConfig::* field) { return config.*field; }
std::string valueOf(const RunConfig& config, const ChoiceField& field) { return field.name(config); }

/// A JSON value in the form setSetting parses, or nothing when its type does not fit the field.
bool jsonText(const Setting& s, const nlohmann::json& value, std::string& text)
{
    if (std::holds_alternative<bool RunConfig::*>(s.field) && value.is_boolean())
        text = value.get<bool>() ? "true" : "false";
    else if ((std::holds_alternative<std::string RunConfig::*>(s.field) || std::holds_alternative<ChoiceField>(s.field))
        && value.is_string())
        text = value.get<std::string>();
    else if (std::holds_alternative<std::int64_t RunConfig::*>(s.field) && value.is_number())
        text = value.dump();
    else if (std::holds_alternative<double RunConfig::*>(s.field) && value.is_number())
        text = value.dump();
    else
        return false;
    return true;
}

} // namespace

std::string toString(const std::vector<ConfigProblem>& problems)
{
    std::string text;
    for (const auto& p : problems)
        text += (text.empty() ? "" : "\n") + p.message;
    return text;
}

std::string listText(const std::vector<std::string>& parts)
{
    std::string text;
    for (const auto& part : parts)
        text += (text.empty() ? "" : ",") + quoted(part);
    return text;
}

std::string settingText(const RunConfig& config, const Setting& setting)
{
    struct {
        std::string operator()(bool v) const { return v ? "true" : "false"; }
        std::string operator()(std::int64_t v) const { return std::to_string(v); }
        std::string operator()(double v) const { return numberText(v); }
        std::string operator()(const std::string& v) const { return v; }
        std::string operator()(const std::vector<std::string>& v) const { return listText(v); }
    } print;
    return std::visit([&](const auto& field) { return print(valueOf(config, field)); }, setting.field);
}

std::vector<ConfigProblem> setSetting(RunConfig& config, const Setting& s, const std::string& text)
{
    if (const auto* field = std::get_if<bool RunConfig::*>(&s.field))
        return storeSwitch(config, s, *field, text);
    if (const auto* integer = std::get_if<std::int64_t RunConfig::*>(&s.field))
        return storeInteger(config, s, *integer, text);
    if (const auto* real = std::get_if<double RunConfig::*>(&s.field))
        return storeReal(config, s, *real, text);
    if (const auto* list = std::get_if<std::vector<std::string> RunConfig::*>(&s.field)) {
        config.*(*list) = split(text);
        return textProblems(s, text);
    }
    if (const auto* choice = std::get_if<ChoiceField>(&s.field))
        return storeChoice(config, s, *choice, text);
    return storeText(config, s, std::get<std::string RunConfig::*>(s.field), text);
}

nlohmann::json toJson(const RunConfig& config)
{
    nlohmann::json json = nlohmann::json::object();
    for (const auto& s : settings())
        std::visit([&](const auto& field) { json[s.key] = valueOf(config, field); }, s.field);
    return json;
}

ConfigReading configFromJson(const nlohmann::json& json, RunConfig base)
{
    ConfigReading reading { std::move(base), {} };
    if (!json.is_object()) {
        reading.problems.push_back({ "", "The configuration is not a JSON object of settings.", "" });
        return reading;
    }
    for (const auto& [key, value] : json.items()) {
        const Setting* setting = findSetting(key);
        if (!setting) {
            reading.problems.push_back(
                { key, "There is no setting '" + key + "'. 'furrowctl settings' lists all.", "" });
            continue;
        }
        const auto* list = std::get_if<std::vector<std::string> RunConfig::*>(&setting->field);
        const bool isList = list != nullptr;
        if (isList && value.is_array()
            && std::all_of(value.begin(), value.end(), [](const auto& v) { return v.is_string(); })) {
            reading.config.*(*list) = value.template get<std::vector<std::string>>();
            continue;
        }
        std::string text;
        if (!jsonText(*setting, value, text)) {
            const std::string usual = settingText(RunConfig {}, *setting);
            const std::string example = isList ? R"(["a.txt", "b.txt"])" : usual.empty() ? R"("text")" : usual;
            reading.problems.push_back(
                problem(*setting, value.dump().substr(0, 80), "a value of another type: " + example + ", for example"));
            continue;
        }
        auto problems = setSetting(reading.config, *setting, text);
        reading.problems.insert(reading.problems.end(), problems.begin(), problems.end());
    }
    return reading;
}

std::vector<ConfigChange> changes(const RunConfig& before, const RunConfig& after)
{
    std::vector<ConfigChange> found;
    for (const auto& s : settings()) {
        ConfigChange change { &s, settingText(before, s), settingText(after, s) };
        if (change.before != change.after)
            found.push_back(std::move(change));
    }
    return found;
}

namespace {

/// A value that is refused is printed, and may be a secret in the wrong place.
std::string shownValue(const std::string& value)
{
    return value.empty() ? "empty" : holdsSecret(value) ? "<hidden>" : value;
}

} // namespace

std::vector<ConfigProblem> refusedOnResume(const RunConfig& frozen, const RunConfig& wanted)
{
    std::vector<ConfigProblem> problems;
    for (const auto& change : changes(frozen, wanted)) {
        if (change.setting->resume != ResumeRule::Refused)
            continue;
        const std::string& key = change.setting->key;
        problems.push_back({ key,
            sentence(
                "%1 cannot change from %2 to %3 in a run that has begun: it defines its chunks or its weights. Start a new run instead.",
                { key, shownValue(change.before), shownValue(change.after) }),
            change.before });
    }
    return problems;
}

} // namespace furrow
