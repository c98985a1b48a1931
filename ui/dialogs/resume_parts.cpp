#include "ui/dialogs/resume_parts.h"

#include "ui/models/core_words.h"
#include "ui/models/setting_words.h"
#include "ui/models/words.h"
#include "ui/parts/marks.h"
#include "ui/parts/form_field.h"
#include "ui/parts/page_parts.h"
#include "ui/widgets/plain_text.h"

#include <QButtonGroup>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QRadioButton>
#include <algorithm>
#include <map>

namespace furrow {

namespace {

constexpr int kColumns = 5;
constexpr int kFilesColumn = kColumns - 1;
constexpr int kMostUnusable = 6; // a disk that is away makes all of them unusable

QLabel* makeNumber(const QString& text)
{
    QLabel* label = makeLabel(text, TextTone::Value, TextSize::Small);
    label->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    return label;
}

/// Glyph and word, so that neither stands alone.
QWidget* makeVerdict(const QString& icon, Token colour, const QString& word)
{
    auto* box = new QWidget;
    auto* row = new QHBoxLayout(box);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(4);
    row->addWidget(new IconMark(icon, colour));
    row->addWidget(makeLabel(word, TextTone::Secondary, TextSize::Small), 1);
    return box;
}

} // namespace

Swatch::Swatch(CellKind kind)
    : kind_(kind)
{
    setFixedSize(22, 16);
    setAccessibleName(cellWord(kind));
}

void Swatch::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    CellLook look;
    look.kind = kind_;
    drawChunkCell(painter, QRectF(1, 1, 19, 13), look);
}

EpochTable::EpochTable(QWidget* parent)
    : QWidget(parent)
    , grid_(new QGridLayout(this))
{
    grid_->setContentsMargins(0, 4, 0, 0);
    grid_->setHorizontalSpacing(12);
    grid_->setVerticalSpacing(2);
    grid_->setColumnStretch(0, 1);
}

std::map<std::int64_t, EpochFates> fatesByEpoch(const ResumeEffect& effect, const std::vector<EpochRow>& earlier)
{
    std::map<std::int64_t, EpochFates> epochs;
    for (const ChunkId chunk : effect.redo)
        ++epochs[placeOf(chunk).epoch].redo;
    for (const auto& epoch : effect.epochs) {
        EpochFates& fates = epochs[epoch.epoch];
        fates.isWhole = true;
        for (const ChunkCell& cell : epoch.cells) {
            const ChunkFate fate = effect.fateOf(cell);
            fates.kept += fate == ChunkFate::Kept ? 1 : 0;
            fates.lost += fate == ChunkFate::Lost ? 1 : 0;
            fates.released += fate == ChunkFate::Released ? 1 : 0;
            fates.partly += fate == ChunkFate::Partly ? 1 : 0;
            fates.free += fate == ChunkFate::Free ? 1 : 0;
        }
    }
    for (const EpochRow& epoch : earlier) {
        const auto found = epochs.find(epoch.epoch);
        if (found == epochs.end() || found->second.isWhole)
            continue;
        found->second.isWhole = true;
        found->second.kept = epoch.chunks[ChunkState::Committed] - found->second.redo;
    }
    return epochs;
}

