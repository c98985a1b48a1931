#include "core/data/source/csv_fields.h"
#include "core/data/source/json_text.h"
#include "core/data/source/record_reader.h"
#include "core/data/source/source_files.h"

#include <QtTest>

using namespace furrow;

namespace {

/// Gives its text in pieces of `piece` bytes.
class PieceStream : public ByteStream {
public:
    PieceStream(std::string text, std::size_t piece)
        : text_(std::move(text))
        , piece_(piece)
    {
    }
    Result<std::size_t> read(std::span<char> into) override
    {
        const auto n = std::min({ piece_, into.size(), text_.size() - at_ });
        std::copy_n(text_.data() + at_, n, into.data());
        at_ += n;
        return n;
    }

private:
    std::string text_;
    std::size_t piece_;
    std::size_t at_ = 0;
};

std::vector<std::string> cut(const std::string& text, const RecordRules& rules, std::size_t piece, std::size_t from = 0)
{
    RecordReader reader(std::make_unique<PieceStream>(text.substr(from), piece), rules, from);
    std::vector<std::string> rows;
    for (Record record;;) {
        auto more = reader.next(record);
        if (!more.ok() || !more.value())
            return rows;
        rows.emplace_back(record.tooLong ? "<too long>" : std::string(record.bytes));
    }
}

} // namespace

