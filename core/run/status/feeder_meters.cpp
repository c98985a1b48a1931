#include "core/run/status/feeder_meters.h"

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/data/block/chunk_windows.h"
#include "core/data/hub/hub_client.h"
#include "core/data/tokenizer/tokenizer.h"
#include "core/run/status/row_fates.h"
#include "core/run/status/samples_left_out.h"
#include "core/tracker/each_block.h"

#include <algorithm>
#include <set>

namespace furrow {

namespace {

constexpr std::size_t kMostUnmetNamed = 5;

} // namespace

std::vector<PreparedChunk> preparedChunks(const std::vector<ChunkSummary>& summaries, std::int64_t seqLen)
{
    std::vector<PreparedChunk> chunks;
    for (const auto& c : summaries) {
        PreparedChunk chunk;
        chunk.rows = { c.rows, c.samples, c.filtered, c.failed, c.heldOut, c.duplicates };
        chunk.tokens = c.tokens + c.samples; // each sample is followed by an end-of-text, which is a label too
        chunk.windows = windowCount(c.tokens, c.samples, seqLen);
        chunk.digest = c.digest;
        chunk.repeats = c.repeats;
        chunk.invalidUtf8 = c.invalidUtf8;
        chunks.push_back(chunk);
    }
    return chunks;
}

Result<std::vector<PreparedChunk>> preparedChunks(const PreparedBlock& block, const WindowRules& rules)
{
    auto chunks = preparedChunks(block.summaries(), rules.seqLen);
    for (std::size_t column = 0; column < chunks.size() && rules.packing != Packing::EndToEnd; ++column) {
        FURROW_TRY_ASSIGN(const auto text, block.readChunk(static_cast<int>(column)));
        chunks[column].windows = windowCount(text, rules);
    }
    return chunks;
}

FeederMeters::FeederMeters(const RunPaths& paths, const std::string& runId, std::int64_t seqLen, std::int64_t attempt,
    const BlockManager& blocks)
    : paths_(paths)
    , seqLen_(seqLen)
    , startedNs_(systemClock().monotonicNs())
    , before_(readReading(paths).value_or(Reading {}))
    , exclusions_(blocks.exclusions(), blocks.tokenizer(), before_.exclusions)
    , unknown_(blocks.tokenizer().unknownToken())
{
    reading_.attempt = attempt;
    auto writer = TelemetryWriter::open(paths.feederTelemetry(attempt), { runId, attempt, 0 }, systemClock());
    if (writer.ok())
        telemetry_.emplace(std::move(writer).value());
    else
        logWarning(writer.error().message); // events are then in the log only
}

void FeederMeters::made(const Made& made, BlockManager& blocks)
{
    const PreparedFile& file = made.file;
    if (file.fromCache) {
        ++reading_.blocksFromCache;
    } else {
        ++reading_.blocksPrepared;
        makingSeconds_ += made.seconds;
        reading_.textBytes += file.sourceBytes;
        for (const auto& chunk : file.chunks)
            reading_.samplesFetched += chunk.rows;
        const double now = static_cast<double>(file.sourceBytes) / 1e6 / std::max(made.seconds, 1e-6);
        reading_.megabytesPerSecond
            = reading_.megabytesPerSecond == 0 ? now : 0.7 * reading_.megabytesPerSecond + 0.3 * now;
    }
    if (!made.isFirstTime)
        return;
    lookAtText(made.block, made.chunks);
    lookAtEncoding(made, blocks);
}

/// A block that no attempt has prepared before: its padding counts, and its text is compared with what came before it.
void FeederMeters::lookAtText(const PreparedBlock& block, std::span<const PreparedChunk> chunks)
{
    for (const auto& chunk : chunks) {
        reading_.labels += chunk.tokens;
        reading_.slots += chunk.windows * seqLen_;
    }
    exclusions_.beginBlock();
    for (int column = 0; column < block.chunkCount(); ++column) {
        const ChunkSummary& summary = block.summary(column);
        reading_.learnt += summary.learnt;
        reading_.tooLong += summary.tooLong;
        reading_.dropped += summary.dropped;
        const auto chunk = block.readChunk(column);
        if (!chunk.ok())
            continue;
        constexpr std::uint8_t kLost = SampleTooLong | SampleLeftOut;
        for (const std::uint8_t flags : chunk.value().flags)
            reading_.tooLongLost += (flags & (kLost | SampleHeldOut | SampleExcluded | SampleRepeat)) == kLost ? 1 : 0;
        exclusions_.add(chunk.value());
        tell(repetition_.add(chunk.value()));
        tell(unknown_.add(chunk.value(), summary.dropped));
    }
}

/// What a person did not name, and the looks at the files before the run did not show.
void FeederMeters::lookAtEncoding(const Made& made, BlockManager& blocks)
{
    if (!before_.encodingDoubt.empty() || !reading_.encodingDoubt.empty())
        return;
    const auto doubt = blocks.doubtOfEncoding(made.plan, made.block);
    if (!doubt.ok()) {
        logWarning(doubt.error().message);
        return;
    }
    reading_.encodingDoubt = doubt.value();
    if (!doubt.value().empty())
        tell(doubt.value());
}

void FeederMeters::tell(const std::optional<std::string>& alarm)
{
    if (!alarm)
        return;
    logWarning(*alarm);
    if (telemetry_)
        telemetry_->write(EventRecord { systemClock().monotonicNs(), 0, 0, EventRecord::Kind::Alarm, *alarm });
}

bool FeederMeters::countUntrained(
    LedgerReader& ledger, const BlockManager& blocks, double heldOutPercent, std::int64_t replanned)
{
    if (blocks.duplicates() == nullptr)
        return true;
    const auto epochs = ledger.epochs();
    if (!epochs.ok() || epochs.value().empty())
        return true;
    std::vector<std::int64_t> leftOut { replanned, epochs.value().front().blockCount.value_or(-1) };
    for (const EpochRow& epoch : epochs.value())
        leftOut.push_back(epoch.chunks[ChunkState::Excluded] + epoch.chunks[ChunkState::Accepted]);
    for (const auto& [epoch, skipped] : skippedByEpoch(ledger))
        leftOut.push_back(skipped.chunks);
    if (std::exchange(leftOutThen_, leftOut) == leftOut)
        return true;
    const auto fates = RowFates::read(ledger, blocks.manifest());
    if (!fates.ok()) {
        logWarning(fates.error().message);
        return true;
    }
    const auto texts = textsWithoutARow(*blocks.duplicates(), fates.value(), heldOutPercent);
    if (texts.ok()) {
        reading_.untrainedTexts = texts.value();
        return true;
    }
    logWarning(texts.error().message);
    if (texts.error().code != ErrorCode::Corrupt)
        return true;
    leftOutThen_.clear(); // counted when it is made again
    return false;
}

void FeederMeters::countExclusions(LedgerReader& ledger, const BlockManager& blocks)
{
    const Quarantine& list = *blocks.exclusions();
    if (list.chunks().empty() && list.entries().empty())
        return;
    const auto epochs = ledger.epochs();
    if (!epochs.ok() || epochs.value().empty() || !epochs.value().front().blockCount)
        return;
    const std::int64_t all = *epochs.value().front().blockCount;
    if (!unmetChunks_) {
        std::set<ChunkName> unmet(list.chunks().begin(), list.chunks().end());
        const auto walked = forEachBlock(ledger, LedgerReader::Blocks::Known, [&](const LedgerReader::BlockRow& row) {
            for (auto chunk = unmet.lower_bound({ row.block, 0 });
                chunk != unmet.end() && chunk->block == row.block && chunk->column < row.chunks;)
                chunk = unmet.erase(chunk);
            return Status {};
        });
        if (!walked.ok())
            return;
        unmetChunks_.emplace();
        for (const ChunkName& chunk : unmet)
            unmetChunks_->push_back("chunk " + std::to_string(chunk.block) + ":" + std::to_string(chunk.column));
    }
    if (!isAllPrepared_ && exclusions_.count().blocks >= all) { // counted twice, perhaps, where a feeder was killed
        std::int64_t prepared = 0;
        const auto walked
            = forEachBlock(ledger, LedgerReader::Blocks::PreparedOnce, [&prepared](const LedgerReader::BlockRow&) {
                  ++prepared;
                  return Status {};
              });
        isAllPrepared_ = walked.ok() && prepared >= all;
    }
    std::vector<std::string> unmet = *unmetChunks_;
    if (isAllPrepared_)
        for (auto& entry : exclusions_.unmet(all))
            unmet.push_back(std::move(entry));
    reading_.unmetExclusions = std::ssize(unmet);
    unmet.resize(std::min(unmet.size(), kMostUnmetNamed));
    reading_.firstUnmet = std::move(unmet);
}

/// A share of all tokens that were looked at, of which those of this attempt have the share `now`.
double FeederMeters::ofAllAttempts(double before, double now) const
{
    const auto old = static_cast<double>(before_.lookedTokens);
    const auto all = old + static_cast<double>(unknown_.tokens());
    return unknown_.tokens() == 0 ? before : (before * old + now * static_cast<double>(unknown_.tokens())) / all;
}

void FeederMeters::publish(const Message& doing, const BlockManager& blocks)
{
    const OpenTimes& opens = blocks.openTimes();
    Reading all = reading_;
    all.hub = blocks.comparedFiles();
    all.hub.compared.insert(before_.hub.compared.begin(), before_.hub.compared.end());
    std::erase_if(all.hub.never, [&](std::int32_t place) { return all.hub.compared.contains(place); });
    const double seconds = static_cast<double>(systemClock().monotonicNs() - startedNs_) / 1e9;
    all.doing = doing;
    all.exclusions = exclusions_.count();
    if (all.encodingDoubt.empty())
        all.encodingDoubt = before_.encodingDoubt;
    all.blocksPrepared += before_.blocksPrepared;
    all.blocksFromCache += before_.blocksFromCache;
    all.samplesFetched += before_.samplesFetched;
    all.textBytes += before_.textBytes;
    all.labels += before_.labels;
    all.slots += before_.slots;
    all.learnt += before_.learnt;
    all.tooLong += before_.tooLong;
    all.tooLongLost += before_.tooLongLost;
    all.dropped += before_.dropped;
    all.lookedTokens = before_.lookedTokens + unknown_.tokens();
    all.repeatedShare = ofAllAttempts(before_.repeatedShare, repetition_.share());
    all.unknownShare = ofAllAttempts(before_.unknownShare, unknown_.share());
    all.opens = before_.opens + opens.count;
    all.openMs = opens.count > 0 ? 1e3 * opens.seconds / static_cast<double>(opens.count) : 0;
    all.slowestOpenMs = 1e3 * opens.slowestSeconds;
    all.busyShare = seconds > 0 ? makingSeconds_ / seconds : 0;
    const std::lock_guard guard(mutex_);
    addTraffic(all);
    if (auto status = publishReading(paths_, all); !status.ok())
        logWarning(status.error().message);
    published_ = std::move(all);
}

void FeederMeters::addTraffic(Reading& all) const
{
    const auto traffic = sharedHubClient()->traffic();
    all.downloadedBytes = before_.downloadedBytes + traffic.bodyBytes;
    all.downloadRequests = before_.downloadRequests + traffic.requests;
}

void FeederMeters::publishTraffic()
{
    const std::lock_guard guard(mutex_);
    if (!published_)
        return;
    addTraffic(*published_);
    (void)publishReading(paths_, *published_); // publish() says what is wrong with the file
}

} // namespace furrow
