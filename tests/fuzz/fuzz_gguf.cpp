// A GGUF from hostile bytes: refused with a sentence, or read to a model and a tokenizer that can be used. Its blocks
// are any bytes.

#include "core/base/check.h"
#include "core/data/tokenizer/gguf_pieces.h"
#include "core/data/tokenizer/gguf_tokenizer.h"
#include "core/data/tokenizer/tokenizer.h"
#include "core/model/gguf/gguf_blocks.h"
#include "core/model/gguf/gguf_model.h"
#include "tests/fakes/small_gguf.h"
#include "tests/fuzz/fuzz_seeds.h"

using namespace furrow;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    (void)readPieceList(bytes);
    const auto file = parseGgufBytes(bytes);
    if (!file.ok())
        return 0;
    for (const GgufTensor& tensor : file.value().tensors) {
        FURROW_CHECK(tensor.offset + tensor.sizeBytes <= size, "a tensor lies after the end of its file");
        const GgufTypeRow& row = rowOf(tensor.type);
        std::vector<float> numbers(tensor.sizeBytes / row.blockBytes * row.blockNumbers);
        readBlocks(tensor.type, std::as_bytes(std::span(bytes)).subspan(tensor.offset, tensor.sizeBytes), numbers);
    }
    if (const auto model = ggufModelOf(file.value(), {}); model.ok())
        FURROW_CHECK(model.value().layout.config.validate().empty(), "a model that cannot be built was read");
    if (const auto files = ggufTokenizerFiles(file.value()); files.ok()) {
        const bool isJson = files.value().contains("tokenizer.json");
        (void)loadTokenizerDefinition(files.value().at(isJson ? "tokenizer.json" : "tokenizer.model"), "fuzzed");
    }
    return 0;
}

std::vector<std::string> fuzzSeeds()
{
    SmallGguf pieces(GgufType::Q8_0);
    pieces.metadata["tokenizer.ggml.model"] = "llama";
    pieces.metadata["tokenizer.ggml.scores"] = { 0.0, -1.0, -2.0, -3.0, -4.0, -5.0, -6.0, -7.0, -8.0, -9.0 };
    pieces.metadata["tokenizer.ggml.token_type"] = { 2, 3, 1, 1, 1, 1, 1, 1, 1, 6 };
    const auto files = ggufTokenizerFiles(parseGgufBytes(pieces.bytes()).value());
    return { SmallGguf().bytes().substr(0, 4096), SmallGguf(GgufType::Q4_1).bytes(), pieces.bytes(),
        files.value().at("tokenizer.model") };
}
