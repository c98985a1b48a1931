#include "feeder_fixture.h"
#include "use_hub.h"
#include "tests/fakes/gzip.h"
#include "tests/must_have.h"

#include "core/base/random.h"
#include "core/trials/bench/data_bench.h"
#include "core/run/status/reading.h"
#include "core/run/audit/run_audit.h"
#include "core/run/status/run_status.h"
#include "core/run/supervise/attempt_end.h"
#include "core/tracker/sqlite/database.h"

#include <algorithm>

using namespace furrow;
using namespace furrow::test;

namespace {

constexpr int kRows = 3000;

/// Numbered lines of 4,000 letters, or numbered texts in a Parquet file.
Result<FakeHub::Repository> repositoryOf(const QString& kind)
{
    FakeHub::Repository repository;
    if (kind == "parquet") {
        const QTemporaryDir folder;
        const auto file = pathFromUtf8(folder.path().toStdString()) / "train.parquet";
        if (auto written = writeBenchParquet(file, benchTexts(kRows, 1)); !written.ok())
            return written.error();
        repository.files["train.parquet"] = good(readFile(file));
        return repository;
    }
    Random random(5);
    for (int part = 0; part < 3; ++part) {
        std::string text;
        for (int row = part * kRows / 3; row < (part + 1) * kRows / 3; ++row) {
            text += std::to_string(row) + " ";
            for (int i = 0; i < 4000; ++i)
                text += static_cast<char>('0' + random.below(64));
            text += "\n";
        }
        const std::string name = "train-" + std::to_string(part) + ".txt";
        if (kind == "gzip")
            repository.files[name + ".gz"] = gzip(text);
        else
            repository.files[name] = text;
    }
    return repository;
}

std::uint64_t sizeOf(const FakeHub::Repository& repository)
{
    std::uint64_t bytes = 0;
    for (const auto& [name, content] : repository.files)
        bytes += content.size();
    return bytes;
}

/// Bytes in the middle of every download of the cache are others.
void damageDownloads(const Run& run)
{
    for (const auto& entry : std::filesystem::directory_iterator(run.paths.cacheFolder() / kDownloads)) {
        std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(static_cast<std::streamoff>(entry.file_size() / 2));
        file.put('#');
    }
}

/// Prepares what it can, then ends. @return  blocks that are prepared
std::int64_t prepareSome(Run& run, std::int64_t atLeast)
{
    const auto prepared
        = [&] { return good(good(LedgerReader::open(run.paths.tracker())).epochs()).front().preparedBlocks; };
    run.startFeeder();
    [&] { QTRY_VERIFY_WITH_TIMEOUT(prepared() >= atLeast, 20'000); }();
    run.stopFeeder();
    return prepared();
}

void trainAll(Run& run)
{
    run.startFeeder();
    std::map<std::int64_t, std::map<int, int>> seen;
    QCOMPARE(PlayedWorker(run, 0).work(seen), kRows / 50);
    verifyEachRowOnceAnEpoch(seen, 1, kRows);
    run.stopFeeder();
}

} // namespace

class TestHubTraffic : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void lookingAndTrainingFetchEachByteOnce_data()
    {
        QTest::addColumn<QString>("kind");
        QTest::newRow("text") << "text";
        QTest::newRow("gzip") << "gzip";
        QTest::newRow("parquet") << "parquet";
    }
    /// What was looked at before the run existed was fetched again for it, up to the whole of a small data set several
    /// times.
    void lookingAndTrainingFetchEachByteOnce()
    {
        QFETCH(QString, kind);
        const auto made = repositoryOf(kind);
        SKIP_WITHOUT("parquet", made.ok(), made.error().message.c_str());
        const auto& repository = made.value();
        const std::uint64_t bytes = sizeOf(repository);
        FakeHub hub;
        hub.add("o/n", repository);
        const UseHub use(hub);
        Run run(kRows, 150, 50, 1, 1, "hf://o/n");
        QVERIFY(hub.storeBytes() > 0);
        trainAll(run);
        const double share = static_cast<double>(hub.storeBytes()) / static_cast<double>(bytes);
        QVERIFY2(share >= 1 && share <= 1.02, qPrintable(QString::number(share)));
    }

    void fewRowsOfParquetThatIsAllTextCostAllOfIt_data()
    {
        QTest::addColumn<double>("fraction");
        QTest::addColumn<int>("most");
        QTest::addColumn<int>("seed");
        QTest::newRow("max_samples") << 1.0 << 100 << 1;
        for (const int seed : { 1, 2, 3, 5 }) // the first row group that is drawn stands elsewhere in each
            QTest::addRow("fraction, seed %d", seed) << 0.1 << 0 << seed;
    }
    /// Of Parquet that is nearly all text the whole file came, whatever max_samples and fraction said: one row group
    /// would have done.
    void fewRowsOfParquetThatIsAllTextCostAllOfIt()
    {
        QFETCH(double, fraction);
        QFETCH(int, most);
        QFETCH(int, seed);
        const QTemporaryDir folder;
        const auto file = pathFromUtf8(folder.path().toStdString()) / "train.parquet";
        const auto written = writeBenchParquet(file, benchTexts(4000, 1), { .groupRows = 100 });
        SKIP_WITHOUT("parquet", written.ok(), written.error().message.c_str());
        FakeHub::Repository repository;
        repository.files["train.parquet"] = good(readFile(file));
        const auto bytes = static_cast<double>(repository.files["train.parquet"].size());
        FakeHub hub;
        hub.add("o/n", repository);
        const UseHub use(hub);
        Run run(10, 50, 50, 1, 1, "hf://o/n", Duplicates::Report, {}, BadFiles::Stop, [&](RunConfig& config) {
            config.fraction = fraction;
            config.maxSamples = most;
            config.seed = seed;
        });
        run.startFeeder();
        std::map<std::int64_t, std::map<int, int>> seen;
        const int chunks = PlayedWorker(run, 0).work(seen);
        run.stopFeeder();
        QVERIFY(chunks >= 2 && seen[0].size() >= 100 && seen[0].size() <= 500);
        const double share = static_cast<double>(hub.storeBytes()) / bytes;
        const double needed = static_cast<double>(seen[0].size()) / 4000;
        QVERIFY2(share <= needed + 0.15, qPrintable(QString::number(share))); // with footer and looks at the file
    }

    /// Whether a file had been compared with what the hub promises stood nowhere.
    void statusAndAuditSayWhichFilesOfTheHubAreVerified()
    {
        FakeHub hub;
        hub.add("o/n", good(repositoryOf("text")));
        const UseHub use(hub);
        Run run(kRows, 150, 50, 1, 1, "hf://o/n");
        const auto compared = [&] { return readReading(run.paths).value_or(Reading {}).hub; };
        const auto downloads = [&] {
            for (auto& inspection : good(auditRun(run.paths, AuditDepth::Files)).inspections)
                if (inspection.what == Evidence::Downloads)
                    return inspection;
            return AuditInspection {};
        };
        const auto evidence = [&] {
            std::string all;
            for (const auto& sentence : good(readStatus(run.paths)).evidence)
                all += sentence + "\n";
            return all;
        };
        run.startFeeder();
        QTRY_VERIFY_WITH_TIMEOUT(compared().compared.size() >= 2, 20'000);
        run.stopFeeder(); // the third may have come by then
        const auto known = std::to_string(compared().compared.size()) + " of 3 verified";
        QVERIFY2(evidence().find(known) != std::string::npos, evidence().c_str());
        QVERIFY(downloads().inspected >= 2 && downloads().inspected <= 3);
        run.beginAttempt();
        run.startFeeder();
        std::map<std::int64_t, std::map<int, int>> seen;
        QCOMPARE(PlayedWorker(run, 0).work(seen), kRows / 50);
        QTRY_VERIFY_WITH_TIMEOUT(compared().compared.size() == 3, 20'000); // what an earlier attempt compared counts
        QVERIFY2(evidence().find("3 of 3 verified") != std::string::npos, evidence().c_str());
        run.stopFeeder();
        QCOMPARE(downloads().wrong, std::int64_t(0));
        damageDownloads(run);
        QCOMPARE(downloads().wrong, std::int64_t(3));
        for (const auto& entry : std::filesystem::directory_iterator(run.paths.cacheFolder() / kDownloads))
            std::filesystem::remove(entry.path());
        QVERIFY2(downloads().inspected == 0 && downloads().how.find("3 more are not there") != std::string::npos,
            downloads().how.c_str());
    }

    /// They were believed because they had been made once, whatever became of the file.
    void blocksOfADownloadThatIsFoundWrongAreMadeAgain()
    {
        FakeHub hub;
        FakeHub::Repository oneFile; // so that whatever is prepared next opens the copy again
        for (const auto& [name, content] : good(repositoryOf("text")).files)
            oneFile.files["train.txt"] += content;
        hub.add("o/n", oneFile);
        const UseHub use(hub);
        Run run(kRows, 150, 50, 1, 1, "hf://o/n");
        const auto made = prepareSome(run, 4);
        QVERIFY(made >= 4);
        damageDownloads(run);
        run.beginAttempt();
        trainAll(run);
        std::int64_t aside = 0;
        for (const auto& entry : std::filesystem::directory_iterator(run.blocks()))
            aside += entry.path().extension() == ".block" ? 0 : 1;
        QVERIFY2(aside >= made, qPrintable(QString("%1 of %2").arg(aside).arg(made)));
        const auto report = good(auditRun(run.paths, AuditDepth::Files));
        QCOMPARE(report.epochs.front().committed, std::int64_t(kRows / 50));
        QCOMPARE(report.epochs.front().duplicated + report.epochs.front().missing, std::int64_t(0));
    }

    /// A block that was made of wrong bytes and trained must not become another one without a word.
    void aBlockThatHadOtherRowsInAWrongCopyIsNamedAndNotTrainedOn()
    {
        FakeHub hub;
        hub.add("o/n", good(repositoryOf("text")));
        const UseHub use(hub);
        Run run(kRows, 150, 50, 1, 1, "hf://o/n");
        QVERIFY(prepareSome(run, 4) >= 4);
        good(Database::open(run.paths.tracker(), {}))
            .run("UPDATE block SET digest='of other rows' WHERE block=0"); // as if it had been made of other bytes
        damageDownloads(run);
        run.beginAttempt();
        run.startFeeder();
        const auto reader = [&] { return good(LedgerReader::open(run.paths.tracker())); };
        QTRY_COMPARE_WITH_TIMEOUT(
            good(reader().epochs()).front().chunks[ChunkState::Poisoned], std::int64_t(3), 20'000);
        const auto cause = good(reader().newestPoisonedCause());
        QVERIFY2(
            cause.find("not what the hub promises") != std::string::npos && cause.find("hf://o/n") != std::string::npos,
            cause.c_str());
        std::map<std::int64_t, std::map<int, int>> seen;
        QCOMPARE(PlayedWorker(run, 0).work(seen, kRows / 50 - 3), kRows / 50 - 3);
        QCOMPARE(seen[0].size(), std::size_t(kRows - 150));
        run.stopFeeder();
    }

    /// "Its source has changed", though the whole file was compared with what the hub promises.
    void aFirstPreparationOfOtherRowsWasBlamedOnTheSource()
    {
        FakeHub hub;
        hub.add("o/n", good(repositoryOf("text")));
        const UseHub use(hub);
        Run run(kRows, 150, 50, 1, 1, "hf://o/n");
        QVERIFY(prepareSome(run, 4) >= 4);
        good(Database::open(run.paths.tracker(), {}))
            .run("UPDATE block SET digest='of other rows' WHERE block=0"); // as if it had been made of other bytes
        run.beginAttempt();
        run.startFeeder();
        const auto cause = [&] { return good(good(LedgerReader::open(run.paths.tracker())).newestPoisonedCause()); };
        QTRY_VERIFY_WITH_TIMEOUT(!cause().empty(), 20'000);
        run.stopFeeder();
        QVERIFY2(cause().find("transferred wrongly then") != std::string::npos
                && cause().find("chunks accept") != std::string::npos
                && cause().find("source has changed") == std::string::npos,
            cause().c_str());
        // What to do is in the cause: nobody is told to restore what never changed.
        const auto ended = whatCannotBeRead(good(poisonedChunks(run.paths.tracker())), {}, BadFiles::Stop);
        QVERIFY2(ended.find("3 chunks cannot be read") != std::string::npos
                && ended.find("Put the source back") == std::string::npos,
            ended.c_str());
    }

    /// What had come in a download that was not whole when its feeder was killed was in no count.
    void whatAKilledFeederHadDownloadedWasForgotten()
    {
        FakeHub hub;
        FakeHub::Repository oneFile;
        for (const auto& [name, content] : good(repositoryOf("text")).files)
            oneFile.files["train.txt"] += content;
        hub.add("o/n", oneFile);
        const UseHub use(hub);
        Run run(kRows, 150, 50, 1, 1, "hf://o/n");
        const auto before = hub.storeBytes();
        const auto told = [&] { return readReading(run.paths).value_or(Reading {}).downloadedBytes; };
        hub.setSpeed(1 << 20);
        run.startFeeder();
        QTRY_VERIFY_WITH_TIMEOUT(told() > (2 << 20), 20'000);
        run.feeder->killTree();
        run.feeder.reset();
        const auto killed = told();
        hub.setSpeed(0);
        run.beginAttempt();
        trainAll(run);
        QVERIFY2(told() >= killed + (hub.storeBytes() - before - killed) / 2 && told() <= hub.storeBytes(),
            qPrintable(QString("%1 of %2").arg(told()).arg(hub.storeBytes() - before)));
    }

    void aDamagedPieceIsFetchedAgain()
    {
        const auto repository = good(repositoryOf("text"));
        FakeHub hub;
        hub.add("o/n", repository);
        const UseHub use(hub);
        Run run(kRows, 150, 50, 1, 1, "hf://o/n");
        int damaged = 0;
        for (const auto& entry : std::filesystem::directory_iterator(run.paths.cacheFolder() / kDownloads))
            if (entry.path().extension() == ".range") {
                std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
                file.seekp(1000);
                file.put('\x01');
                ++damaged;
            }
        QVERIFY(damaged > 0);
        trainAll(run);
        QVERIFY(hub.storeBytes() > sizeOf(repository));
    }
};

QTEST_GUILESS_MAIN(TestHubTraffic)
#include "tst_hub_traffic.moc"
