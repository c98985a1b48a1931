// Arrow from outside: the walk over its messages must not depend on the pieces in which the bytes arrive, and no reader
// may crash or give other rows than the walk counts.

#include "core/data/source/arrow_frames.h"
#include "core/data/source/arrow_rows.h"
#include "tests/fuzz/fuzz_seeds.h"

#include <algorithm>
#include <cstdlib>

namespace {

/// Bytes in memory, in pieces.
class PieceStream : public furrow::ByteStream {
public:
    PieceStream(std::string_view bytes, std::size_t piece)
        : bytes_(bytes)
        , piece_(piece)
    {
    }
    furrow::Result<std::size_t> read(std::span<char> into) override
    {
        const auto n = std::min({ piece_, into.size(), bytes_.size() });
        std::copy_n(bytes_.data(), n, into.data());
        bytes_.remove_prefix(n);
        return n;
    }

private:
    std::string_view bytes_;
    std::size_t piece_;
};

class MemoryAccess : public furrow::FileAccess {
public:
    explicit MemoryAccess(std::string bytes)
        : source_(furrow::memorySource(std::move(bytes)))
    {
    }
    furrow::Result<std::shared_ptr<const furrow::ByteSource>> stored(const furrow::DataFile&) override
    {
        return source_;
    }
    furrow::Result<std::unique_ptr<furrow::ByteStream>> plainFrom(
        const furrow::DataFile&, std::uint64_t offset) override
    {
        return furrow::streamFrom(source_, offset);
    }

private:
    std::shared_ptr<const furrow::ByteSource> source_;
};

std::vector<std::uint64_t> walk(std::string_view bytes, std::size_t piece)
{
    furrow::ArrowFrames frames(std::make_unique<PieceStream>(bytes, piece), "input", false);
    std::vector<std::uint64_t> seen;
    for (;;) {
        auto next = frames.next();
        if (!next.ok() || !next.value())
            return seen;
        seen.push_back(next.value()->rows);
        seen.push_back(next.value()->bodyBytes);
    }
}

std::string fromHex(std::string_view hex)
{
    std::string bytes;
    for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
        bytes += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
    return bytes;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string bytes(reinterpret_cast<const char*>(data), size);
    if (walk(bytes, 3) != walk(bytes, 1000))
        std::abort();
    MemoryAccess access(bytes);
    furrow::DataFile file;
    file.path = "input";
    file.format.format = furrow::TextFormat::Arrow;
    constexpr int kMostRows = 1000; // a batch may claim any number of them
    std::uint64_t counted = 0;
    if (auto scanner = furrow::openArrowScanner(access, file, 0); scanner.ok())
        for (std::uint64_t row = 0; counted < kMostRows; ++counted)
            if (auto more = scanner.value()->next(row); !more.ok() || !more.value())
                break;
    for (const char* column : { "text", "text[]" })
        for (const std::uint64_t position : { 0, 2 }) {
            furrow::RowOptions options;
            options.textColumn = column;
            auto reader = furrow::openArrowReader(access, file, options, position);
            if (!reader.ok())
                continue;
            std::uint64_t read = position;
            for (furrow::Row row; read < kMostRows; ++read)
                if (auto more = reader.value()->next(row); !more.ok() || !more.value())
                    break;
            if (read > std::max(counted, position))
                std::abort();
        }
    return 0;
}

std::vector<std::string> fuzzSeeds()
{
    return {
        fromHex( // pyarrow: text of "one", null | "three"
            "ffffffff700000001000000000000a000c000600050008000a000000000104000c000000080008000000040008000000040000000100000014000000100014000800060007000c000000100010000000"
            "00000105100000001c00000004000000000000000400000074657874000000000400040004000000ffffffff9800000014000000000000000c0016000600050008000c000c0000000003040018000000"
            "200000000000000000000a0018000c00040008000a0000004c00000010000000020000000000000000000000030000000000000000000000010000000000000008000000000000000c00000000000000"
            "180000000000000008000000000000000000000001000000020000000000000001000000000000000500000000000000000000000300000003000000000000006f6e657468726565ffffffff98000000"
            "14000000000000000c0016000600050008000c000c0000000003040018000000100000000000000000000a0018000c00040008000a0000004c0000001000000001000000000000000000000003000000"
            "0000000000000000000000000000000000000000000000000800000000000000080000000000000005000000000000000000000001000000010000000000000000000000000000000000000005000000"
            "7468726565000000ffffffff00000000"),
        fromHex( // pyarrow: lists of texts
            "ffffffffa00000001000000000000a000c000600050008000a000000000104000c000000080008000000040008000000040000000100000004000000d4ffffff0000010c140000001c00000004000000"
            "0100000024000000040000007465787400000000c8ffffff100014000800060007000c00000010001000000000000105100000001c0000000400000000000000040000006974656d0000000004000400"
            "0400000000000000ffffffffc800000014000000000000000c0016000600050008000c000c0000000003040018000000300000000000000000000a0018000c00040008000a0000006c00000010000000"
            "0300000000000000000000000500000000000000000000000100000000000000080000000000000010000000000000001800000000000000000000000000000018000000000000000c00000000000000"
            "2800000000000000020000000000000000000000020000000300000000000000010000000000000002000000000000000000000000000000030000000000000000000000020000000200000002000000"
            "000000000100000002000000000000006162000000000000ffffffff00000000")
    };
}
