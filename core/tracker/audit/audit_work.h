#pragma once

#include "core/tracker/audit/audit_claims.h"
#include "core/tracker/audit/lost_work.h"

#include <vector>

namespace furrow {

class AuditFindings;
struct AuditGathered;

/// The claims of each chunk in their order: overlaps, their own figures, and the work that died with its weights.
/// Internal to the audit.
class AuditWork {
public:
    AuditWork(Database& db, AuditGathered& gathered, AuditFindings& findings, const AuditFault& wrong);

    /// Wants what the chunks and the parts gave.
    void check();
    /// After check(), and after all faults.
    void nameLost();

private:
    bool lookAtFigures(const Rows& rows, AuditClaims& figures);
    void addLost(ChunkId chunk, bool isLeftBehind, const Message& cause);

    Database& db_;
    AuditGathered& gathered_;
    AuditFindings& findings_;
    const AuditFault& wrong_;
    std::vector<LostWork> lost_;
};

} // namespace furrow
