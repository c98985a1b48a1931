// Pairs of answers as samples: rows, blocks, windows, and what is refused before a run begins.

#include "core/chat/answer_pair.h"
#include "core/data/block/chunk_windows.h"
#include "core/data/plan/held_out.h"
#include "core/data/plan/sample_encoder.h"
#include "core/data/probe.h"
#include "chat_tokenizer.h"
#include "data_fixture.h"

#include <QtTest>

using namespace furrow;

namespace {

std::string texts(const std::string& prompt, const std::string& chosen, const std::string& rejected)
{
    return "{\"prompt\":\"" + prompt + "\",\"chosen\":\"" + chosen + "\",\"rejected\":\"" + rejected + "\"}\n";
}

std::string messages(const std::string& asked, const std::string& chosen, const std::string& rejected)
{
    const auto answer = [](const std::string& text) { return R"([{"role":"assistant","content":")" + text + "\"}]"; };
    return R"({"prompt":[{"role":"user","content":")" + asked + "\"}],\"chosen\":" + answer(chosen)
        + ",\"rejected\":" + answer(rejected) + "}\n";
}

RunConfig pairConfig(const std::string& file)
{
    RunConfig config = test::configFor({ file });
    config.objective = Objective::Dpo;
    config.seqLen = 64;
    config.chunkSamples = 100;
    return config;
}

struct Prepared {
    ChunkText text;
    ChunkSummary summary;
    std::vector<RowIssue> issues;
    std::string digest;
};

Result<Prepared> prepared(const RunConfig& config, const std::filesystem::path& cache)
{
    FURROW_TRY_ASSIGN(auto manager, test::openManager(config, cache, 100)); // all in one block, and in one chunk
    FURROW_TRY_ASSIGN(const auto blocks, test::planAll(manager));
    FURROW_TRY_ASSIGN(const auto file, manager.prepare(blocks.front()));
    FURROW_TRY_ASSIGN(const auto block, PreparedBlock::open(BlockManager::blockFolder(cache) / file.fileName));
    FURROW_TRY(block.verify());
    FURROW_TRY_ASSIGN(auto text, block.readChunk(0));
    return Prepared { std::move(text), block.summary(0), block.issues(), block.digest() };
}

std::string why(const RunConfig& config)
{
    const auto inspected = inspectData(config);
    return inspected.ok() ? "it is not refused" : std::string(inspected.error().message);
}

/// Bytes of a side, with those that are learnt in brackets.
std::string sideOf(const ChunkText& text, std::size_t sample, bool isRejected)
{
    const auto middle = text.offsets[sample] + static_cast<std::uint64_t>(pairMiddle(text, sample));
    std::string side;
    bool isLearnt = false;
    for (auto i = isRejected ? middle : text.offsets[sample]; i < (isRejected ? text.offsets[sample + 1] : middle);
        ++i) {
        side += text.learnt[i] != 0 && !isLearnt ? "[" : "";
        isLearnt = text.learnt[i] != 0;
        side += text.tokens[i] == byteTokenizer()->endOfText() ? "$" : byteTokenizer()->decode({ &text.tokens[i], 1 });
    }
    return side + (isLearnt ? "]" : "");
}

} // namespace

