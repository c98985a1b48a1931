// s3:// and gs://: what is signed, listed and asked for. The same against an independent server: tests/oracle
// (store_moto.py).

#include "core/data/hub/hub_files.h"
#include "core/data/hub/web_files.h"
#include "data_fixture.h"
#include "fake_web.h"

#include <QtTest>

using namespace furrow;
using test::DataFolder;
using test::FakeWeb;
using test::readAll;

namespace {

StoreKeys exampleKeys() { return { "AKIAIOSFODNN7EXAMPLE", Secret("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"), {} }; }

std::string signatureOf(const std::string& url, const std::vector<std::string>& more = {})
{
    const auto headers = signV4(url, exampleKeys(), "us-east-1", "20130524T000000Z", more);
    const std::string& last = headers.back();
    return last.substr(last.rfind('=') + 1);
}

std::string listOf(const std::vector<std::pair<std::string, std::size_t>>& objects, const std::string& next = {})
{
    std::string xml
        = "<?xml version=\"1.0\"?><ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Name>b</Name>";
    xml += next.empty() ? "<IsTruncated>false</IsTruncated>"
                        : "<IsTruncated>true</IsTruncated><NextContinuationToken>" + next + "</NextContinuationToken>";
    for (const auto& [key, size] : objects)
        xml += "<Contents><Key>" + key + "</Key><ETag>&quot;one&quot;</ETag><Size>" + std::to_string(size)
            + "</Size></Contents>";
    return xml + "</ListBucketResult>";
}

class Session {
public:
    Session(const DataFolder& folder, const FakeWeb& web, StoreKeys keys = {})
        : kept(folder.path("cache"), 1)
    {
        HubSettings settings;
        settings.web.stores.endpoint = web.origin();
        settings.web.stores.googleEndpoint = web.origin();
        settings.web.stores.googleToken = Secret("ya29.google-token");
        settings.web.stores.keys = std::move(keys);
        RetryPolicy retry;
        retry.wait = [](double, const std::string&) { return true; };
        client = std::make_shared<HubClient>(settings, [] { return curlTransport(); }, 2, retry);
        setSharedHubClient(client);
    }
    ~Session() { setSharedHubClient(nullptr); }

    KeepHubPieces kept;
    std::shared_ptr<HubClient> client;
};

std::string messageOf(const Result<DataInspection>& inspection)
{
    return inspection.ok() ? Message() : inspection.error().message;
}

} // namespace

