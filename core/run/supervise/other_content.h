#pragma once

#include "core/base/result.h"
#include "core/base/sentence.h"
#include "core/data/block_manager.h"

#include <filesystem>

namespace furrow {

// A block that is prepared again and has other content than at first. Its source need not have changed: what was read
// at first may not have been what the source holds. Then no restoring helps, and the sentence says what does.

inline constexpr SentenceText kFirstFromWrongCopy(
    "Block %1 was first prepared from a copy of %2 that was not what the hub promises (SHA-256), and has other rows now. What was trained of it stays in the weights. Begin a new run, or accept its other chunks as not trained.");
inline constexpr SentenceText kFirstReadWrongly(
    "What block %1 was first prepared from is not what its source holds: %2 is as it was when the run was made (its hash was compared), so it was read or transferred wrongly then. What was trained of it stays in the weights. Accept its other chunks as not trained ('furrowctl chunks accept') and resume, or begin a new run.");
inline constexpr SentenceText kOneTransferWrong(
    "Block %1 has other content than when it was first prepared. By its server %2 is the same file, and nothing tells whether what came of it is right: one of the two transfers was wrong. 'furrowctl audit RUN --deep' reads it once more. If that finds the block wrong, accept its other chunks as not trained ('furrowctl chunks accept') and resume, or begin a new run; else try it again ('furrowctl chunks retry').");

/// Why it has, by what is known of its files now. Reads whole copies on this disk where nobody compared them yet.
/// @param error  what the ledger says
Error causeOfOtherContent(const BlockManager& blocks, const PlannedBlock& block,
    const std::filesystem::path& cacheFolder, const Error& error);

/// The cause is one of these, for which restoring the source is no way out.
bool isOfFirstReading(const Message& cause);

} // namespace furrow
