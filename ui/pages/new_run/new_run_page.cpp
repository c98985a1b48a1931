#include "ui/pages/new_run/new_run_page.h"

#include "core/base/path.h"
#include "core/config/list_text.h"
#include "core/run/start/new_run_folder.h"
#include "ui/models/core_words.h"
#include "ui/models/setting_words.h"
#include "ui/models/words.h"
#include "ui/models/workbench.h"
#include "ui/parts/ask_dialog.h"
#include "ui/models/error_text.h"
#include "ui/pages/new_run/checkpoint_picker.h"
#include "ui/pages/new_run/data_preview.h"
#include "ui/pages/new_run/device_picker.h"
#include "ui/pages/new_run/estimate_panel.h"
#include "ui/parts/flow_layout.h"
#include "ui/pages/new_run/form_group.h"
#include "ui/pages/new_run/hub_model_dialog.h"
#include "ui/pages/new_run/start_map.h"
#include "ui/parts/page_parts.h"
#include "ui/pages/torch_dialog.h"
#include "ui/parts/save_file.h"

#include <QCheckBox>
#include <QCoreApplication>
#include <QFileDialog>
#include <QListWidget>
#include <QPainter>
#include <QPushButton>
#include <QScrollArea>
#include <QShowEvent>
#include <QSplitter>
#include <QStyledItemDelegate>
#include <QTimer>
#include <QVBoxLayout>

namespace furrow {

namespace {

constexpr int kPresetWidth = 210;
constexpr int kLeastPresets = 150;
constexpr int kEstimateWidth = 376;
constexpr int kLeastForm = 350; // its fields in one column
constexpr int kPresetRow = 40;
constexpr int kHeadingRow = 30;
constexpr int kLeastField = 120; // in the header
constexpr int kProbeDelayMs = 500; // after the last key
constexpr int kProbeAgainMs = 5000; // while the data cannot be used

/// Where a basic setting stands in the form; advanced ones always fold under their own group.
SettingGroup shownUnder(const Setting& setting)
{
    if (setting.group == SettingGroup::Merging)
        return SettingGroup::Training;
    if (setting.group == SettingGroup::Evaluation)
        return SettingGroup::StopAndSave;
    return setting.group;
}

QString presetTitle(const Preset& preset) { return QCoreApplication::translate("Schema", preset.title.c_str()); }

bool needsNewProbe(const QString& key)
{
    const Setting* setting = findSetting(key.toStdString());
    return setting != nullptr && setting->group == SettingGroup::Data
        && key != QLatin1String("start_at"); // where a run begins is no other data
}

constexpr int kChoiceRole = Qt::UserRole; // which preset a row is; none: a heading, or a file that cannot be read
constexpr int kHeadingRole = Qt::UserRole + 1;

void addHeading(QListWidget& list, const QString& words)
{
    auto* item = new QListWidgetItem(words, &list);
    item->setData(kHeadingRole, true);
    item->setFlags(Qt::NoItemFlags); // keys pass over it
}

/// What an own preset is, said by the built-in one that it is nearest to.
QString nearestHint(const RunConfig& config)
{
    const Preset* nearest = nullptr;
    std::size_t least = 0;
    for (const Preset& preset : presets()) {
        const std::size_t different = changes(preset.config, config).size();
        if (nearest == nullptr || different < least) {
            nearest = &preset;
            least = different;
        }
    }
    return NewRunPage::tr("%1, %n other setting(s)", nullptr, static_cast<int>(least)).arg(presetTitle(*nearest));
}

/// Name, and below it a hint in quiet small letters. A heading has one line.
class PresetDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;
    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override
    {
        if (index.data(kHeadingRole).toBool())
            return { 0, kHeadingRow };
        return { 0,
            std::max(kPresetRow,
                QFontMetrics(option.font).height() + QFontMetrics(scaledFont(TextSize::Small)).height() + 8) };
    }
    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override
    {
        painter->save();
        if (index.data(kHeadingRole).toBool()) {
            painter->setFont(scaledFont(TextSize::Small));
            painter->setPen(option.palette.color(QPalette::PlaceholderText));
            painter->drawText(option.rect.adjusted(12, 6, -8, 0), Qt::AlignVCenter, index.data().toString());
            painter->restore();
            return;
        }
        const QStringList lines = index.data().toString().split(QLatin1Char('\n'));
        const bool chosen = option.state.testFlag(QStyle::State_Selected);
        if (chosen)
            painter->fillRect(option.rect, option.palette.color(QPalette::Highlight));
        const QRect area = option.rect.adjusted(12, 3, -8, -3);
        painter->setFont(option.font);
        painter->setPen(option.palette.color(
            option.state.testFlag(QStyle::State_Enabled) ? QPalette::Text : QPalette::PlaceholderText));
        painter->drawText(QRect(area.left(), area.top(), area.width(), area.height() / 2), Qt::AlignVCenter,
            QFontMetrics(option.font).elidedText(lines.value(0), Qt::ElideRight, area.width()));
        const QFont small = scaledFont(TextSize::Small);
        painter->setFont(small);
        painter->setPen(option.palette.color(chosen ? QPalette::Text : QPalette::PlaceholderText));
        painter->drawText(QRect(area.left(), area.center().y() + 1, area.width(), area.height() / 2), Qt::AlignVCenter,
            QFontMetrics(small).elidedText(lines.value(1), Qt::ElideRight, area.width()));
        painter->restore();
    }
};

} // namespace

