#include "core/run/supervise/worker_pool.h"

#include "core/base/link_refusal.h"
#include "core/base/log.h"
#include "core/base/path.h"
#include "core/base/random.h"
#include "core/base/sentence.h"
#include "core/config/worker_task.h"

#include <algorithm>

namespace furrow {

namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;
constexpr std::int64_t kPatienceNs
    = 5 * kSecondNs; // for the other ranks of a group to find out what happened and to end by themselves

constexpr std::size_t kMeetingDigits = 8;

/// Where the ranks of an attempt met: "<attempt>-<8 hex digits>". Anything else in the folder is somebody's.
bool isMeeting(const std::filesystem::path& file)
{
    const auto name = utf8Text(file.filename());
    const auto dash = name.find('-');
    std::error_code gone;
    return dash != std::string::npos && dash > 0 && name.find_first_not_of("0123456789") == dash
        && name.size() == dash + 1 + kMeetingDigits
        && name.find_first_not_of("0123456789abcdef", dash + 1) == std::string::npos
        && std::filesystem::is_regular_file(std::filesystem::symlink_status(file, gone));
}

std::filesystem::path program(const char* name)
{
    auto path = executablePath().parent_path() / name;
    path += executablePath().extension(); // .exe where there is one
    return path;
}

} // namespace

WorkerPool::WorkerPool(RunPaths paths, GuardedFiles& files, std::int64_t attempt,
    std::vector<WorkerPlacement> placements, int maxRestarts, bool together, const Clock& clock)
    : paths_(std::move(paths))
    , files_(files)
    , attempt_(attempt)
    , restarts_(maxRestarts)
    , together_(together)
    , clock_(clock)
{
    for (auto& placement : placements)
        slots_.push_back({ std::move(placement), std::nullopt, {} });
}

Status WorkerPool::startAll()
{
    FURROW_TRY(startFeeder());
    return startTrainers();
}

Status WorkerPool::startTrainers()
{
    if (together_) {
        FURROW_TRY(files_.createFolders(paths_.meetingsFolder()));
        FURROW_TRY_ASSIGN(const auto old, entriesOf(paths_.meetingsFolder()));
        for (const auto& file : old)
            if (isMeeting(file))
                FURROW_TRY(files_.removeAll(file));
        meeting_ = paths_.meetingsFolder() / (std::to_string(attempt_) + "-" + randomHex(kMeetingDigits));
    }
    for (auto& slot : slots_)
        FURROW_TRY(start(slot));
    return {};
}

/// Its log is appended to: no link may lead there.
Result<ChildProcess> WorkerPool::startProcess(const std::filesystem::path& program, const ProcessOptions& options)
{
    FURROW_TRY(files_.guard().check());
    FURROW_TRY(refuseLink(options.outputFile));
    return ChildProcess::start(program, options);
}

Status WorkerPool::startFeeder()
{
    ProcessOptions options;
    options.arguments = { "feed", paths_.folder().string() };
    options.outputFile = paths_.logFile(attempt_, "feeder");
    options.withSecrets = true; // it alone asks the hub
    auto child = startProcess(executablePath(), options);
    if (!child.ok())
        return child.error().in(sentence("starting the feeder"));
    feeder_ = std::move(child).value();
    feederBackOff_.onStart(clock_.monotonicNs());
    return {};
}

Status WorkerPool::start(Slot& slot)
{
    const auto& place = slot.placement;
    const std::string worker = std::to_string(place.worker);
    ProcessOptions options;
    options.arguments = { "--role", toString(WorkerRole::Trainer), paths_.folder().string(), "--worker", worker,
        "--replica", together_ ? "0" : worker, "--attempt", std::to_string(attempt_), "--device", place.device,
        "--threads", std::to_string(place.threads) };
    options.environment = { { "CUDA_DEVICE_ORDER", "PCI_BUS_ID" },
        { "CUDA_VISIBLE_DEVICES", place.device == "cpu" ? "" : place.device },
        { "OMP_NUM_THREADS", std::to_string(place.threads) } };
    if (together_) {
        // The ranks are on this machine: nothing of theirs listens where others could reach it.
        options.environment.insert(
            { { "NCCL_SOCKET_IFNAME", "=lo" }, { "NCCL_IB_DISABLE", "1" }, { "NCCL_RAS_ENABLE", "0" } });
        for (const auto& word :
            { std::string("--ranks"), std::to_string(slots_.size()), std::string("--meeting"), meeting_.string() })
            options.arguments.push_back(word);
    }
    options.outputFile = paths_.logFile(attempt_, "worker-" + worker);
    auto child = startProcess(program("furrow-worker"), options);
    if (!child.ok())
        return child.error().in(sentence("starting worker %1", { worker }));
    slot.process = std::move(child).value();
    slot.backOff.onStart(clock_.monotonicNs());
    return {};
}

