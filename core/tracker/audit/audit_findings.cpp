#include "core/tracker/audit/audit_findings.h"

#include <utility>

namespace furrow {

void AuditFindings::find(FindingKind kind, ChunkId chunk, const Message& text)
{
    if (report_.findings.size() >= kMaxAuditFindings) {
        ++report_.findingsLeftOut;
        return;
    }
    AuditFinding finding { kind, chunk, text, {} };
    if (chunk.value != 0) {
        if (auto claims = reader_.claimsOf(chunk); claims.ok())
            finding.claims = std::move(claims).value();
    }
    report_.findings.push_back(std::move(finding));
}

void AuditFindings::wrong(FindingKind kind, ChunkId chunk, const Message& text)
{
    (kind == FindingKind::Counters         ? holds.states
            : kind == FindingKind::Lineage ? holds.lineage
                                           : holds.records)
        = false;
    find(kind, chunk, text);
}

} // namespace furrow
