// A secret is planted in every place where one comes in, and every place where something goes out is searched for it.
// All of them hold one word.

#include "tests/e2e/process_facts.h"
#include "tests/e2e/run_driver.h"

#include "fake_hub.h"

#include <QDirIterator>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

using furrow::test::FakeHub;
using furrow::test::HubFault;

namespace {

const QByteArray kWord = "Geheim";
const QByteArray kHeader = QByteArray("ann:EndpointGeheim1").toBase64(); // as HTTP sends it

bool tells(const QByteArray& text) { return text.contains(kWord) || text.contains(kHeader); }

/// The first file below `folder` that holds a secret; "" when none does.
QString tellingFile(const QString& folder)
{
    QDirIterator files(folder, QDir::Files | QDir::Hidden, QDirIterator::Subdirectories);
    while (files.hasNext()) {
        QFile file(files.next());
        if (file.open(QIODevice::ReadOnly) && tells(file.readAll()))
            return file.fileName();
    }
    return {};
}

QByteArray said(const QStringList& arguments)
{
    const auto out = RunDriver::ctl(arguments);
    return out.text.toUtf8() + out.errors.toUtf8();
}

} // namespace

class TestSecrets : public QObject {
    Q_OBJECT

    QTemporaryDir folder_;
    QTemporaryDir private_; ///< where secrets may lie
    FakeHub hub_;

    void setEndpoint(const QString& address)
    {
        qputenv("HF_ENDPOINT",
            QString(address).replace(QStringLiteral("://"), QStringLiteral("://ann:EndpointGeheim1@")).toUtf8());
    }
    QStringList runOn(const QString& data, const char* name) const
    {
        return QStringList { QStringLiteral("run"), QStringLiteral("--data"), data, QStringLiteral("--out"),
            folder_.filePath(QLatin1String(name)), QStringLiteral("--devices"), QStringLiteral("cpu:2") }
        + RunDriver::tinyModel();
    }

private Q_SLOTS:
    void initTestCase()
    {
        QFile tokenFile(private_.filePath(QStringLiteral("token")));
        QVERIFY(tokenFile.open(QIODevice::WriteOnly) && tokenFile.write("hf_FileGeheim3aaaaaaaaaaaaaaaaaaaa\n") > 0);
        tokenFile.close();
        qputenv("HF_HOME", private_.path().toUtf8());
        qputenv("HF_TOKEN_PATH", tokenFile.fileName().toUtf8());
        qputenv("HF_TOKEN", "hf_TokenGeheim2aaaaaaaaaaaaaaaaaaa");
        for (const char* proxy : { "http_proxy", "https_proxy", "all_proxy" })
            qputenv(proxy, "http://ann:ProxyGeheim4@127.0.0.1:9");
        qputenv("no_proxy", "127.0.0.1");
        qputenv("WANDB_API_KEY", "KeyGeheim5");
        FakeHub::Repository texts;
        QFile text(RunDriver::writeText(private_.path(), 1200));
        QVERIFY(text.open(QIODevice::ReadOnly));
        texts.files["data/train.txt"] = text.readAll().toStdString();
        hub_.add("o/n", texts);
        FakeHub::Repository gated = texts;
        gated.gated = true;
        hub_.add("o/gated", gated);
        hub_.requireAccount("ann", "EndpointGeheim1");
        setEndpoint(QString::fromStdString(hub_.endpoint()));
    }

