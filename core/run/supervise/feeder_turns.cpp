#include "core/run/supervise/feeder_turns.h"

#include "core/base/clock.h"
#include "core/base/fail_point.h"
#include "core/base/format.h"
#include "core/base/log.h"
#include "core/base/outside.h"
#include "core/base/process_limit.h"
#include "core/base/sentence.h"
#include "core/config/option_term.h"
#include "core/data/data_alarms.h"
#include "core/data/hub/hub_progress.h"
#include "core/data/source/changed_file.h"
#include "core/run/start/start_at.h"
#include "core/run/status/feeder_words.h"
#include "core/run/supervise/other_content.h"
#include "core/run/supervise/patience.h"
#include "core/tracker/each_block.h"
#include "core/tracker/named_chunks.h"
#include "core/tracker/run_event_texts.h"
#include "core/tracker/unreadable_blocks.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace furrow {

namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;
constexpr auto kIdle = std::chrono::milliseconds(50);
constexpr int kPlansPerTurn = 64;
constexpr int kTriesPerBlock = 2;
constexpr int kTriesByParts = 4; // of what comes by parts and cannot be compared: it may be wrong on its way, twice too

/// "" for no file.
Message takenUp(const std::string& file)
{
    return file.empty()
        ? Message()
        : sentence(
              "%1 is again as it was when the run was made. Epochs that open from now on train it, but for rows that never came into a block or were taken out of one.",
              { file });
}

} // namespace

Status Feeder::run()
{
    const auto tell = hubProgress();
    if (tell)
        setHubProgress([this, tell](const HubProgress& progress) {
            tell(progress);
            if (guard_->checkReplaced().ok())
                meters_.publishTraffic();
        });
    const Status worked = work();
    setHubProgress(tell); // nothing is on its way any more
    return worked;
}

Status Feeder::work()
{
    FURROW_TRY(beat());
    FURROW_TRY(continuePlanning());
    FURROW_TRY(checkStart());
    FURROW_TRY(nameLeftOut());
    FURROW_TRY(nameTakenUp());
    while (!stop_.requested()) {
        FURROW_TRY_ASSIGN(auto worked, gaveUp_ ? rest() : turn());
        if (!worked)
            stop_.waitFor(kIdle);
    }
    nextBeatNs_ = 0; // what was counted last is not lost
    (void)beat();
    return {};
}

Status Feeder::continuePlanning()
{
    FURROW_TRY_ASSIGN(auto demand, ledger_.demand());
    unchecked_ = demand.neededBlocks;
    allPlanned_ = demand.lastBlockProven;
    const auto known = demand.knownBlocks;
    if (allPlanned_ || known == 0)
        return {};
    FURROW_TRY_ASSIGN(auto last, reader_.block(known - 1));
    return blocks_.resumeAfter(last.plan);
}

/// Gives up when the chunk that the run shall begin with turns out not to exist: before anything of the data is
/// prepared.
Status Feeder::checkStart()
{
    const auto start = parseChunkName(config_.startAt);
    if (!start)
        return {};
    FURROW_TRY_ASSIGN(auto demand, ledger_.demand(0));
    std::optional<std::int64_t> chunks;
    if (demand.knownBlocks > start->block) {
        FURROW_TRY_ASSIGN(auto block, reader_.block(start->block));
        chunks = block.chunks;
    }
    const auto problem = startProblem(*start, allPlanned_ ? std::optional(demand.knownBlocks) : std::nullopt, chunks);
    return problem.empty() ? Status {} : giveUp(sentence("%1 Begin a new run with another one.", { problem }));
}

Status Feeder::beat()
{
    const auto now = systemClock().monotonicNs();
    if (now < nextBeatNs_)
        return {};
    nextBeatNs_ = now + kSecondNs;
    FURROW_TRY(guard_->checkReplaced());
    FURROW_TRY(ledger_.heartbeat(thisProcess(), doing_));
    meters_.countExclusions(reader_, blocks_);
    if (!meters_.countUntrained(reader_, blocks_, config_.heldOutPercent, replanned_))
        blocks_.remakeDuplicates();
    meters_.publish(doing_, blocks_);
    return keepNeeded();
}

