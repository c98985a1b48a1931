// Real runs in many situations: status, audit, dry run, brain, list and exports, as text and as JSON, and what the
// console has read out, tell the same numbers. A failure names situation, number and the two views. (Invented runs in
// more situations, replays among them: tests/ui/pages/tst_truth_table.cpp.)

#include "core/base/clock.h"
#include "core/base/path.h"
#include "core/tracker/ledger_reader.h"
#include "core/trials/bench/data_bench.h"
#include "tests/e2e/console_truths.h"
#include "tests/e2e/run_driver.h"
#include "tests/must_have.h"
#include "tests/truths.h"

#include <QFile>
#include <QJsonArray>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>
#include <cmath>
#include <memory>

using namespace furrow::test;

namespace {

using Ctl = RunDriver;

qint64 number(QString text) { return text.remove(QLatin1Char(',')).toLongLong(); }

QRegularExpression lines(const QString& pattern)
{
    return QRegularExpression(pattern, QRegularExpression::MultilineOption);
}

/// What a run says of itself at one moment, in every way it has.
class Views {
public:
    explicit Views(const QString& run)
        : run_(run)
        , status_(Ctl::status(run))
        , statusText_(Ctl::ctl({ QStringLiteral("status"), run }).text)
        , audit_(Ctl::ctl({ QStringLiteral("audit"), run, QStringLiteral("--quick"), QStringLiteral("--json") }).json)
        , auditText_(Ctl::ctl({ QStringLiteral("audit"), run, QStringLiteral("--quick") }).text)
    {
    }

    /// @param alive  processes of the run are there: what a resume would find is not known yet. While they train, each
    /// view has counted a moment later
    Truths tell(bool alive)
    {
        addChunks();
        addRows();
        addWorkers();
        if (!alive || state() == QLatin1String("paused")) {
            addWork();
            addEvaluation();
        }
        if (!alive) {
            addDryRun();
            addBrain();
        }
        return truths_;
    }
    /// What was trained in the whole run, from what nobody changes any more.
    Truths tellTraining()
    {
        addWork();
        addExport();
        addTrainedChunks();
        return truths_;
    }
    QString state() const { return status_[QStringLiteral("state")].toString(); }
    QString stateInText() const { return lines(QStringLiteral("\\A.*\\n(\\w+)")).match(statusText_).captured(1); }
    QString stateInList() const
    {
        const auto workspace = run_.section(QLatin1Char('/'), 0, -3);
        return lines(QStringLiteral("^(\\S+) .*%1$").arg(QRegularExpression::escape(run_)))
            .match(Ctl::ctl({ QStringLiteral("list"), QStringLiteral("--workspace"), workspace }).text)
            .captured(1);
    }
    /// Of each checkpoint that can be gone back to: what the list of a plain dry run says of it, and what a dry run
    /// from it says.
    Truths tellChoices()
    {
        addDryRunsFrom(
            Ctl::ctl({ QStringLiteral("resume"), run_, QStringLiteral("--dry-run"), QStringLiteral("--json") }).json);
        return truths_;
    }
    /// Checkpoints from which a dry run was asked.
    int choices() const { return choices_; }
    bool isClean() const { return audit_[QStringLiteral("clean")].toBool(); }
    QString all() const { return statusText_ + auditText_; }

private:
    void say(const char* what, const char* view, qint64 value)
    {
        truths_[QString::fromLatin1(what)][QString::fromLatin1(view)] = value;
    }
    qint64 chunks(const char* state) const
    {
        return status_[QStringLiteral("chunks")][QLatin1String(state)].toInteger();
    }
    /// The epochs that the status speaks of.
    QSet<qint64> shown() const
    {
        QSet<qint64> epochs;
        for (const auto& epoch : status_[QStringLiteral("epochs")].toArray())
            epochs.insert(epoch[QStringLiteral("epoch")].toInteger());
        return epochs;
    }
    qint64 overStatus(const char* group, const char* name) const
    {
        qint64 sum = 0;
        for (const auto& epoch : status_[QStringLiteral("epochs")].toArray())
            sum += epoch[QLatin1String(group)][QLatin1String(name)].toInteger();
        return sum;
    }
    qint64 overAudit(const QStringList& path, bool allEpochs = false) const
    {
        const auto which = shown();
        qint64 sum = 0;
        for (const auto& epoch : audit_[QStringLiteral("epochs")].toArray()) {
            QJsonValue value = epoch;
            for (const auto& name : path)
                value = value[name];
            if (allEpochs || which.contains(epoch[QStringLiteral("epoch")].toInteger()))
                sum += value.toInteger();
        }
        return sum;
    }
    /// "committed 3" in the text of the audit, over the shown epochs.
    qint64 overAuditText(const QString& name) const
    {
        qint64 sum = 0;
        for (const auto epoch : shown()) {
            const auto one
                = lines(QStringLiteral("^epoch %1:[^\\n]*\\n((?:  .*\\n)*)").arg(epoch)).match(auditText_).captured(1);
            sum += number(lines(QStringLiteral("\\b%1 ([\\d,]+)").arg(name)).match(one).captured(1));
        }
        return sum;
    }
    qint64 overStatusText(const QString& pattern) const
    {
        qint64 sum = 0;
        for (auto match = lines(pattern).globalMatch(statusText_); match.hasNext();)
            sum += number(match.next().captured(1));
        return sum;
    }

