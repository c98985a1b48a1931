#include "core/data/hub/hub_client.h"
#include "core/base/sentence.h"
#include "core/data/hub/fetch_turn.h"
#include "core/data/hub/hub_pieces.h"
#include "core/data/hub/hub_progress.h"

#include <algorithm>
#include <cstring>
#include <list>
#include <utility>
#include <vector>

namespace furrow {

namespace {

constexpr std::uint64_t kPieceBytes = 4ull << 20; ///< of what is not Parquet
constexpr std::uint64_t kFirstPieceBytes = 1ull
    << 20; ///< the same near the beginning: who only looks at a file reads no further
constexpr std::uint64_t kLookBytes[] = { 64ull << 10, 256ull << 10 }; ///< of one that is opened for its beginning
constexpr std::uint64_t kStretchPieceBytes = 1ull << 20;
constexpr std::uint64_t kKeptBytes = 24ull << 20; ///< in memory
constexpr std::size_t kKeptPieces = 64;
constexpr std::uint64_t kFrameBytes = 64ull << 10; ///< a kill costs as much, and what is on the way
constexpr std::uint64_t kLeastKept = 4ull << 10; ///< of what is no stretch: heads of pages are not worth a file
constexpr int kManyLittle = 8; ///< so many looks into one piece: it is fetched

bool isParquetName(std::string_view path)
{
    constexpr std::string_view kEnding = ".parquet";
    return path.size() >= kEnding.size()
        && std::equal(kEnding.begin(), kEnding.end(), path.end() - kEnding.size(),
            [](char a, char b) { return a == (b >= 'A' && b <= 'Z' ? b - 'A' + 'a' : b); });
}

class HubSource : public DistantSource {
public:
    HubSource(std::shared_ptr<HubClient> client, HubAddress address, HubFile file, std::shared_ptr<HubPieces> kept,
        HubReading reading)
        : client_(std::move(client))
        , address_(std::move(address))
        , file_(std::move(file))
        , kept_(std::move(kept))
        , isParquet_(isParquetName(withoutQuery(file_.path)))
        , isForBeginning_(reading == HubReading::Beginning)
    {
    }
    std::uint64_t sizeBytes() const override { return file_.sizeBytes; }
    Status readAt(std::uint64_t offset, std::span<std::byte> into) const override
    {
        FURROW_TRY(checkInside(offset, into));
        const std::lock_guard guard(mutex_);
        if (!isParquet_)
            return readFrom(gridPieces(offset, into.size()), offset, into, nullptr);
        return readFrom(aroundTail({ offset, into.size() }), offset, into, nullptr);
    }
    Status readIn(const ByteRange& stretch, std::uint64_t offset, std::span<std::byte> into, Need need) const override
    {
        FURROW_TRY(checkInside(offset, into));
        const std::lock_guard guard(mutex_);
        auto pieces = stretchPieces(stretch, offset, into.size());
        if (need == Need::Little && !pieces.empty() && isOneOfFew(pieces.front()))
            pieces = { pieceOf({ offset, into.size() }) };
        return readFrom(pieces, offset, into, &stretch);
    }

    void distrust(const ByteRange& part, const ByteRange& page) const override
    {
        const std::lock_guard guard(mutex_);
        const ByteRange anew = kept_ ? kept_->toComeAnew(file_, part, page) : part;
        if (anew.sizeBytes == 0)
            return;
        loaded_.clear();
        loadedBytes_ = 0;
        if (!kept_)
            return;
        for (const std::uint64_t offset : kept_->offsets(file_))
            if (offset < anew.end() && offset + kept_->find(file_, offset).size() > anew.offset)
                kept_->forget(file_, offset);
    }

private:
    /// What is fetched as one.
    struct Piece {
        std::uint64_t offset = 0;
        std::uint64_t sizeBytes = 0;
        bool isWorthAFile = true;
        std::uint64_t end() const { return offset + sizeBytes; }
    };
    struct Loaded {
        std::uint64_t offset = 0;
        std::string bytes;
    };

