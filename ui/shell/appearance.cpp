#include "ui/shell/appearance.h"

#include "ui/widgets/plain_text.h"
#include "ui/widgets/wheel_guard.h"

#include <QCoreApplication>
#include <QFontDatabase>
#include <QLibraryInfo>
#include <QLocale>
#include <QSettings>
#include <QTranslator>

namespace furrow {

namespace {

QString themeKey() { return QStringLiteral("appearance/theme"); }

QString languageKey() { return QStringLiteral("appearance/language"); }

Language systemLanguage()
{
    switch (QLocale::system().language()) {
    case QLocale::Chinese: return Language::Chinese;
    case QLocale::Spanish: return Language::Spanish;
    default: return Language::English;
    }
}

QString nameText(auto value) { return QString::fromStdString(toString(value)); }

/// What was chosen before; `otherwise`: nothing, or something that this version does not have.
template <ClosedSet Enum> Enum remembered(const QSettings& settings, const QString& key, Enum otherwise)
{
    return closedValue<Enum>(settings.value(key).toString().toStdString()).value_or(otherwise);
}

} // namespace

Appearance::Appearance(bool remember, QObject* parent)
    : QObject(parent)
    , remember_(remember)
    , language_(systemLanguage())
    , own_(new QTranslator(this))
    , qt_(new QTranslator(this))
{
    if (remember_) {
        const QSettings settings;
        theme_ = remembered(settings, themeKey(), theme_);
        language_ = remembered(settings, languageKey(), language_);
    }
    keepTipsPlain();
    guardWheel();
    furrow::theme().apply(theme_);
    applyLanguage();
}

void Appearance::setTheme(ThemeKind theme)
{
    if (theme == theme_)
        return;
    theme_ = theme;
    if (remember_)
        QSettings().setValue(themeKey(), nameText(theme));
    furrow::theme().apply(theme_);
    Q_EMIT themeChanged();
}

void Appearance::setLanguage(Language language)
{
    if (language == language_)
        return;
    language_ = language;
    if (remember_)
        QSettings().setValue(languageKey(), nameText(language));
    applyLanguage();
    Q_EMIT languageChanged();
}

void Appearance::applyLanguage()
{
    QCoreApplication::removeTranslator(own_);
    QCoreApplication::removeTranslator(qt_);
    const QString language = nameText(language_);
    QLocale::setDefault(QLocale(language));
    // English has a file too: it holds the plural forms.
    if (own_->load(QStringLiteral(":/i18n/furrow_%1.qm").arg(language)))
        QCoreApplication::installTranslator(own_);
    if (qt_->load(QStringLiteral("qtbase_%1").arg(language), QLibraryInfo::path(QLibraryInfo::TranslationsPath)))
        QCoreApplication::installTranslator(qt_);
}

QString Appearance::themeName(ThemeKind theme)
{
    switch (theme) {
    case ThemeKind::Dark: return tr("Dark");
    case ThemeKind::Light: return tr("Light");
    case ThemeKind::System: break;
    }
    return tr("Same as the system");
}

bool Appearance::hasFontFor(Language language)
{
    return language != Language::Chinese || !QFontDatabase::families(QFontDatabase::SimplifiedChinese).isEmpty();
}

QString Appearance::languageName(Language language)
{
    switch (language) {
    case Language::English: break;
    case Language::Spanish: return QStringLiteral("Español");
    case Language::Chinese:
        return hasFontFor(language)
            ? QStringLiteral("简体中文")
            : QStringLiteral("Chinese (no font for it is installed)"); // else boxes would say it
    }
    return QStringLiteral("English");
}

} // namespace furrow
