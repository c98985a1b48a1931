#include "ui/bench/bench_parts.h"

#include "core/base/path.h"
#include "core/base/resources.h"
#include "core/run/start/life_cycle.h"

#include <QCoreApplication>
#include <QThread>
#include <QTimer>
#include <algorithm>

namespace furrow {

double p95(std::vector<double> values)
{
    std::sort(values.begin(), values.end());
    return values[values.size() * 95 / 100];
}

double repeated(const std::function<void()>& work, int rounds)
{
    work();
    std::vector<double> times;
    for (int i = 0; i < rounds; ++i) {
        const CpuClock watch;
        work();
        times.push_back(watch.milliseconds());
    }
    return p95(times);
}

bool waitUntil(const std::function<bool()>& isSo, int patienceMs)
{
    const WallClock clock;
    while (!isSo()) {
        if (clock.milliseconds() > patienceMs)
            return false;
        QCoreApplication::processEvents(QEventLoop::AllEvents, 20);
        QThread::msleep(1);
    }
    return true;
}

void pass(int ms)
{
    QEventLoop loop;
    QTimer::singleShot(ms, &loop, &QEventLoop::quit);
    loop.exec();
}

void Bench::add(const char* name, double value, const char* unit, double target)
{
    results.push_back({ QLatin1String(name), value, QLatin1String(unit), target, value <= target });
}

void Bench::fail(const char* name, const char* unit, double target)
{
    results.push_back({ QString::fromLatin1(name) + QStringLiteral(" (could not be measured)"), -1, QLatin1String(unit),
        target, false });
}

std::filesystem::path Bench::telemetry(std::int64_t events, int workers)
{
    const auto folder
        = std::filesystem::path(dir_.path().toStdString()) / (std::to_string(events) + "x" + std::to_string(workers));
    if (!std::filesystem::exists(folder)) {
        SyntheticRun shape;
        shape.steps = events;
        shape.workers = workers;
        if (!writeSyntheticTelemetry(folder, shape).ok())
            return {};
    }
    return folder;
}

RunConfig Bench::endlessConfig()
{
    const auto preset = findPreset("char");
    RunConfig config = preset.ok() ? preset.value().config : RunConfig {};
    if (const auto sample = resourcePath("sample/tinyshakespeare.txt"); sample.ok())
        config.data = { utf8Text(sample.value()) };
    config.layers = 1;
    config.heads = 2;
    config.width = 32;
    config.seqLen = 32;
    config.batchSize = 4;
    config.chunkSamples = 10;
    config.samplesPerBlock = 200;
    config.epochs = 100'000;
    config.evalSteps = 0;
    config.sampleSteps = 0;
    config.threads = 1;
    config.workers = 2;
    config.devices = "cpu";
    config.checkpointMinutes = 0.05;
    return config;
}

std::filesystem::path Bench::runFolder(const QString& workspace, const std::string& name)
{
    NewRun request;
    request.config = endlessConfig();
    request.config.name = name;
    request.preset = "char";
    request.workspace = pathFromUtf8((folder() + QLatin1Char('/') + workspace).toStdString());
    const auto made = createRun(request, {});
    return made.ok() ? made.value().folder() : std::filesystem::path();
}

} // namespace furrow
