#include "core/run/folder/start_weights_hash.h"

#include "core/base/hash.h"
#include "core/base/is_there.h"
#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/config/option_term.h"
#include "core/run/folder/checkpoint_manifest.h"

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
        return Error { ErrorCode::Io, sentence("%1 cannot be read: %2", { utf8Text(folder), failed.message() }) };
    if (files.empty())
        return Error { ErrorCode::NotFound, sentence("%1 has no weights.", { utf8Text(folder) }) };
    std::sort(files.begin(), files.end());
    return files;
}

} // namespace

Result<std::string> startWeightsHash(const std::string& initFrom)
{
    if (initFrom.empty())
        return std::string();
    fs::path path = pathFromUtf8(initFrom);
    if (path.extension() == kWeightsEnd && isThere(path))
        path = path.parent_path(); // as the weights are read
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
    if (hash.empty())
        return {};
    FURROW_TRY_ASSIGN(const std::string now, startWeightsHash(initFrom));
    if (now == hash)
        return {};
    return Error { ErrorCode::Corrupt,
        sentence(
            "%1: %2 holds other weights than when the run was made (SHA-256). Put those back, or start a new run from these.",
            { optionTerm("init_from"), initFrom }) };
}

} // namespace furrow
