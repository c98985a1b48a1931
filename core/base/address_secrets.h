#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace furrow {

/// What in an address opens it for whoever reads it. Internal to core/base/redact.

/// A stretch of a text that must not be shown.
struct SecretPlace {
    std::size_t begin = 0;
    std::size_t end = 0;
};

/// Names and passwords of addresses, also of such as are mistyped ("wss:/u:p@h", "https:u:p@h"), values of parameters
/// that sign one, and, in addresses that begin with http:// or https://, tokens of known services in the path and all
/// parameters and words behind it that are not known to be harmless: what opens an address has any name ("key",
/// "rlkey", "jwt"), so the harmless ones are listed. One behind the other, in linear time.
std::vector<SecretPlace> secretPlacesIn(std::string_view text);

/// @param places  one behind the other
std::string withPlacesHidden(std::string_view text, const std::vector<SecretPlace>& places);

/// Whether a byte belongs to a word: letters, digits, _ - . + and all that is not ASCII.
bool isWordByte(char c);

/// Whether a word begins as the tokens of a known service do.
bool hasTokenHead(std::string_view word);

/// Whether a word has the form of a token of a known service.
bool looksLikeToken(std::string_view word);

} // namespace furrow
