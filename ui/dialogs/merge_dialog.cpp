#include "ui/dialogs/merge_dialog.h"

#include "ui/charts/chart_data.h"
#include "ui/models/core_words.h"
#include "ui/models/words.h"
#include "ui/parts/page_parts.h"

#include <QComboBox>
#include <QGridLayout>
#include <QPushButton>
#include <QVBoxLayout>
#include <algorithm>

namespace furrow {

std::vector<SupervisorLedger::CheckpointRow> mergeableReplicas(const LedgerTables& tables)
{
    std::vector<SupervisorLedger::CheckpointRow> members;
    for (const auto& replica : tables.replicas) {
        const auto row = std::find_if(tables.checkpoints.begin(), tables.checkpoints.end(),
            [&](const auto& one) { return replica.head && one.id == *replica.head; });
        if (row != tables.checkpoints.end() && row->record.kind == CheckpointKind::Replica && !row->damaged
            && !row->removed)
            members.push_back(*row);
    }
    return members;
}

MergeDialog::MergeDialog(const QString& folder, const LedgerTables& tables, QWidget* parent)
    : QDialog(parent)
    , folder_(folder)
    , grid_(new QGridLayout)
    , method_(new QComboBox(this))
    , state_(makeLabel({}, TextTone::Secondary, TextSize::Small))
{
    const auto members = mergeableReplicas(tables);
    setWindowTitle(tr("Merge replicas"));
    resize(620, 330);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(16, 12, 16, 12);
    column->setSpacing(8);
    const int count = static_cast<int>(members.size()); // lupdate does not read past a cast
    column->addWidget(
        makeLabel(tr("%n replica(s) trained separately", nullptr, count), TextTone::Value, TextSize::Title, true));
    QLabel* meaning = makeLabel(
        tr("Merging makes one model of them, and every replica continues from it. The checkpoints of the members stay, as far as the keep policy keeps them. All losses are on the same held-out text."),
        TextTone::Secondary);
    meaning->setWordWrap(true);
    column->addWidget(meaning);
    grid_->setHorizontalSpacing(16);
    grid_->setVerticalSpacing(6);
    grid_->setColumnStretch(1, 1);
    grid_->addWidget(makeLabel(tr("Held-out loss"), TextTone::Hint, TextSize::Tiny), 0, 2, Qt::AlignRight);
    for (const auto& row : members)
        addLine(tr("Replica %1").arg(row.record.replica),
            tr("%1, %2 tokens").arg(QString::fromStdString(row.record.folder), countText(row.record.tokens)),
            QString::fromStdString(row.record.folder));
    grid_->addWidget(makeLine(), grid_->rowCount(), 0, 1, 3);
    addLine(tr("Merged"), tr("not made yet"), {});
    column->addLayout(grid_);
    auto* row = new QHBoxLayout;
    row->addWidget(makeLabel(tr("Method"), TextTone::Secondary));
    method_->setAccessibleName(tr("Method"));
    method_->addItem(tr("as set for the run"), QString());
    method_->addItem(tr("average, weighted by tokens"), QStringLiteral("average"));
    method_->addItem(tr("DiLoCo: outer momentum"), QStringLiteral("diloco"));
    row->addWidget(method_);
    row->addStretch();
    column->addLayout(row);
    state_->setWordWrap(true);
    column->addWidget(state_);
    column->addStretch();
    column->addWidget(buildFoot());
    connect(&task_, &TaskRunner::finished, this, &MergeDialog::take);
    merge_->setFocus();
}

void MergeDialog::addLine(const QString& title, const QString& detail, const QString& checkpoint)
{
    const int row = grid_->rowCount();
    grid_->addWidget(makeLabel(title, TextTone::Value, TextSize::Body, true), row, 0);
    QLabel* name = makeLabel(detail, TextTone::Secondary, TextSize::Small);
    grid_->addWidget(name, row, 1);
    QLabel* loss = makeLabel(QStringLiteral("–"));
    loss->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    loss->setMinimumWidth(90);
    loss->setAccessibleName(tr("Held-out loss of %1").arg(title));
    grid_->addWidget(loss, row, 2);
    lines_.push_back({ checkpoint, name, loss, std::nullopt });
}

QWidget* MergeDialog::buildFoot()
{
    auto* foot = new QWidget(this);
    auto* row = new QHBoxLayout(foot);
    row->setContentsMargins(0, 4, 0, 0);
    row->addStretch();
    evaluate_ = makeButton(tr("Evaluate members"));
    connect(evaluate_, &QPushButton::clicked, this, [this] { evaluate(false); });
    row->addWidget(evaluate_);
    close_ = makeButton(tr("Close"));
    connect(close_, &QPushButton::clicked, this, &QDialog::reject); // the task ends with the dialog
    row->addWidget(close_);
    const int members = static_cast<int>(lines_.size()) - 1;
    merge_ = makeButton(tr("Merge %n replica(s)", nullptr, members), QStringLiteral("merge"), true);
    merge_->setDefault(true);
    connect(merge_, &QPushButton::clicked, this, [this] { evaluate(true); });
    row->addWidget(merge_);
    return foot;
}

void MergeDialog::setBusy(bool busy)
{
    evaluate_->setEnabled(!busy && !isMerged_);
    merge_->setEnabled(!busy && !isMerged_);
    method_->setEnabled(!busy && !isMerged_);
}

void MergeDialog::say(const QString& sentence, bool bad) { saySentence(state_, sentence, bad); }

void MergeDialog::evaluate(bool thenMerge)
{
    thenMerge_ = thenMerge;
    at_ = 0;
    setBusy(true);
    next();
}

// Members that have no loss yet, then the merge, then the loss of the result.
void MergeDialog::next()
{
    while (at_ + 1 < lines_.size() && lines_[at_].value)
        ++at_;
    const bool isResult = at_ + 1 == lines_.size();
    if (isResult && lines_.back().value) {
        showVerdict();
        setBusy(false);
    } else if (!isResult || isMerged_) {
        say(tr("Evaluating %1…").arg(lines_[at_].checkpoint));
        task_.run({ QStringLiteral("eval"), folder_, QStringLiteral("--checkpoint"), lines_[at_].checkpoint,
            QStringLiteral("--json") });
    } else if (thenMerge_) {
        say(tr("Merging…"));
        QStringList arguments { QStringLiteral("merge"), folder_, QStringLiteral("--json") };
        if (!method_->currentData().toString().isEmpty())
            arguments += { QStringLiteral("--method"), method_->currentData().toString() };
        task_.run(arguments);
    } else {
        say(tr("Nothing has been merged yet."));
        setBusy(false);
    }
}

void MergeDialog::take(const QJsonObject& answer, const Message& problem)
{
    if (!problem.empty()) {
        say(coreWords(problem), true);
        setBusy(false);
        return;
    }
    const bool isMerge = answer.contains(QLatin1String("round"));
    if (isMerge && answer.value(QLatin1String("checkpoint")).toString().isEmpty()) {
        say(tr("No replica has trained anything since the last merge."));
        setBusy(false);
        return;
    }
    if (isMerge) {
        isMerged_ = true;
        lines_.back().checkpoint = answer.value(QLatin1String("checkpoint")).toString();
        lines_.back().name->setText(lines_.back().checkpoint);
        Q_EMIT merged();
    } else {
        if (answer.value(QLatin1String("pairs")).toDouble() > 0)
            objective_ = Objective::Dpo;
        lines_[at_].value = answer.value(QLatin1String("loss")).toDouble();
        lines_[at_].loss->setText(fixedText(*lines_[at_].value, 4));
    }
    next();
}

void MergeDialog::showVerdict()
{
    double best = *lines_.front().value;
    for (std::size_t i = 0; i + 1 < lines_.size(); ++i)
        best = std::min(best, *lines_[i].value);
    const double difference = *lines_.back().value - best;
    say(difference <= 0
            ? tr("The merged weights are better than the best member by %1 %2.")
                  .arg(fixedText(-difference, 4), lossUnit(objective_))
            : tr("The merged weights are worse than the best member by %1 %2; more training usually mends that.")
                  .arg(fixedText(difference, 4), lossUnit(objective_)));
}

} // namespace furrow
