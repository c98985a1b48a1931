#include "core/run/supervise/feeder.h"

#include "core/base/log.h"
#include "core/base/outside.h"
#include "core/base/process_limit.h"
#include "core/base/sentence.h"
#include "core/data/block_manager.h"
#include "core/data/hub/http.h"
#include "core/data/hub/hub_client.h"
#include "core/data/hub/web_files.h"
#include "core/data/source/source_identity.h"
#include "core/data/tokenizer/tokenizer.h"
#include "core/run/folder/frozen_config.h"
#include "core/run/folder/run_folder_guard.h"
#include "core/run/folder/run_links.h"
#include "core/run/start/life_cycle.h"
#include "core/run/supervise/feeder_turns.h"
#include "core/run/supervise/patience.h"
#include "core/tracker/sqlite/write_or_fail.h"

namespace furrow {

namespace {

/// Says that the run needs a person and waits for its end.
Status giveUpAndRest(FeederLedger& ledger, const Message& reason, const StopRequest& stop)
{
    logError(reason);
    FURROW_TRY(ledger.giveUp(reason));
    while (!stop.waitFor(std::chrono::seconds(1)))
        (void)ledger.heartbeat(thisProcess(), reason);
    return {};
}

/// Files of servers, as local ones are looked at where the blocks are opened. Who is not asked, being away, keeps
/// nobody from training what lies in the cache.
Status checkServers(BlockManager& blocks, SourceIdentity& identity, const StopRequest& stop)
{
    RetryPolicy brief;
    brief.attempts = 2;
    brief.wait = [&stop](double seconds, const Message&) {
        stop.waitFor(std::chrono::milliseconds(static_cast<int>(1000 * seconds)));
        return !stop.requested();
    };
    HubClient asked(HubSettings::fromEnvironment(), [] { return curlTransport(); }, 1, brief);
    bool isAnother = false;
    for (const DataSource& source : blocks.manifest().sources) {
        const auto found = hasOtherStates(source, asked, *sharedHubClient());
        if (!found.ok() && found.error().code == ErrorCode::Cancelled)
            return found.error();
        if (!found.ok())
            logWarning(sentence(
                "It could not be asked whether the files of %1 are as they were when the run was made. What of them lies in the cache is trained, the rest is waited for. %2",
                { source.spec, found.error().message }));
        isAnother = isAnother || (found.ok() && found.value());
    }
    if (!isAnother)
        return {};
    FURROW_TRY_ASSIGN(const bool isLeftOut, blocks.leaveOutChanged());
    return isLeftOut ? Status {} : identity.checkAll(blocks.manifest());
}

/// Waits for data that is away and says so. What is found removed meanwhile is as it would be later in the attempt.
Result<BlockManager> openBlocks(const RunPaths& paths, const RunFile& file, const RunConfig& config,
    std::shared_ptr<const Tokenizer> tokenizer, FeederLedger& ledger, const StopRequest& stop)
{
    const auto identity = std::make_shared<SourceIdentity>();
    for (;;) {
        auto blocks = BlockManager::open(config, file.dataManifest, file.samplesPerBlock, paths.cacheFolder(),
            tokenizer, paths.duplicatesFile(), identity);
        const Status same = blocks.ok() ? checkServers(blocks.value(), *identity, stop) : Status(blocks.error());
        if (same.ok())
            return blocks;
        if (!isOutside(same.error()) || isForLimit(same.error().message) || stop.requested())
            return same.error();
        (void)waitForDataAloud(ledger, same.error().message, kRetrySeconds, stop);
    }
}

Status feed(const RunPaths& paths, const std::shared_ptr<const RunFolderGuard>& guard, const StopRequest& stop)
{
    FURROW_TRY_ASSIGN(auto file, readRunFile(paths));
    FURROW_TRY(refuseLinks(paths));
    FURROW_TRY_ASSIGN(auto config, currentConfig(paths));
    FURROW_TRY_ASSIGN(auto tokenizer, tokenizerOfRun(paths, file));
    FURROW_TRY_ASSIGN(auto ledger, FeederLedger::open(paths.tracker()));
    ledger.setPatience(
        [&stop](std::chrono::milliseconds) { return !stop.requested(); }); // whoever holds the lock, it is outlasted
    FURROW_TRY_ASSIGN(auto reader, LedgerReader::open(paths.tracker()));
    FURROW_TRY(checkFrozen(file, reader));
    FURROW_TRY(waitForTheHubAloud(paths, static_cast<int>(config.transfers), stop));
    FURROW_TRY(useTheCacheWithCare(paths, guard));
    auto blocks = openBlocks(paths, file, config, tokenizer, ledger, stop);
    if (!blocks.ok() && blocks.error().code == ErrorCode::Cancelled)
        return {}; // asked to stop while it waited
    if (!blocks.ok())
        return blocks.error().code == ErrorCode::InvalidArgument || isForLimit(blocks.error().message)
            ? giveUpAndRest(ledger, blocks.error().message, stop)
            : blocks.error();
    FURROW_TRY_ASSIGN(auto attempts, reader.attempts());
    const std::int64_t attempt = attempts.empty() ? 0 : attempts.back().id.value;
    FURROW_TRY(guard->check());
    return Feeder(paths, guard, std::move(file), std::move(config), std::move(ledger), std::move(reader),
        std::move(blocks).value(), attempt, stop)
        .run();
}

} // namespace

Status runFeeder(const RunPaths& paths, const StopRequest& stop)
{
    writeTrackersOrFail();
    FURROW_TRY_ASSIGN(const auto guard, RunFolderGuard::watch(paths));
    for (bool isSaid = false;; isSaid = true) {
        const Status fed = feed(paths, guard, stop);
        const bool passes = !fed.ok()
            && (mayPass(fed.error()) || fed.error().code == ErrorCode::Busy); // somebody keeps all others from reading
        if (!passes || stop.requested() || !guard->checkReplaced().ok())
            return fed;
        // What this process had planned and could not record is forgotten with all else: it begins anew, as another
        // would.
        if (!isSaid)
            logWarning(withFullStop(fed.error().message) + " The feeder waits until that is over.");
        stop.waitFor(std::chrono::seconds(1));
    }
}

} // namespace furrow
