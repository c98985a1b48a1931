#include "core/tracker/ledger_reader.h"
#include "tests/e2e/run_driver.h"

#include <QDir>
#include <QDirIterator>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <filesystem>

/// What a dry run, doctor and a repair say of a run is what a resume then meets.
class TestResumeSaid : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        QVERIFY(folder_.isValid());
        const auto text = RunDriver::writeText(folder_.path(), 300);
        const QStringList train { QStringLiteral("run"), QStringLiteral("--out"), path("trained"),
            QStringLiteral("--data"), text, QStringLiteral("--json"), QStringLiteral("--devices"),
            QStringLiteral("cpu:1"), QStringLiteral("--steps"), QStringLiteral("4") };
        QCOMPARE(RunDriver::ctl(train + RunDriver::tinyModel()).exitCode, 0);
    }

    void aDryRunPromisedAResumeWithoutItsHeldOutText_data()
    {
        QTest::addColumn<QString>("harm");
        QTest::newRow("damaged") << QStringLiteral("damaged");
        QTest::newRow("gone") << QStringLiteral("gone");
    }
    void aDryRunPromisedAResumeWithoutItsHeldOutText() // it was refused after five restarts, with an epoch opened
    {
        QFETCH(QString, harm);
        const QString run = copy();
        QVERIFY(QFile::remove(run + QStringLiteral("/heldout.bin")));
        if (harm == QStringLiteral("damaged"))
            write(run + QStringLiteral("/heldout.bin"), QByteArray(1000, 'x'));
        const auto dry = resume(run, { QStringLiteral("--dry-run") });
        QVERIFY2(dry.exitCode != 0 && (dry.text + dry.errors).contains(QStringLiteral("heldout.bin")),
            qPrintable(dry.text + dry.errors));
        const auto before = RunDriver::status(run)[QStringLiteral("attempt")].toInt();
        const auto real = resume(run, {});
        QVERIFY2(real.exitCode != 0 && (real.text + real.errors).contains(QStringLiteral("heldout.bin")),
            qPrintable(real.text + real.errors));
        QCOMPARE(RunDriver::status(run)[QStringLiteral("attempt")].toInt(), before);
    }

    /// More steps change the schedule: the dry run says how the rate goes on, and an event of the resume says the same.
    void aResumeDidNotSayHowTheRateGoesOn()
    {
        const QString run = copy();
        const auto dry = resume(run, { QStringLiteral("--dry-run"), QStringLiteral("--json") });
        QVERIFY2(dry.exitCode == 0, qPrintable(dry.text + dry.errors));
        const auto rate = dry.json[QStringLiteral("rate")];
        QVERIFY(rate[QStringLiteral("changed")].toBool());
        const QString promised = rate[QStringLiteral("text")].toString();
        QVERIFY2(promised.contains(QStringLiteral("(rate plan smooth)")), qPrintable(promised));
        QCOMPARE(eventsThatSay(run, QStringLiteral("learning rate")), QStringList());
        const auto real = resume(run, {});
        QVERIFY2(real.exitCode == 0, qPrintable(real.text + real.errors));
        QCOMPARE(eventsThatSay(run, QStringLiteral("learning rate")), QStringList(promised));
    }

    /// "Nothing was changed", and the keep policy of the refused attempt had removed what a person might have gone back
    /// to.
    void aRefusedResumeRemovedOlderCheckpoints()
    {
        const QString run = path("kept");
        const QStringList train { QStringLiteral("run"), QStringLiteral("--out"), run, QStringLiteral("--data"),
            RunDriver::writeText(folder_.path(), 300), QStringLiteral("--devices"), QStringLiteral("cpu:1"),
            QStringLiteral("--steps"), QStringLiteral("400") };
        QCOMPARE(
            RunDriver::ctl(train + RunDriver::tinyModel()
                + QStringList { QStringLiteral("--checkpoint-steps"), QStringLiteral("4"), QStringLiteral("--epochs"),
                    QStringLiteral("9"), QStringLiteral("--keep-last"), QStringLiteral("50") })
                .exitCode,
            0);
        const auto folders = [&run] {
            return QDir(run + QStringLiteral("/checkpoints"))
                .entryList({ QStringLiteral("r0-*") }, QDir::Dirs | QDir::NoDotAndDotDot, QDir::Time);
        };
        const QStringList before = folders();
        QVERIFY2(before.size() >= 6, qPrintable(before.join(QLatin1Char(' '))));
        QFile weights(run + QStringLiteral("/checkpoints/%1/weights.safetensors").arg(before.first()));
        QVERIFY(weights.open(QIODevice::ReadWrite) && weights.resize(weights.size() / 2)); // of the newest
        weights.close();
        const auto refused = RunDriver::ctl({ QStringLiteral("resume"), run, QStringLiteral("--steps"),
            QStringLiteral("500"), QStringLiteral("--keep-last"), QStringLiteral("2") });
        QVERIFY(refused.exitCode != 0);
        QVERIFY2((refused.text + refused.errors).contains(QStringLiteral("Nothing was changed")),
            qPrintable(refused.text + refused.errors));
        QStringList after = folders();
        after.sort();
        QStringList expected = before;
        expected.sort();
        QCOMPARE(after, expected);
    }

    void aDryRunPromisedAResumeOnADeviceThatIsNone()
    {
        const QString run = copy();
        const QStringList device { QStringLiteral("--devices"), QStringLiteral("cpu:0") };
        const auto dry = resume(run, device + QStringList { QStringLiteral("--dry-run") });
        const auto real = resume(run, device);
        QCOMPARE(dry.exitCode, real.exitCode);
        QVERIFY(dry.exitCode != 0);
        QCOMPARE(dry.errors, real.errors);
    }

    void aDryRunOfARunningRunPromisedAResume()
    {
        const QString run = copy();
        const auto started = RunDriver::ctl({ QStringLiteral("resume"), run, QStringLiteral("--steps"),
            QStringLiteral("0"), QStringLiteral("--epochs"), QStringLiteral("1000"), QStringLiteral("--detach") });
        QVERIFY2(started.exitCode == 0, qPrintable(started.errors));
        const auto dry = RunDriver::ctl({ QStringLiteral("resume"), run, QStringLiteral("--dry-run") });
        QCOMPARE(RunDriver::ctl({ QStringLiteral("kill"), run }).exitCode, 0);
        QVERIFY2(dry.exitCode != 0 && (dry.text + dry.errors).contains(QStringLiteral("already running")),
            qPrintable(dry.text + dry.errors));
    }

    void aFolderInThePlaceOfABlockPoisonedItsChunks()
    {
        const QString run = copy();
        const auto blocks
            = QDir(run + QStringLiteral("/cache/blocks")).entryInfoList({ QStringLiteral("*.block") }, QDir::Files);
        QVERIFY(!blocks.isEmpty());
        for (const auto& block : blocks) {
            QVERIFY(QFile::remove(block.filePath()));
            QVERIFY(QDir().mkdir(block.filePath()));
        }
        QVERIFY(RunDriver::ctl({ QStringLiteral("doctor"), run }).exitCode != 0);
        const auto real = resume(run, {});
        QVERIFY2(real.exitCode == 0, qPrintable(real.text + real.errors));
        QCOMPARE(RunDriver::auditedEpoch(run)[QStringLiteral("poisoned")].toInt(), 0);
    }

    void aRepairCalledARunWholeWhoseWeightsAreDamaged()
    {
        const QString run = copy();
        QDirIterator weights(run + QStringLiteral("/checkpoints"), { QStringLiteral("weights.safetensors") },
            QDir::Files, QDirIterator::Subdirectories);
        while (weights.hasNext()) {
            QFile file(weights.next());
            QVERIFY(file.open(QIODevice::ReadWrite) && file.seek(file.size() - 10) && file.write("furrow") == 6);
        }
        const auto repaired = RunDriver::ctl({ QStringLiteral("doctor"), run, QStringLiteral("--repair") });
        QVERIFY2(repaired.exitCode != 0 && repaired.text.contains(QStringLiteral("Still wrong"))
                && repaired.text.contains(QStringLiteral("weights.safetensors")),
            qPrintable(repaired.text + repaired.errors));
    }

    void aBrokenRunFileWasSentToARepairThatRefusesIt()
    {
        const QString run = copy();
        write(run + QStringLiteral("/run.json"), QByteArray("{\"a\":").repeated(300));
        const auto said = RunDriver::ctl({ QStringLiteral("doctor"), run });
        QVERIFY2(said.exitCode != 0 && (said.text + said.errors).contains(QStringLiteral("run.json")),
            qPrintable(said.text + said.errors));
        QVERIFY2(!(said.text + said.errors).contains(QStringLiteral("--repair")), qPrintable(said.text + said.errors));
    }

