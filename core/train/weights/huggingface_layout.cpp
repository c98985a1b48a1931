#include "core/base/sentence.h"
#include "core/train/model/gpt_torch.h"
#include "core/train/weights/huggingface_torch.h"

#include <torch/torch.h>

#include <unordered_map>

// One table of rules serves both ways: which of their tensors make up one of ours. It follows from the names of the
// family and the parts of the model.

namespace furrow {

namespace {

struct Part {
    std::string theirs;
    std::int64_t rows; ///< of our tensor, all but its last dimension taken together
    std::int64_t pairedHeads = 0; ///< heads whose rows go pair by pair in theirs (TensorNames::turnsPairs); 0: none
};

/// Ours = their parts one below the other, each transposed first when `transposed`, its rows brought into our order
/// when `interleaved`, less one when `lessOne`. Where we have none (biases), theirs is zero.
struct Rule {
    std::string ours;
    std::vector<Part> parts;
    bool transposed = false;
    bool interleaved = false;
    bool lessOne = false;
};

std::string numbered(std::string text, std::int64_t number)
{
    if (const auto place = text.find('%'); place != std::string::npos)
        text.replace(place, 1, std::to_string(number));
    return text;
}

class Rules {
public:
    Rules(const ModelConfig& config, const TensorNames& names)
        : config_(config)
        , names_(names)
    {
        const std::string prefix = names.prefix;
        add("embed", { { prefix + names.embedding, config.vocabularySize } }, false);
        if (config.positions == Positions::Learned)
            add("positions", { { prefix + names.positions, config.contextLength } }, false);
        for (std::int64_t i = 0; i < config.layers; ++i)
            addLayer("blocks." + std::to_string(i) + ".", prefix + numbered(names.layer, i));
        addNorm("norm", prefix + names.lastNorm);
        if (!config.tiedHead)
            add("head", { { names.head, config.vocabularySize } }, false);
    }
    std::vector<Rule> all;

private:
    using Parts = std::vector<Part>;

    /// A matrix and, where the model has one, its bias.
    void add(const std::string& ours, const Parts& parts, bool bias, bool ofLayer = false)
    {
        Rule rule { ours + ".weight", parts, ofLayer && names_.transposed };
        rule.interleaved = names_.interleaved && ours.ends_with("attention.qkv");
        Rule ofBias { ours + ".bias", parts, false, rule.interleaved };
        for (std::size_t i = 0; i < parts.size(); ++i) {
            rule.parts[i].theirs += ".weight";
            ofBias.parts[i].theirs += ".bias";
        }
        all.push_back(std::move(rule));
        if (bias)
            all.push_back(std::move(ofBias));
    }

    void addNorm(const std::string& ours, const std::string& theirs)
    {
        addGains(ours, { theirs, config_.width }, config_.norm == NormKind::LayerNorm && config_.normBias);
    }

    void addGains(const std::string& ours, const Part& theirs, bool bias)
    {
        const std::size_t first = all.size();
        add(ours, { theirs }, bias);
        all[first].lessOne = config_.normPlusOne && names_.wholeGains;
    }

