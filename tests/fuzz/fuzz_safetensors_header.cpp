// What stands before the tensors, from hostile bytes: doctor and resume read it of every checkpoint, without libtorch.
// It is refused, or every tensor that it names lies inside the file.

#include "core/model/safetensors_header.h"
#include "tests/fuzz/fuzz_seeds.h"
#include "tests/fuzz/scratch.h"

#include <cstdlib>

namespace {

std::string withHeader(const std::string& header, std::size_t tensorBytes)
{
    std::string file(8, '\0');
    for (std::size_t i = 0; i < file.size(); ++i)
        file[i] = static_cast<char>((header.size() >> (8 * i)) & 0xFF);
    return file + header + std::string(tensorBytes, 'w');
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    static const ScratchFolder folder("safetensors-header");
    folder.write("w.safetensors", { reinterpret_cast<const char*>(data), size });
    const auto file = furrow::RandomAccessFile::open(folder.path() / "w.safetensors");
    if (!file.ok())
        return 0;
    const auto header = furrow::readSafetensorsHeader(file.value());
    if (!header.ok())
        return 0;
    for (const auto& entry : header.value().entries)
        if (entry.begin > entry.end || entry.end > size)
            std::abort();
    return 0;
}

std::vector<std::string> fuzzSeeds()
{
    return {
        withHeader(R"({"__metadata__":{"format":"pt"},"a.weight":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},)"
                   R"("b":{"dtype":"I64","shape":[4],"data_offsets":[24,56]},)"
                   R"("c":{"dtype":"BF16","shape":[0],"data_offsets":[56,56]}})",
            56),
        withHeader(R"({"a":{"dtype":"I8","shape":[999999999999,9999999999],"data_offsets":[0,4]}})", 4),
        withHeader(R"({"a":{"dtype":"BOOL","shape":[],"data_offsets":[0,1]}})", 1),
    };
}
