#pragma once

#include "core/model/measured_memory.h"

#include <filesystem>
#include <vector>

namespace furrow {

/// What the workers of the newest runs below <workspace>/runs took, for forecastMemory. Some milliseconds; any thread.
std::vector<MeasuredMemory> memoryHistory(const std::filesystem::path& workspace);

} // namespace furrow
