// The methods of Python's str, dict and list. Those that change what they belong to, and the few that nobody needs in a
// template, stand here without a function: a key of the same name is then not looked for, as in Python.

#include "core/chat/template/evaluator.h"
#include "core/chat/template/routine_table.h"
#include "core/chat/template/text.h"

#include <unicode/uchar.h>

namespace furrow::chat {

namespace {

constexpr auto kNowhere = std::string_view::npos;

std::string_view own(const Value& self) { return std::get<std::string_view>(self); }

/// An argument that must be a text.
std::string_view textAt(Evaluator& in, const Given& given, std::size_t i)
{
    const auto* text = given[i] ? std::get_if<std::string_view>(given[i]) : nullptr;
    if (!text)
        in.fail(
            "argument " + std::to_string(i + 1) + " must be str" + (given[i] ? ", not " + typeName(*given[i]) : ""));
    return text ? *text : std::string_view();
}

std::int64_t wholeAt(Evaluator& in, const Given& given, std::size_t i, std::int64_t otherwise)
{
    if (!given[i])
        return otherwise;
    const auto whole = wholeOf(*given[i]);
    if (!whole)
        in.fail("'" + typeName(*given[i]) + "' object cannot be interpreted as an integer");
    return whole.value_or(otherwise);
}

bool isLeftOut(const Value* value) { return !value || std::holds_alternative<None>(*value); }

std::optional<std::string_view> charactersAt(Evaluator& in, const Given& given)
{
    if (isLeftOut(given[0]))
        return std::nullopt;
    return textAt(in, given, 0);
}

// str

Value strip(Evaluator& in, const Value& self, const Given& given)
{
    const auto characters = charactersAt(in, given);
    return in.spendOnText(own(self)) ? stripRight(stripLeft(own(self), characters), characters) : std::string_view();
}
Value lstrip(Evaluator& in, const Value& self, const Given& given)
{
    return in.spendOnText(own(self)) ? stripLeft(own(self), charactersAt(in, given)) : std::string_view();
}
Value rstrip(Evaluator& in, const Value& self, const Given& given)
{
    return in.spendOnText(own(self)) ? stripRight(own(self), charactersAt(in, given)) : std::string_view();
}
Value upper(Evaluator& in, const Value& self, const Given&) { return in.text(upperCase(own(self))); }
Value lower(Evaluator& in, const Value& self, const Given&) { return in.text(lowerCase(own(self))); }
Value capitalize(Evaluator& in, const Value& self, const Given&) { return in.text(capitalized(own(self))); }
Value title(Evaluator& in, const Value& self, const Given&) { return in.text(titleOfWords(own(self))); }

/// Whether any of the texts of argument 0 (one, or a tuple) is meant.
template <typename Meant> bool anyText(Evaluator& in, const Given& given, const Meant& meant)
{
    const auto* row = std::get_if<const Sequence*>(given[0]);
    if (!row || (*row)->kind != Sequence::Kind::Tuple)
        return meant(textAt(in, given, 0));
    return std::any_of((*row)->items.begin(), (*row)->items.end(), [&](const Value& item) {
        const auto* text = std::get_if<std::string_view>(&item);
        if (!text)
            in.fail("a tuple of str is expected, not of " + typeName(item));
        return text && meant(*text);
    });
}
Value startswith(Evaluator& in, const Value& self, const Given& given)
{
    return anyText(in, given, [&](std::string_view text) { return own(self).starts_with(text); });
}
Value endswith(Evaluator& in, const Value& self, const Given& given)
{
    return anyText(in, given, [&](std::string_view text) { return own(self).ends_with(text); });
}

Value find(Evaluator& in, const Value& self, const Given& given, bool last)
{
    const auto text = own(self), part = textAt(in, given, 0);
    if (!in.spendOnText(text))
        return {};
    const auto place = last ? text.rfind(part) : text.find(part);
    return place == kNowhere ? std::int64_t(-1) : static_cast<std::int64_t>(lengthInCodePoints(text.substr(0, place)));
}
Value find(Evaluator& in, const Value& self, const Given& given) { return find(in, self, given, false); }
Value rfind(Evaluator& in, const Value& self, const Given& given) { return find(in, self, given, true); }
Value index(Evaluator& in, const Value& self, const Given& given)
{
    const auto place = find(in, self, given, false);
    if (equals(place, std::int64_t(-1)))
        in.fail("substring not found");
    return place;
}

Value count(Evaluator& in, const Value& self, const Given& given)
{
    const auto text = own(self), part = textAt(in, given, 0);
    if (!in.spendOnText(text))
        return {};
    if (part.empty())
        return static_cast<std::int64_t>(lengthInCodePoints(text) + 1);
    std::int64_t found = 0;
    for (auto at = text.find(part); at != kNowhere; at = text.find(part, at + part.size()))
        ++found;
    return found;
}

/// The places between which texts are cut, and what is left of the last.
Value splitByText(Evaluator& in, std::string_view text, std::string_view by, std::int64_t most)
{
    std::vector<Value> parts;
    while (most < 0 || static_cast<std::int64_t>(parts.size()) < most) {
        const auto place = text.find(by);
        if (place == kNowhere || !in.spend(1))
            break;
        parts.push_back(text.substr(0, place));
        text = text.substr(place + by.size());
    }
    parts.push_back(text);
    return in.sequence(parts);
}

Value splitBySpace(Evaluator& in, std::string_view text, std::int64_t most)
{
    std::vector<Value> parts;
    text = stripLeft(text);
    while (!text.empty() && in.spend(1)) {
        if (most >= 0 && static_cast<std::int64_t>(parts.size()) >= most) {
            parts.push_back(stripRight(text));
            break;
        }
        std::size_t end = 0;
        for (std::size_t at = 0; at < text.size(); end = at) {
            if (isPythonSpace(nextCodePoint(text, at)))
                break;
        }
        parts.push_back(text.substr(0, end));
        text = stripLeft(text.substr(end));
    }
    return in.sequence(parts);
}

Value split(Evaluator& in, const Value& self, const Given& given)
{
    const auto most = wholeAt(in, given, 1, -1);
    if (!in.spendOnText(own(self)))
        return {};
    if (isLeftOut(given[0]))
        return splitBySpace(in, own(self), most);
    const auto by = textAt(in, given, 0);
    if (by.empty())
        in.fail("empty separator");
    return in.failed() ? Value {} : splitByText(in, own(self), by, most);
}

Value rsplit(Evaluator& in, const Value& self, const Given& given)
{
    const auto most = wholeAt(in, given, 1, -1);
    if (most < 0)
        return split(in, self, given);
    auto text = own(self);
    const auto by = textAt(in, given, 0);
    if (by.empty())
        in.fail("empty separator");
    std::vector<Value> parts;
    while (in.spend(1) && static_cast<std::int64_t>(parts.size()) < most) {
        const auto place = text.rfind(by);
        if (place == kNowhere)
            break;
        parts.push_back(text.substr(place + by.size()));
        text = text.substr(0, place);
    }
    parts.push_back(text);
    std::reverse(parts.begin(), parts.end());
    return in.sequence(parts);
}

Value splitlines(Evaluator& in, const Value& self, const Given& given)
{
    const bool keeps = given[0] && isTrue(*given[0]);
    const auto text = own(self);
    std::vector<Value> lines;
    std::size_t begin = 0;
    for (std::size_t at = 0; at < text.size() && in.spend(0);) {
        const auto end = at;
        const auto c = nextCodePoint(text, at);
        const bool ends = (c >= 10 && c <= 13) || (c >= 0x1c && c <= 0x1e) || c == 0x85 || c == 0x2028 || c == 0x2029;
        if (!ends)
            continue;
        if (c == '\r' && at < text.size() && text[at] == '\n')
            ++at;
        lines.push_back(text.substr(begin, (keeps ? at : end) - begin));
        begin = at;
    }
    if (begin < text.size())
        lines.push_back(text.substr(begin));
    in.spendOnText(text);
    return in.sequence(lines);
}

Value partition(Evaluator& in, const Value& self, const Given& given, bool last)
{
    const auto text = own(self), by = textAt(in, given, 0);
    if (by.empty())
        in.fail("empty separator");
    if (!in.spendOnText(text))
        return {};
    const auto place = last ? text.rfind(by) : text.find(by);
    const std::string_view none;
    if (place == kNowhere)
        return in.sequence(last ? std::vector<Value> { none, none, text } : std::vector<Value> { text, none, none },
            Sequence::Kind::Tuple);
    return in.sequence({ text.substr(0, place), by, text.substr(place + by.size()) }, Sequence::Kind::Tuple);
}
Value partition(Evaluator& in, const Value& self, const Given& given) { return partition(in, self, given, false); }
Value rpartition(Evaluator& in, const Value& self, const Given& given) { return partition(in, self, given, true); }

Value join(Evaluator& in, const Value& self, const Given& given)
{
    std::string joined;
    bool first = true;
    for (const auto& item : in.itemsOf(*given[0])) {
        const auto* text = std::get_if<std::string_view>(&item);
        if (!text)
            in.fail("a text is expected in join(), " + typeName(item) + " found");
        if (!text || !in.spendOnText(*text))
            return {};
        joined += first ? std::string_view() : own(self);
        joined += *text;
        first = false;
        if (!in.spendOnText(own(self)))
            return {};
    }
    return in.text(joined);
}

Value removeprefix(Evaluator& in, const Value& self, const Given& given)
{
    const auto part = textAt(in, given, 0);
    return own(self).starts_with(part) ? own(self).substr(part.size()) : own(self);
}
Value removesuffix(Evaluator& in, const Value& self, const Given& given)
{
    const auto part = textAt(in, given, 0);
    return own(self).ends_with(part) ? own(self).substr(0, own(self).size() - part.size()) : own(self);
}

/// @param left, right  share of the white space that goes there
Value justified(Evaluator& in, const Value& self, const Given& given, bool left, bool right)
{
    const auto length = static_cast<std::int64_t>(lengthInCodePoints(own(self)));
    const auto width = wholeAt(in, given, 0, 0);
    const auto fill = given[1] ? textAt(in, given, 1) : " ";
    if (lengthInCodePoints(fill) != 1)
        in.fail("The fill character must be exactly one character long");
    const auto missing = std::max<std::int64_t>(width - length, 0);
    if (!in.spend(missing))
        return {};
    // Python gives the odd one to the left when the width is odd
    const auto before = left && right ? missing / 2 + (missing & width & 1) : left ? missing : 0;
    std::string out;
    for (std::int64_t i = 0; i < before; ++i)
        out += fill;
    out += own(self);
    for (std::int64_t i = before; i < missing; ++i)
        out += fill;
    return in.text(out);
}
Value center(Evaluator& in, const Value& self, const Given& given) { return justified(in, self, given, true, true); }
Value ljust(Evaluator& in, const Value& self, const Given& given) { return justified(in, self, given, false, true); }
Value rjust(Evaluator& in, const Value& self, const Given& given) { return justified(in, self, given, true, false); }

/// Whether there are code points and each is of this kind.
template <typename Is> Value allOf(Evaluator& in, const Value& self, const Is& is)
{
    const auto text = own(self);
    bool all = !text.empty() && in.spendOnText(text);
    for (std::size_t at = 0; at < text.size() && all;)
        all = is(static_cast<UChar32>(nextCodePoint(text, at)));
    return all;
}
Value isdigit(Evaluator& in, const Value& self, const Given&)
{
    return allOf(in, self, [](UChar32 c) {
        const auto type = u_getIntPropertyValue(c, UCHAR_NUMERIC_TYPE);
        return type == U_NT_DECIMAL || type == U_NT_DIGIT;
    });
}
Value isdecimal(Evaluator& in, const Value& self, const Given&)
{
    return allOf(in, self, [](UChar32 c) { return u_charType(c) == U_DECIMAL_DIGIT_NUMBER; });
}
bool isLetter(UChar32 c) { return (U_GET_GC_MASK(c) & U_GC_L_MASK) != 0; }
Value isalpha(Evaluator& in, const Value& self, const Given&) { return allOf(in, self, isLetter); }
Value isalnum(Evaluator& in, const Value& self, const Given&)
{
    return allOf(
        in, self, [](UChar32 c) { return isLetter(c) || u_getIntPropertyValue(c, UCHAR_NUMERIC_TYPE) != U_NT_NONE; });
}
Value isspace(Evaluator& in, const Value& self, const Given&)
{
    return allOf(in, self, [](UChar32 c) { return isPythonSpace(static_cast<char32_t>(c)); });
}
Value isupper(Evaluator&, const Value& self, const Given&)
{
    return upperCase(own(self)) == own(self) && lowerCase(own(self)) != own(self);
}
Value islower(Evaluator&, const Value& self, const Given&)
{
    return lowerCase(own(self)) == own(self) && upperCase(own(self)) != own(self);
}

// dict

const Dict& entriesOf(const Value& self) { return *std::get<Dict*>(self); }

Value get(Evaluator& in, const Value& self, const Given& given)
{
    const auto& dict = entriesOf(self);
    in.spend(1 + static_cast<std::int64_t>(dict.entries.size()) / 16);
    const auto* name = std::get_if<std::string_view>(given[0]);
    const auto* value = name ? dict.named(*name) : dict.find(*given[0]);
    return value ? *value : given[1] ? *given[1] : Value { None {} };
}

Value items(Evaluator& in, const Value& self, const Given&)
{
    std::vector<Value> pairs;
    for (const auto& entry : entriesOf(self).entries)
        pairs.push_back(in.sequence({ entry.key, entry.value }, Sequence::Kind::Tuple));
    return in.sequence(pairs, Sequence::Kind::View);
}
Value keys(Evaluator& in, const Value& self, const Given&)
{
    std::vector<Value> all;
    for (const auto& entry : entriesOf(self).entries)
        all.push_back(entry.key);
    return in.sequence(all, Sequence::Kind::View);
}
Value values(Evaluator& in, const Value& self, const Given&)
{
    std::vector<Value> all;
    for (const auto& entry : entriesOf(self).entries)
        all.push_back(entry.value);
    return in.sequence(all, Sequence::Kind::View);
}
Value itself(Evaluator&, const Value& self, const Given&) { return self; } ///< copy() of what never changes

// list, tuple

Value countItem(Evaluator& in, const Value& self, const Given& given)
{
    const auto items = in.itemsOf(self);
    return static_cast<std::int64_t>(
        std::count_if(items.begin(), items.end(), [&](const Value& item) { return in.areEqual(item, *given[0]); }));
}
Value indexOfItem(Evaluator& in, const Value& self, const Given& given)
{
    const auto items = in.itemsOf(self);
    const auto found
        = std::find_if(items.begin(), items.end(), [&](const Value& item) { return in.areEqual(item, *given[0]); });
    if (found == items.end())
        in.fail("the value is not in list");
    return static_cast<std::int64_t>(found - items.begin());
}

Value replaceText(Evaluator& in, const Value& self, const Given& given);

constexpr Routine kOfText[] = {
    { "capitalize", capitalize },
    { "casefold" },
    { "center", center, { "width", "fillchar" }, 1 },
    { "count", count, { "sub" }, 1 },
    { "encode" },
    { "endswith", endswith, { "suffix" }, 1 },
    { "expandtabs" },
    { "find", find, { "sub" }, 1 },
    { "format" },
    { "format_map" },
    { "index", index, { "sub" }, 1 },
    { "isalnum", isalnum },
    { "isalpha", isalpha },
    { "isascii" },
    { "isdecimal", isdecimal },
    { "isdigit", isdigit },
    { "isidentifier" },
    { "islower", islower },
    { "isnumeric" },
    { "isprintable" },
    { "isspace", isspace },
    { "istitle" },
    { "isupper", isupper },
    { "join", join, { "iterable" }, 1 },
    { "ljust", ljust, { "width", "fillchar" }, 1 },
    { "lower", lower },
    { "lstrip", lstrip, { "chars" } },
    { "maketrans" },
    { "partition", partition, { "sep" }, 1 },
    { "removeprefix", removeprefix, { "prefix" }, 1 },
    { "removesuffix", removesuffix, { "suffix" }, 1 },
    { "replace", replaceText, { "old", "new", "count" }, 2 },
    { "rfind", rfind, { "sub" }, 1 },
    { "rindex" },
    { "rjust", rjust, { "width", "fillchar" }, 1 },
    { "rpartition", rpartition, { "sep" }, 1 },
    { "rsplit", rsplit, { "sep", "maxsplit" } },
    { "rstrip", rstrip, { "chars" } },
    { "split", split, { "sep", "maxsplit" } },
    { "splitlines", splitlines, { "keepends" } },
    { "startswith", startswith, { "prefix" }, 1 },
    { "strip", strip, { "chars" } },
    { "swapcase" },
    { "title", title },
    { "translate" },
    { "upper", upper },
    { "zfill" },
};

constexpr Routine kOfDict[] = {
    { "clear" },
    { "copy", itself },
    { "fromkeys" },
    { "get", get, { "key", "default" }, 1 },
    { "items", items },
    { "keys", keys },
    { "pop" },
    { "popitem" },
    { "setdefault" },
    { "update" },
    { "values", values },
};

constexpr Routine kOfList[] = {
    { "append" },
    { "clear" },
    { "copy", itself },
    { "count", countItem, { "value" }, 1 },
    { "extend" },
    { "index", indexOfItem, { "value" }, 1 },
    { "insert" },
    { "pop" },
    { "remove" },
    { "reverse" },
    { "sort" },
};

Value replaceText(Evaluator& in, const Value& self, const Given& given)
{
    const auto text = own(self), old = textAt(in, given, 0), with = textAt(in, given, 1);
    auto left = wholeAt(in, given, 2, -1);
    std::string out;
    std::size_t done = 0;
    for (auto at = text.find(old); left != 0 && at != kNowhere && in.spend(1); --left) {
        out += text.substr(done, at - done);
        out += with;
        if (!in.spendOnText(with))
            break;
        done = at + old.size();
        if (at >= text.size() && old.empty())
            break;
        auto next = done;
        if (old.empty())
            (void)nextCodePoint(text, next);
        at = text.find(old, next);
    }
    out += text.substr(std::min(done, text.size()));
    return in.spendOnText(text) ? in.text(out) : Value {};
}

} // namespace

const Routine* findMethod(const Value& of, std::string_view name)
{
    if (std::holds_alternative<std::string_view>(of))
        return findIn(kOfText, name);
    if (std::holds_alternative<Dict*>(of))
        return findIn(kOfDict, name);
    const auto* row = std::get_if<const Sequence*>(&of);
    if (!row || (*row)->kind > Sequence::Kind::Tuple)
        return nullptr;
    const auto* method = findIn(kOfList, name);
    const bool ofTuple = method && (method->name == "count" || method->name == "index");
    return (*row)->kind == Sequence::Kind::List || ofTuple ? method : nullptr;
}

} // namespace furrow::chat
