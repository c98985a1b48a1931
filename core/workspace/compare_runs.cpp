#include "core/workspace/compare_runs.h"

#include "core/base/format.h"
#include "core/base/path.h"
#include "core/base/plain_line.h"
#include "core/base/sentence.h"
#include "core/run/folder/attempt_config.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace furrow {

namespace {

constexpr std::size_t kMostRuns = 8;
constexpr std::size_t kWorst = 20;
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

using Losses = std::map<std::pair<std::int64_t, std::int32_t>, double>; // by block and column

bool hasLoss(const ChunkCell& cell) { return cell.trainedWallNs != 0 && std::isfinite(cell.meanLoss); }

/// A checkpoint, or a worker that lives, has what was trained of it.
bool isInWeights(const ChunkCell& cell)
{
    return cell.state == ChunkState::Committed || (cell.state == ChunkState::Trained && !cell.holderGone)
        || (cell.covered > 0 && !isWorkLost(cell));
}

/// Of the first epoch. Counts what is lost in `run`.
Losses lossesOf(LedgerReader& ledger, ComparedRun& run)
{
    Losses losses;
    auto cells = ledger.cells(0);
    if (!cells.ok())
        return losses;
    run.chunksLost = takeOutLost(cells.value(), run.status);
    for (const ChunkCell& cell : cells.value()) {
        if (hasLoss(cell))
            losses[{ cell.block, cell.column }] = cell.meanLoss;
    }
    return losses;
}

/// Why the chunks of two runs are not the same text.
Message alignmentProblem(const RunFile& a, const RunFile& b)
{
    if (a.dataIdentity != b.dataIdentity)
        return sentence("the runs have different data");
    if (a.samplesPerBlock != b.samplesPerBlock)
        return sentence("the blocks have %1 and %2 samples",
            { std::to_string(a.samplesPerBlock), std::to_string(b.samplesPerBlock) });
    if (a.config.chunkSamples != b.config.chunkSamples || a.config.chunkBytes != b.config.chunkBytes)
        return sentence("the chunks are cut differently");
    if (a.tokenizerHash != b.tokenizerHash)
        return sentence("the tokenizers differ, so losses per token cannot be compared");
    if (a.config.objective != b.config.objective)
        return sentence("the objectives differ, so losses cannot be compared");
    return {};
}

bool isLeftOutOf(const ComparedRun& run, const LeftOutPart& part)
{
    const auto& all = run.status.leftOut;
    return std::any_of(all.begin(), all.end(), [&part](const LeftOutPart& one) { return one.what == part.what; });
}

/// Of the first epoch.
Status countLeftOut(ComparedRun& run, LedgerReader& ledger)
{
    if (run.status.epochs.empty())
        return {};
    const ChunkCounts& chunks = run.status.epochs.front().chunks;
    FURROW_TRY_ASSIGN(const auto excluded, ledger.leftOut(ChunkState::Excluded, run.status.epochs.front().epoch));
    run.chunksOfParent = excluded.toParent.chunks;
    run.chunksLeftOut = chunks[ChunkState::Excluded] - run.chunksOfParent + chunks[ChunkState::Accepted];
    return {};
}

/// Two runs with the same settings may have trained different texts.
void addLeftOut(std::vector<Message>& caveats, const ComparedRun& first, const ComparedRun& other)
{
    for (const auto& [run, beside] : { std::pair(&first, &other), std::pair(&other, &first) })
        for (const LeftOutPart& part : run->status.leftOut)
            if (!isLeftOutOf(*beside, part))
                caveats.push_back(sentence("%1 and %2 were not trained on the same texts. %3: %4",
                    { first.name, other.name, run->name, part.what }));
    if (first.chunksLeftOut != other.chunksLeftOut)
        caveats.push_back(sentence("Chunks of the first epoch that are left untrained by name: %1 in %2, %3 in %4.",
            { Count(first.chunksLeftOut), first.name, Count(other.chunksLeftOut), other.name }));
    if (first.chunksOfParent != other.chunksOfParent)
        caveats.push_back(sentence(
            "Chunks of the first epoch that are left out because the parent run trained them: %1 in %2, %3 in %4.",
            { Count(first.chunksOfParent), first.name, Count(other.chunksOfParent), other.name }));
}

Message lossUnit(Objective objective)
{
    switch (objective) {
    case Objective::NextToken: break;
    case Objective::Dpo: return sentence("nats per pair");
    }
    return sentence("nats per token");
}

void addObjectives(std::vector<Message>& caveats, const ComparedRun& first, const ComparedRun& other)
{
    const Objective a = first.status.file.config.objective;
    const Objective b = other.status.file.config.objective;
    if (a != b)
        caveats.push_back(
            sentence("%1 and %2 have different objectives: their losses, %3 and %4, say nothing of each other.",
                { first.name, other.name, lossUnit(a), lossUnit(b) }));
}

/// What stands side by side and means different things.
std::vector<Message> caveatsOf(const std::vector<ComparedRun>& runs)
{
    std::vector<Message> caveats;
    for (const ComparedRun& run : runs)
        if (run.chunksLost > 0)
            caveats.push_back(sentence(
                "Chunks of the first epoch that %1 trained and no weights have any more: %2. They are not compared.",
                { run.name, Count(run.chunksLost) }));
    const ComparedRun& first = runs.front();
    for (std::size_t i = 1; i < runs.size(); ++i) {
        const ComparedRun& other = runs[i];
        addLeftOut(caveats, first, other);
        addObjectives(caveats, first, other);
        if (first.status.file.tokenizerHash != other.status.file.tokenizerHash)
            caveats.push_back(sentence("%1 and %2 have different tokenizers: their losses are not of the same tokens.",
                { first.name, other.name }));
        const bool bothEvaluated = first.status.evaluation && other.status.evaluation;
        if (bothEvaluated && first.status.file.heldOutHash != other.status.file.heldOutHash)
            caveats.push_back(
                sentence("%1 and %2 were evaluated on different text: their eval losses say nothing of each other.",
                    { first.name, other.name }));
        else if (bothEvaluated && first.status.evaluation->text.labels != other.status.evaluation->text.labels)
            caveats.push_back(sentence("%1 was evaluated on %2 tokens of the held-out text, %3 on %4.",
                { first.name, Count(first.status.evaluation->text.labels), other.name,
                    Count(other.status.evaluation->text.labels) }));
    }
    return caveats;
}

/// Runs of one name would be one in tables and legends.
void tellApart(std::vector<ComparedRun>& runs)
{
    std::map<std::string, int> uses;
    for (const ComparedRun& run : runs)
        ++uses[run.name];
    for (ComparedRun& run : runs)
        if (uses[run.name] > 1)
            run.name += " (" + utf8Text(pathFromUtf8(run.folder).filename()) + ")";
}

ChunkAlignment align(const Losses& baseline, const Losses& other)
{
    ChunkAlignment result;
    double sum = 0;
    for (const auto& [place, loss] : other) {
        const auto found = baseline.find(place);
        if (found == baseline.end())
            continue;
        const double difference = loss - found->second;
        ++result.common;
        result.better += difference < 0 ? 1 : 0;
        sum += difference;
        result.worst.push_back({ place.first, place.second, difference });
    }
    result.meanDifference = result.common > 0 ? sum / static_cast<double>(result.common) : kNone;
    const std::size_t kept = std::min(kWorst, result.worst.size());
    std::partial_sort(result.worst.begin(), result.worst.begin() + static_cast<std::ptrdiff_t>(kept),
        result.worst.end(), [](const auto& x, const auto& y) { return x.difference > y.difference; });
    result.worst.resize(kept);
    return result;
}

/// What resumes changed, attempt after attempt.
std::vector<ConfigChange> changesOf(LedgerReader& ledger, const RunConfig& frozen)
{
    const auto attempts = ledger.attempts();
    std::vector<ConfigChange> all;
    if (attempts.ok())
        for (const auto& changed : changesByAttempt(attempts.value(), frozen))
            all.insert(all.end(), changed.begin(), changed.end());
    return all;
}

/// "4", or "4 → 1" when a resume changed it.
std::string valueText(const ComparedRun& run, const Setting& setting)
{
    std::string text = settingText(run.status.file.config, setting);
    for (const ConfigChange& change : run.changes)
        if (change.setting == &setting)
            text += " → " + change.after;
    return text;
}

std::vector<ConfigDifference> differencesOf(const std::vector<ComparedRun>& runs)
{
    std::vector<ConfigDifference> found;
    for (const Setting& setting : settings()) {
        ConfigDifference difference { &setting, {} };
        for (const ComparedRun& run : runs)
            difference.values.push_back(valueText(run, setting));
        const bool same = std::all_of(difference.values.begin(), difference.values.end(),
            [&](const std::string& value) { return value == difference.values.front(); });
        if (!same && setting.key != "name")
            found.push_back(std::move(difference));
    }
    return found;
}

nlohmann::json number(double value) { return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(nullptr); }

std::string lossText(double loss) { return std::isfinite(loss) ? formatNumber(loss, 4) : "-"; }
std::string paceText(double perSecond) { return perSecond > 0 ? formatNumber(perSecond, 0) : "-"; }

} // namespace