    void addChunks()
    {
        for (const char* state : { "committed", "excluded", "poisoned", "accepted" }) {
            say(state, "status --json", chunks(state));
            say(state, "status --json, its epochs", overStatus("chunks", state));
            say(state, "audit --json", overAudit({ QLatin1String(state) }));
            say(state, "audit", overAuditText(QLatin1String(state)));
        }
        say("committed", "status", overStatusText(QStringLiteral("^epoch .*, chunks ([\\d,]+) of")));
        say("excluded", "status", overStatusText(QStringLiteral("^epoch .* committed, ([\\d,]+) left out")));
        qint64 fields = 0;
        for (const char* state : { "pending", "free", "leased", "trained", "committed", "excluded", "poisoned",
                 "accepted", "lost", "claimed_by_gone", "partly_trained", "trained_by_parent" })
            fields += chunks(state);
        if (!status_[QStringLiteral("chunks")][QStringLiteral("total")].isNull()) {
            say("chunks", "status --json, its fields", fields);
            say("chunks", "status --json", chunks("total"));
        }
        const qint64 remaining = chunks("total") - chunks("committed") - chunks("excluded") - chunks("accepted")
            - chunks("poisoned") - chunks("trained_by_parent"); // what cannot be read is not to come
        say("remaining", "status --json", remaining);
        say("remaining", "audit --json", overAudit({ QStringLiteral("remaining") }));
        say("remaining", "audit", overAuditText(QStringLiteral("remaining")));
        const qint64 ofParent = overAudit({ QStringLiteral("trained_by_parent"), QStringLiteral("skipped") });
        say("of the parent", "audit --json", ofParent);
        say("of the parent", "audit", overAuditText(QStringLiteral("trained by the parent run:")));
        say("of the parent", "status --json", chunks("trained_by_parent"));
        say("of the parent", "status",
            overStatusText(QStringLiteral("trained by the parent run: [\\d,]+ rows? in ([\\d,]+) chunk")));
        say("expected", "status --json", chunks("total") - chunks("excluded") - chunks("trained_by_parent"));
        const qint64 excluded = ofParent
            + overAudit({ QStringLiteral("excluded") }); // the audit counts what is left out among what it expects
        say("expected", "audit --json", overAudit({ QStringLiteral("expected") }) - excluded);
        say("expected", "audit", overAuditText(QStringLiteral("expected")) - excluded);
        if (!statusText_.contains(QLatin1String("of ? committed"))
            && !shown().isEmpty()) // not every block is known yet
            say("expected", "status",
                overStatusText(QStringLiteral("^epoch .*, chunks [\\d,]+ of ([\\d,]+) committed")));
        say("work lost", "status --json", chunks("lost"));
        say("work lost", "status --json, its epochs", overStatus("chunks", "lost"));
        say("work lost", "status", overStatusText(QStringLiteral("work lost: ([\\d,]+) chunk")));
        say("partly trained", "status --json", chunks("partly_trained"));
        say("partly trained", "status --json, its epochs", overStatus("chunks", "partly_trained"));
        say("partly trained", "status", overStatusText(QStringLiteral("partly trained: ([\\d,]+) chunk")));
    }

