#include "tests/ui/patience.h"
#include "tests/ui/run_story.h"
#include "ui/models/workbench.h"
#include "ui/models/words.h"
#include "ui/pages/chat_transcript.h"
#include "ui/parts/ask_dialog.h"
#include "ui/parts/overflow.h"
#include "ui/parts/page_parts.h"
#include "ui/shell/audit_dock.h"
#include "ui/shell/replay_bar.h"
#include "ui/theme/theme.h"
#include "ui/widgets/elided_combo.h"
#include "ui/widgets/lane_view.h"
#include "ui/widgets/meters.h"
#include "ui/widgets/plain_text.h"
#include "ui/widgets/worker_mark.h"

#include <QAction>
#include <QBuffer>
#include <QDialog>
#include <QHelpEvent>
#include <QLabel>
#include <QMessageBox>
#include <QPainter>
#include <QPushButton>
#include <QScopeGuard>
#include <QScrollArea>
#include <QSignalSpy>
#include <QSlider>
#include <QSvgGenerator>
#include <QSvgRenderer>
#include <QTableView>
#include <QTextBlock>
#include <QTimer>
#include <QToolTip>
#include <QVBoxLayout>

using namespace furrow;
using namespace furrow::test;

/// Small parts of the window, each with what once was wrong with it.
class TestParts : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase()
    {
        registerBridgeTypes();
        theme().apply(ThemeKind::Dark);
    }

    void aClaimThatWasGivenBackDoesNotWaitForEver()
    {
        LaneView view;
        view.resize(900, 70);
        auto lanes = std::make_shared<std::vector<Lane>>();
        lanes->push_back(
            { 0, QStringLiteral("Worker 0"), {}, { { 1, QStringLiteral("B1 C1"), 1000, 0, 1010, false } }, {}, {} });
        view.setLanes(lanes);
        view.setRange(1000, 1100, false);
        const QImage picture = view.grab().toImage();
        const QColor ground = theme().color(Token::Inset);
        const int middle = 20 + 22; // of the first lane
        for (int y = middle - 18; y < middle + 18; ++y)
            QCOMPARE(picture.pixelColor(860, y), ground);
        bool isDrawn = false; // what is there of it, beside its name
        for (int x = 0; x < picture.width(); ++x)
            isDrawn = isDrawn || picture.pixelColor(x, middle) != ground;
        QVERIFY(isDrawn);
    }

    void theWordsBelowTheMetersDidNotSayWhichColourIsWhich()
    {
        MeterLegend legend;
        legend.setEntries({ { QStringLiteral("committed 3"), MeterFill::Committed },
            { QStringLiteral("leased 1"), MeterFill::Leased } });
        QCOMPARE(legend.accessibleName(), QStringLiteral("committed 3, leased 1"));
        legend.resize(legend.sizeHint());
        const QImage whole = legend.grab().toImage();
        const int middle = legend.height() / 2;
        QCOMPARE(whole.pixelColor(4, middle), theme().color(Token::Text1));
        int leased = 0;
        for (int x = 0; x < whole.width(); ++x)
            leased += whole.pixelColor(x, middle) == theme().color(Token::Accent) ? 1 : 0;
        QCOMPARE(leased, 8);
        legend.resize(50, legend.height()); // cut off, not squeezed
        QCOMPARE(legend.grab().toImage().pixelColor(4, middle), theme().color(Token::Text1));
    }

    /// An SVG knows no clip: hatching stood on the words beside it.
    void aHatchStaysInItsAreaWithoutAClip()
    {
        QBuffer buffer;
        QSvgGenerator svg;
        svg.setOutputDevice(&buffer);
        svg.setSize({ 100, 40 });
        svg.setViewBox(QRect(0, 0, 100, 40));
        QPainter painter(&svg);
        drawHatch(painter, QRectF(40, 10, 20, 20), Qt::black, 5, 1);
        painter.end();
        QImage picture(100, 40, QImage::Format_RGB32);
        picture.fill(Qt::white);
        QPainter onImage(&picture);
        QSvgRenderer(buffer.data()).render(&onImage);
        onImage.end();
        int inside = 0;
        for (int y = 0; y < picture.height(); ++y) {
            for (int x = 0; x < picture.width(); ++x) {
                if (picture.pixelColor(x, y) == QColor(Qt::white))
                    continue;
                QVERIFY2(QRect(38, 8, 24, 24).contains(x, y), qPrintable(QStringLiteral("%1, %2").arg(x).arg(y)));
                ++inside;
            }
        }
        QVERIFY(inside > 40);
    }

    void aClickOnTheReplayBarGoesThere()
    {
        const RunStory story({});
        Workbench bench(story.workspace());
        QAction live;
        QAction play;
        live.setCheckable(true);
        play.setCheckable(true);
        ReplayBar bar(bench, &live, &play);
        bar.resize(600, 40);
        bar.show();
        bench.showRun(story.folder());
        QTRY_VERIFY_WITH_TIMEOUT(bench.replay().end() > bench.replay().begin() && bar.isEnabled(), kPatienceMs);
        auto* slider = bar.findChild<QSlider*>();
        QTest::mouseClick(slider, Qt::LeftButton, {}, { slider->width() / 4, slider->height() / 2 });
        QVERIFY(bench.replay().moment().has_value());
        QVERIFY2(std::abs(slider->value() - slider->maximum() / 4) < slider->maximum() / 20,
            qPrintable(QString::number(slider->value())));
    }

    void aQuestionSaysWhatItsButtonDoes()
    {
        QTimer::singleShot(0, this, [] {
            auto* dialog = qobject_cast<QDialog*>(QApplication::activeModalWidget());
            const auto buttons = dialog->findChildren<QPushButton*>();
            QCOMPARE(buttons.size(), 2);
            for (QPushButton* button : buttons)
                QVERIFY(button->accessibleName() != QLatin1String("OK") && button->icon().isNull());
            QVERIFY(dialog->width() >= 440);
            QTest::keyClick(dialog, Qt::Key_Return);
        });
        QCOMPARE(askChoice(nullptr,
                     { QStringLiteral("Restore from trash"), QStringLiteral("Run to restore"),
                         QStringLiteral("Restore the run") },
                     { QStringLiteral("a"), QStringLiteral("b") }),
            0);
        QTimer::singleShot(0, this, [] { QTest::keyClick(QApplication::activeModalWidget(), Qt::Key_Escape); });
        QCOMPARE(
            askText(nullptr, { QStringLiteral("Save preset"), QStringLiteral("Name"), QStringLiteral("Save preset") }),
            QString());
    }

    /// The room went with the layout, which a box makes anew for each text and button.
    void aSentenceHasRoomInAMessageWithButtons()
    {
        QWidget window;
        QMessageBox* box = makeBox(&window, QStringLiteral("Move to trash"), QStringLiteral("Move it?"),
            QStringLiteral("The folder with its checkpoints moves away. Nothing is deleted."));
        box->addButton(QStringLiteral("Move to trash"), QMessageBox::AcceptRole);
        box->show();
        QVERIFY(box->width() >= 440);
    }

    void aRunFromElsewhereLeavesTheLibraryWhenItIsDropped()
    {
        const RunStory story({});
        QTemporaryDir workspace;
        Workbench bench(workspace.path());
        bench.start({ story.folder() });
        QTRY_COMPARE_WITH_TIMEOUT(bench.scanner().lines()->size(), std::size_t(1), kPatienceMs);
        bench.dropRun(story.folder());
        QTRY_COMPARE_WITH_TIMEOUT(bench.scanner().lines()->size(), std::size_t(0), kPatienceMs);
    }

    /// Its parts were painted over each other until Qt came to make the page larger.
    void aPageThatNeededMoreRoomOverlappedUntilALaterEvent()
    {
        auto* page = new QWidget;
        auto* column = new QVBoxLayout(page);
        QScrollArea* room = makeRoomFor(page);
        room->resize(300, 100);
        room->show();
        for (int i = 0; i < 10; ++i) {
            auto* part = new QWidget(page);
            part->setMinimumHeight(50);
            column->addWidget(part);
            part->show();
        }
        QCoreApplication::sendPostedEvents(page, QEvent::LayoutRequest); // of the page and of nobody else
        QVERIFY2(page->height() >= 500, qPrintable(QString::number(page->height())));
        delete room;
    }

    /// What was said in the dark stood near-white on white in the light.
    void aTalkKeptTheColoursOfTheThemeItWasWrittenIn()
    {
        ChatTranscript talk;
        talk.addTurn(QStringLiteral("You"), QStringLiteral("the farmer"));
        talk.addToken({ QStringLiteral(" ploughs"), 0.5, {} });
        talk.addNote(QStringLiteral("Stopped."));
        theme().apply(ThemeKind::Light);
        const auto back = qScopeGuard([] { theme().apply(ThemeKind::Dark); });
        const QString text = talk.toPlainText();
        const auto formatOf = [&](const char* words) {
            QTextCursor at(talk.document());
            at.setPosition(static_cast<int>(text.indexOf(QLatin1String(words))) + 1);
            return at.charFormat();
        };
        for (const char* words : { "the farmer", " ploughs" }) // they have the colour of the palette
            QVERIFY(!formatOf(words).hasProperty(QTextFormat::ForegroundBrush));
        for (const char* words : { "You", "Stopped." })
            QCOMPARE(formatOf(words).foreground().color(), theme().color(Token::Text3));
    }

    /// "Checking every chunk…" stood for ever where no run was shown, and "0 · 0" was of the run before.
    void aCheckWithoutARunNeverEnded()
    {
        const RunStory story({});
        Workbench bench(story.workspace());
        AuditDock dock(bench);
        const QSignalSpy counted(&dock, &AuditDock::counted);
        const QSignalSpy forgotten(&dock, &AuditDock::forgotten);
        static_cast<QWidget&>(dock).show();
        const auto checks = [&dock] {
            const auto buttons = dock.findChildren<QPushButton*>();
            return std::count_if(
                buttons.begin(), buttons.end(), [](const QPushButton* button) { return button->isEnabled(); });
        };
        const auto isChecking = [&dock] {
            const auto labels = dock.findChildren<QLabel*>();
            return std::any_of(labels.begin(), labels.end(),
                [](const QLabel* label) { return label->text().startsWith(QLatin1String("Checking")); });
        };
        QCOMPARE(checks(), 0);
        dock.begin(AuditDepth::Files);
        QVERIFY(!isChecking());
        bench.showRun(story.folder());
        QTRY_VERIFY_WITH_TIMEOUT(!counted.isEmpty(), kPatienceMs);
        QVERIFY(checks() > 0);
        const auto before = forgotten.size();
        bench.showRun({});
        QCOMPARE(forgotten.size(), before + 1);
        QCOMPARE(checks(), 0);
        QVERIFY(!isChecking());
    }

    /// The table said two trainings, and what stood beside it still told of one.
    void whatWasToldOfAFindingStayedAsItWas()
    {
        const RunStory story({});
        Workbench bench(story.workspace());
        bench.showRun(story.folder());
        QTRY_VERIFY_WITH_TIMEOUT(bench.watcher().status() != nullptr, kPatienceMs);
        AuditDock dock(bench);
        auto* auditor = dock.findChild<LedgerAuditor*>();
        QVERIFY(auditor != nullptr);
        AuditReport report;
        report.findings.push_back({ FindingKind::Lost, ChunkId { 1 }, Message("one training was lost"), {} });
        report.findings.push_back({ FindingKind::Lost, ChunkId { 2 }, Message("chunk 2 was lost"), {} });
        const auto tell = [&] { Q_EMIT auditor->audited(std::make_shared<const AuditReport>(report)); };
        const auto says = [&dock](const QString& words) {
            const auto labels = dock.findChildren<QLabel*>();
            return std::any_of(
                labels.begin(), labels.end(), [&](const QLabel* label) { return label->text() == words; });
        };
        tell();
        dock.findChild<QTableView*>()->selectRow(0);
        QVERIFY(says(QStringLiteral("one training was lost")));
        report.findings.front().text = Message("two trainings were lost");
        tell();
        QVERIFY(says(QStringLiteral("two trainings were lost")));
        report.findings.push_back({ FindingKind::Lost, ChunkId { 3 }, Message("chunk 3 was lost"), {} });
        report.findings.front().text = Message("three trainings were lost");
        tell(); // with another number of rows the table begins anew
        QVERIFY(says(QStringLiteral("three trainings were lost")));
    }

    /// "Epoch …" of two digits, in a box that was as wide as it wished to be.
    void theLongestEntryOfAChoiceWasCut()
    {
        for (int epoch = 9; epoch < 24; ++epoch) {
            ElidedCombo combo;
            combo.setStyleSheet(
                QStringLiteral("QComboBox { border: 1px solid gray; padding: 4px 8px; font-size: 13px; }"
                               "QComboBox::drop-down { border: 0; width: 20px; }"));
            combo.addItem(epochName(epoch));
            combo.ensurePolished();
            combo.resize(combo.sizeHint());
            combo.show();
            QCOMPARE(combo.size(), combo.sizeHint());
            QHelpEvent hover(QEvent::ToolTip, QPoint(5, 5), combo.mapToGlobal(QPoint(5, 5)));
            QApplication::sendEvent(&combo, &hover);
            QVERIFY2(QToolTip::text() != combo.currentText(), qPrintable(combo.currentText())); // all of what is cut
        }
    }

    void nothingTookNoMilliseconds()
    {
        QCOMPARE(durationText(0), QStringLiteral("0 s"));
        QCOMPARE(durationText(0.25), QStringLiteral("250 ms"));
    }

    /// Looking at another dock and back replaced it by the quick check that comes by itself.
    void aFullAuditReportStaysUntilTheRunMoves()
    {
        const RunStory story({});
        Workbench bench(story.workspace());
        bench.showRun(story.folder());
        AuditDock dock(bench);
        std::vector<bool> inspected;
        connect(&dock, &AuditDock::audited, this,
            [&](const AuditPtr& report) { inspected.push_back(report->inspectedWeights()); });
        QWidget& window = dock; // whose show() the dock hides
        window.show();
        QTRY_COMPARE_WITH_TIMEOUT(inspected.size(), std::size_t(1), kPatienceMs);
        const auto buttons = dock.findChildren<QPushButton*>();
        const auto files = std::find_if(buttons.begin(), buttons.end(),
            [](const QPushButton* button) { return button->text() == QLatin1String("Check weights and files"); });
        QVERIFY(files != buttons.end());
        (*files)->click();
        QTRY_COMPARE_WITH_TIMEOUT(inspected.size(), std::size_t(2), kPatienceMs);
        window.hide();
        window.show();
        QTest::qWait(500);
        QCOMPARE(inspected, (std::vector<bool> { false, true }));
    }
};

QTEST_MAIN(TestParts)
#include "tst_parts.moc"
