#include "core/run/status/known_evaluation.h"
#include "core/run/status/run_weights.h"

#include <nlohmann/json.hpp>

#include <QTemporaryDir>
#include <QTest>

using namespace furrow;

namespace {

using Saved = SupervisorLedger::CheckpointRow;

constexpr int kMerge = -1;

Saved made(std::int64_t id, int replica, std::int64_t tokens, std::vector<std::int64_t> parents, bool head)
{
    Saved row;
    row.id = CheckpointId { id };
    row.record.kind = replica == kMerge ? CheckpointKind::Merge : CheckpointKind::Replica;
    row.record.replica = replica;
    row.record.folder = "c" + std::to_string(id);
    row.record.tokens = tokens;
    for (const std::int64_t parent : parents)
        row.record.parents.push_back(CheckpointId { parent });
    row.head = head;
    return row;
}

std::string folderOf(const std::optional<RunWeights>& weights)
{
    return weights ? weights->row.record.folder : std::string("none");
}

} // namespace

/// Which weights "the newest" are when replicas stand on different ones.
class TestRunWeights : public QObject {
    Q_OBJECT

private Q_SLOTS:
    /// eval, sample, export and `brain show` used the merge, as long as some replica had trained nothing since.
    void theNewestWeightsWereAnOldMergeThatAnotherReplicaHadTrainedOnFrom()
    {
        const std::vector<Saved> rows { made(1, 0, 100, {}, false), made(2, 1, 120, {}, false),
            made(3, kMerge, 220, { 1, 2 }, true), made(4, 0, 900, { 3 }, true) };
        const auto weights = weightsOf(rows);
        QCOMPARE(folderOf(weights), std::string("c4"));
        QVERIFY(!weights->isOneOfSeveral()); // the other one stands on what these were made from
        QCOMPARE(whoseWeights(*weights), std::string("replica 0"));
        QCOMPARE(weights->tokensOfAll, 900);
    }

    void aMergeThatAllStandOnIsTheNewest()
    {
        const auto weights = weightsOf(
            { made(1, 0, 100, {}, false), made(2, 1, 120, {}, false), made(3, kMerge, 220, { 1, 2 }, true) });
        QCOMPARE(folderOf(weights), std::string("c3"));
        QCOMPARE(whoseWeights(*weights), std::string("all replicas, merged"));
    }

    /// The clock was set back between two attempts: the loss of the first stood there after the second.
    void theEvaluationOfAnEarlierAttemptWasTheNewest()
    {
        const QTemporaryDir folder;
        const RunPaths paths(folder.path().toStdString());
        std::vector<Saved> rows { made(1, 0, 100, {}, false), made(2, 0, 200, { 1 }, true) };
        rows[0].record.evalLoss = 2.5;
        rows[1].record.evalLoss = 2.4;
        rows[0].wallNs = 9'000;
        rows[1].wallNs = 5'000;
        for (Saved& row : rows)
            row.record.step = row.id.value * 10;
        const auto shown = [&] { return knownEvaluation(paths, rows, {}, [](const auto&) { return true; }).loss; };
        QCOMPARE(shown()->loss, 2.4);
        QVERIFY(!shown()->superseded);
        const ToldEvaluation told { .step = 30, .loss = 2.3, .wallNs = 4'000 };
        QVERIFY(publishEvaluation(paths, told, realFileSystem()).ok());
        QCOMPARE(shown()->loss, 2.3);
    }

    void weightsOfOneReplicaAmongSeveralAreCalledThat()
    {
        const std::vector<Saved> rows { made(1, kMerge, 20, {}, false), made(2, 1, 37, { 1 }, true),
            made(3, 0, 30, { 1 }, false), made(4, 0, 35, { 3 }, true) };
        const auto weights = weightsOf(rows);
        QCOMPARE(folderOf(weights), std::string("c2")); // the most trained, though the other checkpoint is newer
        QCOMPARE(weights->unmergedReplicas, 1);
        QCOMPARE(weights->tokensOfAll, 52); // the twenty of the merge once
        QCOMPARE(whoseWeights(*weights),
            std::string("replica 1's own weights: 37 of 52 tokens; not merged with the others"));
        const auto json = toJson(*weights);
        QCOMPARE(json["replica"].get<int>(), 1);
        QCOMPARE(json["unmerged_replicas"].get<int>(), 1);
        QCOMPARE(json["tokens_of_all"].get<int>(), 52);
    }

    void whatIsNotThereOrNotWholeIsNotTheNewest()
    {
        auto damaged = made(2, 0, 900, { 1 }, true);
        damaged.damaged = true;
        auto removed = made(3, 1, 900, { 1 }, true);
        removed.removed = true;
        QCOMPARE(folderOf(weightsOf({ made(1, 0, 10, {}, true), damaged, removed })), std::string("c1"));
        QCOMPARE(folderOf(weightsOf({ damaged })), std::string("none"));
        QCOMPARE(folderOf(weightsOf({})), std::string("none"));
    }
};

QTEST_GUILESS_MAIN(TestRunWeights)
#include "tst_run_weights.moc"
