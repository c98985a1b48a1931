#include "core/train/loop/start_weights_torch.h"

#include "core/base/path.h"
#include "core/base/sentence.h"
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
    auto model = importHuggingFace(path);
    if (!model.ok())
        return model.error();
    if (const auto text = differences(config, model.value().config); !text.empty())
        return Error { ErrorCode::InvalidArgument, text };
    NamedTensors weights = std::move(model).value().state;
    for (auto& [name, tensor] : weights)
        if (name == "positions.weight")
            tensor = tensor.narrow(0, 0, config.contextLength).contiguous();
    return weights;
}

} // namespace

Result<NamedTensors> startWeights(const std::string& folder, const ModelConfig& config)
{
    auto path = pathFromUtf8(folder);
    if (path.extension() == ".safetensors" && std::filesystem::exists(path))
        path = path.parent_path();
    if (std::filesystem::exists(path / "weights.safetensors")) {
        auto file = readSafetensors(path / "weights.safetensors");
        if (!file.ok())
            return file.error();
        auto weights = std::move(file).value().tensors;
        std::erase_if(weights, [](const auto& one) { return one.first.rfind("ema.", 0) == 0; });
        return weights;
    }
    if (std::filesystem::exists(path / "config.json"))
        return fromHuggingFaceFolder(path, config);
    return Error { ErrorCode::NotFound, sentence("%1 has neither weights.safetensors nor config.json. Name a checkpoint folder of a run or a Hugging Face folder.", { folder }) };
}

} // namespace furrow
