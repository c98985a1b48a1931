#include "core/base/file_system.h"

#include "core/base/format.h"
#include "core/base/path.h"
#include "core/base/random.h"
#include "core/base/sentence.h"
#include "core/base/synced_folder.h"
#include "core/base/system_error.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

namespace furrow {
namespace {

std::string lowerAscii(std::string text)
{
    for (char& letter : text) {
        if (letter >= 'A' && letter <= 'Z')
            letter = static_cast<char>(letter - 'A' + 'a');
    }
    return text;
}

/// "OneDrive", "OneDrive - Company", "Dropbox (Old)": the names that the programs give to their folders.
bool isFolderOf(const std::string& service, const std::string& name)
{
    return name == service || name.starts_with(service + " ") || name.starts_with(service + "-");
}

Status writeNew(FileSystem& files, const std::filesystem::path& path, std::string_view bytes, bool durable)
{
    FURROW_TRY_ASSIGN(auto file, files.create(path));
    FURROW_TRY(file->append(bytes.data(), bytes.size()));
    if (durable)
        FURROW_TRY(file->sync());
    return file->close();
}

using Move = Status (FileSystem::*)(const std::filesystem::path& from, const std::filesystem::path& to);

Status writeAside(
    FileSystem& files, const std::filesystem::path& path, std::string_view bytes, bool durable, Move intoPlace)
{
    std::filesystem::path temporary = path;
    temporary += "." + randomHex(8) + ".tmp";
    Status status = writeNew(files, temporary, bytes, durable);
    if (status.ok())
        status = (files.*intoPlace)(temporary, path);
    if (!status.ok())
        (void)files.removeAll(temporary); // the first error is the one to tell
    return status;
}

Status syncFolderOf(FileSystem& files, const std::filesystem::path& path)
{
    const std::filesystem::path folder = path.parent_path();
    return files.syncFolder(folder.empty() ? std::filesystem::path(".") : folder);
}

} // namespace

Result<std::vector<std::filesystem::path>> entriesOf(const std::filesystem::path& folder)
{
    std::vector<std::filesystem::path> found;
    std::error_code error;
    for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
        found.push_back(entry->path());
    if (error)
        return systemError(sentence("cannot list %1", { utf8Text(folder) }), error.value(), Access::Read);
    std::sort(found.begin(), found.end());
    return found;
}

Status writeFileDurably(FileSystem& files, const std::filesystem::path& path, std::string_view bytes)
{
    FURROW_TRY(writeAside(files, path, bytes, true, &FileSystem::replace));
    return syncFolderOf(files, path);
}

Status writeNewFile(FileSystem& files, const std::filesystem::path& path, std::string_view bytes)
{
    FURROW_TRY(writeAside(files, path, bytes, true, &FileSystem::rename));
    return syncFolderOf(files, path);
}

Status writeFileWhole(FileSystem& files, const std::filesystem::path& path, std::string_view bytes)
{
    return writeAside(files, path, bytes, false, &FileSystem::replace);
}

Result<std::string> readFile(const std::filesystem::path& path, std::uint64_t maxBytes)
{
    FURROW_TRY_ASSIGN(auto file, RandomAccessFile::open(path));
    const std::uint64_t sizeBytes = file.sizeBytes();
    if (sizeBytes > maxBytes)
        return Error { ErrorCode::InvalidArgument,
            sentence(
                "%1 has %2; at most %3 are accepted here", { utf8Text(path), Bytes(sizeBytes), Bytes(maxBytes) }) };
    std::string bytes(sizeBytes, '\0');
    FURROW_TRY(file.readAt(0, std::as_writable_bytes(std::span(bytes))));
    return bytes;
}

bool isTaken(const std::filesystem::path& path)
{
    std::error_code failed;
    return std::filesystem::exists(std::filesystem::symlink_status(path, failed));
}

std::string endOfFile(const std::filesystem::path& path, std::uint64_t maxBytes)
{
    auto file = RandomAccessFile::open(path);
    if (!file.ok())
        return {};
    const std::uint64_t length = std::min(file.value().sizeBytes(), maxBytes);
    std::string bytes(length, '\0');
    return file.value().readAt(file.value().sizeBytes() - length, std::as_writable_bytes(std::span(bytes))).ok()
        ? bytes
        : std::string();
}

Result<std::uint64_t> freeBytes(const std::filesystem::path& path)
{
    std::error_code error;
    std::filesystem::path existing = std::filesystem::absolute(path, error);
    while (!std::filesystem::exists(existing, error) && existing.has_relative_path())
        existing = existing.parent_path();
    const auto space = std::filesystem::space(existing, error);
    if (error)
        return Error { ErrorCode::Io,
            sentence("cannot ask for the free space at %1", { utf8Text(path) }) + ": " + error.message() };
    return static_cast<std::uint64_t>(space.available);
}

Message syncedFolderReason(const std::filesystem::path& path)
{
    struct Service {
        const char* folder;
        const char* name;
    };
    constexpr std::array kServices { Service { "onedrive", "OneDrive" }, Service { "dropbox", "Dropbox" },
        Service { "google drive", "Google Drive" }, Service { "googledrive", "Google Drive" },
        Service { "iclouddrive", "iCloud" }, Service { "icloud drive", "iCloud" },
        Service { "mobile documents", "iCloud" }, Service { "com~apple~clouddocs", "iCloud" },
        Service { "nextcloud", "Nextcloud" }, Service { "syncthing", "Syncthing" } };
    for (const auto& part : path) {
        const std::string name = lowerAscii(utf8Text(part));
        for (const Service& service : kServices) {
            if (isFolderOf(service.folder, name))
                return sentence(
                    "'%1' is a folder that %2 synchronises, which copies a live database piece by piece and damages it",
                    { utf8Text(part), service.name });
        }
    }
    return {};
}

Result<double> measureSyncMs(const std::filesystem::path& folder, int rounds)
{
    const std::filesystem::path path = folder / ("sync-" + randomHex(12) + ".tmp");
    FURROW_TRY_ASSIGN(auto file, realFileSystem().create(path));
    const std::string piece(4096, 'x');
    std::vector<double> times;
    Status status;
    for (int round = 0; round < std::max(rounds, 1) && status.ok(); ++round) {
        const auto begin = std::chrono::steady_clock::now();
        status = file->append(piece.data(), piece.size());
        if (status.ok())
            status = file->sync();
        times.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
    }
    (void)file->close(); // nothing in it is wanted
    const Status removed = realFileSystem().removeAll(path);
    if (!status.ok())
        return status.error();
    if (!removed.ok())
        return removed.error();
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::nth_element(times.begin(), middle, times.end());
    return *middle;
}

RandomAccessFile::RandomAccessFile(RandomAccessFile&& other) noexcept
    : handle_(std::exchange(other.handle_, -1))
    , sizeBytes_(std::exchange(other.sizeBytes_, 0))
    , name_(std::move(other.name_))
{
}

RandomAccessFile& RandomAccessFile::operator=(RandomAccessFile&& other) noexcept
{
    std::swap(handle_, other.handle_);
    std::swap(sizeBytes_, other.sizeBytes_);
    std::swap(name_, other.name_);
    return *this;
}

} // namespace furrow
