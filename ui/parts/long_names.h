#pragma once

#include <QString>

class QTableView;

namespace furrow {

/// Columns as wide as their contents, but none so wide that a long name hides the others: it is elided.
void fitColumns(QTableView& table);
/// Text that can be wrapped anywhere a long word needs it; for labels that are not copied from.
QString breakable(const QString& text);

} // namespace furrow