Result<bool> Feeder::turn()
{
    FURROW_TRY(guard_->checkReplaced());
    FURROW_TRY(beat());
    FURROW_TRY(dropDistrusted());
    if (blocks_.needsDuplicates())
        return findDuplicates();
    FURROW_TRY_ASSIGN(auto demand, ledger_.demand(static_cast<std::int64_t>(budget())));
    auto checked = checkNext();
    if (!checked.ok() || checked.value())
        return checked;
    doing_ = sentence("waiting: enough is prepared");
    FURROW_TRY_ASSIGN(auto prepared, prepareNext(demand));
    auto planned = plan();
    return planned.ok() ? Result<bool>(prepared || planned.value()) : planned;
}

/// Before the first block is prepared: which rows repeat others must not depend on the order in which blocks are.
Result<bool> Feeder::findDuplicates()
{
    const auto found = blocks_.findDuplicates([this](std::uint64_t done, std::uint64_t all) {
        doing_ = sentence(kLookingForDuplicates, { Bytes(done), Bytes(all) });
        (void)beat();
        return mayGoOn();
    });
    if (found.ok()) {
        planFailures_ = 0;
        return true;
    }
    if (found.error().code == ErrorCode::Cancelled)
        return false;
    doing_ = sentence(kDuplicatesNotFound, { found.error().message });
    if (isOutside(found.error()))
        return waitForData(doing_, found.error(), planNetworkFailures_);
    logWarning(doing_);
    if (found.error().code == ErrorCode::InvalidArgument) {
        FURROW_TRY_ASSIGN(const bool isSettled, onChanged(found.error()));
        if (isSettled)
            return true;
        if (++planFailures_ >= kTriesPerBlock) { // without the list no block can be prepared
            FURROW_TRY(giveUp(doing_));
            return true;
        }
    }
    (void)waitAloud(ledger_, doing_, kRetrySeconds, stop_);
    return false;
}

/// How many blocks may become known now. Where knowing them costs room in the cache, no more than will soon be
/// prepared: a file that came too early would push out what is needed first, and be fetched twice.
Result<int> Feeder::plansNow()
{
    if (!blocks_.planningFillsCache())
        return kPlansPerTurn;
    const int enough = static_cast<int>(budget());
    FURROW_TRY_ASSIGN(auto ahead, ledger_.wanted(enough, reach()));
    return enough - static_cast<int>(ahead.size());
}

Result<bool> Feeder::plan()
{
    if (allPlanned_ || planningEnded_)
        return false;
    FURROW_TRY_ASSIGN(auto most, plansNow());
    if (most <= 0)
        return false;
    FURROW_TRY_ASSIGN(const auto known, ledger_.demand(0));
    doing_ = sentence("reading which rows make block %1", { std::to_string(known.knownBlocks) });
    FURROW_TRY(beat()); // reading may take long: what was prepared is told before
    std::vector<NewBlock> fresh;
    const auto until = systemClock().monotonicNs() + kSecondNs / 4;
    while (static_cast<int>(fresh.size()) < most && systemClock().monotonicNs() < until && !stop_.requested()) {
        auto next = blocks_.planNext();
        if (!next.ok()) {
            FURROW_TRY(onPlanFailure(next.error()));
            break;
        }
        planFailures_ = 0;
        planNetworkFailures_ = 0;
        if (!next.value()) {
            allPlanned_ = blocks_.unprovenReason().empty();
            planningEnded_ = !allPlanned_;
            break;
        }
        const auto& block = *next.value();
        fresh.push_back({ block.block, block.source, block.firstRow, block.chunkRows, block.plan,
            blocks_.excludedChunks(block.block) });
    }
    failPoint("feeder.planned");
    if (!fresh.empty())
        FURROW_TRY(ledger_.addBlocks(fresh));
    if (planningEnded_) {
        const auto status = ledger_.endPlanning(blocks_.unprovenReason());
        return status.ok() ? Result<bool>(true) : status.error();
    }
    if (!allPlanned_) {
        FURROW_TRY(ledger_.setUnprovenReason(blocks_.unprovenReason()));
        FURROW_TRY(checkStart());
        return !fresh.empty();
    }
    FURROW_TRY_ASSIGN(auto demand, ledger_.demand());
    FURROW_TRY(nameLeftOut()); // what came into no block, too
    logInfo("the data has " + formatCount(demand.knownBlocks) + " blocks; the last one is proven");
    FURROW_TRY(ledger_.setLastBlockProven(demand.knownBlocks));
    FURROW_TRY(checkStart());
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
    FURROW_TRY_ASSIGN(auto row, reader_.block(number));
    auto block = BlockManager::fromPlan(row.plan);
    if (row.fileName.empty() || !block.ok())
        return true;
    doing_ = sentence("checking block %1", { std::to_string(number) });
    auto file = blocks_.find(block.value());
    const bool same = file.ok() && file.value().fileName == row.fileName && file.value().digest == row.digest;
    if (same)
        return true;
    const Message cause = file.ok() ? sentence("its prepared file is another one") : file.error().message;
    auto evicted = ledger_.setEvicted(number, cause);
    return evicted.ok() ? Result<bool>(true) : evicted.error();
}

