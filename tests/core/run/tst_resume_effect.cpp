// What is said about a resume, at kills around the ends of epochs, against what then happens to each chunk.

#include "core/base/sentence.h"
#include "core/data/source/came_wrong.h"
#include "core/run/status/open_epochs.h"
#include "core/run/start/given_up_chunks.h"
#include "core/run/start/resume_effect.h"
#include "core/run/start/wrong_transfers.h"
#include "core/tracker/audit/audit.h"
#include "core/tracker/sqlite/database.h"
#include "core/tracker/trained_behind.h"
#include "tests/core/tracker/ledger_fixture.h"

#include <QElapsedTimer>
#include <QTest>

#include <set>

using namespace furrow;

namespace {

constexpr int kColumns = 12;
constexpr int kEpochs = 3;
constexpr int kKills = 50;
constexpr int kStepsBetweenCommits = 9; // so few that a checkpoint is rarely at the end of an epoch

bool whole(CheckpointId) { return true; }

/// A worker that claims ahead, as real ones do, one small act after the other.
struct Trainer {
    int number = 0;
    std::optional<WorkerLedger> ledger;
    std::vector<Claim> claims; ///< the first is in training, the other claimed ahead
    bool begun = false;
    std::vector<Part> trained; ///< not in a checkpoint yet
    int checkpoints = 0;

    bool claimAhead()
    {
        if (claims.size() >= 2)
            return false;
        if (auto claim = claimed(*ledger))
            claims.push_back(*claim);
        else
            return false;
        return true;
    }
    void commit(const std::string& run)
    {
        good(ledger->commit(
                 record(number, run + "-r" + std::to_string(number) + "-" + std::to_string(checkpoints++)), trained),
            "commit");
        trained.clear();
    }
    /// False when there is nothing to do.
    bool act(int step, const std::string& run)
    {
        if (step % kStepsBetweenCommits == 0 && !trained.empty()) {
            commit(run);
            return true;
        }
        if (claimAhead())
            return true;
        if (claims.empty()) {
            if (trained.empty())
                return false;
            commit(run);
            return true;
        }
        if (!begun) {
            good(ledger->begin(claims.front()), "begin");
            begun = true;
            return true;
        }
        good(ledger->finish(claims.front(), trainedAll(claims.front())), "finish");
        for (const Part& part : partsOf(claims.front()))
            trained.push_back(part);
        claims.erase(claims.begin());
        begun = false;
        return true;
    }
};

/// Two workers over three short epochs, stopped dead after a number of acts.
struct Killed {
    Field field { StoppingRules { .epochs = kEpochs } };
    std::vector<Trainer> trainers;
    int attempts = 0;

