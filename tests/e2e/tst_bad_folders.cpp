// What people do to run folders: two supervisors, synchronised folders, copies of living databases, edited files. Each
// is refused in a sentence that says what to do, or heals by a plain resume.

#include "core/base/hash.h"
#include "core/tracker/sqlite/database.h"
#include "core/tracker/ledger_reader.h"
#include "core/tracker/supervisor_ledger.h"
#include "tests/e2e/run_driver.h"

#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QProcess>
#include <QScopeGuard>
#include <QTemporaryDir>
#include <QTest>
#include <QtEndian>

#include <nlohmann/json.hpp>

#include <filesystem>
#include <functional>
#include <vector>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace {

QString operator""_q(const char* text, std::size_t size)
{
    return QString::fromUtf8(text, static_cast<qsizetype>(size));
}

void verifyExactlyOnce(const QString& run)
{
    const auto audit = RunDriver::ctl({ "audit"_q, run, "--json"_q });
    QVERIFY2(audit.exitCode == 0, qPrintable(audit.text + audit.errors));
    const auto epoch = RunDriver::auditedEpoch(run);
    QVERIFY(epoch["complete"_q].toBool());
    QCOMPARE(epoch["duplicated"_q].toInt(-1), 0);
    QCOMPARE(epoch["missing"_q].toInt(-1), 0);
}

bool copyFolder(const QString& from, const QString& to, const QStringList& without)
{
    QDir().mkpath(to);
    for (const auto& entry : QDir(from).entryInfoList(QDir::Dirs | QDir::Files | QDir::NoDotAndDotDot)) {
        if (without.contains(entry.fileName()))
            continue;
        const QString target = to + QLatin1Char('/') + entry.fileName();
        if (entry.isDir() ? !copyFolder(entry.filePath(), target, without)
                          : !QFile::copy(entry.filePath(), target) && QFile::exists(entry.filePath()))
            return false;
    }
    return true;
}

bool replaceIn(const QString& path, const QString& what, const QString& with)
{
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly))
        return false;
    QString text = QString::fromUtf8(file.readAll());
    file.close();
    const auto at = text.indexOf(what);
    return at >= 0 && file.open(QIODevice::WriteOnly) && file.write(text.replace(at, what.size(), with).toUtf8()) > 0;
}

bool editTracker(const QString& run, const char* edit)
{
    auto db = furrow::Database::open((run + "/tracker.sqlite"_q).toStdString(), {});
    if (!db.ok())
        return false;
    db.value().script(edit);
    return db.value().takeStatus().ok();
}

/// Makes the first number of the weights of a checkpoint NaN, and fits every hash to it.
bool poisonWeights(const QString& run, const QString& checkpoint)
{
    const QString folder = run + "/checkpoints/"_q + checkpoint;
    QFile weights(folder + "/weights.safetensors"_q);
    if (!weights.open(QIODevice::ReadWrite))
        return false;
    const auto header = qFromLittleEndian<quint64>(weights.read(8).constData());
    const bool written
        = weights.seek(static_cast<qint64>(8 + header)) && weights.write(QByteArray::fromHex("0000c07f")) == 4;
    weights.close();
    const auto sha256 = [](const QString& path) { return furrow::sha256File(path.toStdString()); };
    const auto fresh = sha256(weights.fileName());
    QFile manifest(folder + "/manifest.json"_q);
    if (!written || !fresh.ok() || !manifest.open(QIODevice::ReadOnly))
        return false;
    auto json = nlohmann::ordered_json::parse(manifest.readAll().toStdString());
    manifest.close();
    for (auto& file : json["files"])
        if (file["name"] == "weights.safetensors")
            file["sha256"] = fresh.value();
    const auto text = json.dump() + "\n";
    return manifest.open(QIODevice::WriteOnly) && manifest.write(text.c_str()) > 0 && manifest.flush()
        && editTracker(run,
            ("UPDATE checkpoint SET manifest_sha256='" + furrow::sha256Hex(text) + "' WHERE folder='"
                + checkpoint.toStdString() + "'")
                .c_str());
}

} // namespace

class TestBadFolders : public QObject {
    Q_OBJECT

    static constexpr int kLines = 4000;
    QTemporaryDir folder_;
    QString text_;
    QString whole_; ///< a stopped run of two workers that nothing is done to
    QString finished_; ///< a finished one
    int refused_ = 0;

