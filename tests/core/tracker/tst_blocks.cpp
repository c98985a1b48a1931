#include "ledger_fixture.h"

#include "core/base/sentence.h"
#include "core/tracker/audit/audit.h"
#include "core/tracker/audit/recount.h"
#include "core/tracker/sqlite/database.h"

#include <algorithm>
#include <set>

using namespace furrow;
using enum ChunkState;

/// Blocks becoming known, prepared, evicted and proven to be the last.
class TestBlocks : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void addingBlocksAgainIsHarmless();
    void blocksBehindTheProvenEndAreRefused();
    void unpreparedChunksCannotBeClaimed();
    void wantedBlocksComeGroupByGroupInSourceOrder();
    void evictedBlockIsWantedAgain();
    void askingForTheDemandDoesNotLookAtEveryBlock();
    void otherContentIsCorruptAndStopsClaims();
    void chunkWithNothingToTrainIsCommittedAtOnce();
    void aRowThatWasChangedWhileItsBlockWasAwayWasTrainedByIt();
    void whatWasFoundBesidesIsKeptOfTheFirstPreparation();
    void rowsThatDoNotAddUpAreRefused();
    void claimsWaitForDataUntilTheEndIsProven();
};

void TestBlocks::addingBlocksAgainIsHarmless()
{
    Field field;
    field.fill(3, 4, false);
    field.fill(4, 4, true); // a feeder that crashed begins again
    QCOMPARE(field.counts().sum(), 16);
    QCOMPARE(good(field.feeder().demand()).knownBlocks, 4);
    QVERIFY(good(audit(field.tracker)).isClean());
}

void TestBlocks::blocksBehindTheProvenEndAreRefused()
{
    Field field;
    field.fill(2, 2);
    auto feeder = field.feeder();
    const NewBlock late = Field::newBlock(2, 2);
    QVERIFY(!feeder.addBlocks({ &late, 1 }).ok());
    QVERIFY(!feeder.setLastBlockProven(1).ok());
    QCOMPARE(feeder.setLastBlockProven(3).error().code, ErrorCode::Corrupt); // the source has grown
}

void TestBlocks::unpreparedChunksCannotBeClaimed()
{
    Field field;
    auto feeder = field.feeder();
    const NewBlock known = Field::newBlock(0, 3);
    good(feeder.addBlocks({ &known, 1 }));
    good(feeder.setLastBlockProven(1));
    auto worker = field.worker(0);
    QCOMPARE(whyNot(worker), std::optional(NothingToClaim::WaitForData));
    good(feeder.setPrepared(0, "f", "d", Field::prepared(0, 3)));
    QVERIFY(claimed(worker).has_value());
}

void TestBlocks::wantedBlocksComeGroupByGroupInSourceOrder()
{
    Field field({}, false);
    auto feeder = field.feeder();
    std::vector<NewBlock> known;
    for (std::int64_t block = 0; block < 9; ++block)
        known.push_back(Field::newBlock(block, 3));
    good(feeder.addBlocks(known));
    const auto wanted = good(feeder.wanted(100));
    QCOMPARE(wanted.size(), std::size_t(9));
    for (std::size_t i = 0; i < 9; ++i)
        QCOMPARE(wanted[i].block,
            static_cast<std::int64_t>(i)); // two groups of four, and the last; in a group as they lie in the source
    QCOMPARE(wanted[8].plan, std::string("{\"block\":8}"));
    QCOMPARE(good(feeder.wanted(2)).size(), std::size_t(2));
}

void TestBlocks::askingForTheDemandDoesNotLookAtEveryBlock()
{
    Field field;
    field.fill(1000, 1);
    auto feeder = field.feeder();
    auto worker = field.worker(0);
    for (int i = 0; i < 990; ++i) {
        const auto claim = claimed(worker);
        good(worker.finish(*claim, trainedAll(*claim)));
    }
    QCOMPARE(good(feeder.demand()).neededBlocks.size(), std::size_t(10));
    QCOMPARE(good(feeder.demand(4)).neededBlocks.size(), std::size_t(4));
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < 50; ++i)
        good(feeder.demand());
    const auto took = std::chrono::steady_clock::now() - begin;
    QVERIFY2(took < std::chrono::seconds(2), "a demand takes longer than 40 ms"); // it took 400 ms, now less than one
}

