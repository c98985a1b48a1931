#include "core/chat/template/parser.h"

#include "core/chat/template/routine.h"

#include <unordered_map>

namespace furrow::chat {

namespace {

constexpr int kDeepest = 100; ///< levels of brackets and blocks

using Kind = Expression::Kind;

/// Reads tokens by the grammar of Jinja2. After the first error it reads on without meaning, until somebody asks.
class Parser {
public:
    Parser(std::vector<Token> tokens, Arena& arena)
        : tokens_(std::move(tokens))
        , arena_(arena)
    {
        for (const std::string_view name : { "loop", "caller", "varargs", "kwargs" })
            (void)idOf(name);
    }

    Result<ParsedTemplate> parse()
    {
        const auto body = parseBody({});
        if (!failed() && token().kind != Token::Kind::End)
            fail("'" + std::string(token().text) + "' ends nothing");
        if (arena_.full())
            fail("it is too large");
        if (failed())
            return templateError(errorLine_, error_);
        return ParsedTemplate { body, std::move(names_), marksGeneration_ };
    }

private:
    /// Counts how deep the grammar has gone while it lives.
    struct Level {
        explicit Level(Parser& parser)
            : parser_(parser)
        {
            if (++parser_.depth_ > kDeepest)
                parser_.fail("it is nested too deeply");
        }
        ~Level() { --parser_.depth_; }
        Level(const Level&) = delete;
        Level& operator=(const Level&) = delete;
        Parser& parser_;
    };

