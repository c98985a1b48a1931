#include "core/model/config_keys.h"

#include "core/base/plain_line.h"
#include "core/base/sentence.h"

namespace furrow {

namespace {

constexpr std::int64_t kMostWhole = std::int64_t { 1 } << 40;
const nlohmann::json kNothing = nlohmann::json::object();

} // namespace

ConfigKeys::ConfigKeys(const Json& json, std::string way, std::string& problem)
    : json_(json)
    , way_(std::move(way))
    , problem_(problem)
{
}

const ConfigKeys::Json* ConfigKeys::find(const char* key)
{
    asked_.insert(key);
    const auto found = json_.find(key);
    return found == json_.end() || found->is_null() ? nullptr : &*found;
}

bool ConfigKeys::has(const char* key) { return find(key) != nullptr; }

std::int64_t ConfigKeys::whole(const char* key)
{
    if (!has(key))
        fail(key, sentence("is missing"));
    return whole(key, 0);
}

std::int64_t ConfigKeys::whole(const char* key, std::int64_t otherwise)
{
    const Json* value = find(key);
    if (!value)
        return otherwise;
    const bool fits = value->is_number_integer()
        && (!value->is_number_unsigned() || value->get<std::uint64_t>() <= static_cast<std::uint64_t>(kMostWhole));
    if (!fits || value->get<std::int64_t>() < 0)
        fail(key, sentence("is not a whole number"));
    return fits ? value->get<std::int64_t>() : otherwise;
}

double ConfigKeys::real(const char* key, double otherwise)
{
    const Json* value = find(key);
    if (value && !value->is_number())
        fail(key, sentence("is not a number"));
    return value && value->is_number() ? value->get<double>() : otherwise;
}

std::int64_t ConfigKeys::wholeOrNone(const char* key, std::int64_t ifMissing)
{
    return whole(key, json_.contains(key) ? 0 : ifMissing);
}

double ConfigKeys::realOrNone(const char* key, double ifMissing)
{
    return real(key, json_.contains(key) ? 0 : ifMissing);
}

bool ConfigKeys::flag(const char* key, bool otherwise)
{
    const Json* value = find(key);
    if (value && !value->is_boolean())
        fail(key, sentence("is neither true nor false"));
    return value && value->is_boolean() ? value->get<bool>() : otherwise;
}

std::string ConfigKeys::text(const char* key, const std::string& otherwise)
{
    const Json* value = find(key);
    if (value && !value->is_string())
        fail(key, sentence("is not a text"));
    return value && value->is_string() ? value->get<std::string>() : otherwise;
}

std::vector<std::int64_t> ConfigKeys::numbers(const char* key)
{
    const Json* value = find(key);
    std::vector<std::int64_t> all;
    if (value && !value->is_array())
        fail(key, sentence("is not a list"));
    for (const Json& one : value && value->is_array() ? *value : Json::array()) {
        if (!one.is_number_integer())
            fail(key, sentence("is not a list of whole numbers"));
        else
            all.push_back(one.get<std::int64_t>());
    }
    return all;
}

std::vector<std::string> ConfigKeys::texts(const char* key)
{
    const Json* value = find(key);
    std::vector<std::string> all;
    if (value && !value->is_array())
        fail(key, sentence("is not a list"));
    for (const Json& one : value && value->is_array() ? *value : Json::array()) {
        if (!one.is_string())
            fail(key, sentence("is not a list of texts"));
        else
            all.push_back(one.get<std::string>());
    }
    return all;
}

ConfigKeys ConfigKeys::object(const char* key)
{
    const Json* value = find(key);
    if (value && !value->is_object())
        fail(key, sentence("is not an object"));
    return { value && value->is_object() ? *value : kNothing, way_ + key + ".", problem_ };
}

void ConfigKeys::ignore(std::initializer_list<const char*> keys)
{
    for (const char* key : keys)
        asked_.insert(key);
}

void ConfigKeys::fail(const std::string& key, const Message& what)
{
    if (problem_.empty())
        problem_ = sentence("key %1 %2", { plainLine(way_ + key, 100), what });
}

void ConfigKeys::refuseRest()
{
    for (const auto& [key, value] : json_.items())
        if (!asked_.contains(key) && !value.is_null() && value != false)
            fail(key, sentence("is not known here and might change what the model computes"));
}

} // namespace furrow
