#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace furrow {

/// What sentencepiece replaces, as it packs it: a double array (darts-clone) of the texts to be replaced, and what
/// comes in their place. Read with the tokenizers library's rules. Const methods are thread-safe.
class PrecompiledCharsmap {
public:
    /// @param packed  bytes of the array (4, little endian), the array, and texts that end with a zero
    static Result<std::shared_ptr<const PrecompiledCharsmap>> read(std::string_view packed);

    void apply(std::string_view text, std::string& out) const;

private:
    PrecompiledCharsmap() = default;
    /// What the shortest entry at the front of `chunk` becomes; nothing where there is none.
    std::optional<std::string_view> replacement(std::string_view chunk) const;
    void applyToClusters(std::string_view text, std::string& out) const;
    void applyToCluster(std::string_view cluster, std::string& out) const;

    std::vector<std::uint32_t> units_;
    std::string texts_;
};

} // namespace furrow
