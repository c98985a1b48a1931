#include "core/trials/storm/storm_run.h"

#include "core/base/file_lock.h"
#include "core/base/file_system.h"
#include "core/base/sentence.h"
#include "core/run/audit/repair.h"
#include "core/trials/storm/storm_patience.h"

#include <algorithm>
#include <fstream>

namespace furrow {

namespace {

constexpr int kLines = 4000;
constexpr int kStepMs = 4; // a chunk takes long enough to be hit in its middle
constexpr std::int64_t kMergeTokens = 30'000;

constexpr const char* kClockFile = "clocks";

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

/// Small blocks, short chunks, a checkpoint several times a second, a merge every second or so: every seam is crossed
/// often.
RunConfig stormConfig(const std::filesystem::path& text, std::uint64_t seed)
{
    RunConfig c;
    c.name = "storm";
    c.data = { text.string() };
    c.dataMode = DataMode::Lines;
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
    c.rankTimeout = 5;
    c.epochs = 2;
    c.seed = static_cast<std::int64_t>(seed & 0xffffffff);
    return c;
}

constexpr std::int64_t kStartPatienceMs = 30'000;
constexpr int kMostSteps = 3;

/// Whether the sentences of a message name an option; its values (names of files, what a system said) do not count.
bool offers(const Message& said, std::string_view option)
{
    const auto holds = [option](const Argument& one) {
        const auto* inner = std::get_if<Message>(&one.value);
        return inner != nullptr && offers(*inner, option);
    };
    const std::string_view words = said.isPlain() ? std::string_view(said.text()) : said.id();
    return words.find(option) != std::string_view::npos
        || std::any_of(said.arguments().begin(), said.arguments().end(), holds);
}

/// The next step that a refusal offers, as whoever reads it would take it.
enum class NextStep { None, Repair, AcceptLoss };
NextStep nextStepOf(const Message& said)
{
    return offers(said, "--repair")     ? NextStep::Repair
        : offers(said, "--accept-loss") ? NextStep::AcceptLoss
                                        : NextStep::None; // a repair loses nothing
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
    FURROW_TRY(realFileSystem().createFolders(folder));
    const auto text = folder / "text.txt";
    FURROW_TRY(writeFileDurably(realFileSystem(), text, manyLines()));
    NewRun request;
    request.config = stormConfig(text, seed);
    request.preset = "char";
    request.folder = folder / "run";
    FURROW_TRY_ASSIGN(auto paths, createRun(request, {}));
    FURROW_TRY_ASSIGN(auto config, currentConfig(paths));
    return StormRun(folder, paths, config);
}

Status StormRun::resume(const std::map<std::string, std::string>& faults, std::optional<CheckpointId> goBackTo)
{
    ResumeChoice choice { goBackTo };
    auto resumed = resumePlainly(faults, choice);
    for (int steps = 0; steps < kMostSteps && !resumed.ok() && nextStepOf(resumed.error().message) != NextStep::None;
        ++steps) {
        FURROW_TRY(takeStep(resumed.error().message, choice));
        resumed = resumePlainly(faults, choice);
    }
    return resumed;
}

Status StormRun::takeStep(const Message& said, ResumeChoice& choice)
{
    ++askedSteps_;
    if (nextStepOf(said) == NextStep::AcceptLoss) {
        if (std::none_of(damaged_.begin(), damaged_.end(),
                [&](const auto& folder) { return said.find(folder) != std::string::npos; }))
            undueStep_ = said;
        choice.acceptLoss = true;
        return {};
    }
    if (!std::exchange(olderTracker_, false))
        undueStep_ = said;
    const auto nobody = [](const std::string&) { };
    auto repaired = repairRun(paths_, nobody);
    if (!repaired.ok() && wasDamaged(repaired.error().message)) { // the older tracker does not know of an earlier yes
        ++askedSteps_;
        repaired = repairRun(paths_, nobody, true);
    }
    return repaired.ok() ? Status {} : repaired.error();
}

std::map<std::string, std::string> StormRun::environment() const
{
    return { { "FURROW_COUNTING", "1" }, { "FURROW_COUNTING_STEP_MS", std::to_string(kStepMs) },
        { "FURROW_LEASE_S", "6" }, { "FURROW_DISK_FULL", diskFullFile().string() },
        { "FURROW_SQLITE_FAULT", sqliteFaultFile().string() }, { "FURROW_FREEZE", freezeFile().string() },
        { "FURROW_CLOCK", faultFile(kClockFile).string() } };
}

Status StormRun::resumePlainly(const std::map<std::string, std::string>& faults, const ResumeChoice& choice)
{
    if (state() == RunState::Finished) {
        if (!extend_ && !choice.goBackTo) // nothing is left to resume
            return {};
        config_.epochs += extend_ ? 1 : 0;
    }
    config_.workers = together_ ? std::max(workers_, 2) : workers_;
    config_.parallel = together_ ? ParallelMode::Data : ParallelMode::Independent;
    config_.merge = together_ ? MergeMethod::Average : merge_;
    config_.mergeTokens = together_ ? 0 : kMergeTokens;
    auto environment = this->environment();
    environment.insert(faults.begin(), faults.end());
    FURROW_TRY(startRun(paths_, config_, environment, choice));
    ++resumes_;
    const auto own = attempt();
    waitFor([&] { return !isHeld() || hasWorkersOf(own); }, kStartPatienceMs);
    const auto said = isHeld() ? Message() : failureOf(own);
    return nextStepOf(said) == NextStep::None ? Status {} : Status { Error { ErrorCode::Corrupt, said } };
}

void StormRun::put(const std::filesystem::path& file, const std::string& text) const
{
    auto writing = file;
    writing += ".new";
    std::error_code failed;
    std::ofstream(writing) << text;
    std::filesystem::rename(writing, file, failed);
}

void StormRun::jumpClocks(std::int64_t wallSeconds, std::int64_t monotonicMoreSeconds)
{
    clock_.jump(systemClock().monotonicNs(), monotonicMoreSeconds * 1'000'000'000);
    put(faultFile(kClockFile), std::to_string(wallSeconds) + " " + std::to_string(clock_.aheadNs() / 1'000'000'000));
}

bool StormRun::wasDamaged(const std::string& said) const
{
    const auto names = [&](const std::string& name) { return said.find(name) != std::string::npos; };
    return std::any_of(damaged_.begin(), damaged_.end(), names) || std::any_of(remade_.begin(), remade_.end(), names);
}

bool StormRun::isHeld() const { return isLocked(paths_.supervisorLock()); }

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

std::int64_t StormRun::checkpoints() const
{
    auto reader = LedgerReader::open(paths_.tracker());
    auto rows = reader.ok() ? reader.value().checkpoints() : reader.error();
    return rows.ok() ? static_cast<std::int64_t>(rows.value().size()) : 0;
}

std::int64_t StormRun::committed() const
{
    auto reader = LedgerReader::open(paths_.tracker());
    auto epochs = reader.ok() ? reader.value().epochs() : reader.error();
    std::int64_t sum = 0;
    if (epochs.ok())
        for (const auto& epoch : epochs.value())
            sum += epoch.chunks[ChunkState::Committed];
    return sum;
}

bool StormRun::hasUndueDamage() const
{
    auto reader = LedgerReader::open(paths_.tracker());
    auto rows = reader.ok() ? reader.value().checkpoints() : reader.error();
    return rows.ok() && std::any_of(rows.value().begin(), rows.value().end(), [this](const auto& row) {
        return row.damaged && !wasDamaged(row.record.folder);
    });
}

AttemptId StormRun::attempt() const
{
    auto reader = LedgerReader::open(paths_.tracker());
    auto rows = reader.ok() ? reader.value().attempts() : reader.error();
    return rows.ok() && !rows.value().empty() ? rows.value().back().id : AttemptId {};
}

bool StormRun::isEndRecorded() const
{
    auto reader = LedgerReader::open(paths_.tracker());
    auto rows = reader.ok() ? reader.value().attempts() : reader.error();
    return rows.ok() && !rows.value().empty() && rows.value().back().endedWallNs.has_value();
}

bool StormRun::hasWorkersOf(AttemptId id) const
{
    auto reader = LedgerReader::open(paths_.tracker());
    auto rows = reader.ok() ? reader.value().incarnations() : reader.error();
    return rows.ok()
        && std::any_of(rows.value().begin(), rows.value().end(), [id](const auto& row) { return row.attempt == id; });
}

Message StormRun::failureOf(AttemptId id) const
{
    auto reader = LedgerReader::open(paths_.tracker());
    auto rows = reader.ok() ? reader.value().attempts() : reader.error();
    if (!rows.ok())
        return rows.error().message;
    for (const auto& row : rows.value())
        if (row.id == id && row.reason == StopReason::Error)
            return sentence("attempt %1 ended as failed: %2", { std::to_string(id.value), row.detail });
    return {};
}

std::string StormRun::endOf(AttemptId id) const
{
    if ((isHeld() && attempt() == id) || state() == RunState::Finished)
        return {};
    const auto failure = failureOf(id);
    if (wasDamaged(failure)) // by an earlier act: that ends an attempt for good reason
        return {};
    return failure.empty() ? "attempt " + std::to_string(id.value) + " ended" : failure.text();
}

} // namespace furrow
