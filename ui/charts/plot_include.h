#pragma once

// The only door to QCustomPlot. Its header is written with the keyword macros of Qt, which our code forbids
// (QT_NO_KEYWORDS, QT_NO_FOREACH): they exist while it is read and not after.
#include <QObject>

#define signals Q_SIGNALS
#define slots Q_SLOTS
#define emit
// NOLINTNEXTLINE(bugprone-macro-parentheses): as Qt has it
#define foreach(variable, container) for (variable : container)
#include <qcustomplot.h>
#undef signals
#undef slots
#undef emit
#undef foreach
