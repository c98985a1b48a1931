#include "ui/export/audit_report.h"

#include "ui/models/core_words.h"
#include "ui/models/words.h"
#include "ui/parts/page_parts.h"
#include "ui/parts/save_file.h"

#include <QCoreApplication>
#include <QDateTime>
#include <QDialog>
#include <QFileInfo>
#include <QLocale>
#include <QPdfWriter>
#include <QPushButton>
#include <QTextBrowser>
#include <QTextDocument>
#include <QVBoxLayout>

namespace furrow {

namespace {

QString said(const char* text) { return QCoreApplication::translate("AuditReport", text); }

QString escaped(const std::string& text) { return QString::fromStdString(text).toHtmlEscaped(); }

QString row(const QStringList& cells, const char* tag = "td")
{
    QString html = QStringLiteral("<tr>");
    for (const QString& cell : cells)
        html += QStringLiteral("<%1>%2</%1>").arg(QLatin1String(tag), cell);
    return html + QStringLiteral("</tr>\n");
}

QString epochTable(const AuditReport& report)
{
    QString html = QStringLiteral("<table border=\"1\" cellspacing=\"0\" cellpadding=\"4\">\n");
    html += row(
        { said(QT_TRANSLATE_NOOP("AuditReport", "Epoch")), said(QT_TRANSLATE_NOOP("AuditReport", "Chunks expected")),
            said(QT_TRANSLATE_NOOP("AuditReport", "Committed")),
            said(QT_TRANSLATE_NOOP("AuditReport", "Trained twice")), said(QT_TRANSLATE_NOOP("AuditReport", "Missing")),
            said(QT_TRANSLATE_NOOP("AuditReport", "Still to come")), said(QT_TRANSLATE_NOOP("AuditReport", "Excluded")),
            said(QT_TRANSLATE_NOOP("AuditReport", "Left out, trained by the parent run")),
            said(QT_TRANSLATE_NOOP("AuditReport", "Poisoned")),
            said(QT_TRANSLATE_NOOP("AuditReport", "Samples committed")) },
        "th");
    for (const AuditEpoch& epoch : report.epochs) {
        html += row({ countText(epoch.epoch + 1),
            epoch.expected ? countText(*epoch.expected) : said(QT_TRANSLATE_NOOP("AuditReport", "not known yet")),
            countText(epoch.committed), countText(epoch.duplicated), countText(epoch.missing),
            countText(epoch.remaining), countText(epoch.excluded), countText(epoch.skippedAsParents),
            countText(epoch.poisoned), countText(epoch.rows.samples) });
    }
    return html + QStringLiteral("</table>\n");
}

/// "; wrong: 1; could not be inspected: 2", or nothing.
QString countedWords(const AuditInspection& one)
{
    QString words;
    if (one.wrong > 0)
        words += QCoreApplication::translate("AuditReport", "; wrong: %1").arg(countText(one.wrong));
    if (one.unreadable > 0)
        words += QCoreApplication::translate("AuditReport", "; could not be inspected: %1")
                     .arg(countText(one.unreadable));
    return words;
}

QString findingTable(const AuditReport& report)
{
    QString html = QStringLiteral("<table border=\"1\" cellspacing=\"0\" cellpadding=\"4\">\n");
    for (const AuditFinding& finding : report.findings) {
        QStringList lines;
        for (const ClaimRow& claim : finding.claims) {
            lines.append(QCoreApplication::translate("AuditReport", "%1, attempt %2: %3 to %4, %5")
                    .arg(workerName(claim.worker))
                    .arg(claim.attempt.value)
                    .arg(wallTimeText(claim.claimedWallNs),
                        claim.endedWallNs == 0 ? QCoreApplication::translate("AuditReport", "now")
                                               : wallTimeText(claim.endedWallNs),
                        QString::fromStdString(toString(claim.outcome))));
        }
        html += row({ QString::fromStdString(toString(finding.kind)), escaped(finding.text),
            lines.join(QStringLiteral("<br>")) });
    }
    return html + QStringLiteral("</table>\n");
}

QString sentenceList(const QString& title, const std::vector<Message>& sentences)
{
    QString html = QStringLiteral("<h2>%1</h2>\n<ul>\n").arg(title);
    for (const auto& one : sentences)
        html += QStringLiteral("<li>%1</li>\n").arg(coreWords(one).toHtmlEscaped());
    return html + QStringLiteral("</ul>\n");
}

QString csvField(QString text)
{
    return QLatin1Char('"') + text.replace(QLatin1Char('"'), QStringLiteral("\"\"")) + QLatin1Char('"');
}

QString findingCsv(const AuditReport& report)
{
    QString csv = QStringLiteral("finding,chunk,text,worker,attempt,claimed_ns,started_ns,ended_ns,outcome\n");
    for (const AuditFinding& finding : report.findings) {
        const QString head = QStringLiteral("%1,%2,%3")
                                 .arg(QString::fromStdString(toString(finding.kind)))
                                 .arg(finding.chunk.value)
                                 .arg(csvField(QString::fromStdString(finding.text)));
        if (finding.claims.empty())
            csv += head + QStringLiteral(",,,,,,\n");
        for (const ClaimRow& claim : finding.claims)
            csv += QStringLiteral("%1,%2,%3,%4,%5,%6,%7\n")
                       .arg(head)
                       .arg(claim.worker)
                       .arg(claim.attempt.value)
                       .arg(claim.claimedWallNs)
                       .arg(claim.startedWallNs)
                       .arg(claim.endedWallNs)
                       .arg(QString::fromStdString(toString(claim.outcome)));
    }
    return csv;
}

} // namespace

QString auditProgressWords(const Message& doing, double fraction)
{
    return QCoreApplication::translate("AuditReport", "%1: %2 %")
        .arg(coreWords(doing))
        .arg(static_cast<int>(fraction * 100));
}

QString auditHtml(const AuditReport& report, const QString& runName)
{
    const QString verdict = coreWords(auditVerdict(report)).toHtmlEscaped();
    QString html = QStringLiteral("<h1>%1</h1>\n<p>%2<br>%3</p>\n<p><b>%4</b></p>\n")
                       .arg(QCoreApplication::translate("AuditReport", "Audit of %1").arg(runName.toHtmlEscaped()),
                           escaped(report.runId), QLocale().toString(QDateTime::currentDateTime(), QLocale::LongFormat),
                           verdict);
    html += epochTable(report);
    html += QStringLiteral("<h2>%1</h2>\n<ul>\n").arg(said(QT_TRANSLATE_NOOP("AuditReport", "What was checked")));
    for (const AuditInvariant& invariant : report.invariants)
        html += QStringLiteral("<li>%1 %2: %3</li>\n")
                    .arg(invariant.holds ? QStringLiteral("✓") : QStringLiteral("✗"), escaped(invariant.name),
                        escaped(invariant.meaning));
    for (const AuditInspection& one : report.inspections)
        html += QStringLiteral("<li>%1 %2%3</li>\n")
                    .arg(one.wrong > 0           ? QStringLiteral("✗")
                            : one.unreadable > 0 ? QStringLiteral("?")
                                                 : QStringLiteral("✓"),
                        coreWords(one.how).toHtmlEscaped(), countedWords(one).toHtmlEscaped());
    html += QStringLiteral("</ul>\n");
    if (!report.notInspected.empty())
        html += sentenceList(said(QT_TRANSLATE_NOOP("AuditReport", "Not inspected, because nothing else records it")),
            report.notInspected);
    if (report.privacy)
        html += sentenceList(said(QT_TRANSLATE_NOOP("AuditReport", "Private training")), report.privacy->lines)
            + sentenceList(said(QT_TRANSLATE_NOOP("AuditReport", "Outside of the guarantee")), report.privacy->outside);
    if (!report.findings.empty())
        html += QStringLiteral("<h2>%1</h2>\n").arg(said(QT_TRANSLATE_NOOP("AuditReport", "Findings")))
            + findingTable(report);
    return html;
}

QDialog* auditReportDialog(const AuditReport& report, const QString& runName, QWidget* parent)
{
    auto* dialog = new QDialog(parent);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setWindowTitle(QCoreApplication::translate("AuditReport", "Audit of %1").arg(runName));
    dialog->resize(860, 620);
    auto* column = new QVBoxLayout(dialog);
    auto* text = new QTextBrowser;
    text->setAccessibleName(dialog->windowTitle());
    text->setHtml(auditHtml(report, runName));
    column->addWidget(text);
    auto* close = makeButton(QCoreApplication::translate("AuditReport", "Close"));
    QObject::connect(close, &QPushButton::clicked, dialog, &QDialog::reject);
    column->addWidget(close, 0, Qt::AlignRight);
    return dialog;
}

bool saveAuditReport(const AuditReport& report, const QString& runFolder, const QString& file)
{
    const QString html = auditHtml(report, QFileInfo(runFolder).fileName());
    if (file.endsWith(QLatin1String(".pdf"), Qt::CaseInsensitive)) {
        QPdfWriter pdf(file);
        pdf.setPageOrientation(QPageLayout::Landscape);
        QTextDocument document;
        document.setHtml(html);
        document.print(&pdf);
        return QFileInfo(file).size() > 0;
    }
    QByteArray bytes = QStringLiteral(
        "<!doctype html><meta charset=\"utf-8\"><title>Furrow</title><body style=\"font-family:sans-serif\">\n%1</body>\n")
                           .arg(html)
                           .toUtf8();
    if (file.endsWith(QLatin1String(".csv"), Qt::CaseInsensitive))
        bytes = findingCsv(report).toUtf8();
    else if (file.endsWith(QLatin1String(".json"), Qt::CaseInsensitive))
        bytes = QByteArray::fromStdString(auditJson(report));
    return writeWhole(file, bytes);
}

} // namespace furrow
