// Every text a third longer and with accents: what would be cut off in another language shows here.

#include "tests/ui/patience.h"
#include "tests/ui/run_story.h"
#include "ui/models/workbench.h"
#include "ui/parts/page_parts.h"
#include "ui/shell/appearance.h"
#include "ui/shell/main_window.h"
#include "ui/shell/run_view.h"

#include <QAbstractButton>
#include <QApplication>
#include <QDockWidget>
#include <QHeaderView>
#include <QHelpEvent>
#include <QLabel>
#include <QPushButton>
#include <QScopeGuard>
#include <QTabBar>
#include <QToolBar>
#include <QToolButton>
#include <QToolTip>
#include <QTranslator>
#include <QtTest>

using namespace furrow;
using namespace furrow::test;

namespace {

class PseudoTranslator : public QTranslator {
public:
    bool isEmpty() const override { return false; }
    QString translate(const char* context, const char* sourceText, const char*, int) const override
    {
        if (QLatin1String(context).startsWith(QLatin1String("Q"))) // texts of Qt itself
            return {};
        static const QString from = QStringLiteral("aeiouAEIOUncs");
        static const QString to = QStringLiteral("àéîöûÀÉÎÖÛñçš");
        const QString source = QString::fromUtf8(sourceText);
        QString text;
        for (qsizetype i = 0; i < source.size(); ++i) {
            const bool isPlace = i > 0 && source[i - 1] == QLatin1Char('%'); // %n must stay
            const qsizetype at = isPlace ? -1 : from.indexOf(source[i]);
            text += at < 0 ? source[i] : to[at];
        }
        const bool pattern = source.contains(QLatin1String("(*.")); // of a file dialog
        return pattern ? source
                       : QLatin1Char('[') + text + QString(source.size() / 3, QLatin1Char('~')) + QLatin1Char(']');
    }
};

/// A visible text that has less room than it needs and no way to show the rest.
QString cutOff(const QWidget& widget)
{
    if (!widget.isVisible() || widget.width() <= 0 || widget.window()->visibleRegion().isEmpty())
        return {};
    if (const auto* label = qobject_cast<const QLabel*>(&widget)) {
        const bool mayShrink = dynamic_cast<const ElidedLabel*>(label) != nullptr
            || label->sizePolicy().horizontalPolicy() == QSizePolicy::Ignored || label->wordWrap()
            || label->text().isEmpty();
        return !mayShrink && label->width() + 1 < label->sizeHint().width() ? label->text() : QString();
    }
    if (const auto* button = qobject_cast<const QAbstractButton*>(&widget)) {
        const bool inBar = qobject_cast<const QToolBar*>(button->parentWidget()) != nullptr; // it has an overflow
        return !inBar && !button->text().isEmpty() && button->width() + 1 < button->sizeHint().width() ? button->text()
                                                                                                       : QString();
    }
    return {};
}

/// What makes a window wider than it was asked to be.
QString widths(const QWidget& window)
{
    QStringList parts { QStringLiteral("%1 px wide:").arg(window.width()) };
    const auto all = window.findChildren<QWidget*>();
    for (const QWidget* widget : all) {
        const bool isPart = qobject_cast<const QDockWidget*>(widget) != nullptr || widget->parentWidget() == &window
            || widget->inherits("QStackedWidget") || qobject_cast<const QToolBar*>(widget) != nullptr;
        if (isPart && widget->isVisible())
            parts.append(QStringLiteral("%1 %2 needs %3")
                    .arg(QLatin1String(widget->metaObject()->className()), widget->objectName())
                    .arg(std::max(widget->minimumWidth(), widget->minimumSizeHint().width())));
    }
    return parts.join(QStringLiteral("\n  "));
}

QStringList allCutOff(const QWidget& window)
{
    QStringList found;
    QCoreApplication::sendPostedEvents(nullptr, QEvent::LayoutRequest); // a text that has just come has no room yet
    const auto all = window.findChildren<QWidget*>();
    for (const QWidget* widget : all) {
        const QString text = cutOff(*widget);
        if (!text.isEmpty())
            found.append(
                QStringLiteral("%1 in %2").arg(text, QLatin1String(widget->parentWidget()->metaObject()->className())));
    }
    return found;
}

/// Headings that have less room than they need, and whose tip does not say the rest.
QStringList headingsCutOff(const QWidget& window)
{
    QStringList found;
    const auto headers = window.findChildren<QHeaderView*>();
    for (QHeaderView* header : headers) {
        if (!header->isVisible() || header->orientation() != Qt::Horizontal || header->model() == nullptr)
            continue;
        for (int section = 0; section < header->count(); ++section) {
            const QString text = header->model()->headerData(section, Qt::Horizontal).toString();
            const int room = header->sectionSize(section); // 0: hidden
            const QPoint middle(header->sectionViewportPosition(section) + room / 2, header->height() / 2);
            if (text.isEmpty() || room == 0 || room >= header->sectionSizeHint(section)
                || !header->viewport()->rect().contains(middle)) // else it is scrolled to, and then looked at
                continue;
            QToolTip::hideText();
            QHelpEvent hover(QEvent::ToolTip, middle, header->viewport()->mapToGlobal(middle));
            QApplication::sendEvent(header->viewport(), &hover);
            if (!QToolTip::text().contains(text))
                found.append(QStringLiteral("heading %1 of %2").arg(text, header->parentWidget()->accessibleName()));
        }
    }
    QToolTip::hideText();
    return found;
}

/// Tabs whose words have less room than they need.
QStringList tabsCutOff(const QWidget& window)
{
    QStringList found;
    const auto bars = window.findChildren<QTabBar*>();
    for (const QTabBar* bar : bars)
        for (int tab = 0; tab < bar->count() && bar->isVisible(); ++tab) {
            const QString text = bar->tabText(tab);
            if (bar->isTabVisible(tab) && bar->tabRect(tab).width() < bar->fontMetrics().horizontalAdvance(text)
                && !bar->tabToolTip(tab).contains(text))
                found.append(QStringLiteral("tab %1").arg(text));
        }
    return found;
}

} // namespace

