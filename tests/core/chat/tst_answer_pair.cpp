// Rows with a chosen and a rejected answer: every shape of them, and what is none.

#include "core/chat/answer_pair.h"
#include "core/chat/pair_text.h"

#include <QTest>

using namespace furrow;

namespace {

const ConversationColumns kTexts { ConversationForm::PairOfTexts, "chosen" };
const ConversationColumns kMessages { ConversationForm::PairOfMessages, "chosen" };

std::string whyNot(const std::string& row, const ConversationColumns& columns = kMessages)
{
    std::string pair;
    const auto why = readConversation(row, columns, pair);
    return why.empty() ? "it is one: " + pair : why;
}

AnswerPair pairOf(const std::string& row, const ConversationColumns& columns = kMessages)
{
    std::string written;
    if (const auto why = readConversation(row, columns, written); !why.empty())
        qFatal("%s", why.c_str());
    const auto pair = readAnswerPair(written);
    return pair.ok() ? pair.value() : AnswerPair { true, pair.error().message, 0, "", "" };
}

std::string user(const std::string& text) { return "{\"role\":\"user\",\"content\":\"" + text + "\"}"; }
std::string assistant(const std::string& text) { return "{\"role\":\"assistant\",\"content\":\"" + text + "\"}"; }
std::string list(const std::string& a, const std::string& b = {}) { return "[" + a + (b.empty() ? "" : "," + b) + "]"; }

/// As a text in JSON. No raw string with escaped quotes: moc finds no class behind one.
std::string quoted(const std::string& json)
{
    std::string text = "\"";
    for (const char c : json)
        text += c == '"' ? "\\\"" : std::string(1, c);
    return text + "\"";
}

} // namespace

