// Prepared blocks, lists of duplicates, evaluation sets, plans and manifests from hostile bytes: each must be refused
// or read, never crash.

#include "core/base/hash.h"
#include "core/data/block/block_layout.h"
#include "core/data/plan/block_plan.h"
#include "core/data/block/chunk_windows.h"
#include "core/data/source/data_manifest.h"
#include "core/data/plan/duplicate_index.h"
#include "core/data/plan/held_out.h"
#include "core/data/block/block_writer.h"
#include "core/data/plan/quarantine.h"
#include "tests/fuzz/fuzz_seeds.h"

#include <cstdio>
#include <string>
#include <unistd.h>

namespace {

std::string scratchFile() { return "/tmp/furrow-fuzz-" + std::to_string(getpid()) + ".bin"; }

void readBlock(const std::string& path)
{
    auto block = furrow::PreparedBlock::open(path);
    if (!block.ok())
        return;
    for (int column = 0; column < block.value().chunkCount(); ++column) {
        const auto chunk = block.value().readChunk(column);
        if (!chunk.ok())
            continue;
        const furrow::ChunkWindows windows(chunk.value(), 0, { 16 }, {});
        std::int64_t inputs[16], labels[16];
        for (int w = 0; w < windows.count() && w < 100; ++w)
            windows.fill(w, 1, inputs, labels);
    }
    (void)block.value().verify();
}

void readDuplicates(const std::string& path)
{
    const auto index = furrow::DuplicateIndex::open(path);
    if (!index.ok())
        return;
    for (std::int64_t row = -1; row < 70; ++row)
        (void)index.value().isRepeat({ row % 3, row });
    for (const std::uint64_t fingerprint : { 0ull, 7ull, 8ull, ~0ull })
        (void)index.value().firstOf(fingerprint);
    (void)index.value().verify();
}

/// The same bytes with checksums that fit, so that the fuzzer gets behind them.
std::string signedAgain(std::string bytes)
{
    using namespace furrow::layout;
    const auto put
        = [&](std::uint64_t at, std::uint64_t value) { std::memcpy(bytes.data() + at, &value, sizeof value); };
    const auto get = [&](std::uint64_t at) {
        std::uint64_t value = 0;
        std::memcpy(&value, bytes.data() + at, sizeof value);
        return value;
    };
    if (bytes.size() < kHeaderBytes + kTrailerBytes)
        return bytes;
    put(kHeaderBytes - 8, furrow::xxh3(std::string_view(bytes).substr(0, kHeaderBytes - 8)));
    const std::uint64_t trailer = bytes.size() - kTrailerBytes;
    const std::uint64_t footer = get(trailer);
    if (footer < kHeaderBytes || footer > trailer)
        return bytes;
    std::uint32_t version = 0;
    std::memcpy(&version, bytes.data() + kMagic.size(), sizeof version);
    const std::uint64_t step = entryBytes(version);
    for (std::uint64_t entry = footer; entry + step <= trailer; entry += step) {
        const auto offset = get(entry), size = get(entry + 8);
        if (offset <= footer && size <= footer - offset)
            put(entry + 16, furrow::xxh3(std::string_view(bytes).substr(offset, size)));
        else
            break;
    }
    put(trailer + 16, furrow::xxh3(std::string_view(bytes).substr(footer, trailer - footer)));
    return bytes;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    static const std::string path = scratchFile();
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    for (const auto& bytes : { std::string(text), signedAgain(std::string(text)) }) {
        auto* file = std::fopen(path.c_str(), "wb");
        if (file == nullptr)
            break;
        std::fwrite(bytes.data(), 1, bytes.size(), file);
        std::fclose(file);
        readBlock(path);
        readDuplicates(path);
        (void)furrow::readHeldOut(path);
    }
    std::remove(path.c_str());
    (void)furrow::readPlan(text);
    (void)furrow::readManifest(text);
    (void)furrow::Quarantine::parse(text);
    return 0;
}

namespace {

std::string someBlock(bool isMasked)
{
    std::string block;
    furrow::BlockWriter writer(
        [&block](const void* data, std::size_t size) {
            block.append(static_cast<const char*>(data), size);
            return furrow::Status();
        },
        257, 2, { isMasked, isMasked });
    (void)writer.begin();
    for (int chunk = 0; chunk < 2; ++chunk) {
        furrow::ChunkText text { { 1, 2, 3, 4, 5 }, {}, { 0, 2, 5 }, { 7, 8 }, { 0, 0 }, { 0, 1 }, { 0, 2 } };
        if (isMasked)
            text.learnt = { 0, 1, 0, 0, 1 };
        furrow::ChunkSummary summary;
        summary.rows = summary.samples = 2;
        summary.tokens = 5;
        (void)writer.addChunk(text, summary);
    }
    (void)writer.finish({ { 0, 1, "is broken" } });
    return block;
}

} // namespace

std::vector<std::string> fuzzSeeds()
{
    std::string duplicates;
    furrow::DuplicateIndexWriter list([&duplicates](const void* data, std::size_t size) {
        duplicates.append(static_cast<const char*>(data), size);
        return furrow::Status();
    });
    (void)list.add(7, 1);
    (void)list.add(8, 2);
    (void)list.finish({ std::string(64, 'a'), true, { { { 0, 0 }, 40, 0 }, { { 1, 5 }, 30, 40 } }, { 0b110000, 1 } });
    return { someBlock(false), someBlock(true), duplicates,
        R"({"v":1,"block":0,"source":0,"first_row":0,"chunk_rows":[2,1],"segments":[[0,0,0,3]],"next":[[0,9,3,3,9,false]]})",
        R"({"version":1,"sources":[{"spec":"a","text_column":"","files":[{"path":"/a","size":3,"modified_ns":1,"sha256":"aa","whole":true,"format":"text","compression":"none","skip_bytes":0}],"skipped":[]}]})",
        R"({"version":6,"sources":[{"spec":"a","text_column":"messages","conversation":"messages","files":[],"skipped":[]}],"chat":{"template":"x","tokens":[["bos_token","<s>"]],"day":0}})",
        "chunk 3:1\nsample 0123456789abcdef\npattern a+b\n" };
}
