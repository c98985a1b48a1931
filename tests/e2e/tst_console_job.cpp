// The console with real workers, driven as a person drives it: keys, clicks and what the screen says. Runs are given
// epochs without end, so that nothing depends on how fast the machine trains.

#include "core/base/process.h"
#include "tests/e2e/run_driver.h"
#include "ui/models/run_form.h"
#include "ui/models/workbench.h"
#include "ui/dialogs/merge_dialog.h"
#include "ui/shell/console.h"
#include "ui/shell/main_window.h"
#include "ui/shell/run_view.h"

#include <QApplication>
#include <QDialog>
#include <QDockWidget>
#include <QElapsedTimer>
#include <QFile>
#include <QFileDialog>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QProcess>
#include <QProcessEnvironment>
#include <QPushButton>
#include <QRegularExpression>
#include <QScopeGuard>
#include <QTemporaryDir>
#include <QTimer>
#include <QtTest>

#include <sys/stat.h>

using namespace furrow;

namespace {

constexpr int kPatienceMs = 60'000; // for what the machine decides: starting processes, training some chunks
constexpr int kInterruptedMs = 3'000; // what the console promises

/// A visible label whose text the pattern finds.
QLabel* labelWith(const QWidget* parent, const QString& pattern)
{
    const QRegularExpression wanted(pattern);
    const auto labels = parent->findChildren<QLabel*>();
    for (QLabel* label : labels) {
        if (label->isVisible() && wanted.match(label->text()).hasMatch())
            return label;
    }
    return nullptr;
}

/// What the labels of a widget say, for messages of tests.
QString textsOf(const QWidget* parent)
{
    QStringList texts;
    const auto labels = parent->findChildren<QLabel*>();
    for (const QLabel* label : labels)
        texts.append(
            QStringLiteral("%1\"%2\"").arg(label->isVisible() ? QString() : QStringLiteral("hidden "), label->text()));
    return texts.join(QStringLiteral(", "));
}

QPushButton* buttonWith(const QWidget* parent, const QString& beginning)
{
    const auto buttons = parent->findChildren<QPushButton*>();
    for (QPushButton* button : buttons) {
        if (button->isVisible() && button->text().remove(QLatin1Char('&')).startsWith(beginning))
            return button;
    }
    return nullptr;
}

template <typename Widget> Widget* named(const QWidget* parent, const QString& accessibleName)
{
    const auto all = parent->findChildren<Widget*>();
    for (Widget* widget : all) {
        if (widget->isVisible() && widget->accessibleName() == accessibleName)
            return widget;
    }
    return nullptr;
}

void type(QLineEdit* line, const QString& text)
{
    line->setFocus();
    line->selectAll();
    QTest::keyClicks(line, text);
}

/// A shortcut of the window; such keys go to the active one, and a dialog may have been that.
void press(QWidget& window, Qt::Key key, Qt::KeyboardModifiers modifiers)
{
    window.activateWindow();
    if (!QTest::qWaitForWindowActive(&window))
        qFatal("the window does not become active");
    QTest::keyClick(&window, key, modifiers);
}

} // namespace

class TestConsoleJob : public QObject {
    Q_OBJECT

    QTemporaryDir folder_;
    QString text_;
    QStringList runs_; // ended at the end, whatever happened

    QString workspace() const { return folder_.filePath(QStringLiteral("workspace")); }

    /// @param run  shown at once; "": none
    std::unique_ptr<Console> openConsole(const QString& run = {})
    {
        ConsoleOptions options;
        options.workspace = workspace();
        if (!run.isEmpty())
            options.runs = { run };
        options.safeMode = true;
        options.language = Language::English;
        options.size = QSize(1280, 800);
        auto console = std::make_unique<Console>(options);
        console->show();
        return console;
    }

