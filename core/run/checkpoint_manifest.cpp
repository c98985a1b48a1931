#include "core/run/checkpoint_manifest.h"

#include "core/base/hash.h"
#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/config/bounded_json.h"
#include "core/tracker/row_bounds.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace furrow {

namespace {

constexpr int kFormat = 1;
constexpr std::uint64_t kMaxBytes = 512u << 20; // ten million parts fit
constexpr const char* kName = "manifest.json";

Error damaged(const std::filesystem::path& folder, const std::string& why)
{
    return { ErrorCode::Corrupt, sentence("checkpoint %1 is damaged: %2", { folder.filename().string(), why }) };
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

CheckpointManifest parse(const nlohmann::json& json)
{
    CheckpointManifest m;
    m.runId = json.at("run_id");
    m.kind = json.at("kind") == "merge" ? CheckpointKind::Merge : CheckpointKind::Replica;
    m.replica = json.at("replica");
    m.step = json.at("step");
    m.tokens = json.at("tokens");
    for (const auto& file : json.at("files"))
        m.files.push_back({ file.at("name"), file.at("size"), file.at("sha256") });
    for (const auto& part : json.at("parts"))
        m.parts.push_back({ ChunkId { part.at(0) }, { part.at(1), part.at(2) }, -1, part.size() > 3 && part.at(3) == "skipped" });
    m.namesParents = json.contains("parents");
    if (m.namesParents)
        m.parents = json.at("parents").get<std::vector<std::string>>();
    m.writtenWallNs = json.value("written_ns", std::int64_t(0));
    m.saysWho = json.contains("incarnation");
    if (m.saysWho)
        m.incarnation = json.at("incarnation");
    if (json.contains("eval_loss") && !json.at("eval_loss").is_null())
        m.evalLoss = json.at("eval_loss");
    return m;
}

bool isPossible(const CheckpointManifest& m)
{
    return m.replica >= -1 && m.step >= 0 && m.tokens >= 0
        && std::all_of(m.parts.begin(), m.parts.end(), [](const Part& part) { return isChunkId(part.chunk.value) && part.windows.begin >= 0 && part.windows.end > part.windows.begin; });
}

Result<CheckpointManifest> parseText(const std::filesystem::path& folder, const std::string& text)
{
    const auto json = parseBoundedJson(text);
    if (!json.is_object())
        return damaged(folder, sentence("manifest.json is not valid JSON."));
    try {
        if (json.at("format") > kFormat)
            return Error { ErrorCode::InvalidArgument, sentence("checkpoint %1 was written by a newer Furrow; this one reads format 1.", { folder.filename().string() }) };
        auto manifest = parse(json);
        if (!isPossible(manifest))
            return damaged(folder, sentence("manifest.json has a number that no checkpoint can have."));
        for (const auto& file : manifest.files)
            if (!isPlainName(file.name))
                return damaged(folder, sentence("its manifest names a path outside the folder."));
        for (const auto& parent : manifest.parents)
            if (!isPlainName(parent))
                return damaged(folder, sentence("its manifest names a path outside the folder."));
        return manifest;
    } catch (const nlohmann::json::exception& e) {
        return damaged(folder, std::string("manifest.json lacks a field (") + e.what() + ").");
    }
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
