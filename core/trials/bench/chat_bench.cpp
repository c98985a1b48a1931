#include "core/trials/bench/chat_bench.h"

#include "core/base/stopwatch.h"
#include "core/chat/chat_template.h"
#include "core/chat/template/json.h"

namespace furrow {

namespace {

std::string conversation(int turns)
{
    std::string json = R"([{"role":"system","content":"Be brief."})";
    for (int i = 1; i < turns; ++i) {
        const bool user = i % 2 == 1;
        json += user
            ? R"(,{"role":"user","content":"How warm is it in Zürich today, and will it rain tomorrow?"})"
            : R"(,{"role":"assistant","content":"<think>\nI look.\n</think>\n\nIt is 7 °C and it will rain."})";
    }
    return json + "]";
}

constexpr const char* kTools
    = R"([{"type":"function","function":{"name":"weather","description":"The weather at a place","parameters":{"type":"object","properties":{"place":{"type":"string"}},"required":["place"]}}}])";

} // namespace

constexpr std::string_view kBenchTemplate = R"({%- if tools %}
    {{- '<|im_start|>system\n' }}
    {%- for tool in tools %}
        {{- tool | tojson }}
    {%- endfor %}
    {{- '<|im_end|>\n' }}
{%- endif %}
{%- set ns = namespace(last=-1) %}
{%- for message in messages[::-1] %}
    {%- set index = (messages|length - 1) - loop.index0 %}
    {%- if ns.last < 0 and message.role == 'user' and message.content is string %}
        {%- set ns.last = index %}
    {%- endif %}
{%- endfor %}
{%- for message in messages %}
    {%- if message.role == 'user' or (message.role == 'system' and not loop.first) %}
        {{- '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>' + '\n' }}
    {%- elif message.role == 'assistant' %}
        {%- set content = message.content %}
        {%- set thoughts = '' %}
        {%- if message.thoughts is defined and message.thoughts is not none %}
            {%- set thoughts = message.thoughts %}
        {%- elif '</think>' in content %}
            {%- set thoughts = content.split('</think>')[0].rstrip('\n').split('<think>')[-1].lstrip('\n') %}
            {%- set content = content.split('</think>')[-1].lstrip('\n') %}
        {%- endif %}
        {%- if loop.index0 > ns.last and (loop.last or thoughts) %}
            {{- '<|im_start|>' + message.role + '\n<think>\n' + thoughts.strip('\n') + '\n</think>\n\n' + content }}
        {%- else %}
            {{- '<|im_start|>' + message.role + '\n' + content }}
        {%- endif %}
        {{- '<|im_end|>\n' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\n' }}
{%- endif %}
)";

Result<ChatBench> benchChat(std::string_view source, int turns)
{
    FURROW_TRY_ASSIGN(const auto parsed, ChatTemplate::parse(source));
    chat::Arena arena(std::size_t(64) << 20);
    ChatInputs inputs;
    FURROW_TRY_ASSIGN(inputs.messages, chat::readJson(conversation(turns), arena));
    FURROW_TRY_ASSIGN(inputs.tools, chat::readJson(kTools, arena));
    inputs.variables = { { "bos_token", std::string_view("<s>") }, { "eos_token", std::string_view("</s>") } };
    ChatBench bench;
    bench.turns = turns;
    int rendered = 0;
    const Stopwatch watch;
    do {
        FURROW_TRY_ASSIGN(const auto chat, parsed->render(inputs));
        bench.textBytes = chat.text.size();
        ++rendered;
    } while (watch.seconds() < 1);
    bench.microsecondsATurn = watch.seconds() * 1e6 / rendered / turns;
    return bench;
}

} // namespace furrow
