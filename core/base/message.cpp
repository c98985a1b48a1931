#include "core/base/message.h"

#include "core/base/clock.h"
#include "core/base/format.h"
#include "core/base/plain_line.h"

#include <algorithm>
#include <iterator>
#include <ostream>

namespace furrow {

namespace {

constexpr std::size_t kMostValueBytes = 1 << 16;

bool endsSentence(std::string_view text)
{
    constexpr std::string_view kStops[] = { ".", "?", "!", "。", "？", "！" };
    return std::any_of(
        std::begin(kStops), std::end(kStops), [text](std::string_view stop) { return text.ends_with(stop); });
}

/// Bytes of the full stop that `text` goes on with where a sentence before it has ended already; 0: it is needed.
std::size_t superfluousStop(std::string_view before, std::string_view text)
{
    const bool isOver = endsSentence(before);
    for (const std::string_view stop : { std::string_view("."), std::string_view("。") })
        if (isOver && text.starts_with(stop) && !text.substr(stop.size()).starts_with(stop))
            return stop.size();
    return 0;
}

struct EnglishOf {
    std::string operator()(const std::string& name) const { return name; }
    std::string operator()(const Message& message) const { return message.text(); }
    std::string operator()(Count count) const { return formatCount(count.value); }
    std::string operator()(Real real) const { return formatNumber(real.value, real.digits); }
    std::string operator()(Bytes bytes) const { return formatBytes(bytes.value); }
    std::string operator()(WallTime time) const { return isoTime(time.ns); }
    std::string operator()(const Term& term) const { return term.name; }
};

} // namespace

struct Message::Parts {
    std::string id;
    std::vector<Argument> arguments;
};

Message Message::of(std::string id, std::vector<Argument> arguments)
{
    std::vector<std::string> values;
    values.reserve(arguments.size());
    for (const Argument& one : arguments)
        values.push_back(one.text());
    Message message;
    if (id.empty())
        for (const std::string& value : values)
            message.text_ += value;
    else
        message.text_ = filled(id, values);
    message.parts_ = std::make_shared<const Parts>(Parts { std::move(id), std::move(arguments) });
    return message;
}

std::string_view Message::id() const { return parts_ ? std::string_view(parts_->id) : std::string_view(); }

const std::vector<Argument>& Message::arguments() const
{
    static const std::vector<Argument> kNone;
    return parts_ ? parts_->arguments : kNone;
}

Message Message::followedBy(const Message& behind) const
{
    if (isPlain() && behind.isPlain())
        return text_ + behind.text_;
    if (empty() || behind.empty())
        return empty() ? behind : *this;
    std::vector<Argument> parts;
    if (!isPlain() && parts_->id.empty())
        parts = parts_->arguments;
    else
        parts.emplace_back(*this);
    parts.emplace_back(behind);
    return of({}, std::move(parts));
}

std::ostream& operator<<(std::ostream& out, const Message& message) { return out << message.text_; }

Argument::Argument(Message message)
{
    if (message.isPlain())
        value = message.text();
    else
        value = std::move(message);
}

std::string Argument::text() const { return std::visit(EnglishOf(), value); }

std::string filled(std::string_view text, const std::vector<std::string>& values)
{
    std::string filled;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const std::size_t number
            = text[i] == '%' && i + 1 < text.size() ? static_cast<std::size_t>(text[i + 1] - '0') : 0;
        if (number >= 1 && number <= values.size()) {
            filled
                += plainLine(values[number - 1], kMostValueBytes); // names and causes come from files that others made
            ++i;
            i += superfluousStop(filled, text.substr(i + 1)); // a cause may be a whole sentence
        } else {
            filled += text[i];
        }
    }
    return filled;
}

Message withFullStop(const Message& message)
{
    return message.empty() || endsSentence(message.text()) ? message : message + ".";
}

} // namespace furrow
