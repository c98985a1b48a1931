// data probe, cache: what a data set is, what the cache holds.

#include "app/closed_option.h"
#include "app/furrowctl/command.h"
#include "app/furrowctl/hub_models.h"
#include "app/furrowctl/learnt_text.h"
#include "core/base/file_system.h"
#include "core/base/format.h"
#include "core/base/group_share.h"
#include "core/base/number_of.h"
#include "core/base/owner.h"
#include "core/base/path.h"
#include "core/base/plain_line.h"
#include "core/base/sentence.h"
#include "core/data/source/block_cache.h"
#include "core/data/cache_verification.h"
#include "core/data/hub/hub_pieces.h"
#include "core/data/probe.h"
#include "core/data/tokenizer/tokenizer.h"
#include "core/run/folder/adopted_model.h"
#include "core/run/folder/run_paths.h"
#include "core/workspace/run_folders.h"

#include <nlohmann/json.hpp>

#include <iostream>

namespace furrow {

namespace ctl {
/// What `furrowctl cache` does.
enum class CacheAction { List, Verify, Trim };
} // namespace ctl

template <>
inline constexpr std::array kClosedNames<ctl::CacheAction> {
    ClosedName { ctl::CacheAction::List, "list" },
    ClosedName { ctl::CacheAction::Verify, "verify" },
    ClosedName { ctl::CacheAction::Trim, "trim" },
};

} // namespace furrow

