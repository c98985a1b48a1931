// Data that is damaged for good: it is named, the rest is trained, and the run ends with what to do. It used to wait
// for ever. And data that is away: that is waited for, aloud.

#include "tests/e2e/run_driver.h"

#include "core/base/path.h"
#include "core/trials/bench/data_bench.h"
#include "fake_hub.h"
#include "tests/fakes/gzip.h"
#include "tests/must_have.h"

#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QTest>

using furrow::test::FakeHub;

namespace {

constexpr int kRows = 3000;
constexpr int kChunks = kRows / 50;

std::vector<std::string> texts(int rows)
{
    std::vector<std::string> all;
    for (int row = 0; row < rows; ++row) {
        std::string text = "row " + std::to_string(row);
        for (int word = 0; word < 8; ++word)
            text += " " + std::to_string((row * 7919 + word * 104729) % 1000);
        all.push_back(std::move(text));
    }
    return all;
}

std::string lines(int rows)
{
    std::string all;
    for (const auto& text : texts(rows))
        all += text + "\n";
    return all;
}

void write(const QString& path, const std::string& bytes)
{
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    QCOMPARE(file.write(bytes.data(), static_cast<qint64>(bytes.size())), static_cast<qint64>(bytes.size()));
}

/// Bytes in the middle of the file are others, without a change of its size.
void damageMiddle(const QString& path)
{
    QFile file(path);
    QVERIFY(file.open(QIODevice::ReadWrite));
    QVERIFY(file.seek(file.size() / 2));
    QCOMPARE(file.write(QByteArray(600, '\xff')), qint64(600));
}

} // namespace

class TestDamagedData : public QObject {
    Q_OBJECT

    QTemporaryDir folder_;

    QString in(const char* name) const { return folder_.filePath(QLatin1String(name)); }
    /// Small chunks, and nothing is read before the run but what it needs.
    QStringList runOn(const QString& data, const char* name) const
    {
        return QStringList { QStringLiteral("run"), QStringLiteral("--data"), data, QStringLiteral("--out"), in(name),
            QStringLiteral("--devices"), QStringLiteral("cpu:1") }
        + RunDriver::tinyModel()
            + QStringList { QStringLiteral("--chunk-samples"), QStringLiteral("50"),
                  QStringLiteral("--held-out-percent"), QStringLiteral("0") };
    }
    static QByteArray said(const RunDriver::Output& out) { return (out.text + out.errors).toUtf8(); }

private Q_SLOTS:
    void initTestCase() { qputenv("HF_HOME", "/nonexistent"); }

    void aCorruptPageIsNamedAndTheRunEndsAsIncomplete()
    {
        const auto written
            = furrow::writeBenchParquet(furrow::pathFromUtf8(in("page.parquet").toStdString()), texts(kRows));
        SKIP_WITHOUT("parquet", written.ok(), written.error().message.c_str());
        damageMiddle(in("page.parquet"));
        const auto out = RunDriver::ctl(runOn(in("page.parquet"), "page"));
        QCOMPARE(out.exitCode, 1);
        QVERIFY2(out.text.contains(
                     QRegularExpression(QStringLiteral("\nrunning .* chunks cannot be read: [^\n]*page.parquet"))),
            said(out)); // the line of progress, while the rest is trained
        QVERIFY2(
            out.text.contains(QStringLiteral("chunks retry")) && out.text.contains(QStringLiteral("chunks accept")),
            said(out));
        const auto epoch = RunDriver::auditedEpoch(in("page"));
        QCOMPARE(epoch[QStringLiteral("committed")].toInt(), kChunks - 20); // one row group of three
        QCOMPARE(epoch[QStringLiteral("poisoned")].toInt(), 20);
        QCOMPARE(epoch[QStringLiteral("duplicated")].toInt() + epoch[QStringLiteral("missing")].toInt(), 0);
        QVERIFY(!epoch[QStringLiteral("complete")].toBool());
        QCOMPARE(RunDriver::status(in("page"))[QStringLiteral("stop_reason")].toString(), QStringLiteral("incomplete"));
    }

