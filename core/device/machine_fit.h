#pragma once

#include "core/base/message.h"
#include "core/device/placement.h"

#include <cstdint>
#include <string>
#include <vector>

namespace furrow {

/// What workers on the CPU share.
struct Machine {
    std::uint64_t memoryBytes = 0;
    int cores = 0;

    static Machine here();
};

/// What all workers together want beyond what the machine has, as sentences to warn by: it may work all the same, so
/// nothing is refused. Workers on GPUs have memory of their own and are not counted.
/// @param bytesEach  that one worker is likely to take
std::vector<Message> machineWarnings(
    const std::vector<WorkerPlacement>& workers, std::int64_t bytesEach, const Machine& machine);
/// The same with the memory by formula, for settings whose model can be built.
std::vector<Message> machineWarnings(
    const RunConfig& config, const std::vector<WorkerPlacement>& workers, const Machine& machine);

} // namespace furrow