    void addRows()
    {
        for (const char* what : { "trained", "held_out", "filtered", "failed", "duplicates" }) {
            say(what, "status --json, samples", status_[QStringLiteral("samples")][QLatin1String(what)].toInteger());
            say(what, "status --json, samples of its epochs", overStatus("samples", what));
            say(what, "audit --json, samples", overAudit({ QStringLiteral("samples"), QLatin1String(what) }));
        }
    }

    void addWork()
    {
        say("steps", "status --json", status_[QStringLiteral("steps")].toInteger());
        say("steps", "status", overStatusText(QStringLiteral(" attempt \\d+, ([\\d,]+) steps")));
        say("tokens", "status --json", status_[QStringLiteral("tokens")].toInteger());
        say("tokens", "status", overStatusText(QStringLiteral(" steps, ([\\d,]+) tokens")));
    }

    void addWorkers() { say("workers", "status --json", status_[QStringLiteral("workers")].toArray().size()); }

    void addEvaluation()
    {
        if (!status_[QStringLiteral("eval_loss")].isDouble())
            return;
        const auto match = lines(QStringLiteral("^held-out loss ([\\d.]+) ")).match(statusText_);
        say("eval loss in ten-thousandths", "status --json",
            std::llround(status_[QStringLiteral("eval_loss")].toDouble() * 10000));
        say("eval loss in ten-thousandths", "status", std::llround(match.captured(1).toDouble() * 10000));
    }

    void addBrain()
    {
        const auto brain
            = Ctl::ctl({ QStringLiteral("brain"), QStringLiteral("show"), run_, QStringLiteral("--json") }).json;
        say("steps", "brain show --json", brain[QStringLiteral("steps")].toInteger());
        say("tokens", "brain show --json", brain[QStringLiteral("tokens")].toInteger());
        const auto weights = brain[QStringLiteral("weights")];
        if (!weights.isObject())
            return;
        say("steps in the newest weights", "brain show --json", weights[QStringLiteral("step")].toInteger());
        say("tokens in the newest weights", "brain show --json", weights[QStringLiteral("tokens")].toInteger());
    }

    void addDryRunsFrom(const QJsonObject& plan)
    {
        for (const auto& choice : plan[QStringLiteral("checkpoints")].toArray()) {
            const QString name = choice[QStringLiteral("folder")].toString();
            if (!choice[QStringLiteral("can_be_chosen")].toBool())
                continue;
            ++choices_;
            const auto from = Ctl::ctl({ QStringLiteral("resume"), run_, QStringLiteral("--dry-run"),
                                           QStringLiteral("--json"), QStringLiteral("--epochs"), QStringLiteral("99"),
                                           QStringLiteral("--accept-loss"), QStringLiteral("--from-checkpoint"), name })
                                  .json;
            const auto said = [&from](const char* number) { return from[QLatin1String(number)].toInteger(); };
            for (const char* number : { "kept", "redo" }) {
                auto& views = truths_[QStringLiteral("%1 from %2").arg(QLatin1String(number), name)];
                views[QStringLiteral("resume --dry-run, its list")] = choice[QLatin1String(number)].toInteger();
                views[QStringLiteral("resume --from-checkpoint --dry-run")] = said(number);
            }
            auto& again = truths_[QStringLiteral("again from %1").arg(name)];
            again[QStringLiteral("resume --from-checkpoint --dry-run")] = said("again");
            again[QStringLiteral("resume --from-checkpoint --dry-run, redo and lost")]
                = said("redo") + said("work_lost");
        }
    }

