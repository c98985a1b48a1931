#pragma once

#include "core/base/message.h"

namespace furrow {

/// A sentence as the code says it, checked by the compiler: its places are %1, %2, ... in this order, at most nine.
class SentenceText {
public:
    template <std::size_t N>
    consteval SentenceText(const char (&text)[N])
        : text_(text, N - 1)
    {
        char next = '1';
        for (std::size_t i = 0; i + 1 < N; ++i)
            if (text[i] == '%' && text[i + 1] >= '1' && text[i + 1] <= '9' && text[i + 1] != next++)
                throw "the places of a sentence are %1, %2, ... in this order";
    }
    [[nodiscard]] std::string_view text() const { return text_; }

private:
    std::string_view text_;
};

/// A text for people with its values in the places %1, %2, ... Written with this, and with the text as one literal, the
/// console says it in the language of the person (ui/models/core_words.h), also when it was kept in a file meanwhile
/// (core/config/message_json.h). A value that is a count, a size, a time, a setting, a state or another sentence is
/// given as such (core/base/message.h); a string is a name.
inline Message sentence(SentenceText text, std::vector<Argument> values = {})
{
    return Message::of(std::string(text.text()), std::move(values));
}

} // namespace furrow
