#include "core/run/folder/left_out_chunks.h"

#include "core/base/clock.h"
#include "core/base/file_system.h"
#include "core/base/link_refusal.h"
#include "core/base/path.h"
#include "core/base/random.h"
#include "core/base/sentence.h"
#include "core/config/bounded_json.h"
#include "core/config/message_json.h"
#include "core/tracker/audit/rebuild.h"
#include "core/tracker/moves.h"
#include "core/tracker/row_bounds.h"

#include <algorithm>
#include <optional>

namespace furrow {

namespace {

constexpr std::uint64_t kMostBytes = 64 << 20; // three million chunks
constexpr std::size_t kNameDigits = 16;

/// Nothing: it is not of this run, or no such file.
std::optional<LeftOut> decidedIn(const std::string& text, const std::string& runId)
{
    const auto json = parseBoundedJson(text);
    if (!json.is_object())
        return std::nullopt;
    try {
        LeftOut decided;
        if (json.at("run").get<std::string>() != runId)
            return std::nullopt;
        decided.cause = messageOf(json.at("cause").get<std::string>(), json.at("message").get<std::string>());
        for (const auto& chunk : json.at("chunks")) {
            if (!isChunkId(chunk.get<std::int64_t>()))
                return std::nullopt;
            decided.chunks.push_back({ chunk.get<std::int64_t>() });
        }
        return decided.cause.size() <= SupervisorLedger::kMostCauseBytes ? std::optional(decided) : std::nullopt;
    } catch (const nlohmann::json::exception&) {
        return std::nullopt;
    }
}

bool isOfAnother(const std::string& text, const std::string& runId)
{
    const auto json = parseBoundedJson(text);
    return json.is_object() && json.contains("run") && json["run"].is_string() && json["run"] != runId;
}

bool hasNameOfARecord(const std::filesystem::path& file)
{
    const auto name = utf8Text(file.stem());
    return name.size() == kNameDigits && name.find_first_not_of("0123456789abcdef") == std::string::npos;
}

/// The newest epoch of a tracker, and whether another one will follow it.
struct Newest {
    std::int64_t epoch = 0;
    bool isAnotherWanted = false;
};

Result<std::optional<Newest>> newestOf(LedgerReader& tracker)
{
    FURROW_TRY_ASSIGN(const auto epochs, tracker.epochs());
    FURROW_TRY_ASSIGN(const auto totals, tracker.totals());
    if (epochs.empty())
        return std::optional<Newest>();
    const EpochRow& last = epochs.back();
    const bool isWanted = totals.rules.epochs == 0 || last.epoch + 1 < totals.rules.epochs;
    return std::optional(Newest { last.epoch, last.blockCount && isWanted });
}

/// Its state in the newest epoch. Nothing: it has none yet.
Result<std::optional<ChunkState>> stateIn(LedgerReader& tracker, const Newest& newest, ChunkPlace place)
{
    place.epoch = newest.epoch;
    const auto cell = tracker.cell(chunkIdOf(place));
    if (!cell.ok() && cell.error().code != ErrorCode::NotFound)
        return cell.error();
    return cell.ok() ? std::optional(cell.value().state) : std::nullopt;
}

/// Later epochs take over what is left out in the newest one. So one more is opened where a chunk is trained in that
/// already. Whatever the files say, it is one.
Status openOneMore(const std::filesystem::path& tracker, LedgerReader& reader, const std::vector<LeftOut>& forgotten,
    const Patience& patience)
{
    FURROW_TRY_ASSIGN(const auto newest, newestOf(reader));
    for (const auto& decided : forgotten)
        for (const ChunkId chunk : decided.chunks) {
            FURROW_TRY_ASSIGN(const auto state, stateIn(reader, *newest, placeOf(chunk)));
            if (state == ChunkState::Committed)
                return openEpochsUpTo(tracker, newest->epoch + 1, patience);
        }
    return {};
}

} // namespace

Result<std::filesystem::path> keepLeftOut(const RunPaths& paths, const std::string& runId, const LeftOut& decided)
{
    nlohmann::json chunks = nlohmann::json::array();
    for (const ChunkId chunk : decided.chunks)
        chunks.push_back(chunk.value);
    const nlohmann::json json
        = { { "run", runId }, { "wall_ns", systemClock().wallNs() }, { "cause", decided.cause.text() },
              { "message", messageParts(decided.cause) }, { "chunks", std::move(chunks) } };
    FURROW_TRY(refuseNoFolder(paths.leftOutFolder()));
    FURROW_TRY(realFileSystem().createFolder(paths.leftOutFolder()));
    const auto file = paths.leftOutFolder() / (randomHex(kNameDigits) + ".json");
    FURROW_TRY(writeFileDurably(
        realFileSystem(), file, json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n"));
    return file;
}

Result<KeptLeftOut> keptLeftOut(const RunPaths& paths, const std::string& runId)
{
    KeptLeftOut kept;
    const auto entries = entriesOf(paths.leftOutFolder());
    if (!entries.ok())
        return entries.error().code == ErrorCode::NotFound ? Result<KeptLeftOut>(std::move(kept)) : entries.error();
    for (const auto& entry : entries.value()) {
        const bool isPlain = entry.extension() == ".json" && !isLink(entry);
        const auto text = isPlain ? readFile(entry, kMostBytes) : Result<std::string>(std::string());
        if (!text.ok() && text.error().code == ErrorCode::Io)
            return text.error();
        if (!text.ok() && text.error().code == ErrorCode::NotFound) // a decision that was refused takes its record back
            continue;
        if (auto decided = text.ok() ? decidedIn(text.value(), runId) : std::nullopt; decided) {
            kept.decided.push_back(std::move(*decided));
            continue;
        }
        kept.unclear.push_back(entry);
        if (!kept.damaged && isPlain && hasNameOfARecord(entry) && !(text.ok() && isOfAnother(text.value(), runId)))
            kept.damaged = entry;
    }
    return kept;
}

Result<std::optional<std::filesystem::path>> damagedLeftOut(const RunPaths& paths, const std::string& runId)
{
    FURROW_TRY_ASSIGN(const auto kept, keptLeftOut(paths, runId));
    return kept.damaged;
}

Result<Message> unclearLeftOut(const RunPaths& paths, const std::string& runId)
{
    FURROW_TRY_ASSIGN(const auto kept, keptLeftOut(paths, runId));
    return kept.unclear.empty()
        ? Message()
        : sentence(
              "%1 of the files in %2 are not records of what was left out of this run, %3 for one. If one was damaged, a tracker that is older than it would train its chunks. Compare the chunks that 'furrowctl audit RUN' calls excluded, and move the file away.",
              { Count(static_cast<std::int64_t>(kept.unclear.size())), utf8Text(paths.leftOutFolder()),
                  utf8Text(kept.unclear.front().filename()) });
}

namespace {

Result<std::vector<LeftOut>> forgottenOf(const std::vector<LeftOut>& kept, LedgerReader& tracker)
{
    std::vector<LeftOut> forgotten;
    if (kept.empty())
        return forgotten;
    FURROW_TRY_ASSIGN(const auto newest, newestOf(tracker));
    for (const auto& decided : kept) {
        std::vector<ChunkId> chunks;
        for (const ChunkId chunk : newest ? decided.chunks : std::vector<ChunkId> {}) {
            FURROW_TRY_ASSIGN(const auto state, stateIn(tracker, *newest, placeOf(chunk)));
            if (state && (canBeLeftOut(*state) || (*state == ChunkState::Committed && newest->isAnotherWanted)))
                chunks.push_back(chunk);
        }
        if (!chunks.empty())
            forgotten.push_back({ std::move(chunks), decided.cause });
    }
    return forgotten;
}

} // namespace

Result<std::vector<LeftOut>> forgottenLeftOut(const RunPaths& paths, const std::string& runId, LedgerReader& tracker)
{
    FURROW_TRY_ASSIGN(const auto kept, keptLeftOut(paths, runId));
    return forgottenOf(kept.decided, tracker);
}

Result<Message> leaveOutAgain(
    const RunPaths& paths, const std::string& runId, const std::filesystem::path& tracker, const Patience& patience)
{
    FURROW_TRY_ASSIGN(const auto files, keptLeftOut(paths, runId));
    const auto& kept = files.decided;
    if (kept.empty())
        return Message();
    FURROW_TRY_ASSIGN(auto reader, LedgerReader::open(tracker));
    FURROW_TRY_ASSIGN(const auto forgotten, forgottenOf(kept, reader));
    FURROW_TRY(openOneMore(tracker, reader, forgotten, patience));
    FURROW_TRY_ASSIGN(const auto epochs, reader.epochs());
    FURROW_TRY_ASSIGN(auto ledger, SupervisorLedger::open(tracker));
    if (patience)
        ledger.setPatience(patience);
    std::int64_t again = 0;
    for (const auto& decided : kept)
        for (const ChunkId chunk : decided.chunks) { // a place may be meant twice: by two epochs, or two decisions
            FURROW_TRY_ASSIGN(const auto open, openOnesAt(reader, epochs, placeOf(chunk)));
            std::vector<ChunkId> free; // again, perhaps, because the run went back behind their training
            for (const ChunkCell& cell : open)
                if (canBeLeftOut(cell.state))
                    free.push_back(cell.id);
            if (!free.empty())
                FURROW_TRY(ledger.exclude(free, decided.cause));
            again += static_cast<std::int64_t>(free.size());
        }
    if (again == 0)
        return Message();
    return again == 1
        ? sentence("1 chunk that a person had left out would be trained; it is left out again.")
        : sentence("%1 chunks that a person had left out would be trained; they are left out again.", { Count(again) });
}

Result<Message> leftOutInTheWeights(const RunPaths& paths, const std::string& runId, LedgerReader& tracker)
{
    FURROW_TRY_ASSIGN(const auto kept, keptLeftOut(paths, runId));
    std::int64_t trained = 0;
    for (const auto& decided : kept.decided)
        for (const ChunkId chunk : decided.chunks) {
            const auto cell = tracker.cell(chunk);
            if (!cell.ok() && cell.error().code != ErrorCode::NotFound)
                return cell.error();
            trained += cell.ok() && cell.value().state == ChunkState::Committed ? 1 : 0;
        }
    if (trained == 0)
        return Message();
    return trained == 1
        ? sentence(
              "1 chunk that a person left out is in these weights all the same: the weights were made without knowledge of that. 'furrowctl resume RUN --from-checkpoint' goes back to before it.")
        : sentence(
              "%1 chunks that a person left out are in these weights all the same: the weights were made without knowledge of that. 'furrowctl resume RUN --from-checkpoint' goes back to before them.",
              { Count(trained) });
}

Result<std::vector<ChunkCell>> openOnesAt(LedgerReader& reader, const std::vector<EpochRow>& epochs, ChunkPlace place)
{
    std::vector<ChunkCell> found;
    for (const EpochRow& epoch : epochs) {
        place.epoch = epoch.epoch;
        const bool isNewest = epoch.epoch == epochs.back().epoch;
        if (epoch.closedWallNs && !isNewest)
            continue;
        const auto cell = reader.cell(chunkIdOf(place));
        if (!cell.ok() && cell.error().code != ErrorCode::NotFound)
            return cell.error();
        if (cell.ok() && (isNewest || canBeLeftOut(cell.value().state)))
            found.push_back(cell.value());
    }
    return found;
}

bool canBeLeftOut(ChunkState state) { return isLegalMove(state, ChunkState::Excluded); }

} // namespace furrow
