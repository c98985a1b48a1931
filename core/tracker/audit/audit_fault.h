#pragma once

#include "core/base/message.h"
#include "core/tracker/audit/finding_kind.h"
#include "core/tracker/types.h"

#include <functional>
#include <string>

namespace furrow {

/// Says that something of a ledger is not as it must be. Internal to the audit.
/// @param chunk  0: not one chunk
using AuditFault = std::function<void(FindingKind kind, ChunkId chunk, const Message& text)>;

} // namespace furrow
