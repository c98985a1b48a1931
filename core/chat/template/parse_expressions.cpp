#include "core/chat/template/grammar.h"
#include "core/chat/template/routine.h"

namespace furrow::chat {

bool Parser::tupleEnds() const
{
    const auto kind = token().kind;
    return kind == Token::Kind::PrintEnd || kind == Token::Kind::BlockEnd || kind == Token::Kind::End || isOperator(")")
        || isName("recursive");
}

const Expression* Parser::parseTuple(bool conditional, bool mayBeEmpty)
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

const Expression* Parser::parseExpression()
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

const Expression* Parser::parseOr()
{
    const auto* left = parseAnd();
    while (skipName("or"))
        left = node(Kind::Or, { left, parseAnd() });
    return left;
}

const Expression* Parser::parseAnd()
{
    const auto* left = parseNot();
    while (skipName("and"))
        left = node(Kind::And, { left, parseNot() });
    return left;
}

const Expression* Parser::parseNot()
{
    const Level level(*this);
    if (skipName("not"))
        return node(Kind::Not, { parseNot() });
    return parseCompare();
}

const Expression* Parser::parseCompare()
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

const Expression* Parser::parseSum()
{
    const auto* left = parseConcat();
    while (isOperator("+") || isOperator("-")) {
        const auto sign = next().text;
        left = node(Kind::Binary, { left, parseConcat() }, sign);
    }
    return left;
}

const Expression* Parser::parseConcat()
{
    std::vector<const Expression*> parts { parseProduct() };
    while (skipOperator("~"))
        parts.push_back(parseProduct());
    return parts.size() == 1 ? parts.front() : node(Kind::Concat, parts);
}

const Expression* Parser::parseProduct()
{
    const auto* left = parsePower();
    while (isOperator("*") || isOperator("/") || isOperator("//") || isOperator("%")) {
        const auto sign = next().text;
        left = node(Kind::Binary, { left, parsePower() }, sign);
    }
    return left;
}

const Expression* Parser::parsePower()
{
    const auto* left = parseUnary(true);
    while (skipOperator("**"))
        left = node(Kind::Binary, { left, parseUnary(true) }, "**");
    return left;
}

const Expression* Parser::parseUnary(bool withFilters)
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

const Expression* Parser::parsePrimary()
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

const Expression* Parser::parseName(std::string_view name)
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

const Expression* Parser::parseTexts()
{
    const auto first = next().text;
    if (token().kind != Token::Kind::Text)
        return constant(first);
    std::string joined(first);
    while (token().kind == Token::Kind::Text)
        joined += next().text;
    return constant(arena_.keep(joined));
}

const Expression* Parser::parseList()
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

const Expression* Parser::parseDict()
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

const Expression* Parser::parsePostfix(const Expression* expression)
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

const Expression* Parser::parseAttribute(const Expression* of)
{
    if (token().kind == Token::Kind::Number)
        return node(Kind::Item, { of, constant(next().value) });
    return node(Kind::Attribute, { of }, expectName());
}

const Expression* Parser::parseSubscript(const Expression* of)
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

const ArgumentList* Parser::parseArguments()
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

const Expression* Parser::parseCall(const Expression* of)
{
    auto expression = made(Kind::Call);
    expression.parts = arena_.copy(std::vector<const Expression*> { of });
    expression.arguments = parseArguments();
    return keep(expression);
}

std::string_view Parser::dottedName()
{
    auto name = expectName();
    while (skipOperator("."))
        name = arena_.keep(std::string(name) + "." + std::string(expectName()));
    return name;
}

const Expression* Parser::parseFilters(const Expression* expression, bool first)
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

const Expression* Parser::parseFilter(const Expression* of)
{
    auto expression = made(Kind::Filter);
    expression.text = dottedName();
    expression.routine = findFilter(expression.text);
    expression.parts = of ? arena_.copy(std::vector<const Expression*> { of }) : Expressions {};
    if (isOperator("("))
        expression.arguments = parseArguments();
    return keep(expression);
}

const Expression* Parser::parseTest(const Expression* of)
{
    const bool negated = skipName("not");
    auto expression = made(Kind::Test);
    expression.text = dottedName();
    expression.routine = findTest(expression.text);
    expression.parts = arena_.copy(std::vector<const Expression*> { of });
    const auto kind = token().kind;
    const bool value = kind == Token::Kind::Text || kind == Token::Kind::Number || isOperator("[") || isOperator("{")
        || (kind == Token::Kind::Name && !isName("else") && !isName("or") && !isName("and"));
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

} // namespace furrow::chat
