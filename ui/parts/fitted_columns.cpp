#include "ui/parts/fitted_columns.h"

#include "ui/models/table_model.h"
#include "ui/widgets/plain_text.h"

#include <QHeaderView>
#include <QHelpEvent>
#include <QTableView>
#include <algorithm>

namespace furrow {

namespace {

constexpr int kMostColumn = 320;
constexpr int kLongWords = 160; // what is longer in a cell gives way first
constexpr int kLeastHeading = 56;
constexpr int kLeastWords = 72; // a few letters and the dots behind them
constexpr int kHeadingSides = 37; // with the mark of the column that the table is sorted by
constexpr int kCellSides = 14; // of a cell that has no icon

} // namespace

FittedColumns::FittedColumns(QTableView& table, std::initializer_list<int> hiddenWhenEmpty)
    : QObject(&table)
    , table_(table)
    , hiddenWhenEmpty_(hiddenWhenEmpty)
{
    for (QWidget* watched : { table.viewport(), table.horizontalHeader()->viewport() })
        watched->installEventFilter(this);
    const QAbstractItemModel* model = table.model();
    connect(model, &QAbstractItemModel::modelReset, this, &FittedColumns::fit);
    connect(model, &QAbstractItemModel::rowsInserted, this, &FittedColumns::fit);
    connect(model, &QAbstractItemModel::rowsRemoved, this, &FittedColumns::fit);
    connect(model, &QAbstractItemModel::dataChanged, this, &FittedColumns::fit);
    connect(table.horizontalHeader(), &QHeaderView::sectionResized, this,
        [this] { isDragged_ = isDragged_ || isPressed_; });
    fit();
}

void FittedColumns::keepRoomFor(int column, const QString& text)
{
    constexpr int kIcon = 26; // a mark, or an icon beside the words
    kept_[column] = table_.fontMetrics().horizontalAdvance(text) + kCellSides + (isNumber(column) ? 0 : kIcon);
    fit();
}

bool FittedColumns::eventFilter(QObject* watched, QEvent* event)
{
    const bool isHead = watched == table_.horizontalHeader()->viewport();
    if (isHead && (event->type() == QEvent::MouseButtonPress || event->type() == QEvent::MouseButtonRelease))
        isPressed_ = event->type() == QEvent::MouseButtonPress;
    if (!isHead && (event->type() == QEvent::Resize || event->type() == QEvent::Show))
        fit();
    return event->type() == QEvent::ToolTip && showCut(watched, *event);
}

void FittedColumns::fit()
{
    if (table_.model()->rowCount() == 0) {
        widest_.clear();
        isDragged_ = false;
        return;
    }
    if (isDragged_ || !table_.isVisible())
        return;
    hideEmpty();
    std::vector<Width> widths;
    int surplus = -table_.viewport()->width();
    for (int column = 0; column < table_.model()->columnCount(); ++column) {
        if (table_.isColumnHidden(column))
            continue;
        widths.push_back(widthOf(column));
        surplus += widths.back().wanted;
    }
    std::vector<Width> fitted = widths;
    for (const auto least :
        { &Width::forLongWords, &Width::forFirstWord, &Width::forContents, &Width::forLetters, &Width::forFigures })
        while (surplus > 0) { // those with most to give first
            const auto most
                = std::max_element(fitted.begin(), fitted.end(), [least](const Width& one, const Width& other) {
                      return one.wanted - one.*least < other.wanted - other.*least;
                  });
            if (most->wanted <= (*most).*least)
                break;
            --most->wanted;
            --surplus;
        }
    for (const Width& width : surplus > 0 ? widths : fitted) // scrolled anyway: then nothing need be cut
        table_.setColumnWidth(width.column, width.wanted);
}

void FittedColumns::hideEmpty()
{
    for (const int column : hiddenWhenEmpty_)
        if (table_.isColumnHidden(column) != isEmpty(column))
            table_.setColumnHidden(column, isEmpty(column));
}

bool FittedColumns::isEmpty(int column) const
{
    const QAbstractItemModel& rows = *table_.model();
    for (int row = 0; row < rows.rowCount(); ++row) {
        const QModelIndex cell = rows.index(row, column);
        const QString text = cell.data().toString();
        if (!text.isEmpty() && text != QStringLiteral("–") && text != QStringLiteral("0"))
            return false;
    }
    return true;
}

FittedColumns::Width FittedColumns::widthOf(int column)
{
    const int figures = static_cast<const QAbstractItemView&>(table_).sizeHintForColumn(column);
    int& widest = widest_[column];
    widest = std::max({ widest, std::min(figures, kMostColumn), kept_[column] });
    const int heading = table_.horizontalHeader()->sectionSizeHint(column);
    const int contents = std::max(widest, std::min(heading, kLeastHeading));
    const int letters = std::min(contents, kLeastWords);
    const int wanted = std::max(widest, heading);
    const bool isOfWords = !isNumber(column) && !namesWorkers(column);
    const int longWords = isOfWords ? std::min(wanted, std::max(heading, kLongWords)) : wanted;
    return { column, wanted, longWords, std::max(contents, firstWordOf(column, heading)), contents,
        isOfWords ? letters : contents, isNumber(column) ? figures : letters };
}

/// For the first word of a heading and dots behind it; for all of one that is a single word.
int FittedColumns::firstWordOf(int column, int heading) const
{
    const QString title = table_.model()->headerData(column, Qt::Horizontal).toString();
    const auto end = title.indexOf(QLatin1Char(' '));
    if (end < 0)
        return heading;
    const int word = table_.horizontalHeader()->fontMetrics().horizontalAdvance(title.left(end) + QChar(0x2026));
    return std::min(heading, word + kHeadingSides);
}

bool FittedColumns::namesWorkers(int column) const
{
    const QAbstractItemModel& rows = *table_.model();
    for (int row = 0; row < rows.rowCount(); ++row)
        if (rows.index(row, column).data(WorkerRole).isValid())
            return true;
    return false;
}

bool FittedColumns::isNumber(int column) const
{
    return table_.model()
        ->headerData(column, Qt::Horizontal, Qt::TextAlignmentRole)
        .value<Qt::Alignment>()
        .testFlag(Qt::AlignRight);
}

/// The whole of a cell that is cut, where no other tip is. Headings say theirs themselves.
bool FittedColumns::showCut(QObject* watched, const QEvent& event)
{
    const auto& help = static_cast<const QHelpEvent&>(event);
    if (watched == table_.horizontalHeader()->viewport())
        return false;
    const QModelIndex cell = table_.indexAt(help.pos());
    const QString text = cell.data().toString();
    if (!cell.isValid() || cell.data(Qt::ToolTipRole).isValid()
        || table_.fontMetrics().horizontalAdvance(text) + kCellSides <= table_.columnWidth(cell.column()))
        return false;
    showTip(help.globalPos(), text, table_.viewport());
    return true;
}

} // namespace furrow
