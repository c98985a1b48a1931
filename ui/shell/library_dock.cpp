#include "ui/shell/library_dock.h"

#include "ui/models/words.h"
#include "ui/models/workbench.h"
#include "ui/pages/page_parts.h"
#include "ui/widgets/meters.h"
#include "ui/widgets/state_glyph.h"

#include <QFileInfo>
#include <QLineEdit>
#include <QListView>
#include <QPainter>
#include <QPushButton>
#include <QStackedWidget>
#include <QVBoxLayout>

namespace furrow {

namespace {

constexpr int kRowHeight = 46;
constexpr int kGlyph = 14;
constexpr int kSparkWidth = 52;

} // namespace

RunDelegate::RunDelegate(QObject* parent)
    : QStyledItemDelegate(parent)
{
}

QSize RunDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex&) const
{
    const int lines = QFontMetrics(option.font).height() + QFontMetrics(scaledFont(TextSize::Small)).height();
    return { 100, std::max(kRowHeight, lines + 12) };
}

void RunDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const
{
    painter->save();
    const QPalette& colours = option.palette;
    if (option.state.testFlag(QStyle::State_Selected))
        painter->fillRect(option.rect, colours.color(QPalette::Highlight));
    else if (option.state.testFlag(QStyle::State_MouseOver))
        painter->fillRect(option.rect, colours.color(QPalette::Midlight));
    if (option.state.testFlag(QStyle::State_HasFocus)) {
        painter->setPen(colours.color(QPalette::Link));
        painter->drawRect(option.rect.adjusted(0, 0, -1, -1));
    }
    const QRect row = option.rect.adjusted(10, 5, -10, -5);
    const auto state = static_cast<RunState>(index.data(RunListModel::StateRole).toInt());
    drawStateGlyph(*painter, QRectF(row.left(), row.top() + (row.height() - kGlyph) / 2.0, kGlyph, kGlyph), glyphOf(state));
    const int right = row.right() - kSparkWidth;
    const QRect words(row.left() + kGlyph + 8, row.top(), right - row.left() - kGlyph - 14, row.height());
    const QRect upper(words.left(), words.top(), words.width(), words.height() / 2);
    const QRect lower(words.left(), words.top() + words.height() / 2, words.width(), words.height() / 2);
    painter->setFont(option.font);
    painter->setPen(colours.color(QPalette::Text));
    painter->drawText(upper, Qt::AlignVCenter, QFontMetrics(option.font).elidedText(index.data(RunListModel::NameRole).toString(), Qt::ElideRight, upper.width()));
    const QFont small = scaledFont(TextSize::Small);
    painter->setFont(small);
    painter->setPen(colours.color(option.state.testFlag(QStyle::State_Selected) ? QPalette::Text : QPalette::PlaceholderText));
    painter->drawText(lower, Qt::AlignVCenter, QFontMetrics(small).elidedText(index.data(RunListModel::SubtitleRole).toString(), Qt::ElideRight, lower.width()));
    const auto losses = index.data(RunListModel::SparklineRole).value<QVector<double>>();
    drawSparkline(*painter, QRectF(right, row.top() + 2, kSparkWidth, row.height() / 2.0 - 4), { losses.begin(), losses.end() });
    painter->setPen(colours.color(QPalette::Text));
    painter->drawText(QRect(right, lower.top(), kSparkWidth, lower.height()), Qt::AlignVCenter | Qt::AlignRight, index.data(RunListModel::LossTextRole).toString());
    painter->restore();
}

LibraryDock::LibraryDock(Workbench& bench, QWidget* parent)
    : QWidget(parent)
    , bench_(bench)
    , line_(new QLineEdit(this))
    , workspace_(makeLabel({}, TextTone::Hint, TextSize::Small))
    , count_(makeLabel({}, TextTone::Hint, TextSize::Small))
    , list_(new QListView(this))
    , stack_(new QStackedWidget(this))
    , empty_(new EmptyState(tr("No runs in this workspace yet.")))
    , noMatch_(new EmptyState(tr("No run matches.")))
{
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 8, 0, 0);
    column->setSpacing(6);
    auto* top = new QHBoxLayout;
    top->setContentsMargins(10, 0, 10, 0);
    line_->setPlaceholderText(tr("Filter runs"));
    line_->setAccessibleName(tr("Filter runs"));
    line_->setClearButtonEnabled(true);
    top->addWidget(line_);
    column->addLayout(top);
    auto* head = new QHBoxLayout;
    head->setContentsMargins(10, 0, 10, 0);
    head->addWidget(workspace_, 1);
    head->addWidget(count_);
    column->addLayout(head);
    list_->setAccessibleName(tr("Runs"));
    list_->setFrameShape(QFrame::NoFrame);
    list_->setItemDelegate(new RunDelegate(list_));
    list_->setUniformItemSizes(true);
    list_->setMouseTracking(true);
    list_->setProperty("flat", true);
    filter_.setSourceModel(&model_);
    filter_.setFilterRole(RunListModel::FilterRole);
    filter_.setFilterCaseSensitivity(Qt::CaseInsensitive);
    list_->setModel(&filter_);
    stack_->addWidget(list_);
    stack_->addWidget(empty_);
    stack_->addWidget(noMatch_);
    column->addWidget(stack_, 1);
    connect(empty_->addButton(tr("New run"), true), &QPushButton::clicked, this, &LibraryDock::newRunWanted);
    connect(noMatch_->addButton(tr("Clear filter")), &QPushButton::clicked, line_, &QLineEdit::clear);
    connect(line_, &QLineEdit::textChanged, this, [this](const QString& words) {
        filter_.setFilterFixedString(words.trimmed());
        showCount();
    });
    connect(list_->selectionModel(), &QItemSelectionModel::currentChanged, this, [this](const QModelIndex& index) {
        if (index.isValid() && !following_)
            Q_EMIT runChosen(index.data(RunListModel::FolderRole).toString());
    });
    connect(&bench_.scanner(), &WorkspaceScanner::scanned, this, &LibraryDock::take);
    connect(&bench_.selection(), &SelectionModel::runChanged, this, &LibraryDock::followRun);
    setFocusProxy(list_);
    take(bench_.scanner().lines());
}

void LibraryDock::take(const RunLinesPtr& lines)
{
    following_ = true; // a reset of the model moves the current index
    model_.reset(*lines);
    following_ = false;
    workspace_->setText(QFileInfo(bench_.workspace()).fileName());
    workspace_->setToolTip(bench_.workspace());
    showCount();
    followRun();
}

void LibraryDock::showCount()
{
    const int shown = filter_.rowCount();
    const int all = model_.rowCount();
    count_->setText(shown == all ? tr("%n run(s)", nullptr, all) : tr("%1 of %n run(s)", nullptr, all).arg(shown));
    stack_->setCurrentWidget(all == 0 ? static_cast<QWidget*>(empty_) : shown == 0 ? static_cast<QWidget*>(noMatch_) : list_);
}

void LibraryDock::followRun()
{
    const int row = model_.rowOf(bench_.selection().selection().run);
    const QModelIndex index = filter_.mapFromSource(model_.index(row < 0 ? -1 : row));
    if (index == list_->currentIndex())
        return;
    following_ = true;
    list_->setCurrentIndex(index);
    following_ = false;
}

void LibraryDock::focusFilter()
{
    line_->setFocus();
    line_->selectAll();
}

} // namespace furrow
