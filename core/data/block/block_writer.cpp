#include "core/data/block/block_writer.h"

#include "core/base/check.h"
#include "core/data/block/block_layout.h"

#include <nlohmann/json.hpp>

namespace furrow {

namespace {

using namespace layout;

template <typename T> void putArray(std::string& out, const std::vector<T>& values)
{
    out.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
    out.resize(padded(out.size()), '\0');
}

std::string sectionOf(const ChunkText& text, int tokenBytes, bool isMasked)
{
    std::string out;
    out.reserve(sectionBytes(text.flags.size(), text.tokens.size(), tokenBytes, isMasked));
    if (tokenBytes == 2)
        putArray(out, std::vector<std::uint16_t>(text.tokens.begin(), text.tokens.end()));
    else
        putArray(out, text.tokens);
    if (isMasked) {
        std::vector<std::uint8_t> bits((text.tokens.size() + 7) / 8);
        for (std::size_t i = 0; i < text.learnt.size(); ++i)
            bits[i / 8] = static_cast<std::uint8_t>(bits[i / 8] | (text.learnt[i] & 1) << (i % 8));
        putArray(out, bits);
    }
    std::vector<std::uint32_t> lengths(text.flags.size());
    for (std::size_t i = 0; i < lengths.size(); ++i)
        lengths[i] = static_cast<std::uint32_t>(text.offsets[i + 1] - text.offsets[i]);
    putArray(out, lengths);
    putArray(out, text.fingerprints);
    putArray(out, text.rows);
    putArray(out, text.files);
    putArray(out, text.flags);
    return out;
}

void putSummary(std::string& out, const ChunkSummary& s, std::uint32_t version)
{
    for (const std::int64_t count :
        { s.rows, s.samples, s.filtered, s.failed, s.heldOut, s.duplicates, s.repeats, s.invalidUtf8, s.tokens })
        putValue(out, count);
    putValue(out, s.textBytes);
    putValue(out, s.digest);
    if (version == 1)
        return;
    putValue(out, s.learnt);
    putValue(out, s.tooLong);
    if (version == 2)
        return;
    putValue(out, s.dropped);
}

} // namespace

double estimatedBlockBytes(double samples, double tokens, std::uint32_t vocabularySize)
{
    constexpr double kBytesPerSample = 8 + 8 + 4 + 4 + 1; // provenance, fingerprint, length, line, flags
    return tokens * tokenBytesOf(vocabularySize) + samples * kBytesPerSample;
}

BlockWriter::BlockWriter(
    Sink sink, std::uint32_t vocabularySize, std::uint32_t chunkCount, BlockExtras extras, std::string key)
    : sink_(std::move(sink))
    , vocabularySize_(vocabularySize)
    , chunkCount_(chunkCount)
    , tokenBytes_(tokenBytesOf(vocabularySize))
    , extras_(extras)
    , key_(std::move(key))
    , version_(extras.countsDropped                  ? 3
              : extras.isMasked || extras.countsLong ? 2
                                                     : 1)
{
}

Status BlockWriter::put(const void* data, std::size_t sizeBytes)
{
    content_.update(data, sizeBytes);
    offset_ += sizeBytes;
    return sink_(data, sizeBytes);
}

Status BlockWriter::begin()
{
    std::string header(kMagic);
    putValue(header, version_);
    putValue(header, static_cast<std::uint32_t>(tokenBytes_));
    putValue(header, vocabularySize_);
    putValue(header, chunkCount_);
    if (version_ > 1)
        putValue(header, extras_.isMasked ? kFlagMasked : 0u);
    header.resize(kHeaderBytes, '\0');
    header = headerWithoutKey(std::move(header));
    content_.update(header.data(), header.size());
    offset_ += header.size();
    if (!key_.empty())
        header = headerWith(std::move(header), keyBytes(key_));
    return sink_(header.data(), header.size());
}

Status BlockWriter::addChunk(const ChunkText& text, const ChunkSummary& summary)
{
    FURROW_CHECK(text.learnt.size() == (extras_.isMasked ? text.tokens.size() : 0),
        "a block must say of each token, or of none, whether it is learnt");
    const std::string section = sectionOf(text, tokenBytes_, extras_.isMasked);
    PreparedBlock::Entry entry;
    entry.offset = offset_;
    entry.sizeBytes = section.size();
    entry.hash = xxh3(section);
    entry.samples = text.flags.size();
    entry.tokens = text.tokens.size();
    entry.summary = summary;
    entries_.push_back(entry);
    return put(section.data(), section.size());
}

Result<std::string> BlockWriter::finish(const std::vector<RowIssue>& issues)
{
    FURROW_CHECK(entries_.size() == chunkCount_, "a prepared block needs as many chunks as its header says");
    std::string footer;
    for (const auto& e : entries_) {
        for (const std::uint64_t value : { e.offset, e.sizeBytes, e.hash, e.samples, e.tokens })
            putValue(footer, value);
        putSummary(footer, e.summary, version_);
    }
    auto list = nlohmann::json::array();
    for (const auto& issue : issues)
        list.push_back({ issue.file, issue.row, issue.what });
    footer += content_.hex();
    footer += list.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
    std::string end = footer;
    putValue(end, offset_);
    putValue(end, static_cast<std::uint64_t>(footer.size()));
    putValue(end, xxh3(footer));
    end += kEndMagic;
    FURROW_TRY(sink_(end.data(), end.size()));
    return sha256Hex(footer);
}

} // namespace furrow
