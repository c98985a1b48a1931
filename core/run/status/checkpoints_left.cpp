#include "core/run/status/checkpoints_left.h"

#include "core/base/told.h"
#include "core/tracker/run_event_texts.h"

#include <algorithm>
#include <charconv>
#include <set>

namespace furrow {

namespace {

using CheckpointRows = std::vector<SupervisorLedger::CheckpointRow>;

/// The number 27 of "checkpoint 27", or of "27".
std::optional<CheckpointId> checkpointIn(const std::string& name)
{
    const auto begin = name.find_first_of("0123456789");
    if (begin == std::string::npos)
        return std::nullopt;
    CheckpointId id;
    const auto read = std::from_chars(name.data() + begin, name.data() + name.size(), id.value);
    return read.ec == std::errc() ? std::optional(id) : std::nullopt;
}

/// A checkpoint and what was made from it, up to another one. Parents stand before their children.
std::set<CheckpointId> madeFrom(CheckpointId checkpoint, CheckpointId last, const CheckpointRows& rows)
{
    std::set<CheckpointId> made { checkpoint };
    for (const auto& row : rows)
        if (row.id > checkpoint && row.id <= last
            && std::ranges::any_of(row.record.parents, [&made](CheckpointId parent) { return made.contains(parent); }))
            made.insert(row.id);
    return made;
}

/// All replicas go on from a merge. So the first one behind a checkpoint was made from it, or left it out.
std::optional<std::int64_t> leftOutOfMerge(const SupervisorLedger::CheckpointRow& left, const CheckpointRows& rows)
{
    const auto merge = std::ranges::find_if(rows, [&left](const SupervisorLedger::CheckpointRow& row) {
        return row.id > left.id && row.record.kind == CheckpointKind::Merge;
    });
    if (merge == rows.end() || madeFrom(left.id, merge->id, rows).contains(merge->id))
        return std::nullopt;
    return merge->wallNs;
}

bool tookAway(const WeightsLeft& event, const SupervisorLedger::CheckpointRow& row, const CheckpointRows& rows)
{
    if (row.wallNs > event.wallNs)
        return false;
    return event.wentBack ? row.id > event.checkpoint : madeFrom(event.checkpoint, row.id, rows).contains(row.id);
}

} // namespace

std::optional<WeightsLeft> weightsLeftBy(const EventRow& event)
{
    if (event.chunk.value != 0)
        return std::nullopt;
    const auto back = valuesOf(event.cause, kRunWentBack);
    const auto values = back ? back : valuesOf(event.cause, kCheckpointDamaged);
    const auto checkpoint = values && !values->empty() ? checkpointIn(values->front()) : std::nullopt;
    return checkpoint ? std::optional(WeightsLeft { event.wallNs, *checkpoint, back.has_value() }) : std::nullopt;
}

std::vector<CheckpointLeft> checkpointsLeft(const CheckpointRows& rows, const std::vector<WeightsLeft>& events)
{
    std::vector<CheckpointLeft> left;
    for (const auto& row : rows) {
        if (row.surviving)
            continue;
        auto wallNs = leftOutOfMerge(row, rows);
        for (const WeightsLeft& event : events)
            if ((!wallNs || event.wallNs < *wallNs) && tookAway(event, row, rows))
                wallNs = event.wallNs;
        if (wallNs)
            left.push_back({ *wallNs, row.id });
    }
    return left;
}

} // namespace furrow
