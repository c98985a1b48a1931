#pragma once

#include "core/data/source/column_path.h"
#include "core/data/source/json_events.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace furrow {

/// Takes the text out of lines of JSON. Not thread-safe.
class JsonText {
public:
    /// @param grammar  also says which of several members of one name counts: Python takes the last, Standard the first
    explicit JsonText(const ColumnPath& path, JsonGrammar grammar = JsonGrammar::Python);
    ~JsonText();
    JsonText(JsonText&&) noexcept;

    /// @return nullptr, or why the line has no text
    const char* parse(std::string_view line);
    std::string_view text() const; ///< valid until the next parse
    bool repaired() const { return repaired_; } ///< lone surrogates or ill-formed bytes became U+FFFD

private:
    class Handler;
    std::unique_ptr<Handler> handler_;
    bool repaired_ = false;
};

/// What a line is read as that is JSON but for bytes and escapes that are not characters.
std::string mendedJson(std::string_view line);

bool isJsonObject(std::string_view text);

/// Adds the names of the members of the object in `line` to `all`, and the paths (ColumnPath) of its texts, nested ones
/// too, to `text`. A line that is none adds nothing.
void jsonMembers(std::string_view line, std::vector<std::string>& all, std::vector<std::string>& text);

} // namespace furrow
