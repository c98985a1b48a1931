// Duplicates of a whole data set: found in bounded memory, left out whatever the order in which blocks are prepared.

#include "core/base/file_system.h"
#include "core/base/hash.h"
#include "core/base/random.h"
#include "core/trials/bench/data_bench.h"
#include "core/data/cache_verification.h"
#include "core/data/plan/duplicate_file.h"
#include "core/data/plan/inspect.h"
#include "core/data/plan/repeat_finder.h"
#include "data_fixture.h"
#include "tests/must_have.h"

#include <QtTest>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#define VERIFY_OK(result)                                                            \
    do {                                                                             \
        const auto& outcome = (result);                                              \
        QVERIFY2(outcome.ok(), outcome.ok() ? "" : outcome.error().message.c_str()); \
    } while (false)

using namespace furrow;
using furrow::test::DataFolder;

namespace {

template <typename T> T good(Result<T> result)
{
    if (!result.ok())
        qFatal("%s", result.error().message.c_str());
    return std::move(result).value();
}
void good(const Status& status)
{
    if (!status.ok())
        qFatal("%s", status.error().message.c_str());
}

/// A run over data of which duplicates are left out, as far as the block manager goes.
struct Skipping {
    RunConfig config;
    std::string manifest;
    std::filesystem::path cache;
    std::filesystem::path file; ///< of the run
    std::int64_t perBlock = 10;

