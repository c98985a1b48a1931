#include "core/data/cached_access.h"

#include "core/base/hash.h"
#include "core/base/log.h"
#include "core/base/sentence.h"
#include "core/data/hub/hub_files.h"

namespace furrow {

namespace {

constexpr std::size_t kKeptOpen = 2;
constexpr std::uint64_t kDownloadShare = 4; ///< of the cache: a larger file is read by ranges, or it would push out what is needed

std::string expandedName(const DataFile& file)
{
    const std::string& encoding = file.format.encoding;
    return sha256Hex(file.hash + "/" + std::to_string(file.sizeBytes) + "/" + std::to_string(file.wholeHash ? 0 : file.modifiedNs) + (encoding.empty() ? "" : "/" + encoding)).substr(0, 32) + ".text";
}

} // namespace

bool fillsCache(const DataFile& file)
{
    const bool isHere = file.format.isStoredPlain() && !isHubPath(file.path);
    return (file.format.format != TextFormat::Parquet || file.fetchWhole) && !isHere; // else only the pages of a row group of Parquet are fetched
}

std::string whyNotCompared(const DataFile& file, std::uint64_t cacheBytes)
{
    if (!isPromised(file))
        return sentence("the hub promises no SHA-256 of it");
    if (file.format.format != TextFormat::Parquet)
        return {};
    if (!file.fetchWhole)
        return sentence("only the columns that are needed are read of it");
    const bool hasRoom = cacheBytes == 0 || file.sizeBytes <= cacheBytes / kDownloadShare;
    return hasRoom ? std::string() : sentence("it is larger than a quarter of the cache (cache_gib), so it is read by parts");
}

CachedAccess::CachedAccess(std::shared_ptr<BlockCache> cache, std::shared_ptr<SourceIdentity> identity)
    : cache_(std::move(cache))
    , identity_(std::move(identity))
    , direct_(std::make_shared<HubPieces>(cache_), proofs_.get())
{
}

Result<std::shared_ptr<const ByteSource>> CachedAccess::stored(const DataFile& file)
{
    const auto open = [this, &file] { return direct_.stored(file); };
    if (!isHubPath(file.path))
        return openWatched(file, identity_, open);
    return file.fetchWhole && whyNotCompared(file, capBytes()).empty() ? local(file) : open();
}

Result<std::shared_ptr<const ByteSource>> CachedAccess::local(const DataFile& file)
{
    return isHubPath(file.path) ? downloadHubFile(file, sharedHubClient(), *cache_, *proofs_) : stored(file);
}

Result<std::unique_ptr<ByteStream>> CachedAccess::plainFrom(const DataFile& file, std::uint64_t offset)
{
    auto source = file.format.isStoredPlain() ? local(file) : expanded(file);
    if (!source.ok())
        return source.error();
    return streamFrom(std::move(source).value(), offset);
}

Result<std::shared_ptr<const ByteSource>> CachedAccess::expanded(const DataFile& file)
{
    const std::string name = expandedName(file);
    for (const auto& open : open_)
        if (open.fileName == name)
            return open.source;
    while (open_.size() >= kKeptOpen)
        open_.pop_front();
    std::vector<std::string> names { name };
    for (const auto& open : open_)
        names.push_back(open.fileName);
    if (auto status = cache_->pin("expanded", names); !status.ok())
        return status.error();
    if (!cache_->find(kExpanded, name))
        if (auto status = expand(file, name); !status.ok())
            return status.error();
    auto source = openLocalSource(cache_->path(kExpanded, name));
    if (source.ok())
        open_.push_back({ name, source.value() });
    return source;
}

bool CachedAccess::doubt(const DataFile& file)
{
    direct_.forgetOpen();
    const std::string name = expandedName(file);
    std::erase_if(open_, [&name](const Open& open) { return open.fileName == name; });
    if (!file.format.isStoredPlain() && cache_->find(kExpanded, name))
        (void)cache_->quarantine(kExpanded, name); // nothing tells what it must hold
    return isHubPath(file.path) && doubtHubFile(file, *cache_, *proofs_);
}

Status CachedAccess::expand(const DataFile& file, const std::string& fileName)
{
    auto packed = local(file);
    if (!packed.ok())
        return packed.error();
    logInfo("expanding " + file.path + " into the cache");
    auto stream = plainStream(packed.value(), file.format, file.path);
    auto out = cache_->create();
    if (!out.ok())
        return out.error();
    std::vector<char> piece(4 << 20);
    for (;;) {
        std::size_t filled = 0;
        while (filled < piece.size()) {
            auto n = stream->read(std::span<char>(piece).subspan(filled));
            if (!n.ok())
                return n.error();
            if (n.value() == 0)
                break;
            filled += n.value();
        }
        if (filled == 0)
            break;
        if (auto status = out.value().append(piece.data(), filled); !status.ok())
            return status;
    }
    return cache_->publish(std::move(out).value(), kExpanded, fileName);
}

} // namespace furrow
