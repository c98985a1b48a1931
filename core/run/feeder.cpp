#include "core/run/feeder.h"

#include "core/base/clock.h"
#include "core/base/fail_point.h"
#include "core/base/format.h"
#include "core/base/log.h"
#include "core/base/sentence.h"
#include "core/data/block_manager.h"
#include "core/data/tokenizer/tokenizer.h"
#include "core/run/feeder_meters.h"
#include "core/run/frozen_config.h"
#include "core/run/hub_patience.h"
#include "core/run/life_cycle.h"
#include "core/tracker/feeder_ledger.h"

#include <algorithm>
#include <map>

namespace furrow {

namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;
constexpr auto kIdle = std::chrono::milliseconds(50);
constexpr auto kRetry = std::chrono::seconds(5);
constexpr int kPlansPerTurn = 64;
constexpr int kTriesPerBlock = 2;

/// What may mend itself: a share or disk that is away (NotFound), a network that is down, a full disk.
bool isOutside(const Error& error)
{
    return error.code == ErrorCode::Io || error.code == ErrorCode::Network || error.code == ErrorCode::Busy || error.code == ErrorCode::NotFound;
}

class Feeder {
public:
    Feeder(RunPaths paths, RunFile file, RunConfig config, FeederLedger ledger, LedgerReader reader, BlockManager blocks, std::int64_t attempt, const StopRequest& stop)
        : paths_(std::move(paths))
        , file_(std::move(file))
        , config_(std::move(config))
        , ledger_(std::move(ledger))
        , reader_(std::move(reader))
        , blocks_(std::move(blocks))
        , meters_(paths_, file_.runId, config_.seqLen, attempt)
        , stop_(stop)
    {
    }

    Status run()
    {
        if (auto status = continuePlanning(); !status.ok())
            return status;
        while (!stop_.requested()) {
            auto worked = turn();
            if (!worked.ok())
                return worked.error();
            if (!worked.value())
                stop_.waitFor(kIdle);
        }
        return {};
    }

private:
    Status continuePlanning();
    Result<bool> turn();
    Status beat();
    Result<bool> plan();
    Result<bool> checkNext();
    Result<bool> prepareNext(const FeederLedger::Demand& demand);
    Result<bool> onFailure(std::int64_t block, const Error& error);
    Status keepNeeded();
    Result<int> plansNow();
    std::size_t budget() const;

