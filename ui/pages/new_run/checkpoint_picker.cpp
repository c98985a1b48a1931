#include "ui/pages/new_run/checkpoint_picker.h"

#include "ui/models/workbench.h"
#include "ui/parts/page_parts.h"

#include <QComboBox>
#include <QPushButton>
#include <QSortFilterProxyModel>
#include <QTableView>
#include <QVBoxLayout>

namespace furrow {

CheckpointPicker::CheckpointPicker(Workbench& bench, QWidget* parent)
    : QDialog(parent)
    , bench_(bench)
    , model_(checkpointColumns())
    , run_(new QComboBox(this))
    , table_(makeTable(tr("Checkpoints of the run")))
    , sentence_(makeLabel({}, TextTone::Secondary, TextSize::Small))
{
    setWindowTitle(tr("Start from a checkpoint"));
    resize(720, 420);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(16, 12, 16, 12);
    column->setSpacing(8);
    auto* row = new QHBoxLayout;
    row->addWidget(makeLabel(tr("Run"), TextTone::Secondary, TextSize::Small));
    run_->setAccessibleName(tr("Run"));
    const QString shown = bench.watcher().folder();
    for (const RunLine& line : bench.scanner().lines() ? *bench.scanner().lines() : RunLines {}) {
        run_->addItem(line.name, line.folder);
        if (line.folder == shown)
            run_->setCurrentIndex(run_->count() - 1);
    }
    row->addWidget(run_, 1);
    column->addLayout(row);
    setSortedModel(table_, &model_, 0, Qt::DescendingOrder);
    table_->setSelectionMode(QAbstractItemView::SingleSelection);
    column->addWidget(table_, 1);
    sentence_->setWordWrap(true);
    column->addWidget(sentence_);
    column->addWidget(buildFoot());
    connect(run_, &QComboBox::currentIndexChanged, this, &CheckpointPicker::readRun);
    connect(&reader_, &CheckpointReader::checkpointsRead, this, &CheckpointPicker::take);
    connect(table_, &QTableView::doubleClicked, this, &CheckpointPicker::choose);
    readRun();
}

QWidget* CheckpointPicker::buildFoot()
{
    auto* foot = new QWidget(this);
    auto* row = new QHBoxLayout(foot);
    row->setContentsMargins(0, 4, 0, 0);
    row->addStretch();
    auto* cancel = makeButton(tr("Cancel"));
    connect(cancel, &QPushButton::clicked, this, &QDialog::reject);
    row->addWidget(cancel);
    choose_ = makeButton(tr("Start from this checkpoint"), {}, true);
    choose_->setDefault(true);
    choose_->setEnabled(false);
    connect(choose_, &QPushButton::clicked, this, &CheckpointPicker::choose);
    row->addWidget(choose_);
    return foot;
}

void CheckpointPicker::readRun()
{
    model_.reset({});
    choose_->setEnabled(false);
    if (run_->currentIndex() < 0) {
        sentence_->setText(tr("No runs in this workspace yet."));
        return;
    }
    sentence_->setText(tr("Reading the checkpoints…"));
    reader_.read(run_->currentData().toString());
}

void CheckpointPicker::take(const CheckpointRowsPtr& rows)
{
    model_.reset(checkpointLines(*rows));
    table_->resizeColumnsToContents();
    table_->selectRow(0);
    choose_->setEnabled(!rows->empty());
    sentence_->setText(rows->empty()
            ? tr("This run has no checkpoint yet.")
            : tr("The new run takes the weights and the settings of the model; its optimiser, data and epochs start afresh."));
}

void CheckpointPicker::choose()
{
    const auto* proxy = static_cast<const QSortFilterProxyModel*>(table_->model());
    const auto* row = model_.rowAt(proxy->mapToSource(table_->currentIndex()));
    if (row == nullptr)
        return;
    const QString run = run_->currentData().toString();
    accept();
    Q_EMIT chosen(run, run + QStringLiteral("/checkpoints/") + QString::fromStdString(row->record.folder));
}

} // namespace furrow
