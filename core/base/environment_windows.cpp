#include "core/base/environment.h"

#include "core/base/path.h"
#include "core/base/windows_api.h"

namespace furrow {

std::vector<EnvironmentVariable> environmentVariables()
{
    std::vector<EnvironmentVariable> all;
    wchar_t* ours = ::GetEnvironmentStringsW();
    for (const wchar_t* at = ours; at && *at != 0;) {
        const std::wstring line = at;
        if (const auto equals = line.find(L'=', 1); equals != std::wstring::npos) // "=C:=C:\x" is a variable too
            all.push_back({ utf8Text(line.substr(0, equals)), utf8Text(line.substr(equals + 1)) });
        at += line.size() + 1;
    }
    ::FreeEnvironmentStringsW(ours);
    return all;
}

} // namespace furrow
