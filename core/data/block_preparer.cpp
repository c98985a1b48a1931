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
    std::vector<std::uint8_t> learnt;
    std::vector<std::uint64_t> ends;
    std::vector<RowIssue> issues;
    std::int64_t dropped = 0;
};

Error noTokens(const RawChunk& chunk, std::size_t sample, const Error& why)
{
    return {
        why.code,
        sentence(
            "Row %1 of its file cannot become tokens. %2 The line 'sample %3' on the quarantine list (exclude) leaves it out.",
            { std::to_string(chunk.samples.rows[sample]), why.message, formatHex(chunk.samples.fingerprints[sample]) })
    };
}

/// Sets the flags of these samples too.
Result<Encoded> encodeRange(RawChunk& chunk, std::size_t begin, std::size_t end, const SampleEncoder& encoder)
{
    Encoded out;
    out.ends.reserve(end - begin);
    for (std::size_t i = begin; i < end; ++i) {
        auto& flags = chunk.samples.flags[i];
        const auto sample = encoder.encode(chunk.text(i), chunk.isConversation);
        if (!sample.ok() && (flags & SampleLeftOut) == 0)
            return noTokens(chunk, i, sample.error());
        if (sample.ok()) {
            const SampleTokens& made = sample.value();
            flags = flagsOnceEncoded(flags, made, encoder);
            out.dropped += made.dropped;
            if (made.problem.empty()) {
                out.tokens.insert(out.tokens.end(), made.tokens.begin(), made.tokens.end());
                out.learnt.insert(out.learnt.end(), made.learnt.begin(), made.learnt.end());
            } else {
                out.issues.push_back({ chunk.samples.files[i], chunk.samples.rows[i], made.problem });
            }
        }
        out.ends.push_back(out.tokens.size());
    }
    return out;
}

void append(Encoded more, RawChunk& chunk)
{
    auto& text = chunk.samples;
    const std::uint64_t base = text.tokens.size();
    text.tokens.insert(text.tokens.end(), more.tokens.begin(), more.tokens.end());
    text.learnt.insert(text.learnt.end(), more.learnt.begin(), more.learnt.end());
    for (const auto end : more.ends)
        text.offsets.push_back(base + end);
    chunk.summary.dropped += more.dropped;
    for (const auto& issue : more.issues)
        chunk.addIssue(issue.file, issue.row, issue.what);
}

} // namespace

Status encodeChunk(RawChunk& chunk, const SampleEncoder& encoder)
{
    const std::size_t samples = chunk.ends.size();
    const bool parallel = chunk.bytes.size() >= kParallelBytes && samples > 1;
    const auto half
        = std::lower_bound(chunk.ends.begin(), chunk.ends.end(), chunk.bytes.size() / 2) - chunk.ends.begin();
    const std::size_t middle = parallel ? std::min(samples - 1, static_cast<std::size_t>(half) + 1) : samples;
    std::future<Result<Encoded>> second;
    if (middle < samples)
        second = std::async(std::launch::async, [&] { return encodeRange(chunk, middle, samples, encoder); });
    FURROW_TRY_ASSIGN(auto first, encodeRange(chunk, 0, middle, encoder));
    chunk.samples.offsets.reserve(samples + 1);
    chunk.samples.offsets.push_back(0);
    append(std::move(first), chunk);
    if (second.valid()) {
        FURROW_TRY_ASSIGN(auto rest, second.get());
        append(std::move(rest), chunk);
    }
    countSamples(chunk);
    return {};
}

Result<BlockContent> prepareBlock(const PlannedBlock& block, ChunkCollector& collector, const SampleEncoder& encoder,
    const std::string& key, const BlockWriter::Sink& sink, const std::function<bool()>& goOn)
{
    collector.beginBlock(block);
    BlockWriter writer(sink, encoder.tokenizer().vocabularySize(), static_cast<std::uint32_t>(block.chunkRows.size()),
        { collector.readsConversations(), encoder.limitsLength(), encoder.countsDropped() }, key);
    FURROW_TRY(writer.begin());
    const auto readAhead = [&](std::size_t column) {
        return std::async(
            std::launch::async, [&collector, rows = block.chunkRows[column]] { return collector.collect(rows); });
    };
    BlockContent content;
    std::vector<RowIssue> issues;
    std::future<Result<RawChunk>> next; // its destructor waits, so the collector is never left in use
    if (!block.chunkRows.empty())
        next = readAhead(0);
    for (std::size_t column = 0; column < block.chunkRows.size(); ++column) {
        FURROW_TRY_ASSIGN(auto raw, next.get());
        if (goOn && !goOn())
            return Error { ErrorCode::Cancelled,
                sentence("Preparing block %1 was cancelled.", { std::to_string(block.block) }) };
        if (column + 1 < block.chunkRows.size())
            next = readAhead(column + 1);
        RawChunk& chunk = raw;
        FURROW_TRY(encodeChunk(chunk, encoder));
        content.chunks.push_back(chunk.summary);
        content.sourceBytes += chunk.sourceBytes;
        const auto room = static_cast<std::ptrdiff_t>(PreparedBlock::kMaxIssues - issues.size());
        issues.insert(
            issues.end(), chunk.issues.begin(), chunk.issues.begin() + std::min(room, std::ssize(chunk.issues)));
        FURROW_TRY(writer.addChunk(chunk.samples, chunk.summary));
    }
    FURROW_TRY_ASSIGN(content.digest, writer.finish(issues));
    return content;
}

} // namespace furrow
