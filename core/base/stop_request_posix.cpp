// The signal handler sets a flag and writes one byte into a pipe that is never emptied, so every waiter wakes up.
#include "core/base/check.h"
#include "core/base/process.h"
#include "core/base/stop_asked.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <thread>
#include <unistd.h>

namespace furrow {
namespace {

// Process-wide because signal handlers are. Written by handler and watcher thread.
std::atomic<int> timesAsked { 0 };
std::atomic<bool> parentGone { false };
std::atomic<int> wakeWriter { -1 };
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free);

int wakeReader = -1; // constant between constructor and destructor of the one StopRequest
int quitWriter = -1;
constexpr std::array kAsked { SIGTERM, SIGINT, SIGHUP, SIGPIPE };
constexpr std::size_t kWithoutOutput = 2; // of them
std::array<struct sigaction, kAsked.size()> before; // what they did
std::size_t caught = 0; // how many of them
std::jthread& watcher()
{
    static std::jthread thread;
    return thread;
}

void raiseFlag()
{
    timesAsked.fetch_add(1);
    const char byte = 's';
    [[maybe_unused]] const ssize_t written = ::write(wakeWriter.load(), &byte, 1);
}

void onSignal(int)
{
    const int kept = errno;
    raiseFlag();
    errno = kept;
}

void watchStdin(int quitReader)
{
    ::pthread_setname_np(::pthread_self(), "parent-watch");
    pollfd files[] { { STDIN_FILENO, POLLIN, 0 }, { quitReader, POLLIN, 0 } };
    char bytes[256];
    for (;;) {
        if (::poll(files, 2, -1) < 0 && errno != EINTR)
            break;
        if (files[1].revents != 0)
            break;
        if (files[0].revents == 0)
            continue;
        const ssize_t got = ::read(STDIN_FILENO, bytes, sizeof bytes);
        if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN)) {
            parentGone.store(true);
            raiseFlag();
            break;
        }
    }
    ::close(quitReader);
}

} // namespace

StopRequest::StopRequest(bool watchParent, bool watchOutput)
{
    FURROW_CHECK(wakeReader == -1, "there is one StopRequest in a process");
    int wake[2];
    FURROW_CHECK(::pipe2(wake, O_CLOEXEC | O_NONBLOCK) == 0, "no pipe for stop requests");
    timesAsked.store(0);
    parentGone.store(false);
    wakeReader = wake[0];
    wakeWriter.store(wake[1]);
    struct sigaction action {};
    action.sa_handler = onSignal;
    action.sa_flags = SA_RESTART;
    caught = watchOutput ? kAsked.size() : kWithoutOutput;
    for (std::size_t i = 0; i < caught; ++i)
        ::sigaction(kAsked[i], &action, &before[i]);
    if (watchParent) {
        int quit[2];
        FURROW_CHECK(::pipe2(quit, O_CLOEXEC) == 0, "no pipe for the watch on the parent");
        quitWriter = quit[1];
        watcher() = std::jthread(watchStdin, quit[0]);
    }
}

StopRequest::~StopRequest()
{
    if (watcher().joinable()) {
        ::close(quitWriter); // the reader sees end-of-file
        watcher().join();
    }
    for (std::size_t i = 0; i < caught; ++i)
        ::sigaction(kAsked[i], &before[i], nullptr);
    ::close(wakeWriter.exchange(-1));
    ::close(wakeReader);
    wakeReader = -1;
}

int timesAskedToStop() noexcept { return timesAsked.load(std::memory_order_relaxed); }

bool stopAsked() noexcept { return timesAskedToStop() > 0; }

bool StopRequest::requested() const noexcept { return stopAsked(); }

bool StopRequest::waitFor(std::chrono::milliseconds timeout) const
{
    const auto end = std::chrono::steady_clock::now() + timeout;
    while (!requested()) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now()).count();
        if (left <= 0)
            return false;
        pollfd wake { wakeReader, POLLIN, 0 };
        ::poll(&wake, 1, static_cast<int>(std::min<std::int64_t>(left, 60'000)));
    }
    return true;
}

bool StopRequest::parentDied() const noexcept { return parentGone.load(std::memory_order_relaxed); }

} // namespace furrow
