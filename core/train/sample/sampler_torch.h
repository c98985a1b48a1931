#pragma once

#include "core/base/result.h"
#include "core/train/model/model_torch.h"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace furrow {

struct SampleOptions {
    std::int64_t maxTokens = 200;
    double temperature = 0.8; ///< 0: always the likeliest token
    std::int64_t topK = 0; ///< 0: all
    double topP = 1.0; ///< smallest set of tokens with at least this probability
    std::uint64_t seed = 1337;
    std::vector<std::int64_t> stopTokens {}; ///< each ends the text and is not returned
    int likeliest = 0; ///< how many of the likeliest tokens are told with each one that is drawn
};

struct DrawnToken {
    struct Chance {
        std::int64_t token = 0;
        double probability = 0;
    };
    std::int64_t token = 0;
    // Of the model alone, whatever temperature, top-k and top-p make of it; only with SampleOptions::likeliest.
    double probability = 0;
    std::vector<Chance> likeliest {}; ///< likeliest first
};

/// Continues a prompt with the model's key-value cache. Same seed, same model, same text. When the context is full, it
/// goes on from the newer half.
/// @param prompt   at least one token; only the newest contextLength - 1 are used
/// @param onToken  called with each new token as soon as it is drawn; false ends the text
/// @return the new tokens
Result<std::vector<std::int64_t>> sampleText(Model& model, std::span<const std::int64_t> prompt,
    const SampleOptions& options, const std::function<bool(const DrawnToken&)>& onToken = {});

} // namespace furrow
