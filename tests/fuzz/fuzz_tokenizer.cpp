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
    const std::string text
        = "I'll say  it's 12345\r\n\xC3\xA9\xE2\x96\x81\xFF<a></a> \t" + std::string(bytes.substr(0, 200));
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
        R"({"added_tokens":[{"id":5,"content":"</s>","special":true}],"normalizer":{"type":"Sequence","normalizers":[{"type":"NFC"},{"type":"Prepend","prepend":"_"}]},)"
        R"("pre_tokenizer":{"type":"Sequence","pretokenizers":[{"type":"Split","pattern":{"Regex":"\\\\s+"},"behavior":"Isolated","invert":false},{"type":"Digits","individual_digits":true}]},)"
        R"("decoder":{"type":"Replace","pattern":{"String":"_"},"content":" "},"model":{"type":"BPE","unk_token":"?","byte_fallback":true,"vocab":{"a":0,"b":1,"ab":2,"?":3,"<0x0A>":4},"merges":[["a","b"]]}})",
        R"({"normalizer":{"type":"BertNormalizer"},"pre_tokenizer":{"type":"BertPreTokenizer"},"decoder":{"type":"WordPiece","prefix":"##","cleanup":true},)"
        R"("added_tokens":[{"id":3,"content":"Ab","normalized":true,"lstrip":true,"rstrip":true,"single_word":true}],)"
        R"("model":{"type":"WordPiece","unk_token":"?","max_input_chars_per_word":9,"vocab":{"?":0,"i":1,"##a":2}}})",
        R"({"normalizer":{"type":"Sequence","normalizers":[{"type":"Precompiled","precompiled_charsmap":"DAAAAAEFAABhCAAAYgQAgHgAeQA="},{"type":"Strip","strip_left":true,"strip_right":false},)"
        R"({"type":"Replace","pattern":{"Regex":" {2,}"},"content":"_"},{"type":"StripAccents"},{"type":"Lowercase"},{"type":"Nmt"},{"type":"ByteLevel"}]},)"
        R"("pre_tokenizer":{"type":"Metaspace","replacement":"_","prepend_scheme":"first"},"decoder":{"type":"Sequence","decoders":[{"type":"ByteFallback"},{"type":"Fuse"},{"type":"Strip","content":" ","start":1,"stop":1}]},)"
        R"("model":{"type":"Unigram","unk_id":0,"byte_fallback":true,"vocab":[["?",0],["a",-1],["ab",-1.5],["<0x41>",-9]]}})",
        R"({"pre_tokenizer":{"type":"Sequence","pretokenizers":[{"type":"Whitespace"},{"type":"Punctuation","behavior":"MergedWithNext"},{"type":"UnicodeScripts"},{"type":"FixedLength","length":2},)"
        R"({"type":"CharDelimiterSplit","delimiter":"t"},{"type":"WhitespaceSplit"},{"type":"ByteLevel","use_regex":true},{"type":"Digits"}]},"decoder":{"type":"BPEDecoder","suffix":"</w>"},)"
        R"("model":{"type":"WordLevel","unk_token":"?","vocab":{"?":0,"it":1}}})" };
}
