#pragma once

#include <QObject>
#include <QString>
#include <QStringList>

class QTranslator;

namespace furrow {

/// Theme and language of the program, kept between starts. Lives on the GUI thread.
class Appearance : public QObject {
    Q_OBJECT
public:
    /// @param remember  false: neither reads nor writes what was chosen before (safe mode, tests)
    explicit Appearance(bool remember, QObject* parent = nullptr);

    const QString& theme() const { return theme_; } ///< "dark" "light" "system"
    const QString& language() const { return language_; } ///< "en" "es" "zh_CN"
    void setTheme(const QString& theme);
    /// Installs the translation; the windows are made anew by whoever listens.
    void setLanguage(const QString& language);
    static QStringList themes()
    {
        return { QStringLiteral("system"), QStringLiteral("light"), QStringLiteral("dark") };
    }
    static QStringList languages() { return { QStringLiteral("en"), QStringLiteral("es"), QStringLiteral("zh_CN") }; }
    static QString themeName(const QString& theme); ///< "Dark"
    static QString languageName(const QString& language); ///< in its own language; in English where no font has that
    static bool hasFontFor(const QString& language);

Q_SIGNALS:
    void themeChanged();
    void languageChanged();

private:
    void applyTheme();
    void applyLanguage();

    bool remember_;
    QString theme_;
    QString language_;
    QTranslator* own_;
    QTranslator* qt_;
};

} // namespace furrow
