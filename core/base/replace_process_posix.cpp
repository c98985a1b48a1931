#include "core/base/replace_process.h"

#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/base/system_error.h"

#include <cerrno>
#include <cstdlib>
#include <unistd.h>

namespace furrow {

Error replaceProcess(const std::filesystem::path& program, const std::vector<std::string>& words,
    const std::map<std::string, std::string>& environment)
{
    for (const auto& [name, value] : environment)
        ::setenv(name.c_str(), value.c_str(), 1);
    std::vector<char*> arguments;
    for (const auto& word : words)
        arguments.push_back(const_cast<char*>(word.c_str())); // execv only reads them
    arguments.push_back(nullptr);
    ::execv(program.c_str(), arguments.data());
    return systemError(sentence("cannot start %1", { utf8Text(program) }), errno);
}

} // namespace furrow
