#include "core/run/status/recorded_trouble.h"

#include "core/base/told.h"
#include "core/run/status/feeder_words.h"
#include "core/tracker/run_event_texts.h"

#include <charconv>
#include <utility>

namespace furrow {

namespace {

using Kind = RecordedTrouble::Kind;

constexpr std::pair<SentenceText, Kind> kBegins[] = { { kRunWaitsForData, Kind::DataAway },
    { kNoProgressSince, Kind::NoProgress }, { kDiskNearlyFull, Kind::DiskNearlyFull },
    { kCheckpointsAway, Kind::CheckpointsAway }, { kCannotRemove, Kind::CheckpointsStay } };
constexpr std::pair<SentenceText, Kind> kEnds[] = { { kRunHasDataAgain, Kind::DataAway },
    { kProgressAgain, Kind::NoProgress }, { kDiskHasRoomAgain, Kind::DiskNearlyFull },
    { kCheckpointsAreBack, Kind::CheckpointsAway }, { kRemovesAgain, Kind::CheckpointsStay } };

template <std::size_t N>
std::optional<Kind> kindOf(const EventRow& event, const std::pair<SentenceText, Kind> (&sentences)[N])
{
    if (event.chunk.value == 0)
        for (const auto& [text, kind] : sentences)
            if (valuesOf(event.cause, text)) // one without values is kept as a plain text
                return kind;
    return std::nullopt;
}

/// Its number; nothing: the event lost its parts.
std::optional<std::int32_t> workerIn(const Message& event)
{
    const std::string number = event.arguments().empty() ? std::string() : event.arguments().front().text();
    std::int32_t worker = kNoWorker;
    const auto [end, failed] = std::from_chars(number.data(), number.data() + number.size(), worker);
    return failed == std::errc {} && end == number.data() + number.size() ? std::optional(worker) : std::nullopt;
}

const WallTime* sinceIn(const Message& event)
{
    return event.arguments().size() < 2 ? nullptr : std::get_if<WallTime>(&event.arguments()[1].value);
}

} // namespace

std::optional<RecordedTrouble> recordedTrouble(const EventRow& event)
{
    const auto kind = kindOf(event, kBegins);
    if (!kind)
        return std::nullopt;
    RecordedTrouble trouble { *kind, event.wallNs, kNoWorker, event.cause };
    if (*kind == Kind::NoProgress) {
        const auto worker = workerIn(event.cause);
        const WallTime* since = sinceIn(event.cause);
        if (!worker || since == nullptr)
            return std::nullopt;
        trouble.worker = *worker;
        trouble.sinceWallNs = since->ns;
    }
    if (*kind == Kind::DataAway) {
        const auto wait = recordedWait(event.cause);
        if (!wait)
            return std::nullopt;
        trouble.sinceWallNs = wait->sinceWallNs;
    }
    return trouble;
}

std::optional<RecordedTrouble> recordedEnd(const EventRow& event)
{
    const auto kind = kindOf(event, kEnds);
    if (!kind)
        return std::nullopt;
    const auto worker = *kind == Kind::NoProgress ? workerIn(event.cause) : std::nullopt;
    return RecordedTrouble { *kind, event.wallNs, worker.value_or(kNoWorker), event.cause };
}

} // namespace furrow
