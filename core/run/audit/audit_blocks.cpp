#include "core/run/audit/audit_blocks.h"

#include "core/base/file_system.h"
#include "core/base/format.h"
#include "core/base/hash.h"
#include "core/base/is_there.h"
#include "core/base/outside.h"
#include "core/base/owner.h"
#include "core/base/path.h"
#include "core/base/scratch_folder.h"
#include "core/base/sentence.h"
#include "core/data/block_manager.h"
#include "core/data/source/cached_access.h"
#include "core/data/source/changed_file.h"
#include "core/data/hub/hub_files.h"
#include "core/data/tokenizer/tokenizer.h"
#include "core/run/audit/block_plans.h"
#include "core/run/audit/data_end.h"
#include "core/run/audit/untrained_chunks.h"
#include "core/run/folder/frozen_config.h"
#include "core/run/status/feeder_meters.h"
#include "core/run/status/reading.h"
#include "core/run/status/row_fates.h"
#include "core/tracker/each_block.h"
#include "core/tracker/named_chunks.h"
#include "core/tracker/run_event_texts.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

namespace furrow {

namespace {

Status cancelled() { return Error { ErrorCode::Cancelled, sentence("the audit was ended before it was done") }; }

/// Each block that was prepared once, or each known one, with the share of all that lie before it.
template <typename Look>
Status lookAtBlocks(LedgerReader& ledger, const Message& doing, AuditLog& log, Look look,
    LedgerReader::Blocks which = LedgerReader::Blocks::PreparedOnce)
{
    FURROW_TRY_ASSIGN(auto epochs, ledger.epochs());
    const double known = epochs.empty() ? 1 : std::max<double>(1, static_cast<double>(epochs.front().knownBlocks));
    return forEachBlock(ledger, which, [&](const LedgerReader::BlockRow& row) -> Status {
        log.say(doing, std::min(1.0, static_cast<double>(row.block) / known));
        return log.stopped() ? cancelled() : look(row);
    });
}

struct ComparedWith {
    FindingKind kind = FindingKind::Block;
    Message where; ///< a name of it
    bool knowsWindows = true; ///< how many the chunks pack into
    bool provesBlock = false; ///< it is the source, and gave as a whole what the ledger recorded of the block
};

/// The committed chunks of the ledger against what preparing gives.
Status compareChunks(LedgerReader& ledger, std::int64_t block, const std::vector<PreparedChunk>& prepared,
    const ComparedWith& with, AuditLog& log)
{
    FURROW_TRY_ASSIGN(auto chunks, ledger.committedOf(block));
    for (const LedgerReader::ChunkContent& one : chunks) {
        const auto column = static_cast<std::size_t>(placeOf(one.chunk).column);
        const auto* now = column < prepared.size() ? &prepared[column] : nullptr;
        if (!now || now->digest != one.digest)
            log.wrong(with.kind, one.chunk,
                now && with.provesBlock
                    ? otherFingerprintsInWords(one.chunk, with.where)
                    : sentence("%1: the fingerprints of its samples in %2 are not those that the tracker recorded",
                          { toString(one.chunk), with.where }));
        else if (!(now->rows == one.rows) || (with.knowsWindows && now->windows != one.windows)
            || now->tokens != one.tokens)
            log.wrong(with.kind, one.chunk, otherContentInWords(one.chunk, with.where));
    }
    return {};
}

using OnDamaged = std::function<Status(const LedgerReader::BlockRow&, const Message&)>;

Status lookAtBlock(const std::filesystem::path& folder, const RunFile& file, const LedgerReader::BlockRow& row,
    LedgerReader& ledger, UntrainedChunks& untrained, AuditLog& log, const OnDamaged& onDamaged, std::int64_t& absent)
{
    const auto name = pathFromUtf8(row.fileName);
    const std::string number = std::to_string(row.block);
    if (name.empty()) {
        ++absent;
        return {};
    }
    if (name.filename() != name) {
        log.wrong(FindingKind::Block, {},
            sentence("block %1 has the file '%2', which is not the name of a file", { number, row.fileName }));
        return {};
    }
    std::error_code failed;
    if (std::filesystem::status(folder / name, failed).type() == std::filesystem::file_type::not_found) {
        ++absent;
        return {};
    }
    auto block = PreparedBlock::open(folder / name);
    const Status whole = block.ok() ? block.value().verify() : Status(block.error());
    if (!whole.ok() && whole.error().code == ErrorCode::Corrupt && onDamaged)
        return onDamaged(row, whole.error().message);
    if (!whole.ok()) {
        log.failed(FindingKind::Block,
            whole.error().code == ErrorCode::InvalidArgument ? Error { ErrorCode::Io, {} }
                                                             : whole.error(), // of a newer Furrow
            sentence("block %1: %2", { number, whole.error().message }));
        return {};
    }
    log.looked();
    if (block.value().digest() != row.digest) {
        log.wrong(FindingKind::Block, {},
            sentence("block %1: the file %2 is whole and has other content than the tracker recorded: it was replaced",
                { number, row.fileName }));
        return {};
    }
    FURROW_TRY_ASSIGN(const auto chunks, preparedChunks(block.value(), windowRules(file.config)));
    untrained.compare(row.block, chunks);
    return compareChunks(ledger, row.block, chunks, { FindingKind::Block, sentence("the prepared block") }, log);
}

/// What a wrong number here costs shows when the chunk is claimed, or never: one without windows is passed over.
void tellDiffering(
    const UntrainedChunks& untrained, LedgerReader& ledger, FindingKind kind, const Message& where, AuditLog& log)
{
    const auto differing = untrained.differing(ledger);
    if (!differing.ok())
        return log.failed(kind, differing.error(), differing.error().message);
    for (const OtherContent& one : differing.value())
        log.wrong(kind, one.prepared.chunk, inWords(one, where));
}

/// By the list of duplicates blocks are prepared, and texts counted of which no row is trained.
void auditDuplicates(const RunPaths& paths, const RunFile& file, AuditLog& log)
{
    const auto manifest = readManifest(file.dataManifest);
    if (!manifest.ok() || !manifest.value().skipsAllDuplicates) // one that cannot be read is named by others
        return;
    const auto index = DuplicateIndex::open(paths.duplicatesFile());
    const Status whole = index.ok() ? index.value().verify() : Status(index.error());
    if (whole.ok() || whole.error().code == ErrorCode::NotFound) // it is made when it is needed
        return;
    if (whole.error().code == ErrorCode::Corrupt)
        log.wrong(FindingKind::Block, {}, sentence("%1 The next resume makes it again.", { whole.error().message }));
    else
        log.unreadable(whole.error().message);
}

/// Of files inside one archive the first.
std::vector<DataFile> distantFilesOf(const DataManifest& manifest)
{
    std::vector<DataFile> files;
    std::set<std::string> paths;
    for (const auto& source : manifest.sources)
        std::copy_if(
            source.files.begin(), source.files.end(), std::back_inserter(files), [&paths](const DataFile& file) {
                return isDistantPath(file.path) && paths.insert(file.pathOnDisk()).second;
            });
    return files;
}

/// The manager of a run's data, or nothing after the log was told why there is none.
/// @param cache  what it needs room in
std::optional<BlockManager> openSource(
    const RunPaths& paths, const RunFile& file, const std::filesystem::path& cache, AuditLog& log)
{
    auto tokenizer = tokenizerOfRun(paths, file);
    auto blocks = tokenizer.ok() ? BlockManager::openUnchecked(file.config, file.dataManifest, file.samplesPerBlock,
                                       cache, tokenizer.value(), paths.duplicatesFile())
                                 : Result<BlockManager>(tokenizer.error());
    if (blocks.ok())
        return std::move(blocks).value();
    log.failed(FindingKind::Source, blocks.error(), blocks.error().message);
    return std::nullopt;
}

} // namespace

Status auditBlocks(
    const RunPaths& paths, const RunFile& file, LedgerReader& ledger, AuditLog& log, const OnDamaged& onDamaged)
{
    log.begin(Evidence::Blocks);
    const auto folder = BlockManager::blockFolder(paths.cacheFolder());
    std::int64_t absent = 0;
    BlockPlans plans;
    const auto lookAtPlan = [&](const LedgerReader::BlockRow& row) {
        if (const auto fits = plans.look(row); !fits.ok())
            log.failed(FindingKind::Block, fits.error(), fits.error().message);
        return Status {};
    };
    FURROW_TRY(lookAtBlocks(
        ledger, sentence("Reading the plans of the blocks"), log, lookAtPlan, LedgerReader::Blocks::Known));
    if (const auto takenOut = blocksTakenOut(paths, file, ledger); !takenOut.ok())
        log.failed(FindingKind::Block, takenOut.error(), takenOut.error().message);
    else if (!takenOut.value().empty())
        log.wrong(FindingKind::Block, {}, takenOut.value());
    auto known = UntrainedChunks::of(ledger);
    if (!known.ok())
        log.failed(FindingKind::Block, known.error(), known.error().message);
    auto untrained = known.ok() ? std::move(known).value() : UntrainedChunks();
    const auto look = [&](const LedgerReader::BlockRow& row) {
        return lookAtBlock(folder, file, row, ledger, untrained, log, onDamaged, absent);
    };
    FURROW_TRY(lookAtBlocks(ledger, sentence("Reading the prepared blocks"), log, look));
    tellDiffering(untrained, ledger, FindingKind::Block, sentence("the prepared block"), log);
    auditDuplicates(paths, file, log);
    log.how(sentence(
        "the plans of all blocks against their rows; SHA-256 of %1 prepared blocks in the cache, and their chunks against the tracker; %2 more are not there and are made again when they are needed",
        { Count(log.inspected()), Count(absent) }));
    return {};
}

namespace {

/// The files of which a run left out by name what was not prepared when they changed.
Result<std::set<std::string>> filesLeftOut(const LedgerReader& ledger)
{
    std::set<std::string> files;
    FURROW_TRY_ASSIGN(const auto parts, leftOutOfTheData(ledger.file(), -1));
    for (const LeftOutPart& part : parts)
        files.insert(changedFile(part.what.text().substr(std::string_view(kLeftOutEvent).size())));
    return files;
}

/// The blocks of a run, prepared from their sources once more.
class SourceAudit {
public:
    /// @param filesLeftOut  filesLeftOut()
    SourceAudit(const RunFile& file, BlockManager& blocks, LedgerReader& ledger, AuditLog& log,
        std::set<std::string> filesLeftOut, UntrainedChunks untrained)
        : file_(file)
        , blocks_(blocks)
        , ledger_(ledger)
        , log_(log)
        , filesLeftOut_(std::move(filesLeftOut))
        , untrained_(std::move(untrained))
    {
    }

