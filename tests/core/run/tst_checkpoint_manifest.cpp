#include "core/base/hash.h"
#include "core/run/folder/checkpoint_manifest.h"
#include "core/run/folder/finite_weights.h"
#include "core/run/folder/run_paths.h"
#include "tests/fakes/small_weights.h"

#include <QTemporaryDir>
#include <QTest>

#include <cstring>
#include <fstream>

using namespace furrow;

namespace {
const ChunkId kChunk = chunkIdOf({ 0, 3, 17 });
constexpr const char* kState
    = R"({"format":1,"replica":0,"own_steps":12,"own_tokens":300,"own_samples":9,"step":12,"tokens":300,"samples":9,"steps_since_base":12,"tokens_since_base":300,"base":"","merge_round":0,"parents":["r0-10"]})";
} // namespace

class TestCheckpointManifest : public QObject {
    Q_OBJECT

    QTemporaryDir folder_;
    std::filesystem::path path_;
    std::string manifestSha_;

    void write(const char* name, const std::string& bytes)
    {
        QVERIFY(writeFileDurably(realFileSystem(), path_ / name, bytes).ok());
    }

    /// The manifest names frozen weights that are these bytes. Returns their hash.
    std::string nameFrozen(const std::string& bytes)
    {
        auto manifest = readManifest(path_).value();
        manifest.frozen = { sha256Hex(bytes), bytes.size() };
        const auto text = toJsonText(manifest);
        manifestSha_ = sha256Hex(text);
        write("manifest.json", text);
        return manifest.frozen->sha256;
    }

private Q_SLOTS:
    void init()
    {
        path_ = folder_.path().toStdString() + "/0-12-abcd";
        QVERIFY(realFileSystem().removeAll(path_).ok());
        QVERIFY(realFileSystem().createFolders(path_).ok());
        CheckpointManifest manifest;
        manifest.runId = "run1";
        manifest.step = 12;
        manifest.tokens = 300;
        manifest.parents = { "r0-10" };
        manifest.files = { { "weights.safetensors", 5, sha256Hex("hello") },
            { "state.json", std::strlen(kState), sha256Hex(kState) } };
        manifest.parts.push_back({ kChunk, { 0, 9 } });
        manifest.parts.push_back({ kChunk, { 9, 11 }, -1, true });
        const auto text = toJsonText(manifest);
        manifestSha_ = sha256Hex(text);
        write("weights.safetensors", "hello");
        write("state.json", kState);
        write("manifest.json", text);
    }

