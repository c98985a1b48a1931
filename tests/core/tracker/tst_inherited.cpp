#include "ledger_fixture.h"

#include "core/tracker/sqlite/database.h"
#include "core/tracker/trained_behind.h"

using namespace furrow;
using enum ChunkState;

/// What a run does with chunks that the weights it started from have seen.
class TestInherited : public QObject {
    Q_OBJECT

    /// Two blocks of three chunks. The parent trained columns 0 and 1 of block 0 and column 2 of block 1.
    static void startFrom(Field& field, Inherited mark,
        const std::map<std::int64_t, std::string>& columns = { { 0, "0-2" }, { 1, "2-3" } })
    {
        field.removeTracker();
        TrackerConfig config;
        config.runId = "run-1";
        config.linearOrder = true;
        config.inheritedColumns = columns;
        config.inherited = mark;
        StoppingRules rules;
        rules.epochs = 2;
        good(SupervisorLedger::create(field.tracker, config, rules));
        field.attempt = good(field.supervisor().beginAttempt(thisProcess(), "{}"));
    }

    /// Trains and commits whatever can be claimed; answers how many chunks that were.
    static int trainAll(Field& field, int worker, const std::string& folder, int atMost = 1000)
    {
        auto ledger = field.worker(worker);
        std::vector<Part> parts;
        int count = 0;
        const auto free = std::min<std::int64_t>(atMost, good(field.feeder().demand()).freeChunks);
        while (count < free) {
            const auto claim = claimed(ledger);
            good(ledger.finish(*claim, trainedAll(*claim)));
            const auto mine = partsOf(*claim);
            parts.insert(parts.end(), mine.begin(), mine.end());
            ++count;
        }
        auto row = record(worker, folder);
        if (const auto head = newestHead(field, worker); head.value != 0)
            row.parents = { head };
        good(ledger.commit(row, parts));
        good(field.supervisor().revoke(field.ids[worker], "the test goes on with another one"));
        return count;
    }

    /// Commits the next chunk without any of its windows: none of its steps is finite.
    static ChunkId skipNext(Field& field, const std::string& folder)
    {
        auto ledger = field.worker(0);
        const auto claim = claimed(ledger);
        ChunkOutcome outcome;
        outcome.skipped = claim->remaining;
        good(ledger.finish(*claim, outcome));
        auto row = record(0, folder);
        if (const auto head = newestHead(field, 0); head.value != 0)
            row.parents = { head };
        good(ledger.commit(row, {}));
        good(field.supervisor().revoke(field.ids[0], "the test goes on with another one"));
        return claim->chunk;
    }

private Q_SLOTS:
    void skippedChunksAreLeftOutOfTheFirstEpochOnly()
    {
        Field field;
        startFrom(field, Inherited::Skipped);
        field.fill(2, 3);
        QCOMPARE(field.counts()[Excluded], 3);
        QCOMPARE(trainAll(field, 0, "first"), 3);
        const auto advance = good(field.supervisor().advance());
        QVERIFY(advance.epochClosed);
        QVERIFY(advance.epochOpened);
        const auto epoch = good(audit(field.tracker)).epochs.at(0);
        QVERIFY(epoch.complete);
        QCOMPARE(epoch.committed, 3);
        QCOMPARE(epoch.skippedAsParents, 3);
        QCOMPARE(epoch.excluded, 0);
        QCOMPARE(trainAll(field, 1, "second"), 6);
        verifyClean(field);
    }

    void chunksTrainedAgainAreMarked()
    {
        Field field;
        startFrom(field, Inherited::Seen);
        field.fill(2, 3);
        QCOMPARE(trainAll(field, 0, "first"), 6);
        const auto report = good(audit(field.tracker));
        QCOMPARE(report.epochs.at(0).againAfterParent, 3);
        QCOMPARE(report.epochs.at(0).skippedAsParents, 0);
        QVERIFY(auditText(report).find("3 trained again") != std::string::npos);
        const auto cells = good(field.reader().cells(0));
        QCOMPARE(std::count_if(cells.begin(), cells.end(),
                     [](const ChunkCell& cell) { return cell.inherited == Inherited::Seen; }),
            3);
        verifyClean(field);
    }

