#include "data_fixture.h"
#include "core/base/hash.h"
#include "core/data/plan/each_row.h"
#include "core/data/source/checked_file.h"
#include "tests/fakes/archives.h"
#include "tests/fakes/gzip.h"

#include <QElapsedTimer>
#include <QtTest>

#include <fstream>
#include <functional>

#define VERIFY_OK(result) QVERIFY2((result).ok(), (result).ok() ? "" : (result).error().message.c_str())

using namespace furrow;
using test::DataFolder;
using test::tarEntry;
using test::ZipFile;

namespace {

std::string lines(int from, int to)
{
    std::string text;
    for (int i = from; i < to; ++i)
        text += "row " + std::to_string(i) + "\n";
    return text;
}

std::vector<std::string> rows(int from, int to)
{
    std::vector<std::string> all;
    for (int i = from; i < to; ++i)
        all.push_back("row " + std::to_string(i));
    return all;
}

/// a.txt, b/2.jsonl and b/10.csv.gz hold rows 0 to 99, 100 to 199, 200 to 299.
struct Parts {
    std::string text = lines(0, 100);
    std::string json;
    std::string csv = "id,text\n";
    Parts()
    {
        for (int i = 100; i < 200; ++i)
            json += "{\"text\":\"row " + std::to_string(i) + "\"}\n";
        for (int i = 200; i < 300; ++i)
            csv += std::to_string(i) + ",row " + std::to_string(i) + "\n";
        csv = test::gzip(csv);
    }
    /// In natural order, as an archive is read that is compressed as a whole.
    std::string sortedTar() const
    {
        return tarEntry("photo.jpg", "no") + tarEntry("a.txt", text) + tarEntry("b/", "", '5')
            + tarEntry("b/2.jsonl", json) + tarEntry("b/.hidden.txt", "no") + tarEntry("b/10.csv.gz", csv)
            + test::tarEnd();
    }
    std::string tar() const
    {
        return tarEntry("b/", "", '5') + tarEntry("b/10.csv.gz", csv) + tarEntry("b/2.jsonl", json)
            + tarEntry("a.txt", text) + tarEntry("b/.hidden.txt", "no") + tarEntry("photo.jpg", "no") + test::tarEnd();
    }
};

} // namespace

