#pragma once

#include "core/data/tokenizer/bytes_map.h"
#include "core/data/tokenizer/merge_table.h"
#include "core/data/tokenizer/word_cache.h"

#include <array>
#include <optional>

namespace furrow {

inline constexpr TokenId kNoToken = UINT32_MAX;

/// Vocabulary and merges of one byte-pair model, without anything that happens before or after it.
/// Read-only use is thread-safe.
struct BpeModel {
    /// The bytes of each id; ids may have holes (nothing there).
    struct Token {
        std::uint64_t offset = 0;
        std::uint32_t size = 0;
        bool known = false;
    };
    std::string arena;
    std::vector<Token> tokens;
    BytesMap ids; ///< bytes of a token to its id, for tokens that text can become
    MergeTable merges;
    bool byteLevel = true; ///< symbols are bytes; otherwise code points
    bool wholeFirst = false; ///< a piece that is in the vocabulary is not merged (ignore_merges; tiktoken)
    bool fuseUnknown = false;
    std::optional<TokenId> unknown;
    std::array<TokenId, 256> byteIds; ///< byte-level: its symbol; otherwise the fallback <0xXX>; kNoToken: none

    BpeModel() { byteIds.fill(kNoToken); }

    Status add(TokenId id, std::string_view bytes, bool matchable);
    std::string_view bytesOf(TokenId id) const
    {
        return id < tokens.size() ? std::string_view(arena).substr(tokens[id].offset, tokens[id].size) : "";
    }
    /// Appends the ids of one piece, without any cache.
    void encodePiece(std::string_view piece, std::vector<TokenId>& out) const;

private:
    void codePointSymbols(std::string_view piece, std::vector<TokenId>& symbols) const;
};

/// Ids are indices of tables: a larger one is refused.
inline constexpr TokenId kMaxTokenId = (1u << 24) - 1;

/// Feeds pieces to a model and gathers ids, remembering short pieces in a cache. Lives for one call of encode.
class PieceEncoder {
public:
    PieceEncoder(const BpeModel& model, WordCache& cache, std::vector<TokenId>& out)
        : model_(model)
        , cache_(cache)
        , out_(out)
    {
    }
    ~PieceEncoder() { flush(); }
    PieceEncoder(const PieceEncoder&) = delete;
    PieceEncoder& operator=(const PieceEncoder&) = delete;

    /// @param readableEnd  end of the memory that may be read behind the piece
    void piece(const char* p, std::size_t size, const char* readableEnd)
    {
        if (size <= WordCache::kMaxBytes) [[likely]] {
            if (used_ + WordCache::kMaxBytes > kBuffer)
                flush();
            const auto key = WordCache::keyOf(p, size, readableEnd - p >= 16);
            const auto found = cache_.find(key, buffer_ + used_);
            if (found != 0) [[likely]] {
                used_ += found;
                return;
            }
            missed(p, size, key);
            return;
        }
        flush();
        model_.encodePiece({ p, size }, out_);
    }

    void id(TokenId id)
    {
        flush();
        out_.push_back(id);
    }
    void flush()
    {
        out_.insert(out_.end(), buffer_, buffer_ + used_);
        used_ = 0;
    }

private:
    static constexpr std::size_t kBuffer = 1024;

    void missed(const char* p, std::size_t size, const WordCache::Key& key);

    const BpeModel& model_;
    WordCache& cache_;
    std::vector<TokenId>& out_;
    std::size_t used_ = 0;
    TokenId buffer_[kBuffer];
};

} // namespace furrow
