#include "core/model/gguf/gguf_blocks.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace furrow {

namespace {

constexpr std::size_t kBlock = 32;
constexpr std::size_t kHalfBlock = kBlock / 2;

float fromHalf(std::uint16_t half)
{
    const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000) << 16;
    const std::uint32_t exponent = (half >> 10) & 0x1F;
    const std::uint32_t fraction = half & 0x3FF;
    if (exponent == 0) { // zero or subnormal: a whole number of 2^-24
        const float value = static_cast<float>(fraction) * 0x1p-24f;
        return sign != 0 ? -value : value;
    }
    const std::uint32_t wide = exponent == 31 ? 0xFF : exponent + (127 - 15);
    return std::bit_cast<float>(sign | wide << 23 | fraction << 13);
}

/// Rounds to the nearest, halves to even.
std::uint16_t toHalf(float value)
{
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000);
    const float size = std::fabs(value);
    if (std::isnan(value))
        return static_cast<std::uint16_t>(sign | 0x7E00);
    if (size >= 65520.0f) // the half above the largest number
        return static_cast<std::uint16_t>(sign | 0x7C00);
    if (size < 0x1p-14f) // subnormal: adding 0.5 leaves the last bit at 2^-24
        return static_cast<std::uint16_t>(
            sign | (std::bit_cast<std::uint32_t>(size + 0.5f) - std::bit_cast<std::uint32_t>(0.5f)));
    const std::uint32_t rounded = (bits & 0x7FFFFFFF) + 0xFFF + (bits >> 13 & 1);
    return static_cast<std::uint16_t>(sign | ((rounded >> 13) - ((127 - 15) << 10)));
}

float fromBfloat(std::uint16_t value) { return std::bit_cast<float>(static_cast<std::uint32_t>(value) << 16); }

