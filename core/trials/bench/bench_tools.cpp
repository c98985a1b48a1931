#include "core/trials/bench/bench_tools.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace furrow {

std::string asJsonLines(const std::vector<std::string>& texts)
{
    std::string out;
    for (const auto& text : texts)
        out += nlohmann::json { { "text", text } }.dump() + "\n";
    return out;
}

RunConfig benchConfig(const std::string& source)
{
    RunConfig config;
    config.data = { source };
    config.heldOutPercent = 0;
    config.chunkSamples = 1000;
    return config;
}

Result<BenchData> openBenchData(const RunConfig& config, const std::filesystem::path& cache,
    std::int64_t samplesPerBlock, std::shared_ptr<const Tokenizer> tokenizer, std::string manifest)
{
    if (manifest.empty()) {
        FURROW_TRY_ASSIGN(auto inspection, inspectData(config));
        manifest = inspection.manifest;
    }
    FURROW_TRY_ASSIGN(auto manager, BlockManager::open(config, manifest, samplesPerBlock, cache, std::move(tokenizer)));
    BenchData data { std::move(manager), {} };
    for (;;) {
        FURROW_TRY_ASSIGN(auto next, data.manager.planNext());
        if (!next)
            return data;
        data.blocks.push_back(std::move(*next));
    }
}

} // namespace furrow