    explicit Killed(int acts)
    {
        field.fill(1, kColumns);
        start();
        train(acts);
    }
    void start()
    {
        trainers.clear();
        for (int i = 0; i < 2; ++i)
            trainers.push_back({ i, field.worker(i), {}, false, {}, 0 });
        ++attempts;
    }
    /// @return whether nothing was left to do before
    bool train(int acts)
    {
        auto supervisor = field.supervisor();
        const std::string run = "a" + std::to_string(attempts);
        for (int step = 1, idle = 0; step <= acts; ++step) {
            idle = trainers[static_cast<std::size_t>(step % 2)].act(step, run) ? 0 : idle + 1;
            good(supervisor.advance(), "advance");
            if (idle > 4)
                return true;
        }
        return false;
    }
    ResumeEffect effect(std::optional<CheckpointId> goBackTo = std::nullopt)
    {
        auto reader = field.reader();
        return good(resumeEffect(reader, goBackTo, { whole }), "effect");
    }
    std::vector<ClaimRow> history() { return good(field.reader().claimsSince(0, 100'000), "claims"); }
    std::map<ChunkId, ChunkState> states()
    {
        std::map<ChunkId, ChunkState> found;
        auto reader = field.reader();
        for (const EpochRow& epoch : good(reader.epochs()))
            for (const ChunkCell& cell : good(reader.cells(epoch.epoch)))
                found[cell.id] = cell.state;
        return found;
    }
    /// As recovery does.
    void recover(std::optional<CheckpointId> goBackTo)
    {
        auto supervisor = field.supervisor();
        for (const auto& live : good(supervisor.live()))
            good(supervisor.revoke(live.incarnation, "its supervisor was gone"), "revoke");
        if (goBackTo)
            good(supervisor.goBackTo(*goBackTo), "go back");
    }
    /// The oldest that the weights grew from; nothing when there is none.
    std::optional<CheckpointId> oldest()
    {
        for (const auto& row : good(field.reader().checkpoints()))
            if (row.surviving)
                return row.id;
        return std::nullopt;
    }
};

bool hasBegun(const ClaimRow& claim) { return claim.startedWallNs != 0; }

std::set<std::int64_t> begunIn(const std::vector<ClaimRow>& claims, std::int64_t after, std::int64_t upTo)
{
    std::set<std::int64_t> chunks;
    for (const ClaimRow& claim : claims)
        if (claim.claimId > after && claim.claimId <= upTo && hasBegun(claim))
            chunks.insert(claim.chunk.value);
    return chunks;
}

QByteArray names(const std::set<std::int64_t>& chunks)
{
    QByteArray text;
    for (const std::int64_t chunk : chunks)
        text += QByteArray::fromStdString(toString(ChunkId { chunk })) + "; ";
    return text;
}

int actsOfAnEpoch()
{
    return kColumns * 3; // claim, begin, finish, without commits
}

/// A chunk of which a checkpoint has four windows of ten, and whose worker is gone.
struct PartlyTrainedChunk {
    ChunkId chunk;
    CheckpointId checkpoint;
};
PartlyTrainedChunk trainPartly(Field& field, int blocks = 1)
{
    field.fill(blocks, 2);
    auto worker = field.worker(0);
    const auto claim = claimed(worker);
    good(worker.begin(*claim));
    good(worker.finish(*claim, trainedRange(0, 4, 1, 2), true));
    const Part part { claim->chunk, { 0, 4 } };
    const auto checkpoint = good(worker.commit(record(0, "c1"), { &part, 1 }));
    (void)good(field.supervisor().revoke(field.ids[0], "ended"));
    return { claim->chunk, checkpoint };
}

} // namespace

class TestResumeEffect : public QObject {
    Q_OBJECT

private Q_SLOTS:
    /// With two epochs open it said "no chunk is trained again" and 28 were: it had looked at the newest one only.
    void whatIsSaidOfAResumeIsWhatHappensToEachChunk_data()
    {
        QTest::addColumn<int>("acts");
        QTest::addColumn<bool>("older");
        for (int i = 0; i < kKills; ++i)
            QTest::addRow("after %d acts", actsOfAnEpoch() - 6 + i) << actsOfAnEpoch() - 6 + i << (i % 5 == 4);
    }
    void whatIsSaidOfAResumeIsWhatHappensToEachChunk()
    {
        QFETCH(int, acts);
        QFETCH(bool, older);
        Killed run(acts);
        const auto goBackTo = older ? run.oldest() : std::nullopt;
        const auto said = run.effect(goBackTo);
        twoOpen_ += run.effect().epochs.size() > 1 ? 1 : 0;
        const auto before = run.history();
        const std::int64_t lastClaim = before.empty() ? 0 : before.back().claimId;

        run.recover(goBackTo);
        const auto after = run.effect();
        QCOMPARE(QString::fromStdString(effectSentence(after)),
            QString::fromStdString(effectSentence(said))); // what the supervisor logs
        const auto states = run.states();
        std::set<std::int64_t> saidAgain;
        std::set<std::int64_t> spoken;
        for (const auto& epoch : said.epochs)
            for (const ChunkCell& cell : epoch.cells) {
                const ChunkFate fate = said.fateOf(cell);
                const bool committed = states.at(cell.id) == ChunkState::Committed;
                spoken.insert(cell.id.value);
                QVERIFY2(committed == (fate == ChunkFate::Kept),
                    (toString(cell.id) + " is " + toString(states.at(cell.id))).c_str());
                if (fate == ChunkFate::Redo || fate == ChunkFate::Lost)
                    saidAgain.insert(cell.id.value);
            }
        for (const auto& [chunk, state] : states) // of epochs that nothing was said of, all is as it was
            QVERIFY2(spoken.contains(chunk.value) || state == ChunkState::Committed, toString(chunk).c_str());
        QCOMPARE(static_cast<std::int64_t>(saidAgain.size()), said.again());
        lostInOlder_ += said.epochs.size() > 1
                && std::any_of(saidAgain.begin(), saidAgain.end(),
                    [&](std::int64_t id) { return placeOf({ id }).epoch == said.epochs.front().epoch; })
            ? 1
            : 0;

        run.start();
        QVERIFY(run.train(2000));
        const auto all = run.history();
        std::set<std::int64_t> again;
        const auto first = begunIn(before, 0, lastClaim);
        for (const std::int64_t chunk : begunIn(all, lastClaim, all.back().claimId))
            if (first.contains(chunk))
                again.insert(chunk);
        QVERIFY2(again == saidAgain, "said: " + names(saidAgain) + "\nhappened: " + names(again));
        verifyClean(run.field);
    }
    void theKillsMetTwoOpenEpochsWithLostWorkInTheOlderOne()
    {
        QVERIFY2(twoOpen_ >= 10 && lostInOlder_ >= 5,
            qPrintable(QStringLiteral("%1 with two, %2 with lost work in the older").arg(twoOpen_).arg(lostInOlder_)));
    }

    /// After Kill the ledger has freed the work already: the dialog said 0, the map 20.
    void lostWorkStaysLostUntilItIsDoneAgain()
    {
        Killed run(actsOfAnEpoch());
        const auto before = run.effect()[ChunkFate::Lost];
        QVERIFY(before > 0);
        run.recover(std::nullopt);
        QCOMPARE(run.effect()[ChunkFate::Lost], before);
        auto reader = run.field.reader();
        std::int64_t counted = 0;
        for (const EpochRow& epoch : good(reader.epochs()))
            for (const ChunkCell& cell : good(reader.takenUpOnce(epoch.epoch)))
                counted += isWorkLost(cell) ? 1 : 0;
        QCOMPARE(counted, before);
        run.start();
        QVERIFY(run.train(2000));
        QCOMPARE(run.effect()[ChunkFate::Lost], 0);
    }

    /// The dry run said of chunks that a person had given up, by going back to an older checkpoint, that their weights
    /// had died.
    void chunksThatWereGivenUpWereSaidToHaveDied()
    {
        Field field;
        field.fill(1, 4);
        auto worker = field.worker(0);
        const CheckpointId first = trainOne(worker, 0, "c1");
        (void)trainOne(worker, 0, "c2");
        const auto claim = claimed(worker);
        good(worker.begin(*claim));
        good(worker.finish(*claim, trainedAll(*claim, 11)));
        auto supervisor = field.supervisor();
        (void)good(supervisor.revoke(field.ids[0], "SIGKILL"));
        good(supervisor.goBackTo(first));
        auto reader = field.reader();
        const auto effect = good(resumeEffect(reader, std::nullopt, { whole }));
        QCOMPARE(effect[ChunkFate::Lost], 2);
        const GivenUpChunks givenUp = good(givenUpChunks(effect, reader));
        QCOMPARE(givenUp.sum(), 1);
        QCOMPARE(givenUp.wentBack, 1);
    }

    /// The dry run said of chunks of a damaged checkpoint that the run had perhaps gone back: both causes were one.
    void whatDamageTookWasNotToldFromWhatWasGoneBackFrom()
    {
        Field field;
        field.fill(1, 4);
        auto worker = field.worker(0);
        const CheckpointId first = trainOne(worker, 0, "c1");
        const CheckpointId second = trainOne(worker, 0, "c2");
        (void)trainOne(worker, 0, "c3");
        auto supervisor = field.supervisor();
        (void)good(supervisor.revoke(field.ids[0], "ended"));
        (void)good(supervisor.goBackTo(second));
        (void)good(supervisor.markDamaged(second, "bit rot"));
        auto reader = field.reader();
        const auto effect = good(resumeEffect(reader, std::nullopt, { whole }));
        const GivenUpChunks givenUp = good(givenUpChunks(effect, reader));
        QCOMPARE(givenUp.wentBack, 1);
        QCOMPARE(givenUp.damaged, 1);
        QCOMPARE(givenUp.now, 0);
        const auto none
            = good(resumeEffect(reader, std::nullopt, { [first](CheckpointId id) { return id != first; } }));
        QCOMPARE(good(givenUpChunks(none, reader)).sum(), 2); // its committed chunk is ChunkFate::Redo
    }

    /// The tracker was asked once for each lost chunk: behind many, a dry run seemed to hang.
    void eachLostChunkWasAskedForByItself()
    {
        Field field;
        field.fill(20, 1000);
        auto worker = field.worker(0);
        const CheckpointId first = trainOne(worker, 0, "c1");
        (void)trainOne(worker, 0, "c2");
        auto supervisor = field.supervisor();
        (void)good(supervisor.revoke(field.ids[0], "ended"));
        (void)good(supervisor.goBackTo(first));
        {
            auto db = good(Database::open(field.tracker, {})); // as the second chunk, so all others
            db.script(
                "INSERT INTO claim (id, chunk, incarnation, outcome, claimed_wall, started_wall, ended_wall, ranges, done, position_tokens, opened_seq, cause)"
                " SELECT k.id, k.id, c.incarnation, c.outcome, c.claimed_wall, c.started_wall, c.ended_wall, c.ranges, c.done, c.position_tokens, c.opened_seq, c.cause"
                " FROM chunk k, claim c WHERE c.id=(SELECT max(id) FROM claim) AND k.times_trained=0;"
                "INSERT INTO part (claim, first, past, chunk, checkpoint, alive)"
                " SELECT k.id, p.first, p.past, k.id, p.checkpoint, 0 FROM chunk k, part p WHERE p.alive=0 AND k.times_trained=0;"
                "UPDATE checkpoint SET last_claim=(SELECT max(id) FROM claim) WHERE surviving=0;"
                "UPDATE chunk SET times_trained=1, times_lost=1 WHERE times_trained=0;");
            good(db.takeStatus());
        }
        auto reader = field.reader();
        const auto effect = good(resumeEffect(reader, std::nullopt, { whole }));
        QCOMPARE(effect[ChunkFate::Lost], 19'999);
        QElapsedTimer timer;
        timer.start();
        QCOMPARE(good(givenUpChunks(effect, reader)).wentBack, 19'999);
        QVERIFY2(timer.elapsed() < 1000, qPrintable(QStringLiteral("%1 ms").arg(timer.elapsed())));
    }

    /// "All of the epochs before epoch 2 is kept" of one epoch.
    void oneEpochBeforeWasCalledAllOfTheEpochs()
    {
        ResumeEffect effect;
        effect.epochs.push_back({ 1, {} });
        const auto says
            = [&effect](const char* words) { return effectSentence(effect).find(words) != std::string::npos; };
        QVERIFY2(says("All of epoch 1 is kept."), effectSentence(effect).c_str());
        effect.epochs.front().epoch = 2;
        QVERIFY2(says("All epochs before epoch 3 are kept."), effectSentence(effect).c_str());
    }

    /// The console called a chunk free of which a checkpoint had four windows of ten, and the dry run counted it among
    /// those of which nothing is trained.
    void aPartlyTrainedChunkWasCalledFree()
    {
        Field field;
        const auto partly = trainPartly(field);
        auto reader = field.reader();
        EpochRow epoch = good(reader.epochs()).at(0);
        const auto cells = good(reader.takenUpOnce(0));
        QCOMPARE(cells.size(), std::size_t(1));
        QVERIFY(isPartlyTrained(cells[0]));
        QVERIFY(cells[0].id == partly.chunk);
        QCOMPARE(cells[0].covered, 4);
        for (const ChunkCell& cell : cells)
            countApart(epoch, cell, 0);
        QCOMPARE(epoch.partly.sum(), 1);
        QCOMPARE(epoch.partly.samplesDone * 10, epoch.partly.samples * 4);
        QCOMPARE(epoch.lost.sum(), 0);
        QCOMPARE(countedOnce(epoch)[ChunkState::Free], 1);
        const auto effect = good(resumeEffect(reader, std::nullopt, { whole }));
        QCOMPARE(effect[ChunkFate::Partly], 1);
        QCOMPARE(effect[ChunkFate::Free], 1);
        QCOMPARE(effect.again(), 0);
        QVERIFY2(effectSentence(effect).find("nothing of these is trained again") != std::string::npos,
            effectSentence(effect).c_str());
    }

    /// Status, inspect and audit called all of it left out, though a checkpoint had four windows of ten; the card of a
    /// model counted it twice, and its samples not at all.
    void aPartlyTrainedChunkThatWasLeftOutCountedAsUntrained()
    {
        Field field;
        const auto partly = trainPartly(field);
        good(field.supervisor().exclude({ &partly.chunk, 1 }, "left out by hand"));
        auto reader = field.reader();
        const std::int64_t samples = Field::kRows - 5;
        const std::int64_t done = samples * 4 / 10;
        const auto out = good(reader.leftOut(ChunkState::Excluded, 0));
        QCOMPARE(out.partly.chunks, 1);
        QCOMPARE(out.partly.samplesDone, done);
        QCOMPARE(out.partly.samples, samples);
        QCOMPARE(out.samples, samples - done);
        EpochRow epoch = good(reader.epochs()).at(0);
        for (const ChunkCell& cell : good(reader.cells(0)))
            countApart(epoch, cell, 0);
        QCOMPARE(epoch.partlyLeftOut.samplesDone, done);
        QCOMPARE(epoch.samplesExcluded, samples - done);
        const auto effect = good(resumeEffect(reader, std::nullopt, { whole }));
        QCOMPARE(effect.keptOfLeftOut().samplesDone, done);
        QVERIFY2(effectSentence(effect).find("1 of the chunks that are left out (14 of their 35 samples)")
                != std::string::npos,
            effectSentence(effect).c_str());
        const auto card = good(trainedEpochs(field.tracker, partly.checkpoint)).at(0);
        QCOMPARE(card.partly, 1);
        QCOMPARE(card.leftOut, 0);
        QCOMPARE(card.samples, done);
        const auto audited = good(audit(field.tracker)).epochs.at(0);
        QCOMPARE(audited.rows.samples, done);
        QCOMPARE(audited.samplesKept, done);
    }

    /// Dry run and dialog said that they stay poisoned, and the resume tried them again.
    void whatIsTriedAgainWasCalledPoisoned()
    {
        Field field;
        const auto partly = trainPartly(field, 2);
        const std::int64_t cameWrong = placeOf(partly.chunk).block;
        auto feeder = field.feeder();
        good(feeder.setFailed(cameWrong,
            sentence("block %1 cannot be prepared: %2",
                { std::to_string(cameWrong),
                    sentence(kCameWrong, { "hf://o/n arrived with other bytes.", Count(5) }) })));
        good(feeder.setFailed(1 - cameWrong, "the page is damaged"));
        QCOMPARE(field.counts()[ChunkState::Poisoned], 4);
        auto reader = field.reader();
        const auto said = good(resumeEffect(reader, std::nullopt, { whole }));
        QCOMPARE(std::ssize(said.triedAgain), 2);
        QCOMPARE(said[ChunkFate::Poisoned], 2);
        QCOMPARE(said[ChunkFate::Partly], 1);
        QCOMPARE(said[ChunkFate::Free], 1);
        const auto without = good(resumeEffect(reader, std::nullopt, { [](CheckpointId) { return false; } }));
        QCOMPARE(without.again(), 1); // the part that only its checkpoint had

        auto supervisor = field.supervisor();
        good(retryWrongTransfers(RunPaths(field.tracker.parent_path()), supervisor));
        QCOMPARE(field.counts()[ChunkState::Poisoned], 2);
        const auto happened = good(resumeEffect(reader, std::nullopt, { whole }));
        QVERIFY(happened.byFate == said.byFate);
        QVERIFY(happened.triedAgain.empty());
        QCOMPARE(effectSentence(happened).text(), effectSentence(said).text());
        verifyClean(field);
    }

    /// "It keeps 2 chunks", of which one had no step that was finite, and "14 of its 35 samples are kept" where the
    /// weights had 7 of 28 and 7 were left out.
    void whatWasLeftOutWasCalledKept()
    {
        Field field;
        field.fill(1, 4);
        auto worker = field.worker(0);
        const auto none = claimed(worker);
        ChunkOutcome skipped;
        skipped.skipped = none->remaining;
        good(worker.begin(*none));
        good(worker.finish(*none, skipped));
        (void)trainOne(worker, 0, "c1");
        const auto partly = claimed(worker);
        good(worker.begin(*partly));
        ChunkOutcome some = trainedRange(0, 2, 6, 1);
        some.skipped = { { 2, 4 } };
        good(worker.finish(*partly, some, true));
        const Part part { partly->chunk, { 0, 2 } };
        good(worker.commit(record(0, "c2"), { &part, 1 }));
        (void)good(field.supervisor().revoke(field.ids[0], "ended"));
        auto reader = field.reader();
        const auto effect = good(resumeEffect(reader, std::nullopt, { whole }));
        QCOMPARE(effect[ChunkFate::Kept], 2);
        QCOMPARE(effect.keptUntrained(), 1);
        QCOMPARE(effect.keptUntrained(0), 1);
        const auto parts = effect.keptOfPartly();
        QCOMPARE(parts.samplesDone, 7);
        QCOMPARE(parts.samples, 28);
        QCOMPARE(parts.samplesLeftOut, 7);
        for (const char* words : { "It keeps 2 chunks", "1 of the kept chunks is left out by name",
                 "7 of its 28 samples", "their steps were not finite: 7." })
            QVERIFY2(effectSentence(effect).find(words) != std::string::npos, effectSentence(effect).c_str());
        const auto without = good(resumeEffect(reader, std::nullopt, { [](CheckpointId) { return false; } }));
        QCOMPARE(without.keptUntrained(), 0); // it is tried again with the others
        verifyClean(field);
    }

    /// Its only checkpoint is damaged: what that had of it is lost, said before and counted so after.
    void theLostPartOfAChunkWasNoLostWork()
    {
        Field field;
        const auto partly = trainPartly(field);
        auto reader = field.reader();
        const auto said = good(resumeEffect(reader, std::nullopt, { [](CheckpointId) { return false; } }));
        QCOMPARE(said[ChunkFate::Lost], 1);
        QCOMPARE(said[ChunkFate::Partly], 0);
        auto supervisor = field.supervisor();
        (void)good(supervisor.markDamaged(partly.checkpoint, "bit rot"));
        QVERIFY(isWorkLost(good(reader.cell(partly.chunk))));
        (void)good(supervisor.takeBack(partly.checkpoint));
        QVERIFY(isPartlyTrained(good(reader.cell(partly.chunk))));
        verifyClean(field);
    }

    /// The dialog kept the part of a chunk that the chosen checkpoint does not have; the dry run had it trained again.
    void anOlderCheckpointWasWeighedAsThePlainResume()
    {
        Field field;
        field.fill(1, 2);
        auto worker = field.worker(0);
        const auto first = claimed(worker);
        good(worker.begin(*first));
        good(worker.finish(*first, trainedAll(*first)));
        const auto older = good(worker.commit(record(0, "c1"), partsOf(*first)));
        const auto second = claimed(worker);
        good(worker.begin(*second));
        good(worker.finish(*second, trainedRange(0, 4, 1, 2), true));
        const Part part { second->chunk, { 0, 4 } };
        good(worker.commit(record(0, "c2"), { &part, 1 }));
        (void)good(field.supervisor().revoke(field.ids[0], "ended"));
        auto reader = field.reader();
        const auto plain = good(resumeEffect(reader, std::nullopt, { whole }));
        QCOMPARE(plain[ChunkFate::Partly], 1);
        const auto weights = good(weightsAfterResume(reader, older, { whole }));
        const auto derived = plain.whenLeaving(weights.redo, weights.partsLost, weights.staying);
        const auto asked = good(resumeEffect(reader, older, { whole }));
        QVERIFY(derived.byFate == asked.byFate);
        QCOMPARE(derived[ChunkFate::Lost], 1);
        QCOMPARE(derived[ChunkFate::Partly], 0);
        QCOMPARE(effectSentence(derived).text(), effectSentence(asked).text());
        QCOMPARE(plain.againWhenLeaving(weights.redo, weights.partsLost), asked.again());
        QCOMPARE(derived.again(), asked.again());
    }

    /// "It keeps 18 chunks and trains 12 again" as a whole, where the checkpoint that was gone back to had a part of
    /// two of them and only the rest was trained: dry run, dialog and status said nothing of it.
    void whatTheOlderCheckpointHasOfAChunkWasNotSaid_data()
    {
        QTest::addColumn<int>("until"); // windows that the newer checkpoint has of the chunk
        QTest::addColumn<int>("redo");
        QTest::newRow("committed") << 10 << 1;
        QTest::newRow("in part") << 7 << 0;
    }
    void whatTheOlderCheckpointHasOfAChunkWasNotSaid()
    {
        QFETCH(int, until);
        QFETCH(int, redo);
        Field field;
        const auto older = trainPartly(field);
        auto worker = field.worker(0);
        const auto rest = claimed(worker);
        QVERIFY(rest->chunk == older.chunk);
        good(worker.begin(*rest));
        good(worker.finish(*rest, trainedRange(4, until, 1, 3), until < 10));
        const Part part { rest->chunk, { 4, until } };
        good(worker.commit(record(0, "c2"), { &part, 1 }));
        auto supervisor = field.supervisor();
        (void)good(supervisor.revoke(field.ids[0], "ended"));
        auto reader = field.reader();
        const auto plain = good(resumeEffect(reader, std::nullopt, { whole }));
        const auto said = good(resumeEffect(reader, older.checkpoint, { whole }));
        QCOMPARE(plain.keptOfAgain().chunks, 0);
        QCOMPARE(said.again(), 1);
        QCOMPARE(said[ChunkFate::Redo], redo);
        QCOMPARE(said.keptOfRedo().chunks, redo);
        QCOMPARE(said.keptOfAgain().chunks, 1);
        QCOMPARE(said.keptOfAgain().samplesDone, 14);
        QCOMPARE(said.keptOfAgain().samples, 35);
        QCOMPARE(said.coveredThen(said.epochs.at(0).cells.at(0)), 4);
        const auto derived = plain.whenLeaving(said.redo, said.partsLost, said.staying);
        QCOMPARE(effectSentence(derived).text(), effectSentence(said).text());
        QVERIFY2(effectSentence(said).find("Checkpoints have a part of 1 of these (14 of their 35 samples)")
                != std::string::npos,
            effectSentence(said).c_str());

        (void)good(supervisor.goBackTo(older.checkpoint));
        const auto happened = good(resumeEffect(reader, std::nullopt, { whole }));
        QCOMPARE(effectSentence(happened).text(), effectSentence(said).text());
        EpochRow epoch = good(reader.epochs()).at(0);
        for (const ChunkCell& cell : good(reader.takenUpOnce(0)))
            countApart(epoch, cell, 0);
        QCOMPARE(epoch.lost.sum(), 1);
        QCOMPARE(epoch.lost.kept.chunks, 1);
        QCOMPARE(epoch.lost.kept.samplesDone, 14);
        QCOMPARE(epoch.partly.sum(), 0);
        auto next = field.worker(0);
        const auto again = claimed(next);
        QVERIFY(again->remaining == (std::vector<WindowRange> { { 4, 10 } }));
        verifyClean(field);
    }

    /// Two rules counted it: a part of a chunk that was left out since counted in one, chunks of an epoch that an older
    /// checkpoint opens again were missing in the other.
    void whatIsTrainedAgainWasCountedInTwoWays()
    {
        const auto partOf = [](int column, ChunkState state) {
            ChunkCell cell;
            cell.id = chunkIdOf({ 1, 0, column });
            cell.column = column;
            cell.state = state;
            cell.windows = 10;
            cell.covered = 4;
            return cell;
        };
        ResumeEffect plain;
        plain.epochs = { { 1, { partOf(0, ChunkState::Free), partOf(1, ChunkState::Excluded) } } };
        const std::vector<ChunkId> closed { chunkIdOf({ 0, 0, 0 }) }; // of the epoch before, which is complete
        const std::vector<ChunkId> parts { chunkIdOf({ 1, 0, 0 }), chunkIdOf({ 1, 0, 1 }) };
        QCOMPARE(plain.againWhenLeaving(closed, parts), 2);
        const ResumeEffect then = plain.whenLeaving(closed, parts, {});
        QCOMPARE(then.again(), 2);
        QVERIFY2(effectSentence(then).find("trains 2 again: 1 of epoch 1, 1 of epoch 2") != std::string::npos,
            effectSentence(then).c_str());
    }

    /// A chunk was lost, taken up again and left in the middle with a checkpoint: "work lost" for ever, though nothing
    /// of it was to be done again.
    void aChunkOnceLostStayedLostAfterAPartOfItWasSaved()
    {
        Field field;
        field.fill(1, 2);
        auto first = field.worker(0);
        const auto lost = claimed(first);
        good(first.begin(*lost));
        auto supervisor = field.supervisor();
        (void)good(supervisor.revoke(field.ids[0], "killed"));
        auto reader = field.reader();
        QVERIFY(isWorkLost(good(reader.cell(lost->chunk))));
        auto second = field.worker(1);
        const auto claim = claimed(second);
        QVERIFY(claim->chunk == lost->chunk);
        good(second.begin(*claim));
        good(second.finish(*claim, trainedRange(0, 4, 1, 2), true));
        const Part part { claim->chunk, { 0, 4 } };
        const auto checkpoint = good(second.commit(record(1, "c1"), { &part, 1 }));
        (void)good(supervisor.revoke(field.ids[1], "ended"));
        const auto cell = good(reader.cell(lost->chunk));
        QCOMPARE(cell.timesLost, 1);
        QVERIFY(isPartlyTrained(cell) && !isWorkLost(cell));
        (void)good(supervisor.markDamaged(checkpoint, "bit rot"));
        QVERIFY(isWorkLost(good(reader.cell(lost->chunk))));
        verifyClean(field);
    }

    /// "free 293" while both workers trained: the counts were of the newest epoch.
    void countsOfTheEpochAreOfAllOpenOnes()
    {
        int seen = 0;
        for (int acts = actsOfAnEpoch() - 6; acts < actsOfAnEpoch() + 20; ++acts) {
            Killed run(acts);
            const auto epochs = good(run.field.reader().epochs());
            const auto shown = shownEpochs(epochs);
            QVERIFY(shown.has_value());
            if (shown->count() < 2)
                continue;
            ++seen;
            QCOMPARE(shown->together.chunks.sum(), shown->count() * kColumns);
            QCOMPARE(shown->together.blockCount.value_or(0), shown->count());
            QCOMPARE(shown->together.chunks[ChunkState::Committed],
                epochs[0].chunks[ChunkState::Committed] + epochs[1].chunks[ChunkState::Committed]);
            QCOMPARE(shown->name(), std::string("epochs 1 and 2"));
        }
        QVERIFY(seen > 0);
    }

private:
    int twoOpen_ = 0;
    int lostInOlder_ = 0;
};

QTEST_GUILESS_MAIN(TestResumeEffect)
#include "tst_resume_effect.moc"
