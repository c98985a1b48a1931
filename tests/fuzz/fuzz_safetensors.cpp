// Weights from hostile bytes: a safetensors file must be refused or read, never crash or take more memory than it has
// bytes.

#include "core/train/weights/safetensors_torch.h"
#include "tests/fuzz/fuzz_seeds.h"

#include <torch/torch.h>

#include <cstdio>
#include <unistd.h>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    static const std::string path = "/tmp/furrow-fuzz-" + std::to_string(getpid()) + ".safetensors";
    auto* file = std::fopen(path.c_str(), "wb");
    if (file == nullptr)
        return 0;
    std::fwrite(data, 1, size, file);
    std::fclose(file);
    (void)furrow::readSafetensors(path);
    std::remove(path.c_str());
    return 0;
}

std::vector<std::string> fuzzSeeds()
{
    std::string bytes;
    (void)furrow::writeSafetensors({ { "a.weight", torch::ones({ 2, 3 }) }, { "b", torch::zeros({ 4 }, torch::kInt64) },
                                       { "c", torch::zeros({ 0 }) } },
        { { "format", "pt" } }, [&bytes](const void* data, std::size_t sizeBytes) {
            bytes.append(static_cast<const char*>(data), sizeBytes);
            return furrow::Status();
        });
    const std::string header = R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
    std::string small(8, '\0');
    small[0] = static_cast<char>(header.size());
    return { bytes, small + header + "abcd",
        small + R"({"a":{"dtype":"I8","shape":[999999999999,9999999999],"data_offsets":[0,4]}})" };
}
