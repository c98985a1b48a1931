#pragma once

#include "core/data/block_manager.h"

#include "core/data/block_preparer.h"
#include "core/data/plan/block_planner.h"
#include "core/data/plan/chunk_collector.h"
#include "core/data/plan/damaged_rows.h"
#include "core/data/plan/duplicate_index.h"
#include "core/data/plan/duplicate_search.h"
#include "core/data/plan/quarantine.h"
#include "core/data/plan/sample_encoder.h"
#include "core/data/source/block_cache.h"
#include "core/data/source/cached_access.h"
#include "core/data/source/data_manifest.h"
#include "core/data/source/source_identity.h"

#include <map>

namespace furrow {

/// Everything but the rows that decides what a prepared block contains.
std::string contentKey(
    const RunConfig& config, const DataManifest& manifest, const SampleEncoder& encoder, const SampleRules& rules);

/// What the sources of BlockManager share; nobody else includes this. Defined where the matter is: what cannot be read
/// (block_manager_damage), what is left out (block_manager_left_out), repeats (block_manager_duplicates), blocks as
/// they lie in the cache or are made (block_manager_prepare).
struct BlockManager::State {
    RunConfig config;
    DataManifest manifest;
    std::shared_ptr<const Tokenizer> tokenizer;
    std::optional<SampleEncoder> encoder;
    std::shared_ptr<BlockCache> cache;
    std::shared_ptr<SourceIdentity> identity = std::make_shared<SourceIdentity>();
    std::map<std::string, std::string> leftOut; ///< path of a file that is another one now -> how
    std::map<std::string, std::string> cutOff; ///< path of a file whose rest cannot be planned -> why
    std::unique_ptr<CachedAccess> access;
    std::vector<RowOptions> options;
    std::unique_ptr<BlockPlanner> planner;
    std::vector<std::unique_ptr<ChunkCollector>> collectors; ///< one per source
    PlanRules rules;
    std::string contentKey;
    std::filesystem::path duplicatesFile;
    std::string duplicatesKey; ///< "": only repeats inside a block are known
    std::shared_ptr<const DuplicateIndex> duplicates;
    std::string duplicatesDigest; ///< of the list that was known last; "": none was
    std::unique_ptr<DuplicateSearch> search; ///< that was interrupted
    std::shared_ptr<const Quarantine> exclusions;
    std::uint64_t largestBytes = 0; ///< of the blocks seen so far
    std::set<std::string> pinned;
    bool proven = false;
    bool keepsBeginnings = false;

    Result<PreparedFile> fromCache(const std::string& name);
    Result<PreparedFile> make(const PlannedBlock& block, const std::string& name, const std::function<bool()>& goOn,
        const std::string& digestInTheWay);
    /// What it would be made of; nothing is kept.
    Result<BlockContent> readOnly(const PlannedBlock& block, const std::function<bool()>& goOn);
    /// Why the block cannot be read; "": it can. Errors: what is of the outside, and Cancelled.
    Result<Message> whyUnreadable(const PlannedBlock& block, const std::function<bool()>& goOn);
    /// What of a block cannot be read.
    struct Damage {
        std::vector<DamagedRows> rows;
        Message whyWhole; ///< the formats do not tell which rows these are; "": they do
    };
    /// Errors as whyUnreadable().
    Result<Damage> damageOf(const PlannedBlock& block, const std::function<bool()>& goOn);
    /// The block without those rows, and without the files of which nobody can tell them. Errors as whyUnreadable().
    Result<PlannedBlock> withoutDamage(const PlannedBlock& block, const std::function<bool()>& goOn);
    /// BlockManager::withoutUnreadable(), whatever the reason.
    Result<PlannedBlock> readablePart(const PlannedBlock& block, const std::function<bool()>& goOn);
    /// Of the first of these files that came wrong each time; null: none did.
    const Error* cameWrong(const std::set<std::string>& files) const;
    Status pinAlso(const std::string& name);
    Status openDuplicates();
    void useDuplicates(DuplicateIndex index);
    Status checkPossible(const PlannedBlock& block) const;
    /// Whether the files are still those of the manifest; with bad_files=leave_out those that are not are left out
    /// instead.
    Status checkFiles();
    std::set<std::string> leftOutPaths() const;
    std::set<std::string> allPaths() const;
    void tellPlanner(); ///< which files are left out
    Status checkFiles(const PlannedBlock& block);
    const DataFile* fileOf(const PlannedBlock& block, const Segment& segment) const;
    Error causeOf(const Error& error, const std::set<std::string>& files);
    Error causeInTheSearch(const Error& error);
    std::set<std::string> filesOf(const PlannedBlock& block) const;
    bool foundWrongCopy(const std::set<std::string>& files);
    bool isReadByParts(const std::set<std::string>& files) const;
};

} // namespace furrow
