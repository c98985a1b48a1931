// Order of an installation: find every file, say how much it is, look whether there is room, fetch into downloads/,
// unpack into unpacked/.new-*, check by starting furrow-trainer with it, rename, choose, clear the downloads away.

#include "core/libtorch/torch_install.h"

#include "core/base/file_lock.h"
#include "core/base/file_system.h"
#include "core/base/format.h"
#include "core/base/hash.h"
#include "core/base/owner.h"
#include "core/base/path.h"
#include "core/base/random.h"
#include "core/base/sentence.h"
#include "core/libtorch/torch_place.h"
#include "core/libtorch/wheel_unpack.h"

#include <algorithm>
#include <cstdlib>

namespace furrow {

namespace {

/// What comes out of wheels, in times their size, before they are here and say it: 1.9 and 0.9 for torch 2.11 with and
/// without its CUDA half.
std::uint64_t expansion(bool cuda) { return cuda ? 2 : 1; }

constexpr const char* kUnfinished = ".new-";

struct Folders {
    std::filesystem::path home;
    std::filesystem::path downloads;
    std::filesystem::path unpacked;
};

Result<Folders> folders()
{
    FURROW_TRY_ASSIGN(const auto home, torchHome());
    return Folders { home, home / "downloads", home / "unpacked" };
}

/// One archive of the installation.
struct Part {
    PinnedPackage package; ///< without a name: a file that a person named, whatever it is
    WheelSource wheel;
};

Error noRoom(const std::filesystem::path& folder, std::uint64_t needed, std::uint64_t free)
{
    return { ErrorCode::Io,
        sentence(
            "%1 has %2 free and about %3 are needed. Make room, or set XDG_DATA_HOME to a folder on a larger disk.",
            { utf8Text(folder), Bytes(free), Bytes(needed) }) };
}

Status checkRoom(const std::filesystem::path& folder, std::uint64_t needed)
{
    FURROW_TRY_ASSIGN(const auto free, freeBytes(folder));
    return free < needed ? Status(noRoom(folder, needed, free)) : Status();
}

class Installation {
public:
    Installation(const TorchInstallOptions& options, const TorchInstallListener& listener, Folders where)
        : options_(options)
        , listener_(listener)
        , where_(std::move(where))
        , settings_(readPipSettings([](const char* name) { return std::getenv(name); }))
        , transport_(curlTransport({}, { settings_.certificates, settings_.proxy, true }))
    {
        retry_.attempts = 4; // a person waits
        retry_.wait = [this](double seconds, const Message& why) {
            say(sentence("%1. Trying again in %2 s.", { why, Real(seconds, 0) }));
            RetryPolicy plain;
            return pause(plain, seconds, why);
        };
    }

    Result<TorchFacts> run()
    {
        FURROW_TRY(findParts());
        FURROW_TRY(announce());
        FURROW_TRY(fetch());
        return unpack();
    }

private:
    void say(const Message& text) const
    {
        if (listener_.say)
            listener_.say(text);
    }
    ByteProgress progressOf(TorchInstallProgress::Step step, const std::string& file) const
    {
        return [this, step, file](std::uint64_t done, std::uint64_t total) {
            if (listener_.progress)
                listener_.progress({ step, file, done, total });
        };
    }
    UnpackChoice choice() const { return { options_.cuda }; }

    std::vector<PinnedPackage> packages() const
    {
        if (!options_.packages.empty())
            return options_.packages;
        auto all = pinnedCuda(options_.cuda);
        all.insert(all.begin(), pinnedTorch());
        return all;
    }

    Status findParts()
    {
        std::error_code error;
        if (std::filesystem::is_directory(options_.from, error))
            return findInFolder();
        if (!options_.from.empty())
            return findInFile();
        PackageIndex index(settings_, *transport_, retry_);
        for (const auto& package : packages()) {
            FURROW_TRY_ASSIGN(auto wheel, index.find(package));
            wheel.sizeBytes = sizeOfWheel(wheel, *transport_, retry_);
            parts_.push_back({ package, std::move(wheel) });
        }
        return {};
    }

