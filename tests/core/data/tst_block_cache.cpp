#include "data_fixture.h"

#include "core/base/format.h"
#include "core/base/hash.h"
#include "core/base/lock_holder.h"
#include "core/base/process.h"
#include "core/data/cache_verification.h"
#include "core/data/source/cache_magic.h"

#include <QtTest>
#include <atomic>
#include <fstream>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace furrow;
using test::DataFolder;

namespace {

constexpr std::uint64_t kMiB = 1 << 20;

/// As the cache names blocks.
std::string block(const std::string& name) { return sha256Hex(name).substr(0, 32) + ".block"; }

Status put(BlockCache& cache, const std::string& name, std::size_t bytes)
{
    auto file = cache.create();
    if (!file.ok())
        return file.error();
    std::string piece(bytes / 4, 'x');
    piece.replace(0, kBlockMagic.size(), kBlockMagic);
    for (int i = 0; i < 4; ++i)
        if (auto status = file.value().append(piece.data(), piece.size()); !status.ok())
            return status;
    return cache.publish(std::move(file).value(), kBlocks, block(name));
}

/// The disk, and what was seen of the lock of the cache while bytes and names were written.
class WatchingFileSystem final : public FileSystem {
public:
    explicit WatchingFileSystem(std::filesystem::path lock)
        : lock_(std::move(lock))
    {
    }
    Result<std::unique_ptr<OutputFile>> create(const std::filesystem::path& path) override
    {
        FURROW_TRY_ASSIGN(auto made, realFileSystem().create(path));
        return std::unique_ptr<OutputFile>(std::make_unique<File>(std::move(made), *this));
    }
    Result<std::string> read(const std::filesystem::path& path) override { return realFileSystem().read(path); }
    Status createFolders(const std::filesystem::path& path) override { return realFileSystem().createFolders(path); }
    Status createFolder(const std::filesystem::path& path) override { return realFileSystem().createFolder(path); }
    Status rename(const std::filesystem::path& from, const std::filesystem::path& to) override
    {
        lockedAtRename = isLocked(lock_);
        return realFileSystem().rename(from, to);
    }
    Status replace(const std::filesystem::path& from, const std::filesystem::path& to) override
    {
        return realFileSystem().replace(from, to);
    }
    Status syncFolder(const std::filesystem::path& folder) override { return realFileSystem().syncFolder(folder); }
    Status removeAll(const std::filesystem::path& path) override
    {
        lockedAtRemoval = lockedAtRemoval || isLocked(lock_);
        ++removed;
        return realFileSystem().removeAll(path);
    }

    bool lockedAtRename = false;
    bool lockedAtRemoval = false;
    int removed = 0;
    bool lockedAtWrite = false;

private:
    struct File final : OutputFile {
        File(std::unique_ptr<OutputFile> file, WatchingFileSystem& watching)
            : under(std::move(file))
            , seen(watching)
        {
        }
        Status append(const void* data, std::size_t sizeBytes) override
        {
            seen.lockedAtWrite = seen.lockedAtWrite || isLocked(seen.lock_);
            return under->append(data, sizeBytes);
        }
        Status sync() override { return under->sync(); }
        Status close() override { return under->close(); }

        std::unique_ptr<OutputFile> under;
        WatchingFileSystem& seen;
    };
    const std::filesystem::path lock_;
};

std::size_t filesIn(const std::filesystem::path& folder)
{
    std::size_t n = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder))
        ++n;
    return n;
}

} // namespace

