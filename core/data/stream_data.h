#pragma once

#include "core/base/random.h"
#include "core/base/result.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace furrow {

class Tokenizer;

/// Data mode `stream`, for comparisons with nanoGPT: one file as one token stream, its last tenth held out, random
/// windows. No block, no ledger. Const methods are thread-safe.
class StreamData {
public:
    /// The file is read whole, at most 1 GiB.
    static Result<StreamData> open(
        const std::filesystem::path& file, const Tokenizer& tokenizer, double heldOutShare = 0.1);

    std::int64_t trainTokens() const { return split_; }
    std::int64_t heldOutTokens() const { return static_cast<std::int64_t>(tokens_.size()) - split_; }
    /// `n` windows at random places of the training part, n x seqLen, labels shifted by one.
    /// @return InvalidArgument when the part is not longer than seqLen
    Status fillTrain(Random& random, int n, std::int64_t seqLen, std::int64_t* inputs, std::int64_t* labels) const;
    /// The same from the held-out part.
    Status fillHeldOut(Random& random, int n, std::int64_t seqLen, std::int64_t* inputs, std::int64_t* labels) const;

private:
    Status fill(std::int64_t begin, std::int64_t end, Random& random, int n, std::int64_t seqLen, std::int64_t* inputs,
        std::int64_t* labels) const;

    std::vector<std::uint32_t> tokens_;
    std::int64_t split_ = 0;
    std::string name_;
};

} // namespace furrow
