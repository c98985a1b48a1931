#include "ledger_fixture.h"
#include "tests/fakes/power_loss_vfs.h"

using namespace furrow;
using enum ChunkState;

/// The power goes at every sync that SQLite asks for while a run is made, prepared, trained, committed, damaged and
/// swept of its WAL. Whatever the ledger had said was durable is there afterwards, and the audit finds nothing wrong.
class TestTrackerPowerLoss : public QObject {
    Q_OBJECT

    PowerLossVfs* vfs_ = nullptr;
    Field* field_ = nullptr;
    std::filesystem::path after_; ///< where the survivors are looked at
    std::vector<std::string> promised_; ///< checkpoints that commit() has answered for
    bool looking_ = false;
    int looks_ = 0;

    static bool has(const std::vector<SupervisorLedger::CheckpointRow>& rows, const std::string& folder)
    {
        return std::any_of(rows.begin(), rows.end(), [&](const auto& row) { return row.record.folder == folder; });
    }

    void look(std::uint64_t seed)
    {
        vfs_->surviving(field_->tracker, after_, seed);
        const auto tracker = after_ / field_->tracker.filename();
        std::filesystem::remove(tracker.string() + "-shm");
        const auto report = audit(tracker);
        QVERIFY2(report.ok(), report.ok() ? "" : report.error().message.c_str());
        QVERIFY2(report.value().isClean(), auditText(report.value()).c_str());
        const auto rows = good(good(LedgerReader::open(tracker)).checkpoints());
        for (const auto& folder : promised_)
            QVERIFY2(has(rows, folder), (folder + " was said to be durable").c_str());
    }

    /// Twice at every moment: nothing unsynced survives, and some of it.
    void lookAtSurvivors()
    {
        if (looking_ || promised_.empty()) // the reader's own syncs do not count
            return;
        looking_ = true;
        look(0);
        look(static_cast<std::uint64_t>(++looks_));
        looking_ = false;
    }

private Q_SLOTS:
    void whatWasSaidToBeDurableSurvives()
    {
        QTemporaryDir after;
        after_ = after.path().toStdString();
        PowerLossVfs vfs;
        StoppingRules rules;
        rules.epochs = 2;
        Field field(rules);
        vfs_ = &vfs;
        field_ = &field;
        vfs.beforeSync = [this] { lookAtSurvivors(); };
        field.fill(3, 4);
        std::map<int, std::optional<CheckpointId>> heads;
        std::map<int, std::vector<Part>> uncommitted;
        std::vector<WorkerLedger> workers;
        for (int worker = 0; worker < 2; ++worker)
            workers.push_back(field.worker(worker));
        for (int turn = 0; turn < 20; ++turn) {
            auto& worker = workers[static_cast<std::size_t>(turn % 2)];
            const auto claim = claimed(worker);
            if (!claim) {
                good(field.supervisor().advance());
                continue;
            }
            good(worker.begin(*claim));
            good(worker.finish(*claim, trainedAll(*claim)));
            auto& parts = uncommitted[turn % 2];
            const auto mine = partsOf(*claim);
            parts.insert(parts.end(), mine.begin(), mine.end());
            if (turn % 3 == 0)
                continue; // committed with the next one
            auto row = record(turn % 2, "c" + std::to_string(turn));
            if (heads[turn % 2])
                row.parents = { *heads[turn % 2] };
            heads[turn % 2] = good(worker.commit(row, parts));
            parts.clear();
            promised_.push_back(row.folder);
            lookAtSurvivors();
            if (turn % 5 == 0)
                good(field.supervisor().checkpointWal());
        }
        good(field.supervisor().markDamaged(*heads[1], "flipped bytes"));
        lookAtSurvivors();
        QVERIFY(promised_.size() > 8);
        QVERIFY(looks_ > 30);
    }
};

QTEST_GUILESS_MAIN(TestTrackerPowerLoss)
#include "tst_tracker_power_loss.moc"
