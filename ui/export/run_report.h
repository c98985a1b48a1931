#pragma once

#include "core/run/status/run_status.h"
#include "core/tracker/audit/audit.h"
#include "core/tracker/ledger_reader.h"

#include <QImage>
#include <QString>

namespace furrow {

/// A run on one page without references to others: state with its evidence, figures, curves, epochs and what the audit
/// proves, settings in force that differ from the preset, with what a resume changed.
/// @param attempts  all of the run, oldest first
/// @param curves  may be null
QString runReportHtml(
    const RunStatus& status, const std::vector<AttemptRow>& attempts, const AuditReport& audit, const QImage& curves);

} // namespace furrow
