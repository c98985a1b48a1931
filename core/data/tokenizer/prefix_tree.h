#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace furrow {

/// Byte strings to values, walked byte by byte: finds all keys that a text starts with in one pass. Read-only use is
/// thread-safe.
class PrefixTree {
public:
    using Node = std::uint32_t;
    static constexpr std::uint32_t kNone = UINT32_MAX;
    static constexpr Node kRoot = 0;

    PrefixTree() = default;
    /// @param keys  distinct and not empty; takes memory of about twenty times their bytes
    explicit PrefixTree(std::vector<std::pair<std::string_view, std::uint32_t>> keys);

    /// The node behind `byte`, or kNone where no key goes on so.
    Node next(Node node, char byte) const;
    /// The value of the key that ends at the node, or kNone.
    std::uint32_t value(Node node) const { return nodes_[node].value; }
    /// The node behind all of `text`, or kNone.
    Node walk(std::string_view text) const;

private:
    struct Inner {
        std::uint32_t firstChild = 0; ///< children of a node are neighbours, in the order of their bytes
        std::uint16_t numChildren = 0;
        std::uint8_t byte = 0; ///< leads to this node
        std::uint32_t value = kNone;
    };
    std::vector<Inner> nodes_ = { {} };
    std::array<Node, 256> fromRoot_ = {}; ///< kRoot: none
};

} // namespace furrow
