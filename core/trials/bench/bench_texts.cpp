#include "core/trials/bench/data_bench.h"

#include "core/base/path.h"
#include "core/base/random.h"

#include <cmath>
#include <numeric>
#include <span>

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
            word += "etaoinshrdlucmfwypvbgkjqxz"[static_cast<std::size_t>(
                static_cast<double>(kLetters) * random.uniform() * random.uniform())];
        words.push_back(word);
    }
    std::vector<std::string> texts;
    for (std::int64_t i = 0; i < samples; ++i) {
        std::string text = std::to_string(i) + " ";
        const auto size = 200 + random.below(1200);
        while (text.size() < size)
            text.append(words[static_cast<std::size_t>(std::pow(static_cast<double>(kWords), random.uniform())) - 1])
                .append(random.below(11) == 0 ? ". " : " ");
        texts.push_back(std::move(text));
    }
    return texts;
}

#if FURROW_WITH_PARQUET

namespace {

using TextColumn = std::span<const std::string>;

/// Each text as a string, or as a list of its halves.
void writeColumn(parquet::ColumnWriter& column, TextColumn texts)
{
    std::vector<parquet::ByteArray> values;
    const auto add = [&values](std::string_view part) {
        values.emplace_back(
            static_cast<std::uint32_t>(part.size()), reinterpret_cast<const std::uint8_t*>(part.data()));
    };
    auto& writer = static_cast<parquet::ByteArrayWriter&>(column);
    if (column.descr()->max_repetition_level() == 0) {
        for (const auto& text : texts)
            add(text);
        writer.WriteBatch(static_cast<std::int64_t>(values.size()), nullptr, nullptr, values.data());
        return;
    }
    std::vector<std::int16_t> defined, repeated;
    for (const auto& text : texts)
        for (const auto half :
            { std::string_view(text).substr(0, text.size() / 2), std::string_view(text).substr(text.size() / 2) }) {
            add(half);
            defined.push_back(column.descr()->max_definition_level());
            repeated.push_back(half.data() == text.data() ? std::int16_t { 0 } : std::int16_t { 1 });
        }
    writer.WriteBatch(static_cast<std::int64_t>(values.size()), defined.data(), repeated.data(), values.data());
}

void writeNumbers(parquet::ColumnWriter& column, std::int64_t first, std::size_t count)
{
    std::vector<std::int64_t> ids(count);
    std::iota(ids.begin(), ids.end(), first);
    static_cast<parquet::Int64Writer&>(column).WriteBatch(
        static_cast<std::int64_t>(count), nullptr, nullptr, ids.data());
}

std::vector<std::string> letters(std::size_t rows, std::size_t bytes, Random& random)
{
    std::vector<std::string> out(rows, std::string(bytes, ' '));
    for (auto& text : out)
        for (auto& c : text)
            c = static_cast<char>('0' + random.below(64));
    return out;
}

std::shared_ptr<parquet::schema::GroupNode> schemaOf(const BenchParquet& shape)
{
    using namespace parquet;
    const auto string = [](const std::string& name) {
        return schema::PrimitiveNode::Make(name, Repetition::REQUIRED, LogicalType::String(), Type::BYTE_ARRAY);
    };
    schema::NodeVector fields;
    if (shape.asList)
        fields.push_back(schema::GroupNode::Make("text", Repetition::REQUIRED,
            { schema::GroupNode::Make("list", Repetition::REPEATED, { string("element") }) }, LogicalType::List()));
    else
        fields.push_back(string("text"));
    fields.push_back(schema::PrimitiveNode::Make("id", Repetition::REQUIRED, Type::INT64));
    for (int i = 0; i < shape.otherColumns; ++i)
        fields.push_back(string("other" + std::to_string(i)));
    return std::static_pointer_cast<schema::GroupNode>(schema::GroupNode::Make("schema", Repetition::REQUIRED, fields));
}

} // namespace

Status writeBenchParquet(
    const std::filesystem::path& path, const std::vector<std::string>& texts, const BenchParquet& shape)
{
    try {
        using namespace parquet;
        auto file = ::arrow::io::FileOutputStream::Open(utf8Text(path));
        if (!file.ok())
            return Error { ErrorCode::Io, file.status().ToString() };
        WriterProperties::Builder properties;
        properties.disable_dictionary()->compression(shape.isBare ? Compression::UNCOMPRESSED : Compression::ZSTD);
        if (!shape.isBare)
            properties.enable_page_checksum();
        auto writer = ParquetFileWriter::Open(*file, schemaOf(shape), properties.build());
        Random random(7);
        for (std::size_t begin = 0; begin < texts.size(); begin += shape.groupRows) {
            auto* group = writer->AppendRowGroup();
            const auto rows = TextColumn(texts).subspan(begin, std::min(shape.groupRows, texts.size() - begin));
            writeColumn(*group->NextColumn(), rows);
            writeNumbers(*group->NextColumn(), static_cast<std::int64_t>(begin), rows.size());
            for (int i = 0; i < shape.otherColumns; ++i)
                writeColumn(*group->NextColumn(), letters(rows.size(), shape.otherBytes, random));
        }
        writer->Close();
        const auto closed = (*file)->Close();
        return closed.ok() ? Status() : Status(Error { ErrorCode::Io, closed.ToString() });
    } catch (const std::exception& e) { // Parquet throws
        return Error { ErrorCode::Io, e.what() };
    }
}

#else

Status writeBenchParquet(const std::filesystem::path&, const std::vector<std::string>&, const BenchParquet&)
{
    return Error { ErrorCode::InvalidArgument, "This Furrow was built without Parquet, so that row is left out." };
}

#endif

} // namespace furrow