    /// Weights with NaN and fitted hashes were taken for whole: each worker refused them five times over.
    void weightsWithNaNWereTakenForWhole_data()
    {
        QTest::addColumn<QByteArray>("type");
        QTest::addColumn<QByteArray>("number"); ///< the last one, little-endian
        QTest::addColumn<bool>("usable");
        QTest::newRow("NaN") << QByteArray("F32") << QByteArray::fromHex("0000c07f") << false;
        QTest::newRow("minus Inf") << QByteArray("F32") << QByteArray::fromHex("000080ff") << false;
        QTest::newRow("the largest number") << QByteArray("F32") << QByteArray::fromHex("ffff7f7f") << true;
        QTest::newRow("NaN of bfloat16") << QByteArray("BF16") << QByteArray::fromHex("c07f") << false;
        QTest::newRow("Inf of float16") << QByteArray("F16") << QByteArray::fromHex("007c") << false;
        QTest::newRow("a number of float16") << QByteArray("F16") << QByteArray::fromHex("ff7b") << true;
        QTest::newRow("NaN of float64") << QByteArray("F64") << QByteArray::fromHex("000000000000f87f") << false;
        QTest::newRow("a count") << QByteArray("I64") << QByteArray::fromHex("ffffffffffffffff") << true;
    }
    void weightsWithNaNWereTakenForWhole()
    {
        QFETCH(QByteArray, type);
        QFETCH(QByteArray, number);
        QFETCH(bool, usable);
        const QByteArray data = QByteArray((1 << 20) - 4 * number.size(), '\0') + QByteArray(8 * number.size(), '\0')
            + number; // over more than one piece
        const QByteArray header = QStringLiteral(
            R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"%1","shape":[%2],"data_offsets":[4,%3]}})")
                                      .arg(QString::fromLatin1(type), QString::number(data.size() / number.size()),
                                          QString::number(4 + data.size()))
                                      .toLatin1();
        const QByteArray size = QByteArray(1, static_cast<char>(header.size())) + QByteArray(7, '\0');
        QVERIFY(header.size() < 256);
        const std::string weights = (size + header + QByteArray(4, '\0') + data).toStdString();
        write("weights.safetensors", weights);
        CheckpointManifest manifest;
        manifest.runId = "run1";
        manifest.files = { { "weights.safetensors", weights.size(), sha256Hex(weights) } };
        const auto text = toJsonText(manifest);
        write("manifest.json", text);
        QVERIFY(realFileSystem().removeAll(path_ / "state.json").ok());
        QVERIFY(verifyCheckpoint(path_, sha256Hex(text), "run1").ok());
        const auto verdict = verifyTrainable(path_, sha256Hex(text), "run1");
        QCOMPARE(verdict.ok(), usable);
        if (!verdict.ok())
            QCOMPARE(QString::fromStdString(verdict.error().message),
                QStringLiteral(
                    "checkpoint 0-12-abcd cannot be used: tensor 'b' of its weights holds NaN or Inf, though the hashes of its files fit."));
    }

    /// Hashes that fitted were enough, so doctor called them whole.
    void weightsThatNobodyCanReadWereTakenForWhole_data()
    {
        QTest::addColumn<QByteArray>("weights");
        QTest::addColumn<QString>("says");
        const auto row = [](const char* name, const std::string& weights, const char* says) {
            QTest::newRow(name) << QByteArray::fromStdString(weights) << QString::fromLatin1(says);
        };
        const auto tensor = [](const char* facts) {
            return test::safetensorsWith(
                R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{)" + std::string(facts) + "}}",
                std::string(8, '\0'));
        };
        row("whole", tensor(R"("dtype":"F32","shape":[1],"data_offsets":[4,8])"), "");
        row("empty", "", "the file is too short for safetensors");
        row("a length that no file has", std::string(7, '\0') + "\x80{}",
            "the header length 9223372036854775808 is impossible for this file");
        row("no object", test::safetensorsWith("[[[["), "the header is not a JSON object");
        row("nested without end", test::safetensorsWith(std::string(100'000, '[')), "the header is not a JSON object");
        row("overlapping", tensor(R"("dtype":"F32","shape":[2],"data_offsets":[0,8])"),
            "tensor 'b' overlaps another one or leaves a gap");
        row("a gap", tensor(R"("dtype":"F16","shape":[1],"data_offsets":[6,8])"),
            "tensor 'b' overlaps another one or leaves a gap");
        row("a size below 0", tensor(R"("dtype":"F32","shape":[-1],"data_offsets":[4,8])"),
            "tensor 'b' has an impossible shape");
        row("an unknown type", tensor(R"("dtype":"F8_E9","shape":[4],"data_offsets":[4,8])"),
            "tensor 'b' has type 'F8_E9', which is not supported");
        row("fewer bytes than it says", tensor(R"("dtype":"F16","shape":[1],"data_offsets":[4,6])"),
            "the file holds 8 bytes of data, its header describes 6");
        row("a name twice",
            test::safetensorsWith(
                R"({"a":{"dtype":"I8","shape":[0],"data_offsets":[0,0]},"a":{"dtype":"I8","shape":[0],"data_offsets":[0,0]}})"),
            "tensor 'a' is listed twice");
    }
    void weightsThatNobodyCanReadWereTakenForWhole()
    {
        QFETCH(QByteArray, weights);
        QFETCH(QString, says);
        auto manifest = readManifest(path_).value();
        manifest.files.front()
            = { kWeightsFile, static_cast<std::uint64_t>(weights.size()), sha256Hex(weights.toStdString()) };
        const auto refused = [&] {
            const auto text = toJsonText(manifest);
            write(kManifestFile, text);
            if (!verifyCheckpoint(path_, sha256Hex(text), "run1").ok())
                qFatal("its hashes fit");
            const auto verdict = verifyTrainable(path_, sha256Hex(text), "run1");
            return verdict.ok() ? QString() : QString::fromStdString(verdict.error().message);
        };
        write(kWeightsFile, weights.toStdString());
        const auto sentenceOf = [&says](const QString& file) {
            return says.isEmpty()
                ? QString()
                : QStringLiteral(
                      "checkpoint 0-12-abcd cannot be used: its %1 cannot be read (%2), though the hashes of its files fit.")
                      .arg(file, says);
        };
        QCOMPARE(refused(), sentenceOf(QString::fromLatin1(kWeightsFile)));
        if (weights.isEmpty())
            return; // no checkpoint can name frozen weights of no bytes
        const auto whole = test::smallWeights("whole");
        manifest.files.front() = { kWeightsFile, whole.size(), sha256Hex(whole) };
        write(kWeightsFile, whole);
        manifest.frozen = { sha256Hex(weights.toStdString()), static_cast<std::uint64_t>(weights.size()) };
        const auto frozen = frozenFileIn(path_.parent_path(), manifest.frozen->sha256);
        std::filesystem::create_directories(frozen.parent_path());
        QVERIFY(writeFileDurably(realFileSystem(), frozen, weights.toStdString()).ok());
        QCOMPARE(refused(),
            sentenceOf(QStringLiteral("frozen/%1.safetensors").arg(QString::fromStdString(manifest.frozen->sha256))));
    }

    void wholeCheckpointVerifiesAndReadsBack()
    {
        QVERIFY(verifyCheckpoint(path_, manifestSha_, "run1").ok());
        const auto manifest = readManifest(path_);
        QVERIFY(manifest.ok());
        QCOMPARE(manifest.value().parts.size(), std::size_t(2));
        QCOMPARE(manifest.value().parts[0].chunk.value, kChunk.value);
        QVERIFY(!manifest.value().parts[0].skipped);
        QVERIFY(manifest.value().parts[1].skipped);
        QCOMPARE(manifest.value().step, 12);
    }

    void everyFlippedByteOfEveryFileIsFound()
    {
        for (const char* name : { "weights.safetensors", "state.json", "manifest.json" }) {
            const auto whole = readFile(path_ / name).value();
            for (std::size_t i = 0; i < whole.size(); i += 3) {
                auto bytes = whole;
                bytes[i] = static_cast<char>(bytes[i] ^ 0x10);
                write(name, bytes);
                QVERIFY2(!verifyCheckpoint(path_, manifestSha_, "run1").ok(), name);
            }
            write(name, whole);
        }
        QVERIFY(verifyCheckpoint(path_, manifestSha_, "run1").ok());
    }

    void missingAndCutFilesAreNamed()
    {
        write("weights.safetensors", "hell");
        auto verdict = verifyCheckpoint(path_, manifestSha_, "run1");
        QVERIFY(!verdict.ok());
        QVERIFY(verdict.error().message.find("weights.safetensors") != std::string::npos);
        QCOMPARE(verdict.error().code, ErrorCode::Corrupt);
    }

    /// An unmounted disk cost a run all of its weights.
    void whatCannotBeReadIsNotCalledDamaged()
    {
        const auto unreadable = [this](const char* what) {
            const auto verdict = verifyCheckpoint(path_, manifestSha_, "run1");
            QVERIFY2(!verdict.ok() && verdict.error().code != ErrorCode::Corrupt, what);
            QVERIFY2(
                verdict.error().message.find("cannot be read") != std::string::npos, verdict.error().message.c_str());
        };
        QVERIFY(realFileSystem().removeAll(path_ / "weights.safetensors").ok());
        unreadable("a file is missing");
        QVERIFY(realFileSystem().createFolders(path_ / "weights.safetensors").ok());
        unreadable("a file is a folder");
        QVERIFY(realFileSystem().removeAll(path_ / "manifest.json").ok());
        unreadable("the manifest is missing");
        QVERIFY(realFileSystem().removeAll(path_).ok());
        unreadable("the folder is missing");
        path_ = path_.parent_path() / "unmounted" / "0-12-abcd";
        unreadable("the folder above is missing");
        QVERIFY(verifyCheckpoint(path_, manifestSha_, "run1").error().message.find("mounted") != std::string::npos);
    }

    /// LoRA: what the pairs stand beside lies once in the run.
    void frozenWeightsAreReadOnceForAllCheckpointsThatNameThem()
    {
        const std::string frozen = "embedding and layers";
        const auto sha = nameFrozen(frozen);
        const auto file = frozenFileIn(path_.parent_path(), sha);
        const auto is = [&](ErrorCode code, const char* says) {
            const auto verdict = verifyCheckpoint(path_, manifestSha_, "run1");
            QVERIFY(!verdict.ok() && verdict.error().code == code);
            QVERIFY2(verdict.error().message.find(says) != std::string::npos
                    && verdict.error().message.find(sha) != std::string::npos,
                verdict.error().message.c_str());
        };
        is(ErrorCode::NotFound, "checkpoint 0-12-abcd cannot be read");
        QVERIFY(verifyOwnFiles(path_, manifestSha_, "run1").ok());
        std::filesystem::create_directories(file.parent_path());
        const auto put
            = [&](const std::string& bytes) { std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes; };
        put(frozen);
        QVERIFY(verifyCheckpoint(path_, manifestSha_, "run1").ok());
        FrozenVerdicts known;
        QVERIFY(verifyCheckpoint(path_, manifestSha_, "run1", {}, &known).ok());
        put("Embedding and layers");
        QVERIFY(verifyCheckpoint(path_, manifestSha_, "run1", {}, &known).ok()); // not read again
        is(ErrorCode::Corrupt, "checkpoint 0-12-abcd is damaged: SHA-256 of frozen/");
        put("layers");
        is(ErrorCode::Corrupt, "has another size");
        std::filesystem::remove(file);
        std::filesystem::create_directory(file);
        QVERIFY(verifyCheckpoint(path_, manifestSha_, "run1").error().code != ErrorCode::Corrupt);
    }

    /// It becomes the name of a file.
    void aFrozenFileIsNamedByAHashAlone()
    {
        for (const std::string& sha :
            { std::string(63, 'a'), std::string(64, 'A'), "../" + std::string(61, 'a'), std::string() }) {
            CheckpointManifest manifest = readManifest(path_).value();
            manifest.frozen = { sha, 5 };
            write("manifest.json", toJsonText(manifest));
            const auto refused = readManifest(path_);
            QVERIFY(!refused.ok());
            QCOMPARE(refused.error().message,
                std::string(
                    "checkpoint 0-12-abcd is damaged: manifest.json cannot be used: its key 'frozen.sha256' is not a SHA-256."));
            init();
        }
    }

    void manifestWithAPathOutsideItsFolderIsRefused_data()
    {
        QTest::addColumn<QString>("name");
        for (const char* name : { "..", "../../passwords", "/etc/passwd", "a/b", "" })
            QTest::newRow(name) << QString::fromLatin1(name);
    }
    void manifestWithAPathOutsideItsFolderIsRefused()
    {
        QFETCH(QString, name);
        CheckpointManifest manifest;
        manifest.runId = "run1";
        manifest.files = { { name.toStdString(), 5, sha256Hex("hello") } };
        write("manifest.json", toJsonText(manifest));
        QCOMPARE(readManifest(path_).error().code, ErrorCode::Corrupt);
        manifest.files.clear();
        manifest.parents = { name.toStdString() };
        write("manifest.json", toJsonText(manifest));
        QCOMPARE(readManifest(path_).error().code, ErrorCode::Corrupt);
    }

    /// "[json.exception.out_of_range.403] key 'step' not found" was what a person got to read.
    void aBrokenManifestIsNamedInPlainWords_data()
    {
        QTest::addColumn<QString>("whole");
        QTest::addColumn<QString>("edited");
        QTest::addColumn<QString>("says");
        QTest::newRow("a missing key") << "\"step\"" << "\"stop\"" << "it has no key 'step'";
        QTest::newRow("a step that is a text")
            << "\"step\":12" << "\"step\":\"a\"" << "its key 'step' is not a whole number";
        QTest::newRow("a step below 0") << "\"step\":12" << "\"step\":-12"
                                        << "its key 'step' is -12, which it cannot be";
        QTest::newRow("a replica of too many bits")
            << "\"replica\":0" << "\"replica\":4294967296" << "its key 'replica' is 4294967296, which it cannot be";
        QTest::newRow("windows that end before they begin")
            << ",0,9]" << ",9,9]" << "its key 'parts[0][2]' is 9, which it cannot be";
        QTest::newRow("a chunk that no run has")
            << "[[" << "[[-" << "its key 'parts[0][0]' is not a chunk that a run can have";
        QTest::newRow("no JSON") << "{" << "<" << "it is not JSON at byte 1";
    }
    void aBrokenManifestIsNamedInPlainWords()
    {
        QFETCH(QString, whole);
        QFETCH(QString, edited);
        QFETCH(QString, says);
        auto text = QString::fromStdString(readFile(path_ / "manifest.json").value());
        QVERIFY(text.contains(whole));
        text.replace(text.indexOf(whole), whole.size(), edited);
        write("manifest.json", text.toStdString());
        const auto read = readManifest(path_);
        QVERIFY(!read.ok());
        QCOMPARE(read.error().code, ErrorCode::Corrupt);
        QCOMPARE(QString::fromStdString(read.error().message),
            "checkpoint 0-12-abcd is damaged: manifest.json cannot be used: " + says + ".");
    }

    /// A resume trained on from it, and the totals of the run were ruined.
    void aStateOfOtherWeightsIsDamageThoughAllHashesFit_data()
    {
        QTest::addColumn<QString>("whole");
        QTest::addColumn<QString>("edited");
        QTest::addColumn<QString>("says"); // "": it is whole
        QTest::newRow("untouched") << "" << "" << "";
        QTest::newRow("another step") << "\"step\":12" << "\"step\":10"
                                      << "its state.json says step 10 and its manifest.json 12.";
        QTest::newRow("absurd tokens") << "\"tokens\":300" << "\"tokens\":1000000000000000000"
                                       << "its state.json says tokens 1000000000000000000 and its manifest.json 300.";
        QTest::newRow("another replica") << "\"replica\":0" << "\"replica\":1"
                                         << "its state.json says replica 1 and its manifest.json 0.";
        QTest::newRow("another parent") << "\"r0-10\"" << "\"r0-8\""
                                        << "its state.json names other parents than its manifest.json.";
        QTest::newRow("more since its base than in all")
            << "\"tokens_since_base\":300" << "\"tokens_since_base\":301"
            << "its state.json counts more steps or tokens since its base than in all.";
        QTest::newRow("more of its own than in all")
            << "\"own_tokens\":300" << "\"own_tokens\":1000000000000000000"
            << "its state.json counts more steps, tokens or samples of its own than in all.";
        QTest::newRow("samples below 0") << "\"samples\":9" << "\"samples\":-9"
                                         << "state.json cannot be used: its key 'samples' is -9, which it cannot be.";
        QTest::newRow("more samples than can be added")
            << "\"samples\":9" << "\"samples\":9000000000000000000" << "which it cannot be.";
        QTest::newRow("own steps that are none")
            << "\"own_steps\":12" << "\"own_steps\":\"a\""
            << "state.json cannot be used: its key 'own_steps' is not a whole number.";
        QTest::newRow("no step") << "\"step\"" << "\"stop\"" << "state.json cannot be used: it has no key 'step'.";
        QTest::newRow("no JSON") << "{" << "<" << "state.json cannot be used: it is not JSON at byte 1.";
        QTest::newRow("a newer format") << "\"format\":1,\"replica\":0" << "\"format\":2"
                                        << ""; // whoever loads it says so
        QTest::newRow("older, without own tokens") << "\"own_tokens\":300,\"own_samples\":9," << "" << "";
        QTest::newRow("grown from a merge")
            << "\"own_tokens\":300,\"own_samples\":9,\"step\":12,\"tokens\":300,\"samples\":9,\"steps_since_base\":12,\"tokens_since_base\":300,\"base\":\"\""
            << "\"own_tokens\":350,\"own_samples\":9,\"step\":12,\"tokens\":300,\"samples\":9,\"steps_since_base\":2,\"tokens_since_base\":30,\"base\":\"merge-10\""
            << ""; // it was left out of that merge
    }
    void aStateOfOtherWeightsIsDamageThoughAllHashesFit()
    {
        QFETCH(QString, whole);
        QFETCH(QString, edited);
        QFETCH(QString, says);
        auto state = QString::fromLatin1(kState);
        QVERIFY(state.contains(whole));
        const auto bytes = state.replace(state.indexOf(whole), whole.size(), edited).toStdString();
        auto manifest = readManifest(path_).value();
        manifest.files.back() = { "state.json", bytes.size(), sha256Hex(bytes) };
        const auto text = toJsonText(manifest);
        write("state.json", bytes);
        write("manifest.json", text);
        const auto verdict = verifyCheckpoint(path_, sha256Hex(text), "run1");
        QCOMPARE(verdict.ok(), says.isEmpty());
        if (verdict.ok())
            return;
        QCOMPARE(verdict.error().code, ErrorCode::Corrupt);
        QVERIFY2(verdict.error().message.starts_with("checkpoint 0-12-abcd is damaged: ")
                && QString::fromStdString(verdict.error().message).endsWith(says),
            verdict.error().message.c_str());
    }

    void whatWasStoppedIsNotCalledDamaged()
    {
        std::stop_source stopping;
        stopping.request_stop();
        const auto verdict = verifyCheckpoint(path_, manifestSha_, "run1", stopping.get_token());
        QVERIFY(!verdict.ok());
        QCOMPARE(verdict.error().code, ErrorCode::Cancelled);
    }

    void aCheckpointOfAnotherRunIsRefused()
    {
        const auto verdict = verifyCheckpoint(path_, manifestSha_, "run2");
        QVERIFY(!verdict.ok());
        QVERIFY(verdict.error().message.find("belongs to run run1") != std::string::npos);
    }
};

QTEST_GUILESS_MAIN(TestCheckpointManifest)
#include "tst_checkpoint_manifest.moc"
