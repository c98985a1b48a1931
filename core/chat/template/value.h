#pragma once

#include "core/chat/template/arena.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace furrow::chat {

struct Dict;
struct Frame;
struct Function;
struct Loop;
struct Sequence;
struct Statement;

struct Undefined {
    std::string_view name; ///< what was looked for: "tools", "content"
};
struct None { };

/// A value of the template language, as Python knows it. Small and copied freely: what is larger lies in an arena, or
/// in the conversation that is rendered. Nothing but a namespace changes once it is made, so values form no cycles but
/// through those.
using Value = std::variant<Undefined, None, bool, std::int64_t, double, std::string_view, const Sequence*, Dict*,
    const Function*, Loop*>;

constexpr std::uint64_t kMostParts = std::uint64_t(1) << 40;

/// How deep a value is nested and how many parts it has, counted as often as they are reached: who walks one asks
/// first.
struct Extent {
    std::uint32_t depth = 1;
    std::uint64_t parts = 1; ///< at most kMostParts
};

/// Values in a row. A Stream is what filters as `map` give in Python: it is true even when it is empty, has no length,
/// and is walked once.
struct Sequence {
    enum class Kind : std::uint8_t { List, Tuple, View, Stream };
    Kind kind = Kind::List;
    std::span<const Value> items;
    Extent extent {};
    mutable bool spent = false;
};

struct Entry {
    Value key;
    Value value;
};

/// Keys in the order in which they came. A namespace is one whose entries may be set.
struct Dict {
    std::span<Entry> entries;
    Extent extent {};
    bool isNamespace = false;

    const Value* find(const Value& key) const;
    const Value* named(std::string_view key) const;
};

/// What can be called.
struct Function {
    enum class Kind : std::uint8_t { Macro, Global, Method };
    Kind kind = Kind::Global;
    std::string_view name;
    Value receiver; ///< of a method
    const Statement* macro = nullptr; ///< what it runs
    const Frame* home = nullptr; ///< the names that a macro sees
};

/// What `loop` stands for inside of a for.
struct Loop {
    std::span<const Value> items;
    std::size_t index = 0;
    std::int64_t depth = 0;
    std::optional<Value> lastSeen; ///< of loop.changed()
};

/// A value is put into what has `extent` so far.
void reach(Extent& extent, const Value& value);
Extent extentOf(const Value& value);

bool isTrue(const Value& value);
bool equals(const Value& a, const Value& b);
/// Less than, equal to or greater than 0; nothing where Python does not compare the two.
std::optional<int> order(const Value& a, const Value& b);

/// A bool, an int or a float as Python calculates with them.
std::optional<double> numberOf(const Value& value);
/// A bool or an int.
std::optional<std::int64_t> wholeOf(const Value& value);

/// What Python's str() gives, appended. Stops growing at `most` bytes.
void appendText(const Value& value, std::size_t most, std::string& out);
/// The same by repr().
void appendRepresentation(const Value& value, std::size_t most, std::string& out);
void appendFloat(double value, std::string& out);

/// As Python names the type in its messages: "str", "dict".
std::string typeName(const Value& value);

} // namespace furrow::chat
