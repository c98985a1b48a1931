#include "core/run/folder/automatic_packing.h"

#include "core/data/block/chunk_windows.h"
#include "core/data/source/data_manifest.h"

namespace furrow {

Packing automaticPacking(const RunFile& file)
{
    WindowRules rules = windowRules(file.config);
    rules.packing = Packing::Auto;
    const auto manifest = readManifest(file.dataManifest);
    return packingOf(rules, manifest.ok() && manifest.value().chat);
}

RunConfig presetInRun(RunConfig preset, const RunFile& file)
{
    if (preset.packing == Packing::Auto)
        preset.packing = automaticPacking(file);
    return preset;
}

RunConfig configForAnother(const RunFile& file)
{
    RunConfig config = file.config;
    if (config.packing == automaticPacking(file))
        config.packing = Packing::Auto;
    return config;
}

} // namespace furrow
