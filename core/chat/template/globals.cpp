// The functions that transformers gives a chat template, and Jinja2's own.

#include "core/chat/template/evaluator.h"
#include "core/chat/template/moment.h"
#include "core/chat/template/routine_table.h"

namespace furrow::chat {

namespace {

constexpr std::int64_t kLongestRange = 100'000; ///< of Jinja2's sandbox

Value raiseException(Evaluator& in, const Value&, const Given& given)
{
    in.refuse(in.textOf(*given[0]));
    return {};
}

Value strftimeNow(Evaluator& in, const Value&, const Given& given)
{
    std::string written;
    const auto unknown = appendMoment(in.now(), in.textOf(*given[0]), written);
    if (!unknown.empty())
        in.fail("strftime_now does not know '" + unknown + "'");
    return in.text(written);
}

Value range(Evaluator& in, const Value&, const Given& given)
{
    std::int64_t bounds[3] = { 0, 0, 1 };
    for (std::size_t i = 0; i < 3 && given[i]; ++i) {
        const auto bound = wholeOf(*given[i]);
        if (!bound)
            in.fail("'" + typeName(*given[i]) + "' object cannot be interpreted as an integer");
        bounds[i] = bound.value_or(0);
    }
    const auto from = given[1] ? bounds[0] : 0, to = given[1] ? bounds[1] : bounds[0], step = bounds[2];
    if (step == 0)
        in.fail("range() arg 3 must not be zero");
    std::vector<Value> numbers;
    for (auto at = from; !in.failed() && (step > 0 ? at < to : at > to);) {
        numbers.push_back(at);
        if (static_cast<std::int64_t>(numbers.size()) > kLongestRange)
            in.fail("range too big");
        if (__builtin_add_overflow(at, step, &at))
            break;
    }
    return in.sequence(numbers);
}

void put(Evaluator& in, std::vector<Entry>& entries, const Value& key, const Value& value)
{
    const auto known
        = std::find_if(entries.begin(), entries.end(), [&](const Entry& entry) { return in.areEqual(entry.key, key); });
    if (known == entries.end())
        entries.push_back({ key, value });
    else
        known->value = value;
}

/// dict(mapping or pairs, name=value)
std::vector<Entry> entriesOf(Evaluator& in, const Arguments& arguments)
{
    std::vector<Entry> entries;
    if (arguments.positional.size() > 1)
        in.fail("dict expected at most 1 argument");
    for (const auto& from : arguments.positional) {
        if (auto* const* dict = std::get_if<Dict*>(&from)) {
            entries.assign((*dict)->entries.begin(), (*dict)->entries.end());
            continue;
        }
        for (const auto& pair : in.itemsOf(from)) {
            const auto both = in.itemsOf(pair);
            if (both.size() != 2 || extentOf(both[0]).parts > 1) {
                in.fail("a dict is made of pairs of a key and a value");
                break;
            }
            put(in, entries, both[0], both[1]);
        }
    }
    for (const auto& named : arguments.named)
        put(in, entries, named.name, named.value);
    return entries;
}

Value dict(Evaluator& in, const Value&, const Given& given) { return in.dict(entriesOf(in, *given.all)); }

Value makeNamespace(Evaluator& in, const Value&, const Given& given)
{
    const auto entries = entriesOf(in, *given.all);
    for (const auto& entry : entries) {
        const auto* name = std::get_if<std::string_view>(&entry.key);
        if (!name || name->starts_with('_'))
            in.fail("a namespace holds no attribute that begins with '_'");
    }
    return in.failed() ? Value {} : in.dict(entries, true);
}

constexpr Routine kGlobals[] = {
    { "dict", dict, {}, 0, true },
    { "namespace", makeNamespace, {}, 0, true },
    { "raise_exception", raiseException, { "message" }, 1 },
    { "range", range, { "start", "stop", "step" }, 1 },
    { "strftime_now", strftimeNow, { "format" }, 1 },
};

} // namespace

const Routine* findGlobal(std::string_view name) { return findIn(kGlobals, name); }

} // namespace furrow::chat
