#include "core/chat/chat_template.h"
#include "core/chat/template/json.h"

#include <QTest>

using namespace furrow;

/// The interpreter of chat templates, on templates of our own. tests/oracle/chat_templates.py compares it with jinja2.
class TestChatTemplate : public QObject {
    Q_OBJECT

    static constexpr const char* kTurns
        = R"([{"role":"system","content":"Be brief."},{"role":"user","content":" Hi "},{"role":"assistant","content":"Hello"}])";

    static Result<RenderedChat> rendered(const std::string& source, const std::string& messages = kTurns,
        bool prompt = false, const std::string& tools = "null")
    {
        const auto parsed = ChatTemplate::parse(source);
        if (!parsed.ok())
            return parsed.error();
        chat::Arena arena(1 << 20);
        const auto read = chat::readJson(messages, arena);
        const auto readTools = chat::readJson(tools, arena);
        if (!read.ok() || !readTools.ok())
            return read.ok() ? readTools.error() : read.error();
        ChatInputs inputs;
        inputs.messages = read.value();
        inputs.tools = readTools.value();
        inputs.addGenerationPrompt = prompt;
        inputs.variables = { { "bos_token", std::string_view("<s>") } };
        inputs.now.tm_year = 124;
        inputs.now.tm_mon = 1;
        inputs.now.tm_mday = 7;
        return parsed.value()->render(inputs);
    }
    static QString text(const std::string& source, const std::string& messages = kTurns, bool prompt = false,
        const std::string& tools = "null")
    {
        const auto result = rendered(source, messages, prompt, tools);
        return QString::fromStdString(result.ok() ? result.value().text : "error: " + result.error().message.text());
    }

private Q_SLOTS:
    void rendersAConversation()
    {
        const std::string chatml
            = "{{ bos_token }}{% for message in messages %}\n"
              "    {{- '<|im_start|>' + message.role + '\\n' + (message['content'] | trim) + '<|im_end|>\\n' }}\n"
              "{%- endfor %}\n"
              "{%- if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}\n";
        QCOMPARE(text(chatml, kTurns, true),
            QStringLiteral("<s><|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>"
                           "assistant\nHello<|im_end|>\n<|im_start|>assistant\n"));
        QVERIFY(!text(chatml).endsWith(QStringLiteral("assistant\n")));
    }

    void cutsWhiteSpaceAsTagsAsk()
    {
        QCOMPARE(text("a\n  {% if true %}\n  b\n  {% endif %}\n c"), QStringLiteral("a\n  b\n c"));
        QCOMPARE(text("a\n  {%+ if true %}x{% endif +%}\nb\n"), QStringLiteral("a\n  x\nb"));
        QCOMPARE(text("a \n {%- if true -%} \n b {{- ' c ' -}} d{% endif %}"), QStringLiteral("ab c d"));
        QCOMPARE(text("a\n  {# said #}\nb{% raw %} {{ x }} {% endraw %}c"), QStringLiteral("a\nb {{ x }} c"));
    }

    void keepsTheOrderOfTheKeysOfTools()
    {
        const std::string function = "{\"type\": \"function\", \"function\": {\"z\": 1, \"a\": [true, null, 1.0, "
                                     "\"ü\\n\\\"<\"], \"empty\": {}}}";
        const auto tools = "[" + function + "]";
        QCOMPARE(text("{% for tool in tools %}{{ tool | tojson }}{% endfor %}", kTurns, false, tools),
            QString::fromStdString(function));
        QCOMPARE(text("{{ tools[0].function.a | tojson(indent=2) }}", kTurns, false, tools),
            QStringLiteral("[\n  true,\n  null,\n  1.0,\n  \"ü\\n\\\"<\"\n]"));
        QCOMPARE(text("{{ tools is none }}{{ tools }}"), QStringLiteral("TrueNone"));
    }

    void remembersInNamespacesAndNotInLoops()
    {
        QCOMPARE(text("{% set x = 1 %}{% set n = namespace(x=1) %}{% for m in messages %}{% set x = x + 1 %}"
                      "{% set n.x = n.x + 1 %}{% endfor %}{{ x }}{{ n.x }}"),
            QStringLiteral("14"));
        QCOMPARE(text("{% macro m(a, b='B') %}{{ a }}{{ b }}{{ caller() if caller }}{% endmacro %}{{ m(1) }}"
                      "{% call m(b=2, a=3) %}!{% endcall %}"),
            QStringLiteral("1B32!"));
    }

