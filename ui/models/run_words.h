#pragma once

#include "core/run/status/run_status.h"

#include <QString>

namespace furrow {

/// "a person killed it", "the end of the epoch was reached"; "" for None. @param detail  of the same attempt, as it was
/// recorded
QString endReasonSentence(StopReason reason, const Message& detail);

/// What the active time of a run counts.
QString activeTimeHelp();
/// Of which work the steps and tokens of a run are.
QString trainedSoFarHelp();
/// "95 samples left out as repeats of text before them.", of the data of one epoch; "": none was.
QString repeatsText(const RunStatus& status);
/// What of the data is not as it may seem: that, rows that cannot be used, repeats that are trained; "": nothing.
QString dataText(const RunStatus& status);

} // namespace furrow
