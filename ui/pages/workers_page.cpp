#include "ui/pages/workers_page.h"

#include "ui/models/core_words.h"
#include "ui/models/words.h"
#include "ui/models/workbench.h"
#include "ui/parts/fitted_columns.h"
#include "ui/parts/overflow.h"
#include "ui/parts/page_parts.h"
#include "ui/pages/worker_delegate.h"

#include <QCoreApplication>
#include <QHeaderView>
#include <QPushButton>
#include <QSortFilterProxyModel>
#include <QJsonObject>
#include <QSplitter>
#include <QTime>
#include <QTableView>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

namespace furrow {

namespace {

constexpr int kEndedColumn = 5; // of the processes
constexpr int kSpeedColumn = 10;
constexpr int kMarkColumn = 1;
constexpr int kVerdictColumn = 2;
constexpr int kAgeColumn = 4;

} // namespace

WorkersPage::WorkersPage(Workbench& bench, QWidget* parent)
    : QWidget(parent)
    , bench_(bench)
    , incarnations_(incarnationColumns())
    , checkpoints_(checkpointColumns(verifier_, [this] { return bench_.replay().moment(); }))
    , processTable_(makeTable(tr("Worker processes")))
    , checkpointTable_(makeTable(tr("Checkpoints")))
{
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    for (QTableView* table : { processTable_, checkpointTable_ })
        table->setMinimumHeight(kLeastTable);
    auto* splitter = new QSplitter(Qt::Vertical, this);
    splitter->setHandleWidth(1);
    splitter->addWidget(buildProcesses());
    splitter->addWidget(buildCheckpoints());
    column->addWidget(splitter);
    connect(&bench_.watcher(), &RunWatcher::tablesRead, this, &WorkersPage::take);
    connect(&bench_.watcher(), &RunWatcher::statusRead, this, &WorkersPage::showProcesses);
    connect(&bench_.watcher(), &RunWatcher::opened, this, [this] {
        task_.cancel();
        saySentence(evaluation_, {}, false);
        evaluation_->hide();
        verifier_.forget();
        incarnations_.reset({});
        checkpoints_.reset({});
        showBest();
        enableButtons();
    });
    connect(&verifier_, &CheckpointVerifier::changed, this, &WorkersPage::showVerdicts);
    connect(&task_, &TaskRunner::finished, this, &WorkersPage::showEvaluation);
    connect(&bench_.replay(), &Replay::momentChanged, this, &WorkersPage::sayWhetherPresent);
    connect(&bench_.watcher(), &RunWatcher::problemChanged, this, &WorkersPage::sayWhetherPresent);
    sayWhetherPresent();
    if (bench_.watcher().tables())
        take(bench_.watcher().tables());
    showBest();
    enableButtons();
}

QWidget* WorkersPage::buildProcesses()
{
    auto* box = new QWidget;
    auto* column = new QVBoxLayout(box);
    column->setContentsMargins(12, 12, 12, 0);
    auto* head = new QHBoxLayout;
    head->addWidget(makeLabel(tr("Worker processes of all attempts"), TextTone::Value, TextSize::Body, true));
    present_ = new ElidedLabel(TextTone::Secondary, TextSize::Small);
    head->addWidget(present_, 1);
    column->addLayout(head);
    column->addWidget(processTable_, 1);
    setSortedModel(processTable_, &incarnations_, 4, Qt::DescendingOrder);
    processTable_->setItemDelegate(new WorkerDelegate(processTable_));
    auto* columns = new FittedColumns(*processTable_, { kEndedColumn, kSpeedColumn });
    columns->keepRoomFor(kSpeedColumn, rateText(999'999)); // it is small while a worker begins
    processTable_->setSelectionMode(QAbstractItemView::SingleSelection);
    connect(processTable_->selectionModel(), &QItemSelectionModel::selectionChanged, this, [this] {
        if (const IncarnationRow* row = markedProcess(); row != nullptr && row->worker >= 0)
            bench_.selection().setWorker(row->worker);
    });
    connect(&bench_.selection(), &SelectionModel::changed, this, [this] { // so that a click marks it again
        const IncarnationRow* row = markedProcess();
        if (row != nullptr && row->worker >= 0 && bench_.selection().selection().worker != row->worker)
            processTable_->clearSelection();
    });
    return box;
}

QWidget* WorkersPage::buildCheckpoints()
{
    auto* box = new QWidget;
    auto* column = new QVBoxLayout(box);
    column->setContentsMargins(12, 8, 12, 0);
    auto* row = new QHBoxLayout;
    row->addWidget(makeLabel(tr("Checkpoints"), TextTone::Value, TextSize::Body, true));
    sentence_ = new ElidedLabel(TextTone::Secondary, TextSize::Small);
    row->addWidget(sentence_, 1);
    verify_ = makeButton(tr("Verify all"), QStringLiteral("check"));
    verify_->setToolTip(
        tr("Reads every file of the checkpoints again and compares it with what was recorded when it was written"));
    pin_ = makeButton(tr("Pin"), QStringLiteral("pin"));
    pin_->setToolTip(tr("A pinned checkpoint is never removed by the keep policy"));
    evaluate_ = makeButton(tr("Evaluate"));
    sample_ = makeButton(tr("Write text…"), QStringLiteral("text"));
    start_ = makeButton(tr("New run from it…"));
    for (QPushButton* button : { verify_, pin_, evaluate_, sample_, start_ }) {
        button->setProperty("compact", true);
        row->addWidget(button);
    }
    column->addLayout(row);
    evaluation_ = makeLabel({}, TextTone::Value, TextSize::Small);
    evaluation_->setWordWrap(true);
    evaluation_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    evaluation_->hide();
    column->addWidget(evaluation_);
    setSortedModel(checkpointTable_, &checkpoints_, 0, Qt::DescendingOrder);
    checkpointTable_->setSelectionMode(QAbstractItemView::SingleSelection);
    auto* columns = new FittedColumns(*checkpointTable_);
    columns->keepRoomFor(kMarkColumn,
        QCoreApplication::translate("Tables", "best") + QStringLiteral(", ")
            + QCoreApplication::translate("Tables", "most trained"));
    columns->keepRoomFor(kAgeColumn, durationText(99 * 60 + 59)); // it grows
    columns->keepRoomFor(
        kVerdictColumn, QCoreApplication::translate("Tables", "verified at %1").arg(QStringLiteral("00:00")));
    column->addWidget(checkpointTable_, 1);
    connect(
        checkpointTable_->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &WorkersPage::enableButtons);
    connect(verify_, &QPushButton::clicked, this, &WorkersPage::verifyAll);
    connect(pin_, &QPushButton::clicked, this, [this] {
        if (const auto* checkpoint = current())
            bench_.commands().pin(bench_.watcher().folder(), checkpoint->id, !checkpoint->pinned);
    });
    connect(evaluate_, &QPushButton::clicked, this, &WorkersPage::evaluate);
    connect(sample_, &QPushButton::clicked, this, [this] {
        if (const auto* checkpoint = current())
            Q_EMIT sampleWanted(QString::fromStdString(checkpoint->record.folder));
    });
    connect(start_, &QPushButton::clicked, this, [this] {
        if (const auto* checkpoint = current())
            Q_EMIT newRunWanted(bench_.watcher().folder() + QStringLiteral("/checkpoints/")
                + QString::fromStdString(checkpoint->record.folder));
    });
    return box;
}

const IncarnationRow* WorkersPage::markedProcess() const
{
    const auto* proxy = static_cast<const QSortFilterProxyModel*>(processTable_->model());
    const QModelIndexList rows = processTable_->selectionModel()->selectedRows();
    return rows.isEmpty() ? nullptr : incarnations_.rowAt(proxy->mapToSource(rows.front()));
}

const CheckpointLine* WorkersPage::current() const
{
    const auto* proxy = static_cast<const QSortFilterProxyModel*>(checkpointTable_->model());
    return checkpoints_.rowAt(proxy->mapToSource(checkpointTable_->currentIndex()));
}

void WorkersPage::enableButtons()
{
    const auto* checkpoint = current();
    const bool hasFiles = checkpoint != nullptr && checkpoint->hasFiles();
    const auto& all = checkpoints_.rows();
    verify_->setText(verifier_.isBusy() ? tr("Stop checking") : tr("Verify all"));
    verify_->setEnabled(!task_.isBusy()
        && std::any_of(all.begin(), all.end(), [](const CheckpointLine& line) { return line.hasFiles(); }));
    pin_->setEnabled(hasFiles);
    pin_->setText(checkpoint != nullptr && checkpoint->pinned ? tr("Unpin") : tr("Pin"));
    for (QPushButton* button : { sample_, start_ })
        button->setEnabled(hasFiles);
    evaluate_->setEnabled(hasFiles && !task_.isBusy() && !verifier_.isBusy());
}

void WorkersPage::evaluate()
{
    const auto* checkpoint = current();
    if (checkpoint == nullptr)
        return;
    task_.run({ QStringLiteral("eval"), bench_.watcher().folder(), QStringLiteral("--checkpoint"),
        QString::fromStdString(checkpoint->record.folder), QStringLiteral("--json") });
    const bool isMerge = checkpoint->record.kind == CheckpointKind::Merge;
    evaluated_ = isMerge ? tr("checkpoint %1, all replicas merged").arg(checkpoint->id.value)
                         : tr("checkpoint %1, replica %2").arg(checkpoint->id.value).arg(checkpoint->record.replica);
    setTone(evaluation_, TextTone::Secondary);
    evaluation_->setText(tr("Evaluating %1…").arg(evaluated_));
    evaluation_->show();
    enableButtons();
}

/// Stays until another one is asked for: the sentence beside the buttons follows what else is done.
void WorkersPage::showEvaluation(const QJsonObject& answer, const Message& problem)
{
    enableButtons();
    const QJsonValue loss = answer.value(QLatin1String("loss"));
    if (!problem.empty() || !loss.isDouble()) {
        setTone(evaluation_, TextTone::Error);
        evaluation_->setText(tr("%1 was not evaluated. %2")
                .arg(evaluated_.left(1).toUpper() + evaluated_.mid(1),
                    problem.empty() ? tr("The program reported no loss.") : coreWords(problem)));
        return;
    }
    setTone(evaluation_, TextTone::Value);
    evaluation_->setText(evaluationText(answer, evaluated_));
}

QString WorkersPage::evaluationText(const QJsonObject& answer, const QString& whose)
{
    const auto count = [](const QJsonValue& value) { return countText(static_cast<std::int64_t>(value.toDouble())); };
    const QString data = answer.value(QLatin1String("data")).toString();
    const bool isHeldOut = data.isEmpty() || data == QLatin1String("held-out");
    const QString tokens = count(answer.value(QLatin1String("tokens")));
    const QString pairs = count(answer.value(QLatin1String("pairs")));
    const bool arePairs = answer.value(QLatin1String("pairs")).toDouble() > 0;
    QString text = arePairs
        ? tr("Evaluated at %1: %2, step %3: loss %4, chosen answer preferred in %5, on %6.")
              .arg(QTime::currentTime().toString(QStringLiteral("HH:mm")), whose,
                  count(answer.value(QLatin1String("step"))),
                  fixedText(answer.value(QLatin1String("loss")).toDouble(), 4),
                  percentText(answer.value(QLatin1String("preferred")).toDouble()),
                  isHeldOut ? tr("all held-out pairs (%1)").arg(pairs) : tr("%1 pairs of %2").arg(pairs, data))
        : tr("Evaluated at %1: %2, step %3: loss %4, perplexity %5, on %6.")
              .arg(QTime::currentTime().toString(QStringLiteral("HH:mm")), whose,
                  count(answer.value(QLatin1String("step"))),
                  fixedText(answer.value(QLatin1String("loss")).toDouble(), 4),
                  fixedText(answer.value(QLatin1String("perplexity")).toDouble(), 2),
                  isHeldOut ? tr("all held-out text (%1 tokens)").arg(tokens)
                            : tr("%1 tokens of %2").arg(tokens, data));
    const QJsonObject place = answer.value(QLatin1String("place")).toObject();
    if (place.contains(QLatin1String("is_newest")) && !place.value(QLatin1String("is_newest")).toBool())
        text += QLatin1Char(' ') + tr("These are not the newest weights of the run.");
    if (const int epoch = place.value(QLatin1String("before_end_of_epoch")).toInt(); epoch > 0)
        text += QLatin1Char(' ') + tr("They are from before the end of epoch %1.").arg(epoch);
    const QJsonObject overlap = answer.value(QLatin1String("overlap")).toObject();
    if (overlap.value(QLatin1String("also_trained")).toDouble() > 0)
        text += QLatin1Char(' ')
            + tr("%1 of this text was also trained on.")
                  .arg(percentText(overlap.value(QLatin1String("share")).toDouble()));
    return text;
}

/// Each row says when it was; what the buttons act on is of now.
void WorkersPage::sayWhetherPresent()
{
    const auto moment = bench_.replay().moment();
    const RunWatcher& watcher = bench_.watcher();
    present_->setText(!watcher.problem().empty() ? tr("As last read, at %1.").arg(wallTimeText(watcher.lastReadNs()))
            : moment ? tr("As it is now, not as it was at %1. Ages are those of then.").arg(wallTimeText(*moment))
                     : QString());
    checkpointTable_->viewport()->update(); // ages
}

// The newest first: it is the one that a resume starts from.
void WorkersPage::verifyAll()
{
    if (verifier_.isBusy()) {
        verifier_.stop();
        return;
    }
    std::vector<SupervisorLedger::CheckpointRow> rows;
    for (const CheckpointLine& line : checkpoints_.rows())
        if (line.hasFiles())
            rows.insert(rows.begin(), line);
    verifier_.start(bench_.watcher().folder(), rows);
}

void WorkersPage::showVerdicts()
{
    checkpoints_.reset(std::vector(checkpoints_.rows()));
    enableButtons();
    if (verifier_.isBusy()) {
        saySentence(
            sentence_, tr("Checking the files, %1 of %2…").arg(verifier_.done() + 1).arg(verifier_.wanted()), false);
        return;
    }
    QStringList problems;
    for (const auto& row : checkpoints_.rows())
        if (const CheckpointVerdict* verdict = verifier_.verdictOf(row.id);
            verdict != nullptr && !row.removed && !verdict->problem.empty())
            problems.append(coreWords(verdict->problem));
    if (!problems.isEmpty())
        saySentence(sentence_,
            tr("%n checkpoint(s) not whole. %1", nullptr, static_cast<int>(problems.size()))
                .arg(problems.join(QLatin1Char(' '))),
            true);
    else if (verifier_.done() > 0)
        saySentence(sentence_,
            tr("%n checkpoint(s) verified: every file is as it was written.", nullptr,
                static_cast<int>(verifier_.done())),
            false);
    else
        showBest();
}

void WorkersPage::showBest()
{
    const auto& all = checkpoints_.rows();
    const auto best = std::find_if(all.begin(), all.end(), [](const CheckpointLine& line) { return line.best; });
    if (verifier_.isBusy())
        return;
    saySentence(sentence_,
        best == all.end()
            ? QString()
            : tr("Best: checkpoint %1, eval loss %2").arg(best->id.value).arg(fixedText(*best->record.evalLoss, 3)),
        false);
}

void WorkersPage::showProcesses()
{
    if (const auto& tables = bench_.watcher().tables())
        incarnations_.reset(
            processesNow(withMerged(tables->incarnations, tables->checkpoints), bench_.watcher().status().get()));
}

void WorkersPage::take(const TablesPtr& tables)
{
    const bool news = checkpoints_.rowCount() != static_cast<int>(tables->checkpoints.size());
    showProcesses();
    checkpoints_.reset(checkpointLines(tables->checkpoints));
    if (news)
        showBest();
    enableButtons();
}

} // namespace furrow
