#include "core/run/status/run_status.h"

#include "core/base/clock.h"
#include "core/config/message_json.h"
#include "core/run/status/telling_workers.h"
#include "core/tracker/order.h"

#include <nlohmann/json.hpp>

#include <cmath>

namespace furrow {

namespace {

nlohmann::json number(double value) { return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(nullptr); }

nlohmann::json workerJson(const WorkerStatus& w)
{
    return { { "worker", w.worker }, { "replica", w.replica },
        { "pid", w.pid == 0 ? nlohmann::json(nullptr) : nlohmann::json(w.pid) }, { "alive", w.alive },
        { "device", w.device }, { "device_name", w.deviceName }, { "phase", nameOf(w.phase) },
        { "end_cause", w.endCause }, { "end_message", toJson(w.endCause) }, { "last_death", w.lastDeath },
        { "restarts", w.restarts }, { "step", w.step }, { "tokens", w.tokens }, { "loss", number(w.loss) },
        { "loss_lost", w.lossIsGone },
        { "tokens_per_s", w.alive ? nlohmann::json(w.tokensPerSecond) : nlohmann::json(nullptr) },
        { "block", w.chunkBlock }, { "chunk", w.chunkColumn }, { "chunk_fraction", w.chunkFraction },
        { "seconds_since_progress", // 0: nobody knows, as of a snapshot
            w.alive && w.secondsSinceProgress != 0 ? nlohmann::json(w.secondsSinceProgress) : nlohmann::json(nullptr) },
        { "memory", w.memory ? toJson(*w.memory) : nlohmann::json(nullptr) } };
}

nlohmann::json evaluationJson(const HeldOutLoss& e)
{
    const auto ofPairs
        = [&e](const nlohmann::json& value) { return e.pairs.pairs > 0 ? value : nlohmann::json(nullptr); };
    return { { "loss", number(e.loss) }, { "step", e.step }, { "tokens", e.text.arePairs ? 0 : e.text.labels },
        { "pairs", e.text.arePairs ? e.text.labels : 0 }, { "margin", ofPairs(number(e.pairs.margin)) },
        { "preferred", ofPairs(number(e.pairs.preferred)) }, { "also_trained", e.text.alsoTrained },
        { "replica", e.merged ? nlohmann::json(nullptr) : nlohmann::json(e.replica) }, { "merged", e.merged },
        { "weights", e.whose },
        { "checkpoint", e.checkpoint == 0 ? nlohmann::json(nullptr) : nlohmann::json(e.checkpoint) },
        { "newest_weights", !e.superseded },
        { "before_end_of_epoch", e.beforeEndOf ? nlohmann::json(*e.beforeEndOf + 1) : nlohmann::json(nullptr) } };
}

/// With the names that `furrowctl eval --tasks` has.
nlohmann::json privacyJson(const PrivacySpent& spent)
{
    return { { "epsilon_at_most", number(spent.epsilon) }, { "delta", spent.delta },
        { "participations_at_most",
            spent.notStated.empty() ? nlohmann::json(spent.participations) : nlohmann::json(nullptr) },
        { "not_stated", spent.notStated.empty() ? nlohmann::json(nullptr) : nlohmann::json(spent.notStated) },
        { "target_epsilon", spent.targetEpsilon > 0 ? nlohmann::json(spent.targetEpsilon) : nlohmann::json(nullptr) },
        { "participations_allowed", spent.most > 0 ? nlohmann::json(spent.most) : nlohmann::json(nullptr) } };
}

nlohmann::json answersJson(const TaskAnswers& answers)
{
    nlohmann::json json { { "kind", answers.marks.kind() }, { "questions", answers.marks.questions },
        { "step", answers.step }, { "merged", answers.merged },
        { "replica", answers.merged ? nlohmann::json(nullptr) : nlohmann::json(answers.replica) } };
    for (const auto& [name, value] : namedMarks(answers.marks))
        json[name] = value;
    return json;
}

nlohmann::json causesJson(const LostCauses& causes)
{
    return { { "worker_ended", causes.died }, { "went_back", causes.wentBack },
        { "checkpoint_unusable", causes.damaged } };
}

nlohmann::json chunksJson(const EpochRow& epoch, const SkippedOfEpoch& skipped, const LostCauses& causes)
{
    nlohmann::json json;
    const ChunkCounts counts = countedOnce(epoch); // with `lost`, `partly_trained`, `trained_by_parent` and
                                                   // `claimed_by_gone` they add up to `total`
    for (int s = 0; s < kChunkStateCount; ++s)
        json[toString(static_cast<ChunkState>(s))] = counts[static_cast<ChunkState>(s)];
    json["excluded"] = epoch.excludedByName();
    json["trained_by_parent"] = epoch.toParent.chunks; // and left out here, as `furrowctl audit` has them
    json["claimed_by_gone"] = epoch.lost.released; // never begun; they are free again at the next attempt
    json["total"] = epoch.blockCount ? nlohmann::json(epoch.chunks.sum()) : nlohmann::json(nullptr);
    json["lost"] = epoch.lost.sum(); // their work died with its weights and will be done again
    json["lost_causes"] // null: the ledger does not tell
        = causes.sum() == epoch.lost.sum() ? causesJson(causes) : nlohmann::json(nullptr);
    json["lost_partly_kept"] = epoch.lost.kept.chunks; // of the lost ones: only the rest of them will be done again
    json["samples_of_lost_partly_kept"]
        = { { "done", epoch.lost.kept.samplesDone }, { "of", epoch.lost.kept.samples } };
    json["partly_trained"] = epoch.partly.sum(); // some of their samples are in checkpoints; only the rest is to come
    json["samples_of_partly_trained"] = { { "done", epoch.partly.samplesDone }, { "of", epoch.partly.samples },
        { "skipped", skipped.samplesOfPartly } };
    json["partly_left_out"] = epoch.partlyLeftOut.chunks; // of excluded and accepted ones: what is done stays
    json["samples_of_partly_left_out"]
        = { { "done", epoch.partlyLeftOut.samplesDone }, { "of", epoch.partlyLeftOut.samples } };
    json["committed_skipped"] = skipped.chunks; // of the committed ones: nothing of them is in the weights
    return json;
}

nlohmann::json samplesJson(const EpochRow& epoch)
{
    const auto& done = epoch.rowsCommitted;
    return { { "trained", epoch.samplesTrained() },
        { "skipped", samplesLeftOut(done) }, // both as `furrowctl audit` has them
        { "filtered", done.filtered }, { "failed", done.failed }, { "held_out", done.heldOut },
        { "duplicates", done.duplicates },
        { "total", epoch.blockCount ? nlohmann::json(epoch.rowsKnown.rows) : nlohmann::json(nullptr) } };
}

/// Of all rows that were read so far, trained or not.
nlohmann::json rowsJson(const EpochRow& epoch)
{
    const RowCounts& known = epoch.rowsKnown;
    return { { "failed", known.failed }, { "filtered", known.filtered }, { "held_out", known.heldOut },
        { "duplicates", known.duplicates }, { "excluded", epoch.samplesExcluded + epoch.unreadExcluded },
        { "accepted", epoch.samplesAccepted + epoch.unreadAccepted },
        { "trained_by_parent", epoch.toParent.samples + epoch.toParent.unread },
        { "to_train", known.samples - epoch.samplesExcluded - epoch.samplesAccepted - epoch.toParent.samples } };
}

nlohmann::json blocksJson(const EpochRow& epoch)
{
    return { { "visited", epoch.visitedBlocks }, { "completed", epoch.completedBlocks },
        { "left_out", epoch.leftOutBlocks }, // of the completed ones: no chunk of them is to be trained
        { "prepared", epoch.preparedBlocks },
        { "total", epoch.blockCount ? nlohmann::json(*epoch.blockCount) : nlohmann::json(nullptr) } };
}

/// Each open epoch by itself; the newest when none is open. People count epochs from 1.
nlohmann::json epochsJson(const RunStatus& s)
{
    auto skipped = s.skipped;
    auto causes = s.lostCauses;
    nlohmann::json json = nlohmann::json::array();
    for (const EpochRow& epoch : openEpochs(s.epochs))
        json.push_back({ { "epoch", epoch.epoch + 1 }, { "open", !epoch.closedWallNs }, { "blocks", blocksJson(epoch) },
            { "chunks", chunksJson(epoch, skipped[epoch.epoch], causes[epoch.epoch]) },
            { "samples", samplesJson(epoch) }, { "rows", rowsJson(epoch) } });
    return json;
}

/// `mixing`: see mixingScore; null while the number of blocks is not proven.
nlohmann::json orderJson(const RunConfig& config, const EpochRow& epoch)
{
    const OrderRule rule { static_cast<std::uint64_t>(config.seed), config.shuffleWindowBlocks, !config.shuffle,
        parseChunkName(config.startAt) };
    const auto blocks = epoch.blockCount.value_or(0);
    return { { "start_at", config.startAt.empty() ? nlohmann::json(nullptr) : nlohmann::json(config.startAt) },
        { "window_blocks", config.shuffle ? config.shuffleWindowBlocks : 0 },
        { "mixing",
            blocks == 0 ? nlohmann::json(nullptr)
                        : nlohmann::json(mixingScore(rule, epoch.epoch, blocks, epoch.chunks.sum() / blocks)) } };
}

/// With what came of it: `samples_trained` of all epochs that are kept in weights, `efficiency` = trained / fetched.
nlohmann::json readingJson(const RunStatus& status)
{
    nlohmann::json json = toJson(*status.reading);
    std::int64_t trained = 0;
    for (const auto& epoch : status.epochs)
        trained += epoch.samplesTrained();
    json["samples_trained"] = trained;
    const auto fetched = status.reading->samplesFetched;
    json["efficiency"] = fetched > 0 ? nlohmann::json(static_cast<double>(trained) / static_cast<double>(fetched))
                                     : nlohmann::json(nullptr);
    return json;
}

} // namespace

nlohmann::json toJson(const RunStatus& s)
{
    nlohmann::json json = { { "run", s.folder }, { "run_id", s.file.runId }, { "name", s.file.config.name },
        { "state", toString(s.state) },
        { "stop_reason",
            s.stopReason == StopReason::None ? nlohmann::json(nullptr) : nlohmann::json(toString(s.stopReason)) },
        { "stop_detail", s.stopDetail }, { "newest_checkpoint_wall_ns", s.newestCheckpointWallNs },
        { "marked_by_hand", s.markedByHand }, { "attempt", s.attempt },
        { "supervisor",
            { { "pid", s.supervisorPid == 0 ? nlohmann::json(nullptr) : nlohmann::json(s.supervisorPid) },
                { "alive", s.supervised }, { "stands_still", s.supervisorStandsStill } } },
        { "samples_per_block", s.file.samplesPerBlock }, { "samples_per_block_reason", s.file.samplesPerBlockReason },
        { "steps", s.steps }, { "tokens", s.tokens }, { "loss", number(s.loss) }, { "loss_workers", s.lossWorkers },
        { "loss_lost", s.lossIsGone }, { "loss_lost_workers", workersOfLostLoss(s.workers) },
        { "eval_loss", s.evaluation ? number(s.evaluation->loss) : nlohmann::json(nullptr) },
        { "tokens_per_s", isAnyAlive(s) ? nlohmann::json(s.tokensPerSecond) : nlohmann::json(nullptr) },
        { "active_seconds", s.activeSeconds }, { "checkpoints", s.checkpoints },
        { "keeps_epoch_open", s.keepsEpochOpen } };
    json["evaluation"] = s.evaluation ? evaluationJson(*s.evaluation) : nlohmann::json(nullptr);
    json["eval_tasks"] = s.answers ? answersJson(*s.answers) : nlohmann::json(nullptr);
    json["privacy"] = s.privacy ? privacyJson(*s.privacy) : nlohmann::json(nullptr);
    json["stop_message"] = toJson(s.stopDetail);
    json["hindrance"] = s.hindrance ? nlohmann::json(s.hindrance->sentence.text()) : nlohmann::json(nullptr);
    json["evidence"] = s.evidence;
    json["evidence_messages"] = nlohmann::json::array();
    for (const Message& one : s.evidence)
        json["evidence_messages"].push_back(toJson(one));
    json["poisoned_cause"] = s.poisonedCause;
    json["data_wait"] = s.dataWait ? nlohmann::json { { "why", s.dataWait->why },
        { "since_wall_ns", s.dataWait->sinceWallNs }, { "trains_on", s.dataWait->trainsOn } }
                                   : nlohmann::json(nullptr);
    json["left_out"] = nlohmann::json::array();
    for (const LeftOutPart& part : s.leftOut)
        json["left_out"].push_back(part.what);
    json["data_notes"] = { { "repeats", s.data.repeats }, { "invalid_utf8", s.data.invalidUtf8 },
        { "first_unreadable", s.data.firstUnreadable }, { "evaluation_text", s.file.evaluationNotes } };
    json["reading"] = s.reading ? readingJson(s) : nlohmann::json(nullptr);
    json["workers"] = nlohmann::json::array();
    for (const auto& w : s.workers)
        json["workers"].push_back(workerJson(w));
    json["epochs"] = epochsJson(s);
    if (const auto shown = shownEpochs(s)) { // sums over `epochs`
        const EpochRow& epoch = shown->together;
        json["epoch"] = shown->first + 1;
        json["last_epoch"] = shown->last + 1;
        json["blocks"] = blocksJson(epoch);
        json["chunks"] = chunksJson(epoch, sumOf(s.skipped, *shown), sumOf(s.lostCauses, *shown));
        json["samples"] = samplesJson(epoch);
        json["rows"] = rowsJson(epoch);
        json["order"] = orderJson(s.file.config, openEpochs(s.epochs).back());
    }
    return json;
}

} // namespace furrow
