#pragma once

#include "core/tracker/ledger_reader.h"
#include "ui/widgets/chunk_cell.h"

#include <QColor>
#include <array>
#include <unordered_map>
#include <vector>

namespace furrow {

enum class MapLayer { State, Worker, Attempt, Epoch, Loss, DeltaLoss, Age, TimesTrained, Block, Parent };
/// Where the data of a block is, in the order of the colours of the layer Block. Evicted: it was prepared, and left the
/// cache since.
enum class BlockPlace { Remote, Fetching, Evicted, Prepared };
inline constexpr int kBlockPlaces = 4;
/// What a loss is relative to. Without the trend the map shows only when a chunk was trained.
enum class RelativeTo { Trend, Nothing };

/// Entries of the palette of a map image. Where chunks share a pixel the larger entry shows: poisoned before lost
/// before leased before the larger value before nothing.
inline constexpr std::uint8_t kNoCell = 0;
inline constexpr std::uint8_t kFreeCell = 1;
inline constexpr std::uint8_t kExcludedCell = 2;
inline constexpr std::uint8_t kNoValue = 3;
inline constexpr std::uint8_t kFirstValue = 4;
inline constexpr int kValueSteps = 239;
inline constexpr std::uint8_t kFirstWorker = 243;
inline constexpr std::uint8_t kPartlyCell = 251;
inline constexpr std::uint8_t kOrphanedCell = 252;
inline constexpr std::uint8_t kRedoCell = 253;
inline constexpr std::uint8_t kLostCell = 254;
inline constexpr std::uint8_t kPoisonedCell = 255;

/// Numbers below a legend.
struct MapSummary {
    std::array<std::int64_t, kCellKinds> kinds {}; ///< by CellKind
    std::int64_t pending = 0; ///< of the free ones: block not prepared yet
    std::int64_t redone = 0;
    std::int64_t lostInPart = 0; ///< of the lost ones: checkpoints have a part, which is kept
    std::int64_t total = 0;
    bool hasValues = false;
    double low = 0; ///< the ramp goes from here
    double high = 1;
    std::vector<std::int64_t> histogram; ///< of values, over low..high, ends take what lies beyond
};

/// Which of the painter's kinds a chunk is now.
CellKind cellKindOf(const ChunkCell& cell);
/// The entry of a kind that a resume gives a chunk.
std::uint8_t entryOf(CellKind kind);

/// Turns chunks into palette entries for one layer. A plain value with its own arrays; GUI thread.
class MapColors {
public:
    void setLayer(MapLayer layer, RelativeTo relative);
    MapLayer layer() const { return layer_; }
    RelativeTo relativeTo() const { return relative_; }
    /// Losses of the same chunks elsewhere (epoch before, other run), by block and column, for DeltaLoss.
    void setReference(const std::vector<ChunkCell>& cells);
    /// For the layer Block; a block that is not named is remote.
    void setBlockPlaces(std::unordered_map<std::int64_t, BlockPlace> places) { places_ = std::move(places); }
    BlockPlace placeOfBlock(std::int64_t block) const;
    /// The colour of a place, as the layer Block shows it.
    std::uint8_t entryOf(BlockPlace place) const;
    std::uint8_t entryOf(Inherited inherited) const; ///< of the layer Parent
    /// Learns the range (and the trend, when the cells are not those of the last call) from all cells, then gives each
    /// its entry. Some 20 ns a cell.
    void recolour(const std::vector<ChunkCell>& cells, std::int64_t nowWallNs, bool cellsChanged = true);
    std::uint8_t indexOf(const ChunkCell& cell) const;
    std::uint8_t entry(std::size_t cell) const { return entries_[cell]; }
    const std::vector<std::uint8_t>& entries() const { return entries_; }
    /// What the layer shows of a chunk; NaN: nothing.
    double valueOf(const ChunkCell& cell) const;
    double aboveTrend(const ChunkCell& cell) const;
    const MapSummary& summary() const { return summary_; }

    /// The 256 colours for QImage::setColorTable in the theme of the moment.
    std::vector<QRgb> palette() const;
    QColor colorOf(std::uint8_t entry) const;

private:
    void learnTrend(const std::vector<ChunkCell>& cells);
    void learnRange(const std::vector<ChunkCell>& cells);

    MapLayer layer_ = MapLayer::Loss;
    RelativeTo relative_ = RelativeTo::Trend;
    std::unordered_map<std::int64_t, float> reference_; ///< by place without epoch
    std::unordered_map<std::int64_t, BlockPlace> places_; ///< by number of the block
    bool trendKnown_ = false;
    std::vector<float> trend_; ///< mean loss over equal stretches of time
    std::int64_t trendBegin_ = 0;
    double trendStepNs_ = 1;
    std::int64_t nowNs_ = 0;
    std::vector<std::uint8_t> entries_;
    std::vector<float> values_;
    MapSummary summary_;
};

} // namespace furrow
