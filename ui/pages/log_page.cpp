#include "ui/pages/log_page.h"

#include "ui/models/words.h"
#include "ui/models/workbench.h"
#include "ui/parts/page_parts.h"
#include "ui/widgets/elided_combo.h"

#include <QCheckBox>
#include <QClipboard>
#include <QComboBox>
#include <QGuiApplication>
#include <QHeaderView>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QScrollBar>
#include <QShortcut>
#include <QTableView>
#include <QTimer>
#include <QVBoxLayout>
#include <algorithm>

namespace furrow {

namespace {

constexpr int kCellRoom = 26; // beside the text of a cell
constexpr int kWholeLines = 4;
constexpr int kMomentMs = 150; // a replay has 25 moments a second, and a log many lines

QString asWritten(const LogLine& line)
{
    return QStringLiteral("%1 %2 %3  %4").arg(line.time, logLevelWord(line.level), line.process, line.text);
}

} // namespace

LogPage::LogPage(Workbench& bench, QWidget* parent)
    : QWidget(parent)
    , bench_(bench)
{
    new QVBoxLayout(this);
    layout()->setContentsMargins(12, 8, 12, 0);
    buildBar();
    table_ = makeTable(tr("Log"));
    table_->setFont(codeFont(TextSize::Small));
    table_->verticalHeader()->setDefaultSectionSize(20);
    filter_.setSourceModel(&bench_.log());
    table_->setModel(&filter_);
    const QFontMetrics metrics(table_->font());
    table_->setColumnWidth(0, metrics.horizontalAdvance(QStringLiteral("18:42:10.123")) + kCellRoom);
    int level = 0; // the longest word is another one in each language
    for (const LogLevel each : { LogLevel::Debug, LogLevel::Info, LogLevel::Warning, LogLevel::Error })
        level = std::max(level, metrics.horizontalAdvance(logLevelWord(each)));
    table_->setColumnWidth(1, std::max(level + kCellRoom, table_->horizontalHeader()->sectionSizeHint(1)));
    table_->setColumnWidth(2, metrics.horizontalAdvance(QStringLiteral("supervisor")) + kCellRoom);
    layout()->addWidget(table_);
    buildWhole();
    connect(&bench_.log(), &QAbstractItemModel::rowsInserted, this, [this] {
        if (follow_->isChecked())
            table_->scrollToBottom();
    });
    connect(table_->verticalScrollBar(), &QScrollBar::rangeChanged, this, [this] { // also when the page becomes smaller
        if (follow_->isChecked())
            table_->scrollToBottom();
    });
    connect(table_->verticalScrollBar(), &QScrollBar::actionTriggered, this,
        [this] { // reading back ends following, the end begins it
            const QScrollBar* bar = table_->verticalScrollBar();
            follow_->setChecked(bar->sliderPosition() >= bar->maximum());
        });
    auto* copy = new QShortcut(QKeySequence::Copy, table_, nullptr, nullptr, Qt::WidgetShortcut);
    connect(copy, &QShortcut::activated, this, &LogPage::copySelection);
    followReplay();
    table_->scrollToBottom();
}

void LogPage::followReplay()
{
    moment_ = new QTimer(this);
    moment_->setSingleShot(true);
    moment_->setInterval(kMomentMs);
    connect(moment_, &QTimer::timeout, this, [this] { filter_.setMoment(bench_.replay().moment()); });
    connect(&bench_.replay(), &Replay::momentChanged, moment_, [this] {
        if (!moment_->isActive())
            moment_->start();
    });
    filter_.setMoment(bench_.replay().moment());
}

void LogPage::buildWhole()
{
    whole_ = new QPlainTextEdit(this);
    whole_->setReadOnly(true);
    whole_->setFont(codeFont(TextSize::Small));
    whole_->setTabChangesFocus(true);
    whole_->setAccessibleName(tr("The selected line as it was written"));
    whole_->setPlaceholderText(tr("Select a line."));
    whole_->setFixedHeight(QFontMetrics(whole_->font()).lineSpacing() * kWholeLines + kCellRoom);
    whole_->hide();
    layout()->addWidget(whole_);
    connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &LogPage::showWhole);
    connect(asWritten_, &QCheckBox::toggled, this, &LogPage::showWhole);
}

