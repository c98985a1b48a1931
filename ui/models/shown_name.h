#pragma once

#include "ui/bridge/run_feed.h"

#include <QString>

namespace furrow {

class Workbench;

/// What the library calls a run: with what tells it apart where another one has the name too.
/// @param otherwise  of a run that it does not list
QString libraryName(const RunLines& lines, const QString& folder, const QString& otherwise);

/// What the library calls the run that is shown. "": none is shown.
QString shownName(Workbench& bench);

} // namespace furrow
