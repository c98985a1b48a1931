#pragma once

#include "ui/shell/notifier.h"

#include <QDialog>

class QCheckBox;
class QLabel;
class QLineEdit;
class QPushButton;

namespace furrow {

class NumberField;

/// Which alerts are wanted, beyond which numbers, and who is told.
class AlertsDialog : public QDialog {
    Q_OBJECT
public:
    AlertsDialog(const AlertWishes& wishes, QWidget* parent);
    AlertWishes wishes() const;

private:
    void judge(); ///< numbers that cannot be keep the button closed, and a sentence says why

    AlertWishes before_;
    std::vector<std::pair<AlertKind, QCheckBox*>> rules_;
    NumberField* stall_;
    NumberField* free_;
    NumberField* good_;
    NumberField* repeated_;
    QCheckBox* desktop_;
    QLineEdit* command_;
    QLabel* problem_ = nullptr;
    QPushButton* keep_ = nullptr;
};

} // namespace furrow
