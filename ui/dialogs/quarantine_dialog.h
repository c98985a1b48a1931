#pragma once

#include "core/base/result.h"

#include <QDialog>

class QComboBox;
class QLabel;
class QPlainTextEdit;
class QPushButton;

namespace furrow {

class Workbench;

/// The list of what later runs leave out: chosen, edited as text, saved, and taken into a new run. What is wrong with
/// it is said while it is typed. The runs that are there keep what they trained.
class QuarantineDialog : public QDialog {
    Q_OBJECT
public:
    explicit QuarantineDialog(Workbench& bench, QWidget* parent);

Q_SIGNALS:
    /// A list was saved and a new run is to begin with it.
    void newRunWanted(const QString& file);

private:
    QWidget* buildFoot();
    void showDraft();
    bool save();
    bool saveAs(const QString& name);
    void say(const Error& error);

    Workbench& bench_;
    QComboBox* name_;
    QPlainTextEdit* text_;
    QLabel* counts_;
    QPushButton* save_ = nullptr;
    QPushButton* begin_ = nullptr;
};

} // namespace furrow