    void addDryRun()
    {
        const auto plan = Ctl::ctl({ QStringLiteral("resume"), run_, QStringLiteral("--dry-run"),
                                       QStringLiteral("--json"), QStringLiteral("--epochs"), QStringLiteral("99") })
                              .json;
        const auto said = [&plan](const char* name) { return plan[QLatin1String(name)].toInteger(); };
        say("dry runs", "asked for", 1);
        say("dry runs", "answered", plan.isEmpty() ? 0 : 1);
        if (plan.isEmpty())
            return;
        say("committed", "resume --dry-run", said("kept"));
        say("work lost", "resume --dry-run", said("work_lost"));
        say("partly trained", "resume --dry-run", said("partly_trained"));
        say("excluded", "resume --dry-run", said("excluded"));
        say("poisoned", "resume --dry-run", said("poisoned"));
        say("chunks", "resume --dry-run",
            said("kept") + said("redo") + said("work_lost") + said("orphaned") + said("partly_trained") + said("free")
                + said("excluded") + said("poisoned") + chunks("accepted"));
        say("chunks", "status --json", chunks("total"));
        qint64 kept = 0;
        for (const auto& epoch : plan[QStringLiteral("epochs")].toArray())
            kept += epoch[QStringLiteral("kept")].toInteger();
        say("committed", "resume --dry-run, its epochs", kept);
    }

    /// Steps and labels that no roll-back and no death took away.
    void addExport()
    {
        const QTemporaryDir folder;
        const QString out = folder.filePath(QStringLiteral("csv"));
        (void)Ctl::ctl({ QStringLiteral("export"), run_, QStringLiteral("--format"), QStringLiteral("csv"),
            QStringLiteral("--out"), out });
        QFile file(out + QStringLiteral("/steps.csv"));
        say("exports", "asked for", 1);
        say("exports", "written", file.open(QIODevice::ReadOnly) ? 1 : 0);
        const auto names = QString::fromUtf8(file.readLine()).trimmed().split(QLatin1Char(','));
        const auto lost = names.indexOf(QStringLiteral("lost"));
        const auto stepTokens = names.indexOf(QStringLiteral("step_tokens"));
        const auto rank = names.indexOf(QStringLiteral("rank"));
        qint64 steps = 0;
        qint64 tokens = 0;
        while (!file.atEnd()) {
            const auto fields = QString::fromUtf8(file.readLine()).trimmed().split(QLatin1Char(','));
            if (lost < 0 || fields.value(lost) != QLatin1String("0"))
                continue;
            if (rank < 0
                || fields.value(rank) != QLatin1String("0")) // a step of a group is one step, told by each rank
                continue;
            ++steps;
            tokens += fields.value(stepTokens).toLongLong();
        }
        say("steps", "export --format csv", steps);
        say("tokens", "export --format csv", tokens);
    }

    void addTrainedChunks()
    {
        qint64 steps = 0;
        qint64 tokens = 0;
        qint64 samples = 0;
        for (const auto& chunk :
            Ctl::ctl({ QStringLiteral("audit"), run_, QStringLiteral("--chunks"), QStringLiteral("--json") })
                .json[QStringLiteral("chunks")]
                .toArray()) {
            steps += chunk[QStringLiteral("steps")].toInteger();
            tokens += chunk[QStringLiteral("tokens")].toInteger();
            samples += chunk[QStringLiteral("samples")].toInteger();
        }
        say("steps", "audit --chunks", steps);
        say("tokens", "audit --chunks", tokens);
        say("samples of all epochs", "audit --chunks", samples);
        say("samples of all epochs", "audit --json",
            overAudit({ QStringLiteral("samples"), QStringLiteral("trained") }, true));
    }

    QString run_;
    QJsonObject status_;
    QString statusText_;
    QJsonObject audit_;
    QString auditText_;
    Truths truths_;
    int choices_ = 0;
};

std::vector<std::string> rowsOfParquet()
{
    std::vector<std::string> rows;
    for (int row = 0; row < 3000; ++row) {
        std::string text = "row " + std::to_string(row);
        for (int word = 0; word < 8; ++word)
            text += " " + std::to_string((row * 7919 + word * 104729) % 1000);
        rows.push_back(std::move(text));
    }
    return rows;
}

/// Bytes in the middle of the file are others, without a change of its size.
void damageMiddle(const QString& path)
{
    QFile file(path);
    QVERIFY(file.open(QIODevice::ReadWrite));
    QVERIFY(file.seek(file.size() / 2));
    QCOMPARE(file.write(QByteArray(600, '\xff')), qint64(600));
}

/// Dies where FURROW_FAIL_AT says, in every process that this one starts.
class Faults {
public:
    explicit Faults(const QByteArray& at) { qputenv("FURROW_FAIL_AT", at); }
    ~Faults() { qunsetenv("FURROW_FAIL_AT"); }
    Q_DISABLE_COPY_MOVE(Faults)
};

} // namespace

