#pragma once

#include "core/base/file_system.h"
#include "core/base/result.h"

#include <compare>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace furrow {

struct DataManifest;

/// A row of a data set by its place.
struct RowPlace {
    std::int64_t file = 0; ///< counted through all sources, as the manifest has them
    std::int64_t row = 0; ///< inside the file, from 0
    auto operator<=>(const RowPlace&) const = default;
};
/// RowPlace::file of the first file of each source.
std::vector<std::int64_t> firstFilesOf(const DataManifest& manifest);

/// Rows that follow each other in one file. All rows of a data set are numbered in the order in which its blocks are
/// planned.
struct RowStretch {
    RowPlace first;
    std::int64_t rows = 0;
    std::uint64_t number = 0; ///< of the first one
};

/// Which rows of a data set repeat a row before them, and where the first one of each such text stands (FORMAT.md).
/// Made by DuplicateSearch. Const methods are thread-safe.
class DuplicateIndex {
public:
    /// Checks all but the places of first rows, which are checked as they are read. Corrupt names the file; a newer
    /// format is InvalidArgument.
    static Result<DuplicateIndex> open(const std::filesystem::path& path);

    /// The same text stands in a row before this one. A row that was not there when the index was made is none.
    bool isRepeat(RowPlace place) const;
    /// Where the first row with this text stands; nullopt: no text with this fingerprint occurs twice.
    Result<std::optional<RowPlace>> firstOf(std::uint64_t fingerprint) const;
    /// Each text that occurs more than once, with the place of its first row. Reads the whole file.
    Status forEachText(const std::function<void(std::uint64_t fingerprint, RowPlace first)>& onText) const;
    /// Reads the whole file once and checks every byte.
    Status verify() const;

    std::int64_t repeats() const { return repeats_; }
    /// DuplicateSearch::key of the data set that it was made of.
    const std::string& key() const { return key_; }
    /// Every file was read to its end.
    bool isComplete() const { return complete_; }
    /// SHA-256 of everything in the file, 64 hex digits.
    const std::string& digest() const { return digest_; }

private:
    friend class DuplicateIndexWriter;
    struct Page {
        std::uint64_t firstFingerprint = 0;
        std::uint64_t hash = 0;
    };

    explicit DuplicateIndex(RandomAccessFile file, std::string name);
    Status readFooter(const std::string& footer);
    Result<std::string> readPage(std::size_t page) const;
    RowPlace placeOf(std::uint64_t number) const;

    RandomAccessFile file_;
    std::string name_;
    std::string key_;
    std::string digest_;
    bool complete_ = false;
    std::int64_t repeats_ = 0;
    std::uint64_t entries_ = 0;
    std::vector<Page> pages_;
    std::uint64_t rows_ = 0;
    std::vector<RowStretch> byNumber_;
    std::vector<RowStretch> byPlace_;
    std::vector<std::uint64_t> repeatBits_; ///< one bit a row
};

/// Writes an index front to back. Not thread-safe.
class DuplicateIndexWriter {
public:
    using Sink = std::function<Status(const void* data, std::size_t sizeBytes)>;
    explicit DuplicateIndexWriter(Sink sink);

    /// A text that occurs more than once. @param fingerprint  larger than the one before  @param first  number of its
    /// first row
    Status add(std::uint64_t fingerprint, std::uint64_t first);
    struct Rows {
        std::string key;
        bool complete = true;
        std::vector<RowStretch> stretches; ///< numbers without gaps, from 0
        std::vector<std::uint64_t> repeatBits; ///< one bit a row
    };
    Status finish(const Rows& rows);

private:
    Status flush();

    Sink sink_;
    std::string page_;
    std::uint64_t entries_ = 0;
    std::vector<DuplicateIndex::Page> pages_;
};

} // namespace furrow