    void addLayer(const std::string& ours, const std::string& theirs)
    {
        const std::int64_t d = config_.width;
        const std::int64_t q = config_.queryWidth();
        const std::int64_t kv = config_.keyWidth();
        if (config_.normsBefore()) {
            addNorm(ours + "norm1", theirs + names_.before1);
            addNorm(ours + "norm2", theirs + names_.before2);
        }
        if (config_.normsAfter()) {
            addNorm(ours + "norm1_after", theirs + names_.after1);
            addNorm(ours + "norm2_after", theirs + names_.after2);
        }
        const bool isJoined = *names_.queryKeyValue != '\0';
        const std::int64_t pairs = names_.turnsPairs ? config_.heads : 0;
        const std::int64_t keyPairs = names_.turnsPairs ? config_.keyValueHeads() : 0;
        add(ours + "attention.qkv",
            isJoined ? Parts { { theirs + names_.queryKeyValue, q + 2 * kv } }
                     : Parts { { theirs + names_.query, q, pairs }, { theirs + names_.key, kv, keyPairs },
                           { theirs + names_.value, kv } },
            config_.qkvBias, true);
        if (config_.queryNorm != QueryNorm::None) {
            const bool isWhole = config_.queryNorm == QueryNorm::All;
            const std::int64_t head = config_.headWidth();
            addGains(ours + "attention.q_norm", { theirs + names_.queryNorm, isWhole ? q : head }, false);
            addGains(ours + "attention.k_norm", { theirs + names_.keyNorm, isWhole ? kv : head }, false);
        }
        add(ours + "attention.out", { { theirs + names_.out, d } }, config_.outBias, true);
        if (config_.moeExperts > 0)
            addExperts(ours + "moe.", theirs);
        else
            addFeedForward(ours + "mlp.", theirs);
    }

    void addFeedForward(const std::string& ours, const std::string& theirs)
    {
        const std::int64_t f = config_.feedForwardWidth();
        Parts up { { theirs + names_.up, f } };
        if (*names_.gateUp != '\0')
            up = { { theirs + names_.gateUp, 2 * f } };
        else if (config_.gated)
            up.insert(up.begin(), { theirs + names_.gate, f });
        add(ours + "up", up, config_.mlpBias, true);
        add(ours + "down", { { theirs + names_.down, config_.width } }, config_.mlpBias, true);
    }

    void addExperts(const std::string& ours, const std::string& theirs)
    {
        const std::int64_t d = config_.width;
        const std::int64_t f = config_.feedForwardWidth();
        const std::int64_t shared = config_.moeSharedWidth;
        Parts up, down;
        for (std::int64_t i = 0; i < config_.moeExperts; ++i) {
            up.push_back({ theirs + numbered(names_.expertGate, i), f });
            up.push_back({ theirs + numbered(names_.expertUp, i), f });
            down.push_back({ theirs + numbered(names_.expertDown, i), d });
        }
        add(ours + "router", { { theirs + names_.router, config_.moeExperts } }, false);
        add(ours + "up", up, false);
        add(ours + "down", down, false);
        if (shared == 0)
            return;
        add(ours + "shared_up", { { theirs + names_.sharedGate, shared }, { theirs + names_.sharedUp, shared } },
            false);
        add(ours + "shared_down", { { theirs + names_.sharedDown, d } }, false);
        add(ours + "shared_router", { { theirs + names_.sharedRouter, 1 } }, false);
    }