    /// A preset of the person: a model that trains many chunks a second and never comes to an end.
    void savePreset() const
    {
        RunConfig config = findPreset("char").value().config;
        config.tokenizer = "byte";
        config.dataMode = DataMode::Lines;
        config.layers = 1;
        config.heads = 2;
        config.width = 32;
        config.seqLen = 32;
        config.batchSize = 4;
        config.chunkSamples = 10;
        config.samplesPerBlock = 200;
        config.heldOutPercent = 2;
        config.warmupSteps = 10;
        config.epochs = 100'000;
        config.evalSteps = 0;
        config.threads = 1;
        config.workers = 2;
        config.devices = "cpu";
        config.checkpointMinutes = 0.05;
        QVERIFY(saveOwnPreset(workspace(), QStringLiteral("tiny"), config).ok());
    }

    void launchFromTheForm(Console& console)
    {
        MainWindow& window = console.window();
        press(window, Qt::Key_N, Qt::ControlModifier);
        auto* presets = named<QListWidget>(&window, QStringLiteral("Presets"));
        QVERIFY(presets != nullptr);
        presets->setFocus();
        QTest::keyClick(presets, Qt::Key_End);
        QVERIFY2(presets->currentItem()->text().startsWith(QLatin1String("tiny")),
            qPrintable(presets->currentItem()->text()));
        type(named<QLineEdit>(&window, QStringLiteral("Source")), text_);
        type(named<QLineEdit>(&window, QStringLiteral("Name of the run")), QStringLiteral("story"));
        QPushButton* launch = buttonWith(&window, QStringLiteral("Launch"));
        QVERIFY(launch != nullptr);
        QVERIFY2(launch->isEnabled(), qPrintable(QString::fromStdString(toString(console.bench().form().problems()))));
        QTest::mouseClick(launch, Qt::LeftButton);
    }

    static bool isShown(Console& console, const QString& state)
    {
        return labelWith(&console.window(), QStringLiteral("^%1$").arg(state)) != nullptr;
    }

    static std::size_t chunksTrained(Console& console)
    {
        const auto& claims = console.bench().claims().claims();
        return static_cast<std::size_t>(std::count_if(claims.begin(), claims.end(),
            [](const ClaimRow& c) { return c.outcome == ClaimEnd::Trained || c.outcome == ClaimEnd::Committed; }));
    }

    /// A worker's process as its card on the overview says it.
    static qint64 shownProcess(const QWidget* window)
    {
        const QLabel* device = labelWith(window, QStringLiteral(", process \\d+$"));
        return device == nullptr
            ? 0
            : QRegularExpression(QStringLiteral("process (\\d+)")).match(device->text()).captured(1).toLongLong();
    }

    /// One worker that never comes to an end, made without the console.
    QString startEndlessRun(
        const QString& name, const QStringList& more = { QStringLiteral("--workers"), QStringLiteral("1") })
    {
        const QString run = workspace() + QStringLiteral("/runs/") + name;
        const auto made
            = RunDriver::ctl(QStringList { QStringLiteral("run"), QStringLiteral("--detach"), QStringLiteral("--json"),
                                 QStringLiteral("--data"), text_, QStringLiteral("--out"), run,
                                 QStringLiteral("--devices"), QStringLiteral("cpu") }
                + RunDriver::tinyModel() + QStringList { QStringLiteral("--epochs"), QStringLiteral("100000") } + more);
        if (made.exitCode != 0)
            qFatal("%s", qPrintable(made.text + made.errors));
        runs_.append(run);
        return run;
    }

    void exportCurves(Console& console)
    {
        MainWindow& window = console.window();
        const QString file = folder_.filePath(QStringLiteral("loss.csv"));
        press(window, Qt::Key_2, Qt::ControlModifier);
        QTest::qWait(200); // the curves are measured with their first frame
        QTimer::singleShot(0, &window, [&file] { // the dialog has its own loop
            auto* dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
            if (dialog == nullptr)
                return;
            dialog->selectFile(file);
            QTest::keyClick(dialog->findChild<QLineEdit*>(), Qt::Key_Return);
        });
        press(window, Qt::Key_E, Qt::ControlModifier);
        QFile written(file);
        QVERIFY2(written.open(QIODevice::ReadOnly), qPrintable(file));
        QCOMPARE(written.readLine(), QByteArray("worker,x,y,lost\n"));
        QVERIFY(!written.readLine().isEmpty());
    }

private Q_SLOTS:
    void initTestCase()
    {
        QApplication::setAttribute(Qt::AA_DontUseNativeDialogs);
        text_ = RunDriver::writeText(folder_.path(), 1200);
        QVERIFY(!text_.isEmpty());
        savePreset();
    }

