#pragma once

#include "core/base/path.h"
#include "core/data/source/block_cache.h"
#include "core/data/block_manager.h"
#include "core/data/tokenizer/tokenizer.h"
#include "tests/fakes/gzip.h"

#include <QTemporaryDir>
#include <bzlib.h>
#include <fstream>
#include <lzma.h>
#include <string>
#include <zstd.h>

namespace furrow::test {

/// A folder for one test, with the ways to put data files into it.
class DataFolder {
public:
    std::filesystem::path path(const std::string& name = {}) const
    {
        return pathFromUtf8(folder_.path().toStdString()) / pathFromUtf8(name);
    }
    std::string write(const std::string& name, const std::string& bytes) const
    {
        const auto file = path(name);
        std::filesystem::create_directories(file.parent_path());
        std::ofstream(file, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
        return utf8Text(file);
    }

private:
    QTemporaryDir folder_;
};

inline std::string zstd(const std::string& plain)
{
    std::string out(ZSTD_compressBound(plain.size()), '\0');
    out.resize(ZSTD_compress(out.data(), out.size(), plain.data(), plain.size(), 3));
    return out;
}

inline std::string xz(const std::string& plain)
{
    std::string out(lzma_stream_buffer_bound(plain.size()), '\0');
    std::size_t size = 0;
    (void)lzma_easy_buffer_encode(6, LZMA_CHECK_CRC64, nullptr, reinterpret_cast<const std::uint8_t*>(plain.data()),
        plain.size(), reinterpret_cast<std::uint8_t*>(out.data()), &size, out.size());
    out.resize(size);
    return out;
}

inline std::string bzip2(const std::string& plain)
{
    std::string out(plain.size() + plain.size() / 50 + 1000, '\0');
    auto size = static_cast<unsigned>(out.size());
    BZ2_bzBuffToBuffCompress(
        out.data(), &size, const_cast<char*>(plain.data()), static_cast<unsigned>(plain.size()), 9, 0, 0);
    out.resize(size);
    return out;
}

inline RunConfig configFor(const std::vector<std::string>& data)
{
    RunConfig config;
    config.data = data;
    config.heldOutPercent = 0;
    config.cacheGiB = 1;
    return config;
}

/// "row <i> ...": every sample carries its own index.
inline std::string indexedLines(std::int64_t count)
{
    std::string text;
    for (std::int64_t i = 0; i < count; ++i)
        text += "row " + std::to_string(i) + "\n";
    return text;
}

inline Result<BlockManager> openManager(
    const RunConfig& config, const std::filesystem::path& cache, std::int64_t samplesPerBlock = 0)
{
    auto inspection = inspectData(config);
    if (!inspection.ok())
        return inspection.error();
    auto manager = BlockManager::open(config, inspection.value().manifest,
        samplesPerBlock > 0 ? samplesPerBlock : inspection.value().samplesPerBlock, cache, byteTokenizer(),
        cache.parent_path() / "duplicates.bin");
    if (manager.ok())
        if (auto found = manager.value().findDuplicates({}); !found.ok())
            return found.error();
    return manager;
}

inline Result<std::vector<PlannedBlock>> planAll(BlockManager& manager)
{
    std::vector<PlannedBlock> blocks;
    for (;;) {
        auto next = manager.planNext();
        if (!next.ok())
            return next.error();
        if (!next.value())
            return blocks;
        blocks.push_back(*next.value());
    }
}

inline std::string sampleText(const ChunkText& chunk, std::size_t sample)
{
    const std::span<const TokenId> all(chunk.tokens);
    return byteTokenizer()->decode(
        all.subspan(chunk.offsets[sample], chunk.offsets[sample + 1] - chunk.offsets[sample]));
}

/// All texts of a data set in block order, through prepared blocks.
inline Result<std::vector<std::string>> readAll(
    const RunConfig& config, const std::filesystem::path& cache, std::int64_t samplesPerBlock = 0)
{
    auto manager = openManager(config, cache, samplesPerBlock);
    if (!manager.ok())
        return manager.error();
    auto blocks = planAll(manager.value());
    if (!blocks.ok())
        return blocks.error();
    std::vector<std::string> texts;
    for (const auto& planned : blocks.value()) {
        auto file = manager.value().prepare(planned);
        if (!file.ok())
            return file.error();
        auto block = PreparedBlock::open(BlockManager::blockFolder(cache) / file.value().fileName);
        if (!block.ok())
            return block.error();
        for (int column = 0; column < block.value().chunkCount(); ++column) {
            auto chunk = block.value().readChunk(column);
            if (!chunk.ok())
                return chunk.error();
            for (std::size_t i = 0; i < chunk.value().flags.size(); ++i)
                texts.push_back(sampleText(chunk.value(), i));
        }
    }
    return texts;
}

} // namespace furrow::test