    QString started(const QString& name, const QString& text, const QStringList& more = {})
    {
        const QString run = folder_.filePath(name);
        const auto out = RunDriver::ctl(
            QStringList { "run"_q, "--detach"_q, "--json"_q, "--data"_q, text, "--out"_q, run, "--devices"_q, "cpu"_q }
            + RunDriver::tinyModel() + more);
        return out.exitCode == 0 ? run : QString();
    }
    QString started(const char* name, const QStringList& more = {})
    {
        return started(QLatin1String(name), text_, more);
    }
    /// A run that was stopped early in its only epoch. On a busy machine a small epoch may be over before the stop
    /// arrives: then a longer one is tried.
    QString stopped(const char* name)
    {
        for (int lines = kLines; lines <= 16 * kLines; lines *= 4) {
            const QString own = QLatin1String(name) + QString::number(lines);
            QDir(folder_.path()).mkpath(own + "-text"_q);
            const QString text
                = lines == kLines ? text_ : RunDriver::writeText(folder_.filePath(own + "-text"_q), lines);
            const QString run = started(own, text, { "--workers"_q, "2"_q });
            if (run.isEmpty() || !RunDriver::waitForChunks(run, 5))
                return {};
            (void)RunDriver::ctl({ "stop"_q, run, "--wait"_q });
            if (RunDriver::status(run)["state"_q].toString() == "stopped"_q)
                return run;
        }
        return {};
    }
    /// whole_, or "". Each function that harms a run takes a copy of it: to train one takes seconds.
    QString whole()
    {
        if (whole_.isEmpty())
            whole_ = stopped("whole");
        return whole_;
    }
    QString copyOf(const QString& from, const QString& name, const QStringList& without = {}) const
    {
        const QString run = folder_.filePath(name);
        return !from.isEmpty() && copyFolder(from, run, without) ? run : QString();
    }
    /// finished_, or "".
    QString finished()
    {
        if (!finished_.isEmpty())
            return finished_;
        const QString run = folder_.filePath("finished"_q);
        const auto out = RunDriver::ctl(QStringList { "run"_q, "--json"_q, "--workers"_q, "2"_q, "--data"_q, text_,
                                            "--out"_q, run, "--devices"_q, "cpu"_q }
            + RunDriver::tinyModel());
        if (out.exitCode != 0)
            qWarning("%s", qPrintable(out.text + out.errors));
        else
            finished_ = run;
        return finished_;
    }
    /// The folder of the newest checkpoint that a replica would go on from.
    static QString newestHead(const QString& run)
    {
        auto reader = furrow::LedgerReader::open((run + "/tracker.sqlite"_q).toStdString());
        const auto rows = reader.ok()
            ? reader.value().checkpoints()
            : furrow::Result<std::vector<furrow::SupervisorLedger::CheckpointRow>>(reader.error());
        QString newest;
        for (const auto& row : rows.ok() ? rows.value() : std::vector<furrow::SupervisorLedger::CheckpointRow>())
            if (row.head)
                newest = QString::fromStdString(row.record.folder);
        return newest;
    }
    static QString edited(const QString& run, const QString& key, const QJsonValue& value)
    {
        QFile file(run + "/run.json"_q);
        if (!file.open(QIODevice::ReadOnly))
            return "unreadable"_q;
        QJsonObject json = QJsonDocument::fromJson(file.readAll()).object();
        file.close();
        QJsonObject config = json["config"_q].toObject();
        config[key] = value;
        json["config"_q] = config;
        if (!file.open(QIODevice::WriteOnly))
            return "unwritable"_q;
        file.write(QJsonDocument(json).toJson());
        file.close();
        return RunDriver::ctl({ "resume"_q, run }).errors;
    }

private Q_SLOTS:
    // Enough for an epoch of some seconds: one of 120 chunks was over before the stop arrived.
    void initTestCase() { text_ = RunDriver::writeText(folder_.path(), kLines); }

    void secondSupervisorSaysThatTheRunIsHeld()
    {
        const QString run = started("held", { "--epochs"_q, "50"_q });
        QVERIFY(!run.isEmpty());
        const auto second = RunDriver::ctl({ "supervise"_q, run });
        QVERIFY(second.exitCode != 0);
        QVERIFY2(second.errors.contains("is already running, held by process"_q), qPrintable(second.errors));
        QCOMPARE(RunDriver::ctl({ "kill"_q, run, "--wait"_q }).exitCode, 0);
        const auto status = RunDriver::status(run);
        QCOMPARE(status["state"_q].toString(), "stopped"_q); // a person ended it; nothing waits in it
        QVERIFY(status["stop_detail"_q].toString().contains("trained again"_q));
    }

