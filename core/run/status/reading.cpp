#include "core/run/status/reading.h"

#include "core/base/file_system.h"
#include "core/base/format.h"
#include "core/base/sentence.h"
#include "core/config/message_json.h"
#include "core/config/bounded_json.h"

#include <nlohmann/json.hpp>

namespace furrow {

namespace {

constexpr std::size_t kMostBytes = 1 << 20;
constexpr std::int64_t kMostFiles = 2'000'000; // of a data set

/// [[first, last], ...]
nlohmann::json rangesOf(const std::set<std::int32_t>& places)
{
    nlohmann::json ranges = nlohmann::json::array();
    for (const auto place : places) {
        if (!ranges.empty() && ranges.back()[1] == place - 1)
            ranges.back()[1] = place;
        else
            ranges.push_back({ place, place });
    }
    return ranges;
}

std::set<std::int32_t> fromRanges(const nlohmann::json& ranges)
{
    std::set<std::int32_t> places;
    std::int64_t next = 0;
    for (const auto& range : ranges) {
        const auto last = std::min(range.at(1).get<std::int64_t>(), kMostFiles);
        for (next = std::max(next, range.at(0).get<std::int64_t>()); next <= last;
            ++next) // ascending, so a wrong file costs no more than a large one
            places.insert(places.end(), static_cast<std::int32_t>(next));
    }
    return places;
}

nlohmann::json toJson(const ComparedFiles& hub)
{
    return { { "files", hub.files }, { "verified", hub.compared.size() }, { "not_yet", hub.notYet() },
        { "not_verified", hub.never.size() }, { "why_not", hub.whyNever }, { "verified_files", rangesOf(hub.compared) },
        { "not_verified_files", rangesOf(hub.never) } };
}

nlohmann::json toJson(const ExclusionCount& count)
{
    return { { "blocks", count.blocks }, { "rows", count.rows }, { "untold_rows", count.untold },
        { "met", rangesOf(count.met) } };
}

ExclusionCount exclusionsFromJson(const nlohmann::json& j)
{
    return { j.at("blocks"), j.at("rows"), j.at("untold_rows"), fromRanges(j.at("met")) };
}

ComparedFiles comparedFromJson(const nlohmann::json& j)
{
    return { j.at("files"), fromRanges(j.at("verified_files")), fromRanges(j.at("not_verified_files")),
        j.at("why_not") };
}

} // namespace

std::vector<Message> comparedInWords(const ComparedFiles& hub)
{
    std::vector<Message> words;
    if (hub.files == 0)
        return words;
    words.push_back(sentence("Files from the network: %1 of %2 verified as a whole (SHA-256), %3 not yet.",
        { Count(std::ssize(hub.compared)), Count(hub.files), Count(hub.notYet()) }));
    if (!hub.never.empty())
        words.push_back(sentence("Not verified as a whole: %1 of %2 files; of the first %3.",
            { Count(std::ssize(hub.never)), Count(hub.files), hub.whyNever }));
    return words;
}

std::vector<Message> exclusionsInWords(const Reading& reading)
{
    std::vector<Message> words;
    if (const auto rows = reading.exclusions.rows; rows > 0)
        words.push_back(rows == 1
                ? sentence("1 row is left out by name (exclude), among the filtered ones.")
                : sentence("%1 rows are left out by name (exclude), among the filtered ones.", { Count(rows) }));
    for (const std::string& entry : reading.firstUnmet)
        words.push_back(entry.starts_with("chunk")
                ? sentence(
                      "The entry '%1' of what is left out (exclude) means nothing: there is no such chunk.", { entry })
                : sentence("The entry '%1' of what is left out (exclude) met no row.", { entry }));
    if (const auto more = reading.unmetExclusions - std::ssize(reading.firstUnmet); more > 0)
        words.push_back(more == 1 ? sentence("1 more entry of what is left out met nothing.")
                                  : sentence("%1 more entries of what is left out met nothing.", { Count(more) }));
    return words;
}

nlohmann::json toJson(const Reading& r)
{
    nlohmann::json json = { { "attempt", r.attempt }, { "doing", r.doing }, { "doing_message", messageParts(r.doing) },
        { "blocks_prepared", r.blocksPrepared }, { "blocks_from_cache", r.blocksFromCache },
        { "samples_fetched", r.samplesFetched }, { "text_bytes", r.textBytes },
        { "downloaded_bytes", r.downloadedBytes }, { "download_requests", r.downloadRequests },
        { "mb_per_s", r.megabytesPerSecond }, { "busy_share", r.busyShare }, { "opens", r.opens },
        { "open_ms", r.openMs }, { "slowest_open_ms", r.slowestOpenMs }, { "labels", r.labels }, { "slots", r.slots },
        { "learnt", r.learnt }, { "too_long", r.tooLong }, { "too_long_lost", r.tooLongLost },
        { "dropped_characters", r.dropped },
        { "padding_share", r.slots > 0 ? 1 - static_cast<double>(r.labels) / static_cast<double>(r.slots) : 0 },
        { "looked_tokens", r.lookedTokens }, { "untrained_texts", r.untrainedTexts },
        { "repeated_share", r.repeatedShare }, { "unknown_share", r.unknownShare },
        { "exclusions", toJson(r.exclusions) }, { "unmet_exclusions", r.unmetExclusions },
        { "first_unmet_exclusions", r.firstUnmet }, { "encoding_doubt", r.encodingDoubt },
        { "encoding_doubt_message", messageParts(r.encodingDoubt) } };
    if (r.hub.files > 0)
        json["hub"] = toJson(r.hub);
    return json;
}

std::optional<Reading> readReading(const RunPaths& paths)
{
    const auto text = readFile(paths.readingFile(), kMostBytes);
    const auto j = text.ok() ? parseBoundedJson(text.value()) : nlohmann::json();
    if (!j.is_object())
        return std::nullopt;
    try {
        Reading r;
        r.attempt = j.at("attempt");
        r.doing = messageOf(j.at("doing").get<std::string>(), j.value("doing_message", std::string()));
        r.blocksPrepared = j.at("blocks_prepared");
        r.blocksFromCache = j.at("blocks_from_cache");
        r.samplesFetched = j.at("samples_fetched");
        r.textBytes = j.at("text_bytes");
        r.downloadedBytes = j.at("downloaded_bytes");
        r.downloadRequests = j.at("download_requests");
        r.megabytesPerSecond = j.at("mb_per_s");
        r.busyShare = j.at("busy_share");
        r.opens = j.at("opens");
        r.openMs = j.at("open_ms");
        r.slowestOpenMs = j.at("slowest_open_ms");
        r.labels = j.at("labels");
        r.slots = j.at("slots");
        r.learnt = j.value("learnt", std::int64_t(0)); // older attempts did not count these four
        r.dropped = j.value("dropped_characters", std::int64_t(0));
        r.tooLong = j.value("too_long", std::int64_t(0));
        r.tooLongLost = j.value("too_long_lost", std::int64_t(0));
        r.lookedTokens = j.value("looked_tokens", std::int64_t(0));
        r.untrainedTexts = j.value("untrained_texts", std::int64_t(0)); // older attempts did not count them
        r.repeatedShare = j.at("repeated_share");
        r.unknownShare = j.value("unknown_share", 0.0); // older attempts did not count it
        if (j.contains("exclusions")) { // older attempts did not count what follows
            r.exclusions = exclusionsFromJson(j.at("exclusions"));
            r.unmetExclusions = j.at("unmet_exclusions");
            r.firstUnmet = j.at("first_unmet_exclusions").get<std::vector<std::string>>();
            r.encodingDoubt = messageOf(
                j.at("encoding_doubt").get<std::string>(), j.at("encoding_doubt_message").get<std::string>());
        }
        if (j.contains("hub"))
            r.hub = comparedFromJson(j.at("hub"));
        return r;
    } catch (const nlohmann::json::exception&) { // of another version: for people only, so there is none
        return std::nullopt;
    }
}

Status publishReading(const RunPaths& paths, const Reading& reading)
{
    return writeFileWhole(realFileSystem(), paths.readingFile(),
        toJson(reading).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

} // namespace furrow