    Status look(const LedgerReader::BlockRow& row)
    {
        if (away_.contains(row.source)) { // each try takes as long as trying takes
            ++notRead_;
            return {};
        }
        auto plan = BlockManager::fromPlan(row.plan);
        if (auto trouble = plan.ok() ? blocks_.firstTrouble(plan.value()) : std::nullopt) {
            const auto of = troubles_.try_emplace(std::move(trouble->path), Trouble { std::move(trouble->error) });
            ++of.first->second.blocks;
            return {};
        }
        auto read = plan.ok() ? blocks_.readAgain(plan.value(), [this] { return !log_.stopped(); })
                              : Result<PreparedFile>(plan.error());
        if (!read.ok() && read.error().code == ErrorCode::Cancelled)
            return cancelled();
        if (!read.ok()) {
            if (isOutside(read.error()) && isDistant(row.source))
                away_.insert(row.source);
            log_.failed(FindingKind::Source, read.error(),
                sentence("block %1: %2", { std::to_string(row.block), read.error().message }));
            return {};
        }
        log_.looked();
        bytes_ += read.value().sourceBytes;
        const bool isAsRecorded = read.value().digest == row.digest;
        if (!isAsRecorded) {
            FURROW_TRY(putWrongAside(plan.value(), read.value().digest));
            log_.wrong(FindingKind::Source, {},
                sentence("block %1: prepared from the source once more it has other content than the tracker recorded",
                    { std::to_string(row.block) }));
        }
        const bool knowsWindows = file_.config.packing == Packing::EndToEnd; // else they need the length of each sample
        const auto chunks = preparedChunks(read.value().chunks, file_.config.seqLen);
        if (isAsRecorded)
            untrained_.compare(row.block, chunks);
        return compareChunks(ledger_, row.block, chunks,
            { FindingKind::Source, sentence("the source"), knowsWindows, isAsRecorded }, log_);
    }

