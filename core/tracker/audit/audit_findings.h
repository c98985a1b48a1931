#pragma once

#include "core/tracker/audit/audit.h"

namespace furrow {

/// What an audit found, and which invariants that leaves standing. Internal to the audit.
class AuditFindings {
public:
    AuditFindings(LedgerReader& reader, AuditReport& report)
        : reader_(reader)
        , report_(report)
    {
    }

    /// Says it with the claims of the chunk; whether an invariant is broken is for the caller to say.
    /// @param chunk  0: not one chunk
    void find(FindingKind kind, ChunkId chunk, const Message& text);
    /// Breaks the invariant that the kind stands for as well: what the other parts of the audit find (AuditFault).
    void wrong(FindingKind kind, ChunkId chunk, const Message& text);

    struct {
        bool states = true; ///< I1
        bool lineage = true; ///< I2
        bool rows = true; ///< I3
        bool closing = true; ///< I4
        bool records = true; ///< I5
    } holds; ///< the invariants of the report

private:
    LedgerReader& reader_;
    AuditReport& report_;
};

} // namespace furrow
