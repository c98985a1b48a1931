#pragma once

#include "core/base/result.h"
#include "core/chat/template/value.h"

namespace furrow::chat {

/// How json.dumps() writes.
struct JsonStyle {
    bool ascii = false;
    bool sorted = false;
    std::optional<std::string> indent; ///< of one level
    std::string betweenItems = ", ";
    std::string behindKey = ": ";
};

/// Appends `value` as Python's json writes it; stops growing at `most` bytes.
/// @return what cannot be written as JSON, "" when all can
std::string appendJson(const Value& value, const JsonStyle& style, std::size_t most, std::string& out);

/// Reads JSON: objects keep the order of their keys, and of several equal keys the last one counts, where the first
/// stood. Texts and numbers are as Python reads them (also NaN, Infinity and -Infinity), but whole numbers beyond 64
/// bits, which become the nearest double. Lies in `arena`. An error says what is wrong, as the rest of a sentence: "it
/// is not JSON at byte 17".
Result<Value> readJson(std::string_view text, Arena& arena);

} // namespace furrow::chat
