#include "core/data/tokenizer/piece_encoder.h"

namespace furrow {

void PieceEncoder::missed(const char* p, std::size_t size, const WordCache::Key& key)
{
    flush();
    const auto begin = out_.size();
    keep(model_.encodePiece({ p, size }, out_));
    const auto count = out_.size() - begin;
    if (count > 0 && count <= WordCache::kMaxBytes)
        cache_.insert(key, out_.data() + begin, count);
}

} // namespace furrow
