#pragma once

#include "core/base/message.h"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

namespace furrow {

/// The keys of one object of a config.json. Each is asked for by its name; the first that is wrong, and in the end the
/// first that nobody asked for, is kept as a problem. A key that is null counts as left out.
class ConfigKeys {
public:
    using Json = nlohmann::json;
    /// @param way  in front of the names in messages: "rope_scaling."
    /// @param problem  "" until something is wrong
    ConfigKeys(const Json& json, std::string way, std::string& problem);

    bool has(const char* key);
    std::int64_t whole(const char* key); ///< must be there
    std::int64_t whole(const char* key, std::int64_t otherwise);
    double real(const char* key, double otherwise);
    /// The same where null says that there is none: 0.
    std::int64_t wholeOrNone(const char* key, std::int64_t ifMissing);
    double realOrNone(const char* key, double ifMissing);
    bool flag(const char* key, bool otherwise);
    std::string text(const char* key, const std::string& otherwise);
    std::vector<std::int64_t> numbers(const char* key);
    std::vector<std::string> texts(const char* key);
    /// The object of that name; an empty one where there is none. refuseRest() is its own.
    ConfigKeys object(const char* key);

    void ignore(std::initializer_list<const char*> keys);
    void fail(const std::string& key, const Message& what);
    /// Refuses what was not asked for. What is off, false or null, changes nothing.
    void refuseRest();

private:
    const Json* find(const char* key);

    const Json& json_;
    std::string way_;
    std::string& problem_;
    std::set<std::string> asked_;
};

} // namespace furrow
