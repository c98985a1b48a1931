#pragma once

#include <ctime>
#include <string>
#include <string_view>

namespace furrow::chat {

/// Appends what strftime() gives in English, whatever the language of the process.
/// @return the first %x of `format` that is not known, "" when all are
std::string appendMoment(const std::tm& moment, std::string_view format, std::string& out);

} // namespace furrow::chat
