// Answers tests/oracle/gguf_files.py:
//   gguf_tensors read FILE OUT          writes all tensors to OUT as float32, in the order of their places; prints the
//                                       metadata, and names, shapes and types of the tensors, as JSON
//   gguf_tensors pack TYPE FLOATS OUT   writes the float32 of a file as blocks of a type

#include "core/base/file_system.h"
#include "core/model/gguf/gguf_blocks.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>

namespace {

using namespace furrow;

int fail(const Error& error)
{
    std::fprintf(stderr, "%s\n", error.message.c_str());
    return 1;
}

int read(const std::filesystem::path& path, const char* out)
{
    const auto header = readGguf(path);
    const auto file = RandomAccessFile::open(path);
    if (!header.ok() || !file.ok())
        return fail(header.ok() ? file.error() : header.error());
    std::ofstream to(out, std::ios::binary);
    nlohmann::json tensors = nlohmann::json::array();
    for (const GgufTensor& tensor : header.value().tensors) {
        std::vector<std::byte> stored(tensor.sizeBytes);
        if (const Status status = file.value().readAt(tensor.offset, stored); !status.ok())
            return fail(status.error());
        const GgufTypeRow& row = rowOf(tensor.type);
        std::vector<float> numbers(tensor.sizeBytes / row.blockBytes * row.blockNumbers);
        readBlocks(tensor.type, stored, numbers);
        to.write(reinterpret_cast<const char*>(numbers.data()),
            static_cast<std::streamsize>(numbers.size() * sizeof(float)));
        tensors.push_back({ { "name", tensor.name }, { "shape", tensor.shape }, { "type", nameOf(tensor.type) } });
    }
    const nlohmann::json all = { { "metadata", header.value().metadata }, { "tensors", tensors } };
    std::puts(all.dump().c_str());
    return 0;
}

int pack(const std::string& name, const std::filesystem::path& from, const char* out)
{
    const auto type = closedValue<GgufType>(name);
    const auto bytes = readFile(from);
    if (!type || !bytes.ok())
        return 2;
    const GgufTypeRow& row = rowOf(*type);
    std::vector<float> numbers(bytes.value().size() / sizeof(float));
    std::memcpy(numbers.data(), bytes.value().data(), numbers.size() * sizeof(float));
    std::vector<std::byte> blocks(numbers.size() / row.blockNumbers * row.blockBytes);
    if (!writeBlocks(*type, numbers, blocks))
        std::fputs("not all are finite\n", stderr);
    std::ofstream(out, std::ios::binary)
        .write(reinterpret_cast<const char*>(blocks.data()), static_cast<std::streamsize>(blocks.size()));
    return 0;
}

} // namespace

int main(int argc, char** argv)
{
    if (argc == 4 && std::string(argv[1]) == "read")
        return read(argv[2], argv[3]);
    return argc == 5 && std::string(argv[1]) == "pack" ? pack(argv[2], argv[3], argv[4]) : 2;
}