std::int64_t takeOutLost(std::vector<ChunkCell>& cells, const RunStatus& status)
{
    std::map<ChunkId, const ChunkCell*> gone;
    for (const ChunkCell& held : status.goneHolds)
        gone[held.id] = &held;
    std::int64_t lost = 0;
    for (ChunkCell& cell : cells) {
        if (const auto held = gone.find(cell.id); held != gone.end()) {
            cell.holderGone = true;
            cell.begun = held->second->begun;
        }
        if (!hasLoss(cell) || isInWeights(cell))
            continue;
        cell.meanLoss = std::numeric_limits<float>::quiet_NaN();
        ++lost;
    }
    return lost;
}

Result<RunComparison> compareRuns(const std::vector<std::filesystem::path>& folders)
{
    if (folders.size() < 2 || folders.size() > kMostRuns)
        return Error { ErrorCode::InvalidArgument,
            sentence("two to eight runs can be compared, not %1", { std::to_string(folders.size()) }) };
    RunComparison result;
    std::vector<Losses> losses;
    for (const auto& folder : folders) {
        const RunPaths paths(folder);
        auto ledger = openLedger(paths);
        FURROW_TRY_ASSIGN(auto status,
            ledger.ok() ? readStatus(paths, ledger.value()) : readStatus(paths)); // which says best why there is none
        ComparedRun run;
        run.folder = utf8Text(folder);
        run.status = std::move(status);
        run.name = run.status.file.config.name.empty() ? utf8Text(folder.filename()) : run.status.file.config.name;
        run.meanTokensPerSecond = furrow::meanTokensPerSecond(run.status);
        run.changes = changesOf(ledger.value(), run.status.file.config);
        FURROW_TRY(countLeftOut(run, ledger.value()));
        losses.push_back(lossesOf(ledger.value(), run));
        double sum = 0;
        for (const auto& [place, loss] : losses.back())
            sum += loss;
        run.chunksTrained = static_cast<std::int64_t>(losses.back().size());
        run.meanLoss = run.chunksTrained > 0 ? sum / static_cast<double>(run.chunksTrained) : kNone;
        result.runs.push_back(std::move(run));
    }
    tellApart(result.runs);
    result.caveats = caveatsOf(result.runs);
    result.differences = differencesOf(result.runs);
    for (std::size_t i = 1; i < losses.size(); ++i) {
        const Message problem = alignmentProblem(result.runs.front().status.file, result.runs[i].status.file);
        ChunkAlignment aligned = problem.empty() ? align(losses.front(), losses[i]) : ChunkAlignment {};
        aligned.problem = problem;
        if (!problem.empty())
            aligned.meanDifference = kNone;
        result.alignments.push_back(std::move(aligned));
    }
    return result;
}

