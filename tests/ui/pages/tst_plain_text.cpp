// Text from outside is shown letter by letter: a run with a hostile name, log and end is opened in the console, and
// every label, tip and box looked at.
#include "core/run/folder/run_file.h"
#include "tests/ui/patience.h"
#include "tests/ui/run_story.h"
#include "ui/models/workbench.h"
#include "ui/export/audit_report.h"
#include "ui/export/run_report.h"
#include "ui/shell/appearance.h"
#include "ui/shell/main_window.h"
#include "ui/shell/run_view.h"
#include "ui/widgets/plain_text.h"

#include <QAbstractItemView>
#include <QAction>
#include <QApplication>
#include <QHelpEvent>
#include <QImage>
#include <QLabel>
#include <QMessageBox>
#include <QTextBrowser>
#include <QToolTip>

using namespace furrow;
using namespace furrow::test;

namespace {

/// A run whose every text would be bold and load a picture, if it were HTML.
class HostileStory {
public:
    HostileStory()
        : picture_(folder_.filePath(QStringLiteral("trap.png")))
        , text_(QStringLiteral("<b>x</b><img src=\"file://%1\">").arg(picture_))
        , story_({})
    {
        QImage(8, 8, QImage::Format_RGB32).save(picture_);
        RunFile file = good(readRunFile(story_.paths()));
        file.config.name = text_.toStdString();
        file.config.data = { text_.toStdString() };
        good(writeRunFile(story_.paths(), file));
        std::ofstream(story_.paths().logFile(1, "worker-0"), std::ios::app)
            << "2026-03-13 18:42:12.000 E worker-0  " << text_.toStdString() << "\n";
        good(story_.supervisor().endAttempt(story_.attempt(), StopReason::Error, text_.toStdString()));
    }
    const RunStory& story() const { return story_; }
    const QString& text() const { return text_; }

private:
    QTemporaryDir folder_;
    QString picture_;
    QString text_;
    RunStory story_;
};

/// Rich text of our own making has no image, and nothing of the run in angle brackets.
QString richLabelOf(const QWidgetList& widgets)
{
    for (QWidget* widget : widgets) {
        const auto* label = qobject_cast<QLabel*>(widget);
        if (label == nullptr || label->textFormat() == Qt::PlainText
            || (isMadeRich(*label) && !label->text().contains(QLatin1String("<img"))))
            continue;
        return QStringLiteral("%1 in %2: %3")
            .arg(QString::fromLatin1(label->metaObject()->className()),
                QString::fromLatin1(
                    label->parentWidget() ? label->parentWidget()->metaObject()->className() : "nothing"),
                label->text());
    }
    return {};
}

/// What is shown over the pointer for a tip at `place`.
QString shownTip(QWidget* widget, const QPoint& place)
{
    QToolTip::hideText();
    QHelpEvent event(QEvent::ToolTip, place, widget->mapToGlobal(place));
    QApplication::sendEvent(widget, &event);
    return QToolTip::text();
}

/// Qt would show it as it is written.
bool isHarmless(const QString& tip)
{
    return !Qt::mightBeRichText(tip) || (!tip.contains(QLatin1String("<img")) && !tip.contains(QLatin1String("<b>")));
}

} // namespace

