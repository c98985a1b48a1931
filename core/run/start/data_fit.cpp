#include "core/run/start/data_fit.h"

#include "core/base/format.h"
#include "core/base/hash.h"
#include "core/base/sentence.h"
#include "core/data/block/block_writer.h"
#include "core/data/block/chunk_windows.h"
#include "core/data/plan/duplicate_index.h"
#include "core/data/source/row_reader.h"
#include "core/data/plan/held_out.h"
#include "core/data/plan/quarantine.h"
#include "core/data/plan/sample_encoder.h"

#include <unordered_set>

namespace furrow {

namespace {

constexpr std::int64_t kSizedSamples = 500; // are enough to tell how large a block will be
constexpr std::int64_t kSizedTokens = 1'000'000;
constexpr std::int64_t kMostRepeats = 100'000; // of a source that says little else nobody waits for more
constexpr double kGiB = 1 << 30;

/// The first chunk's worth of samples, or less when they fill a batch already.
struct FirstChunk {
    ChunkText text; ///< their lengths, and whether they are conversations

    std::int64_t samples() const { return text.count(); }
    void add(const SampleTokens& sample)
    {
        if (text.offsets.empty())
            text.offsets.push_back(0);
        text.offsets.push_back(text.offsets.back() + sample.tokens.size());
        text.flags.push_back(0);
        if (!sample.learnt.empty())
            text.learnt.assign(1, 1);
    }
};

/// What has been read, which is all of the data when it is little.
struct Beginning {
    std::int64_t samples = 0;
    std::int64_t tokens = 0;
    std::int64_t heldOut = 0;
    std::int64_t tooLong = 0; ///< left out for their length
    std::int64_t unusable = 0;
    std::int64_t repeats = 0; ///< of rows before them, where these are left out
    Message firstProblem {}; ///< of unusable ones
    std::uint64_t bytes = 0; ///< of the text of `samples`
    bool isAll = true;
    std::int64_t labels() const { return tokens + samples; } ///< each sample ends with an end-of-text
    bool tellsSize() const { return samples >= kSizedSamples || tokens >= kSizedTokens; }
};

/// The feeder needs one block beside those in training; with less room it would wait for ever.
void checkCache(const RunConfig& config, const DataInspection& data, const Beginning& read, const Tokenizer& tokenizer,
    std::vector<ConfigProblem>& problems)
{
    const double perSample = estimatedBlockBytes(static_cast<double>(read.samples), static_cast<double>(read.tokens),
                                 tokenizer.vocabularySize())
        / static_cast<double>(read.samples);
    const double two = 2 * perSample
        * static_cast<double>(std::min(data.samplesPerBlock, std::max<std::int64_t>(data.rows, 1))) / kGiB;
    const double unpacked = static_cast<double>(data.expandedBytes) / kGiB;
    if (two <= config.cacheGiB && two + unpacked > config.cacheGiB)
        problems.push_back({ "cache_gib",
            sentence(
                "%1 is %2, but the largest compressed file is about %3 when it is unpacked, and two prepared blocks of %4 samples take about %5. Raise it, or unpack the file yourself.",
                { settingTerm("cache_gib"), Real(config.cacheGiB, 3), Bytes(data.expandedBytes),
                    Count(data.samplesPerBlock), Bytes(static_cast<std::uint64_t>(two * kGiB)) }),
            formatNumber(2 * two + unpacked, 3) });
    if (two > config.cacheGiB)
        problems.push_back({ "cache_gib",
            sentence("%1 is %2, but two prepared blocks of %3 samples take about %4. Raise it, or lower %5.",
                { settingTerm("cache_gib"), Real(config.cacheGiB, 3), Count(data.samplesPerBlock), Real(two, 3),
                    settingTerm("samples_per_block") }),
            formatNumber(2 * two, 3) });
}

std::string filtersInForce(const RunConfig& c)
{
    std::string text = "min_chars is " + std::to_string(c.minChars);
    if (c.maxChars > 0)
        text += ", max_chars is " + std::to_string(c.maxChars);
    if (c.asciiOnly)
        text += ", ascii_only is on";
    if (c.startSample > 0)
        text += ", start_sample is " + std::to_string(c.startSample);
    if (!c.exclude.empty())
        text += ", exclude names a list";
    return text;
}

/// Why nothing of the data is trained; it was read to its end.
ConfigProblem noSample(const RunConfig& config, const Beginning& read)
{
    if (read.tooLong > 0 && config.objective == Objective::Dpo)
        return { "seq_len",
            sentence(
                "%1 is %2, and all %3 pairs of answers that pass the filters are too long: an answer with its prompt may have half of that, less one token. Raise it, or set %4 to cut.",
                { settingTerm("seq_len"), Count(config.seqLen), Count(read.tooLong), settingTerm("long_samples") }),
            std::to_string(2 * config.seqLen) };
    if (read.tooLong > 0)
        return { "long_samples",
            sentence(
                "%1 is %2, and all %3 samples that pass the filters are too long for a window: with the end-of-text after it a sample may have %4 tokens. Set it to split, or raise %5.",
                { settingTerm("long_samples"), std::string(nameOf(config.longSamples)), Count(read.tooLong),
                    Count(config.seqLen), settingTerm("seq_len") }),
            "split" };
    if (read.heldOut > 0)
        return { "held_out_percent",
            sentence(
                "%1 is %2, and all %3 samples that pass the filters are held out: none is left to train. Lower it.",
                { settingTerm("held_out_percent"), Real(config.heldOutPercent, 3), Count(read.heldOut) }),
            "0" };
    if (read.unusable > 0)
        return { "data",
            sentence("None of the %1 samples of the data that pass the filters can be used: the first %2.",
                { Count(read.unusable), read.firstProblem }),
            "" };
    return { "min_chars", sentence("No sample of the data passes the filters: %1.", { filtersInForce(config) }), "1" };
}

DataLook lookOf(const RunConfig& config, const Beginning& read, const RowsLeft& left, const FirstChunk& first)
{
    DataLook look;
    look.rows
        = read.samples + read.heldOut + read.tooLong + read.unusable + read.repeats + left.filtered + left.unreadable;
    look.samples = read.samples;
    look.isAll = read.isAll;
    if (read.samples == 0)
        return look;
    const auto samples = static_cast<double>(read.samples);
    look.epoch.labels = static_cast<double>(read.labels());
    look.epoch.labelsPerSample = look.epoch.labels / samples;
    look.epoch.bytesPerSample = static_cast<double>(read.bytes) / samples;
    const WindowRules rules = windowRules(config);
    if (packingOf(rules, !first.text.learnt.empty()) != Packing::EndToEnd)
        look.epoch.windowFill = static_cast<double>(first.text.offsets.back() + first.text.offsets.size() - 1)
            / (static_cast<double>(windowCount(first.text, rules)) * static_cast<double>(config.seqLen));
    return look;
}

} // namespace

Result<DataFit> fitOf(const RunConfig& config, const DataInspection& data, const Tokenizer& tokenizer)
{
    FirstChunk first;
    Beginning read;
    FURROW_TRY_ASSIGN(const auto manifest, readManifest(data.manifest));
    FURROW_TRY_ASSIGN(const auto encoder, SampleEncoder::open(config, manifest, tokenizer));
    FURROW_TRY_ASSIGN(const auto exclusions, Quarantine::parse(manifest.quarantine));
    RowsLeft left;
    std::unordered_set<std::uint64_t> seen; ///< fingerprints, where repeats are left out
    const auto onRow = [&](const Row& row, RowPlace) -> Result<bool> {
        const std::uint64_t fingerprint = xxh3(row.text);
        if (manifest.skipsAllDuplicates && !seen.insert(fingerprint).second) {
            ++read.repeats;
            read.isAll = read.repeats < kMostRepeats;
            return read.isAll;
        }
        FURROW_TRY_ASSIGN(const auto sample, encoder.encode(row.text, row.isConversation));
        const bool isOut = isHeldOut(fingerprint, config.heldOutPercent);
        if (read.unusable == 0)
            read.firstProblem = sample.problem;
        read.unusable += sample.problem.empty() ? 0 : 1;
        read.heldOut += isOut && sample.problem.empty() ? 1 : 0;
        read.tooLong += sample.isLeftOut && !isOut ? 1 : 0;
        if (!sample.problem.empty() || sample.isLeftOut || isOut)
            return true;
        ++read.samples;
        read.tokens += static_cast<std::int64_t>(sample.tokens.size());
        read.bytes += row.text.size();
        if (first.samples() < config.chunkSamples)
            first.add(sample);
        const bool more = !read.tellsSize() || read.labels() < config.seqLen
            || (first.samples() < config.chunkSamples
                && windowCount(read.tokens, read.samples, config.seqLen)
                    < config.batchSize); // the least of any packing
        read.isAll = more;
        return more;
    };
    FURROW_TRY(forEachPlacedRow(config, data.manifest, onRow, &left));
    DataFit fit { {}, lookOf(config, read, left, first) };
    fit.look.isAtMost = (manifest.skipsAllDuplicates && !read.isAll) || !exclusions->chunks().empty();
    std::vector<ConfigProblem>& problems = fit.problems;
    const std::int64_t windows = windowCount(first.text, windowRules(config));
    const bool wholeData = first.samples() < config.chunkSamples;
    if (first.samples() == 0) {
        problems.push_back(noSample(config, read));
    } else if (read.labels() < config.seqLen) {
        problems.push_back({ "seq_len",
            sentence("%1 is %2, but all data together has %3 tokens, less than one window.",
                { settingTerm("seq_len"), std::to_string(config.seqLen), Count(read.labels()) }),
            std::to_string(std::max<std::int64_t>(read.labels() / 2, 2)) });
    } else if (windows < config.batchSize) {
        const Message what = wholeData ? sentence("all data together")
                                       : sentence("a chunk of %1 samples", { Count(config.chunkSamples) });
        problems.push_back({ "batch_size",
            sentence(
                "%1 is %2, but %3 packs into about %4 windows of %5 %6 tokens, and no step goes over the edge of a chunk. Lower it, or raise %7.",
                { settingTerm("batch_size"), std::to_string(config.batchSize), what, Count(windows),
                    settingTerm("seq_len"), std::to_string(config.seqLen), settingTerm("chunk_samples") }),
            std::to_string(std::max<std::int64_t>(windows, 1)) });
    }
    if (read.samples > 0)
        checkCache(config, data, read, tokenizer, problems);
    return fit;
}

} // namespace furrow
