#include "ui/shell/alerts_dialog.h"

#include "ui/parts/page_parts.h"

#include <QCheckBox>
#include <QDoubleSpinBox>
#include <QGridLayout>
#include <QLineEdit>
#include <QPushButton>
#include <QVBoxLayout>
#include <map>

namespace furrow {

namespace {

constexpr AlertKind kKinds[] = { AlertKind::Finished, AlertKind::Interrupted, AlertKind::Failed, AlertKind::NotANumber,
    AlertKind::Spike, AlertKind::Stalled, AlertKind::OutOfMemory, AlertKind::RepeatedData, AlertKind::LossTooGood,
    AlertKind::Duplicate, AlertKind::DiskSpace, AlertKind::WorkerDied, AlertKind::CheckpointsAway, AlertKind::DataAway,
    AlertKind::LeftOut };

QDoubleSpinBox* makeNumber(double value, double most, int decimals, const QString& suffix)
{
    auto* box = new QDoubleSpinBox;
    box->setRange(0, most);
    box->setDecimals(decimals);
    box->setSuffix(suffix);
    box->setValue(value);
    box->setFixedWidth(130);
    return box;
}

} // namespace

AlertsDialog::AlertsDialog(const AlertWishes& wishes, QWidget* parent)
    : QDialog(parent)
    , stall_(makeNumber(wishes.rules.stallSeconds, 86400, 0, tr(" s")))
    , free_(makeNumber(wishes.rules.freeGiB, 100000, 1, tr(" GiB")))
    , good_(makeNumber(wishes.rules.lossTooGood, 10, 3, tr(" nats")))
    , repeated_(makeNumber(wishes.rules.repeatedShare * 100, 100, 0, tr(" %")))
    , desktop_(new QCheckBox(tr("Show a notification of the desktop when this window is not in front"), this))
    , command_(new QLineEdit(wishes.command, this))
{
    setWindowTitle(tr("Alerts"));
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(16, 12, 16, 12);
    column->setSpacing(8);
    auto* grid = new QGridLayout;
    grid->setHorizontalSpacing(20);
    grid->setVerticalSpacing(4);
    grid->setColumnStretch(0, 1);
    const std::map<AlertKind, std::pair<QString, QDoubleSpinBox*>> numbers {
        { AlertKind::Stalled, { tr("after"), stall_ } }, { AlertKind::DiskSpace, { tr("below"), free_ } },
        { AlertKind::LossTooGood, { tr("below"), good_ } }, { AlertKind::RepeatedData, { tr("above"), repeated_ } }
    };
    for (const AlertKind kind : kKinds) {
        const int row = grid->rowCount();
        grid->setRowMinimumHeight(row, 30); // with and without a number alike
        auto* box = new QCheckBox(alertWord(kind));
        box->setChecked(!wishes.rules.off.contains(kind));
        grid->addWidget(box, row, 0);
        rules_.emplace_back(kind, box);
        const auto number = numbers.find(kind);
        if (number == numbers.end())
            continue;
        number->second.second->setAccessibleName(QStringLiteral("%1, %2").arg(alertWord(kind), number->second.first));
        grid->addWidget(makeLabel(number->second.first, TextTone::Hint, TextSize::Small), row, 1, Qt::AlignRight);
        grid->addWidget(number->second.second, row, 2);
        connect(box, &QCheckBox::toggled, number->second.second, &QWidget::setEnabled);
        number->second.second->setEnabled(box->isChecked());
    }
    column->addLayout(grid);
    column->addWidget(makeLine());
    desktop_->setChecked(wishes.desktop);
    column->addWidget(desktop_);
    column->addWidget(makeLabel(tr("Command to run for each alert"), TextTone::Secondary, TextSize::Small));
    command_->setAccessibleName(tr("Command to run for each alert"));
    command_->setPlaceholderText(tr("none"));
    command_->setToolTip(tr("Run without a shell. FURROW_RUN, FURROW_ALERT and FURROW_TEXT are in its environment."));
    column->addWidget(command_);
    auto* row = new QHBoxLayout;
    row->addStretch();
    auto* cancel = makeButton(tr("Cancel"));
    connect(cancel, &QPushButton::clicked, this, &QDialog::reject);
    row->addWidget(cancel);
    auto* keep = makeButton(tr("Save alerts"), {}, true);
    keep->setDefault(true);
    connect(keep, &QPushButton::clicked, this, &QDialog::accept);
    row->addWidget(keep);
    column->addLayout(row);
}

AlertWishes AlertsDialog::wishes() const
{
    AlertWishes wishes;
    for (const auto& [kind, box] : rules_) {
        if (!box->isChecked())
            wishes.rules.off.insert(kind);
    }
    wishes.rules.stallSeconds = stall_->value();
    wishes.rules.freeGiB = free_->value();
    wishes.rules.lossTooGood = good_->value();
    wishes.rules.repeatedShare = repeated_->value() / 100;
    wishes.desktop = desktop_->isChecked();
    wishes.command = command_->text().trimmed();
    return wishes;
}

} // namespace furrow
