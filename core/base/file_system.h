#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace furrow {

/// A file being written. Bytes are safe only after sync(). Destroying it closes without syncing. Not thread-safe.
class OutputFile {
public:
    virtual ~OutputFile() = default;
    virtual Status append(const void* data, std::size_t sizeBytes) = 0;
    virtual Status sync() = 0;
    virtual Status close() = 0;
};

/// The operations on files whose order decides what survives a power loss. An interface because the
/// tests have a second implementation that forgets unsynced data, fills up and fails at a chosen step.
/// Thread-safe. Errors name the path; a full disk says so and has code Io.
class FileSystem {
public:
    virtual ~FileSystem() = default;
    /// Creates or truncates.
    virtual Result<std::unique_ptr<OutputFile>> create(const std::filesystem::path& path) = 0;
    virtual Result<std::string> read(const std::filesystem::path& path) = 0;
    virtual Status createFolders(const std::filesystem::path& path) = 0;
    /// One folder, or none when it is there. NotFound where its parent is not: the disk of that may be away, and
    /// nothing is to be made in its place.
    virtual Status createFolder(const std::filesystem::path& path) = 0;
    /// Renames a file or folder onto a name that must not exist. Durable only after syncFolder(parent).
    virtual Status rename(const std::filesystem::path& from, const std::filesystem::path& to) = 0;
    /// Like rename, but a file at `to` is replaced in one step: readers see the old or the new one. Files only.
    virtual Status replace(const std::filesystem::path& from, const std::filesystem::path& to) = 0;
    /// Makes names created or renamed in `folder` durable. Does nothing where the system has no such call.
    virtual Status syncFolder(const std::filesystem::path& folder) = 0;
    /// Removes a file or a folder with everything in it; a missing one is success.
    virtual Status removeAll(const std::filesystem::path& path) = 0;
};

FileSystem& realFileSystem();

/// Whether the name itself is a link (symbolic, or a junction of Windows), wherever it leads. A missing one is not.
bool isLink(const std::filesystem::path& path);

/// Whether something has this name; also a link that leads nowhere.
bool isTaken(const std::filesystem::path& path);

/// Whether this user may make and remove names in a folder. NotFound where there is none, else Io with the reason. On
/// Windows only a write can tell: it is ok there.
Status checkWritable(const std::filesystem::path& folder);

/// Whether this user may read or write a file that is there; otherwise as checkWritable(). Nothing is opened: to close
/// a database again would give up the locks of this process on it.
Status checkFileReadable(const std::filesystem::path& file);
Status checkFileWritable(const std::filesystem::path& file);

/// What keeps everybody from writing to a file, seen without a write: its disk is read-only, or an attribute forbids
/// it. The rights of this user are none of that, nor is a file that is not there. Otherwise as checkWritable().
Status checkWritableByAny(const std::filesystem::path& file);

/// What lies in a folder, sorted by name; links are not followed. NotFound when there is no such folder, Io when it
/// cannot be listed.
Result<std::vector<std::filesystem::path>> entriesOf(const std::filesystem::path& folder);

/// Writes bytes under a temporary name, syncs, replaces `path`, syncs the folder. Readers see the old or the new file.
Status writeFileDurably(FileSystem& files, const std::filesystem::path& path, std::string_view bytes);
/// The same onto a name that must not exist, however long the bytes took to be made: for files that a person names.
Status writeNewFile(FileSystem& files, const std::filesystem::path& path, std::string_view bytes);
/// The same without syncing, onto what is there, for what may be lost with the power.
Status writeFileWhole(FileSystem& files, const std::filesystem::path& path, std::string_view bytes);

/// The whole file, at most `maxBytes` (else InvalidArgument: untrusted input is bounded).
Result<std::string> readFile(const std::filesystem::path& path, std::uint64_t maxBytes = UINT64_MAX);

/// The last bytes of a file, at most `maxBytes`; "" when it cannot be read. For logs.
std::string endOfFile(const std::filesystem::path& path, std::uint64_t maxBytes);

/// Bytes a user of this process may still write at `path`.
Result<std::uint64_t> freeBytes(const std::filesystem::path& path);

/// Why a ledger must not live at `path` (network file system, synchronised folder, FAT), or "" when it may.
Message unsafeForLedgerReason(const std::filesystem::path& path);

/// Median milliseconds of a 4 KiB append + fdatasync at `folder`, over `rounds`.
Result<double> measureSyncMs(const std::filesystem::path& folder, int rounds);

/// A file opened for reading at offsets (pread): unlike a mapping, truncation by others is an error, not a signal.
/// Const methods are thread-safe.
class RandomAccessFile {
public:
    static Result<RandomAccessFile> open(const std::filesystem::path& path);
    /// Like open, but only a file that is in no other place too: neither a link nor a second name of a file elsewhere.
    /// For what leaves the machine.
    static Result<RandomAccessFile> openOwn(const std::filesystem::path& path);
    RandomAccessFile(RandomAccessFile&&) noexcept;
    RandomAccessFile& operator=(RandomAccessFile&&) noexcept;
    ~RandomAccessFile();

    std::uint64_t sizeBytes() const { return sizeBytes_; }
    /// Fills `into` completely or fails (Corrupt when the file ends before).
    Status readAt(std::uint64_t offset, std::span<std::byte> into) const;

private:
    RandomAccessFile() = default;
    /// @param flags  of the operating system, beside reading
    static Result<RandomAccessFile> openWith(const std::filesystem::path& path, int flags);
    std::intptr_t handle_ = -1; // -1 once moved from
    std::uint64_t sizeBytes_ = 0;
    std::string name_;
};

} // namespace furrow