Result<bool> Feeder::prepareNext(const FeederLedger::Demand& demand)
{
    if (demand.neededBlocks.size() >= budget())
        return false;
    if (!demand.neededBlocks.empty() && !blocks_.hasRoom()) {
        FURROW_TRY(keepNeeded()); // some may have been trained since
        if (!blocks_.hasRoom()) {
            doing_ = sentence("waiting: the cache is full of blocks in use");
            return false;
        }
    }
    FURROW_TRY_ASSIGN(auto wanted, ledger_.wanted(1, reach()));
    if (wanted.empty())
        return false;
    const auto number = wanted.front().block;
    auto block = BlockManager::fromPlan(wanted.front().plan);
    tries_ = block.ok() && blocks_.isReadByParts(block.value()) ? kTriesByParts : kTriesPerBlock;
    if (!block.ok())
        return onFailure(number, block.error());
    FURROW_TRY_ASSIGN(auto row, reader_.block(number));
    if (const auto why = blocks_.whyLeftOut(block.value()); !why.empty()) {
        FURROW_TRY_ASSIGN(const auto rest, blocks_.withoutLeftOut(block.value()));
        FURROW_TRY(leaveOut(block.value(), rest, kLeftOutWithItsFile, why, !row.digest.empty()));
        return true;
    }
    doing_ = sentence(kPreparingBlock, { std::to_string(number) });
    const auto began = systemClock().monotonicNs();
    auto file = blocks_.prepare(
        block.value(),
        [this] {
            (void)beat();
            return mayGoOn();
        },
        row.digest);
    if (!file.ok())
        return file.error().code == ErrorCode::Cancelled
            ? Result<bool>(false)
            : onUnreadable(block.value(), file.error(), !row.digest.empty());
    FURROW_TRY(dropDistrusted(file.value().fromCache ? -1 : number));
    const auto prepared = blocks_.openBlock(file.value());
    if (!prepared.ok())
        return onFailure(number, prepared.error());
    if (row.digest.empty()) {
        FURROW_TRY_ASSIGN(auto rubbish, tooManyUnreadable(block.value(), prepared.value()));
        if (!rubbish.empty()) {
            const auto status = giveUp(rubbish);
            return status.ok() ? Result<bool>(true) : status.error();
        }
    }
    FURROW_TRY(guard_->checkReplaced());
    const auto chunks = preparedChunks(prepared.value(), windowRules(config_));
    if (!chunks.ok())
        return onFailure(number, chunks.error());
    meters_.made({ block.value(), file.value(), prepared.value(), chunks.value(),
                     static_cast<double>(systemClock().monotonicNs() - began) / kSecondNs, row.digest.empty() },
        blocks_);
    failPoint("feeder.prepared");
    const bool isOther = !row.digest.empty() && row.digest != file.value().digest; // than when it was made first
    if (auto status = ledger_.setPrepared(number, file.value().fileName, file.value().digest, chunks.value(),
            blocks_.firstUnreadable(block.value(), prepared.value()));
        !status.ok())
        return status.error().code == ErrorCode::Corrupt
            ? setFailed(number, isOther ? causeOfRefusal(block.value(), status.error()) : status.error())
            : Result<bool>(status.error());
    failPoint("feeder.recorded");
    if (unreadableLeftOut_ && row.digest.empty())
        *unreadableLeftOut_ += block.value().rowsUnreadable();
    failures_.erase(number);
    networkFailures_ = 0;
    dataCame();
    nextBeatNs_ = 0; // pin it before anyone evicts it
    return true;
}

