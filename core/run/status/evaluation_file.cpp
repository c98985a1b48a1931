#include "core/run/status/evaluation_file.h"

#include "core/base/sentence.h"
#include "core/config/bounded_json.h"

#include <nlohmann/json.hpp>

#include <cmath>

namespace furrow {

namespace {

std::optional<ToldEvaluation> read(const std::filesystem::path& file)
try {
    const auto text = readFile(file, 64 << 10);
    if (!text.ok())
        return std::nullopt;
    const nlohmann::json json = parseBoundedJson(text.value());
    return ToldEvaluation { json.at("worker"), json.at("merged"), json.at("step"), json.at("loss"),
        json.at("wall_ns") };
} catch (const nlohmann::json::exception&) {
    return std::nullopt;
}

} // namespace

Status publishEvaluation(const RunPaths& paths, const ToldEvaluation& told, FileSystem& files)
{
    if (!std::isfinite(told.loss)) // JSON has none
        return {};
    FURROW_TRY(files.createFolders(paths.evaluationsFolder()));
    const nlohmann::json json { { "worker", told.worker }, { "merged", told.merged }, { "step", told.step },
        { "loss", told.loss }, { "wall_ns", told.wallNs } };
    return writeFileWhole(
        files, paths.evaluationsFolder() / ("w" + std::to_string(told.worker) + ".json"), json.dump() + "\n");
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

HeldOutLoss heldOutLossOf(const ToldEvaluation& told, const EvaluatedText& text)
{
    const std::string worker = std::to_string(told.worker);
    return { told.loss, told.step, text, told.merged ? 0 : told.worker, told.merged, told.wallNs,
        told.merged ? sentence("the merge, as worker %1 evaluated it", { worker })
                    : sentence("worker %1, while it trained", { worker }) };
}

} // namespace furrow
