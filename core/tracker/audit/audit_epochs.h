#pragma once

#include "core/tracker/audit/audit_findings.h"
#include "core/tracker/sqlite/database.h"

#include <set>
#include <vector>

namespace furrow {

/// The epochs of a report: which there are, which one a chunk is counted in, and whether each is complete. Internal to
/// the audit.
class AuditEpochs {
public:
    AuditEpochs(Database& db, AuditReport& report, AuditFindings& findings);

    void read();
    /// A chunk of an epoch that never began is damage, and counted nowhere.
    AuditEpoch& of(ChunkId chunk);
    /// Chunks in all epochs, for the progress alone.
    std::int64_t promised() const { return promised_; }
    /// After all chunks were counted.
    void close();

private:
    Database& db_;
    AuditReport& report_;
    AuditFindings& findings_;
    std::optional<std::int64_t> blockCount_;
    std::int64_t promised_ = 0;
    std::vector<bool> closed_;
    AuditEpoch nowhere_;
    std::set<std::int64_t> strayEpochs_;
};

} // namespace furrow
