#include "tests/e2e/run_driver.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QtTest>

/// Slips of the keyboard on the command line: the answer says what was probably meant.
class TestSlips : public QObject {
    Q_OBJECT

    QTemporaryDir folder_;

    static RunDriver::Output typed(const QString& line)
    {
        return RunDriver::ctl(line.split(QLatin1Char(' '), Qt::SkipEmptyParts));
    }

private Q_SLOTS:
    void initTestCase()
    {
        QVERIFY(folder_.isValid() && QDir::setCurrent(folder_.path()));
        QVERIFY(QDir(folder_.path()).mkpath(QStringLiteral("workspace/br")));
        for (const char* name : { "corpus.jsonl", "workspace/br/run.json" })
            QVERIFY(QFile(QString::fromLatin1(name)).open(QIODevice::WriteOnly));
        qputenv("FURROW_WORKSPACE", (folder_.path() + QStringLiteral("/workspace")).toUtf8());
    }

    /// "The following arguments were not expected: x --dta", and nothing else.
    void aSlipHadNoAdvice_data()
    {
        QTest::addColumn<QString>("line");
        QTest::addColumn<QString>("said");
        const auto row = [](const char* line, const char* said) {
            QTest::newRow(line) << QString::fromLatin1(line) << QString::fromLatin1(said);
        };
        row("run corpus.jsonl",
            "'corpus.jsonl' stands alone. Data is named by an option: furrowctl run --data corpus.jsonl");
        row("run gone/corpus.jsonl more/*.txt", "furrowctl run --data gone/corpus.jsonl more/*.txt");
        row("run --dta corpus.jsonl", "furrowctl run has no option --dta. Did you mean --data?");
        row("run --epoch 3", "furrowctl run has no option --epoch. Did you mean --epochs?");
        row("run --epoch=3", "furrowctl run has no option --epoch. Did you mean --epochs?");
        row("run --device cpu", "furrowctl run has no option --device. Did you mean --devices?");
        row("run --batch_size 4 --workrs 2",
            "furrowctl run has no option --batch_size. Did you mean --batch-size? furrowctl run has no option --workrs. Did you mean --workers?");
        row("run --completely-unknown 1",
            "furrowctl run has no option --completely-unknown. `furrowctl run --help` lists what it takes.");
        row("resume br --layers 2",
            "furrowctl resume has no option --layers. It is set when a run is made, and holds for all of it.");
        row("status br second third", "furrowctl status does not take 'second', 'third'. `furrowctl status --help`");
        row("status", "furrowctl status needs run: Folder of the run. `furrowctl list` shows the runs.");
        row("inspect", "furrowctl inspect needs run: Folder of the run.");
        row("stauts br", "'stauts' is no command of furrowctl. Did you mean status?");
        row("queue ad br", "'ad' is no command of furrowctl queue. Did you mean add?");
        row("cache trim --gib nan", "--gib: 'nan' is not a number from 0 to 1e+06."); // freed 0 B
        row("bench train --seconds nan", "--seconds: 'nan' is not a number from 0.1 to 3600."); // ended before a step
        row("bench train --batch-size 1.5", "--batch-size: '1.5' is not a whole number, 1 or more.");
        row("queue move x 1", "entry: 'x' is not a whole number, 1 or more.");
        row("qqqqq", "'qqqqq' is no command of furrowctl. `furrowctl --help` lists them.");
    }
    void aSlipHadNoAdvice()
    {
        QFETCH(QString, line);
        QFETCH(QString, said);
        const auto out = typed(line);
        QCOMPARE(out.exitCode, 2);
        QVERIFY2(out.errors.contains(said), qPrintable(out.errors));
        QVERIFY(out.text.isEmpty());
    }

    void aSlipIsAnErrorInJsonWhereThatIsAskedFor()
    {
        const auto out = typed(QStringLiteral("status br second --json"));
        QCOMPARE(out.exitCode, 2);
        QVERIFY2(out.json[QStringLiteral("error")].toString().contains(QStringLiteral("'second'")),
            qPrintable(out.text + out.errors));
    }

    /// "URL using bad/illegal format" came after four tries and 40 seconds.
    void anAddressThatIsNoneWasTriedFourTimes()
    {
        const auto out = typed(QStringLiteral("new --data https:// --out web"));
        QVERIFY(out.exitCode != 0);
        QVERIFY2(out.errors.contains(QStringLiteral("is not an address that data can be read from")),
            qPrintable(out.errors));
        QVERIFY2(!out.errors.contains(QStringLiteral("Trying again")), qPrintable(out.errors));
    }

    /// "0 files, 0 B", and to verify and to trim made the folder.
    void theCacheOfAFolderThatIsNotThereWasEmpty()
    {
        for (const char* action : { "list", "verify", "trim" }) {
            const auto out = typed(QStringLiteral("cache %1 --workspace gone").arg(QLatin1String(action)));
            QCOMPARE(out.exitCode, 1);
            QVERIFY2(out.errors.contains(QStringLiteral("The folder gone is not there.")), qPrintable(out.errors));
            QVERIFY(!QFile::exists(QStringLiteral("gone")));
        }
    }

    void tokenizeDidNotNameItsTokenizer()
    {
        const auto out = typed(QStringLiteral("tokenize corpus.jsonl"));
        QVERIFY2(
            out.text.contains(QStringLiteral("tokenizer gpt2, vocabulary 50,257")), qPrintable(out.text + out.errors));
    }

    /// `queue add fresh nosuch` ended with an error, and fresh was queued and started.
    void aQueueTookTheFirstOfTwoRunsAndFailedAtTheSecond()
    {
        const auto made = RunDriver::ctl(
            QStringList { QStringLiteral("new"), QStringLiteral("--data"), RunDriver::writeText(folder_.path(), 300),
                QStringLiteral("--out"), QStringLiteral("fresh") }
            + RunDriver::tinyModel());
        QVERIFY2(made.exitCode == 0, qPrintable(made.errors));
        const auto queued = typed(QStringLiteral("queue add fresh nosuch"));
        QVERIFY(queued.exitCode != 0);
        QVERIFY2(queued.errors.contains(QStringLiteral("nosuch")), qPrintable(queued.errors));
        const auto list = typed(QStringLiteral("queue list"));
        QCOMPARE(list.exitCode, 0);
        QVERIFY2(!list.text.contains(QStringLiteral("fresh")), qPrintable(list.text));
    }

    /// `list` shows …/workspace/br, and `status br` said that the folder was moved or deleted, or its disk away.
    void theNameOfARunOfTheWorkspaceWasSoughtInTheCurrentFolderOnly()
    {
        const QString said
            = QStringLiteral("There is no br in the current folder. The run of that name is %1/workspace/br.")
                  .arg(folder_.path());
        for (const char* line : { "status br", "stop br", "inspect br 0:0", "compare br br", "brain show br" }) {
            const auto out = typed(QString::fromLatin1(line));
            QCOMPARE(out.exitCode, 1);
            QVERIFY2(out.errors.contains(said), qPrintable(out.errors));
        }
        const auto elsewhere = typed(QStringLiteral("status another"));
        QVERIFY2(!elsewhere.errors.contains(QStringLiteral("current folder")), qPrintable(elsewhere.errors));
        QVERIFY(QDir().mkdir(QStringLiteral("br"))); // what is here is meant
        const auto here = typed(QStringLiteral("status br"));
        QVERIFY2(here.errors.contains(QStringLiteral("br is not a run")), qPrintable(here.errors));
        QVERIFY(QDir().rmdir(QStringLiteral("br")));
    }
};

QTEST_GUILESS_MAIN(TestSlips)
#include "tst_slips.moc"
