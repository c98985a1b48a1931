#pragma once

#include "core/base/result.h"
#include "core/config/run_config.h"
#include "core/data/plan/block_plan.h"
#include "core/data/source/file_access.h"
#include "core/data/plan/inspect.h"
#include "core/data/block/prepared_block.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>

namespace furrow {

class DuplicateIndex;
class Quarantine;
struct DataManifest;
class SourceIdentity;
class Tokenizer;

/// A prepared block in the cache.
struct PreparedFile {
    std::string fileName; ///< below blockFolder()
    std::string digest; ///< equal for a block that was prepared again
    std::vector<ChunkSummary> chunks;
    bool fromCache = false;
    bool knowsItsName = true; ///< false: an older Furrow made it, and it may be another block's
    std::uint64_t sizeBytes = 0;
    std::uint64_t sourceBytes = 0; ///< of text read to make it; 0 from the cache
};

/// The files of the hub in a data set, by their places among all its files: which were compared as a whole with the
/// SHA-256 that the hub promises.
struct ComparedFiles {
    std::int64_t files = 0; ///< of the hub
    std::set<std::int32_t> compared;
    std::set<std::int32_t> never; ///< they will not be
    std::string whyNever; ///< of the first

    std::int64_t notYet() const { return std::max<std::int64_t>(0, files - std::ssize(compared) - std::ssize(never)); }
};

/// Finds the blocks of a data set in source order and prepares them. Not thread-safe: one thread, the feeder's
/// (preparing uses a second thread of its own for reading).
class BlockManager {
public:
    // Errors of reading sources tell four things apart: Cancelled; InvalidArgument: the data is not that of the
    // manifest any more; Io, Network, Busy and NotFound (isOutside): it cannot be reached now; Corrupt: it is what it
    // was, and damaged.

    /// Opens the sources and checks them against the manifest that was frozen with the run; a file that changed since
    /// is InvalidArgument with a list of differences, or left out (bad_files=leave_out).
    /// @param duplicatesFile  where the run keeps which rows are duplicates; only used where those of the whole data
    /// set are left out
    /// @param identity  what is known of the files from tries before: how long one is gone; null: nothing
    static Result<BlockManager> open(const RunConfig& config, const std::string& manifest, std::int64_t samplesPerBlock,
        const std::filesystem::path& cacheFolder, std::shared_ptr<const Tokenizer> tokenizer,
        const std::filesystem::path& duplicatesFile = {}, std::shared_ptr<SourceIdentity> identity = {});
    /// The same without a look at the files: for who asks for each block what became of them (firstTrouble).
    static Result<BlockManager> openUnchecked(const RunConfig& config, const std::string& manifest,
        std::int64_t samplesPerBlock, const std::filesystem::path& cacheFolder,
        std::shared_ptr<const Tokenizer> tokenizer, const std::filesystem::path& duplicatesFile = {},
        std::shared_ptr<SourceIdentity> identity = {});
    BlockManager(BlockManager&&) noexcept;
    ~BlockManager();

    /// A file of this disk that cannot be read as the run was made of it.
    struct FileTrouble {
        std::string path;
        Error error; ///< InvalidArgument: it is another one now; else it cannot be looked at
    };
    /// The first one of those of the block; nothing: all are as they were.
    std::optional<FileTrouble> firstTrouble(const PlannedBlock& block) const;

    /// Duplicates of the whole data set are left out, and what these are is not known yet: no block can be prepared.
    bool needsDuplicates() const;
    /// Reads the whole data set once, or takes what another run found in it, and keeps the list in the run's file.
    /// After an error it goes on where it was.
    /// @param progress  bytes of text done, and about all there are; false cancels
    Status findDuplicates(const std::function<bool(std::uint64_t, std::uint64_t)>& progress);

    /// After a page of duplicates() was found damaged: no block can be prepared before findDuplicates() has made the
    /// list again.
    void remakeDuplicates();

