#pragma once

#include "core/base/file_stamp.h"
#include "core/data/source/data_manifest.h"

#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>

namespace furrow {

/// Which files of the hub, as they lie on this disk, hold what the hub's list promises of them (SHA-256, of small files
/// git's SHA-1), or what arrived where it promises nothing. A file is read once for that, and known by its stamp from
/// then on. Thread-safe.
class HubProofs {
public:
    /// How many files the data set has that will be compared: progress tells which of them it is.
    void expect(std::int64_t files);
    /// Ok: as promised; where nothing is promised, as it arrived, or nobody noted that. Corrupt: other bytes; other
    /// codes: it cannot be read now.
    Status compare(const DataFile& file, const std::filesystem::path& whole);
    /// The bytes that lie there now were compared while they arrived.
    void noteArrived(const DataFile& file, const std::filesystem::path& whole);
    /// Reading it failed, so the next compare() believes no stamp.
    void doubt(const std::filesystem::path& whole);
    /// Addresses of the files that were found as promised.
    std::set<std::string> proven() const;
    /// Addresses of the files of which a wrong copy was found since the last call.
    std::set<std::string> takeWrong();

private:
    struct Verdict {
        FileStamp stamp;
        bool same = false;
    };
    Result<std::string> hashTold(const DataFile& file, const std::filesystem::path& whole) const;
    Status answer(const DataFile& file, const std::filesystem::path& whole, bool same);

    mutable std::mutex mutex_;
    std::map<std::filesystem::path, Verdict> verdicts_; ///< guarded by mutex_
    std::int64_t expected_ = 0; ///< guarded by mutex_
    std::set<std::string> proven_; ///< guarded by mutex_
    std::set<std::string> wrong_; ///< guarded by mutex_
};

/// The hub promises a SHA-256 of the whole file.
bool isPromised(const DataFile& file);
/// That, or its list has git's name of the content, as of each file that is not in LFS.
bool isComparable(const DataFile& file);
/// What DataFile::hash must be if the whole holds what the hub promises: its SHA-256, or git's name of it.
/// @param onBytes  gets each piece; may be empty
Result<std::string> comparableSum(const DataFile& file, const std::filesystem::path& whole,
    const std::stop_token& stop = {}, const std::function<void(std::string_view)>& onBytes = {});

} // namespace furrow
