#include "core/data/block_preparer.h"
#include "core/data/block/chunk_windows.h"
#include "core/data/plan/held_out.h"
#include "core/data/overlap.h"
#include "core/data/probe.h"
#include "core/data/plan/sample_encoder.h"
#include "chat_tokenizer.h"
#include "data_fixture.h"

#include <QtTest>

using namespace furrow;

namespace {

std::string turn(const std::string& asked, const std::string& answer)
{
    return "{\"messages\":[{\"role\":\"user\",\"content\":\"" + asked + "\"},{\"role\":\"assistant\",\"content\":\""
        + answer + "\"}]}\n";
}

RunConfig chatConfig(const std::string& file)
{
    RunConfig config = test::configFor({ file });
    config.chatTemplate = "chatml";
    return config;
}

/// What is learnt of a sample, as text.
std::string learntText(const ChunkText& chunk, std::size_t sample)
{
    std::vector<TokenId> learnt;
    for (auto i = chunk.offsets[sample]; i < chunk.offsets[sample + 1]; ++i)
        if (chunk.learnt[i] != 0)
            learnt.push_back(chunk.tokens[i]);
    return byteTokenizer()->decode(learnt);
}

struct Prepared {
    std::vector<ChunkText> chunks;
    std::vector<ChunkSummary> summaries;
    std::vector<RowIssue> issues;
    std::string digest;
};

Result<Prepared> prepared(const RunConfig& config, const std::filesystem::path& cache)
{
    FURROW_TRY_ASSIGN(auto manager, test::openManager(config, cache));
    FURROW_TRY_ASSIGN(const auto blocks, test::planAll(manager));
    Prepared all;
    for (const auto& planned : blocks) {
        FURROW_TRY_ASSIGN(const auto file, manager.prepare(planned));
        FURROW_TRY_ASSIGN(const auto block, PreparedBlock::open(BlockManager::blockFolder(cache) / file.fileName));
        FURROW_TRY(block.verify());
        all.digest += block.digest();
        all.issues.insert(all.issues.end(), block.issues().begin(), block.issues().end());
        for (int column = 0; column < block.chunkCount(); ++column) {
            FURROW_TRY_ASSIGN(auto chunk, block.readChunk(column));
            all.chunks.push_back(std::move(chunk));
            all.summaries.push_back(block.summary(column));
        }
    }
    return all;
}

ChunkSummary sumOf(const std::vector<ChunkSummary>& all)
{
    ChunkSummary sum;
    for (const auto& one : all) {
        sum.rows += one.rows;
        sum.samples += one.samples;
        sum.filtered += one.filtered;
        sum.failed += one.failed;
        sum.heldOut += one.heldOut;
        sum.duplicates += one.duplicates;
        sum.tokens += one.tokens;
        sum.learnt += one.learnt;
        sum.tooLong += one.tooLong;
    }
    return sum;
}

} // namespace