    const ModelConfig& config_;
    const TensorNames& names_;
};

/// All but the last dimension taken together.
at::Tensor asRows(const at::Tensor& tensor) { return tensor.dim() > 2 ? tensor.flatten(0, -2) : tensor; }

/// Rows of queries, keys and values between "head by head" and "all queries, all keys, all values".
/// @param outer  of the order that `rows` are in: the heads, or the three
at::Tensor reordered(const at::Tensor& rows, std::int64_t outer, std::int64_t inner)
{
    std::vector<std::int64_t> split { outer, inner, rows.size(0) / (outer * inner) };
    split.insert(split.end(), rows.sizes().begin() + 1, rows.sizes().end());
    return rows.reshape(split).transpose(0, 1).reshape(rows.sizes());
}

/// Rows of each head from "first halves, second halves" to "pair by pair", or back.
at::Tensor paired(const at::Tensor& rows, std::int64_t heads, bool toPairs)
{
    const std::int64_t half = rows.size(0) / heads / 2;
    std::vector<std::int64_t> split { heads, toPairs ? 2 : half, toPairs ? half : 2 };
    split.insert(split.end(), rows.sizes().begin() + 1, rows.sizes().end());
    return rows.reshape(split).transpose(1, 2).reshape(rows.sizes());
}

/// Constant tables and tied copies that files may hold and we compute ourselves.
bool isIgnorable(const std::string& name, const ModelConfig& config, const TensorNames& names)
{
    for (const char* end :
        { ".attn.bias", ".attn.masked_bias", ".attention.bias", ".attention.masked_bias", "rotary_emb.inv_freq" })
        if (name.ends_with(end))
            return true;
    return config.tiedHead && name == std::string(names.head) + ".weight";
}

/// Files exist with and without the prefix.
std::unordered_map<std::string, at::Tensor> byFullName(const TensorNames& names, NamedTensors saved)
{
    std::unordered_map<std::string, at::Tensor> found;
    const std::string prefix = names.prefix;
    for (auto& [name, tensor] : saved) {
        const bool isBare = !name.starts_with(prefix) && !name.starts_with(std::string(names.head) + ".");
        found.emplace(isBare ? prefix + name : name, std::move(tensor));
    }
    return found;
}

} // namespace

NamedTensors toHuggingFace(const HuggingFaceConfig& layout, const NamedTensors& state)
{
    const std::unordered_map<std::string, at::Tensor> ours(state.begin(), state.end());
    NamedTensors result;
    for (const Rule& rule : Rules(layout.config, layout.family->names).all) {
        const auto found = ours.find(rule.ours);
        std::int64_t row = 0;
        for (const Part& part : rule.parts) {
            if (found == ours.end()) {
                result.emplace_back(part.theirs, at::zeros({ part.rows }));
                continue;
            }
            at::Tensor piece = asRows(found->second.detach()).narrow(0, row, part.rows);
            if (rule.interleaved)
                piece = reordered(piece, 3, layout.config.heads);
            if (part.pairedHeads > 0)
                piece = paired(piece, part.pairedHeads, true);
            if (rule.lessOne)
                piece = piece + 1;
            result.emplace_back(part.theirs, rule.transposed ? piece.t().contiguous() : piece);
            row += part.rows;
        }
    }
    return result;
}

Result<NamedTensors> fromHuggingFace(const HuggingFaceConfig& layout, NamedTensors saved)
{
    ModelConfig whole = layout.config;
    whole.trainedLength = 0;
    auto theirs = byFullName(layout.family->names, std::move(saved));
    std::unordered_map<std::string, std::vector<std::int64_t>> shapes;
    for (const ParameterShape& shape : gptParameters(whole))
        shapes.emplace(shape.name, shape.shape);
    NamedTensors result;
    for (const Rule& rule : Rules(whole, layout.family->names).all) {
        const std::vector<std::int64_t>& ours = shapes.at(rule.ours);
        std::vector<at::Tensor> pieces;
        for (const Part& part : rule.parts) {
            const auto found = theirs.find(part.theirs);
            if (found == theirs.end())
                return Error { ErrorCode::Corrupt, sentence("tensor '%1' is missing", { part.theirs }) };
            std::vector<std::int64_t> wanted { part.rows };
            if (ours.size() > 1)
                wanted.push_back(ours.back());
            if (rule.transposed)
                std::swap(wanted[0], wanted[1]);
            if (found->second.sizes() != at::IntArrayRef(wanted) || !found->second.is_floating_point())
                return Error { ErrorCode::Corrupt,
                    sentence("tensor '%1' has another shape or type than config.json describes", { part.theirs }) };
            at::Tensor value = found->second.to(at::kFloat);
            theirs.erase(found); // so that two of each are never held
            if (rule.transposed)
                value = value.t();
            if (part.pairedHeads > 0)
                value = paired(value, part.pairedHeads, false);
            if (rule.lessOne)
                value = value - 1;
            pieces.push_back(rule.interleaved ? reordered(value, whole.heads, 3) : value);
        }
        result.emplace_back(rule.ours, at::cat(pieces, 0).contiguous().view(ours));
    }
    for (const auto& [name, tensor] : theirs) {
        if (!isIgnorable(name, whole, layout.family->names))
            return Error { ErrorCode::Corrupt, sentence("tensor '%1' is unknown in this layout", { name }) };
    }
    return result;
}

} // namespace furrow
