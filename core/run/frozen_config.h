#pragma once

#include "core/run/run_file.h"
#include "core/tracker/ledger_reader.h"

#include <stop_token>
#include <string>

namespace furrow {

/// Everything in run.json that defines the chunks or the weights, as JSON text: the tracker keeps it from the beginning.
std::string frozenText(const RunFile& file);

/// Compares run.json with what the tracker keeps. InvalidArgument names what was edited; nothing may be claimed or trained then.
Status checkFrozen(const RunFile& file, LedgerReader& reader);

/// Whether the tracker has a record of what every run freezes: the data, the tokenizer and the held-out text.
Result<bool> hasRecord(LedgerReader& reader);

/// heldout.bin against the hash that run.json keeps since 0.2. Corrupt: it is another text; ok also where no hash was kept (RunFile::heldOutHash).
Status checkHeldOut(const RunPaths& paths, const RunFile& file, const std::stop_token& stop = {});

} // namespace furrow
