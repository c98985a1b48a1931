#pragma once

#include <string>
#include <string_view>

namespace furrow {

/// A text that may be shown to strangers: values of keys that look like secrets, tokens of known services, addresses with a
/// password, and the folders of paths are replaced; the last part of a path stays, since it names the thing.
std::string redacted(std::string_view text);

} // namespace furrow
