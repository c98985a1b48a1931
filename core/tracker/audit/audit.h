#pragma once

#include "core/base/message.h"
#include "core/tracker/audit/finding_kind.h"
#include "core/tracker/ledger_reader.h"

#include <filesystem>
#include <stop_token>

namespace furrow {

/// Something the audit found, in words, with the time lines that explain it.
struct AuditFinding {
    FindingKind kind = FindingKind::Counters;
    ChunkId chunk; ///< 0: not one chunk
    Message text; ///< what, and the likely cause
    std::vector<ClaimRow> claims; ///< of this chunk, oldest first
};

struct AuditEpoch {
    std::int64_t epoch = 0;
    std::optional<std::int64_t> expected; ///< chunks; absent while the last block is not proven
    std::int64_t known = 0;
    std::int64_t committed = 0;
    std::int64_t duplicated = 0; ///< chunks with windows that are twice in surviving weights
    std::int64_t missing = 0; ///< committed ones with a hole, and chunks that should exist and do not
    std::int64_t remaining = 0; ///< pending, free, leased or trained: still to come
    std::int64_t excluded = 0; ///< a person left them out
    std::int64_t skippedAsParents = 0; ///< left out because the parent run trained them (parent_chunks=skip)
    std::int64_t againAfterParent
        = 0; ///< the parent run trained them too, and they are part of this pass (parent_chunks=again)
    std::int64_t poisoned = 0;
    std::int64_t accepted = 0;
    std::int64_t overlappingClaims = 0;
    bool complete = false;
    std::int64_t chunksLost = 0; ///< trainings whose weights are gone, done again or not
    std::int64_t tokensLost
        = 0; ///< of those that had ended: how far the others were, the ledger does not know (the telemetry does)
    std::uint64_t digest
        = 0; ///< sum of the content digests of the committed chunks: the same for any workers and crashes
    std::int64_t contentDuplicates = 0; ///< committed chunks with the same content as another one of the epoch
    RowCounts rows; ///< of committed chunks; `samples` counts those trained. And `samplesKept`
    std::int64_t samplesKept = 0; ///< trained ones of chunks that were left out since: they stay in the weights
    std::int64_t samplesSkipped = 0; ///< in windows left out by name (NaN, overflow)
    bool rowsAddUp = true; ///< I3

    void addKept(std::int64_t samples)
    {
        samplesKept += samples;
        rows.samples += samples;
        rows.rows += samples;
    }
};

struct AuditInvariant {
    std::string name; ///< "I1" to "I5"
    std::string meaning;
    bool holds = true;
};

/// One kind of evidence: what was looked at and how, and what came of it.
struct AuditInspection {
    Evidence what = Evidence::Ledger;
    Message how; ///< a sentence with the numbers
    std::int64_t inspected = 0; ///< of these things
    std::int64_t wrong = 0; ///< not what was recorded; findings name them
    std::int64_t unreadable = 0; ///< missing or not readable now, which says nothing about them; findings name them
};

/// What private training guarantees of the weights, as far as the ledger proves it.
struct PrivacyStatement {
    std::optional<double> epsilon; ///< at `delta`; nothing: it is not stated, and the first line says why
    std::optional<double> epsilonReplaced; ///< where one unit stands in place of another
    std::optional<double> epsilonKept; ///< of the surviving weights alone
    std::optional<double> epsilonOfDrawing; ///< for comparison: had each step drawn its units by chance (Poisson)
    double delta = 0;
    std::int64_t participations = 0; ///< of a unit at most, with lost trainings
    std::int64_t keptParticipations = 0;
    std::int64_t lostTrainings = 0;
    std::int64_t units = 0;
    std::vector<Message> lines; ///< a sentence each
    std::vector<Message> outside; ///< what it does not speak of
};

struct AuditReport {
    std::string runId;
    bool integrityOk = true; ///< SQLite's own check of the file
    std::string integrity; ///< what it said when not ok
    std::vector<AuditEpoch> epochs;
    std::vector<AuditInvariant> invariants;
    std::vector<AuditFinding> findings; ///< at most kMaxAuditFindings
    std::int64_t findingsLeftOut = 0;
    std::vector<AuditInspection> inspections; ///< the ledger first
    std::vector<Message>
        notInspected; ///< what nothing independent speaks of, so that it was held against nothing; a sentence each

    std::optional<PrivacyStatement> privacy; ///< of a run that trains with noise

    /// No duplicate, no hole, every invariant holds, and nothing that was inspected differs from what was recorded.
    /// Remaining work is no fault.
    bool isClean() const;
    /// Nothing that was to be inspected was missing or unreadable.
    bool couldInspect() const;
    bool inspectedWeights() const;
};
inline constexpr int kMaxAuditFindings = 200;

struct AuditProgress {
    Message doing; ///< a sentence, for people
    double fraction = 0; ///< of that, 0..1
};

/// How somebody who waits takes part. Called on the thread of the audit.
struct AuditWatch {
    std::stop_token stop; ///< ends the audit with Cancelled, inside a large file too
    std::function<void(const AuditProgress&)> say; ///< may be empty
};

/// What became of the optimiser steps of a run.
struct StepsAudit {
    std::int64_t claims = 0; ///< looked at
    std::int64_t checkpoints = 0;
    std::vector<Message> wrong; ///< the first kMaxAuditFindings, a sentence each
};

/// Reads the whole ledger and proves or refutes "exactly once" from parts and claims, not from its counters. Everything
/// is read in one transaction, so of a live run a copy is better audited. No other file is looked at: auditRun
/// (core/run/audit/run_audit.h) does both.
/// @param steps  gets what the steps of claims, parts and checkpoints say of each other; a ledger that a trainer wrote,
/// not one of a test, has them
/// @param shownAs  what errors name in place of a copy; empty: the file itself
Result<AuditReport> audit(const std::filesystem::path& tracker, const AuditWatch& watch = {},
    StepsAudit* steps = nullptr, const std::filesystem::path& shownAs = {});

/// In one line: all trained, or how much is not and is only in order because it is named, or not in order; and what was
/// not looked at.
Message auditVerdict(const AuditReport& report);
std::string auditJson(const AuditReport& report);
std::string auditText(const AuditReport& report);
std::string auditHtml(const AuditReport& report); ///< one page without references to others

} // namespace furrow
