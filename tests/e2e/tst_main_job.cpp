// The main job with the real programs: train, kill, resume, audit. Nothing here knows how they work inside.

#include "tests/e2e/process_facts.h"
#include "tests/e2e/run_driver.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QJsonArray>
#include <QJsonDocument>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

class TestMainJob : public QObject {
    Q_OBJECT

    QTemporaryDir folder_;
    QString text_;
    QString trains_; ///< a run that trains for the next function; "": none
    QString ended_; ///< a run of 50 steps that has ended; "": none yet
    QString saidAtTheEnd_; ///< by that run
    QString interrupted_; ///< a run whose supervisor was killed; "": none yet
    int runs_ = 0;
    int refusal_ = 0; ///< the exit code of a finish while that one trained

    QString path(const char* name) const { return folder_.filePath(QLatin1String(name)); }

    QStringList newRun(const QString& run, const QStringList& more = {}) const
    {
        return QStringList { QStringLiteral("--data"), text_, QStringLiteral("--out"), run, QStringLiteral("--devices"),
            QStringLiteral("cpu") }
        + RunDriver::tinyModel() + more;
    }

    static void verifyClean(const QJsonObject& epoch, int chunks)
    {
        QCOMPARE(epoch[QStringLiteral("expected")].toInt(), chunks);
        QCOMPARE(epoch[QStringLiteral("committed")].toInt(), chunks);
        QCOMPARE(epoch[QStringLiteral("duplicated")].toInt(-1), 0);
        QCOMPARE(epoch[QStringLiteral("missing")].toInt(-1), 0);
        QCOMPARE(epoch[QStringLiteral("overlapping_claims")].toInt(-1), 0);
        QVERIFY(epoch[QStringLiteral("complete")].toBool());
    }

    QString startDetached(const char* name, const QStringList& more = {})
    {
        const QString run = path(name);
        const auto out
            = RunDriver::ctl(QStringList { QStringLiteral("run"), QStringLiteral("--detach"), QStringLiteral("--json") }
                + newRun(run, more));
        return out.exitCode == 0 ? run : QString();
    }

    /// Makes a run that is to be hit on its way take some seconds on the fastest machine too.
    static QStringList slow()
    {
        return { QStringLiteral("--layers"), QStringLiteral("4"), QStringLiteral("--width"), QStringLiteral("128") };
    }

    /// The run that the function before left training, or a new one. It lasts.
    QString runThatTrains()
    {
        if (trains_.isEmpty()
            || RunDriver::status(trains_)[QStringLiteral("state")].toString() != QStringLiteral("running"))
            trains_ = startDetached(qPrintable(QStringLiteral("trains-%1").arg(++runs_)),
                slow() + QStringList { QStringLiteral("--epochs"), QStringLiteral("50") });
        return trains_;
    }

    QString runThatHasEnded()
    {
        if (!ended_.isEmpty())
            return ended_;
        const QString run = folder_.filePath(QStringLiteral("runs/ended"));
        const auto out = RunDriver::ctl(
            QStringList { QStringLiteral("run"), QStringLiteral("--steps"), QStringLiteral("50") } + newRun(run));
        saidAtTheEnd_ = out.exitCode == 0 ? out.text : out.errors;
        if (out.exitCode == 0)
            ended_ = run;
        return ended_;
    }

