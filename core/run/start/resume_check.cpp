#include "core/run/start/resume_check.h"

#include "core/base/file_system.h"
#include "core/base/path.h"
#include "core/base/regular_file.h"
#include "core/base/sentence.h"
#include "core/data/block_manager.h"
#include "core/run/audit/begun_with.h"
#include "core/run/start/recovery.h"
#include "core/run/status/run_holder.h"
#include "core/run/audit/tracker_damage.h"
#include "core/run/folder/before_writing.h"
#include "core/run/folder/foreign_ledger.h"
#include "core/run/folder/run_links.h"
#include "core/run/status/run_status.h"
#include "core/run/folder/stray_checkpoints.h"

namespace furrow {

namespace {

/// Folders that a resume makes or fills; one that is missing is made.
Status checkFoldersWritable(const RunPaths& paths)
{
    for (const auto& folder : { paths.folder(), paths.checkpointsFolder(), paths.logsFolder(), paths.telemetryFolder(),
             paths.cacheFolder(), BlockManager::blockFolder(paths.cacheFolder()) })
        if (auto writable = checkWritable(folder); !writable.ok() && writable.error().code != ErrorCode::NotFound)
            return writable;
    return {};
}

/// What a resume would leave behind unasked.
Status checkWeights(const RunPaths& paths, const RunFile& file, LedgerReader& reader, const ResumeChoice& choice)
{
    FURROW_TRY(refuseOlderTracker(paths, file.runId));
    if (choice.goBackTo) // to one that was read
        return {};
    FURROW_TRY_ASSIGN(auto rows, reader.checkpoints());
    return checkHeadsAreThere(paths, rows);
}

} // namespace

Status checkResume(const RunPaths& paths, const RunFile& file, LedgerReader& reader, const ResumeChoice& choice,
    const std::function<Result<AuditReport>()>& auditLedger)
{
    if (staysHeld(paths))
        return heldByAnother(paths);
    if (const auto unsafe = unsafeForLedgerReason(paths.folder()); !unsafe.empty())
        return Error { ErrorCode::InvalidArgument,
            sentence("%1 cannot hold a training run: %2", { utf8Text(paths.folder()), unsafe }) };
    FURROW_TRY(beforeWritingInto(paths));
    FURROW_TRY(refuseLinks(paths));
    FURROW_TRY(refuseSecondNames(paths));
    for (const auto& one :
        { paths.evaluationFile(), paths.questionsFile(), paths.duplicatesFile(), paths.supervisorLock() })
        FURROW_TRY(refuseIrregular(one));
    FURROW_TRY(checkFoldersWritable(paths));
    FURROW_TRY(checkWritableByAny(paths.tracker()));
    if (const auto foreign = foreignLedger(paths.tracker(), file.runId); !foreign.empty()) // its snapshot stands in
        return foreignRefusal(paths, foreign);
    FURROW_TRY(LedgerReader::checkIsLive(paths.tracker()));
    if (const auto changed = notAsBegun(paths, file, reader); !changed.empty())
        return changed.front();
    if (!choice.acceptLoss)
        FURROW_TRY(checkWeights(paths, file, reader, choice));
    if (const auto damage = trackerRefusal(paths, file, auditLedger()); !damage.empty())
        return Error { ErrorCode::Corrupt, damage };
    if (choice.acceptLoss)
        return {};
    FURROW_TRY_ASSIGN(const auto lost, lostProof(paths, file, reader, choice.goBackTo));
    return lost.empty() ? Status() : Status(Error { ErrorCode::Corrupt, lost });
}

} // namespace furrow
