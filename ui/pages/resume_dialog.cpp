#include "ui/pages/resume_dialog.h"

#include "ui/charts/coverage_map.h"
#include "ui/models/run_tables.h"
#include "ui/models/words.h"
#include "ui/pages/new_run/form_field.h"
#include "ui/pages/page_parts.h"
#include "ui/widgets/chunk_cell.h"

#include <QClipboard>
#include <QCoreApplication>
#include <QFormLayout>
#include <QGridLayout>
#include <QGuiApplication>
#include <QHeaderView>
#include <QLineEdit>
#include <QPainter>
#include <QPushButton>
#include <QScrollArea>
#include <QTableView>
#include <QVBoxLayout>

namespace furrow {

namespace {

/// Settings that one most often wants to change for another attempt.
constexpr const char* kOffered[] = { "devices", "workers", "epochs", "steps", "tokens", "hours", "checkpoint_minutes", "eval_steps" };

constexpr std::size_t kShownCheckpoints = 6;

QString choiceState(const ResumePlan::CheckpointChoice& choice)
{
    if (choice.verified)
        return QCoreApplication::translate("ResumeDialog", "verified");
    return choice.row.damaged ? QCoreApplication::translate("ResumeDialog", "damaged") : QString::fromStdString(choice.problem);
}

std::vector<TableColumn<ResumePlan::CheckpointChoice>> choiceColumns()
{
    using C = ResumePlan::CheckpointChoice;
    const auto title = [](const char* text) { return [text] { return QCoreApplication::translate("ResumeDialog", text); }; };
    return {
        { title(QT_TRANSLATE_NOOP("ResumeDialog", "Checkpoint")), [](const C& c) { return countText(c.row.id.value); }, {}, false, {} },
        { title(QT_TRANSLATE_NOOP("ResumeDialog", "Of")),
            [](const C& c) {
                return c.row.record.kind == CheckpointKind::Merge ? QCoreApplication::translate("ResumeDialog", "merge")
                                                                  : QCoreApplication::translate("ResumeDialog", "replica %1").arg(c.row.record.replica);
            },
            {}, false, {} },
        { title(QT_TRANSLATE_NOOP("ResumeDialog", "Saved")), [](const C& c) { return wallTimeText(c.row.wallNs); }, {}, true, {} },
        { title(QT_TRANSLATE_NOOP("ResumeDialog", "Chunks")), [](const C& c) { return countText(c.kept); }, {}, true, {} },
        { title(QT_TRANSLATE_NOOP("ResumeDialog", "Eval loss")), [](const C& c) { return c.row.record.evalLoss ? fixedText(*c.row.record.evalLoss, 3) : QStringLiteral("–"); }, {}, true, {} },
        { title(QT_TRANSLATE_NOOP("ResumeDialog", "Files")), choiceState, {}, false,
            [](const C& c, int role) { return role == Qt::ToolTipRole ? QVariant(QString::fromStdString(c.problem)) : QVariant(); } },
    };
}

CellKind kindOf(ChunkState state)
{
    switch (state) {
    case ChunkState::Committed: return CellKind::Kept;
    case ChunkState::Trained: return CellKind::Lost;
    case ChunkState::Leased: return CellKind::Orphaned;
    case ChunkState::Excluded: return CellKind::Excluded;
    case ChunkState::Poisoned:
    case ChunkState::Accepted: return CellKind::Poisoned;
    default: return CellKind::Free;
    }
}

/// A chunk as the map draws it, for the lines of the dry run.
class Swatch : public QWidget {
public:
    explicit Swatch(CellKind kind)
        : kind_(kind)
    {
        setFixedSize(22, 16);
        setAccessibleName(cellWord(kind));
    }

protected:
    void paintEvent(QPaintEvent*) override
    {
        QPainter painter(this);
        CellLook look;
        look.kind = kind_;
        drawChunkCell(painter, QRectF(1, 1, 19, 13), look);
    }

private:
    CellKind kind_;
};

} // namespace

ResumeDialog::ResumeDialog(const QString& folder, const QString& runName, std::int64_t attempt, PlanPtr plan, const RunConfig& config, QWidget* parent)
    : QDialog(parent)
    , folder_(folder)
    , plan_(std::move(plan))
    , frozen_(config)
    , wanted_(config)
{
    setWindowTitle(attempt == 0 ? tr("Start %1").arg(runName) : tr("Resume %1").arg(runName));
    resize(std::min(1140, parent->width() - 40), std::min(760, parent->height() - 60));
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(buildHead(runName, attempt));
    column->addWidget(makeLine());
    auto* middle = new QHBoxLayout;
    middle->setSpacing(0);
    middle->addWidget(buildMap(), 1);
    middle->addWidget(makeLine(Qt::Vertical));
    middle->addWidget(buildSide(), 1);
    column->addLayout(middle, 1);
    column->addWidget(makeLine());
    column->addWidget(buildFoot(attempt));
    go_->setFocus(); // the map is looked at, the button is what Return and Space are for
}

QWidget* ResumeDialog::buildHead(const QString&, std::int64_t attempt)
{
    auto* head = new QWidget(this);
    auto* column = new QVBoxLayout(head);
    column->setContentsMargins(16, 12, 16, 12);
    const std::int64_t again = plan_->redo + plan_->workLost;
    const std::int64_t begun = plan_->kept + again + plan_->orphaned;
    const QString title = attempt == 0 ? tr("Attempt 1 begins with fresh weights")
                                       : tr("Attempt %1 keeps %2 of the %3 chunks begun").arg(attempt + 1).arg(countText(plan_->kept), countText(begun));
    column->addWidget(makeLabel(title, TextTone::Value, TextSize::Title, true));
    const QString rest = again == 0 ? tr("No chunk is trained again. Nothing changes until you press the button below.")
                                    : tr("%n chunk(s) are trained again; after that each is in the weights once. Nothing changes until you press the button below.", nullptr, static_cast<int>(again));
    QLabel* sentence = makeLabel(rest, TextTone::Secondary);
    sentence->setWordWrap(true);
    column->addWidget(sentence);
    return head;
}

QWidget* ResumeDialog::buildMap()
{
    auto* side = new QWidget(this);
    auto* column = new QVBoxLayout(side);
    column->setContentsMargins(16, 12, 8, 8);
    column->addWidget(makeLabel(tr("What happens to each chunk"), TextTone::Value, TextSize::Body, true));
    if (plan_->cells.empty()) {
        column->addWidget(makeLabel(tr("No chunk is known yet."), TextTone::Secondary));
        column->addStretch();
        return side;
    }
    auto* map = new CoverageMap(side);
    map->setFrameShape(QFrame::NoFrame);
    map->setMinimapVisible(false);
    map->setCells(plan_->cells);
    std::vector<CellKind> kinds;
    for (const ChunkCell& cell : plan_->cells)
        kinds.push_back(kindOf(cell.state));
    map->setKinds(std::move(kinds));
    map->setAccessibleName(tr("Map of %n chunk(s); the counts beside it say the same", nullptr, static_cast<int>(plan_->cells.size())));
    column->addWidget(map, 1);
    return side;
}

QWidget* ResumeDialog::buildSide()
{
    auto* inside = new QWidget;
    auto* column = new QVBoxLayout(inside);
    column->setContentsMargins(12, 12, 16, 12);
    column->setSpacing(8);
    addCounts(column);
    addCheckpoints(column);
    addSettings(column);
    column->addStretch();
    auto* scroll = new QScrollArea(this);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setWidgetResizable(true);
    scroll->setWidget(inside);
    return scroll;
}

void ResumeDialog::addCounts(QVBoxLayout* column)
{
    column->addWidget(makeLabel(tr("Dry run"), TextTone::Value, TextSize::Body, true));
    const struct {
        CellKind kind;
        std::int64_t count;
        QString name;
        QString meaning;
    } rows[] = {
        { CellKind::Kept, plan_->kept, tr("Kept"), tr("in checkpoints that are on disk and verified") },
        { CellKind::Redo, plan_->redo, tr("To be redone"), tr("only in a checkpoint that is damaged") },
        { CellKind::Lost, plan_->workLost, tr("Work lost"), tr("trained after the newest checkpoint; those weights are gone") },
        { CellKind::Orphaned, plan_->orphaned, tr("Orphaned claims released"), tr("claimed by workers that are gone, never finished") },
        { CellKind::Free, plan_->free, tr("Free"), tr("not claimed yet; %1 excluded and %2 poisoned stay so").arg(countText(plan_->excluded), countText(plan_->poisoned)) },
    };
    auto* grid = new QGridLayout;
    grid->setHorizontalSpacing(12);
    grid->setVerticalSpacing(2);
    grid->setColumnStretch(2, 1);
    int row = 0;
    for (const auto& line : rows) {
        grid->addWidget(makeLine(), row++, 0, 1, 3);
        grid->addWidget(new Swatch(line.kind), row, 0);
        QLabel* count = makeLabel(countText(line.count), TextTone::Value, TextSize::Body, true);
        count->setAlignment(Qt::AlignRight);
        count->setMinimumWidth(52);
        grid->addWidget(count, row, 1);
        grid->addWidget(makeLabel(line.name), row++, 2);
        QLabel* meaning = makeLabel(line.meaning, TextTone::Secondary, TextSize::Small);
        meaning->setWordWrap(true);
        grid->addWidget(meaning, row++, 2);
    }
    column->addLayout(grid);
    const std::int64_t sum = plan_->kept + plan_->redo + plan_->workLost + plan_->orphaned + plan_->free + plan_->excluded + plan_->poisoned;
    column->addWidget(makeLabel(tr("sum %1").arg(countText(sum)), TextTone::Secondary, TextSize::Small));
    for (const std::string& note : plan_->notes) {
        QLabel* text = makeLabel(QString::fromStdString(note), TextTone::Error, TextSize::Small);
        text->setWordWrap(true);
        column->addWidget(text);
    }
}

void ResumeDialog::addCheckpoints(QVBoxLayout* column)
{
    if (plan_->checkpoints.empty())
        return;
    column->addWidget(makeLabel(tr("Checkpoints"), TextTone::Value, TextSize::Body, true));
    QTableView* table = makeTable(tr("Checkpoints"));
    auto* model = new TableModel<ResumePlan::CheckpointChoice>(choiceColumns(), table);
    std::vector<ResumePlan::CheckpointChoice> newestFirst(plan_->checkpoints.rbegin(), plan_->checkpoints.rend());
    model->reset(std::move(newestFirst));
    table->setModel(model);
    table->resizeColumnsToContents();
    const auto rows = static_cast<int>(std::min<std::size_t>(plan_->checkpoints.size(), kShownCheckpoints));
    table->setFixedHeight(table->horizontalHeader()->height() + rows * table->verticalHeader()->defaultSectionSize() + 2); // whole rows
    column->addWidget(table);
}

void ResumeDialog::addSettings(QVBoxLayout* column)
{
    column->addWidget(makeLabel(tr("Settings from now on"), TextTone::Value, TextSize::Body, true));
    auto* form = new QFormLayout;
    form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
    for (const char* key : kOffered) {
        const Setting* setting = findSetting(key);
        auto* edit = new UnitEdit(settingUnit(*setting));
        edit->setText(QString::fromStdString(settingText(wanted_, *setting)));
        edit->setToolTip(settingHelp(*setting));
        edit->setAccessibleName(settingLabel(*setting));
        connect(edit, &QLineEdit::textEdited, this, [this, setting](const QString& text) { this->edit(*setting, text); });
        form->addRow(makeLabel(settingLabel(*setting), TextTone::Secondary, TextSize::Small), edit);
    }
    column->addLayout(form);
    changed_ = makeLabel({}, TextTone::Secondary, TextSize::Small);
    changed_->setWordWrap(true);
    column->addWidget(changed_);
    problem_ = makeLabel({}, TextTone::Error, TextSize::Small);
    problem_->setWordWrap(true);
    column->addWidget(problem_);
}

QWidget* ResumeDialog::buildFoot(std::int64_t attempt)
{
    auto* foot = new QWidget(this);
    auto* row = new QHBoxLayout(foot);
    row->setContentsMargins(16, 8, 16, 8);
    row->addStretch();
    auto* copy = makeButton(tr("Copy command"));
    connect(copy, &QPushButton::clicked, this, [this] { QGuiApplication::clipboard()->setText(command()); });
    row->addWidget(copy);
    auto* cancel = makeButton(tr("Cancel"));
    connect(cancel, &QPushButton::clicked, this, &QDialog::reject);
    row->addWidget(cancel);
    go_ = makeButton(attempt == 0 ? tr("Start as attempt 1") : tr("Resume as attempt %1").arg(attempt + 1), {}, true);
    go_->setDefault(true);
    connect(go_, &QPushButton::clicked, this, &QDialog::accept);
    row->addWidget(go_);
    return foot;
}

void ResumeDialog::edit(const Setting& setting, const QString& text)
{
    std::vector<ConfigProblem> wrong = setSetting(wanted_, setting, text.trimmed().toStdString());
    if (wrong.empty())
        wrong = refusedOnResume(frozen_, wanted_);
    if (wrong.empty())
        wrong = validate(wanted_);
    problem_->setText(QString::fromStdString(toString(wrong)).trimmed());
    go_->setEnabled(wrong.empty());
    QStringList lines;
    for (const ConfigChange& change : changes(frozen_, wanted_)) {
        const QString rule = change.setting->resume == ResumeRule::Safe ? tr("safe") : tr("curves before and after cannot be compared");
        lines.append(tr("%1: %2 → %3 (%4)").arg(settingLabel(*change.setting), QString::fromStdString(change.before), QString::fromStdString(change.after), rule));
    }
    changed_->setText(lines.join(QLatin1Char('\n')));
}

QString ResumeDialog::command() const
{
    QString line = QStringLiteral("furrowctl resume '%1'").arg(folder_);
    for (const ConfigChange& change : changes(frozen_, wanted_))
        line += QStringLiteral(" %1 '%2'").arg(QString::fromStdString(change.setting->option()), QString::fromStdString(change.after));
    return line;
}

} // namespace furrow
