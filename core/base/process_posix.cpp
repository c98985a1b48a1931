// Children are started by posix_spawn (safe with threads, cheap with a large process), detached processes by a double
// fork. A child that ended stays a zombie until its ChildProcess goes: so its pid, and the number of its process
// group, cannot be given to a stranger while we may still kill it.
#include "core/base/clock.h"
#include "core/base/host.h"
#include "core/base/killer_watch.h"
#include "core/base/path.h"
#include "core/base/process.h"
#include "core/base/process_tree.h"
#include "core/base/redact.h"
#include "core/base/regular_file.h"
#include "core/base/sentence.h"
#include "core/base/system_error.h"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>

extern char** environ;

namespace furrow {
namespace {

/// A file descriptor that closes itself.
class Descriptor {
public:
    explicit Descriptor(int number = -1)
        : number_(number)
    {
    }
    Descriptor(Descriptor&& other) noexcept
        : number_(std::exchange(other.number_, -1))
    {
    }
    Descriptor& operator=(Descriptor&& other) noexcept
    {
        std::swap(number_, other.number_);
        return *this;
    }
    ~Descriptor() { reset(); }
    void reset()
    {
        if (number_ >= 0)
            ::close(std::exchange(number_, -1));
    }
    int number() const { return number_; }

private:
    int number_;
};

struct Pipe {
    Descriptor reader;
    Descriptor writer;
};

Result<Pipe> makePipe()
{
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0)
        return systemError(sentence("cannot make a pipe"), errno);
    return Pipe { Descriptor(ends[0]), Descriptor(ends[1]) };
}

/// Everything exec needs, made before the fork because nothing may be allocated after it.
struct Launch {
    std::vector<std::string> words;
    std::vector<std::string> variables;
    std::vector<char*> argv;
    std::vector<char*> envp;
    std::string program;
    std::string folder; ///< empty: ours
    Descriptor output; ///< -1: inherited

    Launch() = default;
    Launch(Launch&&) = default; // vectors keep their buffers, so argv and envp stay right
    Launch& operator=(Launch&&) = default;
};

std::vector<char*> pointersTo(std::vector<std::string>& texts)
{
    std::vector<char*> pointers;
    for (std::string& text : texts)
        pointers.push_back(text.data());
    pointers.push_back(nullptr);
    return pointers;
}

Result<Launch> prepare(const std::filesystem::path& program, const ProcessOptions& options)
{
    Launch launch;
    launch.program = program.native();
    if (::access(launch.program.c_str(), X_OK) != 0)
        return systemError(sentence("cannot start %1", { utf8Text(program) }), errno);
    launch.folder = options.workingFolder.native();
    if (std::error_code error; !launch.folder.empty() && !std::filesystem::is_directory(launch.folder, error))
        return systemError(
            sentence("cannot start %1 in %2", { utf8Text(program), utf8Text(options.workingFolder) }), ENOENT);
    if (!options.outputFile.empty()) {
        FURROW_TRY_ASSIGN(auto file, RegularFile::open(options.outputFile, RegularFile::At::End));
        launch.output = Descriptor(static_cast<int>(file.release()));
    }
    launch.words = { launch.program };
    launch.words.insert(launch.words.end(), options.arguments.begin(), options.arguments.end());
    for (char** variable = environ; *variable; ++variable) {
        const std::string_view text = *variable;
        const auto name = text.substr(0, text.find('='));
        const auto value = text.substr(std::min(name.size() + 1, text.size()));
        if (!options.environment.contains(std::string(name)) && (options.withSecrets || !isSecretVariable(name, value)))
            launch.variables.emplace_back(text);
    }
    for (const auto& [name, value] : options.environment)
        launch.variables.push_back(name + "=" + value);
    launch.argv = pointersTo(launch.words);
    launch.envp = pointersTo(launch.variables);
    return launch;
}

/// Attributes and file actions of posix_spawn, freed together.
struct SpawnPlan {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;

