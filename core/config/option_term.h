#pragma once

#include "core/base/message.h"

#include <algorithm>

namespace furrow {

/// A setting as the way out of trouble: as the command line takes it ("--bad-files leave_out") in English; the console
/// says the label of its field. @param value  "": whatever a person wants
inline Term optionTerm(std::string_view key, std::string_view value = {})
{
    std::string option = "--" + std::string(key);
    std::replace(option.begin(), option.end(), '_', '-');
    return { TermSet::Setting, option + (value.empty() ? "" : " " + std::string(value)) };
}

/// The key and the value of such a term, whose option may have one; "" of a term that names a setting alone.
struct OptionParts {
    std::string key;
    std::string value;
};
inline OptionParts optionParts(std::string_view name)
{
    if (!name.starts_with("--"))
        return {};
    const auto end = std::min(name.find(' '), name.size());
    OptionParts parts { std::string(name.substr(2, end - 2)),
        std::string(name.substr(std::min(end + 1, name.size()))) };
    std::replace(parts.key.begin(), parts.key.end(), '-', '_');
    return parts;
}

/// A message advises to change settings: one of its values, or of those within, is an optionTerm().
inline bool advisesOptions(const Message& message)
{
    return std::any_of(message.arguments().begin(), message.arguments().end(), [](const Argument& one) {
        if (const auto* inner = std::get_if<Message>(&one.value))
            return advisesOptions(*inner);
        const auto* term = std::get_if<Term>(&one.value);
        return term != nullptr && !optionParts(term->name).key.empty();
    });
}

} // namespace furrow
