// Telemetry lines from hostile bytes, read as the console reads them: whole, in pieces, and from the cache that was
// made of them.

#include "core/telemetry/run_telemetry.h"
#include "tests/fuzz/fuzz_seeds.h"
#include "tests/fuzz/scratch.h"
#include "tests/fuzz/telemetry_reading.h"

using namespace furrow;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    static const ScratchFolder scratch("telemetry");
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto cache = scratch.path() / "view-cache" / "columns";
    std::filesystem::remove(cache);
    scratch.write("telemetry/1-w0.jsonl", text.substr(0, size / 2));
    RunTelemetry telemetry(scratch.path() / "telemetry", cache);
    while (telemetry.poll(1 << 20)) { }
    scratch.write("telemetry/1-w0.jsonl", text);
    scratch.write("telemetry/2-w1.jsonl", text.substr(size / 3));
    while (telemetry.poll(1 << 20)) { }
    readWhole(*telemetry.snapshot());
    (void)telemetry.saveCache();
    RunTelemetry again(scratch.path() / "telemetry", cache);
    (void)again.loadCache();
    readWhole(*again.snapshot());
    return 0;
}

std::vector<std::string> fuzzSeeds()
{
    return { telemetrySeed(40),
        telemetrySeed(3)
            + R"({"k":"step","t":9000000000000000000,"step":-9223372036854775808,"loss":"nan"})"
              "\n"
            + telemetrySeed(2) };
}