std::uint16_t toBfloat(float value)
{
    const auto bits = std::bit_cast<std::uint32_t>(value);
    if (std::isnan(value))
        return static_cast<std::uint16_t>(bits >> 16 | 0x40);
    return static_cast<std::uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

template <typename T> T read(const std::byte* from)
{
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

template <typename T> void write(std::byte* to, T value) { std::memcpy(to, &value, sizeof value); }

float readHalf(const std::byte* from) { return fromHalf(read<std::uint16_t>(from)); }

unsigned low(std::byte byte) { return std::to_integer<unsigned>(byte) & 0xF; }
unsigned high(std::byte byte) { return std::to_integer<unsigned>(byte) >> 4; }

void readQ8_0(const std::byte* from, float* to)
{
    const float scale = readHalf(from);
    for (std::size_t i = 0; i < kBlock; ++i)
        to[i] = scale * static_cast<float>(read<std::int8_t>(from + 2 + i));
}

void readQ4_0(const std::byte* from, float* to)
{
    const float scale = readHalf(from);
    for (std::size_t i = 0; i < kHalfBlock; ++i) {
        to[i] = scale * static_cast<float>(static_cast<int>(low(from[2 + i])) - 8);
        to[i + kHalfBlock] = scale * static_cast<float>(static_cast<int>(high(from[2 + i])) - 8);
    }
}

void readQ4_1(const std::byte* from, float* to)
{
    const float scale = readHalf(from);
    const float least = readHalf(from + 2);
    for (std::size_t i = 0; i < kHalfBlock; ++i) {
        const float first = scale * static_cast<float>(low(from[4 + i]));
        const float second = scale * static_cast<float>(high(from[4 + i]));
        to[i] = first + least;
        to[i + kHalfBlock] = second + least;
    }
}

/// 256 numbers of six bits: four low bits of each, then two high ones, then the scales of sixteen groups, then theirs.
void readQ6K(const std::byte* from, float* to)
{
    const std::byte* lows = from;
    const std::byte* highs = from + 128;
    const std::byte* scales = from + 192;
    const float scale = readHalf(from + 208);
    for (int half = 0; half < 2; ++half, lows += 64, highs += 32, scales += 8, to += 128) {
        for (std::size_t i = 0; i < 32; ++i) {
            const auto rest = std::to_integer<unsigned>(highs[i]);
            const unsigned numbers[] = { low(lows[i]) | (rest & 3) << 4, low(lows[i + 32]) | (rest >> 2 & 3) << 4,
                high(lows[i]) | (rest >> 4 & 3) << 4, high(lows[i + 32]) | (rest >> 6) << 4 };
            for (std::size_t j = 0; j < 4; ++j) {
                const float ofGroup = scale * static_cast<float>(read<std::int8_t>(scales + i / 16 + 2 * j));
                to[i + 32 * j] = ofGroup * static_cast<float>(static_cast<int>(numbers[j]) - 32);
            }
        }
    }
}

float inverse(float scale) { return scale != 0 ? 1 / scale : 0; }

/// At most 15 and at least 0; what is not a number is 0.
unsigned nibble(float value) { return value > 0 ? static_cast<unsigned>(std::min(value, 15.0f)) : 0; }

bool writeQ8_0(const float* from, std::byte* to)
{
    float largest = 0;
    for (std::size_t i = 0; i < kBlock; ++i)
        largest = std::max(largest, std::fabs(from[i]));
    const float scale = largest / 127;
    const float by = inverse(scale);
    write(to, toHalf(scale));
    for (std::size_t i = 0; i < kBlock; ++i) {
        const float value = std::round(from[i] * by); // halves away from zero
        write(to + 2 + i, static_cast<std::int8_t>(value > -127 ? std::min(value, 127.0f) : -127.0f));
    }
    return std::isfinite(readHalf(to)) && std::isfinite(by);
}

void pack(std::byte* to, const unsigned (&numbers)[kBlock])
{
    for (std::size_t i = 0; i < kHalfBlock; ++i)
        to[i] = static_cast<std::byte>(numbers[i] | numbers[i + kHalfBlock] << 4);
}

bool writeQ4_0(const float* from, std::byte* to)
{
    const float furthest = *std::max_element(
        from, from + kBlock, [](float a, float b) { return std::fabs(a) < std::fabs(b); }); // the first of equals
    const float scale = furthest / -8;
    const float by = inverse(scale);
    unsigned numbers[kBlock];
    for (std::size_t i = 0; i < kBlock; ++i)
        numbers[i] = nibble(from[i] * by + 8.5f);
    write(to, toHalf(scale));
    pack(to + 2, numbers);
    return std::isfinite(readHalf(to)) && std::isfinite(by);
}

bool writeQ4_1(const float* from, std::byte* to)
{
    const auto [least, most] = std::minmax_element(from, from + kBlock);
    const float scale = (*most - *least) / 15;
    const float by = inverse(scale);
    unsigned numbers[kBlock];
    for (std::size_t i = 0; i < kBlock; ++i) {
        numbers[i] = nibble((from[i] - *least) * by + 0.5f);
    }
    write(to, toHalf(scale));
    write(to + 2, toHalf(*least));
    pack(to + 4, numbers);
    return std::isfinite(readHalf(to)) && std::isfinite(readHalf(to + 2)) && std::isfinite(by);
}

bool writeWord(GgufType type, float number, std::byte* to)
{
    if (type == GgufType::F32) {
        write(to, number);
        return std::isfinite(number);
    }
    const bool isHalf = type == GgufType::F16;
    const std::uint16_t word = isHalf ? toHalf(number) : toBfloat(number);
    write(to, word);
    return std::isfinite(isHalf ? fromHalf(word) : fromBfloat(word));
}

} // namespace

void readBlocks(GgufType type, std::span<const std::byte> from, std::span<float> numbers)
{
    const GgufTypeRow& row = rowOf(type);
    const std::size_t blocks = numbers.size() / row.blockNumbers;
    const std::byte* block = from.data();
    float* to = numbers.data();
    for (std::size_t i = 0; i < blocks; ++i, block += row.blockBytes, to += row.blockNumbers) {
        switch (type) {
        case GgufType::F32: *to = read<float>(block); break;
        case GgufType::F16: *to = readHalf(block); break;
        case GgufType::Bf16: *to = fromBfloat(read<std::uint16_t>(block)); break;
        case GgufType::Q8_0: readQ8_0(block, to); break;
        case GgufType::Q4_0: readQ4_0(block, to); break;
        case GgufType::Q4_1: readQ4_1(block, to); break;
        case GgufType::Q6_K: readQ6K(block, to); break;
        }
    }
}

bool isWritable(GgufType type) { return type != GgufType::Q6_K; }

bool writeBlocks(GgufType type, std::span<const float> numbers, std::span<std::byte> to)
{
    const GgufTypeRow& row = rowOf(type);
    bool areFinite = true;
    std::byte* block = to.data();
    for (std::size_t i = 0; i < numbers.size(); i += row.blockNumbers, block += row.blockBytes) {
        const float* from = numbers.data() + i;
        switch (type) {
        case GgufType::Q8_0: areFinite &= writeQ8_0(from, block); break;
        case GgufType::Q4_0: areFinite &= writeQ4_0(from, block); break;
        case GgufType::Q4_1: areFinite &= writeQ4_1(from, block); break;
        default: areFinite &= writeWord(type, *from, block);
        }
    }
    return areFinite;
}

} // namespace furrow