void EpochTable::show(const ResumeEffect& effect, const std::vector<EpochRow>& earlier)
{
    while (QLayoutItem* item = grid_->takeAt(0)) {
        delete item->widget();
        delete item;
    }
    const auto epochs = fatesByEpoch(effect, earlier);
    setVisible(epochs.size() > 1); // of one epoch the counts above say it
    int column = 0;
    for (const QString& title : { tr("Epoch"), tr("Kept"), tr("To be redone"), tr("Work lost"), tr("Released"),
             tr("Partly trained"), tr("Free") }) {
        QLabel* label = makeLabel(title, TextTone::Hint, TextSize::Tiny);
        label->setAlignment((column == 0 ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
        grid_->addWidget(label, 0, column++);
    }
    int row = 1;
    for (const auto& [epoch, fates] : epochs) {
        const auto known
            = [&fates = fates](std::int64_t count) { return fates.isWhole ? countText(count) : QStringLiteral("–"); };
        const QString texts[] = { known(fates.kept), countText(fates.redo), known(fates.lost), known(fates.released),
            known(fates.partly), known(fates.free) };
        QLabel* name = makeLabel(epochName(epoch), TextTone::Value, TextSize::Small);
        name->setAccessibleName(
            tr("%1: kept %2, to be redone %3, work lost %4, released %5, partly trained %6, free %7")
                .arg(epochName(epoch), texts[0], texts[1], texts[2], texts[3], texts[4], texts[5]));
        grid_->addWidget(name, row, 0);
        for (int i = 0; i < static_cast<int>(std::size(texts)); ++i)
            grid_->addWidget(makeNumber(texts[i]), row, i + 1);
        ++row;
    }
}

CheckpointChoices::CheckpointChoices(const ResumePlan& plan, QWidget* parent)
    : QWidget(parent)
    , plan_(plan)
    , grid_(new QGridLayout(this))
    , group_(new QButtonGroup(this))
{
    grid_->setContentsMargins(4, 0, 4, 4);
    grid_->setHorizontalSpacing(12);
    grid_->setVerticalSpacing(4);
    grid_->setColumnStretch(0, 1);
    addHeader();
    addNewest();
    for (const auto& choice : plan_.checkpoints)
        if (choice.row.record.evalLoss
            && (best_ == nullptr || *choice.row.record.evalLoss < *best_->row.record.evalLoss))
            best_ = &choice;
    addUsable();
    addUnusable();
    for (QAbstractButton* button : group_->buttons())
        button->setProperty(
            "keepsWords", true); // letters below numbers of a list say nothing; the arrow keys go through it
    connect(group_, &QButtonGroup::idToggled, this, qOverload<>(&QWidget::update));
    connect(group_, &QButtonGroup::idClicked, this, &CheckpointChoices::changed);
}

void CheckpointChoices::addUsable()
{
    for (auto choice = plan_.checkpoints.rbegin(); choice != plan_.checkpoints.rend(); ++choice)
        if (choice->canBeChosen
            && (choice->redo.size() != plan_.effect.redo.size()
                || choice->partsLost.size() != plan_.effect.partsLost.size())) // else it is what the first line says
            addRow(*choice);
}

/// A file may be there again, so these are named; from what was left behind the run can never go on.
void CheckpointChoices::addUnusable()
{
    int leftBehind = 0;
    int unusable = 0;
    for (auto choice = plan_.checkpoints.rbegin(); choice != plan_.checkpoints.rend(); ++choice) {
        if (choice->canBeChosen)
            continue;
        if (choice->verified)
            ++leftBehind;
        else if (++unusable <= kMostUnusable)
            addRow(*choice);
    }
    if (unusable > kMostUnusable)
        addCount(tr("%Ln more checkpoint(s) damaged or not readable", nullptr, unusable - kMostUnusable));
    if (leftBehind > 0)
        addCount(
            tr("%Ln checkpoint(s) left behind: the weights of the run did not grow from them", nullptr, leftBehind));
}

void CheckpointChoices::addCount(const QString& text)
{
    QLabel* label = makeLabel(text, TextTone::Hint, TextSize::Small);
    label->setWordWrap(true);
    grid_->addWidget(label, grid_->rowCount(), 0, 1, kColumns);
}

void CheckpointChoices::addHeader()
{
    const QString titles[]
        = { tr("Checkpoint"), tr("Before the stop"), tr("Chunks trained again"), tr("Eval loss"), tr("Files") };
    static_assert(std::size(titles) == kColumns);
    for (int column = 0; column < kColumns; ++column) {
        QLabel* title = makeLabel(titles[column], TextTone::Hint, TextSize::Tiny);
        title->setAlignment((column >= 1 && column < kFilesColumn ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
        grid_->addWidget(title, 0, column);
    }
}

void CheckpointChoices::addCells(const QString& age, std::int64_t again, const std::optional<double>& evalLoss)
{
    const int row = grid_->rowCount() - 1;
    const QString texts[] = { age, countText(again), evalLoss ? fixedText(*evalLoss, 3) : QStringLiteral("–") };
    for (int i = 0; i < static_cast<int>(std::size(texts)); ++i)
        grid_->addWidget(makeNumber(texts[i]), row, i + 1);
}

// Workers that outlive their supervisor save what they have: such a checkpoint is newer than the last sign of the run.
QString CheckpointChoices::beforeTheStop(std::int64_t wallNs) const
{
    const double seconds = static_cast<double>(plan_.endedWallNs - wallNs) * 1e-9;
    return seconds < 1 ? tr("at the stop") : durationText(seconds);
}

QString CheckpointChoices::effectText(std::int64_t again)
{
    const int chunks = static_cast<int>(again); // lupdate does not read past a cast
    return tr("trains %Ln chunk(s) again", nullptr, chunks);
}

void CheckpointChoices::addNewest()
{
    auto* button = new QRadioButton(tr("The newest of each replica"));
    button->setChecked(true);
    button->setAccessibleDescription(effectText(plan_.effect.again()));
    group_->addButton(button, 0);
    rows_.push_back(nullptr);
    grid_->addWidget(button, grid_->rowCount(), 0);
    std::int64_t newest = 0;
    std::optional<double> loss;
    for (const auto& choice : plan_.checkpoints) {
        if (!choice.row.head || !choice.verified)
            continue;
        loss = newest == 0 ? choice.row.record.evalLoss : std::nullopt; // several replicas have no one loss
        newest = std::max(newest, choice.row.wallNs);
    }
    addCells(newest == 0 ? QStringLiteral("–") : beforeTheStop(newest), plan_.effect.again(), loss);
    grid_->addWidget(newest == 0 ? makeVerdict(QStringLiteral("info"), Token::Info, tr("Start weights"))
                                 : makeVerdict(QStringLiteral("check"), Token::Ok, tr("Verified")),
        grid_->rowCount() - 1, kFilesColumn);
}

void CheckpointChoices::addRow(const ResumePlan::CheckpointChoice& choice)
{
    const bool isMerge = choice.row.record.kind == CheckpointKind::Merge;
    QString name = isMerge ? tr("%1, merge").arg(choice.row.id.value)
                           : tr("%1, replica %2").arg(choice.row.id.value).arg(choice.row.record.replica);
    if (&choice == best_)
        name = tr("%1, best").arg(name);
    const std::int64_t again = choice.canBeChosen ? plan_.effect.againWhenLeaving(choice.redo, choice.partsLost) : 0;
    auto* button = new QRadioButton(name);
    button->setEnabled(choice.canBeChosen);
    button->setToolTip(
        choice.canBeChosen ? QString::fromStdString(choice.row.record.folder) : coreWords(choice.problem));
    button->setAccessibleDescription(choice.canBeChosen ? effectText(again) : button->toolTip());
    group_->addButton(button, static_cast<int>(rows_.size()));
    rows_.push_back(&choice);
    grid_->addWidget(button, grid_->rowCount(), 0);
    const int row = grid_->rowCount() - 1;
    if (choice.canBeChosen) {
        addCells(beforeTheStop(choice.row.wallNs), again, choice.row.record.evalLoss);
        grid_->addWidget(makeVerdict(QStringLiteral("check"), Token::Ok, tr("Verified")), row, kFilesColumn);
        return;
    }
    QWidget* verdict
        = makeVerdict(QStringLiteral("warning"), Token::Error, choice.damaged ? tr("Damaged") : tr("Cannot be read"));
    verdict->setToolTip(button->toolTip());
    grid_->addWidget(verdict, row, kFilesColumn);
}

void CheckpointChoices::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    for (int row = 0; row < grid_->rowCount(); ++row) {
        const QRect cell = grid_->cellRect(row, 0);
        const QRect area(
            0, cell.top() - grid_->verticalSpacing() / 2, width(), cell.height() + grid_->verticalSpacing());
        if (row == group_->checkedId() + 1) // the header is above them
            painter.fillRect(area, palette().color(QPalette::Highlight));
        painter.fillRect(area.left(), area.bottom(), area.width(), 1, theme().color(Token::Line));
    }
}

const ResumePlan::CheckpointChoice* CheckpointChoices::chosen() const
{
    return rows_[static_cast<std::size_t>(std::max(0, group_->checkedId()))];
}

QWidget* CheckpointChoices::chosenRow() const { return group_->checkedButton(); }

int CheckpointChoices::rowCount() const { return grid_->rowCount(); }

ChangedSettings::ChangedSettings(QWidget* parent)
    : QWidget(parent)
    , grid_(new QGridLayout(this))
{
    grid_->setContentsMargins(0, 0, 0, 0);
    grid_->setHorizontalSpacing(12);
    grid_->setVerticalSpacing(4);
    grid_->setColumnStretch(0, 1);
    show({});
}

void ChangedSettings::show(const std::vector<ConfigChange>& changes)
{
    while (QLayoutItem* item = grid_->takeAt(0)) {
        delete item->widget();
        delete item;
    }
    if (changes.empty())
        grid_->addWidget(makeLabel(tr("No setting is changed."), TextTone::Secondary, TextSize::Small), 0, 0);
    int row = 0;
    for (const ConfigChange& change : changes) {
        const bool safe = change.setting->resume == ResumeRule::Safe;
        grid_->addWidget(makeLabel(settingLabel(*change.setting), TextTone::Value, TextSize::Small), row, 0);
        QLabel* values = makeLabel(
            QStringLiteral("<s>%1</s> &nbsp;%2 %3")
                .arg(QString::fromStdString(change.before).toHtmlEscaped(),
                    QString::fromStdString(change.after).toHtmlEscaped(), settingUnit(*change.setting).toHtmlEscaped()),
            TextTone::Value, TextSize::Small);
        makeRich(*values);
        values->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
        values->setAccessibleName(
            tr("from %1 to %2").arg(QString::fromStdString(change.before), QString::fromStdString(change.after)));
        grid_->addWidget(values, row, 1);
        grid_->addWidget(safe ? makeVerdict(QStringLiteral("check"), Token::Ok, tr("Safe"))
                              : makeVerdict(QStringLiteral("warning"), Token::Warn,
                                    tr("Not safe: curves before and after cannot be compared")),
            row, 2);
        ++row;
    }
}

} // namespace furrow
