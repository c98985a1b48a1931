#pragma once

#include <cstdint>
#include <string>

namespace furrow::test {

/// A safetensors file with this header.
inline std::string safetensorsWith(const std::string& header, const std::string& data = {})
{
    std::string file(8, '\0'); // the length of the header, little-endian
    for (std::size_t i = 0; i < file.size(); ++i)
        file[i] = static_cast<char>(std::uint64_t { header.size() } >> (8 * i));
    return file + header + data;
}

/// Weights of one tensor that holds these bytes.
inline std::string smallWeights(const std::string& bytes)
{
    const auto size = std::to_string(bytes.size());
    return safetensorsWith(R"({"a":{"dtype":"U8","shape":[)" + size + R"(],"data_offsets":[0,)" + size + "]}}", bytes);
}

} // namespace furrow::test
