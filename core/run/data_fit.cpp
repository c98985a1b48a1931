#include "core/run/data_fit.h"

#include "core/base/format.h"
#include "core/data/chunk_windows.h"
#include "core/data/inspect.h"
#include "core/data/tokenizer/tokenizer.h"

namespace furrow {

namespace {

/// The first chunk's worth of samples, or less when they fill a batch already.
struct FirstChunk {
    std::int64_t samples = 0;
    std::int64_t tokens = 0;
    std::int64_t windows = 0;
};

std::string filtersInForce(const RunConfig& c)
{
    std::string text = "min_chars is " + std::to_string(c.minChars);
    if (c.maxChars > 0)
        text += ", max_chars is " + std::to_string(c.maxChars);
    if (c.asciiOnly)
        text += ", ascii_only is on";
    if (c.startSample > 0)
        text += ", start_sample is " + std::to_string(c.startSample);
    return text;
}

} // namespace

Result<std::vector<ConfigProblem>> dataProblems(const RunConfig& config, const std::string& manifest, const Tokenizer& tokenizer)
{
    FirstChunk first;
    std::int64_t labels = 0; // of the data read so far, which is all of it when they are less than a window
    std::vector<TokenId> ids;
    auto walked = forEachText(config, manifest, [&](std::string_view text) {
        ids.clear();
        tokenizer.encode(text, ids);
        labels += static_cast<std::int64_t>(ids.size()) + 1; // each sample ends with an end-of-text
        if (first.samples < config.chunkSamples) {
            ++first.samples;
            first.tokens += static_cast<std::int64_t>(ids.size());
            first.windows = windowCount(first.tokens, first.samples, config.seqLen);
        }
        return labels < config.seqLen || (first.samples < config.chunkSamples && first.windows < config.batchSize);
    });
    if (!walked.ok())
        return walked.error();
    std::vector<ConfigProblem> problems;
    const bool wholeData = first.samples < config.chunkSamples;
    if (first.samples == 0) {
        problems.push_back({ "min_chars", "No sample of the data passes the filters: " + filtersInForce(config) + ".", "1" });
    } else if (labels < config.seqLen) {
        problems.push_back({ "seq_len", "seq_len is " + std::to_string(config.seqLen) + ", but all data together has " + formatCount(labels) + " tokens, less than one window.", std::to_string(std::max<std::int64_t>(labels / 2, 2)) });
    } else if (first.windows < config.batchSize) {
        problems.push_back({ "batch_size", "batch_size is " + std::to_string(config.batchSize) + ", but " + (wholeData ? "all data together" : "a chunk of " + formatCount(config.chunkSamples) + " samples") + " packs into about "
                + formatCount(first.windows) + " windows of seq_len " + std::to_string(config.seqLen) + " tokens, and no step goes over the edge of a chunk. Lower it, or raise chunk_samples.", std::to_string(std::max<std::int64_t>(first.windows, 1)) });
    }
    return problems;
}

} // namespace furrow
