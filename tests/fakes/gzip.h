#pragma once

#include <string>
#include <zlib.h>

namespace furrow::test {

/// All of it in one go.
/// @param windowBits  as zlib takes them: which frame it gets
inline std::string deflated(const std::string& plain, int windowBits)
{
    z_stream z {};
    deflateInit2(&z, 6, Z_DEFLATED, windowBits, 8, Z_DEFAULT_STRATEGY);
    std::string out(deflateBound(&z, plain.size()) + 64, '\0');
    z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(plain.data()));
    z.avail_in = static_cast<uInt>(plain.size());
    z.next_out = reinterpret_cast<Bytef*>(out.data());
    z.avail_out = static_cast<uInt>(out.size());
    deflate(&z, Z_FINISH);
    out.resize(z.total_out);
    deflateEnd(&z);
    return out;
}

/// One gzip member with all of it.
inline std::string gzip(const std::string& plain) { return deflated(plain, 15 + 16); }

} // namespace furrow::test
