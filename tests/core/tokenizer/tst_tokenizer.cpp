#include "core/base/random.h"
#include "core/data/tokenizer/tokenizer.h"
#include "core/data/tokenizer/tokenizer_bench.h"

#include <QTest>

#include <numeric>
#include <thread>

using namespace furrow;

using Ids = std::vector<TokenId>;
Q_DECLARE_METATYPE(Ids)

namespace {

Ids encoded(const Tokenizer& tokenizer, std::string_view text)
{
    Ids ids;
    if (!tokenizer.encode(text, ids).ok())
        qFatal("the text has no ids");
    return ids;
}

std::string randomBytes(Random& random, std::size_t size)
{
    std::string bytes(size, '\0');
    for (auto& byte : bytes)
        byte = static_cast<char>(random.below(256));
    return bytes;
}

std::string randomWords(Random& random, std::size_t count)
{
    const std::string_view words[] = { "the", " field", "'s", " ploughed", "\n", "  ", " once", "12345",
        " \xC3\xA9t\xC3\xA9", "!?", "\t", " \xE4\xB8\xAD\xE6\x96\x87", " incomprehensibilities" };
    std::string text;
    for (std::size_t i = 0; i < count; ++i) {
        text += words[random.below(std::size(words))];
        if (random.below(8) == 0)
            text += static_cast<char>('a' + random.below(26));
    }
    return text;
}

std::string times(std::string_view text, std::size_t count)
{
    std::string out;
    for (std::size_t i = 0; i < count; ++i)
        out += text;
    return out;
}

std::shared_ptr<const Tokenizer> charTokenizer(std::string_view text, CharFallback fallback = CharFallback::Bytes)
{
    bool given = false;
    return buildCharTokenizer(
        [&](std::string_view& next) {
            next = text;
            return !std::exchange(given, true);
        },
        fallback)
        .value();
}

} // namespace

class TestTokenizer : public QObject {
    Q_OBJECT

private:
    std::shared_ptr<const Tokenizer> gpt2_;

private Q_SLOTS:
    void initTestCase()
    {
        const auto loaded = loadTokenizer("gpt2");
        QVERIFY2(loaded.ok(), loaded.ok() ? "" : loaded.error().message.c_str());
        gpt2_ = loaded.value();
    }

    void gpt2HasItsSizeAndEndOfText()
    {
        QCOMPARE(gpt2_->vocabularySize(), 50257u);
        QCOMPARE(gpt2_->endOfText(), 50256u);
        QCOMPARE(gpt2_->name(), std::string("gpt2"));
    }

