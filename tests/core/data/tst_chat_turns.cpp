#include "chat_tokenizer.h"
#include "core/data/chat_turns.h"

#include <QtTest>

using namespace furrow;

/// How a model is asked in its own format, and where its answer ends.
class TestChatTurns : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void asksAndEndsAsTheTemplateDoes()
    {
        const auto tokenizer = test::chatTokenizer();
        const auto turns = ChatTurns::open(
            { kChatMl, { { "eos_token", "<|im_end|>" } }, 0 }, *tokenizer, R"({"eos_token_id":[2,33,99999]})");
        QVERIFY(turns.ok());
        QCOMPARE(turns.value().endTokens(), (std::vector<TokenId> { 0, 2, 33 }));
        QCOMPARE(turns.value().endText(), "");
        QCOMPARE(turns.value().prompt({ { "user", "Hi" } }).value().front(), 1u);
        const auto bytes = ChatTurns::open({ kChatMl, {}, 0 }, *byteTokenizer());
        QCOMPARE(bytes.value().endText(), "<|im_end|>");
        QCOMPARE(bytes.value().endTokens(), (std::vector<TokenId> { byteTokenizer()->endOfText() }));
        const auto refused = ChatTurns::open({ "{{ raise_exception('no') }}", {}, 0 }, *byteTokenizer());
        QVERIFY(refused.ok() && !refused.value().prompt({ { "user", "Hi" } }).ok());
    }

    void namesUnknownCharactersOfAPrompt()
    {
        bool more = true;
        const auto tokenizer = buildCharTokenizer(
            [&](std::string_view& text) {
                text = "abc";
                return std::exchange(more, false);
            },
            CharFallback::Unknown);
        QVERIFY(tokenizer.ok());
        QCOMPARE(unknownCharacters("aéb€é", *tokenizer.value()), (std::vector<std::string> { "é", "€" }));
        QCOMPARE(unknownCharacters("aé", *byteTokenizer()), std::vector<std::string> {});
    }
};

QTEST_GUILESS_MAIN(TestChatTurns)
#include "tst_chat_turns.moc"