    /// "permission denied; change the rights", "it or its folder does not exist", and doctor called it whole.
    void aPipeInPlaceOfAFolderWasSaidToBeMissing_data()
    {
        QTest::addColumn<QString>("place");
        for (const char* place : { "cache", "cache/blocks", "checkpoints", "checkpoints/writing", "telemetry" })
            QTest::newRow(place) << QString::fromLatin1(place);
    }
    void aPipeInPlaceOfAFolderWasSaidToBeMissing()
    {
        QFETCH(QString, place);
        const QString run = copyOf(whole(), "pipe-"_q + QString(place).replace(QLatin1Char('/'), QLatin1Char('-')));
        QVERIFY(!run.isEmpty());
        const QString there = run + QLatin1Char('/') + place;
        QVERIFY(QDir(there).removeRecursively());
        QCOMPARE(::mkfifo(there.toUtf8().constData(), 0600), 0);
        QList<QStringList> commands { { "resume"_q, run, "--detach"_q }, { "doctor"_q, run } };
        if (place.startsWith("cache"_q))
            commands.append({ "inspect"_q, run, "0:0"_q });
        for (const QStringList& command : commands) {
            const auto refused = RunDriver::ctl(command);
            QVERIFY(refused.exitCode != 0);
            QVERIFY2(refused.errors.contains(there + " is not a folder"_q), qPrintable(refused.errors + refused.text));
        }
    }

    /// "cannot read heldout.bin: it or its folder does not exist", and no word of what to do.
    void aHeldOutTextThatWasGoneHadNoWayOut()
    {
        const QString run = copyOf(whole(), "no-held-out"_q, { "heldout.bin"_q });
        QVERIFY(!run.isEmpty());
        const QList<QStringList> commands { { "resume"_q, run, "--detach"_q }, { "doctor"_q, run }, { "eval"_q, run } };
        for (const QStringList& command : commands) {
            const auto refused = RunDriver::ctl(command);
            QVERIFY(refused.exitCode != 0);
            QVERIFY2((refused.errors + refused.text).contains("put it back from a copy of the run"_q),
                qPrintable(refused.errors + refused.text));
        }
    }

