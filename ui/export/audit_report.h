#pragma once

#include "core/tracker/audit/audit.h"

#include <QString>

namespace furrow {

/// "Reading the weights of checkpoint r0-12: 40 %".
QString auditProgressWords(const Message& doing, double fraction);

/// What ledger and files prove about a run, as a page of HTML. Texts of the run are escaped.
QString auditHtml(const AuditReport& report, const QString& runName);

/// By extension: .html, .pdf, .csv (findings) or .json. False when it could not be written.
/// The report to read; closing deletes it.
QDialog* auditReportDialog(const AuditReport& report, const QString& runName, QWidget* parent);

bool saveAuditReport(const AuditReport& report, const QString& runFolder, const QString& file);

} // namespace furrow
