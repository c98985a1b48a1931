#pragma once

#include "core/chat/template/value.h"

#include <array>

namespace furrow::chat {

class Evaluator;

struct NamedValue {
    std::string_view name;
    Value value;
};

/// The values that something is called with.
struct Arguments {
    std::vector<Value> positional;
    std::vector<NamedValue> named;
};

/// The arguments of a routine, by its parameters.
struct Given {
    static constexpr std::size_t kMost = 6;
    std::array<const Value*, kMost> values {}; ///< null: left out
    const Arguments* all = nullptr; ///< of a routine that takes any

    const Value* operator[](std::size_t i) const { return values[i]; }
};

/// A filter, test, method or function that templates know by name. What goes wrong is told to the evaluator.
struct Routine {
    using Run = Value (*)(Evaluator& in, const Value& self, const Given& given);

    std::string_view name;
    Run run = nullptr; ///< null: Python has it, a template may not use it
    std::array<std::string_view, Given::kMost> parameters {};
    std::size_t required = 0;
    bool takesAny = false;
};

const Routine* findFilter(std::string_view name);
const Routine* findTest(std::string_view name);
const Routine* findGlobal(std::string_view name);
/// @param of  whose method; not undefined
const Routine* findMethod(const Value& of, std::string_view name);

} // namespace furrow::chat
