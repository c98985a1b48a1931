#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace furrow {

/// Which texts count as JSON.
enum class JsonGrammar {
    Standard, ///< RFC 8259, and numbers that fit into a double: what row rules 1 read
    Python, ///< what Python's json module reads: also NaN, Infinity, -Infinity and numbers of any size
};

/// The code unit of the four hexadecimal digits at `at`, or -1.
int jsonHexUnit(std::string_view text, std::size_t at);
/// Reads a string behind its opening quote at `at` into `out` (may be null) and moves `at` behind the closing one.
/// false: it is broken, or has half a surrogate pair.
bool readJsonString(std::string_view text, std::size_t& at, std::string* out);
/// Moves `at` behind the number, word or sign there; false: none.
bool skipJsonScalar(std::string_view text, std::size_t& at, JsonGrammar grammar);

/// Walks over one JSON value and tells `events` what it meets. Keeps one bit per open bracket, so any nesting is
/// bounded by the length of the text. `Events` has: bool wantsString(); void string(std::string&), null(), scalar(),
/// key(std::string&), startObject(), startArray(), endObject(), endArray(). A string that is not wanted is told by an
/// empty text; keys always are read.
/// @return false when the text is not one value and nothing else
template <typename Events> class JsonWalker {
public:
    JsonWalker(std::string_view text, JsonGrammar grammar, Events& events)
        : text_(text)
        , grammar_(grammar)
        , events_(events)
    {
    }
    bool walk()
    {
        do {
            if (!value())
                return false;
            while (!open_.empty() && !expectsValue_)
                if (!afterValue())
                    return false;
        } while (!open_.empty());
        skipSpace();
        return at_ == text_.size();
    }

private:
    void skipSpace()
    {
        while (
            at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r'))
            ++at_;
    }
    bool take(char c)
    {
        skipSpace();
        if (at_ >= text_.size() || text_[at_] != c)
            return false;
        ++at_;
        return true;
    }
    bool value()
    {
        expectsValue_ = false;
        if (take('{')) {
            events_.startObject();
            open_.push_back(true);
            return take('}') ? close() : key();
        }
        if (take('[')) {
            events_.startArray();
            open_.push_back(false);
            if (take(']'))
                return close();
            expectsValue_ = true;
            return true;
        }
        if (take('"')) {
            string_.clear();
            if (!readJsonString(text_, at_, events_.wantsString() ? &string_ : nullptr))
                return false;
            events_.string(string_);
            return true;
        }
        const bool isNull = at_ < text_.size() && text_[at_] == 'n';
        if (!skipJsonScalar(text_, at_, grammar_))
            return false;
        isNull ? events_.null() : events_.scalar();
        return true;
    }
    bool key()
    {
        string_.clear();
        if (!take('"') || !readJsonString(text_, at_, &string_) || !take(':'))
            return false;
        events_.key(string_);
        expectsValue_ = true;
        return true;
    }
    /// Behind a value inside a bracket: its end, or a comma.
    bool afterValue()
    {
        const bool object = open_.back();
        if (take(object ? '}' : ']'))
            return close();
        if (!take(','))
            return false;
        if (object)
            return key();
        expectsValue_ = true;
        return true;
    }
    bool close()
    {
        open_.back() ? events_.endObject() : events_.endArray();
        open_.pop_back();
        return true;
    }

    std::string_view text_;
    JsonGrammar grammar_;
    Events& events_;
    std::size_t at_ = 0;
    std::vector<bool> open_; ///< true: an object
    bool expectsValue_ = false;
    std::string string_;
};

} // namespace furrow
