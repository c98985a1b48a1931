// The kernel's list of locks, /proc/locks: "2: POSIX  ADVISORY  WRITE 24446 fe:00:10952923 120 120". Systems without it tell nothing.
#include "core/base/byte_locks.h"

#include "core/base/lock_holder.h"
#include "core/base/plain_line.h"
#include "core/base/process_tree.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <limits>
#include <sstream>
#include <sys/stat.h>
#include <sys/sysmacros.h>

namespace furrow {
namespace {

    std::string programOf(std::int64_t pid)
    {
        std::string name;
        std::getline(std::ifstream("/proc/" + std::to_string(pid) + "/comm"), name);
        return name;
    }

    /// Its program with the command it was given, "furrowctl audit": not what else stands there, which may be private.
    std::string commandOf(std::int64_t pid)
    {
        constexpr std::size_t kMostBytes = 60;
        std::ifstream words("/proc/" + std::to_string(pid) + "/cmdline");
        std::string program, command;
        std::getline(std::getline(words, program, '\0'), command, '\0');
        if (program.empty())
            return programOf(pid);
        const bool isWord = !command.empty() && std::all_of(command.begin(), command.end(), [](unsigned char letter) { return std::islower(letter) != 0; });
        return plainLine(program.substr(program.rfind('/') + 1) + (isWord ? " " + command : std::string()), kMostBytes); // npos + 1 is 0
    }

    /// "fe:00:10952923", as the kernel names a file.
    std::string nameOfFile(const struct stat& facts)
    {
        char text[64];
        std::snprintf(text, sizeof text, "%02x:%02x:%llu", major(facts.st_dev), minor(facts.st_dev), static_cast<unsigned long long>(facts.st_ino));
        return text;
    }

} // namespace

namespace {

/// @param wantedKind  as the kernel calls it: "POSIX" or "FLOCK"
std::vector<ByteLock> locksOf(const std::filesystem::path& file, const std::string& wantedKind)
{
    struct stat facts { };
    if (::stat(file.c_str(), &facts) != 0)
        return {};
    const std::string wanted = nameOfFile(facts);
    std::vector<ByteLock> found;
    std::ifstream list("/proc/locks");
    for (std::string line; std::getline(list, line);) {
        std::istringstream words(line);
        std::string number, kind, advisory, access, where, last;
        ByteLock lock;
        words >> number >> kind >> advisory >> access >> lock.pid >> where >> lock.first >> last;
        if (words.fail() || kind != wantedKind || where != wanted) // of those that wait the second word is "->"
            continue;
        lock.last = std::numeric_limits<std::uint64_t>::max(); // "EOF"
        std::from_chars(last.data(), last.data() + last.size(), lock.last);
        lock.exclusive = access == "WRITE";
        lock.program = programOf(lock.pid);
        lock.stopped = isStopped(lock.pid);
        found.push_back(std::move(lock));
    }
    return found;
}

} // namespace

std::vector<ByteLock> byteLocks(const std::filesystem::path& file)
{
    return locksOf(file, "POSIX");
}

std::optional<LockHolder> fileLockHolder(const std::filesystem::path& file)
{
    const auto locks = locksOf(file, "FLOCK");
    const auto holder = std::find_if(locks.begin(), locks.end(), [](const ByteLock& lock) { return lock.exclusive; });
    if (holder == locks.end())
        return std::nullopt;
    return LockHolder { holder->pid, commandOf(holder->pid), holder->stopped };
}

} // namespace furrow
