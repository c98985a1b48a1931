#include "core/model/gguf/gguf_blocks.h"
#include "core/model/gguf/gguf_model.h"
#include "tests/fakes/small_gguf.h"

#include <QTemporaryDir>
#include <QTest>
#include <cmath>
#include <fstream>
#include <functional>

using namespace furrow;

namespace {

QString problemOf(const Result<GgufFile>& file)
{
    return file.ok() ? QString() : QString::fromStdString(file.error().message);
}

template <typename T> void overwrite(std::string& bytes, std::size_t at, T value)
{
    bytes.replace(at, sizeof value, reinterpret_cast<const char*>(&value), sizeof value);
}

/// Where the number behind a text begins.
std::size_t behind(const std::string& bytes, const std::string& text) { return bytes.find(text) + text.size(); }

struct Lie {
    const char* name;
    std::function<void(std::string&)> tell;
    const char* said;
};

const std::vector<Lie>& lies()
{
    static const std::vector<Lie> all {
        { "another magic", [](std::string& b) { b[0] = 'L'; }, "does not begin as a GGUF" },
        { "version 1", [](std::string& b) { overwrite(b, 4, 1u); }, "version 1 of GGUF; known are 2 and 3" },
        { "big-endian", [](std::string& b) { overwrite(b, 4, 0x03000000u); }, "big-endian" },
        { "more tensors than bytes", [](std::string& b) { overwrite(b, 8, ~0ull); }, "tensors do not fit" },
        { "more metadata than bytes", [](std::string& b) { overwrite(b, 16, 1ull << 60); }, "metadata do not fit" },
        { "a key of 2^63 bytes", [](std::string& b) { overwrite(b, 24, 1ull << 63); }, "at byte 32: a text of" },
        { "a list of 2^40 tokens",
            [](std::string& b) { overwrite(b, behind(b, "tokenizer.ggml.tokens") + 8, 1ull << 40); },
            "tokenizer.ggml.tokens: at byte" },
        { "a list of lists", [](std::string& b) { overwrite(b, behind(b, "tokenizer.ggml.tokens") + 4, 9u); },
            "a list holds lists" },
        { "an unknown kind of value", [](std::string& b) { overwrite(b, behind(b, "llama.block_count"), 77u); },
            "unknown kind 77" },
        { "an unknown type of tensor",
            [](std::string& b) { overwrite(b, behind(b, "blk.0.attn_v.weight") + 4 + 16, 99u); },
            "tensor 'blk.0.attn_v.weight' is of type 99 of ggml" },
        { "a shape that overflows",
            [](std::string& b) {
                overwrite(b, behind(b, "blk.0.attn_v.weight") + 4, 1ull << 39);
                overwrite(b, behind(b, "blk.0.attn_v.weight") + 12, 1ull << 39);
            },
            "tensor 'blk.0.attn_v.weight' has an impossible shape" },
        { "no dimension", [](std::string& b) { overwrite(b, behind(b, "blk.0.attn_v.weight"), 0u); },
            "tensor 'blk.0.attn_v.weight' has 0 dimensions" },
        { "a tensor behind the end",
            [](std::string& b) { overwrite(b, behind(b, "blk.1.ffn_down.weight") + 4 + 16 + 4, 1ull << 50); },
            "tensor 'blk.1.ffn_down.weight' needs 8192 bytes from byte 1125899906842624" },
        { "a tensor within another",
            [](std::string& b) { overwrite(b, behind(b, "blk.1.ffn_down.weight") + 4 + 16 + 4, 0ull); }, "overlaps" },
        { "an odd offset", [](std::string& b) { overwrite(b, behind(b, "blk.1.ffn_down.weight") + 4 + 16 + 4, 33ull); },
            "not a multiple of 32" },
        { "one name twice",
            [](std::string& b) { b.replace(b.find("blk.1.ffn_down.weight"), 21, "blk.0.ffn_down.weight"); },
            "'blk.0.ffn_down.weight' is listed twice" },
        { "one key twice",
            [](std::string& b) { b.replace(b.find("llama.context_length"), 20, "llama.rope.freq_base"); },
            "llama.rope.freq_base is there twice" },
        { "a broken text", [](std::string& b) { b[b.find("{{ messages }}")] = '\xFF'; }, "is not UTF-8" },
    };
    return all;
}

} // namespace

