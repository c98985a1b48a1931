// Rows cut from hostile bytes must not depend on the pieces in which the bytes arrive, and no parser may crash.

#include "core/data/source/csv_fields.h"
#include "core/data/source/json_list.h"
#include "core/data/source/json_text.h"
#include "core/data/source/record_reader.h"
#include "core/data/source/text_encoding.h"
#include "tests/fuzz/fuzz_seeds.h"

#include <algorithm>
#include <cstdlib>
#include <string>

namespace {

class PieceStream : public furrow::ByteStream {
public:
    PieceStream(std::string_view text, std::size_t piece)
        : text_(text)
        , piece_(piece)
    {
    }
    furrow::Result<std::size_t> read(std::span<char> into) override
    {
        const auto n = std::min({ piece_, into.size(), text_.size() });
        std::copy_n(text_.data(), n, into.data());
        text_.remove_prefix(n);
        return n;
    }

private:
    std::string_view text_;
    std::size_t piece_;
};

std::vector<std::string> cut(std::string_view text, furrow::RecordKind kind, std::size_t piece)
{
    furrow::RecordRules rules;
    rules.kind = kind;
    rules.spanBytes = 16;
    furrow::RecordReader reader(std::make_unique<PieceStream>(text, piece), rules, 0);
    std::vector<std::string> rows;
    furrow::Record record;
    for (;;) {
        const auto more = reader.next(record);
        if (!more.ok() || !more.value())
            return rows;
        rows.emplace_back(record.bytes);
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    for (const auto kind : { furrow::RecordKind::Lines, furrow::RecordKind::Paragraphs, furrow::RecordKind::Spans,
             furrow::RecordKind::Csv, furrow::RecordKind::JsonElements, furrow::RecordKind::Warc })
        if (cut(text, kind, 3) != cut(text, kind, 1000))
            std::abort();
    for (const auto& members : { std::vector<std::string> {}, std::vector<std::string> { "data" } }) {
        PieceStream small(text, 3), large(text, 1000);
        const auto offset = furrow::findJsonList(small, members, "input");
        const auto same = furrow::findJsonList(large, members, "input");
        if (offset.ok() != same.ok()
            || (offset.ok() && (offset.value() != same.value() || text[offset.value() - 1] != '[')))
            std::abort();
    }
    for (const char* path : { "text", "a.b", "m[].text" })
        (void)furrow::JsonText(furrow::ColumnPath::parse(path)).parse(text);
    (void)furrow::JsonText(furrow::ColumnPath::parse(text), furrow::JsonGrammar::Standard).parse(text);
    std::vector<std::string> all, strings;
    furrow::jsonMembers(text, all, strings);
    const furrow::CsvDialect escaping { ';', '\'', '\\', true };
    for (const auto& dialect : { furrow::CsvDialect {}, escaping }) {
        const auto fields = furrow::csvFields(text, dialect);
        std::string field;
        for (std::size_t i = 0; i < fields.size(); ++i)
            if (furrow::csvField(text, dialect, i, 0, field) != furrow::CsvFit::Fits || field != fields[i])
                std::abort();
    }
    (void)furrow::findCsvDialect(text, ',', {});
    const std::string sample(text);
    const auto guess = furrow::guessEncoding({ &sample, 1 });
    if (!guess.encoding.empty()) {
        auto stream = furrow::decodedStream(std::make_unique<PieceStream>(text, 7), guess.encoding);
        char out[64];
        for (auto n = stream->read(out); n.ok() && n.value() > 0;)
            n = stream->read(out);
    }
    for (const auto packed : furrow::kCompressions) {
        auto stream = furrow::expandedStream(std::make_unique<PieceStream>(text, 7), packed, "input");
        char out[4096];
        for (int i = 0; i < 10000; ++i) {
            const auto n = stream->read(out);
            if (!n.ok() || n.value() == 0)
                break;
        }
    }
    return 0;
}

std::vector<std::string> fuzzSeeds()
{
    return { "{\"text\":\"a \\ud83d\\ude00 \\ud800 \\n\",\"n\":[1,{\"a\":null}]}\n{\"id\":2}\n",
        "id,text\n1,\"a \"\"b\"\"\nc\"\n2,x\n", "one\r\ntwo\n\n\nthree \xc3\xa9\n",
        "[{\"text\":\"a ] \\\" }\"}, [1, {\"b\":[]}] ,\"c\"]",
        "{\"meta\":{\"data\":[1]},\"data\":[{\"text\":\"a\"},{\"text\":\"b\"}],\"end\":{}}",
        "WARC/1.0\r\nWARC-Type: conversion\r\nContent-Type: text/plain\r\nContent-Length: 3\r\n\r\none\r\n\r\nWARC/1.0\r\nWARC-Type: response\r\nContent-Length: 46\r\n\r\nHTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\ntwo\r\n\r\n",
        std::string("\x1f\x8b\x08\0\0\0\0\0\0\x03\xcb\xe4\x02\0\x5a\xd5\xa6\x5b\x02\0\0\0", 22),
        std::string("\x28\xb5\x2f\xfd\x04\x58\x11\0\0\x61\x0a\x5a\xd5\xa6\x5b", 15),
        std::string(
            "\xfd\x37\x7a\x58\x5a\x00\x00\x04\xe6\xd6\xb4\x46\x02\x00\x21\x01\x16\x00\x00\x00\x74\x2f\xe5\xa3\xe0\x00\x0b\x00\x09\x5d\x00\x30\x82\x88\x6d\x36\x36\x71\xe8\x00\x00\x00\x00\x00\x39\xb9\xda\x94\x08\x29\xb1\x2f\x00\x01\x25\x0c\xe7\x29\xc3\xc1\x1f\xb6\xf3\x7d\x01\x00\x00\x00\x00\x04\x59\x5a",
            72),
        std::string(
            "\x42\x5a\x68\x39\x31\x41\x59\x26\x53\x59\x3c\x85\x41\x12\x00\x00\x01\x41\x00\x00\x10\x30\x00\x20\x00\x30\xcc\x0c\x7a\x82\x71\x77\x24\x53\x85\x09\x03\xc8\x54\x11\x20",
            41) };
}
