#include "core/base/file_system.h"
#include "core/base/path.h"
#include "core/run/status/brain.h"
#include "core/run/status/ledger_view.h"
#include "core/run/folder/run_file.h"

#include <QTemporaryDir>
#include <QTest>
#include <nlohmann/json.hpp>

using namespace furrow;

class TestRunFile : public QObject {
    Q_OBJECT

    static RunFile sample()
    {
        RunFile file;
        file.runId = "0123456789abcdef";
        file.config.name = "n";
        file.config.data = { "/data/a.txt" };
        file.preset = "char";
        file.createdWallNs = 42;
        file.furrowVersion = "0.1.0";
        file.dataIdentity = "d";
        file.dataManifest = "{\"files\":[]}";
        file.tokenizerHash = "t";
        file.vocabularySize = 257;
        file.samplesPerBlock = 400;
        file.samplesPerBlockReason = "because";
        return file;
    }

private Q_SLOTS:
    void readsBackWhatWasWritten()
    {
        QTemporaryDir folder;
        const RunPaths paths(folder.path().toStdString());
        QVERIFY(writeRunFile(paths, sample()).ok());
        const auto read = readRunFile(paths);
        QVERIFY2(read.ok(), read.ok() ? "" : read.error().message.c_str());
        QCOMPARE(read.value().runId, sample().runId);
        QVERIFY(read.value().config == sample().config);
        QCOMPARE(read.value().samplesPerBlockReason, sample().samplesPerBlockReason);
        QCOMPARE(read.value().dataManifest, sample().dataManifest);
    }

