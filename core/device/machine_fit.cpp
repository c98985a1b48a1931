#include "core/device/machine_fit.h"

#include "core/base/format.h"
#include "core/base/process.h"
#include "core/base/sentence.h"
#include "core/model/memory_estimate.h"

namespace furrow {

Machine Machine::here() { return { physicalMemoryBytes(), cpuCount() }; }

std::vector<Message> machineWarnings(
    const std::vector<WorkerPlacement>& workers, std::int64_t bytesEach, const Machine& machine)
{
    std::int64_t count = 0;
    std::int64_t threads = 0;
    for (const auto& worker : workers) {
        count += worker.device == "cpu" ? 1 : 0;
        threads += worker.device == "cpu" ? worker.threads : 0;
    }
    std::vector<Message> warnings;
    const auto together = static_cast<std::uint64_t>(bytesEach * count);
    if (count > 0 && together > machine.memoryBytes)
        warnings.push_back(sentence(
            "The %1 workers would take about %2 of memory together, and this machine has %3. Fewer workers, a smaller batch_size or a smaller model need less.",
            { Count(count), Bytes(together), Bytes(machine.memoryBytes) }));
    if (threads > machine.cores)
        warnings.push_back(sentence(
            "The %1 workers want %2 cores together, and this machine has %3: they would take turns and be no faster. Use fewer workers or threads.",
            { Count(count), Count(threads), Count(machine.cores) }));
    return warnings;
}

std::vector<Message> machineWarnings(
    const RunConfig& config, const std::vector<WorkerPlacement>& workers, const Machine& machine)
{
    const ModelConfig model = modelConfigOf(config, usualVocabulary(config));
    if (workers.empty() || !model.validate().empty())
        return {};
    const auto each = estimateMemory(
        config, model, stepPathOf(config, model, workers.front().device != "cpu"), workers.front().threads)
                          .total();
    return machineWarnings(workers, each, machine);
}

} // namespace furrow
