#include "core/device/placement.h"

#include "core/base/process.h"
#include "core/base/sentence.h"

#include <algorithm>
#include <charconv>

namespace furrow {

namespace {

constexpr int kDefaultCpuWorkers = 2;

Error unknownDevice(const std::string& wanted, const std::vector<Gpu>& gpus)
{
    std::string known;
    for (const auto& gpu : gpus)
        known += (known.empty() ? "" : ", ") + std::to_string(gpu.index) + " (" + gpu.name + ", " + gpu.uuid + ")";
    return { ErrorCode::InvalidArgument,
        gpus.empty()
            ? sentence("devices names '%1', which is not on this machine. It has no GPU; 'cpu:2' trains on the CPU.",
                  { wanted })
            : sentence("devices names '%1', which is not on this machine. It has %2.", { wanted, known }) };
}

Result<std::vector<Gpu>> chosenGpus(const std::string& devices, const std::vector<Gpu>& gpus)
{
    if (devices == "auto")
        return gpus;
    std::vector<Gpu> chosen;
    for (std::size_t begin = 0; begin <= devices.size();) {
        const std::size_t end = std::min(devices.find(',', begin), devices.size());
        const std::string item = devices.substr(begin, end - begin);
        begin = end + 1;
        const auto found = std::find_if(gpus.begin(), gpus.end(),
            [&](const Gpu& gpu) { return gpu.uuid == item || std::to_string(gpu.index) == item; });
        if (found == gpus.end())
            return unknownDevice(item, gpus);
        chosen.push_back(*found);
    }
    return chosen;
}

} // namespace

Result<std::vector<WorkerPlacement>> placeWorkers(const RunConfig& config, const std::vector<Gpu>& gpus, int cores)
{
    std::vector<Gpu> chosen;
    int cpuWorkers = config.merge == MergeMethod::None && config.parallel == ParallelMode::Independent
        ? 1
        : kDefaultCpuWorkers; // two that never meet are two models
    if (config.devices.rfind("cpu:", 0) == 0)
        std::from_chars(config.devices.data() + 4, config.devices.data() + config.devices.size(), cpuWorkers);
    if (config.devices.rfind("cpu", 0) != 0) {
        FURROW_TRY_ASSIGN(chosen, chosenGpus(config.devices, gpus));
    }
    const int count = config.workers > 0 ? static_cast<int>(config.workers)
        : chosen.empty()                 ? cpuWorkers
                                         : static_cast<int>(chosen.size());
    if (config.parallel == ParallelMode::Data && count < 2)
        return Error { ErrorCode::InvalidArgument,
            sentence(
                "parallel is data, which splits each step over at least two workers, but there is one (%1). Name more devices, or set parallel to independent.",
                { chosen.empty() ? "CPU" : chosen.front().name }) };
    if (!chosen.empty() && count > static_cast<int>(chosen.size()))
        return Error { ErrorCode::InvalidArgument,
            sentence("workers is %1, but the number of GPUs in devices is %2: one worker trains on one GPU.",
                { std::to_string(count), std::to_string(chosen.size()) }) };
    std::vector<WorkerPlacement> placements;
    for (int worker = 0; worker < count; ++worker) {
        WorkerPlacement place { worker, "cpu", "CPU", static_cast<int>(config.threads) };
        if (!chosen.empty()) {
            place.device = chosen[static_cast<std::size_t>(worker)].uuid;
            place.deviceName = chosen[static_cast<std::size_t>(worker)].name;
        }
        if (place.threads == 0)
            place.threads = std::max(1, cores / count);
        placements.push_back(std::move(place));
    }
    return placements;
}

Result<std::vector<WorkerPlacement>> placeWorkersHere(const RunConfig& config)
{
    const auto monitor = GpuMonitor::open();
    return placeWorkers(config, monitor.ok() ? monitor.value().read() : std::vector<Gpu> {}, cpuCount());
}

Status canCompute(const RunConfig& config, const std::vector<WorkerPlacement>& placements)
{
    const bool onCpu = std::any_of(
        placements.begin(), placements.end(), [](const WorkerPlacement& place) { return place.device == "cpu"; });
    if (onCpu && config.precision == PrecisionChoice::Float16)
        return Error { ErrorCode::InvalidArgument,
            sentence(
                "%1 is fp16, which needs a GPU, but with %2 %3 the workers train on the CPU here; allowed there is auto, fp32 or bf16.",
                { settingTerm("precision"), settingTerm("devices"), config.devices }) };
    return {};
}

} // namespace furrow