    /// "tracker.sqlite cannot be opened ... 'furrowctl doctor --repair' rebuilds what the checkpoints prove".
    void fewOpenFilesWereCalledDamage()
    {
        QVERIFY(!whole().isEmpty());
        int told = 0;
        for (const QString& command : { "audit"_q, "doctor"_q, "status"_q })
            for (rlim_t most = 5; most < 12; ++most) {
                QProcess limited;
                limited.setChildProcessModifier([most] {
                    const rlimit few { most, most };
                    ::setrlimit(RLIMIT_NOFILE, &few);
                });
                limited.start(RunDriver::program(), { command, whole_ });
                QVERIFY(limited.waitForFinished(60'000));
                const auto said = QString::fromUtf8(limited.readAllStandardError() + limited.readAllStandardOutput());
                told += said.contains("too many open files; raise the limit (ulimit -n)"_q);
                QVERIFY2(!said.contains("check the permissions"_q) && !said.contains("--repair"_q), qPrintable(said));
            }
        QVERIFY(told > 2);
    }

    void synchronisedFolderIsRefused()
    {
        QVERIFY(QDir(folder_.path()).mkpath("Dropbox"_q));
        const QString run = folder_.filePath("Dropbox/run"_q);
        const auto out = RunDriver::ctl(
            QStringList { "run"_q, "--detach"_q, "--data"_q, text_, "--out"_q, run } + RunDriver::tinyModel());
        QVERIFY(out.exitCode != 0);
        QVERIFY2(out.errors.contains("Dropbox"_q), qPrintable(out.errors));
        QVERIFY(!QFile::exists(run));
    }

    void copyOfALiveDatabaseWithoutItsWalTrainsOnExactlyOnce() // trap 16
    {
        const QString run = started("live");
        QVERIFY(RunDriver::waitForChunks(run, 20));
        const QString copy = folder_.filePath("copied"_q);
        QVERIFY(copyFolder(run, copy, { "tracker.sqlite-wal"_q, "tracker.sqlite-shm"_q, "supervisor.lock"_q }));
        QVERIFY(RunDriver::waitForState(run, { "finished"_q }));
        auto resumed = RunDriver::ctl({ "resume"_q, copy, "--json"_q });
        if (resumed.exitCode != 0) { // caught in the middle of a page: then it is said, and repaired
            QVERIFY2((resumed.errors + resumed.text).contains("doctor"_q), qPrintable(resumed.errors + resumed.text));
            QCOMPARE(RunDriver::ctl({ "doctor"_q, copy, "--repair"_q }).exitCode, 0);
            resumed = RunDriver::ctl({ "resume"_q, copy, "--json"_q });
        }
        QVERIFY2(resumed.exitCode == 0, qPrintable(resumed.text + resumed.errors));
        verifyExactlyOnce(copy);
        verifyExactlyOnce(run);
    }

    void copyMadeForViewingIsNoTracker()
    {
        const QString run = copyOf(whole(), "view"_q);
        QVERIFY(!run.isEmpty());
        QVERIFY(QFile::remove(run + "/tracker.sqlite"_q));
        QVERIFY(QFile::copy(run + "/view.sqlite"_q, run + "/tracker.sqlite"_q));
        const auto out = RunDriver::ctl({ "resume"_q, run });
        QVERIFY(out.exitCode != 0);
        QVERIFY2(out.errors.contains("it is a copy, not a live tracker"_q), qPrintable(out.errors));
    }

    void editedChunkSizeAndTokenizerAreRefusedByName()
    {
        const QString run = copyOf(whole(), "edited"_q);
        QVERIFY(!run.isEmpty());
        auto said = edited(run, "chunk_samples"_q, 20);
        QVERIFY2(said.contains("chunk_samples"_q) && said.contains("10"_q), qPrintable(said));
        said = edited(run, "chunk_samples"_q, 10);
        // Put back: it goes on.
        QVERIFY2(RunDriver::status(run)["state"_q].toString() == "finished"_q, qPrintable(said));
        const QString other = copyOf(whole(), "edited-tokenizer"_q);
        QVERIFY(!other.isEmpty());
        said = edited(other, "tokenizer"_q, "gpt2"_q);
        QVERIFY2(said.contains("tokenizer"_q) && said.contains("byte"_q), qPrintable(said));
    }

    void flippedTrackerIsSaidAndRepairedByTheDoctor()
    {
        const QString run = copyOf(whole(), "flipped"_q);
        QVERIFY(!run.isEmpty());
        QFile file(run + "/tracker.sqlite"_q);
        QVERIFY(file.open(QIODevice::ReadWrite));
        for (qint64 page = 4096; page < file.size(); page += 4096) {
            file.seek(page);
            file.write(QByteArray(64, '\x5a'));
        }
        file.close();
        const auto refused = RunDriver::ctl({ "resume"_q, run });
        QVERIFY(refused.exitCode != 0);
        QVERIFY2(refused.errors.contains("doctor"_q), qPrintable(refused.errors));
        const auto repaired = RunDriver::ctl({ "doctor"_q, run, "--repair"_q, "--json"_q });
        QVERIFY2(repaired.exitCode == 0 && repaired.json["repaired"_q].toBool(),
            qPrintable(repaired.text + repaired.errors));
        const auto resumed = RunDriver::ctl({ "resume"_q, run, "--json"_q });
        QVERIFY2(resumed.exitCode == 0, qPrintable(resumed.text + resumed.errors));
        verifyExactlyOnce(run);
    }

    /// Doctor and audit called it whole, and the resume deleted all good checkpoints and began near zero.
    void anOlderTrackerIsSaidAndTakenForward()
    {
        const QString run = copyOf(whole(), "older"_q);
        QVERIFY(!run.isEmpty());
        const QString older = folder_.filePath("older.sqlite"_q);
        QVERIFY(QFile::copy(run + "/tracker.sqlite"_q, older));
        QCOMPARE(RunDriver::ctl({ "resume"_q, run, "--json"_q }).exitCode, 0);
        const int newer = static_cast<int>(QDir(run + "/checkpoints"_q).entryList({ "r0-*"_q }).size());
        QVERIFY(QFile::remove(run + "/tracker.sqlite"_q) && QFile::copy(older, run + "/tracker.sqlite"_q));
        (void)QFile::remove(run + "/view.sqlite"_q);
        for (const QString& command : { "resume"_q, "doctor"_q }) {
            const auto out = RunDriver::ctl({ command, run });
            QVERIFY(out.exitCode != 0);
            QVERIFY2((out.errors + out.text).contains("older than the weights"_q)
                    && (out.errors + out.text).contains("--repair"_q),
                qPrintable(out.errors + out.text));
        }
        const auto said = RunDriver::ctl({ "status"_q, run });
        QVERIFY2(said.text.contains("older than the weights"_q),
            qPrintable(said.text)); // it showed the older numbers without a word
        const auto dry = RunDriver::ctl({ "resume"_q, run, "--dry-run"_q, "--json"_q }); // it said "goes on"
        QVERIFY2(dry.exitCode == 1 && dry.json["refusal"_q].toString().contains("older than the weights"_q),
            qPrintable(dry.text));
        QCOMPARE(static_cast<int>(QDir(run + "/checkpoints"_q).entryList({ "r0-*"_q }).size()), newer);
        const auto forward = RunDriver::ctl({ "doctor"_q, run, "--repair"_q, "--json"_q });
        QVERIFY2(forward.exitCode == 0 && forward.json["older"_q].toBool(), qPrintable(forward.text + forward.errors));
        QCOMPARE(RunDriver::ctl({ "doctor"_q, run }).exitCode, 0);
        QVERIFY(!RunDriver::ctl({ "status"_q, run }).text.contains("older than"_q));
        QCOMPARE(RunDriver::ctl({ "resume"_q, run, "--epochs"_q, "2"_q, "--json"_q }).exitCode, 0);
        verifyExactlyOnce(run);
    }

    /// The disk of the checkpoints was away: training began from zero, silently.
    void checkpointsThatAreAwayAreWaitedFor()
    {
        const QString run = copyOf(whole(), "away"_q);
        QVERIFY(!run.isEmpty());
        QVERIFY(QDir().rename(run + "/checkpoints"_q, run + "/away"_q));
        const auto refused = RunDriver::ctl({ "resume"_q, run });
        QVERIFY(refused.exitCode != 0);
        QVERIFY2(
            (refused.errors + refused.text).contains("--accept-loss"_q), qPrintable(refused.errors + refused.text));
        // `resume --detach` said "trains" and the attempt failed behind it: the run was called failed, though "nothing
        // was changed"
        const auto before = RunDriver::status(run);
        const auto detached = RunDriver::ctl({ "resume"_q, run, "--detach"_q });
        QVERIFY2(detached.exitCode != 0 && detached.errors.contains("Is its disk mounted?"_q),
            qPrintable(detached.errors + detached.text));
        QCOMPARE(RunDriver::status(run)["state"_q].toString(), before["state"_q].toString());
        QCOMPARE(RunDriver::status(run)["attempt"_q].toInt(), before["attempt"_q].toInt());
        const auto plan = RunDriver::ctl({ "resume"_q, run, "--dry-run"_q, "--json"_q });
        QVERIFY2(plan.json["loss"_q].toString().contains("start weights"_q) && plan.json["redo"_q].toInt() > 0,
            qPrintable(plan.text + plan.errors));
        QVERIFY(QDir().rename(run + "/away"_q, run + "/checkpoints"_q));
        QCOMPARE(RunDriver::ctl({ "resume"_q, run, "--json"_q }).exitCode, 0);
        verifyExactlyOnce(run);
    }

    /// The yes at the resume was for one damaged file; a day later the disk was away for a moment, and the run began at
    /// its start weights.
    void aYesAtTheResumeWasTakenForAllThatIsLostLater()
    {
        const QString run = copyOf(whole(), "yes"_q);
        QVERIFY(!run.isEmpty());
        const auto committed = [&run] { // grows for ever; the status counts the newest epoch
            const auto status = RunDriver::status(run);
            return status["epoch"_q].toInt() * 1'000 + status["chunks"_q]["committed"_q].toInt();
        };
        const int before = committed();
        QVERIFY(before > 0);
        QCOMPARE(RunDriver::ctl({ "resume"_q, run, "--accept-loss"_q, "--detach"_q, "--checkpoint-steps"_q, "20"_q,
                                    "--epochs"_q, "50"_q })
                     .exitCode,
            0);
        // Both have begun: a worker that has not waits for the weights, and none of it can be killed.
        QTRY_VERIFY_WITH_TIMEOUT(committed() > before && RunDriver::workerPid(run, 1) > 0, 60'000);
        const qint64 second = RunDriver::workerPid(run, 1);
        QVERIFY(QDir().rename(run + "/checkpoints"_q, run + "/away"_q));
        QVERIFY(RunDriver::killHard(second)); // a start would have to read weights
        QTest::qWait(5'000);
        const QString told = RunDriver::ctl({ "status"_q, run }).text;
        QVERIFY2(told.contains("is not there (is its disk mounted?)"_q), qPrintable(told));
        const int kept = committed();
        QVERIFY(kept > before);
        QVERIFY(QDir().rename(run + "/away"_q, run + "/checkpoints"_q));
        // The workers waited with what they trained, and one that had to read weights was not started.
        const auto goesOn = [&] { return RunDriver::ctl({ "status"_q, run }).text; };
        QTRY_VERIFY2_WITH_TIMEOUT(committed() > kept, qPrintable(goesOn()), 60'000);
        const auto end = RunDriver::ctl({ "stop"_q, run, "--wait"_q });
        QVERIFY2(end.exitCode == 0, qPrintable(end.text + end.errors));
        const QString inAll
            = QString::number(RunDriver::status(run)["epoch"_q].toInt() + 2); // beyond the one that is open
        const auto rest = RunDriver::ctl({ "resume"_q, run, "--json"_q, "--epochs"_q, inAll });
        QVERIFY2(rest.exitCode == 0, qPrintable(rest.text + rest.errors));
        verifyExactlyOnce(run);
    }

    void aDryRunSaidGoesOnWhereTheResumeRefuses_data()
    {
        QTest::addColumn<std::function<bool(const QString&)>>("harm");
        QTest::addColumn<QString>("named");
        const auto row = [](const char* name, const QString& named, std::function<bool(const QString&)> harm) {
            QTest::newRow(name) << std::move(harm) << named;
        };
        row("checkpoints are a link", "is a link"_q, [](const QString& run) {
            return QDir().rename(run + "/checkpoints"_q, run + "/away"_q)
                && QFile::link(run + "/away"_q, run + "/checkpoints"_q);
        });
        row("a pipe for a lock", "supervisor.lock"_q, [](const QString& run) {
            return (!QFile::exists(run + "/supervisor.lock"_q) || QFile::remove(run + "/supervisor.lock"_q))
                && ::mkfifo(qPrintable(run + "/supervisor.lock"_q), 0600) == 0;
        });
        row("a pipe for a log", "supervisor.log: it is not a regular file"_q, [](const QString& run) {
            return QFile::remove(run + "/logs/supervisor.log"_q)
                && ::mkfifo(qPrintable(run + "/logs/supervisor.log"_q), 0600) == 0;
        });
        row("a pipe for telemetry", "2-w0.jsonl: it is not a regular file"_q,
            [](const QString& run) { return ::mkfifo(qPrintable(run + "/telemetry/2-w0.jsonl"_q), 0600) == 0; });
        row("a tracker with a second name", "tracker.sqlite has a second name"_q, [](const QString& run) {
            return ::link(qPrintable(run + "/tracker.sqlite"_q), qPrintable(run + "/../second-name.sqlite"_q)) == 0;
        });
        row("a log with a second name", "supervisor.log has a second name"_q, [](const QString& run) {
            return ::link(qPrintable(run + "/logs/supervisor.log"_q), qPrintable(run + "/../second-name.log"_q)) == 0;
        });
        row("no tokenizer", "tokenizer.json"_q,
            [](const QString& run) { return QFile::remove(run + "/tokenizer.json"_q); });
        row("another tokenizer", "tokenizer.json"_q,
            [](const QString& run) { return replaceIn(run + "/tokenizer.json"_q, "byte"_q, "gpt2"_q); });
        row("another list of data", "run.json"_q, [](const QString& run) {
            return replaceIn(run + "/run.json"_q, "\"identity\": \""_q, "\"identity\": \"0"_q);
        });
        row("another seed in the tracker", "seed is '99' in the tracker"_q,
            [](const QString& run) { return editTracker(run, "UPDATE meta SET value=99 WHERE key='seed'"); });
        row("a damaged tracker", "--repair"_q, [](const QString& run) {
            return editTracker(
                run, "UPDATE chunk SET state=4, covered=windows WHERE id=(SELECT id FROM chunk WHERE state=1 LIMIT 1)");
        });
        row("checkpoints are away", "start weights"_q,
            [](const QString& run) { return QDir().rename(run + "/checkpoints"_q, run + "/away"_q); });
    }
    void aDryRunSaidGoesOnWhereTheResumeRefuses()
    {
        QFETCH(std::function<bool(const QString&)>, harm);
        QFETCH(QString, named);
        const QString run = copyOf(whole(), "refused-"_q + QString::number(++refused_));
        QVERIFY(!run.isEmpty());
        QVERIFY(harm(run));
        const auto plan = RunDriver::ctl({ "resume"_q, run, "--dry-run"_q, "--json"_q });
        const QString said = plan.json["refusal"_q].toString() + plan.json["error"_q].toString();
        QVERIFY2(said.contains(named), qPrintable(plan.text + plan.errors));
        const auto text = RunDriver::ctl({ "resume"_q, run, "--dry-run"_q });
        QVERIFY2((text.text + text.errors).contains(named), qPrintable(text.text + text.errors));
        const auto resumed = RunDriver::ctl({ "resume"_q, run });
        QVERIFY2(resumed.exitCode != 0, qPrintable(resumed.text));
        QCOMPARE(plan.exitCode, resumed.exitCode);
        QCOMPARE(text.exitCode, resumed.exitCode);
        if (named != "start weights"_q) // the resume looks only whether they are there
            QVERIFY2(resumed.errors.contains(said), qPrintable(resumed.errors + said));
        QCOMPARE(RunDriver::status(run)["attempt"_q].toInt(), 1);
    }

    void aPipeForTheHeldOutTextHungWhoeverLooked()
    {
        const QString run = copyOf(whole(), "held-out-pipe"_q);
        QVERIFY(!run.isEmpty());
        QFile::remove(run + "/heldout.bin"_q);
        QCOMPARE(::mkfifo(qPrintable(run + "/heldout.bin"_q), 0600), 0);
        constexpr int kMs = 30'000;
        QCOMPARE(RunDriver::ctl({ "status"_q, run }, kMs).exitCode, 0);
        QCOMPARE(RunDriver::ctl({ "compare"_q, run, whole_ }, kMs).exitCode, 0);
        const auto plan = RunDriver::ctl({ "resume"_q, run, "--dry-run"_q }, kMs);
        QVERIFY2((plan.text + plan.errors).contains("heldout.bin"_q), qPrintable(plan.text + plan.errors));
    }

    void aDryRunTookAnyDeviceAndWasSilentAboutAReachedLimit()
    {
        QVERIFY(!whole().isEmpty());
        const auto nowhere = RunDriver::ctl({ "resume"_q, whole_, "--dry-run"_q, "--devices"_q, "banana"_q });
        QCOMPARE(nowhere.exitCode, RunDriver::ctl({ "resume"_q, whole_, "--devices"_q, "banana"_q }).exitCode);
        QVERIFY2(nowhere.exitCode != 0 && nowhere.errors.contains("banana"_q), qPrintable(nowhere.errors));
        const auto over = RunDriver::ctl({ "resume"_q, whole_, "--dry-run"_q, "--steps"_q, "1"_q });
        QVERIFY2(over.exitCode == 0 && over.text.contains("would end at once"_q), qPrintable(over.text + over.errors));
        QVERIFY(!RunDriver::ctl({ "resume"_q, whole_, "--dry-run"_q }).text.contains("would end at once"_q));
    }

    /// A resume trained everything else, then failed without a cause, hung, or showed the words of SQLite.
    void aResumeBeganOnATrackerThatDoctorCallsDamaged()
    {
        const QString run = copyOf(whole(), "damaged"_q);
        QVERIFY(!run.isEmpty());
        const auto attempt = RunDriver::status(run)["attempt"_q].toInt();
        for (const char* edit :
            { "UPDATE chunk SET state=4, covered=windows WHERE id=(SELECT id FROM chunk WHERE state=1 LIMIT 1)",
                "UPDATE budget SET steps=9223372036854775807",
                "UPDATE attempt SET id=9223372036854775807 WHERE id=(SELECT max(id) FROM attempt)" }) {
            QVERIFY2(editTracker(run, edit), edit);
            const auto refused = RunDriver::ctl({ "resume"_q, run }, 60'000);
            QVERIFY2(refused.exitCode != 0 && refused.errors.contains("--repair"_q),
                qPrintable(QLatin1String(edit) + refused.errors + refused.text));
            QVERIFY2(
                !refused.errors.contains("UPDATE"_q) && !refused.errors.contains("REAL"_q), qPrintable(refused.errors));
            const auto repaired = RunDriver::ctl({ "doctor"_q, run, "--repair"_q });
            QVERIFY2(repaired.exitCode == 0, qPrintable(QLatin1String(edit) + repaired.errors + repaired.text));
        }
        QVERIFY(RunDriver::status(run)["attempt"_q].toInt() >= attempt);
        QCOMPARE(RunDriver::ctl({ "resume"_q, run, "--json"_q }).exitCode, 0);
        verifyExactlyOnce(run);
    }

    /// The workspace that was named stayed empty: with --out elsewhere the cache lay in the folder of the run, and
    /// nobody said so.
    void aNamedWorkspaceStayedEmptyWithoutAWord()
    {
        const QString workspace = folder_.filePath("named"_q);
        const auto made = [&](const QString& out) {
            return RunDriver::ctl(QStringList { "new"_q, "--data"_q, text_, "--workspace"_q, workspace, "--out"_q, out,
                                      "--devices"_q, "cpu"_q }
                + RunDriver::tinyModel());
        };
        const QString elsewhere = folder_.filePath("elsewhere/x"_q);
        const auto outside = made(elsewhere);
        QVERIFY2(outside.exitCode == 0, qPrintable(outside.errors));
        QVERIFY2(outside.errors.contains(elsewhere + "/cache: it lies outside of "_q + workspace), // where it is
            qPrintable(outside.errors));
        const auto inside = made(workspace + "/runs/x"_q);
        QVERIFY2(inside.exitCode == 0, qPrintable(inside.errors));
        QVERIFY2(!inside.errors.contains("does not share"_q), qPrintable(inside.errors));
    }

    /// Run and status called the epoch complete without a word about the file that was not trained.
    void aFileThatWasLeftOutStandsInTheStatus()
    {
        QVERIFY(QDir(folder_.path()).mkpath("two"_q));
        const QString two = folder_.filePath("two"_q);
        for (const QString& name : { "/a.txt"_q, "/b.txt"_q })
            QVERIFY(QFile::copy(RunDriver::writeText(two, 400), two + name));
        QVERIFY(QFile::remove(two + "/text.txt"_q));
        const QString run = folder_.filePath("left-out"_q);
        const auto made = RunDriver::ctl(QStringList { "new"_q, "--data"_q, two, "--bad-files"_q, "leave_out"_q,
                                             "--out"_q, run, "--devices"_q, "cpu"_q }
            + RunDriver::tinyModel());
        QVERIFY2(made.exitCode == 0, qPrintable(made.errors));
        QFile changed(two + "/b.txt"_q);
        QVERIFY(changed.open(QIODevice::Append));
        changed.write("one more line\n");
        changed.close();
        const auto trained = RunDriver::ctl({ "resume"_q, run });
        QVERIFY2(trained.text.contains("left out: "_q) && trained.text.contains("b.txt"_q),
            qPrintable(trained.text + trained.errors));
        QVERIFY(RunDriver::ctl({ "status"_q, run }).text.contains("b.txt"_q));
    }

    /// With several workers it cost five restarts to learn that the newest weights hold NaN, and a run whose epochs
    /// were all trained was called finished.
    void newestWeightsWithNaNCostFiveRestarts_data()
    {
        QTest::addColumn<bool>("isFinished");
        QTest::newRow("in the middle") << false;
        QTest::newRow("all epochs are trained") << true;
    }
    void newestWeightsWithNaNCostFiveRestarts()
    {
        QFETCH(bool, isFinished);
        const QString run = isFinished ? copyOf(finished(), "nan-finished"_q) : copyOf(whole(), "nan"_q);
        QVERIFY(!run.isEmpty());
        QCOMPARE(RunDriver::status(run)["state"_q].toString(), isFinished ? "finished"_q : "stopped"_q);
        const QString head = newestHead(run);
        QVERIFY2(!head.isEmpty() && poisonWeights(run, head), qPrintable(head));
        (void)QFile::remove(run + "/view.sqlite"_q); // it knows another manifest
        const QString named = "checkpoint "_q + head + " cannot be used: tensor '"_q;
        const auto dry = RunDriver::ctl({ "resume"_q, run, "--dry-run"_q, "--json"_q });
        QVERIFY2(dry.json["refusal"_q].toString().contains(named), qPrintable(dry.text + dry.errors));
        const auto resumed = RunDriver::ctl({ "resume"_q, run });
        QVERIFY(resumed.exitCode != 0);
        const auto detail = resumed.errors + resumed.text + RunDriver::status(run)["stop_detail"_q].toString();
        QVERIFY2(detail.contains(named) && detail.contains("holds NaN or Inf"_q) && detail.contains("--accept-loss"_q),
            qPrintable(detail));
        for (const auto& worker : RunDriver::status(run)["workers"_q].toArray())
            QCOMPARE(worker["restarts"_q].toInt(), 0);
        const auto doctor = RunDriver::ctl({ "doctor"_q, run });
        QVERIFY2(doctor.exitCode != 0 && (doctor.text + doctor.errors).contains(named),
            qPrintable(doctor.text + doctor.errors));
        const auto accepted = RunDriver::ctl({ "resume"_q, run, "--accept-loss"_q, "--json"_q, "--epochs"_q, "1"_q });
        QVERIFY2(accepted.exitCode == 0,
            qPrintable(RunDriver::status(run)["stop_detail"_q].toString() + accepted.errors + accepted.text));
        verifyExactlyOnce(run);
    }

    /// What a member of a group with an ordinary umask merged, exported or finished, the others could not replace.
    void whatOneMadeInTheRunOfAGroupWasTheirsAlone()
    {
        const QString run = copyOf(whole(), "of-a-group"_q);
        QVERIFY(!run.isEmpty());
        using std::filesystem::perms;
        const auto all = [&run] {
            std::vector<std::filesystem::directory_entry> found;
            for (const auto& entry : std::filesystem::recursive_directory_iterator(run.toStdString()))
                found.push_back(entry);
            return found;
        };
        std::filesystem::permissions(run.toStdString(), perms::group_write, std::filesystem::perm_options::add);
        for (const auto& entry : all())
            std::filesystem::permissions(entry.path(), perms::group_write, std::filesystem::perm_options::add);
        const auto before = all().size();
        const mode_t usual = ::umask(022);
        const auto restore = qScopeGuard([usual] { ::umask(usual); });
        for (const QStringList& line : { QStringList { "merge"_q, run, "--method"_q, "average"_q },
                 QStringList { "export"_q, run, "--out"_q, run + "/exports/hf"_q },
                 QStringList { "export"_q, run, "--format"_q, "csv"_q, "--out"_q, run + "/exports/csv"_q },
                 QStringList { "eval"_q, run }, QStringList { "finish"_q, run } }) {
            const auto done = RunDriver::ctl(line);
            QVERIFY2(done.exitCode == 0, qPrintable(line.join(QLatin1Char(' ')) + done.text + done.errors));
        }
        QVERIFY(all().size() > before);
        for (const auto& entry : all())
            QVERIFY2((entry.status().permissions() & perms::group_write) != perms::none, entry.path().c_str());
    }

    void mergeByHandLeavesAFinishedRunFinished()
    {
        const QString run = copyOf(finished(), "merged"_q);
        QVERIFY(!run.isEmpty());
        QCOMPARE(RunDriver::ctl({ "merge"_q, run, "--method"_q, "average"_q }).exitCode, 0);
        const auto status = RunDriver::status(run);
        QCOMPARE(status["state"_q].toString(), "finished"_q);
        QCOMPARE(status["stop_reason"_q].toString(), "epoch"_q);
        QVERIFY(status["stop_detail"_q].toString().contains("nothing to merge"_q));
        QVERIFY(status["loss"_q].isDouble()); // the merge trained nothing, and so the run had no loss any more
        QCOMPARE(status["workers"_q].toArray().size(), 2);
    }
};

QTEST_GUILESS_MAIN(TestBadFolders)
#include "tst_bad_folders.moc"
