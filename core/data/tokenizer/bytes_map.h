#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace furrow {

/// Byte strings to 32-bit values: open addressing over one arena, read-only use is thread-safe.
class BytesMap {
public:
    static constexpr std::uint32_t kNone = UINT32_MAX;

    explicit BytesMap(std::size_t expected = 0);
    /// The value of `key`, or kNone.
    std::uint32_t find(std::string_view key) const;
    /// Keeps the first value of a key. @return false when the key was there
    bool insert(std::string_view key, std::uint32_t value);
    std::size_t size() const { return count_; }

private:
    struct Slot {
        std::uint64_t hash;
        std::uint64_t offset;
        std::uint32_t size;
        std::uint32_t value = kNone;
    };
    std::size_t slotOf(std::string_view key, std::uint64_t hash) const;
    void grow(std::size_t slots);

    std::string arena_;
    std::vector<Slot> slots_;
    std::size_t count_ = 0;
};

} // namespace furrow
