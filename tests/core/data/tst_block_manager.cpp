#include "data_fixture.h"

#include "core/base/hash.h"
#include "core/data/block/block_layout.h"
#include "core/data/block/chunk_windows.h"
#include "core/data/cache_verification.h"
#include "core/data/plan/held_out.h"

#include <QtTest>
#include <nlohmann/json.hpp>
#include <algorithm>
#include <fstream>
#include <numeric>
#include <set>

using namespace furrow;
using test::DataFolder;

namespace {

/// The text every writer of a format gives for the same rows.
std::string asJson(const std::vector<std::string>& rows)
{
    std::string text;
    for (const auto& row : rows)
        text += "{\"id\":1,\"text\":\"" + row + "\"}\n";
    return text;
}
std::string asCsv(const std::vector<std::string>& rows, char delimiter)
{
    std::string text = std::string("id") + delimiter + "text\n";
    for (const auto& row : rows)
        text += std::string("1") + delimiter + "\"" + row + "\"\n";
    return text;
}
std::string asList(const std::vector<std::string>& rows)
{
    std::string text;
    for (const auto& row : rows)
        text += std::string(text.empty() ? "[" : ",") + "\n  {\"id\": [1, \"]\"], \"text\": \"" + row + "\"}";
    return text + "\n]\n";
}
/// With records before and between that are no rows.
std::string asWarc(const std::vector<std::string>& rows)
{
    const auto record = [](const std::string& type, const std::string& content, const std::string& bytes) {
        return "WARC/1.0\r\nWARC-Type: " + type + "\r\nContent-Type: " + content
            + "\r\nContent-Length: " + std::to_string(bytes.size()) + "\r\n\r\n" + bytes + "\r\n\r\n";
    };
    std::string text = record("warcinfo", "application/warc-fields", "software: none\r\n");
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const bool isResponse = i % 2 == 0;
        text += isResponse ? record("response", "application/http; msgtype=response",
                                 "HTTP/1.1 200 OK\r\ncontent-type: text/plain; charset=utf-8\r\n\r\n" + rows[i])
                           : record("conversion", "text/plain", rows[i]);
        text += record("response", "application/http", "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>no");
        text += record("response", "application/http", "HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\n\r\nno");
    }
    return text;
}
std::string asLines(const std::vector<std::string>& rows)
{
    std::string text;
    for (const auto& row : rows)
        text += row + "\n";
    return text;
}

std::vector<std::string> numbered(int from, int to)
{
    std::vector<std::string> rows;
    for (int i = from; i < to; ++i)
        rows.push_back("row " + std::to_string(i));
    return rows;
}

const char* messageOf(const Error& error)
{
    static std::string kept;
    kept = error.message;
    return kept.c_str();
}
#define VERIFY_OK(result) QVERIFY2((result).ok(), (result).ok() ? "" : messageOf((result).error()))

} // namespace

