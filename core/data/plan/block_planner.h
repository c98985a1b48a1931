#pragma once

#include "core/base/message.h"
#include "core/data/plan/block_plan.h"
#include "core/data/source/row_choice.h"
#include "core/data/source/row_reader.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace furrow {

struct PlanRules {
    std::int64_t samplesPerBlock = 100000;
    std::int64_t chunkSamples = 4000;
    std::uint64_t chunkBytes = 64ull << 20;
    RowChoice choice;
    std::vector<double> weights; ///< of the sources; empty: their sizes
};

/// A block ends early when its text reaches this size, whatever its number of rows: bounds memory and disk of one unit.
inline constexpr std::uint64_t kMaxBlockBytes = 1ull << 30;

/// Walks over all sources and cuts them into blocks and chunks. Which source comes next is decided by its bytes
/// already planned in relation to its weight; without weights to its size, so that all sources end together. A pure
/// function of the manifest and the rules. Not thread-safe.
class BlockPlanner {
public:
    /// @param access, manifest, options  must live as long as this; options one per source
    BlockPlanner(
        FileAccess& access, const DataManifest& manifest, std::vector<RowOptions> options, const PlanRules& rules);

    /// nullopt: every file came to its definite end. After an error the same call can be repeated.
    Result<std::optional<PlannedBlock>> next();
    Status resumeAfter(const std::string& plan);
    /// Rows of these files (by path) that are not planned yet never will be.
    void leaveOut(std::set<std::string> paths) { leftOut_ = std::move(paths); }
    /// Of the files of which rows were passed by for that, the first such row.
    const std::map<std::string, std::int64_t>& passedBy() const { return passedBy_; }
    /// The file in which next() failed last, and why; "" before.
    const std::string& failedFile() const { return failed_.path; }
    /// After a failure that no repetition mends: goes on behind the file. The rest of it stays unplanned, which plans
    /// keep (SourcePosition::gaps), so nothing is proven; another planner, after resumeAfter(), tries it again.
    void giveFileUp(const Message& reason);
    std::string unprovenReason() const;
    /// The next block lies in a file for which fillsCache() is true.
    bool nextFillsCache() const;

private:
    struct Building {
        PlannedBlock block;
        std::uint64_t blockBytes = 0;
        std::int64_t chunkRows = 0;
        std::uint64_t chunkBytes = 0;
    };

    int chooseSource() const; ///< -1: all at their end
    Result<std::optional<PlannedBlock>> planBlock(int source);
    Result<std::optional<PlannedBlock>> planGap(int source, const FileGap& gap);
    Status takeRows(int source, std::int32_t endFile, SourcePosition& at, Building& building);
    std::optional<PlannedBlock> finished(Building building);
    Result<bool> takeRow(int source, std::int32_t endFile, SourcePosition& at, Building& building);
    const std::vector<DataFile>& filesOf(int source) const
    {
        return manifest_.sources[static_cast<std::size_t>(source)].files;
    }
    const FileGap* gapToTry(int source) const; ///< null: none
    void addRow(const SourcePosition& at, std::uint64_t sizeBytes, Building& building) const;
    Result<RowScanner*> scannerAt(int source, const SourcePosition& at);

    struct OpenScanner {
        std::unique_ptr<RowScanner> scanner;
        SourcePosition at;
    };

    FileAccess& access_;
    const DataManifest& manifest_;
    std::vector<RowOptions> options_;
    PlanRules rules_;
    std::vector<SourcePosition> positions_;
    std::vector<OpenScanner> open_; ///< one per source
    std::set<std::string> leftOut_;
    std::map<std::string, std::int64_t> passedBy_;
    struct Failure {
        int source = -1;
        std::int32_t file = 0;
        std::string path {};
    };
    Failure failed_;
    using FileOfSource = std::pair<int, std::int32_t>;
    std::map<FileOfSource, std::string> givenUp_; ///< why; of gaps from before nothing is known until they are tried
    std::int64_t nextBlock_ = 0;
};

} // namespace furrow
