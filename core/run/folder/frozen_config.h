#pragma once

#include "core/run/folder/run_file.h"
#include "core/tracker/ledger_reader.h"

#include <memory>
#include <stop_token>
#include <string>

namespace furrow {

class Tokenizer;

/// What run.json says of data, tokenizer, held-out text and settings, as JSON text: the tracker keeps it from the
/// beginning. Where the data lie and what the run is called may change.
std::string frozenText(const RunFile& file);

/// Compares run.json with what the tracker keeps. InvalidArgument names what was edited; nothing may be claimed or
/// trained then.
Status checkFrozen(const RunFile& file, LedgerReader& reader);

/// How much of run.json the tracker has a record of.
enum class FrozenRecord {
    None, ///< at most some settings: made by a version that kept no more, or cut
    Facts, ///< the data, the tokenizer, the held-out text, and the settings that a resume refuses
    Whole, ///< the list of data files and every setting too
};
Result<FrozenRecord> frozenRecord(LedgerReader& reader);

/// The tokenizer of the run. Corrupt: its file holds another one than the run began with, or none.
Result<std::shared_ptr<const Tokenizer>> tokenizerOfRun(const RunPaths& paths, const RunFile& file);

/// heldout.bin against the hash that run.json keeps since 0.2. Corrupt: it is another text; ok also where no hash was
/// kept (RunFile::heldOutHash).
Status checkHeldOut(const RunPaths& paths, const RunFile& file, const std::stop_token& stop = {});

/// The copy of the questions of eval_tasks against the hash that run.json keeps. Corrupt: it is another file.
Status checkQuestions(const RunPaths& paths, const RunFile& file, const std::stop_token& stop = {});

} // namespace furrow
