#include "core/data/block_writer.h"

#include "core/base/check.h"
#include "core/data/block_layout.h"

#include <nlohmann/json.hpp>

namespace furrow {

namespace {

using namespace layout;

template <typename T> void putArray(std::string& out, const std::vector<T>& values)
{
    out.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
    out.resize(padded(out.size()), '\0');
}

std::string sectionOf(const ChunkText& text, int tokenBytes)
{
    std::string out;
    out.reserve(sectionBytes(text.flags.size(), text.tokens.size(), tokenBytes));
    if (tokenBytes == 2)
        putArray(out, std::vector<std::uint16_t>(text.tokens.begin(), text.tokens.end()));
    else
        putArray(out, text.tokens);
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

void putSummary(std::string& out, const ChunkSummary& s)
{
    for (const std::int64_t count :
        { s.rows, s.samples, s.filtered, s.failed, s.heldOut, s.duplicates, s.repeats, s.invalidUtf8, s.tokens })
        putValue(out, count);
    putValue(out, s.textBytes);
    putValue(out, s.digest);
}

} // namespace

double estimatedBlockBytes(double samples, double tokens, std::uint32_t vocabularySize)
{
    constexpr double kBytesPerSample = 8 + 8 + 4 + 4 + 1; // provenance, fingerprint, length, line, flags
    return tokens * tokenBytesOf(vocabularySize) + samples * kBytesPerSample;
}

BlockWriter::BlockWriter(Sink sink, std::uint32_t vocabularySize, std::uint32_t chunkCount)
    : sink_(std::move(sink))
    , vocabularySize_(vocabularySize)
    , chunkCount_(chunkCount)
    , tokenBytes_(tokenBytesOf(vocabularySize))
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
    putValue(header, kVersion);
    putValue(header, static_cast<std::uint32_t>(tokenBytes_));
    putValue(header, vocabularySize_);
    putValue(header, chunkCount_);
    header.resize(kHeaderBytes - 8, '\0');
    putValue(header, xxh3(header));
    return put(header.data(), header.size());
}

Status BlockWriter::addChunk(const ChunkText& text, const ChunkSummary& summary)
{
    const std::string section = sectionOf(text, tokenBytes_);
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
        putSummary(footer, e.summary);
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
