#pragma once

#include "core/base/message.h"

#include <cassert>
#include <utility>
#include <variant>

namespace furrow {

/// What a caller can branch on; the message is for people.
enum class ErrorCode { NotFound, Corrupt, Io, Network, Busy, Cancelled, InvalidArgument, Internal };

/// Why something did not happen. The message names the thing: "chunk 17: checksum differs".
struct Error {
    ErrorCode code = ErrorCode::Internal;
    Message message;

    /// The same error with what was being done in front: "reading block 3: <message>".
    [[nodiscard]] Error in(const Message& context) const { return { code, context + ": " + message }; }
};

/// A value or an Error. value() and error() may only be asked for what is there.
template <typename T> class [[nodiscard]] Result {
public:
    using Value = T;
    Result(T value)
        : state_(std::in_place_index<0>, std::move(value))
    {
    }
    Result(Error error)
        : state_(std::in_place_index<1>, std::move(error))
    {
    }

    [[nodiscard]] bool ok() const { return state_.index() == 0; }
    [[nodiscard]] T& value() & { return *std::get_if<0>(checked(0)); }
    [[nodiscard]] const T& value() const& { return *std::get_if<0>(checked(0)); }
    [[nodiscard]] T&& value() && { return std::move(*std::get_if<0>(checked(0))); }
    [[nodiscard]] const Error& error() const { return *std::get_if<1>(checked(1)); }

private:
    auto checked(std::size_t index) const
    {
        assert(state_.index() == index);
        (void)index;
        return &state_;
    }
    auto checked(std::size_t index)
    {
        assert(state_.index() == index);
        (void)index;
        return &state_;
    }

    std::variant<T, Error> state_;
};

/// Success is Status {}.
template <> class [[nodiscard]] Result<void> {
public:
    using Value = void;
    Result() = default;
    Result(Error error)
        : error_(std::move(error))
        , ok_(false)
    {
    }

    [[nodiscard]] bool ok() const { return ok_; }
    [[nodiscard]] const Error& error() const
    {
        assert(!ok_);
        return error_;
    }

private:
    Error error_;
    bool ok_ = true;
};

using Status = Result<void>;

/// What does something while it lives, as a lock does: it says so by a member type `Held`, and FURROW_TRY, which drops
/// the value, does not compile.
template <typename T>
concept Held = requires { typename T::Held; };

} // namespace furrow

/// Leaves the function with the error of a Status or Result that failed: `FURROW_TRY(files.sync());`
#define FURROW_TRY(...)                                                                                         \
    do {                                                                                                        \
        auto furrowTried = (__VA_ARGS__);                                                                       \
        static_assert(!::furrow::Held<typename decltype(furrowTried)::Value>, "it would be let go of at once"); \
        if (!furrowTried.ok())                                                                                  \
            return furrowTried.error();                                                                         \
    } while (false)

/// The same, else with the value: `FURROW_TRY_ASSIGN(auto rows, ledger.checkpoints());`. It is two statements: never
/// the body of an `if` without braces.
#define FURROW_TRY_ASSIGN(target, ...) FURROW_TRY_ASSIGN_AS(target, FURROW_TRY_NAME(furrowTried, __LINE__), __VA_ARGS__)
#define FURROW_TRY_NAME(name, line) FURROW_TRY_JOIN(name, line)
#define FURROW_TRY_JOIN(name, line) name##line
#define FURROW_TRY_ASSIGN_AS(target, tried, ...) \
    auto tried = (__VA_ARGS__);                  \
    if (!tried.ok())                             \
        return tried.error();                    \
    target = std::move(tried).value()
