#include "core/data/plan/chunk_collector.h"

#include "core/base/hash.h"
#include "core/base/sentence.h"
#include "core/base/utf8.h"
#include "core/data/plan/held_out.h"

#include <algorithm>
#include <utility>

namespace furrow {

namespace {

// Chunks of Parquet are cut by the mean row of their row group: rows that are much longer than it come together.
constexpr std::uint64_t kMostTimesPlanned = 4;
constexpr std::uint64_t kMostChunkBytes = 256ull << 20;

} // namespace

Result<SampleRules> sampleRules(const RunConfig& config, const DataManifest& manifest)
{
    SampleRules rules { config.minChars, config.maxChars, config.asciiOnly, config.heldOutPercent,
        config.duplicates == Duplicates::Skip,
        std::max(kMostChunkBytes, kMostTimesPlanned * static_cast<std::uint64_t>(config.chunkBytes)), nullptr };
    FURROW_TRY_ASSIGN(auto quarantine, Quarantine::parse(manifest.quarantine));
    if (!quarantine->entries().empty())
        rules.quarantine = std::move(quarantine);
    return rules;
}

bool SampleRules::isFiltered(std::string_view text) const
{
    const auto bytes = static_cast<std::int64_t>(text.size());
    if (bytes < minChars || (maxChars > 0 && bytes > 4 * maxChars))
        return true;
    if (asciiOnly && std::any_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) >= 128; }))
        return true;
    const bool certain = bytes >= 4 * minChars && (maxChars == 0 || bytes <= maxChars);
    if (certain || (minChars <= 1 && maxChars == 0))
        return false;
    const std::int64_t chars = isValidUtf8(text) ? static_cast<std::int64_t>(countCodePoints(text)) : bytes;
    return chars < minChars || (maxChars > 0 && chars > maxChars);
}

Result<bool> SampleRules::isLeftOut(std::string_view text) const
{
    if (isFiltered(text) || !quarantine)
        return isFiltered(text);
    return quarantine->excludes(text, xxh3(text));
}

Result<std::uint8_t> SampleRules::flagsOf(std::string_view text, std::uint64_t fingerprint, bool isRepeat) const
{
    const std::uint8_t flags = isRepeat ? SampleRepeat : 0;
    FURROW_TRY_ASSIGN(
        const bool isExcluded, quarantine ? quarantine->excludes(text, fingerprint) : Result<bool>(false));
    if (isExcluded)
        return static_cast<std::uint8_t>(flags | SampleExcluded | SampleLeftOut);
    if (isHeldOut(fingerprint, heldOutPercent))
        return static_cast<std::uint8_t>(flags | SampleHeldOut | SampleLeftOut);
    return static_cast<std::uint8_t>(isRepeat && skipDuplicates ? flags | SampleLeftOut : flags);
}

std::uint8_t flagsOnceEncoded(std::uint8_t flags, const SampleTokens& made, const SampleEncoder& encoder)
{
    if (!made.problem.empty())
        return flags | SampleUnusable | SampleLeftOut;
    if (!made.isTooLong || (flags & SampleLeftOut) != 0 || !encoder.limitsLength())
        return flags;
    return flags | SampleTooLong | (made.isLeftOut ? SampleLeftOut : 0);
}

RowFate fateOf(std::uint8_t flags)
{
    if ((flags & SampleUnusable) != 0)
        return RowFate::Failed;
    if ((flags & SampleHeldOut) != 0)
        return RowFate::HeldOut;
    if ((flags & SampleLeftOut) == 0)
        return RowFate::Trained;
    return (flags & (SampleExcluded | SampleTooLong)) != 0 ? RowFate::Filtered : RowFate::Duplicate;
}

std::string_view RawChunk::text(std::size_t sample) const
{
    const std::size_t begin = sample == 0 ? 0 : ends[sample - 1];
    return std::string_view(bytes).substr(begin, ends[sample] - begin);
}

void RawChunk::addIssue(std::int32_t file, std::int64_t row, const std::string& what)
{
    if (issues.size() < PreparedBlock::kMaxIssues)
        issues.push_back({ file, row, what });
}

namespace {

void countTrained(RawChunk& chunk, std::size_t sample)
{
    ChunkSummary& summary = chunk.summary;
    const ChunkText& text = chunk.samples;
    const auto tokens = static_cast<std::int64_t>(text.offsets[sample + 1] - text.offsets[sample]);
    const auto first
        = text.learnt.begin() + static_cast<std::ptrdiff_t>(text.learnt.empty() ? 0 : text.offsets[sample]);
    ++summary.samples;
    summary.repeats += (text.flags[sample] & SampleRepeat) != 0 ? 1 : 0;
    summary.invalidUtf8 += chunk.broken[sample];
    summary.textBytes += chunk.text(sample).size();
    summary.digest += text.fingerprints[sample];
    summary.tokens += tokens;
    summary.learnt += text.learnt.empty() ? tokens : std::count(first, first + tokens, 1);
}

} // namespace

