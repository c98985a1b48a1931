#pragma once

#include "core/base/closed_set.h"
#include "ui/theme/theme.h"

#include <QObject>
#include <QString>

class QTranslator;

namespace furrow {

template <>
inline constexpr std::array kClosedNames<ThemeKind> {
    ClosedName { ThemeKind::System, "system" },
    ClosedName { ThemeKind::Light, "light" },
    ClosedName { ThemeKind::Dark, "dark" },
};

/// Languages of the program; their names are those of locales.
enum class Language { English, Spanish, Chinese };
template <>
inline constexpr std::array kClosedNames<Language> {
    ClosedName { Language::English, "en" },
    ClosedName { Language::Spanish, "es" },
    ClosedName { Language::Chinese, "zh_CN" },
};

/// Theme and language of the program, kept between starts. Lives on the GUI thread.
class Appearance : public QObject {
    Q_OBJECT
public:
    /// @param remember  false: neither reads nor writes what was chosen before (safe mode, tests)
    explicit Appearance(bool remember, QObject* parent = nullptr);

    ThemeKind theme() const { return theme_; }
    Language language() const { return language_; }
    void setTheme(ThemeKind theme);
    /// Installs the translation; the windows are made anew by whoever listens.
    void setLanguage(Language language);
    static QString themeName(ThemeKind theme); ///< "Dark"
    static QString languageName(Language language); ///< in its own language; in English where no font has that
    static bool hasFontFor(Language language);

Q_SIGNALS:
    void themeChanged();
    void languageChanged();

private:
    void applyLanguage();

    bool remember_;
    ThemeKind theme_ = ThemeKind::System;
    Language language_;
    QTranslator* own_;
    QTranslator* qt_;
};

} // namespace furrow
