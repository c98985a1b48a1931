#pragma once

#include "ui/models/alerts.h"

#include <QObject>

class QSystemTrayIcon;

namespace furrow {

/// How a person wants to be told. Kept with the settings of the program.
struct AlertWishes {
    AlertRules rules;
    bool desktop = true; ///< a notification of the desktop, when the window is not in front
    QString command; ///< is started for each alert, see Notifier; "": none
};
AlertWishes readAlertWishes();
void writeAlertWishes(const AlertWishes& wishes);

/// Tells of alerts outside the window. The command is started without a shell, with FURROW_RUN, FURROW_ALERT and
/// FURROW_TEXT in its environment.
class Notifier : public QObject {
    Q_OBJECT
public:
    explicit Notifier(QObject* parent = nullptr);
    void setWishes(const AlertWishes& wishes) { wishes_ = wishes; }
    const AlertWishes& wishes() const { return wishes_; }
    /// @param inFront  the person looks at the window already
    void tell(const Alert& alert, const QString& run, bool inFront);

Q_SIGNALS:
    void failed(const QString& sentence);

private:
    void runCommand(const Alert& alert, const QString& run);

    AlertWishes wishes_;
    QSystemTrayIcon* tray_ = nullptr; // made when first needed
};

} // namespace furrow
