#pragma once

#include "core/base/message.h"
#include "core/base/result.h"
#include "core/data/block_manager.h"
#include "core/data/exclusion_meter.h"
#include "core/run/folder/run_paths.h"

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace furrow {

/// What the feeder of a run has read and prepared so far, over all attempts, and how fast it is now. Published in
/// reading.json once a second for people (status, console); nothing depends on it.
struct Reading {
    std::int64_t attempt = 0;
    Message doing; ///< "preparing block 3"; "" of a run that has ended
    std::int64_t blocksPrepared = 0; ///< made; a block prepared again counts again
    std::int64_t blocksFromCache = 0; ///< found prepared
    std::int64_t samplesFetched = 0; ///< rows read to make blocks
    std::uint64_t textBytes = 0; ///< text read to make blocks
    std::uint64_t downloadedBytes = 0;
    std::uint64_t downloadRequests = 0;
    double megabytesPerSecond = 0; ///< of text, while a block is made; over the last blocks
    double busyShare = 0; ///< of the feeder's time in this attempt spent on making blocks, 0..1
    std::int64_t opens = 0; ///< of source files
    double openMs = 0; ///< mean
    double slowestOpenMs = 0;
    std::int64_t labels = 0; ///< of all prepared chunks, each once
    std::int64_t slots = 0; ///< places for labels in their windows: the difference is padding
    std::int64_t learnt = 0; ///< of `labels`, what the loss counts; of plain text its tokens
    std::int64_t tooLong = 0; ///< samples longer than a window that were cut or left out
    std::int64_t tooLongLost = 0; ///< of them, left out whole
    std::int64_t dropped = 0; ///< characters that the tokenizer has no token for and dropped
    std::int64_t lookedTokens = 0; ///< of all prepared chunks, each once: those that the two shares are of
    std::int64_t untrainedTexts = 0; ///< of which all rows are left out, or repeat one that is
    double repeatedShare = 0; ///< of the text, as far as each attempt by itself could tell
    double unknownShare = 0; ///< of its tokens: characters that the vocabulary does not have, dropped ones among them
    ComparedFiles hub; ///< compared in any attempt
    ExclusionCount exclusions; ///< what is left out by name, of all blocks prepared so far
    std::int64_t unmetExclusions = 0; ///< entries of that list that mean nothing of the data, as far as is known
    std::vector<std::string> firstUnmet; ///< the first of them, as they are written
    Message encodingDoubt; ///< rows look as if in another encoding than they are read in; "": none do
};
nlohmann::json toJson(const Reading& reading);

/// Which files of the hub are verified, not yet, or will not be and why, in sentences; nothing when there are none.
std::vector<Message> comparedInWords(const ComparedFiles& files);

/// What is left out by name, and which names met nothing, in sentences.
std::vector<Message> exclusionsInWords(const Reading& reading);

/// nullopt when no feeder has published yet, or the file cannot be read.
std::optional<Reading> readReading(const RunPaths& paths);
/// Replaced as a whole, not synced.
Status publishReading(const RunPaths& paths, const Reading& reading);

} // namespace furrow