std::vector<WorkerPool::Ended> WorkerPool::poll()
{
    std::vector<Ended> ended;
    for (auto& slot : slots_) {
        if (!slot.process)
            continue;
        if (const auto exit = slot.process->poll()) {
            ended.push_back({ slot.placement.worker, slot.process->identity(), *exit });
            slot.process.reset();
        }
    }
    if (feeder_) {
        if (const auto exit = feeder_->poll()) {
            ended.push_back({ -1, feeder_->identity(), *exit });
            feeder_.reset();
        }
    }
    return ended;
}

bool WorkerPool::restartLater(int worker, bool endedByUs, std::optional<std::int64_t> pausedAt)
{
    if (together_ && worker >= 0 && anyRestartPlanned())
        return true;
    const int countsFor = together_ && worker >= 0 ? 0 : worker; // the slot of the first rank counts for all
    if (!restarts_.take(countsFor, pausedAt)) {
        if (worker >= 0)
            slots_[static_cast<std::size_t>(worker)].isGone = true;
        return false;
    }
    auto& backOff = countsFor < 0 ? feederBackOff_ : slots_[static_cast<std::size_t>(countsFor)].backOff;
    backOff.onEnd(clock_.monotonicNs(), endedByUs);
    return true;
}

Status WorkerPool::startDue()
{
    const auto now = clock_.monotonicNs();
    if (feederBackOff_.isDue(now)) {
        FURROW_TRY(startFeeder()); // one that fails stays due
        feederBackOff_.cancel();
    }
    if (together_)
        return startTogether();
    for (auto& slot : slots_) {
        if (!slot.backOff.isDue(now))
            continue;
        FURROW_TRY(start(slot));
        slot.backOff.cancel();
        logInfo("worker " + std::to_string(slot.placement.worker) + " is started again");
    }
    return {};
}

/// Once every rank has ended: each says which one it missed. One that does not end (it stands still, say) is killed.
Status WorkerPool::startTogether()
{
    const auto now = clock_.monotonicNs();
    auto& backOff = slots_.front().backOff;
    if (!backOff.isDue(now))
        return {};
    if (anyWorkerAlive()) {
        if (now >= backOff.startAtNs() + kPatienceNs)
            for (auto& slot : slots_)
                if (slot.process)
                    slot.process->killTree();
        return {};
    }
    backOff.cancel();
    logInfo("starting all " + std::to_string(slots_.size()) + " workers again, together");
    return startTrainers();
}

void WorkerPool::requestStop()
{
    for (auto& slot : slots_) {
        slot.backOff.cancel();
        if (slot.process)
            slot.process->requestStop();
    }
}

void WorkerPool::killAll()
{
    for (auto& slot : slots_) {
        slot.backOff.cancel();
        if (slot.process)
            slot.process->killTree();
    }
    feederBackOff_.cancel();
    if (feeder_)
        feeder_->killTree();
}

void WorkerPool::stopFeeder()
{
    feederBackOff_.cancel();
    if (!feeder_)
        return;
    feeder_->requestStop();
    if (!feeder_->wait(std::chrono::seconds(5)))
        feeder_->killTree();
    feeder_.reset();
}

std::vector<ProcessIdentity> WorkerPool::processes() const
{
    std::vector<ProcessIdentity> found;
    for (const auto& slot : slots_)
        if (slot.process)
            found.push_back(slot.process->identity());
    return found;
}

std::optional<ProcessIdentity> WorkerPool::feeder() const
{
    return feeder_ ? std::optional(feeder_->identity()) : std::nullopt;
}

bool WorkerPool::anyWorkerAlive() const
{
    return std::any_of(slots_.begin(), slots_.end(), [](const Slot& slot) { return slot.process.has_value(); });
}

std::vector<WorkerPool::Start> WorkerPool::starts() const
{
    std::vector<Start> found;
    for (const auto& slot : slots_) {
        if (slot.process)
            found.push_back({ slot.placement.worker, slot.backOff.startedNs(), slot.process->identity() });
        else if (slot.backOff.isPlanned())
            found.push_back({ slot.placement.worker, slot.backOff.startAtNs(), std::nullopt });
    }
    return found;
}

std::vector<int> WorkerPool::goneForGood() const
{
    std::vector<int> gone;
    for (const auto& slot : slots_)
        if (slot.isGone)
            gone.push_back(slot.placement.worker);
    return gone;
}

bool WorkerPool::anyRestartPlanned() const
{
    return std::any_of(slots_.begin(), slots_.end(), [](const Slot& slot) { return slot.backOff.isPlanned(); });
}

} // namespace furrow
