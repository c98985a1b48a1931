#include "core/device/driver.h"

#include "core/base/sentence.h"
#include "core/base/shared_library.h"
#include "core/device/gpu.h"

#include <array>
#include <filesystem>

namespace furrow {

namespace {

// Source: NVML API reference. Both functions are older than any driver that GpuMonitor accepts.
#ifdef _WIN32
constexpr const char* kLibrary = "nvml.dll";
#else
constexpr const char* kLibrary = "libnvidia-ml.so.1";
#endif
constexpr int kSuccess = 0;

std::string cudaWords(int cuda) { return std::to_string(cuda / 1000) + "." + std::to_string(cuda % 1000 / 10); }

} // namespace

Result<GpuDriver> gpuDriver()
{
    FURROW_TRY_ASSIGN(const auto monitor, GpuMonitor::open()); // keeps NVML started
    FURROW_TRY_ASSIGN(const auto library, SharedLibrary::load(kLibrary));
    GpuDriver driver;
    std::array<char, 96> version {};
    const auto askVersion
        = reinterpret_cast<int (*)(char*, unsigned int)>(library.symbol("nvmlSystemGetDriverVersion"));
    if (askVersion && askVersion(version.data(), version.size()) == kSuccess)
        driver.version = version.data();
    const auto askCuda = reinterpret_cast<int (*)(int*)>(library.symbol("nvmlSystemGetCudaDriverVersion_v2"));
    if (askCuda && askCuda(&driver.cuda) != kSuccess)
        driver.cuda = 0;
    return driver;
}

OtherAccelerators otherAccelerators()
{
    std::error_code error;
    return { std::filesystem::exists("/dev/kfd", error), std::filesystem::exists("/etc/nv_tegra_release", error) };
}

GpuOutlook gpuOutlook(const Result<GpuDriver>& driver, const OtherAccelerators& others, int cudaMajor)
{
    if (others.jetson)
        return {
            false,
            sentence(
                "This is a Jetson, for which libtorch comes from NVIDIA alone. Workers train on the CPU; to use the GPU, build Furrow with that libtorch (FURROW_TORCH).")
        };
    if (driver.ok() && driver.value().cuda > 0 && driver.value().cuda / 1000 < cudaMajor)
        return { false,
            sentence(
                "The NVIDIA driver %1 runs CUDA up to %2, and libtorch needs CUDA %3. Update the driver to train on the GPU; until then workers train on the CPU.",
                { driver.value().version, cudaWords(driver.value().cuda), std::to_string(cudaMajor) }) };
    if (driver.ok())
        return { true, sentence("The NVIDIA driver %1 runs what libtorch needs.", { driver.value().version }) };
    if (others.amd)
        return {
            false,
            sentence(
                "The GPU here is AMD's, which Furrow cannot use: there is no build of it for ROCm. Workers train on the CPU.")
        };
    return { false, sentence("%1 Workers train on the CPU.", { driver.error().message }) };
}

} // namespace furrow