    SpawnPlan()
    {
        posix_spawn_file_actions_init(&actions);
        posix_spawnattr_init(&attributes);
    }
    SpawnPlan(const SpawnPlan&) = delete;
    SpawnPlan& operator=(const SpawnPlan&) = delete;
    ~SpawnPlan()
    {
        posix_spawnattr_destroy(&attributes);
        posix_spawn_file_actions_destroy(&actions);
    }
};

void planChild(SpawnPlan& plan, const Launch& launch, int stdinReader)
{
    posix_spawn_file_actions_adddup2(&plan.actions, stdinReader, STDIN_FILENO);
    if (launch.output.number() >= 0) {
        posix_spawn_file_actions_adddup2(&plan.actions, launch.output.number(), STDOUT_FILENO);
        posix_spawn_file_actions_adddup2(&plan.actions, launch.output.number(), STDERR_FILENO);
    }
    if (!launch.folder.empty())
        posix_spawn_file_actions_addchdir_np(&plan.actions, launch.folder.c_str());
#if __GLIBC_PREREQ(2, 34)
    // Libraries of the parent may have opened files without O_CLOEXEC.
    posix_spawn_file_actions_addclosefrom_np(&plan.actions, STDERR_FILENO + 1);
#endif
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&plan.attributes, &none);
    posix_spawnattr_setsigdefault(&plan.attributes, &all);
    posix_spawnattr_setpgroup(&plan.attributes, 0);
    posix_spawnattr_setflags(&plan.attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

ProcessExit exitOf(const siginfo_t& info)
{
    if (info.si_code == CLD_EXITED)
        return { info.si_status, 0, false };
    return { 0, info.si_status, false };
}

} // namespace

struct ChildProcess::State {
    ProcessIdentity identity;
    Descriptor stdinWriter; ///< the child reads end-of-file when this closes
    Descriptor pidDescriptor; ///< readable once the child ended; -1 on kernels before 5.3
    KillerWatch killer { host::outOfMemoryKills };
    std::optional<ProcessExit> exit;

