#include "tests/fakes/fault_file_system.h"

#include "core/run/folder/checkpoint_manifest.h"
#include "core/run/folder/checkpoint_notes.h"
#include "core/train/checkpoint/checkpoint_torch.h"

#include <torch/torch.h>

#include <QTemporaryDir>
#include <QTest>

#include <fstream>

using namespace furrow;

namespace {

FrozenCheckpoint frozen()
{
    FrozenCheckpoint f;
    f.state.step = 7;
    f.weights = { { "a", torch::arange(64, torch::kFloat32) }, { "b", torch::ones({ 3, 5 }) } };
    f.optimizer = { { "a.m", torch::zeros(64) } };
    f.parts = { { chunkIdOf({ 0, 0, 1 }), { 0, 4 } } };
    return f;
}

constexpr const char* kRun = "0123456789abcdef";

} // namespace

/// The power goes at every single step of writing a checkpoint; bytes and names that were not synced are gone. Whatever
/// publishCheckpoint had said was durable must be there whole; a commit in the ledger comes only after that.
class TestPowerLoss : public QObject {
    Q_OBJECT

    QTemporaryDir folder_;
    int made_ = 0;

    RunPaths freshRun()
    {
        const std::filesystem::path run = std::filesystem::path(folder_.path().toStdString()) / std::to_string(++made_);
        std::filesystem::create_directories(run / "checkpoints" / "writing");
        return RunPaths(run);
    }

    static bool isEmptyOfCheckpoints(const RunPaths& run)
    {
        const auto entries = entriesOf(run.checkpointsFolder());
        return entries.ok() && entries.value().size() == 1 && std::filesystem::is_empty(run.writingNotesFolder());
    }

private Q_SLOTS:
    void folderCanBeRemovedInAProgramWithLibtorch() // a full disk ended the worker with a crash while it cleaned up
    {
        const auto run = freshRun();
        std::filesystem::create_directories(run.checkpointFolder("a") / "b");
        {
            std::ofstream(run.checkpointFolder("a") / "b" / "file") << "x";
        }
        QVERIFY(realFileSystem().removeAll(run.checkpointsFolder()).ok());
        QVERIFY(!std::filesystem::exists(run.checkpointsFolder()));
        QVERIFY(realFileSystem().removeAll(run.checkpointsFolder()).ok()); // missing is success
    }

    void checkpointThatWasToldDurableIsWholeAfterThePowerCameBack()
    {
        int steps = 0;
        {
            const auto run = freshRun();
            FaultFileSystem files(run.folder());
            const auto record = publishCheckpoint(run, kRun, frozen(), files);
            QVERIFY2(record.ok(), record.ok() ? "" : record.error().message.c_str());
            files.powerLoss();
            const auto verdict
                = verifyCheckpoint(run.checkpointFolder(record.value().folder), record.value().manifestSha256, kRun);
            QVERIFY2(verdict.ok(), verdict.ok() ? "" : verdict.error().message.c_str());
            steps = files.steps();
        }
        QVERIFY(steps > 10);
        for (const bool keepsSome : { false, true })
            for (int step = 1; step <= steps; ++step) {
                const auto run = freshRun();
                FaultFileSystem files(run.folder());
                files.cutPowerAt(step);
                const auto record = publishCheckpoint(run, kRun, frozen(), files);
                if (keepsSome)
                    files.powerLossKeepingSome(static_cast<std::uint64_t>(step));
                else
                    files.powerLoss();
                QVERIFY2(!record.ok(), qPrintable(QStringLiteral("step %1 was said to be durable").arg(step)));
                // What the tracker cannot know is noted: else the next resume would take the tracker for older than the
                // weights.
                const auto notes = writingNotes(run, kRun).value();
                const auto entries = entriesOf(run.checkpointsFolder()).value();
                for (const auto& entry : entries)
                    if (std::filesystem::exists(entry / "manifest.json"))
                        QVERIFY(notes.size() == 1 && entry.filename().string().starts_with(notes.front()));
            }
    }

    /// The disk of the checkpoints was unmounted under a run: new ones were written where it had been.
    void nothingIsWrittenWhereTheDiskOfTheCheckpointsWas()
    {
        const auto run = freshRun();
        std::filesystem::rename(run.checkpointsFolder(), run.folder() / "away");
        const auto nowhere = publishCheckpoint(run, kRun, frozen());
        QVERIFY(!nowhere.ok());
        QVERIFY2(nowhere.error().message.find("disk") != std::string::npos, nowhere.error().message.c_str());
        QVERIFY(!std::filesystem::exists(run.checkpointsFolder()));
        std::filesystem::create_directories(run.checkpointsFolder()); // the place where it was mounted
        QVERIFY(!publishCheckpoint(run, kRun, frozen()).ok());
        QVERIFY(std::filesystem::is_empty(run.checkpointsFolder()));
    }

    void stepThatFailsLeavesNothingThatLooksLikeACheckpoint()
    {
        int steps = 0;
        {
            const auto run = freshRun();
            FaultFileSystem files(run.folder());
            QVERIFY(publishCheckpoint(run, kRun, frozen(), files).ok());
            steps = files.steps();
        }
        for (int step = 1; step < steps; ++step) { // the last one syncs the parent: the whole folder is there then
            const auto run = freshRun();
            FaultFileSystem files(run.folder());
            files.failAt(step);
            QVERIFY(!publishCheckpoint(run, kRun, frozen(), files).ok());
            QVERIFY(isEmptyOfCheckpoints(run));
        }
    }

    void fullDiskLeavesNothingBehind()
    {
        for (const std::uint64_t bytes : { 0, 100, 400, 900 }) {
            const auto run = freshRun();
            FaultFileSystem files(run.folder());
            files.fullAfter(bytes);
            const auto record = publishCheckpoint(run, kRun, frozen(), files);
            QVERIFY(!record.ok());
            QVERIFY2(record.error().message.find("full") != std::string::npos, record.error().message.c_str());
            QVERIFY(isEmptyOfCheckpoints(run));
        }
    }
};

QTEST_GUILESS_MAIN(TestPowerLoss)
#include "tst_power_loss.moc"
