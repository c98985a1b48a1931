// A model of the hub comes into a folder of its own: downloads grow in a cache beside it, and the folder gets its name
// when all of them are whole. So a folder with the name of a commit is a whole model.

#include "core/data/hub/hub_model.h"

#include "core/base/file_lock.h"
#include "core/base/file_system.h"
#include "core/base/format.h"
#include "core/base/is_there.h"
#include "core/base/lock_holder.h"
#include "core/base/owner.h"
#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/base/stop_asked.h"
#include "core/base/sync_file.h"
#include "core/base/user_data.h"
#include "core/data/hub/hub_files.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <vector>

namespace furrow {

namespace {

constexpr std::string_view kScheme = "hf://";
constexpr std::size_t kCommitDigits = 12; // as much of it as names a folder
constexpr const char* kGrowing = ".part"; // behind the name of a folder: it is not whole
constexpr const char* kLock = ".lock"; // of who fetches
constexpr double kTurnSeconds = 0.2; // between two looks at it
constexpr std::size_t kMostShards = 4096;
constexpr std::uint64_t kMostTextBytes = 64u << 20; // of a file that describes
constexpr std::array<std::string_view, 11> kDescribing { "config.json", "generation_config.json", "tokenizer.json",
    "tokenizer.model", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "vocab.json",
    "merges.txt", "chat_template.jinja", "chat_template.json" };

bool isHubName(std::string_view text)
{
    return !text.empty() && text != "." && text != ".." && text.size() <= 96
        && std::all_of(text.begin(), text.end(),
            [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.'; });
}

bool isRevision(std::string_view text)
{
    return !text.empty() && text.size() <= 255 && std::all_of(text.begin(), text.end(), [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.' || c == '/';
    });
}

std::string nameOf(const HubModelSpec& spec)
{
    return std::string(kScheme) + spec.repository + (spec.gguf.empty() ? "" : "/" + spec.gguf)
        + (spec.revision == "main" ? "" : "@" + spec.revision);
}

/// Never a path: the hub's list is not believed.
bool isShard(std::string_view name)
{
    return name.starts_with("model-") && name.ends_with(".safetensors") && isHubName(name);
}

std::string ggufsOf(const std::vector<HubFile>& tree)
{
    std::string names;
    for (const auto& file : tree)
        if (file.path.ends_with(".gguf") && file.path.find('/') == std::string::npos)
            names += (names.empty() ? "" : ", ") + file.path;
    return names;
}

/// What is taken of a repository; its folders are for other programs.
Result<std::vector<HubFile>> chosenFiles(const HubModelSpec& spec, const std::vector<HubFile>& tree)
{
    const auto has = [&tree](std::string_view path) {
        return std::any_of(tree.begin(), tree.end(), [path](const HubFile& file) { return file.path == path; });
    };
    std::vector<HubFile> files;
    const auto take
        = [&](const auto& wanted) { std::copy_if(tree.begin(), tree.end(), std::back_inserter(files), wanted); };
    if (!spec.gguf.empty()) {
        take([&spec](const HubFile& file) { return file.path == spec.gguf; });
        if (files.empty())
            return Error { ErrorCode::InvalidArgument,
                sentence("%1 has no file %2. Its GGUF files: %3.",
                    { std::string(kScheme) + spec.repository, spec.gguf, ggufsOf(tree) }) };
        return files;
    }
    const auto ggufs = ggufsOf(tree);
    if (!has("config.json"))
        return Error { ErrorCode::InvalidArgument,
            ggufs.empty() ? sentence("%1 has no config.json, so it is not a text model.", { nameOf(spec) })
                          : sentence("%1 keeps GGUF files: %2. Name one, as %3/FILE.gguf.",
                                { nameOf(spec), ggufs, std::string(kScheme) + spec.repository }) };
    const bool isSharded = has("model.safetensors.index.json");
    if (!isSharded && !has("model.safetensors"))
        return Error { ErrorCode::InvalidArgument,
            sentence(
                "%1 has no safetensors. Weights in other formats (pytorch_model.bin) are programs that run when they are read, and are not taken; look for a copy of the model with safetensors.",
                { nameOf(spec) }) };
    take([isSharded](const HubFile& file) {
        if (std::find(kDescribing.begin(), kDescribing.end(), file.path) != kDescribing.end())
            return true;
        return isSharded ? file.path == "model.safetensors.index.json" || isShard(file.path)
                         : file.path == "model.safetensors";
    });
    for (const auto& file : files)
        if (file.sizeBytes > kMostTextBytes && !file.path.ends_with(".safetensors"))
            return Error { ErrorCode::InvalidArgument,
                sentence(
                    "%1 of %2 has %3, which no such file has.", { file.path, nameOf(spec), Bytes(file.sizeBytes) }) };
    if (files.size() > kMostShards)
        return Error { ErrorCode::InvalidArgument,
            sentence("%1 has %2 files, more than any model.", { nameOf(spec), std::to_string(files.size()) }) };
    return files;
}

/// Of all files below a folder.
std::uint64_t sizeOf(const std::filesystem::path& folder)
{
    std::uint64_t bytes = 0;
    std::error_code unknown;
    for (std::filesystem::recursive_directory_iterator entries(folder, unknown), end; entries != end && !unknown;
        entries.increment(unknown))
        if (entries->is_regular_file(unknown))
            bytes += entries->file_size(unknown);
    return bytes;
}

class Fetching {
public:
    Fetching(const HubModelSpec& spec, const std::filesystem::path& models, const std::shared_ptr<HubClient>& client,
        const std::function<void(const Message&)>& tell)
        : spec_(spec)
        , owner_(models / pathFromUtf8(spec.repository.substr(0, spec.repository.find('/'))))
        , client_(client)
        , tell_(tell)
    {
    }

    Result<std::filesystem::path> run()
    {
        const auto commit = client_->resolveRevision(spec_.repository, spec_.revision);
        if (!commit.ok())
            return commit.error().code == ErrorCode::Network ? copyThatIsHere(commit.error()) : commit.error();
        const auto folder = owner_ / pathFromUtf8(folderName(commit.value()));
        if (isThere(folder))
            return placeIn(folder);
        FURROW_TRY_ASSIGN(const auto tree, client_->tree(spec_.repository, commit.value()));
        FURROW_TRY_ASSIGN(const auto files, chosenFiles(spec_, tree));
        FURROW_TRY(refuseRootInFolderOf(owner_));
        FURROW_TRY(realFileSystem().createFolders(owner_));
        FURROW_TRY_ASSIGN(const auto lock, takeTurn(folder));
        if (!isThere(folder)) // another process may have fetched it meanwhile
            FURROW_TRY(fetch(files, commit.value(), folder));
        return placeIn(folder);
    }

private:
    std::string modelName() const { return spec_.repository.substr(spec_.repository.find('/') + 1); }
    std::string folderName(const std::string& commit) const
    {
        return modelName() + "@" + commit.substr(0, kCommitDigits) + (spec_.gguf.empty() ? "" : "-" + spec_.gguf);
    }
    std::filesystem::path placeIn(const std::filesystem::path& folder) const
    {
        return spec_.gguf.empty() ? folder : folder / pathFromUtf8(spec_.gguf);
    }

    /// The newest that was fetched of it, whatever its commit.
    Result<std::filesystem::path> copyThatIsHere(const Error& why) const
    {
        const auto entries = entriesOf(owner_);
        std::filesystem::path newest;
        for (const auto& entry : entries.ok() ? entries.value() : std::vector<std::filesystem::path>()) {
            const auto name = utf8Text(entry.filename());
            const auto at = modelName().size();
            const bool isIt = name.size() > at + kCommitDigits && name.starts_with(modelName() + "@")
                && name == folderName(name.substr(at + 1, kCommitDigits));
            const bool isWanted
                = spec_.revision == "main" || spec_.revision.starts_with(name.substr(at + 1, kCommitDigits));
            if (isIt && isWanted && (newest.empty() || writtenAt(entry) > writtenAt(newest)))
                newest = entry;
        }
        if (newest.empty())
            return why;
        tell_(sentence(
            "%1 The copy that was fetched before is taken: %2", { withFullStop(why.message), utf8Text(newest) }));
        return placeIn(newest);
    }
    static std::filesystem::file_time_type writtenAt(const std::filesystem::path& path)
    {
        std::error_code unknown;
        return std::filesystem::last_write_time(path, unknown);
    }

    /// Waits for who fetches it already, and says each time who that is.
    Result<FileLock> takeTurn(const std::filesystem::path& folder) const
    {
        const auto file = beside(folder, kLock);
        for (Message said;;) {
            auto lock = FileLock::tryLock(file);
            if (lock.ok() || lock.error().code != ErrorCode::Busy)
                return lock;
            const auto holder = fileLockHolder(file);
            const Message waits = sentence("%1 is being fetched by %2; this process waits until that has ended.",
                { nameOf(spec_), holder ? inWords(*holder) : sentence("another process") });
            if (!(waits == said))
                tell_(said = waits);
            if (stopAsked() || !client_->wait(kTurnSeconds, waits))
                return Error { ErrorCode::Cancelled, sentence("fetching a model was interrupted") };
        }
    }
    static std::filesystem::path beside(const std::filesystem::path& folder, const char* ending)
    {
        auto path = folder;
        path += ending;
        return path;
    }

    Status fetch(const std::vector<HubFile>& files, const std::string& commit, const std::filesystem::path& folder)
    {
        const auto growing = beside(folder, kGrowing);
        FURROW_TRY(realFileSystem().createFolders(growing / "model"));
        FURROW_TRY(checkRoom(files, growing));
        FURROW_TRY_ASSIGN(auto cache, BlockCache::open(growing / "cache", 0));
        HubProofs proofs;
        for (const auto& file : files)
            FURROW_TRY(fetchOne(file, commit, growing, *cache, proofs));
        FURROW_TRY(realFileSystem().syncFolder(growing / "model"));
        FURROW_TRY(realFileSystem().rename(growing / "model", folder));
        FURROW_TRY(realFileSystem().syncFolder(owner_));
        cache.reset();
        return realFileSystem().removeAll(growing);
    }

    Status fetchOne(const HubFile& file, const std::string& commit, const std::filesystem::path& growing,
        BlockCache& cache, HubProofs& proofs)
    {
        const auto place = growing / "model" / pathFromUtf8(file.path);
        std::error_code unknown;
        if (std::filesystem::file_size(place, unknown) == file.sizeBytes && !unknown)
            return {}; // of a fetch that was interrupted
        DataFile wanted;
        wanted.path = toString(HubAddress { spec_.repository, commit, file.path });
        wanted.sizeBytes = file.sizeBytes;
        wanted.hash = file.sha256.empty() ? file.oid : file.sha256;
        wanted.wholeHash = !file.sha256.empty();
        wanted.fetchWhole = true;
        FURROW_TRY_ASSIGN(auto source, downloadHubFile(wanted, client_, cache, proofs));
        if (const auto ours = downloadedHubFile(wanted, cache.folder())) {
            source.reset();
            FURROW_TRY(syncFile(*ours));
            return realFileSystem().rename(*ours, place);
        }
        return copy(*source, place); // the programs of Hugging Face have it already
    }

    static Status copy(const ByteSource& from, const std::filesystem::path& to)
    {
        constexpr std::uint64_t kPiece = 4u << 20;
        auto growing = to;
        growing += ".part";
        FURROW_TRY_ASSIGN(auto file, realFileSystem().create(growing));
        std::vector<std::byte> piece;
        for (std::uint64_t at = 0; at < from.sizeBytes(); at += piece.size()) {
            piece.resize(static_cast<std::size_t>(std::min(kPiece, from.sizeBytes() - at)));
            FURROW_TRY(from.readAt(at, piece));
            FURROW_TRY(file->append(piece.data(), piece.size()));
        }
        FURROW_TRY(file->sync());
        FURROW_TRY(file->close());
        return realFileSystem().rename(growing, to);
    }

    Status checkRoom(const std::vector<HubFile>& files, const std::filesystem::path& growing) const
    {
        std::uint64_t needed = 0;
        for (const auto& file : files)
            needed += file.sizeBytes;
        const std::uint64_t here = sizeOf(growing);
        FURROW_TRY_ASSIGN(const auto free, freeBytes(growing));
        const std::uint64_t missing = needed - std::min(needed, here);
        if (free < missing)
            return Error { ErrorCode::Io,
                sentence(
                    "%1 has %2 free and %3 are needed for %4. Make room, or set XDG_DATA_HOME to a folder on a larger disk.",
                    { utf8Text(owner_), Bytes(free), Bytes(missing), nameOf(spec_) }) };
        tell_(here == 0
                ? sentence("Fetching %1: %2 files, %3", { nameOf(spec_), std::to_string(files.size()), Bytes(needed) })
                : sentence("Fetching %1: %2 files, %3, of which %4 are here",
                      { nameOf(spec_), std::to_string(files.size()), Bytes(needed), Bytes(std::min(needed, here)) }));
        return {};
    }

    const HubModelSpec& spec_;
    std::filesystem::path owner_;
    const std::shared_ptr<HubClient>& client_;
    const std::function<void(const Message&)>& tell_;
};

} // namespace

std::vector<FetchedModel> fetchedModels(const std::filesystem::path& models)
{
    std::vector<FetchedModel> found;
    const auto in = [](const std::filesystem::path& folder) {
        auto entries = entriesOf(folder);
        return entries.ok() ? std::move(entries).value() : std::vector<std::filesystem::path>();
    };
    for (const auto& owner : in(models)) {
        for (const auto& folder : in(owner)) {
            const bool isPart = folder.extension() == kGrowing;
            const auto called = utf8Text(isPart ? folder.stem() : folder.filename());
            const auto at = called.rfind('@');
            if (at == std::string::npos || called.size() < at + 1 + kCommitDigits || folder.extension() == kLock)
                continue;
            const auto gguf = called.substr(std::min(at + 1 + kCommitDigits + 1, called.size()));
            const auto name = std::string(kScheme) + utf8Text(owner.filename()) + "/" + called.substr(0, at)
                + (gguf.empty() ? "" : "/" + gguf) + called.substr(at, 1 + kCommitDigits);
            if (parseHubModelSpec(name).ok())
                found.push_back({ name, gguf.empty() ? folder : folder / pathFromUtf8(gguf), sizeOf(folder), !isPart });
        }
    }
    std::sort(found.begin(), found.end(), [](const FetchedModel& a, const FetchedModel& b) { return a.name < b.name; });
    return found;
}

bool isHubModel(std::string_view text) { return text.starts_with(kScheme); }

Result<HubModelSpec> parseHubModelSpec(std::string_view text)
{
    const Error wrong { ErrorCode::InvalidArgument,
        sentence(
            "%1 is not a model of the hub. Write hf://owner/name, hf://owner/name/FILE.gguf or hf://owner/name@revision.",
            { std::string(text) }) };
    if (!isHubModel(text))
        return wrong;
    text.remove_prefix(kScheme.size());
    HubModelSpec spec;
    if (const auto at = text.find('@'); at != std::string_view::npos) {
        spec.revision = text.substr(at + 1);
        text = text.substr(0, at);
        if (!isRevision(spec.revision))
            return wrong;
    }
    const auto owner = text.substr(0, text.find('/'));
    text.remove_prefix(std::min(owner.size() + 1, text.size()));
    const auto name = text.substr(0, text.find('/'));
    text.remove_prefix(std::min(name.size() + 1, text.size()));
    if (!isHubName(owner) || !isHubName(name) || (!text.empty() && (!isHubName(text) || !text.ends_with(".gguf"))))
        return wrong;
    spec.repository = std::string(owner) + "/" + std::string(name);
    spec.gguf = text;
    return spec;
}

HubSettings modelHubSettings()
{
    auto settings = HubSettings::fromEnvironment();
    settings.kind = HubKind::Models;
    return settings;
}

Result<std::filesystem::path> modelsFolder()
{
    FURROW_TRY_ASSIGN(const auto data, userDataFolder());
    return data / "models";
}

Result<std::filesystem::path> fetchHubModel(const HubModelSpec& spec, const std::filesystem::path& models,
    const std::shared_ptr<HubClient>& client, const std::function<void(const Message&)>& tell)
{
    return Fetching(spec, models, client, tell).run();
}

} // namespace furrow
