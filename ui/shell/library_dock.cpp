#include "ui/shell/library_dock.h"

#include "ui/models/workbench.h"
#include "ui/parts/page_parts.h"
#include "ui/shell/run_tree.h"

#include <QCheckBox>
#include <QFileInfo>
#include <QGuiApplication>
#include <QLineEdit>
#include <QPushButton>
#include <QStackedWidget>
#include <QVBoxLayout>
#include <algorithm>
#include <map>

namespace furrow {

namespace {

constexpr int kMostTags = 3; // buttons in their row; all others can be typed

} // namespace

LibraryDock::LibraryDock(Workbench& bench, QWidget* parent)
    : QWidget(parent)
    , bench_(bench)
    , line_(makeSearch(tr("Filter runs")))
    , tagRow_(new QWidget(this))
    , tags_(new QHBoxLayout(tagRow_))
    , workspace_(makeLabel({}, TextTone::Hint, TextSize::Small))
    , count_(makeLabel({}, TextTone::Hint, TextSize::Small))
    , archived_(new QCheckBox(tr("Include archived"), this))
    , list_(new RunTree(this))
    , stack_(new QStackedWidget(this))
    , empty_(new EmptyState(tr("No runs in this workspace yet.")))
    , noMatch_(new EmptyState(tr("No run matches.")))
{
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 8, 0, 0);
    column->setSpacing(6);
    buildHead();
    buildList();
    connect(empty_->addButton(tr("New run"), true), &QPushButton::clicked, this, &LibraryDock::newRunWanted);
    connect(empty_->addButton(tr("Start demonstration run")), &QPushButton::clicked, this,
        &LibraryDock::demonstrationWanted);
    connect(noMatch_->addButton(tr("Clear filter")), &QPushButton::clicked, line_, &QLineEdit::clear);
    connect(&bench_.scanner(), &WorkspaceScanner::scanned, this, &LibraryDock::take);
    connect(&bench_.selection(), &SelectionModel::runChanged, this, &LibraryDock::followRun);
    take(bench_.scanner().lines());
}

void LibraryDock::buildHead()
{
    auto* column = static_cast<QVBoxLayout*>(layout());
    auto* top = new QHBoxLayout;
    top->setContentsMargins(10, 0, 10, 0);
    line_->setToolTip(tr("Words of name, note, group, preset or state; #word finds a tag"));
    top->addWidget(line_);
    column->addLayout(top);
    tags_->setContentsMargins(10, 0, 10, 0);
    tags_->setSpacing(6);
    tagRow_->hide();
    addTag_ = makeButton(tr("Add tag…"));
    addTag_->setProperty("compact", true);
    addTag_->setProperty("dashed", true);
    connect(addTag_, &QPushButton::clicked, this, &LibraryDock::tagWanted);
    tags_->addWidget(addTag_);
    tags_->addStretch();
    column->addWidget(tagRow_);
    auto* head = new QHBoxLayout;
    head->setContentsMargins(10, 0, 10, 0);
    head->addWidget(workspace_, 1);
    head->addWidget(count_);
    column->addLayout(head);
    connect(line_, &QLineEdit::textChanged, this, [this](const QString& words) {
        filter([this, &words] { filter_.setWords(words); });
        showTags();
    });
}

void LibraryDock::buildList()
{
    auto* column = static_cast<QVBoxLayout*>(layout());
    list_->setAccessibleName(tr("Runs"));
    list_->setProperty("flat", true);
    list_->setSelectionMode(QAbstractItemView::ExtendedSelection);
    list_->setContextMenuPolicy(Qt::CustomContextMenu);
    filter_.setSourceModel(&model_);
    list_->setModel(&filter_);
    stack_->addWidget(list_);
    stack_->addWidget(empty_);
    stack_->addWidget(noMatch_);
    column->addWidget(stack_, 1);
    archived_->setContentsMargins(10, 0, 10, 6);
    archived_->hide();
    column->addWidget(archived_);
    connect(archived_, &QCheckBox::toggled, this,
        [this](bool on) { filter([this, on] { filter_.setArchivedShown(on); }); });
    connect(list_->selectionModel(), &QItemSelectionModel::currentChanged, this, [this](const QModelIndex& index) {
        const bool isOneOfSeveral // choosing it beside others is not watching it; it is not selected yet
            = (QGuiApplication::keyboardModifiers() & (Qt::ControlModifier | Qt::ShiftModifier)) != 0;
        if (index.isValid() && !following_ && !isOneOfSeveral)
            choose(index);
    });
    connect(&model_, &RunListModel::attemptsWanted, &attempts_, &AttemptReader::read);
    connect(&attempts_, &AttemptReader::attemptsRead, this,
        [this](const QString& folder, const AttemptLinesPtr& attempts) { model_.setAttempts(folder, *attempts); });
    connect(list_, &QWidget::customContextMenuRequested, this, [this](const QPoint& at) {
        if (list_->currentIndex().isValid())
            Q_EMIT menuWanted(list_->viewport()->mapToGlobal(at));
    });
}

void LibraryDock::choose(const QModelIndex& index)
{
    Q_EMIT runChosen(index.data(RunListModel::FolderRole).toString());
    const qlonglong attempt = index.data(RunListModel::AttemptRole).toLongLong();
    if (attempt > 0)
        bench_.selection().clear(); // a chunk or worker selected before would hide it in the inspector
    bench_.selection().setAttempt(attempt > 0 ? std::optional<std::int64_t>(attempt) : std::nullopt);
}