class TestAnswerPair : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void readsTextsWithTheirPrompt()
    {
        const auto pair = pairOf(R"({"prompt":"The sky is","chosen":" blue.","rejected":" green.","score":1})", kTexts);
        QVERIFY(pair == (AnswerPair { true, "The sky is", 0, " blue.", " green." }));
    }

    void takesWhatBothTextsBeginWithForThePrompt()
    {
        const auto pair = pairOf(R"({"chosen":"The sky is blue.","rejected":"The sky is green."})", kTexts);
        QVERIFY(pair == (AnswerPair { true, "The sky is", 0, " blue.", " green." })); // a word begins with its space
        const auto longer = pairOf(R"({"chosen":"ab","rejected":"abc"})", kTexts);
        QVERIFY(longer == (AnswerPair { true, "a", 0, "b", "bc" })); // an answer is never empty
        const auto inside = pairOf("{\"chosen\":\"x\u00e4\",\"rejected\":\"x\u00f6\"}", kTexts);
        QCOMPARE(inside.prompt, std::string("x")); // and never begins inside of a character
    }

    void readsTheSamePairInWhateverShapeItStands()
    {
        const auto wanted = pairOf("{\"chosen\":" + list(user("Sky?"), assistant("Blue."))
            + ",\"rejected\":" + list(user("Sky?"), assistant("Green.")) + "}");
        QVERIFY(!wanted.isText);
        QCOMPARE(wanted.promptMessages, std::size_t(1));
        QCOMPARE(wanted.chosen, "{\"messages\":" + list(user("Sky?"), assistant("Blue.")) + "}");
        const std::string answers
            = "\"chosen\":" + list(assistant("Blue.")) + ",\"rejected\":" + list(assistant("Green."));
        QVERIFY(pairOf("{\"prompt\":" + list(user("Sky?")) + "," + answers + "}") == wanted);
        QVERIFY(pairOf("{\"prompt\":\"Sky?\"," + answers + "}") == wanted);
        QVERIFY(pairOf("{\"prompt\":" + list(user("Sky?")) + R"(,"chosen":"Blue.","rejected":"Green."})") == wanted);
        // As data sets have it that keep the question beside whole conversations.
        QVERIFY(pairOf("{\"prompt\":\"Sky?\",\"chosen\":" + list(user("Sky?"), assistant("Blue."))
                    + ",\"rejected\":" + list(user("Sky?"), assistant("Green.")) + "}")
            == wanted);
        // Lists as JSON in texts, as csv has them.
        QVERIFY(pairOf("{\"prompt\":\"Sky?\",\"chosen\":" + quoted(list(assistant("Blue.")))
                        + ",\"rejected\":" + quoted(list(assistant("Green."))) + "}",
                    kTexts)
            == wanted);
    }

    void saysWhyARowIsNoPair()
    {
        QCOMPARE(whyNot(R"({"chosen":"a"})", kTexts), std::string("has no rejected"));
        QCOMPARE(whyNot(R"({"prompt":"a","rejected":"b"})", kTexts), std::string("has no chosen"));
        QCOMPARE(whyNot(R"({"prompt":"a","chosen":" ","rejected":"b"})", kTexts), std::string("has no chosen"));
        QCOMPARE(whyNot(R"({"prompt":"a","chosen":null,"rejected":"b"})", kTexts), std::string("has no chosen"));
        const std::string same("has the same answer as chosen and as rejected");
        QCOMPARE(whyNot(R"({"prompt":"a","chosen":"b","rejected":"b"})", kTexts), same);
        QCOMPARE(whyNot(R"({"chosen":"b","rejected":"b"})", kTexts), same);
        const auto one = list(user("a"), assistant("b"));
        QCOMPARE(whyNot("{\"chosen\":" + one + ",\"rejected\":" + one + "}"), same);
        QCOMPARE(whyNot("{\"chosen\":" + one + ",\"rejected\":\"b\"}"),
            std::string("has a text and a list of messages as its two answers"));
        QCOMPARE(whyNot("{\"chosen\":[],\"rejected\":" + one + "}"), std::string("has no chosen"));
        QCOMPARE(whyNot("{\"chosen\":" + list(user("a"), user("b")) + ",\"rejected\":" + list(user("a"), assistant("c"))
                     + "}"),
            std::string("has no turn of the assistant"));
        QCOMPARE(whyNot("{\"chosen\":" + list(assistant("x")) + ",\"rejected\":" + list(assistant("y")) + "}"),
            std::string("has no prompt: its chosen and rejected messages differ from the first on"));
        QCOMPARE(whyNot("{\"prompt\":" + list(assistant("Hello."), user("a")) + ",\"chosen\":" + list(user("b"))
                     + ",\"rejected\":" + list(assistant("c")) + "}"),
            std::string("has no turn of the assistant in chosen"));
        QCOMPARE(whyNot("{\"chosen\":" + list(user("a"), "7") + ",\"rejected\":" + one + "}"),
            std::string("has a message 2 that is not an object"));
        // A number that JSON does not have, as Python writes it, is one all the same.
        QVERIFY(whyNot("{\"chosen\":" + list(user("a"), R"({"role":"assistant","content":"b","score":NaN})")
            + ",\"rejected\":" + list(user("a"), assistant("c")) + "}")
                .starts_with("it is one"));
        QCOMPARE(whyNot("[]"), std::string("is not a JSON object"));
        QVERIFY(!readAnswerPair("{}").ok());
        QVERIFY(!readAnswerPair(R"({"prompt":1,"chosen":"a","rejected":"b"})").ok());
    }

    void isFoundByItsColumns()
    {
        QVERIFY(findAnswerPairs({ "prompt", "chosen", "rejected" }, { "prompt", "chosen", "rejected" }).form
            == ConversationForm::PairOfTexts);
        QVERIFY(findAnswerPairs({ "chosen", "rejected" },
                    { "chosen[].role", "chosen[].content", "rejected[].role", "rejected[].content" })
                    .form
            == ConversationForm::PairOfMessages);
        QVERIFY(findAnswerPairs({ "chosen", "text" }, { "chosen", "text" }).form == ConversationForm::None);
    }

    void writesConversationsByTheChatTemplate()
    {
        const auto renderer = ConversationRenderer::open({ kChatMl, {}, 0 });
        QVERIFY(renderer.ok());
        const auto pair = pairOf("{\"prompt\":\"Sky?\",\"chosen\":" + list(assistant("Blue."))
            + ",\"rejected\":" + list(assistant("Green.")) + "}");
        QVERIFY(!writePair(pair, nullptr).ok());
        const auto text = writePair(pair, &renderer.value());
        QVERIFY2(text.ok(), text.ok() ? "" : text.error().message.c_str());
        const std::string asked = "<|im_start|>user\nSky?<|im_end|>\n<|im_start|>assistant\n";
        QCOMPARE(text.value().prompt, asked);
        QCOMPARE(text.value().chosen, asked + "Blue.<|im_end|>\n");
        QCOMPARE(markedText(shownPair(text.value()).text, shownPair(text.value()).learnt),
            asked + "«Blue.<|im_end|>\n»\n\n" + asked + "«Green.<|im_end|>\n»");
    }
};

QTEST_GUILESS_MAIN(TestAnswerPair)
#include "tst_answer_pair.moc"