    void countsCodePoints()
    {
        QCOMPARE(text("{{ 'äöü€'|length }}{{ 'äöü€'[1:3] }}{{ 'äöü€'[::-1] }}{{ 'äöü'.find('ü') }}"),
            QStringLiteral("4öü€üöä2"));
        QCOMPARE(text("{{ 'straße'|upper }}{{ 'ΑΣ'|lower }}"), QStringLiteral("STRASSEας"));
    }

    void printsWhatPythonPrints()
    {
        QCOMPARE(text("{{ [1, 1.0, 1e16, 'it\\'s', none, true, {'a': (1,)}] }}"),
            QStringLiteral("[1, 1.0, 1e+16, \"it's\", None, True, {'a': (1,)}]"));
        QCOMPARE(text("{{ 7 // -2 }} {{ -7 % 3 }} {{ 7 / 2 }} {{ 2 ** 3 }}"), QStringLiteral("-4 2 3.5 8"));
    }

    void saysWhatTheAssistantWrote()
    {
        const auto result = rendered("{% for m in messages %}{{ m.role }}: {% if m.role == 'assistant' %}"
                                     "{% generation %}{{ m.content }}ü{% endgeneration %}{% endif %};{% endfor %}");
        QVERIFY(result.ok());
        QCOMPARE(result.value().generated.size(), std::size_t(1));
        const auto stretch = result.value().generated[0];
        QCOMPARE(result.value().text.substr(stretch.begin, stretch.end - stretch.begin), std::string("Helloü"));
        QVERIFY(ChatTemplate::parse("{% generation %}{% endgeneration %}").value()->marksGeneration());
        QVERIFY(!ChatTemplate::parse("generation").value()->marksGeneration());
    }

    /// A sample must be the same sample when its block is prepared again on another day.
    void tellsTheTimeThatItWasGiven()
    {
        QCOMPARE(text("{{ strftime_now('%d %b %Y') }}"), QStringLiteral("07 Feb 2024"));
        QCOMPARE(text("{{ strftime_now('%Q') }}"),
            QStringLiteral("error: the chat template fails in line 1: strftime_now does not know '%Q'"));
    }

    void refusesWithTheLine_data()
    {
        QTest::addColumn<QString>("source");
        QTest::addColumn<QString>("said");
        const QString fails = QStringLiteral("error: the chat template fails in line ");
        QTest::newRow("undefined") << "a\n{{ x.y }}" << fails + "2: 'x' is undefined";
        QTest::newRow("types") << "{{ 1 + 'a' }}" << fails + "1: 'int' and 'str' cannot be calculated with";
        QTest::newRow("changes") << "{{ messages.append(1) }}"
                                 << fails + "1: 'append' is undefined, or may not be called by a template";
        QTest::newRow("filter") << "\n\n{{ 'a'|urlize }}" << fails + "3: there is no filter 'urlize' here";
        QTest::newRow("block") << "{% include 'x' %}" << fails + "1: a block 'include' is not supported here";
        QTest::newRow("open tag") << "a\n{{ 'b'" << fails + "2: a tag is not closed";
        QTest::newRow("open block") << "{% if true %}" << fails + "1: 'endif' is missing";
        QTest::newRow("end") << "{% endif %}" << fails + "1: a block 'endif' is not supported here";
        QTest::newRow("zero") << "{{ 1 % 0 }}" << fails + "1: division by zero";
        QTest::newRow("own reason") << "{{ raise_exception('Roles must alternate') }}"
                                    << "error: the chat template refuses this: Roles must alternate";
        QTest::newRow("bytes") << "" << "";
    }
    void refusesWithTheLine()
    {
        QFETCH(QString, source);
        QFETCH(QString, said);
        QCOMPARE(text(source.toStdString()), said);
    }

    void isNotUtf8()
    {
        QCOMPARE(text("a\xff"), QStringLiteral("error: the chat template fails in line 1: it is not UTF-8"));
    }

