#pragma once

#include "core/tracker/moves.h"
#include "core/tracker/supervisor_ledger.h"

namespace furrow {

/// RunState::mostParticipations of a run that adds no noise.
inline constexpr std::int64_t kNotPrivate = -1;

/// Rules, totals and what is stored about the end of the run, in one read.
struct RunState {
    StoppingRules rules;
    StopReason stop = StopReason::None;
    std::int64_t steps = 0; // of finished work
    std::int64_t tokens = 0;
    std::int64_t claimedTokens = 0;
    std::int64_t reservedSteps = 0;
    std::int64_t completedBlocks = 0;
    double activeHours = 0;
    std::int64_t ownReservedSteps = 0; // of the incarnation that asked
    std::int64_t mostParticipations = kNotPrivate; // of a unit; 0: no limit
    std::int64_t participations = 0; // of private training: of any unit at most, so far
    bool isMadeAnew = false; // by a repair: `participations` lacks what was lost before that
};
RunState loadRunState(Database& db);
/// The first statement of every transaction of a worker (core/DECISIONS.md 5): fails the database with Cancelled "lost
/// the lease" unless the incarnation is live, and reads what else a worker needs.
RunState requireLive(LedgerFile& file, std::int64_t incarnation);

/// Blocks of all epochs of which every chunk is trained or given up, and at least one was trained in this run: what the
/// rule on blocks counts. As with steps and tokens, work counts that no checkpoint has yet; where it is lost, it counts
/// no more.
std::int64_t trainedBlocks(Database& db);
/// The same, with the chunks that somebody is training now.
std::int64_t claimedBlocks(Database& db);

/// Stores which stopping rule is reached: the stored one stays while it is still reached (the first wins); one that is
/// not reached any more (work was lost, or the rule was changed) is forgotten. Returns what holds now.
StopReason updateStop(LedgerFile& file);
/// The same for a hot path: looks only where a rule on steps or tokens has just been reached, or there is one on
/// blocks. `before` was read in this transaction, `change` has happened since.
void updateStopCheaply(LedgerFile& file, const RunState& before, const TotalsChange& change);

/// What the open epochs still need, in one read: those with which the run may end. Another one can be open behind them
/// when a person asks for an end with the current epoch.
struct EpochNeeds {
    bool unproven = false; // more blocks may come
    std::int64_t pending = 0;
    std::int64_t free = 0;
    std::int64_t leased = 0; // of any epoch
    std::int64_t trained = 0;
    std::int64_t poisoned = 0;
    std::int64_t openEpochs = 0;
    std::int64_t newest = -1;
    bool fullyOpened = true; // the newest one has all its chunks
};
EpochNeeds loadNeeds(Database& db);
bool isNextEpochWanted(const RunState& run, const EpochNeeds& needs);

/// What a look at the epochs changed, and what they need now.
struct EpochTurn {
    bool closed = false;
    bool opened = false; ///< without chunks
    StopReason stop = StopReason::None;
    EpochNeeds needs;
};
/// In a transaction: closes every epoch that is complete (I4), evaluates the stopping rules, and opens the next epoch
/// when all chunks are claimed and the rules want it. Whoever comes first does it (core/DECISIONS.md 4).
EpochTurn turnEpochs(LedgerFile& file);
/// Opens epoch `epoch` without chunks; addNextChunks adds them.
void openEpoch(LedgerFile& file, std::int64_t epoch);
/// Makes SQL know claimOrder. Once per connection; `file` must stay where it is.
void registerClaimOrder(LedgerFile& file);
/// In a transaction, which stays short: adds chunks of the next blocks, in the order of the data set, to an epoch that
/// is not fully opened. Returns true when it is.
bool addNextChunks(LedgerFile& file, std::int64_t epoch);
/// All of them, by a transaction each, so that claims go on meanwhile.
Status openAllChunks(LedgerFile& file, std::int64_t epoch);

} // namespace furrow
