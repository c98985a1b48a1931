#pragma once

#include "core/run/run_status.h"
#include "core/tracker/audit.h"

#include <QImage>
#include <QString>

namespace furrow {

/// A run on one page without references to others: state with its evidence, figures, curves, epochs and what the audit proves,
/// settings that differ from the preset.
/// @param curves  may be null
QString runReportHtml(const RunStatus& status, const AuditReport& audit, const QImage& curves);

} // namespace furrow
