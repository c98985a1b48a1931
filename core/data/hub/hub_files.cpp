#include "core/data/hub/hub_files.h"

#include "core/base/file_system.h"
#include "core/base/git_blob.h"
#include "core/base/hash.h"
#include "core/base/log.h"
#include "core/base/path.h"
#include "core/base/random.h"
#include "core/base/regular_file.h"
#include "core/base/sentence.h"
#include "core/base/sync_file.h"
#include "core/data/source/archive_files.h"
#include "core/data/source/changed_file.h"
#include "core/data/hub/fetch_turn.h"
#include "core/data/hub/hub_progress.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>

namespace furrow {

namespace {

constexpr std::size_t kWrittenAtOnce = 128 << 10; // a kill costs as much, and what is on the way

/// "a/b.jsonl.gz" -> ".jsonl.gz"
std::string endingOf(const std::string& address)
{
    const std::string path(withoutQuery(address));
    const auto name = path.substr(path.rfind('/') == std::string::npos ? 0 : path.rfind('/') + 1);
    const auto plain = name.substr(0, name.size() - packedEnding(name).size());
    const auto dot = plain.rfind('.');
    return dot == std::string::npos ? "" : name.substr(dot);
}

HubFile hubFile(const DataFile& file, const HubAddress& address)
{
    HubFile hub { address.path, file.bytesOnDisk(), "", "", file.version };
    (isPromised(file) ? hub.sha256 : hub.oid) = file.hash;
    return hub;
}

/// The file in the cache that Hugging Face's own programs keep, when it is there with the right size.
std::filesystem::path inHuggingFaceCache(HubKind kind, const HubAddress& address, std::uint64_t sizeBytes)
{
    const char* home = std::getenv("HF_HOME");
    const char* user = std::getenv("HOME");
    if (address.isWeb())
        return {};
    if (home == nullptr && user == nullptr)
        return {};
    std::string folder = (kind == HubKind::Models ? "models--" : "datasets--") + address.repository;
    if (const auto slash = folder.find('/'); slash != std::string::npos)
        folder.replace(slash, 1, "--");
    const auto root = home != nullptr ? pathFromUtf8(home) : pathFromUtf8(user) / ".cache" / "huggingface";
    const auto path
        = root / "hub" / pathFromUtf8(folder) / "snapshots" / pathFromUtf8(address.commit) / pathFromUtf8(address.path);
    std::error_code error;
    return std::filesystem::file_size(path, error) == sizeBytes && !error ? path : std::filesystem::path();
}

/// The same as far as it may be read. @param proofs  see openHubFile
std::filesystem::path usableInHuggingFaceCache(
    HubKind kind, const DataFile& file, const HubAddress& address, HubProofs* proofs)
{
    auto local = inHuggingFaceCache(kind, address, file.bytesOnDisk());
    if (local.empty() || proofs == nullptr)
        return local;
    const auto same = proofs->compare(file, local);
    if (same.ok())
        return local;
    logWarning(same.error().message + " It is not used; the hub is asked.");
    return {};
}

std::string downloadName(const DataFile& file, const HubAddress& address)
{
    return contentName(hubFile(file, address)) + kWholeEnding;
}

/// Checksums of what was written of a part, stretch by stretch, where no SHA-256 of the whole will tell what a loss of
/// power made of it. A file of its own beside the part: u64 end of the stretch in the part, u64 XXH3 of it.
class PartSums {
public:
    PartSums(BlockCache& cache, std::string name)
        : cache_(cache)
        , name_(std::move(name))
    {
    }
    const std::string& name() const { return name_; }
    /// How many bytes of the part are what was written. What is noted of more is forgotten.
    std::uint64_t proven(const std::filesystem::path& part)
    {
        const auto notes = readFile(cache_.path(kDownloads, name_));
        RegularFileStream in(part);
        std::uint64_t end = 0;
        sizeBytes_ = 0;
        for (std::string_view rest = notes.ok() ? std::string_view(notes.value()) : std::string_view();
            rest.size() >= sizeof(Note); rest.remove_prefix(sizeof(Note))) {
            Note note;
            std::memcpy(&note, rest.data(), sizeof note);
            if (note.end <= end || note.end - end > 2 * kWrittenAtOnce)
                break;
            std::string stretch(note.end - end, '\0');
            in.read(stretch.data(), static_cast<std::streamsize>(stretch.size()));
            if (in.gcount() != std::ssize(stretch) || xxh3(stretch, end) != note.sum)
                break;
            end = note.end;
            sizeBytes_ += sizeof(Note);
        }
        std::error_code none;
        std::filesystem::resize_file(cache_.path(kDownloads, name_), sizeBytes_, none);
        return end;
    }
    Status add(std::uint64_t begin, std::string_view stretch)
    {
        const Note note { begin + stretch.size(), xxh3(stretch, begin) };
        FURROW_TRY(cache_.append(kDownloads, name_, sizeBytes_, &note, sizeof note));
        sizeBytes_ += sizeof note;
        return {};
    }
    void remove()
    {
        cache_.remove(kDownloads, name_);
        sizeBytes_ = 0;
    }

private:
    struct Note {
        std::uint64_t end = 0;
        std::uint64_t sum = 0;
    };
    BlockCache& cache_;
    std::string name_;
    std::uint64_t sizeBytes_ = 0;
};

/// A whole file that grows in the cache under the name of a part until all of it is there.
class GrowingFile {
public:
    /// @param hasTurn  to fetch the file; else another run's part is growing, or stands still, and this is one beside
    /// it
    GrowingFile(BlockCache& cache, HubFile hub, bool hasTurn)
        : cache_(cache)
        , hub_(std::move(hub))
        , git_(hub_.sizeBytes)
        , name_(contentName(hub_) + (hasTurn ? "" : "." + randomHex(8)) + ".part")
        , sums_(cache, name_ + ".sums")
    {
    }

