// A lineage over several runs with the real programs: start from a checkpoint, skip or repeat what it has seen.

#include "tests/e2e/run_driver.h"

#include <QDir>
#include <QJsonArray>
#include <QTemporaryDir>
#include <QTest>

class TestBrain : public QObject {
    Q_OBJECT

    static constexpr int kChunks = 120;
    QTemporaryDir folder_;
    QString text_;
    QString parent_; ///< a run that was stopped in the middle of its epoch

    QString runFolder(const char* name) const
    {
        return folder_.filePath(QStringLiteral("workspace/runs/") + QLatin1String(name));
    }

    RunDriver::Output run(const QString& folder, const QStringList& more = {}) const
    {
        return RunDriver::ctl(QStringList { QStringLiteral("run"), QStringLiteral("--workers"), QStringLiteral("1"),
                                  QStringLiteral("--data"), text_, QStringLiteral("--out"), folder,
                                  QStringLiteral("--devices"), QStringLiteral("cpu") }
            + RunDriver::tinyModel() + more);
    }

    static QString checkpointOf(const QString& run)
    {
        const QDir checkpoints(run + QStringLiteral("/checkpoints"));
        return checkpoints.filePath(checkpoints.entryList({ QStringLiteral("r0-*") }, QDir::Dirs, QDir::Time).value(0));
    }

    QStringList from(const QString& run, const char* choice) const
    {
        return { QStringLiteral("--init-from"), checkpointOf(run), QStringLiteral("--parent-chunks"),
            QLatin1String(choice) };
    }

    /// What the parent run trained was left out by name for every view but the audit.
    void checkSplit(const QString& child, int ofParent) const
    {
        const QString named = QStringLiteral("excluded");
        const QString parents = QStringLiteral("trained_by_parent");
        const auto json = [](const QStringList& arguments) {
            return RunDriver::ctl(arguments + QStringList { QStringLiteral("--json") }).json;
        };
        const auto status = json({ QStringLiteral("status"), child });
        QCOMPARE(status[QStringLiteral("chunks")][named].toInt(-1), 0);
        QCOMPARE(status[QStringLiteral("chunks")][parents].toInt(), ofParent);
        QCOMPARE(status[QStringLiteral("rows")][named].toInt(-1), 0);
        QVERIFY(status[QStringLiteral("rows")][parents].toInt() > 0);
        const QString text = RunDriver::ctl({ QStringLiteral("status"), child }).text;
        QVERIFY2(text.contains(QStringLiteral(" committed, %1 trained by the parent run\n").arg(ofParent))
                && !text.contains(QStringLiteral("rows that are not trained")),
            qPrintable(text));
        const auto plan = json({ QStringLiteral("resume"), child, QStringLiteral("--dry-run") });
        QCOMPARE(plan[named].toInt(-1), 0);
        QCOMPARE(plan[parents].toInt(), ofParent);
        const auto compared = json({ QStringLiteral("compare"), parent_, child });
        QCOMPARE(compared[QStringLiteral("runs")][1][QStringLiteral("chunks_left_out")].toInt(-1), 0);
        QCOMPARE(compared[QStringLiteral("runs")][1][QStringLiteral("chunks_trained_by_parent")].toInt(), ofParent);
        for (int block = 0, found = 0; found == 0; ++block) {
            const auto chunk = json({ QStringLiteral("inspect"), child, QStringLiteral("%1:0").arg(block) });
            QVERIFY2(!chunk[QStringLiteral("state")].toString().isEmpty(), "no chunk is the parent's");
            if (chunk[QStringLiteral("state")].toString() != named)
                continue;
            ++found;
            QCOMPARE(chunk[named].toInt(-1), 0);
            QVERIFY(chunk[parents].toInt() > 0);
        }
    }

private Q_SLOTS:
    void initTestCase()
    {
        text_ = RunDriver::writeText(folder_.path(), 1200);
        parent_ = runFolder("parent");
        const auto out = run(parent_, { QStringLiteral("--steps"), QStringLiteral("150") });
        QVERIFY2(out.exitCode == 0, qPrintable(out.text + out.errors));
        const int trained = RunDriver::auditedEpoch(parent_)[QStringLiteral("committed")].toInt();
        QVERIFY(trained > 0 && trained < kChunks);
    }

