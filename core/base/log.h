#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace furrow {

enum class LogLevel { Debug, Info, Warning, Error };

/// Names this process in everything that it logs to stderr, which is a file where another process started it
/// (ProcessOptions::outputFile). Line format: "2026-03-13 18:42:10.123 I worker-0  text". Call once at the start of
/// main.
/// @param process  short name of this process, e.g. "worker-0"
void startLog(std::string_view process);

/// Thread-safe. Before startLog it writes to stderr. One line, whatever stands in the text (plainLine); secrets are
/// replaced (withoutSecrets).
void log(LogLevel level, std::string_view text);

inline void logInfo(std::string_view text) { log(LogLevel::Info, text); }
inline void logWarning(std::string_view text) { log(LogLevel::Warning, text); }
inline void logError(std::string_view text) { log(LogLevel::Error, text); }

/// The last line of a log file that is a warning, an error, or of a library, without its time and the name of the
/// process: why it may have ended. "" when there is none among the last 4 KiB.
std::string lastComplaint(const std::filesystem::path& file);

} // namespace furrow