    RunPaths paths_;
    RunFile file_;
    RunConfig config_;
    FeederLedger ledger_;
    LedgerReader reader_;
    BlockManager blocks_;
    FeederMeters meters_;
    const StopRequest& stop_;
    bool allPlanned_ = false;
    std::string doing_ = "starting";
    std::int64_t nextBeatNs_ = 0;
    std::map<std::int64_t, int> failures_;
    std::vector<std::int64_t> unchecked_; ///< prepared by an earlier attempt and not looked at in this one
};

Status Feeder::continuePlanning()
{
    auto demand = ledger_.demand();
    if (!demand.ok())
        return demand.error();
    unchecked_ = demand.value().neededBlocks;
    allPlanned_ = demand.value().lastBlockProven;
    const auto known = demand.value().knownBlocks;
    if (allPlanned_ || known == 0)
        return {};
    auto last = reader_.block(known - 1);
    if (!last.ok())
        return last.error();
    return blocks_.resumeAfter(last.value().plan);
}

Status Feeder::beat()
{
    const auto now = systemClock().monotonicNs();
    if (now < nextBeatNs_)
        return {};
    nextBeatNs_ = now + kSecondNs;
    if (auto status = ledger_.heartbeat(thisProcess(), doing_); !status.ok())
        return status;
    meters_.publish(doing_, blocks_.openTimes());
    return keepNeeded();
}

Result<bool> Feeder::turn()
{
    if (auto status = beat(); !status.ok())
        return status.error();
    auto demand = ledger_.demand(static_cast<std::int64_t>(budget()));
    if (!demand.ok())
        return demand.error();
    auto checked = checkNext();
    if (!checked.ok() || checked.value())
        return checked;
    doing_ = "waiting: enough is prepared";
    auto prepared = prepareNext(demand.value());
    if (!prepared.ok())
        return prepared;
    auto planned = plan();
    return planned.ok() ? Result<bool>(prepared.value() || planned.value()) : planned;
}

/// How many blocks may become known now. Where knowing them costs room in the cache, no more than will soon be prepared: a file that
/// came too early would push out what is needed first, and be fetched twice.
Result<int> Feeder::plansNow()
{
    if (!blocks_.planningFillsCache())
        return kPlansPerTurn;
    const int enough = static_cast<int>(budget());
    auto ahead = ledger_.wanted(enough);
    if (!ahead.ok())
        return ahead.error();
    return enough - static_cast<int>(ahead.value().size());
}

Result<bool> Feeder::plan()
{
    if (allPlanned_)
        return false;
    auto most = plansNow();
    if (!most.ok())
        return most.error();
    if (most.value() <= 0)
        return false;
    std::vector<NewBlock> fresh;
    const auto until = systemClock().monotonicNs() + kSecondNs / 4;
    while (static_cast<int>(fresh.size()) < most.value() && systemClock().monotonicNs() < until && !stop_.requested()) {
        auto next = blocks_.planNext();
        if (!next.ok()) {
            doing_ = next.error().message;
            logWarning("planning: " + next.error().message);
            stop_.waitFor(kRetry);
            break;
        }
        if (!next.value()) {
            allPlanned_ = true;
            break;
        }
        const auto& block = *next.value();
        fresh.push_back({ block.block, block.source, block.firstRow, block.chunkRows, block.plan, blocks_.excludedChunks(block.block) });
    }
    failPoint("feeder.planned");
    if (!fresh.empty())
        if (auto status = ledger_.addBlocks(fresh); !status.ok())
            return status.error();
    if (!allPlanned_) {
        if (auto status = ledger_.setUnprovenReason(blocks_.unprovenReason()); !status.ok())
            return status.error();
        return !fresh.empty();
    }
    auto demand = ledger_.demand();
    if (!demand.ok())
        return demand.error();
    logInfo("the data has " + formatCount(demand.value().knownBlocks) + " blocks; the last one is proven");
    if (auto status = ledger_.setLastBlockProven(demand.value().knownBlocks); !status.ok())
        return status.error();
    return true;
}

/// Prepared blocks that may wait for workers: the group in training, the next one, and a few more.
std::size_t Feeder::budget() const
{
    return static_cast<std::size_t>(2 * config_.shuffleWindowBlocks + config_.prepareAheadBlocks);
}

/// Looks at every byte of one block that an earlier attempt prepared, before its chunks are trained in this one where
/// the feeder is quick enough; a worker checks what it reads in any case. A damaged one is prepared again.
Result<bool> Feeder::checkNext()
{
    if (unchecked_.empty())
        return false;
    const auto number = unchecked_.front();
    unchecked_.erase(unchecked_.begin());
    auto row = reader_.block(number);
    if (!row.ok())
        return row.error();
    auto block = BlockManager::fromPlan(row.value().plan);
    if (row.value().fileName.empty() || !block.ok())
        return true;
    doing_ = "checking block " + std::to_string(number);
    auto file = blocks_.find(block.value());
    const bool same = file.ok() && file.value().fileName == row.value().fileName && file.value().digest == row.value().digest;
    if (same)
        return true;
    const std::string cause = file.ok() ? "its prepared file is another one" : file.error().message;
    auto evicted = ledger_.setEvicted(number, cause);
    return evicted.ok() ? Result<bool>(true) : evicted.error();
}

Result<bool> Feeder::prepareNext(const FeederLedger::Demand& demand)
{
    if (demand.neededBlocks.size() >= budget())
        return false;
    if (!demand.neededBlocks.empty() && !blocks_.hasRoom()) {
        if (auto status = keepNeeded(); !status.ok()) // some may have been trained since
            return status.error();
        if (!blocks_.hasRoom()) {
            doing_ = "waiting: the cache is full of blocks in use";
            return false;
        }
    }
    auto wanted = ledger_.wanted(1);
    if (!wanted.ok())
        return wanted.error();
    if (wanted.value().empty())
        return false;
    const auto number = wanted.value().front().block;
    auto block = BlockManager::fromPlan(wanted.value().front().plan);
    if (!block.ok())
        return onFailure(number, block.error());
    auto row = reader_.block(number);
    if (!row.ok())
        return row.error();
    doing_ = "preparing block " + std::to_string(number);
    const auto began = systemClock().monotonicNs();
    auto file = blocks_.prepare(block.value(), [this] {
        (void)beat();
        return !stop_.requested();
    });
    if (!file.ok())
        return file.error().code == ErrorCode::Cancelled ? Result<bool>(false) : onFailure(number, file.error());
    meters_.made(file.value(), static_cast<double>(systemClock().monotonicNs() - began) / kSecondNs, row.value().digest.empty());
    failPoint("feeder.prepared");
    const auto chunks = preparedChunks(file.value().chunks, config_.seqLen);
    if (auto status = ledger_.setPrepared(number, file.value().fileName, file.value().digest, chunks); !status.ok())
        return status.error().code == ErrorCode::Corrupt ? onFailure(number, status.error()) : Result<bool>(status.error());
    failPoint("feeder.recorded");
    failures_.erase(number);
    nextBeatNs_ = 0; // pin it before anyone evicts it
    return true;
}

/// Trouble with the outside (disk, network) is tried again for ever; trouble with the block itself names it and goes on.
Result<bool> Feeder::onFailure(std::int64_t block, const Error& error)
{
    doing_ = "block " + std::to_string(block) + ": " + error.message;
    logWarning(doing_);
    if (isOutside(error) || ++failures_[block] < kTriesPerBlock) {
        (void)ledger_.heartbeat(thisProcess(), doing_);
        stop_.waitFor(kRetry);
        return false;
    }
    if (auto status = ledger_.setFailed(block, error.message); !status.ok())
        return status.error();
    return true;
}

/// Pins what is needed; a file that someone deleted or put aside is prepared again.
Status Feeder::keepNeeded()
{
    auto demand = ledger_.demand();
    if (!demand.ok())
        return demand.error();
    std::vector<std::string> names;
    const auto folder = BlockManager::blockFolder(paths_.cacheFolder());
    for (const auto block : demand.value().neededBlocks) {
        auto row = reader_.block(block);
        if (!row.ok())
            return row.error();
        if (row.value().fileName.empty())
            continue;
        if (std::filesystem::exists(folder / row.value().fileName)) {
            names.push_back(row.value().fileName);
        } else if (auto status = ledger_.setEvicted(block, sentence("its prepared file is gone from the cache")); !status.ok()) {
            return status;
        }
    }
    return blocks_.pin(names); // also lets go of what preparing has pinned and nobody needs any more
}

/// Waits for data that is away and says so.
Result<BlockManager> openBlocks(const RunPaths& paths, const RunFile& file, const RunConfig& config, std::shared_ptr<const Tokenizer> tokenizer, FeederLedger& ledger, const StopRequest& stop)
{
    for (;;) {
        auto blocks = BlockManager::open(config, file.dataManifest, file.samplesPerBlock, paths.cacheFolder(), tokenizer);
        if (blocks.ok() || !isOutside(blocks.error()) || stop.requested())
            return blocks;
        const std::string doing = "waiting for the data: " + blocks.error().message;
        logWarning(doing);
        if (auto status = ledger.heartbeat(thisProcess(), doing); !status.ok())
            return status.error();
        stop.waitFor(kRetry);
    }
}

} // namespace

