#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

/// What the portable files of this folder ask of the operating system. Not for other folders.
namespace furrow::host {

/// Fills `into` from the system's generator; ends the process when there is none.
void randomBytes(void* into, std::size_t sizeBytes);
/// Random id of this boot, read anew.
std::string readBootId();
/// Abbreviation of a signal number, "SIGSEGV"; "" where the system has no signals or does not know it.
std::string signalName(int signal);
/// How often the out-of-memory killer of the kernel has ended a process of this machine or of our control group; 0
/// where the system does not count.
std::int64_t outOfMemoryKills();

} // namespace furrow::host
