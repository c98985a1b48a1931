#include "core/train/weights/huggingface_torch.h"
#include "core/base/is_there.h"
#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/train/weights/safetensors_torch.h"

#include <nlohmann/json.hpp>
#include <torch/torch.h>

#include <set>

namespace furrow {

namespace {

constexpr std::uint64_t kMaxJsonBytes = 64 << 20;
constexpr std::size_t kMaxParts = 10'000;

/// Names of the weight files of a folder: the index's, checked to be plain names, or the only one.
Result<std::set<std::string>> weightFiles(const std::filesystem::path& folder)
{
    const std::filesystem::path index = folder / "model.safetensors.index.json";
    if (!isThere(index))
        return std::set<std::string> { "model.safetensors" };
    const Result<std::string> text = readFile(index, kMaxJsonBytes);
    if (!text.ok())
        return text.error();
    const auto json = nlohmann::json::parse(text.value(), nullptr, false);
    if (!json.is_object() || !json.contains("weight_map") || !json["weight_map"].is_object())
        return Error { ErrorCode::Corrupt, sentence("%1 has no weight_map", { index.string() }) };
    std::set<std::string> names;
    for (const auto& [tensor, file] : json["weight_map"].items()) {
        if (!file.is_string())
            return Error { ErrorCode::Corrupt,
                sentence("%1: the file of tensor '%2' is not text", { index.string(), tensor }) };
        const std::string name = file;
        if (name.empty() || name.front() == '.' || name.find_first_of("/\\:") != std::string::npos)
            return Error { ErrorCode::Corrupt, sentence("%1 points outside its folder", { index.string() }) };
        names.insert(name);
    }
    if (names.size() > kMaxParts)
        return Error { ErrorCode::Corrupt, sentence("%1 lists more than 10000 files", { index.string() }) };
    return names;
}

} // namespace

Result<HuggingFaceText> exportedConfig(const ModelConfig& model, const HuggingFaceExtras& extras)
{
    const auto given = extras.files.find("config.json");
    if (given == extras.files.end())
        return huggingFaceConfigText(model, extras.tokens);
    FURROW_TRY_ASSIGN(auto meaning, parseHuggingFaceConfig(given->second));
    if (const auto differences = shapeDifferences(meaning.config, model); !differences.empty())
        return Error { ErrorCode::InvalidArgument,
            sentence("config.json is of another model than these weights: %1", { differences }) };
    return HuggingFaceText { withFloat32(given->second), std::move(meaning) };
}

Status exportHuggingFace(
    const Model& model, const HuggingFaceExtras& extras, FileSystem& files, const std::filesystem::path& folder)
{
    FURROW_TRY_ASSIGN(auto config, exportedConfig(model.config(), extras));
    try {
        FURROW_TRY(files.createFolders(folder));
        const NamedTensors tensors = toHuggingFace(config.meaning, model.fullState());
        FURROW_TRY(writeSafetensors(tensors, { { "format", "pt" } }, files, folder / "model.safetensors"));
        std::map<std::string, std::string> texts = extras.files;
        if (!texts.contains("config.json"))
            texts["generation_config.json"] = huggingFaceGenerationText(extras.tokens);
        texts["config.json"] = config.config;
        for (const auto& [name, text] : texts) {
            FURROW_TRY(writeFileDurably(files, folder / name, text));
        }
        return files.syncFolder(folder);
    } catch (const std::exception& error) {
        return Error { ErrorCode::Internal, sentence("exporting to %1: %2", { utf8Text(folder), error.what() }) };
    }
}

Result<HuggingFaceModel> importHuggingFace(const std::filesystem::path& folder)
{
    try {
        FURROW_TRY_ASSIGN(auto text, readFile(folder / "config.json", kMaxJsonBytes));
        auto config = parseHuggingFaceConfig(text);
        if (!config.ok())
            return config.error().in(folder.string());
        FURROW_TRY_ASSIGN(auto names, weightFiles(folder));
        NamedTensors saved;
        for (const std::string& name : names) {
            FURROW_TRY_ASSIGN(auto part, readSafetensors(folder / name));
            saved.insert(saved.end(), part.tensors.begin(), part.tensors.end());
        }
        auto state = fromHuggingFace(config.value(), std::move(saved));
        if (!state.ok())
            return state.error().in(folder.string());
        return HuggingFaceModel { config.value(), std::move(state).value() };
    } catch (const std::exception& error) {
        return Error { ErrorCode::Internal, sentence("importing %1: %2", { utf8Text(folder), error.what() }) };
    }
}

} // namespace furrow
