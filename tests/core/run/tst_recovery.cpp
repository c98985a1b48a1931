#include "core/run/merge_task.h"
#include "core/run/recovery.h"

#include "core/base/file_system.h"
#include "tests/core/tracker/ledger_fixture.h"

#include <QTest>

using namespace furrow;

namespace {

ReplicaHeads headsOf(std::initializer_list<std::tuple<int, int, CheckpointKind>> replicas) // replica, checkpoint, kind
{
    ReplicaHeads heads;
    for (const auto& [replica, checkpoint, kind] : replicas) {
        heads.replicas.push_back({ replica, CheckpointId { checkpoint }, false });
        SupervisorLedger::CheckpointRow row;
        row.id = CheckpointId { checkpoint };
        row.record.kind = kind;
        heads.checkpoints.push_back(row);
    }
    return heads;
}

constexpr auto R = CheckpointKind::Replica;
constexpr auto M = CheckpointKind::Merge;

} // namespace

class TestRecovery : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void replicasThatNobodyWouldTakeUpAreMergedFirst()
    {
        // Four of seven replicas had work, and four workers came back: as many as before, but not the same ones.
        QVERIFY(mustMergeBefore(headsOf({ { 3, 1, R }, { 4, 2, R }, { 5, 3, R }, { 6, 4, R } }), 4));
        QVERIFY(mustMergeBefore(headsOf({ { 3, 1, R } }), 1)); // alone, and out of reach
        QVERIFY(mustMergeBefore(headsOf({ { 0, 1, R }, { 1, 2, R } }), 4)); // another number is a merge point
        QVERIFY(!mustMergeBefore(headsOf({ { 0, 1, R }, { 1, 2, R } }), 2));
        QVERIFY(!mustMergeBefore(headsOf({ { 0, 1, R } }), 4)); // the others start from the same base
        QVERIFY(!mustMergeBefore(headsOf({ { 0, 9, M }, { 1, 9, M }, { 6, 9, M } }), 1));
        QVERIFY(!mustMergeBefore({}, 2));
    }

    void parkedReplicaWithWorkIsAPieceOfTheModel()
    {
        QVERIFY(isInPieces(headsOf({ { 0, 9, M }, { 5, 10, R } })));
        QVERIFY(!isInPieces(headsOf({ { 0, 9, M }, { 1, 9, M } })));
        QVERIFY(!isInPieces({}));
    }

    void keepPolicyKeepsTheMergeThatAKeptReplicaGrewFrom()
    {
        Field field;
        field.fill(1, 40);
        const RunPaths paths(field.tracker.parent_path());
        const auto folderOf = [&](const std::string& name) { good(realFileSystem().createFolders(paths.checkpointFolder(name))); };
        auto first = field.worker(0);
        auto second = field.worker(1);
        std::vector<std::string> merges;
        for (int round = 0; round < 5; ++round) {
            // Replica 1 trains in the first round only: its newest checkpoint grows from no merge, those of replica 0 from the newest.
            const auto mine = trainOne(first, 0, "r0-" + std::to_string(round));
            folderOf("r0-" + std::to_string(round));
            auto supervisor = field.supervisor();
            const auto number = good(supervisor.openMergeRound());
            good(first.contribute(number, mine));
            good(second.contribute(number, newestHead(field, 1)));
            const auto job = good(first.takeMerge(number));
            QVERIFY(job.has_value());
            merges.push_back("m" + std::to_string(round));
            folderOf(merges.back());
            good(first.commitMerge(number, record(-1, merges.back())));
        }
        trainOne(first, 0, "r0-last");
        folderOf("r0-last");
        auto supervisor = field.supervisor();
        good(applyKeepPolicy(paths, supervisor, 2));
        std::map<std::string, bool> removed;
        std::map<std::int64_t, std::string> nameOf;
        const auto rows = good(supervisor.checkpoints());
        for (const auto& row : rows) {
            removed[row.record.folder] = row.removed;
            nameOf[row.id.value] = row.record.folder;
        }
        QVERIFY(!removed["r0-last"] && !removed["r0-4"]); // two of the line are kept
        QVERIFY(!removed["m4"]);
        QVERIFY(!removed["m3"]); // r0-4 grew from it
        QVERIFY(removed["m0"] && removed["r0-0"]);
        for (const auto& [name, gone] : removed)
            QCOMPARE(std::filesystem::exists(paths.checkpointFolder(name)), !gone);
    }

    void weightsGoAndTheirManifestStaysAsProof()
    {
        Field field;
        field.fill(1, 8);
        const RunPaths paths(field.tracker.parent_path());
        auto worker = field.worker(0);
        for (int i = 0; i < 4; ++i) {
            const std::string name = "r0-" + std::to_string(i);
            trainOne(worker, 0, name);
            good(realFileSystem().createFolders(paths.checkpointFolder(name)));
            good(writeFileDurably(realFileSystem(), paths.checkpointFolder(name) / "manifest.json", name));
            good(writeFileDurably(realFileSystem(), paths.checkpointFolder(name) / "weights.safetensors", "weights"));
        }
        auto supervisor = field.supervisor();
        good(applyKeepPolicy(paths, supervisor, 2));
        QVERIFY(!std::filesystem::exists(paths.checkpointFolder("r0-0")));
        QCOMPARE(good(readFile(paths.removedManifestsFolder() / "r0-0.json")), std::string("r0-0"));
        QVERIFY(std::filesystem::exists(paths.checkpointFolder("r0-3") / "weights.safetensors"));
    }
};

QTEST_GUILESS_MAIN(TestRecovery)
#include "tst_recovery.moc"
