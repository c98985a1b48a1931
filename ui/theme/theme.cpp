// The one place of colours. Values, contrasts and distances: see "The look" in the documents of the project.
#include "ui/theme/theme.h"

#include "core/base/file_system.h"
#include "core/base/path.h"
#include "core/base/resources.h"
#include "ui/theme/themed_icon.h"

#include <QApplication>
#include <QFile>
#include <QFontDatabase>
#include <QStyleFactory>
#include <algorithm>

/// Resources of a static library are not registered by themselves. The macro must stand outside of a namespace.
static void registerResources() { Q_INIT_RESOURCE(icons); }

namespace furrow {
namespace {

struct Pair {
    const char* name; ///< as the style sheet calls it
    QRgb dark;
    QRgb light;
};

constexpr Pair kTokens[kTokenCount] = {
    { "window", 0xFF15171B, 0xFFF1F2F4 },
    { "panel", 0xFF1B1E23, 0xFFF8F9FA },
    { "raised", 0xFF24282F, 0xFFFFFFFF },
    { "inset", 0xFF111317, 0xFFFFFFFF },
    { "line", 0xFF30353D, 0xFFD8DCE2 },
    { "line2", 0xFF4A515C, 0xFFA9B0BB },
    { "edge", 0xFF69717D, 0xFF7F8793 },
    { "text1", 0xFFE6E9ED, 0xFF1A1D22 },
    { "text2", 0xFFB0B7C1, 0xFF464D58 },
    { "text3", 0xFF8E96A2, 0xFF636B77 },
    { "accent", 0xFF8CA3F7, 0xFF3F55C4 },
    { "accentFill", 0xFF4660C8, 0xFF3F55C4 },
    { "onAccentFill", 0xFFFFFFFF, 0xFFFFFFFF },
    { "selection", 0xFF2A3560, 0xFFDDE3FB },
    { "ok", 0xFF63C07F, 0xFF1F7A43 },
    { "warn", 0xFFDCC34E, 0xFF7A6400 },
    { "error", 0xFFF4817A, 0xFFBC2F2C },
    { "interrupted", 0xFFF0A24A, 0xFFA34E00 },
    { "info", 0xFF6BB6E6, 0xFF1A6B9C },
    { "okGround", 0xFF1A2C21, 0xFFE6F4EA },
    { "warnGround", 0xFF2C2918, 0xFFFBF5DC },
    { "errorGround", 0xFF321F20, 0xFFFDECEB },
    { "interruptedGround", 0xFF33271A, 0xFFFDF0E1 },
    { "infoGround", 0xFF1B2A36, 0xFFE7F2F9 },
    { "kept", 0xFF7B8798, 0xFF7F8B9D },
};

constexpr QRgb kWorkers[8][2] = {
    { 0xFF53A2FF, 0xFF0063B8 },
    { 0xFFF7A31A, 0xFF8F4A00 },
    { 0xFF9EF9EA, 0xFF1D9A86 },
    { 0xFFB05671, 0xFF5E1650 },
    { 0xFFEDEC77, 0xFF85872E },
    { 0xFFE16005, 0xFF7A1208 },
    { 0xFF785ED9, 0xFF3410A0 },
    { 0xFFB2B9BF, 0xFF63666E },
};

constexpr QRgb kLossDark[9]
    = { 0xFF23345E, 0xFF374C89, 0xFF6B59A6, 0xFFA25E9F, 0xFFCE6886, 0xFFE88166, 0xFFF7A557, 0xFFFCCF70, 0xFFFFF3B8 };
constexpr QRgb kLossLight[9]
    = { 0xFFFFF0C2, 0xFFFACC7C, 0xFFF3A35A, 0xFFE37F68, 0xFFCC6387, 0xFFA1569C, 0xFF6F4A9B, 0xFF423982, 0xFF22265C };
constexpr QRgb kDeltaDark[9]
    = { 0xFF6FD0F0, 0xFF4EA4CD, 0xFF3B7AA1, 0xFF35546C, 0xFF413C3A, 0xFF76512D, 0xFFAC6C2D, 0xFFD99244, 0xFFFFBE6B };
constexpr QRgb kDeltaLight[9]
    = { 0xFF06466B, 0xFF29719B, 0xFF599EC6, 0xFF9EC9E0, 0xFFE8F1F5, 0xFFEDCA9F, 0xFFD7954E, 0xFFAE6510, 0xFF7A3E00 };

ValueMap interpolate(const QRgb (&stops)[9])
{
    ValueMap map {};
    for (int i = 0; i < 256; ++i) {
        const double at = i * 8.0 / 255;
        const int low = std::min(7, static_cast<int>(at));
        const double t = at - low;
        const auto mix = [t](int a, int b) { return static_cast<int>(a + (b - a) * t + 0.5); };
        map[static_cast<std::size_t>(i)] = qRgb(mix(qRed(stops[low]), qRed(stops[low + 1])),
            mix(qGreen(stops[low]), qGreen(stops[low + 1])), mix(qBlue(stops[low]), qBlue(stops[low + 1])));
    }
    return map;
}

bool hasFamily(const QString& family) { return QFontDatabase::families().contains(family); }

/// Packages bring the fonts along; a build uses those of the system.
void loadShippedFonts()
{
    const auto folder = resourcePath("fonts");
    const auto files
        = folder.ok() ? entriesOf(folder.value()) : Result<std::vector<std::filesystem::path>>(folder.error());
    if (files.ok())
        for (const auto& file : files.value())
            QFontDatabase::addApplicationFont(QString::fromStdString(utf8Text(file)));
}

} // namespace

Theme& theme()
{
    static Theme one;
    return one;
}

Theme::Theme()
    : lossMap_(makeLossMap(true))
    , deltaMap_(makeDeltaMap(true))
{
    registerResources();
}

ValueMap Theme::makeLossMap(bool dark) { return dark ? interpolate(kLossDark) : interpolate(kLossLight); }
ValueMap Theme::makeDeltaMap(bool dark) { return dark ? interpolate(kDeltaDark) : interpolate(kDeltaLight); }

QColor Theme::color(Token token, bool dark)
{
    const Pair& pair = kTokens[static_cast<int>(token)];
    return QColor::fromRgb(dark ? pair.dark : pair.light);
}

QColor Theme::color(Token token) const { return color(token, dark_); }

QColor Theme::color(Token token, double alpha) const
{
    QColor c = color(token);
    c.setAlphaF(static_cast<float>(alpha));
    return c;
}

QColor Theme::workerColor(int worker, bool dark)
{
    return QColor::fromRgb(kWorkers[std::max(0, worker) % 8][dark ? 0 : 1]);
}

QColor Theme::workerColor(int worker) const { return workerColor(worker, dark_); }

Marker Theme::workerMarker(int worker) { return static_cast<Marker>(std::max(0, worker) % 8); }

QVector<double> Theme::workerDash(int worker)
{
    static const QVector<double> kDashes[8]
        = { {}, { 7, 3 }, { 2, 2.5 }, { 6, 2, 2, 2 }, { 10, 3, 2, 3 }, { 4, 2 }, { 12, 4 }, { 1, 3 } };
    const int number = std::max(0, worker);
    return kDashes[(number + number / 8) % 8];
}

double Theme::pointSize(FontRole role) const
{
    constexpr double kScale[] = { 1, 0.92, 0.85, 1.15 };
    return basePoints_ * kScale[static_cast<int>(role)];
}

QFont Theme::font(FontRole role, QFont::Weight weight) const
{
    QFont f = QApplication::font();
    f.setPointSizeF(pointSize(role));
    f.setWeight(weight);
    return f;
}

QFont Theme::monoFont(FontRole role) const
{
    static const QString kMono = QStringLiteral("JetBrains Mono");
    QFont f = hasFamily(kMono) ? QFont(kMono) : QFontDatabase::systemFont(QFontDatabase::FixedFont);
    f.setPointSizeF(pointSize(role));
    f.setStyleStrategy(QFont::PreferNoShaping); // "<|" is not "◁" in data and code; scripts that need shaping keep it
    return f;
}

QIcon Theme::icon(const QString& name, Token role) const { return QIcon(new ThemedIconEngine(name, role)); }

QPalette Theme::palette() const
{
    QPalette p;
    const auto set = [&](QPalette::ColorRole role, Token token) { p.setColor(role, color(token)); };
    set(QPalette::Window, Token::Panel);
    set(QPalette::WindowText, Token::Text1);
    set(QPalette::Base, Token::Inset);
    set(QPalette::AlternateBase, Token::Panel);
    set(QPalette::Text, Token::Text1);
    set(QPalette::PlaceholderText, Token::Text3);
    set(QPalette::Button, Token::Raised);
    set(QPalette::ButtonText, Token::Text1);
    set(QPalette::Light, Token::Raised);
    set(QPalette::Midlight, Token::Raised);
    set(QPalette::Mid, Token::Line);
    set(QPalette::Dark, Token::Line2);
    set(QPalette::Shadow, Token::Line2);
    set(QPalette::Highlight, Token::Selection);
    set(QPalette::HighlightedText, Token::Text1);
    set(QPalette::Link, Token::Accent);
    set(QPalette::LinkVisited, Token::Accent);
    set(QPalette::ToolTipBase, Token::Raised);
    set(QPalette::ToolTipText, Token::Text1);
    set(QPalette::BrightText, Token::Error);
    for (const auto role : { QPalette::Text, QPalette::ButtonText, QPalette::WindowText })
        p.setColor(QPalette::Disabled, role, color(Token::Text3));
    return p;
}

QString Theme::styleSheet() const
{
    QFile file(QStringLiteral(":/furrow/style.qss"));
    if (!file.open(QIODevice::ReadOnly))
        return {};
    QString sheet = QString::fromUtf8(file.readAll());
    for (const Pair& pair : kTokens)
        sheet.replace(QLatin1Char('@') + QLatin1String(pair.name) + QLatin1Char('@'),
            QColor::fromRgb(dark_ ? pair.dark : pair.light).name());
    sheet.replace(QLatin1String("@theme@"), dark_ ? QLatin1String("dark") : QLatin1String("light"));
    return sheet;
}

void Theme::apply(ThemeKind kind)
{
    if (!systemKnown_) {
        systemKnown_ = true;
        loadShippedFonts();
        systemDark_ = QApplication::palette().color(QPalette::Window).lightness() < 128;
        // 13 px at 96 dpi is the smallest body text; a larger system font scales everything.
        basePoints_ = std::max(9.75, QApplication::font().pointSizeF());
        QApplication::setStyle(QStyleFactory::create(QStringLiteral("Fusion")));
    }
    kind_ = kind;
    dark_ = kind == ThemeKind::Dark || (kind == ThemeKind::System && systemDark_);
    lossMap_ = makeLossMap(dark_);
    deltaMap_ = makeDeltaMap(dark_);
    QFont body = QApplication::font();
    if (hasFamily(QStringLiteral("Inter")))
        body.setFamily(QStringLiteral("Inter"));
    body.setPointSizeF(basePoints_);
    QApplication::setFont(body);
    QApplication::setPalette(palette());
    qApp->setStyleSheet(styleSheet());
    Q_EMIT changed();
}

} // namespace furrow