    void gpt2GivesTheIdsOfTiktoken_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<Ids>("ids");
        // From tiktoken 0.14 (tests/oracle); the first eight are those of the data specification.
        const std::pair<const char*, Ids> rows[] = {
            { "a\015\012b", { 64, 201, 198, 65 } },
            { "   x", { 220, 220, 2124 } },
            { "x   ", { 87, 220, 220, 220 } },
            { "x\302\240\302\240y", { 87, 1849, 1849, 88 } },
            { "I'LL I'll", { 40, 6, 3069, 314, 1183 } },
            { "x\302\262", { 87, 31185 } },
            { "e\314\201", { 68, 136, 223 } },
            { "", {} },
            { "Hello, world! \344\275\240\345\245\275\344\270\226\347\225\214 \360\237\230\200\360\237\221\215\360\237\217\275",
                { 15496, 11, 995, 0, 220, 19526, 254, 25001, 121, 10310, 244, 45911, 234, 30325, 222, 41840, 235, 8582,
                    237, 121 } },
            { "'s'S 'sx don't", { 338, 6, 50, 705, 82, 87, 836, 470 } },
            { "\305\277's'\305\277", { 129, 123, 338, 6, 129, 123 } },
            { "x\012  ", { 87, 198, 220, 220 } },
            { " \012 \012 ", { 220, 198, 220, 198, 220 } },
            { "int main() {\012\011return 0;\012}\015\012",
                { 600, 1388, 3419, 1391, 198, 197, 7783, 657, 26, 198, 92, 201, 198 } },
            { "<|endoftext|>", { 27, 91, 437, 1659, 5239, 91, 29 } },
            { "1234567 \302\275 \342\205\247", { 10163, 2231, 3134, 25208, 2343, 227, 100 } },
            { "\343\200\200\342\200\250x\302\205", { 5099, 222, 447, 101, 87, 126, 227 } },
            { "\360\220\265\212\315\270", { 172, 238, 113, 232, 137, 116 } }, // U+10D4A: a letter since Unicode 16
        };
        for (const auto& [text, ids] : rows)
            QTest::newRow(QByteArray(text).toPercentEncoding(" !'<>|").constData()) << QByteArray(text) << ids;
    }
    void gpt2GivesTheIdsOfTiktoken()
    {
        QFETCH(QByteArray, text);
        QFETCH(Ids, ids);
        const std::string_view bytes(text.constData(), static_cast<std::size_t>(text.size()));
        QCOMPARE(encoded(*gpt2_, bytes), ids);
        QCOMPARE(encoded(*gpt2_, bytes), ids); // from the cache
        QCOMPARE(gpt2_->decode(ids), std::string(bytes));
    }

    void longRunsWithoutASplitAreMergedExactlyAndInTime_data()
    {
        QTest::addColumn<QByteArray>("unit");
        QTest::addColumn<uint>("count");
        QTest::addColumn<uint>("ids");
        QTest::addColumn<uint>("id");
        QTest::newRow("a") << QByteArray("a") << 1'000'000u << 250'000u << 24794u;
        QTest::newRow("ab") << QByteArray("ab") << 500'000u << 500'000u << 397u;
        QTest::newRow("space") << QByteArray(" ") << 1'000'000u << 1'000'000u << 220u;
        QTest::newRow("chinese") << QByteArray("\xE4\xB8\xAD") << 300'000u << 300'000u << 40792u;
    }
    void longRunsWithoutASplitAreMergedExactlyAndInTime()
    {
        QFETCH(QByteArray, unit);
        QFETCH(uint, count);
        QFETCH(uint, ids);
        QFETCH(uint, id);
        // The quadratic way takes 10^11 steps here and runs into the time limit of the test.
        const auto got = encoded(*gpt2_, times(unit.toStdString(), count));
        QCOMPARE(got.size(), std::size_t { ids });
        QCOMPARE(got.front(), TokenId { id });
        QCOMPARE(got.back(), TokenId { id });
    }

    void shortAndLongMergingAgree()
    {
        // 64 symbols are merged in arrays, 65 with a heap: around the border the pieces must fit together.
        for (std::size_t size = 1; size < 200; ++size) {
            const std::string run(size, 'a');
            const auto ids = encoded(*gpt2_, run);
            QCOMPARE(gpt2_->decode(ids), run);
            QVERIFY2(ids.size() == (size + 3) / 4, std::to_string(size).c_str()); // "aaaa" and a rest
        }
    }

    void anyBytesComeBack()
    {
        Random random(7);
        const auto chars = charTokenizer("abc \xC3\xA9\xE4\xB8\xAD");
        for (int round = 0; round < 400; ++round) {
            auto bytes = round % 2 ? randomBytes(random, random.below(300)) : randomWords(random, random.below(60));
            if (round % 4 == 0 && !bytes.empty())
                bytes[random.below(bytes.size())] = static_cast<char>(random.below(256));
            for (const auto& tokenizer : { byteTokenizer(), chars, gpt2_ }) {
                const auto ids = encoded(*tokenizer, bytes);
                QVERIFY(std::all_of(ids.begin(), ids.end(),
                    [&](TokenId id) { return id < tokenizer->vocabularySize() && id != tokenizer->endOfText(); }));
                QVERIFY2(tokenizer->decode(ids) == bytes, tokenizer->name().c_str());
            }
        }
    }

    void aFullCacheGivesTheSameIds()
    {
        // More distinct words than the cache holds, in a thread of their own, against one word per fresh call.
        Random random(3);
        std::vector<std::string> words;
        for (int i = 0; i < 60'000; ++i)
            words.push_back(" " + randomHex(static_cast<int>(1 + random.below(14))));
        const auto all = std::accumulate(words.begin(), words.end(), std::string());
        Ids together;
        std::thread([&] { together = encoded(*gpt2_, all); }).join();
        Ids again;
        std::thread([&] {
            (void)encoded(*gpt2_, all.substr(all.size() / 2));
            again = encoded(*gpt2_, all);
        }).join();
        QCOMPARE(together.size(), again.size());
        QVERIFY(together == again);
        QVERIFY(gpt2_->decode(together) == all);
    }

    void threadsGetTheSameIds()
    {
        Random random(5);
        const auto text = randomWords(random, 20'000);
        const auto expected = encoded(*gpt2_, text);
        std::vector<Ids> got(4);
        {
            std::vector<std::jthread> threads;
            for (auto& ids : got)
                threads.emplace_back([&] { ids = encoded(*gpt2_, text); });
        }
        for (const auto& ids : got)
            QVERIFY(ids == expected);
    }

    void encodeAppends()
    {
        Ids ids { 5 };
        QVERIFY(gpt2_->encode("x", ids).ok());
        QCOMPARE(ids, (Ids { 5, 87 }));
    }

    void specialTokensAreTextUnlessAsked()
    {
        Ids ids;
        QVERIFY(gpt2_->encodeMatchingSpecial("a<|endoftext|>b", ids).ok());
        QCOMPARE(ids, (Ids { 64, 50256, 65 }));
        QCOMPARE(gpt2_->decode(ids), std::string("a<|endoftext|>b"));
        for (const auto id : encoded(*gpt2_, "a<|endoftext|>b"))
            QVERIFY(id != gpt2_->endOfText());
    }

    void idsOutsideTheVocabularyDecodeToNothing()
    {
        const Ids ids { 64, 4'000'000'000u, 65, UINT32_MAX };
        QCOMPARE(gpt2_->decode(ids), std::string("ab"));
        QCOMPARE(byteTokenizer()->decode(Ids { 'a', 256, 257, UINT32_MAX }), std::string("a"));
    }

    void byteIdsAreTheBytes()
    {
        QCOMPARE(encoded(*byteTokenizer(), std::string_view("a\0\xFF", 3)), (Ids { 97, 0, 255 }));
        QCOMPARE(byteTokenizer()->endOfText(), 256u);
        QCOMPARE(byteTokenizer()->vocabularySize(), 257u);
    }

    void charIdsAreSortedCodePoints()
    {
        const auto chars = charTokenizer("hello\n \xC3\xA9");
        // "\n", " ", e, h, l, o, e with acute
        QCOMPARE(encoded(*chars, "oh\xC3\xA9\n"), (Ids { 5, 3, 6, 0 }));
        QCOMPARE(chars->endOfText(), 7u);
        QCOMPARE(chars->vocabularySize(), 7u + 1 + 256);
        QCOMPARE(encoded(*chars, "z\xFF"), (Ids { 8 + 'z', 8 + 0xFF }));
    }

    void charWithoutBytesIsAsSmallAsTheText()
    {
        const auto chars = charTokenizer("abc", CharFallback::EndOfText);
        QCOMPARE(chars->vocabularySize(), 4u);
        QCOMPARE(encoded(*chars, "cza"), (Ids { 2, 3, 0 }));
        QVERIFY(chars->hash() != charTokenizer("abc")->hash());
    }

    void charTakesNoControlTokenForWhatItDoesNotKnow()
    {
        const auto chars = charTokenizer("abc", CharFallback::Unknown);
        QCOMPARE(chars->vocabularySize(), 5u);
        QCOMPARE(chars->unknownToken(), std::optional<TokenId>(4));
        QCOMPARE(encoded(*chars,
                     "c\xC3\xA9\xFF"
                     "a"),
            (Ids { 2, 4, 4, 0 }));
        QCOMPARE(chars->decode(Ids { 2, 4, 0 }),
            std::string("c\xEF\xBF\xBD"
                        "a"));
        const auto again = loadTokenizerDefinition(chars->definition(), "char");
        QVERIFY(again.ok());
        QCOMPARE(again.value()->hash(), chars->hash());
        // text with bytes that are no characters needs all of them
        const auto broken = charTokenizer("abc\xE9", CharFallback::Unknown);
        QCOMPARE(broken->vocabularySize(), 4u + 256);
        QCOMPARE(broken->decode(encoded(*broken,
                     "a\xE9"
                     "b")),
            std::string("a\xE9"
                        "b"));
    }

    void charOfNoTextIsRefused()
    {
        QVERIFY(!buildCharTokenizer([](std::string_view&) { return false; }).ok());
    }

    void benchCountsEveryTokenOnce()
    {
        Random random(9);
        const auto text = randomWords(random, 5'000);
        for (const int threads : { 1, 3 }) {
            const auto result = benchTokenizer(*byteTokenizer(), text, threads, 1'000);
            QVERIFY(result.ok());
            QCOMPARE(result.value().textBytes, std::uint64_t { text.size() });
            QCOMPARE(result.value().tokens, std::uint64_t { text.size() });
            QVERIFY(result.value().seconds > 0);
        }
    }
};

QTEST_GUILESS_MAIN(TestTokenizer)
#include "tst_tokenizer.moc"
