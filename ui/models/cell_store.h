#pragma once

#include "ui/bridge/run_feed.h"

#include <QObject>
#include <unordered_map>

namespace furrow {

class RunWatcher;

/// The chunks of the epoch that is shown, by id, kept up to date from a watcher. Lives on the GUI thread.
class CellStore : public QObject {
    Q_OBJECT
public:
    explicit CellStore(RunWatcher& watcher, QObject* parent = nullptr);

    /// What is shown: the present, or a moment that is replayed.
    const std::vector<ChunkCell>& cells() const { return moment_.empty() ? cells_ : moment_; }
    const std::vector<ChunkCell>& present() const { return cells_; }
    /// @param cells  the same chunks in the same order as present()
    void showMoment(std::vector<ChunkCell> cells);
    void showPresent();
    std::int64_t epoch() const { return epoch_; }
    const ChunkCell* find(ChunkId chunk) const; ///< null: not of this epoch
    const ChunkCell* findPresent(ChunkId chunk) const; ///< as it is now
    /// Position in cells(); -1: not of this epoch.
    std::ptrdiff_t indexOf(ChunkId chunk) const;

Q_SIGNALS:
    void reset(); ///< another run, epoch or moment
    void changed(const furrow::CellsPtr& cells); ///< these got new values; new ones are at the end of cells()

private:
    void take(const CellsPtr& update);

    std::vector<ChunkCell> cells_;
    std::vector<ChunkCell> moment_; // empty: the present is shown
    std::unordered_map<std::int64_t, std::size_t> byId_;
    std::int64_t epoch_ = 0;
};

/// The claim history of the run, oldest first. Lives on the GUI thread.
class ClaimStore : public QObject {
    Q_OBJECT
public:
    explicit ClaimStore(RunWatcher& watcher, QObject* parent = nullptr);
    const std::vector<ClaimRow>& claims() const { return claims_; }
    /// Trainings of one chunk, oldest first.
    std::vector<ClaimRow> claimsOf(ChunkId chunk) const;

Q_SIGNALS:
    void changed();

private:
    void take(const ClaimsPtr& claims);

    std::vector<ClaimRow> claims_; // ordered by claimId
};

} // namespace furrow
