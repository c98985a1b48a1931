#pragma once

#include "core/base/message.h"

#include <QStringList>

#include <vector>

namespace furrow {

/// A message of core (why a run is in its state, an event, the end of a worker, a finding of the audit, what is wrong
/// with a setting, an error) in the language of the person: its sentence is looked up as it stands in the code, and its
/// values are written as that language writes counts, sizes, times, settings and states. Names stay as they are, and so
/// does a plain text, unless it is a sentence without values.
QString coreWords(const Message& message);
QStringList coreWords(const std::vector<Message>& messages);

} // namespace furrow
