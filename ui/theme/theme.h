#pragma once

#include <QColor>
#include <QFont>
#include <QIcon>
#include <QObject>
#include <QPalette>
#include <QString>
#include <QVector>
#include <array>

namespace furrow {

/// Every colour of the program by its purpose. The values are in theme.cpp and nowhere else.
enum class Token {
    Window,
    Panel,
    Raised,
    Inset,
    Line,
    Line2,
    Edge,
    Text1,
    Text2,
    Text3,
    Accent,
    AccentFill,
    OnAccentFill,
    Selection,
    Ok,
    Warn,
    Error,
    Interrupted,
    Info,
    OkGround,
    WarnGround,
    ErrorGround,
    InterruptedGround,
    InfoGround,
    Kept, ///< resume map: chunks that stay
};
inline constexpr int kTokenCount = static_cast<int>(Token::Kept) + 1;

enum class ThemeKind { Dark, Light, System };
enum class FontRole { Body, Small, Axis, Title };
enum class Marker { Disc, Square, TriangleUp, Pentagon, Star, TriangleDown, Plus, Ring };

/// A map of values, 256 entries from low to high.
using ValueMap = std::array<QRgb, 256>;

/// Colours, fonts, icons and worker marks of one of the two themes. One object for the program: theme(). Widgets that
/// paint themselves read it in paintEvent and repaint on changeEvent(PaletteChange); caches listen to changed().
class Theme : public QObject {
    Q_OBJECT
public:
    /// Sets palette, style sheet and font of the application and tells everybody. System: by the lightness of the
    /// palette the program was started with.
    void apply(ThemeKind kind);
    ThemeKind kind() const { return kind_; }
    bool isDark() const { return dark_; }

    QColor color(Token token) const;
    QColor color(Token token, double alpha) const;
    /// Any theme's value, for tests of contrast and for exports in the other theme.
    static QColor color(Token token, bool dark);

    /// A worker keeps its colour by its number in the run; beyond eight colours repeat with the next dash.
    QColor workerColor(int worker) const;
    static QColor workerColor(int worker, bool dark);
    static Marker workerMarker(int worker);
    /// Dash pattern in pixels, on and off; empty: solid.
    static QVector<double> workerDash(int worker);

    const ValueMap& lossMap() const { return lossMap_; }
    const ValueMap& deltaMap() const { return deltaMap_; }
    static ValueMap makeLossMap(bool dark);
    static ValueMap makeDeltaMap(bool dark);

    QFont font(FontRole role, QFont::Weight weight = QFont::Normal) const;
    QFont monoFont(FontRole role = FontRole::Small) const;
    /// Points of the system font times 1, 0.92, 0.85, 1.15.
    double pointSize(FontRole role) const;

    /// An icon of resources/icons in the colour of `role`, sharp at any device pixel ratio, text 3 when disabled.
    QIcon icon(const QString& name, Token role = Token::Text1) const;

    QPalette palette() const;
    QString styleSheet() const;

Q_SIGNALS:
    void changed();

private:
    friend Theme& theme();
    Theme();

    ThemeKind kind_ = ThemeKind::Dark;
    bool dark_ = true;
    bool systemDark_ = false;
    bool systemKnown_ = false;
    double basePoints_ = 9.75;
    ValueMap lossMap_ {};
    ValueMap deltaMap_ {};
};

/// The theme of the program. GUI thread only.
Theme& theme();

} // namespace furrow
