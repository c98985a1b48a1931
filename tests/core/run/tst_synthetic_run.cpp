#include "core/run/audit/run_audit.h"
#include "core/run/status/run_status.h"
#include "core/telemetry/run_telemetry.h"
#include "core/trials/synthetic_run.h"

#include "tests/core/tracker/ledger_fixture.h"

#include <algorithm>
#include <set>

using namespace furrow;

/// The invented run that people look at first (`furrow --synthetic`).
class TestSyntheticRun : public QObject {
    Q_OBJECT
private Q_SLOTS:
    /// The charts had two attempts of three workers; header, map, lanes and tables knew of none.
    void itsPagesContradictedEachOther()
    {
        QTemporaryDir folder;
        const RunPaths paths(std::filesystem::path(folder.path().toStdString()) / "run");
        SyntheticRun run;
        run.steps = 3000;
        run.workers = 3;
        run.attempts = 3;
        const auto written = good(writeSyntheticRun(paths.folder(), run));

        const auto status = good(readStatus(paths));
        SAME(status.state, RunState::Stopped);
        QVERIFY2(status.stopDetail.find("no model was trained") != std::string::npos, status.stopDetail.text().c_str());
        auto reader = good(LedgerReader::open(paths.tracker()));
        QCOMPARE(good(reader.attempts()).size(), std::size_t(3));
        QCOMPARE(good(reader.incarnations()).size(), std::size_t(9));
        const auto epochs = good(reader.epochs());
        QCOMPARE(epochs.front().chunks[ChunkState::Excluded], 1);
        std::int64_t lost = 0;
        std::set<std::int64_t> known;
        for (const EpochRow& epoch : epochs)
            for (const ChunkCell& cell : good(reader.cells(epoch.epoch))) {
                lost += cell.timesLost;
                known.insert(cell.id.value);
            }
        QVERIFY(lost > 0); // by the two crashes

        RunTelemetry telemetry(paths.telemetryFolder());
        while (telemetry.poll()) { }
        const auto seen = telemetry.snapshot();
        std::set<std::int64_t> told;
        for (const Stretch& stretch : seen->stretches)
            for (std::size_t i = 0; i < stretch.chunks.size(); ++i)
                told.insert(stretch.chunks[i].chunk);
        QVERIFY(!told.empty() && std::includes(known.begin(), known.end(), told.begin(), told.end()));
        QVERIFY(written.stepLines > status.steps); // lost ones are told too
        QVERIFY(status.steps >= run.steps);

        const auto report = good(auditRun(paths, AuditDepth::Deep));
        QVERIFY2(report.isClean(), auditText(report).c_str());
        for (const auto& attempt : good(reader.attempts()))
            QVERIFY(attempt.startedWallNs < systemClock().wallNs() && attempt.startedWallNs > 0);
    }

    void theSameSeedMakesTheSameStory()
    {
        QTemporaryDir folder;
        const auto root = std::filesystem::path(folder.path().toStdString());
        SyntheticRun run;
        run.steps = 600;
        std::vector<std::vector<ChunkCell>> cells;
        for (const char* name : { "a", "b" }) {
            good(writeSyntheticRun(root / name, run));
            cells.push_back(good(good(LedgerReader::open(RunPaths(root / name).tracker())).cells(0)));
        }
        QCOMPARE(cells[0].size(), cells[1].size());
        for (std::size_t i = 0; i < cells[0].size(); ++i) {
            QCOMPARE(cells[0][i].worker, cells[1][i].worker);
            QVERIFY(cells[0][i].meanLoss == cells[1][i].meanLoss
                || (std::isnan(cells[0][i].meanLoss) && std::isnan(cells[1][i].meanLoss)));
        }
    }

    void itIsRefusedWhereItCannotBe()
    {
        QTemporaryDir folder;
        SyntheticRun run;
        run.steps = 1;
        SAME(writeSyntheticRun(folder.filePath("run").toStdString(), run).error().code, ErrorCode::InvalidArgument);
        run.steps = 100;
        QVERIFY(!writeSyntheticRun("/proc/run", run).ok());
    }
};

QTEST_GUILESS_MAIN(TestSyntheticRun)
#include "tst_synthetic_run.moc"
