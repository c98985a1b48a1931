#include "core/run/audit/run_audit.h"

#include "core/base/format.h"
#include "core/base/sentence.h"
#include "core/run/audit/audit_blocks.h"
#include "core/run/audit/audit_checkpoints.h"
#include "core/run/audit/begun_with.h"
#include "core/run/audit/held_out_again.h"
#include "core/run/audit/parent_list.h"
#include "core/run/audit/privacy_statement.h"
#include "core/run/folder/attempt_config.h"
#include "core/run/folder/foreign_ledger.h"
#include "core/run/folder/frozen_config.h"
#include "core/run/status/ledger_view.h"
#include "core/run/folder/run_file.h"

namespace furrow {

namespace {

/// What of run.json is held against something.
void auditRecord(const RunFile& file, LedgerReader& ledger, AuditLog& log)
{
    const auto record = frozenRecord(ledger);
    if (!record.ok())
        log.failed(FindingKind::Frozen, record.error(), record.error().message);
    else if (const auto missing = missingRecord(file, ledger); missing.ok() && !missing.value().empty())
        log.wrong(FindingKind::Frozen, {}, missing.value());
    else if (record.value() == FrozenRecord::None)
        log.notInspected(
            sentence("run.json in part or as a whole: this run was made by a version that kept no full record of it"));
    else if (record.value() == FrozenRecord::Facts)
        log.notInspected(sentence(
            "of run.json the settings that a resume may change and the list of its files: the tracker has no record of them"));
    log.notInspected(sentence(
        "of run.json the name of the run, its preset, when and by which version it was made, and where its data lie"));
    log.notInspected(sentence("telemetry and logs"));
}

/// parent.json itself is among what is not as begun.
void auditParentList(const RunPaths& paths, const RunFile& file, AuditLog& log)
{
    const auto differs = differenceFromParentList(paths, file, readableLedger(paths));
    if (!differs.ok())
        log.failed(FindingKind::Frozen, differs.error(), differs.error().message);
    else if (!differs.value().empty())
        log.wrong(FindingKind::Frozen, {}, differs.value());
    if (!file.parentRun.empty() && file.parentListHash.empty())
        log.notInspected(sentence(
            "which chunks the parent run trained, but for tracker and parent.json against each other: this run was made by a version that kept no hash of the list"));
    if (const auto parent = readParent(paths); parent.ok() && parent.value())
        if (const Message partly = partlyInherited(*parent.value()); !partly.empty())
            log.mention(FindingKind::Parent, partly);
}

/// @return whether it was held against the data
bool auditHeldOut(const RunPaths& paths, const RunFile& file, AuditDepth depth, AuditLog& log)
{
    if (file.heldOutHash.empty())
        log.notInspected(sentence("the held-out text: this run was made by a version that did not keep its hash"));
    else if (depth == AuditDepth::Deep)
        return auditHeldOutAgain(paths, file, log);
    else
        log.notInspected(sentence("the held-out text against the data: --deep reads them too"));
    return false;
}

/// What was decided when the run was made, and must be so for ever.
void auditFrozen(const RunPaths& paths, const RunFile& file, LedgerReader& ledger, AuditDepth depth, AuditLog& log)
{
    log.begin(Evidence::Frozen);
    for (const auto& changed : notAsBegun(paths, file, ledger, log.stop()))
        log.failed(FindingKind::Frozen, changed, changed.message);
    auditRecord(file, ledger, log);
    auditParentList(paths, file, log);
    const bool isSetAsideAgain = auditHeldOut(paths, file, depth, log);
    log.looked(file.heldOutHash.empty() ? 2 : 3);
    log.how(file.heldOutHash.empty()
            ? sentence("run.json against what the tracker keeps of it, and the hash of the tokenizer")
            : isSetAsideAgain
            ? sentence(
                  "run.json against what the tracker keeps of it, the hashes of tokenizer and held-out text, and that text set aside from the data once more")
            : sentence("run.json against what the tracker keeps of it, and the hashes of tokenizer and held-out text"));
}

void tellSteps(const StepsAudit& steps, AuditLog& log)
{
    log.begin(Evidence::Steps);
    for (const auto& text : steps.wrong)
        log.wrong(FindingKind::Steps, {}, text);
    log.looked(steps.claims);
    log.how(sentence(
        "the optimiser steps of claims (%1) one after the other, and those of their parts against the steps of checkpoints (%2)",
        { Count(steps.claims), Count(steps.checkpoints) }));
}

Status auditFiles(const RunPaths& paths, const RunFile& file, AuditDepth depth, AuditLog& log)
{
    FURROW_TRY_ASSIGN(auto ledger, openLedger(paths, ReadFor::Long));
    auditFrozen(paths, file, ledger, depth, log);
    FURROW_TRY(auditCheckpoints(paths, file, ledger, depth == AuditDepth::Deep, log));
    FURROW_TRY(auditBlocks(paths, file, ledger, log));
    FURROW_TRY(mentionUntrainedTexts(paths, file, ledger, log));
    mentionExclusions(paths, log);
    if (depth == AuditDepth::Deep)
        FURROW_TRY(auditSource(paths, file, ledger, log)); // which fetches what is not there
    return auditDownloads(paths, file, log);
}

/// A copy of the ledger goes away with this, before the files are read.
Result<AuditReport> auditLedger(const RunPaths& paths, const RunFile& file, const AuditWatch& watch, StepsAudit* steps)
{
    const LedgerToRead ledger(paths);
    if (auto opened = LedgerReader::open(ledger.file(), ledger.shownAs()); opened.ok())
        if (const auto foreign = foreignLedger(opened.value(), file.runId); !foreign.empty())
            return foreignRefusal(paths, foreign);
    FURROW_TRY_ASSIGN(auto report, audit(ledger.file(), watch, steps, ledger.shownAs()));
    if (file.config.noiseMultiplier > 0) {
        FURROW_TRY_ASSIGN(const auto counted, participations(ledger.file(), ledger.shownAs()));
        FURROW_TRY_ASSIGN(auto reader, LedgerReader::open(ledger.file(), ledger.shownAs()));
        FURROW_TRY_ASSIGN(const auto attempts, reader.attempts());
        FURROW_TRY_ASSIGN(const auto config, latestConfig(attempts, file.config));
        report.privacy = privacyStatement(config, counted, report);
    }
    return report;
}

} // namespace

Result<AuditReport> auditRun(const RunPaths& paths, AuditDepth depth, const AuditWatch& watch)
{
    FURROW_TRY_ASSIGN(auto file, readRunFile(paths));
    AuditLog log(watch);
    log.say(sentence("Reading the tracker"), 0);
    StepsAudit steps;
    auto report = auditLedger(paths, file, watch, depth == AuditDepth::Quick ? nullptr : &steps);
    if (!report.ok() || depth == AuditDepth::Quick)
        return report;
    tellSteps(steps, log);
    FURROW_TRY(auditFiles(paths, file, depth, log));
    log.addTo(report.value());
    if (report.value().privacy && !report.value().isClean())
        withhold(*report.value().privacy);
    return report;
}

} // namespace furrow