namespace furrow::ctl {

namespace {

constexpr std::int64_t kProbeMs = 1500;
constexpr std::size_t kProbeText = 200; // bytes of a sample that are shown

struct ProbeOptions {
    SettingOptions settings;
    std::string source;
    std::string workspace = defaultWorkspace();
    std::string preset = "char";
    bool json = false;
};

nlohmann::json probeJson(const DataProbe& p)
{
    const auto& i = p.inspection;
    nlohmann::json learnt = nlohmann::json::array();
    for (const auto& stretches : i.firstLearnt) {
        learnt.push_back(nlohmann::json::array());
        for (const auto& stretch : stretches)
            learnt.back().push_back({ stretch.begin, stretch.end });
    }
    return { { "files", i.files }, { "bytes", i.bytes }, { "samples", i.rows }, { "samples_exact", i.rowsExact },
        { "columns", i.columns }, { "text_column", i.textColumn }, { "text_columns", i.textColumns },
        { "conversations", i.conversations }, { "first_learnt", std::move(learnt) }, { "learnt_share", p.learntShare },
        { "sampled_too_long", p.sampledTooLong }, { "sampled_invalid_utf8", p.sampledInvalidUtf8 },
        { "first_failure", p.firstFailure }, { "reading", i.reading }, { "samples_per_block", i.samplesPerBlock },
        { "samples_per_block_reason", i.samplesPerBlockReason },
        { "blocks", i.blocks ? nlohmann::json(*i.blocks) : nlohmann::json(nullptr) },
        { "chunks", i.chunks ? nlohmann::json(*i.chunks) : nlohmann::json(nullptr) },
        { "chunks_exact", i.chunks.has_value() && i.chunksExact }, { "sampled_held_out", p.sampledHeldOut },
        { "tokens_per_sample", p.tokensPerSample }, { "bytes_per_token", p.bytesPerToken },
        { "unknown_share", p.unknownShare }, { "sampled_dropped_characters", p.sampledDropped }, { "tokens", p.tokens },
        { "held_out_tokens", p.heldOutTokens }, { "sampled", p.sampledRows }, { "sampled_filtered", p.sampledFiltered },
        { "sampled_failed", p.sampledFailed }, { "sampled_duplicates", p.sampledDuplicates },
        { "disk_bytes", p.preparedBytes }, { "prepare_seconds", p.prepareSeconds }, { "first_samples", i.firstRows },
        { "first_tokens", p.firstTokens }, { "warnings", i.warnings }, { "remarks", remarksOn(p) } };
}

void printProbe(const DataProbe& p)
{
    const auto& i = p.inspection;
    const std::string about = i.rowsExact ? "" : "about ";
    std::cout << numberOf(i.files, "file") << ", " << formatBytes(i.bytes) << ", " << about
              << numberOf(i.rows, "sample") << "\n";
    for (const auto& text : i.reading)
        std::cout << text << "\n";
    std::cout << numberOf(i.samplesPerBlock, "sample") << " per block";
    if (i.blocks && i.chunks)
        std::cout << "; " << numberOf(*i.blocks, "block") << ", " << (i.chunksExact ? "" : "at least ")
                  << numberOf(*i.chunks, "chunk");
    if (!i.samplesPerBlockReason.empty())
        std::cout << "\n" << i.samplesPerBlockReason;
    std::cout << "\nabout " << formatNumber(p.tokensPerSample, 1) << " tokens a sample, " << formatCount(p.tokens)
              << " tokens to train in an epoch"
              << (p.heldOutTokens > 0 ? ", " + formatCount(p.heldOutTokens) + " more are held out" : std::string())
              << "; prepared " << formatBytes(p.preparedBytes)
              << (p.prepareSeconds < 1 ? " in less than a second" : " in about " + formatDuration(p.prepareSeconds))
              << "\n"
              << numberOf(p.sampledRows, "sample") << (p.sampledRows == 1 ? " was" : " were") << " read for this\n";
    if (!i.conversations.empty())
        std::cout << formatNumber(100 * p.learntShare, 1) << " % of the tokens are learnt: " << learntMarks(std::cout)
                  << ". The others are read only.\n";
    for (const Message& remark : remarksOn(p))
        std::cout << remark << "\n";
    for (std::size_t row = 0; row < i.firstRows.size(); ++row) {
        const std::string& text = i.firstRows[row];
        std::cout << "[" << row << "] ";
        if (i.conversations.empty())
            std::cout << nlohmann::json(text.substr(0, kProbeText))
                             .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
        else
            printLearnt(std::cout, text, i.firstLearnt[row], Layout::Quoted);
        std::cout << "\n";
    }
    std::cout << std::flush;
}

int probe(const ProbeOptions& o)
{
    auto preset = findPreset(o.preset);
    if (!preset.ok())
        return failUsage(preset.error().message, o.json);
    RunConfig config = preset.value().config;
    if (const auto problems = o.settings.apply(config); !problems.empty())
        return failUsage(toString(problems), o.json);
    config.data = { o.source };
    if (auto there = bringModel(config.initFrom, o.json); !there.ok())
        return fail(there.error(), o.json);
    const auto adopted = adoptModel(config, preset.value().config, o.settings.given());
    if (!adopted.ok())
        return fail(adopted.error(), o.json);
    if (const auto problems = validate(config); !problems.empty()) // what a run would refuse
        return failUsage(toString(problems), o.json);
    shareBelow(pathFromUtf8(o.workspace));
    const KeepHubPieces kept(cacheOfWorkspace(pathFromUtf8(o.workspace)), config.cacheGiB);
    auto found = probeData(config, kProbeMs);
    if (!found.ok())
        return fail(found.error(), o.json);
    if (o.json)
        print(probeJson(found.value().probe));
    else
        printProbe(found.value().probe);
    return kDone;
}

struct CacheOptions {
    CacheAction action = CacheAction::List;
    std::string workspace = defaultWorkspace();
    double gib = 0;
    bool json = false;
};

std::uint64_t bytesOf(const std::vector<CacheEntry>& entries)
{
    std::uint64_t sum = 0;
    for (const auto& entry : entries)
        sum += entry.sizeBytes;
    return sum;
}

std::string filesText(const std::vector<CacheEntry>& entries)
{
    return formatCount(std::ssize(entries)) + (entries.size() == 1 ? " file, " : " files, ")
        + formatBytes(bytesOf(entries));
}

/// Runs that lie beside `runs` have caches of their own.
nlohmann::json listOwnCaches(const std::string& workspace, bool json)
{
    nlohmann::json own = nlohmann::json::array();
    for (const auto& run : runFolders(pathFromUtf8(workspace))) {
        const auto cache = RunPaths(run).cacheFolder();
        const auto entries = cache == cacheOfWorkspace(run) ? BlockCache::listOf(cache) : std::vector<CacheEntry>();
        if (entries.empty())
            continue;
        own.push_back({ { "run", utf8Text(run) }, { "files", entries.size() }, { "bytes", bytesOf(entries) } });
        if (!json)
            std::cout << "and in the cache of its own that " << plainLine(utf8Text(run))
                      << " has: " << filesText(entries) << " (--workspace with this folder lists them)\n";
    }
    return own;
}

int cacheList(const std::string& workspace, bool json)
{
    const auto entries = BlockCache::listOf(cacheOfWorkspace(pathFromUtf8(workspace)));
    nlohmann::json list = nlohmann::json::array();
    for (const auto& e : entries) {
        list.push_back({ { "folder", e.folder }, { "file", e.fileName }, { "bytes", e.sizeBytes },
            { "pinned", e.pinned }, { "quarantined", e.quarantined } });
        if (!json)
            std::cout << formatBytes(e.sizeBytes) << "  " << e.folder << "/" << e.fileName
                      << (e.pinned ? "  in use" : "") << (e.quarantined ? "  damaged, put aside" : "") << "\n";
    }
    if (!json)
        std::cout << filesText(entries) << std::endl;
    const auto own = listOwnCaches(workspace, json);
    if (json)
        print({ { "files", list }, { "bytes", bytesOf(entries) }, { "own_caches", own } });
    return kDone;
}

/// "3 files (12.0 MiB) of an older Furrow, which nothing reads any more, were removed."; "" when there was none.
std::string outdatedText(const BlockCache::Outdated& removed)
{
    return removed.files == 0 ? std::string()
                              : numberOf(removed.files, "file") + " (" + formatBytes(removed.bytes)
            + ") of an older Furrow, which nothing reads any more, " + (removed.files == 1 ? "was" : "were")
            + " removed.\n";
}

int cacheVerify(BlockCache& cache, bool json)
{
    const auto removed = cache.removeOutdated();
    if (!removed.ok())
        return fail(removed.error(), json);
    auto verified = verifyCache(cache);
    if (!verified.ok())
        return fail(verified.error(), json);
    const auto& v = verified.value();
    if (json)
        print({ { "checked", v.blocks }, { "downloads", v.downloads }, { "lists", v.lists }, { "expanded", v.expanded },
            { "unproven", v.unproven }, { "damaged", v.damaged }, { "outdated_removed", removed.value().files } });
    else
        std::cout << outdatedText(removed.value()) << v.blocks << " blocks, " << v.downloads << " downloads, "
                  << v.expanded << " expanded files and " << v.lists << " lists of duplicates checked, " << v.unproven
                  << " files without a checksum, " << v.damaged.size() << " damaged"
                  << (v.damaged.empty() ? "." : "; they were put aside and are made or fetched again when needed.")
                  << std::endl;
    return v.damaged.empty() ? kDone : kFailed;
}

int cacheTrim(BlockCache& cache, double gib, bool json)
{
    const auto removed = cache.removeOutdated();
    if (!removed.ok())
        return fail(removed.error(), json);
    auto freed = cache.trim(static_cast<std::uint64_t>(gib * (1ull << 30)));
    if (!freed.ok())
        return fail(freed.error(), json);
    if (json)
        print({ { "freed", freed.value() + removed.value().bytes }, { "outdated_removed", removed.value().files } });
    else
        std::cout << outdatedText(removed.value()) << formatBytes(freed.value() + removed.value().bytes) << " freed."
                  << std::endl;
    return kDone;
}

/// To verify and to trim changes the cache, and makes files in it that its owner could not use.
Status checkOwn(const std::filesystem::path& cache)
{
    if (const auto owner = otherOwner(cache); !owner.empty())
        return Error { ErrorCode::InvalidArgument,
            sentence(
                "The cache %1 belongs to %2, who alone can verify or trim it. `furrowctl cache list` shows what is in it.",
                { utf8Text(cache), owner }) };
    return refuseRootInFolderOf(cache);
}

int cacheCommand(const CacheOptions& o)
{
    if (auto there = checkWorkspaceThere(o.workspace); !there.ok())
        return fail(there.error(), o.json);
    if (o.action == CacheAction::List)
        return cacheList(o.workspace, o.json);
    const auto folder = cacheOfWorkspace(pathFromUtf8(o.workspace));
    if (auto own = checkOwn(folder); !own.ok())
        return fail(own.error(), o.json);
    shareBelow(pathFromUtf8(o.workspace));
    if (!isTaken(folder)) // to look makes none
        return fail(Error { ErrorCode::NotFound,
                        sentence("%1 has no cache: nothing was prepared or fetched there yet.",
                            { utf8Text(pathFromUtf8(o.workspace)) }) },
            o.json);
    auto cache = BlockCache::open(folder, 0);
    if (!cache.ok())
        return fail(cache.error(), o.json);
    if (o.action == CacheAction::Verify)
        return cacheVerify(*cache.value(), o.json);
    return cacheTrim(*cache.value(), o.gib, o.json);
}

} // namespace

void addDataCommands(CLI::App& app, Chosen& chosen)
{
    auto* data = app.add_subcommand("data", "Look at data sets.");
    data->require_subcommand(1);
    auto po = std::make_shared<ProbeOptions>();
    auto* probing = data->add_subcommand(
        "probe", "Say what a data set holds: files, samples, blocks, chunks, tokens, first rows.");
    probing->add_option("source", po->source, "File, folder, glob, hf://, https://, s3:// or gs:// source.")
        ->required();
    probing->add_option("--preset", po->preset, "Starting point of the settings.");
    probing
        ->add_option("--workspace", po->workspace,
            "Folder whose cache keeps what is fetched, so that a run need not fetch it again.")
        ->capture_default_str();
    probing->add_flag("--json", po->json, "Print JSON.");
    po->settings.addTo(*probing, false);
    probing->callback([&chosen, po] { chosen.action = [po] { return probe(*po); }; });

    auto co = std::make_shared<CacheOptions>();
    auto* cache = app.add_subcommand("cache", "List, verify or trim the prepared blocks and downloads of a workspace.");
    addChoice<CacheAction>(*cache, "action", co->action, "list, verify or trim")->required();
    cache->add_option("--workspace", co->workspace, "Folder that keeps runs and cache.")->capture_default_str();
    cache->add_option("--gib", co->gib, "trim: GiB that may stay.")->check(numberFrom(0.0, 1e6));
    cache->add_flag("--json", co->json, "Print JSON.");
    cache->callback([&chosen, co] { chosen.action = [co] { return cacheCommand(*co); }; });
}

} // namespace furrow::ctl
