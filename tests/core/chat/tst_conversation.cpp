#include "core/chat/conversation.h"
#include "core/chat/conversation_text.h"
#include "core/chat/row_problems.h"
#include "tests/fakes/small_gguf.h"

#include <nlohmann/json.hpp>

#include <QTemporaryDir>
#include <QTest>

#include <fstream>

using namespace furrow;

namespace {

const ConversationColumns kMessages { ConversationForm::Messages, "messages" };
const ConversationColumns kShareGpt { ConversationForm::ShareGpt, "conversations" };
const ConversationColumns kAlpaca { ConversationForm::Alpaca, "output" };
const ConversationColumns kPrompt { ConversationForm::Prompt, "completion" };

constexpr const char* kTwo = R"({"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":"Hello"}]})";

constexpr const char* kTwoSaid = R"({"conversations":[{"from":"human","value":"Hi"},{"from":"gpt","value":"Hello"}]})";
constexpr const char* kTwoAsked = R"({"instruction":"Hi","input":"","output":"Hello"})";
constexpr const char* kTwoPrompted = R"({"prompt":"Hi","completion":"Hello"})";
constexpr const char* kTwoLists
    = R"({"prompt":[{"role":"user","content":"Hi"}],"completion":[{"role":"assistant","content":"Hello"}]})";
constexpr const char* kTwoMessages = R"([{"role":"user","content":"Hi"},{"role":"assistant","content":"Hello"}])";

/// JSON inside of JSON.
std::string quoted(const std::string& json) { return nlohmann::json(json).dump(); }

/// ChatML that does not say what the assistant writes.
constexpr const char* kPlain
    = "{% for m in messages %}{{ '<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>\\n' }}{% endfor %}"
      "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";

/// The last answer alone keeps its thoughts, as in templates of models that reason.
constexpr const char* kForgetting
    = "{% for m in messages %}{{ '<' + m.role + '>' + ('!' if loop.last and m.role == 'assistant' else '') + m.content "
      "}}{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}";

std::string read(const std::string& row, const ConversationColumns& columns, std::string* problem = nullptr)
{
    std::string conversation;
    const auto why = readConversation(row, columns, conversation);
    if (problem)
        *problem = why;
    return conversation;
}

std::string whyNot(const std::string& row, const ConversationColumns& columns)
{
    std::string problem;
    const auto conversation = read(row, columns, &problem);
    return conversation.empty() ? problem : "it is " + conversation;
}

std::string four()
{
    return conversationOf({ { "user", "A" }, { "assistant", "B" }, { "user", "C" }, { "assistant", "D" } });
}

Result<ConversationText> written(const char* source, const std::string& conversation, LearntTurns turns)
{
    const auto renderer = ConversationRenderer::open({ source, {}, 0 });
    if (!renderer.ok())
        return renderer.error();
    return renderer.value().write(conversation, turns);
}

std::vector<std::string> learntOf(const Result<ConversationText>& text)
{
    std::vector<std::string> parts;
    if (!text.ok())
        return { text.error().message };
    for (const auto& stretch : text.value().learnt)
        parts.push_back(text.value().text.substr(stretch.begin, stretch.end - stretch.begin));
    return parts;
}

} // namespace

