#include "core/base/file_system.h"
#include "core/data/tokenizer/prefix_tree.h"
#include "core/data/tokenizer/tokenizer.h"

#include <QTest>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <sstream>

// Each component of the tokenizers library against what it gives (components.json, made by
// tests/oracle/tokenizer_components.py --write).

using namespace furrow;
using nlohmann::json;

namespace {

using Ids = std::vector<TokenId>;

Ids idsOf(const std::string& text)
{
    std::istringstream in(text);
    return { std::istream_iterator<TokenId>(in), {} };
}

Ids encoded(const Tokenizer& tokenizer, std::string_view text)
{
    Ids ids;
    if (!tokenizer.encode(text, ids).ok())
        qFatal("the text has no ids");
    return ids;
}

/// Of those that the text spells: all but that of what is unknown, which any text may become.
Ids specialIds(const json& definition, const std::string& text)
{
    Ids ids;
    for (const auto& token : definition["added_tokens"]) {
        const auto content = token["content"].get<std::string>();
        const bool isSpelled = text.find(content) != std::string::npos;
        if (isSpelled && token["special"].get<bool>() && content != "<unk>" && content != "[UNK]")
            ids.push_back(token["id"].get<TokenId>());
    }
    return ids;
}

bool hasAny(const Ids& ids, const Ids& of)
{
    return std::any_of(
        of.begin(), of.end(), [&ids](TokenId id) { return std::find(ids.begin(), ids.end(), id) != ids.end(); });
}

/// A tokenizer over words; parts are put in.
json wordLevel()
{
    return { { "model",
        { { "type", "WordLevel" }, { "unk_token", "?" }, { "vocab", { { "?", 0 }, { "a", 1 }, { "b", 2 } } } } } };
}

std::string refusal(const json& definition)
{
    const auto loaded = loadTokenizerDefinition(definition.dump(), "x");
    return loaded.ok() ? "" : loaded.error().message;
}

std::shared_ptr<const Tokenizer> loaded(const json& definition)
{
    const auto made = loadTokenizerDefinition(definition.dump(), "x");
    if (!made.ok())
        qFatal("%s", made.error().message.c_str());
    return made.value();
}

} // namespace

class TestTokenizerComponents : public QObject {
    Q_OBJECT

private:
    json table_;

private Q_SLOTS:
    void initTestCase()
    {
        table_ = json::parse(readFile(std::filesystem::path(FURROW_TEST_DATA) / "components.json").value());
        QVERIFY(table_["tokenizers"].size() > 40 && table_["texts"].size() > 60);
    }