class TestGguf : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void aFileIsReadAsItWasWritten()
    {
        SmallGguf made(GgufType::Q4_1);
        const auto file = parseGgufBytes(made.bytes());
        QVERIFY2(file.ok(), qPrintable(problemOf(file)));
        QCOMPARE(file.value().metadata.dump(), made.metadata.dump());
        QCOMPARE(file.value().tensors.size(), made.tensors.size());
        const GgufTensor* keys = file.value().find("blk.1.attn_k.weight");
        QVERIFY(keys && keys->type == GgufType::Q4_1);
        QCOMPARE(keys->shape, (std::vector<std::int64_t> { 16, 32 }));
        QCOMPARE(keys->sizeBytes, std::uint64_t { 16 * 20 });
        const auto model = ggufModelOf(file.value(), {});
        QVERIFY2(model.ok(), model.ok() ? "" : model.error().message.c_str());
        const ModelConfig& config = model.value().layout.config;
        QCOMPARE(config.layers, std::int64_t { 2 });
        QCOMPARE(config.keyValueHeads(), std::int64_t { 2 });
        QCOMPARE(config.vocabularySize, std::int64_t { 10 });
        QCOMPARE(config.rotary.base, 5e4);
        QCOMPARE(config.normEpsilon, 1e-5);
        QVERIFY(config.tiedHead && !config.qkvBias && !config.mlpBias);
    }

    void aFileThatLiesIsRefusedWithThePlace_data()
    {
        QTest::addColumn<int>("number");
        for (std::size_t i = 0; i < lies().size(); ++i)
            QTest::newRow(lies()[i].name) << static_cast<int>(i);
    }
    void aFileThatLiesIsRefusedWithThePlace()
    {
        QFETCH(int, number);
        const Lie& lie = lies()[static_cast<std::size_t>(number)];
        std::string bytes = SmallGguf().bytes();
        lie.tell(bytes);
        const auto file = parseGgufBytes(bytes);
        QVERIFY(!file.ok());
        QVERIFY2(problemOf(file).contains(lie.said), qPrintable(problemOf(file)));
    }

    void aFileThatIsCutAnywhereIsRefused()
    {
        const std::string bytes = SmallGguf(GgufType::Q8_0).bytes();
        QVERIFY(parseGgufBytes(bytes).ok());
        for (std::size_t size = 0; size < bytes.size(); ++size)
            QVERIFY2(!parseGgufBytes(std::string_view(bytes).substr(0, size)).ok(), qPrintable(QString::number(size)));
    }

    void whatMightChangeTheModelIsRefusedByItsName_data()
    {
        QTest::addColumn<QString>("key");
        QTest::addColumn<QString>("value");
        QTest::addColumn<QString>("said");
        QTest::newRow("unknown") << "llama.attention.clamp_kqv" << "8.0"
                                 << "key llama.attention.clamp_kqv is not known";
        QTest::newRow("a list") << "llama.attention.head_count" << "[4,4]" << "head_count is not a whole number";
        QTest::newRow("another architecture") << "general.architecture" << "\"mamba\"" << "is 'mamba'; known are gpt2";
        QTest::newRow("a part of a head") << "llama.rope.dimension_count" << "4" << "rope.dimension_count is not";
        QTest::newRow("values of another width") << "llama.attention.value_length" << "4" << "value_length is not";
        QTest::newRow("positions") << "llama.rope.scaling.type" << "\"longrope\"" << "rope.scaling.type is 'longrope'";
        QTest::newRow("no layers") << "llama.block_count" << "0" << "layers";
    }
    void whatMightChangeTheModelIsRefusedByItsName()
    {
        QFETCH(QString, key);
        QFETCH(QString, value);
        QFETCH(QString, said);
        SmallGguf made;
        made.metadata[key.toStdString()] = nlohmann::json::parse(value.toStdString());
        const auto file = parseGgufBytes(made.bytes());
        QVERIFY2(file.ok(), qPrintable(problemOf(file)));
        const auto model = ggufModelOf(file.value(), {});
        QVERIFY(!model.ok());
        const QString text = QString::fromStdString(model.error().message);
        QVERIFY2(text.contains(said), qPrintable(text));
    }

    /// Llama 3.1: the file has the factors alone, config.json the rule that they follow.
    void stretchedPositionsAreRecognised()
    {
        RotaryConfig rotary;
        rotary.base = 5e4;
        rotary.factor = 32;
        rotary.lowFactor = 1;
        rotary.highFactor = 4;
        rotary.originalContext = 8192;
        auto factors = llamaRopeFactors(rotary, 8);
        QCOMPARE(factors.size(), std::size_t { 4 });
        const auto file = parseGgufBytes(SmallGguf().bytes());
        const auto model = ggufModelOf(file.value(), factors);
        QVERIFY2(model.ok(), model.ok() ? "" : model.error().message.c_str());
        const RotaryConfig& read = model.value().layout.config.rotary;
        QVERIFY(read.scaling == RotaryScaling::Llama3);
        QCOMPARE(read.factor, static_cast<double>(*std::max_element(factors.begin(), factors.end())));
        factors[1] *= 2;
        QVERIFY(!ggufModelOf(file.value(), factors).ok());
    }

    void everyFamilyComesBackFromItsMetadata_data()
    {
        QTest::addColumn<QString>("config");
        const QString usual = R"("hidden_size":64,"num_hidden_layers":4,"num_attention_heads":4,"num_key_value_heads":2,
            "intermediate_size":96,"vocab_size":100,"max_position_embeddings":512)";
        const auto of = [&usual](const char* type, const char* more = "") {
            QTest::newRow((std::string(type) + more).c_str())
                << "{\"model_type\":\"" + QString(type) + "\"," + usual + more + "}";
        };
        of("llama", R"(,"attention_bias":true,"mlp_bias":true,"rope_theta":5e5)");
        of("llama", R"(,"tie_word_embeddings":true,"head_dim":32,"rope_scaling":{"rope_type":"linear","factor":4.0})");
        of("llama",
            R"(,"rope_theta":5e5,"rope_scaling":{"rope_type":"llama3","factor":8.0,"low_freq_factor":1.0,"high_freq_factor":4.0,"original_max_position_embeddings":8192})");
        of("mistral", R"(,"sliding_window":null)");
        of("mixtral", R"(,"num_local_experts":4)");
        of("qwen2", R"(,"rope_scaling":{"rope_type":"yarn","factor":4.0,"original_max_position_embeddings":128})");
        of("qwen2_moe", R"(,"moe_intermediate_size":32,"shared_expert_intermediate_size":48)");
        of("qwen3", R"(,"head_dim":32)");
        of("qwen3_moe", R"(,"moe_intermediate_size":32,"norm_topk_prob":true)");
        of("gemma2", R"(,"head_dim":32,"query_pre_attn_scalar":32,"sliding_window":16)");
        of("gemma3_text",
            R"(,"head_dim":32,"query_pre_attn_scalar":32,"sliding_window":16,"rope_scaling":{"rope_type":"linear","factor":8.0})");
        of("phi3", R"(,"partial_rotary_factor":0.75,"sliding_window":47)");
        of("olmo2");
        QTest::newRow("gpt_neox") << QString(
            R"({"model_type":"gpt_neox","hidden_size":64,"num_hidden_layers":2,"num_attention_heads":4,"intermediate_size":96,"vocab_size":100,"rotary_pct":0.25})");
        QTest::newRow("gpt2") << QString(
            R"({"model_type":"gpt2","n_embd":64,"n_layer":2,"n_head":4,"vocab_size":100})");
    }
    void everyFamilyComesBackFromItsMetadata()
    {
        QFETCH(QString, config);
        const auto parsed = parseHuggingFaceConfig(config.toStdString());
        QVERIFY2(parsed.ok(), parsed.ok() ? "" : parsed.error().message.c_str());
        const auto made = ggufMetadataOf(parsed.value()); // reads it back itself
        QVERIFY2(made.ok(), made.ok() ? "" : made.error().message.c_str());
    }

    void whatAGgufCannotSayIsRefused()
    {
        for (const char* config :
            { R"({"model_type":"mistral","hidden_size":64,"num_hidden_layers":4,"num_attention_heads":4,"num_key_value_heads":4,"intermediate_size":96,"vocab_size":100,"sliding_window":8})",
                R"({"model_type":"gpt2","n_embd":64,"n_layer":2,"n_head":4,"vocab_size":100,"activation_function":"gelu"})",
                R"({"model_type":"smollm3","hidden_size":64,"num_hidden_layers":4,"num_attention_heads":4,"intermediate_size":96,"vocab_size":100})" }) {
            const auto parsed = parseHuggingFaceConfig(config);
            QVERIFY2(parsed.ok(), parsed.ok() ? "" : parsed.error().message.c_str());
            QVERIFY2(!ggufMetadataOf(parsed.value()).ok(), config);
        }
    }

    void whatIsPackedComesBackWithinHalfAStep_data()
    {
        QTest::addColumn<int>("type");
        QTest::addColumn<float>("step"); // of a block whose numbers reach from -1 to 1
        QTest::newRow("f32") << static_cast<int>(GgufType::F32) << 0.f;
        QTest::newRow("f16") << static_cast<int>(GgufType::F16) << 0x1p-10f;
        QTest::newRow("bf16") << static_cast<int>(GgufType::Bf16) << 0x1p-7f;
        QTest::newRow("q8_0") << static_cast<int>(GgufType::Q8_0) << 1 / 126.f;
        QTest::newRow("q4_0") << static_cast<int>(GgufType::Q4_0) << 0.27f; // its far end loses up to a step
        QTest::newRow("q4_1") << static_cast<int>(GgufType::Q4_1) << 1 / 7.4f;
    }
    void whatIsPackedComesBackWithinHalfAStep()
    {
        QFETCH(int, type);
        QFETCH(float, step);
        const auto kind = static_cast<GgufType>(type);
        std::vector<float> numbers(64), back(64);
        for (std::size_t i = 0; i < numbers.size(); ++i)
            numbers[i] = std::cos(static_cast<float>(i) * 0.7f);
        std::vector<std::byte> blocks(64 / rowOf(kind).blockNumbers * rowOf(kind).blockBytes);
        QVERIFY(writeBlocks(kind, numbers, blocks));
        readBlocks(kind, blocks, back);
        for (std::size_t i = 0; i < numbers.size(); ++i)
            QVERIFY2(std::fabs(numbers[i] - back[i]) <= step / 2, qPrintable(QString::number(back[i])));
        numbers[40] = std::numeric_limits<float>::infinity();
        QVERIFY(!writeBlocks(kind, numbers, blocks));
    }

    void aFileIsKnownByItsFirstBytes()
    {
        const QTemporaryDir folder;
        const std::filesystem::path path = folder.filePath("model").toStdString();
        std::ofstream(path, std::ios::binary) << SmallGguf().bytes();
        QVERIFY(isGguf(path) && !isGguf(path.parent_path()));
        GgufFile file;
        QVERIFY(readGgufModel(path, file).ok());
        std::ofstream(path, std::ios::binary) << "GG";
        QVERIFY(!isGguf(path));
        QVERIFY(QString::fromStdString(readGguf(path).error().message).startsWith(folder.filePath("model")));
    }
};

QTEST_GUILESS_MAIN(TestGguf)
#include "tst_gguf.moc"
