// What other readers of the same files take, Furrow takes: JSON as Python does, csv in its dialects, columns by name,
// encodings.

#include "data_fixture.h"
#include "tests/must_have.h"

#include "core/data/plan/duplicate_index.h"
#include "core/data/plan/each_row.h"
#include "core/data/probe.h"
#include "core/data/source/data_manifest.h"
#include "core/data/source/row_reader.h"
#include "core/data/source/source_files.h"
#include "core/data/source/text_encoding.h"
#include "tests/fakes/archives.h"

#include <QProcess>
#include <QtTest>
#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/resource.h>
#include <unistd.h>

using namespace furrow;
using test::DataFolder;
using Texts = std::vector<std::string>;

namespace {

/// The texts that are trained, or one "error: ..." line.
Texts texts(RunConfig config, const DataFolder& folder)
{
    auto all = test::readAll(config, folder.path("cache"), 1000);
    return all.ok() ? all.value() : Texts { "error: " + all.error().message };
}

DataInspection inspected(const RunConfig& config)
{
    auto inspection = inspectData(config);
    return inspection.ok() ? inspection.value() : DataInspection {};
}

QString reading(const RunConfig& config)
{
    QString all;
    for (const auto& text : inspected(config).reading)
        all += QString::fromStdString(text) + "\n";
    return all;
}

/// The manifest of a run that was made before row rules were written down.
std::string oldManifest(const RunConfig& config)
{
    auto json = nlohmann::json::parse(inspected(config).manifest);
    json["version"] = 1;
    for (auto& source : json["sources"])
        for (auto& file : source["files"])
            file.erase("rules");
    return json.dump();
}

Texts textsOf(const RunConfig& config, const std::string& manifest)
{
    Texts all;
    const auto status = forEachText(config, manifest, [&](std::string_view text) {
        all.emplace_back(text);
        return true;
    });
    return status.ok() ? all : Texts { "error: " + status.error().message };
}

/// While it lives the process may open few files more than it has.
class FewHandles {
public:
    explicit FewHandles(rlim_t more)
    {
        ::getrlimit(RLIMIT_NOFILE, &before_);
        const int next = ::open("/dev/null", O_RDONLY);
        ::close(next);
        rlimit few = before_;
        few.rlim_cur = static_cast<rlim_t>(next) + more;
        ::setrlimit(RLIMIT_NOFILE, &few);
    }
    ~FewHandles() { ::setrlimit(RLIMIT_NOFILE, &before_); }
    FewHandles(const FewHandles&) = delete;
    FewHandles& operator=(const FewHandles&) = delete;

private:
    rlimit before_ {};
};

std::string utf16(const std::u16string& text, bool mark)
{
    std::string bytes = mark ? "\xff\xfe" : "";
    for (const char16_t unit : text) {
        bytes += static_cast<char>(unit & 0xFF);
        bytes += static_cast<char>(unit >> 8);
    }
    return bytes;
}

} // namespace

