#include "core/base/random.h"

#include "core/base/check.h"
#include "core/base/host.h"

#include <bit>
#include <numeric>
#include <utility>

namespace furrow {
namespace {

/// splitmix64 (Steele, Lea, Flood 2014): one step of the state, then the output mix.
std::uint64_t splitMix(std::uint64_t& state)
{
    std::uint64_t z = (state += 0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
}

} // namespace

std::uint64_t mixSeed(std::initializer_list<std::uint64_t> parts)
{
    std::uint64_t seed = parts.size();
    for (const std::uint64_t part : parts) {
        std::uint64_t state = seed ^ part;
        seed = splitMix(state) + std::rotl(seed, 23);
    }
    return splitMix(seed);
}

Random::Random(std::uint64_t seed)
{
    for (std::uint64_t& word : state_)
        word = splitMix(seed);
}

std::uint64_t Random::next() // xoshiro256** (Blackman, Vigna 2018)
{
    const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const std::uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return result;
}

std::uint64_t Random::below(std::uint64_t bound)
{
    FURROW_CHECK(bound > 0, "Random::below needs a bound above zero");
    const std::uint64_t rejected = (0 - bound) % bound; // 2^64 mod bound values would be drawn too often
    for (;;) {
        const std::uint64_t value = next();
        if (value >= rejected)
            return value % bound;
    }
}

double Random::uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

std::vector<std::uint32_t> permutation(std::uint32_t count, std::uint64_t seed)
{
    std::vector<std::uint32_t> order(count);
    std::iota(order.begin(), order.end(), 0U);
    Random random(seed);
    for (std::uint32_t left = count; left > 1; --left)
        std::swap(order[left - 1], order[random.below(left)]);
    return order;
}

std::uint64_t permuted(std::uint64_t index, std::uint64_t count, std::uint64_t seed)
{
    FURROW_CHECK(index < count, "permuted needs an index below its count");
    const int half = std::max(1, (static_cast<int>(std::bit_width(count - 1)) + 1) / 2);
    const std::uint64_t mask = (std::uint64_t { 1 } << half) - 1;
    do {
        std::uint64_t left = index >> half;
        std::uint64_t right = index & mask;
        for (std::uint64_t round = 0; round < 6; ++round) {
            const std::uint64_t next = left ^ (mixSeed({ seed, round, right }) & mask);
            left = right;
            right = next;
        }
        index = left << half | right;
    } while (index >= count);
    return index;
}

std::string randomHex(int digits)
{
    constexpr char kDigits[] = "0123456789abcdef";
    std::string text(static_cast<std::size_t>(digits), '0');
    host::randomBytes(text.data(), text.size());
    for (char& digit : text)
        digit = kDigits[static_cast<unsigned char>(digit) & 15];
    return text;
}

} // namespace furrow
