#include "core/data/hub/hub_pieces.h"

#include "core/base/file_system.h"
#include "core/base/hash.h"
#include "core/base/sentence.h"

#include <cstring>

namespace furrow {

namespace {

std::mutex currentMutex;
std::weak_ptr<HubPieces> currentPieces; // guarded by currentMutex

constexpr const char* kPieceEnding = ".piece";

std::string nameOf(const HubFile& file, std::uint64_t offset)
{
    return contentName(file) + "." + std::to_string(offset) + kPieceEnding;
}

/// Of the bytes and their place: a piece under the name of another one is damage too.
std::uint64_t checksum(const std::string& name, std::string_view bytes)
{
    return xxh3(name) ^ xxh3(bytes);
}

/// The bytes of a piece without the checksum behind them.
Result<std::string> readPiece(const std::filesystem::path& path, const std::string& name)
{
    auto read = readFile(path);
    if (!read.ok())
        return read;
    std::string piece = std::move(read).value();
    std::uint64_t written = 0;
    const bool whole = piece.size() > sizeof written;
    if (whole) {
        std::memcpy(&written, piece.data() + piece.size() - sizeof written, sizeof written);
        piece.resize(piece.size() - sizeof written);
    }
    if (!whole || written != checksum(name, piece))
        return Error { ErrorCode::Corrupt, sentence("The download %1 is damaged: its checksum differs.", { name }) };
    return piece;
}

} // namespace

std::string contentName(const HubFile& file)
{
    const auto isHex = [](const std::string& text) { return text.find_first_not_of("0123456789abcdef") == std::string::npos; };
    if (file.sha256.size() == kSha256Digits && isHex(file.sha256))
        return file.sha256;
    return sha256Hex(file.sha256 + file.oid + "/" + std::to_string(file.sizeBytes)).substr(0, kSha256Digits / 2); // names of the hub are not to be trusted
}

std::uint64_t tailOffset(std::uint64_t fileBytes)
{
    constexpr std::uint64_t kTailBytes = 512ull << 10;
    return fileBytes > kTailBytes ? fileBytes - kTailBytes : 0;
}

bool isPiece(const std::string& fileName)
{
    return fileName.ends_with(kPieceEnding);
}

Status checkPiece(const std::filesystem::path& path, const std::string& fileName)
{
    auto piece = readPiece(path, fileName);
    return piece.ok() ? Status {} : Status(piece.error());
}

HubPieces::HubPieces(std::filesystem::path cacheFolder, std::uint64_t capBytes)
    : folder_(std::move(cacheFolder))
    , capBytes_(capBytes)
    , keeps_(true)
{
}

HubPieces::HubPieces(std::shared_ptr<BlockCache> cache)
    : keeps_(false)
    , opened_(true)
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

std::optional<std::string> HubPieces::find(const HubFile& file, std::uint64_t offset)
{
    const std::string name = nameOf(file, offset);
    const auto in = cache();
    const auto path = in ? in->find(kDownloads, name) : std::nullopt;
    if (!path)
        return std::nullopt;
    auto piece = readPiece(*path, name);
    if (piece.ok() && piece.value().size() <= file.sizeBytes - std::min(offset, file.sizeBytes))
        return std::move(piece).value();
    if (!piece.ok() && piece.error().code != ErrorCode::Corrupt)
        return std::nullopt; // it cannot be read now, which is no damage
    forget(file, offset);
    return std::nullopt;
}

void HubPieces::forget(const HubFile& file, std::uint64_t offset)
{
    if (const auto in = cache())
        (void)in->quarantine(kDownloads, nameOf(file, offset));
}

void HubPieces::keep(const HubFile& file, std::uint64_t offset, std::string_view bytes)
{
    const auto in = keeps_ && !bytes.empty() ? cache() : nullptr;
    auto out = in ? in->create() : Result<CacheFile>(Error { ErrorCode::NotFound, "nothing is kept" });
    if (!out.ok())
        return;
    const std::string name = nameOf(file, offset);
    const std::uint64_t sum = checksum(name, bytes);
    if (out.value().append(bytes.data(), bytes.size()).ok() && out.value().append(&sum, sizeof sum).ok())
        (void)in->publish(std::move(out).value(), kDownloads, name); // else it is fetched again
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
