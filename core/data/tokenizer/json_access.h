#pragma once

#include "core/base/result.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace furrow {

using Json = nlohmann::json;

inline Error refused(const Message& why) { return { ErrorCode::InvalidArgument, why }; }

/// The member, or null when it is missing or `object` is none.
inline const Json& member(const Json& object, const char* key)
{
    static const Json kNothing;
    const auto found = object.is_object() ? object.find(key) : object.end();
    return object.is_object() && found != object.end() ? *found : kNothing;
}

inline const std::string* stringOf(const Json& value) { return value.get_ptr<const std::string*>(); }

inline std::string textOr(const Json& object, const char* key, std::string_view otherwise)
{
    const auto* text = stringOf(member(object, key));
    return text != nullptr ? *text : std::string(otherwise);
}

inline bool boolOr(const Json& object, const char* key, bool otherwise)
{
    const auto& value = member(object, key);
    return value.is_boolean() ? value.get<bool>() : otherwise;
}

/// A whole number from 0 to `most`.
inline std::optional<std::uint64_t> numberOf(const Json& value, std::uint64_t most)
{
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > most)
        return {};
    return value.get<std::uint64_t>();
}

inline std::string shown(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

} // namespace furrow
