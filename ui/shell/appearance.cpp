#include "ui/shell/appearance.h"

#include "ui/theme/theme.h"
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

QString systemLanguage()
{
    const QString name = QLocale::system().name();
    if (name.startsWith(QLatin1String("zh")))
        return QStringLiteral("zh_CN");
    return name.startsWith(QLatin1String("es")) ? QStringLiteral("es") : QStringLiteral("en");
}

} // namespace

Appearance::Appearance(bool remember, QObject* parent)
    : QObject(parent)
    , remember_(remember)
    , theme_(QStringLiteral("system"))
    , language_(systemLanguage())
    , own_(new QTranslator(this))
    , qt_(new QTranslator(this))
{
    if (remember_) {
        const QSettings settings;
        const QString theme = settings.value(themeKey(), theme_).toString();
        const QString language = settings.value(languageKey(), language_).toString();
        theme_ = themes().contains(theme) ? theme : theme_;
        language_ = languages().contains(language) ? language : language_;
    }
    keepTipsPlain();
    guardWheel();
    applyTheme();
    applyLanguage();
}

void Appearance::setTheme(const QString& theme)
{
    if (theme == theme_ || !themes().contains(theme))
        return;
    theme_ = theme;
    if (remember_)
        QSettings().setValue(themeKey(), theme);
    applyTheme();
    Q_EMIT themeChanged();
}

void Appearance::setLanguage(const QString& language)
{
    if (language == language_ || !languages().contains(language))
        return;
    language_ = language;
    if (remember_)
        QSettings().setValue(languageKey(), language);
    applyLanguage();
    Q_EMIT languageChanged();
}

void Appearance::applyTheme()
{
    furrow::theme().apply(theme_ == QLatin1String("dark") ? ThemeKind::Dark
            : theme_ == QLatin1String("light")            ? ThemeKind::Light
                                                          : ThemeKind::System);
}

void Appearance::applyLanguage()
{
    QCoreApplication::removeTranslator(own_);
    QCoreApplication::removeTranslator(qt_);
    QLocale::setDefault(QLocale(language_));
    // English has a file too: it holds the plural forms.
    if (own_->load(QStringLiteral(":/i18n/furrow_%1.qm").arg(language_)))
        QCoreApplication::installTranslator(own_);
    if (qt_->load(QStringLiteral("qtbase_%1").arg(language_), QLibraryInfo::path(QLibraryInfo::TranslationsPath)))
        QCoreApplication::installTranslator(qt_);
}

QString Appearance::themeName(const QString& theme)
{
    if (theme == QLatin1String("dark"))
        return tr("Dark");
    return theme == QLatin1String("light") ? tr("Light") : tr("Same as the system");
}

bool Appearance::hasFontFor(const QString& language)
{
    return language != QLatin1String("zh_CN") || !QFontDatabase::families(QFontDatabase::SimplifiedChinese).isEmpty();
}

QString Appearance::languageName(const QString& language)
{
    if (language == QLatin1String("es"))
        return QStringLiteral("Español");
    if (language != QLatin1String("zh_CN"))
        return QStringLiteral("English");
    return hasFontFor(language) ? QStringLiteral("简体中文")
                                : QStringLiteral("Chinese (no font for it is installed)"); // else boxes would say it
}

} // namespace furrow
