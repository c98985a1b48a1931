#include "data_fixture.h"

#include "core/data/probe.h"

#include <QtTest>
#include <sys/stat.h>
#include <unistd.h>

using namespace furrow;
using test::DataFolder;

namespace {

/// Counts over the whole data set.
Result<ChunkSummary> totals(
    const RunConfig& config, const std::filesystem::path& cache, std::vector<RowIssue>* issues = nullptr)
{
    auto manager = test::openManager(config, cache, 1000);
    if (!manager.ok())
        return manager.error();
    auto blocks = test::planAll(manager.value());
    if (!blocks.ok())
        return blocks.error();
    ChunkSummary sum;
    for (const auto& planned : blocks.value()) {
        auto file = manager.value().prepare(planned);
        if (!file.ok())
            return file.error();
        for (const auto& chunk : file.value().chunks) {
            sum.rows += chunk.rows;
            sum.samples += chunk.samples;
            sum.filtered += chunk.filtered;
            sum.failed += chunk.failed;
            sum.invalidUtf8 += chunk.invalidUtf8;
        }
        auto block = PreparedBlock::open(BlockManager::blockFolder(cache) / file.value().fileName);
        if (issues != nullptr && block.ok())
            issues->insert(issues->end(), block.value().issues().begin(), block.value().issues().end());
    }
    return sum;
}

} // namespace