namespace {

/// The names of chunks of the first epoch that nobody has claimed, the last ones first.
QStringList lastFree(const QString& run, int count)
{
    QStringList names;
    auto ledger = furrow::LedgerReader::open((run + QStringLiteral("/tracker.sqlite")).toStdString());
    auto cells = ledger.ok() ? ledger.value().cells(0) : ledger.error();
    if (!cells.ok())
        return names;
    for (auto cell = cells.value().rbegin(); cell != cells.value().rend() && names.size() < count; ++cell)
        if (cell->state == furrow::ChunkState::Free)
            names.append(QStringLiteral("%1:%2").arg(cell->block).arg(cell->column));
    return names;
}

} // namespace

class TestTruths : public QObject {
    Q_OBJECT

    QTemporaryDir folder_;
    QString text_;
    int made_ = 0;
    std::unique_ptr<ConsoleTruths> console_; ///< made when it is first asked

    QString make(const QStringList& more, const char* command = "run")
    {
        const QString run = folder_.filePath(QStringLiteral("runs/run-%1").arg(++made_));
        QStringList arguments { QLatin1String(command), QStringLiteral("--json"), QStringLiteral("--data"), text_,
            QStringLiteral("--out"), run, QStringLiteral("--devices"), QStringLiteral("cpu") };
        if (qstrcmp(command, "run") == 0)
            arguments << QStringLiteral("--detach");
        const auto out = RunDriver::ctl(arguments + RunDriver::tinyModel() + more);
        return out.exitCode == 0 ? run : QString();
    }
    /// Takes long enough to be met on its way.
    static QStringList slow(int epochs)
    {
        return { QStringLiteral("--layers"), QStringLiteral("4"), QStringLiteral("--width"), QStringLiteral("128"),
            QStringLiteral("--epochs"), QString::number(epochs), QStringLiteral("--workers"), QStringLiteral("2") };
    }

    static bool isAnyWorkerAlive(const QString& run)
    {
        const QJsonArray workers = RunDriver::status(run)[QStringLiteral("workers")].toArray();
        return std::any_of(workers.begin(), workers.end(),
            [](const QJsonValue& worker) { return worker[QStringLiteral("alive")].toBool(); });
    }

    void compare(const QString& run, bool alive)
    {
        QString found;
        const auto agree = [&] { // of a living run each view is of its own moment
            Views views(run);
            const Truths told = views.tell(alive);
            found = disagreement(told);
            if (found.isEmpty() && (!alive || views.state() == QLatin1String("paused")))
                found = consoleDiffers(run, views.state(), told);
            if (views.stateInText() != views.state() || views.stateInList() != views.state())
                found = QStringLiteral("state: status --json says %1, status %2, list %3")
                            .arg(views.state(), views.stateInText(), views.stateInList());
            if (!views.isClean())
                found = QStringLiteral("the audit is not clean");
            if (!found.isEmpty())
                found += QLatin1Char('\n') + views.all();
            return found.isEmpty();
        };
        for (int tries = 0; tries < (alive ? 10 : 1) && !agree(); ++tries) { }
        QVERIFY2(found.isEmpty(), qPrintable(found));
    }
    /// What the console says differently; "": nothing.
    QString consoleDiffers(const QString& run, const QString& state, const Truths& told)
    {
        if (!console_)
            console_ = std::make_unique<ConsoleTruths>(folder_.path());
        Truths shown;
        if (console_->tell(run, told, shown))
            return console_->lists(run, state) ? QString()
                                               : QStringLiteral("the library of the console does not say ") + state;
        Truths both = told;
        for (auto number = shown.begin(); number != shown.end(); ++number)
            for (auto view = number->begin(); view != number->end(); ++view)
                both[number.key()][view.key()] = *view;
        const QString found = disagreement(both);
        return found.isEmpty() ? QStringLiteral("the console has not read the run") : found;
    }
    static void stop(const QString& run)
    {
        (void)RunDriver::ctl({ QStringLiteral("stop"), run });
        QVERIFY(RunDriver::waitForState(run, { QStringLiteral("stopped"), QStringLiteral("finished") }));
    }
    void finish(const QString& run, const QStringList& more = {})
    {
        const auto out = RunDriver::ctl(QStringList { QStringLiteral("resume"), run } + more);
        QVERIFY2(out.exitCode == 0, qPrintable(out.text + out.errors));
        compareWhole(run);
    }
    void compareWhole(const QString& run)
    {
        compare(run, false);
        const QString found = disagreement(Views(run).tellTraining());
        QVERIFY2(found.isEmpty(), qPrintable(found));
    }

private Q_SLOTS:
    void initTestCase()
    {
        furrow::registerBridgeTypes();
        text_ = RunDriver::writeText(folder_.path(), 600); // three blocks: every phase is met, and a pass takes seconds
        QVERIFY(!text_.isEmpty());
    }

