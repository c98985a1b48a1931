#include "tests/fuzz/telemetry_reading.h"

using namespace furrow;

void readWhole(const TelemetrySnapshot& snapshot)
{
    for (std::size_t s = 0; s < snapshot.stretches.size(); ++s) {
        const std::size_t size = snapshot.stretches[s].size();
        for (int metric = 0; metric < kMetricCount; ++metric)
            (void)snapshot.curve(s, static_cast<Metric>(metric), static_cast<XAxis>(metric % 7), 100);
        (void)snapshot.supersededFrom(s);
        for (const std::size_t i : { std::size_t { 0 }, size / 2, size - 1 }) {
            if (size == 0)
                break;
            (void)snapshot.chunkAt(s, i);
            (void)snapshot.intervalAround(s, i);
            (void)snapshot.xAt(s, i, XAxis::Tokens);
            (void)snapshot.intervalsOf(snapshot.chunkAt(s, i));
        }
    }
    TelemetrySnapshot::Interval at;
    (void)snapshot.find(-1, 1.7e9, at);
    (void)snapshotUntil(snapshot, 1.7e9);
    (void)snapshot.memoryBytes();
}

std::string telemetrySeed(int steps)
{
    std::string text
        = R"({"schema":1,"run":"r","attempt":1,"worker":0,"boot":"b","wall_anchor":1700000000000000000,"mono_anchor":1000000000})"
          "\n";
    for (int i = 1; i <= steps; ++i)
        text += R"({"k":"step","t":)" + std::to_string(1'000'000'000 + i * 50'000'000LL) + R"(,"step":)"
            + std::to_string(i) + R"(,"gstep":)" + std::to_string(i) + R"(,"epoch":0,"block":0,"chunk":)"
            + std::to_string(100'000'003'000'000 + i / 4) + R"(,"samples":)" + std::to_string(i * 4) + R"(,"tokens":)"
            + std::to_string(i * 64) + R"(,"stok":64,"loss":)" + (i % 9 == 0 ? "\"nan\"" : "2.5")
            + R"(,"lr":0.001,"gnorm":1.5,"tps":640,"wait":0.001,"fwd":0.02,"bwd":0.03,"opt":0.001,"ckpt":0,"mem":123456})"
              "\n";
    return text
        + R"({"k":"eval","t":4000000000,"step":3,"tokens":192,"loss":2.4,"acc":0.3,"what":"merged"})"
          "\n"
          R"({"k":"event","t":4000000001,"step":3,"chunk":0,"what":"spike","text":"a \"quoted\" \u00e9"})"
          "\n"
          R"({"k":"gpu","t":4000000002,"device":"cpu","util":0.5,"mem":1,"memtotal":2,"power":3,"temp":4})"
          "\n"
          R"({"k":"sample","t":4000000003,"step":3,"prompt":"a","text":"b"})"
          "\n"
          R"({"k":"claims","t":4000000004,"count":3,"p50":1,"p99":2,"max":3})"
          "\n"
          R"({"k":"drift","t":4000000005,"round":1,"replica":0,"mean":1,"base":2,"pnorm":3})"
          "\n"
          R"({"k":"later","t":1})"
          "\n";
}