/// Rows to conversations, conversations to texts with what is learnt of them.
class TestConversation : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void bringsEveryFormIntoOne()
    {
        QCOMPARE(read(kTwo, kMessages), kTwo);
        QCOMPARE(read(kTwoSaid, kShareGpt), kTwo);
        QCOMPARE(read(kTwoAsked, kAlpaca), kTwo);
        QCOMPARE(read(kTwoPrompted, kPrompt), kTwo);
        QCOMPARE(read(kTwoLists, kPrompt), kTwo);
        QCOMPARE(read("{\"messages\":" + quoted(kTwoMessages) + "}", kMessages), kTwo);
        QCOMPARE(conversationOf({ { "user", "Hi" }, { "assistant", "Hello" } }), kTwo);
    }

    void keepsToolsAndCallsAndDropsNulls()
    {
        const std::string tools = R"([{"type":"function","function":{"name":"f"}}])";
        const std::string row = "{\"tools\":" + quoted(tools)
            + R"(,"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"ü"}],"name":null},)"
              R"({"role":"assistant","content":null,"tool_calls":[{"id":"1"}]},{"role":"tool","content":"7","tool_call_id":"1"}]})";
        const std::string conversation
            = R"({"messages":[{"role":"user","content":"aü"},{"role":"assistant","content":null,"tool_calls":[{"id":"1"}]},{"role":"tool","content":"7","tool_call_id":"1"}],)"
              "\"tools\":"
            + tools + "}";
        QCOMPARE(read(row, kMessages), conversation);
    }

    void takesSystemAndInputAlong()
    {
        const auto conversation
            = read(R"({"system":"Be brief.","instruction":"Add","input":"1 2","output":"3"})", kAlpaca);
        QCOMPARE(
            conversation, conversationOf({ { "system", "Be brief." }, { "user", "Add\n1 2" }, { "assistant", "3" } }));
    }

    void saysWhyARowIsNoConversation_data()
    {
        QTest::addColumn<QString>("row");
        QTest::addColumn<QString>("why");
        const auto row = [](const char* name, const char* json, const char* why) {
            QTest::newRow(name) << QString::fromUtf8(json) << QString::fromUtf8(why);
        };
        row("nothing", "{}", "has no messages in messages");
        row("empty", R"({"messages":[]})", "has no messages in messages");
        row("text", R"({"messages":"Hi"})", "has no messages in messages");
        row("list", "[1]", "is not a JSON object");
        row("broken", R"({"messages":[)", "is broken JSON: ");
        row("no object", R"({"messages":[1]})", "has a message 1 that is not an object");
        row("no role", R"({"messages":[{"content":"Hi"}]})", "has a message 1 without a role");
        row("empty role", R"({"messages":[{"role":" ","content":"Hi"}]})", "has a message 1 without a role");
        row("unknown role", R"({"messages":[{"role":"user","content":"a"},{"role":"narrator","content":"Hi"}]})",
            "has a message 2 of the unknown role 'narrator'");
        row("no content", R"({"messages":[{"role":"user"}]})", "has a message 1 without content");
        row("a number", R"({"messages":[{"role":"user","content":1}]})", "has a message 1 whose content is not text");
        row("an image", R"({"messages":[{"role":"user","content":[{"type":"image"}]}]})",
            "has a message 1 with a part that is not text");
        row("no answer", R"({"messages":[{"role":"user","content":"Hi"}]})", "has no turn of the assistant");
        row("an empty answer", R"({"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":" "}]})",
            "has a message 2 of the assistant without text");
        row("tools",
            R"({"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":"a"}],"tools":{"a":1}})",
            "has tools that are not a list");
    }
    void saysWhyARowIsNoConversation()
    {
        QFETCH(QString, row);
        QFETCH(QString, why);
        const auto said = whyNot(row.toStdString(), kMessages);
        QVERIFY2(said.starts_with(why.toStdString()), said.c_str());
        const Message told = rowProblem(said); // as a block keeps it
        QVERIFY2(!told.isPlain() && told.text() == said, "it can be said in English only");
    }

    void aReasonThatIsNotKnownIsSaidAsItIs()
    {
        QVERIFY(rowProblem("was eaten by a dog").isPlain());
        QCOMPARE(rowProblem("has no prompt").id(), std::string(kRowNoField.text()));
        QCOMPARE(rowProblem("has no messages in messages").id(), std::string(kRowNoMessagesIn.text()));
        QCOMPARE(rowProblem("has no turn of the assistant").id(), std::string(kRowNoAnswer.text()));
    }

    void isRecognisedByItsColumns()
    {
        const std::vector<std::string> chat { "messages[].role", "messages[].content" };
        QCOMPARE(findConversation({ "id", "messages" }, chat, ""), kMessages);
        QCOMPARE(findConversation({ "id", "messages" }, chat, "messages"), kMessages);
        QVERIFY(findConversation({ "id", "messages" }, chat, "messages[].content").form == ConversationForm::None);
        QVERIFY(findConversation({ "messages" }, { "messages[]" }, "").form == ConversationForm::None);
        QCOMPARE(
            findConversation({ "conversations" }, { "conversations[].from", "conversations[].value" }, ""), kShareGpt);
        QCOMPARE(findConversation({ "instruction", "input", "output" }, {}, ""), kAlpaca);
        QCOMPARE(findConversation({ "prompt", "completion" }, {}, ""), kPrompt);
        QVERIFY(findConversation({ "text" }, { "text" }, "").form == ConversationForm::None);
    }

    void learnsWhatGenerationMarks()
    {
        QCOMPARE(learntOf(written(kChatMl, four(), LearntTurns::All)),
            (std::vector<std::string> { "B<|im_end|>", "D<|im_end|>" }));
        QCOMPARE(learntOf(written(kChatMl, four(), LearntTurns::Last)), (std::vector<std::string> { "D<|im_end|>" }));
        QCOMPARE(written(kChatMl, read(kTwo, kMessages), LearntTurns::All).value().text,
            "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\nHello<|im_end|>\n");
    }

    void learnsWhatATurnAdds()
    {
        QCOMPARE(learntOf(written(kPlain, four(), LearntTurns::All)),
            (std::vector<std::string> { "B<|im_end|>\n", "D<|im_end|>\n" }));
        QCOMPARE(learntOf(written(kPlain, four(), LearntTurns::Last)), (std::vector<std::string> { "D<|im_end|>\n" }));
    }

    /// "weight" is OpenAI's, "train" that of others.
    void aTurnThatWasNotToBeLearntWasLearnt_data()
    {
        QTest::addColumn<QByteArray>("mark");
        QTest::newRow("weight") << QByteArray(R"("weight":0)");
        QTest::newRow("weight as a real number") << QByteArray(R"("weight":0.0)");
        QTest::newRow("train") << QByteArray(R"("train":false)");
    }
    void aTurnThatWasNotToBeLearntWasLearnt()
    {
        QFETCH(QByteArray, mark);
        const auto row = [&](const char* first, const char* last) {
            return read(QByteArray(R"({"messages":[{"role":"user","content":"A"},{"role":"assistant","content":"B",)")
                            .append(first)
                            .append(R"(},{"role":"user","content":"C"},{"role":"assistant","content":"D",)")
                            .append(last)
                            .append("}]}")
                            .toStdString(),
                kMessages);
        };
        const char* learnt = R"("weight":1,"train":true)";
        using Parts = std::vector<std::string>;
        for (const auto& [source, end] : { std::pair(kChatMl, ""), std::pair(kPlain, "\n") }) {
            const std::string tail = std::string("<|im_end|>") + end;
            const auto first = row(mark, learnt);
            QCOMPARE(learntOf(written(source, first, LearntTurns::All)), (Parts { "D" + tail }));
            const auto last = row(learnt, mark);
            QCOMPARE(learntOf(written(source, last, LearntTurns::All)), (Parts { "B" + tail }));
            QCOMPARE(learntOf(written(source, last, LearntTurns::Last)), (Parts { "B" + tail }));
            const auto none = learntOf(written(source, row(mark, mark), LearntTurns::All));
            QVERIFY2(none.front().find("no turn of the assistant that is to be learnt") != std::string::npos,
                none.front().c_str());
            ChatFormat before { source, {}, 0 };
            before.readsTurnWeights = false; // as a run has it that began with an older Furrow
            const auto renderer = ConversationRenderer::open(before);
            QVERIFY(renderer.ok());
            QCOMPARE(learntOf(renderer.value().write(first, LearntTurns::All)), (Parts { "B" + tail, "D" + tail }));
        }
    }

    void refusesDifferencesThatDoNotLineUpWithTheirPlace()
    {
        const auto text = written(kForgetting, four(), LearntTurns::All);
        QVERIFY(!text.ok());
        QVERIFY2(text.error().message.find("at message 2") != std::string::npos, text.error().message.c_str());
        QVERIFY2(text.error().message.find("from byte 18 on ('!B', 'B<user>C<assistant>!D')") != std::string::npos,
            text.error().message.c_str());
        QCOMPARE(learntOf(written(kForgetting, four(), LearntTurns::Last)), (std::vector<std::string> { "!D" }));
    }

    void saysWhatATemplateRefuses()
    {
        const auto text = written("{{ raise_exception('roles must alternate') }}", four(), LearntTurns::All);
        QVERIFY(!text.ok());
        QVERIFY2(text.error().message.starts_with("is refused: "), text.error().message.c_str());
        QVERIFY(text.error().message.find("roles must alternate") != std::string::npos);
        const auto unmarked = written("{% generation %}{% endgeneration %}x", four(), LearntTurns::All);
        QVERIFY(!unmarked.ok());
    }

    void asksUpToTheAnswer()
    {
        const auto renderer = ConversationRenderer::open({ kChatMl, {}, 0 });
        QCOMPARE(renderer.value().prompt(conversationOf({ { "user", "Hi" } })).value(),
            "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n");
    }

    void tellsTheDayThatWasFrozen()
    {
        const auto renderer
            = ConversationRenderer::open({ "{{ strftime_now('%d %b %Y %H:%M %j %A') }}", {}, 1707321909 });
        QCOMPARE(renderer.value().prompt(four()).value(), "07 Feb 2024 16:05 038 Wednesday");
    }

    void readsTemplatesAsModelsBringThem()
    {
        QTemporaryDir folder;
        const auto path = std::filesystem::path(folder.path().toStdString());
        const auto put = [&](const char* name, const std::string& text) { std::ofstream(path / name) << text; };
        QVERIFY(!readChatFormat(path).value());
        put("tokenizer_config.json",
            R"({"bos_token":"<s>","eos_token":{"content":"</s>"},"pad_token":null,"chat_template":[{"name":"rag","template":"no"},{"name":"default","template":"one"}]})");
        QCOMPARE(readChatFormat(path).value()->source, "one");
        QCOMPARE(readChatFormat(path).value()->token("eos_token"), "</s>");
        QCOMPARE(readChatFormat(path).value()->token("pad_token"), "");
        put("chat_template.jinja", "two");
        QCOMPARE(readChatFormat(path).value()->source, "two");
        put("other.jinja", "three {{ strftime_now('%Y') }}");
        const auto other = readChatFormat(path / "other.jinja").value();
        QCOMPARE(other->source, "three {{ strftime_now('%Y') }}");
        QCOMPARE(other->token("bos_token"), "<s>");
        QVERIFY(other->day > 0);
        QVERIFY(!readChatFormat(path / "missing.jinja").ok());
        put("none.json", "{}");
        QVERIFY(!readChatFormat(path / "none.json").ok());
        for (const auto& [name, text] : chatFormatFiles(*other))
            put(name.c_str(), text);
        QCOMPARE(readChatFormat(path).value()->source, other->source);
    }

    void readsTheTemplateOfAGgufAsThatOfAFolder()
    {
        QTemporaryDir folder;
        const auto path = std::filesystem::path(folder.path().toStdString());
        SmallGguf made;
        std::ofstream(path / "model.gguf", std::ios::binary) << made.bytes();
        const auto format = readChatFormat(path / "model.gguf");
        QVERIFY2(format.ok(), format.ok() ? "" : format.error().message.c_str());
        QCOMPARE(format.value()->source, "{{ messages }}");
        QCOMPARE(format.value()->token("bos_token"), "<|endoftext|>");
        QCOMPARE(format.value()->token("pad_token"), "");
        made.metadata.erase("tokenizer.chat_template");
        std::ofstream(path / "without.gguf", std::ios::binary) << made.bytes();
        QVERIFY(!readChatFormat(path / "without.gguf").value());
        std::ofstream(path / "cut.gguf", std::ios::binary) << made.bytes().substr(0, 40);
        const auto cut = readChatFormat(path / "cut.gguf");
        QVERIFY(!cut.ok() && cut.error().message.find("cut.gguf") != std::string::npos);
    }

    void marksWhatIsLearntForPeople()
    {
        QCOMPARE(markedText("abcd", { { 1, 2 }, { 3, 9 } }), "a«b»c«d»");
        QCOMPARE(markedText("ab", { { 0, 1 }, { 5, 9 } }), "«a»b"); // the text was cut
        QCOMPARE(markedText("ab", {}), "ab");
        QCOMPARE(tokensWritten("x<|im_start|>' + <|a b|> <|im_start|> <|end|>"),
            (std::vector<std::string> { "<|im_start|>", "<|end|>" }));
    }
};

QTEST_GUILESS_MAIN(TestConversation)
#include "tst_conversation.moc"
