#pragma once

#include "core/run/status/checkpoints_left.h"
#include "ui/bridge/run_feed.h"

#include <QObject>
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <unordered_map>

namespace furrow {

class CellStore;
class ClaimStore;
class RunWatcher;

/// Takes every view back to a past moment of the run: the map from the moves of the ledger, losses from its claims,
/// curves up to the moment. The run itself is not touched. Lives on the GUI thread.
class Replay : public QObject {
    Q_OBJECT
public:
    Replay(RunWatcher& watcher, CellStore& cells, ClaimStore& claims, QObject* parent = nullptr);

    /// What is shown, in ns since 1970; absent: the present.
    std::optional<std::int64_t> moment() const { return moment_; }
    /// Shows another moment, kept inside begin() and end(). Absent: back to the present.
    void setMoment(std::optional<std::int64_t> wallNs);
    /// The first thing that is known; 0: nothing yet.
    std::int64_t begin() const { return moves_.empty() ? 0 : moves_.front().wallNs; }
    /// The newest thing that is known: also the end of the newest attempt, and its last checkpoint.
    std::int64_t end() const;
    /// Whether processes of the run lived at a moment, as far as anything is known of it.
    bool livedAt(std::int64_t wallNs) const;
    /// The chunks of the shown epoch at a moment, in the order of the present ones.
    std::vector<ChunkCell> cellsAt(std::int64_t wallNs) const;
    /// The epochs that were open at a moment, oldest first, else the newest that had begun; whatever became of them.
    std::vector<std::int64_t> openEpochsAt(std::int64_t wallNs) const;
    /// The same of any epoch, by block and column.
    std::vector<ChunkCell> cellsOf(std::int64_t epoch, std::int64_t wallNs) const;
    /// The blocks that had been prepared by a moment, and whether they were then, as the ledger said last. One that
    /// left the cache when nothing of it was left to train left no trace: it counts as prepared.
    std::map<std::int64_t, bool> blocksAt(std::int64_t wallNs) const;
    /// When checkpoints left the weights, as where the run went back to an older one.
    using Left = CheckpointLeft;
    const std::vector<Left>& left() const { return left_; }
    /// Whether a person wished the run to pause at a moment, as far as the ledger tells: older Furrows kept no record.
    bool pausedAt(std::int64_t wallNs) const;
    /// Trainings of one chunk, oldest first, as they stood at the shown moment.
    std::vector<ClaimRow> claimsOf(ChunkId chunk) const;

Q_SIGNALS:
    void momentChanged();
    void spanChanged(); ///< begin() or end()

private:
    struct Move {
        std::int64_t wallNs = 0;
        std::int64_t chunk = 0;
        std::int32_t count = 1; ///< chunks with consecutive ids
        std::int32_t incarnation = 0;
        std::int8_t from = 0;
        std::int8_t to = 0;
    };
    void takeEvents(const EventsPtr& events);
    void findLeft();
    using IndexOf = std::function<std::ptrdiff_t(std::int64_t chunk)>; ///< -1: not among the cells
    std::vector<ChunkCell> unseen(const std::vector<std::int64_t>& ids) const;
    void play(std::vector<ChunkCell>& cells, const IndexOf& indexOf, std::int64_t wallNs) const;
    void addTrainings(std::vector<ChunkCell>& cells, const IndexOf& indexOf, std::int64_t wallNs) const;
    void markGone(std::vector<ChunkCell>& cells, const IndexOf& indexOf, std::int64_t wallNs) const;

    RunWatcher& watcher_;
    CellStore& cells_;
    ClaimStore& claims_;
    std::vector<Move> moves_; // by sequence, so nearly by time
    std::vector<WeightsLeft> retreats_;
    std::vector<Left> left_;
    std::array<std::size_t, 3> leftIsOf_ {}; ///< how many retreats, checkpoints, and ones that do not survive
    std::map<std::int64_t, bool> pauses_; ///< when one began (true) or ended
    std::optional<std::int64_t> moment_;
};

} // namespace furrow
