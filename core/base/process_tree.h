#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// Shared by the process files of this folder. Not for other folders.
namespace furrow {

/// Start time of a process in the kernel's unit; 0 when there is none.
std::int64_t startTimeOf(std::int64_t pid);
/// It stands still by SIGSTOP, Ctrl+Z or a debugger. False where the system does not tell.
bool isStopped(std::int64_t pid);
/// The words it was started with, the program first; none when the system does not tell. Not on Windows.
std::vector<std::string> commandLineOf(std::int64_t pid);
/// Of all processes that the system shows. Not on Windows.
std::vector<std::int64_t> allPids();
/// Kills `pid` and everything it started. The caller knows that `pid` is still the process it means.
void killTreeOf(std::int64_t pid);

} // namespace furrow
