#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace furrow {

/// How far a record of WARC goes.
struct WarcHead {
    std::uint64_t sizeBytes = 0; ///< with the blank lines before it, to the end of its content
    bool broken = false; ///< it begins as none
};
/// @param bytes  from the begin of a record, or of the blank lines before it
/// @return nothing when its head is not there yet
std::optional<WarcHead> warcHead(std::string_view bytes);

/// The text of a record.
struct WarcText {
    std::string_view text; ///< inside the record
    const char* problem = nullptr; ///< not null: why it cannot be read
    std::string_view type = {}; ///< its Content-Type, inside the record
    bool isInChunks = false; ///< as its server sent it; the problem says that it is packed
};
/// Of conversion and resource records of type text/plain (WET), and of responses that a server gave with 200 as
/// text/plain.
/// @return nothing for other records: they are no rows
std::optional<WarcText> warcText(std::string_view record);

/// The text as UTF-8: its chunks joined, and decoded from the charset of its type, or where that names none from the
/// encoding that its bytes look to be in.
/// @param room  holds it where it is not inside the record
WarcText readableText(const WarcText& found, std::string& room);

} // namespace furrow
