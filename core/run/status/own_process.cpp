#include "core/run/status/own_process.h"

#include "core/base/log.h"
#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/base/started_as.h"
#include "core/run/status/run_holder.h"

#include <algorithm>

namespace furrow {

namespace {

/// @param started  a program of Furrow's
bool isForFolder(const StartedAs& started, const std::filesystem::path& folder)
{
    return std::any_of(started.words.begin() + 1, started.words.end(), [&](const std::string& word) {
        std::error_code other;
        return std::filesystem::equivalent(started.workingFolder / pathFromUtf8(word), folder, other);
    });
}

} // namespace

bool isOwnProcess(const RunPaths& paths, const ProcessIdentity& process)
{
    if (!isAlive(process))
        return false;
    const auto started = startedAs(process);
    return !started || (isProgramOfFurrow(started->words) && isForFolder(*started, paths.folder()));
}

bool isOfAnotherFolder(const RunPaths& paths, const ProcessIdentity& process)
{
    const auto started = isAlive(process) ? startedAs(process) : std::nullopt;
    return started && isProgramOfFurrow(started->words) && !isForFolder(*started, paths.folder());
}

void killOwnProcess(const RunPaths& paths, const ProcessIdentity& process)
{
    if (isOwnProcess(paths, process))
        killProcessTree(process);
    else if (isAlive(process))
        logWarning(sentence("The tracker of %1 names process %2, which is none of the run; it is left alone.",
            { utf8Text(paths.folder()), std::to_string(process.pid) }));
}

} // namespace furrow