void TestBlocks::evictedBlockIsWantedAgain()
{
    Field field;
    field.fill(2, 2);
    auto feeder = field.feeder();
    QVERIFY(good(feeder.wanted(10)).empty());
    QCOMPARE(good(feeder.demand()).neededBlocks, (std::vector<std::int64_t> { 0, 1 }));
    auto worker = field.worker(0);
    trainOne(worker, 0, "c1");
    const auto held = claimed(worker); // of block 0, too
    good(feeder.setEvicted(1, "cache is full"));
    QCOMPARE(field.counts()[Pending], 2);
    QCOMPARE(good(feeder.wanted(10)).size(), std::size_t(1));
    good(feeder.setEvicted(0, "cache is full"));
    good(field.supervisor().revoke(field.ids[0], "died"));
    QCOMPARE(field.counts()[Pending], 3); // what the worker held cannot be read either
    good(feeder.setPrepared(0, "again", "digest0", Field::prepared(0, 2)));
    QCOMPARE(field.counts()[Free], 1);
    QVERIFY(good(audit(field.tracker)).isClean());
    Q_UNUSED(held)
}

void TestBlocks::otherContentIsCorruptAndStopsClaims()
{
    Field field;
    field.fill(1, 2);
    auto feeder = field.feeder();
    const Status other = feeder.setPrepared(0, "file2", "another digest", Field::prepared(0, 2));
    QCOMPARE(other.error().code, ErrorCode::Corrupt);
    QCOMPARE(field.counts()[Pending], 2);
    QVERIFY(good(feeder.wanted(10)).empty()); // not again and again
    auto worker = field.worker(0);
    QCOMPARE(whyNot(worker), std::optional(NothingToClaim::WaitForData));
    good(feeder.setPrepared(0, "file3", "digest0", Field::prepared(0, 2))); // the source was restored
    QCOMPARE(field.counts()[Free], 2);
}

void TestBlocks::chunkWithNothingToTrainIsCommittedAtOnce()
{
    Field field;
    auto feeder = field.feeder();
    const NewBlock known = Field::newBlock(0, 2);
    good(feeder.addBlocks({ &known, 1 }));
    auto chunks = Field::prepared(0, 2);
    chunks[1].rows = { Field::kRows, 0, 10, 10, 10, 10 };
    chunks[1].windows = 0;
    chunks[1].tokens = 0;
    good(feeder.setPrepared(0, "f", "d", chunks));
    good(feeder.setLastBlockProven(1));
    QCOMPARE(field.counts()[Committed], 1);
    auto worker = field.worker(0);
    trainOne(worker, 0, "c1");
    SAME(good(field.supervisor().advance()).stop, StopReason::EpochEnd);
    const AuditReport report = good(audit(field.tracker));
    QVERIFY2(report.isClean(), auditText(report).c_str());
    QVERIFY(report.epochs[0].complete);
    QCOMPARE(report.epochs[0].rows.filtered, 11);
}