    void whatAPersonLeftOutStaysLeftOut()
    {
        Field field;
        startFrom(field, Inherited::Skipped);
        auto block = Field::newBlock(0, 3);
        block.excluded = { 0 };
        const std::vector<NewBlock> known { block, Field::newBlock(1, 3) };
        good(field.feeder().addBlocks(known));
        field.fill(2, 3);
        QCOMPARE(trainAll(field, 0, "first"), 3);
        good(field.supervisor().advance());
        const auto report = good(audit(field.tracker));
        QCOMPARE(report.epochs.at(0).excluded, 1);
        QCOMPARE(report.epochs.at(0).skippedAsParents, 2);
        QCOMPARE(field.counts(1)[Excluded], 1);
        QCOMPARE(trainAll(field, 1, "second"), 5);
    }

    /// Status, dry run and card counted them as left out by name, and their samples as rows that are not trained.
    void whatTheParentTrainedCountedAsLeftOutByName()
    {
        Field field;
        startFrom(field, Inherited::Skipped);
        auto block = Field::newBlock(0, 3);
        block.excluded = { 0 };
        good(field.feeder().addBlocks({ &block, 1 }));
        auto next = Field::newBlock(1, 3);
        good(field.feeder().addBlocks({ &next, 1 }));
        const auto unread = good(field.reader().leftOut(Excluded, 0));
        QCOMPARE(unread.unread, Field::kRows);
        QCOMPARE(unread.toParent.unread, 2 * Field::kRows);
        field.fill(2, 3);
        const auto out = good(field.reader().leftOut(Excluded, 0));
        QCOMPARE(out.samples, Field::kRows - 5);
        QCOMPARE(out.unread, 0);
        QCOMPARE(out.toParent.chunks, 2);
        QCOMPARE(out.toParent.samples, 2 * (Field::kRows - 5));
        trainAll(field, 0, "rest");
        const auto epoch = good(trainedEpochs(field.tracker, newestHead(field, 0))).at(0);
        QCOMPARE(epoch.whole, 3);
        QCOMPARE(epoch.leftOut, 1);
        QCOMPARE(epoch.ofParent, 2);
        good(field.supervisor().advance());
        const auto later = good(field.reader().leftOut(Excluded, 1));
        QCOMPARE(later.samples, Field::kRows - 5);
        QCOMPARE(later.toParent.chunks, 0);
    }

    void columnsBehindTheBlockAreNothing()
    {
        Field field;
        startFrom(field, Inherited::Skipped, { { 0, "1-2000000000" }, { 7, "0-1" }, { 1, "nonsense" } });
        field.fill(2, 3);
        QCOMPARE(field.counts()[Excluded], 2);
    }

    void passesBehindACheckpointAreCounted()
    {
        Field field;
        startFrom(field, Inherited::Skipped, { { 0, "0-1" } });
        field.fill(2, 3);
        trainAll(field, 0, "two", 2);
        const auto first = good(trainedBehind(field.tracker, newestHead(field, 0)));
        QCOMPARE(first.chunks.size(), std::size_t(3)); // one of them in the parent run
        QCOMPARE(first.completePasses, 0);
        trainAll(field, 0, "rest");
        const auto second = good(trainedBehind(field.tracker, newestHead(field, 0)));
        QCOMPARE(second.chunks.size(), std::size_t(6));
        QCOMPARE(second.completePasses, 1);
        good(field.supervisor().advance());
        trainAll(field, 0, "one of the next", 1);
        const auto third = good(trainedBehind(field.tracker, newestHead(field, 0)));
        QCOMPARE(
            std::count_if(third.chunks.begin(), third.chunks.end(), [](const auto& chunk) { return chunk.times == 2; }),
            1);
        QCOMPARE(third.completePasses, 1);
    }

    void epochsBehindACheckpointAreCounted()
    {
        Field field;
        startFrom(field, Inherited::Skipped, { { 0, "0-1" } });
        field.fill(2, 3);
        trainAll(field, 0, "rest");
        const auto first = newestHead(field, 0);
        good(field.supervisor().advance());
        trainAll(field, 0, "two of the next", 2);
        const auto epochs = good(trainedEpochs(field.tracker, newestHead(field, 0)));
        QCOMPARE(epochs.size(), std::size_t(2));
        QCOMPARE(epochs[0].chunks, 6);
        QCOMPARE(epochs[0].whole, 5); // one of them in the parent run
        QCOMPARE(epochs[0].ofParent, 1);
        QCOMPARE(epochs[0].leftOut, 0); // nobody left it out by name
        QCOMPARE(epochs[0].samples, 5 * (Field::kRows - 5));
        QCOMPARE(epochs[1].whole, 2);
        QCOMPARE(epochs[1].leftOut, 0);
        QCOMPARE(good(trainedEpochs(field.tracker, first)).size(), std::size_t(1));
        good(Database::open(field.tracker, {})).run("UPDATE part SET past=past-1 WHERE claim=1");
        const auto partly = good(trainedEpochs(field.tracker, first)).at(0);
        QCOMPARE(partly.whole, 4);
        QCOMPARE(partly.partly, 1);
    }

