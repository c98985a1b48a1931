#pragma once

#include "core/base/result.h"

#include <filesystem>

namespace furrow {

/// Makes what was written to a file durable, whoever wrote it.
Status syncFile(const std::filesystem::path& path);

} // namespace furrow
