#pragma once

#include "core/base/result.h"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace furrow {

/// Goes on as another program: same process, same open files. Returns only the error. Not on Windows, which has no such
/// call.
/// @param words  argv, the name first
/// @param environment  added to ours
Error replaceProcess(const std::filesystem::path& program, const std::vector<std::string>& words,
    const std::map<std::string, std::string>& environment);

} // namespace furrow
