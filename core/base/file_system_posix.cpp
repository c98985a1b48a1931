#include "core/base/file_system.h"

#include "core/base/dead_link.h"
#include "core/base/disk_room.h"
#include "core/base/fault_injection.h"
#include "core/base/group_share.h"
#include "core/base/path.h"
#include "core/base/process_limit.h"
#include "core/base/regular_file.h"
#include "core/base/synced_folder.h"
#include "core/base/sentence.h"
#include "core/base/sync_file.h"
#include "core/base/system_error.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <ftw.h>
#include <linux/fs.h>
#include <sstream>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <utility>

namespace furrow {

namespace {

/// The file that could not be written: what was tried names it first.
std::filesystem::path placeOf(const Message& failed)
{
    const auto& named = failed.arguments();
    return named.empty() ? std::filesystem::path() : pathFromUtf8(named.front().text());
}

/// Why a path leads nowhere: something that is no folder stands where one is wanted, or it does not exist.
Message whyNotThere(const std::filesystem::path& path)
{
    std::filesystem::path so;
    for (const auto& part : path) {
        so /= part;
        std::error_code unknown;
        const auto type = std::filesystem::status(so, unknown).type();
        if (type == std::filesystem::file_type::not_found || type == std::filesystem::file_type::none)
            break;
        if (type != std::filesystem::file_type::directory)
            return sentence("%1 is not a folder; move it away or choose another place", { utf8Text(so) });
    }
    return sentence("it or its folder does not exist");
}

Message whyTaken(const std::filesystem::path& path)
{
    const Message deadLink = deadLinkOn(path);
    return deadLink.empty() ? sentence("the name is taken") : deadLink;
}

} // namespace

Error systemError(const Message& failed, int code, Access wanted)
{
    const Message what = failed + ": ";
    switch (code) {
    case ENOENT: return { ErrorCode::NotFound, what + sentence("it or its folder does not exist") };
    case ENOTDIR: return { ErrorCode::NotFound, what + whyNotThere(placeOf(failed)) };
    case ENOSPC: return { ErrorCode::Io, what + noRoomInWords(placeOf(failed)) };
    case EFBIG: return { ErrorCode::Io, what + tooLargeInWords() };
    case EXDEV: return { ErrorCode::Io, what + sentence("the two places are on different disks; move it by hand") };
    case EDQUOT: return { ErrorCode::Io, what + sentence("your disk quota is used up; free some space and try again") };
    case EACCES:
    case EPERM: return { ErrorCode::Io, what + whyDenied(placeOf(failed), wanted) };
    case EROFS: return { ErrorCode::Io, what + sentence("the file system is read-only; choose another place") };
    case EMFILE: return { ErrorCode::Io, what + sentence(kOpenFileLimit) };
    case ENFILE: return { ErrorCode::Io, what + sentence("the system has too many open files; end some programs") };
    case EISDIR: return { ErrorCode::InvalidArgument, what + sentence("it is a folder") };
    case EEXIST: return { ErrorCode::Io, what + whyTaken(placeOf(failed)) };
    case ENOTEMPTY: return { ErrorCode::Io, what + sentence("the name is taken") };
    default: return { ErrorCode::Io, what + std::strerror(code) };
    }
}

namespace {

int openRetrying(const char* path, int flags, mode_t mode = 0)
{
    int handle = -1;
    do
        handle = ::open(path, flags | O_CLOEXEC, mode);
    while (handle < 0 && errno == EINTR);
    return handle;
}

class RealOutputFile final : public OutputFile {
public:
    RealOutputFile(int handle, std::filesystem::path path)
        : handle_(handle)
        , path_(std::move(path))
    {
    }
    ~RealOutputFile() override
    {
        if (handle_ >= 0)
            ::close(handle_);
    }
    RealOutputFile(const RealOutputFile&) = delete;
    RealOutputFile& operator=(const RealOutputFile&) = delete;

    Status append(const void* data, std::size_t sizeBytes) override
    {
        if (diskPretendsFull())
            return systemError(sentence("cannot write %1", { utf8Text(path_) }), ENOSPC);
        const char* from = static_cast<const char*>(data);
        while (sizeBytes > 0) {
            const ssize_t written = ::write(handle_, from, sizeBytes);
            if (written < 0 && errno == EINTR)
                continue;
            if (written < 0)
                return systemError(sentence("cannot write %1", { utf8Text(path_) }), errno);
            from += written;
            sizeBytes -= static_cast<std::size_t>(written);
        }
        return {};
    }

