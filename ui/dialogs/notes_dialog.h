#pragma once

#include "core/workspace/workspace_file.h"

#include <QDialog>

class QLineEdit;
class QPlainTextEdit;

namespace furrow {

/// Tags, group and note of a run.
class NotesDialog : public QDialog {
    Q_OBJECT
public:
    NotesDialog(const QString& runName, const RunNotes& notes, QWidget* parent);
    RunNotes notes() const;

private:
    RunNotes before_;
    QLineEdit* tags_;
    QLineEdit* group_;
    QPlainTextEdit* note_;
};

} // namespace furrow