/// Changes what is listed. The run that is watched stays so, listed or not: Qt makes a row the current one in the place
/// of one that goes.
void LibraryDock::filter(const std::function<void()>& change)
{
    following_ = true;
    change();
    following_ = false;
    showCount();
    followRun();
    if (list_->currentIndex().isValid())
        list_->scrollTo(list_->currentIndex());
    else
        list_->scrollToTop();
}

/// Runs whose attempts are shown.
QStringList LibraryDock::openRuns() const
{
    QStringList folders;
    for (const RunLine& line : model_.lines())
        if (model_.hasAttempts(line.folder) && list_->isExpanded(indexOf(line.folder)))
            folders.append(line.folder);
    return folders;
}

QModelIndex LibraryDock::indexOf(const QString& folder) const
{
    return filter_.mapFromSource(model_.index(model_.rowOf(folder)));
}

void LibraryDock::take(const RunLinesPtr& lines)
{
    const QStringList open = openRuns();
    const QStringList selected = selectedRuns();
    following_ = true; // a reset of the model moves the current index
    model_.reset(*lines);
    following_ = false;
    for (const QString& folder : open)
        list_->expand(indexOf(folder));
    workspace_->setText(QFileInfo(bench_.workspace()).fileName());
    workspace_->setToolTip(bench_.workspace());
    showCount();
    showTags();
    followRun();
    if (selected.size() > 1)
        selectAgain(selected);
}

QStringList LibraryDock::selectedRuns() const
{
    QStringList folders;
    for (int row = 0; row < filter_.rowCount(); ++row)
        if (const QModelIndex index = filter_.index(row, 0); list_->selectionModel()->isSelected(index))
            folders.append(index.data(RunListModel::FolderRole).toString());
    return folders;
}

void LibraryDock::selectAgain(const QStringList& folders)
{
    following_ = true;
    for (const QString& folder : folders)
        list_->selectionModel()->select(indexOf(folder), QItemSelectionModel::Select);
    following_ = false;
}

void LibraryDock::showCount()
{
    int hidden = 0;
    for (const RunLine& line : model_.lines())
        hidden += line.notes.archived ? 1 : 0;
    archived_->setVisible(hidden > 0);
    archived_->setText(tr("Include archived (%1)").arg(hidden));
    const int shown = filter_.rowCount();
    const int all = model_.rowCount() - (filter_.isArchivedShown() ? 0 : hidden);
    count_->setText(shown == all ? tr("%n run(s)", nullptr, all) : tr("%1 of %n run(s)", nullptr, all).arg(shown));
    stack_->setCurrentWidget(model_.rowCount() == 0 ? static_cast<QWidget*>(empty_)
            : shown == 0                            ? static_cast<QWidget*>(noMatch_)
                                                    : list_);
    setFocusProxy(
        stack_->currentWidget() == list_ ? static_cast<QWidget*>(list_) : line_); // a hidden one would catch Tab
}

// The tags most used, as buttons that put them into the filter; where there is room, one that adds a tag to the shown
// run.
void LibraryDock::showTags()
{
    std::map<QString, int> uses;
    for (const RunLine& line : model_.lines()) {
        for (const std::string& tag : line.notes.tags)
            ++uses[QString::fromStdString(tag)];
    }
    std::vector<std::pair<int, QString>> order;
    for (const auto& [tag, count] : uses)
        order.emplace_back(-count, tag);
    std::sort(order.begin(), order.end());
    QStringList wanted;
    for (std::size_t i = 0; i < order.size() && i < kMostTags; ++i)
        wanted.append(order[i].second);
    tagRow_->setVisible(!wanted.isEmpty() || model_.rowCount() > 0);
    if (wanted.size() >= kMostTags)
        addTag_->hide(); // before there is one button more
    if (wanted != shownTags_) {
        for (qsizetype i = 0; i < shownTags_.size(); ++i) {
            const QLayoutItem* item = tags_->takeAt(0);
            delete item->widget();
            delete item;
        }
        shownTags_ = wanted;
        for (int i = 0; i < wanted.size(); ++i) {
            const QString& tag = wanted[i];
            constexpr int kWidest = 110;
            auto* button = makeButton(fontMetrics().elidedText(QLatin1Char('#') + tag, Qt::ElideRight, kWidest));
            button->setAccessibleName(QLatin1Char('#') + tag);
            button->setToolTip(QLatin1Char('#') + tag);
            button->setProperty("compact", true);
            button->setCheckable(true);
            connect(button, &QPushButton::clicked, this,
                [this, tag](bool on) { line_->setText(on ? QLatin1Char('#') + tag : QString()); });
            tags_->insertWidget(i, button);
        }
    }
    addTag_->setVisible(wanted.size() < kMostTags);
    for (int i = 0; i < shownTags_.size(); ++i)
        qobject_cast<QPushButton*>(tags_->itemAt(i)->widget())
            ->setChecked(line_->text() == QLatin1Char('#') + shownTags_[i]);
}

void LibraryDock::followRun()
{
    const QString folder = bench_.selection().selection().run;
    addTag_->setEnabled(model_.rowOf(folder) >= 0);
    if (list_->currentIndex().data(RunListModel::FolderRole).toString() == folder) // the run or one of its attempts
        return;
    following_ = true;
    list_->setCurrentIndex(indexOf(folder));
    following_ = false;
}

void LibraryDock::focusFilter()
{
    line_->setFocus();
    line_->selectAll();
}

} // namespace furrow
