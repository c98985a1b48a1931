// The tests of Jinja2: x is NAME.

#include "core/chat/template/evaluator.h"
#include "core/chat/template/routine_table.h"
#include "core/chat/template/text.h"

namespace furrow::chat {

namespace {

template <typename T> Value is(Evaluator&, const Value& self, const Given&) { return std::holds_alternative<T>(self); }

Value isDefined(Evaluator&, const Value& self, const Given&) { return !std::holds_alternative<Undefined>(self); }
Value isNumber(Evaluator&, const Value& self, const Given&) { return numberOf(self).has_value(); }
Value isTrueItself(Evaluator&, const Value& self, const Given&)
{
    const auto* flag = std::get_if<bool>(&self);
    return flag && *flag;
}
Value isFalseItself(Evaluator&, const Value& self, const Given&)
{
    const auto* flag = std::get_if<bool>(&self);
    return flag && !*flag;
}
Value isMapping(Evaluator&, const Value& self, const Given&)
{
    const auto* dict = std::get_if<Dict*>(&self);
    return dict && !(*dict)->isNamespace;
}
/// What has a length and items: also what is undefined, which has none.
Value isSequence(Evaluator& in, const Value& self, const Given& given)
{
    const auto* row = std::get_if<const Sequence*>(&self);
    return std::holds_alternative<std::string_view>(self) || std::holds_alternative<Undefined>(self)
        || (row && (*row)->kind <= Sequence::Kind::Tuple) || std::get<bool>(isMapping(in, self, given));
}
Value isIterable(Evaluator& in, const Value& self, const Given& given)
{
    return std::holds_alternative<const Sequence*>(self) || std::holds_alternative<Loop*>(self)
        || std::get<bool>(isSequence(in, self, given));
}
Value isSame(Evaluator& in, const Value& self, const Given& given)
{
    return self.index() == given[0]->index() && in.areEqual(self, *given[0]);
}
Value isEqual(Evaluator& in, const Value& self, const Given& given) { return in.areEqual(self, *given[0]); }
Value isUnequal(Evaluator& in, const Value& self, const Given& given) { return !in.areEqual(self, *given[0]); }
Value isLess(Evaluator& in, const Value& self, const Given& given) { return in.orderOf(self, *given[0]) < 0; }
Value isAtMost(Evaluator& in, const Value& self, const Given& given) { return in.orderOf(self, *given[0]) <= 0; }
Value isGreater(Evaluator& in, const Value& self, const Given& given) { return in.orderOf(self, *given[0]) > 0; }
Value isAtLeast(Evaluator& in, const Value& self, const Given& given) { return in.orderOf(self, *given[0]) >= 0; }
Value isIn(Evaluator& in, const Value& self, const Given& given) { return in.contains(*given[0], self); }

std::int64_t remainder(Evaluator& in, const Value& self, std::int64_t by)
{
    const auto whole = wholeOf(self);
    if (!whole || by == 0)
        in.fail("a remainder needs whole numbers");
    return whole && by != 0 && by != -1 ? ((*whole % by) + by) % by : 0;
}
Value isOdd(Evaluator& in, const Value& self, const Given&) { return remainder(in, self, 2) == 1; }
Value isEven(Evaluator& in, const Value& self, const Given&) { return remainder(in, self, 2) == 0; }
Value isDivisible(Evaluator& in, const Value& self, const Given& given)
{
    return remainder(in, self, wholeOf(*given[0]).value_or(0)) == 0;
}
Value isLower(Evaluator& in, const Value& self, const Given&)
{
    const auto text = in.textOf(self);
    return lowerCase(text) == text && upperCase(text) != text;
}
Value isUpper(Evaluator& in, const Value& self, const Given&)
{
    const auto text = in.textOf(self);
    return upperCase(text) == text && lowerCase(text) != text;
}
Value isFilter(Evaluator& in, const Value& self, const Given&) { return findFilter(in.textOf(self)) != nullptr; }
Value isTest(Evaluator& in, const Value& self, const Given&) { return findTest(in.textOf(self)) != nullptr; }

constexpr Routine kTests[] = {
    { "!=", isUnequal, { "other" }, 1 },
    { "<", isLess, { "other" }, 1 },
    { "<=", isAtMost, { "other" }, 1 },
    { "==", isEqual, { "other" }, 1 },
    { ">", isGreater, { "other" }, 1 },
    { ">=", isAtLeast, { "other" }, 1 },
    { "boolean", is<bool> },
    { "callable", is<const Function*> },
    { "defined", isDefined },
    { "divisibleby", isDivisible, { "num" }, 1 },
    { "eq", isEqual, { "other" }, 1 },
    { "equalto", isEqual, { "other" }, 1 },
    { "even", isEven },
    { "false", isFalseItself },
    { "filter", isFilter },
    { "float", is<double> },
    { "ge", isAtLeast, { "other" }, 1 },
    { "greaterthan", isGreater, { "other" }, 1 },
    { "gt", isGreater, { "other" }, 1 },
    { "in", isIn, { "seq" }, 1 },
    { "integer", is<std::int64_t> },
    { "iterable", isIterable },
    { "le", isAtMost, { "other" }, 1 },
    { "lessthan", isLess, { "other" }, 1 },
    { "lower", isLower },
    { "lt", isLess, { "other" }, 1 },
    { "mapping", isMapping },
    { "ne", isUnequal, { "other" }, 1 },
    { "none", is<None> },
    { "number", isNumber },
    { "odd", isOdd },
    { "sameas", isSame, { "other" }, 1 },
    { "sequence", isSequence },
    { "string", is<std::string_view> },
    { "test", isTest },
    { "true", isTrueItself },
    { "undefined", is<Undefined> },
    { "upper", isUpper },
};

} // namespace

const Routine* findTest(std::string_view name) { return findIn(kTests, name); }

} // namespace furrow::chat