/// Trouble with the outside (disk, network) is tried again for ever; other data than the run was made of is for a
/// person to decide; trouble with the block itself names it and goes on.
Result<bool> Feeder::onFailure(std::int64_t block, const Error& error)
{
    doing_ = sentence("block %1: %2", { std::to_string(block), error.message });
    if (isOutside(error))
        return waitForData(doing_, error, networkFailures_);
    logWarning(doing_);
    if (error.code == ErrorCode::InvalidArgument) {
        FURROW_TRY_ASSIGN(const bool isSettled, onChanged(error));
        if (isSettled)
            return true;
    }
    if (const int failures = ++failures_[block]; failures < std::max(tries_, kTriesPerBlock)) {
        (void)waitAloud(ledger_, doing_, secondsToNextTry(failures), stop_);
        return false;
    }
    // The cause of each of its chunks, though one of them alone may be what cannot be prepared.
    return setFailed(
        block, { error.code, sentence("block %1 cannot be prepared: %2", { std::to_string(block), error.message }) });
}

/// With bad_files=leave_out what cannot be read is left out, by name, when it was tried often enough.
Result<bool> Feeder::onUnreadable(const PlannedBlock& block, const Error& error, bool wasPrepared)
{
    const bool isLastTry = failures_[block.block] + 1 >= tries_;
    const bool isOfTheBlock = error.code == ErrorCode::Corrupt || error.code == ErrorCode::InvalidArgument;
    if (config_.badFiles != BadFiles::LeaveOut || !isOfTheBlock || !isLastTry)
        return onFailure(block.block, error);
    if (error.code == ErrorCode::InvalidArgument) {
        FURROW_TRY_ASSIGN(const bool isSettled, onChanged(error));
        if (isSettled)
            return true;
    }
    const auto rest = blocks_.withoutUnreadable(block, [this] {
        (void)beat();
        return mayGoOn();
    });
    if (!rest.ok())
        return rest.error().code == ErrorCode::Cancelled ? Result<bool>(false) : onFailure(block.block, rest.error());
    failures_.erase(block.block);
    if (rest.value().rowsLeftOut() == block.rowsLeftOut())
        return true; // it can be read now
    const Message why
        = withFullStop(sentence("block %1 cannot be prepared: %2", { std::to_string(block.block), error.message }));
    logWarning(why);
    FURROW_TRY(leaveOut(block, rest.value(), kLeftOutUnreadable, why, wasPrepared));
    if (wasPrepared && rest.value().rows() == rest.value().rowsLeftOut()) // else another note says so
        FURROW_TRY(ledger_.noteLeftOut(why));
    return true;
}

/// Rows or files of the block are left out. Its other rows are trained, unless the block was trained with all of them
/// before: a block stays what it was. One of which no row can be read is prepared too, so that its rows are counted as
/// what they are.
/// @param rest  the block without them
/// @param asWhat  the cause of its chunks: %1 is why
Status Feeder::leaveOut(const PlannedBlock& block, const PlannedBlock& rest, const SentenceText& asWhat,
    const Message& why, bool wasPrepared)
{
    const std::int64_t others = rest.rows() - rest.rowsLeftOut();
    ++replanned_;
    const bool countsUnreadable = !wasPrepared && rest.rowsUnreadable() > block.rowsUnreadable();
    if (others == 0 && !countsUnreadable)
        return ledger_.setLeftOut(block.block, sentence(asWhat, { why }));
    if (wasPrepared) {
        FURROW_TRY(ledger_.noteLeftOut(sentence("%1 other rows of block %2, which was prepared with them: %3",
            { Count(others), std::to_string(block.block), why })));
        return ledger_.setLeftOut(block.block,
            sentence(asWhat,
                { sentence("%1 With them %2 other rows are left out, which were prepared together with them.",
                    { withFullStop(why), Count(others) }) }));
    }
    const std::int64_t rows = rest.rowsLeftOut();
    const std::string number = std::to_string(block.block);
    return ledger_.replan(block.block, rest.plan,
        rows == 1 ? sentence("1 row of block %1: %2", { number, why })
                  : sentence("%1 rows of block %2: %3", { Count(rows), number, why }));
}

Result<bool> Feeder::setFailed(std::int64_t block, const Error& error)
{
    failures_.erase(block); // a person may have it tried again
    const auto status = ledger_.setFailed(block, error.message);
    return status.ok() ? Result<bool>(true) : status.error();
}

