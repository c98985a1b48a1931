#pragma once

#include "ui/shell/notifier.h"

#include <QDialog>

class QCheckBox;
class QDoubleSpinBox;
class QLineEdit;

namespace furrow {

/// Which alerts are wanted, beyond which numbers, and who is told.
class AlertsDialog : public QDialog {
    Q_OBJECT
public:
    AlertsDialog(const AlertWishes& wishes, QWidget* parent);
    AlertWishes wishes() const;

private:
    std::vector<std::pair<AlertKind, QCheckBox*>> rules_;
    QDoubleSpinBox* stall_;
    QDoubleSpinBox* free_;
    QDoubleSpinBox* good_;
    QDoubleSpinBox* repeated_;
    QCheckBox* desktop_;
    QLineEdit* command_;
};

} // namespace furrow
