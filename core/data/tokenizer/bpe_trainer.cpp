#include "core/data/tokenizer/bpe_trainer.h"

#include "core/base/sentence.h"
#include "core/data/tokenizer/byte_alphabet.h"
#include "core/data/tokenizer/splitters.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <queue>
#include <unordered_map>

// Counts words, then again and again joins the most frequent pair (of equals the one with the smaller ids). Counts of
// pairs are kept up to date only for the words that hold the joined pair; the queue may hold old counts, which are put
// back with the true one when they come up.

namespace furrow {

namespace {

constexpr std::size_t kMaxWordBytes = 256;
constexpr std::size_t kMaxDistinctWords = 4'000'000;
constexpr const char* kEndOfText = "<|endoftext|>";

using Pair = std::uint64_t;
Pair pairOf(std::uint32_t left, std::uint32_t right) { return Pair { left } << 32 | right; }

struct Word {
    std::vector<std::uint32_t> symbols;
    std::int64_t count = 0;
};

class Trainer {
public:
    Trainer(std::unordered_map<std::string, std::uint64_t> counts)
    {
        makeBytes();
        for (auto& [bytes, count] : counts) {
            Word word { {}, static_cast<std::int64_t>(count) };
            for (const char byte : bytes)
                word.symbols.push_back(idOfByte_[static_cast<unsigned char>(byte)]);
            words_.push_back(std::move(word));
        }
        for (std::uint32_t w = 0; w < words_.size(); ++w) {
            const auto& symbols = words_[w].symbols;
            for (std::size_t i = 0; i + 1 < symbols.size(); ++i)
                count(pairOf(symbols[i], symbols[i + 1]), words_[w].count, w);
        }
        for (const auto& [pair, place] : pairs_)
            queue_.push({ place.count, pair });
    }

    /// Joins one more pair. @return false when no pair is frequent enough
    bool step(std::int64_t minCount)
    {
        while (!queue_.empty()) {
            const auto top = queue_.top();
            queue_.pop();
            const auto at = pairs_.find(top.pair);
            if (at == pairs_.end() || at->second.count < minCount)
                continue;
            if (at->second.count != top.count) {
                queue_.push({ at->second.count, top.pair });
                continue;
            }
            const auto holders = std::move(at->second.words);
            pairs_.erase(at);
            join(top.pair, holders);
            return true;
        }
        return false;
    }

    const std::vector<std::string>& tokens() const { return tokens_; }
    const std::vector<Pair>& merges() const { return merges_; }

private:
    struct Place {
        std::int64_t count = 0;
        std::vector<std::uint32_t> words; // may name a word twice, or one that no longer holds the pair
    };
    struct Candidate {
        std::int64_t count;
        Pair pair;
        bool operator<(const Candidate& other) const
        {
            return count != other.count ? count < other.count : pair > other.pair;
        }
    };

    void makeBytes()
    {
        for (const bool itself : { true, false }) {
            for (unsigned b = 0; b < 256; ++b) {
                if ((byteToAlphabet(static_cast<unsigned char>(b)) == b) != itself)
                    continue;
                idOfByte_[b] = static_cast<std::uint32_t>(tokens_.size());
                tokens_.emplace_back(1, static_cast<char>(b));
            }
        }
    }

    void count(Pair pair, std::int64_t by, std::uint32_t word)
    {
        auto& place = pairs_[pair];
        place.count += by;
        if (by > 0 && (place.words.empty() || place.words.back() != word))
            place.words.push_back(word);
    }

    void join(Pair pair, const std::vector<std::uint32_t>& holders)
    {
        const auto left = static_cast<std::uint32_t>(pair >> 32);
        const auto right = static_cast<std::uint32_t>(pair);
        const auto made = static_cast<std::uint32_t>(tokens_.size());
        tokens_.push_back(tokens_[left] + tokens_[right]);
        merges_.push_back(pair);
        std::vector<Pair> changed;
        for (const auto w : holders)
            joinIn(w, left, right, made, changed);
        std::sort(changed.begin(), changed.end());
        changed.erase(std::unique(changed.begin(), changed.end()), changed.end());
        for (const auto grown : changed) {
            if (const auto at = pairs_.find(grown); at != pairs_.end() && at->second.count > 0)
                queue_.push({ at->second.count, grown });
        }
    }

