#pragma once

#include <filesystem>

namespace furrow {

/// A name for a new file or folder where nothing stands, a link neither: `wanted`, else one with a random mark before
/// its ending ("tracker.sqlite.v7-3f09ac.bak"). So nothing that is there is written over.
std::filesystem::path freeName(const std::filesystem::path& wanted);

} // namespace furrow