void countSamples(RawChunk& chunk)
{
    ChunkSummary& summary = chunk.summary;
    for (std::size_t i = 0; i < chunk.samples.flags.size(); ++i) {
        const auto flags = chunk.samples.flags[i];
        summary.tooLong += (flags & SampleTooLong) != 0 ? 1 : 0;
        switch (fateOf(flags)) {
        case RowFate::Trained: countTrained(chunk, i); break;
        case RowFate::Duplicate: ++summary.duplicates; break;
        case RowFate::Filtered: ++summary.filtered; break;
        case RowFate::Failed: ++summary.failed; break;
        case RowFate::HeldOut: ++summary.heldOut; break;
        }
    }
}

ChunkCollector::ChunkCollector(
    FileAccess& access, const DataSource& source, const RowOptions& options, const SampleRules& rules)
    : access_(access)
    , source_(source)
    , options_(options)
    , rules_(rules)
{
}

void ChunkCollector::know(std::shared_ptr<const DuplicateIndex> duplicates, std::int64_t firstFile)
{
    duplicates_ = std::move(duplicates);
    firstFile_ = firstFile;
}

bool ChunkCollector::isRepeat(std::uint64_t fingerprint, std::int64_t rowInFile)
{
    return duplicates_ ? duplicates_->isRepeat({ firstFile_ + readerFile_, rowInFile })
                       : !seen_.insert(fingerprint).second;
}

void ChunkCollector::beginBlock(const PlannedBlock& block)
{
    segments_ = block.segments;
    segment_ = 0;
    rowInSegment_ = 0;
    segmentHash_ = 0;
    seen_.clear();
    failure_.reset();
    failedAt_.reset();
    damaged_.clear();
}

Status ChunkCollector::openSegment()
{
    const auto& segment = segments_[segment_];
    if (segment.file < 0 || segment.file >= static_cast<std::int32_t>(source_.files.size()))
        return Error { ErrorCode::Corrupt,
            sentence("A block plan of this run names a file that the data set does not have.") };
    const std::int64_t row = segment.firstRow + rowInSegment_;
    if (reader_ && readerFile_ == segment.file && readerRow_ == row)
        return {};
    reader_.reset();
    const DataFile& file = source_.files[static_cast<std::size_t>(segment.file)];
    const bool isByRow = file.format.format == TextFormat::Parquet;
    const std::int64_t opened = isByRow ? rowInSegment_ : 0;
    FURROW_TRY_ASSIGN(
        reader_, openRowReader(access_, file, options_, segment.position + static_cast<std::uint64_t>(opened)));
    readerFile_ = segment.file;
    readerRow_ = segment.firstRow + opened;
    for (Row before; readerRow_ < row; ++readerRow_) // of a chunk that is read again around damage
        FURROW_TRY(reader_->next(before));
    return {};
}

Status ChunkCollector::checkSegment() const
{
    const Segment& segment = segments_[segment_];
    if (segment.hash == 0 || segment.hash == segmentHash_)
        return {};
    return Error { ErrorCode::Corrupt,
        sentence(
            "The rows %1 to %2 of %3 are not those that were there when the run planned its blocks: the file was changed. Restore it and try the chunks again, accept them as not trained, or begin a new run.",
            { std::to_string(segment.firstRow), std::to_string(segment.firstRow + segment.rows - 1),
                source_.files[static_cast<std::size_t>(segment.file)].path }) };
}

Result<RawChunk> ChunkCollector::collect(std::int64_t rows)
{
    chunkBegin_ = { segment_, rowInSegment_, segmentHash_ };
    failure_.reset();
    canPass_ = false;
    auto chunk = collect(rows, Damage::Ends);
    if (!chunk.ok())
        failure_ = chunk.error();
    return chunk;
}

Result<RawChunk> ChunkCollector::collectAround(std::int64_t rows)
{
    if (failure_ && !canPass_)
        return *failure_;
    segment_ = chunkBegin_.segment;
    rowInSegment_ = chunkBegin_.rowInSegment;
    segmentHash_ = chunkBegin_.hash;
    return collect(rows, Damage::IsPassedOver);
}