    void joinIn(
        std::uint32_t w, std::uint32_t left, std::uint32_t right, std::uint32_t made, std::vector<Pair>& changed)
    {
        auto& symbols = words_[w].symbols;
        const auto by = words_[w].count;
        std::size_t kept = 0;
        for (std::size_t i = 0; i < symbols.size(); ++i) {
            if (symbols[i] != left || i + 1 == symbols.size() || symbols[i + 1] != right) {
                symbols[kept++] = symbols[i];
                continue;
            }
            if (kept > 0) {
                const auto before = symbols[kept - 1];
                count(pairOf(before, left), -by, w);
                count(pairOf(before, made), by, w);
                changed.push_back(pairOf(before, made));
            }
            if (i + 2 < symbols.size()) {
                count(pairOf(right, symbols[i + 2]), -by, w);
                count(pairOf(made, symbols[i + 2]), by, w);
                changed.push_back(pairOf(made, symbols[i + 2]));
            }
            symbols[kept++] = made;
            ++i;
        }
        symbols.resize(kept);
    }

    std::array<std::uint32_t, 256> idOfByte_ {};
    std::vector<std::string> tokens_;
    std::vector<Pair> merges_;
    std::vector<Word> words_;
    std::unordered_map<Pair, Place> pairs_;
    std::priority_queue<Candidate> queue_;
};

std::string asTokenizerJson(const std::vector<std::string>& tokens, const std::vector<Pair>& merges)
{
    using nlohmann::ordered_json;
    const auto endOfText = tokens.size();
    std::string vocabulary = "{";
    for (std::size_t id = 0; id < tokens.size(); ++id)
        vocabulary += ordered_json(alphabetOfBytes(tokens[id])).dump() + ":" + std::to_string(id) + ",";
    vocabulary += ordered_json(kEndOfText).dump() + ":" + std::to_string(endOfText) + "}";
    auto list = ordered_json::array();
    for (const auto merge : merges)
        list.push_back(alphabetOfBytes(tokens[merge >> 32]) + " " + alphabetOfBytes(tokens[merge & UINT32_MAX]));
    const ordered_json byteLevel { { "type", "ByteLevel" }, { "add_prefix_space", false }, { "trim_offsets", true },
        { "use_regex", true } };
    const ordered_json special { { "id", endOfText }, { "content", kEndOfText }, { "single_word", false },
        { "lstrip", false }, { "rstrip", false }, { "normalized", false }, { "special", true } };
    const ordered_json head { { "version", "1.0" }, { "truncation", nullptr }, { "padding", nullptr },
        { "added_tokens", ordered_json::array({ special }) }, { "normalizer", nullptr }, { "pre_tokenizer", byteLevel },
        { "post_processor", nullptr }, { "decoder", byteLevel } };
    auto text = head.dump();
    text.pop_back();
    return text + R"(,"model":{"type":"BPE","dropout":null,"unk_token":null,"continuing_subword_prefix":null,)"
        + R"("end_of_word_suffix":null,"fuse_unk":false,"byte_fallback":false,"ignore_merges":false,"vocab":)"
        + vocabulary + ",\"merges\":" + list.dump() + "}}\n";
}

} // namespace

class BpeTrainer::WordCounter {
public:
    void add(std::string_view text)
    {
        const Gpt2Split split;
        const char* end = text.data() + text.size();
        for (const char* p = text.data(); p < end;) {
            const char* next = std::min(split.next(p, end), p + kMaxWordBytes);
            ++counts_[std::string(p, next)];
            p = next;
            if (counts_.size() > kMaxDistinctWords)
                prune();
        }
    }
    std::unordered_map<std::string, std::uint64_t> take() { return std::move(counts_); }

private:
    /// Forgets the rarest until half is left.
    void prune()
    {
        for (std::uint64_t least = 1; counts_.size() > kMaxDistinctWords / 2; ++least)
            std::erase_if(counts_, [least](const auto& word) { return word.second <= least; });
    }
    std::unordered_map<std::string, std::uint64_t> counts_;
};

BpeTrainer::BpeTrainer()
    : words_(std::make_unique<WordCounter>())
{
}
BpeTrainer::~BpeTrainer() = default;

void BpeTrainer::add(std::string_view text) { words_->add(text); }

Result<std::string> BpeTrainer::train(const BpeTrainingOptions& options, std::stop_token stop)
{
    if (options.vocabularySize < 258 || options.vocabularySize > 1'000'000)
        return Error { ErrorCode::InvalidArgument,
            sentence("The vocabulary size %1 is outside 258 to 1,000,000.", { Count(options.vocabularySize) }) };
    Trainer trainer(words_->take());
    while (trainer.tokens().size() + 1 < options.vocabularySize) {
        if (stop.stop_requested())
            return Error { ErrorCode::Cancelled, sentence("Training of the tokenizer was stopped.") };
        if (!trainer.step(static_cast<std::int64_t>(std::max<std::uint64_t>(options.minCount, 1))))
            break;
    }
    return asTokenizerJson(trainer.tokens(), trainer.merges());
}

} // namespace furrow
