#include "core/base/environment.h"

#include <string_view>

#include <unistd.h>

extern char** environ;

namespace furrow {

std::vector<EnvironmentVariable> environmentVariables()
{
    std::vector<EnvironmentVariable> all;
    for (char** variable = environ; variable && *variable; ++variable) {
        const std::string_view text = *variable;
        if (const auto equals = text.find('='); equals != std::string_view::npos)
            all.push_back({ std::string(text.substr(0, equals)), std::string(text.substr(equals + 1)) });
    }
    return all;
}

} // namespace furrow
