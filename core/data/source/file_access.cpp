#include "core/data/source/file_access.h"

#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/data/hub/hub_files.h"
#include "core/data/source/distant_source.h"
#include "core/data/source/text_encoding.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace furrow {

DirectAccess::DirectAccess(std::shared_ptr<HubPieces> pieces, HubProofs* proofs)
    : pieces_(pieces ? std::move(pieces) : KeepHubPieces::current())
    , proofs_(proofs)
{
}

namespace {

std::unique_ptr<ByteStream> plainOf(std::unique_ptr<ByteStream> stored, const DataFile& file)
{
    auto stream = expandedStream(std::move(stored), file.format.compression, file.path);
    return file.format.encoding.empty() ? std::move(stream) : decodedStream(std::move(stream), file.format.encoding);
}

} // namespace

struct DirectAccess::Expanded {
    std::string archive;
    std::unique_ptr<ByteStream> stream;
    std::uint64_t at = 0;
    bool failed = false;
};

/// What comes next of an archive that is being expanded.
class DirectAccess::ExpandedRest : public ByteStream {
public:
    explicit ExpandedRest(std::shared_ptr<Expanded> expanded)
        : expanded_(std::move(expanded))
    {
    }
    Result<std::size_t> read(std::span<char> into) override
    {
        auto n = expanded_->stream->read(into);
        expanded_->failed = !n.ok();
        expanded_->at += n.ok() ? n.value() : 0;
        return n;
    }

private:
    std::shared_ptr<Expanded> expanded_;
};

std::unique_ptr<ByteStream> plainStream(const std::shared_ptr<const ByteSource>& onDisk, const DataFile& file)
{
    return plainOf(file.member ? memberStream(onDisk, *file.member, file.path) : streamFrom(onDisk, 0), file);
}

/// From its beginning. Goes on where the file before ended, unless somebody still reads that or it lies behind.
Result<std::unique_ptr<ByteStream>> DirectAccess::fromPackedArchive(const DataFile& file)
{
    const auto& member = *file.member;
    const bool goesOn = expanded_ && expanded_.use_count() == 1 && !expanded_->failed
        && expanded_->archive == member.archive && expanded_->at <= member.offset;
    if (!goesOn) {
        FURROW_TRY_ASSIGN(auto source, onDisk(file));
        expanded_ = std::make_shared<Expanded>(
            Expanded { member.archive, expandedStream(streamFrom(source, 0), member.archivePacking, member.archive) });
    }
    const std::uint64_t at = expanded_->at;
    return plainOf(memberStream(std::make_unique<ExpandedRest>(expanded_), at, member, file.path), file);
}

bool DirectAccess::asksAnew(const DataFile& file, std::int64_t row, const Error& error)
{
    if (error.code != ErrorCode::Corrupt || !isDistantPath(file.path) || !askedAnew_.insert({ file.path, row }).second)
        return false;
    if (file.format.format == TextFormat::Parquet && !file.member)
        return true; // its reader has dropped what looked wrong, page by page
    const auto source = onDisk(file);
    const auto* distant = source.ok() ? dynamic_cast<const DistantSource*>(source.value().get()) : nullptr;
    const bool isPart = file.member && file.member->archivePacking == Compression::None;
    const ByteRange part = isPart ? ByteRange { file.member->offset, file.member->packedBytes } : kWholeFile;
    if (distant != nullptr)
        distant->distrust(part, part);
    return true;
}

Status DirectAccess::finishArchive()
{
    const auto rest = std::exchange(expanded_, nullptr);
    if (!rest || rest->failed)
        return {};
    const auto skipped = rest->stream->skip(UINT64_MAX);
    return skipped.ok() ? Status {} : Status(skipped.error());
}

Result<std::shared_ptr<const ByteSource>> DirectAccess::stored(const DataFile& file)
{
    auto source = onDisk(file);
    return source.ok() && file.member ? sliceOf(source.value(), file.member->offset, file.member->packedBytes) : source;
}

Result<std::shared_ptr<const ByteSource>> DirectAccess::onDisk(const DataFile& file)
{
    if (isDistantPath(file.path)) {
        for (const auto& open : open_)
            if (open.path == file.pathOnDisk())
                return open.source;
        auto source = openHubFile(file, sharedHubClient(), pieces_, proofs_);
        if (source.ok()) {
            if (open_.size() >= kKeptOpen)
                open_.pop_front();
            open_.push_back({ file.pathOnDisk(), source.value() });
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
    const bool isInPacked = file.member && file.member->archivePacking != Compression::None;
    const bool isRange = file.isStoredPlain() && !isInPacked;
    FURROW_TRY_ASSIGN(auto source, isRange ? stored(file) : onDisk(file));
    if (isRange)
        return streamFrom(std::move(source), offset);
    FURROW_TRY_ASSIGN(auto opened, isInPacked ? fromPackedArchive(file) : plainStream(source, file));
    auto stream = std::move(opened);
    FURROW_TRY_ASSIGN(auto skipped, stream->skip(offset));
    if (skipped < offset)
        return Error { ErrorCode::Corrupt, sentence("%1 is shorter than it was.", { file.path }) };
    return stream;
}

} // namespace furrow
