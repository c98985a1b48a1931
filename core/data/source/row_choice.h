#pragma once

#include "core/data/source/data_manifest.h"

namespace furrow {

/// Which rows of the sources belong to the data set: those of a seeded fraction, of these at most `maxSamples` from
/// `startSample` on. A fraction leaves out *units*, stretches of a file that need not be read: row groups of Parquet
/// (parts of them in files with few), pieces of 64 KiB or more of other files, whole files where a source of the hub
/// has many that are not Parquet. A pure function of manifest and settings. Const methods are thread-safe.
class RowChoice {
public:
    RowChoice() = default;
    RowChoice(const RunConfig& config, const DataManifest& manifest);

    bool hasFraction() const { return fraction_ < 1; }
    /// The units of this source are its files.
    bool choosesFiles(std::size_t source) const { return wholeFiles_[source]; }
    /// Whether draw number `draw` of the seed takes a unit. Each draw takes units by chance, so that a few of them make
    /// more or less than the fraction: DataSource::fractionDraw is the one that comes near to it.
    bool draws(std::size_t source, std::size_t file, std::uint64_t unit, std::uint64_t draw) const;
    /// false: no row of the file is chosen, it need not be opened.
    bool keepsFile(std::size_t source, std::size_t file) const;
    /// @param unit  of the row, as reader and scanner give it
    bool keeps(std::size_t source, std::size_t file, std::uint64_t unit) const;
    /// `row` counts the rows that keeps() let through, in each source by itself.
    bool isBeforeStart(std::int64_t row) const { return row < start_; }
    bool isBehindEnd(std::int64_t row) const { return max_ > 0 && row >= start_ + max_; }

private:
    double fraction_ = 1;
    std::uint64_t seed_ = 0;
    std::int64_t start_ = 0;
    std::int64_t max_ = 0;
    std::vector<bool> wholeFiles_; ///< by source: files are its units
    std::vector<std::uint64_t> draws_; ///< by source
};

/// Bytes of one unit of a file that is not Parquet.
std::uint64_t unitBytes(const DataFile& file);
/// The unit of a row of Parquet.
std::uint64_t parquetUnit(int groups, int group, std::uint64_t rowInGroup, std::uint64_t rowsOfGroup);

} // namespace furrow
