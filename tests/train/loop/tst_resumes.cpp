#include "tiny_run.h"

#include <QTest>

using namespace furrow;
using namespace furrow::test;

/// Trap 11: a second or third resume goes wrong although the first is right. Ten in a row, each at another kind of
/// place.
class TestResumes : public QObject {
    Q_OBJECT

    static std::int64_t committed(TinyRun& run, std::int64_t epoch)
    {
        auto reader = run.reader();
        const auto epochs = must(reader.epochs());
        return epoch < static_cast<std::int64_t>(epochs.size())
            ? epochs[static_cast<std::size_t>(epoch)].chunks[ChunkState::Committed]
            : 0;
    }

    /// Trains until the process dies at that place; false when the run ended before.
    static bool dieAt(TinyRun& run, const std::string& place)
    {
        auto worker = run.startWorker(0, { { "FURROW_FAIL_AT", place }, { "FURROW_COUNTING", "1" } });
        const auto exit = worker.wait(std::chrono::seconds(60));
        if (!exit)
            throw std::runtime_error("the worker hangs");
        return exit->signal == 9;
    }

    /// Trains in order until so many chunks of an epoch are committed or trained.
    static void stopAfter(TinyRun& run, std::int64_t epoch, std::int64_t chunks)
    {
        must(runTrainer(
            run.options(0, true), [&run, epoch, chunks, reader = std::make_shared<LedgerReader>(run.reader())] {
                const auto epochs = must(reader->epochs());
                if (epoch >= static_cast<std::int64_t>(epochs.size()))
                    return false;
                const auto& counts = epochs[static_cast<std::size_t>(epoch)].chunks;
                return counts[ChunkState::Committed] + counts[ChunkState::Trained] >= chunks;
            }));
    }

private Q_SLOTS:
    void tenResumesInARowLoseAndRepeatNothing()
    {
        auto config = TinyRun::config();
        config.epochs = 3;
        config.checkpointSteps = 6;
        TinyRun run(config);
        const auto chunks = run.chunks();
        must(runTrainer(run.options(0, true), [] { return true; })); // 1: at step 0
        QVERIFY(dieAt(run, "worker.started")); // 2: registered, nothing claimed
        QVERIFY(dieAt(run, "checkpoint.committed")); // 3: directly after a checkpoint
        QVERIFY(dieAt(run, "checkpoint.manifest:2")); // 4: in the middle of one
        QVERIFY(dieAt(run, "step.done:9")); // 5: in the middle of a chunk
        stopAfter(run, 0, chunks - 1); // 6: before the last chunk of the epoch
        QVERIFY(committed(run, 0) >= chunks - 1);
        stopAfter(run, 0, chunks); // 7: at the edge of the epoch
        QCOMPARE(committed(run, 0), chunks);
        QVERIFY(dieAt(run, "chunk.trained:3")); // 8: trained, not in a checkpoint
        QVERIFY(dieAt(run, "checkpoint.published:2")); // 9: durable, not in the ledger
        stopAfter(run, 2, 1); // 10: at the first chunk of the last epoch
        run.train(0, true);
        NO_FAULT(auditFault(run, 3));
        NO_FAULT(run.countingFault(3));
    }

    void tenResumesGiveTheSameBytesAsTheUnbrokenRun()
    {
        auto config = TinyRun::config();
        config.epochs = 2;
        TinyRun unbroken(config);
        const auto whole = unbroken.train();
        TinyRun broken(config);
        std::int64_t steps = 0;
        for (int resume = 0; resume < 10; ++resume)
            steps += broken.train(0, false, 3 + 5 * resume % 11).stepsHere;
        steps += broken.train().stepsHere;
        QCOMPARE(steps, whole.stepsHere);
        QCOMPARE(broken.weightsHash(), unbroken.weightsHash());
    }
};

QTEST_GUILESS_MAIN(TestResumes)
#include "tst_resumes.moc"
