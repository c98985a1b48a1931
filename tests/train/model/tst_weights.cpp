#include "core/train/model/model_torch.h"
#include "core/train/weights/huggingface_torch.h"
#include "core/train/weights/safetensors_torch.h"
#include "reference_vectors_torch.h"

#include <QTemporaryDir>
#include <QElapsedTimer>
#include <QTest>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <fstream>
#include <limits>

using namespace furrow;
using namespace furrow::test;

namespace {

std::string bytesOf(const NamedTensors& tensors, const std::map<std::string, std::string>& metadata = {})
{
    std::string bytes;
    const Status status = writeSafetensors(tensors, metadata, [&](const void* data, std::size_t size) {
        bytes.append(static_cast<const char*>(data), size);
        return Status {};
    });
    return status.ok() ? bytes : std::string();
}

std::string withHeader(const std::string& header, const std::string& data)
{
    std::string bytes(8, '\0');
    for (std::size_t i = 0; i < 8; ++i)
        bytes[i] = static_cast<char>(static_cast<std::uint64_t>(header.size()) >> (8 * i));
    return bytes + header + data;
}

NamedTensors twoTensors()
{
    return { { "a", at::arange(6, at::kFloat).view({ 2, 3 }) }, { "b", at::tensor({ 7, 8 }, at::kLong) } };
}

ModelConfig smallModel(const std::string& kind)
{
    ModelConfig config;
    config.layers = 2;
    config.width = 32;
    config.vocabularySize = 29;
    config.contextLength = 16;
    if (kind == "llama") {
        config.positions = Positions::Rotary;
        config.norm = NormKind::Rms;
        config.activation = Activation::Silu;
        config.gated = true;
        config.kvHeads = 2;
        config.normBias = config.qkvBias = config.outBias = config.mlpBias = config.tiedHead = false;
    }
    return config;
}

} // namespace

class TestWeights : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase() { at::set_num_threads(1); }
    void givesBackWhatWasWritten();
    void startsDataAtAMultipleOf64();
    void refusesBadFiles_data();
    void refusesBadFiles();
    void aHeaderOfManyNamesTookAMinute();
    void survivesEveryCutAndEveryFlippedHeaderByte();
    void loadingNamesTheTensorThatDoesNotFit();
    void huggingFaceRoundTripKeepsLogits_data();
    void huggingFaceRoundTripKeepsLogits();
    void exportRefusesWhatHasNoLayout();
    void importRefusesOtherModels_data();
    void importRefusesOtherModels();
    void importNamesTheTensorThatDoesNotFit();

private:
    std::string path(const char* name) const { return folder_.filePath(QString::fromLatin1(name)).toStdString(); }
    std::string write(const char* name, const std::string& bytes) const
    {
        std::ofstream(path(name), std::ios::binary) << bytes;
        return path(name);
    }
    QTemporaryDir folder_;
};

void TestWeights::givesBackWhatWasWritten()
{
    NamedTensors tensors = twoTensors();
    tensors.emplace_back("half", at::arange(5, at::kFloat).to(at::kBFloat16));
    tensors.emplace_back("none", at::zeros({ 0, 4 }));
    tensors.emplace_back("scalar", at::scalar_tensor(3.5, at::kFloat));
    tensors.emplace_back("turned", at::arange(6, at::kFloat).view({ 2, 3 }).t());
    QVERIFY(writeSafetensors(tensors, { { "step", "7" } }, realFileSystem(), path("all")).ok());
    const Result<SafetensorsFile> file = readSafetensors(path("all"));
    QVERIFY2(file.ok(), file.ok() ? "" : file.error().message.c_str());
    QCOMPARE(file.value().metadata.at("step"), std::string("7"));
    QCOMPARE(file.value().tensors.size(), tensors.size());
    for (const auto& [name, tensor] : file.value().tensors) {
        const auto ours
            = std::find_if(tensors.begin(), tensors.end(), [&](const auto& one) { return one.first == name; });
        QVERIFY2(ours->second.scalar_type() == tensor.scalar_type() && at::equal(ours->second, tensor), name.c_str());
    }
}

