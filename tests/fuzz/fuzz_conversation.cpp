// A row of conversations from anywhere: brought into its one form or refused in words, and what it gives is written or
// refused, the same each time, with stretches inside of the text.

#include "core/base/check.h"
#include "core/base/utf8.h"
#include "core/chat/answer_pair.h"
#include "core/chat/conversation.h"
#include "core/chat/conversation_text.h"
#include "core/chat/pair_text.h"
#include "tests/fuzz/fuzz_seeds.h"

using namespace furrow;

namespace {

constexpr const char* kUnmarked
    = "{% for m in messages %}{{ m.role }}: {{ m.content }}{{ m.tool_calls | tojson if m.tool_calls else '' }}\n"
      "{% endfor %}{{ tools | tojson }}{% if add_generation_prompt %}assistant: {% endif %}";

void check(const std::string& conversation, const char* source, LearntTurns turns)
{
    const auto renderer = ConversationRenderer::open({ source, { { "bos_token", "<s>" } }, 0 });
    FURROW_CHECK(renderer.ok(), "the template is ours");
    const auto first = renderer.value().write(conversation, turns),
               second = renderer.value().write(conversation, turns);
    FURROW_CHECK(first.ok() == second.ok(), "a conversation is written once and refused once");
    if (!first.ok())
        return;
    FURROW_CHECK(first.value().text == second.value().text, "a conversation gives another text");
    FURROW_CHECK(!first.value().learnt.empty(), "nothing is learnt of what was not refused");
    std::size_t end = 0;
    for (const auto& stretch : first.value().learnt) {
        FURROW_CHECK(end <= stretch.begin && stretch.begin < stretch.end && stretch.end <= first.value().text.size(),
            "what is learnt lies outside of the text");
        end = stretch.end;
    }
}

void checkPair(std::string_view row, const ConversationColumns& columns)
{
    std::string written, same;
    const auto problem = readConversation(row, columns, written);
    FURROW_CHECK(problem == readConversation(row, columns, same) && written == same, "a row is read twice");
    FURROW_CHECK(problem.empty() != written.empty(), "a row has a pair or a problem");
    if (!problem.empty())
        return;
    const auto pair = readAnswerPair(written);
    FURROW_CHECK(pair.ok() && pair.value().chosen != pair.value().rejected, "what was written is no pair");
    const auto renderer = ConversationRenderer::open({ kChatMl, { { "bos_token", "<s>" } }, 0 });
    FURROW_CHECK(renderer.ok(), "the template is ours");
    const auto text = writePair(pair.value(), &renderer.value());
    if (!text.ok())
        return;
    for (const auto& stretch : shownPair(text.value()).learnt)
        FURROW_CHECK(stretch.begin < stretch.end, "an answer that is shown is empty");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view row(reinterpret_cast<const char*>(data), size);
    for (const ConversationColumns& columns : { ConversationColumns { ConversationForm::Messages, "messages" },
             ConversationColumns { ConversationForm::ShareGpt, "conversations" },
             ConversationColumns { ConversationForm::Alpaca, "output" },
             ConversationColumns { ConversationForm::Prompt, "completion" } }) {
        std::string conversation, same, again;
        const auto problem = readConversation(row, columns, conversation);
        FURROW_CHECK(problem == readConversation(row, columns, same) && conversation == same, "a row is read twice");
        FURROW_CHECK(problem.empty() != conversation.empty(), "a row has a conversation or a problem");
        if (!problem.empty())
            continue;
        FURROW_CHECK(isValidUtf8(conversation), "a conversation that is no UTF-8");
        const auto mended = readConversation(conversation, { ConversationForm::Messages, "messages" }, again);
        FURROW_CHECK(mended.empty() && again == conversation, "the one form is not its own form");
        check(conversation, kChatMl, LearntTurns::All);
        check(conversation, kUnmarked, LearntTurns::All);
        check(conversation, kUnmarked, LearntTurns::Last);
    }
    for (const ConversationForm form : { ConversationForm::PairOfTexts, ConversationForm::PairOfMessages })
        checkPair(row, { form, "chosen" });
    return 0;
}

std::vector<std::string> fuzzSeeds()
{
    return {
        R"({"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":[{"type":"text","text":"ü"}],"name":null},{"role":"assistant","content":"\ud83d\ude00 \n"}]})",
        R"({"tools":"[{\"type\":\"function\"}]","messages":[{"role":"user","content":"a"},{"role":"assistant","content":null,"tool_calls":[{"id":"1","function":{"name":"f","arguments":{"x":1.5}}}]},{"role":"tool","content":"7"},{"role":"assistant","content":"b"}]})",
        R"({"conversations":[{"from":"system","value":"s"},{"from":"human","value":"Hi"},{"from":"function_call","value":"{}"},{"from":"observation","value":"1"},{"from":"gpt","value":"Hello"}],"system":"S"})",
        R"({"instruction":"Add","input":"1 2","output":"3","system":"Be brief."})",
        R"({"prompt":[{"role":"user","content":"a"}],"completion":[{"role":"assistant","content":"b"}],"tools":[]})",
        R"({"prompt":"a ","chosen":"b","rejected":"c"})",
        R"({"chosen":[{"role":"user","content":"a"},{"role":"assistant","content":"b","weight":NaN}],"rejected":[{"role":"user","content":"a"},{"role":"assistant","content":"c"}],"tools":[]})",
        R"({"prompt":"a","completion":"b","messages":"[{\"role\":\"user\",\"content\":\"a\"},{\"role\":\"assistant\",\"content\":\"b\"}]"})",
    };
}
