#include "core/data/block_manager_state.h"

#include "core/base/outside.h"
#include "core/base/sentence.h"
#include "core/config/option_term.h"
#include "core/data/hub/hub_pieces.h"
#include "core/data/source/distant_source.h"
#include "core/data/source/row_reader.h"
#include "core/data/source/text_encoding.h"

namespace furrow {

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

const Error* BlockManager::State::cameWrong(const std::set<std::string>& files) const
{
    for (const auto& source : manifest.sources)
        for (const auto& file : source.files)
            if (const Error* wrong = files.contains(file.path) ? access->cameWrong(file) : nullptr)
                return wrong;
    return nullptr;
}

namespace {

/// The message of an error that is of the block itself, else the error.
Result<Message> whyOfTheBlock(const Error& error)
{
    const bool isOfTheBlock = error.code == ErrorCode::Corrupt || error.code == ErrorCode::InvalidArgument;
    return isOfTheBlock ? Result<Message>(error.message) : error;
}

} // namespace

Result<Message> BlockManager::State::whyUnreadable(const PlannedBlock& block, const std::function<bool()>& goOn)
{
    const auto read = readOnly(block, goOn);
    return read.ok() ? Result<Message>(Message()) : whyOfTheBlock(read.error());
}

Result<BlockManager::State::Damage> BlockManager::State::damageOf(
    const PlannedBlock& block, const std::function<bool()>& goOn)
{
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
        FURROW_TRY_ASSIGN(auto why, whyOfTheBlock(causeOf(chunk.error(), filesOf(block))));
        return Damage { {}, std::move(why) };
    }
    return Damage { collector.damaged(), {} };
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
    FURROW_TRY_ASSIGN(const auto damage, damageOf(block, goOn));
    if (damage.whyWhole.empty())
        return damage.rows.empty() ? Result<PlannedBlock>(block) : planWithoutRows(block.plan, damage.rows);
    PlannedBlock rest = block;
    for (const std::int32_t file : filesIn(block)) {
        FURROW_TRY_ASSIGN(const auto alone, onlyOf(file, block));
        FURROW_TRY_ASSIGN(const auto ofFile, damageOf(alone, goOn));
        if (!ofFile.whyWhole.empty()) {
            FURROW_TRY_ASSIGN(rest, planWithoutUnreadable(rest.plan, { { file, ofFile.whyWhole } }));
        } else if (!ofFile.rows.empty()) {
            FURROW_TRY_ASSIGN(rest, planWithoutRows(rest.plan, ofFile.rows));
        }
    }
    return rest;
}

Result<PlannedBlock> BlockManager::State::readablePart(const PlannedBlock& block, const std::function<bool()>& goOn)
{
    FURROW_TRY_ASSIGN(auto rest, withoutDamage(block, goOn));
    FURROW_TRY_ASSIGN(const auto whyNot, whyUnreadable(rest, goOn));
    if (whyNot.empty())
        return rest;
    const auto files = filesIn(block);
    std::map<std::int32_t, Message> unreadable;
    for (const std::int32_t file : files.size() > 1 ? files : std::set<std::int32_t> {}) {
        FURROW_TRY_ASSIGN(const auto alone, onlyOf(file, block));
        FURROW_TRY_ASSIGN(const auto whyNotAlone, whyUnreadable(alone, goOn));
        if (!whyNotAlone.empty())
            unreadable.emplace(file, whyNotAlone);
    }
    if (!unreadable.empty())
        return planWithoutUnreadable(block.plan, unreadable);
    FURROW_TRY_ASSIGN(const auto whyNotNow, whyUnreadable(block, goOn)); // "": it was a wrong transfer or a bad moment
    if (whyNotNow.empty())
        return block;
    for (const std::int32_t file : files)
        unreadable.emplace(file, whyNotNow);
    return planWithoutUnreadable(block.plan, unreadable);
}

Result<PlannedBlock> BlockManager::withoutUnreadable(const PlannedBlock& block, const std::function<bool()>& goOn)
{
    const FetchAnewOnce once(state_->access->pieces());
    FURROW_TRY_ASSIGN(auto rest, state_->readablePart(block, goOn));
    if (const Error* wrong = state_->cameWrong(state_->filesOf(block)))
        return *wrong;
    return rest;
}

Message BlockManager::firstUnreadable(const PlannedBlock& block, const PreparedBlock& prepared) const
{
    const RowIssue* issue = prepared.issues().empty() ? nullptr : &prepared.issues().front();
    DataFile unknown;
    unknown.path = "?";
    for (const Segment& segment : block.segments) {
        if (issue != nullptr && segment.holds(issue->file, issue->row))
            break;
        const DataFile* from = state_->fileOf(block, segment);
        if (segment.isUnreadable())
            return unreadableInWords(segment, (from != nullptr ? *from : unknown).path);
    }
    if (issue == nullptr)
        return {};
    const DataFile* from = state_->fileOf(block, { issue->file });
    return rowInWords(issue->row, from != nullptr ? *from : unknown, issue->what);
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

} // namespace furrow