class TestAnswerPairs : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void keepsBothAnswersWithTheirPrompt()
    {
        test::DataFolder folder;
        const auto file = folder.write("a.jsonl", texts("Sky? ", "blue", "green") + texts("", "ab", "cd"));
        const auto got = prepared(pairConfig(file), folder.path("cache"));
        QVERIFY2(got.ok(), got.ok() ? "" : got.error().message.c_str());
        const auto& [text, summary, issues, digest] = got.value();
        QCOMPARE(summary.samples, 2);
        QCOMPARE(sideOf(text, 0, false), "Sky? [blue$]");
        QCOMPARE(sideOf(text, 0, true), "Sky? [green$]");
        QCOMPARE(sideOf(text, 1, false), "a[b$]"); // nothing stands before the first token
        QCOMPARE(sideOf(text, 1, true), "c[d$]");
        QCOMPARE(summary.learnt, std::int64_t(5 + 6 + 2 + 2));
    }

    void anAnswerBeginsWhereTokensDiffer()
    {
        const auto tokenizer = test::chatTokenizer();
        DataManifest manifest;
        manifest.chat = ChatFormat { kChatMl, {}, 0 };
        RunConfig config;
        config.objective = Objective::Dpo;
        config.seqLen = 200;
        const auto encoder = SampleEncoder::open(config, manifest, *tokenizer);
        QVERIFY(encoder.ok());
        std::string pair;
        QCOMPARE(readConversation(messages("Hi", "lo", "no"), { ConversationForm::PairOfMessages, "chosen" }, pair),
            std::string());
        const auto sample = encoder.value().encode(pair, true);
        QVERIFY(sample.ok());
        QVERIFY2(sample.value().problem.empty(), sample.value().problem.c_str());
        const auto& [tokens, learnt, isTooLong, isLeftOut, dropped, problem] = sample.value();
        std::vector<TokenId> counted;
        for (std::size_t i = 0; i < tokens.size(); ++i)
            if (learnt[i] != 0)
                counted.push_back(tokens[i]);
        // "lo", what ends the turn and a line; "n", "o", the same.
        QCOMPARE(counted, (std::vector<TokenId> { 5, 2, 3, 'n', 'o', 2, 3 }));
        // The prompt and the answer share a token: it belongs to the answer, in both.
        const auto joined = encoder.value().encode(R"({"prompt":"l","chosen":"o","rejected":"x"})", true);
        QVERIFY(joined.ok());
        QCOMPARE(joined.value().tokens, (std::vector<TokenId> { 5, 0, 'l', 'x', 0 }));
        QCOMPARE(joined.value().learnt, (std::vector<std::uint8_t> { 0, 1, 0, 1, 1 }));
    }

    void liesWholeInAWindowAsTwoDocuments()
    {
        test::DataFolder folder;
        const auto file = folder.write("a.jsonl", texts("ab", "c", "de") + texts("f", "gh", "i"));
        auto config = pairConfig(file);
        config.seqLen = 32;
        const auto got = prepared(config, folder.path("cache"));
        QVERIFY2(got.ok(), got.ok() ? "" : got.error().message.c_str());
        const ChunkText& text = got.value().text;
        const ChunkWindows windows(text, 256, windowRules(config), { .shuffle = false });
        QCOMPARE(windows.count(), 1);
        QCOMPARE(windowCount(text, windowRules(config)), 1);
        QVERIFY(windows.holdsPairs() && windows.masksDocuments());
        QCOMPARE(windows.learntCount(0), std::int64_t(2)); // pairs
        QCOMPARE(windows.labelCount(0), std::int64_t(4 + 5 + 1 + 4 + 3 + 1)); // as the ledger counts samples
        std::vector<std::int64_t> inputs(32), labels(32), places(32), answers(32);
        windows.fill(0, 1, inputs.data(), labels.data());
        windows.places(0, 1, places.data());
        windows.answers(0, 1, answers.data());
        // Behind the end-of-text that a window begins with: abc$ abde$ $ fgh$ fi$ $
        const std::vector<std::int64_t> wantedPlaces { 0, 0, 1, 2, 3, 0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 0, 1, 2, 3 };
        const std::vector<std::int64_t> wantedAnswers { -1, -1, 0, 0, -1, -1, 1, 1, 1, -1, -1, 2, 2, 2, -1, 3, 3, -1 };
        QCOMPARE(std::vector(places.begin(), places.begin() + 19), wantedPlaces);
        QCOMPARE(std::vector(answers.begin(), answers.begin() + 18), wantedAnswers);
        for (std::size_t i = 0; i < 32; ++i) {
            QCOMPARE(answers[i] >= 0, labels[i] >= 0); // what is learnt is what is compared
            if (labels[i] >= 0)
                QCOMPARE(labels[i], inputs[i + 1]);
        }
    }

    void countsWhatCannotBeUsedWithItsReason()
    {
        test::DataFolder folder;
        const std::string longer(40, 'x');
        const auto file = folder.write("a.jsonl",
            texts("a", "b", "c") + texts("a", "b", "b") + "{\"chosen\":\"b\"}\n" + texts("a", longer, "c")
                + texts(longer, "b", "c"));
        const auto got = prepared(pairConfig(file), folder.path("cache")); // an answer may have 31 tokens
        QVERIFY2(got.ok(), got.ok() ? "" : got.error().message.c_str());
        QCOMPARE(got.value().summary.samples, 1);
        QCOMPARE(got.value().summary.failed, 2);
        QCOMPARE(got.value().summary.tooLong, 2);
        QCOMPARE(got.value().summary.filtered, 2);
        QCOMPARE(got.value().issues.size(), std::size_t(2));
        QCOMPARE(got.value().issues[0].what, "has the same answer as chosen and as rejected");
        QCOMPARE(got.value().issues[1].what, "has no rejected");

        auto config = pairConfig(file);
        config.longSamples = LongSamples::Cut;
        const auto cut = prepared(config, folder.path("cache"));
        QVERIFY(cut.ok());
        QVERIFY(cut.value().digest != got.value().digest);
        QCOMPARE(cut.value().summary.samples, 2); // of the last one nothing of an answer is left
        QCOMPARE(cut.value().summary.tooLong, 2);
    }

    void repeatsAndHeldOutPairsAreThoseOfSamples()
    {
        test::DataFolder folder;
        std::string rows;
        for (int i = 0; i < 60; ++i)
            rows += texts("p" + std::to_string(i % 50), "c", "r");
        auto config = pairConfig(folder.write("a.jsonl", rows));
        config.heldOutPercent = 20;
        const auto got = prepared(config, folder.path("cache"));
        QVERIFY2(got.ok(), got.ok() ? "" : got.error().message.c_str());
        const ChunkSummary& sum = got.value().summary;
        QCOMPARE(sum.samples + sum.heldOut, std::int64_t(60));
        QVERIFY(sum.heldOut > 0 && sum.repeats > 0);
    }

    void isShownBeforeItIsTrained()
    {
        test::DataFolder folder;
        auto config = pairConfig(folder.write("a.jsonl", messages("Sky?", "Blue.", "Green.")));
        config.seqLen = 256;
        config.chatTemplate = "chatml";
        const auto seen = probeData(config, *byteTokenizer(), 1000);
        QVERIFY2(seen.ok(), seen.ok() ? "" : seen.error().message.c_str());
        QCOMPARE(seen.value().inspection.conversations, "pair_of_messages");
        QVERIFY(seen.value().inspection.firstRows.front().ends_with("Green.<|im_end|>\n"));
        QCOMPARE(seen.value().inspection.firstLearnt.front().size(), std::size_t(2));
        QVERIFY(seen.value().learntShare > 0 && seen.value().learntShare < 1);
    }

    void refusesWhatDoesNotFitInOneSentence()
    {
        test::DataFolder folder;
        const auto pairs = folder.write("pairs.jsonl", texts("a", "b", "c"));
        const auto plain = folder.write("plain.jsonl", "{\"text\":\"a\"}\n");
        QVERIFY(why(pairConfig(folder.write("a.txt", "line\n"))).find("is text, and --objective dpo needs pairs")
            != std::string::npos);
        QVERIFY(why(pairConfig(plain)).find("has not the columns chosen and rejected") != std::string::npos);
        QVERIFY(why(pairConfig(folder.write("chat.jsonl", messages("a", "b", "c")))).find("there is no chat template")
            != std::string::npos);
        QVERIFY(why(test::configFor({ pairs })).find("holds pairs of answers") != std::string::npos);
        auto wanted = test::configFor({ pairs });
        wanted.textColumn = "chosen"; // said by a person: the texts alone
        QCOMPARE(why(wanted), "it is not refused");
        QCOMPARE(why(test::configFor(
                     { folder.write("both.jsonl", "{\"text\":\"a text\",\"chosen\":\"b\",\"rejected\":\"c\"}\n") })),
            "it is not refused");
    }
};

QTEST_GUILESS_MAIN(TestAnswerPairs)
#include "tst_answer_pairs.moc"
