#include "core/train/weights/huggingface_torch.h"
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
    if (!std::filesystem::exists(index))
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
                sentence("%1: the file of tensor '%2' is no text", { index.string(), tensor }) };
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

Status exportHuggingFace(
    const Model& model, const HuggingFaceExtras& extras, FileSystem& files, const std::filesystem::path& folder)
{
    const Result<HuggingFaceLayout> layout = huggingFaceLayout(model.config());
    if (!layout.ok())
        return layout.error();
    try {
        FURROW_TRY(files.createFolders(folder));
        const NamedTensors tensors = toHuggingFace(model.config(), layout.value(), model.fullState());
        FURROW_TRY(writeSafetensors(tensors, { { "format", "pt" } }, files, folder / "model.safetensors"));
        std::map<std::string, std::string> texts = extras.files;
        texts["config.json"] = huggingFaceConfigText(model.config(), layout.value(), extras.tokens);
        texts["generation_config.json"] = huggingFaceGenerationText(extras.tokens);
        for (const auto& [name, text] : texts) {
            FURROW_TRY(writeFileDurably(files, folder / name, text));
        }
        return files.syncFolder(folder);
    } catch (const std::exception& error) {
        return Error { ErrorCode::Internal, "exporting to " + folder.string() + ": " + error.what() };
    }
}

Result<HuggingFaceModel> importHuggingFace(const std::filesystem::path& folder)
{
    try {
        const Result<std::string> text = readFile(folder / "config.json", kMaxJsonBytes);
        if (!text.ok())
            return text.error();
        const Result<HuggingFaceConfig> config = parseHuggingFaceConfig(text.value());
        if (!config.ok())
            return config.error().in(folder.string());
        const Result<std::set<std::string>> names = weightFiles(folder);
        if (!names.ok())
            return names.error();
        NamedTensors saved;
        for (const std::string& name : names.value()) {
            Result<SafetensorsFile> part = readSafetensors(folder / name);
            if (!part.ok())
                return part.error();
            saved.insert(saved.end(), part.value().tensors.begin(), part.value().tensors.end());
        }
        Result<NamedTensors> state = fromHuggingFace(config.value().config, config.value().layout, saved);
        if (!state.ok())
            return state.error().in(folder.string());
        return HuggingFaceModel { config.value().config, std::move(state).value() };
    } catch (const std::exception& error) {
        return Error { ErrorCode::Internal, "importing " + folder.string() + ": " + error.what() };
    }
}

} // namespace furrow
