#include "ui/shell/notifier.h"

#include "ui/theme/theme.h"
#include "ui/widgets/plain_text.h"

#include <QProcess>
#include <QProcessEnvironment>
#include <QSettings>
#include <QSystemTrayIcon>

namespace furrow {

namespace {

QString key(const char* name) { return QStringLiteral("alerts/") + QLatin1String(name); }

} // namespace

AlertWishes readAlertWishes()
{
    const QSettings settings;
    AlertWishes wishes;
    wishes.desktop = settings.value(key("desktop"), wishes.desktop).toBool();
    wishes.command = settings.value(key("command")).toString();
    wishes.rules.stallSeconds = settings.value(key("stall_seconds"), wishes.rules.stallSeconds).toDouble();
    wishes.rules.freeGiB = settings.value(key("free_gib"), wishes.rules.freeGiB).toDouble();
    wishes.rules.lossTooGood = settings.value(key("loss_too_good"), wishes.rules.lossTooGood).toDouble();
    wishes.rules.repeatedShare = settings.value(key("repeated_share"), wishes.rules.repeatedShare).toDouble();
    const QStringList off = settings.value(key("off")).toStringList();
    for (const QString& kind : off)
        wishes.rules.off.insert(static_cast<AlertKind>(kind.toInt()));
    return wishes;
}

void writeAlertWishes(const AlertWishes& wishes)
{
    QSettings settings;
    settings.setValue(key("desktop"), wishes.desktop);
    settings.setValue(key("command"), wishes.command);
    settings.setValue(key("stall_seconds"), wishes.rules.stallSeconds);
    settings.setValue(key("free_gib"), wishes.rules.freeGiB);
    settings.setValue(key("loss_too_good"), wishes.rules.lossTooGood);
    settings.setValue(key("repeated_share"), wishes.rules.repeatedShare);
    QStringList off;
    for (const AlertKind kind : wishes.rules.off)
        off.append(QString::number(static_cast<int>(kind)));
    settings.setValue(key("off"), off);
}

Notifier::Notifier(QObject* parent)
    : QObject(parent)
{
}

void Notifier::tell(const Alert& alert, const QString& run, bool inFront)
{
    if (wishes_.desktop && !inFront && QSystemTrayIcon::isSystemTrayAvailable()
        && QSystemTrayIcon::supportsMessages()) {
        if (tray_ == nullptr) {
            tray_ = new QSystemTrayIcon(theme().icon(QStringLiteral("bell")), this);
            tray_->setToolTip(QStringLiteral("Furrow"));
        }
        tray_->show();
        tray_->showMessage(alertWord(alert.kind), notificationText(alert.text),
            alert.kind == AlertKind::Finished ? QSystemTrayIcon::Information : QSystemTrayIcon::Warning);
    }
    if (!wishes_.command.trimmed().isEmpty())
        runCommand(alert, run);
}

void Notifier::runCommand(const Alert& alert, const QString& run)
{
    QStringList words = QProcess::splitCommand(wishes_.command);
    if (words.isEmpty())
        return;
    QProcess process;
    process.setProgram(words.takeFirst());
    process.setArguments(words);
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.insert(QStringLiteral("FURROW_RUN"), run);
    environment.insert(QStringLiteral("FURROW_ALERT"), alertWord(alert.kind));
    environment.insert(QStringLiteral("FURROW_TEXT"), alert.text);
    process.setProcessEnvironment(environment);
    if (!process.startDetached())
        Q_EMIT failed(tr("The command for alerts could not be started: %1.").arg(wishes_.command));
}

} // namespace furrow
