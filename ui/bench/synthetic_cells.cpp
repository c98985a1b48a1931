#include "ui/bench/synthetic_cells.h"

#include "core/base/random.h"

#include <cmath>
#include <limits>

namespace furrow {
namespace {

constexpr std::int64_t kStart = 1'773'396'000'000'000'000; // 2026-03-13T10:00:00Z

void train(ChunkCell& cell, Random& random, double progress, int workers)
{
    cell.worker = static_cast<std::int16_t>(random.below(static_cast<std::uint64_t>(workers)));
    cell.attempt = progress < 0.4 ? 1 : 2;
    cell.timesTrained = 1;
    cell.trainedWallNs = kStart + static_cast<std::int64_t>(progress * 31'000e9);
    double noise = 0;
    for (int i = 0; i < 4; ++i)
        noise += random.uniform() - 0.5;
    cell.meanLoss = static_cast<float>(3.43 + 0.4 * std::exp(-4 * progress) + 0.04 * noise);
}

} // namespace

std::vector<ChunkCell> syntheticCells(std::uint64_t seed, std::int64_t blocks, int columns, int workers)
{
    Random random(seed);
    std::vector<ChunkCell> cells;
    cells.reserve(static_cast<std::size_t>(blocks) * static_cast<std::size_t>(columns));
    const auto order = permutation(static_cast<std::uint32_t>(blocks), seed);
    const auto begun = static_cast<std::uint32_t>(blocks * 2 / 3);
    for (std::int64_t block = 0; block < blocks; ++block) {
        const std::uint32_t place = order[static_cast<std::size_t>(block)];
        const bool open = place >= begun && place < begun + 6;
        const bool bad = block == blocks * 53 / 97;
        for (int column = 0; column < columns; ++column) {
            ChunkCell cell;
            cell.id = chunkIdOf({ 0, block, column });
            cell.block = block;
            cell.column = column;
            cell.state = place < begun + 12 ? ChunkState::Free : ChunkState::Pending;
            cell.meanLoss = std::numeric_limits<float>::quiet_NaN();
            const double progress = (place + random.uniform()) / static_cast<double>(blocks);
            if (place < begun || bad) {
                train(cell, random, progress, workers);
                cell.state = ChunkState::Committed;
                if (bad && column >= columns / 2 && column < columns / 2 + 7)
                    cell.meanLoss += static_cast<float>(0.25 + 0.9 * random.uniform());
                cell.timesLost = random.below(50) == 0 ? 1 : 0;
                if (random.below(400) == 0)
                    cell.state = random.below(4) == 0 ? ChunkState::Poisoned : ChunkState::Excluded;
            } else if (open) {
                const auto dice = random.below(10);
                if (column * 10 < columns * static_cast<int>(3 + place % 7)) {
                    train(cell, random, progress, workers);
                    cell.state = dice == 0 ? ChunkState::Free : ChunkState::Trained;
                    cell.timesLost = dice == 0 ? 1 : 0;
                } else if (dice == 1) {
                    cell.state = ChunkState::Leased;
                    cell.worker = static_cast<std::int16_t>(random.below(static_cast<std::uint64_t>(workers)));
                }
            }
            cells.push_back(cell);
        }
    }
    return cells;
}

} // namespace furrow
