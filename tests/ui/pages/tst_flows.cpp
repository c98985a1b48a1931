#include "core/config/option_term.h"
#include "core/base/file_lock.h"
#include "core/base/file_system.h"
#include "core/base/sentence.h"
#include "core/run/folder/finished_mark.h"
#include "core/run/status/reading.h"
#include "core/run/folder/run_file.h"
#include "core/run/folder/run_links.h"
#include "core/workspace/queue_runner.h"
#include "tests/ui/patience.h"
#include "tests/ui/run_story.h"
#include "ui/charts/coverage_map.h"
#include "ui/charts/series_chart.h"
#include "ui/models/core_words.h"
#include "ui/models/setting_words.h"
#include "ui/models/words.h"
#include "ui/models/workbench.h"
#include "ui/pages/coverage_page.h"
#include "ui/pages/epoch_head.h"
#include "ui/pages/epoch_meters.h"
#include "ui/models/error_text.h"
#include "ui/dialogs/merge_dialog.h"
#include "ui/parts/form_field.h"
#include "ui/parts/overflow.h"
#include "ui/pages/overview_page.h"
#include "ui/dialogs/resume_dialog.h"
#include "ui/pages/run_banner.h"
#include "ui/export/run_report.h"
#include "ui/pages/worker_card.h"
#include "ui/shell/actions.h"
#include "ui/shell/appearance.h"
#include "ui/shell/command_palette.h"
#include "ui/shell/inspector_dock.h"
#include "ui/shell/main_window.h"
#include "ui/shell/mnemonics.h"
#include "ui/shell/queue_tree.h"
#include "ui/shell/run_tree.h"
#include "ui/shell/run_view.h"
#include "ui/theme/theme.h"
#include "ui/widgets/meters.h"

#include <QCheckBox>
#include <QClipboard>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QMenuBar>
#include <QMessageBox>
#include <QPushButton>
#include <QRadioButton>
#include <QScreen>
#include <QScrollArea>
#include <QScrollBar>
#include <QSettings>
#include <QSignalSpy>
#include <QStatusBar>
#include <QTemporaryDir>
#include <QTreeWidget>

using namespace furrow;
using namespace furrow::test;

namespace {

ChunkId chunkAt(int column) { return chunkIdOf({ 0, 0, column }); }

void countFates(ResumePlan& plan)
{
    plan.effect.byFate = {};
    for (const auto& epoch : plan.effect.epochs)
        for (const ChunkCell& cell : epoch.cells)
            ++plan.effect.byFate[static_cast<std::size_t>(plan.effect.fateOf(cell))];
}

/// Ten chunks: eight committed, one trained after, one claimed; checkpoint 2 is the newest, 1 holds the first five
/// chunks, 3 is damaged.
PlanPtr planOfTen()
{
    auto plan = std::make_shared<ResumePlan>();
    plan->effect.epochs.push_back({ 0, {} });
    for (int column = 0; column < 10; ++column) {
        ChunkCell cell;
        cell.id = chunkAt(column);
        cell.column = column;
        cell.state = column < 8 ? ChunkState::Committed : column == 8 ? ChunkState::Trained : ChunkState::Leased;
        cell.holderGone = column >= 8;
        plan->effect.epochs.front().cells.push_back(cell);
    }
    countFates(*plan);
    plan->twice = plan->missing = 0;
    plan->secondsPerChunk = 10;
    plan->endedWallNs = 1'700'000'600'000'000'000;
    for (int id = 1; id <= 3; ++id) {
        ResumePlan::CheckpointChoice choice;
        choice.row.id = { id };
        choice.row.record.folder = "r0-" + std::to_string(id);
        choice.row.wallNs = 1'700'000'000'000'000'000 + id * 60'000'000'000LL;
        choice.row.head = id == 2;
        choice.row.damaged = id == 3;
        choice.verified = choice.canBeChosen = id != 3;
        choice.problem = id == 3 ? "r0-3: weights.safetensors differs" : "";
        choice.kept = id == 1 ? 5 : 8;
        if (id == 1)
            choice.redo = { chunkAt(5), chunkAt(6), chunkAt(7) };
        plan->checkpoints.push_back(choice);
    }
    return plan;
}

bool says(const QWidget& parent, const QString& part)
{
    const auto labels = parent.findChildren<QLabel*>();
    return std::any_of(
        labels.begin(), labels.end(), [&part](const QLabel* label) { return label->text().contains(part); });
}

template <typename Button> Button* buttonOf(QWidget& parent, const QString& begin)
{
    const auto all = parent.findChildren<Button*>();
    for (Button* button : all)
        if (withoutMnemonic(button->text()).startsWith(begin))
            return button;
    return nullptr;
}

RunLine interruptedLine(const QString& folder, std::int64_t attempt)
{
    RunLine line;
    line.folder = folder;
    line.state = RunState::Interrupted;
    line.attempt = attempt;
    return line;
}

/// Of a story of two blocks with three chunks each, of which its only worker has trained none.
void trainIntoTheSecondEpoch(RunStory& story)
{
    story.openSecondEpoch(5);
    auto supervisor = story.supervisor();
    for (int i = 0; i < 2; ++i) {
        good(supervisor.advance());
        QVERIFY(story.trainOne(0, true));
    }
}

} // namespace

