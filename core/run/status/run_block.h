#pragma once

#include "core/data/block/prepared_block.h"
#include "core/run/folder/run_file.h"
#include "core/tracker/ledger_reader.h"

#include <memory>

namespace furrow {

class Tokenizer;

/// A prepared block of a run as it lies in the cache, or made anew from the source. Corrupt: it is not what was
/// trained.
Result<PreparedBlock> openBlockOf(const RunPaths& paths, const RunFile& file, const LedgerReader::BlockRow& row,
    std::shared_ptr<const Tokenizer> tokenizer);

} // namespace furrow
