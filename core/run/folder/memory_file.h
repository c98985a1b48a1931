#pragma once

#include "core/base/file_system.h"
#include "core/base/result.h"
#include "core/model/measured_memory.h"
#include "core/run/folder/run_paths.h"

#include <optional>

namespace furrow {

/// What a worker took so far, memory/w<worker>.json: for people and for the estimates of later runs; nothing depends on
/// it. Replaced as a whole, not synced.
Status publishMemory(
    const RunPaths& paths, int worker, const MeasuredMemory& measured, FileSystem& files = realFileSystem());
/// nullopt when the worker has not published yet, or the file cannot be read.
std::optional<MeasuredMemory> readMemory(const std::filesystem::path& file);

} // namespace furrow
