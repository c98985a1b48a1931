#include "core/data/plan/duplicate_search.h"

#include "core/base/hash.h"
#include "core/base/log.h"
#include "core/base/sentence.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace furrow {

namespace {

constexpr int kSearchVersion = 1; ///< part of the key: raise it when the same rows give another index
constexpr std::uint64_t kExpansion = 4; ///< a compressed file is taken to hold so many times its size of text

/// Everything that is a row gets a fingerprint: equal texts are filtered, held out and left out by name alike, so the
/// choice among them need not know why.
SampleRules allRows()
{
    SampleRules rules;
    rules.minChars = 0;
    return rules;
}

/// The chunks that are left out by name before anything is prepared.
std::set<ChunkName> excludedOf(const DataManifest& manifest)
{
    if (!manifest.trainsCopiesOfExcluded)
        return {};
    const auto list = Quarantine::parse(manifest.quarantine).value(); // sampleRules has read it
    return { list->chunks().begin(), list->chunks().end() };
}

std::uint64_t textBytes(const DataManifest& manifest)
{
    std::uint64_t sum = 0;
    for (const auto& source : manifest.sources)
        for (const auto& file : source.files)
            sum += file.sizeBytes * (file.isCompressed() ? kExpansion : 1);
    return sum;
}

} // namespace

DuplicateSearch::DuplicateSearch(
    const Data& data, std::shared_ptr<BlockCache> cache, CauseOf causeOf, std::size_t memoryBytes)
    : data_(data)
    , causeOf_(std::move(causeOf))
    , planner_(data_.access, data_.manifest, data_.options, data_.rules)
    , firstFiles_(firstFilesOf(data_.manifest))
    , excluded_(excludedOf(data_.manifest))
    , finder_(std::move(cache), memoryBytes)
    , allBytes_(textBytes(data_.manifest))
    , complete_(data_.leftOut.empty())
{
    planner_.leaveOut(data_.leftOut);
    for (std::size_t s = 0; s < data_.manifest.sources.size(); ++s)
        collectors_.push_back(
            std::make_unique<ChunkCollector>(data_.access, data_.manifest.sources[s], data_.options[s], allRows()));
}

std::string DuplicateSearch::key(const DataManifest& manifest, const RunConfig& config, std::int64_t samplesPerBlock)
{
    nlohmann::json key = { { "version", kSearchVersion }, { "data", dataIdentity(manifest, config) } };
    if (manifest.sources.size() > 1) // else rows come in the order of the files, however they are cut
        key["block"] = samplesPerBlock;
    if (manifest.trainsCopiesOfExcluded) { // which rows these are depends on how the data is cut
        key["cut"] = { samplesPerBlock, config.chunkSamples, config.chunkBytes };
        for (const ChunkName& chunk : excludedOf(manifest))
            key["excluded"].push_back({ chunk.block, chunk.column });
    }
    return sha256Hex(key.dump());
}

Status DuplicateSearch::read(const Progress& progress)
{
    for (;;) {
        if (!block_) {
            auto next = planner_.next();
            if (next.ok() && !next.value())
                return {};
            if (!next.ok()) {
                const Error cause = causeOf_(next.error());
                if (cause.code != ErrorCode::Corrupt)
                    return cause;
                logWarning(
                    "looking for duplicates: " + cause.message); // planning meets it too, and says what becomes of it
                complete_ = false;
                data_.leftOut.insert(planner_.failedFile());
                planner_.leaveOut(data_.leftOut);
                continue;
            }
            block_ = std::move(next).value();
        }
        FURROW_TRY(readBlock(progress));
        block_.reset();
    }
}

/// Nothing of the block is counted before all of it was read, so that it can be read again.
Status DuplicateSearch::readBlock(const Progress& progress)
{
    const auto stretches = stretchesOf(*block_);
    auto stretch = stretches.begin();
    ChunkCollector& collector = *collectors_[static_cast<std::size_t>(block_->source)];
    collector.beginBlock(*block_);
    std::uint64_t bytes = 0;
    ChunkName name { block_->block, 0 };
    for (const auto rows : block_->chunkRows) {
        if (progress && !progress(std::min(allBytes_, doneBytes_ + bytes), allBytes_))
            return Error { ErrorCode::Cancelled, sentence("Looking for duplicates was cancelled.") };
        auto chunk = collector.collect(rows);
        if (!chunk.ok()) {
            const Error cause = causeOf_(chunk.error());
            if (cause.code != ErrorCode::Corrupt)
                return cause;
            logWarning("looking for duplicates: " + cause.message); // preparing meets it too
            complete_ = false;
            chunk = collector.collectAround(rows);
        }
        if (!chunk.ok())
            break;
        bytes += chunk.value().sourceBytes;
        if (!excluded_.contains(name))
            FURROW_TRY(add(chunk.value().samples, stretch));
        ++name.column;
    }
    doneBytes_ += bytes;
    for (const RowStretch& one : stretches) {
        rows_ += static_cast<std::uint64_t>(one.rows);
        const bool goesOn = !stretches_.empty() && stretches_.back().first.file == one.first.file
            && stretches_.back().first.row + stretches_.back().rows == one.first.row;
        if (goesOn)
            stretches_.back().rows += one.rows;
        else
            stretches_.push_back(one);
    }
    return {};
}

/// @param stretch  in which the first of the samples lies, or before it; moved along
Status DuplicateSearch::add(const ChunkText& samples, std::vector<RowStretch>::const_iterator& stretch)
{
    for (std::size_t i = 0; i < samples.rows.size(); ++i) {
        const RowPlace place { firstFiles_[static_cast<std::size_t>(block_->source)] + samples.files[i],
            samples.rows[i] };
        while (place.file != stretch->first.file || place.row >= stretch->first.row + stretch->rows)
            ++stretch;
        if (auto status = finder_.add(
                samples.fingerprints[i], stretch->number + static_cast<std::uint64_t>(place.row - stretch->first.row));
            !status.ok()) {
            broken_ = true;
            return status;
        }
    }
    return {};
}

std::vector<RowStretch> DuplicateSearch::stretchesOf(const PlannedBlock& block) const
{
    std::vector<RowStretch> all;
    std::uint64_t number = rows_;
    for (const Segment& segment : block.segments) {
        all.push_back({ { firstFiles_[static_cast<std::size_t>(block.source)] + segment.file, segment.firstRow },
            segment.rows, number });
        number += static_cast<std::uint64_t>(segment.rows);
    }
    return all;
}

Status DuplicateSearch::write(
    const std::string& key, const DuplicateIndexWriter::Sink& sink, const std::function<bool()>& goOn)
{
    broken_ = true; // it gives what it found once
    DuplicateIndexWriter writer(sink);
    const auto onText
        = [&writer](std::uint64_t fingerprint, std::uint64_t row) { return writer.add(fingerprint, row); };
    FURROW_TRY(finder_.finish(onText, goOn));
    return writer.finish({ key, complete_, std::move(stretches_), finder_.repeatBits(rows_) });
}

} // namespace furrow
