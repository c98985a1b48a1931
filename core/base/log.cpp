// spdlog stays behind this file. Every line is flushed: a process that is killed must leave its last words.
#include "core/base/log.h"

#include "core/base/file_system.h"
#include "core/base/plain_line.h"
#include "core/base/redact.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <mutex>
#include <string>

namespace furrow {
namespace {

constexpr auto kPattern = "%Y-%m-%d %H:%M:%S.%e %L %n  %v";

std::shared_ptr<spdlog::logger> makeLogger(std::string_view process)
{
    auto logger
        = std::make_shared<spdlog::logger>(std::string(process), std::make_shared<spdlog::sinks::stderr_sink_mt>());
    logger->set_level(spdlog::level::debug);
    logger->flush_on(spdlog::level::debug);
    logger->set_pattern(kPattern);
    return logger;
}

// guarded by loggerMutex()
std::shared_ptr<spdlog::logger>& loggerSlot()
{
    static std::shared_ptr<spdlog::logger> logger = makeLogger("furrow");
    return logger;
}

std::mutex& loggerMutex()
{
    static std::mutex mutex;
    return mutex;
}

spdlog::level::level_enum spdlogLevel(LogLevel level)
{
    switch (level) {
    case LogLevel::Debug: return spdlog::level::debug;
    case LogLevel::Info: return spdlog::level::info;
    case LogLevel::Warning: return spdlog::level::warn;
    case LogLevel::Error: return spdlog::level::err;
    }
    return spdlog::level::err;
}

constexpr std::size_t kLevelAt = 24, kNameBegin = 26; // "2026-03-13 18:42:10.123 I worker-0  text"

/// Whether kPattern made the line; else it is of a library, or of the system.
bool hasHeader(const std::string& line)
{
    return line.size() >= kNameBegin && line[10] == ' ' && line[kLevelAt - 1] == ' ' && line[kNameBegin - 1] == ' ';
}

std::string withoutHeader(const std::string& line)
{
    const auto nameEnd = hasHeader(line) ? line.find("  ", kNameBegin) : std::string::npos;
    return nameEnd == std::string::npos ? line : line.substr(nameEnd + 2);
}

bool isComplaint(const std::string& line)
{
    return !line.empty() && !(hasHeader(line) && (line[kLevelAt] == 'I' || line[kLevelAt] == 'D'));
}

} // namespace

void startLog(std::string_view process)
{
    auto logger = makeLogger(process);
    const std::lock_guard lock(loggerMutex());
    loggerSlot() = std::move(logger);
}

void log(LogLevel level, std::string_view text)
{
    std::shared_ptr<spdlog::logger> logger;
    {
        const std::lock_guard lock(loggerMutex());
        logger = loggerSlot();
    }
    constexpr std::size_t kMostBytes = 1 << 16;
    const std::string shown = plainLine(withoutSecrets(text), kMostBytes);
    logger->log(spdlogLevel(level), spdlog::string_view_t(shown.data(), shown.size()));
}

std::string lastComplaint(const std::filesystem::path& file)
{
    std::string lines = endOfFile(file, 4096);
    while (!lines.empty()) {
        const auto begin = lines.rfind('\n') + 1; // npos + 1 is 0: the only line
        if (const std::string line = lines.substr(begin); isComplaint(line))
            return withoutHeader(line);
        lines.resize(begin == 0 ? 0 : begin - 1);
    }
    return {};
}

} // namespace furrow
