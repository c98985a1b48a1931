#include "feeder_fixture.h"
#include "use_hub.h"
#include "tests/must_have.h"

#include "core/base/random.h"
#include "core/data/hub/hub_pieces.h"
#include "core/data/plan/passed_over.h"
#include "core/trials/bench/data_bench.h"
#include "core/run/status/reading.h"
#include "core/run/audit/run_audit.h"
#include "core/run/status/run_status.h"

using namespace furrow;
using namespace furrow::test;

namespace {

constexpr int kRows = 12'000;
constexpr int kRowBytes = 800;
constexpr std::uint64_t kPieceBytes = 1 << 20; ///< by which columns come
constexpr std::uint64_t kLostByKill = 1 << 20; ///< what was on the way, and not yet on disk

std::vector<std::string> numberedTexts()
{
    Random random(11);
    std::vector<std::string> texts;
    for (int row = 0; row < kRows; ++row) {
        std::string text = std::to_string(row) + " ";
        while (std::ssize(text) < kRowBytes)
            text += static_cast<char>('0' + random.below(64));
        texts.push_back(std::move(text));
    }
    return texts;
}

/// The texts in one Parquet file; "" in a build that cannot write one.
std::string asParquet(const std::vector<std::string>& texts, const BenchParquet& shape)
{
    const QTemporaryDir folder;
    const auto file = pathFromUtf8(folder.path().toStdString()) / "train.parquet";
    return writeBenchParquet(file, texts, shape).ok() ? good(readFile(file)) : std::string();
}

FakeHub::Repository repositoryOf(const QString& kind, const std::vector<std::string>& texts)
{
    FakeHub::Repository repository;
    if (kind == "text") {
        for (std::size_t row = 0; row < texts.size(); ++row)
            repository.files["train-" + std::to_string(row * 3 / texts.size()) + ".txt"] += texts[row] + "\n";
        return repository;
    }
    const auto file
        = asParquet(texts, { kind == "one group" ? std::size_t { kRows } : std::size_t { 500 }, false, 2, kRowBytes });
    if (!file.empty())
        repository.files["train.parquet"] = file;
    return repository;
}

std::uint64_t largest(const FakeHub::Repository& repository)
{
    std::uint64_t bytes = 0;
    for (const auto& [name, content] : repository.files)
        bytes = std::max<std::uint64_t>(bytes, content.size());
    return bytes;
}

/// The numbers of the rows that a walk over the data meets.
std::set<int> walkedRows(const RunConfig& config, const std::string& manifest)
{
    std::set<int> rows;
    good(forEachText(config, manifest, [&rows](std::string_view text) {
        rows.insert(std::stoi(std::string(text.substr(0, text.find(' ')))));
        return Result<bool>(true);
    }));
    return rows;
}

/// Rows whose text in the prepared blocks is not that of the source.
int wrongRows(const Run& run, const std::vector<std::string>& texts)
{
    int wrong = 0;
    const auto rows = good(good(LedgerReader::open(run.paths.tracker())).blocksAfter(-1, kRows));
    for (const auto& row : rows) {
        const auto block = good(PreparedBlock::open(run.blocks() / row.fileName));
        for (int column = 0; column < block.chunkCount(); ++column) {
            const auto chunk = good(block.readChunk(column));
            for (std::size_t i = 0; i < chunk.rows.size(); ++i) {
                const auto ids
                    = std::span(chunk.tokens).subspan(chunk.offsets[i], chunk.offsets[i + 1] - chunk.offsets[i]);
                const auto text = byteTokenizer()->decode(ids);
                wrong += text == texts[static_cast<std::size_t>(std::stoi(text))] ? 0 : 1;
            }
        }
    }
    return wrong;
}

} // namespace