/// A chunk without windows was called trained at once, and one with another number of tokens trained by it.
void TestBlocks::aRowThatWasChangedWhileItsBlockWasAwayWasTrainedByIt()
{
    Field field;
    field.fill(1, 3);
    auto feeder = field.feeder();
    auto worker = field.worker(0);
    trainOne(worker, 0, "c1");
    good(feeder.setEvicted(0, "cache is full"));
    {
        auto db = good(Database::open(field.tracker, {}));
        db.run("UPDATE chunk SET windows=0, tokens=0, filtered=filtered+samples, samples=0 WHERE state=0");
        good(db.takeStatus());
    }
    good(recount(field.tracker)); // as somebody does who knows the tables
    const auto changes = [&field] {
        const auto events = good(field.reader().eventsSince(0, 1000));
        return std::ranges::count_if(
            events, [](const auto& one) { return one.cause.text().find("stored anew") != std::string::npos; });
    };
    good(feeder.setPrepared(0, "again", "digest0", Field::prepared(0, 3)));
    QCOMPARE(field.counts()[Committed], 1);
    QCOMPARE(field.counts()[Free], 2);
    QCOMPARE(changes(), 2);
    for (const auto& cell : good(field.reader().cells(0))) {
        QCOMPARE(cell.windows, Field::kWindows);
        QCOMPARE(cell.tokens, Field::kTokens);
    }
    QVERIFY(good(audit(field.tracker)).isClean());
    good(feeder.setEvicted(0, "cache is full"));
    good(feeder.setPrepared(0, "again", "digest0", Field::prepared(0, 3)));
    QCOMPARE(changes(), 2); // nothing was changed since
}

void TestBlocks::whatWasFoundBesidesIsKeptOfTheFirstPreparation()
{
    Field field;
    auto feeder = field.feeder();
    for (std::int64_t block = 0; block < 3; ++block) {
        const NewBlock known = Field::newBlock(block, 2);
        good(feeder.addBlocks({ &known, 1 }));
    }
    auto chunks = Field::prepared(0, 2);
    const Message why = sentence("row %1 of %2 %3", { "4", "a.jsonl", "is broken JSON" });
    for (const std::int64_t block : { 2, 1 }) {
        chunks[0].repeats = block;
        chunks[1].repeats = chunks[1].invalidUtf8 = 1;
        good(feeder.setPrepared(
            block, "f" + std::to_string(block), "d" + std::to_string(block), chunks, block == 1 ? why : Message()));
    }
    chunks[0].repeats = 1000;
    good(feeder.setPrepared(1, "f1", "d1", chunks, sentence("another"))); // it was evicted, and is there again
    const DataNotes notes = good(field.reader().totals()).data;
    QCOMPARE(notes.repeats, 2 + 1 + 1 + 1);
    QCOMPARE(notes.invalidUtf8, 2);
    QCOMPARE(notes.firstUnreadable.text(), std::string("row 4 of a.jsonl is broken JSON"));
    QCOMPARE(std::string(notes.firstUnreadable.id()), std::string("row %1 of %2 %3"));
}

void TestBlocks::rowsThatDoNotAddUpAreRefused() // I3
{
    Field field;
    auto feeder = field.feeder();
    const NewBlock known = Field::newBlock(0, 1);
    good(feeder.addBlocks({ &known, 1 }));
    auto chunks = Field::prepared(0, 1);
    chunks[0].rows.samples -= 1;
    QVERIFY(!feeder.setPrepared(0, "f", "d", chunks).ok());
    chunks[0].rows.rows -= 1; // adds up, but the block promised one row more
    QVERIFY(!feeder.setPrepared(0, "f", "d", chunks).ok());
    QCOMPARE(field.counts()[Pending], 1);
}

void TestBlocks::claimsWaitForDataUntilTheEndIsProven()
{
    Field field;
    field.fill(1, 1, false);
    auto feeder = field.feeder();
    good(feeder.setUnprovenReason("reading file 1 of 2"));
    auto worker = field.worker(0);
    trainOne(worker, 0, "c1");
    QCOMPARE(whyNot(worker), std::optional(NothingToClaim::WaitForData));
    QVERIFY(!good(field.supervisor().advance()).epochClosed); // all known chunks are done, and still
    QCOMPARE(good(field.reader().epochs())[0].unprovenReason, std::string("reading file 1 of 2"));
    QVERIFY(!good(audit(field.tracker)).epochs[0].expected.has_value());
    good(feeder.setLastBlockProven(1));
    QVERIFY(good(field.supervisor().advance()).epochClosed);
    QCOMPARE(whyNot(worker), std::optional(NothingToClaim::StopRuleReached));
}

QTEST_GUILESS_MAIN(TestBlocks)
#include "tst_blocks.moc"
