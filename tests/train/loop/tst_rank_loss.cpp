// Data-parallel training with ranks that are processes: one is killed, stands still, or leaves a call out; the others
// end and name it.
#include "tiny_run.h"

#include <QTest>

using namespace furrow;
using namespace furrow::test;

namespace {

constexpr int kTimeoutSeconds = 4;

RunConfig endless()
{
    auto c = TinyRun::config();
    c.devices = "cpu:3";
    c.workers = 3;
    c.parallel = ParallelMode::Data;
    c.rankTimeout = kTimeoutSeconds;
    c.batchSize = 1;
    c.iterate = true;
    return c;
}

/// Three ranks of an endless run.
class Ranks {
public:
    explicit Ranks(TinyRun& run, const std::map<std::string, std::string>& environmentOfRank1 = {})
        : run_(run)
    {
        for (int rank = 0; rank < 3; ++rank)
            processes_.push_back(
                run.startWorker(rank, rank == 1 ? environmentOfRank1 : std::map<std::string, std::string> {},
                    { "--replica", "0", "--ranks", "3", "--meeting", (run.paths().folder() / "meeting").string() }));
    }

    ChildProcess& operator[](int rank) { return processes_[static_cast<std::size_t>(rank)]; }
    std::string log(int rank) const
    {
        return endOfFile(run_.paths().logFile(run_.attempt(), "worker-" + std::to_string(rank)), 1 << 20);
    }
    bool allTrain() const
    {
        int training = 0;
        for (const auto& row : must(run_.reader().incarnations()))
            training += row.step > 2;
        return training == 3;
    }
    /// "" when a rank ended with an error that names rank 1 and says `how`, in `seconds` at most.
    std::string fault(int rank, const std::string& how, int seconds)
    {
        const auto exit = processes_[static_cast<std::size_t>(rank)].wait(std::chrono::seconds(seconds));
        if (!exit)
            return "rank " + std::to_string(rank) + " did not end in " + std::to_string(seconds) + " s";
        const auto said = log(rank);
        if (exit->signal != 0 || exit->exitCode != 1)
            return "rank " + std::to_string(rank) + " ended with " + exit->describe() + ": " + said;
        return said.find("rank 1 (worker 1, process ") != std::string::npos && said.find(how) != std::string::npos
            ? ""
            : said;
    }

private:
    TinyRun& run_;
    std::vector<ChildProcess> processes_;
};

constexpr int kSoon = kTimeoutSeconds + 60; // a busy machine must not decide

} // namespace

class TestRankLoss : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void killedRankIsNamedByTheOthers()
    {
        TinyRun run(endless());
        Ranks ranks(run);
        QTRY_VERIFY_WITH_TIMEOUT(ranks.allTrain(), 60'000);
        killProcess(ranks[1].identity());
        NO_FAULT(ranks.fault(0, "is gone", kSoon));
        NO_FAULT(ranks.fault(2, "is gone", kSoon));
        QVERIFY(run.audited().isClean());
    }

    void rankThatStandsStillIsNamedByTheOthers()
    {
        TinyRun run(endless());
        Ranks ranks(run);
        QTRY_VERIFY_WITH_TIMEOUT(ranks.allTrain(), 60'000);
        QVERIFY(freezeProcess(ranks[1].identity(), true));
        NO_FAULT(ranks.fault(0, "stands still or hangs", kSoon));
        NO_FAULT(ranks.fault(2, "stands still or hangs", kSoon));
        freezeProcess(ranks[1].identity(), false);
        QVERIFY2(ranks[1].wait(std::chrono::seconds(kSoon)).has_value(), "the rank that was held trains on alone");
        QVERIFY(run.audited().isClean());
    }

    void rankThatLeavesASumOutIsNamedByTheOthers()
    {
        TinyRun run(endless());
        Ranks ranks(run, { { "FURROW_SKIP_SUM", "20" } });
        for (int rank = 0; rank < 3; ++rank)
            NO_FAULT(ranks.fault(rank, "left a collective call out", kSoon));
        QVERIFY(run.audited().isClean());
    }

    void killedRankZeroIsNamedByTheOthers()
    {
        TinyRun run(endless());
        Ranks ranks(run);
        QTRY_VERIFY_WITH_TIMEOUT(ranks.allTrain(), 60'000);
        killProcess(ranks[0].identity());
        for (int rank = 1; rank < 3; ++rank) {
            QVERIFY(ranks[rank].wait(std::chrono::seconds(kSoon)).has_value());
            const auto said = ranks.log(rank);
            const bool otherLeftFirst
                = said.find(" are gone") != std::string::npos; // on a busy machine: it had seen the death of rank 0 too
            QVERIFY2(said.find("rank 0 (worker 0, process ") != std::string::npos
                    && (otherLeftFirst || said.find("is gone") != std::string::npos),
                said.c_str());
        }
    }
};

QTEST_GUILESS_MAIN(TestRankLoss)
#include "tst_rank_loss.moc"
