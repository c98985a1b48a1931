#include "ui/theme/theme.h"

#include <QApplication>
#include <QDirIterator>
#include <QFile>
#include <QRegularExpression>
#include <QSignalSpy>
#include <QTest>
#include <cmath>

using namespace furrow;

namespace {

double luminance(const QColor& c)
{
    const auto part = [](double v) { return v <= 0.03928 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4); };
    return 0.2126 * part(c.redF()) + 0.7152 * part(c.greenF()) + 0.0722 * part(c.blueF());
}

double contrast(const QColor& a, const QColor& b)
{
    const double high = std::max(luminance(a), luminance(b));
    const double low = std::min(luminance(a), luminance(b));
    return (high + 0.05) / (low + 0.05);
}

} // namespace

class TestTheme : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void textIsReadableOnEveryGround_data()
    {
        QTest::addColumn<bool>("dark");
        QTest::newRow("dark") << true;
        QTest::newRow("light") << false;
    }
    void textIsReadableOnEveryGround()
    {
        QFETCH(const bool, dark);
        for (const Token ground : { Token::Window, Token::Panel, Token::Raised, Token::Inset }) {
            for (const Token text : { Token::Text1, Token::Text2, Token::Text3, Token::Accent, Token::Ok, Token::Warn,
                     Token::Error, Token::Interrupted, Token::Info })
                QVERIFY2(contrast(Theme::color(text, dark), Theme::color(ground, dark)) >= 4.5,
                    qPrintable(QString::number(static_cast<int>(text))));
            QVERIFY(contrast(Theme::color(Token::Edge, dark), Theme::color(ground, dark)) >= 3.0);
        }
        for (const Token text : { Token::Text1, Token::Text2 })
            QVERIFY(contrast(Theme::color(text, dark), Theme::color(Token::Selection, dark)) >= 4.5);
        QVERIFY(contrast(Theme::color(Token::OnAccentFill, dark), Theme::color(Token::AccentFill, dark)) >= 4.5);
        const std::pair<Token, Token> kBanners[] = { { Token::Ok, Token::OkGround }, { Token::Warn, Token::WarnGround },
            { Token::Error, Token::ErrorGround }, { Token::Interrupted, Token::InterruptedGround },
            { Token::Info, Token::InfoGround } };
        for (const auto& [color, ground] : kBanners) {
            QVERIFY(contrast(Theme::color(color, dark), Theme::color(ground, dark)) >= 4.5);
            QVERIFY(contrast(Theme::color(Token::Text1, dark), Theme::color(ground, dark)) >= 7);
        }
    }

    void workersAreSeenOnPlots()
    {
        for (const bool dark : { true, false }) {
            for (int worker = 0; worker < 8; ++worker) {
                for (const Token ground : { Token::Inset, Token::Panel, Token::Window })
                    QVERIFY2(contrast(Theme::workerColor(worker, dark), Theme::color(ground, dark)) >= 2.95,
                        qPrintable(QString::number(worker)));
            }
        }
    }

    void lossMapsGrowAwayFromTheGround()
    {
        for (const bool dark : { true, false }) {
            const ValueMap map = Theme::makeLossMap(dark);
            for (std::size_t i = 8; i < map.size(); i += 8) {
                const double now = luminance(QColor::fromRgb(map[i]));
                const double before = luminance(QColor::fromRgb(map[i - 8]));
                QVERIFY(dark ? now > before : now < before);
            }
        }
    }

    void aWorkerBeyondEightHasAnotherDash()
    {
        for (int worker = 0; worker < 8; ++worker) {
            QCOMPARE(Theme::workerColor(worker, true), Theme::workerColor(worker + 8, true));
            QVERIFY(Theme::workerDash(worker) != Theme::workerDash(worker + 8));
        }
    }

    void switchingTellsAndLeavesNoTokenInTheSheet()
    {
        QSignalSpy spy(&theme(), &Theme::changed);
        for (const ThemeKind kind : { ThemeKind::Light, ThemeKind::Dark }) {
            theme().apply(kind);
            QVERIFY(theme().styleSheet().size() > 1000);
            QVERIFY2(!QRegularExpression(QStringLiteral("@\\w+@")).match(theme().styleSheet()).hasMatch(),
                "a name in style.qss is no token");
            QCOMPARE(QApplication::palette().color(QPalette::Window), theme().color(Token::Panel));
        }
        QCOMPARE(spy.count(), 2);
    }

    void theSheetIsUnderSixtyLines()
    {
        QFile sheet(QStringLiteral(":/furrow/style.qss"));
        QVERIFY(sheet.open(QIODevice::ReadOnly));
        QVERIFY(sheet.readAll().count('\n') < 60);
    }

    void iconsTakeTheColourOfTheirRole()
    {
        theme().apply(ThemeKind::Dark);
        const QImage image = theme().icon(QStringLiteral("plus"), Token::Error).pixmap(QSize(16, 16), 2.0).toImage();
        QVERIFY(image.width() == 32);
        bool found = false;
        for (int y = 0; y < image.height(); ++y) {
            for (int x = 0; x < image.width(); ++x)
                found = found || image.pixelColor(x, y) == theme().color(Token::Error);
        }
        QVERIFY(found);
    }

    /// Colours are written in ui/theme and nowhere else.
    void noColourLiteralOutsideTheTheme()
    {
        static const QRegularExpression kHex(
            QStringLiteral("#[0-9A-Fa-f]{6}\\b|#[0-9A-Fa-f]{3}\\b|0x[fF]{2}[0-9A-Fa-f]{6}\\b|\\brgba?\\(\\s*\\d"));
        static const QRegularExpression kNamed(
            QStringLiteral("Qt::(red|green|blue|white|gray|darkGray|lightGray|yellow|cyan|magenta)\\b"));
        QStringList found;
        int files = 0;
        for (const char* folder : { "/ui", "/app" }) {
            QDirIterator it(QStringLiteral(FURROW_SOURCE_DIR) + QLatin1String(folder),
                { QStringLiteral("*.h"), QStringLiteral("*.cpp") }, QDir::Files, QDirIterator::Subdirectories);
            while (it.hasNext()) {
                const QString path = it.next();
                if (path.contains(QStringLiteral("/ui/theme/")))
                    continue;
                ++files;
                QFile file(path);
                QVERIFY(file.open(QIODevice::ReadOnly));
                const QString text = QString::fromUtf8(file.readAll());
                for (const auto& pattern : { kHex, kNamed }) {
                    const auto match = pattern.match(text);
                    if (match.hasMatch())
                        found << path + QStringLiteral(": ") + match.captured();
                }
            }
        }
        QVERIFY(files > 20);
        QVERIFY2(found.isEmpty(), qPrintable(found.join(QLatin1Char('\n'))));
    }
};

QTEST_MAIN(TestTheme)
#include "tst_theme.moc"
