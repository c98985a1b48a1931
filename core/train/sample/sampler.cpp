#include "core/base/random.h"
#include "core/base/sentence.h"
#include "core/train/sample/sampler_torch.h"

#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace furrow {

namespace {

/// Draws from softmax(logits / temperature), restricted by top-k and top-p, in float64 on the host.
class TokenDrawer {
public:
    explicit TokenDrawer(const SampleOptions& options)
        : options_(options)
        , random_(options.seed)
    {
    }

    DrawnToken draw(const at::Tensor& logits_V)
    {
        const at::Tensor host = logits_V.to(at::kFloat).cpu().contiguous(); // sync: the next token depends on this one
        const std::span<const float> logits(host.const_data_ptr<float>(), static_cast<std::size_t>(host.numel()));
        DrawnToken drawn { .token = choose(logits) };
        if (options_.likeliest > 0)
            addChances(drawn, logits);
        return drawn;
    }

private:
    std::int64_t choose(std::span<const float> logits)
    {
        const auto likeliest = std::max_element(logits.begin(), logits.end());
        if (options_.temperature <= 0)
            return likeliest - logits.begin();
        rank(logits);
        std::vector<double> weights(order_.size());
        double total = 0;
        for (std::size_t i = 0; i < order_.size(); ++i) {
            weights[i] = std::exp(
                (static_cast<double>(logits[order_[i]]) - static_cast<double>(*likeliest)) / options_.temperature);
            total += weights[i];
        }
        const std::size_t kept = keptByMass(weights, total);
        const double keptMass
            = std::accumulate(weights.begin(), weights.begin() + static_cast<std::ptrdiff_t>(kept), 0.0);
        double target = random_.uniform() * keptMass;
        for (std::size_t i = 0; i + 1 < kept; ++i) {
            target -= weights[i];
            if (target < 0)
                return static_cast<std::int64_t>(order_[i]);
        }
        return static_cast<std::int64_t>(order_[kept - 1]);
    }

    void addChances(DrawnToken& drawn, std::span<const float> logits) const
    {
        const double largest = *std::max_element(logits.begin(), logits.end());
        double total = 0;
        for (const float logit : logits)
            total += std::exp(static_cast<double>(logit) - largest);
        const auto probability
            = [&](std::size_t token) { return std::exp(static_cast<double>(logits[token]) - largest) / total; };
        std::vector<std::size_t> order(logits.size());
        std::iota(order.begin(), order.end(), std::size_t { 0 });
        const std::size_t told = std::min(order.size(), static_cast<std::size_t>(options_.likeliest));
        std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(told), order.end(),
            [&](std::size_t a, std::size_t b) { return logits[a] > logits[b] || (logits[a] == logits[b] && a < b); });
        drawn.probability = probability(static_cast<std::size_t>(drawn.token));
        for (std::size_t i = 0; i < told; ++i)
            drawn.likeliest.push_back({ static_cast<std::int64_t>(order[i]), probability(order[i]) });
    }

    void rank(std::span<const float> logits)
    {
        order_.resize(logits.size());
        std::iota(order_.begin(), order_.end(), std::size_t { 0 });
        const auto likelier
            = [&](std::size_t a, std::size_t b) { return logits[a] > logits[b] || (logits[a] == logits[b] && a < b); };
        const std::size_t keep = options_.topK > 0
            ? std::min<std::size_t>(order_.size(), static_cast<std::size_t>(options_.topK))
            : order_.size();
        if (keep < order_.size())
            std::partial_sort(
                order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(keep), order_.end(), likelier);
        else if (options_.topP < 1)
            std::sort(order_.begin(), order_.end(), likelier);
        order_.resize(keep);
    }

    std::size_t keptByMass(const std::vector<double>& weights, double total) const
    {
        if (options_.topP >= 1)
            return weights.size();
        double mass = 0;
        for (std::size_t i = 0; i < weights.size(); ++i) {
            mass += weights[i];
            if (mass >= options_.topP * total)
                return i + 1;
        }
        return weights.size();
    }

    SampleOptions options_;
    Random random_;
    std::vector<std::size_t> order_; // tokens that may be drawn
};

Status checkPrompt(const Model& model, std::span<const std::int64_t> prompt, const SampleOptions& options)
{
    if (prompt.empty())
        return Error { ErrorCode::InvalidArgument, sentence("the prompt holds no token; give at least one character") };
    if (!(options.temperature >= 0) || options.topK < 0 || !(options.topP > 0 && options.topP <= 1)
        || options.maxTokens < 0)
        return Error { ErrorCode::InvalidArgument,
            sentence("sampling needs temperature >= 0, top-k >= 0, top-p in (0, 1] and tokens >= 0") };
    for (const std::int64_t token : prompt) {
        if (token < 0 || token >= model.config().vocabularySize)
            return Error { ErrorCode::InvalidArgument,
                sentence("the prompt holds token %1, outside the model's vocabulary of %2",
                    { std::to_string(token), std::to_string(model.config().vocabularySize) }) };
    }
    return {};
}

at::Tensor asBatch(const Model& model, std::span<const std::int64_t> tokens)
{
    const at::Tensor host = at::tensor(at::ArrayRef<std::int64_t>(tokens.data(), tokens.size()), at::kLong);
    return host.unsqueeze(0).to(model.options().device);
}

} // namespace

Result<std::vector<std::int64_t>> sampleText(Model& model, std::span<const std::int64_t> prompt,
    const SampleOptions& options, const std::function<bool(const DrawnToken&)>& onToken)
{
    FURROW_TRY(checkPrompt(model, prompt, options));
    try {
        const std::int64_t context = model.config().contextLength;
        TokenDrawer drawer(options);
        std::vector<std::int64_t> text(prompt.begin(), prompt.end());
        std::vector<std::int64_t> drawn;
        std::unique_ptr<KeyValueCache> cache;
        while (static_cast<std::int64_t>(drawn.size()) < options.maxTokens) {
            std::int64_t fresh = 1;
            if (!cache || cache->length() == cache->capacity()) {
                const std::int64_t newest
                    = cache ? std::max<std::int64_t>(1, context / 2) : std::max<std::int64_t>(1, context - 1);
                fresh = std::min<std::int64_t>(static_cast<std::int64_t>(text.size()), newest);
                const std::int64_t missing = options.maxTokens - static_cast<std::int64_t>(drawn.size());
                cache = model.newCache(1, std::min(context, fresh + missing));
            }
            const auto recent = std::span(text).last(static_cast<std::size_t>(fresh));
            const DrawnToken next = drawer.draw(model.nextLogits(asBatch(model, recent), *cache)[0]);
            if (std::find(options.stopTokens.begin(), options.stopTokens.end(), next.token) != options.stopTokens.end())
                break;
            text.push_back(next.token);
            drawn.push_back(next.token);
            if (onToken && !onToken(next))
                break;
        }
        return drawn;
    } catch (const std::exception& error) {
        return Error { ErrorCode::Internal, sentence("sampling: %1", { error.what() }) };
    }
}

} // namespace furrow
