#include "core/data/tokenizer/gguf_pieces.h"
#include "core/data/tokenizer/gguf_tokenizer.h"
#include "core/data/tokenizer/huggingface_tokenizer.h"
#include "core/data/tokenizer/tokenizer.h"
#include "tests/fakes/small_gguf.h"

#include <QTemporaryDir>
#include <QTest>
#include <fstream>

using namespace furrow;

namespace {

using Ids = std::vector<TokenId>;

template <typename T> T good(Result<T> result)
{
    if (!result.ok())
        qFatal("%s", result.error().message.c_str());
    return std::move(result).value();
}

SmallGguf withPieces()
{
    SmallGguf made;
    made.metadata["tokenizer.ggml.model"] = "llama";
    made.metadata["tokenizer.ggml.tokens"] = { "<unk>", "<s>", "</s>", "!", "\xE2\x96\x81", "a", "b", "ab",
        "\xE2\x96\x81"
        "ab",
        "<|user|>" };
    made.metadata["tokenizer.ggml.token_type"] = { 2, 3, 3, 1, 1, 1, 1, 1, 1, 4 };
    made.metadata["tokenizer.ggml.scores"] = { 0.0, 0.0, 0.0, 0.0, -10.0, -11.0, -12.0, -1.0, -2.0, 0.0 };
    made.metadata["tokenizer.ggml.bos_token_id"] = 1;
    made.metadata["tokenizer.ggml.eos_token_id"] = 2;
    made.metadata["tokenizer.ggml.unknown_token_id"] = 0;
    return made;
}

GgufFile fileOf(SmallGguf made) { return good(parseGgufBytes(made.bytes())); }

} // namespace

