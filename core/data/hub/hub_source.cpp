#include "core/data/hub/hub_client.h"
#include "core/base/sentence.h"
#include "core/data/hub/hub_pieces.h"

#include <algorithm>
#include <cstring>
#include <list>

namespace furrow {

namespace {

constexpr std::uint64_t kPieceBytes = 4ull << 20; ///< asked for at a time
constexpr std::uint64_t kFirstPieceBytes = 1ull << 20; ///< the same near the beginning: who only looks at a file reads no further
constexpr std::size_t kKeptPieces = 6;

/// Reads whole pieces and keeps the last few, so that the small reads of a parser become few requests and no byte is
/// asked for twice while reading in order.
class HubSource : public ByteSource {
public:
    HubSource(std::shared_ptr<HubClient> client, HubAddress address, HubFile file, std::shared_ptr<HubPieces> kept)
        : client_(std::move(client))
        , address_(std::move(address))
        , file_(std::move(file))
        , kept_(std::move(kept))
    {
    }
    std::uint64_t sizeBytes() const override { return file_.sizeBytes; }
    Status readAt(std::uint64_t offset, std::span<std::byte> into) const override
    {
        if (offset > file_.sizeBytes || into.size() > file_.sizeBytes - offset)
            return Error { ErrorCode::Corrupt, sentence("%1 ends before the bytes that were asked for.", { toString(address_) }) };
        const std::lock_guard guard(mutex_);
        while (!into.empty()) {
            auto piece = pieceAt(offset);
            if (!piece.ok())
                return piece.error();
            const std::uint64_t inside = offset - piece.value()->offset;
            const auto n = std::min<std::size_t>(into.size(), piece.value()->bytes.size() - inside);
            std::memcpy(into.data(), piece.value()->bytes.data() + inside, n);
            into = into.subspan(n);
            offset += n;
        }
        return {};
    }

private:
    struct Piece {
        std::uint64_t offset = 0;
        std::string bytes;
    };

    Result<const Piece*> pieceAt(std::uint64_t offset) const
    {
        for (auto it = pieces_.begin(); it != pieces_.end(); ++it)
            if (offset >= it->offset && offset - it->offset < it->bytes.size()) {
                pieces_.splice(pieces_.begin(), pieces_, it);
                return &pieces_.front();
            }
        const std::uint64_t tail = tailOffset(file_.sizeBytes);
        Piece piece;
        const std::uint64_t size = offset < kPieceBytes ? kFirstPieceBytes : kPieceBytes;
        piece.offset = offset >= tail ? tail : offset / size * size;
        const std::uint64_t end = offset >= tail ? file_.sizeBytes : std::min(tail, piece.offset + size);
        if (auto status = fetch(piece, end - piece.offset); !status.ok())
            return status.error();
        pieces_.push_front(std::move(piece));
        if (pieces_.size() > kKeptPieces)
            pieces_.pop_back();
        return &pieces_.front();
    }

    /// Fills piece.bytes.
    Status fetch(Piece& piece, std::uint64_t size) const
    {
        if (auto kept = kept_ ? kept_->find(file_, piece.offset) : std::nullopt; kept && kept->size() == size) {
            piece.bytes = std::move(*kept);
            return {};
        }
        const auto status = client_->read(address_.repository, address_.commit, file_, { piece.offset, size }, [&](std::string_view bytes) {
            piece.bytes.append(bytes);
            return true;
        });
        if (status.ok() && kept_)
            kept_->keep(file_, piece.offset, piece.bytes);
        return status;
    }

    std::shared_ptr<HubClient> client_;
    HubAddress address_;
    HubFile file_;
    std::shared_ptr<HubPieces> kept_;
    mutable std::mutex mutex_;
    mutable std::list<Piece> pieces_; ///< guarded by mutex_; used last first
};

} // namespace

std::string toString(const HubAddress& address)
{
    return "hf://" + address.repository + "@" + address.commit + "/" + address.path;
}

Result<HubAddress> parseHubAddress(std::string_view text)
{
    const auto at = text.find('@');
    const auto slash = at == std::string_view::npos ? at : text.find('/', at);
    if (!text.starts_with("hf://") || slash == std::string_view::npos)
        return Error { ErrorCode::Corrupt, sentence("The data manifest of this run names a file of the hub in a form that cannot be read.") };
    return HubAddress { std::string(text.substr(5, at - 5)), std::string(text.substr(at + 1, slash - at - 1)), std::string(text.substr(slash + 1)) };
}

std::shared_ptr<const ByteSource> hubSource(std::shared_ptr<HubClient> client, const HubAddress& address, const HubFile& file, std::shared_ptr<HubPieces> pieces)
{
    return std::make_shared<HubSource>(std::move(client), address, file, std::move(pieces));
}

} // namespace furrow