class TestRecordReader : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void cutsTheSameWhateverThePieces_data()
    {
        QTest::addColumn<int>("kind");
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QList<QByteArray>>("rows");
        using L = QList<QByteArray>;
        const int lines = static_cast<int>(RecordKind::Lines);
        const int paragraphs = static_cast<int>(RecordKind::Paragraphs);
        const int spans = static_cast<int>(RecordKind::Spans);
        const int csv = static_cast<int>(RecordKind::Csv);
        QTest::newRow("no lines") << lines << QByteArray() << L {};
        QTest::newRow("lines") << lines << QByteArray("a\nb\n") << L { "a", "b" };
        QTest::newRow("last line without end") << lines << QByteArray("a\nb") << L { "a", "b" };
        QTest::newRow("empty lines are rows") << lines << QByteArray("\n\na\n") << L { "", "", "a" };
        QTest::newRow("carriage returns") << lines << QByteArray("a\r\nb\r\n") << L { "a", "b" };
        QTest::newRow("a NUL in a line") << lines << QByteArray("a\0b\n", 4) << L { QByteArray("a\0b", 3) };
        QTest::newRow("paragraphs") << paragraphs << QByteArray("\n \na\nb\n\n\n  c\n\t\nd")
                                    << L { "a\nb", "  c", "d" };
        QTest::newRow("blanks at the end of paragraphs")
            << paragraphs << QByteArray("a \r\nb\t \r\n \n\nc \n\nd  ") << L { "a \r\nb\t ", "c ", "d  " };
        QTest::newRow("only blank") << paragraphs << QByteArray(" \n\n\t\n") << L {};
        QTest::newRow("spans") << spans << QByteArray("0123456789abcdefXYZ\n") << L { "0123456789abcdef", "XYZ\n" };
        QTest::newRow("span at a code point") << spans
                                              << QByteArray("0123456789abcde\xc3\xa9"
                                                            "f")
                                              << L { "0123456789abcde\xc3\xa9", "f" };
        QTest::newRow("whole spans") << spans << QByteArray("0123456789abcdef0123456789abcdef")
                                     << L { "0123456789abcdef", "0123456789abcdef" };
        QTest::newRow("csv") << csv << QByteArray("a,b\n\n1,\"x\ny\"\r\n2,\"say \"\"hi\"\"\n!\"\n")
                             << L { "a,b", "1,\"x\ny\"", "2,\"say \"\"hi\"\"\n!\"" };
        QTest::newRow("a quote inside a plain field")
            << csv << QByteArray("5\" nail,x\nb,y\n") << L { "5\" nail,x", "b,y" };
    }
    void cutsTheSameWhateverThePieces()
    {
        QFETCH(int, kind);
        QFETCH(QByteArray, text);
        QFETCH(QList<QByteArray>, rows);
        RecordRules rules;
        rules.kind = static_cast<RecordKind>(kind);
        rules.spanBytes = 16;
        for (const std::size_t piece : { 1, 2, 3, 7, 1000 }) {
            const auto found = cut(text.toStdString(), rules, piece);
            QCOMPARE(found.size(), static_cast<std::size_t>(rows.size()));
            for (std::size_t i = 0; i < found.size(); ++i)
                QCOMPARE(QByteArray::fromStdString(found[i]), rows[static_cast<qsizetype>(i)]);
        }
    }
    void goesOnAtEveryPosition()
    {
        const std::string text = "one\n\ntwo, \"three\nfour\"\n\n\xc3\xa9t\xc3\xa9 and some more text\nend";
        for (const auto kind : { RecordKind::Lines, RecordKind::Paragraphs, RecordKind::Spans, RecordKind::Csv }) {
            RecordRules rules;
            rules.kind = kind;
            rules.spanBytes = 16;
            const auto whole = cut(text, rules, 1000);
            RecordReader reader(std::make_unique<PieceStream>(text, 1000), rules, 0);
            Record record;
            for (std::size_t row = 1; reader.next(record).value(); ++row) {
                const auto rest = cut(text, rules, 5, reader.position());
                QCOMPARE(rest, std::vector<std::string>(whole.begin() + static_cast<std::ptrdiff_t>(row), whole.end()));
            }
        }
    }
    void skipsALineThatIsTooLong()
    {
        const std::string text = "a\n" + std::string(50 << 20, 'x') + "\nb\n";
        QCOMPARE(cut(text, {}, 1 << 20), (std::vector<std::string> { "a", "<too long>", "b" }));
    }
    void skipsAnEndlessLine()
    {
        const std::string text = "a\n" + std::string(20 << 20, 'x');
        QCOMPARE(cut(text, {}, 1 << 20), (std::vector<std::string> { "a", "<too long>" }));
    }
    void takesCsvFieldsApart()
    {
        QCOMPARE(csvFields("a,\"b,\"\"c\"\"\nd\",,e", CsvDialect {}),
            (std::vector<std::string> { "a", "b,\"c\"\nd", "", "e" }));
        QCOMPARE(csvFields("", CsvDialect {}), (std::vector<std::string> { "" }));
        QCOMPARE(csvFields("a,", CsvDialect {}), (std::vector<std::string> { "a", "" }));
        std::string field;
        const CsvDialect tabs { '\t' };
        QVERIFY(csvField("a\tb", tabs, 1, 0, field) == CsvFit::Fits);
        QCOMPARE(field, std::string("b"));
        QVERIFY(csvField("a\tb", tabs, 2, 0, field) == CsvFit::Few);
    }
    void readsJsonLines_data()
    {
        QTest::addColumn<QByteArray>("line");
        QTest::addColumn<bool>("good");
        QTest::addColumn<QByteArray>("text");
        QTest::newRow("plain") << QByteArray("{\"id\":1,\"text\":\"a\\nb\"}") << true << QByteArray("a\nb");
        QTest::newRow("pair") << QByteArray("{\"text\":\"\\ud83d\\ude00\"}") << true << QByteArray("\xf0\x9f\x98\x80");
        QTest::newRow("lone high surrogate") << QByteArray("{\"text\":\"a\\ud800b\"}") << true
                                             << QByteArray("a\xef\xbf\xbd"
                                                           "b");
        QTest::newRow("lone low surrogate") << QByteArray("{\"text\":\"a\\udc00b\\\\ud800\"}") << true
                                            << QByteArray("a\xef\xbf\xbd"
                                                          "b\\ud800");
        QTest::newRow("broken bytes") << QByteArray("{\"text\":\"a\xff\"}") << true << QByteArray("a\xef\xbf\xbd");
        QTest::newRow("NUL escape") << QByteArray("{\"text\":\"a\\u0000b\"}") << true << QByteArray("a\0b", 3);
        QTest::newRow("null") << QByteArray("{\"text\":null}") << true << QByteArray();
        QTest::newRow("blank") << QByteArray("  ") << true << QByteArray();
        QTest::newRow("half a line") << QByteArray("{\"text\":\"a") << false << QByteArray();
        QTest::newRow("no object") << QByteArray("[1]") << false << QByteArray();
        QTest::newRow("number") << QByteArray("{\"text\":1}") << false << QByteArray();
        QTest::newRow("no member") << QByteArray("{\"body\":\"a\"}") << false << QByteArray();
        QTest::newRow("more after the object") << QByteArray("{\"text\":\"a\"} x") << false << QByteArray();
        QTest::newRow("deep") << QByteArray(5000, '[') << false << QByteArray();
    }
    void readsJsonLines()
    {
        QFETCH(QByteArray, line);
        QFETCH(bool, good);
        QFETCH(QByteArray, text);
        JsonText json(ColumnPath::ofName("text"));
        const char* problem = json.parse(line.toStdString());
        QCOMPARE(problem == nullptr, good);
        QCOMPARE(QByteArray(json.text().data(), static_cast<qsizetype>(json.text().size())), text);
    }
    void ordersNamesNaturally()
    {
        std::vector<std::string> names { "part-10", "part-9", "part-1", "a2b", "a10b", "a2" };
        std::sort(names.begin(), names.end(), [](const auto& a, const auto& b) { return naturalLess(a, b); });
        QCOMPARE(names, (std::vector<std::string> { "a2", "a2b", "a10b", "part-1", "part-9", "part-10" }));
    }
    void matchesPatterns()
    {
        QVERIFY(globMatches("*.txt", "a.txt"));
        QVERIFY(globMatches("part-[0-3]?.*", "part-12.jsonl"));
        QVERIFY(!globMatches("part-[!0-3].x", "part-1.x"));
        QVERIFY(globMatches("a*b*c", "aXXbYYbc"));
        QVERIFY(!globMatches("a*b*c", "aXXbYY"));
        QVERIFY(!globMatches("", "a"));
        QVERIFY(globMatches("***", ""));
    }
};

QTEST_GUILESS_MAIN(TestRecordReader)
#include "tst_record_reader.moc"
