#pragma once

#include "core/data/source/byte_source.h"

#include <span>
#include <string>
#include <string_view>

namespace furrow {

// Encodings are named as ICU names them ("windows-1252", "UTF-16LE", "Shift_JIS"); "" is UTF-8, which nothing converts.

/// What the bytes of a text file look like.
struct EncodingGuess {
    std::string encoding; ///< "" for UTF-8, and where nothing is likely enough
    bool damaged = false; ///< taken as UTF-8, though some bytes are none
    std::string other {}; ///< another encoding that is nearly as likely and gives other letters; "": none
    std::string word {}; ///< of the text, in `encoding`, as UTF-8 ...
    std::string otherWord {}; ///< ... and the same bytes in `other`
};
/// @param samples  the beginning of the file, and stretches from elsewhere in it
EncodingGuess guessEncoding(std::span<const std::string> samples);

/// Of text that was taken as UTF-8 and has bytes that are none: the encoding of the stretches with such bytes, among
/// the first 64 MiB; "" where none is likely.
Result<std::string> encodingOfBroken(ByteStream& text);

/// The encoding of that name; InvalidArgument when ICU knows none.
Result<std::string> encodingNamed(const std::string& name);

/// The name that people know; encodingNamed() knows it too.
std::string encodingInWords(const std::string& encoding);

/// Code units of two or four bytes: the bytes themselves are no text.
bool isWideEncoding(std::string_view encoding);

/// Converts to UTF-8 while reading; what stands for no character becomes U+FFFD. A byte order mark stays.
/// @param encoding  as encodingNamed gives it, not ""
std::unique_ptr<ByteStream> decodedStream(std::unique_ptr<ByteStream> stream, const std::string& encoding);
/// The same of a text in memory; as it stands where ICU cannot convert it.
std::string decodedText(std::string_view bytes, const std::string& encoding);

} // namespace furrow
