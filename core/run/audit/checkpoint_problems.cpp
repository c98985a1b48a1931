#include "core/run/audit/checkpoint_problems.h"

#include "core/base/file_system.h"
#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/run/audit/begun_with.h"
#include "core/run/audit/tracker_damage.h"
#include "core/run/folder/foreign_ledger.h"
#include "core/run/folder/attempt_config.h"
#include "core/run/folder/kept_states.h"
#include "core/run/folder/left_out_chunks.h"
#include "core/run/folder/removed_weights.h"
#include "core/run/folder/stray_checkpoints.h"
#include "core/run/status/ledger_view.h"

#include <algorithm>
#include <string>
#include <utility>

namespace furrow {

namespace {

/// False: the run, which may be in training, went on from it since and may have removed it.
bool isStillHead(LedgerReader& reader, CheckpointId checkpoint)
{
    const auto rows = reader.checkpoints();
    return !rows.ok() || std::any_of(rows.value().begin(), rows.value().end(), [checkpoint](const auto& row) {
        return row.id == checkpoint && row.head && !row.removed;
    });
}

/// What a resume takes beside the newest weights. A run in training may have gone on from it, or removed it, meanwhile.
Status addProblemsOfStates(
    const RunPaths& paths, const RunFile& file, LedgerReader& ledger, std::vector<Message>& problems)
{
    FURROW_TRY_ASSIGN(const auto states, keptStates(ledger, file.config));
    for (const auto& state : states) {
        const auto verdict = verifyKeptState(paths, file.runId, state);
        if (verdict.ok())
            continue;
        FURROW_TRY_ASSIGN(const auto now, keptStates(ledger, file.config));
        if (std::any_of(now.begin(), now.end(), [&](const auto& one) { return one.row.id == state.row.id; }))
            problems.push_back(verdict.error().message + " " + waysPastState(paths, verdict.error()));
    }
    return {};
}

/// Manifests that prove what older checkpoints trained and are gone. The run goes on without them.
void addMissingManifests(const RunPaths& paths, const CheckpointRows& rows, std::vector<Message>& problems)
{
    if (!isTaken(paths.checkpointsFolder())) // with all of them, which is said of the newest
        return;
    const auto isGone = [&paths](const SupervisorLedger::CheckpointRow& row) {
        return row.surviving && row.removed && isPlainName(row.record.folder)
            && !isTaken(paths.checkpointFolder(row.record.folder) / kManifestFile)
            && !isTaken(keptManifest(paths, row.record.folder));
    };
    const auto first = std::ranges::find_if(rows, isGone);
    const auto gone = std::ranges::count_if(rows, isGone);
    const std::string folder = utf8Text(paths.removedManifestsFolder());
    if (gone == 1)
        problems.push_back(sentence(
            "The manifest of checkpoint %1 is gone from %2: nothing but the tracker proves any more what it trained, and no repair can make it anew. Put it back from a copy of the run if you have one; it goes on without it.",
            { first->record.folder, folder }));
    if (gone > 1)
        problems.push_back(sentence(
            "The manifests of %1 checkpoints are gone from %2, that of %3 for one: nothing but the tracker proves any more what they trained, and no repair can make it anew. Put them back from a copy of the run if you have one; it goes on without them.",
            { Count(gone), folder, first->record.folder }));
}

} // namespace

Result<std::optional<WrongSettings>> wrongSettings(const RunFile& file, LedgerReader& reader)
{
    FURROW_TRY_ASSIGN(const auto attempts, reader.attempts());
    const auto wrong = attempts.empty() ? std::vector<ConfigProblem>() : wrongOverrides(attempts.back(), file.config);
    if (wrong.empty())
        return std::optional<WrongSettings>();
    return std::optional(WrongSettings { attempts.back().id, toString(wrong) });
}

Result<std::vector<Message>> checkpointProblems(const RunPaths& paths, const RunFile& file, WeightsVerdicts known)
{
    auto reader = openLedger(paths);
    FURROW_TRY_ASSIGN(auto rows,
        reader.ok() ? reader.value().checkpoints()
                    : Result<std::vector<SupervisorLedger::CheckpointRow>>(reader.error()));
    std::vector<Message> problems;
    FURROW_TRY_ASSIGN(auto older, olderTrackerInFull(paths, file.runId));
    if (!older.empty()) { // what is newest for it the keep policy may have removed since: taken forward it knows that
        problems.push_back(std::move(older));
        if (auto costs = costsOfRepair(file); !costs.empty())
            problems.push_back(std::move(costs));
        return problems;
    }
    if (const auto foreign = foreignLedger(paths.trackerSnapshot(), file.runId); !foreign.empty())
        problems.push_back(foreignRefusal(paths, foreign).message);
    FURROW_TRY_ASSIGN(auto lost, lostProof(paths, file, reader.value()));
    FURROW_TRY_ASSIGN(auto unclear, unclearLeftOut(paths, file.runId));
    if (!lost.empty())
        problems.push_back(std::move(lost));
    else if (!unclear.empty())
        problems.push_back(std::move(unclear));
    addMissingManifests(paths, rows, problems);
    FrozenVerdicts frozen;
    for (const auto& row : rows) {
        if (row.removed || !(row.head || row.damaged))
            continue;
        const auto& record = row.record;
        const std::pair key { record.folder, record.manifestSha256 };
        auto read = known.find(key);
        if (read == known.end())
            read = known
                       .emplace(key,
                           readCheckpoint(
                               paths.checkpointFolder(record.folder), record.manifestSha256, file.runId, &frozen))
                       .first;
        const Status& verdict = read->second.trainable();
        if (row.damaged && verdict.ok())
            problems.push_back(sentence(
                "Checkpoint %1 was marked damaged and is whole. The next resume takes it back where that is still possible.",
                { record.folder }));
        else if (row.head && !verdict.ok() && isStillHead(reader.value(), row.id))
            problems.push_back(withFullStop(verdict.error().message) + " " + waysPast(paths, verdict.error()));
    }
    if (reader.ok())
        FURROW_TRY(addProblemsOfStates(paths, file, reader.value(), problems));
    for (const auto& changed : notAsBegun(paths, file, reader.value()))
        problems.push_back(changed.message);
    if (const auto live = LedgerReader::checkIsLive(paths.tracker()); !live.ok())
        problems.push_back(live.error().message);
    FURROW_TRY_ASSIGN(const auto wrong, wrongSettings(file, reader.value()));
    if (wrong)
        problems.push_back(sentence(
            "The tracker keeps settings of attempt %1 that a resume cannot use: %2 'furrowctl doctor %3 --repair' sets them aside, so that those of run.json hold.",
            { std::to_string(wrong->attempt.value), wrong->why, utf8Text(paths.folder()) }));
    return problems;
}

Result<std::vector<Message>> checkpointProblems(const RunPaths& paths)
{
    FURROW_TRY_ASSIGN(auto file, readRunFile(paths));
    return checkpointProblems(paths, file, {});
}

} // namespace furrow
