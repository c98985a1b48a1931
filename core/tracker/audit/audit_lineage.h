#pragma once

#include "core/tracker/audit/audit_fault.h"
#include "core/tracker/sqlite/database.h"

#include <set>

namespace furrow {

/// Heads, parents and marks of the checkpoints against each other. Internal to the audit.
/// @return the checkpoints that newest weights were made from, by the heads alone
std::set<std::int64_t> checkLineage(Database& db, const AuditFault& wrong);

} // namespace furrow