    void charactersWithoutATokenAreDroppedWithoutAWord()
    {
        json byteLevel = {
            { "pre_tokenizer", { { "type", "ByteLevel" }, { "add_prefix_space", false } } },
            { "model",
                { { "type", "BPE" }, { "vocab", { { "a", 0 }, { "b", 1 }, { "ab", 2 } } }, { "merges", { "a b" } } } }
        };
        json words = byteLevel;
        words["pre_tokenizer"] = { { "type", "Whitespace" } };
        for (const json& definition : { byteLevel, words }) {
            const auto tokenizer = loaded(definition);
            QCOMPARE(encoded(*tokenizer, "ab\u20acb\u20aca"), (Ids { 2, 1, 0 })); // as the tokenizers library
            QVERIFY(tokenizer->dropsText());
            QCOMPARE(tokenizer->dropped("ab\u20acb\u20aca", false), std::int64_t(2)); // characters, not bytes
            QCOMPARE(tokenizer->dropped("ab\u20acb\u20aca", false), std::int64_t(2)); // from the cache of words too
            QCOMPARE(tokenizer->dropped("ab", false), std::int64_t(0));
        }
        words["model"]["unk_token"] = "?";
        words["model"]["vocab"]["?"] = 3;
        QCOMPARE(encoded(*loaded(words), "a\u20ac"), (Ids { 0, 3 }));
        QCOMPARE(loaded(words)->dropped("a\u20ac", false), std::int64_t(0)); // its own token stands for it
        QVERIFY(!byteTokenizer()->dropsText());
    }
    void idsAndTextsAreThoseOfTheTokenizersLibrary_data()
    {
        QTest::addColumn<int>("row");
        for (int row = 0; row < static_cast<int>(table_["tokenizers"].size()); ++row)
            QTest::newRow(table_["tokenizers"][row]["name"].get<std::string>().c_str()) << row;
    }
    void idsAndTextsAreThoseOfTheTokenizersLibrary()
    {
        QFETCH(int, row);
        const auto& expected = table_["tokenizers"][row];
        const auto made = loadTokenizerDefinition(expected["tokenizer"].dump(), "x");
        QVERIFY2(made.ok(), made.ok() ? "" : made.error().message.c_str());
        const auto& tokenizer = *made.value();
        for (std::size_t i = 0; i < table_["texts"].size(); ++i) {
            const auto text = table_["texts"][i].get<std::string>();
            const auto what = json(text).dump(-1, ' ', true);
            const Ids special = specialIds(expected["tokenizer"], text);
            const auto ids = encoded(tokenizer, text);
            if (hasAny(idsOf(expected["ids"][i]), special)) { // the library finds their texts in the vocabulary
                QVERIFY2(!hasAny(ids, special), what.c_str());
                continue;
            }
            QVERIFY2(ids == idsOf(expected["ids"][i]), what.c_str());
            Ids matched;
            QVERIFY(tokenizer.encodeMatchingSpecial(text, matched).ok());
            QVERIFY2(
                matched == idsOf(expected["special"].value(std::to_string(i), expected["ids"][i].get<std::string>())),
                what.c_str());
            if (const auto& decoded = expected["decoded"][i]; decoded.is_string())
                QVERIFY2(tokenizer.decode(ids) == decoded.get<std::string>(),
                    (what + " becomes "
                        + json(tokenizer.decode(ids)).dump(-1, ' ', true, json::error_handler_t::replace))
                        .c_str());
        }
    }

    void aWordWithoutATokenIsAnErrorWhereThereIsNoneForSuch()
    {
        auto definition = wordLevel();
        definition["model"]["unk_token"] = "<missing>";
        Ids ids;
        const auto status = loaded(definition)->encode("c", ids);
        QVERIFY(!status.ok());
        QVERIFY2(
            QByteArray::fromStdString(status.error().message).contains("<missing>"), status.error().message.c_str());
        definition["model"] = { { "type", "Unigram" }, { "unk_id", nullptr },
            { "vocab", json::array({ json::array({ "a", -1.0 }) }) } };
        QVERIFY(!loaded(definition)->encode("ab", ids).ok());
        QVERIFY(loaded(definition)->encode("aa", ids).ok());
    }

    void aNormalizerThatDoublesTheTextAgainAndAgainIsStopped()
    {
        auto definition = wordLevel();
        json steps = json::array();
        for (int i = 0; i < 60; ++i)
            steps.push_back({ { "type", "Replace" }, { "pattern", { { "String", "a" } } }, { "content", "aa" } });
        definition["normalizer"] = { { "type", "Sequence" }, { "normalizers", steps } };
        Ids ids;
        QVERIFY(!loaded(definition)->encode("a", ids).ok());
        for (int i = 0; i < 300; ++i)
            definition["normalizer"]["normalizers"].push_back({ { "type", "NFC" } });
        QVERIFY(QByteArray::fromStdString(refusal(definition)).contains("256"));
    }

