// Archives from outside: no reader may crash, read beyond a bound, or give more than the archive promises.

#include "core/data/source/archive_member.h"
#include "core/data/source/tar_reader.h"
#include "core/data/source/zip_directory.h"
#include "tests/fakes/archives.h"
#include "tests/fakes/gzip.h"
#include "tests/fuzz/fuzz_seeds.h"

#include <cstdio>
#include <cstdlib>

namespace {

std::uint64_t readAll(furrow::ByteStream& stream)
{
    char out[4096];
    std::uint64_t sum = 0;
    for (int i = 0; i < 10000; ++i) {
        const auto n = stream.read(out);
        if (!n.ok() || n.value() == 0)
            break;
        sum += n.value();
    }
    return sum;
}

void readTar(const std::shared_ptr<const furrow::ByteSource>& source, furrow::Compression packing)
{
    furrow::TarReader reader(furrow::expandedStream(furrow::streamFrom(source, 0), packing, "input"), "input");
    for (bool reads = false;; reads = !reads) { // every other entry is stepped over
        const auto next = reader.next();
        if (!next.ok() || !next.value())
            return;
        char out[100];
        std::uint64_t sum = 0;
        while (reads) {
            const auto n = reader.read(out);
            if (!n.ok() || n.value() == 0)
                break;
            sum += n.value();
        }
        if (sum > next.value()->sizeBytes)
            std::abort();
        if (packing == furrow::Compression::None && next.value()->offset <= source->sizeBytes()) {
            furrow::ArchiveMember member;
            member.offset = next.value()->offset;
            member.packedBytes = member.sizeBytes = next.value()->sizeBytes;
            if (readAll(*furrow::memberStream(source, member, "input")) > member.sizeBytes)
                std::abort();
        }
    }
}

/// The same bytes with right checksums, so that what is behind a header is reached.
std::string withChecksums(std::string tar)
{
    constexpr std::size_t kBlock = 512, kSum = 148, kDigits = 8;
    for (std::size_t at = 0; at + kBlock <= tar.size(); at += kBlock) {
        if (tar.compare(at + 257, 5, "ustar") != 0)
            continue;
        tar.replace(at + kSum, kDigits, kDigits, ' ');
        unsigned sum = 0;
        for (std::size_t i = 0; i < kBlock; ++i)
            sum += static_cast<unsigned char>(tar[at + i]);
        char digits[kDigits];
        std::snprintf(digits, sizeof digits, "%06o", sum);
        tar.replace(at + kSum, kDigits - 1, digits, kDigits - 1);
    }
    return tar;
}

void readZip(const std::shared_ptr<const furrow::ByteSource>& source)
{
    const auto entries = furrow::readZipDirectory(*source, "input", [](std::string_view) { return true; });
    if (!entries.ok())
        return;
    for (const auto& entry : entries.value()) {
        if (entry.offset + entry.packedBytes > source->sizeBytes())
            std::abort();
        const furrow::ArchiveMember member { "input", 0, furrow::Compression::None, entry.offset, entry.packedBytes,
            entry.method == 8 ? furrow::Compression::Deflate : furrow::Compression::None, entry.sizeBytes,
            entry.crc32 };
        if (readAll(*furrow::memberStream(source, member, "input")) > entry.sizeBytes)
            std::abort();
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const auto source = furrow::memorySource(std::string(reinterpret_cast<const char*>(data), size));
    readTar(source, furrow::Compression::None);
    readTar(furrow::memorySource(withChecksums(std::string(reinterpret_cast<const char*>(data), size))),
        furrow::Compression::None);
    readTar(source, furrow::Compression::Gzip);
    readZip(source);
    return 0;
}

std::vector<std::string> fuzzSeeds()
{
    using namespace furrow::test;
    const std::string tar = tarEntry("folder/", "", '5')
        + tarEntry("././@LongLink", std::string(120, 'n') + ".txt", 'L') + tarEntry("n", "one\ntwo\n")
        + tarEntry("x", paxRecord("path", "other.txt") + paxRecord("size", "4"), 'x') + tarEntry("y", "four")
        + tarEnd();
    return { tar, gzip(tar), zipArchive({ { "a.txt", "one\ntwo\n" }, { "b.txt", "three\n", 0 } }),
        zipArchive({ { "a.txt", "one\ntwo\n", 8, 0, true }, { "b/", "", 0, 0, true } }) };
}
