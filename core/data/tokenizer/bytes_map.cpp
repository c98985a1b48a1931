#include "core/data/tokenizer/bytes_map.h"

#include "core/base/hash.h"

#include <bit>

namespace furrow {

BytesMap::BytesMap(std::size_t expected) { grow(std::bit_ceil(expected * 2 + 16)); }

std::size_t BytesMap::slotOf(std::string_view key, std::uint64_t hash) const
{
    const auto mask = slots_.size() - 1;
    auto i = hash & mask;
    while (slots_[i].value != kNone) {
        const auto& slot = slots_[i];
        if (slot.hash == hash && std::string_view(arena_).substr(slot.offset, slot.size) == key)
            break;
        i = (i + 1) & mask;
    }
    return i;
}

std::uint32_t BytesMap::find(std::string_view key) const { return slots_[slotOf(key, xxh3(key))].value; }

bool BytesMap::insert(std::string_view key, std::uint32_t value)
{
    if ((count_ + 1) * 2 > slots_.size())
        grow(slots_.size() * 2);
    const auto hash = xxh3(key);
    auto& slot = slots_[slotOf(key, hash)];
    if (slot.value != kNone)
        return false;
    slot = { hash, arena_.size(), static_cast<std::uint32_t>(key.size()), value };
    arena_.append(key);
    ++count_;
    return true;
}

void BytesMap::grow(std::size_t slots)
{
    auto old = std::move(slots_);
    slots_.assign(slots, Slot {});
    for (const auto& slot : old) {
        if (slot.value != kNone)
            slots_[slotOf(std::string_view(arena_).substr(slot.offset, slot.size), slot.hash)] = slot;
    }
}

} // namespace furrow