/// The same for data that is not cut into blocks yet.
Status Feeder::onPlanFailure(const Error& error)
{
    if (error.code == ErrorCode::Cancelled)
        return {};
    doing_ = error.message;
    if (isOutside(error)) {
        const auto waited = waitForData(doing_, error, planNetworkFailures_);
        return waited.ok() ? Status {} : waited.error();
    }
    logWarning("planning: " + error.message);
    if (error.code == ErrorCode::InvalidArgument) {
        FURROW_TRY_ASSIGN(const bool isSettled, onChanged(error));
        if (isSettled)
            return {};
    }
    // No file changed: one that cannot be read as it is, such as one that unpacks to more than the cache may hold.
    if (++planFailures_ < (blocks_.planningReadsByParts() ? kTriesByParts : kTriesPerBlock)) {
        (void)waitAloud(ledger_, doing_, secondsToNextTry(planFailures_), stop_);
        return {};
    }
    planFailures_ = 0;
    blocks_.planOn(error);
    return nameLeftOut();
}

/// Until the next try, unless each would fail as this one did. Ok(false): nothing was done.
/// @param failures  of the network in this work, one after the other
Result<bool> Feeder::waitForData(Message why, const Error& error, int& failures) // `why` by value: doing_ as a rule
{
    if (isForLimit(why)) {
        FURROW_TRY(giveUp(why));
        return true;
    }
    doing_ = sentence(kWaitingForData, { why }); // until then
    failures = error.code == ErrorCode::Network ? failures + 1 : 0;
    (void)waitForDataAloud(ledger_, why, secondsToNextTry(std::max(failures, 1)), stop_);
    return false;
}

/// Each try of what a network brings may cost as much as the first.
/// @param failures  one after the other so far, at least 1
double Feeder::secondsToNextTry(int failures)
{
    constexpr int kMostDoublings = 6; // some five minutes
    return std::ldexp(kRetrySeconds, std::min(failures - 1, kMostDoublings));
}

/// False: files that change may be left out, but none did since, so that each further try would end the same way.
Result<bool> Feeder::onChanged(const Error& error)
{
    const auto before = blocks_.leftOut().size();
    FURROW_TRY_ASSIGN(const bool mayGo, blocks_.leaveOutChanged());
    FURROW_TRY(mayGo ? nameLeftOut() : giveUp(error.message));
    return !mayGo || blocks_.leftOut().size() > before;
}

/// The supervisor reads the reason in the ledger, has the workers save what they trained, and ends the attempt with it.
Status Feeder::giveUp(const Message& reason)
{
    logError(reason);
    gaveUp_ = true;
    doing_ = reason;
    return ledger_.giveUp(reason);
}

Result<bool> Feeder::rest()
{
    const auto status = beat();
    return status.ok() ? Result<bool>(false) : status.error();
}

Status Feeder::nameLeftOut()
{
    for (const auto& what : blocks_.leftOut())
        FURROW_TRY(ledger_.noteLeftOut(what, takenUp(changedFile(what))));
    return {};
}

/// What earlier attempts left out and this one found as it was again.
Status Feeder::nameTakenUp()
{
    std::set<std::string> asTheyWere;
    for (const DataSource& source : blocks_.manifest().sources)
        for (const DataFile& file : source.files)
            asTheyWere.insert(file.pathOnDisk());
    for (const auto& what : blocks_.leftOut())
        asTheyWere.erase(changedFile(what));
    FURROW_TRY_ASSIGN(const auto known, leftOutOfTheData(paths_.tracker(), -1));
    for (const LeftOutPart& part : known) {
        const Message what(std::string_view(part.what).substr(std::string_view(kLeftOutEvent).size()));
        if (const auto file = changedFile(what); asTheyWere.contains(file))
            FURROW_TRY(ledger_.noteLeftOut(takenUp(file), what));
    }
    return {};
}

/// Blocks that were prepared of a wrong copy of a file of the hub go, and are prepared again from the right one: the
/// ledger compares what they hold.
/// @param madeSince  a block that was made when the right one had come; -1: none
Status Feeder::dropDistrusted(std::int64_t madeSince)
{
    for (const auto& path : blocks_.takeDistrusted())
        FURROW_TRY(dropBlocksOf(path, madeSince));
    return {};
}

