// One thread waits for the named stop event and looks at stdin ten times a second; the console's Ctrl+C handler runs
// on a thread of the system.
#include "core/base/check.h"
#include "core/base/process.h"
#include "core/base/stop_asked.h"
#include "core/base/windows_api.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <thread>

namespace furrow {
namespace {

std::atomic<int> timesAsked { 0 };
std::atomic<bool> parentGone { false };

/// Constant between constructor and destructor of the one StopRequest.
struct Events {
    WindowsHandle asked; ///< named; set by requestProcessStop
    WindowsHandle raised; ///< wakes waitFor
    WindowsHandle quit;
    std::jthread watcher;
};

Events& events()
{
    static Events all;
    return all;
}

void raiseFlag()
{
    timesAsked.fetch_add(1);
    ::SetEvent(events().raised.get());
}

BOOL WINAPI onConsoleEvent(DWORD kind)
{
    raiseFlag();
    if (kind == CTRL_CLOSE_EVENT)
        ::Sleep(INFINITE); // returning ends the process; Windows gives it some seconds to end in order
    return TRUE;
}

bool isStdinBroken()
{
    DWORD available = 0;
    return !::PeekNamedPipe(::GetStdHandle(STD_INPUT_HANDLE), nullptr, 0, nullptr, &available, nullptr)
        && ::GetLastError() == ERROR_BROKEN_PIPE;
}

void watch(bool watchParent)
{
    const std::array<HANDLE, 2> waited { events().quit.get(), events().asked.get() };
    for (;;) {
        const DWORD woken = ::WaitForMultipleObjects(2, waited.data(), FALSE, watchParent ? 100 : INFINITE);
        if (woken == WAIT_OBJECT_0)
            return;
        if (woken == WAIT_OBJECT_0 + 1) {
            raiseFlag();
            return;
        }
        if (isStdinBroken()) {
            parentGone.store(true);
            raiseFlag();
            return;
        }
    }
}

} // namespace

StopRequest::StopRequest(bool watchParent, bool /*watchOutput*/)
{
    FURROW_CHECK(!events().raised, "there is one StopRequest in a process");
    timesAsked.store(0);
    parentGone.store(false);
    const ProcessIdentity self = thisProcess();
    events().asked
        = WindowsHandle(::CreateEventW(nullptr, TRUE, FALSE, stopEventName(self.pid, self.startTime).c_str()));
    events().raised = WindowsHandle(::CreateEventW(nullptr, TRUE, FALSE, nullptr));
    events().quit = WindowsHandle(::CreateEventW(nullptr, TRUE, FALSE, nullptr));
    FURROW_CHECK(events().asked && events().raised && events().quit, "no events for stop requests");
    ::SetConsoleCtrlHandler(onConsoleEvent, TRUE);
    events().watcher = std::jthread(watch, watchParent);
}

StopRequest::~StopRequest()
{
    ::SetConsoleCtrlHandler(onConsoleEvent, FALSE);
    ::SetEvent(events().quit.get());
    events().watcher.join();
    events().asked.reset();
    events().raised.reset();
    events().quit.reset();
}

int timesAskedToStop() noexcept { return timesAsked.load(std::memory_order_relaxed); }

bool stopAsked() noexcept { return timesAskedToStop() > 0; }

bool StopRequest::requested() const noexcept { return stopAsked(); }

bool StopRequest::waitFor(std::chrono::milliseconds timeout) const
{
    const auto limit = std::clamp<std::int64_t>(timeout.count(), 0, INFINITE - 1);
    return requested() || ::WaitForSingleObject(events().raised.get(), static_cast<DWORD>(limit)) == WAIT_OBJECT_0;
}

bool StopRequest::parentDied() const noexcept { return parentGone.load(std::memory_order_relaxed); }

} // namespace furrow
