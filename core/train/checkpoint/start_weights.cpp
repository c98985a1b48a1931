#include "core/train/checkpoint/start_weights_torch.h"

#include "core/base/is_there.h"
#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/run/folder/adopted_model.h"
#include "core/run/folder/checkpoint_manifest.h"
#include "core/run/folder/run_paths.h"
#include "core/train/model/gpt_torch.h"
#include "core/train/optim/optimizer_torch.h"
#include "core/train/weights/gguf_torch.h"
#include "core/train/weights/safetensors_torch.h"

#include <torch/torch.h>

#include <algorithm>

namespace furrow {

namespace {

/// A Hugging Face folder or a GGUF.
Result<NamedTensors> fromOtherProgram(const std::filesystem::path& path, const ModelConfig& config)
{
    FURROW_TRY_ASSIGN(auto model, isGgufName(path) ? importGguf(path) : importHuggingFace(path));
    ModelConfig there = model.layout.config;
    const bool isShortened
        = config.contextLength < there.contextLength; // by a run of before, which had its window for its context
    if (isShortened)
        there.contextLength = config.contextLength;
    if (const auto text = shapeDifferences(config, there); !text.empty())
        return Error { ErrorCode::InvalidArgument, text };
    for (auto& [name, tensor] : model.state)
        if (isShortened && name == "positions.weight")
            tensor = tensor.narrow(0, 0, config.contextLength).contiguous();
    return std::move(model).state;
}

/// Learned positions are cut where the training window ends, as the model of a run keeps them.
void cutPositions(NamedTensors& weights, const ModelConfig& config)
{
    const auto named = [&weights](const char* name) {
        return std::find_if(weights.begin(), weights.end(), [name](const auto& one) { return one.first == name; });
    };
    const auto trained = named("positions.weight");
    if (config.architecture != Architecture::Gpt || trained == weights.end() || trained->second.dim() != 2)
        return;
    at::Tensor all = trained->second;
    if (const auto rest = named(kUntrainedPositions); rest != weights.end()) {
        all = at::cat({ all, rest->second });
        weights.erase(rest);
    }
    const std::int64_t window = config.trainingLength();
    if (all.size(0) != config.contextLength || window >= config.contextLength)
        return;
    named("positions.weight")->second = all.narrow(0, 0, window).contiguous();
    weights.emplace_back(kUntrainedPositions, all.narrow(0, window, all.size(0) - window).contiguous());
}

/// The weights that the pairs of a LoRA checkpoint stand beside; nothing where its own file has all. A checkpoint that
/// was copied elsewhere may have them with it.
Result<NamedTensors> frozenWeightsOf(const std::filesystem::path& checkpoint)
{
    std::error_code unknown;
    if (!std::filesystem::exists(checkpoint / kManifestFile, unknown)) // what a merge of named checkpoints made
        return NamedTensors {};
    FURROW_TRY_ASSIGN(auto manifest, readManifest(checkpoint));
    if (!manifest.frozen)
        return NamedTensors {};
    const auto& frozen = *manifest.frozen;
    const auto inRun = frozenFileIn(std::filesystem::absolute(checkpoint).parent_path(), frozen.sha256);
    const auto withIt = checkpoint / inRun.filename();
    const auto file = std::filesystem::exists(inRun, unknown) ? inRun : withIt;
    if (!std::filesystem::exists(file, unknown))
        return Error { ErrorCode::NotFound,
            sentence(
                "checkpoint %1 holds the pairs of LoRA alone; the weights beside them are missing: %2 is not there. It was in checkpoints/frozen of run %3. Copy it there, or into the folder of the checkpoint.",
                { utf8Text(checkpoint.filename()), utf8Text(inRun), manifest.runId }) };
    if (auto whole = verifyFrozenFile(file, frozen); !whole.ok())
        return whole.error().in(utf8Text(file));
    auto read = readSafetensors(file);
    return read.ok() ? Result<NamedTensors>(std::move(read).value().tensors) : read.error();
}

Result<NamedTensors> fromCheckpoint(const std::filesystem::path& path)
{
    FURROW_TRY_ASSIGN(auto file, readSafetensors(path / kWeightsFile));
    FURROW_TRY_ASSIGN(auto frozen, frozenWeightsOf(path));
    auto weights = std::move(file).tensors;
    std::erase_if(weights, [](const auto& one) { return one.first.starts_with(kAveragePrefix); });
    weights.insert(weights.end(), frozen.begin(), frozen.end());
    return weights;
}

} // namespace

Result<NamedTensors> startWeights(const std::string& folder, const ModelConfig& config)
{
    auto path = pathFromUtf8(folder);
    if (path.extension() == ".safetensors" && isThere(path))
        path = path.parent_path();
    const bool isOurs = isThere(path / kWeightsFile);
    if (!isOurs && !isGgufName(path) && !isThere(path / "config.json"))
        return Error { ErrorCode::NotFound,
            sentence(
                "%1 has neither weights.safetensors nor config.json. Name a checkpoint folder of a run, a Hugging Face folder or a GGUF.",
                { folder }) };
    FURROW_TRY_ASSIGN(auto weights, isOurs ? fromCheckpoint(path) : fromOtherProgram(path, config));
    cutPositions(weights, config);
    return weights;
}

} // namespace furrow
