#pragma once

#include "core/base/result.h"

#include <filesystem>
#include <string_view>

namespace furrow {

/// A file or folder that ships with Furrow: <folder of the program>/../share/furrow/<relative>. The build tree and
/// an installation have the same layout.
/// @param relative  UTF-8 with '/', below that folder, e.g. "tokenizers/gpt2/vocab.json"
Result<std::filesystem::path> resourcePath(std::string_view relative);

} // namespace furrow
