#include "core/run/folder/checkpoint_manifest.h"

#include "core/base/hash.h"
#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/config/json_reading.h"
#include "core/run/folder/run_paths.h"
#include "core/tracker/row_bounds.h"

#include <nlohmann/json.hpp>

#include <limits>

namespace furrow {

namespace {

constexpr int kFormat = 1; // of one with all weights in its files
constexpr int kFormatWithFrozen = 2; // an older Furrow would miss weights without knowing why
constexpr std::size_t kSha256Digits = 64;
constexpr std::uint64_t kMaxBytes = 512u << 20; // ten million parts fit
constexpr std::uint64_t kMaxStateBytes = 16u << 20;

Error damaged(const std::filesystem::path& folder, const Message& why)
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
        return { code,
            sentence("checkpoint %1 cannot be read: %2 is not there. Is its disk mounted?",
                { utf8Text(folder.filename()), utf8Text(folder.parent_path()) }) };
    return { code, sentence("checkpoint %1 cannot be read: %2", { utf8Text(folder.filename()), why.message }) };
}

Part partFrom(const JsonPart& part)
{
    const auto chunk = part.at(0).as<std::int64_t>();
    const auto begin = static_cast<std::int32_t>(part.at(1).within(0, std::numeric_limits<std::int32_t>::max() - 1));
    const auto end = static_cast<std::int32_t>(part.at(2).within(begin + 1, std::numeric_limits<std::int32_t>::max()));
    if (!isChunkId(chunk))
        part.at(0).refuse(sentence("is not a chunk that a run can have"));
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

std::string sha256From(const JsonPart& part)
{
    auto hash = part.as<std::string>();
    if (hash.size() != kSha256Digits || hash.find_first_not_of("0123456789abcdef") != std::string::npos)
        part.refuse(sentence("is not a SHA-256"));
    return hash;
}

CheckpointManifest::Frozen frozenFrom(const JsonPart& json)
{
    return { sha256From(json["sha256"]), // it becomes the name of a file
        static_cast<std::uint64_t>(json["bytes"].within(1, kTotalBounds.most)) };
}

CheckpointManifest parse(const JsonPart& json)
{
    CheckpointManifest m;
    json["run_id"].to(m.runId);
    m.kind = closedValue<CheckpointKind>(json["kind"].as<std::string>()).value_or(CheckpointKind::Replica);
    m.replica = static_cast<std::int32_t>(json["replica"].within(-1, std::numeric_limits<std::int32_t>::max()));
    m.step = json["step"].within(0, kTotalBounds.most);
    m.tokens = json["tokens"].within(0, kTotalBounds.most);
    json["files"].each([&m](const JsonPart& file) {
        m.files.push_back(
            { plainNameFrom(file["name"]), file["size"].as<std::uint64_t>(), file["sha256"].as<std::string>() });
    });
    if (json.has("frozen"))
        m.frozen = frozenFrom(json["frozen"]);
    json["parts"].each([&m](const JsonPart& part) { m.parts.push_back(partFrom(part)); });
    m.namesParents = json.has("parents");
    if (m.namesParents)
        json["parents"].each([&m](const JsonPart& parent) { m.parents.push_back(plainNameFrom(parent)); });
    if (json.has("parent_manifests"))
        json["parent_manifests"].each([&m](const JsonPart& hash) { m.parentManifests.push_back(sha256From(hash)); });
    if (!m.parentManifests.empty() && m.parentManifests.size() != m.parents.size())
        json["parent_manifests"].refuse(sentence("has another number of entries than parents"));
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
    if (reading.ok() && format > kFormatWithFrozen)
        return Error { ErrorCode::InvalidArgument,
            sentence("checkpoint %1 was written by a newer Furrow; this one reads formats 1 and 2.",
                { utf8Text(folder.filename()) }) };
    auto manifest = parse(reading.root());
    if (!reading.ok())
        return damaged(folder, sentence("manifest.json cannot be used: %1.", { reading.trouble() }));
    return manifest;
}

struct Counts {
    std::int64_t steps = 0;
    std::int64_t tokens = 0;
    std::int64_t samples = 0;
};

/// How `state` contradicts the manifest, or itself; "" where it does not.
Message contradictionOf(const JsonPart& state, const CheckpointManifest& manifest)
{
    const auto total = [&state](const char* key) { return state[key].within(0, kTotalBounds.most); };
    const auto totalOr
        = [&](const char* key, std::int64_t otherwise) { return state.has(key) ? total(key) : otherwise; };
    const auto replica = state["replica"].as<std::int32_t>();
    const Counts all { total("step"), total("tokens"), total("samples") };
    const Counts own { total("own_steps"), totalOr("own_tokens", all.tokens),
        totalOr("own_samples", all.samples) }; // older checkpoints have no own counts
    const Counts sinceBase { total("steps_since_base"), total("tokens_since_base") };
    const bool grewFromMerge = total("merge_round") > 0 || !state["base"].as<std::string>().empty();
    const auto differs = [](const char* what, std::int64_t here, std::int64_t there) {
        return sentence("its state.json says %1 %2 and its manifest.json %3.",
            { what, std::to_string(here), std::to_string(there) });
    };
    if (replica != manifest.replica)
        return differs("replica", replica, manifest.replica);
    if (all.steps != manifest.step)
        return differs("step", all.steps, manifest.step);
    if (all.tokens != manifest.tokens)
        return differs("tokens", all.tokens, manifest.tokens);
    if (manifest.namesParents && state["parents"].as<std::vector<std::string>>() != manifest.parents)
        return sentence("its state.json names other parents than its manifest.json.");
    if (sinceBase.steps > all.steps || sinceBase.tokens > all.tokens)
        return sentence("its state.json counts more steps or tokens since its base than in all.");
    if (!grewFromMerge
        && (own.steps > all.steps || own.tokens > all.tokens
            || own.samples > all.samples)) // what others trained comes with merges alone
        return sentence("its state.json counts more steps, tokens or samples of its own than in all.");
    return {};
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
    nlohmann::ordered_json json = { { "format", m.frozen ? kFormatWithFrozen : kFormat }, { "run_id", m.runId },
        { "kind", nameOf(m.kind) }, { "replica", m.replica }, { "step", m.step }, { "tokens", m.tokens },
        { "written_ns", m.writtenWallNs }, { "incarnation", m.incarnation },
        { "eval_loss", m.evalLoss ? nlohmann::ordered_json(*m.evalLoss) : nlohmann::ordered_json(nullptr) },
        { "parents", m.parents }, { "files", files }, { "parts", parts } };
    if (!m.parentManifests.empty())
        json["parent_manifests"] = m.parentManifests;
    if (m.frozen)
        json["frozen"] = { { "sha256", m.frozen->sha256 }, { "bytes", m.frozen->sizeBytes } };
    return json.dump() + "\n";
}

Result<CheckpointManifest> readManifest(const std::filesystem::path& folder)
{
    auto text = readFile(folder / kManifestFile, kMaxBytes);
    if (!text.ok())
        return unreadable(folder, text.error());
    return parseText(folder, text.value());
}

Result<CheckpointManifest> readManifestFile(const std::filesystem::path& file, std::string& sha256)
{
    FURROW_TRY_ASSIGN(auto text, readFile(file, kMaxBytes));
    sha256 = sha256Hex(text);
    return parseText(file.stem(), text);
}

Status checkState(const std::filesystem::path& folder, const CheckpointManifest& manifest)
{
    auto text = readFile(folder / kStateFile, kMaxStateBytes);
    if (!text.ok())
        return unreadable(folder, text.error());
    JsonReading reading(text.value());
    const int format = reading.root()["format"].as<int>();
    if (reading.ok() && format > kStateFormat)
        return {};
    const auto contradiction = contradictionOf(reading.root(), manifest);
    if (!reading.ok())
        return damaged(folder, sentence("state.json cannot be used: %1.", { reading.trouble() }));
    return contradiction.empty() ? Status {} : damaged(folder, contradiction);
}

Status verifyFrozenFile(const std::filesystem::path& file, const CheckpointManifest::Frozen& frozen,
    const std::stop_token& stop, const std::function<void(std::string_view)>& onBytes)
{
    const std::string name = "frozen/" + utf8Text(file.filename());
    std::error_code unknown;
    if (const auto size = std::filesystem::file_size(file, unknown); !unknown && size != frozen.sizeBytes)
        return Error { ErrorCode::Corrupt, sentence("%1 has another size than was written.", { name }) };
    auto sha = sha256File(file, stop, onBytes);
    if (!sha.ok()) // cut short while it was read: that says nothing about it
        return Error { sha.error().code == ErrorCode::Corrupt ? ErrorCode::Io : sha.error().code, sha.error().message };
    return sha.value() == frozen.sha256 ? Status {}
                                        : Error { ErrorCode::Corrupt, sentence("SHA-256 of %1 differs.", { name }) };
}

Status verifyFrozen(const std::filesystem::path& folder, const CheckpointManifest& manifest,
    const std::stop_token& stop, FrozenVerdicts* known)
{
    if (!manifest.frozen)
        return {};
    FrozenVerdicts own;
    auto& verdicts = known ? *known : own;
    const auto& frozen = *manifest.frozen;
    const std::string key = frozen.sha256 + " " + std::to_string(frozen.sizeBytes);
    auto found = verdicts.find(key);
    if (found == verdicts.end())
        found = verdicts.emplace(key, verifyFrozenFile(frozenFileIn(folder.parent_path(), frozen.sha256), frozen, stop))
                    .first;
    if (found->second.ok())
        return {};
    const Error& error = found->second.error();
    return error.code == ErrorCode::Corrupt ? damaged(folder, error.message) : unreadable(folder, error);
}

Status verifyCheckpoint(const std::filesystem::path& folder, const std::string& manifestSha256,
    const std::string& runId, const std::stop_token& stop, FrozenVerdicts* known,
    const std::function<void(std::string_view)>& onWeights)
{
    const auto manifest = verifyOwnFiles(folder, manifestSha256, runId, stop, onWeights);
    return manifest.ok() ? verifyFrozen(folder, manifest.value(), stop, known) : manifest.error();
}

Result<CheckpointManifest> verifyOwnFiles(const std::filesystem::path& folder, const std::string& manifestSha256,
    const std::string& runId, const std::stop_token& stop, const std::function<void(std::string_view)>& onWeights)
{
    auto text = readFile(folder / kManifestFile, kMaxBytes);
    if (!text.ok())
        return unreadable(folder, text.error());
    if (sha256Hex(text.value()) != manifestSha256)
        return damaged(folder, sentence("SHA-256 of manifest.json differs from the tracker's."));
    FURROW_TRY_ASSIGN(auto manifest, parseText(folder, text.value()));
    if (manifest.runId != runId)
        return damaged(folder, sentence("it belongs to run %1.", { manifest.runId }));
    for (const auto& file : manifest.files) {
        std::error_code unknown;
        if (const auto size = std::filesystem::file_size(folder / pathFromUtf8(file.name), unknown);
            !unknown && static_cast<std::int64_t>(size) != static_cast<std::int64_t>(file.sizeBytes))
            return damaged(folder, sentence("%1 has another size than was written.", { file.name }));
        auto sha = sha256File(folder / pathFromUtf8(file.name), stop,
            file.name == kWeightsFile ? onWeights : std::function<void(std::string_view)>());
        if (!sha.ok())
            return unreadable(folder, sha.error());
        if (sha.value() != file.sha256)
            return damaged(folder, sentence("SHA-256 of %1 differs.", { file.name }));
    }
    std::error_code unknown; // merges and replicas have one, folders of other programs may not
    if (std::filesystem::exists(folder / kStateFile, unknown))
        FURROW_TRY(checkState(folder, manifest));
    return manifest;
}

} // namespace furrow
