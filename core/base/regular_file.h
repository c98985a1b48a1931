#pragma once

#include "core/base/file_stamp.h"
#include "core/base/file_system.h"

#include <cstdint>
#include <filesystem>
#include <istream>
#include <memory>
#include <string_view>
#include <utility>

namespace furrow {

/// Io when something of this name is neither a regular file nor missing: a named pipe would let whoever opens it wait
/// for ever, for somebody at its other end. For refusals before anything begins; whoever writes opens a RegularFile.
/// Links are followed.
Status refuseIrregular(const std::filesystem::path& path);
/// The error that says so. Whether it is a link is looked up.
Error irregular(const std::filesystem::path& path, bool isFolder = false);

/// A file opened for writing where others may have put anything. What was opened is judged, not what the name meant a
/// moment before: a link, a named pipe or a folder is refused, and opening never waits. Without a buffer; not
/// thread-safe.
class RegularFile {
public:
    enum class At {
        Beginning, ///< over what is there
        End, ///< each write, behind what is there by then
        Nothing ///< what was there is gone
    };
    /// Makes the file where there is none; its folder must be there, and may be reached through links.
    static Result<RegularFile> open(const std::filesystem::path& path, At at, Links links = Links::AsThemselves);
    RegularFile(RegularFile&&) noexcept;
    RegularFile& operator=(RegularFile&&) noexcept;
    ~RegularFile();

    /// How many of the bytes went in: fewer than all when the disk takes no more.
    std::size_t write(std::string_view bytes);
    /// Of the operating system.
    std::intptr_t handle() const { return handle_; }
    /// The same, to be closed by the caller.
    std::intptr_t release() { return std::exchange(handle_, -1); }

private:
    explicit RegularFile(std::intptr_t handle)
        : handle_(handle)
    {
    }
    std::intptr_t handle_ = -1; // -1: nothing is open
};

/// The bytes that a regular file had when it was opened. Failed from the start when it cannot be read or is no regular
/// file: opening never waits.
class RegularFileStream final : public std::istream {
public:
    explicit RegularFileStream(const std::filesystem::path& path);
    ~RegularFileStream() override;

private:
    class Buffer;
    std::unique_ptr<Buffer> buffer_;
};

} // namespace furrow