    /// None of its processes is left.
    void interruptRun()
    {
        if (!interrupted_.isEmpty())
            return;
        const QString run = startDetached("interrupted", slow());
        QVERIFY(RunDriver::waitForChunks(run, 10));
        refusal_ = RunDriver::ctl({ QStringLiteral("finish"), run }).exitCode;
        QVERIFY(RunDriver::killHard(RunDriver::supervisorPid(run)));
        QVERIFY(RunDriver::waitForState(run, { QStringLiteral("interrupted") }, 3000));
        const auto isAnyLeft = [&run] {
            const auto workers = RunDriver::status(run)[QStringLiteral("workers")].toArray();
            return std::any_of(workers.begin(), workers.end(),
                [](const QJsonValue& worker) { return worker[QStringLiteral("alive")].toBool(); });
        };
        QTRY_VERIFY_WITH_TIMEOUT(!isAnyLeft(), 30'000); // they save what they have
        interrupted_ = run;
    }

private Q_SLOTS:
    void initTestCase()
    {
        text_ = RunDriver::writeText(folder_.path(), 1200);
        QVERIFY(!text_.isEmpty());
    }

    void cleanupTestCase()
    {
        if (!trains_.isEmpty()) // where it was asked for functions by name, or one failed
            (void)RunDriver::ctl({ QStringLiteral("kill"), trains_, QStringLiteral("--wait") });
    }

    void twoWorkersTrainAnEpochEveryChunkOnce()
    {
        const QString run = path("plain");
        const auto out = RunDriver::ctl(
            QStringList { QStringLiteral("run"), QStringLiteral("--workers"), QStringLiteral("2") } + newRun(run));
        QVERIFY2(out.exitCode == 0, qPrintable(out.text + out.errors));
        verifyClean(RunDriver::auditedEpoch(run), 120);
        const auto status = RunDriver::status(run);
        QCOMPARE(status[QStringLiteral("state")].toString(), QStringLiteral("finished"));
        QCOMPARE(status[QStringLiteral("stop_reason")].toString(), QStringLiteral("epoch"));
        QCOMPARE(status[QStringLiteral("blocks")][QStringLiteral("total")].toInt(), 6);
        const auto chunks
            = RunDriver::ctl({ QStringLiteral("audit"), run, QStringLiteral("--chunks"), QStringLiteral("--json") })
                  .json[QStringLiteral("chunks")]
                  .toArray();
        QCOMPARE(chunks.size(), 120);
        qint64 last = 0;
        for (const auto& chunk : chunks)
            last = std::max(last, chunk[QStringLiteral("weights_step")].toInteger());
        QCOMPARE(last, status[QStringLiteral("steps")].toInteger());
        const auto evaluated = RunDriver::ctl({ QStringLiteral("eval"), run, QStringLiteral("--json") });
        QVERIFY2(evaluated.exitCode == 0, qPrintable(evaluated.text + evaluated.errors));
        QVERIFY2(evaluated.json[QStringLiteral("loss")].toDouble() < 4.0,
            qPrintable(evaluated.text)); // ln 257 = 5.5 untrained
        const auto alone = RunDriver::ctl({ QStringLiteral("eval"), run, QStringLiteral("--json"),
            QStringLiteral("--threads"), QStringLiteral("1") });
        QVERIFY2(
            std::abs(alone.json[QStringLiteral("loss")].toDouble() - evaluated.json[QStringLiteral("loss")].toDouble())
                < 1e-6,
            qPrintable(alone.text + alone.errors));
        const auto nowhere
            = RunDriver::ctl({ QStringLiteral("eval"), run, QStringLiteral("--device"), QStringLiteral("tpu") });
        QVERIFY2(nowhere.exitCode != 0 && nowhere.errors.contains(QStringLiteral("no device 'tpu'")),
            qPrintable(nowhere.errors));
        const auto sampled = RunDriver::ctl({ QStringLiteral("sample"), run, QStringLiteral("--prompt"),
            QStringLiteral("12 "), QStringLiteral("--tokens"), QStringLiteral("20") });
        QVERIFY2(sampled.exitCode == 0, qPrintable(sampled.errors));
    }

    /// A furrowctl that was killed while it sampled left its furrow-worker behind, writing on with all cores.
    void aKilledSampleTakesItsWorkerWithIt()
    {
        QProcess sample;
        sample.setStandardOutputFile(QProcess::nullDevice());
        sample.start(QCoreApplication::applicationDirPath() + QStringLiteral("/furrowctl"),
            { QStringLiteral("sample"), path("plain"), QStringLiteral("--tokens"), QStringLiteral("10000000") });
        QVERIFY(sample.waitForStarted());
        QTRY_COMPARE_WITH_TIMEOUT(processFacts::childrenOf(sample.processId()).size(), 1, 30'000);
        const qint64 worker = processFacts::childrenOf(sample.processId()).front();
        QTRY_VERIFY_WITH_TIMEOUT(processFacts::commandLine(worker).contains("sample"), 10'000);
        sample.kill();
        QVERIFY(sample.waitForFinished());
        QTRY_VERIFY_WITH_TIMEOUT(!processFacts::commandLine(worker).contains("sample"), 30'000);
    }

    void killedWorkerIsRestartedAndNothingIsLost()
    {
        const QString run = startDetached("worker-killed", slow());
        QVERIFY(!run.isEmpty());
        QVERIFY(RunDriver::waitForChunks(run, 10));
        QTRY_VERIFY_WITH_TIMEOUT(
            RunDriver::workerPid(run, 1) > 0, 30'000); // worker 0 may have trained ten before it is there
        QVERIFY(RunDriver::killHard(RunDriver::workerPid(run, 1)));
        QVERIFY(RunDriver::waitForState(run, { QStringLiteral("finished") }));
        verifyClean(RunDriver::auditedEpoch(run), 120);
    }

    void aWorkerThatDoesNotExitDoesNotKeepTheRun()
    {
        qputenv("FURROW_LINGER_S", "300");
        qputenv("FURROW_EXIT_PATIENCE_S", "2");
        const QString run = path("lingering");
        const auto out = RunDriver::ctl(QStringList { QStringLiteral("run") } + newRun(run), 120'000);
        qunsetenv("FURROW_LINGER_S");
        qunsetenv("FURROW_EXIT_PATIENCE_S");
        QVERIFY2(out.exitCode == 0, qPrintable(out.text + out.errors));
        QCOMPARE(RunDriver::status(run)[QStringLiteral("state")].toString(), QStringLiteral("finished"));
        verifyClean(RunDriver::auditedEpoch(run), 120);
    }

    void killedSupervisorIsInterruptedAndResumes()
    {
        const QString run = startDetached("supervisor-killed", slow());
        QVERIFY(RunDriver::waitForChunks(run, 10));
        QVERIFY(RunDriver::killHard(RunDriver::supervisorPid(run)));
        QVERIFY(RunDriver::waitForState(run, { QStringLiteral("interrupted") }, 3000));
        const auto resumed = RunDriver::ctl({ QStringLiteral("resume"), run, QStringLiteral("--json") });
        QVERIFY2(resumed.exitCode == 0, qPrintable(resumed.text + resumed.errors));
        verifyClean(RunDriver::auditedEpoch(run), 120);
    }

    void aResumeFromAnOlderCheckpointTrainsWhatCameAfterOnceAgain()
    {
        const QString run = path("went-back");
        const auto out
            = RunDriver::ctl(QStringList { QStringLiteral("run"), QStringLiteral("--json"), QStringLiteral("--workers"),
                                 QStringLiteral("2"), QStringLiteral("--checkpoint-steps"), QStringLiteral("20"),
                                 QStringLiteral("--keep-last"), QStringLiteral("20") }
                + newRun(run));
        QVERIFY2(out.exitCode == 0, qPrintable(out.text + out.errors));
        const auto plan
            = RunDriver::ctl({ QStringLiteral("resume"), run, QStringLiteral("--dry-run"), QStringLiteral("--json") })
                  .json;
        QJsonObject chosen;
        for (const auto& one : plan[QStringLiteral("checkpoints")].toArray())
            if (chosen.isEmpty() && one.toObject()[QStringLiteral("can_be_chosen")].toBool()
                && one.toObject()[QStringLiteral("redo")].toInt() > 0)
                chosen = one.toObject();
        QVERIFY2(!chosen.isEmpty(), qPrintable(QString::fromUtf8(QJsonDocument(plan).toJson())));
        QCOMPARE(chosen[QStringLiteral("kept")].toInt() + chosen[QStringLiteral("redo")].toInt(), 120);
        const QString name = chosen[QStringLiteral("folder")].toString();
        const auto resumed = RunDriver::ctl(
            { QStringLiteral("resume"), run, QStringLiteral("--from-checkpoint"), name, QStringLiteral("--json") });
        QVERIFY2(resumed.exitCode == 0, qPrintable(resumed.text + resumed.errors));
        verifyClean(RunDriver::auditedEpoch(run), 120);
        qint64 again = 0;
        for (const auto& chunk :
            RunDriver::ctl({ QStringLiteral("audit"), run, QStringLiteral("--chunks"), QStringLiteral("--json") })
                .json[QStringLiteral("chunks")]
                .toArray())
            again
                += chunk.toObject()[QStringLiteral("checkpoint")].toInteger() > chosen[QStringLiteral("id")].toInteger()
                ? 1
                : 0;
        QVERIFY(again >= chosen[QStringLiteral("redo")].toInteger());
        const auto unknown = RunDriver::ctl(
            { QStringLiteral("resume"), run, QStringLiteral("--from-checkpoint"), QStringLiteral("nowhere") });
        QVERIFY(unknown.exitCode != 0);
        QVERIFY2(unknown.errors.contains(QStringLiteral("no checkpoint nowhere")), qPrintable(unknown.errors));
    }

    /// "0 of 0 workers alive" of a run that was starting.
    void aRunThatStartsWasSaidToHaveNoWorkers()
    {
        trains_.clear(); // it is looked at from its start on
        const QString run = runThatTrains();
        QVERIFY(!run.isEmpty());
        QString told;
        do {
            told += RunDriver::ctl({ QStringLiteral("status"), run }).text;
        } while (!told.contains(QStringLiteral(" alive.")));
        QVERIFY2(told.contains(QStringLiteral("The workers are starting; none has begun yet.")), qPrintable(told));
        QVERIFY2(!told.contains(QStringLiteral("of 0 workers alive")), qPrintable(told));
    }

    void anEvaluationThatIsAskedForIsInTheStatus()
    {
        const QString run = runThatTrains();
        QVERIFY(RunDriver::waitForChunks(run, 5));
        QVERIFY(RunDriver::status(run)[QStringLiteral("eval_loss")].isNull()); // --eval-steps 0
        const auto asked = RunDriver::ctl({ QStringLiteral("evaluate"), run });
        QVERIFY2(asked.exitCode == 0, qPrintable(asked.text + asked.errors));
        QTRY_VERIFY_WITH_TIMEOUT(RunDriver::status(run)[QStringLiteral("eval_loss")].isDouble(), 60'000);
    }

    void stopPauseAndSecondResumeSayWhatTheyDo()
    {
        const QString run = runThatTrains();
        QVERIFY(RunDriver::waitForChunks(run, 5));
        const auto again = RunDriver::ctl({ QStringLiteral("resume"), run });
        QVERIFY(again.exitCode != 0);
        QVERIFY2(again.errors.contains(QStringLiteral("already running")), qPrintable(again.errors));
        const auto trash = RunDriver::ctl(
            { QStringLiteral("trash"), run, QStringLiteral("--workspace"), QFileInfo(run).absolutePath() });
        QVERIFY2(trash.exitCode != 0 && trash.errors.contains(QStringLiteral("is running. Stop it first"))
                && !trash.errors.contains(QStringLiteral("already")), // nobody wanted to train it
            qPrintable(trash.errors));
        QCOMPARE(RunDriver::ctl({ QStringLiteral("pause"), run }).exitCode, 0);
        QTRY_COMPARE_WITH_TIMEOUT(
            RunDriver::status(run)[QStringLiteral("state")].toString(), QStringLiteral("paused"), 5000);
        QCOMPARE(RunDriver::ctl({ QStringLiteral("continue"), run }).exitCode, 0);
        QTRY_COMPARE_WITH_TIMEOUT(
            RunDriver::status(run)[QStringLiteral("state")].toString(), QStringLiteral("running"), 5000);
        const auto stop = RunDriver::ctl({ QStringLiteral("stop"), run, QStringLiteral("--wait") });
        QVERIFY2(stop.exitCode == 0, qPrintable(stop.errors));
        trains_.clear();
        const auto stopped = RunDriver::status(run);
        QCOMPARE(stopped[QStringLiteral("state")].toString(), QStringLiteral("stopped"));
        QCOMPARE(stopped[QStringLiteral("stop_reason")].toString(), QStringLiteral("user"));
        QCOMPARE(stopped[QStringLiteral("chunks")][QStringLiteral("leased")].toInt(-1), 0);
        QCOMPARE(stopped[QStringLiteral("chunks")][QStringLiteral("trained")].toInt(-1), 0);
        const auto idle = RunDriver::ctl({ QStringLiteral("stop"), run });
        QVERIFY(idle.exitCode != 0);
        QVERIFY2(idle.errors.contains(QStringLiteral("not running")), qPrintable(idle.errors));
    }

    /// "The workers evaluate at their next step", and those that were still starting took it for done; so with a save.
    void whatWasAskedForWhileWorkersStartedWasForgotten()
    {
        const QString run = startDetached("evaluated-early",
            slow()
                + QStringList { QStringLiteral("--epochs"), QStringLiteral("50"),
                    QStringLiteral("--checkpoint-minutes"), QStringLiteral("100") });
        for (const auto* what : { "evaluate", "save" })
            QTRY_VERIFY_WITH_TIMEOUT(RunDriver::ctl({ QString::fromLatin1(what), run }).exitCode == 0, 20'000);
        QTRY_VERIFY_WITH_TIMEOUT(RunDriver::status(run)[QStringLiteral("checkpoints")].toInteger() > 0, 60'000);
        QTRY_VERIFY_WITH_TIMEOUT(RunDriver::status(run)[QStringLiteral("eval_loss")].isDouble(), 60'000);
        QCOMPARE(RunDriver::ctl({ QStringLiteral("kill"), run }).exitCode, 0);
        QVERIFY(RunDriver::waitForState(
            run, { QStringLiteral("stopped"), QStringLiteral("interrupted"), QStringLiteral("finished") }));
    }

    void endThatTheLedgerCouldNotTakeIsToldFromTheLog()
    {
        interruptRun();
        const QString run = path("disk-full");
        std::error_code failed;
        std::filesystem::copy(
            interrupted_.toStdString(), run.toStdString(), std::filesystem::copy_options::recursive, failed);
        QVERIFY2(!interrupted_.isEmpty() && !failed, failed.message().c_str());
        QFile log(run + QStringLiteral("/logs/supervisor.log")); // as it is when the disk is full: logged, not recorded
        QVERIFY(log.open(QIODevice::Append));
        log.write(
            "2026-01-01 00:00:00.000 I supervisor  attempt 1 is over: error, the disk is full\nfurrowctl: the disk is full\n");
        log.close();
        const auto status = RunDriver::status(run);
        QCOMPARE(status[QStringLiteral("state")].toString(), QStringLiteral("interrupted"));
        QCOMPARE(status[QStringLiteral("stop_detail")].toString(), QStringLiteral("error, the disk is full"));
    }

    void aRunMarkedAsFinishedSaysSoAndCanStillBeResumed()
    {
        interruptRun();
        const QString run = std::exchange(interrupted_, {});
        QVERIFY(!run.isEmpty() && refusal_ != 0); // it trained
        QCOMPARE(RunDriver::ctl({ QStringLiteral("finish"), run }).exitCode, 0);
        const auto status = RunDriver::status(run);
        QCOMPARE(status[QStringLiteral("state")].toString(), QStringLiteral("finished"));
        QVERIFY(status[QStringLiteral("marked_by_hand")].toBool());
        const auto twice = RunDriver::ctl({ QStringLiteral("finish"), run });
        QCOMPARE(twice.exitCode, 2);
        QVERIFY2(twice.errors.contains(QStringLiteral("is marked as finished already")), qPrintable(twice.errors));
        const auto resumed = RunDriver::ctl({ QStringLiteral("resume"), run, QStringLiteral("--json") });
        QVERIFY2(resumed.exitCode == 0, qPrintable(resumed.text + resumed.errors));
        QVERIFY(!RunDriver::status(run)[QStringLiteral("marked_by_hand")].toBool());
        verifyClean(RunDriver::auditedEpoch(run), 120);
    }

    void fasterWorkersTrainMoreChunks()
    {
        const auto out = RunDriver::ctl({ QStringLiteral("bench"), QStringLiteral("balance"),
            QStringLiteral("--step-ms"), QStringLiteral("40,40,120"), QStringLiteral("--chunks"), QStringLiteral("63"),
            QStringLiteral("--folder"), folder_.path(), QStringLiteral("--json") });
        QVERIFY2(out.exitCode == 0, qPrintable(out.text + out.errors));
        QCOMPARE(out.json[QStringLiteral("chunks")].toInt(), 63);
        const auto workers = out.json[QStringLiteral("workers")];
        const int slow
            = workers[2][QStringLiteral("chunks")].toInt(); // 9 by its speed; a busy machine slows the others more
        for (int fast : { 0, 1 })
            QVERIFY2(workers[fast][QStringLiteral("chunks")].toInt() > 3 * slow / 2, qPrintable(out.text));
        QVERIFY2(workers[0][QStringLiteral("idle_at_end_ms")].toDouble() < 30'000, qPrintable(out.text));
    }

    void everythingKilledAtOnceResumesWithAnotherNumberOfWorkers()
    {
        const QString run = startDetached("all-killed", slow());
        QVERIFY(RunDriver::waitForChunks(run, 20));
        const auto status = RunDriver::status(run);
        QVERIFY(RunDriver::killHard(status[QStringLiteral("supervisor")][QStringLiteral("pid")].toInteger()));
        for (const auto& worker : status[QStringLiteral("workers")].toArray())
            RunDriver::killHard(worker[QStringLiteral("pid")].toInteger());
        QVERIFY(RunDriver::waitForState(run, { QStringLiteral("interrupted") }, 3000));
        const auto resumed = RunDriver::ctl({ QStringLiteral("resume"), run, QStringLiteral("--workers"),
            QStringLiteral("3"), QStringLiteral("--json") });
        QVERIFY2(resumed.exitCode == 0, qPrintable(resumed.text + resumed.errors));
        verifyClean(RunDriver::auditedEpoch(run), 120);
    }

    void stepsAreMetExactlyAndExtendedOnResume()
    {
        const QString run = path("steps");
        const auto first = RunDriver::ctl(QStringList { QStringLiteral("run"), QStringLiteral("--json"),
                                              QStringLiteral("--steps"), QStringLiteral("100") }
            + newRun(run));
        QVERIFY2(first.exitCode == 0, qPrintable(first.text + first.errors));
        QCOMPARE(first.json[QStringLiteral("steps")].toInt(), 100);
        QCOMPARE(first.json[QStringLiteral("stop_reason")].toString(), QStringLiteral("steps"));
        const auto second = RunDriver::ctl({ QStringLiteral("resume"), run, QStringLiteral("--json"),
            QStringLiteral("--steps"), QStringLiteral("200") });
        QVERIFY2(second.exitCode == 0, qPrintable(second.text + second.errors));
        QCOMPARE(second.json[QStringLiteral("steps")].toInt(), 200);
        const auto epoch = RunDriver::auditedEpoch(run);
        QCOMPARE(epoch[QStringLiteral("duplicated")].toInt(-1), 0);
        QCOMPARE(epoch[QStringLiteral("overlapping_claims")].toInt(-1), 0);
    }

    /// The held-out loss of weights that had seen a part of the epoch, or that were not the newest, was told like any.
    void theLossOfAPartWasNotToldAsOne()
    {
        const QString run = path("part");
        const auto out = RunDriver::ctl(QStringList { QStringLiteral("run"), QStringLiteral("--json") } + newRun(run)
            + QStringList { QStringLiteral("--steps"), QStringLiteral("60"), QStringLiteral("--checkpoint-steps"),
                QStringLiteral("20"), QStringLiteral("--keep-last"), QStringLiteral("20"),
                QStringLiteral("--eval-steps"), QStringLiteral("20") });
        QVERIFY2(out.exitCode == 0, qPrintable(out.text + out.errors));
        const auto known = RunDriver::status(run)[QStringLiteral("evaluation")].toObject();
        QCOMPARE(known[QStringLiteral("before_end_of_epoch")].toInt(), 1);
        QVERIFY(known[QStringLiteral("newest_weights")].toBool());
        const QString number = QString::number(known[QStringLiteral("checkpoint")].toInt());
        const QString told = RunDriver::ctl({ QStringLiteral("status"), run }).text;
        QVERIFY2(told.contains(QStringLiteral("; checkpoint %1, before the end of epoch 1, ").arg(number)),
            qPrintable(told));
        const QString newest = RunDriver::ctl({ QStringLiteral("eval"), run }).text;
        QVERIFY2(newest.contains(QStringLiteral("of step 60, before the end of epoch 1\n")), qPrintable(newest));
        const QString old
            = RunDriver::ctl({ QStringLiteral("eval"), run, QStringLiteral("--checkpoint"), QStringLiteral("1") }).text;
        QVERIFY2(old.contains(QStringLiteral(", not the newest, which is ")) && old.contains(QStringLiteral("epoch 1")),
            qPrintable(old));
    }

    /// "ended, 0 tokens/s", and "keeps the epoch open" of a run that had come to its end.
    void whatHasEndedWasSaidToBeOpenAndSlow()
    {
        const QString run = runThatHasEnded();
        QVERIFY2(!run.isEmpty(), qPrintable(saidAtTheEnd_));
        const QString told = saidAtTheEnd_ + RunDriver::ctl({ QStringLiteral("status"), run }).text;
        QVERIFY2(told.contains(QStringLiteral("left when the run ended: ")), qPrintable(told));
        QVERIFY2(
            !told.contains(QStringLiteral(" 0 tokens/s")) && !told.contains(QStringLiteral("keeps the epoch open")),
            qPrintable(told));
        QVERIFY(RunDriver::status(run)[QStringLiteral("tokens_per_s")].isNull());
    }

    /// `resume` made one more attempt that trained nothing, `finish` marked what was finished, and both ended with 0.
    void aFinishedRunWasResumedAndFinishedForNothing()
    {
        const QString run = runThatHasEnded();
        QVERIFY2(!run.isEmpty(), qPrintable(saidAtTheEnd_));
        const auto refused = [&run](const QStringList& words, const char* why) {
            const auto said = RunDriver::ctl(QStringList { words.front(), run } + words.mid(1));
            QCOMPARE(said.exitCode, 2);
            QVERIFY2((said.text + said.errors).contains(QString::fromLatin1(why)), qPrintable(said.text + said.errors));
        };
        refused({ QStringLiteral("finish") }, "is finished already: the requested number of steps was reached.");
        const char* const limit = "nothing was started. The limit of 50 optimiser steps is reached";
        refused({ QStringLiteral("resume") }, limit);
        refused(
            { QStringLiteral("resume"), QStringLiteral("--detach"), QStringLiteral("--steps"), QStringLiteral("9") },
            "The limit of 9 optimiser steps is reached: 50 are done.");
        refused({ QStringLiteral("resume"), QStringLiteral("--dry-run") }, limit);
        const auto status = RunDriver::status(run);
        QCOMPARE(status[QStringLiteral("attempt")].toInt(), 1);
        QVERIFY(!status[QStringLiteral("marked_by_hand")].toBool());
        const auto more = RunDriver::ctl({ QStringLiteral("resume"), run, QStringLiteral("--json"),
            QStringLiteral("--steps"), QStringLiteral("60") });
        QVERIFY2(more.exitCode == 0, qPrintable(more.text + more.errors));
        QCOMPARE(more.json[QStringLiteral("steps")].toInt(), 60);
    }

    void switchNeedsNoWord() // `--stop-after-epoch --out DIR` was refused: "stop_after_epoch is ''"
    {
        const auto out = RunDriver::ctl(
            { QStringLiteral("new"), QStringLiteral("--dry-run"), QStringLiteral("--json"), QStringLiteral("--data"),
                text_, QStringLiteral("--stop-after-epoch"), QStringLiteral("--out"), path("switch") });
        QVERIFY2(out.exitCode == 0, qPrintable(out.errors));
        QVERIFY(out.json[QStringLiteral("stop_after_epoch")].toBool());
    }

    void unknownCommandIsNamed()
    {
        const auto out = RunDriver::ctl({ QStringLiteral("runn") });
        QCOMPARE(out.exitCode, 2);
        QVERIFY2(out.errors.contains(QStringLiteral("'runn' is no command")), qPrintable(out.errors));
    }

    void wrongInputIsRefusedInSentencesAndLeavesNothing_data()
    {
        QTest::addColumn<QStringList>("arguments");
        QTest::addColumn<QString>("says");
        const auto row = [](const char* name, const char* arguments, const char* says) {
            QTest::newRow(name) << QString::fromLatin1(arguments).split(QLatin1Char(' ')) << QString::fromLatin1(says);
        };
        row("missing file", "--data @/absent.txt", "absent.txt");
        row("folder without text", "--data @/empty", "empty");
        row("empty file", "--data @/void.txt", "void.txt");
        row("binary file", "--data @/binary.txt", "binary.txt");
        row("csv without the column", "--data @/table.csv --text-column story", "story");
        row("heads", "--data @/text.txt --heads 3 --width 32", "heads is 3");
        row("several at once", "--data @/text.txt --layers 0 --schedule never", "schedule");
        row("unknown option", "--data @/text.txt --widht 3", "widht");
        row("switch with a wrong word", "--data @/text.txt --iterate=maybe", "iterate is 'maybe'");
        row("unknown preset", "--data @/text.txt --preset nothing", "nothing");
        row("missing tokenizer", "--data @/text.txt --tokenizer @/none.json", "none.json");
        row("unknown gpu", "--data @/text.txt --devices GPU-none", "GPU-none");
    }
    void wrongInputIsRefusedInSentencesAndLeavesNothing()
    {
        QFETCH(QStringList, arguments);
        QFETCH(QString, says);
        QDir(folder_.path()).mkdir(QStringLiteral("empty"));
        const auto write = [this](const char* name, const QByteArray& bytes) {
            QFile file(path(name));
            QVERIFY(file.open(QIODevice::WriteOnly));
            file.write(bytes);
        };
        write("void.txt", "");
        write("binary.txt",
            QByteArray("\x7f"
                       "ELF\0\0\0\1\2\3",
                10)
                + QByteArray(5000, '\0'));
        write("table.csv", "id,text\n1,hello\n2,world\n");
        for (auto& argument : arguments)
            argument.replace(QLatin1Char('@'), folder_.path());
        const QString run = path("refused");
        const auto out = RunDriver::ctl(
            QStringList { QStringLiteral("run"), QStringLiteral("--detach"), QStringLiteral("--out"), run }
            + arguments);
        QVERIFY2(
            out.exitCode == 1 || out.exitCode == 2, qPrintable(QString::number(out.exitCode) + out.text + out.errors));
        QVERIFY2((out.errors + out.text).contains(says), qPrintable(out.errors + out.text));
        QVERIFY(!QFile::exists(run));
        // `new --dry-run` said "Everything is in order" of a file that is missing, empty or no text
        const auto tried = RunDriver::ctl(
            QStringList { QStringLiteral("new"), QStringLiteral("--dry-run"), QStringLiteral("--out"), run }
            + arguments);
        QCOMPARE(tried.exitCode, out.exitCode);
        QVERIFY2((tried.errors + tried.text).contains(says), qPrintable(tried.errors + tried.text));
        QVERIFY(!QFile::exists(run));
    }

    void aStopAfterThisBlockWasCalledFinished() // although chunks of the epoch were left, and a person had asked for it
    {
        const QString run = startDetached("asked",
            slow()
                + QStringList { QStringLiteral("--shuffle-window-blocks"), QStringLiteral("1"),
                    QStringLiteral("--epochs"), QStringLiteral("3") });
        QVERIFY(!run.isEmpty() && RunDriver::waitForChunks(run, 2));
        QCOMPARE(RunDriver::ctl({ QStringLiteral("stop"), run, QStringLiteral("--after"), QStringLiteral("block") })
                     .exitCode,
            0);
        QVERIFY(RunDriver::waitForState(run, { QStringLiteral("stopped"), QStringLiteral("finished") }));
        const auto status = RunDriver::status(run);
        QCOMPARE(status[QStringLiteral("state")].toString(), QStringLiteral("stopped"));
        QCOMPARE(status[QStringLiteral("stop_reason")].toString(), QStringLiteral("user"));
        const auto detail = status[QStringLiteral("stop_detail")].toString();
        QVERIFY2(detail.startsWith(QStringLiteral("after a block; "))
                && detail.contains(QStringLiteral("chunks of the epoch are left")),
            qPrintable(detail));
        QCOMPARE(RunDriver::auditedEpoch(run)[QStringLiteral("missing")].toInt(-1), 0);
    }

    /// `tokenizer train --data mine.txt --out mine.txt` replaced the text by the tokenizer; `bundle --out` replaced any
    /// file.
    void aFileThatIsThereIsNeverReplaced()
    {
        const QString run = path("kept");
        QCOMPARE(RunDriver::ctl(QStringList { QStringLiteral("new") } + newRun(run)).exitCode, 0);
        QFile mine(path("mine.txt"));
        QVERIFY(mine.open(QIODevice::WriteOnly));
        QVERIFY(mine.write("a text of my own, a text of my own") > 0);
        mine.close();
        for (const QStringList& command :
            { QStringList { QStringLiteral("tokenizer"), QStringLiteral("train"), QStringLiteral("--data"), text_ },
                QStringList { QStringLiteral("bundle"), run },
                QStringList { QStringLiteral("tokenize"), text_, QStringLiteral("--ids") } }) {
            const auto out = RunDriver::ctl(command + QStringList { QStringLiteral("--out"), mine.fileName() });
            QVERIFY2(out.exitCode == 2 && out.errors.contains(QStringLiteral("exists already")),
                qPrintable(command.join(QLatin1Char(' ')) + out.errors));
            QVERIFY(mine.open(QIODevice::ReadOnly));
            QVERIFY(mine.readAll().startsWith("a text of my own"));
            mine.close();
        }
    }
};

QTEST_GUILESS_MAIN(TestMainJob)
#include "tst_main_job.moc"