    void cleanup()
    {
        for (const QString& run : runs_) {
            if (RunDriver::supervisorPid(run) != 0)
                RunDriver::ctl({ QStringLiteral("kill"), run, QStringLiteral("--wait") });
        }
    }

    void aRunIsMadeWatchedBrokenResumedStoppedAndExported()
    {
        const auto console = openConsole();
        MainWindow& window = console->window();
        Workbench& bench = console->bench();
        launchFromTheForm(*console);
        QTRY_VERIFY_WITH_TIMEOUT(isShown(*console, QStringLiteral("Running")), kPatienceMs);
        const QString run = bench.watcher().folder();
        runs_.append(run);
        QTRY_VERIFY_WITH_TIMEOUT(chunksTrained(*console) >= 5, kPatienceMs);

        // a worker dies: the run goes on and says so
        QTRY_VERIFY_WITH_TIMEOUT(shownProcess(&window) != 0, kPatienceMs);
        QVERIFY(RunDriver::killHard(shownProcess(&window)));
        QTRY_VERIFY_WITH_TIMEOUT(labelWith(&window, QStringLiteral("1 restart")) != nullptr, kPatienceMs);
        QVERIFY(isShown(*console, QStringLiteral("Running")));

        // the supervisor dies: interrupted within three seconds, nothing is done before the person says so
        const qint64 supervisor = bench.watcher().status()->supervisorPid;
        QElapsedTimer timer;
        timer.start();
        QVERIFY(RunDriver::killHard(supervisor));
        QTRY_VERIFY_WITH_TIMEOUT(isShown(*console, QStringLiteral("Interrupted")), kInterruptedMs);
        qInfo("interrupted was shown after %lld ms", timer.elapsed());
        QVERIFY(labelWith(&window, QStringLiteral("^Interrupted")) != nullptr);
        QCOMPARE(bench.watcher().status()->attempt, 1);

        // dry run, then resume
        press(window, Qt::Key_R, Qt::ControlModifier);
        QTRY_VERIFY_WITH_TIMEOUT(qobject_cast<QDialog*>(QApplication::activeModalWidget()) != nullptr, kPatienceMs);
        QWidget* dialog = QApplication::activeModalWidget();
        for (const char* line : { "^Kept$", "^Work lost$", "^Orphaned claims released$",
                 "^Attempt 2 keeps .* chunks of epoch.* that were trained or begun$" })
            QTRY_VERIFY2_WITH_TIMEOUT(
                labelWith(dialog, QLatin1String(line)) != nullptr, qPrintable(textsOf(dialog)), kPatienceMs);
        QTest::qWait(200);
        QCOMPARE(RunDriver::status(run)[QStringLiteral("attempt")].toInt(), 1);
        QPushButton* resume = buttonWith(dialog, QStringLiteral("Resume as attempt 2"));
        QVERIFY(resume != nullptr);
        QTest::keyClick(dialog, Qt::Key_Return);
        QTRY_VERIFY_WITH_TIMEOUT(
            isShown(*console, QStringLiteral("Running")) && bench.watcher().status()->attempt == 2, kPatienceMs);
        const std::size_t before = chunksTrained(*console);
        QTRY_VERIFY_WITH_TIMEOUT(chunksTrained(*console) > before + 3, kPatienceMs);

        // stop: said at once, done after a checkpoint
        press(window, Qt::Key_X, Qt::ControlModifier | Qt::ShiftModifier);
        QVERIFY(labelWith(&window, QStringLiteral("^Stopping")) != nullptr);
        QTRY_VERIFY_WITH_TIMEOUT(
            isShown(*console, QStringLiteral("Stopped")) && bench.watcher().status()->supervisorPid == 0, kPatienceMs);
        exportCurves(*console);

        // the dock of the audit says what the ledger proves
        auto* audit = window.findChild<QDockWidget*>(QStringLiteral("dock.audit"));
        audit->raise();
        QTRY_VERIFY2_WITH_TIMEOUT(labelWith(audit, QStringLiteral("^No chunk twice, none missing")) != nullptr,
            qPrintable(textsOf(audit)), kPatienceMs);
    }

