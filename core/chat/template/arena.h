#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace furrow::chat {

/// Memory of one template, or of one rendering: handed out piece by piece, given back all at once. Where `most` bytes
/// are passed it says so by full(), and whoever works in it stops; until then small pieces still come, so that nobody
/// meets a null pointer.
class Arena {
public:
    explicit Arena(std::size_t mostBytes)
        : left_(mostBytes)
    {
    }
    Arena(const Arena&) = delete;
    Arena& operator=(const Arena&) = delete;

    bool full() const { return full_; }

    /// @return `count` values; fewer (none) when they do not fit
    template <typename T> std::span<T> make(std::size_t count)
    {
        static_assert(std::is_trivially_destructible_v<T> && alignof(T) <= kAlignment);
        if (count == 0 || !fits(count, sizeof(T)))
            return {};
        auto* first = static_cast<T*>(take(count * sizeof(T)));
        std::uninitialized_value_construct_n(first, count);
        return { first, count };
    }
    template <typename T> T* one(T value)
    {
        static_assert(std::is_trivially_destructible_v<T> && sizeof(T) <= kSmall && alignof(T) <= kAlignment);
        (void)fits(1, sizeof(T));
        return new (take(sizeof(T))) T(std::move(value));
    }
    template <typename T> std::span<T> copy(const std::vector<T>& values)
    {
        const auto made = make<T>(values.size());
        std::copy_n(values.begin(), made.size(), made.begin());
        return made;
    }
    std::string_view keep(std::string_view text)
    {
        const auto made = make<char>(text.size());
        if (!made.empty())
            std::memcpy(made.data(), text.data(), text.size());
        return { made.data(), made.size() };
    }

private:
    static constexpr std::size_t kAlignment = 8;
    static constexpr std::size_t kSmall = 512;
    static constexpr std::size_t kPage = 16 * 1024;

    bool fits(std::size_t count, std::size_t size)
    {
        if (count <= left_ / size) {
            left_ -= count * size;
            return true;
        }
        full_ = true;
        return count <= kSmall / size;
    }
    void* take(std::size_t bytes)
    {
        bytes = (bytes + kAlignment - 1) / kAlignment * kAlignment;
        if (bytes > room_) {
            room_ = std::max(bytes, kPage);
            pages_.push_back(std::make_unique<std::byte[]>(room_));
            next_ = pages_.back().get();
        }
        void* taken = next_;
        next_ += bytes;
        room_ -= bytes;
        return taken;
    }

    std::vector<std::unique_ptr<std::byte[]>> pages_;
    std::byte* next_ = nullptr;
    std::size_t room_ = 0; // behind next_
    std::size_t left_; // of what may be handed out
    bool full_ = false;
};

} // namespace furrow::chat