class TestArchives : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void readsWhatLiesInside_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QByteArray>("bytes");
        const auto add = [](const char* name, const std::string& bytes) {
            QTest::newRow(name) << QString(name) << QByteArray::fromStdString(bytes);
        };
        const Parts parts;
        const auto zip = [&parts](int method, bool in64) {
            return test::zipArchive(
                { { "b/10.csv.gz", parts.csv, method, 0, in64 }, { "b/2.jsonl", parts.json, method, 0, in64 },
                    { "b/", "", 0, 0, in64 }, { "a.txt", parts.text, method, 0, in64 },
                    { "photo.jpg", "no", 0, 0, in64 }, { "__MACOSX/a.txt", "no", 0, 0, in64 } });
        };
        add("deflated.zip", zip(8, false));
        add("stored.zip", zip(0, false));
        add("large.zip", zip(8, true));
        add("zip-without-a-name", zip(8, false));
        add("plain.tar", parts.tar());
        add("tar-without-a-name", parts.tar());
        add("packed.tar.gz", test::gzip(parts.sortedTar()));
        add("packed.tgz", test::gzip(parts.sortedTar()));
        add("packed.tar.zst", test::zstd(parts.sortedTar()));
        add("packed.tar.xz", test::xz(parts.sortedTar()));
        add("packed.tar.bz2", test::bzip2(parts.sortedTar()));
    }
    void readsWhatLiesInside()
    {
        QFETCH(QString, name);
        QFETCH(QByteArray, bytes);
        DataFolder folder;
        auto config = test::configFor({ folder.write(name.toStdString(), bytes.toStdString()) });
        config.chunkSamples = 20;
        auto inspection = inspectData(config);
        VERIFY_OK(inspection);
        QCOMPARE(inspection.value().files, 3);
        QCOMPARE(inspection.value().rows, 300);
        QString warnings;
        for (const auto& warning : inspection.value().warnings)
            warnings += QString::fromStdString(warning) + "\n";
        const bool isTar = !name.contains("zip"); // those of zip hold what macOS adds in place of the hidden file
        QCOMPARE(warnings.count(name), isTar ? 2 : 1);
        QVERIFY2(warnings.contains(name + "/photo.jpg"), qPrintable(warnings));
        QCOMPARE(warnings.contains(name + "/b/.hidden.txt is hidden"), isTar);
        auto texts = test::readAll(config, folder.path("cache"), 50);
        VERIFY_OK(texts);
        QCOMPARE(texts.value(), rows(0, 300));
        auto manifest = readManifest(inspection.value().manifest);
        VERIFY_OK(manifest);
        QCOMPARE(writeManifest(manifest.value()), inspection.value().manifest);
        QCOMPARE(QString::fromStdString(manifest.value().sources[0].files[1].path),
            QString::fromStdString(config.data[0] + "/b/2.jsonl"));
    }
    void filesOfOneNameAreARow_data()
    {
        QTest::addColumn<QString>("column");
        QTest::addColumn<bool>("packed");
        for (const char* column : { "txt", "TXT", "json.caption.text" })
            for (const bool packed : { false, true })
                QTest::newRow(qPrintable(QStringLiteral("%1 %2").arg(column).arg(packed))) << column << packed;
    }
    void filesOfOneNameAreARow()
    {
        QFETCH(QString, column);
        QFETCH(bool, packed);
        std::string tar;
        for (int i = 0; i < 300; ++i) {
            const std::string name = "train/" + std::to_string(i), row = "row " + std::to_string(i);
            tar += tarEntry(name + ".jpg", std::string(700, '\xff')) + tarEntry(name + ".TXT", row)
                + tarEntry(name + ".json", "{\"caption\":{\"text\":\"" + row + "\"}}");
        }
        tar += tarEntry("README", "no sample") + test::tarEnd();
        DataFolder folder;
        auto config
            = test::configFor({ packed ? folder.write("a.tar.gz", test::gzip(tar)) : folder.write("a.tar", tar) });
        config.chunkSamples = 20;
        config.textColumn = column.toStdString();
        auto inspection = inspectData(config);
        VERIFY_OK(inspection);
        QCOMPARE(inspection.value().rows, 300);
        QCOMPARE(inspection.value().columns, (std::vector<std::string> { "jpg", "json", "txt" }));
        auto texts = test::readAll(config, folder.path("cache"), 50);
        VERIFY_OK(texts);
        QCOMPARE(texts.value(), rows(0, 300));
    }
    void aSampleWithoutItsTextIsUnreadable()
    {
        const std::string tar = tarEntry("0.txt", "row 0") + tarEntry("0.cls", "1") + tarEntry("1.cls", "1")
            + tarEntry("2.txt", "row 2") + tarEntry("2.txt", "again") + tarEntry("3.txt", "row 1") + test::tarEnd();
        DataFolder folder;
        auto config = test::configFor({ folder.write("a.tar", tar) });
        auto inspection = inspectData(config);
        VERIFY_OK(inspection);
        QCOMPARE(inspection.value().rows, 4);
        auto texts = test::readAll(config, folder.path("cache"), 50);
        VERIFY_OK(texts);
        QCOMPARE(texts.value(), rows(0, 2));
    }
    void readsLongNamesOfEveryKind()
    {
        DataFolder folder;
        const std::string longName = "folder/" + std::string(150, 'n') + ".txt";
        const std::string gnu = tarEntry("././@LongLink", longName + '\0', 'L')
            + tarEntry(longName.substr(0, 100), lines(0, 10)) + test::tarEnd();
        const std::string pax = tarEntry("pax_global_header", test::paxRecord("comment", "x"), 'g')
            + tarEntry("PaxHeaders/x", test::paxRecord("path", longName) + test::paxRecord("size", "60"), 'x')
            + tarEntry("short", lines(0, 10)) + test::tarEnd();
        for (const auto& tar : { gnu, pax }) {
            auto config = test::configFor({ folder.write("a.tar", tar) });
            auto inspection = inspectData(config);
            VERIFY_OK(inspection);
            QVERIFY(inspection.value().manifest.find(longName) != std::string::npos);
            QCOMPARE(inspection.value().rows, 10);
        }
    }
    /// Each of 20,000 files of a packed archive was found by expanding the archive from its beginning: three minutes to
    /// look at 250 kB.
    void filesOfAPackedArchiveAreReadInOnePass()
    {
        std::string tar;
        std::vector<std::string> all;
        for (int i = 0; i < 5000; ++i) {
            all.push_back("row " + std::to_string(i));
            tar += tarEntry("d/" + std::to_string(10000 - i) + ".txt", all.back() + "\n");
        }
        DataFolder folder;
        const auto config = test::configFor({ folder.write("a.tar.gz", test::gzip(tar + test::tarEnd())) });
        QElapsedTimer timer;
        timer.start();
        auto inspection = inspectData(config);
        VERIFY_OK(inspection);
        std::vector<std::string> texts;
        const auto collect = [&texts](std::string_view text) {
            texts.emplace_back(text);
            return Result<bool>(true);
        };
        const auto status = forEachText(config, inspection.value().manifest, collect);
        VERIFY_OK(status);
        QCOMPARE(texts, all);
        QVERIFY2(timer.elapsed() < 10'000, qPrintable(QString::number(timer.elapsed())));
    }
    /// Each of them was written into the cache as a file of its own.
    void smallFilesOfAZipArchiveStayInMemory()
    {
        std::vector<ZipFile> files;
        std::vector<std::string> all;
        for (int i = 0; i < 2000; ++i) {
            all.push_back("row " + std::to_string(i));
            files.push_back({ "d/" + std::to_string(i) + ".txt", all.back() + "\n", i % 2 == 0 ? 8 : 0 });
        }
        files.push_back({ "large.txt", lines(2000, 200'000) });
        for (int i = 2000; i < 200'000; ++i)
            all.push_back("row " + std::to_string(i));
        DataFolder folder;
        auto config = test::configFor({ folder.write("a.zip", test::zipArchive(files)) });
        config.chunkSamples = 1000;
        auto texts = test::readAll(config, folder.path("cache"), 20'000);
        VERIFY_OK(texts);
        QCOMPARE(texts.value(), all);
        int expanded = 0;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path("cache")))
            expanded += entry.path().extension() == ".checked" ? 1 : 0;
        QCOMPARE(expanded, 1);
    }
    /// What is expanded into the cache was believed: one flipped bit, or other letters, were trained, and an audit that
    /// read "the source" once more read the same copy.
    void aChangedCopyInTheCacheWasTrainedForTheSource()
    {
        std::vector<std::string> all;
        for (int i = 0; i < 300'000; ++i) // several pieces
            all.push_back("row " + std::to_string(i));
        DataFolder folder;
        auto config = test::configFor({ folder.write("a.txt.gz", test::gzip(lines(0, 300'000))) });
        config.chunkSamples = 1000;
        const auto read = [&] {
            std::filesystem::remove_all(folder.path("cache") / "blocks");
            auto texts = test::readAll(config, folder.path("cache"), 20'000);
            if (!texts.ok() && texts.error().code == ErrorCode::Busy) // a feeder tries again too
                texts = test::readAll(config, folder.path("cache"), 20'000);
            return texts.ok() ? texts.value() : std::vector<std::string> { texts.error().message };
        };
        QVERIFY(read() == all);
        std::filesystem::path copy;
        for (const auto& entry : std::filesystem::directory_iterator(folder.path("cache") / "expanded"))
            copy = entry.path();
        const auto spoil = [&copy](const std::function<void(std::string&)>& how) {
            std::ifstream in(copy, std::ios::binary);
            std::string bytes { std::istreambuf_iterator<char>(in), {} };
            how(bytes);
            std::ofstream(copy, std::ios::binary | std::ios::trunc) << bytes;
        };
        for (const std::size_t at : { std::size_t(7), std::size_t(2'500'000) }) {
            spoil([at](std::string& bytes) { bytes[at] = static_cast<char>(bytes[at] ^ 1); });
            QVERIFY(!verifyChecked(copy).ok());
            QVERIFY(read() == all);
            VERIFY_OK(verifyChecked(copy)); // made again
        }
        spoil([](std::string& bytes) { bytes.resize(bytes.size() / 2); });
        QVERIFY(read() == all);

        const std::string other = lines(5, 300'005); // whole, and of another source
        std::vector<std::uint64_t> sums;
        for (std::size_t at = 0; at < other.size(); at += kCheckedPieceBytes)
            sums.push_back(xxh3(std::string_view(other).substr(at, kCheckedPieceBytes)));
        spoil([&](std::string& bytes) { bytes = other + checkedTrailer(sums, other.size()); });
        VERIFY_OK(verifyChecked(copy));
        const auto source = streamFrom(memorySource(lines(0, 300'000)), 0);
        const auto same = holdsAllOf(copy, *source);
        VERIFY_OK(same);
        QVERIFY(!same.value());
    }

    void archivesOfAFolderAreReadInOrder()
    {
        DataFolder folder;
        folder.write("d/2.zip", test::zipArchive({ { "a.txt", lines(100, 200) } }));
        folder.write("d/10.tar", tarEntry("a.txt", lines(200, 300)) + test::tarEnd());
        folder.write("d/1.txt", lines(0, 100));
        folder.write("d/read.me", "no data\n");
        folder.write("d/11.zip", test::zipArchive({ { "photo.jpg", "no" } }));
        auto config = test::configFor({ utf8Text(folder.path("d")) });
        config.chunkSamples = 20;
        auto inspection = inspectData(config);
        VERIFY_OK(inspection);
        QCOMPARE(inspection.value().warnings.size(), std::size_t(2));
        auto texts = test::readAll(config, folder.path("cache"), 50);
        VERIFY_OK(texts);
        QCOMPARE(texts.value(), rows(0, 300));
    }
    /// Packed it takes two bytes, so it was looked at, and refused the whole archive.
    void anEmptyFileRefusedItsArchive()
    {
        DataFolder folder;
        const auto config = test::configFor({ folder.write(
            "a.zip", test::zipArchive({ { "a.jsonl", "{\"text\":\"one\"}\n", 8 }, { "empty.jsonl", "", 8 } })) });
        const auto inspection = inspectData(config);
        VERIFY_OK(inspection);
        QCOMPARE(inspection.value().rows, 1);
        QCOMPARE(inspection.value().warnings.size(), std::size_t(1));
        QVERIFY2(inspection.value().warnings[0].find("empty.jsonl is empty") != std::string::npos,
            inspection.value().warnings[0].c_str());
    }
    /// tar stops at the first mark of an end: the second archive was left out without a word.
    void archivesThatWereJoinedLostAllButTheFirst()
    {
        DataFolder folder;
        const auto one = tarEntry("a.txt", lines(0, 100)) + test::tarEnd();
        const auto web = tarEntry("1.txt", "one") + tarEntry("1.cls", "0") + tarEntry("2.txt", "two")
            + tarEntry("2.cls", "1") + test::tarEnd();
        const std::string filled(8192, '\0'); // the last record of an archive
        for (const auto& [name, bytes] : std::map<std::string, std::string> { { "joined.tar", one + filled + one },
                 { "joined.tgz", test::gzip(one + filled + one) }, { "web.tar", web + filled + web } }) {
            const auto refused = inspectData(test::configFor({ folder.write(name, bytes) }));
            QVERIFY(!refused.ok());
            QVERIFY2(refused.error().message.find("archives that were joined") != std::string::npos,
                refused.error().message.c_str());
        }
        VERIFY_OK(inspectData(test::configFor({ folder.write("filled.tar", one + filled) })));
    }
    /// As 'tar -cf a.tar .' writes it; each of its files was taken for a hidden one, and left out without a word.
    void filesWhoseNamesBeginWithDotAndSlashWereDropped()
    {
        DataFolder folder;
        const std::string hidden = "no\n";
        const auto tar = tarEntry("./", "", '5') + tarEntry("./a.txt", lines(0, 50)) + tarEntry("./b/", "", '5')
            + tarEntry("./b/./c.txt", lines(50, 100)) + tarEntry("./b/.d.txt", hidden)
            + tarEntry("./.git/e.txt", hidden) + test::tarEnd();
        const auto zip = test::zipArchive(
            { { "./a.txt", lines(0, 50) }, { "./b/./c.txt", lines(50, 100) }, { "./b/.d.txt", hidden } });
        for (const auto& [name, bytes] : std::map<std::string, std::string> {
                 { "dot.tar", tar }, { "dot.tgz", test::gzip(tar) }, { "dot.zip", zip } }) {
            const auto config = test::configFor({ folder.write(name, bytes) });
            const auto inspection = inspectData(config);
            VERIFY_OK(inspection);
            QCOMPARE(inspection.value().warnings.size(), std::size_t(1));
            QVERIFY2(inspection.value().warnings[0].find("/b/.d.txt is hidden") != std::string::npos,
                inspection.value().warnings[0].c_str());
            const auto texts = test::readAll(config, folder.path("cache"));
            VERIFY_OK(texts);
            QVERIFY(texts.value() == rows(0, 100));
        }
        const auto twice = inspectData(test::configFor(
            { folder.write("twice.tar", tarEntry("a.txt", "one\n") + tarEntry("./a.txt", "two\n") + test::tarEnd()) }));
        QVERIFY(!twice.ok());
        QVERIFY2(twice.error().message.find("a.txt stands in its archive twice") != std::string::npos,
            twice.error().message.c_str());
    }
    /// GNU tar gives such a file another name for those who know no holes: it was left out without a word.
    void filesWithHolesInPaxArchivesWereDroppedWithoutAWord_data()
    {
        QTest::addColumn<QByteArray>("sparse");
        const std::string data = lines(0, 200);
        const auto pax = [&](const std::string& records, const std::string& name) {
            return QByteArray::fromStdString(tarEntry("./PaxHeaders/holes.txt", records, 'x') + tarEntry(name, data));
        };
        const auto named = test::paxRecord("GNU.sparse.name", "./holes.txt");
        const std::string other = "./GNUSparseFile.7/holes.txt";
        const auto version1 = test::paxRecord("GNU.sparse.major", "1") + test::paxRecord("GNU.sparse.minor", "0");
        QTest::newRow("pax 1.0") << pax(version1 + named + test::paxRecord("GNU.sparse.realsize", "1048576"), other);
        QTest::newRow("pax 1.0, and a path behind it") << pax(version1 + named + test::paxRecord("path", other), other);
        QTest::newRow("pax 0.1") << pax(test::paxRecord("GNU.sparse.size", "1048576")
                + test::paxRecord("GNU.sparse.numblocks", "1") + named
                + test::paxRecord("GNU.sparse.map", "0," + std::to_string(data.size())),
            other);
        QTest::newRow("pax 0.0") << pax(test::paxRecord("GNU.sparse.size", "1048576"), "holes.txt");
        // Of more than four stretches: the list goes on in blocks behind the header.
        auto old = tarEntry("holes.txt", data, 'S');
        old[482] = 1;
        auto more = std::string(512, '\0');
        more[504] = 1;
        QTest::newRow("gnu") << QByteArray::fromStdString(
            test::withTarSum(old.substr(0, 512)) + more + std::string(512, '\0') + old.substr(512));
    }
    void filesWithHolesInPaxArchivesWereDroppedWithoutAWord()
    {
        QFETCH(QByteArray, sparse);
        DataFolder folder;
        const auto inspection = inspectData(test::configFor(
            { folder.write("a.tar", sparse.toStdString() + tarEntry("b.txt", lines(0, 10)) + test::tarEnd()) }));
        VERIFY_OK(inspection);
        QCOMPARE(inspection.value().rows, 10);
        QCOMPARE(inspection.value().warnings.size(), std::size_t(1));
        QVERIFY2(
            inspection.value().warnings[0].find("a.tar/holes.txt is stored with holes (sparse)") != std::string::npos,
            inspection.value().warnings[0].c_str());
        const auto alone
            = inspectData(test::configFor({ folder.write("alone.tar", sparse.toStdString() + test::tarEnd()) }));
        QVERIFY(!alone.ok());
        QVERIFY2(alone.error().message.find("alone.tar/holes.txt is stored with holes") != std::string::npos,
            alone.error().message.c_str());
    }
    void refusesWithASentence_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QByteArray>("bytes");
        QTest::addColumn<QString>("says");
        QTest::addColumn<bool>("isDamage");
        const auto add = [](const char* name, const std::string& bytes, const char* says, bool isDamage) {
            QTest::newRow(name) << QString(name) << QByteArray::fromStdString(bytes) << QString(says) << isDamage;
        };
        const std::string text = lines(0, 1000);
        const std::string zip = test::zipArchive({ { "a.txt", text } });
        const std::string tar = tarEntry("a.txt", text) + test::tarEnd();
        add("cut.zip", zip.substr(0, zip.size() - 30), "no zip directory at its end", true);
        add("text.zip", text, "is called zip", true);
        add("first bytes.zip", "xx" + zip.substr(2), "first bytes are damaged", true);
        add("unpacks itself.zip", "#!/bin/sh\n" + zip, "is a zip archive with 10 B of something else before it", false);
        add("text.tar", text, "is called tar", true);
        add("text.tgz", test::gzip(text), "is called tar", true);
        add("secret.zip", test::zipArchive({ { "a.txt", text, 8, 1 } }), "a.txt is encrypted", false);
        add("method.zip", test::zipArchive({ { "a.txt", text, 14 } }), "packed by method 14", false);
        add("twice.zip", test::zipArchive({ { "a.txt", text }, { "a.txt", "other\n" } }),
            "a.txt stands in its archive twice", false);
        add("twice.tar", tarEntry("a.txt", text) + tar, "a.txt stands in its archive twice", false);
        add("out.zip", test::zipArchive({ { "../a.txt", text } }), "leads out of the archive", false);
        add("out.tar", tarEntry("b/../../a.txt", text) + test::tarEnd(), "leads out of the archive", false);
        add("absolute.tar", tarEntry("/etc/a.txt", text) + test::tarEnd(), "leads out of the archive", false);
        add("link.tar", tarEntry("a.txt", "", '2') + test::tarEnd(), "a.txt is a link", false);
        add("sparse.tar", tarEntry("a.txt", text, 'S') + test::tarEnd(), "a.txt is stored with holes", false);
        add("empty.tar", test::tarEnd(), "no file with text", false);
        add("pictures.zip", test::zipArchive({ { "photo.jpg", "no" } }), "photo.jpg", false);
        add("cut.tar", tar.substr(0, 3000), "in the middle of an archive", true);
        add("without end.tar", tar.substr(0, tar.size() - 1024), "in the middle of an archive", true);
        add("cut.tar.gz", test::gzip(tar).substr(0, 800), "ends in the middle", true);
        std::string damaged = tarEntry("b.txt", text) + tar;
        damaged[damaged.size() - tar.size()] = 'x';
        add("damaged.tar", damaged, "no header where one should be", true);
        std::string elsewhere = zip;
        elsewhere[30] = 'b'; // the name in front of the data
        add("elsewhere.zip", elsewhere, "a file where another one stands", true);
        add("bomb.zip", test::zipArchive({ { "a.txt", std::string(100 << 20, 'a') } }), "bomb", false);
    }
    void refusesWithASentence()
    {
        QFETCH(QString, name);
        QFETCH(QByteArray, bytes);
        QFETCH(QString, says);
        QFETCH(bool, isDamage);
        DataFolder folder;
        auto inspection = inspectData(test::configFor({ folder.write(name.toStdString(), bytes.toStdString()) }));
        QVERIFY(!inspection.ok());
        const auto message = QString::fromStdString(inspection.error().message);
        QVERIFY2(message.contains(says), message.toUtf8());
        QVERIFY2(message.contains(name), message.toUtf8());
        QCOMPARE(inspection.error().code == ErrorCode::Corrupt, isDamage);
    }
    void aLyingArchiveIsDamaged_data()
    {
        QTest::addColumn<QByteArray>("zip");
        QTest::addColumn<QString>("says");
        const std::string text = lines(0, 1000);
        std::string flipped = test::zipArchive({ { "a.txt", text, 0 } });
        flipped[500] = static_cast<char>(flipped[500] ^ 1);
        QTest::newRow("checksum") << QByteArray::fromStdString(flipped) << "another checksum";
        QTest::newRow("larger") << QByteArray::fromStdString(test::zipArchive({ { "a.txt", text, 8, 0, false, 10 } }))
                                << "another size";
        QTest::newRow("smaller") << QByteArray::fromStdString(test::zipArchive({ { "a.txt", text, 8, 0, false, -10 } }))
                                 << "another size";
    }
    void aLyingArchiveIsDamaged()
    {
        QFETCH(QByteArray, zip);
        QFETCH(QString, says);
        DataFolder folder;
        auto inspection = inspectData(test::configFor({ folder.write("a.zip", zip.toStdString()) }));
        QVERIFY(!inspection.ok());
        QCOMPARE(inspection.error().code, ErrorCode::Corrupt);
        QVERIFY2(QString::fromStdString(inspection.error().message).contains(says), inspection.error().message.c_str());
    }
    /// What was read of it beside a run (to evaluate, to learn a vocabulary) ended with the last file, before the
    /// checksum of the archive.
    void aDamagedPackedArchiveWasReadAsOtherRows()
    {
        DataFolder folder;
        std::string packed = test::gzip(tarEntry("a.txt", lines(0, 1000)) + tarEntry("b.txt", lines(1000, 2000))
            + std::string(200'000, '\0')); // more than is looked at behind the end
        packed[packed.size() - 8] = static_cast<char>(packed[packed.size() - 8] ^ 1);
        const auto config = test::configFor({ folder.write("a.tgz", packed) });
        const auto inspection = inspectData(config);
        VERIFY_OK(inspection);
        const auto status
            = forEachText(config, inspection.value().manifest, [](std::string_view) { return Result<bool>(true); });
        QVERIFY(!status.ok());
        QCOMPARE(status.error().code, ErrorCode::Corrupt);
    }
    void anArchiveThatChangesIsNoticed()
    {
        DataFolder folder;
        const Parts parts;
        for (const bool packed : { false, true }) {
            const auto tar = [&](const std::string& bytes) {
                return folder.write(packed ? "a.tgz" : "a.tar", packed ? test::gzip(bytes) : bytes);
            };
            auto config = test::configFor({ tar(parts.tar()) });
            config.chunkSamples = 20;
            auto manager = test::openManager(config, folder.path("cache"), 50);
            VERIFY_OK(manager);
            auto blocks = test::planAll(manager.value());
            VERIFY_OK(blocks);
            (void)tar(tarEntry("a.txt", lines(500, 600)) + parts.tar());
            auto made = manager.value().prepare(blocks.value()[1]);
            QVERIFY(!made.ok());
            QCOMPARE(made.error().code, ErrorCode::InvalidArgument);
        }
    }
};

QTEST_GUILESS_MAIN(TestArchives)
#include "tst_archives.moc"
