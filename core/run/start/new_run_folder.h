#pragma once

#include "core/run/start/life_cycle.h"

namespace furrow {

inline constexpr int kMostNameCharacters = 200; ///< of a run

/// Where createRun() makes a run of that name and id; of the id only the beginning is used.
std::filesystem::path folderOfNewRun(const NewRun& request, const std::string& name, const std::string& runId);

} // namespace furrow
