#include "core/base/file_system.h"
#include "core/base/hash.h"
#include "core/base/lock_holder.h"
#include "core/data/cache_verification.h"
#include "core/data/hub/fetch_turn.h"
#include "core/data/hub/hub_files.h"
#include "core/data/hub/hub_pieces.h"
#include "core/data/hub/hub_progress.h"
#include "core/data/hub/transfers.h"
#include "core/data/plan/each_row.h"
#include "core/data/plan/passed_over.h"
#include "core/data/source/parquet_rows.h"
#include "data_fixture.h"
#include "fake_hub.h"
#include "tests/must_have.h"
#include "tests/fakes/archives.h"

#include <QProcess>
#include <QtTest>
#include <atomic>
#include <cstring>
#include <mutex>
#include <numeric>
#include <signal.h>
#include <thread>

using namespace furrow;
using test::DataFolder;
using test::FakeHub;
using test::HubFault;

namespace {

std::string jsonLines(int from, int to)
{
    std::string text;
    for (int i = from; i < to; ++i)
        text += "{\"text\":\"row " + std::to_string(i) + "\"}\n";
    return text;
}

std::vector<std::string> numbered(int from, int to)
{
    std::vector<std::string> rows;
    for (int i = from; i < to; ++i)
        rows.push_back("row " + std::to_string(i));
    return rows;
}

/// Every request of the process goes to the fake; waits are noted, not slept.
class Session {
public:
    explicit Session(const FakeHub& hub, const std::string& token = {}, bool offline = false, int transfers = 1)
    {
        HubSettings settings;
        settings.endpoint = hub.endpoint();
        settings.token = Secret(token);
        settings.offline = offline;
        RetryPolicy retry;
        retry.wait = [this](double seconds, const std::string& reason) {
            waits.push_back(seconds);
            why = reason;
            waitedElsewhere = waitedElsewhere || std::this_thread::get_id() != thread;
            return !givesUp;
        };
        client = std::make_shared<HubClient>(settings, [] { return curlTransport({ 5, 1 }); }, transfers, retry);
        setSharedHubClient(client);
    }
    ~Session() { setSharedHubClient(nullptr); }

    std::shared_ptr<HubClient> client;
    double waitedSeconds() const { return std::accumulate(waits.begin(), waits.end(), 0.0); }

    std::vector<double> waits;
    std::string why; ///< of the last one
    bool givesUp = false; ///< at the next wait
    bool waitedElsewhere = false; ///< on another thread than the one that asked
    const std::thread::id thread = std::this_thread::get_id();
};

/// All of a file by several transfers, put together.
Result<std::string> readInParts(HubClient& client, const HubFile& file, std::uint64_t partBytes)
{
    std::vector<ByteRange> parts;
    for (std::uint64_t at = 0; at < file.sizeBytes; at += partBytes)
        parts.push_back({ at, std::min(partBytes, file.sizeBytes - at) });
    std::vector<std::string> came(parts.size());
    const auto status
        = client.readParts("o/n", std::string(40, 'a'), file, parts, [&](std::size_t part, std::string_view bytes) {
              came[part].append(bytes);
              return true;
          });
    if (!status.ok())
        return status.error();
    std::string all;
    for (const auto& part : came)
        all += part;
    return all;
}

/// Answers 429 to the first request, and says how many it got while that one's wait was on.
class BusyAtFirst : public HttpTransport {
public:
    struct Seen {
        std::mutex mutex;
        bool isBusy = true;
        std::atomic<bool> isWaiting { false };
        std::atomic<int> whileWaiting { 0 };
        std::atomic<int> moved { 0 };
    };
    explicit BusyAtFirst(Seen& seen)
        : seen_(seen)
    {
    }
    Result<HttpResponse> send(const HttpRequest& request, const BodySink& sink) override
    {
        const std::lock_guard guard(seen_.mutex);
        seen_.whileWaiting += seen_.isWaiting ? 1 : 0;
        if (std::exchange(seen_.isBusy, false))
            return HttpResponse { 429, { { "retry-after", "30" } }, {} };
        const HttpResponse head { 206, {}, {} };
        seen_.moved += sink(head, std::string(request.range->sizeBytes, 'x')) ? 1 : 0;
        return head;
    }

private:
    Seen& seen_;
};

/// Its first connection leads to a server that is ill.
class IllAtFirst : public HttpTransport {
public:
    Result<HttpResponse> send(const HttpRequest&, const BodySink&) override
    {
        return isIll_ ? HttpResponse { 503, {}, {} } : HttpResponse { 200, {}, "well" };
    }
    void dropConnections() override { isIll_ = false; }

private:
    bool isIll_ = true;
};

/// Answers every question with one file and a link to another page.
class EndlessList : public HttpTransport {
public:
    /// @param loops  after how many pages the links lead back to the first; 0: never
    EndlessList(int filesInPage, int loops)
        : filesInPage_(filesInPage)
        , loops_(loops)
    {
    }
    Result<HttpResponse> send(const HttpRequest&, const BodySink&) override
    {
        HttpResponse response;
        response.status = 200;
        response.body = "[";
        for (int i = 0; i < filesInPage_; ++i)
            response.body += std::string(i == 0 ? "" : ",") + R"({"type":"file","path":"a.txt","size":1})";
        response.body += "]";
        const int next = ++asked_;
        response.headers["link"]
            = "</list?cursor=" + std::to_string(loops_ > 0 ? next % loops_ : next) + ">; rel=\"next\"";
        return response;
    }

private:
    int filesInPage_;
    int loops_;
    int asked_ = 0;
};

Error errorOfList(int filesInPage, int loops)
{
    HubSettings settings;
    settings.endpoint = "http://127.0.0.1:1";
    HubClient client(settings, std::make_unique<EndlessList>(filesInPage, loops));
    const auto files = client.tree("o/n", std::string(40, 'a'));
    return files.ok() ? Error { ErrorCode::Internal, "the list ended" } : files.error();
}

FakeHub::Repository exampleRepository()
{
    FakeHub::Repository repository;
    repository.files["README.md"]
        = "---\nlicense: mit\nconfigs:\n- config_name: en\n  data_files:\n  - split: train\n    path: en/train-*.json.gz\n  - split: validation\n    path: en/valid.json.gz\n"
          "- config_name: \"small\"\n  default: true\n  data_files:\n  - split: train\n    path:\n    - small/a.txt\n    - small/b.txt\n---\n# About\n";
    repository.small.insert("README.md");
    repository.files["en/train-2.json.gz"] = test::gzip(jsonLines(1000, 3000));
    repository.files["en/train-10.json.gz"] = test::gzip(jsonLines(3000, 5000));
    repository.files["en/train-1.json.gz"] = test::gzip(jsonLines(0, 1000));
    repository.files["en/valid.json.gz"] = test::gzip(jsonLines(9000, 9100));
    repository.files["small/a.txt"] = test::indexedLines(60);
    repository.files["small/b.txt"] = test::indexedLines(40);
    repository.files["../outside.txt"] = "no\n";
    repository.files["small/../../outside.txt"] = "no\n";
    return repository;
}

/// A Parquet file of 3,000 rows in small row groups, written by pyarrow; empty where that is missing.
std::string parquet(const DataFolder& folder, const char* columns, int groupRows = 300)
{
    QProcess where;
    where.start(FURROW_SOURCE_DIR "/packaging/pyenv-path.sh", {});
    if (!where.waitForFinished() || where.exitCode() != 0)
        return {};
    const QString python
        = QString::fromLocal8Bit(where.readAllStandardOutput()).trimmed() + QStringLiteral("/bin/python");
    const auto path = utf8Text(folder.path("made.parquet"));
    const QString program = QStringLiteral(
        "import pyarrow as pa, pyarrow.parquet as pq\n"
        "text = [f'row {i} ' + format(i * 2654435761 % 2**32, '08x') * 20 for i in range(3000)]\n"
        "pq.write_table(pa.table({%1}), '%2', row_group_size=%3, compression='none', use_dictionary=False)\n")
                                .arg(QLatin1String(columns), QString::fromStdString(path))
                                .arg(groupRows);
    return QProcess::execute(python, { QStringLiteral("-c"), program }) == 0 ? readFile(pathFromUtf8(path)).value()
                                                                             : std::string();
}

} // namespace