class TestReading : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void rowsWithNumbersThatOnlyPythonReadsAreNotLost()
    {
        DataFolder folder;
        auto config = test::configFor({ folder.write("a.jsonl",
            "{\"text\":\"a\",\"x\":NaN}\n{\"text\":\"b\",\"x\":[Infinity,-Infinity]}\n{\"x\":1e999,\"text\":\"c\"}\n{\"x\":-1E+9999,\"text\":\"d\"}\n{\"text\":\"e\",\"x\":123456789012345678901234567890}\n") });
        QCOMPARE(texts(config, folder), (Texts { "a", "b", "c", "d", "e" }));
    }
    void aFileOfPythonsNumbersIsJsonLinesWhateverItsName()
    {
        DataFolder folder;
        QCOMPARE(
            texts(test::configFor({ folder.write("a.json", "{\"text\":\"a\",\"x\":NaN}\n{\"text\":\"b\",\"x\":1}\n") }),
                folder),
            (Texts { "a", "b" }));
    }
    void linesThatOnlyPythonReadsAreJsonLines_data()
    {
        QTest::addColumn<QByteArray>("bytes");
        QTest::newRow("no number") << QByteArray("{\"text\":\"a\",\"x\":NaN}\n");
        QTest::newRow("a number of any size") << QByteArray("{\"x\":1e999,\"text\":\"a\"}\n");
        QTest::newRow("half a pair of surrogates") << QByteArray("{\"x\":\"\\ud83d\",\"text\":\"a\"}\n");
        QTest::newRow("bytes that are not UTF-8") << QByteArray("{\"x\":\"\xff\",\"text\":\"a\"}\n");
    }
    void linesThatOnlyPythonReadsAreJsonLines() // none of them counted as an object: the file was refused
    {
        QFETCH(QByteArray, bytes);
        DataFolder folder;
        for (const char* name : { "a.jsonl", "a.json" })
            QCOMPARE(texts(test::configFor({ folder.write(name, bytes.toStdString()) }), folder), (Texts { "a" }));
    }
    void aFirstLineLongerThanTheHeadIsAJsonLineInAnyEncoding()
    {
        DataFolder folder;
        const std::string letters(70'000, 'a');
        const std::string lines = "{\"text\":\"" + letters + "\"}\n{\"text\":\"b\"}\n";
        const auto wide = utf16(std::u16string(lines.begin(), lines.end()), true);
        for (const auto& bytes :
            { lines, "\xef\xbb\xbf" + lines, wide }) // the last two were refused as one JSON document
            QVERIFY(texts(test::configFor({ folder.write("a.json", bytes) }), folder) == (Texts { letters, "b" }));
    }
    void theLastOfSeveralEqualMembersCounts()
    {
        DataFolder folder;
        auto config = test::configFor({ folder.write("a.jsonl",
            "{\"text\":\"first\",\"text\":\"last\"}\n{\"text\":1,\"text\":\"b\"}\n{\"a\":1,\"a\":2,\"text\":\"c\"}\n") });
        QCOMPARE(texts(config, folder), (Texts { "last", "b", "c" }));
        config.textColumn = "m.t";
        config.data = { folder.write("b.jsonl", "{\"m\":{\"t\":\"x\"},\"m\":{\"t\":\"y\",\"t\":\"z\"}}\n") };
        QCOMPARE(texts(config, folder), (Texts { "z" }));
    }
    /// A comma in a text without quotes, the commonest fault of csv made by hand: "Hello, world" was trained as
    /// "Hello".
    void aRecordOfCsvWithMoreFieldsThanColumnsWasCut()
    {
        DataFolder folder;
        std::string bytes = "id,text\n";
        for (int i = 0; i < 20; ++i)
            bytes += std::to_string(i) + ",row\n";
        bytes += "20,Hello, world\n21,\"quoted, whole\"\n22,two delimiters more,,\n";
        const auto config = test::configFor({ folder.write("a.csv", bytes) });
        auto rows = texts(config, folder);
        QCOMPARE(rows.size(), std::size_t(22));
        rows.erase(rows.begin(), rows.begin() + 20);
        QCOMPARE(rows, (Texts { "quoted, whole", "two delimiters more" }));
        auto old = textsOf(config, oldManifest(config)); // of a run that began before
        old.erase(old.begin(), old.begin() + 20);
        QCOMPARE(old, (Texts { "Hello", "quoted, whole", "two delimiters more" }));
        auto chats = test::configFor(
            { folder.write("b.csv", "prompt,completion\nask,answer\nask,an answer, cut\nagain,\"one, two\"\n") });
        chats.chatTemplate = "chatml";
        const auto probe = probeData(chats, *byteTokenizer(), 200);
        QVERIFY(probe.ok());
        QCOMPARE(probe.value().sampledFailed, 1);
        QVERIFY2(probe.value().firstFailure.ends_with("b.csv has more fields than there are columns")
                && probe.value().firstFailure.starts_with("row 1 (counted from 0) of "),
            probe.value().firstFailure.c_str());
    }
    /// The first line of a file for spreadsheets became the header, and the header a row.
    void theLineThatSaysTheDelimiterWasTheHeader()
    {
        DataFolder folder;
        for (const std::string mark : { "", "\xef\xbb\xbf" }) {
            const auto config
                = test::configFor({ folder.write("a.csv", mark + "sep=;\r\nid;text\r\n1;a, b\r\n2;\"c;d\"\r\n") });
            QVERIFY2(reading(config).contains("delimiter semicolon"), qPrintable(reading(config)));
            QCOMPARE(texts(config, folder), (Texts { "a, b", "c;d" }));
        }
        const auto text = test::configFor({ folder.write("b.csv", "sep=;,text\n1,a\n2,b\n") });
        QCOMPARE(texts(text, folder), (Texts { "a", "b" }));
    }
    void aLinkBesideItsFileTrainedItTwice()
    {
        DataFolder folder;
        folder.write("d/a.txt", "one\n");
        folder.write("elsewhere.txt", "two\n");
        std::filesystem::create_symlink("a.txt", folder.path("d/link.txt"));
        std::filesystem::create_symlink("gone.txt", folder.path("d/dangling.txt"));
        for (const char* source : { "d", "d/*.txt" }) {
            const auto config = test::configFor({ utf8Text(folder.path(source)) });
            QCOMPARE(texts(config, folder), (Texts { "one" }));
            QString warnings;
            for (const auto& one : inspected(config).warnings)
                warnings += QString::fromStdString(one) + QLatin1Char('\n');
            QVERIFY2(warnings.contains("link.txt is a link to ") && warnings.contains("is read already"),
                qPrintable(warnings));
        }
        std::filesystem::create_symlink(
            "../elsewhere.txt", folder.path("d/other.txt")); // by a pattern a person named it
        QCOMPARE(texts(test::configFor({ utf8Text(folder.path("d/*.txt")) }), folder), (Texts { "one", "two" }));
    }
    /// All entries behind it, in the order of the folder on the disk, were missing without a word.
    void aFolderThatCannotBeOpenedEndedTheListOfFiles()
    {
        DataFolder folder;
        folder.write("d/a.txt", "one\n");
        std::string deep = "d";
        for (int i = 0; i < 12; ++i)
            deep += "/deeper";
        folder.write(deep + "/b.txt", "two\n");
        QCOMPARE(texts(test::configFor({ utf8Text(folder.path("d")) }), folder).size(), std::size_t(2));
        for (const char* source : { "d", "d/**/*.txt" }) {
            const FewHandles few(6); // a folder that is being walked through holds one
            const auto found = findSourceFiles(utf8Text(folder.path(source)));
            QVERIFY(!found.ok());
            QCOMPARE(found.error().code, ErrorCode::Io);
            QVERIFY2(found.error().message.find("/deeper cannot be read (") != std::string::npos,
                found.error().message.c_str());
        }
    }
    /// As "not a file that can be read" it was left out of a folder with a note. A name that is too long stands for a
    /// share that fails.
    void aFileThatCouldNotBeLookedAtWasTakenForNoFile()
    {
        const DataFolder folder;
        const auto opened = openLocalSource(folder.path(std::string(5000, 'a')));
        QVERIFY(!opened.ok());
        QCOMPARE(opened.error().code, ErrorCode::Io);
    }
    void aFileThatIsNamedTwiceWasTrainedTwiceWithoutAWord()
    {
        DataFolder folder;
        const auto a = folder.write("d/a.txt", "one\n");
        const auto warnings = [](const RunConfig& config) {
            QString all;
            for (const auto& one : inspected(config).warnings)
                all += QString::fromStdString(one) + QLatin1Char('\n');
            return all;
        };
        QVERIFY(warnings(test::configFor({ a })).isEmpty());
        for (const auto& source : { a, utf8Text(folder.path("d")) }) {
            const auto said = warnings(test::configFor({ a, source }));
            QVERIFY2(said.contains("a.txt is in the data twice"), qPrintable(said));
        }
        folder.write("d/copy.txt", "one\n");
        const auto said = warnings(test::configFor({ utf8Text(folder.path("d")) }));
        QVERIFY2(said.contains("copy.txt has the content of ") && said.count('\n') == 1, qPrintable(said));
    }
    void hiddenDataWasLeftOutWithoutAWord()
    {
        DataFolder folder;
        folder.write("d/a.txt", "one\n");
        folder.write("d/.b.jsonl", "{\"text\":\"two\"}\n");
        folder.write("d/._a.txt", "of macOS\n");
        folder.write("d/.git/c.txt", "three\n");
        const auto inspection = inspected(test::configFor({ utf8Text(folder.path("d")) }));
        std::string said;
        for (const auto& warning : inspection.warnings)
            said += warning + "\n";
        QVERIFY2(said.find(".b.jsonl is hidden") != std::string::npos, said.c_str());
        QVERIFY2(said.find(".git is a hidden folder") != std::string::npos, said.c_str()); // was left out silently
        QCOMPARE(inspection.warnings.size(), std::size_t(2));
    }
    void probeCountedWhatIsNotTrained()
    {
        DataFolder folder;
        std::string rows;
        for (int i = 0; i < 90; ++i)
            rows += (i % 3 == 0 ? "alpha " : "beta ") + std::to_string(i % 45) + "\n";
        auto config = test::configFor({ folder.write("a.txt", rows) });
        config.exclude = folder.write("list", "pattern alpha\n");
        config.duplicates = Duplicates::Skip;
        const auto probed = probeData(config, *byteTokenizer(), 2000);
        QVERIFY2(probed.ok(), probed.ok() ? "" : probed.error().message.c_str());
        const auto& probe = probed.value();
        QCOMPARE(probe.sampledRows, 90);
        QCOMPARE(probe.sampledFiltered, 30); // the excluded ones were none
        QCOMPARE(probe.sampledDuplicates, 30);
        std::int64_t tokens = 0;
        for (int i = 0; i < 45; ++i)
            tokens += i % 3 == 0 ? 0 : static_cast<std::int64_t>(5 + std::to_string(i).size() + 1);
        QCOMPARE(probe.tokens, tokens); // to the token: it was now and then one less
        config.startSample = 85; // the tokens were those of the first rows
        config.maxSamples = 4;
        config.exclude.clear();
        const auto last = probeData(config, *byteTokenizer(), 2000);
        QVERIFY(last.ok());
        QCOMPARE(last.value().sampledRows, 4);
        QCOMPARE(last.value().tokens, 8 + 8 + 9 + 8); // beta 40, beta 41, alpha 42, beta 43, each with its end
        config.startSample = config.maxSamples = 0;
        config.exclude = folder.write("list", "pattern alpha\n");
        config.heldOutPercent = 99.9999;
        const auto out = probeData(config, *byteTokenizer(), 2000);
        QVERIFY(out.ok());
        QCOMPARE(out.value().sampledHeldOut, 60);
        QCOMPARE(out.value().tokens, 0);
    }
    /// Characters that the first rows do not have were spelled in bytes, though the vocabulary of the run has them: csv
    /// with umlauts had 0.6 % more tokens than one epoch trains; and of a folder the first file stood for all.
    void probeCountedCharactersAsBytes()
    {
        DataFolder folder;
        std::size_t characters = 0;
        for (int file = 0; file < 3; ++file) {
            std::string rows = "id,text\n";
            for (int i = 0; i < 40 + file; ++i) {
                const bool isPlain = file == 0 && i < 5;
                rows += std::to_string(i) + "," + (isPlain ? "plain" : "äöü €") + " row\n";
                characters += 9 + 1; // and the end behind it
            }
            folder.write("d/" + std::to_string(file) + ".csv", rows);
        }
        auto config = test::configFor({ utf8Text(folder.path("d")) });
        config.tokenizer = "char";
        const auto probed = probeData(config, 4000);
        QVERIFY2(probed.ok(), probed.ok() ? "" : probed.error().message.c_str());
        const DataProbe& probe = probed.value().probe;
        QCOMPARE(probe.sampledRows, 40 + 41 + 42);
        QCOMPARE(probe.tokens, static_cast<std::int64_t>(characters));
        QCOMPARE(probe.heldOutTokens, 0);
        config.heldOutPercent = 50; // equal texts are on one side
        for (int i = 0; i < 100; ++i)
            folder.write("e/" + std::to_string(i) + ".txt", "text number " + std::to_string(100 + i) + "\n");
        config.data = { utf8Text(folder.path("e")) };
        const auto split = probeData(config, 4000);
        QVERIFY2(split.ok(), split.ok() ? "" : split.error().message.c_str());
        QVERIFY(split.value().probe.heldOutTokens > 0 && split.value().probe.tokens > 0);
        QCOMPARE(split.value().probe.tokens + split.value().probe.heldOutTokens, 100 * 16);
    }
    void chunksThatBytesEndWereFewer()
    {
        DataFolder folder;
        std::string rows;
        for (int i = 0; i < 100; ++i)
            rows += std::string(i == 50 ? 900 : 100, 'x') + "\n";
        auto config = test::configFor({ folder.write("a.txt", rows) });
        config.chunkSamples = 10;
        QVERIFY(inspected(config).chunksExact);
        config.chunkBytes = 1024;
        QVERIFY(!inspected(config).chunksExact);
        auto manager = test::openManager(config, folder.path("cache"), inspected(config).samplesPerBlock);
        QVERIFY(manager.ok());
        std::int64_t chunks = 0;
        const auto blocks = test::planAll(manager.value());
        QVERIFY(blocks.ok());
        for (const auto& block : blocks.value())
            chunks += std::ssize(block.chunkRows);
        QVERIFY(chunks > inspected(config).chunks.value());
    }
    void linesThatEndAtCarriageReturnsHadNoColumns()
    {
        DataFolder folder;
        const auto refused = inspectData(
            test::configFor({ folder.write("a.jsonl", "{\"text\":\"a\"}\r{\"text\":\"b\"}\r{\"text\":\"c\"}\r") }));
        QVERIFY(!refused.ok());
        QVERIFY2(refused.error().message.find("has carriage returns and no line feed") != std::string::npos,
            refused.error().message.c_str());
    }
    void filtersWereBlamedForRowsThatCannotBeRead()
    {
        DataFolder folder;
        const auto said = [&](const std::string& rows) {
            auto config = test::configFor({ folder.write("a.csv", "id,text\n" + rows) });
            config.minChars = 9;
            return inspected(config).warnings.back().text();
        };
        QCOMPARE(said("1,short\n"), std::string("The filters leave no row of the data."));
        const auto unreadable = said("1,a delimiter, in it\n2,another one, in it\n");
        QVERIFY2(unreadable.find("has more fields than there are columns") != std::string::npos, unreadable.c_str());
    }
    void textBehindAQuoteWasJoinedWithoutAWord()
    {
        DataFolder folder;
        const auto said = reading(test::configFor({ folder.write("a.csv", "id,text\n1,\"q\"\n2,\"q\"tail\n") }));
        QVERIFY2(said.contains("text after the closing quote of a field (record 3)"), qPrintable(said));
        // Written without quoting: a reader of csv takes the quotes away.
        for (const char* name : { "c.csv", "c.tsv" }) {
            const std::string cut(1, name[2] == 'c' ? ',' : '\t');
            const auto speech = reading(test::configFor(
                { folder.write(name, "id" + cut + "text\n1" + cut + "\"He said\" and left\n2" + cut + "none\n") }));
            QVERIFY2(speech.contains("text after the closing quote of a field (record 2)"), qPrintable(speech));
        }
        const auto fine
            = reading(test::configFor({ folder.write("b.csv", "id,text\r\n1,\"a \"\"b\"\"\"  \r\n\"2\" ,x\r\n") }));
        QVERIFY2(!fine.contains("closing quote"), qPrintable(fine));
    }
    void columnsOfOneNameAreSaid()
    {
        DataFolder folder;
        const auto twice = reading(test::configFor({ folder.write("a.csv", "text,text\na,b\n") }));
        QVERIFY2(twice.contains("2 columns are called text; the first one is read."), qPrintable(twice));
        auto alike = test::configFor({ folder.write("a.jsonl", "{\"meta.text\":\"a\",\"meta\":{\"text\":\"b\"}}\n") });
        alike.textColumn = "meta.text";
        QVERIFY2(reading(alike).contains("There is another column meta\\.text; write it so if it is meant."),
            qPrintable(reading(alike)));
        QCOMPARE(texts(alike, folder), (Texts { "b" }));
        alike.textColumn = "meta\\.text";
        QCOMPARE(texts(alike, folder), (Texts { "a" }));
    }
    /// The dialect was that of the first 64 KiB, and what stood in a quote behind them was mangled.
    void aBackslashBeforeALateQuoteWasText()
    {
        DataFolder folder;
        std::string rows = "id,text\n";
        for (int i = 0; i < 6000; ++i)
            rows += std::to_string(i) + ",\"plain words " + std::to_string(i) + "\"\n";
        const auto plain = test::configFor({ folder.write("a.csv", rows) });
        QVERIFY2(reading(plain).contains("escape none"), qPrintable(reading(plain)));
        const std::string late = rows + "6000,\"late \\\"esc\\\" here\"\n";
        const auto found = test::configFor({ folder.write("b.csv", late) });
        QVERIFY2(reading(found).contains("escape \\;"), qPrintable(reading(found)));
        QCOMPARE(texts(found, folder).back(), std::string("late \"esc\" here"));
        const std::string paths = rows + "6000,\"C:\\dir\\\"\n6001,\"b\"\n"; // a backslash that is one
        const auto kept = test::configFor({ folder.write("c.csv", paths) });
        QCOMPARE(texts(kept, folder).back(), std::string("b"));
        QVERIFY2(reading(kept).contains("escape none"), qPrintable(reading(kept)));
    }
    void linesOfAnOldMacWereOneWithoutAWord()
    {
        DataFolder folder;
        const auto config = test::configFor({ folder.write("a.txt", "one\rtwo\rthree\r") });
        QVERIFY2(reading(config).contains("has carriage returns and no line feed"), qPrintable(reading(config)));
        QVERIFY(!reading(test::configFor({ folder.write("b.txt", "one\r\ntwo\r\n") })).contains("carriage"));
    }
    void aFewZerosMadeATextUtf16()
    {
        DataFolder folder;
        using namespace std::string_literals;
        const auto config = test::configFor({ folder.write("a.txt", "a\0b\nc\0\n\0\nd e f g\n"s) });
        const auto rows = texts(config, folder);
        QVERIFY2(rows.size() == 1 && rows[0].find("a.txt is binary, not text.") != std::string::npos, rows[0].c_str());
    }
    /// One such file among others lost all but one column, and no file was named.
    void linesOfJsonInATextFileLostTheirColumns()
    {
        DataFolder folder;
        const std::string line = "{\"text\":\"inner\",\"other\":\"lost words\"}";
        const auto config = test::configFor({ folder.write("a.txt", line + "\n" + line + "\n") });
        QCOMPARE(texts(config, folder), (Texts { line, line }));
        QVERIFY2(reading(config).contains("a.txt is text by its name"), qPrintable(reading(config)));
        const auto named = test::configFor({ folder.write("b.jsonl", line + "\n") });
        QCOMPARE(texts(named, folder), (Texts { "inner" }));
    }
    void aTextThatBeginsWithTheWordOfAFormatWasRefused()
    {
        DataFolder folder;
        for (const std::string text : { "WARC/1.0 is a format", "ARROW1 is magic", "SQLite format 3 is a file" })
            QCOMPARE(texts(test::configFor({ folder.write("a.txt", text + "\n") }), folder), (Texts { text }));
    }
    void aNamedEncodingDidNotMakeATextOfControlCharacters()
    {
        DataFolder folder;
        std::string rows = "id,text\n";
        for (int i = 0; i < 20; ++i)
            rows += std::to_string(i) + ",row\v" + std::to_string(i) + "\n";
        auto config = test::configFor({ folder.write("a.csv", rows) });
        QVERIFY(!inspectData(config).ok());
        config.encoding = "utf-8";
        QCOMPARE(texts(config, folder).back(), std::string("row\v19"));
    }
    void aRunFromBeforeReadsItsRowsAsItDid()
    {
        DataFolder folder;
        const auto json = test::configFor({ folder.write(
            "a.jsonl", "{\"text\":\"first\",\"text\":\"last\"}\n{\"text\":\"lost\",\"x\":NaN}\n{\"text\":\"c\"}\n") });
        QCOMPARE(textsOf(json, oldManifest(json)), (Texts { "first", "c" }));
        const auto csv = test::configFor({ folder.write("a.csv", "text,n\na,1\n\"b,2\nc,3") });
        QVERIFY(!inspectData(csv).ok()); // today's rules refuse the open quote
        const auto good = test::configFor({ folder.write("b.csv", "text,n\na,1\n") });
        auto manifest = readManifest(oldManifest(good));
        QVERIFY(manifest.ok());
        QCOMPARE(manifest.value().sources[0].files[0].format.rules, 1);
        QCOMPARE(QString::fromStdString(dataIdentity(manifest.value(), good)).size(), 64);
        QCOMPARE(
            rowsKey(manifest.value().sources[0].files[0].format), std::string("csv")); // the key that its blocks have
        QVERIFY(rowsKey(readManifest(inspected(good).manifest).value().sources[0].files[0].format) != "csv");
    }
    void namesWhatIsNested_data()
    {
        QTest::addColumn<QString>("column");
        QTest::addColumn<QStringList>("rows");
        QTest::newRow("member") << "meta.text" << QStringList { "one", "" };
        QTest::newRow("list of texts") << "tags[]" << QStringList { "x\ny", "" };
        QTest::newRow("its name is enough") << "tags" << QStringList { "x\ny", "" };
        QTest::newRow("member of each of a list") << "messages[].content" << QStringList { "hi\nyou", "so" };
        QTest::newRow("a dot in the name itself") << "dotted.name" << QStringList { "d", "e" };
        QTest::newRow("without case") << "TITLE" << QStringList { "T", "U" };
    }
    void namesWhatIsNested()
    {
        QFETCH(QString, column);
        QFETCH(QStringList, rows);
        DataFolder folder;
        auto config = test::configFor({ folder.write("a.jsonl",
            "{\"Title\":\"T\",\"dotted.name\":\"d\",\"meta\":{\"text\":\"one\"},\"tags\":[\"x\",\"y\"],\"messages\":[{\"role\":\"u\",\"content\":\"hi\"},{\"content\":\"you\"}]}\n"
            "{\"Title\":\"U\",\"dotted.name\":\"e\",\"meta\":{\"text\":null},\"tags\":[],\"messages\":[{\"role\":\"u\",\"content\":null},{\"role\":\"a\",\"content\":\"so\"}]}\n") });
        config.textColumn = column.toStdString();
        config.minChars = 0;
        Texts wanted;
        for (const auto& row : rows)
            wanted.push_back(row.toStdString());
        QCOMPARE(texts(config, folder), wanted);
    }
    void urlIsNotTakenBesideText()
    {
        DataFolder folder;
        const auto csv = test::configFor({ folder.write("a.csv", "url,Text\nhttp://x,hello\n") });
        QCOMPARE(inspected(csv).textColumn, std::string("Text"));
        QVERIFY2(reading(csv).contains("The text is column Text, chosen by its name."), qPrintable(reading(csv)));
        QVERIFY(reading(csv).contains("Other columns with text: url."));
        const auto json
            = test::configFor({ folder.write("a.jsonl", "{\"url\":\"http://x\",\"CONTENT\":\"hello\"}\n") });
        QCOMPARE(inspected(json).textColumn, std::string("CONTENT"));
    }
    /// A sentence of 65,600 characters: all of the name that a value may have.
    void aVeryLongNameOfAColumnFilledTheScreen()
    {
        DataFolder folder;
        const std::string name(1'000'000, 'n');
        const auto config = test::configFor({ folder.write("a.jsonl", "{\"" + name + "\":\"hello\"}\n") });
        QCOMPARE(inspected(config).textColumn, name);
        const QString said = reading(config);
        QVERIFY2(said.contains("the only one with text.") && said.size() < 1'000, qPrintable(said.left(2'000)));
    }
    /// The first column was trained, whatever it held: the numbers of the rows, "doc00000".
    void theNumbersOfTheRowsWereTrained_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QByteArray>("bytes");
        QTest::addColumn<QString>("column");
        QTest::addColumn<QString>("why");
        const QString most = ": it has the most text.";
        const QString byName = ", chosen by its name.";
        QTest::newRow("csv") << "a.csv"
                             << QByteArray("Nr;Stadt;Aussage\n1;Bonn;Das war immer so gewesen\n2;Rheinland-Pfalz;\n")
                             << "Aussage" << most;
        QTest::newRow("csv, later rows") << "a.csv"
                                         << QByteArray("Nr;Stadt;Aussage\n1;Bonn;\n2;Köln;Eine viel längere Aussage\n")
                                         << "Aussage" << most;
        QTest::newRow("jsonl") << "a.jsonl"
                               << QByteArray("{\"id\":\"doc00000\",\"title\":\"T\",\"story\":\"once there was\"}\n")
                               << "story" << most;
        QTest::newRow("a list of texts") << "a.jsonl"
                                         << QByteArray("{\"id\":\"doc00000\",\"parts\":[\"once there\",\"was\"]}\n")
                                         << "parts[]" << most;
        QTest::newRow("json") << "a.json" << QByteArray("[{\"id\":\"doc00000\",\"story\":\"once there was\"}]")
                              << "story" << most;
        QTest::newRow("last part of a name")
            << "a.jsonl" << QByteArray("{\"meta\":{\"title\":\"a long title of it\",\"text\":\"t\"}}\n") << "meta.text"
            << byName;
        QTest::newRow("the name itself before the last part")
            << "a.jsonl" << QByteArray("{\"meta\":{\"text\":\"a\"},\"body\":\"b\"}\n") << "body" << byName;
        QTest::newRow("no text at all") << "a.csv" << QByteArray("a,b\n,\n,\n") << "a"
                                        << ", the first one that can hold text.";
        QByteArray tar;
        for (const char* name : { "0", "1" })
            for (const char* column : { "a.txt", "b.txt" })
                tar += QByteArray::fromStdString(
                    test::tarEntry(std::string(name) + "." + column, column[0] == 'a' ? "id" : "once there was"));
        QTest::newRow("WebDataset") << "a.tar" << tar + QByteArray::fromStdString(test::tarEnd()) << "b\\.txt" << most;
    }
    void theNumbersOfTheRowsWereTrained()
    {
        QFETCH(QString, name);
        QFETCH(QByteArray, bytes);
        QFETCH(QString, column);
        QFETCH(QString, why);
        DataFolder folder;
        const auto config = test::configFor({ folder.write(name.toStdString(), bytes.toStdString()) });
        QCOMPARE(QString::fromStdString(inspected(config).textColumn), column);
        QVERIFY2(reading(config).contains("The text is column " + column + why), qPrintable(reading(config)));
    }
    void aRunFromBeforeKeepsItsColumn()
    {
        DataFolder folder;
        auto config = test::configFor({ folder.write("a.csv", "Nr,Aussage\n1,Das war so\n2,Und so\n") });
        config.minChars = 0;
        QCOMPARE(inspected(config).textColumn, std::string("Aussage"));
        auto manifest = nlohmann::json::parse(inspected(config).manifest);
        manifest["sources"][0]["text_column"] = "Nr"; // as it was chosen then
        QCOMPARE(textsOf(config, manifest.dump()), (Texts { "1", "2" }));
        auto blocks = BlockManager::open(config, manifest.dump(), 2, folder.path("cache"), byteTokenizer());
        QVERIFY(blocks.ok());
        const auto block = blocks.value().planNext();
        QVERIFY(block.ok() && block.value());
        const auto prepared = blocks.value().prepare(*block.value());
        QVERIFY2(prepared.ok(), prepared.ok() ? "" : prepared.error().message.c_str());
    }
    /// Nothing said before the start that the run would end in its first second.
    void dataThatARunRefusesWasShownWithoutAWord()
    {
        DataFolder folder;
        std::string lines;
        for (int i = 0; i < 200; ++i)
            lines += i % 10 == 0 ? "broken\n" : "{\"text\":\"sample " + std::to_string(i) + "\"}\n";
        auto config = test::configFor(
            { folder.write("a.jsonl", "{\"text\":\"first\"}\n{\"text\":\"a\"}\n{\"text\":\"b\"}\n" + lines) });
        const auto remarks = [&config] {
            QString all;
            const auto probe = probeData(config, *byteTokenizer(), 500);
            if (probe.ok())
                for (const auto& remark : remarksOn(probe.value()))
                    all += QString::fromStdString(remark) + "\n";
            return all;
        };
        QVERIFY2(
            remarks().contains("That is 9.9 % of them, and max_unreadable_percent allows 1.0 %: the run would stop."),
            qPrintable(remarks()));
        config.maxUnreadablePercent = 10;
        QVERIFY2(remarks().contains("20 of the 203 samples that were read cannot be used")
                && !remarks().contains("would stop"),
            qPrintable(remarks()));
    }
    /// "1 of the 20 samples that were read are filtered."
    void oneSampleWasSaidInThePlural()
    {
        DataProbe probe;
        probe.sampledRows = 20;
        probe.sampledFiltered = probe.sampledDuplicates = probe.sampledTooLong = probe.sampledInvalidUtf8 = 1;
        QString all;
        for (const auto& remark : remarksOn(probe))
            all += QString::fromStdString(remark) + "\n";
        QVERIFY2(all.contains("is filtered") && all.contains("is a repeat") && all.contains("is longer")
                && all.contains("has bytes") && !all.contains("read are") && !all.contains("read have"),
            qPrintable(all));
    }
    /// With several sources nobody knew whose column it was.
    void theNoteOnAColumnDidNotNameItsFile()
    {
        DataFolder folder;
        const auto a = folder.write("a.jsonl", "{\"text\":\"a\"}\n");
        const auto b = folder.write("b.jsonl", "{\"text\":\"b\"}\n");
        const auto said = reading(test::configFor({ a, b }));
        for (const auto& file : { a, b })
            QVERIFY2(said.contains(QString::fromStdString(file) + ": The text is column text, chosen by its name."),
                qPrintable(said));
    }
    /// "has no column 'text'": nobody had named one.
    void aFileWithoutTheColumnOfTheOthersWasRefusedWithoutAReason()
    {
        DataFolder folder;
        const auto a = folder.write("d/a.jsonl", "{\"text\":\"a\"}\n");
        folder.write("d/b.jsonl", "{\"id\":\"1\",\"story\":\"b\"}\n");
        const auto refused = inspectData(test::configFor({ utf8Text(folder.path("d")) }));
        QVERIFY(!refused.ok());
        const auto said = QString::fromStdString(refused.error().message);
        for (const char* part : { "b.jsonl has no text in a column 'text', which was found in", a.c_str(),
                 "Its columns with text are: id, story.", "leave it out" })
            QVERIFY2(said.contains(part), qPrintable(said));
    }
    void documentsWereCalledArchivesWithoutData_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QStringList>("members");
        QTest::addColumn<QString>("said");
        const QString types = "[Content_Types].xml";
        QTest::newRow("docx") << "a.docx" << QStringList { types, "word/document.xml" }
                              << "is a Word document, not text. Save it as plain text (.txt) and name that file.";
        QTest::newRow("xlsx") << "a.xlsx" << QStringList { types, "xl/workbook.xml" }
                              << "is an Excel spreadsheet. Save its table as csv and name that file.";
        QTest::newRow("pptx") << "a.pptx" << QStringList { types, "ppt/presentation.xml" }
                              << "is a PowerPoint presentation";
        QTest::newRow("odt") << "a.odt" << QStringList { "mimetype", "content.xml" } << "is an OpenDocument document";
        QTest::newRow("ods") << "a.ods" << QStringList { "mimetype", "content.xml" }
                             << "is an OpenDocument spreadsheet";
        QTest::newRow("epub") << "a.epub" << QStringList { "mimetype", "META-INF/container.xml" } << "is an EPUB book";
    }
    void documentsWereCalledArchivesWithoutData()
    {
        QFETCH(QString, name);
        QFETCH(QStringList, members);
        QFETCH(QString, said);
        std::vector<test::ZipFile> files;
        for (const auto& member : members)
            files.push_back({ member.toStdString(), "<x/>" });
        DataFolder folder;
        const auto refused
            = inspectData(test::configFor({ folder.write(name.toStdString(), test::zipArchive(files)) }));
        QVERIFY(!refused.ok());
        QCOMPARE(refused.error().code, ErrorCode::InvalidArgument);
        QVERIFY2(
            refused.error().message.find(said.toStdString()) != std::string::npos, refused.error().message.c_str());
    }
    void whatIsNoTextDidNotSayWhatToDo_data()
    {
        QTest::addColumn<QByteArray>("bytes");
        QTest::addColumn<QString>("said");
        QTest::newRow("PDF") << QByteArray("%PDF-1.7\n1 0 obj\n")
                             << "is a PDF document, not text. Save it as plain text (.txt) and name that file.";
        QTest::newRow("PNG") << QByteArray("\x89PNG\r\n\x1a\n")
                             << "is a PNG picture, not text. Only text can be trained: leave it out.";
        QTest::newRow("old Word") << QByteArray("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", 8)
                                  << "is a document of an older Office, not text. Save it as plain text";
        QTest::newRow("SQLite") << QByteArray("SQLite format 3\0", 16)
                                << "is an SQLite database, which Furrow does not read. Write its texts as jsonl";
        QTest::newRow("7z") << QByteArray("7z\xbc\xaf\x27\x1c")
                            << "is a 7z archive, which Furrow does not open. Unpack it";
        QTest::newRow("zip") << QByteArray("PK\x03\x04") << "is a zip archive, not text. Give it its right name.";
    }
    void whatIsNoTextDidNotSayWhatToDo()
    {
        QFETCH(QByteArray, bytes);
        QFETCH(QString, said);
        DataFolder folder;
        const auto refused = inspectData(test::configFor({ folder.write("a.txt", bytes.toStdString()) }));
        QVERIFY(!refused.ok());
        QVERIFY2(
            refused.error().message.find(said.toStdString()) != std::string::npos, refused.error().message.c_str());
    }
    void titleIsNotTakenWhereTextIsAList()
    {
        DataFolder folder;
        const auto config = test::configFor({ folder.write("a.jsonl", "{\"title\":\"T\",\"text\":[\"a\",\"b\"]}\n") });
        QCOMPARE(inspected(config).textColumn, std::string("text[]"));
        QVERIFY2(reading(config).contains("joined by line breaks"), qPrintable(reading(config)));
        QCOMPARE(texts(config, folder), (Texts { "a\nb" }));
    }
    void theColumnIsAlwaysSaid()
    {
        DataFolder folder;
        auto config = test::configFor({ folder.write("a.jsonl", "{\"story\":\"a\"}\n") });
        QVERIFY2(
            reading(config).contains("The text is column story, the only one with text."), qPrintable(reading(config)));
        config.textColumn = "story";
        QVERIFY2(
            reading(config).contains("The text is column story, as text_column says."), qPrintable(reading(config)));
    }
    void findsTheDialectOfACsv_data()
    {
        QTest::addColumn<QByteArray>("bytes");
        QTest::addColumn<QString>("says");
        QTest::newRow("semicolons") << QByteArray("id;text\n1;hello, you\n2;\"a;b\"\n3;c\n") << "delimiter semicolon";
        QTest::newRow("tabs") << QByteArray("id\ttext\n1\thello, you\n2\ta;b\n3\tc\n") << "delimiter tab";
        QTest::newRow("pipes") << QByteArray("id|text\n1|hello, you\n2|a;b\n3|c\n") << "delimiter pipe";
        QTest::newRow("commas") << QByteArray("id,text\n1,\"hello, you\"\n2,a;b\n3,c\n") << "delimiter comma";
    }
    void findsTheDialectOfACsv()
    {
        QFETCH(QByteArray, bytes);
        QFETCH(QString, says);
        DataFolder folder;
        const auto config = test::configFor({ folder.write("a.csv", bytes.toStdString()) });
        QCOMPARE(texts(config, folder), (Texts { "hello, you", "a;b", "c" }));
        QVERIFY2(reading(config).contains(says), qPrintable(reading(config)));
    }
    void aBackslashBeforeQuotesIsSeen()
    {
        DataFolder folder;
        const auto config
            = test::configFor({ folder.write("a.csv", "id,text\n1,\"say \\\"hi, you\\\" now\"\n2,\"b\\\\c\"\n") });
        QCOMPARE(texts(config, folder), (Texts { "say \"hi, you\" now", "b\\c" }));
        QVERIFY2(reading(config).contains("escape \\"), qPrintable(reading(config)));
    }
    void aBackslashThatLeavesTheNumberOfFieldsIsSeen_data()
    {
        QTest::addColumn<QByteArray>("bytes");
        QTest::newRow("two columns") << QByteArray("id,text\n1,\"say \\\"hi\\\" now\"\n2,\"b\\\\c\"\n");
        QTest::newRow("one column") << QByteArray("text\n\"say \\\"hi\\\" now\"\n\"b\\\\c\"\n");
        QTest::newRow("without quotes around") << QByteArray("id,text\n1,say \\\"hi\\\" now\n2,b\\\\c\n");
    }
    void aBackslashThatLeavesTheNumberOfFieldsIsSeen() // it was trained as it stands
    {
        QFETCH(QByteArray, bytes);
        DataFolder folder;
        QCOMPARE(texts(test::configFor({ folder.write("a.csv", bytes.toStdString()) }), folder),
            (Texts { "say \"hi\" now", "b\\c" }));
    }
    void aBackslashAtTheEndOfAFieldIsNoEscape()
    {
        DataFolder folder;
        QCOMPARE(texts(test::configFor({ folder.write("a.csv", "text,id\n\"c:\\\",1\n\"d:\\\"\"x\",2\n5\" disk,3\n") }),
                     folder),
            (Texts { "c:\\", "d:\\\"x", "5\" disk" }));
    }
    void theDialectCanBeSaid()
    {
        DataFolder folder;
        auto config = test::configFor({ folder.write("a.csv", "'a:b':1\n'it\\'s':2\n") });
        config.csvDelimiter = ":";
        config.csvQuote = "'";
        config.csvEscape = "\\";
        config.csvHeader = false;
        config.textColumn = "1";
        QCOMPARE(texts(config, folder), (Texts { "a:b", "it's" }));
        config.data = { folder.write("b.csv", "text,n\n5\" nail,1\n\"open,2\n") };
        config = test::configFor(config.data);
        config.csvQuote = "none";
        QCOMPARE(texts(config, folder), (Texts { "5\" nail", "\"open" }));
    }
    void anUnclosedQuoteDoesNotSwallowTheRowsBehindIt_data()
    {
        QTest::addColumn<QByteArray>("row");
        QTest::addColumn<QByteArray>("rest");
        QByteArray plain;
        for (int i = 0; i < 100000; ++i)
            plain += "text " + QByteArray::number(i) + ",1\n";
        QTest::newRow("to the end of the file") << QByteArray("\"open,1\n") << plain;
        QTest::newRow("to the next quote")
            << QByteArray("\"open,1\n") << plain.left(1000) + "\"closed\",2\n" + plain.left(1000);
        QTest::newRow("beyond what a row may have") << QByteArray("\"open,1\n") << plain.repeated(15);
    }
    void anUnclosedQuoteDoesNotSwallowTheRowsBehindIt()
    {
        QFETCH(QByteArray, row);
        QFETCH(QByteArray, rest);
        DataFolder folder;
        const auto inspection = inspectData(
            test::configFor({ folder.write("a.csv", ("text,n\na,1\n\"b\nb\",2\n" + row + rest).toStdString()) }));
        QVERIFY(!inspection.ok());
        const auto message = QString::fromStdString(inspection.error().message);
        QVERIFY2(
            message.contains("a.csv, line 5: a quote that begins in this record is not closed"), qPrintable(message));
    }
    void latinLettersAreConverted()
    {
        DataFolder folder;
        std::string text;
        for (int i = 0; i < 200; ++i)
            text += "Les \xe9l\xe8ves fran\xe7"
                    "ais \xe9taient d\xe9j\xe0 \xe0 l'\xe9"
                    "cole, o\xf9 le ma\xeetre les attendait.\n";
        const auto config = test::configFor({ folder.write("a.txt", text) });
        QVERIFY2(
            reading(config).contains("is windows-1252 text and is converted to UTF-8"), qPrintable(reading(config)));
        const auto all = texts(config, folder);
        QCOMPARE(all.size(), std::size_t(200));
        QCOMPARE(QString::fromStdString(all[0]),
            QString::fromUtf8("Les élèves français étaient déjà à l'école, où le maître les attendait."));
    }
    /// Names in Latin-1 went in as ISO-8859-2 reads them, or the other way round, and nobody heard of the other one.
    void anEncodingThatMayBeAnotherNamesIt()
    {
        DataFolder folder;
        const auto said = [&](const std::string& line) {
            std::string text;
            for (int i = 0; i < 40; ++i)
                text += line;
            return reading(test::configFor({ folder.write("a.txt", text) }));
        };
        const auto names = said("Caf\xe9 Zo\xeb\nNa\xefve Jos\xe9\nGar\xe7on M\xfcller\nS\xe3o Paulo \xc1ngel\n");
        QVERIFY2(names.contains("is taken as windows-1252 text") && names.contains("--encoding"), qPrintable(names));
        QVERIFY2(names.contains(QString::fromUtf8("ISO-8859-2, which reads Naďve where windows-1252 reads Naïve")),
            qPrintable(names));
        const auto czech = said("P\xf8\xedli\xb9 \xbelu\xbbou\xe8k\xfd k\xf9\xf2 \xfap\xecl \xef\xe1"
                                "belsk\xe9 \xf3"
                                "dy. V\xb9ichni lid\xe9 rod\xed se svobodn\xed a sob\xec rovn\xed.\n");
        QVERIFY2(czech.contains("is ISO-8859-2 text") && !czech.contains("--encoding"), qPrintable(czech));
        const auto german
            = said("Alle Menschen sind frei und gleich an W\xfcrde und Rechten geboren. Sie m\xfcssen br\xfc"
                   "derlich sein.\n");
        QVERIFY2(german.contains("is windows-1252 text") && !german.contains("--encoding"), qPrintable(german));
    }
    /// In text that is mostly ASCII, ICU took the accents of the West for those of Central Europe.
    void accentsOfTheWestInPlainTextWereTakenForCentralEuropean()
    {
        const auto guess = [](const std::string& line) {
            std::string text;
            for (int i = 0; i < 200; ++i)
                text += "Plain words without any accent stand in row " + std::to_string(i) + "\n";
            for (int i = 0; i < 30; ++i)
                text += line + " " + std::to_string(i) + "\n";
            return guessEncoding(std::span(&text, 1)).encoding;
        };
        for (const char* western :
            { "d\xe9j\xe0 vu na\xefve", "S\xe3o Paulo, \xabno\xebl\xbb \xe0 l'\xe2ge", "\xbfQu\xe9 ni\xf1o? 5 m\xb3",
                "sm\xf8rrebr\xf8"
                "d p\xe5 \xf8yene" })
            QCOMPARE(guess(western), std::string("windows-1252"));
        for (const char* central : { "za\xbf\xf3\xb3\xe6 g\xea\xb6l\xb1 ja\xbc\xf1",
                 "Dvo\xf8\xe1k p\xed\xb9"
                 "e dal\xb9\xed skladby" })
            QCOMPARE(QString::fromStdString(guess(central)), QString("ISO-8859-2"));
    }
    /// The same text as jsonl was judged rightly.
    void accentsBehindThousandsOfPlainRowsWereTakenForCentralEuropean()
    {
        std::string text;
        for (int i = 0; i < 3000; ++i)
            text += "row " + std::to_string(i) + " " + std::string(65, 'y') + "\n";
        for (int i = 0; i < 30; ++i)
            text += "d\xe9j\xe0 vu na\xefve " + std::to_string(i) + "\n";
        const auto stream = streamFrom(memorySource(text), 0);
        const auto found = encodingOfBroken(*stream);
        QVERIFY(found.ok());
        QCOMPARE(QString::fromStdString(found.value()), QString("windows-1252"));
    }
    /// Lines without a mark of their end: "it holds no rows, or only blank ones".
    void objectsOnOneLineWereCalledNoRows()
    {
        DataFolder folder;
        std::string objects;
        for (int i = 0; i < 20; ++i)
            objects += "{\"text\": \"row } { " + std::to_string(i) + "\"}";
        for (const char* name : { "a.jsonl", "b.json" })
            for (const char* end : { "", "\n" }) {
                const auto refused = inspectData(test::configFor({ folder.write(name, objects + end) }));
                QVERIFY(!refused.ok());
                QVERIFY2(refused.error().message.find("several JSON objects on its first line") != std::string::npos,
                    refused.error().message.c_str());
            }
        const auto one
            = inspectData(test::configFor({ folder.write("c.jsonl", objects.substr(0, objects.find('}', 18) + 1)) }));
        QVERIFY2(one.ok() && one.value().rows == 1, one.ok() ? "" : one.error().message.c_str());
    }
    /// Forty texts in the list of a document on one line became one sample; over several lines it was asked for the
    /// list.
    void aListInOneDocumentBecameOneSample()
    {
        DataFolder folder;
        std::string list;
        for (int i = 0; i < 40; ++i)
            list += std::string(i == 0 ? "" : ", ") + "{\"text\": \"row " + std::to_string(i) + "\"}";
        auto config = test::configFor({ folder.write("a.json", "{\"version\": 1, \"data\": [" + list + "]}\n") });
        const auto asked = inspectData(config);
        QVERIFY(!asked.ok());
        QVERIFY2(asked.error().message.find("one JSON document") != std::string::npos
                && asked.error().message.find("--text-column data[].text") != std::string::npos,
            asked.error().message.c_str());
        config.textColumn = "data[].text";
        const auto all = texts(config, folder);
        QCOMPARE(all.size(), std::size_t(40));
        QCOMPARE(all[39], std::string("row 39"));
        // A row of a file of rows, and a document that is one text.
        const auto rows = inspectData(test::configFor({ folder.write("b.jsonl",
            "{\"paragraphs\": [{\"text\": \"one\"}, {\"text\": \"two\"}]}"
            "\n") }));
        QVERIFY2(rows.ok() && rows.value().rows == 1, rows.ok() ? "" : rows.error().message.c_str());
        const auto text
            = inspectData(test::configFor({ folder.write("c.json", "{\"text\": \"one\", \"tags\": [\"a\"]}") }));
        QVERIFY2(text.ok() && text.value().rows == 1, text.ok() ? "" : text.error().message.c_str());
    }
    void filesThatAreLeftOutWereNamedByTheHundred()
    {
        DataFolder folder;
        folder.write("many/a.txt", "one row\n");
        for (int i = 0; i < 100; ++i)
            folder.write("many/empty" + std::to_string(i) + ".txt", "");
        const auto inspection = inspectData(test::configFor({ utf8Text(folder.path("many")) }));
        QVERIFY(inspection.ok());
        const auto& warnings = inspection.value().warnings;
        QVERIFY2(warnings.size() < 30, std::to_string(warnings.size()).c_str());
        QVERIFY(std::any_of(warnings.begin(), warnings.end(),
            [](const Message& one) { return one.find("80 more files in it were left out") != std::string::npos; }));
    }
    /// Behind the first 64 KiB of a compressed file nobody looked: every accented letter was lost.
    void anotherEncodingBehindTheHeadOfACompressedFileWasNotSeen()
    {
        DataFolder folder;
        std::string text;
        for (int i = 0; i < 40'000; ++i) // more than the head of the file by far
            text += "{\"text\": \"plain words of row " + std::to_string(i) + "\"}\n";
        for (int i = 0; i < 100; ++i)
            text += "{\"text\": \"d\xe9j\xe0 vu, No\xebl\"}\n";
        const auto config = test::configFor({ folder.write("late.jsonl.gz", test::gzip(text)) });
        QVERIFY2(reading(config).contains("windows-1252"), qPrintable(reading(config)));
        QCOMPARE(texts(config, folder).back(), std::string("d\xc3\xa9j\xc3\xa0 vu, No\xc3\xabl"));
    }

    /// The list of a name on the outermost level was found, that of a path was "no column 'a.b.c'".
    void aListInsideOfARowWasNotFoundByItsPath()
    {
        DataFolder folder;
        auto config = test::configFor({ folder.write(
            "a.jsonl", "{\"a\":{\"b\":{\"c\":[\"x\",\"y\"]}},\"id\":1}\n{\"a\":{\"b\":{\"c\":[\"z\"]}},\"id\":2}\n") });
        config.textColumn = "a.b.c";
        QCOMPARE(texts(config, folder), (Texts { "x\ny", "z" }));
        QVERIFY2(reading(config).contains("a.b.c[]"), qPrintable(reading(config)));
    }

    /// The charset of an HTTP head was ignored, and the bytes of the page were trained.
    void charsetsOfWarcWereIgnored()
    {
        const auto record = [](const std::string& type, const std::string& content, const std::string& bytes) {
            return "WARC/1.0\r\nWARC-Type: " + type + "\r\nContent-Type: " + content
                + "\r\nContent-Length: " + std::to_string(bytes.size()) + "\r\n\r\n" + bytes + "\r\n\r\n";
        };
        const auto response = [&record](const std::string& head, const std::string& body) {
            return record("response", "application/http", "HTTP/1.1 200 OK\r\n" + head + "\r\n\r\n" + body);
        };
        std::string prose;
        for (int i = 0; i < 40; ++i)
            prose += "d\xe9j\xe0 vu, No\xebl\n";
        const std::string chunked = "Content-Type: text/plain\r\nTransfer-Encoding: chunked";
        const std::string all = response("Content-Type: text/plain; charset=windows-1252", "M\xfcnchen \x80")
            + response("Content-Type: text/plain;format=flowed; Charset=\"ISO-8859-1\"", "M\xfcnchen \x80")
            + record("conversion", "text/plain; charset=koi8-r", "\xc4\xc1")
            + response("Content-Type: text/plain; charset=utf-8", "caf\xe9") // stays, as in text
            + response("Content-Type: text/plain; charset=none-such", "caf\xc3\xa9")
            + response("Content-Type: text/plain", prose)
            + response(chunked, "5\r\nhello\r\n6;a=b\r\n world\r\n0\r\n\r\n")
            + response(chunked + "\r\nContent-Encoding: gzip", "5\r\nhello\r\n0\r\n\r\n")
            + response(chunked, "5\r\nhello\r\n6\r\n wor") + response(chunked, "hello world\n");
        DataFolder folder;
        const auto config = test::configFor({ folder.write("a.warc", all) });
        const auto manifest = inspected(config).manifest;
        Texts found;
        RowsLeft left;
        const auto status = forEachPlacedRow(
            config, manifest,
            [&](const Row& row, RowPlace) {
                found.emplace_back(row.text);
                return Result<bool>(true);
            },
            &left);
        QVERIFY2(status.ok(), status.ok() ? "" : status.error().message.c_str());
        QCOMPARE(found.size(), std::size_t(7));
        QCOMPARE(QString::fromStdString(found[0]), QString::fromUtf8("München €"));
        QCOMPARE(QString::fromStdString(found[1]), QString::fromUtf8("München €"));
        QCOMPARE(QString::fromStdString(found[2]), QString::fromUtf8("да"));
        QCOMPARE(found[3], std::string("caf\xe9"));
        QCOMPARE(found[4], std::string("caf\xc3\xa9"));
        QVERIFY2(QString::fromStdString(found[5]).startsWith(QString::fromUtf8("déjà vu, Noël")), found[5].c_str());
        QCOMPARE(found[6], std::string("hello world"));
        QCOMPARE(left.unreadable, 3);
        QVERIFY2(left.firstUnreadable.find("is packed as its server sent it") != std::string::npos,
            left.firstUnreadable.c_str());
        auto before = nlohmann::json::parse(manifest); // a run of before goes on with what it has
        before["sources"][0]["files"][0]["rules"] = 3;
        QCOMPARE(textsOf(config, before.dump()).front(), std::string("M\xfcnchen \x80"));
    }

    /// In JSON they do not stay: they are read as U+FFFD.
    void bytesThatAreNoUtf8WereSaidToStayInJson()
    {
        DataFolder folder;
        std::string lines;
        for (int i = 0; i < 30; ++i)
            lines += "{\"text\": \"stra\xc3\x9f"
                     "e\"}\n";
        const auto config = test::configFor({ folder.write("a.jsonl", lines + "{\"text\": \"caf\xe9\"}\n") });
        QVERIFY2(reading(config).contains("They are read as U+FFFD"), qPrintable(reading(config)));
        QCOMPARE(texts(config, folder).back(), std::string("caf\xef\xbf\xbd"));
        const auto plain = test::configFor({ folder.write("a.txt",
            "stra\xc3\x9f"
            "e stra\xc3\x9f"
            "e\ncaf\xe9\n") });
        QVERIFY2(reading(plain).contains("They stay as they are"), qPrintable(reading(plain)));
    }

    void encodingsAreFound_data()
    {
        QTest::addColumn<QByteArray>("encoding");
        QTest::addColumn<QString>("line");
        QTest::newRow("Shift_JIS") << QByteArray(
            "Shift_JIS") << QString::fromUtf8("吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。");
        QTest::newRow("GB18030") << QByteArray("GB18030")
                                 << QString::fromUtf8("我们都知道，学习新的语言需要很多时间和耐心，但是很有意思。");
        QTest::newRow("windows-1251")
            << QByteArray("windows-1251")
            << QString::fromUtf8(
                   "Все смешалось в доме Облонских. Жена узнала, что муж был в связи с бывшею в их доме француженкою-гувернанткой.");
    }
    void encodingsAreFound()
    {
        QFETCH(QByteArray, encoding);
        QFETCH(QString, line);
        DataFolder folder;
        const std::string utf8 = line.toStdString();
        RunConfig config = test::configFor({ folder.write("utf8.txt", utf8 + "\n") });
        std::string plain;
        for (int i = 0; i < 60; ++i)
            plain += utf8 + "\n";
        // encoded by the inverse of what is tested: iconv of the C library
        const auto path = folder.write("plain.txt", plain);
        QProcess iconv;
        iconv.start("iconv", { "-f", "UTF-8", "-t", QString::fromLatin1(encoding), QString::fromStdString(path) });
        SKIP_WITHOUT("iconv", iconv.waitForFinished() && iconv.exitCode() == 0, "There is no iconv that knows it.");
        config.data = { folder.write("encoded.txt", iconv.readAllStandardOutput().toStdString()) };
        QVERIFY2(
            reading(config).contains(QString::fromLatin1(encoding), Qt::CaseInsensitive), qPrintable(reading(config)));
        const auto all = texts(config, folder);
        QCOMPARE(all.size(), std::size_t(60));
        QCOMPARE(QString::fromStdString(all[7]), line);
    }
    void utf16IsRead_data()
    {
        QTest::addColumn<bool>("mark");
        QTest::addColumn<bool>("packed");
        QTest::newRow("with a mark") << true << false;
        QTest::newRow("without") << false << false;
        QTest::newRow("packed") << true << true;
    }
    void utf16IsRead()
    {
        QFETCH(bool, mark);
        QFETCH(bool, packed);
        DataFolder folder;
        const auto bytes = utf16(u"id,text\n1,one\n2,t\u00e4\U0001F600\n", mark);
        const auto config
            = test::configFor({ folder.write(packed ? "a.csv.gz" : "a.csv", packed ? test::gzip(bytes) : bytes) });
        QCOMPARE(texts(config, folder), (Texts { "one", "t\xc3\xa4\xf0\x9f\x98\x80" }));
        QVERIFY2(reading(config).contains("UTF-16LE"), qPrintable(reading(config)));
    }
    /// 64 KiB of UTF-32 are a quarter of as much text, and the first escape came later.
    void theDialectOfWideTextIsFoundInAsMuchTextAsThatOfUtf8()
    {
        DataFolder folder;
        std::u16string text = u"id;text\n";
        for (int i = 0; i < 2000; ++i)
            text += u"1;abcdefghijklmnopqrstuvwxyz\n"; // 58 KiB, 116 KiB in UTF-16
        text += u"2;say \\\"hi\\\" now\n";
        const auto config = test::configFor({ folder.write("a.csv", utf16(text, true)) });
        const auto rows = texts(config, folder);
        QCOMPARE(rows.size(), std::size_t(2001));
        QCOMPARE(rows.back(), std::string("say \"hi\" now"));
        QVERIFY2(reading(config).contains("escape \\"), qPrintable(reading(config)));
    }
    /// pandas ends a record at a carriage return alone; here it was one record to the next line feed, without a word.
    void aCsvWhoseRecordsEndAtCarriageReturnsIsRefused()
    {
        DataFolder folder;
        for (const char* bytes : { "id,text\r1,one\r2,two\r", "id,text\n1,one\r2,two\n" }) {
            const auto refused = inspectData(test::configFor({ folder.write("a.csv", bytes) }));
            QVERIFY(!refused.ok());
            QVERIFY2(
                refused.error().message.find("carriage returns") != std::string::npos, refused.error().message.c_str());
        }
        QCOMPARE(texts(test::configFor({ folder.write("c.csv", "id,text\n1,one\rmore\n2,two\n") }), folder),
            (Texts { "one\rmore", "two" })); // no record ends there
        QCOMPARE(texts(test::configFor({ folder.write("b.csv", "id,text\r\n1,\"on\re\"\r\n2,two\r\n") }), folder),
            (Texts { "on\re", "two" }));
    }
    void theEncodingCanBeSaid()
    {
        DataFolder folder;
        auto config = test::configFor({ folder.write("a.txt", "caf\xe9\n") });
        config.encoding = "latin1";
        QCOMPARE(texts(config, folder), (Texts { "caf\xc3\xa9" }));
        config.encoding = "windows-1252"; // was said by a name that only ICU uses
        QVERIFY2(reading(config).contains("is windows-1252 text"), qPrintable(reading(config)));
        config.encoding = "utf-8";
        QCOMPARE(texts(config, folder), (Texts { "caf\xe9" }));
        config.encoding = "klingon";
        QVERIFY(texts(config, folder).front().find("There is no encoding 'klingon'") != std::string::npos);
    }
    /// ICU put U+001A or U+FFFD for them, and nothing was counted or said.
    void bytesThatAnEncodingDoesNotHaveWereTrainedAsCharacters_data()
    {
        QTest::addColumn<QByteArray>("encoding");
        QTest::addColumn<QByteArray>("bytes");
        QTest::newRow("Shift_JIS") << QByteArray("shift_jis") << QByteArray("ab \x81\x7f cd\n");
        QTest::newRow("GB18030") << QByteArray("gb18030") << QByteArray("ab \x81\x20 cd\n");
        QTest::newRow("EUC-KR") << QByteArray("euc-kr") << QByteArray("ab \x81\x20 cd\n");
        const char16_t lone[] = u"ab \xd800 cd\n";
        QTest::newRow("UTF-16") << QByteArray("utf-16le")
                                << QByteArray(reinterpret_cast<const char*>(lone), sizeof(lone) - sizeof(char16_t));
    }
    void bytesThatAnEncodingDoesNotHaveWereTrainedAsCharacters()
    {
        QFETCH(QByteArray, encoding);
        QFETCH(QByteArray, bytes);
        DataFolder folder;
        auto config = test::configFor({ folder.write("a.txt", bytes.toStdString()) });
        config.encoding = encoding.toStdString();
        const auto all = texts(config, folder);
        QVERIFY2(all.size() == 1 && all[0].starts_with("ab \xff") && all[0].ends_with("cd"), all[0].c_str());
    }
    void koreanOfOurDaysBecameControlCharacters()
    {
        DataFolder folder;
        auto config = test::configFor({ folder.write("a.txt", "\x8c\x63\xb9\xe6\xb0\xa2\xc7\xcf\n") });
        for (const char* name : { "cp949", "euc-kr", "windows-949" }) {
            config.encoding = name;
            QCOMPARE(QString::fromStdString(texts(config, folder)[0]), QString::fromUtf8("똠방각하"));
            QVERIFY2(reading(config).contains("windows-949"), qPrintable(reading(config)));
        }
    }
    /// ICU makes 0xFF, or private characters, of what GBK and the Big5 of Hong Kong have and their tables lack.
    void charactersOfChineseTextBecamePrivateOnes_data()
    {
        QTest::addColumn<QByteArray>("name");
        QTest::addColumn<QByteArray>("bytes");
        QTest::addColumn<QString>("text");
        const auto row = [](const char* name, const char* bytes, const char* text) {
            QTest::newRow((QByteArray(name) + " " + text).constData())
                << QByteArray(name) << QByteArray(bytes) << QString::fromUtf8(text);
        };
        for (const char* name : { "gb18030", "gbk", "cp936", "gb2312" }) {
            row(name,
                "\xbc\xdb\x80"
                "5",
                "价€5");
            row(name, "\xa2\xe3\xfe\x50\xa8\xbf", "€⺁ǹ");
            row(name, "\x81\x30\x84\x36", "¥");
        }
        for (const char* name : { "big5", "big5-hkscs", "cp950" })
            row(name, "\xfe\x50\x87\x40\xfb\x40\xa4\xa4\xa3\xe1", "漽䏰𨦼中€");
    }
    void charactersOfChineseTextBecamePrivateOnes()
    {
        QFETCH(QByteArray, name);
        QFETCH(QByteArray, bytes);
        QFETCH(QString, text);
        DataFolder folder;
        auto config = test::configFor({ folder.write("a.txt", bytes.toStdString() + "\n") });
        config.encoding = name.toStdString();
        QCOMPARE(QString::fromStdString(texts(config, folder)[0]), text);
    }
    void theEuroSignOfGbkWasNoCharacterWhenItsEncodingWasFound()
    {
        DataFolder folder;
        std::string text; // "this book costs N euros, which is not expensive" with the sign
        for (int i = 0; i < 60; ++i)
            text += "\xd5\xe2\xb1\xbe\xca\xe9\xb5\xc4\xbc\xdb\xb8\xf1\xca\xc7\x80" + std::to_string(i)
                + "\xa3\xac\xce\xd2\xc3\xc7\xb6\xbc\xd6\xaa\xb5\xc0\xb2\xbb\xb9\xf3\xa1\xa3\n";
        const auto config = test::configFor({ folder.write("a.txt", text) });
        QVERIFY2(reading(config).contains("is GB18030 text"), qPrintable(reading(config)));
        QCOMPARE(
            QString::fromStdString(texts(config, folder)[3]), QString::fromUtf8("这本书的价格是€3，我们都知道不贵。"));
    }
    void aFewBrokenBytesDoNotMakeUtf8AnotherEncoding()
    {
        DataFolder folder;
        std::string text;
        for (int i = 0; i < 50; ++i)
            text += "d\xc3\xa9j\xc3\xa0 vu, \xc3\xa9t\xc3\xa9 \xe9\n";
        const auto config = test::configFor({ folder.write("a.txt", text) });
        QVERIFY2(reading(config).contains("has bytes that are not UTF-8"), qPrintable(reading(config)));
        QCOMPARE(texts(config, folder)[0], std::string("d\xc3\xa9j\xc3\xa0 vu, \xc3\xa9t\xc3\xa9 \xe9"));
    }
    void aFractionOfASmallFileIsAFraction()
    {
        DataFolder folder;
        auto config = test::configFor({ folder.write("a.txt", test::indexedLines(1000)) });
        config.fraction = 0.3;
        const auto rows = texts(config, folder).size();
        QVERIFY2(rows > 230 && rows < 370, qPrintable(QString::number(rows)));
    }
};

QTEST_GUILESS_MAIN(TestReading)
#include "tst_reading.moc"
