// The kernel's list of locks, /proc/locks: "2: POSIX  ADVISORY  WRITE 24446 fe:00:10952923 120 120". Systems without it tell nothing.
#include "core/base/byte_locks.h"

#include "core/base/process_tree.h"

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

    /// "fe:00:10952923", as the kernel names a file.
    std::string nameOfFile(const struct stat& facts)
    {
        char text[64];
        std::snprintf(text, sizeof text, "%02x:%02x:%llu", major(facts.st_dev), minor(facts.st_dev), static_cast<unsigned long long>(facts.st_ino));
        return text;
    }

} // namespace

std::vector<ByteLock> byteLocks(const std::filesystem::path& file)
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
        if (words.fail() || kind != "POSIX" || where != wanted) // of those that wait the second word is "->"
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

} // namespace furrow