    /// The next block in the order of the data set; nullopt: every file came to a definite end, the last block is
    /// proven.
    Result<std::optional<PlannedBlock>> planNext();
    /// After planNext() failed for good (Corrupt): goes on with the files behind the damage. What cannot be planned is
    /// left out by name (bad_files=leave_out), else, and where it only came wrong each time (kCameWrong), it stays
    /// unproven for this reason, and is tried again by the next manager.
    void planOn(const Error& error);
    /// A file of the block comes from a network by parts, and nothing tells whether these are what the whole holds:
    /// what looks damaged may be a wrong transfer.
    bool isReadByParts(const PlannedBlock& block) const;
    /// The same of the file in which planNext() failed.
    bool planningReadsByParts() const;
    /// Why rows of files are left out, a sentence for each file.
    std::vector<Message> leftOut() const;
    /// After an InvalidArgument: leaves out the files that changed while they were read; false: the configuration does
    /// not want that.
    Result<bool> leaveOutChanged();
    /// Why the block can only be had from the cache: one of its files is left out. "" when none is.
    std::string whyLeftOut(const PlannedBlock& block) const;
    /// The block without the rows of those files.
    Result<PlannedBlock> withoutLeftOut(const PlannedBlock& block) const;
    /// The block, which could not be prepared, without the rows of those of its files that cannot be read, which count
    /// as unreadable: each is read by itself. As it is when it can be read now; without all of its files when only that
    /// cannot. Errors as prepare(), but InvalidArgument, and Corrupt only where a file came wrong each time: nothing is
    /// left out for that.
    Result<PlannedBlock> withoutUnreadable(const PlannedBlock& block, const std::function<bool()>& goOn);
    /// Where and why rows of a prepared block cannot be read, of the first such row; "" when it has none.
    Message firstUnreadable(const PlannedBlock& block, const PreparedBlock& prepared) const;
    /// Where many rows of a prepared block have bytes that are no UTF-8, though their file was taken as such and nobody
    /// named its encoding: which one it looks to be, a sentence for people; "" where none is likely. Reads stretches of
    /// the file.
    Result<Message> doubtOfEncoding(const PlannedBlock& block, const PreparedBlock& prepared);
    /// What prepare() gave.
    Result<PreparedBlock> openBlock(const PreparedFile& file) const;
    /// planNext() would download or expand a file into the cache.
    bool planningFillsCache() const;
    /// Why the last block is not proven yet, in words: "reading file 3 of 7". "" once it is.
    std::string unprovenReason() const;
    /// Goes on planning after a known block, by seek. Call before the first planNext.
    Status resumeAfter(const std::string& lastPlan);

    /// Columns of the chunks of a block that the quarantine list names.
    std::vector<std::int32_t> excludedChunks(std::int64_t block) const;
    /// A known block from what the ledger keeps of it.
    static Result<PlannedBlock> fromPlan(const std::string& plan);
    /// The block as it lies in the cache, every byte of it checked. NotFound: not there, or damaged and put aside.
    Result<PreparedFile> find(const PlannedBlock& block);
    /// The block from the cache (checked as by find), or made.
    /// @param goOn  asked between chunks, may be empty; false cancels
    /// @param expectedDigest  of its first preparation, when known: a file of the cache that has another one is made
    /// anew, and put aside only when the
    ///     source then proves it wrong
    Result<PreparedFile> prepare(
        const PlannedBlock& block, const std::function<bool()>& goOn = {}, const std::string& expectedDigest = {});
    /// Prepares the block from its source once more and keeps nothing of it: what it must be, whatever lies in the
    /// cache (CachedAccess::compareCopies).
    /// @param goOn  as for prepare
    Result<PreparedFile> readAgain(const PlannedBlock& block, const std::function<bool()>& goOn = {});
    /// Files of the hub of which a wrong copy was found on this disk since the last call: what was prepared of them is
    /// not to be believed.
    std::set<std::string> takeDistrusted();
    /// A row of the block comes from the file.
    bool readsFrom(const PlannedBlock& block, const std::string& path) const;
    /// The prepared block is put aside, if it is there.
    Status putAside(const PlannedBlock& block);
    /// The name the prepared block has or would have below blockFolder().
    std::string fileName(const PlannedBlock& block) const;
    /// These files are not evicted by any process while this manager lives. Replaces the former set.
    Status pin(std::span<const std::string> fileNames);

    /// The list of what is left out by name; never null.
    std::shared_ptr<const Quarantine> exclusions() const;
    const Tokenizer& tokenizer() const;
    const DataManifest& manifest() const;
    /// Null: repeats are trained, or known inside a block only, or not yet.
    const DuplicateIndex* duplicates() const;
    /// The cache can take another block as large as the largest one so far without giving up what is in use.
    bool hasRoom() const;
    const OpenTimes& openTimes() const;
    /// What this process compared.
    ComparedFiles comparedFiles() const;

    /// Where prepared blocks lie under the cache folder of a workspace.
    static std::filesystem::path blockFolder(const std::filesystem::path& cacheFolder);

private:
    struct State;
    explicit BlockManager(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

} // namespace furrow
