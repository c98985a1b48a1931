#pragma once

#include <QString>

namespace furrow {

class Workbench;

/// What the library calls the run that is shown: with its folder where another one is a copy of it. "": none is shown.
QString shownName(Workbench& bench);

} // namespace furrow