Status runFeeder(const RunPaths& paths, const StopRequest& stop)
{
    auto file = readRunFile(paths);
    if (!file.ok())
        return file.error();
    auto config = currentConfig(paths);
    if (!config.ok())
        return config.error();
    auto tokenizer = loadTokenizer(paths.tokenizer().string());
    if (!tokenizer.ok())
        return tokenizer.error();
    if (tokenizer.value()->hash() != file.value().tokenizerHash)
        return Error { ErrorCode::Corrupt, sentence("%1 is not the tokenizer this run began with. Put the original file back.", { paths.tokenizer().string() }) };
    auto ledger = FeederLedger::open(paths.tracker());
    if (!ledger.ok())
        return ledger.error();
    auto reader = LedgerReader::open(paths.tracker());
    if (!reader.ok())
        return reader.error();
    if (auto same = checkFrozen(file.value(), reader.value()); !same.ok())
        return same;
    if (auto patient = waitForTheHubAloud(paths, stop); !patient.ok())
        return patient;
    auto blocks = openBlocks(paths, file.value(), config.value(), tokenizer.value(), ledger.value(), stop);
    if (!blocks.ok())
        return blocks.error();
    auto attempts = reader.value().attempts();
    if (!attempts.ok())
        return attempts.error();
    const std::int64_t attempt = attempts.value().empty() ? 0 : attempts.value().back().id.value;
    return Feeder(paths, std::move(file).value(), std::move(config).value(), std::move(ledger).value(), std::move(reader).value(), std::move(blocks).value(), attempt, stop).run();
}

} // namespace furrow
