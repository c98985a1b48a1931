#include "core/data/file_access.h"

#include "core/base/path.h"
#include "core/data/hub/hub_files.h"

#include <algorithm>
#include <chrono>
#include <vector>

namespace furrow {

DirectAccess::DirectAccess(std::shared_ptr<HubPieces> pieces, HubProofs* proofs)
    : pieces_(pieces ? std::move(pieces) : KeepHubPieces::current())
    , proofs_(proofs)
{
}

Result<std::shared_ptr<const ByteSource>> DirectAccess::stored(const DataFile& file)
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
    auto source = openLocalSource(pathFromUtf8(file.path));
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    ++openTimes_.count;
    openTimes_.seconds += took.count();
    openTimes_.slowestSeconds = std::max(openTimes_.slowestSeconds, took.count());
    return source;
}

Result<std::unique_ptr<ByteStream>> DirectAccess::plainFrom(const DataFile& file, std::uint64_t offset)
{
    auto source = stored(file);
    if (!source.ok())
        return source.error();
    if (file.format.isStoredPlain())
        return streamFrom(std::move(source).value(), offset);
    auto stream = plainStream(source.value(), file.format, file.path);
    std::vector<char> waste(1 << 18);
    while (offset > 0) {
        auto n = stream->read(std::span<char>(waste).first(std::min<std::uint64_t>(offset, waste.size())));
        if (!n.ok())
            return n.error();
        if (n.value() == 0)
            return Error { ErrorCode::Corrupt, file.path + " is shorter than it was." };
        offset -= n.value();
    }
    return stream;
}

} // namespace furrow
