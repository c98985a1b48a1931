#include "core/base/file_system.h"
#include "core/base/hash.h"
#include "core/data/cache_verification.h"
#include "core/data/source/data_manifest.h"
#include "core/data/hub/hub_files.h"
#include "core/data/hub/hub_pieces.h"
#include "core/data/hub/web_files.h"
#include "data_fixture.h"
#include "tests/must_have.h"
#include "fake_web.h"
#include "tests/fakes/gzip.h"

#include <QProcess>
#include <QtTest>

using namespace furrow;
using test::DataFolder;
using test::FakeWeb;
using test::readAll;

namespace {

std::string jsonLines(int rows)
{
    std::string text;
    for (int i = 0; i < rows; ++i)
        text += "{\"text\":\"row " + std::to_string(i) + " " + std::string(200, static_cast<char>('a' + i % 26))
            + "\"}\n";
    return text;
}

std::vector<std::string> rowsOf(int rows)
{
    std::vector<std::string> all;
    for (int i = 0; i < rows; ++i)
        all.push_back("row " + std::to_string(i) + " " + std::string(200, static_cast<char>('a' + i % 26)));
    return all;
}

/// Every request of the process goes out by this client; waits are noted, not slept. What is looked at is kept.
class Session {
public:
    /// @param stallSeconds  without a byte: long enough for a busy machine
    explicit Session(const DataFolder& folder, WebSecrets secrets = {}, int transfers = 1, long stallSeconds = 30)
        : kept(folder.path("cache"), 1)
    {
        HubSettings settings;
        settings.endpoint = "http://127.0.0.1:1"; // the hub is not needed
        settings.web = std::move(secrets);
        RetryPolicy retry;
        retry.wait = [this](double, const std::string& why) {
            waits.push_back(why);
            return !givesUp;
        };
        client = std::make_shared<HubClient>(
            settings, [=] { return curlTransport({ 15, stallSeconds }); }, transfers, retry);
        setSharedHubClient(client);
    }
    ~Session() { setSharedHubClient(nullptr); }

    KeepHubPieces kept;
    std::shared_ptr<HubClient> client;
    std::vector<std::string> waits;
    bool givesUp = false; ///< at the next wait
};

WebSecrets opening(const std::string& address)
{
    WebSecrets secrets;
    secrets.addresses.emplace_back(address);
    return secrets;
}

std::string messageOf(const Result<DataInspection>& inspection)
{
    return inspection.ok() ? Message() : inspection.error().message;
}

/// Answers the first request with a redirect.
class Redirecting : public HttpTransport {
public:
    explicit Redirecting(std::string to)
        : to_(std::move(to))
    {
    }
    Result<HttpResponse> send(const HttpRequest& request, const BodySink&) override
    {
        seen.push_back(request.url);
        return HttpResponse { 302, { { "location", to_ } }, {} };
    }
    std::vector<std::string> seen;

private:
    std::string to_;
};

} // namespace

