#include "core/base/file_system.h"
#include "core/data/tokenizer/pre_tokenizer.h"
#include "core/data/tokenizer/tokenizer.h"

#include <QDir>
#include <QTemporaryDir>
#include <QTest>
#include <QVersionNumber>
#include <nlohmann/json.hpp>

using namespace furrow;
using nlohmann::json;

namespace {

using Ids = std::vector<TokenId>;
using Loaded = Result<std::shared_ptr<const Tokenizer>>;

Ids encoded(const Tokenizer& tokenizer, std::string_view text)
{
    Ids ids;
    if (!tokenizer.encode(text, ids).ok())
        qFatal("the text has no ids");
    return ids;
}

json vectors(const std::string& file)
{
    return json::parse(readFile(std::filesystem::path(FURROW_TEST_DATA) / "vectors" / file).value());
}

/// The smallest tokenizer.json that loads.
json smallest()
{
    return { { "pre_tokenizer", { { "type", "ByteLevel" }, { "add_prefix_space", false } } },
        { "model",
            { { "type", "BPE" }, { "vocab", { { "a", 0 }, { "b", 1 }, { "ab", 2 } } }, { "merges", { "a b" } } } } };
}

/// A field of a protobuf message that holds bytes.
QByteArray field(int number, const QByteArray& bytes)
{
    QByteArray out(1, static_cast<char>(number << 3 | 2));
    auto size = static_cast<unsigned>(bytes.size());
    for (; size >= 0x80; size >>= 7)
        out += static_cast<char>(size | 0x80);
    return out + static_cast<char>(size) + bytes;
}

/// Makes a sentencepiece model one of the kind that looks its pieces up in a trie.
const QByteArray unigram = field(2, QByteArray("\x18\x01", 2));
/// A root of a lookup table that leads to its own first 256 units.
constexpr std::uint32_t kRoot = 1 << 10;

/// The table by which a model normalises texts: 256 units, of which the first and the sixth are given.
/// @param units  what it says of its own size
QByteArray lookupTable(std::uint32_t units, std::uint32_t root, std::uint32_t sixth)
{
    std::uint32_t words[257] = { units * 4, root };
    words[6] = sixth;
    return field(3, field(2, QByteArray(reinterpret_cast<const char*>(words), sizeof words) + QByteArray(1, '\0')));
}

std::string base64(std::string_view bytes)
{
    return QByteArray(bytes.data(), static_cast<qsizetype>(bytes.size())).toBase64().toStdString();
}

} // namespace

class TestTokenizerFiles : public QObject {
    Q_OBJECT

private Q_SLOTS:
    /// "(Internal: src/sentencepiece_processor.cc(237) [model_proto->ParseFromArray(...)] )".
    void theInsideOfSentencepieceWasShown()
    {
        QTemporaryDir folder;
        const auto file = std::filesystem::path(folder.filePath(QStringLiteral("noise.json")).toStdString());
        QVERIFY(writeFileWhole(realFileSystem(), file, "\xff\x13\x07 no tokenizer \xfe").ok());
        const auto refused = loadTokenizer(file.string());
        QVERIFY(!refused.ok());
        const std::string& said = refused.error().message.text();
        QVERIFY2(said.find("nor a sentencepiece model") != std::string::npos, said.c_str());
        QVERIFY2(said.find("src/") == std::string::npos && said.find("()") == std::string::npos, said.c_str());
    }

    void idsAreThoseOfTheTokenizersLibrary_data()
    {
        QTest::addColumn<QString>("file");
        const QDir folder(QStringLiteral(FURROW_TEST_DATA) + QStringLiteral("/vectors"));
        for (const auto& file : folder.entryList({ QStringLiteral("*.json") })) {
            if (file != QStringLiteral("sentencepiece_cases.json"))
                QTest::newRow(qPrintable(file)) << file;
        }
    }
    void idsAreThoseOfTheTokenizersLibrary()
    {
        QFETCH(QString, file);
        const auto document = vectors(file.toStdString());
        const auto loaded = loadTokenizerDefinition(document["tokenizer"].dump(), "x");
        QVERIFY2(loaded.ok(), loaded.ok() ? "" : loaded.error().message.c_str());
        const auto& tokenizer = *loaded.value();
        QVERIFY(document["cases"].size() > 50);
        for (const auto& row : document["cases"]) {
            const auto text = row["text"].get<std::string>();
            const auto ids = encoded(tokenizer, text);
            QVERIFY2(ids == row["ids"].get<Ids>(), row.dump().c_str());
            Ids special;
            QVERIFY(tokenizer.encodeMatchingSpecial(text, special).ok());
            QVERIFY2(special == row["special"].get<Ids>(), row.dump().c_str());
            if (document["lossless"] == true)
                QCOMPARE(tokenizer.decode(ids), text);
        }
    }