    void noOutputOfARunTellsASecret()
    {
        hub_.fail({ HubFault::ServerError, HubFault::Cut }); // what is said about them goes to logs
        const QString run = folder_.filePath(QStringLiteral("run"));
        const auto begun = RunDriver::ctl(runOn(QStringLiteral("hf://o/n"), "run")
            + QStringList { QStringLiteral("--detach"), QStringLiteral("--layers"), QStringLiteral("4"),
                QStringLiteral("--width"), QStringLiteral("128") });
        QVERIFY2(begun.exitCode == 0, qPrintable(begun.text + begun.errors));
        QVERIFY2(!tells(begun.text.toUtf8() + begun.errors.toUtf8()), qPrintable(begun.text + begun.errors));

        QTRY_VERIFY_WITH_TIMEOUT(RunDriver::workerPid(run, 0) > 0 && RunDriver::workerPid(run, 1) > 0, 60'000);
        const qint64 supervisor = RunDriver::supervisorPid(run);
        QVERIFY(tells(
            processFacts::environment(supervisor))); // the plant is real: it starts the feeder, which asks the hub
        QVERIFY(!tells(processFacts::commandLine(supervisor)));
        int trainers = 0;
        for (const qint64 child : processFacts::childrenOf(supervisor)) {
            const QByteArray line = processFacts::commandLine(child);
            QVERIFY2(!tells(line), line.constData());
            if (!line.contains("furrow-worker"))
                continue;
            const QByteArray environment = processFacts::environment(child);
            QVERIFY2(!tells(environment), "a trainer has a secret in its environment");
            trainers += environment.isEmpty() ? 0 : 1;
        }
        QVERIFY(trainers > 0);
        QVERIFY(RunDriver::waitForChunks(run, 10));
        QVERIFY(RunDriver::killHard(RunDriver::workerPid(run, 1))); // its end is told in several places
        QVERIFY(RunDriver::waitForState(run, { QStringLiteral("finished") }));

        const QString bundle = folder_.filePath(QStringLiteral("bundle.tar.gz"));
        for (const QStringList& command : { QStringList { QStringLiteral("status"), run },
                 { QStringLiteral("status"), run, QStringLiteral("--json") }, { QStringLiteral("audit"), run },
                 { QStringLiteral("audit"), run, QStringLiteral("--json") },
                 { QStringLiteral("audit"), run, QStringLiteral("--html") }, { QStringLiteral("doctor"), run },
                 { QStringLiteral("bundle"), run, QStringLiteral("--out"), bundle },
                 { QStringLiteral("export"), run, QStringLiteral("--format"), QStringLiteral("csv"),
                     QStringLiteral("--out"), folder_.filePath(QStringLiteral("csv")) },
                 { QStringLiteral("brain"), QStringLiteral("show"), run },
                 { QStringLiteral("sample"), run, QStringLiteral("--tokens"), QStringLiteral("5") } }) {
            const QByteArray text = said(command);
            QVERIFY2(!tells(text), (command.join(QLatin1Char(' ')).toUtf8() + ": " + text).constData());
        }
        QVERIFY(QFile::exists(bundle));
        QProcess tar;
        tar.start(QStringLiteral("tar"), { QStringLiteral("-xzOf"), bundle });
        QVERIFY(tar.waitForFinished());
        const QByteArray unpacked = tar.readAllStandardOutput();
        QVERIFY(unpacked.contains("Furrow"));
        QVERIFY(!tells(unpacked));
        const QString telling
            = tellingFile(folder_.path()); // run.json, tracker, telemetry, logs, checkpoints, report, exports
        QVERIFY2(telling.isEmpty(), qPrintable(telling));
    }

    /// Who trained a file of this disk handed every key of the person on, to two processes that live for days.
    void aRunOfALocalFileGotTheKeysOfThePerson()
    {
        const QString run = folder_.filePath(QStringLiteral("local"));
        const auto text = RunDriver::writeText(folder_.path(), 1200);
        const auto begun = RunDriver::ctl(runOn(text, "local")
            + QStringList { QStringLiteral("--detach"), QStringLiteral("--layers"), QStringLiteral("4"),
                QStringLiteral("--width"), QStringLiteral("128") });
        QVERIFY2(begun.exitCode == 0, qPrintable(begun.text + begun.errors));
        const qint64 supervisor = RunDriver::supervisorPid(run);
        QTRY_VERIFY_WITH_TIMEOUT(RunDriver::workerPid(run, 0) > 0, 60'000);
        QVERIFY(!processFacts::environment(supervisor).isEmpty());
        for (const qint64 pid : processFacts::childrenOf(supervisor) + QList<qint64> { supervisor })
            QVERIFY2(!tells(processFacts::environment(pid)), processFacts::commandLine(pid).constData());
        QCOMPARE(RunDriver::ctl({ QStringLiteral("kill"), run, QStringLiteral("--wait") }).exitCode, 0);
    }

    void noErrorTellsASecret_data()
    {
        QTest::addColumn<QString>("data");
        QTest::addColumn<bool>("away");
        QTest::newRow("gated") << "hf://o/gated" << false;
        QTest::newRow("not there") << "hf://o/none" << false;
        QTest::newRow("no such revision") << "hf://o/n@v9" << false;
        QTest::newRow("hub away") << "hf://o/n" << true;
        QTest::newRow("an address with a password") << "https://dana:DataGeheim6@127.0.0.1/x.jsonl" << false;
        QTest::newRow("a password behind one slash") << "wss:/dana:DataGeheim6@host/x.jsonl" << false;
        QTest::newRow("a password behind none") << "HTTPS:dana:DataGeheim6@host" << false;
        QTest::newRow("the same as hub") << "hf://dana:DataGeheim6@o/n" << false;
        QTest::newRow("a key in the address") << "https://127.0.0.1:1/x.jsonl?key=DataGeheim6" << false;
        QTest::newRow("a fragment") << "https://127.0.0.1:1/x.jsonl#access_token=DataGeheim6" << false;
        QTest::newRow("a parameter of the path") << "https://127.0.0.1:1/x.jsonl;jsessionid=DataGeheim6" << false;
    }
    void noErrorTellsASecret()
    {
        QFETCH(QString, data);
        QFETCH(bool, away);
        if (away)
            setEndpoint(QStringLiteral("http://127.0.0.1:1"));
        const char* name = away ? "away" : "refused";
        for (const QStringList& more : { QStringList {}, { QStringLiteral("--json") } }) {
            const auto out = RunDriver::ctl(runOn(data, name) + more);
            QVERIFY(out.exitCode != 0);
            QVERIFY2(!tells(out.text.toUtf8() + out.errors.toUtf8()), qPrintable(out.text + out.errors));
            QVERIFY2((out.text + out.errors).size() > 30, "an error says what is wrong");
        }
        const QStringList looks[] = { { QStringLiteral("data"), QStringLiteral("probe"), data },
            { QStringLiteral("tokenizer"), QStringLiteral("train"), QStringLiteral("--data"), data,
                QStringLiteral("--out"), folder_.filePath(QStringLiteral("none.json")) } };
        for (const QStringList& look : looks)
            if (!away) { // a probe printed an address with its password, and read from it
                const auto out = RunDriver::ctl(look);
                QVERIFY(out.exitCode != 0);
                QVERIFY2(!tells(out.text.toUtf8() + out.errors.toUtf8()), qPrintable(out.text + out.errors));
            }
        const QString telling = tellingFile(folder_.path());
        QVERIFY2(telling.isEmpty(), qPrintable(telling));
        setEndpoint(QString::fromStdString(hub_.endpoint()));
    }

    /// A name, a prompt and the list of what is left out went into run.json as they were.
    void whatIsKeptInARunHoldsNoSecret_data()
    {
        QTest::addColumn<QStringList>("more");
        const QString list = private_.filePath(QStringLiteral("list.txt"));
        QFile file(list);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write("pattern https://erik:ListGeheim7@host/x\n");
        QTest::newRow("a list of what is left out") << QStringList { QStringLiteral("--exclude"), list };
        const QString tokens = private_.filePath(QStringLiteral("tokens.txt"));
        QFile tokenFile(tokens);
        QVERIFY(tokenFile.open(QIODevice::WriteOnly));
        tokenFile.write("pattern (X|hf_ListGeheim7AbCdEfGhIjKlMnOp\n");
        QTest::newRow("a broken list with a token") << QStringList { QStringLiteral("--exclude"), tokens };
        QTest::newRow("a prompt with a password")
            << QStringList { QStringLiteral("--sample-prompt"), QStringLiteral("password=ListGeheim7 hi") };
        QTest::newRow("a prompt") << QStringList { QStringLiteral("--sample-prompt"),
            QStringLiteral("see https://erik:ListGeheim7@host/x") };
        QTest::newRow("a name") << QStringList { QStringLiteral("--name"), QStringLiteral("sk-ListGeheim7AbCdEfGhIj") };
    }
    void whatIsKeptInARunHoldsNoSecret()
    {
        QFETCH(QStringList, more);
        const QString data = private_.filePath(QStringLiteral("plain.txt"));
        QFile file(data);
        QVERIFY(file.open(QIODevice::WriteOnly));
        for (int i = 0; i < 2'000; ++i)
            file.write("line " + QByteArray::number(i) + " of a text\n");
        file.close();
        const auto out = RunDriver::ctl(runOn(data, "kept") + more);
        QVERIFY(out.exitCode != 0);
        QVERIFY2(!(out.text + out.errors).contains(QStringLiteral("ListGeheim7")), qPrintable(out.text + out.errors));
        QVERIFY2(out.errors.contains(QStringLiteral("would be kept in the run")), qPrintable(out.errors));
        QVERIFY(!QFile::exists(folder_.filePath(QStringLiteral("kept"))));
    }

    /// `--name` refused the same word; the folder stood in every status and bundle, the settings in the tracker.
    void aTokenGotInByTheFolderAndBySupervise()
    {
        const QString token = QStringLiteral("hf_NameGeheim8AbCdEfGhIjKlMnOp");
        const auto text = RunDriver::writeText(private_.path(), 400);
        const auto named = RunDriver::ctl(runOn(text, qPrintable(QStringLiteral("r-") + token)));
        QCOMPARE(named.exitCode, 2);
        QVERIFY2(named.errors.contains(QStringLiteral("Name another folder")), qPrintable(named.errors));
        QVERIFY(!QFile::exists(folder_.filePath(QStringLiteral("r-") + token)));

        auto make = runOn(text, "supervised");
        make.front() = QStringLiteral("new");
        QCOMPARE(RunDriver::ctl(make).exitCode, 0);
        const QString run = folder_.filePath(QStringLiteral("supervised"));
        for (const char* key : { "sample_prompt=", "name=" }) {
            const auto out = RunDriver::ctl(
                { QStringLiteral("supervise"), run, QStringLiteral("--set"), QLatin1String(key) + token });
            QCOMPARE(out.exitCode, 2);
            QVERIFY2(!tells(out.text.toUtf8() + out.errors.toUtf8()), qPrintable(out.text + out.errors));
        }
        const QString telling = tellingFile(run);
        QVERIFY2(telling.isEmpty(), qPrintable(telling));
    }
};

QTEST_GUILESS_MAIN(TestSecrets)
#include "tst_secrets.moc"
