#pragma once

#include "core/config/choices.h"
#include "ui/bridge/run_feed.h"
#include "ui/bridge/task_runner.h"

#include <QDialog>

class QComboBox;
class QGridLayout;
class QLabel;
class QPushButton;

namespace furrow {

/// Heads of replicas that have trained since the last merge, by replica.
std::vector<SupervisorLedger::CheckpointRow> mergeableReplicas(const LedgerTables& tables);

/// Makes one model of what the replicas of a run trained apart: the loss of each member on the held-out text, then the
/// merging, then the loss of the result on the same text. Evaluations and merge are commands of furrowctl, one after
/// the other.
class MergeDialog : public QDialog {
    Q_OBJECT
public:
    MergeDialog(const QString& folder, const LedgerTables& tables, QWidget* parent);

Q_SIGNALS:
    void merged();

private:
    struct Line {
        QString checkpoint; ///< "": the merged weights, not made yet
        QLabel* name;
        QLabel* loss;
        std::optional<double> value;
    };
    void addLine(const QString& title, const QString& detail, const QString& checkpoint);
    QWidget* buildFoot();
    void evaluate(bool thenMerge);
    void next();
    void take(const QJsonObject& answer, const Message& problem);
    void showVerdict();
    void setBusy(bool busy);
    void say(const QString& sentence, bool bad = false);

    QString folder_;
    TaskRunner task_;
    QGridLayout* grid_;
    QComboBox* method_;
    QLabel* state_;
    QPushButton* evaluate_ = nullptr;
    QPushButton* merge_ = nullptr;
    QPushButton* close_ = nullptr;
    std::vector<Line> lines_; ///< members, then the merged weights
    std::size_t at_ = 0; ///< line in work
    Objective objective_ = Objective::NextToken; ///< as an evaluation says it
    bool thenMerge_ = false;
    bool isMerged_ = false;
};

} // namespace furrow
