#include "core/config/json_reading.h"

#include "core/base/plain_line.h"
#include "core/base/sentence.h"
#include "core/config/bounded_json.h"

namespace furrow {

namespace {

/// The way from `from` to `part`, for people: "data.files[3].size"; false where it does not lead there.
bool findWay(const nlohmann::json& from, const nlohmann::json* part, std::string& way)
{
    if (&from == part)
        return true;
    const auto length = way.size();
    if (from.is_object()) {
        for (const auto& [key, value] : from.items()) {
            way += (way.empty() ? "" : ".") + key;
            if (findWay(value, part, way))
                return true;
            way.resize(length);
        }
    } else if (from.is_array()) {
        for (std::size_t i = 0; i < from.size(); ++i) {
            way += "[" + std::to_string(i) + "]";
            if (findWay(from[i], part, way))
                return true;
            way.resize(length);
        }
    }
    return false;
}

} // namespace

JsonPart JsonPart::operator[](const char* key) const
{
    if (!isObject())
        return { nullptr, reading_ };
    const auto found = value_->find(key);
    if (found != value_->end())
        return { &*found, reading_ };
    reading_->missing(value_, key);
    return { nullptr, reading_ };
}

JsonPart JsonPart::at(std::size_t place) const
{
    if (place < size())
        return { &(*value_)[place], reading_ };
    if (value_ && value_->is_array())
        reading_->missing(value_, "[" + std::to_string(place) + "]");
    return { nullptr, reading_ };
}

bool JsonPart::has(const char* key) const { return isObject() && value_->contains(key) && !(*value_)[key].is_null(); }

std::size_t JsonPart::size() const
{
    if (value_ && !value_->is_array())
        refuse(sentence("is not a list"));
    return value_ && value_->is_array() ? value_->size() : 0;
}

std::int64_t JsonPart::within(std::int64_t least, std::int64_t most) const
{
    if (!value_)
        return {};
    if (!value_->is_number_integer()) {
        refuse(sentence("is not a whole number"));
        return {};
    }
    const bool tooLarge = value_->is_number_unsigned() && !std::in_range<std::int64_t>(value_->get<std::uint64_t>());
    const auto number = value_->get<std::int64_t>();
    if (!tooLarge && number >= least && number <= most)
        return number;
    refuse(sentence("is %1, which it cannot be", { value_->dump() }));
    return {};
}

std::uint64_t JsonPart::asUnsigned(std::uint64_t most) const
{
    if (!value_ || !value_->is_number_unsigned() || value_->get<std::uint64_t>() > most)
        return static_cast<std::uint64_t>(within(0, 0)); // says what is wrong with it
    return value_->get<std::uint64_t>();
}

void JsonPart::refuse(const std::string& what) const
{
    if (value_)
        reading_->wrong(value_, what);
}

const nlohmann::json& JsonPart::raw() const
{
    static const nlohmann::json kMissing;
    return value_ ? *value_ : kMissing;
}

bool JsonPart::isObject() const
{
    if (value_ && !value_->is_object())
        refuse(sentence("is not a JSON object"));
    return value_ && value_->is_object();
}

bool JsonPart::asBool() const
{
    if (value_ && !value_->is_boolean())
        refuse(sentence("is neither true nor false"));
    return value_ && value_->is_boolean() && value_->get<bool>();
}

std::string JsonPart::asText() const
{
    if (value_ && !value_->is_string())
        refuse(sentence("is not a text"));
    return value_ && value_->is_string() ? value_->get<std::string>() : std::string();
}

double JsonPart::asNumber() const
{
    if (value_ && !value_->is_number())
        refuse(sentence("is not a number"));
    return value_ && value_->is_number() ? value_->get<double>() : 0;
}

JsonReading::JsonReading(std::string_view text)
{
    auto parsed = parseBoundedJson(text, trouble_);
    isJson_ = parsed.has_value();
    if (parsed)
        json_ = std::move(*parsed);
}

void JsonReading::missing(const nlohmann::json* in, const std::string& key)
{
    if (!ok())
        return;
    const std::string way = nameOf(in);
    trouble_ = sentence("it has no key '%1'", { way + (way.empty() || key.starts_with('[') ? "" : ".") + key });
}

void JsonReading::wrong(const nlohmann::json* part, const std::string& what)
{
    if (!ok())
        return;
    const std::string way = nameOf(part);
    trouble_ = way.empty() ? sentence("it is not a JSON object")
                           : sentence("its key '%1' %2", { way, what }); // every file of ours is one
}

std::string JsonReading::nameOf(const nlohmann::json* part) const
{
    constexpr std::size_t kMostBytes = 200;
    std::string way;
    findWay(json_, part, way);
    return plainLine(way, kMostBytes);
}

} // namespace furrow