    /// With leave_out too the run ended as incomplete, and tried the page again in each epoch.
    void aCorruptPageWasNotLeftOutThoughThatWasAskedFor()
    {
        const auto written
            = furrow::writeBenchParquet(furrow::pathFromUtf8(in("left.parquet").toStdString()), texts(kRows));
        SKIP_WITHOUT("parquet", written.ok(), written.error().message.c_str());
        damageMiddle(in("left.parquet"));
        const auto out = RunDriver::ctl(runOn(in("left.parquet"), "left")
            + QStringList { QStringLiteral("--bad-files"), QStringLiteral("leave_out"), QStringLiteral("--epochs"),
                QStringLiteral("2") });
        QVERIFY2(out.exitCode == 0, said(out));
        for (int number = 0; number < 2; ++number) {
            const auto epoch = RunDriver::auditedEpoch(in("left"), number);
            QCOMPARE(epoch[QStringLiteral("committed")].toInt(), kChunks); // 20 of them have nothing to train
            QCOMPARE(epoch[QStringLiteral("excluded")].toInt(), 0);
            QVERIFY(epoch[QStringLiteral("complete")].toBool());
        }
        const auto status = RunDriver::ctl({ QStringLiteral("status"), in("left") });
        QVERIFY2(
            status.text.contains(QStringLiteral("left out")) && status.text.contains(QStringLiteral("left.parquet")),
            said(status));
    }

    /// They were "filtered" in a block with other rows and "excluded" in one without, and no list had them. The limit
    /// does not count what a person leaves out.
    void rowsOfACorruptPageWereCountedAsFiltered_data()
    {
        QTest::addColumn<int>("blockRows");
        QTest::newRow("a block with other rows") << 900;
        QTest::newRow("blocks of such rows alone") << 500;
    }
    void rowsOfACorruptPageWereCountedAsFiltered()
    {
        QFETCH(int, blockRows);
        const auto written
            = furrow::writeBenchParquet(furrow::pathFromUtf8(in("counted.parquet").toStdString()), texts(kRows));
        SKIP_WITHOUT("parquet", written.ok(), written.error().message.c_str());
        damageMiddle(in("counted.parquet"));
        const QByteArray name = "counted-" + QByteArray::number(blockRows);
        const auto out = RunDriver::ctl(runOn(in("counted.parquet"), name.constData())
            + QStringList { QStringLiteral("--bad-files"), QStringLiteral("leave_out"),
                QStringLiteral("--max-unreadable-percent"), QStringLiteral("1"), QStringLiteral("--samples-per-block"),
                QString::number(blockRows) });
        QVERIFY2(out.exitCode == 0, said(out));
        const QString run = in(name.constData());
        const auto samples = RunDriver::auditedEpoch(run)[QStringLiteral("samples")].toObject();
        QCOMPARE(samples[QStringLiteral("failed")].toInt(), 1000); // one row group of three
        QCOMPARE(samples[QStringLiteral("filtered")].toInt(), 0);
        QCOMPARE(samples[QStringLiteral("trained")].toInt(), kRows - 1000);
        const auto listed = RunDriver::ctl(
            { QStringLiteral("inspect"), run, QStringLiteral("--unreadable"), QStringLiteral("--json") });
        QVERIFY2(listed.exitCode == 0, said(listed));
        QCOMPARE(listed.json[QStringLiteral("known")].toInt(), 1000);
        QCOMPARE(listed.json[QStringLiteral("not_listed")].toInt(-1), 0);
        const auto first = listed.json[QStringLiteral("unreadable")].toArray().at(0).toObject();
        QCOMPARE(first[QStringLiteral("row")].toInt(), 1000);
        QCOMPARE(first[QStringLiteral("rows")].toInt(), 50); // those of a chunk
        QVERIFY2(first[QStringLiteral("why")].toString().contains(QStringLiteral("counted.parquet")), said(listed));
        const auto deep = RunDriver::ctl({ QStringLiteral("audit"), run, QStringLiteral("--deep") });
        QVERIFY2(deep.exitCode == 0, said(deep));
    }