    /// Blocks at the end that somebody took out leave nothing behind in the ledger but a plan that goes on.
    Status lookBehindTheLast()
    {
        FURROW_TRY_ASSIGN(const auto epochs, ledger_.epochs());
        const std::int64_t count = epochs.empty() ? 0 : epochs.back().blockCount.value_or(0); // 0: not proven
        FURROW_TRY_ASSIGN(const bool mayGoOn, mayLackFiles(file_, ledger_));
        if (count == 0 || !away_.empty() || !troubles_.empty() || mayGoOn)
            return {};
        FURROW_TRY_ASSIGN(const auto last, ledger_.block(count - 1));
        const auto moved = blocks_.resumeAfter(last.plan);
        const auto next = moved.ok() ? blocks_.planNext() : Result<std::optional<PlannedBlock>>(moved.error());
        if (!next.ok())
            log_.failed(FindingKind::Source, next.error(), next.error().message);
        else if (next.value())
            log_.wrong(FindingKind::Source, {},
                sentence(
                    "the source goes on after block %1, which the tracker calls the last one: blocks were taken out of it",
                    { std::to_string(last.block) }));
        return {};
    }

    void tell()
    {
        tellDiffering(untrained_, ledger_, FindingKind::Source, sentence("the source"), log_);
        for (const auto& [path, trouble] : troubles_)
            tellOf(path, trouble);
        if (log_.inspected() == 0 && !troubles_.empty()) {
            log_.how(sentence("not one block could be prepared once more"));
            return;
        }
        if (notRead_ > 0)
            log_.unreadable(notRead_ == 1
                    ? sentence("1 more block is not inspected: its source cannot be reached now")
                    : sentence(
                          "%1 more blocks are not inspected: their source cannot be reached now", { Count(notRead_) }));
        if (putAside_ > 0)
            log_.mention(FindingKind::Source,
                sentence(
                    "Prepared blocks of wrong bytes that were put aside in the cache (*.bad-*), where other runs over the same data would have found them: %1. Each is made again when it is needed.",
                    { Count(putAside_) }));
        auto how = log_.inspected() == 1
            ? sentence(
                  "1 block prepared once more from %1 of text, and the fingerprints of its samples, chunk by chunk",
                  { Bytes(bytes_) })
            : sentence(
                  "%1 blocks prepared once more from %2 of text, and the fingerprints of their samples, chunk by chunk",
                  { Count(log_.inspected()), Bytes(bytes_) });
        const auto compared = blocks_.comparedFiles();
        if (compared.files > 0)
            how = sentence(
                "%1; of %2 files from elsewhere %3 have the SHA-256 that is promised of them, what was read of the others is what their server sends now",
                { how, Count(compared.files), Count(std::ssize(compared.compared)) });
        log_.how(std::move(how));
    }

private:
    struct Trouble {
        Error error;
        std::int64_t blocks = 0; ///< of which the file has rows
    };

