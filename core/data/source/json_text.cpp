#include "core/data/source/json_text.h"

#include "core/base/utf8.h"
#include "core/chat/row_problems.h"
#include "core/data/source/json_events.h"

#include <algorithm>
#include <cstring>

namespace furrow {

namespace {

/// The code unit of an escape \uXXXX at `i`, or -1.
int escapedUnit(std::string_view line, std::size_t i)
{
    return i + 1 < line.size() && line[i] == '\\' && line[i + 1] == 'u' ? jsonHexUnit(line, i + 2) : -1;
}

/// Escapes of surrogates without their other half become \ufffd.
std::string replaceLoneSurrogates(std::string_view line)
{
    std::string out(line);
    for (std::size_t i = 0; i + 1 < out.size(); ++i) {
        if (out[i] != '\\')
            continue;
        const int unit = escapedUnit(out, i);
        if (unit < 0xD800 || unit > 0xDFFF) {
            ++i; // also steps over an escaped backslash
            continue;
        }
        const int low = unit < 0xDC00 ? escapedUnit(out, i + 6) : -1;
        if (low >= 0xDC00 && low <= 0xDFFF) {
            i += 11;
            continue;
        }
        std::memcpy(out.data() + i + 2, "fffd", 4);
        i += 5;
    }
    return out;
}

} // namespace

std::string mendedJson(std::string_view line) { return replaceLoneSurrogates(replaceInvalidUtf8(line).text); }

/// Takes the events of the walker and keeps the texts at one path. Nothing of the rest is stored.
class JsonText::Handler {
public:
    Handler(const ColumnPath& path, JsonGrammar grammar)
        : moves_(path.moves())
        , grammar_(grammar)
    {
    }
    JsonGrammar grammar() const { return grammar_; }
    void begin()
    {
        kept_ = {};
        text_.clear();
        levels_.clear();
    }
    const char* problem() const { return kept_.found ? kept_.problem : "has no such member as the text column"; }
    std::string_view text() const { return kept_.problem == nullptr ? std::string_view(text_) : std::string_view(); }

    // what JsonWalker calls
    bool wantsString() const { return place() == end(); }
    void string(const std::string& value)
    {
        const int at = place();
        if (at != end())
            return misplaced(at);
        if (kept_.pieces++ > 0)
            text_ += '\n';
        text_ += value;
        kept_.textBytes = text_.size();
        kept_.found = true;
    }
    void null()
    {
        place() == 0 ? misplaced(0) : found(place(), nullptr); // no text, and no trouble
    }
    void scalar() { misplaced(place()); }
    void key(const std::string& name)
    {
        const auto& level = levels_.back();
        const bool wanted = level.at >= 0 && !moves_[static_cast<std::size_t>(level.at)].each
            && moves_[static_cast<std::size_t>(level.at)].name == name;
        const bool again = wanted && level.seen;
        levels_.back().seen = level.seen || wanted;
        if (again && grammar_ == JsonGrammar::Python) { // the last one counts
            kept_ = level.before;
            text_.resize(kept_.textBytes);
        }
        keyPlace_ = !wanted || (again && grammar_ == JsonGrammar::Standard) ? kElsewhere : level.at + 1;
    }
    void startObject() { start(false); }
    void startArray() { start(true); }
    void endObject() { levels_.pop_back(); }
    void endArray() { levels_.pop_back(); }

private:
    static constexpr int kElsewhere = -1;
    struct Kept {
        std::size_t textBytes = 0;
        std::size_t pieces = 0;
        const char* problem = nullptr;
        bool found = false;
    };
    struct Level {
        bool list;
        int at; ///< moves that lead here, or kElsewhere
        bool seen; ///< the member that the path goes on with
        Kept before;
    };

    int end() const { return static_cast<int>(moves_.size()); }
    /// The moves that lead to the value that comes, or kElsewhere.
    int place() const
    {
        if (levels_.empty())
            return 0;
        const auto& level = levels_.back();
        if (!level.list)
            return keyPlace_;
        return level.at >= 0 && moves_[static_cast<std::size_t>(level.at)].each ? level.at + 1 : kElsewhere;
    }
    void found(int at, const char* problem)
    {
        if (at == kElsewhere)
            return;
        kept_.found = true;
        if (kept_.problem == nullptr)
            kept_.problem = problem;
    }
    /// A value of another kind than the path needs here.
    void misplaced(int at) { found(at, literal(at == 0 ? kRowNoObject : kRowTextNoString)); }
    void start(bool list)
    {
        int at = place();
        const bool fits = at >= 0 && at < end() && moves_[static_cast<std::size_t>(at)].each == list;
        const Kept before = kept_;
        if (!fits)
            misplaced(at);
        else if (list)
            kept_.found = true; // an empty list is an empty text
        levels_.push_back({ list, fits ? at : kElsewhere, false, before });
    }