    Status checkInside(std::uint64_t offset, std::span<std::byte> into) const
    {
        if (offset > file_.sizeBytes || into.size() > file_.sizeBytes - offset)
            return Error { ErrorCode::Corrupt,
                sentence("%1 ends before the bytes that were asked for.", { toString(address_) }) };
        return {};
    }

    static Piece pieceOf(const ByteRange& part)
    {
        return { part.offset, part.sizeBytes, part.sizeBytes >= kLeastKept };
    }

    /// The end of the file is a piece of its own: of a footer that is larger only the rest is fetched.
    std::vector<Piece> aroundTail(const ByteRange& wanted) const
    {
        const std::uint64_t tail = tailOffset(file_.sizeBytes);
        if (wanted.sizeBytes == 0 || wanted.end() <= tail)
            return wanted.sizeBytes == 0 ? std::vector<Piece>() : std::vector { pieceOf(wanted) };
        const std::uint64_t begin = std::min(wanted.offset, tail - std::min(tail, kLeastKept)); // worth keeping
        if (wanted.offset >= tail)
            return { pieceOf({ tail, file_.sizeBytes - tail }) };
        return { pieceOf({ begin, tail - begin }), pieceOf({ tail, file_.sizeBytes - tail }) };
    }

    std::vector<Piece> gridPieces(std::uint64_t offset, std::uint64_t size) const
    {
        const std::uint64_t tail = tailOffset(file_.sizeBytes);
        std::vector<Piece> pieces;
        for (const std::uint64_t end = offset + size; offset < end;) {
            const std::uint64_t step = offset < kPieceBytes ? kFirstPieceBytes : kPieceBytes;
            const std::uint64_t begin = offset >= tail ? tail : offset / step * step;
            const std::uint64_t pieceEnd
                = offset >= tail ? file_.sizeBytes : std::min(tail, begin == 0 ? firstPieceEnd(end) : begin + step);
            pieces.push_back({ begin, pieceEnd - begin });
            offset = pieceEnd;
        }
        return pieces;
    }

    /// The first piece grows with what is asked for of a file that is only looked at: it keeps its name, and so who
    /// reads on goes on behind it.
    std::uint64_t firstPieceEnd(std::uint64_t wantedEnd) const
    {
        if (isForBeginning_)
            for (const std::uint64_t most : kLookBytes)
                if (wantedEnd <= most)
                    return most;
        return kFirstPieceBytes;
    }

    /// Each is worth a file, however small a row group is: whoever else wants its rows needs it too.
    std::vector<Piece> stretchPieces(const ByteRange& stretch, std::uint64_t offset, std::uint64_t size) const
    {
        std::vector<Piece> pieces;
        const std::uint64_t stretchEnd = std::min(stretch.end(), file_.sizeBytes);
        for (std::uint64_t begin = stretch.offset + (offset - stretch.offset) / kStretchPieceBytes * kStretchPieceBytes;
            begin < offset + size; begin += kStretchPieceBytes)
            pieces.push_back({ begin, std::min(kStretchPieceBytes, stretchEnd - begin) });
        return pieces;
    }

    bool isKept(const Piece& piece) const { return kept_ && (!isParquet_ || piece.isWorthAFile); }

    /// The loaded piece that covers this one, used last from now on; null: none does.
    const Loaded* loaded(const Piece& piece) const
    {
        for (auto it = loaded_.begin(); it != loaded_.end(); ++it)
            if (piece.offset >= it->offset && piece.offset + piece.sizeBytes <= it->offset + it->bytes.size()) {
                loaded_.splice(loaded_.begin(), loaded_, it);
                return &loaded_.front();
            }
        return nullptr;
    }

    const Loaded* load(std::uint64_t offset, std::string bytes) const
    {
        loadedBytes_ += bytes.size();
        loaded_.push_front({ offset, std::move(bytes) });
        while (loaded_.size() > 1 && (loadedBytes_ > kKeptBytes || loaded_.size() > kKeptPieces)) {
            loadedBytes_ -= loaded_.back().bytes.size();
            loaded_.pop_back();
        }
        return &loaded_.front();
    }

