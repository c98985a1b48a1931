#pragma once

#include "core/base/result.h"
#include "core/chat/template/parser.h"
#include "core/chat/template/routine.h"

#include <ctime>

namespace furrow::chat {

/// What one rendering may use.
struct Limits {
    std::int64_t steps
        = 20'000'000; ///< parts of the template that are evaluated; 64 bytes that are looked at count as one
    std::size_t memoryBytes = std::size_t(128) << 20;
    std::size_t outputBytes = std::size_t(32) << 20;
};

/// Names and their values, one for each block of a template that has its own. They stay until the rendering ends, since
/// macros remember theirs.
struct Frame {
    struct Slot {
        NameId name = 0;
        Value value {};
        Slot* next = nullptr;
    };
    const Frame* outer = nullptr;
    Slot* slots = nullptr;
};

/// Bytes of what was rendered.
struct Stretch {
    std::size_t begin = 0;
    std::size_t end = 0;
};

/// Walks a template once. After the first failure all that follows gives nothing; error() says what it was.
/// Not thread-safe.
class Evaluator {
public:
    Evaluator(const ParsedTemplate& parsed, Arena& arena, const Limits& limits, std::tm now);

    void define(std::string_view name, const Value& value);
    void run();

    bool failed() const { return !error_.message.empty(); }
    const Error& error() const { return error_; }
    std::string takeOutput() { return std::move(output_); }
    const std::vector<Stretch>& generated() const { return generated_; }

    // For routines
    void fail(const std::string& what);
    void refuse(std::string_view reason); ///< raise_exception
    /// Accounts for work. @return false when the rendering is over
    bool spend(std::int64_t steps);
    bool spendOnText(std::string_view text) { return spend(1 + static_cast<std::int64_t>(text.size() / 64)); }

    Value text(std::string_view made); ///< a copy of it
    Value sequence(const std::vector<Value>& items, Sequence::Kind kind = Sequence::Kind::List);
    Value dict(const std::vector<Entry>& entries, bool isNamespace = false);
    Value codePoint(std::string_view text, std::size_t& at); ///< as a text, without a copy

    /// What str() gives.
    std::string_view textOf(const Value& value);
    /// What a for walks through.
    std::span<const Value> itemsOf(const Value& value);
    bool areEqual(const Value& a, const Value& b);
    std::optional<int> orderOf(const Value& a, const Value& b); ///< nothing: it has failed
    bool contains(const Value& container, const Value& value);

    Value attribute(const Value& of, std::string_view name);
    Value item(const Value& of, const Value& which);
    /// By a path as filters take it: "function.name", 0.
    Value itemByPath(const Value& of, const Value& path);
    Value call(const Value& function, const Arguments& arguments);
    Value callRoutine(const Routine& routine, const Value& self, const Arguments& arguments);
    Value add(const Value& a, const Value& b);

    const std::tm& now() const { return now_; }

private:
    enum class Flow : std::uint8_t { On, Break, Continue };
    /// Counts how deep the walk is while it lives.
    struct Depth {
        explicit Depth(std::int64_t& depth)
            : depth_(++depth)
        {
        }
        ~Depth() { --depth_; }
        Depth(const Depth&) = delete;
        Depth& operator=(const Depth&) = delete;
        std::int64_t& depth_;
    };

    Flow execute(Body body, Frame& frame);
    Flow execute(const Statement& statement, Frame& frame);
    Flow executeIf(const Statement& statement, Frame& frame);
    Flow executeFor(const Statement& statement, Frame& frame);
    Flow executeWith(const Statement& statement, Frame& frame);
    Flow executeGeneration(const Statement& statement, Frame& frame);
    void executeSetBody(const Statement& statement, Frame& frame);
    void executeCallBlock(const Statement& statement, Frame& frame);
    std::span<const Value> wantedItems(const Statement& statement, Frame& frame);
    std::string_view captured(Body body, Frame& frame);
    void write(std::string_view text);
    void print(const Value& value);

    void set(Frame& frame, NameId name, const Value& value);
    void assign(const Target& target, const Value& value, Frame& frame);
    void assignAttribute(const Target& target, const Value& value, const Frame& frame);
    const Value* find(const Frame& frame, NameId name) const;

    Value evaluate(const Expression& expression, Frame& frame);
    Value evaluateKind(const Expression& expression, Frame& frame);
    Value lookUp(const Expression& expression, const Frame& frame);
    Value evaluateParts(const Expression& expression, Frame& frame);
    Value evaluateDict(const Expression& expression, Frame& frame);
    Value evaluateSlice(const Expression& expression, Frame& frame);
    Value evaluateFilter(const Expression& expression, Frame& frame, const Value* input);
    Value evaluateTest(const Expression& expression, Frame& frame);
    Value evaluateBinary(const Expression& expression, Frame& frame);
    Value evaluateConcat(const Expression& expression, Frame& frame);
    Value evaluateSign(const Expression& expression, Frame& frame);
    bool compare(const Expression& expression, Frame& frame);
    bool compareBy(std::string_view op, const Value& a, const Value& b);
    Arguments evaluateArguments(const ArgumentList* list, Frame& frame);
    Value callMacro(const Function& macro, const Arguments& arguments);
    Value macroArgument(const Function& macro, std::size_t i, const Arguments& arguments, Frame& frame);
    Value calculate(char op, const Value& a, const Value& b);
    Value calculateWhole(char op, std::int64_t a, std::int64_t b);
    Value multiply(const Value& a, const Value& b);
    Value repeat(const Value& what, std::int64_t times);
    Value loopAttribute(const Loop& loop, std::string_view name);
    Value loopMethod(Loop& loop, std::string_view name, const Arguments& arguments);

    const ParsedTemplate& parsed_;
    Arena& arena_;
    const Limits limits_;
    const std::tm now_;
    Frame root_;
    std::string output_;
    std::vector<Stretch> generated_;
    Error error_;
    std::int64_t steps_ = 0;
    std::int64_t depth_ = 0;
    std::int64_t captures_ = 0;
    std::int64_t loops_ = 0;
    int line_ = 1;
};

} // namespace furrow::chat
