#include "core/run/storm/storm_run.h"

#include "core/base/file_lock.h"
#include "core/base/file_system.h"

#include <algorithm>

namespace furrow {

namespace {

constexpr int kLines = 4000;
constexpr int kStepMs = 4; // a chunk takes long enough to be hit in its middle

std::string manyLines()
{
    static const char* const kWords[] = { "furrow", "field", "plough", "seed", "rain", "harvest", "barn", "wheel" };
    std::string text;
    for (int line = 0; line < kLines; ++line) {
        text += std::to_string(line);
        for (int word = 0; word < 5; ++word)
            text += std::string(" ") + kWords[(line * 7 + word * word) % 8];
        text += '\n';
    }
    return text;
}

/// Small blocks, short chunks, a checkpoint several times a second, a merge every second or so: every seam is crossed often.
RunConfig stormConfig(const std::filesystem::path& text, std::uint64_t seed)
{
    RunConfig c;
    c.name = "storm";
    c.data = { text.string() };
    c.dataMode = "lines";
    c.samplesPerBlock = 100;
    c.chunkSamples = 10;
    c.heldOutPercent = 2;
    c.layers = 1;
    c.heads = 2;
    c.width = 16;
    c.seqLen = 64;
    c.batchSize = 1;
    c.devices = "cpu";
    c.threads = 1;
    c.maxRestarts = 1000;
    c.checkpointMinutes = 0.01;
    c.checkpointSteps = 40;
    c.keepLast = 2;
    c.evalSteps = 0;
    c.mergeTokens = 30'000;
    c.epochs = 2;
    c.seed = static_cast<std::int64_t>(seed & 0xffffffff);
    return c;
}

} // namespace

StormRun::StormRun(std::filesystem::path folder, RunPaths paths, RunConfig config)
    : folder_(std::move(folder))
    , paths_(std::move(paths))
    , config_(std::move(config))
{
}

Result<StormRun> StormRun::make(const std::filesystem::path& folder, std::uint64_t seed)
{
    if (auto made = realFileSystem().createFolders(folder); !made.ok())
        return made.error();
    const auto text = folder / "text.txt";
    if (auto written = writeFileDurably(realFileSystem(), text, manyLines()); !written.ok())
        return written.error();
    NewRun request;
    request.config = stormConfig(text, seed);
    request.preset = "char";
    request.folder = folder / "run";
    auto paths = createRun(request, {});
    if (!paths.ok())
        return paths.error();
    auto config = currentConfig(paths.value());
    if (!config.ok())
        return config.error();
    return StormRun(folder, paths.value(), config.value());
}

Status StormRun::resume(const std::map<std::string, std::string>& faults)
{
    if (extend_ && state() == RunState::Finished)
        ++config_.epochs;
    config_.workers = workers_;
    std::map<std::string, std::string> environment { { "FURROW_COUNTING", "1" }, { "FURROW_COUNTING_STEP_MS", std::to_string(kStepMs) }, { "FURROW_LEASE_S", "6" },
        { "FURROW_DISK_FULL", diskFullFile().string() }, { "FURROW_WALL_OFFSET_S", std::to_string(wallOffsetSeconds_) } };
    environment.insert(faults.begin(), faults.end());
    auto started = startRun(paths_, config_, environment);
    if (!started.ok())
        return started.error();
    ++resumes_;
    return {};
}

bool StormRun::isHeld() const
{
    return isLocked(paths_.supervisorLock());
}

RunState StormRun::state() const
{
    auto status = readStatus(paths_);
    return status.ok() ? status.value().state : RunState::Unknown;
}

std::vector<ProcessIdentity> StormRun::workersAlive() const
{
    std::vector<ProcessIdentity> found;
    auto reader = LedgerReader::open(paths_.tracker());
    if (!reader.ok())
        return found;
    auto rows = reader.value().incarnations();
    if (!rows.ok())
        return found;
    for (const auto& row : rows.value())
        if (isAlive(row.process))
            found.push_back(row.process);
    return found;
}

std::optional<ProcessIdentity> StormRun::supervisorAlive() const
{
    auto reader = LedgerReader::open(paths_.tracker());
    auto totals = reader.ok() ? reader.value().totals() : reader.error();
    if (!totals.ok() || !totals.value().supervisor || !isAlive(*totals.value().supervisor))
        return std::nullopt;
    return totals.value().supervisor;
}

std::optional<ProcessIdentity> StormRun::feederAlive() const
{
    auto reader = LedgerReader::open(paths_.tracker());
    auto totals = reader.ok() ? reader.value().totals() : reader.error();
    if (!totals.ok() || !totals.value().feeder || !isAlive(*totals.value().feeder))
        return std::nullopt;
    return totals.value().feeder;
}

void StormRun::killEverything() const
{
    if (const auto supervisor = supervisorAlive())
        killProcessTree(*supervisor); // with all it started, also what did not register yet
    for (const auto& worker : workersAlive())
        killProcessTree(worker);
    if (const auto feeder = feederAlive())
        killProcessTree(*feeder);
}

std::int64_t StormRun::events() const
{
    auto reader = LedgerReader::open(paths_.tracker());
    auto newest = reader.ok() ? reader.value().newestEvent() : reader.error();
    return newest.ok() ? newest.value() : 0;
}

} // namespace furrow
