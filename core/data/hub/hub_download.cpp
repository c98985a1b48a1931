#include "core/data/hub/hub_files.h"

#include "core/base/log.h"
#include "core/base/sentence.h"
#include "core/data/hub/fetch_turn.h"
#include "core/data/hub/growing_file.h"
#include "core/data/hub/hub_copies.h"
#include "core/data/hub/hub_progress.h"
#include "core/data/source/changed_file.h"

#include <algorithm>

namespace furrow {

namespace {

/// What there is of the file from `offset` on among the pieces that were kept of it; else the next of them that begins
/// behind it.
struct KeptPart {
    std::string bytes;
    std::uint64_t next = UINT64_MAX;
};
KeptPart keptFrom(HubPieces& kept, const HubFile& hub, const std::vector<std::uint64_t>& offsets, std::uint64_t offset)
{
    KeptPart part;
    for (const std::uint64_t begin : offsets) {
        if (begin > offset) {
            part.next = begin;
            break;
        }
        auto bytes = kept.find(hub, begin);
        if (bytes.size() > offset - begin)
            return { bytes.substr(offset - begin), UINT64_MAX };
    }
    return part;
}

/// Parts of a file that come by several transfers. What comes before its turn waits in memory, and in the cache too,
/// where it outlives a kill.
class AheadOfTurn {
public:
    /// @param gap  of the file is missing
    AheadOfTurn(HubPieces& kept, const HubFile& hub, const ByteRange& gap, std::size_t transfers)
        : kept_(kept)
        , hub_(hub)
    {
        const std::uint64_t size = transfers > 1 ? kPartBytes : gap.sizeBytes;
        for (std::uint64_t at = gap.offset; at < gap.end(); at += size)
            parts_.push_back({ at, std::min(size, gap.end() - at) });
        waiting_.resize(parts_.size());
    }
    const std::vector<ByteRange>& parts() const { return parts_; }
    /// @param append  takes bytes in the order of the file; false: that failed
    bool take(std::size_t index, std::string_view bytes, const std::function<bool(std::string_view)>& append)
    {
        if (index != turn_) {
            waiting_[index].bytes.append(bytes);
            if (waiting_[index].bytes.size() >= waiting_[index].onDisk + kKeptAtOnce)
                keep(index);
            return true;
        }
        taken_ += bytes.size();
        if (!append(bytes))
            return false;
        while (turn_ < parts_.size() && taken_ == parts_[turn_].sizeBytes) {
            taken_ = 0;
            if (++turn_ < parts_.size() && !appendWaiting(append))
                return false;
        }
        return true;
    }
    /// What waits and will not get its turn now.
    void keepRest()
    {
        for (std::size_t i = turn_ + 1; i < waiting_.size(); ++i)
            keep(i);
    }

private:
    static constexpr std::uint64_t kPartBytes = 2ull << 20;
    static constexpr std::uint64_t kKeptAtOnce = 64ull << 10; ///< a kill costs as much, of each transfer
    struct Waiting {
        std::string bytes;
        std::uint64_t onDisk = 0;
    };
    bool appendWaiting(const std::function<bool(std::string_view)>& append)
    {
        auto& waiting = waiting_[turn_];
        taken_ = waiting.bytes.size();
        if (!waiting.bytes.empty() && !append(waiting.bytes))
            return false;
        if (waiting.onDisk > 0)
            kept_.drop(hub_, parts_[turn_].offset);
        waiting = {};
        return true;
    }
    void keep(std::size_t index)
    {
        auto& waiting = waiting_[index];
        kept_.keep(hub_, parts_[index].offset, waiting.onDisk, std::string_view(waiting.bytes).substr(waiting.onDisk));
        waiting.onDisk = waiting.bytes.size();
    }