NewRunPage::NewRunPage(Workbench& bench, QWidget* parent)
    : QWidget(parent)
    , bench_(bench)
    , probeTimer_(new QTimer(this))
{
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(buildHeader());
    column->addWidget(makeLine());
    auto* splitter = new QSplitter(this);
    splitter->setHandleWidth(1);
    splitter->setChildrenCollapsible(false);
    splitter->addWidget(buildPresets());
    splitter->addWidget(buildForm());
    estimate_ = new EstimatePanel(bench_, splitter);
    splitter->addWidget(estimate_);
    splitter->setSizes({ kPresetWidth, 840, kEstimateWidth });
    splitter->setStretchFactor(0, 0);
    splitter->setStretchFactor(1, 1);
    splitter->setStretchFactor(2, 0);
    column->addWidget(splitter, 1);
    probeTimer_->setSingleShot(true);
    connectAll();
    fillPresets();
    refresh();
    applyFilter();
    probeSoon();
}

QWidget* NewRunPage::buildHeader()
{
    auto* header = new QWidget(this);
    header->setFixedHeight(42);
    auto* row = new QHBoxLayout(header);
    row->setContentsMargins(12, 0, 12, 0);
    row->setSpacing(12);
    row->addWidget(makeLabel(tr("New run"), TextTone::Value, TextSize::Title, true));
    name_ = new QLineEdit(header);
    name_->setMinimumWidth(kLeastField);
    name_->setMaxLength(kMostNameCharacters);
    name_->setMaximumWidth(260);
    name_->setPlaceholderText(tr("Name (otherwise preset and data)"));
    name_->setAccessibleName(tr("Name of the run"));
    row->addWidget(name_, 3);
    folderHint_ = new ElidedLabel(TextTone::Hint, TextSize::Small);
    row->addWidget(folderHint_, 1);
    search_ = makeSearch(tr("Find a setting"));
    search_->setMinimumWidth(kLeastField);
    search_->setMaximumWidth(210);
    row->addWidget(search_, 2);
    changedOnly_ = new QCheckBox(tr("Changed only"), header);
    row->addWidget(changedOnly_);
    auto* close = makeButton(tr("Back to the runs"));
    connect(close, &QPushButton::clicked, this, &NewRunPage::closed);
    row->addWidget(close);
    return header;
}

