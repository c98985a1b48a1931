#include "core/chat/template/grammar.h"

#include <algorithm>
#include <utility>

namespace furrow::chat {

Body Parser::parseBody(std::initializer_list<std::string_view> ends)
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

const Statement* Parser::parsePrint()
{
    auto statement = begun(Statement::Kind::Print);
    expect(Token::Kind::PrintBegin, "'{{'");
    statement.expression = parseTuple(true, false);
    expect(Token::Kind::PrintEnd, "'}}'");
    return arena_.one(statement);
}

Statement Parser::begun(Statement::Kind kind) const
{
    Statement statement;
    statement.kind = kind;
    statement.line = token().line;
    return statement;
}

Body Parser::parseBodyUntil(std::string_view end)
{
    endBlock();
    const auto body = parseBody({ end });
    next();
    endBlock();
    return body;
}

const Statement* Parser::parseBlock()
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

Statement Parser::parseIf()
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

Statement Parser::parseFor()
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

Target Parser::parseTarget(bool attributes)
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

Statement Parser::parseSet()
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

std::span<const MacroParameter> Parser::parseParameters()
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

void Parser::parseMacroBody(Statement& statement, std::string_view end)
{
    const auto outerLoops = std::exchange(loops_, 0);
    const auto outerMore = std::exchange(saysVarargs_, false), outerNamed = std::exchange(saysKwargs_, false);
    statement.body = parseBodyUntil(end);
    statement.takesMore = std::exchange(saysVarargs_, outerMore);
    statement.takesMoreNamed = std::exchange(saysKwargs_, outerNamed);
    loops_ = outerLoops;
}

Statement Parser::parseMacro()
{
    auto statement = begun(Statement::Kind::Macro);
    statement.text = expectName();
    statement.name = idOf(statement.text);
    statement.parameters = parseParameters();
    parseMacroBody(statement, "endmacro");
    return statement;
}

Statement Parser::parseCallBlock()
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

Statement Parser::parseFilterBlock()
{
    auto statement = begun(Statement::Kind::FilterBlock);
    statement.expression = parseFilters(nullptr, true);
    statement.body = parseBodyUntil("endfilter");
    return statement;
}

Statement Parser::parseWith()
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

Statement Parser::parseGeneration()
{
    auto statement = begun(Statement::Kind::Generation);
    marksGeneration_ = true;
    statement.body = parseBodyUntil("endgeneration");
    return statement;
}

Statement Parser::parseJump(Statement::Kind kind)
{
    const auto statement = begun(kind);
    if (loops_ == 0)
        fail("'break' and 'continue' stand in a 'for' only");
    endBlock();
    return statement;
}

} // namespace furrow::chat
