// Which rows belong to a data set: every row in exactly one chunk for any size, fractions, weights, quarantine lists.

#include "core/base/hash.h"
#include "core/config/schema.h"
#include "core/data/plan/block_planner.h"
#include "core/data/block_preparer.h"
#include "core/data/plan/each_row.h"
#include "core/data/plan/fraction_draw.h"
#include "data_fixture.h"

#include <QtTest>
#include <map>
#include <set>

using namespace furrow;
using test::DataFolder;

namespace {

template <typename T> T good(Result<T> result)
{
    if (!result.ok())
        qFatal("%s", result.error().message.c_str());
    return std::move(result).value();
}

struct Counted {
    ChunkSummary sum;
    std::vector<std::int64_t> blockSources;
    std::map<std::pair<std::int32_t, std::string>, int> texts; ///< of trained samples, by source
    std::int64_t blocks = 0;
    std::int64_t excluded = 0;
    std::int64_t lastBlockRows = 0;
};

/// Plans and reads the whole data set, without cache.
Counted countAll(const RunConfig& config, std::int64_t samplesPerBlock, std::vector<double> weights = {})
{
    auto inspection = good(inspectData(config));
    const auto manifest = good(readManifest(inspection.manifest));
    DirectAccess access;
    std::vector<RowOptions> options;
    std::vector<std::unique_ptr<ChunkCollector>> collectors;
    const auto encoder = good(SampleEncoder::open(config, manifest, *byteTokenizer()));
    for (const auto& source : manifest.sources) {
        options.push_back(rowOptions(config, source));
        collectors.push_back(
            std::make_unique<ChunkCollector>(access, source, options.back(), good(sampleRules(config, manifest))));
    }
    PlanRules rules;
    rules.samplesPerBlock = samplesPerBlock;
    rules.chunkSamples = config.chunkSamples;
    rules.choice = RowChoice(config, manifest);
    rules.weights = std::move(weights);
    BlockPlanner planner(access, manifest, options, rules);
    Counted all;
    for (;;) {
        const auto block = good(planner.next());
        if (!block)
            break;
        if (block->block != all.blocks++)
            qFatal("blocks are not numbered one after the other");
        all.blockSources.push_back(block->source);
        all.lastBlockRows = block->rows();
        auto& collector = *collectors[static_cast<std::size_t>(block->source)];
        collector.beginBlock(*block);
        for (const auto rows : block->chunkRows) {
            auto chunk = good(collector.collect(rows));
            if (!encodeChunk(chunk, encoder).ok()) // counts what became of the samples
                qFatal("a chunk cannot become tokens");
            const auto& s = chunk.summary;
            if (s.rows != rows || s.samples + s.filtered + s.failed + s.heldOut + s.duplicates != s.rows)
                qFatal("rows of a chunk do not add up");
            all.sum.rows += s.rows;
            all.sum.samples += s.samples;
            all.sum.filtered += s.filtered;
            all.sum.heldOut += s.heldOut;
            all.sum.duplicates += s.duplicates;
            all.sum.repeats += s.repeats;
            for (std::size_t i = 0; i < chunk.ends.size(); ++i) {
                all.excluded += (chunk.samples.flags[i] & SampleExcluded) != 0 ? 1 : 0;
                if ((chunk.samples.flags[i] & SampleLeftOut) == 0)
                    ++all.texts[{ block->source, std::string(chunk.text(i)) }];
            }
        }
    }
    if (!planner.unprovenReason().empty())
        qFatal("the last block is not proven");
    return all;
}

std::string manyLines(int count)
{
    std::string text;
    for (int i = 0; i < count; ++i)
        text += "line " + std::to_string(i)
            + " of a file that is long enough to have many units of sixty-four kibibytes\n";
    return text;
}

} // namespace

