#pragma once

#include <string>
#include <vector>

/// Valid inputs of a fuzz target; each target defines it.
std::vector<std::string> fuzzSeeds();
