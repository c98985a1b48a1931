#include "core/data/hub/hub_pieces.h"

#include "core/base/file_system.h"
#include "core/base/hash.h"

#include <cstring>

namespace furrow {

namespace {

std::mutex currentMutex;
std::weak_ptr<HubPieces> currentPieces; // guarded by currentMutex

std::string nameOf(const HubFile& file, std::uint64_t offset)
{
    return contentName(file) + "." + std::to_string(offset) + ".piece";
}

/// Of the bytes and their place: a piece under the name of another one is damage too.
std::uint64_t checksum(const std::string& name, std::string_view bytes)
{
    return xxh3(name) ^ xxh3(bytes);
}

} // namespace

std::string contentName(const HubFile& file)
{
    return sha256Hex((file.sha256.empty() ? file.oid : file.sha256) + "/" + std::to_string(file.sizeBytes)).substr(0, 32);
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
    auto bytes = readFile(*path);
    if (!bytes.ok())
        return std::nullopt;
    std::string piece = std::move(bytes).value();
    std::uint64_t written = 0;
    const bool whole = piece.size() > sizeof written && piece.size() - sizeof written <= file.sizeBytes - std::min(offset, file.sizeBytes);
    if (whole) {
        std::memcpy(&written, piece.data() + piece.size() - sizeof written, sizeof written);
        piece.resize(piece.size() - sizeof written);
    }
    if (whole && written == checksum(name, piece))
        return piece;
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