    void aCharsmapOfRandomBytesNeitherCrashesNorEscapesItsArray()
    {
        quint32 state = 1;
        for (int round = 0; round < 300; ++round) {
            QByteArray packed(4 + 4 * 64 + 40, '\0');
            for (auto& byte : packed)
                byte = static_cast<char>((state = state * 1664525u + 1013904223u) >> 25);
            packed[0] = char(0), packed[1] = char(1), packed[2] = packed[3] = 0;
            auto definition = wordLevel();
            definition["normalizer"]
                = { { "type", "Precompiled" }, { "precompiled_charsmap", packed.toBase64().toStdString() } };
            const auto made = loadTokenizerDefinition(definition.dump(), "x");
            QVERIFY2(made.ok(), made.ok() ? "" : made.error().message.c_str());
            Ids ids;
            (void)made.value()->encode("The quick \xC3\xA9\xE2\x96\x81\r\n\xFF brown \x01\x02\x03", ids);
        }
    }

    void addedTokensWithOtherIdsThanTheLibraryGivesThemAreRefused()
    {
        auto definition = wordLevel();
        const auto token = [](int id, const char* content) {
            return json { { "id", id }, { "content", content }, { "special", true } };
        };
        definition["added_tokens"] = { token(2, "b"), token(3, "<s>"), token(4, "</s>") };
        QCOMPARE(refusal(definition), std::string());
        definition["added_tokens"] = { token(3, "<s>"), token(5, "</s>") };
        QVERIFY2(QByteArray::fromStdString(refusal(definition)).contains("\"</s>\" has the id 5"),
            refusal(definition).c_str());
        definition["added_tokens"] = { token(3, "b") };
        QVERIFY2(QByteArray::fromStdString(refusal(definition)).contains("gives it 2"), refusal(definition).c_str());
    }

    void whatIsNotKnownIsRefusedByName_data()
    {
        QTest::addColumn<QByteArray>("says");
        QTest::addColumn<QByteArray>("patch");
        QTest::newRow("model") << QByteArray("Morfessor") << QByteArray(R"({"model":{"type":"Morfessor"}})");
        QTest::newRow("normalizer") << QByteArray("Rot13") << QByteArray(R"({"normalizer":{"type":"Rot13"}})");
        QTest::newRow("pre-tokenizer") << QByteArray("Sentences")
                                       << QByteArray(R"({"pre_tokenizer":{"type":"Sentences"}})");
        QTest::newRow("decoder") << QByteArray("CTC")
                                 << QByteArray(R"({"decoder":{"type":"CTC","pad_token":"<pad>"}})");
        QTest::newRow("behaviour") << QByteArray("Sideways")
                                   << QByteArray(R"({"pre_tokenizer":{"type":"Punctuation","behavior":"Sideways"}})");
        QTest::newRow("length") << QByteArray("FixedLength")
                                << QByteArray(R"({"pre_tokenizer":{"type":"FixedLength","length":0}})");
        QTest::newRow("delimiter") << QByteArray("delimiter")
                                   << QByteArray(R"({"pre_tokenizer":{"type":"CharDelimiterSplit","delimiter":"ab"}})");
        QTest::newRow("charsmap") << QByteArray("precompiled_charsmap")
                                  << QByteArray(
                                         R"({"normalizer":{"type":"Precompiled","precompiled_charsmap":"AAA="}})");
        QTest::newRow("pattern")
            << QByteArray("ID_Start")
            << QByteArray(R"({"normalizer":{"type":"Replace","pattern":{"Regex":"\\p{ID_Start}"},"content":""}})");
        QTest::newRow("score") << QByteArray("entry 1")
                               << QByteArray(R"({"model":{"type":"Unigram","unk_id":0,"vocab":[["a",0],["b"]]}})");
        QTest::newRow("twice") << QByteArray("twice")
                               << QByteArray(R"({"model":{"type":"Unigram","unk_id":0,"vocab":[["a",0],["a",1]]}})");
        QTest::newRow("unk_id") << QByteArray("unk_id")
                                << QByteArray(R"({"model":{"type":"Unigram","unk_id":7,"vocab":[["a",0]]}})");
        QTest::newRow("first")
            << QByteArray("prepend_scheme first")
            << QByteArray(
                   R"({"normalizer":{"type":"NFC"},"pre_tokenizer":{"type":"Sequence","pretokenizers":[{"type":"WhitespaceSplit"},{"type":"Metaspace","replacement":"_","prepend_scheme":"first"}]}})");
    }
    void whatIsNotKnownIsRefusedByName()
    {
        QFETCH(QByteArray, says);
        QFETCH(QByteArray, patch);
        auto definition = wordLevel();
        definition.update(json::parse(patch.toStdString()));
        QVERIFY2(QByteArray::fromStdString(refusal(definition)).contains(says), refusal(definition).c_str());
    }

