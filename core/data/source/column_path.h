#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace furrow {

/// Where the text of a row lies inside a nested value: "text", "meta.text", "paragraphs[]" (each text of a list),
/// "messages[].content" (a member of each object of a list). Several texts are joined by line breaks. A dot, bracket or
/// backslash that belongs to a name has a backslash before it. A plain value.
class ColumnPath {
public:
    /// One move down: into the member of that name, or (each) into every element of a list.
    struct Move {
        bool each = false;
        std::string name;
        bool operator==(const Move&) const = default;
    };

    ColumnPath() = default;
    explicit ColumnPath(std::vector<Move> moves)
        : moves_(std::move(moves))
    {
    }
    /// Any text is a path: brackets and dots that make no sense belong to names.
    static ColumnPath parse(std::string_view text);
    /// The whole text as the name of one member.
    static ColumnPath ofName(std::string name);

    std::string text() const;
    const std::vector<Move>& moves() const { return moves_; }
    /// Another path, one move deeper.
    ColumnPath member(std::string name) const;
    ColumnPath each() const;

private:
    std::vector<Move> moves_;
};

} // namespace furrow