class TestPlainText : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void textFromOutsideIsNeverRich()
    {
        const HostileStory hostile;
        Appearance appearance(false);
        Workbench bench(hostile.story().workspace());
        MainWindow window(bench, appearance, false);
        window.resize(1280, 800);
        window.show();
        bench.start({});
        bench.showRun(hostile.story().folder());
        QTRY_VERIFY_WITH_TIMEOUT(
            bench.watcher().status() && bench.watcher().status()->file.config.name == hostile.text().toStdString(),
            kPatienceMs);
        QTRY_VERIFY_WITH_TIMEOUT(!bench.scanner().lines()->empty(), kPatienceMs);
        bool shown = false;
        for (int page = 0; page < RunView::kPageCount; ++page) {
            window.runView().showPage(page);
            QCoreApplication::processEvents();
            const QString rich = richLabelOf(QApplication::allWidgets());
            QVERIFY2(rich.isEmpty(), qPrintable(rich));
        }
        int tips = 0;
        for (QWidget* widget : QApplication::allWidgets()) {
            if (const auto* label = qobject_cast<QLabel*>(widget))
                shown = shown || label->text().contains(hostile.text());
            if (Qt::mightBeRichText(widget->toolTip())) {
                ++tips;
                const QString tip = shownTip(widget, widget->rect().center());
                QVERIFY2(isHarmless(tip), qPrintable(tip));
            }
        }
        QVERIFY(shown);
        QVERIFY(tips > 0); // the name is elided somewhere
        QToolTip::hideText();
    }

    void tipsOfCellsAreNeverRich()
    {
        const HostileStory hostile;
        Appearance appearance(false);
        Workbench bench(hostile.story().workspace());
        MainWindow window(bench, appearance, false);
        window.resize(1280, 800);
        window.show();
        bench.start({});
        bench.showRun(hostile.story().folder());
        QTRY_VERIFY_WITH_TIMEOUT(!bench.scanner().lines()->empty(), kPatienceMs);
        window.runView().showPage(
            RunView::Config); // its cells have their whole text as a tip: name and data of the run
        int hostileTips = 0;
        const auto lookAtCells = [&] {
            hostileTips = 0;
            for (auto* view : window.findChildren<QAbstractItemView*>()) {
                if (view->model() == nullptr || !view->isVisible())
                    continue;
                QModelIndexList hostileCells;
                for (int column = 0; column < view->model()->columnCount(); ++column)
                    hostileCells += view->model()->match(view->model()->index(0, column), Qt::ToolTipRole,
                        hostile.text(), -1, Qt::MatchContains | Qt::MatchRecursive);
                for (const QModelIndex& index : hostileCells) {
                    view->scrollTo(index);
                    const QRect cell = view->visualRect(index) & view->viewport()->rect();
                    if (cell.isEmpty())
                        continue;
                    ++hostileTips;
                    const QString tip = shownTip(view->viewport(), cell.center());
                    if (!isHarmless(tip))
                        return tip;
                }
            }
            return QString();
        };
        QTRY_VERIFY_WITH_TIMEOUT((lookAtCells(), hostileTips > 0), kPatienceMs);
        const QString rich = lookAtCells();
        QVERIFY2(rich.isEmpty(), qPrintable(rich));
        QToolTip::hideText();
    }

    void boxesAreNeverRich()
    {
        const QString hostile = QStringLiteral("<b>x</b><img src=\"file:///etc/hostname\">");
        QWidget window;
        QMessageBox* box = makeBox(&window, hostile, hostile, hostile);
        box->addButton(QStringLiteral("Close"), QMessageBox::RejectRole);
        box->open();
        const auto labels = box->findChildren<QLabel*>();
        QVERIFY(labels.size() >= 2);
        int plain = 0;
        for (const QLabel* label : labels) {
            QCOMPARE(label->textFormat(), Qt::PlainText);
            plain += label->text() == hostile ? 1 : 0;
        }
        QCOMPARE(plain, 2);
        box->close();
    }

    void aTipAtOnceIsNeverRich()
    {
        QWidget window;
        window.show();
        showTip(window.mapToGlobal(QPoint(1, 1)), QStringLiteral("<b>x</b>"), &window);
        QVERIFY2(isHarmless(QToolTip::text()), qPrintable(QToolTip::text()));
        QToolTip::hideText();
        showTip(window.mapToGlobal(QPoint(1, 1)), QStringLiteral("loss < 3"), &window);
        QCOMPARE(QToolTip::text(), QStringLiteral("loss < 3"));
        QToolTip::hideText();
    }

    void notificationsHoldNoMarkup()
    {
        const QString said = notificationText(QStringLiteral("<b>x</b> & <img src='file:///x'>"));
        QVERIFY(!said.contains(QLatin1Char('<')) && !said.contains(QLatin1Char('>')));
        QVERIFY(said.contains(QLatin1Char('x')));
    }

    void reportsEscapeWhatComesFromOutside()
    {
        const HostileStory hostile;
        const auto status = good(readStatus(hostile.story().paths()));
        AuditReport report;
        report.runId = hostile.text().toStdString();
        report.integrity = hostile.text().toStdString();
        report.findings.push_back({});
        report.findings.back().text = hostile.text().toStdString();
        report.findings.back().claims.emplace_back();
        std::vector<AttemptRow> attempts(1);
        attempts.front().detail = hostile.text().toStdString();
        for (const QString& html : { runReportHtml(status, attempts, report, {}), auditHtml(report, hostile.text()),
                 QString::fromStdString(auditHtml(report)) }) {
            QVERIFY2(!html.contains(QLatin1String("<b>x</b>")) && !html.contains(QLatin1String("file://\""))
                    && !html.contains(QLatin1String("<img src=\"file")),
                qPrintable(html));
            QVERIFY(html.contains(QLatin1String("&lt;b&gt;x")));
        }
    }
};

QTEST_MAIN(TestPlainText)
#include "tst_plain_text.moc"
