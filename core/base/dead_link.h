#pragma once

#include "core/base/message.h"

#include <filesystem>

namespace furrow {

/// Why nothing can be made at a path: a link on its way, or the path itself, leads to what is not there. Names the
/// first one and what to do; "": there is none.
Message deadLinkOn(const std::filesystem::path& path);

} // namespace furrow
