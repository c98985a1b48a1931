#pragma once

#include "core/base/message.h"
#include "core/run/audit/run_audit.h"

namespace furrow {

/// What looking at the files of a run finds, inspection by inspection. Internal to the audit of a run; one thread.
class AuditLog {
public:
    explicit AuditLog(const AuditWatch& watch)
        : watch_(watch)
    {
    }

    /// What follows belongs to this inspection.
    void begin(Evidence what) { inspections_.push_back({ what, {}, 0, 0, 0 }); }
    void looked(std::int64_t things = 1) { inspections_.back().inspected += things; }
    /// How it was looked at, with the numbers: the last word of an inspection.
    void how(Message sentence) { inspections_.back().how = std::move(sentence); }
    std::int64_t inspected() const { return inspections_.back().inspected; }

    /// Not what was recorded.
    void wrong(FindingKind kind, ChunkId chunk, Message text);
    /// Missing, or not readable now. @param things  so many of what this inspection looks at
    void unreadable(Message text, std::int64_t things = 1);
    /// One of the two by what went wrong: bytes that are there and are not right, or none at all.
    void failed(FindingKind kind, const Error& error, const Message& text);
    /// Held against nothing, because nothing independent speaks of it.
    void notInspected(Message text) { notInspected_.push_back(std::move(text)); }
    /// Worth knowing, and no fault.
    void mention(FindingKind kind, Message text);

    void say(const Message& doing, double fraction) const;
    bool stopped() const { return watch_.stop.stop_requested(); }
    const std::stop_token& stop() const { return watch_.stop; }

    /// Into the report of the ledger: what files say comes before what the ledger says.
    void addTo(AuditReport& report);

private:
    const AuditWatch& watch_;
    std::vector<AuditInspection> inspections_;
    std::vector<AuditFinding> findings_;
    std::vector<Message> notInspected_;
    std::int64_t leftOut_ = 0;
};

} // namespace furrow