class TestBlockManager : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void everyRowIsInOneChunk_data()
    {
        QTest::addColumn<int>("rows");
        QTest::addColumn<int>("perBlock");
        QTest::addColumn<int>("perChunk");
        QTest::addColumn<bool>("filtered");
        const int k = 5, block = 40, chunk = 12;
        for (const bool filtered : { false, true }) {
            for (const int rows : { 1, k * block - 1, k * block, k * block + 1 })
                QTest::addRow("%d rows, filter %d", rows, filtered) << rows << block << chunk << filtered;
            QTest::addRow("10000 by 3, filter %d", filtered) << 10000 << 3 << 2 << filtered;
            QTest::addRow("1000 by 7, filter %d", filtered) << 1000 << 7 << 4 << filtered;
            QTest::addRow("100001 by 4, filter %d", filtered) << 100001 << 100001 / 4 << 4000 << filtered;
        }
    }
    void everyRowIsInOneChunk()
    {
        QFETCH(int, rows);
        QFETCH(int, perBlock);
        QFETCH(int, perChunk);
        QFETCH(bool, filtered);
        DataFolder folder;
        auto config = test::configFor({ folder.write("a.txt", test::indexedLines(rows)) });
        config.chunkSamples = perChunk;
        if (filtered)
            config.minChars = 8; // "row 9999" and longer
        auto manager = test::openManager(config, folder.path("cache"), perBlock);
        VERIFY_OK(manager);
        auto blocks = test::planAll(manager.value());
        VERIFY_OK(blocks);
        QCOMPARE(manager.value().unprovenReason(), std::string());
        QCOMPARE(static_cast<int>(blocks.value().size()), (rows + perBlock - 1) / perBlock);
        std::int64_t next = 0;
        for (std::size_t b = 0; b < blocks.value().size(); ++b) {
            const auto& block = blocks.value()[b];
            QCOMPARE(block.block, static_cast<std::int64_t>(b));
            QCOMPARE(block.firstRow, next);
            const bool last = b + 1 == blocks.value().size();
            QCOMPARE(block.rows(), last ? rows - next : perBlock);
            for (std::size_t c = 0; c < block.chunkRows.size(); ++c)
                QCOMPARE(block.chunkRows[c],
                    std::min<std::int64_t>(perChunk, block.rows() - static_cast<std::int64_t>(c) * perChunk));
            next += block.rows();
        }
        QCOMPARE(next, static_cast<std::int64_t>(rows));
        // a handful of blocks prepared, the last among them: counts add up and nothing is lost
        const std::size_t step = std::max<std::size_t>(1, blocks.value().size() / 8);
        for (std::size_t b = blocks.value().size() - 1; b < blocks.value().size(); b -= std::min(b + 1, step)) {
            auto file = manager.value().prepare(blocks.value()[b]);
            VERIFY_OK(file);
            std::int64_t row = blocks.value()[b].firstRow;
            for (const auto& chunk : file.value().chunks) {
                std::int64_t longEnough = 0;
                for (std::int64_t i = 0; i < chunk.rows; ++i, ++row)
                    longEnough
                        += !filtered || test::indexedLines(1).size() - 2 + std::to_string(row).size() >= 8 ? 1 : 0;
                QCOMPARE(chunk.samples, longEnough);
                QCOMPARE(chunk.samples + chunk.filtered, chunk.rows);
            }
            if (b == 0)
                break;
        }
    }
    void emptyDataHasNoBlock()
    {
        DataFolder folder;
        auto config = test::configFor({ folder.write("a.txt", "x\n") });
        auto inspection = inspectData(config);
        VERIFY_OK(inspection);
        config.startSample = 1; // N = 0 after the start
        auto manager
            = BlockManager::open(config, inspection.value().manifest, 10, folder.path("cache"), byteTokenizer());
        VERIFY_OK(manager);
        auto blocks = test::planAll(manager.value());
        VERIFY_OK(blocks);
        QVERIFY(blocks.value().empty());
    }
    void resumesAfterAnyBlockWithTheSamePlan()
    {
        DataFolder folder;
        folder.write("d/a.txt", test::indexedLines(100));
        folder.write("d/b.jsonl", asJson(numbered(0, 70)));
        folder.write("d/c.csv.gz", test::gzip(asCsv(numbered(0, 50), ',')));
        auto config = test::configFor({ utf8Text(folder.path("d")), folder.write("e.txt", test::indexedLines(83)) });
        config.chunkSamples = 7;
        auto manager = test::openManager(config, folder.path("cache"), 30);
        VERIFY_OK(manager);
        auto all = test::planAll(manager.value());
        VERIFY_OK(all);
        QVERIFY(all.value().size() > 9);
        for (std::size_t b = 0; b < all.value().size(); ++b) {
            auto again = test::openManager(config, folder.path("cache"), 30);
            VERIFY_OK(again);
            VERIFY_OK(again.value().resumeAfter(all.value()[b].plan));
            auto rest = test::planAll(again.value());
            VERIFY_OK(rest);
            QCOMPARE(rest.value().size(), all.value().size() - b - 1);
            for (std::size_t i = 0; i < rest.value().size(); ++i)
                QCOMPARE(rest.value()[i].plan, all.value()[b + 1 + i].plan);
            auto known = BlockManager::fromPlan(all.value()[b].plan);
            VERIFY_OK(known);
            QCOMPARE(known.value().block, all.value()[b].block);
            QCOMPARE(again.value().fileName(known.value()), manager.value().fileName(all.value()[b]));
        }
    }
    void readsEveryFormatAlike_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QByteArray>("bytes");
        const auto rows = numbered(0, 500);
        const auto add = [](const char* name, const std::string& bytes) {
            QTest::newRow(name) << QString(name) << QByteArray::fromStdString(bytes);
        };
        add("a.txt", asLines(rows));
        add("a.jsonl", asJson(rows));
        add("a.csv", asCsv(rows, ','));
        add("a.tsv", asCsv(rows, '\t'));
        add("a.txt.gz", test::gzip(asLines(rows)));
        add("a.jsonl.zst", test::zstd(asJson(rows)));
        add("a.csv.gz", test::gzip(asCsv(rows, ',')));
        add("packed-without-a-name", test::gzip(asJson(rows)));
        add("list.json", asList(rows));
        add("list.json.gz", test::gzip(asList(rows)));
        add("records.warc", asWarc(rows));
        add("records.warc.wet.gz", test::gzip(asWarc(rows)));
        add("records-without-a-name", asWarc(rows));
        add("a.txt.xz", test::xz(asLines(rows)));
        add("a.jsonl.bz2", test::bzip2(asJson(rows)));
        add("bzip2-without-a-name", test::bzip2(asJson(rows)));
        add("jsonl-without-a-name", asJson(rows));
        add("byte-order-mark.txt", "\xef\xbb\xbf" + asLines(rows));
        add("byte-order-mark.csv", "\xef\xbb\xbf" + asCsv(rows, ','));
        const std::string skipped(
            "\x50\x2a\x4d\x18\x04\0\0\0abcd", 12); // a frame to be skipped: pzstd and seekable zstd have them
        add("two-members.txt.gz", test::gzip(asLines(numbered(0, 123))) + test::gzip(asLines(numbered(123, 500))));
        add("zeros behind.txt.gz", test::gzip(asLines(rows)) + std::string(512, '\0'));
        add("pzstd.txt.zst",
            skipped + test::zstd(asLines(numbered(0, 123))) + skipped + test::zstd(asLines(numbered(123, 500)))
                + skipped);
        add("two-streams.txt.xz",
            test::xz(asLines(numbered(0, 123))) + std::string(8, '\0') + test::xz(asLines(numbered(123, 500))));
        add("two-streams.txt.bz2", test::bzip2(asLines(numbered(0, 123))) + test::bzip2(asLines(numbered(123, 500))));
        add("two-frames.txt.zst", test::zstd(asLines(numbered(0, 123))) + test::zstd(asLines(numbered(123, 500))));
    }
    void readsEveryFormatAlike()
    {
        QFETCH(QString, name);
        QFETCH(QByteArray, bytes);
        DataFolder folder;
        auto config = test::configFor({ folder.write(name.toStdString(), bytes.toStdString()) });
        config.chunkSamples = 30;
        auto texts = test::readAll(config, folder.path("cache"), 100);
        VERIFY_OK(texts);
        QCOMPARE(texts.value(), numbered(0, 500));
    }
    void readsTheListThatTheColumnNames()
    {
        DataFolder folder;
        const std::string list = asList(numbered(0, 500));
        const std::string document
            = "{\"meta\": {\"data\": [\"}\", {}]},\n \"data\": " + list + ", \"end\": [1, {\"data\": []}]}";
        auto config = test::configFor({ folder.write("a.json", document) });
        config.textColumn = "data[].text";
        config.chunkSamples = 30;
        auto inspection = inspectData(config);
        VERIFY_OK(inspection);
        QCOMPARE(inspection.value().textColumn, std::string("data[].text"));
        auto manifest = readManifest(inspection.value().manifest);
        VERIFY_OK(manifest);
        QCOMPARE(writeManifest(manifest.value()), inspection.value().manifest);
        auto texts = test::readAll(config, folder.path("cache"), 100);
        VERIFY_OK(texts);
        QCOMPARE(texts.value(), numbered(0, 500));
    }
    /// The first of two was trained, the last is what Python and pandas read, and nobody heard of it.
    void aSecondListOfTheSameNameWasNotTold()
    {
        DataFolder folder;
        const auto read = [&](const std::string& document, const std::string& column) {
            auto config = test::configFor({ folder.write("a.json", document) });
            config.textColumn = column;
            return test::readAll(config, folder.path("cache"), 100);
        };
        const std::string list = asList(numbered(0, 5));
        for (const auto& [document, column] :
            { std::pair("{\"data\": " + list + ", \"data\": " + list + "}", "data[].text"),
                std::pair("{\"a\": {\"data\": " + list + "}, \"\\u0061\": {}}", "a.data[].text") }) {
            const auto refused = read(document, column);
            QVERIFY2(!refused.ok() && refused.error().message.find("a second time") != std::string::npos,
                refused.ok() ? document.c_str() : refused.error().message.c_str());
        }
        // One that is no list, or lies elsewhere, is no such one.
        for (const auto& [document, column] : { std::pair("{\"data\": 1, \"data\": " + list + "}", "data[].text"),
                 std::pair("{\"a\": {\"b\": 1}, \"a\": {\"data\": " + list + "}}", "a.data[].text"),
                 std::pair(
                     "{\"a\": {\"data\": " + list + "}, \"data\": [], \"b\": {\"data\": []}}", "a.data[].text") }) {
            const auto rows = read(document, column);
            VERIFY_OK(rows);
            QCOMPARE(rows.value(), numbered(0, 5));
        }
    }
    /// Of what stands around a list only the brackets were looked at.
    void aroundAListAnythingWasTakenForJson()
    {
        DataFolder folder;
        const std::string list = asList(numbered(0, 5));
        for (const std::string& document : { "{\"data\": " + list + " \"end\": 1}", "{\"data\": " + list + ", end: 1}",
                 "{\"data\": " + list + ", \"end\": [1 2]}", "{\"data\": " + list + ", \"end\": {1]}",
                 "{\"begin\": nothing, \"data\": " + list + "}" }) {
            auto config = test::configFor({ folder.write("a.json", document) });
            config.textColumn = "data[].text";
            const auto refused = test::readAll(config, folder.path("cache"), 100);
            QVERIFY2(!refused.ok() && refused.error().code == ErrorCode::Corrupt, document.c_str());
        }
        auto config = test::configFor({ folder.write("a.json",
            "{\"begin\": NaN, \"data\": " + list + ", \"end\": [1, -2.5e3, \"\\ud800\", {\"a\": null}]}\n") });
        config.textColumn = "data[].text";
        const auto rows = test::readAll(config, folder.path("cache"), 100); // as Python reads it
        VERIFY_OK(rows);
        QCOMPARE(rows.value(), numbered(0, 5));
    }
    void readsTextsThatAreElementsThemselves()
    {
        DataFolder folder;
        for (const auto& [document, column] : { std::pair("[ \"row 0\",\"row 1\" , \"row 2\"]", ""),
                 std::pair("{\"rows\":[\"row 0\",\"row 1\",\"row 2\",]}", "rows[]") }) {
            auto config = test::configFor({ folder.write("a.json", document) });
            config.textColumn = column;
            auto texts = test::readAll(config, folder.path("cache"), 100);
            VERIFY_OK(texts);
            QCOMPARE(texts.value(), numbered(0, 3));
        }
    }
    void aLongElementIsOneUnreadableRow()
    {
        DataFolder folder;
        const std::string huge = "{\"text\":\"" + std::string(17 << 20, 'x') + "\"}";
        auto config
            = test::configFor({ folder.write("a.json", "[{\"text\":\"row 0\"}," + huge + ",{\"text\":\"row 1\"}]") });
        auto inspection = inspectData(config);
        VERIFY_OK(inspection);
        QCOMPARE(inspection.value().rows, 3);
        auto texts = test::readAll(config, folder.path("cache"), 100);
        VERIFY_OK(texts);
        QCOMPARE(texts.value(), numbered(0, 2));
    }
    void keepsSpansWhole()
    {
        DataFolder folder;
        std::string text;
        for (int i = 0; i < 3000; ++i)
            text += "line \xc3\xa9" + std::to_string(i) + (i % 9 == 0 ? "\n\n" : "\n");
        auto config = test::configFor({ folder.write("a.txt", text) });
        config.dataMode = DataMode::Span;
        config.spanBytes = 64;
        config.chunkSamples = 11;
        auto texts = test::readAll(config, folder.path("cache"), 50);
        VERIFY_OK(texts);
        QCOMPARE(std::accumulate(texts.value().begin(), texts.value().end(), std::string()), text);
    }
    void preparesTheSameBytesAgain()
    {
        DataFolder folder;
        auto config = test::configFor({ folder.write("a.txt", test::indexedLines(1000)) });
        config.chunkSamples = 100;
        config.heldOutPercent = 10;
        auto first = test::openManager(config, folder.path("cache"), 300);
        VERIFY_OK(first);
        auto blocks = test::planAll(first.value());
        VERIFY_OK(blocks);
        auto second = test::openManager(config, folder.path("elsewhere"), 300);
        VERIFY_OK(second);
        for (auto block = blocks.value().rbegin(); block != blocks.value().rend(); ++block) { // out of order
            auto a = first.value().prepare(*block);
            VERIFY_OK(a);
            QVERIFY(!a.value().fromCache);
            auto cached = first.value().prepare(*block);
            VERIFY_OK(cached);
            QVERIFY(cached.value().fromCache);
            QCOMPARE(cached.value().chunks, a.value().chunks);
            auto b = second.value().prepare(*block);
            VERIFY_OK(b);
            QVERIFY(!b.value().fromCache);
            QCOMPARE(a.value().digest, b.value().digest);
            QCOMPARE(cached.value().digest, a.value().digest);
        }
    }
    void healsADamagedBlock()
    {
        DataFolder folder;
        auto config = test::configFor({ folder.write("a.txt", test::indexedLines(200)) });
        auto manager = test::openManager(config, folder.path("cache"), 100);
        VERIFY_OK(manager);
        auto blocks = test::planAll(manager.value());
        VERIFY_OK(blocks);
        auto good = manager.value().prepare(blocks.value()[0]);
        VERIFY_OK(good);
        const auto path = BlockManager::blockFolder(folder.path("cache")) / good.value().fileName;
        const auto size = std::filesystem::file_size(path);
        for (std::uint64_t at = 0; at < size; at += 97) {
            auto bytes = readFile(path);
            VERIFY_OK(bytes);
            bytes.value()[at] = static_cast<char>(bytes.value()[at] ^ 1);
            folder.write("cache/blocks/" + good.value().fileName, bytes.value());
            auto fresh = test::openManager(config, folder.path("cache"), 100); // the first read of an attempt checks
            VERIFY_OK(fresh);
            auto healed = fresh.value().prepare(blocks.value()[0]);
            VERIFY_OK(healed);
            QVERIFY(!healed.value().fromCache);
            QCOMPARE(healed.value().digest, good.value().digest);
        }
    }
    /// The file of a block was another whole block; the worker deleted it because the tracker said so. Now the source
    /// says so.
    void aWholeBlockUnderAWrongNameIsPutAsideWhenTheSourceProvesIt()
    {
        DataFolder folder;
        const auto config = test::configFor({ folder.write("a.txt", test::indexedLines(100)) });
        auto manager = test::openManager(config, folder.path("cache"), 40).value();
        const auto blocks = test::planAll(manager).value();
        const auto first = manager.prepare(blocks[0]).value();
        const auto second = manager.prepare(blocks[1]).value();
        const auto place = BlockManager::blockFolder(folder.path("cache"));
        std::filesystem::copy_file(
            place / second.fileName, place / first.fileName, std::filesystem::copy_options::overwrite_existing);
        QCOMPARE(manager.prepare(blocks[0]).value().digest, first.digest);
        QCOMPARE(manager.prepare(blocks[0], {}, first.digest).value().digest, first.digest);
        QCOMPARE(manager.find(blocks[0]).value().digest, first.digest);
        QCOMPARE(manager.prepare(blocks[0], {}, "what a foreign tracker claims").value().digest, first.digest);
        QVERIFY(std::filesystem::exists(place / first.fileName));
    }
    void refusesDataThatChanged()
    {
        DataFolder folder;
        const auto path = folder.write("a.txt", test::indexedLines(200));
        auto config = test::configFor({ path });
        auto inspection = inspectData(config);
        VERIFY_OK(inspection);
        const auto open = [&] {
            return BlockManager::open(config, inspection.value().manifest, 50, folder.path("cache"), byteTokenizer());
        };
        VERIFY_OK(open());
        folder.write("a.txt", test::indexedLines(200)); // only its time differs
        VERIFY_OK(open());
        folder.write("a.txt", test::indexedLines(199) + "row 19X\n");
        auto changed = open();
        QVERIFY(!changed.ok());
        QCOMPARE(changed.error().code, ErrorCode::InvalidArgument);
        QVERIFY2(changed.error().message.find(path) != std::string::npos, changed.error().message.c_str());
        std::filesystem::remove(path);
        QVERIFY(!open().ok());
    }
    /// 7,000 of 12,000 rows were those of another file, and their blocks stayed in the cache under the name of this
    /// one.
    void aFileThatChangesWhileItIsReadGivesNoBlock_data()
    {
        QTest::addColumn<bool>("replaced");
        QTest::newRow("written in place") << false;
        QTest::newRow("another file in its place") << true;
    }
    void aFileThatChangesWhileItIsReadGivesNoBlock()
    {
        QFETCH(bool, replaced);
        DataFolder folder;
        const std::string original = test::indexedLines(400);
        std::string other = original;
        std::replace(other.begin(), other.end(), 'r', 'R'); // as long
        auto manager
            = test::openManager(test::configFor({ folder.write("a.txt", original) }), folder.path("cache"), 100);
        VERIFY_OK(manager);
        auto blocks = test::planAll(manager.value());
        VERIFY_OK(blocks);
        auto first = manager.value().prepare(blocks.value()[0]);
        VERIFY_OK(first);
        folder.write(replaced ? "b.txt" : "a.txt", other);
        if (replaced)
            std::filesystem::rename(folder.path("b.txt"), folder.path("a.txt"));
        for (std::size_t i = 1; i < blocks.value().size(); ++i) {
            auto changed = manager.value().prepare(blocks.value()[i]);
            QVERIFY(!changed.ok());
            QCOMPARE(changed.error().code, ErrorCode::InvalidArgument);
            QVERIFY2(changed.error().message.find("a.txt") != std::string::npos
                    && changed.error().message.find("leave_out") != std::string::npos,
                changed.error().message.c_str());
        }
        const auto kept = std::filesystem::directory_iterator(BlockManager::blockFolder(folder.path("cache")));
        QCOMPARE(std::distance(begin(kept), end(kept)), 1);
        folder.write("a.txt", original); // restored
        for (const auto& block : blocks.value())
            VERIFY_OK(manager.value().prepare(block));
    }
    void rowsThatAreNotThoseThatWerePlannedAreRefused()
    {
        DataFolder folder;
        auto manager = test::openManager(
            test::configFor({ folder.write("a.txt", test::indexedLines(400)) }), folder.path("cache"), 100);
        VERIFY_OK(manager);
        auto blocks = test::planAll(manager.value());
        VERIFY_OK(blocks);
        PlannedBlock other = blocks.value()[1];
        QVERIFY(other.segments.front().hash != 0);
        ++other.segments.front().hash;
        QVERIFY(
            manager.value().fileName(other) != manager.value().fileName(blocks.value()[1])); // the key is what was read
        auto refused = manager.value().prepare(other);
        QVERIFY(!refused.ok());
        QCOMPARE(refused.error().code, ErrorCode::Corrupt);
        QVERIFY2(refused.error().message.find("rows 100 to 199") != std::string::npos, refused.error().message.c_str());
        auto read = BlockManager::fromPlan(blocks.value()[1].plan);
        VERIFY_OK(read);
        VERIFY_OK(manager.value().prepare(read.value()));
    }
    void whatChangedIsLeftOutWhereThatIsWanted()
    {
        DataFolder folder;
        folder.write("d/a.txt", test::indexedLines(100));
        folder.write("d/b.txt", test::indexedLines(100));
        folder.write("d/c.txt", test::indexedLines(100));
        auto config = test::configFor({ utf8Text(folder.path("d")) });
        auto inspection = inspectData(config);
        VERIFY_OK(inspection);
        const auto open = [&] {
            return BlockManager::open(config, inspection.value().manifest, 50, folder.path("cache"), byteTokenizer());
        };
        auto before = open();
        VERIFY_OK(before);
        auto all = test::planAll(before.value());
        VERIFY_OK(all);
        QCOMPARE(all.value().size(), std::size_t(6));
        folder.write("d/b.txt", test::indexedLines(99) + "row XX\n");
        QVERIFY(!open().ok());
        config.badFiles = BadFiles::LeaveOut;
        auto manager = open();
        VERIFY_OK(manager);
        QCOMPARE(manager.value().leftOut().size(), std::size_t(1));
        QVERIFY(manager.value().leftOut().front().find("b.txt") != std::string::npos);
        QVERIFY(manager.value().whyLeftOut(all.value()[1]).empty());
        QVERIFY(!manager.value().whyLeftOut(all.value()[2]).empty());
        auto rest = test::planAll(manager.value());
        VERIFY_OK(rest);
        QCOMPARE(rest.value().size(), std::size_t(4));
        QVERIFY(manager.value().unprovenReason().empty());
        // the rows of a file that changed while it was planned were in no count and no sentence
        QCOMPARE(manager.value().leftOut().size(), std::size_t(2));
        QVERIFY(manager.value().leftOut().back().find("b.txt: what it had from row 0 on") != std::string::npos);
    }
    /// Names mixed up in a cache that was put back: a new run trained one block four times and others never.
    void aBlockUnderTheNameOfAnotherWasTrained()
    {
        DataFolder folder;
        auto config = test::configFor({ folder.write("a.txt", test::indexedLines(400)) });
        auto first = test::openManager(config, folder.path("cache"), 100);
        VERIFY_OK(first);
        auto blocks = test::planAll(first.value());
        VERIFY_OK(blocks);
        const auto pathOf = [&](std::size_t block) {
            return BlockManager::blockFolder(folder.path("cache")) / first.value().fileName(blocks.value()[block]);
        };
        std::vector<std::string> digests;
        for (const PlannedBlock& block : blocks.value()) {
            auto made = first.value().prepare(block);
            VERIFY_OK(made);
            digests.push_back(made.value().digest);
        }
        std::filesystem::copy_file(pathOf(0), pathOf(2), std::filesystem::copy_options::overwrite_existing);
        auto second = test::openManager(config, folder.path("cache"), 100);
        VERIFY_OK(second);
        auto again = second.value().prepare(blocks.value()[2]);
        VERIFY_OK(again);
        QVERIFY(!again.value().fromCache);
        QCOMPARE(again.value().digest, digests[2]);
        std::filesystem::copy_file(pathOf(0), pathOf(3), std::filesystem::copy_options::overwrite_existing);
        auto cache = BlockCache::open(folder.path("cache"), 1 << 30);
        VERIFY_OK(cache);
        auto verified = verifyCache(*cache.value(), {});
        VERIFY_OK(verified);
        QCOMPARE(verified.value().damaged.size(), std::size_t(1));
    }
    /// Blocks that an older Furrow made do not say whose they are. Such a one is believed where the tracker knows its
    /// content, else it is made anew, with the same digest.
    void aBlockOfAnOlderFurrowIsMadeAnewForANewRun()
    {
        DataFolder folder;
        auto config = test::configFor({ folder.write("a.txt", test::indexedLines(100)) });
        auto manager = test::openManager(config, folder.path("cache"), 100);
        VERIFY_OK(manager);
        auto blocks = test::planAll(manager.value());
        VERIFY_OK(blocks);
        auto made = manager.value().prepare(blocks.value()[0]);
        VERIFY_OK(made);
        const auto path = BlockManager::blockFolder(folder.path("cache")) / made.value().fileName;
        auto bytes = readFile(path);
        VERIFY_OK(bytes);
        std::ofstream(path, std::ios::binary) << layout::headerWithoutKey(bytes.value().substr(0, layout::kHeaderBytes))
                                              << bytes.value().substr(layout::kHeaderBytes);
        auto known = manager.value().prepare(blocks.value()[0], {}, made.value().digest);
        VERIFY_OK(known);
        QVERIFY(known.value().fromCache);
        auto fresh = manager.value().prepare(blocks.value()[0]);
        VERIFY_OK(fresh);
        QVERIFY(!fresh.value().fromCache);
        QCOMPARE(fresh.value().digest, made.value().digest);
        auto there = readFile(path);
        VERIFY_OK(there);
        QVERIFY(there.value() == bytes.value());
    }
    void theFolderOfBlocksWasRemovedWhileARunTrained()
    {
        DataFolder folder;
        auto config = test::configFor({ folder.write("a.txt", test::indexedLines(200)) });
        auto manager = test::openManager(config, folder.path("cache"), 100);
        VERIFY_OK(manager);
        auto blocks = test::planAll(manager.value());
        VERIFY_OK(blocks);
        VERIFY_OK(manager.value().prepare(blocks.value()[0]));
        std::filesystem::remove_all(BlockManager::blockFolder(folder.path("cache")));
        VERIFY_OK(manager.value().prepare(blocks.value()[0]));
    }
    void aBlockIsReadWithoutTheFileThatIsLeftOut()
    {
        DataFolder folder;
        folder.write("d/a.txt", test::indexedLines(100));
        folder.write("d/b.txt", test::indexedLines(20));
        folder.write("d/c.txt", test::indexedLines(100));
        auto config = test::configFor({ utf8Text(folder.path("d")) });
        auto inspection = inspectData(config);
        VERIFY_OK(inspection);
        const auto open = [&] {
            return BlockManager::open(config, inspection.value().manifest, 220, folder.path("cache"), byteTokenizer());
        };
        auto before = open();
        VERIFY_OK(before);
        auto all = test::planAll(before.value());
        VERIFY_OK(all);
        const PlannedBlock& planned = all.value().front();
        folder.write("d/b.txt", test::indexedLines(21));
        config.badFiles = BadFiles::LeaveOut;
        auto manager = open();
        VERIFY_OK(manager);
        auto rest = manager.value().withoutLeftOut(planned);
        VERIFY_OK(rest);
        QCOMPARE(rest.value().rows(), 220);
        QCOMPARE(rest.value().rowsLeftOut(), 20);
        QVERIFY(manager.value().whyLeftOut(rest.value()).empty());
        QVERIFY(manager.value().fileName(rest.value()) != manager.value().fileName(planned));
        auto again = BlockManager::fromPlan(rest.value().plan);
        VERIFY_OK(again);
        QVERIFY(again.value().segments == rest.value().segments);
        auto file = manager.value().prepare(again.value());
        VERIFY_OK(file);
        std::int64_t samples = 0;
        std::int64_t filtered = 0;
        for (const auto& chunk : file.value().chunks) {
            samples += chunk.samples;
            filtered += chunk.filtered;
        }
        QCOMPARE(samples, 200);
        QCOMPARE(filtered, 20);
        auto read = manager.value().readAgain(again.value(), {});
        VERIFY_OK(read);
        QCOMPARE(read.value().digest, file.value().digest);
    }
    /// A wrong transfer or a bad moment: all its files were left out for good, though each could be read again.
    void aBlockThatCanBeReadAgainWasLeftOut()
    {
        DataFolder folder;
        folder.write("d/a.txt", test::indexedLines(50));
        auto manager = test::openManager(test::configFor({ utf8Text(folder.path("d")) }), folder.path("cache"), 50);
        VERIFY_OK(manager);
        auto one = test::planAll(manager.value());
        VERIFY_OK(one);
        auto rest = manager.value().withoutUnreadable(one.value().front(), {});
        VERIFY_OK(rest);
        QCOMPARE(rest.value().plan, one.value().front().plan);
        folder.write("d/b.txt", test::indexedLines(50));
        auto two = test::openManager(test::configFor({ utf8Text(folder.path("d")) }), folder.path("cache"), 100);
        VERIFY_OK(two);
        auto both = test::planAll(two.value());
        VERIFY_OK(both);
        rest = two.value().withoutUnreadable(both.value().front(), {});
        VERIFY_OK(rest);
        QCOMPARE(rest.value().rowsLeftOut(), 0);
    }
    void holdsOutByContentAndSkipsRepeats()
    {
        DataFolder folder;
        std::string text;
        for (int i = 0; i < 400; ++i)
            text += "text " + std::to_string(i % 200) + "\n";
        auto config = test::configFor({ folder.write("a.txt", text) });
        config.heldOutPercent = 20;
        config.duplicates = Duplicates::Skip;
        config.chunkSamples = 400;
        auto manager = test::openManager(config, folder.path("cache"), 400);
        VERIFY_OK(manager);
        auto blocks = test::planAll(manager.value());
        VERIFY_OK(blocks);
        auto file = manager.value().prepare(blocks.value()[0]);
        VERIFY_OK(file);
        const auto& sum = file.value().chunks[0];
        QCOMPARE(sum.samples + sum.filtered + sum.failed + sum.heldOut + sum.duplicates, sum.rows);
        QVERIFY(sum.heldOut > 20 && sum.heldOut < 140);
        QCOMPARE(sum.duplicates, sum.samples); // each text twice
        QCOMPARE(sum.repeats, 0);
        auto block = PreparedBlock::open(BlockManager::blockFolder(folder.path("cache")) / file.value().fileName);
        VERIFY_OK(block);
        auto chunk = block.value().readChunk(0);
        VERIFY_OK(chunk);
        std::set<std::string> trained, heldOut;
        for (std::size_t i = 0; i < chunk.value().flags.size(); ++i)
            ((chunk.value().flags[i] & SampleHeldOut) != 0 ? heldOut : trained)
                .insert(test::sampleText(chunk.value(), i));
        for (const auto& one : heldOut)
            QVERIFY(!trained.contains(one));
        const ChunkWindows windows(chunk.value(), byteTokenizer()->endOfText(), { 16 }, {});
        QCOMPARE(windows.count(), windowCount(sum.tokens, sum.samples, 16));
        // the frozen evaluation set has the same texts
        auto inspection = inspectData(config);
        VERIFY_OK(inspection);
        VERIFY_OK(freezeHeldOut(config, inspection.value().manifest, *byteTokenizer(), folder.path("heldout.bin")));
        auto set = readHeldOut(folder.path("heldout.bin"));
        VERIFY_OK(set);
        QVERIFY(set.value().complete);
        QVERIFY(!set.value().alsoTrained);
        std::set<std::string> frozen;
        for (std::size_t i = 0; i < set.value().text.flags.size(); ++i)
            frozen.insert(test::sampleText(set.value().text, i));
        QCOMPARE(frozen, heldOut);
    }
    void anEvaluationTextOfItsOwnIsReadWhole()
    {
        DataFolder folder;
        auto config = test::configFor({ folder.write("a.txt", test::indexedLines(500)) });
        config.evalData = folder.write("b.jsonl", "{\"text\":\"one\"}\n{\"text\":\"two\"}\n");
        config.startSample = 7; // of the training data alone
        auto inspection = inspectData(config);
        VERIFY_OK(inspection);
        const auto path = folder.path("heldout.bin");
        VERIFY_OK(freezeHeldOut(config, inspection.value().manifest, *byteTokenizer(), path));
        const auto set = readHeldOut(path);
        VERIFY_OK(set);
        QCOMPARE(set.value().text.count(), 2);
        QCOMPARE(test::sampleText(set.value().text, 1), "two");
        QVERIFY(set.value().complete && !set.value().alsoTrained);

        HeldOutLimits limits;
        limits.maxTokens = 2;
        const auto part = readEvaluationText(config, config.evalData, *byteTokenizer(), limits);
        VERIFY_OK(part);
        QCOMPARE(part.value().text.count(), 1);
        QVERIFY(!part.value().complete);

        config.minChars = 10;
        const auto none = readEvaluationText(config, config.evalData, *byteTokenizer());
        QVERIFY(!none.ok() && none.error().message.find("b.jsonl has no sample") != std::string::npos);
        const auto missing = readEvaluationText(config, folder.path("c.txt").string(), *byteTokenizer());
        QVERIFY(!missing.ok() && missing.error().message.find("c.txt") != std::string::npos);
    }
    void rowsThatAreNotInAnEvaluationTextWereNotSaid()
    {
        DataFolder folder;
        auto config = test::configFor({ folder.write("a.txt", test::indexedLines(50)) });
        const auto source = folder.write(
            "b.jsonl", "{\"text\":\"one\"}\n{\"text\": torn\n{\"text\":\"\"}\n{\"text\":\"two\"}\n{\"no\":1}\n");
        const auto set = readEvaluationText(config, source, *byteTokenizer());
        VERIFY_OK(set);
        QCOMPARE(set.value().text.count(), 2);
        QCOMPARE(set.value().left.unreadable, 2);
        QCOMPARE(set.value().left.filtered, 1);
        const auto said = leftInWords(set.value().left);
        QCOMPARE(said.size(), std::size_t(2));
        QVERIFY2(said.front().find("2 rows of the evaluation text cannot be used") != std::string::npos
                && said.front().find("row 1 (line 2) of") != std::string::npos,
            said.front().c_str());
    }
    void bytesThatWereCutOffCountedInBitsPerByte()
    {
        DataFolder folder;
        auto config = test::configFor({ folder.write("a.txt", test::indexedLines(50)) });
        config.seqLen = 16;
        config.longSamples = LongSamples::Cut;
        const auto source = folder.write("b.txt", std::string(100, 'x') + "\nshort\n" + std::string(15, 'y') + "\n");
        const auto set = readEvaluationText(config, source, *byteTokenizer());
        VERIFY_OK(set);
        QCOMPARE(set.value().text.tokens.size(), std::size_t(15 + 5 + 15));
        QCOMPARE(set.value().textBytes, std::uint64_t(15 + 5 + 15));
    }
    /// A million tokens were looked for, in up to 256 MiB of text (of the hub: downloaded), though an evaluation takes
    /// some ten thousand.
    void settingHeldOutTextAsideReadsNoMoreThanAnEvaluationTakes()
    {
        DataFolder folder;
        auto config = test::configFor({ folder.write("a.txt", test::indexedLines(400'000)) });
        config.heldOutPercent = 20;
        auto inspection = inspectData(config);
        VERIFY_OK(inspection);
        config.evalBatches = 20;
        config.batchSize = 12;
        config.seqLen = 512;
        const auto path = folder.path("heldout.bin");
        VERIFY_OK(freezeHeldOut(config, inspection.value().manifest, *byteTokenizer(), path, heldOutLimits(config)));
        const auto set = readHeldOut(path);
        VERIFY_OK(set);
        const auto tokens = static_cast<std::int64_t>(set.value().text.tokens.size());
        QVERIFY2(tokens >= 20 * 12 * 512 && tokens < 20 * 12 * 512 + 20, std::to_string(tokens).c_str());
        QVERIFY(!set.value().complete);
        config.seqLen = 1;
        QCOMPARE(heldOutLimits(config).maxTokens, std::int64_t(1 << 16)); // a loss over a few samples says nothing
        config.evalBatches = 100'000;
        config.batchSize = 1'000'000;
        config.seqLen = 1'000'000;
        QCOMPARE(heldOutLimits(config).maxTokens, HeldOutLimits {}.maxTokens);
    }
    void freezesABoundedEvaluationSet()
    {
        DataFolder folder;
        auto config = test::configFor({ folder.write("a.txt", test::indexedLines(5000)) });
        auto inspection = inspectData(config);
        VERIFY_OK(inspection);
        const auto path = folder.path("heldout.bin");
        const auto freeze = [&](double percent, std::int64_t maxTokens) {
            config.heldOutPercent = percent;
            HeldOutLimits limits;
            limits.maxTokens = maxTokens;
            const auto status = freezeHeldOut(config, inspection.value().manifest, *byteTokenizer(), path, limits);
            return status.ok() ? readHeldOut(path) : Result<HeldOut>(status.error());
        };
        auto some = freeze(50, 1000);
        VERIFY_OK(some);
        QVERIFY(some.value().text.tokens.size() >= 1000 && some.value().text.tokens.size() < 1020);
        QVERIFY(!some.value().complete);
        auto none = freeze(0, 1000);
        VERIFY_OK(none);
        QVERIFY(none.value().text.flags.empty() && !none.value().alsoTrained);
        auto tiny = freeze(1e-9, 1000);
        VERIFY_OK(tiny);
        QVERIFY(tiny.value().alsoTrained && !tiny.value().text.flags.empty());
        auto bytes = readFile(path);
        VERIFY_OK(bytes);
        for (std::size_t i = 0; i < bytes.value().size(); ++i) {
            std::string bad = bytes.value();
            bad[i] = static_cast<char>(bad[i] ^ 4);
            QVERIFY(!readHeldOut(folder.write("bad.bin", bad)).ok());
            QVERIFY(!readHeldOut(folder.write("bad.bin", bytes.value().substr(0, i))).ok());
        }
    }
    /// "The data has 1 samples".
    void oneSampleWasSaidInThePlural()
    {
        DataFolder folder;
        const auto inspection = inspectData(test::configFor({ folder.write("a.txt", test::indexedLines(1)) }));
        VERIFY_OK(inspection);
        const Message& why = inspection.value().samplesPerBlockReason;
        QVERIFY2(why.find("too few samples (1): blocks of ") != std::string::npos, why.c_str());
        QVERIFY2(why.find("1 samples") == std::string::npos, why.c_str());
    }
    void lowersTheBlockSizeForSmallData()
    {
        DataFolder folder;
        auto config = test::configFor({ folder.write("a.txt", test::indexedLines(10000)) });
        auto inspection = inspectData(config);
        VERIFY_OK(inspection);
        QCOMPARE(inspection.value().rows, 10000);
        QVERIFY(inspection.value().rowsExact);
        QVERIFY(inspection.value().blocks.value() >= 3);
        QVERIFY(!inspection.value().samplesPerBlockReason.empty());
        config.samplesPerBlock = 400;
        config.chunkSamples = 20;
        auto fitting = inspectData(config);
        VERIFY_OK(fitting);
        QCOMPARE(fitting.value().samplesPerBlock, 400);
        QVERIFY(fitting.value().samplesPerBlockReason.empty());
        QCOMPARE(fitting.value().chunks.value(), 500);
    }
    void aRowWithoutATokenIsNotTrained()
    {
        DataFolder folder;
        const std::string json
            = R"({"pre_tokenizer":{"type":"Whitespace"},"model":{"type":"BPE","vocab":{"a":0,"b":1},"merges":[]}})";
        const auto tokenizer = loadTokenizerDefinition(json, "x");
        VERIFY_OK(tokenizer);
        const auto config = test::configFor({ folder.write("a.txt", "ab\n\u20ac\u20ac\na\u20acb\n") });
        const auto inspection = inspectData(config);
        VERIFY_OK(inspection);
        auto before = nlohmann::json::parse(inspection.value().manifest);
        QVERIFY(before.erase("refuses_no_tokens") == 1); // as a run has it that began with an older Furrow
        std::vector<PreparedFile> made;
        for (const auto& manifest : { inspection.value().manifest, before.dump() }) {
            auto manager = BlockManager::open(config, manifest, 100, folder.path("cache"), tokenizer.value());
            VERIFY_OK(manager);
            auto blocks = test::planAll(manager.value());
            VERIFY_OK(blocks);
            auto file = manager.value().prepare(blocks.value().front());
            VERIFY_OK(file);
            QVERIFY(!file.value().fromCache); // the second one is not given what means something else
            made.push_back(std::move(file).value());
            auto block = manager.value().openBlock(made.back());
            VERIFY_OK(block);
            QCOMPARE(block.value().summaries(), made.back().chunks);
            const auto why = manager.value().firstUnreadable(blocks.value().front(), block.value());
            QCOMPARE(why.find("becomes no token") != std::string::npos, made.size() == 1);
        }
        const auto& now = made[0].chunks.front();
        QCOMPARE(now.samples, std::int64_t(2));
        QCOMPARE(now.failed, std::int64_t(1));
        QCOMPARE(now.tokens, std::int64_t(4));
        QCOMPARE(now.dropped, std::int64_t(3));
        QCOMPARE(made[1].chunks.front().samples, std::int64_t(3)); // as it was recorded
        QCOMPARE(made[1].chunks.front().dropped, std::int64_t(0));
    }
    void takesOnlyTheWantedSamples()
    {
        DataFolder folder;
        folder.write("d/a.txt", test::indexedLines(100));
        folder.write("d/b.txt", test::indexedLines(100));
        auto config = test::configFor({ utf8Text(folder.path("d")) });
        config.startSample = 90;
        config.maxSamples = 30;
        auto texts = test::readAll(config, folder.path("cache"), 8);
        VERIFY_OK(texts);
        auto expected = numbered(90, 100);
        const auto more = numbered(0, 20);
        expected.insert(expected.end(), more.begin(), more.end());
        QCOMPARE(texts.value(), expected);
    }
    void cutsChunksByBytes()
    {
        DataFolder folder;
        auto config = test::configFor({ folder.write("a.txt",
            std::string(600, 'a') + "\n" + std::string(600, 'b') + "\nc\nd\n" + std::string(3000, 'e') + "\nf\n") });
        config.chunkBytes = 1024;
        auto manager = test::openManager(config, folder.path("cache"), 100);
        VERIFY_OK(manager);
        auto blocks = test::planAll(manager.value());
        VERIFY_OK(blocks);
        QCOMPARE(blocks.value()[0].chunkRows, (std::vector<std::int64_t> { 1, 3, 1, 1 }));
    }
    /// "A block plan of this run cannot be read ([json.exception.type_error.302] type must be number, but is string)."
    void whatARunSaysOfItsDataIsRefusedInPlainWords_data()
    {
        QTest::addColumn<QString>("whole");
        QTest::addColumn<QString>("edited");
        QTest::addColumn<QString>("says");
        QTest::newRow("plan: no JSON") << "{" << "<"
                                       << "A block plan of this run cannot be read: it is not JSON at byte 1.";
        QTest::newRow("plan: a missing key")
            << "\"block\"" << "\"b\"" << "A block plan of this run cannot be read: it has no key 'block'.";
        QTest::newRow("plan: a text")
            << "\"first_row\":0" << "\"first_row\":\"0\""
            << "A block plan of this run cannot be read: its key 'first_row' is not a whole number.";
        QTest::newRow("plan: a file of too many bits")
            << "\"segments\":[[0," << "\"segments\":[[4294967296,"
            << "A block plan of this run cannot be read: its key 'segments[0][0]' is 4294967296, which it cannot be.";
        QTest::newRow("plan: rows") << "\"chunk_rows\":[" << "\"chunk_rows\":[1,"
                                    << "A block plan of this run does not add up.";
        QTest::newRow("manifest: no JSON") << "{\"refuses" << "<\"refuses"
                                           << "The data manifest in run.json cannot be read: it is not JSON at byte 1.";
        QTest::newRow("manifest: a missing key")
            << "\"sha256\"" << "\"sha\""
            << "The data manifest in run.json cannot be read: it has no key 'sources[0].files[0].sha256'.";
        QTest::newRow("manifest: a text")
            << "\"skip_bytes\":0" << "\"skip_bytes\":\"0\""
            << "The data manifest in run.json cannot be read: its key 'sources[0].files[0].skip_bytes' is not a whole number.";
        QTest::newRow("manifest: a format")
            << "\"format\":\"text\"" << "\"format\":\"txet\""
            << "The data manifest in run.json cannot be read: its key 'sources[0].files[0].format' is a format that this Furrow does not know.";
        QTest::newRow("manifest: a compression")
            << "\"compression\":\"none\"" << "\"compression\":\"rar\""
            << "its key 'sources[0].files[0].compression' is a compression that this Furrow does not know.";
    }
    void whatARunSaysOfItsDataIsRefusedInPlainWords()
    {
        QFETCH(QString, whole);
        QFETCH(QString, edited);
        QFETCH(QString, says);
        DataFolder folder;
        auto config = test::configFor({ folder.write("a.txt", test::indexedLines(100)) });
        auto manager = test::openManager(config, folder.path("cache"), 100);
        VERIFY_OK(manager);
        auto blocks = test::planAll(manager.value());
        VERIFY_OK(blocks);
        auto inspection = inspectData(config);
        VERIFY_OK(inspection);
        const bool ofPlan = QByteArray(QTest::currentDataTag()).startsWith("plan");
        auto text = QString::fromStdString(ofPlan ? blocks.value()[0].plan : inspection.value().manifest);
        QVERIFY2(text.contains(whole), qPrintable(text));
        text.replace(text.indexOf(whole), whole.size(), edited);
        const auto plan = BlockManager::fromPlan(text.toStdString());
        const auto manifest = readManifest(text.toStdString());
        const Error error = ofPlan ? plan.error() : manifest.error();
        QCOMPARE(error.code, ErrorCode::Corrupt);
        QVERIFY2(QString::fromStdString(error.message).contains(says), error.message.c_str());
    }
    void stopsWhenAsked()
    {
        DataFolder folder;
        auto config = test::configFor({ folder.write("a.txt", test::indexedLines(100)) });
        config.chunkSamples = 10;
        auto manager = test::openManager(config, folder.path("cache"), 100);
        VERIFY_OK(manager);
        auto blocks = test::planAll(manager.value());
        VERIFY_OK(blocks);
        int asked = 0;
        auto file = manager.value().prepare(blocks.value()[0], [&] { return ++asked < 3; });
        QVERIFY(!file.ok());
        QCOMPARE(file.error().code, ErrorCode::Cancelled);
        VERIFY_OK(manager.value().prepare(blocks.value()[0]));
    }
};

QTEST_GUILESS_MAIN(TestBlockManager)
#include "tst_block_manager.moc"
