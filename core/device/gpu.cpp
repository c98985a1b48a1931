#include "core/device/gpu.h"

#include "core/base/sentence.h"
#include "core/base/shared_library.h"

#include <optional>

namespace furrow {

// The few NVML declarations we need; the header is not part of the driver. Source: NVML API reference, r535 and later.
namespace {

using NvmlDevice = void*;
struct NvmlMemory {
    unsigned long long total, free, used;
};
struct NvmlUtilisation {
    unsigned int gpu, memory;
};
constexpr int kSuccess = 0;
constexpr int kSensorGpu = 0;
#ifdef _WIN32
constexpr const char* kLibrary = "nvml.dll";
#else
constexpr const char* kLibrary = "libnvidia-ml.so.1";
#endif

} // namespace

struct GpuMonitor::Nvml {
    explicit Nvml(SharedLibrary library)
        : library_(std::move(library))
    {
    }

    template <typename Function> bool find(Function*& function, const char* symbolName)
    {
        function = reinterpret_cast<Function*>(library_.symbol(symbolName));
        return function != nullptr;
    }

    bool findAll()
    {
        return find(init, "nvmlInit_v2") && find(shutdown, "nvmlShutdown") && find(count, "nvmlDeviceGetCount_v2")
            && find(handle, "nvmlDeviceGetHandleByIndex_v2") && find(uuid, "nvmlDeviceGetUUID")
            && find(name, "nvmlDeviceGetName") && find(memory, "nvmlDeviceGetMemoryInfo")
            && find(utilisation, "nvmlDeviceGetUtilizationRates") && find(power, "nvmlDeviceGetPowerUsage")
            && find(temperature, "nvmlDeviceGetTemperature");
    }

    SharedLibrary library_;
    int (*init)() = nullptr;
    int (*shutdown)() = nullptr;
    int (*count)(unsigned int*) = nullptr;
    int (*handle)(unsigned int, NvmlDevice*) = nullptr;
    int (*uuid)(NvmlDevice, char*, unsigned int) = nullptr;
    int (*name)(NvmlDevice, char*, unsigned int) = nullptr;
    int (*memory)(NvmlDevice, NvmlMemory*) = nullptr;
    int (*utilisation)(NvmlDevice, NvmlUtilisation*) = nullptr;
    int (*power)(NvmlDevice, unsigned int*) = nullptr;
    int (*temperature)(NvmlDevice, int, unsigned int*) = nullptr;
};

Result<GpuMonitor> GpuMonitor::open()
{
    auto library = SharedLibrary::load(kLibrary);
    if (!library.ok())
        return Error { ErrorCode::NotFound, sentence("No NVIDIA driver was found: %1.", { library.error().message }) };
    auto nvml = std::make_unique<Nvml>(std::move(library).value());
    if (!nvml->findAll())
        return Error { ErrorCode::NotFound,
            sentence("The NVIDIA driver is too old: %1 lacks functions of driver 450 and later.", { kLibrary }) };
    if (nvml->init() != kSuccess)
        return Error { ErrorCode::NotFound,
            sentence("The NVIDIA driver is installed but does not start; nvidia-smi says why.") };
    return GpuMonitor(std::move(nvml));
}

GpuMonitor::GpuMonitor(std::unique_ptr<Nvml> nvml)
    : nvml_(std::move(nvml))
{
}
GpuMonitor::GpuMonitor(GpuMonitor&&) noexcept = default;
GpuMonitor::~GpuMonitor()
{
    if (nvml_)
        nvml_->shutdown();
}

std::vector<Gpu> GpuMonitor::read() const
{
    std::vector<Gpu> gpus;
    unsigned int count = 0;
    if (nvml_->count(&count) != kSuccess)
        return gpus;
    for (unsigned int i = 0; i < count; ++i) {
        NvmlDevice device = nullptr;
        char uuid[96] = {};
        char name[96] = {};
        NvmlMemory memory {};
        if (nvml_->handle(i, &device) != kSuccess || nvml_->uuid(device, uuid, sizeof uuid) != kSuccess
            || nvml_->name(device, name, sizeof name) != kSuccess || nvml_->memory(device, &memory) != kSuccess)
            continue;
        Gpu gpu { uuid, name, static_cast<int>(i), memory.total, memory.free };
        NvmlUtilisation utilisation {};
        if (nvml_->utilisation(device, &utilisation) == kSuccess)
            gpu.utilisationPercent = static_cast<int>(utilisation.gpu);
        unsigned int milliwatts = 0;
        if (nvml_->power(device, &milliwatts) == kSuccess)
            gpu.powerWatts = milliwatts / 1000.0;
        unsigned int degrees = 0;
        if (nvml_->temperature(device, kSensorGpu, &degrees) == kSuccess)
            gpu.temperatureC = static_cast<int>(degrees);
        gpus.push_back(std::move(gpu));
    }
    return gpus;
}

} // namespace furrow
