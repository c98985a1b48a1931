#include "core/run/folder/memory_file.h"

#include "core/base/file_system.h"
#include "core/config/bounded_json.h"

#include <nlohmann/json.hpp>

namespace furrow {

Status publishMemory(const RunPaths& paths, int worker, const MeasuredMemory& measured, FileSystem& files)
{
    FURROW_TRY(files.createFolders(paths.memoryFolder()));
    return writeFileWhole(files, paths.memoryFile(worker), toJson(measured).dump() + "\n");
}

std::optional<MeasuredMemory> readMemory(const std::filesystem::path& file)
{
    const auto text = readFile(file, 64 << 10);
    return text.ok() ? measuredMemoryFrom(parseBoundedJson(text.value())) : std::nullopt;
}

} // namespace furrow
