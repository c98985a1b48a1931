#pragma once

#include "core/run/folder/run_file.h"
#include "core/tracker/ledger_reader.h"

#include <stop_token>
#include <vector>

namespace furrow {

/// Whether a tracker is of this run, has the record of this run.json, and gives chunks out as it says. Only the first
/// thing that differs is told: it may be the reason of the next. Nothing may be claimed or trained then.
Status checkTracker(const RunPaths& paths, const RunFile& file, LedgerReader& reader);

/// "" when the tracker has its record of run.json, or never had one; else what is missing. A run that keeps the hash of
/// its held-out text has the record too.
Result<Message> missingRecord(const RunFile& file, LedgerReader& reader);

/// Corrupt where the tracker is not of the run of run.json, or cannot tell, and all checkpoints that are there are of
/// other runs: then it is run.json that is another one, and what is made anew by it proves none of them. Asked before a
/// repair, and by whoever recommends one.
Status checkRunFile(const RunPaths& paths, const RunFile& file);

/// What a run began with and keeps for ever, as far as it is another one now: tracker and run.json
/// (checkTracker), tokenizer, held-out text, questions, parent.json, each in a sentence that says what to do. Empty:
/// all is as it was. Asked by resume, doctor and audit, so that they cannot say different things.
/// @param stop  ends the reading of the held-out text
std::vector<Error> notAsBegun(
    const RunPaths& paths, const RunFile& file, LedgerReader& reader, const std::stop_token& stop = {});

} // namespace furrow