    void tellOf(const std::string& path, const Trouble& trouble)
    {
        const Message what = withFullStop(trouble.error.message);
        const Count blocks(trouble.blocks);
        if (trouble.error.code != ErrorCode::InvalidArgument)
            log_.unreadable(sentence("%1 Blocks with rows of it, which could not be inspected: %2.", { what, blocks }),
                trouble.blocks);
        else if (filesLeftOut_.contains(path))
            log_.notInspected(sentence(
                "%1 The run left out by name what was not prepared of it. Blocks that were prepared before, and are compared with nothing: %2.",
                { what, blocks }));
        else
            log_.wrong(FindingKind::Source, {},
                sentence(
                    "%1 It is not the file that the run was made of. Blocks with rows of it, which could not be compared: %2.",
                    { what, blocks }));
    }
    /// Of wrong bytes that came from elsewhere: another run over the same data would find the block.
    Status putWrongAside(const PlannedBlock& block, const std::string& digest)
    {
        const auto cached = isDistant(block.source) ? blocks_.find(block) : Result<PreparedFile>(Error {});
        if (!cached.ok() || cached.value().digest == digest)
            return {};
        ++putAside_;
        return blocks_.putAside(block);
    }
    bool isDistant(std::int64_t source) const
    {
        const auto& sources = blocks_.manifest().sources;
        return source >= 0 && source < std::ssize(sources)
            && std::any_of(
                sources[static_cast<std::size_t>(source)].files.begin(),
                sources[static_cast<std::size_t>(source)].files.end(),
                [](const DataFile& one) { return isDistantPath(one.path); });
    }

