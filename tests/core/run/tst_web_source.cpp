// A run over files of a server that is no hub: the feeder's side. How they are read: tests/core/data/tst_web.cpp.

#include "fake_web.h"
#include "feeder_fixture.h"

#include "core/data/hub/hub_client.h"

using namespace furrow;
using namespace furrow::test;

namespace {

/// 5 MB: more than is kept from looking at it.
FakeWeb::File textOf(int rows)
{
    std::string text;
    for (int row = 0; row < rows; ++row)
        text += std::to_string(row) + " " + std::string(4'000, static_cast<char>('a' + row % 26)) + "\n";
    return { text };
}

std::string doing(const Run& run) { return good(good(LedgerReader::open(run.paths.tracker())).totals()).feederDoing; }

} // namespace

class TestWebSource : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void init()
    {
        for (const char* name : { "http_proxy", "https_proxy", "all_proxy" })
            qunsetenv(name);
        setSharedHubClient(nullptr);
    }
    void cleanup()
    {
        qunsetenv("FURROW_DATA_SECRET");
        setSharedHubClient(nullptr);
    }

    void eachRowIsTrainedOnceAndEachByteComesOnce()
    {
        FakeWeb web;
        const auto file = textOf(1200);
        web.put("/train.txt", file);
        Run run(1200, 300, 50, 0.1, 1, web.address("/train.txt"));
        run.startFeeder();
        std::map<std::int64_t, std::map<int, int>> seen;
        QCOMPARE(PlayedWorker(run, 0).work(seen), 24);
        verifyEachRowOnceAnEpoch(seen, 1, 1200);
        run.stopFeeder();
        QVERIFY2(static_cast<double>(web.servedBytes()) <= 1.02 * static_cast<double>(file.bytes.size()),
            qPrintable(QString::number(web.servedBytes())));
    }

    /// "waiting" is shown and goes on until it is back, whatever the reason.
    void aServerThatIsAwayIsWaitedFor_data()
    {
        QTest::addColumn<int>("status");
        QTest::newRow("503") << 503;
        QTest::newRow("the file is not there") << 404;
        QTest::newRow("it may not be read") << 403;
    }
    void aServerThatIsAwayIsWaitedFor()
    {
        QFETCH(int, status);
        FakeWeb web;
        const auto file = textOf(1200);
        web.put("/train.txt", file);
        Run run(1200, 300, 50, 0.1, 1, web.address("/train.txt"));
        auto away = file;
        away.status = status;
        web.put("/train.txt", away);
        run.startFeeder();
        QTRY_VERIFY2_WITH_TIMEOUT(doing(run).find("trying again in") != std::string::npos
                && doing(run).find(std::to_string(status)) != std::string::npos,
            doing(run).c_str(), 20'000);
        web.put("/train.txt", file);
        std::map<std::int64_t, std::map<int, int>> seen;
        QCOMPARE(PlayedWorker(run, 0).work(seen), 24);
        verifyEachRowOnceAnEpoch(seen, 1, 1200);
        run.stopFeeder();
    }

    void aFileThatChangesStopsTheRunWithTheChoice()
    {
        FakeWeb web;
        auto file = textOf(1200);
        web.put("/train.txt", file);
        Run run(1200, 300, 50, 0.1, 1, web.address("/train.txt"));
        file.etag = "\"two\"";
        web.put("/train.txt", file);
        run.startFeeder();
        auto supervisor = good(SupervisorLedger::open(run.paths.tracker()));
        QTRY_VERIFY_WITH_TIMEOUT(!good(supervisor.advance()).gaveUp.empty(), 20'000);
        const std::string why = good(supervisor.advance()).gaveUp;
        for (const char* part :
            { "/train.txt", "\"two\"", "Restore the data", "--bad-files leave_out", "start a new run" })
            QVERIFY2(why.find(part) != std::string::npos, why.c_str());
        run.stopFeeder();
    }

    /// What was prepared lay in the cache, so no server was asked: a second epoch trained the old text without a word.
    void aFileReplacedBetweenTwoAttemptsWasTrainedFromTheCache()
    {
        FakeWeb web;
        auto file = textOf(1200);
        web.put("/train.txt", file);
        Run run(1200, 300, 50, 0.1, 2, web.address("/train.txt"));
        run.startFeeder();
        std::map<std::int64_t, std::map<int, int>> seen;
        QCOMPARE(PlayedWorker(run, 0).work(seen, 24), 24);
        run.stopFeeder();
        file.etag = "\"two\"";
        web.put("/train.txt", file);
        run.beginAttempt();
        run.startFeeder();
        auto supervisor = good(SupervisorLedger::open(run.paths.tracker()));
        QTRY_VERIFY_WITH_TIMEOUT(!good(supervisor.advance()).gaveUp.empty(), 20'000);
        const std::string why = good(supervisor.advance()).gaveUp;
        for (const char* part : { "/train.txt", "\"two\"", "The data changed since the run was made" })
            QVERIFY2(why.find(part) != std::string::npos, why.c_str());
        run.stopFeeder();
    }

    /// The run has the address; what opens it comes from the environment, at the start and at every resume.
    void whatOpensAnAddressIsInNoFileOfTheRun()
    {
        FakeWeb web;
        auto file = textOf(1200);
        file.account = "ann:geheim4711";
        web.put("/train.txt", file);
        const std::string address = web.address("/train.txt");
        std::string whole = address;
        qputenv("FURROW_DATA_SECRET", QByteArray::fromStdString(whole.replace(7, 0, "ann:geheim4711@")));
        Run run(1200, 300, 50, 0.1, 1, address);
        QVERIFY(good(readFile(run.paths.configFile())).find("geheim") == std::string::npos);
        qunsetenv("FURROW_DATA_SECRET");
        run.startFeeder();
        QTRY_VERIFY2_WITH_TIMEOUT(
            doing(run).find("FURROW_DATA_SECRET") != std::string::npos, doing(run).c_str(), 20'000);
        run.stopFeeder();
        qputenv("FURROW_DATA_SECRET", QByteArray::fromStdString(whole));
        ProcessOptions options;
        options.withSecrets = true; // as the supervisor starts it
        options.arguments = { "feed", utf8Text(run.paths.folder()) };
        options.outputFile = run.file("feeder.log");
        run.feeder.emplace(good(ChildProcess::start(executablePath().parent_path() / "furrowctl", options)));
        std::map<std::int64_t, std::map<int, int>> seen;
        QCOMPARE(PlayedWorker(run, 0).work(seen), 24);
        run.stopFeeder();
        for (const auto& entry : std::filesystem::recursive_directory_iterator(run.paths.folder()))
            if (entry.is_regular_file())
                QVERIFY2(good(readFile(entry.path())).find("geheim4711") == std::string::npos, entry.path().c_str());
        QVERIFY(good(readFile(run.file("feeder.log"))).find("geheim4711") == std::string::npos);
    }
};

QTEST_GUILESS_MAIN(TestWebSource)
#include "tst_web_source.moc"