class TestHubFaults : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void faultsAndKillsCostNoRowAndFewBytes_data()
    {
        QTest::addColumn<QString>("kind");
        QTest::newRow("text") << "text";
        QTest::newRow("one group") << "one group";
        QTest::newRow("many groups") << "many groups";
    }
    /// FURROW_HUB_FAULTS=100 (with QTEST_FUNCTION_TIMEOUT=3600000) tries so many seeds of each kind; FURROW_HUB_SEED is
    /// the first.
    void faultsAndKillsCostNoRowAndFewBytes()
    {
        QFETCH(QString, kind);
        const auto texts = numberedTexts();
        const auto repository = repositoryOf(kind, texts);
        SKIP_WITHOUT("parquet", !repository.files.empty(), "This build cannot write Parquet.");
        const auto seeds = std::max(1, qEnvironmentVariableIntValue("FURROW_HUB_FAULTS"));
        const auto first = qEnvironmentVariableIntValue("FURROW_HUB_SEED");
        for (int seed = first; seed < first + seeds; ++seed)
            train(kind, repository, texts, static_cast<std::uint64_t>(seed));
    }

    /// Eight rows of a range were others, and the audit was clean.
    void wrongRowsOfARangeAreNeverBehindACleanReport()
    {
        const auto texts = numberedTexts();
        FakeHub::Repository repository;
        repository.files["train.parquet"] = asParquet(texts, { kRows, false, 2, kRowBytes, true });
        SKIP_WITHOUT("parquet", !repository.files["train.parquet"].empty(), "This build cannot write Parquet.");
        FakeHub hub;
        hub.add("o/n", repository);
        const UseHub use(hub);
        Run run(kRows, 500, 100, 1, 1, "hf://o/n");
        hub.fail({ HubFault::WrongBytes });
        run.startFeeder();
        std::map<std::int64_t, std::map<int, int>> seen;
        QCOMPARE(PlayedWorker(run, 0).work(seen), kRows / 100);
        run.stopFeeder();
        QCOMPARE(wrongRows(run, texts), 1); // nothing in such a file tells
        const auto report = good(auditRun(run.paths, AuditDepth::Files));
        std::string told;
        for (const auto& inspection : report.inspections)
            told += inspection.how + "\n";
        QVERIFY2(told.find("1 files are not verified as a whole") != std::string::npos
                && told.find("only the columns that are needed are read of it") != std::string::npos,
            told.c_str());
        std::string evidence;
        for (const auto& sentence : good(readStatus(run.paths)).evidence)
            evidence += sentence + "\n";
        QVERIFY2(evidence.find("only the columns") != std::string::npos, evidence.c_str());
    }

    /// It compared the blocks with the ranges in the cache that they were made of, and found them right.
    void deepAuditComparedBlocksWithTheWrongRangesTheyWereMadeOf_data()
    {
        QTest::addColumn<double>("cacheGiB");
        QTest::newRow("the whole file is compared") << 1.0;
        QTest::newRow("the cache has no room for the whole file") << 0.02;
    }
    void deepAuditComparedBlocksWithTheWrongRangesTheyWereMadeOf()
    {
        QFETCH(double, cacheGiB);
        const auto texts = numberedTexts();
        FakeHub::Repository repository;
        repository.files["train.parquet"] = asParquet(texts, { kRows, false, 2, kRowBytes, true });
        SKIP_WITHOUT("parquet", !repository.files["train.parquet"].empty(), "This build cannot write Parquet.");
        FakeHub hub;
        hub.add("o/n", repository);
        const UseHub use(hub);
        Run run(kRows, 500, 100, cacheGiB, 1, "hf://o/n");
        hub.fail({ HubFault::WrongBytes });
        run.startFeeder();
        std::map<std::int64_t, std::map<int, int>> seen;
        QCOMPARE(PlayedWorker(run, 0).work(seen), kRows / 100);
        run.stopFeeder();
        const auto source = [](const AuditReport& report) {
            return *std::find_if(report.inspections.begin(), report.inspections.end(),
                [](const AuditInspection& one) { return one.what == Evidence::Source; });
        };
        // No server at all: nothing is proven, and nothing is wrong.
        hub.setAway(true);
        RetryPolicy impatient;
        impatient.attempts = 1;
        setSharedHubClient(std::make_shared<HubClient>(
            HubSettings::fromEnvironment(), [] { return curlTransport({ 5, 1 }); }, 2, impatient));
        const auto unreached = source(good(auditRun(run.paths, AuditDepth::Deep)));
        QCOMPARE(unreached.inspected, 0);
        QCOMPARE(unreached.wrong, 0);
        QCOMPARE(unreached.unreadable, 2); // the first block, and how many more
        hub.setAway(false);
        const auto report = good(auditRun(run.paths, AuditDepth::Deep));
        QVERIFY(!report.isClean());
        QCOMPARE(source(report).inspected, kRows / 500);
        QVERIFY2(source(report).wrong > 0 && source(report).wrong <= 3, auditText(report).c_str());
        const auto compared = cacheGiB >= 1 ? "of 1 files from elsewhere 1 have" : "of 1 files from elsewhere 0 have";
        QVERIFY2(source(report).how.find(compared) != std::string::npos, source(report).how.c_str());
        // What was wrong is not found again, by another run over the same data.
        const auto file = good(readRunFile(run.paths));
        auto blocks = good(BlockManager::open(
            file.config, file.dataManifest, file.samplesPerBlock, run.paths.cacheFolder(), byteTokenizer()));
        int aside = 0;
        while (const auto block = good(blocks.planNext()))
            aside += blocks.find(*block).ok() ? 0 : 1;
        QVERIFY(aside >= 1);
        if (cacheGiB >= 1)
            QCOMPARE(aside, 1);
    }

    /// "Its source has changed. Restore the source": it never had, and what to restore was what the first transfer made
    /// of it. And the audit put the block aside without a word.
    void aWrongTransferWasASourceThatHadChanged()
    {
        const auto texts = numberedTexts();
        FakeHub::Repository repository;
        repository.files["train.parquet"] = asParquet(texts, { kRows, false, 2, kRowBytes, true });
        SKIP_WITHOUT("parquet", !repository.files["train.parquet"].empty(), "This build cannot write Parquet.");
        FakeHub hub;
        hub.add("o/n", repository);
        const UseHub use(hub);
        Run run(kRows, 500, 100, 1, 2, "hf://o/n");
        hub.fail({ HubFault::WrongBytes });
        run.startFeeder();
        std::map<std::int64_t, std::map<int, int>> seen;
        QCOMPARE(PlayedWorker(run, 0).work(seen, kRows / 100), kRows / 100);
        run.stopFeeder();
        const auto audited = auditText(good(auditRun(run.paths, AuditDepth::Deep)));
        QVERIFY2(audited.find("put aside in the cache (*.bad-*)") != std::string::npos, audited.c_str());
        run.beginAttempt();
        run.startFeeder();
        constexpr int kOfTheBlock = 5;
        QCOMPARE(PlayedWorker(run, 1).work(seen, kRows / 100 - kOfTheBlock), kRows / 100 - kOfTheBlock);
        const auto cause = [&] { return good(good(LedgerReader::open(run.paths.tracker())).newestPoisonedCause()); };
        QTRY_VERIFY_WITH_TIMEOUT(!cause().empty(), 20'000);
        run.stopFeeder();
        QVERIFY2(cause().find("transferred wrongly then") != std::string::npos
                && cause().find("furrowctl chunks accept") != std::string::npos
                && cause().find("source has changed") == std::string::npos,
            cause().c_str());
    }

    /// What a run reads before it is made left out damage of local files alone: that of a server was refused.
    void damageOfAServerKeptARunFromBeingMade()
    {
        FakeHub::Repository repository;
        auto& file = repository.files["train.parquet"];
        file = asParquet(numberedTexts(), { kRows, false, 2, kRowBytes });
        SKIP_WITHOUT("parquet", !file.empty(), "This build cannot write Parquet.");
        for (const std::size_t percent : { 1, 12, 22 }) // the column is the first third
            file[file.size() * percent / 100] = static_cast<char>(file[file.size() * percent / 100] ^ 1);
        FakeHub hub;
        hub.add("o/n", repository);
        const UseHub use(hub);
        const QTemporaryDir folder;
        const KeepHubPieces kept(pathFromUtf8(folder.path().toStdString()), 1);
        RunConfig config;
        config.data = { "hf://o/n" };
        config.heldOutPercent = 0;
        QCOMPARE(inspectData(config).error().code, ErrorCode::Corrupt);
        config.badFiles = BadFiles::LeaveOut;
        const auto manifest = good(inspectData(config)).manifest;
        const PassedOver passed;
        const auto before = hub.storeBytes();
        const auto rows = walkedRows(config, manifest);
        std::vector<Message> said;
        passed.addTo(said);
        QCOMPARE(said.size(), std::size_t(3)); // one for each page
        QVERIFY2(rows.size() > kRows / 4 && rows.size() < kRows, std::to_string(rows.size()).c_str());
        QVERIFY(!rows.contains(0) && rows.contains(kRows - 1));
        QVERIFY2(hub.storeBytes() - before < file.size() * 2 / 3 + 4 * kPieceBytes, // not the column for each page
            std::to_string(hub.storeBytes() - before).c_str());
    }

    /// It was refused with the first page that came wrong, or would have been left out.
    void aTransferThatWasWrongOnceWasDamageOfAServer()
    {
        FakeHub::Repository repository;
        auto& file = repository.files["train.parquet"];
        file = asParquet(numberedTexts(), { kRows, false, 2, kRowBytes });
        SKIP_WITHOUT("parquet", !file.empty(), "This build cannot write Parquet.");
        FakeHub hub;
        hub.add("o/n", repository);
        const UseHub use(hub);
        const QTemporaryDir folder;
        const KeepHubPieces kept(pathFromUtf8(folder.path().toStdString()), 1);
        RunConfig config;
        config.data = { "hf://o/n" };
        config.heldOutPercent = 0;
        config.badFiles = BadFiles::LeaveOut;
        const auto manifest = good(inspectData(config)).manifest;
        const PassedOver passed;
        hub.fail({ HubFault::WrongBytes });
        QCOMPARE(walkedRows(config, manifest).size(), std::size_t(kRows));
        QVERIFY(!hub.pendingFaults());
        std::vector<Message> said;
        passed.addTo(said);
        QVERIFY(said.empty());
    }

    /// Around each damaged page of a row group what had come of its column was dropped and fetched anew.
    void eachDamagedPageOfARowGroupFetchedItsColumnAnew()
    {
        FakeHub::Repository repository;
        auto& file = repository.files["train.parquet"];
        file = asParquet(numberedTexts(), { kRows, false, 2, kRowBytes });
        SKIP_WITHOUT("parquet", !file.empty(), "This build cannot write Parquet.");
        for (std::size_t percent = 12; percent < 30;
            percent += 6) // the column is the first third; not what planning reads
            file[file.size() * percent / 100] = static_cast<char>(file[file.size() * percent / 100] ^ 1);
        FakeHub hub;
        hub.add("o/n", repository);
        const UseHub use(hub);
        const QTemporaryDir folder;
        RunConfig config;
        config.data = { "hf://o/n" };
        config.heldOutPercent = 0;
        config.cacheGiB = 1;
        config.chunkSamples = 1000;
        config.badFiles = BadFiles::LeaveOut;
        auto blocks = good(BlockManager::open(config, good(inspectData(config)).manifest, kRows,
            pathFromUtf8(folder.path().toStdString()), byteTokenizer()));
        const auto block = good(blocks.planNext());
        QVERIFY(block.has_value());
        QCOMPARE(blocks.prepare(*block).error().code, ErrorCode::Corrupt);
        const auto before = hub.storeBytes();
        const auto rest = good(blocks.withoutUnreadable(*block, {}));
        QVERIFY(rest.rowsLeftOut() > 0 && rest.rowsLeftOut() < kRows);
        const auto fetched = hub.storeBytes() - before;
        QVERIFY2(fetched < file.size() * 2 / 3 + 4 * kPieceBytes, // the column less than twice, then two pages
            (std::to_string(fetched) + " of " + std::to_string(file.size())).c_str());
        good(blocks.prepare(rest));
    }

    /// What came wrong in the one new transfer of a column, which another page had asked for, was never asked for
    /// again.
    void aPageThatCameWrongBesideADamagedOneWasLeftOutForGood()
    {
        FakeHub::Repository damaged;
        auto& file = damaged.files["train.parquet"];
        file = asParquet(numberedTexts(), { kRows, false, 2, kRowBytes });
        SKIP_WITHOUT("parquet", !file.empty(), "This build cannot write Parquet.");
        file[file.size() * 12 / 100] = static_cast<char>(file[file.size() * 12 / 100] ^ 1);
        auto wrongToo = damaged;
        auto& wrong = wrongToo.files["train.parquet"];
        wrong[wrong.size() * 22 / 100] = static_cast<char>(wrong[wrong.size() * 22 / 100] ^ 1);
        FakeHub hub;
        hub.add("o/damaged", damaged);
        hub.add("o/wrong", wrongToo);
        const UseHub use(hub);
        const auto leftOut = [](const std::string& source, const std::function<bool()>& goOn) {
            const QTemporaryDir folder;
            RunConfig config;
            config.data = { source };
            config.heldOutPercent = 0;
            config.cacheGiB = 1;
            config.chunkSamples = 1000;
            config.badFiles = BadFiles::LeaveOut;
            auto blocks = good(BlockManager::open(config, good(inspectData(config)).manifest, kRows,
                pathFromUtf8(folder.path().toStdString()), byteTokenizer()));
            const auto block = good(blocks.planNext());
            return good(blocks.withoutUnreadable(*block, goOn)).rowsLeftOut();
        };
        const auto ofThePage = leftOut("hf://o/damaged", {});
        QVERIFY(ofThePage > 0 && ofThePage < kRows / 2);
        int chunks = 0;
        const auto comesRight = [&] { // once the damaged page was passed over, before the other one is met
            if (++chunks == 7)
                hub.add("o/wrong", damaged);
            return true;
        };
        QCOMPARE(leftOut("hf://o/wrong", comesRight), ofThePage);
        QVERIFY(chunks >= 7);
    }

    /// Blocks were prepared in the order of their first chunks, and what lay between two of them in the row group came
    /// again each time.
    void aCacheOfTwoBlocksFetchesAColumnOnce()
    {
        const auto texts = numberedTexts();
        const auto repository = repositoryOf("one group", texts);
        SKIP_WITHOUT("parquet", !repository.files.empty(), "This build cannot write Parquet.");
        FakeHub hub;
        hub.add("o/n", repository);
        const UseHub use(hub);
        Run run(kRows, 500, 100, 0.0025, 1, "hf://o/n");
        const auto lookedAt = hub.storeBytes(); // which such a cache cannot keep
        run.startFeeder();
        std::map<std::int64_t, std::map<int, int>> seen;
        QCOMPARE(PlayedWorker(run, 0).work(seen), kRows / 100);
        verifyEachRowOnceAnEpoch(seen, 1, kRows);
        run.stopFeeder();
        const std::uint64_t needed = kRows * kRowBytes * 3 / 4; // of 64 letters; compressed no less
        QVERIFY2(hub.storeBytes() >= needed && hub.storeBytes() <= lookedAt + needed * 104 / 100,
            std::to_string(hub.storeBytes()).c_str());
    }

    /// Two in a row were two tries, and what was to come was called damaged for good.
    void twoWrongDownloadsInARowPoisonedABlock()
    {
        FakeHub hub;
        FakeHub::Repository repository;
        for (int row = 0; row < 1200; ++row) // 5 MB: more than is kept from looking at it
            repository.files["train.txt"]
                += std::to_string(row) + " " + std::string(4'000, static_cast<char>('a' + row % 26)) + "\n";
        hub.add("o/n", repository);
        const UseHub use(hub);
        Run run(1200, 300, 50, 1, 1, "hf://o/n");
        hub.fail(std::vector<HubFault>(5, HubFault::WrongBytes)); // its rest comes by two transfers, all of it by three
        run.startFeeder();
        std::map<std::int64_t, std::map<int, int>> seen;
        QCOMPARE(PlayedWorker(run, 0).work(seen), 24);
        QVERIFY(!hub.pendingFaults());
        verifyEachRowOnceAnEpoch(seen, 1, 1200);
        run.stopFeeder();
    }

    /// A column came, and the feeder was "starting", or "preparing block 0".
    void aColumnThatComesSaysHowFarItIs()
    {
        const auto texts = numberedTexts();
        const auto repository = repositoryOf("one group", texts);
        SKIP_WITHOUT("parquet", !repository.files.empty(), "This build cannot write Parquet.");
        FakeHub hub;
        hub.add("o/n", repository);
        const UseHub use(hub);
        Run run(kRows, 2000, 100, 1, 1, "hf://o/n");
        hub.setSpeed(1'000'000);
        run.startFeeder();
        const auto doing = [&] {
            return good(good(LedgerReader::open(run.paths.tracker())).totals()).feederDoing;
        }; // status tells it of a run that lives
        QTRY_VERIFY2_WITH_TIMEOUT(doing().find("downloading train.parquet: ") == 0
                && doing().find(" of 6.9 MiB at ") != std::string::npos && doing().find(" left") != std::string::npos,
            doing().c_str(), 20'000);
        hub.setSpeed(0);
        run.stopFeeder();
    }

private:
    void train(const QString& kind, const FakeHub::Repository& repository, const std::vector<std::string>& texts,
        std::uint64_t seed)
    {
        FakeHub hub;
        hub.add("o/n", repository);
        const UseHub use(hub);
        Run run(kRows, 500, 100, 1, 1, "hf://o/n");
        FakeHub::Repository moved; // the branch goes on, what the run has pinned stays
        moved.commit = std::string(40, 'c');
        moved.files = { { "train.txt", "other\n" } };
        moved.older[repository.commit] = repository.files;
        hub.add("o/n", moved);
        hub.setSpeed(4'000'000);
        std::vector faults { HubFault::ServerError, HubFault::Cut, HubFault::WholeFile, HubFault::OtherPart,
            HubFault::Expired, HubFault::WrongBytes };
        hub.failAtRandom(faults, 5, seed);
        hub.fail({ seed % 2 == 0 ? HubFault::Stall : HubFault::Cut });
        Random random(seed);
        constexpr int kKills = 3;
        std::map<std::int64_t, std::map<int, int>> seen;
        int trained = 0;
        for (int kill = 0; kill <= kKills; ++kill) {
            run.startFeeder();
            if (kill == kKills) {
                trained += PlayedWorker(run, kill).work(seen);
                run.stopFeeder();
                break;
            }
            QTest::qWait(static_cast<int>(300 + random.below(900)));
            hub.setAway(random.below(3) == 0); // when it is killed next it waits
            trained += PlayedWorker(run, kill).work(seen, hub.isAway() ? 0 : 5);
            run.feeder->killTree();
            (void)run.feeder->wait(std::chrono::seconds(20));
            run.feeder.reset();
            hub.setAway(false);
        }
        const std::string about
            = QString("%1, seed %2, %3 bytes").arg(kind).arg(seed).arg(hub.storeBytes()).toStdString();
        QVERIFY2(trained == kRows / 100, about.c_str());
        verifyEachRowOnceAnEpoch(seen, 1, kRows);
        QVERIFY2(wrongRows(run, texts) == 0, about.c_str());
        // A wrong byte costs what it was found in; a whole file or another part instead of the asked one is cut off,
        // but on the way.
        const std::uint64_t needed = kind == "text" ? kRows * (kRowBytes + 1) : kRows * kRowBytes * 3 / 4 * 51 / 50;
        const auto wrong = static_cast<std::uint64_t>(hub.faultsMet(HubFault::WrongBytes))
            * (kind == "text" ? largest(repository) : needed);
        const auto other
            = static_cast<std::uint64_t>(hub.faultsMet(HubFault::WholeFile) + hub.faultsMet(HubFault::OtherPart))
            * kLostByKill;
        const auto most = needed * 51 / 50 + kKills * kLostByKill + wrong + other;
        QVERIFY2(hub.storeBytes() <= most, (about + ", most " + std::to_string(most)).c_str());
    }
};

QTEST_GUILESS_MAIN(TestHubFaults)
#include "tst_hub_faults.moc"
