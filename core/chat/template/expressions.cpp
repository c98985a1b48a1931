// How the evaluator finds the value of an expression.

#include "core/chat/template/evaluator.h"
#include "core/chat/template/text.h"

namespace furrow::chat {

namespace {

using Kind = Expression::Kind;

/// The items that a slice [from:to:step] takes of `size`, as Python chooses them.
struct SliceRange {
    std::int64_t from = 0;
    std::int64_t step = 1;
    std::size_t count = 0;
};

SliceRange sliceRange(
    std::int64_t size, std::optional<std::int64_t> from, std::optional<std::int64_t> to, std::int64_t step)
{
    const auto within = [&](std::int64_t at) {
        at = at < 0 ? std::max<std::int64_t>(at, -size) + size : at;
        return step > 0 ? std::min(at, size) : std::min(at, size - 1);
    };
    const auto clamp = [&](std::optional<std::int64_t> at, std::int64_t otherwise) {
        if (!at)
            return otherwise;
        return *at < -size ? (step > 0 ? std::int64_t(0) : std::int64_t(-1)) : within(*at);
    };
    const auto begin = clamp(from, step > 0 ? 0 : size - 1), end = clamp(to, step > 0 ? size : -1);
    SliceRange range { begin, step, 0 };
    if (step > 0 && begin < end)
        range.count = static_cast<std::size_t>((end - begin - 1) / step + 1);
    else if (step < 0 && begin > end)
        range.count = static_cast<std::size_t>((begin - end - 1) / (-step) + 1);
    return range;
}

} // namespace

Value Evaluator::evaluate(const Expression& expression, Frame& frame)
{
    const Depth depth(depth_);
    if (!spend(1))
        return {};
    line_ = expression.line;
    return evaluateKind(expression, frame);
}

Value Evaluator::evaluateKind(const Expression& expression, Frame& frame)
{
    const auto part = [&](std::size_t i) { return evaluate(*expression.parts[i], frame); };
    switch (expression.kind) {
    case Kind::Constant: return expression.constant;
    case Kind::Name: return lookUp(expression, frame);
    case Kind::List:
    case Kind::Tuple: return evaluateParts(expression, frame);
    case Kind::Dict: return evaluateDict(expression, frame);
    case Kind::Attribute: return attribute(part(0), expression.text);
    case Kind::Item: {
        const auto of = part(0);
        return item(of, part(1));
    }
    case Kind::Slice: return evaluateSlice(expression, frame);
    case Kind::Call: {
        const auto function = part(0);
        return call(function, evaluateArguments(expression.arguments, frame));
    }
    case Kind::Filter: return evaluateFilter(expression, frame, nullptr);
    case Kind::Test: return evaluateTest(expression, frame);
    case Kind::Not: return !isTrue(part(0));
    case Kind::Negative:
    case Kind::Positive: return evaluateSign(expression, frame);
    case Kind::Binary: return evaluateBinary(expression, frame);
    case Kind::Concat: return evaluateConcat(expression, frame);
    case Kind::Compare: return compare(expression, frame);
    case Kind::And: {
        const auto left = part(0);
        return isTrue(left) ? part(1) : left;
    }
    case Kind::Or: {
        const auto left = part(0);
        return isTrue(left) ? left : part(1);
    }
    case Kind::Conditional:
        if (isTrue(part(0)))
            return part(1);
        return expression.parts[2] ? part(2) : Value { Undefined {} };
    }
    return {};
}

Value Evaluator::lookUp(const Expression& expression, const Frame& frame)
{
    if (const auto* value = find(frame, expression.name))
        return *value;
    if (const auto* global = findGlobal(expression.text))
        return arena_.one(Function { Function::Kind::Global, global->name });
    return Undefined { expression.text };
}

Value Evaluator::evaluateParts(const Expression& expression, Frame& frame)
{
    std::vector<Value> items;
    for (const auto* part : expression.parts)
        items.push_back(evaluate(*part, frame));
    return sequence(items, expression.kind == Kind::List ? Sequence::Kind::List : Sequence::Kind::Tuple);
}

Value Evaluator::evaluateDict(const Expression& expression, Frame& frame)
{
    std::vector<Entry> entries;
    for (std::size_t i = 0; i + 1 < expression.parts.size(); i += 2) {
        const auto key = evaluate(*expression.parts[i], frame);
        const auto value = evaluate(*expression.parts[i + 1], frame);
        if (extentOf(key).parts > 1)
            fail("unhashable type: '" + typeName(key) + "'");
        const auto known = std::find_if(
            entries.begin(), entries.end(), [&](const Entry& entry) { return areEqual(entry.key, key); });
        if (known == entries.end())
            entries.push_back({ key, value });
        else
            known->value = value;
    }
    return dict(entries);
}

Value Evaluator::evaluateSlice(const Expression& expression, Frame& frame)
{
    const auto of = evaluate(*expression.parts[0], frame);
    std::optional<std::int64_t> bounds[3];
    for (std::size_t i = 1; i < 4; ++i) {
        const auto bound = expression.parts[i] ? evaluate(*expression.parts[i], frame) : Value { None {} };
        bounds[i - 1] = wholeOf(bound);
        if (!bounds[i - 1] && !std::holds_alternative<None>(bound))
            fail("slice indices must be integers or None");
    }
    const auto step = bounds[2].value_or(1);
    const auto* text = std::get_if<std::string_view>(&of);
    const auto* row = std::get_if<const Sequence*>(&of);
    if (step == 0)
        fail("slice step cannot be zero");
    else if (std::holds_alternative<Undefined>(of))
        (void)item(of, None {});
    else if (!text && (!row || (*row)->kind > Sequence::Kind::Tuple))
        fail("'" + typeName(of) + "' object cannot be sliced");
    if (failed())
        return {};
    if (text && step == 1) { // the usual case, without a list of code points
        spendOnText(*text);
        const auto range = sliceRange(static_cast<std::int64_t>(lengthInCodePoints(*text)), bounds[0], bounds[1], step);
        const auto begin = byteOfCodePoint(*text, static_cast<std::size_t>(range.from));
        return text->substr(begin, byteOfCodePoint(text->substr(begin), range.count));
    }
    const auto items = itemsOf(of);
    const auto range = sliceRange(static_cast<std::int64_t>(items.size()), bounds[0], bounds[1], step);
    std::vector<Value> taken;
    std::string joined;
    for (std::size_t i = 0; i < range.count; ++i) {
        const auto& item = items[static_cast<std::size_t>(range.from + static_cast<std::int64_t>(i) * range.step)];
        if (text)
            joined += std::get<std::string_view>(item);
        else
            taken.push_back(item);
    }
    return text ? this->text(joined) : sequence(taken, (*row)->kind);
}

// Attributes and items

Value Evaluator::attribute(const Value& of, std::string_view name)
{
    if (const auto* undefined = std::get_if<Undefined>(&of)) {
        fail("'" + std::string(undefined->name) + "' is undefined");
        return {};
    }
    if (const auto* loop = std::get_if<Loop*>(&of))
        return loopAttribute(**loop, name);
    const auto* dict = std::get_if<Dict*>(&of);
    if (!dict || !(*dict)->isNamespace) {
        if (const auto* method = findMethod(of, name))
            return method->run ? Value(arena_.one(Function { Function::Kind::Method, method->name, of }))
                               : Value(Undefined { name });
    }
    if (dict) {
        spend(static_cast<std::int64_t>((*dict)->entries.size()) / 16);
        if (const auto* value = (*dict)->named(name))
            return *value;
    }
    return Undefined { name };
}

Value Evaluator::item(const Value& of, const Value& which)
{
    if (const auto* undefined = std::get_if<Undefined>(&of)) {
        fail("'" + std::string(undefined->name) + "' is undefined");
        return {};
    }
    const auto* name = std::get_if<std::string_view>(&which);
    if (const auto* dict = std::get_if<Dict*>(&of); dict && !(*dict)->isNamespace) {
        spend(static_cast<std::int64_t>((*dict)->entries.size()) / 16);
        if (const auto* value = name ? (*dict)->named(*name) : (*dict)->find(which))
            return *value;
    }
    if (name)
        return attribute(of, *name);
    const auto index = wholeOf(which);
    const auto* row = std::get_if<const Sequence*>(&of);
    const auto* text = std::get_if<std::string_view>(&of);
    if (!index || (!text && (!row || (*row)->kind > Sequence::Kind::Tuple)))
        return Undefined { "item" };
    if (text)
        spendOnText(*text);
    const auto size = static_cast<std::int64_t>(text ? lengthInCodePoints(*text) : (*row)->items.size());
    const auto place = *index < 0 ? *index + size : *index;
    if (place < 0 || place >= size)
        return Undefined { "item" };
    if (row)
        return (*row)->items[static_cast<std::size_t>(place)];
    auto at = byteOfCodePoint(*text, static_cast<std::size_t>(place));
    return codePoint(*text, at);
}

Value Evaluator::itemByPath(const Value& of, const Value& path)
{
    const auto* name = std::get_if<std::string_view>(&path);
    if (!name)
        return item(of, path);
    Value value = of;
    for (auto rest = *name; !failed();) {
        const auto dot = rest.find('.');
        const auto part = rest.substr(0, dot);
        const bool digits = !part.empty() && part.find_first_not_of("0123456789") == std::string_view::npos;
        value = item(
            value, digits && part.size() < 10 ? Value(std::int64_t { std::stoi(std::string(part)) }) : Value(part));
        if (dot == std::string_view::npos)
            break;
        rest = rest.substr(dot + 1);
    }
    return value;
}

Value Evaluator::loopAttribute(const Loop& loop, std::string_view name)
{
    const auto index = static_cast<std::int64_t>(loop.index), length = static_cast<std::int64_t>(loop.items.size());
    const auto itemAt = [&](std::int64_t at) {
        return at < 0 || at >= length ? Value(Undefined { name }) : loop.items[static_cast<std::size_t>(at)];
    };
    if (name == "index")
        return index + 1;
    if (name == "index0")
        return index;
    if (name == "first")
        return index == 0;
    if (name == "last")
        return index == length - 1;
    if (name == "length")
        return length;
    if (name == "revindex")
        return length - index;
    if (name == "revindex0")
        return length - index - 1;
    if (name == "previtem")
        return itemAt(index - 1);
    if (name == "nextitem")
        return itemAt(index + 1);
    if (name == "depth")
        return loop.depth + 1;
    if (name == "depth0")
        return loop.depth;
    if (name == "cycle" || name == "changed")
        return arena_.one(Function { Function::Kind::Method, name, const_cast<Loop*>(&loop) });
    return Undefined { name };
}

Value Evaluator::loopMethod(Loop& loop, std::string_view name, const Arguments& arguments)
{
    if (name == "cycle") {
        if (arguments.positional.empty())
            fail("no items for cycling given");
        return failed() ? Value {} : arguments.positional[loop.index % arguments.positional.size()];
    }
    const auto seen = sequence(arguments.positional, Sequence::Kind::Tuple);
    const bool same = loop.lastSeen && areEqual(*loop.lastSeen, seen);
    loop.lastSeen = seen;
    return !same;
}

// Calls

Arguments Evaluator::evaluateArguments(const ArgumentList* list, Frame& frame)
{
    Arguments arguments;
    if (!list)
        return arguments;
    for (const auto* part : list->positional)
        arguments.positional.push_back(evaluate(*part, frame));
    for (const auto& named : list->named)
        arguments.named.push_back({ named.name, evaluate(*named.value, frame) });
    if (list->more) {
        const auto items = itemsOf(evaluate(*list->more, frame));
        arguments.positional.insert(arguments.positional.end(), items.begin(), items.end());
    }
    if (list->moreNamed) {
        const auto value = evaluate(*list->moreNamed, frame);
        const auto* dict = std::get_if<Dict*>(&value);
        if (!dict || (*dict)->isNamespace)
            fail("argument after ** must be a mapping");
        for (const auto& entry : dict ? (*dict)->entries : std::span<Entry>())
            arguments.named.push_back({ textOf(entry.key), entry.value });
    }
    return arguments;
}

Value Evaluator::call(const Value& called, const Arguments& arguments)
{
    const auto* held = std::get_if<const Function*>(&called);
    if (!held) {
        const auto* undefined = std::get_if<Undefined>(&called);
        fail(undefined ? "'" + std::string(undefined->name) + "' is undefined, or may not be called by a template"
                       : "'" + typeName(called) + "' object is not callable");
        return {};
    }
    const auto& function = **held;
    if (failed())
        return {};
    if (function.kind == Function::Kind::Macro)
        return callMacro(function, arguments);
    if (auto* const* loop = std::get_if<Loop*>(&function.receiver))
        return loopMethod(**loop, function.name, arguments);
    const auto* routine = function.kind == Function::Kind::Global ? findGlobal(function.name)
                                                                  : findMethod(function.receiver, function.name);
    return callRoutine(*routine, function.receiver, arguments);
}

Value Evaluator::callRoutine(const Routine& routine, const Value& self, const Arguments& arguments)
{
    Given given;
    given.all = &arguments;
    const std::string name(routine.name);
    for (std::size_t i = 0; i < arguments.positional.size() && !routine.takesAny; ++i) {
        if (i >= Given::kMost || routine.parameters[i].empty()) {
            fail(name + "() takes fewer arguments");
            return {};
        }
        given.values[i] = &arguments.positional[i];
    }
    for (const auto& named : arguments.named) {
        const auto place = std::find(routine.parameters.begin(), routine.parameters.end(), named.name);
        if (place == routine.parameters.end() && !routine.takesAny) {
            fail(name + "() has no argument '" + std::string(named.name) + "'");
            return {};
        }
        if (place != routine.parameters.end())
            given.values[static_cast<std::size_t>(place - routine.parameters.begin())] = &named.value;
    }
    for (std::size_t i = 0; i < routine.required; ++i) {
        if (!given[i]) {
            fail(name + "() needs an argument '" + std::string(routine.parameters[i]) + "'");
            return {};
        }
    }
    return spend(1) ? routine.run(*this, self, given) : Value {};
}

Value Evaluator::callMacro(const Function& macro, const Arguments& arguments)
{
    const auto& statement = *macro.macro;
    auto* frame = arena_.one(Frame { macro.home });
    const auto count = statement.parameters.size();
    for (std::size_t i = 0; i < count; ++i)
        set(*frame, statement.parameters[i].name, macroArgument(macro, i, arguments, *frame));
    std::vector<Value> more;
    if (arguments.positional.size() > count)
        more.assign(arguments.positional.begin() + static_cast<std::ptrdiff_t>(count), arguments.positional.end());
    std::vector<Entry> moreNamed;
    Value caller = Undefined { "caller" };
    for (const auto& named : arguments.named) {
        const bool known = std::any_of(statement.parameters.begin(), statement.parameters.end(),
            [&](const MacroParameter& parameter) { return parameter.text == named.name; });
        if (named.name == "caller" && !known)
            caller = named.value;
        else if (!known)
            moreNamed.push_back({ named.name, named.value });
    }
    if ((!more.empty() && !statement.takesMore) || (!moreNamed.empty() && !statement.takesMoreNamed))
        fail("macro '" + std::string(macro.name) + "' takes other arguments");
    if (statement.takesMore)
        set(*frame, kVarargsName, sequence(more, Sequence::Kind::Tuple));
    if (statement.takesMoreNamed)
        set(*frame, kKwargsName, dict(moreNamed));
    if (statement.kind == Statement::Kind::Macro)
        set(*frame, kCallerName, caller);
    return captured(statement.body, *frame);
}

Value Evaluator::macroArgument(const Function& macro, std::size_t i, const Arguments& arguments, Frame& frame)
{
    if (i < arguments.positional.size())
        return arguments.positional[i];
    const auto& parameter = macro.macro->parameters[i];
    for (const auto& named : arguments.named) {
        if (named.name == parameter.text)
            return named.value;
    }
    return parameter.otherwise ? evaluate(*parameter.otherwise, frame) : Value(Undefined { parameter.text });
}

Value Evaluator::evaluateFilter(const Expression& expression, Frame& frame, const Value* input)
{
    Value value;
    if (expression.parts.empty()) { // the innermost of a block
        value = *input;
    } else if (const auto& of = *expression.parts[0]; input && of.kind == Kind::Filter) {
        value = evaluateFilter(of, frame, input);
    } else {
        value = evaluate(of, frame);
    }
    if (!expression.routine || !expression.routine->run) {
        fail("there is no filter '" + std::string(expression.text) + "' here");
        return {};
    }
    const auto arguments = evaluateArguments(expression.arguments, frame);
    return failed() ? Value {} : callRoutine(*expression.routine, value, arguments);
}

Value Evaluator::evaluateTest(const Expression& expression, Frame& frame)
{
    const auto value = evaluate(*expression.parts[0], frame);
    if (!expression.routine || !expression.routine->run) {
        fail("there is no test '" + std::string(expression.text) + "' here");
        return {};
    }
    const auto arguments = evaluateArguments(expression.arguments, frame);
    return failed() ? Value {} : callRoutine(*expression.routine, value, arguments);
}

// Comparing

bool Evaluator::compare(const Expression& expression, Frame& frame)
{
    auto left = evaluate(*expression.parts[0], frame);
    for (std::size_t i = 0; i < expression.operators.size(); ++i) {
        const auto right = evaluate(*expression.parts[i + 1], frame);
        if (failed() || !compareBy(expression.operators[i], left, right))
            return false;
        left = right;
    }
    return true;
}

bool Evaluator::compareBy(std::string_view op, const Value& a, const Value& b)
{
    if (op == "==")
        return areEqual(a, b);
    if (op == "!=")
        return !areEqual(a, b);
    if (op == "in")
        return contains(b, a);
    if (op == "not in")
        return !contains(b, a);
    const auto result = orderOf(a, b).value_or(0);
    return op == "<" ? result < 0 : op == "<=" ? result <= 0 : op == ">" ? result > 0 : result >= 0;
}

} // namespace furrow::chat