    /// Templates come with models from anywhere.
    void endsWhateverATemplateDoes_data()
    {
        QTest::addColumn<QString>("source");
        const QString loops = QStringLiteral("{% for a in range(99999) %}").repeated(4);
        QTest::newRow("loops") << loops + QStringLiteral("{% set b = 1 %}")
                + QStringLiteral("{% endfor %}").repeated(4);
        QTest::newRow("output") << loops + QStringLiteral("{{ 'many words' * 1000 }}")
                + QStringLiteral("{% endfor %}").repeated(4);
        QTest::newRow("macro") << "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}";
        QTest::newRow("two macros")
            << "{% macro n() %}{% endmacro %}{% macro m(f) %}{{ f(f) }}{% endmacro %}{{ m(m) }}";
        QTest::newRow("doubling text")
            << "{% set n = namespace(x='x') %}{% for i in range(99) %}{% set n.x = n.x + n.x %}{% endfor %}";
        QTest::newRow("doubling list")
            << "{% set n = namespace(x=[1]) %}{% for i in range(99) %}{% set n.x = n.x + n.x %}{% endfor %}";
        QTest::newRow("deep list")
            << "{% set n = namespace(x=[1]) %}{% for i in range(99999) %}{% set n.x = [n.x] %}{% endfor %}";
        QTest::newRow("laughs")
            << "{% set n = namespace(x=[1], y=[1]) %}{% for i in range(80) %}{% set n.x = [n.x, n.x] %}"
               "{% set n.y = [n.y, n.y] %}{% endfor %}{{ n.x == n.y }}";
        QTest::newRow("laughs printed")
            << "{% set n = namespace(x=[1]) %}{% for i in range(80) %}{% set n.x = [n.x, n.x] %}{% endfor %}{{ n.x }}";
        QTest::newRow("laughs as JSON")
            << "{% set n = namespace(x=[1]) %}{% for i in range(80) %}{% set n.x = [n.x, n.x] %}{% endfor %}{{ n.x|tojson }}";
        QTest::newRow("repeated") << "{{ 'x' * 99999999999 }}";
        QTest::newRow("centred") << "{{ 'x'.center(99999999999) }}";
        QTest::newRow("replaced") << "{% set x = 'a' * 9999 %}{{ x.replace('', x).replace('', x) }}";
        QTest::newRow("brackets") << "{{ " + QStringLiteral("(").repeated(5000) + "1"
                + QStringLiteral(")").repeated(5000) + " }}";
        QTest::newRow("nots") << "{{ " + QStringLiteral("not ").repeated(50000) + "1 }}";
        QTest::newRow("sums") << "{{ 1" + QStringLiteral("+1").repeated(50000) + " }}";
        QTest::newRow("blocks") << QStringLiteral("{% if true %}").repeated(5000)
                + QStringLiteral("{% endif %}").repeated(5000);
        QTest::newRow("attributes") << "{{ messages" + QStringLiteral("[0:]").repeated(5000) + " }}";
    }
    void endsWhateverATemplateDoes()
    {
        QFETCH(QString, source);
        const auto said = text(source.toStdString());
        QVERIFY2(
            said.startsWith(QStringLiteral("error: the chat template fails in line 1: ")), qPrintable(said.left(200)));
    }

    void holdsANamespaceThatHoldsItself()
    {
        const auto said
            = text("{% set n = namespace(x=1) %}{% set n.x = [n] %}{{ n == n }}{{ n.x is sequence }}{{ n }}");
        QVERIFY2(said.startsWith(QStringLiteral("TrueTrue<Namespace")), qPrintable(said.left(200)));
    }

    void refusesATemplateOfMegabytes()
    {
        QCOMPARE(
            text(std::string((1 << 20) + 1, 'a')), QStringLiteral("error: the chat template is larger than 1 MiB"));
    }

    void readsJsonAsPythonDoes()
    {
        chat::Arena arena(1 << 20);
        const auto read = chat::readJson(R"({"b":1,"a":2,"b":[3,-1.5e3,"é😀"]})", arena);
        QVERIFY(read.ok());
        std::string printed;
        chat::appendRepresentation(read.value(), 1000, printed);
        QCOMPARE(printed, std::string("{'b': [3, -1500.0, 'é😀'], 'a': 2}"));
        for (const char* bad :
            { "", "{", "[1,]", "nul", "\"\\ud800\"", "1NaN", "-NaN", "NaNNaN", "{NaN:1}", "01e999", "1e999-" })
            QVERIFY2(!chat::readJson(bad, arena).ok(), bad);
        QVERIFY(!chat::readJson(std::string(5000, '['), arena).ok());
    }

    /// A number in any field cost the whole conversation.
    void conversationsWithNumbersThatPythonReadsWereLost()
    {
        chat::Arena arena(1 << 20);
        const auto read = chat::readJson(
            R"([1,NaN,-Infinity,Infinity,1e999,-1e999,"NaN 1e999",18446744073709551615,{"a":NaN,"b":2}])", arena);
        QVERIFY2(read.ok(), read.ok() ? "" : read.error().message.c_str());
        std::string printed;
        QCOMPARE(chat::appendJson(read.value(), {}, 1000, printed), std::string());
        QCOMPARE(printed,
            std::string(
                R"([1, NaN, -Infinity, Infinity, Infinity, -Infinity, "NaN 1e999", 1.8446744073709552e+19, {"a": NaN, "b": 2}])"));
        const std::string large(400, '9');
        QVERIFY(chat::readJson(large, arena).ok());
    }
};

QTEST_GUILESS_MAIN(TestChatTemplate)
#include "tst_chat_template.moc"
