#include "ui/shell/alerts_dialog.h"

#include "ui/parts/number_field.h"
#include "ui/parts/page_parts.h"

#include <QCheckBox>
#include <QGridLayout>
#include <QLineEdit>
#include <QPushButton>
#include <QVBoxLayout>
#include <map>

namespace furrow {

namespace {

constexpr AlertKind kKinds[] = { AlertKind::Finished, AlertKind::Interrupted, AlertKind::Failed, AlertKind::NotANumber,
    AlertKind::Spike, AlertKind::Stalled, AlertKind::OutOfMemory, AlertKind::RepeatedData, AlertKind::LossTooGood,
    AlertKind::Duplicate, AlertKind::DiskSpace, AlertKind::WorkerDied, AlertKind::CheckpointsAway,
    AlertKind::CheckpointsStay, AlertKind::DataAway, AlertKind::LeftOut };

NumberField* makeNumber(AlertKind kind, double value, const NumberRange& range, const QString& unit)
{
    auto* field = new NumberField(alertWord(kind), range, value, unit);
    field->setFixedWidth(130);
    return field;
}

} // namespace

AlertsDialog::AlertsDialog(const AlertWishes& wishes, QWidget* parent)
    : QDialog(parent)
    , before_(wishes)
    , stall_(makeNumber(
          AlertKind::Stalled, wishes.rules.stallSeconds, { .isWhole = true, .least = 0, .most = 86400 }, tr("s")))
    , free_(makeNumber(AlertKind::DiskSpace, wishes.rules.freeGiB, { .least = 0, .most = 100000 }, tr("GiB")))
    , good_(makeNumber(AlertKind::LossTooGood, wishes.rules.lossTooGood, { .least = 0, .most = 10 }, tr("nats")))
    , repeated_(
          makeNumber(AlertKind::RepeatedData, wishes.rules.repeatedShare * 100, { .least = 0, .most = 100 }, tr("%")))
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
    const std::map<AlertKind, std::pair<QString, NumberField*>> numbers {
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
        connect(box, &QCheckBox::toggled, this, &AlertsDialog::judge);
        connect(number->second.second, &NumberField::valueChanged, this, &AlertsDialog::judge);
        number->second.second->setEnabled(box->isChecked());
    }
    column->addLayout(grid);
    problem_ = makeLabel({}, TextTone::Error, TextSize::Small);
    problem_->setWordWrap(true);
    problem_->hide();
    column->addWidget(problem_);
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
    keep_ = makeButton(tr("Save alerts"), {}, true);
    keep_->setDefault(true);
    connect(keep_, &QPushButton::clicked, this, &QDialog::accept);
    row->addWidget(keep_);
    column->addLayout(row);
}

void AlertsDialog::judge()
{
    QStringList wrong;
    for (const NumberField* field : { stall_, free_, good_, repeated_ })
        if (field->isEnabled() && !field->value())
            wrong.append(field->problem());
    problem_->setText(wrong.join(QLatin1Char('\n')));
    problem_->setVisible(!wrong.isEmpty());
    keep_->setEnabled(wrong.isEmpty());
}

AlertWishes AlertsDialog::wishes() const
{
    AlertWishes wishes = before_;
    wishes.rules.off.clear();
    for (const auto& [kind, box] : rules_) {
        if (!box->isChecked())
            wishes.rules.off.insert(kind);
    }
    wishes.rules.stallSeconds = stall_->value().value_or(wishes.rules.stallSeconds);
    wishes.rules.freeGiB = free_->value().value_or(wishes.rules.freeGiB);
    wishes.rules.lossTooGood = good_->value().value_or(wishes.rules.lossTooGood);
    wishes.rules.repeatedShare = repeated_->value().value_or(wishes.rules.repeatedShare * 100) / 100;
    wishes.desktop = desktop_->isChecked();
    wishes.command = command_->text().trimmed();
    return wishes;
}

} // namespace furrow