/// What the reader has lost of the rows that are still wanted.
/// @return how many these are
std::int64_t ChunkCollector::passOver(std::int64_t most, const Message& why, RawChunk& chunk)
{
    const Segment& segment = segments_[segment_];
    const std::int64_t first = segment.firstRow + rowInSegment_;
    const std::int64_t rows = std::min({ *reader_->rowsLost(), most, segment.rows - rowInSegment_ });
    const bool goesOn = !damaged_.empty() && damaged_.back().file == segment.file
        && damaged_.back().firstRow + damaged_.back().rows == first;
    if (goesOn)
        damaged_.back().rows += rows;
    else
        damaged_.push_back({ segment.file, first, rows, why });
    chunk.summary.rows += rows;
    chunk.summary.failed += rows;
    rowInSegment_ += rows;
    return rows;
}

Result<RawChunk> ChunkCollector::collect(std::int64_t rows, Damage damage)
{
    RawChunk chunk;
    chunk.isConversation = readsConversations();
    for (std::int64_t i = 0; i < rows; ++i) {
        while (segment_ < segments_.size() && rowInSegment_ == segments_[segment_].rows) {
            ++segment_;
            rowInSegment_ = 0;
            segmentHash_ = 0;
        }
        if (segment_ == segments_.size())
            return Error { ErrorCode::Corrupt, sentence("A block plan of this run has fewer rows than its chunks.") };
        if (segments_[segment_].isLeftOut) {
            ++chunk.summary.rows;
            ++(segments_[segment_].isUnreadable() ? chunk.summary.failed : chunk.summary.filtered);
            ++rowInSegment_;
            continue;
        }
        FURROW_TRY(openSegment());
        Row row;
        auto more = reader_->next(row);
        if (!more.ok() || !more.value()) {
            const auto file = source_.files[static_cast<std::size_t>(readerFile_)].path;
            const bool canPass = !more.ok() && more.error().code == ErrorCode::Corrupt && reader_->rowsLost();
            const RowPlace place { readerFile_, readerRow_ };
            const bool isAgain = std::exchange(failedAt_, place) == place;
            if (canPass && damage == Damage::IsPassedOver) {
                i += (isAgain ? passOver(rows - i, more.error().message, chunk) : 0) - 1;
                reader_.reset();
                continue;
            }
            canPass_ = canPass;
            reader_.reset();
            if (!more.ok())
                return more.error();
            return Error { ErrorCode::Corrupt,
                sentence("%1 has fewer rows than it had; it changed while the run was going.", { file }) };
        }
        FURROW_TRY(take(row, readerRow_, chunk));
        if (chunk.bytes.size() > rules_.mostChunkBytes)
            return Error { ErrorCode::Corrupt,
                sentence(
                    "The %1 rows from row %2 of %3 on are one chunk of more than %4 of text: its rows are much longer than those around them. Begin a new run with fewer chunk_samples.",
                    { Count(rows), std::to_string(readerRow_ - i),
                        source_.files[static_cast<std::size_t>(readerFile_)].path, Bytes(rules_.mostChunkBytes) }) };
        ++readerRow_;
        ++rowInSegment_;
        segmentHash_ = reader_->hash(segmentHash_);
        if (rowInSegment_ == segments_[segment_].rows)
            FURROW_TRY(checkSegment());
    }
    return chunk;
}

Status ChunkCollector::take(const Row& row, std::int64_t rowInFile, RawChunk& chunk)
{
    auto& summary = chunk.summary;
    ++summary.rows;
    chunk.sourceBytes += row.sizeBytes;
    if (row.problem != nullptr) {
        ++summary.failed;
        chunk.addIssue(readerFile_, rowInFile, row.problem);
        return {};
    }
    if (rules_.isFiltered(row.text)) {
        ++summary.filtered;
        return {};
    }
    const std::uint64_t fingerprint = xxh3(row.text);
    const auto flags = rules_.flagsOf(row.text, fingerprint, isRepeat(fingerprint, rowInFile));
    if (!flags.ok())
        return flags.error().in(sentence("row %1 (counted from 0) of %2",
            { std::to_string(rowInFile), source_.files[static_cast<std::size_t>(readerFile_)].path }));
    chunk.broken.push_back(row.isBroken() ? 1 : 0);
    chunk.bytes.append(row.text);
    chunk.ends.push_back(chunk.bytes.size());
    chunk.samples.fingerprints.push_back(fingerprint);
    chunk.samples.files.push_back(readerFile_);
    chunk.samples.rows.push_back(rowInFile);
    chunk.samples.flags.push_back(flags.value());
    return {};
}

} // namespace furrow
