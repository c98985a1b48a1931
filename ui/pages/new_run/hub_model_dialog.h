#pragma once

#include "ui/bridge/json_lines.h"
#include "ui/bridge/task_runner.h"

#include <QDialog>

class QLabel;
class QLineEdit;
class QListWidget;
class QProgressBar;
class QPushButton;

namespace furrow {

/// Chooses a model of the Hugging Face hub to start from: one that was fetched before, or one that `furrowctl model
/// fetch`, a process of its own, brings now. Closing it ends the fetch, which the next one takes up.
class HubModelDialog : public QDialog {
    Q_OBJECT
public:
    explicit HubModelDialog(QWidget* parent = nullptr);

Q_SIGNALS:
    /// @param place  a folder of this machine, or a GGUF
    void chosen(const QString& place);

private:
    QWidget* buildFetch();
    QWidget* buildHere();
    void fetch();
    void take(const QJsonObject& line);
    void endFetch(const QJsonObject& answer, const Message& problem);
    void showHere(const QJsonObject& answer);
    void choose(const QString& place);

    TaskRunner fetching_;
    TaskRunner listing_;
    JsonLines lines_; ///< of the fetch
    QLineEdit* name_;
    QListWidget* here_;
    QLabel* nothing_; ///< in place of the list
    QProgressBar* bar_;
    QLabel* state_;
    QPushButton* fetch_ = nullptr;
};

} // namespace furrow