    /// Ctrl+Z in the terminal that started it, a debugger, a desktop that puts it to sleep: inside a read of the
    /// tracker.
    void aConsoleThatStandsStillCostsNoStep()
    {
        const QString freeze = folder_.filePath(QStringLiteral("stands-still"));
        const QString run = startEndlessRun(QStringLiteral("unwatched"));
        QProcess console;
        auto environment = QProcessEnvironment::systemEnvironment();
        environment.insert(QStringLiteral("FURROW_FREEZE"), freeze);
        console.setProcessEnvironment(environment);
        console.start(QCoreApplication::applicationDirPath() + QStringLiteral("/furrow"),
            { QStringLiteral("--safe-mode"), QStringLiteral("--workspace"), workspace(), run });
        QVERIFY(console.waitForStarted());
        const auto atTheEnd = qScopeGuard([&console] {
            console.kill();
            console.waitForFinished();
        });
        QFile asked(freeze + QStringLiteral(".new"));
        QVERIFY(asked.open(QIODevice::WriteOnly));
        asked.write(QByteArray::number(console.processId()) + " read");
        asked.close();
        QVERIFY(asked.rename(freeze));
        QTRY_VERIFY_WITH_TIMEOUT(!QFile::exists(freeze), kPatienceMs); // it stands still inside its next look
        const auto steps = [&run] { return RunDriver::status(run)[QStringLiteral("steps")].toInteger(); };
        const auto before = steps();
        QTRY_VERIFY_WITH_TIMEOUT(steps() > before + 50, kPatienceMs);
        QCOMPARE(console.state(), QProcess::Running);
        for (const auto& worker : RunDriver::status(run)[QStringLiteral("workers")].toArray())
            QCOMPARE(worker[QStringLiteral("restarts")].toInt(), 0);
    }

    void anInterruptedRunResumesByItselfWhenAPersonWishedIt()
    {
        const QString run = startEndlessRun(QStringLiteral("alone"));
        const auto console = openConsole(run);
        QTRY_VERIFY_WITH_TIMEOUT(isShown(*console, QStringLiteral("Running")), kPatienceMs);
        console->bench().autoResume().setWanted(run, true);
        QVERIFY(RunDriver::killHard(RunDriver::supervisorPid(run)));
        QTRY_VERIFY_WITH_TIMEOUT(isShown(*console, QStringLiteral("Interrupted")), kInterruptedMs);
        QTRY_COMPARE_WITH_TIMEOUT(console->bench().autoResume().planOf(run).value_or(AutoResume::Plan {}).number, 1,
            kPatienceMs); // the library looks less often
        QTRY_VERIFY_WITH_TIMEOUT(
            isShown(*console, QStringLiteral("Running")) && console->bench().watcher().status()->attempt == 2,
            1000 * AutoResume::waitSeconds(1) + kPatienceMs);
    }

