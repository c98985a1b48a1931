#include "core/base/file_system.h"
#include "core/run/run_file.h"

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
        QTest::newRow("empty") << QByteArray() << "not valid JSON";
        QTest::newRow("cut") << QByteArray("{\"format\": 1, \"run_id") << "not valid JSON";
        QTest::newRow("a million levels deep") << QByteArray(1'000'000, '[') + QByteArray(1'000'000, ']') << "not valid JSON"; // printing it took the stack
        QTest::newRow("other JSON") << QByteArray("[1,2]") << "not the run.json";
        QTest::newRow("missing field") << QByteArray("{\"format\": 1}") << "field is missing";
        QTest::newRow("wrong type") << QByteArray("{\"format\": 1, \"run_id\": 7}") << "another type";
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