    /// The rows of the other files of its block are trained, and so are the other row groups of its own. The damaged
    /// rows lie between a part that is looked at before the run and a block of its own.
    void aCorruptFileIsLeftOutWithoutItsNeighbours()
    {
        QDir().mkpath(in("three"));
        for (const char* name : { "three/a.parquet", "three/b.parquet", "three/c.parquet" }) {
            const auto written = furrow::writeBenchParquet(furrow::pathFromUtf8(in(name).toStdString()), texts(kRows));
            SKIP_WITHOUT("parquet", written.ok(), written.error().message.c_str());
        }
        damageMiddle(in("three/b.parquet"));
        const auto out = RunDriver::ctl(runOn(in("three"), "without")
            + QStringList { QStringLiteral("--bad-files"), QStringLiteral("leave_out"),
                QStringLiteral("--samples-per-block"), QStringLiteral("2500") });
        QVERIFY2(out.exitCode == 0, said(out));
        const auto samples = RunDriver::auditedEpoch(in("without"))[QStringLiteral("samples")].toObject();
        QVERIFY2(samples[QStringLiteral("trained")].toInt() == 3 * kRows - 1000, // the middle row group of b
            QJsonDocument(samples).toJson().constData());
    }

    void aCutGzipOfTheHubIsNamedAndTheRunEndsAsIncomplete()
    {
        FakeHub hub;
        FakeHub::Repository repository;
        repository.files["train-0.txt"] = lines(kRows / 3);
        const std::string whole = furrow::test::gzip(lines(30 * kRows)); // more than is looked at before the run
        repository.files["train-1.txt.gz"] = whole.substr(0, whole.size() / 2);
        hub.add("o/n", repository);
        qputenv("HF_ENDPOINT", QByteArray::fromStdString(hub.endpoint()));
        const auto out = RunDriver::ctl(runOn(QStringLiteral("hf://o/n"), "gzip"));
        qunsetenv("HF_ENDPOINT");
        QCOMPARE(out.exitCode, 1);
        QVERIFY2(said(out).contains("train-1.txt.gz ends in the middle"), said(out));
        QVERIFY2(out.text.contains(QStringLiteral("write it again")), said(out));
        const auto epoch = RunDriver::auditedEpoch(in("gzip"));
        QCOMPARE(epoch[QStringLiteral("committed")].toInt(), kChunks / 3); // the other file
        QCOMPARE(epoch[QStringLiteral("duplicated")].toInt() + epoch[QStringLiteral("missing")].toInt(), 0);
        QVERIFY(!epoch[QStringLiteral("complete")].toBool());
    }

