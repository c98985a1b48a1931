#include "core/train/model/gpt_torch.h"
#include "core/base/sentence.h"
#include "core/train/weights/huggingface_torch.h"

#include <torch/torch.h>

#include <unordered_map>

// One table of rules serves both ways: which of their tensors make up one of ours.

namespace furrow {

namespace {

struct Part {
    std::string theirs;
    std::int64_t rows; ///< of our tensor's first dimension
};

/// Ours = their parts one below the other, each transposed first when `transposed`. Where we have none (biases), theirs
/// is zero.
struct Rule {
    std::string ours;
    std::vector<Part> parts;
    bool transposed = false;
};

class Rules {
public:
    explicit Rules(const ModelConfig& config)
        : d_(config.width)
        , f_(config.feedForwardWidth())
        , kv_(config.keyValueHeads() * config.headWidth())
        , config_(config)
    {
    }

    std::vector<Rule> gpt2() const
    {
        std::vector<Rule> rules { { "embed.weight", { { "transformer.wte.weight", config_.vocabularySize } } },
            { "positions.weight", { { "transformer.wpe.weight", config_.contextLength } } } };
        const auto add = [&](const std::string& ours, const std::string& theirs, std::int64_t rows, bool matrix) {
            rules.push_back({ ours + ".weight", { { theirs + ".weight", rows } }, matrix });
            rules.push_back({ ours + ".bias", { { theirs + ".bias", rows } } });
        };
        for (std::int64_t i = 0; i < config_.layers; ++i) {
            const std::string ours = "blocks." + std::to_string(i) + ".";
            const std::string theirs = "transformer.h." + std::to_string(i) + ".";
            add(ours + "norm1", theirs + "ln_1", d_, false);
            add(ours + "attention.qkv", theirs + "attn.c_attn", 3 * d_, true);
            add(ours + "attention.out", theirs + "attn.c_proj", d_, true);
            add(ours + "norm2", theirs + "ln_2", d_, false);
            add(ours + "mlp.up", theirs + "mlp.c_fc", f_, true);
            add(ours + "mlp.down", theirs + "mlp.c_proj", d_, true);
        }
        add("norm", "transformer.ln_f", d_, false);
        addHead(rules);
        return rules;
    }

    std::vector<Rule> llama() const
    {
        std::vector<Rule> rules { { "embed.weight", { { "model.embed_tokens.weight", config_.vocabularySize } } } };
        const auto dense = [&](const std::string& ours, const std::vector<Part>& parts) {
            for (const char* kind : { ".weight", ".bias" }) {
                Rule rule { ours + kind, parts };
                for (Part& part : rule.parts)
                    part.theirs += kind;
                if (config_.bias || std::string(kind) == ".weight")
                    rules.push_back(rule);
            }
        };
        for (std::int64_t i = 0; i < config_.layers; ++i) {
            const std::string ours = "blocks." + std::to_string(i) + ".";
            const std::string theirs = "model.layers." + std::to_string(i) + ".";
            rules.push_back({ ours + "norm1.weight", { { theirs + "input_layernorm.weight", d_ } } });
            dense(ours + "attention.qkv",
                { { theirs + "self_attn.q_proj", d_ }, { theirs + "self_attn.k_proj", kv_ },
                    { theirs + "self_attn.v_proj", kv_ } });
            dense(ours + "attention.out", { { theirs + "self_attn.o_proj", d_ } });
            rules.push_back({ ours + "norm2.weight", { { theirs + "post_attention_layernorm.weight", d_ } } });
            dense(ours + "mlp.up", { { theirs + "mlp.gate_proj", f_ }, { theirs + "mlp.up_proj", f_ } });
            dense(ours + "mlp.down", { { theirs + "mlp.down_proj", d_ } });
        }
        rules.push_back({ "norm.weight", { { "model.norm.weight", d_ } } });
        addHead(rules);
        return rules;
    }

private:
    void addHead(std::vector<Rule>& rules) const
    {
        if (!config_.tiedHead)
            rules.push_back({ "head.weight", { { "lm_head.weight", config_.vocabularySize } } });
    }

