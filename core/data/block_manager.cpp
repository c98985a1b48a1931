#include "core/data/block_manager.h"

#include "core/base/hash.h"
#include "core/base/log.h"
#include "core/base/outside.h"
#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/config/option_term.h"
#include "core/data/source/block_cache.h"
#include "core/data/plan/block_planner.h"
#include "core/data/block_preparer.h"
#include "core/data/source/cached_access.h"
#include "core/data/plan/duplicate_file.h"
#include "core/data/hub/hub_files.h"
#include "core/data/hub/hub_pieces.h"
#include "core/data/plan/quarantine.h"
#include "core/data/plan/sample_encoder.h"
#include "core/data/source/source_identity.h"
#include "core/data/source/text_encoding.h"

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

namespace furrow {

namespace {

using nlohmann::json;

constexpr std::size_t kKeyDigits = 32; // of the name of a block
constexpr int kPreparedVersion = 1; ///< part of every key: raise it when the same input gives other bytes

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

/// Everything but the rows that decides what a prepared block contains.
std::string contentKey(
    const RunConfig& config, const DataManifest& manifest, const SampleEncoder& encoder, const SampleRules& rules)
{
    const Tokenizer& tokenizer = encoder.tokenizer();
    json key { { "version", kPreparedVersion }, { "tokenizer", tokenizer.hash() },
        { "mode", nameOf(config.dataMode == DataMode::Auto ? DataMode::Lines : config.dataMode) },
        { "span", config.dataMode == DataMode::Span ? config.spanBytes : 0 }, { "min", config.minChars },
        { "max", config.maxChars }, { "ascii", config.asciiOnly }, { "held_out", config.heldOutPercent },
        { "duplicates", nameOf(config.duplicates) } };
    if (rules.quarantine)
        key["quarantine"] = rules.quarantine->sampleEntries();
    if (manifest.chat)
        key["chat"] = { manifest.chat->source, manifest.chat->tokens, manifest.chat->day, nameOf(config.chatLoss) };
    if (manifest.chat && manifest.chat->readsTurnWeights)
        key["chat"].push_back("turn weights");
    if (config.longSamples != LongSamples::Split)
        key["long"] = { nameOf(config.longSamples), config.seqLen };
    if (encoder.countsDropped()) // runs of before train a text without tokens, and find their own blocks
        key["dropped"] = "counted";
    return key.dump();
}

} // namespace

struct BlockManager::State {
    RunConfig config;
    DataManifest manifest;
    std::shared_ptr<const Tokenizer> tokenizer;
    std::optional<SampleEncoder> encoder;
    std::shared_ptr<BlockCache> cache;
    std::shared_ptr<SourceIdentity> identity = std::make_shared<SourceIdentity>();
    std::map<std::string, std::string> leftOut; ///< path of a file that is another one now -> how
    std::map<std::string, std::string> cutOff; ///< path of a file whose rest cannot be planned -> why
    std::unique_ptr<CachedAccess> access;
    std::vector<RowOptions> options;
    std::unique_ptr<BlockPlanner> planner;
    std::vector<std::unique_ptr<ChunkCollector>> collectors; ///< one per source
    PlanRules rules;
    std::string contentKey;
    std::filesystem::path duplicatesFile;
    std::string duplicatesKey; ///< "": only repeats inside a block are known
    std::shared_ptr<const DuplicateIndex> duplicates;
    std::string duplicatesDigest; ///< of the list that was known last; "": none was
    std::unique_ptr<DuplicateSearch> search; ///< that was interrupted
    std::shared_ptr<const Quarantine> exclusions;
    std::uint64_t largestBytes = 0; ///< of the blocks seen so far
    std::set<std::string> pinned;
    bool proven = false;
    bool keepsBeginnings = false;

