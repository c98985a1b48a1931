#include "core/base/hash.h"
#include "core/run/checkpoint_manifest.h"

#include <QTemporaryDir>
#include <QTest>

using namespace furrow;

namespace {
const ChunkId kChunk = chunkIdOf({ 0, 3, 17 });
}

class TestCheckpointManifest : public QObject {
    Q_OBJECT

    QTemporaryDir folder_;
    std::filesystem::path path_;
    std::string manifestSha_;

    void write(const char* name, const std::string& bytes)
    {
        QVERIFY(writeFileDurably(realFileSystem(), path_ / name, bytes).ok());
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
        manifest.files = { { "weights.safetensors", 5, sha256Hex("hello") }, { "state.json", 2, sha256Hex("{}") } };
        manifest.parts.push_back({ kChunk, { 0, 9 } });
        manifest.parts.push_back({ kChunk, { 9, 11 }, -1, true });
        const auto text = toJsonText(manifest);
        manifestSha_ = sha256Hex(text);
        write("weights.safetensors", "hello");
        write("state.json", "{}");
        write("manifest.json", text);
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
            QVERIFY2(verdict.error().message.find("cannot be read") != std::string::npos, verdict.error().message.c_str());
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
        QTest::newRow("a step that is a text") << "\"step\":12" << "\"step\":\"a\"" << "its key 'step' is not a whole number";
        QTest::newRow("a step below 0") << "\"step\":12" << "\"step\":-12" << "its key 'step' is -12, which it cannot be";
        QTest::newRow("a replica of too many bits") << "\"replica\":0" << "\"replica\":4294967296" << "its key 'replica' is 4294967296, which it cannot be";
        QTest::newRow("windows that end before they begin") << ",0,9]" << ",9,9]" << "its key 'parts[0][2]' is 9, which it cannot be";
        QTest::newRow("a chunk that no run has") << "[[" << "[[-" << "its key 'parts[0][0]' is no chunk that a run can have";
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
        QCOMPARE(QString::fromStdString(read.error().message), "checkpoint 0-12-abcd is damaged: manifest.json cannot be used: " + says + ".");
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
