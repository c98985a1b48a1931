#pragma once

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <utility>

#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

namespace furrow::test {

/// While it lives, whoever reads one file in this program by pread() gets an answer first, on the thread that reads:
/// the errno that reading fails with, or 0, and it is read. One at a time; nobody reads the file any more when it goes.
/// Replaces a function of the C library, so one source file of a program includes it.
class ReadHook {
public:
    ReadHook(const std::filesystem::path& file, std::function<int()> answer)
        : answer_(std::move(answer))
    {
        isThere_ = ::stat(file.c_str(), &file_) == 0;
        active = this;
    }
    ~ReadHook() { active = nullptr; }
    ReadHook(const ReadHook&) = delete;
    ReadHook& operator=(const ReadHook&) = delete;

    int answerFor(int handle) const
    {
        struct stat facts {};
        const bool isIt
            = isThere_ && ::fstat(handle, &facts) == 0 && facts.st_dev == file_.st_dev && facts.st_ino == file_.st_ino;
        return isIt ? answer_() : 0;
    }

    static inline std::atomic<const ReadHook*> active { nullptr };

private:
    std::function<int()> answer_;
    struct stat file_ {};
    bool isThere_ = false;
};

} // namespace furrow::test

extern "C" {
// By another name: a header of the system may define pread() inline.
ssize_t preadOfThisProgram(int handle, void* into, std::size_t size, off_t offset) __asm__("pread");
ssize_t preadOfThisProgram(int handle, void* into, std::size_t size, off_t offset)
{
    const auto* hook = furrow::test::ReadHook::active.load();
    if (const int failed = hook != nullptr ? hook->answerFor(handle) : 0; failed != 0) {
        errno = failed;
        return -1;
    }
    return static_cast<ssize_t>(::syscall(SYS_pread64, handle, into, size, offset));
}
}