    /// A chunk of which no step was finite was left out of the first epoch of a child run (parent_chunks=skip), as if
    /// the weights had it.
    void aChunkThatNoWeightsSawCountedAsTrained()
    {
        Field field;
        startFrom(field, Inherited::Nothing, {});
        field.fill(2, 3);
        const ChunkId skipped = skipNext(field, "skipped");
        trainAll(field, 0, "two", 2);
        const auto first = good(trainedBehind(field.tracker, newestHead(field, 0)));
        QCOMPARE(first.chunks.size(), std::size_t(2));
        QVERIFY(std::none_of(first.chunks.begin(), first.chunks.end(), [skipped](const auto& chunk) {
            return chunk.block == placeOf(skipped).block && chunk.column == placeOf(skipped).column;
        }));
        trainAll(field, 0, "rest");
        const auto second = good(trainedBehind(field.tracker, newestHead(field, 0)));
        QCOMPARE(second.chunks.size(), std::size_t(5));
        QCOMPARE(second.completePasses, 1); // it does not come again
        good(field.supervisor().advance());
        trainAll(field, 0, "two of the next", 2);
        const auto third = good(trainedBehind(field.tracker, newestHead(field, 0)));
        const auto isOfOpenPass = [](const auto& chunk) { return chunk.timesInOpenPasses > 0; };
        QCOMPARE(std::count_if(third.chunks.begin(), third.chunks.end(), isOfOpenPass), 2);
        skipNext(field, "skipped in the next");
        const auto fourth = good(trainedBehind(field.tracker, newestHead(field, 0)));
        QCOMPARE(std::count_if(fourth.chunks.begin(), fourth.chunks.end(), isOfOpenPass), 2);
    }

    /// The start line named the whole chunks that the start weights have; seven samples of one more were in them too,
    /// and were trained again in the same pass.
    void samplesOfAPartlyTrainedChunkWereInNoCount()
    {
        constexpr std::int64_t kSamples = Field::kRows - 5;
        Field field;
        startFrom(field, Inherited::Nothing, {});
        field.fill(2, 3);
        trainAll(field, 0, "two", 2);
        QCOMPARE(good(trainedBehind(field.tracker, newestHead(field, 0))).partlyChunks, 0);
        good(Database::open(field.tracker, {})).run("UPDATE part SET past=past-1 WHERE claim=1");
        const auto first = good(trainedBehind(field.tracker, newestHead(field, 0)));
        QCOMPARE(first.chunks.size(), std::size_t(1));
        QCOMPARE(first.partlyChunks, 1);
        QCOMPARE(first.partlySamples, kSamples * (Field::kWindows - 1) / Field::kWindows);
        good(Database::open(field.tracker, {})).run("UPDATE part SET skipped=1 WHERE claim=1");
        QCOMPARE(good(trainedBehind(field.tracker, newestHead(field, 0))).partlyChunks, 0); // in no weights
    }

    /// A chunk that the first pass has whole and the second one in part: a child goes on with the second one.
    void aPartOfALaterPassIsCountedWithThatPass()
    {
        Field field;
        startFrom(field, Inherited::Nothing, {});
        field.fill(2, 3);
        trainAll(field, 0, "all");
        good(field.supervisor().advance());
        trainAll(field, 0, "one of the next", 1);
        good(Database::open(field.tracker, {}))
            .run("UPDATE part SET past=past-1 WHERE claim=(SELECT max(claim) FROM part)");
        const auto behind = good(trainedBehind(field.tracker, newestHead(field, 0)));
        QCOMPARE(behind.completePasses, 1);
        QCOMPARE(behind.partlyChunks, 1);
    }

    void aPassIsNotOverBeforeTheEndIsKnown()
    {
        Field field;
        startFrom(field, Inherited::Nothing, {});
        field.fill(2, 3, false);
        trainAll(field, 0, "all");
        const auto behind = good(trainedBehind(field.tracker, newestHead(field, 0)));
        QCOMPARE(behind.chunks.size(), std::size_t(6));
        QCOMPARE(behind.completePasses, 0);
    }
};

QTEST_GUILESS_MAIN(TestInherited)
#include "tst_inherited.moc"
