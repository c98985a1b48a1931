#include "core/base/started_as.h"

#include "core/base/process_tree.h"

#include <algorithm>

namespace furrow {

std::optional<StartedAs> startedAs(const ProcessIdentity& process)
{
    std::error_code hidden;
    StartedAs started { commandLineOf(process.pid),
        std::filesystem::read_symlink("/proc/" + std::to_string(process.pid) + "/cwd", hidden) };
    return hidden || !isAlive(process) ? std::nullopt : std::optional(std::move(started));
}

std::vector<ProcessIdentity> processesStartedWith(const std::vector<std::string>& words)
{
    std::vector<ProcessIdentity> found;
    for (const std::int64_t pid : allPids()) {
        const auto command = commandLineOf(pid);
        if (command.size() > words.size() && std::equal(words.begin(), words.end(), command.begin() + 1))
            found.push_back({ pid, startTimeOf(pid), processPlace() });
    }
    return found;
}

} // namespace furrow
