#include "core/train/loop/chunk_loader.h"

#include "core/base/sentence.h"
#include "core/train/checkpoint/ledger_thread.h"

namespace furrow {

namespace {
constexpr std::size_t kOpenBlocks = 4;
}

Result<std::unique_ptr<ChunkLoader>> ChunkLoader::start(const Options& options)
{
    FURROW_TRY_ASSIGN(
        auto reader, LedgerThread::outlastDisk([&options] { return LedgerReader::open(options.tracker); }));
    auto loader = std::unique_ptr<ChunkLoader>(new ChunkLoader(options, std::move(reader)));
    loader->thread_ = std::jthread([self = loader.get()](std::stop_token stop) { self->run(stop); });
    return loader;
}

ChunkLoader::ChunkLoader(const Options& options, LedgerReader reader)
    : options_(options)
    , reader_(std::move(reader))
{
}

ChunkLoader::~ChunkLoader() { thread_.request_stop(); }

void ChunkLoader::prefetch(const Claim& claim)
{
    {
        const std::lock_guard lock(mutex_);
        if (!chunks_.emplace(claim.claimId, std::nullopt).second)
            return;
        queue_.push_back(claim);
    }
    changed_.notify_all();
}

Result<std::shared_ptr<const LoadedChunk>> ChunkLoader::take(const Claim& claim)
{
    prefetch(claim);
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return chunks_.at(claim.claimId).has_value(); });
    auto loaded = *chunks_.at(claim.claimId);
    chunks_.erase(claim.claimId);
    return loaded;
}

void ChunkLoader::forget()
{
    const std::lock_guard lock(mutex_);
    chunks_.clear();
    queue_.clear();
}

void ChunkLoader::run(std::stop_token stop)
{
    std::unique_lock lock(mutex_);
    while (changed_.wait(lock, stop, [&] { return !queue_.empty(); })) {
        const Claim claim = std::move(queue_.front());
        queue_.pop_front();
        lock.unlock();
        auto loaded = load(claim, stop);
        lock.lock();
        if (const auto wanted = chunks_.find(claim.claimId); wanted != chunks_.end())
            wanted->second.emplace(std::move(loaded));
        changed_.notify_all();
    }
}

Result<PreparedBlock*> ChunkLoader::open(
    const Claim& claim, const std::filesystem::path& file, const std::string& digest)
{
    if (const auto found = open_.find(claim.block); found != open_.end())
        return &found->second;
    auto opened = PreparedBlock::open(file);
    if (!opened.ok())
        return opened.error().in(sentence("opening block %1", { std::to_string(claim.block) }));
    if (opened.value().digest() != digest)
        return Error { ErrorCode::Corrupt,
            sentence("block %1: the prepared file is not the one that the tracker recorded",
                { std::to_string(claim.block) }) };
    if (open_.size() >= kOpenBlocks)
        open_.clear();
    return &open_.emplace(claim.block, std::move(opened).value()).first->second;
}

Result<ChunkText> ChunkLoader::readText(
    const Claim& claim, const std::filesystem::path& file, const std::string& digest)
{
    FURROW_TRY_ASSIGN(auto block, open(claim, file, digest));
    if (claim.column >= block->chunkCount())
        return Error { ErrorCode::Corrupt,
            sentence("block %1 has no chunk %2", { std::to_string(claim.block), std::to_string(claim.column) }) };
    auto text = block->readChunk(claim.column);
    return text.ok() ? std::move(text) : text.error().in(sentence("reading %1", { toString(claim.chunk) }));
}

Result<std::shared_ptr<const LoadedChunk>> ChunkLoader::load(const Claim& claim, const std::stop_token& stop)
{
    auto row = reader_.block(claim.block);
    while (!row.ok() && row.error().code == ErrorCode::Busy
        && !stop
            .stop_requested()) // somebody keeps all others from reading: it is waited for, as for the right to write
        row = reader_.block(claim.block);
    if (!row.ok())
        return row.error().in(sentence("looking up block %1", { std::to_string(claim.block) }));
    const auto file = options_.blockFolder / row.value().fileName;
    const bool wasOpen = open_.contains(claim.block);
    auto text = readText(claim, file, row.value().digest);
    if (!text.ok() && wasOpen) { // the file that was opened may have been put aside and prepared again since: what
                                 // counts is the one that lies there now
        open_.erase(claim.block);
        text = readText(claim, file, row.value().digest);
    }
    if (!text.ok()) {
        open_.erase(claim.block);
        return text.error();
    }
    auto chunk = std::make_shared<LoadedChunk>();
    chunk->text = std::move(text).value();
    chunk->windows = std::make_unique<ChunkWindows>(chunk->text, options_.endOfText, options_.windows,
        PackingOrder { options_.seed, claim.epoch, claim.block, claim.column, options_.shuffle });
    if (chunk->windows->count() != claim.windows)
        return Error { ErrorCode::Corrupt,
            sentence("%1 packs into %2 windows, the tracker says %3",
                { toString(claim.chunk), std::to_string(chunk->windows->count()), std::to_string(claim.windows) }) };
    return std::shared_ptr<const LoadedChunk>(std::move(chunk));
}

} // namespace furrow
