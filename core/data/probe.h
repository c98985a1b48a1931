#pragma once

#include "core/data/plan/inspect.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace furrow {

class Tokenizer;

/// What `furrowctl data probe` and the form show of a data set. Figures marked "sampled" come from its first rows.
struct DataProbe {
    DataInspection inspection;
    std::int64_t sampledRows = 0;
    std::int64_t sampledFiltered = 0;
    std::int64_t sampledFailed = 0;
    std::int64_t sampledDamaged = 0; ///< of them, left out by bad_files: the limit does not count these
    double allowedPercent = 100; ///< of unreadable rows, as max_unreadable_percent says
    std::int64_t sampledDuplicates = 0; ///< trained all the same, unless duplicates is skip
    std::int64_t sampledHeldOut = 0;
    std::int64_t sampledInvalidUtf8 = 0; ///< with bytes or escapes that are no characters
    std::int64_t sampledTooLong = 0; ///< longer than a window, with long_samples cut or leave_out
    std::int64_t sampledDropped = 0; ///< characters that have no token and become none
    double tokensPerSample = 0; ///< sampled; with the end-of-text behind it, as status and audit count
    double bytesPerToken = 0; ///< sampled; of the tokens of text
    double unknownShare = 0; ///< sampled: tokens that stand for what the vocabulary does not have, 0..1; 0 with "char",
                             ///< whose vocabulary is made of all the data
    std::int64_t tokens = 0; ///< to be trained in an epoch, from the sampled mean
    std::int64_t heldOutTokens = 0; ///< of the samples that are set aside, from the same rows; not among `tokens`
    std::uint64_t preparedBytes = 0; ///< disk that the prepared blocks will take
    double prepareSeconds = 0; ///< on one thread of this machine, from the sampled speed
    std::vector<std::vector<std::uint32_t>> firstTokens; ///< of inspection.firstRows, up to 64 each
    double learntShare = 1; ///< sampled: of the tokens, those that the loss counts
    Message firstFailure; ///< "row 2 (line 3) of chats.jsonl is broken JSON": the first of sampledFailed
};

/// A probe with the tokenizer that the run would have; of "char", whose vocabulary is known only when all data was
/// read, one made of the first rows.
struct TokenizedProbe {
    DataProbe probe;
    std::shared_ptr<const Tokenizer> tokenizer;
};

/// inspectData, then reads rows for at most `limitMs`.
Result<TokenizedProbe> probeData(const RunConfig& config, std::int64_t limitMs);
/// The same with another tokenizer.
Result<DataProbe> probeData(const RunConfig& config, const Tokenizer& tokenizer, std::int64_t limitMs);

/// What a person should know of the rows before they train them: how many of those that were read are left out,
/// repeated or not as they seem, and the warnings of the inspection.
std::vector<Message> remarksOn(const DataProbe& probe);

} // namespace furrow
