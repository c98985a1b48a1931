// inspect, exclude, chunks: a chunk back to its text, leaving chunks out of a run, and what becomes of those that could
// not be read.

#include "app/closed_option.h"
#include "app/furrowctl/command.h"
#include "app/furrowctl/learnt_text.h"
#include "core/base/format.h"
#include "core/base/plain_line.h"
#include "core/base/sentence.h"
#include "core/config/chunk_name.h"
#include "core/config/kept_text.h"
#include "core/run/status/chunk_view.h"
#include "core/run/status/ledger_view.h"
#include "core/run/status/unreadable_rows.h"
#include "core/run/start/life_cycle.h"
#include "core/run/start/chunk_decisions.h"
#include "core/run/folder/run_file.h"
#include "core/tracker/ledger_reader.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <iterator>

namespace furrow::ctl {

namespace {

Error noChunk(const std::string& text)
{
    return { ErrorCode::InvalidArgument,
        sentence("'%1' names no chunk: write BLOCK:CHUNK, for example 3:17.", { text }) };
}

/// Why a sample is not trained, or "".
const char* leftOut(std::uint8_t flags)
{
    if ((flags & SampleLeftOut) == 0)
        return "";
    if ((flags & SampleUnusable) != 0)
        return "cannot be trained";
    if ((flags & SampleExcluded) != 0)
        return "excluded";
    return (flags & SampleHeldOut) != 0 ? "held out" : (flags & SampleTooLong) != 0 ? "too long" : "duplicate";
}

struct InspectOptions {
    std::string run;
    std::string chunk;
    ChunkPart part;
    std::int64_t sample = -1;
    std::int64_t epoch = 0; ///< as people count; 0: the newest
    bool unreadable = false;
    bool json = false;
};

nlohmann::json sampleJson(const SampleView& s)
{
    nlohmann::json json = { { "index", s.index }, { "file", s.file }, { "row", s.row },
        { "fingerprint", formatHex(s.fingerprint) }, { "left_out", leftOut(s.flags) },
        { "repeat", (s.flags & SampleRepeat) != 0 }, { "tokens", s.tokens }, { "text", s.text },
        { "learnt", nlohmann::json::array() }, { "too_long", (s.flags & SampleTooLong) != 0 } };
    for (const auto& stretch : s.learnt)
        json["learnt"].push_back({ stretch.begin, stretch.end });
    json["loss"] = s.loss ? nlohmann::json(*s.loss) : nlohmann::json(nullptr);
    if (s.firstRow)
        json["first"] = { { "file", s.firstRow->file }, { "row", s.firstRow->row } };
    return json;
}

nlohmann::json unreadableJson(const UnreadableRow& one)
{
    return { { "block", one.block }, { "chunk", one.column }, { "file", one.row.file }, { "row", one.row.row },
        { "line", one.line ? nlohmann::json(*one.line) : nlohmann::json(nullptr) }, { "rows", one.rows },
        { "why", one.what } };
}

/// All of the run, as far as they are named.
int listUnreadable(const std::string& run, std::int64_t most, bool json)
{
    const auto found = unreadableRows(RunPaths(run), most);
    if (!found.ok())
        return fail(found.error(), json);
    const auto& [rows, listed, known, problems] = found.value();
    const auto notNamed = known - listed;
    if (json) {
        nlohmann::json list = nlohmann::json::array();
        for (const UnreadableRow& one : rows)
            list.push_back(unreadableJson(one));
        print({ { "unreadable", std::move(list) }, { "known", known }, { "not_listed", notNamed },
            { "problems", problems } });
        return problems.empty() ? kDone : kFailed;
    }
    for (const UnreadableRow& one : rows)
        std::cout << one.block << ":" << one.column << "  " << plainLine(one.words) << "\n";
    for (const Message& problem : problems)
        std::cout << plainLine(problem) << "\n";
    std::cout << formatCount(known) << (known == 1 ? " row" : " rows")
              << " of the blocks prepared so far cannot be used";
    if (notNamed > 0)
        std::cout << "; " << formatCount(notNamed)
                  << " of them are not listed: " << (std::ssize(rows) >= most ? "--count says how many are, and " : "")
                  << "a block names its first " << PreparedBlock::kMaxIssues << " only";
    std::cout << "." << std::endl;
    return problems.empty() ? kDone : kFailed;
}

/// Of the rows of a chunk that are samples for training.
const char* becameOfThem(const ChunkView& chunk)
{
    if (chunk.isParents)
        return " trained by the parent run (left out here), ";
    switch (chunk.state) {
    case ChunkState::Pending:
    case ChunkState::Free: return " to be trained, ";
    case ChunkState::Leased: return " in training, ";
    case ChunkState::Trained: return " trained (not in a checkpoint yet), ";
    case ChunkState::Committed: return " trained, ";
    case ChunkState::Excluded: return " left out with the chunk, ";
    case ChunkState::Poisoned: return " not trained (the chunk is poisoned), ";
    case ChunkState::Accepted: return " not trained (the chunk is accepted as not trained), ";
    }
    return " of no known state, ";
}

int inspect(InspectOptions o)
{
    constexpr std::int64_t kMostListed = 1000;
    if (o.unreadable)
        return listUnreadable(o.run, o.part.count == INT64_MAX ? kMostListed : o.part.count, o.json);
    if (o.chunk.empty())
        return failUsage(sentence("furrowctl inspect needs chunk: BLOCK:CHUNK, both from 0; or --unreadable."), o.json);
    const auto chunk = parseChunkName(o.chunk);
    if (!chunk)
        return fail(noChunk(o.chunk), o.json);
    o.part.block = chunk->block;
    o.part.column = chunk->column;
    if (o.epoch > 0)
        o.part.epoch = o.epoch - 1;
    if (o.sample >= 0) {
        o.part.order = SampleOrder::AsStored;
        o.part.first = o.sample;
        o.part.count = 1;
    }
    auto view = viewChunk(RunPaths(o.run), o.part);
    if (!view.ok())
        return fail(view.error(), o.json);
    const auto& v = view.value();
    if (o.sample >= v.stored)
        return failUsage(sentence("Chunk %1 has no sample %2: its samples are 0 to %3.",
                             { o.chunk, std::to_string(o.sample), std::to_string(v.stored - 1) }),
            o.json);
    if (o.json) {
        const auto& s = v.summary;
        const std::int64_t rest = s.samples - v.inCheckpoints;
        nlohmann::json json = { { "block", v.block }, { "chunk", v.column }, { "rows", s.rows },
            { "state", toString(v.state) }, { "for_training", s.samples },
            { "trained", v.state == ChunkState::Committed ? s.samples : v.inCheckpoints },
            { "excluded", v.state == ChunkState::Excluded && !v.isParents ? rest : 0 },
            { "trained_by_parent", v.isParents ? rest : 0 }, { "accepted", v.state == ChunkState::Accepted ? rest : 0 },
            { "poisoned", v.state == ChunkState::Poisoned ? rest : 0 }, { "filtered", s.filtered },
            { "failed", s.failed }, { "held_out", s.heldOut }, { "duplicates", s.duplicates }, { "repeats", s.repeats },
            { "invalid_utf8", s.invalidUtf8 }, { "tokens", s.tokens }, { "tokens_with_ends", v.tokensWithEnds() },
            { "learnt", s.learnt }, { "too_long", s.tooLong }, { "stored", v.stored },
            { "samples", nlohmann::json::array() } };
        for (const auto& sample : v.samples)
            json["samples"].push_back(sampleJson(sample));
        json["unreadable"] = nlohmann::json::array();
        for (const auto& one : v.unreadable)
            json["unreadable"].push_back(unreadableJson(one));
        print(json);
        return kDone;
    }
    std::cout << "block " << v.block << ", chunk " << v.column << ": " << v.summary.rows << " rows, ";
    if (v.inCheckpoints > 0)
        std::cout << v.inCheckpoints << " trained and in checkpoints, ";
    std::cout << v.summary.samples - v.inCheckpoints << becameOfThem(v) << v.summary.filtered << " filtered, "
              << v.summary.failed << " unreadable, " << v.summary.heldOut << " held out, " << v.summary.duplicates
              << " left out as repeats, " << v.summary.tokens << " tokens of text (" << v.tokensWithEnds()
              << " with the end behind each sample, as status and audit count them)";
    if (v.summary.repeats > 0)
        std::cout << ", " << v.summary.repeats << " trained although their text stands before in the block";
    if (v.summary.invalidUtf8 > 0)
        std::cout << ", " << v.summary.invalidUtf8 << " with bytes or escapes that are not characters";
    const bool isMasked = v.summary.learnt < v.summary.tokens; // conversations
    if (isMasked)
        std::cout << ", " << v.summary.learnt << " of the tokens of text learnt (" << learntMarks(std::cout) << ")";
    if (v.summary.tooLong > 0)
        std::cout << ", " << v.summary.tooLong << " samples longer than a window";
    std::cout << "\n";
    for (const auto& one : v.unreadable)
        std::cout << "unreadable: " << plainLine(one.words) << "\n";
    for (const auto& s : v.samples) {
        std::cout << "[" << s.index << "] " << plainLine(s.file) << " row " << s.row << ", " << s.tokens.size()
                  << " tokens, " << (s.loss ? "loss " + formatNumber(*s.loss, 3) + ", " : "")
                  << formatHex(s.fingerprint) << (*leftOut(s.flags) ? ", " : "") << leftOut(s.flags)
                  << (s.firstRow ? " of " + plainLine(s.firstRow->file) + " row " + std::to_string(s.firstRow->row)
                                 : std::string())
                  << "\n";
        if (isMasked)
            printLearnt(std::cout, s.text, s.learnt, Layout::AsItIs);
        else
            std::cout << s.text;
        std::cout << "\n";
    }
    std::cout << std::flush;
    return kDone;
}

struct ExcludeOptions {
    std::string run;
    std::vector<std::string> chunks;
    std::string cause = "left out by hand";
    bool json = false;
};

/// Those that were named, in the newest epoch.
Result<std::vector<ChunkId>> namedChunks(const RunPaths& paths, const std::vector<std::string>& names)
{
    FURROW_TRY_ASSIGN(auto reader, LedgerReader::open(paths.tracker()));
    FURROW_TRY_ASSIGN(const auto epochs, reader.epochs());
    std::vector<ChunkId> ids;
    for (const auto& text : names) {
        const auto chunk = parseChunkName(text);
        if (!chunk || chunk->block >= kMaxBlocks || chunk->column >= kMaxChunksPerBlock)
            return noChunk(text);
        ids.push_back(chunkIdOf({ epochs.empty() ? 0 : epochs.back().epoch, chunk->block, chunk->column }));
        const auto cell = reader.cell(ids.back());
        if (!cell.ok())
            return cell.error().code == ErrorCode::NotFound ? Error { ErrorCode::InvalidArgument,
                sentence("The run has no chunk %1, or does not know it yet.", { text }) }
                                                            : cell.error();
    }
    return ids;
}

int exclude(const ExcludeOptions& o)
{
    const RunPaths paths(o.run);
    if (auto why = whyNotKept(o.cause, "--cause"); !why.empty()) // kept with the event, and shown by audits
        return fail({ ErrorCode::InvalidArgument, std::move(why) }, o.json);
    if (auto run = checkRun(o.run); !run.ok())
        return fail(run.error(), o.json);
    const auto named = namedChunks(paths, o.chunks);
    if (!named.ok())
        return fail(named.error(), o.json);
    const auto& ids = named.value();
    const auto inPart = excludeChunks(paths, ids, o.cause);
    if (!inPart.ok())
        return fail(inPart.error(), o.json);
    if (o.json) {
        print({ { "excluded", ids.size() }, { "partly_trained", inPart.value() } });
        return kDone;
    }
    std::cout << ids.size() << (ids.size() == 1 ? " chunk is" : " chunks are") << " left out from now on.";
    if (inPart.value() > 0)
        std::cout << " Of " << inPart.value()
                  << " of them a part is in the weights already and stays there; the rest is not trained.";
    std::cout << std::endl;
    return kDone;
}

struct PoisonedOptions {
    std::string run;
    std::vector<std::string> chunks;
    bool json = false;
};

/// What can be done about chunks that could not be read.
struct Decision {
    const char* name;
    const char* help;
    Status (*act)(const RunPaths&, std::span<const ChunkId>);
    const char* said; ///< after "3 chunks"
};

const Decision kDecisions[] = {
    { "retry", "Prepare and train poisoned chunks again, after their source is as it was when the run was made.",
        retryChunks, "tried again; a run that rests does so when it is resumed." },
    { "accept", "Accept poisoned chunks as not trained: they are named, and keep the epoch open no more.", acceptChunks,
        "accepted as not trained." },
};

/// Those that were named, else all. A chunk may be poisoned in two epochs that are open at once: then both are meant.
Result<std::vector<NamedChunk>> choosePoisoned(const PoisonedOptions& o)
{
    FURROW_TRY(checkRun(o.run));
    auto all = poisonedChunks(RunPaths(o.run).tracker());
    if (!all.ok() || o.chunks.empty())
        return all;
    std::vector<NamedChunk> chosen;
    for (const auto& text : o.chunks) {
        const auto chunk = parseChunkName(text);
        if (!chunk)
            return noChunk(text);
        const auto before = chosen.size();
        std::copy_if(all.value().begin(), all.value().end(), std::back_inserter(chosen), [&](const NamedChunk& one) {
            const ChunkPlace at = placeOf(one.chunk);
            return ChunkName { at.block, at.column } == *chunk;
        });
        if (chosen.size() == before)
            return Error { ErrorCode::InvalidArgument,
                sentence("Chunk %1 is not poisoned. 'furrowctl chunks list' shows those that are.", { text }) };
    }
    return chosen;
}

std::string counted(std::size_t chunks)
{
    return std::to_string(chunks) + (chunks == 1 ? " chunk is " : " chunks are ");
}

int listPoisoned(const PoisonedOptions& o)
{
    auto chunks = choosePoisoned(o);
    if (!chunks.ok())
        return fail(chunks.error(), o.json);
    auto json = nlohmann::json::array();
    for (const auto& one : chunks.value()) {
        const ChunkPlace at = placeOf(one.chunk);
        json.push_back(
            { { "block", at.block }, { "chunk", at.column }, { "epoch", at.epoch + 1 }, { "cause", one.cause } });
        if (!o.json)
            std::cout << at.block << ":" << at.column << " (epoch " << at.epoch + 1 << "): " << one.cause << "\n";
    }
    if (o.json)
        print({ { "poisoned", json } });
    else
        std::cout << counted(json.size()) << "poisoned." << std::endl;
    return kDone;
}

int decide(const Decision& decision, const PoisonedOptions& o)
{
    auto chunks = choosePoisoned(o);
    if (!chunks.ok())
        return fail(chunks.error(), o.json);
    std::vector<ChunkId> ids;
    for (const auto& one : chunks.value())
        ids.push_back(one.chunk);
    if (auto status = decision.act(RunPaths(o.run), ids); !status.ok())
        return fail(status.error(), o.json);
    if (o.json)
        print({ { decision.name, ids.size() } });
    else
        std::cout << (ids.empty() ? "No chunk is poisoned; nothing was changed." : counted(ids.size()) + decision.said)
                  << std::endl;
    return kDone;
}

void addPoisonedOptions(CLI::App& command, PoisonedOptions& o)
{
    command.add_option("run", o.run, "Folder of the run.")->required();
    command.add_option("chunks", o.chunks, "BLOCK:CHUNK, one or more; without any: every poisoned chunk.");
    command.add_flag("--json", o.json, "Print JSON.");
}

} // namespace

void addChunkCommands(CLI::App& app, Chosen& chosen)
{
    auto io = std::make_shared<InspectOptions>();
    auto* inspecting = app.add_subcommand("inspect",
        "Show a chunk of a run as text, tokens, file and row (rows count from 0: row 0 of jsonl is line 1).");
    inspecting->add_option("run", io->run, "Folder of the run.")->required();
    auto* chunk = inspecting->add_option("chunk", io->chunk, "BLOCK:CHUNK, both from 0.");
    inspecting
        ->add_flag("--unreadable", io->unreadable,
            "Instead: the rows of the whole run that cannot be used, with chunk, file, row, line and why.")
        ->excludes(chunk);
    inspecting->add_option("--sample", io->sample, "Only this sample, from 0.")->check(kFromZero);
    inspecting->add_option("--epoch", io->epoch, "Losses of this epoch, from 1; 0: the newest.")
        ->check(kFromZero)
        ->capture_default_str();
    addChoice<SampleOrder>(
        *inspecting, "--order", io->part.order, "stored, or samples with a loss first: highest, lowest.")
        ->default_str(toString(io->part.order));
    inspecting->add_option("--first", io->part.first, "Begin at this place of the order.")->check(kFromZero);
    inspecting
        ->add_option("--count", io->part.count,
            "So many samples, or rows, at most; of unreadable rows 1,000 unless it is given.")
        ->check(kFromZero);
    inspecting->add_flag("--json", io->json, "Print JSON.");
    inspecting->callback([&chosen, io] { chosen.action = [io] { return inspect(*io); }; });

    auto eo = std::make_shared<ExcludeOptions>();
    auto* excluding = app.add_subcommand("exclude",
        "Leave chunks that are not trained yet out of this run: they are shown as excluded. Lists for new runs (--exclude, the console's quarantine) change no run that is there.");
    excluding->add_option("run", eo->run, "Folder of the run.")->required();
    excluding->add_option("chunks", eo->chunks, "BLOCK:CHUNK, one or more.")->required();
    excluding->add_option("--cause", eo->cause, "Why; kept with the event.")->capture_default_str();
    excluding->add_flag("--json", eo->json, "Print JSON.");
    excluding->callback([&chosen, eo] { chosen.action = [eo] { return exclude(*eo); }; });

    auto* chunks = app.add_subcommand("chunks",
        "Chunks that could not be read (poisoned): list them, try them again, or accept them as not trained.");
    chunks->require_subcommand(1);
    auto lo = std::make_shared<PoisonedOptions>();
    auto* listing = chunks->add_subcommand("list", "Every poisoned chunk and why it could not be read.");
    addPoisonedOptions(*listing, *lo);
    listing->callback([&chosen, lo] { chosen.action = [lo] { return listPoisoned(*lo); }; });
    for (const auto& decision : kDecisions) {
        auto po = std::make_shared<PoisonedOptions>();
        auto* deciding = chunks->add_subcommand(decision.name, decision.help);
        addPoisonedOptions(*deciding, *po);
        deciding->callback(
            [&chosen, po, &decision] { chosen.action = [po, &decision] { return decide(decision, *po); }; });
    }
}

} // namespace furrow::ctl
