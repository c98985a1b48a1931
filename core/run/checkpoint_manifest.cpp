#include "core/run/checkpoint_manifest.h"

#include "core/base/hash.h"
#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/config/json_reading.h"
#include "core/tracker/row_bounds.h"

#include <nlohmann/json.hpp>

#include <limits>

namespace furrow {

namespace {

constexpr int kFormat = 1;
constexpr std::uint64_t kMaxBytes = 512u << 20; // ten million parts fit
constexpr const char* kName = "manifest.json";

Error damaged(const std::filesystem::path& folder, const std::string& why)
{
    return { ErrorCode::Corrupt, sentence("checkpoint %1 is damaged: %2", { utf8Text(folder.filename()), why }) };
}

/// What could not be read is not called damaged: the disk may come back.
Error unreadable(const std::filesystem::path& folder, const Error& why)
{
    if (why.code == ErrorCode::Cancelled)
        return why;
    const auto code = why.code == ErrorCode::Corrupt ? ErrorCode::Io : why.code; // cut short while it was read
    std::error_code unknown;
    if (!std::filesystem::exists(folder.parent_path(), unknown))
        return { code, sentence("checkpoint %1 cannot be read: %2 is not there. Is its disk mounted?", { utf8Text(folder.filename()), utf8Text(folder.parent_path()) }) };
    return { code, sentence("checkpoint %1 cannot be read: %2", { utf8Text(folder.filename()), why.message }) };
}

Part partFrom(const JsonPart& part)
{
    const auto chunk = part.at(0).as<std::int64_t>();
    const auto begin = static_cast<std::int32_t>(part.at(1).within(0, std::numeric_limits<std::int32_t>::max() - 1));
    const auto end = static_cast<std::int32_t>(part.at(2).within(begin + 1, std::numeric_limits<std::int32_t>::max()));
    if (!isChunkId(chunk))
        part.at(0).refuse(sentence("is no chunk that a run can have"));
    return { ChunkId { chunk }, { begin, end }, -1, part.size() > 3 && part.at(3).raw() == "skipped" };
}

/// Names of a manifest are those of things inside the folder of the checkpoints.
std::string plainNameFrom(const JsonPart& part)
{
    auto name = part.as<std::string>();
    if (!isPlainName(name))
        part.refuse(sentence("names a path outside the folder"));
    return name;
}

CheckpointManifest parse(const JsonPart& json)
{
    CheckpointManifest m;
    json["run_id"].to(m.runId);
    m.kind = json["kind"].as<std::string>() == "merge" ? CheckpointKind::Merge : CheckpointKind::Replica;
    m.replica = static_cast<std::int32_t>(json["replica"].within(-1, std::numeric_limits<std::int32_t>::max()));
    m.step = json["step"].within(0, kTotalBounds.most);
    m.tokens = json["tokens"].within(0, kTotalBounds.most);
    json["files"].each([&m](const JsonPart& file) { m.files.push_back({ plainNameFrom(file["name"]), file["size"].as<std::uint64_t>(), file["sha256"].as<std::string>() }); });
    json["parts"].each([&m](const JsonPart& part) { m.parts.push_back(partFrom(part)); });
    m.namesParents = json.has("parents");
    if (m.namesParents)
        json["parents"].each([&m](const JsonPart& parent) { m.parents.push_back(plainNameFrom(parent)); });
    m.writtenWallNs = json.valueOr("written_ns", std::int64_t(0));
    m.saysWho = json.has("incarnation");
    m.incarnation = json.valueOr("incarnation", std::int64_t(0));
    if (json.has("eval_loss"))
        m.evalLoss = json["eval_loss"].as<double>();
    return m;
}

Result<CheckpointManifest> parseText(const std::filesystem::path& folder, const std::string& text)
{
    JsonReading reading(text);
    const int format = reading.root()["format"].as<int>();
    if (reading.ok() && format > kFormat)
        return Error { ErrorCode::InvalidArgument, sentence("checkpoint %1 was written by a newer Furrow; this one reads format 1.", { utf8Text(folder.filename()) }) };
    auto manifest = parse(reading.root());
    if (!reading.ok())
        return damaged(folder, sentence("manifest.json cannot be used: %1.", { reading.trouble() }));
    return manifest;
}

} // namespace

std::string toJsonText(const CheckpointManifest& m)
{
    nlohmann::ordered_json files = nlohmann::ordered_json::array();
    for (const auto& file : m.files)
        files.push_back({ { "name", file.name }, { "size", file.sizeBytes }, { "sha256", file.sha256 } });
    nlohmann::ordered_json parts = nlohmann::ordered_json::array();
    for (const auto& part : m.parts) {
        parts.push_back({ part.chunk.value, part.windows.begin, part.windows.end });
        if (part.skipped)
            parts.back().push_back("skipped");
    }
    const nlohmann::ordered_json json = { { "format", kFormat }, { "run_id", m.runId },
        { "kind", m.kind == CheckpointKind::Merge ? "merge" : "replica" }, { "replica", m.replica }, { "step", m.step }, { "tokens", m.tokens },
        { "written_ns", m.writtenWallNs }, { "incarnation", m.incarnation },
        { "eval_loss", m.evalLoss ? nlohmann::ordered_json(*m.evalLoss) : nlohmann::ordered_json(nullptr) }, { "parents", m.parents }, { "files", files },
        { "parts", parts } };
    return json.dump() + "\n";
}

Result<CheckpointManifest> readManifest(const std::filesystem::path& folder)
{
    auto text = readFile(folder / kName, kMaxBytes);
    if (!text.ok())
        return unreadable(folder, text.error());
    return parseText(folder, text.value());
}

Result<CheckpointManifest> readManifestFile(const std::filesystem::path& file, std::string& sha256)
{
    auto text = readFile(file, kMaxBytes);
    if (!text.ok())
        return text.error();
    sha256 = sha256Hex(text.value());
    return parseText(file.stem(), text.value());
}

Status verifyCheckpoint(const std::filesystem::path& folder, const std::string& manifestSha256, const std::string& runId, const std::stop_token& stop)
{
    auto text = readFile(folder / kName, kMaxBytes);
    if (!text.ok())
        return unreadable(folder, text.error());
    if (sha256Hex(text.value()) != manifestSha256)
        return damaged(folder, "SHA-256 of manifest.json differs from the tracker's.");
    auto manifest = parseText(folder, text.value());
    if (!manifest.ok())
        return manifest.error();
    if (manifest.value().runId != runId)
        return damaged(folder, "it belongs to run " + manifest.value().runId + ".");
    for (const auto& file : manifest.value().files) {
        std::error_code unknown;
        if (const auto size = std::filesystem::file_size(folder / pathFromUtf8(file.name), unknown); !unknown && static_cast<std::int64_t>(size) != static_cast<std::int64_t>(file.sizeBytes))
            return damaged(folder, file.name + " has another size than was written.");
        auto sha = sha256File(folder / pathFromUtf8(file.name), stop);
        if (!sha.ok())
            return unreadable(folder, sha.error());
        if (sha.value() != file.sha256)
            return damaged(folder, "SHA-256 of " + file.name + " differs.");
    }
    return {};
}

} // namespace furrow
