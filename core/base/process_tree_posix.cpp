// Who is alive, and killing a process with everything it started. A tree may hold several process groups (a worker
// leads its own), so descendants are found through /proc; each is stopped first so that it cannot start more.
#include "core/base/clock.h"
#include "core/base/process.h"
#include "core/base/process_tree.h"

#include <cerrno>
#include <charconv>
#include <csignal>
#include <fstream>
#include <set>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>
#include <unordered_map>

namespace furrow {
namespace {

constexpr char kNamespaceMark = '/';

struct ProcessFacts {
    char state = 0; ///< 0: there is no such process
    std::int64_t parent = 0;
    std::int64_t startTime = 0; ///< clock ticks since boot
};

ProcessFacts factsOf(std::int64_t pid)
{
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    std::string line;
    if (!std::getline(file, line))
        return {};
    const std::size_t nameEnd = line.rfind(')'); // the name may hold blanks and brackets
    if (nameEnd == std::string::npos)
        return {};
    std::istringstream words(line.substr(nameEnd + 1));
    ProcessFacts facts;
    std::string skipped;
    words >> facts.state >> facts.parent; // fields 3 and 4 of proc(5)
    for (int field = 5; field < 22; ++field)
        words >> skipped;
    words >> facts.startTime;
    return facts;
}

/// `root` and everything below it, as the system sees it now.
std::set<std::int64_t> descendants(std::int64_t root)
{
    std::unordered_map<std::int64_t, std::int64_t> parents;
    for (const std::int64_t pid : allPids())
        parents[pid] = factsOf(pid).parent;
    std::set<std::int64_t> found { root };
    for (bool grew = true; grew;) {
        grew = false;
        for (const auto& [pid, parent] : parents) {
            if (found.contains(parent) && found.insert(pid).second)
                grew = true;
        }
    }
    return found;
}

} // namespace

std::vector<std::int64_t> allPids()
{
    std::vector<std::int64_t> pids;
    std::error_code error;
    for (std::filesystem::directory_iterator entry("/proc", error), end; !error && entry != end;
        entry.increment(error)) {
        const std::string name = entry->path().filename();
        std::int64_t pid = 0;
        const auto parsed = std::from_chars(name.data(), name.data() + name.size(), pid);
        if (parsed.ec == std::errc() && parsed.ptr == name.data() + name.size())
            pids.push_back(pid);
    }
    return pids;
}

std::int64_t startTimeOf(std::int64_t pid) { return factsOf(pid).startTime; }

bool isStopped(std::int64_t pid)
{
    const char state = factsOf(pid).state;
    return state == 'T' || state == 't';
}

std::vector<std::string> commandLineOf(std::int64_t pid)
{
    std::vector<std::string> words;
    std::ifstream file("/proc/" + std::to_string(pid) + "/cmdline", std::ios::binary);
    for (std::string word; std::getline(file, word, '\0');)
        words.push_back(word);
    return words;
}

void killTreeOf(std::int64_t pid)
{
    const std::int64_t self = ::getpid();
    std::set<std::int64_t> doomed;
    // Each round stops what it finds; a round that finds nothing new has them all.
    for (int round = 0; round < 20; ++round) {
        const std::size_t before = doomed.size();
        for (const std::int64_t one : descendants(pid)) {
            if (doomed.insert(one).second && one != self)
                ::kill(static_cast<pid_t>(one), SIGSTOP);
        }
        if (doomed.size() == before)
            break;
    }
    const pid_t ownGroup = ::getpgrp();
    for (const std::int64_t one : doomed) {
        // The group of a leader also holds children of children that died; ours is never meant.
        if (one != ownGroup && ::getpgid(static_cast<pid_t>(one)) == one)
            ::kill(static_cast<pid_t>(-one), SIGKILL);
        if (one != self)
            ::kill(static_cast<pid_t>(one), SIGKILL);
    }
    if (doomed.contains(self))
        ::kill(static_cast<pid_t>(self), SIGKILL);
}

ProcessIdentity thisProcess()
{
    const std::int64_t pid = ::getpid();
    return { pid, startTimeOf(pid), processPlace() };
}

const std::string& processPlace()
{
    static const std::string place = [] {
        struct stat facts {};
        constexpr ino_t kFirstNamespace = 0xEFFFFFFC; // PROC_PID_INIT_INO of the kernel, the same on every computer
        return ::stat("/proc/self/ns/pid", &facts) != 0 || facts.st_ino == kFirstNamespace
            ? bootId()
            : bootId() + kNamespaceMark + std::to_string(facts.st_ino);
    }();
    return place;
}

bool isOfThisBoot(const ProcessIdentity& process)
{
    return process.place.substr(0, process.place.find(kNamespaceMark)) == bootId();
}

bool isAlive(const ProcessIdentity& process)
{
    if (process.pid <= 0 || process.place != processPlace())
        return false;
    const ProcessFacts facts = factsOf(process.pid);
    // A zombie is dead: only its parent has not looked yet.
    return facts.state != 0 && facts.state != 'Z' && facts.state != 'X' && facts.startTime == process.startTime;
}

bool isHidden(const ProcessIdentity& process)
{
    if (process.pid <= 0 || !isOfThisBoot(process))
        return false;
    if (process.place != processPlace())
        return true;
    // A /proc that shows each user only their own (hidepid).
    return factsOf(process.pid).state == 0 && ::kill(static_cast<pid_t>(process.pid), 0) != 0 && errno == EPERM;
}

void killProcessTree(const ProcessIdentity& process)
{
    if (isAlive(process))
        killTreeOf(process.pid);
}

void killProcess(const ProcessIdentity& process)
{
    if (isAlive(process))
        ::kill(static_cast<pid_t>(process.pid), SIGKILL);
}

bool mayKill(const ProcessIdentity& process)
{
    return !isAlive(process) || ::kill(static_cast<pid_t>(process.pid), 0) == 0 || errno != EPERM;
}

bool freezeProcess(const ProcessIdentity& process, bool frozen)
{
    return isAlive(process) && ::kill(static_cast<pid_t>(process.pid), frozen ? SIGSTOP : SIGCONT) == 0;
}

void requestProcessStop(const ProcessIdentity& process)
{
    if (isAlive(process))
        ::kill(static_cast<pid_t>(process.pid), SIGTERM);
}

} // namespace furrow