class TestPseudoLocale : public QObject {
    Q_OBJECT
    PseudoTranslator translator_;

private Q_SLOTS:
    void initTestCase()
    {
        registerBridgeTypes();
        QCoreApplication::installTranslator(&translator_);
    }

    void aTextThatIsCutOffIsFound()
    {
        QWidget window;
        window.resize(200, 60);
        QLabel label(QStringLiteral("a text of some length"), &window);
        label.setGeometry(0, 0, 20, 20);
        QPushButton button(QStringLiteral("a button of some length"), &window);
        button.setGeometry(0, 30, 20, 20);
        window.show();
        QVERIFY(QTest::qWaitForWindowExposed(&window));
        QCOMPARE(allCutOff(window).size(), 2);
    }

    void nothingIsCutOffOnAnyPage()
    {
        const RunStory story({});
        Appearance appearance(false);
        QCoreApplication::installTranslator(&translator_); // again, above the language just chosen
        Workbench bench(story.workspace());
        MainWindow window(bench, appearance, false);
        window.resize(1280, 800);
        window.show();
        bench.start({});
        bench.showRun(story.folder());
        QTRY_VERIFY_WITH_TIMEOUT(bench.watcher().status() != nullptr && !bench.cells().cells().empty(), kPatienceMs);
        QStringList cut;
        for (int page = 0; page < RunView::kPageCount; ++page) {
            window.runView().showPage(page);
            QTest::qWait(50);
            cut += allCutOff(window);
            QVERIFY2(window.width() <= 1280, qPrintable(QStringLiteral("page %1, ").arg(page) + widths(window)));
        }
        const auto docks = window.findChildren<QDockWidget*>();
        for (QDockWidget* dock : docks) {
            dock->show();
            dock->raise();
            QTest::qWait(20);
            cut += allCutOff(*dock);
        }
        for (const auto perspective : { MainWindow::Perspective::Launch, MainWindow::Perspective::Compare }) {
            window.showPerspective(perspective);
            QTest::qWait(50);
            cut += allCutOff(window);
            QVERIFY2(window.width() <= 1280, qPrintable(widths(window)));
        }
        cut.removeDuplicates();
        QVERIFY2(cut.isEmpty(), qPrintable(cut.join(QLatin1Char('\n'))));
    }

    /// Only labels and buttons were looked at.
    void headingsAndTabsWereCutOff_data()
    {
        QTest::addColumn<QString>("language");
        for (const auto& one : kClosedNames<Language>)
            QTest::newRow(one.name.data()) << QString::fromLatin1(one.name.data());
        QTest::newRow("pseudo") << QStringLiteral("pseudo");
    }
    void headingsAndTabsWereCutOff()
    {
        QFETCH(QString, language);
        const RunStory story({});
        Appearance appearance(false);
        const auto back = qScopeGuard([&appearance] { appearance.setLanguage(Language::English); });
        QCoreApplication::removeTranslator(&translator_);
        if (language == QLatin1String("pseudo"))
            QCoreApplication::installTranslator(&translator_);
        else
            appearance.setLanguage(closedValue<Language>(language.toStdString()).value());
        Workbench bench(story.workspace());
        MainWindow window(bench, appearance, false); // as large as it opens
        window.show();
        bench.start({});
        bench.showRun(story.folder());
        QTRY_VERIFY_WITH_TIMEOUT(bench.watcher().status() != nullptr && bench.watcher().tables()
                && !bench.cells().cells().empty() && !bench.scanner().lines()->empty(),
            kPatienceMs);
        QStringList cut;
        const auto look = [&window, &cut] {
            QTest::qWait(50);
            cut += headingsCutOff(window) + tabsCutOff(window);
        };
        for (int page = 0; page < RunView::kPageCount; ++page) {
            window.runView().showPage(page);
            look();
        }
        const auto docks = window.findChildren<QDockWidget*>();
        for (QDockWidget* dock : docks) {
            dock->show();
            dock->raise();
            look();
        }
        for (const auto perspective : { MainWindow::Perspective::Launch, MainWindow::Perspective::Compare }) {
            window.showPerspective(perspective);
            look();
        }
        cut.removeDuplicates();
        QVERIFY2(cut.isEmpty(), qPrintable(cut.join(QLatin1Char('\n'))));
    }

    void everyVisibleTextGoesThroughTheTranslator()
    {
        const RunStory story({});
        Appearance appearance(false);
        QCoreApplication::installTranslator(&translator_);
        Workbench bench(story.workspace());
        MainWindow window(bench, appearance, false);
        window.resize(1280, 800);
        window.show();
        const auto buttons = window.findChildren<QAbstractButton*>();
        int words = 0;
        for (const QAbstractButton* button : buttons) {
            const QString text = button->text();
            const bool isWord
                = text.size() > 3 && std::any_of(text.begin(), text.end(), [](QChar c) { return c.isLetter(); });
            const bool isName = text == QLatin1String("English"); // a language is called by its own name
            if (!isWord || isName)
                continue;
            ++words;
            QVERIFY2(text.contains(QLatin1Char('~')) || text.contains(QLatin1Char('[')), qPrintable(text));
        }
        QVERIFY2(words > 5, qPrintable(QString::number(words)));
    }
};

QTEST_MAIN(TestPseudoLocale)
#include "tst_pseudo_locale.moc"
