#include "core/base/told.h"

#include <algorithm>

namespace furrow {

namespace {

/// The inverse of filled(): "3" of "epoch 3 opened" and "epoch %1 opened". A value ends where the next piece begins.
std::optional<std::vector<std::string>> takenApart(std::string_view text, std::string_view sentence)
{
    std::vector<std::string> values;
    for (;;) {
        const auto place = sentence.find('%' + std::to_string(values.size() + 1));
        if (!text.starts_with(sentence.substr(0, place)))
            return std::nullopt;
        if (place == std::string_view::npos)
            return text == sentence ? std::optional(values) : std::nullopt;
        text.remove_prefix(place);
        sentence.remove_prefix(place + 2);
        const auto next = sentence.substr(0, sentence.find('%' + std::to_string(values.size() + 2)));
        const auto end = next.empty() ? text.size() : text.find(next);
        if (end == std::string_view::npos)
            return std::nullopt;
        values.emplace_back(text.substr(0, end));
        text.remove_prefix(end);
    }
}

} // namespace

std::optional<std::vector<std::string>> valuesOf(const Message& message, SentenceText text)
{
    if (message.isPlain())
        return takenApart(message.text(), text.text());
    if (message.id() != text.text())
        return std::nullopt;
    std::vector<std::string> values;
    for (const Argument& one : message.arguments())
        values.push_back(one.text());
    return values;
}

bool tells(const Message& message, std::initializer_list<SentenceText> sentences)
{
    return std::any_of(sentences.begin(), sentences.end(), [&](SentenceText one) {
        return valuesOf(message, one).has_value();
    }) || std::any_of(message.arguments().begin(), message.arguments().end(), [&](const Argument& one) {
        const auto* inner = std::get_if<Message>(&one.value);
        return inner != nullptr && tells(*inner, sentences);
    });
}

Message asSentence(const Message& kept)
{
    return kept.isPlain() && !kept.empty() ? Message::of(kept.text(), {}) : kept;
}

} // namespace furrow
