#include "core/data/tokenizer/tokenizer.h"
#include "core/data/tokenizer/tokenizer_bench.h"

#include "core/base/file_system.h"

#include <cstdio>
#include <cstring>
#include <iostream>

// The other side of tokenizer_compare.py.
//   tokenizer_ids TOKENIZER [special]   reads samples from stdin, each a 4-byte little-endian length and its bytes;
//                                       writes for each: count and ids (4 bytes each), length and bytes decoded from
//                                       them
//   tokenizer_ids TOKENIZER bench FILE  prints MB/s of first passes on one and two threads

using namespace furrow;

namespace {

bool readExactly(void* into, std::size_t size) { return std::fread(into, 1, size, stdin) == size; }

void write(const void* from, std::size_t size) { std::fwrite(from, 1, size, stdout); }

void writeCounted(const void* from, std::size_t count, std::size_t size)
{
    const auto length = static_cast<std::uint32_t>(count);
    write(&length, sizeof length);
    write(from, count * size);
}

int answer(const Tokenizer& tokenizer, bool special)
{
    std::string text;
    std::vector<TokenId> ids;
    for (std::uint32_t size = 0; readExactly(&size, sizeof size);) {
        text.resize(size);
        if (!readExactly(text.data(), size))
            return 1;
        ids.clear();
        if (!(special ? tokenizer.encodeMatchingSpecial(text, ids) : tokenizer.encode(text, ids)).ok())
            return 1;
        const auto back = tokenizer.decode(ids);
        writeCounted(ids.data(), ids.size(), sizeof(TokenId));
        writeCounted(back.data(), back.size(), 1);
        std::fflush(stdout);
    }
    return 0;
}

int bench(const Tokenizer& tokenizer, const char* path)
{
    const auto text = readFile(path);
    if (!text.ok()) {
        std::cerr << text.error().message << '\n';
        return 1;
    }
    for (int round = 0; round < 5; ++round) {
        for (const int threads : { 1, 2 }) {
            const auto result = benchTokenizer(tokenizer, text.value(), threads);
            if (!result.ok()) {
                std::cerr << result.error().message << '\n';
                return 1;
            }
            const auto& found = result.value();
            std::printf("%d thread(s): %.1f MB/s, %.3f s, %llu tokens\n", threads, found.megabytesPerSecond(),
                found.seconds, static_cast<unsigned long long>(found.tokens));
        }
    }
    return 0;
}

} // namespace

int main(int argc, char** argv)
{
    if (argc < 2)
        return 2;
    const auto tokenizer = loadTokenizer(argv[1]);
    if (!tokenizer.ok()) {
        std::cerr << tokenizer.error().message << '\n';
        return 1;
    }
    if (argc == 4 && std::strcmp(argv[2], "bench") == 0)
        return bench(*tokenizer.value(), argv[3]);
    return answer(*tokenizer.value(), argc == 3 && std::strcmp(argv[2], "special") == 0);
}
