#include "core/base/host.h"

#include "core/base/check.h"
#include "core/base/process.h"
#include "core/base/terminal.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <fstream>
#include <sched.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace furrow {

void host::randomBytes(void* into, std::size_t sizeBytes)
{
    char* to = static_cast<char*>(into);
    while (sizeBytes > 0) {
        const ssize_t got = ::getrandom(to, sizeBytes, 0);
        FURROW_CHECK(got > 0 || errno == EINTR, "the system has no random numbers");
        if (got > 0) {
            to += got;
            sizeBytes -= static_cast<std::size_t>(got);
        }
    }
}

std::string host::readBootId()
{
    std::string id;
    std::ifstream("/proc/sys/kernel/random/boot_id") >> id;
    return id;
}

std::string host::signalName(int signal)
{
    constexpr std::array kNames { std::pair { SIGHUP, "SIGHUP" }, std::pair { SIGINT, "SIGINT" },
        std::pair { SIGQUIT, "SIGQUIT" }, std::pair { SIGILL, "SIGILL" }, std::pair { SIGTRAP, "SIGTRAP" },
        std::pair { SIGABRT, "SIGABRT" }, std::pair { SIGBUS, "SIGBUS" }, std::pair { SIGFPE, "SIGFPE" },
        std::pair { SIGKILL, "SIGKILL" }, std::pair { SIGSEGV, "SIGSEGV" }, std::pair { SIGPIPE, "SIGPIPE" },
        std::pair { SIGALRM, "SIGALRM" }, std::pair { SIGTERM, "SIGTERM" }, std::pair { SIGUSR1, "SIGUSR1" },
        std::pair { SIGUSR2, "SIGUSR2" }, std::pair { SIGXCPU, "SIGXCPU" }, std::pair { SIGXFSZ, "SIGXFSZ" },
        std::pair { SIGSYS, "SIGSYS" } };
    for (const auto& [number, name] : kNames) {
        if (number == signal)
            return name;
    }
    return {};
}

namespace {

/// The number behind `key` in a file of "key number" lines, 0 when there is none.
std::int64_t counterIn(const std::string& file, std::string_view key)
{
    std::ifstream lines(file);
    std::int64_t value = 0;
    for (std::string name; lines >> name >> value;)
        if (name == key)
            return value;
    return 0;
}

} // namespace

std::int64_t host::outOfMemoryKills()
{
    std::string group; // our control group: "0::/path" where there is one hierarchy, "9:memory:/path" before
    std::ifstream groups("/proc/self/cgroup");
    for (std::string line; std::getline(groups, line);)
        if (line.starts_with("0::"))
            group = line.substr(3);
    return counterIn("/proc/vmstat", "oom_kill") + counterIn("/sys/fs/cgroup" + group + "/memory.events", "oom_kill");
}

std::vector<std::string> commandLineArguments(int argc, char** argv)
{
    return { argv + std::min(argc, 1), argv + argc };
}

std::filesystem::path executablePath()
{
    std::error_code error;
    return std::filesystem::read_symlink("/proc/self/exe", error);
}

bool outputIsTerminal() { return ::isatty(STDOUT_FILENO) == 1; }

bool errorsAreOnTerminal() { return ::isatty(STDERR_FILENO) == 1; }

bool inputIsPipe()
{
    struct stat what;
    return ::fstat(STDIN_FILENO, &what) == 0 && S_ISFIFO(what.st_mode);
}

int cpuCount()
{
    cpu_set_t allowed;
    if (::sched_getaffinity(0, sizeof allowed, &allowed) == 0)
        return CPU_COUNT(&allowed);
    return static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
}

std::uint64_t physicalMemoryBytes()
{
    return static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

ProcessMemory processMemory()
{
    ProcessMemory memory;
    std::int64_t all = 0;
    std::int64_t residentPages = 0;
    if (std::ifstream("/proc/self/statm") >> all >> residentPages)
        memory.residentBytes = residentPages * ::sysconf(_SC_PAGESIZE);
    struct rusage usage {};
    if (::getrusage(RUSAGE_SELF, &usage) == 0)
        memory.peakBytes = static_cast<std::int64_t>(usage.ru_maxrss) * 1024; // Linux counts in KiB
    memory.peakBytes = std::max(memory.peakBytes, memory.residentBytes); // the kernel updates the peak now and then
    return memory;
}

} // namespace furrow
