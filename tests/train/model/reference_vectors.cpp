#include "reference_vectors_torch.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <cmath>
#include <cstdlib>
#include <fstream>

namespace furrow::test {

namespace {

std::int64_t saltOf(const std::string& name)
{
    std::int64_t salt = 0;
    for (std::size_t i = 0; i < name.size(); ++i)
        salt += static_cast<std::int64_t>(i + 1) * static_cast<unsigned char>(name[i]);
    return salt;
}

} // namespace

void fillTensor(const std::string& name, const at::Tensor& tensor)
{
    at::Tensor values = at::empty({ tensor.numel() }, at::kDouble);
    auto* into = values.mutable_data_ptr<double>();
    for (std::int64_t i = 0; i < tensor.numel(); ++i)
        into[i] = pattern(i, saltOf(name));
    if (tensor.dim() >= 2)
        values.mul_(0.05);
    else if (name.ends_with(".weight"))
        values.mul_(0.1).add_(1.0);
    else
        values.mul_(0.02);
    tensor.copy_(values.view(tensor.sizes()));
}

double pattern(std::int64_t index, std::int64_t salt)
{
    auto h = static_cast<std::uint32_t>(
        static_cast<std::uint64_t>(index) * 2654435761ULL + static_cast<std::uint64_t>(salt) * 40503ULL + 12345ULL);
    h = (h ^ (h >> 15)) * 2246822519U;
    h ^= h >> 13;
    return (static_cast<double>(h % 2001U) - 1000.0) / 1000.0;
}

void fillPattern(Model& model)
{
    const at::NoGradGuard guard;
    for (const auto& [name, tensor] : modelState(model))
        fillTensor(name, tensor);
    model.weightsChanged();
}

Batch patternBatch(
    std::int64_t step, std::int64_t micro, const ModelConfig& config, std::int64_t batch, std::int64_t masked)
{
    const std::int64_t salt = 1000 + step % 3 * 10 + micro;
    const std::int64_t length = config.contextLength + 1;
    at::Tensor rows = at::empty({ batch * length }, at::kLong);
    for (std::int64_t i = 0; i < batch * length; ++i)
        rows.mutable_data_ptr<std::int64_t>()[i]
            = std::llround(std::abs(pattern(i, salt)) * 1000.0) % config.vocabularySize;
    rows = rows.view({ batch, length });
    Batch result { rows.narrow(1, 0, length - 1).clone(at::MemoryFormat::Contiguous),
        rows.narrow(1, 1, length - 1).clone(at::MemoryFormat::Contiguous) };
    for (std::int64_t i = 0; masked > 0 && i < result.labels_BT.numel(); i += masked)
        result.labels_BT.mutable_data_ptr<std::int64_t>()[i] = kIgnoreLabel;
    return result;
}

double relativeError(double a, double b) { return std::abs(a - b) / std::max(std::abs(b), 1e-3); }

double digestError(const at::Tensor& tensor, const nlohmann::json& digest)
{
    const at::Tensor flat = tensor.detach().to(at::kDouble).flatten();
    const double norm = flat.norm().item<double>();
    // A sum may cancel, so it is held against the norm.
    double worst = std::max(
        relativeError(norm, digest["norm"]), std::abs(flat.sum().item<double>() - digest["sum"].get<double>()) / norm);
    const double typical = norm / std::sqrt(static_cast<double>(flat.numel()));
    for (std::size_t i = 0; i < digest["at"].size(); ++i) {
        const double difference
            = std::abs(flat[digest["at"][i].get<std::int64_t>()].item<double>() - digest["values"][i].get<double>());
        worst = std::max(worst, difference / typical);
    }
    return worst;
}

nlohmann::json readVectors(const std::string& committedName)
{
    const char* folder = std::getenv("FURROW_VECTORS");
    const std::string path = std::string(folder ? folder : FURROW_TEST_DATA) + "/" + committedName;
    std::ifstream file(path);
    return nlohmann::json::parse(file);
}

ModelConfig configFrom(const nlohmann::json& model)
{
    ModelConfig config;
    config.layers = model.value("layers", 2);
    config.heads = model["heads"];
    config.kvHeads = model.value("kv_heads", 0);
    config.width = model["width"];
    config.ffWidth = model.value("ff_width", 0);
    config.contextLength = model["context"];
    config.vocabularySize = model["vocabulary"];
    RunConfig named;
    named.positions = closedValue<Positions>(model["positions"].get<std::string>()).value();
    named.norm = closedValue<NormKind>(model.value("norm", "layernorm")).value();
    named.activation = closedValue<FeedForward>(model.value("activation", "gelu")).value();
    const ModelConfig parts = modelConfigOf(named, 2);
    config.positions = parts.positions;
    config.norm = parts.norm;
    config.activation = parts.activation;
    config.gated = parts.gated;
    config.normBias = config.qkvBias = config.outBias = config.mlpBias = model.value("bias", true);
    config.tiedHead = model.value("tied_head", true);
    config.moeExperts = model.value("moe_experts", 0);
    config.moeActive = model.value("moe_active", 2);
    config.moeBalance = model.value("moe_balance", 0.01);
    config.loraRank = model.value("lora_rank", 0);
    config.loraAlpha = model.value("lora_alpha", 0.0);
    return config;
}

} // namespace furrow::test
