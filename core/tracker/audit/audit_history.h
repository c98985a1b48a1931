#pragma once

#include "core/base/message.h"
#include "core/tracker/audit/audit_fault.h"
#include "core/tracker/named_chunks.h"
#include "core/tracker/sqlite/database.h"

#include <unordered_set>
#include <vector>

namespace furrow {

/// What the events of the run itself (those of no chunk) say happened. Internal to the audit.
struct RunEvents {
    std::int64_t epochsOpened = 0;
    std::int64_t epochsClosed = 0; ///< less those that opened again
    std::int64_t rounds = 0; ///< of merging
    std::vector<Message> rebuilt;
    std::vector<Message> takenForward;

    void add(const Message& cause);
};

/// Worker processes by how a ledger knows them.
struct KnownProcesses {
    std::unordered_set<std::int64_t> all;
    std::unordered_set<std::int64_t> rebuilt; ///< stand for those whose history was lost
};
KnownProcesses knownProcesses(Database& db);

/// Tables of which each row follows another one or is named by one: what was taken out, and what leads nowhere.
void checkReferences(Database& db, const KnownProcesses& processes, const AuditFault& wrong);
/// Rounds of merging against the checkpoints that came of them.
void checkMerges(Database& db, const KnownProcesses& processes, const RunEvents& events, const AuditFault& wrong);
/// A chunk of which the last event says that it is left out, poisoned or accepted, and its row that it is to be
/// trained, or is.
struct LostName {
    ChunkId chunk;
    ChunkState state = ChunkState::Free; ///< by its row
    ChunkState told = ChunkState::Excluded; ///< by its last event
};
std::vector<LostName> lostNames(Database& db);

/// Chunks that are in no weights because somebody said so against the events that moved them there, both ways. A later
/// epoch takes over what the one before left out, without an event of its own.
/// @param named  by id
void checkNamedChunks(Database& db, const std::vector<NamedChunk>& named, const AuditFault& wrong);
/// Epochs against the events that opened and closed them.
void checkEpochEvents(Database& db, const RunEvents& events, const AuditFault& wrong);

} // namespace furrow
