#include "core/base/process.h"

#include "core/base/host.h"
#include "core/base/process_tree.h"
#include "core/base/memory_death.h"
#include "core/base/sentence.h"

#include <array>
#include <cstdio>
#include <utility>

namespace furrow {
namespace {

/// How Windows says "crashed": the exit code is an NTSTATUS.
const char* crashName(std::uint32_t code)
{
    constexpr std::array kNames { std::pair { 0xC0000005U, "access violation" },
        std::pair { 0xC0000017U, "out of memory" }, std::pair { 0xC000001DU, "illegal instruction" },
        std::pair { 0xC0000094U, "integer division by zero" }, std::pair { 0xC00000FDU, "stack overflow" },
        std::pair { 0xC0000135U, "a DLL was not found" }, std::pair { 0xC0000142U, "a DLL failed to start" },
        std::pair { 0xC000013AU, "ended by Ctrl+C" }, std::pair { 0xC0000374U, "heap corruption" },
        std::pair { 0xC0000409U, "aborted" } };
    for (const auto& [number, name] : kNames) {
        if (number == code)
            return name;
    }
    return nullptr;
}

} // namespace

bool standsStill(const ProcessIdentity& process) { return isStopped(process.pid) && isAlive(process); }

Message ProcessExit::describe() const
{
    if (signal != 0) {
        const std::string name = host::signalName(signal);
        if (name == "SIGKILL")
            return outOfMemory ? sentence(kKilledForMemory) : sentence("SIGKILL, sender unknown");
        return name.empty() ? sentence("signal %1", { std::to_string(signal) }) : Message(name);
    }
    const auto code = static_cast<std::uint32_t>(exitCode);
    if (code < 0xC0000000U)
        return sentence("exit code %1", { std::to_string(exitCode) });
    std::array<char, 16> digits {};
    std::snprintf(digits.data(), digits.size(), "0x%08X", code);
    const char* name = crashName(code);
    return sentence("exit code %1", { digits.data() + (name ? std::string(" (") + name + ")" : "") });
}

} // namespace furrow