    const RunFile& file_;
    BlockManager& blocks_;
    LedgerReader& ledger_;
    AuditLog& log_;
    std::set<std::string> filesLeftOut_;
    UntrainedChunks untrained_;
    std::map<std::string, Trouble> troubles_; ///< by the path of a file of this disk
    std::set<std::int64_t> away_; ///< sources that cannot be reached
    std::int64_t notRead_ = 0; ///< blocks of them
    std::int64_t putAside_ = 0;
    std::uint64_t bytes_ = 0;
};

} // namespace

Status mentionUntrainedTexts(const RunPaths& paths, const RunFile& file, LedgerReader& ledger, AuditLog& log)
{
    const auto manifest = readManifest(file.dataManifest);
    if (!manifest.ok() || !manifest.value().skipsAllDuplicates) // one that cannot be read is named by others
        return {};
    const auto duplicates = DuplicateIndex::open(paths.duplicatesFile());
    if (!duplicates.ok()) // the feeder makes it again
        return {};
    FURROW_TRY_ASSIGN(const auto fates, RowFates::read(ledger, manifest.value()));
    const auto texts = textsWithoutARow(duplicates.value(), fates, file.config.heldOutPercent);
    if (texts.ok() && texts.value() > 0) // auditBlocks() names a damaged list
        log.mention(FindingKind::Rows, textsWithoutARowInWords(texts.value()));
    return {};
}

void mentionExclusions(const RunPaths& paths, AuditLog& log)
{
    if (const auto reading = readReading(paths))
        for (Message& words : exclusionsInWords(*reading))
            log.mention(FindingKind::Rows, std::move(words));
}

Status auditDownloads(const RunPaths& paths, const RunFile& file, AuditLog& log)
{
    const auto manifest = readManifest(file.dataManifest);
    const auto all = manifest.ok() ? distantFilesOf(manifest.value()) : std::vector<DataFile> {};
    if (all.empty())
        return {};
    log.begin(Evidence::Downloads);
    const auto cacheBytes = static_cast<std::uint64_t>(file.config.cacheGiB * 1024 * 1024 * 1024);
    std::int64_t absent = 0;
    std::vector<std::string> never;
    for (std::size_t i = 0; i < all.size(); ++i) {
        log.say(sentence("Reading the downloads"), static_cast<double>(i) / static_cast<double>(all.size()));
        const auto why = whyNotCompared(all[i], cacheBytes);
        const auto whole = downloadedHubFile(all[i], paths.cacheFolder());
        if (!isComparable(all[i]) || (!whole && !why.empty())) {
            never.push_back(sentence("%1 (%2)", { all[i].path, why }));
            continue;
        }
        if (!whole) {
            ++absent;
            continue;
        }
        const auto sha = comparableSum(all[i], *whole, log.stop());
        if (log.stopped())
            return cancelled();
        if (!sha.ok())
            log.failed(FindingKind::Download, sha.error(), sha.error().message);
        else if (log.looked(); sha.value() != all[i].hash)
            log.wrong(FindingKind::Download, {},
                sentence(
                    "%1: the download in the cache does not hold what was promised of it (SHA-256); it is put aside when it is read next, or by 'furrowctl cache verify'",
                    { all[i].path }));
    }
    auto how = sentence(
        "SHA-256 of %1 downloads in the cache against what was promised; %2 more are not there, and are compared when they come",
        { Count(log.inspected()), Count(absent) });
    if (!never.empty())
        how = sentence("%1; %2 files are not verified as a whole, the first: %3",
            { how, Count(std::ssize(never)), never.front() });
    log.how(std::move(how));
    return {};
}

Status auditSource(const RunPaths& paths, const RunFile& file, LedgerReader& ledger, AuditLog& log)
{
    log.begin(Evidence::Source);
    std::optional<ScratchFolder> own; // of a run on a disk for reading, or of somebody else
    const auto cache = paths.cacheFolder();
    if (!checkWritable(isThere(cache) ? cache : paths.folder()).ok() || !refuseRootInFolderOf(cache).ok()) {
        FURROW_TRY_ASSIGN(auto scratch, ScratchFolder::make(std::filesystem::temp_directory_path()));
        own.emplace(std::move(scratch));
    }
    auto blocks = openSource(paths, file, own ? *own / "cache" : cache, log);
    if (!blocks) {
        log.how(sentence("not one block could be prepared once more"));
        return {};
    }
    if (blocks->needsDuplicates()) {
        log.unreadable(sentence(
            "the source: the list of duplicates, %1, is not there or is damaged, and without it no block can be prepared",
            { utf8Text(paths.duplicatesFile()) }));
        log.how(sentence("not one block could be prepared once more"));
        return {};
    }
    FURROW_TRY_ASSIGN(auto leftOut, filesLeftOut(ledger));
    auto untrained = UntrainedChunks::of(ledger, UntrainedChunks::What::Fingerprints);
    SourceAudit source(file, *blocks, ledger, log, std::move(leftOut),
        untrained.ok() ? std::move(untrained).value() : UntrainedChunks()); // auditBlocks() says why not
    FURROW_TRY(lookAtBlocks(ledger, sentence("Reading the source once more"), log,
        [&](const LedgerReader::BlockRow& row) { return source.look(row); }));
    FURROW_TRY(source.lookBehindTheLast());
    source.tell();
    return {};
}

} // namespace furrow