QWidget* NewRunPage::buildPresets()
{
    auto* side = new QWidget(this);
    auto* column = new QVBoxLayout(side);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    auto* title = makeLabel(tr("Presets"), TextTone::Value, TextSize::Body, true);
    title->setContentsMargins(12, 0, 12, 0);
    title->setFixedHeight(30);
    column->addWidget(title);
    column->addWidget(makeLine());
    presets_ = new QListWidget(side);
    presets_->setFrameShape(QFrame::NoFrame);
    presets_->setAccessibleName(tr("Presets"));
    presets_->setProperty("flat", true);
    presets_->setItemDelegate(new PresetDelegate(presets_));
    column->addWidget(presets_, 1);
    column->addWidget(makeLine());
    auto* foot = new QVBoxLayout;
    foot->setContentsMargins(10, 8, 10, 8);
    foot->setSpacing(2);
    const std::pair<QString, void (NewRunPage::*)()> links[]
        = { { tr("a checkpoint…"), &NewRunPage::pickCheckpoint }, { tr("safetensors…"), &NewRunPage::pickWeights },
              { tr("a GGUF…"), &NewRunPage::pickGguf }, { tr("a model on the hub…"), &NewRunPage::pickHubModel } };
    for (const auto& [text, slot] : links) {
        auto* line = new FlowLayout;
        line->setSpacing(4);
        QLabel* before = makeLabel(tr("Start from"), TextTone::Secondary, TextSize::Small);
        line->addWidget(before);
        auto* link = makeButton(text);
        link->setProperty("link", true);
        link->setFont(scaledFont(TextSize::Small));
        connect(link, &QPushButton::clicked, this, slot);
        link->setAccessibleName(tr("Start from %1").arg(text));
        line->addWidget(link);
        link->ensurePolished();
        before->setFixedHeight(link->sizeHint().height()); // on one line with it
        foot->addLayout(line);
    }
    column->addLayout(foot);
    side->setMinimumWidth(kLeastPresets);
    return side;
}

// The model must be that of the checkpoint, so the whole configuration of its run is taken.
void NewRunPage::pickCheckpoint()
{
    auto* picker = new CheckpointPicker(bench_, this);
    picker->setAttribute(Qt::WA_DeleteOnClose);
    connect(picker, &CheckpointPicker::chosen, this, [this](const QString& run, const QString& checkpoint) {
        for (const RunLine& line : *bench_.scanner().lines()) {
            if (line.folder != run || !line.config)
                continue;
            RunConfig config = *line.config;
            config.name.clear();
            const auto preset = findPreset(line.preset.toStdString());
            bench_.form().useConfig(config, preset.ok() ? preset.value() : presets().front());
        }
        bench_.form().setText(*findSetting("init_from"), checkpoint);
    });
    picker->open();
}

void NewRunPage::pickWeights()
{
    const QString folder
        = QFileDialog::getExistingDirectory(this, tr("Folder with safetensors and their configuration"));
    if (!folder.isEmpty())
        bench_.form().setText(*findSetting("init_from"), folder);
}

void NewRunPage::pickGguf()
{
    const QString file = QFileDialog::getOpenFileName(this, tr("A model as GGUF"), {}, QStringLiteral("GGUF (*.gguf)"));
    if (!file.isEmpty())
        bench_.form().setText(*findSetting("init_from"), file);
}

void NewRunPage::pickHubModel()
{
    auto* dialog = new HubModelDialog(this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &HubModelDialog::chosen, this,
        [this](const QString& place) { bench_.form().setText(*findSetting("init_from"), place); });
    dialog->open();
}

QWidget* NewRunPage::buildForm()
{
    scroll_ = new QScrollArea(this);
    scroll_->setFrameShape(QFrame::NoFrame);
    scroll_->setWidgetResizable(true);
    scroll_->setMinimumWidth(kLeastForm);
    auto* inside = new QWidget;
    auto* column = new QVBoxLayout(inside);
    column->setContentsMargins(20, 0, 16, 24);
    column->setSpacing(0);
    nothingFound_ = makeLabel(tr("No setting matches."), TextTone::Secondary);
    nothingFound_->setAlignment(Qt::AlignHCenter);
    nothingFound_->setContentsMargins(0, 120, 0, 0);
    nothingFound_->hide();
    column->addWidget(nothingFound_);
    addGroups(column);
    column->addStretch();
    scroll_->setWidget(inside);
    return scroll_;
}

