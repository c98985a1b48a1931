#include "ui/charts/map_colors.h"

#include "ui/theme/theme.h"

#include <algorithm>
#include <cmath>

namespace furrow {
namespace {

constexpr int kTrendBins = 256;
constexpr int kTrendChunks
    = 24; // that a value of the trend is the mean of at least, so that no chunk is only compared with itself
constexpr int kRangeBins = 4096;
constexpr int kHistogramBins = 48;
constexpr double kSpreadsAbove = 12; // values beyond take the end colour
constexpr double kSpreadsBelow = 3;

std::int64_t placeKey(const ChunkCell& cell) { return cell.block * 1'000'000 + cell.column; }

bool hasLoss(const ChunkCell& cell)
{
    return (cell.state == ChunkState::Trained || cell.state == ChunkState::Committed) && std::isfinite(cell.meanLoss);
}

} // namespace

CellKind cellKindOf(const ChunkCell& cell)
{
    if (isWorkLost(cell))
        return CellKind::Lost;
    if (cell.holderGone)
        return CellKind::Orphaned;
    switch (cell.state) {
    case ChunkState::Pending:
    case ChunkState::Free: return isPartlyTrained(cell) ? CellKind::Partly : CellKind::Free;
    case ChunkState::Leased: return CellKind::Leased;
    case ChunkState::Trained: return CellKind::Trained;
    case ChunkState::Committed: return CellKind::Committed;
    case ChunkState::Poisoned: return CellKind::Poisoned;
    case ChunkState::Excluded:
    case ChunkState::Accepted: break;
    }
    return CellKind::Excluded;
}

void MapColors::setLayer(MapLayer layer, RelativeTo relative)
{
    layer_ = layer;
    relative_ = relative;
}

void MapColors::setReference(const std::vector<ChunkCell>& cells)
{
    reference_.clear();
    reference_.reserve(cells.size());
    for (const ChunkCell& cell : cells) {
        if (hasLoss(cell))
            reference_[placeKey(cell)] = cell.meanLoss;
    }
}

/// Mean loss of the chunks trained around each moment: over five stretches of time, and more where chunks are few.
void MapColors::learnTrend(const std::vector<ChunkCell>& cells)
{
    trend_.clear();
    std::int64_t begin = INT64_MAX;
    std::int64_t end = INT64_MIN;
    for (const ChunkCell& cell : cells) {
        if (hasLoss(cell)) {
            begin = std::min(begin, cell.trainedWallNs);
            end = std::max(end, cell.trainedWallNs);
        }
    }
    if (begin > end)
        return;
    trendBegin_ = begin;
    trendStepNs_ = std::max(1.0, static_cast<double>(end - begin) / kTrendBins);
    std::vector<double> sum(kTrendBins + 1, 0);
    std::vector<int> count(kTrendBins + 1, 0);
    const double perNs = 1 / trendStepNs_;
    for (const ChunkCell& cell : cells) {
        if (hasLoss(cell)) {
            const auto bin = static_cast<std::size_t>(static_cast<double>(cell.trainedWallNs - begin) * perNs);
            sum[bin] += cell.meanLoss;
            ++count[bin];
        }
    }
    for (std::size_t bin = 1; bin < sum.size(); ++bin) { // now up to and with the bin
        sum[bin] += sum[bin - 1];
        count[bin] += count[bin - 1];
    }
    trend_.assign(kTrendBins + 1, NAN);
    const int wanted = std::min(kTrendChunks, count.back());
    int reach = 2;
    for (int bin = 0; bin <= kTrendBins; ++bin) {
        const auto within = [bin](const auto& sums, int around) {
            const auto last = sums[static_cast<std::size_t>(std::min(kTrendBins, bin + around))];
            return bin - around <= 0 ? last : last - sums[static_cast<std::size_t>(bin - around - 1)];
        };
        while (reach > 2 && within(count, reach - 1) >= wanted)
            --reach;
        while (within(count, reach) < wanted)
            ++reach;
        trend_[static_cast<std::size_t>(bin)] = static_cast<float>(within(sum, reach) / within(count, reach));
    }
}

double MapColors::aboveTrend(const ChunkCell& cell) const
{
    if (!hasLoss(cell) || trend_.empty())
        return NAN;
    const double at = std::clamp(
        static_cast<double>(cell.trainedWallNs - trendBegin_) / trendStepNs_, 0.0, static_cast<double>(kTrendBins));
    return cell.meanLoss - trend_[static_cast<std::size_t>(at)];
}

double MapColors::valueOf(const ChunkCell& cell) const
{
    switch (layer_) {
    case MapLayer::Loss: return relative_ == RelativeTo::Trend ? aboveTrend(cell) : hasLoss(cell) ? cell.meanLoss : NAN;
    case MapLayer::DeltaLoss: {
        const auto found = reference_.find(placeKey(cell));
        return !hasLoss(cell) || found == reference_.end() ? NAN : cell.meanLoss - found->second;
    }
    case MapLayer::Age: return cell.trainedWallNs == 0 ? NAN : static_cast<double>(nowNs_ - cell.trainedWallNs) / 60e9;
    case MapLayer::TimesTrained: return cell.timesTrained;
    case MapLayer::Epoch: return static_cast<double>(placeOf(cell.id).epoch);
    case MapLayer::Block: return static_cast<double>(placeOfBlock(cell.block));
    case MapLayer::Parent: return static_cast<double>(cell.inherited);
    default: return NAN;
    }
}

BlockPlace MapColors::placeOfBlock(std::int64_t block) const
{
    const auto found = places_.find(block);
    return found == places_.end() ? BlockPlace::Remote : found->second;
}

std::uint8_t MapColors::entryOf(BlockPlace place) const
{
    return static_cast<std::uint8_t>(kFirstValue + static_cast<int>(place) * (kValueSteps - 1) / (kBlockPlaces - 1));
}

std::uint8_t MapColors::entryOf(Inherited inherited) const
{
    switch (inherited) {
    case Inherited::Seen: return static_cast<std::uint8_t>(kFirstValue + kValueSteps / 2);
    case Inherited::Skipped: return static_cast<std::uint8_t>(kFirstValue + kValueSteps - 1);
    case Inherited::Nothing: break;
    }
    return kFreeCell;
}

void MapColors::learnRange(const std::vector<ChunkCell>& cells)
{
    values_.resize(cells.size());
    double low = INFINITY;
    double high = -INFINITY;
    std::int64_t count = 0;
    for (std::size_t i = 0; i < cells.size(); ++i) {
        const double v = valueOf(cells[i]);
        values_[i] = static_cast<float>(v);
        if (std::isfinite(v)) {
            low = std::min(low, v);
            high = std::max(high, v);
            ++count;
        }
    }
    summary_.hasValues = count > 0;
    summary_.histogram.assign(kHistogramBins, 0);
    if (count == 0)
        return;
    if (high > low && layer_ != MapLayer::TimesTrained && layer_ != MapLayer::Epoch) {
        std::vector<std::int64_t> bins(kRangeBins, 0);
        const double scale = (kRangeBins - 1) / (high - low);
        for (const float v : values_) {
            if (std::isfinite(v))
                ++bins[static_cast<std::size_t>((v - low) * scale)];
        }
        const auto quantile = [&](double share) {
            auto left = static_cast<std::int64_t>(share * static_cast<double>(count));
            std::size_t bin = 0;
            while (bin + 1 < bins.size() && left >= bins[bin])
                left -= bins[bin++];
            return low + (static_cast<double>(bin) + 0.5) / scale;
        };
        // Bad data is a long upper tail: the ramp keeps room for it, a few spreads above the middle.
        const double middle = quantile(0.5);
        const double above = quantile(0.84) - middle;
        const double below = middle - quantile(0.16);
        const double margin = 1 / scale;
        const double wantedHigh = middle + kSpreadsAbove * above + margin;
        const double wantedLow = middle - kSpreadsBelow * below - margin;
        high = std::min(high, wantedHigh);
        low = std::max(low, wantedLow);
    }
    if (layer_ == MapLayer::DeltaLoss) {
        high = std::max({ std::abs(low), std::abs(high), 1e-9 });
        low = -high;
    }
    summary_.low = low;
    summary_.high = high > low ? high : low + 1;
    const double perBin = kHistogramBins / (summary_.high - summary_.low);
    for (const float v : values_) {
        if (std::isfinite(v))
            ++summary_.histogram[static_cast<std::size_t>(
                std::clamp((v - summary_.low) * perBin, 0.0, kHistogramBins - 1.0))];
    }
}

std::uint8_t entryOf(CellKind kind)
{
    switch (kind) {
    case CellKind::Free: return kFreeCell;
    case CellKind::Excluded: return kExcludedCell;
    case CellKind::Redo: return kRedoCell;
    case CellKind::Orphaned: return kOrphanedCell;
    case CellKind::Lost: return kLostCell;
    case CellKind::Poisoned: return kPoisonedCell;
    case CellKind::Partly: return kPartlyCell;
    default: return kNoValue; // kept
    }
}

void MapColors::recolour(const std::vector<ChunkCell>& cells, std::int64_t nowWallNs, bool cellsChanged)
{
    trendKnown_ = trendKnown_ && !cellsChanged;
    nowNs_ = nowWallNs;
    summary_ = {};
    if (!trendKnown_ && layer_ == MapLayer::Loss && relative_ == RelativeTo::Trend) {
        learnTrend(cells);
        trendKnown_ = true;
    }
    learnRange(cells);
    entries_.resize(cells.size());
    const double scale = (kValueSteps - 1) / (summary_.high - summary_.low);
    for (std::size_t i = 0; i < cells.size(); ++i) {
        const ChunkCell& cell = cells[i];
        const CellKind kind = cellKindOf(cell);
        ++summary_.kinds[static_cast<std::size_t>(kind)];
        summary_.pending += cell.state == ChunkState::Pending;
        const bool filled = kind == CellKind::Trained || kind == CellKind::Committed;
        summary_.redone += filled && cell.timesLost > 0;
        summary_.lostInPart += kind == CellKind::Lost && cell.covered > 0;
        const float v = values_[i];
        if (layer_ == MapLayer::Block || layer_ == MapLayer::Parent)
            entries_[i] = indexOf(cell);
        else if (filled && std::isfinite(v))
            entries_[i] = static_cast<std::uint8_t>(
                kFirstValue + std::clamp((v - summary_.low) * scale, 0.0, kValueSteps - 1.0));
        else
            entries_[i] = indexOf(cell);
    }
    summary_.total = static_cast<std::int64_t>(cells.size());
}

std::uint8_t MapColors::indexOf(const ChunkCell& cell) const
{
    if (layer_ == MapLayer::Block)
        return entryOf(placeOfBlock(cell.block));
    if (layer_ == MapLayer::Parent)
        return entryOf(cell.inherited);
    switch (cellKindOf(cell)) {
    case CellKind::Free: return kFreeCell;
    case CellKind::Excluded: return kExcludedCell;
    case CellKind::Lost: return kLostCell;
    case CellKind::Orphaned: return kOrphanedCell;
    case CellKind::Poisoned: return kPoisonedCell;
    case CellKind::Partly: return kPartlyCell;
    case CellKind::Leased: return static_cast<std::uint8_t>(kFirstWorker + std::max<int>(0, cell.worker) % 8);
    default: break;
    }
    if (layer_ == MapLayer::Worker)
        return static_cast<std::uint8_t>(kFirstWorker + std::max<int>(0, cell.worker) % 8);
    if (layer_ == MapLayer::Attempt)
        return static_cast<std::uint8_t>(kFirstWorker + std::max<int>(0, cell.attempt - 1) % 8);
    const double v = valueOf(cell);
    if (!std::isfinite(v))
        return kNoValue;
    return static_cast<std::uint8_t>(kFirstValue
        + std::clamp((v - summary_.low) / (summary_.high - summary_.low) * (kValueSteps - 1), 0.0, kValueSteps - 1.0));
}

std::vector<QRgb> MapColors::palette() const
{
    const Theme& t = theme();
    std::vector<QRgb> colors(256, t.color(Token::Inset).rgb());
    colors[kNoCell] = t.color(Token::Panel).rgb();
    colors[kFreeCell] = t.color(Token::Inset).rgb();
    colors[kExcludedCell] = t.color(Token::Line2).rgb();
    colors[kOrphanedCell] = t.color(Token::Text2).rgb();
    colors[kPartlyCell] = plainCellColor({ CellKind::Partly, {} }).rgb();
    colors[kRedoCell] = t.color(Token::Accent).rgb();
    colors[kLostCell] = t.color(Token::Interrupted).rgb();
    colors[kPoisonedCell] = t.color(Token::Error).rgb();
    colors[kNoValue] = t.color(Token::Kept).rgb();
    for (int w = 0; w < 8; ++w)
        colors[static_cast<std::size_t>(kFirstWorker + w)] = t.workerColor(w).rgb();
    const ValueMap& map = layer_ == MapLayer::DeltaLoss ? t.deltaMap() : t.lossMap();
    for (int i = 0; i < kValueSteps; ++i)
        colors[static_cast<std::size_t>(kFirstValue + i)] = map[static_cast<std::size_t>(i * 255 / (kValueSteps - 1))];
    return colors;
}

QColor MapColors::colorOf(std::uint8_t entry) const { return QColor::fromRgb(palette()[entry]); }

} // namespace furrow
