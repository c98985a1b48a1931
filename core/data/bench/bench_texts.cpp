#include "core/data/bench/data_bench.h"

#include "core/base/path.h"
#include "core/base/random.h"

#include <cmath>

#if FURROW_WITH_PARQUET
#include <arrow/io/file.h>
#include <parquet/column_writer.h>
#include <parquet/file_writer.h>
#endif

namespace furrow {

std::vector<std::string> benchTexts(std::int64_t samples, std::uint64_t seed)
{
    constexpr std::uint64_t kWords = 20'000;
    constexpr std::uint64_t kLetters = 26;
    Random random(seed);
    std::vector<std::string> words;
    for (std::uint64_t i = 0; i < kWords; ++i) {
        std::string word;
        for (std::uint64_t n = 2 + random.below(4) + random.below(6); n > 0; --n)
            word += "etaoinshrdlucmfwypvbgkjqxz"[static_cast<std::size_t>(static_cast<double>(kLetters) * random.uniform() * random.uniform())];
        words.push_back(word);
    }
    std::vector<std::string> texts;
    for (std::int64_t i = 0; i < samples; ++i) {
        std::string text = std::to_string(i) + " ";
        const auto size = 200 + random.below(1200);
        while (text.size() < size)
            text.append(words[static_cast<std::size_t>(std::pow(static_cast<double>(kWords), random.uniform())) - 1]).append(random.below(11) == 0 ? ". " : " ");
        texts.push_back(std::move(text));
    }
    return texts;
}

#if FURROW_WITH_PARQUET

Status writeBenchParquet(const std::filesystem::path& path, const std::vector<std::string>& texts)
{
    constexpr std::size_t kGroup = 1000;
    try {
        using namespace parquet;
        schema::NodeVector fields { schema::PrimitiveNode::Make("text", Repetition::REQUIRED, LogicalType::String(), Type::BYTE_ARRAY),
            schema::PrimitiveNode::Make("id", Repetition::REQUIRED, Type::INT64) };
        const auto schema = std::static_pointer_cast<schema::GroupNode>(schema::GroupNode::Make("schema", Repetition::REQUIRED, fields));
        auto file = ::arrow::io::FileOutputStream::Open(utf8Text(path));
        if (!file.ok())
            return Error { ErrorCode::Io, file.status().ToString() };
        WriterProperties::Builder properties;
        auto writer = ParquetFileWriter::Open(*file, schema, properties.compression(Compression::ZSTD)->disable_dictionary()->build());
        for (std::size_t begin = 0; begin < texts.size(); begin += kGroup) {
            auto* group = writer->AppendRowGroup();
            std::vector<ByteArray> values;
            std::vector<std::int64_t> ids;
            for (std::size_t i = begin; i < std::min(texts.size(), begin + kGroup); ++i) {
                values.emplace_back(static_cast<std::uint32_t>(texts[i].size()), reinterpret_cast<const std::uint8_t*>(texts[i].data()));
                ids.push_back(static_cast<std::int64_t>(i));
            }
            static_cast<ByteArrayWriter*>(group->NextColumn())->WriteBatch(static_cast<std::int64_t>(values.size()), nullptr, nullptr, values.data());
            static_cast<Int64Writer*>(group->NextColumn())->WriteBatch(static_cast<std::int64_t>(ids.size()), nullptr, nullptr, ids.data());
        }
        writer->Close();
        const auto closed = (*file)->Close();
        return closed.ok() ? Status() : Status(Error { ErrorCode::Io, closed.ToString() });
    } catch (const std::exception& e) { // Parquet throws
        return Error { ErrorCode::Io, e.what() };
    }
}

#else

Status writeBenchParquet(const std::filesystem::path&, const std::vector<std::string>&)
{
    return Error { ErrorCode::InvalidArgument, "This Furrow was built without Parquet, so that row is left out." };
}

#endif

} // namespace furrow
