#pragma once

#include "ui/bridge/json_lines.h"
#include "ui/bridge/task_runner.h"

#include <QDialog>

class QCheckBox;
class QLabel;
class QProgressBar;
class QPushButton;

namespace furrow {

/// Brings libtorch to where none is: looks for one that is here, or fetches it, with `furrowctl torch`, a process of
/// its own. Closing it ends a download, which the next one takes up.
class TorchDialog : public QDialog {
    Q_OBJECT
public:
    explicit TorchDialog(QWidget* parent = nullptr);

Q_SIGNALS:
    void ready(); ///< workers have a libtorch now

private:
    QWidget* buildChoice();
    QWidget* buildFoot();
    void install(const QString& from);
    void begin(const QStringList& arguments);
    void takeOutput(const QString& text);
    void showProgress(const QJsonObject& line);
    void end(const QString& problem);
    void say(const QString& sentence, bool bad = false);

    TaskRunner task_;
    JsonLines lines_; ///< of furrowctl's output
    QCheckBox* cuda_ = nullptr;
    QProgressBar* bar_;
    QLabel* room_; ///< what will be fetched, as furrowctl says it
    QLabel* state_;
    QPushButton* find_ = nullptr;
    QPushButton* folder_ = nullptr;
    QPushButton* install_ = nullptr;
};

} // namespace furrow