class TestRowChoice : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void everyRowIsInExactlyOneChunk_data()
    {
        QTest::addColumn<int>("rows");
        QTest::addColumn<int>("perBlock");
        QTest::addColumn<int>("filter");
        const int k = 5, block = 40;
        const std::pair<int, int> sizes[] = { { 1, block }, { k * block - 1, block }, { k * block, block },
            { k * block + 1, block }, { 10'000, 10'000 / 3 }, { 100'001, 100'001 / 4 }, { 1'000, 7 }, { 10'000, 3 } };
        for (int filter = 0; filter < 5; ++filter)
            for (const auto& [rows, perBlock] : sizes)
                QTest::addRow("%d rows by %d, filter %d", rows, perBlock, filter) << rows << perBlock << filter;
    }
    void everyRowIsInExactlyOneChunk()
    {
        QFETCH(int, rows);
        QFETCH(int, perBlock);
        QFETCH(int, filter);
        DataFolder folder;
        auto config = test::configFor({ folder.write("a.txt", test::indexedLines(rows)) });
        config.chunkSamples = std::max(1, perBlock / 3);
        config.minChars = filter == 1 ? 8 : 1;
        config.maxChars = filter == 2 ? 7 : 0;
        config.heldOutPercent = filter == 3 ? 30 : 0;
        config.minChars = filter == 4 ? 1000 : config.minChars; // nothing is left
        const auto all = countAll(config, perBlock);
        QCOMPARE(all.blocks, static_cast<std::int64_t>((rows + perBlock - 1) / perBlock)); // visited == total
        QCOMPARE(all.lastBlockRows, static_cast<std::int64_t>((rows - 1) % perBlock + 1));
        QCOMPARE(all.sum.rows, rows);
        for (const auto& [text, count] : all.texts)
            QCOMPARE(count, 1); // disjoint
        QCOMPARE(all.sum.samples,
            static_cast<std::int64_t>(all.texts.size())); // complete: with the counts of the others all rows
        if (filter == 0)
            QCOMPARE(all.sum.samples, rows);
        if (filter == 3 && rows >= 1000)
            QVERIFY(all.sum.heldOut > rows / 5 && all.sum.heldOut < rows * 2 / 5);
        if (filter == 4)
            QCOMPARE(all.sum.filtered, rows);
    }
    void duplicatesAreCountedOrSkipped()
    {
        DataFolder folder;
        auto config = test::configFor({ folder.write("a.txt", test::indexedLines(50) + test::indexedLines(50)) });
        config.chunkSamples = 10;
        auto counted = countAll(config, 100);
        QCOMPARE(counted.sum.samples, 100);
        QCOMPARE(counted.sum.repeats, 50);
        config.duplicates = Duplicates::Skip;
        counted = countAll(config, 100);
        QCOMPARE(counted.sum.samples, 50);
        QCOMPARE(counted.sum.duplicates, 50);
    }
    void aFractionKeepsItsShareOfStretches()
    {
        DataFolder folder;
        auto config = test::configFor({ folder.write("a.txt", manyLines(100'000)) });
        const auto whole = countAll(config, 20'000);
        config.fraction = 0.3;
        const auto part = countAll(config, 20'000);
        const auto again = countAll(config, 20'000);
        QVERIFY(part.texts == again.texts);
        const double share = static_cast<double>(part.sum.samples) / static_cast<double>(whole.sum.samples);
        QVERIFY2(share > 0.2 && share < 0.4, std::to_string(share).c_str());
        config.seed += 1;
        const auto other = countAll(config, 20'000);
        QVERIFY(other.texts != part.texts);
        // what is looked at before a run (vocabulary, held-out text) is the same subset
        config.seed -= 1;
        std::set<std::string> walked;
        QVERIFY(forEachText(config, good(inspectData(config)).manifest, [&](std::string_view text) {
            walked.emplace(text);
            return true;
        }).ok());
        QCOMPARE(walked.size(), part.texts.size());
        for (const auto& [text, count] : part.texts)
            QVERIFY(walked.contains(text.second));
        QCOMPARE(good(inspectData(config)).rows, part.sum.rows);
    }
    void aFractionOfFewStretchesWasOffByAFactorOrNothing()
    {
        RunConfig config;
        DataManifest manifest;
        manifest.sources.emplace_back();
        std::vector<DrawnUnit> groups;
        for (std::uint64_t group = 0; group < 160; ++group)
            groups.push_back({ 0, group * 64, 2000 });
        config.fraction = 0.02;
        std::set<std::uint64_t> draws;
        for (config.seed = 1; config.seed <= 8; ++config.seed) {
            const auto nearest = good(nearestDraw(config, manifest, 0, groups));
            QCOMPARE(std::llround(nearest.share * 160), 3LL);
            QVERIFY(!nearest.isFar(config.fraction));
            draws.insert(nearest.draw);
        }
        QVERIFY(draws.size() > 1);
        for (const int count : { 7, 2, 1 }) { // less than one is one, and said
            groups.resize(static_cast<std::size_t>(count));
            const auto nearest = good(nearestDraw(config, manifest, 0, groups));
            QCOMPARE(std::llround(nearest.share * count), 1LL);
            QVERIFY(nearest.isFar(config.fraction));
        }
        DataFolder folder;
        auto rows = test::configFor({ folder.write("a.txt", test::indexedLines(20)) });
        rows.fraction = 0.1;
        for (rows.seed = 1; rows.seed <= 8; ++rows.seed)
            QCOMPARE(countAll(rows, 10).sum.rows, 2);
        rows.fraction = 0.01;
        QCOMPARE(countAll(rows, 10).sum.rows, 1);
        const auto said = good(inspectData(rows)).warnings;
        QVERIFY(said.size() == 1 && said.front().find("come nearest to 1") != std::string::npos);
    }
    void entriesThatLeaveNothingOutWereTakenWithoutAWord()
    {
        DataFolder folder;
        auto config = test::configFor({ folder.write("a.txt", test::indexedLines(300)) });
        config.chunkSamples = 50;
        config.exclude = folder.write("list.txt", "chunk 1:0\nchunk 77:0\n");
        const auto said = good(inspectData(config)).warnings;
        QVERIFY(said.size() == 1 && said.front().find("names chunk 77:0") != std::string::npos);
    }
    void aFractionIsPartOfIdentityAndCacheKey()
    {
        DataFolder folder;
        auto config = test::configFor({ folder.write("a.txt", manyLines(20'000)) });
        const auto whole = good(inspectData(config)).identity;
        config.fraction = 0.5;
        const auto half = good(inspectData(config)).identity;
        config.seed += 1;
        const auto otherHalf = good(inspectData(config)).identity;
        QVERIFY(whole != half && half != otherHalf);
        auto first = good(test::openManager(config, folder.path("cache"), 5000));
        config.seed += 1;
        auto second = good(test::openManager(config, folder.path("cache"), 5000));
        QVERIFY(
            first.fileName(good(test::planAll(first)).front()) != second.fileName(good(test::planAll(second)).front()));
    }
    void startAndMostSamplesCountInsideTheFraction()
    {
        DataFolder folder;
        auto config = test::configFor({ folder.write("a.txt", manyLines(50'000)) });
        config.fraction = 0.5;
        config.startSample = 1000;
        config.maxSamples = 3000;
        const auto part = countAll(config, 700);
        QCOMPARE(part.sum.rows, 3000);
        QCOMPARE(part.blocks, 5);
    }
    void weightsSetWhatComesFirst()
    {
        DataFolder folder;
        auto config
            = test::configFor({ folder.write("a.txt", manyLines(3000)), folder.write("b.txt", manyLines(3000)) });
        const auto even = countAll(config, 100);
        QCOMPARE(std::count(even.blockSources.begin(), even.blockSources.begin() + 30, 0), 15);
        const auto uneven = countAll(config, 100, { 4, 1 });
        QCOMPARE(std::count(uneven.blockSources.begin(), uneven.blockSources.begin() + 30, 0), 24);
        QVERIFY(uneven.texts == even.texts); // each once, whatever the weights
        config.dataWeights = { "4", "1" };
        auto manager = good(test::openManager(config, folder.path("cache"), 100));
        const auto planned = good(test::planAll(manager));
        QCOMPARE(std::count_if(planned.begin(), planned.begin() + 30, [](const auto& b) { return b.source == 0; }), 24);
    }
    void wrongWeightsAreRefused()
    {
        auto config = test::configFor({ "a", "b" });
        config.dataWeights = { "1" };
        QVERIFY(!validate(config).empty());
        config.dataWeights = { "1", "-2" };
        QVERIFY(!validate(config).empty());
        config.dataWeights = { "1", "x" };
        QVERIFY(!validate(config).empty());
        config.dataWeights = { "1", "0.5" };
        QVERIFY(validate(config).empty());
    }
    void whatTheQuarantineListNamesIsExcluded()
    {
        DataFolder folder;
        auto config = test::configFor({ folder.write("a.txt", test::indexedLines(300)) });
        config.chunkSamples = 50;
        char sample[32];
        std::snprintf(sample, sizeof sample, "sample %016llx", static_cast<unsigned long long>(xxh3("row 7")));
        config.exclude = folder.write(
            "list.txt", "# bad rows\n" + std::string(sample) + "\r\n\npattern ^row 2[0-9]{2}$\nchunk 1:0\n");
        const auto all = countAll(config, 100);
        QCOMPARE(all.excluded, 101);
        QCOMPARE(all.sum.filtered, 101);
        QCOMPARE(all.sum.samples, 199);
        QVERIFY(!all.texts.contains({ 0, "row 7" }) && !all.texts.contains({ 0, "row 250" })
            && all.texts.contains({ 0, "row 20" }));
        auto manager = good(test::openManager(config, folder.path("cache"), 100));
        QCOMPARE(manager.excludedChunks(1), (std::vector<std::int32_t> { 0 }));
        QVERIFY(manager.excludedChunks(0).empty());
        // the list is frozen with the run: the file may go
        const auto inspection = good(inspectData(config));
        std::filesystem::remove(folder.path("list.txt"));
        QVERIFY(readManifest(inspection.manifest).value().quarantine.find("pattern") != std::string::npos);
    }
    void wrongQuarantineListsAreRefusedByLine_data()
    {
        QTest::addColumn<QString>("text");
        for (const char* line : { "chunk", "chunk 3", "chunk a:b", "chunk -1:2", "sample 12", "sample 00000000000000zz",
                 "pattern", "pattern (", "row 5" })
            QTest::newRow(line) << QString("# first\n") + line + "\n";
    }
    void wrongQuarantineListsAreRefusedByLine()
    {
        QFETCH(QString, text);
        const auto list = Quarantine::parse(text.toStdString());
        QVERIFY(!list.ok());
        QVERIFY2(list.error().message.starts_with("Line 2"), list.error().message.c_str());
    }
    /// It stood in run.json, status and audit; where the expression was broken too, the refusal showed it.
    void aTokenInTheQuarantineListWasKept()
    {
        DataFolder folder;
        const char* lines[]
            = { "pattern X|hf_AbCdEfGhIjKlMnOpQrStUvWxYz01234567", "pattern (hf_AbCdEfGhIjKlMnOpQrStUvWxYz01234567",
                  "pattern password=SECRETZ1 # hf_AbCdEfGh", "# of https://ann:SECRETZ1@host/x" };
        for (const char* line : lines) {
            const auto read = readQuarantineFile(folder.write("list.txt", std::string("# first\n") + line + "\n"));
            QVERIFY2(!read.ok(), line);
            const std::string said = read.error().message.text();
            QVERIFY2(said.starts_with("Line 2 of ") && said.find("would be kept in the run") != std::string::npos,
                said.c_str());
            QVERIFY2(said.find("hf_") == std::string::npos && said.find("SECRET") == std::string::npos, said.c_str());
        }
        const std::string harmless = "# passwords\npattern password=\\S+\npattern hf_[A-Za-z0-9]{34}\n";
        QCOMPARE(good(readQuarantineFile(folder.write("list.txt", harmless))), harmless);
    }
    void patternsSurviveHostileText()
    {
        const auto list = good(Quarantine::parse("pattern (a+)+$\npattern \xc3\xa9t\xc3\xa9\n"));
        QVERIFY(list->excludes("aaa", 0).value());
        QVERIFY(list->excludes("un \xc3\xa9t\xc3\xa9 chaud", 0).value());
        QVERIFY(!list->excludes("\xff\xfe\x80 broken bytes", 0).value());
    }
    void aPatternAtItsMatchLimitDoesNotLetTheTextThrough()
    {
        const auto list = good(Quarantine::parse("pattern (a+)+$\n"));
        const auto excluded = list->excludes(std::string(5000, 'a') + "b", 0);
        QVERIFY(!excluded.ok());
        QVERIFY2(excluded.error().message.find("(a+)+$") != std::string::npos, excluded.error().message.c_str());
    }
    void aReadThatCannotDecideNamesTheRow()
    {
        DataFolder folder;
        RunConfig config = test::configFor({ folder.write("a.txt", "fine\n" + std::string(5000, 'a') + "b\n") });
        config.exclude = folder.write("list.txt", "pattern (a+)+$\n");
        const auto inspection = inspectData(config);
        QVERIFY(!inspection.ok());
        QVERIFY2(inspection.error().message.find("row 1 (counted from 0) of") != std::string::npos
                && inspection.error().message.find("a.txt") != std::string::npos,
            inspection.error().message.c_str());
    }
};

QTEST_GUILESS_MAIN(TestRowChoice)
#include "tst_row_choice.moc"
