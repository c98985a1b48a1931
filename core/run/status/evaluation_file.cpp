#include "core/run/status/evaluation_file.h"

#include "core/base/sentence.h"
#include "core/config/bounded_json.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace furrow {

namespace {

std::optional<ToldEvaluation> read(const std::filesystem::path& file)
try {
    const auto text = readFile(file, 64 << 10);
    if (!text.ok())
        return std::nullopt;
    const nlohmann::json json = parseBoundedJson(text.value());
    ToldEvaluation told { json.at("worker"), json.at("merged"), json.at("step"),
        json.value("loss", std::numeric_limits<double>::quiet_NaN()), json.at("wall_ns") };
    const auto count
        = [&json](const char* name) { return std::max<std::int64_t>(0, json.value(name, std::int64_t(0))); };
    told.tasks.questions = count("questions");
    told.tasks.right = std::min(count("right"), told.tasks.questions);
    told.tasks.rightNormalised = std::min(count("right_normalised"), told.tasks.questions);
    told.tasks.chance = json.value("chance", 0.0);
    told.pairs = { count("pairs"), json.value("margin", 0.0), json.value("preferred", 0.0) };
    return told;
} catch (const nlohmann::json::exception&) {
    return std::nullopt;
}

} // namespace

Status publishEvaluation(const RunPaths& paths, const ToldEvaluation& told, FileSystem& files)
{
    FURROW_TRY(files.createFolders(paths.evaluationsFolder()));
    nlohmann::json json { { "worker", told.worker }, { "merged", told.merged }, { "step", told.step },
        { "wall_ns", told.wallNs } };
    const auto write = [&](const char* what) {
        return writeFileWhole(files, paths.evaluationsFolder() / ("w" + std::to_string(told.worker) + what + ".json"),
            json.dump() + "\n");
    };
    if (std::isfinite(told.loss)) { // JSON has no other
        json["loss"] = told.loss;
        if (told.pairs.pairs > 0 && std::isfinite(told.pairs.margin))
            json.update({ { "pairs", told.pairs.pairs }, { "margin", told.pairs.margin },
                { "preferred", told.pairs.preferred } });
        FURROW_TRY(write(""));
    }
    if (told.tasks.questions == 0)
        return {};
    json.update({ { "questions", told.tasks.questions }, { "right", told.tasks.right },
        { "right_normalised", told.tasks.rightNormalised }, { "chance", told.tasks.chance } });
    return write("-answers");
}

std::optional<ToldEvaluation> newestEvaluation(
    const RunPaths& paths, const std::function<bool(const ToldEvaluation&)>& counts)
{
    const auto entries = entriesOf(paths.evaluationsFolder());
    std::optional<ToldEvaluation> newest;
    for (const auto& entry : entries.ok() ? entries.value() : std::vector<std::filesystem::path> {}) {
        const auto told = entry.extension() == ".json" ? read(entry) : std::nullopt; // else one that is being written
        if (told && counts(*told) && (!newest || told->wallNs > newest->wallNs))
            newest = told;
    }
    return newest;
}

bool areWeightsThere(const ToldEvaluation& told, const std::vector<SupervisorLedger::CheckpointRow>& checkpoints,
    const std::vector<IncarnationRow>& processes, const std::function<bool(const IncarnationRow&)>& isAlive,
    const std::function<bool(const SupervisorLedger::CheckpointRow&)>& isThere)
{
    const auto livedThen = [&told](const IncarnationRow& row) { return row.startedWallNs <= told.wallNs; };
    const auto isSaved = [&](const SupervisorLedger::CheckpointRow& row) {
        if (!isThere(row) || row.record.step < told.step)
            return false;
        if (row.record.kind == CheckpointKind::Merge)
            return true;
        const auto writer = std::find_if(processes.begin(), processes.end(),
            [&row](const IncarnationRow& process) { return process.id == row.incarnation; });
        return row.record.replica == told.worker && (writer == processes.end() || livedThen(*writer));
    };
    return std::any_of(checkpoints.begin(), checkpoints.end(), isSaved)
        || std::any_of(processes.begin(), processes.end(),
            [&](const IncarnationRow& row) { return row.worker == told.worker && livedThen(row) && isAlive(row); });
}

HeldOutLoss heldOutLossOf(const ToldEvaluation& told, const EvaluatedText& text)
{
    const std::string worker = std::to_string(told.worker);
    HeldOutLoss loss { told.loss, told.step, text, told.merged ? 0 : told.worker, told.merged, told.wallNs,
        told.worker < 0   ? sentence("all replicas, merged") // by the task that merged them
            : told.merged ? sentence("the merge, as worker %1 evaluated it", { worker })
                          : sentence("worker %1, while it trained", { worker }) };
    loss.pairs = told.pairs;
    return loss;
}

TaskAnswers answersOf(const ToldEvaluation& told)
{
    return { told.tasks, told.step, told.merged ? 0 : told.worker, told.merged, told.wallNs };
}

} // namespace furrow
