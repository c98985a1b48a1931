// SHA-1 as in FIPS 180-4. Written out here, since the libraries that bring SHA-256 differ from system to system, and
// what git names is small.
#include "core/base/git_blob.h"

#include "core/base/format.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace furrow {

GitBlobName::GitBlobName(std::uint64_t sizeBytes)
{
    const std::string head = "blob " + std::to_string(sizeBytes);
    update(std::string_view(head.c_str(), head.size() + 1)); // with its zero
}

void GitBlobName::update(std::string_view bytes)
{
    sizeBytes_ += bytes.size();
    while (!bytes.empty()) {
        const std::size_t n = std::min(bytes.size(), block_.size() - filled_);
        std::memcpy(block_.data() + filled_, bytes.data(), n);
        filled_ += n;
        bytes.remove_prefix(n);
        if (filled_ == block_.size()) {
            take(block_.data());
            filled_ = 0;
        }
    }
}

std::string GitBlobName::hex()
{
    const std::uint64_t bits = sizeBytes_ * 8;
    update(std::string_view("\x80", 1));
    while (filled_ != block_.size() - 8)
        update(std::string_view("\0", 1));
    std::string end;
    for (int shift = 56; shift >= 0; shift -= 8)
        end += static_cast<char>(bits >> shift & 0xff);
    update(end);
    std::string digest;
    for (const std::uint32_t word : state_)
        for (int shift = 24; shift >= 0; shift -= 8)
            digest += static_cast<char>(word >> shift & 0xff);
    return hexOf(digest);
}

void GitBlobName::take(const unsigned char* block)
{
    std::array<std::uint32_t, 80> w {};
    for (std::size_t i = 0; i < 16; ++i)
        w[i] = std::uint32_t { block[4 * i] } << 24 | std::uint32_t { block[4 * i + 1] } << 16
            | std::uint32_t { block[4 * i + 2] } << 8 | std::uint32_t { block[4 * i + 3] };
    for (std::size_t i = 16; i < w.size(); ++i)
        w[i] = std::rotl(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
    auto [a, b, c, d, e] = state_;
    for (std::size_t i = 0; i < w.size(); ++i) {
        const std::uint32_t mixed = i < 20 ? (b & c) | (~b & d)
            : i >= 40 && i < 60            ? (b & c) | (b & d) | (c & d)
                                           : b ^ c ^ d;
        constexpr std::array<std::uint32_t, 4> kOfRound { 0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6 };
        const std::uint32_t next = std::rotl(a, 5) + mixed + e + w[i] + kOfRound[i / 20];
        e = d;
        d = c;
        c = std::rotl(b, 30);
        b = a;
        a = next;
    }
    state_[0] += a;
    state_[1] += b;
    state_[2] += c;
    state_[3] += d;
    state_[4] += e;
}

bool isGitName(std::string_view text)
{
    constexpr std::size_t kDigits = 40;
    return text.size() == kDigits && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

} // namespace furrow
