#include "ui/bridge/log_tail.h"

#include "core/base/file_system.h"
#include "core/base/path.h"

#include <algorithm>

namespace furrow {

namespace {

constexpr std::uint64_t kFirstRead = 256 * 1024;
constexpr std::uint64_t kMostPerPoll = 1024 * 1024;
constexpr int kTimeLength = 23;

LogLevel levelOf(char letter)
{
    switch (letter) {
    case 'D': return LogLevel::Debug;
    case 'W': return LogLevel::Warning;
    case 'E': return LogLevel::Error;
    default: return LogLevel::Info;
    }
}

} // namespace

LogLine parseLogLine(const std::string& line, const QString& processOfFile)
{
    const QString text = QString::fromStdString(line);
    LogLine parsed;
    parsed.process = processOfFile;
    const bool hasHead = text.size() > kTimeLength + 3 && text[4] == QLatin1Char('-') && text[10] == QLatin1Char(' ')
        && text[kTimeLength] == QLatin1Char(' ') && text[kTimeLength + 2] == QLatin1Char(' ');
    if (!hasHead) {
        parsed.text = text;
        return parsed;
    }
    parsed.time = text.left(kTimeLength);
    parsed.level = levelOf(text[kTimeLength + 1].toLatin1());
    const QString rest = text.mid(kTimeLength + 3);
    const qsizetype gap = rest.indexOf(QLatin1String("  "));
    parsed.process = gap > 0 ? rest.left(gap).trimmed() : processOfFile;
    parsed.text = gap > 0 ? rest.mid(gap).trimmed() : rest.trimmed();
    return parsed;
}

LogTail::LogTail(std::filesystem::path folder)
    : folder_(std::move(folder))
{
}

std::vector<LogLine> LogTail::poll()
{
    std::vector<LogLine> lines;
    std::error_code failed;
    for (const auto& entry : std::filesystem::directory_iterator(folder_, failed)) {
        if (entry.path().extension() == ".log")
            readMore(entry.path(), files_[utf8Text(entry.path().filename())], lines);
    }
    std::stable_sort(lines.begin(), lines.end(), [](const LogLine& a, const LogLine& b) { return a.time < b.time; });
    return lines;
}

void LogTail::readMore(const std::filesystem::path& path, File& file, std::vector<LogLine>& into)
{
    std::error_code failed;
    const std::uint64_t size = std::filesystem::file_size(path, failed);
    if (failed || size == file.offset)
        return;
    if (size < file.offset) // it was replaced by a shorter one
        file = {};
    const bool skipsStart = file.offset == 0 && size > kFirstRead;
    if (skipsStart)
        file.offset = size - kFirstRead;
    auto opened = RandomAccessFile::open(path);
    if (!opened.ok())
        return;
    std::string bytes(std::min(size - file.offset, kMostPerPoll), '\0');
    if (!opened.value().readAt(file.offset, std::as_writable_bytes(std::span(bytes))).ok())
        return;
    file.offset += bytes.size();
    bytes.insert(0, file.rest);
    const QString stem = QString::fromStdString(utf8Text(path.stem()));
    const QString process = stem.mid(stem.indexOf(QLatin1Char('-')) + 1);
    std::size_t begin = skipsStart ? bytes.find('\n') + 1 : 0;
    for (std::size_t end = bytes.find('\n', begin); end != std::string::npos; end = bytes.find('\n', begin)) {
        if (end > begin) {
            LogLine line = parseLogLine(bytes.substr(begin, end - begin), process);
            if (line.time.isEmpty() && !into.empty()) // a continuation stays behind its head when sorted
                line.time = into.back().time;
            into.push_back(std::move(line));
        }
        begin = end + 1;
    }
    file.rest = bytes.substr(std::min(begin, bytes.size()));
}

} // namespace furrow
