#include "core/run/status/feeder_words.h"

#include "core/tracker/run_event_texts.h"

#include <charconv>

namespace furrow {

std::optional<std::int64_t> blockInPreparation(const Message& doing)
{
    const auto values = valuesOf(doing, kPreparingBlock);
    if (!values)
        return std::nullopt;
    const std::string& number = values->front();
    std::int64_t block = 0;
    const auto [end, failed] = std::from_chars(number.data(), number.data() + number.size(), block);
    return failed == std::errc {} && end == number.data() + number.size() ? std::optional(block) : std::nullopt;
}

namespace {

/// A value of a message, where it is of that type.
template <typename Value> const Value* valueAt(const Message& message, std::size_t place)
{
    return place < message.arguments().size() ? std::get_if<Value>(&message.arguments()[place].value) : nullptr;
}

} // namespace

Message inWords(const DataOutage& outage)
{
    return sentence(kTryingAgainSince,
        { sentence(kWaitingForData, { outage.why }), WallTime(outage.sinceWallNs), Real(outage.nextTrySeconds, 0) });
}

std::optional<DataOutage> dataOutage(const Message& doing)
{
    if (!isWaitingForData(doing))
        return std::nullopt;
    const Message* what = doing.id() == kTryingAgainSince.text() ? valueAt<Message>(doing, 0) : nullptr;
    const WallTime* since = what == nullptr ? nullptr : valueAt<WallTime>(doing, 1);
    const Real* next = what == nullptr ? nullptr : valueAt<Real>(doing, 2);
    if (what == nullptr || since == nullptr || next == nullptr || what->arguments().empty())
        return DataOutage { doing };
    const Message* inner = valueAt<Message>(*what, 0);
    return DataOutage { inner != nullptr ? *inner : Message(what->arguments().front().text()), since->ns, next->value };
}

bool isWaitingForData(const Message& doing) { return tells(doing, { kWaitingForData }); }

std::optional<DataOutage> recordedWait(const Message& event)
{
    if (event.id() != kRunWaitsForData.text())
        return std::nullopt;
    const WallTime* since = valueAt<WallTime>(event, 0);
    const Message* why = valueAt<Message>(event, 1);
    if (since == nullptr || event.arguments().size() < 2)
        return std::nullopt;
    return DataOutage { why != nullptr ? *why : Message(event.arguments()[1].text()), since->ns };
}

} // namespace furrow