    Status sync() override
    {
        if (::fdatasync(handle_) != 0)
            return systemError(sentence("cannot sync %1", { utf8Text(path_) }), errno);
        return {};
    }

    Status close() override
    {
        if (handle_ >= 0 && ::close(std::exchange(handle_, -1)) != 0)
            return systemError(sentence("cannot close %1", { utf8Text(path_) }), errno);
        return {};
    }

private:
    int handle_; // -1 once closed
    std::filesystem::path path_;
};

class RealFileSystem final : public FileSystem {
public:
    Result<std::unique_ptr<OutputFile>> create(const std::filesystem::path& path) override
    {
        FURROW_TRY_ASSIGN(auto file, RegularFile::open(path, RegularFile::At::Nothing, Links::Follow));
        return std::unique_ptr<OutputFile>(std::make_unique<RealOutputFile>(static_cast<int>(file.release()), path));
    }

    Result<std::string> read(const std::filesystem::path& path) override { return readFile(path); }

    Status createFolders(const std::filesystem::path& path) override
    {
        std::error_code error;
        std::vector<std::filesystem::path> missing;
        for (auto one = path; !std::filesystem::exists(one, error) && one.has_relative_path(); one = one.parent_path())
            missing.push_back(one);
        std::filesystem::create_directories(path, error);
        if (error)
            return systemError(sentence("cannot create the folder %1", { utf8Text(path) }), error.value());
        for (const auto& made : missing)
            shareMadeFolder(made);
        return {};
    }

    Status createFolder(const std::filesystem::path& path) override
    {
        std::error_code error;
        const bool isNew = std::filesystem::create_directory(path, error);
        if (error)
            return systemError(sentence("cannot create the folder %1", { utf8Text(path) }), error.value());
        if (isNew)
            shareMadeFolder(path);
        return {};
    }