void NewRunPage::addGroups(QVBoxLayout* column)
{
    constexpr SettingGroup kOpen[] = { SettingGroup::Data, SettingGroup::Model, SettingGroup::Training,
        SettingGroup::Devices, SettingGroup::StopAndSave };
    for (const SettingGroup group : kOpen) {
        auto* box = new FormGroup(settingGroupTitle(group), false, bench_.form());
        for (const Setting& setting : settings()) {
            if (setting.basic && setting.group != SettingGroup::Run && setting.key != "devices"
                && shownUnder(setting) == group)
                box->add(setting);
        }
        if (group == SettingGroup::Data) {
            auto* choose = makeButton(tr("Choose…"), QStringLiteral("folder"));
            connect(choose, &QPushButton::clicked, this, &NewRunPage::chooseSource);
            box->addBeside("data", choose);
            preview_ = new DataPreview;
            box->addExtra(preview_);
            connect(preview_, &DataPreview::columnChosen, this,
                [this](const QString& name) { bench_.form().setText(*findSetting("text_column"), name); });
        }
        if (group == SettingGroup::Devices)
            box->addExtra(new DevicePicker(bench_.form()));
        groups_.push_back(box);
        column->addWidget(box);
    }
    constexpr SettingGroup kFolded[] = { SettingGroup::Data, SettingGroup::Model, SettingGroup::Training,
        SettingGroup::Devices, SettingGroup::StopAndSave, SettingGroup::Optimiser, SettingGroup::Privacy,
        SettingGroup::Evaluation, SettingGroup::Merging, SettingGroup::Seeds };
    for (const SettingGroup group : kFolded) {
        const bool hasOpenPart = group == SettingGroup::Data || group == SettingGroup::Model
            || group == SettingGroup::Training || group == SettingGroup::Devices || group == SettingGroup::StopAndSave;
        auto* box = new FormGroup(
            hasOpenPart ? tr("%1, more").arg(settingGroupTitle(group)) : settingGroupTitle(group), true, bench_.form());
        for (const Setting& setting : settings()) {
            const bool isOpen = setting.basic && setting.group != SettingGroup::Seeds;
            if (setting.group == group && !isOpen)
                box->add(setting);
        }
        if (group == SettingGroup::Data) {
            startMap_ = new StartMap(bench_.form());
            box->addBelow("start_at", startMap_);
        }
        groups_.push_back(box);
        column->addWidget(box);
    }
}

void NewRunPage::connectAll()
{
    RunForm& form = bench_.form();
    connect(&form, &RunForm::edited, this, [this](const QString& key) {
        refresh();
        adopt();
        if (needsNewProbe(key))
            probeSoon();
    });
    connect(&form, &RunForm::taken, this, [this] {
        refresh();
        probeSoon(); // the tokenizer is another one
    });
    connect(&adopter_, &ModelAdopter::adopted, this, [this](const ModelAdoptionPtr& found) {
        bench_.form().setFinding("init_from", found->problem);
        bench_.form().setTaken(found->values);
    });
    connect(&form, &RunForm::judged, this, &NewRunPage::refresh);
    connect(&form, &RunForm::replaced, this, [this] {
        adopt();
        refresh();
        applyFilter();
        probeSoon();
    });
    connect(name_, &QLineEdit::textEdited, this,
        [this](const QString& text) { bench_.form().setText(*findSetting("name"), text); });
    connect(search_, &QLineEdit::textChanged, this, &NewRunPage::applyFilter);
    connect(changedOnly_, &QCheckBox::toggled, this, &NewRunPage::applyFilter);
    connect(presets_, &QListWidget::currentItemChanged, this, &NewRunPage::choosePreset);
    connect(probeTimer_, &QTimer::timeout, this, &NewRunPage::probe);
    connect(&prober_, &DataProber::probed, this, &NewRunPage::takeProbe);
    connect(estimate_, &EstimatePanel::launchWanted, this, &NewRunPage::launch);
    connect(estimate_, &EstimatePanel::queueWanted, this, &NewRunPage::queue);
    connect(estimate_, &EstimatePanel::savePresetWanted, this, &NewRunPage::savePreset);
    connect(estimate_, &EstimatePanel::settingWanted, this, &NewRunPage::showSetting);
    connect(&bench_.commands(), &RunCommands::workerLookedFor, this,
        [this](const Message& problem) { estimate_->setMachineProblem(coreWords(problem)); });
    connect(estimate_, &EstimatePanel::torchWanted, this, [this] {
        TorchDialog dialog(this);
        connect(&dialog, &TorchDialog::ready, this, [this] { bench_.commands().lookForWorker(); });
        dialog.exec();
    });
    bench_.commands().lookForWorker();
    connect(&bench_.commands(), &RunCommands::progressed, this,
        [this](const QString& sentence) { estimate_->setBusy(sentence); });
    connect(&bench_.commands(), &RunCommands::done, this, [this](RunVerb verb) {
        if (verb == RunVerb::Create || verb == RunVerb::Make || verb == RunVerb::Start)
            estimate_->setBusy({});
    });
    connect(&bench_.commands(), &RunCommands::failed, this, [this](RunVerb verb, const QString&, const Error& error) {
        if (verb == RunVerb::Create || verb == RunVerb::Make || verb == RunVerb::Start)
            estimate_->setFailure(errorText(error));
    });
}

