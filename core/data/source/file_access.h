#pragma once

#include "core/data/source/data_manifest.h"

#include <deque>
#include <set>
#include <utility>

namespace furrow {

class HubPieces;
class HubProofs;

/// How long it took to open files of sources (the network's or a share's latency).
struct OpenTimes {
    std::int64_t count = 0;
    double seconds = 0;
    double slowestSeconds = 0;
};

/// The plain text of a file from its beginning, whatever its compression and encoding; not for Parquet.
/// @param onDisk  what holds it: the file itself, or the archive it is in
std::unique_ptr<ByteStream> plainStream(const std::shared_ptr<const ByteSource>& onDisk, const DataFile& file);

/// How readers get at the bytes of a file of a source. Not thread-safe.
class FileAccess {
public:
    virtual ~FileAccess() = default;
    /// The file as it is stored, also inside an archive that is not compressed as a whole.
    virtual Result<std::shared_ptr<const ByteSource>> stored(const DataFile& file) = 0;
    /// The plain text from an offset on; what was compressed is expanded.
    virtual Result<std::unique_ptr<ByteStream>> plainFrom(const DataFile& file, std::uint64_t offset) = 0;
};

/// Reads where the files lie and keeps nothing: a compressed file is expanded from its beginning each time. Files of
/// one archive that is compressed as a whole are found by going on in it, when they are asked for in its order and one
/// after the other.
class DirectAccess : public FileAccess {
public:
    /// @param pieces  of files of the hub, asked before the hub itself; without them what the process keeps by
    /// KeepHubPieces
    /// @param proofs  see openHubFile; lives as long as this
    explicit DirectAccess(std::shared_ptr<HubPieces> pieces = nullptr, HubProofs* proofs = nullptr);
    Result<std::shared_ptr<const ByteSource>> stored(const DataFile& file) override;
    Result<std::unique_ptr<ByteStream>> plainFrom(const DataFile& file, std::uint64_t offset) override;
    const OpenTimes& openTimes() const { return openTimes_; }
    /// Opens the files anew from now on.
    void forgetOpen()
    {
        open_.clear();
        expanded_.reset();
    }

    /// After an error of reading the file before a row: what came of a distant file may have been wrong, and is fetched
    /// anew when it is read again. True once for each such row.
    bool asksAnew(const DataFile& file, std::int64_t row, const Error& error);

    /// Reads what is left of the packed archive that was read last: only its end tells whether all of it was whole.
    Status finishArchive();

    /// What holds the file: itself, or its archive.
    Result<std::shared_ptr<const ByteSource>> onDisk(const DataFile& file);

private:
    static constexpr std::size_t kKeptOpen = 2;
    struct Open {
        std::string path;
        std::shared_ptr<const ByteSource> source;
    };
    std::shared_ptr<HubPieces> pieces_;
    HubProofs* proofs_;
    std::deque<Open> open_; ///< files of the hub used last: what was read of them need not be asked for again
    OpenTimes openTimes_;
    std::set<std::pair<std::string, std::int64_t>> askedAnew_; ///< file and row
    struct Expanded; ///< an archive that is being expanded
    class ExpandedRest;
    Result<std::unique_ptr<ByteStream>> fromPackedArchive(const DataFile& file);
    std::shared_ptr<Expanded> expanded_;
};

} // namespace furrow
