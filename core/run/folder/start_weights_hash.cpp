#include "core/run/folder/start_weights_hash.h"

#include "core/base/denied.h"
#include "core/base/hash.h"
#include "core/base/is_there.h"
#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/config/option_term.h"
#include "core/run/folder/checkpoint_manifest.h"
#include "core/run/folder/run_paths.h"

#include <algorithm>
#include <filesystem>
#include <vector>

namespace furrow {

namespace fs = std::filesystem;

namespace {

constexpr const char* kWeightsEnd = ".safetensors";

Result<std::vector<fs::path>> weightFilesIn(const fs::path& folder)
{
    if (isThere(folder / kWeightsFile)) // a checkpoint of ours
        return std::vector<fs::path> { folder / kWeightsFile };
    std::vector<fs::path> files;
    std::error_code failed;
    for (fs::directory_iterator entry(folder, failed); !failed && entry != fs::directory_iterator();
        entry.increment(failed))
        if (entry->path().extension() == kWeightsEnd)
            files.push_back(entry->path());
    if (failed)
        return Error { ErrorCode::Io, sentence("%1 cannot be read: %2", { utf8Text(folder), whyNot(folder, failed) }) };
    const std::string shown = utf8Text(folder);
    if (files.empty() && isThere(RunPaths(folder).configFile()))
        return Error { ErrorCode::NotFound,
            sentence(
                "%1 is the folder of a run. Name one of its checkpoints, as --init-from %2/checkpoints/NAME; `furrowctl brain show %3` says which is the newest.",
                { shown, shown, shown }) };
    if (files.empty())
        return Error { ErrorCode::NotFound, sentence("%1 has no weights.", { shown }) };
    std::sort(files.begin(), files.end());
    return files;
}

/// The file, or the folder that the weights are read from.
fs::path placeOf(const std::string& initFrom)
{
    const fs::path path = pathFromUtf8(initFrom);
    return path.extension() == kWeightsEnd && isThere(path) ? path.parent_path() : path;
}

/// A checkpoint of ours says what its weights are. What a merge of named checkpoints made has nothing to say.
bool isCheckpoint(const fs::path& place) { return isThere(place / kManifestFile) && isThere(place / kWeightsFile); }

Result<std::string> hashOfCheckpoint(const fs::path& folder)
{
    FURROW_TRY_ASSIGN(const auto manifest, readManifest(folder));
    FURROW_TRY_ASSIGN(auto hash, sha256File(folder / kWeightsFile));
    const auto listed = std::find_if(manifest.files.begin(), manifest.files.end(),
        [](const CheckpointManifest::File& file) { return file.name == kWeightsFile; });
    if (listed != manifest.files.end() && listed->sha256 == hash)
        return hash;
    return Error { ErrorCode::Corrupt,
        sentence(
            "Checkpoint %1 is damaged: SHA-256 of %2 differs. Name another one, or put its files back from a copy.",
            { utf8Text(folder.filename()), kWeightsFile }) }
        .in(Message::of({}, { settingTerm("init_from") }));
}

} // namespace

Result<std::string> startWeightsHash(const std::string& initFrom)
{
    if (initFrom.empty())
        return std::string();
    const fs::path path = placeOf(initFrom);
    if (isCheckpoint(path))
        return hashOfCheckpoint(path);
    std::error_code failed;
    if (!fs::is_directory(path, failed))
        return sha256File(path);
    FURROW_TRY_ASSIGN(const auto files, weightFilesIn(path));
    if (files.size() == 1)
        return sha256File(files.front());
    std::string all;
    for (const fs::path& file : files) {
        FURROW_TRY_ASSIGN(const std::string hash, sha256File(file));
        all += hash + " " + utf8Text(file.filename()) + "\n";
    }
    return sha256Hex(all);
}

Status checkStartWeights(const std::string& initFrom, const std::string& hash)
{
    if (hash.empty() && !isCheckpoint(placeOf(initFrom)))
        return {};
    FURROW_TRY_ASSIGN(const std::string now, startWeightsHash(initFrom));
    if (hash.empty() || now == hash)
        return {};
    return Error { ErrorCode::Corrupt,
        sentence(
            "%1: %2 holds other weights than when the run was made (SHA-256). Put those back, or start a new run from these.",
            { optionTerm("init_from"), initFrom }) };
}

} // namespace furrow