class TestFlows : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase() { registerBridgeTypes(); }

    void resumeSaysWhatAnOlderCheckpointCosts()
    {
        QWidget window;
        window.resize(1280, 800);
        ResumeDialog dialog(
            QStringLiteral("/runs/a"), QStringLiteral("a"), 1, planOfTen(), good(findPreset("char")).config, &window);
        dialog.show();
        QVERIFY(!dialog.goBackTo().has_value());
        QVERIFY(
            says(dialog, QStringLiteral("Attempt 2 keeps 8 of the 9 chunk(s) of epoch 1 that were trained or begun")));
        QVERIFY(says(dialog, QStringLiteral("chunks twice 0")));
        QVERIFY(says(dialog, QStringLiteral("missing 0")));
        auto* older = buttonOf<QRadioButton>(dialog, QStringLiteral("1, replica 0"));
        auto* damaged = buttonOf<QRadioButton>(dialog, QStringLiteral("3, replica 0"));
        QVERIFY(older != nullptr && damaged != nullptr);
        QVERIFY(buttonOf<QRadioButton>(dialog, QStringLiteral("2, replica 0")) == nullptr); // that is the first line
        QVERIFY(!damaged->isEnabled());
        older->click();
        QCOMPARE(dialog.goBackTo().value_or(CheckpointId {}).value, 1);
        QVERIFY(says(dialog,
            QStringLiteral(
                "Attempt 2 starts from checkpoint 1 and keeps 5 of the 9 chunk(s) of epoch 1 that were trained or begun")));
        QVERIFY(says(dialog,
            QStringLiteral("4 chunk(s) are trained again, about 40 s"))); // three after it, one whose weights died
        buttonOf<QPushButton>(dialog, QStringLiteral("Copy command"))->click();
        QVERIFY(QGuiApplication::clipboard()->text().contains(QStringLiteral("--from-checkpoint 'r0-1'")));
    }

    /// The dialog counted what would be trained of data that had changed, and the attempt failed.
    void anAttemptThatWouldFailForItsDataCouldBeBegun()
    {
        QWidget window;
        window.resize(1280, 800);
        auto plan = std::make_shared<ResumePlan>(*planOfTen());
        plan->data.look.changed["/d/b.txt"] = "/d/b.txt has other content than when the run was made.";
        plan->data.look.asItWas = Error { ErrorCode::InvalidArgument, "The data changed since the run was made." };
        plan->data.rowsLeftOut[0] = 0;
        RunConfig config = good(findPreset("char")).config;
        config.badFiles = BadFiles::Stop;
        ResumeDialog stops(QStringLiteral("/runs/a"), QStringLiteral("a"), 1, plan, config, &window);
        stops.show();
        QVERIFY(says(stops, QStringLiteral("The data changed since the run was made.")));
        QVERIFY(!buttonOf<QPushButton>(stops, QStringLiteral("Resume as attempt 2"))->isEnabled());
        QVERIFY(!says(stops, QStringLiteral("Chunks of the epochs that are open")));
        config.badFiles = BadFiles::LeaveOut;
        ResumeDialog leavesOut(QStringLiteral("/runs/a"), QStringLiteral("a"), 1, plan, config, &window);
        leavesOut.show();
        QVERIFY(buttonOf<QPushButton>(leavesOut, QStringLiteral("Resume as attempt 2"))->isEnabled());
        QVERIFY(says(leavesOut, QStringLiteral("Chunks of the epochs that are open: 2; rows of other chunks: 0.")));
    }

    /// The counts of a plain resume stood under an older checkpoint: "Partly trained: 1; what is trained of them is
    /// kept", and it was trained again.
    void anOlderCheckpointKeptPartsThatItDoesNotHave()
    {
        auto plan = std::make_shared<ResumePlan>(*planOfTen());
        ChunkCell& begun = plan->effect.epochs.front().cells[9];
        begun.state = ChunkState::Free;
        begun.holderGone = false;
        begun.windows = 10;
        begun.covered = 4;
        begun.samples = 20;
        countFates(*plan);
        plan->checkpoints[0].partsLost = { chunkAt(9) };
        QCOMPARE(plan->effect.againWhenLeaving(plan->checkpoints[0].redo, plan->checkpoints[0].partsLost), 5);
        QWidget window;
        window.resize(1280, 800);
        ResumeDialog dialog(
            QStringLiteral("/runs/a"), QStringLiteral("a"), 1, plan, good(findPreset("char")).config, &window);
        dialog.show();
        QVERIFY(says(dialog, QStringLiteral("Partly trained: 1; what is trained of them is kept.")));
        buttonOf<QRadioButton>(dialog, QStringLiteral("1, replica 0"))->click();
        QVERIFY(says(dialog, QStringLiteral("5 chunk(s) are trained again"))); // three after it, one lost, one begun
        QVERIFY(!says(dialog, QStringLiteral("what is trained of them is kept")));
        QVERIFY(says(dialog, QStringLiteral("keeps 5 of the 10 chunk(s)")));
        QVERIFY(says(dialog, QStringLiteral("sum 10")));
        buttonOf<QRadioButton>(dialog, QStringLiteral("The newest"))->click();
        QVERIFY(says(dialog, QStringLiteral("1 chunk(s) are trained again")));
    }

    /// "3 to be redone, partly trained 0", and of one of them the older checkpoint had a part, which was kept.
    void whatAnOlderCheckpointHasOfARedoneChunkWasNotSaid()
    {
        auto plan = std::make_shared<ResumePlan>(*planOfTen());
        plan->checkpoints[0].staying = { { chunkAt(6), 4, 0, 10, 20, 1000 } };
        for (ChunkCell& cell : plan->effect.epochs.front().cells) {
            cell.windows = 10;
            cell.covered = cell.state == ChunkState::Committed ? 10 : 0;
            cell.samples = 20;
        }
        QWidget window;
        window.resize(1280, 800);
        ResumeDialog dialog(
            QStringLiteral("/runs/a"), QStringLiteral("a"), 1, plan, good(findPreset("char")).config, &window);
        dialog.show();
        QVERIFY(!says(dialog, QStringLiteral("8 of their 20 samples")));
        buttonOf<QRadioButton>(dialog, QStringLiteral("1, replica 0"))->click();
        QVERIFY(says(dialog, QStringLiteral("; of 1 of them a part is in checkpoints and kept")));
        QVERIFY(says(dialog, QStringLiteral("Of 1 of these a part is kept (8 of their 20 samples)")));
        const auto* map = dialog.findChild<CoverageMap*>();
        QVERIFY(map != nullptr);
        QVERIFY2(map->describe(map->cells().at(6)).contains(QStringLiteral("8 of 20 samples in checkpoints")),
            qPrintable(map->describe(map->cells().at(6))));
        QVERIFY(!map->describe(map->cells().at(5)).contains(QStringLiteral("in checkpoints")));
    }

    /// Near the end of an epoch two are open: the dialog said "No chunk is trained again.", the header "free 293" while
    /// both workers trained.
    void dialogHeadAndMetersCountAllOpenEpochs()
    {
        auto plan = std::make_shared<ResumePlan>();
        RunStatus status;
        status.state = RunState::Running;
        for (const std::int64_t epoch : { 0, 1 }) {
            plan->effect.epochs.push_back({ epoch, {} });
            EpochRow row;
            row.epoch = epoch;
            row.blockCount = row.preparedBlocks = 1;
            for (int column = 0; column < 30; ++column) {
                ChunkCell cell;
                cell.id = chunkIdOf({ epoch, 0, column });
                cell.column = column;
                cell.state = epoch == 1 ? ChunkState::Free : column < 2 ? ChunkState::Committed : ChunkState::Trained;
                cell.holderGone = cell.state == ChunkState::Trained;
                ++row.chunks[cell.state];
                plan->effect.epochs.back().cells.push_back(cell);
            }
            status.epochs.push_back(row);
        }
        countFates(*plan);
        QWidget window;
        window.resize(1280, 800);
        ResumeDialog dialog(
            QStringLiteral("/runs/a"), QStringLiteral("a"), 1, plan, good(findPreset("char")).config, &window);
        dialog.show();
        QVERIFY(says(dialog, QStringLiteral("28 chunk(s) are trained again")));
        QVERIFY(says(dialog, QStringLiteral("keeps 2 of the 30 chunk(s) of epochs 1 and 2")));
        auto* map = dialog.findChild<CoverageMap*>();
        auto* epochOfMap = dialog.findChild<QComboBox*>();
        QVERIFY(map != nullptr && epochOfMap != nullptr);
        QCOMPARE(epochOfMap->count(), 2);
        QCOMPARE(map->cells().front().id.value, chunkIdOf({ 0, 0, 0 }).value);
        epochOfMap->setCurrentIndex(1);
        QCOMPARE(map->cells().front().id.value, chunkIdOf({ 1, 0, 0 }).value);
        EpochHead head;
        head.setStatus(status, {});
        QVERIFY(says(head, QStringLiteral("Epochs 1 and 2, running")));
        EpochMeters meters;
        meters.setStatus(status);
        const QString legend = meters.findChild<MeterLegend*>()->toolTip();
        QVERIFY2(legend.contains(QStringLiteral("trained, not in a checkpoint yet 28"))
                && legend.contains(QStringLiteral("free 30")),
            qPrintable(legend));
        status.epochs[0].lost.trained = 28; // their workers are gone
        meters.setStatus(status);
        const QString gone = meters.findChild<MeterLegend*>()->toolTip();
        QVERIFY2(gone.contains(QStringLiteral("trained, not in a checkpoint yet 0"))
                && gone.contains(QStringLiteral("work lost 28")),
            qPrintable(gone));
    }

    void theEndOfAReplayedEpochWasCountedFromNow()
    {
        constexpr std::int64_t kSecond = 1'000'000'000;
        const QDateTime then(QDate(2026, 3, 1), QTime(12, 0));
        const std::int64_t moment = then.toMSecsSinceEpoch() * 1'000'000;
        RunStatus status;
        status.state = RunState::Running;
        status.epochs.emplace_back();
        status.epochs.front().blockCount = 1;
        status.epochs.front().chunks[ChunkState::Free] = 60;
        std::vector<ClaimRow> claims;
        for (int i = 0; i < 40; ++i) { // a minute each until the moment, an hour each since
            ClaimRow claim;
            claim.attempt = AttemptId { 1 };
            claim.endedWallNs = moment + (i < 20 ? (i - 19) * 60 : (i - 19) * 3600) * kSecond;
            claim.claimedWallNs = claim.endedWallNs - kSecond;
            claim.outcome = ClaimEnd::Committed;
            claims.push_back(claim);
        }
        EpochHead head;
        head.setStatus(status, claims, moment);
        const auto labels = head.findChildren<QLabel*>();
        const bool found = std::any_of(labels.begin(), labels.end(), [](const QLabel* label) {
            return label->toolTip().contains(QLatin1String("ends about"))
                && label->toolTip().contains(QLatin1String("13:00"));
        });
        QVERIFY(found);
    }

    /// "Epoch ends about 23:40" of a run whose steps were over at 22:00.
    void anEpochWasPromisedThatARuleEndsSooner()
    {
        constexpr std::int64_t kSecond = 1'000'000'000;
        RunStatus status;
        status.state = RunState::Running;
        status.steps = 1000;
        status.tokens = 50'000;
        status.activeSeconds = 3600;
        status.epochs.emplace_back();
        status.epochs.front().blockCount = 1;
        status.epochs.front().chunks[ChunkState::Free] = 60; // 600 steps, 6000 tokens and an hour
        std::vector<ClaimRow> claims;
        for (int i = 0; i < 20; ++i) {
            ClaimRow claim;
            claim.attempt = AttemptId { 1 };
            claim.endedWallNs = (1000 + i * 60) * kSecond;
            claim.claimedWallNs = claim.endedWallNs - kSecond;
            claim.firstStep = 1;
            claim.lastStep = 10;
            claim.tokens = 100;
            claim.outcome = ClaimEnd::Committed;
            claims.push_back(claim);
        }
        const auto isPromised = [&](const StoppingRules& rules) {
            status.rules = rules;
            EpochHead head;
            head.setStatus(status, claims, claims.back().endedWallNs);
            const auto labels = head.findChildren<QLabel*>();
            return std::any_of(labels.begin(), labels.end(),
                [](const QLabel* label) { return label->toolTip().contains(QLatin1String("ends about")); });
        };
        QVERIFY(isPromised({}));
        QVERIFY(isPromised({ .steps = 1700 }) && !isPromised({ .steps = 1500 }));
        QVERIFY(isPromised({ .tokens = 57'000 }) && !isPromised({ .tokens = 55'000 }));
        QVERIFY(isPromised({ .hours = 2.1 }) && !isPromised({ .hours = 1.9 }));
    }

    /// A resume fell back from a damaged checkpoint, or began anew, and nobody had been asked.
    void weightsAreGivenUpOnlyAfterAYes()
    {
        QWidget window;
        window.resize(1280, 800);
        auto plan = std::make_shared<ResumePlan>(*planOfTen());
        plan->loss = "checkpoint r0-2 is damaged: SHA-256 of weights differs. The one before it would be used.";
        plan->effect.redo = { chunkAt(5), chunkAt(6), chunkAt(7) };
        countFates(*plan);
        ResumeDialog dialog(
            QStringLiteral("/runs/a"), QStringLiteral("a"), 1, plan, good(findPreset("char")).config, &window);
        dialog.show();
        auto* yes = buttonOf<QCheckBox>(dialog, QStringLiteral("I accept that 3"));
        auto* go = buttonOf<QPushButton>(dialog, QStringLiteral("Resume as attempt 2"));
        QVERIFY(yes != nullptr && yes->isVisible() && go != nullptr);
        QVERIFY(says(dialog, QStringLiteral("r0-2")));
        QVERIFY(!go->isEnabled() && !dialog.acceptsLoss());
        yes->click();
        QVERIFY(go->isEnabled() && dialog.acceptsLoss());
        buttonOf<QPushButton>(dialog, QStringLiteral("Copy command"))->click();
        QVERIFY(QGuiApplication::clipboard()->text().contains(QStringLiteral("--accept-loss")));
        yes->click();
        buttonOf<QRadioButton>(dialog, QStringLiteral("2, replica 0"))
            ->click(); // an older one that is whole: that is the choice itself
        QVERIFY(!yes->isVisible() && go->isEnabled() && !dialog.acceptsLoss());
        ResumeDialog nothingLost(
            QStringLiteral("/runs/a"), QStringLiteral("a"), 1, planOfTen(), good(findPreset("char")).config, &window);
        nothingLost.show();
        QVERIFY(buttonOf<QCheckBox>(nothingLost, QStringLiteral("I accept")) == nullptr
            || !buttonOf<QCheckBox>(nothingLost, QStringLiteral("I accept"))->isVisible());
    }

    /// The sentence above the yes was English in every language.
    void whatAResumeGivesUpStoodInEnglish()
    {
        Appearance appearance(false);
        appearance.setLanguage(Language::Spanish);
        const auto back = qScopeGuard([&appearance] { appearance.setLanguage(Language::English); });
        QWidget window;
        auto plan = std::make_shared<ResumePlan>(*planOfTen());
        plan->loss = sentence("%1 The one before it would be used.",
            { sentence("checkpoint %1 is damaged: %2", { "r0-2", Message("SHA-256") }) });
        const ResumeDialog dialog(
            QStringLiteral("/runs/a"), QStringLiteral("a"), 1, plan, good(findPreset("char")).config, &window);
        QVERIFY(says(dialog, QStringLiteral("el punto de control r0-2 está dañado: SHA-256 Se usaría el anterior.")));
    }

    /// With cells below 8 pixels the map is an image, which showed the losses.
    void theMapOfAResumeShowedLossesWhereCellsAreSmall()
    {
        CoverageMap map;
        map.setMinimapVisible(false);
        std::vector<ChunkCell> cells;
        for (int column = 0; column < 100; ++column) {
            ChunkCell cell;
            cell.id = ChunkId { column + 1 };
            cell.column = column;
            cell.state = ChunkState::Committed;
            cell.trainedWallNs = 1;
            cell.meanLoss = static_cast<float>(column);
            cells.push_back(cell);
        }
        map.setCells(cells);
        map.setKinds(std::vector<CellKind>(cells.size(), CellKind::Redo));
        map.resize(400, 200);
        const QImage picture = map.grab().toImage();
        int redo = 0;
        for (int x = 0; x < picture.width(); ++x)
            for (int y = 0; y < picture.height(); ++y)
                redo += picture.pixelColor(x, y) == theme().color(Token::Accent) ? 1 : 0;
        QVERIFY(redo > 200);
        map.setKinds({});
        QVERIFY(map.grab().toImage() != picture);
    }

    /// Workers that outlived their supervisor had saved "-712 ms" before the stop.
    void aCheckpointOfTheLastMomentIsNotBeforeTheStopByLessThanNothing()
    {
        auto plan = std::make_shared<ResumePlan>(*planOfTen());
        plan->endedWallNs = plan->checkpoints[0].row.wallNs - 700'000'000;
        QWidget window;
        window.resize(1280, 800);
        ResumeDialog dialog(
            QStringLiteral("/runs/a"), QStringLiteral("a"), 1, plan, good(findPreset("char")).config, &window);
        dialog.show();
        QVERIFY(says(dialog, QStringLiteral("at the stop")));
        QVERIFY(!says(dialog, QStringLiteral("-7")));
    }

    /// In Spanish it scrolled sideways on a screen of 853 points, with its buttons out of sight.
    void theResumeDialogFitsASmallScreenInEachLanguage()
    {
        Appearance appearance(false);
        const auto back = qScopeGuard([&appearance] { appearance.setLanguage(Language::English); });
        for (const auto& language : kClosedNames<Language>) {
            appearance.setLanguage(language.value);
            QWidget window;
            window.resize(800, 480);
            ResumeDialog dialog(QStringLiteral("/runs/a"), QStringLiteral("a"), 1, planOfTen(),
                good(findPreset("char")).config, &window);
            dialog.show();
            QVERIFY(QTest::qWaitForWindowExposed(&dialog));
            QVERIFY2(dialog.minimumSizeHint().width() <= roomOnScreen(dialog).width(),
                qPrintable(
                    QStringLiteral("%1: %2").arg(QLatin1String(language.name)).arg(dialog.minimumSizeHint().width())));
        }
    }

    /// "Resume with bad_files=leave_out", said the banner, and its button led to a dialog without that.
    void theResumeDialogHadNotWhatTheBannerAdvised()
    {
        QWidget window;
        window.resize(1280, 800);
        ResumeDialog dialog(
            QStringLiteral("/runs/a"), QStringLiteral("a"), 1, planOfTen(), good(findPreset("char")).config, &window);
        RunStatus status;
        status.attempt = 1;
        status.state = RunState::Failed;
        status.stopDetail = sentence("a.txt was removed; resume with %1.", { optionTerm("bad_files", "leave_out") });
        QVERIFY(status.stopDetail.ends_with("resume with --bad-files leave_out."));
        dialog.setStatus(status);
        dialog.show();
        QVERIFY(says(dialog, QStringLiteral("resume with “Changed or damaged files: Leave out”.")));
        const auto boxes = dialog.findChildren<QComboBox*>();
        const auto box = std::find_if(boxes.begin(), boxes.end(),
            [](const QComboBox* one) { return one->accessibleName() == QStringLiteral("Changed or damaged files"); });
        QVERIFY(box != boxes.end() && (*box)->isVisibleTo(&dialog)); // without a click
        (*box)->setCurrentIndex((*box)->findText(QStringLiteral("Leave out")));
        Q_EMIT(*box)->activated((*box)->currentIndex());
        QVERIFY(dialog.wanted().badFiles == BadFiles::LeaveOut);
        const auto edits = dialog.findChildren<QLineEdit*>();
        QVERIFY(std::any_of(edits.begin(), edits.end(),
            [](const QLineEdit* one) { return one->accessibleName() == QStringLiteral("Unreadable rows, at most"); }));
    }

    /// "raise the limit, or turn on “Iterate”", and the dialog had no Iterate.
    void theResumeDialogAdvisedIterateAndHadNone()
    {
        QWidget window;
        window.resize(1280, 800);
        RunConfig config = good(findPreset("char")).config;
        config.data = { "text.txt" };
        config.epochs = 1;
        config.iterate = false;
        RunStatus status;
        status.attempt = 1;
        status.epochs.emplace_back();
        status.epochs.front().closedWallNs = 1;
        ResumeDialog dialog(QStringLiteral("/runs/a"), QStringLiteral("a"), 1, planOfTen(), config, &window);
        dialog.setStatus(status);
        dialog.show();
        auto* go = buttonOf<QPushButton>(dialog, QStringLiteral("Resume as attempt 2"));
        QVERIFY(!go->isEnabled());
        const auto boxes = dialog.findChildren<QCheckBox*>();
        const auto iterate = std::find_if(boxes.begin(), boxes.end(),
            [](const QCheckBox* one) { return one->accessibleName() == QStringLiteral("Iterate"); });
        QVERIFY(iterate != boxes.end() && !(*iterate)->isChecked());
        (*iterate)->click();
        QVERIFY(dialog.wanted().iterate);
        QVERIFY(go->isEnabled());
    }

    /// From a checkpoint two epochs back the map showed the newest epoch alone, without a word.
    void theMapOfAResumeLeftOutAnEpochWithoutSayingSo()
    {
        QWidget window;
        window.resize(1280, 800);
        auto plan = std::make_shared<ResumePlan>(*planOfTen());
        auto& cells = plan->effect.epochs.front();
        cells.epoch = 1;
        for (ChunkCell& cell : cells.cells)
            cell.id = chunkIdOf({ 1, 0, cell.column });
        plan->checkpoints.front().redo = { chunkIdOf({ 0, 0, 3 }), chunkIdOf({ 0, 0, 4 }), chunkIdOf({ 1, 0, 5 }) };
        countFates(*plan);
        ResumeDialog dialog(
            QStringLiteral("/runs/a"), QStringLiteral("a"), 1, plan, good(findPreset("char")).config, &window);
        dialog.show();
        QVERIFY(!says(dialog, QStringLiteral("Not on this map: 2")));
        buttonOf<QRadioButton>(dialog, QStringLiteral("1, replica 0"))->click();
        QVERIFY(says(dialog, QStringLiteral("Not on this map: 2 chunk(s) of epoch 1, to be redone too.")));
    }

    /// "Epoch …": the box had the width of the epochs that were open before another checkpoint was chosen.
    void theEpochOfAResumeWasCutOff()
    {
        const RunStory story({ .workers = 1, .trained = 3 });
        QWidget window;
        window.resize(1280, 800);
        auto plan = std::make_shared<ResumePlan>(*planOfTen());
        plan->effect.epochs.push_back({ 1, {} });
        plan->checkpoints.front().redo = { chunkIdOf({ 79'999, 0, 0 }) };
        countFates(*plan);
        ResumeDialog dialog(story.folder(), QStringLiteral("a"), 1, plan, good(findPreset("char")).config, &window);
        dialog.show();
        const auto combos = dialog.findChildren<QComboBox*>();
        const auto epoch = std::ranges::find_if(
            combos, [](const QComboBox* one) { return one->accessibleName() == QStringLiteral("Epoch of the map"); });
        QVERIFY(epoch != combos.end());
        const int before = (*epoch)->sizeHint().width();
        buttonOf<QRadioButton>(dialog, QStringLiteral("1, replica 0"))->click();
        QCOMPARE((*epoch)->count(), 3);
        QVERIFY((*epoch)->sizeHint().width() > before);
    }

    /// It named the chunks of such an epoch and drew none of them: no choice of the map had it.
    void theMapOfAResumeDidNotDrawAnEpochThatOpensAgain()
    {
        const RunStory story({ .workers = 1, .trained = 3 });
        QWidget window;
        window.resize(1280, 800);
        auto plan = std::make_shared<ResumePlan>(*planOfTen());
        auto& open = plan->effect.epochs.front();
        open.epoch = 1;
        for (ChunkCell& cell : open.cells)
            cell.id = chunkIdOf({ 1, 0, cell.column });
        plan->checkpoints.front().redo = { good(LedgerReader::open(story.paths().tracker())).cells(0).value()[0].id };
        countFates(*plan);
        ResumeDialog dialog(story.folder(), QStringLiteral("a"), 1, plan, good(findPreset("char")).config, &window);
        dialog.show();
        const auto combos = dialog.findChildren<QComboBox*>();
        const auto epoch = std::find_if(combos.begin(), combos.end(),
            [](const QComboBox* one) { return one->accessibleName() == QStringLiteral("Epoch of the map"); });
        QVERIFY(epoch != combos.end() && !(*epoch)->isVisible());
        auto* map = dialog.findChild<CoverageMap*>();
        buttonOf<QRadioButton>(dialog, QStringLiteral("1, replica 0"))->click();
        QCOMPARE((*epoch)->count(), 2);
        QCOMPARE((*epoch)->currentIndex(), 1); // what was shown stays
        QVERIFY(map->accessibleName().startsWith(QStringLiteral("Map of 10 chunk")));
        (*epoch)->setCurrentIndex(0);
        QTRY_VERIFY2_WITH_TIMEOUT(map->accessibleName().startsWith(QStringLiteral("Map of 24 chunk(s) of epoch 1")),
            qPrintable(map->accessibleName()), kPatienceMs);
        QVERIFY(!says(dialog, QStringLiteral("Not on this map: 1")));
    }

    void changedSettingsSayWhetherTheyAreSafe()
    {
        QWidget window;
        window.resize(1280, 800);
        ResumeDialog dialog(
            QStringLiteral("/runs/a"), QStringLiteral("a"), 1, planOfTen(), good(findPreset("char")).config, &window);
        dialog.show();
        QVERIFY(says(dialog, QStringLiteral("No setting is changed.")));
        buttonOf<QPushButton>(dialog, QStringLiteral("Change settings or devices…"))->click();
        const auto edits = dialog.findChildren<QLineEdit*>();
        for (QLineEdit* edit : edits) {
            if (edit->accessibleName() == QStringLiteral("Evaluate every")) {
                edit->selectAll();
                QTest::keyClicks(edit, QStringLiteral("777"));
            }
        }
        QVERIFY(says(dialog, QStringLiteral("777")));
        QVERIFY(says(dialog, QStringLiteral("Safe")));
    }

    /// It said "batch_size is 0, allowed is 1 to 65536.", in English whatever the language.
    void anEmptySourceAndANumberOutOfItsRangeAreSaidWithTheWordsOfTheForm()
    {
        RunForm form;
        QWidget page;
        FormField batch(*findSetting("batch_size"), form, &page);
        FormField data(*findSetting("data"), form, &page);
        form.setText(batch.setting(), QStringLiteral("0"));
        batch.refresh(form.problems());
        data.refresh(form.problems());
        QVERIFY(
            says(page, QStringLiteral("Batch must be a whole number from 1 to %1.").arg(QLocale().toString(65536))));
        QVERIFY(says(page,
            QStringLiteral(
                "Source is empty: a file, a folder or an address (hf://, https://, s3://, gs://) is needed.")));
        form.setTyped(batch.setting(), QStringLiteral("many"));
        batch.refresh(form.problems());
        QVERIFY(says(page, QStringLiteral("Batch must be a whole number from 1")));
        form.setTyped(batch.setting(), QStringLiteral("1.5")); // in that range, and still not possible
        batch.refresh(form.problems());
        QVERIFY(says(page, QStringLiteral("Batch must be a whole number from 1")));
    }

    /// "Attempt 1 ended at 18:14:58: epochs." stood between Spanish words.
    void theReasonsForAStateStayedEnglish()
    {
        Appearance appearance(false);
        appearance.setLanguage(Language::Spanish);
        const auto back = qScopeGuard([&appearance] { appearance.setLanguage(Language::English); });
        RunStatus status;
        const WallTime when(1'795'371'298'000'000'000);
        const auto ended = [&when](const char* attempt, const Argument& why) {
            return sentence("Attempt %1 ended at %2: %3.", { attempt, when, why });
        };
        status.evidence = { ended("1", Term { TermSet::StopReason, "epochs" }),
            ended(
                "2", sentence("%1 (%2)", { Term { TermSet::StopReason, "error" }, "worker 1: disk full at 99 %1" })) };
        const QString words = evidenceText(status, QStringLiteral("\n"));
        QVERIFY2(words.startsWith(QStringLiteral("El intento 1 terminó")), qPrintable(words));
        QVERIFY(!words.contains(QLatin1String("epochs")) && !words.contains(QLatin1String("Attempt")));
        QVERIFY(words.contains(QLatin1String("(worker 1: disk full at 99 %1)")));
        status.evidence = { ended("1", inWords(StopReason::Epochs)),
            ended("2", endInWords(StopReason::User, sentence("after a checkpoint"))) };
        const QString inWords = evidenceText(status, QStringLiteral("\n"));
        QVERIFY2(!inWords.contains(QLatin1String("trained")) && !inWords.contains(QLatin1String("stopped"))
                && !inWords.contains(QLatin1String("after")),
            qPrintable(inWords));
        RunStory story({}); // what core really says, alive and not
        for (const bool alive : { false, true }) {
            if (alive)
                story.makeAlive();
            const auto read = readStatus(story.paths());
            QVERIFY(read.ok());
            QVERIFY(!read.value().evidence.empty());
            for (const Message& evidence : read.value().evidence)
                QVERIFY2(coreWords(evidence) != QString::fromStdString(evidence), evidence.c_str());
        }
    }

    /// What ended an attempt may be a whole sentence: it ended in two full stops, or stood in English without them.
    void aSentenceThatEndsAnotherOneIsKnownWithoutItsFullStop()
    {
        Appearance appearance(false);
        for (const Language language : { Language::Spanish, Language::Chinese }) {
            appearance.setLanguage(language);
            const auto back = qScopeGuard([&appearance] { appearance.setLanguage(Language::English); });
            const Message why = sentence("The workers ended before the run did.");
            const QString words
                = coreWords(sentence("Attempt %1 ended at %2: %3.", { "1", "2026-03-13T18:42:10Z", why }));
            const QString inner = coreWords(why);
            QVERIFY(inner != QString::fromStdString(why));
            QVERIFY2(words.endsWith(inner), qPrintable(words));
        }
    }

    /// Spikes, ends of workers and findings of the audit stood in English in a Spanish console.
    void aSentenceOfCoreIsSaidWithItsValues()
    {
        Appearance appearance(false);
        appearance.setLanguage(Language::Spanish);
        const auto back = qScopeGuard([&appearance] { appearance.setLanguage(Language::English); });
        QCOMPARE(coreWords(Message("bad allocation at 0x12")), QStringLiteral("bad allocation at 0x12"));
        const Message died = sentence("SIGKILL (likely the out-of-memory killer)");
        const Message lost = sentence("trainings of %1 lost with their weights: %2; %3",
            { toString(chunkIdOf({ 0, 5, 3 })), died, sentence("it is to be trained again") });
        QVERIFY2(coreWords(lost).contains(coreWords(died)), qPrintable(coreWords(lost)));
        QVERIFY(coreWords(died) != QString::fromStdString(died));
        const Message poisoned = sentence(
            "chunk %1 of block %2 (epoch %3) is %4: %5", { "3", "5", "1", termOf(ChunkState::Poisoned), "bad row" });
        QVERIFY2(coreWords(poisoned).contains(chunkStateWord(ChunkState::Poisoned)), qPrintable(coreWords(poisoned)));
        RunForm form; // rules between settings name both as the form does
        form.setText(*findSetting("heads"), QStringLiteral("5"));
        QCOMPARE(form.problems().size(), std::size_t { 2 }); // there is no source either
        const QString words = coreWords(form.problems().back().message);
        QVERIFY2(words.contains(settingLabel(*findSetting("heads")))
                && words.contains(settingLabel(*findSetting("width"))) && !words.contains(QLatin1String("which")),
            qPrintable(words));
    }

    /// A folder called "data", as the setting is, and one called "stopped" were translated.
    void aNameThatReadsLikeASettingOrAStateWasTranslated()
    {
        Appearance appearance(false);
        appearance.setLanguage(Language::Spanish);
        const auto back = qScopeGuard([&appearance] { appearance.setLanguage(Language::English); });
        for (const char* name :
            { "width", "stopped", "free", "user", "1,234", "2026-03-13T18:42:10Z", "No attempt was started yet." }) {
            const QString words = coreWords(sentence("the file %1 is not there", { name }));
            QVERIFY2(words.contains(QLatin1String(name)), qPrintable(words));
        }
        const Message typed = sentence("the file %1 is not there", { settingTerm("width") });
        QVERIFY2(coreWords(typed).contains(settingLabel(*findSetting("width"))), qPrintable(coreWords(typed)));
    }

    /// "no se puede leer" was said by no error: each stood in English behind a Spanish word or two.
    void errorsOfCoreStoodInEnglish()
    {
        Appearance appearance(false);
        appearance.setLanguage(Language::Spanish);
        const auto back = qScopeGuard([&appearance] { appearance.setLanguage(Language::English); });
        const QTemporaryDir folder;
        const std::string path = folder.path().toStdString();
        const Error missing = readFile(path + "/absent.txt", 10).error();
        QVERIFY2(
            errorText(missing).contains(QStringLiteral("no se puede leer %1/absent.txt: no existe").arg(folder.path())),
            qPrintable(errorText(missing)));
        const QString inside = errorText(missing.in("reading block 3")); // where it happened stands in front
        QVERIFY2(inside.contains(QStringLiteral("reading block 3: no se puede leer")), qPrintable(inside));
        const Error noRun = readRunFile(RunPaths(path)).error();
        QVERIFY2(errorText(noRun).contains(QStringLiteral("no es una ejecución")), qPrintable(errorText(noRun)));
        const QString lines = coreWords(noRun.message + "\n  " + missing.message);
        QVERIFY2(lines.contains(QStringLiteral("no es una ejecución"))
                && lines.contains(QStringLiteral("\n  no se puede leer")),
            qPrintable(lines));
    }

    void choicesOfTheFormWereTheWordsOfTheCommandLine()
    {
        RunForm form;
        QWidget page;
        FormField merge(*findSetting("merge"), form, &page);
        auto* choices = qobject_cast<QComboBox*>(merge.editor());
        QVERIFY(choices != nullptr);
        const int average = choices->findData(QStringLiteral("average"));
        QCOMPARE(choices->itemText(average), QStringLiteral("Average"));
        QCOMPARE(choices->itemData(average, Qt::ToolTipRole).toString(), QStringLiteral("--merge average"));
        for (const Setting& setting : settings()) {
            for (const std::string& choice :
                setting.choiceValues()) { // a choice that is added to the schema needs its words
                const bool isName = setting.key == "precision" && choice != "auto";
                QVERIFY2(isName || settingChoice(setting, choice) != QString::fromStdString(choice),
                    (setting.key + ' ' + choice).c_str());
            }
        }
    }

    void aWarningStaysUntilItIsRead()
    {
        const RunStory story({});
        Appearance appearance(false);
        Workbench bench(story.workspace());
        MainWindow window(bench, appearance, false);
        window.resize(1280, 800);
        window.show();
        bench.start({});
        bench.showRun(story.folder());
        QTRY_VERIFY_WITH_TIMEOUT(bench.watcher().status() && bench.watcher().tables(), kPatienceMs);
        IncarnationRow dead;
        dead.id = IncarnationId { 99 };
        dead.endedWallNs = systemClock().wallNs();
        dead.endCause = sentence("SIGKILL, sender unknown");
        bench.alerts().takeHistory(historyOf({}, { dead }));
        const QString warning = bench.alerts().all().back().text;
        const auto isSaid = [&] {
            const auto labels = window.statusBar()->findChildren<QLabel*>();
            return std::any_of(labels.begin(), labels.end(),
                [&](const QLabel* label) { return label->text().endsWith(warning); }); // behind its time
        };
        QVERIFY(isSaid());
        auto* read = buttonOf<QPushButton>(*window.statusBar(), QStringLiteral("Mark as read"));
        QVERIFY(read != nullptr && read->isVisible());
        Q_EMIT bench.commands().begun(RunVerb::Pause, story.folder());
        QVERIFY(!isSaid()); // covered for the moment
        Q_EMIT bench.commands().done(RunVerb::Pause, story.folder());
        QVERIFY(isSaid());
        read->click();
        QVERIFY(!isSaid() && !read->isVisible());
    }

    /// "was interrupted. Resume shows what would be trained again." beside a run that trained: nobody had pressed the
    /// button of this window.
    void aRunWasCalledInterruptedWhileItTrainedAgain()
    {
        RunStory story({});
        Appearance appearance(false);
        Workbench bench(story.workspace());
        MainWindow window(bench, appearance, false);
        window.show();
        bench.start({});
        bench.showRun(story.folder());
        QTRY_VERIFY_WITH_TIMEOUT(
            bench.watcher().status() && bench.watcher().status()->state == RunState::Interrupted, kPatienceMs);
        Alert alert;
        alert.kind = AlertKind::Interrupted;
        alert.text = QStringLiteral("story was interrupted.");
        alert.wallNs = systemClock().wallNs();
        Q_EMIT bench.alerts().raised(alert);
        QVERIFY(says(*window.statusBar(), alert.text));
        const auto lock = good(FileLock::tryLock(story.paths().supervisorLock()));
        (void)good(story.supervisor().beginAttempt(thisProcess(), "{}"));
        story.makeAlive();
        QTRY_VERIFY_WITH_TIMEOUT(!says(*window.statusBar(), alert.text), kPatienceMs);
        QVERIFY(isUnderWay(bench.watcher().status()->state));
    }

    /// All that were written are damaged: "No checkpoint has been written yet".
    void theBannerSaidThatNoCheckpointWasEverWritten()
    {
        RunStory story({});
        auto supervisor = story.supervisor();
        for (const auto& row : good(good(LedgerReader::open(story.paths().tracker())).checkpoints()))
            (void)good(supervisor.markDamaged(row.id, "bit rot"));
        Appearance appearance(false);
        Workbench bench(story.workspace());
        MainWindow window(bench, appearance, false);
        window.show();
        bench.start({});
        bench.showRun(story.folder());
        auto* banner = window.findChild<RunBanner*>();
        QTRY_VERIFY_WITH_TIMEOUT(says(*banner, QStringLiteral("No whole checkpoint is left")), kPatienceMs);
        QVERIFY(!says(*banner, QStringLiteral("has been written yet")));
    }

    void interruptedRunIsMarkedFinishedFromItsBanner()
    {
        const RunStory story({});
        Appearance appearance(false);
        Workbench bench(story.workspace());
        MainWindow window(bench, appearance, false);
        window.resize(1280, 800);
        window.show();
        bench.start({});
        bench.showRun(story.folder());
        QTRY_VERIFY_WITH_TIMEOUT(
            bench.watcher().status() && bench.watcher().status()->state == RunState::Interrupted, kPatienceMs);
        auto* banner = window.findChild<RunBanner*>();
        QTRY_VERIFY(banner->isVisible());
        auto* finished = buttonOf<QPushButton>(*banner, QStringLiteral("Mark finished"));
        QVERIFY(finished != nullptr && finished->isVisible());
        QVERIFY(buttonOf<QPushButton>(*banner, QStringLiteral("Resume")) != nullptr
            && buttonOf<QPushButton>(*banner, QStringLiteral("Inspect")) != nullptr);
        finished->click();
        QTRY_VERIFY_WITH_TIMEOUT(bench.watcher().status()->state == RunState::Finished, kPatienceMs);
        QVERIFY(bench.watcher().status()->markedByHand);
        QTRY_VERIFY(!banner->isVisible());
        QVERIFY(says(window, QStringLiteral("Finished (marked by hand)")));
        QVERIFY(readFinishedMark(story.paths()).has_value());
        QTRY_VERIFY_WITH_TIMEOUT(
            !bench.scanner().lines()->empty() && bench.scanner().lines()->front().markedByHand, kPatienceMs);
        auto supervisor = good(SupervisorLedger::open(story.paths().tracker()));
        (void)good(
            supervisor.beginAttempt(thisProcess(), "{}")); // it is resumed: the word about the attempt before is void
        good(supervisor.endAttempt({ 2 }, StopReason::Interrupted, "shut down"));
        QTRY_VERIFY_WITH_TIMEOUT(bench.watcher().status()->state == RunState::Interrupted, kPatienceMs);
    }

    /// The console said "goes on" where the resume refused; now a box has the sentence of core, and nothing has begun.
    void aRefusedResumeIsSaidInABoxAndBeginsNothing()
    {
        const RunStory story({}, QStringLiteral("story <b>x"));
        const auto checkpoints = story.paths().checkpointsFolder();
        std::filesystem::rename(checkpoints, story.paths().folder() / "away");
        std::filesystem::create_directory_symlink(story.paths().folder() / "away", checkpoints);
        const auto attempts
            = [&story] { return good(good(LedgerReader::open(story.paths().tracker())).attempts()).size(); };
        const auto before = attempts();
        Appearance appearance(false);
        Workbench bench(story.workspace());
        MainWindow window(bench, appearance, false);
        window.resize(1280, 800);
        window.show();
        bench.start({});
        bench.showRun(story.folder());
        QTRY_VERIFY_WITH_TIMEOUT(
            bench.watcher().status() && bench.watcher().status()->state == RunState::Interrupted, kPatienceMs);
        auto* resume = buttonOf<QPushButton>(*window.findChild<RunBanner*>(), QStringLiteral("Resume"));
        QVERIFY(resume != nullptr && resume->isEnabled());
        resume->click();
        QTRY_VERIFY_WITH_TIMEOUT(window.findChild<QMessageBox*>() != nullptr, kPatienceMs);
        auto* box = window.findChild<QMessageBox*>();
        QVERIFY(box->isVisible());
        const auto refused = refuseLinks(story.paths());
        QVERIFY(!refused.ok());
        QCOMPARE(box->informativeText(), QString::fromStdString(refused.error().message));
        QVERIFY(box->informativeText().contains(QStringLiteral("story <b>x")));
        const auto labels = box->findChildren<QLabel*>();
        for (const QLabel* label : labels)
            QCOMPARE(label->textFormat(), Qt::PlainText);
        QCOMPARE(window.findChild<ResumeDialog*>(), nullptr);
        box->close();
        QCOMPARE(attempts(), before);
    }

    void automaticResumeIsOffUntilChosenAndEndsAfterItsLimit()
    {
        RunCommands commands;
        AutoResume resume(commands);
        const QString folder = QStringLiteral("/nowhere/run");
        resume.takeLines({ interruptedLine(folder, 1) });
        QVERIFY(!resume.planOf(folder).has_value());
        resume.setWanted(folder, true);
        resume.takeLines({ interruptedLine(folder, 1) });
        const auto first = resume.planOf(folder);
        QVERIFY(first.has_value());
        QCOMPARE(first->number, 1);
        QVERIFY(first->seconds > 0 && first->seconds <= AutoResume::waitSeconds(1));
        for (int number = 1; number < AutoResume::kLimit; ++number)
            QVERIFY(AutoResume::waitSeconds(number) < AutoResume::waitSeconds(number + 1));
        resume.cancel(folder);
        QVERIFY(!resume.planOf(folder).has_value());
        resume.takeLines({ interruptedLine(folder, 1) }); // cancelled for this interruption
        QVERIFY(!resume.planOf(folder).has_value());
        resume.takeLines({ interruptedLine(folder, 2) });
        QVERIFY(resume.planOf(folder).has_value());
    }

    void automaticResumeCountsOnAfterARestartOfTheConsole()
    {
        QCoreApplication::setOrganizationName(QStringLiteral("furrow-test"));
        QCoreApplication::setApplicationName(QStringLiteral("tst_flows"));
        const QString folder = QStringLiteral("/nowhere/run");
        const auto triedBefore = [&folder](int times) {
            QSettings().setValue(QStringLiteral("auto_resume"), QVariantMap { { folder, times } });
        };
        RunCommands commands;
        triedBefore(2);
        AutoResume third(commands);
        third.remember();
        third.takeLines({ interruptedLine(folder, 3) });
        QCOMPARE(third.planOf(folder).value_or(AutoResume::Plan {}).number, 3);
        triedBefore(AutoResume::kLimit);
        AutoResume over(commands);
        over.remember();
        over.takeLines({ interruptedLine(folder, 4) });
        QVERIFY(!over.planOf(folder).has_value());
        RunLine ended = interruptedLine(folder, 4);
        ended.state = RunState::Finished;
        over.takeLines({ ended });
        over.takeLines({ interruptedLine(folder, 5) });
        QCOMPARE(over.planOf(folder).value_or(AutoResume::Plan {}).number, 1);
        QSettings().clear();
    }

    void replicasThatStandOnAMergeAreNoMembers()
    {
        LedgerTables tables;
        for (int id = 1; id <= 3; ++id) {
            SupervisorLedger::CheckpointRow row;
            row.id = { id };
            row.record.kind = id == 3 ? CheckpointKind::Merge : CheckpointKind::Replica;
            row.record.replica = id == 3 ? -1 : id - 1;
            row.record.folder = "c" + std::to_string(id);
            tables.checkpoints.push_back(row);
        }
        tables.replicas = { { 0, CheckpointId { 1 }, false }, { 1, CheckpointId { 2 }, false },
            { 2, CheckpointId { 3 }, false }, { 3, std::nullopt, false } };
        QCOMPARE(mergeableReplicas(tables).size(), std::size_t(2));
        QWidget window;
        MergeDialog dialog(QStringLiteral("/nowhere"), tables, &window);
        dialog.show();
        QVERIFY(buttonOf<QPushButton>(dialog, QStringLiteral("Merge 2 replica(s)")) != nullptr);
        auto* evaluate = buttonOf<QPushButton>(dialog, QStringLiteral("Evaluate members"));
        evaluate->click(); // there is no such run, perhaps not even a furrowctl: what went wrong is said, and one may
                           // try again
        QVERIFY(!evaluate->isEnabled());
        QTRY_VERIFY_WITH_TIMEOUT(evaluate->isEnabled(), kPatienceMs);
        QVERIFY(says(dialog, QStringLiteral("/nowhere")) || says(dialog, QStringLiteral("furrowctl")));
    }

    void earlierAndLaterGoByTheLaneNotByTheWholeQueue()
    {
        QueueView queue;
        const auto add = [&queue](std::int64_t id, const char* lane, QueueState state) {
            queue.entries.push_back({ id, "/runs/" + std::to_string(id), std::to_string(id), lane, state, "" });
        };
        add(1, "cpu", QueueState::Running);
        add(2, "cpu:2", QueueState::Waiting);
        add(3, "GPU-5b1e", QueueState::Waiting);
        add(4, "cpu", QueueState::Waiting);
        add(5, "GPU-5b1e,GPU-91d4", QueueState::Waiting);
        QueueTree tree;
        tree.setQueue(queue);
        QCOMPARE(tree.topLevelItemCount(), 3); // the processor and two GPUs
        QCOMPARE(tree.topLevelItem(0)->text(0), QStringLiteral("CPU"));
        QCOMPARE(tree.topLevelItem(0)->childCount(), 3);
        QCOMPARE(tree.topLevelItem(1)->childCount(), 2); // the run that needs both stands in both
        QCOMPARE(tree.topLevelItem(2)->childCount(), 1);
        tree.setCurrentItem(tree.topLevelItem(0)->child(2));
        QCOMPARE(tree.currentId(), 4);
        QCOMPARE(tree.neighbour(-1), 2); // not 3, which is of another device
        QCOMPARE(tree.neighbour(1), 0);
        tree.setCurrentItem(tree.topLevelItem(0)->child(1));
        QCOMPARE(tree.neighbour(-1), 0); // what trains keeps its place
        std::swap(queue.entries[1], queue.entries[3]);
        tree.setQueue(queue);
        QCOMPARE(tree.currentId(), 2);
        QCOMPARE(tree.neighbour(-1), 4);
    }

    /// Its entry stayed "in training" for ever, and nothing else could begin in its lane.
    void aRunOfTheQueueThatAPersonStoppedHasEnded()
    {
        RunStory story({});
        auto supervisor = story.supervisor();
        good(supervisor.endAttempt(story.attempt(), StopReason::User, "stopped"));
        const std::filesystem::path workspace(story.workspace().toStdString());
        auto file = good(WorkspaceFile::open(workspace));
        good(file.enqueue(story.folder().toStdString(), "story", "cpu"));
        good(file.setEntry(good(file.queue()).front().id, QueueState::Running, ""));
        const StopRequest stop(false);
        good(runQueue(workspace, stop));
        const QueueEntry entry = good(file.queue()).front();
        QVERIFY(entry.state == QueueState::Ended);
        QCOMPARE(entry.outcome, std::string("stopped"));
    }

    void reportOfARunIsOnePageByItself()
    {
        const RunStory story({});
        const RunStatus status = good(readStatus(story.paths()));
        QImage curves(40, 20, QImage::Format_RGB32);
        curves.fill(Qt::white);
        const QString html = runReportHtml(status, {}, good(audit(story.paths().tracker())), curves);
        QVERIFY(html.contains(QStringLiteral("<h1>story</h1>")));
        QVERIFY(html.contains(QStringLiteral("where it should be, once; weights not inspected")));
        QVERIFY(html.contains(QStringLiteral("data:image/png;base64,")));
        QVERIFY(
            !html.contains(QStringLiteral("http")) && !html.contains(QStringLiteral("<script"))); // nothing is loaded
    }

    void theReportToldOnlyWithWhichSettingsTheRunBegan()
    {
        const RunStory story({});
        AttemptRow first, second;
        first.id = { 1 };
        first.overridesJson = "{}";
        second.id = { 2 };
        second.overridesJson = R"({"workers":1})";
        const QString html = runReportHtml(
            good(readStatus(story.paths())), { first, second }, good(audit(story.paths().tracker())), {});
        QVERIFY(html.contains(QStringLiteral("<td>1</td><td>Attempt 2: 2 → 1</td>")));
    }

    void noLetterIsTwiceInAMenu()
    {
        const RunStory story({});
        for (const auto& [language, code, label] : kClosedNames<Language>) {
            Appearance appearance(false);
            appearance.setLanguage(language);
            Workbench bench(story.workspace());
            MainWindow window(bench, appearance, false);
            window.show();
            const auto menus = window.menuBar()->findChildren<QMenu*>(); // with those inside them
            QVERIFY(menus.size() >= 10);
            for (QMenu* menu : menus)
                Q_EMIT menu->aboutToShow();
            for (QMenu* menu : menus) {
                QSet<QString> letters;
                const auto actions = menu->actions();
                for (const QAction* action : actions) {
                    if (action->isSeparator())
                        continue;
                    const QString letter = QKeySequence::mnemonic(action->text()).toString();
                    QVERIFY2(!letter.isEmpty(), qPrintable(action->text()));
                    QVERIFY2(!letters.contains(letter),
                        qPrintable(QLatin1String(code) + QLatin1Char(' ') + menu->title() + QLatin1Char(' ')
                            + action->text()));
                    letters.insert(letter);
                }
            }
            appearance.setLanguage(Language::English);
        }
    }

    void everyButtonOfADialogHasItsLetter()
    {
        QWidget window;
        window.resize(1280, 800);
        DialogPreparer giver;
        qApp->installEventFilter(&giver);
        ResumeDialog dialog(
            QStringLiteral("/runs/a"), QStringLiteral("a"), 1, planOfTen(), good(findPreset("char")).config, &window);
        dialog.show();
        QSet<QString> letters;
        int count = 0;
        const auto buttons = dialog.findChildren<QAbstractButton*>();
        for (const QAbstractButton* button : buttons) {
            if (button->text().isEmpty() || button->property("keepsWords").toBool()) // a list has its arrow keys
                continue;
            ++count;
            letters.insert(QKeySequence::mnemonic(button->text()).toString());
            QVERIFY2(!button->accessibleName().contains(QLatin1Char('&')), qPrintable(button->accessibleName()));
        }
        QVERIFY(count >= 4);
        QVERIFY(!letters.contains(QString()));
        QCOMPARE(letters.size(), count);
    }

    /// Alerts were 523 pixels high, the help 860 wide, on desktops of 853 x 480.
    void aDialogThatIsLargerThanTheScreenIsScrolled()
    {
        DialogPreparer preparer;
        QCoreApplication::instance()->installEventFilter(&preparer);
        const QSize screen = QGuiApplication::primaryScreen()->availableSize();
        QDialog wide;
        wide.resize(screen.width() + 60, 100);
        wide.show();
        QVERIFY(wide.width() < screen.width());
        QDialog high;
        auto* column = new QVBoxLayout(&high);
        for (int i = 0; i < screen.height() / 10; ++i)
            column->addWidget(new QLabel(QStringLiteral("line %1").arg(i)));
        auto* last = new QPushButton(QStringLiteral("Save"));
        column->addWidget(last);
        high.show();
        QVERIFY(high.height() < screen.height());
        auto* room = high.findChild<QScrollArea*>();
        QVERIFY(room != nullptr);
        QVERIFY(!room->horizontalScrollBar()->isVisible());
        room->ensureWidgetVisible(last);
        QTRY_VERIFY(!last->visibleRegion().isEmpty());
    }

    void mnemonicsComeOnceAndLeaveAgain()
    {
        QMenu menu;
        QAction* first = menu.addAction(QStringLiteral("Stop"));
        QAction* second = menu.addAction(QStringLiteral("Save…"));
        QAction* chinese = menu.addAction(QStringLiteral("退出"));
        giveMnemonics(menu);
        const QStringList once { first->text(), second->text(), chinese->text() };
        QCOMPARE(once, QStringList({ QStringLiteral("&Stop"), QStringLiteral("S&ave…"), QStringLiteral("退出(&B)") }));
        giveMnemonics(menu);
        QCOMPARE(QStringList({ first->text(), second->text(), chinese->text() }), once);
        QCOMPARE(withoutMnemonic(chinese->text()), QStringLiteral("退出"));
        setWords(*first, QStringLiteral("Stop"));
        QCOMPARE(first->text(), QStringLiteral("&Stop"));
    }

    /// "demo" found nothing, and nothing said so.
    void thePaletteWasAnEmptyListWhenNothingMatched()
    {
        QWidget window;
        Actions actions(&window);
        CommandPalette palette(actions, &window);
        palette.show();
        auto* line = palette.findChild<QLineEdit*>();
        const auto* list = palette.findChild<QTreeWidget*>();
        line->setText(QStringLiteral("demo"));
        QCOMPARE(list->topLevelItemCount(), 1);
        QCOMPARE(list->topLevelItem(0)->text(0), QStringLiteral("Help: Start demonstration run"));
        line->setText(QStringLiteral("checkpoint")); // by its name, then by what it does
        QCOMPARE(list->topLevelItem(0)->text(0), QStringLiteral("Run: Save checkpoint now"));
        QVERIFY(list->topLevelItemCount() > 1);
        line->setText(QStringLiteral("xyzzy"));
        QCOMPARE(list->topLevelItem(0)->text(0), QStringLiteral("Nothing matches."));
        QTest::keyClick(line, Qt::Key_Return);
        QVERIFY(palette.isVisible());
    }

    /// It knew commands alone.
    void thePaletteFoundNoChunkRunOrSetting()
    {
        const RunStory story({}, QStringLiteral("fineweb"));
        Appearance appearance(false);
        Workbench bench(story.workspace());
        MainWindow window(bench, appearance, false);
        window.resize(1280, 900);
        window.show();
        bench.start({});
        bench.showRun(story.folder());
        QTRY_VERIFY_WITH_TIMEOUT(!bench.cells().cells().empty() && !bench.scanner().lines()->empty(), kPatienceMs);
        const auto type = [&window](const QString& words, bool enter) {
            window.findChild<Actions*>()->palette->trigger();
            auto* palette = window.findChild<CommandPalette*>();
            auto* line = palette->findChild<QLineEdit*>();
            line->setText(words);
            const auto* first = palette->findChild<QTreeWidget*>()->topLevelItem(0);
            const QStringList said { first->text(0), first->text(1) };
            QTest::keyClick(line, enter ? Qt::Key_Return : Qt::Key_Escape);
            QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
            return said;
        };
        for (const char* form : { "B1 C2", "b1c2", "1:2", "block 1, chunk 2" }) {
            bench.selection().clear();
            QCOMPARE(type(QLatin1String(form), true).front(), QStringLiteral("Block 1, chunk 2"));
            QCOMPARE(bench.selection().selection().chunks.size(), std::size_t(1));
            QCOMPARE(bench.selection().selection().chunks.front().block, 1);
            QCOMPARE(bench.selection().selection().chunks.front().column, 2);
            QCOMPARE(window.runView().currentPage(), static_cast<int>(RunView::Coverage));
        }
        QCOMPARE(
            type(QStringLiteral("B99 C1"), true).back(), QStringLiteral("the map that is shown has no such chunk"));
        type(QString(), false);
        QCOMPARE(type(QStringLiteral("fineweb"), false).front(), QStringLiteral("Library: fineweb"));
        QCOMPARE(type(QStringLiteral("beta1"), true).back(), QStringLiteral("--beta1"));
        QVERIFY(window.perspective() == MainWindow::Perspective::Launch);
        type(QStringLiteral("library: fineweb"), true);
        QVERIFY(window.perspective() == MainWindow::Perspective::Watch);
    }

    void paletteShowsShortcutsInAColumnOfTheirOwn()
    {
        QWidget window;
        Actions actions(&window);
        CommandPalette palette(actions, &window);
        palette.show();
        palette.findChild<QLineEdit*>()->setText(QStringLiteral("resume…"));
        const auto* list = palette.findChild<QTreeWidget*>();
        QCOMPARE(list->topLevelItemCount(), 1);
        QCOMPARE(list->topLevelItem(0)->text(0), QStringLiteral("Run: Resume…"));
        QCOMPARE(list->topLevelItem(0)->text(1), actions.resume->shortcut().toString(QKeySequence::NativeText));
        const QSignalSpy triggered(actions.resume, &QAction::triggered);
        QTest::keyClick(palette.findChild<QLineEdit*>(), Qt::Key_Return);
        QCOMPARE(triggered.count(), 1);
    }

    void cachedBlocksReadLikeNoDataAtAll()
    {
        const RunStory story({});
        Reading reading;
        reading.attempt = 1;
        reading.blocksFromCache = 4;
        good(publishReading(story.paths(), reading));
        Workbench bench(story.workspace());
        OverviewPage page(bench);
        bench.showRun(story.folder());
        const auto says = [&page](const QString& text) {
            const auto labels = page.findChildren<QLabel*>();
            return std::any_of(
                labels.begin(), labels.end(), [&text](const QLabel* label) { return label->text() == text; });
        };
        QTRY_VERIFY_WITH_TIMEOUT(says(QStringLiteral("none, all cached")), kPatienceMs);
        QVERIFY(says(QStringLiteral("4 of 4")));
        reading.samplesFetched = 1200;
        reading.blocksPrepared = 2;
        good(publishReading(story.paths(), reading));
        QTRY_VERIFY_WITH_TIMEOUT(says(countText(1200)) && says(QStringLiteral("4 of 6")), kPatienceMs);
    }

    void theInspectorShowedThePresentDuringAReplayWithoutSayingSo()
    {
        const RunStory story({});
        Workbench bench(story.workspace());
        InspectorDock inspector(bench);
        inspector.show();
        bench.showRun(story.folder());
        const auto warns = [&inspector] {
            const auto labels = inspector.findChildren<QLabel*>();
            return std::any_of(labels.begin(), labels.end(), [](const QLabel* label) {
                return label->isVisible() && label->text().startsWith(QLatin1String("As it is now"));
            });
        };
        QTRY_VERIFY_WITH_TIMEOUT(bench.watcher().status() && bench.replay().end() > 0, kPatienceMs);
        QVERIFY(!warns());
        bench.replay().setMoment(bench.replay().begin());
        QTRY_VERIFY_WITH_TIMEOUT(warns(), kPatienceMs);
        bench.replay().setMoment(std::nullopt);
        QTRY_VERIFY_WITH_TIMEOUT(!warns(), kPatienceMs);
    }

    /// In a replay head, meters and epoch choice stayed in the present; an epoch that was chosen there said "block not
    /// prepared" of trained chunks; in a window made anew (another language) the choice said 2 over the map of 1.
    void thePastIsThePast()
    {
        RunStory story({ 2, 3, 1, 0, 8 }); // its worker holds one chunk and never trains it
        trainIntoTheSecondEpoch(story);
        Workbench bench(story.workspace());
        OverviewPage page(bench);
        CoveragePage coverage(bench);
        page.show();
        bench.showRun(story.folder());
        const auto committed = [&bench] {
            const auto& cells = bench.cells().cells();
            return std::count_if(
                cells.begin(), cells.end(), [](const ChunkCell& cell) { return cell.state == ChunkState::Committed; });
        };
        const auto choice = [](const CoveragePage& of) {
            const auto combos = of.findChildren<QComboBox*>();
            for (const QComboBox* combo : combos)
                if (combo->accessibleName() == QStringLiteral("Epoch"))
                    return combo->currentText();
            return QString();
        };
        QTRY_VERIFY_WITH_TIMEOUT(bench.watcher().status() && bench.watcher().status()->epochs.size() == 2
                && committed() == 5 && bench.replay().end() > 0,
            kPatienceMs);
        QTRY_VERIFY_WITH_TIMEOUT(says(page, QStringLiteral("Epochs 1 and 2")), kPatienceMs);
        QCOMPARE(bench.cells().epoch(), 0); // the oldest that is open
        QTRY_COMPARE_WITH_TIMEOUT(choice(coverage), QStringLiteral("Epoch 1, open"), kPatienceMs);
        const auto meter = [&page](const QString& name) {
            const auto meters = page.findChildren<Meter*>();
            for (const Meter* one : meters)
                if (one->accessibleName().startsWith(name))
                    return one->accessibleName() + one->accessibleDescription();
            return QString();
        };
        bench.replay().setMoment(bench.replay().begin());
        QVERIFY2(says(page, QStringLiteral("As it was at")), "the evidence is of the present");
        QVERIFY2(says(page, QStringLiteral("Epoch 1, ")), "the head is of the present");
        QVERIFY2(meter(QStringLiteral("Chunks committed")).contains(QStringLiteral("0 of 6")),
            qPrintable(meter(QStringLiteral("Chunks committed"))));
        bench.replay().setMoment(bench.replay().end() - 1);
        bench.watcher().setEpoch(1);
        QTRY_COMPARE_WITH_TIMEOUT(bench.cells().epoch(), 1, kPatienceMs);
        QVERIFY2(committed() >= 1, "the chosen epoch is shown as not prepared");
        QVERIFY(says(page, QStringLiteral("Epochs 1 and 2, "))); // both were open, whichever the map shows
        CoveragePage anew(bench);
        QCOMPARE(choice(anew), QStringLiteral("Epoch 2, open"));
        bench.replay().setMoment(std::nullopt);
        bench.watcher().setHeld(false);
        QTRY_COMPARE_WITH_TIMEOUT(bench.cells().epoch(), 0, kPatienceMs);
        QTRY_COMPARE_WITH_TIMEOUT(choice(anew), QStringLiteral("Epoch 1, open"), kPatienceMs);
        InspectorDock inspector(bench);
        inspector.show();
        const ChunkCell& cell = bench.cells().cells().front();
        bench.selection().setChunks({ { cell.id, cell.block, cell.column } });
        QTRY_VERIFY_WITH_TIMEOUT(says(inspector, QStringLiteral("Block 0, chunk 0, epoch 1")), kPatienceMs);
    }

    /// With another epoch shown its numbers went and its curve stayed; of a chunk that was chosen then, the inspector
    /// showed the curve of the one before.
    void theInspectorShowedTheCurveOfAnotherChunkAfterTheEpochChanged()
    {
        RunStory story({ 2, 3, 1, 0, 8 });
        trainIntoTheSecondEpoch(story);
        Workbench bench(story.workspace());
        InspectorDock inspector(bench);
        inspector.show();
        bench.showRun(story.folder());
        const auto curveBegins
            = [&inspector] { return inspector.findChild<SeriesChart*>()->curves().keyAxis()->range().lower; };
        const auto stepOf = [&bench](ChunkId chunk) { // its first one
            const auto& telemetry = bench.watcher().telemetry();
            const auto intervals
                = telemetry ? telemetry->intervalsOf(chunk.value) : std::vector<TelemetrySnapshot::Interval> {};
            return intervals.empty()
                ? -1.0
                : telemetry->xAt(intervals.back().stretch, intervals.back().begin, XAxis::WorkerStep);
        };
        std::vector<SelectedChunk> trained;
        const auto findTrained = [&] {
            trained.clear();
            for (const ChunkCell& cell : bench.cells().cells())
                if (stepOf(cell.id) >= 0 && !bench.claims().claimsOf(cell.id).empty())
                    trained.push_back({ cell.id, cell.block, cell.column });
            return trained.size() == 5 && bench.cells().epoch() == 0;
        };
        QTRY_VERIFY_WITH_TIMEOUT(findTrained(), kPatienceMs);
        bench.selection().setChunks({ trained[0] });
        QTRY_COMPARE_WITH_TIMEOUT(curveBegins(), stepOf(trained[0].id) - 0.5, kPatienceMs);
        bench.watcher().setEpoch(1);
        const auto shows = [&inspector](const QString& name) {
            const auto labels = inspector.findChildren<QLabel*>();
            return std::any_of(
                labels.begin(), labels.end(), [&](const QLabel* label) { return label->accessibleName() == name; });
        };
        QTRY_VERIFY_WITH_TIMEOUT(shows(QStringLiteral("State: committed; not in the epoch shown")), kPatienceMs);
        QVERIFY(shows(QStringLiteral("Tokens learnt from: 1,000")));
        QCOMPARE(curveBegins(), stepOf(trained[0].id) - 0.5);
        bench.selection().setChunks({ trained[1] });
        QVERIFY(shows(QStringLiteral("Tokens learnt from: 1,000")));
        QTRY_COMPARE_WITH_TIMEOUT(curveBegins(), stepOf(trained[1].id) - 0.5, kPatienceMs);
        const auto ofTheSecond = std::find_if(bench.cells().cells().begin(), bench.cells().cells().end(),
            [&](const ChunkCell& cell) { return stepOf(cell.id) >= 0; });
        QVERIFY(ofTheSecond != bench.cells().cells().end());
        bench.selection().setChunks({ { ofTheSecond->id, ofTheSecond->block, ofTheSecond->column } });
        QVERIFY(!shows(QStringLiteral("State: committed; not in the epoch shown")));
        QTRY_COMPARE_WITH_TIMEOUT(curveBegins(), stepOf(ofTheSecond->id) - 0.5, kPatienceMs);
    }

    /// Both ways it happened: the next look at the workspace, and the focus that came back to the list.
    void theFirstRunOpenedByItselfWhenTheShownOneWent()
    {
        const RunStory story({});
        const RunStory other({}, QStringLiteral("other"), story.workspace());
        Appearance appearance(false);
        Workbench bench(story.workspace());
        MainWindow window(bench, appearance, false);
        window.show();
        bench.start({});
        QTRY_VERIFY_WITH_TIMEOUT(!bench.selection().selection().run.isEmpty(), kPatienceMs); // the first look does
        bench.dropRun(bench.watcher().folder());
        QSignalSpy looked(&bench.scanner(), &WorkspaceScanner::scanned);
        good(realFileSystem().removeAll(other.paths().folder()));
        bench.scanner().refresh();
        QVERIFY(looked.wait(kPatienceMs));
        auto* list = window.findChild<RunTree*>();
        list->clearFocus();
        list->setFocus();
        QCOMPARE(bench.selection().selection().run, QString());
        QTest::keyClick(list, Qt::Key_Down); // a person does
        QCOMPARE(bench.selection().selection().run, story.folder());
    }

    void tabReachesTheWorkersAndReturnOpensOne()
    {
        const RunStory story({});
        Appearance appearance(false);
        Workbench bench(story.workspace());
        MainWindow window(bench, appearance, false);
        window.resize(1280, 800);
        window.show();
        window.activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(&window)); // else nothing has the focus
        bench.showRun(story.folder());
        QTRY_VERIFY_WITH_TIMEOUT(window.findChildren<WorkerCard*>().size() == 2, kPatienceMs);
        QWidget* page = window.runView().page(RunView::Overview);
        auto* why = buttonOf<QPushButton>(*page, QStringLiteral("Why?"));
        const auto cards = window.findChildren<WorkerCard*>();
        QTRY_VERIFY_WITH_TIMEOUT(why->isVisible() && cards.front()->isVisible() && cards.back()->isVisible(),
            kPatienceMs); // what is not shown takes no focus
        why->setFocus();
        WorkerCard* card = nullptr;
        QStringList way;
        for (int i = 0; i < 6 && card == nullptr; ++i) {
            QWidget* focus = QApplication::focusWidget();
            way.append(focus != nullptr
                    ? QLatin1String(focus->metaObject()->className()) + QLatin1Char(' ') + focus->accessibleName()
                    : QStringLiteral("none"));
            QTest::keyClick(focus != nullptr ? focus : &window, Qt::Key_Tab);
            card = qobject_cast<WorkerCard*>(QApplication::focusWidget());
        }
        QVERIFY2(card != nullptr, qPrintable(way.join(QStringLiteral(" > "))));
        QTest::keyClick(card, Qt::Key_Return);
        QCOMPARE(window.runView().currentPage(), static_cast<int>(RunView::Workers));
        QVERIFY(bench.selection().selection().worker.has_value());
    }
};

QTEST_MAIN(TestFlows)
#include "tst_flows.moc"
