#pragma once

#include "core/base/file_stamp.h"
#include "core/data/source/data_manifest.h"

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

namespace furrow {

/// Whether the local files of a data set are still those that its manifest was made of. A file that was hashed once is
/// then known by its stamp, so that asking costs one call; one whose stamp changed is hashed again. Files of the hub
/// are pinned by their revision and always the same; of other servers' files each answer is compared, and who finds
/// another one notes it (HubClient::changed). Thread-safe.
class SourceIdentity {
public:
    SourceIdentity() = default;
    /// @param removedPatience  how long a file is gone before it counts as removed, instead of some seconds
    explicit SourceIdentity(std::chrono::seconds removedPatience)
        : removedPatience_(removedPatience)
    {
    }
    /// Ok: the file is as it was. InvalidArgument: it is another one now, or it is gone for some seconds while its
    /// folder and disk are there, whether it was there before or not, with how in words; other codes: it cannot be
    /// looked at now.
    Status check(const DataFile& file);
    /// The same, with the stamp of the right file: between two equal ones nobody wrote to it.
    Result<FileStamp> stampOfSame(const DataFile& file);
    /// All files of the manifest; one error that names those that differ and says what can be done.
    /// @param changed  gets the path of each file that is another one now, and how it differs; may be null
    /// @param away  gets why the first file that cannot be looked at cannot be; may be null
    Status checkAll(
        const DataManifest& manifest, std::map<std::string, Message>* changed = nullptr, Message* away = nullptr);

private:
    Result<FileStamp> stampNow(const std::filesystem::path& path); // mutex_ held

    std::optional<std::chrono::seconds> removedPatience_; // constant

    std::mutex mutex_;
    std::map<std::filesystem::path, std::chrono::steady_clock::time_point> goneSince_; ///< guarded by mutex_
    std::map<std::string, FileStamp> stamps_; ///< guarded by mutex_; of the last time that the file was the right one
};

/// Opens a local file whose identity is checked at each read, so that nobody gets bytes of another state of it. Reading
/// is InvalidArgument when it is another file now, Busy when somebody wrote to it and it is the right one again: then
/// it is to be opened anew.
Result<std::shared_ptr<const ByteSource>> openWatched(const DataFile& file, std::shared_ptr<SourceIdentity> identity,
    const std::function<Result<std::shared_ptr<const ByteSource>>()>& open);

} // namespace furrow