nlohmann::json toJson(const RunComparison& comparison)
{
    nlohmann::json json = { { "runs", nlohmann::json::array() }, { "settings", nlohmann::json::array() },
        { "by_chunk", nlohmann::json::array() }, { "caveats", comparison.caveats } };
    for (const ComparedRun& run : comparison.runs) {
        json["runs"].push_back({ { "run", run.folder }, { "name", run.name }, { "state", toString(run.status.state) },
            { "steps", run.status.steps }, { "tokens", run.status.tokens },
            { "active_seconds", run.status.activeSeconds },
            { "tokens_per_s", run.meanTokensPerSecond > 0 ? number(run.meanTokensPerSecond) : nlohmann::json(nullptr) },
            { "loss", number(run.status.loss) }, { "loss_workers", run.status.lossWorkers },
            { "loss_lost", run.status.lossIsGone },
            { "eval_loss", run.status.evaluation ? number(run.status.evaluation->loss) : nlohmann::json(nullptr) },
            { "chunks_trained", run.chunksTrained }, { "chunks_lost", run.chunksLost },
            { "chunks_left_out", run.chunksLeftOut }, { "chunks_trained_by_parent", run.chunksOfParent },
            { "mean_chunk_loss", number(run.meanLoss) } });
    }
    for (const ConfigDifference& difference : comparison.differences)
        json["settings"].push_back({ { "key", difference.setting->key }, { "values", difference.values } });
    for (const ChunkAlignment& aligned : comparison.alignments) {
        nlohmann::json worst = nlohmann::json::array();
        for (const auto& chunk : aligned.worst)
            worst.push_back(
                { { "block", chunk.block }, { "chunk", chunk.column }, { "difference", chunk.difference } });
        json["by_chunk"].push_back({ { "problem", aligned.problem }, { "common", aligned.common },
            { "better", aligned.better }, { "mean_difference", number(aligned.meanDifference) }, { "worst", worst } });
    }
    return json;
}