    /// In memory, from the cache if need be. With the mutex.
    const Loaded* isHere(const Piece& piece) const
    {
        if (const auto* there = loaded(piece))
            return there;
        auto bytes = isKept(piece) ? kept_->find(file_, piece.offset) : std::string();
        return bytes.size() >= piece.sizeBytes ? load(piece.offset, std::move(bytes)) : nullptr;
    }

    /// A little of the piece is to be fetched, and not for the many-th time in a row. With the mutex.
    bool isOneOfFew(const Piece& piece) const
    {
        looks_ = piece.offset == lookedAt_ ? looks_ + 1 : 1;
        lookedAt_ = piece.offset;
        return looks_ < kManyLittle && !isHere(piece);
    }

    /// @param pieces  that cover the bytes, in order
    /// @param of  what they are of, for progress; null: of nothing that takes long
    Status readFrom(
        const std::vector<Piece>& pieces, std::uint64_t offset, std::span<std::byte> into, const ByteRange* of) const
    {
        for (std::size_t i = 0; i < pieces.size(); ++i) {
            const Loaded* here = isHere(pieces[i]);
            if (here == nullptr) {
                std::size_t end = i + 1;
                while (end < pieces.size() && !isHere(pieces[end]))
                    ++end;
                FURROW_TRY(fetch(std::span(pieces).subspan(i, end - i), of));
                here = isHere(pieces[i]);
            }
            if (here == nullptr)
                return Error { ErrorCode::Io,
                    sentence("%1: a part that was fetched just now is gone.", { toString(address_) }) };
            const std::uint64_t inside = offset - here->offset;
            const auto n = std::min<std::uint64_t>(into.size(), pieces[i].offset + pieces[i].sizeBytes - offset);
            std::memcpy(into.data(), here->bytes.data() + inside, n);
            into = into.subspan(n);
            offset += n;
        }
        return {};
    }

    /// Pieces one behind the other by one request; those that another run fetched meanwhile come from the cache.
    Status fetch(std::span<const Piece> pieces, const ByteRange* of) const
    {
        const auto cache = isKept(pieces.front()) ? kept_->cache() : nullptr;
        if (!cache)
            return receive(pieces, of, false);
        const auto turn = takeFetchTurn(*cache, file_, "ranges", *client_);
        if (!turn.ok() && turn.error().code == ErrorCode::Cancelled)
            return turn.error();
        while (!pieces.empty() && isHere(pieces.front()))
            pieces = pieces.subspan(1);
        return pieces.empty() ? Status {} : receive(pieces, of, turn.ok() && turn.value().has_value());
    }

    /// Pieces that come by one request, one behind the other.
    class Run {
    public:
        /// @param isKept  goes on behind what there is of the first piece
        Run(const HubSource& source, std::span<const Piece> pieces, bool isKept)
            : source_(source)
            , pieces_(pieces)
            , isKept_(isKept)
            , end_(pieces.back().end())
            , bytes_(isKept ? source.kept_->takeUp(source.file_, pieces.front().offset) : std::string())
            , onDisk_(bytes_.size())
            , begin_(pieces.front().offset + bytes_.size())
        {
        }
        ByteRange toFetch() const { return { begin_, end_ - begin_ }; }
        void take(std::string_view more)
        {
            while (!more.empty()) {
                const auto n = std::min<std::uint64_t>(more.size(), pieces_.front().sizeBytes - bytes_.size());
                bytes_.append(more.substr(0, n));
                more.remove_prefix(n);
                const bool isWhole = bytes_.size() == pieces_.front().sizeBytes;
                if (isWhole || bytes_.size() >= onDisk_ + kFrameBytes)
                    keepSome();
                if (isWhole)
                    beginNext();
            }
        }
        void keepSome()
        {
            if (!isKept_ || bytes_.size() <= onDisk_)
                return;
            source_.kept_->keep(
                source_.file_, pieces_.front().offset, onDisk_, std::string_view(bytes_).substr(onDisk_));
            onDisk_ = bytes_.size();
        }

