#include "core/data/tokenizer/bpe_trainer.h"
#include "core/data/tokenizer/tokenizer.h"

#include <QTest>

#include <algorithm>

using namespace furrow;

namespace {

Result<std::string> trained(
    const std::vector<std::string>& texts, BpeTrainingOptions options, std::stop_token stop = {})
{
    BpeTrainer trainer;
    for (const auto& text : texts)
        trainer.add(text);
    return trainer.train(options, stop);
}

std::vector<TokenId> encoded(const Tokenizer& tokenizer, std::string_view text)
{
    std::vector<TokenId> ids;
    if (!tokenizer.encode(text, ids).ok())
        qFatal("the text has no ids");
    return ids;
}

const std::vector<std::string> kTexts { "low low low low low", " lower lower",
    " newest newest newest newest newest newest", " widest widest widest", "aaaa aaaa \xE4\xB8\xAD\xE4\xB8\xAD" };

} // namespace

class TestBpeTrainer : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void theMostFrequentPairsAreJoinedFirst()
    {
        const auto text = trained(kTexts, { 260, 2 });
        QVERIFY2(text.ok(), text.ok() ? "" : text.error().message.c_str());
        const auto tokenizer = loadTokenizerDefinition(text.value(), "x").value();
        QCOMPARE(tokenizer->vocabularySize(), 260u);
        QCOMPARE(tokenizer->endOfText(), 259u);
        // "es" and "st" are in nine words each; the pair with the smaller ids goes first, then "est".
        QCOMPARE(tokenizer->decode(std::vector<TokenId> { 256 }), std::string("es"));
        QCOMPARE(tokenizer->decode(std::vector<TokenId> { 257 }), std::string("est"));
        QCOMPARE(encoded(*tokenizer, "best").size(), std::size_t { 2 });
    }

    void theOrderOfSamplesDoesNotMatter()
    {
        auto reversed = kTexts;
        std::reverse(reversed.begin(), reversed.end());
        QCOMPARE(trained(kTexts, { 300, 2 }).value(), trained(reversed, { 300, 2 }).value());
    }

    void aSmallTextGivesASmallerVocabulary()
    {
        const auto tokenizer = loadTokenizerDefinition(trained({ "ab ab" }, { 5000, 2 }).value(), "x").value();
        QCOMPARE(tokenizer->vocabularySize(), 258u); // 256 bytes, "ab", end-of-text
    }

    void anyBytesComeBack()
    {
        std::string bytes;
        for (int i = 0; i < 600; ++i)
            bytes += static_cast<char>(i * 7);
        const auto tokenizer = loadTokenizerDefinition(trained({ bytes, bytes }, { 400, 2 }).value(), "x").value();
        QCOMPARE(tokenizer->decode(encoded(*tokenizer, bytes)), bytes);
        QVERIFY(encoded(*tokenizer, bytes).size() < bytes.size());
    }

    void sizesOutsideTheRangeAreRefused()
    {
        QCOMPARE(trained(kTexts, { 257, 2 }).error().code, ErrorCode::InvalidArgument);
        QCOMPARE(trained(kTexts, { 1'000'001, 2 }).error().code, ErrorCode::InvalidArgument);
    }

    void stoppingIsNotFailing()
    {
        std::stop_source source;
        source.request_stop();
        QCOMPARE(trained(kTexts, { 300, 2 }, source.get_token()).error().code, ErrorCode::Cancelled);
    }
};

QTEST_GUILESS_MAIN(TestBpeTrainer)
#include "tst_bpe_trainer.moc"
