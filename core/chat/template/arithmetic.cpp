// What + - * / // % ** and ~ do, as in Python.

#include "core/chat/template/evaluator.h"

#include <cmath>

namespace furrow::chat {

Value Evaluator::evaluateConcat(const Expression& expression, Frame& frame)
{
    std::string joined;
    for (const auto* part : expression.parts) {
        joined += textOf(evaluate(*part, frame));
        if (joined.size() > limits_.outputBytes)
            fail("it writes too much");
    }
    return text(joined);
}

Value Evaluator::evaluateSign(const Expression& expression, Frame& frame)
{
    const auto value = evaluate(*expression.parts[0], frame);
    const bool negative = expression.kind == Expression::Kind::Negative;
    if (const auto whole = wholeOf(value))
        return negative ? calculateWhole('-', 0, *whole) : Value(*whole);
    const auto* number = std::get_if<double>(&value);
    if (!number)
        fail("bad operand type for unary -: '" + typeName(value) + "'");
    return number ? Value(negative ? -*number : *number) : Value {};
}

Value Evaluator::evaluateBinary(const Expression& expression, Frame& frame)
{
    const auto a = evaluate(*expression.parts[0], frame);
    const auto b = evaluate(*expression.parts[1], frame);
    if (failed())
        return {};
    if (expression.text == "+")
        return add(a, b);
    if (expression.text == "*")
        return multiply(a, b);
    // // and ** as one character
    return calculate(expression.text == "//" ? '|' : expression.text == "**" ? '^' : expression.text[0], a, b);
}

Value Evaluator::add(const Value& a, const Value& b)
{
    const auto *left = std::get_if<std::string_view>(&a), *right = std::get_if<std::string_view>(&b);
    if (left && right) {
        if (!spendOnText(*left) || !spendOnText(*right))
            return {};
        const auto joined = arena_.make<char>(left->size() + right->size());
        if (!joined.empty()) {
            std::copy(left->begin(), left->end(), joined.begin());
            std::copy(right->begin(), right->end(), joined.begin() + static_cast<std::ptrdiff_t>(left->size()));
        }
        return std::string_view(joined.data(), joined.size());
    }
    const auto *row = std::get_if<const Sequence*>(&a), *other = std::get_if<const Sequence*>(&b);
    if (row && other && (*row)->kind == (*other)->kind && (*row)->kind <= Sequence::Kind::Tuple) {
        std::vector<Value> all((*row)->items.begin(), (*row)->items.end());
        all.insert(all.end(), (*other)->items.begin(), (*other)->items.end());
        return sequence(all, (*row)->kind);
    }
    return calculate('+', a, b);
}

Value Evaluator::multiply(const Value& a, const Value& b)
{
    const auto repeats = [](const Value& value) {
        return std::holds_alternative<std::string_view>(value) || std::holds_alternative<const Sequence*>(value);
    };
    if (const auto times = wholeOf(b); times && repeats(a))
        return repeat(a, *times);
    if (const auto times = wholeOf(a); times && repeats(b))
        return repeat(b, *times);
    return calculate('*', a, b);
}

Value Evaluator::repeat(const Value& what, std::int64_t times)
{
    const auto* text = std::get_if<std::string_view>(&what);
    const auto count = static_cast<std::size_t>(std::max<std::int64_t>(times, 0));
    const auto size = text ? text->size() : std::get<const Sequence*>(what)->items.size();
    if (size > 0 && count > limits_.outputBytes / size / (text ? 1 : sizeof(Value))) {
        fail("a text or list is repeated too often");
        return {};
    }
    spend(static_cast<std::int64_t>(size * count / 16));
    if (text) {
        std::string repeated;
        repeated.reserve(size * count);
        for (std::size_t i = 0; i < (size > 0 ? count : 0); ++i)
            repeated += *text;
        return this->text(repeated);
    }
    const auto& row = *std::get<const Sequence*>(what);
    std::vector<Value> repeated;
    for (std::size_t i = 0; i < (size > 0 ? count : 0); ++i)
        repeated.insert(repeated.end(), row.items.begin(), row.items.end());
    return sequence(repeated, row.kind);
}

Value Evaluator::calculate(char op, const Value& a, const Value& b)
{
    const auto x = numberOf(a), y = numberOf(b);
    if (!x || !y) {
        const auto* missing = std::get_if<Undefined>(&a);
        missing = missing ? missing : std::get_if<Undefined>(&b);
        if (missing)
            fail("'" + std::string(missing->name) + "' is undefined");
        else
            fail("'" + typeName(a) + "' and '" + typeName(b) + "' cannot be calculated with");
        return {};
    }
    const auto wholeA = wholeOf(a), wholeB = wholeOf(b);
    if ((op == '/' || op == '|' || op == '%') && *y == 0) {
        fail("division by zero");
        return {};
    }
    if (wholeA && wholeB && op != '/' && !(op == '^' && *wholeB < 0))
        return calculateWhole(op, *wholeA, *wholeB);
    switch (op) {
    case '+': return *x + *y;
    case '-': return *x - *y;
    case '*': return *x * *y;
    case '/': return *x / *y;
    case '|': return std::floor(*x / *y);
    case '^': return std::pow(*x, *y);
    default: {
        const double rest = std::fmod(*x, *y);
        return rest != 0 && (rest < 0) != (*y < 0) ? rest + *y : rest;
    }
    }
}

Value Evaluator::calculateWhole(char op, std::int64_t a, std::int64_t b)
{
    std::int64_t result = 0;
    bool tooLarge = false;
    switch (op) {
    case '+': tooLarge = __builtin_add_overflow(a, b, &result); break;
    case '-': tooLarge = __builtin_sub_overflow(a, b, &result); break;
    case '*': tooLarge = __builtin_mul_overflow(a, b, &result); break;
    case '^':
        result = 1;
        tooLarge = b > 64 && a != 0 && a != 1 && a != -1;
        for (std::int64_t i = 0; i < (tooLarge              ? 0
                                         : a == -1          ? b % 2
                                         : a == 0 || a == 1 ? std::min<std::int64_t>(b, 1)
                                                            : b);
            ++i)
            tooLarge = __builtin_mul_overflow(result, a, &result) || tooLarge;
        break;
    default:
        if (b == -1) { // the least number has no opposite
            tooLarge = op == '|' && __builtin_sub_overflow(std::int64_t(0), a, &result);
            break;
        }
        const auto rest = a % b;
        const bool down = rest != 0 && (rest < 0) != (b < 0); // Python rounds down, C++ towards 0
        result = op == '|' ? a / b - (down ? 1 : 0) : rest + (down ? b : 0);
    }
    if (tooLarge)
        fail("a number is too large");
    return result;
}

} // namespace furrow::chat
