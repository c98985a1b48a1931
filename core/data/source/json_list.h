#pragma once

#include "core/data/source/byte_source.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace furrow {

/// Follows the brackets and strings of JSON that comes in pieces, without looking at anything else. A plain value.
class JsonNesting {
public:
    /// @param depth  brackets that are open already
    explicit JsonNesting(std::uint64_t depth = 0)
        : depth_(depth)
    {
    }
    /// The next byte. true: it stands outside of any string.
    bool look(char c)
    {
        if (inString_) {
            inString_ = escaped_ || c != '"';
            escaped_ = !escaped_ && c == '\\';
            return false;
        }
        inString_ = c == '"';
        depth_ += c == '[' || c == '{' ? 1 : (c == ']' || c == '}') && depth_ > 0 ? -1 : 0;
        return !inString_;
    }
    std::uint64_t depth() const { return depth_; } ///< open brackets
    bool inString() const { return inString_; }

private:
    std::uint64_t depth_;
    bool inString_ = false;
    bool escaped_ = false;
};

/// Finds where an element of a list ends. The element may come in pieces: keeps its state between calls. A plain value.
class JsonElementEnd {
public:
    static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
    /// Looks at bytes behind those of the calls before. @return the size up to and with the comma behind the element,
    /// or up to the bracket that closes the list and without it, or kNone
    std::size_t find(const char* data, std::size_t size)
    {
        for (std::size_t i = 0; i < size; ++i) {
            if (data[i] == ']' && nesting_.depth() == 0 && !nesting_.inString())
                return i;
            if (nesting_.look(data[i]) && nesting_.depth() == 0 && data[i] == ',')
                return i + 1;
        }
        return kNone;
    }

private:
    JsonNesting nesting_;
};

/// Of what stands before or behind the list at most so much is read as JSON; of more only the brackets are followed.
inline constexpr std::size_t kMostAroundJsonList = 16 << 20;

/// The offset of the byte behind the opening bracket of the list inside a JSON document: the first list that the names
/// lead to. One of the same names behind it is for readBehindJsonList to find.
/// @param stream  from the beginning of the document
/// @param members  names that lead to the list from the outermost object; empty: the document is the list
/// @param name  for messages
Result<std::uint64_t> findJsonList(
    ByteStream& stream, const std::vector<std::string>& members, const std::string& name);

/// What the rest of a document is.
enum class BehindJsonList {
    Whole,
    Broken, ///< no JSON
    NamesItAgain, ///< has a member of a name that led to the list, in the same object: programs that take the last of
                  ///< equal members read another list
};
/// @param rest  from behind the bracket that closes the list to the end of the document
/// @param members  as for findJsonList
BehindJsonList readBehindJsonList(std::string_view rest, const std::vector<std::string>& members);

} // namespace furrow
