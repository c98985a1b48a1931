// Runs a libFuzzer target without libFuzzer, for the ordinary test set: valid inputs of the target, mutated by a fixed
// generator. Finds less than a fuzzer that sees coverage; what it finds, it finds every time. `--seeds FOLDER` writes
// the valid inputs there instead, one file each, for a fuzzer to begin with.

#include "tests/fuzz/fuzz_seeds.h"

#include "core/base/random.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

constexpr int kInputs = 4000;
constexpr auto kLongest = std::chrono::seconds(8); ///< on a slow machine fewer inputs are tried

std::string mutated(std::string input, const std::vector<std::string>& seeds, furrow::Random& random)
{
    for (std::uint64_t n = 1 + random.below(6); n > 0; --n) {
        const std::size_t at = input.empty() ? 0 : random.below(input.size());
        const std::size_t size = std::min<std::size_t>(input.size() - at, 1 + random.below(16));
        switch (input.empty() ? 5 : random.below(7)) {
        case 0: input[at] = static_cast<char>(input[at] ^ (1 << random.below(8))); break;
        case 1: input[at] = static_cast<char>(random.next()); break;
        case 2: input.erase(at, size); break;
        case 3: input.insert(at, input, at, size); break;
        case 4: input.resize(at); break;
        case 5: input.insert(at, std::string(1 + random.below(8), static_cast<char>(random.next()))); break;
        default: {
            const auto& other = seeds[random.below(seeds.size())];
            const std::size_t from = other.empty() ? 0 : random.below(other.size());
            input.replace(at, size, other, from, 1 + random.below(64));
        }
        }
    }
    return input;
}

void run(const std::string& input)
{
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
}

} // namespace

int main(int argc, char** argv)
{
    const auto seeds = fuzzSeeds();
    if (argc == 3 && std::string_view(argv[1]) == "--seeds") {
        for (std::size_t i = 0; i < seeds.size(); ++i)
            std::ofstream(std::filesystem::path(argv[2]) / ("seed" + std::to_string(i)), std::ios::binary) << seeds[i];
        return 0;
    }
    for (const auto& seed : seeds)
        run(seed);
    furrow::Random random(20240607);
    const auto start = std::chrono::steady_clock::now();
    int tried = 0;
    while (tried < kInputs && std::chrono::steady_clock::now() - start < kLongest) {
        run(mutated(seeds[random.below(seeds.size())], seeds, random));
        ++tried;
    }
    std::printf("%d mutated inputs of %zu seeds\n", tried, seeds.size());
    return 0;
}