    Status findInFolder()
    {
        std::string missing;
        for (const auto& package : packages()) {
            auto wheels = wheelsIn(options_.from, package);
            if (wheels.empty())
                missing += (missing.empty() ? "" : ", ") + package.name + "==" + package.version;
            else
                parts_.push_back({ package, std::move(wheels.front()) });
        }
        if (missing.empty())
            return {};
        return Error { ErrorCode::NotFound,
            sentence(
                "%1 lacks wheels for this computer: %2. Where there is a network, `python3 -m pip download --no-deps --dest FOLDER` with these names fetches them.",
                { utf8Text(options_.from), missing }) };
    }

    Status findInFile()
    {
        std::error_code error;
        const auto size = std::filesystem::file_size(options_.from, error);
        if (error)
            return Error { ErrorCode::NotFound,
                sentence("%1 is neither a file nor a folder.", { utf8Text(options_.from) }) };
        WheelSource wheel { utf8Text(options_.from.filename()), options_.from, {}, {}, size };
        const auto name = parseWheelName(wheel.name);
        const bool isPinned = name.package == "torch" && name.version == pinnedTorch().version;
        parts_.push_back({ isPinned ? pinnedTorch() : PinnedPackage {}, std::move(wheel) });
        if (!isPinned)
            return {};
        const auto beside = options_.from.parent_path();
        for (const auto& package : pinnedCuda(options_.cuda)) { // it does not start without them
            auto wheels = wheelsIn(beside.empty() ? "." : beside, package);
            if (wheels.empty())
                return Error { ErrorCode::NotFound,
                    sentence("%1 needs %2 %3 beside it in its folder.",
                        { parts_.front().wheel.name, package.name, package.version }) };
            parts_.push_back({ package, std::move(wheels.front()) });
        }
        return {};
    }

    std::uint64_t stillToFetch(const Part& part) const
    {
        std::error_code error;
        const auto& wheel = part.wheel;
        if (!wheel.file.empty() || std::filesystem::exists(where_.downloads / wheel.name, error))
            return 0;
        const auto there = std::filesystem::file_size(where_.downloads / (wheel.name + ".part"), error);
        return wheel.sizeBytes - std::min(error ? 0 : there, wheel.sizeBytes);
    }

    Status announce()
    {
        std::uint64_t fetched = 0, packed = 0;
        for (const auto& part : parts_) {
            fetched += stillToFetch(part);
            packed += part.wheel.sizeBytes;
        }
        const auto unpacked = expansion(options_.cuda) * packed;
        const auto needed = fetched + unpacked;
        say(sentence(
            "libtorch %1: %2 files, of which %3 are to be fetched; %4 of disk are needed while it is installed, about %5 afterwards, in %6.",
            { pinnedTorch().version, std::to_string(parts_.size()), Bytes(fetched), Bytes(needed), Bytes(unpacked),
                utf8Text(where_.home) }));
        return checkRoom(where_.home, needed);
    }

    Status fetch()
    {
        for (auto& part : parts_) {
            if (part.wheel.file.empty()) {
                FURROW_TRY_ASSIGN(part.wheel.file, fetchOne(part));
            } else {
                FURROW_TRY(checkHash(part));
            }
        }
        return {};
    }

    /// What an earlier try left may have been touched since.
    Result<std::filesystem::path> fetchOne(const Part& part)
    {
        const auto whole = where_.downloads / part.wheel.name;
        if (const auto left = sha256File(whole); left.ok() && part.package.allows(left.value()))
            return whole;
        return downloadWheel(part.wheel, part.package, where_.downloads, *transport_, retry_,
            progressOf(TorchInstallProgress::Step::Download, part.wheel.name));
    }

    Status checkHash(const Part& part) const
    {
        FURROW_TRY_ASSIGN(const auto hash, sha256File(part.wheel.file));
        if (part.package.name.empty())
            say(sentence("%1 is not a file that Furrow knows; its SHA-256 is %2. It is taken because you named it.",
                { part.wheel.name, hash }));
        else if (!part.package.allows(hash))
            return Error { ErrorCode::Corrupt,
                sentence(
                    "%1 has the SHA-256 %2, which is none of those that Furrow knows for %3 %4. It is damaged or something else: fetch it again.",
                    { utf8Text(part.wheel.file), hash, part.package.name, part.package.version }) };
        return {};
    }

