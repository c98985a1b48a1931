#pragma once

#include "core/base/closed_set.h"

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace furrow {

struct Argument;

/// A text for people as a value: the English sentence that the code says, with the places %1, %2, ... of its values,
/// and the values by their type. So the console can say the same in the language of the person without reading
/// English. Made by sentence() (core/base/sentence.h). What comes from outside is a plain text: one without parts.
class Message {
public:
    Message() = default;
    Message(std::string plain)
        : text_(std::move(plain))
    {
    }
    Message(std::string_view plain)
        : text_(plain)
    {
    }
    Message(const char* plain)
        : text_(plain)
    {
    }
    /// @param id  the English sentence with its places; "": the arguments follow one another, as of operator+
    static Message of(std::string id, std::vector<Argument> arguments);

    [[nodiscard]] const std::string& text() const { return text_; } ///< in English, with its values
    [[nodiscard]] bool isPlain() const { return parts_ == nullptr; }
    [[nodiscard]] std::string_view id() const; ///< "" of a plain text
    [[nodiscard]] const std::vector<Argument>& arguments() const;

    // The English text wherever a text is wanted.
    operator std::string() const { return text_; }
    operator std::string_view() const { return text_; }
    [[nodiscard]] const char* c_str() const { return text_.c_str(); }
    [[nodiscard]] bool empty() const { return text_.empty(); }
    [[nodiscard]] std::size_t size() const { return text_.size(); }
    [[nodiscard]] std::size_t find(std::string_view what) const { return text_.find(what); } ///< for tests
    [[nodiscard]] bool starts_with(std::string_view what) const { return text_.starts_with(what); }
    [[nodiscard]] bool ends_with(std::string_view what) const { return text_.ends_with(what); }

    /// One behind the other; each part keeps what it knows of itself.
    friend Message operator+(const Message& before, const Message& behind) { return before.followedBy(behind); }
    Message& operator+=(const Message& behind) { return *this = followedBy(behind); }
    /// The same English text: what a person would call the same.
    friend bool operator==(const Message& a, const Message& b) { return a.text_ == b.text_; }
    friend std::ostream& operator<<(std::ostream& out, const Message& message);

private:
    struct Parts;
    [[nodiscard]] Message followedBy(const Message& behind) const;

    std::string text_;
    std::shared_ptr<const Parts> parts_; // null: plain
};

/// A number of things: "1,234".
struct Count {
    explicit Count(std::int64_t number)
        : value(number)
    {
    }
    std::int64_t value;
};

/// A number with digits behind the point: "1.25".
struct Real {
    Real(double number, int digitsBehind)
        : value(number)
        , digits(digitsBehind)
    {
    }
    double value;
    int digits;
};

/// A size: "1.5 GiB".
struct Bytes {
    explicit Bytes(std::uint64_t number)
        : value(number)
    {
    }
    std::uint64_t value;
};

/// A moment, in nanoseconds since 1970: "2026-03-13T18:42:10Z".
struct WallTime {
    explicit WallTime(std::int64_t sinceEpochNs)
        : ns(sinceEpochNs)
    {
    }
    std::int64_t ns;
};

/// Names that the console has a word for.
enum class TermSet { Setting, RunState, ChunkState, StopReason };
template <>
inline constexpr std::array kClosedNames<TermSet> {
    ClosedName { TermSet::Setting, "setting" },
    ClosedName { TermSet::RunState, "run_state" },
    ClosedName { TermSet::ChunkState, "chunk_state" },
    ClosedName { TermSet::StopReason, "stop_reason" },
};

/// Such a name, as files and the command line have it: the key of a setting, a state.
struct Term {
    TermSet set;
    std::string name;
};
inline Term settingTerm(std::string_view key) { return { TermSet::Setting, std::string(key) }; }

/// What stands in a place of a sentence. A string is a name, and in every language the same.
struct Argument {
    Argument(std::string name)
        : value(std::move(name))
    {
    }
    Argument(std::string_view name)
        : value(std::string(name))
    {
    }
    Argument(const char* name)
        : value(std::string(name))
    {
    }
    Argument(Message message); ///< a plain one is a name
    Argument(Count count)
        : value(count)
    {
    }
    Argument(Real real)
        : value(real)
    {
    }
    Argument(Bytes bytes)
        : value(bytes)
    {
    }
    Argument(WallTime time)
        : value(time)
    {
    }
    Argument(Term term)
        : value(std::move(term))
    {
    }
    [[nodiscard]] std::string text() const; ///< in English

    std::variant<std::string, Message, Count, Real, Bytes, WallTime, Term> value;
};

/// `text` with its places %1, %2, ... (at most nine) filled; a value with a full stop of its own takes the one behind
/// its place. For the English text and for its translations.
std::string filled(std::string_view text, const std::vector<std::string>& values);

/// The message with a full stop, unless it ends a sentence already: what another sentence follows.
Message withFullStop(const Message& message);

} // namespace furrow
