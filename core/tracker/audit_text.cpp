#include "core/tracker/audit.h"

#include "core/base/clock.h"

#include <nlohmann/json.hpp>

#include <array>
#include <cstdio>

namespace furrow {

namespace {

    using Json = nlohmann::ordered_json;

    std::string hex(std::uint64_t value)
    {
        std::array<char, 17> text {};
        std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(value));
        return text.data();
    }

    Json time(std::int64_t wallNs)
    {
        return wallNs == 0 ? Json(nullptr) : Json(isoTime(wallNs));
    }

    Json claimJson(const ClaimRow& claim)
    {
        return { { "claim", claim.claimId }, { "worker", claim.worker }, { "replica", claim.replica }, { "attempt", claim.attempt.value },
            { "claimed", time(claim.claimedWallNs) }, { "began", time(claim.startedWallNs) }, { "ended", time(claim.endedWallNs) },
            { "outcome", claim.outcome }, { "first_step", claim.firstStep }, { "last_step", claim.lastStep }, { "tokens", claim.tokens },
            { "checkpoint", claim.checkpoint } };
    }

    Json findingJson(const AuditFinding& finding)
    {
        Json json { { "kind", finding.kind }, { "text", finding.text } };
        if (finding.chunk.value != 0) {
            const ChunkPlace place = placeOf(finding.chunk);
            json["epoch"] = place.epoch;
            json["block"] = place.block;
            json["column"] = place.column;
        }
        json["claims"] = Json::array();
        for (const ClaimRow& claim : finding.claims)
            json["claims"].push_back(claimJson(claim));
        return json;
    }

    Json epochJson(const AuditEpoch& epoch)
    {
        return {
            { "epoch", epoch.epoch },
            { "expected", epoch.expected ? Json(*epoch.expected) : Json(nullptr) },
            { "committed", epoch.committed },
            { "duplicated", epoch.duplicated },
            { "missing", epoch.missing },
            { "excluded", epoch.excluded },
            { "trained_by_parent", { { "skipped", epoch.skippedAsParents }, { "again", epoch.againAfterParent } } },
            { "poisoned", epoch.poisoned },
            { "accepted", epoch.accepted },
            { "overlapping_claims", epoch.overlappingClaims },
            { "complete", epoch.complete },
            { "remaining", epoch.remaining },
            { "work_lost", { { "chunks", epoch.chunksLost }, { "tokens", epoch.tokensLost } } },
            { "digest", hex(epoch.digest) },
            { "content_duplicates", epoch.contentDuplicates },
            { "samples",
                { { "rows", epoch.rows.rows }, { "trained", epoch.rows.samples }, { "skipped", epoch.samplesSkipped }, { "filtered", epoch.rows.filtered },
                    { "failed", epoch.rows.failed }, { "held_out", epoch.rows.heldOut }, { "duplicates", epoch.rows.duplicates },
                    { "add_up", epoch.rowsAddUp } } },
        };
    }

    std::string epochText(const AuditEpoch& epoch)
    {
        const auto number = [](std::int64_t value) { return std::to_string(value); };
        std::string text = "epoch " + number(epoch.epoch + 1) + ": " + (epoch.complete ? "complete" : "not complete") + "\n";
        text += "  expected " + (epoch.expected ? number(*epoch.expected) : std::string("unknown")) + ", committed " + number(epoch.committed)
            + ", duplicated " + number(epoch.duplicated) + ", missing " + number(epoch.missing) + ", remaining " + number(epoch.remaining) + "\n";
        text += "  excluded " + number(epoch.excluded) + ", poisoned " + number(epoch.poisoned) + ", accepted " + number(epoch.accepted)
            + ", overlapping claims " + number(epoch.overlappingClaims) + "\n";
        if (epoch.skippedAsParents + epoch.againAfterParent > 0)
            text += "  trained by the parent run: " + number(epoch.skippedAsParents) + " left out here, " + number(epoch.againAfterParent) + " trained again\n";
        text += "  rows " + number(epoch.rows.rows) + " = trained " + number(epoch.rows.samples) + " + skipped " + number(epoch.samplesSkipped) + " + filtered "
            + number(epoch.rows.filtered) + " + failed " + number(epoch.rows.failed) + " + held out " + number(epoch.rows.heldOut) + " + duplicates "
            + number(epoch.rows.duplicates) + (epoch.rowsAddUp ? "" : "  (does NOT add up)") + "\n";
        text += "  work lost and done again: " + number(epoch.chunksLost) + " chunks, " + number(epoch.tokensLost) + " tokens; chunks with equal content: "
            + number(epoch.contentDuplicates) + "\n";
        return text + "  digest " + hex(epoch.digest) + "\n";
    }

    std::string claimText(const ClaimRow& claim)
    {
        std::string text = "      claim " + std::to_string(claim.claimId) + " by worker " + std::to_string(claim.worker) + " (attempt " + std::to_string(claim.attempt.value)
            + "): " + isoTime(claim.claimedWallNs) + " to " + (claim.endedWallNs == 0 ? std::string("now") : isoTime(claim.endedWallNs)) + ", " + claim.outcome;
        if (claim.tokens > 0)
            text += ", steps " + std::to_string(claim.firstStep) + " to " + std::to_string(claim.lastStep);
        if (claim.checkpoint != 0)
            text += ", checkpoint " + std::to_string(claim.checkpoint);
        return text + "\n";
    }

} // namespace

std::string auditJson(const AuditReport& report)
{
    Json json { { "run", report.runId }, { "clean", report.isClean() }, { "integrity", report.integrityOk ? "ok" : report.integrity } };
    json["epochs"] = Json::array();
    for (const AuditEpoch& epoch : report.epochs)
        json["epochs"].push_back(epochJson(epoch));
    json["invariants"] = Json::array();
    for (const AuditInvariant& invariant : report.invariants)
        json["invariants"].push_back({ { "name", invariant.name }, { "meaning", invariant.meaning }, { "holds", invariant.holds } });
    json["findings"] = Json::array();
    for (const AuditFinding& finding : report.findings)
        json["findings"].push_back(findingJson(finding));
    json["findings_left_out"] = report.findingsLeftOut;
    return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

std::string auditText(const AuditReport& report)
{
    std::string text = "run " + report.runId + ": " + (report.isClean() ? "every chunk is where it should be, once" : "NOT in order, see below") + "\n";
    if (!report.integrityOk)
        text += "the tracker file is damaged: " + report.integrity + "\n";
    for (const AuditEpoch& epoch : report.epochs)
        text += epochText(epoch);
    for (const AuditInvariant& invariant : report.invariants)
        text += invariant.name + (invariant.holds ? " holds: " : " is BROKEN: ") + invariant.meaning + "\n";
    for (const AuditFinding& finding : report.findings) {
        text += "  " + finding.text + "\n";
        for (const ClaimRow& claim : finding.claims)
            text += claimText(claim);
    }
    if (report.findingsLeftOut > 0)
        text += "  and " + std::to_string(report.findingsLeftOut) + " more\n";
    return text;
}

} // namespace furrow