    Result<TorchFacts> unpack()
    {
        std::uint64_t bytes = 0;
        for (const auto& part : parts_) {
            FURROW_TRY_ASSIGN(const auto of, unpackedBytes(part.wheel.file, choice()));
            bytes += of;
        }
        FURROW_TRY(checkRoom(where_.home, bytes));
        auto& files = realFileSystem();
        const auto fresh = where_.unpacked / (kUnfinished + randomHex(8));
        for (const auto& part : parts_)
            FURROW_TRY(unpackWheel(
                part.wheel.file, choice(), fresh, progressOf(TorchInstallProgress::Step::Unpack, part.wheel.name)));
        auto facts = options_.check(fresh / "torch");
        if (!facts.ok()) {
            (void)files.removeAll(fresh); // the first error is the one to tell
            return facts.error();
        }
        const auto place
            = where_.unpacked / (facts.value().version + (options_.cuda ? "" : "-cpu") + "-" + randomHex(4));
        FURROW_TRY(files.rename(fresh, place));
        FURROW_TRY(files.syncFolder(where_.unpacked));
        FURROW_TRY(chooseTorch(place / "torch"));
        clearOthers(place);
        return TorchFacts { place / "torch", facts.value().version, facts.value().hasCuda };
    }

    /// Downloads, and what was unpacked before: it is not in use any more, but for workers that run, which keep what
    /// they have open.
    void clearOthers(const std::filesystem::path& kept) const
    {
        (void)realFileSystem().removeAll(where_.downloads);
        const auto all = entriesOf(where_.unpacked);
        for (const auto& other : all.ok() ? all.value() : std::vector<std::filesystem::path>())
            if (other != kept)
                (void)realFileSystem().removeAll(other);
    }

    const TorchInstallOptions& options_;
    const TorchInstallListener& listener_;
    Folders where_;
    PipSettings settings_;
    std::unique_ptr<HttpTransport> transport_;
    RetryPolicy retry_;
    std::vector<Part> parts_;
};

Result<FileLock> takeTurn(const Folders& where)
{
    FURROW_TRY(refuseRootInFolderOf(where.home));
    FURROW_TRY(realFileSystem().createFolders(where.home));
    auto turn = FileLock::tryLock(where.home / "lock");
    if (!turn.ok() && turn.error().code == ErrorCode::Busy)
        return Error { ErrorCode::Busy,
            sentence("Another `furrowctl torch` is at work in %1. Wait for its end.", { utf8Text(where.home) }) };
    return turn;
}

} // namespace

Result<TorchFacts> installTorch(const TorchInstallOptions& options, const TorchInstallListener& listener)
{
    FURROW_TRY_ASSIGN(const auto where, folders());
    FURROW_TRY_ASSIGN(const auto turn, takeTurn(where));
    auto& files = realFileSystem();
    FURROW_TRY(files.createFolders(where.downloads));
    FURROW_TRY(files.createFolders(where.unpacked));
    const auto before = entriesOf(where.unpacked);
    for (const auto& entry : before.ok() ? before.value() : std::vector<std::filesystem::path>())
        if (utf8Text(entry.filename()).starts_with(kUnfinished)) // of one that was killed
            FURROW_TRY(files.removeAll(entry));
    return Installation(options, listener, where).run();
}

bool isOurs(const std::filesystem::path& folder)
{
    const auto where = folders();
    if (!where.ok())
        return false;
    const auto inside = folder.lexically_relative(where.value().unpacked);
    return !inside.empty() && *inside.begin() != ".." && *inside.begin() != ".";
}

Result<TorchRemoval> removeTorch()
{
    FURROW_TRY_ASSIGN(const auto where, folders());
    TorchRemoval removal;
    std::error_code error;
    if (!std::filesystem::exists(where.home, error))
        return removal;
    FURROW_TRY_ASSIGN(const auto turn, takeTurn(where));
    if (const auto chosen = chosenTorch(); !chosen.empty() && !isOurs(chosen))
        removal.left = chosen;
    FURROW_TRY(forgetTorch());
    for (const auto& folder : { where.unpacked, where.downloads }) {
        for (std::filesystem::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
            entry.increment(error))
            if (entry->is_regular_file(error) && !entry->is_symlink(error))
                removal.bytes += entry->file_size(error);
        FURROW_TRY(realFileSystem().removeAll(folder));
    }
    return removal;
}

} // namespace furrow
