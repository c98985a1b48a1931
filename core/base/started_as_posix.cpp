#include "core/base/started_as.h"

#include "core/base/process_tree.h"

namespace furrow {

std::optional<StartedAs> startedAs(const ProcessIdentity& process)
{
    std::error_code hidden;
    StartedAs started { commandLineOf(process.pid),
        std::filesystem::read_symlink("/proc/" + std::to_string(process.pid) + "/cwd", hidden) };
    return hidden || !isAlive(process) ? std::nullopt : std::optional(std::move(started));
}

} // namespace furrow
