#pragma once

#include "core/data/tokenizer/piece_model.h"
#include "core/data/tokenizer/word_cache.h"

namespace furrow {

/// Feeds pieces to a model and gathers ids, remembering short pieces in a cache. Lives for one call of encode.
class PieceEncoder {
public:
    /// @param dropped  null, or where the characters are counted that become nothing
    PieceEncoder(const PieceModel& model, WordCache& cache, std::vector<TokenId>& out, std::int64_t* dropped = nullptr)
        : model_(model)
        , cache_(cache)
        , out_(out)
        , dropped_(dropped)
    {
    }
    ~PieceEncoder() { flush(); }
    PieceEncoder(const PieceEncoder&) = delete;
    PieceEncoder& operator=(const PieceEncoder&) = delete;

    /// @param readableEnd  end of the memory that may be read behind the piece
    void piece(const char* p, std::size_t size, const char* readableEnd)
    {
        if (dropped_ != nullptr) [[unlikely]]
            *dropped_ += model_.dropped({ p, size });
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
        keep(model_.encodePiece({ p, size }, out_));
    }

    /// Why some piece has no ids; what was gathered is of no use then.
    const Status& status() const { return status_; }

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
    void keep(Status status)
    {
        if (!status.ok())
            status_ = std::move(status);
    }

    const PieceModel& model_;
    WordCache& cache_;
    std::vector<TokenId>& out_;
    std::int64_t* dropped_;
    Status status_;
    std::size_t used_ = 0;
    TokenId buffer_[kBuffer];
};

} // namespace furrow
