// The column cache of the console from hostile bytes, signed anew so that the fuzzer gets behind the checksum: refused,
// or read to columns that every chart can walk.

#include "core/base/hash.h"
#include "core/telemetry/run_telemetry.h"
#include "tests/fuzz/fuzz_seeds.h"
#include "tests/fuzz/scratch.h"
#include "tests/fuzz/telemetry_reading.h"

#include <cstring>

using namespace furrow;

namespace {

constexpr std::size_t kHeadBytes = 32; // magic, version, size of a stretch, bytes and hash of what follows
const std::string& lines()
{
    static const std::string text = telemetrySeed(5000);
    return text;
}

std::string signedAgain(std::string bytes)
{
    if (bytes.size() < kHeadBytes)
        return bytes;
    const std::uint64_t size = bytes.size() - kHeadBytes;
    const std::uint64_t hash = xxh3(std::string_view(bytes).substr(kHeadBytes));
    std::memcpy(bytes.data() + 16, &size, sizeof size);
    std::memcpy(bytes.data() + 24, &hash, sizeof hash);
    return bytes;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    static const ScratchFolder scratch("cache");
    static const bool made = (scratch.write("telemetry/1-w0.jsonl", lines()), true);
    (void)made;
    scratch.write("columns", signedAgain({ reinterpret_cast<const char*>(data), size }));
    RunTelemetry telemetry(scratch.path() / "telemetry", scratch.path() / "columns");
    if (telemetry.loadCache()) {
        readWhole(*telemetry.snapshot());
        while (telemetry.poll(1 << 20)) { } // and goes on from there
    }
    return 0;
}

std::vector<std::string> fuzzSeeds()
{
    const ScratchFolder scratch("seeds");
    scratch.write("telemetry/1-w0.jsonl", lines());
    RunTelemetry telemetry(scratch.path() / "telemetry", scratch.path() / "columns");
    while (telemetry.poll(1 << 20)) { }
    (void)telemetry.saveCache();
    std::ifstream in(scratch.path() / "columns", std::ios::binary);
    return { std::string(std::istreambuf_iterator<char>(in), {}) };
}
