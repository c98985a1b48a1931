#include "core/chat/template/parser.h"

#include "core/chat/template/grammar.h"

#include <algorithm>

namespace furrow::chat {

Parser::Parser(std::vector<Token> tokens, Arena& arena)
    : tokens_(std::move(tokens))
    , arena_(arena)
{
    for (const std::string_view name : { "loop", "caller", "varargs", "kwargs" })
        (void)idOf(name);
}

Result<ParsedTemplate> Parser::parse()
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

void Parser::fail(std::string what)
{
    if (failed())
        return;
    error_ = std::move(what);
    errorLine_ = token().line;
    at_ = tokens_.size() - 1; // the rest is not looked at
}

Token Parser::next()
{
    const auto& taken = token();
    at_ = std::min(at_ + 1, tokens_.size() - 1);
    return taken;
}

bool Parser::isOperator(std::string_view text, std::size_t ahead) const
{
    return token(ahead).kind == Token::Kind::Operator && token(ahead).text == text;
}

bool Parser::isName(std::string_view text, std::size_t ahead) const
{
    return token(ahead).kind == Token::Kind::Name && token(ahead).text == text;
}

void Parser::expectOperator(std::string_view text)
{
    if (!skipOperator(text))
        fail("'" + std::string(text) + "' is missing");
}

void Parser::expect(Token::Kind kind, const char* what)
{
    if (token().kind == kind)
        next();
    else
        fail(std::string(what) + " is missing");
}

std::string_view Parser::expectName()
{
    if (token().kind == Token::Kind::Name)
        return next().text;
    fail("a name is missing");
    return {};
}

NameId Parser::idOf(std::string_view name)
{
    const auto [found, isNew] = ids_.try_emplace(name, static_cast<NameId>(names_.size()));
    if (isNew)
        names_.push_back(found->first);
    return found->second;
}

Expression Parser::made(Kind kind) const
{
    Expression expression;
    expression.kind = kind;
    expression.line = token().line;
    return expression;
}

const Expression* Parser::node(Kind kind, const std::vector<const Expression*>& parts, std::string_view text)
{
    auto expression = made(kind);
    expression.parts = arena_.copy(parts);
    expression.text = text;
    return keep(expression);
}

const Expression* Parser::constant(Value value)
{
    auto expression = made(Kind::Constant);
    expression.constant = value;
    return keep(expression);
}

Result<ParsedTemplate> parseTemplate(std::string_view source, Arena& arena)
{
    FURROW_TRY_ASSIGN(auto tokens, readTokens(source, arena));
    return Parser(std::move(tokens), arena).parse();
}

} // namespace furrow::chat
