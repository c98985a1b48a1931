#pragma once

#include "core/data/plan/held_out.h"
#include "core/run/folder/run_file.h"

#include <filesystem>

namespace furrow {

/// freezeHeldOut() as a run does: with the same data and settings it gives the same bytes, when it is made again too.
Result<RowsLeft> writeHeldOut(const RunFile& file, const Tokenizer& tokenizer, const std::filesystem::path& path);

} // namespace furrow
