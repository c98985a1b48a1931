#include "tests/fakes/fault_file_system.h"

#include "core/run/checkpoint_manifest.h"
#include "core/train/loop/checkpoint_torch.h"

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

/// The power goes at every single step of writing a checkpoint; bytes and names that were not synced are gone. Whatever publishCheckpoint
/// had said was durable must be there whole; a commit in the ledger comes only after that.
class TestPowerLoss : public QObject {
    Q_OBJECT

    QTemporaryDir folder_;
    int made_ = 0;

    RunPaths freshRun()
    {
        const std::filesystem::path run = std::filesystem::path(folder_.path().toStdString()) / std::to_string(++made_);
        std::filesystem::create_directories(run / "checkpoints");
        return RunPaths(run);
    }

private Q_SLOTS:
    void folderCanBeRemovedInAProgramWithLibtorch() // a full disk ended the worker with a crash while it cleaned up
    {
        const auto run = freshRun();
        std::filesystem::create_directories(run.checkpointFolder("a") / "b");
        { std::ofstream(run.checkpointFolder("a") / "b" / "file") << "x"; }
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
            const auto verdict = verifyCheckpoint(run.checkpointFolder(record.value().folder), record.value().manifestSha256, kRun);
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
            }
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
            QVERIFY(std::filesystem::is_empty(run.checkpointsFolder()));
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
            QVERIFY(std::filesystem::is_empty(run.checkpointsFolder()));
        }
    }
};

QTEST_GUILESS_MAIN(TestPowerLoss)
#include "tst_power_loss.moc"
