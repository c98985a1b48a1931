#include "core/train/loop/start_weights_torch.h"

#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/run/checkpoint_manifest.h"
#include "core/run/run_paths.h"
#include "core/train/optim/optimizer_torch.h"
#include "core/train/weights/huggingface_torch.h"
#include "core/train/weights/safetensors_torch.h"

#include <torch/torch.h>

#include <sstream>

namespace furrow {

namespace {

/// Lines "heads is 4, the model of init_from has 12".
class Differences {
public:
    template <typename T> void compare(const char* field, const T& here, const T& there)
    {
        if (here == there)
            return;
        std::ostringstream line;
        line << std::boolalpha << field << " is " << here << ", the model of init_from has " << there;
        text += (text.empty() ? "" : "\n") + line.str();
    }
    std::string text;
};

std::string differences(const ModelConfig& here, const ModelConfig& there)
{
    Differences found;
    found.compare("architecture", here.architecture, there.architecture);
    found.compare("layers", here.layers, there.layers);
    found.compare("width", here.width, there.width);
    found.compare("heads", here.heads, there.heads);
    found.compare("kv_heads", here.keyValueHeads(), there.keyValueHeads());
    found.compare("ff_width", here.feedForwardWidth(), there.feedForwardWidth());
    found.compare("positions", here.positions, there.positions);
    found.compare("norm", here.norm, there.norm);
    found.compare("norm_epsilon", here.normEpsilon, there.normEpsilon);
    found.compare("activation", here.activation, there.activation);
    found.compare("bias", here.bias, there.bias);
    found.compare("tied_head", here.tiedHead, there.tiedHead);
    if (here.positions == "rope")
        found.compare("rope_theta", here.ropeTheta, there.ropeTheta);
    if (here.vocabularySize != there.vocabularySize)
        found.compare("tokenizer: the size of its vocabulary", here.vocabularySize, there.vocabularySize);
    if (here.contextLength > there.contextLength && here.positions == "learned")
        found.compare("seq_len", here.contextLength, there.contextLength);
    return found.text;
}

Result<NamedTensors> fromHuggingFaceFolder(const std::filesystem::path& path, const ModelConfig& config)
{
    FURROW_TRY_ASSIGN(auto model, importHuggingFace(path));
    if (const auto text = differences(config, model.config); !text.empty())
        return Error { ErrorCode::InvalidArgument, text };
    NamedTensors weights = std::move(model).state;
    for (auto& [name, tensor] : weights)
        if (name == "positions.weight")
            tensor = tensor.narrow(0, 0, config.contextLength).contiguous();
    return weights;
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
    if (path.extension() == ".safetensors" && std::filesystem::exists(path))
        path = path.parent_path();
    if (std::filesystem::exists(path / kWeightsFile))
        return fromCheckpoint(path);
    if (std::filesystem::exists(path / "config.json"))
        return fromHuggingFaceFolder(path, config);
    return Error { ErrorCode::NotFound,
        sentence(
            "%1 has neither weights.safetensors nor config.json. Name a checkpoint folder of a run or a Hugging Face folder.",
            { folder }) };
}

} // namespace furrow