    // set in the constructor, then constant
    std::vector<ColumnPath::Move> moves_;
    JsonGrammar grammar_;
    // of the line
    std::string text_;
    Kept kept_;
    std::vector<Level> levels_;
    int keyPlace_ = kElsewhere;
};

JsonText::JsonText(const ColumnPath& path, JsonGrammar grammar)
    : handler_(std::make_unique<Handler>(path, grammar))
{
}
JsonText::~JsonText() = default;
JsonText::JsonText(JsonText&&) noexcept = default;

const char* JsonText::parse(std::string_view line)
{
    repaired_ = false;
    handler_->begin();
    if (line.find_first_not_of(" \t\r\n") == std::string_view::npos)
        return nullptr;
    const auto attempt = [this](std::string_view bytes) {
        handler_->begin();
        return isValidUtf8(bytes) && JsonWalker(bytes, handler_->grammar(), *handler_).walk();
    };
    if (attempt(line))
        return handler_->problem();
    if (const std::string other = mendedJson(line); other != line && attempt(other)) {
        repaired_ = true;
        return handler_->problem();
    }
    handler_->begin();
    return literal(kRowBrokenJson);
}

std::string_view JsonText::text() const { return handler_->text(); }

namespace {

void addOnce(std::vector<std::string>& names, const std::string& name)
{
    constexpr std::size_t kMostNames = 1000;
    if (names.size() < kMostNames && std::find(names.begin(), names.end(), name) == names.end())
        names.push_back(name);
}

/// Gathers the paths of all texts in a value.
class MemberNames {
public:
    MemberNames(std::vector<std::string>& all, std::vector<std::string>& text)
        : all_(all)
        , text_(text)
    {
    }
    bool wantsString() const { return false; }
    void string(const std::string&)
    {
        if (levels_.size() <= kDeepest && !levels_.empty() && !levels_.front().list)
            addOnce(text_, here().text());
    }
    void null() { }
    void scalar() { }
    void key(const std::string& name)
    {
        if (levels_.size() > kDeepest)
            return;
        levels_.back().path = levels_.back().base.member(name);
        if (levels_.size() == 1)
            addOnce(all_, levels_.back().path.text());
    }
    void startObject() { start(false); }
    void startArray() { start(true); }
    void endObject() { levels_.pop_back(); }
    void endArray() { levels_.pop_back(); }

private:
    static constexpr std::size_t kDeepest = 8;
    struct Level {
        bool list;
        ColumnPath base; ///< of the bracket itself
        ColumnPath path; ///< of the value that comes inside it
    };
    ColumnPath here() const { return levels_.empty() ? ColumnPath() : levels_.back().path; }
    void start(bool list)
    {
        const auto base = levels_.size() < kDeepest ? here() : ColumnPath();
        levels_.push_back({ list, base, list && levels_.size() < kDeepest ? base.each() : ColumnPath() });
    }

    std::vector<std::string>& all_;
    std::vector<std::string>& text_;
    std::vector<Level> levels_;
};

/// Walks without taking anything.
struct Shape {
    bool object = false;
    int depth = 0;

    bool wantsString() const { return false; }
    void string(const std::string&) { }
    void null() { }
    void scalar() { }
    void key(const std::string&) { }
    void startObject()
    {
        object = object || depth == 0;
        ++depth;
    }
    void startArray() { ++depth; }
    void endObject() { --depth; }
    void endArray() { --depth; }
};

} // namespace

bool isJsonObject(std::string_view text)
{
    const auto walk = [](std::string_view json) {
        Shape shape;
        return JsonWalker(json, JsonGrammar::Python, shape).walk() && shape.object;
    };
    return walk(text) || walk(mendedJson(text));
}

void jsonMembers(std::string_view line, std::vector<std::string>& all, std::vector<std::string>& text)
{
    std::vector<std::string> names = all;
    std::vector<std::string> texts = text;
    MemberNames members(names, texts);
    const std::string json = mendedJson(line);
    if (JsonWalker(std::string_view(json), JsonGrammar::Python, members).walk()) {
        all = std::move(names);
        text = std::move(texts);
    }
}

} // namespace furrow