    /// Planning stopped at damage: what stood behind it in its source was trained by nobody, and the advice was to mend
    /// the file, which a resume refuses as another one.
    void filesBehindTheDamageWereNotTrained()
    {
        FakeHub hub;
        FakeHub::Repository repository;
        const std::string whole = furrow::test::gzip(lines(30 * kRows));
        repository.files["train-0.txt"] = lines(kRows / 30);
        repository.files["train-1.txt.gz"] = whole.substr(0, whole.size() / 2);
        repository.files["train-2.txt"] = lines(kRows / 30);
        hub.add("o/n", repository);
        qputenv("HF_ENDPOINT", QByteArray::fromStdString(hub.endpoint()));
        const auto out = RunDriver::ctl(runOn(QStringLiteral("hf://o/n"), "behind"));
        QCOMPARE(out.exitCode, 1);
        QVERIFY2(said(out).contains("train-1.txt.gz") && said(out).contains("leave_out"), said(out));
        const auto trained = [this] {
            return RunDriver::auditedEpoch(in("behind"))[QStringLiteral("samples")]
                .toObject()[QStringLiteral("trained")]
                .toInt();
        };
        QCOMPARE(trained(), 2 * kRows / 30);
        QVERIFY(!RunDriver::auditedEpoch(in("behind"))[QStringLiteral("complete")].toBool());
        const auto resumed = RunDriver::ctl({ QStringLiteral("resume"), in("behind"), QStringLiteral("--bad-files"),
            QStringLiteral("leave_out") }); // as it says
        qunsetenv("HF_ENDPOINT");
        QVERIFY2(resumed.exitCode == 0, said(resumed));
        QCOMPARE(trained(), 2 * kRows / 30);
        QVERIFY(RunDriver::auditedEpoch(in("behind"))[QStringLiteral("complete")].toBool());
    }

    /// What the end of a run advises was done by no test.
    void poisonedChunksAreTriedAgainOrAcceptedByCommand()
    {
        const auto written
            = furrow::writeBenchParquet(furrow::pathFromUtf8(in("decided.parquet").toStdString()), texts(kRows));
        SKIP_WITHOUT("parquet", written.ok(), written.error().message.c_str());
        damageMiddle(in("decided.parquet"));
        QCOMPARE(RunDriver::ctl(runOn(in("decided.parquet"), "decided")).exitCode, 1);
        const auto chunks = [this](const char* what) {
            return RunDriver::ctl({ QStringLiteral("chunks"), QLatin1String(what), in("decided") });
        };
        QVERIFY2(chunks("list").text.contains(QStringLiteral("20 chunks are poisoned")), said(chunks("list")));
        const auto retry = chunks("retry");
        QVERIFY2(retry.exitCode == 0 && retry.text.contains(QStringLiteral("20 chunks are tried again")), said(retry));
        const auto again = RunDriver::ctl({ QStringLiteral("resume"), in("decided") });
        QCOMPARE(again.exitCode, 1); // the page is as damaged as before
        QCOMPARE(RunDriver::auditedEpoch(in("decided"))[QStringLiteral("poisoned")].toInt(), 20);
        const auto accept = chunks("accept");
        QVERIFY2(accept.exitCode == 0 && accept.text.contains(QStringLiteral("20 chunks are accepted")), said(accept));
        const auto epoch = RunDriver::auditedEpoch(in("decided"));
        QCOMPARE(epoch[QStringLiteral("committed")].toInt(), kChunks - 20);
        QCOMPARE(epoch[QStringLiteral("duplicated")].toInt() + epoch[QStringLiteral("missing")].toInt(), 0);
        QVERIFY(epoch[QStringLiteral("complete")].toBool());
    }

    void aCutGzipHereAndANameThatIsNotUtf8AreRefusedByName()
    {
        QVERIFY(
            QDir(folder_.path()).mkpath(QStringLiteral("cut")) && QDir(folder_.path()).mkpath(QStringLiteral("name")));
        const std::string whole = furrow::test::gzip(lines(kRows));
        write(in("cut/a.txt"), lines(100));
        write(in("cut/b.txt.gz"), whole.substr(0, whole.size() / 2));
        const auto cut = RunDriver::ctl(runOn(in("cut"), "of-cut"));
        QCOMPARE(cut.exitCode, 1);
        QVERIFY2(cut.errors.contains(QStringLiteral("b.txt.gz ends in the middle"))
                && cut.errors.contains(QStringLiteral("write it again")),
            said(cut));
        QVERIFY(!QDir(in("of-cut")).exists());

        std::error_code failed;
        std::filesystem::copy_file(furrow::pathFromUtf8(in("cut/a.txt").toStdString()),
            std::filesystem::path(in("name").toStdString() + "/bad\xff.txt"), failed);
        if (failed) {
            QVERIFY2(failed == std::errc::illegal_byte_sequence || failed == std::errc::invalid_argument,
                failed.message().c_str());
            QSKIP("This file system takes no name that is not UTF-8.");
        }
        const auto name = RunDriver::ctl(runOn(in("name"), "of-name"));
        QCOMPARE(name.exitCode, 2);
        QVERIFY2(name.errors.contains(QStringLiteral("not UTF-8"))
                && name.errors.contains(QStringLiteral("Rename the file")),
            said(name));
        QVERIFY(!QDir(in("of-name")).exists());
    }

