#include "core/data/file_access.h"

#include "core/base/path.h"
#include "core/data/hub/hub_files.h"
#include "core/data/text_encoding.h"

#include <algorithm>
#include <chrono>

namespace furrow {

DirectAccess::DirectAccess(std::shared_ptr<HubPieces> pieces, HubProofs* proofs)
    : pieces_(pieces ? std::move(pieces) : KeepHubPieces::current())
    , proofs_(proofs)
{
}

std::unique_ptr<ByteStream> plainStream(const std::shared_ptr<const ByteSource>& onDisk, const DataFile& file)
{
    auto stored = file.member ? memberStream(onDisk, *file.member, file.path) : streamFrom(onDisk, 0);
    auto stream = expandedStream(std::move(stored), file.format.compression, file.path);
    return file.format.encoding.empty() ? std::move(stream) : decodedStream(std::move(stream), file.format.encoding);
}

Result<std::shared_ptr<const ByteSource>> DirectAccess::stored(const DataFile& file)
{
    auto source = onDisk(file);
    return source.ok() && file.member ? sliceOf(source.value(), file.member->offset, file.member->packedBytes) : source;
}

Result<std::shared_ptr<const ByteSource>> DirectAccess::onDisk(const DataFile& file)
{
    if (isHubPath(file.path)) {
        for (const auto& open : open_)
            if (open.path == file.path)
                return open.source;
        auto source = openHubFile(file, sharedHubClient(), pieces_, proofs_);
        if (source.ok()) {
            if (open_.size() >= kKeptOpen)
                open_.pop_front();
            open_.push_back({ file.path, source.value() });
        }
        return source;
    }
    const auto start = std::chrono::steady_clock::now();
    auto source = openLocalSource(pathFromUtf8(file.pathOnDisk()));
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    ++openTimes_.count;
    openTimes_.seconds += took.count();
    openTimes_.slowestSeconds = std::max(openTimes_.slowestSeconds, took.count());
    return source;
}

Result<std::unique_ptr<ByteStream>> DirectAccess::plainFrom(const DataFile& file, std::uint64_t offset)
{
    const bool isRange = file.isStoredPlain() && (!file.member || file.member->archivePacking == Compression::None);
    auto source = isRange ? stored(file) : onDisk(file);
    if (!source.ok())
        return source.error();
    if (isRange)
        return streamFrom(std::move(source).value(), offset);
    auto stream = plainStream(source.value(), file);
    auto skipped = stream->skip(offset);
    if (!skipped.ok())
        return skipped.error();
    if (skipped.value() < offset)
        return Error { ErrorCode::Corrupt, file.path + " is shorter than it was." };
    return stream;
}

} // namespace furrow