    void twoReplicasAreEvaluatedAndMergedInTheDialog()
    {
        const QString run = startEndlessRun(QStringLiteral("apart"),
            { QStringLiteral("--workers"), QStringLiteral("2"), QStringLiteral("--merge"), QStringLiteral("none") });
        const auto haveBothTrained = [&run] {
            const auto workers = RunDriver::status(run)[QStringLiteral("workers")].toArray();
            return workers.size() == 2 && std::all_of(workers.begin(), workers.end(), [](const QJsonValue& worker) {
                return worker[QStringLiteral("step")].toInteger() > 0;
            });
        };
        QTRY_VERIFY_WITH_TIMEOUT(
            haveBothTrained(), kPatienceMs); // of a short run on a busy machine the first one may train everything
        QCOMPARE(RunDriver::ctl({ QStringLiteral("stop"), run, QStringLiteral("--wait") }).exitCode, 0);
        const auto console = openConsole(run);
        MainWindow& window = console->window();
        QTRY_VERIFY_WITH_TIMEOUT(isShown(*console, QStringLiteral("Stopped")), kPatienceMs);
        const auto canMerge = [&window] {
            const auto actions = window.actions();
            return std::any_of(actions.begin(), actions.end(), [](const QAction* action) {
                return action->text().startsWith(QLatin1String("Merge replicas")) && action->isEnabled();
            });
        };
        QTRY_VERIFY_WITH_TIMEOUT(canMerge(),
            kPatienceMs); // the replicas are read after the state is shown; the palette lists what can be done
        press(window, Qt::Key_K, Qt::ControlModifier);
        QTRY_VERIFY(qobject_cast<QDialog*>(QApplication::activeModalWidget()) != nullptr);
        auto* words = QApplication::activeModalWidget()->findChild<QLineEdit*>();
        QTest::keyClicks(words, QStringLiteral("merge replicas"));
        QTest::keyClick(words, Qt::Key_Return);
        MergeDialog* dialog = nullptr;
        QTRY_VERIFY((dialog = qobject_cast<MergeDialog*>(QApplication::activeModalWidget())) != nullptr);

        // the losses of the members, before anything is changed
        QPushButton* evaluate = buttonWith(dialog, QStringLiteral("Evaluate members"));
        QPushButton* merge = buttonWith(dialog, QStringLiteral("Merge 2 replicas"));
        QVERIFY(evaluate != nullptr && merge != nullptr);
        QTest::mouseClick(evaluate, Qt::LeftButton);
        QTRY_VERIFY2_WITH_TIMEOUT(labelWith(dialog, QStringLiteral("^Nothing has been merged yet")) != nullptr,
            qPrintable(textsOf(dialog)), kPatienceMs);
        const auto lossOf = [dialog](const QString& who) {
            return named<QLabel>(dialog, QStringLiteral("Held-out loss of ") + who)->text().toDouble();
        };
        QVERIFY(lossOf(QStringLiteral("Replica 0")) > 0 && lossOf(QStringLiteral("Replica 1")) > 0);

        // the merge, the loss of its result, the verdict; then it is done once
        QTest::mouseClick(merge, Qt::LeftButton);
        QTRY_VERIFY2_WITH_TIMEOUT(labelWith(dialog, QStringLiteral("^The merged weights are ")) != nullptr,
            qPrintable(textsOf(dialog)), kPatienceMs);
        QVERIFY(lossOf(QStringLiteral("Merged")) > 0);
        QVERIFY(!merge->isEnabled() && !evaluate->isEnabled());
        QTest::mouseClick(buttonWith(dialog, QStringLiteral("Close")), Qt::LeftButton);
        const auto merged = [&console] {
            const auto& tables = console->bench().watcher().tables();
            return tables && std::any_of(tables->checkpoints.begin(), tables->checkpoints.end(), [](const auto& row) {
                return row.record.kind == CheckpointKind::Merge;
            });
        };
        QTRY_VERIFY_WITH_TIMEOUT(merged(), kPatienceMs);
        QCOMPARE(RunDriver::auditedEpoch(run)[QStringLiteral("duplicated")].toInt(-1), 0);
        QCOMPARE(RunDriver::auditedEpoch(run)[QStringLiteral("missing")].toInt(-1), 0);
    }

    void aPictureOfARunThatIsNotThereWasMade() // and the program ended with 0
    {
        QProcess console;
        const QString picture = workspace() + QStringLiteral("/picture.png");
        console.start(QCoreApplication::applicationDirPath() + QStringLiteral("/furrow"),
            { workspace() + QStringLiteral("/nowhere"), QStringLiteral("--screenshot"), picture });
        QVERIFY(console.waitForFinished(kPatienceMs));
        QCOMPARE(console.exitCode(), 1);
        const QByteArray said = console.readAllStandardError();
        QVERIFY2(said.contains("nowhere is not there"), said.constData());
        QVERIFY(!QFile::exists(picture));
    }

