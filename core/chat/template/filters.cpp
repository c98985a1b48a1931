// The filters of Jinja2: x | NAME.

#include "core/chat/template/evaluator.h"
#include "core/chat/template/json.h"
#include "core/chat/template/routine_table.h"
#include "core/chat/template/text.h"

#include <charconv>
#include <cmath>

namespace furrow::chat {

namespace {

constexpr std::size_t kMostJson = std::size_t(32) << 20;

std::int64_t wholeAt(Evaluator& in, const Given& given, std::size_t i, std::int64_t otherwise)
{
    const auto whole = given[i] ? wholeOf(*given[i]) : otherwise;
    if (!whole)
        in.fail("'" + typeName(*given[i]) + "' object cannot be interpreted as an integer");
    return whole.value_or(otherwise);
}
bool flagAt(const Given& given, std::size_t i, bool otherwise) { return given[i] ? isTrue(*given[i]) : otherwise; }
bool isLeftOut(const Value* value) { return !value || std::holds_alternative<None>(*value); }

/// A text method, of the str() of whatever there is.
template <std::size_t N> struct NameOf {
    char text[N];
    constexpr NameOf(const char (&name)[N]) { std::copy_n(name, N, text); }
};
template <NameOf name> Value asMethod(Evaluator& in, const Value& self, const Given& given)
{
    const Value text = in.textOf(self);
    return in.failed() ? Value {} : findMethod(text, name.text)->run(in, text, given);
}

Value defaultTo(Evaluator&, const Value& self, const Given& given)
{
    const bool missing = std::holds_alternative<Undefined>(self) || (flagAt(given, 1, false) && !isTrue(self));
    return !missing ? self : given[0] ? *given[0] : Value(std::string_view());
}

Value length(Evaluator& in, const Value& self, const Given&)
{
    if (const auto* text = std::get_if<std::string_view>(&self))
        return in.spendOnText(*text) ? static_cast<std::int64_t>(lengthInCodePoints(*text)) : std::int64_t(0);
    if (const auto* row = std::get_if<const Sequence*>(&self); row && (*row)->kind != Sequence::Kind::Stream)
        return static_cast<std::int64_t>((*row)->items.size());
    if (const auto* dict = std::get_if<Dict*>(&self); dict && !(*dict)->isNamespace)
        return static_cast<std::int64_t>((*dict)->entries.size());
    if (!std::holds_alternative<Undefined>(self))
        in.fail("object of type '" + typeName(self) + "' has no len()");
    return std::int64_t(0);
}

Value string(Evaluator& in, const Value& self, const Given&) { return in.textOf(self); }
Value safe(Evaluator& in, const Value& self, const Given&) { return in.textOf(self); }

Value escape(Evaluator& in, const Value& self, const Given&)
{
    std::string out;
    for (const char c : in.textOf(self)) {
        switch (c) {
        case '&': out += "&amp;"; break;
        case '<': out += "&lt;"; break;
        case '>': out += "&gt;"; break;
        case '\'': out += "&#39;"; break;
        case '"': out += "&#34;"; break;
        default: out += c;
        }
    }
    return in.text(out);
}

/// Jinja2's own: a word begins behind white space or an opening bracket or hyphen.
Value title(Evaluator& in, const Value& self, const Given&)
{
    const auto text = in.textOf(self);
    std::string out, word;
    const auto flush = [&] {
        const auto first = byteOfCodePoint(word, 1);
        out += upperCase(std::string_view(word).substr(0, first)) + lowerCase(std::string_view(word).substr(first));
        word.clear();
    };
    for (std::size_t at = 0; at < text.size();) {
        const auto begin = at;
        const auto c = nextCodePoint(text, at);
        if (isPythonSpace(c) || c == '-' || c == '(' || c == '{' || c == '[' || c == '<') {
            flush();
            out += text.substr(begin, at - begin);
        } else {
            word += text.substr(begin, at - begin);
        }
    }
    flush();
    return in.text(out);
}

Value indent(Evaluator& in, const Value& self, const Given& given)
{
    const auto* text = given[0] ? std::get_if<std::string_view>(given[0]) : nullptr;
    const auto width = text ? 0 : wholeAt(in, given, 0, 4);
    if (!in.spend(width))
        return {};
    const std::string by
        = text ? std::string(*text) : std::string(static_cast<std::size_t>(std::max<std::int64_t>(width, 0)), ' ');
    const bool first = flagAt(given, 1, false), blank = flagAt(given, 2, false);
    std::string out;
    bool isFirst = true;
    for (auto rest = in.textOf(self);;) {
        const auto newline = rest.find('\n');
        const auto line = rest.substr(0, newline);
        if ((isFirst ? first : blank || !line.empty()) && in.spendOnText(by))
            out += by;
        out += line;
        if (newline == std::string_view::npos || in.failed())
            break;
        out += '\n';
        rest = rest.substr(newline + 1);
        isFirst = false;
    }
    return in.text(out);
}

Value wordcount(Evaluator& in, const Value& self, const Given&)
{
    std::int64_t words = 0;
    bool inWord = false;
    const auto text = in.textOf(self);
    for (std::size_t at = 0; at < text.size();) {
        const bool space = isPythonSpace(nextCodePoint(text, at));
        words += !space && !inWord ? 1 : 0;
        inWord = !space;
    }
    return words;
}

// Numbers

Value toInt(Evaluator& in, const Value& self, const Given& given)
{
    const Value otherwise = given[0] ? *given[0] : Value(std::int64_t(0));
    if (const auto whole = wholeOf(self))
        return *whole;
    if (const auto* number = std::get_if<double>(&self)) {
        const bool fits = std::abs(*number) < 9.2e18;
        return fits ? Value(static_cast<std::int64_t>(*number)) : otherwise;
    }
    const auto* held = std::get_if<std::string_view>(&self);
    if (!held)
        return otherwise;
    auto text = stripRight(stripLeft(*held));
    if (text.starts_with('+'))
        text = text.substr(1);
    std::int64_t whole = 0;
    const auto base = static_cast<int>(std::clamp<std::int64_t>(wholeAt(in, given, 1, 10), 2, 36));
    const auto read = std::from_chars(text.data(), text.data() + text.size(), whole, base);
    if (read.ec == std::errc {} && read.ptr == text.data() + text.size())
        return whole;
    double number = 0;
    const auto other = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool fits = other.ec == std::errc {} && other.ptr == text.data() + text.size() && std::abs(number) < 9.2e18;
    return fits ? Value(static_cast<std::int64_t>(number)) : otherwise;
}

Value toFloat(Evaluator&, const Value& self, const Given& given)
{
    if (const auto number = numberOf(self))
        return *number;
    const auto* held = std::get_if<std::string_view>(&self);
    auto text = held ? stripRight(stripLeft(*held)) : std::string_view();
    if (text.starts_with('+'))
        text = text.substr(1);
    double number = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
    if (!text.empty() && read.ec == std::errc {} && read.ptr == text.data() + text.size())
        return number;
    return given[0] ? *given[0] : Value(0.0);
}

Value absolute(Evaluator& in, const Value& self, const Given&)
{
    if (const auto whole = wholeOf(self))
        return *whole < 0 ? static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(*whole)) : *whole;
    const auto* number = std::get_if<double>(&self);
    if (!number)
        in.fail("bad operand type for abs(): '" + typeName(self) + "'");
    return number ? Value(std::abs(*number)) : Value {};
}

Value roundTo(Evaluator& in, const Value& self, const Given& given)
{
    const auto number = numberOf(self);
    const auto digits = wholeAt(in, given, 0, 0);
    const auto method = given[1] ? in.textOf(*given[1]) : "common";
    if (!number || digits < -15 || digits > 15)
        in.fail("'" + typeName(self) + "' cannot be rounded so");
    if (in.failed())
        return {};
    const double scale = std::pow(10.0, static_cast<double>(digits));
    if (method == "ceil")
        return std::ceil(*number * scale) / scale;
    if (method == "floor")
        return std::floor(*number * scale) / scale;
    if (wholeOf(self) && digits >= 0)
        return self; // Python rounds an int to an int
    char buffer[512];
    if (digits < 0)
        return std::nearbyint(*number * scale) / scale;
    const auto end
        = std::to_chars(buffer, buffer + sizeof buffer, *number, std::chars_format::fixed, static_cast<int>(digits))
              .ptr;
    double rounded = 0;
    std::from_chars(buffer, end, rounded);
    return rounded;
}

// Rows of values

Value list(Evaluator& in, const Value& self, const Given&)
{
    const auto items = in.itemsOf(self);
    return in.sequence({ items.begin(), items.end() });
}

Value first(Evaluator& in, const Value& self, const Given&)
{
    const auto items = in.itemsOf(self);
    return items.empty() ? Value(Undefined { "first" }) : items.front();
}

Value last(Evaluator& in, const Value& self, const Given&)
{
    const auto items = in.itemsOf(self);
    const auto* row = std::get_if<const Sequence*>(&self);
    if (row && (*row)->kind == Sequence::Kind::Stream)
        in.fail("'generator' object is not reversible");
    return items.empty() ? Value(Undefined { "last" }) : items.back();
}

Value reverse(Evaluator& in, const Value& self, const Given&)
{
    const auto items = in.itemsOf(self);
    std::vector<Value> reversed(items.rbegin(), items.rend());
    if (!std::holds_alternative<std::string_view>(self))
        return in.sequence(reversed, Sequence::Kind::Stream);
    std::string joined;
    for (const auto& item : reversed)
        joined += std::get<std::string_view>(item);
    return in.text(joined);
}

Value join(Evaluator& in, const Value& self, const Given& given)
{
    const auto by = given[0] ? in.textOf(*given[0]) : std::string_view();
    std::string joined;
    bool isFirst = true;
    for (const auto& item : in.itemsOf(self)) {
        const auto value = isLeftOut(given[1]) ? item : in.itemByPath(item, *given[1]);
        const auto text = in.textOf(value);
        if (!in.spendOnText(text) || !in.spendOnText(by))
            return {};
        if (!isFirst)
            joined += by;
        joined += text;
        isFirst = false;
    }
    return in.text(joined);
}

/// What values are compared by: texts in lower case where the case does not matter.
Value comparable(Evaluator& in, const Value& value, bool caseMatters)
{
    const auto* text = std::get_if<std::string_view>(&value);
    return text && !caseMatters ? in.text(lowerCase(*text)) : value;
}

struct Keyed {
    Value key;
    Value value;
};

Value sorted(Evaluator& in, std::vector<Keyed> rows, bool downwards)
{
    const auto isBefore = [&](const Keyed& a, const Keyed& b) {
        if (in.failed())
            return false;
        return (downwards ? in.orderOf(b.key, a.key) : in.orderOf(a.key, b.key)).value_or(0) < 0;
    };
    std::stable_sort(rows.begin(), rows.end(), isBefore);
    std::vector<Value> values;
    for (const auto& row : rows)
        values.push_back(row.value);
    return in.sequence(values);
}

Value sort(Evaluator& in, const Value& self, const Given& given)
{
    std::vector<Keyed> rows;
    for (const auto& item : in.itemsOf(self)) {
        const auto by = isLeftOut(given[2]) ? item : in.itemByPath(item, *given[2]);
        rows.push_back({ comparable(in, by, flagAt(given, 1, false)), item });
    }
    return sorted(in, std::move(rows), flagAt(given, 0, false));
}

Value dictsort(Evaluator& in, const Value& self, const Given& given)
{
    const auto* dict = std::get_if<Dict*>(&self);
    if (!dict || (*dict)->isNamespace) {
        in.fail("'" + typeName(self) + "' object has no attribute 'items'");
        return {};
    }
    const auto by = given[1] ? in.textOf(*given[1]) : "key";
    if (by != "key" && by != "value")
        in.fail("You can only sort by either \"key\" or \"value\"");
    std::vector<Keyed> rows;
    for (const auto& entry : (*dict)->entries)
        rows.push_back({ comparable(in, by == "key" ? entry.key : entry.value, flagAt(given, 0, false)),
            in.sequence({ entry.key, entry.value }, Sequence::Kind::Tuple) });
    return sorted(in, std::move(rows), flagAt(given, 2, false));
}

Value unique(Evaluator& in, const Value& self, const Given& given)
{
    std::vector<Value> seen, kept;
    for (const auto& item : in.itemsOf(self)) {
        const auto key
            = comparable(in, isLeftOut(given[1]) ? item : in.itemByPath(item, *given[1]), flagAt(given, 0, false));
        if (std::any_of(seen.begin(), seen.end(), [&](const Value& other) { return in.areEqual(key, other); }))
            continue;
        seen.push_back(key);
        kept.push_back(item);
    }
    return in.sequence(kept, Sequence::Kind::Stream);
}

Value extreme(Evaluator& in, const Value& self, const Given& given, int wanted)
{
    const auto items = in.itemsOf(self);
    const Value* best = nullptr;
    Value bestKey;
    for (const auto& item : items) {
        const auto key
            = comparable(in, isLeftOut(given[1]) ? item : in.itemByPath(item, *given[1]), flagAt(given, 0, false));
        const auto order = best ? in.orderOf(key, bestKey).value_or(0) : wanted;
        if (best && (wanted < 0 ? order >= 0 : order <= 0))
            continue;
        best = &item;
        bestKey = key;
    }
    return best ? *best : Value(Undefined { "item" });
}
Value min(Evaluator& in, const Value& self, const Given& given) { return extreme(in, self, given, -1); }
Value max(Evaluator& in, const Value& self, const Given& given) { return extreme(in, self, given, 1); }

Value sum(Evaluator& in, const Value& self, const Given& given)
{
    Value total = given[1] ? *given[1] : Value(std::int64_t(0));
    for (const auto& item : in.itemsOf(self)) {
        const auto value = isLeftOut(given[0]) ? item : in.itemByPath(item, *given[0]);
        if (std::holds_alternative<std::string_view>(value))
            in.fail("sum() can't sum strings");
        total = in.failed() ? Value {} : in.add(total, value);
    }
    return total;
}

Value items(Evaluator& in, const Value& self, const Given& given)
{
    if (std::holds_alternative<Undefined>(self))
        return in.sequence({}, Sequence::Kind::Stream);
    const auto* dict = std::get_if<Dict*>(&self);
    if (!dict || (*dict)->isNamespace) {
        in.fail("Can only get item pairs from a mapping.");
        return {};
    }
    const auto pairs = findMethod(self, "items")->run(in, self, given);
    const auto all = in.itemsOf(pairs);
    return in.sequence({ all.begin(), all.end() }, Sequence::Kind::Stream);
}

Value batch(Evaluator& in, const Value& self, const Given& given)
{
    const auto size = wholeAt(in, given, 0, 1);
    std::vector<Value> batches, open;
    for (const auto& item : in.itemsOf(self)) {
        if (static_cast<std::int64_t>(open.size()) == size)
            batches.push_back(in.sequence(std::exchange(open, {})));
        open.push_back(item);
    }
    while (!open.empty() && !isLeftOut(given[1]) && static_cast<std::int64_t>(open.size()) < size && in.spend(1))
        open.push_back(*given[1]);
    if (!open.empty())
        batches.push_back(in.sequence(open));
    return in.sequence(batches, Sequence::Kind::Stream);
}

// Filters that take a filter or a test by its name

/// The arguments behind the first `used` ones.
Arguments behind(const Arguments& all, std::size_t used)
{
    Arguments rest;
    rest.positional.assign(all.positional.begin() + static_cast<std::ptrdiff_t>(used), all.positional.end());
    rest.named = all.named;
    return rest;
}

Value map(Evaluator& in, const Value& self, const Given& given)
{
    if (!isTrue(self)) // also None, which cannot be walked
        return in.sequence({}, Sequence::Kind::Stream);
    const auto& all = *given.all;
    const Value *path = nullptr, *otherwise = nullptr;
    for (const auto& named : all.named) {
        if (all.positional.empty() && named.name == "attribute")
            path = &named.value;
        else if (all.positional.empty() && named.name == "default")
            otherwise = &named.value;
    }
    const auto name = all.positional.empty() ? std::string_view() : in.textOf(all.positional[0]);
    const auto* filter = path ? nullptr : findFilter(name);
    if (!path && (!filter || !filter->run))
        in.fail("map needs a filter or attribute=, and there is no filter '" + std::string(name) + "' here");
    const auto rest = all.positional.empty() ? Arguments {} : behind(all, 1);
    std::vector<Value> mapped;
    for (const auto& item : in.failed() ? std::span<const Value> {} : in.itemsOf(self)) {
        if (!in.spend(1))
            break;
        auto value = path ? in.itemByPath(item, *path) : in.callRoutine(*filter, item, rest);
        if (path && otherwise && std::holds_alternative<Undefined>(value))
            value = *otherwise;
        mapped.push_back(value);
    }
    return in.sequence(mapped, Sequence::Kind::Stream);
}

/// @param byAttribute  the first argument is the path of what is tested
Value chosen(Evaluator& in, const Value& self, const Given& given, bool byAttribute, bool wanted)
{
    if (!isTrue(self)) // also None, which cannot be walked
        return in.sequence({}, Sequence::Kind::Stream);
    const auto& all = *given.all;
    const std::size_t used = byAttribute ? 1 : 0;
    if (all.positional.size() < used) {
        in.fail("Missing parameter for attribute name");
        return {};
    }
    const bool hasTest = all.positional.size() > used;
    const auto* test = hasTest ? findTest(in.textOf(all.positional[used])) : nullptr;
    if (hasTest && !test)
        in.fail("there is no test '" + std::string(in.textOf(all.positional[used])) + "' here");
    const auto rest = behind(all, used + (hasTest ? 1 : 0));
    std::vector<Value> kept;
    for (const auto& item : in.failed() ? std::span<const Value> {} : in.itemsOf(self)) {
        if (!in.spend(1))
            break;
        const auto value = byAttribute ? in.itemByPath(item, all.positional[0]) : item;
        if (isTrue(test ? in.callRoutine(*test, value, rest) : value) == wanted)
            kept.push_back(item);
    }
    return in.sequence(kept, Sequence::Kind::Stream);
}
Value select(Evaluator& in, const Value& self, const Given& given) { return chosen(in, self, given, false, true); }
Value reject(Evaluator& in, const Value& self, const Given& given) { return chosen(in, self, given, false, false); }
Value selectattr(Evaluator& in, const Value& self, const Given& given) { return chosen(in, self, given, true, true); }
Value rejectattr(Evaluator& in, const Value& self, const Given& given) { return chosen(in, self, given, true, false); }

Value attr(Evaluator& in, const Value& self, const Given& given)
{
    const auto name = in.textOf(*given[0]); // never an item of a dict, as in Jinja2
    const auto* dict = std::get_if<Dict*>(&self);
    if (dict && !(*dict)->isNamespace && !findMethod(self, name))
        return Undefined { name };
    return in.attribute(self, name);
}

Value tojson(Evaluator& in, const Value& self, const Given& given)
{
    JsonStyle style;
    style.ascii = flagAt(given, 0, false);
    style.sorted = flagAt(given, 3, false);
    if (!isLeftOut(given[1])) {
        const auto* text = std::get_if<std::string_view>(given[1]);
        const auto width = text ? 0 : std::clamp<std::int64_t>(wholeAt(in, given, 1, 0), 0, 100);
        style.indent = text ? std::string(*text) : std::string(static_cast<std::size_t>(width), ' ');
        style.betweenItems = ",";
    }
    if (!isLeftOut(given[2])) {
        const auto both = in.itemsOf(*given[2]);
        if (both.size() != 2)
            in.fail("separators are two texts");
        style.betweenItems = both.size() == 2 ? in.textOf(both[0]) : "";
        style.behindKey = both.size() == 2 ? in.textOf(both[1]) : "";
    }
    std::string written;
    if (!in.spend(static_cast<std::int64_t>(extentOf(self).parts)))
        return {};
    const auto trouble = appendJson(self, style, kMostJson, written);
    if (!trouble.empty())
        in.fail(trouble);
    if (written.size() >= kMostJson)
        in.fail("it writes too much");
    return in.spendOnText(written) ? in.text(written) : Value {};
}

constexpr Routine kFilters[] = {
    { "abs", absolute },
    { "attr", attr, { "name" }, 1 },
    { "batch", batch, { "linecount", "fill_with" }, 1 },
    { "capitalize", asMethod<"capitalize"> },
    { "center", asMethod<"center">, { "width" }, 1 },
    { "count", length },
    { "d", defaultTo, { "default_value", "boolean" } },
    { "default", defaultTo, { "default_value", "boolean" } },
    { "dictsort", dictsort, { "case_sensitive", "by", "reverse" } },
    { "e", escape },
    { "escape", escape },
    { "first", first },
    { "float", toFloat, { "default" } },
    { "forceescape", escape },
    { "indent", indent, { "width", "first", "blank" } },
    { "int", toInt, { "default", "base" } },
    { "items", items },
    { "join", join, { "d", "attribute" } },
    { "last", last },
    { "length", length },
    { "list", list },
    { "lower", asMethod<"lower"> },
    { "map", map, {}, 0, true },
    { "max", max, { "case_sensitive", "attribute" } },
    { "min", min, { "case_sensitive", "attribute" } },
    { "reject", reject, {}, 0, true },
    { "rejectattr", rejectattr, {}, 0, true },
    { "replace", asMethod<"replace">, { "old", "new", "count" }, 2 },
    { "reverse", reverse },
    { "round", roundTo, { "precision", "method" } },
    { "safe", safe },
    { "select", select, {}, 0, true },
    { "selectattr", selectattr, {}, 0, true },
    { "sort", sort, { "reverse", "case_sensitive", "attribute" } },
    { "string", string },
    { "sum", sum, { "attribute", "start" } },
    { "title", title },
    { "tojson", tojson, { "ensure_ascii", "indent", "separators", "sort_keys" } },
    { "trim", asMethod<"strip">, { "chars" } },
    { "unique", unique, { "case_sensitive", "attribute" } },
    { "upper", asMethod<"upper"> },
    { "wordcount", wordcount },
};

} // namespace

const Routine* findFilter(std::string_view name) { return findIn(kFilters, name); }

} // namespace furrow::chat