class TestBlockCache : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void evictsTheLeastRecentlyUsedButNoPinned()
    {
        DataFolder folder;
        auto cache = BlockCache::open(folder.path("cache"), 4 * kMiB).value();
        for (const char* name : { "a", "b", "c" }) {
            QVERIFY(put(*cache, name, kMiB).ok());
            std::this_thread::sleep_for(std::chrono::milliseconds(20)); // times of files must differ
        }
        QVERIFY(cache->find(kBlocks, block("a")).has_value()); // now b is the oldest
        const std::vector<std::string> pins { block("b") };
        QVERIFY(cache->pin("test", pins).ok());
        QVERIFY(put(*cache, "d", 2 * kMiB).ok());
        QVERIFY(cache->find(kBlocks, block("b")).has_value());
        QVERIFY(!cache->find(kBlocks, block("c")).has_value());
        QVERIFY(cache->find(kBlocks, block("d")).has_value());
        QVERIFY(cache->usedBytes().value() <= 4 * kMiB);
    }
    /// An ordinary run with a small cap deleted what a person had in cache/downloads, and so did `cache trim`.
    void filesOfAPersonInTheCacheFolderWereEvicted()
    {
        DataFolder folder;
        const auto cacheFolder = folder.path("cache");
        const std::string hex(64, 'a');
        const std::vector<std::pair<std::string, std::string>> mine { { kDownloads, "mythesis.csv" },
            { kBlocks, "MYNOTES.txt" }, { kBlocks, "zz.block" }, { kExpanded, "d.text" }, { kDuplicates, "d.txt" },
            { kDownloads, hex + ".json" }, { kDownloads, hex }, { kBlocks, "x" + hex + ".block" },
            { kBlocks, hex + ".block.bad-notes" }, { "temporary", "draft-1" }, { "members", "my.lock" },
            { "members", "my.pins" } };
        for (const auto& [sub, name] : mine) {
            std::filesystem::create_directories(cacheFolder / sub);
            std::ofstream(cacheFolder / sub / name) << std::string(kMiB, 'x');
        }
        auto cache = BlockCache::open(cacheFolder, 2 * kMiB).value();
        QCOMPARE(cache->usedBytes().value(), std::uint64_t { 0 });
        for (const char* name : { "a", "b", "c" })
            QVERIFY(put(*cache, name, kMiB).ok());
        QVERIFY(cache->quarantine(kBlocks, block("c")).ok());
        QCOMPARE(cache->list().value().size(), std::size_t { 2 });
        QVERIFY(cache->trim(0).ok());
        QVERIFY(cache->list().value().empty());
        for (const auto& [sub, name] : mine)
            QVERIFY2(std::filesystem::exists(cacheFolder / sub / name), name.c_str());
    }
    /// Nothing read them any more, and they took room until they happened to be the oldest.
    void textsOfAnOlderFurrowStayedInTheCache()
    {
        DataFolder folder;
        const auto expanded = folder.path("cache") / kExpanded;
        std::filesystem::create_directories(expanded);
        const std::string key(32, 'a');
        const std::string pinned = std::string(32, 'b') + ".text";
        for (const std::string& name : { key + ".text", pinned, key + kExpandedEnding, std::string("notes.text") })
            std::ofstream(expanded / name) << std::string(kMiB, 'x');
        auto cache = BlockCache::open(folder.path("cache"), 0).value();
        const std::vector<std::string> pins { pinned }; // an older program uses the same workspace
        QVERIFY(cache->pin("expanded", pins).ok());
        const auto removed = cache->removeOutdated();
        QVERIFY2(removed.ok(), removed.ok() ? "" : removed.error().message.c_str());
        QCOMPARE(removed.value().files, 1);
        QCOMPARE(removed.value().bytes, std::uint64_t { kMiB });
        QVERIFY(!std::filesystem::exists(expanded / (key + ".text")));
        for (const std::string& name : { pinned, key + kExpandedEnding, std::string("notes.text") })
            QVERIFY2(std::filesystem::exists(expanded / name), name.c_str());
        QCOMPARE(cache->removeOutdated().value().files, 0);
    }
    /// Files of a person that happened to have names of the cache's were deleted by their names alone.
    void filesOfAPersonNamedLikeTheCachesWereRemoved()
    {
        DataFolder folder;
        const auto cacheFolder = folder.path("cache");
        const std::vector<std::pair<std::string, std::string>> mine { { kBlocks, std::string(32, '0') + ".block" },
            { "members", "0123456789abcdef.lock" }, { "members", "0123456789abcdef.pins" },
            { "members", "fedcba9876543210.pins" } };
        for (const auto& [sub, name] : mine) {
            std::filesystem::create_directories(cacheFolder / sub);
            std::ofstream(cacheFolder / sub / name) << "mine\n";
        }
        std::ofstream(cacheFolder / "members" / "fedcba9876543210.lock"); // as a member that died leaves it
        auto cache = BlockCache::open(cacheFolder, 2 * kMiB).value();
        QVERIFY(!std::filesystem::exists(cacheFolder / "members" / "fedcba9876543210.lock"));
        for (const char* name : { "a", "b", "c" })
            QVERIFY(put(*cache, name, kMiB / 2).ok());
        QVERIFY(cache->trim(0).ok());
        QCOMPARE(cache->list().value().size(), std::size_t { 1 });
        for (const auto& [sub, name] : mine)
            QCOMPARE(readFile(cacheFolder / sub / name).value(), std::string("mine\n"));
    }
    /// A process that was slow, or was stopped, in the removal of many files kept every run of the workspace waiting.
    void theLockOfTheCacheWasHeldWhileFilesWereRemoved()
    {
        DataFolder folder;
        WatchingFileSystem files(folder.path("cache") / "cache.lock");
        auto cache = BlockCache::open(folder.path("cache"), 4 * kMiB, files).value();
        for (const char* name : { "a", "b", "c" })
            QVERIFY(put(*cache, name, kMiB).ok());
        QVERIFY(put(*cache, "d", 2 * kMiB).ok());
        QVERIFY(cache->trim(0).ok());
        QCOMPARE(files.removed, 4);
        QVERIFY(!files.lockedAtRemoval);
        QCOMPARE(filesIn(folder.path("cache/temporary")), std::size_t { 0 });
    }
    /// A run folder that somebody sent had a link for its cache: making room deleted what lay behind it.
    void linksInsideTheCacheAreNotFollowed()
    {
        DataFolder folder;
        const auto mine = folder.path("mine");
        std::filesystem::create_directories(mine);
        std::ofstream(mine / "thesis.txt") << std::string(kMiB, 'x');
        std::filesystem::create_directories(folder.path("cache"));
        std::filesystem::create_directory_symlink(mine, folder.path("cache") / kBlocks);
        const auto refused = BlockCache::open(folder.path("cache"), 2 * kMiB);
        QVERIFY(!refused.ok());
        QVERIFY2(refused.error().message.find("is a link") != std::string::npos, refused.error().message.c_str());
        std::filesystem::remove(folder.path("cache") / kBlocks);
        auto cache = BlockCache::open(folder.path("cache"), 2 * kMiB).value();
        std::filesystem::create_symlink(mine / "thesis.txt", folder.path("cache") / kBlocks / "link");
        QVERIFY(put(*cache, "a", 2 * kMiB).ok());
        (void)cache->trim(0);
        QVERIFY(std::filesystem::exists(mine / "thesis.txt"));
        QVERIFY(isLink(folder.path("cache") / kBlocks / "link"));
    }
    /// Names came while nobody held the lock; the bytes were written with it, so that whoever was stopped there stopped
    /// every run of the workspace.
    void theLockIsHeldForNamesAndNotForBytes()
    {
        DataFolder folder;
        WatchingFileSystem files(folder.path("cache") / "cache.lock");
        auto cache = BlockCache::open(folder.path("cache"), 4 * kMiB, files).value();
        QVERIFY(put(*cache, "a", kMiB).ok());
        QVERIFY(files.lockedAtRename);
        QVERIFY(!files.lockedAtWrite);
    }
    /// A stopped `audit --deep` held the lock: all others waited for ever, and nobody said for what.
    void aStoppedHolderOfTheLockWasWaitedForWithoutEndOrAWord()
    {
        DataFolder folder;
        auto cache = BlockCache::open(folder.path("cache"), 4 * kMiB).value();
        std::vector<std::string> said;
        setCacheUse({ [&said](const std::string& why) { said.push_back(why); }, std::chrono::milliseconds(1200) });
        {
            const auto lock = FileLock::tryLock(folder.path("cache") / "cache.lock");
            QVERIFY(lock.ok());
            const auto refused = put(*cache, "a", kMiB);
            QVERIFY(!refused.ok());
            QCOMPARE(refused.error().code, ErrorCode::Busy);
            const std::string holder = fileLockHolder(folder.path("cache") / "cache.lock")
                ? "process " + std::to_string(getpid()) + " (tst_block_cache"
                : "another process";
            QVERIFY2(refused.error().message.find("cache.lock, is held by " + holder) != std::string::npos,
                refused.error().message.c_str());
            QCOMPARE(said.size(), std::size_t { 1 });
            QVERIFY2(said.front().find("held by " + holder) != std::string::npos, said.front().c_str());
            const auto start = std::chrono::steady_clock::now();
            QVERIFY(!put(*cache, "a", kMiB).ok());
            QVERIFY(std::chrono::steady_clock::now() - start
                < std::chrono::seconds(1)); // the next one does not wait all that again
        }
        QVERIFY(put(*cache, "a", kMiB).ok());
        setCacheUse({});
    }
    void aWaitForTheLockCouldNotBeEndedByASignal()
    {
        DataFolder folder;
        auto cache = BlockCache::open(folder.path("cache"), 4 * kMiB).value();
        const auto lock = FileLock::tryLock(folder.path("cache") / "cache.lock");
        QVERIFY(lock.ok());
        {
            const StopRequest stop(false);
            const std::jthread ends([] {
                std::this_thread::sleep_for(std::chrono::milliseconds(200));
                requestProcessStop(thisProcess());
            });
            QCOMPARE(put(*cache, "a", kMiB).error().code, ErrorCode::Cancelled);
        }
        const StopRequest asksNoMore(false); // else whatever waits in the next tests is cancelled
    }
    /// A feeder whose run folder was swapped for a backup of it noted the size of its cache there, and removed its own
    /// marks from it.
    void whoWasShutOutOfACacheStillWroteAndRemovedItsMarks()
    {
        DataFolder folder;
        const auto at = folder.path("cache");
        bool isReplaced = false;
        CacheUse use;
        use.mayChange = [&isReplaced] {
            return isReplaced ? Status(Error { ErrorCode::InvalidArgument, "another folder" }) : Status {};
        };
        setCacheUse(use);
        auto cache = BlockCache::open(at, 4 * kMiB).value();
        const std::vector<std::string> pins { block("a") };
        QVERIFY(cache->pin("test", pins).ok());
        QVERIFY(put(*cache, "a", kMiB).ok());
        auto begun = cache->create();
        QVERIFY(begun.ok());
        const auto content = [&] {
            std::map<std::string, std::string> all;
            for (const auto& entry : std::filesystem::recursive_directory_iterator(at))
                if (entry.is_regular_file())
                    all[entry.path().string()] = readFile(entry.path()).value();
            return all;
        };
        const auto before = content();
        isReplaced = true;
        QCOMPARE(begun.value().append("x", 1).error().message, std::string("another folder"));
        QVERIFY(!put(*cache, "b", kMiB).ok());
        QVERIFY(!cache->append(kDownloads, "c", 0, "x", 1).ok());
        QVERIFY(!cache->quarantine(kBlocks, block("a")).ok());
        QVERIFY(!cache->claim("c").ok());
        QVERIFY(!cache->trim(0).ok());
        QVERIFY(!cache->pin("test", {}).ok());
        cache->remove(kBlocks, block("a"));
        cache->cut(kBlocks, block("a"), 1);
        {
            const auto gone = std::move(begun);
        }
        cache.reset();
        setCacheUse({});
        const auto after = content();
        for (const auto& [name, bytes] : after)
            if (!before.contains(name) || before.at(name) != bytes)
                qWarning("%s: %s", name.c_str(), bytes.c_str());
        QVERIFY(after == before);
    }
    void aNamedPipeInPlaceOfTheNumberHungWhoeverOpensTheCache()
    {
        DataFolder folder;
        std::filesystem::create_directories(folder.path("cache"));
        QCOMPARE(::mkfifo((folder.path("cache") / "used").c_str(), 0600), 0);
        const auto refused = BlockCache::open(folder.path("cache"), 4 * kMiB);
        QVERIFY(!refused.ok());
        QVERIFY2(refused.error().message.find("used: it is not a regular file") != std::string::npos,
            refused.error().message.c_str());
    }
    void staysBelowTheCapWhileWriting()
    {
        DataFolder folder;
        auto cache = BlockCache::open(folder.path("cache"), 2 * kMiB).value();
        const std::vector<std::string> pins { block("a") };
        QVERIFY(cache->pin("test", pins).ok());
        QVERIFY(put(*cache, "a", kMiB).ok());
        const auto full = put(*cache, "b", 2 * kMiB);
        QVERIFY(!full.ok());
        QVERIFY2(full.error().message.find("cache_gib") != std::string::npos, full.error().message.c_str());
        QCOMPARE(cache->usedBytes().value(), kMiB); // the temporary is gone
        QVERIFY(put(*cache, "b", kMiB).ok());
    }
    /// What was evicted while the sizes were added up counted beside what came in its place.
    void theSizeStoodAboveTheCapWhileFilesCameAndWent()
    {
        DataFolder folder;
        const auto cache = BlockCache::open(folder.path("cache"), 4 * kMiB).value();
        std::atomic<bool> failed = false;
        std::jthread writer([&](std::stop_token stop) {
            const auto own = BlockCache::open(folder.path("cache"), 4 * kMiB).value();
            for (int i = 0; !stop.stop_requested(); ++i)
                failed = failed || !put(*own, std::to_string(i), kMiB).ok();
        });
        std::uint64_t peak = 0;
        for (int i = 0; i < 500; ++i)
            peak = std::max(peak, cache->usedBytes().value());
        writer.request_stop();
        writer.join();
        QVERIFY(!failed);
        QVERIFY2(peak <= 4 * kMiB, std::to_string(peak).c_str());
    }
    void aFullCacheOfManyBlocksIsNotLookedThroughForEachPiece()
    {
        constexpr int kFiles = 4000;
        constexpr std::size_t kBytes = 1024;
        const auto secondsToPut = [](std::uint64_t capBytes) {
            DataFolder folder;
            const auto blocks = folder.path("cache") / kBlocks;
            std::filesystem::create_directories(blocks);
            for (int i = 0; i < kFiles; ++i)
                std::ofstream(blocks / block(std::to_string(i)))
                    << kBlockMagic << std::string(kBytes - kBlockMagic.size(), 'x');
            auto cache = BlockCache::open(folder.path("cache"), capBytes).value();
            const auto start = std::chrono::steady_clock::now();
            for (int i = 0; i < 50; ++i)
                if (!put(*cache, "new" + std::to_string(i), kBytes).ok() || !cache->hasRoomFor(kBytes))
                    return 1e9;
            const auto taken = std::chrono::steady_clock::now() - start;
            return cache->usedBytes().value() <= capBytes ? std::chrono::duration<double>(taken).count() : 1e9;
        };
        const double roomy = secondsToPut(1ULL << 40);
        const double full = secondsToPut(kFiles * kBytes);
        QVERIFY2(full < 5 * roomy + 0.2,
            qPrintable(QString("%1 s in a full cache, %2 s in a roomy one").arg(full).arg(roomy)));
    }
    void bytesThatWerePutThereByHandCountOnceThereIsNoRoom()
    {
        DataFolder folder;
        auto cache = BlockCache::open(folder.path("cache"), 4 * kMiB).value();
        QVERIFY(put(*cache, "a", kMiB).ok());
        std::ofstream(folder.path("cache") / kBlocks / block("byhand"))
            << kBlockMagic << std::string(2 * kMiB - kBlockMagic.size(), 'x');
        QVERIFY(put(*cache, "b", 3 * kMiB).ok());
        QVERIFY(put(*cache, "c", kMiB).ok());
        QVERIFY(cache->usedBytes().value() <= 4 * kMiB);
        std::ofstream(folder.path("cache") / "used") << "not a number";
        QVERIFY(put(*cache, "d", 3 * kMiB).ok());
        QVERIFY(cache->usedBytes().value() <= 4 * kMiB);
    }
    void pinsOfAnotherProcessHoldUntilItDies()
    {
        DataFolder folder;
        auto cache = BlockCache::open(folder.path("cache"), 3 * kMiB).value();
        QVERIFY(put(*cache, "a", 2 * kMiB).ok());
        int ready[2], done[2];
        QCOMPARE(pipe(ready), 0);
        QCOMPARE(pipe(done), 0);
        const pid_t child = fork();
        if (child == 0) {
            auto other = BlockCache::open(folder.path("cache"), 3 * kMiB);
            const std::vector<std::string> pins { block("a") };
            const bool pinned = other.ok() && other.value()->pin("test", pins).ok();
            auto left = other.value()->create(); // a temporary that nobody will publish
            const std::string half(kMiB / 2, 'y');
            const bool wrote = left.ok() && left.value().append(half.data(), half.size()).ok();
            char byte = pinned && wrote ? 'y' : 'n';
            (void)!write(ready[1], &byte, 1);
            (void)!read(done[0], &byte, 1);
            _exit(0); // no destructor runs, as after kill -9
        }
        char byte = 0;
        QCOMPARE(read(ready[0], &byte, 1), ssize_t { 1 });
        QCOMPARE(byte, 'y');
        QVERIFY(!put(*cache, "b", 2 * kMiB).ok());
        QVERIFY(cache->find(kBlocks, block("a")).has_value());
        QVERIFY(cache->list().value().front().pinned);
        QCOMPARE(write(done[1], "x", 1), ssize_t { 1 });
        waitpid(child, nullptr, 0);
        QVERIFY(put(*cache, "b", 2 * kMiB).ok());
        QVERIFY(!cache->find(kBlocks, block("a")).has_value());
        QCOMPARE(filesIn(folder.path("cache/temporary")), std::size_t { 0 });
    }
    void twoProcessesShareOneCache()
    {
        DataFolder folder;
        const auto config = [&] {
            auto c = test::configFor({ folder.write("a.txt", test::indexedLines(4000)) });
            c.chunkSamples = 100;
            return c;
        }();
        const auto run = [&](bool backwards) {
            auto manager = test::openManager(config, folder.path("cache"), 200);
            if (!manager.ok())
                return 1;
            auto blocks = test::planAll(manager.value());
            if (!blocks.ok())
                return 2;
            if (backwards)
                std::reverse(blocks.value().begin(), blocks.value().end());
            for (const auto& block : blocks.value())
                if (const auto made = manager.value().prepare(block); !made.ok()) {
                    qWarning("block %d: %s", static_cast<int>(block.block), made.error().message.c_str());
                    return 3;
                }
            return 0;
        };
        const pid_t child = fork();
        if (child == 0)
            _exit(run(true));
        QCOMPARE(run(false), 0);
        int state = 0;
        waitpid(child, &state, 0);
        QCOMPARE(state, 0);
        QCOMPARE(filesIn(folder.path("cache/blocks")), std::size_t { 20 });
        QCOMPARE(filesIn(folder.path("cache/temporary")), std::size_t { 0 });
        auto cache = BlockCache::open(folder.path("cache"), 0).value();
        const auto checked = verifyCache(*cache);
        QVERIFY(checked.ok());
        QCOMPARE(checked.value().blocks, 20);
        QVERIFY(checked.value().damaged.empty());
    }
    void verifyingPutsDamagedBlocksAside()
    {
        DataFolder folder;
        auto config = test::configFor({ folder.write("a.txt", test::indexedLines(400)) });
        {
            auto manager = test::openManager(config, folder.path("cache"), 100);
            QVERIFY(manager.ok());
            const auto blocks = test::planAll(manager.value());
            QVERIFY(blocks.ok());
            for (const auto& block : blocks.value())
                QVERIFY(manager.value().prepare(block).ok());
        }
        auto cache = BlockCache::open(folder.path("cache"), 0).value();
        const auto entries = cache->list().value();
        QCOMPARE(entries.size(), std::size_t { 4 });
        auto bytes = readFile(cache->path(kBlocks, entries[2].fileName)).value();
        bytes[300] = static_cast<char>(bytes[300] ^ 1);
        folder.write("cache/blocks/" + entries[2].fileName, bytes);
        const auto checked = verifyCache(*cache).value();
        QCOMPARE(checked.blocks, 4);
        QCOMPARE(checked.damaged.size(), std::size_t { 1 });
        QVERIFY(!cache->find(kBlocks, entries[2].fileName).has_value());
        QCOMPARE(cache->trim(0).value(),
            entries[0].sizeBytes + entries[1].sizeBytes + entries[2].sizeBytes + entries[3].sizeBytes);
        QCOMPARE(cache->usedBytes().value(), std::uint64_t { 0 });
    }
    /// It waited for ever and blamed running runs; no other one ran.
    void aFileThatUnpacksToMoreThanTheCacheWasWaitedFor()
    {
        DataFolder folder;
        std::string text;
        for (int i = 0; i < 150000; ++i)
            text += "a line of some length to fill the cache " + std::to_string(i) + "\n";
        auto config = test::configFor({ folder.write("a.txt.gz", test::gzip(text)) });
        config.cacheGiB = 0.001;
        auto manager = test::openManager(config, folder.path("cache"), 50);
        QVERIFY(manager.ok());
        const auto planned = manager.value().planNext();
        QVERIFY(!planned.ok());
        QVERIFY(planned.error().code == ErrorCode::InvalidArgument); // ends the run; Io would be tried again for ever
        const auto& why = planned.error().message;
        QVERIFY2(why.find(formatBytes(text.size()) + " when it is unpacked") != std::string::npos, why.c_str());
        const auto seen = inspectData(config); // so that a new run is refused before it is made
        QVERIFY(seen.ok() && seen.value().expandedBytes > text.size() / 2);
    }
    void runningRunsWereBlamedThoughNoneRan()
    {
        DataFolder folder;
        const auto full = [&](std::shared_ptr<BlockCache> cache) {
            auto file = cache->create();
            const std::string bytes(600, 'x');
            return !file.ok() || !file.value().append(bytes.data(), bytes.size()).ok()
                ? std::string("?")
                : file.value().append(bytes.data(), bytes.size()).error().message.text();
        };
        auto cache = BlockCache::open(folder.path("cache"), 1000).value();
        const auto alone = full(cache);
        QVERIFY2(alone.find("no other one uses it") != std::string::npos, alone.c_str());
        auto other = BlockCache::open(folder.path("cache"), 1000).value();
        const auto shared = full(cache);
        QVERIFY2(shared.find("needed by running runs") != std::string::npos, shared.c_str());
    }
    void aSmallCacheStillGoesThroughAllBlocks()
    {
        DataFolder folder;
        std::string text;
        for (int i = 0; i < 20000; ++i)
            text += "a line of some length to fill the blocks " + std::to_string(i) + "\n";
        auto config = test::configFor({ folder.write("a.txt", text) });
        config.cacheGiB = 0.001; // about 1 MiB, the prepared data takes 3
        auto manager = test::openManager(config, folder.path("cache"), 2000);
        QVERIFY(manager.ok());
        const auto blocks = test::planAll(manager.value());
        QVERIFY(blocks.ok());
        for (const auto& block : blocks.value()) {
            QVERIFY(manager.value().pin({}).ok());
            auto file = manager.value().prepare(block);
            QVERIFY2(file.ok(), file.ok() ? "" : file.error().message.c_str());
        }
    }
};

QTEST_GUILESS_MAIN(TestBlockCache)
#include "tst_block_cache.moc"
