#include "ledger_fixture.h"

#include <thread>

using namespace furrow;
using enum ChunkState;

/// Traps that other systems fell into and that no other test is named after; README.md beside this file says where each
/// of the 22 is tested.
class TestTraps : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void trap3_oneChunkOfABlockIsNotTheBlock()
    {
        Field field;
        field.fill(1, 25);
        auto worker = field.worker(0);
        trainOne(worker, 0, "c1");
        const auto epoch = good(field.reader().epochs()).front();
        QCOMPARE(epoch.visitedBlocks, 1);
        QCOMPARE(epoch.completedBlocks, 0);
        QVERIFY(!good(field.supervisor().advance()).epochClosed);
    }

    void trap14_newestIsByRowNotByName()
    {
        Field field;
        field.fill(1, 3);
        auto worker = field.worker(0);
        trainOne(worker, 0, "r0-9-zzz");
        const auto newest = trainOne(worker, 0, "r0-10-aaa"); // sorts before the other
        QVERIFY(newestHead(field, 0) == newest);
    }

    void trap2_everyChangeIsOneTransactionAmongManyWriters()
    {
        // Eight connections write the same few rows (counters of one block); none is lost.
        Field field;
        field.fill(1, 80);
        std::vector<std::jthread> threads;
        for (int w = 0; w < 8; ++w)
            threads.emplace_back([&field, w] {
                auto ledger = good(WorkerLedger::open(field.tracker, "run-1", systemClock()));
                good(ledger.start({ field.attempt, w, w, "cpu", "" }, 60));
                while (auto claim = claimed(ledger))
                    good(ledger.finish(*claim, trainedAll(*claim)));
            });
        threads.clear();
        QCOMPARE(field.counts()[Trained], 80);
        QCOMPARE(good(field.reader().totals()).steps, 400);
        verifyClean(field);
    }

    void trap13_lastShortChunkIsTrainedOnceAndNothingIsPadded()
    {
        Field field;
        NewBlock block;
        block.chunkRows = { Field::kRows, Field::kRows, 7 }; // the last one is short
        good(field.feeder().addBlocks({ &block, 1 }));
        auto chunks = Field::prepared(0, 3);
        chunks[2].rows = { 7, 7, 0, 0, 0, 0 };
        chunks[2].windows = 1;
        good(field.feeder().setPrepared(0, "file", "digest0", chunks));
        good(field.feeder().setLastBlockProven(1));
        auto one = field.worker(0);
        auto two = field.worker(1);
        trainOne(one, 0, "a");
        trainOne(two, 1, "b");
        trainOne(one, 0, "c");
        QVERIFY(good(field.supervisor().advance()).epochClosed);
        const auto report = good(audit(field.tracker));
        QVERIFY2(report.isClean(), auditText(report).c_str());
        QCOMPARE(report.epochs[0].rows.rows, 2 * Field::kRows + 7);
        QCOMPARE(report.epochs[0].duplicated + report.epochs[0].missing, 0);
    }

    void trap22_stepsAndTokensOfTheRunAreSumsOverWorkers()
    {
        Field field;
        field.fill(1, 6);
        for (int w = 0; w < 3; ++w) {
            auto worker = field.worker(w);
            trainOne(worker, w, "a" + std::to_string(w), 5);
            trainOne(worker, w, "b" + std::to_string(w), 7);
        }
        const auto totals = good(field.reader().totals());
        QCOMPARE(totals.steps, 3 * 12);
        QCOMPARE(totals.tokens, 6 * Field::kTokens);
    }
};

QTEST_GUILESS_MAIN(TestTraps)
#include "tst_traps.moc"
