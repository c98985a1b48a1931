#include "core/tracker/audit/audit.h"

#include "core/config/message_json.h"
#include "core/base/clock.h"
#include "core/base/format.h"
#include "core/base/sentence.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace furrow {

namespace {

using Json = nlohmann::ordered_json;

Json time(std::int64_t wallNs) { return wallNs == 0 ? Json(nullptr) : Json(isoTime(wallNs)); }

Json claimJson(const ClaimRow& claim)
{
    return { { "claim", claim.claimId }, { "worker", claim.worker }, { "replica", claim.replica },
        { "attempt", claim.attempt.value }, { "claimed", time(claim.claimedWallNs) },
        { "began", time(claim.startedWallNs) }, { "ended", time(claim.endedWallNs) },
        { "outcome", nameOf(claim.outcome) }, { "first_step", claim.firstStep }, { "last_step", claim.lastStep },
        { "tokens", claim.tokens }, { "checkpoint", claim.checkpoint } };
}

Json findingJson(const AuditFinding& finding)
{
    Json json { { "kind", nameOf(finding.kind) }, { "text", finding.text }, { "message", toJson(finding.text) } };
    if (finding.chunk.value != 0) {
        const ChunkPlace place = placeOf(finding.chunk);
        json["epoch"] = place.epoch + 1;
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
        { "epoch", epoch.epoch + 1 },
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
        { "trainings_lost", { { "count", epoch.chunksLost }, { "tokens", epoch.tokensLost } } },
        { "digest", formatHex(epoch.digest) },
        { "content_duplicates", epoch.contentDuplicates },
        { "samples",
            { { "rows", epoch.rows.rows }, { "trained", epoch.rows.samples }, { "skipped", epoch.samplesSkipped },
                { "trained_of_left_out", epoch.samplesKept }, { "filtered", epoch.rows.filtered },
                { "failed", epoch.rows.failed }, { "held_out", epoch.rows.heldOut },
                { "duplicates", epoch.rows.duplicates }, { "add_up", epoch.rowsAddUp } } },
    };
}

std::string epochText(const AuditEpoch& epoch)
{
    const auto number = [](std::int64_t value) { return std::to_string(value); };
    std::string text
        = "epoch " + number(epoch.epoch + 1) + ": " + (epoch.complete ? "complete" : "not complete") + "\n";
    text += "  expected " + (epoch.expected ? number(*epoch.expected) : std::string("unknown")) + ", committed "
        + number(epoch.committed) + ", duplicated " + number(epoch.duplicated) + ", missing " + number(epoch.missing)
        + ", remaining " + number(epoch.remaining) + "\n";
    text += "  excluded " + number(epoch.excluded) + ", poisoned " + number(epoch.poisoned) + ", accepted "
        + number(epoch.accepted) + ", overlapping claims " + number(epoch.overlappingClaims) + "\n";
    if (epoch.skippedAsParents + epoch.againAfterParent > 0)
        text += "  trained by the parent run: " + number(epoch.skippedAsParents) + " left out here, "
            + number(epoch.againAfterParent) + " trained again\n";
    text += std::string("  rows of committed chunks ")
        + (epoch.samplesKept > 0 ? "and of parts of chunks that were left out since " : "") + number(epoch.rows.rows)
        + " = trained " + number(epoch.rows.samples) + " + skipped " + number(epoch.samplesSkipped) + " + filtered "
        + number(epoch.rows.filtered) + " + failed " + number(epoch.rows.failed) + " + held out "
        + number(epoch.rows.heldOut) + " + duplicates " + number(epoch.rows.duplicates)
        + (epoch.rowsAddUp ? "" : "  (does NOT add up)") + "\n";
    text += "  trainings lost with their weights so far: " + number(epoch.chunksLost) + ", with "
        + number(epoch.tokensLost)
        + " tokens where they had ended; chunks with equal content: " + number(epoch.contentDuplicates) + "\n";
    return text + "  digest " + formatHex(epoch.digest) + "\n";
}

std::string listText(const std::string& title, const std::vector<Message>& sentences)
{
    std::string text = title + ":\n";
    for (const Message& one : sentences)
        text += "  " + one + "\n";
    return text;
}

Json inspectionJson(const AuditInspection& one)
{
    return { { "what", nameOf(one.what) }, { "how", one.how }, { "inspected", one.inspected }, { "wrong", one.wrong },
        { "could_not_be_inspected", one.unreadable } };
}

Json privacyJson(const PrivacyStatement& privacy)
{
    const auto known = [](const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); };
    return { { "epsilon", known(privacy.epsilon) }, { "delta", privacy.delta },
        { "epsilon_replaced", known(privacy.epsilonReplaced) },
        { "epsilon_surviving_weights", known(privacy.epsilonKept) },
        { "epsilon_if_drawn_by_chance", known(privacy.epsilonOfDrawing) }, { "participations", privacy.participations },
        { "participations_surviving_weights", privacy.keptParticipations }, { "trainings_lost", privacy.lostTrainings },
        { "units", privacy.units }, { "statement", privacy.lines }, { "outside", privacy.outside } };
}

