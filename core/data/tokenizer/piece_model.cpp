#include "core/data/tokenizer/piece_model.h"

#include "core/base/sentence.h"

namespace furrow {

Status PieceModel::add(TokenId id, std::string_view bytes, bool matchable)
{
    if (id > kMaxTokenId)
        return Error { ErrorCode::InvalidArgument,
            sentence("token id %1 is larger than %2", { std::to_string(id), std::to_string(kMaxTokenId) }) };
    if (id >= tokens.size())
        tokens.resize(id + 1);
    tokens[id] = { arena.size(), static_cast<std::uint32_t>(bytes.size()), true };
    arena.append(bytes);
    if (matchable)
        ids.insert(bytes, id);
    return {};
}

} // namespace furrow
