// Prepared blocks, evaluation sets, plans and manifests from hostile bytes: each must be refused or read, never crash.

#include "core/data/block_plan.h"
#include "core/data/chunk_windows.h"
#include "core/data/data_manifest.h"
#include "core/data/held_out.h"

#include <cstdio>
#include <string>
#include <unistd.h>

namespace {

std::string scratchFile()
{
    return "/tmp/furrow-fuzz-" + std::to_string(getpid()) + ".bin";
}

void readBlock(const std::string& path)
{
    auto block = furrow::PreparedBlock::open(path);
    if (!block.ok())
        return;
    for (int column = 0; column < block.value().chunkCount(); ++column) {
        const auto chunk = block.value().readChunk(column);
        if (!chunk.ok())
            continue;
        const furrow::ChunkWindows windows(chunk.value(), 0, 16, {});
        std::int64_t inputs[16], labels[16];
        for (int w = 0; w < windows.count() && w < 100; ++w)
            windows.fill(w, 1, inputs, labels);
    }
    (void)block.value().verify();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    static const std::string path = scratchFile();
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    if (auto* file = std::fopen(path.c_str(), "wb")) {
        std::fwrite(data, 1, size, file);
        std::fclose(file);
        readBlock(path);
        (void)furrow::readHeldOut(path);
    }
    (void)furrow::readPlan(text);
    (void)furrow::readManifest(text);
    return 0;
}
