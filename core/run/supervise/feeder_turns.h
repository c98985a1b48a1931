#pragma once

#include "core/base/message.h"
#include "core/base/process.h"
#include "core/base/result.h"
#include "core/base/sentence.h"
#include "core/data/block_manager.h"
#include "core/data/tokenizer/tokenizer.h"
#include "core/run/folder/run_file.h"
#include "core/run/folder/run_folder_guard.h"
#include "core/run/folder/run_paths.h"
#include "core/run/status/feeder_meters.h"
#include "core/tracker/feeder_ledger.h"
#include "core/tracker/ledger_reader.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace furrow {

/// Plans blocks, prepares those that the workers want and says what it does. Trouble with the outside is outlasted,
/// with a block named, with changed data left to a person. One thread.
class Feeder {
public:
    Feeder(RunPaths paths, std::shared_ptr<const RunFolderGuard> guard, RunFile file, RunConfig config,
        FeederLedger ledger, LedgerReader reader, BlockManager blocks, std::int64_t attempt, const StopRequest& stop)
        : paths_(std::move(paths))
        , guard_(std::move(guard))
        , file_(std::move(file))
        , config_(std::move(config))
        , ledger_(std::move(ledger))
        , reader_(std::move(reader))
        , blocks_(std::move(blocks))
        , meters_(paths_, file_.runId, config_.seqLen, attempt, blocks_)
        , stop_(stop)
    {
    }

    /// Until it is asked to stop, or the ledger fails it.
    Status run();

private:
    Status work();
    Status continuePlanning();
    Result<bool> turn();
    Status checkStart();
    FeederLedger::Reach reach() const
    {
        return allPlanned_ || planningEnded_ ? FeederLedger::Reach::All : FeederLedger::Reach::BehindStart;
    }
    Status beat();
    /// False: asked to end, or nothing may be published here any more.
    bool mayGoOn() const { return !stop_.requested() && guard_->checkReplaced().ok(); }
    Result<bool> findDuplicates();
    Result<bool> plan();
    Result<bool> checkNext();
    Result<bool> prepareNext(const FeederLedger::Demand& demand);
    Result<bool> onFailure(std::int64_t block, const Error& error);
    Result<bool> onUnreadable(const PlannedBlock& block, const Error& error, bool wasPrepared);
    Status leaveOut(const PlannedBlock& block, const PlannedBlock& rest, const SentenceText& asWhat, const Message& why,
        bool wasPrepared);
    Result<bool> setFailed(std::int64_t block, const Error& error);
    Error causeOfRefusal(const PlannedBlock& block, const Error& error) const;
    Status onPlanFailure(const Error& error);
    Result<bool> waitForData(Message why, const Error& error, int& failures);
    static double secondsToNextTry(int failures);
    Result<bool> onChanged(const Error& error);
    Status giveUp(const Message& reason);
    Result<bool> rest();
    Status nameLeftOut();
    Status nameTakenUp();
    Status dropDistrusted(std::int64_t madeSince = -1);
    Status dropBlocksOf(const std::string& path, std::int64_t madeSince);
    Result<std::int64_t> unreadableLeftOut();
    Result<Message> tooManyUnreadable(const PlannedBlock& block, const PreparedBlock& prepared);
    Status keepNeeded();
    Result<int> plansNow();
    std::size_t budget() const;

    RunPaths paths_;
    std::shared_ptr<const RunFolderGuard> guard_;
    RunFile file_;
    RunConfig config_;
    FeederLedger ledger_;
    LedgerReader reader_;
    BlockManager blocks_;
    FeederMeters meters_;
    const StopRequest& stop_;
    bool allPlanned_ = false;
    bool planningEnded_ = false; ///< without a proven last block
    bool gaveUp_ = false; ///< waits to be stopped
    int planFailures_ = 0;
    int tries_ = 0; ///< of the block that is being prepared, before it is called unreadable
    int networkFailures_ = 0; ///< of a block one after the other, each of what came and was wrong or did not come
    int planNetworkFailures_ = 0; ///< the same of planning, which may go on while a block waits
    std::int64_t replanned_ = 0; ///< blocks of which a file was left out
    std::optional<std::int64_t> unreadableLeftOut_; ///< nothing: not counted yet
    Message doing_ = sentence("starting");
    std::int64_t nextBeatNs_ = 0;
    std::map<std::int64_t, int> failures_;
    std::map<std::int64_t, std::string> madeOfWrongCopy_; ///< block -> file of the hub
    std::vector<std::int64_t> unchecked_; ///< prepared by an earlier attempt and not looked at in this one
};

} // namespace furrow
