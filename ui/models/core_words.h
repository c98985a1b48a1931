#pragma once

#include "core/config/schema.h"

#include <QStringList>

#include <span>
#include <string>
#include <vector>

namespace furrow {

/// A sentence of core (why a run is in its state, an event, the end of a worker, a finding of the audit, what is wrong
/// with a setting, an error) in the language of the person: core writes it in English with sentence()
/// (core/base/sentence.h), also into files. Its values become the words of the person where they are words: times,
/// states, reasons, settings, other sentences. Several of them may stand in lines, and one may say where another one
/// happened: "reading block 3: ..." (Error::in). Any other text stays as it is.
QString coreWords(const std::string& english);
QString coreWords(const QString& english);
QStringList coreWords(const std::vector<std::string>& sentences);

/// Every sentence that core writes so, with %1, %2, ... in this order; made from its sources by
/// translations/core_texts.py.
std::span<const char* const> coreSentences();

} // namespace furrow
