// Windows keeps only the pid of a parent, which may be reused: a child counts only when it is younger than its parent.
// Handles of the dead are kept open until the end, so that their pids are not given to others meanwhile.
#include "core/base/process_tree.h"

#include "core/base/clock.h"
#include "core/base/process.h"
#include "core/base/windows_api.h"

#include <tlhelp32.h>

#include <map>

namespace furrow {
namespace {

constexpr UINT kKilled = 137; // what kill -9 shows elsewhere

std::int64_t creationTime(HANDLE process)
{
    FILETIME created {}, exited {}, kernel {}, user {};
    return ::GetProcessTimes(process, &created, &exited, &kernel, &user) ? ticksOf(created) : 0;
}

struct Doomed {
    WindowsHandle process;
    std::int64_t startTime = 0;
};

/// Adds the living children of those in `doomed`. True when there were new ones.
bool addChildren(std::map<DWORD, Doomed>& doomed)
{
    const WindowsHandle snapshot(::CreateToolhelp32Snapshot(TH32CS_SNAPPROCESS, 0));
    PROCESSENTRY32W entry {};
    entry.dwSize = sizeof entry;
    bool grew = false;
    for (BOOL more = ::Process32FirstW(snapshot.get(), &entry); more; more = ::Process32NextW(snapshot.get(), &entry)) {
        const auto parent = doomed.find(entry.th32ParentProcessID);
        if (parent == doomed.end() || doomed.contains(entry.th32ProcessID))
            continue;
        WindowsHandle process(::OpenProcess(
            PROCESS_TERMINATE | PROCESS_QUERY_LIMITED_INFORMATION | SYNCHRONIZE, FALSE, entry.th32ProcessID));
        const std::int64_t startTime = process ? creationTime(process.get()) : 0;
        if (startTime >= parent->second.startTime && startTime != 0) {
            doomed[entry.th32ProcessID] = { std::move(process), startTime };
            grew = true;
        }
    }
    return grew;
}

} // namespace

std::int64_t startTimeOf(std::int64_t pid)
{
    const WindowsHandle process(::OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, FALSE, static_cast<DWORD>(pid)));
    return process ? creationTime(process.get()) : 0;
}

bool isStopped(std::int64_t)
{
    return false; // Windows suspends threads, not processes
}

void killTreeOf(std::int64_t pid)
{
    const DWORD self = ::GetCurrentProcessId();
    const auto root = static_cast<DWORD>(pid);
    std::map<DWORD, Doomed> doomed;
    WindowsHandle process(
        ::OpenProcess(PROCESS_TERMINATE | PROCESS_QUERY_LIMITED_INFORMATION | SYNCHRONIZE, FALSE, root));
    if (!process)
        return;
    const std::int64_t startTime = creationTime(process.get());
    doomed[root] = { std::move(process), startTime };
    do {
        for (const auto& [id, one] : doomed) {
            if (id != self)
                ::TerminateProcess(one.process.get(), kKilled);
        }
    } while (addChildren(doomed));
    for (const auto& [id, one] : doomed) {
        if (id != self)
            ::WaitForSingleObject(one.process.get(), 5000); // terminating is asynchronous
    }
    if (root == self)
        ::TerminateProcess(::GetCurrentProcess(), kKilled);
}

ProcessIdentity thisProcess()
{
    return { static_cast<std::int64_t>(::GetCurrentProcessId()), creationTime(::GetCurrentProcess()), processPlace() };
}

const std::string& processPlace() { return bootId(); }

bool isOfThisBoot(const ProcessIdentity& process) { return process.place == processPlace(); }

bool isHidden(const ProcessIdentity&) { return false; }

bool isAlive(const ProcessIdentity& process)
{
    if (process.pid <= 0 || process.place != processPlace())
        return false;
    const WindowsHandle handle(
        ::OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION | SYNCHRONIZE, FALSE, static_cast<DWORD>(process.pid)));
    // A process that ended exists as long as someone has a handle on it.
    return handle && ::WaitForSingleObject(handle.get(), 0) == WAIT_TIMEOUT
        && creationTime(handle.get()) == process.startTime;
}

void killProcessTree(const ProcessIdentity& process)
{
    if (isAlive(process))
        killTreeOf(process.pid);
}

bool mayKill(const ProcessIdentity& process)
{
    return !isAlive(process) || WindowsHandle(::OpenProcess(PROCESS_TERMINATE, FALSE, static_cast<DWORD>(process.pid)));
}

void killProcess(const ProcessIdentity& process)
{
    if (!isAlive(process))
        return;
    const WindowsHandle handle(::OpenProcess(PROCESS_TERMINATE, FALSE, static_cast<DWORD>(process.pid)));
    if (handle)
        ::TerminateProcess(handle.get(), kKilled);
}

bool freezeProcess(const ProcessIdentity&, bool)
{
    return false; // Windows has no documented call for it
}

void requestProcessStop(const ProcessIdentity& process)
{
    if (!isAlive(process))
        return;
    const WindowsHandle event(
        ::OpenEventW(EVENT_MODIFY_STATE, FALSE, stopEventName(process.pid, process.startTime).c_str()));
    if (event)
        ::SetEvent(event.get());
}

} // namespace furrow
