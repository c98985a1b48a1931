#pragma once

#include "core/base/result.h"

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

namespace furrow {

/// Incremental SHA-256 (identity and integrity). Not thread-safe.
class Sha256 {
public:
    Sha256();
    ~Sha256();
    Sha256(Sha256&&) noexcept;
    Sha256& operator=(Sha256&&) noexcept;

    void update(const void* data, std::size_t sizeBytes);
    void update(std::string_view bytes) { update(bytes.data(), bytes.size()); }
    /// 64 lower-case hex digits. The object may not be used afterwards.
    std::string hex();

private:
    struct Context;
    std::unique_ptr<Context> context_;
};

std::string sha256Hex(std::string_view bytes);
/// Reads the file once, in pieces. Cancelled between two of them when `stop` is requested.
/// @param onBytes  gets each piece, in order; may be empty
Result<std::string> sha256File(const std::filesystem::path& path, const std::stop_token& stop = {},
    const std::function<void(std::string_view)>& onBytes = {});

/// XXH3, 64 bits, seed 0: fingerprints and split decisions. Stable across versions and machines.
std::uint64_t xxh3(std::string_view bytes);
std::uint64_t xxh3(std::string_view bytes, std::uint64_t seed);

} // namespace furrow