std::string comparisonText(const RunComparison& comparison)
{
    std::string text;
    for (std::size_t i = 0; i < comparison.runs.size(); ++i) {
        const ComparedRun& run = comparison.runs[i];
        text += (i == 0 ? "Baseline " : "Run      ") + plainLine(run.name) + ": " + toString(run.status.state) + ", "
            + formatCount(run.status.steps) + (run.status.steps == 1 ? " step, " : " steps, ")
            + formatCount(run.status.tokens) + " tokens in " + formatDuration(run.status.activeSeconds) + " ("
            + paceText(run.meanTokensPerSecond) + " tokens/s, mean), eval loss "
            + (run.status.evaluation ? lossText(run.status.evaluation->loss) + " " + ofWhat(*run.status.evaluation)
                                     : Message(lossText(kNone)))
            + "\n";
        if (i == 0)
            continue;
        const ChunkAlignment& aligned = comparison.alignments[i - 1];
        if (!aligned.problem.empty())
            text += "  by chunk: not comparable, " + plainLine(aligned.problem.text()) + ".\n";
        else if (aligned.common == 0)
            text += "  by chunk: no chunk of the first epoch was trained by both yet.\n";
        else
            text += "  by chunk: " + formatCount(aligned.common) + " of the first epoch in common, mean difference "
                + lossText(aligned.meanDifference) + " nats, " + formatCount(aligned.better) + " better.\n";
    }
    for (const auto& caveat : comparison.caveats)
        text += plainLine(caveat.text()) + "\n";
    text += comparison.differences.empty() ? "All settings are the same.\n" : "Settings that differ:\n";
    for (const ConfigDifference& difference : comparison.differences) {
        text += "  " + difference.setting->key + ":";
        for (std::size_t i = 0; i < difference.values.size(); ++i)
            text += (i == 0 ? " " : " | ")
                + (difference.values[i].empty() ? std::string("not set") : plainLine(difference.values[i]));
        text += "\n";
    }
    return text;
}

} // namespace furrow
