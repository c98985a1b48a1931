#include "core/model/huggingface_config.h"
#include "core/model/step_path.h"

#include <QTest>
#include <cmath>
#include <nlohmann/json.hpp>

using namespace furrow;

namespace {

nlohmann::json llama(const std::string& type = "llama")
{
    return { { "model_type", type }, { "hidden_size", 64 }, { "num_hidden_layers", 4 }, { "num_attention_heads", 4 },
        { "num_key_value_heads", 2 }, { "intermediate_size", 96 }, { "vocab_size", 100 },
        { "max_position_embeddings", 512 }, { "moe_intermediate_size", nullptr } };
}

ModelConfig read(const nlohmann::json& json)
{
    const auto parsed = parseHuggingFaceConfig(json.dump());
    if (!parsed.ok())
        qFatal("%s", parsed.error().message.c_str());
    return parsed.value().config;
}

} // namespace

class TestHuggingFaceConfig : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void everyFamilyIsReadAndItsShapeKept_data()
    {
        QTest::addColumn<QString>("type");
        for (const ModelFamily& family : modelFamilies())
            QTest::newRow(family.type.data()) << QString::fromUtf8(family.type.data());
    }
    void everyFamilyIsReadAndItsShapeKept()
    {
        QFETCH(QString, type);
        nlohmann::json json = llama(type.toStdString());
        if (type == "gpt2")
            json = { { "model_type", "gpt2" }, { "n_embd", 64 }, { "n_layer", 2 }, { "n_head", 4 },
                { "vocab_size", 100 } };
        if (type == "gpt_neox")
            json.erase("num_key_value_heads");
        if (type.endsWith("moe"))
            json["moe_intermediate_size"] = 32;
        const ModelConfig config = read(json);
        const auto again = parseShape(shapeJson(config).dump());
        QVERIFY2(again.ok(), again.ok() ? "" : again.error().message.c_str());
        QCOMPARE(QString::fromStdString(shapeDifferences(config, again.value())), QString());
        QVERIFY(again.value() == config);
    }

    /// SmolLM2-135M as its makers published it: nine settings had to be typed.
    void aPublishedFileIsReadAsItIs()
    {
        const ModelConfig config = read(nlohmann::json::parse(R"({"architectures":["LlamaForCausalLM"],
            "attention_bias":false,"attention_dropout":0.0,"bos_token_id":1,"eos_token_id":2,"hidden_act":"silu",
            "hidden_size":576,"initializer_range":0.041666666666666664,"intermediate_size":1536,"is_llama_config":true,
            "max_position_embeddings":8192,"mlp_bias":false,"model_type":"llama","num_attention_heads":9,
            "num_hidden_layers":30,"num_key_value_heads":3,"pad_token_id":2,"pretraining_tp":1,"rms_norm_eps":1e-05,
            "rope_interleaved":false,"rope_scaling":null,"rope_theta":100000,"tie_word_embeddings":true,
            "torch_dtype":"bfloat16","transformers.js_config":{"kv_cache_dtype":{"q4f16":"float16"}},
            "transformers_version":"4.42.3","use_cache":true,"vocab_size":49152})"));
        QCOMPARE(config.parameterCount(), std::int64_t { 134515008 });
        QCOMPARE(config.contextLength, std::int64_t { 8192 });
        QCOMPARE(config.rotary.base, 1e5);
        QVERIFY(fitsFastStep(config, false));
    }

    void positionsOfLlama31AreRead()
    {
        nlohmann::json json = llama();
        json["rope_scaling"] = { { "factor", 8.0 }, { "low_freq_factor", 1.0 }, { "high_freq_factor", 4.0 },
            { "original_max_position_embeddings", 8192 }, { "rope_type", "llama3" } };
        const ModelConfig config = read(json);
        QVERIFY(config.rotary.scaling == RotaryScaling::Llama3);
        QCOMPARE(config.rotary.originalContext, std::int64_t { 8192 });
    }

    void windowsGoByTheLayer()
    {
        nlohmann::json json = llama("gemma3_text");
        json["num_hidden_layers"] = 7;
        json["sliding_window"] = 128;
        json["rope_scaling"] = { { "factor", 8.0 }, { "rope_type", "linear" } };
        const ModelConfig config = read(json);
        for (std::int64_t i = 0; i < 7; ++i)
            QCOMPARE(config.windowOf(i), std::int64_t { i == 5 ? 0 : 128 });
        QCOMPARE(config.rotary.localBase, 1e4);
        QCOMPARE(config.rotary.base, 1e6);
        QVERIFY(!fitsFastStep(config, false));
    }

    /// null says that there is none, a key that is left out says the default.
    void aWindowThatIsNullIsNone()
    {
        nlohmann::json json = llama("mistral");
        QCOMPARE(read(json).slidingWindow, std::int64_t { 4096 });
        json["sliding_window"] = nullptr;
        QCOMPARE(read(json).slidingWindow, std::int64_t { 0 });
    }

    void whatIsOffIsNoUnknownKey()
    {
        nlohmann::json json = llama("qwen2");
        json["use_mrope"] = false;
        (void)read(json);
        json["use_mrope"] = true;
        const auto refused = parseHuggingFaceConfig(json.dump());
        QVERIFY(!refused.ok() && refused.error().message.find("use_mrope is not known here") != std::string::npos);
    }

    void aShapeFromElsewhereIsCheckedPartByPart_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QString>("says");
        QTest::newRow("no JSON") << QByteArray("{") << "cannot be read";
        QTest::newRow("unknown part") << QByteArray(R"({"layer":3})") << "'layer' is not part of a shape";
        QTest::newRow("unknown word") << QByteArray(R"({"norm":"batchnorm"})") << "'norm' is not known";
        QTest::newRow("another type") << QByteArray(R"({"layers":"many"})") << "'layers' is not a whole number";
        QTest::newRow("out of bounds") << QByteArray(R"({"layers":100000})") << "layers is 100000";
        QTest::newRow("lists of other layers")
            << QByteArray(R"({"sliding_layers":[true]})") << "sliding_layers is of 1";
    }
    void aShapeFromElsewhereIsCheckedPartByPart()
    {
        QFETCH(QByteArray, text);
        QFETCH(QString, says);
        const auto shape = parseShape(text.toStdString());
        QVERIFY(!shape.ok());
        QVERIFY2(QString::fromStdString(shape.error().message).contains(says), shape.error().message.c_str());
    }

    void settingsOfOlderRunsMeanWhatTheyMeant()
    {
        RunConfig config;
        config.positions = Positions::Rotary;
        config.norm = NormKind::Rms;
        config.activation = FeedForward::SwiGlu;
        config.bias = false;
        config.kvHeads = 2;
        const ModelConfig model = modelConfigOf(config, 257);
        QVERIFY(model.positions == Positions::Rotary && model.norm == NormKind::Rms && model.gated
            && model.activation == Activation::Silu && !model.qkvBias && !model.normBias);
        QCOMPARE(model.contextLength, config.seqLen);
        QCOMPARE(model.trainingLength(), config.seqLen);
    }

    void windowsCostFewerOperations()
    {
        ModelConfig config = read(llama());
        const double all = config.flopsPerToken();
        config.slidingWindow = 64;
        QVERIFY(std::abs(all - config.flopsPerToken() - 12.0 * 4 * 64 * (512 - 64)) < 1);
        config.slidingWindow = 0;
        config.trainedLength = 64;
        QVERIFY(std::abs(all - config.flopsPerToken() - 12.0 * 4 * 64 * (512 - 64)) < 1);
    }
};

QTEST_GUILESS_MAIN(TestHuggingFaceConfig)
#include "tst_huggingface_config.moc"
