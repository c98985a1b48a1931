#include "tests/e2e/run_driver.h"

#include "core/base/file_lock.h"
#include "core/tracker/sqlite/database.h"

#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QProcess>
#include <QScopeGuard>
#include <QTemporaryDir>
#include <QTest>
#include <QVersionNumber>

#include <cstring>
#include <filesystem>
#include <map>
#include <sys/stat.h>
#include <unistd.h>

/// Settings, data and weights that cannot work are refused before a run exists, all at once and by name.
class TestRefusals : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        QVERIFY(folder_.isValid());
        QVERIFY(QDir().mkpath(path("workspace")));
        text_ = RunDriver::writeText(folder_.path(), 300);
        QStringList train { QStringLiteral("run"), QStringLiteral("--out"), path("trained"), QStringLiteral("--data"),
            text_, QStringLiteral("--json"), QStringLiteral("--devices"), QStringLiteral("cpu:1"),
            QStringLiteral("--steps"), QStringLiteral("4") };
        QCOMPARE(RunDriver::ctl(train + RunDriver::tinyModel()).exitCode, 0);
        const QDir checkpoints(path("trained/checkpoints"));
        const auto names // newest first: a slow machine has saved before the end, too
            = checkpoints.entryList({ QStringLiteral("r0-*") }, QDir::Dirs | QDir::NoDotAndDotDot, QDir::Time);
        QVERIFY(!names.isEmpty());
        checkpoint_ = checkpoints.filePath(names.front());
    }

    /// Both had versions with known faults: SQLite 3.7.0 to 3.51.2 can damage a tracker, sentencepiece before 0.2.1 can
    /// be led astray by a model file.
    void doctorSaysWhichSqliteAndSentencepieceItHas()
    {
        const QStringList doctor { QStringLiteral("doctor"), QStringLiteral("--workspace"), path("workspace") };
        const auto text = RunDriver::ctl(doctor).text; // what else of this machine it complains of does not matter here
        const auto findings = RunDriver::ctl(doctor + QStringList { QStringLiteral("--json") })
                                  .json[QStringLiteral("findings")]
                                  .toArray();
        const auto isSaidSince = [&](const QString& what, const QVersionNumber& oldest) {
            for (const auto& finding : findings)
                if (finding[QStringLiteral("what")].toString() == what)
                    return finding[QStringLiteral("good")].toBool()
                        && text.contains(
                            QStringLiteral("%1: %2").arg(what, finding[QStringLiteral("value")].toString()))
                        && QVersionNumber::fromString(finding[QStringLiteral("value")].toString()) >= oldest;
            return false;
        };
        QVERIFY2(isSaidSince(QStringLiteral("SQLite"), QVersionNumber(3, 44, 6)), qPrintable(text));
        QVERIFY2(isSaidSince(QStringLiteral("sentencepiece"), QVersionNumber(0, 2, 1)), qPrintable(text));
    }

    /// "Everything works.", and the first run of the workspace met them.
    void doctorNamesPipesInAWorkspace()
    {
        QVERIFY(QDir().mkpath(path("odd")));
        for (const char* name : { "odd/cache", "odd/queue.lock" })
            QCOMPARE(::mkfifo(qPrintable(path(name)), 0600), 0);
        const auto doctor = RunDriver::ctl({ QStringLiteral("doctor"), QStringLiteral("--workspace"), path("odd") });
        QCOMPARE(doctor.exitCode, 1);
        for (const char* name : { "odd/cache is not a folder", "odd/queue.lock: it is not a regular file" })
            QVERIFY2(doctor.text.contains(path(name)), qPrintable(doctor.text));
    }

    /// Random characters, exit code 0, and a word about a prompt that nobody had given.
    void aSampleOfAnUntrainedRunWasTakenForWriting()
    {
        const QStringList make { QStringLiteral("new"), QStringLiteral("--out"), path("untrained"),
            QStringLiteral("--data"), text_ };
        QCOMPARE(RunDriver::ctl(make + RunDriver::tinyModel()).exitCode, 0);
        const auto sample = [this](const char* run) {
            return RunDriver::ctl({ QStringLiteral("sample"), path(run), QStringLiteral("--tokens"),
                QStringLiteral("5"), QStringLiteral("--device"), QStringLiteral("cpu") });
        };
        const auto untrained = sample("untrained");
        QVERIFY2(untrained.exitCode == 0 && untrained.errors.contains(QStringLiteral("no step has trained them")),
            qPrintable(untrained.errors));
        QVERIFY2(!untrained.errors.contains(QStringLiteral("no token")), qPrintable(untrained.errors));
        const auto trained = sample("trained");
        QVERIFY2(
            trained.exitCode == 0 && !trained.errors.contains(QStringLiteral("no step")), qPrintable(trained.errors));
        const auto asked
            = RunDriver::ctl({ QStringLiteral("eval"), path("untrained"), QStringLiteral("--data"), text_ });
        QVERIFY2(
            asked.text.contains(QStringLiteral("no step has trained them")), qPrintable(asked.text + asked.errors));
    }

    /// It waited, and failed when its turn came.
    void aFinishedRunWasTakenByTheQueue()
    {
        const auto out = RunDriver::ctl({ QStringLiteral("queue"), QStringLiteral("add"), path("trained"),
            QStringLiteral("--workspace"), path("workspace") });
        QCOMPARE(out.exitCode, 2);
        QVERIFY2(out.errors.contains(QStringLiteral("is finished, and nothing was started")), qPrintable(out.errors));
    }

    /// Whoever looked first owned the file, and the owner of a shared workspace could queue nothing any more.
    void lookingAtAQueueMadeIt()
    {
        const QTemporaryDir workspace;
        const auto out = RunDriver::ctl(
            { QStringLiteral("queue"), QStringLiteral("list"), QStringLiteral("--workspace"), workspace.path() });
        QCOMPARE(out.exitCode, 0);
        QVERIFY2(out.text.startsWith(QStringLiteral("The queue is empty.")), qPrintable(out.text));
        QVERIFY(QDir(workspace.path()).isEmpty());
    }

    /// Exit 0 and "1 waiting": nothing ever began, and the reason stood in queue.log alone.
    void aQueueWhoseLockCannotBeOpenedSaidThatRunsWait()
    {
        const auto lock = path("workspace/queue.lock");
        const auto queue = [&](const QStringList& what) {
            return RunDriver::ctl(QStringList { QStringLiteral("queue") } + what
                + QStringList { QStringLiteral("--workspace"), path("workspace") });
        };
        QVERIFY(QDir().mkpath(lock));
        const auto tidy = qScopeGuard([&] { QDir().rmdir(lock); });
        const QString why = QStringLiteral("You cannot run this queue");
        for (const auto& command :
            { QStringList { QStringLiteral("add"), path("untrained") }, QStringList { QStringLiteral("start") } }) {
            const auto out = queue(command);
            QCOMPARE(out.exitCode, 1);
            QVERIFY2(out.errors.contains(why) && out.errors.contains(lock), qPrintable(out.errors));
        }
        const auto listed = queue({ QStringLiteral("list") });
        QCOMPARE(listed.exitCode, 0);
        QVERIFY2(
            listed.text.contains(QStringLiteral("is empty")) && listed.text.contains(why), qPrintable(listed.text));
    }

    /// "is not running", said to a resume, and people were told to end Furrow's own merge.
    void aResumeBesideAMergeWasToldToEndIt()
    {
        QProcess merge; // the name is what tells whose program it is
        merge.start(QStringLiteral("bash"),
            { QStringLiteral("-c"), QStringLiteral("exec -a furrow-worker flock -o \"$1\" sleep 20"),
                QStringLiteral("bash"), path("trained/supervisor.lock") });
        QTRY_VERIFY(furrow::isLocked(path("trained/supervisor.lock").toStdString()));
        const auto who = QStringLiteral("is in use: process %1 (furrow-worker").arg(merge.processId());
        for (const auto& command : { QStringList { QStringLiteral("resume") },
                 QStringList { QStringLiteral("resume"), QStringLiteral("--dry-run") },
                 QStringList { QStringLiteral("doctor"), QStringLiteral("--repair") } }) {
            const auto out = RunDriver::ctl(command + QStringList { path("trained") });
            const auto said = out.text + out.errors;
            QVERIFY2(said.contains(who) && said.contains(QStringLiteral("works on it. Wait until that has ended.")),
                qPrintable(said));
        }
        merge.kill();
        QVERIFY(merge.waitForFinished());
    }

    /// "The folder ghp_... is not there": what is said of an error goes into logs and reports.
    void aSecretInPlaceOfARunWasShownByTheQueue()
    {
        const auto token = QStringLiteral("ghp_0123456789abcdefghijABCDEFGHIJ012345");
        qputenv("GITHUB_TOKEN", token.toUtf8());
        const auto forget = qScopeGuard([] { qunsetenv("GITHUB_TOKEN"); });
        for (const auto& command : { QStringList { QStringLiteral("queue"), QStringLiteral("add") },
                 QStringList { QStringLiteral("trash") }, QStringList { QStringLiteral("status") } }) {
            const auto out = RunDriver::ctl(command + QStringList { token });
            QVERIFY(out.exitCode != 0);
            QVERIFY2(out.errors.contains(QStringLiteral("<hidden>")) && !(out.text + out.errors).contains(token),
                qPrintable(out.errors));
        }
    }

    /// `merge RUN --checkpoints ""` merged all the same, `eval RUN --data ""` ended without a word, `queue remove ""`
    /// took the empty text for entry 0, and
    /// before, `status ""` ended the program with the words of the C++ library.
    void anEmptyValueWasTakenForNone_data()
    {
        QTest::addColumn<QString>("line");
        QTest::addColumn<QString>("named");
        const auto row = [](const char* line, const char* named) {
            QTest::newRow(line) << QString::fromLatin1(line) << QString::fromLatin1(named);
        };
        row("merge RUN --checkpoints", "--checkpoints");
        row("merge RUN --method", "--method");
        row("eval RUN --data", "--data");
        row("eval RUN --checkpoint", "--checkpoint");
        row("sample RUN --chat", "--chat");
        row("sample RUN --device", "--device");
        row("export RUN --out OUT --format", "--format");
        row("export RUN --out", "--out");
        row("eval", "run");
        row("status", "run");
        row("trash", "runs");
        row("run --data", "--data");
        row("queue remove", "entry");
        row("queue add RUN", "runs");
        row("queue list --workspace", "--workspace");
        row("trash RUN", "runs");
        row("bundle RUN --out", "--out");
        row("stop RUN --after", "--after");
        row("resume RUN --from-checkpoint", "--from-checkpoint");
        row("resume RUN --rate-plan", "--rate-plan");
        row("exclude RUN", "chunks");
        row("inspect RUN 0:0 --sample", "--sample");
        row("doctor", "run");
        row("data probe", "source");
        row("tokenize TEXT --out", "--out");
        row("torch find", "folder");
        row("storm --dir", "--dir");
        row("bench tracker --workers", "--workers");
        row("new --config", "--config");
        row("settings --init-from", "--init-from");
    }
    void anEmptyValueWasTakenForNone()
    {
        QFETCH(QString, line);
        QFETCH(QString, named);
        verifyEmptyIsRefused(words(line), named);
        QVERIFY(QFile::exists(path("trained/run.json")) && !QFile::exists(path("never-made")));
    }

    /// `new --init-from "$MODEL"` began with random weights when the variable was not set.
    void anEmptySettingWasTakenForNone()
    {
        const auto all = QJsonDocument::fromJson(
            RunDriver::ctl({ QStringLiteral("settings"), QStringLiteral("--json") }).text.toUtf8())
                             .array();
        QVERIFY(all.size() > 80);
        for (const auto& one : all) {
            const auto setting = one.toObject();
            const QString option = setting[QStringLiteral("option")].toString();
            const QStringList switches { QStringLiteral("true"), QStringLiteral("false") };
            if (option == QStringLiteral("--sample-prompt") // a prompt may be empty
                || switches.contains(setting[QStringLiteral("default")].toString())) // the name alone switches it on
                continue;
            verifyEmptyIsRefused({ QStringLiteral("new"), QStringLiteral("--dry-run"), option }, option);
        }
    }

    /// "cannot create the folder d.txt/runs: it or its folder does not exist", after the data had been counted.
    void aFileWasTakenForAFolder_data()
    {
        QTest::addColumn<QString>("line");
        for (const char* line :
            { "new --data TEXT --workspace TEXT", "cache list --workspace TEXT", "cache verify --workspace TEXT",
                "list --workspace TEXT", "queue list --workspace TEXT", "queue run --workspace TEXT",
                "brain list --workspace TEXT", "trash RUN --workspace TEXT", "storm --dir TEXT" })
            QTest::newRow(line) << QString::fromLatin1(line);
    }
    void aFileWasTakenForAFolder()
    {
        QFETCH(QString, line);
        const auto refused = RunDriver::ctl(words(line));
        QCOMPARE(refused.exitCode, 2);
        QVERIFY2(refused.errors.contains(QStringLiteral(" is a file. Name ")), qPrintable(refused.errors));
        QVERIFY(!refused.errors.contains(QStringLiteral("Looking at the data")));
    }

    /// "the name is taken", after the data had been counted; and a link that --out named was replaced.
    void aLinkThatLedNowhereWasANameThatIsTaken_data()
    {
        QTest::addColumn<QString>("link");
        QTest::addColumn<QString>("line");
        QTest::newRow("runs") << "linked/runs" << "new --data TEXT --workspace LINKED";
        QTest::newRow("cache") << "linked/cache" << "new --data TEXT --workspace LINKED --dry-run";
        QTest::newRow("the run") << "linked/out" << "new --data TEXT --out LINKED/out";
    }
    void aLinkThatLedNowhereWasANameThatIsTaken()
    {
        QFETCH(QString, link);
        QFETCH(QString, line);
        QVERIFY(QDir(path("linked")).removeRecursively());
        QVERIFY(QDir().mkpath(path("linked")));
        const QString linked = path(qPrintable(link));
        std::filesystem::create_symlink("/nowhere/else", linked.toStdString());
        const auto refused = RunDriver::ctl(words(line.replace(QStringLiteral("LINKED"), path("linked"))));
        QCOMPARE(refused.exitCode, 2);
        QVERIFY2(refused.errors.contains(linked + QStringLiteral(" is a link to /nowhere/else, where nothing is")),
            qPrintable(refused.errors));
        QVERIFY(!refused.errors.contains(QStringLiteral("Looking at the data")));
        QVERIFY(QFileInfo(linked).isSymLink());
    }

    /// "The queue is empty.", "No brains in /nope yet.": a mistyped workspace, which a look at it made.
    void aWorkspaceThatIsNotThereWasAnEmptyOne_data()
    {
        QTest::addColumn<QString>("line");
        for (const char* line : { "list", "queue list", "queue run", "queue pause", "queue clear", "queue remove 1",
                 "queue next 1", "brain list", "trash RUN" })
            QTest::newRow(line) << QString::fromLatin1(line);
    }
    void aWorkspaceThatIsNotThereWasAnEmptyOne()
    {
        QFETCH(QString, line);
        const auto refused = RunDriver::ctl(words(line) << QStringLiteral("--workspace") << path("nowhere"));
        QCOMPARE(refused.exitCode, 1);
        QVERIFY2(refused.errors.contains(QStringLiteral("nowhere is not there.")), qPrintable(refused.errors));
        QVERIFY(!QFile::exists(path("nowhere")));
    }

    /// The first of them was moved, and then "cannot rename ...: it or its folder does not exist".
    void aRunNamedTwiceWentToTheTrashAndFailed()
    {
        const QString run = path("workspace/runs/twice");
        QVERIFY(QDir().mkpath(run));
        QVERIFY(QFile::copy(path("trained/run.json"), run + QStringLiteral("/run.json")));
        const auto refused = RunDriver::ctl({ QStringLiteral("trash"), run, run + QStringLiteral("/"),
            QStringLiteral("--workspace"), path("workspace") });
        QCOMPARE(refused.exitCode, 2);
        QVERIFY2(
            refused.errors.contains(QStringLiteral("is named twice. Nothing was moved.")), qPrintable(refused.errors));
        QVERIFY(QFile::exists(run));
        QVERIFY(QDir(run).removeRecursively());
    }

    /// The list of brains left it out without a word.
    void aRunThatCannotBeReadWasNoBrain()
    {
        const QString run = path("workspace/runs/torn");
        QVERIFY(QDir().mkpath(run));
        QFile file(run + QStringLiteral("/run.json"));
        QVERIFY(file.open(QIODevice::WriteOnly) && file.write("{") == 1);
        file.close();
        QStringList list { QStringLiteral("brain"), QStringLiteral("list"), QStringLiteral("--workspace"),
            path("workspace") };
        QVERIFY(RunDriver::ctl(list).text.startsWith(QStringLiteral("cannot be read  ") + run));
        const auto said = RunDriver::ctl(list << QStringLiteral("--json")).text;
        const auto brains = QJsonDocument::fromJson(said.toUtf8()).array();
        QCOMPARE(brains.size(), 1);
        QCOMPARE(brains[0][QStringLiteral("run")].toString(), run);
        QVERIFY(!brains[0][QStringLiteral("problem")].toString().isEmpty());
        QVERIFY(QDir(run).removeRecursively());
    }

    /// It was kept, and an audit printed all of it once an epoch.
    void aCauseOfAHundredThousandLettersWasKept()
    {
        const auto refused = RunDriver::ctl({ QStringLiteral("exclude"), path("trained"), QStringLiteral("0:0"),
            QStringLiteral("--cause"), QString(100'000, QLatin1Char('x')) });
        QCOMPARE(refused.exitCode, 2);
        QVERIFY2(refused.errors.contains(QStringLiteral("The cause is 100,000 bytes long, allowed are 1,000")),
            qPrintable(refused.errors));
    }

    /// "-1 steps, 9,223,372,036,854,775,807 tokens", and not a word more.
    void aForgedBudgetWasShownAsTheFigures()
    {
        const QString run = path("forged");
        QVERIFY(QProcess::execute(QStringLiteral("cp"), { QStringLiteral("-a"), path("trained"), run }) == 0);
        {
            auto tracker = furrow::Database::open((run + QStringLiteral("/tracker.sqlite")).toStdString(), {});
            QVERIFY(tracker.ok());
            tracker.value().script("UPDATE budget SET steps=-1");
            QVERIFY(tracker.value().takeStatus().ok());
        }
        const auto said = RunDriver::ctl({ QStringLiteral("status"), run });
        QVERIFY2((said.text + said.errors).contains(QStringLiteral("it has total of steps -1, which no run can have")),
            qPrintable(said.text + said.errors));
    }

    /// The list of a cache made one, and knew nothing of the caches of runs that lie beside `runs`.
    void theListOfACacheMadeOneAndMissedThoseOfRuns()
    {
        const auto listed = RunDriver::ctl(
            { QStringLiteral("cache"), QStringLiteral("list"), QStringLiteral("--workspace"), folder_.path() });
        QCOMPARE(listed.exitCode, 0);
        QVERIFY(!QFile::exists(path("cache")));
        QVERIFY2(listed.text.contains(QStringLiteral("0 files")) && listed.text.contains(path("trained has: ")),
            qPrintable(listed.text));
    }

    /// A storm damages files, and made its folder inside a run.
    void aStormBeganInsideARun()
    {
        for (const char* where : { "trained", "trained/checkpoints" }) {
            const auto refused = RunDriver::ctl({ QStringLiteral("storm"), QStringLiteral("--dir"), path(where) });
            QCOMPARE(refused.exitCode, 2);
            QVERIFY2(refused.errors.contains(QStringLiteral("lies in the run")), qPrintable(refused.errors));
        }
    }

    /// "RUN trains, supervised by process 626", and a moment later it had failed.
    void aRunThatFailedAtOnceWasSaidToTrain()
    {
        QFile weights(checkpoint_ + QStringLiteral("/weights.safetensors"));
        QVERIFY(weights.open(QIODevice::ReadWrite));
        const auto bytes = weights.readAll();
        const auto write = [&](const QByteArray& all) {
            return weights.seek(0) && weights.write(all) == all.size() && weights.flush();
        };
        auto harmed = bytes;
        harmed[harmed.size() - 1] = static_cast<char>(~harmed[harmed.size() - 1]);
        QVERIFY(write(harmed));
        const auto resumed = RunDriver::ctl({ QStringLiteral("resume"), path("trained"), QStringLiteral("--detach"),
            QStringLiteral("--steps"), QStringLiteral("8") });
        QVERIFY(write(bytes));
        QVERIFY2(resumed.exitCode == 1 && resumed.text.isEmpty(), qPrintable(resumed.text + resumed.errors));
        QVERIFY2(resumed.errors.contains(QStringLiteral("--accept-loss")), qPrintable(resumed.errors));
    }

    /// Root left files in the run of a user that they could not write afterwards.
    void rootWroteIntoTheRunOfAUser()
    {
        constexpr uid_t kNobody = 65534;
        if (geteuid() != 0)
            QSKIP("only root can be another user");
        const auto run = path("trained").toStdString();
        QVERIFY(chown(run.c_str(), kNobody, kNobody) == 0);
        const QDir folder(path("trained"));
        const auto before = folder.entryList(QDir::AllEntries | QDir::Hidden);
        for (const char* line : { "resume RUN --steps 8", "finish RUN", "exclude RUN 0:0", "merge RUN",
                 "doctor RUN --repair", "queue add RUN --workspace SPACE" }) {
            const auto refused = RunDriver::ctl(words(QString::fromLatin1(line)));
            QVERIFY2((refused.text + refused.errors).contains(QStringLiteral("belongs to user nobody"))
                    && refused.errors.contains(QStringLiteral("sudo -u nobody")),
                qPrintable(refused.text + refused.errors));
            QVERIFY(refused.exitCode != 0);
        }
        QVERIFY(folder.entryList(QDir::AllEntries | QDir::Hidden) == before);
        const auto trashed = RunDriver::ctl(
            { QStringLiteral("trash"), path("trained"), QStringLiteral("--workspace"), folder_.path() });
        QVERIFY2(trashed.exitCode != 0 && trashed.errors.contains(QStringLiteral("sudo -u nobody"))
                && !QDir(path("trash")).exists(), // whose owner could use it no more
            qPrintable(trashed.text + trashed.errors));
        QCOMPARE(RunDriver::ctl(words(QStringLiteral("status RUN"))).exitCode, 0);
        const auto audited = RunDriver::ctl(words(QStringLiteral("audit RUN --deep"))); // reads, in a cache of its own
        QVERIFY2(audited.exitCode == 0, qPrintable(audited.text + audited.errors));
        QVERIFY(chown(run.c_str(), 0, 0) == 0);
    }

    /// sudo that keeps HOME made ~/furrow as root, and its user could never train again.
    void rootMadeAWorkspaceInTheHomeOfAUser()
    {
        constexpr uid_t kNobody = 65534;
        if (geteuid() != 0)
            QSKIP("only root can be another user");
        QVERIFY(QDir(folder_.path()).mkpath(QStringLiteral("home")));
        QVERIFY(chown(qPrintable(path("home")), kNobody, kNobody) == 0);
        std::map<const char*, QByteArray> before;
        for (const char* name : { "HOME", "FURROW_WORKSPACE", "XDG_DATA_HOME" })
            before[name] = qgetenv(name);
        const auto restore = qScopeGuard([&before] {
            for (const auto& [name, value] : before)
                value.isNull() ? qunsetenv(name) : qputenv(name, value);
        });
        qputenv("HOME", path("home").toUtf8());
        qunsetenv("FURROW_WORKSPACE");
        qunsetenv("XDG_DATA_HOME");
        for (const char* line : { "new --data TEXT", "run --data TEXT --steps 2", "queue add RUN", "queue start",
                 "new --data TEXT --out HOME/run", "new --data TEXT --workspace HOME/deep/space" }) {
            const bool makes = !QByteArray(line).startsWith("queue");
            auto command = words(QString::fromLatin1(line).replace(QStringLiteral("HOME"), path("home")));
            const auto refused = RunDriver::ctl(makes ? command + RunDriver::tinyModel() : command);
            QVERIFY2(refused.exitCode != 0 && refused.errors.contains(QStringLiteral("sudo -u nobody")),
                qPrintable(QString::fromLatin1(line) + refused.text + refused.errors));
        }
        QVERIFY(QDir(path("home")).isEmpty(QDir::AllEntries | QDir::Hidden | QDir::NoDotAndDotDot));
    }

    void aFolderThatIsNoRunGotALock()
    {
        QVERIFY(QDir(folder_.path()).mkpath(QStringLiteral("no-run")));
        for (const char* command : { "finish", "merge" }) {
            QVERIFY(RunDriver::ctl({ QString::fromLatin1(command), path("no-run") }).exitCode != 0);
            QVERIFY(QDir(path("no-run")).isEmpty());
        }
    }

    void wrongSettingsAreRefusedByName_data()
    {
        QTest::addColumn<QStringList>("options");
        QTest::addColumn<QStringList>("named");
        const auto row = [](const char* name, const char* options, const char* named) {
            QTest::newRow(name) << QString::fromLatin1(options).split(QLatin1Char(' '))
                                << QString::fromLatin1(named).split(QLatin1Char(' '));
        };
        row("heads that do not divide the width", "--heads 3", "heads width");
        row("key-value heads", "--kv-heads 3 --heads 4", "kv_heads");
        row("rate of nought", "--lr 0 --min-lr 0", "lr");
        row("rate of a billion", "--lr 1e9", "lr");
        row("no epochs", "--epochs 0", "epochs");
        row("steps below nought", "--steps -1", "steps");
        row("batch of nought", "--batch-size 0", "batch_size");
        row("batch larger than a chunk", "--batch-size 4000", "batch_size chunk_samples");
        row("window larger than the data", "--seq-len 100000", "seq_len");
        row("all samples filtered", "--min-chars 100000", "min_chars");
        row("precision the device lacks", "--precision fp16 --devices cpu", "precision fp16");
        row("unknown optimizer", "--optimizer lion", "optimizer adamw8bit");
        row("one expert", "--moe-experts 1", "moe_experts");
        row("pairs for a model that takes none", "--lora-rank 4 --architecture hrm", "lora_rank");
        row("pairs beside random weights", "--lora-rank 4", "lora_rank init_from");
        row("dropout where there is none", "--dropout 0.1 --architecture hrm", "dropout");
        row("all wrong settings in one list",
            "--heads 3 --lr 0 --min-lr 0 --precision fp16 --devices cpu --moe-experts 1",
            "heads lr precision moe_experts");
    }

    void wrongSettingsAreRefusedByName()
    {
        QFETCH(QStringList, options);
        QFETCH(QStringList, named);
        verifyRefused(options, named, 2);
    }

    void aFileOfSettingsNestedWithoutEndBrokeTheStack_data()
    {
        QTest::addColumn<QByteArray>("content");
        QTest::addColumn<QString>("why");
        constexpr int kLevels = 1'000'000;
        QTest::newRow("a file of brackets") << QByteArray(kLevels, '[') << QStringLiteral("deeper than 64 levels");
        QTest::newRow("a setting of brackets") << "{\"lr\":" + QByteArray(kLevels, '[') + QByteArray(kLevels, ']') + "}"
                                               << QStringLiteral("deeper than 64 levels");
        QTest::newRow("no JSON") << QByteArray("lr: 3") << QStringLiteral("not JSON at byte 1");
    }
    void aFileOfSettingsNestedWithoutEndBrokeTheStack()
    {
        QFETCH(QByteArray, content);
        QFETCH(QString, why);
        QFile file(path("settings.json"));
        QVERIFY(file.open(QIODevice::WriteOnly) && file.write(content) == content.size());
        file.close();
        verifyRefused({ QStringLiteral("--config"), file.fileName() }, { file.fileName(), why }, 2);
    }

    void wrongWeightsAreRefusedWithTheTensorNamed_data()
    {
        QTest::addColumn<QString>("harm");
        QTest::addColumn<QStringList>("options");
        QTest::addColumn<QStringList>("named");
        const auto none = QStringList();
        QTest::newRow("no such folder") << QStringLiteral(
            "missing") << none << QStringList { QStringLiteral("init_from"), QStringLiteral("there is nothing at") };
        QTest::newRow("another width") << QString() << QStringList { QStringLiteral("--width"), QStringLiteral("64") }
                                       << QStringList { QStringLiteral("tensor 'embed.weight'"),
                                              QStringLiteral("shape") };
        QTest::newRow("a layer more") << QString() << QStringList { QStringLiteral("--layers"), QStringLiteral("2") }
                                      << QStringList { QStringLiteral("tensor 'blocks.1."), QStringLiteral("missing") };
        QTest::newRow("no biases") << QString() << QStringList { QStringLiteral("--bias=true") }
                                   << QStringList { QStringLiteral("bias'"), QStringLiteral("missing") };
        QTest::newRow("not a number") << QStringLiteral("nan") << none
                                      << QStringList { QStringLiteral("tensor '"), QStringLiteral("NaN") };
        QTest::newRow("cut off") << QStringLiteral("cut") << none
                                 << QStringList { QStringLiteral("weights.safetensors") };
        QTest::newRow("header of a terabyte")
            << QStringLiteral("header") << none << QStringList { QStringLiteral("header length") };
    }

    void wrongWeightsAreRefusedWithTheTensorNamed()
    {
        QFETCH(QString, harm);
        QFETCH(QStringList, options);
        QFETCH(QStringList, named);
        const QString from = harm == QStringLiteral("missing") ? path("nothing-here") : harmed(harm);
        verifyRefused(options + QStringList { QStringLiteral("--init-from"), from }, named, 2);
    }

    void goodWeightsAreTaken()
    {
        const auto made = RunDriver::ctl(command() + QStringList { QStringLiteral("--init-from"), harmed(QString()) });
        QVERIFY2(made.exitCode == 0, qPrintable(made.errors + made.text));
    }

    void aRunIsEvaluatedAndSampledBeforeItsFirstStep() // "The run has no checkpoint yet: train it first."
    {
        const auto arguments = command() + QStringList { QStringLiteral("--init-from"), checkpoint_ };
        QCOMPARE(RunDriver::ctl(arguments).exitCode, 0);
        const auto fresh = RunDriver::ctl({ QStringLiteral("eval"), arguments[3], QStringLiteral("--json") });
        const auto origin = RunDriver::ctl({ QStringLiteral("eval"), path("trained"), QStringLiteral("--json") });
        QVERIFY2(fresh.exitCode == 0 && origin.exitCode == 0, qPrintable(fresh.errors + fresh.text + origin.text));
        QCOMPARE(fresh.json[QStringLiteral("loss")].toDouble(), origin.json[QStringLiteral("loss")].toDouble());
        QCOMPARE(fresh.json[QStringLiteral("checkpoint")].toString(), QStringLiteral("start weights"));
        QCOMPARE(fresh.json[QStringLiteral("step")].toInt(), 0);
        const auto text = RunDriver::ctl({ QStringLiteral("sample"), arguments[3], QStringLiteral("--tokens"),
            QStringLiteral("5"), QStringLiteral("--json") });
        QVERIFY2(
            text.exitCode == 0 && text.json[QStringLiteral("tokens")].toInt() > 0, qPrintable(text.errors + text.text));
    }

    void choicesOfSamplingThatMeanNothingAreRefused_data()
    {
        QTest::addColumn<QStringList>("options");
        QTest::newRow("top-k below nought") << QStringList { QStringLiteral("--top-k"), QStringLiteral("-3") };
        QTest::newRow("top-p above one") << QStringList { QStringLiteral("--top-p"), QStringLiteral("1.5") };
        QTest::newRow("no tokens") << QStringList { QStringLiteral("--tokens"), QStringLiteral("0") };
        QTest::newRow("heat that is not a number")
            << QStringList { QStringLiteral("--temperature"), QStringLiteral("warm") };
    }

    void choicesOfSamplingThatMeanNothingAreRefused()
    {
        QFETCH(QStringList, options);
        const auto refused = RunDriver::ctl(QStringList { QStringLiteral("sample"), path("trained") } + options);
        const QString said = refused.text + refused.errors;
        QCOMPARE(refused.exitCode, 2);
        QVERIFY2(said.contains(options.front()) && !said.contains(QStringLiteral("furrow-worker")), qPrintable(said));
    }

    /// 2 for what can never be as it was asked for, 1 for what is not there; README.md says so of every command.
    void wrongUsageEndsWithItsOwnExitCode_data()
    {
        QTest::addColumn<QString>("line");
        QTest::addColumn<int>("exitCode");
        const auto rows = [](int exitCode, std::initializer_list<const char*> lines) {
            for (const char* line : lines)
                QTest::newRow(line) << QString::fromLatin1(line) << exitCode;
        };
        rows(2,
            { "nonsense", "status", "status RUN more", "status RUN --nonsense", "list --workspace", "queue nonsense",
                "chunks nonsense", "brain nonsense", "bench nonsense", "new --preset nope", "run --preset nope",
                "settings --preset nope", "estimate --preset nope", "settings --init-from NOWHERE",
                "estimate --init-from NOWHERE", "estimate --heads 3", "fit --preset nope",
                "data probe TEXT --preset nope", "bench train --preset nope", "bench checkpoint --preset nope",
                "bench overhead --preset nope", "bench train --batch-size -3", "bench train --precision fp7",
                "bench train --device nope", "bench tracker --seconds -1", "bench tracker --workers 0",
                "bench tracker --chunks -5", "bench data --only nope --samples 1000", "resume RUN --rate-plan nope",
                "resume RUN --from-checkpoint nope", "resume RUN --from-checkpoint nope --dry-run",
                "resume RUN --layers 3", "pause RUN", "stop RUN --after tea", "inspect RUN foo", "inspect RUN 9:9",
                "inspect RUN 0:999", "inspect RUN 0:0 --epoch 9", "inspect RUN 0:0 --epoch -1",
                "inspect RUN 0:0 --sample 999", "exclude RUN foo", "exclude RUN 9:9", "chunks retry RUN 0:0",
                "compare RUN", "queue remove 99 --workspace SPACE", "queue move 99 0 --workspace SPACE",
                "queue next 99 --workspace SPACE", "eval RUN --checkpoint nope", "eval RUN --device nope",
                "eval RUN --threads 0", "sample RUN --checkpoint nope", "sample RUN --seed -1", "export RUN --out RUN",
                "export RUN --format csv --out RUN", "export RUN --format csv --out OUT --checkpoint nope",
                "export RUN --out OUT --checkpoint nope", "merge RUN --method nope", "merge RUN --checkpoints nope",
                "merge RUN --checkpoints nope,no", "cache nope", "cache trim --gib -1", "tokenize TEXT --decode",
                "tokenizer train --data TEXT --size 3 --out OUT", "storm --only nope", "completion tcsh" });
        rows(1,
            { "status NOWHERE", "audit NOWHERE", "resume NOWHERE", "pause NOWHERE", "finish NOWHERE", "kill NOWHERE",
                "inspect NOWHERE 0:0", "exclude NOWHERE 0:0", "chunks list NOWHERE", "compare RUN NOWHERE",
                "queue add NOWHERE --workspace SPACE", "bundle NOWHERE --out OUT", "eval NOWHERE",
                "export NOWHERE --out OUT", "export NOWHERE --format csv --out OUT", "merge NOWHERE",
                "brain show NOWHERE", "doctor NOWHERE" });
    }
    void wrongUsageEndsWithItsOwnExitCode()
    {
        QFETCH(QString, line);
        QFETCH(int, exitCode);
        const auto refused = RunDriver::ctl(words(line));
        const QString said = refused.text + refused.errors;
        QVERIFY2(
            refused.exitCode == exitCode, qPrintable(QString::number(refused.exitCode) + QStringLiteral(": ") + said));
        QVERIFY2(!said.trimmed().isEmpty() && !said.contains(QStringLiteral("797693134862315708")), qPrintable(said));
        if (exitCode == 1) // one sentence for all of them, and none of a part that is missing
            QVERIFY2(
                said.contains(QStringLiteral("The folder ")) && said.contains(QStringLiteral("nowhere is not there")),
                qPrintable(said));
        QVERIFY(!QFile::exists(path("never-made")));
    }

    /// "The name of a data file, or a line of the list in exclude, holds an address with a password": it was a template
    /// that writes a link.
    void aChatTemplateWithAWebAddressWasRefusedAsASecret()
    {
        const auto write = [this](const char* name, const QByteArray& text) {
            QFile file(path(name));
            return file.open(QIODevice::WriteOnly) && file.write(text) == text.size() ? file.fileName() : QString();
        };
        QByteArray rows;
        for (int i = 0; i < 400; ++i)
            rows += QByteArray("{'messages':[{'role':'user','content':'how many is it'},"
                               "{'role':'assistant','content':'it is # of them'}]}\n")
                        .replace('\'', '"')
                        .replace("#", QByteArray::number(i));
        const QString data = write("chats.jsonl", rows);
        const QString chat = write("linking.jinja",
            "{# https://docs.example.org/chat?version=3&session=ab12cd34ef56&sig=0123456789abcdef #}"
            "{% for m in messages %}<{{ m.role }}>{{ m.content }}</{{ m.role }}>{% endfor %}");
        const auto made = RunDriver::ctl(QStringList { QStringLiteral("new"), QStringLiteral("--out"), path("linking"),
                                             QStringLiteral("--data"), data, QStringLiteral("--chat-template"), chat }
            + RunDriver::tinyModel());
        QVERIFY2(made.exitCode == 0, qPrintable(made.text + made.errors));
        qputenv("FURROW_TEST_TOKEN", "ab12cd34ef56");
        const auto refused
            = RunDriver::ctl(QStringList { QStringLiteral("new"), QStringLiteral("--out"), path("telling"),
                                 QStringLiteral("--data"), data, QStringLiteral("--chat-template"), chat }
                + RunDriver::tinyModel());
        qunsetenv("FURROW_TEST_TOKEN");
        QVERIFY2(refused.exitCode == 2
                && (refused.text + refused.errors)
                    .contains(QStringLiteral("The chat template holds the secret of the environment variable")),
            qPrintable(refused.text + refused.errors));
    }

    void aWarmUpLongerThanTheRunIsTold() // the rate crept to a fortieth of what was asked for, without a word
    {
        auto arguments = command()
            + QStringList { QStringLiteral("--warmup-steps"), QStringLiteral("400"), QStringLiteral("--steps"),
                  QStringLiteral("10") };
        arguments.removeAll(QStringLiteral("--json"));
        const auto made = RunDriver::ctl(arguments);
        QCOMPARE(made.exitCode, 0);
        QVERIFY2(made.errors.contains(QStringLiteral("warmup_steps is 400")), qPrintable(made.errors));
        const auto quiet = RunDriver::ctl(QStringList { QStringLiteral("new"), QStringLiteral("--out"), path("quiet"),
                                              QStringLiteral("--data"), text_ }
            + RunDriver::tinyModel());
        QVERIFY2(!quiet.errors.contains(QStringLiteral("warmup_steps")), qPrintable(quiet.errors));
    }

private:
    /// The arguments of a line, with the things of this test in place of words in capitals.
    QStringList words(QString line) const
    {
        line.replace(QStringLiteral("RUN"), path("trained"));
        line.replace(QStringLiteral("NOWHERE"), path("nowhere"));
        line.replace(QStringLiteral("TEXT"), text_);
        line.replace(QStringLiteral("OUT"), path("never-made"));
        line.replace(QStringLiteral("SPACE"), path("workspace"));
        return line.split(QLatin1Char(' '));
    }

    /// @param arguments  the value behind the last one is empty
    static void verifyEmptyIsRefused(const QStringList& arguments, const QString& named)
    {
        const auto refused = RunDriver::ctl(arguments + QStringList { QString() });
        const QString said = refused.text + refused.errors;
        QVERIFY2(refused.exitCode == 2, qPrintable(QString::number(refused.exitCode) + QStringLiteral(": ") + said));
        QVERIFY2(said.startsWith(QStringLiteral("furrowctl: ") + named + QStringLiteral(": the value is empty.")),
            qPrintable(named + QStringLiteral(": ") + said));
    }

    QString path(const char* name) const { return folder_.filePath(QString::fromLatin1(name)); }

    QStringList command()
    {
        return QStringList { QStringLiteral("new"), QStringLiteral("--json"), QStringLiteral("--out"),
            folder_.filePath(QStringLiteral("run-%1").arg(++runs_)), QStringLiteral("--data"), text_ }
        + RunDriver::tinyModel();
    }

    void verifyRefused(const QStringList& options, const QStringList& named, int exitCode)
    {
        const auto arguments = command() + options;
        const auto refused = RunDriver::ctl(arguments);
        const QString said = refused.text + refused.errors;
        QVERIFY2(refused.exitCode == exitCode, qPrintable(said));
        for (const auto& name : named)
            QVERIFY2(said.contains(name), qPrintable(name + QStringLiteral(" is not named in: ") + said));
        QVERIFY(!QFile::exists(arguments[3])); // nothing was made
    }

    /// A copy of the checkpoint's weights with one thing wrong.
    QString harmed(const QString& harm)
    {
        const QString folder = folder_.filePath(QStringLiteral("weights-%1").arg(++runs_));
        QDir().mkpath(folder);
        QFile source(checkpoint_ + QStringLiteral("/weights.safetensors"));
        if (!source.open(QIODevice::ReadOnly))
            return {};
        QByteArray bytes = source.readAll();
        if (harm == QStringLiteral("nan"))
            std::memcpy(bytes.data() + bytes.size() - 4, "\x00\x00\xc0\x7f", 4);
        else if (harm == QStringLiteral("cut"))
            bytes.chop(100);
        else if (harm == QStringLiteral("header"))
            bytes[5] = 1;
        QFile target(folder + QStringLiteral("/weights.safetensors"));
        if (target.open(QIODevice::WriteOnly))
            target.write(bytes);
        return folder;
    }

    QTemporaryDir folder_;
    QString text_;
    QString checkpoint_;
    int runs_ = 0;
};

QTEST_GUILESS_MAIN(TestRefusals)
#include "tst_refusals.moc"
