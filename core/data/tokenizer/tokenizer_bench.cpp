#include "core/data/tokenizer/tokenizer_bench.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

namespace furrow {

namespace {

std::vector<std::string_view> cut(std::string_view text, std::size_t pieceBytes)
{
    std::vector<std::string_view> pieces;
    while (!text.empty()) {
        auto size = std::min(text.size(), std::max<std::size_t>(pieceBytes, 1));
        if (const auto line = text.find('\n', size - 1); line != std::string_view::npos && line < size + pieceBytes)
            size = line + 1;
        pieces.push_back(text.substr(0, size));
        text.remove_prefix(size);
    }
    return pieces;
}

} // namespace

Result<TokenizerBench> benchTokenizer(
    const Tokenizer& tokenizer, std::string_view text, int threads, std::size_t pieceBytes)
{
    const auto pieces = cut(text, pieceBytes);
    std::atomic<std::size_t> next = 0;
    std::atomic<std::uint64_t> tokens = 0;
    std::vector<Status> ended(static_cast<std::size_t>(std::max(threads, 1)));
    const auto work = [&](Status& status) {
        std::vector<TokenId> ids;
        std::uint64_t count = 0;
        for (auto i = next++; status.ok() && i < pieces.size(); i = next++) {
            ids.clear();
            status = tokenizer.encode(pieces[i], ids);
            count += ids.size();
        }
        tokens += count;
    };
    const auto start = std::chrono::steady_clock::now();
    {
        std::vector<std::jthread> running;
        for (auto& status : ended)
            running.emplace_back(work, std::ref(status));
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    for (const auto& status : ended)
        if (!status.ok())
            return status.error();
    return TokenizerBench { text.size(), tokens, took.count() };
}

} // namespace furrow
