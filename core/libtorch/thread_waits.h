#pragma once

#include "core/base/environment.h"

#include <map>
#include <string>
#include <vector>

namespace furrow {

/// How the threads of libtorch (OpenMP) wait for each other, as variables to be added to the environment of a worker;
/// none where the person said it. A thread that turns on the spot keeps a core from the one that it waits for: with
/// cores taken by others, two threads were more than ten times slower than one. So they turn as long as the work
/// between two steps of an operator takes (0.1 ms), and then sleep. The numbers of a run do not depend on it.
std::map<std::string, std::string> threadWaits(const std::vector<EnvironmentVariable>& environment);

} // namespace furrow