    void aNewRun()
    {
        const QString run = make({}, "new");
        QVERIFY(!run.isEmpty());
        compare(run, false);
    }

    void aRunThatTrainsIsPausedAndStopped()
    {
        const QString run = make(slow(20));
        QVERIFY(RunDriver::waitForChunks(run, 10));
        compare(run, true);
        (void)RunDriver::ctl({ QStringLiteral("pause"), run });
        QTRY_COMPARE_WITH_TIMEOUT(
            RunDriver::status(run)[QStringLiteral("state")].toString(), QStringLiteral("paused"), 30'000);
        compare(run, true);
        stop(run);
        compare(run, false);
        finish(
            run, { QStringLiteral("--epochs"), QStringLiteral("2"), QStringLiteral("--workers"), QStringLiteral("3") });
    }

    void aRunThatIsStoppedAfterABlock()
    {
        const QString run
            = make(slow(20) + QStringList { QStringLiteral("--shuffle-window-blocks"), QStringLiteral("1") });
        QVERIFY(RunDriver::waitForChunks(run, 2));
        (void)RunDriver::ctl({ QStringLiteral("stop"), run, QStringLiteral("--after"), QStringLiteral("block") });
        QVERIFY(RunDriver::waitForState(run, { QStringLiteral("stopped"), QStringLiteral("finished") }));
        QCOMPARE(RunDriver::status(run)[QStringLiteral("state")].toString(), QStringLiteral("stopped"));
        compare(run, false);
    }

    /// What a worker that is asked to stop has of its chunk is saved, and the rest is free.
    void aChunkThatIsTrainedInPart()
    {
        // chunks of many steps: a stop between two of them is the rule
        const QString run = make(slow(20) + QStringList { QStringLiteral("--batch-size"), QStringLiteral("1") });
        qint64 partly = 0;
        for (int tries = 0; partly == 0 && tries < 5; ++tries) {
            QVERIFY(RunDriver::waitForChunks(run, tries + 1));
            stop(run);
            partly = RunDriver::status(run)[QStringLiteral("chunks")][QStringLiteral("partly_trained")].toInteger();
            compare(run, false);
            if (partly == 0)
                (void)RunDriver::ctl({ QStringLiteral("resume"), run, QStringLiteral("--detach") });
        }
        QVERIFY(partly > 0);
        finish(run, { QStringLiteral("--epochs"), QStringLiteral("2") });
    }

    void aRunThatIsKilledAndGoesOnWithOneWorker()
    {
        const QString run = make(slow(2));
        QVERIFY(RunDriver::waitForChunks(run, 30));
        (void)RunDriver::ctl({ QStringLiteral("kill"), run });
        QVERIFY(RunDriver::waitForState(
            run, { QStringLiteral("stopped"), QStringLiteral("interrupted"), QStringLiteral("finished") }));
        compare(run, false);
        finish(run, { QStringLiteral("--workers"), QStringLiteral("1") });
    }

    void aRunOfWhichEveryProcessIsKilled()
    {
        const QString run = make(slow(2));
        QVERIFY(RunDriver::waitForChunks(run, 30));
        const auto first = RunDriver::workerPid(run, 0);
        const auto second = RunDriver::workerPid(run, 1);
        QVERIFY(RunDriver::killHard(RunDriver::supervisorPid(run)) && RunDriver::killHard(first)
            && RunDriver::killHard(second));
        QVERIFY(RunDriver::waitForState(run, { QStringLiteral("interrupted") }));
        QTRY_VERIFY_WITH_TIMEOUT(!isAnyWorkerAlive(run), 10'000); // a large process takes a moment to die
        QTest::qWait(2500); // nothing recorded its end: a replay lets it last two seconds longer than it told
        const qint64 moment = furrow::systemClock().wallNs();
        compare(run, false);
        const Truths told = Views(run).tell(false);
        finish(run);
        Truths both = told; // what was said then, and what the console replays of then now that the run went on
        Truths replayed;
        QVERIFY(console_ && console_->tellOf(run, moment, replayed));
        int compared = 0;
        for (auto number = replayed.begin(); number != replayed.end(); ++number)
            if (told.contains(number.key()) && number.key() != QLatin1String("tokens")) { // of parts in proportion
                ++compared;
                both[number.key()].insert(*number);
            }
        QVERIFY(compared >= 4);
        QVERIFY2(disagreement(both).isEmpty(), qPrintable(disagreement(both)));
    }

    /// Each checkpoint that can be gone back to: the list of the dry run, a dry run from it, and the resume.
    void aResumeFromAnOlderCheckpoint()
    {
        const QString run = make(slow(20)
            + QStringList { QStringLiteral("--checkpoint-steps"), QStringLiteral("20"), QStringLiteral("--keep-last"),
                QStringLiteral("20") });
        QVERIFY(RunDriver::waitForChunks(run, 30));
        stop(run);
        compare(run, false);
        Views views(run);
        const QString found = disagreement(views.tellChoices());
        QVERIFY2(found.isEmpty(), qPrintable(found));
        QVERIFY(views.choices() > 1);
        const auto plan
            = RunDriver::ctl({ QStringLiteral("resume"), run, QStringLiteral("--dry-run"), QStringLiteral("--json") })
                  .json;
        QJsonObject chosen;
        for (const auto& one : plan[QStringLiteral("checkpoints")].toArray())
            if (chosen.isEmpty() && one[QStringLiteral("can_be_chosen")].toBool()
                && one[QStringLiteral("redo")].toInt() > 0)
                chosen = one.toObject();
        QVERIFY(!chosen.isEmpty());
        finish(run,
            { QStringLiteral("--from-checkpoint"), chosen[QStringLiteral("folder")].toString(),
                QStringLiteral("--accept-loss"), QStringLiteral("--epochs"), QStringLiteral("2") });
    }

    /// Rank 0 holds all claims, and each rank tells the same steps.
    void aDataParallelRun()
    {
        const QString run = make(slow(2)
            + QStringList { QStringLiteral("--parallel"), QStringLiteral("data"), QStringLiteral("--checkpoint-steps"),
                QStringLiteral("20") });
        QVERIFY(RunDriver::waitForChunks(run, 20));
        compare(run, true);
        (void)RunDriver::ctl({ QStringLiteral("kill"), run });
        QVERIFY(RunDriver::waitForState(
            run, { QStringLiteral("stopped"), QStringLiteral("interrupted"), QStringLiteral("finished") }));
        compare(run, false);
        finish(run);
    }

    /// A page of the data cannot be read: its chunks are poisoned, and the run ends as incomplete.
    void chunksThatCannotBeRead()
    {
        const QString page = folder_.filePath(QStringLiteral("page.parquet"));
        const auto written = furrow::writeBenchParquet(furrow::pathFromUtf8(page.toStdString()), rowsOfParquet());
        SKIP_WITHOUT("parquet", written.ok(), written.error().message.c_str());
        damageMiddle(page);
        const QString run = folder_.filePath(QStringLiteral("runs/run-%1").arg(++made_));
        const auto out
            = RunDriver::ctl(QStringList { QStringLiteral("run"), QStringLiteral("--data"), page,
                                 QStringLiteral("--out"), run, QStringLiteral("--devices"), QStringLiteral("cpu:1") }
                + RunDriver::tinyModel()
                + QStringList { QStringLiteral("--chunk-samples"), QStringLiteral("50"),
                    QStringLiteral("--held-out-percent"), QStringLiteral("0") }); // nothing is read before the run
        QVERIFY2(out.exitCode == 1, qPrintable(out.text + out.errors));
        QVERIFY(RunDriver::status(run)[QStringLiteral("chunks")][QStringLiteral("poisoned")].toInteger() > 0);
        compareWhole(run);
    }

    void aRunThatDiesAtAPhase_data()
    {
        QTest::addColumn<QByteArray>("point");
        for (const char* point : { "supervisor.recovered:1", "supervisor.ending:1", "feeder.prepared:2",
                 "claim.begun:9", "step.done:40", "chunk.trained:15", "checkpoint.frozen:2", "checkpoint.manifest:2",
                 "checkpoint.published:2", "checkpoint.committed:2", "merge.taken:1", "merge.published:1" })
            QTest::newRow(point) << QByteArray(point);
    }
    void aRunThatDiesAtAPhase()
    {
        QFETCH(QByteArray, point);
        QString run;
        {
            const Faults faults(point);
            QStringList more = slow(2) + QStringList { QStringLiteral("--max-restarts"), QStringLiteral("0") };
            if (point.startsWith("checkpoint.")) // or the second one may be the last, after which the run is finished
                more += { QStringLiteral("--checkpoint-steps"), QStringLiteral("10") };
            run = make(more);
            if (run.isEmpty()) // it died so early that the command says so
                run = folder_.filePath(QStringLiteral("runs/run-%1").arg(made_));
            QVERIFY(RunDriver::waitForState(run, { QStringLiteral("failed"), QStringLiteral("interrupted") }));
        }
        compare(run, false);
        finish(run, { QStringLiteral("--max-restarts"), QStringLiteral("10") });
    }

    /// Everything is in checkpoints by then: the run has come to its end, and nothing is left to resume.
    void aRunWhoseWorkersDieAfterTheirLastCheckpoints()
    {
        QString run;
        {
            const Faults faults("worker.ending:1");
            run = make(slow(2) + QStringList { QStringLiteral("--max-restarts"), QStringLiteral("0") });
            QVERIFY(RunDriver::waitForState(run, { QStringLiteral("finished") }));
        }
        compareWhole(run);
    }

    /// A checkpoint has the first steps of the chunk in which the worker dies.
    void aRunThatDiesAfterAPartOfAChunkIsSaved()
    {
        const QStringList more = slow(2)
            + QStringList { QStringLiteral("--checkpoint-steps"), QStringLiteral("10"),
                  QStringLiteral("--max-restarts"), QStringLiteral("0") };
        QString run;
        {
            const Faults faults("step.done:38");
            run = make(more);
            QVERIFY(RunDriver::waitForState(run, { QStringLiteral("failed"), QStringLiteral("interrupted") }));
        }
        compare(run, false);
        finish(run, { QStringLiteral("--max-restarts"), QStringLiteral("10") });
    }

    void chunksThatAreLeftOut()
    {
        const QString run = make(slow(20));
        QVERIFY(RunDriver::waitForChunks(run, 5));
        (void)RunDriver::ctl({ QStringLiteral("pause"), run });
        const QStringList free = lastFree(run, 2); // what is being trained cannot be left out
        QCOMPARE(free.size(), 2);
        const auto excluded = RunDriver::ctl(QStringList { QStringLiteral("exclude"), run } + free);
        QVERIFY2(excluded.exitCode == 0, qPrintable(excluded.errors));
        compare(run, true);
        stop(run);
        compare(run, false);
    }
};

QTEST_MAIN(TestTruths)
#include "tst_truths.moc"