    pid_t pid() const { return static_cast<pid_t>(identity.pid); }
    ~State();
};

ChildProcess::State::~State()
{
    killTreeOf(pid());
    // SIGKILL cannot be refused, but a process in an uninterruptible read may take its time.
    for (int attempt = 0; attempt < 500; ++attempt) {
        if (::waitpid(pid(), nullptr, WNOHANG) != 0)
            return;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
}

ChildProcess::ChildProcess(std::unique_ptr<State> state)
    : state_(std::move(state))
{
}
ChildProcess::ChildProcess(ChildProcess&&) noexcept = default;
ChildProcess& ChildProcess::operator=(ChildProcess&&) noexcept = default;
ChildProcess::~ChildProcess() = default;

Result<ChildProcess> ChildProcess::start(const std::filesystem::path& program, const ProcessOptions& options)
{
    FURROW_TRY_ASSIGN(auto launch, prepare(program, options));
    FURROW_TRY_ASSIGN(auto stdinPipe, makePipe());
    SpawnPlan plan;
    planChild(plan, launch, stdinPipe.reader.number());
    pid_t pid = 0;
    const int failed = ::posix_spawn(
        &pid, launch.program.c_str(), &plan.actions, &plan.attributes, launch.argv.data(), launch.envp.data());
    if (failed != 0)
        return systemError(sentence("cannot start %1", { utf8Text(program) }), failed);
    auto state = std::make_unique<State>();
    state->identity = { pid, startTimeOf(pid), processPlace() };
    state->stdinWriter = std::move(stdinPipe.writer);
    state->pidDescriptor = Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    return ChildProcess(std::move(state));
}

Status ChildProcess::writeInput(std::string_view bytes)
{
    struct sigaction ignore {};
    struct sigaction before {};
    ignore.sa_handler = SIG_IGN; // a child that is gone is an error here, not the end of this process
    ::sigaction(SIGPIPE, &ignore, &before);
    Status status;
    while (status.ok() && !bytes.empty()) {
        const ssize_t wrote = ::write(state_->stdinWriter.number(), bytes.data(), bytes.size());
        if (wrote > 0)
            bytes.remove_prefix(static_cast<std::size_t>(wrote));
        else if (errno != EINTR)
            status = systemError(sentence("the process does not read its input"), errno);
    }
    ::sigaction(SIGPIPE, &before, nullptr);
    return status;
}

void ChildProcess::closeInput() { state_->stdinWriter = Descriptor(); }

const ProcessIdentity& ChildProcess::identity() const { return state_->identity; }

std::optional<ProcessExit> ChildProcess::poll()
{
    siginfo_t info {};
    if (!state_->exit && ::waitid(P_PID, static_cast<id_t>(state_->pid()), &info, WEXITED | WNOHANG | WNOWAIT) == 0
        && info.si_pid != 0) {
        state_->exit = exitOf(info);
        state_->exit->outOfMemory = state_->exit->signal == SIGKILL && state_->killer.wasAtWork();
    }
    if (!state_->exit)
        state_->killer.look(systemClock().monotonicNs());
    return state_->exit;
}

std::optional<ProcessExit> ChildProcess::wait(std::chrono::milliseconds timeout)
{
    const auto end = std::chrono::steady_clock::now() + timeout;
    for (;;) {
        if (auto exit = poll())
            return exit;
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now()).count();
        if (left <= 0)
            return {};
        const bool hasDescriptor = state_->pidDescriptor.number() >= 0;
        pollfd ended { state_->pidDescriptor.number(), POLLIN, 0 }; // a negative number is only a pause
        const auto pauseMs = std::min<std::int64_t>(left, hasDescriptor ? 60'000 : 5);
        ::poll(&ended, 1, static_cast<int>(pauseMs));
    }
}

void ChildProcess::requestStop()
{
    if (!poll())
        ::kill(state_->pid(), SIGTERM);
}

void ChildProcess::killTree() { killTreeOf(state_->pid()); }

namespace {

/// What the new process and its starter tell each other.
struct DetachPipes {
    Pipe news; ///< to the starter: the pid, then errno when exec failed
    Pipe go; ///< to the process: start, its identity is known
};

// The functions below run between fork and exec: only async-signal-safe calls.

[[noreturn]] void tellAndExit(const DetachPipes& pipes, int code)
{
    [[maybe_unused]] const ssize_t told = ::write(pipes.news.writer.number(), &code, sizeof code);
    ::_exit(127);
}

void keepOnlyStandardFiles()
{
    constexpr unsigned kCloseOnExec = 4; // CLOSE_RANGE_CLOEXEC, Linux 5.11
    if (::syscall(SYS_close_range, STDERR_FILENO + 1U, ~0U, kCloseOnExec) == 0)
        return;
    for (int number = STDERR_FILENO + 1; number < 4096; ++number)
        ::fcntl(number, F_SETFD, FD_CLOEXEC);
}

void resetSignals()
{
    for (int number = 1; number < NSIG; ++number)
        ::signal(number, SIG_DFL); // SIGKILL and SIGSTOP refuse, which is fine
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

[[noreturn]] void becomeDetached(const Launch& launch, const DetachPipes& pipes)
{
    const int pid = ::getpid();
    if (::write(pipes.news.writer.number(), &pid, sizeof pid) != sizeof pid)
        ::_exit(127);
    char go = 0;
    if (::read(pipes.go.reader.number(), &go, 1) != 1)
        ::_exit(127); // the starter died: nobody would know of us
    const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    const int output = launch.output.number() >= 0 ? launch.output.number() : nothing;
    ::dup2(nothing, STDIN_FILENO);
    ::dup2(output, STDOUT_FILENO);
    ::dup2(output, STDERR_FILENO);
    if (!launch.folder.empty() && ::chdir(launch.folder.c_str()) != 0)
        tellAndExit(pipes, errno);
    keepOnlyStandardFiles();
    resetSignals();
    ::execve(launch.program.c_str(), launch.argv.data(), launch.envp.data());
    tellAndExit(pipes, errno);
}

bool readNumber(int from, int& number)
{
    ssize_t got = 0;
    do
        got = ::read(from, &number, sizeof number);
    while (got < 0 && errno == EINTR);
    return got == sizeof number;
}

} // namespace

Result<ProcessIdentity> startDetached(const std::filesystem::path& program, const ProcessOptions& options)
{
    FURROW_TRY_ASSIGN(auto launch, prepare(program, options));
    auto news = makePipe();
    auto go = makePipe();
    if (!news.ok() || !go.ok())
        return (news.ok() ? go : news).error();
    DetachPipes pipes { std::move(news.value()), std::move(go.value()) };

    const pid_t middle = ::fork();
    if (middle < 0)
        return systemError(sentence("cannot start %1", { utf8Text(program) }), errno);
    if (middle == 0) {
        pipes.news.reader.reset();
        pipes.go.writer.reset();
        ::setsid();
        const pid_t last = ::fork();
        if (last == 0)
            becomeDetached(launch, pipes);
        ::_exit(last < 0 ? 1 : 0);
    }
    pipes.news.writer.reset();
    pipes.go.reader.reset();
    while (::waitpid(middle, nullptr, 0) < 0 && errno == EINTR) { }

    int pid = 0;
    if (!readNumber(pipes.news.reader.number(), pid))
        return Error { ErrorCode::Io,
            sentence("cannot start %1: the system allows no more processes", { utf8Text(program) }) };
    const ProcessIdentity identity { pid, startTimeOf(pid), processPlace() };
    if (::write(pipes.go.writer.number(), "g", 1) != 1)
        return Error { ErrorCode::Io, sentence("%1 was killed while it was started", { utf8Text(program) }) };
    if (int code = 0; readNumber(pipes.news.reader.number(), code))
        return systemError(sentence("cannot start %1", { utf8Text(program) }), code);
    return identity;
}

} // namespace furrow