/// Conversations as samples: rows, blocks, windows, held-out text, prompts.
class TestConversations : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void writesSpecialTokensAsTheirIds()
    {
        const auto tokenizer = test::chatTokenizer();
        QVERIFY(tokenizer);
        DataManifest manifest;
        manifest.chat = ChatFormat { kChatMl, {}, 0 };
        const auto encoder = SampleEncoder::open({}, manifest, *tokenizer);
        QVERIFY(encoder.ok());
        const auto sample = encoder.value().encode(conversationOf({ { "user", "Hi" }, { "assistant", "lo" } }), true);
        QVERIFY(sample.ok());
        QVERIFY2(sample.value().problem.empty(), sample.value().problem.c_str());
        const auto& tokens = sample.value().tokens;
        QCOMPARE(std::count(tokens.begin(), tokens.end(), 1u), 2);
        QCOMPARE(std::count(tokens.begin(), tokens.end(), 2u), 2);
        std::vector<TokenId> learnt;
        for (std::size_t i = 0; i < tokens.size(); ++i)
            if (sample.value().learnt[i] != 0)
                learnt.push_back(tokens[i]);
        QCOMPARE(learnt, (std::vector<TokenId> { 5, 2 })); // "lo" and what ends the turn
        QVERIFY(unknownTokens(*manifest.chat, *tokenizer).empty());
        QCOMPARE(unknownTokens(*manifest.chat, *byteTokenizer()).size(), std::size_t(2));
    }

    void keepsTokensAndWhatIsLearntInBlocks()
    {
        test::DataFolder folder;
        const auto file = folder.write("a.jsonl", turn("A", "bcd") + turn("E", "f"));
        const auto got = prepared(chatConfig(file), folder.path("cache"));
        QVERIFY2(got.ok(), got.ok() ? "" : got.error().message.c_str());
        std::vector<std::string> learnt, texts;
        for (const auto& chunk : got.value().chunks)
            for (std::int64_t i = 0; i < chunk.count(); ++i) {
                learnt.push_back(learntText(chunk, static_cast<std::size_t>(i)));
                texts.push_back(test::sampleText(chunk, static_cast<std::size_t>(i)));
            }
        QCOMPARE(learnt, (std::vector<std::string> { "bcd<|im_end|>", "f<|im_end|>" }));
        QCOMPARE(texts.front(), "<|im_start|>user\nA<|im_end|>\n<|im_start|>assistant\nbcd<|im_end|>\n");
        const auto sum = sumOf(got.value().summaries);
        QCOMPARE(sum.samples, 2);
        QCOMPARE(sum.learnt, std::int64_t(13 + 11));
        QVERIFY(sum.tokens > sum.learnt);
    }

    void aBlockWithAnotherMaskIsAnotherBlock()
    {
        test::DataFolder folder;
        const std::string two = R"({"messages":[{"role":"user","content":"A"},{"role":"assistant","content":"b"},)"
                                R"({"role":"user","content":"C"},{"role":"assistant","content":"d"}]})";
        auto config = chatConfig(folder.write("a.jsonl", two + "\n"));
        const auto all = prepared(config, folder.path("cache"));
        const auto again = prepared(config, folder.path("other"));
        config.chatLoss = LearntTurns::Last;
        const auto last = prepared(config, folder.path("cache"));
        QVERIFY(all.ok() && again.ok() && last.ok());
        QCOMPARE(all.value().digest, again.value().digest);
        QVERIFY(all.value().digest != last.value().digest);
        QCOMPARE(learntText(all.value().chunks[0], 0), "b<|im_end|>d<|im_end|>");
        QCOMPARE(learntText(last.value().chunks[0], 0), "d<|im_end|>");
        QCOMPARE(all.value().chunks[0].fingerprints, last.value().chunks[0].fingerprints);
    }

    void countsBadConversationsWithTheirReason()
    {
        test::DataFolder folder;
        const auto file = folder.write("a.jsonl",
            turn("A", "b") + R"({"messages":[{"role":"user","content":"only asked"}]})" + "\n" + turn("C", "") + "{\n"
                + turn("D", "e"));
        const auto got = prepared(chatConfig(file), folder.path("cache"));
        QVERIFY2(got.ok(), got.ok() ? "" : got.error().message.c_str());
        const auto sum = sumOf(got.value().summaries);
        QCOMPARE(sum.rows, 5);
        QCOMPARE(sum.samples, 2);
        QCOMPARE(sum.failed, 3);
        QCOMPARE(got.value().issues.size(), std::size_t(3));
        QCOMPARE(got.value().issues[0].what, "has no turn of the assistant");
        QCOMPARE(got.value().issues[1].what, "has a message 2 of the assistant without text");
        QVERIFY(got.value().issues[2].what.starts_with("is broken JSON"));
    }

    void countsWhatTheTemplateRefuses()
    {
        test::DataFolder folder;
        const auto file = folder.write("a.jsonl", turn("A", "b") + turn("no", "b"));
        auto config = chatConfig(file);
        config.chatTemplate = folder.write("t.jinja",
            "{% if messages[0].content == 'no' %}{{ raise_exception('never no') }}{% endif %}{{ messages[0].content }}"
            "{% if messages|length > 1 %}:{{ messages[1].content }}{% elif add_generation_prompt %}:{% endif %}");
        const auto got = prepared(config, folder.path("cache"));
        QVERIFY2(got.ok(), got.ok() ? "" : got.error().message.c_str());
        const auto sum = sumOf(got.value().summaries);
        QCOMPARE(sum.samples, 1);
        QCOMPARE(sum.failed, 1);
        QCOMPARE(got.value().issues.size(), std::size_t(1));
        QVERIFY(got.value().issues[0].what.find("never no") != std::string::npos);
        QCOMPARE(got.value().issues[0].row, 1);
        QCOMPARE(learntText(got.value().chunks[0], 0), "b");
        config.data = { folder.write("b.jsonl", turn("no", "b")) };
        const auto none = inspectData(config);
        QVERIFY(!none.ok());
        QVERIFY2(none.error().message.find("never no") != std::string::npos, none.error().message.c_str());
        config.data = { folder.write("c.jsonl",
            R"({"messages":[{"role":"user","content":"only asked"}]})"
            "\n") };
        const auto unanswered = inspectData(config);
        QVERIFY(!unanswered.ok());
        QVERIFY2(unanswered.error().message.find("the first one has no turn of the assistant") != std::string::npos,
            unanswered.error().message.c_str());
    }

    void splitsCutsOrLeavesOutLongSamples()
    {
        test::DataFolder folder;
        const std::string start = "<|im_start|>user\nA<|im_end|>\n<|im_start|>assistant\n";
        auto config = chatConfig(folder.write(
            "a.jsonl", turn("A", "b") + turn("A", std::string(100, 'c')) + turn(std::string(200, 'a'), "late")));
        config.seqLen = static_cast<std::int64_t>(start.size()) + 30;
        const auto split = prepared(config, folder.path("cache"));
        config.longSamples = LongSamples::Cut;
        const auto cut = prepared(config, folder.path("cache"));
        config.longSamples = LongSamples::LeaveOut;
        const auto out = prepared(config, folder.path("cache"));
        QVERIFY(split.ok() && cut.ok() && out.ok());
        QCOMPARE(sumOf(split.value().summaries).samples, 3);
        QCOMPARE(sumOf(split.value().summaries).tooLong, 0);
        QCOMPARE(sumOf(cut.value().summaries).samples, 2); // of the third nothing to learn would be left
        QCOMPARE(sumOf(cut.value().summaries).filtered, 1);
        QCOMPARE(sumOf(cut.value().summaries).tooLong, 2);
        QCOMPARE(sumOf(out.value().summaries).samples, 1);
        QCOMPARE(sumOf(out.value().summaries).filtered, 2);
        QCOMPARE(sumOf(out.value().summaries).tooLong, 2);
        for (const auto& chunk : cut.value().chunks)
            for (std::size_t i = 0; i < chunk.flags.size(); ++i)
                QVERIFY(static_cast<std::int64_t>(chunk.offsets[i + 1] - chunk.offsets[i]) < config.seqLen);
    }

    void masksLabelsInTheirPlaces()
    {
        test::DataFolder folder;
        const auto got
            = prepared(chatConfig(folder.write("a.jsonl", turn("A", "bcd") + turn("EE", "f") + turn("G", "hi"))),
                folder.path("c"));
        QVERIFY(got.ok());
        for (const auto& chunk : got.value().chunks)
            for (const std::int64_t seqLen : { 3, 16, 500 }) {
                ChunkText plain = chunk;
                plain.learnt.clear();
                const ChunkWindows masked(chunk, 256, { seqLen }, { 1, 0, 0, 0, true });
                const ChunkWindows all(plain, 256, { seqLen }, { 1, 0, 0, 0, true });
                QCOMPARE(masked.count(), all.count());
                std::int64_t learnt = 0;
                for (int w = 0; w < masked.count(); ++w) {
                    const auto size = static_cast<std::size_t>(seqLen);
                    std::vector<std::int64_t> inputs(size), labels(size), sameInputs(size), allLabels(size);
                    masked.fill(w, 1, inputs.data(), labels.data());
                    all.fill(w, 1, sameInputs.data(), allLabels.data());
                    QCOMPARE(inputs, sameInputs);
                    QCOMPARE(masked.labelCount(w), all.labelCount(w));
                    QCOMPARE(all.learntCount(w), all.labelCount(w));
                    std::int64_t here = 0;
                    for (std::size_t i = 0; i < size; ++i) {
                        QVERIFY(labels[i] == -1 || labels[i] == allLabels[i]);
                        here += labels[i] != -1;
                    }
                    QCOMPARE(masked.learntCount(w), here);
                    learnt += here;
                }
                QCOMPARE(learnt, std::count(chunk.learnt.begin(), chunk.learnt.end(), 1));
            }
    }

    void conversationsOfAWindowAreApart()
    {
        test::DataFolder folder;
        const auto got
            = prepared(chatConfig(folder.write("a.jsonl", turn("A", "bcd") + turn("EE", "f") + turn("G", "hi"))),
                folder.path("c"));
        QVERIFY(got.ok());
        for (const bool isChat : { true, false })
            for (ChunkText chunk : got.value().chunks) {
                if (!isChat)
                    chunk.learnt.clear();
                std::vector<std::size_t> begins; // of the documents in the stream that starts with an end-of-text
                for (std::size_t i = 0; i < chunk.offsets.size(); ++i)
                    begins.push_back(chunk.offsets[i] + i + (isChat ? 1 : 0));
                for (const std::int64_t seqLen : { 3, 16, 500 }) {
                    const PackingOrder asItStands { .shuffle = false };
                    const ChunkWindows automatic(chunk, 256, { seqLen, DocumentMasks::Auto }, asItStands);
                    QCOMPARE(automatic.masksDocuments(), isChat);
                    const ChunkWindows apart(chunk, 256, { seqLen, DocumentMasks::On }, asItStands);
                    const auto size = static_cast<std::size_t>(apart.count() * seqLen);
                    std::vector<std::int64_t> inputs(size), labels(size), places(size), expected(size);
                    apart.fill(0, apart.count(), inputs.data(), labels.data());
                    apart.places(0, apart.count(), places.data());
                    for (std::size_t i = 0; i < size; ++i) {
                        const bool begin = i % static_cast<std::size_t>(seqLen) == 0
                            || std::find(begins.begin(), begins.end(), i) != begins.end();
                        expected[i] = begin ? 0 : expected[i - 1] + 1;
                        if (isChat && inputs[i] == 256) // what comes next is not learnt from the one before
                            QCOMPARE(labels[i], -1);
                    }
                    QCOMPARE(places, expected);
                    std::vector<std::int64_t> last(static_cast<std::size_t>(seqLen));
                    apart.places(apart.count() - 1, 1, last.data());
                    QVERIFY(std::equal(last.begin(), last.end(), places.end() - seqLen));
                }
            }
    }

    void findsDuplicatesAcrossForms()
    {
        test::DataFolder folder;
        auto config = chatConfig(folder.write("a.jsonl", turn("A", "b") + turn("A", "b") + turn("A", "c")));
        config.data.push_back(folder.write("b.jsonl",
            R"({"conversations":[{"from":"human","value":"A"},{"from":"gpt","value":"b"}]})"
            "\n"));
        config.duplicates = Duplicates::Skip;
        const auto got = prepared(config, folder.path("cache"));
        QVERIFY2(got.ok(), got.ok() ? "" : got.error().message.c_str());
        QCOMPARE(sumOf(got.value().summaries).samples, 2);
        QCOMPARE(sumOf(got.value().summaries).duplicates, 2);
    }

    void readsConversationsFromCsvAndLists()
    {
        test::DataFolder folder;
        auto config = chatConfig(folder.write("a.csv", "instruction,input,output\nAdd,\"1, 2\",3\n"));
        const auto csv = prepared(config, folder.path("cache"));
        QVERIFY2(csv.ok(), csv.ok() ? "" : csv.error().message.c_str());
        QCOMPARE(test::sampleText(csv.value().chunks[0], 0),
            "<|im_start|>user\nAdd\n1, 2<|im_end|>\n<|im_start|>assistant\n3<|im_end|>\n");
        config.data = { folder.write("b.json", "[" + turn("A", "b") + "," + turn("C", "d") + "]") };
        QCOMPARE(sumOf(prepared(config, folder.path("cache")).value().summaries).samples, 2);
        config.data = { folder.write("a.json", "{\"data\":[" + turn("A", "b") + "," + turn("C", "d") + "]}") };
        config.textColumn = "data[].messages";
        const auto list = prepared(config, folder.path("cache"));
        QVERIFY2(list.ok(), list.ok() ? "" : list.error().message.c_str());
        QCOMPARE(sumOf(list.value().summaries).samples, 2);
    }

    void staysPlainTextWithoutATemplate()
    {
        test::DataFolder folder;
        auto config = test::configFor({ folder.write("a.jsonl", turn("A", "b")) });
        const auto inspection = inspectData(config);
        QVERIFY(inspection.ok());
        QCOMPARE(inspection.value().firstRows.front(), "A\nb");
        QVERIFY(std::any_of(inspection.value().reading.begin(), inspection.value().reading.end(),
            [](const std::string& said) { return said.find("chat_template") != std::string::npos; }));
        config.chatTemplate = "chatml";
        config.textColumn = "messages[].content";
        QCOMPARE(inspectData(config).value().firstRows.front(), "A\nb");
        const auto got = prepared(config, folder.path("cache"));
        QVERIFY(got.ok() && got.value().chunks[0].learnt.empty());
    }

    void freezesHeldOutConversationsWithWhatIsLearnt()
    {
        test::DataFolder folder;
        std::string rows;
        for (int i = 0; i < 100; ++i)
            rows += turn("Q" + std::to_string(i), "a" + std::to_string(i));
        auto config = chatConfig(folder.write("a.jsonl", rows));
        config.heldOutPercent = 20;
        const auto inspection = inspectData(config);
        QVERIFY(inspection.ok());
        QVERIFY(freezeHeldOut(config, inspection.value().manifest, *byteTokenizer(), folder.path("held.bin")).ok());
        const auto set = readHeldOut(folder.path("held.bin"));
        QVERIFY2(set.ok(), set.ok() ? "" : set.error().message.c_str());
        QVERIFY(set.value().text.count() > 5);
        QCOMPARE(set.value().text.learnt.size(), set.value().text.tokens.size());
        QVERIFY(learntText(set.value().text, 0).starts_with("a"));
        // "none is trained as well" was said of conversations that all were
        config.heldOutPercent = 0;
        const auto overlap
            = overlapWithTraining(config, inspectData(config).value().manifest, set.value().text.fingerprints, 1 << 20);
        QVERIFY(overlap.ok());
        QCOMPARE(overlap.value().seen, set.value().text.count());
        QVERIFY(learntText(set.value().text, 0).ends_with("<|im_end|>"));
        std::string bytes;
        std::ifstream(folder.path("held.bin"), std::ios::binary) >> std::noskipws;
        std::ifstream in(folder.path("held.bin"), std::ios::binary);
        bytes.assign(std::istreambuf_iterator<char>(in), {});
        for (std::size_t n = 0; n < bytes.size(); n += 7)
            QVERIFY(!readHeldOut(folder.write("cut.bin", bytes.substr(0, n))).ok());
    }

    void probesAsTheModelWillSeeIt()
    {
        test::DataFolder folder;
        const auto probe = probeData(
            chatConfig(folder.write("a.jsonl", turn("A", "b") + "{\"messages\":[]}\n")), *byteTokenizer(), 500);
        QVERIFY2(probe.ok(), probe.ok() ? "" : probe.error().message.c_str());
        const auto& i = probe.value().inspection;
        QCOMPARE(i.conversations, "messages");
        QCOMPARE(markedText(i.firstRows[0], i.firstLearnt[0]),
            "<|im_start|>user\nA<|im_end|>\n<|im_start|>assistant\n«b<|im_end|>»\n");
        QCOMPARE(probe.value().sampledFailed, 1);
        QVERIFY2(probe.value().firstFailure.starts_with("row 1 (line 2) of ")
                && probe.value().firstFailure.ends_with("a.jsonl has no messages in messages"),
            probe.value().firstFailure.c_str());
        QVERIFY(probe.value().learntShare > 0 && probe.value().learntShare < 0.5);
    }

    void findsTheTokensOfAStretchWithoutTheirBytes()
    {
        // sentencepiece and the like: what is decoded is not what was encoded
        class Shouting : public Tokenizer {
        public:
            std::string name() const override { return "shouting"; }
            std::string hash() const override { return "0"; }
            std::uint32_t vocabularySize() const override { return 256; }
            TokenId endOfText() const override { return 0; }
            Status encode(std::string_view text, std::vector<TokenId>& out) const override
            {
                for (std::size_t i = 0; i < text.size(); i += 2) // pairs of characters
                    out.push_back(static_cast<TokenId>(text[i])
                        + (i + 1 < text.size() ? static_cast<TokenId>(text[i + 1]) * 7 : 0));
                return {};
            }
            std::string decode(std::span<const TokenId>) const override { return "X"; }
            std::string definition() const override { return ""; }
        } shouting;
        std::vector<TokenId> tokens;
        QVERIFY(shouting.encode("abcdefgh", tokens).ok());
        const auto inside = tokensIn({ { 2, 5 } }, "abcdefgh", tokens, shouting); // "cde": the last one is half of "ef"
        QCOMPARE(inside.value(), (std::vector<std::uint8_t> { 0, 1, 1, 0 }));
    }
};

QTEST_GUILESS_MAIN(TestConversations)
#include "tst_conversations.moc"
