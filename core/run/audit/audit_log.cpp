#include "core/run/audit/audit_log.h"

namespace furrow {

void AuditLog::mention(FindingKind kind, Message text)
{
    if (findings_.size() < kMaxAuditFindings)
        findings_.push_back({ kind, {}, std::move(text), {} });
    else
        ++leftOut_;
}

void AuditLog::wrong(FindingKind kind, ChunkId chunk, Message text)
{
    ++inspections_.back().wrong;
    mention(kind, std::move(text));
    if (leftOut_ == 0)
        findings_.back().chunk = chunk;
}

void AuditLog::unreadable(Message text, std::int64_t things)
{
    inspections_.back().unreadable += things;
    mention(FindingKind::Unreadable, std::move(text));
}

void AuditLog::failed(FindingKind kind, const Error& error, const Message& text)
{
    if (error.code == ErrorCode::Corrupt || error.code == ErrorCode::InvalidArgument)
        wrong(kind, {}, text);
    else
        unreadable(text);
}

void AuditLog::say(const Message& doing, double fraction) const
{
    if (watch_.say)
        watch_.say({ doing, fraction });
}

void AuditLog::addTo(AuditReport& report)
{
    report.inspections.insert(report.inspections.end(), inspections_.begin(), inspections_.end());
    report.findings.insert(
        report.findings.begin(), std::make_move_iterator(findings_.begin()), std::make_move_iterator(findings_.end()));
    report.findingsLeftOut += leftOut_;
    report.notInspected.insert(report.notInspected.end(), notInspected_.begin(), notInspected_.end());
    if (report.findings.size() > kMaxAuditFindings) {
        report.findingsLeftOut += std::ssize(report.findings) - kMaxAuditFindings;
        report.findings.resize(kMaxAuditFindings);
    }
}

} // namespace furrow
