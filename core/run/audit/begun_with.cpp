#include "core/run/audit/begun_with.h"

#include "core/base/file_system.h"
#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/data/plan/held_out.h"
#include "core/data/tokenizer/tokenizer.h"
#include "core/run/folder/adopted_model.h"
#include "core/run/folder/checkpoint_manifest.h"
#include "core/run/audit/parent_list.h"
#include "core/run/folder/foreign_ledger.h"
#include "core/run/folder/frozen_config.h"
#include "core/run/status/tracker_config.h"
#include "core/tracker/order_facts.h"

#include <algorithm>
#include <map>

namespace furrow {

namespace {

/// What the tracker gives chunks out by, against run.json.
Status checkOrder(const RunFile& file, LedgerReader& reader)
{
    FURROW_TRY_ASSIGN(auto found, reader.orderFacts());
    auto began = orderFacts(orderConfig(file.config));
    if (!found.contains("window_tokens"))
        began.erase("window_tokens"); // a version that counted in proportion kept none
    for (const auto& [key, value] : found)
        began.try_emplace(key);
    for (const auto& [key, value] : began)
        if (const auto& now = found[key]; now != value)
            return Error { ErrorCode::InvalidArgument,
                sentence(
                    "tracker and run.json disagree: %1 is '%2' in the tracker and '%3' by run.json, and chunks would be given out or counted in another way. One of the two was changed from outside; put a copy of it back from before.",
                    { key, now, value }) };
    return {};
}

} // namespace

Status checkTracker(const RunPaths& paths, const RunFile& file, LedgerReader& reader)
{
    if (const auto foreign = foreignLedger(reader, file.runId); !foreign.empty())
        return foreignRefusal(paths, foreign);
    FURROW_TRY(checkFrozen(file, reader));
    return checkOrder(file, reader);
}

Result<Message> missingRecord(const RunFile& file, LedgerReader& reader)
{
    FURROW_TRY_ASSIGN(const auto record, frozenRecord(reader));
    return record == FrozenRecord::None && !file.heldOutHash.empty()
        ? sentence("the tracker's record of run.json was taken out or cut: nothing proves run.json any more")
        : Message();
}

namespace {

Status checkTokenizerFile(const RunPaths& paths, const RunFile& file)
{
    FURROW_TRY(tokenizerOfRun(paths, file));
    return {};
}

Status checkHeldOutFile(const RunPaths& paths, const RunFile& file, const std::stop_token& stop)
{
    if (!file.heldOutHash.empty())
        return checkHeldOut(paths, file, stop); // what has the hash of then can be read as then
    if (isTaken(paths.evaluationFile())) // an early version kept no hash, or held nothing out
        FURROW_TRY(readHeldOut(paths.evaluationFile()));
    return {};
}

/// The runs that checkpoints say they are of, by how many.
std::map<std::string, std::int64_t> runsOfCheckpoints(const RunPaths& paths)
{
    std::map<std::string, std::int64_t> runs;
    const auto living = entriesOf(paths.checkpointsFolder());
    for (const auto& entry : living.ok() ? living.value() : std::vector<std::filesystem::path> {}) {
        std::string sha256;
        if (paths.isBesideCheckpoints(entry) || isLink(entry))
            continue;
        if (const auto manifest = readManifestFile(entry / kManifestFile, sha256); manifest.ok())
            ++runs[manifest.value().runId];
    }
    return runs;
}

Status checkOrigin(const RunPaths& paths, const RunFile& file)
{
    FURROW_TRY(originFiles(paths, file));
    return {};
}

} // namespace

Status checkRunFile(const RunPaths& paths, const RunFile& file)
{
    auto reader = LedgerReader::open(paths.tracker());
    const auto runId = reader.ok() ? reader.value().runId() : Result<std::string>(reader.error());
    const bool agrees = runId.ok() && runId.value() == file.runId;
    const auto runs = agrees ? std::map<std::string, std::int64_t>() : runsOfCheckpoints(paths);
    if (runs.empty() || runs.contains(file.runId))
        return {};
    const auto most
        = std::max_element(runs.begin(), runs.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    return Error { ErrorCode::Corrupt,
        sentence(
            "%1 says that this is run %2, and none of its checkpoints is of that run: %3 are of run %4. Nothing was changed, since a repair by this run.json would give up all of them. Put the run.json of the run back.",
            { utf8Text(paths.configFile()), file.runId, std::to_string(most->second), most->first }) };
}

std::vector<Error> notAsBegun(
    const RunPaths& paths, const RunFile& file, LedgerReader& reader, const std::stop_token& stop)
{
    std::vector<Error> changed;
    for (const auto& same :
        { checkTracker(paths, file, reader), checkTokenizerFile(paths, file), checkHeldOutFile(paths, file, stop),
            checkQuestions(paths, file, stop), checkOrigin(paths, file), checkParentFile(paths, file) })
        if (!same.ok())
            changed.push_back(same.error());
    return changed;
}

} // namespace furrow
