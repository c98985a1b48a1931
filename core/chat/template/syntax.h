#pragma once

#include "core/chat/template/value.h"

namespace furrow::chat {

struct Expression;
struct Routine;
struct Statement;
using NameId = std::uint32_t; ///< a name of the template, counted
using Expressions = std::span<const Expression* const>;
using Body = std::span<const Statement* const>;

struct NamedArgument {
    std::string_view name;
    const Expression* value = nullptr;
};

/// What stands between the parentheses of a call.
struct ArgumentList {
    Expressions positional {};
    std::span<const NamedArgument> named {};
    const Expression* more = nullptr; ///< behind *
    const Expression* moreNamed = nullptr; ///< behind **
};

struct Expression {
    enum class Kind : std::uint8_t {
        Constant,
        Name,
        List,
        Tuple,
        Dict, ///< parts: key, value, key, value
        Attribute, ///< parts: of what; text: the name
        Item, ///< parts: of what, which
        Slice, ///< parts: of what, from, to, step; those that are left out are null
        Call,
        Filter, ///< parts: of what, or none in a filter block
        Test,
        Not,
        Negative,
        Positive,
        Binary, ///< text: the operator
        Concat,
        Compare, ///< parts: a, b, c of a < b < c; operators: one fewer
        And,
        Or,
        Conditional ///< parts: condition, if so, else (may be null)
    };
    Kind kind = Kind::Constant;
    int line = 1;
    NameId name = 0;
    std::string_view text {};
    Value constant {};
    Expressions parts {};
    std::span<const std::string_view> operators {};
    const ArgumentList* arguments = nullptr;
    const Routine* routine = nullptr; ///< of a filter or test; null where there is none of this name
};

/// What a value is given to: a name, an attribute of a namespace, or several in a row.
struct Target {
    NameId name = 0;
    std::string_view attribute {}; ///< not "": of the namespace `name`
    std::span<const Target> several {};
};

struct Branch {
    const Expression* condition = nullptr; ///< null: otherwise
    Body body {};
};

struct MacroParameter {
    NameId name = 0;
    std::string_view text {};
    const Expression* otherwise = nullptr; ///< null: undefined
};

struct Statement {
    enum class Kind : std::uint8_t {
        Text,
        Print,
        If,
        For,
        Set,
        SetBody, ///< {% set x %}...{% endset %}
        Macro,
        CallBlock,
        FilterBlock,
        With,
        Generation, ///< {% generation %}: what the assistant says
        Break,
        Continue
    };
    Kind kind = Kind::Text;
    int line = 1;
    std::string_view text {};
    const Expression* expression = nullptr; ///< printed, set, walked or called
    const Expression* condition = nullptr; ///< of a for
    Target target {};
    std::span<const Branch> branches {};
    Body body {};
    Body otherwise {}; ///< of a for that found nothing
    NameId name = 0; ///< of a macro
    std::span<const MacroParameter> parameters {}; ///< of a macro or call; of a `with` its names
    bool takesMore = false; ///< a macro that says varargs
    bool takesMoreNamed = false; ///< a macro that says kwargs
};

/// The names that the evaluator itself gives a meaning, counted first in every template.
enum KnownName : NameId { kLoopName, kCallerName, kVarargsName, kKwargsName, kFirstOwnName };

} // namespace furrow::chat