    HubPieces& kept_;
    const HubFile& hub_;
    std::vector<ByteRange> parts_;
    std::vector<Waiting> waiting_; ///< of each part, what came before its turn
    std::size_t turn_ = 0; ///< the part whose bytes are appended as they come
    std::uint64_t taken_ = 0; ///< of it
};

/// The whole file: what was kept of it, the rest from the hub.
Status download(const HubFile& hub, const HubAddress& address, HubClient& client, BlockCache& cache, GrowingFile& file)
{
    FURROW_TRY(file.begin());
    ToldProgress progress(hub.path, file.sizeBytes(), hub.sizeBytes); // from here on the server is waited for
    bool hasRanges = true;
    bool isNameless = false; // nothing but its bytes tells one state of the file from another
    if (address.isWeb()) {
        FURROW_TRY_ASSIGN(const auto state, client.look(address.path));
        hasRanges = state.hasRanges;
        isNameless = hub.version.empty() && state.sha256 != hub.sha256;
    }
    HubPieces kept(cache.shared_from_this());
    const auto offsets = kept.offsets(hub);
    Status written;
    std::uint64_t arrived = file.sizeBytes();
    const auto take = [&](std::string_view bytes) {
        written = file.append(bytes);
        return written.ok();
    };
    while (written.ok() && file.sizeBytes() < hub.sizeBytes) {
        const std::uint64_t at = file.sizeBytes();
        const auto part = keptFrom(kept, hub, offsets, at);
        if (!part.bytes.empty()) {
            (void)take(part.bytes);
            arrived = std::max(arrived, file.sizeBytes());
            continue;
        }
        AheadOfTurn ahead(
            kept, hub, { at, std::min(hub.sizeBytes, part.next) - at }, hasRanges ? client.transfers() : 1);
        const auto read = client.readParts(
            address.repository, address.commit, hub, ahead.parts(), [&](std::size_t index, std::string_view bytes) {
                progress.arrived(arrived += bytes.size());
                return ahead.take(index, bytes, take);
            });
        ahead.keepRest();
        if (!read.ok()) {
            const auto rest = file.write(); // what came is gone on with
            return written.ok() && !rest.ok() ? rest : written.ok() ? read : written;
        }
    }
    if (written.ok())
        written = file.write();
    if (!written.ok() || file.isAsPromised())
        return written;
    for (const std::uint64_t offset : kept.offsets(hub)) // also those that went into the part before a kill
        kept.forget(hub, offset);
    file.remove();
    if (isNameless)
        return client.changed(address.path, sentence(kFileOfOtherBytes, { address.path }));
    return Error { ErrorCode::Corrupt,
        address.isWeb()
            ? sentence(
                  "%1 arrived with other bytes than it had (SHA-256), though its server says that it is the same file. Try again; if it stays so, the server or a proxy is at fault.",
                  { address.path })
            : file.isPromised()
            ? sentence(
                  "%1 arrived with other bytes than the hub's list promises (SHA-256). Try again; if it stays so, the repository or a mirror is damaged.",
                  { toString(address) })
            : sentence(
                  "%1 arrived with other bytes than the hub's list promises (git's SHA-1). Try again; if it stays so, the repository or a mirror is damaged.",
                  { toString(address) }) };
}

/// The whole file as it lies in the cache and is as promised; nothing when it is not there. A wrong one is put aside.
Result<std::optional<std::filesystem::path>> wholeInCache(
    const DataFile& file, const std::string& name, BlockCache& cache, HubProofs& proofs)
{
    const auto there = cache.find(kDownloads, name);
    if (!there)
        return there;
    const auto same = proofs.compare(file, *there);
    if (same.ok())
        return there;
    if (same.error().code != ErrorCode::Corrupt)
        return same.error();
    logWarning(same.error().message + " It is put aside and downloaded again.");
    FURROW_TRY(cache.quarantine(kDownloads, name));
    return std::optional<std::filesystem::path>();
}

} // namespace

Result<std::shared_ptr<const ByteSource>> downloadHubFile(
    const DataFile& file, const std::shared_ptr<HubClient>& client, BlockCache& cache, HubProofs& proofs)
{
    FURROW_TRY_ASSIGN(auto address, parseHubAddress(file.pathOnDisk()));
    if (const auto local = usableInHuggingFaceCache(client->kind(), file, address, &proofs); !local.empty())
        return openLocalSource(local);
    const HubFile hub = hubFile(file, address);
    const std::string name = downloadName(file, address);
    auto there = wholeInCache(file, name, cache, proofs);
    if (!there.ok())
        return there.error();
    if (there.value())
        return openLocalSource(*there.value());
    FURROW_TRY_ASSIGN(const auto turn, takeFetchTurn(cache, hub, "whole", *client));
    there = wholeInCache(file, name, cache, proofs); // another run may have fetched it meanwhile
    if (!there.ok())
        return there.error();
    if (there.value())
        return openLocalSource(*there.value());
    logInfo("downloading " + file.pathOnDisk());
    GrowingFile growing(cache, hub, turn.has_value());
    FURROW_TRY(download(hub, address, *client, cache, growing));
    FURROW_TRY(growing.complete(name));
    proofs.noteArrived(file, cache.path(kDownloads, name));
    return openLocalSource(cache.path(kDownloads, name));
}

Result<DataFile> fetchUnknown(const std::string& address, HubClient& client, BlockCache& cache)
{
    HubFile nameless { address, 0, "", address, "" };
    FURROW_TRY_ASSIGN(const auto turn, takeFetchTurn(cache, nameless, "whole", client));
    GrowingFile growing(cache, nameless, turn.has_value());
    FURROW_TRY(growing.begin());
    Status written;
    const auto begin = [&growing] {
        growing.remove();
        return Status {};
    };
    ToldProgress progress(address, 0, 0);
    const auto state = client.readWhole(address, begin, [&](std::string_view bytes) {
        written = growing.append(bytes);
        progress.arrived(growing.sizeBytes());
        return written.ok();
    });
    FURROW_TRY(written);
    if (!state.ok())
        return state.error();
    FURROW_TRY(growing.write());
    DataFile file;
    file.path = address;
    file.sizeBytes = growing.sizeBytes();
    file.hash = growing.sha256();
    file.wholeHash = true;
    file.fetchWhole = true;
    file.version = state.value().version;
    FURROW_TRY(growing.complete(file.hash + kWholeEnding));
    return file;
}

} // namespace furrow
