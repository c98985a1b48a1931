#pragma once

#include "core/libtorch/wheel_download.h"

namespace furrow {

/// What of an archive a libtorch is made of.
struct UnpackChoice {
    bool cuda = true; ///< the CUDA half too
};

/// Where a file of a wheel, or of an archive of libtorch, goes below the folder that gets torch/ and nvidia/; empty: it
/// is left out. Libraries, their licences and what says the version are taken; nothing of Python.
std::filesystem::path unpackedPlace(std::string_view entry, const UnpackChoice& choice);

/// How many bytes will come out of it. Corrupt or InvalidArgument for an archive that is damaged or hostile.
Result<std::uint64_t> unpackedBytes(const std::filesystem::path& archive, const UnpackChoice& choice);

/// Unpacks into `folder`, which is the caller's own. Sizes and checksums are those that the archive promises, files are
/// durable.
Status unpackWheel(const std::filesystem::path& archive, const UnpackChoice& choice,
    const std::filesystem::path& folder, const ByteProgress& progress);

} // namespace furrow
