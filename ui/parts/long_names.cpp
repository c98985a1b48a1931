#include "ui/parts/long_names.h"

#include <QTableView>
#include <algorithm>

namespace furrow {

void fitColumns(QTableView& table)
{
    constexpr int kMostColumn = 320;
    table.resizeColumnsToContents();
    for (int column = 0; column < table.model()->columnCount(); ++column)
        table.setColumnWidth(column, std::min(table.columnWidth(column), kMostColumn));
}

QString breakable(const QString& text)
{
    constexpr int kLongWord = 20;
    QString broken;
    int letters = 0;
    for (const QChar c : text) {
        letters = c.isSpace() ? 0 : letters + 1;
        broken += c;
        if (letters >= kLongWord && !c.isHighSurrogate()) {
            broken += QChar(0x200B); // a place to wrap that takes no room
            letters = 0;
        }
    }
    return broken;
}

} // namespace furrow