    Skipping(const std::vector<std::string>& data, const DataFolder& folder)
        : config(test::configFor(data))
        , cache(folder.path("cache"))
        , file(folder.path("duplicates.bin"))
    {
        config.duplicates = Duplicates::Skip;
        config.chunkSamples = 4;
        manifest = good(inspectData(config)).manifest;
    }
    BlockManager open() const
    {
        return good(BlockManager::open(config, manifest, perBlock, cache, byteTokenizer(), file));
    }
    BlockManager opened() const
    {
        auto manager = open();
        good(manager.findDuplicates({}));
        return manager;
    }
    std::string digest() const { return good(DuplicateIndex::open(file)).digest(); }
    void dropCache() const { std::filesystem::remove_all(cache); }
};

struct Trained {
    std::map<std::string, int> times; ///< text -> how often
    std::map<std::int64_t, std::string> digests; ///< of the blocks
    std::int64_t duplicates = 0;
};

Trained train(
    const Skipping& run, BlockManager& manager, const std::function<void(std::vector<PlannedBlock>&)>& reorder = {})
{
    auto blocks = good(test::planAll(manager));
    if (reorder)
        reorder(blocks);
    Trained all;
    for (const auto& planned : blocks) {
        const auto made = good(manager.prepare(planned));
        const auto block = good(PreparedBlock::open(BlockManager::blockFolder(run.cache) / made.fileName));
        all.digests[planned.block] = made.digest;
        for (int column = 0; column < block.chunkCount(); ++column) {
            all.duplicates += block.summary(column).duplicates;
            const auto chunk = good(block.readChunk(column));
            for (std::size_t i = 0; i < chunk.flags.size(); ++i)
                if ((chunk.flags[i] & SampleLeftOut) == 0)
                    ++all.times[test::sampleText(chunk, i)];
        }
    }
    return all;
}

bool eachOnce(const std::map<std::string, int>& times)
{
    return std::all_of(times.begin(), times.end(), [](const auto& one) { return one.second == 1; });
}

void flip(const std::filesystem::path& path, std::uint64_t at)
{
    auto bytes = good(readFile(path));
    bytes[at] = static_cast<char>(bytes[at] ^ 4);
    std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

std::size_t filesIn(const std::filesystem::path& folder)
{
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

} // namespace

class TestDuplicates : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void duplicatesInOtherBlocksWereTrainedAgain()
    {
        DataFolder folder;
        const Skipping run({ folder.write("a.txt", test::indexedLines(37) + test::indexedLines(45)),
                               folder.write("b.txt", test::indexedLines(60) + "row 3\n") },
            folder);
        auto manager = run.open();
        QVERIFY(manager.needsDuplicates());
        VERIFY_OK(manager.findDuplicates({}));
        QVERIFY(!manager.needsDuplicates());
        const auto trained = train(run, manager);
        QCOMPARE(trained.times.size(), std::size_t(60));
        QVERIFY(eachOnce(trained.times));
        QCOMPARE(trained.duplicates, 37 + 45 + 61 - 60);
        const auto index = good(DuplicateIndex::open(run.file));
        QCOMPARE(index.repeats(), trained.duplicates);
        VERIFY_OK(index.verify());
    }
    void aLeftOutRowDidNotSayWhereTheFirstOneStands()
    {
        DataFolder folder;
        const Skipping run({ folder.write("set/a.txt", test::indexedLines(30)),
                               folder.write("set/b.txt", "other\n" + test::indexedLines(20)) },
            folder);
        (void)run.opened();
        const auto index = good(DuplicateIndex::open(run.file));
        // two sources that are planned in turns, by their share: block 0 is of a.txt, block 1 of b.txt
        const auto first = good(index.firstOf(xxh3("row 4")));
        QVERIFY(first == RowPlace({ 0, 4 }));
        QVERIFY(!index.isRepeat({ 0, 4 }) && index.isRepeat({ 1, 5 }));
        const auto later = good(index.firstOf(xxh3("row 19")));
        QVERIFY(later.has_value());
        QCOMPARE(index.isRepeat({ 0, 19 }), later->file == 1);
        QCOMPARE(index.isRepeat({ 1, 20 }), later->file == 0);
        QVERIFY(!good(index.firstOf(xxh3("other"))).has_value());
        QVERIFY(!good(index.firstOf(xxh3("row 25"))).has_value());
        QVERIFY(!index.isRepeat({ 0, 30 }) && !index.isRepeat({ 2, 0 }) && !index.isRepeat({ -1, 0 })
            && !index.isRepeat({ 0, -1 }));
    }
    void copiesOfRowsThatAreLeftOutByNameWereNeverTrained()
    {
        DataFolder folder;
        folder.write("set/a.txt", test::indexedLines(30));
        folder.write("set/b.txt", test::indexedLines(30) + "own\n");
        folder.write("set/c.txt", test::indexedLines(30));
        Skipping run({ utf8Text(folder.path("set")) }, folder);
        run.config.exclude = folder.write("list", "chunk 0:0\nchunk 1:2\n"); // rows 0 to 3, 18 and 19 of a.txt
        run.manifest = good(inspectData(run.config)).manifest;
        (void)run.opened();
        const auto index = good(DuplicateIndex::open(run.file));
        for (const std::int64_t row : { 0, 3, 18, 19 }) {
            QVERIFY(!index.isRepeat({ 0, row }) && !index.isRepeat({ 1, row }) && index.isRepeat({ 2, row }));
            const auto first = good(index.firstOf(xxh3("row " + std::to_string(row))));
            QVERIFY(first == RowPlace({ 1, row }));
        }
        for (const std::int64_t row : { 4, 17, 20, 29 })
            QVERIFY(!index.isRepeat({ 0, row }) && index.isRepeat({ 1, row }) && index.isRepeat({ 2, row }));
        // a run of before keeps the blocks that it has
        auto json = nlohmann::json::parse(run.manifest);
        QCOMPARE(json.at("version").get<int>(), 7);
        json.erase("trains_copies_of_excluded");
        run.manifest = json.dump();
        run.file = folder.path("before.bin");
        (void)run.opened();
        const auto before = good(DuplicateIndex::open(run.file));
        QVERIFY(before.isRepeat({ 1, 0 }) && before.isRepeat({ 1, 19 }));
    }
    void whatWasTrainedDependedOnTheOrderOfPreparing()
    {
        DataFolder folder;
        Skipping run({ folder.write("a.txt", test::indexedLines(70) + test::indexedLines(90)) }, folder);
        auto manager = run.opened();
        const auto inOrder = train(run, manager);
        const auto digest = run.digest();
        run.dropCache();
        auto again = run.open(); // the run keeps its list
        QVERIFY(!again.needsDuplicates());
        const auto backwards = train(run, again, [](auto& blocks) { std::reverse(blocks.begin(), blocks.end()); });
        QVERIFY(backwards.digests == inOrder.digests);
        QVERIFY(backwards.times == inOrder.times);
        // another run, another block size, the same cache: the list of the first run is gone with the cache and is
        // found again
        run.dropCache();
        run.file = folder.path("other.bin");
        auto other = run.opened();
        QVERIFY(train(run, other).digests == inOrder.digests);
        QCOMPARE(run.digest(), digest);
    }
    void aSecondRunOverTheSameDataReadItAllAgain()
    {
        DataFolder folder;
        Skipping run({ folder.write("a.txt", test::indexedLines(50) + test::indexedLines(50)) }, folder);
        (void)run.opened();
        const auto digest = run.digest();
        run.file = folder.path("second.bin");
        run.config.minChars = 3; // filters and the split do not decide which rows are equal
        run.config.heldOutPercent = 10;
        auto second = run.open();
        int asked = 0;
        VERIFY_OK(second.findDuplicates([&asked](std::uint64_t, std::uint64_t) { return ++asked < 0; }));
        QCOMPARE(asked, 0);
        QCOMPARE(run.digest(), digest);
        const auto trained = train(run, second);
        QVERIFY(eachOnce(trained.times));
        QVERIFY(trained.times.size() > 30 && trained.times.size() < 50);
    }
    void aRunOfBeforeGotOtherBlocks()
    {
        DataFolder folder;
        Skipping run({ folder.write("a.txt", test::indexedLines(20) + test::indexedLines(20)) }, folder);
        auto now = run.opened();
        const auto whole = train(run, now);
        auto json = nlohmann::json::parse(run.manifest);
        QCOMPARE(json.at("version").get<int>(), 3); // a Furrow that skips inside blocks refuses it
        json.erase("skips_all_duplicates");
        json["version"] = 2;
        run.manifest = json.dump();
        auto before = run.open();
        QVERIFY(!before.needsDuplicates());
        const auto byBlock = train(run, before);
        QCOMPARE(byBlock.duplicates, 0); // no text twice in a block of ten
        QCOMPARE(byBlock.times.at("row 7"), 2);
        QVERIFY(byBlock.digests.at(0) == whole.digests.at(0) && byBlock.digests.at(2) != whole.digests.at(2));
        const auto block = good(
            BlockManager::fromPlan(good(test::planAll(*std::make_unique<BlockManager>(run.open()))).front().plan));
        QVERIFY(now.fileName(block) != before.fileName(block)); // the same content, decided otherwise
        // trained as it is: no list
        auto config = run.config;
        config.duplicates = Duplicates::Report;
        QCOMPARE(nlohmann::json::parse(good(inspectData(config)).manifest).at("version").get<int>(), 2);
    }
    void theMemoryGrewWithTheRows()
    {
        DataFolder folder;
        const auto cache = good(BlockCache::open(folder.path("cache"), 0));
        RepeatFinder finder(cache, 64 << 10);
        QCOMPARE(finder.capacity(), std::size_t(4096));
        constexpr std::uint64_t kRows = 300'000;
        std::map<std::uint64_t, std::vector<std::uint64_t>> rowsOf;
        for (std::uint64_t row = 0; row < kRows; ++row) {
            const std::uint64_t kind = row % 10;
            // a third of all rows is one text; many fingerprints share their highest 24 bits; pairs far apart
            const std::uint64_t fingerprint = kind < 3 ? 42
                : kind < 6                             ? (0x123456ull << 40) + mixSeed({ row % 7919 }) % 20'000
                                                       : mixSeed({ row % (kRows / 2) });
            rowsOf[fingerprint].push_back(row);
            VERIFY_OK(finder.add(fingerprint, row));
        }
        std::uint64_t before = 0;
        std::map<std::uint64_t, std::uint64_t> found;
        VERIFY_OK(finder.finish(
            [&](std::uint64_t fingerprint, std::uint64_t row) {
                if (!found.empty() && fingerprint <= before)
                    return Status(Error { ErrorCode::Internal, "not rising" });
                found[before = fingerprint] = row;
                return Status {};
            },
            {}));
        std::vector<std::uint64_t> bits((kRows + 63) / 64);
        std::map<std::uint64_t, std::uint64_t> expected;
        for (const auto& [fingerprint, rows] : rowsOf) {
            if (rows.size() > 1)
                expected[fingerprint] = rows.front();
            for (std::size_t i = 1; i < rows.size(); ++i)
                bits[rows[i] / 64] |= std::uint64_t { 1 } << (rows[i] % 64);
        }
        QVERIFY(found == expected);
        QVERIFY(finder.repeatBits(kRows) == bits);
        QVERIFY2(finder.mostHeld() <= finder.capacity(), std::to_string(finder.mostHeld()).c_str());
        QVERIFY(finder.spilledBytes() <= 12 * kRows);
        QVERIFY(finder.spilledBytes() > 6 * kRows); // it did go to disk
    }
    void rowsAddedInAnyOrderOrTwiceGaveOtherRepeats()
    {
        DataFolder folder;
        const auto cache = good(BlockCache::open(folder.path("cache"), 0));
        const auto search = [&](const std::vector<std::uint64_t>& rows) {
            RepeatFinder finder(cache, 64 << 10);
            for (const auto row : rows)
                good(finder.add(mixSeed({ row % 3000 }), row));
            std::map<std::uint64_t, std::uint64_t> found;
            good(finder.finish(
                [&](std::uint64_t f, std::uint64_t row) {
                    found[f] = row;
                    return Status {};
                },
                {}));
            return std::pair(found, finder.repeatBits(10'000));
        };
        std::vector<std::uint64_t> rows;
        for (std::uint64_t row = 0; row < 10'000; ++row)
            rows.push_back(row);
        const auto once = search(rows);
        QCOMPARE(once.first.size(), std::size_t(3000));
        std::reverse(rows.begin(), rows.end());
        QVERIFY(search(rows) == once);
        rows.insert(rows.end(), rows.begin(), rows.begin() + 5000);
        QVERIFY(search(rows) == once);
    }
    void anEndedSearchLeftSomethingBehind()
    {
        DataFolder folder;
        const Skipping run({ folder.write("a.txt", test::indexedLines(500) + test::indexedLines(500)) }, folder);
        (void)run.opened();
        const auto digest = run.digest();
        std::filesystem::remove(run.file);
        run.dropCache();
        for (const int after : { 1, 2, 7, 100 }) {
            auto manager = run.open();
            int left = after;
            const auto ended = manager.findDuplicates(
                [&left](std::uint64_t done, std::uint64_t all) { return done <= all && left-- > 0; });
            QVERIFY(!ended.ok());
            QCOMPARE(ended.error().code, ErrorCode::Cancelled);
            QVERIFY(manager.needsDuplicates());
            QVERIFY(!std::filesystem::exists(run.file));
            if (after == 7) { // the same process goes on
                VERIFY_OK(manager.findDuplicates({}));
                QCOMPARE(run.digest(), digest);
                std::filesystem::remove(run.file);
                run.dropCache();
            }
        }
        good(writeFileWhole(
            realFileSystem(), folder.path("duplicates.bin.new"), "half of one")); // of a process that was killed
        (void)run.opened();
        QCOMPARE(run.digest(), digest);
        QCOMPARE(filesIn(run.cache / "temporary"), std::size_t(0));
        QVERIFY(!std::filesystem::exists(folder.path("duplicates.bin.new")));
    }
    /// The table at its end was whole, so the list was taken, and nothing ever made it again.
    void aByteOfAPageThatWasFlippedStayedForEver()
    {
        DataFolder folder;
        const Skipping run({ folder.write("a.txt", test::indexedLines(500) + test::indexedLines(500)) }, folder);
        (void)run.opened();
        const auto whole = good(readFile(run.file));
        auto damaged = whole;
        damaged[64] = static_cast<char>(damaged[64] ^ 1); // of the first page: its header has 16 bytes
        good(writeFileWhole(realFileSystem(), run.file, damaged));
        QVERIFY(DuplicateIndex::open(run.file).ok());
        auto manager = run.open();
        QVERIFY(!manager.needsDuplicates()); // what is a repeat stands in the table; a list may have gigabytes of pages
        const auto block = good(test::planAll(manager)).front();
        const auto name = manager.fileName(block);
        QCOMPARE(manager.duplicates()->forEachText([](std::uint64_t, RowPlace) { }).error().code, ErrorCode::Corrupt);
        manager.remakeDuplicates();
        QVERIFY(manager.needsDuplicates());
        QCOMPARE(manager.fileName(block), name);
        VERIFY_OK(manager.findDuplicates({}));
        QVERIFY(good(readFile(run.file)) == whole);
        QCOMPARE(manager.fileName(block), name);
    }
    /// Of a run folder from somewhere, the unfinished file was a link: where it led to was written over.
    void aLinkInPlaceOfAnUnfinishedIndexLedToAnotherFile()
    {
        DataFolder folder;
        const Skipping run({ folder.write("a.txt", test::indexedLines(500) + test::indexedLines(500)) }, folder);
        good(writeFileWhole(realFileSystem(), folder.path("mine.txt"), "of a person"));
        std::filesystem::create_symlink(folder.path("mine.txt"), folder.path("duplicates.bin.new"));
        auto manager = run.open();
        const auto found = manager.findDuplicates({});
        QVERIFY(!found.ok() && found.error().message.find("duplicates.bin.new") != std::string::npos);
        QCOMPARE(good(readFile(folder.path("mine.txt"))), std::string("of a person"));
    }
    /// The block of one source was found under the name of that of the other, in which nothing is a repeat.
    void aSourceOfEqualContentTrainedEveryTextTwice()
    {
        DataFolder folder;
        const auto text = test::indexedLines(35) + test::indexedLines(45);
        const auto one = folder.write("one.txt", text);
        const Skipping run({ one, folder.write("copies/two.txt", text), one }, folder);
        for (const bool isReversed : { false, true }) {
            auto manager = run.opened();
            const auto trained = train(run, manager, [isReversed](std::vector<PlannedBlock>& blocks) {
                if (isReversed)
                    std::reverse(blocks.begin(), blocks.end());
            });
            QCOMPARE(trained.times.size(), std::size_t(45));
            QVERIFY(eachOnce(trained.times));
            QCOMPARE(trained.duplicates, 3 * 80 - 45);
            auto again = run.open();
            for (const auto& block : good(test::planAll(again)))
                QCOMPARE(good(manager.readAgain(block)).digest, trained.digests.at(block.block));
            run.dropCache();
        }
    }
    void rowsThatAreTrainedOnceWereSaidToBeTrainedTwice()
    {
        DataFolder folder;
        const auto text = test::indexedLines(40);
        auto config = test::configFor({ folder.write("one.txt", text), folder.write("two.txt", text) });
        for (const auto duplicates : { Duplicates::Skip, Duplicates::Report }) {
            config.duplicates = duplicates;
            const auto warnings = good(inspectData(config)).warnings;
            QCOMPARE(warnings.size(), std::size_t(1));
            const auto says = [&](const char* words) { return warnings[0].find(words) != std::string::npos; };
            QCOMPARE(says("trained once, as repeats are left out"), duplicates == Duplicates::Skip);
            QCOMPARE(says("trained twice in each epoch"), duplicates == Duplicates::Report);
        }
    }
    /// The run said that the rows are trained twice in each epoch, and stated the epsilon of once.
    void privateTrainingCountedARowOfAFileThatIsNamedTwiceOnce()
    {
        DataFolder folder;
        const auto text = test::indexedLines(40);
        const auto one = folder.write("in/one.txt", text);
        const auto copy = folder.write("two.txt", text);
        std::filesystem::create_hard_link(pathFromUtf8(one), folder.path("hard.txt"));
        std::filesystem::create_symlink(pathFromUtf8(one), folder.path("link.txt"));
        const auto inside = utf8Text(folder.path("in"));
        for (const auto& other :
            { one, inside, copy, utf8Text(folder.path("hard.txt")), utf8Text(folder.path("link.txt")) }) {
            auto config = test::configFor({ one, other });
            QVERIFY(inspectData(config).ok());
            config.noiseMultiplier = 1;
            const auto refused = inspectData(config);
            QVERIFY2(!refused.ok(), other.c_str());
            QCOMPARE(refused.error().code, ErrorCode::InvalidArgument);
            const std::string said = refused.error().message;
            QVERIFY2(said.find(one) != std::string::npos && said.find(other) != std::string::npos, said.c_str());
            config.duplicates = Duplicates::Skip;
            QVERIFY(inspectData(config).ok());
        }
    }
    void aChangedListWasBelieved()
    {
        DataFolder folder;
        const Skipping run({ folder.write("a.txt", test::indexedLines(300) + test::indexedLines(300)) }, folder);
        auto manager = run.opened();
        const auto inOrder = train(run, manager);
        const auto digest = run.digest();
        const auto whole = good(readFile(run.file));
        const auto refuses = [&](const std::string& bytes) {
            good(writeFileWhole(realFileSystem(), run.file, bytes));
            const auto index = DuplicateIndex::open(run.file);
            const Status status = index.ok() ? index.value().verify() : Status(index.error());
            return !status.ok() && status.error().code == ErrorCode::Corrupt;
        };
        for (std::size_t at = 0; at < whole.size(); at += 1 + at / 40) {
            QVERIFY2(refuses(whole.substr(0, at)), std::to_string(at).c_str());
            auto bytes = whole;
            bytes[at] = static_cast<char>(bytes[at] ^ 1);
            if (at < 8 || at >= 16) // the version, and what is not used yet
                QVERIFY2(refuses(bytes), std::to_string(at).c_str());
        }
        QVERIFY(refuses(whole + "x"));
        auto newer = whole;
        newer[8] = 2;
        good(writeFileWhole(realFileSystem(), run.file, newer));
        QCOMPARE(DuplicateIndex::open(run.file).error().code, ErrorCode::InvalidArgument);
        QCOMPARE(good(verifyCache(*good(BlockCache::open(run.cache, 0)))).lists, 1);
        // the run's own and the one of the cache: both are made again
        good(writeFileWhole(realFileSystem(), run.file, whole.substr(0, whole.size() - 9)));
        for (const auto& entry : std::filesystem::directory_iterator(run.cache / kDuplicates))
            flip(entry.path(), 100);
        auto mended = run.open();
        QVERIFY(mended.needsDuplicates());
        const auto refused = mended.prepare(good(test::planAll(mended)).front());
        QVERIFY(!refused.ok());
        QVERIFY(refused.error().message.find("Resume the run") != std::string::npos);
        VERIFY_OK(mended.findDuplicates({}));
        QCOMPARE(run.digest(), digest);
        auto again = run.open();
        QVERIFY(train(run, again).digests == inOrder.digests);
    }
    void aListOfOtherDataWasTaken()
    {
        DataFolder folder;
        (void)Skipping({ folder.write("a.txt", test::indexedLines(30) + test::indexedLines(30)) }, folder).opened();
        const Skipping run({ folder.write("b.txt", test::indexedLines(40) + test::indexedLines(10)) }, folder);
        auto manager = run.open();
        QVERIFY(manager.needsDuplicates());
        VERIFY_OK(manager.findDuplicates({}));
        QCOMPARE(train(run, manager).duplicates, 10);
    }
    void copiesOfAFileThatIsLeftOutWereNotTrained()
    {
        DataFolder folder;
        const auto a = folder.write("a.txt", test::indexedLines(30));
        Skipping run({ a, folder.write("b.txt", test::indexedLines(40)) }, folder);
        run.config.badFiles = BadFiles::LeaveOut;
        folder.write("a.txt", "something else, and not what the run was made of\n");
        auto manager = run.opened();
        const auto trained = train(run, manager);
        QCOMPARE(trained.times.size(), std::size_t(40));
        QVERIFY(eachOnce(trained.times));
        QCOMPARE(filesIn(run.cache / kDuplicates), std::size_t(0)); // not for runs that have the file
    }
    void rowsOfParquetWereComparedInsideABlockOnly()
    {
        DataFolder folder;
        std::vector<std::string> texts;
        for (int i = 0; i < 2500; ++i)
            texts.push_back("text " + std::to_string(i % 1700));
        const auto written = writeBenchParquet(folder.path("a.parquet"), texts);
        SKIP_WITHOUT("parquet", written.ok(), written.error().message.c_str());
        Skipping run({ utf8Text(folder.path("a.parquet")), folder.write("b.txt", "text 3\nonly here\n") }, folder);
        run.perBlock = 400;
        auto manager = run.opened();
        const auto trained = train(run, manager);
        QCOMPARE(trained.times.size(), std::size_t(1701));
        QVERIFY(eachOnce(trained.times));
    }
    void rowsThatAreNotChosenMadeOthersRepeats()
    {
        DataFolder folder;
        std::string text;
        for (int i = 0; i < 4000; ++i)
            text += "line " + std::to_string(i % 1500)
                + " of a text that is long enough to be cut into many stretches\n";
        const auto path = folder.write("a.txt", text);
        Skipping run({ path }, folder);
        run.perBlock = 300;
        run.config.fraction = 0.4;
        run.config.startSample = 50;
        run.config.maxSamples = 1400;
        run.manifest = good(inspectData(run.config)).manifest;
        auto manager = run.opened();
        const auto trained = train(run, manager);
        QVERIFY(eachOnce(trained.times));
        auto report = run.config;
        report.duplicates = Duplicates::Report;
        const auto texts = good(test::readAll(report, folder.path("report-cache"), 300));
        QCOMPARE(texts.size(), std::size_t(1400));
        const std::set<std::string> distinct(texts.begin(), texts.end());
        QCOMPARE(trained.times.size(), distinct.size()); // no text is lost because its first row was not chosen
    }
};

QTEST_GUILESS_MAIN(TestDuplicates)
#include "tst_duplicates.moc"
