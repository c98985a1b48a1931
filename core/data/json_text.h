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
    std::string_view text() const; ///< valid until the next parse
    bool repaired() const { return repaired_; } ///< lone surrogates or ill-formed bytes became U+FFFD

private:
    class Handler;
    std::unique_ptr<Handler> handler_;
    bool repaired_ = false;
};

/// Names of the members of the object in `line`; those with a string value also into `text`. false: no object.
bool jsonMembers(std::string_view line, std::vector<std::string>& all, std::vector<std::string>& text);

} // namespace furrow
