#pragma once

#include <string>
#include <vector>

namespace furrow {

struct EnvironmentVariable {
    std::string name;
    std::string value;
};

/// The environment of this process, in UTF-8. Not while another thread changes it.
std::vector<EnvironmentVariable> environmentVariables();

} // namespace furrow