    Result<PreparedFile> fromCache(const std::string& name);
    Result<PreparedFile> make(const PlannedBlock& block, const std::string& name, const std::function<bool()>& goOn,
        const std::string& digestInTheWay);
    /// What it would be made of; nothing is kept.
    Result<BlockContent> readOnly(const PlannedBlock& block, const std::function<bool()>& goOn);
    /// Errors: what is of the outside, and Cancelled.
    Result<bool> isReadable(const PlannedBlock& block, const std::function<bool()>& goOn);
    /// Rows of the block that cannot be read; nothing where the formats do not tell which rows these are. Errors as
    /// isReadable().
    Result<std::optional<std::vector<DamagedRows>>> damagedRows(
        const PlannedBlock& block, const std::function<bool()>& goOn);
    /// The block without those rows, and without the files of which nobody can tell them. Errors as isReadable().
    Result<PlannedBlock> withoutDamage(const PlannedBlock& block, const std::function<bool()>& goOn);
    /// BlockManager::withoutUnreadable(), whatever the reason.
    Result<PlannedBlock> readablePart(const PlannedBlock& block, const std::function<bool()>& goOn);
    /// Of the first of these files that came wrong each time; null: none did.
    const Error* cameWrong(const std::set<std::string>& files) const;
    Status pinAlso(const std::string& name);
    Status openDuplicates();
    void useDuplicates(DuplicateIndex index);
    Status checkPossible(const PlannedBlock& block) const;
    /// Whether the files are still those of the manifest; with bad_files=leave_out those that are not are left out
    /// instead.
    Status checkFiles();
    std::set<std::string> leftOutPaths() const;
    std::set<std::string> allPaths() const;
    void tellPlanner(); ///< which files are left out
    Status checkFiles(const PlannedBlock& block);
    const DataFile* fileOf(const PlannedBlock& block, const Segment& segment) const;
    Error causeOf(const Error& error, const std::set<std::string>& files);
    Error causeInTheSearch(const Error& error);
    std::set<std::string> filesOf(const PlannedBlock& block) const;
    bool foundWrongCopy(const std::set<std::string>& files);
    bool isReadByParts(const std::set<std::string>& files) const;
};

const DataFile* BlockManager::State::fileOf(const PlannedBlock& block, const Segment& segment) const
{
    if (block.source < 0 || block.source >= std::ssize(manifest.sources))
        return nullptr;
    const auto& files = manifest.sources[static_cast<std::size_t>(block.source)].files;
    return segment.file < 0 || segment.file >= std::ssize(files) ? nullptr
                                                                 : &files[static_cast<std::size_t>(segment.file)];
}

Status BlockManager::State::checkFiles()
{
    std::map<std::string, Message> changed;
    Status same = identity->checkAll(manifest, &changed);
    if (config.badFiles != BadFiles::LeaveOut || changed.empty())
        return same;
    for (const auto& [path, how] : changed)
        leftOut.try_emplace(path, how);
    tellPlanner();
    search.reset(); // what it read of them must not decide about other files
    return {}; // one that is away is met when it is read
}

std::set<std::string> BlockManager::State::allPaths() const
{
    std::set<std::string> paths;
    for (const auto& source : manifest.sources)
        for (const auto& file : source.files)
            paths.insert(file.path);
    return paths;
}

std::set<std::string> BlockManager::State::leftOutPaths() const
{
    std::set<std::string> paths;
    for (const auto* files : { &leftOut, &cutOff })
        for (const auto& [path, why] : *files)
            paths.insert(path);
    return paths;
}

void BlockManager::State::tellPlanner() { planner->leaveOut(leftOutPaths()); }

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

/// What was made of these files on this disk is not believed any more. True: a copy of one was damaged, or not what the
/// hub promises.
bool BlockManager::State::foundWrongCopy(const std::set<std::string>& files)
{
    bool found = false;
    for (const auto& source : manifest.sources)
        for (const auto& file : source.files)
            found = (files.contains(file.path) && access->doubt(file)) || found;
    return found;
}

/// What a failure to read these files means: first that the data is other data now, or away; then that only a copy of
/// it on this disk is wrong; then what the reader said. What is left is damage.
Error BlockManager::State::causeOf(const Error& error, const std::set<std::string>& files)
{
    if (error.code == ErrorCode::Cancelled)
        return error;
    std::map<std::string, Message> changed;
    Status same = identity->checkAll(manifest, &changed);
    std::erase_if(changed, [this](const auto& file) { return leftOut.contains(file.first); });
    if (!changed.empty())
        return same.error();
    if (isOutside(error) || error.code == ErrorCode::InvalidArgument) // no copy is wrong: a person must decide
        return error;
    if (foundWrongCopy(files))
        return Error { ErrorCode::Busy,
            sentence("A copy in the cache is damaged and is made or fetched again (%1)", { error.message }) };
    return Error { ErrorCode::Corrupt, error.message };
}

bool BlockManager::State::isReadByParts(const std::set<std::string>& files) const
{
    const auto compared = access->proofs().proven();
    for (const auto& source : manifest.sources)
        for (const auto& file : source.files)
            if (files.contains(file.path) && isDistantPath(file.path) && !file.member
                && file.format.format == TextFormat::Parquet && !compared.contains(file.pathOnDisk()))
                return true;
    return false;
}

Result<BlockContent> BlockManager::State::readOnly(const PlannedBlock& block, const std::function<bool()>& goOn)
{
    const auto nowhere = [](const void*, std::size_t) { return Status {}; };
    auto content
        = prepareBlock(block, *collectors[static_cast<std::size_t>(block.source)], *encoder, {}, nowhere, goOn);
    return content.ok() ? std::move(content) : causeOf(content.error(), filesOf(block));
}

Result<bool> BlockManager::State::isReadable(const PlannedBlock& block, const std::function<bool()>& goOn)
{
    const auto read = readOnly(block, goOn);
    if (read.ok())
        return true;
    const bool isOfTheBlock
        = read.error().code == ErrorCode::Corrupt || read.error().code == ErrorCode::InvalidArgument;
    return isOfTheBlock ? Result<bool>(false) : read.error();
}

Result<std::optional<std::vector<DamagedRows>>> BlockManager::State::damagedRows(
    const PlannedBlock& block, const std::function<bool()>& goOn)
{
    using Rows = std::optional<std::vector<DamagedRows>>;
    ChunkCollector& collector = *collectors[static_cast<std::size_t>(block.source)];
    collector.beginBlock(block);
    for (const std::int64_t rows : block.chunkRows) {
        if (goOn && !goOn())
            return Error { ErrorCode::Cancelled,
                sentence("Preparing block %1 was cancelled.", { std::to_string(block.block) }) };
        auto chunk = collector.collect(rows);
        if (!chunk.ok() && chunk.error().code == ErrorCode::Corrupt)
            chunk = collector.collectAround(rows);
        if (chunk.ok())
            continue;
        const Error cause = causeOf(chunk.error(), filesOf(block));
        const bool isOfTheBlock = cause.code == ErrorCode::Corrupt || cause.code == ErrorCode::InvalidArgument;
        return isOfTheBlock ? Result(Rows()) : cause;
    }
    return Rows(collector.damaged());
}

namespace {

/// The files of which rows are in it, by their index in the source.
std::set<std::int32_t> filesIn(const PlannedBlock& block)
{
    std::set<std::int32_t> files;
    for (const Segment& segment : block.segments)
        if (!segment.isLeftOut)
            files.insert(segment.file);
    return files;
}

/// The block with the rows of one of its files only.
Result<PlannedBlock> onlyOf(std::int32_t file, const PlannedBlock& block)
{
    auto others = filesIn(block);
    others.erase(file);
    return planWithout(block.plan, others);
}

} // namespace

/// Where one of several files cannot be read at all, the others are looked at each by itself.
Result<PlannedBlock> BlockManager::State::withoutDamage(const PlannedBlock& block, const std::function<bool()>& goOn)
{
    FURROW_TRY_ASSIGN(const auto damaged, damagedRows(block, goOn));
    if (damaged)
        return damaged->empty() ? Result<PlannedBlock>(block) : planWithoutRows(block.plan, *damaged);
    PlannedBlock rest = block;
    for (const std::int32_t file : filesIn(block)) {
        FURROW_TRY_ASSIGN(const auto alone, onlyOf(file, block));
        FURROW_TRY_ASSIGN(const auto ofFile, damagedRows(alone, goOn));
        if (!ofFile) {
            FURROW_TRY_ASSIGN(rest, planWithout(rest.plan, { file }));
        } else if (!ofFile->empty()) {
            FURROW_TRY_ASSIGN(rest, planWithoutRows(rest.plan, *ofFile));
        }
    }
    return rest;
}

Result<PlannedBlock> BlockManager::State::readablePart(const PlannedBlock& block, const std::function<bool()>& goOn)
{
    FURROW_TRY_ASSIGN(auto rest, withoutDamage(block, goOn));
    FURROW_TRY_ASSIGN(const bool isWell, isReadable(rest, goOn));
    if (isWell)
        return rest;
    const auto files = filesIn(block);
    std::set<std::int32_t> unreadable;
    for (const std::int32_t file : files.size() > 1 ? files : std::set<std::int32_t> {}) {
        FURROW_TRY_ASSIGN(const auto alone, onlyOf(file, block));
        FURROW_TRY_ASSIGN(const bool isReadableAlone, isReadable(alone, goOn));
        if (!isReadableAlone)
            unreadable.insert(file);
    }
    if (!unreadable.empty())
        return planWithout(block.plan, unreadable);
    FURROW_TRY_ASSIGN(const bool isWellNow, isReadable(block, goOn)); // it was a wrong transfer or a bad moment
    return isWellNow ? Result<PlannedBlock>(block) : planWithout(block.plan, files);
}

const Error* BlockManager::State::cameWrong(const std::set<std::string>& files) const
{
    for (const auto& source : manifest.sources)
        for (const auto& file : source.files)
            if (const Error* wrong = files.contains(file.path) ? access->cameWrong(file) : nullptr)
                return wrong;
    return nullptr;
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
    FURROW_TRY(state->checkFiles());
    return BlockManager(std::move(state));
}

Status BlockManager::State::openDuplicates()
{
    if (duplicatesKey.empty() || duplicatesFile.empty())
        return {};
    auto index = furrow::openDuplicates(duplicatesFile, duplicatesKey);
    if (!index.ok())
        return index.error().code == ErrorCode::NotFound ? Status {} : Status(index.error());
    useDuplicates(std::move(index).value());
    return {};
}

void BlockManager::State::useDuplicates(DuplicateIndex index)
{
    duplicates = std::make_shared<const DuplicateIndex>(std::move(index));
    duplicatesDigest = duplicates->digest();
    const auto firstFiles = firstFilesOf(manifest);
    for (std::size_t s = 0; s < collectors.size(); ++s)
        collectors[s]->know(duplicates, firstFiles[s]);
}

bool BlockManager::needsDuplicates() const { return !state_->duplicatesKey.empty() && !state_->duplicates; }

void BlockManager::remakeDuplicates() { state_->duplicates.reset(); }

/// A file that only came wrong is missing in no list: the search ends, and the next attempt asks for it again.
Error BlockManager::State::causeInTheSearch(const Error& error)
{
    const Error cause = causeOf(error, allPaths());
    const Error* wrong = cause.code == ErrorCode::Corrupt ? cameWrong(allPaths()) : nullptr;
    return wrong == nullptr ? cause : Error { ErrorCode::InvalidArgument, wrong->message };
}

Status BlockManager::findDuplicates(const std::function<bool(std::uint64_t, std::uint64_t)>& progress)
{
    State& s = *state_;
    if (!needsDuplicates())
        return {};
    auto index = s.leftOut.empty()
        ? duplicatesFromCache(*s.cache, s.duplicatesKey, s.duplicatesFile)
        : Result<DuplicateIndex>(Error { ErrorCode::NotFound, sentence("made with files that are left out") });
    if (!index.ok() && index.error().code != ErrorCode::NotFound)
        return index.error();
    if (!index.ok()) {
        if (!s.search || s.search->isBroken())
            s.search = std::make_unique<DuplicateSearch>(
                DuplicateSearch::Data { *s.access, s.manifest, s.options, s.rules, s.leftOutPaths() }, s.cache,
                [&s](const Error& error) { return s.causeInTheSearch(error); });
        {
            const FetchAnewOnce once(s.access->pieces());
            FURROW_TRY(s.search->read(progress));
        }
        index = writeDuplicates(*s.search, s.duplicatesKey, s.duplicatesFile, *s.cache,
            [&] { return !progress || progress(s.search->allBytes(), s.search->allBytes()); });
        if (!index.ok())
            return index.error();
    }
    s.search.reset();
    s.useDuplicates(std::move(index).value());
    return {};
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

/// Made of the content of the files and the place in them, not of names or of the block's number in one data set. Where
/// repeats of the whole data set are left out, the place among all files decides which rows these are.
std::string BlockManager::fileName(const PlannedBlock& block) const
{
    json segments = json::array();
    std::string column;
    ConversationForm form = ConversationForm::None;
    for (const auto& s : block.segments) {
        const DataFile* file = state_->fileOf(block, s);
        if (file == nullptr)
            continue;
        column = state_->manifest.sources[static_cast<std::size_t>(block.source)].textColumn;
        form = state_->manifest.sources[static_cast<std::size_t>(block.source)].conversation;
        segments.push_back({ file->hash, file->sizeBytes, file->wholeHash ? 0 : file->modifiedNs, rowsKey(file->format),
            s.file, s.position, s.firstRow, s.rows });
        if (s.hash != 0)
            segments.back().push_back(s.hash);
        if (s.isLeftOut)
            segments.back().push_back("left out");
    }
    // Which rows are left out is part of what a block contains.
    json key = { { "content", state_->contentKey + state_->duplicatesDigest }, { "column", column },
        { "segments", std::move(segments) }, { "chunks", block.chunkRows } };
    if (form != ConversationForm::None)
        key["conversation"] = toString(form);
    if (!state_->duplicatesDigest.empty() && block.source > 0) // the first source keeps the names it had
        key["source"] = block.source;
    return sha256Hex(key.dump()).substr(0, kKeyDigits) + ".block";
}

Result<PreparedFile> BlockManager::State::fromCache(const std::string& name)
{
    auto path = cache->find(kBlocks, name);
    if (!path)
        return Error { ErrorCode::NotFound, sentence("not in the cache") };
    FURROW_TRY_ASSIGN(auto block, PreparedBlock::open(*path));
    FURROW_TRY(block.checkName(name));
    FURROW_TRY(block.verify());
    PreparedFile file;
    file.knowsItsName = !block.key().empty();
    file.fileName = name;
    file.digest = block.digest();
    file.chunks = block.summaries();
    file.fromCache = true;
    std::error_code ignored;
    file.sizeBytes = std::filesystem::file_size(*path, ignored);
    largestBytes = std::max(largestBytes, file.sizeBytes);
    return file;
}

/// @param digestInTheWay  of a file that has the name already; it is put aside when this content, made from the source
/// just now, is another one
Result<PreparedFile> BlockManager::State::make(const PlannedBlock& block, const std::string& name,
    const std::function<bool()>& goOn, const std::string& digestInTheWay)
{
    FURROW_TRY_ASSIGN(auto out, cache->create());
    auto& file = out;
    FURROW_TRY_ASSIGN(auto content,
        prepareBlock(
            block, *collectors[static_cast<std::size_t>(block.source)], *encoder, name.substr(0, kKeyDigits),
            [&file](const void* data, std::size_t size) { return file.append(data, size); }, goOn));
    FURROW_TRY(checkFiles(block)); // else the bytes of one state would get the name of another
    PreparedFile made;
    made.sizeBytes = file.sizeBytes();
    if (digestInTheWay == content.digest)
        cache->remove(kBlocks, name); // of an older Furrow: the new one knows its name
    else if (!digestInTheWay.empty())
        if (auto aside = cache->quarantine(kBlocks, name); !aside.ok() && aside.error().code != ErrorCode::NotFound)
            return aside.error();
    FURROW_TRY(cache->publish(std::move(file), kBlocks, name));
    largestBytes = std::max(largestBytes, made.sizeBytes);
    made.fileName = name;
    made.digest = content.digest;
    made.chunks = std::move(content.chunks);
    made.sourceBytes = content.sourceBytes;
    return made;
}

/// Pinned from the moment it is asked for: another process may need room before the caller pins it.
Status BlockManager::State::pinAlso(const std::string& name)
{
    if (!pinned.insert(name).second)
        return {};
    const std::vector<std::string> names(pinned.begin(), pinned.end());
    return cache->pin("blocks", names);
}

Result<PreparedFile> BlockManager::find(const PlannedBlock& block)
{
    const std::string name = fileName(block);
    FURROW_TRY(state_->pinAlso(name));
    auto cached = state_->fromCache(name);
    if (cached.ok() || cached.error().code != ErrorCode::Corrupt)
        return cached;
    const std::string damage = cached.error().message + " It is put aside and prepared again.";
    logWarning(damage);
    if (auto status = state_->cache->quarantine(kBlocks, name);
        !status.ok() && status.error().code != ErrorCode::NotFound)
        return status.error();
    return Error { ErrorCode::NotFound, damage };
}

Status BlockManager::State::checkPossible(const PlannedBlock& block) const
{
    if (block.source < 0 || block.source >= std::ssize(collectors))
        return Error { ErrorCode::Corrupt,
            sentence("A block plan of this run names a source that the data set does not have.") };
    if (!duplicatesKey.empty() && !duplicates)
        return Error { ErrorCode::NotFound,
            sentence(
                "The list of duplicates of this run, %1, is not there or is damaged, and without it no block can be prepared. Resume the run: it makes the list again.",
                { utf8Text(duplicatesFile) }) };
    return {};
}

Result<PreparedFile> BlockManager::prepare(
    const PlannedBlock& block, const std::function<bool()>& goOn, const std::string& expectedDigest)
{
    FURROW_TRY(state_->checkPossible(block));
    const std::string name = fileName(block);
    auto cached = find(block);
    const bool isExpected = cached.ok()
        && (expectedDigest.empty() ? cached.value().knowsItsName : cached.value().digest == expectedDigest);
    if (isExpected || (!cached.ok() && cached.error().code != ErrorCode::NotFound))
        return cached;
    auto made = state_->make(block, name, goOn, cached.ok() ? cached.value().digest : std::string());
    if (!made.ok())
        return state_->causeOf(made.error(), state_->filesOf(block));
    return made;
}

Result<PreparedFile> BlockManager::readAgain(const PlannedBlock& block, const std::function<bool()>& goOn)
{
    FURROW_TRY(state_->checkPossible(block));
    state_->access->compareCopies();
    auto content = state_->readOnly(block, goOn);
    if (!content.ok())
        return content.error();
    PreparedFile read;
    read.fileName = fileName(block);
    read.digest = std::move(content.value().digest);
    read.chunks = std::move(content.value().chunks);
    read.sourceBytes = content.value().sourceBytes;
    return read;
}

std::set<std::string> BlockManager::takeDistrusted() { return state_->access->proofs().takeWrong(); }

bool BlockManager::readsFrom(const PlannedBlock& block, const std::string& path) const
{
    return state_->filesOf(block).contains(path);
}

Status BlockManager::putAside(const PlannedBlock& block)
{
    const auto aside = state_->cache->quarantine(kBlocks, fileName(block));
    return aside.ok() || aside.error().code == ErrorCode::NotFound ? Status {} : aside;
}

void BlockManager::planOn(const Error& error)
{
    const bool isOnTheWay = state_->cameWrong({ state_->planner->failedFile() }) != nullptr;
    if (state_->config.badFiles != BadFiles::LeaveOut || isOnTheWay) {
        state_->planner->giveFileUp(error.message);
        return;
    }
    state_->cutOff[state_->planner->failedFile()] = error.message;
    state_->tellPlanner();
}

Message BlockManager::firstUnreadable(const PlannedBlock& block, const PreparedBlock& prepared) const
{
    if (prepared.issues().empty())
        return {};
    const RowIssue& issue = prepared.issues().front();
    const DataFile* from = state_->fileOf(block, { issue.file });
    DataFile unknown;
    unknown.path = "?";
    return rowInWords(issue.row, from != nullptr ? *from : unknown, issue.what);
}

namespace {

/// Text that stands in the rows as it is in the file, unless its bytes are no UTF-8.
bool isTakenAsUtf8(const FileFormat& format)
{
    return format.encoding.empty() && hashesPlannedRows(format.format) && format.format != TextFormat::Warc;
}

} // namespace

Result<Message> BlockManager::doubtOfEncoding(const PlannedBlock& block, const PreparedBlock& prepared)
{
    constexpr std::int64_t kFew = 10;
    std::int64_t broken = 0;
    std::int64_t samples = 0;
    for (const ChunkSummary& chunk : prepared.summaries()) {
        broken += chunk.invalidUtf8;
        samples += chunk.samples;
    }
    if (state_->config.encoding != "auto" || broken < kFew || 100 * broken <= samples)
        return Message();
    for (const Segment& segment : block.segments) {
        const DataFile* file = state_->fileOf(block, segment);
        if (file == nullptr || segment.isLeftOut || !isTakenAsUtf8(file->format))
            continue;
        FURROW_TRY_ASSIGN(auto text, state_->access->plainFrom(*file, segment.position));
        FURROW_TRY_ASSIGN(const auto encoding, encodingOfBroken(*text));
        if (!encoding.empty())
            return sentence(
                "%1 of the %2 samples of block %3 have bytes that are not UTF-8, as which %4 is read: they are not trained as they are meant. By these bytes it is likely %5 there; if so, stop, and begin a new run with that encoding (%6).",
                { Count(broken), Count(samples), std::to_string(block.block), file->path, encodingInWords(encoding),
                    optionTerm("encoding", encodingInWords(encoding)) });
    }
    return Message();
}

Result<PreparedBlock> BlockManager::openBlock(const PreparedFile& file) const
{
    return PreparedBlock::open(blockFolder(state_->cache->folder()) / file.fileName);
}

std::vector<Message> BlockManager::leftOut() const
{
    std::vector<Message> all;
    for (const auto* files : { &state_->leftOut, &state_->cutOff })
        for (const auto& [path, why] : *files)
            all.push_back(why);
    for (const auto& [path, row] : state_->planner->passedBy())
        all.push_back(
            sentence("%1: what it had from row %2 on came into no block, so nobody knows how many rows that were.",
                { path, Count(row) }));
    return all;
}

Result<bool> BlockManager::leaveOutChanged()
{
    if (state_->config.badFiles != BadFiles::LeaveOut)
        return false;
    auto status = state_->checkFiles();
    return status.ok() ? Result<bool>(true) : status.error();
}

Result<PlannedBlock> BlockManager::withoutLeftOut(const PlannedBlock& block) const
{
    std::set<std::int32_t> files;
    for (const auto& segment : block.segments)
        if (const DataFile* file = state_->fileOf(block, segment);
            file != nullptr && state_->leftOut.contains(file->path))
            files.insert(segment.file);
    return planWithout(block.plan, files);
}

Result<PlannedBlock> BlockManager::withoutUnreadable(const PlannedBlock& block, const std::function<bool()>& goOn)
{
    const FetchAnewOnce once(state_->access->pieces());
    FURROW_TRY_ASSIGN(auto rest, state_->readablePart(block, goOn));
    if (const Error* wrong = state_->cameWrong(state_->filesOf(block)))
        return *wrong;
    return rest;
}

std::string BlockManager::whyLeftOut(const PlannedBlock& block) const
{
    for (const auto& segment : block.segments)
        if (const DataFile* file = state_->fileOf(block, segment); file != nullptr && !segment.isLeftOut)
            if (const auto found = state_->leftOut.find(file->path); found != state_->leftOut.end())
                return found->second;
    return {};
}

Status BlockManager::pin(std::span<const std::string> fileNames)
{
    const std::set<std::string> wanted(fileNames.begin(), fileNames.end());
    if (wanted == state_->pinned)
        return {};
    state_->pinned = wanted;
    return state_->cache->pin("blocks", fileNames);
}

std::shared_ptr<const Quarantine> BlockManager::exclusions() const { return state_->exclusions; }

const Tokenizer& BlockManager::tokenizer() const { return *state_->tokenizer; }

const DataManifest& BlockManager::manifest() const { return state_->manifest; }

const DuplicateIndex* BlockManager::duplicates() const { return state_->duplicates.get(); }

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