    void badFilesAreNamedNotUsed_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QString>("says");
        QTest::newRow("empty") << QByteArray() << "cannot be used: it is empty. Restore it from a copy";
        QTest::newRow("cut") << QByteArray("{\"format\": 1, \"run_id") << "it is not JSON at byte 22.";
        QTest::newRow("a million levels deep")
            << QByteArray(1'000'000, '[') + QByteArray(1'000'000, ']') << "nested deeper"; // printing it took the stack
        QTest::newRow("other JSON") << QByteArray("[1,2]") << "not the run.json";
        QTest::newRow("missing field") << QByteArray("{\"format\": 1}") << "it has no key 'run_id'.";
        QTest::newRow("wrong type") << QByteArray("{\"format\": 1, \"run_id\": 7}")
                                    << "its key 'run_id' is not a text.";
        QTest::newRow("no key of the data") << QByteArray(
            "{\"format\": 1, \"run_id\": \"a\", \"preset\": \"b\", \"created_ns\": 2, \"furrow_version\": \"c\", \"data\": {}}")
                                            << "it has no key 'data.identity'.";
        QTest::newRow("newer, with a version that is none")
            << QByteArray("{\"format\": 2, \"furrow_version\": 9}") << "use the newer program";
        QTest::newRow("newer") << QByteArray("{\"format\": 2, \"furrow_version\": \"9.0\"}") << "made by Furrow 9.0";
    }
    void badFilesAreNamedNotUsed()
    {
        QFETCH(QByteArray, text);
        QFETCH(QString, says);
        QTemporaryDir folder;
        const RunPaths paths(folder.path().toStdString());
        QVERIFY(writeFileDurably(realFileSystem(), paths.configFile(), text.toStdString()).ok());
        const auto read = readRunFile(paths);
        QVERIFY(!read.ok());
        QVERIFY2(QString::fromStdString(read.error().message).contains(says), read.error().message.c_str());
        QVERIFY2(read.error().message.find("json.exception") == std::string::npos, read.error().message.c_str());
    }

    void aRunOfANewerVersionWasSaidToHaveNoTracker() // it was copied without one; that said nothing of the version
    {
        QTemporaryDir folder;
        const RunPaths paths(folder.path().toStdString());
        QVERIFY(writeFileDurably(realFileSystem(), paths.configFile(), "{\"format\": 2, \"furrow_version\": \"9.0\"}")
                .ok());
        const auto ledger = openLedger(paths);
        QVERIFY(!ledger.ok());
        QVERIFY2(
            ledger.error().message.find("made by Furrow 9.0") != std::string::npos, ledger.error().message.c_str());
        QVERIFY(writeRunFile(paths, sample()).ok());
        const auto without = openLedger(paths);
        QVERIFY(!without.ok() && without.error().message.find("there is no tracker") != std::string::npos);
        const std::string wayOut = "furrowctl doctor " + utf8Text(paths.folder()) + " --repair"; // a resume named none
        QVERIFY2(without.error().message.find(wayOut) != std::string::npos, without.error().message.c_str());
    }

    /// "(stoll)" and the words of a library were what a person got to read.
    void aDamagedParentFileIsNamedInPlainWords_data()
    {
        QTest::addColumn<QString>("whole");
        QTest::addColumn<QString>("edited");
        QTest::addColumn<QString>("says");
        QTest::newRow("a block that is not a number")
            << "\"3\":" << "\"x\":" << "its key 'chunks.x' is of a block that no run can have";
        QTest::newRow("a block of too many digits")
            << "\"3\":" << "\"99999999999999999999\":"
            << "its key 'chunks.99999999999999999999' is of a block that no run can have";
        QTest::newRow("a step that is a text")
            << "\"step\":12" << "\"step\":\"a\"" << "its key 'step' is not a whole number";
        QTest::newRow("absurd tokens") << "\"tokens\":300" << "\"tokens\":9000000000000000000"
                                       << "its key 'tokens' is 9000000000000000000, which it cannot be";
        QTest::newRow("no JSON") << "{" << "<" << "it is not JSON at byte 1";
        QTest::newRow("a missing key") << "\"folder\"" << "\"f\"" << "it has no key 'folder'";
    }
    void aDamagedParentFileIsNamedInPlainWords()
    {
        QFETCH(QString, whole);
        QFETCH(QString, edited);
        QFETCH(QString, says);
        QTemporaryDir folder;
        const RunPaths paths(folder.path().toStdString());
        ParentFile parent;
        parent.step = 12;
        parent.tokens = 300;
        parent.chunks = { { 3, "0-20" } };
        QVERIFY(writeParent(paths, parent).ok());
        auto text = QString::fromStdString(readFile(paths.parentFile()).value());
        QVERIFY(text.contains(whole));
        text.replace(text.indexOf(whole), whole.size(), edited);
        QVERIFY(writeFileDurably(realFileSystem(), paths.parentFile(), text.toStdString()).ok());
        const auto read = readParent(paths);
        QVERIFY(!read.ok());
        QCOMPARE(read.error().code, ErrorCode::Corrupt);
        QCOMPARE(QString::fromStdString(read.error().message),
            QString::fromStdString(paths.parentFile().string()) + " cannot be used: " + says
                + ". Restore it from a copy of the run.");
    }

    void everyCutOfTheFileIsRefused()
    {
        QTemporaryDir folder;
        const RunPaths paths(folder.path().toStdString());
        QVERIFY(writeRunFile(paths, sample()).ok());
        const auto whole = readFile(paths.configFile()).value();
        for (std::size_t length = 0; length + 2 < whole.size(); length += 7) {
            QVERIFY(writeFileDurably(realFileSystem(), paths.configFile(), whole.substr(0, length)).ok());
            QVERIFY(!readRunFile(paths).ok());
        }
    }

    void aFolderWithoutRunJsonIsNotARun()
    {
        const auto read = readRunFile(RunPaths("/nonexistent/run"));
        QVERIFY(!read.ok());
        QVERIFY(read.error().code == ErrorCode::NotFound);
    }

    void cacheIsSharedInsideAWorkspaceOnly()
    {
        QCOMPARE(RunPaths("/w/runs/a").cacheFolder().string(), std::string("/w/cache"));
        QCOMPARE(RunPaths("/w/a/").cacheFolder().string(), std::string("/w/a/cache"));
    }
};

QTEST_GUILESS_MAIN(TestRunFile)
#include "tst_run_file.moc"
