// One page that needs nothing else: it can be mailed, archived beside the weights, opened in any browser.

#include "core/tracker/audit/audit.h"

#include "core/base/clock.h"
#include "core/base/format.h"

namespace furrow {

namespace {

constexpr const char* kStyle
    = "body{font:15px/1.5 system-ui,sans-serif;max-width:72rem;margin:2rem auto;padding:0 1rem;color:#1c2024;background:#fff}"
      "table{border-collapse:collapse;margin:.5rem 0 1.5rem}td,th{padding:.2rem .9rem .2rem 0;text-align:left;border-bottom:1px solid #d8dce0}"
      "td.n{text-align:right;font-variant-numeric:tabular-nums}.good{color:#0a6b3d}.bad{color:#b3261e;font-weight:600}details{margin:.3rem 0}code{font-size:.9em}"
      "@media(prefers-color-scheme:dark){body{color:#e6e8ea;background:#16191c}td,th{border-color:#353a40}.good{color:#5fd39a}.bad{color:#ff8a80}}";

std::string escaped(const std::string& text)
{
    std::string out;
    for (const char c : text) {
        if (c == '<' || c == '>' || c == '&' || c == '"')
            out += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : "&quot;";
        else
            out += c;
    }
    return out;
}

/// A cell that should say 0.
std::string number(std::int64_t value)
{
    return std::string("<td class=\"n ") + (value == 0 ? "good" : "bad") + "\">" + std::to_string(value) + "</td>";
}

std::string row(const std::string& name, std::int64_t value, bool mustBeZero = false)
{
    return "<tr><td>" + name + "</td><td class=\"n" + (mustBeZero ? value == 0 ? " good" : " bad" : "") + "\">"
        + std::to_string(value) + "</td></tr>";
}

std::string epochHtml(const AuditEpoch& epoch)
{
    std::string html = "<h2>Epoch " + std::to_string(epoch.epoch + 1) + ": "
        + (epoch.complete ? "complete" : "not complete") + "</h2><table>";
    html += epoch.expected ? row("chunks expected", *epoch.expected)
                           : "<tr><td>chunks expected</td><td class=\"n\">unknown</td></tr>";
    html += row("committed once", epoch.committed) + row("duplicated", epoch.duplicated, true)
        + row("missing", epoch.missing, true) + row("still to come", epoch.remaining)
        + row("left out by a person", epoch.excluded)
        + row("left out, trained by the parent run", epoch.skippedAsParents)
        + row("trained by the parent run too", epoch.againAfterParent) + row("poisoned", epoch.poisoned)
        + row("accepted as not trained", epoch.accepted) + row("overlapping claims", epoch.overlappingClaims, true)
        + row("trainings lost with their weights so far", epoch.chunksLost)
        + row("chunks with equal content", epoch.contentDuplicates);
    html += row("rows", epoch.rows.rows) + row("trained samples", epoch.rows.samples)
        + row("skipped (NaN)", epoch.samplesSkipped) + row("filtered", epoch.rows.filtered)
        + row("failed", epoch.rows.failed) + row("held out", epoch.rows.heldOut)
        + row("duplicate samples", epoch.rows.duplicates);
    return html + "<tr><td>digest of the samples</td><td><code>" + formatHex(epoch.digest)
        + "</code></td></tr></table>";
}

std::string listHtml(const char* title, const std::vector<Message>& sentences)
{
    std::string html = std::string("<h2>") + title + "</h2><ul>";
    for (const Message& one : sentences)
        html += "<li>" + escaped(one) + "</li>";
    return html + "</ul>";
}

std::string claimsHtml(const std::vector<ClaimRow>& claims)
{
    std::string html
        = "<table><tr><th>claim</th><th>worker</th><th>attempt</th><th>claimed</th><th>ended</th><th>outcome</th><th>steps</th><th>checkpoint</th></tr>";
    for (const ClaimRow& claim : claims)
        html += "<tr><td>" + std::to_string(claim.claimId) + "</td><td>" + std::to_string(claim.worker) + "</td><td>"
            + std::to_string(claim.attempt.value) + "</td><td>" + isoTime(claim.claimedWallNs) + "</td><td>"
            + (claim.endedWallNs == 0 ? std::string("now") : isoTime(claim.endedWallNs)) + "</td><td>"
            + toString(claim.outcome) + "</td><td>" + std::to_string(claim.firstStep) + "&ndash;"
            + std::to_string(claim.lastStep) + "</td><td>"
            + (claim.checkpoint == 0 ? std::string() : std::to_string(claim.checkpoint)) + "</td></tr>";
    return html + "</table>";
}

} // namespace

std::string auditHtml(const AuditReport& report)
{
    std::string html
        = "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\"><title>Audit of run "
        + escaped(report.runId) + "</title><style>" + kStyle + "</style></head><body><h1>Run " + escaped(report.runId)
        + "</h1><p class=\"" + (report.isClean() && report.couldInspect() ? "good" : "bad") + "\">"
        + escaped(auditVerdict(report)) + "</p><p>Tracker file: "
        + (report.integrityOk ? std::string("whole")
                              : "<span class=\"bad\">damaged: " + escaped(report.integrity) + "</span>")
        + "</p>";
    for (const AuditEpoch& epoch : report.epochs)
        html += epochHtml(epoch);
    html
        += "<h2>What was inspected, and how</h2><table><tr><th></th><th>how</th><th>wrong</th><th>could not be inspected</th></tr>";
    for (const AuditInspection& one : report.inspections)
        html += "<tr><td>" + toString(one.what) + "</td><td>" + escaped(one.how) + "</td>" + number(one.wrong)
            + number(one.unreadable) + "</tr>";
    html += "</table>";
    if (!report.notInspected.empty())
        html += listHtml("Not inspected, because nothing else speaks of it", report.notInspected);
    if (report.privacy)
        html += listHtml("Private training", report.privacy->lines)
            + listHtml("Outside of the guarantee", report.privacy->outside);
    html += "<h2>Invariants</h2><table>";
    for (const AuditInvariant& invariant : report.invariants)
        html += "<tr><td>" + escaped(invariant.name) + "</td><td class=\""
            + (invariant.holds ? "good\">holds" : "bad\">broken") + "</td><td>" + escaped(invariant.meaning)
            + "</td></tr>";
    html += "</table><h2>Findings</h2>";
    for (const AuditFinding& finding : report.findings)
        html += "<details><summary>" + escaped(finding.text) + "</summary>"
            + (finding.claims.empty() ? std::string() : claimsHtml(finding.claims)) + "</details>";
    if (report.findings.empty())
        html += "<p>None.</p>";
    if (report.findingsLeftOut > 0)
        html += "<p>And " + std::to_string(report.findingsLeftOut) + " more.</p>";
    return html + "</body></html>\n";
}

} // namespace furrow