    void skippingTrainsExactlyWhatTheParentHadLeft()
    {
        const int before = RunDriver::auditedEpoch(parent_)[QStringLiteral("committed")].toInt();
        const QString child = runFolder("child");
        const auto out = run(child, from(parent_, "skip"));
        QVERIFY2(out.exitCode == 0, qPrintable(out.text + out.errors));
        const auto epoch = RunDriver::auditedEpoch(child);
        QCOMPARE(epoch[QStringLiteral("trained_by_parent")][QStringLiteral("skipped")].toInt(), before);
        QCOMPARE(epoch[QStringLiteral("committed")].toInt(), kChunks - before);
        QCOMPARE(epoch[QStringLiteral("duplicated")].toInt(-1), 0);
        QVERIFY(epoch[QStringLiteral("complete")].toBool());

        const auto brain
            = RunDriver::ctl({ QStringLiteral("brain"), QStringLiteral("show"), child, QStringLiteral("--json") });
        const auto ancestor = brain.json[QStringLiteral("ancestors")][0];
        QCOMPARE(ancestor[QStringLiteral("run")].toString(), parent_);
        QCOMPARE(ancestor[QStringLiteral("chunks")].toInt(), before);
        QCOMPARE(ancestor[QStringLiteral("choice")].toString(), QStringLiteral("skip"));

        checkSplit(child, before);

        const auto over = run(runFolder("grandchild"), from(child, "skip"));
        QCOMPARE(over.exitCode, 2);
        QVERIFY2(over.errors.contains(QStringLiteral("has just ended a pass")), qPrintable(over.errors));
    }

    void aNewPassTrainsEverythingAndSaysWhatWasThere()
    {
        const QString child = runFolder("again");
        const auto out = run(child, from(parent_, "again"));
        QVERIFY2(out.exitCode == 0, qPrintable(out.text + out.errors));
        const auto epoch = RunDriver::auditedEpoch(child);
        QCOMPARE(epoch[QStringLiteral("committed")].toInt(), kChunks);
        QCOMPARE(epoch[QStringLiteral("trained_by_parent")][QStringLiteral("again")].toInt(),
            RunDriver::auditedEpoch(parent_)[QStringLiteral("committed")].toInt());
    }

    /// Weights that are not those of their checkpoint were trained on, and `brain show` vouched for them.
    void damagedWeightsWereTakenToStartFrom()
    {
        const QString child = runFolder("damaged");
        QFile weights(checkpointOf(parent_) + QStringLiteral("/weights.safetensors"));
        QVERIFY(weights.open(QIODevice::ReadWrite));
        QVERIFY(weights.seek(weights.size() - 100));
        const QByteArray whole = weights.read(50);
        const auto write = [&weights](const QByteArray& bytes) {
            return weights.seek(weights.size() - 100) && weights.write(bytes) == bytes.size() && weights.flush();
        };
        QVERIFY(write(QByteArray(50, '\x3f')));
        for (const char* place : { "in the run", "copied" }) {
            const QString copy = folder_.filePath(QStringLiteral("copy"));
            const bool isCopy = place == std::string_view("copied");
            if (isCopy) {
                QVERIFY(QDir().mkpath(copy));
                for (const auto& name : QDir(checkpointOf(parent_)).entryList(QDir::Files))
                    QVERIFY(
                        QFile::copy(checkpointOf(parent_) + QLatin1Char('/') + name, copy + QLatin1Char('/') + name));
            }
            const auto out = run(child, { QStringLiteral("--init-from"), isCopy ? copy : checkpointOf(parent_) });
            QVERIFY2(out.exitCode != 0 && out.errors.contains(QStringLiteral("SHA-256 of weights.safetensors differs")),
                qPrintable(QLatin1String(place) + out.errors + out.text));
            QVERIFY(!QDir(child).exists());
        }
        QVERIFY(write(whole));
    }

