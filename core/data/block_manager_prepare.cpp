#include "core/data/block_manager_state.h"

#include "core/base/hash.h"
#include "core/base/log.h"
#include "core/base/path.h"
#include "core/base/sentence.h"

#include <nlohmann/json.hpp>

namespace furrow {

namespace {

using nlohmann::json;

constexpr std::size_t kKeyDigits = 32; // of the name of a block
constexpr int kPreparedVersion = 1; ///< part of every key: raise it when the same input gives other bytes

} // namespace

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
    if (config.objective == Objective::Dpo)
        key["objective"] = nameOf(config.objective);
    if (encoder.limitsLength())
        key["long"] = { nameOf(config.longSamples), config.seqLen };
    if (encoder.countsDropped()) // runs of before train a text without tokens, and find their own blocks
        key["dropped"] = "counted";
    return key.dump();
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
        if (s.isLeftOut) // why they are unreadable names a path, and is not of the block
            segments.back().push_back(s.isUnreadable() ? "unreadable" : "left out");
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

Result<BlockContent> BlockManager::State::readOnly(const PlannedBlock& block, const std::function<bool()>& goOn)
{
    const auto nowhere = [](const void*, std::size_t) { return Status {}; };
    auto content
        = prepareBlock(block, *collectors[static_cast<std::size_t>(block.source)], *encoder, {}, nowhere, goOn);
    return content.ok() ? std::move(content) : causeOf(content.error(), filesOf(block));
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

Status BlockManager::putAside(const PlannedBlock& block)
{
    const auto aside = state_->cache->quarantine(kBlocks, fileName(block));
    return aside.ok() || aside.error().code == ErrorCode::NotFound ? Status {} : aside;
}

Result<PreparedBlock> BlockManager::openBlock(const PreparedFile& file) const
{
    return PreparedBlock::open(blockFolder(state_->cache->folder()) / file.fileName);
}

Status BlockManager::pin(std::span<const std::string> fileNames)
{
    const std::set<std::string> wanted(fileNames.begin(), fileNames.end());
    if (wanted == state_->pinned)
        return {};
    state_->pinned = wanted;
    return state_->cache->pin("blocks", fileNames);
}

} // namespace furrow
