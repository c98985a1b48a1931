#include "core/base/file_system.h"
#include "core/data/tokenizer/regex.h"
#include "core/data/tokenizer/regex_unicode.h"
#include "core/data/tokenizer/unicode_classes.h"

#include <QTest>
#include <nlohmann/json.hpp>

// Split patterns against the pieces that the tokenizers library gives (split_patterns.json, made by
// tests/oracle/split_patterns.py).

using namespace furrow;
using nlohmann::json;

namespace {

std::size_t codePoints(std::string_view text)
{
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

/// The lengths of the pieces in code points, each match a piece of its own: "3 1 4".
QByteArray pieces(const Regex& regex, std::string_view text)
{
    QByteArray lengths;
    std::size_t done = 0;
    const auto add = [&](std::size_t to) {
        if (to > done)
            lengths += (lengths.isEmpty() ? "" : " ")
                + QByteArray::number(static_cast<qulonglong>(codePoints(text.substr(done, to - done))));
        done = to;
    };
    const auto status = regex.forEachMatch(text, [&](std::size_t begin, std::size_t end) {
        add(begin);
        add(end);
    });
    add(text.size());
    return status.ok() ? lengths : QByteArray::fromStdString(status.error().message);
}

std::string refusal(const std::string& pattern)
{
    const auto made = Regex::compile(pattern);
    return made.ok() ? "" : made.error().message;
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

} // namespace

class TestSplitPatterns : public QObject {
    Q_OBJECT

private:
    json table_;

private Q_SLOTS:
    void initTestCase()
    {
        table_ = json::parse(readFile(std::filesystem::path(FURROW_TEST_DATA) / "split_patterns.json").value());
        QVERIFY(table_["patterns"].size() >= 95 && table_["texts"].size() >= 60);
    }

    void piecesAreThoseOfTheTokenizersLibrary_data()
    {
        QTest::addColumn<int>("row");
        for (int row = 0; row < static_cast<int>(table_["patterns"].size()); ++row)
            QTest::newRow(qPrintable(QString::fromStdString(table_["patterns"][row]["pattern"].get<std::string>())))
                << row;
    }
    void piecesAreThoseOfTheTokenizersLibrary()
    {
        QFETCH(int, row);
        const auto& expected = table_["patterns"][row];
        const auto regex = Regex::compile(expected["pattern"].get<std::string>());
        QVERIFY2(regex.ok(), regex.ok() ? "" : regex.error().message.c_str());
        for (std::size_t i = 0; i < table_["texts"].size(); ++i) {
            const auto text = table_["texts"][i].get<std::string>();
            const auto found = pieces(*regex.value(), text);
            QVERIFY2(found == QByteArray::fromStdString(expected["pieces"][i].get<std::string>()),
                (json(text).dump(-1, ' ', true) + ": " + found.toStdString() + ", expected "
                    + expected["pieces"][i].dump())
                    .c_str());
        }
    }

    void charactersNewerThanTheLibraryKeepTheirCategory()
    {
        const std::string_view names = kCategoryNames;
        for (std::size_t i = 0; i < names.size(); i += 2) {
            const auto name = std::string(names.substr(i, 2));
            const auto regex = Regex::compile("\\p{" + name + "}").value();
            std::string text;
            for (char32_t c = 0x80; c < 0x110000; ++c) {
                const bool surrogate = c >= 0xD800 && c <= 0xDFFF;
                if (surrogate || (knownCharacter(c) == c && c % 64 != 0)) // each newer one, and some of the others
                    continue;
                text.clear();
                appendUtf8(text, c);
                bool matched = false;
                QVERIFY(regex->forEachMatch(text, [&](std::size_t, std::size_t) { matched = true; }).ok());
                QVERIFY2(matched == (kCategoryNames.substr(static_cast<std::size_t>(categoryOf(c)) * 2, 2) == name),
                    (name + " of " + std::to_string(c)).c_str());
            }
        }
    }

    void aRangeThatCutsNewerCharactersIsAnErrorWhereTheLibraryDoesNotKnowThem()
    {
        const std::string newer = "\xF0\xB1\x8D\x90"; // U+31350, of Unicode 15
        const auto wide = Regex::compile("[\\x{10000}-\\x{10FFFF}]").value();
        QCOMPARE(pieces(*wide, "a" + newer), QByteArray("1 1"));
        const auto narrow = Regex::compile("[\\x{31350}-\\x{323AF}]").value();
        const auto found = pieces(*narrow, "a" + newer);
        QVERIFY2(found == "1 1" || found.contains("U+31350"), found.constData());
        QCOMPARE(pieces(*narrow, "ab"), QByteArray("2"));
        const auto twice = pieces(*Regex::compile("(\\w)\\1").value(), newer + "\xF0\xB1\x8D\x91");
        QVERIFY2(twice == "2" || twice.contains("U+31350"), twice.constData());
    }

    void whatNobodyComparedIsRefusedByName()
    {
        QVERIFY(contains(refusal("\\p{In_Basic_Latin}"), "\\p{In_Basic_Latin}"));
        QVERIFY(contains(refusal("[^\\P{^ID_Start}]"), "ID_Start"));
        QVERIFY(contains(refusal("(?y{w})\\X"), "(?y{w})"));
        QVERIFY(contains(refusal("\\p{NoSuchThing}"), "NoSuchThing"));
        QCOMPARE(refusal("\\\\p{ID_Start}"), std::string());
        QVERIFY(contains(refusal(std::string(70'000, 'a')), "64 KiB"));
        QVERIFY(contains(refusal(std::string(5'000, '(') + "a" + std::string(5'000, ')')), "not understood"));
    }

    void aMatchLimitIsAnErrorAndNotNoMatch()
    {
        const auto regex = Regex::compile("(a+)+[bd]").value();
        const auto status = regex->forEachMatch(std::string(5000, 'a') + "c", [](std::size_t, std::size_t) { });
        QVERIFY(!status.ok());
        QCOMPARE(status.error().code, ErrorCode::InvalidArgument);
        QVERIFY2(contains(status.error().message, "(a+)+[bd]") && contains(status.error().message, "5001 bytes"),
            status.error().message.c_str());
        QVERIFY(regex->forEachMatch("aab c", [](std::size_t, std::size_t) { }).ok());
        const auto deep = Regex::compile("(?:(a)|b)*(?!\\z)\\z").value(); // remembers each turn
        QVERIFY(!deep->forEachMatch(std::string(6'000'000, 'a'), [](std::size_t, std::size_t) { }).ok());
    }

    void bytesThatAreNoUtf8MatchNothing()
    {
        const auto any = Regex::compile("(?m:.)").value();
        std::vector<std::size_t> at;
        QVERIFY(
            any->forEachMatch(
                   "a\xFF\xC3\xA9\xE4\xB8", [&](std::size_t begin, std::size_t end) { at.push_back(begin * 10 + end); })
                .ok());
        QCOMPARE(at, (std::vector<std::size_t> { 1, 24 }));
    }
};

QTEST_GUILESS_MAIN(TestSplitPatterns)
#include "tst_split_patterns.moc"
