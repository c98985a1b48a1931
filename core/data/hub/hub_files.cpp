#include "core/data/hub/hub_files.h"

#include "core/base/hash.h"
#include "core/base/log.h"
#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/data/hub/hub_progress.h"

#include <chrono>
#include <cstdlib>
#include <map>

namespace furrow {

namespace {

constexpr std::size_t kWrittenAtOnce = 1 << 20;

/// "a/b.jsonl.gz" -> ".jsonl.gz"
std::string endingOf(const std::string& path)
{
    const auto name = path.substr(path.rfind('/') == std::string::npos ? 0 : path.rfind('/') + 1);
    const auto plain = name.substr(0, name.size() - packedEnding(name).size());
    const auto dot = plain.rfind('.');
    return dot == std::string::npos ? "" : name.substr(dot);
}

HubFile hubFile(const DataFile& file, const HubAddress& address)
{
    HubFile hub { address.path, file.sizeBytes, "", "" };
    (file.hash.size() == kSha256Digits ? hub.sha256 : hub.oid) = file.hash;
    return hub;
}

/// The file in the cache that Hugging Face's own programs keep, when it is there with the right size.
std::filesystem::path inHuggingFaceCache(const HubAddress& address, std::uint64_t sizeBytes)
{
    const char* home = std::getenv("HF_HOME");
    const char* user = std::getenv("HOME");
    if (home == nullptr && user == nullptr)
        return {};
    std::string folder = "datasets--" + address.repository;
    if (const auto slash = folder.find('/'); slash != std::string::npos)
        folder.replace(slash, 1, "--");
    const auto root = home != nullptr ? pathFromUtf8(home) : pathFromUtf8(user) / ".cache" / "huggingface";
    const auto path = root / "hub" / pathFromUtf8(folder) / "snapshots" / pathFromUtf8(address.commit) / pathFromUtf8(address.path);
    std::error_code error;
    return std::filesystem::file_size(path, error) == sizeBytes && !error ? path : std::filesystem::path();
}

/// The same as far as it may be read. @param proofs  see openHubFile
std::filesystem::path usableInHuggingFaceCache(const DataFile& file, const HubAddress& address, HubProofs* proofs)
{
    auto local = inHuggingFaceCache(address, file.sizeBytes);
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
    return contentName(hubFile(file, address)) + ".download";
}

/// Tells how far a download is, once a second.
class ToldProgress {
public:
    /// @param here  bytes that are there already
    ToldProgress(std::string file, std::uint64_t here, std::uint64_t sizeBytes)
        : progress_ { std::move(file), here, sizeBytes, 0 }
        , before_(here)
    {
    }
    void arrived(std::uint64_t here)
    {
        const std::chrono::duration<double> passed = Clock::now() - began_;
        if (!hubProgress() || passed.count() < told_ + 1)
            return;
        told_ = passed.count();
        progress_.arrivedBytes = here;
        progress_.bytesPerSecond = static_cast<double>(here - before_) / told_;
        hubProgress()(progress_);
    }

private:
    using Clock = std::chrono::steady_clock;
    HubProgress progress_;
    std::uint64_t before_;
    Clock::time_point began_ = Clock::now();
    double told_ = 0; ///< seconds after the beginning
};

/// The whole file into `out`: what was kept of its beginning and its end, the rest from the hub.
Status download(const HubFile& hub, const HubAddress& address, HubClient& client, BlockCache& cache, CacheFile& out)
{
    HubPieces kept(cache.shared_from_this());
    Sha256 sha;
    Status written;
    std::uint64_t have = 0;
    std::string buffer;
    const auto take = [&](std::string_view piece) {
        sha.update(piece);
        have += piece.size();
        buffer.append(piece);
        if (buffer.size() >= kWrittenAtOnce || have == hub.sizeBytes) {
            written = out.append(buffer.data(), buffer.size());
            buffer.clear();
        }
        return written.ok();
    };
    std::vector<std::uint64_t> begun; // offsets of pieces
    for (auto piece = kept.find(hub, 0); piece; piece = written.ok() ? kept.find(hub, have) : std::nullopt) {
        begun.push_back(have);
        (void)take(*piece);
    }
    const std::uint64_t tail = tailOffset(hub.sizeBytes);
    const auto last = written.ok() && have < tail ? kept.find(hub, tail) : std::nullopt; // of Parquet the end was looked at as well
    const std::uint64_t end = last ? tail : hub.sizeBytes;
    ToldProgress progress(hub.path, have, hub.sizeBytes);
    const auto takeAndTell = [&](std::string_view piece) {
        const bool goOn = take(piece);
        progress.arrived(have);
        return goOn;
    };
    if (written.ok() && have < end)
        if (auto status = client.read(address.repository, address.commit, hub, { have, end - have }, takeAndTell); !status.ok())
            return written.ok() ? status : written;
    if (last && written.ok()) {
        begun.push_back(tail);
        (void)take(*last);
    }
    if (!written.ok() || hub.sha256.empty() || sha.hex() == hub.sha256)
        return written;
    for (const std::uint64_t offset : begun)
        kept.forget(hub, offset);
    return Error { ErrorCode::Corrupt, sentence("%1 arrived with other bytes than the hub's list promises (SHA-256). Try again; if it stays so, the repository or a mirror is damaged.", { toString(address) }) };
}

} // namespace

Result<DataSource> describeHubSource(const std::string& spec, const RunConfig& config, const std::shared_ptr<HubClient>& client)
{
    auto parsed = parseHubSpec(spec);
    if (!parsed.ok())
        return parsed.error();
    const std::string repository = parsed.value().repository;
    auto commit = client->resolveRevision(repository, parsed.value().revision);
    if (!commit.ok())
        return commit.error();
    auto tree = client->tree(repository, commit.value());
    if (!tree.ok())
        return tree.error();
    auto readme = client->readSmall(repository, commit.value(), "README.md");
    if (!readme.ok())
        return readme.error();
    auto choice = chooseHubFiles(parsed.value(), tree.value(), readme.value());
    if (!choice.ok())
        return choice.error();
    DataSource source;
    source.spec = spec;
    std::map<std::string, FileFormat> formats; // of one file of each ending: shards of one kind are alike
    for (const auto& hub : choice.value().files) {
        DataFile file;
        file.path = toString(HubAddress { repository, commit.value(), hub.path });
        file.sizeBytes = hub.sizeBytes;
        file.hash = hub.sha256.empty() ? hub.oid : hub.sha256;
        file.wholeHash = true;
        auto known = formats.find(endingOf(hub.path));
        if (known == formats.end()) {
            auto bytes = openHubFile(file, client, KeepHubPieces::current());
            if (!bytes.ok())
                return bytes.error();
            auto format = detectFormat(bytes.value(), file.path, config);
            if (!format.ok())
                return format.error();
            known = formats.emplace(endingOf(hub.path), format.value()).first;
        }
        file.format = known->second;
        source.files.push_back(std::move(file));
    }
    return source;
}

Result<std::shared_ptr<const ByteSource>> openHubFile(const DataFile& file, const std::shared_ptr<HubClient>& client, std::shared_ptr<HubPieces> pieces, HubProofs* proofs)
{
    auto address = parseHubAddress(file.path);
    if (!address.ok())
        return address.error();
    if (const auto local = usableInHuggingFaceCache(file, address.value(), proofs); !local.empty())
        return openLocalSource(local);
    return hubSource(client, address.value(), hubFile(file, address.value()), std::move(pieces));
}

Result<std::shared_ptr<const ByteSource>> downloadHubFile(const DataFile& file, const std::shared_ptr<HubClient>& client, BlockCache& cache, HubProofs& proofs)
{
    auto address = parseHubAddress(file.path);
    if (!address.ok())
        return address.error();
    if (const auto local = usableInHuggingFaceCache(file, address.value(), &proofs); !local.empty())
        return openLocalSource(local);
    const HubFile hub = hubFile(file, address.value());
    const std::string name = downloadName(file, address.value());
    if (const auto there = cache.find(kDownloads, name)) {
        const auto same = proofs.compare(file, *there);
        if (same.ok())
            return openLocalSource(*there);
        if (same.error().code != ErrorCode::Corrupt)
            return same.error();
        logWarning(same.error().message + " It is put aside and downloaded again.");
        if (auto aside = cache.quarantine(kDownloads, name); !aside.ok())
            return aside.error();
    }
    logInfo("downloading " + file.path);
    auto out = cache.create();
    if (!out.ok())
        return out.error();
    if (auto written = download(hub, address.value(), *client, cache, out.value()); !written.ok())
        return written.error();
    if (auto published = cache.publish(std::move(out).value(), kDownloads, name); !published.ok())
        return published.error();
    proofs.noteArrived(file, cache.path(kDownloads, name));
    return openLocalSource(cache.path(kDownloads, name));
}

std::optional<std::filesystem::path> downloadedHubFile(const DataFile& file, const std::filesystem::path& cacheFolder)
{
    const auto address = parseHubAddress(file.path);
    if (!address.ok())
        return std::nullopt;
    auto path = cacheFolder / kDownloads / pathFromUtf8(downloadName(file, address.value()));
    std::error_code ignored;
    return std::filesystem::exists(path, ignored) ? std::optional(std::move(path)) : std::nullopt;
}

bool doubtHubFile(const DataFile& file, BlockCache& cache, HubProofs& proofs)
{
    const auto address = parseHubAddress(file.path);
    if (!address.ok())
        return false;
    const auto foreign = inHuggingFaceCache(address.value(), file.sizeBytes);
    const auto ours = downloadedHubFile(file, cache.folder());
    bool wrong = false;
    for (const auto& whole : { foreign.empty() ? std::optional<std::filesystem::path>() : std::optional(foreign), ours }) {
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
