#pragma once

#include <QDialog>

class QLineEdit;
class QListWidget;
class QTextBrowser;

namespace furrow {

/// The handbook inside the program: what things are, why a run says what it says, what each setting does.
class HelpDialog : public QDialog {
    Q_OBJECT
public:
    enum Topic {
        FirstSteps,
        YourData,
        Sizes,
        States,
        Resuming,
        Coverage,
        Merging,
        Privacy,
        Words,
        Settings,
        kTopicCount
    };
    explicit HelpDialog(QWidget* parent);
    void showTopic(Topic topic);

private:
    void search(const QString& words);

    QLineEdit* search_;
    QListWidget* topics_;
    QTextBrowser* text_;
};

} // namespace furrow