    std::int64_t d_;
    std::int64_t f_;
    std::int64_t kv_;
    const ModelConfig& config_;
};

std::vector<Rule> rulesFor(const ModelConfig& config, HuggingFaceLayout layout)
{
    return layout == HuggingFaceLayout::Gpt2 ? Rules(config).gpt2() : Rules(config).llama();
}

/// Constant tables and tied copies that files may hold and we compute ourselves.
bool isIgnorable(const std::string& name, const ModelConfig& config)
{
    return name.ends_with(".attn.bias") || name.ends_with(".attn.masked_bias") || name.ends_with("rotary_emb.inv_freq")
        || (config.tiedHead && name == "lm_head.weight");
}

/// GPT-2 files exist with and without the "transformer." prefix.
std::unordered_map<std::string, at::Tensor> byFullName(HuggingFaceLayout layout, const NamedTensors& saved)
{
    std::unordered_map<std::string, at::Tensor> found;
    for (const auto& [name, tensor] : saved) {
        const bool bare
            = layout == HuggingFaceLayout::Gpt2 && !name.starts_with("transformer.") && !name.starts_with("lm_head.");
        found.emplace(bare ? "transformer." + name : name, tensor);
    }
    return found;
}

} // namespace

NamedTensors toHuggingFace(const ModelConfig& config, HuggingFaceLayout layout, const NamedTensors& state)
{
    const std::unordered_map<std::string, at::Tensor> ours(state.begin(), state.end());
    NamedTensors result;
    for (const Rule& rule : rulesFor(config, layout)) {
        const auto found = ours.find(rule.ours);
        std::int64_t row = 0;
        for (const Part& part : rule.parts) {
            if (found == ours.end()) {
                result.emplace_back(part.theirs, at::zeros({ part.rows }));
                continue;
            }
            const at::Tensor piece = found->second.detach().narrow(0, row, part.rows);
            result.emplace_back(part.theirs, rule.transposed ? piece.t().contiguous() : piece);
            row += part.rows;
        }
    }
    return result;
}

Result<NamedTensors> fromHuggingFace(const ModelConfig& config, HuggingFaceLayout layout, const NamedTensors& saved)
{
    auto theirs = byFullName(layout, saved);
    std::unordered_map<std::string, std::vector<std::int64_t>> shapes;
    for (const ParameterShape& shape : gptParameters(config))
        shapes.emplace(shape.name, shape.shape);
    NamedTensors result;
    for (const Rule& rule : rulesFor(config, layout)) {
        std::vector<at::Tensor> pieces;
        for (const Part& part : rule.parts) {
            const auto found = theirs.find(part.theirs);
            if (found == theirs.end())
                return Error { ErrorCode::Corrupt, sentence("tensor '%1' is missing", { part.theirs }) };
            std::vector<std::int64_t> wanted = shapes.at(rule.ours);
            wanted[0] = part.rows;
            if (rule.transposed)
                std::swap(wanted[0], wanted[1]);
            if (found->second.sizes() != at::IntArrayRef(wanted) || !found->second.is_floating_point())
                return Error { ErrorCode::Corrupt,
                    sentence("tensor '%1' has another shape or type than config.json describes", { part.theirs }) };
            const at::Tensor value = found->second.to(at::kFloat);
            pieces.push_back(rule.transposed ? value.t() : value);
            theirs.erase(found);
        }
        result.emplace_back(rule.ours, at::cat(pieces, 0).contiguous());
    }
    for (const auto& [name, tensor] : theirs) {
        if (!isIgnorable(name, config))
            return Error { ErrorCode::Corrupt, sentence("tensor '%1' is unknown in this layout", { name }) };
    }
    return result;
}

} // namespace furrow
