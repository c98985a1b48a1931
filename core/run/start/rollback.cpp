#include "core/run/start/rollback.h"

#include "core/config/bounded_json.h"
#include "core/tracker/window_ranges.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>

namespace furrow {

namespace {

constexpr double kBrake = 0.5;
constexpr std::size_t kMostPlaces = 256;

} // namespace

std::vector<WindowRange> Rollback::leftOutOf(ChunkId chunk) const
{
    WindowRanges found;
    for (const Place& place : places) {
        if (place.chunk != chunk || !place.leftOut)
            continue;
        const auto more = subtract({ place.windows }, found);
        found.insert(found.end(), more.begin(), more.end());
        found = normalized(std::move(found)).value_or(WindowRanges {}); // subtract wants it so
    }
    return found;
}

Rollback afterBadSteps(const Rollback& before, ChunkId chunk, WindowRange bad, std::int32_t windows)
{
    Rollback after = before;
    ++after.times;
    auto& places = after.places;
    const auto known = std::find_if(places.begin(), places.end(),
        [&](const Rollback::Place& place) { return place.chunk == chunk && place.windows.begin == bad.begin; });
    if (known != places.end()) {
        const Rollback::Place again { chunk, { bad.begin, std::max(known->windows.end, bad.end) }, true };
        places.erase(known);
        places.push_back(again);
        return after;
    }
    const bool behind = std::any_of(places.begin(), places.end(), [&](const Rollback::Place& place) {
        return place.chunk == chunk && place.leftOut && place.windows.end == bad.begin;
    });
    if (behind)
        bad.end = windows;
    else
        after.rateFactor *= kBrake;
    places.push_back({ chunk, bad, behind });
    if (places.size() > kMostPlaces)
        places.erase(places.begin());
    return after;
}

std::string toJsonText(const Rollback& rollback)
{
    nlohmann::json places = nlohmann::json::array();
    for (const auto& place : rollback.places)
        places.push_back({ place.chunk.value, place.windows.begin, place.windows.end, place.leftOut });
    return nlohmann::json {
        { "format", 1 }, { "times", rollback.times }, { "rate_factor", rollback.rateFactor }, { "places", places }
    }.dump();
}

Rollback rollbackFrom(const std::string& text)
{
    const auto json = parseBoundedJson(text);
    if (!json.is_object())
        return {};
    try {
        Rollback rollback;
        rollback.times = json.at("times").get<std::int64_t>();
        rollback.rateFactor = json.at("rate_factor").get<double>();
        for (const auto& place : json.at("places")) {
            const auto begin = place.at(1).get<std::int64_t>();
            const auto end = place.at(2).get<std::int64_t>();
            if (begin < 0 || end <= begin || end > std::numeric_limits<std::int32_t>::max()
                || rollback.places.size() >= kMostPlaces)
                return {};
            rollback.places.push_back({ { place.at(0).get<std::int64_t>() },
                { static_cast<std::int32_t>(begin), static_cast<std::int32_t>(end) }, place.at(3).get<bool>() });
        }
        return json.at("format").get<int>() == 1 && rollback.rateFactor > 0 && rollback.rateFactor <= 1 ? rollback
                                                                                                        : Rollback {};
    } catch (const nlohmann::json::exception&) { // not ours, or damaged
        return {};
    }
}

} // namespace furrow
