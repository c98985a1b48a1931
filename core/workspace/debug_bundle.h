#pragma once

#include "core/base/result.h"

#include <filesystem>

namespace furrow {

/// Writes what a developer needs to understand a run into one .tar.gz: status with evidence, audit, configuration, the
/// last part of every log, sizes of files, versions. Never data, weights or texts of samples, nor the patterns by which
/// samples are left out; secrets and folders are hidden.
Status writeDebugBundle(const std::filesystem::path& run, const std::filesystem::path& target);

} // namespace furrow