    /// What lay under the name of init_from when a run was started was trained, whatever it had been when the run was
    /// made; and a run that had checkpoints of its own could not go on without it.
    void weightsToStartFromWereExchangedUnderARunThatWaited()
    {
        const QString from = folder_.filePath(QStringLiteral("from"));
        QVERIFY(QDir().mkpath(from));
        const QString weights = from + QStringLiteral("/weights.safetensors");
        QVERIFY(QFile::copy(checkpointOf(parent_) + QStringLiteral("/weights.safetensors"), weights));
        const QString child = runFolder("waited");
        const auto made
            = RunDriver::ctl(QStringList { QStringLiteral("new"), QStringLiteral("--workers"), QStringLiteral("1"),
                                 QStringLiteral("--data"), text_, QStringLiteral("--out"), child,
                                 QStringLiteral("--devices"), QStringLiteral("cpu"), QStringLiteral("--init-from"),
                                 from, QStringLiteral("--steps"), QStringLiteral("40") }
                + RunDriver::tinyModel());
        QVERIFY2(made.exitCode == 0, qPrintable(made.errors + made.text));
        QFile file(weights);
        QVERIFY(file.open(QIODevice::ReadWrite));
        const QByteArray whole = file.readAll();
        const auto write = [&file](const QByteArray& bytes) {
            return file.seek(file.size() - bytes.size()) && file.write(bytes) == bytes.size() && file.flush();
        };
        QVERIFY(write(QByteArray(50, '\x3f')));
        const auto refused = RunDriver::ctl({ QStringLiteral("resume"), child });
        QVERIFY(refused.exitCode != 0);
        const QString told = RunDriver::ctl({ QStringLiteral("status"), child }).text;
        QVERIFY2(told.contains(QStringLiteral("holds other weights than when the run was made")),
            qPrintable(told + refused.errors + refused.text));
        QVERIFY(write(whole));
        const auto trained = RunDriver::ctl({ QStringLiteral("resume"), child });
        QVERIFY2(trained.exitCode == 0, qPrintable(trained.errors + trained.text));
        QVERIFY(QDir(from).removeRecursively());
        const auto onwards
            = RunDriver::ctl({ QStringLiteral("resume"), child, QStringLiteral("--steps"), QStringLiteral("60") });
        QVERIFY2(onwards.exitCode == 0, qPrintable(onwards.errors + onwards.text));
    }

    void whatCannotBeSkippedIsRefused_data()
    {
        QTest::addColumn<QStringList>("options");
        QTest::addColumn<QString>("sentence");
        QTest::newRow("other chunks") << (from(parent_, "skip")
            << QStringLiteral("--chunk-samples") << QStringLiteral("7"))
                                      << QStringLiteral("chunk_samples");
        QTest::newRow("no parent") << QStringList { QStringLiteral("--parent-chunks"), QStringLiteral("skip") }
                                   << QStringLiteral("--init-from");
        QTest::newRow("not a choice") << from(parent_, "sometimes") << QStringLiteral("allowed is one of again, skip");
        QTest::newRow("no such checkpoint")
            << QStringList { QStringLiteral("--init-from"), parent_ + QStringLiteral("/checkpoints/r0-1-none") }
            << QStringLiteral("there is nothing at");
    }
    void whatCannotBeSkippedIsRefused()
    {
        QFETCH(QStringList, options);
        QFETCH(QString, sentence);
        const QString folder = runFolder("refused");
        const auto out = run(folder, options);
        QVERIFY(out.exitCode != 0);
        QVERIFY2(out.errors.contains(sentence), qPrintable(out.errors));
        QVERIFY(!QDir(folder).exists());
    }
};

QTEST_GUILESS_MAIN(TestBrain)
#include "tst_brain.moc"
