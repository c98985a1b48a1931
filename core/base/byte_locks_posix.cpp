// The kernel's list of locks, /proc/locks: "2: POSIX  ADVISORY  WRITE 24446 fe:00:10952923 120 120". Systems without it
// tell nothing.
#include "core/base/byte_locks.h"

#include "core/base/clock.h"
#include "core/base/lock_holder.h"
#include "core/base/owner.h"
#include "core/base/plain_line.h"
#include "core/base/process_tree.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <limits>
#include <sstream>
#include <string_view>
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

/// The program with the command it was given, "furrowctl audit": not what else stands there, which may be private.
std::string commandOf(const FileLockOwner& owner)
{
    constexpr std::size_t kMostBytes = 60;
    const auto& words = owner.commandLine;
    if (words.empty() || words.front().empty())
        return programOf(owner.process.pid);
    const bool isWord = words.size() > 1 && !words[1].empty()
        && std::all_of(
            words[1].begin(), words[1].end(), [](unsigned char letter) { return std::islower(letter) != 0; });
    return plainLine(words.front().substr(words.front().rfind('/') + 1) + (isWord ? " " + words[1] : std::string()),
        kMostBytes); // npos + 1 is 0
}

/// "fe:00:10952923", as the kernel names a file.
std::string nameOfFile(const struct stat& facts)
{
    char text[64];
    std::snprintf(text, sizeof text, "%02x:%02x:%llu", major(facts.st_dev), minor(facts.st_dev),
        static_cast<unsigned long long>(facts.st_ino));
    return text;
}

/// Who has a lock that belongs to an open file and not to a process (F_OFD_SETLK), for which the kernel's list has no
/// process. @param where  the file, as nameOfFile() names it. 0: nobody who can be seen from here
std::int64_t holderOfOpenFileLock(const std::string& where)
{
    std::error_code unreadable;
    for (const auto& process : std::filesystem::directory_iterator("/proc", unreadable)) {
        const std::string pid = process.path().filename();
        if (pid.find_first_not_of("0123456789") != std::string::npos)
            continue;
        for (const auto& open : std::filesystem::directory_iterator(process.path() / "fdinfo", unreadable)) {
            std::ifstream facts(open.path());
            for (std::string line; std::getline(facts, line);)
                if (line.starts_with("lock:") && line.find("OFDLCK") != std::string::npos
                    && line.find(' ' + where + ' ') != std::string::npos)
                    return std::stoll(pid);
        }
    }
    return 0;
}

/// Locks on a file. @param kinds  "POSIX", "OFDLCK": of bytes (fcntl); "FLOCK": of the whole file
std::vector<ByteLock> locksOf(const std::filesystem::path& file, std::initializer_list<std::string_view> kinds)
{
    struct stat facts {};
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
        if (words.fail() || std::ranges::find(kinds, kind) == kinds.end()
            || where != wanted) // of those that wait the second word is "->"
            continue;
        lock.last = std::numeric_limits<std::uint64_t>::max(); // "EOF"
        std::from_chars(last.data(), last.data() + last.size(), lock.last);
        lock.exclusive = access == "WRITE";
        if (kind == "OFDLCK")
            lock.pid = holderOfOpenFileLock(where);
        found.push_back(std::move(lock));
    }
    return found;
}

} // namespace

std::vector<ByteLock> byteLocks(const std::filesystem::path& file)
{
    auto found = locksOf(file, { "POSIX", "OFDLCK" });
    for (auto& lock : found) {
        lock.program = programOf(lock.pid);
        lock.stopped = isStopped(lock.pid);
    }
    return found;
}

ByteLockProbe::ByteLockProbe(const std::filesystem::path& file)
    : handle_(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK))
{
}

bool ByteLockProbe::mayBeLocked(std::uint64_t byte) const
{
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    lock.l_start = static_cast<off_t>(byte);
    lock.l_len = 1;
    return ::fcntl(handle_, F_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

std::optional<FileLockOwner> ownerOfFileLock(const std::filesystem::path& file)
{
    auto locks = locksOf(file, { "FLOCK" });
    std::stable_partition(locks.begin(), locks.end(),
        [](const ByteLock& lock) { return lock.exclusive; }); // a shared one keeps the owner of a FileLock out too
    for (const ByteLock& lock : locks) {
        FileLockOwner owner { { lock.pid, startTimeOf(lock.pid), processPlace() }, commandLineOf(lock.pid) };
        if (isAlive(owner.process)) // else who took it is gone, and left it to a child
            return owner;
    }
    return std::nullopt;
}

std::optional<LockHolder> fileLockHolder(const std::filesystem::path& file)
{
    const auto owner = ownerOfFileLock(file);
    if (!owner)
        return std::nullopt;
    const auto pid = owner->process.pid;
    return LockHolder { pid, commandOf(*owner), isStopped(pid), ownerOfAnother(pid) };
}

} // namespace furrow