    Status rename(const std::filesystem::path& from, const std::filesystem::path& to) override
    {
        if (::syscall(SYS_renameat2, AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0)
            return {};
        if (errno != EINVAL && errno != ENOSYS)
            return failedRename(from, to, errno);
        // A file system without the flag: names are unique here, so the check only guards against mistakes.
        struct stat taken {};
        if (::lstat(to.c_str(), &taken) == 0)
            return failedRename(from, to, EEXIST);
        return replace(from, to);
    }

    Status replace(const std::filesystem::path& from, const std::filesystem::path& to) override
    {
        if (::rename(from.c_str(), to.c_str()) != 0)
            return failedRename(from, to, errno);
        return {};
    }

    Status syncFolder(const std::filesystem::path& folder) override
    {
        const int handle = openRetrying(folder.c_str(), O_RDONLY | O_DIRECTORY);
        if (handle < 0)
            return systemError(sentence("cannot open the folder %1", { utf8Text(folder) }), errno, Access::Read);
        const int failed = ::fsync(handle) == 0 ? 0 : errno;
        ::close(handle);
        if (failed != 0 && failed != EINVAL) // EINVAL: this file system has no such call
            return systemError(sentence("cannot sync the folder %1", { utf8Text(folder) }), failed);
        return {};
    }

    /// Not std::filesystem::remove_all: libtorch.so exports one of its own (another libstdc++), which a program that
    /// links both gets instead of ours, and which crashes on a folder that is not empty.
    Status removeAll(const std::filesystem::path& path) override
    {
        constexpr int kOpenFolders = 32;
        const auto removeOne = [](const char* name, const struct stat*, int, struct FTW*) {
            return ::remove(name) == 0 || errno == ENOENT ? 0 : errno;
        };
        const int failed = ::nftw(path.c_str(), removeOne, kOpenFolders, FTW_DEPTH | FTW_PHYS);
        if (failed == 0 || (failed < 0 && errno == ENOENT))
            return {};
        return systemError(sentence("cannot remove %1", { utf8Text(path) }), failed > 0 ? failed : errno);
    }

private:
    static Error failedRename(const std::filesystem::path& from, const std::filesystem::path& to, int code)
    {
        const Message failed = sentence("cannot rename %1 to %2", { utf8Text(from), utf8Text(to) });
        if (code != EACCES && code != EPERM)
            return systemError(failed, code);
        return { ErrorCode::Io, failed + ": " + whyDenied(whatDenies(from, to), Access::Write) };
    }

    /// A name is taken out of one folder and put into another; a folder that moves is changed itself.
    static std::filesystem::path whatDenies(const std::filesystem::path& from, const std::filesystem::path& to)
    {
        for (const auto& folder : { from.parent_path(), to.parent_path() })
            if (!checkWritable(folder).ok())
                return folder;
        return from;
    }
};

/// File system type of the mount that holds `path`, e.g. "fuse.sshfs"; its options in `options`.
std::string mountType(const std::filesystem::path& path, std::string& options)
{
    struct stat facts {};
    if (::stat(path.c_str(), &facts) != 0)
        return {};
    const std::string device = std::to_string(major(facts.st_dev)) + ":" + std::to_string(minor(facts.st_dev));
    std::ifstream mounts("/proc/self/mountinfo");
    for (std::string line; std::getline(mounts, line);) {
        std::istringstream words(line);
        std::string id, parent, number, word, type, source;
        words >> id >> parent >> number;
        if (number != device)
            continue;
        while (words >> word && word != "-") { }
        words >> type >> source >> options;
        return type;
    }
    return {};
}

Message fuseReason(const std::filesystem::path& path)
{
    std::string options;
    const std::string type = mountType(path, options);
    for (const char* local : { "fuseblk", "fuse.fuse-overlayfs", "fuse.mergerfs", "fuse.gocryptfs", "fuse.encfs",
             "fuse.zfs", "fuse.bindfs", "fuse.lxcfs", "fuse.ntfs-3g" }) {
        if (type == local)
            return {};
    }
    return sentence("it lies on a network or synchronised file system (%1), where locks and syncs do not hold",
        { type.empty() ? "fuse" : type });
}

Message fileSystemReason(const std::filesystem::path& path)
{
    struct statfs facts {};
    if (::statfs(path.c_str(), &facts) != 0)
        return {};
    // linux/magic.h, and the out-of-tree ones from statfs(2)
    const auto network = [](const char* name) {
        return sentence("it lies on a network file system (%1), where locks do not hold", { name });
    };
    switch (static_cast<std::uint32_t>(facts.f_type)) {
    case 0x6969: return network("NFS");
    case 0x517B:
    case 0xFE534D42:
    case 0xFF534D42: return network("SMB");
    case 0x5346414F:
    case 0x6B414653: return network("AFS");
    case 0x73757245: return network("Coda");
    case 0x00C36400: return network("Ceph");
    case 0x0BD00BD0: return network("Lustre");
    case 0x47504653: return network("GPFS");
    case 0x01021997: return network("9p, a folder of the host of this virtual machine");
    case 0x786F4256: return network("a VirtualBox shared folder");
    case 0xBACBACBC: return network("a VMware shared folder");
    case 0x4D44:
    case 0x2011BAB0: return sentence("it lies on a FAT file system, which can lose a whole file when the power fails");
    case 0x65735546: return fuseReason(path);
    default: return {};
    }
}

} // namespace

FileSystem& realFileSystem()
{
    static RealFileSystem files;
    return files;
}

Status checkWritable(const std::filesystem::path& folder)
{
    const auto failed
        = [&folder](int code) { return systemError(sentence("cannot write in %1", { utf8Text(folder) }), code); };
    std::error_code unknown;
    if (const auto there = std::filesystem::status(folder, unknown);
        std::filesystem::exists(there) && !std::filesystem::is_directory(there))
        return failed(ENOTDIR);
    return ::faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) == 0 ? Status {} : failed(errno);
}

Status checkFileReadable(const std::filesystem::path& file)
{
    return ::faccessat(AT_FDCWD, file.c_str(), R_OK, AT_EACCESS) == 0
        ? Status {}
        : Status(systemError(sentence("cannot read %1", { utf8Text(file) }), errno));
}

Status checkFileWritable(const std::filesystem::path& file)
{
    return ::faccessat(AT_FDCWD, file.c_str(), W_OK, AT_EACCESS) == 0
        ? Status {}
        : Status(systemError(sentence("cannot write %1", { utf8Text(file) }), errno));
}

Status checkWritableByAny(const std::filesystem::path& file)
{
    const int code = ::faccessat(AT_FDCWD, file.c_str(), W_OK, AT_EACCESS) == 0 ? 0 : errno;
    return code == EROFS || code == EPERM ? Status(systemError(sentence("cannot write %1", { utf8Text(file) }), code))
                                          : Status {};
}

bool isLink(const std::filesystem::path& path)
{
    struct stat facts {};
    return ::lstat(path.c_str(), &facts) == 0 && S_ISLNK(facts.st_mode);
}

Message unsafeForLedgerReason(const std::filesystem::path& path)
{
    std::error_code error;
    std::filesystem::path existing = std::filesystem::weakly_canonical(path, error);
    if (error)
        existing = std::filesystem::absolute(path, error);
    if (auto reason = syncedFolderReason(existing); !reason.empty())
        return reason;
    while (!std::filesystem::exists(existing, error) && existing.has_relative_path())
        existing = existing.parent_path();
    return fileSystemReason(existing);
}

Result<RandomAccessFile> RandomAccessFile::open(const std::filesystem::path& path) { return openWith(path, 0); }

Result<RandomAccessFile> RandomAccessFile::openOwn(const std::filesystem::path& path)
{
    auto file = openWith(path, O_NOFOLLOW);
    struct stat facts {};
    const bool isLink = !file.ok() && ::lstat(path.c_str(), &facts) == 0 && S_ISLNK(facts.st_mode);
    const bool hasOtherName
        = file.ok() && (::fstat(static_cast<int>(file.value().handle_), &facts) != 0 || facts.st_nlink > 1);
    if (isLink || hasOtherName)
        return Error { ErrorCode::InvalidArgument,
            sentence("cannot read %1", { utf8Text(path) }) + ": " + sentence("it is a link to a file elsewhere") };
    return file;
}

Result<RandomAccessFile> RandomAccessFile::openWith(const std::filesystem::path& path, int flags)
{
    // O_NONBLOCK: opening a named pipe must not hang
    const int handle = openRetrying(path.c_str(), O_RDONLY | O_NONBLOCK | flags);
    if (handle < 0 && errno == ENXIO) // a socket
        return Error { ErrorCode::InvalidArgument,
            sentence("cannot read %1", { utf8Text(path) }) + ": " + sentence("it is not a regular file") };
    if (handle < 0)
        return systemError(sentence("cannot read %1", { utf8Text(path) }), errno, Access::Read);
    RandomAccessFile file;
    file.handle_ = handle;
    file.name_ = utf8Text(path);
    struct stat facts {};
    if (::fstat(handle, &facts) != 0)
        return systemError(sentence("cannot read %1", { utf8Text(path) }), errno, Access::Read);
    if (!S_ISREG(facts.st_mode))
        return Error { ErrorCode::InvalidArgument,
            sentence("cannot read %1", { file.name_ }) + ": "
                + (S_ISDIR(facts.st_mode) ? sentence("it is a folder") : sentence("it is not a regular file")) };
    file.sizeBytes_ = static_cast<std::uint64_t>(facts.st_size);
    return file;
}

RandomAccessFile::~RandomAccessFile()
{
    if (handle_ >= 0)
        ::close(static_cast<int>(handle_));
}

Status RandomAccessFile::readAt(std::uint64_t offset, std::span<std::byte> into) const
{
    while (!into.empty()) {
        const ssize_t got = ::pread(static_cast<int>(handle_), into.data(), into.size(), static_cast<off_t>(offset));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return systemError(sentence("cannot read %1", { name_ }), errno, Access::Read);
        if (got == 0)
            return Error { ErrorCode::Corrupt,
                sentence("%1 ends at byte %2, before what should be read; it was cut short",
                    { name_, std::to_string(offset) }) };
        offset += static_cast<std::uint64_t>(got);
        into = into.subspan(static_cast<std::size_t>(got));
    }
    return {};
}

Status syncFile(const std::filesystem::path& path)
{
    const int handle = openRetrying(path.c_str(), O_RDONLY);
    if (handle < 0)
        return systemError(sentence("cannot open %1", { utf8Text(path) }), errno);
    const int failed = ::fdatasync(handle) == 0 ? 0 : errno;
    ::close(handle);
    return failed == 0 ? Status {} : Status(systemError(sentence("cannot sync %1", { utf8Text(path) }), failed));
}

} // namespace furrow