    /// HTML that strikes text through ended a document for the model.
    void aTextThatSpellsASpecialTokenBecameIt_data()
    {
        QTest::addColumn<QByteArray>("model");
        QTest::newRow("Unigram") << QByteArray(
            R"({"type":"Unigram","unk_id":0,"vocab":[["?",-9],["</s>",0],["<",-3],["/",-3],["s",-3],[">",-3]]})");
        QTest::newRow("WordPiece") << QByteArray(
            R"({"type":"WordPiece","unk_token":"?","vocab":{"?":0,"</s>":1,"<":2,"##/":3,"##s":4,"##>":5}})");
        QTest::newRow("WordLevel") << QByteArray(R"({"type":"WordLevel","unk_token":"?","vocab":{"?":0,"</s>":1}})");
    }
    void aTextThatSpellsASpecialTokenBecameIt()
    {
        QFETCH(QByteArray, model);
        auto definition = wordLevel();
        definition["model"] = json::parse(model.toStdString());
        definition["added_tokens"] = json::parse(R"([{"id":1,"content":"</s>","special":true}])");
        const auto tokenizer = loaded(definition);
        const auto ids = encoded(*tokenizer, "</s>");
        QVERIFY(!ids.empty() && std::find(ids.begin(), ids.end(), TokenId { 1 }) == ids.end());
        Ids special;
        QVERIFY(tokenizer->encodeMatchingSpecial("</s>", special).ok());
        QCOMPARE(special, Ids { 1 });
    }

    void longTextsTakeTimeInProportion()
    {
        auto definition = wordLevel();
        json vocabulary = json::array({ json::array({ "?", -10.0 }) });
        std::string run;
        for (int i = 0; i < 64; ++i)
            vocabulary.push_back(json::array({ run += "a", -1.0 / (i + 1) }));
        definition["model"] = { { "type", "Unigram" }, { "unk_id", 0 }, { "vocab", vocabulary } };
        const auto ids = encoded(*loaded(definition), std::string(2'000'000, 'a'));
        QCOMPARE(ids.size(), std::size_t { 2'000'000 / 64 });
        definition["model"] = { { "type", "WordPiece" }, { "unk_token", "?" },
            { "max_input_chars_per_word", 10'000'000 }, { "vocab", { { "?", 0 }, { "a", 1 }, { "##aa", 2 } } } };
        QCOMPARE(encoded(*loaded(definition), std::string(2'000'001, 'a')).size(), std::size_t { 1'000'001 });
        definition["model"]["vocab"][std::string(5000, 'b')] = 3;
        QVERIFY(QByteArray::fromStdString(refusal(definition)).contains("4096"));
    }

    void prefixTreeFindsEveryKeyATextStartsWith()
    {
        const PrefixTree tree({ { "a", 1 }, { "ab", 2 }, { "abcd", 3 }, { "b", 4 }, { "\xFF", 5 } });
        QCOMPARE(tree.value(tree.walk("a")), 1u);
        QCOMPARE(tree.value(tree.walk("ab")), 2u);
        QCOMPARE(tree.value(tree.walk("abc")), PrefixTree::kNone);
        QCOMPARE(tree.value(tree.walk("abcd")), 3u);
        QCOMPARE(tree.value(tree.walk("\xFF")), 5u);
        QVERIFY(tree.walk("ac") == PrefixTree::kNone && tree.walk("c") == PrefixTree::kNone);
    }
};

QTEST_GUILESS_MAIN(TestTokenizerComponents)
#include "tst_tokenizer_components.moc"