    /// Goes on behind what a process before left.
    Status begin()
    {
        const auto file = cache_.path(kDownloads, name_);
        std::error_code gone;
        if (std::filesystem::file_size(file, gone) > hub_.sizeBytes)
            remove();
        FURROW_TRY(cache_.pin("growing", std::vector { name_, sums_.name() }));
        if (!isPromised() && !gone)
            std::filesystem::resize_file(file, sums_.proven(file), gone);
        RegularFileStream in(file);
        for (std::string piece(kWrittenAtOnce, '\0');
            in.read(piece.data(), static_cast<std::streamsize>(piece.size())).gcount() > 0;) {
            count(std::string_view(piece).substr(0, static_cast<std::size_t>(in.gcount())));
            onDisk_ += static_cast<std::uint64_t>(in.gcount());
        }
        return {};
    }
    /// What there is of the file, not all of it on disk yet.
    std::uint64_t sizeBytes() const { return onDisk_ + buffer_.size(); }
    Status append(std::string_view bytes)
    {
        count(bytes);
        buffer_.append(bytes);
        return buffer_.size() >= kWrittenAtOnce ? write() : Status {};
    }
    Status write()
    {
        if (buffer_.empty())
            return {};
        const std::string stretch = std::exchange(buffer_, {});
        FURROW_TRY(cache_.append(kDownloads, name_, onDisk_, stretch.data(), stretch.size()));
        const std::uint64_t begin = std::exchange(onDisk_, onDisk_ + stretch.size());
        return isPromised() ? Status {} : sums_.add(begin, stretch);
    }
    bool isPromised() const { return !hub_.sha256.empty(); }
    /// All bytes are there: they are what was promised of them, by SHA-256 or by git's name; true where nothing was.
    bool isAsPromised()
    {
        if (isPromised())
            return sha256() == hub_.sha256;
        return !isGitName(hub_.oid) || GitBlobName(git_).hex() == hub_.oid;
    }
    /// Of all bytes: nothing may be appended any more.
    const std::string& sha256()
    {
        if (whole_.empty())
            whole_ = sha_.hex();
        return whole_;
    }
    Status complete(const std::string& wholeName)
    {
        if (!isPromised() && !wholeName.starts_with(sha256())) { // else only this tells what it must hold
            FURROW_TRY(syncFile(cache_.path(kDownloads, name_)));
            const std::string note = wholeName + kArrivedEnding;
            cache_.remove(kDownloads, note);
            FURROW_TRY(cache_.append(kDownloads, note, 0, sha256().data(), sha256().size()));
        }
        auto status = cache_.complete(kDownloads, name_, wholeName);
        sums_.remove();
        const auto unpinned = cache_.pin("growing", {});
        return status.ok() ? unpinned : status;
    }
    void remove()
    {
        cache_.remove(kDownloads, name_);
        sums_.remove();
        buffer_.clear();
        onDisk_ = 0;
        sha_ = Sha256();
        git_ = GitBlobName(hub_.sizeBytes);
        whole_.clear();
    }

private:
    void count(std::string_view bytes)
    {
        sha_.update(bytes);
        if (isGitName(hub_.oid))
            git_.update(bytes);
    }