class TestStores : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void init()
    {
        for (const char* name : { "http_proxy", "https_proxy", "all_proxy" })
            qunsetenv(name);
    }

    /// The examples of "Signature Calculations for the Authorization Header" in Amazon's reference of S3.
    void requestsAreSignedAsAmazonDoes()
    {
        QCOMPARE(signatureOf("https://examplebucket.s3.amazonaws.com/test.txt", { "range: bytes=0-9" }),
            std::string("f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"));
        QCOMPARE(signatureOf("https://examplebucket.s3.amazonaws.com/?lifecycle="),
            std::string("fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"));
        QCOMPARE(signatureOf("https://examplebucket.s3.amazonaws.com/?max-keys=2&prefix=J"),
            std::string("34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"));
    }

    void addressesOfStoresAreTakenApart()
    {
        const auto good = parseStoreAddress("s3://my-bucket/a/b c.txt").value();
        QCOMPARE(good.bucket, std::string("my-bucket"));
        QCOMPARE(good.key, std::string("a/b c.txt"));
        QCOMPARE(toString(good), std::string("s3://my-bucket/a/b c.txt"));
        QVERIFY(parseStoreAddress("gs://b").value().isGoogle);
        for (const char* bad : { "s3://", "s3:///key", "s3://b@h/key", "s3://b:1/key", "s3", "", "https://h/x" })
            QVERIFY2(!parseStoreAddress(bad).ok(), bad);
    }

    void keysComeFromTheFilesOfAws()
    {
        const DataFolder folder;
        qputenv("AWS_SHARED_CREDENTIALS_FILE",
            QByteArray::fromStdString(folder.write("credentials",
                "[default]\naws_access_key_id = D\naws_secret_access_key=default-secret\n[work]\r\naws_access_key_id=W\r\n"
                "aws_secret_access_key = work-secret \naws_session_token=work-session\n")));
        qputenv("AWS_CONFIG_FILE",
            QByteArray::fromStdString(folder.write("config",
                "[default]\nregion=eu-west-1\n[profile work]\nregion = eu-central-1\nendpoint_url = http://minio:9000/\n")));
        for (const char* name : { "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE",
                 "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3" })
            qunsetenv(name);
        auto settings = StoreSettings::fromEnvironment();
        QCOMPARE(settings.keys.id, std::string("D"));
        QCOMPARE(settings.region, std::string("eu-west-1"));
        QCOMPARE(settings.endpoint, std::string());
        qputenv("AWS_PROFILE", "work");
        settings = StoreSettings::fromEnvironment();
        QCOMPARE(settings.keys.secret.reveal(), std::string("work-secret"));
        QCOMPARE(settings.keys.session.reveal(), std::string("work-session"));
        QCOMPARE(settings.endpoint, std::string("http://minio:9000"));
        qputenv("AWS_ACCESS_KEY_ID", "E");
        qputenv("AWS_SECRET_ACCESS_KEY", "environment-secret");
        qputenv("AWS_REGION", "us-west-2");
        settings = StoreSettings::fromEnvironment();
        QCOMPARE(settings.keys.id, std::string("E"));
        QVERIFY(settings.keys.session.empty());
        QCOMPARE(settings.region, std::string("us-west-2"));
        for (const char* name : { "AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE", "AWS_PROFILE", "AWS_ACCESS_KEY_ID",
                 "AWS_SECRET_ACCESS_KEY", "AWS_REGION" })
            qunsetenv(name);
    }

    void aFolderAndAPatternNameTheirFiles_data()
    {
        QTest::addColumn<QString>("spec");
        QTest::addColumn<int>("rows");
        QTest::newRow("folder") << "s3://b/texts/" << 5;
        QTest::newRow("folder without its slash") << "s3://b/texts" << 5;
        QTest::newRow("pattern") << "s3://b/texts/*.txt" << 3;
        QTest::newRow("all below") << "s3://b/**" << 5;
        QTest::newRow("one") << "s3://b/texts/a b&c.txt" << 2;
        QTest::newRow("of Google") << "gs://b/texts/" << 5;
    }
    void aFolderAndAPatternNameTheirFiles()
    {
        QFETCH(QString, spec);
        QFETCH(int, rows);
        const DataFolder folder;
        FakeWeb web;
        FakeWeb::File list { listOf({ { "texts/README", 3 }, { "texts/a b&amp;c.txt", 12 } }, "to&amp;ken/1") };
        list.before = [](FakeWeb::File& file, int asked) {
            if (asked % 2 == 1)
                file.bytes = listOf(
                    { { "texts/empty.txt", 0 }, { "texts/sub/", 0 }, { "texts/sub/2.txt", 12 }, { "texts/b.txt", 6 } });
        };
        web.put("/b/", list);
        web.put("/b/texts/a b&c.txt", { "row 0\nrow 1\n" });
        web.put("/b/texts/sub/2.txt", { "row 2\nrow 3\n" });
        web.put("/b/texts/b.txt", { "row 4\n" });
        Session session(folder, web, exampleKeys());
        const auto config = test::configFor({ spec.toStdString() });
        const auto inspection = inspectData(config);
        QVERIFY2(inspection.ok(), messageOf(inspection).c_str());
        const auto manifest = inspection.value().manifest;
        QVERIFY(manifest.find("AKIA") == std::string::npos && manifest.find("wJalr") == std::string::npos);
        auto manager = BlockManager::open(config, manifest, 10, folder.path("cache"), byteTokenizer(), {});
        QVERIFY(manager.ok());
        std::int64_t planned = 0;
        for (auto block = manager.value().planNext(); block.ok() && block.value(); block = manager.value().planNext())
            planned += block.value()->rows();
        QCOMPARE(planned, std::int64_t(rows));
        const auto sent = web.authorizations();
        QVERIFY(!sent.empty());
        const bool isGoogle = spec.startsWith(QLatin1String("gs"));
        for (const auto& one : sent)
            QVERIFY2(one.starts_with(isGoogle ? "Bearer ya29." : "AWS4-HMAC-SHA256 Credential=AKIA"), one.c_str());
    }

    /// A hidden object was trained, an empty one left out without a word; of a folder on the disk the first is left out
    /// and both are named.
    void hiddenAndEmptyObjectsWereTakenOrLeftOutWithoutAWord()
    {
        const DataFolder folder;
        FakeWeb web;
        web.put("/b/",
            { listOf({ { "texts/a.txt", 12 }, { "texts/.hid.txt", 6 }, { "texts/.old/c.txt", 6 },
                { "texts/empty.txt", 0 } }) });
        web.put("/b/texts/a.txt", { "row 0\nrow 1\n" });
        web.put("/b/texts/.hid.txt", { "row 2\n" });
        web.put("/b/texts/.old/c.txt", { "row 3\n" });
        Session session(folder, web, exampleKeys());
        const auto inspection = inspectData(test::configFor({ "s3://b/texts/" }));
        QVERIFY2(inspection.ok(), messageOf(inspection).c_str());
        QCOMPARE(inspection.value().files, 1);
        QCOMPARE(inspection.value().rows, 2);
        std::string said;
        for (const auto& warning : inspection.value().warnings)
            said += warning + "\n";
        for (const char* part : { "s3://b/texts/.hid.txt is hidden", "s3://b/texts/.old/c.txt is hidden",
                 "s3://b/texts/empty.txt is empty" })
            QVERIFY2(said.find(part) != std::string::npos, said.c_str());
    }

    /// Of what lies in a cache nobody asked a store again. Many objects cost one request, not one each.
    void anObjectThatWasReplacedWasNotSeenWhileItLayInTheCache()
    {
        constexpr int kObjects = 30;
        FakeWeb web;
        DataSource source;
        source.spec = "s3://b/texts/";
        std::vector<std::pair<std::string, std::size_t>> objects;
        for (int i = 0; i < kObjects; ++i) {
            const std::string key = "texts/" + std::to_string(i) + ".txt";
            objects.emplace_back(key, 6);
            web.put("/b/" + key, { "row 0\n" });
            DataFile file;
            file.path = "s3://b/" + key;
            file.sizeBytes = 6;
            file.version = "\"one\"";
            source.files.push_back(std::move(file));
        }
        web.put("/b/", { listOf(objects) });
        const DataFolder folder;
        Session session(folder, web);
        const auto same = hasOtherStates(source, *session.client, *session.client);
        QVERIFY(same.ok() && !same.value());
        QCOMPARE(web.requests(), 1);
        objects[7].second = 12; // as the store lists it now
        web.put("/b/", { listOf(objects) });
        web.put("/b/texts/7.txt", { "row 0\nrow 1\n", "\"two\"" });
        const auto other = hasOtherStates(source, *session.client, *session.client);
        QVERIFY(other.ok() && other.value());
        QVERIFY(session.client->whyChanged("s3://b/texts/7.txt").find("has 12 bytes, had 6") != std::string::npos);
        QVERIFY(session.client->whyChanged("s3://b/texts/8.txt").empty());
        FakeWeb::File away { "row 0\n" };
        away.status = 404;
        web.put("/b/texts/7.txt", away);
        const auto gone = hasOtherStates(source, *session.client, *session.client);
        QVERIFY(!gone.ok());
        QCOMPARE(gone.error().code, ErrorCode::NotFound); // nothing is known of it
    }

    void withoutKeysNothingIsSigned()
    {
        const DataFolder folder;
        FakeWeb web;
        web.put("/open/a.txt", { "row 0\nrow 1\n" });
        Session session(folder, web);
        const auto rows = readAll(test::configFor({ "s3://open/a.txt" }), folder.path("cache"));
        QVERIFY2(rows.ok(), rows.ok() ? "" : rows.error().message.c_str());
        QCOMPARE(rows.value().size(), std::size_t(2));
        QVERIFY(web.authorizations().empty());
    }

    void aListThatLeadsBackIsGivenUp()
    {
        const DataFolder folder;
        FakeWeb web;
        web.put("/b/", { listOf({ { "a.txt", 3 } }, "same") });
        Session session(folder, web);
        const auto inspection = inspectData(test::configFor({ "s3://b/" }));
        QVERIFY2(messageOf(inspection).find("does not end") != std::string::npos, messageOf(inspection).c_str());
        QVERIFY(web.requests() < 10);
    }

    void whatTheStoreRefusesIsSaid_data()
    {
        QTest::addColumn<int>("status");
        QTest::addColumn<QString>("body");
        QTest::addColumn<QString>("says");
        QTest::newRow("key") << 404 << "<Error><Code>NoSuchKey</Code></Error>" << "does not exist (404, NoSuchKey)";
        QTest::newRow("denied") << 403 << "<Error><Code>AccessDenied</Code></Error>"
                                << "(403, AccessDenied). Keys come from";
        QTest::newRow("no list") << 200 << "<html>hello</html>" << "the store's list cannot be read";
        QTest::newRow("odd code") << 403 << "<Code><script></Code>" << "(403). Keys come from";
        QTest::newRow("sizes") << 200 << "<ListBucketResult><Contents><Key>a</Key><Size>x</Size></Contents>"
                               << "cannot be read";
    }
    void whatTheStoreRefusesIsSaid()
    {
        QFETCH(int, status);
        QFETCH(QString, body);
        QFETCH(QString, says);
        const DataFolder folder;
        FakeWeb web;
        FakeWeb::File file { body.toStdString() };
        file.status = status == 200 ? 0 : status;
        web.put("/b/", file);
        Session session(folder, web, exampleKeys());
        const auto inspection = inspectData(test::configFor({ "s3://b/" }));
        QVERIFY2(messageOf(inspection).find(says.toStdString()) != std::string::npos, messageOf(inspection).c_str());
    }

    void theRegionOfABucketIsLearned()
    {
        WebSecrets secrets;
        secrets.stores.keys = exampleKeys();
        WebRequests requests(secrets);
        QCOMPARE(requests.get("s3://b/a.txt").url, std::string("https://s3.us-east-1.amazonaws.com/b/a.txt"));
        HttpResponse answer { 301, { { "x-amz-bucket-region", "eu-central-1" } }, {} };
        QVERIFY(requests.learnRegion("s3://b/a.txt", answer));
        QVERIFY2(!requests.learnRegion("s3://b/a.txt", answer), "asking again for the same reason would not end");
        QCOMPARE(requests.get("s3://b/c.txt").url, std::string("https://s3.eu-central-1.amazonaws.com/b/c.txt"));
        QCOMPARE(requests.get("s3://other/c.txt").url, std::string("https://s3.us-east-1.amazonaws.com/other/c.txt"));
        answer.headers["x-amz-bucket-region"] = "evil.example/";
        QVERIFY(!requests.learnRegion("s3://b/a.txt", answer));
    }
};

QTEST_GUILESS_MAIN(TestStores)
#include "tst_stores.moc"
