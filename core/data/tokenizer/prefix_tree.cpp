#include "core/data/tokenizer/prefix_tree.h"

#include <algorithm>

namespace furrow {

PrefixTree::PrefixTree(std::vector<std::pair<std::string_view, std::uint32_t>> keys)
{
    std::sort(keys.begin(), keys.end());
    struct Range {
        std::size_t begin;
        std::size_t end;
        std::size_t depth;
    };
    std::vector<Range> ranges { { 0, keys.size(), 0 } }; // of the keys below each node
    for (std::size_t node = 0; node < nodes_.size(); ++node) {
        auto [at, end, depth] = ranges[node];
        if (at < end && keys[at].first.size() == depth)
            nodes_[node].value = keys[at++].second;
        nodes_[node].firstChild = static_cast<Node>(nodes_.size());
        while (at < end) {
            const auto byte = keys[at].first[depth];
            const auto first = at;
            while (at < end && keys[at].first[depth] == byte)
                ++at;
            if (node == kRoot)
                fromRoot_[static_cast<std::uint8_t>(byte)] = static_cast<Node>(nodes_.size());
            nodes_.push_back({ 0, 0, static_cast<std::uint8_t>(byte), kNone });
            ranges.push_back({ first, at, depth + 1 });
            ++nodes_[node].numChildren;
        }
    }
}

PrefixTree::Node PrefixTree::next(Node node, char byte) const
{
    const auto wanted = static_cast<std::uint8_t>(byte);
    if (node == kRoot)
        return fromRoot_[wanted] == kRoot ? kNone : fromRoot_[wanted];
    const auto& inner = nodes_[node];
    const auto* begin = nodes_.data() + inner.firstChild;
    const auto* end = begin + inner.numChildren;
    const auto* found = std::find_if(begin, end, [wanted](const Inner& child) { return child.byte == wanted; });
    return found == end ? kNone : static_cast<Node>(found - nodes_.data());
}

PrefixTree::Node PrefixTree::walk(std::string_view text) const
{
    Node node = kRoot;
    for (const char byte : text) {
        node = next(node, byte);
        if (node == kNone)
            break;
    }
    return node;
}

} // namespace furrow