/// Long lines are cut in the table, and what was written for programs stands there in words.
void LogPage::showWhole()
{
    whole_->setVisible(asWritten_->isChecked());
    const LogLine* line = bench_.log().rowAt(filter_.mapToSource(table_->currentIndex()));
    whole_->setPlainText(line == nullptr ? QString() : asWritten(*line));
}

void LogPage::buildBar()
{
    auto* row = new QHBoxLayout;
    search_ = makeSearch(tr("Filter the log"));
    search_->setMaximumWidth(280);
    row->addWidget(search_);
    level_ = new ElidedCombo(this);
    level_->setAccessibleName(tr("Minimum level"));
    level_->addItem(tr("All levels"), static_cast<int>(LogLevel::Debug));
    level_->addItem(tr("Info and above"), static_cast<int>(LogLevel::Info));
    level_->addItem(tr("Warnings and errors"), static_cast<int>(LogLevel::Warning));
    level_->addItem(tr("Errors"), static_cast<int>(LogLevel::Error));
    row->addWidget(level_);
    process_ = new ElidedCombo(this);
    process_->setAccessibleName(tr("Process"));
    row->addWidget(process_);
    row->addStretch();
    asWritten_ = new QCheckBox(tr("Line as written"), this);
    asWritten_->setToolTip(tr("Show the selected line below the table, in full, as its process wrote it"));
    row->addWidget(asWritten_);
    follow_ = new QCheckBox(tr("Follow"), this);
    follow_->setChecked(true);
    row->addWidget(follow_);
    static_cast<QVBoxLayout*>(layout())->addLayout(row);
    fillProcesses();
    connect(search_, &QLineEdit::textChanged, &filter_, &LogFilter::setWords);
    connect(level_, &QComboBox::currentIndexChanged, this,
        [this] { filter_.setLeastLevel(static_cast<LogLevel>(level_->currentData().toInt())); });
    connect(process_, &QComboBox::currentIndexChanged, this,
        [this] { filter_.setProcess(process_->currentData().toString()); });
    connect(&bench_, &Workbench::logProcessesChanged, this, &LogPage::fillProcesses);
    connect(follow_, &QCheckBox::toggled, this, [this](bool on) {
        if (on && table_ != nullptr)
            table_->scrollToBottom();
    });
}

void LogPage::fillProcesses()
{
    const QString current = process_->currentData().toString();
    process_->clear();
    process_->addItem(tr("All processes"), QString());
    for (const QString& name : bench_.logProcesses())
        process_->addItem(name, name);
    process_->setCurrentIndex(std::max(0, process_->findData(current)));
}

void LogPage::copySelection()
{
    QStringList lines;
    const QModelIndexList selected = table_->selectionModel()->selectedRows();
    for (const QModelIndex& index : selected) {
        const LogLine* line = bench_.log().rowAt(filter_.mapToSource(index));
        if (line != nullptr)
            lines.append(asWritten(*line));
    }
    QGuiApplication::clipboard()->setText(lines.join(QLatin1Char('\n')));
}

void LogPage::showTime(std::int64_t wallNs)
{
    const QString time = logTime(wallNs);
    follow_->setChecked(false);
    for (int row = 0; row < filter_.rowCount(); ++row) {
        const LogLine* line = bench_.log().rowAt(filter_.mapToSource(filter_.index(row, 0)));
        if (line == nullptr || line->time < time)
            continue;
        table_->scrollTo(filter_.index(row, 0), QAbstractItemView::PositionAtTop);
        table_->selectRow(row);
        return;
    }
    table_->scrollToBottom();
}

void LogPage::focusSearch()
{
    search_->setFocus();
    search_->selectAll();
}

} // namespace furrow