class TestBadInput : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void refusesWithASentence_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QByteArray>("bytes");
        QTest::addColumn<QString>("column");
        QTest::addColumn<QString>("says");
        const auto add = [](const char* name, const std::string& bytes, const char* says, const char* column = "") {
            QTest::newRow(name) << QString(name) << QByteArray::fromStdString(bytes) << QString(column)
                                << QString(says);
        };
        add("empty.txt", "", "is empty");
        add("header only.csv", "id,text\n", "has no rows");
        add("picture.txt", std::string("\x89PNG\r\n\x1a\n", 8) + std::string(100, '\0'), "PNG picture");
        add("program",
            std::string("\x7f"
                        "ELF",
                4)
                + std::string(500, '\0'),
            "a program");
        std::string noise;
        for (unsigned i = 0; i < 5000; ++i)
            noise += static_cast<char>((i * 2654435761u) >> 13);
        add("noise.txt", noise, "is binary");
        add("zeros.txt", std::string(5000, '\0'), "is binary");
        add("cut.json", "[{\"text\":\"a\"},{\"text\":\"b", "ends in the middle");
        add("cut behind.json", "[{\"text\":\"a\"}", "ends in the middle");
        add("more.json", "[{\"text\":\"a\"}]\n[{\"text\":\"b\"}]", "a second one begins at byte 15");
        add("rest.json", "[{\"text\":\"a\"}]\nrest", "no row that can be read at byte 15");
        add("lists.json", "[[{\"text\":\"a\"}],\n[{\"text\":\"b\"}]]", "its rows are lists");
        add("numbers.json", "[1,\n2]", "the first begins with 1");
        add("other list.jsonl", "{\"a\":{\"b\":{\"c\":[\"x\"]}}}\n{\"a\":{\"b\":{\"c\":[\"y\"]}}}\n", "a.b.c[]",
            "a.b.d");
        add("document.json", "{\n\"rows\": [{\"text\":\"a\"}]}", "such as data[].text");
        add("no list.json", "{\n\"rows\": [{\"text\":\"a\"}]}", "no member 'data'", "data[].text");
        add("other.json", "{\n\"data\": {\"text\":\"a\"}}", "is not a list", "data[].text");
        add("open.json", "{\n\"data\": [{\"text\":\"a\"}]", "ends in the middle", "data[].text");
        const std::string record
            = "WARC/1.0\r\nWARC-Type: conversion\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n\r\none\n\r\n\r\n";
        add("cut.warc", record + record.substr(0, record.size() - 6), "ends in the middle");
        add("rest.warc", record + "something else", "no row that can be read at byte");
        add("text.warc", "one\n", "is called WARC");
        add("no column.csv", "id,title\n1,a\n", "no column 'text'", "text");
        add("no column.jsonl", "{\"id\":1}\n", "no column with text");
        add("wrong type.jsonl", "{\"text\":1}\n", "holds no text", "text");
        add("cut.txt.gz", test::gzip(test::indexedLines(10000)).substr(0, 5000), "ends in the middle");
        add("cut.txt.zst", test::zstd(test::indexedLines(10000)).substr(0, 5000), "ends in the middle");
        std::string damaged = test::gzip(test::indexedLines(10000));
        for (std::size_t i = damaged.size() / 2; i < damaged.size() / 2 + 40; ++i)
            damaged[i] = static_cast<char>(~damaged[i]);
        add("damaged.txt.gz", damaged, "damaged");
        const auto flip = [](std::string bytes) {
            for (std::size_t i = bytes.size() / 2; i < bytes.size() / 2 + 40; ++i)
                bytes[i] = static_cast<char>(~bytes[i]);
            return bytes;
        };
        const std::string lines = test::indexedLines(10000);
        add("cut.txt.xz", test::xz(lines).substr(0, 1500), "ends in the middle");
        add("cut in the header.txt.xz", test::xz(lines).substr(0, 10), "ends in the middle");
        add("cut.txt.bz2", test::bzip2(lines).substr(0, 5000), "ends in the middle");
        add("damaged.txt.xz", flip(test::xz(lines)), "damaged");
        add("damaged.txt.bz2", flip(test::bzip2(lines)), "damaged");
        add("rest.txt.xz", test::xz(lines) + "rest of something", "damaged");
        add("rest.txt.bz2", test::bzip2(lines) + "rest", "damaged");
        add("rest.txt.gz", test::gzip(lines) + "rest", "damaged");
        add("bomb.txt.xz", test::xz(std::string(100 << 20, 'a')), "bomb");
        add("bomb.txt.bz2", test::bzip2(std::string(100 << 20, 'a')), "bomb");
        add("plain.txt.xz", lines, "is called xz");
        add("plain.txt.bz2", lines, "is called bzip2");
        add("bomb.txt.gz", test::gzip(std::string(100 << 20, 'a')), "bomb");
        add("bomb.txt.zst", test::zstd(std::string(100 << 20, 'a')), "bomb");
        add("pointer.parquet", "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n",
            "git lfs pull");
        add("pointer.txt", "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n", "git lfs pull");
        add("secret.parquet", "PARE" + noise + "PARE", "encrypted footer");
        add("flipped.parquet", "QAR1" + noise + "PAR1", "first bytes are damaged");
        add("other.parquet", "ORC" + noise, "is an ORC file");
        add("login.parquet", "<!DOCTYPE html><html>log in</html>", "web page");
        add("login.csv", "<!doctype html><html>log in</html>", "web page");
        add("lines.parquet", test::indexedLines(100), "neither begins nor ends");
        add("words.jsonl", test::indexedLines(100), "none of its first lines");
        add("plain.txt.gz", test::indexedLines(100), "is called gzip");
        add("plain.txt.zst", test::gzip(test::indexedLines(100)), "is called zstd");
        add("text.arrow", "one\n", "is called Arrow");
        add("first.feather", "FEA1" + noise, "Feather of version 1");
        add("tar of nothing", std::string(257, 'a') + "ustar" + std::string(300, 'b'), "a tar archive");
        add("packed.txt", std::string("PK\x03\x04", 4) + noise, "a zip archive");
        add("packed", std::string("PK\x03\x04", 4) + noise, "no zip directory");
        std::string half = test::indexedLines(30'000);
        while (half.size() < (1 << 20))
            half += noise;
        add("half.txt", half, "is binary");
        add("fake.parquet", "PAR1 this is not one PAR1", "Parquet");
    }
    void refusesWithASentence()
    {
        QFETCH(QString, name);
        QFETCH(QByteArray, bytes);
        QFETCH(QString, column);
        QFETCH(QString, says);
        DataFolder folder;
        const auto path = folder.write(name.toStdString(), bytes.toStdString());
        auto config = test::configFor({ path });
        config.textColumn = column.toStdString();
        auto inspection = inspectData(config);
        QVERIFY(!inspection.ok());
        const auto message = QString::fromStdString(inspection.error().message);
        QVERIFY2(message.contains(says), message.toUtf8());
        QVERIFY2(message.contains(name), message.toUtf8());
        QVERIFY2(message.endsWith('.'), message.toUtf8());
    }
    void refusesWhatIsNotThere()
    {
        DataFolder folder;
        QVERIFY(!inspectData(test::configFor({})).ok());
        auto missing = inspectData(test::configFor({ utf8Text(folder.path("no.txt")) }));
        QCOMPARE(missing.error().code, ErrorCode::NotFound);
        auto glob = inspectData(test::configFor({ utf8Text(folder.path("*.txt")) }));
        QCOMPARE(glob.error().code, ErrorCode::NotFound);
        std::filesystem::create_directories(folder.path("empty"));
        auto empty = inspectData(test::configFor({ utf8Text(folder.path("empty")) }));
        QCOMPARE(empty.error().code, ErrorCode::InvalidArgument); // as an empty file
        auto device = inspectData(test::configFor({ "/dev/zero" }));
        QVERIFY(!device.ok());
        const auto pipePath = utf8Text(folder.path("pipe"));
        QCOMPARE(mkfifo(pipePath.c_str(), 0600), 0);
        QVERIFY(!inspectData(test::configFor({ pipePath })).ok());
        const auto hidden = folder.write("secret.txt", "a\n");
        QCOMPARE(chmod(hidden.c_str(), 0), 0);
        if (geteuid() != 0)
            QVERIFY(!inspectData(test::configFor({ hidden })).ok());
    }
    void listsWhatItSkipsInAFolder()
    {
        DataFolder folder;
        folder.write("d/1.txt", "one\n");
        folder.write("d/sub/2.txt", "two\n");
        folder.write("d/10.txt", "ten\n");
        folder.write("d/README.md", "about\n");
        folder.write("d/.hidden.txt", "no\n");
        folder.write("d/picture.txt", std::string("\x89PNG\r\n\x1a\n", 8));
        folder.write("d/nothing.txt", "");
        folder.write("outside.txt", "outside\n");
        std::filesystem::create_symlink(folder.path("outside.txt"), folder.path("d/link.txt"));
        std::filesystem::create_symlink(folder.path("d/1.txt"), folder.path("d/0.txt"));
        std::filesystem::create_directory_symlink(folder.path("d"), folder.path("d/loop"));
        auto config = test::configFor({ utf8Text(folder.path("d")) });
        auto inspection = inspectData(config);
        QVERIFY2(inspection.ok(), inspection.ok() ? "" : inspection.error().message.c_str());
        QCOMPARE(inspection.value().files, 3);
        QString warnings;
        for (const auto& warning : inspection.value().warnings)
            warnings += QString::fromStdString(warning) + "\n";
        for (const char* name : { "README.md", "picture.txt", "nothing.txt", "link.txt", "0.txt is a link to" })
            QVERIFY2(warnings.contains(name), warnings.toUtf8());
        auto texts = test::readAll(config, folder.path("cache"), 10);
        QVERIFY(texts.ok());
        QCOMPARE(texts.value(), (std::vector<std::string> { "one", "ten", "two" }));
    }
    void countsRowsThatCannotBeRead()
    {
        DataFolder folder;
        std::vector<RowIssue> issues;
        auto json = totals(
            test::configFor({ folder.write("a.jsonl",
                "{\"text\":\"a\"}\n{\"text\":\"b\n{\"text\":3}\n\n{\"text\":\"\"}\n{\"text\":\"\\ud800\"}\n{\"text\":\"c\"}\n") }),
            folder.path("cache"), &issues);
        QVERIFY2(json.ok(), json.ok() ? "" : json.error().message.c_str());
        QCOMPARE(json.value().rows, 7);
        QCOMPARE(json.value().samples, 3);
        QCOMPARE(json.value().failed, 2);
        QCOMPARE(json.value().filtered, 2);
        QCOMPARE(json.value().invalidUtf8, 1);
        QCOMPARE(issues.size(), std::size_t { 2 });
        QCOMPARE(issues[0].row, 1);
        auto csv = totals(
            test::configFor({ folder.write("a.csv", "id,text\n1,a\n2\n3,\"x\ny\"\n4,\n") }), folder.path("cache"));
        QVERIFY(csv.ok());
        QCOMPARE(csv.value().rows, 4);
        QCOMPARE(csv.value().failed, 1);
        QCOMPARE(csv.value().filtered, 1);
        QCOMPARE(csv.value().samples, 2);
    }
    void countsAHugeLine()
    {
        DataFolder folder;
        std::vector<RowIssue> issues;
        auto sum = totals(test::configFor({ folder.write("a.txt", "a\n" + std::string(50 << 20, 'x') + "\nb\n") }),
            folder.path("cache"), &issues);
        QVERIFY2(sum.ok(), sum.ok() ? "" : sum.error().message.c_str());
        QCOMPARE(sum.value().rows, 3);
        QCOMPARE(sum.value().samples, 2);
        QCOMPARE(sum.value().failed, 1);
        QCOMPARE(issues, (std::vector<RowIssue> { { 0, 1, "is longer than 16 MiB" } }));
    }
    void keepsBrokenBytesAndNuls()
    {
        DataFolder folder;
        const std::string text = std::string("good text\nbad \xff\xfe\x80 bytes\na\0b\n", 28) + "\xed\xa0\x80\n";
        auto config = test::configFor({ folder.write("a.txt", text) });
        auto texts = test::readAll(config, folder.path("cache"), 10);
        QVERIFY2(texts.ok(), texts.ok() ? "" : texts.error().message.c_str());
        std::string again;
        for (const auto& one : texts.value())
            again += one + "\n";
        QCOMPARE(QByteArray::fromStdString(again), QByteArray::fromStdString(text));
        auto sum = totals(config, folder.path("cache"));
        QVERIFY(sum.ok());
        QCOMPARE(sum.value().invalidUtf8, 2);
    }
    /// The same broken byte stayed in csv and was U+FFFD in jsonl.
    void brokenBytesOfCsvStayedAndThoseOfJsonDidNot_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QByteArray>("bytes");
        QTest::newRow("jsonl") << "a.jsonl"
                               << QByteArray("{\"text\":\"stra\xc3\x9f"
                                             "e\"}\n{\"text\":\"caf\xe9\"}\n");
        QTest::newRow("csv") << "a.csv"
                             << QByteArray("id,text\n1,stra\xc3\x9f"
                                           "e\n2,caf\xe9\n");
        QTest::newRow("tsv") << "a.tsv"
                             << QByteArray("id\ttext\n1\tstra\xc3\x9f"
                                           "e\n2\tcaf\xe9\n");
    }
    void brokenBytesOfCsvStayedAndThoseOfJsonDidNot()
    {
        QFETCH(QString, name);
        QFETCH(QByteArray, bytes);
        DataFolder folder;
        auto config = test::configFor({ folder.write(name.toStdString(), bytes.toStdString()) });
        config.textColumn = "text";
        const auto texts = test::readAll(config, folder.path("cache"), 10);
        QVERIFY2(texts.ok(), texts.ok() ? "" : texts.error().message.c_str());
        QCOMPARE(texts.value().back(), std::string("caf\xef\xbf\xbd"));
        const auto sum = totals(config, folder.path("cache"));
        QVERIFY(sum.ok());
        QCOMPARE(sum.value().invalidUtf8, 1);
    }
    void filtersByLengthAndAlphabet()
    {
        DataFolder folder;
        auto config = test::configFor({ folder.write("a.txt", "\n\xc3\xa9\xc3\xa9\xc3\xa9\nabc\nabcd\nabcdefgh\n") });
        config.minChars = 3;
        config.maxChars = 4;
        auto texts = test::readAll(config, folder.path("cache"), 10);
        QVERIFY(texts.ok());
        QCOMPARE(texts.value(), (std::vector<std::string> { "\xc3\xa9\xc3\xa9\xc3\xa9", "abc", "abcd" }));
        config.asciiOnly = true;
        auto ascii = test::readAll(config, folder.path("cache"), 10);
        QVERIFY(ascii.ok());
        QCOMPARE(ascii.value(), (std::vector<std::string> { "abc", "abcd" }));
    }
    void refusesARowlessCacheFolder()
    {
        DataFolder folder;
        auto config = test::configFor({ folder.write("a.txt", "a\n") });
        folder.write("file", "x");
        QVERIFY(!test::openManager(config, folder.path("file/cache"), 10).ok());
    }
    void refusesDamagedPlansAndManifests()
    {
        DataFolder folder;
        auto config = test::configFor({ folder.write("a.txt", test::indexedLines(10)) });
        auto inspection = inspectData(config);
        QVERIFY(inspection.ok());
        const std::string manifest = inspection.value().manifest;
        const auto open = [&](const std::string& text) {
            return BlockManager::open(config, text, 4, folder.path("cache"), byteTokenizer());
        };
        for (std::size_t n = 0; n < manifest.size(); n += 7)
            QVERIFY(!open(manifest.substr(0, n)).ok());
        QVERIFY(!open("{\"version\":2}").ok());
        auto manager = open(manifest);
        QVERIFY(manager.ok());
        const std::string plan = manager.value().planNext().value()->plan;
        for (std::size_t n = 0; n < plan.size(); ++n) {
            QVERIFY(!BlockManager::fromPlan(plan.substr(0, n)).ok());
            QVERIFY(!manager.value().resumeAfter(plan.substr(0, n)).ok());
        }
    }
    void probesWhatIsInside()
    {
        DataFolder folder;
        std::string text;
        for (int i = 0; i < 1000; ++i)
            text += "{\"id\":" + std::to_string(i) + ",\"text\":\"sample " + std::to_string(i % 500) + "\"}\n";
        auto config = test::configFor({ folder.write("a.jsonl", text) });
        auto probe = probeData(config, *byteTokenizer(), 500);
        QVERIFY2(probe.ok(), probe.ok() ? "" : probe.error().message.c_str());
        const auto& inspection = probe.value().inspection;
        QCOMPARE(inspection.rows, 1000);
        QVERIFY(inspection.rowsExact);
        QCOMPARE(inspection.columns, (std::vector<std::string> { "id", "text" }));
        QCOMPARE(inspection.textColumn, std::string("text"));
        QCOMPARE(inspection.firstRows.front(), std::string("sample 0"));
        QCOMPARE(probe.value().sampledRows, 1000);
        QCOMPARE(probe.value().sampledDuplicates, 500);
        QVERIFY(probe.value().tokensPerSample > 9 && probe.value().tokensPerSample < 11);
        QVERIFY(probe.value().preparedBytes > 0);
        QCOMPARE(probe.value().firstTokens.size(), std::size_t { 5 });
    }
};

QTEST_GUILESS_MAIN(TestBadInput)
#include "tst_bad_input.moc"
