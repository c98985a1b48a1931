#include "core/base/file_system.h"
#include "core/base/redact.h"
#include "core/workspace/debug_bundle.h"
#include "tests/must_have.h"

#include <QTemporaryDir>
#include <QtTest>
#include <filesystem>
#include <fstream>

using namespace furrow;

class TestDebugBundle : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void secretsAndFoldersAreHidden_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QByteArray>("shown");
        QTest::newRow("key") << QByteArray("\"hf_token\": \"abc123def\"") << QByteArray("\"hf_token\": \"<hidden>\"");
        QTest::newRow("assignment") << QByteArray("HF_TOKEN=abcdef") << QByteArray("HF_TOKEN=<hidden>");
        QTest::newRow("password") << QByteArray("password: hunter2") << QByteArray("password: <hidden>");
        QTest::newRow("token of a hub") << QByteArray("using hf_abcdefghijklmnop now")
                                        << QByteArray("using <hidden> now");
        QTest::newRow("header") << QByteArray("Authorization: Bearer abc.def-ghi")
                                << QByteArray("Authorization: Bearer <hidden>");
        QTest::newRow("address") << QByteArray("https://ann:geheim@example.org/x")
                                 << QByteArray("https://<hidden>@example.org/x");
        QTest::newRow("path") << QByteArray("reading /home/ann/texts/book.txt now")
                              << QByteArray("reading …/book.txt now");
        QTest::newRow("a token as the name of a file")
            << QByteArray("\"data\": [\"/home/ann/ghp_abcdefghijklmnopqrstuvwxyz0123456789.txt\"]")
            << QByteArray("\"data\": [\"…/<hidden>\"]");
        QTest::newRow("a token in the name of a file")
            << QByteArray("/home/ann/a,hf_abcdefghijklmnop:3 now") << QByteArray("…/a,<hidden>:3 now");
        QTest::newRow("windows path") << QByteArray("in C:\\Users\\Ann\\run.json") << QByteArray("in …/run.json");
        QTest::newRow("home") << QByteArray("~/furrow/runs/one") << QByteArray("…/one");
        QTest::newRow("words stay") << QByteArray("tokens: 500, tokenizer: gpt2, 3/4 done")
                                    << QByteArray("tokens: 500, tokenizer: gpt2, 3/4 done");
        QTest::newRow("address stays") << QByteArray("https://huggingface.co/datasets")
                                       << QByteArray("https://huggingface.co/datasets");
    }
    void secretsAndFoldersAreHidden()
    {
        QFETCH(const QByteArray, text);
        QFETCH(const QByteArray, shown);
        QCOMPARE(QByteArray::fromStdString(redacted(text.toStdString())), shown);
    }

    /// "cannot write furrow-debug.tar.gz.0123.tmp: permission denied": in which folder?
    void aBundleThatCouldNotBeWrittenWasNamedWithoutItsFolder()
    {
        const QTemporaryDir folder;
        const std::filesystem::path run = std::filesystem::path(folder.path().toStdString()) / "run";
        std::filesystem::create_directories(run);
        std::ofstream(run / "run.json") << "{}";
        const auto written = writeDebugBundle(run, std::filesystem::path("no-such-folder") / "debug.tar.gz");
        QVERIFY(!written.ok());
        const auto whole = std::filesystem::current_path() / "no-such-folder" / "debug.tar.gz";
        QVERIFY2(written.error().message.find(whole.string()) != std::string::npos, written.error().message.c_str());
    }

    void bundleOfABrokenRunIsStillWritten()
    {
        const QTemporaryDir folder;
        const std::filesystem::path run = std::filesystem::path(folder.path().toStdString()) / "run";
        std::filesystem::create_directories(run / "logs");
        std::ofstream(run / "run.json") << "{\"api_key\": \"verysecretvalue\"}";
        std::ofstream(run / "logs" / "1-worker-0.log")
            << "2026-03-13 18:42:10.123 I worker-0  reading /home/ann/x.txt\n";
        const auto target = run.parent_path() / "debug.tar.gz";
        const Status written = writeDebugBundle(run, target);
        QVERIFY2(written.ok(), written.ok() ? "" : written.error().message.c_str());
        QProcess tar;
        tar.start(QStringLiteral("tar"), { QStringLiteral("-xzOf"), QString::fromStdString(target.string()) });
        SKIP_WITHOUT("tar", tar.waitForStarted(), "There is no tar to read the archive with.");
        QVERIFY(tar.waitForFinished());
        QCOMPARE(tar.exitCode(), 0);
        const QByteArray text = tar.readAllStandardOutput();
        QVERIFY(text.contains("<hidden>"));
        QVERIFY(!text.contains("verysecretvalue"));
        QVERIFY(!text.contains("/home/ann"));
        QVERIFY(text.contains("/x.txt"));
    }

    /// What a person left out by a pattern is text of the data, and stood in run.json as it was written.
    void patternsOfWhatIsLeftOutStoodInTheBundle()
    {
        const QTemporaryDir folder;
        const std::filesystem::path run = std::filesystem::path(folder.path().toStdString()) / "run";
        std::filesystem::create_directories(run / "logs");
        std::ofstream(run / "run.json")
            << R"({"config": {"quarantine": "/home/ann/left-out.txt"}, "data": {"quarantine": )"
            << R"("# of Ann Smith\nchunk 3:1\n pattern\tAnn Smith \\d+\r\npattern Ann Smith\npattern cat"}})";
        std::ofstream(run / "logs" / "1-feeder.log")
            << "\"Ann Smith \\d+\" takes too many steps; pattern cat matched nothing, concatenated\n";
        const auto target = run.parent_path() / "debug.tar.gz";
        QVERIFY(writeDebugBundle(run, target).ok());
        QProcess tar;
        tar.start(QStringLiteral("tar"), { QStringLiteral("-xzOf"), QString::fromStdString(target.string()) });
        SKIP_WITHOUT("tar", tar.waitForStarted(), "There is no tar to read the archive with.");
        QVERIFY(tar.waitForFinished());
        const QByteArray text = tar.readAllStandardOutput();
        QVERIFY2(!text.contains("Ann Smith") && !text.contains("pattern cat"), text.constData());
        QVERIFY2(
            text.contains(R"("# <hidden>\nchunk 3:1\npattern <hidden 1>\npattern <hidden 2>\npattern <hidden 3>")"),
            text.constData());
        QVERIFY2(text.contains("\"<hidden 1>\" takes too many steps; pattern <hidden 3> matched nothing, concatenated"),
            text.constData());
        QVERIFY2(text.contains("\"…/left-out.txt\""), text.constData());
    }

    void aPrivateKeyBehindALinkDoesNotArriveInTheBundle_data()
    {
        QTest::addColumn<int>("kind");
        QTest::newRow("symbolic link to a file") << 0;
        QTest::newRow("second name of a file") << 1;
        QTest::newRow("the folder of logs is a link") << 2;
        QTest::newRow("run.json is a link") << 3;
    }
    void aPrivateKeyBehindALinkDoesNotArriveInTheBundle()
    {
        QFETCH(int, kind);
        namespace fs = std::filesystem;
        const QTemporaryDir folder;
        const fs::path run = fs::path(folder.path().toStdString()) / "run";
        const fs::path home = fs::path(folder.path().toStdString()) / "home";
        fs::create_directories(run);
        fs::create_directories(home);
        std::ofstream(home / "key.log") << "PRIVATE KEY of ann\n";
        if (kind == 3)
            fs::create_symlink(home / "key.log", run / "run.json");
        else
            std::ofstream(run / "run.json") << "{}";
        if (kind == 2)
            fs::create_directory_symlink(home, run / "logs");
        else
            fs::create_directories(run / "logs");
        if (kind == 0)
            fs::create_symlink(home / "key.log", run / "logs" / "1-worker-0.log");
        if (kind == 1)
            fs::create_hard_link(home / "key.log", run / "logs" / "1-worker-0.log");
        const auto target = run.parent_path() / "debug.tar.gz";
        QVERIFY(writeDebugBundle(run, target).ok());
        QProcess tar;
        tar.start(QStringLiteral("tar"), { QStringLiteral("-xzOf"), QString::fromStdString(target.string()) });
        SKIP_WITHOUT("tar", tar.waitForStarted(), "There is no tar to read the archive with.");
        QVERIFY(tar.waitForFinished());
        const QByteArray text = tar.readAllStandardOutput();
        QVERIFY(text.contains("versions") || text.contains("Furrow"));
        QVERIFY2(!text.contains("PRIVATE KEY"), text.constData());
    }

    void aFolderThatIsNoRunIsRefused()
    {
        const QTemporaryDir folder;
        QVERIFY(
            !writeDebugBundle(folder.path().toStdString(), folder.filePath(QStringLiteral("x.tar.gz")).toStdString())
                .ok());
    }
};

QTEST_GUILESS_MAIN(TestDebugBundle)
#include "tst_debug_bundle.moc"
