#pragma once

#include "core/telemetry/column_store.h"

#include <chrono>
#include <filesystem>
#include <map>

namespace furrow {

/// Follows the telemetry files of a run: reads what is new, tolerates torn, truncated, doubled, unordered and garbage
/// lines (counted in the snapshot), finds files of new attempts by itself. Used by one thread, never the GUI thread.
/// Opening twice gives the same snapshot. Memory grows with the data only.
class RunTelemetry {
public:
    /// @param folder  telemetry folder of the run; may not exist yet
    /// @param cache  disposable file of this reader, e.g. view-cache/columns.bin; empty: none
    explicit RunTelemetry(std::filesystem::path folder, std::filesystem::path cache = {});

    /// Takes over a cache that still fits the files. @return whether there was one
    bool loadCache();
    /// Reads at most about `budgetBytes` of new lines. @return whether more is waiting on disk
    bool poll(std::size_t budgetBytes = 8u << 20);
    /// What has been read so far. Cheap; call it when poll() changed something.
    SnapshotPtr snapshot() const;
    /// Whether anything arrived since the last call.
    bool takeChanged();
    /// Writes the cache (temporary name, then rename). A read-only run folder is an error to be ignored.
    Status saveCache() const;

private:
    struct File {
        std::uint64_t offset = 0; ///< everything before it has been taken
        std::uint64_t offsetBefore = 0; ///< when this poll began
        std::uint64_t size = 0;
        std::uint64_t seenSize = 0; ///< size when it was read last
        std::int64_t attempt = 0; ///< from the name
        std::uint64_t headHash = 0; ///< of the first min(4096, offset) bytes, to know the file again
        std::uint64_t badBytes = 0; ///< in lines that could not be read, since this was made
        bool refused = false;
        bool progressed = false; ///< the last reading took a line
        ColumnStore::Source source;
        /// Unread bytes that may hold a whole line.
        bool hasMore() const { return !refused && offset < size && (progressed || size != seenSize); }
    };

    void findFiles();
    bool beginAnewWhenQuiet();
    std::int64_t newestWallNs() const;
    bool readRound(std::size_t& spent);
    void refuse(File& file, std::string problem);
    std::size_t readSome(const std::filesystem::path& path, File& file, std::size_t budget);
    std::size_t takeLines(const std::filesystem::path& path, File& file, std::string_view bytes);
    void startAnew();
    bool restore(class CacheReader& in);

    std::filesystem::path folder_;
    std::filesystem::path cache_;
    std::map<std::filesystem::path, File> files_;
    ColumnStore store_;
    ScannedLine line_;
    std::string buffer_;
    bool changed_ = false;
    bool complete_ = false;
    bool isLate_ = false; ///< lines came that belong between those that were read before
    std::chrono::steady_clock::time_point nextAnew_;
    std::chrono::seconds anewPause_ { 1 }; ///< doubled each time
};

} // namespace furrow
