#include "core/data/plan/inspect.h"

#include "core/base/sentence.h"
#include "core/chat/conversation.h"
#include "core/data/hub/hub_proofs.h"
#include "core/data/plan/each_row.h"
#include "core/data/plan/fraction_draw.h"
#include "core/data/plan/inspect_columns.h"
#include "core/data/plan/inspect_first_rows.h"
#include "core/data/plan/inspect_size.h"
#include "core/data/plan/inspect_sources.h"
#include "core/data/plan/passed_over.h"
#include "core/data/plan/quarantine.h"
#include "core/data/plan/repeated_files.h"
#include "core/data/plan/sample_encoder.h"
#include "core/data/source/cached_access.h"
#include "core/data/source/data_manifest.h"
#include "core/data/source/distant_source.h"
#include "core/data/source/file_access.h"
#include "core/data/source/parquet_rows.h"
#include "core/data/source/row_reader.h"

#include <algorithm>
#include <string>
#include <utility>

// How this works: each source gets its files (inspect_sources), its column (inspect_columns) and how it is fetched; the
// manifest with all of them is frozen, its rows are counted (inspect_size), and the first ones shown
// (inspect_first_rows).

namespace furrow {

namespace {

/// Which part of the rows of Parquet files is chosen, 0..1, as far as the first file tells.
Result<double> shareOfRows(FileAccess& access, const RunConfig& config, const DataSource& source)
{
    if (config.maxSamples == 0)
        return config.fraction;
    const DataFile& first = source.files.front();
    FURROW_TRY_ASSIGN(const FileColumns columns, readColumns(access, first)); // the footer knows its rows
    const double all = static_cast<double>(columns.rows) * static_cast<double>(source.sizeBytes())
        / static_cast<double>(std::max<std::uint64_t>(1, first.sizeBytes));
    return std::min(config.fraction, static_cast<double>(config.maxSamples) / std::max(1.0, all));
}

/// Parquet of the hub that is nearly all text is fetched whole: that costs next to nothing, and only so its SHA-256
/// can be checked, before a row of it is trained.
Status chooseWhatIsFetched(FileAccess& access, const RunConfig& config, DataSource& source, DataInspection& inspection)
{
    constexpr double kNearlyAll = 0.95;
    constexpr double kMostOfTheRows = 0.5; ///< from here on a file is fetched whole: it can be checked then
    if (source.files.empty() || !isHubPath(source.files.front().path)
        || source.files.front().format.format != TextFormat::Parquet || source.files.front().member)
        return {};
    auto& first = source.files.front(); // files of one source are alike
    FURROW_TRY_ASSIGN(auto bytes, access.stored(first));
    FURROW_TRY_ASSIGN(
        auto share, parquetShare(bytes, first, textColumns({ source.conversation, source.textColumn }).front()));
    if (share < kNearlyAll) {
        inspection.warnings.push_back(sentence(
            "%1: only the column '%2' is fetched (%3 % of the files), so what arrives cannot be compared with the SHA-256 that the hub promises.",
            { source.spec, shownColumn(source.textColumn), Real(100 * share, 0) }));
        return {};
    }
    FURROW_TRY_ASSIGN(const double needed, shareOfRows(access, config, source));
    if (needed < kMostOfTheRows) {
        inspection.warnings.push_back(sentence(
            "%1: about %2 % of its rows are needed, and only the row groups with them are fetched, so what arrives cannot be compared with the SHA-256 that the hub promises.",
            { source.spec, Real(100 * needed, 1) }));
        return {};
    }
    for (auto& file : source.files)
        file.fetchWhole = file.format.format == TextFormat::Parquet && isComparable(file);
    const auto cacheBytes = static_cast<std::uint64_t>(config.cacheGiB * 1024 * 1024 * 1024);
    for (const auto& file : source.files)
        if (const auto why = whyNotCompared(file, cacheBytes); !why.empty()) {
            inspection.warnings.push_back(
                sentence("%1 is not compared with the SHA-256 that the hub promises: %2.", { file.path, why }));
            break; // one stands for all
        }
    return {};
}

/// A fraction is drawn in whole stretches: which draw comes near to it, and where none does.
Status chooseDraws(FileAccess& access, const RunConfig& config, DataManifest& manifest, DataInspection& inspection)
{
    for (std::size_t s = 0; config.fraction < 1 && s < manifest.sources.size(); ++s) {
        FURROW_TRY_ASSIGN(const auto units, unitsToDraw(access, config, manifest, s));
        FURROW_TRY_ASSIGN(const auto nearest, nearestDraw(config, manifest, s, units));
        manifest.sources[s].fractionDraw = nearest.draw;
        if (nearest.isFar(config.fraction))
            inspection.warnings.push_back(sentence(
                "%1: a fraction is drawn in whole stretches of the files (row groups of Parquet). Of the %2 that there are, those that come nearest to %3 % are %4 % of the data.",
                { manifest.sources[s].spec, Count(nearest.units), Real(100 * config.fraction, 2),
                    Real(100 * nearest.share, 2) }));
    }
    return {};
}

Result<DataInspection> inspectOnce(const RunConfig& config, const std::function<bool(double)>& progress)
{
    const PassedOver passed;
    DataInspection inspection;
    DataManifest manifest;
    FURROW_TRY_ASSIGN(manifest.quarantine, readQuarantineFile(config.exclude));
    manifest.skipsAllDuplicates = config.duplicates == Duplicates::Skip;
    FURROW_TRY_ASSIGN(const auto list, Quarantine::parse(manifest.quarantine));
    manifest.trainsCopiesOfExcluded = manifest.skipsAllDuplicates && !list->chunks().empty();
    FURROW_TRY_ASSIGN(auto chat, chatFormatOf(config));
    DirectAccess access;
    for (const auto& spec : config.data) {
        FURROW_TRY_ASSIGN(auto source, describeSource(spec, config, progress));
        nameSomeOfTheSkipped(source);
        describeReading(source, inspection);
        FURROW_TRY(chooseColumn(access, config, chat.has_value(), source, inspection));
        FURROW_TRY(chooseWhatIsFetched(access, config, source, inspection));
        inspection.files += static_cast<std::int64_t>(source.files.size());
        inspection.bytes += source.sizeBytes();
        inspection.warnings.insert(inspection.warnings.end(), source.skipped.begin(), source.skipped.end());
        manifest.sources.push_back(std::move(source));
    }
    FURROW_TRY(refuseRepeatsInPrivate(config, manifest));
    warnOfRepeats(manifest, inspection);
    if (!inspection.conversations.empty())
        manifest.chat = std::move(chat);
    FURROW_TRY(chooseDraws(access, config, manifest, inspection));
    inspection.manifest = writeManifest(manifest);
    inspection.identity = dataIdentity(manifest, config);
    FURROW_TRY(countAllRows(access, manifest, config, inspection, progress));
    if (inspection.rows == 0)
        return Error { ErrorCode::InvalidArgument,
            config.startSample > 0 ? sentence("%1 has no rows after start_sample.", { config.data.front() })
                : config.fraction < 1
                ? sentence("A fraction of %1 takes no row of %2. Take a larger one, or max_samples.",
                      { std::to_string(config.fraction), config.data.front() })
                : sentence("%1 has no rows.", { config.data.front() }) };
    chooseBlockSize(config, manifest.sources.size(), inspection);
    for (const ChunkName& chunk : list->chunks())
        if (inspection.blocks && chunk.block >= *inspection.blocks)
            inspection.warnings.push_back(sentence(
                "The list of what is left out names chunk %1:%2, and the data has %3 blocks: this entry means nothing.",
                { std::to_string(chunk.block), std::to_string(chunk.column), Count(*inspection.blocks) }));
    FURROW_TRY(readFirstRows(config, manifest, inspection));
    passed.addTo(inspection.warnings);
    if (progress)
        progress(1);
    return inspection;
}

} // namespace

Error inspectionCancelled() { return { ErrorCode::Cancelled, sentence("Looking at the data was cancelled.") }; }

Result<DataInspection> inspectData(const RunConfig& config, const std::function<bool(double)>& progress)
{
    if (config.data.empty())
        return Error { ErrorCode::InvalidArgument,
            sentence("No data is chosen. Name a file, a folder, a pattern or hf://owner/name.") };
    auto found = inspectOnce(config, progress);
    return !found.ok() && doubtWhatCame(found.error()) ? inspectOnce(config, progress) : found;
}

} // namespace furrow
