// run.json and the small JSON files of a run folder from hostile bytes: each is refused with a sentence, or read to
// something that can be shown and written again.

#include "core/base/check.h"
#include "core/config/schema.h"
#include "core/data/plan/block_plan.h"
#include "core/data/source/data_manifest.h"
#include "core/run/folder/attempt_config.h"
#include "core/run/status/brain.h"
#include "core/run/folder/finished_mark.h"
#include "core/run/folder/frozen_config.h"
#include "core/run/status/evaluation_file.h"
#include "core/run/folder/left_out_chunks.h"
#include "core/run/folder/memory_file.h"
#include "core/run/status/reading.h"
#include "core/run/folder/run_file.h"
#include "tests/fuzz/fuzz_seeds.h"
#include "tests/fuzz/scratch.h"

#include <nlohmann/json.hpp>

using namespace furrow;

namespace {

/// What went wrong is said in words of ours.
template <typename T> void checkWords(const Result<T>& result)
{
    FURROW_CHECK(result.ok()
            || (result.error().message.find("json.exception") == std::string::npos
                && result.error().message.find("stoll") == std::string::npos),
        "the words of a library reach a person");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    static const ::ScratchFolder scratch("run");
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    for (const char* name : { "run.json", "parent.json", "finished.json", "reading.json", "memory/w0.json",
             "evaluations/w0.json", "left-out/0.json" })
        scratch.write(name, text);
    const RunPaths paths(scratch.path());
    checkWords(readRunFile(paths));
    checkWords(readParent(paths));
    checkWords(readPlan(text));
    checkWords(readManifest(text));
    if (const auto file = readRunFile(paths); file.ok()) {
        (void)frozenText(file.value());
        (void)validate(file.value().config);
        (void)writeRunFile(RunPaths(scratch.path() / "again"), file.value());
    }
    if (const auto parent = readParent(paths); parent.ok() && parent.value())
        (void)writeParent(RunPaths(scratch.path() / "again"), *parent.value());
    (void)readFinishedMark(paths);
    if (const auto reading = readReading(paths))
        (void)toJson(*reading).dump();
    if (const auto kept = keptLeftOut(paths, "abc"); kept.ok())
        for (const LeftOut& decided : kept.value().decided)
            for (const ChunkId chunk : decided.chunks)
                FURROW_CHECK(chunkIdOf(placeOf(chunk)) == chunk, "a chunk that no run can have");
    (void)readMemory(paths.memoryFile(0));
    (void)newestEvaluation(paths, [](const ToldEvaluation&) { return true; });
    AttemptRow attempt;
    attempt.overridesJson = std::string(text);
    (void)configOf(attempt, RunConfig {});
    return 0;
}

std::vector<std::string> fuzzSeeds()
{
    const ::ScratchFolder scratch("seeds");
    const RunPaths paths(scratch.path());
    RunFile file;
    file.runId = "abc";
    file.preset = "char";
    file.dataManifest = R"({"version":1,"sources":[{"files":[{"path":"/a","size":3}]}]})";
    file.samplesPerBlock = 100;
    file.vocabularySize = 257;
    (void)writeRunFile(paths, file);
    ParentFile parent;
    parent.chunks = { { 0, "0-20 30-40" }, { 7, "1-2" } };
    (void)writeParent(paths, parent);
    PlannedBlock block;
    block.chunkRows = { 2 };
    block.segments.push_back({ 0, 0, 0, 2, 7 });
    DataManifest manifest;
    manifest.sources.push_back({ "/a", "text", ConversationForm::None, { DataFile {} }, 0, { "/b" } });
    const auto bytesOf = [](const std::filesystem::path& path) {
        std::ifstream in(path, std::ios::binary);
        return std::string(std::istreambuf_iterator<char>(in), {});
    };
    return { bytesOf(paths.configFile()), bytesOf(paths.parentFile()), toJson(Reading {}).dump(),
        R"({"attempt":1,"marked_ns":2})",
        R"({"run":"abc","cause":"left out by hand","message":"","chunks":[100000000000000]})",
        R"({"lr":0.1,"workers":2,"name":["a"]})", writePlan(block, { { 0, 9, 2, 2, 9, false } }),
        writeManifest(manifest), std::string(3000, '{') };
}
