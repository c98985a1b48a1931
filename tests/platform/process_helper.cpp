// A program that the tests of core/base start, watch and kill. process_helper ROLE [FILE]
// Roles tell their news by writing FILE, which appears whole or not at all.
#include "core/base/file_lock.h"
#include "core/base/file_system.h"
#include "core/base/path.h"
#include "core/base/process.h"

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <map>
#include <thread>

using namespace furrow;

namespace {

[[noreturn]] void sleepForEver()
{
    for (;;)
        std::this_thread::sleep_for(std::chrono::hours(1));
}

bool tell(const std::string& file, const std::string& news)
{
    return writeFileDurably(realFileSystem(), pathFromUtf8(file), news).ok();
}

std::string textOf(const ProcessIdentity& identity)
{
    return std::to_string(identity.pid) + " " + std::to_string(identity.startTime);
}

int holdLock(const std::string& file)
{
    const auto lock = FileLock::tryLock(pathFromUtf8(file));
    if (!lock.ok() || !tell(file + ".held", "held"))
        return 1;
    sleepForEver();
}

/// Holds a lock, starts a child that must not inherit it, and is then killed by the test.
int holdLockWithChild(const std::string& file)
{
    const auto lock = FileLock::tryLock(pathFromUtf8(file));
    auto child = startDetached(executablePath(), { { "sleep" }, {}, {}, {} });
    if (!lock.ok() || !child.ok() || !tell(file + ".held", textOf(child.value())))
        return 1;
    sleepForEver();
}

int startGrandchild(const std::string& file)
{
    auto child = ChildProcess::start(executablePath(), { { "sleep" }, {}, {}, {} });
    if (!child.ok() || !tell(file, textOf(child.value().identity())))
        return 1;
    sleepForEver();
}

int startWatcher(const std::string& file)
{
    auto child = ChildProcess::start(executablePath(), { { "watch-parent", file }, {}, {}, {} });
    if (!child.ok())
        return 1;
    sleepForEver();
}

/// Ends without any destructor once the child is ready, as a killed process does.
int startWatcherAndDie(const std::string& file)
{
    auto child = ChildProcess::start(executablePath(), { { "watch-parent", file }, {}, {}, {} });
    while (child.ok() && !std::filesystem::exists(pathFromUtf8(file + ".ready")))
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    std::_Exit(9);
}

int watchParent(const std::string& file)
{
    const StopRequest stop(true);
    if (!tell(file + ".ready", "ready"))
        return 1;
    const bool stopped = stop.waitFor(std::chrono::seconds(60));
    return stopped && tell(file, stop.parentDied() ? "parent died" : "asked to stop") ? 0 : 1;
}

int waitForStop(const std::string& file)
{
    const StopRequest stop(false);
    if (!tell(file + ".ready", "ready"))
        return 1;
    const bool stopped = stop.waitFor(std::chrono::seconds(60));
    return stopped && tell(file, stop.parentDied() ? "parent died" : "asked to stop") ? 0 : 1;
}

int tellSurroundings(const std::string& file)
{
    const char* variable = std::getenv("FURROW_TEST_VARIABLE");
    const bool atEnd = std::cin.peek() == std::char_traits<char>::eof();
    const ProcessIdentity self = thisProcess();
    return tell(file,
               utf8Text(std::filesystem::current_path()) + "\n" + (variable ? variable : "unset") + "\n"
                   + (atEnd ? "stdin at end" : "stdin has data") + "\n" + textOf(self) + "\n")
        ? 0
        : 1;
}

/// Appends numbered lines to FILE with a sync each, until it is killed.
int appendForEver(const std::string& file)
{
    auto out = realFileSystem().create(pathFromUtf8(file));
    for (int line = 0; out.ok(); ++line) {
        const std::string text = std::to_string(line) + "\n";
        if (!out.value()->append(text.data(), text.size()).ok() || !out.value()->sync().ok())
            break;
        if (line == 20 && !tell(file + ".ready", "ready"))
            break;
    }
    return 1;
}

int printBoth(const std::string& text)
{
    std::printf("out %s\n", text.c_str());
    std::fprintf(stderr, "err %s\n", text.c_str());
    return 0;
}

} // namespace

int main(int argc, char** argv)
{
    const std::vector<std::string> words = commandLineArguments(argc, argv);
    const std::string role = words.empty() ? "" : words[0];
    const std::string rest = words.size() < 2 ? "" : words[1];
    if (role == "sleep")
        sleepForEver();
    if (role == "exit")
        return std::atoi(rest.c_str());
    if (role == "abort")
        std::abort();
    const std::map<std::string, int (*)(const std::string&)> roles { { "hold-lock", holdLock },
        { "hold-lock-with-child", holdLockWithChild }, { "start-grandchild", startGrandchild },
        { "start-watcher", startWatcher }, { "start-watcher-and-die", startWatcherAndDie },
        { "watch-parent", watchParent }, { "wait-stop", waitForStop }, { "surroundings", tellSurroundings },
        { "append", appendForEver }, { "print", printBoth } };
    const auto found = roles.find(role);
    if (found == roles.end()) {
        std::fprintf(stderr, "process_helper: no role '%s'\n", role.c_str());
        return 2;
    }
    return found->second(rest);
}
