#pragma once

#include "core/base/file_system.h"

#include <filesystem>
#include <istream>
#include <memory>

namespace furrow {

/// Io when something of this name is neither a regular file nor missing: a named pipe would let whoever opens it wait
/// for ever, for somebody at its other end. For files that are opened by others' code (spdlog, std::filebuf); links are
/// followed.
Status refuseIrregular(const std::filesystem::path& path);

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
