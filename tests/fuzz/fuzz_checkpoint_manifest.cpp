// A checkpoint's manifest from hostile bytes: refused, or read to something that a run can have and that is written and
// read again the same.

#include "core/base/check.h"
#include "core/base/path.h"
#include "core/run/folder/checkpoint_manifest.h"
#include "tests/fuzz/fuzz_seeds.h"
#include "tests/fuzz/scratch.h"

using namespace furrow;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    static const ScratchFolder scratch("manifest");
    scratch.write("c/manifest.json", { reinterpret_cast<const char*>(data), size });
    std::string sha256;
    const auto manifest = readManifestFile(scratch.path() / "c" / "manifest.json", sha256);
    (void)verifyCheckpoint(scratch.path() / "c", sha256, "r");
    scratch.write("s/state.json", { reinterpret_cast<const char*>(data), size });
    const auto agrees = checkState(scratch.path() / "s", manifest.ok() ? manifest.value() : CheckpointManifest {});
    FURROW_CHECK(agrees.ok() || agrees.error().message.find("json.exception") == std::string::npos,
        "the words of a library reach a person");
    if (!manifest.ok()) {
        FURROW_CHECK(manifest.error().message.find("json.exception") == std::string::npos,
            "the words of a library reach a person");
        return 0;
    }
    for (const Part& part : manifest.value().parts) {
        const ChunkPlace place = placeOf(part.chunk);
        FURROW_CHECK(chunkIdOf(place) == part.chunk && part.windows.begin >= 0 && part.windows.begin < part.windows.end,
            "a part that no run can have");
    }
    if (const auto& frozen = manifest.value().frozen)
        FURROW_CHECK(isPlainName(frozen->sha256 + ".safetensors") && frozen->sizeBytes > 0,
            "frozen weights that no run can have");
    const std::string text = toJsonText(manifest.value());
    scratch.write("again/manifest.json", text);
    const auto again = readManifest(scratch.path() / "again");
    FURROW_CHECK(again.ok() && toJsonText(again.value()) == text, "a manifest does not read as it was written");
    return 0;
}

std::vector<std::string> fuzzSeeds()
{
    CheckpointManifest manifest;
    manifest.runId = "r";
    manifest.step = 3;
    manifest.tokens = 300;
    manifest.writtenWallNs = 1'700'000'000'000'000'000;
    manifest.parents = { "r0-1" };
    manifest.files = { { "weights.safetensors", 10, std::string(64, 'a') }, { "../state.json", 1, "" } };
    manifest.parts = { { chunkIdOf({ 0, 3, 17 }), { 0, 5 } }, { chunkIdOf({ 1, 0, 0 }), { 2, 9 }, -1, true } };
    manifest.namesParents = true;
    CheckpointManifest beside = manifest;
    beside.frozen = { std::string(64, 'b'), 99 };
    return {
        toJsonText(manifest), toJsonText(beside),
        R"({"format":1,"run_id":"r","kind":"merge","replica":0,"step":1,"tokens":2,"files":[],"parts":[[9223372036854775807,0,2147483648]]})",
        std::string(3000, '['),
        R"({"format":1,"replica":0,"own_steps":0,"step":0,"tokens":0,"samples":0,"steps_since_base":0,"tokens_since_base":0,"base":"","merge_round":0,"parents":[]})"
    };
}