void NewRunPage::fillPresets()
{
    const QSignalBlocker block(presets_);
    presets_->clear();
    choices_ = presets();
    QStringList unreadable;
    for (const OwnPreset& own : readOwnPresets(bench_.workspace(), unreadable)) {
        Preset preset = bench_.form().preset();
        preset.title = own.name.toStdString();
        preset.hint = nearestHint(own.config).toStdString();
        preset.config = own.config;
        choices_.push_back(preset);
    }
    addHeading(*presets_, tr("Built in"));
    for (std::size_t i = 0; i < choices_.size(); ++i) {
        const Preset& preset = choices_[i];
        if (i == presets().size())
            addHeading(*presets_, tr("Yours"));
        auto* item = new QListWidgetItem(QStringLiteral("%1\n%2").arg(presetTitle(preset),
                                             QCoreApplication::translate("Schema", preset.hint.c_str())),
            presets_);
        item->setData(kChoiceRole, static_cast<int>(i));
        if (preset.title == bench_.form().preset().title)
            presets_->setCurrentItem(item);
    }
    if (!unreadable.isEmpty() && choices_.size() == presets().size())
        addHeading(*presets_, tr("Yours"));
    for (const QString& name : unreadable) {
        auto* item = new QListWidgetItem(tr("%1\nthe file cannot be read").arg(name));
        item->setFlags(Qt::NoItemFlags);
        presets_->addItem(item);
    }
}

void NewRunPage::choosePreset(const QListWidgetItem* item)
{
    const QVariant choice = item == nullptr ? QVariant() : item->data(kChoiceRole);
    if (choice.isValid())
        bench_.form().usePreset(choices_[static_cast<std::size_t>(choice.toInt())]);
}

void NewRunPage::refresh()
{
    const std::vector<ConfigProblem> problems = bench_.form().problems();
    for (FormGroup* group : groups_)
        group->refresh(problems);
    std::set<std::string> wrong;
    for (const ConfigProblem& problem : problems)
        wrong.insert(problem.key);
    if (wrong != std::exchange(wrong_, wrong) && !search_->text().trimmed().isEmpty())
        applyFilter(); // the setting that became wrong may not be the one that is typed
    const QString name = QString::fromStdString(bench_.form().config().name);
    if (!name_->hasFocus())
        name_->setText(name);
    NewRun asked;
    asked.workspace = pathFromUtf8(bench_.workspace().toStdString());
    const auto folder = folderOfNewRun(asked, name.toStdString(), "…"); // its id is drawn when it is made
    const auto shown = [](const std::filesystem::path& path) { return QString::fromStdString(utf8Text(path)); };
    folderHint_->setText(
        name.isEmpty() ? QString() : tr("%1 in %2").arg(shown(folder.filename()), shown(folder.parent_path())));
    const auto& all = settings(); // what was typed and means nothing counts too, as in the list of changes
    const auto changed = static_cast<int>(std::count_if(
        all.begin(), all.end(), [this](const Setting& setting) { return bench_.form().isChanged(setting); }));
    changedOnly_->setText(tr("Changed only (%1)").arg(changed));
    if (preview_ != nullptr && bench_.form().config().data.empty())
        preview_->clear();
    if (startMap_ != nullptr && bench_.form().config().data.empty())
        startMap_->clear();
}

/// What a model decides follows from what was typed beside it, too.
void NewRunPage::adopt()
{
    const RunForm& form = bench_.form();
    adopter_.cancel();
    if (!form.typed().initFrom.empty()) {
        adopter_.adopt(form.typed(), form.preset().config);
        return;
    }
    bench_.form().setFinding("init_from", {});
    bench_.form().setTaken({});
}

void NewRunPage::applyFilter()
{
    int shown = 0;
    for (FormGroup* group : groups_)
        shown += group->filter(search_->text().trimmed(), changedOnly_->isChecked());
    nothingFound_->setVisible(shown == 0);
}

