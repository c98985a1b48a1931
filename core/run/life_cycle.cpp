#include "core/run/life_cycle.h"

#include "core/base/file_lock.h"
#include "core/base/file_system.h"
#include "core/base/log.h"
#include "core/run/frozen_config.h"
#include "core/run/run_status.h"

#include <nlohmann/json.hpp>

#include <chrono>
#include <thread>

namespace furrow {

namespace {

constexpr auto kStartPatience = std::chrono::seconds(30);

std::filesystem::path furrowctl()
{
    auto path = executablePath().parent_path() / "furrowctl"; // also when the console asks
    path += executablePath().extension();
    return path;
}

Status setDesired(const RunPaths& paths, DesiredState desired)
{
    auto ledger = SupervisorLedger::open(paths.tracker());
    if (!ledger.ok())
        return ledger.error();
    return ledger.value().setDesired(desired);
}

Status requireAlive(const RunPaths& paths, const char* verb)
{
    auto file = readRunFile(paths);
    if (!file.ok())
        return file.error();
    if (!isLocked(paths.supervisorLock()))
        return Error { ErrorCode::InvalidArgument, paths.folder().string() + " is not running, so there is nothing to " + verb + "." };
    return {};
}

/// Waits until the supervisor has written its name, or has ended with a reason.
Status waitUntilHeld(const RunPaths& paths, const ProcessIdentity& supervisor, const std::filesystem::path& log)
{
    const auto deadline = std::chrono::steady_clock::now() + kStartPatience;
    while (std::chrono::steady_clock::now() < deadline) {
        auto reader = LedgerReader::open(paths.tracker());
        if (reader.ok()) {
            auto totals = reader.value().totals();
            if (totals.ok() && totals.value().supervisor && *totals.value().supervisor == supervisor)
                return {};
        }
        if (!isAlive(supervisor)) {
            const auto said = lastLogLine(log);
            return Error { ErrorCode::Internal, said.empty() ? "the supervisor ended before it held the run; see " + log.string() : said };
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return Error { ErrorCode::Busy, "the supervisor did not take the run within 30 seconds; see " + log.string() };
}

} // namespace

Result<RunConfig> currentConfig(const RunPaths& paths)
{
    auto file = readRunFile(paths);
    if (!file.ok())
        return file.error();
    auto reader = openLedger(paths);
    if (!reader.ok())
        return reader.error();
    auto attempts = reader.value().attempts();
    if (!attempts.ok())
        return attempts.error();
    if (attempts.value().empty())
        return file.value().config;
    const auto overrides = nlohmann::json::parse(attempts.value().back().overridesJson, nullptr, false);
    auto reading = configFromJson(overrides, file.value().config);
    if (!reading.problems.empty())
        return Error { ErrorCode::Corrupt, toString(reading.problems) };
    return reading.config;
}

Result<ProcessIdentity> startRun(const RunPaths& paths, const RunConfig& wanted, const std::map<std::string, std::string>& environment)
{
    auto file = readRunFile(paths);
    if (!file.ok())
        return file.error();
    auto reader = LedgerReader::open(paths.tracker());
    if (!reader.ok())
        return reader.error();
    if (auto same = checkFrozen(file.value(), reader.value()); !same.ok())
        return same.error();
    auto problems = validate(wanted);
    const auto refused = refusedOnResume(file.value().config, wanted);
    problems.insert(problems.end(), refused.begin(), refused.end());
    if (!problems.empty())
        return Error { ErrorCode::InvalidArgument, toString(problems) };
    if (const auto unsafe = unsafeForLedgerReason(paths.folder()); !unsafe.empty())
        return Error { ErrorCode::InvalidArgument, paths.folder().string() + " cannot hold a training run: " + unsafe };
    if (isLocked(paths.supervisorLock())) {
        auto status = readStatus(paths);
        const auto pid = status.ok() ? status.value().supervisorPid : 0;
        return Error { ErrorCode::Busy, paths.folder().string() + " is already running" + (pid ? ", held by process " + std::to_string(pid) : std::string()) + ". Stop it first." };
    }
    if (auto made = realFileSystem().createFolders(paths.logsFolder()); !made.ok())
        return made.error();
    ProcessOptions options;
    options.environment = environment;
    options.arguments = { "supervise", paths.folder().string() };
    for (const auto& change : changes(file.value().config, wanted)) {
        options.arguments.push_back("--set");
        options.arguments.push_back(change.setting->key + "=" + change.after);
    }
    options.outputFile = paths.supervisorLog();
    auto started = startDetached(furrowctl(), options);
    if (!started.ok())
        return started.error().in("starting the supervisor");
    if (auto held = waitUntilHeld(paths, started.value(), options.outputFile); !held.ok())
        return held.error();
    return started;
}

Status pauseRun(const RunPaths& paths)
{
    if (auto alive = requireAlive(paths, "pause"); !alive.ok())
        return alive;
    return setDesired(paths, DesiredState::Pause);
}

Status continueRun(const RunPaths& paths)
{
    if (isLocked(paths.supervisorLock()))
        return setDesired(paths, DesiredState::Run);
    auto config = currentConfig(paths);
    if (!config.ok())
        return config.error();
    auto started = startRun(paths, config.value());
    return started.ok() ? Status {} : started.error();
}

Status stopRun(const RunPaths& paths)
{
    if (auto alive = requireAlive(paths, "stop"); !alive.ok())
        return alive;
    return setDesired(paths, DesiredState::Stop);
}

Status killRun(const RunPaths& paths)
{
    if (auto alive = requireAlive(paths, "kill"); !alive.ok())
        return alive;
    return setDesired(paths, DesiredState::Kill);
}

Status saveNow(const RunPaths& paths)
{
    if (auto alive = requireAlive(paths, "save"); !alive.ok())
        return alive;
    auto ledger = SupervisorLedger::open(paths.tracker());
    if (!ledger.ok())
        return ledger.error();
    return ledger.value().requestSave();
}

} // namespace furrow