    /// A run waited 14 minutes for its disk: that counted as active time, so its pace was a tenth of what it was.
    void timeOfWaitingForADiskWasActiveTime()
    {
        QVERIFY(QDir(folder_.path()).mkpath(QStringLiteral("disk")));
        write(in("disk/rows.txt"), lines(kRows));
        QStringList make = runOn(in("disk/rows.txt"), "waits");
        make.front() = QStringLiteral("new");
        const auto made = RunDriver::ctl(make);
        QVERIFY2(made.exitCode == 0, said(made));
        QVERIFY(QDir().rename(in("disk"), in("unmounted")));
        const auto dry = RunDriver::ctl({ QStringLiteral("resume"), in("waits"), QStringLiteral("--dry-run") });
        QVERIFY2(dry.exitCode == 0 && dry.text.contains(in("disk/rows.txt")), said(dry));
        const auto begun = RunDriver::ctl({ QStringLiteral("resume"), in("waits"), QStringLiteral("--detach") });
        QVERIFY2(begun.exitCode == 0, said(begun));
        const auto status = [this] { return RunDriver::status(in("waits")); };
        const auto active = [&] { return status()[QStringLiteral("active_seconds")].toDouble(); };
        const auto waits = [&] {
            const QJsonObject now = status();
            const auto workers = now[QStringLiteral("workers")].toArray();
            return now[QStringLiteral("hindrance")].toString().contains(in("disk/rows.txt")) && !workers.isEmpty()
                && workers[0].toObject()[QStringLiteral("phase")].toString() == QStringLiteral("wait");
        };
        QTRY_VERIFY_WITH_TIMEOUT(waits(), 60'000); // and no worker is warming up
        const auto text = RunDriver::ctl({ QStringLiteral("status"), in("waits") }).text;
        QVERIFY2(text.contains(QStringLiteral("\nrunning: waiting for its data, attempt 1")), qPrintable(text));
        QTest::qWait(2000);
        const double before = active();
        QTest::qWait(5000);
        QVERIFY2(active() - before < 0.5, qPrintable(QString::number(active() - before)));
        QVERIFY(QDir().rename(in("unmounted"), in("disk")));
        QVERIFY(RunDriver::waitForState(in("waits"), { QStringLiteral("finished") }));
        const auto epoch = RunDriver::auditedEpoch(in("waits"));
        QCOMPARE(epoch[QStringLiteral("committed")].toInt(), kChunks);
    }

    void rowsThatCannotBeReadStopTheRunBeforeItTrainsOnRubbish()
    {
        std::string rows;
        int row = 0;
        for (const auto& text : texts(kRows))
            rows += "{\"text\":\"" + text + (++row % 3 == 0 ? "\n" : "\"}\n");
        write(in("third.jsonl"), rows);
        const auto out = RunDriver::ctl(runOn(in("third.jsonl"), "third"));
        QCOMPARE(out.exitCode, 1);
        QVERIFY2(said(out).contains("the limit is 1") && said(out).contains("third.jsonl"), said(out));
        QCOMPARE(RunDriver::auditedEpoch(in("third"))[QStringLiteral("committed")].toInt(), 0);
    }
};

QTEST_GUILESS_MAIN(TestDamagedData)
#include "tst_damaged_data.moc"
