#pragma once

#include "core/base/result.h"
#include "core/tracker/feeder_ledger.h"

#include <filesystem>
#include <span>

namespace furrow {

/// What a chunk holds by its prepared block.
struct PreparedContent {
    ChunkId chunk;
    PreparedChunk content;
};

/// Makes counters, meters and totals of a ledger anew from the chunks, claims, parts and events that they stand for;
/// these stay as they are, but for a chunk that nobody trained and that its last event names as left out, poisoned or
/// accepted: it is that again. Whoever held something is gone. For a file that nobody else uses (a copy); one
/// transaction. Whether the ledger is whole then is for the audit to say.
/// @param contents  of chunks of which the ledger says something else: stored first
Status recount(const std::filesystem::path& tracker, std::span<const PreparedContent> contents = {});

} // namespace furrow
