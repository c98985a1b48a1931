#pragma once

#include "core/data/block/prepared_block.h"
#include "core/data/plan/quarantine.h"

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace furrow {

class Tokenizer;

/// What the entries `sample` and `pattern` of the list of what is left out (exclude) have met in prepared blocks.
struct ExclusionCount {
    std::int64_t blocks = 0; ///< looked at, each once
    std::int64_t rows = 0; ///< left out
    std::int64_t untold = 0; ///< of them, those that cannot be told to an entry: a block keeps tokens, not the text
    std::set<std::int32_t> met; ///< the numbers of entries, from 0, that left out a row
};

/// Tells rows that are left out by name to the entries that name them, block by block, also of blocks that another run
/// has prepared. Not thread-safe.
class ExclusionMeter {
public:
    /// @param list  of the manifest, which was read before
    /// @param tokenizer  brings tokens back to text; must live as long as this
    /// @param before  by earlier attempts
    ExclusionMeter(std::shared_ptr<const Quarantine> list, const Tokenizer& tokenizer, ExclusionCount before);

    void beginBlock() { ++count_.blocks; }
    void add(const ChunkText& chunk);
    const ExclusionCount& count() const { return count_; }
    /// The entries that met no row, as they are written, once so many blocks are all that there are; nothing where that
    /// cannot be known.
    std::vector<std::string> unmet(std::int64_t allBlocks) const;

private:
    std::shared_ptr<const Quarantine> list_;
    const Tokenizer* tokenizer_;
    ExclusionCount count_;
};

} // namespace furrow
