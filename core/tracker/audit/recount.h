#pragma once

#include "core/base/result.h"

#include <filesystem>

namespace furrow {

/// Makes counters, meters and totals of a ledger anew from the chunks, claims, parts and events that they stand for;
/// these stay as they are. Whoever held something is gone. For a file that nobody else uses (a copy); one transaction.
/// Whether the ledger is whole then is for the audit to say.
Status recount(const std::filesystem::path& tracker);

} // namespace furrow
