#include "core/base/clock.h"
#include "core/base/file_system.h"
#include "core/telemetry/writer.h"

#include <QTemporaryDir>
#include <QScopeGuard>
#include <QTest>
#include <cmath>
#include <csignal>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <sys/resource.h>
#include <sys/stat.h>

using namespace furrow;

namespace {

std::vector<std::string> linesOf(const std::filesystem::path& path)
{
    std::ifstream in(path, std::ios::binary);
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);)
        lines.push_back(line);
    return lines;
}

StepRecord someStep(std::int64_t step)
{
    StepRecord r;
    r.monotonicNs = 1'000'000 * step;
    r.step = step;
    r.chunk = 100'000'003'000'017;
    r.block = 3;
    r.loss = 3.4312345f;
    r.lr = 6e-4;
    r.time.forward = 1.23456;
    return r;
}

} // namespace

class TestTelemetryWriter : public QObject {
    Q_OBJECT

private:
    QTemporaryDir dir_;
    std::filesystem::path file(const char* name) const
    {
        return std::filesystem::path(dir_.path().toStdString()) / "telemetry" / name;
    }

private Q_SLOTS:
    void aNamedPipeInPlaceOfTheTelemetryHungItsWriter()
    {
        const auto path = file("9-w0.jsonl");
        std::filesystem::create_directories(path.parent_path());
        QCOMPARE(::mkfifo(path.c_str(), 0600), 0);
        const auto writer = TelemetryWriter::open(path, { "run-7c1e", 9, 0 }, systemClock());
        QVERIFY(!writer.ok());
        QVERIFY2(
            writer.error().message.find("not a regular file") != std::string::npos, writer.error().message.c_str());
        std::filesystem::remove(path);
    }

    void everyLineIsAnObjectAndTheFirstIsTheHeader()
    {
        const auto path = file("1-w0.jsonl");
        auto writer = TelemetryWriter::open(path, { "run-7c1e", 1, 0 }, systemClock());
        QVERIFY(writer.ok());
        writer.value().write(someStep(1));
        writer.value().write(EvalRecord { 5, 1, 4096, 3.4, 2, EvalRecord::What::Merged });
        writer.value().write(EventRecord { 6, 1, 0, EventRecord::Kind::Spike, "quote \" back\\slash \xff end" });
        writer.value().write(GpuRecord { 7, "GPU-5b1e", 0.97, 17, 24, 310.5, 66 });
        writer.value().write(SampleRecord { 8, 1, "ROMEO:", "line\nbreak" });
        writer.value().flush();
        const auto lines = linesOf(path);
        QCOMPARE(lines.size(), std::size_t(6));
        for (const auto& line : lines)
            QVERIFY2(nlohmann::json::accept(line), line.c_str());
        const auto header = nlohmann::json::parse(lines[0]);
        QCOMPARE(header["schema"].get<int>(), 1);
        QVERIFY(header["wall_anchor"].get<std::int64_t>() > 0);
        const auto step = nlohmann::json::parse(lines[1]);
        QCOMPARE(step["fwd"].get<double>(), 1.235);
        QCOMPARE(static_cast<float>(step["loss"].get<double>()), 3.4312345f);
        QVERIFY(!step.contains("bwd"));
        QCOMPARE(writer.value().counts().written, std::int64_t(5));
    }

    void notANumberAndInfinitiesAreStrings()
    {
        std::string line;
        StepRecord r = someStep(1);
        r.loss = std::numeric_limits<double>::quiet_NaN();
        r.lr = -std::numeric_limits<double>::infinity();
        r.gradientNorm = std::numeric_limits<double>::infinity();
        encodeLine(TelemetryRecord(r), line);
        const auto parsed = nlohmann::json::parse(line);
        QCOMPARE(parsed["loss"].get<std::string>(), std::string("nan"));
        QCOMPARE(parsed["lr"].get<std::string>(), std::string("-inf"));
        QCOMPARE(parsed["gnorm"].get<std::string>(), std::string("inf"));
    }

    void arrivesWithinTheIntervalWithoutBeingAsked()
    {
        const auto path = file("2-w0.jsonl");
        auto writer = TelemetryWriter::open(path, { "run", 2, 0 }, systemClock());
        QVERIFY(writer.ok());
        writer.value().write(someStep(1));
        QTRY_COMPARE_WITH_TIMEOUT(linesOf(path).size(), std::size_t(2), 2000);
    }

    void closesATornLineBeforeTheNextIncarnation()
    {
        const auto path = file("3-w0.jsonl");
        std::filesystem::create_directories(path.parent_path());
        std::ofstream(path, std::ios::binary) << "{\"schema\":1}\n{\"k\":\"step\",\"t\":12";
        {
            auto writer = TelemetryWriter::open(path, { "run", 3, 0 }, systemClock());
            QVERIFY(writer.ok());
        }
        const auto lines = linesOf(path);
        QCOMPARE(lines.size(), std::size_t(3));
        QVERIFY(nlohmann::json::accept(lines[2]));
    }

    void countsWhatDoesNotFitInTheQueue()
    {
        TelemetryWriterOptions options;
        options.queueRecords = 8;
        options.flushIntervalMs = 100'000;
        auto writer = TelemetryWriter::open(file("4-w0.jsonl"), { "run", 4, 0 }, systemClock(), options);
        QVERIFY(writer.ok());
        const int kMany = 20000;
        for (int i = 1; i <= kMany; ++i)
            writer.value().write(someStep(i));
        writer.value().flush();
        const auto counts = writer.value().counts();
        QVERIFY(counts.droppedQueueFull > 0);
        QCOMPARE(counts.written + counts.droppedQueueFull, std::int64_t(kMany));
    }

    void aFullDiskIsCountedAndNotFatal()
    {
        // No file of this process may have a byte, as on a disk without room. Not /dev/full: what is no regular file is
        // refused.
        rlimit before {};
        QCOMPARE(::getrlimit(RLIMIT_FSIZE, &before), 0);
        std::signal(SIGXFSZ, SIG_IGN);
        const rlimit none { 0, before.rlim_max };
        QCOMPARE(::setrlimit(RLIMIT_FSIZE, &none), 0);
        const auto roomAgain = qScopeGuard([before] { ::setrlimit(RLIMIT_FSIZE, &before); });
        TelemetryWriterOptions options;
        options.pendingBytes = 4096;
        const auto path = file("5-w0.jsonl");
        auto writer = TelemetryWriter::open(path, { "run", 5, 0 }, systemClock(), options);
        QVERIFY(writer.ok());
        for (int i = 1; i <= 1000; ++i)
            writer.value().write(someStep(i));
        writer.value().flush();
        const auto counts = writer.value().counts();
        QVERIFY(counts.failedWrites > 0);
        QVERIFY(counts.droppedDiskRefused > 0);
        QCOMPARE(counts.written, std::int64_t(0));
        QVERIFY(counts.lastError.find(path.string()) != std::string::npos);
    }

    void aFolderThatCannotBeWrittenIsAnError()
    {
        const auto blocked = std::filesystem::path(dir_.path().toStdString()) / "blocked";
        std::ofstream(blocked) << "a file, not a folder";
        const auto writer = TelemetryWriter::open(blocked / "telemetry" / "1-w0.jsonl", { "run", 1, 0 }, systemClock());
        QVERIFY(!writer.ok());
        QVERIFY(writer.error().message.find("blocked") != std::string::npos);
    }
};

QTEST_GUILESS_MAIN(TestTelemetryWriter)
#include "tst_telemetry_writer.moc"
