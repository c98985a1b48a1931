#include "ui/parts/page_parts.h"

#include "ui/models/table_model.h"
#include "ui/theme/theme.h"
#include "ui/widgets/plain_text.h"

#include <QBoxLayout>
#include <QHeaderView>
#include <QHelpEvent>
#include <QLineEdit>
#include <QPainter>
#include <QPushButton>
#include <QShortcut>
#include <QSortFilterProxyModel>
#include <QStyle>
#include <QTableView>

namespace furrow {

namespace {

constexpr FontRole kRoles[] = { FontRole::Body, FontRole::Small, FontRole::Axis, FontRole::Title }; // as TextSize
constexpr int kTableRow = 26;
constexpr int kTableHeader = 24;

/// The headings of a table. One that is cut ends with dots, and its tip says the whole; Qt leaves the sides of a
/// heading out of account and cuts letters off.
class Headings : public QHeaderView {
public:
    explicit Headings(QWidget* parent)
        : QHeaderView(Qt::Horizontal, parent)
    {
        setSectionsClickable(true);
    }

protected:
    void initStyleOptionForIndex(QStyleOptionHeader* option, int section) const override
    {
        QHeaderView::initStyleOptionForIndex(option, section);
        option->text = shownOf(section, option->text);
    }

    bool viewportEvent(QEvent* event) override
    {
        const auto* help = event->type() == QEvent::ToolTip ? static_cast<QHelpEvent*>(event) : nullptr;
        const int section = help == nullptr ? -1 : logicalIndexAt(help->pos());
        if (section < 0)
            return QHeaderView::viewportEvent(event);
        const QString title = model()->headerData(section, Qt::Horizontal).toString();
        if (sectionSize(section) >= sectionSizeHint(section) && shownOf(section, title) == title)
            return QHeaderView::viewportEvent(event);
        const QString tip = model()->headerData(section, Qt::Horizontal, Qt::ToolTipRole).toString();
        showTip(help->globalPos(), tip.isEmpty() ? title : title + QStringLiteral("\n") + tip, viewport());
        return true;
    }

private:
    QString shownOf(int section, const QString& title) const
    {
        constexpr int kSides = 25; // as style.qss pads them
        constexpr int kArrow = 12; // of the column that the table is sorted by
        const bool isSorted = isSortIndicatorShown() && sortIndicatorSection() == section;
        const int room = sectionSize(section) - kSides - (isSorted ? kArrow : 0);
        return fontMetrics().elidedText(title, Qt::ElideRight, room);
    }
};

} // namespace

QFont scaledFont(TextSize size, int weight)
{
    return theme().font(kRoles[static_cast<int>(size)], static_cast<QFont::Weight>(weight));
}

QFont codeFont(TextSize size) { return theme().monoFont(kRoles[static_cast<int>(size)]); }

QLabel* makeLabel(const QString& text, TextTone tone, TextSize size, bool bold)
{
    QLabel* label = plainLabel(text);
    label->setFont(scaledFont(size, bold ? QFont::DemiBold : QFont::Normal));
    static constexpr const char* kTones[] = { "value", "secondary", "hint", "error" };
    label->setProperty("tone", QString::fromLatin1(kTones[static_cast<int>(tone)]));
    return label;
}

void setTone(QLabel* label, TextTone tone)
{
    static constexpr const char* kTones[] = { "value", "secondary", "hint", "error" };
    const QString name = QString::fromLatin1(kTones[static_cast<int>(tone)]);
    if (label->property("tone").toString() == name)
        return;
    label->setProperty("tone", name);
    label->style()->unpolish(label);
    label->style()->polish(label);
}

void setInvalid(QWidget* field, bool invalid)
{
    if (field->property("invalid").toBool() == invalid)
        return;
    field->setProperty("invalid", invalid);
    field->style()->unpolish(field);
    field->style()->polish(field);
}

void saySentence(QLabel* line, const QString& sentence, bool bad)
{
    setTone(line, bad ? TextTone::Error : TextTone::Secondary);
    line->setText(sentence);
}

ElidedLabel::ElidedLabel(TextTone tone, TextSize size)
{
    makePlain(*this);
    setFont(scaledFont(size));
    setTone(this, tone);
    setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
}

void ElidedLabel::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    const QRect inside = contentsRect(); // only this part is painted anew when the text changes
    const QString shown = fontMetrics().elidedText(text(), Qt::ElideRight, inside.width());
    painter.setPen(palette().color(foregroundRole()));
    painter.drawText(inside, static_cast<int>(alignment()) | Qt::TextSingleLine, shown);
}

