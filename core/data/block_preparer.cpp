#include "core/data/block_preparer.h"

#include "core/base/format.h"
#include "core/base/sentence.h"

#include <algorithm>
#include <future>

namespace furrow {

namespace {

constexpr std::size_t kParallelBytes = 1 << 20; ///< below it a second thread costs more than it gives

/// Tokens of samples [begin, end) and where each ends.
struct Encoded {
    std::vector<TokenId> tokens;
    std::vector<std::uint64_t> ends;
};

Result<Encoded> encodeRange(const RawChunk& chunk, std::size_t begin, std::size_t end, const Tokenizer& tokenizer)
{
    Encoded out;
    out.ends.reserve(end - begin);
    for (std::size_t i = begin; i < end; ++i) {
        const auto before = out.tokens.size();
        const auto status = tokenizer.encode(chunk.text(i), out.tokens);
        if (!status.ok() && (chunk.samples.flags[i] & SampleLeftOut) == 0)
            return Error { status.error().code,
                sentence(
                    "Row %1 of its file cannot become tokens. %2 The line 'sample %3' on the quarantine list (exclude) leaves it out.",
                    { std::to_string(chunk.samples.rows[i]), status.error().message,
                        formatHex(chunk.samples.fingerprints[i]) }) };
        if (!status.ok())
            out.tokens.resize(before);
        out.ends.push_back(out.tokens.size());
    }
    return out;
}

} // namespace

Status encodeChunk(RawChunk& chunk, const Tokenizer& tokenizer)
{
    const std::size_t samples = chunk.ends.size();
    const bool parallel = chunk.bytes.size() >= kParallelBytes && samples > 1;
    const auto half
        = std::lower_bound(chunk.ends.begin(), chunk.ends.end(), chunk.bytes.size() / 2) - chunk.ends.begin();
    const std::size_t middle = parallel ? std::min(samples - 1, static_cast<std::size_t>(half) + 1) : samples;
    std::future<Result<Encoded>> second;
    if (middle < samples)
        second = std::async(std::launch::async, [&] { return encodeRange(chunk, middle, samples, tokenizer); });
    FURROW_TRY_ASSIGN(auto first, encodeRange(chunk, 0, middle, tokenizer));

    auto& text = chunk.samples;
    text.tokens = std::move(first.tokens);
    text.offsets.reserve(samples + 1);
    text.offsets.push_back(0);
    text.offsets.insert(text.offsets.end(), first.ends.begin(), first.ends.end());
    if (second.valid()) {
        FURROW_TRY_ASSIGN(const auto got, second.get());
        const Encoded& rest = got;
        const std::uint64_t base = text.tokens.size();
        text.tokens.insert(text.tokens.end(), rest.tokens.begin(), rest.tokens.end());
        for (const auto end : rest.ends)
            text.offsets.push_back(base + end);
    }
    chunk.summary.tokens = 0;
    for (std::size_t i = 0; i < samples; ++i)
        if ((text.flags[i] & SampleLeftOut) == 0)
            chunk.summary.tokens += static_cast<std::int64_t>(text.offsets[i + 1] - text.offsets[i]);
    return {};
}

Result<BlockContent> prepareBlock(const PlannedBlock& block, ChunkCollector& collector, const Tokenizer& tokenizer,
    const BlockWriter::Sink& sink, const std::function<bool()>& goOn)
{
    collector.beginBlock(block);
    BlockWriter writer(sink, tokenizer.vocabularySize(), static_cast<std::uint32_t>(block.chunkRows.size()));
    FURROW_TRY(writer.begin());
    const auto readAhead = [&](std::size_t column) {
        return std::async(
            std::launch::async, [&collector, rows = block.chunkRows[column]] { return collector.collect(rows); });
    };
    BlockContent content;
    std::future<Result<RawChunk>> next; // its destructor waits, so the collector is never left in use
    if (!block.chunkRows.empty())
        next = readAhead(0);
    for (std::size_t column = 0; column < block.chunkRows.size(); ++column) {
        FURROW_TRY_ASSIGN(auto raw, next.get());
        if (goOn && !goOn())
            return Error { ErrorCode::Cancelled, "Preparing block " + std::to_string(block.block) + " was cancelled." };
        if (column + 1 < block.chunkRows.size())
            next = readAhead(column + 1);
        RawChunk& chunk = raw;
        FURROW_TRY(encodeChunk(chunk, tokenizer));
        content.chunks.push_back(chunk.summary);
        content.sourceBytes += chunk.sourceBytes;
        FURROW_TRY(writer.addChunk(chunk.samples, chunk.summary));
    }
    FURROW_TRY_ASSIGN(content.digest, writer.finish(collector.issues()));
    return content;
}

} // namespace furrow