/// Of a setting that something else speaks of: whatever is looked for is looked for no more.
void NewRunPage::showSetting(const std::string& key)
{
    search_->clear();
    changedOnly_->setChecked(false);
    for (FormGroup* group : groups_) {
        if (FormField* field = group->reveal(key)) {
            QTimer::singleShot(0, field->editor(), [this, editor = field->editor()] { // it has its place by then
                scroll_->ensureWidgetVisible(editor);
                editor->setFocus(Qt::OtherFocusReason);
            });
            return;
        }
    }
}

void NewRunPage::showEvent(QShowEvent* event)
{
    QWidget::showEvent(event);
    if (!event->spontaneous()) // it is opened: what was looked for the last time would hide the form
        search_->clear();
}

/// What was found about other data says nothing any more.
void NewRunPage::probeSoon()
{
    prober_.cancel();
    estimate_->setDataProblem({});
    lookAgain_ = false;
    probeTimer_->start(kProbeDelayMs);
}

void NewRunPage::probe()
{
    if (bench_.form().config().data.empty() || !bench_.form().problemsOf("data").empty())
        return;
    if (lookAgain_ && !isVisible()) { // nobody waits for it
        probeTimer_->start(kProbeAgainMs);
        return;
    }
    if (!lookAgain_) {
        preview_->setWaiting();
        startMap_->setWaiting();
    }
    prober_.probe(bench_.form().config(), bench_.workspace());
}

void NewRunPage::takeProbe(const ProbePtr& result)
{
    preview_->setProbe(result);
    startMap_->setProbe(result);
    const DataInspection& seen = result->probe.inspection;
    estimate_->setExtent({ seen.blocks.value_or(0), seen.chunks.value_or(0), result->probe.tokens,
        result->problem.empty() && !seen.chunks });
    const std::int64_t window = bench_.form().config().seqLen;
    const bool isTooLittle = result->problem.empty() && seen.rowsExact && result->probe.tokens > 0
        && result->probe.tokens < window / 2; // the number is an estimate; making the run counts
    estimate_->setDataProblem(isTooLittle
            ? tr("All data together has about %1 tokens, less than one window of %2. Choose more text, or a shorter sequence length.")
                  .arg(countText(result->probe.tokens), countText(window))
            : coreWords(result->problem));
    lookAgain_ = !result->problem.empty();
    if (lookAgain_ && !probeTimer_->isActive()) // a disk or the network may be back
        probeTimer_->start(kProbeAgainMs);
}

NewRun NewRunPage::request()
{
    NewRun request;
    request.config = bench_.form().config();
    request.preset = bench_.form().preset().name;
    request.workspace = pathFromUtf8(bench_.workspace().toStdString());
    estimate_->setBusy(tr("Creating the run…"));
    return request;
}

void NewRunPage::launch() { bench_.commands().launch(request()); }

void NewRunPage::queue() { bench_.commands().make(request()); }

void NewRunPage::savePreset()
{
    const QString name = askText(this, { tr("Save preset"), tr("Name of the preset"), tr("Save preset") });
    if (name.isEmpty() || !mayReplace(this, QStringLiteral("%1/presets/%2.json").arg(bench_.workspace(), name)))
        return;
    RunConfig config = bench_.form().typed();
    config.name.clear();
    const Status saved = saveOwnPreset(bench_.workspace(), name, config);
    if (saved.ok())
        fillPresets();
    else
        estimate_->setFailure(errorText(saved.error()));
}

void NewRunPage::chooseSource()
{
    const QStringList files = QFileDialog::getOpenFileNames(this, tr("Choose the data"), {},
        tr("Text data (*.txt *.csv *.tsv *.jsonl *.json *.parquet *.arrow *.feather *.warc *.wet *.gz *.zst *.xz *.bz2 *.zip *.tar *.tgz);;All files (*)"));
    if (files.isEmpty())
        return;
    std::vector<std::string> sources;
    for (const QString& file : files)
        sources.push_back(file.toStdString());
    setSource(QString::fromStdString(listText(sources)));
}

void NewRunPage::setSource(const QString& source) { bench_.form().setText(*findSetting("data"), source); }

void NewRunPage::focusSearch()
{
    search_->setFocus();
    search_->selectAll();
}

} // namespace furrow
