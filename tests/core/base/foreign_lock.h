#pragma once

#include <csignal>
#include <cstdint>
#include <fcntl.h>
#include <filesystem>
#include <sys/wait.h>
#include <unistd.h>

namespace furrow::test {

/// A process of somebody else that locks one byte of a file for reading, which takes no more than the right to read it,
/// or some bytes or the whole file for writing, as soon as nobody else has a lock there.
class ForeignLock {
public:
    ForeignLock(const std::filesystem::path& file, std::int64_t byte)
        : ForeignLock(file, O_RDONLY, { .l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1 })
    {
    }
    explicit ForeignLock(const std::filesystem::path& file)
        : ForeignLock(file, O_RDWR, { .l_type = F_WRLCK, .l_whence = SEEK_SET })
    {
    }
    ForeignLock(const std::filesystem::path& file, std::int64_t first, std::int64_t bytes)
        : ForeignLock(file, O_RDWR, { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = first, .l_len = bytes })
    {
    }
    ForeignLock(const ForeignLock&) = delete;
    ForeignLock& operator=(const ForeignLock&) = delete;
    ~ForeignLock() { end(); }

    std::int64_t pid() const { return child_; } ///< -1: it does not hold the lock

private:
    ForeignLock(const std::filesystem::path& file, int how, struct flock lock)
    {
        int held[2] = {};
        if (::pipe(held) != 0)
            return;
        child_ = ::fork();
        if (child_ == 0) {
            const int handle = ::open(file.c_str(), how);
            constexpr int kTries = 10'000; // half a millisecond each
            int tries = 0;
            while (handle >= 0 && ::fcntl(handle, F_SETLK, &lock) != 0 && ++tries < kTries)
                ::usleep(500);
            if (handle >= 0 && tries < kTries && ::write(held[1], "y", 1) == 1)
                ::pause();
            ::_exit(0);
        }
        ::close(held[1]);
        char told = 0;
        if (::read(held[0], &told, 1) != 1)
            end();
        ::close(held[0]);
    }
    void end()
    {
        if (child_ <= 0)
            return;
        ::kill(child_, SIGKILL);
        ::waitpid(child_, nullptr, 0);
        child_ = -1;
    }

    pid_t child_ = -1;
};

} // namespace furrow::test
