#pragma once

#include "core/tracker/audit.h"

#include <QString>

namespace furrow {

/// What the ledger proves about a run, as a page of HTML. Texts of the run are escaped.
QString auditHtml(const AuditReport& report, const QString& runName);

/// By extension: .html, .pdf, .csv (findings) or .json. False when it could not be written.
bool saveAuditReport(const AuditReport& report, const QString& runFolder, const QString& file);

} // namespace furrow
