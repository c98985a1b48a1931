#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace furrow {

/// Git's name of a content: SHA-1 of "blob", the size, a zero and the bytes. It tells damage and mistakes of a
/// transfer; who means harm can make two contents of one name. A plain value.
class GitBlobName {
public:
    /// @param sizeBytes  of the whole content
    explicit GitBlobName(std::uint64_t sizeBytes);

    void update(std::string_view bytes);
    /// 40 lower-case hex digits. The object may not be used afterwards.
    std::string hex();

private:
    void take(const unsigned char* block);

    std::array<std::uint32_t, 5> state_ { 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0 };
    std::array<unsigned char, 64> block_ {};
    std::size_t filled_ = 0; ///< of the block
    std::uint64_t sizeBytes_ = 0;
};

/// 40 lower-case hex digits: git's name of something.
bool isGitName(std::string_view text);

} // namespace furrow
