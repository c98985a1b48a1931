#include "core/config/message_json.h"

#include "core/config/bounded_json.h"

#include <cmath>

namespace furrow {

namespace {

constexpr std::size_t kMostBytes = 1 << 17;
constexpr int kDeepest = 8;
constexpr std::size_t kMostArguments = 64; // of one message
constexpr std::int64_t kMostDigits = 17;

struct ToJson {
    nlohmann::json operator()(const std::string& name) const { return name; }
    nlohmann::json operator()(const Message& message) const { return toJson(message); }
    nlohmann::json operator()(Count count) const { return { { "count", count.value } }; }
    nlohmann::json operator()(Real real) const
    {
        if (!std::isfinite(real.value)) // JSON has none
            return Argument(real).text();
        return { { "real", real.value }, { "digits", real.digits } };
    }
    nlohmann::json operator()(Bytes bytes) const { return { { "bytes", bytes.value } }; }
    nlohmann::json operator()(WallTime time) const { return { { "time", time.ns } }; }
    nlohmann::json operator()(const Term& term) const
    {
        nlohmann::json json;
        json[toString(term.set)] = term.name;
        return json;
    }
};

std::optional<Message> messageFrom(const nlohmann::json& json, int depth);

template <typename Number> std::optional<Number> numberIn(const nlohmann::json& json, const char* key)
{
    const auto found = json.find(key);
    if (found == json.end())
        return std::nullopt;
    if constexpr (std::is_same_v<Number, double>)
        return found->is_number() ? std::optional(found->get<double>()) : std::nullopt;
    else if constexpr (std::is_signed_v<Number>)
        return found->is_number_integer() && !found->is_number_unsigned() ? std::optional(found->get<Number>())
            : found->is_number_unsigned() && found->get<std::uint64_t>() <= std::numeric_limits<Number>::max()
            ? std::optional(found->get<Number>())
            : std::nullopt;
    else
        return found->is_number_unsigned() ? std::optional(found->get<Number>()) : std::nullopt;
}

std::optional<Argument> argumentFrom(const nlohmann::json& json, int depth)
{
    if (json.is_string())
        return Argument(json.get<std::string>());
    if (!json.is_object())
        return std::nullopt;
    if (const auto count = numberIn<std::int64_t>(json, "count"))
        return Argument(Count(*count));
    const auto digits = numberIn<std::int64_t>(json, "digits");
    if (const auto real = numberIn<double>(json, "real"); real && digits && *digits >= 0 && *digits <= kMostDigits)
        return Argument(Real(*real, static_cast<int>(*digits)));
    if (const auto bytes = numberIn<std::uint64_t>(json, "bytes"))
        return Argument(Bytes(*bytes));
    if (const auto time = numberIn<std::int64_t>(json, "time"))
        return Argument(WallTime(*time));
    for (const auto& set : kClosedNames<TermSet>)
        if (const auto found = json.find(set.name); found != json.end() && found->is_string())
            return Argument(Term { set.value, found->get<std::string>() });
    if (auto message = messageFrom(json, depth + 1))
        return Argument(std::move(*message));
    return std::nullopt;
}

std::optional<Message> messageFrom(const nlohmann::json& json, int depth)
{
    if (depth > kDeepest || !json.is_object())
        return std::nullopt;
    const auto id = json.find("id");
    const auto args = json.find("args");
    if (id == json.end() || !id->is_string())
        return std::nullopt;
    std::vector<Argument> arguments;
    if (args != json.end()) {
        if (!args->is_array() || args->size() > kMostArguments)
            return std::nullopt;
        for (const auto& one : *args) {
            auto argument = argumentFrom(one, depth);
            if (!argument)
                return std::nullopt;
            arguments.push_back(std::move(*argument));
        }
    }
    return Message::of(id->get<std::string>(), std::move(arguments));
}

} // namespace

nlohmann::json toJson(const Message& message)
{
    nlohmann::json json { { "id", std::string(message.isPlain() ? message.text() : message.id()) } };
    for (const Argument& one : message.arguments())
        json["args"].push_back(std::visit(ToJson(), one.value));
    return json;
}

std::string messageParts(const Message& message)
{
    if (message.arguments().empty())
        return {};
    return toJson(message).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Message messageOf(std::string english, std::string_view parts)
{
    if (parts.empty() || parts.size() > kMostBytes)
        return english;
    const auto json = parseBoundedJson(parts);
    auto message = json.is_discarded() ? std::nullopt : messageFrom(json, 1);
    return message && message->text() == english ? std::move(*message) : Message(std::move(english));
}

std::optional<Message> answeredError(const nlohmann::json& answer)
{
    if (!answer.is_object() || !answer.contains("error") || !answer["error"].is_string() || answer["error"] == "")
        return std::nullopt;
    const auto parts = answer.value("message", nlohmann::json());
    return messageOf(answer["error"].get<std::string>(),
        parts.is_object() ? parts.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) : std::string());
}

} // namespace furrow
