#pragma once

#include "core/base/result.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace furrow {

/// A process that cannot be mistaken for a later one with the same pid.
struct ProcessIdentity {
    std::int64_t pid = 0;
    std::int64_t startTime = 0; ///< of the kernel, in its own unit: only ever compared for equality
    std::string place; ///< in which the pid means something: processPlace()
    bool operator==(const ProcessIdentity&) const = default;
};

/// Where the pids that this process sees mean something: the id of this boot and, in a PID namespace of its own (a
/// container), which one.
const std::string& processPlace();
ProcessIdentity thisProcess();
/// It lives, and can be seen from here.
bool isAlive(const ProcessIdentity& process);
/// Whether it lives cannot be known from here: it belongs to another PID namespace of this boot (a container), or the
/// system shows this user nothing of it. Its lock or its lease tells.
bool isHidden(const ProcessIdentity& process);
/// It began since the computer did: its monotonic times may be compared with ours.
bool isOfThisBoot(const ProcessIdentity& process);

/// How a process ended. signal 0 means it exited by itself with `exitCode`.
struct ProcessExit {
    int exitCode = 0;
    int signal = 0;
    bool outOfMemory = false; ///< the kernel's out-of-memory killer was at work as it ended
    /// "exit code 1", "SIGKILL (likely the out-of-memory killer)", "SIGKILL, sender unknown", "SIGSEGV".
    Message describe() const;
};

struct ProcessOptions {
    std::vector<std::string> arguments; ///< without the program itself
    std::map<std::string, std::string> environment; ///< added to ours
    std::filesystem::path workingFolder; ///< empty: ours
    std::filesystem::path outputFile; ///< stdout and stderr are appended here; empty: inherited
    bool withSecrets = false; ///< it gets the secrets of our environment too (isSecretVariable): only for what asks the
                              ///< hub, or starts what does
};

/// A child of this process. Its stdin is a pipe that stays empty unless writeInput is called: when this process dies,
/// however abruptly, the child reads end-of-file there and can end in order (see ParentWatch). Destroying the object
/// kills the child's process tree. Move-only, not thread-safe.
class ChildProcess {
public:
    static Result<ChildProcess> start(const std::filesystem::path& program, const ProcessOptions& options);
    ChildProcess(ChildProcess&&) noexcept;
    ChildProcess& operator=(ChildProcess&&) noexcept;
    ~ChildProcess();

    const ProcessIdentity& identity() const;
    /// Writes to its stdin; waits while the pipe is full. An error: it does not read any more.
    Status writeInput(std::string_view bytes);
    /// Its stdin ends.
    void closeInput();
    /// How it ended, or nothing while it runs. Never blocks.
    std::optional<ProcessExit> poll();
    /// Waits at most `timeout`.
    std::optional<ProcessExit> wait(std::chrono::milliseconds timeout);
    /// Asks it to end in order: like requestProcessStop, and a Windows program without a StopRequest sees its stdin
    /// end.
    void requestStop();
    /// Kills it and everything it started (process group / job object).
    void killTree();

private:
    struct State;
    explicit ChildProcess(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

/// Starts a process that outlives this one: own session, no terminal, nothing on stdin. Without an `outputFile` its
/// output is thrown away.
Result<ProcessIdentity> startDetached(const std::filesystem::path& program, const ProcessOptions& options);

/// Kills a process known by identity, with its process group when it leads one. Nothing happens when it is gone.
void killProcessTree(const ProcessIdentity& process);
/// Kills this one process and leaves what it started alone. Nothing happens when it is gone.
void killProcess(const ProcessIdentity& process);
/// Whether this process may kill that one: not where it belongs to another user. True when it is gone.
bool mayKill(const ProcessIdentity& process);
/// Makes a process stand still (SIGSTOP), or go on again. False when it is gone or the system cannot.
bool freezeProcess(const ProcessIdentity& process, bool frozen);
/// Somebody made it stand still: freezeProcess(), Ctrl+Z, a debugger. False where the system does not tell.
bool standsStill(const ProcessIdentity& process);
/// SIGTERM (Windows: a named event that `StopRequest` listens to).
void requestProcessStop(const ProcessIdentity& process);

/// Turns SIGTERM, SIGINT and (when watchParent) end-of-file on stdin into a flag; when watchOutput also the loss of the
/// terminal, or of whoever reads a pipe that is written to (SIGHUP, SIGPIPE; not on Windows). One per process, made in
/// main.
class StopRequest {
public:
    explicit StopRequest(bool watchParent, bool watchOutput = false);
    ~StopRequest();
    /// Lock-free; may be asked in any loop.
    bool requested() const noexcept;
    /// Like requested(), waits at most `timeout` for it.
    bool waitFor(std::chrono::milliseconds timeout) const;
    /// The request came from the parent's death, not from a person.
    bool parentDied() const noexcept;
};

/// What follows the program name, as UTF-8 on every system.
std::vector<std::string> commandLineArguments(int argc, char** argv);

/// A person reads stdout in a terminal.
bool outputIsTerminal();
/// stdin is a pipe, as a parent program gives it; a terminal, a file or nothing is not.
bool inputIsPipe();

/// Absolute path of the running program file.
std::filesystem::path executablePath();

/// "8 cores, 24.0 GiB" style facts of the host.
int cpuCount();
std::uint64_t physicalMemoryBytes();
/// Memory of this process that lies in RAM, now and at most so far. Microseconds; 0 where the system does not say.
struct ProcessMemory {
    std::int64_t residentBytes = 0;
    std::int64_t peakBytes = 0;
};
ProcessMemory processMemory();

} // namespace furrow