QFrame* makeLine(Qt::Orientation orientation)
{
    auto* line = new QFrame;
    line->setProperty("separator", true);
    if (orientation == Qt::Horizontal)
        line->setFixedHeight(1);
    else
        line->setFixedWidth(1);
    return line;
}

EmptyState::EmptyState(const QString& sentence, QWidget* parent)
    : QWidget(parent)
    , sentence_(makeLabel(sentence, TextTone::Secondary))
{
    auto* column = new QVBoxLayout(this);
    column->addStretch(1);
    sentence_->setAlignment(Qt::AlignHCenter);
    sentence_->setWordWrap(true);
    column->addWidget(sentence_);
    column->addSpacing(12);
    auto* row = new QHBoxLayout;
    row->addStretch();
    row->addStretch();
    buttons_ = row;
    column->addLayout(row);
    column->addStretch(2);
}

void EmptyState::setSentence(const QString& sentence) { sentence_->setText(sentence); }

QPushButton* EmptyState::addButton(const QString& text, bool primary)
{
    QPushButton* button = makeButton(text, {}, primary);
    buttons_->insertWidget(buttons_->count() - 1, button, 0, Qt::AlignHCenter);
    if (buttons_->count() > 3) // two buttons between two stretches: below each other they fit a narrow dock too
        buttons_->setDirection(QBoxLayout::TopToBottom);
    return button;
}

QTableView* makeTable(const QString& accessibleName)
{
    auto* table = new QTableView;
    table->setAccessibleName(accessibleName);
    table->setHorizontalHeader(new Headings(table));
    table->setFont(scaledFont(TextSize::Small));
    table->setShowGrid(false);
    table->setFrameShape(QFrame::NoFrame);
    table->setSelectionBehavior(QAbstractItemView::SelectRows);
    table->setSelectionMode(QAbstractItemView::ExtendedSelection);
    table->setEditTriggers(QAbstractItemView::NoEditTriggers);
    table->setWordWrap(false);
    table->setTabKeyNavigation(false);
    table->verticalHeader()->hide();
    table->verticalHeader()->setDefaultSectionSize(kTableRow);
    table->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    table->horizontalHeader()->setFixedHeight(kTableHeader);
    table->horizontalHeader()->setHighlightSections(false);
    table->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    table->horizontalHeader()->setStretchLastSection(true);
    table->horizontalHeader()->setFont(scaledFont(TextSize::Tiny));
    table->setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
    // What a click on a header does, by the keyboard: the arrow keys go to a column, Alt with them sorts by it.
    for (const auto& [key, order] :
        { std::pair(Qt::Key_Up, Qt::AscendingOrder), std::pair(Qt::Key_Down, Qt::DescendingOrder) }) {
        auto* sort = new QShortcut(QKeySequence(Qt::ALT | key), table, nullptr, nullptr, Qt::WidgetShortcut);
        QObject::connect(sort, &QShortcut::activated, table, [table, order = order] {
            if (table->isSortingEnabled() && table->currentIndex().isValid())
                table->sortByColumn(table->currentIndex().column(), order);
        });
    }
    return table;
}

QLineEdit* makeSearch(const QString& what)
{
    auto* field = new QLineEdit;
    field->addAction(theme().icon(QStringLiteral("search"), Token::Text3), QLineEdit::LeadingPosition);
    field->setPlaceholderText(what);
    field->setAccessibleName(what);
    field->setClearButtonEnabled(true);
    return field;
}

void setSortedModel(QTableView* table, QAbstractItemModel* model, int sortColumn, Qt::SortOrder order)
{
    auto* proxy = qobject_cast<QSortFilterProxyModel*>(model);
    if (proxy == nullptr) {
        proxy = new QSortFilterProxyModel(table);
        proxy->setSourceModel(model);
    }
    proxy->setSortRole(SortRole);
    table->setModel(proxy);
    table->setSortingEnabled(true);
    const QVariant lastAlignment = proxy->headerData(proxy->columnCount() - 1, Qt::Horizontal, Qt::TextAlignmentRole);
    table->horizontalHeader()->setStretchLastSection(
        !lastAlignment.value<Qt::Alignment>().testFlag(Qt::AlignRight)); // numbers stay beside the others
    table->horizontalHeader()->setSortIndicator(sortColumn, order);
    proxy->sort(sortColumn, order);
}

QPushButton* makeButton(const QString& text, const QString& icon, bool primary)
{
    auto* button = new QPushButton(text);
    if (!icon.isEmpty())
        button->setIcon(theme().icon(icon, primary ? Token::OnAccentFill : Token::Text1));
    if (primary)
        button->setProperty("primary", true);
    button->setAccessibleName(text);
    return button;
}

} // namespace furrow
