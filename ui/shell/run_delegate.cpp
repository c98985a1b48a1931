#include "ui/shell/run_delegate.h"

#include "ui/models/run_list_model.h"
#include "ui/parts/page_parts.h"
#include "ui/widgets/meters.h"
#include "ui/widgets/state_glyph.h"

#include <QPainter>
#include <algorithm>

namespace furrow {

namespace {

constexpr int kRowHeight = 46;
constexpr int kGroupHeight = 22;
constexpr int kAttemptHeight = 38;
constexpr int kSide = 10;
constexpr int kGlyph = 14;
constexpr int kSparkWidth = 52;
constexpr int kLineGap = 2;

bool isAttempt(const QModelIndex& index) { return index.parent().isValid(); }

QColor secondary(const QStyleOptionViewItem& option)
{
    return option.palette.color(
        option.state.testFlag(QStyle::State_Selected) ? QPalette::Text : QPalette::PlaceholderText);
}

/// Name of the group when this is its first run in the list.
QString groupHead(const QModelIndex& index)
{
    if (isAttempt(index))
        return {};
    const QString group = index.data(RunListModel::GroupRole).toString();
    const bool first
        = index.row() == 0 || index.siblingAtRow(index.row() - 1).data(RunListModel::GroupRole).toString() != group;
    return first ? group : QString();
}

/// What an attempt changed.
QString changesOf(const QModelIndex& index) { return index.data(RunListModel::ChangesRole).toString(); }

QString subtitle(const QModelIndex& index)
{
    QString text = index.data(RunListModel::SubtitleRole).toString();
    const QStringList tags = index.data(RunListModel::TagsRole).toStringList();
    for (const QString& tag : tags)
        text += QStringLiteral(" #") + tag;
    return text;
}

} // namespace

RunDelegate::RunDelegate(QObject* parent)
    : QStyledItemDelegate(parent)
{
}

int RunDelegate::headHeight(const QModelIndex& index) { return groupHead(index).isEmpty() ? 0 : kGroupHeight; }

QSize RunDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const
{
    const int small = QFontMetrics(scaledFont(TextSize::Small)).height();
    if (isAttempt(index))
        return { 100, std::max(kAttemptHeight, small * 2 + 8) + (changesOf(index).isEmpty() ? 0 : small + kLineGap) };
    return { 100, std::max(kRowHeight, QFontMetrics(option.font).height() + small + 12) + headHeight(index) };
}

void RunDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const
{
    painter->save();
    const QPalette& colours = option.palette;
    QRect area = option.rect;
    if (const QString group = groupHead(index); !group.isEmpty()) {
        painter->setFont(scaledFont(TextSize::Tiny));
        painter->setPen(colours.color(QPalette::PlaceholderText));
        painter->drawText(QRect(kSide, area.top(), area.right() - 2 * kSide, kGroupHeight), Qt::AlignVCenter, group);
        area.setTop(area.top() + kGroupHeight);
    }
    if (option.state.testFlag(QStyle::State_Selected))
        painter->fillRect(area, colours.color(QPalette::Highlight));
    else if (option.state.testFlag(QStyle::State_MouseOver))
        painter->fillRect(area, colours.color(QPalette::Midlight));
    if (option.state.testFlag(QStyle::State_HasFocus)) {
        painter->setPen(colours.color(QPalette::Link));
        painter->drawRect(area.adjusted(0, 0, -1, -1));
    }
    const QRect row = area.adjusted(4, 5, -kSide, -5);
    if (isAttempt(index))
        paintAttempt(*painter, option, row, index);
    else
        paintRun(*painter, option, row, index);
    painter->restore();
}

void RunDelegate::paintRun(
    QPainter& painter, const QStyleOptionViewItem& option, const QRect& row, const QModelIndex& index) const
{
    const QPalette& colours = option.palette;
    const auto state = static_cast<RunState>(index.data(RunListModel::StateRole).toInt());
    drawStateGlyph(
        painter, QRectF(row.left(), row.top() + (row.height() - kGlyph) / 2.0, kGlyph, kGlyph), glyphOf(state));
    const int right = row.right() - kSparkWidth;
    const QRect words(row.left() + kGlyph + 8, row.top(), right - row.left() - kGlyph - 14, row.height());
    const QRect upper(words.left(), words.top(), words.width(), words.height() / 2);
    const QFont small = scaledFont(TextSize::Small);
    const QString loss = index.data(RunListModel::LossTextRole).toString();
    const int lossWidth = std::max(kSparkWidth, QFontMetrics(small).horizontalAdvance(loss) + 2);
    const QRect lower(
        words.left(), words.top() + words.height() / 2, words.width() + kSparkWidth - lossWidth, words.height() / 2);
    painter.setFont(option.font);
    painter.setPen(colours.color(QPalette::Text));
    painter.drawText(upper, Qt::AlignVCenter,
        QFontMetrics(option.font)
            .elidedText(index.data(RunListModel::NameRole).toString(), Qt::ElideRight, upper.width()));
    painter.setFont(small);
    painter.setPen(secondary(option));
    painter.drawText(
        lower, Qt::AlignVCenter, QFontMetrics(small).elidedText(subtitle(index), Qt::ElideRight, lower.width()));
    const auto losses = index.data(RunListModel::SparklineRole).value<QVector<double>>();
    drawSparkline(
        painter, QRectF(right, row.top() + 2, kSparkWidth, row.height() / 2.0 - 4), { losses.begin(), losses.end() });
    painter.setPen(colours.color(QPalette::Text));
    painter.drawText(QRect(row.right() - lossWidth, lower.top(), lossWidth, lower.height()),
        Qt::AlignVCenter | Qt::AlignRight, loss);
}

void RunDelegate::paintAttempt(
    QPainter& painter, const QStyleOptionViewItem& option, const QRect& row, const QModelIndex& index) const
{
    const QString changes = changesOf(index);
    const int line = row.height() / (changes.isEmpty() ? 2 : 3);
    const QRect first(row.left(), row.top(), row.width(), line);
    const QFont small = scaledFont(TextSize::Small);
    const auto drawLine = [&](int number, const QString& text) {
        painter.drawText(first.translated(0, number * line), Qt::AlignVCenter | Qt::AlignLeft,
            QFontMetrics(small).elidedText(text, Qt::ElideRight, row.width()));
    };
    painter.setFont(small);
    painter.setPen(option.palette.color(QPalette::Text));
    drawLine(0, index.data(RunListModel::NameRole).toString());
    painter.drawText(first, Qt::AlignVCenter | Qt::AlignRight, index.data(RunListModel::StepsTextRole).toString());
    painter.setPen(secondary(option));
    drawLine(1, index.data(RunListModel::SubtitleRole).toString());
    if (!changes.isEmpty())
        drawLine(2, changes);
}

} // namespace furrow