std::string claimText(const ClaimRow& claim)
{
    std::string text = "      claim " + std::to_string(claim.claimId) + " by worker " + std::to_string(claim.worker)
        + " (attempt " + std::to_string(claim.attempt.value) + "): " + isoTime(claim.claimedWallNs) + " to "
        + (claim.endedWallNs == 0 ? std::string("now") : isoTime(claim.endedWallNs)) + ", " + toString(claim.outcome);
    if (claim.tokens > 0)
        text += ", steps " + std::to_string(claim.firstStep) + " to " + std::to_string(claim.lastStep);
    if (claim.checkpoint != 0)
        text += ", checkpoint " + std::to_string(claim.checkpoint);
    return text + "\n";
}

} // namespace

Message auditVerdict(const AuditReport& report)
{
    if (!report.isClean())
        return sentence("problems found, see below");
    if (!report.couldInspect())
        return sentence("nothing is wrong in what could be read, but not everything could be inspected, see below");
    std::int64_t poisoned = 0;
    std::int64_t accepted = 0;
    std::int64_t excluded = 0;
    for (const AuditEpoch& epoch : report.epochs) {
        poisoned += epoch.poisoned;
        accepted += epoch.accepted;
        excluded += epoch.excluded;
    }
    const bool leftOutMore = std::any_of(report.findings.begin(), report.findings.end(),
        [](const AuditFinding& finding) { return finding.kind == FindingKind::Excluded && finding.chunk.value == 0; });
    if (poisoned + accepted + excluded == 0 && !leftOutMore)
        return report.inspectedWeights()
            ? sentence("every chunk is where it should be, once, and the files are as recorded")
            : sentence("every chunk is where it should be, once; weights not inspected");
    std::string text = "every chunk that was trained is where it should be, once; not trained, and named below:";
    const char* separator = " ";
    for (const auto& [count, words] : { std::pair(poisoned, " that could not be read (poisoned)"),
             std::pair(accepted, " accepted as not trained"), std::pair(excluded, " left out (excluded)") }) {
        if (count == 0)
            continue;
        text += separator + std::to_string(count) + words;
        separator = ", ";
    }
    if (leftOutMore)
        text += separator + std::string("the rest of some files (left out)");
    return text + (report.inspectedWeights() ? "; the files are as recorded" : "; weights not inspected");
}

std::string auditJson(const AuditReport& report)
{
    Json json { { "run", report.runId }, { "clean", report.isClean() }, { "could_be_inspected", report.couldInspect() },
        { "weights_inspected", report.inspectedWeights() }, { "verdict", auditVerdict(report) },
        { "integrity", report.integrityOk ? "ok" : report.integrity } };
    json["inspections"] = Json::array();
    for (const AuditInspection& one : report.inspections)
        json["inspections"].push_back(inspectionJson(one));
    json["not_inspected"] = report.notInspected;
    if (report.privacy)
        json["privacy"] = privacyJson(*report.privacy);
    json["epochs"] = Json::array();
    for (const AuditEpoch& epoch : report.epochs)
        json["epochs"].push_back(epochJson(epoch));
    json["invariants"] = Json::array();
    for (const AuditInvariant& invariant : report.invariants)
        json["invariants"].push_back(
            { { "name", invariant.name }, { "meaning", invariant.meaning }, { "holds", invariant.holds } });
    json["findings"] = Json::array();
    for (const AuditFinding& finding : report.findings)
        json["findings"].push_back(findingJson(finding));
    json["findings_left_out"] = report.findingsLeftOut;
    return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

std::string auditText(const AuditReport& report)
{
    std::string text = "run " + report.runId + ": " + auditVerdict(report) + "\n";
    if (!report.integrityOk)
        text += "the tracker file is damaged: " + report.integrity + "\n";
    for (const AuditEpoch& epoch : report.epochs)
        text += epochText(epoch);
    text += "inspected:\n";
    for (const AuditInspection& one : report.inspections) {
        text += "  " + toString(one.what) + ": " + one.how;
        text += one.wrong > 0 ? "; " + std::to_string(one.wrong) + " WRONG" : "";
        text += (one.unreadable > 0 ? "; " + std::to_string(one.unreadable) + " could not be inspected" : std::string())
            + "\n";
    }
    if (!report.notInspected.empty())
        text += listText("not inspected, because nothing else speaks of it", report.notInspected);
    if (report.privacy)
        text += listText("private training", report.privacy->lines)
            + listText("outside of the guarantee", report.privacy->outside);
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