    BlockCache& cache_;
    HubFile hub_;
    GitBlobName git_; ///< of what is not in LFS
    std::string name_;
    PartSums sums_;
    Sha256 sha_;
    std::string whole_; ///< sha256()
    std::uint64_t onDisk_ = 0;
    std::string buffer_;
};

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

Result<DataSource> describeHubSource(
    const std::string& spec, const RunConfig& config, const std::shared_ptr<HubClient>& client)
{
    FURROW_TRY_ASSIGN(auto parsed, parseHubSpec(spec));
    const std::string repository = parsed.repository;
    FURROW_TRY_ASSIGN(auto commit, client->resolveRevision(repository, parsed.revision));
    FURROW_TRY_ASSIGN(auto tree, client->tree(repository, commit));
    FURROW_TRY_ASSIGN(auto readme, client->readSmall(repository, commit, "README.md"));
    FURROW_TRY_ASSIGN(auto choice, chooseHubFiles(parsed, tree, readme));
    DataSource source;
    source.spec = spec;
    source.skipped = std::move(choice.skipped);
    source.chosen = sentence("%1: config '%2', split '%3'.", { spec, choice.config, choice.split });
    for (const auto& hub : choice.files) {
        DataFile file;
        file.path = toString(HubAddress { repository, commit, hub.path });
        file.sizeBytes = hub.sizeBytes;
        file.hash = hub.sha256.empty() ? hub.oid : hub.sha256;
        file.wholeHash = true;
        source.files.push_back(std::move(file));
    }
    FURROW_TRY(findFormats(source, config, client));
    return source;
}

namespace {

/// Of a file of which another one of its ending was looked at before. A packed one is opened with as little of it as
/// tells what it is: a decompressor takes more at a time than that.
Result<FileFormat> formatByBeginning(
    const std::shared_ptr<const ByteSource>& bytes, const std::string& name, const RunConfig& config)
{
    constexpr std::uint64_t kPackedBytes = 64ull << 10;
    if (!packedEnding(name).empty() && bytes->sizeBytes() > kPackedBytes)
        if (auto format = detectFormat(sliceOf(bytes, 0, kPackedBytes), name, config); format.ok())
            return format;
    return detectFormat(bytes, name, config);
}

} // namespace

Status findFormats(DataSource& source, const RunConfig& config, const std::shared_ptr<HubClient>& client)
{
    constexpr int kMostLookedAt = 500; // one after the other, before there is a run: each costs a round trip
    std::map<std::string, FileFormat> formats; // by ending, of the last file of it that was looked at
    int lookedAt = 0;
    std::int64_t taken = 0; // to be as those before them
    std::optional<Error> refused; // the first
    auto files = std::exchange(source.files, {});
    for (auto& file : files) {
        const std::string name(withoutQuery(file.path));
        const auto known = formats.find(endingOf(file.path));
        const bool isKnown = known != formats.end() && hasDataExtension(name);
        const bool isSaidByName = isKnown && (known->second.format == TextFormat::Parquet || file.sizeBytes == 0);
        if (isSaidByName || (isKnown && lookedAt >= kMostLookedAt)) {
            taken += isSaidByName ? 0 : 1;
            file.format = known->second;
            source.files.push_back(std::move(file));
            continue;
        }
        ++lookedAt;
        FURROW_TRY_ASSIGN(auto bytes,
            openHubFile(
                file, client, KeepHubPieces::current(), nullptr, isKnown ? HubReading::Beginning : HubReading::Rows));
        FURROW_TRY_ASSIGN(auto archive, describeArchive(file, bytes, config));
        if (archive) {
            std::move(archive->files.begin(), archive->files.end(), std::back_inserter(source.files));
            std::move(archive->skipped.begin(), archive->skipped.end(), std::back_inserter(source.skipped));
            continue;
        }
        auto format = isKnown ? formatByBeginning(bytes, name, config) : detectFormat(bytes, name, config);
        // Damaged, changed or away is not "no data": it would be missing without a word.
        if (!format.ok() && (format.error().code != ErrorCode::InvalidArgument || !client->whyChanged(name).empty()))
            return format.error();
        if (!format.ok()) {
            source.skipped.push_back(format.error().message);
            if (!refused)
                refused = format.error();
            continue;
        }
        if (file.sizeBytes > 0)
            formats.insert_or_assign(endingOf(file.path), format.value());
        file.format = std::move(format).value();
        source.files.push_back(std::move(file));
    }
    if (source.files.empty() && refused)
        return *refused;
    if (taken > 0)
        source.chosen = source.chosen + (source.chosen.empty() ? "" : " ")
            + sentence(
                "%1: %2 of its files were looked at; the other %3 are taken to have the encoding and dialect of those before them. Name these in the settings if that is not so (--encoding, --csv-delimiter).",
                { source.spec, Count(lookedAt), Count(taken) })
                  .text();
    return {};
}

Result<std::shared_ptr<const ByteSource>> openHubFile(const DataFile& file, const std::shared_ptr<HubClient>& client,
    std::shared_ptr<HubPieces> pieces, HubProofs* proofs, HubReading reading)
{
    FURROW_TRY_ASSIGN(auto address, parseHubAddress(file.pathOnDisk()));
    if (const auto local = usableInHuggingFaceCache(client->kind(), file, address, proofs); !local.empty())
        return openLocalSource(local);
    if (const auto cache = file.fetchWhole && address.isWeb() && pieces ? pieces->cache() : nullptr) {
        HubProofs own;
        return downloadHubFile(file, client, *cache, proofs != nullptr ? *proofs : own); // its server sends no parts
    }
    return hubSource(client, address, hubFile(file, address), std::move(pieces), reading);
}

std::string beginningName(const DataFile& file)
{
    const auto address = isDistantPath(file.pathOnDisk()) ? parseHubAddress(file.pathOnDisk())
                                                          : Result<HubAddress>(Error { ErrorCode::NotFound, {} });
    return address.ok() ? pieceName(hubFile(file, address.value()), 0) : std::string();
}

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

std::optional<std::filesystem::path> downloadedHubFile(const DataFile& file, const std::filesystem::path& cacheFolder)
{
    const auto address = parseHubAddress(file.pathOnDisk());
    if (!address.ok())
        return std::nullopt;
    auto path = cacheFolder / kDownloads / pathFromUtf8(downloadName(file, address.value()));
    std::error_code ignored;
    return std::filesystem::exists(path, ignored) ? std::optional(std::move(path)) : std::nullopt;
}

bool doubtHubFile(const DataFile& file, BlockCache& cache, HubProofs& proofs)
{
    const auto address = parseHubAddress(file.pathOnDisk());
    if (!address.ok())
        return false;
    const auto foreign = inHuggingFaceCache(HubKind::Datasets, address.value(), file.bytesOnDisk());
    const auto ours = downloadedHubFile(file, cache.folder());
    bool wrong = false;
    for (const auto& whole :
        { foreign.empty() ? std::optional<std::filesystem::path>() : std::optional(foreign), ours }) {
        if (!whole)
            continue;
        proofs.doubt(*whole);
        const auto same = proofs.compare(file, *whole);
        wrong = wrong || (!same.ok() && same.error().code == ErrorCode::Corrupt);
        if (!same.ok() && same.error().code == ErrorCode::Corrupt && whole == ours)
            (void)cache.quarantine(kDownloads, whole->filename().string()); // else it is put aside when it is opened
    }
    return wrong;
}

} // namespace furrow