private:
    QString path(const char* name) const { return folder_.filePath(QString::fromLatin1(name)); }

    static void write(const QString& path, const QByteArray& bytes)
    {
        QFile file(path);
        QVERIFY(file.open(QIODevice::WriteOnly) && file.write(bytes) == bytes.size());
    }

    static RunDriver::Output resume(const QString& run, const QStringList& options)
    {
        return RunDriver::ctl(
            QStringList { QStringLiteral("resume"), run, QStringLiteral("--steps"), QStringLiteral("8") } + options);
    }

    static QStringList eventsThatSay(const QString& run, const QString& part)
    {
        QStringList found;
        auto reader = furrow::LedgerReader::open((run + QStringLiteral("/tracker.sqlite")).toStdString());
        const auto events = reader.ok() ? reader.value().eventsSince(0, 100'000) : reader.error();
        if (!events.ok())
            return { QString::fromStdString(events.error().message) };
        for (const auto& event : events.value())
            if (const auto text = QString::fromStdString(event.cause.text()); text.contains(part))
                found.append(text);
        return found;
    }

    /// Of the trained run.
    QString copy()
    {
        const QString to = folder_.filePath(QStringLiteral("copy-%1").arg(++copies_));
        std::filesystem::copy(
            path("trained").toStdString(), to.toStdString(), std::filesystem::copy_options::recursive);
        return to;
    }

    QTemporaryDir folder_;
    int copies_ = 0;
};

QTEST_GUILESS_MAIN(TestResumeSaid)
#include "tst_resume_said.moc"
