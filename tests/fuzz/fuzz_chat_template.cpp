// A chat template and a conversation from anywhere: rendered or refused in words, within bounds, the same each time.

#include "core/base/check.h"
#include "core/chat/chat_template.h"
#include "core/chat/template/json.h"
#include "tests/fuzz/fuzz_seeds.h"

using namespace furrow;

/// The input is a template and, behind a zero byte, the messages.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto zero = text.find('\0');
    const auto parsed = ChatTemplate::parse(text.substr(0, zero));
    if (!parsed.ok()) {
        FURROW_CHECK(parsed.error().message.starts_with("the chat template "), "an error without its subject");
        return 0;
    }
    chat::Arena arena(1 << 20);
    const auto messages = chat::readJson(
        zero == std::string_view::npos ? R"([{"role":"user","content":"ü"}])" : text.substr(zero + 1), arena);
    ChatInputs inputs;
    if (messages.ok())
        inputs.messages = messages.value();
    const auto first = parsed.value()->render(inputs), second = parsed.value()->render(inputs);
    FURROW_CHECK(first.ok() == second.ok(), "a template is rendered once and refused once");
    FURROW_CHECK(
        first.ok() ? first.value().text == second.value().text : first.error().message == second.error().message,
        "a template gives another text");
    for (const auto& stretch : first.ok() ? first.value().generated : std::vector<ChatStretch> {})
        FURROW_CHECK(stretch.begin <= stretch.end && stretch.end <= first.value().text.size(),
            "what was generated lies outside of the text");
    return 0;
}

std::vector<std::string> fuzzSeeds()
{
    const std::string messages(
        R"([{"role":"system","content":"Be brief."},{"role":"user","content":["a",{"type":"text","text":"ü"}]},{"role":"assistant","content":null,"tool_calls":[{"id":"1","function":{"name":"f","arguments":{"x":1.5}}}]}])");
    std::vector<std::string> seeds {
        "{{ bos_token }}{% for message in messages %}\n{{- '<|im_start|>' + message['role'] + '\\n' + message.content|string|trim }}{% endfor %}{% if add_generation_prompt %}x{% endif %}",
        "{% set ns = namespace(x=1, y='a') %}{% for m in messages[::-1] if m.role != 'x' %}{% set ns.x = ns.x * 2 + loop.index0 %}{% else %}none{% endfor %}{{ ns.x ~ ns.y }}",
        "{% macro f(a, b=1) %}{{ a }}{{ varargs }}{{ kwargs|tojson }}{{ caller() }}{% endmacro %}{% call f(1, 2, 3, x=4) %}in{% endcall %}{% filter upper|trim %} a {% endfilter %}",
        "{{ messages|map(attribute='role')|list|tojson(indent=2) }}{{ messages|selectattr('role', 'equalto', 'user')|first }}{{ {'b': [1, 2.5], 'a': none}|dictsort }}",
        "{% generation %}{{ 'a,b'.split(',') }}{{ 'abc'[1:-1:2] }}{{ 'x'.replace('x', 'y', 1)|title }}{% endgeneration %}{% raw %}{{{% endraw %}{# c #}",
        "{{ 1 if messages is defined and messages|length > 1 else 'z' }}{{ -7 // 2 % 3 ** 2 }}{{ 'a' in 'abc' and not false }}{% set a, b = 1, 2 %}{% with c=a %}{{ c }}{% endwith %}",
        "{%- for i in range(3) -%}{% if i is odd %}{% continue %}{% elif i > 1 %}{% break %}{% endif %}{{ i }}{%- endfor -%}{{ strftime_now('%Y') }}{{ raise_exception('no') }}",
    };
    for (auto& seed : seeds)
        seed += '\0' + messages;
    return seeds;
}
