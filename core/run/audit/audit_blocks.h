#pragma once

#include "core/run/audit/audit_log.h"
#include "core/run/folder/run_file.h"
#include "core/tracker/ledger_reader.h"

#include <functional>
#include <string>

namespace furrow {

/// The prepared blocks that lie in the cache against the digests and chunks of the ledger. One that is not there is no
/// fault: it is made again.
/// @param onDamaged  gets each whose bytes are damaged, which is a finding where there is none to get it
Status auditBlocks(const RunPaths& paths, const RunFile& file, LedgerReader& ledger, AuditLog& log,
    const std::function<Status(const LedgerReader::BlockRow&, const Message& damage)>& onDamaged = {});

/// Names texts of which no row is trained, because what is left out stands first and others count as its repeats.
Status mentionUntrainedTexts(const RunPaths& paths, const RunFile& file, LedgerReader& ledger, AuditLog& log);

/// Says how many rows are left out by name, and names entries that met nothing, as the feeder counted them.
void mentionExclusions(const RunPaths& paths, AuditLog& log);

/// The downloads in the cache against the SHA-256 that the hub promised; says which files of the hub were never
/// compared as a whole. No inspection where the data has no file of the hub.
Status auditDownloads(const RunPaths& paths, const RunFile& file, AuditLog& log);

/// Reads the source once more, as the feeder does, and compares the samples of each chunk, trained or not, by their
/// fingerprints.
Status auditSource(const RunPaths& paths, const RunFile& file, LedgerReader& ledger, AuditLog& log);

} // namespace furrow
