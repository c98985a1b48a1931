#include "core/data/hub/hub_pieces.h"

#include "core/base/file_system.h"
#include "core/base/hash.h"
#include "core/base/path.h"
#include "core/base/regular_file.h"
#include "core/base/sentence.h"

#include <algorithm>
#include <charconv>
#include <cstring>

namespace furrow {

namespace {

std::mutex currentMutex;
std::weak_ptr<HubPieces> currentPieces; // guarded by currentMutex

constexpr const char* kPieceEnding = ".range";

/// Of the bytes and their place: a frame in another piece, or at another place in its own, is damage too.
std::uint64_t checksum(const std::string& name, std::uint64_t at, std::string_view bytes)
{
    return xxh3(name, at) ^ xxh3(bytes, at);
}

struct FrameHead {
    std::uint64_t at = 0;
    std::uint64_t sizeBytes = 0;
};

constexpr std::uint64_t kMostFrameBytes = 256ull << 20; // what is kept at a time is far less

std::uint64_t sizeOf(const std::filesystem::path& path)
{
    std::error_code none;
    const auto bytes = std::filesystem::file_size(path, none);
    return none ? 0 : bytes;
}

/// What the frames of a piece take at most. What is larger is not a piece: it is neither read nor added to.
std::uint64_t mostOnDisk(const HubFile& file, std::uint64_t offset)
{
    constexpr std::uint64_t kRoom = 1ull << 20; // heads and checksums of many small frames
    return 2 * (file.sizeBytes - std::min(offset, file.sizeBytes)) + kRoom;
}

/// Whole frames, and where in the file they end.
struct WholeFrames {
    std::string bytes;
    std::uint64_t end = 0;
};

WholeFrames takeFrames(const std::string& name, std::string_view file)
{
    WholeFrames piece;
    for (;;) {
        FrameHead head;
        std::uint64_t sum = 0;
        const auto rest = file.substr(piece.end);
        if (rest.size() < sizeof head + sizeof sum)
            return piece;
        std::memcpy(&head, rest.data(), sizeof head);
        if (head.at != piece.bytes.size() || head.sizeBytes > rest.size() - sizeof head - sizeof sum)
            return piece;
        const auto bytes = rest.substr(sizeof head, head.sizeBytes);
        std::memcpy(&sum, rest.data() + sizeof head + head.sizeBytes, sizeof sum);
        if (sum != checksum(name, head.at, bytes))
            return piece;
        piece.bytes.append(bytes);
        piece.end += sizeof head + head.sizeBytes + sizeof sum;
    }
}

std::string asFrame(const std::string& name, std::uint64_t at, std::string_view bytes)
{
    const FrameHead head { at, bytes.size() };
    const std::uint64_t sum = checksum(name, at, bytes);
    std::string frame(reinterpret_cast<const char*>(&head), sizeof head);
    frame.append(bytes);
    return frame.append(reinterpret_cast<const char*>(&sum), sizeof sum);
}

} // namespace

bool isSha256(std::string_view text)
{
    return text.size() == kSha256Digits && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::string contentName(const HubFile& file)
{
    if (isSha256(file.sha256))
        return file.sha256;
    return sha256Hex(file.sha256 + file.oid + "/" + std::to_string(file.sizeBytes))
        .substr(0, kSha256Digits / 2); // names of the hub are not to be trusted
}

std::string pieceName(const HubFile& file, std::uint64_t offset)
{
    return contentName(file) + "." + std::to_string(offset) + kPieceEnding;
}

std::uint64_t tailOffset(std::uint64_t fileBytes)
{
    constexpr std::uint64_t kLeast = 8ull << 10;
    constexpr std::uint64_t kMost = 64ull << 10; // a larger footer says so, and the rest of it is asked for
    return fileBytes - std::min(fileBytes, std::clamp(fileBytes / 1024, kLeast, kMost));
}

std::filesystem::path arrivedNote(const std::filesystem::path& whole)
{
    auto note = whole;
    note += kArrivedEnding;
    return note;
}

bool isPiece(const std::string& fileName) { return fileName.ends_with(kPieceEnding); }

Status checkPiece(const std::filesystem::path& path, const std::string& fileName)
{
    RegularFileStream file(path);
    if (!file)
        return Error { ErrorCode::Io, sentence("%1 cannot be read", { utf8Text(path) }) };
    std::string frame;
    for (std::uint64_t at = 0; file.peek() != std::char_traits<char>::eof();) {
        FrameHead head;
        std::uint64_t sum = 0;
        file.read(reinterpret_cast<char*>(&head), sizeof head);
        const bool isHead = file.gcount() == sizeof head && head.at == at && head.sizeBytes <= kMostFrameBytes;
        frame.resize(isHead ? head.sizeBytes : 0);
        file.read(frame.data(), static_cast<std::streamsize>(frame.size()));
        file.read(reinterpret_cast<char*>(&sum), sizeof sum);
        if (!isHead || !file || sum != checksum(fileName, at, frame))
            return Error { ErrorCode::Corrupt,
                sentence("The download %1 is damaged: its checksum differs.", { fileName }) };
        at += head.sizeBytes;
    }
    return {};
}

HubPieces::HubPieces(std::filesystem::path cacheFolder, std::uint64_t capBytes)
    : folder_(std::move(cacheFolder))
    , capBytes_(capBytes)
{
}

HubPieces::HubPieces(std::shared_ptr<BlockCache> cache)
    : opened_(true)
    , cache_(std::move(cache))
{
}

std::shared_ptr<BlockCache> HubPieces::cache()
{
    const std::lock_guard guard(mutex_);
    if (!opened_) {
        opened_ = true;
        auto cache = BlockCache::open(folder_, capBytes_);
        cache_ = cache.ok() ? cache.value() : nullptr;
    }
    return cache_;
}

std::string HubPieces::find(const HubFile& file, std::uint64_t offset) { return read(file, offset).bytes; }

std::string HubPieces::takeUp(const HubFile& file, std::uint64_t offset)
{
    auto there = read(file, offset);
    if (there.fileBytes != there.framesEnd) // a kill in the middle of a frame, or damage
        cache()->cut(kDownloads, pieceName(file, offset), there.framesEnd);
    return std::move(there.bytes);
}

HubPieces::OnDisk HubPieces::read(const HubFile& file, std::uint64_t offset)
{
    const std::string name = pieceName(file, offset);
    const auto in = cache();
    const auto path = in ? in->find(kDownloads, name) : std::nullopt;
    if (const auto onDisk = path ? sizeOf(*path) : 0; onDisk > mostOnDisk(file, offset))
        return { {}, 0, onDisk }; // no piece of this file: not worth reading
    const auto bytes = path ? readFile(*path, mostOnDisk(file, offset)) : Result<std::string>(std::string());
    if (!bytes.ok())
        return {}; // it cannot be read now, which is no damage
    auto frames = takeFrames(name, bytes.value());
    if (frames.bytes.size() > file.sizeBytes - std::min(offset, file.sizeBytes))
        return { {}, 0, bytes.value().size() };
    if (!frames.bytes.empty())
        noteSeen(name);
    return { std::move(frames.bytes), frames.end, bytes.value().size() };
}

std::vector<std::uint64_t> HubPieces::offsets(const HubFile& file)
{
    std::vector<std::uint64_t> all;
    const auto in = cache();
    const auto entries = in ? entriesOf(in->folder() / kDownloads)
                            : Result<std::vector<std::filesystem::path>>(std::vector<std::filesystem::path> {});
    if (!entries.ok())
        return all;
    const std::string begin = contentName(file) + ".";
    for (const auto& entry : entries.value()) {
        const std::string name = utf8Text(entry.filename());
        std::uint64_t offset = 0;
        if (!name.starts_with(begin) || !isPiece(name))
            continue;
        const auto parsed = std::from_chars(name.data() + begin.size(), name.data() + name.size(), offset);
        if (parsed.ec == std::errc() && std::string_view(parsed.ptr) == kPieceEnding)
            all.push_back(offset);
    }
    std::sort(all.begin(), all.end());
    return all;
}

void HubPieces::forget(const HubFile& file, std::uint64_t offset)
{
    if (const auto in = cache())
        (void)in->quarantine(kDownloads, pieceName(file, offset));
}

void HubPieces::noteSeen(const std::string& name)
{
    const std::lock_guard guard(mutex_);
    seen_.insert(name);
}

bool HubPieces::forgetSeen()
{
    const auto in = cache();
    std::set<std::string> seen;
    {
        const std::lock_guard guard(mutex_);
        seen.swap(seen_);
    }
    for (const auto& name : seen)
        (void)in->quarantine(kDownloads, name);
    return !seen.empty();
}

ByteRange HubPieces::toComeAnew(const HubFile& file, const ByteRange& part, const ByteRange& page)
{
    const std::lock_guard guard(mutex_);
    if (once_ == 0)
        return part;
    const bool isNewPage = pagesAnew_.insert(pieceName(file, page.offset)).second; // it comes with all of the part, too
    return partsAnew_.insert(pieceName(file, part.offset)).second ? part : isNewPage ? page : ByteRange {};
}

FetchAnewOnce::FetchAnewOnce(std::shared_ptr<HubPieces> pieces)
    : pieces_(std::move(pieces))
{
    if (!pieces_)
        return;
    const std::lock_guard guard(pieces_->mutex_);
    ++pieces_->once_;
}

FetchAnewOnce::~FetchAnewOnce()
{
    if (!pieces_)
        return;
    const std::lock_guard guard(pieces_->mutex_);
    if (--pieces_->once_ > 0)
        return;
    pieces_->partsAnew_.clear();
    pieces_->pagesAnew_.clear();
}

void HubPieces::drop(const HubFile& file, std::uint64_t offset)
{
    if (const auto in = cache())
        in->remove(kDownloads, pieceName(file, offset));
}

void HubPieces::keep(const HubFile& file, std::uint64_t offset, std::uint64_t there, std::string_view bytes)
{
    const auto in = bytes.empty() ? nullptr : cache();
    if (!in)
        return;
    const std::string name = pieceName(file, offset);
    const std::uint64_t end = sizeOf(in->path(kDownloads, name));
    if ((there == 0) != (end == 0))
        return; // it was evicted meanwhile
    noteSeen(name);
    const auto frame = asFrame(name, there, bytes);
    (void)in->append(kDownloads, name, end, frame.data(), frame.size()); // what is not kept is fetched again
}

KeepHubPieces::KeepHubPieces(const std::filesystem::path& cacheFolder, double cacheGiB)
    : pieces_(std::make_shared<HubPieces>(cacheFolder, static_cast<std::uint64_t>(cacheGiB * 1024 * 1024 * 1024)))
{
    const std::lock_guard guard(currentMutex);
    currentPieces = pieces_;
}

KeepHubPieces::~KeepHubPieces() = default;

std::shared_ptr<HubPieces> KeepHubPieces::current()
{
    const std::lock_guard guard(currentMutex);
    return currentPieces.lock();
}

} // namespace furrow
