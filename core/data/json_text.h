#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace furrow {

/// Takes the text out of lines of JSON. Not thread-safe.
class JsonText {
public:
    explicit JsonText(std::string column);
    ~JsonText();
    JsonText(JsonText&&) noexcept;

    /// @return nullptr, or why the line has no text
    const char* parse(std::string_view line);
    std::string_view text() const { return text_; } ///< valid until the next parse
    bool repaired() const { return repaired_; } ///< lone surrogates or ill-formed bytes became U+FFFD

private:
    struct Parser;
    std::unique_ptr<Parser> parser_;
    std::string column_;
    std::string_view text_;
    bool repaired_ = false;
};

/// Names of the members of the object in `line`; those with a string value also into `text`. false: no object.
bool jsonMembers(std::string_view line, std::vector<std::string>& all, std::vector<std::string>& text);

} // namespace furrow
