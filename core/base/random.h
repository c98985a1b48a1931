#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace furrow {

/// Mixes any number of integers into one 64-bit seed. Same input, same output, on every machine.
std::uint64_t mixSeed(std::initializer_list<std::uint64_t> parts);

/// xoshiro256**: the one generator of everything that must be reproducible outside tensors. Not thread-safe.
class Random {
public:
    explicit Random(std::uint64_t seed);
    std::uint64_t next();
    /// Uniform in [0, bound), without modulo bias. bound > 0.
    std::uint64_t below(std::uint64_t bound);
    /// Uniform in [0, 1).
    double uniform();

private:
    std::uint64_t state_[4];
};

/// A permutation of 0..count-1 (Fisher-Yates over Random).
std::vector<std::uint32_t> permutation(std::uint32_t count, std::uint64_t seed);

/// Where one index goes in a permutation of 0..count-1, without making the whole of it. index < count.
/// A Feistel network over the next power of four, walked until it falls inside (Black & Rogaway 2002, "cycle walking").
std::uint64_t permuted(std::uint64_t index, std::uint64_t count, std::uint64_t seed);

/// `digits` lower-case hex digits from the operating system's generator: ids that must not repeat.
std::string randomHex(int digits);

} // namespace furrow
