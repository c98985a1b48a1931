#include "core/base/check.h"
#include "core/data/tokenizer/bpe_trainer.h"
#include "core/data/tokenizer/tokenizer.h"
#include "tests/fuzz/fuzz_seeds.h"

// Any bytes as a tokenizer definition; one that loads must encode any text to ids below its size, and load again from
// its own definition with the same hash.

using namespace furrow;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    if (!bytes.empty() && bytes[0] == '\n')
        return 0; // a sentencepiece model starts so; its parser is a library's
    const auto loaded = loadTokenizerDefinition(bytes, "fuzz");
    if (!loaded.ok())
        return 0;
    const auto& tokenizer = *loaded.value();
    std::vector<TokenId> ids;
    const std::string text = "I'll say  it's 12345\r\n\xC3\xA9\xE2\x96\x81\xFF<a></a> \t" + std::string(bytes.substr(0, 200));
    (void)tokenizer.encode(text, ids); // a pattern that backtracks too far is an error, and its ids are none
    (void)tokenizer.encodeMatchingSpecial(text, ids);
    for (const auto id : ids)
        FURROW_CHECK(id < tokenizer.vocabularySize(), "an id lies outside the vocabulary");
    ids.push_back(tokenizer.endOfText());
    (void)tokenizer.decode(ids);
    const auto again = loadTokenizerDefinition(tokenizer.definition(), "fuzz");
    FURROW_CHECK(again.ok() && again.value()->hash() == tokenizer.hash(), "the definition does not load again");
    return 0;
}

std::vector<std::string> fuzzSeeds()
{
    BpeTrainer trainer;
    trainer.add("low lower lowest newest widest it's 12345\n");
    trainer.add("low lower lowest newest widest it's 12345\n");
    return { trainer.train({ 300, 2 }).value(), "byte\n", "IQ== 0\nIg== 1\nISI= 2\n",
        R"({"added_tokens":[{"id":4,"content":"</s>","special":true}],"normalizer":{"type":"Sequence","normalizers":[{"type":"NFC"},{"type":"Prepend","prepend":"_"}]},)"
        R"("pre_tokenizer":{"type":"Sequence","pretokenizers":[{"type":"Split","pattern":{"Regex":"\\\\s+"},"behavior":"Isolated","invert":false},{"type":"Digits","individual_digits":true}]},)"
        R"("decoder":{"type":"Replace","pattern":{"String":"_"},"content":" "},"model":{"type":"BPE","unk_token":"?","byte_fallback":true,"vocab":{"a":0,"b":1,"ab":2,"?":3,"<0x0A>":5},"merges":[["a","b"]]}})" };
}
