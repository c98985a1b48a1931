#pragma once

#include "core/tracker/audit/audit_fault.h"
#include "core/tracker/audit/audit_history.h"
#include "core/tracker/audit/audit_tallies.h"
#include "core/tracker/chunk_loss.h"
#include "core/tracker/moves.h"

#include <unordered_map>

namespace furrow {

/// What all parts of one claim come to, of checkpoints that survive and of others.
struct PartsOfClaim {
    std::int64_t chunk = 0; ///< 0: it has none
    std::int64_t checkpoint = 0; ///< the first one
    std::int64_t incarnation = 0; ///< that wrote it
    std::int64_t steps = 0;
    std::int64_t aliveSteps = 0; ///< of them, in checkpoints that survive
    bool alive = false;
    bool dead = false;
    bool seen = false; ///< its claim is there
    bool finished = false; ///< the claim has figures of its own: those below
    std::int64_t claimant = 0; ///< worker process
    std::int64_t claimSteps = 0;
    std::int64_t firstStep = 0;
    std::int64_t lastStep = 0;
};

/// The parts of a ledger by claim, read once in the order of their table. Internal to the audit.
class AuditParts {
public:
    void read(Database& db, AuditTallies& tallies, const AuditFault& wrong);
    PartsOfClaim& of(std::int64_t claim);
    /// After the claims were looked at: parts of claims that are not there.
    void nameStrays(const AuditFault& wrong) const;
    /// From claim 1 on, after the claims were looked at.
    const std::vector<PartsOfClaim>& byClaim() const { return byClaim_; }
    std::int64_t stepsAddedBy(std::int64_t checkpoint) const;

private:
    void compareSpans(Database& db, const AuditFault& wrong) const;

    struct Span {
        std::int64_t first = 0;
        std::int64_t last = 0;
        std::int64_t steps = 0;
    };
    std::vector<PartsOfClaim> byClaim_; // from claim 1 on
    std::unordered_map<std::int64_t, PartsOfClaim> others_; // ids that no whole history has
    std::map<std::int64_t, Span> spans_; // by checkpoint
};

/// One claim and what its chunk says of it, as the audit reads them.
struct AuditedClaim {
    std::int64_t id = 0;
    ChunkId chunk;
    std::int64_t incarnation = 0;
    ClaimOutcome outcome = ClaimOutcome::Open;
    WindowRanges ranges;
    WindowRanges done;
    WindowRanges skipped;
    bool dated = false; ///< it says when it was begun
    bool begun = false;
    std::int64_t steps = 0;
    std::int64_t firstStep = 0;
    std::int64_t lastStep = 0;
    std::int64_t samples = 0;
    std::int64_t tokens = 0;
    double lossSum = 0;
    bool partly = false; ///< its training ended in the midst of its windows
    std::optional<std::int64_t> endedIn; ///< the state that the event of its end moved its chunk into
};

/// What the chunk of a claim says.
struct AuditedChunk {
    ChunkId id;
    std::int64_t windows = 0;
    std::int64_t samples = 0;
    std::int64_t tokens = 0;
    std::int64_t timesTrained = 0;
    std::optional<std::int64_t> claim;
    std::optional<std::int64_t> holder;
    std::optional<double> meanLoss;
};

/// The figures of claims against the rows that they come from or went into. Internal to the audit.
class AuditClaims {
public:
    /// @param windowTokens  see tokensIn()
    AuditClaims(const KnownProcesses& processes, AuditParts& parts, AuditTallies& tallies, std::int64_t windowTokens,
        const AuditFault& wrong)
        : processes_(processes)
        , parts_(parts)
        , tallies_(tallies)
        , windowTokens_(windowTokens)
        , wrong_(wrong)
    {
    }
    /// Claims of a chunk follow each other by id. @param covered  windows of the chunk in living parts; needed only of
    /// one that is held
    /// @return whether it ended as its row says
    bool look(const AuditedClaim& claim, const AuditedChunk& chunk, const WindowRanges& covered);
    /// After the last one.
    void end() { endChunk(); }

private:
    void lookAtParts(const AuditedClaim& claim);
    bool lookAtEnd(const AuditedClaim& claim, const AuditedChunk& chunk);
    void lookAtFigures(const AuditedClaim& claim, const AuditedChunk& chunk);
    void endChunk();

    const KnownProcesses& processes_;
    AuditParts& parts_;
    AuditTallies& tallies_;
    std::int64_t windowTokens_ = 0;
    const AuditFault& wrong_;
    std::int64_t process_ = 0; // of the claim before
    bool known_ = false; // that process
    bool rebuilt_ = false;
    AuditedChunk chunk_; // that of the claims before
    std::int64_t timesTrained_ = 0;
    bool ownClaimSeen_ = false;
    ChunkLoss loss_;
    std::optional<double> newestLoss_; // of the newest claim alone
};

} // namespace furrow