    private:
        void beginNext()
        {
            source_.load(pieces_.front().offset, std::exchange(bytes_, {}));
            pieces_ = pieces_.subspan(1);
            onDisk_ = isKept_ && !pieces_.empty() ? source_.kept_->takeUp(source_.file_, pieces_.front().offset).size()
                                                  : 0; // a beginning that comes once more
        }

        const HubSource& source_;
        std::span<const Piece> pieces_; ///< that are not whole
        bool isKept_;
        std::uint64_t end_;
        std::string bytes_; ///< of the first of them
        std::uint64_t onDisk_;
        std::uint64_t begin_;
    };

    /// As many runs as there may be transfers.
    std::vector<Run> runsOf(std::span<const Piece> pieces, bool isKept) const
    {
        const std::size_t each = (pieces.size() + client_->transfers() - 1) / client_->transfers();
        std::vector<Run> runs;
        for (std::size_t i = 0; i < pieces.size(); i += each)
            runs.emplace_back(*this, pieces.subspan(i, std::min(each, pieces.size() - i)), isKept);
        return runs;
    }

    Status receive(std::span<const Piece> pieces, const ByteRange* of, bool isKept) const
    {
        const std::uint64_t end = pieces.back().end();
        const std::uint64_t first = of != nullptr ? of->offset : pieces.front().offset;
        auto runs = runsOf(pieces, isKept);
        std::vector<ByteRange> parts;
        std::uint64_t at = end - first; // what is there of it, or was read before
        for (const auto& run : runs) {
            parts.push_back(run.toFetch());
            at -= parts.back().sizeBytes;
        }
        ToldProgress progress(file_.path, at, of != nullptr ? of->sizeBytes : end - first);
        const auto status = client_->readParts(
            address_.repository, address_.commit, file_, parts, [&](std::size_t part, std::string_view more) {
                progress.arrived(at += more.size());
                runs[part].take(more);
                return true;
            });
        for (auto& run : runs)
            run.keepSome();
        return status;
    }

    std::shared_ptr<HubClient> client_;
    HubAddress address_;
    HubFile file_;
    std::shared_ptr<HubPieces> kept_;
    bool isParquet_;
    bool isForBeginning_;
    mutable std::mutex mutex_;
    mutable std::list<Loaded> loaded_; ///< guarded by mutex_; used last first
    mutable std::uint64_t loadedBytes_ = 0; ///< guarded by mutex_
    mutable std::uint64_t lookedAt_ = UINT64_MAX; ///< guarded by mutex_; the piece of which a little was read last
    mutable int looks_ = 0; ///< guarded by mutex_; how often in a row
};

} // namespace

std::string toString(const HubAddress& address)
{
    return address.isWeb() ? address.path : "hf://" + address.repository + "@" + address.commit + "/" + address.path;
}

Result<HubAddress> parseHubAddress(std::string_view text)
{
    if (isWebPath(text))
        return HubAddress { "", "", std::string(text) };
    const auto at = text.find('@');
    const auto slash = at == std::string_view::npos ? at : text.find('/', at);
    if (!text.starts_with("hf://") || slash == std::string_view::npos)
        return Error { ErrorCode::Corrupt,
            sentence("The data manifest of this run names a file of the hub in a form that cannot be read.") };
    return HubAddress { std::string(text.substr(5, at - 5)), std::string(text.substr(at + 1, slash - at - 1)),
        std::string(text.substr(slash + 1)) };
}

std::shared_ptr<const ByteSource> hubSource(std::shared_ptr<HubClient> client, const HubAddress& address,
    const HubFile& file, std::shared_ptr<HubPieces> pieces, HubReading reading)
{
    return std::make_shared<HubSource>(std::move(client), address, file, std::move(pieces), reading);
}

} // namespace furrow
