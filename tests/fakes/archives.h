#pragma once

#include "tests/fakes/gzip.h"

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>
#include <zlib.h>

namespace furrow::test {

/// The 512 bytes of a tar header, with their checksum in its place.
inline std::string withTarSum(std::string header)
{
    header.replace(148, 8, "        ");
    unsigned sum = 0;
    for (const char c : header)
        sum += static_cast<unsigned char>(c);
    char digits[8];
    std::snprintf(digits, sizeof digits, "%06o", sum);
    return header.replace(148, 7, std::string(digits, 7));
}

/// One entry of a tar archive with its padding. @param type  '0': a file, '5': a folder, '2': a link, ...
inline std::string tarEntry(const std::string& name, const std::string& bytes, char type = '0')
{
    std::string header(512, '\0');
    const auto put = [&header](std::size_t at, const std::string& text) { header.replace(at, text.size(), text); };
    char size[13];
    std::snprintf(size, sizeof size, "%011zo", bytes.size());
    put(0, name.substr(0, 100));
    put(100, "0000644");
    put(124, std::string(size, 11));
    put(136, "00000000000");
    header[156] = type;
    put(257,
        std::string("ustar\0"
                    "00",
            8));
    return withTarSum(header) + bytes + std::string((512 - bytes.size() % 512) % 512, '\0');
}

/// A record of a pax header: its length counts itself.
inline std::string paxRecord(const std::string& key, const std::string& value)
{
    const std::string rest = " " + key + "=" + value + "\n";
    std::size_t size = rest.size() + 1;
    while (std::to_string(size).size() + rest.size() != size)
        ++size;
    return std::to_string(size) + rest;
}

inline std::string tarEnd() { return std::string(1024, '\0'); }

/// One file of a zip archive.
struct ZipFile {
    std::string name;
    std::string bytes;
    int method = 8; ///< 0: stored, 8: deflate; others are written as stored
    int flags = 0; ///< 1: encrypted
    bool in64 = false; ///< its numbers stand in the extra field of zip64
    long sizeLie = 0; ///< added to the size that is told
};

inline std::string littleEnd(std::uint64_t value, int size)
{
    std::string out;
    for (int i = 0; i < size; ++i)
        out += static_cast<char>(value >> (8 * i));
    return out;
}

inline std::string rawDeflate(const std::string& plain) { return deflated(plain, -15); }

inline std::string zipArchive(const std::vector<ZipFile>& files)
{
    std::string out;
    std::string directory;
    for (const auto& file : files) {
        const std::string packed = file.method == 8 ? rawDeflate(file.bytes) : file.bytes;
        const auto crc = crc32_z(0, reinterpret_cast<const Bytef*>(file.bytes.data()), file.bytes.size());
        const auto size = static_cast<std::uint64_t>(static_cast<long>(file.bytes.size()) + file.sizeLie);
        const std::uint64_t offset = out.size();
        const std::string extra = file.in64 ? littleEnd(1, 2) + littleEnd(24, 2) + littleEnd(size, 8)
                + littleEnd(packed.size(), 8) + littleEnd(offset, 8)
                                            : "";
        const auto told = [&file](std::uint64_t value) { return littleEnd(file.in64 ? 0xffffffff : value, 4); };
        const std::string common = littleEnd(45, 2) + littleEnd(static_cast<std::uint64_t>(file.flags), 2)
            + littleEnd(static_cast<std::uint64_t>(file.method), 2) + littleEnd(0, 4) + littleEnd(crc, 4)
            + told(packed.size()) + told(size) + littleEnd(file.name.size(), 2) + littleEnd(extra.size(), 2);
        out += "PK\3\4" + common + file.name + extra + packed;
        directory += "PK\1\2" + littleEnd(45, 2) + common + littleEnd(0, 2) + littleEnd(0, 2) + littleEnd(0, 2)
            + littleEnd(0, 4) + told(offset) + file.name + extra;
    }
    const std::uint64_t at = out.size();
    out += directory;
    const bool in64 = !files.empty() && files.front().in64;
    if (in64) {
        const std::uint64_t end64 = out.size();
        out += "PK\6\6" + littleEnd(44, 8) + littleEnd(45, 2) + littleEnd(45, 2) + littleEnd(0, 8)
            + littleEnd(files.size(), 8) + littleEnd(files.size(), 8) + littleEnd(directory.size(), 8)
            + littleEnd(at, 8);
        out += "PK\6\7" + littleEnd(0, 4) + littleEnd(end64, 8) + littleEnd(1, 4);
    }
    const auto count = littleEnd(in64 ? 0xffff : files.size(), 2);
    return out + "PK\5\6" + littleEnd(0, 4) + count + count + littleEnd(in64 ? 0xffffffff : directory.size(), 4)
        + littleEnd(in64 ? 0xffffffff : at, 4) + littleEnd(0, 2);
}

} // namespace furrow::test