Status Feeder::dropBlocksOf(const std::string& path, std::int64_t madeSince)
{
    return forEachBlock(reader_, LedgerReader::Blocks::PreparedOnce, [&](const LedgerReader::BlockRow& row) -> Status {
        auto block = BlockManager::fromPlan(row.plan);
        if (!block.ok() || !blocks_.readsFrom(block.value(), path))
            return {};
        madeOfWrongCopy_[row.block] = path;
        if (row.block == madeSince)
            return {};
        FURROW_TRY(blocks_.putAside(block.value()));
        return ledger_.setEvicted(
            row.block, sentence("the copy of %1 on this disk was wrong when it was prepared, or became so", { path }));
    });
}

Error Feeder::causeOfRefusal(const PlannedBlock& block, const Error& error) const
{
    const auto found = madeOfWrongCopy_.find(block.block);
    return found == madeOfWrongCopy_.end()
        ? causeOfOtherContent(blocks_, block, paths_.cacheFolder(), error)
        : Error { error.code, sentence(kFirstFromWrongCopy, { std::to_string(block.block), found->second }) };
}

/// Rows of the blocks prepared so far that a person has left out because they cannot be read (bad_files): the limit
/// does not count them.
Result<std::int64_t> Feeder::unreadableLeftOut()
{
    if (unreadableLeftOut_)
        return *unreadableLeftOut_;
    std::int64_t rows = 0;
    FURROW_TRY(
        forEachBlock(reader_, LedgerReader::Blocks::PreparedOnce, [&rows](const LedgerReader::BlockRow& row) -> Status {
            const auto block = BlockManager::fromPlan(row.plan);
            rows += block.ok() ? block.value().rowsUnreadable() : 0;
            return {};
        }));
    unreadableLeftOut_ = rows;
    return rows;
}

/// Why training on what this block adds would be training on rubbish; "" when the rows can be read.
Result<Message> Feeder::tooManyUnreadable(const PlannedBlock& block, const PreparedBlock& prepared)
{
    FURROW_TRY_ASSIGN(auto epochs, reader_.epochs());
    RowCounts read
        = epochs.empty() ? RowCounts {} : epochs.front().rowsKnown; // its `rows` count those not read yet too
    for (const auto& chunk : prepared.summaries()) {
        read.samples += chunk.samples + chunk.filtered + chunk.heldOut + chunk.duplicates;
        read.failed += chunk.failed;
    }
    const auto others = read.samples + read.filtered + read.heldOut + read.duplicates;
    if (!isTooUnreadable(read.failed, others + read.failed, config_.maxUnreadablePercent))
        return Message();
    FURROW_TRY_ASSIGN(const auto accepted, unreadableLeftOut());
    read.failed -= accepted + block.rowsUnreadable(); // which is not among the prepared ones yet
    const auto rows = others + read.failed;
    const double percent = rows > 0 ? 100 * static_cast<double>(read.failed) / static_cast<double>(rows) : 0;
    if (!isTooUnreadable(read.failed, rows, config_.maxUnreadablePercent))
        return Message();
    FURROW_TRY_ASSIGN(const auto known, unreadableBlocks(paths_.tracker())); // this one is not among them yet
    const bool hasEarlier = !known.empty() && known.front().block < block.block && !known.front().first.empty();
    return sentence(
        "%1 of the %2 rows read so far cannot be read: %3 %, and the limit is %4 %. The first: %5. Mend the data and begin a new run, or resume with a higher limit (%6).",
        { Count(read.failed), Count(rows), Real(percent, 1), Real(config_.maxUnreadablePercent, 1),
            hasEarlier ? known.front().first : blocks_.firstUnreadable(block, prepared),
            optionTerm("max_unreadable_percent") });
}

/// Pins what is needed; a file that someone deleted or put aside is prepared again.
Status Feeder::keepNeeded()
{
    FURROW_TRY_ASSIGN(auto demand, ledger_.demand());
    std::vector<std::string> names;
    const auto folder = BlockManager::blockFolder(paths_.cacheFolder());
    for (const auto block : demand.neededBlocks) {
        FURROW_TRY_ASSIGN(auto row, reader_.block(block));
        if (row.fileName.empty())
            continue;
        if (std::error_code failed; std::filesystem::is_regular_file(folder / row.fileName, failed)) {
            names.push_back(row.fileName);
        } else if (auto status = ledger_.setEvicted(block, sentence("its prepared file is gone from the cache"));
            !status.ok()) {
            return status;
        }
    }
    return blocks_.pin(names); // also lets go of what preparing has pinned and nobody needs any more
}

} // namespace furrow
