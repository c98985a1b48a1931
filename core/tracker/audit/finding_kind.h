#pragma once

#include "core/base/closed_set.h"

namespace furrow {

/// What a finding of the audit is about.
enum class FindingKind {
    // Of chunks
    Duplicated,
    Missing,
    OverlappingClaims,
    Poisoned,
    Accepted,
    Excluded,
    Parent, ///< the run that the weights came from trained it too
    Lost,
    // Of the ledger
    Rebuilt,
    Rows,
    Counters,
    Lineage,
    History,
    Claims,
    Blocks,
    // Of the files beside it (core/run/audit)
    Manifest,
    Weights,
    Parts,
    Steps,
    Older, ///< the tracker is older than the checkpoints
    Stray, ///< what does not belong to the run
    Block,
    Download,
    Source,
    Frozen,
    Unreadable, ///< nobody can speak of it now
};
template <>
inline constexpr std::array kClosedNames<FindingKind> {
    ClosedName { FindingKind::Duplicated, "duplicated" },
    ClosedName { FindingKind::Missing, "missing" },
    ClosedName { FindingKind::OverlappingClaims, "overlapping_claims" },
    ClosedName { FindingKind::Poisoned, "poisoned" },
    ClosedName { FindingKind::Accepted, "accepted" },
    ClosedName { FindingKind::Excluded, "excluded" },
    ClosedName { FindingKind::Parent, "parent" },
    ClosedName { FindingKind::Lost, "lost" },
    ClosedName { FindingKind::Rebuilt, "rebuilt" },
    ClosedName { FindingKind::Rows, "rows" },
    ClosedName { FindingKind::Counters, "counters" },
    ClosedName { FindingKind::Lineage, "lineage" },
    ClosedName { FindingKind::History, "history" },
    ClosedName { FindingKind::Claims, "claims" },
    ClosedName { FindingKind::Blocks, "blocks" },
    ClosedName { FindingKind::Manifest, "manifest" },
    ClosedName { FindingKind::Weights, "weights" },
    ClosedName { FindingKind::Parts, "parts" },
    ClosedName { FindingKind::Steps, "steps" },
    ClosedName { FindingKind::Older, "older" },
    ClosedName { FindingKind::Stray, "stray" },
    ClosedName { FindingKind::Block, "block" },
    ClosedName { FindingKind::Download, "download" },
    ClosedName { FindingKind::Source, "source" },
    ClosedName { FindingKind::Frozen, "frozen" },
    ClosedName { FindingKind::Unreadable, "unreadable" },
};

/// What the audit looks at.
enum class Evidence { Ledger, Steps, Frozen, Manifests, Parts, Weights, Blocks, Downloads, Source };
template <>
inline constexpr std::array kClosedNames<Evidence> {
    ClosedName { Evidence::Ledger, "ledger" },
    ClosedName { Evidence::Steps, "steps" },
    ClosedName { Evidence::Frozen, "frozen" },
    ClosedName { Evidence::Manifests, "manifests" },
    ClosedName { Evidence::Parts, "parts" },
    ClosedName { Evidence::Weights, "weights" },
    ClosedName { Evidence::Blocks, "blocks" },
    ClosedName { Evidence::Downloads, "downloads" },
    ClosedName { Evidence::Source, "source" },
};

} // namespace furrow
