#include "core/data/block_manager_state.h"

#include "core/data/source/distant_source.h"

#include <utility>

namespace furrow {

namespace {

PlanRules planRules(const RunConfig& config, const DataManifest& manifest, std::int64_t samplesPerBlock)
{
    PlanRules rules;
    rules.samplesPerBlock = samplesPerBlock;
    rules.chunkSamples = config.chunkSamples;
    rules.chunkBytes = static_cast<std::uint64_t>(config.chunkBytes);
    rules.choice = RowChoice(config, manifest);
    for (const auto& weight : config.dataWeights)
        rules.weights.push_back(std::max(1e-12, std::strtod(weight.c_str(), nullptr)));
    rules.weights.resize(rules.weights.empty() ? 0 : manifest.sources.size(), 1);
    return rules;
}

} // namespace

const DataFile* BlockManager::State::fileOf(const PlannedBlock& block, const Segment& segment) const
{
    if (block.source < 0 || block.source >= std::ssize(manifest.sources))
        return nullptr;
    const auto& files = manifest.sources[static_cast<std::size_t>(block.source)].files;
    return segment.file < 0 || segment.file >= std::ssize(files) ? nullptr
                                                                 : &files[static_cast<std::size_t>(segment.file)];
}

std::set<std::string> BlockManager::State::allPaths() const
{
    std::set<std::string> paths;
    for (const auto& source : manifest.sources)
        for (const auto& file : source.files)
            paths.insert(file.path);
    return paths;
}

Status BlockManager::State::checkFiles(const PlannedBlock& block)
{
    for (const auto& segment : block.segments)
        if (const DataFile* file = fileOf(block, segment); file != nullptr && !segment.isLeftOut)
            FURROW_TRY(identity->check(*file));
    return {};
}

std::set<std::string> BlockManager::State::filesOf(const PlannedBlock& block) const
{
    std::set<std::string> paths;
    for (const auto& segment : block.segments)
        if (const DataFile* file = fileOf(block, segment); file != nullptr && !segment.isLeftOut)
            paths.insert(file->path);
    return paths;
}

BlockManager::BlockManager(std::unique_ptr<State> state)
    : state_(std::move(state))
{
}
BlockManager::BlockManager(BlockManager&&) noexcept = default;
BlockManager::~BlockManager() = default;

Result<BlockManager> BlockManager::open(const RunConfig& config, const std::string& manifest,
    std::int64_t samplesPerBlock, const std::filesystem::path& cacheFolder, std::shared_ptr<const Tokenizer> tokenizer,
    const std::filesystem::path& duplicatesFile, std::shared_ptr<SourceIdentity> identity)
{
    FURROW_TRY_ASSIGN(auto manager,
        openUnchecked(
            config, manifest, samplesPerBlock, cacheFolder, std::move(tokenizer), duplicatesFile, std::move(identity)));
    FURROW_TRY(manager.state_->checkFiles());
    return manager;
}

Result<BlockManager> BlockManager::openUnchecked(const RunConfig& config, const std::string& manifest,
    std::int64_t samplesPerBlock, const std::filesystem::path& cacheFolder, std::shared_ptr<const Tokenizer> tokenizer,
    const std::filesystem::path& duplicatesFile, std::shared_ptr<SourceIdentity> identity)
{
    FURROW_TRY_ASSIGN(auto read, readManifest(manifest));
    FURROW_TRY_ASSIGN(
        auto cache, BlockCache::open(cacheFolder, static_cast<std::uint64_t>(config.cacheGiB * 1024 * 1024 * 1024)));
    auto state = std::make_unique<State>();
    state->config = config;
    state->manifest = std::move(read);
    state->tokenizer = std::move(tokenizer);
    state->cache = std::move(cache);
    if (identity)
        state->identity = std::move(identity);
    state->access = std::make_unique<CachedAccess>(state->cache, state->identity);
    std::set<std::string> compared;
    for (const auto& source : state->manifest.sources)
        for (const auto& file : source.files)
            if (isDistantPath(file.path) && whyNotCompared(file, state->cache->capBytes()).empty())
                compared.insert(file.pathOnDisk());
    state->access->proofs().expect(std::ssize(compared));
    FURROW_TRY_ASSIGN(auto rules, sampleRules(config, state->manifest));
    state->exclusions = Quarantine::parse(state->manifest.quarantine).value(); // sampleRules has read it
    for (const auto& source : state->manifest.sources) {
        state->options.push_back(rowOptions(config, source));
        state->collectors.push_back(
            std::make_unique<ChunkCollector>(*state->access, source, state->options.back(), rules));
    }
    state->rules = planRules(config, state->manifest, samplesPerBlock);
    state->planner = std::make_unique<BlockPlanner>(*state->access, state->manifest, state->options, state->rules);
    FURROW_TRY_ASSIGN(state->encoder, SampleEncoder::open(config, state->manifest, *state->tokenizer));
    state->contentKey = contentKey(config, state->manifest, *state->encoder, rules);
    state->duplicatesFile = duplicatesFile;
    state->duplicatesKey
        = state->manifest.skipsAllDuplicates ? DuplicateSearch::key(state->manifest, config, samplesPerBlock) : "";
    FURROW_TRY(state->openDuplicates());
    return BlockManager(std::move(state));
}

std::optional<BlockManager::FileTrouble> BlockManager::firstTrouble(const PlannedBlock& block) const
{
    for (const auto& segment : block.segments)
        if (const DataFile* file = state_->fileOf(block, segment); file != nullptr && !segment.isLeftOut)
            if (const auto same = state_->identity->check(*file); !same.ok())
                return FileTrouble { file->pathOnDisk(), same.error() };
    return std::nullopt;
}

Result<std::optional<PlannedBlock>> BlockManager::planNext()
{
    if (!std::exchange(state_->keepsBeginnings, true))
        state_->access->keepBeginnings(state_->manifest);
    auto block = state_->planner->next();
    state_->proven = block.ok() && !block.value().has_value() && state_->planner->unprovenReason().empty();
    if (!block.ok())
        return state_->causeOf(block.error(), { state_->planner->failedFile() });
    return block;
}

bool BlockManager::isReadByParts(const PlannedBlock& block) const
{
    return state_->isReadByParts(state_->filesOf(block));
}

bool BlockManager::planningReadsByParts() const { return state_->isReadByParts({ state_->planner->failedFile() }); }

bool BlockManager::planningFillsCache() const { return state_->planner->nextFillsCache(); }

std::string BlockManager::unprovenReason() const { return state_->proven ? "" : state_->planner->unprovenReason(); }

std::vector<std::int32_t> BlockManager::excludedChunks(std::int64_t block) const
{
    std::vector<std::int32_t> columns;
    for (const auto& chunk : state_->exclusions->chunks())
        if (chunk.block == block)
            columns.push_back(chunk.column);
    return columns;
}

Status BlockManager::resumeAfter(const std::string& lastPlan) { return state_->planner->resumeAfter(lastPlan); }

Result<PlannedBlock> BlockManager::fromPlan(const std::string& plan)
{
    FURROW_TRY_ASSIGN(auto read, readPlan(plan));
    return std::move(read).block;
}

std::set<std::string> BlockManager::takeDistrusted() { return state_->access->proofs().takeWrong(); }

bool BlockManager::readsFrom(const PlannedBlock& block, const std::string& path) const
{
    return state_->filesOf(block).contains(path);
}

std::shared_ptr<const Quarantine> BlockManager::exclusions() const { return state_->exclusions; }

const Tokenizer& BlockManager::tokenizer() const { return *state_->tokenizer; }

const DataManifest& BlockManager::manifest() const { return state_->manifest; }

bool BlockManager::hasRoom() const { return state_->cache->hasRoomFor(state_->largestBytes); }

const OpenTimes& BlockManager::openTimes() const { return state_->access->openTimes(); }

ComparedFiles BlockManager::comparedFiles() const
{
    const auto proven = state_->access->proofs().proven();
    ComparedFiles all;
    std::int32_t place = -1;
    for (const auto& source : state_->manifest.sources)
        for (const auto& file : source.files) {
            ++place;
            if (!isDistantPath(file.path))
                continue;
            ++all.files;
            const auto why = whyNotCompared(file, state_->access->capBytes());
            if (proven.contains(file.pathOnDisk()))
                all.compared.insert(place);
            else if (!why.empty())
                all.never.insert(place);
            if (all.whyNever.empty() && all.never.contains(place))
                all.whyNever = why;
        }
    return all;
}

std::filesystem::path BlockManager::blockFolder(const std::filesystem::path& cacheFolder)
{
    return cacheFolder / kBlocks;
}

} // namespace furrow