class TestGgufTokenizer : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void aBytePairVocabularyIsReadAsItIs()
    {
        const auto files = good(ggufTokenizerFiles(fileOf(SmallGguf())));
        const auto tokenizer = good(loadTokenizerDefinition(files.at("tokenizer.json"), "small"));
        Ids ids;
        QVERIFY(tokenizer->encode("ab abc<|user|>", ids).ok());
        QCOMPARE(ids, (Ids { 7, 8, 4, 1 })); // what a person can write is found in any text
        ids.clear();
        QVERIFY(tokenizer->encodeMatchingSpecial("11<|endoftext|>", ids).ok());
        QCOMPARE(ids, (Ids { 5, 5, 0 })); // smollm: each digit alone
        QCOMPARE(tokenizer->vocabularySize(), 9u); // the padded id is none of its
        const auto config = nlohmann::json::parse(files.at("tokenizer_config.json"));
        QVERIFY(config["bos_token"] == "<|endoftext|>" && config["eos_token"] == "<|endoftext|>");
        QVERIFY(config["chat_template"] == "{{ messages }}" && config["add_bos_token"] == true);
        QVERIFY(config["model_max_length"] == 64);
        const auto json = nlohmann::json::parse(files.at("tokenizer.json"));
        QVERIFY(json["post_processor"]["single"][0]["SpecialToken"]["id"] == "<|endoftext|>");
        QVERIFY(json["model"]["vocab"].size() == 9 && json["added_tokens"][0]["special"] == true);
    }

    void piecesWithScoresAreReadBySentencepiece()
    {
        const auto files = good(ggufTokenizerFiles(fileOf(withPieces())));
        const auto tokenizer = good(loadTokenizerDefinition(files.at("tokenizer.model"), "small"));
        QCOMPARE(tokenizer->vocabularySize(), 10u);
        QCOMPARE(tokenizer->endOfText(), 2u);
        Ids ids;
        QVERIFY(tokenizer->encode("ab a!<|user|>", ids).ok());
        QCOMPARE(ids, (Ids { 8, 4, 5, 3, 9 }));
        auto bare = withPieces();
        bare.metadata["tokenizer.ggml.add_space_prefix"] = false;
        ids.clear();
        QVERIFY(good(loadTokenizerDefinition(good(ggufTokenizerFiles(fileOf(bare))).at("tokenizer.model"), "bare"))
                ->encode("ab", ids)
                .ok());
        QCOMPARE(ids, (Ids { 7 }));
    }

    void aModelOfSentencepieceComesBackAsItWas()
    {
        const std::string model = good(ggufTokenizerFiles(fileOf(withPieces()))).at("tokenizer.model");
        const auto list = good(readPieceList(model));
        QCOMPARE(list.pieces.size(), std::size_t { 10 });
        QVERIFY(list.isBpe && list.addsSpace && !list.removesSpaces && list.isPlain);
        QCOMPARE(sentencepieceModel(list), model);
        for (std::size_t size = 0; size < model.size(); ++size)
            (void)readPieceList(std::string_view(model).substr(0, size)); // never reads behind the end
    }

    void theWayBackSaysTheSame()
    {
        for (SmallGguf made : { SmallGguf(), withPieces() }) {
            const auto files = good(ggufTokenizerFiles(fileOf(made)));
            const auto metadata = good(ggufTokenizerMetadata(files, 10, -1, -1));
            for (const auto& [key, value] : made.metadata.items()) {
                const bool isKept
                    = key.starts_with("tokenizer.") && key != "tokenizer.ggml.merges" && key != "tokenizer.ggml.pre";
                QVERIFY2(!isKept || metadata.value(key, nlohmann::json()) == value, key.c_str());
            }
            auto again = made;
            again.metadata.update(metadata);
            QCOMPARE(good(ggufTokenizerFiles(fileOf(again))), files);
        }
    }

    void whatTheFilesDoNotNameIsGiven()
    {
        auto files = good(ggufTokenizerFiles(fileOf(SmallGguf())));
        files["tokenizer_config.json"] = "{}";
        files["chat_template.jinja"] = "{{ one }}";
        const auto metadata = good(ggufTokenizerMetadata(files, 12, 5, 6));
        QCOMPARE(metadata["tokenizer.ggml.bos_token_id"].get<int>(), 5);
        QCOMPARE(metadata["tokenizer.ggml.eos_token_id"].get<int>(), 6);
        QCOMPARE(metadata["tokenizer.ggml.tokens"].back().get<std::string>(), std::string("[PAD11]"));
        QVERIFY(metadata["tokenizer.chat_template"] == "{{ one }}");
    }

    void bytesNeedNoSplit()
    {
        const auto metadata = good(ggufTokenizerMetadata(huggingFaceTokenizerFiles(*byteTokenizer(), 64), 257, -1, -1));
        QVERIFY(metadata["tokenizer.ggml.pre"] == "gpt-2" && metadata["tokenizer.ggml.merges"].empty());
        QVERIFY(metadata["tokenizer.ggml.tokens"].size() == 257);
    }

    void whatHasNoFormIsRefused()
    {
        auto files = good(ggufTokenizerFiles(fileOf(withPieces())));
        PieceList list = good(readPieceList(files["tokenizer.model"]));
        list.isBpe = false;
        files["tokenizer.model"] = sentencepieceModel(list);
        QVERIFY(QString::fromStdString(ggufTokenizerMetadata(files, 10, -1, -1).error().message).contains("byte-pair"));
        files = good(ggufTokenizerFiles(fileOf(SmallGguf())));
        QVERIFY(QString::fromStdString(ggufTokenizerMetadata(files, 5, -1, -1).error().message).contains("5 rows"));
        auto json = nlohmann::json::parse(files["tokenizer.json"]);
        json["normalizer"] = { { "type", "NFKC" } };
        files["tokenizer.json"] = json.dump();
        QVERIFY(QString::fromStdString(ggufTokenizerMetadata(files, 10, -1, -1).error().message)
                .contains("none of the ways"));
        QVERIFY(!ggufTokenizerMetadata({ { "tokenizer.json", "no JSON" } }, 10, -1, -1).ok());
    }

    void aTokenizerIsLoadedOutOfAFile()
    {
        const QTemporaryDir folder;
        const std::string path = folder.filePath("model.gguf").toStdString();
        std::ofstream(path, std::ios::binary) << SmallGguf().bytes();
        const auto tokenizer = good(loadTokenizer(path));
        QCOMPARE(tokenizer->name(), std::string("model.gguf"));
        const auto again = good(loadTokenizerDefinition(tokenizer->definition(), "tokenizer"));
        QCOMPARE(again->hash(), tokenizer->hash());
    }

    void whatIsNotKnownIsRefusedByItsName_data()
    {
        QTest::addColumn<QString>("key");
        QTest::addColumn<QString>("value");
        QTest::addColumn<QString>("said");
        QTest::newRow("pre") << "pre" << "\"viking\"" << "pre is 'viking', a way to split text that is not known here";
        QTest::newRow("no pre") << "pre" << "7" << "pre is ''";
        QTest::newRow("model") << "model" << "\"t5\"" << "model is 't5', which is not known here";
        QTest::newRow("kinds") << "token_type" << "[1,2]" << "token_type is not a list";
        QTest::newRow("a kind") << "token_type" << "[1,1,1,1,1,1,1,1,1,9]" << "the unknown kind 9";
        QTest::newRow("tokens") << "tokens" << "[1]" << "tokens is not a list of texts";
        QTest::newRow("twice") << "tokens" << R"(["a","b","a","d","e","f","g","h","i","j"])" << "tokens has 'a' twice";
        QTest::newRow("merges") << "merges" << "3" << "merges is not a list";
    }
    void whatIsNotKnownIsRefusedByItsName()
    {
        QFETCH(QString, key);
        QFETCH(QString, value);
        QFETCH(QString, said);
        SmallGguf made;
        made.metadata["tokenizer.ggml." + key.toStdString()] = nlohmann::json::parse(value.toStdString());
        const auto files = ggufTokenizerFiles(fileOf(made));
        QVERIFY(!files.ok());
        const QString text = QString::fromStdString(files.error().message);
        QVERIFY2(text.startsWith("tokenizer.ggml.") && text.contains(said), qPrintable(text));
    }
};

QTEST_GUILESS_MAIN(TestGgufTokenizer)
#include "tst_gguf_tokenizer.moc"
