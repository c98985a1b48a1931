#include "core/chat/template/evaluator.h"

#include "core/base/sentence.h"
#include "core/chat/template/text.h"

namespace furrow::chat {

namespace {

constexpr std::int64_t kDeepestCall = 600; ///< statements and expressions inside of each other, macros included
constexpr std::uint32_t kDeepestValue = 100;
constexpr std::size_t kMostItems = 1'000'000; ///< of a list

} // namespace

Evaluator::Evaluator(const ParsedTemplate& parsed, Arena& arena, const Limits& limits, std::tm now)
    : parsed_(parsed)
    , arena_(arena)
    , limits_(limits)
    , now_(now)
    , steps_(limits.steps)
{
}

void Evaluator::define(std::string_view name, const Value& value)
{
    const auto known = std::find(parsed_.names.begin(), parsed_.names.end(), name);
    if (known != parsed_.names.end()) // else the template never asks
        set(root_, static_cast<NameId>(known - parsed_.names.begin()), value);
}

void Evaluator::run() { execute(parsed_.body, root_); }

void Evaluator::fail(const std::string& what)
{
    if (!failed())
        error_ = templateError(line_, what);
}

void Evaluator::refuse(std::string_view reason)
{
    if (!failed())
        error_
            = { ErrorCode::InvalidArgument, sentence("the chat template refuses this: %1", { std::string(reason) }) };
}

bool Evaluator::spend(std::int64_t steps)
{
    steps_ -= steps;
    if (failed())
        return false;
    if (steps_ < 0)
        fail("it does not come to an end");
    else if (arena_.full())
        fail("it takes too much memory");
    else if (depth_ > kDeepestCall)
        fail("it is nested too deeply, or a macro calls itself without end");
    return !failed();
}

// Values

Value Evaluator::text(std::string_view made) { return arena_.keep(made); }

Value Evaluator::sequence(const std::vector<Value>& items, Sequence::Kind kind)
{
    Sequence sequence;
    sequence.kind = kind;
    for (const auto& item : items)
        reach(sequence.extent, item);
    if (sequence.extent.depth > kDeepestValue)
        fail("a list is nested too deeply");
    sequence.items = arena_.copy(items);
    spend(static_cast<std::int64_t>(items.size()) / 4);
    return static_cast<const Sequence*>(arena_.one(sequence));
}

Value Evaluator::dict(const std::vector<Entry>& entries, bool isNamespace)
{
    Dict dict;
    dict.isNamespace = isNamespace;
    for (const auto& entry : entries)
        reach(dict.extent, entry.value);
    if (dict.extent.depth > kDeepestValue)
        fail("a dict is nested too deeply");
    dict.entries = arena_.copy(entries);
    spend(static_cast<std::int64_t>(entries.size()) / 4);
    return arena_.one(dict);
}

Value Evaluator::codePoint(std::string_view text, std::size_t& at)
{
    const auto begin = at;
    (void)nextCodePoint(text, at);
    return text.substr(begin, at - begin);
}

std::string_view Evaluator::textOf(const Value& value)
{
    if (const auto* text = std::get_if<std::string_view>(&value))
        return *text;
    std::string made;
    appendText(value, limits_.outputBytes, made);
    spendOnText(made);
    return arena_.keep(made);
}

std::span<const Value> Evaluator::itemsOf(const Value& value)
{
    if (const auto* sequence = std::get_if<const Sequence*>(&value)) {
        if ((*sequence)->kind == Sequence::Kind::Stream && std::exchange((*sequence)->spent, true))
            return {};
        return (*sequence)->items;
    }
    std::vector<Value> items;
    if (const auto* dict = std::get_if<Dict*>(&value); dict && !(*dict)->isNamespace) {
        for (const auto& entry : (*dict)->entries)
            items.push_back(entry.key);
    } else if (const auto* text = std::get_if<std::string_view>(&value)) {
        for (std::size_t at = 0; at < text->size() && items.size() < kMostItems;)
            items.push_back(codePoint(*text, at));
    } else if (!std::holds_alternative<Undefined>(value)) {
        fail("'" + typeName(value) + "' object is not iterable");
    }
    if (items.size() >= kMostItems)
        fail("a text is too long to be walked through");
    spend(static_cast<std::int64_t>(items.size()) / 4);
    return arena_.copy(items);
}

bool Evaluator::areEqual(const Value& a, const Value& b)
{
    return spend(static_cast<std::int64_t>(extentOf(a).parts)) && equals(a, b);
}

std::optional<int> Evaluator::orderOf(const Value& a, const Value& b)
{
    if (!spend(static_cast<std::int64_t>(extentOf(a).parts)))
        return std::nullopt;
    const auto result = order(a, b);
    if (!result)
        fail("'" + typeName(a) + "' and '" + typeName(b) + "' have no order");
    return result;
}

bool Evaluator::contains(const Value& container, const Value& value)
{
    if (const auto* text = std::get_if<std::string_view>(&container)) {
        const auto* part = std::get_if<std::string_view>(&value);
        if (!part)
            fail("'in <string>' requires string as left operand, not " + typeName(value));
        return spendOnText(*text) && part && text->find(*part) != std::string_view::npos;
    }
    if (const auto* dict = std::get_if<Dict*>(&container); dict && !(*dict)->isNamespace) {
        const auto* name = std::get_if<std::string_view>(&value);
        spend(1 + static_cast<std::int64_t>((*dict)->entries.size()) / 8);
        return (name ? (*dict)->named(*name) : (*dict)->find(value)) != nullptr;
    }
    const auto items = itemsOf(container);
    return std::any_of(items.begin(), items.end(), [&](const Value& item) { return areEqual(item, value); });
}

// Statements

void Evaluator::set(Frame& frame, NameId name, const Value& value)
{
    for (auto* slot = frame.slots; slot; slot = slot->next) {
        if (slot->name == name) {
            slot->value = value;
            return;
        }
    }
    frame.slots = arena_.one(Frame::Slot { name, value, frame.slots });
}

const Value* Evaluator::find(const Frame& frame, NameId name) const
{
    for (const auto* at = &frame; at; at = at->outer) {
        for (const auto* slot = at->slots; slot; slot = slot->next) {
            if (slot->name == name)
                return &slot->value;
        }
    }
    return nullptr;
}

void Evaluator::assign(const Target& target, const Value& value, Frame& frame)
{
    if (!target.attribute.empty())
        return assignAttribute(target, value, frame);
    if (target.several.empty())
        return set(frame, target.name, value);
    const auto items = itemsOf(value);
    if (items.size() != target.several.size())
        return fail(std::to_string(target.several.size()) + " names for " + std::to_string(items.size()) + " values");
    for (std::size_t i = 0; i < items.size(); ++i)
        assign(target.several[i], items[i], frame);
}

void Evaluator::assignAttribute(const Target& target, const Value& value, const Frame& frame)
{
    const auto* held = find(frame, target.name);
    auto* const* space = held ? std::get_if<Dict*>(held) : nullptr;
    if (!space || !(*space)->isNamespace)
        return fail("cannot assign attribute on non-namespace object");
    if (target.attribute.starts_with('_'))
        return fail("a namespace holds no attribute that begins with '_'");
    for (auto& entry : (*space)->entries) {
        if (std::get<std::string_view>(entry.key) == target.attribute) {
            entry.value = value;
            return;
        }
    }
    std::vector<Entry> entries((*space)->entries.begin(), (*space)->entries.end());
    entries.push_back({ target.attribute, value });
    spend(static_cast<std::int64_t>(entries.size()));
    (*space)->entries = arena_.copy(entries);
}

void Evaluator::write(std::string_view text)
{
    if (output_.size() + text.size() > limits_.outputBytes)
        return fail("it writes too much");
    output_ += text;
}

void Evaluator::print(const Value& value)
{
    if (const auto* text = std::get_if<std::string_view>(&value))
        write(*text);
    else if (const auto* row = std::get_if<const Sequence*>(&value); row && (*row)->kind == Sequence::Kind::Stream)
        fail("a generator is printed, which has no text");
    else
        write(textOf(value));
}

/// What a body writes, not written.
std::string_view Evaluator::captured(Body body, Frame& frame)
{
    std::string outer = std::exchange(output_, {});
    ++captures_;
    execute(body, frame);
    --captures_;
    const auto kept = arena_.keep(output_);
    output_ = std::move(outer);
    return kept;
}

Evaluator::Flow Evaluator::execute(Body body, Frame& frame)
{
    for (const auto* statement : body) {
        const auto flow = execute(*statement, frame);
        if (flow != Flow::On || failed())
            return flow;
    }
    return Flow::On;
}

Evaluator::Flow Evaluator::execute(const Statement& statement, Frame& frame)
{
    const Depth depth(depth_);
    line_ = statement.line;
    if (!spend(1))
        return Flow::On;
    switch (statement.kind) {
    case Statement::Kind::Text: write(statement.text); break;
    case Statement::Kind::Print: print(evaluate(*statement.expression, frame)); break;
    case Statement::Kind::If: return executeIf(statement, frame);
    case Statement::Kind::For: return executeFor(statement, frame);
    case Statement::Kind::Set: assign(statement.target, evaluate(*statement.expression, frame), frame); break;
    case Statement::Kind::SetBody: executeSetBody(statement, frame); break;
    case Statement::Kind::Macro:
        set(frame, statement.name,
            arena_.one(Function { Function::Kind::Macro, statement.text, {}, &statement, &frame }));
        break;
    case Statement::Kind::CallBlock: executeCallBlock(statement, frame); break;
    case Statement::Kind::FilterBlock: {
        auto* inner = arena_.one(Frame { &frame });
        const Value body = captured(statement.body, *inner);
        print(evaluateFilter(*statement.expression, *inner, &body));
        break;
    }
    case Statement::Kind::With: return executeWith(statement, frame);
    case Statement::Kind::Generation: return executeGeneration(statement, frame);
    case Statement::Kind::Break: return Flow::Break;
    case Statement::Kind::Continue: return Flow::Continue;
    }
    return Flow::On;
}

Evaluator::Flow Evaluator::executeIf(const Statement& statement, Frame& frame)
{
    for (const auto& branch : statement.branches) {
        if (!branch.condition || isTrue(evaluate(*branch.condition, frame)))
            return failed() ? Flow::On : execute(branch.body, frame);
    }
    return Flow::On;
}

std::span<const Value> Evaluator::wantedItems(const Statement& statement, Frame& frame)
{
    const auto items = itemsOf(evaluate(*statement.expression, frame));
    if (!statement.condition)
        return items;
    std::vector<Value> wanted;
    for (const auto& item : items) {
        auto* inner = arena_.one(Frame { &frame });
        assign(statement.target, item, *inner);
        if (!spend(1))
            return {};
        if (isTrue(evaluate(*statement.condition, *inner)))
            wanted.push_back(item);
    }
    return arena_.copy(wanted);
}

Evaluator::Flow Evaluator::executeFor(const Statement& statement, Frame& frame)
{
    const auto items = wantedItems(statement, frame);
    auto* loop = arena_.one(Loop { items, 0, loops_ });
    ++loops_;
    for (std::size_t i = 0; i < items.size() && spend(1); ++i) {
        auto* inner = arena_.one(Frame { &frame });
        loop->index = i;
        assign(statement.target, items[i], *inner);
        set(*inner, kLoopName, loop);
        if (execute(statement.body, *inner) == Flow::Break)
            break;
    }
    --loops_;
    if (!items.empty() || failed())
        return Flow::On;
    return execute(statement.otherwise, *arena_.one(Frame { &frame }));
}

void Evaluator::executeSetBody(const Statement& statement, Frame& frame)
{
    auto* inner = arena_.one(Frame { &frame });
    const Value body = captured(statement.body, *inner);
    assign(statement.target, statement.expression ? evaluateFilter(*statement.expression, *inner, &body) : body, frame);
}

void Evaluator::executeCallBlock(const Statement& statement, Frame& frame)
{
    const auto& called = *statement.expression;
    auto arguments = evaluateArguments(called.arguments, frame);
    const auto* caller = arena_.one(Function { Function::Kind::Macro, "caller", {}, &statement, &frame });
    arguments.named.push_back({ "caller", caller });
    print(call(evaluate(*called.parts[0], frame), arguments));
}

Evaluator::Flow Evaluator::executeWith(const Statement& statement, Frame& frame)
{
    auto* inner = arena_.one(Frame { &frame });
    for (const auto& name : statement.parameters)
        set(*inner, name.name, evaluate(*name.otherwise, frame));
    return execute(statement.body, *inner);
}

Evaluator::Flow Evaluator::executeGeneration(const Statement& statement, Frame& frame)
{
    const auto begin = output_.size();
    const auto flow = execute(statement.body, *arena_.one(Frame { &frame }));
    if (captures_ == 0) // else nobody knows yet where it will stand
        generated_.push_back({ begin, output_.size() });
    return flow;
}

} // namespace furrow::chat
