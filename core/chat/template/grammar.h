#pragma once

#include "core/chat/template/arena.h"
#include "core/chat/template/parser.h"

#include <initializer_list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace furrow::chat {

/// Reads tokens by the grammar of Jinja2. After the first error it reads on without meaning, until somebody asks.
/// Internal to the parser.
class Parser {
public:
    Parser(std::vector<Token> tokens, Arena& arena);
    Result<ParsedTemplate> parse();

private:
    using Kind = Expression::Kind;
    static constexpr int kDeepest = 100; ///< levels of brackets and blocks

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
    void fail(std::string what);
    const Token& token(std::size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
    Token next();
    bool isOperator(std::string_view text, std::size_t ahead = 0) const;
    bool isName(std::string_view text, std::size_t ahead = 0) const;
    bool skipOperator(std::string_view text) { return isOperator(text) && (next(), true); }
    bool skipName(std::string_view text) { return isName(text) && (next(), true); }
    void expectOperator(std::string_view text);
    void expect(Token::Kind kind, const char* what);
    std::string_view expectName();
    NameId idOf(std::string_view name);
    Expression made(Kind kind) const;
    const Expression* keep(Expression expression) { return arena_.one(std::move(expression)); }
    const Expression* node(Kind kind, const std::vector<const Expression*>& parts, std::string_view text = {});
    const Expression* constant(Value value);

    // Statements: parse_statements.cpp
    Body parseBody(std::initializer_list<std::string_view> ends);
    const Statement* parsePrint();
    Statement begun(Statement::Kind kind) const;
    void endBlock() { expect(Token::Kind::BlockEnd, "'%}'"); }
    /// The rest of a block up to {% `end` %}, both tags being closed.
    Body parseBodyUntil(std::string_view end);
    const Statement* parseBlock();
    Statement parseIf();
    Statement parseFor();
    Target parseTarget(bool attributes);
    Statement parseSet();
    std::span<const MacroParameter> parseParameters();
    /// The body of what is called like a macro: it takes more arguments where it says their names.
    void parseMacroBody(Statement& statement, std::string_view end);
    Statement parseMacro();
    Statement parseCallBlock();
    Statement parseFilterBlock();
    Statement parseWith();
    Statement parseGeneration();
    Statement parseJump(Statement::Kind kind);
    Statement parseBreak() { return parseJump(Statement::Kind::Break); }
    Statement parseContinue() { return parseJump(Statement::Kind::Continue); }

    // Expressions, from the loosest binding to the tightest: parse_expressions.cpp
    bool tupleEnds() const;
    /// Several expressions with commas between them, or one.
    /// @param mayBeEmpty  "()" is one
    const Expression* parseTuple(bool conditional, bool mayBeEmpty);
    const Expression* parseExpression();
    const Expression* parseOr();
    const Expression* parseAnd();
    const Expression* parseNot();
    const Expression* parseCompare();
    const Expression* parseSum();
    const Expression* parseConcat();
    const Expression* parseProduct();
    const Expression* parsePower();
    const Expression* parseUnary(bool withFilters);
    const Expression* parsePrimary();
    const Expression* parseName(std::string_view name);
    const Expression* parseTexts();
    const Expression* parseList();
    const Expression* parseDict();
    const Expression* parsePostfix(const Expression* expression);
    const Expression* parseAttribute(const Expression* of);
    const Expression* parseSubscript(const Expression* of);
    const ArgumentList* parseArguments();
    const Expression* parseCall(const Expression* of);
    std::string_view dottedName();
    /// Filters, tests and calls behind a value. @param first  a filter's name comes at once, without |
    const Expression* parseFilters(const Expression* expression, bool first);
    const Expression* parseFilter(const Expression* of);
    const Expression* parseTest(const Expression* of);

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

} // namespace furrow::chat
