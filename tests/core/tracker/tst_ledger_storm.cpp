#include "ledger_fixture.h"

#include "core/base/file_system.h"
#include "core/base/random.h"
#include "core/tracker/audit/audit.h"
#include "core/tracker/sqlite/database.h"

#include <nlohmann/json.hpp>

#include <thread>

using namespace furrow;
using enum ChunkState;

/// Real processes that are killed with -9 at random instants; afterwards the weights themselves are counted.
class TestLedgerStorm : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void everyWindowIsInTheWeightsOncePerEpochAfterKills_data();
    void everyWindowIsInTheWeightsOncePerEpochAfterKills();
};

namespace {

struct Storm {
    Field field;
    std::filesystem::path checkpoints;
    Random random;
    std::vector<ChildProcess> children;
    std::vector<int> seats; // worker number of each child
    int started = 0;
    int kills = 0;
    int damages = 0;

    Storm(const StoppingRules& rules, std::uint64_t seed)
        : field(rules, false, seed)
        , checkpoints(field.tracker.parent_path())
        , random(seed)
    {
    }

    void start(int seat)
    {
        ProcessOptions options;
        options.arguments = { field.tracker.string(), checkpoints.string(), std::to_string(field.attempt.value),
            std::to_string(seat), std::to_string(++started) };
        children.push_back(good(ChildProcess::start(FURROW_FIELD_WORKER, options), "start"));
        seats.push_back(seat);
    }

    // Sees who ended, however it ended, and gives its work to others.
    void reap(SupervisorLedger& supervisor)
    {
        for (std::size_t i = 0; i < children.size(); ++i) {
            if (!children[i].poll())
                continue;
            for (const auto& live : good(supervisor.live())) {
                if (live.process == children[i].identity())
                    good(supervisor.revoke(live.incarnation, "it died"), "revoke");
            }
            children.erase(children.begin() + static_cast<std::ptrdiff_t>(i));
            seats.erase(seats.begin() + static_cast<std::ptrdiff_t>(i));
            --i;
        }
    }

    // The newest checkpoint of a replica that is not running is lost, as if its files were bit-flipped.
    void damageOne(SupervisorLedger& supervisor)
    {
        for (const auto& row : good(supervisor.replicas())) {
            const bool runs = std::find(seats.begin(), seats.end(), row.replica) != seats.end();
            if (!runs && row.head) {
                good(supervisor.markDamaged(*row.head, "bit flip"), "damage");
                ++damages;
                return;
            }
        }
    }
};

} // namespace

void TestLedgerStorm::everyWindowIsInTheWeightsOncePerEpochAfterKills_data()
{
    QTest::addColumn<int>("workers");
    QTest::addColumn<int>("kills");
    QTest::addColumn<quint64>("seed");
    QTest::newRow("one worker") << 1 << 8 << quint64(1);
    QTest::newRow("four workers") << 4 << 25 << quint64(2);
}

void TestLedgerStorm::everyWindowIsInTheWeightsOncePerEpochAfterKills()
{
    QFETCH(int, workers);
    QFETCH(int, kills);
    QFETCH(quint64, seed);
    StoppingRules rules;
    rules.epochs = 3;
    Storm storm(rules, seed);
    storm.field.fill(12, 10);
    std::optional<SupervisorLedger> held(good(SupervisorLedger::open(storm.field.tracker)));
    QDeadlineTimer deadline(std::chrono::seconds(120));
    StopReason stop = StopReason::None;
    while (stop == StopReason::None && !deadline.hasExpired()) {
        if (storm.random.below(20) == 0)
            held.emplace(good(SupervisorLedger::open(storm.field.tracker))); // it died, too
        SupervisorLedger& supervisor = *held;
        storm.reap(supervisor);
        if (storm.kills < kills && storm.random.below(15) == 0)
            storm.damageOne(supervisor);
        for (int seat = 0; seat < workers; ++seat) {
            if (std::find(storm.seats.begin(), storm.seats.end(), seat) == storm.seats.end()
                && storm.random.below(3) == 0)
                storm.start(seat);
        }
        if (storm.kills < kills && !storm.children.empty() && storm.random.below(3) == 0) {
            storm.children[storm.random.below(storm.children.size())].killTree();
            ++storm.kills;
        }
        stop = good(supervisor.advance(), "advance").stop;
        if (storm.random.below(10) == 0)
            good(supervisor.checkpointWal(), "wal");
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    SAME(stop, StopReason::Epochs);
    SupervisorLedger& supervisor = *held;
    storm.children.clear();
    for (const auto& live : good(supervisor.live()))
        good(supervisor.revoke(live.incarnation, "the end"));

    const AuditReport report = good(audit(storm.field.tracker));
    QVERIFY2(report.isClean(), auditText(report).c_str());
    for (const AuditEpoch& epoch : report.epochs)
        QVERIFY(epoch.complete && epoch.committed == 120 && epoch.digest == report.epochs[0].digest);

    // The counting model: the surviving weights of all replicas together hold each window of each epoch exactly once.
    std::map<std::string, std::vector<int>> total;
    const auto rows = good(supervisor.checkpoints());
    for (const auto& replica : good(supervisor.replicas())) {
        for (const auto& row : rows) {
            if (row.id != replica.head)
                continue;
            const auto weights = nlohmann::json::parse(good(readFile(storm.checkpoints / row.record.folder)));
            for (const auto& [chunk, counts] : weights.items()) {
                auto& sum = total[chunk];
                sum.resize(Field::kWindows, 0);
                for (std::size_t window = 0; window < sum.size(); ++window)
                    sum[window] += counts[window].get<int>();
            }
        }
    }
    QCOMPARE(total.size(), std::size_t(3 * 120));
    for (const auto& [chunk, counts] : total)
        QCOMPARE(counts, std::vector<int>(Field::kWindows, 1));
    qInfo("%d kills, %d damaged checkpoints, %d processes started, %lld chunks of work lost", storm.kills,
        storm.damages, storm.started,
        static_cast<long long>(
            report.epochs[0].chunksLost + report.epochs[1].chunksLost + report.epochs[2].chunksLost));
}

QTEST_GUILESS_MAIN(TestLedgerStorm)
#include "tst_ledger_storm.moc"