    void theSentencepieceInThisProgramIsNotFaulty()
    {
        const auto version = QVersionNumber::fromString(QString::fromStdString(sentencepieceVersion()));
        QVERIFY2(version >= QVersionNumber(0, 2, 1),
            sentencepieceVersion().c_str()); // CVE-2026-1260: a prepared model leads outside its memory
    }

    // Fields that are appended to a whole model are merged into it by protobuf.
    void aPreparedSentencepieceModelIsRefused_data()
    {
        QTest::addColumn<QByteArray>("appended");
        QTest::addColumn<QString>("refusal");
        const auto piece = [](const QByteArray& text) { return unigram + field(1, field(1, text)); };
        const auto row = [](const char* name, const QByteArray& appended, const char* refusal) {
            QTest::newRow(name) << appended << QString::fromLatin1(refusal);
        };
        row("harmless", unigram + lookupTable(256, kRoot, 0), "");
        row("piece as long as the stack is deep", piece(QByteArray(200'000, 'a')), "piece is too long");
        row("piece with NUL", piece(QByteArray("a\0b", 3)), "null character");
        row("table that leads outside from its root", unigram + lookupTable(256, 0x8000'0000, 0),
            "precompiled_charsmap is invalid");
        row("table that leads outside from its leaf", unigram + lookupTable(256, kRoot, 0x80ff'ffff),
            "precompiled_charsmap is invalid");
        row("table that leads outside from a branch", unigram + lookupTable(256, kRoot, 0x7fff'fc00),
            "precompiled_charsmap is invalid");
        row("table larger than its bytes", unigram + lookupTable(512, kRoot, 0), "exceeds");
    }
    void aPreparedSentencepieceModelIsRefused()
    {
        QFETCH(QByteArray, appended);
        QFETCH(QString, refusal);
        const auto whole
            = readFile(std::filesystem::path(FURROW_TEST_DATA) / "vectors" / "sentencepiece.model").value();
        const auto loaded = loadTokenizerDefinition(whole + appended.toStdString(), "prepared");
        if (refusal.isEmpty()) {
            QVERIFY2(loaded.ok(), loaded.ok() ? "" : loaded.error().message.c_str());
            QVERIFY(!encoded(*loaded.value(), "a text").empty());
            return;
        }
        QVERIFY(!loaded.ok());
        QVERIFY2(QString::fromStdString(loaded.error().message).contains(refusal), loaded.error().message.c_str());
    }

    void idsAreThoseOfSentencepiece()
    {
        const auto loaded = loadTokenizer(std::string(FURROW_TEST_DATA) + "/vectors/sentencepiece.model");
        QVERIFY2(loaded.ok(), loaded.ok() ? "" : loaded.error().message.c_str());
        for (const auto& row : vectors("sentencepiece_cases.json")["cases"])
            QVERIFY2(
                encoded(*loaded.value(), row["text"].get<std::string>()) == row["ids"].get<Ids>(), row.dump().c_str());
        QCOMPARE(loaded.value()->decode(encoded(*loaded.value(), "the field")), std::string("the field"));
        QCOMPARE(loaded.value()->endOfText(), 2u);
    }

    void definitionsLoadAgainFromAFileOfAnyName_data()
    {
        QTest::addColumn<QString>("name");
        QTest::newRow("byte") << QStringLiteral("byte");
        QTest::newRow("gpt2") << QStringLiteral("gpt2");
        QTest::newRow("sentencepiece") << QStringLiteral(FURROW_TEST_DATA)
                + QStringLiteral("/vectors/sentencepiece.model");
    }
    void definitionsLoadAgainFromAFileOfAnyName()
    {
        QFETCH(QString, name);
        const auto loaded = loadTokenizer(name.toStdString());
        QVERIFY2(loaded.ok(), loaded.ok() ? "" : loaded.error().message.c_str());
        const QTemporaryDir folder;
        const auto path = folder.filePath(QStringLiteral("tokenizer.json")).toStdString();
        QVERIFY(writeFileDurably(realFileSystem(), path, loaded.value()->definition()).ok());
        const auto again = loadTokenizer(path);
        QVERIFY2(again.ok(), again.ok() ? "" : again.error().message.c_str());
        QCOMPARE(again.value()->hash(), loaded.value()->hash());
        QCOMPARE(encoded(*again.value(), "Furrow's field"), encoded(*loaded.value(), "Furrow's field"));
    }

    void charDefinitionLoadsAgain()
    {
        bool given = false;
        const auto built = buildCharTokenizer([&](std::string_view& text) {
            text = "field";
            return !std::exchange(given, true);
        }).value();
        const QTemporaryDir folder;
        const auto path = folder.filePath(QStringLiteral("saved")).toStdString();
        QVERIFY(writeFileDurably(realFileSystem(), path, built->definition()).ok());
        for (const auto& name : { path, "char:" + path }) {
            const auto again = loadTokenizer(name);
            QVERIFY2(again.ok(), again.ok() ? "" : again.error().message.c_str());
            QCOMPARE(again.value()->hash(), built->hash());
            QCOMPARE(again.value()->name(), std::string("char"));
        }
    }

    void layoutOfTheFileDoesNotChangeTheHash()
    {
        const auto compact = loadTokenizerDefinition(smallest().dump(), "x").value();
        const auto wide = loadTokenizerDefinition("\xEF\xBB\xBF\n" + smallest().dump(4), "y").value();
        QCOMPARE(compact->hash(), wide->hash());
        auto other = smallest();
        other["model"]["merges"] = json::array();
        QVERIFY(loadTokenizerDefinition(other.dump(), "x").value()->hash() != compact->hash());
    }

    void hashesStayThoseOfRunsThatAreUnderWay()
    {
        const std::pair<const char*, const char*> known[]
            = { { "llama2-class.json", "ae7188cb202181d7d9f179473c3b5885c5077ce9371e72ffbeda01b753a56afd" },
                  { "o200k-class.json", "8bf53bbaca32ca0ddc287f6772627be3dd565bcf281bcde6d113e9c8c4e312d4" },
                  { "digits.json", "ef95638968d9fda174f33364d385bcc37420d65a315fe9bbfd96d2d0f3db1db4" } };
        for (const auto& [file, hash] : known)
            QCOMPARE(
                loadTokenizerDefinition(vectors(file)["tokenizer"].dump(), "x").value()->hash(), std::string(hash));
    }

    void aFileWithoutEndOfTextGetsOneMoreId()
    {
        const auto loaded = loadTokenizerDefinition(smallest().dump(), "x").value();
        QCOMPARE(loaded->endOfText(), 3u);
        QCOMPARE(loaded->vocabularySize(), 4u);
        QCOMPARE(encoded(*loaded, "abxa"), (Ids { 2, 0 })); // x has no id and no unknown token: dropped, as there
    }

    void mergesMayBePairs()
    {
        auto pairs = smallest();
        pairs["model"]["merges"] = json::array({ json::array({ "a", "b" }) });
        QCOMPARE(encoded(*loadTokenizerDefinition(pairs.dump(), "x").value(), "ab"), (Ids { 2 }));
    }

    void tiktokenRanksGiveTheIdsOfTheirTokenizerJson()
    {
        const auto gpt2 = loadTokenizer("gpt2").value();
        std::string ranks;
        for (TokenId id = 0; id < 50256; ++id)
            ranks += base64(gpt2->decode(std::vector { id })) + " " + std::to_string(id) + "\n";
        const auto loaded = loadTokenizerDefinition(ranks, "ranks");
        QVERIFY2(loaded.ok(), loaded.ok() ? "" : loaded.error().message.c_str());
        QCOMPARE(loaded.value()->endOfText(), 50256u);
        for (const auto& row : vectors("gpt2-class.json")["cases"]) {
            const auto text = row["text"].get<std::string>();
            QCOMPARE(encoded(*loaded.value(), text), encoded(*gpt2, text));
        }
        const auto oneLess = loadTokenizerDefinition(ranks.substr(0, ranks.rfind('\n', ranks.size() - 2) + 1), "ranks");
        QVERIFY(!oneLess.ok());
        QVERIFY(QByteArray(oneLess.error().message.c_str()).contains("50,255 ranks"));
    }

    void brokenDefinitionsAreRefusedByName_data()
    {
        QTest::addColumn<QByteArray>("definition");
        QTest::addColumn<QByteArray>("says");
        const auto row = [](const char* name, const char* says, auto change) {
            auto document = smallest();
            change(document);
            QTest::newRow(name) << QByteArray::fromStdString(document.dump()) << QByteArray(says);
        };
        row("other model", "not a list", [](json& d) { d["model"]["type"] = "Unigram"; });
        row("no model", "no model", [](json& d) { d.erase("model"); });
        row("no merges", "merges", [](json& d) { d["model"].erase("merges"); });
        row("vocab is a list", "vocab", [](json& d) { d["model"]["vocab"] = json::array(); });
        row("no pair", "not a pair", [](json& d) { d["model"]["merges"] = { "a b c" }; });
        row("merge of unknown", "not in the vocabulary", [](json& d) { d["model"]["merges"] = { "a z" }; });
        row("huge id", "id", [](json& d) { d["model"]["vocab"]["a"] = 4'000'000'000u; });
        row("negative id", "id", [](json& d) { d["model"]["vocab"]["a"] = -1; });
        row("id twice", "two tokens", [](json& d) { d["model"]["vocab"]["a"] = 1; });
        row("dropout", "dropout", [](json& d) { d["model"]["dropout"] = 0.1; });
        row("prefix of another vocabulary", "shorter than the prefix",
            [](json& d) { d["model"]["continuing_subword_prefix"] = "##"; });
        row("unknown normalizer", "Rot13", [](json& d) { d["normalizer"]["type"] = "Rot13"; });
        row("unknown pre-tokenizer", "Sentences", [](json& d) { d["pre_tokenizer"]["type"] = "Sentences"; });
        row("bad pattern", "not understood", [](json& d) {
            d["pre_tokenizer"]
                = { { "type", "Split" }, { "pattern", { { "Regex", "(" } } }, { "behavior", "Isolated" } };
        });
        row("bad added token", "added_tokens", [](json& d) { d["added_tokens"] = { { { "content", "x" } } }; });
        row("each of many is compared with all before it, for hours", "added_tokens",
            [](json& d) { d["added_tokens"] = json(200'000, json::object()); });
        row("empty vocabulary", "empty", [](json& d) {
            d["model"]["vocab"] = json::object();
            d["model"]["merges"] = json::array();
        });
        QTest::newRow("no JSON") << QByteArray("{\"model\"") << QByteArray("JSON");
        QTest::newRow("empty") << QByteArray("") << QByteArray("neither");
        QTest::newRow("text") << QByteArray("Once upon a time") << QByteArray("neither");
        QTest::newRow("bad base64") << QByteArray("IQ== 0\nI*== 1\n") << QByteArray("line 2");
        QTest::newRow("rank twice") << QByteArray("IQ== 0\nIg== 0\n") << QByteArray("line 2");
        QTest::newRow("huge rank") << QByteArray("IQ== 4000000000\n") << QByteArray("4000000000");
        QTest::newRow("char, newer") << QByteArray(R"({"furrow_tokenizer":"char","version":2})") << QByteArray("newer");
        QTest::newRow("char, unsorted") << QByteArray(
            R"({"furrow_tokenizer":"char","version":1,"fallback":"bytes","code_points":[98,97]})")
                                        << QByteArray("ascending");
        QTest::newRow("char, surrogate") << QByteArray(
            R"({"furrow_tokenizer":"char","version":1,"fallback":"bytes","code_points":[55296]})")
                                         << QByteArray("code points");
    }
    void brokenDefinitionsAreRefusedByName()
    {
        QFETCH(QByteArray, definition);
        QFETCH(QByteArray, says);
        const auto loaded = loadTokenizerDefinition(definition.toStdString(), "x");
        QVERIFY(!loaded.ok());
        QVERIFY2(QByteArray(loaded.error().message.c_str()).contains(says), loaded.error().message.c_str());
    }

    void aFileCutAnywhereIsRefused()
    {
        const auto text = smallest().dump();
        for (std::size_t size = 0; size < text.size(); ++size)
            QVERIFY2(!loadTokenizerDefinition(text.substr(0, size), "x").ok(), text.substr(0, size).c_str());
    }

    void missingTokenizersSayWhatCanBeGiven()
    {
        const auto missing = loadTokenizer("no/such/file");
        QVERIFY(!missing.ok());
        QCOMPARE(missing.error().code, ErrorCode::NotFound);
        QVERIFY(QByteArray(missing.error().message.c_str()).contains("gpt2"));
        QVERIFY(!loadTokenizer("char").ok());
        const QTemporaryDir empty;
        QVERIFY(!loadTokenizer(empty.path().toStdString()).ok());
    }

    void aTokenizerDoesNotGuessIdsAtTheMatchLimit()
    {
        json document = smallest();
        document["pre_tokenizer"] = { { "type", "Sequence" },
            { "pretokenizers",
                { { { "type", "Split" }, { "pattern", { { "Regex", "(a+)+[bd]" } } }, { "behavior", "Isolated" },
                      { "invert", false } },
                    { { "type", "ByteLevel" }, { "add_prefix_space", false }, { "use_regex", false } } } } };
        const auto loaded = loadTokenizerDefinition(document.dump(), "x");
        QVERIFY2(loaded.ok(), loaded.ok() ? "" : loaded.error().message.c_str());
        Ids ids;
        QVERIFY(loaded.value()->encode("aab", ids).ok());
        QVERIFY(!loaded.value()->encode(std::string(5000, 'a') + "c", ids).ok());
        QVERIFY(!loaded.value()->encodeMatchingSpecial(std::string(5000, 'a') + "c", ids).ok());
    }

    void knownPatternsAreSplitByHand()
    {
        QVERIFY(knownPattern(R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)")
            == SplitPattern::Gpt2);
        QVERIFY(knownPattern(R"(\s+)") == SplitPattern::Regex);
    }
};

QTEST_GUILESS_MAIN(TestTokenizerFiles)
#include "tst_tokenizer_files.moc"