class TestHub : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void init() { qputenv("HF_HOME", "/nonexistent"); }

    void filesInsideArchivesOfTheHubAreRead_data()
    {
        QTest::addColumn<QByteArray>("name");
        QTest::addColumn<QByteArray>("bytes");
        QTest::newRow("zip") << QByteArray("data.zip")
                             << QByteArray::fromStdString(test::zipArchive({ { "a.jsonl", jsonLines(0, 500) },
                                    { "notes.md", "no\n" }, { "sub/b.jsonl", jsonLines(500, 900) } }));
        const std::string tar = test::tarEntry("a.jsonl", jsonLines(0, 500))
            + test::tarEntry("sub/b.jsonl", jsonLines(500, 900)) + test::tarEnd();
        QTest::newRow("tar") << QByteArray("data.tar") << QByteArray::fromStdString(tar);
        QTest::newRow("tar.gz") << QByteArray("data.tar.gz") << QByteArray::fromStdString(test::gzip(tar));
    }
    void filesInsideArchivesOfTheHubAreRead()
    {
        QFETCH(QByteArray, name);
        QFETCH(QByteArray, bytes);
        const DataFolder folder;
        FakeHub hub;
        FakeHub::Repository repository;
        repository.files["README.md"] = "# About\n";
        repository.files[name.toStdString()] = bytes.toStdString();
        hub.add("o/n", repository);
        Session session(hub);
        const KeepHubPieces kept(folder.path("cache"), 1); // as making a run does
        const auto rows = test::readAll(test::configFor({ "hf://o/n" }), folder.path("cache"), 200);
        QVERIFY2(rows.ok(), rows.ok() ? "" : rows.error().message.c_str());
        QCOMPARE(rows.value(), numbered(0, 900));
        QVERIFY2(hub.storeBytes() <= std::uint64_t(1.02 * static_cast<double>(bytes.size())),
            qPrintable(QString::number(hub.storeBytes())));
        repository.files["train.txt"] = "row 0\n"; // beside data an archive mostly holds the same once more
        hub.add("o/both", repository);
        QCOMPARE(
            test::readAll(test::configFor({ "hf://o/both" }), folder.path("cache")).value().size(), std::size_t(1));
    }

    void readsAddresses_data()
    {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("repository");
        QTest::addColumn<QString>("config");
        QTest::addColumn<QString>("split");
        QTest::addColumn<QString>("revision");
        QTest::newRow("plain") << "hf://a/b" << "a/b" << "" << "" << "main";
        QTest::newRow("all") << "hf://a/b-c.d:e:f@refs/convert/parquet" << "a/b-c.d" << "e" << "f"
                             << "refs/convert/parquet";
        QTest::newRow("wikitext") << "hf://wikitext:wikitext-2-raw-v1:train" << "Salesforce/wikitext"
                                  << "wikitext-2-raw-v1" << "train" << "main";
        QTest::newRow("c4") << "hf://c4:en:train" << "allenai/c4" << "en" << "train" << "main";
        for (const char* bad : { "http://a/b", "hf://", "hf://a/b/c", "hf://../b", "hf://a/..", "hf://a b/c",
                 "hf://a/b:c:d:e", "hf://a/b@", "hf://a/b@../x", "hf://a/b?x" })
            QTest::newRow(bad) << bad << "" << "" << "" << "";
    }
    void readsAddresses()
    {
        QFETCH(QString, text);
        QFETCH(QString, repository);
        QFETCH(QString, config);
        QFETCH(QString, split);
        QFETCH(QString, revision);
        auto spec = parseHubSpec(text.toStdString());
        QCOMPARE(spec.ok(), !repository.isEmpty());
        if (spec.ok())
            QCOMPARE(spec.value(),
                (HubSpec {
                    repository.toStdString(), config.toStdString(), split.toStdString(), revision.toStdString() }));
        else
            QVERIFY(spec.error().message.find("hf://owner/name") != std::string::npos);
    }
    void takesAddressesApart()
    {
        QCOMPARE(originOf("HTTPS://User:pw@Host:8/p?q"), std::string("https://host:8"));
        QCOMPARE(originOf("file:///etc"), std::string());
        QCOMPARE(printableUrl("https://u:secret@h/a/b?signature=x#y"), std::string("https://h/a/b"));
        QCOMPARE(printableUrl("https://u:p@ss@h/a"), std::string("https://h/a"));
        QCOMPARE(resolveUrl("https://h/a", "https://u:pw@h/c"), std::string("https://h/c"));
        QCOMPARE(resolveUrl("https://h/a/b?x", "/c"), std::string("https://h/c"));
        QCOMPARE(resolveUrl("https://h/a/b?x", "c"), std::string("https://h/a/c"));
        QCOMPARE(resolveUrl("https://h/a", "https://i/c"), std::string("https://i/c"));
        QCOMPARE(resolveUrl("https://h/a", "//i/c"), std::string("https://i/c"));
        QCOMPARE(encodePath("a b/\xc3\xa9?"), std::string("a%20b/%C3%A9%3F"));
        HttpResponse response;
        QCOMPARE(requestedWait(response), -1.0);
        response.headers["ratelimit"] = "\"api\";r=0;t=42";
        QCOMPARE(requestedWait(response), 42.0);
        response.headers["retry-after"] = "50";
        QCOMPARE(requestedWait(response), 50.0);
    }
    void aListWhoseLinksLoopIsAnErrorThatNamesIt()
    {
        const auto error = errorOfList(1, 3);
        QCOMPARE(error.code, ErrorCode::Network);
        QVERIFY2(error.message.find("hf://o/n") != std::string::npos
                && error.message.find("leads back") != std::string::npos,
            error.message.c_str());
    }
    void aListThatNeverEndsIsBounded()
    {
        for (const int filesInPage : { 0, 1000 }) {
            const auto error = errorOfList(filesInPage, 0);
            QCOMPARE(error.code, ErrorCode::Network);
            QVERIFY2(error.message.find("does not end") != std::string::npos, error.message.c_str());
        }
    }
    void theEndpointsPasswordIsSentAndNeverPrinted()
    {
        qputenv("HF_ENDPOINT", "http://ann:ge%40heim-word@127.0.0.1:9/hub/");
        const auto settings = HubSettings::fromEnvironment();
        qunsetenv("HF_ENDPOINT");
        QCOMPARE(settings.endpoint, std::string("http://127.0.0.1:9/hub"));
        QCOMPARE(settings.account.reveal(), std::string("ann:ge%40heim-word"));
        FakeHub hub;
        hub.add("o/n", exampleRepository());
        hub.requireAccount("ann", "ge@heim-word");
        HubSettings right;
        right.endpoint = hub.endpoint();
        right.account = settings.account;
        right.token = Secret("hf_not_for_a_mirror_behind_a_password");
        HubClient client(right, curlTransport({ 5, 1 }));
        const auto revision = client.resolveRevision("o/n", "main");
        QVERIFY2(revision.ok(), revision.ok() ? "" : revision.error().message.c_str());
        QVERIFY(client.tree("o/n", revision.value()).ok());
        for (const char* code : { "gated", "none" }) {
            const auto refused = client.resolveRevision(std::string("o/") + code, "main");
            QVERIFY(!refused.ok());
            QVERIFY2(refused.error().message.find("heim") == std::string::npos, refused.error().message.c_str());
        }
    }
    /// What stood behind a line break in HF_TOKEN went into the request as headers of its own.
    void aTokenWithALineBreakBecameHeaders()
    {
        qputenv("HF_TOKEN", "hf_first_line_of_it\r\nX-Planted: 1\n");
        const auto settings = HubSettings::fromEnvironment();
        qunsetenv("HF_TOKEN");
        QCOMPARE(settings.token.reveal(), std::string("hf_first_line_of_it"));
        FakeHub hub;
        hub.add("o/n", exampleRepository());
        const auto transport = curlTransport({ 5, 1 });
        HttpRequest request;
        request.url = hub.endpoint() + "/api/datasets/o/n/revision/main";
        QVERIFY(transport->send(request, {}).ok());
        auto planted = request;
        planted.bearer = Secret("hf_first_line_of_it\r\nX-Planted: 1");
        auto inHeader = request;
        inHeader.headers = { "x-amz-security-token: session\nX-Planted: 1" };
        for (const auto& one : { planted, inHeader }) {
            const auto answer = transport->send(one, {});
            QVERIFY(!answer.ok());
            QCOMPARE(answer.error().code, ErrorCode::NotFound);
            QVERIFY(answer.error().message.find(printableUrl(one.url)) != std::string::npos);
            QVERIFY(answer.error().message.find("Planted") == std::string::npos);
        }
    }
    void choosesFilesByFoldersWithoutMetadata()
    {
        const std::vector<HubFile> tree { { "data/train-0.parquet", 5, "", "" }, { "data/test-0.parquet", 5, "", "" },
            { "README.md", 5, "", "" }, { "dataset_infos.json", 5, "", "" } };
        HubSpec spec;
        spec.repository = "a/b";
        auto train = chooseHubFiles(spec, tree, "");
        QVERIFY(train.ok());
        QCOMPARE(train.value().files.size(), std::size_t { 1 });
        QCOMPARE(train.value().split, std::string("train"));
        spec.config = "test"; // hf://a/b:test where there is one config
        auto split = chooseHubFiles(spec, tree, "");
        QVERIFY(split.ok());
        QCOMPARE(split.value().files.front().path, std::string("data/test-0.parquet"));
        spec.config = "other";
        QVERIFY(chooseHubFiles(spec, tree, "").error().message.find("default") != std::string::npos);
        QVERIFY(chooseHubFiles(spec, { { "model.bin", 5, "", "" } }, "").error().message.find("no file with text")
            != std::string::npos);
        spec.config.clear();
        const std::vector<HubFile> two { { "de/a.txt", 5, "", "" }, { "fr/a.txt", 5, "", "" } };
        QVERIFY(chooseHubFiles(spec, two, "").error().message.find("de, fr") != std::string::npos);
    }
    /// A list of paths on one line was not read: the run trained the test split, and nobody said which it was.
    void pathsInAListOnOneLineWereNotRead()
    {
        const std::vector<HubFile> tree { { "a.jsonl", 5, "", "" }, { "b.jsonl", 5, "", "" }, { "c.jsonl", 5, "", "" },
            { "d.json", 5, "", "" }, { "e.json", 5, "", "" } };
        HubSpec spec;
        spec.repository = "a/b";
        for (const char* paths :
            { "[a.jsonl, \"b.jsonl\", d.json]", "[\n      a.jsonl,\n      b.jsonl,\n      d.json\n    ]" }) {
            const std::string readme
                = "---\nconfigs:\n- config_name: default\n  data_files:\n  - split: train\n    path: "
                + std::string(paths) + "\n  - split: test\n    path: c.jsonl\n---\n";
            const auto choice = chooseHubFiles(spec, tree, readme);
            QVERIFY2(choice.ok(), choice.ok() ? "" : choice.error().message.c_str());
            QCOMPARE(choice.value().split, std::string("train"));
            QStringList names;
            for (const auto& file : choice.value().files)
                names += QString::fromStdString(file.path);
            QCOMPARE(names, QStringList({ "a.jsonl", "b.jsonl", "d.json" }));
            QCOMPARE(choice.value().skipped.size(), std::size_t(1));
            QVERIFY(choice.value().skipped.front().find("e.json") != std::string::npos);
        }
    }
    void trainsFromTheHubOncePerMachine()
    {
        FakeHub hub;
        hub.add("o/n", exampleRepository());
        Session session(hub);
        DataFolder folder;
        auto config = test::configFor({ "hf://o/n:en:train" });
        config.chunkSamples = 100;
        auto inspection = inspectData(config);
        QVERIFY2(inspection.ok(), inspection.ok() ? "" : inspection.error().message.c_str());
        QCOMPARE(inspection.value().files, 3);
        QVERIFY(!inspection.value().rowsExact);
        QVERIFY(inspection.value().manifest.find(std::string(40, 'a')) != std::string::npos);
        QVERIFY(inspection.value().manifest.find("SECRET") == std::string::npos);
        const auto before = hub.storeBytes();
        std::uint64_t size = inspection.value().bytes;
        for (int worker = 0; worker < 4; ++worker) { // one cache, several processes' worth of managers
            auto texts = test::readAll(config, folder.path("cache"), 700);
            QVERIFY2(texts.ok(), texts.ok() ? "" : texts.error().message.c_str());
            QCOMPARE(texts.value(), numbered(0, 5000));
        }
        // looking at the data reads heads; preparing reads each file once
        const auto heads = before * 4;
        QVERIFY2(hub.storeBytes() - before <= size + size / 50 + heads, std::to_string(hub.storeBytes()).c_str());
        QVERIFY(!hub.storeSawToken());
    }
    void listsConfigsAndSplitsThatExist()
    {
        FakeHub hub;
        hub.add("o/n", exampleRepository());
        Session session(hub);
        auto config = test::configFor({ "hf://o/n:fr" });
        QVERIFY(inspectData(config).error().message.find("en, small") != std::string::npos);
        config.data = { "hf://o/n:en:test" };
        QVERIFY(inspectData(config).error().message.find("train, validation") != std::string::npos);
        config.data = { "hf://o/n" }; // the default config, a list of paths
        auto inspection = inspectData(config);
        QVERIFY2(inspection.ok(), inspection.ok() ? "" : inspection.error().message.c_str());
        QCOMPARE(inspection.value().files, 2);
        QVERIFY(inspection.value().reading.front().find("config 'small', split 'train'") != std::string::npos);
        DataFolder folder;
        auto texts = test::readAll(config, folder.path("cache"), 30);
        QVERIFY(texts.ok());
        QCOMPARE(texts.value().size(), std::size_t { 100 });
    }
    void healsFaultsOfTheStore_data()
    {
        QTest::addColumn<int>("fault");
        const std::pair<const char*, HubFault> all[] = { { "429", HubFault::TooMany }, { "500", HubFault::ServerError },
            { "cut body", HubFault::Cut }, { "stall", HubFault::Stall }, { "200 for a part", HubFault::WholeFile },
            { "other part", HubFault::OtherPart }, { "expired", HubFault::Expired } };
        for (const auto& [name, fault] : all)
            QTest::newRow(name) << static_cast<int>(fault);
    }
    void healsFaultsOfTheStore()
    {
        QFETCH(int, fault);
        FakeHub hub;
        FakeHub::Repository repository;
        repository.files["a.txt"] = test::indexedLines(200'000);
        const std::string bytes = repository.files["a.txt"];
        hub.add("o/n", repository);
        Session session(hub, "hf_token");
        const HubFile file { "a.txt", bytes.size(), sha256Hex(bytes), "" };
        std::string read;
        hub.fail({ HubFault::Cut, static_cast<HubFault>(fault), static_cast<HubFault>(fault) });
        const auto status = session.client->read(
            "o/n", std::string(40, 'a'), file, { 1000, bytes.size() - 2000 }, [&](std::string_view piece) {
                read.append(piece);
                return true;
            });
        QVERIFY2(status.ok(), status.ok() ? "" : status.error().message.c_str());
        QVERIFY(read == bytes.substr(1000, bytes.size() - 2000));
        QVERIFY(!hub.pendingFaults());
        QVERIFY(!hub.storeSawToken());
        if (static_cast<HubFault>(fault) == HubFault::TooMany)
            QVERIFY(std::find(session.waits.begin(), session.waits.end(), 7.0) != session.waits.end());
    }
    /// A download that had stood still for 30 s was said to go on at the mean speed since it began.
    void theSpeedOfAStalledDownloadWasThatOfItsBeginning()
    {
        RecentSpeed speed;
        speed.add(0, 1000);
        for (int i = 1; i <= 100; ++i) // 10 s at 2,000 bytes a second
            speed.add(0.1 * i, 1000 + 200 * static_cast<std::uint64_t>(i));
        QVERIFY(qAbs(speed.bytesPerSecond(10) - 2000) < 100);
        speed.add(11, 121'000); // 100,000 within a second
        QVERIFY(speed.bytesPerSecond(11) > 15'000 && speed.bytesPerSecond(11) < 25'000);
        QVERIFY(speed.bytesPerSecond(13) > 10'000);
        QCOMPARE(speed.bytesPerSecond(16.5), 0.0);
        const HubProgress still { false, "a.txt", {}, 100, 1000, 0, 12.4 };
        QVERIFY2(toString(still).ends_with("no byte for 12 s"), toString(still).c_str());
        QVERIFY(toString(still).find("left") == std::string::npos);
    }
    /// The meter of a run said less than had come: only the last answer of a request counted.
    void bytesOfAnswersThatBrokeOffWereNotCounted()
    {
        FakeHub hub;
        FakeHub::Repository repository;
        repository.files["a.txt"] = test::indexedLines(200'000);
        const std::string bytes = repository.files["a.txt"];
        hub.add("o/n", repository);
        Session session(hub, "hf_token");
        const HubFile file { "a.txt", bytes.size(), sha256Hex(bytes), "" };
        hub.fail({ HubFault::Cut, HubFault::ServerError, HubFault::Cut });
        const auto status = session.client->read(
            "o/n", std::string(40, 'a'), file, { 0, bytes.size() }, [](std::string_view) { return true; });
        QVERIFY2(status.ok(), status.ok() ? "" : status.error().message.c_str());
        QTRY_COMPARE(hub.storeBytes(), std::uint64_t(bytes.size())); // it counts when it has written
        QCOMPARE(session.client->traffic().bodyBytes, hub.storeBytes());
    }
    void severalTransfersHealFaultsAndFetchNoByteTwice()
    {
        FakeHub hub;
        FakeHub::Repository repository;
        repository.files["a.txt"] = test::indexedLines(500'000);
        const std::string bytes = repository.files["a.txt"];
        hub.add("o/n", repository);
        Session session(hub, "hf_token", false, 4);
        const HubFile file { "a.txt", bytes.size(), sha256Hex(bytes), "" };
        auto read = readInParts(*session.client, file, 300'000);
        QVERIFY2(read.ok(), read.ok() ? "" : read.error().message.c_str());
        QVERIFY(read.value() == bytes);
        QCOMPARE(hub.storeBytes(), std::uint64_t(bytes.size()));
        QVERIFY(session.waits.empty());
        hub.fail({ HubFault::Cut, HubFault::TooMany, HubFault::ServerError, HubFault::Expired, HubFault::OtherPart,
            HubFault::Cut, HubFault::Cut });
        read = readInParts(*session.client, file, 300'000);
        QVERIFY2(read.ok(), read.ok() ? "" : read.error().message.c_str());
        QVERIFY(read.value() == bytes);
        QVERIFY(!hub.pendingFaults());
        QVERIFY(!hub.storeSawToken());
        QVERIFY(!session.waits.empty());
        QVERIFY(!session.waitedElsewhere); // who counts and shows waits needs no lock
    }
    /// All tries went over the connection that had failed.
    void aRetryWentOverTheConnectionThatHadFailed()
    {
        RetryPolicy retry;
        retry.attempts = 4;
        retry.wait = [](double, const Message&) { return true; };
        HubClient client(HubSettings {}, std::make_unique<IllAtFirst>(), retry);
        const auto read = client.readSmall("o/n", std::string(40, 'a'), "README.md");
        QVERIFY2(read.ok(), read.ok() ? "" : read.error().message.c_str());
        QCOMPARE(read.value(), std::string("well"));
        std::vector<std::unique_ptr<HttpTransport>> transports;
        transports.push_back(std::make_unique<IllAtFirst>());
        const auto moved = transferParts(
            transports, retry, 1,
            [](std::size_t, const TransferLane& lane, const std::function<bool(std::string_view)>&) -> Status {
                auto response = sendWithRetry(lane.transport, [] { return HttpRequest(); }, {}, lane.retry);
                if (!response.ok())
                    return response.error();
                return response.value().status == 200 ? Status {} : Status(Error { ErrorCode::Network, "ill" });
            },
            [](std::size_t, std::string_view) { return true; });
        QVERIFY2(moved.ok(), moved.ok() ? "" : moved.error().message.c_str());
    }
    void oneTransferThatIsToldToWaitHoldsAll()
    {
        BusyAtFirst::Seen seen;
        RetryPolicy retry;
        std::vector<double> waits;
        retry.wait = [&](double seconds, const std::string&) {
            waits.push_back(seconds);
            seen.isWaiting = true;
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
            seen.isWaiting = false;
            return true;
        };
        std::vector<std::unique_ptr<HttpTransport>> transports;
        for (int i = 0; i < 4; ++i)
            transports.push_back(std::make_unique<BusyAtFirst>(seen));
        const auto move
            = [](std::size_t, const TransferLane& lane, const std::function<bool(std::string_view)>& sink) -> Status {
            HttpRequest request;
            request.range = ByteRange { 0, 10 };
            auto response = sendWithRetry(
                lane.transport, [&request] { return request; },
                [&sink](const HttpResponse&, std::string_view piece) { return sink(piece); }, lane.retry);
            return response.ok() ? Status {} : Status(response.error());
        };
        std::map<std::size_t, std::string> came;
        const auto status = transferParts(transports, retry, 40, move, [&](std::size_t part, std::string_view bytes) {
            came[part] += bytes;
            return true;
        });
        QVERIFY(status.ok());
        QCOMPARE(waits.size(), std::size_t(1));
        QVERIFY(waits.front() > 29 && waits.front() <= 30);
        QVERIFY2(
            seen.whileWaiting <= 3, std::to_string(seen.whileWaiting).c_str()); // what was on its way; parts are 40
        QCOMPARE(seen.moved, 40);
        QCOMPARE(came.size(), std::size_t(40));
    }
    /// What several transfers had brought out of turn was to be fetched again after a stop.
    void aDownloadOverSeveralTransfersGoesOnWhereItWasStopped()
    {
        FakeHub hub;
        FakeHub::Repository repository;
        repository.files["train.txt"] = test::indexedLines(1'000'000);
        const std::uint64_t size = repository.files["train.txt"].size();
        hub.add("o/n", repository);
        Session session(hub, "", false, 4);
        DataFolder folder;
        const auto config = test::configFor({ "hf://o/n" });
        auto inspection = inspectData(config);
        QVERIFY2(inspection.ok(), inspection.ok() ? "" : inspection.error().message.c_str());
        const auto looked = hub.storeBytes();
        auto manager
            = BlockManager::open(config, inspection.value().manifest, 1'000'000, folder.path("cache"), byteTokenizer());
        QVERIFY(manager.ok());
        session.givesUp = true;
        hub.failAtRandom({ HubFault::Cut }, 4, 5);
        constexpr std::uint64_t kSpeed = 2'000'000; // of each transfer; a tenth of it is sent at a time
        hub.setSpeed(kSpeed);
        int stops = 0;
        auto blocks = test::planAll(manager.value());
        for (; !blocks.ok() && stops < 100; ++stops)
            blocks = test::planAll(manager.value());
        QVERIFY2(blocks.ok(), blocks.ok() ? "" : blocks.error().message.c_str());
        QVERIFY2(stops > 0, "no transfer was cut");
        const auto fetched = hub.storeBytes() - looked;
        // a stop costs what the server had sent and nobody had taken yet
        const auto most = size + static_cast<std::uint64_t>(stops) * 4 * kSpeed / 10;
        QVERIFY2(fetched >= size && fetched <= most,
            (std::to_string(fetched) + " of " + std::to_string(size) + " with stops " + std::to_string(stops)).c_str());
    }
    void refusesWrongBytes()
    {
        FakeHub hub;
        hub.add("o/n", exampleRepository());
        Session session(hub);
        DataFolder folder;
        auto config = test::configFor({ "hf://o/n:small:train" });
        auto manager = test::openManager(config, folder.path("cache"), 10);
        QVERIFY(manager.ok());
        hub.fail({ HubFault::WrongBytes });
        auto damaged = manager.value().planNext();
        QVERIFY(!damaged.ok());
        QCOMPARE(damaged.error().code, ErrorCode::Network); // on its way: no damage of the file
        auto healed = manager.value().planNext(); // the same call again
        QVERIFY2(healed.ok(), healed.ok() ? "" : healed.error().message.c_str());
    }
    /// A wrong piece that was kept from looking at the data was joined to each later download, and every try failed.
    void aWrongPieceIsNotKeptForTheNextTry()
    {
        FakeHub hub;
        hub.add("o/n", exampleRepository());
        Session session(hub);
        DataFolder folder;
        const auto config = test::configFor({ "hf://o/n:small:train" });
        std::string manifest;
        {
            const KeepHubPieces kept(folder.path("cache"), 1);
            hub.fail({ HubFault::WrongBytes });
            auto inspection = inspectData(config);
            QVERIFY2(inspection.ok(), inspection.ok() ? "" : inspection.error().message.c_str());
            QVERIFY(!hub.pendingFaults());
            manifest = inspection.value().manifest;
        }
        auto manager = BlockManager::open(config, manifest, 10, folder.path("cache"), byteTokenizer());
        QVERIFY(manager.ok());
        auto wrong = manager.value().planNext();
        QVERIFY(!wrong.ok());
        QCOMPARE(wrong.error().code, ErrorCode::Network); // on its way: no damage of the file
        auto blocks = test::planAll(manager.value());
        QVERIFY2(blocks.ok(), blocks.ok() ? "" : blocks.error().message.c_str());
        QCOMPARE(blocks.value().size(), std::size_t { 10 });
    }
    /// A wrong piece that had gone into the growing file before a kill was forgotten by nobody, and taken once more.
    void aWrongPieceOutlivedTheFileThatItHadGoneInto()
    {
        FakeHub hub;
        FakeHub::Repository repository;
        repository.files["train.txt"] = test::indexedLines(400'000);
        hub.add("o/n", repository);
        Session session(hub);
        DataFolder folder;
        const auto config = test::configFor({ "hf://o/n" });
        std::string manifest;
        {
            const KeepHubPieces kept(folder.path("cache"), 1);
            hub.fail({ HubFault::WrongBytes });
            const auto inspection = inspectData(config);
            QVERIFY2(inspection.ok(), inspection.ok() ? "" : inspection.error().message.c_str());
            QVERIFY(!hub.pendingFaults());
            manifest = inspection.value().manifest;
        }
        const auto open
            = [&] { return BlockManager::open(config, manifest, 1000, folder.path("cache"), byteTokenizer()).value(); };
        session.givesUp = true;
        hub.fail({ HubFault::ServerError });
        QVERIFY(!open().planNext().ok()); // as after a kill: the piece is in the part
        session.givesUp = false;
        auto manager = open();
        const auto wrong = manager.planNext();
        QVERIFY(!wrong.ok());
        QCOMPARE(wrong.error().code, ErrorCode::Network); // on its way: no damage of the file
        const auto healed = manager.planNext();
        QVERIFY2(healed.ok(), healed.ok() ? "" : healed.error().message.c_str());
    }
    /// Packed text that came wrong while it was looked at was kept, and no later look could read the file.
    void aWrongPieceOfAFirstLookWasLookedAtForEver()
    {
        FakeHub hub;
        FakeHub::Repository repository;
        repository.files["train.txt.gz"] = test::gzip(test::indexedLines(1000));
        hub.add("o/n", repository);
        Session session(hub);
        DataFolder folder;
        const KeepHubPieces kept(folder.path("cache"), 1);
        hub.fail({ HubFault::WrongBytes });
        const auto inspection = inspectData(test::configFor({ "hf://o/n" }));
        QVERIFY2(inspection.ok(), inspection.ok() ? "" : inspection.error().message.c_str());
        QVERIFY(!hub.pendingFaults());
        std::int64_t rows = 0;
        const auto status
            = forEachText(test::configFor({ "hf://o/n" }), inspection.value().manifest, [&rows](std::string_view) {
                  ++rows;
                  return Result<bool>(true);
              });
        QVERIFY2(status.ok(), status.ok() ? "" : status.error().message.c_str());
        QCOMPARE(rows, std::int64_t(1000));
    }
    /// A second damaged page of a column was never asked for anew, or would have brought all of the column again.
    void eachPageThatLooksDamagedComesAnewOnce()
    {
        const DataFolder folder;
        const auto pieces = std::make_shared<HubPieces>(folder.path("cache"), 1 << 20);
        const HubFile file { "train.parquet", 5000, std::string(64, 'a'), "" };
        const ByteRange column { 100, 1000 };
        const auto comes = [&](const ByteRange& page) {
            const auto anew = pieces->toComeAnew(file, column, page);
            return std::pair(anew.offset, anew.sizeBytes);
        };
        const std::pair<std::uint64_t, std::uint64_t> whole { 100, 1000 }, nothing {}, second { 100, 50 },
            third { 400, 50 };
        {
            const FetchAnewOnce once(pieces);
            QVERIFY(comes({ 300, 50 }) == whole);
            QVERIFY(comes({ 300, 50 }) == nothing); // it came with the column
            QVERIFY(comes({ 100, 50 }) == second); // the page that begins where the column does
            QVERIFY(comes({ 400, 50 }) == third);
            QVERIFY(comes({ 100, 50 }) == nothing);
        }
        QVERIFY(comes({ 300, 50 }) == whole);
        QVERIFY(comes({ 300, 50 }) == whole); // nobody looks for all the damage
    }
    /// Damage of a local file was left out; that of a file of the hub kept a run from being made.
    void aFileOfTheHubThatIsCutOffKeptARunFromBeingMade()
    {
        FakeHub hub;
        FakeHub::Repository repository;
        auto& cut = repository.files["train-0.txt.gz"];
        cut = test::gzip(test::indexedLines(400'000));
        cut.resize(cut.size() * 7 / 8);
        repository.files["train-1.txt.gz"] = test::gzip("the last row\n");
        hub.add("o/n", repository);
        Session session(hub);
        DataFolder folder;
        const KeepHubPieces kept(folder.path("cache"), 1);
        auto config = test::configFor({ "hf://o/n" });
        config.badFiles = BadFiles::LeaveOut;
        const auto inspection = inspectData(config);
        QVERIFY2(inspection.ok(), inspection.ok() ? "" : inspection.error().message.c_str());
        std::vector<std::string> rows;
        const PassedOver passed;
        const auto before = hub.storeBytes();
        const auto walk = forEachText(config, inspection.value().manifest, [&rows](std::string_view text) {
            rows.emplace_back(text);
            return Result<bool>(true);
        });
        QVERIFY2(walk.ok(), walk.ok() ? "" : walk.error().message.c_str());
        QVERIFY2(rows.size() > 200'000 && rows.size() < 400'000, std::to_string(rows.size()).c_str());
        QCOMPARE(rows.back(), std::string("the last row"));
        rows.pop_back();
        for (std::size_t i = 0; i < rows.size(); ++i)
            QCOMPARE(rows[i], "row " + std::to_string(i)); // none twice, though it was read twice
        std::vector<Message> said;
        passed.addTo(said);
        QCOMPARE(said.size(), std::size_t(1));
        QVERIFY2(said.front().find("train-0.txt.gz") != std::string::npos, said.front().c_str());
        QVERIFY2(hub.storeBytes() - before >= cut.size() && hub.storeBytes() - before < 3 * cut.size(),
            std::to_string(hub.storeBytes() - before).c_str()); // asked for anew, once
    }
    /// Wrong bytes came for a range, and eight rows were trained as something else.
    void parquetThatIsNearlyAllTextIsCheckedBeforeARowOfItIsTrained()
    {
        DataFolder folder;
        FakeHub hub;
        FakeHub::Repository repository;
        repository.files["train.parquet"] = parquet(folder, "'text': text");
        SKIP_WITHOUT("python", !repository.files["train.parquet"].empty(),
            "The private Python environment is missing; run packaging/setup.sh.");
        hub.add("o/n", repository);
        Session session(hub);
        auto manager = test::openManager(test::configFor({ "hf://o/n" }), folder.path("cache"), 500);
        QVERIFY2(manager.ok(), manager.ok() ? "" : manager.error().message.c_str());
        hub.fail({ HubFault::WrongBytes });
        auto wrong = manager.value().planNext();
        QVERIFY(!wrong.ok());
        QVERIFY2(wrong.error().message.find("SHA-256") != std::string::npos, wrong.error().message.c_str());
        auto blocks = test::planAll(manager.value());
        QVERIFY2(blocks.ok(), blocks.ok() ? "" : blocks.error().message.c_str());
        const auto fetched = hub.storeBytes();
        for (auto block = blocks.value().rbegin(); block != blocks.value().rend(); ++block)
            QVERIFY(manager.value().prepare(*block).ok());
        QCOMPARE(hub.storeBytes(), fetched); // any order costs nothing more
        const auto compared = manager.value().comparedFiles();
        QCOMPARE(compared.files, std::int64_t(1));
        QCOMPARE(compared.compared, std::set<std::int32_t> { 0 });
        QVERIFY(compared.never.empty() && compared.notYet() == 0);

        auto small = test::configFor({ "hf://o/n" });
        small.cacheGiB = 0.001; // a quarter of it is less than the file
        const auto inspection = inspectData(small);
        QVERIFY2(inspection.ok(), inspection.ok() ? "" : inspection.error().message.c_str());
        QCOMPARE(inspection.value().warnings.size(), std::size_t(1));
        QVERIFY2(inspection.value().warnings.front().find("quarter of the cache") != std::string::npos,
            inspection.value().warnings.front().c_str());
    }
    void parquetOfWhichALittleIsNeededIsReadByRangesAndThatIsSaid()
    {
        DataFolder folder;
        FakeHub hub;
        FakeHub::Repository repository;
        repository.files["train.parquet"] = parquet(folder, "'text': text, 'other': [t * 3 for t in text]");
        SKIP_WITHOUT("python", !repository.files["train.parquet"].empty(),
            "The private Python environment is missing; run packaging/setup.sh.");
        hub.add("o/n", repository);
        Session session(hub);
        auto inspection = inspectData(test::configFor({ "hf://o/n" }));
        QVERIFY2(inspection.ok(), inspection.ok() ? "" : inspection.error().message.c_str());
        QCOMPARE(inspection.value().warnings.size(), std::size_t(1));
        QVERIFY2(inspection.value().warnings.front().find("25 % of the files") != std::string::npos,
            inspection.value().warnings.front().c_str());
        auto texts = test::readAll(test::configFor({ "hf://o/n" }), folder.path("cache"), 500);
        QVERIFY(texts.ok());
        QCOMPARE(texts.value().size(), std::size_t(3000));
        auto manager = test::openManager(test::configFor({ "hf://o/n" }), folder.path("cache"), 500);
        QVERIFY(manager.ok());
        const auto compared = manager.value().comparedFiles();
        QVERIFY(compared.compared.empty());
        QCOMPARE(compared.never, std::set<std::int32_t> { 0 });
        QVERIFY2(compared.whyNever.find("columns") != std::string::npos, compared.whyNever.c_str());
    }
    /// What a look at the end of the file had brought of a footer came once more with the rest, and again for whoever
    /// opened the file.
    void aFooterThatIsLargerThanALookAtTheEndIsFetchedOnce()
    {
        DataFolder folder;
        FakeHub hub;
        FakeHub::Repository repository;
        const std::string bytes = parquet(folder, "'text': text, 'other': [t * 3 for t in text]", 10);
        SKIP_WITHOUT("python", !bytes.empty(), "The private Python environment is missing; run packaging/setup.sh.");
        repository.files["train.parquet"] = bytes;
        hub.add("o/n", repository);
        std::uint32_t footer = 0;
        std::memcpy(&footer, bytes.data() + bytes.size() - 8, sizeof footer);
        QVERIFY2(footer > 2 * (bytes.size() - tailOffset(bytes.size())), std::to_string(footer).c_str());
        Session session(hub);
        const auto config = test::configFor({ "hf://o/n" });
        std::string manifest;
        {
            const KeepHubPieces kept(folder.path("cache"), 1);
            auto inspection = inspectData(config);
            QVERIFY2(inspection.ok(), inspection.ok() ? "" : inspection.error().message.c_str());
            manifest = inspection.value().manifest;
        }
        constexpr std::uint64_t kHeads = 4000; // the first bytes of the file, of which nothing is kept
        auto manager = BlockManager::open(config, manifest, 500, folder.path("cache"), byteTokenizer());
        QVERIFY(manager.ok());
        const auto looked = hub.storeBytes();
        const auto blocks = test::planAll(manager.value());
        QVERIFY2(blocks.ok(), blocks.ok() ? "" : blocks.error().message.c_str());
        QVERIFY2(hub.storeBytes() - looked <= kHeads, std::to_string(hub.storeBytes() - looked).c_str());
        for (const auto& block : blocks.value())
            QVERIFY(manager.value().prepare(block).ok());
        DataFile file;
        file.sizeBytes = bytes.size();
        const auto share = parquetShare(memorySource(bytes), file, "text");
        QVERIFY(share.ok());
        const auto column = static_cast<std::uint64_t>(share.value() * static_cast<double>(bytes.size()));
        QVERIFY2(hub.storeBytes() <= footer + column + kHeads,
            (std::to_string(hub.storeBytes()) + " of " + std::to_string(footer + column)).c_str());
    }
    void verifyingTheCacheLooksAtDownloadsToo()
    {
        FakeHub hub;
        hub.add("o/n", exampleRepository());
        Session session(hub);
        DataFolder folder;
        const auto config = test::configFor({ "hf://o/n:small:train" });
        {
            const KeepHubPieces kept(folder.path("cache"), 1);
            QVERIFY(inspectData(config).ok());
        }
        QVERIFY(test::readAll(config, folder.path("cache"), 30).ok());
        auto cache = BlockCache::open(folder.path("cache"), 0).value();
        const auto clean = verifyCache(*cache).value();
        QVERIFY2(clean.damaged.empty(), clean.damaged.empty() ? "" : clean.damaged.front().c_str());
        QVERIFY(clean.downloads >= 2);
        std::int64_t damaged = 0;
        const auto entries = cache->list().value();
        for (const auto& entry : entries) {
            if (entry.folder != kDownloads)
                continue;
            auto bytes = readFile(cache->path(kDownloads, entry.fileName)).value();
            bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
            folder.write("cache/downloads/" + entry.fileName, bytes);
            ++damaged;
        }
        const auto found = verifyCache(*cache).value();
        QCOMPARE(std::ssize(found.damaged), damaged);
        QCOMPARE(verifyCache(*cache).value().downloads, 0); // all are put aside
        QVERIFY(test::readAll(config, folder.path("cache"), 30).ok());
    }
    void givesUpAfterALongOutageAndGoesOnLater()
    {
        FakeHub hub;
        hub.add("o/n", exampleRepository());
        Session session(hub);
        DataFolder folder;
        auto manager = test::openManager(test::configFor({ "hf://o/n:small:train" }), folder.path("cache"), 10);
        QVERIFY(manager.ok());
        hub.fail(std::vector<HubFault>(6, HubFault::ServerError));
        QVERIFY(!manager.value().planNext().ok());
        QVERIFY(!manager.value().unprovenReason().empty());
        auto blocks = test::planAll(manager.value());
        QVERIFY(blocks.ok());
        QCOMPARE(blocks.value().size(), std::size_t { 10 });
    }
    void saysWhyARepositoryCannotBeRead()
    {
        FakeHub hub;
        auto gated = exampleRepository();
        gated.gated = true;
        hub.add("o/gated", gated);
        hub.add("o/n", exampleRepository());
        FakeHub::Repository old;
        old.renamedTo = "o/n";
        hub.add("o/old", old);
        {
            Session session(hub);
            QVERIFY(
                inspectData(test::configFor({ "hf://o/gated" })).error().message.find("gated") != std::string::npos);
            QVERIFY(
                inspectData(test::configFor({ "hf://o/none" })).error().message.find("HF_TOKEN") != std::string::npos);
            QVERIFY(
                inspectData(test::configFor({ "hf://o/n@v9" })).error().message.find("revision") != std::string::npos);
            QVERIFY(inspectData(test::configFor({ "hf://o/old" })).ok());
        }
        {
            hub.requireToken("hf_right");
            Session wrong(hub, "hf_wrong");
            auto refused = inspectData(test::configFor({ "hf://o/n" }));
            QVERIFY(!refused.ok());
            QVERIFY(refused.error().message.find("hf_wrong") == std::string::npos);
            Session right(hub, "hf_right");
            QVERIFY(inspectData(test::configFor({ "hf://o/n" })).ok());
            QVERIFY(!hub.storeSawToken());
        }
        const int asked = hub.apiRequests();
        Session offline(hub, "", true);
        QVERIFY(
            inspectData(test::configFor({ "hf://o/n" })).error().message.find("HF_HUB_OFFLINE") != std::string::npos);
        QCOMPARE(hub.apiRequests(), asked);
    }
    void takesFilesFromAnExistingCache()
    {
        FakeHub hub;
        hub.add("o/n", exampleRepository());
        Session session(hub);
        DataFolder folder;
        const std::string snapshot = "hf/hub/datasets--o--n/snapshots/" + std::string(40, 'a') + "/small/";
        folder.write(snapshot + "a.txt", test::indexedLines(60));
        folder.write(snapshot + "b.txt", test::indexedLines(40));
        qputenv("HF_HOME", QByteArray::fromStdString(utf8Text(folder.path("hf"))));
        auto texts = test::readAll(test::configFor({ "hf://o/n:small" }), folder.path("cache"), 30);
        QVERIFY(texts.ok());
        QCOMPARE(texts.value().size(), std::size_t { 100 });
        QCOMPARE(hub.storeRequests(), 0);
    }
    /// A file of the right size in the cache of other programs was trained whatever was in it.
    void anotherProgramsCopyWithOtherBytesIsNotTrained()
    {
        FakeHub hub;
        hub.add("o/n", exampleRepository());
        Session session(hub);
        DataFolder folder;
        const std::string snapshot = "hf/hub/datasets--o--n/snapshots/" + std::string(40, 'a') + "/small/";
        std::string wrong = test::indexedLines(60);
        wrong[wrong.size() / 2] = wrong[wrong.size() / 2] == '1' ? '2' : '1';
        folder.write(snapshot + "a.txt", wrong);
        folder.write(snapshot + "b.txt", test::indexedLines(40));
        qputenv("HF_HOME", QByteArray::fromStdString(utf8Text(folder.path("hf"))));
        const auto texts = test::readAll(test::configFor({ "hf://o/n:small" }), folder.path("cache"), 30);
        QVERIFY2(texts.ok(), texts.ok() ? "" : texts.error().message.c_str());
        auto expected = numbered(0, 60);
        const auto second = numbered(0, 40);
        expected.insert(expected.end(), second.begin(), second.end());
        QCOMPARE(texts.value(), expected);
        QVERIFY(hub.storeBytes() >= wrong.size()); // the wrong one alone was asked for
        QVERIFY(hub.storeBytes() < wrong.size() + 300);
        QVERIFY(readFile(folder.path(snapshot + "a.txt")).value() == wrong); // it is not ours
    }
    /// The first file of each ending decided for all of that ending: UTF-8 became mojibake behind a Latin-1 file, and
    /// csv with commas whole lines behind one with semicolons.
    void filesWereReadAsTheFirstOfTheirEndingWas()
    {
        FakeHub hub;
        FakeHub::Repository texts;
        for (int i = 0; i < 200; ++i) {
            texts.files["train-0.txt"] += "Les \xe9l\xe8ves fran\xe7"
                                          "ais \xe9taient d\xe9j\xe0 \xe0 l'\xe9"
                                          "cole, o\xf9 le ma\xeetre les attendait.\n";
            texts.files["train-1.txt"] += "Les \xc3\xa9l\xc3\xa8ves \xc3\xa9taient d\xc3\xa9j\xc3\xa0 l\xc3\xa0.\n";
        }
        texts.files["train-2.txt"] = "\xef\xbb\xbfone\ntwo\n"; // a byte order mark
        hub.add("o/texts", texts);
        FakeHub::Repository tables;
        tables.files["train-0.csv"] = "id;text\n1;one, two\n2;three, four\n";
        tables.files["train-1.csv"] = "id,text\n3,five; six\n4,seven; eight\n";
        hub.add("o/tables", tables);
        Session session(hub);
        DataFolder folder;
        const auto all = test::readAll(test::configFor({ "hf://o/texts" }), folder.path("cache"), 1000);
        QVERIFY2(all.ok(), all.ok() ? "" : all.error().message.c_str());
        QCOMPARE(all.value().size(), std::size_t(402));
        QCOMPARE(QString::fromStdString(all.value()[0]),
            QString::fromUtf8("Les élèves français étaient déjà à l'école, où le maître les attendait."));
        QCOMPARE(QString::fromStdString(all.value()[200]), QString::fromUtf8("Les élèves étaient déjà là."));
        QCOMPARE(all.value()[400], std::string("one"));
        const auto rows = test::readAll(test::configFor({ "hf://o/tables" }), folder.path("cache"), 1000);
        QVERIFY2(rows.ok(), rows.ok() ? "" : rows.error().message.c_str());
        QCOMPARE(rows.value(), (std::vector<std::string> { "one, two", "three, four", "five; six", "seven; eight" }));
    }
    /// What is looked at of each file before the run is not fetched again for it, and is small.
    void lookingAtEachFileFetchesNoByteTwice()
    {
        FakeHub hub;
        FakeHub::Repository repository;
        std::uint64_t bytes = 0;
        constexpr int kFiles = 6;
        for (int i = 0; i < kFiles; ++i) {
            auto& file = repository.files["train-" + std::to_string(i) + (i < kFiles / 2 ? ".txt" : ".txt.gz")];
            file = "file " + std::to_string(i) + "\n" + test::indexedLines(200'000); // what is alike comes once
            if (i >= kFiles / 2)
                file = test::gzip(file);
            bytes += file.size();
        }
        hub.add("o/n", repository);
        Session session(hub);
        DataFolder folder;
        const KeepHubPieces kept(folder.path("cache"), 1);
        const auto source = describeHubSource("hf://o/n", test::configFor({ "hf://o/n" }), session.client);
        QVERIFY2(source.ok(), source.ok() ? "" : source.error().message.c_str());
        QTRY_VERIFY(hub.storeBytes() > 0);
        QVERIFY2(
            hub.storeBytes() <= 2 * (1u << 20) + (kFiles - 2) * (64u << 10), std::to_string(hub.storeBytes()).c_str());
        auto cache = BlockCache::open(folder.path("cache"), 0).value();
        HubProofs proofs;
        for (const auto& file : source.value().files)
            QVERIFY(downloadHubFile(file, session.client, *cache, proofs).ok());
        QTRY_COMPARE(hub.storeBytes(), bytes);
    }
    /// What is not in LFS was compared with nothing, though the list has git's name of it.
    void aSmallFileWasNotComparedWithGitsNameOfIt()
    {
        DataFolder folder;
        DataFile file;
        file.path = "hf://o/n@" + std::string(40, 'a') + "/a.txt";
        file.hash = "5626abf0f72e58d7a153368ba57db4c673c0e171"; // git hash-object of "one\n"
        file.sizeBytes = 4;
        QVERIFY(isComparable(file) && !isPromised(file));
        HubProofs proofs;
        QVERIFY(proofs.compare(file, pathFromUtf8(folder.write("right", "one\n"))).ok());
        QVERIFY(proofs.proven().contains(file.path));
        const auto wrong = proofs.compare(file, pathFromUtf8(folder.write("wrong", "two\n")));
        QVERIFY(!wrong.ok());
        QCOMPARE(wrong.error().code, ErrorCode::Corrupt);
        QVERIFY2(wrong.error().message.find("git's SHA-1") != std::string::npos, wrong.error().message.c_str());
        file.path = "https://example.org/a.txt"; // a server may call anything so
        QVERIFY(!isComparable(file));
    }
    /// Planning stopped at a file that is damaged as the hub has it: those behind it were trained by nobody.
    void filesBehindADamagedOneWereNotPlanned()
    {
        FakeHub hub;
        FakeHub::Repository repository;
        repository.files["train-0.txt"] = test::indexedLines(100);
        const std::string whole = test::gzip(test::indexedLines(400'000));
        repository.files["train-1.txt.gz"] = whole.substr(0, whole.size() / 2);
        repository.files["train-2.txt"] = test::indexedLines(100);
        hub.add("o/n", repository);
        Session session(hub);
        DataFolder folder;
        auto config = test::configFor({ "hf://o/n" });
        const auto inspection = inspectData(config);
        QVERIFY2(inspection.ok(), inspection.ok() ? "" : inspection.error().message.c_str());
        const auto open = [&] {
            return BlockManager::open(config, inspection.value().manifest, 60, folder.path("cache"), byteTokenizer());
        };
        std::int64_t rows = 0;
        std::string last;
        int failures = 0;
        const auto planAll = [&](BlockManager& manager) {
            for (;;) {
                const auto block = manager.planNext();
                if (block.ok() && !block.value())
                    return;
                if (block.ok()) {
                    rows += block.value()->rows();
                    last = block.value()->plan;
                    continue;
                }
                QCOMPARE(block.error().code, ErrorCode::Corrupt);
                QVERIFY2(++failures < 10, block.error().message.c_str());
                manager.planOn(block.error());
            }
        };
        auto first = open();
        QVERIFY(first.ok());
        planAll(first.value());
        QCOMPARE(rows, std::int64_t(200));
        QCOMPARE(failures, 1);
        QVERIFY2(first.value().unprovenReason().find("train-1.txt.gz") != std::string::npos,
            first.value().unprovenReason().c_str());

        auto second = open(); // as a resume does: it must not take the data for whole
        QVERIFY(second.ok() && second.value().resumeAfter(last).ok());
        planAll(second.value());
        QCOMPARE(rows, std::int64_t(200));
        QCOMPARE(failures, 2);
        QVERIFY(!second.value().unprovenReason().empty());

        config.badFiles = BadFiles::LeaveOut; // the advice, followed
        auto third = open();
        QVERIFY(third.ok() && third.value().resumeAfter(last).ok());
        planAll(third.value());
        QCOMPARE(rows, std::int64_t(200));
        QVERIFY2(third.value().unprovenReason().empty(), third.value().unprovenReason().c_str());
        QVERIFY(!third.value().leftOut().empty());
    }
    /// What is left of a file that could not be planned comes behind all else, when it can be read.
    void aFileThatWasPassedByIsPlannedWhenItCanBeRead()
    {
        DataFolder folder;
        for (const char* name : { "d/a.txt", "d/b.txt", "d/c.txt" })
            folder.write(name, test::indexedLines(100));
        const auto config = test::configFor({ utf8Text(folder.path("d")) });
        const auto inspection = inspectData(config);
        QVERIFY2(inspection.ok(), inspection.ok() ? "" : inspection.error().message.c_str());
        PlannedBlock before;
        before.chunkRows = { 40 };
        before.segments = { { 2, 0, 0, 40, 0, false } };
        const SourcePosition after { 2, 270, 40, 140, 0, false, { { 1, 340, 50 } } }; // ten lines of 6 bytes, then of 7
        auto manager
            = BlockManager::open(config, inspection.value().manifest, 1000, folder.path("cache"), byteTokenizer());
        QVERIFY(manager.ok());
        const std::string plan = writePlan(before, { after });
        QCOMPARE(readPlan(plan).value().after.front(), after);
        QVERIFY(manager.value().resumeAfter(plan).ok());
        const auto gap = manager.value().planNext();
        QVERIFY2(gap.ok() && gap.value(), gap.ok() ? "" : gap.error().message.c_str());
        QCOMPARE(gap.value()->segments.size(), std::size_t(1));
        QCOMPARE(gap.value()->segments.front().file, 1);
        QCOMPARE(gap.value()->segments.front().firstRow, std::int64_t(50));
        QCOMPARE(gap.value()->rows(), std::int64_t(50));
        QCOMPARE(gap.value()->firstRow, std::int64_t(140));
        const auto rest = manager.value().planNext();
        QVERIFY2(rest.ok() && rest.value(), rest.ok() ? "" : rest.error().message.c_str());
        QCOMPARE(rest.value()->segments.front().file, 2);
        QCOMPARE(rest.value()->rows(), std::int64_t(60));
        const auto end = manager.value().planNext();
        QVERIFY(end.ok() && !end.value());
        QVERIFY(manager.value().unprovenReason().empty());
    }
    /// It was opened by its name, and failed at each try.
    void aDownloadThatBecameWrongOnThisDiskIsPutAsideAndComesAgain()
    {
        FakeHub hub;
        hub.add("o/n", exampleRepository());
        Session session(hub);
        DataFolder folder;
        const auto config = test::configFor({ "hf://o/n:small:train" });
        QVERIFY(test::readAll(config, folder.path("cache"), 30).ok());
        std::filesystem::remove_all(BlockManager::blockFolder(folder.path("cache")));
        for (const auto& entry : std::filesystem::directory_iterator(folder.path("cache") / kDownloads)) {
            auto bytes = readFile(entry.path()).value();
            bytes[bytes.size() / 2] = '#';
            std::ofstream(entry.path(), std::ios::binary) << bytes;
        }
        const auto fetched = hub.storeBytes();
        auto manager = test::openManager(config, folder.path("cache"), 30);
        QVERIFY(manager.ok());
        const auto blocks = test::planAll(manager.value());
        QVERIFY2(blocks.ok(), blocks.ok() ? "" : blocks.error().message.c_str());
        for (const auto& block : blocks.value()) {
            const auto made = manager.value().prepare(block);
            QVERIFY2(made.ok(), made.ok() ? "" : made.error().message.c_str());
        }
        QVERIFY(hub.storeBytes() > fetched);
        const auto distrusted = manager.value().takeDistrusted();
        QCOMPARE(distrusted.size(), std::size_t(2));
        QVERIFY(manager.value().takeDistrusted().empty());
        QVERIFY(manager.value().readsFrom(blocks.value().front(), *distrusted.begin()));
        QVERIFY(!manager.value().readsFrom(blocks.value().front(), *distrusted.rbegin()));
    }
    /// Another run's download that stood still was waited for without end.
    void aDownloadThatStoodStillWasWaitedForWithoutEnd()
    {
        FakeHub hub;
        Session session(hub);
        DataFolder folder;
        auto cache = BlockCache::open(folder.path("cache"), 0).value();
        const HubFile file { "a.txt", 100, "", "oid" };
        const auto take = [&] { return takeFetchTurn(*cache, file, "whole", *session.client); };
        auto held = cache->claim(contentName(file) + ".whole");
        QVERIFY(held.ok());
        auto none = take();
        QVERIFY(none.ok() && !none.value());
        QCOMPARE_GE(session.waitedSeconds(), 29);
        QCOMPARE_LE(session.waitedSeconds(), 31);
        QVERIFY2(session.why.starts_with("another run fetches a.txt ("), session.why.c_str());
        session.waits.clear();
        none = take(); // nothing came meanwhile
        QVERIFY(none.ok() && !none.value());
        QVERIFY(session.waits.empty());
        folder.write("cache/downloads/" + contentName(file) + ".part", "some bytes");
        none = take();
        QVERIFY(none.ok() && !none.value());
        QCOMPARE_GE(session.waitedSeconds(), 29);
        held = Error { ErrorCode::Cancelled, "" };
        const auto own = take();
        QVERIFY(own.ok() && own.value());
        session.givesUp = true;
        QCOMPARE(take().error().code, ErrorCode::Cancelled);
    }
    void aStoppedDownloadIsNotWaitedForLongerThanASecond()
    {
        SKIP_WITHOUT("flock", !QStandardPaths::findExecutable("flock").isEmpty(), "There is no flock.");
        FakeHub hub;
        Session session(hub);
        DataFolder folder;
        auto cache = BlockCache::open(folder.path("cache"), 0).value();
        const HubFile file { "a.txt", 100, "", "oid" };
        const auto lock = cache->claimFile(contentName(file) + ".whole");
        QProcess other;
        other.start("flock", { "--no-fork", QString::fromStdString(lock.string()), "sleep", "100" });
        QVERIFY(other.waitForStarted());
        QTRY_VERIFY(isLocked(lock));
        SKIP_WITHOUT("lock-holders", fileLockHolder(lock).has_value(), "The system does not tell who holds a lock.");
        ::kill(static_cast<pid_t>(other.processId()), SIGSTOP);
        QTRY_VERIFY(fileLockHolder(lock)->stopped);
        const auto none = takeFetchTurn(*cache, file, "whole", *session.client);
        QVERIFY(none.ok() && !none.value());
        QCOMPARE_LE(session.waitedSeconds(), 1.1);
        QVERIFY2(session.why.find("stopped)") != std::string::npos, session.why.c_str());
        other.kill();
        QVERIFY(other.waitForFinished());
    }
    void aRunFetchesForItselfBesideADownloadThatStandsStill()
    {
        FakeHub hub;
        hub.add("o/n", exampleRepository());
        Session session(hub);
        DataFolder folder;
        auto cache = BlockCache::open(folder.path("cache"), 0).value();
        std::vector<FileLock> held;
        const auto commit = session.client->resolveRevision("o/n", "main");
        QVERIFY(commit.ok());
        const auto tree = session.client->tree("o/n", commit.value());
        QVERIFY(tree.ok());
        for (const auto& file : tree.value())
            for (const char* what : { ".whole", ".ranges" }) {
                if (auto turn = cache->claim(contentName(file) + what); turn.ok()) // else of a file of equal content
                    held.push_back(std::move(turn).value());
                folder.write("cache/downloads/" + contentName(file) + ".part", "of the other one");
            }
        const auto config = test::configFor({ "hf://o/n:small:train" });
        const auto rows = test::readAll(config, folder.path("cache"), 30);
        QVERIFY2(rows.ok(), rows.ok() ? "" : rows.error().message.c_str());
        QVERIFY(rows.value() == test::readAll(config, folder.path("other"), 30).value());
        for (const auto& file : tree.value()) // goes on where it was
            QCOMPARE(readFile(cache->path(kDownloads, contentName(file) + ".part")).value(),
                std::string("of the other one"));
    }
    /// Stretches below 4 KiB were kept nowhere: each of two runs at once fetched all of a file with small row groups.
    void twoRunsAtOnceFetchedSmallRowGroupsTwice()
    {
        constexpr std::uint64_t kStretch = 2000;
        constexpr std::uint64_t kAll = 25 * kStretch;
        FakeHub hub;
        FakeHub::Repository repository;
        repository.files["train.parquet"] = std::string(100'000, 'x');
        hub.add("o/n", repository);
        const DataFolder folder;
        const auto readStretches = [&] {
            Session session(hub);
            const auto tree = session.client->tree("o/n", repository.commit);
            QVERIFY(tree.ok() && tree.value().size() == 1);
            const auto pieces = std::make_shared<HubPieces>(BlockCache::open(folder.path("cache"), 0).value());
            const auto source = std::dynamic_pointer_cast<const DistantSource>(
                hubSource(session.client, { "o/n", repository.commit, "train.parquet" }, tree.value().front(), pieces));
            QVERIFY(source != nullptr);
            std::vector<std::byte> bytes(kStretch);
            for (std::uint64_t at = 0; at < kAll; at += kStretch)
                QVERIFY(source->readIn({ at, kStretch }, at, bytes, Need::Stretch).ok());
        };
        readStretches();
        QCOMPARE(hub.storeBytes(), kAll);
        readStretches(); // of another process
        QCOMPARE(hub.storeBytes(), kAll);
    }
    /// Each try cost the whole file, and there was no last one.
    void aFileThatArrivedWrongEachTimeWasFetchedForEver()
    {
        FakeHub hub;
        FakeHub::Repository repository;
        repository.files["train.txt"] = test::indexedLines(20'000);
        hub.add("o/n", repository);
        Session session(hub);
        const DataFolder folder;
        auto config = test::configFor({ "hf://o/n" });
        auto manager = test::openManager(config, folder.path("cache"), 1000);
        QVERIFY2(manager.ok(), manager.ok() ? "" : manager.error().message.c_str());
        hub.failAtRandom({ HubFault::WrongBytes }, 1, 1);
        for (int time = 1; time < 5; ++time)
            QCOMPARE(manager.value().planNext().error().code, ErrorCode::Network); // on its way, as far as one can tell
        const auto damaged = manager.value().planNext();
        QVERIFY(!damaged.ok());
        QCOMPARE(damaged.error().code, ErrorCode::Corrupt);
        QVERIFY2(
            damaged.error().message.find("5 times in a row") != std::string::npos, damaged.error().message.c_str());
        const auto fetched = hub.storeBytes();
        QCOMPARE(manager.value().planNext().error().code, ErrorCode::Corrupt);
        QCOMPARE(hub.storeBytes(), fetched);
        hub.failAtRandom({}, 0, 1);
        auto resumed = test::openManager(config, folder.path("cache"), 1000);
        QVERIFY(resumed.ok() && resumed.value().planNext().ok());
    }
    /// It was left out for good, as damage is, though nothing says that the file is damaged.
    void aFileThatCameWrongWasLeftOutForGood()
    {
        FakeHub hub;
        FakeHub::Repository repository;
        repository.files["train.txt"] = test::indexedLines(20'000);
        hub.add("o/n", repository);
        Session session(hub);
        const DataFolder folder;
        auto config = test::configFor({ "hf://o/n" });
        config.badFiles = BadFiles::LeaveOut;
        const auto inspection = inspectData(config);
        QVERIFY2(inspection.ok(), inspection.ok() ? "" : inspection.error().message.c_str());
        const auto opened = [&] {
            return BlockManager::open(
                config, inspection.value().manifest, 20'000, folder.path("cache"), byteTokenizer());
        };
        auto planning = opened();
        QVERIFY2(planning.ok(), planning.ok() ? "" : planning.error().message.c_str());
        hub.failAtRandom({ HubFault::WrongBytes }, 1, 1);
        auto planned = planning.value().planNext();
        for (int time = 1; !planned.ok() && planned.error().code == ErrorCode::Network && time < 5; ++time)
            planned = planning.value().planNext();
        QVERIFY(!planned.ok() && planned.error().code == ErrorCode::Corrupt);
        planning.value().planOn(planned.error());
        QVERIFY(planning.value().leftOut().empty());
        planned = planning.value().planNext();
        QVERIFY(planned.ok() && !planned.value());
        QVERIFY(!planning.value().unprovenReason().empty()); // nothing ends with it
        hub.failAtRandom({}, 0, 1);
        auto resumed = opened();
        QVERIFY2(resumed.ok(), resumed.ok() ? "" : resumed.error().message.c_str());
        planned = resumed.value().planNext();
        QVERIFY2(planned.ok(), planned.ok() ? "" : planned.error().message.c_str());
        QVERIFY(planned.value().has_value());
        // The same of a block that is known, when the copy in the cache is gone.
        std::filesystem::remove_all(folder.path("cache") / kDownloads);
        auto preparing = opened();
        QVERIFY2(preparing.ok(), preparing.ok() ? "" : preparing.error().message.c_str());
        hub.failAtRandom({ HubFault::WrongBytes }, 1, 1);
        auto made = preparing.value().prepare(*planned.value());
        for (int time = 1; !made.ok() && made.error().code == ErrorCode::Network && time < 5; ++time)
            made = preparing.value().prepare(*planned.value());
        QVERIFY(!made.ok() && made.error().code == ErrorCode::Corrupt);
        const auto rest = preparing.value().withoutUnreadable(*planned.value(), {});
        QVERIFY(!rest.ok() && rest.error().code == ErrorCode::Corrupt);
        QVERIFY2(rest.error().message.find("5 times in a row") != std::string::npos, rest.error().message.c_str());
    }
    /// An expanded file that failed was read again and again.
    void anExpandedFileThatCannotBeReadIsMadeAgain()
    {
        FakeHub hub;
        hub.add("o/n", exampleRepository());
        Session session(hub);
        DataFolder folder;
        auto config = test::configFor({ "hf://o/n:en:train" });
        config.chunkSamples = 100;
        auto manager = test::openManager(config, folder.path("cache"), 700);
        QVERIFY(manager.ok());
        const auto blocks = test::planAll(manager.value());
        QVERIFY(blocks.ok());
        for (const auto& entry : std::filesystem::directory_iterator(folder.path("cache") / kExpanded)) {
            std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
            file.seekp(10); // "row 0" becomes "#ow 0"
            file.put('#');
        }
        const auto wrong = manager.value().prepare(blocks.value().front());
        QVERIFY(!wrong.ok());
        QCOMPARE(wrong.error().code, ErrorCode::Busy); // tried again: the copy is put aside
        const auto right = manager.value().prepare(blocks.value().front());
        QVERIFY2(right.ok(), right.ok() ? "" : right.error().message.c_str());
    }

    /// Whoever wrote into the cache could make every run on this computer read a terabyte into memory.
    void aPieceOfATerabyteWasRead()
    {
        constexpr std::uint64_t kTerabyte = 1ull << 40; // a hole
        QTemporaryDir folder;
        HubPieces pieces(std::filesystem::path(folder.path().toStdString()), 0);
        const HubFile file { "a.txt", 100, std::string(64, 'a'), {} };
        pieces.keep(file, 0, 0, "hello");
        QCOMPARE(pieces.find(file, 0), std::string("hello"));
        std::filesystem::path kept;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path().toStdString()))
            if (isPiece(entry.path().filename().string()))
                kept = entry.path();
        QVERIFY(checkPiece(kept, kept.filename().string()).ok());
        std::filesystem::resize_file(kept, kTerabyte);
        QCOMPARE(checkPiece(kept, kept.filename().string()).error().code, ErrorCode::Corrupt);
        QCOMPARE(pieces.find(file, 0), std::string());
        QCOMPARE(pieces.takeUp(file, 0), std::string());
        QCOMPARE(std::filesystem::file_size(kept), std::uintmax_t(0));
        pieces.keep(file, 0, 0, "again");
        QCOMPARE(pieces.find(file, 0), std::string("again"));
    }
};

QTEST_GUILESS_MAIN(TestHub)
#include "tst_hub.moc"