void TestWeights::startsDataAtAMultipleOf64()
{
    const std::string bytes = bytesOf(twoTensors());
    const auto header = static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[0]))
        + (static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[1])) << 8);
    QCOMPARE((header + 8) % 64, std::uint64_t { 0 });
    QCOMPARE(bytes.size(), static_cast<std::size_t>(header + 8 + 24 + 16));
}

void TestWeights::refusesBadFiles_data()
{
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QString>("says");
    const auto row = [](const char* name, const std::string& bytes, const char* says) {
        QTest::newRow(name) << QByteArray(bytes.data(), static_cast<qsizetype>(bytes.size()))
                            << QString::fromLatin1(says);
    };
    const std::string a = R"("a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]})";
    row("empty", "", "too short");
    row("header longer than the file", std::string("\xff\xff\xff\xff\xff\xff\xff\xff", 8) + "{}", "header length");
    row("no JSON", withHeader("{\"a\":", "1234"), "not a JSON object");
    row("a list", withHeader("[]", ""), "not a JSON object");
    row("listed twice", withHeader("{" + a + "," + a + "}", "1234"), "'a' is listed twice");
    row("unknown type", withHeader(R"({"a":{"dtype":"F8_E4M3","shape":[4],"data_offsets":[0,4]}})", "1234"),
        "'a' has type 'F8_E4M3'");
    row("negative size", withHeader(R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", "1234"),
        "'a' has an impossible shape");
    row("overflowing shape",
        withHeader(R"({"a":{"dtype":"F32","shape":[4294967296,4294967296,4],"data_offsets":[0,4]}})", "1234"),
        "'a' has an impossible shape");
    row("shape and offsets differ", withHeader(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", "1234"),
        "'a': shape and type need 8 bytes");
    row("ends before it begins", withHeader(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}})", "1234"),
        "'a': shape");
    row("gap", withHeader(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", "12345678"), "leaves a gap");
    row("overlap", withHeader("{" + a + R"(,"b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", "1234"),
        "overlaps");
    row("more data than described", withHeader("{" + a + "}", "123456"), "holds 6 bytes");
    row("metadata of numbers", withHeader(R"({"__metadata__":{"x":1}})", ""), "is not a string");
}

void TestWeights::refusesBadFiles()
{
    QFETCH(QByteArray, bytes);
    QFETCH(QString, says);
    const Result<SafetensorsFile> file = readSafetensors(write("bad", bytes.toStdString()));
    QVERIFY(!file.ok());
    QVERIFY2(QString::fromStdString(file.error().message).contains(says), file.error().message.c_str());
    QCOMPARE(file.error().code, ErrorCode::Corrupt);
}

/// Each name was compared with all before it.
void TestWeights::aHeaderOfManyNamesTookAMinute()
{
    std::string header = "{";
    for (int i = 0; i < 100'000; ++i)
        header
            += (i > 0 ? ",\"t" : "\"t") + std::to_string(i) + R"(":{"dtype":"F32","shape":[0],"data_offsets":[0,0]})";
    QElapsedTimer clock;
    clock.start();
    const auto read = readSafetensors(write("many", withHeader(header + "}", "")));
    QVERIFY(read.ok());
    QCOMPARE(read.value().tensors.size(), std::size_t(100'000));
    QVERIFY2(clock.elapsed() < 10'000, qPrintable(QString::number(clock.elapsed())));
}

void TestWeights::survivesEveryCutAndEveryFlippedHeaderByte()
{
    const std::string bytes = bytesOf(twoTensors());
    for (std::size_t cut = 0; cut < bytes.size(); ++cut)
        QVERIFY2(!readSafetensors(write("cut", bytes.substr(0, cut))).ok(), qPrintable(QString::number(cut)));
    for (std::size_t at = 0; at < bytes.size() - 40; ++at) {
        std::string other = bytes;
        other[at] = static_cast<char>(other[at] ^ 0x15);
        // A changed name or a changed space is still a file; it must only never crash or read outside.
        (void)readSafetensors(write("flip", other)).ok();
    }
}

void TestWeights::loadingNamesTheTensorThatDoesNotFit()
{
    auto model = createModel(smallModel("gpt2"), {}).value();
    const NamedTensors good = modelState(*model);
    const at::Tensor before = model->parameters().weights().clone();
    const auto fails = [&](const NamedTensors& state, const char* says) {
        const Status status = loadModelState(*model, state);
        return !status.ok() && status.error().message.find(says) != std::string::npos
            && at::equal(before, model->parameters().weights());
    };
    NamedTensors missing(good.begin() + 1, good.end());
    QVERIFY(fails(missing, ("'" + good[0].first + "' is missing").c_str()));
    NamedTensors extra = good;
    extra.emplace_back("stranger", at::zeros({ 1 }));
    QVERIFY(fails(extra, "'stranger'"));
    NamedTensors shape = good;
    shape[1].second = at::zeros({ 3, 3 });
    QVERIFY(fails(shape, "shape [3, 3]"));
    NamedTensors nan = good;
    nan[2].second = nan[2].second.clone();
    nan[2].second.view({ -1 })[0] = std::numeric_limits<float>::quiet_NaN();
    QVERIFY(fails(nan, "NaN"));
}

void TestWeights::huggingFaceRoundTripKeepsLogits_data()
{
    QTest::addColumn<QString>("kind");
    QTest::newRow("GPT-2") << "gpt2";
    QTest::newRow("Llama with grouped queries, untied head") << "llama";
}

void TestWeights::huggingFaceRoundTripKeepsLogits()
{
    QFETCH(QString, kind);
    auto model = createModel(smallModel(kind.toStdString()), {}).value();
    fillPattern(*model);
    const std::string folder = path("export-") + kind.toStdString();
    HuggingFaceExtras extras;
    extras.files["tokenizer.json"] = "{}";
    const Status status = exportHuggingFace(*model, extras, realFileSystem(), folder);
    QVERIFY2(status.ok(), status.ok() ? "" : status.error().message.c_str());
    QVERIFY(std::filesystem::exists(folder + "/tokenizer.json")
        && std::filesystem::exists(folder + "/generation_config.json"));
    const Result<HuggingFaceModel> imported = importHuggingFace(folder);
    QVERIFY2(imported.ok(), imported.ok() ? "" : imported.error().message.c_str());
    ModelOptions other;
    other.seed = 99;
    auto second = createModel(imported.value().layout.config, other).value();
    QVERIFY(loadModelState(*second, imported.value().state).ok());
    const Batch batch = patternBatch(0, 0, model->config(), 2, 0);
    QVERIFY(at::equal(model->logits(batch.inputs_BT), second->logits(batch.inputs_BT)));
}

void TestWeights::exportRefusesWhatHasNoLayout()
{
    ModelConfig mixed = smallModel("gpt2");
    mixed.positions = Positions::Rotary;
    auto model = createModel(mixed, {}).value();
    const Status status = exportHuggingFace(*model, {}, realFileSystem(), path("no"));
    QVERIFY(!status.ok());
    QVERIFY(status.error().message.find("no Hugging Face layout") != std::string::npos);
    QVERIFY(!std::filesystem::exists(path("no")));
}

void TestWeights::importRefusesOtherModels_data()
{
    QTest::addColumn<QByteArray>("config");
    QTest::addColumn<QString>("says");
    QTest::newRow("no JSON") << QByteArray("{") << "not a JSON object";
    QTest::newRow("another family") << QByteArray(R"({"model_type":"mamba"})") << "model_type is 'mamba'";
    QTest::newRow("key missing") << QByteArray(R"({"model_type":"gpt2"})") << "n_embd is missing";
    QTest::newRow("key of another type") << QByteArray(R"({"model_type":"gpt2","n_embd":"many"})")
                                         << "n_embd is not a whole number";
    QTest::newRow("unknown activation") << QByteArray(
        R"({"model_type":"gpt2","n_embd":32,"n_layer":1,"n_head":4,"vocab_size":9,"activation_function":"relu"})")
                                        << "activation_function is 'relu'";
    QTest::newRow("key that nobody knows") << QByteArray(
        R"({"model_type":"gpt2","n_embd":32,"n_layer":1,"n_head":4,"vocab_size":9,"scale_attn_by_inverse_layer_idx":true})")
                                           << "scale_attn_by_inverse_layer_idx is not known here";
    QTest::newRow("weights that are not plain numbers") << QByteArray(
        R"({"model_type":"llama","hidden_size":32,"num_hidden_layers":1,"num_attention_heads":4,"intermediate_size":64,"vocab_size":9,"quantization_config":{"bits":4}})")
                                                        << "quantization_config is not known here";
    QTest::newRow("heads that do not divide")
        << QByteArray(R"({"model_type":"gpt2","n_embd":32,"n_layer":1,"n_head":5,"vocab_size":9})") << "heads is 5";
    QTest::newRow("stretched positions") << QByteArray(
        R"({"model_type":"llama","hidden_size":32,"num_hidden_layers":1,"num_attention_heads":4,"intermediate_size":64,"vocab_size":9,"rope_scaling":{"rope_type":"longrope","factor":2}})")
                                         << "rope_scaling.rope_type is 'longrope'";
    QTest::newRow("unknown key of positions") << QByteArray(
        R"({"model_type":"llama","hidden_size":32,"num_hidden_layers":1,"num_attention_heads":4,"intermediate_size":64,"vocab_size":9,"rope_scaling":{"rope_type":"linear","factor":2,"mrope_section":[1]}})")
                                              << "rope_scaling.mrope_section is not known here";
    QTest::newRow("more layers than anybody has") << QByteArray(
        R"({"model_type":"smollm3","hidden_size":32,"num_hidden_layers":1000000000,"num_attention_heads":4,"intermediate_size":64,"vocab_size":9})")
                                                  << "layers is 1000000000";
    QTest::newRow("types of other layers") << QByteArray(
        R"({"model_type":"gemma2","hidden_size":32,"num_hidden_layers":2,"num_attention_heads":4,"intermediate_size":64,"vocab_size":9,"layer_types":["full_attention"]})")
                                           << "layer_types does not name one type for each layer";
    QTest::newRow("layers without experts") << QByteArray(
        R"({"model_type":"qwen3_moe","hidden_size":32,"num_hidden_layers":2,"num_attention_heads":4,"intermediate_size":64,"moe_intermediate_size":64,"vocab_size":9,"mlp_only_layers":[0]})")
                                            << "mlp_only_layers names layers without experts";
}

void TestWeights::importRefusesOtherModels()
{
    QFETCH(QByteArray, config);
    QFETCH(QString, says);
    const Result<HuggingFaceConfig> parsed = parseHuggingFaceConfig(config.toStdString());
    QVERIFY(!parsed.ok());
    QVERIFY2(QString::fromStdString(parsed.error().message).contains(says), parsed.error().message.c_str());
}

void TestWeights::importNamesTheTensorThatDoesNotFit()
{
    const HuggingFaceConfig layout { smallModel("llama"), findFamily("llama") };
    auto model = createModel(layout.config, {}).value();
    NamedTensors theirs = toHuggingFace(layout, modelState(*model));
    theirs.pop_back();
    const Result<NamedTensors> missing = fromHuggingFace(layout, theirs);
    QVERIFY(!missing.ok() && missing.error().message.find("'lm_head.weight' is missing") != std::string::npos);
    theirs.emplace_back("lm_head.weight", at::zeros({ 3, 32 }));
    QVERIFY(fromHuggingFace(layout, theirs).error().message.find("'lm_head.weight' has another shape")
        != std::string::npos);
}

QTEST_GUILESS_MAIN(TestWeights)
#include "tst_weights.moc"