class TestWeb : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void init()
    {
        for (const char* name : { "http_proxy", "https_proxy", "all_proxy" })
            qunsetenv(name);
    }

    void eachByteComesOnceWhateverTheNumberOfTransfers_data()
    {
        QTest::addColumn<int>("transfers");
        QTest::addColumn<int>("cuts");
        QTest::newRow("one transfer") << 1 << 0;
        QTest::newRow("four transfers") << 4 << 0;
        QTest::newRow("four, and broken ones") << 4 << 6;
    }
    void eachByteComesOnceWhateverTheNumberOfTransfers()
    {
        QFETCH(int, transfers);
        QFETCH(int, cuts);
        constexpr int kRows = 60'000; // 13 MB
        const DataFolder folder;
        FakeWeb web;
        web.put("/data/a.jsonl", { jsonLines(kRows) });
        web.cutNext(cuts);
        Session session(folder, {}, transfers);
        const auto rows = readAll(test::configFor({ web.address("/data/a.jsonl") }), folder.path("cache"), 20'000);
        QVERIFY2(rows.ok(), rows.ok() ? "" : rows.error().message.c_str());
        QCOMPARE(rows.value(), rowsOf(kRows));
        const double size = static_cast<double>(jsonLines(kRows).size());
        QVERIFY2(static_cast<double>(web.servedBytes()) <= 1.02 * size,
            qPrintable(QString::number(static_cast<double>(web.servedBytes()) / size)));
    }

    void theManifestSaysByWhatTheFileIsKnown()
    {
        const DataFolder folder;
        FakeWeb web;
        const std::string text = jsonLines(10);
        web.put("/strong.jsonl", { text });
        FakeWeb::File weak { text, "W/\"weak\"", "Wed, 21 Oct 2015 07:28:00 GMT" };
        web.put("/weak.jsonl", weak);
        FakeWeb::File digest { text };
        digest.digest = "sha-256=:"
            + QByteArray::fromHex(QByteArray::fromStdString(sha256Hex(text))).toBase64().toStdString() + ":";
        web.put("/digest.jsonl", digest);
        Session session(folder);
        const auto fileAt = [&](const char* path) {
            const auto found = inspectData(test::configFor({ web.address(path) }));
            return found.ok() ? readManifest(found.value().manifest).value().sources.front().files.front()
                              : DataFile {};
        };
        QCOMPARE(fileAt("/strong.jsonl").version, std::string("\"one\""));
        QVERIFY(!isPromised(fileAt("/strong.jsonl")));
        QCOMPARE(fileAt("/weak.jsonl").version, std::string("W/\"weak\" Wed, 21 Oct 2015 07:28:00 GMT"));
        QCOMPARE(fileAt("/digest.jsonl").hash, sha256Hex(text));
        QVERIFY(fileAt("/strong.jsonl").hash != fileAt("/weak.jsonl").hash);
        const auto said = inspectData(test::configFor({ web.address("/strong.jsonl") })).value().reading;
        QVERIFY(!said.empty() && said.front().find("known by \"one\"") != std::string::npos);
    }

    /// Of few stretches a draw may take none: "has no rows" was said of a file with 300, or half of another was taken.
    void aFractionOfACompressedFileSaidThatItHasNoRows()
    {
        const DataFolder folder;
        FakeWeb web;
        web.put("/a.jsonl.gz", { test::gzip(jsonLines(300)) });
        Session session(folder);
        auto config = test::configFor({ web.address("/a.jsonl.gz") });
        config.fraction = 0.3;
        for (config.seed = 1; config.seed <= 4; ++config.seed) {
            const auto inspection = inspectData(config);
            QVERIFY2(inspection.ok(), messageOf(inspection).c_str());
            QVERIFY2(inspection.value().rows >= 60, std::to_string(inspection.value().rows).c_str());
            const auto rows = readAll(config, folder.path("cache"), 5000);
            QVERIFY(rows.ok());
            QCOMPARE(static_cast<std::int64_t>(rows.value().size()), inspection.value().rows);
        }
    }

    /// Some servers send a file or do not, and no part of it; or do not say which state of it they send.
    void aServerThatKnowsNoPartsOrStatesIsReadWhole_data()
    {
        QTest::addColumn<bool>("ranges");
        QTest::addColumn<bool>("length");
        QTest::addColumn<bool>("etag");
        QTest::addColumn<int>("cuts");
        QTest::newRow("no ranges") << false << true << true << 0;
        QTest::newRow("no ranges, no length") << false << false << true << 0;
        QTest::newRow("nothing at all") << false << false << false << 0;
        QTest::newRow("ranges, but no name of its state") << true << true << false << 0;
        QTest::newRow("no ranges, and the connection breaks twice") << false << true << true << 2;
        QTest::newRow("no length, and the connection breaks twice") << false << false << true << 2;
    }
    void aServerThatKnowsNoPartsOrStatesIsReadWhole()
    {
        QFETCH(bool, ranges);
        QFETCH(bool, length);
        QFETCH(bool, etag);
        QFETCH(int, cuts);
        constexpr int kRows = 20'000;
        const DataFolder folder;
        FakeWeb web;
        FakeWeb::File file { jsonLines(kRows) };
        file.ranges = ranges;
        file.saysLength = length;
        file.etag = etag ? "\"one\"" : "";
        web.put("/a.jsonl", file);
        Session session(folder);
        const auto config = test::configFor({ web.address("/a.jsonl") });
        if (cuts > 0) {
            QVERIFY(session.client->look(web.address("/a.jsonl")).ok());
            web.cutNext(cuts + 1); // the look is cut too
        }
        const auto inspection = inspectData(config);
        QVERIFY2(inspection.ok(), messageOf(inspection).c_str());
        const auto found = readManifest(inspection.value().manifest).value().sources.front().files.front();
        QCOMPARE(found.hash, sha256Hex(file.bytes));
        QCOMPARE(found.sizeBytes, std::uint64_t(file.bytes.size()));
        QVERIFY(inspection.value().reading.front().find("downloaded as a whole") != std::string::npos);
        const auto before = web.servedBytes();
        const auto rows = readAll(config, folder.path("cache"), 5000);
        QVERIFY2(rows.ok(), rows.ok() ? "" : rows.error().message.c_str());
        QCOMPARE(rows.value(), rowsOf(kRows));
        QVERIFY2(
            web.servedBytes() - before < 3 * file.bytes.size(), "readAll looks once more, no block fetches it again");
    }

    /// A cache that lost the file fetches it again, and sees when it is another one.
    void aWholeFileThatIsAnotherOneNowIsNotTrained()
    {
        const DataFolder folder;
        FakeWeb web;
        FakeWeb::File file { jsonLines(2000) };
        file.ranges = false;
        file.etag.clear();
        web.put("/a.jsonl", file);
        Session session(folder);
        const auto config = test::configFor({ web.address("/a.jsonl") });
        const auto inspection = inspectData(config);
        QVERIFY2(inspection.ok(), messageOf(inspection).c_str());
        std::filesystem::remove_all(folder.path("cache"));
        file.bytes[500] = 'Z';
        web.put("/a.jsonl", file);
        auto manager
            = BlockManager::open(config, inspection.value().manifest, 1000, folder.path("other"), byteTokenizer(), {});
        QVERIFY(manager.ok());
        const auto block = manager.value().planNext();
        QVERIFY(!block.ok());
        QCOMPARE(block.error().code, ErrorCode::InvalidArgument);
        QVERIFY2(block.error().message.find("SHA-256") != std::string::npos
                && block.error().message.find("--bad-files leave_out") != std::string::npos,
            block.error().message.c_str());
    }

    /// Its server said that it was the same file, and the run ended as over changed data.
    void aWrongByteOnTheWayWasAnotherFile()
    {
        const DataFolder folder;
        FakeWeb web;
        FakeWeb::File file { jsonLines(2000) };
        file.digest = "sha-256=:"
            + QByteArray::fromHex(QByteArray::fromStdString(sha256Hex(file.bytes))).toBase64().toStdString() + ":";
        web.put("/a.jsonl", file);
        Session session(folder);
        const auto config = test::configFor({ web.address("/a.jsonl") });
        const auto inspection = inspectData(config);
        QVERIFY2(inspection.ok(), messageOf(inspection).c_str());
        FakeWeb::File wrong = file;
        wrong.bytes[500] = 'Z';
        web.put("/a.jsonl", wrong);
        auto manager
            = BlockManager::open(config, inspection.value().manifest, 1000, folder.path("other"), byteTokenizer(), {});
        QVERIFY(manager.ok());
        const auto block = manager.value().planNext();
        QVERIFY(!block.ok());
        QCOMPARE(block.error().code, ErrorCode::Network); // on its way: no damage of the file
        web.put("/a.jsonl", file);
        QVERIFY(manager.value().planNext().ok());
    }

    void aFileThatChangesWhileItIsReadIsNeverMixed_data()
    {
        QTest::addColumn<int>("change");
        QTest::newRow("another ETag") << 0;
        QTest::newRow("another length") << 1;
        QTest::newRow("Content-Range lies") << 2;
    }
    void aFileThatChangesWhileItIsReadIsNeverMixed()
    {
        QFETCH(int, change);
        const DataFolder folder;
        FakeWeb web;
        FakeWeb::File file { jsonLines(60'000) };
        web.put("/a.jsonl", file);
        Session session(folder);
        const auto config = test::configFor({ web.address("/a.jsonl") });
        const auto inspection = inspectData(config);
        QVERIFY2(inspection.ok(), messageOf(inspection).c_str());
        auto manager
            = BlockManager::open(config, inspection.value().manifest, 1000, folder.path("cache"), byteTokenizer(), {});
        QVERIFY(manager.ok());
        FakeWeb::File other = file;
        if (change == 0)
            other.etag = "\"two\"";
        else if (change == 1)
            other.bytes += jsonLines(1);
        else
            other.lie = 7;
        web.put("/a.jsonl", other);
        const auto block = manager.value().planNext();
        QVERIFY(!block.ok());
        QCOMPARE(block.error().code, ErrorCode::InvalidArgument);
        QVERIFY2(block.error().message.find("The data changed since the run was made") != std::string::npos,
            block.error().message.c_str());
        QVERIFY(block.error().message.find(change == 0 ? "\"two\"" : "bytes, had") != std::string::npos);
        web.put("/a.jsonl", file); // put back: it goes on
        QVERIFY(manager.value().planNext().ok());
    }

    /// One of several mirrors may be behind: it is asked again before the file counts as another one.
    void oneAnswerOfAnotherStateIsAskedAgain()
    {
        const DataFolder folder;
        FakeWeb web;
        FakeWeb::File file { jsonLines(60'000) };
        file.before = [](FakeWeb::File& f, int asked) { f.etag = asked == 5 ? "\"two\"" : "\"one\""; };
        web.put("/a.jsonl", file);
        Session session(folder);
        const auto rows = readAll(test::configFor({ web.address("/a.jsonl") }), folder.path("cache"), 20'000);
        QVERIFY2(rows.ok(), rows.ok() ? "" : rows.error().message.c_str());
        QCOMPARE(rows.value(), rowsOf(60'000));
    }

    void whatTheServerRefusesIsSaidAtOnce_data()
    {
        QTest::addColumn<int>("status");
        QTest::addColumn<QString>("says");
        QTest::newRow("404") << 404 << "does not exist (404)";
        QTest::newRow("410") << 410 << "does not exist (410)";
        QTest::newRow("403") << 403 << "FURROW_DATA_SECRET";
        QTest::newRow("401") << 401 << "FURROW_DATA_SECRET";
    }
    void whatTheServerRefusesIsSaidAtOnce()
    {
        QFETCH(int, status);
        QFETCH(QString, says);
        const DataFolder folder;
        FakeWeb web;
        FakeWeb::File file { jsonLines(3) };
        file.status = status;
        web.put("/a.jsonl", file);
        Session session(folder);
        const auto inspection = inspectData(test::configFor({ web.address("/a.jsonl") }));
        QVERIFY(!inspection.ok());
        QCOMPARE(inspection.error().code, ErrorCode::NotFound);
        QVERIFY2(messageOf(inspection).find(says.toStdString()) != std::string::npos, messageOf(inspection).c_str());
        QVERIFY(session.waits.empty());
    }

    void aServerInTroubleIsWaitedFor()
    {
        const DataFolder folder;
        FakeWeb web;
        FakeWeb::File file { jsonLines(30) };
        file.before = [](FakeWeb::File& f, int asked) { f.status = asked < 3 ? (asked == 1 ? 429 : 503) : 0; };
        web.put("/a.jsonl", file);
        Session session(folder);
        const auto rows = readAll(test::configFor({ web.address("/a.jsonl") }), folder.path("cache"));
        QVERIFY2(rows.ok(), rows.ok() ? "" : rows.error().message.c_str());
        QCOMPARE(session.waits.size(), std::size_t(3));
        QVERIFY(session.waits.front().find("answered 503") != std::string::npos);
    }

    void aServerThatStallsIsAskedAgain()
    {
        const DataFolder folder;
        FakeWeb web;
        FakeWeb::File file { jsonLines(30) };
        file.before = [](FakeWeb::File&, int asked) {
            if (asked == 0)
                std::this_thread::sleep_for(std::chrono::seconds(3));
        };
        web.put("/a.jsonl", file);
        Session session(folder, {}, 1, 1);
        const auto rows = readAll(test::configFor({ web.address("/a.jsonl") }), folder.path("cache"));
        QVERIFY2(rows.ok(), rows.ok() ? "" : rows.error().message.c_str());
        QVERIFY(!session.waits.empty());
    }

    /// The file was called empty, and a run that met it later ended as over changed data.
    void aPartWithoutItsByteWasAnEmptyFile()
    {
        const DataFolder folder;
        FakeWeb web;
        FakeWeb::File file { jsonLines(10) };
        file.before = [](FakeWeb::File& now, int asked) { now.hollow = asked < 2; };
        web.put("/a.jsonl", file);
        Session session(folder);
        const auto rows = readAll(test::configFor({ web.address("/a.jsonl") }), folder.path("cache"), 20'000);
        QVERIFY2(rows.ok(), rows.ok() ? "" : rows.error().message.c_str());
        QCOMPARE(rows.value(), rowsOf(10));
        file.before = [](FakeWeb::File& now, int) { now.hollow = true; };
        web.put("/b.jsonl", file);
        const auto never = inspectData(test::configFor({ web.address("/b.jsonl") }));
        QVERIFY(!never.ok());
        QCOMPARE(never.error().code, ErrorCode::Network);
    }

    /// Asked for once more during a run, the file was called empty for good by one answer without a byte.
    void anAnswerOfNothingWasAnEmptyFile()
    {
        const DataFolder folder;
        FakeWeb web;
        const std::string bytes = jsonLines(10);
        FakeWeb::File file { bytes };
        file.before = [bytes](FakeWeb::File& now, int asked) { now.bytes = asked == 1 ? std::string() : bytes; };
        web.put("/a.jsonl", file);
        Session session(folder);
        const std::string address = web.address("/a.jsonl");
        const auto state = session.client->look(address);
        QVERIFY2(state.ok(), state.ok() ? "" : state.error().message.c_str());
        const HubFile known { address, bytes.size(), "", address, state.value().version };
        const auto read = [&] {
            return session.client->read("", "", known, { 0, bytes.size() }, [](std::string_view) { return true; });
        };
        const Status refused = read();
        QVERIFY(!refused.ok());
        QCOMPARE(refused.error().code, ErrorCode::Network);
        const Status again = read();
        QVERIFY2(again.ok(), again.ok() ? "" : again.error().message.c_str());
    }

    void anEmptyFileIsSaid()
    {
        const DataFolder folder;
        FakeWeb web;
        for (const bool ranges : { true, false }) {
            FakeWeb::File file;
            file.ranges = ranges;
            web.put("/a.jsonl", file);
            Session session(folder);
            const auto inspection = inspectData(test::configFor({ web.address("/a.jsonl") }));
            QVERIFY2(messageOf(inspection).find("is empty") != std::string::npos, messageOf(inspection).c_str());
        }
    }

    void anAccountGoesToItsOwnHostAndIntoNoManifest()
    {
        const DataFolder folder;
        FakeWeb web, elsewhere;
        FakeWeb::File file { jsonLines(30) };
        elsewhere.put("/there.jsonl", file);
        file.account = "ann:geheim77";
        web.put("/a.jsonl", file);
        FakeWeb::File away;
        away.account = "ann:geheim77";
        away.redirect = elsewhere.address("/there.jsonl");
        web.put("/away.jsonl", away);
        WebSecrets secrets;
        for (const char* path : { "/a.jsonl", "/away.jsonl" }) {
            std::string whole = web.address(path);
            secrets.addresses.emplace_back(whole.replace(7, 0, "ann:geheim77@"));
        }
        for (const char* path : { "/a.jsonl", "/away.jsonl" }) {
            Session session(folder, secrets);
            const auto config = test::configFor({ web.address(path) });
            const auto inspection = inspectData(config);
            QVERIFY2(inspection.ok(), messageOf(inspection).c_str());
            QVERIFY(inspection.value().manifest.find("geheim") == std::string::npos);
            QCOMPARE(readAll(config, folder.path("cache")).value(), rowsOf(30));
        }
        QVERIFY(!web.authorizations().empty());
        QVERIFY(elsewhere.authorizations().empty());
        Session without(folder);
        const auto refused = inspectData(test::configFor({ web.address("/a.jsonl") }));
        QVERIFY2(messageOf(refused).find("(401)") != std::string::npos, messageOf(refused).c_str());
    }

    void aSignedAddressIsSentAndNotKept()
    {
        const DataFolder folder;
        FakeWeb web;
        FakeWeb::File file { jsonLines(30) };
        file.query = "X-Amz-Signature=geheim88";
        web.put("/a.jsonl", file);
        Session session(folder, opening(web.address("/a.jsonl?X-Amz-Date=1&X-Amz-Signature=geheim88")));
        const auto config = test::configFor({ web.address("/a.jsonl") });
        const auto inspection = inspectData(config);
        QVERIFY2(inspection.ok(), messageOf(inspection).c_str());
        QVERIFY(inspection.value().manifest.find("geheim") == std::string::npos);
        QCOMPARE(readAll(config, folder.path("cache")).value(), rowsOf(30));
    }

    void secretsComeFromTheEnvironment()
    {
        qputenv("FURROW_DATA_SECRET", "https://ann:geheim99@h/a.jsonl\n https://h/b.jsonl?sig=xyzxyzxyz ");
        const auto secrets = WebSecrets::fromEnvironment();
        qunsetenv("FURROW_DATA_SECRET");
        QCOMPARE(secrets.addresses.size(), std::size_t(2));
        const WebRequests requests(secrets);
        QCOMPARE(requests.get("https://h/a.jsonl").url, std::string("https://h/a.jsonl"));
        QCOMPARE(requests.get("https://h/a.jsonl").account.reveal(), std::string("ann:geheim99"));
        QCOMPARE(requests.get("https://h/b.jsonl").url, std::string("https://h/b.jsonl?sig=xyzxyzxyz"));
        QVERIFY(requests.get("https://h/c.jsonl").account.empty());
        QVERIFY(requests.redirected("https://h/a.jsonl", "https://other/a.jsonl").account.empty());
        QCOMPARE(requests.redirected("https://h/a.jsonl", "https://h/moved.jsonl").account.reveal(),
            std::string("ann:geheim99"));
        QVERIFY(withoutSecrets("x geheim99 y").find("geheim99") == std::string::npos);
    }

    void noRedirectLeavesEncryptionOrGoesOnForEver()
    {
        const DataFolder folder;
        for (const auto& [to, says] :
            { std::pair("http://evil/a.txt", "not encrypted"), std::pair("/again.txt", "in a circle"),
                std::pair("file:///etc/passwd", "leads to file:…, which is not a web address"),
                std::pair("gopher://host/a", "is not a web address"), std::pair("b:c.txt", "is not a web address"),
                std::pair("a/b:c.txt", "in a circle"), std::pair("", "answered 302") }) {
            HubClient client(HubSettings {}, std::make_unique<Redirecting>(to));
            const auto state = client.look("https://host/a.txt");
            QVERIFY(!state.ok());
            QVERIFY2(state.error().message.find(says) != std::string::npos, state.error().message.c_str());
        }
    }

    /// The name of the file ended with the parameters: a jsonl was read as text.
    void parametersOfAnAddressAreNoPartOfTheName()
    {
        const DataFolder folder;
        FakeWeb web;
        web.put("/a.jsonl", { jsonLines(30) });
        Session session(folder);
        QCOMPARE(
            readAll(test::configFor({ web.address("/a.jsonl?download=1") }), folder.path("cache")).value(), rowsOf(30));
    }

    /// Nothing promises what the file holds: what a process before it left is gone on with as far as its checksums say.
    void aDownloadWithoutSha256GoesOnAfterAKill()
    {
        const DataFolder folder;
        FakeWeb web;
        FakeWeb::File file { jsonLines(60'000) };
        web.put("/a.jsonl", file);
        DataFile wanted;
        wanted.path = web.address("/a.jsonl");
        wanted.sizeBytes = file.bytes.size();
        wanted.version = file.etag;
        wanted.hash = wanted.path + " " + wanted.version;
        const auto download = [&](bool breaks) {
            Session session(folder);
            session.givesUp = breaks;
            web.cutNext(breaks ? 2 : 0); // the look of one byte cannot be cut
            auto cache = BlockCache::open(folder.path("cache"), 1 << 30).value();
            HubProofs proofs;
            return downloadHubFile(wanted, session.client, *cache, proofs);
        };
        QVERIFY(!download(true).ok());
        const auto first = web.servedBytes();
        QVERIFY(first > file.bytes.size() / 3);
        const auto whole = download(false);
        QVERIFY2(whole.ok(), whole.ok() ? "" : whole.error().message.c_str());
        std::string bytes(file.bytes.size(), '\0');
        QVERIFY(whole.value()->readAt(0, std::as_writable_bytes(std::span<char>(bytes))).ok());
        QVERIFY(bytes == file.bytes);
        QVERIFY2(web.servedBytes() < file.bytes.size() + (256 << 10), qPrintable(QString::number(web.servedBytes())));
    }

    /// A loss of power may leave zeros where bytes were written.
    void damageInAPartialDownloadIsFetchedAgain()
    {
        const DataFolder folder;
        FakeWeb web;
        FakeWeb::File file { jsonLines(60'000) };
        web.put("/a.jsonl", file);
        DataFile wanted;
        wanted.path = web.address("/a.jsonl");
        wanted.sizeBytes = file.bytes.size();
        wanted.version = file.etag;
        wanted.hash = wanted.path + " " + wanted.version;
        const auto cache = BlockCache::open(folder.path("cache"), 1 << 30).value();
        HubProofs proofs;
        {
            Session session(folder);
            session.givesUp = true;
            web.cutNext(1);
            QVERIFY(!downloadHubFile(wanted, session.client, *cache, proofs).ok());
        }
        bool hasPart = false;
        for (const auto& entry : std::filesystem::directory_iterator(folder.path("cache") / kDownloads))
            if (entry.path().extension() == ".part") {
                hasPart = entry.file_size() > (1 << 20);
                std::fstream part(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
                part.seekp(700'000);
                part.write("\0\0\0\0\0\0\0\0", 8);
            }
        QVERIFY(hasPart);
        Session session(folder);
        const auto whole = downloadHubFile(wanted, session.client, *cache, proofs);
        QVERIFY2(whole.ok(), whole.ok() ? "" : whole.error().message.c_str());
        std::string bytes(file.bytes.size(), '\0');
        QVERIFY(whole.value()->readAt(0, std::as_writable_bytes(std::span<char>(bytes))).ok());
        QVERIFY(bytes == file.bytes);
    }

    /// Nothing is promised of it, so what lay in the cache was believed: a flipped bit was trained.
    void aChangedDownloadWithoutSha256WasTrained()
    {
        const DataFolder folder;
        FakeWeb web;
        web.put("/a.jsonl.gz", { test::gzip(jsonLines(3000)) });
        const auto read = [&] {
            Session session(folder);
            std::filesystem::remove_all(folder.path("cache") / kBlocks);
            std::filesystem::remove_all(folder.path("cache") / kExpanded);
            return readAll(test::configFor({ web.address("/a.jsonl.gz") }), folder.path("cache"));
        };
        const auto right = read();
        QVERIFY2(right.ok(), right.ok() ? "" : right.error().message.c_str());
        std::filesystem::path whole;
        for (const auto& entry : std::filesystem::directory_iterator(folder.path("cache") / kDownloads))
            if (entry.path().extension() == kWholeEnding)
                whole = entry.path();
        QVERIFY(!whole.empty());
        {
            std::fstream part(whole, std::ios::in | std::ios::out | std::ios::binary);
            part << test::gzip(jsonLines(20)); // what stands behind a gzip stream is read too, or damage
        }
        const auto cache = BlockCache::open(folder.path("cache"), 1 << 30).value();
        const auto again = read();
        QVERIFY2(again.ok(), again.ok() ? "" : again.error().message.c_str());
        QVERIFY(again.value() == right.value());
        {
            std::fstream part(whole, std::ios::in | std::ios::out | std::ios::binary);
            part.seekp(100);
            part << "x";
        }
        const auto verified = verifyCache(*cache);
        QVERIFY(verified.ok());
        QCOMPARE(verified.value().damaged.size(), std::size_t(1));
    }

    void aServerThatCannotProveWhoItIsIsNotRead()
    {
        const DataFolder folder;
        folder.write("a.jsonl", jsonLines(30));
        const auto inFolder = [&](QProcess& process, const QStringList& arguments) {
            process.setWorkingDirectory(QString::fromStdString(utf8Text(folder.path())));
            process.start(QStringLiteral("openssl"), arguments);
            return process.waitForStarted();
        };
        QProcess make;
        const bool isStarted = inFolder(make,
            { "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "key.pem", "-out", "cert.pem", "-days", "2",
                "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1" });
        SKIP_WITHOUT(
            "openssl", isStarted && make.waitForFinished() && make.exitCode() == 0, "openssl is not installed.");
        QProcess server;
        QVERIFY(inFolder(
            server, { "s_server", "-accept", "127.0.0.1:0", "-key", "key.pem", "-cert", "cert.pem", "-HTTP" }));
        QByteArray said;
        QTRY_VERIFY_WITH_TIMEOUT((said += server.readAllStandardOutput()).contains("ACCEPT"), 10'000);
        const auto port = said.mid(said.lastIndexOf(':') + 1).trimmed();
        const std::string address = "https://127.0.0.1:" + port.toStdString() + "/a.jsonl";
        {
            Session session(folder);
            const auto state = session.client->look(address);
            QVERIFY(!state.ok());
            QCOMPARE(state.error().code, ErrorCode::NotFound);
            QVERIFY2(state.error().message.find("cannot prove that it is this server") != std::string::npos,
                state.error().message.c_str());
            QVERIFY(session.waits.empty());
        }
        server.kill();
        server.waitForFinished();
    }
};

QTEST_GUILESS_MAIN(TestWeb)
#include "tst_web.moc"
