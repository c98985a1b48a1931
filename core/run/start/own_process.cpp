#include "core/run/start/own_process.h"

#include "core/base/log.h"
#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/base/started_as.h"
#include "core/run/status/run_holder.h"

#include <algorithm>

namespace furrow {

bool isOwnProcess(const RunPaths& paths, const ProcessIdentity& process)
{
    if (!isAlive(process))
        return false;
    const auto started = startedAs(process);
    if (!started)
        return true;
    const auto isRunFolder = [&](const std::string& word) {
        std::error_code other;
        return std::filesystem::equivalent(started->workingFolder / pathFromUtf8(word), paths.folder(), other);
    };
    const auto& words = started->words;
    return isProgramOfFurrow(words) && std::any_of(words.begin() + 1, words.end(), isRunFolder);
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