    bool failed() const { return !error_.empty(); }
    void fail(std::string what)
    {
        if (failed())
            return;
        error_ = std::move(what);
        errorLine_ = token().line;
        at_ = tokens_.size() - 1; // the rest is not looked at
    }
    const Token& token(std::size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
    Token next()
    {
        const auto& taken = token();
        at_ = std::min(at_ + 1, tokens_.size() - 1);
        return taken;
    }
    bool isOperator(std::string_view text, std::size_t ahead = 0) const
    {
        return token(ahead).kind == Token::Kind::Operator && token(ahead).text == text;
    }
    bool isName(std::string_view text, std::size_t ahead = 0) const
    {
        return token(ahead).kind == Token::Kind::Name && token(ahead).text == text;
    }
    bool skipOperator(std::string_view text) { return isOperator(text) && (next(), true); }
    bool skipName(std::string_view text) { return isName(text) && (next(), true); }
    void expectOperator(std::string_view text)
    {
        if (!skipOperator(text))
            fail("'" + std::string(text) + "' is missing");
    }
    void expect(Token::Kind kind, const char* what)
    {
        if (token().kind == kind)
            next();
        else
            fail(std::string(what) + " is missing");
    }
    std::string_view expectName()
    {
        if (token().kind == Token::Kind::Name)
            return next().text;
        fail("a name is missing");
        return {};
    }
    NameId idOf(std::string_view name)
    {
        const auto [found, isNew] = ids_.try_emplace(name, static_cast<NameId>(names_.size()));
        if (isNew)
            names_.push_back(found->first);
        return found->second;
    }

    Expression made(Kind kind) const
    {
        Expression expression;
        expression.kind = kind;
        expression.line = token().line;
        return expression;
    }
    const Expression* keep(Expression expression) { return arena_.one(std::move(expression)); }
    const Expression* node(Kind kind, const std::vector<const Expression*>& parts, std::string_view text = {})
    {
        auto expression = made(kind);
        expression.parts = arena_.copy(parts);
        expression.text = text;
        return keep(expression);
    }
    const Expression* constant(Value value)
    {
        auto expression = made(Kind::Constant);
        expression.constant = value;
        return keep(expression);
    }

    // Statements

    Body parseBody(std::initializer_list<std::string_view> ends)
    {
        const Level level(*this);
        std::vector<const Statement*> body;
        while (!failed() && token().kind != Token::Kind::End) {
            if (token().kind == Token::Kind::BlockBegin) {
                if (std::any_of(ends.begin(), ends.end(), [this](auto end) { return isName(end, 1); })) {
                    next();
                    break;
                }
                next();
                body.push_back(parseBlock());
            } else if (token().kind == Token::Kind::Data) {
                Statement statement;
                statement.line = token().line;
                statement.text = next().text;
                body.push_back(arena_.one(statement));
            } else {
                body.push_back(parsePrint());
            }
        }
        if (ends.size() > 0 && token().kind == Token::Kind::End)
            fail("'" + std::string(*(ends.end() - 1)) + "' is missing");
        return arena_.copy(body);
    }

    const Statement* parsePrint()
    {
        auto statement = begun(Statement::Kind::Print);
        expect(Token::Kind::PrintBegin, "'{{'");
        statement.expression = parseTuple(true, false);
        expect(Token::Kind::PrintEnd, "'}}'");
        return arena_.one(statement);
    }

    Statement begun(Statement::Kind kind) const
    {
        Statement statement;
        statement.kind = kind;
        statement.line = token().line;
        return statement;
    }
    void endBlock() { expect(Token::Kind::BlockEnd, "'%}'"); }
    /// The rest of a block up to {% `end` %}, both tags being closed.
    Body parseBodyUntil(std::string_view end)
    {
        endBlock();
        const auto body = parseBody({ end });
        next();
        endBlock();
        return body;
    }

    const Statement* parseBlock()
    {
        static const std::unordered_map<std::string_view, Statement (Parser::*)()> kBlocks = {
            { "if", &Parser::parseIf },
            { "for", &Parser::parseFor },
            { "set", &Parser::parseSet },
            { "macro", &Parser::parseMacro },
            { "call", &Parser::parseCallBlock },
            { "filter", &Parser::parseFilterBlock },
            { "with", &Parser::parseWith },
            { "generation", &Parser::parseGeneration },
            { "break", &Parser::parseBreak },
            { "continue", &Parser::parseContinue },
        };
        const auto known = kBlocks.find(token().kind == Token::Kind::Name ? token().text : std::string_view());
        if (known == kBlocks.end()) {
            fail("a block '" + std::string(token().text) + "' is not supported here");
            return arena_.one(Statement {});
        }
        next();
        return arena_.one((this->*known->second)());
    }

    Statement parseIf()
    {
        auto statement = begun(Statement::Kind::If);
        std::vector<Branch> branches;
        std::string_view end;
        do {
            Branch branch;
            branch.condition = parseTuple(false, false);
            endBlock();
            branch.body = parseBody({ "elif", "else", "endif" });
            branches.push_back(branch);
            end = next().text;
        } while (end == "elif" && !failed());
        if (end == "else")
            branches.push_back({ nullptr, parseBodyUntil("endif") });
        else
            endBlock();
        statement.branches = arena_.copy(branches);
        return statement;
    }

    Statement parseFor()
    {
        auto statement = begun(Statement::Kind::For);
        statement.target = parseTarget(false);
        if (!skipName("in"))
            fail("'in' is missing");
        statement.expression = parseTuple(false, false);
        if (skipName("if"))
            statement.condition = parseExpression();
        if (isName("recursive"))
            fail("a recursive 'for' is not supported");
        endBlock();
        ++loops_;
        statement.body = parseBody({ "else", "endfor" });
        --loops_;
        if (next().text == "else")
            statement.otherwise = parseBodyUntil("endfor");
        else
            endBlock();
        return statement;
    }

    Target parseTarget(bool attributes)
    {
        const Level level(*this);
        std::vector<Target> targets;
        bool isTuple = false;
        while (!failed()) {
            if (skipOperator("(")) {
                targets.push_back(parseTarget(false));
                expectOperator(")");
            } else {
                Target target;
                target.name = idOf(expectName());
                if (attributes && skipOperator("."))
                    target.attribute = expectName();
                targets.push_back(target);
            }
            if (!skipOperator(","))
                break;
            isTuple = true;
            if (isOperator(")") || isName("in") || isOperator("="))
                break;
        }
        if (targets.size() == 1 && !isTuple)
            return targets.front();
        Target all;
        all.several = arena_.copy(targets);
        return all;
    }

    Statement parseSet()
    {
        auto statement = begun(Statement::Kind::Set);
        statement.target = parseTarget(true);
        if (skipOperator("=")) {
            statement.expression = parseTuple(true, false);
            endBlock();
            return statement;
        }
        statement.kind = Statement::Kind::SetBody;
        statement.expression = parseFilters(nullptr, false);
        statement.body = parseBodyUntil("endset");
        return statement;
    }

    std::span<const MacroParameter> parseParameters()
    {
        std::vector<MacroParameter> parameters;
        expectOperator("(");
        while (!failed() && !isOperator(")")) {
            if (!parameters.empty())
                expectOperator(",");
            MacroParameter parameter;
            parameter.text = expectName();
            parameter.name = idOf(parameter.text);
            if (skipOperator("="))
                parameter.otherwise = parseExpression();
            else if (!parameters.empty() && parameters.back().otherwise)
                fail("a parameter without a value stands behind one with a value");
            parameters.push_back(parameter);
        }
        expectOperator(")");
        return arena_.copy(parameters);
    }

    /// The body of what is called like a macro: it takes more arguments where it says their names.
    void parseMacroBody(Statement& statement, std::string_view end)
    {
        const auto outerLoops = std::exchange(loops_, 0);
        const auto outerMore = std::exchange(saysVarargs_, false), outerNamed = std::exchange(saysKwargs_, false);
        statement.body = parseBodyUntil(end);
        statement.takesMore = std::exchange(saysVarargs_, outerMore);
        statement.takesMoreNamed = std::exchange(saysKwargs_, outerNamed);
        loops_ = outerLoops;
    }

    Statement parseMacro()
    {
        auto statement = begun(Statement::Kind::Macro);
        statement.text = expectName();
        statement.name = idOf(statement.text);
        statement.parameters = parseParameters();
        parseMacroBody(statement, "endmacro");
        return statement;
    }

    Statement parseCallBlock()
    {
        auto statement = begun(Statement::Kind::CallBlock);
        statement.text = "caller";
        if (isOperator("("))
            statement.parameters = parseParameters();
        statement.expression = parseExpression();
        if (statement.expression->kind != Kind::Call)
            fail("'call' calls nothing");
        parseMacroBody(statement, "endcall");
        return statement;
    }

    Statement parseFilterBlock()
    {
        auto statement = begun(Statement::Kind::FilterBlock);
        statement.expression = parseFilters(nullptr, true);
        statement.body = parseBodyUntil("endfilter");
        return statement;
    }

    Statement parseWith()
    {
        auto statement = begun(Statement::Kind::With);
        std::vector<MacroParameter> names;
        while (!failed() && token().kind != Token::Kind::BlockEnd) {
            if (!names.empty())
                expectOperator(",");
            MacroParameter name;
            name.text = expectName();
            name.name = idOf(name.text);
            expectOperator("=");
            name.otherwise = parseExpression();
            names.push_back(name);
        }
        statement.parameters = arena_.copy(names);
        statement.body = parseBodyUntil("endwith");
        return statement;
    }

    Statement parseGeneration()
    {
        auto statement = begun(Statement::Kind::Generation);
        marksGeneration_ = true;
        statement.body = parseBodyUntil("endgeneration");
        return statement;
    }

    Statement parseJump(Statement::Kind kind)
    {
        const auto statement = begun(kind);
        if (loops_ == 0)
            fail("'break' and 'continue' stand in a 'for' only");
        endBlock();
        return statement;
    }
    Statement parseBreak() { return parseJump(Statement::Kind::Break); }
    Statement parseContinue() { return parseJump(Statement::Kind::Continue); }

    // Expressions, from the loosest binding to the tightest

    bool tupleEnds() const
    {
        const auto kind = token().kind;
        return kind == Token::Kind::PrintEnd || kind == Token::Kind::BlockEnd || kind == Token::Kind::End
            || isOperator(")") || isName("recursive");
    }

    /// Several expressions with commas between them, or one.
    /// @param mayBeEmpty  "()" is one
    const Expression* parseTuple(bool conditional, bool mayBeEmpty)
    {
        std::vector<const Expression*> parts;
        bool isTuple = false;
        while (!failed()) {
            if (!parts.empty())
                expectOperator(",");
            if (tupleEnds())
                break;
            parts.push_back(conditional ? parseExpression() : parseOr());
            if (!isOperator(","))
                break;
            isTuple = true;
        }
        if (isTuple || (parts.empty() && mayBeEmpty))
            return node(Kind::Tuple, parts);
        if (parts.empty())
            fail("an expression is missing");
        return parts.empty() ? constant({}) : parts.front();
    }

    const Expression* parseExpression()
    {
        const Level level(*this);
        const auto* expression = parseOr();
        while (skipName("if")) {
            const auto* condition = parseOr();
            const auto* otherwise = skipName("else") ? parseExpression() : nullptr;
            expression = node(Kind::Conditional, { condition, expression, otherwise });
        }
        return expression;
    }

    const Expression* parseOr()
    {
        const auto* left = parseAnd();
        while (skipName("or"))
            left = node(Kind::Or, { left, parseAnd() });
        return left;
    }

    const Expression* parseAnd()
    {
        const auto* left = parseNot();
        while (skipName("and"))
            left = node(Kind::And, { left, parseNot() });
        return left;
    }

    const Expression* parseNot()
    {
        const Level level(*this);
        if (skipName("not"))
            return node(Kind::Not, { parseNot() });
        return parseCompare();
    }

    const Expression* parseCompare()
    {
        std::vector<const Expression*> parts { parseSum() };
        std::vector<std::string_view> operators;
        while (!failed()) {
            const bool compares = token().kind == Token::Kind::Operator
                && (token().text == "==" || token().text == "!=" || token().text == "<" || token().text == "<="
                    || token().text == ">" || token().text == ">=");
            if (compares || isName("in")) {
                operators.push_back(next().text);
            } else if (isName("not") && isName("in", 1)) {
                next();
                next();
                operators.push_back("not in");
            } else {
                break;
            }
            parts.push_back(parseSum());
        }
        if (operators.empty())
            return parts.front();
        auto expression = made(Kind::Compare);
        expression.parts = arena_.copy(parts);
        expression.operators = arena_.copy(operators);
        return keep(expression);
    }

    const Expression* parseSum()
    {
        const auto* left = parseConcat();
        while (isOperator("+") || isOperator("-")) {
            const auto sign = next().text;
            left = node(Kind::Binary, { left, parseConcat() }, sign);
        }
        return left;
    }

    const Expression* parseConcat()
    {
        std::vector<const Expression*> parts { parseProduct() };
        while (skipOperator("~"))
            parts.push_back(parseProduct());
        return parts.size() == 1 ? parts.front() : node(Kind::Concat, parts);
    }

    const Expression* parseProduct()
    {
        const auto* left = parsePower();
        while (isOperator("*") || isOperator("/") || isOperator("//") || isOperator("%")) {
            const auto sign = next().text;
            left = node(Kind::Binary, { left, parsePower() }, sign);
        }
        return left;
    }

    const Expression* parsePower()
    {
        const auto* left = parseUnary(true);
        while (skipOperator("**"))
            left = node(Kind::Binary, { left, parseUnary(true) }, "**");
        return left;
    }

    const Expression* parseUnary(bool withFilters)
    {
        const Level level(*this);
        const Expression* expression = nullptr;
        if (skipOperator("-"))
            expression = node(Kind::Negative, { parseUnary(false) });
        else if (skipOperator("+"))
            expression = node(Kind::Positive, { parseUnary(false) });
        else
            expression = parsePrimary();
        expression = parsePostfix(expression);
        return withFilters ? parseFilters(expression, false) : expression;
    }

    const Expression* parsePrimary()
    {
        const auto first = token();
        if (first.kind == Token::Kind::Name)
            return parseName(next().text);
        if (first.kind == Token::Kind::Number)
            return constant(next().value);
        if (first.kind == Token::Kind::Text)
            return parseTexts();
        if (skipOperator("(")) {
            const auto* inner = parseTuple(true, true);
            expectOperator(")");
            return inner;
        }
        if (skipOperator("["))
            return parseList();
        if (skipOperator("{"))
            return parseDict();
        fail(first.kind == Token::Kind::Operator ? "'" + std::string(first.text) + "' is not expected"
                                                 : "an expression is missing");
        return constant({});
    }

    const Expression* parseName(std::string_view name)
    {
        if (name == "true" || name == "True")
            return constant(true);
        if (name == "false" || name == "False")
            return constant(false);
        if (name == "none" || name == "None")
            return constant(None {});
        auto expression = made(Kind::Name);
        expression.name = idOf(name);
        expression.text = name;
        saysVarargs_ = saysVarargs_ || expression.name == kVarargsName;
        saysKwargs_ = saysKwargs_ || expression.name == kKwargsName;
        return keep(expression);
    }

    const Expression* parseTexts()
    {
        const auto first = next().text;
        if (token().kind != Token::Kind::Text)
            return constant(first);
        std::string joined(first);
        while (token().kind == Token::Kind::Text)
            joined += next().text;
        return constant(arena_.keep(joined));
    }

    const Expression* parseList()
    {
        std::vector<const Expression*> parts;
        while (!failed() && !isOperator("]")) {
            if (!parts.empty())
                expectOperator(",");
            if (isOperator("]"))
                break;
            parts.push_back(parseExpression());
        }
        expectOperator("]");
        return node(Kind::List, parts);
    }

    const Expression* parseDict()
    {
        std::vector<const Expression*> parts;
        while (!failed() && !isOperator("}")) {
            if (!parts.empty())
                expectOperator(",");
            if (isOperator("}"))
                break;
            parts.push_back(parseExpression());
            expectOperator(":");
            parts.push_back(parseExpression());
        }
        expectOperator("}");
        return node(Kind::Dict, parts);
    }

    const Expression* parsePostfix(const Expression* expression)
    {
        while (!failed()) {
            if (skipOperator("."))
                expression = parseAttribute(expression);
            else if (skipOperator("["))
                expression = parseSubscript(expression);
            else if (isOperator("("))
                expression = parseCall(expression);
            else
                break;
        }
        return expression;
    }

    const Expression* parseAttribute(const Expression* of)
    {
        if (token().kind == Token::Kind::Number)
            return node(Kind::Item, { of, constant(next().value) });
        return node(Kind::Attribute, { of }, expectName());
    }

    const Expression* parseSubscript(const Expression* of)
    {
        const auto ends = [this] { return isOperator(":") || isOperator("]"); };
        const Expression* first = isOperator(":") ? nullptr : parseExpression();
        if (!isOperator(":")) {
            std::vector<const Expression*> several { first };
            while (skipOperator(","))
                several.push_back(parseExpression());
            expectOperator("]");
            return node(Kind::Item, { of, several.size() == 1 ? first : node(Kind::Tuple, several) });
        }
        next();
        const auto* to = ends() ? nullptr : parseExpression();
        const auto* step = skipOperator(":") && !ends() ? parseExpression() : nullptr;
        expectOperator("]");
        return node(Kind::Slice, { of, first, to, step });
    }

    const ArgumentList* parseArguments()
    {
        std::vector<const Expression*> positional;
        std::vector<NamedArgument> named;
        ArgumentList list;
        expectOperator("(");
        for (bool first = true; !failed() && !isOperator(")"); first = false) {
            if (!first)
                expectOperator(",");
            if (isOperator(")"))
                break;
            if (skipOperator("**"))
                list.moreNamed = parseExpression();
            else if (skipOperator("*"))
                list.more = parseExpression();
            else if (token().kind == Token::Kind::Name && isOperator("=", 1)) {
                const auto name = next().text;
                next();
                named.push_back({ name, parseExpression() });
            } else if (named.empty() && !list.moreNamed)
                positional.push_back(parseExpression());
            else
                fail("an argument without a name stands behind one with a name");
        }
        expectOperator(")");
        list.positional = arena_.copy(positional);
        list.named = arena_.copy(named);
        return arena_.one(list);
    }

    const Expression* parseCall(const Expression* of)
    {
        auto expression = made(Kind::Call);
        expression.parts = arena_.copy(std::vector<const Expression*> { of });
        expression.arguments = parseArguments();
        return keep(expression);
    }

    std::string_view dottedName()
    {
        auto name = expectName();
        while (skipOperator("."))
            name = arena_.keep(std::string(name) + "." + std::string(expectName()));
        return name;
    }

    /// Filters, tests and calls behind a value. @param first  a filter's name comes at once, without |
    const Expression* parseFilters(const Expression* expression, bool first)
    {
        while (!failed()) {
            if (first || skipOperator("|"))
                expression = parseFilter(expression);
            else if (expression && skipName("is"))
                expression = parseTest(expression);
            else if (expression && isOperator("("))
                expression = parseCall(expression);
            else
                break;
            first = false;
        }
        return expression;
    }

    const Expression* parseFilter(const Expression* of)
    {
        auto expression = made(Kind::Filter);
        expression.text = dottedName();
        expression.routine = findFilter(expression.text);
        expression.parts = of ? arena_.copy(std::vector<const Expression*> { of }) : Expressions {};
        if (isOperator("("))
            expression.arguments = parseArguments();
        return keep(expression);
    }

    const Expression* parseTest(const Expression* of)
    {
        const bool negated = skipName("not");
        auto expression = made(Kind::Test);
        expression.text = dottedName();
        expression.routine = findTest(expression.text);
        expression.parts = arena_.copy(std::vector<const Expression*> { of });
        const auto kind = token().kind;
        const bool value = kind == Token::Kind::Text || kind == Token::Kind::Number || isOperator("[")
            || isOperator("{") || (kind == Token::Kind::Name && !isName("else") && !isName("or") && !isName("and"));
        if (isOperator("(")) {
            expression.arguments = parseArguments();
        } else if (value) {
            if (isName("is"))
                fail("tests cannot be chained by 'is'");
            ArgumentList list;
            list.positional = arena_.copy(std::vector<const Expression*> { parsePostfix(parsePrimary()) });
            expression.arguments = arena_.one(list);
        }
        const auto* test = keep(expression);
        return negated ? node(Kind::Not, { test }) : test;
    }

    std::vector<Token> tokens_;
    Arena& arena_;
    std::unordered_map<std::string_view, NameId> ids_;
    std::vector<std::string_view> names_;
    std::string error_;
    int errorLine_ = 1;
    std::size_t at_ = 0;
    int depth_ = 0;
    int loops_ = 0; // around here, inside of the same macro
    bool saysVarargs_ = false;
    bool saysKwargs_ = false;
    bool marksGeneration_ = false;
};

} // namespace

Result<ParsedTemplate> parseTemplate(std::string_view source, Arena& arena)
{
    FURROW_TRY_ASSIGN(auto tokens, readTokens(source, arena));
    return Parser(std::move(tokens), arena).parse();
}

} // namespace furrow::chat
