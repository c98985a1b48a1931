// spdlog stays behind this file. Every line is flushed: a process that is killed must leave its last words.
#ifdef _WIN32
#define SPDLOG_WCHAR_FILENAMES
#endif
#include "core/base/log.h"

#include "core/base/file_system.h"
#include "core/base/path.h"
#include "core/base/plain_line.h"
#include "core/base/redact.h"
#include "core/base/regular_file.h"

#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <mutex>
#include <string>
#include <vector>

namespace furrow {
namespace {

constexpr auto kPattern = "%Y-%m-%d %H:%M:%S.%e %L %n  %v";

std::shared_ptr<spdlog::logger> makeLogger(std::string_view process, std::vector<spdlog::sink_ptr> sinks)
{
    auto logger = std::make_shared<spdlog::logger>(std::string(process), sinks.begin(), sinks.end());
    logger->set_level(spdlog::level::debug);
    logger->flush_on(spdlog::level::debug);
    logger->set_pattern(kPattern);
    return logger;
}

// guarded by loggerMutex()
std::shared_ptr<spdlog::logger>& loggerSlot()
{
    static std::shared_ptr<spdlog::logger> logger
        = makeLogger("furrow", { std::make_shared<spdlog::sinks::stderr_sink_mt>() });
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

/// A line as kPattern makes it, without all before the text; another line as it is.
std::string withoutHeader(const std::string& line)
{
    constexpr std::size_t kTimeEnd = 23, kNameBegin = 26; // "2026-03-13 18:42:10.123 I worker-0  text"
    if (line.size() < kNameBegin || line[10] != ' ' || line[kTimeEnd] != ' ' || line[kNameBegin - 1] != ' ')
        return line;
    const auto nameEnd = line.find("  ", kNameBegin);
    return nameEnd == std::string::npos ? line : line.substr(nameEnd + 2);
}

} // namespace

void startLog(std::string_view process, const std::filesystem::path& file, bool toStderr)
{
    std::vector<spdlog::sink_ptr> sinks;
    std::string trouble;
    if (!file.empty()) {
        try {
            if (const auto regular = refuseIrregular(file); regular.ok())
                sinks.push_back(std::make_shared<spdlog::sinks::basic_file_sink_mt>(file.native()));
            else
                trouble = "logging to stderr: " + regular.error().message;
        } catch (const spdlog::spdlog_ex& error) {
            trouble = "cannot write the log file " + utf8Text(file) + ", logging to stderr instead: " + error.what();
        }
    }
    if (toStderr || !trouble.empty())
        sinks.push_back(std::make_shared<spdlog::sinks::stderr_sink_mt>());
    {
        const std::lock_guard lock(loggerMutex());
        loggerSlot() = makeLogger(process, std::move(sinks));
    }
    if (!trouble.empty())
        logError(trouble);
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

std::string lastLogLine(const std::filesystem::path& file)
{
    std::string lines = endOfFile(file, 4096);
    while (!lines.empty() && lines.back() == '\n')
        lines.pop_back();
    return withoutHeader(lines.substr(lines.rfind('\n') + 1)); // npos + 1 is 0: the only line
}

} // namespace furrow
