#pragma once

#include "ui/bridge/run_feed.h"

#include <filesystem>
#include <map>

namespace furrow {

/// Reads what was appended to the log files of one run since the last call. Not thread-safe.
class LogTail {
public:
    explicit LogTail(std::filesystem::path folder);

    /// New lines of all files, ordered by their time. Of a long file only the last 256 KiB are read the first time.
    /// An unfinished last line waits for its end.
    std::vector<LogLine> poll();

private:
    struct File {
        std::uint64_t offset = 0;
        std::string rest; // an unfinished last line
    };
    void readMore(const std::filesystem::path& path, File& file, std::vector<LogLine>& into);

    std::filesystem::path folder_; // set in the constructor, then constant
    std::map<std::string, File> files_;
};

/// Takes "2026-03-13 18:42:10.123 W worker-0  text" apart. A line of another form is text of level Info.
LogLine parseLogLine(const std::string& line, const QString& processOfFile);

} // namespace furrow
