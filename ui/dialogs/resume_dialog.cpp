#include "ui/dialogs/resume_dialog.h"

#include "core/config/option_term.h"
#include "core/run/start/limit_reached.h"
#include "core/device/placement.h"
#include "ui/charts/coverage_map.h"
#include "ui/models/auto_resume.h"
#include "ui/models/core_words.h"
#include "ui/models/run_form.h"
#include "ui/models/setting_words.h"
#include "ui/models/words.h"
#include "ui/parts/marks.h"
#include "ui/parts/form_field.h"
#include "ui/parts/overflow.h"
#include "ui/parts/page_parts.h"
#include "ui/dialogs/rate_preview.h"
#include "ui/dialogs/resume_parts.h"
#include "ui/widgets/elided_combo.h"

#include <QCheckBox>
#include <QComboBox>
#include <QClipboard>
#include <QFormLayout>
#include <QGridLayout>
#include <QGuiApplication>
#include <QLineEdit>
#include <QLocale>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QSignalBlocker>
#include <QVBoxLayout>
#include <algorithm>
#include <set>

namespace furrow {

namespace {

/// Settings that one most often wants to change for another attempt.
constexpr const char* kOffered[] = { "devices", "workers", "epochs", "iterate", "steps", "tokens", "hours",
    "checkpoint_minutes", "eval_steps", "bad_files", "max_unreadable_percent" };

CellKind kindOf(ChunkFate fate)
{
    switch (fate) {
    case ChunkFate::Kept: return CellKind::Kept;
    case ChunkFate::Redo: return CellKind::Redo;
    case ChunkFate::Lost: return CellKind::Lost;
    case ChunkFate::Released: return CellKind::Orphaned;
    case ChunkFate::Excluded:
    case ChunkFate::Parents: return CellKind::Excluded;
    case ChunkFate::Poisoned: return CellKind::Poisoned;
    case ChunkFate::Partly: return CellKind::Partly;
    case ChunkFate::Free: break;
    }
    return CellKind::Free;
}

} // namespace

ResumeDialog::ResumeDialog(const QString& folder, const QString& runName, std::int64_t attempt, PlanPtr plan,
    const RunConfig& config, QWidget* parent)
    : QDialog(parent)
    , folder_(folder)
    , attempt_(attempt)
    , plan_(std::move(plan))
    , frozen_(config)
    , wanted_(config)
{
    setWindowTitle(attempt == 0 ? tr("Start %1").arg(runName) : tr("Resume %1").arg(runName));
    resize(std::min(1140, parent->width() - 40), std::min(760, parent->height() - 60));
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(buildHead());
    column->addWidget(makeLine());
    auto* middle = new QHBoxLayout;
    middle->setSpacing(0);
    QWidget* map = buildMap();
    QWidget* line = makeLine(Qt::Vertical);
    middle->addWidget(map, 1);
    middle->addWidget(line);
    middle->addWidget(buildSide(), 1);
    column->addLayout(middle, 1);
    column->addWidget(makeLine());
    column->addWidget(buildFoot());
    const bool hasRoom = minimumSizeHint().width() <= roomOnScreen(*this).width();
    map->setVisible(hasRoom); // the counts say the same
    line->setVisible(hasRoom);
    showChoice();
    if (!refuseChangedData(plan_->data, wanted_).ok())
        more_->click(); // the setting that it names is in sight
    go_->setFocus(); // the map is looked at, the button is what Return and Space are for
}

QWidget* ResumeDialog::buildHead()
{
    auto* head = new QFrame(this);
    head->setProperty("edge", true);
    auto* column = new QVBoxLayout(head);
    column->setContentsMargins(16, 12, 16, 12);
    title_ = makeLabel({}, TextTone::Value, TextSize::Title, true);
    column->addWidget(title_);
    sentence_ = makeLabel({}, TextTone::Secondary);
    sentence_->setWordWrap(true);
    column->addWidget(sentence_);
    why_ = makeLabel({}, TextTone::Error); // why the button is closed is in sight wherever the rest is scrolled to
    why_->setWordWrap(true);
    why_->hide();
    column->addWidget(why_);
    return head;
}

QWidget* ResumeDialog::buildMap()
{
    auto* side = new QWidget(this);
    auto* column = new QVBoxLayout(side);
    column->setContentsMargins(16, 12, 8, 8);
    column->addWidget(makeLabel(tr("What happens to each chunk"), TextTone::Value, TextSize::Body, true));
    const auto& epochs = plan_->effect.epochs;
    if (std::all_of(epochs.begin(), epochs.end(), [](const auto& epoch) { return epoch.cells.empty(); })) {
        column->addWidget(makeLabel(tr("No chunk is known yet."), TextTone::Secondary));
        column->addStretch();
        return side;
    }
    map_ = new CoverageMap(side);
    map_->setFrameShape(QFrame::NoFrame);
    map_->setMinimapVisible(false);
    epoch_ = new ElidedCombo(side);
    epoch_->setAccessibleName(tr("Epoch of the map"));
    epoch_->setSizeAdjustPolicy(QComboBox::AdjustToContents); // other choices come with other checkpoints
    connect(epoch_, &QComboBox::currentIndexChanged, this, &ResumeDialog::showMap);
    connect(&reopenedReader_, &EpochReader::cellsRead, this, [this](const CellsPtr& read) {
        reopened_[read->epoch] = read->cells;
        showMap();
    });
    column->addWidget(epoch_, 0, Qt::AlignLeft);
    ofOne_ = makeLabel(
        tr("The counts are of all these epochs together, the map is of one."), TextTone::Hint, TextSize::Small);
    ofOne_->setWordWrap(true);
    column->addWidget(ofOne_);
    column->addWidget(map_, 1);
    notOnMap_ = makeLabel({}, TextTone::Secondary, TextSize::Small);
    notOnMap_->setWordWrap(true);
    column->addWidget(notOnMap_);
    return side;
}

QWidget* ResumeDialog::buildSide()
{
    auto* inside = new QWidget;
    auto* column = new QVBoxLayout(inside);
    column->setContentsMargins(12, 12, 16, 12);
    column->setSpacing(8);
    addLoss(column);
    addCounts(column);
    addCheckpoints(column);
    addSettings(column);
    addRate(column);
    column->addStretch();
    auto* scroll = new QScrollArea(this);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setWidgetResizable(true);
    scroll->setWidget(inside);
    scroll->setMinimumWidth(
        inside->minimumSizeHint().width() + scroll->verticalScrollBar()->sizeHint().width()); // the map gives way
    return scroll;
}

void ResumeDialog::addLoss(QVBoxLayout* column)
{
    loss_ = makeLabel({}, TextTone::Error);
    loss_->setWordWrap(true);
    column->addWidget(loss_);
    acceptLoss_ = new QCheckBox;
    connect(acceptLoss_, &QCheckBox::toggled, this, &ResumeDialog::enableGo);
    column->addWidget(acceptLoss_);
}

bool ResumeDialog::needsYes() const
{
    const auto* chosen = choices_ == nullptr ? nullptr : choices_->chosen();
    return chosen == nullptr ? !plan_->loss.empty() : !chosen->loss.empty();
}

bool ResumeDialog::acceptsLoss() const { return needsYes() && acceptLoss_->isChecked(); }

void ResumeDialog::enableGo()
{
    const QString why = settingsAreRight_ ? endsAtOnce() : problem_->text();
    why_->setText(why);
    why_->setVisible(!why.isEmpty());
    go_->setEnabled(settingsAreRight_ && why.isEmpty() && (!needsYes() || acceptLoss_->isChecked()));
}

void ResumeDialog::setStatus(const RunStatus& status)
{
    status_ = status;
    if (status.state == RunState::Failed && advisesOptions(status.stopDetail)) {
        ended_->setText(tr("Attempt %1 failed: %2").arg(countText(status.attempt), coreWords(status.stopDetail)));
        ended_->show();
        more_->click(); // what it advises is in sight
    }
    showChoice();
}

/// What would end at once is not begun.
QString ResumeDialog::endsAtOnce() const
{
    const QString limit = limitReached();
    const Status changed = refuseChangedData(plan_->data, wanted_);
    return !limit.isEmpty() || changed.ok() ? limit : coreWords(changed.error().message);
}

/// Follows the choice of where to go on from, and the setting bad_files.
void ResumeDialog::showData()
{
    data_->setText(coreWords(dataNotes(plan_->data, wanted_, effect())).join(QLatin1Char('\n')));
    data_->setVisible(!data_->text().isEmpty());
}

QString ResumeDialog::limitReached() const
{
    return status_ ? coreWords(limitInWords(furrow::limitReached(*status_, *plan_, wanted_,
                                                choices_ == nullptr ? nullptr : choices_->chosen()),
                         *status_, wanted_))
                   : QString();
}

bool ResumeDialog::isAnyOutOfReach() const
{
    return !plan_->loss.empty() || !plan_->data.look.asItWas.ok()
        || std::any_of(
            plan_->checkpoints.begin(), plan_->checkpoints.end(), [](const auto& choice) { return !choice.verified; });
}

void ResumeDialog::addCounts(QVBoxLayout* column)
{
    column->addWidget(makeLabel(tr("Dry run"), TextTone::Value, TextSize::Body, true));
    const struct {
        CellKind kind;
        QString name;
        QString meaning; // "": it follows the choice, as the counts do
        QLabel** shown;
    } rows[] = {
        { CellKind::Kept, tr("Kept"), {}, &keptMeaning_ },
        { CellKind::Redo, tr("To be redone"), {}, &redoMeaning_ },
        { CellKind::Lost, tr("Work lost"), {}, &lostMeaning_ },
        { CellKind::Orphaned, tr("Orphaned claims released"), tr("claimed by workers that are gone, never begun"),
            nullptr },
        { CellKind::Partly, tr("Partly trained"),
            tr("a part of each is in checkpoints and kept; only the rest is trained, nothing of them again"), nullptr },
        { CellKind::Free, tr("Free"), {}, &freeMeaning_ },
    };
    auto* grid = new QGridLayout;
    grid->setHorizontalSpacing(12);
    grid->setVerticalSpacing(2);
    grid->setColumnStretch(2, 1);
    int row = 0;
    for (const auto& line : rows) {
        grid->addWidget(makeLine(), row++, 0, 1, 3);
        grid->addWidget(new Swatch(line.kind), row, 0);
        QLabel* count = makeLabel({}, TextTone::Value, TextSize::Body, true);
        count->setAlignment(Qt::AlignRight);
        count->setMinimumWidth(52);
        grid->addWidget(count, row, 1);
        counts_.push_back(count);
        grid->addWidget(makeLabel(line.name), row++, 2);
        QLabel* meaning = makeLabel(line.meaning, TextTone::Secondary, TextSize::Small);
        meaning->setWordWrap(true);
        grid->addWidget(meaning, row++, 2);
        if (line.shown != nullptr)
            *line.shown = meaning;
    }
    grid->addWidget(makeLine(), row, 0, 1, 3);
    column->addLayout(grid);
    epochs_ = new EpochTable;
    column->addWidget(epochs_);
    addTruth(column);
    for (const auto& note : plan_->notes) {
        QLabel* text = makeLabel(coreWords(note), TextTone::Error, TextSize::Small);
        text->setWordWrap(true);
        column->addWidget(text);
    }
    data_ = makeLabel({}, TextTone::Error, TextSize::Small);
    data_->setWordWrap(true);
    column->addWidget(data_);
}

/// What the audit proves of the ledger as it is; a resume only frees chunks, so it stays true.
void ResumeDialog::addTruth(QVBoxLayout* column)
{
    auto* row = new QHBoxLayout;
    row->setSpacing(6);
    const auto add = [row](const QString& text, bool good) {
        row->addWidget(
            new IconMark(good ? QStringLiteral("check") : QStringLiteral("warning"), good ? Token::Ok : Token::Error));
        QLabel* label = makeLabel(text, good ? TextTone::Secondary : TextTone::Error, TextSize::Small);
        row->addWidget(label);
        row->addSpacing(10);
        return label;
    };
    sum_ = add({}, true);
    if (plan_->twice)
        add(tr("chunks twice %1").arg(countText(*plan_->twice)), *plan_->twice == 0);
    if (plan_->missing)
        add(tr("missing %1").arg(countText(*plan_->missing)), *plan_->missing == 0);
    row->addStretch();
    column->addLayout(row);
}

QString ResumeDialog::partlyKeptWords(std::int64_t chunks)
{
    return tr("; of %1 of them a part is in checkpoints and kept").arg(countText(chunks));
}

/// In the order of their lines, with the sum below them. @param kept  those of epochs that open again included
void ResumeDialog::showCounts(std::int64_t kept)
{
    const ResumeEffect& effect = this->effect();
    const std::int64_t counts[] = { kept, std::ssize(effect.redo), effect[ChunkFate::Lost], effect[ChunkFate::Released],
        effect[ChunkFate::Partly], effect[ChunkFate::Free] };
    std::int64_t sum = effect[ChunkFate::Excluded] + effect[ChunkFate::Parents] + effect[ChunkFate::Poisoned];
    for (std::size_t i = 0; i < std::size(counts); ++i) {
        counts_[i]->setText(countText(counts[i]));
        sum += counts[i];
    }
    sum_->setText(tr("sum %1").arg(countText(sum)));
    QString keptWords = tr("in checkpoints that are on disk and verified");
    if (const auto untrained = effect.keptUntrained(); untrained > 0)
        keptWords += tr("; of these left out, their steps were not finite: %1").arg(countText(untrained));
    keptMeaning_->setText(keptWords);
    const std::int64_t partlyKept = effect.keptOfLost().chunks;
    QString lost = tr("trained or begun after the newest checkpoint; those weights are gone");
    if (!effect.partsLost.empty())
        lost = tr("trained or begun after the checkpoint; those weights are gone, or left behind");
    if (const int back = static_cast<int>(plan_->givenUp.wentBack); back > 0)
        lost += tr("; %Ln of them were left when the run went back to an older checkpoint", nullptr, back);
    if (const int damaged = static_cast<int>(plan_->givenUp.damaged); damaged > 0)
        lost += tr(
            "; %Ln of them were only in a checkpoint that was damaged, gone or left out of a merge", nullptr, damaged);
    if (partlyKept > 0)
        lost += partlyKeptWords(partlyKept);
    lostMeaning_->setText(lost);
    QString rest = tr("nobody holds them; %1 excluded and %2 poisoned or accepted stay so")
                       .arg(countText(effect[ChunkFate::Excluded]), countText(effect[ChunkFate::Poisoned]));
    if (const auto parents = effect[ChunkFate::Parents]; parents > 0)
        rest += tr("; trained by the parent run and left out here: %1").arg(countText(parents));
    if (!effect.triedAgain.empty())
        rest += tr("; chunks that are tried again because their files came wrong: %1")
                    .arg(countText(std::ssize(effect.triedAgain)));
    freeMeaning_->setText(rest);
}

/// A long list scrolls, so that the settings below it stay near.
QWidget* ResumeDialog::scrolledChoices()
{
    constexpr int kRowsInSight = 13; // with the header
    if (choices_->rowCount() <= kRowsInSight)
        return choices_;
    auto* scroll = new QScrollArea;
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setWidgetResizable(true);
    scroll->setWidget(choices_);
    scroll->setFixedHeight(choices_->sizeHint().height() * kRowsInSight / choices_->rowCount());
    scroll->setMinimumWidth(choices_->minimumSizeHint().width() + scroll->verticalScrollBar()->sizeHint().width());
    connect(choices_, &CheckpointChoices::changed, scroll,
        [this, scroll] { scroll->ensureWidgetVisible(choices_->chosenRow()); }); // the arrow keys go through it
    return scroll;
}

void ResumeDialog::addCheckpoints(QVBoxLayout* column)
{
    if (plan_->checkpoints.empty())
        return;
    column->addSpacing(4);
    column->addWidget(makeLabel(tr("Start from"), TextTone::Value, TextSize::Body, true));
    choices_ = new CheckpointChoices(*plan_);
    connect(choices_, &CheckpointChoices::changed, this, &ResumeDialog::showChoice);
    column->addWidget(scrolledChoices());
    QLabel* meaning = makeLabel(
        tr("From an older checkpoint, what is newer leaves the weights: its chunks are free again and are trained once more. The files stay for sampling and new runs."),
        TextTone::Hint, TextSize::Small);
    meaning->setWordWrap(true);
    column->addWidget(meaning);
}

std::optional<CheckpointId> ResumeDialog::goBackTo() const
{
    const auto* chosen = choices_ == nullptr ? nullptr : choices_->chosen();
    return chosen == nullptr ? std::nullopt : std::optional(chosen->row.id);
}

void ResumeDialog::showChoice()
{
    const auto* chosen = choices_ == nullptr ? nullptr : choices_->chosen();
    older_ = chosen == nullptr ? std::nullopt : std::optional(plan_->effectOf(*chosen));
    const std::vector<EpochRow> all = status_ ? status_->epochs : std::vector<EpochRow> {};
    const std::int64_t kept = chosen == nullptr ? plan_->effect[ChunkFate::Kept] : chosen->kept;
    const std::int64_t redo = std::ssize(effect().redo);
    const std::int64_t lost = effect()[ChunkFate::Lost];
    showCounts(kept);
    epochs_->show(effect(), all);
    QString redoWords = chosen == nullptr
        ? tr("only in a checkpoint that is damaged or cannot be read")
        : tr("trained after checkpoint %1, or only in one that is incomplete").arg(chosen->row.id.value);
    if (const auto inPart = effect().keptOfRedo().chunks; inPart > 0)
        redoWords += partlyKeptWords(inPart);
    redoMeaning_->setText(redoWords);
    loss_->setText(chosen == nullptr ? coreWords(plan_->loss) : coreWords(chosen->loss));
    loss_->setVisible(needsYes());
    acceptLoss_->setVisible(needsYes());
    const int redoCount = static_cast<int>(redo); // lupdate does not read past a cast
    acceptLoss_->setText(redoCount > 0 ? tr("I accept that %n chunk(s) are trained again", nullptr, redoCount)
                                       : tr("I accept that the run goes on without it"));
    enableGo();
    offerEpochs();
    showMap();
    const std::int64_t partly = effect()[ChunkFate::Partly];
    const int begun = static_cast<int>(kept + redo + lost + partly);
    if (attempt_ == 0)
        title_->setText(tr("Attempt 1 begins with fresh weights"));
    else if (chosen == nullptr)
        title_->setText(tr("Attempt %1 keeps %2 of the %Ln chunk(s) of %3 that were trained or begun", nullptr, begun)
                .arg(attempt_ + 1)
                .arg(countText(kept), epochsInTitle()));
    else
        title_->setText(
            tr("Attempt %1 starts from checkpoint %2 and keeps %3 of the %Ln chunk(s) of %4 that were trained or begun",
                nullptr, begun)
                .arg(attempt_ + 1)
                .arg(chosen->row.id.value)
                .arg(countText(kept), epochsInTitle()));
    const auto again = redo + lost;
    const int againCount = static_cast<int>(again); // lupdate does not read past a cast
    QStringList words;
    if (again == 0)
        words.append(tr("No chunk is trained again."));
    else if (plan_->secondsPerChunk > 0)
        words.append(
            tr("%n chunk(s) are trained again, about %1; after that each is in the weights once.", nullptr, againCount)
                .arg(durationText(plan_->secondsPerChunk * static_cast<double>(again))));
    else
        words.append(tr("%n chunk(s) are trained again; after that each is in the weights once.", nullptr, againCount));
    if (const auto inPart = effect().keptOfAgain(); inPart.chunks > 0)
        words.append(tr("Of %1 of these a part is kept (%2 of their %3 samples), and only the rest is trained.")
                .arg(countText(inPart.chunks), countText(inPart.samplesDone), countText(inPart.samples)));
    if (partly > 0)
        words.append(tr("Partly trained: %1; what is trained of them is kept.").arg(countText(partly)));
    if (endsAtOnce().isEmpty())
        words.append(tr("Nothing changes until you press the button below."));
    sentence_->setText(words.join(QLatin1Char(' ')));
    showReplicas();
    showData();
    showRate();
}

/// Those that are open or opened again: what earlier ones trained is kept and not counted.
std::set<std::int64_t> ResumeDialog::epochsCounted() const
{
    std::set<std::int64_t> counted;
    for (const auto& epoch : effect().epochs)
        counted.insert(epoch.epoch);
    for (const ChunkId chunk : effect().redo)
        counted.insert(placeOf(chunk).epoch);
    return counted;
}

QString ResumeDialog::epochsInTitle() const
{
    const std::set<std::int64_t> counted = epochsCounted();
    return epochNames({ counted.begin(), counted.end() });
}

/// Of the choice. The epoch that is shown stays, where it is one of them.
void ResumeDialog::offerEpochs()
{
    if (map_ == nullptr)
        return;
    const QSignalBlocker quiet(epoch_);
    const QVariant shown
        = epoch_->count() == 0 ? QVariant::fromValue<qlonglong>(effect().epochs.front().epoch) : epoch_->currentData();
    epoch_->clear();
    for (const std::int64_t epoch : epochsCounted())
        epoch_->addItem(epochName(epoch), QVariant::fromValue<qlonglong>(epoch));
    epoch_->setCurrentIndex(std::max(0, epoch_->findData(shown)));
    epoch_->setVisible(epoch_->count() > 1);
    ofOne_->setVisible(epoch_->count() > 1);
}

/// The plan has none of epochs that only an older checkpoint opens again: they come when they have been read.
const std::vector<ChunkCell>& ResumeDialog::cellsOfMap(std::int64_t epoch)
{
    const auto& open = effect().epochs;
    const auto found = std::ranges::find(open, epoch, &ResumeEffect::Epoch::epoch);
    if (found != open.end())
        return found->cells;
    static const std::vector<ChunkCell> none;
    const auto read = reopened_.find(epoch);
    if (read != reopened_.end())
        return read->second;
    reopenedReader_.read(folder_, epoch);
    return none;
}

void ResumeDialog::showMap()
{
    if (map_ == nullptr)
        return;
    const std::int64_t epoch = epoch_->currentData().toLongLong();
    std::vector<ChunkCell> cells = cellsOfMap(epoch);
    std::vector<CellKind> kinds;
    for (ChunkCell& cell : cells) {
        kinds.push_back(kindOf(effect().fateOf(cell)));
        cell.covered = static_cast<std::int32_t>(effect().coveredThen(cell));
    }
    map_->setCells(cells);
    map_->setKinds(std::move(kinds));
    const int count = static_cast<int>(cells.size()); // lupdate does not read past a cast
    map_->setAccessibleName(epoch_->count() < 2
            ? tr("Map of %n chunk(s); the counts beside it say the same", nullptr, count)
            : tr("Map of %n chunk(s) of epoch %1; the counts beside it are of all open epochs", nullptr, count)
                  .arg(epoch + 1));
    sayWhatIsNotOnMap(epoch);
}

void ResumeDialog::sayWhatIsNotOnMap(std::int64_t shown)
{
    std::map<std::int64_t, std::int64_t> elsewhere; // epoch -> chunks
    for (const ChunkId chunk : effect().redo)
        if (const std::int64_t epoch = placeOf(chunk).epoch; epoch != shown)
            ++elsewhere[epoch];
    int chunks = 0;
    QStringList names;
    for (const auto& [epoch, count] : elsewhere) {
        chunks += static_cast<int>(count);
        names.append(epochName(epoch).toLower());
    }
    notOnMap_->setText(tr("Not on this map: %Ln chunk(s) of %1, to be redone too.", nullptr, chunks)
            .arg(QLocale().createSeparatedList(names)));
    notOnMap_->setVisible(chunks > 0);
}

void ResumeDialog::addSettings(QVBoxLayout* column)
{
    column->addSpacing(4);
    column->addWidget(makeLabel(tr("Changed for attempt %1").arg(attempt_ + 1), TextTone::Value, TextSize::Body, true));
    ended_ = makeLabel({}, TextTone::Error, TextSize::Small);
    ended_->setWordWrap(true);
    ended_->hide();
    column->addWidget(ended_);
    more_ = makeButton(tr("Change settings or devices…"));
    more_->setProperty("link", true);
    column->addWidget(more_, 0, Qt::AlignLeft);
    auto* fields = new QWidget;
    fields->hide();
    connect(more_, &QPushButton::clicked, fields, &QWidget::show);
    connect(more_, &QPushButton::clicked, more_, &QWidget::hide);
    auto* form = new QFormLayout(fields);
    form->setContentsMargins(0, 0, 0, 0);
    form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
    for (const char* key : kOffered) {
        const Setting* setting = findSetting(key);
        form->addRow(makeLabel(settingLabel(*setting), TextTone::Secondary, TextSize::Small), buildField(*setting));
    }
    column->addWidget(fields);
    changed_ = new ChangedSettings; // below the fields: they stay where the pointer is
    column->addWidget(changed_);
    replicas_ = makeLabel({}, TextTone::Secondary, TextSize::Small);
    problem_ = makeLabel({}, TextTone::Error, TextSize::Small);
    for (QLabel* line : { replicas_, problem_ }) {
        line->setWordWrap(true);
        line->hide();
        column->addWidget(line);
    }
}

QWidget* ResumeDialog::buildField(const Setting& setting)
{
    const QString value = QString::fromStdString(settingText(wanted_, setting));
    QWidget* field = nullptr;
    if (const auto* flag = std::get_if<bool RunConfig::*>(&setting.field)) {
        auto* check = new QCheckBox;
        check->setChecked(wanted_.**flag);
        connect(check, &QCheckBox::toggled, this,
            [this, &setting](bool on) { edit(setting, on ? QStringLiteral("true") : QStringLiteral("false")); });
        field = check;
    } else if (setting.choices.empty()) {
        auto* typed = new UnitEdit(settingUnit(setting));
        typed->setText(FormField::shownValue(setting, value));
        connect(typed, &QLineEdit::textEdited, this, [this, &setting](const QString& text) { edit(setting, text); });
        field = typed;
    } else {
        auto* choice = new ElidedCombo;
        for (const SettingChoice& one : setting.choices)
            choice->addItem(settingChoice(setting, one.value), QString::fromStdString(one.value));
        choice->setCurrentIndex(choice->findData(value));
        connect(choice, &QComboBox::activated, this,
            [this, &setting, choice] { edit(setting, choice->currentData().toString()); });
        field = choice;
    }
    field->setToolTip(settingHelp(setting));
    field->setAccessibleName(settingLabel(setting));
    return field;
}

void ResumeDialog::addRate(QVBoxLayout* column)
{
    if (!plan_->rate.started)
        return;
    column->addSpacing(4);
    rate_ = new RatePreview(plan_->rate);
    column->addWidget(rate_);
}

void ResumeDialog::showRate()
{
    const auto* chosen = choices_ == nullptr ? nullptr : choices_->chosen();
    if (rate_ != nullptr)
        rate_->show(wanted_, chosen == nullptr ? plan_->redoTokens : chosen->redoTokens);
}

std::optional<RateChoice> ResumeDialog::rate() const { return rate_ == nullptr ? std::nullopt : rate_->choice(); }

void ResumeDialog::setAutoResume(bool wanted) { autoResume_->setChecked(wanted); }

bool ResumeDialog::isAutoResume() const { return autoResume_->isChecked(); }

QWidget* ResumeDialog::buildFoot()
{
    auto* foot = new QFrame(this);
    foot->setProperty("edge", true);
    auto* rows = new QVBoxLayout(foot);
    rows->setContentsMargins(16, 8, 16, 8);
    auto* row = new QHBoxLayout;
    rows->addLayout(row);
    autoResume_
        = new QCheckBox(tr("After an interruption, resume automatically, at most %1 times").arg(AutoResume::kLimit));
    row->addWidget(autoResume_);
    row->addStretch();
    if (isAnyOutOfReach()) {
        auto* again = makeButton(tr("Look again"));
        again->setToolTip(tr("Look at the checkpoints and the data once more: a disk may be back"));
        connect(again, &QPushButton::clicked, this, [this] { done(kLookAgain); });
        row->addWidget(again);
    }
    auto* copy = makeButton(tr("Copy command"));
    connect(copy, &QPushButton::clicked, this, [this] { QGuiApplication::clipboard()->setText(command()); });
    row->addWidget(copy);
    auto* cancel = makeButton(tr("Cancel"));
    connect(cancel, &QPushButton::clicked, this, &QDialog::reject);
    row->addWidget(cancel);
    go_ = makeButton(attempt_ == 0 ? tr("Start as attempt 1") : tr("Resume as attempt %1").arg(attempt_ + 1),
        QStringLiteral("resume"), true);
    go_->setDefault(true);
    connect(go_, &QPushButton::clicked, this, &QDialog::accept);
    row->addWidget(go_);
    if (foot->minimumSizeHint().width() > roomOnScreen(*this).width()) {
        row->removeWidget(autoResume_);
        rows->insertWidget(0, autoResume_);
    }
    return foot;
}

/// All fields are looked at, whichever was edited: one that holds nonsense keeps the button closed.
void ResumeDialog::edit(const Setting& setting, const QString& text)
{
    typed_[&setting] = text.trimmed();
    std::vector<ConfigProblem> wrong;
    for (const auto& [field, typed] : typed_)
        for (ConfigProblem& problem : setTyped(wanted_, *field, typed))
            wrong.push_back(std::move(problem));
    if (const auto placed = placeWorkersHere(wanted_); wrong.empty() && !placed.ok())
        wrong.push_back({ "devices", placed.error().message, {} });
    if (wrong.empty())
        wrong = refusedOnResume(frozen_, wanted_);
    if (wrong.empty())
        wrong = validate(wanted_);
    QStringList sentences;
    for (const ConfigProblem& problem : wrong) {
        const Setting* field = findSetting(problem.key);
        const auto typed = typed_.find(field);
        sentences.append(FormField::problemText(problem,
            typed != typed_.end()  ? typed->second
                : field != nullptr ? QString::fromStdString(settingText(wanted_, *field))
                                   : QString()));
    }
    problem_->setText(sentences.join(QLatin1Char('\n')));
    problem_->setVisible(!wrong.empty());
    settingsAreRight_ = wrong.empty();
    enableGo();
    changed_->show(changes(frozen_, wanted_));
    changed_->setVisible(wrong.empty()); // nothing is safe about a value that cannot be
    showReplicas();
    showData();
    showRate();
}

/// From an older checkpoint the heads are others, which nobody knows before.
void ResumeDialog::showReplicas()
{
    const bool isPlain = choices_ == nullptr || choices_->chosen() == nullptr;
    replicas_->setText(isPlain && settingsAreRight_ ? coreWords(replicasInWords(plan_->heads, wanted_)) : QString());
    replicas_->setVisible(!replicas_->text().isEmpty());
}

QString ResumeDialog::command() const
{
    QString line = QStringLiteral("furrowctl resume '%1'").arg(folder_);
    if (goBackTo())
        line += QStringLiteral(" --from-checkpoint '%1'")
                    .arg(QString::fromStdString(choices_->chosen()->row.record.folder));
    if (acceptsLoss())
        line += QStringLiteral(" --accept-loss");
    if (rate())
        line += QStringLiteral(" --rate-plan %1").arg(QString::fromStdString(toString(*rate())));
    for (const ConfigChange& change : changes(frozen_, wanted_))
        line += QStringLiteral(" %1 '%2'")
                    .arg(QString::fromStdString(change.setting->option()), QString::fromStdString(change.after));
    return line;
}

} // namespace furrow
