#pragma once

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>

namespace furrow {

class JsonReading;

/// A part of a JSON text that may hold anything, read as what it should be. It never throws: what is missing or of
/// another type reads as an empty value, and the first such thing is kept by its JsonReading in words. Lives as long as
/// that.
class JsonPart {
public:
    /// A part that must be there.
    JsonPart operator[](const char* key) const;
    JsonPart at(std::size_t place) const;
    /// Whether there is a part with this key that is not null; for what may be left out.
    bool has(const char* key) const;
    /// How many parts a list has; 0 and trouble where it is none.
    std::size_t size() const;

    /// As bool, std::string, double, any integer that the number fits into, or a vector of those.
    template <typename T> T as() const;
    /// The same, into what is there.
    template <typename T> void to(T& into) const { into = as<T>(); }
    /// The same of a part that may be left out.
    template <typename T> T valueOr(const char* key, T otherwise) const
    {
        return has(key) ? (*this)[key].as<T>() : otherwise;
    }

    /// As a whole number of these bounds.
    std::int64_t within(std::int64_t least, std::int64_t most) const;

    /// Each part of a list, in its order.
    template <typename Act> void each(const Act& act) const
    {
        for (std::size_t i = 0, count = size(); i < count; ++i)
            act(at(i));
    }
    /// Each key of an object with its part.
    template <typename Act> void eachKey(const Act& act) const;

    /// Says that this part is not what it should be: `what` goes on from its name: "is no compression".
    void refuse(const std::string& what) const;
    /// The part itself, for what is read elsewhere; null where it is missing.
    const nlohmann::json& raw() const;

private:
    friend class JsonReading;
    JsonPart(const nlohmann::json* value, JsonReading* reading)
        : value_(value)
        , reading_(reading)
    {
    }
    bool isObject() const;
    bool asBool() const;
    std::string asText() const;
    double asNumber() const;
    std::uint64_t asUnsigned(std::uint64_t most) const;

    const nlohmann::json* value_; // null: missing, which has been said
    JsonReading* reading_;
};

/// A JSON text from anywhere, parsed within bounds (parseBoundedJson) and read part by part. When all is read,
/// trouble() says what was wrong with it.
class JsonReading {
public:
    explicit JsonReading(std::string_view text);
    JsonReading(const JsonReading&) = delete;
    JsonReading& operator=(const JsonReading&) = delete;

    JsonPart root() { return { isJson_ ? &json_ : nullptr, this }; }
    bool ok() const { return trouble_.empty(); }
    /// The first thing that is wrong, as the rest of a sentence without a full stop: "its key 'files[3].size' is not a
    /// whole number"; "" when nothing is.
    const std::string& trouble() const { return trouble_; }

private:
    friend class JsonPart;
    void missing(const nlohmann::json* in, const std::string& key);
    void wrong(const nlohmann::json* part, const std::string& what);
    std::string nameOf(const nlohmann::json* part) const;

    nlohmann::json json_;
    bool isJson_ = false;
    std::string trouble_;
};

template <typename T> T JsonPart::as() const
{
    if constexpr (std::is_same_v<T, bool>) {
        return asBool();
    } else if constexpr (std::is_same_v<T, std::string>) {
        return asText();
    } else if constexpr (std::is_floating_point_v<T>) {
        return static_cast<T>(asNumber());
    } else if constexpr (std::is_unsigned_v<T>) {
        return static_cast<T>(asUnsigned(std::numeric_limits<T>::max()));
    } else if constexpr (std::is_integral_v<T>) {
        return static_cast<T>(within(std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
    } else {
        T all;
        each([&all](const JsonPart& part) { all.push_back(part.as<typename T::value_type>()); });
        return all;
    }
}

template <typename Act> void JsonPart::eachKey(const Act& act) const
{
    if (!isObject())
        return;
    for (const auto& [key, value] : value_->items())
        act(key, JsonPart(&value, reading_));
}

} // namespace furrow
