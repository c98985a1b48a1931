#pragma once

#include "core/base/message.h"
#include "core/base/result.h"

#include <cstdint>
#include <filesystem>
#include <vector>

namespace furrow {

/// A prepared block with rows that cannot be used.
struct UnreadableBlock {
    std::int64_t block = 0;
    std::int64_t rows = 0; ///< that cannot be used
    Message first; ///< "row 2 of chats.jsonl is broken JSON"; "": an older Furrow prepared it
};
/// By block.
Result<std::vector<UnreadableBlock>> unreadableBlocks(const std::filesystem::path& tracker);

} // namespace furrow
