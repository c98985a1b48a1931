#include "core/run/folder/finished_mark.h"

#include "core/base/file_system.h"
#include "core/config/bounded_json.h"

#include <nlohmann/json.hpp>

namespace furrow {

Status writeFinishedMark(const RunPaths& paths, const FinishedMark& mark)
{
    const nlohmann::json json = { { "attempt", mark.attempt.value }, { "marked_ns", mark.wallNs } };
    return writeFileDurably(realFileSystem(), paths.finishedMark(), json.dump() + "\n");
}

std::optional<FinishedMark> readFinishedMark(const RunPaths& paths)
{
    const auto text = readFile(paths.finishedMark(), 4096);
    const auto json = text.ok() ? parseBoundedJson(text.value()) : nlohmann::json();
    if (!json.is_object())
        return std::nullopt;
    try {
        return FinishedMark { { json.at("attempt").get<std::int64_t>() }, json.at("marked_ns").get<std::int64_t>() };
    } catch (const nlohmann::json::exception&) { // not ours: the ledger speaks for itself
        return std::nullopt;
    }
}

} // namespace furrow
