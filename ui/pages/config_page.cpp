#include "ui/pages/config_page.h"

#include "core/run/folder/automatic_packing.h"
#include "core/run/folder/attempt_config.h"
#include "ui/models/setting_words.h"
#include "ui/models/words.h"
#include "ui/models/workbench.h"
#include "ui/parts/page_parts.h"

#include <QCheckBox>
#include <QHeaderView>
#include <QLineEdit>
#include <QPushButton>
#include <QTableView>
#include <QVBoxLayout>

namespace furrow {

namespace {

constexpr int kValueColumn = 2;
constexpr int kPresetColumn = 4;
constexpr int kMostLetters = 22; // of a value

} // namespace

ConfigFilter::ConfigFilter(QObject* parent)
    : QSortFilterProxyModel(parent)
{
}

void ConfigFilter::setWords(const QString& words)
{
    words_ = words.trimmed();
    invalidateFilter();
}

void ConfigFilter::setChangedOnly(bool changedOnly)
{
    changedOnly_ = changedOnly;
    invalidateFilter();
}

bool ConfigFilter::filterAcceptsRow(int row, const QModelIndex& parent) const
{
    const auto* config = dynamic_cast<const ConfigModel*>(sourceModel());
    const ConfigLine* line = config == nullptr ? nullptr : &config->rows()[static_cast<std::size_t>(row)];
    if (line != nullptr && changedOnly_ && line->value == line->presetValue)
        return false;
    if (words_.isEmpty() || (line != nullptr && line->setting != nullptr && isAboutSetting(*line->setting, words_)))
        return true;
    for (int column = 0; column < sourceModel()->columnCount(parent); ++column) {
        if (sourceModel()->index(row, column, parent).data().toString().contains(words_, Qt::CaseInsensitive))
            return true;
    }
    return false;
}

ConfigPage::ConfigPage(Workbench& bench, QWidget* parent)
    : QWidget(parent)
    , bench_(bench)
    , model_(configColumns())
{
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(12, 8, 12, 0);
    auto* row = new QHBoxLayout;
    search_ = makeSearch(tr("Find a setting"));
    search_->setMinimumWidth(120);
    search_->setMaximumWidth(240);
    row->addWidget(search_);
    auto* changedOnly = new QCheckBox(tr("Different from the preset"), this);
    row->addWidget(changedOnly);
    origin_ = new ElidedLabel(TextTone::Secondary, TextSize::Small);
    row->addWidget(origin_, 1);
    auto* clone = makeButton(tr("New run from this…"));
    row->addWidget(clone);
    column->addLayout(row);
    table_ = makeTable(tr("Configuration"));
    filter_.setSourceModel(&model_);
    table_->setModel(&filter_);
    column->addWidget(table_, 1);
    connect(clone, &QPushButton::clicked, this, &ConfigPage::cloneWanted);
    connect(search_, &QLineEdit::textChanged, &filter_, &ConfigFilter::setWords);
    connect(changedOnly, &QCheckBox::toggled, &filter_, &ConfigFilter::setChangedOnly);
    connect(&bench_.watcher(), &RunWatcher::statusRead, this, &ConfigPage::take);
    connect(&bench_.watcher(), &RunWatcher::tablesRead, this, &ConfigPage::take);
    connect(&bench_.watcher(), &RunWatcher::opened, this, [this] {
        shownRun_.clear();
        model_.reset({});
    });
    take();
}

// Frozen but for what a resume changes: once for each attempt is enough.
void ConfigPage::take()
{
    const StatusPtr& status = bench_.watcher().status();
    const TablesPtr& tables = bench_.watcher().tables();
    const std::size_t attempts = tables ? tables->attempts.size() : 0;
    if (!status || (shownRun_ == bench_.watcher().folder() && shownAttempts_ == attempts))
        return;
    const bool first = shownRun_ != bench_.watcher().folder();
    shownRun_ = bench_.watcher().folder();
    shownAttempts_ = attempts;
    const auto inForce = latestConfig(tables ? tables->attempts : std::vector<AttemptRow> {}, status->file.config);
    fill(status->file, inForce.ok() ? inForce.value() : status->file.config);
    if (first)
        fitColumns();
}

void ConfigPage::fill(const RunFile& file, const RunConfig& inForce)
{
    const auto preset = findPreset(file.preset);
    model_.reset(
        configLines(inForce, file.config, presetInRun(preset.ok() ? preset.value().config : RunConfig {}, file)));
    filter_.invalidate();
    const QString name = QString::fromStdString(file.preset.empty() ? std::string("–") : file.preset);
    origin_->setText(tr("Preset %1, made %2 by Furrow %3, data %4")
            .arg(name, wallTimeText(file.createdWallNs), QString::fromStdString(file.furrowVersion),
                QString::fromStdString(file.dataIdentity).left(8)));
    origin_->setToolTip(tr("Data %1\nTokenizer %2\nVocabulary %3")
            .arg(QString::fromStdString(file.dataIdentity), QString::fromStdString(file.tokenizerHash),
                countText(file.vocabularySize)));
}

// A long path or list is cut so that the meaning stays in sight; the whole of it is in the tooltip.
void ConfigPage::fitColumns()
{
    table_->resizeColumnsToContents();
    const int most = table_->fontMetrics().averageCharWidth() * kMostLetters;
    for (const int column : { kValueColumn, kPresetColumn })
        table_->setColumnWidth(column, std::min(table_->columnWidth(column), most));
}

void ConfigPage::focusSearch() { search_->setFocus(); }

} // namespace furrow
