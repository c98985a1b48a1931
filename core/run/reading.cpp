#include "core/run/reading.h"

#include "core/base/file_system.h"
#include "core/config/bounded_json.h"

#include <nlohmann/json.hpp>

namespace furrow {

nlohmann::json toJson(const Reading& r)
{
    return { { "attempt", r.attempt }, { "doing", r.doing }, { "blocks_prepared", r.blocksPrepared }, { "blocks_from_cache", r.blocksFromCache },
        { "samples_fetched", r.samplesFetched }, { "text_bytes", r.textBytes }, { "downloaded_bytes", r.downloadedBytes }, { "download_requests", r.downloadRequests },
        { "mb_per_s", r.megabytesPerSecond }, { "busy_share", r.busyShare }, { "opens", r.opens }, { "open_ms", r.openMs }, { "slowest_open_ms", r.slowestOpenMs },
        { "labels", r.labels }, { "slots", r.slots }, { "padding_share", r.slots > 0 ? 1 - static_cast<double>(r.labels) / static_cast<double>(r.slots) : 0 },
        { "repeated_share", r.repeatedShare }, { "unknown_share", r.unknownShare } };
}

std::optional<Reading> readReading(const RunPaths& paths)
{
    const auto text = readFile(paths.readingFile(), 64 << 10);
    const auto j = text.ok() ? parseBoundedJson(text.value()) : nlohmann::json();
    if (!j.is_object())
        return std::nullopt;
    try {
        Reading r;
        r.attempt = j.at("attempt");
        r.doing = j.at("doing");
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
        r.repeatedShare = j.at("repeated_share");
        r.unknownShare = j.value("unknown_share", 0.0); // older attempts did not count it
        return r;
    } catch (const nlohmann::json::exception&) { // of another version: for people only, so there is none
        return std::nullopt;
    }
}

Status publishReading(const RunPaths& paths, const Reading& reading)
{
    return writeFileWhole(realFileSystem(), paths.readingFile(), toJson(reading).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

} // namespace furrow