    void aSizeAsTheHelpWritesItTookTheOptionBehindIt()
    {
        for (const QStringList& size : { QStringList { QStringLiteral("1366,768") },
                 QStringList { QStringLiteral("1366"), QStringLiteral("768") } }) {
            QProcess console;
            console.start(QCoreApplication::applicationDirPath() + QStringLiteral("/furrow"),
                QStringList { QStringLiteral("--size") } + size
                    + QStringList { QStringLiteral("--screenshot"), workspace() + QStringLiteral("/sized.png"),
                        workspace() + QStringLiteral("/nowhere") });
            QVERIFY(console.waitForFinished(kPatienceMs));
            const QByteArray said = console.readAllStandardError();
            QVERIFY2(console.exitCode() == 1 && said.contains("nowhere is not there"), said.constData());
        }
    }

    /// The console waited for ever for somebody at its other end, without a word.
    void aPipeAsSettingsFileHungTheConsole()
    {
        const QTemporaryDir home;
        QVERIFY(QDir(home.path()).mkpath(QStringLiteral("furrow")));
        const QString pipe = home.filePath(QStringLiteral("furrow/furrow.conf"));
        QCOMPARE(mkfifo(qPrintable(pipe), 0600), 0);
        QProcess console;
        auto environment = QProcessEnvironment::systemEnvironment();
        environment.insert(QStringLiteral("XDG_CONFIG_HOME"), home.path());
        console.setProcessEnvironment(environment);
        const QString picture = workspace() + QStringLiteral("/pipe.png");
        console.start(QCoreApplication::applicationDirPath() + QStringLiteral("/furrow"),
            { QStringLiteral("--workspace"), workspace(), QStringLiteral("--screenshot"), picture });
        QVERIFY(console.waitForFinished(kPatienceMs));
        QCOMPARE(console.exitCode(), 0);
        const QByteArray said = console.readAllStandardError();
        QVERIFY2(said.contains(pipe.toUtf8() + ": it is not a regular file"), said.constData());
        QVERIFY(QFile::exists(picture));
    }

    void aKilledConsoleLosesNothingAndComesBack()
    {
        const QString run = startEndlessRun(QStringLiteral("watched"));
        for (int life = 0; life < 2; ++life) {
            QProcess console;
            console.setProcessChannelMode(QProcess::MergedChannels);
            console.start(QCoreApplication::applicationDirPath() + QStringLiteral("/furrow"),
                { QStringLiteral("--workspace"), workspace(), QStringLiteral("--attach"), QStringLiteral("--safe-mode"),
                    QStringLiteral("--lang"), QStringLiteral("en") });
            QString said;
            QTRY_VERIFY2_WITH_TIMEOUT((said += QString::fromUtf8(console.readAll()))
                                          .contains(QStringLiteral("The run watched is shown, running, ")),
                qPrintable(said), kPatienceMs);
            qInfo("%s", qPrintable(said.section(QLatin1Char('\n'), -2).trimmed()));
            const auto chunks = RunDriver::status(run)[QStringLiteral("steps")].toInteger();
            console.kill();
            QVERIFY(console.waitForFinished());
            QTRY_VERIFY_WITH_TIMEOUT(RunDriver::status(run)[QStringLiteral("steps")].toInteger() > chunks, kPatienceMs);
        }
        const auto status = RunDriver::status(run);
        QCOMPARE(status[QStringLiteral("state")].toString(), QStringLiteral("running"));
        QCOMPARE(status[QStringLiteral("attempt")].toInt(), 1);
        QCOMPARE(RunDriver::ctl({ QStringLiteral("stop"), run, QStringLiteral("--wait") }).exitCode, 0);
        QCOMPARE(RunDriver::auditedEpoch(run)[QStringLiteral("duplicated")].toInt(-1), 0);
    }
};

QTEST_MAIN(TestConsoleJob)
#include "tst_console_job.moc"
