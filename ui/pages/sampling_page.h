#pragma once

#include "ui/bridge/task_runner.h"
#include "ui/parts/sampling_fields.h"

#include <QWidget>

class QLabel;
class QPlainTextEdit;
class QPushButton;
class QTextBrowser;
class QVBoxLayout;

namespace furrow {

class WeightsChoice;
class Workbench;

/// Type the beginning of a text, pick a checkpoint, see how the model goes on.
class SamplingPage : public QWidget {
    Q_OBJECT
public:
    explicit SamplingPage(Workbench& bench, QWidget* parent = nullptr);
    /// Chooses a checkpoint by the name of its folder.
    void setCheckpoint(const QString& folder);

private:
    QWidget* buildSettings();
    QWidget* buildFoot();
    void sayWhatIsThere();
    void sayWhatWasNotRead();
    void write();
    void end(const Message& problem);
    void showRecorded();

    Workbench& bench_;
    TaskRunner task_;
    WeightsChoice* checkpoint_ = nullptr;
    QPlainTextEdit* prompt_ = nullptr;
    SamplingFields fields_;
    QPushButton* go_ = nullptr;
    QLabel* state_ = nullptr;
    QPlainTextEdit* text_ = nullptr;
    QTextBrowser* recorded_ = nullptr;
    bool wasAny_ = true; ///< there was a checkpoint when that was looked at last
};

} // namespace furrow
