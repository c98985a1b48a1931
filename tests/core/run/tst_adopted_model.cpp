#include "core/run/folder/adopted_model.h"
#include "core/run/folder/start_weights_hash.h"

#include "core/data/tokenizer/tokenizer.h"
#include "core/model/huggingface_config.h"
#include "tests/fakes/small_gguf.h"
#include "core/data/source/data_manifest.h"

#include <QTemporaryDir>
#include <QTest>
#include <fstream>

using namespace furrow;

namespace {

constexpr const char* kConfig = R"({"model_type":"llama","hidden_size":48,"num_hidden_layers":3,
    "num_attention_heads":3,"num_key_value_heads":1,"intermediate_size":96,"vocab_size":300,
    "max_position_embeddings":512,"rms_norm_eps":1e-6,"rope_theta":100000.0,"tie_word_embeddings":true,
    "bos_token_id":1,"eos_token_id":2})";

RunConfig charPreset() { return findPreset("char").value().config; }

} // namespace

class TestAdoptedModel : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void init()
    {
        folder_ = std::make_unique<QTemporaryDir>();
        write("config.json", kConfig);
    }

    /// Nine settings had to be typed although config.json says them all.
    void shapeContextAndTokenizerAreTaken()
    {
        write("tokenizer.json", "{}");
        RunConfig config = startingHere();
        const auto lines = adoptModel(config, charPreset());
        QVERIFY2(lines.ok(), lines.ok() ? "" : lines.error().message.c_str());
        QCOMPARE(config.layers, std::int64_t { 3 });
        QCOMPARE(config.ropeTheta, 1e5);
        QCOMPARE(QString::fromStdString(config.tokenizer), folder_->filePath("tokenizer.json"));
        const ModelConfig model = modelConfigOf(config, 257);
        QCOMPARE(model.vocabularySize, std::int64_t { 300 });
        QCOMPARE(model.contextLength, std::int64_t { 512 });
        QCOMPARE(model.trainingLength(), charPreset().seqLen);
        QVERIFY(QString::fromStdString(lines.value().front()).startsWith("Shape from the llama in "));
        QVERIFY2(validate(withData(config)).empty(), toString(validate(withData(config))).c_str());

        const RunConfig once = config;
        QVERIFY(adoptModel(config, charPreset()).ok());
        QVERIFY(config == once);
    }

    void theChatTemplateOfTheModelIsTakenWithItsTokenizer()
    {
        write("tokenizer.json", "{}");
        write("tokenizer_config.json", R"({"eos_token":"</s>","chat_template":"{{ messages }}"})");
        const auto adopted = [this](const char* chatTemplate, const char* tokenizer) {
            RunConfig config = startingHere();
            config.chatTemplate = chatTemplate;
            if (*tokenizer)
                config.tokenizer = tokenizer;
            return adoptModel(config, charPreset()).ok() ? QString::fromStdString(config.chatTemplate) : "failed";
        };
        QCOMPARE(adopted("", ""), folder_->path());
        QCOMPARE(adopted("none", ""), "none");
        QCOMPARE(adopted("chatml", ""), "chatml");
        QCOMPARE(adopted("", "gpt2"), "");
    }

    void theChatFormatOfARunStaysWhenItsFileGoes()
    {
        const RunPaths paths(std::filesystem::path(folder_->path().toStdString()) / "run");
        const ChatFormat format { "{{ eos_token }}", { { "eos_token", "</s>" } }, 0 };
        QVERIFY(keepChatFormat(paths, format, realFileSystem()).ok());
        RunFile plain;
        plain.dataManifest = writeManifest({});
        const auto kept = chatFormatOfRun(paths, plain);
        QVERIFY2(kept.ok(), kept.ok() ? "" : kept.error().message.c_str());
        QVERIFY(kept.value() == format);
        DataManifest manifest;
        manifest.chat = ChatFormat { "{{ messages }}", {}, 7 };
        RunFile conversations;
        conversations.dataManifest = writeManifest(manifest);
        QVERIFY(chatFormatOfRun(paths, conversations).value() == manifest.chat);
    }

    void whatContradictsIsRefusedByName()
    {
        RunConfig config = startingHere();
        config.layers = 12;
        config.ropeTheta = 5e5;
        const auto refused = adoptModel(config, charPreset());
        QVERIFY(!refused.ok());
        const QString text = QString::fromStdString(refused.error().message);
        QVERIFY2(text.contains("layers is 12, but the llama in") && text.contains("has 3")
                && text.contains("rope_theta is 5e+05"),
            qPrintable(text));
        QCOMPARE(config.layers, std::int64_t { 12 });
    }

    /// A value that somebody typed is meant, also when it is that of the preset.
    void whatWasTypedIsNotTakenForADefault()
    {
        RunConfig config = startingHere();
        QVERIFY(!adoptModel(config, charPreset(), { "layers" }).ok());
        config = startingHere();
        config.layers = 3;
        config.kvHeads = 1;
        QVERIFY(adoptModel(config, charPreset(), { "layers", "kv_heads" }).ok());
    }

    void aWindowLongerThanTheContextIsRefused()
    {
        RunConfig config = startingHere();
        config.seqLen = 1024;
        const auto refused = adoptModel(config, charPreset());
        QVERIFY(!refused.ok() && refused.error().message.find("seq_len is 1024") != std::string::npos);
        config = startingHere();
        RunConfig longPreset = charPreset();
        config.seqLen = longPreset.seqLen = 2048;
        QVERIFY(adoptModel(config, longPreset).ok());
        QCOMPARE(config.seqLen, std::int64_t { 512 });
    }

    void theKeyThatStoppedItIsNamed()
    {
        write("config.json", R"({"model_type":"llama","hidden_size":48,"quantization_config":{}})");
        RunConfig config = startingHere();
        const auto refused = adoptModel(config, charPreset());
        QVERIFY(!refused.ok());
        QVERIFY2(refused.error().message.find("init_from") == 0
                && refused.error().message.find("num_hidden_layers is missing") != std::string::npos,
            refused.error().message.c_str());
    }

    /// An export once had bos and eos 0, a context of 128 and no chat template.
    void whatTheModelCameWithIsKept()
    {
        write("tokenizer.json", "{}");
        write("generation_config.json", "{\"eos_token_id\": [2, 7]}");
        write("chat_template.jinja", "{{ messages }}");
        write("model.safetensors", "weights are not copied");
        RunConfig config = startingHere();
        QVERIFY(adoptModel(config, charPreset()).ok());
        const RunPaths run(folder_->filePath("run").toStdString());
        QVERIFY(keepOrigin(run, config, realFileSystem()).ok());
        const auto kept = originFiles(run, {});
        QVERIFY(kept.ok());
        QCOMPARE(kept.value().size(), std::size_t(4));
        RunFile file; // a flipped bit of it went into every export, and nothing noticed
        file.originHash = originHash(run).value();
        QVERIFY(originFiles(run, file).ok());
        std::ofstream(folder_->filePath("run/origin/chat_template.jinja").toStdString()) << "{{ massages }}";
        QCOMPARE(originFiles(run, file).error().code, ErrorCode::Corrupt);
        QCOMPARE(kept.value().at("config.json"), std::string(kConfig));
        QCOMPARE(kept.value().at("chat_template.jinja"), std::string("{{ messages }}"));

        config.tokenizer = "byte"; // another one: its files would not be true
        const RunPaths other(folder_->filePath("other").toStdString());
        QVERIFY(keepOrigin(other, config, realFileSystem()).ok());
        QCOMPARE(originFiles(other, {}).value().size(), std::size_t(2));
    }

    void aGgufBringsWhatAFolderBrings()
    {
        write("model.gguf", SmallGguf().bytes());
        RunConfig config = charPreset();
        config.initFrom = folder_->filePath("model.gguf").toStdString();
        RunConfig shortPreset = charPreset();
        config.seqLen = shortPreset.seqLen = 64;
        const auto lines = adoptModel(config, shortPreset);
        QVERIFY2(lines.ok(), lines.ok() ? "" : lines.error().message.c_str());
        QVERIFY(QString::fromStdString(lines.value().front()).startsWith("Shape from the llama in "));
        QCOMPARE(config.tokenizer, config.initFrom);
        QCOMPARE(config.chatTemplate, config.initFrom); // its template writes rows that are conversations
        QVERIFY(lines.value().back().starts_with("Chat template from the llama in "));
        QCOMPARE(modelConfigOf(config, 10).vocabularySize, std::int64_t { 10 });
        QVERIFY(loadTokenizer(config.tokenizer).ok());

        const RunPaths run(folder_->filePath("run").toStdString());
        QVERIFY(keepOrigin(run, config, realFileSystem()).ok());
        const auto kept = originFiles(run, {});
        QVERIFY(kept.ok());
        QCOMPARE(kept.value().size(), std::size_t(4));
        QVERIFY(kept.value().at("tokenizer_config.json").find("{{ messages }}") != std::string::npos);
        QVERIFY(kept.value().at("generation_config.json").find("eos_token_id") != std::string::npos);
        QVERIFY(parseHuggingFaceConfig(kept.value().at("config.json")).ok());
        QVERIFY(isModelOfOthers(config.initFrom) && isModelOfOthers(folder_->path().toStdString()));
        QVERIFY(!isModelOfOthers(run.folder()));
    }

    void aFileThatOnlyCallsItselfGgufIsRefused()
    {
        write("model.gguf", "no weights");
        RunConfig config = charPreset();
        config.initFrom = folder_->filePath("model.gguf").toStdString();
        const auto refused = adoptModel(config, charPreset());
        QVERIFY(!refused.ok());
        QVERIFY2(refused.error().message.find("model.gguf: it does not begin as a GGUF does") != std::string::npos,
            refused.error().message.c_str());
    }

    /// A model's "tokenizer_config.json" that was a link to a private file brought that into the run and its exports.
    void aLinkOutOfAModelFolderWasFollowed()
    {
        QTemporaryDir elsewhere;
        const auto outside = std::filesystem::path(elsewhere.path().toStdString()) / "private";
        std::ofstream(outside) << "{}";
        const std::filesystem::path model(folder_->path().toStdString());
        std::filesystem::create_symlink(outside, model / "generation_config.json");
        const RunPaths paths(std::filesystem::path(elsewhere.path().toStdString()) / "run");
        const auto refused = keepOrigin(paths, startingHere(), realFileSystem());
        QVERIFY(!refused.ok());
        QVERIFY2(refused.error().message.find("is a link that leads out of the model's folder") != std::string::npos,
            refused.error().message.c_str());
        QVERIFY(!std::filesystem::exists(paths.originFolder() / "generation_config.json"));
    }

    /// `--init-from RUN` said only that the folder has no weights.
    void theFolderOfARunWasSaidToHaveNoWeights()
    {
        const std::string folder = folder_->path().toStdString();
        const auto empty = startWeightsHash(folder);
        QVERIFY(!empty.ok());
        QVERIFY(empty.error().message.find("has no weights") != std::string::npos);
        write("run.json", "{}");
        const auto run = startWeightsHash(folder);
        QVERIFY(!run.ok());
        QVERIFY2(run.error().message.find("--init-from " + folder + "/checkpoints/NAME") != std::string::npos,
            run.error().message.c_str());
    }

    void aDownloadOfTheHubIsMadeOfLinks()
    {
        const std::filesystem::path home = std::filesystem::path(folder_->path().toStdString()) / "models--o--n";
        const auto model = home / "snapshots" / "0123";
        std::filesystem::create_directories(model);
        std::filesystem::create_directories(home / "blobs");
        std::ofstream(home / "blobs" / "abc") << kConfig;
        std::filesystem::create_symlink("../../blobs/abc", model / "config.json");
        RunConfig config = charPreset();
        config.initFrom = model.string();
        const RunPaths paths(std::filesystem::path(folder_->path().toStdString()) / "run");
        const auto kept = keepOrigin(paths, config, realFileSystem());
        QVERIFY2(kept.ok(), kept.ok() ? "" : kept.error().message.c_str());
        QVERIFY(std::filesystem::exists(paths.originFolder() / "config.json"));
    }

    void withoutInitFromNothingHappens()
    {
        RunConfig config = charPreset();
        QVERIFY(adoptModel(config, charPreset()).value().empty());
        QVERIFY(config == charPreset());
    }

private:
    void write(const char* name, const std::string& text) const
    {
        std::ofstream(folder_->filePath(name).toStdString(), std::ios::binary) << text;
    }
    RunConfig startingHere() const
    {
        RunConfig config = charPreset();
        config.initFrom = folder_->path().toStdString();
        return config;
    }
    static RunConfig withData(RunConfig config)
    {
        config.data = { "a.txt" };
        return config;
    }
    std::unique_ptr<QTemporaryDir> folder_;
};

QTEST_GUILESS_MAIN(TestAdoptedModel)
#include "tst_adopted_model.moc"
