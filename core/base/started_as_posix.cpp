#include "core/base/started_as.h"

#include <fstream>

namespace furrow {

std::optional<StartedAs> startedAs(const ProcessIdentity& process)
{
    const std::string facts = "/proc/" + std::to_string(process.pid);
    std::error_code hidden;
    StartedAs started { {}, std::filesystem::read_symlink(facts + "/cwd", hidden) };
    std::ifstream file(facts + "/cmdline", std::ios::binary);
    for (std::string word; std::getline(file, word, '\0');)
        started.words.push_back(word);
    return hidden || !isAlive(process) ? std::nullopt : std::optional(std::move(started));
}

} // namespace furrow
