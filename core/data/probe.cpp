#include "core/data/probe.h"

#include "core/base/clock.h"
#include "core/base/hash.h"
#include "core/base/sentence.h"
#include "core/base/utf8.h"
#include "core/config/named_tokenizer.h"
#include "core/data/block/block_writer.h"
#include "core/data/data_alarms.h"
#include "core/data/plan/chunk_collector.h"
#include "core/data/plan/held_out.h"
#include "core/data/plan/passed_over.h"
#include "core/data/plan/row_walk.h"
#include "core/data/plan/sample_encoder.h"
#include "core/data/source/row_reader.h"
#include "core/data/tokenizer/tokenizer.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>

namespace furrow {

namespace {

constexpr std::size_t kFirstTokens = 64;

struct Sampled {
    std::int64_t kept = 0;
    std::int64_t tokens = 0;
    std::int64_t heldOutTokens = 0; ///< with the end-of-text behind each
    std::int64_t unknown = 0;
    std::int64_t learnt = 0;
    std::uint64_t textBytes = 0;
    double seconds = 0;
};

/// What a block makes of a row.
struct Encoded {
    RowFate fate = RowFate::Trained;
    std::uint8_t flags = 0; ///< SampleFlag bits of one that is a sample
    SampleTokens sample {}; ///< where it was encoded; of a row that cannot be read its problem
};

/// @param seen  fingerprints of the rows before it
Result<Encoded> judge(
    const Row& row, const SampleRules& rules, const SampleEncoder& encoder, std::unordered_set<std::uint64_t>& seen)
{
    Encoded judged;
    if (row.problem != nullptr) {
        judged.fate = RowFate::Failed;
        judged.sample.problem = row.problem;
        return judged;
    }
    if (rules.isFiltered(row.text)) {
        judged.fate = RowFate::Filtered;
        return judged;
    }
    const std::uint64_t fingerprint = xxh3(row.text);
    FURROW_TRY_ASSIGN(judged.flags, rules.flagsOf(row.text, fingerprint, !seen.insert(fingerprint).second));
    auto made = encoder.encode(row.text, row.isConversation);
    if (!made.ok() && (judged.flags & SampleLeftOut) == 0)
        return made.error();
    if (made.ok()) {
        judged.sample = std::move(made).value();
        judged.flags = flagsOnceEncoded(judged.flags, judged.sample, encoder);
    }
    judged.fate = fateOf(judged.flags);
    return judged;
}

void count(const Encoded& row, const Row& read, const RunConfig& config, DataProbe& probe, Sampled& sampled,
    const Tokenizer& tokenizer)
{
    const auto& sample = row.sample;
    const bool isTrained = row.fate == RowFate::Trained;
    const bool isRepeat = row.fate == RowFate::Duplicate || (isTrained && (row.flags & SampleRepeat) != 0);
    probe.sampledFailed += row.fate == RowFate::Failed ? 1 : 0;
    probe.sampledDamaged += read.isDamaged ? 1 : 0;
    probe.sampledFiltered += row.fate == RowFate::Filtered ? 1 : 0;
    probe.sampledHeldOut += row.fate == RowFate::HeldOut ? 1 : 0;
    probe.sampledDuplicates += isRepeat ? 1 : 0;
    probe.sampledDropped += sample.dropped;
    probe.sampledTooLong += (row.flags & SampleTooLong) != 0 ? 1 : 0;
    if (row.fate == RowFate::HeldOut)
        sampled.heldOutTokens += std::ssize(sample.tokens) + 1;
    if (!isTrained)
        return;
    probe.sampledInvalidUtf8 += read.isBroken() ? 1 : 0;
    const auto& tokens = sample.tokens;
    ++sampled.kept;
    sampled.tokens += std::ssize(tokens);
    sampled.learnt
        += sample.learnt.empty() ? std::ssize(tokens) : std::count(sample.learnt.begin(), sample.learnt.end(), 1);
    if (const auto unknown = tokenizer.unknownToken();
        unknown && closedValue<NamedTokenizer>(config.tokenizer) != NamedTokenizer::Char)
        sampled.unknown += std::count(tokens.begin(), tokens.end(), *unknown);
    sampled.textBytes += read.text.size();
}

/// Reads and tokenises rows of all sources in turn until the time is over.
Status sampleRows(const RunConfig& config, const DataManifest& manifest, const Tokenizer& tokenizer,
    std::int64_t limitMs, DataProbe& probe, Sampled& sampled)
{
    FURROW_TRY_ASSIGN(const auto rules, sampleRules(config, manifest));
    FURROW_TRY_ASSIGN(const auto encoder, SampleEncoder::open(config, manifest, tokenizer));
    std::unordered_set<std::uint64_t> seen;
    const std::int64_t start = systemClock().monotonicNs();
    const std::int64_t share
        = limitMs * 1'000'000 / std::max<std::int64_t>(1, static_cast<std::int64_t>(manifest.sources.size()));
    const auto take = [&](const Row& row, const WalkedRow& at) -> Result<Walk> {
        if (systemClock().monotonicNs() >= start + share * (static_cast<std::int64_t>(at.source) + 1))
            return Walk::NextSource;
        ++probe.sampledRows;
        FURROW_TRY_ASSIGN(const Encoded made, judge(row, rules, encoder, seen));
        count(made, row, config, probe, sampled, tokenizer);
        if (made.fate == RowFate::Failed && probe.firstFailure.empty())
            probe.firstFailure = rowInWords(at.place.row, at.file, made.sample.problem);
        return Walk::On;
    };
    FURROW_TRY(walkRows(config, manifest, take, DistantFiles::FirstWithRows));
    sampled.seconds = static_cast<double>(systemClock().monotonicNs() - start) * 1e-9;
    return {};
}

/// A vocabulary of characters is known only when all data was read: in one of the first rows a character is one token
/// as well, which stands for those that these rows do not have.
Result<std::shared_ptr<const Tokenizer>> charTokenizerOf(const std::vector<std::string>& rows)
{
    std::vector<std::string> texts; // bytes that are no characters would make it spell out the others
    for (const std::string& row : rows)
        texts.push_back(replaceInvalidUtf8(row).text);
    std::size_t next = 0;
    const auto nextText = [&](std::string_view& text) {
        if (next == texts.size())
            return false;
        text = texts[next++];
        return true;
    };
    return buildCharTokenizer(nextText, CharFallback::Unknown);
}

Result<DataProbe> probeInspected(
    const RunConfig& config, DataInspection inspection, const Tokenizer& tokenizer, std::int64_t limitMs)
{
    DataProbe probe;
    probe.inspection = std::move(inspection);
    probe.allowedPercent = config.maxUnreadablePercent;
    FURROW_TRY_ASSIGN(auto manifest, readManifest(probe.inspection.manifest));
    Sampled sampled;
    const PassedOver passed;
    FURROW_TRY(sampleRows(config, manifest, tokenizer, limitMs, probe, sampled));
    passed.addTo(probe.inspection.warnings);
    for (const auto& text : probe.inspection.firstRows) {
        std::vector<TokenId> tokens;
        FURROW_TRY(manifest.chat ? tokenizer.encodeMatchingSpecial(text, tokens) : tokenizer.encode(text, tokens));
        tokens.resize(std::min(tokens.size(), kFirstTokens));
        probe.firstTokens.push_back(std::move(tokens));
    }
    const double all = static_cast<double>(probe.inspection.rows)
        / static_cast<double>(std::max<std::int64_t>(1, probe.sampledRows));
    probe.heldOutTokens = std::llround(all * static_cast<double>(sampled.heldOutTokens));
    if (sampled.kept == 0)
        return probe;
    probe.tokensPerSample = static_cast<double>(sampled.tokens + sampled.kept) / static_cast<double>(sampled.kept);
    probe.bytesPerToken
        = static_cast<double>(sampled.textBytes) / static_cast<double>(std::max<std::int64_t>(1, sampled.tokens));
    probe.unknownShare = static_cast<double>(sampled.unknown + probe.sampledDropped)
        / static_cast<double>(std::max<std::int64_t>(1, sampled.tokens + probe.sampledDropped));
    probe.learntShare
        = static_cast<double>(sampled.learnt) / static_cast<double>(std::max<std::int64_t>(1, sampled.tokens));
    const double kept = all * static_cast<double>(sampled.kept);
    probe.tokens = std::llround(all * static_cast<double>(sampled.tokens + sampled.kept));
    probe.preparedBytes = static_cast<std::uint64_t>(
        estimatedBlockBytes(kept, static_cast<double>(probe.tokens), tokenizer.vocabularySize()));
    probe.prepareSeconds = kept * sampled.seconds / static_cast<double>(sampled.kept);
    return probe;
}

} // namespace

Result<DataProbe> probeData(const RunConfig& config, const Tokenizer& tokenizer, std::int64_t limitMs)
{
    FURROW_TRY_ASSIGN(auto inspection, inspectData(config));
    return probeInspected(config, std::move(inspection), tokenizer, limitMs);
}

Result<TokenizedProbe> probeData(const RunConfig& config, std::int64_t limitMs)
{
    const bool chars = closedValue<NamedTokenizer>(config.tokenizer) == NamedTokenizer::Char;
    std::shared_ptr<const Tokenizer> tokenizer;
    if (!chars) {
        FURROW_TRY_ASSIGN(tokenizer, loadTokenizer(config.tokenizer)); // a wrong name is told before the data is read
    }
    FURROW_TRY_ASSIGN(auto inspection, inspectData(config));
    if (chars) {
        FURROW_TRY_ASSIGN(tokenizer, charTokenizerOf(inspection.firstRows));
    }
    FURROW_TRY_ASSIGN(auto probe, probeInspected(config, std::move(inspection), *tokenizer, limitMs));
    return TokenizedProbe { std::move(probe), std::move(tokenizer) };
}

std::vector<Message> remarksOn(const DataProbe& probe)
{
    std::vector<Message> remarks;
    const auto count = [&](std::int64_t number, const Message& one, const Message& many) {
        if (number > 0)
            remarks.push_back(number == 1 ? one : many);
    };
    const Count read(probe.sampledRows);
    count(probe.sampledFailed,
        sentence("1 of the %1 samples that were read cannot be used: %2.", { read, probe.firstFailure }),
        sentence("%1 of the %2 samples that were read cannot be used; the first: %3.",
            { Count(probe.sampledFailed), read, probe.firstFailure }));
    const std::int64_t counted = probe.sampledRows - probe.sampledDamaged;
    const std::int64_t failed = probe.sampledFailed - probe.sampledDamaged;
    if (isTooUnreadable(failed, counted, probe.allowedPercent))
        remarks.push_back(sentence(
            "That is %1 % of them, and max_unreadable_percent allows %2 %: the run would stop. Mend the data, or set a higher limit.",
            { Real(100 * static_cast<double>(failed) / static_cast<double>(counted), 1),
                Real(probe.allowedPercent, 1) }));
    count(probe.sampledFiltered, sentence("1 of the %1 samples that were read is filtered.", { read }),
        sentence("%1 of the %2 samples that were read are filtered.", { Count(probe.sampledFiltered), read }));
    count(probe.sampledDuplicates, sentence("1 of the %1 samples that were read is a repeat.", { read }),
        sentence("%1 of the %2 samples that were read are repeats.", { Count(probe.sampledDuplicates), read }));
    count(probe.sampledTooLong, sentence("1 of the %1 samples that were read is longer than a window.", { read }),
        sentence(
            "%1 of the %2 samples that were read are longer than a window.", { Count(probe.sampledTooLong), read }));
    count(probe.sampledInvalidUtf8,
        sentence("1 of the %1 samples that were read has bytes or escapes that are not characters.", { read }),
        sentence("%1 of the %2 samples that were read have bytes or escapes that are not characters.",
            { Count(probe.sampledInvalidUtf8), read }));
    if (probe.sampledDropped > 0)
        remarks.push_back(sentence(
            "%1 characters of the samples that were read have no token and are dropped: the tokenizer has no unknown token that would stand for them.",
            { Count(probe.sampledDropped) }));
    else if (probe.unknownShare > 0)
        remarks.push_back(sentence("%1 % of the tokens stand for characters that the tokenizer does not have.",
            { Real(100 * probe.unknownShare, 2) }));
    remarks.insert(remarks.end(), probe.inspection.warnings.begin(), probe.inspection.warnings.end());
    return remarks;
}

} // namespace furrow
